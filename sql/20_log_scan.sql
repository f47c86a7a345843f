--
-- Scans of a log table: offsets, buckets, projection, pinned ends
--
\set test scan
\i sql/lib/server.sql

-- what EXPLAIN ANALYZE shows, without what differs between two runs
CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    CONTINUE WHEN line ~ '(Fluss Bytes|Memory Usage|Planning|Buffers|Fluss Requests: none)';
    line := regexp_replace(line, 'actual rows=\S+ loops=([2-9]|\d\d+)\)', 'actual loops=\1)');
    line := regexp_replace(line, 'actual rows=(\d+)(\.00)? loops', 'actual rows=\1 loops');
    RETURN NEXT line;
  END LOOP;
END $$;

CREATE FOREIGN TABLE readings (
  sensor_id integer, measured_at timestamp(3), temperature_c double precision, humidity_pct double precision,
  _bucket integer OPTIONS (metadata 'bucket'),
  _log_offset bigint OPTIONS (metadata 'log_offset'),
  _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp')
) SERVER scan_server;
SELECT fluss_create_table('readings', bucket_key => '{sensor_id}', bucket_count => 1);

-- an empty table
SELECT count(*) FROM readings;
SELECT * FROM readings;

-- three batches of ten records each
CREATE TABLE local_readings (sensor_id integer, measured_at timestamp(3), temperature_c double precision, humidity_pct double precision, off bigint);
INSERT INTO local_readings
  SELECT g % 7, timestamp '2026-08-04 09:00' + g * interval '15 min', 20 + g * 0.5, CASE WHEN g % 3 = 0 THEN NULL ELSE g END, g
  FROM generate_series(0, 29) g;
INSERT INTO readings (sensor_id, measured_at, temperature_c, humidity_pct)
  SELECT sensor_id, measured_at, temperature_c, humidity_pct FROM local_readings WHERE off < 10 ORDER BY off;
INSERT INTO readings (sensor_id, measured_at, temperature_c, humidity_pct)
  SELECT sensor_id, measured_at, temperature_c, humidity_pct FROM local_readings WHERE off BETWEEN 10 AND 19 ORDER BY off;
INSERT INTO readings (sensor_id, measured_at, temperature_c, humidity_pct)
  SELECT sensor_id, measured_at, temperature_c, humidity_pct FROM local_readings WHERE off >= 20 ORDER BY off;

-- everything, both ways
(SELECT sensor_id, measured_at, temperature_c, humidity_pct, _log_offset FROM readings EXCEPT ALL SELECT * FROM local_readings)
UNION ALL
(SELECT * FROM local_readings EXCEPT ALL SELECT sensor_id, measured_at, temperature_c, humidity_pct, _log_offset FROM readings);
SELECT count(*), sum(temperature_c), count(humidity_pct), min(_log_offset), max(_log_offset), min(_bucket), max(_bucket) FROM readings;
SELECT bool_and(_commit_timestamp BETWEEN now() - interval '1 hour' AND clock_timestamp() + interval '1 min') FROM readings;
SELECT 1 AS one FROM readings LIMIT 3;
SELECT EXISTS (SELECT FROM readings), EXISTS (SELECT FROM readings WHERE _log_offset >= 30);

-- the pushed range, the projection
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE _log_offset >= 5 AND _log_offset < 15;
EXPLAIN (COSTS OFF) SELECT temperature_c FROM readings;
EXPLAIN (COSTS OFF) SELECT temperature_c FROM readings WHERE sensor_id = 3 AND 25 > _log_offset AND temperature_c > 21;
EXPLAIN (COSTS OFF) SELECT count(*) FROM readings WHERE _log_offset IN (3, 4, 5, 20) OR _log_offset > 27;
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE _log_offset = ANY ('{7,1}'::int[]) AND _bucket = 0;
-- fetched are the batches that hold the range, and no more
SELECT explain_analyze('SELECT * FROM readings WHERE _log_offset >= 5 AND _log_offset < 15');
SELECT explain_analyze('SELECT count(*) FROM readings');
SELECT explain_analyze('SELECT temperature_c FROM readings WHERE _log_offset = 29');

-- VERBOSE tells which servers are asked
CREATE FUNCTION leaders_shown(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; n bigint := 0;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (VERBOSE) ' || query LOOP
    n := n + (line ~ 'Fluss Leaders: [^,]+:\d+$')::int;
  END LOOP;
  RETURN n;
END $$;
SELECT leaders_shown('SELECT * FROM readings');

-- ranges that start and end within a batch are exact, for every bound
SELECT lo, hi FROM generate_series(0, 31) lo, generate_series(0, 31) hi
WHERE (SELECT array_agg(_log_offset ORDER BY _log_offset) FROM readings WHERE _log_offset BETWEEN lo AND hi)
  IS DISTINCT FROM (SELECT array_agg(off ORDER BY off) FROM local_readings WHERE off BETWEEN lo AND hi)
  AND lo <= 30;

-- nothing to read: no request
SELECT explain_analyze('SELECT * FROM readings WHERE _log_offset BETWEEN 10 AND 5');
SELECT explain_analyze('SELECT * FROM readings WHERE _bucket = 99');
SELECT explain_analyze('SELECT * FROM readings WHERE _log_offset = NULL::bigint OR _log_offset < 0');
SELECT count(*) FROM readings WHERE _log_offset BETWEEN 10 AND 5;
SELECT count(*) FROM readings WHERE _bucket = 99;

-- at the end: empty; past it: empty with a warning that names both offsets
SELECT count(*) FROM readings WHERE _log_offset >= 30;
SELECT count(*) FROM readings WHERE _log_offset >= 31;
SELECT count(*) FROM readings WHERE _log_offset >= 1000;
ALTER FOREIGN TABLE readings OPTIONS (ADD on_data_loss 'error');
\set VERBOSITY sqlstate
SELECT count(*) FROM readings WHERE _log_offset >= 1000;
\set VERBOSITY terse
ALTER FOREIGN TABLE readings OPTIONS (SET on_data_loss 'ignore');
SELECT count(*) FROM readings WHERE _log_offset >= 1000;
ALTER FOREIGN TABLE readings OPTIONS (DROP on_data_loss);

-- parameters: the same on the first and the eighth execution
PREPARE range_of(bigint, bigint) AS SELECT count(*), min(_log_offset), max(_log_offset) FROM readings WHERE _log_offset >= $1 AND _log_offset < $2;
EXECUTE range_of(0, 5);
EXECUTE range_of(5, 15);
EXECUTE range_of(NULL, 15);
EXECUTE range_of(15, 5);
EXECUTE range_of(5, 15);
EXECUTE range_of(9, 10);
EXECUTE range_of(10, 11);
EXECUTE range_of(5, 15);
SELECT explain_analyze('EXECUTE range_of(5, 15)');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE range_of(5, 15);
SELECT explain_analyze('EXECUTE range_of(5, 15)');
EXECUTE range_of(25, 100);
RESET plan_cache_mode;

-- bounds from an outer row are taken anew on each rescan
CREATE TABLE positions (job text, start_offset bigint, n int);
INSERT INTO positions VALUES ('a', 0, 3), ('b', 8, 4), ('c', 29, 1), ('d', NULL, 5), ('e', 12, 0);
ANALYZE positions;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_material = off;
-- as if it were a large table: few rows are read whole rather than often
ALTER SERVER scan_server OPTIONS (ADD use_remote_estimate 'off');
EXPLAIN (COSTS OFF) SELECT p.job, r._log_offset FROM positions p JOIN readings r ON r._log_offset >= p.start_offset AND r._log_offset < p.start_offset + p.n;
SELECT p.job, array_agg(r._log_offset ORDER BY r._log_offset) FROM positions p JOIN readings r ON r._log_offset >= p.start_offset AND r._log_offset < p.start_offset + p.n GROUP BY 1 ORDER BY 1;
SELECT explain_analyze('SELECT p.job, r._log_offset FROM positions p JOIN readings r ON r._log_offset >= p.start_offset AND r._log_offset < p.start_offset + p.n');
SELECT p.job, x.m FROM positions p LEFT JOIN LATERAL (SELECT max(temperature_c) m FROM readings WHERE _log_offset BETWEEN p.start_offset AND p.start_offset + p.n - 1) x ON true ORDER BY 1;
SELECT count(*) FROM positions p JOIN readings r ON r._log_offset > p.start_offset;
SELECT count(*) FROM positions p JOIN local_readings r ON r.off > p.start_offset;
-- an offset that a row of another table names need not be there, whatever the plan; the scan's own bounds count
CREATE TABLE named AS SELECT unnest(ARRAY[5, 29, 31, 600]::bigint[]) AS off;
ANALYZE named;
EXPLAIN (COSTS OFF) SELECT count(*) FROM named n JOIN readings r ON r._log_offset = n.off;
SELECT count(*) FROM named n JOIN readings r ON r._log_offset = n.off;
SELECT count(*) FROM named n JOIN readings r ON r._log_offset = n.off WHERE r._log_offset >= 500;
SELECT count(*) FROM named n JOIN readings r ON r._log_offset >= n.off;
SELECT count(*) FROM named n CROSS JOIN LATERAL (SELECT * FROM readings WHERE _log_offset > n.off ORDER BY _log_offset LIMIT 3) r;
SET enable_hashjoin = on; SET enable_nestloop = off;
SELECT count(*) FROM named n JOIN readings r ON r._log_offset = n.off;
SELECT count(*) FROM named n JOIN readings r ON r._log_offset = n.off WHERE r._log_offset >= 500;
DROP TABLE named;
RESET enable_nestloop; RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material;
ALTER SERVER scan_server OPTIONS (DROP use_remote_estimate);

-- volatile and row-dependent conditions stay with the executor
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE _log_offset > random() * 10;
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE _log_offset > sensor_id;
EXPLAIN (COSTS OFF) SELECT * FROM readings WHERE NOT (_log_offset > 3 AND _bucket = 0);
SELECT count(*) FROM readings WHERE _log_offset > sensor_id;
SELECT count(*) FROM local_readings WHERE off > sensor_id;

-- several buckets
CREATE FOREIGN TABLE events (
  id integer, payload text,
  bkt integer OPTIONS (metadata 'bucket'), off bigint OPTIONS (metadata 'log_offset')
) SERVER scan_server;
SELECT fluss_create_table('events', bucket_key => '{id}', bucket_count => 3);
INSERT INTO events (id, payload) SELECT g, 'event ' || g FROM generate_series(1, 300) g;
SELECT count(*), count(DISTINCT id), min(id), max(id), count(DISTINCT bkt) FROM events;
SELECT bkt, count(*) = max(off) + 1 AS whole FROM events GROUP BY bkt ORDER BY bkt;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE bkt = 1 AND off < 10;
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE (bkt = 0 AND off >= 10 AND off < 12) OR (bkt = 2 AND off IN (1, 2, 5)) OR (bkt = 2 AND off = 2);
SELECT bkt, array_agg(off ORDER BY off) FROM events WHERE (bkt = 0 AND off >= 10 AND off < 12) OR (bkt = 2 AND off IN (1, 2, 5)) OR (bkt = 2 AND off = 2) GROUP BY 1 ORDER BY 1;
SELECT c.id, (SELECT max(off) FROM events WHERE bkt = c.id % 3 AND off < c.id * 10) FROM generate_series(0, 8) c(id);

-- one statement, one end: an INSERT ... SELECT from the table itself ends
INSERT INTO events (id, payload) SELECT id + 1000, payload FROM events;
SELECT count(*), count(DISTINCT id) FROM events;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM events;
INSERT INTO events (id, payload) VALUES (5000, 'later');
SELECT count(*) FROM events;
COMMIT;
SELECT count(*) FROM events;
-- of the queries that a rule makes of one, each sees what the one before wrote
CREATE TABLE seen (n bigint);
CREATE TABLE desk (id integer);
CREATE RULE also AS ON INSERT TO desk DO ALSO (
  INSERT INTO seen SELECT count(*) FROM events;
  INSERT INTO events (id, payload) VALUES (NEW.id, 'by rule');
  INSERT INTO seen SELECT count(*) FROM events);
INSERT INTO desk VALUES (5001);
SELECT max(n) - min(n) AS written FROM seen;
DROP TABLE seen, desk;
-- a stable function keeps its caller's end, also from one query to the next
CREATE FUNCTION add_event() RETURNS void LANGUAGE sql AS $$ INSERT INTO events (id, payload) VALUES (5002, 'by function') $$;
CREATE FUNCTION seen_between() RETURNS bigint STABLE LANGUAGE plpgsql AS $$
DECLARE before bigint;
BEGIN
  SELECT count(*) INTO before FROM events;
  PERFORM add_event();
  RETURN (SELECT count(*) FROM events) - before;
END $$;
SELECT seen_between();
DO $$
DECLARE seen bigint := seen_between();
BEGIN
  RAISE WARNING 'seen: %', seen;
END $$;
DROP FUNCTION seen_between, add_event;
-- a cursor keeps its end
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM events WHERE bkt = 0;
MOVE 1 FROM c;
INSERT INTO events (id, payload) SELECT g, 'new' FROM generate_series(6000, 6099) g;
MOVE ALL FROM c;
COMMIT;
SELECT count(*) FROM events;

-- the planner believes a NOT NULL, so what is read is checked
CREATE FOREIGN TABLE readings_strict (sensor_id integer NOT NULL, humidity_pct double precision NOT NULL) SERVER scan_server OPTIONS (table_name 'readings');
SELECT count(*), count(sensor_id) FROM readings_strict;
SELECT count(humidity_pct) FROM readings_strict;
-- columns by name, in any order, and fewer of them
CREATE FOREIGN TABLE events_partly (note varchar OPTIONS (column_name 'payload'), dropped int, id bigint) SERVER scan_server OPTIONS (table_name 'events');
ALTER FOREIGN TABLE events_partly DROP COLUMN dropped;
SELECT * FROM events_partly WHERE id <= 3 ORDER BY id;
-- a column that the remote table lacks is an error when it is used
ALTER FOREIGN TABLE events_partly ADD COLUMN absent int;
SELECT id FROM events_partly WHERE id = 1;
\set VERBOSITY sqlstate
SELECT absent FROM events_partly;
SELECT * FROM events_partly WHERE absent > 1;
\set VERBOSITY terse
SELECT tableoid::regclass, id FROM events_partly WHERE id = 1;

SELECT fluss_drop_database('scan_server', 'regress_scan', cascade => true);
DROP SERVER scan_server CASCADE;
DROP FUNCTION explain_analyze;
DROP FUNCTION leaders_shown;
DROP TABLE local_readings, positions;
