/*
 * range_time.c
 *	  Commit times: what a comparison asks for, and at which offsets to start.
 *
 * An offset by time is only ever a start: segments in remote storage answer too
 * early an offset, and a time past the server's clock gives the high watermark.
 * Where to stop is told by the batches that arrive.
 *
 * An event time without a zone is taken as UTC.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

/* More different times than that are looked up as the earliest of them. */
#define MAX_LOOKUPS	8

static bool
is_multiple_of_millis(int64 micros)
{
	return micros % 1000 == 0;
}

/* The first millisecond that is not before the time. */
static int64
millis_up(TimestampTz time)
{
	return FlussTimestampToMillis(time) + !is_multiple_of_millis(time);
}

/*
 * The earliest local time that can be at or past an instant, whatever the
 * session's zone does to its clocks around it.
 */
static Timestamp
earliest_local(TimestampTz time)
{
	Timestamp	earliest = DT_NOEND;

	if (time < MIN_TIMESTAMP + 8 * USECS_PER_DAY ||
		time > END_TIMESTAMP - 8 * USECS_PER_DAY)
		return DT_NOBEGIN;
	for (int day = -2; day <= 2; day++)
	{
		int64		shift = day * USECS_PER_DAY;
		Timestamp	local = DatumGetTimestamp(DirectFunctionCall1(timestamptz_timestamp,
																  TimestampTzGetDatum(time + shift)));

		earliest = Min(earliest, local - shift);
	}
	return earliest;
}

/* The value as the column's operator takes it; overflow becomes infinity. */
static int64
time_value(const FlussAttribute *attr, Oid type, Datum datum)
{
	bool		local = attr->type == TIMESTAMPOID;
	int			overflow;
	TimestampTz time;

	switch (type)
	{
		case DATEOID:
			return local ?
				date2timestamp_opt_overflow(DatumGetDateADT(datum), &overflow) :
				date2timestamptz_opt_overflow(DatumGetDateADT(datum), &overflow);
		case TIMESTAMPOID:
			if (local || TIMESTAMP_NOT_FINITE(DatumGetTimestamp(datum)))
				return DatumGetTimestamp(datum);
			return timestamp2timestamptz_opt_overflow(DatumGetTimestamp(datum),
													  &overflow);
		default:
			time = DatumGetTimestampTz(datum);
			return !local || TIMESTAMP_NOT_FINITE(time) ? time :
				earliest_local(time);
	}
}

/* An event is committed after it happened, but for the skew of clocks. */
static void
event_bounds(const FlussAttribute *attr, int64 time, FlussInterval *interval)
{
	int64		from;

	if (TIMESTAMP_NOT_FINITE(time))
		return;
	from = FlussTimestampToMillis(time) - attr->max_clock_skew_ms;
	interval->from_ms = Max(from, 0);
}

static bool
infinite_bounds(int strategy, bool end)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			return end;
		case BTEqualStrategyNumber:
			return false;
		default:
			return !end;
	}
}

bool
FlussTimeBounds(const FlussAttribute *attr, int strategy, Oid type,
				Datum datum, FlussInterval *interval)
{
	int64		time = time_value(attr, type, datum);

	if (attr->event_time)
	{
		event_bounds(attr, time, interval);
		return true;
	}
	if (TIMESTAMP_NOT_FINITE(time))
		return infinite_bounds(strategy, TIMESTAMP_IS_NOEND(time));

	switch (strategy)
	{
		case BTLessStrategyNumber:
			interval->until_ms = millis_up(time);
			break;
		case BTLessEqualStrategyNumber:
			interval->until_ms = FlussTimestampToMillis(time) + 1;
			break;
		case BTEqualStrategyNumber:
			interval->from_ms = millis_up(time);
			interval->until_ms = FlussTimestampToMillis(time) + 1;
			break;
		case BTGreaterEqualStrategyNumber:
			interval->from_ms = millis_up(time);
			break;
		default:
			interval->from_ms = FlussTimestampToMillis(time) + 1;
			break;
	}
	interval->from_ms = Max(interval->from_ms, 0);
	return interval->from_ms < interval->until_ms;
}

/* ---------------------------------------------------------------- lookups */

/* Different times that a partition's sets start with. */
typedef struct Times
{
	int			n;
	int64		items[MAX_LOOKUPS];
	int64		earliest;
	bool		many;			/* more than fit */
} Times;

static void
add_times(Times *times, const FlussIntervals *intervals)
{
	for (int i = 0; i < intervals->n; i++)
	{
		int64		from = intervals->items[i].from_ms;
		int			j = 0;

		if (from == 0)
			continue;
		times->earliest = Min(times->earliest, from);
		while (j < times->n && times->items[j] != from)
			j++;
		if (j < times->n)
			continue;
		if (times->n == MAX_LOOKUPS)
			times->many = true;
		else
			times->items[times->n++] = from;
	}
}

static bool
starts_with(const FlussIntervals *intervals, int64 time, bool any)
{
	for (int i = 0; i < intervals->n; i++)
	{
		if (intervals->items[i].from_ms == time ||
			(any && intervals->items[i].from_ms != 0))
			return true;
	}
	return false;
}

static void
raise_starts(FlussIntervals *intervals, int64 time, bool any, int64 offset)
{
	int			n = 0;

	for (int i = 0; i < intervals->n; i++)
	{
		FlussInterval item = intervals->items[i];

		if (item.from_ms == time || (any && item.from_ms != 0))
			item.start = Max(item.start, offset);
		if (item.start < item.end)
			intervals->items[n++] = item;
	}
	intervals->n = n;
}

/* False: the partition has been dropped; the scan will meet that, and tell. */
static bool
list_offsets(FlussRelation *rel, int64 partition_id, const int32 *buckets,
			 int n, int64 time, int64 *offsets)
{
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	status = fluss_list_offsets(rel->conn->client, rel->table,
								FLUSS_OFFSET_AT_TIMESTAMP, time, partition_id,
								buckets, n, FLUSS_NEED_ALL, offsets, &err);
	if (status == FLUSS_SERVER_ERROR &&
		err.server_code == FLUSS_CODE_PARTITION_NOT_EXISTS)
		return false;
	if (status != FLUSS_OK)
		FlussRaise(&err, rel->name);
	return true;
}

/* One time, in those buckets of a partition that start with it. */
static int
resolve_time(FlussRelation *rel, fluss_ends *ends, int64 partition_id,
			 FlussOffsetSet *sets, int nbuckets, int64 time, bool any)
{
	int32	   *buckets = palloc(nbuckets * sizeof(int32));
	int64	   *offsets = palloc(nbuckets * sizeof(int64));
	int			n = 0;

	for (int i = 0; i < nbuckets; i++)
	{
		if (starts_with(&sets[i].bounded, time, any) ||
			starts_with(&sets[i].open, time, any))
			buckets[n++] = i;
	}
	if (n == 0 || !list_offsets(rel, partition_id, buckets, n, time, offsets))
		return n > 0;
	for (int i = 0; i < n; i++)
	{
		FlussOffsetSet *set = &sets[buckets[i]];
		int64		end;

		/* nothing is lost if the time lies past the pinned end */
		if (fluss_ends_get(ends, partition_id, buckets[i], &end))
			offsets[i] = Min(offsets[i], end);
		raise_starts(&set->bounded, time, any, offsets[i]);
		raise_starts(&set->open, time, any, offsets[i]);
	}
	pfree(buckets);
	pfree(offsets);
	return n > 0;
}

int
FlussResolveTimes(FlussRelation *rel, const FlussPlaces *places,
				  fluss_ends *ends, FlussOffsetSet *sets)
{
	int			requests = 0;

	for (int first = 0; first < places->n; first += places->nbuckets)
	{
		Times		times = {.earliest = FLUSS_TIME_END};
		int64		partition_id = FlussPlaceRef(places, first).partition_id;

		for (int i = 0; i < places->nbuckets; i++)
		{
			add_times(&times, &sets[first + i].bounded);
			add_times(&times, &sets[first + i].open);
		}
		if (times.many)
			requests += resolve_time(rel, ends, partition_id, &sets[first],
									 places->nbuckets, times.earliest, true);
		for (int i = 0; i < times.n && !times.many; i++)
			requests += resolve_time(rel, ends, partition_id, &sets[first],
									 places->nbuckets, times.items[i], false);
	}
	return requests;
}
