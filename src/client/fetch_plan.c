/*
 * fetch_plan.c
 *	  What a log scan asks for and what of it is in range: arithmetic on
 *	  offsets, without I/O.
 *
 * The end of a range is decided by offsets alone.  As the server gives at
 * least one whole batch whatever the limit says, a limit too small costs a
 * further request and never a record.
 */
#include "fetch.h"
#include "schema.h"

/* Bytes not worth a request of their own. */
#define SMALL_BYTES		((int64_t) 64 * 1024)
/* Offsets that are taken for so many bytes while no batch was seen. */
#define SMALL_GAP		((int64_t) 1024)

int64_t
fluss_fetch_range_end(const fetch_bucket *bucket, const fluss_range *range)
{
	if (bucket->end != FLUSS_OFFSET_UNKNOWN && bucket->end < range->end)
		return bucket->end;
	return range->end;
}

static void
enter_range(fetch_bucket *bucket, const fluss_range *range)
{
	bucket->entered = true;
	bucket->loss_reported = false;
	/* what came with the range before it may already reach into this one */
	bucket->progressed = bucket->fetch_offset > range->start;
	if (!bucket->progressed)
		bucket->fetch_offset = range->start;
}

static void
leave_range(fetch_bucket *bucket)
{
	bucket->fetch_range++;
	bucket->entered = false;
}

/*
 * Passes every range that needs no (further) request.  True when one of them
 * starts past the pinned end: then *loss tells and there may be more, so call
 * again.
 */
bool
fluss_fetch_settle(fetch_bucket *bucket, fluss_loss *loss)
{
	while (bucket->fetch_range < bucket->nranges)
	{
		const fluss_range *range = &bucket->ranges[bucket->fetch_range];

		if (!bucket->entered)
			enter_range(bucket, range);
		if (bucket->fetch_offset < fluss_fetch_range_end(bucket, range))
			return false;
		leave_range(bucket);
		if (bucket->end != FLUSS_OFFSET_UNKNOWN &&
			range->start > bucket->end && !bucket->loss_reported)
		{
			loss->partition_id = bucket->partition_id;
			loss->bucket = bucket->bucket;
			loss->dropped = false;
			loss->start = range->start;
			loss->earliest = FLUSS_OFFSET_UNKNOWN;
			loss->end = bucket->end;
			return true;
		}
	}
	return false;
}

/*
 * A batch has arrived: ranges with an earlier stop_ms end before it.  A commit
 * time holds for the whole batch.
 */
void
fluss_fetch_stop(fetch_bucket *bucket, int64_t base_offset,
				 int64_t commit_timestamp_ms)
{
	if (!bucket->timed)
		return;
	for (int i = bucket->fetch_range; i < bucket->nranges; i++)
	{
		fluss_range *range = &bucket->ranges[i];

		if (range->stop_ms == 0 || commit_timestamp_ms < range->stop_ms)
			continue;
		if (range->end > base_offset)
			range->end = base_offset;
		if (range->end < range->start)
			range->end = range->start;
	}
}

/* A batch is about to be read: ranges with a later from_ms start after it. */
void
fluss_fetch_pass(fetch_bucket *bucket, int64_t next_offset,
				 int64_t commit_timestamp_ms)
{
	if (!bucket->timed)
		return;
	for (int i = bucket->read_range; i < bucket->nranges; i++)
	{
		fluss_range *range = &bucket->ranges[i];
		int64_t		start = fluss_fetch_range_end(bucket, range);

		if (range->start >= next_offset)
			break;
		if (commit_timestamp_ms >= range->from_ms)
			continue;
		if (start > next_offset)
			start = next_offset;
		if (range->start < start)
			range->start = start;
	}
}

static int64_t
offsets_to_bytes(const fetch_sizes *sizes, int64_t offsets)
{
	double		bytes;

	bytes = (double) offsets * (double) sizes->bytes / (double) sizes->offsets;
	return bytes < (double) INT32_MAX ? (int64_t) bytes : INT32_MAX;
}

/*
 * Where the reading that starts at the fetch cursor ends: ranges with little
 * between them are read as one.  INT64_MAX: no bound is known.
 */
static int64_t
run_end(const fetch_bucket *bucket, const fetch_sizes *sizes, bool *own_bound)
{
	int			i = bucket->fetch_range;
	int64_t		end = fluss_fetch_range_end(bucket, &bucket->ranges[i]);

	while (++i < bucket->nranges)
	{
		int64_t		gap = bucket->ranges[i].start - end;

		if (sizes->offsets > 0 ?
			offsets_to_bytes(sizes, gap) > SMALL_BYTES : gap > SMALL_GAP)
			break;
		if (bucket->end != FLUSS_OFFSET_UNKNOWN &&
			bucket->ranges[i].start >= bucket->end)
			break;
		end = fluss_fetch_range_end(bucket, &bucket->ranges[i]);
	}
	*own_bound = bucket->ranges[i - 1].end != FLUSS_OFFSET_END;
	return end;
}

/*
 * Bytes to ask for, so that only batches that hold the range come: by the
 * bytes an offset has taken so far, one batch while nothing is known.  Rather
 * too few than too many, as a further request brings the last batch; only past
 * a range without a bound of its own there is next to nothing.  *solo says that
 * the limit may be smaller than a batch.  Then the bucket needs a request of
 * its own, as the server gives one batch whatever the limit says to the first
 * bucket of a request only.
 */
int64_t
fluss_fetch_budget(const fetch_bucket *bucket, const fetch_sizes *sizes,
				   int64_t max_bytes, bool *solo)
{
	bool		own_bound;
	int64_t		end = run_end(bucket, sizes, &own_bound);
	int64_t		bytes = 1;
	int64_t		batch = SMALL_BYTES;

	*solo = false;
	if (end == FLUSS_OFFSET_END || (sizes->offsets == 0 && !own_bound))
		return max_bytes;
	if (sizes->offsets > 0)
	{
		batch = sizes->bytes / sizes->batches;
		bytes = offsets_to_bytes(sizes, end - bucket->fetch_offset);
		if (bytes > batch && !own_bound)
			bytes += batch + bytes / 16;
	}
	if (bytes < 1)
		bytes = 1;
	*solo = bytes < batch || bytes < SMALL_BYTES;
	return bytes < max_bytes ? bytes : max_bytes;
}

/*
 * Rows of a batch that the next range with any takes.  False: there are none
 * (left) in it.  *more: a further range may take some too.
 */
bool
fluss_fetch_clip(fetch_bucket *bucket, int64_t base_offset,
				 int32_t record_count, int32_t *first_row, int32_t *end_row,
				 bool *more)
{
	int64_t		past = base_offset + record_count;

	for (; bucket->read_range < bucket->nranges; bucket->read_range++)
	{
		const fluss_range *range = &bucket->ranges[bucket->read_range];
		int64_t		end = fluss_fetch_range_end(bucket, range);
		int64_t		low = range->start;
		int64_t		high = end < past ? end : past;

		if (low < base_offset)
			low = base_offset;
		if (low < bucket->read_offset)
			low = bucket->read_offset;
		if (low >= high && end >= past)
			break;				/* goes on, or begins, past this batch */
		if (low >= high)
			continue;
		*first_row = (int32_t) (low - base_offset);
		*end_row = (int32_t) (high - base_offset);
		bucket->read_offset = high;
		*more = end < past;
		return true;
	}
	return false;
}

/* Bytes of a value in a batch: the projection of a count takes the least. */
static int32_t
type_width(const fluss_type *type)
{
	if (!fluss_type_is_scalar(type))
		return 1 << 22;
	return fluss_arrow_is_variable(type) ? 1 << 21 : fluss_arrow_width(type);
}

static int32_t
narrowest_column(const fluss_schema *schema)
{
	int32_t		best = 0;

	for (int32_t i = 1; i < schema->ncolumns; i++)
	{
		if (type_width(&schema->columns[i].type) <
			type_width(&schema->columns[best].type))
			best = i;
	}
	return best;
}

/*
 * Fills projection (room for every column of the table) with the ascending
 * positions to ask for and returns their number; 0: fetch whole rows.
 */
int
fluss_fetch_projection(const fluss_table *table, const int32_t *columns,
					   int ncolumns, int32_t *projection)
{
	int			n = 0;

	if (table->log_format != FLUSS_FORMAT_ARROW ||
		ncolumns >= table->schema->ncolumns)
		return 0;
	if (ncolumns == 0)
	{
		if (table->schema->ncolumns == 1)
			return 0;
		projection[0] = narrowest_column(table->schema);
		return 1;
	}
	for (int i = 0; i < ncolumns; i++)
	{
		int			at = n++;

		while (at > 0 && projection[at - 1] > columns[i])
		{
			projection[at] = projection[at - 1];
			at--;
		}
		projection[at] = columns[i];
	}
	return n;
}
