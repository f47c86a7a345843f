--
-- Estimates of rows, without ANALYZE
--
\set test estimate
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
CREATE SERVER estimate_blind FOREIGN DATA WRAPPER fluss_fdw
  OPTIONS (bootstrap_servers :'bootstrap', database_name 'regress_estimate', use_remote_estimate 'off');
CREATE USER MAPPING FOR PUBLIC SERVER estimate_blind;
CREATE FOREIGN TABLE r (id integer, v double precision, note text, bkt integer OPTIONS (metadata 'bucket'),
  off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER estimate_server;
CREATE FOREIGN TABLE info (id integer, name text, site text) SERVER estimate_server;
CREATE FOREIGN TABLE hist (id integer, day text, v integer) SERVER estimate_server;
CREATE FOREIGN TABLE p (id integer, day text, part text OPTIONS (metadata 'partition'), off bigint OPTIONS (metadata 'log_offset')) SERVER estimate_server;
CREATE FOREIGN TABLE pk (id integer, day text, v text) SERVER estimate_server;
CREATE FOREIGN TABLE none (id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER estimate_server;
CREATE FOREIGN TABLE changes (id integer, name text, change text OPTIONS (metadata 'change_type')) SERVER estimate_server
  OPTIONS (table_name 'info', scan_mode 'changelog');
CREATE FOREIGN TABLE blind_r (id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER estimate_blind OPTIONS (table_name 'r');
CREATE FOREIGN TABLE blind_info (id integer, name text) SERVER estimate_blind OPTIONS (table_name 'info');
SELECT fluss_create_table('r', bucket_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('info', primary_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('hist', primary_key => '{id,day}', bucket_key => '{id}', bucket_count => 2);
SELECT fluss_create_table('p', bucket_count => 1, partitioned_by => '{day}');
SELECT fluss_create_table('pk', primary_key => '{id,day}', bucket_count => 2, partitioned_by => '{day}');
SELECT fluss_create_table('none', bucket_count => 2);
INSERT INTO r (id, v, note) SELECT g, g, 'n' || g % 10 FROM generate_series(1, 3000) g;
INSERT INTO info SELECT g, 'sensor ' || g, 'site ' || g % 7 FROM generate_series(1, 1000) g;
INSERT INTO info SELECT g, 'changed', 'site' FROM generate_series(1, 100) g;
INSERT INTO hist SELECT g % 100, 'd' || g / 100, g FROM generate_series(0, 599) g;
INSERT INTO p (id, day) SELECT g, CASE WHEN g <= 10 THEN 'a' WHEN g <= 110 THEN 'b' ELSE 'c' END FROM generate_series(1, 500) g;
INSERT INTO pk (id, day, v) SELECT g, CASE WHEN g <= 10 THEN 'a' WHEN g <= 110 THEN 'b' ELSE 'c' END, 'v' FROM generate_series(1, 500) g;
-- a session that has not counted anything yet
\c -
\set VERBOSITY terse
SET client_min_messages = warning;
SET jit = off;
SET timezone = 'UTC';

-- the estimate of a node, the first one of that type or of all
CREATE FUNCTION estimate(q text, node text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || q LOOP
    IF line ~ 'rows=' AND (node IS NULL OR line ~ node) THEN
      RETURN substring(line FROM 'rows=(\d+)');
    END IF;
  END LOOP;
  RETURN 'no such node';
END $$;
CREATE FUNCTION cost(q text) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO plan;
  RETURN (plan->0->'Plan'->>'Total Cost')::numeric;
END $$;

-- whole tables
SELECT t, estimate('SELECT * FROM ' || t) AS rows
FROM unnest('{r,info,hist,p,pk,none,changes}'::text[]) t;
-- ranges of offsets: exactly what there is of them
SELECT q, estimate('SELECT * FROM r WHERE ' || q) AS rows FROM unnest(ARRAY[
  'off >= 100 AND off < 150 AND bkt = 0', 'off BETWEEN 100 AND 149 AND bkt IN (0, 2)', 'off < 10', 'off >= 100000', 'off = 7',
  'off IN (1, 5, 7)', '(bkt = 0 AND off < 5) OR (bkt = 1 AND off < 7)', 'off < 5 AND off > 10', 'false']) q;
SELECT estimate('SELECT * FROM r WHERE bkt = 1')::int = (SELECT count(*) FROM r WHERE bkt = 1) AS one_bucket,
  estimate('SELECT * FROM r WHERE bkt = 1 AND off >= 900')::int = (SELECT count(*) FROM r WHERE bkt = 1 AND off >= 900) AS its_tail;
-- partitions
SELECT q, estimate('SELECT * FROM p WHERE ' || q) AS p, estimate('SELECT * FROM pk WHERE ' || replace(q, 'part', 'day')) AS pk FROM unnest(ARRAY[
  'day = ''a''', 'part IN (''a'', ''b'')', 'day > ''a''', 'day = ''nope''']) q;
SELECT estimate('SELECT * FROM p WHERE day = ''c'' AND off >= 300') AS c;
-- stable functions and parameters that are known are as good as constants
SELECT estimate('SELECT * FROM r WHERE off < length(current_user || ''12345'')') = estimate('SELECT * FROM r WHERE off < 13') AS stable;
-- parameters that are not
SET plan_cache_mode = force_generic_plan;
PREPARE one(bigint) AS SELECT * FROM r WHERE off = $1;
PREPARE tail(bigint) AS SELECT * FROM r WHERE off >= $1;
PREPARE slice(bigint, bigint) AS SELECT * FROM r WHERE off >= $1 AND off < $2;
PREPARE tail_of(integer, bigint) AS SELECT * FROM r WHERE bkt = $1 AND off >= $2;
PREPARE several(bigint[]) AS SELECT * FROM r WHERE off = ANY ($1) AND bkt = 0;
SELECT q, estimate('EXECUTE ' || q) AS rows FROM unnest(ARRAY['one(1)', 'tail(1)', 'slice(1, 2)', 'tail_of(1, 1)', 'some(''{1,2}'')']) q;
RESET plan_cache_mode;
DEALLOCATE ALL;
-- the primary key is known to be unique
SELECT q, estimate(q) AS rows FROM unnest(ARRAY[
  'SELECT * FROM info WHERE id = 5', 'SELECT * FROM info WHERE id IN (1, 2, 3)', 'SELECT * FROM hist WHERE id = 1 AND day = ''d1''',
  'SELECT * FROM pk WHERE id = 1 AND day = ''a''', 'SELECT * FROM info WHERE id = 1 AND name = ''x''']) q;
SET fluss_fdw.enable_lookup_join = off;
SELECT q, estimate(q) AS rows FROM unnest(ARRAY[
  'SELECT * FROM r JOIN info USING (id)', 'SELECT * FROM r LEFT JOIN info USING (id)', 'SELECT * FROM r JOIN info USING (id) WHERE off < 10',
  'SELECT * FROM r JOIN info i USING (id) LEFT JOIN info j ON j.id = i.id + 1 LEFT JOIN info k ON k.id = r.id + 1 WHERE off < 10',
  'SELECT * FROM r WHERE EXISTS (SELECT FROM info i WHERE i.id = r.id)']) q;
RESET fluss_fdw.enable_lookup_join;
SELECT q, estimate(q) AS rows FROM unnest(ARRAY[
  'SELECT * FROM r LEFT JOIN info USING (id) WHERE off < 10', 'SELECT * FROM r LEFT JOIN hist h ON h.id = r.id AND h.day = r.note WHERE off < 10',
  'SELECT * FROM r LEFT JOIN info USING (id) LEFT JOIN hist h ON h.id = r.id AND h.day = r.note WHERE off < 10',
  'SELECT * FROM r LEFT JOIN pk ON pk.id = r.id AND pk.day = r.note WHERE off < 10']) q;
-- and none of that makes a small query dear
SELECT cost('SELECT * FROM r LEFT JOIN info USING (id) WHERE off < 10') < current_setting('jit_above_cost')::numeric AS no_jit;
-- what the scan answers is not evaluated for each row
SELECT cost('SELECT off FROM r WHERE off >= 0') = cost('SELECT off FROM r') AS free_range,
  cost('SELECT off FROM r WHERE v > 5') > cost('SELECT off FROM r WHERE bkt >= 0') AS dear_filter;
-- without remote estimates: constants
SELECT estimate('SELECT * FROM blind_r') AS blind_r, estimate('SELECT * FROM blind_info') AS blind_info,
  estimate('SELECT * FROM blind_r WHERE off < 50') AS range, estimate('SELECT * FROM blind_info WHERE id = 4') AS key;
-- a warm table is planned without a request
SET client_min_messages = log;
SET fluss_fdw.log_requests = on;
EXPLAIN (COSTS OFF) SELECT * FROM r LEFT JOIN info USING (id) WHERE off < 10;
EXPLAIN (COSTS OFF) SELECT count(*) FROM p WHERE day = 'a';
EXPLAIN (COSTS OFF) SELECT * FROM pk WHERE v = 'a';
EXPLAIN (COSTS OFF) SELECT * FROM blind_info;
RESET fluss_fdw.log_requests;
SET client_min_messages = warning;

SELECT fluss_drop_database('estimate_server', 'regress_estimate', cascade => true);
DROP FUNCTION estimate, cost;
DROP SERVER estimate_server CASCADE;
DROP SERVER estimate_blind CASCADE;
