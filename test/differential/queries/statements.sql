-- Cursors, functions, loops, several statements of one transaction

-- script
BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id, tx FROM readings ORDER BY id; FETCH 5 FROM c; FETCH BACKWARD 3 FROM c; FETCH LAST FROM c; FETCH PRIOR FROM c; FETCH FIRST FROM c; FETCH ABSOLUTE 300 FROM c; FETCH RELATIVE -20 FROM c; FETCH BACKWARD ALL FROM c; FETCH NEXT FROM c; COMMIT

-- script
BEGIN; DECLARE c SCROLL CURSOR FOR SELECT id FROM readings WHERE _bucket = 1 ORDER BY _log_offset; FETCH 5 FROM c; FETCH BACKWARD 10 FROM c; FETCH 3 FROM c; FETCH LAST FROM c; FETCH BACKWARD 4 FROM c; COMMIT

-- script
BEGIN; DECLARE c SCROLL CURSOR FOR SELECT r.id, i.name FROM readings r LEFT JOIN info i USING (sensor_id) WHERE r._bucket = 0 ORDER BY r._log_offset; FETCH 40 FROM c; FETCH BACKWARD 10 FROM c; FETCH 20 FROM c; COMMIT

-- two cursors on one connection, one left open by a savepoint that fails
-- script
BEGIN; DECLARE a CURSOR FOR SELECT id FROM readings WHERE _bucket = 0 ORDER BY _log_offset; DECLARE b CURSOR FOR SELECT sensor_id, name FROM info ORDER BY sensor_id; FETCH 3 FROM a; FETCH 2 FROM b; SAVEPOINT s; SELECT count(*) FROM readings; SELECT 1 / (id - id) FROM readings; ROLLBACK TO s; FETCH 3 FROM a; FETCH 2 FROM b; CLOSE a; FETCH 1 FROM b; COMMIT

-- script
BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT id, late_tx FROM readings WHERE id > 290 ORDER BY id; FETCH 12 FROM c; COMMIT; FETCH 3 FROM c; CLOSE c

-- script
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*), max(_log_offset) FROM readings; SELECT count(*) FROM readings WHERE _log_offset < 10; SELECT name FROM info WHERE sensor_id = 3; COMMIT

-- script
BEGIN; SET LOCAL plan_cache_mode = force_custom_plan; SELECT * FROM loop_names(26); COMMIT

SELECT * FROM loop_names(26)

SELECT * FROM loop_ranges(12)

SELECT loop_errors(20)

SELECT * FROM of_sensor(5) WHERE i1 > 0

SELECT l.id, o.id, o.tx FROM loc l, of_sensor(l.id) o

SELECT id, name_of(id) FROM loc

SELECT r.id, name_of(r.sensor_id) FROM readings r WHERE r.id < 40

SELECT name_of(3), name_of(NULL), name_of(99)

-- script
CREATE TEMP TABLE taken AS SELECT r.id, i.name FROM readings r LEFT JOIN info i USING (sensor_id); SELECT * FROM taken ORDER BY id; DROP TABLE taken

-- script
CREATE TEMP TABLE target (id int, n text); INSERT INTO target SELECT sensor_id, name FROM info WHERE sensor_id IN (1, 2, 3); UPDATE target t SET n = i.name || '!' FROM info i WHERE i.sensor_id = t.id + 1; SELECT * FROM target ORDER BY id; DELETE FROM target t USING info i WHERE i.sensor_id = t.id AND i.site = 'roof'; SELECT * FROM target ORDER BY id; DROP TABLE target

-- script
CREATE TEMP TABLE target AS SELECT * FROM loc; UPDATE target SET tag = (SELECT name FROM info WHERE sensor_id = target.id); SELECT * FROM target ORDER BY b; MERGE INTO target t USING (SELECT sensor_id, max(name) AS name FROM info WHERE sensor_id < 9 GROUP BY 1) i ON i.sensor_id = t.id WHEN MATCHED AND t.id <> 2 THEN UPDATE SET tag = i.name || '?' WHEN NOT MATCHED THEN INSERT (id, tag) VALUES (i.sensor_id, i.name); SELECT * FROM target ORDER BY id, b; DROP TABLE target

-- script
CREATE TEMP TABLE locked AS SELECT * FROM loc; BEGIN; SELECT l.id, i.name FROM locked l LEFT JOIN info i ON i.sensor_id = l.id ORDER BY l.id, l.b FOR UPDATE OF l; COMMIT; DROP TABLE locked

-- script
CREATE TEMP VIEW v AS SELECT r.id, i.name FROM readings r JOIN info i USING (sensor_id) WHERE r._bucket < 2; SELECT * FROM v WHERE id < 50 ORDER BY id; SELECT count(*) FROM v; DROP VIEW v

-- script
COPY (SELECT id, f8, tx FROM readings WHERE id < 40 ORDER BY id) TO STDOUT; COPY (SELECT count(*) FROM readings) TO STDOUT
