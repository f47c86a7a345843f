--
-- Commit times: bounds, where scans start, event times
--
\set test time
\i sql/lib/server.sql
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';

CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
    CONTINUE WHEN line ~ '(Fluss Bytes|Memory Usage|Planning|Buffers)';
    line := regexp_replace(line, 'actual rows=(\d+)(\.00)? loops', 'actual rows=\1 loops');
    line := regexp_replace(line, '''20\d\d-[^'']*''', '''...''', 'g');
    RETURN NEXT line;
  END LOOP;
END $$;

CREATE FOREIGN TABLE events (
  id integer, measured_at timestamp(3), happened_at timestamptz(3),
  _log_offset bigint OPTIONS (metadata 'log_offset'),
  _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp')
) SERVER time_server;
SELECT fluss_create_table('events', bucket_count => 1);

-- six batches of ten records, some milliseconds apart
CREATE PROCEDURE add_batches() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 0..5 LOOP
    INSERT INTO events (id, measured_at, happened_at)
      SELECT i * 10 + g, (clock_timestamp() AT TIME ZONE 'UTC') - interval '1 s', clock_timestamp() - interval '1 s' FROM generate_series(0, 9) g;
    PERFORM pg_sleep(0.02);
    COMMIT;
  END LOOP;
END $$;
CALL add_batches();
CREATE TABLE local AS SELECT id, measured_at, happened_at, _log_offset AS off, _commit_timestamp AS at FROM events;
CREATE TABLE moments AS SELECT DISTINCT at FROM local;
SELECT count(*), count(DISTINCT at) FROM local;

EXPLAIN (COSTS OFF) SELECT * FROM events WHERE _commit_timestamp >= '2026-01-01';
EXPLAIN (COSTS OFF) SELECT * FROM events WHERE _commit_timestamp BETWEEN '2026-01-01' AND '2026-02-01' AND _log_offset >= 5;
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE _commit_timestamp > now() - interval '1 hour';

-- every bound at, one millisecond and one microsecond around each commit
CREATE TABLE bounds AS SELECT at + d AS b FROM moments, unnest('{0,1 ms,-1 ms,1 us,-1 us}'::interval[]) d
  UNION VALUES ('infinity'::timestamptz), ('-infinity'), ('1960-01-01'), ('4000-01-01 BC'), ('294276-12-31'), ('1970-01-01'), (NULL);
SELECT count(*) FROM bounds;
SELECT b FROM bounds
WHERE (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp >= b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at >= b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp > b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at > b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp = b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at = b);
SELECT b FROM bounds
WHERE (SELECT array_agg(id ORDER BY id) FROM events WHERE b > _commit_timestamp) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at < b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp <= b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at <= b);
-- the same when the scan may stop at once
ALTER FOREIGN TABLE events OPTIONS (ADD timestamp_skew '0');
SELECT b FROM bounds
WHERE (SELECT array_agg(id ORDER BY id) FROM events WHERE b > _commit_timestamp) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at < b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp <= b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at <= b);
SELECT l.b, h.b FROM bounds l, bounds h WHERE l.b > '2020-01-01' AND h.b > '2020-01-01' AND isfinite(l.b) AND isfinite(h.b)
  AND (SELECT array_agg(id ORDER BY id) FROM events WHERE _commit_timestamp BETWEEN l.b AND h.b)
  IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE at BETWEEN l.b AND h.b);
ALTER FOREIGN TABLE events OPTIONS (DROP timestamp_skew);

-- what lies outside is not fetched: one batch of six, and nothing
SELECT max(at) AS last, min(at) AS first FROM moments \gset
SELECT explain_analyze(format('SELECT id FROM events WHERE _commit_timestamp >= %L', :'last'::timestamptz));
SELECT explain_analyze('SELECT id FROM events WHERE _commit_timestamp < ''infinity'' AND _commit_timestamp < ''1969-01-01''');
SELECT explain_analyze('SELECT id FROM events WHERE _commit_timestamp > ''2026-03-01'' AND _commit_timestamp < ''2026-02-01''');
SELECT explain_analyze('SELECT id FROM events WHERE _commit_timestamp = NULL::timestamptz OR _commit_timestamp >= ''infinity''');
-- later than the last record, later than the server's clock
SELECT count(*) FROM events WHERE _commit_timestamp > :'last'::timestamptz;
SELECT count(*) FROM events WHERE _commit_timestamp > now() + interval '1 day';
SELECT count(*) FROM events WHERE _commit_timestamp < now() + interval '1 day';

-- parameters: NULL, alternating, on and after the sixth execution
PREPARE since(timestamptz) AS SELECT count(*) FROM events WHERE _commit_timestamp >= $1;
EXECUTE since(:'first');
EXECUTE since(:'last');
EXECUTE since(NULL);
EXECUTE since('infinity');
EXECUTE since('-infinity');
EXECUTE since(:'last');
EXECUTE since(:'first');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE since(:'last');
EXECUTE since(:'last');
RESET plan_cache_mode;

-- outer columns, other types, lists
SELECT m.at = min(e._commit_timestamp) AS same, count(*) FROM moments m JOIN events e ON e._commit_timestamp = m.at GROUP BY m.at ORDER BY m.at;
SET TimeZone = 'Asia/Kolkata';
SELECT count(*) FROM events WHERE _commit_timestamp >= (:'last'::timestamptz)::timestamp;
SELECT count(*) FROM events WHERE _commit_timestamp >= current_date - 2;
SELECT count(*) FROM events WHERE _commit_timestamp < current_date + 2;
SET TimeZone = 'UTC';
SELECT count(*) FROM events WHERE _commit_timestamp IN (:'first', :'last');
SELECT count(*) FROM events WHERE _commit_timestamp IN (:'first', :'last') OR _log_offset = 25;
SELECT count(*) FROM events WHERE (_commit_timestamp, _log_offset) > (:'last', 55);
SELECT count(*) FROM events WHERE NOT _commit_timestamp < :'last';
SELECT count(*) FROM events WHERE _commit_timestamp > :'first'::timestamptz + random() * interval '1 us';

-- where a scan starts that does not say so itself
CREATE FOREIGN TABLE late (id integer, _log_offset bigint OPTIONS (metadata 'log_offset'), _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp'))
  SERVER time_server OPTIONS (table_name 'events', scan_startup_mode 'latest');
SELECT count(*) FROM late;
SELECT count(*) FROM late WHERE id > 5;
SELECT count(*) FROM late WHERE _log_offset < 10;
SELECT count(*) FROM late WHERE _log_offset >= 0;
SELECT count(*) FROM late WHERE _log_offset >= 0 AND _log_offset < 10;
SELECT count(*) FROM late WHERE _commit_timestamp >= '-infinity';
SELECT count(*) FROM late WHERE _log_offset = 3 OR _log_offset < 2;
SELECT explain_analyze('SELECT id FROM late');
CREATE PROCEDURE start_at(at timestamptz) LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_timestamp %L)', at);
END $$;
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_mode 'timestamp', ADD scan_startup_timestamp '2020-01-01 00:00+00');
SELECT count(*), min(id) FROM late;
CALL start_at(:'last');
SELECT count(*), min(id) FROM late;
SELECT count(*), min(id) FROM late WHERE id % 2 = 0;
SELECT count(*), min(id) FROM late WHERE _log_offset >= 55;
SELECT count(*), min(id) FROM late WHERE _log_offset >= 20;
SELECT count(*), min(id) FROM late WHERE _log_offset <= 55;
SELECT count(*), min(id) FROM late WHERE _log_offset <= 55 OR (_log_offset >= 20 AND _log_offset < 22);
SELECT count(*), min(id) FROM late WHERE _commit_timestamp >= :'first';
CALL start_at(:'last'::timestamptz + interval '1 ms');
SELECT count(*) FROM late;
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_timestamp '2100-01-01 00:00+00');
SELECT count(*) FROM late;
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_timestamp '1900-01-01 00:00+00');
SELECT count(*) FROM late;
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_mode 'earliest');
SELECT count(*) FROM late;
-- values that are no times and no modes
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_timestamp 'yesterday at noon or so');
ALTER FOREIGN TABLE late OPTIONS (SET scan_startup_mode 'newest');

-- an event time tells the earliest commit, and stays a filter
ALTER FOREIGN TABLE events ALTER COLUMN measured_at OPTIONS (ADD event_time 'true', ADD max_clock_skew '0');
ALTER FOREIGN TABLE events ALTER COLUMN happened_at OPTIONS (ADD event_time 'true', ADD max_clock_skew '1s');
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE happened_at >= '2026-01-01';
EXPLAIN (COSTS OFF) SELECT id FROM events WHERE happened_at < '2026-01-01';
CREATE TABLE event_bounds AS SELECT measured_at + d AS b FROM (SELECT DISTINCT measured_at FROM local) m, unnest('{0,1 ms,-1 ms}'::interval[]) d
  UNION VALUES ('infinity'::timestamp), ('-infinity'), ('1960-01-01'), ('294276-12-31'), (NULL);
SELECT b FROM event_bounds
WHERE (SELECT array_agg(id ORDER BY id) FROM events WHERE measured_at >= b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE measured_at >= b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE measured_at = b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE measured_at = b)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE measured_at > b::timestamptz) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE measured_at > b::timestamptz)
   OR (SELECT array_agg(id ORDER BY id) FROM events WHERE happened_at >= b) IS DISTINCT FROM (SELECT array_agg(id ORDER BY id) FROM local WHERE happened_at >= b);
SELECT count(*) > 0 AND count(*) = (SELECT count(*) FROM local WHERE measured_at >= (SELECT max(measured_at) FROM local)) AS right FROM events WHERE measured_at >= (SELECT max(measured_at) FROM local);
-- its offsets: from the batch that was committed after the event
SELECT explain_analyze(format('SELECT id FROM events WHERE measured_at >= %L', :'last'::timestamptz::timestamp));
-- of a type that is no time it is refused where the column is used
ALTER FOREIGN TABLE events ALTER COLUMN id OPTIONS (ADD event_time 'true');
\set VERBOSITY default
SELECT count(*) FROM events WHERE id > 5;
\echo :SQLSTATE
\set VERBOSITY terse
SELECT count(happened_at) > 0 FROM events;
ALTER FOREIGN TABLE events ALTER COLUMN id OPTIONS (SET event_time 'false');
SELECT count(*) > 0 FROM events WHERE id > 5;
-- whatever the zone and its clocks do
DO $$
DECLARE zone text; n bigint; m bigint;
BEGIN
  FOREACH zone IN ARRAY '{Asia/Kolkata,America/New_York,Pacific/Apia,Australia/Lord_Howe,UTC}'::text[] LOOP
    PERFORM set_config('TimeZone', zone, true);
    SELECT count(*) INTO n FROM events e WHERE measured_at >= now() - interval '10 min';
    SELECT count(*) INTO m FROM local e WHERE measured_at >= now() - interval '10 min';
    IF n <> m THEN RAISE WARNING 'zone %: % and %', zone, n, m; END IF;
    SELECT count(*) INTO n FROM events e WHERE happened_at >= localtimestamp - interval '10 min';
    IF n <> 60 THEN RAISE WARNING 'zone %: %', zone, n; END IF;
    SELECT count(*) INTO n FROM events e WHERE measured_at >= current_date - 1;
    SELECT count(*) INTO m FROM local e WHERE measured_at >= current_date - 1;
    IF n <> m THEN RAISE WARNING 'zone %: % and %', zone, n, m; END IF;
  END LOOP;
END $$;

SELECT fluss_drop_database('time_server', 'regress_time', cascade => true);
DROP TABLE local, moments, bounds, event_bounds;
DROP PROCEDURE add_batches, start_at;
DROP FUNCTION explain_analyze;
DROP SERVER time_server CASCADE;
