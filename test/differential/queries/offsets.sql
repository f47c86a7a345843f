-- Ranges of offsets, buckets and commit times: every form in which a query can say them

SELECT id FROM readings WHERE _log_offset = 5

SELECT id FROM readings WHERE _log_offset < 3

SELECT id, _bucket FROM readings WHERE _log_offset BETWEEN 10 AND 14

SELECT id FROM readings WHERE 20 > _log_offset AND 17 <= _log_offset

SELECT id FROM readings WHERE _log_offset IN (0, 3, 7, NULL, 3, 1000000)

SELECT id FROM readings WHERE _log_offset = ANY (ARRAY[1, 2, 200]::int[])

SELECT id FROM readings WHERE _log_offset = ANY (ARRAY[1, 2, NULL, 200]::numeric[])

SELECT id FROM readings WHERE _log_offset = ANY ('{}'::bigint[])

SELECT id FROM readings WHERE _log_offset = ANY (NULL::bigint[])

SELECT count(*) FROM readings WHERE _log_offset <> ALL (ARRAY[1, 2, 3]::bigint[])

SELECT count(*) FROM readings WHERE _log_offset NOT IN (1, 2, NULL)

SELECT id FROM readings WHERE _log_offset > ANY (ARRAY[30, 195]::bigint[])

SELECT id FROM readings WHERE _log_offset >= ALL (ARRAY[30, 190]::bigint[])

SELECT id FROM readings WHERE _log_offset > 3.5 AND _log_offset < 6.5::float8

SELECT id FROM readings WHERE _log_offset = 4.0

SELECT id FROM readings WHERE _log_offset = 4.5

SELECT count(*) FROM readings WHERE _log_offset > 'NaN'::float8

SELECT count(*) FROM readings WHERE _log_offset < 'Infinity'::float8

SELECT count(*) FROM readings WHERE _log_offset >= -9223372036854775808 AND _log_offset <= 9223372036854775807

SELECT count(*) FROM readings WHERE _log_offset > 9223372036854775807

SELECT count(*) FROM readings WHERE _log_offset < -9223372036854775808

SELECT count(*) FROM readings WHERE _log_offset > -1e30

SELECT count(*) FROM readings WHERE _log_offset + 0 = 5

SELECT id FROM readings WHERE _log_offset - 3 = 5

SELECT count(*) FROM readings WHERE -_log_offset > -4

SELECT count(*) FROM readings WHERE _log_offset > 10 AND _log_offset < 5

SELECT count(*) FROM readings WHERE _log_offset = 1 AND _log_offset = 2

SELECT count(*) FROM readings WHERE _log_offset = NULL

SELECT count(*) FROM readings WHERE _log_offset IS NULL

SELECT count(*) FROM readings WHERE _log_offset IS NOT NULL AND _bucket IS NOT NULL

SELECT count(*) FROM readings WHERE _log_offset IS DISTINCT FROM 4

SELECT id FROM readings WHERE _log_offset IS NOT DISTINCT FROM 4

SELECT id FROM readings WHERE _bucket = 1 AND _log_offset < 4

SELECT count(*) FROM readings WHERE _bucket IN (0, 2, 9, NULL)

SELECT count(*) FROM readings WHERE _bucket = ANY (ARRAY[0, 2]::smallint[])

SELECT count(*) FROM readings WHERE _bucket = 1.0

SELECT count(*) FROM readings WHERE _bucket = 7

SELECT count(*) FROM readings WHERE _bucket = -1 OR _bucket > 2

SELECT count(*) FROM readings WHERE _bucket <> 1

SELECT count(*) FROM readings WHERE _bucket % 2 = 0

SELECT count(*) FROM readings WHERE _bucket BETWEEN 1 AND 5

-- a consumer that goes on in several buckets
SELECT id FROM readings WHERE (_bucket = 0 AND _log_offset >= 50) OR (_bucket = 1 AND _log_offset >= 70) OR (_bucket = 2 AND _log_offset >= 1000000 - 999900)

-- ranges that overlap give no row twice
SELECT id FROM readings WHERE (_bucket = 0 AND _log_offset BETWEEN 2 AND 8) OR (_bucket = 0 AND _log_offset BETWEEN 5 AND 12) OR _log_offset = 6

SELECT id FROM readings WHERE (_bucket, _log_offset) IN ((0, 1), (1, 3), (2, NULL), (1, 3))

SELECT id FROM readings WHERE (_bucket, _log_offset) >= (1, 60) AND (_bucket, _log_offset) < (2, 4)

SELECT count(*) FROM readings WHERE (_log_offset, id) <= (2, 400)

SELECT count(*) FROM readings WHERE NOT (_bucket = 1 OR _log_offset > 30)

SELECT count(*) FROM readings WHERE _bucket = 1 AND _bucket = 2

SELECT count(*) FROM readings WHERE _log_offset < 5 OR id > 590

SELECT count(*) FROM readings WHERE _log_offset < 5 OR random() < 0

-- volatile sides are asked for each row
SELECT count(*) FROM readings WHERE _log_offset >= random() * 0

SELECT count(*) FROM readings WHERE _bucket = (random() * 0)::int

SELECT count(*) >= 0 FROM readings WHERE _log_offset = nextval('seq')

SELECT count(*) FROM readings WHERE _log_offset < 30 AND CASE WHEN _log_offset < 10 THEN true ELSE id % 2 = 0 END

-- a place decides, and another may be guarded by it
SELECT id FROM readings WHERE _log_offset > 0 AND 10 / _log_offset > 2

SELECT id FROM readings WHERE CASE WHEN _log_offset > 0 THEN 10 / _log_offset > 2 ELSE false END

SELECT id FROM readings WHERE _log_offset >= (SELECT max(_log_offset) - 3 FROM readings WHERE _bucket = 0) AND _bucket = 0

SELECT id FROM readings WHERE _log_offset = (SELECT NULL::bigint)

SELECT id FROM readings WHERE _log_offset IN (SELECT o FROM pos WHERE part IS NULL)

SELECT id FROM readings WHERE _log_offset = ANY (SELECT id FROM loc)

SELECT count(*) FROM readings WHERE _log_offset NOT IN (SELECT o FROM pos WHERE o IS NOT NULL)

SELECT count(*) FROM readings WHERE _log_offset NOT IN (SELECT o FROM pos)

SELECT id FROM readings WHERE (_bucket, _log_offset) IN (SELECT b, o FROM pos)

SELECT count(*) FROM readings r JOIN pos p ON p.part IS NULL AND r._bucket = p.b AND r._log_offset >= p.o

SELECT p.b, r.id FROM pos p LEFT JOIN readings r ON r._bucket = p.b AND r._log_offset = p.o AND p.part IS NULL

-- ranges of their own for each outer row, also without any
SELECT c.id, (SELECT max(_log_offset) FROM readings WHERE _bucket = c.id % 3 AND _log_offset < c.id * 10) FROM generate_series(0, 8) c(id)

SELECT c.id, x.n, x.s FROM generate_series(-1, 9) c(id), LATERAL (SELECT count(*) n, sum(r.id) s FROM readings r WHERE _log_offset BETWEEN c.id * 3 AND c.id * 5) x

SELECT l.id, x.id FROM loc l LEFT JOIN LATERAL (SELECT id FROM readings r WHERE r._log_offset = l.id) x ON true

SELECT l.id, x.id FROM (SELECT * FROM loc WHERE false) l LEFT JOIN LATERAL (SELECT id FROM readings r WHERE r._log_offset = l.id) x ON true

SELECT a.id, b.id FROM readings a JOIN readings b ON a._bucket = b._bucket AND a._log_offset = b._log_offset + 1 WHERE a._log_offset < 20

SELECT count(*) FROM readings a, readings b WHERE a._bucket = 0 AND b._bucket = 1 AND a._log_offset < 5 AND b._log_offset < 7

-- times
SELECT count(*) FROM readings WHERE _commit_timestamp > now() + interval '1 day'

SELECT count(*) FROM readings WHERE _commit_timestamp < now() + interval '1 day'

SELECT count(*) FROM readings WHERE _commit_timestamp < 'infinity' AND _commit_timestamp > '-infinity'

SELECT count(*) FROM readings WHERE _commit_timestamp = 'infinity' OR _commit_timestamp < '1970-01-01 00:00+00'

SELECT count(*) FROM readings WHERE _commit_timestamp IS NULL

SELECT id FROM readings WHERE _commit_timestamp >= (SELECT max(_commit_timestamp) FROM readings)

SELECT id FROM readings WHERE _commit_timestamp <= (SELECT min(_commit_timestamp) FROM readings)

SELECT id FROM readings WHERE _commit_timestamp > (SELECT min(_commit_timestamp) FROM readings) AND _commit_timestamp < (SELECT max(_commit_timestamp) FROM readings) AND _bucket = 2

SELECT id FROM readings WHERE _commit_timestamp = (SELECT _commit_timestamp FROM readings WHERE id = 250)

SELECT id FROM readings WHERE _commit_timestamp IN (SELECT _commit_timestamp FROM readings WHERE id IN (10, 350)) OR (_bucket = 0 AND _log_offset < 2)

SELECT id FROM readings WHERE _commit_timestamp BETWEEN (SELECT _commit_timestamp FROM readings WHERE id = 100) AND (SELECT _commit_timestamp FROM readings WHERE id = 200) AND _log_offset % 2 = 0

SELECT a.id, (SELECT count(*) FROM readings b WHERE b._commit_timestamp < a._commit_timestamp) FROM readings a WHERE a.id % 50 = 0

SELECT count(*) FROM readings WHERE _commit_timestamp::date = now()::date OR _commit_timestamp < now()

SELECT count(*) FROM readings WHERE _commit_timestamp > '2000-01-01'::date

SELECT count(*) FROM readings WHERE _commit_timestamp > '2000-01-01'::timestamp

SELECT count(*) FROM readings WHERE _commit_timestamp + interval '1 hour' > '2000-01-01'

-- the changelog
SELECT _change_type, id, owner, balance FROM changes WHERE _log_offset >= 3

SELECT _change_type, count(*), sum(balance) FROM changes GROUP BY 1

SELECT * FROM changes WHERE _change_type = 'delete' OR (_bucket = 0 AND _log_offset < 5)

SELECT id, owner, balance FROM (SELECT DISTINCT ON (id) * FROM changes ORDER BY id, _log_offset DESC) l WHERE _change_type <> 'delete'

-- ordered
SELECT id, _change_type FROM changes WHERE _bucket = 1 ORDER BY _log_offset DESC LIMIT 4

SELECT c.id, c._change_type, a.owner FROM changes c LEFT JOIN account a USING (id) WHERE c.balance IS NOT NULL

SELECT count(*), min(_log_offset), max(_log_offset) FROM changes

SELECT * FROM changes WHERE id = 2

SELECT count(*) FROM changes a JOIN changes b ON a.id = b.id AND a._log_offset = b._log_offset + 1 AND a._bucket = b._bucket AND a._change_type = 'update_after'

-- nothing there
SELECT *, _bucket, _log_offset FROM no_log WHERE _log_offset > 0

SELECT count(*), max(_log_offset), min(v) FROM no_log

SELECT l.id, n.v FROM loc l LEFT JOIN no_info n ON n.id = l.id

SELECT * FROM no_days WHERE day = 'x'

SELECT * FROM no_days WHERE day = 'x' AND id = 1

SELECT count(*) FROM no_days d FULL JOIN no_info i USING (id) FULL JOIN no_log USING (id)

SELECT l.id, n.v FROM loc l LEFT JOIN no_days n ON n.id = l.id AND n.day = l.tag
