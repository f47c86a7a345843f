-- Queries at the edges of what is pushed down

-- a group without rows is no group, whatever its columns are worth
SELECT 1, count(*) FROM no_log GROUP BY 1

SELECT count(*) FROM no_log WHERE v = 1 GROUP BY v

SELECT count(*) FROM readings WHERE _bucket = 9 GROUP BY _bucket

SELECT count(*), _bucket FROM readings WHERE _bucket = 1 GROUP BY _bucket

SELECT max(i1) FROM readings WHERE sensor_id = 500 GROUP BY sensor_id

SELECT count(*) FROM readings GROUP BY ()

SELECT count(*), sum(i1) FROM readings GROUP BY GROUPING SETS ((), ())

SELECT count(*) FROM no_log GROUP BY GROUPING SETS ((), ())

SELECT count(*) FROM no_log HAVING count(*) = 0

SELECT 1 FROM no_log HAVING true

SELECT 1 FROM readings HAVING false

SELECT DISTINCT count(*) FROM readings

SELECT count(*), count(*) OVER () FROM readings

SELECT sum(count(*)) OVER (ORDER BY _bucket) FROM readings GROUP BY _bucket

SELECT count(*), generate_series(1, 2) FROM readings

SELECT count(*) FROM readings LIMIT 0

SELECT count(*) FROM readings OFFSET 1

SELECT count(*) FROM readings ORDER BY max(id) LIMIT 1

SELECT l.id, (SELECT count(*) FROM readings r WHERE r.id = l.id), (SELECT sum(r.i1) FROM readings r WHERE r.id < l.id) FROM loc l

SELECT l.id, (SELECT sum(r.i1 + l.id) FROM readings r) FROM loc l

SELECT (SELECT sum(r.i1) FROM loc LIMIT 1) FROM readings r

SELECT (SELECT max(r.id) + count(*) FROM loc WHERE id > 1) FROM readings r

SELECT count(1), count(NULL), count('x'), sum(1), max(5), min(NULL::int), avg(2.5) FROM readings

SELECT count(r.*), count(r.tx) FROM readings r WHERE r.i1 > 0

SELECT sum(i1 ORDER BY id), count(i1 ORDER BY id) FROM readings

SELECT avg(i1) FILTER (WHERE false), sum(i2) FILTER (WHERE NULL), count(*) FILTER (WHERE true) FROM readings

SELECT sum(i1) FILTER (WHERE i1 > (SELECT min(state) FROM info)) FROM readings

SELECT count(*) FROM readings WHERE EXISTS (SELECT count(*) FROM info)

SELECT sum(i1), array_agg(id ORDER BY id) FILTER (WHERE i1 = 49) FROM readings

SELECT sum(i1)::text || 'x', -max(i2), (count(*) > 5)::int FROM readings

SELECT CASE WHEN count(*) > 3 THEN sum(i1) ELSE 1 / (count(*) - count(*)) END FROM readings

SELECT max(x), count(*) FROM (SELECT id x FROM readings ORDER BY _log_offset DESC, _bucket LIMIT 3) s

SELECT max(x), count(*) FROM (SELECT id x FROM readings WHERE _bucket = 1 ORDER BY _log_offset LIMIT 3) s

SELECT count(*) FROM (SELECT DISTINCT ON (_bucket) id FROM readings ORDER BY _bucket, _log_offset DESC) s

SELECT count(*) FROM (SELECT * FROM readings FOR UPDATE) s

SELECT var_pop(i1)::numeric(20,6), stddev(i2)::numeric(20,6), bit_and(i1), bit_or(i2), every(bo) FROM readings

SELECT variance(f8)::numeric(20,6), corr(id, i1)::numeric(20,6) FROM readings WHERE f8 BETWEEN -100 AND 100

SELECT sum(late) FROM readings HAVING sum(late) > 100

SELECT max(late_tx), min(late_tx), count(late_tx) FROM readings WHERE late > 3

SELECT min(bo::int), max(length(tx)), sum(length(ch)), min(bi), max(bi) FROM readings WHERE id < 90

SELECT min(_commit_timestamp) = commit_of(1), max(_commit_timestamp) = commit_of(600), max(_bucket) FROM readings

SELECT max(_log_offset) - min(_log_offset) + 1 = count(*) FROM readings WHERE _bucket = 1

SELECT max(_log_offset) FILTER (WHERE _bucket = 1), min(_log_offset) FILTER (WHERE id > 100) FROM readings

SELECT max(_log_offset), max(_log_offset) FILTER (WHERE i1 > 0) FROM readings WHERE _log_offset < 50

SELECT max(_log_offset + 1), min(-_log_offset) FROM readings

SELECT max(_log_offset), max(id) FROM readings WHERE _log_offset <> 389

SELECT min(_log_offset) FROM readings WHERE _log_offset > 7 AND _bucket = 1

SELECT b, (SELECT min(_log_offset) FROM readings WHERE _bucket = b AND _log_offset >= b * 7), (SELECT count(*) FROM readings WHERE _bucket = b) FROM generate_series(0, 4) b

SELECT max(_log_offset) FROM readings WHERE _commit_timestamp < commit_of(200)

SELECT min(_log_offset), count(*) FROM readings WHERE _commit_timestamp > commit_of(200) AND _bucket = 1

SELECT max(_log_offset), count(*) FROM events WHERE day = ANY ('{d1,d2}')

-- keys in the outer row, in more ways than one
SELECT l.id, i.name FROM loc l JOIN info i ON i.sensor_id = l.id OR i.sensor_id = l.s

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id OR i.sensor_id = l.s

SELECT l.id, i.name FROM loc l JOIN info i ON i.sensor_id = l.id AND i.sensor_id = l.s

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id AND i.sensor_id = l.b

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id IN (l.id, l.s, 3)

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = ANY (ARRAY[l.id, l.s, NULL])

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON (i.sensor_id = l.id) IS TRUE

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON NOT (i.sensor_id <> l.id)

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id IS NOT DISTINCT FROM l.id

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON (i.sensor_id, i.state) = (l.id, l.s)

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i = (SELECT j FROM info j WHERE j.sensor_id = l.id)

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id AND l.tag = 'a' AND i.name = 'n' || l.id

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id AND l.tag IS NULL

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = 3 AND l.id = 2

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id AND i.sensor_id = 2

SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id WHERE i.sensor_id = 2 OR i.sensor_id IS NULL

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = '1970-01-01 12:00+00'::timestamptz AND f.k3 = 0 AND f.k4 = l.n

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d::timestamp AND f.k3 = l.b AND f.k4 = l.n

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.f AND f.k4 = 0.25

SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag::char(20) AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n

SELECT * FROM info WHERE (sensor_id, name) = ANY (ARRAY[ROW(1, 'n1'::text), ROW(2, 'n3'::text)])

SELECT * FROM info WHERE sensor_id = ANY (VALUES (1), (NULL), (3))

SELECT * FROM info WHERE sensor_id = 3 AND sensor_id IN (SELECT id + 1 FROM loc)

SELECT * FROM info WHERE (sensor_id = 3 OR sensor_id = 4) AND (sensor_id = 4 OR state = 3)

SELECT * FROM info WHERE (sensor_id = 3 AND sensor_id = 4) OR sensor_id = 5

SELECT * FROM info WHERE sensor_id IN (1, 2) OR (sensor_id IN (3, 4) AND state IS NULL) OR false

SELECT * FROM info WHERE sensor_id IN (1, 2) OR NULL

SELECT * FROM info WHERE CASE WHEN true THEN sensor_id = 3 ELSE false END

SELECT * FROM info WHERE coalesce(sensor_id = 3, false)

SELECT * FROM info WHERE sensor_id = any (string_to_array('1,2,x3', ',')::text[]::int[]) IS NOT NULL AND false

SELECT * FROM hist WHERE (sensor_id = 3 AND day = 'd3' AND kind = 3) OR (sensor_id = 4 AND day = 'd4') OR sensor_id = 99

SELECT * FROM hist WHERE (sensor_id = 3 OR sensor_id = 4) AND (day = 'd3' OR day = 'd4') AND kind <> 1

SELECT * FROM hist WHERE sensor_id = 3 AND (day, kind) IN (('d3', 3), ('d1', 1))

SELECT l.id, h.v FROM loc l LEFT JOIN hist h ON h.sensor_id = l.id AND (h.day = 'd1' OR h.day = l.tag)

SELECT l.id, h.v FROM loc l LEFT JOIN hist h ON h.sensor_id IN (l.id, l.s) AND h.kind = 1

SELECT l.id, h.v, h2.v FROM loc l LEFT JOIN hist h ON h.sensor_id = l.id LEFT JOIN hist h2 ON h2.sensor_id = h.sensor_id AND h2.day = h.day AND h2.kind = h.kind

SELECT h.v, i.name, j.name FROM hist h JOIN info i USING (sensor_id) LEFT JOIN info2 j USING (sensor_id) WHERE h.day = 'd1' OR j.state = 1

SELECT count(*) FROM hist a WHERE a.v = (SELECT max(b.v) FROM hist b WHERE b.sensor_id = a.sensor_id)

SELECT s.id, s2.v FROM stock s LEFT JOIN LATERAL (SELECT v FROM stock x WHERE x.day = s.day AND x.id = s.id + 1 LIMIT 1) s2 ON true

SELECT x.n, i.name FROM (SELECT count(*) n FROM readings) x LEFT JOIN info i ON i.sensor_id = x.n - 590

SELECT i.name FROM info i WHERE i.sensor_id = (SELECT count(*) - 590 FROM readings)

SELECT i.name FROM info i WHERE i.sensor_id IN (SELECT r.sensor_id FROM readings r WHERE r._bucket = 1 ORDER BY r._log_offset DESC LIMIT 5)

SELECT name FROM info i WHERE EXISTS (SELECT FROM info2 j WHERE j.sensor_id = i.sensor_id OFFSET 0)

SELECT (SELECT name FROM info WHERE sensor_id = g.a + g.b) FROM (VALUES (1, 2), (NULL, 1), (50, 50)) g (a, b)

SELECT a.id, b.name FROM account a LEFT JOIN (SELECT sensor_id, name FROM info UNION ALL SELECT sensor_id, name FROM info2) b ON b.sensor_id = a.id

SELECT a.id, b.name FROM account a JOIN (SELECT sensor_id, max(name) AS name FROM info GROUP BY 1) b ON b.sensor_id = a.id WHERE a.id < 9

SELECT a.id, b.name FROM account a JOIN (SELECT DISTINCT ON (sensor_id) * FROM info ORDER BY sensor_id, state) b ON b.sensor_id = a.id

SELECT a.id, b.name FROM account a LEFT JOIN (SELECT *, row_number() OVER (ORDER BY sensor_id) n FROM info) b ON b.sensor_id = a.id AND b.n < 9

-- filters that must not run too early or for too many rows
SELECT r.id, i.name FROM readings r JOIN info i ON i.sensor_id = r.sensor_id AND CASE WHEN i.state > 0 THEN 10 / i.state > 5 ELSE false END

SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id WHERE r.i1 <> 0 AND CASE WHEN i.state IS NULL OR i.state = 0 THEN r.id < 50 ELSE 100 / i.state > r.i1 END

SELECT id FROM (SELECT id, tx FROM readings WHERE tx ~ '^\d+$' OFFSET 0) x WHERE x.tx::int = 9

WITH n AS MATERIALIZED (SELECT id, tx FROM readings WHERE tx IN ('9', '10')) SELECT id, tx::int FROM n WHERE tx::int > 9

SELECT id, 10 / nullif(i1, 0) FROM readings WHERE i1 BETWEEN -2 AND 2

-- bounds that only look like bounds
SELECT count(*) FROM readings WHERE _log_offset::text < '5'

SELECT count(*) FROM readings WHERE _log_offset::int4 < 5 AND _log_offset::float8 > 1.5

SELECT count(*) FROM readings WHERE (_log_offset < 5) = (_bucket = 1)

SELECT count(*) FROM readings WHERE (_log_offset < 5) IS NOT TRUE

SELECT count(*) FROM readings WHERE (_log_offset < 5 OR NULL) IS NULL

SELECT count(*) FROM readings WHERE _log_offset < id

SELECT count(*) FROM readings WHERE _log_offset = _log_offset AND _bucket = _bucket

SELECT count(*) FROM readings WHERE _log_offset < _bucket * 100

SELECT count(*) FROM readings WHERE _bucket = 1 AND (_log_offset < 5 OR (i1 > 0 AND _log_offset < 50) OR _log_offset IS NULL)

SELECT count(*) FROM readings WHERE NOT (_log_offset >= 5 AND (_bucket = 1 OR _log_offset >= 9))

SELECT count(*) FROM readings WHERE NOT (_bucket, _log_offset) > (1, 5)

SELECT count(*) FROM readings WHERE NOT ((_bucket, _log_offset) = (1, 5)) AND _log_offset BETWEEN SYMMETRIC 9 AND 4

SELECT count(*) FROM readings WHERE (_bucket, _log_offset, id) > (1, 5, 0) AND (_bucket, _log_offset, id) < (1, 9, 1000)

SELECT count(*) FROM readings WHERE (_log_offset, _bucket) >= (5, 1) AND (_log_offset, _bucket) < (7, 2)

SELECT count(*) FROM readings WHERE (_bucket, _log_offset) < (1, NULL)

SELECT count(*) FROM readings WHERE (_bucket, _log_offset) >= (1, 5.5)

SELECT count(*) FROM readings WHERE (_bucket, _commit_timestamp) >= (1, commit_of(200))

SELECT count(*) FROM readings WHERE (_commit_timestamp, _log_offset) > (commit_of(200), 3)

SELECT count(*) FROM readings WHERE _commit_timestamp >= commit_of(200) - interval '1 ms' AND _commit_timestamp <= commit_of(200) + interval '1 us'

SELECT count(*) FROM readings WHERE date_trunc('hour', _commit_timestamp) <= _commit_timestamp

SELECT count(*) FROM readings WHERE _commit_timestamp > commit_of(200)::timestamp

SELECT count(*) FROM readings WHERE commit_of(100) < _commit_timestamp AND NOT (_commit_timestamp > commit_of(300))

SELECT count(*) FROM readings WHERE _commit_timestamp <> commit_of(200)

SELECT count(*) FROM readings WHERE _commit_timestamp NOT BETWEEN commit_of(100) AND commit_of(400)

SELECT count(*) FROM readings WHERE _commit_timestamp = ANY (ARRAY[commit_of(100), commit_of(400), NULL])

SELECT count(*) FROM events WHERE (day, _log_offset) > ('d2', 3) AND (day, _log_offset) <= ('d4', 2)

SELECT count(*) FROM events WHERE (day = 'd1') = (_bucket = 0)

SELECT count(*) FROM events WHERE CASE day WHEN 'd1' THEN _log_offset < 3 WHEN 'd2' THEN _log_offset > 5 ELSE id = 7 END

SELECT count(*) FROM events WHERE day < 'd2' COLLATE human OR day > 'd4' COLLATE "C"

SELECT count(*) FROM events WHERE day COLLATE nocase = 'D2'

SELECT count(*) FROM events WHERE day = 'd2 '::char(4)

SELECT count(*) FROM events WHERE day::varchar(1) = 'd'

SELECT count(*) FROM visits WHERE region = ANY (ARRAY[1, NULL]::bigint[]) AND day = ANY (ARRAY['2026-08-01 00:00']::timestamp[])

SELECT count(*) FROM visits WHERE (region, day) = ANY (SELECT region, '2026-08-02'::date FROM pos)

SELECT count(*) FROM visits WHERE region::text || day::text = '12026-08-01'

SELECT count(*) FROM visits WHERE day - region = '2026-08-01'

SELECT count(*) FROM visits WHERE 6 / (region - 2) > 0 AND region <> 2

SELECT count(*) FROM visits WHERE CASE WHEN region <> 2 THEN 6 / (region - 2) > 0 END
