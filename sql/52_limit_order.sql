--
-- LIMIT as a hint, reading in order, and the tail of a log
--
\set test order
\i sql/lib/server.sql
SET jit = off;
SET timezone = 'UTC';
ALTER SERVER order_server OPTIONS (ADD on_data_loss 'ignore');
CREATE SCHEMA oremote;
CREATE SCHEMA oheap;
CREATE FOREIGN TABLE oremote.r (id integer, temp double precision, note text, bkt integer OPTIONS (metadata 'bucket'),
  off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER order_server;
CREATE FOREIGN TABLE oremote.one (id integer, note text, off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER order_server;
CREATE FOREIGN TABLE oremote.info (id integer NOT NULL, name text, site text, bkt integer OPTIONS (metadata 'bucket')) SERVER order_server;
CREATE FOREIGN TABLE oremote.none (id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER order_server;
CREATE FOREIGN TABLE oremote.p (id integer, day text, part text OPTIONS (metadata 'partition'), bkt integer OPTIONS (metadata 'bucket'),
  off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER order_server;
SELECT fluss_create_table('oremote.p', bucket_key => '{id}', bucket_count => 2, partitioned_by => '{day}');
SELECT fluss_create_table('oremote.r', bucket_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('oremote.one', bucket_count => 1);
SELECT fluss_create_table('oremote.info', primary_key => '{id}', bucket_count => 3);
SELECT fluss_create_table('oremote.none', bucket_count => 2);
-- many batches
SELECT format('INSERT INTO oremote.r (id, temp, note) SELECT g, g %% 13, CASE g WHEN 389 THEN ''x'' ELSE ''y'' END FROM generate_series(%s, %s) g', g, g + 39) FROM generate_series(1, 390, 40) g \gexec
INSERT INTO oremote.one SELECT g, 'n' || g % 7 FROM generate_series(1, 50) g;
INSERT INTO oremote.one SELECT g, 'n' || g % 7 FROM generate_series(51, 60) g;
INSERT INTO oremote.info SELECT g, CASE g WHEN 77 THEN 'az' ELSE 'b' || g END, 'site ' || g % 4 FROM generate_series(1, 100) g;
INSERT INTO oremote.p (id, day) SELECT g, 'd' || g % 3 FROM generate_series(1, 90) g;
INSERT INTO oremote.p (id, day) SELECT g, 'd' || g % 3 FROM generate_series(91, 120) g;
CREATE TABLE oheap.p AS TABLE oremote.p;
CREATE TABLE oheap.r AS TABLE oremote.r;
CREATE TABLE oheap.one AS TABLE oremote.one;
CREATE TABLE oheap.info AS TABLE oremote.info;
CREATE TABLE oheap.none AS TABLE oremote.none;
CREATE TABLE loc (id integer, tag text);
INSERT INTO loc VALUES (389, 'a'), (2, 'b'), (NULL, 'c'), (999, 'd'), (77, 'e');

-- queries with one right answer
CREATE TABLE tests (no serial, q text);
INSERT INTO tests (q) VALUES
  ('SELECT * FROM r ORDER BY bkt, off'), ('SELECT * FROM r ORDER BY bkt, off LIMIT 7'), ('SELECT * FROM r ORDER BY bkt, off LIMIT 7 OFFSET 120'), ('SELECT * FROM r WHERE bkt = 1 ORDER BY off'),
  ('SELECT * FROM r WHERE bkt = 1 ORDER BY off OFFSET 3'), ('SELECT * FROM r WHERE bkt = 1 ORDER BY off DESC LIMIT 3'), ('SELECT off FROM r WHERE bkt = 1 AND (off < 5 OR off BETWEEN 50 AND 55 OR off = 3) ORDER BY off'),
  ('SELECT id FROM r WHERE bkt = 1 AND temp > 6 ORDER BY off LIMIT 5'), ('SELECT id FROM r WHERE note = ''x'' ORDER BY off DESC LIMIT 1'), ('SELECT id FROM r WHERE temp = 0 ORDER BY off DESC, id LIMIT 5'),
  ('SELECT * FROM r ORDER BY off DESC, bkt LIMIT 10'), ('SELECT * FROM r ORDER BY off DESC, id LIMIT 10 OFFSET 5'), ('SELECT * FROM r ORDER BY off DESC NULLS LAST, id DESC LIMIT 4'), ('SELECT * FROM r ORDER BY off NULLS FIRST, bkt LIMIT 4'),
  ('SELECT * FROM r ORDER BY at DESC, id LIMIT 10'), ('SELECT * FROM r ORDER BY at DESC, off DESC, bkt LIMIT 50'), ('SELECT * FROM r ORDER BY at DESC, id LIMIT 1 OFFSET 45'), ('SELECT * FROM r ORDER BY at, id LIMIT 3'),
  ('SELECT * FROM r WHERE off < 40 ORDER BY off DESC, bkt LIMIT 5'), ('SELECT * FROM r WHERE off < 40 AND bkt IN (0, 2) ORDER BY off DESC, bkt LIMIT 5'), ('SELECT * FROM r WHERE off IN (1, 7, 30, 31) ORDER BY off DESC, bkt LIMIT 5'),
  ('SELECT * FROM r WHERE off < 5 ORDER BY off DESC, bkt LIMIT 100'), ('SELECT * FROM r ORDER BY off DESC, bkt LIMIT 1000'), ('SELECT * FROM r ORDER BY off DESC, bkt FETCH FIRST 3 ROWS WITH TIES'), ('SELECT off FROM r ORDER BY off DESC FETCH FIRST 4 ROWS WITH TIES'),
  ('SELECT * FROM r ORDER BY off DESC, bkt LIMIT NULL'), ('SELECT * FROM r ORDER BY off DESC, bkt LIMIT ALL OFFSET 380'), ('SELECT * FROM r ORDER BY off DESC, bkt LIMIT 0'), ('SELECT * FROM none ORDER BY off DESC LIMIT 3'), ('SELECT * FROM none LIMIT 3'),
  ('SELECT * FROM one ORDER BY off'), ('SELECT * FROM one ORDER BY off LIMIT 3'), ('SELECT * FROM one ORDER BY off DESC LIMIT 3'), ('SELECT * FROM one ORDER BY off, note LIMIT 3'), ('SELECT * FROM one ORDER BY note, off LIMIT 3'), ('SELECT * FROM one ORDER BY at DESC, off DESC LIMIT 3'),
  ('SELECT * FROM (SELECT off FROM one ORDER BY off DESC LIMIT 5) x WHERE off % 2 = 0'), ('SELECT DISTINCT off % 5 FROM one ORDER BY 1 LIMIT 3'), ('SELECT off, row_number() OVER (ORDER BY off) FROM one ORDER BY off DESC LIMIT 3'),
  ('SELECT count(*) FROM (SELECT * FROM r LIMIT 10) x'), ('SELECT count(*) FROM (SELECT * FROM r OFFSET 385) x'), ('SELECT count(*) FROM (SELECT * FROM r LIMIT 10 OFFSET 385) x'), ('SELECT count(*) FROM (SELECT * FROM r WHERE temp > 3 LIMIT 10) x'),
  ('SELECT count(*) FROM (SELECT * FROM r WHERE off > 10 AND bkt = 0 LIMIT 1000) x'), ('SELECT count(*) FROM (SELECT * FROM info LIMIT 10) x'), ('SELECT count(*) FROM (SELECT * FROM info LIMIT 10 OFFSET 95) x'), ('SELECT count(*) FROM (SELECT * FROM info WHERE bkt = 1 LIMIT 3) x'),
  ('SELECT id FROM info WHERE name LIKE ''%z'' LIMIT 1'), ('SELECT count(*) FROM (SELECT DISTINCT site FROM info LIMIT 3) x'), ('SELECT count(*) FROM (SELECT id, row_number() OVER () AS n FROM info LIMIT 3) x WHERE n <= 3'), ('SELECT max(n) FROM (SELECT count(*) OVER () AS n FROM info LIMIT 1) x'),
  ('SELECT r.id FROM r JOIN loc USING (id) JOIN info ON info.id = loc.id - 312 WHERE note = ''x'' LIMIT 1'), ('SELECT r.id, loc.tag FROM r JOIN loc USING (id) WHERE note = ''x'' LIMIT 1'), ('SELECT count(*) FROM (SELECT site, count(*) FROM info GROUP BY site LIMIT 10) x'),
  ('SELECT count(*) FROM (SELECT id, generate_series(1, 3) FROM r LIMIT 5) x'), ('SELECT count(*) FROM (SELECT unnest(CASE WHEN id = 389 THEN ARRAY[1] ELSE ''{}'' END) FROM r LIMIT 1) x'), ('SELECT count(*) FROM (SELECT id FROM r UNION ALL SELECT id FROM info LIMIT 450) x'),
  ('SELECT count(*) FROM (SELECT id FROM r UNION SELECT id FROM info LIMIT 395) x'), ('SELECT count(*) FROM ((SELECT id FROM r LIMIT 4) UNION ALL (SELECT id FROM info LIMIT 3)) x'), ('SELECT l.id, x.off FROM loc l LEFT JOIN LATERAL (SELECT off FROM one WHERE off < l.id ORDER BY off DESC LIMIT 2) x ON true'),
  ('SELECT g, (SELECT off FROM one WHERE off < g ORDER BY off DESC LIMIT 1), (SELECT count(*) FROM (SELECT * FROM r LIMIT g) y) FROM generate_series(0, 65, 5) g'), ('SELECT g, (SELECT array_agg(off) FROM (SELECT off FROM r ORDER BY off DESC LIMIT g) y) FROM generate_series(0, 6) g'),
  ('SELECT a.off FROM one a JOIN one b ON a.off = b.off ORDER BY a.off LIMIT 5'), ('SELECT a.off, b.off FROM one a JOIN one b ON a.off = b.off + 1 ORDER BY a.off DESC LIMIT 5'), ('SELECT min(off), max(off) FROM one WHERE off < 20'), ('SELECT max(off) FROM (SELECT off FROM one LIMIT 5) x WHERE off < 5'),
  ('SELECT count(*) FROM (SELECT * FROM r WHERE off BETWEEN 118 AND 120 LIMIT 8) x'),
  ('SELECT * FROM p ORDER BY off DESC, bkt, part LIMIT 7'), ('SELECT * FROM p ORDER BY at DESC, id LIMIT 5'), ('SELECT * FROM p WHERE day = ''d1'' ORDER BY bkt, off LIMIT 9'), ('SELECT * FROM p WHERE part = ''d1'' ORDER BY bkt, off LIMIT 9'),
  ('SELECT * FROM p WHERE day = ''d1'' AND bkt = 1 ORDER BY off'), ('SELECT * FROM p WHERE day >= ''d1'' ORDER BY bkt, off, day LIMIT 5'), ('SELECT * FROM p ORDER BY bkt, off, day LIMIT 5'), ('SELECT count(*) FROM (SELECT * FROM p WHERE part = ''d2'' LIMIT 100) x'),
  ('SELECT min(off), max(off) FROM p'), ('SELECT min(off), max(off) FROM p WHERE part = ''d1'' AND off > 3'),
  ('SELECT id FROM r WHERE now() < ''2000-01-01'' ORDER BY off DESC LIMIT 3'), ('SELECT bkt, max(off) FROM r GROUP BY bkt HAVING max(off) > 0 ORDER BY bkt LIMIT 2'), ('SELECT id FROM r WHERE bkt = 5 ORDER BY off LIMIT 2'), ('SELECT id FROM r WHERE id = ANY (SELECT id FROM loc) ORDER BY off DESC LIMIT 1'),
  ('SELECT id FROM r WHERE NOT EXISTS (SELECT FROM loc WHERE loc.id = r.id) ORDER BY off DESC, bkt LIMIT 2');
CREATE FUNCTION rows_of(q text, path text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line record; result text := '';
BEGIN
  PERFORM set_config('search_path', path, true);
  FOR line IN EXECUTE q LOOP result := result || line::text; END LOOP;
  RETURN result;
END $$;
CREATE VIEW differences AS SELECT no, q, rows_of(q, 'oremote, public') AS remote, rows_of(q, 'oheap, public') AS heap FROM tests;
SELECT * FROM differences WHERE remote <> heap;
SET fluss_fdw.enable_ordered_scan = off;
SELECT * FROM differences WHERE remote <> heap;
RESET fluss_fdw.enable_ordered_scan;
SET fluss_fdw.enable_vector_filter = off;
SET enable_sort = off;
SELECT * FROM differences WHERE remote <> heap;
RESET fluss_fdw.enable_vector_filter;
RESET enable_sort;

-- how they are read
CREATE FUNCTION plan_of(q text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; result text := '';
BEGIN
  PERFORM set_config('search_path', 'oremote, public', true);
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || q LOOP
    IF line ~ 'Scan:|Limit|Sort$|Sort  ' THEN result := result || ', ' || trim(line, ' ->'); END IF;
  END LOOP;
  RETURN substr(result, 3);
END $$;
SELECT no, q, plan_of(q) AS plan FROM tests WHERE q !~ 'JOIN|UNION|EXISTS|ANY' ORDER BY no;
SET search_path = oremote, public;
-- each bucket's next rows, of all buckets of all partitions
CREATE FOREIGN TABLE places (id integer, _partition_id bigint OPTIONS (metadata 'partition_id'), _bucket integer OPTIONS (metadata 'bucket'),
  _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER order_server OPTIONS (table_name 'p');
EXPLAIN (COSTS OFF) SELECT * FROM unnest(ARRAY[7::bigint, 8]) n, LATERAL (SELECT * FROM places WHERE _partition_id = n AND _bucket = 1 AND _log_offset > 3 ORDER BY _log_offset LIMIT 5) x;
EXPLAIN (COSTS OFF) SELECT * FROM unnest(ARRAY[7::bigint, 8]) n, LATERAL (SELECT * FROM places WHERE _partition_id IS NOT DISTINCT FROM n AND _bucket = 1 ORDER BY _log_offset LIMIT 5) x;
EXPLAIN (COSTS OFF) SELECT * FROM unnest(ARRAY[7::bigint, 8]) n, LATERAL (SELECT * FROM places WHERE _partition_id IS DISTINCT FROM n AND _bucket = 1 ORDER BY _log_offset LIMIT 5) x;
EXPLAIN (COSTS OFF) SELECT id FROM r WHERE bkt = 1 ORDER BY off LIMIT 5;
EXPLAIN (COSTS OFF) SELECT * FROM r ORDER BY off DESC LIMIT 10 OFFSET 5;
EXPLAIN (COSTS OFF) SELECT id FROM r LIMIT 10 FOR UPDATE;
EXPLAIN (COSTS OFF) SELECT id FROM r LIMIT (random() * 10)::int;
EXPLAIN (COSTS OFF) SELECT id FROM info ORDER BY name LIMIT 1;
SET plan_cache_mode = force_generic_plan;
PREPARE p(bigint, bigint) AS SELECT off FROM one ORDER BY off DESC LIMIT $1 OFFSET $2;
EXPLAIN (COSTS OFF) EXECUTE p(2, 1);
EXECUTE p(2, 1);
EXECUTE p(3, NULL);
EXECUTE p(1, 0);
EXECUTE p(0, 0);
EXECUTE p(-1, 0);
SELECT count(*) FROM one;
PREPARE q(bigint) AS SELECT id FROM info LIMIT $1;
EXPLAIN (COSTS OFF) EXECUTE q(2);
PREPARE c(bigint) AS SELECT count(*) FROM (SELECT id FROM info LIMIT $1) x;
EXECUTE c(2);
EXECUTE c(NULL);
EXECUTE c(99);
EXECUTE c(0);
RESET plan_cache_mode;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT off FROM one ORDER BY off LIMIT 6;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
DECLARE d SCROLL CURSOR FOR SELECT off FROM one ORDER BY off DESC LIMIT 3;
FETCH LAST FROM d;
FETCH FIRST FROM d;
COMMIT;

-- members of a partitioned table, and of a UNION ALL
CREATE TABLE members (id integer, note text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE member_1 PARTITION OF members FOR VALUES FROM (0) TO (1000) SERVER order_server OPTIONS (table_name 'one');
CREATE TABLE member_2 PARTITION OF members FOR VALUES FROM (1000) TO (2000);
INSERT INTO member_2 SELECT 1000 + g, 'n' || g % 7 FROM generate_series(1, 20) g;
EXPLAIN (COSTS OFF) SELECT id FROM members LIMIT 3;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM members LIMIT 75) x;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM members LIMIT 30 OFFSET 55) x;
EXPLAIN (COSTS OFF) SELECT * FROM members WHERE note = 'n3' LIMIT 3;
SELECT count(*) FROM (SELECT id FROM members WHERE note = 'n3' LIMIT 10) x;
SELECT count(*), max(off) FROM (SELECT off FROM (SELECT id, off FROM one UNION ALL SELECT id, off FROM one WHERE off > 40) u LIMIT 70) x;
SELECT count(*) FROM (SELECT off FROM (SELECT id, off FROM one UNION SELECT id, off FROM one WHERE off > 40) u LIMIT 70) x;
SELECT count(*), count(DISTINCT id) FROM (SELECT m.id FROM members m JOIN members n USING (id) LIMIT 70) x;
SELECT count(*) FROM (SELECT DISTINCT note FROM members LIMIT 5) x;
DROP TABLE members;

-- few records are read
CREATE FUNCTION read_by(q text) RETURNS TABLE (fact text) LANGUAGE plpgsql AS $$
BEGIN
  FOR fact IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || q LOOP
    IF fact ~ 'Fluss (Requests|Rows Read|Scan)' THEN fact := trim(fact); RETURN NEXT; END IF;
  END LOOP;
END $$;
SELECT * FROM read_by('SELECT * FROM one LIMIT 1');
SELECT * FROM read_by('SELECT * FROM one ORDER BY off DESC LIMIT 1');
SELECT * FROM read_by('SELECT min(off), max(off) FROM one');
SELECT * FROM read_by('SELECT id FROM info WHERE bkt = 1 LIMIT 2');
-- a large batch of one commit time is read once, and ranges end where they do
CREATE FOREIGN TABLE large (id integer, off bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER order_server;
SELECT fluss_create_table('large', bucket_count => 1);
INSERT INTO large SELECT g FROM generate_series(1, 20000) g;
SELECT * FROM read_by('SELECT * FROM large ORDER BY at DESC LIMIT 5');
SELECT count(*), min(off), max(off) FROM (SELECT off FROM large ORDER BY at DESC LIMIT 20000) x;
SELECT * FROM read_by('SELECT * FROM large WHERE off BETWEEN 100 AND 15000 ORDER BY at DESC LIMIT 5');
SET enable_sort = off;
SELECT count(*), count(DISTINCT off), min(off), max(off) FROM (SELECT off FROM large WHERE off BETWEEN 100 AND 200 OR off BETWEEN 5000 AND 15000 ORDER BY at DESC LIMIT 15000) x;
SELECT count(*), count(DISTINCT off), min(off), max(off) FROM (SELECT off, count(*) OVER () FROM (SELECT * FROM large WHERE off BETWEEN 100 AND 15000 ORDER BY at DESC OFFSET 0 LIMIT 14901) y) x;
RESET enable_sort;
SET search_path = public;
DROP SERVER order_server CASCADE;
DROP SCHEMA oremote, oheap CASCADE;
DROP TABLE loc, tests CASCADE;
DROP FUNCTION rows_of, plan_of, read_by;
