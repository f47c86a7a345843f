--
-- One Fluss table by way of two foreign servers: a statement may read it through one and write it through the other
--
\getenv bootstrap FLUSS_BOOTSTRAP
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS fluss_fdw;
CREATE SERVER two_one FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap', database_name 'regress_two', writer_batch_size '1kB');
CREATE USER MAPPING FOR PUBLIC SERVER two_one;
-- the same cluster by another address, a small fetch at a time
SELECT 'localhost:' || split_part(split_part(:'bootstrap', ',', 1), ':', -1) AS other \gset
CREATE SERVER two_other FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'other', database_name 'regress_two', writer_batch_size '1kB', fetch_max_bytes '4kB', fetch_max_bytes_for_bucket '1kB', fetch_inflight '1');
CREATE USER MAPPING FOR PUBLIC SERVER two_other;
SELECT fluss_drop_database('two_one', 'regress_two', if_exists => true, cascade => true);
SELECT fluss_create_database('two_one', 'regress_two');

-- a log table: a statement reads what was there before it
CREATE FOREIGN TABLE events (id integer, note text) SERVER two_one;
CREATE FOREIGN TABLE events_other (id integer, note text) SERVER two_other OPTIONS (table_name 'events');
SELECT fluss_create_table('events', bucket_key => '{id}', bucket_count => 3);
INSERT INTO events SELECT g, md5(g::text) FROM generate_series(1, 2000) g;
INSERT INTO events SELECT id + 10000, note FROM events_other;
SELECT count(*), count(DISTINCT id) FROM events;
INSERT INTO events_other SELECT a.id + 20000, b.note FROM events a JOIN events_other b USING (id);
SELECT count(*), count(DISTINCT id) FROM events_other;
CREATE FOREIGN TABLE days (day text, id integer) SERVER two_one;
CREATE FOREIGN TABLE days_other (day text, id integer) SERVER two_other OPTIONS (table_name 'days');
SELECT fluss_create_table('days', partitioned_by => '{day}', bucket_count => 2);
INSERT INTO days SELECT 'd' || g % 3, g FROM generate_series(1, 1500) g;
INSERT INTO days SELECT 'd' || (id + 1) % 4, id + 10000 FROM days_other;
SELECT count(*), count(DISTINCT id), count(DISTINCT day) FROM days;

-- a primary key table: nothing is sent before the plan has ended
CREATE FOREIGN TABLE state (id integer NOT NULL, n integer) SERVER two_one;
CREATE FOREIGN TABLE state_other (id integer NOT NULL, n integer) SERVER two_other OPTIONS (table_name 'state');
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 3);
INSERT INTO state SELECT g, 0 FROM generate_series(1, 3000) g;
INSERT INTO state SELECT s.id + 1, s.n + 1 FROM generate_series(1, 3000) g JOIN state_other s ON s.id = g;
SELECT n, count(*) FROM state GROUP BY n ORDER BY n;
INSERT INTO state_other SELECT id + 10000, n FROM state;
SELECT count(*), max(id) FROM state;
-- through its changelog, too
CREATE FOREIGN TABLE state_changes (id integer, n integer, _change_type text OPTIONS (metadata 'change_type')) SERVER two_other OPTIONS (table_name 'state', scan_mode 'changelog');
INSERT INTO state SELECT id + 20000, n FROM state_changes WHERE _change_type = 'insert';
SELECT count(*) FROM state WHERE id > 20000;

-- rows held for the commit go in their order, whatever the server
ALTER SERVER two_one OPTIONS (ADD write_mode 'commit');
ALTER SERVER two_other OPTIONS (ADD write_mode 'commit');
BEGIN;
INSERT INTO state VALUES (1, 101);
INSERT INTO state_other VALUES (1, 102);
INSERT INTO state VALUES (1, 103);
COMMIT;
SELECT n FROM state WHERE id = 1;
BEGIN;
INSERT INTO state_other VALUES (1, 104);
INSERT INTO state VALUES (1, 105);
INSERT INTO state_other VALUES (1, 106);
COMMIT;
SELECT n FROM state WHERE id = 1;
ALTER SERVER two_one OPTIONS (DROP write_mode);

-- one that cannot be asked counts as the same; what is wrong its scan tells
CREATE SERVER two_gone FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers '127.0.0.1:1', database_name 'regress_two', connect_timeout '1s', request_timeout '1s');
CREATE FOREIGN TABLE state_gone (id integer NOT NULL, n integer) SERVER two_gone OPTIONS (table_name 'state');
\set VERBOSITY sqlstate
INSERT INTO state SELECT * FROM state_gone;
CREATE USER MAPPING FOR PUBLIC SERVER two_gone;
INSERT INTO state SELECT * FROM state_gone;
\set VERBOSITY terse

SELECT fluss_drop_database('two_one', 'regress_two', cascade => true);
DROP SERVER two_one, two_other, two_gone CASCADE;
