--
-- Options: names, levels and values are checked without a cluster
--
\set VERBOSITY default
SET client_min_messages = warning;
CREATE ROLE regress_fluss_owner;
GRANT USAGE ON FOREIGN DATA WRAPPER fluss_fdw TO regress_fluss_owner;

-- servers
CREATE SERVER options_server FOREIGN DATA WRAPPER fluss_fdw;
CREATE SERVER options_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers '');
CREATE SERVER options_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers 'localhost');
CREATE SERVER options_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers 'localhost:99999');
CREATE SERVER options_server FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers 'a:1,[::1]:9123', database_name 'd');
ALTER SERVER options_server OPTIONS (DROP bootstrap_servers);

-- a wrong name: what was meant
ALTER SERVER options_server OPTIONS (ADD bootstrap_server 'a:1');
ALTER SERVER options_server OPTIONS (ADD database 'd');
ALTER SERVER options_server OPTIONS (ADD fetch_max_byte '1MB');
ALTER SERVER options_server OPTIONS (ADD completely_different 'x');
ALTER SERVER options_server OPTIONS (ADD "Batch_Size" '1');
ALTER FOREIGN DATA WRAPPER fluss_fdw OPTIONS (ADD bootstrap_servers 'a:1');
-- a right name in the wrong place; a server's options can be read by all
ALTER SERVER options_server OPTIONS (ADD user 'u');
ALTER SERVER options_server OPTIONS (ADD password 'secret');
ALTER SERVER options_server OPTIONS (ADD table_name 't');
ALTER SERVER options_server OPTIONS (ADD metadata 'bucket');

-- every option of a server, at a value that it takes
ALTER SERVER options_server OPTIONS (
  ADD address_map 'fluss-0:9123=localhost:19123,[fe80::1]:9123=127.0.0.1:9124', ADD client_id 'c', ADD connect_timeout '500ms', ADD request_timeout '1min',
  ADD security_protocol 'SASL', ADD sasl_mechanism 'plain', ADD keep_connections 'off', ADD use_remote_estimate 'false',
  ADD fdw_startup_cost '0', ADD fdw_tuple_cost '1e-3', ADD remote_files '/srv/fluss, /mnt/fluss', ADD s3_endpoint 'http://s3', ADD s3_region 'eu', ADD s3_path_style 'on',
  ADD fetch_max_bytes '32 MB', ADD fetch_max_bytes_for_bucket '1048576', ADD fetch_inflight '3', ADD lookup_max_batch_size '100', ADD lookup_max_inflight_requests '1',
  ADD limit_scan_max_rows '5', ADD batch_size '1', ADD writer_acks 'all', ADD writer_batch_size '64kB', ADD writer_enable_idempotence 'yes', ADD write_mode 'commit',
  ADD create_partitions 'no', ADD check_crc '0', ADD updatable '1', ADD on_data_loss 'ignore', ADD timestamp_skew '0', ADD invalid_text 'strip', ADD bucket_hash 'fluss_rs');
SELECT count(*) FROM pg_options_to_table((SELECT srvoptions FROM pg_foreign_server WHERE srvname = 'options_server'));
-- and at values that it does not take
\i sql/lib/try.sql
\set VERBOSITY terse
CALL try('ALTER SERVER options_server OPTIONS (SET address_map ''a:1'')');
CALL try('ALTER SERVER options_server OPTIONS (SET client_id '''')');
CALL try('ALTER SERVER options_server OPTIONS (SET connect_timeout ''0'')');
CALL try('ALTER SERVER options_server OPTIONS (SET connect_timeout ''10 parsec'')');
CALL try('ALTER SERVER options_server OPTIONS (SET request_timeout ''-1'')');
CALL try('ALTER SERVER options_server OPTIONS (SET request_timeout ''99999999999'')');
CALL try('ALTER SERVER options_server OPTIONS (SET security_protocol ''ssl'')');
CALL try('ALTER SERVER options_server OPTIONS (SET sasl_mechanism ''GSSAPI'')');
CALL try('ALTER SERVER options_server OPTIONS (SET keep_connections ''perhaps'')');
CALL try('ALTER SERVER options_server OPTIONS (SET fdw_startup_cost ''-1'')');
CALL try('ALTER SERVER options_server OPTIONS (SET fdw_tuple_cost ''NaN'')');
CALL try('ALTER SERVER options_server OPTIONS (SET remote_files ''relative/path'')');
CALL try('ALTER SERVER options_server OPTIONS (SET remote_files ''/a,b'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''s3.example.com'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''ftp://s3.example.com'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http:/s3.example.com'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http://'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''https://s3 example.com'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http://s3.example.com:port'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http://s3.example.com:99999'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http://me:secret@s3.example.com'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''https://s3.example.com/?a=b'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''http://[::1]:9000/'')');
CALL try('ALTER SERVER options_server OPTIONS (SET s3_endpoint ''HTTPS://s3.example.com/store'')');
CALL try('ALTER SERVER options_server OPTIONS (SET fetch_max_bytes ''3GB'')');
CALL try('ALTER SERVER options_server OPTIONS (SET fetch_max_bytes ''16MiB'')');
CALL try('ALTER SERVER options_server OPTIONS (SET fetch_inflight ''0'')');
CALL try('ALTER SERVER options_server OPTIONS (SET batch_size ''many'')');
CALL try('ALTER SERVER options_server OPTIONS (SET batch_size '''')');
CALL try('ALTER SERVER options_server OPTIONS (SET writer_acks ''2'')');
CALL try('ALTER SERVER options_server OPTIONS (SET writer_batch_size ''1'')');
CALL try('ALTER SERVER options_server OPTIONS (SET write_mode ''rollback'')');
CALL try('ALTER SERVER options_server OPTIONS (SET on_data_loss ''cry'')');
CALL try('ALTER SERVER options_server OPTIONS (SET invalid_text ''ignore'')');
CALL try('ALTER SERVER options_server OPTIONS (SET bucket_hash ''murmur'')');

-- user mappings
CREATE USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (user 'u', password '', password_required 'true', s3_access_key 'a', s3_secret_key 's');
CALL try('ALTER USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (SET user '''')');
CALL try('ALTER USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (SET password_required ''maybe'')');
CALL try('ALTER USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (ADD bootstrap_servers ''a:1'')');
CALL try('ALTER USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (ADD pasword ''secret'')');
CALL try('ALTER USER MAPPING FOR PUBLIC SERVER options_server OPTIONS (ADD batch_size ''1'')');

-- foreign tables and columns
CREATE FOREIGN TABLE options_table (
  a integer OPTIONS (column_name 'A', fluss_type 'tinyint not null'),
  t timestamp OPTIONS (event_time 'true', max_clock_skew '1min'),
  b integer OPTIONS (metadata 'bucket'))
  SERVER options_server OPTIONS (
  database_name 'd', table_name 't', scan_mode 'changelog', scan_startup_mode 'timestamp', scan_startup_timestamp '2026-01-01 00:00+00', batch_size '10', fetch_max_bytes '1MB');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (SET scan_mode ''both'')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (SET scan_startup_mode ''now'')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (SET scan_startup_timestamp ''soon'')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (SET scan_startup_timestamp ''infinity'')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (DROP scan_startup_timestamp)');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (SET table_name '''')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (ADD connect_timeout ''1s'')');
CALL try('ALTER FOREIGN TABLE options_table OPTIONS (ADD tablename ''t'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER a OPTIONS (SET fluss_type ''INTERVAL'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER a OPTIONS (SET fluss_type ''DECIMAL(39, 0)'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER a OPTIONS (SET fluss_type ''ARRAY<INT'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER a OPTIONS (SET column_name '''')');
CALL try('ALTER FOREIGN TABLE options_table ALTER a OPTIONS (ADD metadata ''log_offset'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER b OPTIONS (SET metadata ''offset'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER b OPTIONS (ADD fluss_type ''INT'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER b OPTIONS (ADD event_time ''true'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER t OPTIONS (SET event_time ''sometimes'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER t OPTIONS (SET max_clock_skew ''-1'')');
CALL try('ALTER FOREIGN TABLE options_table ALTER t OPTIONS (ADD col_name ''x'')');

-- what only a superuser may set
GRANT USAGE ON FOREIGN SERVER options_server TO regress_fluss_owner;
CREATE SERVER options_plain FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers 'a:1');
ALTER SERVER options_plain OWNER TO regress_fluss_owner;
GRANT EXECUTE ON PROCEDURE try(text) TO regress_fluss_owner;
SET ROLE regress_fluss_owner;
CALL try('ALTER SERVER options_plain OPTIONS (ADD remote_files ''/etc'')');
CALL try('CREATE USER MAPPING FOR regress_fluss_owner SERVER options_plain OPTIONS (user ''u'', password_required ''false'')');
CREATE USER MAPPING FOR regress_fluss_owner SERVER options_plain OPTIONS (user 'u', password 'p', password_required 'true');
ALTER SERVER options_plain OPTIONS (ADD batch_size '7');
RESET ROLE;

-- options of a table go over those of its server, seen by what may be inserted
CREATE FOREIGN TABLE options_updatable (a integer) SERVER options_server OPTIONS (updatable 'true');
CREATE FOREIGN TABLE options_readonly (a integer) SERVER options_server OPTIONS (updatable 'false');
SELECT relname, pg_relation_is_updatable(oid, false) FROM pg_class WHERE relname LIKE 'options\_%able' OR relname = 'options_readonly' ORDER BY relname;
ALTER SERVER options_server OPTIONS (SET updatable 'false');
SELECT relname, pg_relation_is_updatable(oid, false) FROM pg_class WHERE relname LIKE 'options\_%able' OR relname = 'options_readonly' ORDER BY relname;
\set VERBOSITY sqlstate
INSERT INTO options_readonly VALUES (1);

DROP SERVER options_server, options_plain CASCADE;
DROP PROCEDURE try;
REVOKE USAGE ON FOREIGN DATA WRAPPER fluss_fdw FROM regress_fluss_owner;
DROP ROLE regress_fluss_owner;
