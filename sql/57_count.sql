--
-- count(*) of primary key tables: from the servers' statistics where those are
-- exact, and always what a whole read gives
--
\set test count
\i sql/lib/server.sql

-- the plan with the requests that occurred, without their numbers
CREATE FUNCTION shown(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ 'Requests' THEN line := regexp_replace(line, ' \d+', '', 'g'); END IF;
    IF line !~ 'Bytes|Batches|Buffers|Planning' THEN RETURN NEXT regexp_replace(line, ' \(actual.*\)', ''); END IF;
  END LOOP;
END $$;
-- the count, where a read of all rows gives the same, else both
CREATE FUNCTION counted(rest text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE fast bigint; slow bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM ' || rest INTO fast;
  SET LOCAL fluss_fdw.enable_aggregate_pushdown = off;
  EXECUTE 'SELECT count(*) FROM ' || rest INTO slow;
  SET LOCAL fluss_fdw.enable_aggregate_pushdown = on;
  RETURN CASE WHEN fast = slow THEN fast::text ELSE format('%s, read %s', fast, slow) END;
END $$;

-- what the statement asks for
CREATE FOREIGN TABLE three (id integer NOT NULL, v integer, note text, _bucket integer OPTIONS (metadata 'bucket')) SERVER count_server;
SELECT fluss_create_table('three', primary_key => '{id}', bucket_count => 3);
SELECT counted('three');
INSERT INTO three (id, v, note) SELECT g, g, CASE WHEN g % 2 = 0 THEN 'even' END FROM generate_series(1, 1000) g;
SELECT shown('SELECT count(*) FROM three');
EXPLAIN (COSTS OFF) SELECT count(*) FROM three;
EXPLAIN (COSTS OFF) SELECT count(*) + 1 AS more, count(1) * 2 AS twice, count('x') FROM three t;
SELECT count(*) + 1 AS more, count(1) * 2 AS twice, count('x') FROM three t;
EXPLAIN (COSTS OFF) SELECT count(*) FROM three WHERE _bucket IN (0, 2);
SELECT (SELECT count(*) FROM three WHERE _bucket = 1) + (SELECT count(*) FROM three WHERE _bucket <> 1) AS all_buckets, counted('three WHERE _bucket = 2') ~ '^\d+$' AS same;
-- values of rows are looked at: NULLs, other aggregates, filters, groups
SELECT q, EXISTS (SELECT FROM shown('SELECT ' || q) s WHERE s ~ 'statistics') AS pushed FROM unnest(ARRAY['count(note) FROM three', 'count(NULL) FROM three', 'count(DISTINCT 1) FROM three',
  'count(*), max(v) FROM three', 'count(*) FILTER (WHERE v > 5) FROM three', 'count(*) FROM three WHERE v > 5', 'count(*) FROM three WHERE id = 5', 'count(*) FROM three WHERE _bucket = 0 AND v > 5',
  'count(*) FROM three GROUP BY v % 2', 'count(*) FROM three HAVING count(*) > 5', 'count(*) FROM (SELECT * FROM three LIMIT 5) l', 'count(*) FROM (SELECT DISTINCT note FROM three) d',
  'count(*) FROM three WHERE false', 'count(*) FROM three a JOIN three b USING (id)', 'count(*) OVER () FROM three LIMIT 1', 'sum(1) FROM three',
  'count(*) FROM three WHERE _bucket = (random() * 0)::int', 'count(*), count(1) FROM three']) q;
SELECT count(note), count(NULL), count(*) FILTER (WHERE v > 990) FROM three;
SET fluss_fdw.enable_aggregate_pushdown = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM three;
RESET fluss_fdw.enable_aggregate_pushdown;
-- a table that is to be read in a certain way is
ALTER FOREIGN TABLE three OPTIONS (ADD kv_scan 'limit_scan');
EXPLAIN (COSTS OFF) SELECT count(*) FROM three;
ALTER FOREIGN TABLE three OPTIONS (DROP kv_scan);
-- the changelog is a log
CREATE FOREIGN TABLE three_log (id integer, v integer) SERVER count_server OPTIONS (table_name 'three', scan_mode 'changelog');
EXPLAIN (COSTS OFF) SELECT count(*) FROM three_log;

-- what becomes of rows
UPDATE three SET v = -v WHERE id IN (1, 2, 3);
SELECT counted('three');
DELETE FROM three WHERE id BETWEEN 101 AND 200;
DELETE FROM three WHERE id = 5000;
SELECT counted('three');
INSERT INTO three (id, v) SELECT g, 0 FROM generate_series(151, 160) g;
INSERT INTO three (id, v) SELECT 7, g FROM generate_series(1, 50) g;
INSERT INTO three (id) VALUES (8), (9), (5001);
SELECT counted('three');
BEGIN;
INSERT INTO three (id, v) VALUES (5002, 0);
SELECT counted('three');
ROLLBACK;
DELETE FROM three;
SELECT counted('three');
INSERT INTO three (id, v) VALUES (1, 1);
SELECT counted('three');
-- what is held until the commit is not seen, as by other reads
ALTER FOREIGN TABLE three OPTIONS (ADD write_mode 'commit');
BEGIN;
INSERT INTO three (id, v) VALUES (2, 2);
SELECT counted('three');
COMMIT;
SELECT counted('three');

-- generic plans, rescans, parameters
PREPARE in_bucket(int) AS SELECT count(*) FROM three WHERE _bucket = $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE in_bucket(1);
EXECUTE in_bucket(7);
EXECUTE in_bucket(NULL);
SELECT b, (SELECT count(*) FROM three WHERE _bucket = b) >= 0 AS counted FROM generate_series(0, 3) b;
SELECT sum((SELECT count(*) FROM three WHERE _bucket = b)) FROM generate_series(0, 2) b;
RESET plan_cache_mode;

-- every kind of table, with changes that each takes in its own way
CREATE FUNCTION kind(name text, properties jsonb, buckets int, deletes boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text;
BEGIN
  EXECUTE format('CREATE FOREIGN TABLE %I (id integer NOT NULL, v integer, w integer) SERVER count_server', name);
  EXECUTE format('SELECT fluss_create_table(%L, primary_key => ''{id}'', bucket_count => %s, properties => %L)', name, buckets, properties);
  EXECUTE format('INSERT INTO %I SELECT g, g, g FROM generate_series(1, 100) g', name);
  EXECUTE format('INSERT INTO %I SELECT g, -g, 3 FROM generate_series(51, 120) g', name);
  IF deletes THEN
    EXECUTE format('DELETE FROM %I WHERE id > 110', name);
    EXECUTE format('INSERT INTO %I VALUES (115, 1, 1)', name);
  END IF;
  EXECUTE format('SELECT counted(%L)', name) INTO result;
  RETURN result || CASE WHEN EXISTS (SELECT FROM shown(format('SELECT count(*) FROM %I', name)) s WHERE s ~ 'limit scan') THEN ', read' ELSE ', not read' END;
END $$;
SELECT n, b, kind(n || b, p, b, d) FROM (VALUES ('plain', '{}'::jsonb, true), ('first_row', '{"table.merge-engine": "first_row"}', false),
  ('versioned', '{"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "w"}', false),
  ('merged', '{"table.merge-engine": "aggregation", "table.delete.behavior": "ALLOW"}', true),
  ('wal', '{"table.changelog.image": "WAL"}', true), ('full', '{"table.changelog.image": "full"}', true),
  ('old', '{"table.kv.format-version": "1"}', true), ('indexed', '{"table.kv.format": "indexed"}', true)) k(n, p, d), unnest(ARRAY[1, 3]) b ORDER BY n, b;

-- partial updates: rows that were not there, and others
CREATE FOREIGN TABLE some_columns (id integer NOT NULL, w integer) SERVER count_server OPTIONS (table_name 'plain3');
INSERT INTO some_columns SELECT g, 0 FROM generate_series(91, 130) g;
SELECT counted('plain3');
-- keys given by the server
CREATE FOREIGN TABLE given (name text NOT NULL, id bigint) SERVER count_server;
SELECT fluss_create_table('given', primary_key => '{name}', bucket_count => 2, properties => '{"auto-increment.fields": "id"}');
INSERT INTO given (name) SELECT 'n' || g % 40 FROM generate_series(1, 100) g;
SELECT counted('given');

-- partitions
CREATE FOREIGN TABLE parts (day date NOT NULL, id integer NOT NULL, v integer, _partition text OPTIONS (metadata 'partition'), _bucket integer OPTIONS (metadata 'bucket')) SERVER count_server;
SELECT fluss_create_table('parts', primary_key => '{day,id}', bucket_key => '{id}', bucket_count => 2, partitioned_by => '{day}');
SELECT counted('parts');
SELECT shown('SELECT count(*) FROM parts');
INSERT INTO parts (day, id, v) SELECT date '2026-08-01' + g % 4, g, g FROM generate_series(1, 400) g;
SELECT c, counted('parts WHERE ' || c) FROM unnest(ARRAY['true', 'day = ''2026-08-02''', 'day > ''2026-08-02''', 'day = ''2030-01-01''', '_partition IN (''2026-08-01'', ''2026-08-04'', ''x'')',
  'extract(day FROM day) = 3', 'day IS NULL', 'day = ''2026-08-02'' OR id = 4', 'day < ''2026-08-03'' AND v > 100']) c;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE _partition >= '2026-08-03' AND _bucket = 0;
SELECT shown('SELECT count(*) FROM parts WHERE _partition >= ''2026-08-03'' AND _bucket = 0');
-- what rows hold in a partition column is looked at
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts WHERE day >= '2026-08-03';
SELECT fluss_drop_partition('parts', '{"day": "2026-08-01"}');
SELECT counted('parts');
PREPARE of_day(date) AS SELECT count(*) FROM parts WHERE day = $1;
EXECUTE of_day('2026-08-02');
EXECUTE of_day('2026-08-01');
SELECT d::date AS day, (SELECT count(*) FROM parts WHERE day = d) FROM generate_series(date '2026-08-01', date '2026-08-03', interval '1 day') d;

-- rights are those of other reads, and a policy hides rows
CREATE ROLE regress_count_reader;
GRANT SELECT (id) ON three TO regress_count_reader;
SET ROLE regress_count_reader;
SELECT count(*) FROM three;
SELECT count(*) FROM plain1;
RESET ROLE;
CREATE VIEW hidden WITH (security_barrier) AS SELECT * FROM plain1 WHERE v > 0;
SELECT counted('hidden');

SELECT fluss_drop_database('count_server', 'regress_count', cascade => true);
DROP FUNCTION counted, shown, kind;
DROP SERVER count_server CASCADE;
DROP ROLE regress_count_reader;
