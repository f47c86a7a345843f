--
-- Text in databases of other encodings: Fluss keeps UTF-8
--
\set test encoding
\i sql/lib/server.sql
SELECT current_database() AS utf8_database \gset
DROP DATABASE IF EXISTS regress_fluss_latin1;
DROP DATABASE IF EXISTS regress_fluss_ascii;
CREATE DATABASE regress_fluss_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0;
CREATE DATABASE regress_fluss_ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0;
CREATE FOREIGN TABLE texts (id integer NOT NULL, t text, v varchar(4)) SERVER encoding_server;
SELECT fluss_create_table('texts', primary_key => '{id}', bucket_count => 1);
INSERT INTO texts VALUES (1, 'plain', 'abcd'), (2, U&'caf\00e9', U&'\00e9\00e9\00e9\00e9'), (3, U&'\20ac', NULL), (4, U&'\+01f600', NULL);
-- in arrays, in objects, and in the names of fields
CREATE FOREIGN TABLE nested (id integer NOT NULL, a text[], r jsonb OPTIONS (fluss_type U&'ROW<`\00e9` STRING, `m` MAP<STRING, STRING>>')) SERVER encoding_server;
SELECT fluss_create_table('nested', primary_key => '{id}', bucket_count => 1);
INSERT INTO nested VALUES (1, ARRAY[U&'caf\00e9'], jsonb_build_object(U&'\00e9', U&'\00fc', 'm', jsonb_build_object(U&'\00f1', 'n'))), (2, ARRAY[U&'\20ac'], NULL),
  (3, NULL, jsonb_build_object('m', jsonb_build_object(U&'\20ac', 'x')));

\c regress_fluss_latin1
\set VERBOSITY verbose
SET client_min_messages = warning;
SET client_encoding = 'UTF8';
CREATE EXTENSION fluss_fdw;
CREATE SERVER encoding_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap', database_name 'regress_encoding');
CREATE USER MAPPING FOR PUBLIC SERVER encoding_server;
CREATE FOREIGN TABLE texts (id integer NOT NULL, t text, v varchar(4)) SERVER encoding_server;
-- octets are those of LATIN1
SELECT id, t, octet_length(t), v, octet_length(v) FROM texts WHERE id IN (1, 2) ORDER BY id;
CREATE FOREIGN TABLE nested (id integer NOT NULL, a text[], r json) SERVER encoding_server;
SELECT id, a, r, octet_length(r::text) FROM nested WHERE id = 1;
\set VERBOSITY sqlstate
SELECT t FROM texts WHERE id = 3;
SELECT t FROM texts WHERE id = 4;
SELECT a FROM nested WHERE id = 2;
SELECT r FROM nested WHERE id = 3;
\set VERBOSITY terse
SELECT id FROM texts ORDER BY id;
INSERT INTO texts VALUES (5, U&'na\00efve', U&'\00fc');
INSERT INTO nested VALUES (5, ARRAY[U&'na\00efve'], json_build_object(U&'\00e9', U&'\00fc', 'm', json_build_object(U&'\00f1', U&'\00df')));
-- comments, and names in types
CREATE FOREIGN TABLE told (a integer, b json OPTIONS (fluss_type U&'ROW<`\00e9` STRING>')) SERVER encoding_server;
SELECT fluss_create_table('told', comment => U&'caf\00e9');
SELECT fluss_add_column('told', U&'\00fc', U&'ROW<`\00f1` INT>', comment => U&'\00df');
SELECT * FROM fluss_sync_columns('told');
INSERT INTO told VALUES (1, json_build_object(U&'\00e9', U&'\00fc'), jsonb_build_object(U&'\00f1', 1));
SELECT * FROM told;
SELECT comment, octet_length(comment) FROM fluss_table_info('told');
CREATE FOREIGN TABLE keys (k text NOT NULL, n integer) SERVER encoding_server;
SELECT fluss_create_table('keys', primary_key => '{k}', bucket_count => 1);
INSERT INTO keys VALUES (U&'\00e4', 1);
SELECT n FROM keys WHERE k = U&'\00e4';

\c regress_fluss_ascii
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION fluss_fdw;
CREATE SERVER encoding_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap', database_name 'regress_encoding');
CREATE USER MAPPING FOR PUBLIC SERVER encoding_server;
CREATE FOREIGN TABLE texts (id integer NOT NULL, t text, v varchar(4)) SERVER encoding_server;
SELECT id, t::bytea FROM texts ORDER BY id;
INSERT INTO texts (id, t) VALUES (6, E'\xe2\x82\xac');
\set VERBOSITY sqlstate
INSERT INTO texts (id, t) VALUES (7, E'\xe9');

\c :utf8_database
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT * FROM texts ORDER BY id;
SELECT * FROM nested ORDER BY id;
CREATE FOREIGN TABLE keys (k text NOT NULL, n integer) SERVER encoding_server;
SELECT k, n FROM keys WHERE k = U&'\00e4';
SELECT fluss_drop_database('encoding_server', 'regress_encoding', cascade => true);
DROP SERVER encoding_server CASCADE;
DROP DATABASE regress_fluss_latin1;
DROP DATABASE regress_fluss_ascii;
