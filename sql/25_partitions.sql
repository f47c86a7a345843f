--
-- Log scans of partitioned tables: pruning, metadata, ranges, changes between queries
--
\set test partition
\i sql/lib/server.sql

CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    CONTINUE WHEN line ~ '(Fluss Bytes|Memory Usage|Planning|Buffers|Fluss Requests: [^n])';
    line := regexp_replace(line, 'actual rows=(\d+)(\.00)? loops', 'actual rows=\1 loops');
    RETURN NEXT line;
  END LOOP;
END $$;

CREATE FOREIGN TABLE events (
  day text, region integer, id integer, v integer,
  _partition text OPTIONS (metadata 'partition'),
  _partition_id bigint OPTIONS (metadata 'partition_id'),
  _table_id bigint OPTIONS (metadata 'table_id'),
  _bucket integer OPTIONS (metadata 'bucket'),
  _log_offset bigint OPTIONS (metadata 'log_offset'),
  _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp')
) SERVER partition_server;
SELECT fluss_create_table('events', bucket_count => 2, bucket_key => '{id}', partitioned_by => '{day,region}');

-- no partitions at all
SELECT count(*) FROM events;
SELECT id FROM events WHERE day = 'x' AND _log_offset >= 5;
SELECT explain_analyze('SELECT id FROM events WHERE _partition = ''a$1''');

-- nine partitions of twenty records
CREATE TABLE local AS SELECT 'd' || d AS day, r AS region, i AS id, d * 1000 + r * 100 + i AS v FROM generate_series(1, 3) d, generate_series(1, 3) r, generate_series(1, 20) i;
INSERT INTO events (day, region, id, v) SELECT * FROM local ORDER BY day, region, id;
(SELECT day, region, id, v FROM events EXCEPT ALL SELECT * FROM local) UNION ALL (SELECT * FROM local EXCEPT ALL SELECT day, region, id, v FROM events);
SELECT _partition, count(*), min(day), min(region), count(DISTINCT _partition_id), min(_bucket), max(_bucket), min(_log_offset), count(DISTINCT _table_id) FROM events GROUP BY 1 ORDER BY 1;
ALTER TABLE local ADD p text, ADD pid bigint, ADD b int, ADD o bigint, ADD at timestamptz;
UPDATE local l SET p = _partition, pid = _partition_id, b = _bucket, o = _log_offset, at = _commit_timestamp FROM events e WHERE e.day = l.day AND e.region = l.region AND e.id = l.id;

-- pruning: by any condition that a partition decides
EXPLAIN (COSTS OFF) SELECT id FROM events;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE day = 'd1';
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE _partition = 'd1$2';
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE _partition IN ('d1$2', 'd3$3', 'd9$9') AND _bucket = 0;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE (upper(day) LIKE '%2' OR region > 2) AND v > 5 AND _log_offset < 3;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE day = 'd1' AND region = 7;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE day <> 'd1' AND id = 3;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE _table_id < 0;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE day > current_user;
EXPLAIN (COSTS OFF) SELECT count(*) FROM events WHERE _partition = 'd1$2';
SELECT explain_analyze('SELECT id FROM events WHERE day = ''d1'' AND region IN (1, 3) AND _log_offset < 4');
SELECT explain_analyze('SELECT id FROM events WHERE region * 2 = 5');
-- an operator that cannot be turned round
EXPLAIN (COSTS OFF) SELECT count(*) FROM events WHERE 'd1' ~ day;
SELECT explain_analyze('SELECT id FROM events WHERE NOT (_partition ~ ''^d[12]'') AND _bucket % 2 = 1 AND region < 2');

-- functions
SELECT partition, spec, partition_id = (SELECT max(pid) FROM local WHERE p = partition) AS same, table_id = (SELECT DISTINCT _table_id FROM events) AS table FROM fluss_partitions('events') ORDER BY 1 LIMIT 4;
SELECT count(*) FROM fluss_partitions('partition_server', 'regress_partition', 'events');
SELECT partition, bucket, latest_offset FROM fluss_buckets('events') WHERE partition LIKE 'd1%' ORDER BY 1, 2;
SELECT count(*) FROM fluss_offsets_at('events', (SELECT max(at) FROM local)) f JOIN local l ON f.partition = l.p AND f.bucket = l.b AND l.o < f.log_offset WHERE at >= (SELECT max(at) FROM local);
SELECT sum(log_offset) FROM fluss_offsets_at('events', 'infinity');
SELECT sum(log_offset) FROM fluss_offsets_at('partition_server', 'regress_partition', 'events', '-infinity');
SELECT sum(log_offset) FROM fluss_offsets_at('events', now() + interval '1 day');

-- each kind of condition against the copy
CREATE FUNCTION differs(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM (
    (SELECT day, region, id, v, p, pid, b, o FROM local WHERE %s EXCEPT ALL SELECT day, region, id, v, _partition, _partition_id, _bucket, _log_offset FROM (SELECT *, _partition AS p, _partition_id AS pid, _bucket AS b, _log_offset AS o, _commit_timestamp AS at FROM events) e WHERE %s)
    UNION ALL
    (SELECT day, region, id, v, _partition, _partition_id, _bucket, _log_offset FROM (SELECT *, _partition AS p, _partition_id AS pid, _bucket AS b, _log_offset AS o, _commit_timestamp AS at FROM events) e WHERE %s EXCEPT ALL SELECT day, region, id, v, p, pid, b, o FROM local WHERE %s)) d',
    condition, condition, condition, condition) INTO n;
  RETURN n;
END $$;
SELECT c, differs(c) FROM unnest(ARRAY[
  'day = ''d2''', 'day IN (''d1'', ''d3'') AND region = 2', 'region BETWEEN 2 AND 3', 'day = ''d2'' OR region = 1', 'day = NULL', 'day IS NULL', 'day IS NOT NULL AND b = 1',
  'p = ''d2$2''', 'p <> ''d2$2''', 'p LIKE ''d2%''', 'p = ANY (ARRAY[''d1$1'', NULL])', 'pid = (SELECT max(pid) FROM local)', 'pid IN (SELECT pid FROM local WHERE v % 7 = 0)',
  'day || region = ''d22''', 'region::text = ''3''', 'region = 2::bigint', 'region = 2.0', 'region > 1.5', 'length(p) = 4 AND region IS DISTINCT FROM 2', 'CASE region WHEN 1 THEN day = ''d1'' ELSE day = ''d2'' END',
  '(day, region) = (''d2'', 3)', '(day, region) IN ((''d2'', 3), (''d3'', 1))', '(day, region) > (''d2'', 2)', '(p, b, o) >= (''d2$2'', 1, 4)', '(b, o) IN ((0, 1), (1, 3))', '(b, o) < (1, 3)', '(o, v) <= (2, 1500)',
  '(p = ''d1$1'' AND b = 0 AND o >= 3) OR (p = ''d1$1'' AND b = 1 AND o >= 5) OR (p = ''d2$3'' AND o < 2) OR p = ''none''',
  '(day = ''d1'' AND o BETWEEN 2 AND 4) OR (day = ''d1'' AND o BETWEEN 3 AND 6) OR o = 4', '(day = ''d3'' AND v > 3100) OR (region = 1 AND o = 0)', 'NOT (day = ''d1'' OR o > 3)', 'day = ''d1'' AND random() >= 0',
  'o = 1 OR day = ''d2'' OR random() < 0', 'at >= (SELECT min(at) FROM local)', 'at > (SELECT max(at) FROM local)', 'at < (SELECT max(at) FROM local WHERE day = ''d1'')', 'day = ''d2'' AND at = (SELECT max(at) FROM local WHERE day = ''d2'')',
  'b = 0 AND (day = ''d1'' OR at <= (SELECT min(at) FROM local))', 'false', 'true',
  -- none divides by zero, as the cheaper condition comes first
  '6 / (region - 2) <> 0 AND region <> 2', 'region <> 2 AND 6 / (region - 2) > 0', '1 / b = 1 AND day = ''d1'' AND b > 0', 'region = 2 OR 6 / (region - 2) > 0 OR o < 3']) c;

-- every type that a partition column can have
CREATE FUNCTION differs_by_type(type text, vals text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; total bigint := 0; v text; op text;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE typed (k %s, v integer) SERVER partition_server OPTIONS (table_name %L)', type, 'typed_' || regexp_replace(type, '\W', '', 'g'));
  EXECUTE format('CREATE TABLE local_typed (k %s, v integer)', type);
  PERFORM fluss_create_table('typed', bucket_count => 1, partitioned_by => '{k}');
  FOREACH v IN ARRAY vals LOOP
    EXECUTE format('INSERT INTO local_typed VALUES (%L, 1)', v);
  END LOOP;
  INSERT INTO typed SELECT * FROM local_typed;
  FOREACH v IN ARRAY vals LOOP
    FOREACH op IN ARRAY '{=,<>,<,>=}'::text[] LOOP
      EXECUTE format('SELECT count(*) FROM ((SELECT * FROM typed WHERE k %s %L EXCEPT ALL SELECT * FROM local_typed WHERE k %s %L) UNION ALL (SELECT * FROM local_typed WHERE k %s %L EXCEPT ALL SELECT * FROM typed WHERE k %s %L)) d', op, v, op, v, op, v, op, v) INTO n;
      total := total + n;
    END LOOP;
  END LOOP;
  DROP FOREIGN TABLE typed;
  DROP TABLE local_typed;
  RETURN total;
END $$;
SELECT differs_by_type('boolean', '{true,false}'), differs_by_type('smallint', '{-32768,0,32767}'), differs_by_type('bigint', '{-9223372036854775808,7,9223372036854775807}'),
  differs_by_type('date', '{2026-08-04,1969-12-31,0001-01-01}'), differs_by_type('time(3)', '{00:00:00,23:59:59.999,12:30:00.5}'),
  differs_by_type('timestamp(6)', '{2026-08-04 09:00:00.123456,1969-12-31 23:59:59,1970-01-01}'), differs_by_type('timestamptz(3)', '{2026-08-04 09:00:00.120+02,1960-01-01 00:00+00}'),
  differs_by_type('real', '{1.5,-0.25,1e10,1e-7,NaN,Infinity}'), differs_by_type('double precision', '{0.1,-1e300,123456789.125,-Infinity,1e-3}'), differs_by_type('bytea', '{"\\x00ff","\\x61"}'),
  differs_by_type('varchar(5)', '{a,A,a-b}');

-- parameters
PREPARE part(text, int) AS SELECT count(*), min(v) FROM events WHERE day = $1 AND region >= $2;
EXECUTE part('d1', 1);
EXECUTE part('d2', 2);
EXECUTE part(NULL, 1);
EXECUTE part('d3', NULL);
EXECUTE part('d1', 3);
EXECUTE part('d9', 1);
EXECUTE part('d1', 1);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE part('d1', 3);
SELECT explain_analyze('EXECUTE part(''d1'', 3)');
RESET plan_cache_mode;

-- a consumer's positions: a range for each row, and no record twice
CREATE TABLE positions AS SELECT p AS partition, pid, b AS bucket, min(o) + 3 AS next FROM local GROUP BY 1, 2, 3;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM positions JOIN events e ON e._partition = partition AND e._bucket = bucket AND e._log_offset >= next;
SELECT count(*), count(DISTINCT (_partition, _bucket, _log_offset)), sum(v) FROM positions JOIN events e ON e._partition = partition AND e._bucket = bucket AND e._log_offset >= next;
SELECT count(*), sum(v) FROM local JOIN positions ON p = partition AND b = bucket AND o >= next;
SELECT count(*), sum(v) FROM fluss_buckets('events') f, LATERAL (SELECT * FROM events e WHERE e._partition_id = f.partition_id AND e._bucket = f.bucket AND e._log_offset >= f.latest_offset - 2) t;
SELECT count(*), sum(v) FROM (SELECT *, row_number() OVER (PARTITION BY p, b ORDER BY o DESC) n FROM local) l WHERE n <= 2;
SELECT day, (SELECT max(_log_offset) FROM events WHERE events.day = d.day AND _bucket = 0 AND region = 1) = (SELECT max(o) FROM local WHERE local.day = d.day AND b = 0 AND region = 1) AS same FROM (VALUES ('d1'), ('d2'), ('d3')) d(day);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- partitions of one transaction and of one statement
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM events;
INSERT INTO events (day, region, id, v) VALUES ('d4', 1, 1, 4101);
INSERT INTO events (day, region, id, v) VALUES ('d1', 1, 100, 1200);
SELECT count(*), count(DISTINCT _partition) FROM events;
COMMIT;
SELECT count(*), count(DISTINCT _partition) FROM events;
BEGIN;
SELECT count(*), count(DISTINCT _partition) FROM events;
INSERT INTO events (day, region, id, v) VALUES ('d4', 2, 1, 4201);
SELECT count(*), count(DISTINCT _partition) FROM events;
DECLARE c CURSOR FOR SELECT id, day FROM events WHERE day >= 'd4' ORDER BY day, region;
INSERT INTO events (day, region, id, v) VALUES ('d5', 1, 1, 5101);
FETCH ALL FROM c;
COMMIT;
-- one statement that writes what it reads
INSERT INTO events (day, region, id, v) SELECT 'd6', region, id, v FROM events WHERE day >= 'd4';
SELECT _partition, count(*) FROM events WHERE day >= 'd4' GROUP BY 1 ORDER BY 1;
SELECT explain_analyze('SELECT id FROM events WHERE day >= ''d4'' AND region = 1');

-- made again between PREPARE and EXECUTE: noticed once, then planned anew
PREPARE again AS SELECT count(*), min(day) FROM events WHERE region = 1;
EXECUTE again;
SELECT fluss_drop_table('events');
SELECT fluss_create_table('events', bucket_count => 1, partitioned_by => '{region}');
INSERT INTO events (day, region, id, v) VALUES ('new', 1, 1, 1), ('new', 2, 2, 2);
\set VERBOSITY sqlstate
EXECUTE again;
\set VERBOSITY terse
EXECUTE again;
SELECT explain_analyze('EXECUTE again');

-- offsets that are not there: named with their partition
SELECT count(*) FROM events WHERE _partition = '2' AND _log_offset >= 100;

-- a partition that is dropped while the transaction still sees it
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM events WHERE v < 0;
SELECT fluss_drop_partition('events', '{"region": "2"}');
SELECT pg_sleep(2);
SELECT count(*), min(_partition) FROM events;
SELECT count(*) FROM events WHERE _commit_timestamp > '2020-01-01';
COMMIT;
SELECT count(*), min(_partition) FROM events;
-- the partitions that a transaction has seen keep their connection
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*), min(_partition) FROM events;
SELECT fluss_fdw_disconnect('partition_server');
SELECT count(*), min(_partition) FROM events;
COMMIT;
SELECT fluss_fdw_disconnect('partition_server');

SELECT fluss_drop_database('partition_server', 'regress_partition', cascade => true);
DROP TABLE local, positions;
DROP FUNCTION explain_analyze, differs, differs_by_type;
DROP SERVER partition_server CASCADE;
