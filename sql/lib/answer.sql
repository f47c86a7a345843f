\set ECHO none
-- answer(place, q): the rows of a query over the tables of a schema, sorted; of
-- one that fails, its SQLSTATE and, where that is not expected, what it says.
CREATE FUNCTION answer(place text, q text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE result text[];
BEGIN
  PERFORM set_config('search_path', place || ', public', true);
  EXECUTE 'SELECT array_agg(x::text ORDER BY x::text) FROM (' || q || ') x' INTO result;
  PERFORM set_config('search_path', 'public', true);
  RETURN result;
EXCEPTION WHEN OTHERS THEN
  RETURN ARRAY[SQLSTATE, CASE place WHEN 'remote' THEN SQLERRM END];
END $$;
\set ECHO all
