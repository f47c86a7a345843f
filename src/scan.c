/*
 * scan.c
 *	  Callbacks of a foreign scan.
 *
 * A scan begins for real with its first row: Begin only compiles what the plan
 * says, so EXPLAIN and scans that are never run cost no request.  All that a
 * scan opens hangs on one memory context under the query's.
 */
#include "fluss_fdw.h"

#include "common/int.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/rel.h"

/* The order in which the plan lists its expressions. */
static void
split_clauses(FlussScanState *state, List *exprs)
{
	int			limit = list_length(exprs) - state->plan.nlimit;
	int			vector = limit - state->plan.nvector;

	state->clauses = list_copy_head(exprs, vector);
	state->vector_clauses = list_copy_tail(list_copy_head(exprs, limit),
										   vector);
	state->limit_exprs = list_copy_tail(exprs, limit);
}

/*
 * A scan that gives aggregates has no tuple of the relation: its clauses name
 * columns by their place in fdw_scan_tlist.  Back to the columns themselves.
 */
static Node *
restore_columns(Node *node, void *scan_tlist)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		TargetEntry *entry = list_nth_node(TargetEntry, (List *) scan_tlist,
										   ((Var *) node)->varattno - 1);

		return (Node *) copyObject(entry->expr);
	}
	return expression_tree_mutator(node, restore_columns, scan_tlist);
}

static List *
aggregates_of(const FlussScanState *state, ForeignScan *plan)
{
	List	   *aggrefs = NIL;

	for (int i = 0; i < state->plan.naggregates; i++)
		aggrefs = lappend(aggrefs,
						  list_nth_node(TargetEntry, plan->fdw_scan_tlist,
										i)->expr);
	return aggrefs;
}

static FlussScanState *
make_state(ForeignScanState *node)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	EState	   *estate = node->ss.ps.state;
	MemoryContext context = AllocSetContextCreate(estate->es_query_cxt,
												  "fluss scan",
												  ALLOCSET_DEFAULT_SIZES);
	FlussScanState *state = MemoryContextAllocZero(context, sizeof(*state));

	state->context = context;
	state->rescan_context = AllocSetContextCreate(context, "fluss rescan",
												  ALLOCSET_DEFAULT_SIZES);
	FlussPlanPrivateUnpack(plan->fdw_private, &state->plan);
	state->kind = state->plan.kind;
	state->varno = plan->scan.scanrelid > 0 ? plan->scan.scanrelid :
		(Index) bms_singleton_member(plan->fs_relids);
	return state;
}

/* Until the remote side is there the plan tells which columns these are. */
static void
mark_partition_columns(FlussScanState *state)
{
	ListCell   *lc;

	foreach(lc, state->plan.partition_attnums)
	{
		if (lfirst_int(lc) <= state->rel->natts)
			state->rel->attrs[lfirst_int(lc) - 1].partition_key = 0;
	}
}

void
flussBeginForeignScan(ForeignScanState *node, int eflags)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	FlussScanState *state = make_state(node);
	Oid			relid = exec_rt_fetch(state->varno, node->ss.ps.state)->relid;
	List	   *exprs = plan->fdw_exprs;
	MemoryContext old = MemoryContextSwitchTo(state->context);

	node->fdw_state = state;
	state->rel = FlussRelationLocal(relid, state->context);
	state->relname = state->rel->name;
	mark_partition_columns(state);
	if (plan->scan.scanrelid == 0)
		exprs = (List *) restore_columns((Node *) exprs, plan->fdw_scan_tlist);
	split_clauses(state, exprs);
	if (state->plan.naggregates > 0)
		state->aggregates = FlussAggregatesCompile(state->rel, state->varno,
												   aggregates_of(state, plan));
	if (state->vector_clauses != NIL)
		state->vector = FlussVectorCompile(state->rel, state->varno,
										   state->vector_clauses,
										   &node->ss.ps);
	state->limit_states = ExecInitExprList(state->limit_exprs, &node->ss.ps);
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------- binding to the cluster */

/* Adds a remote column to those asked for; gives its index. */
static int
want_column(FlussScanState *state, int remote)
{
	for (int i = 0; i < state->ncolumns; i++)
	{
		if (state->columns[i] == remote)
			return i;
	}
	state->columns[state->ncolumns] = remote;
	return state->ncolumns++;
}

void
FlussBindColumns(FlussScanState *state)
{
	int			n = list_length(state->plan.attnums);
	const fluss_schema *schema = state->rel->table->schema;
	ListCell   *lc;

	state->columns = palloc0((n + 1 + schema->nprimary_key) * sizeof(int32));
	state->fill = palloc0((n + 1) * sizeof(FlussFill));
	foreach(lc, state->plan.attnums)
	{
		AttrNumber	attnum = lfirst_int(lc);
		FlussAttribute *attr = &state->rel->attrs[attnum - 1];
		FlussFill  *fill = &state->fill[state->nfill++];

		FlussCheckAttribute(state->rel, attnum);
		fill->attnum = attnum;
		fill->metadata = attr->metadata;
		if (attr->metadata != FLUSS_META_NONE)
			continue;
		fill->column = want_column(state, attr->remote);
		fill->not_null = attr->not_null;
		FlussConverterInit(&fill->converter, state->rel, attnum);
	}

	/* a log fetch asks for at least one column */
	if (state->ncolumns == 0 && FlussIsLogScan(state->kind))
		want_column(state, FlussNarrowestColumn(schema));
	/* for CONTEXT */
	state->key_columns = palloc0((schema->nprimary_key + 1) * sizeof(int));
	for (int i = 0; i < schema->nprimary_key && !FlussIsLogScan(state->kind); i++)
		state->key_columns[i] = want_column(state, schema->primary_key[i]);
	state->values = palloc0((state->ncolumns + 1) * sizeof(fluss_value));
}

/* The plan was made for this very table, or without knowing any. */
static void
check_plan(FlussScanState *state)
{
	FlussRelation *rel = state->rel;

	if (state->plan.table_id == FLUSS_NO_TABLE_ID)
	{
		/* metadata has arrived: plans made without it are not the best */
		ResetPlanCache();
		return;
	}
	if (rel->table->table_id != state->plan.table_id)
	{
		ResetPlanCache();
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("table \"%s.%s\" was made again since the query was planned",
						rel->table->database, rel->table->name),
				 errhint("Execute the statement again."),
				 errcontext("foreign table \"%s\"", state->relname)));
	}
}

/* What the table cannot be shown as, or is not built, is refused by name. */
static void
check_offered(FlussScanState *state)
{
	FlussOptions *options = state->rel->options;
	bool		keyed = FlussIsKeyed(state->rel);
	FlussScanMode mode = options->scan_mode;

	if (mode != FLUSS_MODE_DEFAULT && keyed == (mode == FLUSS_MODE_LOG))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 keyed ?
				 errmsg("primary key tables have no scan_mode \"log\"") :
				 errmsg("log tables have no scan_mode but \"log\""),
				 keyed ?
				 errhint("Use scan_mode \"snapshot\" or \"changelog\".") :
				 errhint("Drop the option scan_mode, or set it to \"log\"."),
				 errcontext("foreign table \"%s\"", state->relname)));
}

/*
 * What planning just waited for in vain is not waited for again.  When it got
 * the metadata, only a server that did not answer counts.
 */
static void
raise_planning_failure(FlussScanState *state, Oid userid)
{
	Oid			relid = state->rel->relid;
	FlussConnection *conn = FlussGetConnection(userid,
											   GetForeignTable(relid)->serverid,
											   state->context);
	fluss_error err;

	if (FlussRecallFailure(conn, relid,
						   state->plan.table_id != FLUSS_NO_TABLE_ID, &err) &&
		(state->plan.table_id == FLUSS_NO_TABLE_ID ||
		 err.status == FLUSS_TIMED_OUT || err.status == FLUSS_CANNOT_CONNECT))
		FlussRaise(&err, state->relname);
}

/*
 * The clauses that bound a scan by themselves, if it has others that a joined
 * row bounds it by: see FlussReportLoss.
 */
static void
compile_own_ranges(ForeignScanState *node, FlussScanState *state)
{
	List	   *own = NIL;
	int			found = 0;

	if (state->plan.joined == NIL || !FlussIsLogScan(state->kind))
		return;
	for (int i = 0; i < list_length(state->clauses); i++)
	{
		Node	   *clause = list_nth(state->clauses, i);

		if (list_member_int(state->plan.joined, i))
			continue;
		(void) FlussRangeUseOf(state->rel, state->varno, clause,
							   FLUSS_PART_ALL, &found);
		own = lappend(own, clause);
	}
	if ((found & FLUSS_PART_OFFSET) != 0)
		state->own_ranges = FlussRangeCompile(state->rel, state->varno, own,
											  FlussAllowedParts(state->kind),
											  &node->ss.ps);
}

void
FlussScanOpen(ForeignScanState *node, FlussScanState *state)
{
	ForeignScan *plan = (ForeignScan *) node->ss.ps.plan;
	Oid			userid = fluss_scan_user(plan, node->ss.ps.state);
	MemoryContext old;

	if (state->opened)
		return;
	old = MemoryContextSwitchTo(state->context);
	raise_planning_failure(state, userid);
	state->rel = FlussRelationOpen(state->rel->relid, userid, state->context,
								   NULL);
	FlussSendBeforeReading(state->rel, node->ss.ps.state);
	check_plan(state);
	check_offered(state);
	if (state->kind == FLUSS_SCAN_UNKNOWN)
		state->kind = FlussReadsState(state->rel) ?
			FlussStateScanKind(state->rel, -1) :
			FlussIsKeyed(state->rel) ? FLUSS_SCAN_CHANGELOG : FLUSS_SCAN_LOG;
	FlussBindColumns(state);
	if (state->kind == FLUSS_SCAN_LOOKUP)
		state->keys = FlussKeyCompile(state->rel, state->varno, state->clauses,
									  &node->ss.ps);
	if (state->vector != NULL)
		FlussVectorBind(state->vector, state);
	if (state->kind != FLUSS_SCAN_LOOKUP && state->clauses != NIL)
		state->ranges = FlussRangeCompile(state->rel, state->varno,
										  state->clauses,
										  FlussAllowedParts(state->kind),
										  &node->ss.ps);
	compile_own_ranges(node, state);
	state->opened = true;
	MemoryContextSwitchTo(old);
}

static void
start_scan(ForeignScanState *node, FlussScanState *state)
{
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	FlussScanOpen(node, state);
	/* each row sets its filled-in attributes; the others stay NULL */
	memset(slot->tts_isnull, true,
		   slot->tts_tupleDescriptor->natts * sizeof(bool));
	state->started = true;
	switch (state->kind)
	{
		case FLUSS_SCAN_LOG:
		case FLUSS_SCAN_CHANGELOG:
			FlussLogStart(node, state);
			break;
		case FLUSS_SCAN_LOOKUP:
			FlussLookupStart(node, state);
			break;
		case FLUSS_SCAN_HANDED:
			break;
		default:
			FlussStateScanStart(node, state);
			break;
	}
}

FlussScanState *
FlussHandedOpen(ForeignScanState *node)
{
	FlussScanState *state = node->fdw_state;

	if (!state->started)
		start_scan(node, state);
	return state;
}

/* The partitions and buckets, of which a rescan sees the same. */
static void
find_places(ForeignScanState *node, FlussScanState *state)
{
	EState	   *estate = node->ss.ps.state;
	FlussRelation *rel = state->rel;
	const fluss_partitions *partitions = NULL;

	if (rel->table->npartition_key > 0)
		partitions = FlussPinnedPartitions(rel->conn, rel->table, rel->name,
										   estate->es_snapshot,
										   estate->es_query_cxt);
	if (FlussIsLogScan(state->kind))
		state->ends = FlussPinnedEnds(rel->conn->serverid,
									  rel->table->table_id,
									  estate->es_snapshot,
									  estate->es_query_cxt);
	FlussPlacesInit(&state->places, rel, partitions, rel->table->nbuckets);
}

/* What the range clauses leave of each place. */
static FlussOffsetSet *
evaluate_sets(ForeignScanState *node, FlussScanState *state)
{
	FlussOffsetSet *sets;

	if (state->ranges != NULL)
		return FlussRangeEvaluate(state->ranges, node->ss.ps.ps_ExprContext,
								  &state->places);
	sets = palloc((state->places.n + 1) * sizeof(*sets));
	for (int i = 0; i < state->places.n; i++)
		sets[i] = FlussSetAll();
	return sets;
}

/* Where the scan starts by its own clauses. */
static void
find_own_starts(ForeignScanState *node, FlussScanState *state)
{
	FlussOffsetSet *sets;

	if (state->own_ranges == NULL)
		return;
	sets = FlussRangeEvaluate(state->own_ranges, node->ss.ps.ps_ExprContext,
							  &state->places);
	state->own_starts = palloc0((state->places.n + 1) * sizeof(int64));
	for (int i = 0; i < state->places.n; i++)
	{
		if (sets[i].open.n == 0 && sets[i].bounded.n > 0)
			state->own_starts[i] = sets[i].bounded.items[0].start;
	}
}

bool
FlussEvaluateRanges(ForeignScanState *node, FlussScanState *state)
{
	FlussPlaces *places = &state->places;
	FlussOffsetSet *sets;
	bool		found = false;
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);

	find_places(node, state);
	sets = evaluate_sets(node, state);
	find_own_starts(node, state);
	state->partitions_kept = FlussPartitionsKept(places, sets);
	if (FlussIsLogScan(state->kind))
	{
		for (int i = 0; i < places->n; i++)
			FlussSetStart(&sets[i], state->rel->options);
		state->past.requests[FLUSS_REQUEST_LIST_OFFSETS] +=
			FlussResolveTimes(state->rel, places, state->ends, sets);
	}
	state->intervals = palloc((places->n + 1) * sizeof(*state->intervals));
	for (int i = 0; i < places->n; i++)
	{
		state->intervals[i] = FlussSetFinish(&sets[i]);
		found = found || state->intervals[i].n > 0;
	}
	MemoryContextSwitchTo(old);
	return found;
}

fluss_bucket_ref *
FlussChooseBuckets(FlussScanState *state, int *n)
{
	fluss_bucket_ref *buckets = palloc((state->places.n + 1) *
									   sizeof(*buckets));

	*n = 0;
	for (int i = 0; i < state->places.n; i++)
	{
		if (state->intervals[i].n > 0)
			buckets[(*n)++] = FlussPlaceRef(&state->places, i);
	}
	return buckets;
}

/*
 * What core's Limit node will ask for.  A limit that is NULL, or that the node
 * will refuse, is none.
 */
void
FlussEvaluateLimit(ForeignScanState *node, FlussScanState *state)
{
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	int64		rows = 0;
	ListCell   *lc;

	state->row_limit = 0;
	foreach(lc, state->limit_states)
	{
		bool		isnull;
		Datum		datum = ExecEvalExprSwitchContext(lfirst(lc), econtext,
													  &isnull);
		int64		value = isnull ? 0 : DatumGetInt64(datum);

		if (isnull && lc == list_head(state->limit_states))
			return;
		if (value < 0 || pg_add_s64_overflow(rows, value, &rows))
			return;
	}
	if (state->limit_states != NIL)
		state->row_limit = Max(rows, 1);
}

/* --------------------------------------------------------------- iterating */

/* CONTEXT of a value that could not be converted. */
static void
row_context(void *arg)
{
	FlussScanState *state = arg;
	const fluss_batch *batch = state->batch;

	if (batch != NULL)
		errcontext("foreign table \"%s\", bucket %d, offset " INT64_FORMAT
				   " of the batch " INT64_FORMAT " to " INT64_FORMAT,
				   state->relname, batch->bucket,
				   batch->base_offset + state->row,
				   batch->base_offset, batch->next_offset - 1);
	else
		errcontext("foreign table \"%s\"", state->relname);
}

static bool
next_row(ForeignScanState *node, FlussScanState *state, TupleTableSlot *slot)
{
	switch (state->kind)
	{
		case FLUSS_SCAN_LOG:
		case FLUSS_SCAN_CHANGELOG:
			return FlussLogNext(node, state, slot);
		case FLUSS_SCAN_LOOKUP:
			return FlussLookupNext(state, slot);
		case FLUSS_SCAN_HANDED:
			return FlussHandedNext(state, slot);
		default:
			return FlussStateScanNext(state, slot);
	}
}

TupleTableSlot *
flussIterateForeignScan(ForeignScanState *node)
{
	FlussScanState *state = node->fdw_state;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;
	ErrorContextCallback context;

	if (!state->started)
		start_scan(node, state);
	ExecClearTuple(slot);
	if (state->aggregates != NULL ? state->given : state->done)
		return slot;

	context.callback = row_context;
	context.arg = state;
	context.previous = error_context_stack;
	error_context_stack = &context;

	if (state->aggregates != NULL)
	{
		FlussAggregatesRun(node, state, slot);
		ExecStoreVirtualTuple(slot);
		state->given = true;
	}
	else if (next_row(node, state, slot))
		ExecStoreVirtualTuple(slot);
	else
		state->done = state->kind != FLUSS_SCAN_HANDED;

	error_context_stack = context.previous;
	return slot;
}

void
FlussRefuseNull(const FlussFill *fill)
{
	const FlussConverter *conv = &fill->converter;

	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("null value in column \"%s\" of foreign table \"%s\" violates not-null constraint",
					conv->attr->name, conv->rel->name),
			 errdetail("The column \"%s\" of the Fluss table may have nulls.",
					   conv->attr->remote_name),
			 errhint("Drop NOT NULL from the column of the foreign table.")));
}

/* Partitions that a lookup met although they were made after it began. */
static const fluss_partition *
fresh_partition(FlussScanState *state, int64 partition_id)
{
	FlussRelation *rel = state->rel;
	fluss_partitions *fresh = NULL;
	fluss_error err;

	if (state->fresh_partitions != NULL)
	{
		const fluss_partition *known;

		known = fluss_partition_by_id(state->fresh_partitions, partition_id);
		if (known != NULL)
			return known;
	}
	fluss_error_init(&err);
	FLUSS_CALL(fluss_partitions_open(rel->conn->client, rel->table, 0, &fresh,
									 &err), err, NULL);
	if (state->fresh_partitions == NULL)
		FlussCloseOnReset(state->context, FlussReleasePartitions,
						  (void **) &state->fresh_partitions);
	else
		fluss_partitions_release(state->fresh_partitions);
	state->fresh_partitions = fresh;
	return fluss_partition_by_id(fresh, partition_id);
}

static Datum
partition_name(FlussScanState *state, int64 partition_id, bool *isnull)
{
	const fluss_partitions *pinned = state->places.partitions;
	const fluss_partition *partition = NULL;

	if (pinned != NULL)
		partition = fluss_partition_by_id(pinned, partition_id);
	if (partition == NULL)
		partition = fresh_partition(state, partition_id);
	*isnull = partition == NULL;
	return partition == NULL ? (Datum) 0 : FlussPartitionName(partition);
}

Datum
FlussPlaceMetadata(FlussScanState *state, FlussMetadata metadata,
				   fluss_bucket_ref place, bool *isnull)
{
	bool		partitioned = place.partition_id != FLUSS_NO_PARTITION;

	*isnull = false;
	switch (metadata)
	{
		case FLUSS_META_BUCKET:
			return Int32GetDatum(place.bucket);
		case FLUSS_META_TABLE_ID:
			return Int64GetDatum(state->rel->table->table_id);
		case FLUSS_META_PARTITION_ID:
			*isnull = !partitioned;
			return Int64GetDatum(place.partition_id);
		case FLUSS_META_PARTITION:
			if (partitioned)
				return partition_name(state, place.partition_id, isnull);
			break;
		default:
			break;
	}
	*isnull = true;
	return (Datum) 0;
}

void
FlussFillRow(FlussScanState *state, TupleTableSlot *slot,
			 fluss_bucket_ref place)
{
	ErrorContextCallback context;

	context.callback = FlussKeyContext;
	context.arg = state;
	context.previous = error_context_stack;
	error_context_stack = &context;
	for (int i = 0; i < state->nfill; i++)
	{
		FlussFill  *fill = &state->fill[i];
		Datum	   *datum = &slot->tts_values[fill->attnum - 1];
		bool	   *isnull = &slot->tts_isnull[fill->attnum - 1];
		fluss_value *value;

		if (fill->metadata != FLUSS_META_NONE)
		{
			*datum = FlussPlaceMetadata(state, fill->metadata, place, isnull);
			continue;
		}
		value = &state->values[fill->column];
		*isnull = value->is_null;
		if (!value->is_null)
			*datum = FlussToDatum(&fill->converter, value);
		else if (fill->not_null)
			FlussRefuseNull(fill);
	}
	error_context_stack = context.previous;
}

/* ------------------------------------------------------- rescan, counters */

void
FlussAddCounters(fluss_counters *total, const fluss_counters *part)
{
	for (int i = 0; i < FLUSS_NREQUEST_KINDS; i++)
		total->requests[i] += part->requests[i];
	total->bytes += part->bytes;
	total->batches += part->batches;
	total->rows += part->rows;
	total->keys += part->keys;
	total->duplicate_keys += part->duplicate_keys;
}

void
FlussScanCounters(FlussScanState *state, fluss_counters *out)
{
	*out = state->past;
	if (state->log != NULL)
		FlussAddCounters(out, fluss_scan_counters(state->log));
	if (state->lookup != NULL)
		FlussAddCounters(out, fluss_lookup_counters(state->lookup));
	if (state->kvscan != NULL)
		FlussAddCounters(out, fluss_kvscan_counters(state->kvscan));
}

/*
 * Resetting the context closes a log or limit scan.  A lookup object is kept
 * for the next keys.
 */
void
flussReScanForeignScan(ForeignScanState *node)
{
	FlussScanState *state = node->fdw_state;

	/* core may only get to it when the join has handed a row over already */
	if ((!state->started && state->parallel == NULL) ||
		state->kind == FLUSS_SCAN_HANDED)
		return;
	if (state->log != NULL)
		FlussAddCounters(&state->past, fluss_scan_counters(state->log));
	if (state->kvscan != NULL)
		FlussAddCounters(&state->past, fluss_kvscan_counters(state->kvscan));
	state->batch = NULL;
	state->nselected = state->next_selected = 0;
	if (state->vector != NULL)
		FlussVectorRescan(state->vector);
	state->intervals = NULL;
	state->own_starts = NULL;
	state->started = state->done = state->given = false;
	MemoryContextReset(state->rescan_context);
}

/* The context goes with the query's; what is left to do is to do it early. */
void
flussEndForeignScan(ForeignScanState *node)
{
	FlussScanState *state = node->fdw_state;

	if (state == NULL)
		return;
	state->batch = NULL;
	MemoryContextReset(state->rescan_context);
}
