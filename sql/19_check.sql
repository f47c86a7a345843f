-- fluss_fdw_check(): drift of columns, keys in the wrong bucket
\set test check
\i sql/lib/server.sql
CREATE FOREIGN TABLE events (id integer NOT NULL, note text, n bigint, _bucket integer OPTIONS (metadata 'bucket')) SERVER check_server;
SELECT fluss_create_table('events', bucket_count => 2);
INSERT INTO events SELECT g, 'x', g FROM generate_series(1, 5000) g;
SELECT * FROM fluss_fdw_check('events');
CREATE FOREIGN TABLE drifted (id smallint, note text NOT NULL, gone text, _bucket bigint OPTIONS (metadata 'bucket')) SERVER check_server OPTIONS (table_name 'events');
SELECT * FROM fluss_fdw_check('drifted');
-- by name there are no columns that could have drifted
SELECT * FROM fluss_fdw_check('check_server', 'regress_check', 'events');
\set VERBOSITY sqlstate
SELECT * FROM fluss_fdw_check('check_server', 'regress_check', 'nothing');
\set VERBOSITY terse
-- keys as fluss-rs spreads them: some are where a lookup does not look
CREATE FOREIGN TABLE state (id integer, name text) SERVER check_server OPTIONS (bucket_hash 'fluss_rs');
SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 4);
INSERT INTO state SELECT g, 'n' || g FROM generate_series(1, 1000) g;
SELECT count(*) FROM state s, generate_series(1, 1000) g WHERE s.id = g;
CREATE FOREIGN TABLE state_java (id integer, name text) SERVER check_server OPTIONS (table_name 'state');
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*) > 0 AS some, count(*) < 1000 AS not_all FROM generate_series(1, 1000) g JOIN state_java s ON s.id = g;
RESET enable_hashjoin; RESET enable_mergejoin;
SELECT problem, subject ~ '^bucket [0-3]$' AS subject, detail ~ '^[0-9]+ of [0-9]+ rows' AS detail, hint FROM fluss_fdw_check('state_java');
SELECT * FROM fluss_fdw_check('state');
SELECT problem, count(*) FROM fluss_fdw_check('check_server', 'regress_check', 'state') GROUP BY 1;
-- another client writes them again
INSERT INTO state_java SELECT g, 'again' FROM generate_series(1, 1000) g;
SELECT count(*) > 1000 AS twice, count(DISTINCT id) FROM state;
SELECT problem, count(*) > 0 AS some, min(hint) FROM fluss_fdw_check('state_java') GROUP BY 1 ORDER BY 1;
SELECT problem, count(*) > 0 AS some, min(hint) FROM fluss_fdw_check('state') GROUP BY 1 ORDER BY 1;
CREATE FOREIGN TABLE clean (day text, id integer, v integer) SERVER check_server;
SELECT fluss_create_table('clean', primary_key => '{day,id}', partitioned_by => '{day}', bucket_count => 3);
INSERT INTO clean SELECT 'd' || g % 3, g, g FROM generate_series(1, 300) g;
SELECT * FROM fluss_fdw_check('clean');
SELECT * FROM fluss_fdw_check('check_server', 'regress_check', 'clean');
CREATE ROLE regress_fluss_check;
SET ROLE regress_fluss_check;
SELECT * FROM fluss_fdw_check('clean');
SELECT * FROM fluss_fdw_check('check_server', 'regress_check', 'clean');
RESET ROLE;
GRANT SELECT ON clean TO regress_fluss_check;
GRANT USAGE ON FOREIGN SERVER check_server TO regress_fluss_check;
SET ROLE regress_fluss_check;
SELECT * FROM fluss_fdw_check('clean');
SELECT * FROM fluss_fdw_check('check_server', 'regress_check', 'clean');
RESET ROLE;
REVOKE ALL ON clean FROM regress_fluss_check;
REVOKE ALL ON FOREIGN SERVER check_server FROM regress_fluss_check;
DROP ROLE regress_fluss_check;
SELECT fluss_drop_database('check_server', 'regress_check', cascade => true);
DROP SERVER check_server CASCADE;
