-- Tables with an auto-increment column, and with an aggregation for each column, that
-- the Java client made: what INSERT, UPDATE and DELETE do to them.
CREATE SCHEMA special;
IMPORT FOREIGN SCHEMA :"database" LIMIT TO (auto_increment, aggregated) FROM SERVER fluss INTO special;
SET search_path = special, public;

CREATE FUNCTION pg_temp.refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN 'done';
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE;
END $$;
CREATE FUNCTION pg_temp.refused(name text, statement text) RETURNS text LANGUAGE sql AS $$
  SELECT interop.cell(name || ' is refused', format('SELECT pg_temp.refusal(%L)', statement), $q$VALUES ('0A000')$q$)
$$;

INSERT INTO auto_increment (k, note, n) VALUES ('a', 'x', 1), ('b', 'y', 2);
INSERT INTO auto_increment VALUES ('c');
SELECT interop.cell('auto-increment insert',
  'SELECT k, count(id) OVER (PARTITION BY id), note, n FROM auto_increment',
  $$VALUES ('a', 1, 'x', 1), ('b', 1, 'y', 2), ('c', 1, NULL, NULL)$$);
CREATE TEMP TABLE before AS SELECT k, id FROM auto_increment;
UPDATE auto_increment SET note = 'xx' WHERE k = 'a';
INSERT INTO auto_increment (k, n) VALUES ('b', 3);
SELECT interop.cell('auto-increment update', 'TABLE auto_increment',
  $$SELECT k, id, v.note, v.n FROM before
    JOIN (VALUES ('a', 'xx', 1), ('b', 'y', 3), ('c', NULL, NULL)) v (k, note, n) USING (k)$$);
SELECT pg_temp.refused('auto-increment value', $$INSERT INTO auto_increment VALUES ('d', 7)$$);
SELECT pg_temp.refused('auto-increment SET', $$UPDATE auto_increment SET id = 7$$);
-- the server would only empty the other columns
SELECT pg_temp.refused('auto-increment DELETE', $$DELETE FROM auto_increment WHERE k = 'a'$$);
-- a trigger may change all columns but this one
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.note := NEW.note || '!';
  RETURN NEW;
END $$;
CREATE TRIGGER change BEFORE INSERT OR UPDATE ON auto_increment FOR EACH ROW EXECUTE FUNCTION change();
INSERT INTO auto_increment (k, note) VALUES ('d', 'new');
UPDATE auto_increment SET n = 4 WHERE k = 'a';
SELECT pg_temp.refused('auto-increment value past a trigger', $$INSERT INTO auto_increment VALUES ('e', 7)$$);
SELECT interop.cell('auto-increment triggers',
  $$SELECT k, id IS NULL, note, n FROM auto_increment WHERE k IN ('a', 'd')$$,
  $$VALUES ('a', false, 'xx!', 4), ('d', false, 'new!', NULL)$$);

INSERT INTO aggregated VALUES (1, 10, 5, 2.5, 'a', 'one', 'one', 'one', false);
INSERT INTO aggregated VALUES (1, 7, 3, 1.5, 'b', NULL, NULL, 'two', true);
INSERT INTO aggregated (k, total) VALUES (1, 100), (1, 1000), (2, 5);
SELECT interop.cell('aggregation insert', 'TABLE aggregated',
  $$VALUES (1, 1117, 5, 1.5, 'a,b', NULL, 'one', 'one', true), (2, 5, NULL, NULL, NULL, NULL, NULL, NULL, NULL)$$);
-- SET says what the value is, and leaves the other columns alone
UPDATE aggregated SET total = total + 1, list = 'set', first = 'set' WHERE k = 1;
UPDATE aggregated SET total = NULL, highest = 1 WHERE k = 2;
SELECT interop.cell('aggregation update', 'TABLE aggregated',
  $$VALUES (1, 1118, 5, 1.5, 'set', NULL, 'one', 'set', true), (2, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL)$$);
-- into itself: what was there is added to what is there, once
INSERT INTO aggregated SELECT * FROM aggregated;
DELETE FROM aggregated WHERE k = 2;
SELECT interop.cell('aggregation into itself', 'TABLE aggregated',
  $$VALUES (1, 2236, 5, 1.5, 'set,set', NULL, 'one', 'set', true)$$);
-- many rows of a key in one batch and over batches
INSERT INTO aggregated (k, total, highest, lowest, last, first, anything)
SELECT 100 + g % 10, g, g, g, 'g' || g, 'g' || g, g = 5 FROM generate_series(1, 5000) g;
SELECT interop.cell('aggregation of many',
  'SELECT k, total, highest, lowest, last, first, anything FROM aggregated WHERE k >= 100',
  $$SELECT 100 + g % 10, sum(g), max(g), min(g)::float8, 'g' || max(g), 'g' || min(g), bool_or(g = 5)
    FROM generate_series(1, 5000) g GROUP BY 1$$);
