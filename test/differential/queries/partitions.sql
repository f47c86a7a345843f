-- Partitioned tables: pruning, ranges, lookups that know the partition or not

SELECT id FROM events WHERE day = 'd2'

SELECT id FROM events WHERE day IN ('d1', 'd3', 'none', NULL) AND _log_offset < 4

SELECT id FROM events WHERE day > 'd3' AND v > 3

SELECT id FROM events WHERE day LIKE '%4' OR id < 5

SELECT id FROM events WHERE _partition = 'd2' AND _bucket = 1

SELECT id FROM events WHERE _partition = day AND _partition <> 'd1' AND id % 7 = 0

SELECT id FROM events WHERE day = 'd1' AND day = 'd2'

SELECT id FROM events WHERE day IS NULL

SELECT count(*) FROM events WHERE day IS NOT NULL

SELECT count(*) FROM events WHERE upper(day) = 'D3'

SELECT count(*) FROM events WHERE day = ANY (ARRAY['d1', NULL, 'd5']::varchar[])

SELECT count(*) FROM events WHERE day <> ALL (ARRAY['d1', 'd5'])

SELECT count(*) FROM events WHERE day NOT IN ('d1', NULL)

SELECT count(*) FROM events WHERE day = (SELECT max(tag) FROM loc WHERE tag LIKE 'd%')

SELECT count(*) FROM events WHERE day IN (SELECT tag FROM loc)

SELECT count(*) FROM events WHERE day NOT IN (SELECT tag FROM loc)

SELECT count(*) FROM events WHERE day NOT IN (SELECT tag FROM loc WHERE tag IS NOT NULL)

SELECT count(*) FROM events WHERE day COLLATE "C" >= 'd4'

SELECT day, count(*), sum(v), min(_log_offset), max(_log_offset) FROM events GROUP BY day

SELECT day, _bucket, max(_log_offset) FROM events GROUP BY 1, 2 HAVING max(_log_offset) > 10

SELECT count(*), count(v), sum(v), min(v), max(v) FROM events WHERE day > 'd2'

SELECT max(_log_offset) FROM events WHERE day = 'd3' AND _bucket = 0

SELECT min(_log_offset), max(_log_offset) FROM events WHERE day = 'none'

-- positions of a consumer by partition and bucket
SELECT e.id FROM pos p JOIN events e ON e._partition = p.part AND e._bucket = p.b AND e._log_offset >= p.o

SELECT v.id FROM pos p JOIN visits v ON v.region = p.region AND v.day::text = p.day AND v._bucket = p.b AND v._log_offset > p.o

SELECT e.id FROM events e WHERE (_partition, _bucket, _log_offset) IN (SELECT part, b, o FROM pos)

SELECT id FROM events WHERE (day = 'd1' AND _bucket = 0 AND _log_offset >= 5) OR (day = 'd2' AND _log_offset BETWEEN 2 AND 6) OR (_partition = 'd2' AND _log_offset = 4)

SELECT id FROM visits WHERE region = 2 AND day = '2026-08-03'

SELECT id FROM visits WHERE region > 1.5 AND day < '2026-08-03'::timestamp

SELECT id FROM visits WHERE (region, day) IN ((1, '2026-08-01'), (3, '2026-08-04'), (NULL, '2026-08-01'))

SELECT id FROM visits WHERE (region, day) >= (2, '2026-08-03'::date) AND v < 9

SELECT id FROM visits WHERE region = 2::bigint OR day = date '2026-08-01' + region

SELECT id FROM visits WHERE extract(day FROM day) = 2 AND region IS DISTINCT FROM 3

SELECT id FROM visits WHERE _partition = '1$2026-08-02' OR (region = 3 AND _log_offset = 0)

SELECT id FROM visits WHERE _partition LIKE '2$%' AND _bucket = 1 AND id > 100

SELECT id FROM visits WHERE to_char(day, 'YYYY-MM-DD') = '2026-08-02' AND 3 / region = 1

SELECT region, day, count(*), sum(v) FROM visits GROUP BY ROLLUP (region, day)

SELECT region, count(*) FILTER (WHERE v > 8), array_agg(DISTINCT day ORDER BY day) FROM visits GROUP BY 1

-- ordered
SELECT id, _partition FROM visits ORDER BY region, day, _bucket, _log_offset LIMIT 7 OFFSET 3

-- ordered
SELECT id FROM visits WHERE region = 1 AND day = '2026-08-02' AND _bucket = 1 ORDER BY _log_offset DESC

-- ordered
SELECT day, _log_offset FROM events WHERE day = 'd2' ORDER BY _bucket, _log_offset LIMIT 9

-- keyed tables
SELECT * FROM stock WHERE day = 'd2' AND id = 3

SELECT * FROM stock WHERE day = 'd2' AND id IN (3, 5, NULL, 1000)

SELECT * FROM stock WHERE id = 3

SELECT * FROM stock WHERE day = 'none' AND id = 3

SELECT * FROM stock WHERE day IN ('d1', 'd4', 'none') AND id IN (1, 2, 3)

SELECT * FROM stock WHERE (day, id) IN (('d1', 1), ('d2', 9), ('none', 1), (NULL, 1), ('d1', NULL))

SELECT * FROM stock WHERE (day = 'd1' AND id = 4) OR (day = 'd3' AND id = 5 AND v > 0)

SELECT * FROM stock WHERE day > 'd3' AND v > 5000

SELECT count(*), sum(v), max(note) FROM stock WHERE day <> 'd1'

SELECT e.id, s.v FROM events e JOIN stock s ON s.day = e.day AND s.id = e.sensor_id

SELECT e.id, s.v FROM events e LEFT JOIN stock s ON s.day = e.day AND s.id = e.sensor_id AND s.note IS NOT NULL WHERE e.id < 60

SELECT e.id, s.v FROM events e LEFT JOIN stock s ON s.day = 'd3' AND s.id = e.sensor_id WHERE e.day = 'd1'

SELECT l.id, s.v FROM loc l LEFT JOIN stock s ON s.id = l.id AND s.day = l.tag

SELECT l.id, s.v FROM loc l LEFT JOIN stock s ON s.id = l.id AND s.day = 'd' || l.id

SELECT e.id FROM events e WHERE EXISTS (SELECT 1 FROM stock s WHERE s.day = e.day AND s.id = e.id % 40 AND s.v % 300 = 0)

SELECT e.id FROM events e WHERE NOT EXISTS (SELECT 1 FROM stock s WHERE s.day = e.day AND s.id = e.sensor_id)

SELECT a.id, b.v FROM stock a LEFT JOIN stock b ON b.day = a.day AND b.id = a.id + 1

SELECT v.id, l.line, l.amount FROM visits v JOIN ledger l ON l.region = v.region AND l.day = v.day AND l.account = v.v

SELECT v.id, l.amount FROM visits v LEFT JOIN ledger l ON l.region = v.region AND l.day = v.day AND l.account = v.v AND l.line = v.id % 5

SELECT * FROM ledger WHERE region = 1 AND day = '2026-08-02' AND account = 3

SELECT * FROM ledger WHERE region = 1 AND day = '2026-08-02' AND account = 3 AND line = 2

SELECT * FROM ledger WHERE account = 4

SELECT * FROM ledger WHERE region = 2 AND account IN (1, 4)

SELECT * FROM ledger WHERE (region, day, account) IN ((1, '2026-08-01', 2), (2, '2026-08-03', 5), (9, '2026-08-03', 5))

SELECT region, sum(amount), count(*), min(amount), avg(amount) FROM ledger WHERE day < '2026-08-03' GROUP BY region

SELECT x.id, (SELECT sum(amount) FROM ledger l WHERE l.region = x.region AND l.day = x.day AND l.account = x.v) FROM visits x WHERE x.id % 9 = 0

SELECT count(*) FROM visits v FULL JOIN ledger l ON l.region = v.region AND l.day = v.day AND l.account = v.v

SELECT kind, day, count(*), sum(v) FROM everything GROUP BY 1, 2

SELECT id, kind FROM everything WHERE day IN ('d2', '2026-08-02') AND v > 4

SELECT * FROM everything e JOIN stock s USING (id) WHERE e.kind = 'event' AND s.day = e.day

SELECT * FROM ledger

SELECT * FROM stock

SELECT region, day, id, v, _partition FROM visits
