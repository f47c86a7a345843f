--
-- Types: every value comes back as it went, or is refused by name
--
\set test types
\i sql/lib/server.sql
SET timezone = 'Asia/Kolkata';
SET datestyle = 'ISO, MDY';

\i sql/lib/try.sql

--
-- every type, in a log table and in a primary key table, beside a local table
--
CREATE TABLE local_types (
  id integer NOT NULL, bo boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision,
  n9 numeric(9,2), n18 numeric(18,0), n38 numeric(38,10), tx text, vc varchar(10), ch character(5), by bytea, uu uuid,
  da date, ti time(3), ti0 time(0), ts timestamp, ts0 timestamp(0), ts3 timestamp(3), tz timestamptz, tz3 timestamptz(3), js json, jb jsonb);
CREATE FOREIGN TABLE log_types (
  id integer NOT NULL, bo boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision,
  n9 numeric(9,2), n18 numeric(18,0), n38 numeric(38,10), tx text, vc varchar(10), ch character(5), by bytea, uu uuid,
  da date, ti time(3), ti0 time(0), ts timestamp, ts0 timestamp(0), ts3 timestamp(3), tz timestamptz, tz3 timestamptz(3), js json, jb jsonb)
  SERVER types_server;
CREATE FOREIGN TABLE key_types (
  id integer NOT NULL, bo boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision,
  n9 numeric(9,2), n18 numeric(18,0), n38 numeric(38,10), tx text, vc varchar(10), ch character(5), by bytea, uu uuid,
  da date, ti time(3), ti0 time(0), ts timestamp, ts0 timestamp(0), ts3 timestamp(3), tz timestamptz, tz3 timestamptz(3), js json, jb jsonb)
  SERVER types_server;
SELECT fluss_create_table('log_types', bucket_count => 2);
SELECT fluss_create_table('key_types', primary_key => '{id}', bucket_count => 3);

INSERT INTO local_types VALUES
  (1, true, 1, 1, 1, 1.5, 2.5, 1.25, 1, 1.0000000001, 'text', 'varchar', 'char', '\x00ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
   '2026-08-04', '12:34:56.789', '12:34:56', '2026-08-04 12:34:56.789012', '2026-08-04 12:34:56', '2026-08-04 12:34:56.789', '2026-08-04 12:34:56.789012+00', '2026-08-04 12:34:56.789+00', '{"b": 1, "a":[1, 2]}', '{"b": 1, "a": [1, 2]}'),
  -- the least and the greatest
  (2, false, -32768, -2147483648, -9223372036854775808, '-Infinity', '-Infinity', -9999999.99, -999999999999999999, -9999999999999999999999999999.9999999999, '', '', '', '', '00000000-0000-0000-0000-000000000000',
   '0001-01-01 BC', '00:00', '00:00', '1678-01-01', '0001-01-01', '4713-01-01 BC', '1678-01-01 00:00+00', '4713-01-01 00:00+00 BC', '0', 'null'),
  (3, true, 32767, 2147483647, 9223372036854775807, 'Infinity', 'Infinity', 9999999.99, 999999999999999999, 9999999999999999999999999999.9999999999, repeat('x', 100000), '0123456789', '12345', decode(repeat('00ff', 50000), 'hex'), 'ffffffff-ffff-ffff-ffff-ffffffffffff',
   '9999-12-31', '23:59:59.999', '23:59:59', '2261-12-31 23:59:59.999999', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999', '2261-12-31 23:59:59.999999+00', '9999-12-31 23:59:59.999+00', '"x"', '"x"'),
  -- odd ones
  (4, NULL, -1, -1, -1, 'NaN', 'NaN', -0.01, -1, -0.0000000001, E'é\t\n€😀"''\\', '日本語日本語日本語語', 'é', '\x', NULL,
   '1969-12-31', '00:00:00.001', NULL, '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999+00', '1969-12-31 23:59:59.999+00', '  [ ]  ', '[]'),
  (5, NULL, 0, 0, 0, '-0', '-0', 0, 0, 0, ' blanks  ', 'blanks  ', ' a', '\x5c', NULL,
   '1970-01-01', '00:00', NULL, '1970-01-01', '1970-01-01', '1970-01-01', '1970-01-01 00:00+00', '1970-01-01 00:00+00', '1e400', '"\u00e9"'),
  (6, NULL, 5, 5, 5, 3.4028235e38, 1.7976931348623157e308, 0.01, 10, 10, '\', '\', '\', '\x0a', NULL,
   '2000-02-29', '01:02:03.004', NULL, '2000-02-29 00:00:00.000001', '2000-02-29', '2000-02-29 00:00:00.001', '2000-02-29 00:00:00.000001+00', '2000-02-29 00:00:00.001+00', 'true', 'true'),
  (7, NULL, 6, 6, 6, 1.4e-45, 5e-324, 0.10, 100, 100.10, 'a', 'a', 'a', '\x61', NULL, '1582-10-15', '00:00', NULL, NULL, NULL, NULL, '2026-03-29 01:30+01', NULL, '{}', '{}');
-- all NULL
INSERT INTO local_types (id) VALUES (8), (9);

INSERT INTO log_types SELECT * FROM local_types;
INSERT INTO key_types SELECT * FROM local_types;

-- json has no equality: its text is compared
CREATE VIEW local_view AS SELECT id, bo, i2, i4, i8, f4, f8, n9, n18, n38, tx, vc, ch, by, uu, da, ti, ti0, ts, ts0, ts3, tz, tz3, js::text, jb, f8::text AS f8t, n38::text AS n38t, n9::text AS n9t, ch || '|' AS cht FROM local_types;
CREATE VIEW log_view AS SELECT id, bo, i2, i4, i8, f4, f8, n9, n18, n38, tx, vc, ch, by, uu, da, ti, ti0, ts, ts0, ts3, tz, tz3, js::text, jb, f8::text AS f8t, n38::text AS n38t, n9::text AS n9t, ch || '|' AS cht FROM log_types;
CREATE VIEW key_view AS SELECT id, bo, i2, i4, i8, f4, f8, n9, n18, n38, tx, vc, ch, by, uu, da, ti, ti0, ts, ts0, ts3, tz, tz3, js::text, jb, f8::text AS f8t, n38::text AS n38t, n9::text AS n9t, ch || '|' AS cht FROM key_types;
(TABLE log_view EXCEPT ALL TABLE local_view) UNION ALL (TABLE local_view EXCEPT ALL TABLE log_view);
(TABLE key_view EXCEPT ALL TABLE local_view) UNION ALL (TABLE local_view EXCEPT ALL TABLE key_view);
SELECT count(*) FROM log_types;
SELECT id, bo, i2, i4, i8, f4, f8, n9, n18, n38 FROM log_types ORDER BY id;
SELECT id, left(tx, 12) AS tx, length(tx), vc, length(vc), ch, left(by::text, 12) AS by, length(by), left(uu::text, 8) AS uu FROM key_types ORDER BY id;
SELECT id, da, ti, ti0, ts, ts0, ts3 FROM log_types ORDER BY id;
SELECT id, tz, tz3, js, jb FROM key_types ORDER BY id;
-- the same instants under another time zone
SET timezone = 'America/New_York';
SELECT id, ts, tz FROM log_types WHERE id IN (1, 7) ORDER BY id;
SET timezone = 'Asia/Kolkata';

-- many random values, in batches of several kinds of column at once
CREATE TABLE local_random AS
  SELECT g AS id, g % 3 = 0 AS bo, (random() * 65535 - 32768)::int::smallint AS i2, (random() * 4294967295 - 2147483648)::bigint::integer AS i4,
    ((random() - 0.5) * 1.8e19)::numeric::bigint AS i8, ((random() - 0.5) * 1e27)::numeric(38,10) AS n38,
    CASE WHEN g % 7 > 0 THEN md5(g::text) END AS tx, CASE WHEN g % 5 > 0 THEN decode(md5(g::text), 'hex') END AS by,
    date '1900-01-01' + g AS da, time '00:00' + g * interval '17 ms' AS ti,
    timestamp '1970-01-01' + ((random() - 0.5) * 9e15)::bigint * interval '1 us' AS ts,
    timestamptz '1970-01-01 00:00+00' + ((random() - 0.5) * 9e15)::bigint * interval '1 us' AS tz
  FROM generate_series(1, 5000) g;
CREATE FOREIGN TABLE log_random (id integer, bo boolean, i2 smallint, i4 integer, i8 bigint, n38 numeric(38,10), tx text, by bytea, da date, ti time(3), ts timestamp, tz timestamptz) SERVER types_server;
CREATE FOREIGN TABLE key_random (id integer, bo boolean, i2 smallint, i4 integer, i8 bigint, n38 numeric(38,10), tx text, by bytea, da date, ti time(3), ts timestamp, tz timestamptz) SERVER types_server;
SELECT fluss_create_table('log_random', bucket_count => 4);
SELECT fluss_create_table('key_random', primary_key => '{id}', bucket_count => 4);
INSERT INTO log_random SELECT * FROM local_random;
INSERT INTO key_random SELECT * FROM local_random;
SELECT count(*) FROM ((TABLE log_random EXCEPT ALL TABLE local_random) UNION ALL (TABLE local_random EXCEPT ALL TABLE log_random)) d;
SELECT count(*) FROM ((TABLE key_random EXCEPT ALL TABLE local_random) UNION ALL (TABLE local_random EXCEPT ALL TABLE key_random)) d;

--
-- other types for the same columns
--
CREATE FOREIGN TABLE narrow (
  id integer NOT NULL, t1 smallint OPTIONS (fluss_type 'TINYINT'), t2 smallint, t4 integer, t8 bigint, st text, c5 varchar(5) OPTIONS (fluss_type 'CHAR(5)'),
  b2 bytea OPTIONS (fluss_type 'BINARY(2)'), b16 bytea OPTIONS (fluss_type 'BINARY(16)'), de numeric(10,4), p9 timestamp OPTIONS (fluss_type 'TIMESTAMP(9)'), t9 time OPTIONS (fluss_type 'TIME(9)'))
  SERVER types_server;
SELECT fluss_create_table('narrow', primary_key => '{id}', bucket_count => 1);
CREATE FOREIGN TABLE wide (
  id bigint, t1 bigint, t2 integer, t4 bigint, t8 numeric, st varchar, c5 character(5), b16 uuid, de numeric, p9 timestamp(3), t9 time(0))
  SERVER types_server OPTIONS (table_name 'narrow');
INSERT INTO narrow VALUES (1, -128, -32768, -2147483648, -9223372036854775808, 'abc', 'ab', '\x0102', '\xa0eebc999c0b4ef8bb6d6bb9bd380a11', 12.3400, '2026-08-04 01:02:03.004', '01:02:03');
INSERT INTO wide (id, t1, t2, t4, t8, st, c5, b16, de, p9, t9)
  VALUES (2, 127, 32767, 2147483647, 9223372036854775807, 'abc', 'cd', '00000000-0000-0000-0000-000000000001', 0.5, '2026-08-04 01:02:03.004', '01:02:03');
SELECT * FROM wide ORDER BY id;
SELECT id, t1, t2, t4, t8, st, c5 || '|' AS c5, b2, b16, de, p9, t9 FROM narrow ORDER BY id;
-- wider numbers find the row, numbers out of range do not
SELECT id, t1 FROM wide WHERE id = 2;
SELECT id, t1 FROM wide WHERE id = 4294967298;
-- nothing that does not fit is written
CALL try('INSERT INTO wide (id) VALUES (3000000000)');
CALL try('INSERT INTO wide (id, t1) VALUES (3, 128)');
CALL try('INSERT INTO wide (id, t1) VALUES (3, -129)');
CALL try('INSERT INTO wide (id, t2) VALUES (3, 32768)');
CALL try('INSERT INTO wide (id, t4) VALUES (3, 2147483648)');
CALL try('INSERT INTO wide (id, t8) VALUES (3, 9223372036854775808)');
CALL try('INSERT INTO wide (id, t8) VALUES (3, -9223372036854775809)');
CALL try('INSERT INTO wide (id, t8) VALUES (3, 1.5)');
CALL try('INSERT INTO wide (id, t8) VALUES (3, ''NaN'')');
CALL try('INSERT INTO wide (id, de) VALUES (3, 1000000)');
CALL try('INSERT INTO wide (id, de) VALUES (3, 0.00001)');
CALL try('INSERT INTO wide (id, de) VALUES (3, ''NaN'')');
CALL try('INSERT INTO wide (id, de) VALUES (3, ''Infinity'')');
CALL try('INSERT INTO wide (id, de) VALUES (3, 1e200)');
INSERT INTO wide (id, de, t8) VALUES (3, 999999.99990000, 5.000);
SELECT de, t8 FROM wide WHERE id = 3;
CREATE FOREIGN TABLE loose (id integer, st text, c5 text, b2 bytea, p9 timestamp, t9 time) SERVER types_server OPTIONS (table_name 'narrow');
CALL try('INSERT INTO loose (id, c5) VALUES (4, ''123456'')');
INSERT INTO loose (id, c5) VALUES (4, 'ééééé');
CALL try('INSERT INTO loose (id, b2) VALUES (4, ''\x01'')');
CALL try('INSERT INTO loose (id, b2) VALUES (4, ''\x010203'')');
CALL try('INSERT INTO loose (id, p9) VALUES (4, ''infinity'')');
CALL try('INSERT INTO loose (id, p9) VALUES (4, ''-infinity'')');
CALL try('INSERT INTO loose (id, t9) VALUES (4, ''00:00:00.0001'')');
CALL try('INSERT INTO loose (id, t9) VALUES (4, ''24:00'')');
CALL try('INSERT INTO log_types (id, ts) VALUES (10, ''infinity'')');
CALL try('INSERT INTO log_types (id, tz) VALUES (10, ''-infinity'')');
CALL try('INSERT INTO log_types (id, da) VALUES (10, ''infinity'')');
CALL try('INSERT INTO log_types (id, ti) VALUES (10, ''24:00'')');
-- Arrow counts microseconds in 64 bits, and PostgreSQL goes a little further
CALL try('INSERT INTO log_types (id, ts) VALUES (10, ''294276-12-31 23:59:59'')');
SELECT count(*) FROM log_types WHERE id = 10;

-- nothing that is wider than the local type is read
INSERT INTO loose (id, st, c5, p9, t9) VALUES (5, 'abcdef', 'abcde', '2026-08-04 01:02:03.456789', '01:02:03.456');
INSERT INTO narrow (id, de) VALUES (6, 12.3456), (7, 123.4000);
CREATE FOREIGN TABLE tight (id integer, st varchar(3), c5 character(3), p9 timestamp(3), t9 time(1), de numeric(5,2)) SERVER types_server OPTIONS (table_name 'narrow');
CALL try('SELECT st FROM tight WHERE id = 5');
CALL try('SELECT c5 FROM tight WHERE id = 5');
CALL try('SELECT p9 FROM tight WHERE id = 5');
CALL try('SELECT t9 FROM tight WHERE id = 5');
CALL try('SELECT de FROM tight WHERE id = 6');
SELECT de FROM tight WHERE id = 7;
SELECT st, c5, p9, t9 FROM tight WHERE id = 1;
CREATE FOREIGN TABLE tighter (id integer, de numeric(4,2), t8 numeric(2,0), st json, b2 bytea) SERVER types_server OPTIONS (table_name 'narrow');
CALL try('SELECT de FROM tighter WHERE id = 7');
CALL try('SELECT t8 FROM tighter WHERE id = 1');
SELECT t8 FROM tighter WHERE id = 3;
CREATE FOREIGN TABLE jsons (id integer, st jsonb) SERVER types_server OPTIONS (table_name 'narrow');
CALL try('SELECT st FROM tighter WHERE id = 1');
CALL try('SELECT st FROM jsons WHERE id = 1');

-- types that do not go together are refused where they are used
CREATE FOREIGN TABLE mismatch (id integer, t4 text, st integer, de double precision, p9 timestamptz, t1 boolean, b2 uuid, b16 text, c5 json, nowhere integer, t8 name) SERVER types_server OPTIONS (table_name 'narrow');
SELECT id FROM mismatch WHERE id = 1;
CALL try('SELECT t4 FROM mismatch');
CALL try('SELECT st FROM mismatch');
CALL try('SELECT de FROM mismatch');
CALL try('SELECT p9 FROM mismatch');
CALL try('SELECT t1 FROM mismatch');
CALL try('SELECT b2 FROM mismatch');
CALL try('SELECT b16 FROM mismatch');
CALL try('SELECT c5 FROM mismatch');
CALL try('SELECT t8 FROM mismatch');
CALL try('SELECT nowhere FROM mismatch');
CALL try('INSERT INTO mismatch (id, t4) VALUES (1, ''x'')');
CALL try('INSERT INTO mismatch (id, nowhere) VALUES (1, 1)');
CREATE FOREIGN TABLE metadata_types (id integer, b text OPTIONS (metadata 'bucket'), o integer OPTIONS (metadata 'log_offset'), c timestamp OPTIONS (metadata 'commit_timestamp')) SERVER types_server OPTIONS (table_name 'log_types');
CALL try('SELECT b FROM metadata_types');
CALL try('SELECT o FROM metadata_types');
CALL try('SELECT c FROM metadata_types');

-- and no table is made of types that Fluss has not
CREATE FOREIGN TABLE no_types (a numeric, b numeric(39,0), c numeric(5,-2), d interval, e interval[], f bpchar, g timetz, h money, i numeric(2,4), j inet) SERVER types_server;
CREATE FUNCTION without(VARIADIC columns text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE c text;
BEGIN
  FOREACH c IN ARRAY columns LOOP EXECUTE format('ALTER FOREIGN TABLE no_types DROP COLUMN %I', c); END LOOP;
END $$;
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('a');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('b');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('c');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('d');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('e');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('f');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('g');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('h');
CALL try('SELECT fluss_create_table(''no_types'')');
SELECT without('i');
CALL try('SELECT fluss_create_table(''no_types'')');

--
-- keys of every type that can be one
--
CREATE SEQUENCE key_number;
CREATE FUNCTION key_works(type text, value text, fluss_type text DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; n int; plan text := '';
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE key_one (k %s %s NOT NULL, v integer) SERVER types_server OPTIONS (table_name %L)', type, 'OPTIONS (fluss_type ' || quote_literal(fluss_type) || ')', 'key_' || nextval('key_number'));
  PERFORM fluss_create_table('key_one', primary_key => '{k}', bucket_count => 3);
  EXECUTE format('INSERT INTO key_one VALUES (%L, 7)', value);
  FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT v FROM key_one WHERE k = %L::%s', value, type) LOOP
    plan := plan || coalesce(substring(line FROM 'Fluss Scan: (.*)'), '');
  END LOOP;
  EXECUTE format('SELECT count(*) FROM key_one WHERE k = %L::%s AND v = 7', value, type) INTO n;
  PERFORM fluss_drop_table('key_one');
  DROP FOREIGN TABLE key_one;
  RETURN plan || ', ' || n || ' row';
END $$;
-- as for a table of many rows
ALTER SERVER types_server OPTIONS (ADD use_remote_estimate 'false');
-- a scan where equal values need not have equal bytes
SELECT type, fluss_type, key_works(type, value, fluss_type) FROM (VALUES
  ('boolean', 'true', NULL), ('smallint', '-1', 'TINYINT'), ('smallint', '-32768', NULL), ('integer', '-1', NULL), ('bigint', '9223372036854775807', NULL), ('numeric', '-5', 'BIGINT'),
  ('numeric(9,2)', '-1.25', NULL), ('numeric(38,10)', '123456789012345678901234567.0000000001', NULL), ('text', 'é€😀', NULL), ('varchar(20)', 'longer than seven', NULL),
  ('varchar(5)', 'ab', 'CHAR(5)'), ('character(5)', 'ab', NULL), ('bytea', '\x00ff', NULL), ('bytea', '\x00ff', 'BINARY(2)'), ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', NULL),
  ('date', '1969-12-31', NULL), ('time', '23:59:59.999', NULL), ('timestamp', '1969-12-31 23:59:59.999999', NULL), ('timestamp(3)', '1969-12-31 23:59:59.999', NULL),
  ('timestamp', '2026-08-04 01:02:03', 'TIMESTAMP(9)'), ('timestamptz', '2026-08-04 12:00:00.123456+00', NULL), ('real', '1.5', NULL), ('double precision', '-0', NULL)) v (type, value, fluss_type);
-- a collation in which different bytes are equal; a server without ICU has none
DO $$
BEGIN
  CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  RAISE WARNING '%', key_works('text COLLATE ignore_case', 'ab');
  DROP COLLATION ignore_case;
EXCEPTION WHEN feature_not_supported THEN
  RAISE WARNING 'limit scan, 1 row';
END $$;

SELECT fluss_drop_database('types_server', 'regress_types', cascade => true);
DROP FUNCTION without, key_works;
DROP SEQUENCE key_number;
DROP PROCEDURE try;
DROP VIEW local_view, log_view, key_view;
DROP TABLE local_types, local_random;
DROP SERVER types_server CASCADE;
