--
-- ANALYZE
--
\set test analyze
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
CREATE SERVER analyze_blind FOREIGN DATA WRAPPER fluss_fdw
  OPTIONS (bootstrap_servers :'bootstrap', database_name 'regress_analyze', use_remote_estimate 'off');
CREATE USER MAPPING FOR PUBLIC SERVER analyze_blind;
CREATE SCHEMA an;
SET search_path = an, public;
CREATE FOREIGN TABLE r (id integer, site integer, name text, tags integer[], doc jsonb, bkt integer OPTIONS (metadata 'bucket'),
  off bigint OPTIONS (metadata 'log_offset')) SERVER analyze_server;
CREATE FOREIGN TABLE one (id integer, name text) SERVER analyze_server;
CREATE FOREIGN TABLE info (id integer, name text) SERVER analyze_server;
CREATE FOREIGN TABLE none (id integer) SERVER analyze_server;
CREATE FOREIGN TABLE keyed_none (id integer) SERVER analyze_server;
CREATE FOREIGN TABLE parts (id integer, day text) SERVER analyze_server;
CREATE FOREIGN TABLE keyed_parts (id integer, day text) SERVER analyze_server;
CREATE FOREIGN TABLE no_parts (id integer, day text) SERVER analyze_server;
CREATE FOREIGN TABLE big (id integer, data text, bytes bytea) SERVER analyze_server;
SELECT fluss_create_table('r', bucket_count => 1);
SELECT fluss_create_table('one', bucket_count => 3);
SELECT fluss_create_table('info', primary_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('none', bucket_count => 2);
SELECT fluss_create_table('keyed_none', primary_key => '{id}', bucket_count => 2);
SELECT fluss_create_table('parts', bucket_count => 1, partitioned_by => '{day}');
SELECT fluss_create_table('keyed_parts', primary_key => '{id,day}', bucket_count => 2, partitioned_by => '{day}');
SELECT fluss_create_table('no_parts', bucket_count => 1, partitioned_by => '{day}');
SELECT fluss_create_table('big', bucket_count => 1);
INSERT INTO r SELECT g, g % 10, CASE WHEN g % 4 > 0 THEN 'name ' || g % 100 END, ARRAY[g % 3, 1], jsonb_build_object('a', g % 5) FROM generate_series(1, 5000) g;
INSERT INTO one VALUES (7, 'seven');
INSERT INTO info SELECT g, 'sensor ' || g % 50 FROM generate_series(1, 3000) g;
INSERT INTO parts SELECT g, 'd' || g % 3 FROM generate_series(1, 600) g;
INSERT INTO keyed_parts SELECT g, 'd' || g % 3 FROM generate_series(1, 600) g;
INSERT INTO big SELECT g, repeat(md5(g::text), 3000), decode(repeat('ab', 50000), 'hex') FROM generate_series(1, 40) g;

CREATE VIEW sizes AS SELECT c.oid::regclass AS name, reltuples, relpages > 0 AS pages FROM pg_class c
  WHERE relkind = 'f' AND relnamespace = 'an'::regnamespace ORDER BY relname COLLATE "C";
ANALYZE r, one, info, none, keyed_none, parts, keyed_parts, no_parts, big;
TABLE sizes;
SELECT tablename, attname, round(null_frac::numeric, 2) AS nulls, n_distinct, round(correlation::numeric, 2) AS correlation
FROM pg_stats WHERE schemaname = 'an' AND tablename IN ('r', 'one') ORDER BY tablename COLLATE "C", attname COLLATE "C";
SELECT tablename, attname, n_distinct FROM pg_stats WHERE schemaname = 'an' AND tablename NOT IN ('r', 'one', 'big') ORDER BY tablename COLLATE "C", attname COLLATE "C";
SELECT attname, avg_width > 1000 AS wide FROM pg_stats WHERE schemaname = 'an' AND tablename = 'big' ORDER BY attname COLLATE "C";
-- what they are good for
CREATE FUNCTION estimate(q text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || q INTO plan;
  RETURN plan->0->'Plan'->>'Plan Rows';
END $$;
SELECT estimate('SELECT * FROM r WHERE site = 3') BETWEEN 400 AND 600 AS site, estimate('SELECT * FROM r WHERE name IS NULL') BETWEEN 1200 AND 1300 AS null_names,
  estimate('SELECT * FROM info WHERE name = ''sensor 7''') BETWEEN 50 AND 70 AS names;
-- without remote estimates the size is the analyzed one
CREATE FOREIGN TABLE blind (id integer, site integer, off bigint OPTIONS (metadata 'log_offset')) SERVER analyze_blind OPTIONS (table_name 'r');
CREATE FOREIGN TABLE blind_info (id integer, name text) SERVER analyze_blind OPTIONS (table_name 'info');
SELECT estimate('SELECT * FROM blind') AS log, estimate('SELECT * FROM blind_info') AS keyed;
ANALYZE blind, blind_info;
SELECT estimate('SELECT * FROM blind') AS log, estimate('SELECT * FROM blind_info') AS keyed, estimate('SELECT * FROM blind WHERE off < 100') AS range;
-- other columns than the remote ones, dropped ones
CREATE FOREIGN TABLE other (gone integer, name text, id bigint, missing text, wrong bytea OPTIONS (column_name 'site'), "at" timestamptz OPTIONS (metadata 'commit_timestamp'))
  SERVER analyze_server OPTIONS (table_name 'r');
ALTER FOREIGN TABLE other DROP COLUMN gone;
ALTER FOREIGN TABLE other ADD COLUMN site smallint;
ANALYZE other;
SELECT attname, null_frac FROM pg_stats WHERE schemaname = 'an' AND tablename = 'other' ORDER BY attname COLLATE "C";
ANALYZE other (site);
VACUUM ANALYZE other, info;
-- slices of a log, and the first rows of the buckets of a keyed table
SET default_statistics_target = 1;
ANALYZE r, info;
TABLE sizes;
SELECT attname, n_distinct, correlation > 0.9 AS ordered FROM pg_stats WHERE schemaname = 'an' AND tablename = 'r' AND attname IN ('id', 'off') ORDER BY 1;
RESET default_statistics_target;
-- bounded memory: fewer rows
SET fluss_fdw.max_buffered_bytes = '1MB';
ANALYZE r;
RESET fluss_fdw.max_buffered_bytes;
-- a changelog has a row for each change; extended statistics; an inheritance tree
CREATE FOREIGN TABLE changes (id integer, change text OPTIONS (metadata 'change_type')) SERVER analyze_server OPTIONS (table_name 'info', scan_mode 'changelog');
CREATE STATISTICS an.both (ndistinct, dependencies) ON site, name FROM r;
ANALYZE changes, r;
SELECT reltuples FROM pg_class WHERE oid = 'changes'::regclass;
SELECT n_distinct FROM pg_stats_ext WHERE statistics_name = 'both';
CREATE TABLE tree (id integer, day text) PARTITION BY LIST (day);
CREATE FOREIGN TABLE tree1 PARTITION OF tree FOR VALUES IN ('x') SERVER analyze_server OPTIONS (table_name 'one');
ALTER FOREIGN TABLE tree1 ALTER COLUMN day OPTIONS (ADD column_name 'name');
ANALYZE tree;
SELECT attname, inherited, n_distinct FROM pg_stats WHERE schemaname = 'an' AND tablename = 'tree' ORDER BY attname;
-- a table that is not there
CREATE FOREIGN TABLE missing (id integer) SERVER analyze_server;
ANALYZE missing;

SELECT fluss_drop_database('analyze_server', 'regress_analyze', cascade => true);
RESET search_path;
DROP SCHEMA an CASCADE;
DROP SERVER analyze_server CASCADE;
DROP SERVER analyze_blind CASCADE;
