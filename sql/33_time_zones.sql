--
-- Timestamps with and without time zone are compared as PostgreSQL does, whatever the zone; those of the full range come back
--
\set test time_zones
\i sql/lib/server.sql
SET timezone = 'UTC';
SET jit = off;
CREATE FOREIGN TABLE log_clock (id integer, t timestamp, z timestamptz, at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER time_zones_server;
CREATE FOREIGN TABLE key_clock (t timestamp NOT NULL, z timestamptz NOT NULL, id integer) SERVER time_zones_server;
SELECT fluss_create_table('log_clock', bucket_count => 1), fluss_create_table('key_clock', primary_key => '{t,z}', bucket_count => 2);

-- every half hour around the nights in which Berlin puts its clocks forward and back
CREATE TABLE heap_clock AS
  SELECT 100 * n + g AS id, night + g * interval '30 min' AS t, (night AT TIME ZONE 'UTC') + g * interval '30 min' AS z
  FROM (VALUES (1, timestamp '2026-03-28 23:00'), (2, '2026-10-24 23:00')) v (n, night), generate_series(1, 20) g;
INSERT INTO log_clock (id, t, z) TABLE heap_clock;
INSERT INTO key_clock SELECT t, z, id FROM heap_clock;
CREATE TABLE conditions (c text);
INSERT INTO conditions VALUES
  ('t = timestamp ''2026-03-29 02:30'''), ('z = ''2026-03-29 02:30'''), ('z = timestamp ''2026-03-29 02:30'''), ('t = timestamptz ''2026-03-29 02:30'''),
  ('t = z'), ('t < z'), ('t > z'), ('z >= ''2026-10-25 02:30'''), ('z >= timestamp ''2026-10-25 02:30'''), ('t >= timestamptz ''2026-10-25 02:30'''),
  ('z <= ''2026-10-25 02:30+01'''), ('t::timestamptz = z'), ('z::timestamp = t'), ('z::date = ''2026-03-29'''), ('z = date ''2026-03-30'''), ('t <= date ''2026-03-29'''),
  ('z BETWEEN timestamp ''2026-03-29 01:30'' AND timestamp ''2026-03-29 03:30'''), ('z BETWEEN timestamp ''2026-10-25 00:30'' AND timestamp ''2026-10-25 02:30'''),
  ('t = timestamptz ''2026-03-29 02:30'' AND z = timestamptz ''2026-03-29 01:30+00'''), ('t = timestamp ''2026-03-29 03:30'' AND z = timestamptz ''2026-03-29 03:30+00'''),
  ('t = timestamp ''2026-10-25 02:30'' AND z = timestamp ''2026-10-25 02:30'''), ('t IN (''2026-10-25 00:30'', ''2026-10-25 02:30'') AND z IN (''2026-10-25 02:30+02'', ''2026-10-25 02:30+00'')'),
  ('extract(hour FROM z) = 2'), ('date_trunc(''day'', z) = ''2026-10-25'''), ('z + interval ''1 day'' = timestamptz ''2026-03-28 02:30'' + interval ''2 days'''), ('t IS DISTINCT FROM z');
CREATE FUNCTION matches(tab text) RETURNS TABLE (zone text, condition text, ids text) LANGUAGE plpgsql AS $$
BEGIN
  FOREACH zone IN ARRAY ARRAY['UTC', 'Asia/Kolkata', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'] LOOP
    PERFORM set_config('timezone', zone, true);
    FOR condition IN SELECT c FROM conditions LOOP
      EXECUTE format('SELECT string_agg(id::text, '' '' ORDER BY id) FROM %I WHERE %s', tab, condition) INTO ids;
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;
SELECT count(*), count(ids), count(DISTINCT ids) > 20 AS many FROM matches('heap_clock');
SELECT * FROM matches('log_clock') EXCEPT SELECT * FROM matches('heap_clock');
SELECT * FROM matches('key_clock') EXCEPT SELECT * FROM matches('heap_clock');

-- a plan made once asks anew in another zone
SET plan_cache_mode = force_generic_plan;
PREPARE by_log AS SELECT id FROM log_clock WHERE z = timestamp '2026-10-25 05:00';
PREPARE by_key(timestamp) AS SELECT id FROM key_clock WHERE t = '2026-10-25 05:00' AND z = $1;
EXECUTE by_log;
EXECUTE by_key('2026-10-25 05:00');
SET timezone = 'Europe/Berlin';
EXECUTE by_log;
EXECUTE by_key('2026-10-25 06:00');
SET timezone = 'Asia/Kolkata';
EXECUTE by_log;
EXECUTE by_key('2026-10-25 10:30');
-- what was committed a moment ago was so in every zone
SELECT count(*) FROM log_clock WHERE at > localtimestamp - interval '1 hour' AND at < localtimestamp + interval '1 hour';
SELECT count(*) FROM log_clock WHERE at > localtimestamp + interval '2 hours';
RESET plan_cache_mode;
SET timezone = 'UTC';

-- any time that PostgreSQL has
SELECT setseed(0.4711);
CREATE TABLE heap_times AS
  SELECT g AS id, timestamp '4714-11-24 BC' + random() * 298900 * interval '365.2425 days' AS t, timestamptz '4714-11-24 00:00+00 BC' + random() * 298900 * interval '365.2425 days' AS z,
    (timestamp '4714-11-24 BC' + random() * 298900 * interval '365.2425 days')::timestamp(3) AS t3, (timestamptz '4714-11-24 00:00+00 BC' + random() * 298900 * interval '365.2425 days')::timestamptz(0) AS z0,
    date '4714-11-24 BC' + (random() * 2145000000)::integer AS d, (random() * interval '24 hours')::time(3) AS tm
  FROM generate_series(1, 5000) g;
CREATE FOREIGN TABLE log_times (id integer, t timestamp, z timestamptz, t3 timestamp(3), z0 timestamptz(0), d date, tm time(3)) SERVER time_zones_server;
CREATE FOREIGN TABLE key_times (id integer NOT NULL, t timestamp, z timestamptz, t3 timestamp(3), z0 timestamptz(0), d date, tm time(3)) SERVER time_zones_server;
SELECT fluss_create_table('log_times', bucket_count => 2), fluss_create_table('key_times', primary_key => '{id}', bucket_count => 2);
INSERT INTO log_times TABLE heap_times;
INSERT INTO key_times TABLE heap_times;
TABLE heap_times EXCEPT ALL TABLE log_times;
TABLE log_times EXCEPT ALL TABLE heap_times;
TABLE heap_times EXCEPT ALL TABLE key_times;
SELECT (SELECT (count(*), min(t), max(z), min(t3), max(z0), min(d), max(d), min(tm), max(tm)) FROM log_times) = (SELECT (count(*), min(t), max(z), min(t3), max(z0), min(d), max(d), min(tm), max(tm)) FROM heap_times) AS same;
SELECT count(*) FROM heap_times h CROSS JOIN LATERAL (SELECT count(*) AS n FROM log_times l WHERE l.t > h.t AND l.z < h.z AND l.d > h.d AND l.tm < h.tm) l
  WHERE h.id % 500 = 0 AND l.n <> (SELECT count(*) FROM heap_times x WHERE x.t > h.t AND x.z < h.z AND x.d > h.d AND x.tm < h.tm);

SELECT fluss_drop_database('time_zones_server', 'regress_time_zones', cascade => true);
DROP FUNCTION matches;
DROP TABLE heap_clock, conditions, heap_times;
DROP SERVER time_zones_server CASCADE;
