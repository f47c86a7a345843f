--
-- Lookup joins: the same answers as of heap tables, whatever joins they are made of
--
\set test join
\i sql/lib/server.sql
SET jit = off;

CREATE SCHEMA remote;
CREATE SCHEMA heap;
CREATE TABLE heap.readings (off bigint, sensor_id int, t float8, pred int);
INSERT INTO heap.readings SELECT g, CASE WHEN g % 7 = 0 THEN NULL ELSE (g * 13) % 25 END, g * 1.5, g % 3 FROM generate_series(0, 60) g;
CREATE TABLE heap.info (sensor_id int PRIMARY KEY, name text, location text, state int);
INSERT INTO heap.info SELECT g, 'n' || g, CASE WHEN g % 3 = 0 THEN 'roof' ELSE 'lobby' END, nullif(g % 4, 3) FROM generate_series(1, 20) g;
CREATE TABLE heap.info2 (sensor_id int PRIMARY KEY, name text, state int);
INSERT INTO heap.info2 SELECT g, 'm' || g, nullif(g % 5, 2) FROM generate_series(3, 22, 2) g;
-- several key columns of several types
CREATE TABLE heap.facts (k1 text, k2 date, k3 bigint, k4 numeric(10,3), v int);
INSERT INTO heap.facts
  SELECT (ARRAY['a', 'bb', 'longer than seven', 'é'])[1 + g % 4], date '1969-12-30' + g % 5, (g % 3 - 1) * 5000000000, (g % 7) * 0.125 - 0.25, g
  FROM generate_series(0, 419) g;
CREATE TABLE loc (id int, tag text, d date, b bigint, n numeric, s smallint);
INSERT INTO loc VALUES
  (1, 'a', '1970-01-01', 0, 0.25, 1), (2, 'bb', '1970-01-02', 5000000000, 0.5, 2), (2, 'bb', '1969-12-31', -5000000000, -0.25, 3),
  (NULL, NULL, NULL, NULL, NULL, NULL), (999, 'z', '2020-01-01', 999, 99.99, 999), (0, 'a', '1970-01-03', 4, 0.2501, 0),
  (7, 'é', '1970-01-01', 5000000007, 'NaN', 7), (30, 'longer than seven', '1969-12-30', 1, 0.125, 30);
CREATE FOREIGN TABLE remote.readings (off bigint, sensor_id int, t float8, pred int) SERVER join_server OPTIONS (table_name 'readings');
CREATE FOREIGN TABLE remote.info (sensor_id int, name text, location text, state int) SERVER join_server OPTIONS (table_name 'info');
CREATE FOREIGN TABLE remote.info2 (sensor_id int, name text, state int) SERVER join_server OPTIONS (table_name 'info2');
CREATE FOREIGN TABLE remote.facts (k1 text, k2 date, k3 bigint, k4 numeric(10,3), v int) SERVER join_server OPTIONS (table_name 'facts');
SELECT fluss_create_table('remote.readings', bucket_count => 2);
SELECT fluss_create_table('remote.info', primary_key => '{sensor_id}', bucket_count => 2);
SELECT fluss_create_table('remote.info2', primary_key => '{sensor_id}');
SELECT fluss_create_table('remote.facts', primary_key => '{k1,k2,k3,k4}', bucket_count => 3);
INSERT INTO remote.readings SELECT * FROM heap.readings;
INSERT INTO remote.info SELECT * FROM heap.info;
INSERT INTO remote.info2 SELECT * FROM heap.info2;
INSERT INTO remote.facts SELECT * FROM heap.facts;
DO $$
DECLARE
  s text;
BEGIN
  FOREACH s IN ARRAY ARRAY['remote', 'heap'] LOOP
    EXECUTE format('CREATE VIEW %1$s.iv AS SELECT sensor_id, coalesce(name, ''none'') AS nm, state + 0 AS st, 42 AS k FROM %1$s.info', s);
    EXECUTE format('CREATE VIEW %1$s.enriched AS SELECT r.*, i.nm, i.st, i.k FROM %1$s.readings r LEFT JOIN %1$s.iv i USING (sensor_id)', s);
    EXECUTE format('CREATE VIEW %1$s.roof WITH (security_barrier) AS SELECT * FROM %1$s.info WHERE location = ''roof''', s);
  END LOOP;
END $$;
ANALYZE heap.readings, heap.info, heap.info2, heap.facts, loc;

CREATE TABLE queries (no serial, q text);
INSERT INTO queries (q) VALUES
  ('SELECT r.*, i.name, i.location, i.state FROM readings r LEFT JOIN info i USING (sensor_id) WHERE r.off >= 0'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND r.t > 20 AND i.location = ''roof'''),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND i.state < r.pred'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id WHERE i.state IS DISTINCT FROM r.pred'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id WHERE i.sensor_id IS NULL'),
  ('SELECT off, nm, st, k FROM enriched'),
  ('SELECT off, nm, st, k FROM enriched WHERE k IS NULL'),
  ('SELECT r.off FROM readings r WHERE EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND i.location = ''roof'' AND i.state < r.pred + 1)'),
  ('SELECT r.off FROM readings r WHERE NOT EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND i.state < r.pred)'),
  ('SELECT r.off FROM readings r WHERE r.sensor_id IN (SELECT sensor_id FROM info WHERE location = ''roof'')'),
  ('SELECT r.off, i FROM readings r LEFT JOIN info i USING (sensor_id)'),
  ('SELECT r.off, i.tableoid::regclass, i.ctid IS NULL FROM readings r LEFT JOIN info i USING (sensor_id)'),
  ('SELECT r.off, i.name, j.name FROM readings r LEFT JOIN info i USING (sensor_id) LEFT JOIN info2 j ON j.sensor_id = i.state'),
  ('SELECT r.off, i.name, j.name FROM readings r LEFT JOIN info i USING (sensor_id) LEFT JOIN info2 j ON j.sensor_id = i.state + 2 AND j.state IS NOT NULL WHERE j.name IS NULL OR i.name > ''n1'''),
  ('SELECT r.off, x.a, x.b FROM readings r LEFT JOIN (SELECT i.sensor_id, coalesce(i.name, ''-'') a, coalesce(j.name, ''='') b FROM info i LEFT JOIN info2 j ON j.sensor_id = i.state + 3) x ON x.sensor_id = r.sensor_id'),
  ('SELECT l.id, x.nm FROM loc l LEFT JOIN LATERAL (SELECT nm FROM iv i WHERE i.sensor_id = l.id) x ON true'),
  ('SELECT r.off, i.name FROM readings r JOIN info i USING (sensor_id) WHERE now() > ''2001-01-01'' AND current_setting(''work_mem'') = ''never'''),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND current_setting(''work_mem'') = ''never'''),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN (SELECT * FROM info WHERE current_setting(''work_mem'') <> ''never'') i ON r.sensor_id = i.sensor_id'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN (SELECT * FROM info WHERE current_setting(''work_mem'') = ''never'') i ON r.sensor_id = i.sensor_id'),
  ('SELECT l.id, (SELECT max(i.name || r.off) FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state = l.id) FROM loc l'),
  ('SELECT r.off, coalesce(i.name, j.name) FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id LEFT JOIN info2 j ON j.sensor_id = coalesce(i.state, r.pred) WHERE coalesce(i.state, j.state, 0) < 2'),
  ('SELECT r.off, i.name, j.name FROM readings r LEFT JOIN (info i JOIN info2 j ON i.sensor_id = j.sensor_id) ON r.sensor_id = i.sensor_id'),
  ('SELECT r.off, q.c FROM readings r LEFT JOIN (SELECT sensor_id, count(*) c FROM info GROUP BY 1) q USING (sensor_id)'),
  ('SELECT a.off, b.name, c.name FROM readings a LEFT JOIN info b ON a.sensor_id = b.sensor_id LEFT JOIN info2 c ON b.state = c.sensor_id AND c.state = 1 LEFT JOIN info d ON c.sensor_id = d.sensor_id WHERE a.off < 30'),
  ('SELECT r.off, i.sensor_id, i.state FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND i.state < r.pred'),
  ('SELECT r.off, i.sensor_id, i.state, j.state FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND i.state < r.pred LEFT JOIN info2 j ON j.sensor_id = i.sensor_id AND j.state <> i.state WHERE i.state IS NOT NULL OR j.state IS NULL'),
  ('SELECT * FROM info WHERE sensor_id IN (SELECT id FROM loc)'),
  ('SELECT l.id, e.nm, e.k FROM loc l LEFT JOIN enriched e ON e.off = l.id'),
  -- outer sides of all kinds
  ('SELECT l.*, i.name FROM loc l JOIN info i ON i.sensor_id = l.id'),
  ('SELECT g, i.name FROM generate_series(-3, 30) g LEFT JOIN info i ON i.sensor_id = g'),
  ('SELECT v.a, i.name FROM (VALUES (1), (2), (NULL), (40)) v (a) JOIN info i ON i.sensor_id = v.a'),
  ('SELECT x.m, i.name FROM (SELECT pred, max(sensor_id) m FROM readings GROUP BY pred) x JOIN info i ON i.sensor_id = x.m'),
  ('SELECT i.name, j.name FROM info i JOIN info2 j ON j.sensor_id = i.sensor_id + 1'),
  ('WITH w AS MATERIALIZED (SELECT * FROM readings WHERE off < 20) SELECT w.off, i.name FROM w JOIN info i USING (sensor_id) WHERE i.sensor_id < 10'),
  ('WITH RECURSIVE w AS (SELECT 0 AS id UNION ALL SELECT i.sensor_id + 3 FROM w JOIN info i ON i.sensor_id = w.id + 1) SELECT * FROM w'),
  ('SELECT u.x, i.name FROM (SELECT sensor_id x FROM readings UNION ALL SELECT id FROM loc) u JOIN info i ON i.sensor_id = u.x'),
  ('SELECT r.off, i.name FROM readings r JOIN roof i USING (sensor_id)'),
  ('SELECT count(*) FROM readings a JOIN info b USING (sensor_id) JOIN readings c USING (sensor_id) JOIN info2 d USING (sensor_id)'),
  ('SELECT l.id, x.name FROM loc l LEFT JOIN LATERAL (SELECT i.name, l.tag || i.name AS both FROM info i WHERE i.sensor_id = l.id) x ON x.both > ''b'''),
  ('SELECT l.id, x.c FROM loc l, LATERAL (SELECT count(i.name) c FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id + l.s WHERE r.pred = l.id) x'),
  ('SELECT l.id FROM loc l WHERE l.id NOT IN (SELECT sensor_id FROM info)'),
  ('SELECT count(*) FROM readings WHERE sensor_id NOT IN (SELECT id FROM loc)'),
  -- key expressions, other types
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id * 2 - 1'),
  ('SELECT l.s, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.s'),
  ('SELECT l.b, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.b'),
  ('SELECT l.n, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.n'),
  ('SELECT l.id, i.name FROM loc l JOIN info i ON i.sensor_id = ((''{"a": "'' || l.id || ''"}'')::json ->> ''a'')::int'),
  ('SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n'),
  ('SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.id AND f.k4 = 0.25'),
  ('SELECT l.id, f.v FROM loc l JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b WHERE f.k4 = 0.5000 AND f.v % 2 = 0'),
  ('SELECT f.v FROM facts f WHERE (k1, k2, k3, k4) IN (SELECT tag, d, b, n FROM loc)'),
  ('SELECT count(*) FROM facts a JOIN facts b USING (k1, k2, k3, k4) LEFT JOIN facts c ON c.k1 = b.k1 AND c.k2 = b.k2 AND c.k3 = -b.k3 AND c.k4 = b.k4 + 0.125 AND c.v > a.v'),
  ('SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b AND f.k4 IN (0.25, 0.5)'),
  -- conditions on either side, volatile ones, sub-selects
  ('SELECT r.off, i.name FROM readings r JOIN info i USING (sensor_id) WHERE r.pred > 0 AND i.location ~ ''o'' AND r.off BETWEEN 3 AND 40'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND random() >= 0'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state IN (SELECT id FROM loc)'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id AND i.state = (SELECT max(l.id) FROM loc l WHERE l.id <= r.pred)'),
  ('SELECT r.off FROM readings r WHERE EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id AND EXISTS (SELECT 1 FROM info2 j WHERE j.sensor_id = i.sensor_id + r.pred))'),
  ('SELECT r.off, i.name FROM readings r FULL JOIN info i ON i.sensor_id = r.sensor_id'),
  ('SELECT r.off, i.name FROM readings r RIGHT JOIN info i ON i.sensor_id = r.sensor_id'),
  ('SELECT r.off, i FROM readings r JOIN info i ON i.sensor_id = r.sensor_id AND i.name <> r.off::text AND r IS NOT NULL'),
  -- limits and orders
  ('SELECT count(*) FROM (SELECT * FROM readings r JOIN loc ON loc.id = r.pred JOIN info USING (sensor_id) WHERE state = 0 LIMIT 1) x'),
  ('SELECT r.off, i.name FROM readings r LEFT JOIN info i USING (sensor_id) ORDER BY r.off DESC LIMIT 7'),
  ('SELECT x.off, i.name FROM (SELECT * FROM readings ORDER BY t DESC LIMIT 9 OFFSET 3) x LEFT JOIN info i USING (sensor_id)'),
  ('SELECT i.location, count(*), sum(r.t) FROM readings r LEFT JOIN info i USING (sensor_id) GROUP BY 1 HAVING count(*) > 2'),
  ('SELECT DISTINCT i.location FROM readings r JOIN info i USING (sensor_id)'),
  ('SELECT i.name, row_number() OVER (ORDER BY r.off) FROM readings r JOIN info i USING (sensor_id)');

\i sql/lib/answer.sql
CREATE TABLE answers AS SELECT no, q, answer('heap', q) FROM queries;
SELECT count(*) AS queries, count(answer) AS with_rows, sum(cardinality(answer)) AS rows FROM answers;
SELECT no, q, answer FROM answers WHERE answer[2] IS NULL AND cardinality(answer) = 2;
-- what differs under the current settings
CREATE VIEW wrong AS SELECT no, q, got FROM (SELECT *, answer('remote', q) AS got FROM answers OFFSET 0) x WHERE got IS DISTINCT FROM answer ORDER BY no;
-- how many plans have a lookup join
CREATE FUNCTION lookup_joins() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE line text; result bigint := 0;
  query text;
BEGIN
  PERFORM set_config('search_path', 'remote, public', true);
  FOR query IN SELECT q FROM queries LOOP
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
      IF line ~ 'Fluss Lookup Join' THEN
        result := result + 1;
        EXIT;
      END IF;
    END LOOP;
  END LOOP;
  PERFORM set_config('search_path', 'public', true);
  RETURN result;
END $$;
TABLE wrong;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
SELECT lookup_joins() > 50 AS most;
TABLE wrong;
SET enable_sort = off; SET enable_hashagg = off; SET enable_material = off; SET enable_memoize = off;
TABLE wrong;
RESET enable_sort; RESET enable_hashagg; RESET enable_material; RESET enable_memoize;
-- windows of one key, of a few, and of no more than fits into little memory; one request at a time
ALTER SERVER join_server OPTIONS (ADD lookup_max_batch_size '1', ADD lookup_max_inflight_requests '1');
TABLE wrong;
ALTER SERVER join_server OPTIONS (SET lookup_max_batch_size '3', SET lookup_max_inflight_requests '2');
SET fluss_fdw.max_buffered_bytes = '1MB';
TABLE wrong;
ALTER SERVER join_server OPTIONS (DROP lookup_max_batch_size, DROP lookup_max_inflight_requests);
TABLE wrong;
RESET fluss_fdw.max_buffered_bytes;
-- where all plans are parallel that can be
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT count(set_config(name, 'on', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
TABLE wrong;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;
SELECT count(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query');
-- without
RESET enable_nestloop;
SET fluss_fdw.enable_lookup_join = off;
SELECT lookup_joins();
TABLE wrong;
RESET fluss_fdw.enable_lookup_join;
RESET enable_hashjoin;
TABLE wrong;
RESET enable_mergejoin; SET enable_hashjoin = off; SET enable_nestloop = off;
TABLE wrong;
RESET enable_hashjoin; RESET enable_nestloop;

-- what EXPLAIN shows
SET search_path = remote, public;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
EXPLAIN (COSTS OFF) SELECT r.off, i.name FROM readings r LEFT JOIN info i ON r.sensor_id = i.sensor_id AND r.t > 20 AND i.location = 'roof' AND i.state < r.pred;
EXPLAIN (COSTS OFF) SELECT r.off FROM readings r WHERE EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = r.sensor_id);
EXPLAIN (COSTS OFF) SELECT l.id FROM loc l WHERE NOT EXISTS (SELECT 1 FROM info i WHERE i.sensor_id = l.id);
EXPLAIN (COSTS OFF) SELECT l.id, f.v FROM loc l JOIN facts f ON f.k1 = l.tag AND f.k2 = l.d AND f.k3 = l.b WHERE f.k4 = 0.5 ORDER BY l.id;
CREATE FUNCTION explained(query text, OUT key text, OUT value json) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
  RETURN QUERY SELECT * FROM json_each(plan -> 0 -> 'Plan') x WHERE x.key ~ '^(Fluss|Custom|Node)';
END $$;
SELECT * FROM explained('SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id + 1');
-- rows keep the order of the outer side, so nothing is sorted after the join
EXPLAIN (COSTS OFF) SELECT l.id, i.name FROM (SELECT id FROM loc ORDER BY id LIMIT 5) l LEFT JOIN info i ON i.sensor_id = l.id ORDER BY l.id;
SELECT l.id, i.name FROM (SELECT id FROM loc ORDER BY id LIMIT 5) l LEFT JOIN info i ON i.sensor_id = l.id ORDER BY l.id;

CREATE FUNCTION counters(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '(Fluss Requests|Fluss Keys|Fluss Duplicate Keys|Fluss Lookup Join)' THEN
      RETURN NEXT trim(regexp_replace(line, ' \(actual.*', ''));
    END IF;
  END LOOP;
END $$;
-- a key is asked for once; NULLs, and what the column cannot hold, never
SELECT counters('SELECT g, i.name FROM generate_series(1, 1000) g JOIN info i ON i.sensor_id = g % 10');
SELECT counters('SELECT l.b, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.b');
SELECT counters('SELECT i.name FROM (VALUES (NULL::int), (NULL)) v (a) LEFT JOIN info i ON i.sensor_id = v.a');
SELECT counters('SELECT i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id AND l.tag = ''bb''');
-- a request has as many keys as it may
ALTER SERVER join_server OPTIONS (ADD lookup_max_batch_size '100');
SELECT counters('SELECT g, i.name FROM generate_series(1, 1000) g JOIN info i ON i.sensor_id = g');
-- few rows wanted: few keys asked for
SELECT counters('SELECT g, i.name FROM generate_series(1, 1000) g JOIN info i ON i.sensor_id = g LIMIT 5');
SELECT counters('SELECT g, i.name FROM generate_series(60, 1, -1) g JOIN info i ON i.sensor_id = g LIMIT 5');
ALTER SERVER join_server OPTIONS (DROP lookup_max_batch_size);

-- cursors, forwards and back
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT l.id, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id WHERE l.id < 900;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH ALL FROM c;
CLOSE c;
COMMIT;

-- parameters, also when the plan is made for none of them
PREPARE p (int, text) AS SELECT l.id, f.v FROM loc l LEFT JOIN facts f ON f.k1 = $2 AND f.k2 = l.d AND f.k3 = l.b AND f.k4 = l.n WHERE l.id = $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (1, 'a');
EXECUTE p (2, 'bb');
EXECUTE p (1, NULL);
EXECUTE p (NULL, 'a');
EXECUTE p (1, 'a');
RESET plan_cache_mode;
-- rescans
SET enable_nestloop = on; SET enable_material = off; SET enable_memoize = off;
SELECT g, x.c, x.names FROM generate_series(0, 3) g,
  LATERAL (SELECT count(*) c, count(i.name) names FROM loc l LEFT JOIN info i ON i.sensor_id = l.id + g WHERE l.s > g) x;
-- a condition of the inner table alone changes: the first row has its match, too
SELECT g, (SELECT string_agg(i.name, ',' ORDER BY l.s) FROM loc l JOIN info i ON i.sensor_id = l.id WHERE i.sensor_id < 9 - g) FROM generate_series(0, 2) g;

-- answers that are too much for the memory at once
CREATE FOREIGN TABLE wide (id int, data text) SERVER join_server OPTIONS (table_name 'wide');
SELECT fluss_create_table('wide', primary_key => '{id}');
INSERT INTO wide SELECT g, repeat(chr(97 + g % 26), 50000) FROM generate_series(1, 100) g;
SET fluss_fdw.max_buffered_bytes = '1MB'; SET enable_nestloop = off;
SELECT count(*), count(DISTINCT w.data), sum(length(w.data)) FROM generate_series(1, 300) g JOIN wide w ON w.id = g % 101;
RESET fluss_fdw.max_buffered_bytes;

SELECT fluss_drop_database('join_server', 'regress_join', cascade => true);
RESET search_path;
DROP VIEW wrong;
DROP TABLE queries, answers, loc;
DROP FUNCTION answer, lookup_joins, remote.counters, remote.explained;
DROP SCHEMA heap CASCADE;
DROP SERVER join_server CASCADE;
DROP SCHEMA remote CASCADE;
