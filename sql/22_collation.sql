--
-- A key with a nondeterministic collation is not looked up; without ICU there
-- is no such collation (the second expected output)
--
\set test collation
\i sql/lib/server.sql

CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FOREIGN TABLE folded (k text COLLATE ignore_case, v int) SERVER collation_server;
SELECT fluss_create_table('folded', primary_key => '{k}');
INSERT INTO folded VALUES ('Abc', 1);
EXPLAIN (COSTS OFF) SELECT * FROM folded WHERE k = 'ABC';
SELECT * FROM folded WHERE k = 'ABC';

SELECT fluss_drop_database('collation_server', 'regress_collation', cascade => true);
DROP SERVER collation_server CASCADE;
DROP COLLATION IF EXISTS ignore_case;
