--
-- Nested types: ARRAY, MAP and ROW, as arrays of PostgreSQL and as JSON
--
\set test nested
\i sql/lib/server.sql
SET timezone = 'Asia/Kolkata';
SET datestyle = 'German, DMY';

\i sql/lib/try.sql

--
-- arrays of every scalar type, beside a local table
--
CREATE TABLE local_arrays (
  id integer NOT NULL, bo boolean[], i2 smallint[], i4 integer[], i8 bigint[], f4 real[], f8 double precision[], n9 numeric(9,2)[], n38 numeric(38,10)[],
  tx text[], vc varchar(5)[], ch character(3)[], by bytea[], uu uuid[], da date[], ti time(3)[], ts timestamp[], tz timestamptz(3)[], jb jsonb[]);
CREATE FOREIGN TABLE log_arrays (
  id integer NOT NULL, bo boolean[], i2 smallint[], i4 integer[], i8 bigint[], f4 real[], f8 double precision[], n9 numeric(9,2)[], n38 numeric(38,10)[],
  tx text[], vc varchar(5)[], ch character(3)[], by bytea[], uu uuid[], da date[], ti time(3)[], ts timestamp[], tz timestamptz(3)[], jb jsonb[]) SERVER nested_server;
CREATE FOREIGN TABLE key_arrays (
  id integer NOT NULL, bo boolean[], i2 smallint[], i4 integer[], i8 bigint[], f4 real[], f8 double precision[], n9 numeric(9,2)[], n38 numeric(38,10)[],
  tx text[], vc varchar(5)[], ch character(3)[], by bytea[], uu uuid[], da date[], ti time(3)[], ts timestamp[], tz timestamptz(3)[], jb jsonb[]) SERVER nested_server;
SELECT fluss_create_table('log_arrays', bucket_count => 1);
SELECT fluss_create_table('key_arrays', primary_key => '{id}', bucket_count => 2);
INSERT INTO local_arrays VALUES
  (1, '{t,f,NULL}', '{-32768,32767}', '{1,NULL,-2147483648}', '{9223372036854775807}', '{1.5,NaN,-0}', '{Infinity,-Infinity,5e-324}', '{-9999999.99,0,NULL}',
   '{9999999999999999999999999999.9999999999,-0.0000000001}', ARRAY['a', '', NULL, E'é"\\{}, '], '{12345,ééééé}', '{a,"  b",NULL}', ARRAY['\x00ff', '\x', NULL]::bytea[],
   '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{0001-01-01 BC,9999-12-31}', '{00:00,23:59:59.999}', '{1969-12-31 23:59:59.999999,NULL}', '{2026-08-04 12:34:56.789+00}', ARRAY['{"a": [1]}', 'null', NULL]::jsonb[]),
  (2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'),
  (3, '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}');
INSERT INTO local_arrays (id) VALUES (4);
INSERT INTO local_arrays (id, i4, tx) SELECT 5, array_agg(g), array_agg(repeat('x', g % 50)) FROM generate_series(1, 5000) g;
INSERT INTO log_arrays SELECT * FROM local_arrays;
INSERT INTO key_arrays SELECT * FROM local_arrays;
(TABLE log_arrays EXCEPT ALL TABLE local_arrays) UNION ALL (TABLE local_arrays EXCEPT ALL TABLE log_arrays);
(TABLE key_arrays EXCEPT ALL TABLE local_arrays) UNION ALL (TABLE local_arrays EXCEPT ALL TABLE key_arrays);
SELECT id, bo, i2, i4, i8, f4, f8, n9, n38 FROM log_arrays WHERE id < 5 ORDER BY id;
SELECT id, tx, vc, ch, by, uu, jb FROM key_arrays WHERE id < 5 ORDER BY id;
SELECT da, ti, ts, tz FROM log_arrays WHERE id = 1;
SELECT i4[1], i4[2:3], array_length(tx, 1) FROM key_arrays WHERE id IN (1, 5) ORDER BY id;

-- what is no array of Fluss
CALL try('INSERT INTO log_arrays (id, i4) VALUES (9, ''{{1,2},{3,4}}'')');
CALL try('INSERT INTO log_arrays (id, i4) VALUES (9, ''[0:1]={1,2}'')');
CALL try('INSERT INTO log_arrays (id, ti) VALUES (9, ''{24:00}'')');
CALL try('INSERT INTO log_arrays (id, da) VALUES (9, ''{2026-08-04,infinity}'')');
CALL try('INSERT INTO log_arrays (id, n9) VALUES (9, ''{NaN}'')');
SELECT count(*) FROM log_arrays WHERE id = 9;

-- other types for the same columns, and narrower ones
CREATE FOREIGN TABLE shapes (
  id integer NOT NULL, t1 smallint[] OPTIONS (fluss_type 'ARRAY<TINYINT>'), t4 integer[] OPTIONS (fluss_type 'ARRAY<INT NOT NULL>'), st text[], de numeric(10,4)[],
  b2 bytea[] OPTIONS (fluss_type 'ARRAY<BINARY(2)>'), p9 timestamp[] OPTIONS (fluss_type 'array<timestamp(9)>'), c3 varchar(3)[] OPTIONS (fluss_type 'ARRAY<CHAR(3)>')) SERVER nested_server;
SELECT fluss_create_table('shapes', primary_key => '{id}', bucket_count => 1);
INSERT INTO shapes VALUES (1, '{-128,127}', '{1,2}', '{abc,"{\"k\": 1}",NULL}', '{12.3456,1.5}', '{"\\x0102"}', '{2026-08-04 01:02:03.456789}', '{abc}');
CREATE FOREIGN TABLE other_shapes (id integer, t1 bigint[], t4 bigint[], st varchar(3)[], de numeric(5,2)[], p9 timestamp(3)[], c3 text[]) SERVER nested_server OPTIONS (table_name 'shapes');
CREATE FOREIGN TABLE json_shapes (id integer, t1 jsonb, t4 json, st jsonb, de jsonb, b2 jsonb, p9 json, c3 jsonb) SERVER nested_server OPTIONS (table_name 'shapes');
SELECT id, t1, t4, c3 FROM other_shapes;
CALL try('SELECT st FROM other_shapes');
-- CONTEXT names the key, also when it is not read, or the offset
INSERT INTO log_arrays (id, vc) VALUES (7, '{x}');
CREATE FOREIGN TABLE other_arrays (id integer, vc varchar(2)[]) SERVER nested_server OPTIONS (table_name 'log_arrays');
\set VERBOSITY default
SELECT st FROM other_shapes WHERE id = 1;
SELECT id, st FROM other_shapes;
SELECT vc FROM other_arrays;
\set VERBOSITY terse
CALL try('SELECT de FROM other_shapes');
CALL try('SELECT p9 FROM other_shapes');
SELECT * FROM json_shapes;
CALL try('INSERT INTO shapes (id, t1) VALUES (2, ''{128}'')');
CALL try('INSERT INTO shapes (id, t4) VALUES (2, ''{1,NULL}'')');
CALL try('INSERT INTO shapes (id, b2) VALUES (2, ''{"\\x01"}'')');
CREATE FOREIGN TABLE wrong_shapes (id integer, t1 text[], t4 integer, st json[], de integer[], p9 timestamptz[], b2 int2vector) SERVER nested_server OPTIONS (table_name 'shapes');
CALL try('SELECT t1 FROM wrong_shapes');
CALL try('SELECT t4 FROM wrong_shapes');
CALL try('SELECT st FROM wrong_shapes');
CALL try('SELECT de FROM wrong_shapes');
CALL try('SELECT p9 FROM wrong_shapes');
CALL try('SELECT b2 FROM wrong_shapes');

--
-- rows, maps and arrays of them, as JSON
--
\set all_types 'ROW<bo BOOLEAN, i1 TINYINT, i8 BIGINT, f4 FLOAT, f8 DOUBLE, de DECIMAL(38,2), ch CHAR(3), st STRING, by BYTES, da DATE, ti TIME(3), ts TIMESTAMP(6), tz TIMESTAMP_LTZ(3), aa ARRAY<ARRAY<INT>>, ma MAP<STRING, INT>, ro ROW<z INT NOT NULL, `A b` STRING>>'
CREATE FOREIGN TABLE log_json (id integer NOT NULL, r jsonb OPTIONS (fluss_type :'all_types'), mi jsonb OPTIONS (fluss_type 'MAP<INT, STRING>'), md jsonb OPTIONS (fluss_type 'MAP<TIMESTAMP(6), BOOLEAN>'),
  mn jsonb OPTIONS (fluss_type 'MAP<DECIMAL(5,2), INT>'), mb jsonb OPTIONS (fluss_type 'MAP<BOOLEAN, INT>'), ar jsonb OPTIONS (fluss_type 'ARRAY<ROW<a INT, b STRING>>')) SERVER nested_server;
CREATE FOREIGN TABLE key_json (id integer NOT NULL, r json OPTIONS (fluss_type :'all_types'), mi json OPTIONS (fluss_type 'MAP<INT, STRING>'), md json OPTIONS (fluss_type 'MAP<TIMESTAMP(6), BOOLEAN>'),
  mn json OPTIONS (fluss_type 'MAP<DECIMAL(5,2), INT>'), mb json OPTIONS (fluss_type 'MAP<BOOLEAN, INT>'), ar json OPTIONS (fluss_type 'ARRAY<ROW<a INT, b STRING>>')) SERVER nested_server;
SELECT fluss_create_table('log_json', bucket_count => 1);
SELECT fluss_create_table('key_json', primary_key => '{id}', bucket_count => 1);
CREATE TABLE local_json (id integer, r jsonb, mi jsonb, md jsonb, mn jsonb, mb jsonb, ar jsonb);
INSERT INTO local_json VALUES
  (1, '{"bo": true, "i1": -128, "i8": 9223372036854775807, "f4": 0.1, "f8": 1e300, "de": 123456789012345678901234567890123456.70, "ch": "é", "st": "a\"\\\u0001€", "by": "\\x00ff", "da": "2026-08-04", "ti": "12:34:56.789",
     "ts": "2026-08-04T12:34:56.789012", "tz": "2026-08-04T18:04:56.789+05:30", "aa": [[1, null], [], null], "ma": {"": 1, "k": null}, "ro": {"z": 1, "A b": "x"}}',
   '{"1": "one", "-5": null}', '{"2026-08-04T12:34:56": true}', '{"1.50": 1, "-0.01": 2}', '{"true": 1, "false": 0}', '[{"a": 1, "b": "x"}, null, {"a": null, "b": null}]'),
  (2, '{"f4": "NaN", "f8": "-Infinity", "da": "0001-01-01 BC", "ts": "9999-12-31T23:59:59.999999", "tz": "1800-01-01T00:00:00+05:53:28", "ti": "00:00:00", "by": "\\x", "st": ""}', '{}', '{}', '{}', '{}', '[]'),
  (3, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO log_json SELECT * FROM local_json;
INSERT INTO key_json SELECT id, r::text::json, mi::text::json, md::text::json, mn::text::json, mb::text::json, ar::text::json FROM local_json;
-- a field that is missing is NULL
SELECT f.id, jsonb_strip_nulls(f.r) = l.r AS r, f.mi = l.mi AS mi, f.md = l.md AS md, f.mn::text = l.mn::text AS mn, f.mb = l.mb AS mb, f.ar = l.ar AS ar FROM log_json f JOIN local_json l USING (id) WHERE id > 1 ORDER BY id;
SELECT id FROM log_json f JOIN local_json l USING (id, r, mi, md, mn, mb, ar);
SELECT r - 'f8' AS r FROM log_json WHERE id = 1;
SELECT r, mi, md, mn, mb, ar FROM key_json WHERE id = 1;
SELECT r FROM key_json WHERE id = 2;
-- JSON functions and operators, what is read can be written again
SELECT r->'ro'->>'A b' AS name, (ar->0->>'a')::integer AS a FROM log_json WHERE ar @> '[{"b": "x"}]';
INSERT INTO key_json SELECT id + 10, r::text::json, mi::text::json, md::text::json, mn::text::json, mb::text::json, ar::text::json FROM log_json;
SELECT a.id, a.r::text = b.r::text AS r, a.ar::text = b.ar::text AS ar FROM key_json a JOIN key_json b ON b.id = a.id + 10 ORDER BY 1;
-- what TimeZone says decides only how an instant is shown
SET timezone = 'UTC';
SELECT r->'tz' AS tz, r->'ts' AS ts FROM log_json WHERE id < 3 ORDER BY id;
SET timezone = 'Asia/Kolkata';

-- negative zero: json keeps it, jsonb has none
INSERT INTO key_json (id, r) VALUES (20, '{"f8": -0, "f4": 1e-45}');
SELECT r->'f8' AS f8, r->'f4' AS f4 FROM key_json WHERE id = 20;
-- json keeps the order of keys
INSERT INTO key_json (id, mi) VALUES (21, '{"10": "x", "9": "y", "1": "z"}');
SELECT mi FROM key_json WHERE id = 21;

--
-- what does not fit is refused
--
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"nope": 1}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"BO": true}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''[]'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''1'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''null'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"bo": 1}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"bo": "true"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"i1": 128}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"i1": 1.5}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"i1": "1"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"i8": 9223372036854775808}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"f4": 1e39}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"f8": "1.5"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"de": 0.001}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"de": "NaN"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ch": "four"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"st": {}}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"by": "00"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"by": "\\x0"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"da": "2026-02-30"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"da": "infinity"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ti": "12:00:00.0001"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ti": "12:00:00.0000001"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ts": "2026-08-04T00:00:00.1234567"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"tz": "2026-08-04T00:00:00.1234Z"}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"aa": [1]}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"aa": [["x"]]}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ma": []}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ma": {"k": true}}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ro": {}}'')');
CALL try('INSERT INTO log_json (id, r) VALUES (9, ''{"ro": {"z": null}}'')');
CALL try('INSERT INTO log_json (id, mi) VALUES (9, ''{"x": "y"}'')');
CALL try('INSERT INTO log_json (id, mi) VALUES (9, ''{"1": "y", "1.0": "z"}'')');
CALL try('INSERT INTO log_json (id, mn) VALUES (9, ''{"1.5": 1, "1.50": 2}'')');
CALL try('INSERT INTO log_json (id, mn) VALUES (9, ''{"1.555": 1}'')');
CALL try('INSERT INTO log_json (id, mb) VALUES (9, ''{"yes": 1}'')');
CALL try('INSERT INTO log_json (id, md) VALUES (9, ''{"2026-08-04": true, "2026-08-04T00:00": false}'')');
CALL try('INSERT INTO key_json (id, r) VALUES (9, ''{"bo": true, "bo": false}'')');
CALL try('INSERT INTO key_json (id, r) VALUES (9, ''{"ma": {"k": 1, "k": 2}}'')');
CALL try('INSERT INTO key_json (id, r) VALUES (9, ''{"st": "\u0000"}'')');
CALL try('INSERT INTO key_json (id, r) VALUES (9, ''3'')');
SELECT count(*) FROM log_json WHERE id = 9;
SELECT count(*) FROM key_json WHERE id = 9;

-- what no table is made of
CREATE FOREIGN TABLE no_pair (id integer, m jsonb OPTIONS (fluss_type 'MAP<ROW<a INT>, INT>')) SERVER nested_server;
CALL try('SELECT fluss_create_table(''no_pair'')');
CREATE FOREIGN TABLE bad_option (id integer, m integer OPTIONS (fluss_type 'MAP<INT, INT>')) SERVER nested_server;
CALL try('SELECT fluss_create_table(''bad_option'')');
CREATE FOREIGN TABLE no_element (id integer, m numeric[]) SERVER nested_server;
CALL try('SELECT fluss_create_table(''no_element'')');
CREATE FOREIGN TABLE nested_key (id integer[]) SERVER nested_server;
CALL try('SELECT fluss_create_table(''nested_key'', primary_key => ''{id}'')');
CALL try('ALTER FOREIGN TABLE bad_option ALTER m OPTIONS (SET fluss_type ''MAP<INT>'')');

-- IMPORT gives arrays of scalars as arrays, the rest as jsonb
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA regress_nested LIMIT TO (shapes, log_json) FROM SERVER nested_server INTO imported;
SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid IN ('imported.shapes'::regclass, 'imported.log_json'::regclass) AND attnum > 1 AND attname !~ '^_' ORDER BY attrelid::regclass::text, attnum;
SELECT count(*) FROM imported.log_json f JOIN log_json l USING (id, r, mi, md, mn, mb, ar);

SELECT fluss_drop_database('nested_server', 'regress_nested', cascade => true);
DROP SCHEMA imported CASCADE;
DROP SERVER nested_server CASCADE;
DROP TABLE local_arrays, local_json;
DROP PROCEDURE try;
