-- A table whose batches are partly COMPACTED records, partly Arrow.
CREATE FOREIGN TABLE fluss_a.go_readings (
  sensor_id integer,
  measured_at timestamp(3),
  temperature_c double precision,
  humidity_pct double precision,
  _log_offset bigint OPTIONS (metadata 'log_offset')
) SERVER fluss OPTIONS (database_name :'database');

CREATE TABLE heap_a.go_readings AS
SELECT
  s AS sensor_id,
  CASE s WHEN 11 THEN timestamp '2026-08-04 11:30'
    ELSE timestamp '2026-08-04 09:00' + (s - 1) * interval '15 min' END AS measured_at,
  20 + s::double precision AS temperature_c,
  40.5 + s::double precision AS humidity_pct,
  ordinality - 1 AS _log_offset
FROM unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  WITH ORDINALITY u(s, ordinality);

CREATE FUNCTION pg_temp.go(title text, query text) RETURNS text LANGUAGE sql AS $$
  SELECT interop.cell('go ' || title,
    replace(query, '@', 'fluss_a.go_readings'), replace(query, '@', 'heap_a.go_readings'))
$$;

SELECT pg_temp.go('all columns', 'SELECT * FROM @');
SELECT pg_temp.go('one column', 'SELECT temperature_c FROM @');
SELECT pg_temp.go('two columns in another order', 'SELECT humidity_pct, measured_at FROM @');
SELECT pg_temp.go('offset alone', 'SELECT _log_offset FROM @');
SELECT pg_temp.go('count and sum', 'SELECT count(*), sum(temperature_c) FROM @');
SELECT pg_temp.go('count', 'SELECT count(*) FROM @');
SELECT pg_temp.go('range within a batch',
  'SELECT humidity_pct, _log_offset FROM @ WHERE _log_offset >= 5 AND _log_offset < 8');
SELECT pg_temp.go('range over both layouts',
  'SELECT sensor_id, _log_offset FROM @ WHERE _log_offset BETWEEN 9 AND 12');
SELECT pg_temp.go('filter', 'SELECT measured_at FROM @ WHERE sensor_id = 4');
SELECT pg_temp.go('join with itself',
  'SELECT a.sensor_id, b.temperature_c FROM @ a JOIN @ b USING (sensor_id)');
SELECT pg_temp.go('join with a state',
  'SELECT r._log_offset, i.note FROM @ r LEFT JOIN fluss_a.key_int_3 i ON i.k = r.sensor_id');
SELECT pg_temp.go('first row',
  'SELECT sensor_id FROM @ WHERE _log_offset >= 0 ORDER BY _log_offset LIMIT 1');
SELECT interop.cell('go check',
  $$SELECT problem, subject FROM fluss_fdw_check('fluss_a.go_readings')$$,
  $$VALUES ('foreign batch layout', 'bucket 0')$$);
