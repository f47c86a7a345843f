/*
 * modify.c
 *	  INSERT, COPY, UPDATE and DELETE of Fluss tables.
 *
 * A log table is appended to, a primary key table upserted into.  UPDATE and
 * DELETE, of primary key tables only, read the row first, by an ordinary scan;
 * the plan's rows carry the key, in junk columns whose names have attribute
 * number and type, so that tables below one partitioned parent may differ.
 *
 * The client's writer collects rows into batches and sends them on the way.
 * When the statement ends, all of them have been acknowledged (write_mode
 * commit: see commit.c).  What is read of the table meanwhile: modify_reads.c.
 */
#include "modify.h"

#include "pgtime.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#define MAX_INFLIGHT_PER_BUCKET 5	/* what an idempotent writer may have */

/* ---------------------------------------------------------------- opening */

static void
close_writer(void *writer)
{
	fluss_writer_close(writer);
}

/*
 * Java and PostgreSQL agree on the zones of the tz database, and on UTC; of
 * "GMT+8" they hold the opposite.
 */
static pg_tz *
find_zone(const char *zone)
{
	if (strchr(zone, '/') == NULL && strcmp(zone, "UTC") != 0)
		return NULL;
	return pg_tzset(zone);
}

/* Only for a zone that open_writer has loaded: then nothing is allocated. */
static bool
zone_offset(const char *zone, int64_t utc_s, int32_t *offset_s)
{
	pg_time_t	time = (pg_time_t) utc_s;
	pg_tz	   *tz = find_zone(zone);
	struct pg_tm *local = tz == NULL ? NULL : pg_localtime(&time, tz);

	if (local == NULL)
		return false;
	*offset_s = (int32_t) local->tm_gmtoff;
	return true;
}

static void
open_writer(FlussModifyState *state, const bool *marks)
{
	FlussRelation *rel = state->rel;
	fluss_host	host = FlussHost(state->context);
	fluss_writer_options options = {0};
	const char *zone;
	fluss_error err;

	options.acks = rel->options->writer_acks;
	options.batch_size = rel->options->writer_batch_size;
	/* a server vouches for sequence numbers only to who waits for all replicas */
	options.idempotence = rel->options->writer_enable_idempotence &&
		options.acks == -1;
	options.max_inflight_per_bucket = MAX_INFLIGHT_PER_BUCKET;
	options.max_buffered_bytes = fluss_max_buffered_bytes();
	options.create_partitions = rel->options->create_partitions;
	options.bucket_hash = rel->options->bucket_hash_rs ?
		FLUSS_BUCKET_HASH_RS : FLUSS_BUCKET_HASH_FLUSS;
	zone = fluss_table_property(rel->table, "table.auto-partition.time-zone");
	if (zone != NULL && find_zone(zone) != NULL)
		options.zone_offset = zone_offset;
	options.hold = state->held;
	/* SET says what the value is, not what is to be merged into it */
	options.overwrite = state->operation == CMD_UPDATE &&
		FlussMergeEngine(rel->table) != NULL &&
		strcmp(FlussMergeEngine(rel->table), "aggregation") == 0;
	if (!FlussIsKeyed(rel))
		FlussCheckLogColumns(rel, marks);
	else if (state->operation != CMD_DELETE)
		options.target_columns = FlussTargetColumns(state, marks,
													&options.ntarget_columns);

	if (rel->options->write_on_commit)
	{
		state->writer = FlussHeldWriter(rel, &options);
		return;
	}
	FlussCloseOnReset(state->context, close_writer, (void **) &state->writer);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_writer_open(rel->conn->client, &host, rel->table,
								 &options, &state->writer, &err),
			   err, rel->name);
}

static void
begin_modify(ModifyTableState *mtstate, ResultRelInfo *rri, List *planned,
			 CmdType operation)
{
	EState	   *estate = mtstate->ps.state;
	MemoryContext context = AllocSetContextCreate(estate->es_query_cxt,
												  "fluss modify",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	FlussModifyState *state = palloc0(sizeof(*state));
	bool	   *marks = NULL;
	List	   *readers;
	ListCell   *lc;
	bool		self;

	state->context = context;
	state->operation = operation;
	state->updating = rri->ri_FdwState;
	state->planned = planned;
	state->row_context = AllocSetContextCreate(context, "fluss modify rows",
											   ALLOCSET_DEFAULT_SIZES);
	state->rel = FlussRelationOpen(RelationGetRelid(rri->ri_RelationDesc),
								   fluss_modify_user(rri, estate), context,
								   NULL);
	/* a column added since would count as written, and so become NULL */
	if (FlussIsKeyed(state->rel))
		FlussRelationRefresh(state->rel);
	FlussCheckOperation(state);
	if (operation != CMD_INSERT)
		FlussBeginByKey(state, mtstate, rri);
	if (operation != CMD_DELETE)
		marks = FlussCollectColumns(state, mtstate, rri);
	self = FlussFindReaders(state->rel, rri, estate, &readers);
	state->held = operation != CMD_INSERT ||
		state->rel->options->write_on_commit ||
		(self && FlussIsKeyed(state->rel));
	open_writer(state, marks);
	if (!state->held)
	{
		foreach(lc, readers)
			FlussPinBeforeWriting(lfirst(lc), estate);
	}
	state->row = palloc0(sizeof(fluss_value) *
						 Max(state->rel->table->schema->ncolumns, 1));
	for (int i = 0; i < state->rel->table->schema->ncolumns; i++)
		state->row[i].is_null = true;
	FlussNoteWrite();
	if (!state->rel->options->write_on_commit)
		state->statement = FlussStatementJoin(estate, estate->es_query_cxt);
	FlussRegisterModify(state, estate);
	rri->ri_FdwState = state;
	MemoryContextSwitchTo(caller);
}

void
flussBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
						List *fdw_private, int subplan_index, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		begin_modify(mtstate, rri, fdw_private, mtstate->operation);
}

void
flussBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rri)
{
	ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);

	/* COPY has no plan */
	if (plan != NULL)
		FlussCheckOnConflict(plan->onConflictAction,
						  RelationGetRelid(rri->ri_RelationDesc),
						  fluss_modify_user(rri, mtstate->ps.state));
	begin_modify(mtstate, rri, NIL, CMD_INSERT);
}

/* ----------------------------------------------------------------- writing */

static void
write_row(FlussModifyState *state, TupleTableSlot *slot)
{
	fluss_error err;

	slot_getallattrs(slot);
	for (int i = 0; i < state->nread_only; i++)
	{
		if (!slot->tts_isnull[state->read_only[i] - 1])
			FlussRefuseColumn(state, state->read_only[i]);
	}
	for (int i = 0; i < state->nwritten; i++)
	{
		const FlussConverter *conv = &state->written[i];
		int			column = conv->attr->attnum - 1;
		fluss_value *value = &state->row[conv->attr->remote];

		value->is_null = slot->tts_isnull[column];
		if (!value->is_null)
			FlussFromDatum(conv, slot->tts_values[column], value);
	}
	fluss_error_init(&err);
	state->flushed = false;
	FLUSS_CALL(fluss_writer_write(state->writer, state->row, &err), err,
			   state->rel->name);
}

static void
write_rows(FlussModifyState *state, TupleTableSlot **slots, int nslots)
{
	MemoryContext caller;

	MemoryContextReset(state->row_context);
	caller = MemoryContextSwitchTo(state->row_context);
	for (int i = 0; i < nslots; i++)
		write_row(state, slots[i]);
	MemoryContextSwitchTo(caller);
}

TupleTableSlot *
flussExecForeignInsert(EState *estate, ResultRelInfo *rri,
					   TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	write_rows(rri->ri_FdwState, &slot, 1);
	return slot;
}

TupleTableSlot **
flussExecForeignBatchInsert(EState *estate, ResultRelInfo *rri,
							TupleTableSlot **slots, TupleTableSlot **planSlots,
							int *numSlots)
{
	write_rows(rri->ri_FdwState, slots, *numSlots);
	return slots;
}

/*
 * The writer makes its own batches of rows that come one by one; core would
 * copy each of them into a batch of its own first.  What looks at each row
 * after it was inserted needs them one by one whatever the option says.
 */
int
flussGetForeignModifyBatchSize(ResultRelInfo *rri)
{
	FlussModifyState *state = rri->ri_FdwState;
	FlussOptions *options;

	if (rri->ri_projectReturning != NULL || rri->ri_WithCheckOptions != NIL ||
		(rri->ri_TrigDesc != NULL &&
		 (rri->ri_TrigDesc->trig_insert_before_row ||
		  rri->ri_TrigDesc->trig_insert_after_row)))
		return 1;
	options = state != NULL ? state->rel->options :
		FlussGetTableOptions(RelationGetRelid(rri->ri_RelationDesc));
	return options->batch_size;
}

/*
 * Rows that an UPDATE of a partitioned table moves here are inserted, and rows
 * that are here may be updated by it.
 */
static FlussModifyState *
updating_state(const ResultRelInfo *rri)
{
	FlussModifyState *state = rri->ri_FdwState;

	return state->updating != NULL ? state->updating : state;
}

/*
 * Core moves no row out of a foreign table: it would stay here, where a query
 * of the partitioned table does not look for it.
 */
static void
check_partition(const FlussModifyState *state, ResultRelInfo *rri,
				TupleTableSlot *slot, EState *estate)
{
	if (rri->ri_RelationDesc->rd_rel->relispartition &&
		!ExecPartitionCheck(rri, slot, estate, false))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot move a row out of foreign table \"%s\"",
						state->rel->name),
				 errdetail("The new row violates its partition constraint."),
				 errhint("Delete the row and insert another one.")));
}

TupleTableSlot *
flussExecForeignUpdate(EState *estate, ResultRelInfo *rri,
					   TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	FlussModifyState *state = updating_state(rri);
	MemoryContext caller;
	bool		first;

	MemoryContextReset(state->row_context);
	caller = MemoryContextSwitchTo(state->row_context);
	first = FlussIsFirstChange(state, FlussKeyValues(state, planSlot));
	if (first)
	{
		if (state->check_key)
			FlussCheckSameKey(state, slot, planSlot);
		check_partition(state, rri, slot, estate);
		if (state->version != NULL)
			FlussCheckVersion(state, slot, planSlot);
		write_row(state, slot);
	}
	MemoryContextSwitchTo(caller);
	return first ? slot : NULL;
}

TupleTableSlot *
flussExecForeignDelete(EState *estate, ResultRelInfo *rri,
					   TupleTableSlot *slot, TupleTableSlot *planSlot)
{
	FlussModifyState *state = updating_state(rri);
	MemoryContext caller;
	fluss_value *key;
	fluss_error err;
	bool		first;

	MemoryContextReset(state->row_context);
	caller = MemoryContextSwitchTo(state->row_context);
	key = FlussKeyValues(state, planSlot);
	first = FlussIsFirstChange(state, key);
	if (first)
	{
		state->flushed = false;
		fluss_error_init(&err);
		FLUSS_CALL(fluss_writer_delete(state->writer, key, &err), err,
				   state->rel->name);
	}
	MemoryContextSwitchTo(caller);
	if (first && rri->ri_projectReturning != NULL)
	{
		FlussFetchOldRow(state, planSlot);
		ExecCopySlot(slot, state->old_slot);
	}
	return first ? slot : NULL;
}

/* ----------------------------------------------------------------- ending */

void
FlussFinishWriting(FlussModifyState *state)
{
	fluss_error err;

	if (state->flushed)
		return;
	if (state->statement == NULL)
	{
		/* written with the transaction; the writers share one bound */
		if (FlussHeldBytes() > fluss_max_buffered_bytes())
			ereport(ERROR,
					(errcode(ERRCODE_FDW_OUT_OF_MEMORY),
					 errmsg("rows to write with the transaction need more than \"fluss_fdw.max_buffered_bytes\"")));
	}
	else
	{
		fluss_error_init(&err);
		FLUSS_CALL(fluss_writer_flush(state->writer, &err), err,
				   state->rel->name);
	}
	state->flushed = true;
}

static void
end_state(FlussModifyState *state)
{
	FlussFinishWriting(state);
	if (state->statement != NULL)
		FlussStatementLeave(state->statement, state->rel->table->table_id,
							state->writer);
	if (state->old_slot != NULL)
		ExecDropSingleTupleTableSlot(state->old_slot);
	MemoryContextDelete(state->context);
}

static void
end_modify(ResultRelInfo *rri)
{
	FlussModifyState *state = rri->ri_FdwState;

	if (state == NULL)
		return;
	rri->ri_FdwState = NULL;
	if (state->updating != NULL)
		end_state(state->updating);
	end_state(state);
}

void
flussEndForeignModify(EState *estate, ResultRelInfo *rri)
{
	end_modify(rri);
}

void
flussEndForeignInsert(EState *estate, ResultRelInfo *rri)
{
	end_modify(rri);
}

/* ---------------------------------------------------------------- explain */

void
flussExplainForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
						  List *fdw_private, int subplan_index,
						  ExplainState *es)
{
	FlussModifyState *state = rri->ri_FdwState;
	FlussOptions *options =
		FlussGetTableOptions(RelationGetRelid(rri->ri_RelationDesc));

	ExplainPropertyText("Fluss Table",
						psprintf("%s.%s", options->database_name ?
								 options->database_name : "?",
								 options->table_name), es);
	if (!es->analyze || state == NULL)
		return;
	state = updating_state(rri);
	/* the counters are only complete once everything is acknowledged */
	FlussFinishWriting(state);
	FlussExplainCounters(fluss_writer_counters(state->writer), es);
}
