/*
 * explain.c
 *	  What EXPLAIN shows of a foreign scan.
 *
 * One key per fact, the same in all formats; numbers that may differ between
 * two runs only under ANALYZE.  Nothing here talks to the cluster.
 */
#include "fluss_fdw.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

static const char *
scan_name(FlussScanKind kind, bool prefix)
{
	switch (kind)
	{
		case FLUSS_SCAN_LOG:
			return "log";
		case FLUSS_SCAN_CHANGELOG:
			return "changelog";
		case FLUSS_SCAN_LOOKUP:
		case FLUSS_SCAN_HANDED:
			return prefix ? "prefix lookup" : "lookup";
		case FLUSS_SCAN_LIMIT:
			return "limit scan";
		case FLUSS_SCAN_SNAPSHOT:
			return "snapshot";
		case FLUSS_SCAN_SERVER:
			return "kv scan";
		default:
			return NULL;
	}
}

/* ------------------------------------------------------------- the clauses */

static bool find_in_list(List *plans, Plan *target, List **ancestors);

/*
 * Finds the chain of plan nodes above target, innermost first: core needs it to
 * print a parameter as the outer column it stands for, and does not pass it to
 * this callback.
 */
static bool
find_plan(Plan *plan, Plan *target, List **ancestors)
{
	List	   *more = NIL;
	bool		found;

	if (plan == NULL)
		return false;
	if (plan == target)
		return true;
	switch (nodeTag(plan))
	{
		case T_Append:
			more = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			more = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_SubqueryScan:
			more = list_make1(((SubqueryScan *) plan)->subplan);
			break;
		case T_CustomScan:
			more = ((CustomScan *) plan)->custom_plans;
			break;
		default:
			break;
	}
	found = find_plan(plan->lefttree, target, ancestors) ||
		find_plan(plan->righttree, target, ancestors) ||
		find_in_list(more, target, ancestors);
	if (found)
		*ancestors = lappend(*ancestors, plan);
	return found;
}

static bool
find_in_list(List *plans, Plan *target, List **ancestors)
{
	ListCell   *lc;

	foreach(lc, plans)
	{
		if (find_plan(lfirst(lc), target, ancestors))
			return true;
	}
	return false;
}

static char *
clause_text(ForeignScanState *node, ExplainState *es, List *clauses)
{
	Plan	   *plan = node->ss.ps.plan;
	PlannedStmt *stmt = node->ss.ps.state->es_plannedstmt;
	List	   *ancestors = NIL;
	List	   *context;
	bool		useprefix = list_length(es->rtable) > 1 || es->verbose;

	if (!find_plan(stmt->planTree, plan, &ancestors))
		find_in_list(stmt->subplans, plan, &ancestors);
	context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	return deparse_expression((Node *) make_ands_explicit(clauses), context,
							  useprefix, false);
}

/* -------------------------------------------------------------- properties */

static void
explain_columns(FlussScanState *state, ExplainState *es)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, state->plan.attnums)
	{
		FlussAttribute *attr = &state->rel->attrs[lfirst_int(lc) - 1];

		if (attr->metadata == FLUSS_META_NONE && attr->remote_name != NULL)
			names = lappend(names, unconstify(char *, attr->remote_name));
	}
	if (names == NIL && state->plan.narrowest != NULL)
		names = list_make1(state->plan.narrowest);
	if (names != NIL)
		ExplainPropertyList("Fluss Columns", names, es);
}

/* Ranges as they were read: no further than the pinned ends. */
static char *
executed_ranges(FlussScanState *state)
{
	const FlussPlaces *places = &state->places;
	FlussIntervals *shown = palloc0((places->n + 1) * sizeof(*shown));

	for (int i = 0; i < places->n; i++)
	{
		FlussIntervals *set = &state->intervals[i];
		fluss_bucket_ref place = FlussPlaceRef(places, i);
		int64		end = FLUSS_OFFSET_END;

		(void) fluss_ends_get(state->ends, place.partition_id, place.bucket,
							  &end);
		shown[i].items = palloc((set->n + 1) * sizeof(FlussInterval));
		for (int j = 0; j < set->n; j++)
		{
			FlussInterval item = set->items[j];

			item.end = Min(item.end, end);
			if (item.start < item.end)
				shown[i].items[shown[i].n++] = item;
		}
	}
	return FlussRangeText(places, shown);
}

/* Clauses by what they are about: the first of these groups that fits. */
typedef struct RangeGroups
{
	List	   *offsets;		/* and buckets */
	List	   *times;
	List	   *partitions;
} RangeGroups;

static void
group_clauses(FlussScanState *state, RangeGroups *groups)
{
	ListCell   *lc;

	memset(groups, 0, sizeof(*groups));
	foreach(lc, state->clauses)
	{
		int			parts = 0;

		(void) FlussRangeUseOf(state->rel, state->varno, lfirst(lc),
							   FLUSS_PART_ALL, &parts);
		if ((parts & FLUSS_PART_OFFSET) != 0)
			groups->offsets = lappend(groups->offsets, lfirst(lc));
		else if ((parts & FLUSS_PART_TIME) != 0)
			groups->times = lappend(groups->times, lfirst(lc));
		else if ((parts & FLUSS_PART_PARTITION) != 0)
			groups->partitions = lappend(groups->partitions, lfirst(lc));
		else
			groups->offsets = lappend(groups->offsets, lfirst(lc));
	}
}

/* Offsets and buckets alone, and all values are constants. */
static bool
are_plain_constants(FlussScanState *state, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		int			parts = 0;

		(void) FlussRangeUseOf(state->rel, state->varno, lfirst(lc),
							   FLUSS_PART_ALL, &parts);
		if ((parts & (FLUSS_PART_TIME | FLUSS_PART_PARTITION)) != 0 ||
			!FlussRangeIsConstant(state->rel, state->varno, lfirst(lc)))
			return false;
	}
	return true;
}

/* Buckets as they are in each partition, without asking the cluster. */
static FlussIntervals *
constant_intervals(FlussScanState *state, List *clauses, FlussPlaces *places)
{
	FlussOffsetSet *sets;
	FlussIntervals *result;

	FlussPlacesInit(places, state->rel, NULL, state->plan.nbuckets);
	sets = FlussRangeConstant(state->rel, state->varno, clauses,
							  FLUSS_PART_ALL, places);
	result = palloc((places->n + 1) * sizeof(*result));
	for (int i = 0; i < places->n; i++)
		result[i] = FlussSetFinish(&sets[i]);
	return result;
}

/* A whole read of a primary key table knows no offsets, only buckets. */
static void
explain_buckets(ForeignScanState *node, FlussScanState *state,
				ExplainState *es, List *clauses)
{
	FlussPlaces places;
	FlussIntervals *intervals;
	List	   *names = NIL;

	if (!are_plain_constants(state, clauses))
	{
		ExplainPropertyText("Fluss Buckets", clause_text(node, es, clauses),
							es);
		return;
	}
	intervals = constant_intervals(state, clauses, &places);
	for (int i = 0; i < places.n; i++)
	{
		if (intervals[i].n > 0)
			names = lappend(names, psprintf("%d", i));
	}
	if (names == NIL)
		names = list_make1("none");
	ExplainPropertyList("Fluss Buckets", names, es);
}

static void
explain_offsets(ForeignScanState *node, FlussScanState *state,
				ExplainState *es, List *clauses)
{
	FlussPlaces places;
	FlussIntervals *intervals;

	if (es->analyze && state->opened && state->started &&
		state->intervals != NULL && FlussIsLogScan(state->kind))
		ExplainPropertyText("Fluss Offsets", executed_ranges(state), es);
	else if (clauses == NIL)
		return;
	else if (FlussIsStateScan(state->kind))
		explain_buckets(node, state, es, clauses);
	else if (are_plain_constants(state, clauses))
	{
		intervals = constant_intervals(state, clauses, &places);
		ExplainPropertyText("Fluss Offsets",
							FlussRangeText(&places, intervals), es);
	}
	else
		ExplainPropertyText("Fluss Offsets", clause_text(node, es, clauses),
							es);
}

/* "3 of 9": of the execution, or of the plan where constants decided. */
static void
explain_partitions(ForeignScanState *node, FlussScanState *state,
				   ExplainState *es, List *clauses)
{
	char	   *shown = NULL;

	if (es->analyze && state->opened && state->started &&
		state->intervals != NULL && state->places.partitions != NULL)
		shown = psprintf("%d of %d", state->partitions_kept,
						state->places.npartitions);
	else if (state->plan.npartitions >= 0 && state->plan.partitions_kept >= 0)
		shown = psprintf("%d of %d", state->plan.partitions_kept,
						state->plan.npartitions);
	else if (clauses != NIL)
		shown = clause_text(node, es, clauses);
	if (shown != NULL)
		ExplainPropertyText("Fluss Partitions", shown, es);
}

static void
explain_ranges(ForeignScanState *node, FlussScanState *state,
			   ExplainState *es)
{
	RangeGroups groups;

	group_clauses(state, &groups);
	explain_partitions(node, state, es, groups.partitions);
	explain_offsets(node, state, es, groups.offsets);
	if (groups.times != NIL)
		ExplainPropertyText("Fluss Timestamps",
							clause_text(node, es, groups.times), es);
}

void
FlussExplainCounters(const fluss_counters *counters, ExplainState *es)
{
	bool		written = counters->requests[FLUSS_REQUEST_PRODUCE] > 0 ||
		counters->requests[FLUSS_REQUEST_PUT] > 0;
	StringInfoData requests;

	initStringInfo(&requests);
	for (int i = 0; i < FLUSS_NREQUEST_KINDS; i++)
	{
		if (counters->requests[i] > 0)
			appendStringInfo(&requests, "%s%s " INT64_FORMAT,
							 requests.len > 0 ? ", " : "",
							 fluss_request_kind_name(i),
							 (int64) counters->requests[i]);
	}
	ExplainPropertyText("Fluss Requests",
						requests.len > 0 ? requests.data : "none", es);
	if (requests.len == 0)
		return;
	ExplainPropertyInteger("Fluss Bytes", NULL, counters->bytes, es);
	if (counters->batches > 0)
		ExplainPropertyInteger("Fluss Batches", NULL, counters->batches, es);
	ExplainPropertyInteger(written ? "Fluss Rows Written" : "Fluss Rows Read",
						   NULL, counters->rows, es);
	if (counters->keys > 0)
		ExplainPropertyInteger("Fluss Keys", NULL, counters->keys, es);
	if (counters->duplicate_keys > 0)
		ExplainPropertyInteger("Fluss Duplicate Keys", NULL,
							   counters->duplicate_keys, es);
}

#define MAX_LEADERS_SHOWN 32

/* The servers that a scan would ask, as far as they are known already. */
static void
explain_leaders(ForeignScanState *node, FlussScanState *state,
				ExplainState *es)
{
	Oid			userid = fluss_scan_user((ForeignScan *) node->ss.ps.plan,
										 node->ss.ps.state);
	FlussConnection *conn = FlussGetConnection(userid,
											   GetForeignTable(state->rel->relid)->serverid,
											   state->context);
	const fluss_node *leaders[MAX_LEADERS_SHOWN];
	List	   *addresses = NIL;
	int			n = fluss_table_known_leaders(conn->client,
											  state->rel->options->database_name,
											  state->rel->options->table_name,
											  leaders, MAX_LEADERS_SHOWN);

	for (int i = 0; i < n; i++)
	{
		bool		ipv6 = strchr(leaders[i]->host, ':') != NULL;

		addresses = lappend(addresses,
							psprintf(ipv6 ? "[%s]:%d" : "%s:%d",
									 leaders[i]->host, leaders[i]->port));
	}
	if (addresses != NIL)
		ExplainPropertyList("Fluss Leaders", addresses, es);
}

/* The rows that will do: a number where it is known, else LIMIT and OFFSET. */
static void
explain_limit(ForeignScanState *node, FlussScanState *state, ExplainState *es)
{
	List	   *names = NIL;
	bool		constant = true;
	ListCell   *lc;

	foreach(lc, state->limit_exprs)
	{
		constant = constant && IsA(lfirst(lc), Const);
		names = lappend(names, clause_text(node, es,
										   list_make1(lfirst(lc))));
	}
	if (constant)
		FlussEvaluateLimit(node, state);
	if ((constant || (es->analyze && state->started)) && state->row_limit > 0)
		ExplainPropertyInteger("Fluss Limit", NULL, state->row_limit, es);
	else if (list_length(names) == 2)
		ExplainPropertyText("Fluss Limit",
							psprintf("(%s + %s)", (char *) linitial(names),
									 (char *) lsecond(names)), es);
	else
		ExplainPropertyText("Fluss Limit", linitial(names), es);
}

/* A scan that gives aggregates says of what, as postgres_fdw does. */
static void
explain_relations(ForeignScanState *node, FlussScanState *state,
				  ExplainState *es)
{
	RangeTblEntry *rte = exec_rt_fetch(state->varno, node->ss.ps.state);
	char	   *alias = list_nth(es->rtable_names, state->varno - 1);
	StringInfoData name;

	initStringInfo(&name);
	if (es->verbose)
		appendStringInfo(&name, "%s.",
						 quote_identifier(get_namespace_name(get_rel_namespace(rte->relid))));
	appendStringInfoString(&name, quote_identifier(state->relname));
	if (alias != NULL && strcmp(alias, state->relname) != 0)
		appendStringInfo(&name, " %s", quote_identifier(alias));
	ExplainPropertyText("Relations",
						psprintf("Aggregate on (%s)", name.data), es);
}

void
flussExplainForeignScan(ForeignScanState *node, ExplainState *es)
{
	FlussScanState *state = node->fdw_state;
	List	   *clauses = state->clauses;
	FlussOptions *options = state->rel->options;
	const char *name = scan_name(es->analyze ? FlussStateScanUsed(state) :
								 state->kind, state->plan.prefix);

	if (state->plan.order == FLUSS_ORDER_TAIL ||
		state->plan.order == FLUSS_ORDER_TAIL_TIME)
		name = "log tail";
	if (state->aggregates != NULL)
	{
		explain_relations(node, state, es);
		if (FlussAggregatesCountOnly(state->aggregates))
			name = "count";
	}
	ExplainPropertyText("Fluss Table",
						psprintf("%s.%s", options->database_name,
								 options->table_name), es);
	if (name != NULL)
		ExplainPropertyText("Fluss Scan", name, es);
	if (state->plan.table_id == FLUSS_NO_TABLE_ID)
		ExplainPropertyText("Fluss Metadata", "unavailable", es);
	explain_columns(state, es);
	if (state->kind == FLUSS_SCAN_LOOKUP)
		ExplainPropertyText("Fluss Key", clause_text(node, es, clauses), es);
	else if (state->kind != FLUSS_SCAN_HANDED)
		explain_ranges(node, state, es);
	if (state->limit_exprs != NIL)
		explain_limit(node, state, es);
	if (state->vector_clauses != NIL)
		ExplainPropertyText("Fluss Vector Filter",
							clause_text(node, es, state->vector_clauses), es);
	if (es->verbose)
		explain_leaders(node, state, es);

	/* what a lookup join hands over is counted with the join */
	if (es->analyze && state->opened && state->kind != FLUSS_SCAN_HANDED)
	{
		fluss_counters counters;
		char	   *ends = FlussStateScanEnds(state);

		if (ends != NULL)
			ExplainPropertyText("Fluss Pinned Ends", ends, es);

		FlussScanCounters(state, &counters);
		FlussExplainCounters(&counters, es);
		if (state->vector_clauses != NIL)
			ExplainPropertyInteger("Fluss Rows Removed", NULL,
								   state->rows_removed, es);
	}
}
