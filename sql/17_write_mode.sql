-- write_mode commit: what is written with the transaction, and what is not
\set test commit
\i sql/lib/server.sql
ALTER SERVER commit_server OPTIONS (ADD write_mode 'commit');
CREATE FOREIGN TABLE events (id integer, note text, _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER commit_server;
SELECT fluss_create_table('events', bucket_count => 1);
CREATE FOREIGN TABLE state (id integer, n integer, note text) SERVER commit_server;
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 2);
CREATE FOREIGN TABLE at_once (id integer, n integer) SERVER commit_server OPTIONS (write_mode 'statement');
SELECT fluss_create_table('at_once', primary_key => '{id}', bucket_count => 1);

-- a statement by itself is a transaction
INSERT INTO events SELECT g, 'one' FROM generate_series(1, 3) g;
SELECT id, note, _log_offset FROM events ORDER BY 3;
SELECT bucket, first_offset, last_offset, rows FROM fluss_last_write();

-- several statements: not seen before the commit, written with it, all or nothing
BEGIN;
INSERT INTO events VALUES (4, 'two');
INSERT INTO events VALUES (5, 'two');
INSERT INTO state VALUES (1, 1, 'a'), (2, 2, 'b');
UPDATE state SET n = 3 WHERE id = 1;
SELECT count(*) FROM events;
SELECT count(*) FROM state;
COMMIT;
SELECT count(*) FROM events;
SELECT * FROM state ORDER BY id;
SELECT sum(rows) FROM fluss_last_write();
BEGIN;
INSERT INTO events VALUES (6, 'lost');
UPDATE state SET n = 100;
DELETE FROM state WHERE id = 1;
INSERT INTO at_once VALUES (1, 1);
ROLLBACK;
SELECT max(id) FROM events;
SELECT * FROM state ORDER BY id;
SELECT * FROM at_once;

-- writes to one row keep their order, whatever columns they write
BEGIN;
INSERT INTO state VALUES (10, 1, 'first');
INSERT INTO state (id, n) VALUES (10, 2);
INSERT INTO state VALUES (10, 3, 'third');
INSERT INTO state (id, note) VALUES (10, 'fourth');
COMMIT;
SELECT * FROM state WHERE id = 10;

-- savepoints and exception blocks
BEGIN;
INSERT INTO events VALUES (7, 'kept');
SAVEPOINT a;
INSERT INTO events VALUES (8, 'dropped');
SAVEPOINT b;
INSERT INTO events VALUES (9, 'dropped');
RELEASE b;
ROLLBACK TO a;
INSERT INTO events VALUES (10, 'kept');
SAVEPOINT c;
INSERT INTO events VALUES (11, 'kept');
RELEASE c;
INSERT INTO events VALUES (12, 'kept');
COMMIT;
SELECT id, note FROM events WHERE id >= 7 ORDER BY _log_offset;
DO $$
BEGIN
  FOR i IN 20 .. 29 LOOP
    BEGIN
      INSERT INTO events VALUES (i, 'block');
      IF i % 3 = 0 THEN RAISE EXCEPTION 'no'; END IF;
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
  END LOOP;
END $$;
SELECT array_agg(id ORDER BY _log_offset) FROM events WHERE id >= 20;
BEGIN;
INSERT INTO events VALUES (30, 'before an error');
SAVEPOINT a;
INSERT INTO events SELECT g, (1 / (35 - g))::text FROM generate_series(31, 40) g;
ROLLBACK TO a;
COMMIT;
SELECT array_agg(id ORDER BY _log_offset) FROM events WHERE id >= 30;

-- a deferred trigger still writes
CREATE TABLE local (id integer);
CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO events VALUES (NEW.id, 'late'); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON local DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late();
BEGIN;
INSERT INTO local VALUES (50), (51);
SELECT count(*) FROM events WHERE id >= 50;
COMMIT;
SELECT id, note FROM events WHERE id >= 50 ORDER BY id;

-- COPY
BEGIN;
COPY events (id, note) FROM STDIN;
60	copied
61	copied
\.
SELECT count(*) FROM events WHERE id >= 60;
COMMIT;
SELECT count(*) FROM events WHERE id >= 60;

-- past the memory cap
SET fluss_fdw.max_buffered_bytes = '1MB';
INSERT INTO state SELECT g, g, repeat('x', 1000) FROM generate_series(1, 3000) g;
BEGIN;
INSERT INTO state SELECT g, g, repeat('x', 1000) FROM generate_series(1001, 1700) g;
SAVEPOINT a;
INSERT INTO at_once SELECT g, g FROM generate_series(2, 1000) g;
INSERT INTO state (id, note) SELECT g, repeat('x', 1000) FROM generate_series(2001, 2700) g;
ROLLBACK TO a;
COMMIT;
RESET fluss_fdw.max_buffered_bytes;
SELECT count(*), min(id) FROM state WHERE id > 1000;
SELECT count(*) FROM at_once;

-- prepared transactions
BEGIN;
INSERT INTO events VALUES (70, 'prepared');
PREPARE TRANSACTION 'fluss';
ROLLBACK;
BEGIN;
INSERT INTO at_once VALUES (5000, 1);
PREPARE TRANSACTION 'fluss';
SELECT count(*) FROM events WHERE id = 70;
-- a session goes on after all that
INSERT INTO events VALUES (80, 'last');
SELECT id, note FROM events WHERE id >= 70;

SELECT fluss_drop_database('commit_server', 'regress_commit', cascade => true);
-- what cannot be written makes the transaction fail
BEGIN;
INSERT INTO local VALUES (1);
INSERT INTO events VALUES (90, 'nowhere');
COMMIT;
SELECT count(*) FROM local;
DROP SERVER commit_server CASCADE;
DROP TABLE local;
DROP FUNCTION late;
