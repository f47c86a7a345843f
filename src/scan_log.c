/*
 * scan_log.c
 *	  Scans of a log table, or of the changelog of a primary key table:
 *	  intervals to fetch ranges, batches to rows.
 */
#include "convert.h"

#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

static void
close_log(void *scan)
{
	fluss_scan_close(scan);
}

/* Where a range with an upper bound in time may stop: see timestamp_skew. */
static int64
stop_ms(const FlussScanState *state, const FlussInterval *item)
{
	int64		skew = state->rel->options->timestamp_skew_ms;

	return item->until_ms < FLUSS_TIME_END - skew ? item->until_ms + skew : 0;
}

fluss_range *
FlussLogRanges(FlussScanState *state, int *nranges)
{
	const FlussPlaces *places = &state->places;
	int			n = 0;
	fluss_range *ranges;

	for (int i = 0; i < places->n; i++)
		n += state->intervals[i].n;
	ranges = MemoryContextAllocHuge(CurrentMemoryContext,
									(n + 1) * sizeof(fluss_range));
	*nranges = 0;
	for (int i = 0; i < places->n; i++)
	{
		FlussIntervals *set = &state->intervals[i];
		fluss_bucket_ref place = FlussPlaceRef(places, i);

		for (int j = 0; j < set->n; j++)
		{
			fluss_range *range = &ranges[(*nranges)++];

			range->partition_id = place.partition_id;
			range->bucket = place.bucket;
			range->start = set->items[j].start;
			range->end = set->items[j].end;
			range->from_ms = set->items[j].from_ms;
			range->stop_ms = stop_ms(state, &set->items[j]);
		}
	}
	return ranges;
}

void
FlussLogOpen(FlussScanState *state, const fluss_range *ranges, int nranges)
{
	FlussRelation *rel = state->rel;
	fluss_scan_options options = {0};
	fluss_host	host = FlussHost(state->rescan_context);
	fluss_error err;

	if (state->log != NULL)
	{
		FlussAddCounters(&state->past, fluss_scan_counters(state->log));
		fluss_scan_close(state->log);
		state->log = NULL;
	}
	options.columns = state->columns;
	options.ncolumns = state->ncolumns;
	options.fetch_max_bytes = rel->options->fetch_max_bytes;
	options.fetch_max_bytes_for_bucket = rel->options->fetch_max_bytes_for_bucket;
	options.fetch_inflight = rel->options->fetch_inflight;
	options.max_buffered_bytes = fluss_max_buffered_bytes();
	options.check_crc = rel->options->check_crc;
	/* pieces are small already */
	if (state->rounds == NULL || state->plan.order == FLUSS_ORDER_ASCENDING)
		options.row_limit = state->row_limit;
	fluss_error_init(&err);
	FLUSS_CALL(fluss_scan_open(rel->conn->client, &host, rel->table, ranges,
							   nranges, &options, state->ends, &state->log,
							   &err),
			   err, state->relname);
}

static void
open_rounds(FlussScanState *state, bool tail)
{
	FlussScanOrder order = state->plan.order;
	int64		wanted = order == FLUSS_ORDER_EDGES ? 1 : state->row_limit;
	int			nranges;
	fluss_range *ranges = FlussLogRanges(state, &nranges);

	state->rounds = FlussRoundsOpen(state, order, tail, wanted, ranges,
									nranges);
}

/* Goes on with the next piece; false when there is none. */
static bool
next_round(FlussScanState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);
	fluss_range *ranges;
	int			nranges;

	ranges = FlussRoundsNext(state->rounds, &nranges);
	if (nranges == 0 && state->plan.order == FLUSS_ORDER_EDGES &&
		!state->heads_done)
	{
		bool		first;
		bool		last;

		state->heads_done = true;
		FlussAggregatesEdges(state->aggregates, &first, &last);
		if (first && last)
		{
			open_rounds(state, true);
			ranges = FlussRoundsNext(state->rounds, &nranges);
		}
	}
	if (nranges > 0)
		FlussLogOpen(state, ranges, nranges);
	MemoryContextSwitchTo(old);
	return nranges > 0;
}

/* Which pieces there are to read, and the first of them. */
static bool
start_rounds(FlussScanState *state)
{
	bool		first = false;
	bool		last = true;

	if (state->plan.order == FLUSS_ORDER_EDGES)
		FlussAggregatesEdges(state->aggregates, &first, &last);
	state->heads_done = false;
	open_rounds(state, !first);
	return next_round(state);
}

/* A tail of all rows is the whole. */
static bool
is_read_in_rounds(const FlussScanState *state)
{
	switch (state->plan.order)
	{
		case FLUSS_ORDER_NONE:
			return false;
		case FLUSS_ORDER_TAIL:
		case FLUSS_ORDER_TAIL_TIME:
			return state->row_limit > 0;
		default:
			return true;
	}
}

void
FlussLogReadIntervals(FlussScanState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);
	fluss_range *ranges;
	int			nranges;

	FlussCloseOnReset(state->rescan_context, close_log, (void **) &state->log);
	ranges = FlussLogRanges(state, &nranges);
	FlussLogOpen(state, ranges, nranges);
	MemoryContextSwitchTo(old);
}

void
FlussLogStart(ForeignScanState *node, FlussScanState *state)
{
	MemoryContext old;

	state->rounds = NULL;
	if (state->parallel != NULL)
	{
		FlussCloseOnReset(state->rescan_context, close_log,
						  (void **) &state->log);
		FlussParallelStart(state);
		return;
	}
	if (!FlussEvaluateRanges(node, state))
	{
		state->done = true;
		return;
	}
	FlussEvaluateLimit(node, state);

	if (!is_read_in_rounds(state))
	{
		FlussLogReadIntervals(state);
		return;
	}
	old = MemoryContextSwitchTo(state->rescan_context);
	FlussCloseOnReset(state->rescan_context, close_log, (void **) &state->log);
	if (!start_rounds(state))
		state->done = true;
	MemoryContextSwitchTo(old);
}

/* What can be wrong with the records that a range asks for. */
typedef enum LossKind
{
	LOSS_EXPIRED,
	LOSS_PAST_END,
	LOSS_DROPPED,
	LOSS_NKINDS
} LossKind;

static LossKind
loss_kind(const fluss_loss *loss)
{
	if (loss->dropped)
		return LOSS_DROPPED;
	return loss->start > loss->end ? LOSS_PAST_END : LOSS_EXPIRED;
}

static int
loss_place(const FlussScanState *state, const fluss_loss *loss)
{
	const fluss_partitions *partitions = state->places.partitions;
	int			place = loss->bucket;

	if (partitions != NULL)
		place += state->places.nbuckets *
			(int) (fluss_partition_by_id(partitions, loss->partition_id) -
				   partitions->items);
	return place;
}

/*
 * What a joined row asks for is only known to the scan in some plans, so that
 * it tells of no loss: whether the scan's own clauses do, and by which bound.
 */
static bool
is_own_loss(const FlussScanState *state, fluss_loss *loss)
{
	if (state->plan.joined == NIL || loss->dropped)
		return true;
	if (state->own_starts == NULL)
		return false;
	loss->start = state->own_starts[loss_place(state, loss)];
	return (loss->end >= 0 && loss->start > loss->end) ||
		(loss->start > 0 && loss->start < loss->earliest);
}

/*
 * One report for each bucket and kind, however many ranges it hit; one for a
 * partition that is gone.
 */
static bool
is_new_loss(FlussScanState *state, const fluss_loss *loss)
{
	LossKind	kind = loss_kind(loss);
	int			place = loss_place(state, loss);
	int			member;
	MemoryContext old;

	if (kind == LOSS_DROPPED)
		place -= loss->bucket;
	member = LOSS_NKINDS * place + kind;
	if (bms_is_member(member, state->losses))
		return false;
	if (state->parallel != NULL && !FlussParallelIsNewLoss(state, loss))
		return false;
	old = MemoryContextSwitchTo(state->context);
	state->losses = bms_add_member(state->losses, member);
	MemoryContextSwitchTo(old);
	return true;
}

/* "bucket 0 of foreign table "t"", with its partition if there is one. */
static char *
place_name(FlussScanState *state, const fluss_loss *loss)
{
	const fluss_partitions *partitions = state->places.partitions;

	if (partitions == NULL)
		return psprintf("bucket %d of foreign table \"%s\"", loss->bucket,
						state->relname);
	return psprintf("bucket %d of partition \"%s\" of foreign table \"%s\"",
					loss->bucket,
					fluss_partition_by_id(partitions,
										  loss->partition_id)->name,
					state->relname);
}

static void
describe_loss(FlussScanState *state, const fluss_loss *loss)
{
	char	   *place = place_name(state, loss);

	switch (loss_kind(loss))
	{
		case LOSS_DROPPED:
			errmsg("partition \"%s\" of foreign table \"%s\" was dropped before all of it was read",
				   fluss_partition_by_id(state->places.partitions,
										 loss->partition_id)->name,
				   state->relname);
			break;
		case LOSS_PAST_END:
			errmsg("offset " INT64_FORMAT " of %s is past its end, offset " INT64_FORMAT,
				   loss->start, place, loss->end);
			errdetail("The table may have been made again.");
			break;
		default:
			errmsg("offset " INT64_FORMAT " of %s is gone, the earliest is offset " INT64_FORMAT,
				   loss->start, place, loss->earliest);
			errdetail("Records before it have expired, or the table was made again.");
			break;
	}
}

/*
 * What a slice of a parallel scan lacks was there when the scan began: its
 * leader has reported the rest.
 */
static void
check_slice_loss(FlussScanState *state, const fluss_loss *loss)
{
	if (loss->dropped)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 describe_loss(state, loss)));
}

void
FlussReportLoss(FlussScanState *state, const fluss_loss *reported)
{
	FlussOnDataLoss action = state->rel->options->on_data_loss;
	int			level = action == FLUSS_ON_LOSS_ERROR ? ERROR : WARNING;
	fluss_loss	own = *reported;
	const fluss_loss *loss = &own;

	if (state->log != NULL && state->parallel != NULL)
		check_slice_loss(state, loss);
	if (action == FLUSS_ON_LOSS_IGNORE || !is_own_loss(state, &own) ||
		!is_new_loss(state, loss))
		return;
	ereport(level,
			(errcode(level == ERROR ? ERRCODE_INVALID_PARAMETER_VALUE :
					 ERRCODE_WARNING),
			 describe_loss(state, loss),
			 errhint("The option on_data_loss says whether this is a warning, an error or ignored.")));
}

/* Moves to the next batch that holds a row in range. */
static bool
next_batch(FlussScanState *state)
{
	fluss_scan_item item;
	fluss_loss	loss;
	fluss_error err;

	state->batch = NULL;
	fluss_error_init(&err);
	for (;;)
	{
		FLUSS_CALL(fluss_scan_next(state->log, &item, &state->batch, &loss,
								   &err),
				   err, NULL);
		if (item == FLUSS_SCAN_LOSS)
		{
			state->batch = NULL;
			FlussReportLoss(state, &loss);
			continue;
		}
		if (item == FLUSS_SCAN_END)
		{
			state->batch = NULL;
			if (state->parallel != NULL && FlussParallelNext(state))
				continue;
			if (state->rounds != NULL && next_round(state))
				continue;
			return false;
		}
		if (state->rounds != NULL)
			state->batch = FlussRoundsNote(state->rounds, state->batch,
										   state->rescan_context);
		state->row = state->batch->first_row;
		if (state->row < state->batch->end_row)
			return true;
	}
}

/* The client has checked the value; the names are those of Flink's tables. */
static Datum
change_type_datum(uint8 change_type)
{
	static const char *const names[] = {
		"append_only", "insert", "update_before", "update_after", "delete"
	};

	return CStringGetTextDatum(names[change_type]);
}

static Datum
batch_metadata(FlussScanState *state, FlussMetadata metadata, bool *isnull)
{
	const fluss_batch *batch = state->batch;
	fluss_bucket_ref place = {batch->partition_id, batch->bucket};

	*isnull = false;
	switch (metadata)
	{
		case FLUSS_META_LOG_OFFSET:
			return Int64GetDatum(batch->base_offset + state->row);
		case FLUSS_META_COMMIT_TIMESTAMP:
			return TimestampTzGetDatum((batch->commit_timestamp_ms -
										FLUSS_EPOCH_MILLIS) * 1000);
		case FLUSS_META_CHANGE_TYPE:
			return change_type_datum(batch->change_types == NULL ? 0 :
									 batch->change_types[state->row]);
		default:
			return FlussPlaceMetadata(state, metadata, place, isnull);
	}
}

bool
FlussLogNextBatch(ForeignScanState *node, FlussScanState *state)
{
	if (!next_batch(state))
		return false;
	if (state->vector == NULL)
		return true;
	state->selected = FlussVectorSelect(state->vector,
										node->ss.ps.ps_ExprContext,
										state->batch, &state->nselected);
	state->next_selected = 0;
	state->rows_removed += state->batch->end_row - state->batch->first_row -
		state->nselected;
	return true;
}

/* Moves to the next row that passes the filter, if any is set. */
static bool
next_record(ForeignScanState *node, FlussScanState *state)
{
	if (state->vector == NULL)
	{
		if (state->batch != NULL && ++state->row < state->batch->end_row)
			return true;
		return next_batch(state);
	}
	while (state->next_selected >= state->nselected)
	{
		CHECK_FOR_INTERRUPTS();
		if (!FlussLogNextBatch(node, state))
			return false;
	}
	state->row = state->selected[state->next_selected++];
	return true;
}

bool
FlussLogNext(ForeignScanState *node, FlussScanState *state,
			 TupleTableSlot *slot)
{
	const fluss_batch *batch;
	int32		row;

	if (!next_record(node, state))
		return false;
	batch = state->batch;
	row = state->row;

	for (int i = 0; i < state->nfill; i++)
	{
		FlussFill  *fill = &state->fill[i];
		Datum	   *datum = &slot->tts_values[fill->attnum - 1];
		bool	   *isnull = &slot->tts_isnull[fill->attnum - 1];

		if (fill->metadata == FLUSS_META_NONE)
		{
			const fluss_column_view *view = &batch->columns[fill->column];

			*isnull = fluss_column_is_null(view, row);
			if (!*isnull)
				*datum = FlussViewToDatum(&fill->converter, view, row);
			else if (fill->not_null)
				FlussRefuseNull(fill);
		}
		else
			*datum = batch_metadata(state, fill->metadata, isnull);
	}
	return true;
}
