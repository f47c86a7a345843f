-- Lookups by whole keys and by prefixes of keys

SELECT * FROM info WHERE sensor_id = 2

SELECT * FROM info WHERE sensor_id = 2::bigint

SELECT * FROM info WHERE sensor_id = 5000000000

SELECT * FROM info WHERE sensor_id = 2::smallint AND site = 'roof'

SELECT * FROM info WHERE sensor_id = 2.0

SELECT * FROM info WHERE sensor_id = 2.5

SELECT * FROM info WHERE sensor_id = 2::float8

SELECT * FROM info WHERE sensor_id = NULL

SELECT * FROM info WHERE sensor_id = (SELECT NULL::int)

SELECT * FROM info WHERE sensor_id IS NULL

SELECT * FROM info WHERE sensor_id IN (1, 2, 2, 3, NULL, 77)

SELECT * FROM info WHERE sensor_id IN (1, 5000000000, -2)

SELECT * FROM info WHERE sensor_id = ANY (ARRAY[1, 5000000000, NULL]::bigint[])

SELECT * FROM info WHERE sensor_id = ANY (ARRAY[1, 2, NULL]::smallint[])

SELECT * FROM info WHERE sensor_id = ANY (ARRAY[[1, 2], [3, 4]])

SELECT * FROM info WHERE sensor_id = ANY ('{}'::int[])

SELECT * FROM info WHERE sensor_id = ANY (NULL::int[])

SELECT * FROM info WHERE sensor_id = ANY ((SELECT array_agg(id) FROM loc)::int[])

SELECT * FROM info WHERE sensor_id = ALL (ARRAY[3, 3])

SELECT count(*) FROM info WHERE sensor_id <> ALL (ARRAY[3, 3])

SELECT count(*) FROM info WHERE sensor_id NOT IN (3, NULL)

SELECT * FROM info WHERE sensor_id = 1 OR sensor_id = 3

SELECT * FROM info WHERE sensor_id = 1 OR sensor_id = 3 OR sensor_id IN (3, 5) OR sensor_id = NULL

SELECT * FROM info WHERE sensor_id = 1 OR name = 'n7'

SELECT * FROM info WHERE (sensor_id = 1 AND state = 1) OR (sensor_id = 2 AND state = 1) OR (sensor_id = 4 AND state = 0)

SELECT * FROM info WHERE sensor_id = 1 AND sensor_id = 2

SELECT * FROM info WHERE sensor_id IN (1, 2, 3) AND sensor_id IN (2, 3, 4)

SELECT * FROM info WHERE sensor_id IN (1, 2, 3) AND sensor_id > 1

SELECT * FROM info WHERE sensor_id = 4 AND false

SELECT * FROM info WHERE sensor_id = 4 AND NULL

SELECT * FROM info WHERE sensor_id BETWEEN 3 AND 6

SELECT * FROM info WHERE sensor_id < 2 OR sensor_id > 22

SELECT * FROM info WHERE NOT (sensor_id <> 4)

SELECT * FROM info WHERE sensor_id IS NOT DISTINCT FROM 4

SELECT * FROM info WHERE sensor_id + 1 = 4

SELECT * FROM info WHERE abs(sensor_id) = 2

SELECT * FROM info WHERE sensor_id = state

SELECT * FROM info WHERE sensor_id = (random() * 0)::int

SELECT * FROM info WHERE sensor_id = length(name)

SELECT * FROM info WHERE sensor_id::small = 3

SELECT * FROM info WHERE sensor_id = 3::small

SELECT * FROM info WHERE sensor_id::text = '3' OR sensor_id::text LIKE '%9'

SELECT * FROM info WHERE w = 'NaN' OR w > 11

SELECT * FROM info WHERE name LIKE '%24' LIMIT 1

SELECT * FROM info WHERE sensor_id IN (SELECT id FROM loc)

SELECT * FROM info WHERE sensor_id IN (SELECT b FROM loc)

SELECT * FROM info WHERE sensor_id IN (SELECT n FROM loc)

SELECT * FROM info WHERE sensor_id NOT IN (SELECT id FROM loc)

SELECT * FROM info WHERE sensor_id NOT IN (SELECT id FROM loc WHERE id IS NOT NULL)

SELECT * FROM info WHERE sensor_id = ANY (SELECT id FROM loc WHERE tag < 'c') AND state IS NOT NULL

SELECT * FROM info WHERE (sensor_id, name) IN ((1, 'n1'), (2, 'n3'), (3, NULL))

SELECT * FROM info WHERE (sensor_id, state) IN (SELECT id, s FROM loc)

SELECT * FROM info WHERE (sensor_id, state) = (1, 1)

SELECT * FROM info WHERE sensor_id IN (1, 2) AND state = ANY (ARRAY[1, NULL])

SELECT name FROM roof WHERE sensor_id = 3

SELECT nm, k FROM iv WHERE sensor_id IN (3, 4)

SELECT nm FROM iv WHERE k = 42 AND st = 0

-- several columns of several types
SELECT v FROM facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 = 0 AND k4 = 0.25

SELECT v FROM facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 = 0 AND k4 IN (0.25, 0.2500, 0.25001, 0.5, NULL, 'NaN')

SELECT v FROM facts WHERE k1 IN ('a', 'bb') AND k2 IN ('1970-01-01', '1969-12-31') AND k3 IN (0, 5000000000) AND k4 = 0.125

SELECT v FROM facts WHERE (k1, k2, k3, k4) IN (('a', '1970-01-01', 0, 0.25), ('bb', '1969-12-31', -5000000000, -0.25), ('é', '1970-01-02', 5000000000, 0.5))

SELECT v FROM facts WHERE (k1, k2, k3, k4) IN (SELECT tag, d, b, n FROM loc)

SELECT v FROM facts WHERE k1 = 'a' AND k2 = '1970-01-01'::timestamp AND k3 = 0 AND k4 = 0.25

SELECT v FROM facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 = 0::float8 AND k4 = 0.25::float8

SELECT v FROM facts WHERE k1 = 'a'::varchar AND k2 = '1970-01-01' AND k3 = 0::smallint AND k4 = 1

SELECT v FROM facts WHERE k1 = 'a'::char(3) AND k2 = '1970-01-01' AND k3 = 0 AND k4 = 0.25

SELECT v FROM facts WHERE k1 = 'a' AND k2 = 'infinity' AND k3 = 0 AND k4 = 0.25

SELECT v FROM facts WHERE k1 = 'a' AND k2 = '1970-01-01' AND k3 = 0

SELECT v FROM facts WHERE k1 > 'b' AND k3 < 0 AND k4 = 0.25

SELECT count(*) FROM facts WHERE k1 LIKE 'long%' AND k4 <> 0.25

-- text keys and their collations
SELECT * FROM names WHERE k = 'ABC'

SELECT * FROM names WHERE k IN ('ABC', 'XYZ', '')

SELECT l.tag, n.v FROM (VALUES ('abc'), ('N'), ('é'), (NULL)) l (tag) LEFT JOIN names n ON n.k = l.tag COLLATE nocase

SELECT l.tag, n.v FROM (VALUES ('abc'), ('n'), (''), (NULL)) l (tag) LEFT JOIN names n ON n.k COLLATE "C" = l.tag

SELECT * FROM names WHERE h > 'z5'

-- ordered
SELECT v FROM names ORDER BY h, v

-- ordered
SELECT id FROM readings ORDER BY tx COLLATE human, id LIMIT 50

SELECT * FROM words WHERE k = 'w2' OR k = 'W2'

SELECT * FROM words WHERE k COLLATE human = 'w2'

SELECT * FROM words WHERE k < 'X' AND v > 30

SELECT a.v, b.v FROM words a JOIN words b ON b.k = a.other

SELECT a.v, b.v FROM words a LEFT JOIN words b ON b.k = lower(a.other) AND b.v < 30

-- prefixes of a key
SELECT * FROM hist WHERE sensor_id = 3

SELECT * FROM hist WHERE sensor_id IN (3, 4, NULL, 99)

SELECT * FROM hist WHERE sensor_id = 3 AND day = 'd3'

SELECT * FROM hist WHERE sensor_id = 3 AND kind = 1

SELECT * FROM hist WHERE sensor_id = 3 AND day = 'd3' AND kind = 3

SELECT * FROM hist WHERE day = 'd3' AND kind = 3

SELECT * FROM hist WHERE sensor_id IN (1, 2) AND day IN ('d1', 'd2') AND kind IN (1, 2)

SELECT * FROM hist WHERE (sensor_id, day) IN ((3, 'd3'), (4, 'd4'), (5, NULL))

SELECT * FROM hist WHERE (sensor_id, day, kind) IN ((3, 'd3', 3), (4, 'd4', 0), (4, 'd4', 1))

SELECT * FROM hist WHERE sensor_id = 3 OR (sensor_id = 4 AND day = 'd4')

SELECT * FROM hist WHERE (sensor_id = 3 AND v > 300) OR (sensor_id = 4 AND v < 300)

SELECT * FROM hist WHERE sensor_id = ANY (ARRAY[3, 5000000000]::bigint[]) AND note IS NULL

SELECT * FROM hist WHERE day = ANY (ARRAY['d1', NULL]::text[]) AND sensor_id = ANY (ARRAY[1, 7]::smallint[])

SELECT * FROM hist WHERE sensor_id IN (SELECT id FROM loc)

SELECT * FROM hist WHERE sensor_id = 3 AND sensor_id = 4

SELECT sensor_id, count(*), sum(v) FROM hist WHERE sensor_id IN (1, 2, 3) GROUP BY 1

SELECT l.id, h.day, h.v FROM loc l JOIN hist h ON h.sensor_id = l.id

SELECT l.id, h.day, h.v FROM loc l LEFT JOIN hist h ON h.sensor_id = l.id AND h.day = l.tag

SELECT l.id, h.v FROM loc l LEFT JOIN hist h ON h.sensor_id = l.id AND h.v > 100 WHERE l.tag IS NOT NULL

SELECT l.id FROM loc l WHERE EXISTS (SELECT 1 FROM hist h WHERE h.sensor_id = l.id AND h.v > 1500)

SELECT l.id FROM loc l WHERE NOT EXISTS (SELECT 1 FROM hist h WHERE h.sensor_id = l.id AND h.v > 1500)

-- all that moves into the join is applied
SELECT l.id, h.v FROM loc l JOIN hist h ON h.sensor_id = l.id AND h.day = 'd' || l.id AND h.v > length(l.tag) * random()

SELECT h.sensor_id, i.name, h.v FROM hist h LEFT JOIN info i USING (sensor_id) WHERE h.day = 'd1'

SELECT r.id, h.v FROM readings r JOIN hist h ON h.sensor_id = r.sensor_id AND h.kind = r.id % 4 WHERE r.id < 100

SELECT r.id, (SELECT sum(h.v) FROM hist h WHERE h.sensor_id = r.sensor_id) FROM readings r WHERE r._log_offset < 20

SELECT a.v, b.v FROM hist a JOIN hist b ON b.sensor_id = a.sensor_id AND b.day = a.day AND b.kind = a.kind + 1

SELECT * FROM info

SELECT * FROM facts

SELECT * FROM hist

SELECT * FROM names

SELECT * FROM words

SELECT * FROM account
