-- Functions that change tables and partitions, and fluss_wait()
\set test alter
\i sql/lib/server.sql
\i sql/lib/try.sql

-- partitions, by values as PostgreSQL writes them, or as they stand in the names
CREATE FOREIGN TABLE parted (day date OPTIONS (column_name 'Day'), region text, v integer, _partition text OPTIONS (metadata 'partition')) SERVER alter_server;
SELECT fluss_create_table('parted', bucket_count => 2, partitioned_by => '{region,day}');
SELECT * FROM parted;
SELECT fluss_create_partition('parted', '{"day": "Jan 2 2026", "region": "eu"}');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": "2026-01-02", "region": "eu"}'')');
SELECT fluss_create_partition('parted', '{"day": "2026-01-02", "region": "eu"}', if_not_exists => true);
SELECT fluss_create_partition('alter_server', 'regress_alter', 'parted', '{"Day": "2026-01-03", "region": "us"}');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": "2026-01-02"}'')');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": "2026-01-02", "region": "eu", "v": 1}'')');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": "yesterday-ish", "region": "eu"}'')');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": null, "region": "eu"}'')');
CALL try('SELECT fluss_create_partition(''parted'', ''{"day": "2026-01-02", "region": "a/b"}'')');
CALL try('INSERT INTO parted (day, region, v) VALUES (''2026-01-02'', NULL, 1)');
CALL try('SELECT fluss_create_partition(''parted'', ''["x"]'')');
INSERT INTO parted VALUES ('2026-01-02', 'eu', 1), ('2026-01-03', 'us', 2);
SELECT * FROM parted ORDER BY v;
SELECT fluss_drop_partition('parted', '{"day": "2026-01-02", "region": "eu"}');
CALL try('SELECT fluss_drop_partition(''parted'', ''{"day": "2026-01-02", "region": "eu"}'')');
SELECT fluss_drop_partition('parted', '{"day": "2026-01-02", "region": "eu"}', if_exists => true);
SELECT fluss_drop_partition('alter_server', 'regress_alter', 'parted', '{"Day": "2026-01-03", "region": "us"}');
SELECT * FROM parted;

CALL try('SELECT fluss_create_partition(''parted'', NULL)');
CALL try('SELECT fluss_create_partition(''alter_server'', NULL, ''parted'', ''{}'')');
CALL try('SELECT fluss_drop_partition(NULL, ''{}'')');

-- options
CREATE FOREIGN TABLE events (id integer, note text) SERVER alter_server;
SELECT fluss_create_table('events', bucket_count => 1, properties => '{"mine": "1", "theirs": "2"}');
CALL try('SELECT fluss_create_partition(''events'', ''{"id": 1}'')');
SELECT fluss_alter_table('events', set => '{"table.log.tiered.local-segments": 5, "mine": "3"}', reset => '{theirs}');
SELECT properties ->> 'table.log.tiered.local-segments' AS segments, custom_properties FROM fluss_table_info('events');
SELECT fluss_alter_table('alter_server', 'regress_alter', 'events', set => '{"other": true}');
SELECT custom_properties FROM fluss_table_info('events');
CALL try('SELECT fluss_alter_table(''events'')');
CALL try('SELECT fluss_alter_table(''events'', set => ''{"table.log.ttl": "1 d"}'')');
CALL try('SELECT fluss_alter_table(''events'', set => ''[]'')');

-- columns
INSERT INTO events VALUES (1, 'before');
SELECT fluss_add_column('events', 'Amount', 'DECIMAL(10, 2)', comment => 'new');
SELECT fluss_add_column('alter_server', 'regress_alter', 'events', 'tags', 'STRING');
CALL try('SELECT fluss_add_column(''events'', ''Amount'', ''INT'')');
CALL try('SELECT fluss_add_column(''events'', ''x'', ''INTEGRE'')');
CALL try('SELECT fluss_add_column(''events'', ''x'', ''INT NOT NULL'')');
SELECT * FROM fluss_sync_columns('events');
SELECT * FROM fluss_sync_columns('events');
INSERT INTO events VALUES (2, 'after', 1.5, '{a,NULL,c}');
SELECT * FROM events ORDER BY id;
ALTER FOREIGN TABLE events DROP COLUMN note;
ALTER FOREIGN TABLE events RENAME COLUMN tags TO labels;
ALTER FOREIGN TABLE events ALTER COLUMN labels OPTIONS (ADD column_name 'tags');
SELECT * FROM fluss_sync_columns('events');
SELECT * FROM events ORDER BY id;

-- waiting for records
CREATE FOREIGN TABLE ticks (n integer) SERVER alter_server;
SELECT fluss_create_table('ticks', bucket_count => 1);
SELECT fluss_wait('ticks', timeout => '100 ms');
INSERT INTO ticks VALUES (1), (2);
SELECT fluss_wait('ticks', timeout => '10 s');
SELECT fluss_wait('ticks', '{"0": 0}', '10 s'), fluss_wait('ticks', '{"0": 1}', '100 ms'), fluss_wait('alter_server', 'regress_alter', 'ticks', '[{"bucket": 0, "log_offset": 0}]', '10 s') AS by_name;
SELECT fluss_wait('ticks', (SELECT jsonb_agg(w) FROM fluss_last_write() w), '100 ms');
CALL try('SELECT fluss_wait(''ticks'', ''[{"bucket": 0, "table_id": 1000000}]'', ''1 s'')');
CALL try('SELECT fluss_wait(''ticks'', ''[0]'', ''1 s'')');
CALL try('SELECT fluss_wait(''ticks'', ''[{"offset": 0}]'', ''1 s'')');
CALL try('SELECT fluss_wait(''ticks'', ''[]'', NULL)');
CALL try('SELECT fluss_wait(''ticks'', ''[{"bucket": 4294967296, "offset": 0}]'', ''1 s'')');
SELECT fluss_wait('ticks', '{"0": 9223372036854775807}', '100 ms');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT fluss_wait('ticks');
ROLLBACK;
SET statement_timeout = '200 ms';
SELECT fluss_wait('ticks', '{"0": 1}', '1 h');
RESET statement_timeout;
-- a partitioned table: of a partition nobody has read, every record counts
SELECT fluss_wait('parted', timeout => '100 ms');
INSERT INTO parted VALUES ('2026-02-01', 'eu', 1);
SELECT fluss_wait('parted', '[]', '10 s'), fluss_wait('parted', (SELECT jsonb_agg(w) FROM fluss_last_write() w), '100 ms');
CALL try('SELECT fluss_wait(''parted'', ''{"0": 1}'', ''1 s'')');

-- who may do what
BEGIN READ ONLY;
CALL try('SELECT fluss_create_partition(''parted'', ''{}'')');
CALL try('SELECT fluss_alter_table(''events'', set => ''{"a": 1}'')');
CALL try('SELECT fluss_add_column(''events'', ''x'', ''INT'')');
CALL try('SELECT fluss_sync_columns(''events'')');
ROLLBACK;
CREATE ROLE regress_fluss_other;
GRANT SELECT ON ticks, parted TO regress_fluss_other;
GRANT USAGE ON FOREIGN SERVER alter_server TO regress_fluss_other;
SET ROLE regress_fluss_other;
SELECT fluss_wait('ticks');
CALL try('SELECT fluss_drop_partition(''parted'', ''{}'')');
CALL try('SELECT fluss_alter_table(''ticks'', set => ''{"a": 1}'')');
CALL try('SELECT fluss_add_column(''alter_server'', ''regress_alter'', ''ticks'', ''x'', ''INT'')');
CALL try('SELECT fluss_wait(''events'')');
RESET ROLE;
REVOKE ALL ON ticks, parted FROM regress_fluss_other;
REVOKE ALL ON FOREIGN SERVER alter_server FROM regress_fluss_other;
DROP ROLE regress_fluss_other;
SELECT fluss_drop_database('alter_server', 'regress_alter', cascade => true);
DROP SERVER alter_server CASCADE;
DROP PROCEDURE try;
