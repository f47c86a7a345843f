--
-- Columns that were added later: NULL in what was written before, in every kind of scan
--
\set test added
\i sql/lib/server.sql
SET jit = off;
CREATE FOREIGN TABLE arrow_log (id integer, v text, off bigint OPTIONS (metadata 'log_offset')) SERVER added_server;
CREATE FOREIGN TABLE indexed_log (id integer, v text) SERVER added_server;
CREATE FOREIGN TABLE compacted_log (id integer, v text) SERVER added_server;
CREATE FOREIGN TABLE keyed (id integer NOT NULL, v text) SERVER added_server;
CREATE FOREIGN TABLE indexed_keyed (id integer NOT NULL, v text) SERVER added_server;
CREATE FOREIGN TABLE prefixed (id integer NOT NULL, d text NOT NULL, v text) SERVER added_server;
SELECT fluss_create_table('arrow_log', bucket_count => 1), fluss_create_table('indexed_log', bucket_count => 1, properties => '{"table.log.format": "indexed"}'),
  fluss_create_table('compacted_log', bucket_count => 1, properties => '{"table.log.format": "compacted"}'), fluss_create_table('keyed', primary_key => '{id}', bucket_count => 2),
  fluss_create_table('indexed_keyed', primary_key => '{id}', bucket_count => 1, properties => '{"table.kv.format": "indexed"}'),
  fluss_create_table('prefixed', primary_key => '{id,d}', bucket_key => '{id}', bucket_count => 1);
CREATE TABLE tables AS SELECT t FROM unnest(ARRAY['arrow_log', 'indexed_log', 'compacted_log', 'keyed', 'indexed_keyed', 'prefixed']) t;
CREATE TABLE columns AS SELECT * FROM (VALUES ('n', 'INT'), ('s', 'STRING'), ('f', 'DOUBLE'), ('a', 'ARRAY<INT>'), ('r', 'ROW<x INT>'), ('b', 'BOOLEAN'), ('dd', 'DECIMAL(10,2)'), ('ts', 'TIMESTAMP(3)'), ('y', 'BYTES')) v (c, type);
CREATE PROCEDURE write_rows(first integer, last integer, more text, vals text) LANGUAGE plpgsql AS $$
DECLARE
  t text;
BEGIN
  FOR t IN SELECT tables.t FROM tables LOOP
    EXECUTE format('INSERT INTO %I (id, v%s%s) SELECT g, ''v''%s%s FROM generate_series(%s, %s) g', t, CASE t WHEN 'prefixed' THEN ', d' END, more, CASE t WHEN 'prefixed' THEN ', ''d''' END, vals, first, last);
  END LOOP;
END $$;
CALL write_rows(1, 10, '', '');
SELECT count(*) FROM arrow_log;
SELECT count(fluss_add_column(t::regclass, c, type)) FROM tables, columns;
-- a backend that knows the old columns only reads on
SELECT count(*), max(v) FROM arrow_log;
SELECT count(*) FROM tables, fluss_sync_columns(t::regclass);
CALL write_rows(11, 15, ', n, s, f, a, r, b, dd, ts, y', ', g, ''s'', g, ARRAY[g, NULL], ''{"x": 1}'', true, g, ''2026-08-04'', ''\x00''');
CREATE TABLE heap AS SELECT g AS id, 'v'::text AS v, g AS n, 's'::text AS s, g::float8 AS f, ARRAY[g, NULL] AS a, '{"x": 1}'::jsonb AS r, true AS b, g::numeric(10,2) AS dd, timestamp(3) '2026-08-04' AS ts, '\x00'::bytea AS y FROM generate_series(11, 15) g;
INSERT INTO heap SELECT g, 'v' FROM generate_series(1, 10) g;

-- every column of every table in every way, compared with a heap table
CREATE FUNCTION answers(tab text) RETURNS TABLE (query text, answer text) LANGUAGE plpgsql AS $$
DECLARE
  c text;
  q text;
BEGIN
  FOR c IN SELECT columns.c FROM columns LOOP
    FOR q IN VALUES ('SELECT string_agg(coalesce(%1$I::text, ''~''), '','' ORDER BY %1$I) FROM %2$I'), ('SELECT string_agg(id::text, '' '' ORDER BY id) FROM %2$I WHERE %1$I IS NULL'),
      ('SELECT string_agg(id::text, '' '' ORDER BY id) FROM %2$I WHERE %1$I IS NOT NULL'), ('SELECT count(%1$I) FROM %2$I'), ('SELECT count(*) FROM %2$I WHERE %1$I IS DISTINCT FROM %1$I'),
      ('SELECT string_agg(id || coalesce(%1$I::text, ''~''), '' '' ORDER BY id) FROM %2$I WHERE id IN (3, 12)'), ('SELECT string_agg(h.id || coalesce(t.%1$I::text, ''~''), '' '' ORDER BY h.id) FROM heap h LEFT JOIN %2$I t ON t.id = h.n - 8'),
      ('SELECT count(*) FROM %2$I WHERE %1$I = (SELECT max(h.%1$I::text) FROM heap h)') LOOP
      query := replace(format(q, c, 'tab'), '"tab"', 'tab');
      BEGIN
        EXECUTE format(q, c, tab) INTO answer;
      EXCEPTION WHEN undefined_function THEN answer := 'no such operator';
      END;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;
SELECT t, a.* FROM tables, answers(t) a EXCEPT SELECT t, a.* FROM tables, answers('heap') a;
SELECT count(*), count(DISTINCT answer) > 10 AS many FROM answers('heap');
-- on column vectors
SELECT sum(n), min(n), avg(f), count(n), sum(dd), max(ts), count(*) FROM arrow_log;
SELECT sum(n), count(*) FROM arrow_log WHERE n > 12 OR n IS NULL;
SELECT count(*) FROM arrow_log WHERE f IS NULL AND off < 3;
SELECT sum(n), count(*) FROM arrow_log WHERE id < 5;
-- written to rows that did not have them
UPDATE keyed SET n = 5 WHERE id = 3;
UPDATE keyed SET v = 'w' WHERE id = 4;
UPDATE indexed_keyed SET n = 5 WHERE id = 3;
UPDATE prefixed SET s = 'new' WHERE id = 2;
DELETE FROM prefixed WHERE id = 1;
SELECT * FROM keyed WHERE id IN (3, 4) ORDER BY id;
SELECT n, v FROM indexed_keyed WHERE id = 3;
SELECT * FROM prefixed WHERE id IN (1, 2);
CREATE FOREIGN TABLE changes (kind text OPTIONS (metadata 'change_type'), id integer, v text, n integer) SERVER added_server OPTIONS (table_name 'keyed', scan_mode 'changelog');
SELECT * FROM changes WHERE id IN (3, 4, 12) ORDER BY id, kind;

SELECT fluss_drop_database('added_server', 'regress_added', cascade => true);
DROP FUNCTION answers;
DROP PROCEDURE write_rows;
DROP TABLE heap, tables, columns;
DROP SERVER added_server CASCADE;
