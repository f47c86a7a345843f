-- The server, the schemas, and what the tables' scripts use. A cell compares two
-- queries and gives a line of the test's output.
SET client_min_messages = warning;

CREATE EXTENSION fluss_fdw;
CREATE SERVER fluss FOREIGN DATA WRAPPER fluss_fdw
  OPTIONS (bootstrap_servers :'bootstrap', request_timeout '10s');
CREATE USER MAPPING FOR PUBLIC SERVER fluss;
CREATE SCHEMA heap_a;
CREATE SCHEMA fluss_a;
CREATE SCHEMA heap_b;
CREATE SCHEMA fluss_b;
CREATE SCHEMA interop;

-- The same rows as often, in any order? As text, which tells 0 from -0 and 1.0 from 1.00.
CREATE FUNCTION interop.cell(name text, got text, want text, settings text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  setting text;
  total bigint;
  missing bigint;
  extra bigint;
  example text;
BEGIN
  FOREACH setting IN ARRAY settings LOOP
    PERFORM set_config(setting, 'off', true);
  END LOOP;
  EXECUTE format(
    'WITH g AS MATERIALIZED (SELECT interop_row::text AS line FROM (%s) interop_row),'
    ' w AS MATERIALIZED (SELECT interop_row::text AS line FROM (%s) interop_row), d AS MATERIALIZED ('
    ' SELECT false AS extra, line FROM (TABLE w EXCEPT ALL TABLE g) d UNION ALL'
    ' SELECT true, line FROM (TABLE g EXCEPT ALL TABLE w) d)'
    'SELECT (SELECT count(*) FROM g), count(*) FILTER (WHERE NOT extra),'
    ' count(*) FILTER (WHERE extra),'
    ' left(min(line) FILTER (WHERE NOT extra), 300) || '' / '' ||'
    ' left(min(line) FILTER (WHERE extra), 300) FROM d', got, want)
  INTO total, missing, extra, example;
  IF missing + extra = 0 THEN
    RETURN format('ok - %s (%s rows)', name, total);
  END IF;
  RETURN format('not ok - %s: %s rows are missing, %s extra: %s', name, missing, extra, example);
EXCEPTION WHEN OTHERS OR query_canceled THEN
  RETURN interop.failure(name, SQLSTATE, SQLERRM);
END $$;

CREATE FUNCTION interop.failure(name text, state text, message text)
RETURNS text LANGUAGE sql AS $$
  SELECT format('not ok - %s: %s %s', name, state, translate(message, E'\n', ' '))
$$;

CREATE FUNCTION interop.run(name text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE statement;
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN format('ok - %s (%s rows)', name, n);
EXCEPTION WHEN OTHERS OR query_canceled THEN
  RETURN interop.failure(name, SQLSTATE, SQLERRM);
END $$;

CREATE FUNCTION interop.explains(query text, line text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  found_line text;
BEGIN
  FOR found_line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF found_line LIKE '%' || line || '%' THEN
      RETURN true;
    END IF;
  END LOOP;
  RETURN false;
END $$;

-- Equality on a key, all columns, as SQL with literals: one for each key that was
-- ever written, those included that were deleted.
CREATE FUNCTION interop.key_conditions(letter text, name text, keys text[])
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  condition text;
BEGIN
  SELECT string_agg(
    format('format(%L, %L, %I)', '%I = %L::' || format_type(atttypid, atttypmod), attname,
      attname), ' || '' AND '' || ' ORDER BY attnum)
  INTO condition
  FROM pg_attribute
  WHERE attrelid = format('fluss_%s.%I', letter, name)::regclass AND attname = ANY (keys);
  RETURN QUERY EXECUTE
    format('SELECT DISTINCT %s FROM heap_%s.%I ORDER BY 1', condition, letter, name || '_all');
END $$;

CREATE FUNCTION interop.by_each(relation text, columns text, conditions text[])
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  condition text;
BEGIN
  FOREACH condition IN ARRAY conditions LOOP
    RETURN QUERY EXECUTE
      format('SELECT row(%s)::text FROM %s WHERE %s', columns, relation, condition);
  END LOOP;
END $$;

CREATE FUNCTION interop.prefix_cells(
  letter text, name text, columns text, prefix text[], looked_up boolean)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  remote text := format('fluss_%s.%I', letter, name);
  heap text := format('heap_%s.%I', letter, name);
  title text := letter || ' ' || name || ' prefix ';
  condition text[] := ARRAY(SELECT interop.key_conditions(letter, name, prefix));
BEGIN
  RETURN NEXT format('SELECT interop.cell(%L, %L, %L)', title || 'lookup of each',
    format('SELECT interop.by_each(%L, %L, %L)', remote, columns, condition),
    format('SELECT interop.by_each(%L, %L, %L)', heap, columns, condition));
  RETURN NEXT format('SELECT interop.cell(%L, %L, %L)', title || 'scan explain',
    format('SELECT interop.explains(%L, %L)',
      format('SELECT * FROM %s WHERE %s', remote, condition[1]), 'Fluss Scan: prefix lookup'),
    format('SELECT %L::boolean', looked_up));
  RETURN NEXT format('SELECT interop.cell(%L, %L, %L, %L)', title || 'explain',
    format('SELECT interop.explains(%L, %L)',
      format('SELECT * FROM (SELECT DISTINCT %s FROM %s) k JOIN %s USING (%1$s)',
        array_to_string(prefix, ', '), heap || '_all', remote), 'Fluss Lookup Join'),
    format('SELECT %L::boolean', looked_up), '{enable_hashjoin,enable_mergejoin}');
  RETURN NEXT format('SELECT interop.cell(%L, %L, %L, %L)', title || 'join',
    format('SELECT %s FROM (SELECT DISTINCT %s FROM %s) k JOIN %s USING (%2$s)',
      columns, array_to_string(prefix, ', '), heap || '_all', remote),
    format('SELECT %s FROM (SELECT DISTINCT %s FROM %s) k JOIN %s USING (%2$s)',
      columns, array_to_string(prefix, ', '), heap || '_all', heap),
    '{enable_hashjoin,enable_mergejoin}');
END $$;

-- By the partition columns, all of them and the first alone, and by the partition's name.
CREATE FUNCTION interop.partition_cells(letter text, name text, columns text, partitions text[])
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  remote text := format('fluss_%s.%I', letter, name);
  heap text := format('heap_%s.%I', letter, name);
  condition text[] := ARRAY(SELECT interop.key_conditions(letter, name, partitions)) ||
    ARRAY(SELECT interop.key_conditions(letter, name, partitions[1:1]));
BEGIN
  IF columns LIKE '%_partition%' THEN
    EXECUTE format('SELECT %L::text[] || array_agg(DISTINCT ''_partition = '' || quote_literal(_partition)) FROM %s',
      condition, heap) INTO condition;
  END IF;
  RETURN NEXT format('SELECT interop.cell(%L, %L, %L)', letter || ' ' || name || ' by partition',
    format('SELECT interop.by_each(%L, %L, %L)', remote, columns, condition),
    format('SELECT interop.by_each(%L, %L, %L)', heap, columns, condition));
END $$;

-- What follows from a changelog: of each key the last change, unless it deleted the row.
CREATE FUNCTION interop.replayed(changes text, columns text, keys text[])
RETURNS text LANGUAGE sql AS $$
  SELECT format(
    'SELECT %1$s FROM (SELECT DISTINCT ON (%2$s) * FROM %3$s ORDER BY %2$s, _log_offset DESC) c'
    ' WHERE _change_type IN (''insert'', ''update_after'')',
    columns, string_agg(quote_ident(k) || '::text', ', '), changes)
  FROM unnest(keys) k
$$;

-- The statements that check one table, a cell each. looked_up: whether equality on
-- the key must (must not) become a lookup.
CREATE FUNCTION interop.cells(
  letter text, name text, keys text[], looked_up boolean, prefix text[],
  prefix_found boolean, partitions text[])
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  remote text := format('fluss_%s.%I', letter, name);
  heap text := format('heap_%s.%I', letter, name);
  written text := format('heap_%s.%I', letter, name || '_all');
  -- json has no equality
  columns text;
  same text := 'SELECT interop.cell(%L, %L, %L)';
  title text := letter || ' ' || name || ' ';
  id text;
  condition text[];
  one text;
BEGIN
  SELECT string_agg(
    attname || CASE atttypid WHEN 'json'::regtype THEN '::text' ELSE '' END, ', ' ORDER BY attnum)
  INTO columns
  FROM pg_attribute
  WHERE attrelid = remote::regclass AND attnum > 0;
  id := split_part(columns, ', ', 1);

  RETURN NEXT format(same, title || 'all columns',
    format('SELECT %s FROM %s', columns, remote), format('SELECT %s FROM %s', columns, heap));
  RETURN NEXT format(same, title || 'count',
    format('SELECT count(*) FROM %s', remote), format('SELECT count(*) FROM %s', heap));

  RETURN NEXT format(same, title || 'check',
    format('SELECT * FROM fluss_fdw_check(%L)', remote),
    'SELECT * FROM fluss_fdw_check(NULL)');

  -- Each column by itself, as text, which tells 0 from -0.
  IF id = 'id' AND letter = 'a' THEN
    RETURN QUERY
      SELECT format(same, title || attname,
        format('SELECT id, %I::text FROM %s', attname, remote),
        format('SELECT id, %I::text FROM %s', attname, heap))
      FROM pg_attribute
      WHERE attrelid = remote::regclass AND attname LIKE 'c\_%'
      ORDER BY attnum;
  END IF;

  IF keys <> '{}' THEN
    one := array_to_string(keys, ', ');
    condition := ARRAY(SELECT interop.key_conditions(letter, name, keys));
    RETURN NEXT format(same, title || 'lookup of each key',
      format('SELECT interop.by_each(%L, %L, %L)', remote, columns, condition),
      format('SELECT interop.by_each(%L, %L, %L)', heap, columns, condition));
    IF prefix <> '{}' THEN
      RETURN QUERY SELECT interop.prefix_cells(letter, name, columns, prefix || partitions, looked_up AND prefix_found);
    END IF;
    -- keys that are equal in PostgreSQL and not in Fluss: two floats, TIMESTAMP(9)
    IF looked_up IS DISTINCT FROM false THEN
      RETURN NEXT format(same, title || 'replay of the changelog',
        interop.replayed(remote || '_changes', columns, keys),
        format('SELECT %s FROM %s', columns, heap));
    END IF;
    IF looked_up IS NOT NULL AND condition <> '{}' THEN
      RETURN NEXT format(same, title || 'explain',
        format('SELECT interop.explains(%L, %L)',
          format('SELECT * FROM %s WHERE %s', remote, condition[1]), 'Fluss Scan: lookup'),
        format('SELECT %L::boolean', looked_up));
    END IF;
    IF cardinality(keys) = 1 THEN
      RETURN NEXT format(same, title || 'lookup of an array',
        format('SELECT %s FROM %s WHERE %s = ANY (ARRAY(SELECT %3$s FROM %s))',
          columns, remote, one, written),
        format('SELECT %s FROM %s', columns, heap));
    END IF;
    FOREACH condition SLICE 1 IN ARRAY
      ARRAY[ARRAY['enable_hashjoin', 'enable_mergejoin'], ARRAY['enable_nestloop', '']] LOOP
      RETURN NEXT format('SELECT interop.cell(%L, %L, %L, %L)',
        title || 'join without ' || condition[1],
        format('SELECT %s FROM (SELECT DISTINCT %s FROM %s) k LEFT JOIN %s USING (%2$s)',
          columns, one, written, remote),
        format('SELECT %s FROM (SELECT DISTINCT %s FROM %s) k LEFT JOIN %s USING (%2$s)',
          columns, one, written, heap),
        array_remove(condition, ''));
    END LOOP;
  ELSIF letter = 'a' AND columns LIKE '%_log_offset%' THEN
    -- Ranges that begin and end inside batches and past the end.
    condition := ARRAY(
      SELECT format('_log_offset >= %s AND _log_offset < %s AND _bucket %s', lo, lo + n, b)
      FROM generate_series(0, 150, 13) lo,
        (VALUES (0, '= 0'), (1, '= 3'), (20, '>= 0'), (60, 'IN (0, 2)'), (1000, '= 0')) v(n, b));
    RETURN NEXT format(same, title || 'offset ranges',
      format('SELECT interop.by_each(%L, %L, %L)', remote, columns, condition),
      format('SELECT interop.by_each(%L, %L, %L)', heap, columns, condition));
    RETURN NEXT format(same, title || 'offset ranges of outer rows',
      format('SELECT lo, %s FROM generate_series(0, 150, 13) lo, LATERAL (SELECT * FROM %s f'
        ' WHERE _log_offset BETWEEN lo AND lo + 19 AND _bucket = lo %% 4 OFFSET 0) f',
        columns, remote),
      format('SELECT lo, %s FROM generate_series(0, 150, 13) lo, LATERAL (SELECT * FROM %s f'
        ' WHERE _log_offset BETWEEN lo AND lo + 19 AND _bucket = lo %% 4 OFFSET 0) f',
        columns, heap));
  END IF;
  IF partitions <> '{}' THEN
    RETURN QUERY SELECT interop.partition_cells(letter, name, columns, partitions);
  END IF;
END $$;

-- fluss_create_table. A coordinator of 0.9.1 misses the creation of a table now and
-- then; such a table never gets a leader, and is made again.
CREATE FUNCTION interop.create_table(
  name text, foreign_table regclass, primary_key text[], bucket_key text[], bucket_count int,
  properties jsonb, partitioned_by text[] DEFAULT NULL)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  FOR attempt IN 1 .. 4 LOOP
    BEGIN
      PERFORM fluss_create_table(foreign_table, primary_key => primary_key,
        bucket_key => bucket_key, bucket_count => bucket_count, properties => properties,
        partitioned_by => partitioned_by);
      RETURN format('ok - %s', name);
    EXCEPTION WHEN fdw_unable_to_establish_connection THEN
      RAISE WARNING '%: %', foreign_table, SQLERRM;
      PERFORM fluss_drop_table(foreign_table, true);
      PERFORM pg_sleep(2); -- until the coordinator has seen it
    END;
  END LOOP;
  RETURN format('not ok - %s: the table never gets a leader', name);
EXCEPTION WHEN OTHERS OR query_canceled THEN
  RETURN interop.failure(name, SQLSTATE, SQLERRM);
END $$;

-- An INSERT that makes partitions, and none of them may be missed in that way: it
-- begins again with a new table, which statement makes.
CREATE FUNCTION interop.insert_partitioned(
  name text, foreign_table regclass, statement text, make_table text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR attempt IN 1 .. 4 LOOP
    line := interop.run(name, statement);
    EXIT WHEN line !~ '^not ok - .*: (HV00N|57014) ';
    RAISE WARNING '%', line;
    PERFORM fluss_drop_table(foreign_table, true);
    PERFORM pg_sleep(2);
    EXECUTE make_table;
  END LOOP;
  RETURN line;
END $$;
