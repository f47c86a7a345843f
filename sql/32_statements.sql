--
-- Statements around scans and writes: cursors, savepoints, triggers, partitions, views, changes of tables
--
\set test statements
\i sql/lib/server.sql
CREATE FOREIGN TABLE events (id integer, t text, off bigint OPTIONS (metadata 'log_offset')) SERVER statements_server;
CREATE FOREIGN TABLE states (id integer NOT NULL, t text, n integer) SERVER statements_server;
SELECT fluss_create_table('events', bucket_count => 1);
SELECT fluss_create_table('states', primary_key => '{id}', bucket_count => 2);
INSERT INTO events (id, t) SELECT g, 't' || g FROM generate_series(0, 2999) g;
INSERT INTO states SELECT g, 's' || g, g FROM generate_series(0, 9) g;

-- cursors: back and forth, over savepoints, held over the end of the transaction
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM events WHERE off < 10;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
FETCH ABSOLUTE 5 FROM c;
FETCH RELATIVE -2 FROM c;
MOVE BACKWARD ALL FROM c;
MOVE ALL FROM c;
DECLARE h CURSOR WITH HOLD FOR SELECT id FROM events WHERE off BETWEEN 5 AND 8;
FETCH 1 FROM h;
SAVEPOINT one;
DECLARE lost CURSOR FOR SELECT id FROM events;
FETCH 1 FROM lost;
ROLLBACK TO one;
DECLARE kept CURSOR FOR SELECT id FROM events;
FETCH 1 FROM kept;
SAVEPOINT two;
SELECT 1 / (id - 5) FROM events;
ROLLBACK TO two;
FETCH 1 FROM kept;
COMMIT;
FETCH ALL FROM h;
CLOSE h;
BEGIN;
DECLARE fails CURSOR WITH HOLD FOR SELECT 1 / (id - 5) FROM events;
FETCH 1 FROM fails;
COMMIT;
SELECT count(*) FROM events;

-- a server changes while a cursor is open; a table cannot
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM events;
FETCH 1 FROM c;
ALTER SERVER statements_server OPTIONS (ADD fetch_max_bytes '1MB');
SELECT count(*) FROM states;
MOVE 2000 FROM c;
FETCH 1 FROM c;
DROP SERVER statements_server CASCADE;
ROLLBACK;
SELECT count(*) FROM events;

-- exceptions around scans and writes
DO $$
DECLARE
  caught integer := 0;
BEGIN
  FOR i IN 1..200 LOOP
    BEGIN
      PERFORM 1 / (n - 7) FROM states WHERE id = i % 10;
      INSERT INTO states VALUES (100, 'written', 1 / (i % 2));
    EXCEPTION WHEN division_by_zero THEN
      caught := caught + 1;
    END;
  END LOOP;
  RAISE WARNING '% caught', caught;
END $$;
SELECT * FROM states WHERE id = 100;
-- an error in the middle of a statement, and what follows it
INSERT INTO events (id) SELECT 1 / (20000 - g) FROM generate_series(1, 30000) g;
SELECT id FROM events WHERE off = 2999;
BEGIN;
SAVEPOINT one;
DELETE FROM events;
ROLLBACK TO one;
UPDATE events SET t = 'x' WHERE id = 1;
ROLLBACK;
SELECT t FROM states WHERE id = 1;

-- what Fluss tables do not offer
INSERT INTO states VALUES (1, 'x', 1) ON CONFLICT DO NOTHING;
INSERT INTO states VALUES (1, 'x', 1) ON CONFLICT (id) DO UPDATE SET t = 'y';
TRUNCATE states;
COPY events TO STDOUT;
COPY (SELECT id, t FROM events WHERE off < 2) TO STDOUT;

-- COPY FROM, whole and with a bad row; with defaults, NULL and a condition
COPY states FROM STDIN;
200	copied	1
201	\N	5
\.
COPY states (id, n) FROM STDIN WHERE id < 300;
202	3
300	3
\.
COPY states FROM STDIN;
203	fine	1
204	bad	x
\.
SELECT * FROM states WHERE id IN (200, 201, 202, 204, 300) ORDER BY id;

-- triggers see and change rows; defaults and generated columns are written
CREATE FOREIGN TABLE made (id integer NOT NULL, v integer DEFAULT 7, doubled integer GENERATED ALWAYS AS (id * 2) STORED, t text) SERVER statements_server;
SELECT fluss_create_table('made', primary_key => '{id}', bucket_count => 1);
INSERT INTO made (id) VALUES (1), (2);
INSERT INTO made (id, t) VALUES (1, 'again') RETURNING *;
INSERT INTO made (id, doubled) VALUES (1, 5);
INSERT INTO made DEFAULT VALUES;
CREATE FUNCTION made_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'AFTER' THEN
    RAISE WARNING 'after %', NEW;
  ELSIF NEW.id = 99 THEN
    RETURN NULL;
  ELSE
    NEW.t := coalesce(NEW.t, '') || '!';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER before_row BEFORE INSERT ON made FOR EACH ROW EXECUTE FUNCTION made_trigger();
CREATE TRIGGER after_row AFTER INSERT ON made FOR EACH ROW EXECUTE FUNCTION made_trigger();
INSERT INTO made (id, t) VALUES (10, 'ten'), (99, 'skipped'), (11, NULL) RETURNING id, doubled, t;
COPY made (id) FROM STDIN;
20
99
\.
SELECT * FROM made ORDER BY id;
-- a deferred trigger reads and writes at the end of the transaction
CREATE TABLE plain (a integer);
CREATE FUNCTION plain_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE WARNING 'deferred %', (SELECT count(*) FROM events);
  INSERT INTO states VALUES (400, 'deferred', NEW.a);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON plain DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION plain_trigger();
BEGIN;
INSERT INTO plain VALUES (5);
COMMIT;
SELECT * FROM states WHERE id = 400;

-- several targets in one statement, which reads one of them, too
WITH e AS (INSERT INTO events (id, t) VALUES (9000, 'cte') RETURNING id, off),
  s AS (INSERT INTO states SELECT id, 'from cte', 1 FROM e RETURNING *)
SELECT * FROM e, s;
INSERT INTO states SELECT id + 1000, t, n FROM states WHERE id < 10;
SELECT count(*) FROM states WHERE id >= 1000;
SELECT sum(rows) FROM fluss_last_write();

-- functions: stable ones see what their caller sees, volatile ones what they wrote
CREATE FUNCTION count_stable() RETURNS bigint STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM events); END';
CREATE FUNCTION count_volatile() RETURNS bigint LANGUAGE plpgsql AS 'BEGIN INSERT INTO events (id) VALUES (-1); RETURN (SELECT count(*) FROM events); END';
SELECT count(*) - count_stable() AS stable, count_volatile() - count(*) AS volatile FROM events;
SELECT (SELECT count(*) FROM events) - count_stable() AS stable, count_volatile() - (SELECT count(*) FROM events) AS volatile;

-- partitions and children that are Fluss tables, with columns in another order
CREATE TABLE parted (id integer, t text, off bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_local PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE FOREIGN TABLE parted_states (id integer NOT NULL, t text, off bigint) SERVER statements_server;
CREATE FOREIGN TABLE parted_events (t text, gone integer, id integer, off bigint OPTIONS (metadata 'log_offset')) SERVER statements_server;
SELECT fluss_create_table('parted_states', primary_key => '{id}', bucket_count => 2), fluss_create_table('parted_events', bucket_count => 1);
ALTER FOREIGN TABLE parted_events DROP COLUMN gone;
ALTER TABLE parted ATTACH PARTITION parted_states FOR VALUES FROM (100) TO (1000);
ALTER TABLE parted ATTACH PARTITION parted_events FOR VALUES FROM (1000) TO (2000);
INSERT INTO parted (id, t) SELECT g, 't' || g FROM generate_series(90, 1100, 5) g;
SELECT tableoid::regclass, count(*) FROM parted GROUP BY 1 ORDER BY 1;
SELECT tableoid::regclass, * FROM parted WHERE id IN (95, 105, 1005) ORDER BY id;
SELECT tableoid::regclass, * FROM parted WHERE off = 3;
COPY parted (id, t) FROM STDIN;
1	copied
100	copied
1001	copied
\.
SELECT tableoid::regclass, * FROM parted WHERE t = 'copied' ORDER BY id;
INSERT INTO parted (id, t) VALUES (5, 'r'), (120, 'r'), (1400, 'r') RETURNING tableoid::regclass, id, t;
INSERT INTO parted VALUES (1500, 'x', 5);
INSERT INTO parted VALUES (500, 'x') ON CONFLICT DO NOTHING;
INSERT INTO parted (id, t) SELECT id + 1, t FROM parted WHERE id >= 1000;
SELECT count(*) FROM parted WHERE id >= 1000;
UPDATE parted SET id = 150 WHERE id = 1;
UPDATE parted SET t = 'x' WHERE id = 105;
SELECT tableoid::regclass, * FROM parted WHERE id IN (1, 150, 105) ORDER BY id;
SET enable_partitionwise_join = on;
SELECT count(*) FROM parted a JOIN parted b USING (id);
RESET enable_partitionwise_join;
SELECT count(*) FROM parted a JOIN parted b USING (id);
CREATE TABLE parent (id integer, t text);
CREATE FOREIGN TABLE child (id integer, t text) INHERITS (parent) SERVER statements_server OPTIONS (table_name 'states');
INSERT INTO parent VALUES (77, 'local');
SELECT p.tableoid::regclass, p.* FROM (VALUES (1), (77), (NULL)) v (x) JOIN parent p ON p.id = v.x ORDER BY id;
SELECT id FROM parent WHERE id IN (1, 77) ORDER BY id FOR UPDATE;

-- views: with a check option, with a barrier in front of functions that tell what they see
CREATE VIEW checked AS SELECT * FROM states WHERE id < 500 WITH CHECK OPTION;
INSERT INTO checked VALUES (600, 'no', 1);
INSERT INTO checked VALUES (450, 'yes', 1) RETURNING *;
SELECT id FROM states WHERE id IN (450, 600);
CREATE FUNCTION tells(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE WARNING 'sees %', $1; RETURN true; END $$;
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM states WHERE n = 1 AND id < 2;
SELECT id FROM barrier WHERE tells(t);
SELECT id FROM barrier WHERE id = 5 AND tells(t);
-- nor what a policy of a partitioned parent hides
CREATE TABLE guarded (id integer, n integer, bkt integer) PARTITION BY LIST (id);
CREATE FOREIGN TABLE places PARTITION OF guarded DEFAULT SERVER statements_server OPTIONS (table_name 'states');
ALTER FOREIGN TABLE places ALTER COLUMN bkt OPTIONS (ADD metadata 'bucket');
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY negative ON guarded USING (n < 0);
CREATE ROLE regress_guarded;
GRANT SELECT ON guarded TO regress_guarded;
CREATE FUNCTION tells_place(integer) RETURNS boolean LANGUAGE plpgsql IMMUTABLE COST 0.0001 AS $$ BEGIN RAISE WARNING 'sees bucket %', $1; RETURN true; END $$;
SET ROLE regress_guarded;
SELECT id FROM guarded WHERE tells_place(bkt);
SELECT id FROM guarded WHERE tells_place(bkt) LIMIT 1;
RESET ROLE;
CREATE MATERIALIZED VIEW snapshot AS SELECT id, t FROM events WHERE off < 3;
CREATE UNIQUE INDEX ON snapshot (id);
REFRESH MATERIALIZED VIEW CONCURRENTLY snapshot;
SELECT * FROM snapshot ORDER BY id;

-- rows are locked where nothing can be locked
BEGIN;
SELECT e.id, s.t FROM events e JOIN states s ON s.id = e.id WHERE e.off BETWEEN 1 AND 2 ORDER BY 1 FOR UPDATE;
SELECT id FROM events WHERE off < 3 FOR SHARE SKIP LOCKED LIMIT 1;
ROLLBACK;

-- prepared statements follow what changes
SET plan_cache_mode = force_generic_plan;
PREPARE one(integer) AS SELECT count(*), min(t COLLATE "C") FROM states WHERE id = $1;
EXECUTE one(1);
ALTER FOREIGN TABLE states ALTER COLUMN id OPTIONS (ADD column_name 'n');
EXECUTE one(1);
ALTER FOREIGN TABLE states ALTER COLUMN id OPTIONS (DROP column_name);
EXECUTE one(1);
ALTER FOREIGN TABLE states OPTIONS (ADD invalid_text 'strip');
EXECUTE one(1);
SELECT fluss_drop_table('states');
EXECUTE one(1);
SELECT fluss_create_table('states', bucket_count => 1);
EXECUTE one(1);
INSERT INTO states VALUES (1, 'a log now', 1), (1, 'with two rows', 1);
EXECUTE one(1);
RESET plan_cache_mode;

SELECT fluss_drop_database('statements_server', 'regress_statements', cascade => true);
DROP MATERIALIZED VIEW snapshot;
DROP TABLE plain, parted, parent, guarded CASCADE;
DROP ROLE regress_guarded;
DROP SERVER statements_server CASCADE;
DROP FUNCTION made_trigger, plain_trigger, count_stable, count_volatile, tells, tells_place;
