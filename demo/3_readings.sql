-- Ten readings, and then exactly these ten again, each with its sensor's state.
INSERT INTO sensor_readings (sensor_id, measured_at, temperature_c, humidity_pct) VALUES
    ( 1, '2026-08-04 09:00', 24.1, 43.2),
    ( 2, '2026-08-04 09:15', 22.7, 52.8),
    ( 3, '2026-08-04 09:30', 20.4, 38.5),
    ( 4, '2026-08-04 09:45', 18.9, 48.1),
    ( 5, '2026-08-04 10:00', 23.5, 46.3),
    ( 6, '2026-08-04 10:15', 21.8, 44.9),
    ( 7, '2026-08-04 10:30', 22.1, 47.5),
    ( 8, '2026-08-04 10:45', 20.7, 49.2),
    ( 9, '2026-08-04 11:00', 19.6, 51.7),
    (10, '2026-08-04 11:15', 25.0, 41.8);

-- fluss_last_write() tells the offsets that these rows got: one row for each
-- unbroken run of offsets, so that ours must be one of ten.
DO $$
DECLARE
    runs text;
BEGIN
    SELECT string_agg(format('%s..%s', first_offset, last_offset), ', ')
    INTO runs
    FROM fluss_last_write()
    HAVING count(*) <> 1
        OR sum(rows) <> 10
        OR sum(last_offset - first_offset + 1) <> 10;
    IF FOUND THEN
        RAISE 'the ten readings are not ten offsets in a row: %', runs;
    END IF;
END
$$;

SELECT first_offset, last_offset FROM fluss_last_write()
\gset
\echo 'sensor_readings: this run appended offsets' :first_offset 'to' :last_offset
\echo

SELECT sensor_id, name, location, state, measured_at, temperature_c, humidity_pct
FROM enriched_readings
WHERE _log_offset BETWEEN :first_offset AND :last_offset
ORDER BY _log_offset;

\pset tuples_only on
\pset format unaligned
SELECT json_agg(e) FROM (
    SELECT sensor_id, name, location, state, measured_at, temperature_c, humidity_pct
    FROM enriched_readings
    WHERE _log_offset BETWEEN :first_offset AND :last_offset
    ORDER BY _log_offset
) e;
