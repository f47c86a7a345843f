--
-- Partitioned primary key tables: whole reads, pruning, metadata, changelogs
--
\set test state
\i sql/lib/server.sql

CREATE FOREIGN TABLE stock (
  day date, id integer, v integer,
  _partition text OPTIONS (metadata 'partition'), _partition_id bigint OPTIONS (metadata 'partition_id'),
  _table_id bigint OPTIONS (metadata 'table_id'), _bucket integer OPTIONS (metadata 'bucket')
) SERVER state_server;
SELECT fluss_create_table('stock', primary_key => '{day,id}', bucket_key => '{id}', bucket_count => 2, partitioned_by => '{day}');

-- no partitions at all
SELECT count(*) FROM stock;
SELECT * FROM stock WHERE day = '2026-01-01' AND id = 1;

CREATE TABLE local AS SELECT date '2026-08-01' + d AS day, i AS id, d * 100 + i AS v FROM generate_series(0, 3) d, generate_series(1, 20) i;
INSERT INTO stock (day, id, v) SELECT * FROM local;
INSERT INTO stock (day, id, v) VALUES ('2026-08-02', 5, -5);
UPDATE local SET v = -5 WHERE day = '2026-08-02' AND id = 5;
SELECT _partition, count(*), min(v), count(DISTINCT _partition_id), count(DISTINCT _bucket), count(DISTINCT _table_id) FROM stock GROUP BY 1 ORDER BY 1;

EXPLAIN (COSTS OFF) SELECT day, id, v FROM stock WHERE day >= '2026-08-03';
EXPLAIN (COSTS OFF) SELECT v FROM stock WHERE _partition IN ('2026-08-01', '2026-08-09');
EXPLAIN (COSTS OFF) SELECT v FROM stock WHERE day > current_date - 1 AND _bucket = 1;
CREATE FUNCTION differs(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM ((SELECT day, id, v FROM stock WHERE %s EXCEPT ALL SELECT * FROM local WHERE %s) UNION ALL (SELECT * FROM local WHERE %s EXCEPT ALL SELECT day, id, v FROM stock WHERE %s)) d',
    condition, condition, condition, condition) INTO n;
  RETURN n;
END $$;
SELECT c, differs(c) FROM unnest(ARRAY['true', 'day = ''2026-08-02''', 'day > ''2026-08-02'' AND v < 310', 'day IN (''2026-08-01'', ''2026-08-04'', ''2030-01-01'')', 'extract(day FROM day) = 3',
  'day = ''2026-08-02'' OR id = 4', 'day <> ''2026-08-02''::timestamp', 'day IS NULL', 'day = ''infinity''', 'day = ''2026-08-02'' AND id = 5', 'day = ''2026-08-02'' AND id IN (1, 5, 99)', 'day = ''2031-01-01'' AND id = 5']) c;
SELECT _partition, _bucket IS NOT NULL AS b, _partition_id = (SELECT DISTINCT _partition_id FROM stock WHERE _partition = '2026-08-02') AS same, v FROM stock WHERE day = '2026-08-02' AND id = 5;

-- the changelog of the same table
CREATE FOREIGN TABLE changes (day date, id integer, v integer, _change_type text OPTIONS (metadata 'change_type'), _partition text OPTIONS (metadata 'partition'),
  _bucket integer OPTIONS (metadata 'bucket'), _log_offset bigint OPTIONS (metadata 'log_offset'))
  SERVER state_server OPTIONS (table_name 'stock', scan_mode 'changelog');
EXPLAIN (COSTS OFF) SELECT * FROM changes WHERE _partition = '2026-08-02' AND _log_offset > 8;
SELECT _change_type, count(*) FROM changes WHERE day = '2026-08-02' GROUP BY 1 ORDER BY 1;
(SELECT day, id, v FROM stock EXCEPT ALL SELECT day, id, v FROM (SELECT DISTINCT ON (day, id) * FROM changes ORDER BY day, id, _log_offset DESC) s)
UNION ALL
(SELECT day, id, v FROM (SELECT DISTINCT ON (day, id) * FROM changes ORDER BY day, id, _log_offset DESC) s EXCEPT ALL SELECT day, id, v FROM stock);

SELECT fluss_drop_database('state_server', 'regress_state', cascade => true);
DROP TABLE local;
DROP FUNCTION differs;
DROP SERVER state_server CASCADE;
