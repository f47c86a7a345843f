--
-- INSERT and COPY: both kinds of table, the columns that are written, and fluss_last_write()
--
\set test insert
\i sql/lib/server.sql

\i sql/lib/try.sql

CREATE FOREIGN TABLE events (id integer NOT NULL, name text, n integer DEFAULT 7, twice integer GENERATED ALWAYS AS (n * 2) STORED,
  _bucket integer OPTIONS (metadata 'bucket'), _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER insert_server;
SELECT fluss_create_table('events', bucket_key => '{id}', bucket_count => 1);
CREATE FOREIGN TABLE state (id integer NOT NULL, name text, n integer, note text) SERVER insert_server;
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 2);

-- nothing written yet
SELECT count(*) FROM fluss_last_write();

--
-- a log table: defaults, generated columns, missing columns are NULL
--
INSERT INTO events (id, name, n) VALUES (1, 'one', 1), (2, NULL, DEFAULT);
INSERT INTO events (id, n) VALUES (3, NULL);
INSERT INTO events (id) SELECT g FROM generate_series(4, 6) g;
SELECT * FROM events ORDER BY _log_offset;
SELECT partition_id, bucket, first_offset, last_offset, rows FROM fluss_last_write();
INSERT INTO events (id, name) VALUES (7, 'seven') RETURNING id, name, n, twice, _bucket, _log_offset;
SELECT first_offset, last_offset, rows FROM fluss_last_write();
INSERT INTO events (id) SELECT 1 WHERE false;
SELECT count(*) FROM fluss_last_write();
-- metadata columns take no value
CALL try('INSERT INTO events VALUES (8, ''x'', 1, DEFAULT, 0, 0)');
CALL try('INSERT INTO events (id, _log_offset) VALUES (8, 0)');
CALL try('INSERT INTO events (_bucket, id) SELECT 0, 8');
-- NULL where Fluss has none
CALL try('INSERT INTO events (id, name) VALUES (8, ''x''), (NULL, ''y'')');
CALL try('INSERT INTO events (name) VALUES (''x'')');
CALL try('INSERT INTO events DEFAULT VALUES');
SELECT count(*) FROM events WHERE id = 8;
-- a failed statement is no last write
INSERT INTO events (id) VALUES (9);
CALL try('INSERT INTO events (id, n) SELECT g, 1 / (g - 3) FROM generate_series(1, 5) g');
SELECT rows FROM fluss_last_write();
SELECT count(*) FROM events;

-- an error in the middle of many rows reaches the client, and the session goes on
CALL try('INSERT INTO events (id, name) SELECT nullif(g, 10000), ''row'' FROM generate_series(1, 15000) g');
SELECT rows FROM fluss_last_write();
SELECT id, n FROM events LIMIT 1;
-- nor is there a bucket for NULL
CREATE FOREIGN TABLE bucketed (part text, n integer) SERVER insert_server;
SELECT fluss_create_table('bucketed', bucket_key => '{part}', bucket_count => 2);
CALL try('INSERT INTO bucketed VALUES (''a'', 1), (NULL, 2)');
DROP FOREIGN TABLE bucketed;
-- prepared, with custom and generic plans
PREPARE add_event (integer, text) AS INSERT INTO events (id, name) VALUES ($1, $2);
EXECUTE add_event (10, 'p'); EXECUTE add_event (11, 'p'); EXECUTE add_event (12, 'p'); EXECUTE add_event (13, NULL);
EXECUTE add_event (14, 'p'); EXECUTE add_event (15, 'p'); EXECUTE add_event (16, 'p'); EXECUTE add_event (17, 'p');
SELECT count(DISTINCT id), count(*) FILTER (WHERE name = 'p') FROM events WHERE id BETWEEN 10 AND 17;

--
-- COPY
--
COPY events (id, name) FROM stdin;
20	copied
21	\N
\.
SELECT id, name, n, twice FROM events WHERE name = 'copied' OR (id = 21 AND name IS NULL) ORDER BY id;
SELECT rows FROM fluss_last_write();
COPY events FROM stdin;
22	x	1	0	0
\.
COPY state FROM stdin (DELIMITER ',');
1,one,1,first
2,two,2,second
\.
SELECT * FROM state ORDER BY id;
-- a bad row in the middle
COPY state (id, n) FROM stdin (DELIMITER ',');
3,3
4,four
\.
SELECT count(*) FROM state WHERE id = 4;
CREATE TABLE local_copy AS SELECT g AS id, 'name ' || g AS name, g % 13 AS n FROM generate_series(100, 5099) g;
COPY state (id, name, n) FROM PROGRAM $$awk 'BEGIN { for (g = 100; g < 5100; g++) print g "\tname " g "\t" g % 13 }'$$;
SELECT count(*) FROM ((SELECT id, name, n FROM state WHERE id >= 100 EXCEPT ALL TABLE local_copy) UNION ALL (TABLE local_copy EXCEPT ALL SELECT id, name, n FROM state)) d;
SELECT sum(rows), count(*), bool_and(first_offset IS NULL), bool_and(last_offset >= 0) FROM fluss_last_write();

--
-- a primary key table: upsert, partial update
--
INSERT INTO state VALUES (1, 'uno', 11, 'again');
INSERT INTO state (id, n) VALUES (1, 12);
INSERT INTO state (n, id) VALUES (5, 50);
INSERT INTO state (id) VALUES (2);
INSERT INTO state (id, note) VALUES (2, NULL);
SELECT * FROM state WHERE id IN (1, 2, 50) ORDER BY id;
-- the last of several rows of one key stays
INSERT INTO state (id, name) VALUES (1, 'a'), (2, 'b'), (1, 'c');
SELECT * FROM state WHERE id IN (1, 2) ORDER BY id;
-- a foreign table that declares fewer columns does not erase the others
CREATE FOREIGN TABLE state_part (id integer, count integer OPTIONS (column_name 'n')) SERVER insert_server OPTIONS (table_name 'state');
INSERT INTO state_part VALUES (1, 99);
SELECT * FROM state WHERE id = 1;
-- the default of a view's column is written, and what has none is left alone
CREATE VIEW state_view AS SELECT id, name, n FROM state;
ALTER VIEW state_view ALTER COLUMN name SET DEFAULT 'of the view';
INSERT INTO state VALUES (41, 'old', 1, 'old'), (42, 'old', 1, 'old'), (43, 'old', 1, 'old');
INSERT INTO state_view (id) VALUES (40), (41);
INSERT INTO state_view (id, name) VALUES (42, NULL);
INSERT INTO state_view (id, name) SELECT 43, 'given';
SELECT * FROM state WHERE id BETWEEN 40 AND 43 ORDER BY id;
DROP VIEW state_view;
CREATE FOREIGN TABLE state_keyless (name text) SERVER insert_server OPTIONS (table_name 'state');
CALL try('INSERT INTO state_keyless VALUES (''x'')');
CALL try('INSERT INTO state (name) VALUES (''x'')');
CALL try('INSERT INTO state VALUES (NULL, ''x'')');
CREATE FOREIGN TABLE state_twice (id integer, a text OPTIONS (column_name 'name'), b text OPTIONS (column_name 'name')) SERVER insert_server OPTIONS (table_name 'state');
INSERT INTO state_twice (id, a) VALUES (1, 'once');
CALL try('INSERT INTO state_twice VALUES (1, ''a'', ''b'')');
-- where a partial update is not allowed
CREATE FOREIGN TABLE strict (id integer NOT NULL, a integer NOT NULL, b integer) SERVER insert_server;
SELECT fluss_create_table('strict', primary_key => '{id}', bucket_count => 1);
INSERT INTO strict VALUES (1, 1, NULL);
CALL try('INSERT INTO strict (id, a) VALUES (1, 2)');
CALL try('INSERT INTO strict VALUES (1, NULL, 1)');
CREATE FOREIGN TABLE first_rows (id integer NOT NULL, a integer, b integer) SERVER insert_server;
SELECT fluss_create_table('first_rows', primary_key => '{id}', bucket_count => 1, properties => '{"table.merge-engine": "first_row"}');
INSERT INTO first_rows VALUES (1, 1, 1);
INSERT INTO first_rows VALUES (1, 2, 2);
SELECT * FROM first_rows;
CALL try('INSERT INTO first_rows (id, a) VALUES (1, 2)');

--
-- triggers, checks, RETURNING
--
CREATE FUNCTION set_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note := coalesce(NEW.note, 'from trigger'); RETURN NEW; END $$;
CREATE FUNCTION skip_odd() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id % 2 = 1 THEN RETURN NULL; END IF; RETURN NEW; END $$;
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'after %', NEW; RETURN NULL; END $$;
CREATE TRIGGER a BEFORE INSERT ON state FOR EACH ROW EXECUTE FUNCTION set_note();
CREATE TRIGGER b AFTER INSERT ON state FOR EACH ROW EXECUTE FUNCTION tell();
INSERT INTO state (id, n) VALUES (60, 1), (61, 2) RETURNING *;
SELECT * FROM state WHERE id IN (60, 61) ORDER BY id;
CREATE TRIGGER c BEFORE INSERT ON state FOR EACH ROW EXECUTE FUNCTION skip_odd();
INSERT INTO state (id) VALUES (62), (63);
SELECT * FROM state WHERE id IN (62, 63) ORDER BY id;
DROP TRIGGER a ON state; DROP TRIGGER b ON state; DROP TRIGGER c ON state;
CREATE FUNCTION set_offset() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW._log_offset := 1; RETURN NEW; END $$;
CREATE TRIGGER a BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION set_offset();
CALL try('INSERT INTO events (id) VALUES (30)');
DROP TRIGGER a ON events;
CREATE VIEW small_state AS SELECT id, name, n FROM state WHERE n < 10 WITH CHECK OPTION;
INSERT INTO small_state VALUES (70, 'x', 5);
CALL try('INSERT INTO small_state VALUES (71, ''x'', 10)');
SELECT * FROM state WHERE id IN (70, 71);
-- as with any foreign table, a constraint is a promise that is not checked
ALTER FOREIGN TABLE state ADD CONSTRAINT positive CHECK (id > 0);
CALL try('INSERT INTO state (id) VALUES (-1)');

--
-- several targets in one statement are one write; statements inside are not its
--
CREATE FOREIGN TABLE events2 (id integer, name text) SERVER insert_server;
SELECT fluss_create_table('events2', bucket_count => 1);
WITH a AS (INSERT INTO events (id) VALUES (40), (41) RETURNING id), b AS (INSERT INTO events2 (id) SELECT id FROM a RETURNING id)
INSERT INTO state (id) SELECT id FROM b;
SELECT count(DISTINCT table_id), sum(rows) FROM fluss_last_write();
CREATE FUNCTION log_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events2 VALUES (NEW.id, 'logged'); RETURN NULL; END $$;
CREATE TRIGGER a AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION log_it();
INSERT INTO events (id) VALUES (42), (43), (44);
SELECT rows FROM fluss_last_write();
DROP TRIGGER a ON events;
SELECT id, name FROM events2 ORDER BY id;

--
-- a statement that reads what it writes does not see its own rows
--
INSERT INTO events2 SELECT id + 1000, name FROM events2;
SELECT count(*) FROM events2;
INSERT INTO events2 SELECT a.id + 2000, b.name FROM events2 a JOIN events2 b ON a.id = b.id + 1000;
SELECT count(*) FROM events2;
INSERT INTO state (id, n) SELECT id + 10000, n FROM state WHERE id < 10000;
SELECT count(*), count(*) FILTER (WHERE id >= 10000) FROM state;

--
-- partitions
--
CREATE TABLE parted (id integer NOT NULL, name text DEFAULT 'default', n integer) PARTITION BY RANGE (id);
CREATE TABLE parted_local PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE FOREIGN TABLE parted_fluss PARTITION OF parted FOR VALUES FROM (100) TO (200) SERVER insert_server;
SELECT fluss_create_table('parted_fluss', primary_key => '{id}', bucket_count => 2);
INSERT INTO parted (id, n) SELECT g, g FROM generate_series(98, 101) g;
SELECT tableoid::regclass, * FROM parted ORDER BY id;
SELECT sum(rows) FROM fluss_last_write();
INSERT INTO parted (id, name) VALUES (100, 'changed') RETURNING tableoid::regclass, *;
SELECT * FROM parted_fluss ORDER BY id;
COPY parted (id, n) FROM stdin;
99	1
102	2
103	3
\.
SELECT tableoid::regclass, * FROM parted ORDER BY id, n;
UPDATE parted SET id = 150 WHERE id = 98;
SELECT tableoid::regclass, * FROM parted WHERE id IN (98, 150);
CALL try('INSERT INTO parted (id) VALUES (100) ON CONFLICT DO NOTHING');

--
-- what is refused
--
CALL try('UPDATE events SET n = 1');
CALL try('DELETE FROM events WHERE id = 1');
CALL try('TRUNCATE state');
CALL try('INSERT INTO state (id) VALUES (1) ON CONFLICT DO NOTHING');
CALL try('INSERT INTO state (id) VALUES (1) ON CONFLICT (id) DO NOTHING');
CALL try('INSERT INTO state (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET n = 1');
CALL try('MERGE INTO state s USING (VALUES (1)) v (id) ON s.id = v.id WHEN NOT MATCHED THEN INSERT (id) VALUES (v.id)');
ALTER FOREIGN TABLE state OPTIONS (ADD updatable 'false');
CALL try('INSERT INTO state (id) VALUES (1)');
ALTER FOREIGN TABLE state OPTIONS (SET updatable 'true');
BEGIN READ ONLY;
INSERT INTO state (id) VALUES (1);
ROLLBACK;
-- a rollback does not take back what was acknowledged
BEGIN;
INSERT INTO state (id, name) VALUES (80, 'stays');
ROLLBACK;
SELECT id, name FROM state WHERE id = 80;
-- other writers' options
ALTER FOREIGN TABLE state OPTIONS (ADD writer_enable_idempotence 'false', ADD writer_batch_size '1kB', ADD batch_size '3');
INSERT INTO state (id, name) SELECT g, repeat('x', 100) FROM generate_series(20001, 20100) g;
SELECT count(*) FROM state WHERE id > 20000;
SELECT sum(rows) FROM fluss_last_write();
-- who does not wait for all replicas writes without idempotence
ALTER FOREIGN TABLE state OPTIONS (SET writer_enable_idempotence 'true', ADD writer_acks '1');
INSERT INTO state (id, name) VALUES (80, 'leader');
SELECT sum(rows) FROM fluss_last_write();
ALTER FOREIGN TABLE state OPTIONS (SET writer_acks '0');
INSERT INTO state (id, name) VALUES (80, 'nobody');
SELECT sum(rows) FROM fluss_last_write();

--
-- EXPLAIN
--
EXPLAIN (COSTS OFF) INSERT INTO state (id) VALUES (1);
CREATE FUNCTION explain_json(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
  RETURN plan -> 0 -> 'Plan';
END $$;
SELECT explain_json('INSERT INTO events (id) SELECT id FROM local_copy') ->> 'Fluss Table';
CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
    CONTINUE WHEN line ~ '(Fluss Bytes|Memory Usage|Planning|Buffers|Fluss Batches)';
    RETURN NEXT regexp_replace(regexp_replace(line, 'actual rows=(\d+)(\.00)? loops', 'actual rows=\1 loops'), 'init writer 1, ', '');
  END LOOP;
END $$;
SELECT explain_analyze('INSERT INTO events (id) VALUES (90), (91)');
SELECT rows FROM fluss_last_write();

SELECT fluss_drop_database('insert_server', 'regress_insert', cascade => true);
DROP VIEW small_state;
DROP TABLE parted, local_copy;
DROP SERVER insert_server CASCADE;
DROP FUNCTION set_note, skip_odd, tell, set_offset, log_it, explain_json, explain_analyze;
DROP PROCEDURE try;
