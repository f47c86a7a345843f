--
-- Filters on column vectors: the answer of core's operators, whatever the type
--
\set test vector
\i sql/lib/server.sql
SET jit = off;
ALTER SERVER vector_server OPTIONS (ADD on_data_loss 'ignore');
CREATE SCHEMA vremote;
CREATE SCHEMA vheap;
CREATE FOREIGN TABLE vremote.v (
  id integer, b boolean, i1 smallint OPTIONS (fluss_type 'TINYINT'), i2 smallint, i4 integer, i8 bigint, big numeric(19,0) OPTIONS (fluss_type 'BIGINT'),
  f4 real, f8 double precision, d5 numeric(5,2), d18 numeric(18,4), d38 numeric(38,10), d date, t time(3), t0 time(0), ts0 timestamp(0), ts3 timestamp(3), ts6 timestamp,
  ts9 timestamp OPTIONS (fluss_type 'TIMESTAMP(9)'), tz timestamptz, note text,
  bkt integer OPTIONS (metadata 'bucket'), off bigint OPTIONS (metadata 'log_offset')) SERVER vector_server;
SELECT fluss_create_table('vremote.v', bucket_key => '{id}', bucket_count => 2);
SELECT setseed(0.5);
INSERT INTO vremote.v (id, b, i1, i2, i4, i8, big, f4, f8, d5, d18, d38, d, t, t0, ts0, ts3, ts6, ts9, tz, note)
SELECT g, (ARRAY[true, false, NULL])[1 + g % 3], (g % 256 - 128), (g * 37 % 65536 - 32768), CASE WHEN g % 7 > 0 THEN g * 7919 - 500000 END,
  CASE g % 9 WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775808 ELSE g * 5000000000 END,
  CASE g % 9 WHEN 0 THEN NULL WHEN 1 THEN 9223372036854775807 WHEN 2 THEN -9223372036854775808 ELSE g * 5000000000 END,
  (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', g * 0.1, NULL])[1 + g % 7]::real,
  (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', g * 0.1, NULL, '1e-320', '1.7e308'])[1 + g % 9]::double precision,
  (g % 2000 - 1000) * 0.25, CASE WHEN g % 5 > 0 THEN (g - 300) * 12345678.0001 END, CASE WHEN g % 5 > 0 THEN (g - 300) * 1234567890123456789012345.0000000001 END,
  CASE g % 11 WHEN 0 THEN NULL WHEN 1 THEN '4713-01-01 BC' WHEN 2 THEN '9999-12-31' ELSE date '1970-01-01' + (g - 300) END,
  time '00:00' + (g % 1000) * interval '86.399 seconds', time '00:00' + (g % 1000) * interval '86 seconds',
  timestamp '1970-01-01' + (g - 300) * interval '1 hour', timestamp '1970-01-01' + (g - 300) * interval '1.001 seconds',
  timestamp '1970-01-01' + (g - 300) * interval '0.250001 seconds', timestamp '1970-01-01' + (g - 300) * interval '0.000001 seconds',
  CASE g % 11 WHEN 0 THEN NULL WHEN 1 THEN '4713-01-01 BC' WHEN 2 THEN '290000-12-31 23:59:59.999999Z' ELSE timestamptz '2026-03-29 00:30Z' + (g - 300) * interval '30 minutes' END,
  CASE WHEN g % 4 > 0 THEN 'note ' || g END
FROM generate_series(1, 600) g;
CREATE TABLE vheap.v AS TABLE vremote.v;
SELECT count(*) FROM vheap.v;

-- each of the values against each column, by each operator
CREATE TABLE tests (no serial, q text);
INSERT INTO tests (q)
SELECT format('%s %s %s', col, op, val) FROM (VALUES
  ('i1', '{0,-128,127,3000000000,-1::smallint}'::text[]), ('i2', '{0,-32768,5::smallint,70000}'), ('i4', '{0,-500000,2147483647,9999999999,23757}'),
  ('i8', '{0,15000000000,9223372036854775807,-9223372036854775808,5::smallint}'),
  ('big', '{0,15000000000,15000000000.5,9223372036854775807,9223372036854775808,''NaN'',''Infinity'',''-Infinity'',1e40,-1e40,1e131071,-1e131071,1e-16383}'),
  ('f4', '{0,''-0''::real,0.5::real,0.5::double precision,''NaN'',''Infinity'',''-Infinity'',1e308,40.3}'),
  ('f8', '{0,''-0'',0.5::real,0.1,''NaN'',''Infinity'',''-Infinity'',1e308,1e-320,0.30000000000000004}'),
  ('d5', '{0,-0.25,0.251,249.75,1e10,''NaN'',-12.3456789}'), ('d18', '{0,12345678.0001,12345678.00011,-12345678.00009,''NaN''}'),
  ('d38', '{0,1234567890123456789012345.0000000001,1234567890123456789012345.00000000005,1e40,''NaN'',''-Infinity'',-1e28,34028236692093846346337460744,1e131071,-1e131071,1e-16383,-1e-16383}'),
  ('d', '{''1970-01-01'',''infinity'',''-infinity'',''9999-12-31'',''4713-01-01 BC''}'),
  ('t', '{''00:00'',''24:00'',''12:00:00.0005'',''01:26:23.9''}'), ('t0', '{''00:01:26'',''00:01:26.5'',''24:00''}'),
  ('ts0', '{''1970-01-01'',''1970-01-01 01:00:00.5'',''infinity'',''-infinity'',date ''1970-01-02'',date ''infinity'',date ''500000-01-01''}'),
  ('ts3', '{''1970-01-01'',''1970-01-01 00:00:01.001'',''1970-01-01 00:00:01.0015'',''1969-12-31 23:59:58.9985'',date ''1970-01-01''}'),
  ('ts6', '{''1970-01-01'',''1970-01-01 00:00:00.250001'',''1969-12-31 23:59:59.5'',''294276-12-31 23:59:59.999999''}'),
  ('ts9', '{''1970-01-01'',''1970-01-01 00:00:00.000001'',''1969-12-31 23:59:59.999999'',''infinity''}'),
  ('tz', '{''2026-03-29 00:30Z'',''2026-03-29 03:30'',''infinity'',''290000-12-31 23:59:59.999999Z'',now()}')) AS c(col, vals)
CROSS JOIN unnest(vals) val CROSS JOIN unnest('{=,<>,<,<=,>,>=}'::text[]) op;
INSERT INTO tests (q) SELECT col || ' ' || test FROM unnest('{id,b,i1,i4,f8,d18,d,t,tz}'::text[]) col CROSS JOIN unnest('{IS NULL,IS NOT NULL}'::text[]) test;
INSERT INTO tests (q) SELECT replace('b, NOT b', 'b, NOT b', b) FROM unnest(ARRAY['b', 'NOT b', 'b IS TRUE', 'b IS NOT TRUE', 'b IS FALSE', 'b IS NOT FALSE', 'b IS UNKNOWN',
  'b IS NOT UNKNOWN', 'b = (i4 > 0)', 'b = (now() > ''2000-01-01'')', 'b < (now() > ''2000-01-01'')', 'b <> (now() < ''2000-01-01'')']) b;
INSERT INTO tests (q) VALUES
  ('i4 BETWEEN -1000 AND 90000'), ('NOT (i4 BETWEEN -1000 AND 90000)'), ('i4 BETWEEN SYMMETRIC 90000 AND -1000'), ('100 < i4'), ('0.5 >= f8 AND f8 > -1'),
  ('i4 > 0 AND f8 > 0 AND d > ''1970-01-01'''), ('i4 > 400000 OR f8 = ''NaN'' OR d IS NULL'), ('(i4 > 0 OR b) AND (i4 < 100000 OR NOT b)'), ('NOT (i4 > 0 OR b)'),
  ('i4 > NULL'), ('i4 = (SELECT NULL::int)'), ('i4 > (SELECT max(i4) / 2 FROM vheap.v)'), ('i4 > 0 AND note LIKE ''%7'''), ('i4 > 0 OR note LIKE ''%7'''), ('i4 > 0 AND off > 100'),
  ('i4 > 0 AND off BETWEEN 10 AND 200 AND bkt = 1'), ('i4 > 0 AND off IN (1, 3, 5, 200)'), ('i4 = ANY (ARRAY[23757, 7419])'), ('i4 = i8'), ('i4 > random() * 1e9'), ('i4 + 1 > 5'),
  ('d < ts0'), ('tz > date ''2026-03-29'''), ('ts0 > timestamptz ''1970-01-01Z'''), ('false'), ('i4 > 0 AND true'), ('id % 2 = 0 AND i2 > 5'), ('d5 > d18');
CREATE FUNCTION differ(test text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint; l text := 'SELECT id, i4, f8, note, off FROM vremote.v WHERE ' || test; r text := 'SELECT id, i4, f8, note, off FROM vheap.v WHERE ' || test;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((%s EXCEPT ALL %s) UNION ALL (%s EXCEPT ALL %s)) x', l, r, r, l) INTO n;
  RETURN n;
END $$;
SET timezone = 'Europe/Berlin';
SELECT q FROM tests WHERE q NOT LIKE '%random%' AND differ(q) <> 0;
SET fluss_fdw.enable_vector_filter = off;
SELECT q FROM tests WHERE no % 10 = 0 AND q NOT LIKE '%random%' AND differ(q) <> 0;
RESET fluss_fdw.enable_vector_filter;
SELECT count(*) > 400 AS enough FROM tests;

-- which are on vectors
CREATE FUNCTION filters(test text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; result text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) SELECT * FROM vremote.v WHERE ' || test LOOP
    IF line ~ 'Filter|Offsets' THEN result := result || '; ' || trim(line); END IF;
  END LOOP;
  -- releases name the results of sub-selects differently
  RETURN regexp_replace(substr(result, 3), '\$\d+|\(InitPlan \d+\)\.col1', '$?', 'g');
END $$;
SELECT q, filters(q) FROM tests WHERE no > (SELECT max(no) FROM tests WHERE q LIKE 'tz >=%') ORDER BY no;

-- lists of values
CREATE TEMP TABLE lists AS SELECT q FROM unnest(ARRAY[
  'i1 IN (0, -128, 127)', 'i2 = ANY (''{5,-32768,5,NULL,70000}''::bigint[])', 'i4 IN (30573, 22654, 0)', 'i4 = ANY (''{}''::int[])', 'i4 = ANY (NULL::int[])', 'i4 = ANY (''{NULL}''::int[])',
  'i4 = ANY (''{{30573,22654},{NULL,31676}}''::int[])', 'i8 IN (15000000000, 9223372036854775807, -9223372036854775808)', 'i8 = ANY (''{5,-1}''::smallint[])',
  'big IN (15000000000, 15000000000.5, ''NaN'', ''-Infinity'', 9223372036854775808, 9223372036854775807)', 'f4 IN (0.5, ''NaN'', 40.3)', 'f4 = ANY (''{0.5,40.3,-0,NaN,Infinity,1e-10}''::real[])',
  'f8 IN (''NaN'', 0, ''-Infinity'', 1e-320, 0.30000000000000004)', 'f8 = ANY (''{0.5,NaN,-0}''::real[])', 'f8 = ANY (''{NaN}'')', 'd5 IN (-0.25, 0.251, 249.75, 1e10, -0.250)', 'd18 IN (12345678.0001, 12345678.00011, ''NaN'')',
  'd38 IN (1234567890123456789012345.0000000001, 1e40, ''-Infinity'')', 'd IN (''1970-01-01'', ''infinity'', ''4713-01-01 BC'', ''9999-12-31'')', 't IN (''00:00'', ''24:00'', ''12:00:00.0005'', ''01:26:23.9'')',
  't0 IN (''00:01:26'', ''00:01:26.5'')', 'ts0 IN (''1970-01-01'', ''1970-01-01 01:00:00.5'', ''-infinity'')', 'ts0 = ANY (''{1970-01-02,infinity}''::date[])', 'ts3 IN (''1970-01-01'', ''1970-01-01 00:00:01.001'', ''1970-01-01 00:00:01.0015'')',
  'ts6 IN (''1970-01-01'', ''1970-01-01 00:00:00.250001'')', 'ts9 IN (''1970-01-01'', ''1970-01-01 00:00:00.000001'', ''1969-12-31 23:59:59.999999'', ''infinity'')', 'tz IN (''2026-03-29 00:30Z'', ''2026-03-29 03:30'', ''infinity'')',
  'b IN (true, NULL)', 'b = ANY (''{}'')', 'i4 NOT IN (30573, 22654)', 'i4 IN (30573, 22654) OR f8 IN (0, ''NaN'')', 'i4 IN (30573, 22654) AND id IN (66, 67, 1)', 'NOT (i4 IN (30573, 22654))', 'i4 < ANY (ARRAY[0, 22654])',
  'i4 = ANY (ARRAY(SELECT i4 FROM vheap.v WHERE id < 50))', 'i4 = ANY (ARRAY(SELECT g * 7919 - 500000 FROM generate_series(601, 1, -2) g))', 'i4 IN (i8, 5)', 'i4 IN (id, 5)', 'id = ANY (ARRAY[1, 2, (random() * 0)::int])',
  'tz IN (now(), ''2026-03-29 00:30Z'')', 'note IN (''note 1'', ''note 2'')']) q;
SELECT q, filters(q) FROM lists WHERE q !~ 'NULL::int';
SELECT q FROM lists WHERE differ(q) <> 0;

-- only the filter's columns, and others, are fetched
EXPLAIN (COSTS OFF) SELECT note FROM vremote.v WHERE f8 > 30;
EXPLAIN (COSTS OFF) SELECT count(*) FROM vremote.v a JOIN vremote.v b ON a.id = b.i4 WHERE a.f8 > 30;
CREATE FUNCTION explained(query text, OUT key text, OUT value json) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
  RETURN QUERY SELECT * FROM json_each(plan -> 0 -> 'Plan') x WHERE x.key ~ 'Fluss|Filter|Node Type';
END $$;
SELECT * FROM explained('SELECT f8 FROM vremote.v WHERE f8 > 30 AND off >= 5 AND note > ''a''');
-- the GUC
SET fluss_fdw.enable_vector_filter = off;
SELECT filters('f8 > 30');
RESET fluss_fdw.enable_vector_filter;

-- values that change: parameters, rescans, cursors, generic plans
SET plan_cache_mode = force_generic_plan;
PREPARE p(int, double precision) AS SELECT count(*), sum(id) FROM vremote.v WHERE i4 > $1 AND f8 <= $2;
EXPLAIN (COSTS OFF) EXECUTE p(0, 1);
EXECUTE p(0, 1);
EXECUTE p(100000, 'NaN');
EXECUTE p(NULL, 1);
EXECUTE p(-1000000, 'Infinity');
SELECT count(*), sum(id) FROM vheap.v WHERE i4 > -1000000 AND f8 <= 'Infinity';
PREPARE l(int[]) AS SELECT count(*), sum(id) FROM vremote.v WHERE i4 = ANY ($1);
EXPLAIN (COSTS OFF) EXECUTE l('{}');
EXECUTE l('{30573,22654,NULL}');
EXECUTE l('{}');
EXECUTE l(NULL);
EXECUTE l('{31676,30573,-492081,5}');
RESET plan_cache_mode;
SELECT g, (SELECT count(*) FROM vremote.v WHERE id = ANY (ARRAY[g, g + 1, 2 * g])) FROM generate_series(1, 4) g;
SELECT g, (SELECT count(*) FROM vremote.v WHERE i4 > g) = (SELECT count(*) FROM vheap.v WHERE i4 > g) AS same FROM generate_series(-600000, 5000000, 800000) g;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*), sum(v.id), sum(g) FROM generate_series(0, 3000000, 500000) g JOIN vremote.v ON i4 > g;
SELECT count(*), sum(v.id), sum(g) FROM generate_series(0, 3000000, 500000) g JOIN vheap.v ON i4 > g;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM vremote.v WHERE i4 BETWEEN 100000 AND 160000 AND bkt = 0;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH ALL FROM c;
COMMIT;

-- an error shows where core would show it
SELECT count(*) FROM vremote.v WHERE i4 > 5000000 AND i8 > 1 / (SELECT 0);
SELECT count(*) FROM vremote.v WHERE i4 > 0 AND i8 > 1 / (SELECT 0);
-- a value that PostgreSQL cannot hold is an error unless it is filtered out
CREATE FOREIGN TABLE vremote.w (id integer, at timestamp(6) OPTIONS (fluss_type 'TIMESTAMP(0)')) SERVER vector_server;
SELECT fluss_create_table('vremote.w', bucket_count => 1);
INSERT INTO vremote.w VALUES (1, '2000-01-01'), (2, '2020-01-01 00:00:01'), (3, '1999-12-31');
CREATE FOREIGN TABLE vremote.x (id integer, at timestamp(0)) SERVER vector_server OPTIONS (table_name 'w');
SELECT count(*) FROM vremote.x WHERE at >= '2000-01-01';
CREATE FOREIGN TABLE vremote.y (id integer NOT NULL, d5 numeric(4,1)) SERVER vector_server OPTIONS (table_name 'v');
SELECT count(*) FROM vremote.y WHERE d5 < 1000;
SELECT d5 FROM vremote.y WHERE d5 = -200;

-- a locked row is checked again
BEGIN;
SELECT id FROM vremote.v WHERE i4 = 6816 FOR UPDATE;
COMMIT;

DROP SERVER vector_server CASCADE;
DROP SCHEMA vremote, vheap CASCADE;
DROP TABLE tests;
DROP FUNCTION differ, filters, explained;
