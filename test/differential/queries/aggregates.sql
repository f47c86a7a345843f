-- Aggregates, groups, limits, orders, sets

SELECT count(*) FROM readings

SELECT count(*) FROM info

SELECT count(*) FROM stock

SELECT count(*), count(id), count(i1), count(tx), count(bo) FROM readings

SELECT min(i1), max(i1), sum(i1), avg(i1), min(i2), max(i2), sum(i2), avg(i2) FROM readings

SELECT min(i8), max(i8), sum(i8::numeric), avg(i8) FROM readings

SELECT min(id), max(id), sum(id), avg(id) FROM readings WHERE id > 100

SELECT min(f8), max(f8), sum(f8), avg(f8), count(f8) FROM readings

SELECT min(f8), max(f8), sum(f8), avg(f8) FROM readings WHERE f8 BETWEEN -5 AND 5

SELECT min(f4), max(f4), sum(f4), avg(f4), count(f4) FROM readings

SELECT min(f4), max(f4), sum(f4), avg(f4) FROM readings WHERE f4 < 100 AND f4 > -100

SELECT min(de), max(de), sum(de), avg(de), count(de) FROM readings

SELECT min(da), max(da), min(ti), max(ti), min(ts), max(ts), min(tz), max(tz) FROM readings

SELECT min(tx), max(tx), min(ch), max(ch) FROM readings

SELECT bool_and(bo), bool_or(bo), count(*) FROM readings

SELECT count(*), sum(i1), min(f8) FROM readings WHERE false

SELECT count(*), sum(i1), avg(f8), min(f8) FROM readings WHERE i1 > 200

SELECT min(f8), max(f8) FROM readings WHERE f8 = 'NaN'

SELECT min(f8), max(f8), sum(f8) FROM readings WHERE f8 = 0

SELECT sum(late), count(late), min(late), max(late) FROM readings WHERE id <= 300

SELECT sum(late), avg(late) FROM readings WHERE late > 2

SELECT count(*) FILTER (WHERE i1 > 0), sum(i1) FILTER (WHERE bo), max(id) FILTER (WHERE tx = 'a') FROM readings

SELECT count(DISTINCT sensor_id), sum(DISTINCT i1), count(DISTINCT tx) FROM readings

SELECT count(*) + 1, sum(i1) * 2, max(id) - min(id), coalesce(sum(i2), 0) FROM readings WHERE f8 > 0

SELECT sum(i1::int + i2), max(f8 * 2), sum(abs(i1)) FROM readings WHERE f8 < 1e80

SELECT count(*) FROM readings HAVING count(*) > 100

SELECT count(*) FROM readings HAVING sum(i1) IS NULL

SELECT 1 FROM readings HAVING max(id) = 600

SELECT count(*), 'x', now() IS NOT NULL FROM readings

SELECT count(*) FROM (SELECT id FROM readings LIMIT 10) x

SELECT count(*) FROM (SELECT id FROM readings OFFSET 590) x

SELECT count(*) FROM (SELECT DISTINCT sensor_id FROM readings) x

SELECT count(*), sum(x.i1) FROM (SELECT * FROM readings WHERE bo) x WHERE x.i2 > 0

SELECT min(_log_offset), max(_log_offset) FROM readings

SELECT min(_log_offset), max(_log_offset) FROM readings WHERE _bucket = 1

SELECT min(_log_offset), max(_log_offset), count(*) FROM readings WHERE _bucket IN (0, 2) AND _log_offset > 10

SELECT max(_log_offset) FROM readings WHERE i1 > 45

SELECT min(_log_offset) FROM readings WHERE _log_offset > 10000000 OR i1 = 126

SELECT max(_log_offset) FROM readings WHERE _bucket = 9

SELECT max(_bucket), min(_bucket), max(_commit_timestamp) = (SELECT max(_commit_timestamp) FROM readings) FROM readings

SELECT _bucket, min(_log_offset), max(_log_offset), count(*) FROM readings GROUP BY _bucket

SELECT (SELECT max(_log_offset) FROM readings WHERE _bucket = b), b FROM generate_series(0, 3) b

SELECT sensor_id, count(*), sum(i1), max(f8) FROM readings GROUP BY sensor_id

SELECT sensor_id % 3, count(*), avg(i2) FROM readings GROUP BY 1 HAVING count(*) > 5

SELECT tx, count(*) FROM readings GROUP BY tx

SELECT min(lower(tx)), count(*) FROM readings GROUP BY tx COLLATE nocase

SELECT f8, count(*) FROM readings WHERE f8 <> 0 GROUP BY f8

SELECT bo, _bucket, count(*), sum(i1) FROM readings GROUP BY GROUPING SETS ((bo), (_bucket), ())

SELECT bo, i1 % 2, count(*), grouping(bo) FROM readings GROUP BY CUBE (bo, i1 % 2)

SELECT string_agg(id::text, ',' ORDER BY id) FROM readings WHERE i1 > 40

SELECT site, array_agg(sensor_id ORDER BY sensor_id), count(*) FILTER (WHERE state > 0) FROM info GROUP BY site

SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id), mode() WITHIN GROUP (ORDER BY sensor_id) FROM readings

SELECT count(*), sum(state), min(w), max(w), avg(w) FROM info WHERE sensor_id > 3

SELECT count(*), sum(v), avg(v), min(v), max(v) FROM hist WHERE sensor_id = 3

SELECT count(*) FROM info WHERE sensor_id = 3

SELECT count(*), max(name) FROM info WHERE sensor_id IN (1, 2, 3, NULL)

SELECT sum(k4), avg(k4), min(k4), max(k3), sum(k3), count(*) FROM facts WHERE v % 2 = 0

-- limits and orders
-- ordered
SELECT id FROM readings ORDER BY id LIMIT 5

-- ordered
SELECT id, _bucket, _log_offset FROM readings ORDER BY _bucket, _log_offset

-- ordered
SELECT id, _bucket FROM readings ORDER BY _bucket, _log_offset LIMIT 10 OFFSET 195

-- ordered
SELECT id FROM readings WHERE _bucket = 1 ORDER BY _log_offset

-- ordered
SELECT id FROM readings WHERE _bucket = 1 ORDER BY _log_offset DESC

-- ordered
SELECT id FROM readings WHERE _bucket = 1 AND i1 > 0 ORDER BY _log_offset LIMIT 6

-- ordered
SELECT id FROM readings WHERE _bucket = 1 AND i1 > 0 ORDER BY _log_offset DESC LIMIT 6

-- ordered
SELECT id, _bucket FROM readings ORDER BY _log_offset DESC, _bucket LIMIT 7

-- ordered
SELECT id, _bucket FROM readings ORDER BY _log_offset DESC, _bucket DESC LIMIT 7 OFFSET 5

-- ordered
SELECT id, _bucket FROM readings ORDER BY _log_offset, _bucket LIMIT 7

-- ordered
SELECT id FROM readings WHERE _log_offset < 20 ORDER BY _log_offset DESC, _bucket LIMIT 7

-- ordered
SELECT id FROM readings WHERE f8 > 5 ORDER BY _log_offset DESC, id LIMIT 12

-- ordered
SELECT id FROM readings WHERE _log_offset BETWEEN 5 AND 9 AND i1 IS NOT NULL ORDER BY _log_offset DESC, id

-- ordered
SELECT _log_offset FROM readings ORDER BY _log_offset DESC LIMIT 5

-- ordered
SELECT _log_offset FROM readings WHERE tx = 'z9' ORDER BY _log_offset DESC LIMIT 3

-- ordered
SELECT id FROM readings ORDER BY _commit_timestamp DESC, id DESC LIMIT 9

-- ordered
SELECT id FROM readings ORDER BY _commit_timestamp DESC, id LIMIT 9 OFFSET 70

-- ordered
SELECT id FROM readings ORDER BY _commit_timestamp, id LIMIT 4

-- ordered
SELECT id FROM readings ORDER BY _log_offset DESC NULLS LAST, id DESC LIMIT 4

-- ordered
SELECT id FROM readings ORDER BY _log_offset + 0 DESC, id LIMIT 4

-- ordered
SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset DESC OFFSET 10

-- ordered
SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset DESC LIMIT 0

-- ordered
SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset DESC LIMIT NULL OFFSET NULL

-- ordered
SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset LIMIT (SELECT count(*) FROM loc WHERE id > 2) OFFSET 2

-- ordered
SELECT DISTINCT _log_offset FROM readings ORDER BY _log_offset DESC LIMIT 4

-- ordered
SELECT _log_offset, count(*) FROM readings GROUP BY 1 ORDER BY 1 DESC LIMIT 4

-- ordered
SELECT DISTINCT ON (_bucket) _bucket, _log_offset, id FROM readings ORDER BY _bucket, _log_offset

-- ordered
SELECT _log_offset FROM readings ORDER BY 1 DESC FETCH FIRST 4 ROWS WITH TIES

-- ordered
SELECT id FROM (SELECT id, _log_offset, _bucket FROM readings ORDER BY _log_offset DESC, _bucket LIMIT 30) x WHERE id % 2 = 0 ORDER BY id

-- ordered
SELECT id, row_number() OVER (ORDER BY _bucket, _log_offset) FROM readings ORDER BY id LIMIT 30

-- ordered
SELECT id, sum(i1) OVER (PARTITION BY _bucket ORDER BY _log_offset) FROM readings ORDER BY id LIMIT 30

-- ordered
SELECT id, rank() OVER (ORDER BY _log_offset DESC) FROM readings ORDER BY 2, 1 LIMIT 9

-- ordered
SELECT id, generate_series(1, 3) FROM readings WHERE _bucket = 2 ORDER BY _log_offset DESC, 2 LIMIT 7

-- ordered
SELECT name FROM info ORDER BY name LIMIT 5

-- ordered
SELECT name FROM info ORDER BY name COLLATE human DESC LIMIT 5 OFFSET 2

-- ordered
SELECT f8, id FROM readings ORDER BY f8 DESC NULLS LAST, id LIMIT 40

-- ordered
SELECT max(_log_offset) FROM readings GROUP BY _bucket ORDER BY 1 LIMIT 2

-- ordered
SELECT a.id FROM readings a JOIN readings b USING (id) WHERE a._bucket = 1 ORDER BY a._log_offset DESC LIMIT 5

-- ordered
SELECT a.id, b.id FROM readings a LEFT JOIN readings b ON b._bucket = 1 AND b._log_offset = a._log_offset WHERE a._bucket = 0 ORDER BY a._log_offset LIMIT 20

-- ordered
SELECT x.id, y.id FROM (SELECT * FROM readings WHERE _bucket = 1 ORDER BY _log_offset) x JOIN (SELECT * FROM readings WHERE _bucket = 0 ORDER BY _log_offset) y ON x._log_offset = y._log_offset ORDER BY x._log_offset LIMIT 20

SELECT count(*) FROM (SELECT DISTINCT site FROM info LIMIT 3) x

SELECT count(*) FROM (SELECT sensor_id, row_number() OVER () FROM info LIMIT 3) x

SELECT max(n) FROM (SELECT row_number() OVER () n FROM info LIMIT 3) x

SELECT count(*) FROM (SELECT generate_series(1, sensor_id) FROM info WHERE sensor_id > 0 LIMIT 30) x

SELECT count(*) FROM (SELECT site, count(*) FROM info GROUP BY site LIMIT 2) x

SELECT count(*) FROM (SELECT sensor_id FROM info UNION SELECT id FROM loc LIMIT 5) x

SELECT count(*) FROM (SELECT * FROM info WHERE state = 2 LIMIT 4 OFFSET 1) x

SELECT count(*) FROM (SELECT * FROM info OFFSET 25) x

SELECT DISTINCT site, state FROM info

SELECT DISTINCT ON (site) site, sensor_id FROM info ORDER BY site, sensor_id DESC

-- sets
SELECT sensor_id FROM info UNION SELECT sensor_id FROM readings

SELECT sensor_id FROM info UNION ALL SELECT sensor_id FROM info2

SELECT sensor_id FROM info INTERSECT SELECT sensor_id FROM readings WHERE bo

SELECT sensor_id FROM readings EXCEPT SELECT sensor_id FROM info

SELECT sensor_id FROM readings EXCEPT ALL SELECT sensor_id FROM readings WHERE i1 > 0

-- ordered
(SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset LIMIT 3) UNION ALL (SELECT id FROM readings WHERE _bucket = 1 ORDER BY _log_offset DESC LIMIT 3)

-- ordered
(SELECT _log_offset, id FROM readings WHERE _bucket = 0) UNION ALL (SELECT _log_offset, id FROM readings WHERE _bucket = 1) ORDER BY 1 DESC, 2 LIMIT 7

SELECT 'a', count(*) FROM readings UNION ALL SELECT 'b', count(*) FROM info UNION ALL SELECT 'c', sum(i1) FROM readings WHERE bo

WITH a AS (SELECT count(*) n FROM readings), b AS (SELECT max(id) m FROM readings) SELECT n, m, n = m FROM a, b

WITH a AS MATERIALIZED (SELECT * FROM readings WHERE i1 > 20) SELECT (SELECT count(*) FROM a), (SELECT sum(i1) FROM a WHERE bo)
