--
-- Statements inside one that writes, in triggers and functions: what they see of it, as with heap tables
--
\set test inner
\i sql/lib/server.sql
CREATE FOREIGN TABLE events (id integer, seen integer) SERVER inner_server;
SELECT fluss_create_table('events', bucket_count => 2);
CREATE FOREIGN TABLE state (id integer NOT NULL, seen integer) SERVER inner_server;
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 2);
CREATE TABLE heap (id integer PRIMARY KEY, seen integer);
CREATE TABLE trace (no serial, line text);

-- how many rows each row's trigger saw
CREATE FUNCTION count_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE n integer;
BEGIN
  EXECUTE format('SELECT count(*) FROM %I', TG_TABLE_NAME) INTO n;
  IF TG_WHEN = 'BEFORE' THEN
    NEW.seen := n;
    RETURN NEW;
  END IF;
  INSERT INTO trace (line) VALUES (format('%s %s sees %s', TG_OP, coalesce(NEW.id, OLD.id), n));
  RETURN NULL;
END $$;
CREATE PROCEDURE show(name text) LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  SELECT name || ': ' || string_agg(t.line, ', ' ORDER BY no) INTO line FROM trace t;
  RAISE WARNING '%', line;
  DELETE FROM trace;
END $$;

CREATE TRIGGER after_row AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON state FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON heap FOR EACH ROW EXECUTE FUNCTION count_rows();

-- AFTER ROW triggers see all of an INSERT and of a COPY
INSERT INTO heap SELECT g FROM generate_series(1, 3) g;
CALL show('heap');
INSERT INTO events SELECT g FROM generate_series(1, 3) g;
CALL show('events');
INSERT INTO state SELECT g FROM generate_series(1, 3) g;
CALL show('state');
COPY heap (id) FROM stdin;
4
5
\.
CALL show('heap');
COPY events (id) FROM stdin;
4
5
\.
CALL show('events');
COPY state (id) FROM stdin;
4
5
\.
CALL show('state');
-- and of a command in a WITH clause
WITH w AS (INSERT INTO heap VALUES (6), (7)), u AS (DELETE FROM heap WHERE id = 1) SELECT 1;
CALL show('heap');
WITH w AS (INSERT INTO state VALUES (6), (7)), u AS (DELETE FROM state WHERE id = 1) SELECT 1;
CALL show('state');

-- BEFORE ROW triggers see the rows before theirs
CREATE TRIGGER before_row BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER before_row BEFORE INSERT ON state FOR EACH ROW EXECUTE FUNCTION count_rows();
CREATE TRIGGER before_row BEFORE INSERT ON heap FOR EACH ROW EXECUTE FUNCTION count_rows();
INSERT INTO heap SELECT g FROM generate_series(11, 13) g;
INSERT INTO events SELECT g FROM generate_series(11, 13) g;
INSERT INTO state SELECT g FROM generate_series(11, 13) g;
COPY heap (id) FROM stdin;
14
15
\.
COPY events (id) FROM stdin;
14
15
\.
COPY state (id) FROM stdin;
14
15
\.
SELECT id, seen FROM heap WHERE id > 10 ORDER BY id;
SELECT id, seen FROM events WHERE id > 10 ORDER BY id;
SELECT id, seen FROM state WHERE id > 10 ORDER BY id;
DROP TRIGGER before_row ON events; DROP TRIGGER before_row ON state; DROP TRIGGER before_row ON heap;
DROP TRIGGER after_row ON events; DROP TRIGGER after_row ON state; DROP TRIGGER after_row ON heap;
DELETE FROM trace;

-- volatile functions see what their statement has inserted, stable ones do not
CREATE FUNCTION count_volatile(name text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$ DECLARE n integer; BEGIN EXECUTE format('SELECT count(*) FROM %I', name) INTO n; RETURN n; END $$;
CREATE FUNCTION count_stable(name text) RETURNS integer LANGUAGE plpgsql STABLE AS $$ DECLARE n integer; BEGIN EXECUTE format('SELECT count(*) FROM %I', name) INTO n; RETURN n; END $$;
DELETE FROM heap;
DELETE FROM state;
INSERT INTO heap SELECT g, count_volatile('heap') FROM generate_series(1, 3) g;
INSERT INTO heap SELECT g, count_stable('heap') FROM generate_series(4, 6) g;
INSERT INTO state SELECT g, count_volatile('state') FROM generate_series(1, 3) g;
INSERT INTO state SELECT g, count_stable('state') FROM generate_series(4, 6) g;
SELECT * FROM heap ORDER BY id;
SELECT * FROM state ORDER BY id;

-- what is held is seen by nobody: here for the end of the plan, there for the commit
INSERT INTO state SELECT id + 10, count_volatile('state') FROM state;
SELECT DISTINCT seen FROM state WHERE id > 10;
ALTER FOREIGN TABLE state OPTIONS (ADD write_mode 'commit');
INSERT INTO state SELECT g, count_volatile('state') FROM generate_series(21, 23) g;
SELECT id, seen FROM state WHERE id > 20 ORDER BY id;

SELECT fluss_drop_database('inner_server', 'regress_inner', cascade => true);
DROP SERVER inner_server CASCADE;
DROP TABLE heap, trace;
DROP FUNCTION count_rows, count_volatile, count_stable;
DROP PROCEDURE show;
