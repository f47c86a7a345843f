-- UPDATE and DELETE: which columns are written, what tables allow, joins, triggers, views, partitions
\set test change
\i sql/lib/server.sql
\i sql/lib/try.sql

-- the same rows in a heap table, and the same commands on both
CREATE FOREIGN TABLE state (id integer, part text, n integer, note text, at timestamp(6), _bucket integer OPTIONS (metadata 'bucket')) SERVER change_server;
SELECT fluss_create_table('state', primary_key => '{id,part}', bucket_count => 3);
CREATE TABLE heap (id integer, part text, n integer, note text, at timestamp(6), PRIMARY KEY (id, part));
INSERT INTO heap SELECT g, 'p' || g % 2, g * 10, CASE WHEN g % 7 <> 0 THEN 'note ' || g END, timestamp '2026-01-01' + g * interval '1 day' FROM generate_series(1, 200) g;
INSERT INTO state SELECT * FROM heap;
CREATE VIEW difference AS (SELECT id, part, n, note, at FROM state EXCEPT ALL SELECT * FROM heap) UNION ALL (SELECT * FROM heap EXCEPT ALL SELECT id, part, n, note, at FROM state);
CREATE PROCEDURE twin(command text) LANGUAGE plpgsql AS $$
DECLARE a bigint; b bigint; d bigint;
BEGIN
  EXECUTE format(command, 'state'); GET DIAGNOSTICS a = ROW_COUNT;
  EXECUTE format(command, 'heap'); GET DIAGNOSTICS b = ROW_COUNT;
  COMMIT;
  SELECT count(*) FROM difference INTO d;
  RAISE WARNING '% rows%: %', a, CASE WHEN a <> b OR d > 0 THEN format(' BUT %s, %s differ', b, d) ELSE '' END, command;
END $$;
CALL twin('UPDATE %s SET n = n + 1 WHERE id = 5 AND part = ''p1''');
CALL twin('UPDATE %s SET n = n + 1, note = NULL WHERE id IN (1, 2, 3)');
CALL twin('UPDATE %s SET note = note || ''!'' WHERE n > 1000');
CALL twin('UPDATE %s SET n = NULL, at = at + interval ''1 us'' WHERE mod(id, 10) = 0');
CALL twin('UPDATE %s SET n = 0 WHERE id = 1000');
CALL twin('UPDATE %s SET (n, note) = (SELECT 1, ''x'') WHERE id = 7');
CALL twin('DELETE FROM %s WHERE id = 8 AND part = ''p0''');
CALL twin('DELETE FROM %s WHERE id BETWEEN 20 AND 30');
CALL twin('DELETE FROM %s WHERE id = 8');
CALL twin('INSERT INTO %s VALUES (8, ''p0'', 8)');
-- a row that a join gives several times is changed once
CALL twin('UPDATE %s t SET n = 77 FROM (VALUES (40), (41), (41), (41)) v (x) WHERE t.id = v.x');
CALL twin('DELETE FROM %s t USING (VALUES (40), (42), (42)) v (x) WHERE t.id = v.x');
CALL twin('DELETE FROM %1$s t USING %1$s u WHERE t.id = u.id + 100 AND u.id < 20');
CALL twin('UPDATE %1$s t SET n = (SELECT count(*) FROM %1$s) WHERE id < 10');
-- the statement does not see what it writes
CALL twin('INSERT INTO %1$s (id, part, n) SELECT id + 1000, part, n FROM %1$s');
CALL twin('UPDATE %s SET n = coalesce(n, 0) + 1');
CALL twin('WITH gone AS (DELETE FROM %1$s WHERE id > 1000 RETURNING *) UPDATE %1$s t SET note = gone.id::text FROM gone WHERE t.id = gone.id - 1000');
SELECT count(*) FROM state WHERE id > 1000;
-- prepared
PREPARE change(integer, integer) AS UPDATE state SET n = $2 WHERE id = $1;
EXECUTE change(50, 1); EXECUTE change(50, 2); EXECUTE change(50, 3); EXECUTE change(50, 4); EXECUTE change(50, 5); EXECUTE change(50, 6); EXECUTE change(51, 7);
SELECT id, n FROM state WHERE id IN (50, 51);
-- RETURNING
UPDATE state SET n = n * 2 WHERE id = 51 RETURNING id, part, n, note, tableoid::regclass;
DELETE FROM state WHERE id = 51 RETURNING id, part, n, note, at, tableoid::regclass;
DELETE FROM state WHERE id = 51 RETURNING *;
UPDATE state SET n = n WHERE id = 52 RETURNING (SELECT count(*) FROM fluss_last_write());
DELETE FROM state WHERE id = 53;
SELECT partition_id, first_offset IS NULL AS unknown, rows FROM fluss_last_write();
-- one lookup, one partial write
EXPLAIN (COSTS OFF) UPDATE state SET n = 1 WHERE id = 1 AND part = 'p1';
EXPLAIN (COSTS OFF) DELETE FROM state WHERE id = 1 AND part = 'p1';
-- what is refused
CALL try('UPDATE state SET id = 1 WHERE id = 2');
CALL try('UPDATE state SET _bucket = 1 WHERE id = 2');
CALL try('TRUNCATE state');
SELECT pg_relation_is_updatable('state', false);

-- columns that the foreign table does not have keep their values
CREATE FOREIGN TABLE half (key1 integer OPTIONS (column_name 'id'), part text, n integer) SERVER change_server OPTIONS (table_name 'state');
UPDATE half SET n = 4242 WHERE key1 = 60;
SELECT id, part, n, note FROM state WHERE id = 60;
CREATE FOREIGN TABLE no_key (id integer, n integer) SERVER change_server OPTIONS (table_name 'state');
CALL try('UPDATE no_key SET n = 1');
CALL try('DELETE FROM no_key');

-- a log table
CREATE FOREIGN TABLE events (id integer, n integer) SERVER change_server;
SELECT fluss_create_table('events', bucket_count => 2);
INSERT INTO events SELECT g, g FROM generate_series(1, 10) g;
BEGIN;
SAVEPOINT one;
UPDATE events SET n = 1;
ROLLBACK TO one;
DELETE FROM events;
ROLLBACK;
SELECT count(*) FROM events;
EXPLAIN UPDATE events SET n = 1;
-- it may be copied into itself: its scans end where it ended before
INSERT INTO events SELECT id, n + 100 FROM events;
INSERT INTO events SELECT a.id, b.n FROM events a JOIN events b USING (id);
SELECT count(*), sum(n) FROM events;

-- a table that takes no partial update gets whole rows
CREATE FOREIGN TABLE strict (id integer NOT NULL, n integer NOT NULL, note text) SERVER change_server;
SELECT fluss_create_table('strict', primary_key => '{id}', bucket_count => 1);
INSERT INTO strict VALUES (1, 1, 'one'), (2, 2, 'two');
UPDATE strict SET note = 'eins' WHERE id = 1;
SELECT * FROM strict ORDER BY id;
CALL try('UPDATE strict SET n = NULL WHERE id = 1');
ALTER FOREIGN TABLE strict DROP COLUMN note;
CALL try('UPDATE strict SET n = 5 WHERE id = 1');

-- merge engines and delete behaviors
CREATE FOREIGN TABLE first_row (id integer, n integer) SERVER change_server;
SELECT fluss_create_table('first_row', primary_key => '{id}', bucket_count => 1, properties => '{"table.merge-engine": "FIRST_ROW"}');
INSERT INTO first_row VALUES (1, 1);
INSERT INTO first_row VALUES (1, 2), (2, 2) ON CONFLICT DO NOTHING;
SELECT * FROM first_row ORDER BY id;
CALL try('UPDATE first_row SET n = 3');
CALL try('DELETE FROM first_row');
CALL try('INSERT INTO state (id, part) VALUES (1, ''p'') ON CONFLICT DO NOTHING');
CREATE FOREIGN TABLE versioned (id integer, v bigint, n integer) SERVER change_server;
SELECT fluss_create_table('versioned', primary_key => '{id}', bucket_count => 1, properties => '{"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "v"}');
INSERT INTO versioned VALUES (1, 10, 1), (2, NULL, 2);
UPDATE versioned SET n = 11 WHERE id = 1;
UPDATE versioned SET n = 12, v = v + 1 WHERE id = 1;
CALL try('UPDATE versioned SET v = 10 WHERE id = 1');
CALL try('UPDATE versioned SET v = NULL WHERE id = 1');
UPDATE versioned SET v = 5 WHERE id = 2;
SELECT * FROM versioned ORDER BY id;
CALL try('DELETE FROM versioned');
-- SET is no merging: a NULL would be ignored by the aggregation
CREATE FOREIGN TABLE merged (id integer, n integer, note text) SERVER change_server;
SELECT fluss_create_table('merged', primary_key => '{id}', bucket_count => 1, properties => '{"table.merge-engine": "aggregation", "table.delete.behavior": "ALLOW"}');
INSERT INTO merged VALUES (1, 1, 'a'), (2, 2, 'b');
INSERT INTO merged VALUES (1, NULL, 'c');
SELECT * FROM merged ORDER BY id;
UPDATE merged SET n = NULL WHERE id = 1;
DELETE FROM merged WHERE id = 2;
SELECT * FROM merged ORDER BY id;
CREATE FOREIGN TABLE disabled (id integer, n integer) SERVER change_server;
SELECT fluss_create_table('disabled', primary_key => '{id}', bucket_count => 1, properties => '{"table.delete.behavior": "disable"}');
INSERT INTO disabled VALUES (1, 1);
UPDATE disabled SET n = 2;
CALL try('DELETE FROM disabled');
SELECT * FROM disabled;

-- triggers: BEFORE ones change the row, AFTER ones see it and what Fluss has
CREATE TABLE trace (line text);
CREATE FUNCTION before_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note := 'was ' || coalesce(OLD.note, 'null'); RETURN NEW; END $$;
CREATE FUNCTION after_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO trace SELECT concat_ws(' ', TG_OP, OLD.id, OLD.n, OLD.note, '>', NEW.n, NEW.note, '; now', (SELECT concat_ws(' ', s.n, s.note) FROM trig s WHERE s.id = OLD.id));
  RETURN NULL;
END $$;
CREATE FOREIGN TABLE trig (id integer NOT NULL, n integer, note text) SERVER change_server;
SELECT fluss_create_table('trig', primary_key => '{id}', bucket_count => 1);
INSERT INTO trig VALUES (1, 1, 'a'), (2, 2, NULL);
CREATE TRIGGER before_row BEFORE UPDATE ON trig FOR EACH ROW EXECUTE FUNCTION before_row();
CREATE TRIGGER after_row AFTER UPDATE OR DELETE ON trig FOR EACH ROW EXECUTE FUNCTION after_row();
UPDATE trig SET n = n + 10;
DELETE FROM trig WHERE id = 2;
SELECT * FROM trace;
SELECT * FROM trig;
CREATE OR REPLACE FUNCTION before_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.id := NEW.id + 1; RETURN NEW; END $$;
CALL try('UPDATE trig SET n = 0');
SELECT * FROM trig;

-- generated columns
CREATE FOREIGN TABLE doubled (id integer NOT NULL, n integer, twice integer GENERATED ALWAYS AS (n * 2) STORED, note text) SERVER change_server;
SELECT fluss_create_table('doubled', primary_key => '{id}', bucket_count => 1);
INSERT INTO doubled (id, n, note) VALUES (1, 1, 'x');
UPDATE doubled SET n = 5;
SELECT * FROM doubled;
UPDATE doubled SET note = 'y' RETURNING *;

-- a view with a check
CREATE VIEW small AS SELECT id, n FROM doubled WHERE n < 100 WITH CHECK OPTION;
UPDATE small SET n = 50;
CALL try('UPDATE small SET n = 500');
SELECT n, twice FROM doubled;

-- below a partitioned parent, in another order of columns
CREATE TABLE parent (id integer, note text, n integer) PARTITION BY RANGE (id);
CREATE TABLE parent_local PARTITION OF parent FOR VALUES FROM (100) TO (200);
CREATE FOREIGN TABLE child (n integer, gone text, id integer, note text) SERVER change_server OPTIONS (table_name 'trig2');
ALTER FOREIGN TABLE child DROP COLUMN gone;
ALTER TABLE parent ATTACH PARTITION child FOR VALUES FROM (0) TO (100);
SELECT fluss_create_table('child', primary_key => '{id}', bucket_count => 2);
INSERT INTO parent SELECT g, 'n', g FROM generate_series(1, 199) g WHERE g % 9 = 0;
UPDATE parent SET note = 'changed', n = -n WHERE id < 40 OR id > 180;
DELETE FROM parent WHERE id IN (9, 189);
DELETE FROM parent WHERE id IN (18, 198) RETURNING tableoid::regclass, *;
UPDATE parent SET note = 'again' WHERE id IN (27, 108) RETURNING tableoid::regclass, *;
SELECT tableoid::regclass, count(*), sum(n), count(*) FILTER (WHERE note = 'changed') FROM parent GROUP BY 1 ORDER BY 1;

-- rows that an UPDATE moves into foreign tables, which it updates as well
CREATE TABLE moved (id integer, part text, n integer) PARTITION BY LIST (part);
CREATE TABLE moved_a PARTITION OF moved FOR VALUES IN ('a');
CREATE FOREIGN TABLE moved_f PARTITION OF moved FOR VALUES IN ('f') SERVER change_server;
CREATE FOREIGN TABLE moved_g PARTITION OF moved FOR VALUES IN ('g') SERVER change_server;
CREATE TABLE moved_z PARTITION OF moved FOR VALUES IN ('z');
SELECT fluss_create_table('moved_f', primary_key => '{id}', bucket_count => 1), fluss_create_table('moved_g', primary_key => '{id}', bucket_count => 1);
INSERT INTO moved SELECT g, (array['a', 'f', 'z'])[1 + g % 3], 0 FROM generate_series(1, 9) g;
UPDATE moved SET part = 'f', n = n + 1;
SELECT tableoid::regclass, count(*), sum(n), sum(id) FROM moved GROUP BY 1;
SELECT sum(rows) FROM fluss_last_write();
INSERT INTO moved VALUES (10, 'a', 0);
UPDATE moved SET part = 'g', n = n + 1 WHERE id = 10;
CALL try('UPDATE moved SET part = ''g''');
CALL try('UPDATE moved SET part = ''a'' WHERE id = 1');
CALL try('UPDATE moved_f SET part = ''a'' WHERE id = 1');
SELECT tableoid::regclass, part, count(*), sum(n), sum(id) FROM moved GROUP BY 1, 2 ORDER BY 2;
DROP TABLE moved;

-- keys whose values PostgreSQL does not hold exactly
CREATE FOREIGN TABLE fine (at timestamp(6) OPTIONS (fluss_type 'TIMESTAMP(9)'), n integer) SERVER change_server;
SELECT fluss_create_table('fine', primary_key => '{at}', bucket_count => 1);
CALL try('UPDATE fine SET n = 1');

SELECT fluss_drop_database('change_server', 'regress_change', cascade => true);
DROP VIEW difference, small;
DROP SERVER change_server CASCADE;
DROP TABLE heap, parent, trace;
DROP PROCEDURE try, twin;
DROP FUNCTION before_row, after_row;
