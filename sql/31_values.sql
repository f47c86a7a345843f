--
-- Values at the edges, and what is not a value: NULL, system columns, whole rows, odd names
--
\set test values
\i sql/lib/server.sql
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET jit = off;

-- the first and the last of each type that both sides have, in a log and in a primary key table
CREATE FOREIGN TABLE log_edges (
  id integer, t0 timestamp(0), t3 timestamp(3), t6 timestamp, z0 timestamptz(0), z3 timestamptz(3), z6 timestamptz, d date, f8 double precision, f4 real, n numeric(38,38), i bigint
) SERVER values_server;
CREATE FOREIGN TABLE key_edges (
  id integer NOT NULL, t0 timestamp(0), t3 timestamp(3), t6 timestamp, z0 timestamptz(0), z3 timestamptz(3), z6 timestamptz, d date, f8 double precision, f4 real, n numeric(38,38), i bigint
) SERVER values_server;
SELECT fluss_create_table('log_edges', bucket_count => 1);
SELECT fluss_create_table('key_edges', primary_key => '{id}', bucket_count => 1);
CREATE TABLE local_edges (LIKE log_edges);
INSERT INTO local_edges VALUES
  (1, '4714-11-24 BC', '4714-11-24 BC', '4714-11-24 BC', '4714-11-24 00:00+00 BC', '4714-11-24 00:00+00 BC', '4714-11-24 00:00+00 BC', '4714-11-24 BC',
   '-1.7976931348623157e308', '-3.4028235e38', -0.99999999999999999999999999999999999999, -9223372036854775808),
  (2, '294276-12-31 23:59:59', '294276-12-31 23:59:59.999', '294246-12-31 23:59:59.999999', '294276-12-31 23:59:59+00', '294276-12-31 23:59:59.999+00', '294246-12-31 23:59:59.999999+00', '5874897-12-31',
   '1.7976931348623157e308', '3.4028235e38', 0.99999999999999999999999999999999999999, 9223372036854775807),
  (3, '0001-01-01', '0001-12-31 23:59:59.999 BC', '1969-12-31 23:59:59.999999', '2026-03-29 01:00+00', '2026-10-25 00:59:59.999+00', '2026-10-25 01:00+00', '0001-12-31 BC', 'NaN', 'NaN', 0, -1),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '-Infinity', 'Infinity', 0.00000000000000000000000000000000000001, NULL),
  (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '-0', '-0', -0.00000000000000000000000000000000000001, 0),
  (6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '0', '1e-45', NULL, NULL), (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 5e-324, NULL, NULL, NULL);
INSERT INTO log_edges TABLE local_edges;
INSERT INTO key_edges TABLE local_edges;
SELECT l::text FROM local_edges l EXCEPT ALL SELECT r::text FROM log_edges r;
SELECT r::text FROM log_edges r EXCEPT ALL SELECT l::text FROM local_edges l;
SELECT l::text FROM local_edges l EXCEPT ALL SELECT r::text FROM key_edges r;
SELECT id, t0, t3, d FROM log_edges WHERE id < 4 ORDER BY id;
-- compared as PostgreSQL compares them
CREATE VIEW log_matches AS
SELECT f, string_agg(id::text, ' ' ORDER BY id) FROM log_edges, LATERAL (VALUES
  ('NaN', f8 = 'NaN'), ('> 1e308', f8 > 1e308), ('= 0', f8 = 0), ('< -1e308', f8 < -1e308), ('real NaN', f4 = 'NaN'), ('before infinity', t6 < 'infinity'), ('after -infinity', z6 > '-infinity'),
  ('infinity', d = 'infinity'), ('before Christ', d < '0001-01-01'), ('null', t0 IS NULL)) v (f, yes) WHERE yes GROUP BY f;
CREATE VIEW local_matches AS
SELECT f, string_agg(id::text, ' ' ORDER BY id) FROM local_edges, LATERAL (VALUES
  ('NaN', f8 = 'NaN'), ('> 1e308', f8 > 1e308), ('= 0', f8 = 0), ('< -1e308', f8 < -1e308), ('real NaN', f4 = 'NaN'), ('before infinity', t6 < 'infinity'), ('after -infinity', z6 > '-infinity'),
  ('infinity', d = 'infinity'), ('before Christ', d < '0001-01-01'), ('null', t0 IS NULL)) v (f, yes) WHERE yes GROUP BY f;
TABLE log_matches ORDER BY 1;
TABLE log_matches EXCEPT TABLE local_matches;
-- where clocks are put forward and back
CREATE VIEW log_clock AS SELECT id, z0::text, z3::text, z6::text, z3::timestamp AS plain, t3::timestamptz, z6::date AS day, extract(hour FROM z6) FROM log_edges WHERE id = 3;
CREATE VIEW local_clock AS SELECT id, z0::text, z3::text, z6::text, z3::timestamp AS plain, t3::timestamptz, z6::date AS day, extract(hour FROM z6) FROM local_edges WHERE id = 3;
SET timezone = 'Europe/Berlin';
TABLE log_clock EXCEPT TABLE local_clock;
SELECT count(*) FROM log_edges WHERE z0 = '2026-03-29 03:00' AND z6 < '2026-10-25 02:00:01+01';
SET timezone = 'Asia/Kolkata';
TABLE log_clock EXCEPT TABLE local_clock;
SET timezone = 'UTC';

-- nothing but NULL, in the first and the last column, and in all of a batch
CREATE FOREIGN TABLE nulls (a integer, b text, c numeric(10,2), d bytea, e boolean, f timestamptz) SERVER values_server;
SELECT fluss_create_table('nulls', bucket_count => 1);
INSERT INTO nulls SELECT FROM generate_series(1, 100);
INSERT INTO nulls VALUES (NULL, 'x', NULL, '\x', NULL, now()), (1, '', 0, NULL, false, NULL);
SELECT count(*), count(a), count(b), count(c), count(d), count(e), count(f), count(*) FILTER (WHERE nulls IS NULL) AS all_null FROM nulls;
SELECT a, b, c, d, e FROM nulls WHERE b IS NOT NULL ORDER BY a;

-- a value that cannot be converted leaves the session as it was
SELECT b::integer FROM nulls WHERE b = 'x';
SELECT count(*) FROM (SELECT 1 FROM nulls) x;

-- system columns and whole rows
SELECT DISTINCT tableoid::regclass FROM nulls;
SELECT count(*) FROM nulls WHERE ctid = '(0,1)';
SELECT xmin FROM nulls LIMIT 1;
SELECT n FROM nulls n WHERE b = '';
SELECT to_jsonb(k) - 'f4' FROM (SELECT id, d, f4 FROM key_edges WHERE id = 2) k;
SELECT (SELECT k.id FROM key_edges k WHERE k.id = n.a) IS NULL, count(*) FROM nulls n GROUP BY 1 ORDER BY 1;

-- names of any kind
CREATE FOREIGN TABLE "Odd ""T" (
  "Full Name" text, "select" integer, "a""b" text, "日本" text, "back`tick" integer, "a\b" integer, "{x}" integer, "é" integer,
  long text OPTIONS (column_name 'a name of more than sixty-three bytes, which PostgreSQL itself could not give to a column'),
  "off,set" bigint OPTIONS (metadata 'log_offset')) SERVER values_server OPTIONS (table_name 'odd');
SELECT fluss_create_table('"Odd ""T"', bucket_key => '{"Full Name"}', bucket_count => 1);
INSERT INTO "Odd ""T" ("Full Name", "select", "a""b", "日本", "back`tick", "a\b", "{x}", "é", long) VALUES ('n', 1, 'ab', '本', 2, 3, 4, 5, 'long');
SELECT * FROM "Odd ""T";
SELECT "日本", "é" FROM "Odd ""T" WHERE "a""b" = 'ab' AND "{x}" > 3 AND "off,set" = 0;
EXPLAIN (COSTS OFF) SELECT "日本", "a""b" FROM "Odd ""T" WHERE "off,set" < 5;
DO $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) SELECT "a""b" FROM "Odd ""T" WHERE "off,set" < 5' INTO plan;
  RAISE WARNING '% %', plan->0->'Plan'->'Fluss Columns', plan->0->'Plan'->'Fluss Offsets';
END $$;
-- columns in another order, fewer of them, one column twice, none
CREATE FOREIGN TABLE odd_again (one integer OPTIONS (column_name 'é'), gone text, two integer OPTIONS (column_name 'é'), "select" bigint) SERVER values_server OPTIONS (table_name 'odd');
ALTER FOREIGN TABLE odd_again DROP COLUMN gone;
SELECT * FROM odd_again;
INSERT INTO odd_again VALUES (1, 2, 3);
CREATE FOREIGN TABLE odd_empty () SERVER values_server OPTIONS (table_name 'odd');
SELECT count(*) FROM odd_empty;
INSERT INTO odd_empty DEFAULT VALUES;
SELECT odd_empty FROM odd_empty;

-- a thousand columns
DO $$
DECLARE
  declared text;
  given text;
BEGIN
  SELECT string_agg('c' || g || (ARRAY[' integer', ' text', ' numeric(10,2)', ' timestamp'])[1 + g % 4], ', '),
    string_agg((ARRAY['g + ' || g, quote_literal('t' || g), g || '.5', '''2026-08-04''::timestamp'])[1 + g % 4] || ' AS c' || g, ', ')
    INTO declared, given FROM generate_series(1, 1000) g;
  EXECUTE 'CREATE TABLE local_wide AS SELECT g AS id, ' || given || ' FROM generate_series(1, 20) g';
  EXECUTE 'CREATE FOREIGN TABLE log_wide (id integer, ' || declared || ') SERVER values_server';
  EXECUTE 'CREATE FOREIGN TABLE key_wide (id integer NOT NULL, ' || declared || ') SERVER values_server';
  PERFORM fluss_create_table('log_wide', bucket_count => 1);
  PERFORM fluss_create_table('key_wide', primary_key => '{id}', bucket_count => 1);
END $$;
INSERT INTO log_wide TABLE local_wide;
INSERT INTO key_wide TABLE local_wide;
SELECT c1000, c998, c1 FROM log_wide WHERE id = 3;
SELECT count(*) FROM (SELECT * FROM log_wide EXCEPT ALL SELECT * FROM key_wide) x;
INSERT INTO key_wide (id, c500) VALUES (7, -5);
SELECT c499, c500, c501 FROM key_wide WHERE id = 7;

-- texts: a megabyte comes back, what is past the memory that a scan may have does not, and is told of
CREATE FOREIGN TABLE long_texts (id integer NOT NULL, t text) SERVER values_server;
SELECT fluss_create_table('long_texts', primary_key => '{id}', bucket_count => 1);
INSERT INTO long_texts SELECT g, repeat(g::text, 1000000) FROM generate_series(1, 9) g;
SELECT count(*), sum(length(t)), bool_and(t = repeat(id::text, 1000000)) FROM long_texts;
SET fluss_fdw.max_buffered_bytes = '4MB';
SELECT id, length(t) FROM long_texts WHERE id = 3;
\set VERBOSITY sqlstate
SELECT sum(length(t)) FROM long_texts WHERE id = ANY ('{1,2,3,4,5,6,7,8,9}');
\set VERBOSITY terse
-- nor does a value of a log that is small only while compressed; its neighbours do
CREATE FOREIGN TABLE long_values (id integer, b bytea, off bigint OPTIONS (metadata 'log_offset')) SERVER values_server;
SELECT fluss_create_table('long_values', bucket_count => 1);
INSERT INTO long_values (id, b) VALUES (1, '\x01');
RESET fluss_fdw.max_buffered_bytes;
INSERT INTO long_values (id, b) VALUES (2, decode(repeat('ab', 20000000), 'hex'));
SET fluss_fdw.max_buffered_bytes = '4MB';
INSERT INTO long_values (id, b) VALUES (3, '\x03');
\set VERBOSITY sqlstate
SELECT id, length(b) FROM long_values;
\set VERBOSITY terse
SELECT id FROM long_values;
SELECT id, length(b) FROM long_values WHERE off < 1 OR off > 1;
RESET fluss_fdw.max_buffered_bytes;
SELECT id, length(b) FROM long_values;
SELECT sum(length(t)) FROM long_texts WHERE id = ANY ('{1,2,3,4,5,6,7,8,9}');

SELECT fluss_drop_database('values_server', 'regress_values', cascade => true);
DROP VIEW log_matches, local_matches, log_clock, local_clock;
DROP TABLE local_edges, local_wide;
DROP SERVER values_server CASCADE;
