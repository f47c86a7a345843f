--
-- Primary key tables: lookups, joins, whole reads
--
\set test lookup
\i sql/lib/server.sql

CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    CONTINUE WHEN line ~ '(Fluss Bytes|Memory Usage|Planning|Buffers)';
    line := regexp_replace(line, 'actual rows=\S+ loops=([2-9]|\d\d+)\)', 'actual loops=\1)');
    line := regexp_replace(line, 'actual rows=(\d+)(\.00)? loops', 'actual rows=\1 loops');
    RETURN NEXT line;
  END LOOP;
END $$;

CREATE FOREIGN TABLE info (sensor_id integer NOT NULL, name text, site varchar(40), bkt integer OPTIONS (metadata 'bucket')) SERVER lookup_server;
SELECT fluss_create_table('info', primary_key => '{sensor_id}', bucket_count => 3);
CREATE TABLE local_info (sensor_id integer PRIMARY KEY, name text, site varchar(40));
INSERT INTO local_info SELECT g, CASE WHEN g % 5 <> 0 THEN 'sensor ' || g END, (ARRAY['roof', 'lobby', 'lab'])[g % 3 + 1] FROM generate_series(-20, 400) g;
INSERT INTO info (sensor_id, name, site) SELECT * FROM local_info;

-- an upsert replaces
INSERT INTO info (sensor_id, name, site) VALUES (7, 'first', 'roof'), (7, 'second', 'lab');
UPDATE local_info SET name = 'second', site = 'lab' WHERE sensor_id = 7;

-- whole reads
(SELECT sensor_id, name, site FROM info EXCEPT ALL SELECT * FROM local_info)
UNION ALL
(SELECT * FROM local_info EXCEPT ALL SELECT sensor_id, name, site FROM info);
SELECT count(*), count(name), count(DISTINCT bkt) FROM info;
EXPLAIN (COSTS OFF) SELECT name FROM info;
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE bkt = 1 AND site = 'roof';
SELECT sum(n) FROM (SELECT count(*) n FROM info WHERE bkt = 1 UNION ALL SELECT count(*) FROM info WHERE bkt IN (0, 2)) x;
SELECT count(*) FROM info WHERE name LIKE '%99' AND site = 'lobby';
SELECT count(*) FROM local_info WHERE name LIKE '%99' AND site = 'lobby';
-- too many rows for a limit scan
ALTER FOREIGN TABLE info
    OPTIONS (ADD limit_scan_max_rows '50', ADD kv_scan 'limit_scan');
\set VERBOSITY default
SELECT count(*) FROM info;
\set VERBOSITY terse
SELECT name FROM info WHERE sensor_id = 8;
-- what this server does not offer
ALTER FOREIGN TABLE info OPTIONS (SET kv_scan 'scan_kv');
DO $$
DECLARE hint text;
BEGIN
  PERFORM count(*) FROM info;
EXCEPTION WHEN feature_not_supported THEN
  GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
  RAISE WARNING '%', hint;
END $$;
ALTER FOREIGN TABLE info OPTIONS (DROP limit_scan_max_rows, DROP kv_scan);

-- lookups
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE sensor_id = 2;
SELECT explain_analyze('SELECT * FROM info WHERE sensor_id = 2');
SELECT * FROM info WHERE sensor_id = 2;
SELECT name FROM info WHERE 3 = sensor_id AND site = 'roof';
SELECT name FROM info WHERE 3 = sensor_id AND site = 'nowhere';
SELECT sensor_id, name FROM info WHERE sensor_id IN (1, 2, 2, -3, 99999, NULL) ORDER BY 1;
SELECT explain_analyze('SELECT sensor_id, name FROM info WHERE sensor_id IN (1, 2, 2, -3, 99999)');
SELECT sensor_id FROM info WHERE sensor_id = ANY (ARRAY[400, 401]::bigint[]) ORDER BY 1;
-- a value that the column cannot hold, NULL and a contradiction match nothing
SELECT explain_analyze('SELECT * FROM info WHERE sensor_id = 5000000000');
SELECT explain_analyze('SELECT * FROM info WHERE sensor_id = NULL::int');
SELECT * FROM info WHERE sensor_id = (SELECT NULL::int);
SELECT count(*) FROM info WHERE sensor_id = 1 AND sensor_id = 2;
SELECT count(*) FROM info WHERE sensor_id = 1 AND sensor_id IN (1, 2);
-- not an equality of the column
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE sensor_id + 0 = 2;
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE sensor_id = 2.0;
EXPLAIN (COSTS OFF) SELECT * FROM info WHERE sensor_id = bkt;
SELECT count(*) FROM info WHERE sensor_id = (random() * 0)::int + 5;

-- every key, one by one and in one statement
SELECT count(*) FROM local_info l WHERE NOT EXISTS (SELECT FROM info i WHERE i.sensor_id = l.sensor_id AND i.name IS NOT DISTINCT FROM l.name AND i.site IS NOT DISTINCT FROM l.site);
SELECT count(*), count(DISTINCT sensor_id) FROM info WHERE sensor_id = ANY (ARRAY(SELECT g FROM generate_series(-100, 1000) g));

-- prepared: the same on every execution
PREPARE one(int) AS SELECT name FROM info WHERE sensor_id = $1;
EXECUTE one(1); EXECUTE one(2); EXECUTE one(NULL); EXECUTE one(5); EXECUTE one(7);
EXECUTE one(1); EXECUTE one(12345); EXECUTE one(2);
SELECT explain_analyze('EXECUTE one(2)');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE one(2);
SELECT explain_analyze('EXECUTE one(2)');
SELECT explain_analyze('EXECUTE one(NULL)');
PREPARE several(bigint[]) AS SELECT count(*) FROM info WHERE sensor_id = ANY ($1);
EXECUTE several('{1,2,3,1}'); EXECUTE several('{}'); EXECUTE several(NULL); EXECUTE several('{NULL,5,99999999999}');
RESET plan_cache_mode;

-- joins by an outer row's key; a round trip that costs next to nothing makes
-- the planner prefer lookups
ALTER SERVER lookup_server OPTIONS (ADD fdw_startup_cost '0.01');
CREATE TABLE loc (id int, tag text);
INSERT INTO loc VALUES (1, 'a'), (2, 'b'), (2, 'b2'), (NULL, 'null'), (999, 'none'), (30, 'c');
ANALYZE loc;
SET enable_hashjoin = off; SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT l.tag, i.name FROM loc l JOIN info i ON i.sensor_id = l.id;
SELECT l.tag, i.name FROM loc l JOIN info i ON i.sensor_id = l.id ORDER BY 1;
SELECT l.tag, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id ORDER BY 1;
SELECT l.tag, i.name FROM info i RIGHT JOIN loc l ON i.sensor_id = l.id AND i.site = 'lab' ORDER BY 1;
SELECT l.tag FROM loc l WHERE NOT EXISTS (SELECT FROM info i WHERE i.sensor_id = l.id) ORDER BY 1;
SELECT l.tag FROM loc l WHERE l.id IN (SELECT sensor_id FROM info) ORDER BY 1;
SELECT l.tag, (SELECT name FROM info i WHERE i.sensor_id = l.id) FROM loc l ORDER BY 1;
SELECT l.tag, x.name FROM loc l LEFT JOIN LATERAL (SELECT * FROM info i WHERE i.sensor_id = l.id AND false) x ON true ORDER BY 1;
SELECT l.tag, x.name FROM loc l, LATERAL (SELECT name, l.tag FROM info i WHERE i.sensor_id = l.id + 1) x ORDER BY 1;
EXPLAIN (VERBOSE, COSTS OFF) SELECT a.name FROM info a LEFT JOIN loc b ON a.sensor_id + 1 = b.id AND upper(a.name) = b.tag \g /dev/null
SELECT explain_analyze('SELECT l.tag, i.name FROM loc l JOIN info i ON i.sensor_id = l.id');
RESET enable_hashjoin; RESET enable_mergejoin;
SELECT count(*) FROM loc l JOIN info i ON i.sensor_id = l.id;
SELECT count(*) FROM info i JOIN loc l ON i.sensor_id = l.id;

-- composite keys of several types
CREATE FOREIGN TABLE hist (
  sensor_id bigint, day date, kind text, v numeric(12,3), at timestamp(3)
) SERVER lookup_server;
SELECT fluss_create_table('hist', primary_key => '{sensor_id,day,kind}', bucket_key => '{sensor_id}', bucket_count => 4);
CREATE TABLE local_hist (sensor_id bigint, day date, kind text, v numeric(12,3), at timestamp(3));
INSERT INTO local_hist
  SELECT s, date '1969-12-30' + d, k, CASE WHEN d % 4 > 0 THEN s * 1000.125 - d END, timestamp '1969-12-31 23:59:59.5' + d * interval '1.001 s'
  FROM generate_series(126, 131) s, generate_series(0, 5) d, unnest(ARRAY['', 'é', '温度計 🌡']) k;
INSERT INTO hist SELECT * FROM local_hist;
(SELECT * FROM hist EXCEPT ALL SELECT * FROM local_hist) UNION ALL (SELECT * FROM local_hist EXCEPT ALL SELECT * FROM hist);
EXPLAIN (COSTS OFF) SELECT * FROM hist WHERE sensor_id = 127 AND day = '1970-01-01' AND kind IN ('é', '');
SELECT * FROM hist WHERE sensor_id = 127 AND day = '1970-01-01' AND kind IN ('é', '') ORDER BY kind;
SELECT count(*) FROM hist WHERE sensor_id IN (126, 128) AND day = ANY (ARRAY[date '1970-01-01', '1970-01-02']) AND kind = ANY ('{"",é}');
EXPLAIN (COSTS OFF) SELECT * FROM hist WHERE sensor_id = 127 AND day = '1970-01-01';
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*) FROM local_hist l JOIN hist h ON h.sensor_id = l.sensor_id AND h.day = l.day AND h.kind = l.kind AND h.v IS NOT DISTINCT FROM l.v AND h.at = l.at;
SELECT count(*) FROM loc, local_hist l JOIN hist h USING (sensor_id, day, kind) WHERE loc.tag = 'a' AND h.v > length(loc.tag) * 0;
RESET enable_hashjoin; RESET enable_mergejoin;
SELECT count(*) FROM hist WHERE v > 0;
SELECT count(*) FROM local_hist WHERE v > 0;

-- the planner believes a NOT NULL, so what is read is checked
CREATE FOREIGN TABLE hist_strict (sensor_id int NOT NULL, day date NOT NULL, kind text NOT NULL, v numeric(12,3) NOT NULL) SERVER lookup_server OPTIONS (table_name 'hist');
SELECT count(day) FROM hist_strict;
SELECT count(v) FROM hist_strict;

-- keys whose equality is not byte equality are not looked up
CREATE FOREIGN TABLE padded (k character(5), v int) SERVER lookup_server;
SELECT fluss_create_table('padded', primary_key => '{k}');
INSERT INTO padded VALUES ('ab', 1), ('abc', 2);
EXPLAIN (COSTS OFF) SELECT * FROM padded WHERE k = 'ab';
SELECT * FROM padded WHERE k = 'ab';
CREATE FOREIGN TABLE floats (k double precision, v int) SERVER lookup_server;
SELECT fluss_create_table('floats', primary_key => '{k}');
INSERT INTO floats VALUES (1.5, 1), ('NaN', 2), ('-0', 3);
EXPLAIN (COSTS OFF) SELECT * FROM floats WHERE k = 0;
SELECT * FROM floats WHERE k = 0;
SELECT * FROM floats WHERE k = 'NaN';
-- the events with their current state
CREATE FOREIGN TABLE readings (sensor_id integer, temperature_c double precision, _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER lookup_server;
SELECT fluss_create_table('readings', bucket_key => '{sensor_id}');
INSERT INTO readings (sensor_id, temperature_c) SELECT g % 12 - 1, g FROM generate_series(0, 99) g;
CREATE VIEW enriched AS SELECT r.*, i.name, i.site FROM readings r LEFT JOIN info i USING (sensor_id);
SELECT * FROM enriched WHERE _log_offset >= 5 AND _log_offset < 9 ORDER BY _log_offset;
SELECT explain_analyze('SELECT * FROM enriched WHERE _log_offset >= 5 AND _log_offset < 9');
SELECT count(*), count(name) FROM enriched;
SELECT count(*), count(l.name) FROM readings r LEFT JOIN local_info l USING (sensor_id);

SELECT fluss_drop_database('lookup_server', 'regress_lookup', cascade => true);
DROP SERVER lookup_server CASCADE;
DROP FUNCTION explain_analyze;
DROP TABLE local_info, local_hist, loc;
