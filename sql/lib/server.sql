\set ECHO none
-- What a test begins with: a server and an empty Fluss database of its own,
-- both named after it.
--     \set test scan
--     \i sql/lib/server.sql
\getenv bootstrap FLUSS_BOOTSTRAP
\if :{?bootstrap}
\else
\set bootstrap localhost:9123
\endif
\set VERBOSITY terse
SET client_min_messages = warning;
\set server :test '_server'
\set database 'regress_' :test
CREATE SERVER :"server" FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers :'bootstrap', database_name :'database');
CREATE USER MAPPING FOR PUBLIC SERVER :"server";
\o /dev/null
SELECT fluss_drop_database(:'server', :'database', if_exists => true, cascade => true);
SELECT fluss_create_database(:'server', :'database');
\o
\set ECHO all
