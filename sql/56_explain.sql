--
-- EXPLAIN in every format, of every kind of scan
--
\set test explain
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
CREATE FOREIGN TABLE x_log (id integer, v double precision, off bigint OPTIONS (metadata 'log_offset'),
  at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER explain_server;
CREATE FOREIGN TABLE x_info (id integer, name text) SERVER explain_server;
CREATE FOREIGN TABLE x_hist (id integer, day text, v integer) SERVER explain_server;
CREATE FOREIGN TABLE x_snapshot (id integer, name text) SERVER explain_server OPTIONS (table_name 'x_info', kv_scan 'snapshot');
CREATE FOREIGN TABLE x_changes (id integer, name text) SERVER explain_server OPTIONS (table_name 'x_info', scan_mode 'changelog');
SELECT fluss_create_table('x_log', bucket_count => 1);
SELECT fluss_create_table('x_info', primary_key => '{id}', bucket_count => 2);
SELECT fluss_create_table('x_hist', primary_key => '{id,day}', bucket_key => '{id}', bucket_count => 2);
INSERT INTO x_log SELECT g, g FROM generate_series(1, 20) g;
INSERT INTO x_info SELECT g, 'n' || g FROM generate_series(1, 50) g;
INSERT INTO x_hist SELECT g % 5, 'd' || g / 5, g FROM generate_series(0, 19) g;

CREATE TABLE queries (no serial, kind text, q text);
INSERT INTO queries (kind, q) VALUES
  ('log', 'SELECT id FROM x_log WHERE off < 5 AND v > 2'), ('log tail', 'SELECT id FROM x_log ORDER BY off DESC LIMIT 2'), ('changelog', 'SELECT id FROM x_changes'),
  ('lookup', 'SELECT name FROM x_info WHERE id = 3'), ('prefix lookup', 'SELECT v FROM x_hist WHERE id = 3'), ('limit scan', 'SELECT name FROM x_info'), ('snapshot', 'SELECT name FROM x_snapshot'),
  ('count', 'SELECT count(*) FROM x_log'), ('lookup join', 'SELECT * FROM x_log LEFT JOIN x_info USING (id) WHERE off < 5'), ('expressions', 'SELECT * FROM x_info a LEFT JOIN x_info b ON a.id + 1 = b.id AND upper(b.name) = ''N2'''),
  ('time', 'SELECT id FROM x_log WHERE at > ''2020-01-01''');
-- every format is valid, and says the same facts
CREATE FUNCTION keys_of(plan jsonb) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT k FROM jsonb_path_query(plan, 'strict $.**') o, LATERAL jsonb_object_keys(CASE jsonb_typeof(o) WHEN 'object' THEN o ELSE '{}' END) k WHERE k ~ '^(Fluss|Relations)' $$;
CREATE FUNCTION facts(format text, options text, q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan text := '';
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (FORMAT %s, %s) %s', format, options, q) LOOP plan := plan || line || E'\n'; END LOOP;
  IF format = 'json' THEN
    -- twice the same key would be one of jsonb
    IF (SELECT count(*) FROM regexp_matches(plan, '"Fluss [^"]*":', 'g')) <> (SELECT count(*) FROM keys_of(plan::jsonb) k WHERE k ~ '^Fluss') THEN RETURN 'duplicates'; END IF;
    RETURN (SELECT string_agg(DISTINCT k COLLATE "C", ', ' ORDER BY k COLLATE "C") FROM keys_of(plan::jsonb) k);
  ELSIF format = 'xml' THEN
    BEGIN PERFORM plan::xml; EXCEPTION WHEN feature_not_supported THEN NULL; END;
    RETURN (SELECT string_agg(DISTINCT replace(m[1], '-', ' ') COLLATE "C", ', ' ORDER BY replace(m[1], '-', ' ') COLLATE "C") FROM regexp_matches(plan, '<((?:Fluss-|Relations)[^>/]*)>', 'g') m);
  ELSE
    RETURN (SELECT string_agg(DISTINCT m[1] COLLATE "C", ', ' ORDER BY m[1] COLLATE "C") FROM regexp_matches(plan, '\n[ -]*((?:Fluss |Relations)[^:\n]*):', 'g') m);
  END IF;
END $$;
SELECT kind, facts('json', 'COSTS OFF', q) FROM queries ORDER BY no;
SELECT kind, facts('json', 'COSTS OFF, ANALYZE, TIMING OFF', q) FROM queries ORDER BY no;
SELECT kind, f FROM queries, unnest('{text,xml,yaml}'::text[]) f WHERE facts(f, 'COSTS OFF', q) IS DISTINCT FROM facts('json', 'COSTS OFF', q) ORDER BY no;
SELECT kind, f FROM queries, unnest('{text,xml,yaml}'::text[]) f WHERE facts(f, 'COSTS OFF, ANALYZE, TIMING OFF', q) IS DISTINCT FROM facts('json', 'COSTS OFF, ANALYZE, TIMING OFF', q) ORDER BY no;
SELECT kind, facts('yaml', 'VERBOSE', q) ~ 'Fluss Leaders' AS leaders FROM queries ORDER BY no;
-- auto_explain changes nothing, where it is installed
DO $$ BEGIN LOAD 'auto_explain'; EXCEPTION WHEN undefined_file THEN NULL; END $$;
SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_verbose = on; SET auto_explain.log_nested_statements = on;
SET client_min_messages = warning;
SELECT count(*), sum(length(name)) FROM x_log LEFT JOIN x_info USING (id);
SELECT sum(v) FROM x_hist WHERE id = 3;
SET auto_explain.log_min_duration = -1;
-- a cluster that is not there: constants, and no error
ALTER SERVER explain_server OPTIONS (SET bootstrap_servers 'localhost:1');
EXPLAIN SELECT * FROM x_log WHERE off < 5;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM x_info WHERE id = 3;
SELECT kind, facts('json', 'VERBOSE', q) FROM queries ORDER BY no;
SELECT kind, f FROM queries, unnest('{text,xml,yaml}'::text[]) f WHERE facts(f, 'VERBOSE', q) IS DISTINCT FROM facts('json', 'VERBOSE', q) ORDER BY no;
ALTER SERVER explain_server OPTIONS (SET bootstrap_servers :'bootstrap');

SELECT fluss_drop_database('explain_server', 'regress_explain', cascade => true);
DROP TABLE queries;
DROP FUNCTION facts, keys_of;
DROP SERVER explain_server CASCADE;
