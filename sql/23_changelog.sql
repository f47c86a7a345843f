--
-- The changelog of a primary key table: every change, for each kind of table
--
\set test changelog
\i sql/lib/server.sql

CREATE FOREIGN TABLE info (sensor_id integer NOT NULL, name text, state text) SERVER changelog_server;
SELECT fluss_create_table('info', primary_key => '{sensor_id}', bucket_count => 1);
CREATE FOREIGN TABLE info_changes (
  _change_type text OPTIONS (metadata 'change_type'),
  _bucket integer OPTIONS (metadata 'bucket'),
  _log_offset bigint OPTIONS (metadata 'log_offset'),
  _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp'),
  sensor_id integer NOT NULL, name text, state text
) SERVER changelog_server OPTIONS (table_name 'info', scan_mode 'changelog');

-- nothing has happened yet
SELECT count(*) FROM info_changes;

INSERT INTO info VALUES (1, 'one', 'new'), (2, 'two', 'new');
INSERT INTO info VALUES (1, 'one', 'ok');
INSERT INTO info VALUES (3, 'three', NULL);
INSERT INTO info (sensor_id, state) VALUES (2, 'ok');
SELECT _change_type, _bucket, _log_offset, sensor_id, name, state FROM info_changes ORDER BY _log_offset;
SELECT bool_and(_commit_timestamp BETWEEN now() - interval '1 hour' AND clock_timestamp() + interval '1 min') FROM info_changes;

-- the current state is what the last change of each key leaves
(SELECT * FROM info EXCEPT ALL
 SELECT sensor_id, name, state FROM (SELECT DISTINCT ON (sensor_id) * FROM info_changes ORDER BY sensor_id, _log_offset DESC) last WHERE _change_type <> 'delete')
UNION ALL
(SELECT sensor_id, name, state FROM (SELECT DISTINCT ON (sensor_id) * FROM info_changes ORDER BY sensor_id, _log_offset DESC) last WHERE _change_type <> 'delete'
 EXCEPT ALL SELECT * FROM info);

-- offsets, as with a log table; the key is no lookup here
EXPLAIN (COSTS OFF) SELECT * FROM info_changes WHERE _log_offset >= 2 AND _log_offset < 4;
SELECT _change_type, _log_offset, sensor_id FROM info_changes WHERE _log_offset >= 2 AND _log_offset < 4 ORDER BY 2;
EXPLAIN (COSTS OFF) SELECT * FROM info_changes WHERE sensor_id = 1;
SELECT _change_type, name, state FROM info_changes WHERE sensor_id = 1 ORDER BY _log_offset;
EXPLAIN (COSTS OFF) SELECT count(*) FROM info_changes WHERE _change_type IN ('insert', 'update_after');
SELECT _change_type, count(*) FROM info_changes GROUP BY 1 ORDER BY 1;
-- every prefix of the changelog
SELECT n FROM generate_series(0, 7) n
WHERE (SELECT count(*) FROM info_changes WHERE _log_offset < n) <> n OR
  (SELECT array_agg(_log_offset ORDER BY _log_offset) FROM info_changes WHERE _log_offset >= n AND n < 7)
  IS DISTINCT FROM (SELECT array_agg(g::bigint) FROM generate_series(n, 6) g);

-- joined with the current state, and with itself
SELECT c._log_offset, c.state AS was, i.state AS is FROM info_changes c LEFT JOIN info i USING (sensor_id) ORDER BY 1;
SELECT b._log_offset, b.state AS before, a.state AS after FROM info_changes b JOIN info_changes a ON a._log_offset = b._log_offset + 1
WHERE b._change_type = 'update_before' ORDER BY 1;

-- state as of an offset
SELECT sensor_id, state FROM (SELECT DISTINCT ON (sensor_id) * FROM info_changes WHERE _log_offset <= 3 ORDER BY sensor_id, _log_offset DESC) s
WHERE _change_type <> 'delete' ORDER BY 1;

-- an image without the rows before an update
CREATE FOREIGN TABLE wal (id integer, v text) SERVER changelog_server;
SELECT fluss_create_table('wal', primary_key => '{id}', bucket_count => 1, properties => '{"table.changelog.image": "WAL"}');
CREATE FOREIGN TABLE wal_changes (_change_type text OPTIONS (metadata 'change_type'), _log_offset bigint OPTIONS (metadata 'log_offset'), id integer, v text)
  SERVER changelog_server OPTIONS (table_name 'wal', scan_mode 'changelog');
INSERT INTO wal VALUES (1, 'a'), (2, 'b');
INSERT INTO wal VALUES (1, 'c');
SELECT * FROM wal_changes ORDER BY _log_offset;

-- first_row: what came later changed nothing, and its offsets hold no record
CREATE FOREIGN TABLE first (id integer, v text) SERVER changelog_server;
SELECT fluss_create_table('first', primary_key => '{id}', bucket_count => 1, properties => '{"table.merge-engine": "first_row"}');
CREATE FOREIGN TABLE first_changes (_change_type text OPTIONS (metadata 'change_type'), id integer, v text)
  SERVER changelog_server OPTIONS (table_name 'first', scan_mode 'changelog');
INSERT INTO first VALUES (1, 'a'), (2, 'b');
INSERT INTO first VALUES (1, 'c');
INSERT INTO first VALUES (3, 'd');
SELECT * FROM first_changes ORDER BY id, v;
SELECT * FROM first ORDER BY id;
-- offset 2 holds no record: to read it alone, and to wait for what comes after it
INSERT INTO first VALUES (1, 'e');
CREATE FOREIGN TABLE first_offsets (_log_offset bigint OPTIONS (metadata 'log_offset'), id integer)
  SERVER changelog_server OPTIONS (table_name 'first', scan_mode 'changelog');
SELECT id FROM first_offsets WHERE _log_offset >= 2 AND _log_offset < 3;
SELECT id FROM first_offsets WHERE _log_offset >= 2 ORDER BY _log_offset LIMIT 1;
SELECT latest_offset, fluss_wait('first', '{"0": 3}', '0 s') AS past_3, fluss_wait('first', '{"0": 2}', '0 s') AS past_2 FROM fluss_buckets('first');

-- versioned: an older version changes nothing
CREATE FOREIGN TABLE versioned (id integer, v text, version bigint) SERVER changelog_server;
SELECT fluss_create_table('versioned', primary_key => '{id}', bucket_count => 1,
  properties => '{"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "version"}');
CREATE FOREIGN TABLE versioned_changes (_change_type text OPTIONS (metadata 'change_type'), id integer, v text, version bigint)
  SERVER changelog_server OPTIONS (table_name 'versioned', scan_mode 'changelog');
INSERT INTO versioned VALUES (1, 'a', 10);
INSERT INTO versioned VALUES (1, 'old', 9);
INSERT INTO versioned VALUES (1, 'b', 11);
SELECT * FROM versioned_changes ORDER BY version, _change_type;

-- a deletion gives the row that was; one without effect gives nothing
DELETE FROM info WHERE sensor_id = 3;
DELETE FROM info WHERE sensor_id = 99;
DELETE FROM wal WHERE id = 2;
SELECT _change_type, sensor_id, name, state FROM info_changes WHERE _change_type = 'delete';
SELECT * FROM wal_changes ORDER BY _log_offset;
INSERT INTO info VALUES (3, 'three', 'again');
SELECT _change_type, sensor_id, name, state FROM info_changes WHERE sensor_id = 3 ORDER BY _log_offset;

-- several buckets, and a count of all changes
CREATE FOREIGN TABLE wide (id integer, v integer) SERVER changelog_server;
SELECT fluss_create_table('wide', primary_key => '{id}', bucket_count => 3);
CREATE FOREIGN TABLE wide_changes (_change_type text OPTIONS (metadata 'change_type'), _bucket integer OPTIONS (metadata 'bucket'),
  _log_offset bigint OPTIONS (metadata 'log_offset'), id integer, v integer) SERVER changelog_server OPTIONS (table_name 'wide', scan_mode 'changelog');
INSERT INTO wide SELECT g, g FROM generate_series(1, 500) g;
INSERT INTO wide SELECT g, -g FROM generate_series(1, 500, 2) g;
SELECT _change_type, count(*), sum(v) FROM wide_changes GROUP BY 1 ORDER BY 1;
(SELECT * FROM wide EXCEPT ALL SELECT id, v FROM (SELECT DISTINCT ON (id) * FROM wide_changes ORDER BY id, _log_offset DESC) s)
UNION ALL
(SELECT id, v FROM (SELECT DISTINCT ON (id) * FROM wide_changes ORDER BY id, _log_offset DESC) s EXCEPT ALL SELECT * FROM wide);

-- which kind of table can be shown in which way
CREATE FOREIGN TABLE events (id integer, _change_type text OPTIONS (metadata 'change_type')) SERVER changelog_server;
SELECT fluss_create_table('events', bucket_count => 1);
INSERT INTO events (id) VALUES (1);
SELECT * FROM events;
ALTER FOREIGN TABLE events OPTIONS (ADD scan_mode 'log');
SELECT * FROM events;
ALTER FOREIGN TABLE events OPTIONS (SET scan_mode 'changelog');
SELECT * FROM events;
ALTER FOREIGN TABLE events OPTIONS (SET scan_mode 'snapshot');
SELECT * FROM events;
ALTER FOREIGN TABLE info OPTIONS (ADD scan_mode 'snapshot');
SELECT count(*) FROM info;
ALTER FOREIGN TABLE info OPTIONS (SET scan_mode 'log');
SELECT count(*) FROM info;
ALTER FOREIGN TABLE info OPTIONS (SET scan_mode 'backwards');

SELECT fluss_drop_database('changelog_server', 'regress_changelog', cascade => true);
DROP SERVER changelog_server CASCADE;
