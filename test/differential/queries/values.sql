-- Filters and expressions on values of every type

SELECT id FROM readings WHERE f8 = 'NaN'

SELECT id FROM readings WHERE f8 > 1e90

SELECT id FROM readings WHERE f8 >= 'Infinity'

SELECT id FROM readings WHERE f8 < '-Infinity' OR f8 <= '-Infinity'

SELECT id, f8 FROM readings WHERE f8 = 0

SELECT id, f8 FROM readings WHERE f8 = '-0'

SELECT id, f8 FROM readings WHERE f8 <> 0 AND f8 < 1

SELECT id FROM readings WHERE f8 BETWEEN -1 AND 1

SELECT id FROM readings WHERE f8 > 3::real

SELECT id FROM readings WHERE f8 > 3::bigint AND f8 < 4.6::numeric

SELECT id FROM readings WHERE f8 IN (0.5, 1.5, 'NaN', NULL)

SELECT id FROM readings WHERE f4 = 'NaN'

SELECT id FROM readings WHERE f4 > 2.2

SELECT id FROM readings WHERE f4 > 2.25::float8

SELECT id FROM readings WHERE f4 = 0.1::float8 OR f4 = 0.25::float8

SELECT id FROM readings WHERE f4 = -0.0::real

SELECT id FROM readings WHERE f4 < 'Infinity' AND f4 > '-Infinity'

SELECT id FROM readings WHERE NOT (f4 < 2)

SELECT id FROM readings WHERE f4 IS NULL OR f4 = 'Infinity'

SELECT id FROM readings WHERE f4 = f8

SELECT id FROM readings WHERE bo

SELECT id FROM readings WHERE NOT bo

SELECT id FROM readings WHERE bo IS NOT TRUE

SELECT id FROM readings WHERE bo IS UNKNOWN

SELECT id FROM readings WHERE bo = false OR i1 = 127

SELECT id FROM readings WHERE bo IS NOT FALSE AND bo > false

SELECT id FROM readings WHERE i1 = -128

SELECT id FROM readings WHERE i1 > 127

SELECT id FROM readings WHERE i1 <= 127 AND i1 >= 45

SELECT id FROM readings WHERE i1 = 300::int OR i1 = 49::bigint

SELECT id FROM readings WHERE i1 < 5000000000 AND i1 > 40

SELECT id FROM readings WHERE i2 IN (-32768, 32767, 40000)

SELECT id FROM readings WHERE i2 > 400 AND i2 <> 450

SELECT id FROM readings WHERE i2 = ANY (ARRAY[-500, 30, NULL])

SELECT id FROM readings WHERE i8 = 9223372036854775807 OR i8 = -9223372036854775808

SELECT id FROM readings WHERE i8 < -299000000000

SELECT id FROM readings WHERE i8 > 9223372036854775807

SELECT id FROM readings WHERE i8 > 1e19 OR i8 < -1e18

SELECT id FROM readings WHERE i8 BETWEEN 0 AND 10000000000

SELECT id FROM readings WHERE i8 = 7 OR i8 IS NULL

SELECT id FROM readings WHERE id = 5 OR id = 599 OR id IN (7, 8)

SELECT id FROM readings WHERE id > 590::bigint AND id < 595::smallint

SELECT id FROM readings WHERE id > 598.5

SELECT id FROM readings WHERE id > 598.5::float8

SELECT id FROM readings WHERE de > 19.25

SELECT id FROM readings WHERE de = 9999999999999999.9999 OR de = -9999999999999999.9999

SELECT id FROM readings WHERE de = 1.25000

SELECT id FROM readings WHERE de > 1.24999999 AND de < 1.2500000001

SELECT id FROM readings WHERE de < 'NaN' AND de > 15

SELECT id FROM readings WHERE de >= 20 OR de = 3

SELECT id FROM readings WHERE de = 'NaN'

SELECT id FROM readings WHERE da < '0002-01-01'

SELECT id FROM readings WHERE da > '9999-01-01'

SELECT id FROM readings WHERE da < 'infinity' AND da > '-infinity'

SELECT id FROM readings WHERE da = '1970-01-01' OR da = '1969-12-31'

SELECT id FROM readings WHERE da > '1970-01-05'::timestamp

SELECT id FROM readings WHERE da <= '1970-01-05'::timestamptz AND da > '1970-01-01'

SELECT id, da + 1 FROM readings WHERE da BETWEEN '1969-12-25' AND '1970-01-02'

SELECT id FROM readings WHERE ti = '23:59:59.999' OR ti < '00:10'

SELECT id FROM readings WHERE ti > '12:00:00.0001' AND ti < '13:00'

SELECT id FROM readings WHERE ti = '24:00'

SELECT id FROM readings WHERE ts > '9999-01-01'

SELECT id FROM readings WHERE ts < 'infinity' AND ts > '1970-01-01 01:00:00.000001'

SELECT id FROM readings WHERE ts < '-infinity' OR ts < '0001-01-02'

SELECT id FROM readings WHERE ts = '1969-12-31 23:03:00.000001' OR ts = '1970-01-01'

SELECT id FROM readings WHERE ts > '1970-01-01'::date

SELECT id FROM readings WHERE ts > '1970-01-01 00:30+00'::timestamptz

SELECT id FROM readings WHERE tz >= '2026-03-29 06:00+00'

SELECT id FROM readings WHERE tz < '1600-01-01'

SELECT id FROM readings WHERE tz > '2026-03-29 05:00'::timestamp

SELECT id FROM readings WHERE tz::date = '2026-03-29' AND extract(hour FROM tz AT TIME ZONE 'UTC') = 3

-- script
BEGIN; SET LOCAL timezone = 'Europe/Berlin'; SELECT id, ts::timestamptz, tz::timestamp FROM readings WHERE tz BETWEEN '2026-03-29 01:30' AND '2026-03-29 03:30' ORDER BY id; COMMIT

-- script
BEGIN; SET LOCAL timezone = 'Asia/Kolkata'; SELECT count(*) FROM readings WHERE tz > '2026-03-29 08:00' AND tz > ts; SELECT count(*) FROM readings WHERE tz > date '2026-03-29'; SELECT count(*) FROM readings WHERE ts < timestamptz '1970-01-01 05:30'; COMMIT

SELECT id FROM readings WHERE tx = 'a'

SELECT id FROM readings WHERE tx = ''

SELECT id FROM readings WHERE tx > 'b' AND tx < 'z9'

SELECT id FROM readings WHERE tx COLLATE human > 'z9'

SELECT id FROM readings WHERE tx COLLATE nocase = 'b'

SELECT id FROM readings WHERE tx ILIKE '%LONG%'

SELECT id FROM readings WHERE tx ~ '^[[:digit:]]' OR tx IN ('é', NULL)

SELECT id FROM readings WHERE tx = ANY (ARRAY['a', 'B']::varchar[])

SELECT id FROM readings WHERE tx::char(3) = 'a'

SELECT id FROM readings WHERE length(tx) > 5 AND ch = 'abc'

SELECT id, ch, length(ch) FROM readings WHERE ch = '' OR ch LIKE 'z%'

SELECT id FROM readings WHERE ch = 'ab '::char(5)

SELECT id, bi FROM readings WHERE bi = '\x0f00ff' OR bi = ''

SELECT id FROM readings WHERE bi > '\xf0' AND length(bi) = 3

SELECT id FROM readings WHERE late IS NULL AND id > 290

SELECT id, late FROM readings WHERE late = 5

SELECT late, late_tx FROM readings

SELECT late_tx FROM readings WHERE late_tx IS NOT NULL

SELECT count(*), count(late), count(late_tx), sum(late) FROM readings

SELECT id FROM readings WHERE late > i1

SELECT id FROM readings WHERE late IS DISTINCT FROM 3 AND id BETWEEN 280 AND 340

SELECT id FROM readings WHERE late_tx <> 'late1' AND late_tx > 'late0'

-- columns against columns, expressions, nested conditions
SELECT id FROM readings WHERE i1 = i2 OR i1 > sensor_id

SELECT id FROM readings WHERE i1::int + i2 > 400

SELECT id FROM readings WHERE (i1 > 10 AND (f8 > 3 OR f4 < 1)) OR (NOT bo AND i8 IS NULL)

SELECT id FROM readings WHERE NOT (i1 > 10 AND f8 > 3)

SELECT id FROM readings WHERE (i1 > 10) IS NOT TRUE

SELECT id FROM readings WHERE (i1 > 10) = bo

SELECT id FROM readings WHERE (i1, i2) < (0, 100)

SELECT id FROM readings WHERE (i1, i2) IN ((4, 28), (5, 35)) OR (i1, i2) IS NULL

SELECT id FROM readings WHERE CASE WHEN i1 IS NULL THEN f8 > 3 WHEN i1 > 0 THEN bo ELSE de > 10 END

SELECT id FROM readings WHERE coalesce(i1, i2, 0) = 0

SELECT id FROM readings WHERE nullif(i1, 5) IS NULL

SELECT id FROM readings WHERE greatest(i1, i2) < least(f8, 4)

SELECT id FROM readings WHERE i1 IS NULL AND i2 IS NULL

SELECT id FROM readings WHERE i1 > 10 AND i1 < 5

SELECT id FROM readings WHERE i1 > (SELECT avg(state) FROM info) AND i1 < 3

SELECT id FROM readings WHERE i1 > (SELECT NULL::int)

SELECT id FROM readings WHERE i1::small > 45

SELECT id FROM readings WHERE tx IN ('a', 'bb') AND tx::mood = 'a'

-- errors only where a filter lets rows through
SELECT id, tx::int FROM readings WHERE tx ~ '^[0-9]+$' AND id % 12 IN (8, 9)

SELECT id FROM readings WHERE CASE WHEN tx ~ '^[0-9]+$' THEN tx::int > 9 ELSE false END

SELECT id FROM readings WHERE CASE WHEN i1 <> 0 THEN 100 / i1 > 10 END

SELECT id, 100 / i1 FROM readings WHERE i1 <> 0 AND i1 IS NOT NULL

SELECT id FROM (SELECT id, i1 FROM readings WHERE i1 > 0 OFFSET 0) x WHERE 100 / i1 > 10

SELECT tx::int FROM readings

-- the session goes on after a failed cast
SELECT 1 FROM readings

SELECT 1 / (i1 - i1) FROM readings WHERE id = 5

SELECT sum(i8) FROM readings

SELECT sum(f8) FROM readings WHERE f8 < 1e80 AND f8 > -1e80

-- whole rows, system columns, nothing
SELECT r FROM readings r WHERE id < 20

SELECT (SELECT relname FROM pg_class c WHERE c.oid = r.tableoid), id FROM readings r WHERE id < 5

SELECT relname, count(*) FROM info i JOIN pg_class c ON c.oid = i.tableoid GROUP BY 1

SELECT (r).id, (r).tx FROM readings r WHERE (r).i1 = 5

SELECT FROM readings WHERE id < 4

SELECT 1, 'x' FROM info

SELECT r IS NULL, r IS NOT NULL, id FROM readings r WHERE id > 590

SELECT to_jsonb(r) - '_commit_timestamp' FROM readings r WHERE id % 100 = 7

SELECT id FROM readings r WHERE r.*::text LIKE '%late4%'

SELECT count(r), count(DISTINCT r) FROM readings r

SELECT array_length(array_agg(r), 1) FROM readings r WHERE r.i1 > 3

SELECT id, unnest(ARRAY[i1, i2]), generate_series(1, 2) FROM readings WHERE id < 10

SELECT id, x FROM readings, unnest(ARRAY[i1, i2, late]) x WHERE id > 585
