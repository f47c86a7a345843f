-- Orders below joins and limits, per outer row; event times; other column types; partitions of local tables

-- the newest record of each bucket
SELECT b, (SELECT id FROM readings WHERE _bucket = b ORDER BY _log_offset DESC LIMIT 1) FROM generate_series(0, 3) b

SELECT b, x.id FROM generate_series(-1, 3) b LEFT JOIN LATERAL (SELECT id FROM readings WHERE _bucket = b ORDER BY _log_offset DESC LIMIT 3) x ON true

SELECT b, x.id FROM generate_series(-1, 3) b LEFT JOIN LATERAL (SELECT id FROM readings WHERE _bucket = b AND _log_offset >= b * 4 ORDER BY _log_offset LIMIT 3 OFFSET 1) x ON true

SELECT b, x.id FROM generate_series(0, 2) b, LATERAL (SELECT id FROM readings WHERE _bucket = b AND i1 > 20 ORDER BY _log_offset DESC LIMIT b + 1) x

SELECT p.part, x.id FROM pos p LEFT JOIN LATERAL (SELECT id FROM events e WHERE e._partition = p.part AND e._bucket = p.b ORDER BY _log_offset DESC LIMIT 2) x ON true

SELECT p.part, x.m FROM pos p LEFT JOIN LATERAL (SELECT max(_log_offset) m FROM events e WHERE e.day = p.day AND e._bucket = p.b) x ON true

-- ordered
SELECT a.id, b.id FROM (SELECT * FROM readings WHERE _bucket = 0) a JOIN (SELECT * FROM readings WHERE _bucket = 1) b ON a._log_offset = b._log_offset ORDER BY a._log_offset DESC LIMIT 25

-- ordered
SELECT a.id, b.id FROM readings a LEFT JOIN readings b ON a._log_offset = b._log_offset AND b._bucket = 2 AND b.i1 > 0 WHERE a._bucket = 0 ORDER BY a._log_offset

-- ordered
SELECT a._log_offset, b._log_offset FROM (SELECT * FROM readings WHERE _bucket = 0) a FULL JOIN (SELECT * FROM readings WHERE _bucket = 2) b ON a._log_offset = b._log_offset ORDER BY 1, 2

SELECT count(*) FROM readings a JOIN readings b ON a._bucket = b._bucket AND a._log_offset = b._log_offset

SELECT count(*) FROM readings a JOIN readings b USING (_bucket, _log_offset) JOIN readings c USING (_bucket, _log_offset) WHERE a.i1 > 0 AND b.i2 > 0

-- ordered
SELECT _log_offset, count(*) FROM readings WHERE _bucket = 1 GROUP BY _log_offset ORDER BY _log_offset LIMIT 10

-- ordered
SELECT id FROM readings WHERE _bucket = ANY ('{1}') ORDER BY _log_offset DESC LIMIT 10

-- ordered
SELECT id FROM readings WHERE _bucket IN (1, 1) AND _bucket > 0 ORDER BY _bucket, _log_offset DESC LIMIT 10

-- ordered
SELECT id FROM readings WHERE _bucket >= 1 AND _bucket <= 1 ORDER BY _log_offset LIMIT 10

-- ordered
SELECT id FROM readings WHERE (_bucket = 1 OR _bucket = 2) AND _log_offset < 5 ORDER BY _log_offset DESC, _bucket

-- ordered
SELECT id FROM readings WHERE _bucket = 1 AND (_log_offset < 3 OR _log_offset BETWEEN 10 AND 14 OR _log_offset > 1000000 OR _log_offset IN (7, 8)) ORDER BY _log_offset DESC

-- ordered
SELECT id FROM readings WHERE _log_offset IN (3, 1, 2, 2) AND _bucket = 1 ORDER BY _log_offset

-- ordered
SELECT id, _log_offset FROM readings WHERE (_bucket, _log_offset) IN ((1, 3), (0, 7), (2, 1), (0, 2)) ORDER BY _bucket, _log_offset

-- ordered
SELECT id FROM readings WHERE _log_offset > 100000 AND _bucket = 1 OR _bucket = 0 AND _log_offset < 10 ORDER BY _log_offset DESC LIMIT 4

-- ordered
SELECT id FROM readings WHERE false ORDER BY _log_offset DESC LIMIT 4

-- ordered
SELECT id FROM readings WHERE _bucket = 1 AND id < 250 ORDER BY _commit_timestamp DESC, _log_offset DESC LIMIT 5

-- ordered
SELECT id, max(_log_offset) OVER (PARTITION BY _bucket ORDER BY _log_offset ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM readings ORDER BY _bucket, _log_offset LIMIT 40

-- ordered
SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY _bucket ORDER BY _log_offset DESC) n FROM readings) x WHERE n <= 3 ORDER BY id

-- ordered
SELECT i.name, r._log_offset FROM readings r JOIN info i USING (sensor_id) WHERE r._bucket = 1 ORDER BY r._log_offset DESC LIMIT 6

-- ordered
SELECT i.name, r._log_offset FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state = 1 ORDER BY r._log_offset DESC, r._bucket LIMIT 6 OFFSET 2

-- ordered
SELECT r.id, h.v FROM readings r LEFT JOIN hist h USING (sensor_id) WHERE r._bucket = 1 ORDER BY r._log_offset, h.v LIMIT 30

-- ordered
SELECT id FROM events WHERE _partition_id = (SELECT max(_partition_id) FROM events) ORDER BY _bucket, _log_offset

-- ordered
SELECT id FROM events WHERE day = 'd2' AND _bucket = 1 ORDER BY _log_offset DESC LIMIT 4

-- ordered
SELECT id FROM events WHERE _bucket = 1 AND day IN ('d1', 'd2') ORDER BY _log_offset DESC, day LIMIT 4

-- ordered
SELECT id FROM events ORDER BY _log_offset DESC, day, _bucket LIMIT 6

-- ordered
SELECT id FROM visits WHERE v IS NOT NULL ORDER BY _commit_timestamp DESC, id DESC LIMIT 6

SELECT _partition_id = (SELECT min(_partition_id) FROM events), count(*) FROM events GROUP BY 1

SELECT count(*) FROM events WHERE _partition_id IN (SELECT _partition_id FROM events WHERE id < 3)

SELECT count(*), min(_log_offset), max(_log_offset) FROM events WHERE _partition_id > (SELECT min(_partition_id) FROM events)

-- event times
SELECT id FROM ticks WHERE at >= tick(50)

SELECT id FROM ticks WHERE at > tick(20) AND at < tick(77)

SELECT id FROM ticks WHERE plain >= tick(60) AT TIME ZONE 'UTC'

SELECT count(*) FROM ticks WHERE at > now() + interval '1 day'

SELECT id FROM ticks WHERE at = tick(33) OR id = 1

SELECT id FROM ticks WHERE at BETWEEN tick(40) AND tick(60) AND _bucket = 0

SELECT id FROM ticks WHERE at IN (SELECT at FROM ticks WHERE id % 10 = 0)

SELECT a.id, (SELECT count(*) FROM ticks b WHERE b.at > a.at) FROM ticks a WHERE id % 9 = 0

SELECT id FROM ticks WHERE at >= '-infinity' AND at <= 'infinity' AND id < 5

-- script
BEGIN; SET LOCAL timezone = 'Asia/Kolkata'; SELECT id FROM ticks WHERE plain >= tick(60) ORDER BY id; SELECT id FROM ticks WHERE at >= tick(60) AT TIME ZONE 'Asia/Kolkata' ORDER BY id; COMMIT

-- ordered
SELECT id FROM ticks WHERE at >= tick(50) ORDER BY _log_offset DESC, _bucket LIMIT 5

-- types: timestamptz, timestamp
-- values: tick(10), tick(20) AT TIME ZONE 'UTC'
-- values: tick(90), '-infinity'
-- values: NULL, tick(20) AT TIME ZONE 'UTC'
-- values: '-infinity', tick(99) AT TIME ZONE 'UTC'
-- values: tick(50), NULL
-- values: 'infinity', tick(20) AT TIME ZONE 'UTC'
-- values: tick(50), 'infinity'
-- values: tick(61), tick(61) AT TIME ZONE 'UTC'
SELECT id FROM ticks WHERE at >= $1 AND plain >= $2

-- arrays and JSON
SELECT id, tags, nums, props FROM ticks

SELECT id FROM ticks WHERE tags @> '{t1}' OR nums[1] = 2

SELECT id, props ->> 'id' FROM ticks WHERE props @> '{"k": 2}'

SELECT t.id, u FROM ticks t, unnest(t.tags) u WHERE t.id < 20

SELECT t.id, i.name FROM ticks t LEFT JOIN info i ON i.sensor_id = (t.props ->> 'k')::int

SELECT t.id, i.name FROM ticks t JOIN info i ON i.sensor_id = ANY (t.nums)

SELECT t.id, i.name FROM ticks t LEFT JOIN LATERAL (SELECT name FROM info WHERE sensor_id = ANY (t.nums) ORDER BY 1 LIMIT 1) i ON true

SELECT nums, count(*) FROM ticks GROUP BY nums

SELECT id FROM ticks WHERE tags IS NULL AND nums = '{}'

SELECT id FROM ticks WHERE props IS NULL OR tags = ARRAY['t1', NULL, '']

-- wider types
SELECT nr, i1, i2, i8 FROM wide WHERE i1 > 40 OR i2 < -490 OR i8 > 9e18

SELECT nr FROM wide WHERE i8 = 9223372036854775807 OR i8 < -299000000000.5

SELECT nr FROM wide WHERE i8 = 'NaN' OR i8 > 1e30 OR i1 = 5000000000

SELECT nr FROM wide WHERE i8 % 2 = 1 AND i1 BETWEEN 0 AND 5000000000 AND sensor_id < 2.5

SELECT min(i1), max(i1), sum(i1), avg(i1), min(i2), sum(i2), avg(i2), sum(i8), min(i8), max(i8), avg(i8), count(i8) FROM wide

SELECT sum(i8), avg(i8), sum(de), max(de), avg(de) FROM wide WHERE i1 <> 3 AND nr > 50

SELECT nr FROM wide WHERE de > 19.25 OR de = 9999999999999999.9999

SELECT w.nr, i.name FROM wide w LEFT JOIN info i ON i.sensor_id = w.sensor_id WHERE w._bucket = 1

SELECT w.nr, i.name FROM wide w LEFT JOIN wide_info i USING (sensor_id)

SELECT r.id, i.name FROM readings r LEFT JOIN wide_info i USING (sensor_id)

SELECT w.nr, i.name FROM wide w JOIN wide_info i ON i.sensor_id = w.i8 % 10

SELECT * FROM wide_info WHERE sensor_id IN (1, 5000000000, NULL, 4)

SELECT * FROM wide_info WHERE sensor_id = 4294967297

SELECT v FROM wide_facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 = 0 AND k4 = 0.25

SELECT v FROM wide_facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 IN (0, 0.5, 'NaN', 1e20, 0.000) AND k4 IN (0.25, 0.2501)

SELECT l.id, f.v FROM loc l LEFT JOIN wide_facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n

SELECT count(*) FROM facts a JOIN wide_facts b ON b.k1 = a.k1 AND b.k2 = a.k2 AND b.k3 = a.k3 AND b.k4 = a.k4

SELECT count(*) FROM wide_facts a JOIN facts b ON b.k1 = a.k1 AND b.k2 = a.k2 AND b.k3 = a.k3 AND b.k4 = a.k4 WHERE a.v < 100

SELECT w FROM wide w WHERE nr < 10

-- partitions of local tables
SELECT * FROM shards WHERE id < 30

SELECT shard, count(*), sum(v), min(id), max(_log_offset) FROM shards GROUP BY shard

SELECT count(*), sum(v), avg(v), min(v), max(_log_offset) FROM shards

SELECT count(*) FROM shards WHERE shard = 1 AND v > 10

-- ordered
SELECT shard, id, _log_offset FROM shards ORDER BY _log_offset DESC, shard, id LIMIT 12

-- ordered
SELECT shard, id FROM shards WHERE _bucket = 0 ORDER BY _log_offset, shard, id LIMIT 20

-- ordered
SELECT max(_log_offset), min(_log_offset) FROM shards WHERE _bucket = 0

SELECT s.id, d.name FROM shards s JOIN dim d USING (shard, sensor_id)

SELECT s.id, d.name FROM shards s LEFT JOIN dim d ON d.shard = s.shard AND d.sensor_id = s.sensor_id AND d.name <> 'one3' WHERE s.v > 4

SELECT s.shard, d.name, count(*), sum(s.v) FROM shards s LEFT JOIN dim d USING (shard, sensor_id) GROUP BY 1, 2

SELECT s.id FROM shards s WHERE NOT EXISTS (SELECT FROM dim d WHERE d.shard = s.shard AND d.sensor_id = s.sensor_id)

SELECT l.id, d.name FROM loc l LEFT JOIN dim d ON d.shard = l.s AND d.sensor_id = l.id + 8

SELECT l.id, d.name FROM loc l LEFT JOIN dim d ON d.shard IN (1, 2) AND d.sensor_id = l.id

SELECT * FROM dim WHERE sensor_id IN (9, 10) AND shard = 2

SELECT * FROM dim WHERE sensor_id = 9

SELECT s.id, i.name, d.name FROM shards s LEFT JOIN info i USING (sensor_id) LEFT JOIN dim d ON d.shard = i.state AND d.sensor_id = s.sensor_id WHERE s.shard < 3

SELECT tableoid IN (SELECT oid FROM pg_class WHERE relname = 'shard1'), count(*) FROM shards GROUP BY 1

-- ordered
SELECT s.id, d.name FROM shards s LEFT JOIN dim d USING (shard, sensor_id) ORDER BY s._log_offset DESC, s.shard, s.id LIMIT 9
