/*
 * vector_aggregate.c
 *	  Aggregates on the column views of batches: execution.
 *
 * Integers and decimals are summed in 128 bits, which is exact, and divided by
 * core's numeric code.  Floating point is summed in the order of the scan, with
 * core's overflow errors.
 */
#include "convert.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/memutils.h"
#include "utils/numeric.h"

/*
 * Below these nothing that avg() computes beside the sum can overflow:
 * (2 * MAX_COUNT * LARGE)^2 is a finite number.
 */
#define LARGE		1e140
#define MAX_COUNT	1e12

typedef struct Aggregate
{
	FlussAggregateKind kind;
	AttrNumber	attnum;
	FlussMetadata metadata;
	const FlussConverter *conv;
	int			column;			/* index into the batch's columns */
	int64		n;				/* values, without NULLs */
	int128		sum;			/* or the least or greatest value */
	Numeric		past_sum;		/* what had no room in sum, or NULL */
	double		float_sum;		/* or the least or greatest value */
	double		squares;		/* as core's avg() tracks them */
} Aggregate;

struct FlussAggregates
{
	MemoryContext context;		/* of the current rescan */
	int			n;
	Aggregate  *items;
};

FlussAggregates *
FlussAggregatesCompile(FlussRelation *rel, Index varno, List *aggrefs)
{
	FlussAggregates *result = palloc0(sizeof(*result));
	ListCell   *lc;

	result->items = palloc0((list_length(aggrefs) + 1) * sizeof(Aggregate));
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		Aggregate  *item = &result->items[result->n++];

		if (!FlussMatchAggregate(rel, varno, aggref, &item->kind,
								 &item->attnum))
			elog(ERROR, "aggregate is not one that was planned");
		if (AttributeNumberIsValid(item->attnum))
			item->metadata = rel->attrs[item->attnum - 1].metadata;
	}
	return result;
}

bool
FlussAggregatesCountOnly(const FlussAggregates *aggregates)
{
	for (int i = 0; i < aggregates->n; i++)
	{
		if (aggregates->items[i].kind != FLUSS_COUNT_ROWS)
			return false;
	}
	return true;
}

void
FlussAggregatesEdges(const FlussAggregates *aggregates, bool *first,
					 bool *last)
{
	*first = *last = false;
	for (int i = 0; i < aggregates->n; i++)
	{
		if (aggregates->items[i].kind == FLUSS_MIN)
			*first = true;
		else
			*last = true;
	}
}

static void
bind(FlussScanState *state, Aggregate *item)
{
	if (!AttributeNumberIsValid(item->attnum) ||
		item->metadata != FLUSS_META_NONE)
		return;
	if (!FlussIsVectorColumn(state->rel, item->attnum))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has changed since the query was planned",
						state->relname)));
	for (int i = 0; i < state->nfill; i++)
	{
		if (state->fill[i].attnum != item->attnum)
			continue;
		item->conv = &state->fill[i].converter;
		item->column = state->fill[i].column;
		return;
	}
	elog(ERROR, "column %d is aggregated and not fetched", item->attnum);
}

static void
begin(FlussScanState *state)
{
	FlussAggregates *aggregates = state->aggregates;

	aggregates->context = state->rescan_context;
	for (int i = 0; i < aggregates->n; i++)
	{
		Aggregate  *item = &aggregates->items[i];

		bind(state, item);
		item->n = 0;
		item->sum = 0;
		item->past_sum = NULL;
		item->float_sum = item->squares = 0;
	}
}

/* ------------------------------------------------------------------ rows */

/* The rows of a batch that count: a run of them, or those that were selected. */
typedef struct RowSet
{
	const int32 *rows;			/* NULL: first, first + 1, ... */
	int32		first;
	int32		n;
} RowSet;

#define ROW(set, i)	((set)->rows != NULL ? (set)->rows[i] : (set)->first + (i))

/* Runs the statement for each value that is not NULL. */
#define FOR_EACH_VALUE(set, view, row, statement) \
	do { \
		if ((set)->rows == NULL && (view)->validity == NULL) \
		{ \
			for (int32 row = (set)->first; row < (set)->first + (set)->n; row++) \
				statement; \
		} \
		else \
		{ \
			for (int32 row_i = 0; row_i < (set)->n; row_i++) \
			{ \
				int32		row = ROW(set, row_i); \
				if (!fluss_column_is_null(view, row)) \
					statement; \
			} \
		} \
	} while (0)

/* Values of any of these columns may be such that PostgreSQL has none. */
static bool
may_refuse(const FlussConverter *conv)
{
	switch (conv->kind)
	{
		case FLUSS_CONVERT_DATE:
		case FLUSS_CONVERT_TIME:
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return true;
		case FLUSS_CONVERT_DECIMAL:
		case FLUSS_CONVERT_INT_NUMERIC:
			return conv->limit != 0;
		default:
			return false;
	}
}

/* The errors that forming the rows would show. */
static void
check_column(FlussScanState *state, const FlussFill *fill,
			 const RowSet *set, MemoryContext scratch)
{
	const fluss_column_view *view = &state->batch->columns[fill->column];
	bool		values = may_refuse(&fill->converter);
	MemoryContext old;

	if (!values && (!fill->not_null ||
					(view->validity == NULL && !view->all_null)))
		return;
	old = MemoryContextSwitchTo(scratch);
	for (int32 i = 0; i < set->n; i++)
	{
		state->row = ROW(set, i);
		if (!fluss_column_is_null(view, state->row))
		{
			if (values)
				(void) FlussViewToDatum(&fill->converter, view, state->row);
		}
		else if (fill->not_null)
			FlussRefuseNull(fill);
		if (i % 1024 == 1023)
			MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(old);
}

/* ---------------------------------------------------------- accumulating */

/* Sums that one more value could make too large are put aside. */
static void
spill_sum(FlussAggregates *aggregates, Aggregate *item)
{
	int			scale = item->conv->kind == FLUSS_CONVERT_DECIMAL ?
		item->conv->type->scale : 0;
	MemoryContext old = MemoryContextSwitchTo(aggregates->context);
	Datum		sum = FlussNumericOf(item->sum, scale);

	if (item->past_sum != NULL)
		sum = DirectFunctionCall2(numeric_add,
								  NumericGetDatum(item->past_sum), sum);
	item->past_sum = DatumGetNumeric(sum);
	item->sum = 0;
	MemoryContextSwitchTo(old);
}

#define SUM_LOOP(type, get) \
	FOR_EACH_VALUE(set, view, row, { \
		n++; \
		sum += (type) get(view, row); \
	})

/* A batch has less than 2^31 values: 64 bits hold their sum, if they are 32. */
static void
sum_integers(Aggregate *item, const fluss_column_view *view,
			 const RowSet *set)
{
	int64		n = 0;

	if (view->type->id == FLUSS_BIGINT)
	{
		int128		sum = 0;

		SUM_LOOP(int128, fluss_column_int64);
		item->sum += sum;
	}
	else
	{
		int64		sum = 0;

		if (view->type->id == FLUSS_TINYINT)
			SUM_LOOP(int64, fluss_column_int8);
		else if (view->type->id == FLUSS_SMALLINT)
			SUM_LOOP(int64, fluss_column_int16);
		else
			SUM_LOOP(int64, fluss_column_int32);
		item->sum += sum;
	}
	item->n += n;
}

static void
sum_decimals(FlussAggregates *aggregates, Aggregate *item,
			 const fluss_column_view *view, const RowSet *set)
{
	FOR_EACH_VALUE(set, view, row, {
		int128		v = FlussColumnDecimal(view, row);

		int128		sum;

		item->n++;
		if (__builtin_add_overflow(item->sum, v, &sum))
		{
			spill_sum(aggregates, item);
			sum = v;
		}
		item->sum = sum;
	});
}

/* sum(real): in single precision, the first value as it is. */
static void
sum_float4(Aggregate *item, const fluss_column_view *view, const RowSet *set)
{
	float		sum = (float) item->float_sum;
	int64		n = item->n;

	FOR_EACH_VALUE(set, view, row, {
		float		v = fluss_column_float4(view, row);

		sum = n++ == 0 ? v : float4_pl(sum, v);
	});
	item->float_sum = sum;
	item->n = n;
}

static void
sum_float8(Aggregate *item, const fluss_column_view *view, const RowSet *set)
{
	double		sum = item->float_sum;
	int64		n = item->n;

	FOR_EACH_VALUE(set, view, row, {
		double		v = fluss_column_float8(view, row);

		sum = n++ == 0 ? v : float8_pl(sum, v);
	});
	item->float_sum = sum;
	item->n = n;
}

/*
 * One step of core's float8_accum: an average is an error where the sum of
 * squares overflows, and that sum is computed only when it could.
 */
static inline void
avg_step(Aggregate *item, double v)
{
	double		before = item->float_sum;
	double		n = (double) ++item->n;
	double		distance;

	item->float_sum += v;
	if (likely(fabs(v) < LARGE && n < MAX_COUNT &&
			   fabs(item->float_sum) < LARGE * MAX_COUNT))
		return;
	if (n == 1)
		return;
	distance = v * n - item->float_sum;
	item->squares += distance * distance / (n * (n - 1));
	if (isinf(item->float_sum) || isinf(item->squares))
	{
		if (!isinf(before) && !isinf(v))
			float_overflow_error();
		item->squares = get_float8_nan();
	}
}

static void
avg_floats(Aggregate *item, const fluss_column_view *view, const RowSet *set)
{
	if (view->type->id == FLUSS_FLOAT)
		FOR_EACH_VALUE(set, view, row,
					   avg_step(item, fluss_column_float4(view, row)));
	else
		FOR_EACH_VALUE(set, view, row,
					   avg_step(item, fluss_column_float8(view, row)));
}

/* The least and greatest values that are no NULL, and how many there are. */
#define EXTREME_LOOP(get) \
	if (item->kind == FLUSS_MIN) \
		FOR_EACH_VALUE(set, view, row, { \
			int64		v = get(view, row); \
			n++; \
			best = v < best ? v : best; \
		}); \
	else \
		FOR_EACH_VALUE(set, view, row, { \
			int64		v = get(view, row); \
			n++; \
			best = v > best ? v : best; \
		});

static void
extreme_integer(Aggregate *item, const fluss_column_view *view,
				const RowSet *set)
{
	int64		best = item->kind == FLUSS_MIN ? PG_INT64_MAX : PG_INT64_MIN;
	int64		n = 0;

	switch (view->type->id)
	{
		case FLUSS_TINYINT:
			EXTREME_LOOP(fluss_column_int8);
			break;
		case FLUSS_SMALLINT:
			EXTREME_LOOP(fluss_column_int16);
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			EXTREME_LOOP(fluss_column_int32);
			break;
		case FLUSS_TIME:
			if (fluss_type_digits(view->type) <= 3)
			{
				EXTREME_LOOP(fluss_column_int32);
				break;
			}
			/* FALLTHROUGH */
		default:
			EXTREME_LOOP(fluss_column_int64);
			break;
	}
	if (n > 0 && (item->n == 0 || (item->kind == FLUSS_MIN ?
								   best < item->sum : best > item->sum)))
		item->sum = best;
	item->n += n;
}

static void
extreme_decimal(Aggregate *item, const fluss_column_view *view,
				const RowSet *set)
{
	FOR_EACH_VALUE(set, view, row, {
		int128		v = FlussColumnDecimal(view, row);

		if (item->n++ == 0 || (item->kind == FLUSS_MIN ?
							   v < item->sum : v > item->sum))
			item->sum = v;
	});
}

/* Of equal values, as the two zeros are, core keeps the last one. */
static inline void
extreme_step(Aggregate *item, double v)
{
	if (item->n++ == 0 || (item->kind == FLUSS_MIN ?
						   !float8_lt(item->float_sum, v) :
						   !float8_gt(item->float_sum, v)))
		item->float_sum = v;
}

static void
extreme_float(Aggregate *item, const fluss_column_view *view,
			  const RowSet *set)
{
	if (view->type->id == FLUSS_FLOAT)
		FOR_EACH_VALUE(set, view, row,
					   extreme_step(item, fluss_column_float4(view, row)));
	else
		FOR_EACH_VALUE(set, view, row,
					   extreme_step(item, fluss_column_float8(view, row)));
}

static void
add_metadata(Aggregate *item, const fluss_batch *batch, const RowSet *set)
{
	int128		v = batch->commit_timestamp_ms;

	if (item->metadata == FLUSS_META_LOG_OFFSET)
		v = batch->base_offset + (item->kind == FLUSS_MIN ? ROW(set, 0) :
								  ROW(set, set->n - 1));
	if (item->n == 0 || (item->kind == FLUSS_MIN ?
						 v < item->sum : v > item->sum))
		item->sum = v;
	item->n += set->n;
}

static bool
is_float(const FlussConverter *conv)
{
	return conv->kind == FLUSS_CONVERT_FLOAT4 ||
		conv->kind == FLUSS_CONVERT_FLOAT8;
}

static void
add_extreme(Aggregate *item, const fluss_column_view *view, const RowSet *set)
{
	if (is_float(item->conv))
		extreme_float(item, view, set);
	else if (item->conv->kind == FLUSS_CONVERT_DECIMAL)
		extreme_decimal(item, view, set);
	else
		extreme_integer(item, view, set);
}

static void
add_sum(FlussAggregates *aggregates, Aggregate *item,
		const fluss_column_view *view, const RowSet *set)
{
	if (is_float(item->conv))
	{
		if (item->kind == FLUSS_AVG)
			avg_floats(item, view, set);
		else if (item->conv->kind == FLUSS_CONVERT_FLOAT4)
			sum_float4(item, view, set);
		else
			sum_float8(item, view, set);
	}
	else if (item->conv->kind == FLUSS_CONVERT_DECIMAL)
		sum_decimals(aggregates, item, view, set);
	else
		sum_integers(item, view, set);
}

static void
add_batch(FlussAggregates *aggregates, const fluss_batch *batch,
		  const RowSet *set)
{
	for (int i = 0; i < aggregates->n; i++)
	{
		Aggregate  *item = &aggregates->items[i];
		const fluss_column_view *view;

		if (item->kind == FLUSS_COUNT_ROWS)
		{
			item->n += set->n;
			continue;
		}
		if (item->metadata != FLUSS_META_NONE)
		{
			add_metadata(item, batch, set);
			continue;
		}
		view = &batch->columns[item->column];
		if (view->all_null)
			continue;
		if (item->kind == FLUSS_COUNT)
			FOR_EACH_VALUE(set, view, row, item->n++);
		else if (item->kind == FLUSS_MIN || item->kind == FLUSS_MAX)
			add_extreme(item, view, set);
		else
			add_sum(aggregates, item, view, set);
	}
}

/* --------------------------------------------------------------- results */

static Datum
extreme_result(const Aggregate *item)
{
	fluss_column_view view = {.type = item->conv->type, .length = 1};
	int64		v = (int64) item->sum;

	/* as if it were a column of one value */
	if (item->conv->kind == FLUSS_CONVERT_DECIMAL)
		return FlussNumericOf(item->sum, item->conv->type->scale);
	if (item->conv->kind == FLUSS_CONVERT_FLOAT4)
		return Float4GetDatum((float) item->float_sum);
	if (item->conv->kind == FLUSS_CONVERT_FLOAT8)
		return Float8GetDatum(item->float_sum);
#ifdef WORDS_BIGENDIAN
	v = (int64) pg_bswap64(v);
#endif
	view.data = (const uint8_t *) &v;
	return FlussViewToDatum(item->conv, &view, 0);
}

static Datum
numeric_total(const Aggregate *item)
{
	Datum		sum = FlussNumericOf(item->sum,
									 item->conv->kind == FLUSS_CONVERT_DECIMAL ?
									 item->conv->type->scale : 0);

	if (item->past_sum != NULL)
		sum = DirectFunctionCall2(numeric_add,
								  NumericGetDatum(item->past_sum), sum);
	return sum;
}

static Datum
sum_result(const Aggregate *item)
{
	switch (item->conv->kind)
	{
		case FLUSS_CONVERT_FLOAT4:
			return Float4GetDatum((float) item->float_sum);
		case FLUSS_CONVERT_FLOAT8:
			return Float8GetDatum(item->float_sum);
		case FLUSS_CONVERT_INT2:
		case FLUSS_CONVERT_INT4:
			return Int64GetDatum((int64) item->sum);
		default:
			return numeric_total(item);
	}
}

static Datum
avg_result(const Aggregate *item)
{
	if (is_float(item->conv))
		return Float8GetDatum(item->float_sum / (double) item->n);
	return DirectFunctionCall2(numeric_div, numeric_total(item),
							   NumericGetDatum(int64_to_numeric(item->n)));
}

static Datum
result_of(const Aggregate *item)
{
	if (item->metadata == FLUSS_META_LOG_OFFSET)
		return Int64GetDatum((int64) item->sum);
	if (item->metadata == FLUSS_META_COMMIT_TIMESTAMP)
		return Int64GetDatum(((int64) item->sum - FLUSS_EPOCH_MILLIS) * 1000);
	switch (item->kind)
	{
		case FLUSS_COUNT_ROWS:
		case FLUSS_COUNT:
			return Int64GetDatum(item->n);
		case FLUSS_SUM:
			return sum_result(item);
		case FLUSS_AVG:
			return avg_result(item);
		default:
			return extreme_result(item);
	}
}

static void
add_batches(ForeignScanState *node, FlussScanState *state)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "fluss aggregate",
												  ALLOCSET_DEFAULT_SIZES);

	while (!state->done && FlussLogNextBatch(node, state))
	{
		RowSet		set = {
			state->vector != NULL ? state->selected : NULL,
			state->batch->first_row,
			state->vector != NULL ? state->nselected :
			state->batch->end_row - state->batch->first_row
		};

		CHECK_FOR_INTERRUPTS();
		if (set.n == 0)
			continue;
		for (int i = 0; i < state->nfill; i++)
		{
			if (state->fill[i].metadata == FLUSS_META_NONE)
				check_column(state, &state->fill[i], &set, scratch);
		}
		add_batch(state->aggregates, state->batch, &set);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
}

/* Of a primary key table only rows are counted. */
static void
add_counted(FlussScanState *state)
{
	int64		rows = FlussStateScanCount(state);

	for (int i = 0; i < state->aggregates->n; i++)
		state->aggregates->items[i].n = rows;
}

/* Reads all there is; the context of the caller is per tuple. */
void
FlussAggregatesRun(ForeignScanState *node, FlussScanState *state,
				   TupleTableSlot *slot)
{
	FlussAggregates *aggregates = state->aggregates;

	begin(state);
	if (FlussIsStateScan(state->kind))
		add_counted(state);
	else
		add_batches(node, state);

	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	for (int i = 0; i < aggregates->n; i++)
	{
		const Aggregate *item = &aggregates->items[i];

		if (item->n == 0 && item->kind != FLUSS_COUNT &&
			item->kind != FLUSS_COUNT_ROWS)
			continue;
		slot->tts_isnull[i] = false;
		slot->tts_values[i] = result_of(item);
	}
}
