-- The tables of the differential suite: schema heap has the rows in tables of PostgreSQL, schema remote the same
-- rows in Fluss, by foreign tables of the same names and columns. What both sides share is in public.
\set ON_ERROR_STOP on
\getenv bootstrap FLUSS_BOOTSTRAP
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fluss_fdw;
CREATE SERVER differential FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap', database_name 'differential');
CREATE USER MAPPING FOR PUBLIC SERVER differential;
SELECT fluss_drop_database('differential', 'differential', if_exists => true, cascade => true);
SELECT fluss_create_database('differential', 'differential');
CREATE SCHEMA heap;
CREATE SCHEMA remote;
SELECT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu') AS icu \gset
\if :icu
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION human (provider = icu, locale = 'en-u-kn-true');
\else
CREATE COLLATION nocase FROM "C";
CREATE COLLATION human FROM "C";
\endif

-- local tables that both sides join with
CREATE TABLE loc (id int, tag text, d date, b bigint, n numeric, s smallint, f float8);
INSERT INTO loc VALUES
  (1, 'a', '1970-01-01', 0, 0.25, 1, 1), (2, 'bb', '1970-01-02', 5000000000, 0.5, 2, 2.5), (2, 'bb', '1969-12-31', -5000000000, -0.25, 3, 'NaN'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL), (999, 'z', '2020-01-01', 999, 99.99, 999, 'Infinity'), (0, 'a', '1970-01-03', 4, 0.2501, 0, -0.0),
  (7, 'é', '1970-01-01', 5000000007, 'NaN', 7, 7), (30, 'longer than seven', '1969-12-30', 1, 0.125, 30, 1e300), (5, 'd2', '2026-08-02', 5, 5, 5, 5), (11, 'A', '2026-08-01', 11, 1.5, -1, -1.5);
CREATE TABLE pos (part text, b int, o bigint, day text, region int);
CREATE SEQUENCE seq;
CREATE DOMAIN small AS int CHECK (VALUE IS NULL OR VALUE < 1000000);
CREATE TYPE mood AS ENUM ('a', 'bb', 'ccc');

-- a log table with every simple type; the last two columns are added after half of the records
CREATE TABLE heap.readings (
  id int, sensor_id int, bo boolean, i1 smallint, i2 smallint, i8 bigint, f4 real, f8 float8, de numeric(20,4), tx text, ch varchar(5), bi bytea,
  da date, ti time(3), ts timestamp(6), tz timestamptz(6), late int, late_tx text);
INSERT INTO heap.readings
SELECT g, CASE WHEN g % 7 = 3 THEN NULL ELSE (g * 13) % 37 END, CASE WHEN g % 5 = 0 THEN NULL ELSE g % 2 = 0 END,
  CASE WHEN g % 11 = 0 THEN NULL WHEN g % 50 = 1 THEN -128 WHEN g % 50 = 2 THEN 127 ELSE g % 100 - 50 END,
  CASE WHEN g % 13 = 0 THEN NULL WHEN g % 60 = 1 THEN -32768 WHEN g % 60 = 2 THEN 32767 ELSE g * 7 % 1000 - 500 END,
  CASE WHEN g % 9 = 0 THEN NULL WHEN g % 70 = 1 THEN -9223372036854775808 WHEN g % 70 = 2 THEN 9223372036854775807 ELSE g::bigint * 1000000007 - 300000000000 END,
  CASE WHEN g % 8 = 0 THEN NULL WHEN g % 31 = 1 THEN 'NaN' WHEN g % 31 = 2 THEN 'Infinity' WHEN g % 31 = 3 THEN '-Infinity' WHEN g % 31 = 4 THEN -0.0 WHEN g % 31 = 5 THEN 0 ELSE g % 40 * 0.25 - 3 END::real,
  CASE WHEN g % 6 = 0 THEN NULL WHEN g % 29 = 1 THEN 'NaN' WHEN g % 29 = 2 THEN 'Infinity' WHEN g % 29 = 3 THEN '-Infinity' WHEN g % 29 = 4 THEN '-0' WHEN g % 29 = 5 THEN 0 WHEN g % 29 = 6 THEN power(2::float8, 300) ELSE g % 50 * 0.5 - 10 END::float8,
  CASE WHEN g % 10 = 0 THEN NULL WHEN g % 45 = 1 THEN 9999999999999999.9999 WHEN g % 45 = 2 THEN -9999999999999999.9999 ELSE g % 100 * 0.25 - 5 END,
  CASE WHEN g % 12 = 0 THEN NULL WHEN g % 12 = 1 THEN '' ELSE (ARRAY['a', 'B', 'b', 'A', 'é', 'longer than seven', 'z10', 'z9', '10', '9', 'x|y', '日本'])[1 + g % 12] END,
  CASE WHEN g % 14 = 0 THEN NULL ELSE (ARRAY['ab', 'abc', '', 'zzzzz', 'é'])[1 + g % 5] END,
  CASE WHEN g % 15 = 0 THEN NULL WHEN g % 15 = 1 THEN '' ELSE decode(lpad(to_hex(g % 256), 2, '0') || '00ff', 'hex') END,
  CASE WHEN g % 16 = 0 THEN NULL WHEN g % 80 = 1 THEN '0001-01-01' WHEN g % 80 = 2 THEN '9999-12-31' WHEN g % 80 = 3 THEN '4713-01-01 BC' ELSE date '1969-12-20' + g % 25 END,
  CASE WHEN g % 17 = 0 THEN NULL WHEN g % 17 = 1 THEN '23:59:59.999' ELSE time '00:00' + g % 40 * interval '36 min 1.5 s' END,
  CASE WHEN g % 18 = 0 THEN NULL WHEN g % 90 = 1 THEN '9999-12-31 23:59:59.999999' WHEN g % 90 = 2 THEN '0001-01-01' ELSE timestamp '1969-12-31 23:00' + g % 60 * interval '3 min 0.000001 s' END,
  CASE WHEN g % 19 = 0 THEN NULL WHEN g % 95 = 1 THEN '1582-10-15 00:00+00' ELSE timestamptz '2026-03-29 00:00+00' + g % 60 * interval '7 min' END,
  CASE WHEN g <= 300 OR g % 4 = 0 THEN NULL ELSE g % 9 END, CASE WHEN g <= 300 OR g % 3 = 0 THEN NULL ELSE 'late' || g % 6 END
FROM generate_series(1, 600) g;
CREATE FOREIGN TABLE remote.readings (
  id int, sensor_id int, bo boolean, i1 smallint OPTIONS (fluss_type 'TINYINT'), i2 smallint, i8 bigint, f4 real, f8 float8, de numeric(20,4), tx text, ch varchar(5) OPTIONS (fluss_type 'CHAR(5)'), bi bytea,
  da date, ti time(3), ts timestamp(6), tz timestamptz(6)) SERVER differential;
SELECT fluss_create_table('remote.readings', bucket_count => 3);

-- primary key tables: by one number; by several types; by a prefix of the key; by texts under collations
CREATE TABLE heap.info (sensor_id int, name text, site text, state int, w float8);
INSERT INTO heap.info SELECT g, 'n' || g, CASE WHEN g % 6 = 0 THEN NULL WHEN g % 3 = 0 THEN 'roof' ELSE 'lobby' END, nullif(g % 4, 3), CASE WHEN g % 7 = 0 THEN 'NaN' ELSE g * 0.5 END FROM generate_series(-2, 24) g;
CREATE FOREIGN TABLE remote.info (sensor_id int, name text, site text, state int, w float8) SERVER differential;
SELECT fluss_create_table('remote.info', primary_key => '{sensor_id}', bucket_count => 3);
CREATE TABLE heap.info2 (sensor_id int, name text, state int);
INSERT INTO heap.info2 SELECT g, 'm' || g, nullif(g % 5, 2) FROM generate_series(3, 30, 2) g;
CREATE FOREIGN TABLE remote.info2 (sensor_id int, name text, state int) SERVER differential;
SELECT fluss_create_table('remote.info2', primary_key => '{sensor_id}', bucket_count => 1);
CREATE TABLE heap.facts (k1 text, k2 date, k3 bigint, k4 numeric(10,3), v int);
INSERT INTO heap.facts
SELECT (ARRAY['a', 'bb', 'longer than seven', 'é'])[1 + g % 4], date '1969-12-30' + g % 5, (g % 3 - 1) * 5000000000, (g % 7) * 0.125 - 0.25, g FROM generate_series(0, 419) g;
CREATE FOREIGN TABLE remote.facts (k1 text, k2 date, k3 bigint, k4 numeric(10,3), v int) SERVER differential;
SELECT fluss_create_table('remote.facts', primary_key => '{k1,k2,k3,k4}', bucket_count => 3);
CREATE TABLE heap.hist (sensor_id int, day varchar(10), kind smallint, v bigint, note text);
INSERT INTO heap.hist SELECT g % 15, 'd' || g % 6, g % 4, g * 10, CASE WHEN g % 5 = 0 THEN NULL ELSE 'note' || g % 7 END FROM generate_series(1, 240) g ON CONFLICT DO NOTHING;
DELETE FROM heap.hist a USING heap.hist b WHERE (a.sensor_id, a.day, a.kind) = (b.sensor_id, b.day, b.kind) AND a.v > b.v;
CREATE FOREIGN TABLE remote.hist (sensor_id int, day varchar(10), kind smallint, v bigint, note text) SERVER differential;
SELECT fluss_create_table('remote.hist', primary_key => '{sensor_id,day,kind}', bucket_key => '{sensor_id}', bucket_count => 4);
CREATE TABLE heap.names (k text COLLATE nocase, h text COLLATE human, v int);
INSERT INTO heap.names VALUES ('Abc', 'z10', 1), ('xyz', 'z9', 2), ('É', 'Z1', 3), ('longer than SEVEN', 'a', 4), ('', '', 5), ('n', NULL, 6);
CREATE FOREIGN TABLE remote.names (k text COLLATE nocase, h text COLLATE human, v int) SERVER differential;
SELECT fluss_create_table('remote.names', primary_key => '{k}', bucket_count => 2);
CREATE TABLE heap.words (k text COLLATE "C", v int, other text COLLATE "C");
INSERT INTO heap.words SELECT CASE WHEN g % 2 = 0 THEN 'w' || g ELSE 'Word number ' || g END, g, CASE WHEN g % 3 > 0 THEN 'w' || g + 1 END FROM generate_series(1, 40) g;
CREATE FOREIGN TABLE remote.words (k text COLLATE "C", v int, other text COLLATE "C") SERVER differential;
SELECT fluss_create_table('remote.words', primary_key => '{k}', bucket_count => 2);

-- partitioned tables: logs by one and by two columns, keyed ones by one and by two
CREATE TABLE heap.events (day text, id int, sensor_id int, v float8);
INSERT INTO heap.events SELECT 'd' || 1 + g % 5, g, g % 23, CASE WHEN g % 10 = 0 THEN NULL ELSE g % 20 * 0.5 END FROM generate_series(1, 200) g;
CREATE FOREIGN TABLE remote.events (day text, id int, sensor_id int, v float8) SERVER differential;
SELECT fluss_create_table('remote.events', bucket_count => 2, partitioned_by => '{day}');
CREATE TABLE heap.visits (region int, day date, id int, v int);
INSERT INTO heap.visits SELECT 1 + g % 3, date '2026-08-01' + g % 4, g, nullif(g % 17, 5) FROM generate_series(1, 180) g;
CREATE FOREIGN TABLE remote.visits (region int, day date, id int, v int) SERVER differential;
SELECT fluss_create_table('remote.visits', bucket_key => '{id}', bucket_count => 2, partitioned_by => '{region,day}');
CREATE TABLE heap.stock (day text, id int, v bigint, note text);
INSERT INTO heap.stock SELECT 'd' || 1 + g % 4, g / 4, g * 100, CASE WHEN g % 3 > 0 THEN 'n' || g % 8 END FROM generate_series(0, 119) g;
CREATE FOREIGN TABLE remote.stock (day text, id int, v bigint, note text) SERVER differential;
SELECT fluss_create_table('remote.stock', primary_key => '{day,id}', bucket_count => 2, partitioned_by => '{day}');
CREATE TABLE heap.ledger (region int, day date, account int, line int, amount numeric(12,2));
INSERT INTO heap.ledger SELECT 1 + g % 2, date '2026-08-01' + g % 3, g % 9, g / 18, (g - 100) * 1.25 FROM generate_series(0, 215) g;
CREATE FOREIGN TABLE remote.ledger (region int, day date, account int, line int, amount numeric(12,2)) SERVER differential;
SELECT fluss_create_table('remote.ledger', primary_key => '{region,day,account,line}', bucket_key => '{account}', bucket_count => 2, partitioned_by => '{region,day}');

-- a changelog; its copy is what the statements below must leave
CREATE FOREIGN TABLE remote.account (id int, owner text, balance int) SERVER differential;
SELECT fluss_create_table('remote.account', primary_key => '{id}', bucket_count => 2);
INSERT INTO remote.account SELECT g, 'o' || g % 4, g * 10 FROM generate_series(1, 30) g;
INSERT INTO remote.account SELECT g, 'o' || g % 4, g * 10 + 1 FROM generate_series(1, 30, 3) g;
DELETE FROM remote.account WHERE id % 6 = 1;
INSERT INTO remote.account VALUES (1, NULL, NULL), (2, 'again', -1);
CREATE TABLE heap.account AS
  SELECT g AS id, 'o' || g % 4 AS owner, g * 10 + CASE WHEN g % 3 = 1 THEN 1 ELSE 0 END AS balance FROM generate_series(1, 30) g WHERE g % 6 <> 1 AND g <> 2
  UNION ALL VALUES (1, NULL, NULL), (2, 'again', -1);
CREATE TABLE heap.changes AS
  SELECT 'insert' AS _change_type, g AS id, 'o' || g % 4 AS owner, g * 10 AS balance FROM generate_series(1, 30) g
  UNION ALL SELECT 'update_before', g, 'o' || g % 4, g * 10 FROM generate_series(1, 30, 3) g
  UNION ALL SELECT 'update_after', g, 'o' || g % 4, g * 10 + 1 FROM generate_series(1, 30, 3) g
  UNION ALL SELECT 'delete', g, 'o' || g % 4, g * 10 + 1 FROM generate_series(1, 30, 6) g
  UNION ALL VALUES ('insert', 1, NULL, NULL), ('update_before', 2, 'o2', 20), ('update_after', 2, 'again', -1);
CREATE FOREIGN TABLE remote.changes (_change_type text OPTIONS (metadata 'change_type'), id int, owner text, balance int) SERVER differential OPTIONS (table_name 'account', scan_mode 'changelog');

-- nothing in it
CREATE TABLE heap.no_log (id int, v int);
CREATE FOREIGN TABLE remote.no_log (id int, v int) SERVER differential;
SELECT fluss_create_table('remote.no_log', bucket_count => 2);
CREATE TABLE heap.no_info (id int, v int);
CREATE FOREIGN TABLE remote.no_info (id int, v int) SERVER differential;
SELECT fluss_create_table('remote.no_info', primary_key => '{id}', bucket_count => 2);
CREATE TABLE heap.no_days (day text, id int, v int);
CREATE FOREIGN TABLE remote.no_days (day text, id int, v int) SERVER differential;
SELECT fluss_create_table('remote.no_days', primary_key => '{day,id}', bucket_count => 2, partitioned_by => '{day}');

-- event times that decide where a scan starts; arrays and JSON
CREATE TABLE heap.ticks (id int, at timestamptz, plain timestamp, tags text[], nums int[], props jsonb);
CREATE FOREIGN TABLE remote.ticks (id int, at timestamptz(6) OPTIONS (event_time 'true', max_clock_skew '1s'), plain timestamp(6) OPTIONS (event_time 'true', max_clock_skew '1s'),
  tags text[], nums int[], props jsonb OPTIONS (fluss_type 'MAP<STRING, INT>')) SERVER differential;
SELECT fluss_create_table('remote.ticks', bucket_count => 2);

-- partitions of local tables, some of them foreign
CREATE TABLE heap.shard1 (shard int, id int, sensor_id int, v float8);
INSERT INTO heap.shard1 SELECT 1, g, g % 20, CASE WHEN g % 9 > 0 THEN g * 0.5 END FROM generate_series(1, 90) g;
CREATE FOREIGN TABLE remote.shard1 (shard int, id int, sensor_id int, v float8) SERVER differential;
SELECT fluss_create_table('remote.shard1', bucket_count => 1);
CREATE TABLE heap.dim1 (shard int, sensor_id int, name text);
INSERT INTO heap.dim1 SELECT 1, g, 'one' || g FROM generate_series(1, 15) g;
CREATE FOREIGN TABLE remote.dim1 (shard int, sensor_id int, name text) SERVER differential;
SELECT fluss_create_table('remote.dim1', primary_key => '{shard,sensor_id}', bucket_count => 2);
CREATE TABLE heap.dim2 (shard int, sensor_id int, name text);
INSERT INTO heap.dim2 SELECT 2, g, 'two' || g FROM generate_series(8, 25) g;
CREATE FOREIGN TABLE remote.dim2 (shard int, sensor_id int, name text) SERVER differential;
SELECT fluss_create_table('remote.dim2', primary_key => '{shard,sensor_id}', bucket_count => 1);

-- the rows, in several batches, with a pause so that commit timestamps differ
DO $$
BEGIN
  FOR i IN 0..4 LOOP
    INSERT INTO remote.readings SELECT id, sensor_id, bo, i1, i2, i8, f4, f8, de, tx, ch, bi, da, ti, ts, tz FROM heap.readings WHERE id BETWEEN i * 60 + 1 AND i * 60 + 60 ORDER BY id;
    INSERT INTO remote.events SELECT * FROM heap.events WHERE id BETWEEN i * 40 + 1 AND i * 40 + 40 ORDER BY id;
    INSERT INTO remote.visits SELECT * FROM heap.visits WHERE id BETWEEN i * 36 + 1 AND i * 36 + 36 ORDER BY id;
    INSERT INTO heap.ticks SELECT g, clock_timestamp() - g % 5 * interval '1 ms', (clock_timestamp() AT TIME ZONE 'UTC') - g % 7 * interval '1 ms',
      CASE WHEN g % 4 > 0 THEN ARRAY['t' || g % 3, NULL, ''] END, CASE WHEN g % 5 > 0 THEN ARRAY[g % 4, g % 3] ELSE '{}' END, CASE WHEN g % 3 > 0 THEN jsonb_build_object('k', g % 4, 'id', g) END
      FROM generate_series(i * 20 + 1, i * 20 + 20) g;
    INSERT INTO remote.ticks SELECT * FROM heap.ticks WHERE id > i * 20 ORDER BY id;
    INSERT INTO remote.shard1 SELECT * FROM heap.shard1 WHERE id BETWEEN i * 18 + 1 AND i * 18 + 18 ORDER BY id;
    PERFORM pg_sleep(0.05);
  END LOOP;
END $$;
SELECT fluss_add_column('remote.readings', 'late', 'INT'), fluss_add_column('remote.readings', 'late_tx', 'STRING');
ALTER FOREIGN TABLE remote.readings ADD late int, ADD late_tx text;
DO $$
BEGIN
  FOR i IN 0..3 LOOP
    INSERT INTO remote.readings SELECT * FROM heap.readings WHERE id BETWEEN 300 + i * 75 + 1 AND 300 + i * 75 + 75 ORDER BY id;
    PERFORM pg_sleep(0.05);
  END LOOP;
END $$;
INSERT INTO remote.info SELECT * FROM heap.info;
INSERT INTO remote.info2 SELECT * FROM heap.info2;
INSERT INTO remote.facts SELECT * FROM heap.facts;
INSERT INTO remote.hist SELECT * FROM heap.hist;
INSERT INTO remote.names SELECT * FROM heap.names;
INSERT INTO remote.words SELECT * FROM heap.words;
INSERT INTO remote.stock SELECT * FROM heap.stock;
INSERT INTO remote.ledger SELECT * FROM heap.ledger;
INSERT INTO remote.dim1 SELECT * FROM heap.dim1;
INSERT INTO remote.dim2 SELECT * FROM heap.dim2;

-- the places where the records lie become columns of the copies
DO $$
DECLARE t text; key text; n bigint;
BEGIN
  FOREACH t IN ARRAY '{readings,events,visits,changes,ticks,shard1,no_log}'::text[] LOOP
    EXECUTE format('ALTER FOREIGN TABLE remote.%I ADD _bucket int OPTIONS (metadata ''bucket''), ADD _log_offset bigint OPTIONS (metadata ''log_offset''), ADD _commit_timestamp timestamptz OPTIONS (metadata ''commit_timestamp'')', t);
    IF t IN ('events', 'visits') THEN
      EXECUTE format('ALTER FOREIGN TABLE remote.%I ADD _partition text OPTIONS (metadata ''partition''), ADD _partition_id bigint OPTIONS (metadata ''partition_id'')', t);
    END IF;
    EXECUTE format('CREATE TABLE copy AS SELECT * FROM remote.%I', t);
    EXECUTE format('SELECT count(*) FROM (
      (SELECT row(%2$s)::text FROM heap.%1$I EXCEPT ALL SELECT row(%2$s)::text FROM copy) UNION ALL (SELECT row(%2$s)::text FROM copy EXCEPT ALL SELECT row(%2$s)::text FROM heap.%1$I)) d', t,
      (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = format('heap.%I', t)::regclass AND attnum > 0)) INTO n;
    IF n > 0 THEN
      RAISE EXCEPTION 'table % differs from what was written in % rows', t, n;
    END IF;
    EXECUTE format('DROP TABLE heap.%I; ALTER TABLE copy RENAME TO %1$I; ALTER TABLE %1$I SET SCHEMA heap', t);
  END LOOP;
END $$;
INSERT INTO pos SELECT NULL, _bucket, max(_log_offset) / 2, NULL, NULL FROM heap.readings GROUP BY 2;
INSERT INTO pos SELECT _partition, _bucket, max(_log_offset) - 2, min(day), NULL FROM heap.events GROUP BY 1, 2;
INSERT INTO pos SELECT _partition, _bucket, max(_log_offset) - 3, min(day)::text, min(region) FROM heap.visits GROUP BY 1, 2;
INSERT INTO pos VALUES ('none', 0, 3, 'd9', 9), (NULL, NULL, NULL, NULL, NULL), ('d1', 7, 0, 'd1', 1);

-- the same tables by other columns: wider types, another order, other names, a column that was dropped
CREATE FOREIGN TABLE remote.wide (gone int, _log_offset bigint OPTIONS (metadata 'log_offset'), i8 numeric, i2 int, i1 bigint, nr bigint OPTIONS (column_name 'id'), sensor_id bigint, tx varchar,
  _bucket int OPTIONS (metadata 'bucket'), de numeric, ch text) SERVER differential OPTIONS (table_name 'readings');
ALTER FOREIGN TABLE remote.wide DROP gone;
CREATE TABLE heap.wide AS SELECT _log_offset, i8::numeric, i2::int, i1::bigint, id::bigint AS nr, sensor_id::bigint, tx::varchar, _bucket, de::numeric, ch::text FROM heap.readings;
CREATE FOREIGN TABLE remote.wide_info (name varchar, sensor_id bigint, gone int, w float8, state bigint) SERVER differential OPTIONS (table_name 'info');
ALTER FOREIGN TABLE remote.wide_info DROP gone;
CREATE TABLE heap.wide_info AS SELECT name::varchar, sensor_id::bigint, w, state::bigint FROM heap.info;
CREATE FOREIGN TABLE remote.wide_facts (v bigint, k4 numeric, k3 numeric, k2 date, k1 varchar) SERVER differential OPTIONS (table_name 'facts');
CREATE TABLE heap.wide_facts AS SELECT v::bigint, k4::numeric, k3::numeric, k2, k1::varchar FROM heap.facts;

DO $$
DECLARE s text;
BEGIN
  FOREACH s IN ARRAY '{remote,heap}'::text[] LOOP
    EXECUTE format('CREATE TABLE %1$s.shards (shard int, id int, sensor_id int, v float8, _bucket int, _log_offset bigint, _commit_timestamp timestamptz) PARTITION BY LIST (shard)', s);
    EXECUTE format('ALTER TABLE %1$s.shards ATTACH PARTITION %1$s.shard1 FOR VALUES IN (1)', s);
    EXECUTE format('CREATE TABLE %1$s.shard2 PARTITION OF %1$s.shards FOR VALUES IN (2)', s);
    EXECUTE format('INSERT INTO %1$s.shards SELECT 2, g, g %% 27, g * 0.25, g %% 2, g / 2, ''2026-01-01''::timestamptz FROM generate_series(1, 60) g', s);
    EXECUTE format('CREATE TABLE %1$s.dim (shard int, sensor_id int, name text) PARTITION BY LIST (shard)', s);
    EXECUTE format('ALTER TABLE %1$s.dim ATTACH PARTITION %1$s.dim1 FOR VALUES IN (1)', s);
    EXECUTE format('ALTER TABLE %1$s.dim ATTACH PARTITION %1$s.dim2 FOR VALUES IN (2)', s);
  END LOOP;
END $$;

-- views and functions that find their tables by the search path
SET check_function_bodies = off;
DO $$
DECLARE s text;
BEGIN
  FOREACH s IN ARRAY '{remote,heap}'::text[] LOOP
    EXECUTE format('CREATE VIEW %1$s.iv AS SELECT sensor_id, coalesce(name, ''none'') AS nm, state + 0 AS st, 42 AS k FROM %1$s.info', s);
    EXECUTE format('CREATE VIEW %1$s.enriched AS SELECT r.id, r.sensor_id, r.f8, r._bucket, r._log_offset, i.nm, i.st, i.k FROM %1$s.readings r LEFT JOIN %1$s.iv i USING (sensor_id)', s);
    EXECUTE format('CREATE VIEW %1$s.roof WITH (security_barrier) AS SELECT * FROM %1$s.info WHERE site = ''roof''', s);
    EXECUTE format('CREATE VIEW %1$s.everything AS SELECT id, v::float8 AS v, ''event'' AS kind, day::text AS day FROM %1$s.events UNION ALL SELECT id, v, ''visit'', day::text FROM %1$s.visits', s);
    EXECUTE format($f$CREATE FUNCTION %1$s.loop_names(n int) RETURNS SETOF text LANGUAGE plpgsql SET search_path = %1$s, public AS $b$
      DECLARE i int; r record;
      BEGIN
        FOR i IN 0..n LOOP
          SELECT name, state INTO r FROM info WHERE sensor_id = i;
          RETURN NEXT i || ':' || coalesce(r.name, '-');
        END LOOP;
      END $b$ $f$, s);
    EXECUTE format($f$CREATE FUNCTION %1$s.loop_ranges(n int) RETURNS SETOF text LANGUAGE plpgsql SET search_path = %1$s, public AS $b$
      DECLARE i int; r record; c CURSOR (a bigint, z bigint) FOR SELECT id, i2 FROM readings WHERE _bucket = 1 AND _log_offset BETWEEN a AND z ORDER BY _log_offset;
      BEGIN
        FOR i IN 0..n LOOP
          FOR r IN c(i * 3, i * 3 + 4) LOOP
            RETURN NEXT i || ':' || r.id || ':' || coalesce(r.i2::text, 'null');
          END LOOP;
        END LOOP;
      END $b$ $f$, s);
    EXECUTE format($f$CREATE FUNCTION %1$s.loop_errors(n int) RETURNS bigint LANGUAGE plpgsql SET search_path = %1$s, public AS $b$
      DECLARE step int; found record; failed bigint := 0;
      BEGIN
        FOR step IN 1..n LOOP
          BEGIN
            FOR found IN SELECT r.id, 1 / (r.id - step * 7) AS x, i.name FROM readings r LEFT JOIN info i USING (sensor_id) WHERE r.id <= step * 10 LOOP
              NULL;
            END LOOP;
          EXCEPTION WHEN division_by_zero THEN
            failed := failed + 1;
          END;
        END LOOP;
        RETURN failed;
      END $b$ $f$, s);
    EXECUTE format($f$CREATE FUNCTION %1$s.of_sensor(s int) RETURNS SETOF %1$s.readings LANGUAGE sql STABLE SET search_path = %1$s, public AS 'SELECT * FROM readings WHERE sensor_id = s'$f$, s);
    EXECUTE format($f$CREATE FUNCTION %1$s.name_of(s int) RETURNS text LANGUAGE sql VOLATILE SET search_path = %1$s, public AS 'SELECT name FROM info WHERE sensor_id = s'$f$, s);
  END LOOP;
END $$;
CREATE FUNCTION commit_of(int) RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT _commit_timestamp FROM heap.readings WHERE id = $1';
CREATE FUNCTION tick(int) RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT at FROM heap.ticks WHERE id = $1';
ANALYZE loc, pos, heap.shard2, remote.shard2;
