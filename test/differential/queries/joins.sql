-- Joins: every type, whatever stands on the outer side

SELECT r.*, i.name, i.site, i.state FROM readings r LEFT JOIN info i USING (sensor_id) WHERE r._log_offset >= 0

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND r.f8 > 2 AND i.site = 'roof'

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND i.state < r.i1

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id WHERE i.state IS DISTINCT FROM r.id % 3

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id WHERE i.sensor_id IS NULL

SELECT id, nm, st, k FROM enriched

SELECT id, nm, st, k FROM enriched WHERE k IS NULL AND _log_offset < 100

SELECT id, nm FROM enriched WHERE nm > 'n2' AND _bucket = 1

SELECT r.id FROM readings r WHERE EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND i.site = 'roof' AND i.state < r.id % 3 + 1)

SELECT r.id FROM readings r WHERE NOT EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND i.state < r.id % 3)

SELECT r.id FROM readings r WHERE r.sensor_id IN (SELECT sensor_id FROM info WHERE site = 'roof')

SELECT r.id, i FROM readings r LEFT JOIN info i USING (sensor_id)

SELECT r.id, (SELECT relname FROM pg_class c WHERE c.oid = i.tableoid) FROM readings r LEFT JOIN info i USING (sensor_id)

SELECT r.id, i.name, j.name FROM readings r LEFT JOIN info i USING (sensor_id) LEFT JOIN info2 j ON j.sensor_id = i.state + 3

SELECT r.id, i.name, j.name FROM readings r LEFT JOIN info i USING (sensor_id) LEFT JOIN info2 j ON j.sensor_id = i.state + 2 AND j.state IS NOT NULL WHERE j.name IS NULL OR i.name > 'n1'

SELECT r.id, x.a, x.b FROM readings r LEFT JOIN (SELECT i.sensor_id, coalesce(i.name, '-') a, coalesce(j.name, '=') b FROM info i LEFT JOIN info2 j ON j.sensor_id = i.state + 3) x ON x.sensor_id = r.sensor_id

SELECT l.id, x.nm FROM loc l LEFT JOIN LATERAL (SELECT nm FROM iv i WHERE i.sensor_id = l.id) x ON true

SELECT l.id, x.* FROM loc l LEFT JOIN LATERAL (SELECT * FROM info i WHERE i.sensor_id = l.id AND false) x ON true

SELECT l.id, x.* FROM (SELECT * FROM loc WHERE id > 10000) l LEFT JOIN LATERAL (SELECT * FROM info i WHERE i.sensor_id = l.id) x ON true

SELECT r.id, i.name FROM readings r JOIN info i USING (sensor_id) WHERE now() > '2001-01-01' AND current_setting('work_mem') = 'never'

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND current_setting('work_mem') = 'never'

SELECT r.id, i.name FROM readings r LEFT JOIN (SELECT * FROM info WHERE current_setting('work_mem') <> 'never') i ON r.sensor_id = i.sensor_id

SELECT l.id, (SELECT max(i.name || r.id) FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state = l.id) FROM loc l

SELECT r.id, coalesce(i.name, j.name) FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id LEFT JOIN info2 j ON j.sensor_id = coalesce(i.state, r.id % 9) WHERE coalesce(i.state, j.state, 0) < 2

SELECT r.id, i.name, j.name FROM readings r LEFT JOIN (info i JOIN info2 j ON i.sensor_id = j.sensor_id) ON r.sensor_id = i.sensor_id

SELECT r.id, q.c FROM readings r LEFT JOIN (SELECT sensor_id, count(*) c FROM info GROUP BY 1) q USING (sensor_id)

SELECT a.id, b.name, c.name FROM readings a LEFT JOIN info b ON a.sensor_id = b.sensor_id LEFT JOIN info2 c ON b.state = c.sensor_id AND c.state = 1 LEFT JOIN info d ON c.sensor_id = d.sensor_id WHERE a.id < 90

SELECT l.*, i.name FROM loc l JOIN info i ON i.sensor_id = l.id

SELECT g, i.name FROM generate_series(-3, 30) g LEFT JOIN info i ON i.sensor_id = g

SELECT v.a, i.name FROM (VALUES (1), (2), (NULL), (40)) v (a) JOIN info i ON i.sensor_id = v.a

SELECT x.m, i.name FROM (SELECT id % 3 AS p, max(sensor_id) m FROM readings GROUP BY 1) x LEFT JOIN info i ON i.sensor_id = x.m - 12

SELECT i.name, j.name FROM info i JOIN info2 j ON j.sensor_id = i.sensor_id + 1

SELECT i.name, j.name FROM info2 j RIGHT JOIN info i ON j.sensor_id = i.sensor_id + 1

SELECT * FROM info a LEFT JOIN info b ON a.sensor_id + 1 = b.sensor_id

SELECT * FROM info a LEFT JOIN info2 b ON upper(a.name) = b.name

WITH w AS MATERIALIZED (SELECT * FROM readings WHERE id < 60) SELECT w.id, i.name FROM w JOIN info i USING (sensor_id) WHERE i.sensor_id < 10

WITH w AS NOT MATERIALIZED (SELECT * FROM info WHERE state > 0) SELECT a.name, b.name FROM w a JOIN w b ON a.sensor_id = b.sensor_id - 1

WITH w AS MATERIALIZED (SELECT * FROM info) SELECT (SELECT count(*) FROM w), w.name FROM w WHERE sensor_id = 3

WITH RECURSIVE w AS (SELECT 0 AS id UNION ALL SELECT i.sensor_id + 3 FROM w JOIN info i ON i.sensor_id = w.id + 1) SELECT * FROM w

SELECT u.x, i.name FROM (SELECT sensor_id x FROM readings UNION ALL SELECT id FROM loc) u JOIN info i ON i.sensor_id = u.x

SELECT r.id, i.name FROM readings r JOIN roof i USING (sensor_id)

SELECT count(*) FROM readings a JOIN info b USING (sensor_id) JOIN readings c USING (sensor_id) JOIN info2 d USING (sensor_id)

SELECT l.id, x.name FROM loc l LEFT JOIN LATERAL (SELECT i.name, l.tag || i.name AS both FROM info i WHERE i.sensor_id = l.id) x ON x.both > 'b'

-- the outer row only in the target list of the inner query
SELECT l.id, x.* FROM loc l, LATERAL (SELECT l.tag AS t, i.name FROM info i WHERE i.state = 2) x

SELECT l.id, x.c FROM loc l, LATERAL (SELECT count(i.name) c FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id + l.s WHERE r.id % 3 = l.id) x

SELECT l.id FROM loc l WHERE l.id NOT IN (SELECT sensor_id FROM info)

SELECT count(*) FROM readings WHERE sensor_id NOT IN (SELECT id FROM loc)

-- a column that only a local filter needs
SELECT count(*) FROM readings WHERE sensor_id NOT IN (SELECT id FROM loc WHERE id IS NOT NULL)

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id * 2 - 1

SELECT l.s, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.s

SELECT l.b, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.b

SELECT l.n, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.n

SELECT l.f, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.f

SELECT l.id, i.name FROM loc l JOIN info i ON i.sensor_id = (('{"a": "' || l.id || '"}')::json ->> 'a')::int

SELECT l.id, i.name FROM loc l JOIN info i ON (('{"a": "' || l.id || '"}')::json ->> 'a')::int = i.sensor_id

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.id AND f.k4 = 0.25

SELECT l.id, f.v FROM loc l JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b WHERE f.k4 = 0.5000 AND f.v % 2 = 0

SELECT count(*) FROM facts a JOIN facts b USING (k1, k2, k3, k4) LEFT JOIN facts c ON c.k1 = b.k1 AND c.k2 = b.k2 AND c.k3 = -b.k3 AND c.k4 = b.k4 + 0.125 AND c.v > a.v

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 IN (0.25, 0.5)

SELECT r.id, i.name FROM readings r JOIN info i USING (sensor_id) WHERE r.id > 0 AND i.site ~ 'o' AND r._log_offset BETWEEN 3 AND 40

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND random() >= 0

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state IN (SELECT id FROM loc)

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state = (SELECT max(l.id) FROM loc l WHERE l.id <= r.i1)

SELECT r.id FROM readings r WHERE EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND EXISTS (SELECT 1 FROM info2 j WHERE j.sensor_id = i.sensor_id + r.id % 3))

SELECT r.id, i.name FROM readings r FULL JOIN info i ON i.sensor_id = r.sensor_id

SELECT r.id, i.name FROM readings r FULL JOIN info i USING (sensor_id) WHERE sensor_id IS NULL OR sensor_id > 20

SELECT r.id, i.name FROM readings r RIGHT JOIN info i ON i.sensor_id = r.sensor_id AND r.id < 50

SELECT r.id, i FROM readings r JOIN info i ON i.sensor_id = r.sensor_id AND i.name <> r.id::text AND r IS NOT NULL

SELECT r.id, i FROM readings r JOIN info i ON i.sensor_id = r.sensor_id WHERE i IS NOT NULL

-- inequalities rescan the inner side from its beginning
SELECT count(*) FROM loc JOIN readings r ON r.sensor_id > loc.id

SELECT count(*) FROM readings r JOIN loc ON r.sensor_id > loc.id

SELECT count(*) FROM info JOIN readings USING (sensor_id)

SELECT count(*) FROM readings JOIN info USING (sensor_id)

SELECT count(*) FROM info a, info b WHERE a.sensor_id < b.sensor_id AND a.state = b.state

-- two scans at once on one connection
SELECT r.id, (SELECT name FROM info i WHERE i.sensor_id = r.sensor_id) FROM readings r

SELECT count(*), sum(a.id + b.id + c.id) FROM readings a JOIN readings b ON a.id = b.id JOIN readings c ON b.id = c.id + 1

SELECT r.id, (SELECT i.name FROM info i WHERE i.sensor_id = r.sensor_id AND i.state IS NOT NULL), (SELECT h.v FROM hist h WHERE h.sensor_id = r.sensor_id AND h.day = 'd1' AND h.kind = 1) FROM readings r WHERE r.id % 4 = 0

SELECT l.id, ARRAY(SELECT name FROM info i WHERE i.sensor_id IN (l.id, l.s) ORDER BY 1) FROM loc l

SELECT i.name, (SELECT count(*) FROM readings r WHERE r.sensor_id = i.sensor_id AND r._bucket = i.state) FROM info i

SELECT l.id, (SELECT i FROM info i WHERE i.sensor_id = l.id) FROM loc l

SELECT i.name FROM info i WHERE i.w > (SELECT avg(j.w) FROM info j WHERE j.site = i.site AND j.w <> 'NaN')

SELECT i.name FROM info i WHERE (SELECT count(*) FROM info2 j WHERE j.sensor_id = i.sensor_id) = 1

SELECT a.sensor_id, b.x FROM info a CROSS JOIN LATERAL (SELECT a.sensor_id + j.state AS x FROM info2 j WHERE j.sensor_id = a.sensor_id) b

SELECT a.name, b.name FROM info a, info b WHERE a.sensor_id = b.sensor_id AND b.sensor_id = 3

SELECT r.id, i.name FROM readings r, info i WHERE r.sensor_id = i.sensor_id AND r.sensor_id = 5

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id WHERE r.sensor_id IN (5, 6) AND r.id < 300

SELECT r.id, i.name FROM readings r JOIN info i ON r.sensor_id = i.sensor_id AND r.sensor_id = i.state + 1

SELECT r.id, w.v FROM readings r JOIN words w ON w.k = r.tx OR w.k = 'w' || r.id

SELECT r.id, w.v FROM readings r LEFT JOIN words w ON w.k = 'w' || r.id::text

SELECT c.id, a.owner, a.balance - c.balance FROM changes c JOIN account a ON a.id = c.id AND c._change_type LIKE '%e'

-- limits stay above joins
SELECT count(*) FROM (SELECT r.id FROM readings r JOIN loc ON loc.id = r.sensor_id JOIN info USING (sensor_id) WHERE r.tx = 'z9' LIMIT 1) x

SELECT count(*) FROM (SELECT * FROM readings r JOIN loc ON loc.id = r.id % 3 JOIN info USING (sensor_id) WHERE state = 0 LIMIT 3) x

-- ordered
SELECT r.id, i.name FROM readings r LEFT JOIN info i USING (sensor_id) ORDER BY r.id DESC LIMIT 7

SELECT x.id, i.name FROM (SELECT * FROM readings ORDER BY id DESC LIMIT 9 OFFSET 3) x LEFT JOIN info i USING (sensor_id)

SELECT i.site, count(*), sum(r.i8 % 1000) FROM readings r LEFT JOIN info i USING (sensor_id) GROUP BY 1 HAVING count(*) > 2

SELECT DISTINCT i.site FROM readings r JOIN info i USING (sensor_id)

SELECT i.name, row_number() OVER (ORDER BY r.id) FROM readings r JOIN info i USING (sensor_id)

SELECT i.name, count(*) OVER (PARTITION BY i.site), lag(r.id) OVER (PARTITION BY i.sensor_id ORDER BY r.id) FROM readings r JOIN info i USING (sensor_id) WHERE r.id < 100
