--
-- Whatever the plan, the answer is that of a heap table with the same rows
--
\set test plans
\i sql/lib/server.sql
SET jit = off;

-- many of the queries ask past the end
ALTER SERVER plans_server OPTIONS (ADD on_data_loss 'ignore');
-- the same names twice: in remote and in heap
CREATE SCHEMA remote;
CREATE SCHEMA heap;
CREATE FOREIGN TABLE remote.readings (
  id integer, sensor_id integer, temp double precision, note text, amount numeric(20,4), at timestamp,
  bkt integer OPTIONS (metadata 'bucket'), off bigint OPTIONS (metadata 'log_offset')) SERVER plans_server;
CREATE FOREIGN TABLE remote.info (sensor_id integer NOT NULL, name text, site text) SERVER plans_server;
CREATE FOREIGN TABLE remote.hist (sensor_id integer NOT NULL, day text NOT NULL, v bigint) SERVER plans_server;
CREATE FOREIGN TABLE remote.facts (k1 text NOT NULL, k2 date NOT NULL, k3 bigint NOT NULL, k4 numeric(12,3) NOT NULL, v integer) SERVER plans_server;
CREATE FOREIGN TABLE remote.nothing (id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER plans_server;
SELECT fluss_create_table('remote.readings', bucket_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('remote.info', primary_key => '{sensor_id}', bucket_count => 3);
SELECT fluss_create_table('remote.hist', primary_key => '{sensor_id,day}', bucket_key => '{sensor_id}', bucket_count => 2);
SELECT fluss_create_table('remote.facts', primary_key => '{k1,k2,k3,k4}', bucket_count => 3);
SELECT fluss_create_table('remote.nothing', bucket_count => 2);
INSERT INTO remote.readings (id, sensor_id, temp, note, amount, at)
  SELECT g, CASE WHEN g % 17 > 0 THEN g % 25 END,
    (ARRAY['NaN', 'Infinity', '-Infinity', '-0', '0', g::text])[1 + g % 6]::double precision,
    CASE WHEN g % 4 > 0 THEN chr(97 + g % 26) || repeat('x', g % 5) END, CASE WHEN g % 6 > 0 THEN g * 1.0001 END,
    timestamp '2026-08-04' + g * interval '7 minutes 3.000001 seconds' FROM generate_series(1, 60) g;
INSERT INTO remote.readings (id, sensor_id, note) SELECT g + 60, g, CASE g WHEN 30 THEN 'last' ELSE 'z' END FROM generate_series(1, 30) g;
INSERT INTO remote.readings (id, sensor_id) SELECT g + 90, g FROM generate_series(1, 30) g;
INSERT INTO remote.info SELECT g, CASE WHEN g % 5 > 0 THEN 'sensor ' || g END, (ARRAY['roof', 'lab', 'ROOF', NULL])[1 + g % 4] FROM generate_series(0, 40) g;
INSERT INTO remote.hist SELECT g % 7, (ARRAY['mon', 'tue', 'wed', 'longer than seven', 'é', ''])[1 + g % 6], g FROM generate_series(0, 41) g;
INSERT INTO remote.facts
  SELECT (ARRAY['a', 'bb', 'longer than seven', 'é'])[1 + g % 4], date '1969-12-30' + g % 5, (g % 3 - 1) * 5000000000, (g % 7) * 0.125 - 0.25, g
  FROM generate_series(0, 419) g;
CREATE TABLE heap.readings AS TABLE remote.readings;
CREATE TABLE heap.info AS TABLE remote.info;
CREATE TABLE heap.hist AS TABLE remote.hist;
CREATE TABLE heap.facts AS TABLE remote.facts;
CREATE TABLE heap.nothing AS TABLE remote.nothing;
SELECT (SELECT count(*) FROM heap.readings) AS readings, (SELECT count(*) FROM heap.info) AS info, (SELECT count(*) FROM heap.hist) AS hist,
  (SELECT count(*) FROM heap.facts) AS facts, (SELECT count(*) FROM heap.nothing) AS nothing;
CREATE TABLE loc (id integer, tag text, d date, b bigint, n numeric, s smallint);
INSERT INTO loc VALUES
  (1, 'mon', '1970-01-01', 0, 0.25, 1), (2, 'tue', '1970-01-02', 5000000000, 0.5, 2), (2, 'tue', '1969-12-31', -5000000000, -0.25, 3),
  (NULL, NULL, NULL, NULL, NULL, NULL), (999, 'none', '2020-01-01', 999, 99.99, 999), (0, '', '1970-01-01', 4, 1.00, 0),
  (5, 'a', '1970-01-03', 10, 0.2501, 5), (7, 'bb', '1970-01-01', 20, 'NaN', 7), (30, 'longer than seven', '1969-12-30', 1, 0.125, 30);
ANALYZE loc, heap.readings, heap.info, heap.hist, heap.facts;

CREATE TABLE queries (no serial, q text);
INSERT INTO queries (q) VALUES
  -- joins, and their rescans
  ('SELECT l.id, r.off FROM loc l JOIN readings r ON r.sensor_id > l.id'),
  ('SELECT l.id, r.* FROM loc l JOIN readings r ON r.off > l.id AND r.off <= l.id + 5 AND r.bkt = l.id % 3'),
  ('SELECT i.*, r.off FROM info i JOIN readings r USING (sensor_id)'),
  ('SELECT i.*, r.off FROM readings r JOIN info i USING (sensor_id)'),
  ('SELECT r.off, i.name, h.v FROM readings r LEFT JOIN info i USING (sensor_id) LEFT JOIN hist h ON h.sensor_id = i.sensor_id AND h.day = ''mon'''),
  ('SELECT l.*, i.name FROM loc l RIGHT JOIN info i ON i.sensor_id = l.id'),
  ('SELECT l.*, i.name FROM loc l FULL JOIN info i ON i.sensor_id = l.id'),
  ('SELECT * FROM loc l JOIN hist h ON h.sensor_id = l.id AND h.day = l.tag AND h.v >= length(l.tag)'),
  ('SELECT l.id, f.v FROM loc l JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n'),
  ('SELECT l.id, f.v FROM loc l JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.id AND f.k4 = l.s'),
  ('SELECT count(*) FROM facts a JOIN facts b USING (k1, k2, k3, k4) JOIN facts c USING (k1, k2, k3, k4)'),
  ('SELECT count(*) FROM readings a JOIN readings b ON b.off = a.off + 1 AND b.bkt = a.bkt JOIN readings c ON c.off = b.off + 1 AND c.bkt = b.bkt'),
  ('SELECT count(*) FROM loc l JOIN nothing n ON n.off > l.id'),
  -- outer rows in lateral subqueries, in scalar subqueries, in target lists
  ('SELECT l.id, x.* FROM loc l LEFT JOIN LATERAL (SELECT * FROM info i WHERE i.sensor_id = l.id AND false) x ON true'),
  ('SELECT * FROM (SELECT * FROM loc WHERE false) l, LATERAL (SELECT * FROM info i WHERE i.sensor_id = l.id) x'),
  ('SELECT l.id, x.* FROM loc l CROSS JOIN LATERAL (SELECT l.id + 1 AS more, i.name FROM info i) x'),
  ('SELECT l.id, x.* FROM loc l CROSS JOIN LATERAL (SELECT l.tag || h.day AS day FROM hist h WHERE h.v < 3 OFFSET 0) x'),
  ('SELECT l.id, x.m FROM loc l LEFT JOIN LATERAL (SELECT max(temp) AS m FROM readings WHERE off BETWEEN l.id AND l.id + l.s) x ON true'),
  ('SELECT c.id, (SELECT max(off) FROM readings WHERE bkt = c.id % 3 AND off < c.id * 10) FROM generate_series(0, 8) c(id)'),
  ('SELECT r.*, (SELECT name FROM info i WHERE i.sensor_id = r.sensor_id) FROM readings r'),
  ('SELECT i.sensor_id, (SELECT i FROM info j WHERE j.sensor_id = i.sensor_id + 1) FROM info i'),
  -- semi and anti joins, NULL
  ('SELECT count(*) FROM readings WHERE sensor_id NOT IN (SELECT id FROM loc WHERE id IS NOT NULL)'),
  ('SELECT count(*) FROM readings WHERE sensor_id NOT IN (SELECT id FROM loc)'),
  ('SELECT * FROM info WHERE sensor_id IN (SELECT id FROM loc)'),
  ('SELECT * FROM info WHERE sensor_id IN (SELECT s FROM loc)'),
  ('SELECT * FROM loc l WHERE NOT EXISTS (SELECT FROM info i WHERE i.sensor_id = l.id)'),
  ('SELECT * FROM loc l WHERE l.id NOT IN (SELECT sensor_id FROM info)'),
  ('SELECT * FROM info WHERE sensor_id = (SELECT NULL::int)'),
  ('SELECT * FROM info WHERE sensor_id = (SELECT max(id) FROM loc WHERE id < 10)'),
  ('SELECT * FROM info WHERE sensor_id = ANY (ARRAY(SELECT id FROM loc))'),
  ('SELECT count(*) FROM hist WHERE (sensor_id, day) IN (SELECT id, tag FROM loc)'),
  ('SELECT l.id FROM loc l LEFT JOIN info i ON i.sensor_id = l.id WHERE i IS NULL'),
  -- conditions on both sides of a join, and those that no index condition can be
  ('SELECT r.off, i.name FROM readings r JOIN info i USING (sensor_id) WHERE r.note > ''m'' AND i.site ~ ''o'' AND r.off BETWEEN 3 AND 17'),
  ('SELECT a.sensor_id, b.name FROM info a LEFT JOIN info b ON a.sensor_id + 1 = b.sensor_id AND upper(b.site) = ''ROOF'''),
  ('SELECT count(*) FROM readings r JOIN info i ON i.sensor_id = (r.note || ''1'')::text::json::text::varchar::text::int WHERE r.note IS NULL'),
  ('SELECT * FROM hist WHERE sensor_id IN (1, 2, 2, NULL) AND day IN (''mon'', ''é'', ''nope'') AND v > 3'),
  ('SELECT * FROM facts WHERE k1 = ''a'' AND k2 IN (''1970-01-01'', ''1969-12-31'') AND k3 = ANY (''{0,5000000000,7}''::bigint[]) AND k4 IN (0.25, 0.2501, ''NaN'', 0.50000, 1e30)'),
  ('SELECT * FROM info WHERE sensor_id = 1 OR site = ''lab'''),
  ('SELECT * FROM info WHERE sensor_id = 3 AND sensor_id IS NOT NULL AND sensor_id <> 4'),
  ('SELECT bkt, off FROM readings WHERE (bkt = 0 AND off < 3) OR (bkt = 1 AND off IN (1, 2, 5)) OR off = 7 OR (bkt = 2 AND off > 50 AND note IS NULL)'),
  ('SELECT bkt, off FROM readings WHERE NOT (bkt = 1 OR off > 5)'),
  ('SELECT bkt, off FROM readings WHERE off < 20 AND off = ANY (ARRAY[3, NULL, 3, -1, 9]::int[]) IS NOT FALSE'),
  ('SELECT count(*) FROM readings WHERE off > 9223372036854775807 OR off < -9223372036854775807'),
  ('SELECT count(*) FROM readings WHERE off <= 9223372036854775807 AND bkt < 9223372036854775807'),
  ('SELECT count(*) FROM readings WHERE off BETWEEN 2.5 AND 7.5'),
  -- limits, groups, sets, windows
  ('SELECT count(*) FROM (SELECT * FROM readings r JOIN loc ON loc.id = r.sensor_id JOIN info USING (sensor_id) WHERE note = ''last'' LIMIT 1) x'),
  ('SELECT * FROM info WHERE name LIKE ''%39'' LIMIT 1'),
  ('SELECT count(*) FROM (SELECT DISTINCT site FROM info LIMIT 3) x'),
  ('SELECT count(*), max(n) FROM (SELECT row_number() OVER () AS n FROM info LIMIT 3) x'),
  ('SELECT site, count(*), sum(sensor_id) FROM info GROUP BY site HAVING count(*) > 5'),
  ('SELECT day FROM hist UNION SELECT site FROM info EXCEPT SELECT note FROM readings'),
  ('SELECT sensor_id FROM readings WHERE off < 9 UNION ALL (SELECT sensor_id FROM info ORDER BY sensor_id LIMIT 4)'),
  ('SELECT name FROM info ORDER BY name COLLATE "C" DESC NULLS LAST LIMIT 7'),
  ('SELECT count(*) FROM info a JOIN info b ON a.name = b.name'),
  ('SELECT bkt, max(off), count(note), count(*) FROM readings GROUP BY ROLLUP (bkt)'),
  ('WITH w AS MATERIALIZED (SELECT * FROM readings WHERE off < 20) SELECT w.off, i.name FROM w JOIN info i USING (sensor_id) WHERE i.sensor_id < 10'),
  ('WITH RECURSIVE w AS (SELECT 0 AS id UNION ALL SELECT i.sensor_id + 3 FROM w JOIN info i ON i.sensor_id = w.id) SELECT * FROM w'),
  ('SELECT r FROM readings r WHERE off = 3'),
  ('SELECT count(r), count(DISTINCT r.bkt) FROM readings r'),
  -- floating point, infinity
  ('SELECT off FROM readings WHERE temp = ''NaN'''),
  ('SELECT off FROM readings WHERE temp = 0'),
  ('SELECT off, temp FROM readings WHERE temp > 1e308'),
  ('SELECT count(*) FROM readings WHERE at < ''infinity'' AND at > ''-infinity''');

CREATE FUNCTION answer(place text, q text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE result text[];
BEGIN
  PERFORM set_config('search_path', place || ', public', true);
  EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || q || ') x' INTO result;
  PERFORM set_config('search_path', 'public', true);
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY[SQLSTATE];
END $$;
CREATE TABLE answers AS SELECT no, q, answer('heap', q) FROM queries;
SELECT count(*) AS queries, count(answer) AS with_rows, sum(cardinality(answer)) AS rows FROM answers;
-- what differs under the current settings
CREATE VIEW wrong AS SELECT no, q FROM answers WHERE answer('remote', q) IS DISTINCT FROM answer ORDER BY no;
TABLE wrong;
SET enable_hashjoin = off;
TABLE wrong;
SET enable_mergejoin = off;
TABLE wrong;
SET enable_material = off; SET enable_memoize = off;
TABLE wrong;
RESET enable_hashjoin; SET enable_nestloop = off;
TABLE wrong;
RESET enable_mergejoin; SET enable_hashjoin = off;
TABLE wrong;
RESET enable_hashjoin; RESET enable_nestloop; RESET enable_material; RESET enable_memoize;
SET enable_hashagg = off; SET enable_sort = off;
TABLE wrong;
RESET enable_hashagg; RESET enable_sort;
-- where all plans are parallel that can be
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
TABLE wrong;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
-- planned as for large tables, with nothing asked of the cluster
ALTER SERVER plans_server OPTIONS (ADD use_remote_estimate 'off');
TABLE wrong;
ALTER SERVER plans_server OPTIONS (SET use_remote_estimate 'on');
-- one key and one row at a time
ALTER SERVER plans_server OPTIONS (ADD lookup_max_batch_size '1', ADD fetch_max_bytes '1kB', ADD fetch_inflight '1');
TABLE wrong;
ALTER SERVER plans_server OPTIONS (DROP lookup_max_batch_size, DROP fetch_max_bytes, DROP fetch_inflight);
-- looked at from within
DO $$
BEGIN
  LOAD 'auto_explain';
EXCEPTION WHEN undefined_file THEN
  NULL;
END $$;
SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on; SET auto_explain.log_verbose = on; SET auto_explain.log_nested_statements = on;
TABLE wrong;
RESET auto_explain.log_min_duration;

-- parameters, with values of other types, and NULL; the ninth execution is like the first
CREATE FUNCTION executed(place text, types text, q text, VARIADIC arguments text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE result text[]; one text[]; a text;
BEGIN
  PERFORM set_config('search_path', place || ', public', true);
  EXECUTE 'PREPARE executed_query (' || types || ') AS SELECT array_agg(x::text ORDER BY x::text) FROM (' || q || ') x';
  FOR i IN 1..9 LOOP
    FOREACH a IN ARRAY arguments LOOP
      EXECUTE 'EXECUTE executed_query (' || a || ')' INTO one;
      result := result || coalesce(array_to_string(one, ' '), 'none');
    END LOOP;
  END LOOP;
  DEALLOCATE executed_query;
  PERFORM set_config('search_path', 'public', true);
  RETURN result;
END $$;
CREATE VIEW wrong_executions AS
SELECT types, q FROM (VALUES
  ('bigint', 'SELECT * FROM readings WHERE bkt = 1 AND off BETWEEN $1 AND $1 + 9', ARRAY['3', '0', 'NULL', '50', '-4']),
  ('smallint', 'SELECT off FROM readings WHERE bkt = $1 AND off < 4', ARRAY['1', '0', 'NULL', '77']),
  ('text[]', 'SELECT * FROM hist WHERE day = ANY ($1)', ARRAY['''{mon,tue}''', 'NULL', '''{}''', '''{NULL,é}''']),
  ('varchar[]', 'SELECT * FROM hist WHERE sensor_id = 3 AND day = ANY ($1)', ARRAY['''{mon,tue}''', 'NULL', '''{}''', '''{NULL,é}''']),
  ('bigint[]', 'SELECT * FROM info WHERE sensor_id = ANY ($1)', ARRAY['''{1,2,2}''', '''{5000000000,3}''', 'NULL', '''{}''']),
  ('smallint[]', 'SELECT * FROM info WHERE sensor_id = ANY ($1)', ARRAY['''{1,2,2}''', '''{{4},{5}}''', 'NULL']),
  ('int[]', 'SELECT bkt, off FROM readings WHERE off = ANY ($1)', ARRAY['''{1,2,2}''', '''{-1,NULL}''', 'NULL']),
  ('text, date, bigint, numeric', 'SELECT v FROM facts WHERE k1 = $1 AND k2 = $2 AND k3 = $3 AND k4 = $4',
    ARRAY['''a'', ''1970-01-01'', 0, 0.25', '''é'', ''1969-12-31'', 5000000000, 0.5000', 'NULL, NULL, NULL, NULL', '''a'', ''infinity'', 0, 0.25', '''a'', ''1970-01-01'', 0, ''NaN''']),
  ('int', 'SELECT $1, count(*) FROM readings GROUP BY 1', ARRAY['1', 'NULL']),
  ('int', 'SELECT $1 AS p, i.name FROM info i JOIN loc ON loc.id = i.sensor_id WHERE i.sensor_id = $1', ARRAY['1', '2', 'NULL', '999'])
) v (types, q, arguments)
WHERE executed('remote', types, q, VARIADIC arguments) IS DISTINCT FROM executed('heap', types, q, VARIADIC arguments);
TABLE wrong_executions;
SET plan_cache_mode = force_generic_plan;
TABLE wrong_executions;
RESET plan_cache_mode;

-- a volatile function is evaluated for each row
CREATE SEQUENCE calls;
SELECT count(*) FROM remote.readings WHERE off = nextval('calls') - 1000;
SELECT currval('calls');
SELECT count(*) BETWEEN 0 AND 120 FROM remote.readings WHERE off > random() * 10;

-- an OR of thousands of ranges is one range each, and takes neither time nor memory that grows with their square
CREATE FUNCTION many_ranges(n integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
  EXECUTE (SELECT 'SELECT count(*) FROM remote.readings WHERE ' || string_agg(format('(bkt = 1 AND off = %s)', g), ' OR ') FROM generate_series(1, n) g) INTO result;
  RETURN result;
END $$;
SELECT many_ranges(4000) = (SELECT count(*) FROM heap.readings WHERE bkt = 1 AND off >= 1) AS same;
-- most memory that this backend ever had, in kilobytes
SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::integer < 200000 AS little;

ALTER SERVER plans_server OPTIONS (DROP on_data_loss);
-- ranges past the end are told of once for each bucket, also over rescans
SELECT count(*) FROM remote.readings WHERE bkt = 1 AND off = ANY (ARRAY(SELECT g FROM generate_series(1000, 1500, 10) g));
SET enable_material = off;
SELECT count(*) FROM generate_series(1000, 1010) g, LATERAL (SELECT 1 FROM remote.readings WHERE bkt = 1 AND off >= g OFFSET 0) x;
RESET enable_material;

-- a failure to plan is not remembered when the table is there in the end
CREATE FOREIGN TABLE late (id integer) SERVER plans_server;
DO $$
BEGIN
  EXECUTE 'EXPLAIN SELECT * FROM late';
  PERFORM fluss_create_table('late');
  INSERT INTO late VALUES (1);
  RAISE WARNING '% row', (SELECT count(*) FROM late);
END $$;

SELECT fluss_drop_database('plans_server', 'regress_plans', cascade => true);
DROP VIEW wrong, wrong_executions;
DROP TABLE queries, answers, loc;
DROP FUNCTION answer, executed, many_ranges;
DROP SEQUENCE calls;
DROP SCHEMA heap CASCADE;
DROP SERVER plans_server CASCADE;
DROP SCHEMA remote CASCADE;
