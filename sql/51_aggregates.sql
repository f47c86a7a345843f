--
-- Aggregates on column vectors: core's results to the last bit
--
\set test agg
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
ALTER SERVER agg_server OPTIONS (ADD on_data_loss 'ignore');
CREATE SCHEMA aremote;
CREATE SCHEMA aheap;
CREATE FOREIGN TABLE aremote.v (
  id integer, i1 smallint OPTIONS (fluss_type 'TINYINT'), i2 smallint, i4 integer, i8 bigint, big numeric OPTIONS (fluss_type 'BIGINT'),
  f4 real, f8 double precision, d18 numeric(18,4), d38 numeric(38,2), d date, t time(3), ts timestamp(3), tz timestamptz, note text, b boolean,
  bkt integer OPTIONS (metadata 'bucket'), off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER agg_server;
CREATE FOREIGN TABLE aremote.none (id integer, f8 double precision, off bigint OPTIONS (metadata 'log_offset')) SERVER agg_server;
SELECT fluss_create_table('aremote.v', bucket_key => '{id}', bucket_count => 2);
SELECT fluss_create_table('aremote.none', bucket_count => 1);
INSERT INTO aremote.v (id, i1, i2, i4, i8, big, f4, f8, d18, d38, d, t, ts, tz, note, b)
SELECT g, g % 256 - 128, g * 37 % 65536 - 32768, CASE WHEN g % 7 > 0 THEN 2147483647 - g * 3 END,
  CASE g % 9 WHEN 0 THEN NULL ELSE 9223372036854775807 - g END, CASE g % 9 WHEN 0 THEN NULL ELSE g - 9223372036854775807 END,
  CASE WHEN g % 5 > 0 THEN g * 0.1 END, CASE WHEN g % 5 > 0 THEN sin(g) * 1e6 END,
  CASE WHEN g % 5 > 0 THEN (g - 200) * 12345678.0001 END, CASE WHEN g % 3 > 0 THEN 999999999999999999999999999999999999.99 - g END,
  CASE WHEN g % 11 > 0 THEN date '1970-01-01' + (g - 300) END, time '00:00' + (g % 1000) * interval '86.399 seconds',
  timestamp '1970-01-01' + (g - 300) * interval '1.001 seconds', timestamptz '2026-03-29 00:30Z' + (g - 300) * interval '30 minutes', 'note ' || g, g % 2 = 0
FROM generate_series(1, 700) g;
CREATE TABLE aheap.v AS TABLE aremote.v;
CREATE TABLE aheap.none AS TABLE aremote.none;

CREATE TABLE tests (no serial, list text, rest text DEFAULT 'v');
INSERT INTO tests (list) SELECT format('%s(%s)', f, c) FROM unnest('{sum,avg,min,max,count}'::text[]) f,
  unnest('{i1,i2,i4,i8,big,d18,d38}'::text[]) c;
-- the sums of one scan order are those of another only for one bucket
INSERT INTO tests (list, rest) SELECT format('%s(%s)', f, c), 'v WHERE bkt = ' || g % 2 FROM unnest('{sum,avg,min,max,count}'::text[]) f,
  unnest('{f4,f8}'::text[]) c, generate_series(0, 1) g;
INSERT INTO tests (list) SELECT format('%s(%s)', f, c) FROM unnest('{min,max,count}'::text[]) f, unnest('{d,t,ts,tz}'::text[]) c;
INSERT INTO tests (list, rest) SELECT 'count(*), sum(i8), avg(i4), min(d), max(f8), count(f4)', 'v WHERE ' || w FROM unnest(ARRAY['i4 > 0', 'i4 < 0', 'f8 > 30 AND d > ''1970-02-01''',
  'off >= 10', 'off BETWEEN 100 AND 110', 'off > 7 AND off < 3', 'bkt = 1', 'bkt = 1 AND off IN (1, 2, 3, 200) AND i4 > 0', 'i4 IS NULL', 'b', 'NOT b OR f8 > 30', 'i8 = (SELECT NULL::int)']) w;
INSERT INTO tests (list, rest) VALUES
  ('count(*)', 'v'), ('count(1)', 'v'), ('count(*), count(NULL)', 'v'), ('count(*) + 1, sum(i8) / nullif(count(i8), 0) AS x', 'v'), ('min(off), max(off), count(*)', 'v'),
  ('min(off), max(off)', 'v WHERE i4 > 2147483000'), ('min(off), max(off)', 'v WHERE off > 40 AND bkt = 1'), ('max(off) - min(off)', 'v'), ('max(off)', 'v WHERE off < 100'), ('min(at), max(at)', 'v'),
  ('min(off), max(off)', 'v WHERE off > 5000'), ('min(off), max(off), count(*), sum(id), avg(f8), min(f8), max(f8), count(id)', 'none'), ('min(off), max(off)', 'v WHERE bkt = 7'),
  ('1', 'v HAVING count(*) > 0'), ('1', 'v HAVING count(*) < 0'), ('count(*)', 'v HAVING false'), ('count(*)', 'v WHERE false'), ('count(*)', 'v WHERE now() < ''2000-01-01'''),
  ('count(DISTINCT i1), sum(DISTINCT i2)', 'v'), ('count(*) FILTER (WHERE i4 > 0), count(*)', 'v'), ('string_agg(note, '','' ORDER BY id)', 'v WHERE id < 10'), ('count(note)', 'v'),
  ('count(*), b', 'v GROUP BY b'), ('count(*)', 'v GROUP BY ()'), ('count(*)', 'v GROUP BY GROUPING SETS ((), ())'), ('count(*)', 'v a JOIN v b USING (id)'), ('count(*)', 'v WHERE note LIKE ''%7'''),
  ('count(*), generate_series(1, 3) AS g', 'v'), ('count(*), (SELECT max(i4) FROM v) AS m', 'v'), ('count(*), row_number() OVER ()', 'v'), ('DISTINCT count(*)', 'v'),
  ('count(*)', '(SELECT * FROM v LIMIT 10) x'), ('count(*), sum(i4)', '(SELECT i4 FROM v WHERE i4 > 5 OFFSET 0) x'), ('sum(c)', '(SELECT count(*) AS c FROM v UNION ALL SELECT count(*) FROM none) x'),
  ('count(*)', 'v WHERE i4 > (SELECT avg(i4) FROM v)'), ('g.g, x.c', 'generate_series(0, 4) g, LATERAL (SELECT count(*) AS c, max(off) FROM v WHERE i1 > g.g * 30 AND off > g.g) x'),
  ('g, (SELECT count(*) FROM v WHERE i1 = g), (SELECT max(off) FROM v WHERE bkt = g AND off < g * 10 + 5)', 'generate_series(-1, 4) g'), ('bit_and(i4)', 'v'), ('sum(i4 + 1)', 'v'), ('sum(i4::bigint)', 'v'),
  ('stddev(f8) > 0', 'v'), ('count(v)', 'v'), ('count(*), max(bkt)', 'v'), ('exists (SELECT count(*) FROM v)', 'none'), ('sum(i4)', 'v WHERE id < 4 LIMIT 0'), ('sum(i4)', 'v ORDER BY 1 LIMIT 1');
CREATE FUNCTION differ(list text, rest text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE l text; r text; q text := format('SELECT string_agg(x::text, '' '' ORDER BY x::text) FROM (SELECT %s FROM %s) x', list, rest);
BEGIN
  SET LOCAL search_path = aremote, public;
  EXECUTE q INTO l;
  SET LOCAL search_path = aheap, public;
  EXECUTE q INTO r;
  RETURN CASE WHEN l IS DISTINCT FROM r THEN format('%s instead of %s', l, r) END;
END $$;
SET extra_float_digits = 3;
SELECT no, list, rest, differ(list, rest) FROM tests WHERE differ(list, rest) IS NOT NULL;
SET fluss_fdw.enable_vector_filter = off;
SELECT no, list, rest, differ(list, rest) FROM tests WHERE no > 80 AND differ(list, rest) IS NOT NULL;
SET fluss_fdw.enable_aggregate_pushdown = off;
SELECT no, list, rest, differ(list, rest) FROM tests WHERE no > 80 AND differ(list, rest) IS NOT NULL;
RESET fluss_fdw.enable_vector_filter;
RESET fluss_fdw.enable_aggregate_pushdown;

-- which are on vectors
SET search_path = aremote, public;
CREATE FUNCTION public.pushed(list text, rest text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan text; n bigint := 0;
BEGIN
  FOR plan IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT %s FROM %s', list, rest) LOOP
    n := n + (plan LIKE '%Relations: Aggregate%')::int;
  END LOOP;
  RETURN n;
END $$;
SELECT count(*) FROM tests WHERE no <= 79 AND pushed(list, rest) <> 1;
SELECT list, rest, pushed(list, rest) FROM tests WHERE no > 79 ORDER BY no;
EXPLAIN (COSTS OFF) SELECT count(*) FROM v;
EXPLAIN (COSTS OFF) SELECT count(*) + 1, sum(f8) AS s, sum(f8), max(d) FROM v AS w WHERE f8 > 30 AND off > 5;
CREATE FUNCTION explained(query text, OUT key text, OUT value json) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
  RETURN QUERY SELECT * FROM json_each(plan -> 0 -> 'Plan') x WHERE x.key ~ 'Fluss|Filter|Relations|Node Type';
END $$;
SELECT * FROM explained('SELECT avg(i4) FROM v WHERE i4 BETWEEN 1 AND 10');
DROP FUNCTION explained;
EXPLAIN (COSTS OFF) SELECT min(off), max(off) FROM v;

-- floating point, and its errors
CREATE FOREIGN TABLE aremote.f (id integer, f4 real, f8 double precision) SERVER agg_server;
SELECT fluss_create_table('aremote.f', bucket_count => 1);
CREATE FUNCTION public.try(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r text;
BEGIN
  EXECUTE 'SELECT row(' || q || ')::text FROM f' INTO r;
  RETURN r;
EXCEPTION WHEN OTHERS THEN
  RETURN sqlerrm;
END $$;
CREATE TABLE aheap.f (id integer, f4 real, f8 double precision);
CREATE FUNCTION public.floats(a text) RETURNS TABLE (q text, result text, heap text) LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL search_path = aremote, public;
  PERFORM fluss_drop_table('aremote.f');
  PERFORM fluss_create_table('aremote.f', bucket_count => 1);
  INSERT INTO aremote.f SELECT i, CASE WHEN abs(x) > 1e38 AND x <> 'Infinity' AND x <> '-Infinity' THEN 0 ELSE x END, x FROM unnest(a::double precision[]) WITH ORDINALITY AS u(x, i);
  TRUNCATE aheap.f;
  INSERT INTO aheap.f SELECT i, CASE WHEN abs(x) > 1e38 AND x <> 'Infinity' AND x <> '-Infinity' THEN 0 ELSE x END, x FROM unnest(a::double precision[]) WITH ORDINALITY AS u(x, i);
  FOR q IN SELECT format('%s(%s)', f, c) FROM unnest('{sum,avg,min,max}'::text[]) f, unnest('{f4,f8}'::text[]) c LOOP
    SET LOCAL search_path = aremote, public;
    result := try(q);
    SET LOCAL search_path = aheap, public;
    heap := try(q);
    RETURN NEXT;
  END LOOP;
END $$;
SELECT a, f.* FROM unnest(ARRAY['{1,2,3.3,NULL}', '{-0,0}', '{0,-0}', '{-0}', '{NaN,1}', '{1,NaN,2}', '{Infinity,1,-Infinity}', '{Infinity,Infinity}', '{1,Infinity,NaN}', '{NULL,NULL}',
  '{1e308,1e308}', '{1e308,1e308,-1e308}', '{1e200,-1e200}', '{1e160}', '{1e154,-1e154,1}', '{1e150,-1e150,1}', '{1e308,Infinity}', '{Infinity,1e308,1e308}', '{NaN,1e308,1e308}', '{3e38,3e38}', '{0.1,0.2,0.3,1e-30,-0.6}']) a,
  floats(a) f WHERE result IS DISTINCT FROM heap;
SELECT * FROM floats('{1e200,-1e200,3e37}');

-- an error of a value shows, unless it is filtered out
CREATE FOREIGN TABLE aremote.narrow (id integer NOT NULL, i4 integer NOT NULL, d18 numeric(12,1), ts timestamp(0)) SERVER agg_server OPTIONS (table_name 'v');
SELECT count(*) FROM narrow;
SELECT count(i4) FROM narrow;
SELECT count(*) FROM narrow WHERE i4 IS NULL OR id > 0;
SELECT sum(i4) FROM narrow WHERE id = 1;
SELECT sum(d18) FROM narrow;
SELECT max(d18) FROM narrow WHERE id = 200;
SELECT min(ts) FROM narrow;
SELECT min(ts), max(ts), count(ts) FROM narrow WHERE ts = '1970-01-01';

-- parameters, generic plans, cursors, one statement's ends
SET plan_cache_mode = force_generic_plan;
PREPARE p(int, bigint) AS SELECT count(*), max(off) FROM v WHERE i4 > $1 AND off < $2;
EXECUTE p(0, 100);
EXECUTE p(2147483000, 300);
EXECUTE p(NULL, 300);
EXECUTE p(0, NULL);
EXECUTE p(0, 0);
RESET plan_cache_mode;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) FROM v;
INSERT INTO v (id) SELECT g FROM generate_series(1, 5) g;
SELECT count(*) FROM v;
COMMIT;
SELECT count(*), count(i4) FROM v;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT count(*), sum(id) FROM v WHERE bkt = 0;
FETCH ALL FROM c;
FETCH BACKWARD ALL FROM c;
FETCH ALL FROM c;
COMMIT;
CREATE VIEW public.counted AS SELECT count(*) AS n FROM v;
SELECT * FROM counted;
SET search_path = public;
DROP SERVER agg_server CASCADE;
DROP SCHEMA aremote, aheap CASCADE;
DROP TABLE tests;
DROP FUNCTION differ, pushed, floats, try;
