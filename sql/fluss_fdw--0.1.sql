-- Complain when this script is run by psql and not by CREATE EXTENSION.
\echo Use "CREATE EXTENSION fluss_fdw" to load this file. \quit

CREATE FUNCTION fluss_fdw_handler() RETURNS fdw_handler
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'fluss_fdw_handler';

CREATE FUNCTION fluss_fdw_validator(options text[], catalog oid) RETURNS void
    LANGUAGE C STRICT
    AS 'MODULE_PATHNAME', 'fluss_fdw_validator';

CREATE FOREIGN DATA WRAPPER fluss_fdw
    HANDLER fluss_fdw_handler
    VALIDATOR fluss_fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER fluss_fdw IS 'Apache Fluss';

-- What changes a cluster takes effect at once: not even a rollback undoes it.

CREATE FUNCTION fluss_create_database(
    server name, name text, comment text DEFAULT NULL,
    if_not_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_create_database';
COMMENT ON FUNCTION fluss_create_database(name, text, text, boolean)
    IS 'creates a Fluss database';
REVOKE EXECUTE ON FUNCTION fluss_create_database(name, text, text, boolean)
    FROM PUBLIC;

CREATE FUNCTION fluss_drop_database(
    server name, name text, cascade boolean DEFAULT false,
    if_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_drop_database';
COMMENT ON FUNCTION fluss_drop_database(name, text, boolean, boolean)
    IS 'drops a Fluss database, with cascade also its tables';
REVOKE EXECUTE ON FUNCTION fluss_drop_database(name, text, boolean, boolean)
    FROM PUBLIC;

CREATE FUNCTION fluss_create_table(
    foreign_table regclass, primary_key text[] DEFAULT NULL,
    bucket_key text[] DEFAULT NULL, bucket_count integer DEFAULT NULL,
    partitioned_by text[] DEFAULT NULL, properties jsonb DEFAULT NULL,
    comment text DEFAULT NULL, if_not_exists boolean DEFAULT false)
    RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_create_table';
COMMENT ON FUNCTION fluss_create_table(
    regclass, text[], text[], integer, text[], jsonb, text, boolean)
    IS 'creates the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_drop_table(
    foreign_table regclass, if_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_drop_table';
COMMENT ON FUNCTION fluss_drop_table(regclass, boolean)
    IS 'drops the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_drop_table(
    server name, database_name text, table_name text,
    if_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_drop_table';
COMMENT ON FUNCTION fluss_drop_table(name, text, text, boolean)
    IS 'drops a Fluss table';
REVOKE EXECUTE ON FUNCTION fluss_drop_table(name, text, text, boolean)
    FROM PUBLIC;

-- Information.  Restricted: connections and pinned ends are the leader's.

CREATE FUNCTION fluss_buckets(
    foreign_table regclass,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT bucket integer, OUT leader integer, OUT replicas integer[],
    OUT earliest_offset bigint, OUT latest_offset bigint,
    OUT row_count bigint) RETURNS SETOF record
    LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_buckets';
COMMENT ON FUNCTION fluss_buckets(regclass)
    IS 'buckets of a foreign table, with the ends that scans of the same statement have';

CREATE FUNCTION fluss_buckets(
    server name, database_name text, table_name text,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT bucket integer, OUT leader integer, OUT replicas integer[],
    OUT earliest_offset bigint, OUT latest_offset bigint,
    OUT row_count bigint) RETURNS SETOF record
    LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_buckets';
COMMENT ON FUNCTION fluss_buckets(name, text, text)
    IS 'buckets of a Fluss table, with the ends that scans of the same statement have';

CREATE FUNCTION fluss_partitions(
    foreign_table regclass,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT spec jsonb) RETURNS SETOF record
    LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 100
    AS 'MODULE_PATHNAME', 'fluss_fdw_partitions';
COMMENT ON FUNCTION fluss_partitions(regclass)
    IS 'partitions of a foreign table that scans of the same statement see';

CREATE FUNCTION fluss_partitions(
    server name, database_name text, table_name text,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT spec jsonb) RETURNS SETOF record
    LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 100
    AS 'MODULE_PATHNAME', 'fluss_fdw_partitions';
COMMENT ON FUNCTION fluss_partitions(name, text, text)
    IS 'partitions of a Fluss table that scans of the same statement see';

CREATE FUNCTION fluss_offsets_at(
    foreign_table regclass, at timestamptz,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT bucket integer, OUT log_offset bigint) RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_offsets_at';
COMMENT ON FUNCTION fluss_offsets_at(regclass, timestamptz)
    IS 'where the records that were committed at or after a time start, or a little before';

CREATE FUNCTION fluss_offsets_at(
    server name, database_name text, table_name text, at timestamptz,
    OUT table_id bigint, OUT partition text, OUT partition_id bigint,
    OUT bucket integer, OUT log_offset bigint) RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_offsets_at';
COMMENT ON FUNCTION fluss_offsets_at(name, text, text, timestamptz)
    IS 'where the records that were committed at or after a time start, or a little before';

CREATE FUNCTION fluss_last_write(
    OUT table_id bigint, OUT partition_id bigint, OUT bucket integer,
    OUT first_offset bigint, OUT last_offset bigint, OUT rows bigint)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_last_write';
COMMENT ON FUNCTION fluss_last_write()
    IS 'runs of offsets that the last writing statement of the session wrote';

CREATE FUNCTION fluss_fdw_version(OUT name text, OUT version text)
    RETURNS SETOF record
    LANGUAGE C STRICT STABLE PARALLEL SAFE ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_version';
COMMENT ON FUNCTION fluss_fdw_version()
    IS 'versions of the extension and of the libraries it uses';

CREATE FUNCTION fluss_nodes(
    server name,
    OUT node_id integer, OUT role text, OUT host text, OUT port integer,
    OUT rack text) RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 5
    AS 'MODULE_PATHNAME', 'fluss_fdw_nodes';
COMMENT ON FUNCTION fluss_nodes(name)
    IS 'live servers of a Fluss cluster';

CREATE FUNCTION fluss_databases(server name) RETURNS SETOF text
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10
    AS 'MODULE_PATHNAME', 'fluss_fdw_databases';
COMMENT ON FUNCTION fluss_databases(name)
    IS 'databases of a Fluss cluster that the user may see';

CREATE FUNCTION fluss_tables(server name, database_name text)
    RETURNS SETOF text
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100
    AS 'MODULE_PATHNAME', 'fluss_fdw_tables';
COMMENT ON FUNCTION fluss_tables(name, text)
    IS 'tables of a Fluss database that the user may see';

CREATE FUNCTION fluss_table_info(
    foreign_table regclass,
    OUT path text, OUT table_id bigint,
    OUT schema_id integer, OUT kind text, OUT primary_key text[],
    OUT bucket_key text[], OUT partitioned_by text[],
    OUT bucket_count integer, OUT log_format text, OUT kv_format text,
    OUT properties jsonb, OUT custom_properties jsonb, OUT comment text,
    OUT created_at timestamptz, OUT modified_at timestamptz)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 1
    AS 'MODULE_PATHNAME', 'fluss_fdw_table_info';
COMMENT ON FUNCTION fluss_table_info(regclass)
    IS 'the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_table_info(
    server name, database_name text, table_name text,
    OUT path text, OUT table_id bigint,
    OUT schema_id integer, OUT kind text, OUT primary_key text[],
    OUT bucket_key text[], OUT partitioned_by text[],
    OUT bucket_count integer, OUT log_format text, OUT kv_format text,
    OUT properties jsonb, OUT custom_properties jsonb, OUT comment text,
    OUT created_at timestamptz, OUT modified_at timestamptz)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 1
    AS 'MODULE_PATHNAME', 'fluss_fdw_table_info';
COMMENT ON FUNCTION fluss_table_info(name, text, text)
    IS 'a Fluss table';

CREATE FUNCTION fluss_fdw_get_connections(
    OUT server_name text, OUT user_name text, OUT valid boolean,
    OUT in_use boolean) RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 1
    AS 'MODULE_PATHNAME', 'fluss_fdw_get_connections';
COMMENT ON FUNCTION fluss_fdw_get_connections()
    IS 'Fluss clusters that this session is connected to';

CREATE FUNCTION fluss_fdw_disconnect(server name) RETURNS boolean
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'fluss_fdw_disconnect';
COMMENT ON FUNCTION fluss_fdw_disconnect(name)
    IS 'closes the connections of this session to a server';

CREATE FUNCTION fluss_fdw_disconnect_all() RETURNS boolean
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED
    AS 'MODULE_PATHNAME', 'fluss_fdw_disconnect_all';
COMMENT ON FUNCTION fluss_fdw_disconnect_all()
    IS 'closes all Fluss connections of this session';

-- Changes of tables and partitions.

CREATE FUNCTION fluss_create_partition(
    foreign_table regclass, spec jsonb, if_not_exists boolean DEFAULT false)
    RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_create_partition';
COMMENT ON FUNCTION fluss_create_partition(regclass, jsonb, boolean)
    IS 'creates a partition of the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_create_partition(
    server name, database_name text, table_name text, spec jsonb,
    if_not_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_create_partition';
COMMENT ON FUNCTION fluss_create_partition(name, text, text, jsonb, boolean)
    IS 'creates a partition of a Fluss table';
REVOKE EXECUTE ON FUNCTION
    fluss_create_partition(name, text, text, jsonb, boolean) FROM PUBLIC;

CREATE FUNCTION fluss_drop_partition(
    foreign_table regclass, spec jsonb, if_exists boolean DEFAULT false)
    RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_drop_partition';
COMMENT ON FUNCTION fluss_drop_partition(regclass, jsonb, boolean)
    IS 'drops a partition of the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_drop_partition(
    server name, database_name text, table_name text, spec jsonb,
    if_exists boolean DEFAULT false) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_drop_partition';
COMMENT ON FUNCTION fluss_drop_partition(name, text, text, jsonb, boolean)
    IS 'drops a partition of a Fluss table';
REVOKE EXECUTE ON FUNCTION
    fluss_drop_partition(name, text, text, jsonb, boolean) FROM PUBLIC;

CREATE FUNCTION fluss_alter_table(
    foreign_table regclass, set jsonb DEFAULT NULL, reset text[] DEFAULT NULL)
    RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_alter_table';
COMMENT ON FUNCTION fluss_alter_table(regclass, jsonb, text[])
    IS 'changes options of the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_alter_table(
    server name, database_name text, table_name text, set jsonb,
    reset text[] DEFAULT NULL) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_alter_table';
COMMENT ON FUNCTION fluss_alter_table(name, text, text, jsonb, text[])
    IS 'changes options of a Fluss table';
REVOKE EXECUTE ON FUNCTION fluss_alter_table(name, text, text, jsonb, text[])
    FROM PUBLIC;

CREATE FUNCTION fluss_add_column(
    foreign_table regclass, column_name text, fluss_type text,
    comment text DEFAULT NULL) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_add_column';
COMMENT ON FUNCTION fluss_add_column(regclass, text, text, text)
    IS 'adds a column to the Fluss table that a foreign table stands for';

CREATE FUNCTION fluss_add_column(
    server name, database_name text, table_name text, column_name text,
    fluss_type text, comment text DEFAULT NULL) RETURNS void
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_add_column';
COMMENT ON FUNCTION fluss_add_column(name, text, text, text, text, text)
    IS 'adds a column to a Fluss table';
REVOKE EXECUTE ON FUNCTION
    fluss_add_column(name, text, text, text, text, text) FROM PUBLIC;

CREATE FUNCTION fluss_sync_columns(foreign_table regclass) RETURNS SETOF text
    LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE ROWS 1
    AS 'MODULE_PATHNAME', 'fluss_fdw_sync_columns';
COMMENT ON FUNCTION fluss_sync_columns(regclass)
    IS 'adds to a foreign table the columns that only the Fluss table has, and names them';

CREATE FUNCTION fluss_wait(
    foreign_table regclass, after jsonb DEFAULT NULL,
    timeout interval DEFAULT '30 s') RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_wait';
COMMENT ON FUNCTION fluss_wait(regclass, jsonb, interval)
    IS 'waits until there are records past the given positions; false when the time is up';

-- No defaults: of three texts this must not be what is meant.
CREATE FUNCTION fluss_wait(
    server name, database_name text, table_name text, after jsonb,
    timeout interval) RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'fluss_fdw_wait';
COMMENT ON FUNCTION fluss_wait(name, text, text, jsonb, interval)
    IS 'waits until there are records past the given positions; false when the time is up';

CREATE FUNCTION fluss_fdw_check(
    foreign_table regclass,
    OUT problem text, OUT subject text, OUT detail text, OUT hint text)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 5
    AS 'MODULE_PATHNAME', 'fluss_fdw_check';
COMMENT ON FUNCTION fluss_fdw_check(regclass)
    IS 'what would surprise who queries a foreign table, found in its columns and in a sample of rows';

CREATE FUNCTION fluss_fdw_check(
    server name, database_name text, table_name text,
    OUT problem text, OUT subject text, OUT detail text, OUT hint text)
    RETURNS SETOF record
    LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 5
    AS 'MODULE_PATHNAME', 'fluss_fdw_check';
COMMENT ON FUNCTION fluss_fdw_check(name, text, text)
    IS 'what would surprise who queries a Fluss table, found in a sample of rows';
