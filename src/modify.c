/*
 * modify.c
 *	  INSERT and COPY into Fluss tables.
 *
 * A log table is appended to, a primary key table upserted into.  A column is
 * written when the command gives it, or a default or generated expression
 * does; if those are not all columns of the *remote* table, a primary key
 * table gets a partial update, which leaves the rest of the row alone, and
 * never NULLs for columns that the command said nothing about.
 *
 * The client's writer collects rows into batches and sends them on the way.
 * When the statement ends, all of them have been acknowledged.  A statement
 * that also reads the table it writes must not see its own rows: its rows are
 * held in a tuplestore until its plan has ended.
 */
#include "fluss_fdw.h"

#include "access/table.h"
#include "commands/trigger.h"
#include "foreign/fdwapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#define MAX_INFLIGHT_PER_BUCKET 5	/* what an idempotent writer may have */

typedef struct FlussModifyState
{
	MemoryContext context;		/* of everything; its reset closes the writer */
	MemoryContext row_context;	/* of one call */
	FlussRelation *rel;
	FlussStatement *statement;
	List	   *planned;		/* columns the plan has an expression for */
	fluss_writer *writer;
	int			nwritten;
	FlussConverter *written;	/* columns that are written */
	int			nmetadata;
	AttrNumber *metadata;		/* metadata columns: must be NULL */
	fluss_value *row;			/* by remote column */
	Tuplestorestate *held;		/* rows that wait for the plan to end, or NULL */
	TupleTableSlot *held_slot;
	bool		finished;		/* everything is acknowledged */
} FlussModifyState;

/* -------------------------------------------------------------- planning */

static void
refuse_on_conflict(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("INSERT with ON CONFLICT is not supported by Fluss tables"),
			 errhint("An INSERT into a primary key table replaces the row with the same key.")));
}

/*
 * Core itself refuses UPDATE and DELETE, naming the table, for want of
 * callbacks.  The plan remembers which columns it has an expression for: the
 * default of a view's column is to be seen nowhere else.
 */
List *
flussPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
					   Index resultRelation, int subplan_index)
{
	List	   *attnums = NIL;
	ListCell   *lc;

	if (plan->onConflictAction != ONCONFLICT_NONE)
		refuse_on_conflict();
	foreach(lc, root->processed_tlist)
	{
		TargetEntry *tle = lfirst_node(TargetEntry, lc);

		if (!tle->resjunk &&
			!(IsA(tle->expr, Const) && ((Const *) tle->expr)->constisnull))
			attnums = lappend_int(attnums, tle->resno);
	}
	return attnums;
}

int
flussIsForeignRelUpdatable(Relation rel)
{
	FlussOptions *options = FlussGetTableOptions(RelationGetRelid(rel));

	if (!options->updatable || options->scan_mode == FLUSS_MODE_CHANGELOG)
		return 0;
	return 1 << CMD_INSERT;
}

/* ------------------------------------------------------- written columns */

static bool
has_before_row_trigger(ResultRelInfo *rri)
{
	return rri->ri_TrigDesc != NULL &&
		rri->ri_TrigDesc->trig_insert_before_row;
}

/* The default of a routed row is that of the table named in the command. */
static bool
has_default(Relation root, const char *name)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(root), name);
	Form_pg_attribute attr;

	if (attnum <= 0)
		return false;
	attr = TupleDescAttr(RelationGetDescr(root), attnum - 1);
	return attr->atthasdef || attr->attidentity != '\0';
}

/* Columns of the foreign table that the command writes, as a set of attnums. */
static Bitmapset *
written_attributes(const FlussModifyState *state, ModifyTableState *mtstate,
				   ResultRelInfo *rri)
{
	ResultRelInfo *root = rri->ri_RootResultRelInfo ?
		rri->ri_RootResultRelInfo : rri;
	TupleDesc	desc = RelationGetDescr(rri->ri_RelationDesc);
	Bitmapset  *given = ExecGetInsertedCols(rri, mtstate->ps.state);
	bool		all = mtstate->operation != CMD_INSERT ||
		has_before_row_trigger(rri) || has_before_row_trigger(root);
	Bitmapset  *result = NULL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);

		if (attr->attisdropped || fluss_is_virtual(attr))
			continue;
		if (all || attr->attgenerated != '\0' ||
			bms_is_member(attr->attnum - FirstLowInvalidHeapAttributeNumber,
						  given) ||
			list_member_int(state->planned, attr->attnum) ||
			has_default(root->ri_RelationDesc, NameStr(attr->attname)))
			result = bms_add_member(result, attr->attnum);
	}
	return result;
}

static void
refuse_metadata(const FlussModifyState *state, AttrNumber attnum)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write metadata column \"%s\" of foreign table \"%s\"",
					state->rel->attrs[attnum - 1].name, state->rel->name),
			 errhint("Name the columns to write without it.")));
}

static void
refuse_auto_increment(const FlussModifyState *state, AttrNumber attnum)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write column \"%s\" of foreign table \"%s\"",
					state->rel->attrs[attnum - 1].name, state->rel->name),
			 errdetail("Fluss gives the column its values.")));
}

/* They exist on the other side.  May take a fresher description of that. */
static void
check_columns(FlussRelation *rel, Bitmapset *attnums)
{
	int			attnum = -1;

	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		if (rel->attrs[attnum - 1].metadata == FLUSS_META_NONE)
			FlussCheckAttribute(rel, attnum);
	}
}

/*
 * Makes the converters of the written columns and marks their remote columns.
 * Metadata columns that the command names are refused; where it says nothing
 * of columns (a routed row, a trigger) only a value for them is.
 */
static bool *
collect_columns(FlussModifyState *state, ModifyTableState *mtstate,
				ResultRelInfo *rri)
{
	FlussRelation *rel = state->rel;
	Bitmapset  *attnums = written_attributes(state, mtstate, rri);
	bool		named = rri->ri_RootResultRelInfo == NULL &&
		!has_before_row_trigger(rri);
	int			attnum = -1;
	const fluss_schema *schema;
	bool	   *marks;

	check_columns(rel, attnums);
	schema = rel->table->schema;
	marks = palloc0(sizeof(bool) * Max(schema->ncolumns, 1));
	state->written = palloc(sizeof(FlussConverter) * Max(rel->natts, 1));
	state->metadata = palloc(sizeof(AttrNumber) * Max(rel->natts, 1));
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		FlussAttribute *attr = &rel->attrs[attnum - 1];

		if (attr->metadata != FLUSS_META_NONE)
		{
			if (named)
				refuse_metadata(state, attnum);
			state->metadata[state->nmetadata++] = attnum;
			continue;
		}
		if (attr->remote == schema->auto_increment)
			refuse_auto_increment(state, attnum);
		if (marks[attr->remote])
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" of Fluss table \"%s.%s\" would be written twice",
							attr->remote_name, rel->table->database,
							rel->table->name),
					 errdetail("Foreign table \"%s\" has more than one column for it.",
							   rel->name)));
		marks[attr->remote] = true;
		FlussConverterInit(&state->written[state->nwritten++], rel, attnum);
	}
	return marks;
}

/* -------------------------------------------------------- partial updates */

static void
refuse_missing(const FlussRelation *rel, const fluss_column *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("column \"%s\" of Fluss table \"%s.%s\" must have a value",
					column->name, rel->table->database, rel->table->name),
			 errdetail("The command does not write it, and the column is NOT NULL.")));
}

static void
refuse_partial(const FlussRelation *rel, const fluss_column *missing,
			   const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write only some columns of Fluss table \"%s.%s\"",
					rel->table->database, rel->table->name),
			 errdetail("The command does not write column \"%s\", and %s.",
					   missing->name, why)));
}

/* A row of a log table: what is not written is NULL, where that is allowed. */
static void
check_log_columns(const FlussRelation *rel, const bool *marks)
{
	const fluss_schema *schema = rel->table->schema;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!marks[i] && !schema->columns[i].type.nullable)
			refuse_missing(rel, &schema->columns[i]);
	}
}

static bool
is_key_column(const fluss_schema *schema, int column)
{
	for (int i = 0; i < schema->nprimary_key; i++)
	{
		if (schema->primary_key[i] == column)
			return true;
	}
	return false;
}

/* Refuses a partial update that the server would, with the reason. */
static void
check_partial_update(const FlussRelation *rel, const bool *marks, int missing)
{
	const fluss_schema *schema = rel->table->schema;
	const fluss_column *column = &schema->columns[missing];
	const char *engine = fluss_table_property(rel->table, "table.merge-engine");

	for (int i = 0; i < schema->nprimary_key; i++)
	{
		if (!marks[schema->primary_key[i]])
			refuse_missing(rel, &schema->columns[schema->primary_key[i]]);
	}
	if (engine != NULL && (pg_strcasecmp(engine, "first_row") == 0 ||
						   pg_strcasecmp(engine, "versioned") == 0))
		refuse_partial(rel, column,
					   psprintf("the merge engine %s needs whole rows", engine));
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!schema->columns[i].type.nullable && !is_key_column(schema, i) &&
			i != schema->auto_increment)
			refuse_partial(rel, column,
						   psprintf("column \"%s\" is NOT NULL without being part of the primary key",
									schema->columns[i].name));
	}
}

/*
 * Positions of the columns of a partial update, or NULL when every column of
 * the remote table is written.
 */
static int32_t *
target_columns(const FlussRelation *rel, const bool *marks, int *ntargets)
{
	const fluss_schema *schema = rel->table->schema;
	int32_t    *targets = palloc(sizeof(int32_t) * Max(schema->ncolumns, 1));
	int			missing = -1;

	*ntargets = 0;
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (marks[i])
			targets[(*ntargets)++] = i;
		else if (missing < 0 || missing == schema->auto_increment)
			missing = i;
	}
	if (missing < 0)
		return NULL;
	check_partial_update(rel, marks, missing);
	return targets;
}

/* ---------------------------------------------------------------- opening */

static void
close_writer(void *writer)
{
	fluss_writer_close(writer);
}

static void
open_writer(FlussModifyState *state, const bool *marks)
{
	FlussRelation *rel = state->rel;
	fluss_host	host = FlussHost(state->context);
	fluss_writer_options options = {0};
	fluss_error err;

	options.acks = rel->options->writer_acks;
	options.batch_size = rel->options->writer_batch_size;
	/* a server vouches for sequence numbers only to who waits for all replicas */
	options.idempotence = rel->options->writer_enable_idempotence &&
		options.acks == -1;
	options.max_inflight_per_bucket = MAX_INFLIGHT_PER_BUCKET;
	options.max_buffered_bytes = fluss_max_buffered_bytes();
	if (FlussIsKeyed(rel))
		options.target_columns = target_columns(rel, marks,
												&options.ntarget_columns);
	else
		check_log_columns(rel, marks);

	FlussCloseOnReset(state->context, close_writer, (void **) &state->writer);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_writer_open(rel->conn->client, &host, rel->table,
								 &options, &state->writer, &err),
			   err, rel->name);
}

static bool
is_same_fluss_table(const FlussRelation *rel, Oid relid)
{
	FlussOptions *options;

	if (GetForeignTable(relid)->serverid != rel->conn->serverid)
		return false;
	options = FlussGetTableOptions(relid);
	return options->database_name != NULL &&
		strcmp(options->database_name, rel->options->database_name) == 0 &&
		strcmp(options->table_name, rel->options->table_name) == 0;
}

/* True when the statement also reads the table that rri writes. */
static bool
reads_target(const FlussRelation *rel, ResultRelInfo *rri, EState *estate)
{
	ResultRelInfo *root = rri->ri_RootResultRelInfo ?
		rri->ri_RootResultRelInfo : rri;
	Index		rti = 0;
	ListCell   *lc;

	foreach(lc, estate->es_range_table)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		rti++;
		if (rte->rtekind == RTE_RELATION &&
			rte->relkind == RELKIND_FOREIGN_TABLE &&
			rti != root->ri_RangeTableIndex &&
			is_same_fluss_table(rel, rte->relid))
			return true;
	}
	return false;
}

static void
begin_modify(ModifyTableState *mtstate, ResultRelInfo *rri, List *planned)
{
	EState	   *estate = mtstate->ps.state;
	MemoryContext context = AllocSetContextCreate(estate->es_query_cxt,
												  "fluss modify",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	FlussModifyState *state = palloc0(sizeof(*state));
	bool	   *marks;

	state->context = context;
	state->planned = planned;
	state->row_context = AllocSetContextCreate(context, "fluss modify rows",
											   ALLOCSET_DEFAULT_SIZES);
	state->rel = FlussRelationOpen(RelationGetRelid(rri->ri_RelationDesc),
								   fluss_modify_user(rri, estate), context,
								   NULL);
	if (state->rel->options->write_on_commit)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("write_mode \"commit\" is not supported yet"),
				 errdetail("Foreign table \"%s\" has it.", state->rel->name)));
	/* a column added since would count as written, and so become NULL */
	if (FlussIsKeyed(state->rel))
		FlussRelationRefresh(state->rel);
	marks = collect_columns(state, mtstate, rri);
	open_writer(state, marks);
	state->row = palloc0(sizeof(fluss_value) *
						 Max(state->rel->table->schema->ncolumns, 1));
	for (int i = 0; i < state->rel->table->schema->ncolumns; i++)
		state->row[i].is_null = true;
	if (reads_target(state->rel, rri, estate))
	{
		state->held = tuplestore_begin_heap(false, false, work_mem);
		state->held_slot = MakeSingleTupleTableSlot(RelationGetDescr(rri->ri_RelationDesc),
													&TTSOpsMinimalTuple);
	}
	state->statement = FlussStatementJoin(estate);
	rri->ri_FdwState = state;
	MemoryContextSwitchTo(caller);
}

void
flussBeginForeignModify(ModifyTableState *mtstate, ResultRelInfo *rri,
						List *fdw_private, int subplan_index, int eflags)
{
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
		begin_modify(mtstate, rri, fdw_private);
}

void
flussBeginForeignInsert(ModifyTableState *mtstate, ResultRelInfo *rri)
{
	ModifyTable *plan = castNode(ModifyTable, mtstate->ps.plan);

	/* COPY has no plan */
	if (plan != NULL && plan->onConflictAction != ONCONFLICT_NONE)
		refuse_on_conflict();
	begin_modify(mtstate, rri, NIL);
}

/* ----------------------------------------------------------------- writing */

static void
write_row(FlussModifyState *state, TupleTableSlot *slot)
{
	fluss_error err;

	slot_getallattrs(slot);
	for (int i = 0; i < state->nmetadata; i++)
	{
		if (!slot->tts_isnull[state->metadata[i] - 1])
			refuse_metadata(state, state->metadata[i]);
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
	FLUSS_CALL(fluss_writer_write(state->writer, state->row, &err), err,
			   state->rel->name);
}

static void
write_rows(FlussModifyState *state, TupleTableSlot **slots, int nslots)
{
	MemoryContext caller;

	if (state->held != NULL)
	{
		for (int i = 0; i < nslots; i++)
			tuplestore_puttupleslot(state->held, slots[i]);
		return;
	}
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

/* ----------------------------------------------------------------- ending */

static void
write_held_rows(FlussModifyState *state)
{
	while (tuplestore_gettupleslot(state->held, true, false, state->held_slot))
	{
		MemoryContextReset(state->row_context);
		MemoryContextSwitchTo(state->row_context);
		write_row(state, state->held_slot);
		MemoryContextSwitchTo(state->context);
	}
	ExecDropSingleTupleTableSlot(state->held_slot);
	tuplestore_end(state->held);
	state->held = NULL;
}

/* Sends what is left and waits until all of it is acknowledged. */
static void
finish_writing(FlussModifyState *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);
	fluss_error err;

	if (!state->finished)
	{
		if (state->held != NULL)
			write_held_rows(state);
		fluss_error_init(&err);
		FLUSS_CALL(fluss_writer_flush(state->writer, &err), err,
				   state->rel->name);
		state->finished = true;
	}
	MemoryContextSwitchTo(caller);
}

static void
end_modify(ResultRelInfo *rri)
{
	FlussModifyState *state = rri->ri_FdwState;

	if (state == NULL)
		return;
	finish_writing(state);
	FlussStatementLeave(state->statement, state->rel->table->table_id,
						state->writer);
	rri->ri_FdwState = NULL;
	MemoryContextDelete(state->context);
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
	/* the counters are only complete once everything is acknowledged */
	finish_writing(state);
	FlussExplainCounters(fluss_writer_counters(state->writer), es);
}
