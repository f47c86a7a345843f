-- Prepared queries, executed with values that change, NULLs among them

-- types: bigint
-- values: 0
-- values: 10
-- values: NULL
-- values: 30
-- values: -5
-- values: 1
-- values: 190
-- values: 9223372036854775000
SELECT id FROM readings WHERE _bucket = 1 AND _log_offset BETWEEN $1 AND $1 + 9

-- types: int, bigint
-- values: 0, 5
-- values: 1, 5
-- values: 2, NULL
-- values: NULL, 5
-- values: 7, 5
-- values: 0, 100000
-- values: 1, 50
-- values: 2, 199
SELECT id FROM readings WHERE (_bucket = $1 AND _log_offset >= $2) OR _log_offset = 3

-- types: bigint[]
-- values: '{1,2,3}'
-- values: '{}'
-- values: NULL
-- values: '{NULL}'
-- values: '{5,NULL,5}'
-- values: '{{1,2},{3,4}}'
-- values: '{100}'
-- values: '{-1,9223372036854775807}'
SELECT id, _bucket FROM readings WHERE _log_offset = ANY ($1)

-- types: timestamptz
-- values: 'infinity'
-- values: '-infinity'
-- values: NULL
-- values: '2000-01-01'
-- values: commit_of(600)
-- values: commit_of(200)
-- values: now()
-- values: '4000-01-01'
SELECT count(*), sum(id) FROM readings WHERE _commit_timestamp >= $1

-- types: timestamptz, timestamptz
-- values: 'infinity', 'infinity'
-- values: '-infinity', 'infinity'
-- values: NULL, now()
-- values: now(), '2000-01-01'
-- values: '2000-01-01', commit_of(100)
-- values: commit_of(200), commit_of(400)
-- values: commit_of(200), now()
-- values: commit_of(1), commit_of(1)
SELECT count(*), sum(id) FROM readings WHERE _commit_timestamp >= $1 AND _commit_timestamp < $2 OR (_commit_timestamp = $2 AND id < 50)

-- types: int
-- values: 1
-- values: 2
-- values: NULL
-- values: 99
-- values: 3
-- values: -2
-- values: 24
-- values: 1
SELECT * FROM info WHERE sensor_id = $1

-- types: bigint
-- values: 1
-- values: 5000000000
-- values: NULL
-- values: -9223372036854775808
-- values: 3
-- values: -2
-- values: 24
-- values: 1
SELECT * FROM info WHERE sensor_id = $1

-- types: numeric
-- values: 1
-- values: 1.5
-- values: NULL
-- values: 'NaN'
-- values: 3.000
-- values: 1e20
-- values: 'Infinity'
-- values: 4
SELECT * FROM info WHERE sensor_id = $1

-- types: int[]
-- values: '{1,2,3}'
-- values: '{}'
-- values: NULL
-- values: '{NULL,NULL}'
-- values: '{3,NULL,3}'
-- values: '{{1,2},{3,4}}'
-- values: '[5:6]={7,8}'
-- values: '{1}'
SELECT * FROM info WHERE sensor_id = ANY ($1)

-- types: bigint[], text
-- values: '{1,2,3}', 'roof'
-- values: '{5000000000,2}', 'lobby'
-- values: NULL, 'roof'
-- values: '{3}', NULL
-- values: '{3,3,3}', 'roof'
-- values: '{1,2,3,4,5,6,7,8,9,10}', 'lobby'
-- values: '{}', ''
-- values: '{-1}', 'lobby'
SELECT sensor_id, name FROM info WHERE sensor_id = ANY ($1) AND site = $2

-- an array of another type than the column's
-- types: text[]
-- values: '{d1,d2}'
-- values: '{}'
-- values: NULL
-- values: '{NULL,d3}'
-- values: '{d1}'
-- values: '{D1}'
-- values: '{d5,d5}'
-- values: '{d0}'
SELECT * FROM hist WHERE day = ANY ($1)

-- types: smallint[], text[], smallint
-- values: '{1,2}', '{d1,d2}', 1
-- values: '{1,2,3,4}', '{d1,d2,d3,d4}', 3
-- values: NULL, '{d1}', 1
-- values: '{3,NULL}', '{d3,NULL}', 3
-- values: '{}', '{d1}', 1
-- values: '{3}', '{d3}', NULL
-- values: '{13}', '{d1}', 1
-- values: '{5,10}', '{d5,d4}', 2
SELECT * FROM hist WHERE sensor_id = ANY ($1) AND day = ANY ($2) AND kind >= $3

-- types: int, text
-- values: 3, 'd3'
-- values: 4, 'd4'
-- values: NULL, 'd4'
-- values: 4, NULL
-- values: 99, 'd1'
-- values: 0, 'd0'
-- values: 3, 'd3'
-- values: 14, 'd2'
SELECT * FROM hist WHERE sensor_id = $1 AND (day = $2 OR v > 2000)

-- types: text, date, bigint, numeric
-- values: 'a', '1970-01-01', 0, 0.25
-- values: 'bb', '1969-12-31', -5000000000, -0.25
-- values: NULL, '1970-01-01', 0, 0.25
-- values: 'a', NULL, 0, 0.25
-- values: 'a', 'infinity', 0, 0.25
-- values: 'a', '1970-01-01', 0, 'NaN'
-- values: 'é', '1970-01-02', 5000000000, 0.5000
-- values: 'a', '1970-01-01', 0, 0.2500001
SELECT v FROM facts WHERE k1 = $1 AND k2 = $2 AND k3 = $3 AND k4 = $4

-- types: text, date, bigint, numeric[]
-- values: 'a', '1970-01-01', 0, '{0.25}'
-- values: 'bb', '1969-12-31', -5000000000, '{-0.25,0,0.125,NULL}'
-- values: NULL, '1970-01-01', 0, '{0.25}'
-- values: 'a', '1970-01-01', 0, '{}'
-- values: 'a', '1970-01-01', 0, NULL
-- values: 'a', '1970-01-01', 0, '{NaN,Infinity}'
-- values: 'é', '1970-01-02', 5000000000, '{0.5000,0.5}'
-- values: 'longer than seven', '1969-12-30', 0, '{-0.25,-0.125,0,0.125,0.25,0.375,0.5}'
SELECT v FROM facts WHERE (k1, k2, k3) = ($1, $2, $3) AND k4 = ANY ($4)

-- types: text
-- values: 'd1'
-- values: 'd2'
-- values: NULL
-- values: 'none'
-- values: 'd5'
-- values: ''
-- values: 'd1'
-- values: 'd3'
SELECT id FROM events WHERE day = $1 AND v > 2

-- types: text[], bigint
-- values: '{d1,d2}', 3
-- values: '{d2}', 0
-- values: NULL, 1
-- values: '{}', 1
-- values: '{d5,NULL}', NULL
-- values: '{none}', 2
-- values: '{d1,d2,d3,d4,d5}', 1000000 - 999980
-- values: '{d4}', 2
SELECT id, _partition FROM events WHERE _partition = ANY ($1) AND _log_offset <= $2

-- types: int, date
-- values: 1, '2026-08-01'
-- values: 2, '2026-08-02'
-- values: NULL, '2026-08-01'
-- values: 1, NULL
-- values: 9, '2026-08-01'
-- values: 3, '2026-08-04'
-- values: 1, 'infinity'
-- values: 2, '2026-08-04'
SELECT id FROM visits WHERE region >= $1 AND day = $2

-- types: text, int
-- values: 'd1', 1
-- values: 'd2', 9
-- values: NULL, 1
-- values: 'd1', NULL
-- values: 'none', 1
-- values: 'd4', 29
-- values: 'd4', 30
-- values: 'd3', 3
SELECT * FROM stock WHERE day = $1 AND id = $2

-- types: text[], int[]
-- values: '{d1,d2}', '{1,2,3}'
-- values: '{d2}', '{9,NULL}'
-- values: NULL, '{1}'
-- values: '{d1}', NULL
-- values: '{none,d1}', '{1,1}'
-- values: '{d4,d4}', '{29}'
-- values: '{}', '{30}'
-- values: '{d3,NULL}', '{3}'
SELECT * FROM stock WHERE day = ANY ($1) AND id = ANY ($2)

-- types: int, date, int
-- values: 1, '2026-08-02', 3
-- values: 2, '2026-08-01', 5
-- values: NULL, '2026-08-01', 5
-- values: 2, NULL, 5
-- values: 2, '2026-08-01', NULL
-- values: 7, '2026-08-01', 5
-- values: 2, '2026-08-09', 5
-- values: 1, '2026-08-03', 8
SELECT * FROM ledger WHERE region = $1 AND day = $2 AND account = $3

-- types: int
-- values: 5
-- values: 0
-- values: NULL
-- values: 1
-- values: 300
-- values: 2
-- values: 7
-- values: 5
-- ordered
SELECT id FROM readings WHERE _bucket = 1 ORDER BY _log_offset DESC LIMIT $1

-- types: int, bigint
-- values: 5, 3
-- values: 0, 0
-- values: NULL, 190
-- values: 1, NULL
-- values: 300, 600
-- values: 2, 1
-- values: 7, 100
-- values: 5, 0
-- ordered
SELECT id FROM readings ORDER BY _log_offset DESC, _bucket LIMIT $1 OFFSET $2

-- types: int, int
-- values: 5, 0
-- values: 5, 1
-- values: NULL, 2
-- values: 3, NULL
-- values: 10, 3
-- values: 2, 1
-- values: 200, 2
-- values: 5, 0
-- ordered
SELECT id FROM readings WHERE _bucket = $2 ORDER BY _log_offset LIMIT $1

-- types: int
-- values: 5
-- values: 0
-- values: 26
-- values: 27
-- values: 100
-- values: 1
-- values: NULL
-- values: 3
SELECT count(*) FROM (SELECT * FROM info LIMIT $1) x

-- types: float8
-- values: 1
-- values: 'NaN'
-- values: NULL
-- values: 'Infinity'
-- values: '-Infinity'
-- values: -0.0
-- values: 1e300
-- values: 5.5
SELECT id FROM readings WHERE f8 >= $1

-- types: real
-- values: 1
-- values: 'NaN'
-- values: NULL
-- values: 'Infinity'
-- values: '-Infinity'
-- values: -0.0
-- values: 0.1
-- values: 5.5
SELECT id FROM readings WHERE f8 <= $1 AND f4 <> $1

-- types: smallint
-- values: 1
-- values: -128
-- values: NULL
-- values: 127
-- values: 128
-- values: 32767
-- values: -32768
-- values: 0
SELECT count(*), sum(i2), min(f8) FROM readings WHERE i1 >= $1

-- types: numeric
-- values: 1
-- values: 'NaN'
-- values: NULL
-- values: 'Infinity'
-- values: 1e30
-- values: -1e30
-- values: 0.00001
-- values: 9999999999999999.9999
SELECT count(*), sum(de) FROM readings WHERE de < $1

-- types: date
-- values: '1970-01-01'
-- values: 'infinity'
-- values: NULL
-- values: '-infinity'
-- values: '4713-01-01 BC'
-- values: '5874897-12-31'
-- values: '0001-01-01'
-- values: '9999-12-31'
SELECT count(*), min(id) FROM readings WHERE da <= $1

-- types: timestamp
-- values: '1970-01-01'
-- values: 'infinity'
-- values: NULL
-- values: '-infinity'
-- values: '1969-12-31 23:30:00.000001'
-- values: '294276-12-31 23:59:59.999999'
-- values: '0001-01-01'
-- values: '9999-12-31 23:59:59.999999'
SELECT count(*), min(id), max(ts) FROM readings WHERE ts >= $1

-- types: timestamptz
-- values: '2026-03-29 01:30+00'
-- values: 'infinity'
-- values: NULL
-- values: '-infinity'
-- values: '2026-03-29 02:30 Europe/Berlin'
-- values: '294276-12-31 23:59:59.999999+00'
-- values: '1582-10-15 00:00+00'
-- values: '2026-03-29 03:30 Europe/Berlin'
SELECT count(*), min(id), max(tz) FROM readings WHERE tz < $1

-- types: time
-- values: '00:00'
-- values: '24:00'
-- values: NULL
-- values: '23:59:59.999'
-- values: '12:00:00.000001'
-- values: '12:00'
-- values: '06:00'
-- values: '00:36:01.5'
SELECT count(*), min(id), max(ti) FROM readings WHERE ti <= $1

-- types: bool
-- values: true
-- values: false
-- values: NULL
-- values: true
-- values: false
-- values: false
-- values: NULL
-- values: true
SELECT count(*), sum(id) FROM readings WHERE bo = $1

-- types: text
-- values: 'a'
-- values: 'A'
-- values: NULL
-- values: ''
-- values: 'é'
-- values: '日本'
-- values: 'x|y'
-- values: 'none'
SELECT id FROM readings WHERE tx = $1

-- a parameter alone in the target list
-- types: int
-- values: 1
-- values: 2
-- values: NULL
-- values: 3
-- values: 4
-- values: 5
-- values: 6
-- values: 1
SELECT $1, count(*) FROM readings GROUP BY 1

-- types: int
-- values: 1
-- values: 2
-- values: NULL
-- values: 3
-- values: 4
-- values: 5
-- values: 6
-- values: 1
SELECT $1 + count(*), $1 FROM readings WHERE i1 > $1

-- types: int
-- values: 5
-- values: 50
-- values: NULL
-- values: 3
-- values: 0
-- values: 150
-- values: 6
-- values: 1
SELECT r.id, i.name FROM readings r LEFT JOIN info i USING (sensor_id) WHERE r._log_offset < $1

-- types: int, text
-- values: 5, 'roof'
-- values: 50, 'lobby'
-- values: NULL, 'roof'
-- values: 30, NULL
-- values: 0, ''
-- values: 100, 'roof'
-- values: 6, 'roof'
-- values: 1, 'lobby'
SELECT r.id, i.name FROM readings r LEFT JOIN info i ON i.sensor_id = r.sensor_id + $1 % 3 AND i.site = $2 WHERE r._log_offset < $1

-- types: int
-- values: 0
-- values: 1
-- values: NULL
-- values: 2
-- values: 3
-- values: 40
-- values: -2
-- values: 0
SELECT l.id, i.name FROM loc l JOIN info i ON i.sensor_id = l.id + $1

-- types: int
-- values: 0
-- values: 1
-- values: NULL
-- values: 2
-- values: 3
-- values: 40
-- values: -2
-- values: 0
SELECT l.id, s.v FROM loc l LEFT JOIN stock s ON s.id = l.id + $1 AND s.day = 'd' || $1

-- types: bool
-- values: true
-- values: false
-- values: NULL
-- values: true
-- values: false
-- values: true
-- values: NULL
-- values: true
SELECT count(*) FROM readings r JOIN info i ON i.sensor_id = r.sensor_id AND $1

-- types: bool, int
-- values: true, 3
-- values: false, 3
-- values: NULL, 3
-- values: true, NULL
-- values: false, NULL
-- values: true, 4
-- values: NULL, NULL
-- values: true, 77
SELECT * FROM info WHERE $1 OR sensor_id = $2

-- a condition that may be left out
-- types: int, bigint
-- values: NULL, NULL
-- values: 1, NULL
-- values: NULL, 5
-- values: 1, 5
-- values: 2, 0
-- values: 9, 0
-- values: 0, 190
-- values: NULL, NULL
SELECT count(*), sum(id) FROM readings WHERE ($1 IS NULL OR _bucket = $1) AND ($2 IS NULL OR _log_offset >= $2)

-- types: int, bigint
-- values: NULL, NULL
-- values: 1, NULL
-- values: NULL, 5
-- values: 1, 5
-- values: 2, 0
-- values: 9, 0
-- values: 0, 190
-- values: NULL, NULL
SELECT count(*), sum(id) FROM readings WHERE _bucket = coalesce($1, _bucket) AND _log_offset >= coalesce($2, 3)

-- types: int
-- values: 1
-- values: 2
-- values: NULL
-- values: 4
-- values: 9
-- values: 5
-- values: 3
-- values: 1
SELECT g, (SELECT count(*) FROM readings WHERE _bucket = g % 3 AND _log_offset < $1 * g), (SELECT name FROM info WHERE sensor_id = $1 + g) FROM generate_series(1, 4) g

-- types: text
-- values: 'ABC'
-- values: 'abc'
-- values: NULL
-- values: ''
-- values: 'XYZ'
-- values: 'é'
-- values: 'none'
-- values: 'N'
SELECT * FROM names WHERE k = $1

-- types: text[]
-- values: '{w2,w3}'
-- values: '{"Word number 3",w4}'
-- values: NULL
-- values: '{}'
-- values: '{W2}'
-- values: '{NULL}'
-- values: '{w40,w40}'
-- values: '{w41}'
SELECT * FROM words WHERE k = ANY ($1)
