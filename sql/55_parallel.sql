--
-- Parallel scans of a log
--
\set test parallel
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
CREATE SCHEMA premote;
CREATE SCHEMA pheap;
CREATE FOREIGN TABLE premote.r (id integer, v double precision, note text, bkt integer OPTIONS (metadata 'bucket'),
  off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER parallel_server;
CREATE FOREIGN TABLE premote.p (id integer, day text, part text OPTIONS (metadata 'partition'), off bigint OPTIONS (metadata 'log_offset')) SERVER parallel_server;
CREATE FOREIGN TABLE premote.info (id integer NOT NULL, name text) SERVER parallel_server;
CREATE FOREIGN TABLE premote.changes (id integer, name text, change text OPTIONS (metadata 'change_type'), off bigint OPTIONS (metadata 'log_offset'))
  SERVER parallel_server OPTIONS (table_name 'info', scan_mode 'changelog');
CREATE FOREIGN TABLE premote.none (id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER parallel_server;
SELECT fluss_create_table('premote.r', bucket_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('premote.p', bucket_count => 1, partitioned_by => '{day}');
SELECT fluss_create_table('premote.info', primary_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('premote.none', bucket_count => 2);
-- several slices of a bucket, and several batches of a slice
INSERT INTO premote.r (id, v, note) SELECT g, g % 1000, 'n' || g % 10 FROM generate_series(1, 60000) g;
INSERT INTO premote.r (id, v, note) SELECT g, g % 1000, 'm' || g % 10 FROM generate_series(60001, 150000) g;
INSERT INTO premote.p (id, day) SELECT g, 'd' || g % 3 FROM generate_series(1, 900) g;
INSERT INTO premote.info SELECT g, 'sensor ' || g FROM generate_series(1, 1000) g;
CREATE TABLE pheap.r AS TABLE premote.r;
CREATE TABLE pheap.p AS TABLE premote.p;
CREATE TABLE pheap.info AS TABLE premote.info;
CREATE TABLE pheap.changes AS TABLE premote.changes;
CREATE TABLE pheap.none AS TABLE premote.none;
CREATE TABLE few (n integer);
INSERT INTO few VALUES (0), (1), (2), (1);
ANALYZE few, pheap.r, pheap.p, pheap.info, pheap.changes, pheap.none;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET fluss_fdw.enable_aggregate_pushdown = off;
SET search_path = premote, public;
EXPLAIN (COSTS OFF) SELECT count(*), sum(id) FROM r WHERE v > 500 AND off >= 100;
EXPLAIN (COSTS OFF) SELECT * FROM r WHERE length(note) > 1;
EXPLAIN (COSTS OFF) SELECT r.id, i.name FROM r LEFT JOIN info i USING (id) WHERE length(note) > 5;
-- whole reads of a primary key table, and scans that stop early, are the leader's
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE length(name) > 3;
EXPLAIN (COSTS OFF) SELECT off FROM r ORDER BY off DESC LIMIT 3;

-- workers share the rows of a lookup join, but not the time of the servers
CREATE FOREIGN TABLE many (id integer NOT NULL, name text) SERVER parallel_server;
SELECT fluss_create_table('many', primary_key => '{id}', bucket_count => 1);
INSERT INTO many SELECT g, 'sensor' FROM generate_series(1, 50000) g;
CREATE FUNCTION cost(q text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO plan;
  RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT cost('SELECT count(name), sum(v) FROM r JOIN many USING (id) WHERE off < 16000') AS shared \gset
SET max_parallel_workers_per_gather = 0;
SELECT cost('SELECT count(name), sum(v) FROM r JOIN many USING (id) WHERE off < 16000') AS alone \gset
SELECT :shared < :alone AS less, :shared > 0.6 * :alone AS little_less;
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
SET max_parallel_workers_per_gather = 2;

-- queries with one right answer
CREATE TABLE tests (no serial, q text);
INSERT INTO tests (q) VALUES
  ('SELECT count(*), sum(id), sum(off), count(DISTINCT id), min(at) = max(at) FROM r'), ('SELECT bkt, count(*), sum(off), min(off), max(off) FROM r GROUP BY bkt'),
  ('SELECT count(*), sum(id) FROM r WHERE v > 500'), ('SELECT count(*), avg(v) FROM r WHERE length(note) = 2 AND off BETWEEN 100 AND 40000'), ('SELECT * FROM r WHERE id % 1000 = 7'),
  ('SELECT count(*) FROM r WHERE bkt = 1'), ('SELECT count(*), sum(off) FROM r WHERE (bkt = 0 AND off < 20000) OR (bkt = 2 AND off >= 30000)'), ('SELECT count(*) FROM r WHERE off IN (1, 17000, 49000)'),
  ('SELECT count(*) FROM r WHERE off < (SELECT max(n) FROM few)'), ('SELECT count(*) FROM r WHERE at >= ''2020-01-01'' AND at < ''2100-01-01'''), ('SELECT count(*) FROM r WHERE at > ''2100-01-01'''), ('SELECT count(*) FROM r WHERE off > 5 AND off < 3'),
  ('SELECT part, count(*), sum(id) FROM p GROUP BY part'), ('SELECT day, sum(off) FROM p WHERE day > ''d0'' GROUP BY day'), ('SELECT count(*) FROM p WHERE part = ''d1'''), ('SELECT count(*) FROM none'), ('SELECT change, count(*), sum(off) FROM changes GROUP BY change'),
  ('SELECT count(*), sum(i.id) FROM r LEFT JOIN info i USING (id)'), ('SELECT count(i.name) FROM r JOIN info i ON i.id = r.id % 1500'), ('SELECT count(*) FROM r WHERE EXISTS (SELECT FROM info i WHERE i.id = r.id)'), ('SELECT count(*) FROM r a JOIN r b ON a.id = b.id AND a.off = b.off'),
  ('SELECT n, (SELECT count(*) FROM r WHERE off >= n * 20000 AND length(note) = 2) FROM few'), ('SELECT n, x.* FROM few, LATERAL (SELECT count(*), max(id) FROM r WHERE off < n * 100 AND length(note) = 2) x'),
  ('SELECT n, x.* FROM few, LATERAL (SELECT note, count(*) FROM r WHERE bkt = n GROUP BY note) x'), ('SELECT count(*) FROM (SELECT * FROM r WHERE length(note) = 2 LIMIT 70000) x'), ('SELECT count(*) FROM (SELECT id FROM r UNION ALL SELECT id FROM p) x'), ('SELECT note, count(*) FROM r GROUP BY note HAVING count(*) > 3');
CREATE FUNCTION answer(place text, q text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE result text[];
BEGIN
  PERFORM set_config('search_path', place || ', public', true);
  EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || q || ') x' INTO result;
  PERFORM set_config('search_path', 'premote, public', true);
  RETURN result;
END $$;
CREATE TABLE answers AS SELECT no, q, answer('pheap', q) FROM tests;
CREATE VIEW wrong AS SELECT no, q, answer, answer('premote', q) AS remote FROM answers WHERE answer('premote', q) IS DISTINCT FROM answer ORDER BY no;
TABLE wrong;
SET parallel_leader_participation = off;
TABLE wrong;
RESET parallel_leader_participation;
SET enable_hashjoin = off;
SET enable_material = off;
TABLE wrong;
RESET enable_hashjoin;
RESET enable_material;
-- no worker is to be had
SET max_parallel_workers = 0;
TABLE wrong;
RESET max_parallel_workers;
SET plan_cache_mode = force_generic_plan;
PREPARE slice(bigint, bigint) AS SELECT count(*), sum(off) FROM r WHERE off >= $1 AND off < $2 AND length(note) = 2;
EXECUTE slice(10, 30000);
EXECUTE slice(30000, 10);
RESET plan_cache_mode;
-- a cursor, which the leader alone runs
BEGIN;
DECLARE c CURSOR FOR SELECT count(*), sum(id) FROM r WHERE length(note) = 2;
FETCH ALL FROM c;
COMMIT;
-- what is lost is told once
SELECT count(*) FROM r WHERE off >= 1000000 AND bkt = 0 AND length(note) = 2;
SELECT count(*) FROM r WHERE ((bkt = 0 AND off >= 1000000) OR bkt = 1) AND length(note) = 2;
-- counters of all processes
CREATE FUNCTION counters(q text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || q LOOP
    IF line ~ 'Fluss (Rows|Requests|Offsets)' THEN
      RETURN NEXT regexp_replace(regexp_replace(line, '(fetch|metadata) \d+', '\1 N', 'g'), 'Read: \d{6}', 'Read: NNNNNN');
    END IF;
  END LOOP;
END $$;
SELECT counters('SELECT count(*) FROM r WHERE length(note) = 2');
-- everything under Gather
SELECT set_config(CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'debug_parallel_query' ELSE 'force_parallel_mode' END, 'on', false);
TABLE wrong;
SELECT name FROM info WHERE id = 7;
SELECT count(*) FROM info;

-- one snapshot of ends for all, own rows included
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM r;
INSERT INTO r (id) SELECT g FROM generate_series(1, 100) g;
SELECT count(*) FROM r;
COMMIT;
SELECT count(*) FROM r;
-- the right of another user, in the workers too
CREATE ROLE regress_parallel_user;
GRANT USAGE ON SCHEMA premote, public TO regress_parallel_user;
CREATE VIEW premote.shown AS SELECT count(*), sum(id) FROM premote.r WHERE length(note) = 2;
GRANT SELECT ON premote.shown TO regress_parallel_user;
SET ROLE regress_parallel_user;
SELECT * FROM premote.shown;
SELECT count(*) FROM premote.r;
RESET ROLE;
DROP OWNED BY regress_parallel_user;
DROP ROLE regress_parallel_user;
RESET ALL;
SET search_path = premote, public;
SET client_min_messages = warning;
SELECT fluss_drop_database('parallel_server', 'regress_parallel', cascade => true);
RESET search_path;
DROP SCHEMA premote, pheap CASCADE;
DROP TABLE few;
DROP SERVER parallel_server CASCADE;
