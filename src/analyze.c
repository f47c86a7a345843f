/*
 * analyze.c
 *	  ANALYZE: a sample of a table's rows.
 *
 * Of a log, or a changelog, slices at random offsets are read, spread evenly
 * over all buckets and partitions; a small one is read whole.  Rows of a slice
 * came in together, so the sample is random by slices, not by rows.
 *
 * Of a primary key table buckets are read as by a query, or when they are large,
 * only the first rows of each by limit scan.  Which keys go to a bucket is as
 * good as random, which ones come first in it is not: the sample of a large
 * table has the low keys of every bucket.
 *
 * Columns that cannot be read are taken to be NULL.  Values that are too wide
 * for statistics are cut; beyond max_buffered_bytes the sample gets smaller,
 * and stays random.
 */
#include "fluss_fdw.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "mb/pg_wchar.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* A table of so many times the rows wanted is read whole. */
#define WHOLE_FACTOR	10
/* Slices of a larger log. */
#define MAX_SLICES		300
/* What one fetch for a slice may bring, besides at least a batch. */
#define SLICE_BYTES		(64 * 1024)
/* Buckets of primary key tables that are looked at. */
#define MAX_STATE_BUCKETS 256
/* Statistics leave out values wider than 1 kB. */
#define MAX_SAMPLE_WIDTH 2048
/* For totalpages: a guess, nothing depends on it. */
#define ROW_BYTES		64

/* A sample, filled as rows arrive. */
typedef struct Sample
{
	HeapTuple  *rows;
	int64	   *arrivals;		/* number of each row */
	int			n;
	int			capacity;
	int64		seen;
	int64		bytes;
	TupleTableSlot *slot;
	MemoryContext row_context;
} Sample;

/* --------------------------------------------------------------- the sample */

static double
random_fraction(void)
{
	return pg_prng_double(&pg_global_prng_state);
}

static int64
random_below(int64 n)
{
	return Min((int64) (random_fraction() * n), n - 1);
}

static void
remove_row(Sample *sample, int i)
{
	sample->bytes -= sample->rows[i]->t_len;
	heap_freetuple(sample->rows[i]);
}

/* A random half goes, and the sample is not filled up again. */
static void
shrink(Sample *sample)
{
	int			keep = Max(sample->n / 2, 1);

	while (sample->n > keep)
	{
		int			i = random_below(sample->n);

		remove_row(sample, i);
		sample->n--;
		sample->rows[i] = sample->rows[sample->n];
		sample->arrivals[i] = sample->arrivals[sample->n];
	}
	sample->capacity = keep;
}

/* A wide value only has to stay wide. */
static Datum
cut_value(Form_pg_attribute attr, Datum value)
{
	struct varlena *data;
	int			len;
	struct varlena *cut;

	if (attr->atttypid != TEXTOID && attr->atttypid != VARCHAROID &&
		attr->atttypid != BYTEAOID)
		return value;
	data = (struct varlena *) DatumGetPointer(value);
	if (VARSIZE_ANY_EXHDR(data) <= MAX_SAMPLE_WIDTH)
		return value;
	len = attr->atttypid == BYTEAOID ? MAX_SAMPLE_WIDTH :
		pg_mbcliplen(VARDATA_ANY(data), MAX_SAMPLE_WIDTH, MAX_SAMPLE_WIDTH);
	cut = palloc(VARHDRSZ + len);
	SET_VARSIZE(cut, VARHDRSZ + len);
	memcpy(VARDATA(cut), VARDATA_ANY(data), len);
	return PointerGetDatum(cut);
}

static HeapTuple
form_row(Sample *sample, MemoryContext context)
{
	TupleTableSlot *slot = sample->slot;
	TupleDesc	desc = slot->tts_tupleDescriptor;
	HeapTuple	row;
	MemoryContext old;

	for (int i = 0; i < desc->natts; i++)
	{
		if (!slot->tts_isnull[i])
			slot->tts_values[i] = cut_value(TupleDescAttr(desc, i),
											slot->tts_values[i]);
	}
	old = MemoryContextSwitchTo(context);
	row = heap_form_tuple(desc, slot->tts_values, slot->tts_isnull);
	MemoryContextSwitchTo(old);
	return row;
}

/* Each row that has arrived is as likely to be in the sample as any other. */
static void
take_row(Sample *sample, MemoryContext context)
{
	int64		place = sample->n;

	sample->seen++;
	if (sample->n >= sample->capacity)
	{
		place = random_below(sample->seen);
		if (place >= sample->capacity)
			return;
		remove_row(sample, place);
	}
	else
		sample->n++;
	sample->rows[place] = form_row(sample, context);
	sample->arrivals[place] = sample->seen;
	sample->bytes += sample->rows[place]->t_len;
	if (sample->bytes > fluss_max_buffered_bytes() && sample->n > 1)
		shrink(sample);
}

typedef struct Arrival
{
	int64		number;
	HeapTuple	row;
} Arrival;

static int
compare_arrivals(const void *a, const void *b)
{
	int64		x = ((const Arrival *) a)->number;
	int64		y = ((const Arrival *) b)->number;

	return x < y ? -1 : x > y;
}

/* Correlations are told by the order of the rows. */
static void
sort_rows(Sample *sample)
{
	Arrival    *arrivals = palloc(Max(sample->n, 1) * sizeof(*arrivals));

	for (int i = 0; i < sample->n; i++)
	{
		arrivals[i].number = sample->arrivals[i];
		arrivals[i].row = sample->rows[i];
	}
	qsort(arrivals, sample->n, sizeof(*arrivals), compare_arrivals);
	for (int i = 0; i < sample->n; i++)
		sample->rows[i] = arrivals[i].row;
	pfree(arrivals);
}

/* ------------------------------------------------------------------ the scan */

/* All attributes that can be read. */
static List *
readable_attributes(FlussRelation *rel)
{
	List	   *result = NIL;

	for (int i = 0; i < rel->natts; i++)
	{
		FlussAttribute *attr = &rel->attrs[i];

		if (attr->metadata != FLUSS_META_NONE ||
			(attr->remote >= 0 &&
			 FlussTypeAccepts(&rel->table->schema->columns[attr->remote].type,
							  attr->type)))
			result = lappend_int(result, i + 1);
	}
	return result;
}

/* A scan of the table with all its places, of which nothing is read yet. */
static FlussScanState *
open_table(Relation relation, bool columns)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "fluss analyze",
												  ALLOCSET_DEFAULT_SIZES);
	FlussScanState *state = MemoryContextAllocZero(context, sizeof(*state));
	fluss_partitions **partitions;
	fluss_host	host = FlussHost(context);
	fluss_error err;
	MemoryContext old = MemoryContextSwitchTo(context);

	state->context = context;
	state->rescan_context = AllocSetContextCreate(context, "fluss rescan",
												  ALLOCSET_DEFAULT_SIZES);
	state->rel = FlussRelationOpen(RelationGetRelid(relation),
								   relation->rd_rel->relowner, context, NULL);
	state->relname = state->rel->name;
	/* what expires meanwhile is not missed */
	state->rel->options->on_data_loss = FLUSS_ON_LOSS_IGNORE;
	state->kind = FlussReadsState(state->rel) ? FLUSS_SCAN_LIMIT :
		FlussLogKind(state->rel);
	fluss_error_init(&err);
	partitions = palloc0(sizeof(*partitions));
	FlussCloseOnReset(context, FlussReleasePartitions, (void **) partitions);
	if (state->rel->table->npartition_key > 0)
		FLUSS_CALL(fluss_partitions_open(state->rel->conn->client,
										 state->rel->table, 0, partitions,
										 &err), err, state->relname);
	FlussPlacesInit(&state->places, state->rel, *partitions,
					state->rel->table->nbuckets);
	FlussCloseOnReset(context, FlussCloseEnds, (void **) &state->ends);
	FLUSS_CALL(fluss_ends_open(&host, &state->ends, &err), err,
			   state->relname);
	if (columns)
	{
		state->plan.attnums = readable_attributes(state->rel);
		FlussBindColumns(state);
		for (int i = 0; i < state->nfill; i++)
			state->fill[i].not_null = false;
	}
	MemoryContextSwitchTo(old);
	return state;
}

/* Offsets that each place holds, or its count of rows; high -1: not known. */
static FlussSpan *
ask_spans(FlussScanState *state)
{
	int			n = state->places.n;
	FlussSpan  *spans = palloc((n + 1) * sizeof(*spans));
	fluss_bucket_ref *refs = palloc((n + 1) * sizeof(*refs));
	int64	   *low = palloc0((n + 1) * sizeof(int64));
	int64	   *high = palloc((n + 1) * sizeof(int64));
	fluss_client *client = state->rel->conn->client;
	fluss_error err;

	for (int i = 0; i < n; i++)
		refs[i] = FlussPlaceRef(&state->places, i);
	fluss_error_init(&err);
	if (n == 0)
		return spans;
	if (FlussIsLogScan(state->kind))
		FLUSS_CALL(fluss_bucket_spans(client, state->rel->table, refs, n, low,
									  high, &err), err, state->relname);
	else
		FLUSS_CALL(fluss_bucket_row_counts(client, state->rel->table, refs, n,
										   high, &err), err, state->relname);
	for (int i = 0; i < n; i++)
	{
		spans[i].low = Max(low[i], 0);
		spans[i].high = high[i];
	}
	return spans;
}

static double
total_rows(const FlussScanState *state, const FlussSpan *spans)
{
	double		rows = 0;

	for (int i = 0; i < state->places.n; i++)
		rows += Max(spans[i].high - spans[i].low, 0);
	return rows;
}

/* ----------------------------------------------------------------- log tables */

/* Adds records to the intervals, counted through all places. */
static void
add_slice(FlussScanState *state, const FlussSpan *spans, double first,
		  double n)
{
	for (int i = 0; i < state->places.n && n > 0; i++)
	{
		int64		here = Max(spans[i].high - spans[i].low, 0);
		FlussIntervals *set = &state->intervals[i];
		FlussInterval *item;

		if (first >= here)
		{
			first -= here;
			continue;
		}
		if (set->items == NULL)
			set->items = palloc((MAX_SLICES + 1) * sizeof(FlussInterval));
		item = &set->items[set->n++];
		item->from_ms = 0;
		item->until_ms = FLUSS_TIME_END;
		item->start = spans[i].low + (int64) first;
		item->end = Min(spans[i].high, item->start + (int64) ceil(n));
		n -= item->end - item->start;
		first = 0;
	}
}

/* Slices of the log at random, one in each part of it. */
static void
choose_slices(FlussScanState *state, const FlussSpan *spans, double total,
			  int wanted)
{
	int			nslices = Min(MAX_SLICES, wanted);
	double		part = total / nslices;
	double		length = ceil((double) wanted / nslices);

	state->intervals = palloc0((state->places.n + 1) *
							   sizeof(*state->intervals));
	if (total <= (double) wanted * WHOLE_FACTOR)
	{
		for (int i = 0; i < state->places.n; i++)
		{
			FlussInterval *item = palloc0(sizeof(*item));

			if (spans[i].high <= spans[i].low)
				continue;
			item->start = spans[i].low;
			item->end = spans[i].high;
			item->until_ms = FLUSS_TIME_END;
			state->intervals[i].items = item;
			state->intervals[i].n = 1;
		}
		return;
	}
	for (int i = 0; i < nslices; i++)
		add_slice(state, spans,
				  floor(i * part + random_fraction() * (part - length)),
				  length);
	state->rel->options->fetch_max_bytes_for_bucket =
		Min(state->rel->options->fetch_max_bytes_for_bucket, SLICE_BYTES);
}

static double
sample_log(FlussScanState *state, Sample *sample, int wanted)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	FlussSpan  *spans = ask_spans(state);
	double		total = total_rows(state, spans);

	if (total > 0)
	{
		choose_slices(state, spans, total, wanted);
		FlussLogReadIntervals(state);
		MemoryContextSwitchTo(sample->row_context);
		while (FlussLogNext(NULL, state, sample->slot))
		{
			take_row(sample, caller);
			MemoryContextReset(sample->row_context);
			CHECK_FOR_INTERRUPTS();
		}
	}
	MemoryContextSwitchTo(old);
	return total;
}

/* --------------------------------------------------------- primary key tables */

/* Reads one bucket, or its first rows. */
static int64
read_bucket(FlussScanState *state, Sample *sample, int place, int64 limit,
			MemoryContext caller)
{
	int64		before = sample->seen;
	MemoryContext old;

	FlussStateScanOpen(state, place, limit);
	old = MemoryContextSwitchTo(sample->row_context);
	while (FlussStateScanNext(state, sample->slot))
	{
		take_row(sample, caller);
		MemoryContextReset(sample->row_context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->rescan_context);
	return sample->seen - before;
}

/* Rows to read of a bucket; 0: all of it. */
static int64
bucket_limit(const FlussScanState *state, const FlussSpan *span, double total,
			 int64 wanted)
{
	int64		most = state->rel->options->limit_scan_max_rows;
	double		share;

	/* not counted: it may be large, or not */
	if (span->high < 0)
		return Min(most, Max(wanted / Max(state->places.n, 1), 1));
	if (total <= (double) wanted && span->high < most)
		return 0;
	share = ceil(span->high / Max(total, 1) * wanted);
	return Min(most, Max((int64) share, 1));
}

static double
sample_state(FlussScanState *state, Sample *sample, int wanted)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	FlussSpan  *spans = ask_spans(state);
	double		total = total_rows(state, spans);
	double		uncounted = 0;
	int			chosen = Min(state->places.n, MAX_STATE_BUCKETS);
	int64		enough = (int64) wanted * WHOLE_FACTOR;

	for (int i = 0; i < chosen; i++)
	{
		/* one in each part of the places */
		int			first = (int64) i * state->places.n / chosen;
		int			next = (int64) (i + 1) * state->places.n / chosen;
		int			place = first + random_below(next - first);
		int64		limit = bucket_limit(state, &spans[place], total, enough);
		int64		rows = read_bucket(state, sample, place, limit, caller);

		if (spans[place].high < 0)
			uncounted += rows;
	}
	if (chosen > 0)
		total += uncounted * state->places.n / chosen;
	MemoryContextSwitchTo(old);
	return total;
}

/* ------------------------------------------------------------------ callbacks */

static int
acquire_sample_rows(Relation relation, int elevel, HeapTuple *rows,
					int targrows, double *totalrows, double *totaldeadrows)
{
	FlussScanState *state = open_table(relation, true);
	Sample		sample = {.rows = rows, .capacity = targrows};

	sample.arrivals = palloc(targrows * sizeof(int64));
	sample.slot = MakeSingleTupleTableSlot(RelationGetDescr(relation),
										   &TTSOpsVirtual);
	memset(sample.slot->tts_isnull, true,
		   sample.slot->tts_tupleDescriptor->natts * sizeof(bool));
	sample.row_context = AllocSetContextCreate(state->context, "fluss row",
											   ALLOCSET_DEFAULT_SIZES);
	*totaldeadrows = 0;
	*totalrows = FlussIsLogScan(state->kind) ?
		sample_log(state, &sample, targrows) :
		sample_state(state, &sample, targrows);
	*totalrows = Max(*totalrows, sample.n);
	sort_rows(&sample);

	ereport(elevel,
			(errmsg("\"%s\": table contains %.0f rows; " INT64_FORMAT
					" rows were read, %d rows are in the sample",
					state->relname, *totalrows, sample.seen, sample.n)));
	ExecDropSingleTupleTableSlot(sample.slot);
	pfree(sample.arrivals);
	MemoryContextDelete(state->context);
	return sample.n;
}

bool
flussAnalyzeForeignTable(Relation relation, AcquireSampleRowsFunc *func,
						 BlockNumber *totalpages)
{
	FlussScanState *state = open_table(relation, false);
	double		pages = ceil(total_rows(state, ask_spans(state)) * ROW_BYTES /
							 BLCKSZ);

	*func = acquire_sample_rows;
	*totalpages = (BlockNumber) Min(Max(pages, 1), (double) MaxBlockNumber);
	MemoryContextDelete(state->context);
	return true;
}
