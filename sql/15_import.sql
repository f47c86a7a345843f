-- IMPORT FOREIGN SCHEMA, and what the catalog functions show of the same tables
\set test import
\i sql/lib/server.sql
\set VERBOSITY default

-- a log table of all scalar types, in another schema than the imported ones
CREATE SCHEMA made;
CREATE FOREIGN TABLE made.every_type (
  b boolean NOT NULL, t smallint OPTIONS (fluss_type 'TINYINT'), s smallint, i integer, l bigint, f real, d double precision, n numeric(38,10), x text,
  c varchar(7) OPTIONS (fluss_type 'CHAR(7)'), raw bytea, fixed bytea OPTIONS (fluss_type 'BINARY(4)'), day date, clock time(3) OPTIONS (fluss_type 'TIME(6)'),
  at timestamp(6) OPTIONS (fluss_type 'TIMESTAMP(9)'), ltz timestamptz(0)) SERVER import_server;
SELECT fluss_create_table('made.every_type', bucket_count => 2, comment => 'all of them');
-- names that SQL has to quote, that are too long, that are the same when cut, or taken by PostgreSQL
CREATE FOREIGN TABLE made.odd_names (
  a integer OPTIONS (column_name 'Full Name'), b integer OPTIONS (column_name 'select'), c integer OPTIONS (column_name 'a"b'), d integer OPTIONS (column_name '日本'), e integer OPTIONS (column_name 'ctid'),
  f integer OPTIONS (column_name 'a_name_of_seventy_bytes_which_is_more_than_an_identifier_takes_here_1'), g integer OPTIONS (column_name 'a_name_of_seventy_bytes_which_is_more_than_an_identifier_takes_here_2'),
  h integer OPTIONS (column_name '_bucket'), i integer OPTIONS (column_name 'it''s')) SERVER import_server OPTIONS (table_name 'Odd-Names');
SELECT fluss_create_table('made.odd_names', bucket_count => 1);
CREATE FOREIGN TABLE made.state (k integer, part text, v numeric(10,2)) SERVER import_server OPTIONS (table_name 'state');
SELECT fluss_create_table('made.state', primary_key => '{k,part}', bucket_key => '{k}', bucket_count => 3, properties => '{"table.changelog.image": "wal", "mine": "1"}');
CREATE FOREIGN TABLE made.long (a integer) SERVER import_server OPTIONS (table_name 'a_table_with_a_name_of_more_than_sixty_three_bytes_which_is_cut_off');
SELECT fluss_create_table('made.long', bucket_count => 1);
INSERT INTO made.odd_names VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9);
INSERT INTO made.state VALUES (1, 'x', 1.5), (2, 'y', NULL);
INSERT INTO made.long VALUES (42);

CREATE SCHEMA imported;
RESET client_min_messages;
IMPORT FOREIGN SCHEMA regress_import FROM SERVER import_server INTO imported;
SET client_min_messages = warning;
CREATE VIEW columns AS
  SELECT c.oid::regclass AS "table", attname, format_type(atttypid, atttypmod), attnotnull AS nn, attfdwoptions AS options
  FROM pg_class c JOIN pg_attribute a ON attrelid = c.oid WHERE attnum > 0 AND relkind = 'f' AND relnamespace::regnamespace::text = 'imported' ORDER BY relname COLLATE "C", attnum;
CREATE VIEW tables AS SELECT ftrelid::regclass AS "table", ftoptions FROM pg_foreign_table JOIN pg_class ON oid = ftrelid WHERE relnamespace::regnamespace::text = 'imported' ORDER BY relname COLLATE "C";
SELECT * FROM columns;
SELECT * FROM tables;
SELECT "Full Name", "select", "a""b", "日本", ctid_2, _bucket, "it's", _bucket_2, _log_offset FROM imported."Odd-Names";
SELECT * FROM imported.state ORDER BY k;
INSERT INTO imported.every_type (b, n) VALUES (true, 1.5);
SELECT b, n, t FROM imported.every_type;
SELECT a FROM imported.a_table_with_a_name_of_more_than_sixty_three_bytes_which_is_cut;

-- options, LIMIT TO, EXCEPT
DROP SCHEMA imported CASCADE;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA regress_import LIMIT TO (state, state_changelog, nothing) FROM SERVER import_server INTO imported OPTIONS (import_changelog 'true', import_not_null 'false');
SELECT * FROM columns;
SELECT * FROM tables;
DROP SCHEMA imported CASCADE;
CREATE SCHEMA imported;
IMPORT FOREIGN SCHEMA regress_import EXCEPT (every_type, state) FROM SERVER import_server INTO imported OPTIONS (import_metadata 'false');
SELECT "table", array_agg(attname) FROM columns GROUP BY 1 ORDER BY 1;
IMPORT FOREIGN SCHEMA regress_import FROM SERVER import_server INTO imported OPTIONS (import_changelogs 'true');
IMPORT FOREIGN SCHEMA regress_import FROM SERVER import_server INTO imported OPTIONS (import_metadata 'maybe');
IMPORT FOREIGN SCHEMA regress_nothing FROM SERVER import_server INTO imported;

-- a table that no foreign table can have all columns of does not keep the others out
DO $$ BEGIN
  EXECUTE (SELECT 'CREATE FOREIGN TABLE made.wide (' || string_agg('c' || g || ' integer', ', ') || ') SERVER import_server' FROM generate_series(1, 1598) g);
END $$;
SELECT fluss_create_table('made.wide', bucket_count => 1);
IMPORT FOREIGN SCHEMA regress_import LIMIT TO (state, wide) FROM SERVER import_server INTO imported;
SELECT "table", count(*) FROM columns WHERE "table" IN ('imported.state'::regclass, to_regclass('imported.wide')) GROUP BY 1;
IMPORT FOREIGN SCHEMA regress_import LIMIT TO (wide) FROM SERVER import_server INTO imported OPTIONS (import_metadata 'false');
SELECT "table", count(*) FROM columns WHERE "table" = 'imported.wide'::regclass GROUP BY 1;
SELECT fluss_drop_table('made.wide');

-- catalog
SELECT path, table_id >= 0 AS id, schema_id, kind, primary_key, bucket_key, partitioned_by, bucket_count, log_format, kv_format, properties ->> 'table.changelog.image' AS image, custom_properties, comment,
  created_at <= modified_at AND created_at BETWEEN now() - interval '1 hour' AND clock_timestamp() AS times FROM fluss_table_info('made.state');
SELECT path, kind, primary_key, bucket_key, bucket_count, log_format, kv_format, comment FROM fluss_table_info('import_server', 'regress_import', 'every_type');
SELECT fluss_table_info('import_server', 'regress_import', 'nothing');
SELECT * FROM fluss_tables('import_server', 'regress_import') t ORDER BY t COLLATE "C";
SELECT fluss_tables('import_server', 'regress_nothing');
SELECT * FROM fluss_databases('import_server') d WHERE d = 'regress_import';
SELECT role, count(*), bool_and(host <> ''), bool_and(port > 0) FROM fluss_nodes('import_server') GROUP BY role ORDER BY role;
CREATE ROLE regress_fluss_reader;
SET ROLE regress_fluss_reader;
SELECT fluss_databases('import_server');
SELECT fluss_tables('import_server', 'regress_import');
SELECT fluss_nodes('import_server');
SELECT fluss_table_info('made.state');
SELECT fluss_table_info('import_server', 'regress_import', 'state');
RESET ROLE;
DROP ROLE regress_fluss_reader;

-- connections
SELECT * FROM fluss_fdw_get_connections();
SELECT fluss_fdw_disconnect('import_server');
SELECT * FROM fluss_fdw_get_connections();
SELECT fluss_fdw_disconnect('import_server'), fluss_fdw_disconnect_all();
SELECT count(*) FROM made.state;
SELECT fluss_fdw_disconnect_all();
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM made.state;
FETCH 1 FROM c;
SELECT fluss_fdw_disconnect('import_server');
SELECT * FROM fluss_fdw_get_connections();
COMMIT;
SELECT fluss_fdw_disconnect('nowhere');

DROP VIEW columns, tables;
DROP SCHEMA imported, made CASCADE;
SELECT fluss_drop_database('import_server', 'regress_import', cascade => true);
DROP SERVER import_server CASCADE;
