/*
 * scan_rounds.c
 *	  Log scans that read their buckets piece by piece: one bucket after the
 *	  other, or from the edges inwards.
 *
 * A round is a set of ranges for one scan of the client.  Ascending: each
 * bucket is a round, in the order of the buckets.  At the edges: a round takes
 * from each bucket the next offsets from its end (or start), more in each
 * round, until there are as many records as wanted.  Offsets are no records: a
 * batch may be empty, so only what arrived counts.
 *
 * By commit time, a bucket goes on until its batches are older than the last
 * record wanted, by more than timestamp_skew: times may step back when the
 * leader of a bucket changes.  All records of a batch have one time, and the
 * batch comes whole: a piece that ends within one is extended over it.
 */
#include "fluss_fdw.h"

#define STEP_GROWTH		4

/* What a bucket still has to be read at an edge. */
typedef struct EdgeBucket
{
	int64		partition_id;
	int32		bucket;
	fluss_range *ranges;		/* of the query, ascending */
	int			nranges;
	int64		start;			/* [start, end) is not read yet */
	int64		end;
	int64		earliest;		/* that the server has */
	int64		rows;			/* that have arrived */
	int64		edge_time;		/* oldest commit time so far */
	bool		done;
} EdgeBucket;

/* Records of one commit time. */
typedef struct TimedRows
{
	int64		time;
	int64		rows;
} TimedRows;

struct FlussRounds
{
	FlussScanOrder order;
	bool		tail;			/* edges: from the end; else from the start */
	int64		wanted;			/* rows */
	int64		step;			/* offsets of a round and bucket */
	int64		skew_ms;
	EdgeBucket *buckets;
	int			nbuckets;
	int			current;		/* ascending: the next bucket */
	TimedRows  *times;
	int			ntimes;
	int			room;
	fluss_batch extended;		/* the one that was given last */
};

/* ----------------------------------------------------------- the buckets */

static int
compare_ranges(const void *a, const void *b)
{
	const fluss_range *x = a;
	const fluss_range *y = b;

	if (x->partition_id != y->partition_id)
		return x->partition_id < y->partition_id ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static void
group_ranges(FlussRounds *rounds, fluss_range *ranges, int nranges)
{
	qsort(ranges, nranges, sizeof(fluss_range), compare_ranges);
	rounds->buckets = palloc0((nranges + 1) * sizeof(EdgeBucket));
	for (int i = 0; i < nranges; i++)
	{
		EdgeBucket *bucket = &rounds->buckets[rounds->nbuckets];

		if (i == 0 || ranges[i].partition_id != bucket[-1].partition_id ||
			ranges[i].bucket != bucket[-1].bucket)
		{
			bucket->partition_id = ranges[i].partition_id;
			bucket->bucket = ranges[i].bucket;
			bucket->ranges = &ranges[i];
			rounds->nbuckets++;
		}
		rounds->buckets[rounds->nbuckets - 1].nranges++;
	}
}

/* One offset for each of the buckets [first, last), which are of a partition. */
static void
list_offsets(FlussScanState *state, FlussRounds *rounds,
			 fluss_offset_kind kind, int first, int last, int64 *offsets)
{
	int			n = last - first;
	int32	   *numbers = palloc(n * sizeof(int32));
	fluss_error err;

	for (int i = 0; i < n; i++)
		numbers[i] = rounds->buckets[first + i].bucket;
	fluss_error_init(&err);
	state->past.requests[FLUSS_REQUEST_LIST_OFFSETS]++;
	FLUSS_CALL(fluss_list_offsets(state->rel->conn->client, state->rel->table,
								  kind, 0, rounds->buckets[first].partition_id,
								  numbers, n, FLUSS_NEED_ALL, offsets, &err),
			   err, NULL);
}

/* Pins the ends of the buckets that have none yet. */
static void
pin_ends(FlussScanState *state, FlussRounds *rounds, int first, int last)
{
	int64	   *ends = palloc((last - first) * sizeof(int64));
	bool		pinned = true;
	fluss_error err;

	for (int i = first; i < last; i++)
		pinned = pinned && fluss_ends_get(state->ends,
										  rounds->buckets[i].partition_id,
										  rounds->buckets[i].bucket,
										  &ends[i - first]);
	if (pinned)
		return;
	list_offsets(state, rounds, FLUSS_OFFSET_LATEST, first, last, ends);
	fluss_error_init(&err);
	for (int i = first; i < last; i++)
		FLUSS_CALL(fluss_ends_pin(state->ends, rounds->buckets[i].partition_id,
								  rounds->buckets[i].bucket, ends[i - first],
								  &err),
				   err, NULL);
}

/*
 * What of the buckets there is to read.  A range that starts at 0 is the
 * whole bucket: what has expired of it is not lost.
 */
static void
find_edges(FlussScanState *state, FlussRounds *rounds, int first, int last)
{
	int64	   *earliest = palloc((last - first) * sizeof(int64));

	pin_ends(state, rounds, first, last);
	list_offsets(state, rounds, FLUSS_OFFSET_EARLIEST, first, last, earliest);
	for (int i = first; i < last; i++)
	{
		EdgeBucket *bucket = &rounds->buckets[i];
		fluss_range *ranges = bucket->ranges;
		int64		end = 0;

		(void) fluss_ends_get(state->ends, bucket->partition_id,
							  bucket->bucket, &end);
		bucket->earliest = earliest[i - first];
		bucket->start = ranges[0].start;
		if (bucket->start == 0)
			bucket->start = ranges[0].start = earliest[i - first];
		bucket->end = Min(ranges[bucket->nranges - 1].end, end);
		/* a start that lies outside is a loss: let the client report it */
		if (bucket->start > end)
			bucket->end = Max(bucket->end, bucket->start + 1);
		bucket->done = bucket->start >= bucket->end;
	}
}

FlussRounds *
FlussRoundsOpen(FlussScanState *state, FlussScanOrder order, bool tail,
				int64 wanted, fluss_range *ranges, int nranges)
{
	FlussRounds *rounds = palloc0(sizeof(*rounds));

	rounds->order = order;
	rounds->tail = tail;
	rounds->wanted = rounds->step = Max(wanted, 1);
	rounds->skew_ms = state->rel->options->timestamp_skew_ms;
	group_ranges(rounds, ranges, nranges);
	if (order == FLUSS_ORDER_ASCENDING)
		return rounds;
	for (int first = 0; first < rounds->nbuckets;)
	{
		int			last = first + 1;

		while (last < rounds->nbuckets &&
			   rounds->buckets[last].partition_id ==
			   rounds->buckets[first].partition_id)
			last++;
		find_edges(state, rounds, first, last);
		first = last;
	}
	return rounds;
}

/* ------------------------------------------------------------- by time */

static int
compare_times(const void *a, const void *b)
{
	const TimedRows *x = a;
	const TimedRows *y = b;

	return x->time > y->time ? -1 : x->time < y->time;
}

static void
note_time(FlussRounds *rounds, int64 time, int64 rows)
{
	if (rounds->ntimes == rounds->room)
	{
		rounds->room = Max(64, rounds->room * 2);
		rounds->times = rounds->times == NULL ?
			palloc(rounds->room * sizeof(TimedRows)) :
			repalloc(rounds->times, rounds->room * sizeof(TimedRows));
	}
	rounds->times[rounds->ntimes].time = time;
	rounds->times[rounds->ntimes++].rows = rows;
}

/* Commit time of the last row wanted; with fewer rows everything counts. */
static int64
wanted_time(FlussRounds *rounds)
{
	int64		rows = 0;

	qsort(rounds->times, rounds->ntimes, sizeof(TimedRows), compare_times);
	for (int i = 0; i < rounds->ntimes; i++)
	{
		rows += rounds->times[i].rows;
		if (rows >= rounds->wanted)
			return rounds->times[i].time;
	}
	return PG_INT64_MIN;
}

/*
 * Takes what a batch holds before the piece of its bucket that was asked for,
 * as far as a range of the query goes on there.
 */
static const fluss_batch *
extend(FlussRounds *rounds, EdgeBucket *bucket, const fluss_batch *batch)
{
	int64		from = batch->base_offset + batch->first_row;

	if (from != bucket->end || batch->first_row == 0)
		return batch;
	for (int i = 0; i < bucket->nranges; i++)
	{
		const fluss_range *range = &bucket->ranges[i];

		if (range->start >= from || range->end < from)
			continue;
		bucket->end = Max(range->start, batch->base_offset);
		rounds->extended = *batch;
		rounds->extended.first_row = (int32) (bucket->end -
											  batch->base_offset);
		return &rounds->extended;
	}
	return batch;
}

const fluss_batch *
FlussRoundsNote(FlussRounds *rounds, const fluss_batch *batch,
				MemoryContext context)
{
	int64		rows;

	if (rounds->order == FLUSS_ORDER_ASCENDING)
		return batch;
	for (int i = 0; i < rounds->nbuckets; i++)
	{
		EdgeBucket *bucket = &rounds->buckets[i];

		if (bucket->bucket != batch->bucket ||
			bucket->partition_id != batch->partition_id)
			continue;
		if (rounds->order == FLUSS_ORDER_TAIL_TIME)
			batch = extend(rounds, bucket, batch);
		rows = batch->end_row - batch->first_row;
		/* the oldest so far: the next round reads what lies before it */
		if (bucket->rows == 0)
			bucket->edge_time = batch->commit_timestamp_ms;
		bucket->edge_time = Min(bucket->edge_time, batch->commit_timestamp_ms);
		bucket->rows += rows;
	}
	if (rounds->order == FLUSS_ORDER_TAIL_TIME)
	{
		MemoryContext old = MemoryContextSwitchTo(context);

		note_time(rounds, batch->commit_timestamp_ms,
				  batch->end_row - batch->first_row);
		MemoryContextSwitchTo(old);
	}
	return batch;
}

/* ---------------------------------------------------------------- rounds */

static bool
has_enough(const FlussRounds *rounds, const EdgeBucket *bucket, int64 time)
{
	if (bucket->start >= bucket->end)
		return true;
	if (rounds->order != FLUSS_ORDER_TAIL_TIME)
		return bucket->rows >= rounds->wanted;
	return bucket->rows > 0 && time != PG_INT64_MIN &&
		bucket->edge_time < time - rounds->skew_ms;
}

/* Adds what the ranges of a bucket have of [start, end). */
static void
add_ranges(const EdgeBucket *bucket, int64 start, int64 end,
		   fluss_range *out, int *n)
{
	for (int i = 0; i < bucket->nranges; i++)
	{
		fluss_range range = bucket->ranges[i];

		range.start = Max(range.start, start);
		range.end = Min(range.end, end);
		if (range.start < range.end)
			out[(*n)++] = range;
	}
}

static void
add_edge(FlussRounds *rounds, EdgeBucket *bucket, fluss_range *out, int *n)
{
	int64		start = bucket->start;
	int64		end = bucket->end;

	if (end - start > rounds->step)
	{
		/* no piece without anything in it before what there is */
		if (!rounds->tail)
			end = Min(end, Max(start, bucket->earliest) + rounds->step);
		else if (end - rounds->step > bucket->earliest)
			start = end - rounds->step;
	}
	add_ranges(bucket, start, end, out, n);
	if (rounds->tail)
		bucket->end = start;
	else
		bucket->start = end;
}

/* There may be many buckets: no more than each one needs is kept. */
static fluss_range *
next_bucket(FlussRounds *rounds, int *nranges)
{
	EdgeBucket *bucket = &rounds->buckets[rounds->current];
	fluss_range *ranges;

	if (rounds->current == rounds->nbuckets)
		return NULL;
	ranges = palloc0((bucket->nranges + 1) * sizeof(fluss_range));
	add_ranges(bucket, 0, FLUSS_OFFSET_END, ranges, nranges);
	rounds->current++;
	return ranges;
}

fluss_range *
FlussRoundsNext(FlussRounds *rounds, int *nranges)
{
	fluss_range *ranges;
	int			room = 0;
	int64		time = PG_INT64_MIN;

	*nranges = 0;
	if (rounds->order == FLUSS_ORDER_ASCENDING)
		return next_bucket(rounds, nranges);
	for (int i = 0; i < rounds->nbuckets; i++)
		room += rounds->buckets[i].nranges;
	ranges = palloc0((room + 1) * sizeof(fluss_range));
	if (rounds->order == FLUSS_ORDER_TAIL_TIME)
		time = wanted_time(rounds);
	/* a piece of a bucket may lie between two of its ranges */
	while (*nranges == 0)
	{
		bool		more = false;

		for (int i = 0; i < rounds->nbuckets; i++)
		{
			EdgeBucket *bucket = &rounds->buckets[i];

			bucket->done = bucket->done || has_enough(rounds, bucket, time);
			if (bucket->done)
				continue;
			more = true;
			add_edge(rounds, bucket, ranges, nranges);
		}
		if (!more)
			break;
		if (rounds->step < FLUSS_OFFSET_END / STEP_GROWTH)
			rounds->step *= STEP_GROWTH;
	}
	return ranges;
}
