--
-- Keys of a primary key table: which conditions become lookups, and of what
--
\set test keys
\i sql/lib/server.sql
SET jit = off;
CREATE SCHEMA remote;
CREATE SCHEMA heap;
CREATE TABLE heap.one (k int, v text);
INSERT INTO heap.one SELECT g, 'v' || g FROM generate_series(1, 50) g;
CREATE TABLE heap.two (a int, b text, v int);
INSERT INTO heap.two SELECT g % 10, chr(97 + g / 10), g FROM generate_series(0, 99) g;
-- all but the last column choose the bucket
CREATE TABLE heap.hist (a int, b text, day date, v int);
INSERT INTO heap.hist SELECT g % 5, chr(97 + g % 3), date '2026-01-01' + g / 15, g FROM generate_series(0, 149) g;
CREATE TABLE heap.odd (n numeric(10,2), ok boolean, v int);
INSERT INTO heap.odd SELECT g / 4.0, g % 2 = 0, g FROM generate_series(0, 39) g;
CREATE TABLE heap.part (day text, k int, seq int, v int);
INSERT INTO heap.part SELECT 'd' || g % 3, g % 4, g / 12, g FROM generate_series(0, 47) g;
CREATE FOREIGN TABLE remote.one (k int, v text) SERVER keys_server OPTIONS (table_name 'one');
CREATE FOREIGN TABLE remote.two (a int, b text, v int) SERVER keys_server OPTIONS (table_name 'two');
CREATE FOREIGN TABLE remote.hist (a int, b text, day date, v int) SERVER keys_server OPTIONS (table_name 'hist');
CREATE FOREIGN TABLE remote.odd (n numeric(10,2), ok boolean, v int) SERVER keys_server OPTIONS (table_name 'odd');
CREATE FOREIGN TABLE remote.part (day text, k int, seq int, v int) SERVER keys_server OPTIONS (table_name 'part');
SELECT fluss_create_table('remote.one', primary_key => '{k}', bucket_count => 3);
SELECT fluss_create_table('remote.two', primary_key => '{a,b}', bucket_count => 3);
SELECT fluss_create_table('remote.hist', primary_key => '{a,b,day}', bucket_key => '{a,b}', bucket_count => 3);
SELECT fluss_create_table('remote.odd', primary_key => '{n,ok}', bucket_count => 2);
SELECT fluss_create_table('remote.part', primary_key => '{day,k,seq}', bucket_key => '{k}', partitioned_by => '{day}', bucket_count => 2);
INSERT INTO remote.one SELECT * FROM heap.one;
INSERT INTO remote.two SELECT * FROM heap.two;
INSERT INTO remote.hist SELECT * FROM heap.hist;
INSERT INTO remote.odd SELECT * FROM heap.odd;
INSERT INTO remote.part SELECT * FROM heap.part;
CREATE TABLE loc (id int, tag text, day date);
INSERT INTO loc VALUES (1, 'a', '2026-01-02'), (2, 'b', '2026-01-03'), (2, 'b', NULL), (NULL, NULL, NULL), (999, 'z', '2020-01-01');

CREATE DOMAIN number AS int CHECK (VALUE >= 0);
CREATE TABLE queries (no serial, kind text, q text);
INSERT INTO queries (kind, q) VALUES
  ('lookup', 'SELECT * FROM one WHERE k = 7'),
  ('lookup', 'SELECT * FROM one WHERE 7 = k AND v <> ''v8'''),
  ('lookup', 'SELECT * FROM one WHERE k IN (1, 3, 3, 99, NULL)'),
  ('lookup', 'SELECT * FROM one WHERE k = 1 OR k = 3 OR k IN (3, 4)'),
  ('lookup', 'SELECT * FROM one WHERE k IN (1, 2, 3, 4) AND k = ANY (ARRAY[3, 4, 5]::bigint[])'),
  ('lookup', 'SELECT * FROM one WHERE k = 3 OR (k = 4 AND v = ''v4'') OR (k = 5 AND v = ''no'')'),
  ('lookup', 'SELECT * FROM one WHERE k = 5000000000 OR k = 2'),
  ('lookup', 'SELECT * FROM one WHERE k = 7::number'),
  ('lookup', 'SELECT * FROM one WHERE k = ANY (''{3,4,99}''::number[])'),
  ('lookup', 'SELECT o.* FROM (SELECT 7::number AS n OFFSET 0) x, LATERAL (SELECT * FROM one WHERE k = n OFFSET 0) o'),
  ('limit scan', 'SELECT * FROM one WHERE k = 3 OR v = ''v9'''),
  ('limit scan', 'SELECT * FROM one WHERE k <> 3 AND k < 6'),
  ('limit scan', 'SELECT * FROM one WHERE NOT (k = 3) AND k < 6'),
  ('lookup', 'SELECT * FROM two WHERE a = 3 AND b = ''c'''),
  ('lookup', 'SELECT * FROM two WHERE (a, b) = (3, ''c'')'),
  ('lookup', 'SELECT * FROM two WHERE (a, b) IN ((1, ''a''), (2, ''b''), (2, ''b''), (77, ''a''), (3, NULL))'),
  ('lookup', 'SELECT * FROM two WHERE (a = 1 AND b = ''b'') OR (a = 3 AND b = ''d'') OR (b = ''e'' AND a IN (4, 5))'),
  ('lookup', 'SELECT * FROM two WHERE a IN (1, 2, 3) AND b IN (''a'', ''b'')'),
  ('lookup', 'SELECT * FROM two WHERE (a = 1 OR a = 2) AND (b = ''c'' OR b = ''d'')'),
  ('lookup', 'SELECT * FROM two WHERE (a, b) IN ((1, ''a''), (2, ''b''), (3, ''c'')) AND a IN (2, 3, 4)'),
  ('lookup', 'SELECT * FROM two WHERE (a, b) IN ((1, ''a''), (2, ''b''), (3, ''c'')) AND b IN (''b'', ''x'') AND v > 0'),
  ('lookup', 'SELECT * FROM two WHERE (a = 1 AND b = ''b'') OR (a = 3 AND b = ''d'' AND v < 0) OR (a = 3 AND b = ''e'')'),
  ('lookup', 'SELECT * FROM two WHERE ((a = 1 AND b = ''a'') OR a = 2) AND b = ''b'''),
  ('limit scan', 'SELECT * FROM two WHERE (a = 1 AND b = ''b'') OR a = 3'),
  ('limit scan', 'SELECT * FROM two WHERE a = 3'),
  ('limit scan', 'SELECT * FROM two WHERE b = ''a'''),
  ('lookup', 'SELECT * FROM hist WHERE a = 3 AND b = ''a'' AND day = ''2026-01-02'''),
  ('prefix lookup', 'SELECT * FROM hist WHERE a = 3 AND b = ''a'''),
  ('prefix lookup', 'SELECT * FROM hist WHERE a IN (3, 4) AND b = ''a'' AND day > ''2026-01-05'' AND v % 2 = 1'),
  ('prefix lookup', 'SELECT * FROM hist WHERE (a, b) IN ((1, ''a''), (2, ''b''), (2, ''b''), (9, ''z''))'),
  ('prefix lookup', 'SELECT * FROM hist WHERE (a = 1 AND b = ''a'' AND day = ''2026-01-03'') OR (a = 2 AND b = ''b'')'),
  ('prefix lookup', 'SELECT count(*) FROM hist WHERE a = 1 AND b = ''b'''),
  ('limit scan', 'SELECT * FROM hist WHERE a = 3 AND day = ''2026-01-02'''),
  ('lookup', 'SELECT * FROM odd WHERE n = 2.50 AND ok'),
  ('lookup', 'SELECT * FROM odd WHERE n = 2.500000 AND NOT ok'),
  ('lookup', 'SELECT * FROM odd WHERE n IN (2.25, 2.251, ''NaN'', 1e20) AND ok IS FALSE'),
  ('lookup', 'SELECT * FROM odd WHERE (n = 1.25 AND NOT ok) OR (n = 1.5 AND ok = true) OR (n = 1 AND ok)'),
  ('lookup', 'SELECT * FROM odd WHERE n = 3 AND ok IN (true, false)'),
  ('lookup', 'SELECT * FROM part WHERE day = ''d1'' AND k = 1 AND seq IN (0, 1, 9)'),
  ('lookup', 'SELECT * FROM part WHERE (day, k, seq) IN ((''d1'', 1, 0), (''d2'', 2, 0), (''none'', 1, 0))'),
  ('prefix lookup', 'SELECT * FROM part WHERE day = ''d1'' AND k = 1'),
  ('prefix lookup', 'SELECT * FROM part WHERE day IN (''d0'', ''d2'', ''none'') AND k IN (1, 2, 77) AND v > 5'),
  -- joins
  (NULL, 'SELECT l.*, h.v FROM loc l LEFT JOIN hist h ON h.a = l.id AND h.b = l.tag'),
  (NULL, 'SELECT l.*, h.v FROM loc l JOIN hist h ON h.a = l.id AND h.b = l.tag AND h.day >= l.day'),
  (NULL, 'SELECT l.*, h.v FROM loc l LEFT JOIN hist h ON h.a = l.id AND h.b = l.tag AND h.day = l.day'),
  (NULL, 'SELECT l.* FROM loc l WHERE EXISTS (SELECT 1 FROM hist h WHERE h.a = l.id AND h.b = l.tag AND h.v > 40)'),
  (NULL, 'SELECT l.* FROM loc l WHERE NOT EXISTS (SELECT 1 FROM hist h WHERE h.a = l.id AND h.b = l.tag AND h.v > 400)'),
  (NULL, 'SELECT l.*, p.v FROM loc l LEFT JOIN part p ON p.day = ''d'' || l.id AND p.k = l.id AND p.seq = 0'),
  (NULL, 'SELECT l.*, p.v FROM loc l JOIN part p ON p.day = ''d'' || l.id AND p.k = l.id'),
  (NULL, 'SELECT count(*), sum(h.v) FROM hist h WHERE (a, b) IN (SELECT id, tag FROM loc)'),
  (NULL, 'SELECT count(*), sum(a.v) FROM hist a JOIN hist b ON a.a = b.a AND a.b = b.b AND a.day < b.day'),
  (NULL, 'SELECT * FROM two WHERE a = ANY (ARRAY(SELECT id FROM loc)) AND b = (SELECT max(tag) FROM loc WHERE id < 3)'),
  (NULL, 'SELECT l.id, x.v FROM loc l LEFT JOIN LATERAL (SELECT * FROM two WHERE (a = l.id AND b = l.tag) OR (a = l.id + 1 AND b = ''a'')) x ON true');

\i sql/lib/answer.sql
CREATE FUNCTION scan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    IF line ~ 'Fluss Scan' THEN
      RETURN regexp_replace(line, '.*Fluss Scan: ', '');
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TABLE answers AS SELECT no, q, answer('heap', q) FROM queries;
SELECT count(*) AS queries, count(answer) AS with_rows, sum(cardinality(answer)) AS rows FROM answers;
SELECT * FROM answers WHERE cardinality(answer) = 2 AND answer[2] IS NULL;
CREATE VIEW wrong AS SELECT no, q, got FROM (SELECT *, answer('remote', q) AS got FROM answers OFFSET 0) x WHERE got IS DISTINCT FROM answer ORDER BY no;
SET search_path = remote, public;
SELECT no, q, kind, scan_of(q) FROM queries WHERE kind <> scan_of(q) ORDER BY no;
RESET search_path;
TABLE wrong;
SET jit = off;
SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
TABLE wrong;
RESET enable_nestloop; SET enable_material = off; SET enable_memoize = off;
SET fluss_fdw.enable_lookup_join = off;
TABLE wrong;
RESET fluss_fdw.enable_lookup_join;
ALTER SERVER keys_server OPTIONS (ADD use_remote_estimate 'off', ADD lookup_max_batch_size '2');
TABLE wrong;
ALTER SERVER keys_server OPTIONS (DROP use_remote_estimate, DROP lookup_max_batch_size);
RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_material; RESET enable_memoize;

-- what is shown and asked
SET search_path = remote, public;
CREATE FUNCTION counters(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    IF line ~ '(Fluss Requests|Fluss Keys|Fluss Key:|Fluss Scan|Filter:)' THEN
      -- releases name the results of sub-selects differently
      RETURN NEXT trim(regexp_replace(line, '\$\d+|\(InitPlan \d+\)\.col1', '$?', 'g'));
    END IF;
  END LOOP;
END $$;
SELECT counters('SELECT * FROM two WHERE (a, b) IN ((1, ''a''), (2, ''b''), (2, ''b''))');
SELECT counters('SELECT * FROM two WHERE (a = 1 AND b = ''b'') OR (a = 3 AND b = ''d'' AND v < 0)');
SELECT counters('SELECT * FROM hist WHERE a = 3 AND b = ''a'' AND day > ''2026-01-05''');
-- contradictions and NULLs cost nothing
SELECT counters('SELECT * FROM one WHERE k = (SELECT 1) AND k = (SELECT 2)');
SELECT counters('SELECT * FROM one WHERE k = (SELECT NULL::int)');
SELECT counters('SELECT * FROM one WHERE k IN (1, 2) AND k = ANY (ARRAY(SELECT 3))');
SELECT counters('SELECT * FROM two WHERE (a, b) IN ((1, ''a''), (2, ''b'')) AND b = (SELECT ''c'')');
SELECT counters('SELECT * FROM one WHERE k = (SELECT 5000000000)');

PREPARE p (int, text, text[]) AS SELECT * FROM two WHERE (a = $1 AND b = $2) OR (a = $1 + 1 AND b = ANY ($3)) ORDER BY v;
SET plan_cache_mode = force_generic_plan;
EXECUTE p (1, 'a', '{b,c}');
EXECUTE p (NULL, 'a', '{b,c}');
EXECUTE p (2, NULL, NULL);
EXECUTE p (2, NULL, '{{a,b},{NULL,d}}');
EXECUTE p (1, 'a', '{b,c}');
RESET plan_cache_mode;

-- many keys, and more than the memory allows
CREATE FUNCTION many(n integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE result bigint;
BEGIN
  EXECUTE 'SELECT count(*) FROM two WHERE ' || (SELECT string_agg(format('(a = %s AND b = %L)', g % 13, chr(97 + g % 12)), ' OR ') FROM generate_series(1, n) g) INTO result;
  RETURN result;
END $$;
SELECT many(3000);
SELECT count(*) FROM one WHERE k = ANY (ARRAY(SELECT generate_series(1, 100000))) AND k = ANY (ARRAY(SELECT generate_series(49, 200000)));
SET fluss_fdw.max_buffered_bytes = '1MB';
SELECT count(*) FROM two WHERE a = ANY (ARRAY(SELECT generate_series(1, 1000))) AND b = ANY (ARRAY(SELECT g::text FROM generate_series(1, 1000) g));
RESET fluss_fdw.max_buffered_bytes;

SELECT fluss_drop_database('keys_server', 'regress_keys', cascade => true);
RESET search_path;
DROP VIEW wrong;
DROP TABLE queries, answers, loc;
DROP DOMAIN number;
DROP FUNCTION answer, scan_of, remote.counters, remote.many;
DROP SCHEMA heap CASCADE;
DROP SERVER keys_server CASCADE;
DROP SCHEMA remote CASCADE;
