-- Keys of a map that differ in Fluss and not in PostgreSQL are refused, as an error
-- that says where.
CREATE FOREIGN TABLE fluss_a.colliding (
  id integer,
  m jsonb,
  _log_offset bigint OPTIONS (metadata 'log_offset')
) SERVER fluss OPTIONS (database_name :'database');

CREATE FUNCTION pg_temp.refused(query text) RETURNS TABLE (state text, column_named boolean, context text)
LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE query;
  state := '00000';
  RETURN NEXT;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
  state := SQLSTATE;
  column_named := SQLERRM || context LIKE '%"m"%';
  context := substring(context FROM 'offset \d+');
  RETURN NEXT;
END $$;

SELECT interop.cell('colliding first row', 'SELECT m FROM fluss_a.colliding WHERE _log_offset < 1',
  $$VALUES ('{"2026-08-04T11:30:00.000001": 1, "2026-08-04T11:30:00.000002": 2}'::jsonb)$$);
SELECT interop.cell('colliding keys', $$SELECT * FROM pg_temp.refused('SELECT m FROM fluss_a.colliding')$$,
  $$VALUES ('22030', true, 'offset 1')$$);
SELECT interop.cell('colliding other column', 'SELECT id FROM fluss_a.colliding', 'VALUES (1), (2)');
