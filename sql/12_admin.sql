--
-- Functions that manage and describe a cluster
--
\set test admin
\i sql/lib/server.sql

\i sql/lib/try.sql

-- versions: ours, and that of each library
SELECT version FROM fluss_fdw_version() WHERE name = 'fluss_fdw';
SELECT bool_and(name <> '' AND version ~ '^[0-9]'), count(*) > 3 FROM fluss_fdw_version();

-- databases
SELECT fluss_drop_database('admin_server', 'regress_admin', if_exists => true, cascade => true);
CALL try('SELECT fluss_drop_database(''admin_server'', ''regress_admin'')');
SELECT fluss_create_database('admin_server', 'regress_admin', comment => 'of a test');
CALL try('SELECT fluss_create_database(''admin_server'', ''regress_admin'')');
SELECT fluss_create_database('admin_server', 'regress_admin', if_not_exists => true);
CALL try('SELECT fluss_create_database(''admin_server'', ''not a name'')');
CALL try('SELECT fluss_create_database(''admin_server'', NULL)');
CALL try('SELECT fluss_create_database(''nowhere'', ''x'')');

-- tables
CREATE FOREIGN TABLE things (
  "Id" integer OPTIONS (column_name 'id') NOT NULL, name text, size smallint OPTIONS (fluss_type 'TINYINT'), price numeric(10,2), gone integer,
  _bucket integer OPTIONS (metadata 'bucket')) SERVER admin_server;
ALTER FOREIGN TABLE things DROP COLUMN gone;
CALL try('SELECT * FROM things');
CALL try('SELECT fluss_drop_table(''things'')');
SELECT fluss_drop_table('things', if_exists => true);
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{id}'')');
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{gone}'')');
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{_bucket}'')');
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{Id,NULL}'')');
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{Id}'', bucket_key => ''{name}'')');
CALL try('SELECT fluss_create_table(''things'', bucket_count => 0)');
CALL try('SELECT fluss_create_table(''things'', bucket_count => 100000000)');
CALL try('SELECT fluss_create_table(''things'', properties => ''[1]'')');
CALL try('SELECT fluss_create_table(''things'', properties => ''{"a": {"b": 1}}'')');
CALL try('SELECT fluss_create_table(''things'', properties => ''{"table.no-such": "x"}'')');
CALL try('SELECT fluss_create_table(NULL)');
SELECT fluss_create_table('things', primary_key => '{Id}', bucket_key => '{Id}', bucket_count => 3, comment => 'things',
  properties => '{"table.changelog.image": "wal", "mine": 1.50, "yours": true, "theirs": ""}');
CALL try('SELECT fluss_create_table(''things'', primary_key => ''{Id}'')');
SELECT fluss_create_table('things', primary_key => '{Id}', if_not_exists => true);
INSERT INTO things ("Id", name, size, price) SELECT g, 'n' || g, g, g FROM generate_series(1, 100) g;
SELECT count(*), count(DISTINCT _bucket), sum(size), sum(price) FROM things;
CALL try('SELECT fluss_drop_database(''admin_server'', ''regress_admin'')');

-- buckets; the server does not count rows where the changelog keeps only new images
SELECT count(*), count(DISTINCT table_id), min(bucket), max(bucket), bool_and(leader = ANY (replicas)), sum(latest_offset - earliest_offset), sum(row_count) FROM fluss_buckets('things');
SELECT count(*), sum(row_count) FROM fluss_buckets('admin_server', 'regress_admin', 'things');
CALL try('SELECT fluss_buckets(''admin_server'', ''regress_admin'', ''nothing'')');
CALL try('SELECT fluss_buckets(''admin_server'', ''nowhere'', ''things'')');
CREATE FOREIGN TABLE ticks (n integer, _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER admin_server;
SELECT fluss_create_table('ticks', bucket_count => 1);
SELECT bucket, earliest_offset, latest_offset, row_count FROM fluss_buckets('ticks');
INSERT INTO ticks (n) SELECT g FROM generate_series(1, 10) g;
SELECT bucket, earliest_offset, latest_offset FROM fluss_buckets('ticks');
CREATE FOREIGN TABLE counted (k integer NOT NULL) SERVER admin_server;
SELECT fluss_create_table('counted', primary_key => '{k}', bucket_count => 2);
INSERT INTO counted SELECT g % 50 FROM generate_series(1, 100) g;
SELECT sum(row_count) FROM fluss_buckets('counted');
-- the ends are those of the statement, and in REPEATABLE READ of the transaction
CREATE FUNCTION tick() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN INSERT INTO ticks (n) VALUES (0); RETURN (SELECT count(*) FROM ticks); END $$;
SELECT b.latest_offset, tick(), (SELECT count(*) FROM ticks) FROM fluss_buckets('ticks') b;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT latest_offset FROM fluss_buckets('ticks');
INSERT INTO ticks (n) VALUES (0);
SELECT latest_offset FROM fluss_buckets('ticks');
SELECT count(*), max(_log_offset) FROM ticks;
COMMIT;
SELECT latest_offset FROM fluss_buckets('ticks');

-- what is no foreign table of ours
CREATE TABLE local_table (a integer);
CALL try('SELECT fluss_create_table(''local_table'')');
CALL try('SELECT fluss_buckets(''local_table'')');
CALL try('SELECT fluss_drop_table(''local_table'')');

-- read-only transactions
BEGIN READ ONLY;
SELECT count(*) FROM fluss_buckets('ticks');
SELECT fluss_create_database('admin_server', 'regress_admin2');
ROLLBACK;
BEGIN READ ONLY;
SELECT fluss_drop_table('ticks');
ROLLBACK;
BEGIN READ ONLY;
SELECT fluss_drop_table('admin_server', 'regress_admin', 'ticks');
ROLLBACK;
BEGIN READ ONLY;
SELECT fluss_create_table('ticks', if_not_exists => true);
ROLLBACK;
BEGIN READ ONLY;
SELECT fluss_drop_database('admin_server', 'regress_admin', cascade => true);
ROLLBACK;

-- privileges: of others, of a reader, of an owner
CREATE ROLE regress_fluss_user;
SET ROLE regress_fluss_user;
CALL try('SELECT count(*) FROM fluss_buckets(''ticks'')');
CALL try('SELECT count(*) FROM fluss_buckets(''admin_server'', ''regress_admin'', ''ticks'')');
CALL try('SELECT fluss_drop_table(''ticks'')');
CALL try('SELECT fluss_create_table(''ticks'')');
CALL try('SELECT fluss_create_database(''admin_server'', ''regress_admin2'')');
CALL try('SELECT fluss_drop_database(''admin_server'', ''regress_admin'')');
CALL try('SELECT fluss_drop_table(''admin_server'', ''regress_admin'', ''ticks'')');
RESET ROLE;
GRANT SELECT ON ticks TO regress_fluss_user;
GRANT USAGE ON FOREIGN SERVER admin_server TO regress_fluss_user;
SET ROLE regress_fluss_user;
SELECT count(*) FROM fluss_buckets('ticks');
SELECT count(*) FROM fluss_buckets('admin_server', 'regress_admin', 'ticks');
CALL try('SELECT fluss_drop_table(''ticks'')');
CALL try('SELECT fluss_drop_table(''admin_server'', ''regress_admin'', ''ticks'')');
RESET ROLE;
ALTER FOREIGN TABLE ticks OWNER TO regress_fluss_user;
SET ROLE regress_fluss_user;
SELECT fluss_drop_table('ticks');
SELECT fluss_create_table('ticks', bucket_count => 2);
RESET ROLE;
SELECT count(*) FROM fluss_buckets('ticks');
SELECT fluss_drop_table('admin_server', 'regress_admin', 'ticks');
CALL try('SELECT fluss_drop_table(''admin_server'', ''regress_admin'', ''ticks'')');
SELECT fluss_drop_table('admin_server', 'regress_admin', 'ticks', if_exists => true);

-- a table without a database
CREATE SERVER admin_bare FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap');
CREATE USER MAPPING FOR PUBLIC SERVER admin_bare;
CREATE FOREIGN TABLE homeless (a integer) SERVER admin_bare;
CALL try('SELECT * FROM homeless');
CALL try('SELECT fluss_create_table(''homeless'')');
CALL try('INSERT INTO homeless VALUES (1)');
SELECT pg_relation_is_updatable('homeless', false);

SELECT fluss_drop_database('admin_server', 'regress_admin', cascade => true);
CALL try('SELECT * FROM things');
CALL try('INSERT INTO things ("Id") VALUES (1)');
DROP FUNCTION tick;
DROP SERVER admin_server, admin_bare CASCADE;
DROP TABLE local_table;
DROP ROLE regress_fluss_user;
DROP PROCEDURE try;
