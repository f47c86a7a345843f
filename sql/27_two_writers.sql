--
-- Several writers of one session on one table: inside each other, in both write modes, after errors
--
\set test writers
\i sql/lib/server.sql
ALTER SERVER writers_server OPTIONS (ADD writer_batch_size '1kB');
-- one bucket, so that all share one sequence
CREATE FOREIGN TABLE events (id integer, source text) SERVER writers_server;
SELECT fluss_create_table('events', bucket_count => 1);
CREATE FOREIGN TABLE held (id integer, source text) SERVER writers_server OPTIONS (table_name 'events', write_mode 'commit');
CREATE VIEW summary AS SELECT source, count(*), count(DISTINCT id) AS ids FROM events GROUP BY 1;

-- a trigger writes to the table that fires it, at once and with the transaction
CREATE FUNCTION write_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events VALUES (NEW.id, 'trigger, at once');
  INSERT INTO held VALUES (NEW.id, 'trigger, held');
  RETURN NEW;
END $$;
CREATE TRIGGER write_more BEFORE INSERT ON events FOR EACH ROW WHEN (NEW.source = 'fires') EXECUTE FUNCTION write_more();
INSERT INTO events SELECT g, 'fires' FROM generate_series(1, 150) g;
SELECT * FROM summary ORDER BY 1;

-- both modes in one transaction, with savepoints
BEGIN;
INSERT INTO held SELECT g, 'held' FROM generate_series(1, 200) g;
INSERT INTO events SELECT g, 'fires' FROM generate_series(151, 200) g;
SAVEPOINT a;
INSERT INTO held SELECT g, 'held, dropped' FROM generate_series(1, 200) g;
INSERT INTO events SELECT g, 'fires' FROM generate_series(201, 250) g;
ROLLBACK TO a;
INSERT INTO held SELECT g, 'held, last' FROM generate_series(1, 200) g;
COMMIT;
SELECT * FROM summary ORDER BY 1;

-- a function that writes, in a statement that writes
CREATE FUNCTION write_one(i integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO events VALUES (i, 'inner');
  RETURN i;
END $$;
INSERT INTO events SELECT write_one(g), 'outer' FROM generate_series(1, 150) g;
WITH one AS (INSERT INTO events SELECT g, 'with' FROM generate_series(1, 150) g RETURNING id)
INSERT INTO events SELECT id, 'after with' FROM one;
SELECT * FROM summary WHERE source NOT LIKE '%held%' ORDER BY 1;

-- errors leave batches without an answer behind: what comes next is written once
DO $$
BEGIN
  FOR i IN 1 .. 10 LOOP
    BEGIN
      INSERT INTO events SELECT g, 'error' || 1 / (200 - g) FROM generate_series(1, 200) g;
    EXCEPTION WHEN division_by_zero THEN
      INSERT INTO events SELECT i * 200 + g, 'after an error' FROM generate_series(1, 200) g;
    END;
  END LOOP;
END $$;
SELECT * FROM summary WHERE source = 'after an error';

DROP TRIGGER write_more ON events;

-- into itself: as many rows again, whatever is read and written meanwhile
SELECT count(*) AS before FROM events \gset
INSERT INTO events SELECT * FROM events;
INSERT INTO held SELECT * FROM held;
SELECT count(*) = :before * 4 AS fourfold FROM events;

-- a primary key table into itself, its rows moved to new keys
CREATE FOREIGN TABLE state (id integer NOT NULL, n integer) SERVER writers_server;
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 2);
INSERT INTO state SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO state SELECT id + 500, n + 1 FROM state;
CREATE TEMP TABLE model (id integer PRIMARY KEY, n integer);
INSERT INTO model SELECT g, g FROM generate_series(1, 1000) g;
INSERT INTO model SELECT id + 500, n + 1 FROM model ON CONFLICT (id) DO UPDATE SET n = excluded.n;
SELECT count(*) FROM ((TABLE state EXCEPT ALL TABLE model) UNION ALL (TABLE model EXCEPT ALL TABLE state)) x;

-- below a partitioned parent
CREATE TABLE parent (id integer NOT NULL, n integer) PARTITION BY RANGE (id);
CREATE TABLE parent_local PARTITION OF parent (PRIMARY KEY (id)) FOR VALUES FROM (0) TO (1000000);
CREATE FOREIGN TABLE parent_fluss PARTITION OF parent FOR VALUES FROM (1000000) TO (2000000) SERVER writers_server;
SELECT fluss_create_table('parent_fluss', primary_key => '{id}', bucket_count => 1);
CREATE PROCEDURE try(command text) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
  RAISE WARNING 'done';
EXCEPTION WHEN OTHERS THEN
  RAISE WARNING '%', SQLSTATE;
END $$;
CALL try('INSERT INTO parent VALUES (1, 1), (1000001, 1) ON CONFLICT DO NOTHING');
CALL try('INSERT INTO parent VALUES (1, 1), (1000001, 1) ON CONFLICT (id) DO UPDATE SET n = 2');
CALL try('MERGE INTO parent p USING (VALUES (1000001)) v (id) ON p.id = v.id WHEN NOT MATCHED THEN INSERT VALUES (v.id, 1)');
CALL try('MERGE INTO parent_fluss p USING (VALUES (1000001)) v (id) ON p.id = v.id WHEN MATCHED THEN DELETE');
SELECT count(*) FROM parent WHERE id IN (1, 1000001);
INSERT INTO parent VALUES (1, 1), (1000001, 1), (1000001, 2);
SELECT tableoid::regclass, * FROM parent WHERE id IN (1, 1000001) ORDER BY id;
DROP TABLE parent;

SELECT fluss_drop_database('writers_server', 'regress_writers', cascade => true);
DROP SERVER writers_server CASCADE;
DROP FUNCTION write_more, write_one;
DROP PROCEDURE try;
