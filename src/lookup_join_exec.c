/*
 * lookup_join_exec.c
 *	  Execution of lookup joins.
 *
 * Rows come out in the order of the outer side.  Each is put into the scan
 * tuple, then the inner child gives the rows found for it, which passed the
 * inner table's own conditions.
 */
#include "lookup_join.h"

#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

static void begin_lookup_join(CustomScanState *node, EState *estate,
							  int eflags);
static TupleTableSlot *exec_lookup_join(CustomScanState *node);
static void end_lookup_join(CustomScanState *node);
static void rescan_lookup_join(CustomScanState *node);
static void explain_lookup_join(CustomScanState *node, List *ancestors,
								ExplainState *es);

static const CustomExecMethods exec_methods = {
	.CustomName = "Fluss Lookup Join",
	.BeginCustomScan = begin_lookup_join,
	.ExecCustomScan = exec_lookup_join,
	.EndCustomScan = end_lookup_join,
	.ReScanCustomScan = rescan_lookup_join,
	.ExplainCustomScan = explain_lookup_join
};

Node *
FlussCreateLookupJoinState(CustomScan *plan)
{
	FlussJoinState *state = palloc0(sizeof(*state));

	NodeSetTag(state, T_CustomScanState);
	state->css.methods = &exec_methods;
	fluss_use_virtual_slot(&state->css);
	return (Node *) state;
}

/* ----------------------------------------------------------------- begin */

/* The inner child, which may stand under a gate of core's. */
static ForeignScanState *
find_inner_scan(PlanState *ps)
{
	while (ps != NULL && IsA(ps, ResultState))
		ps = outerPlanState(ps);
	return castNode(ForeignScanState, ps);
}

/* What has to hold of a joined row when the key was not looked up. */
static List *
recheck_clauses(CustomScan *plan)
{
	List	   *values = list_nth(plan->custom_exprs, FLUSS_JOIN_VALUES);
	List	   *keys = list_nth(plan->custom_exprs, FLUSS_JOIN_KEYS);
	List	   *result = NIL;
	ListCell   *value;
	ListCell   *clause;

	/* constant ones are conditions of the inner scan */
	forboth(value, values, clause, keys)
	{
		if (contain_var_clause(lfirst(value)))
			result = lappend(result, lfirst(clause));
	}
	result = list_concat_copy(result, list_nth(plan->custom_exprs,
											   FLUSS_JOIN_OUTER_QUALS));
	return list_concat_copy(result, list_nth(plan->custom_exprs,
											 FLUSS_JOIN_QUALS));
}

static void
compile_expressions(FlussJoinState *state, CustomScan *plan)
{
	PlanState  *parent = &state->css.ss.ps;
	List	   *values = list_nth(plan->custom_exprs, FLUSS_JOIN_VALUES);
	ListCell   *lc;

	state->values = palloc((list_length(values) + 1) * sizeof(ExprState *));
	foreach(lc, values)
		state->values[state->nvalues++] = ExecInitExpr(lfirst(lc), parent);
	state->outer_quals = ExecInitQual(list_nth(plan->custom_exprs,
											   FLUSS_JOIN_OUTER_QUALS), parent);
	state->quals = ExecInitQual(list_nth(plan->custom_exprs, FLUSS_JOIN_QUALS),
								parent);
	if (parent->state->es_epq_active != NULL)
		state->recheck_quals = ExecInitQual(recheck_clauses(plan), parent);

	state->sources = palloc((list_length(state->plan.sources) + 1) *
							sizeof(int));
	foreach(lc, state->plan.sources)
		state->sources[state->ncolumns++] = lfirst_int(lc);
}

static void
begin_lookup_join(CustomScanState *node, EState *estate, int eflags)
{
	FlussJoinState *state = (FlussJoinState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	ListCell   *lc;

	FlussJoinPrivateUnpack(plan->custom_private, &state->plan);
	foreach(lc, plan->custom_plans)
		node->custom_ps = lappend(node->custom_ps,
								  ExecInitNode(lfirst(lc), estate, eflags));
	state->inner_scan = find_inner_scan(lsecond(node->custom_ps));
	compile_expressions(state, plan);
	state->outer_slot = ExecInitExtraTupleSlot(estate,
											   ExecGetResultType(linitial(node->custom_ps)),
											   &TTSOpsMinimalTuple);
	state->context = AllocSetContextCreate(estate->es_query_cxt,
										   "fluss lookup join",
										   ALLOCSET_DEFAULT_SIZES);
}

/* -------------------------------------------------------- the scan tuple */

void
FlussJoinFillOuter(FlussJoinState *state, TupleTableSlot *outer)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(slot);
	slot_getallattrs(outer);
	for (int i = 0; i < state->ncolumns; i++)
	{
		int			source = state->sources[i];

		slot->tts_isnull[i] = source < 0 ? true : outer->tts_isnull[source];
		slot->tts_values[i] = source < 0 ? (Datum) 0 :
			outer->tts_values[source];
	}
	ExecStoreVirtualTuple(slot);
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = slot;
}

/* Puts a row of the inner side beside the outer one; NULL for none. */
static void
fill_inner(FlussJoinState *state, TupleTableSlot *inner)
{
	TupleTableSlot *slot = state->css.ss.ss_ScanTupleSlot;

	if (inner != NULL)
		slot_getallattrs(inner);
	for (int i = 0; i < state->ncolumns; i++)
	{
		int			source = state->sources[i];

		if (source >= 0 || source == FLUSS_JOIN_NOWHERE)
			continue;
		source = FLUSS_JOIN_INNER(source);
		slot->tts_isnull[i] = inner == NULL ? true : inner->tts_isnull[source];
		slot->tts_values[i] = inner == NULL ? (Datum) 0 :
			inner->tts_values[source];
	}
}

/* --------------------------------------------------------------- joining */

/*
 * The next row of the join, in the scan tuple; false at the end.  Of a row that
 * needs one match only, the other rows are left.
 */
static bool
next_joined(FlussJoinState *state, bool (*advance) (FlussJoinState *),
			ExprState *quals)
{
	PlanState  *inner = lsecond(state->css.custom_ps);
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	JoinType	jointype = state->plan.jointype;

	for (;;)
	{
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		if (!state->have_outer)
		{
			if (!advance(state))
				return false;
			state->have_outer = true;
			state->matched = false;
		}
		while (!(state->matched && state->plan.single))
		{
			slot = ExecProcNode(inner);
			if (TupIsNull(slot))
				break;
			ResetExprContext(econtext);
			fill_inner(state, slot);
			if (!ExecQual(quals, econtext))
				continue;
			state->matched = true;
			if (jointype == JOIN_ANTI)
				break;
			return true;
		}
		state->have_outer = false;
		if (!state->matched &&
			(jointype == JOIN_LEFT || jointype == JOIN_ANTI))
		{
			fill_inner(state, NULL);
			return true;
		}
	}
}

static TupleTableSlot *
next_row(ScanState *node)
{
	FlussJoinState *state = (FlussJoinState *) node;

	if (state->windows == NULL)
	{
		FlussJoinOpenWindows(state);
		FlussJoinResetWindows(state);
	}
	if (!next_joined(state, FlussJoinNextOuter, state->quals))
		return ExecClearTuple(node->ss_ScanTupleSlot);
	return node->ss_ScanTupleSlot;
}

/*
 * The next outer row when a locked row is checked again: both children give
 * the rows to be checked, and nothing is looked up.
 */
static bool
next_outer_again(FlussJoinState *state)
{
	TupleTableSlot *slot = ExecProcNode(linitial(state->css.custom_ps));

	if (TupIsNull(slot))
		return false;
	ExecCopySlot(state->outer_slot, slot);
	FlussJoinFillOuter(state, state->outer_slot);
	ExecReScan(lsecond(state->css.custom_ps));
	return true;
}

/* Core asks for the rows one by one, until there is none. */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	return next_joined((FlussJoinState *) node, next_outer_again,
					   ((FlussJoinState *) node)->recheck_quals);
}

static TupleTableSlot *
exec_lookup_join(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

/* ----------------------------------------------------------- rescan, end */

static void
rescan_lookup_join(CustomScanState *node)
{
	FlussJoinState *state = (FlussJoinState *) node;
	ListCell   *lc;

	ExecScanReScan(&node->ss);
	foreach(lc, node->custom_ps)
	{
		PlanState  *child = lfirst(lc);

		if (node->ss.ps.chgParam != NULL)
			UpdateChangedParamSet(child, node->ss.ps.chgParam);
		if (child->chgParam == NULL)
			ExecReScan(child);
	}
	if (state->windows != NULL)
	{
		FlussJoinResetWindows(state);
		FlussHandOver(state->inner, NULL, FLUSS_NO_SLOT);
	}
	state->have_outer = false;
}

static void
end_lookup_join(CustomScanState *node)
{
	FlussJoinState *state = (FlussJoinState *) node;
	ListCell   *lc;

	MemoryContextDelete(state->context);
	state->windows = NULL;
	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

/* --------------------------------------------------------------- explain */

static const char *
join_type_name(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_LEFT:
			return "Left";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			return "Inner";
	}
}

static void
explain_clauses(CustomScanState *node, List *ancestors, const char *name,
				List *clauses, ExplainState *es)
{
	List	   *context;
	bool		useprefix = list_length(es->rtable) > 1 || es->verbose;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan,
									   ancestors);
	ExplainPropertyText(name,
						deparse_expression((Node *) make_ands_explicit(clauses),
										   context, useprefix, false),
						es);
}

static void
explain_lookup_join(CustomScanState *node, List *ancestors, ExplainState *es)
{
	FlussJoinState *state = (FlussJoinState *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	FlussScanState *inner = state->inner_scan->fdw_state;
	FlussOptions *options = inner->rel->options;
	List	   *quals = list_concat_copy(list_nth(plan->custom_exprs,
												  FLUSS_JOIN_OUTER_QUALS),
										 list_nth(plan->custom_exprs,
												  FLUSS_JOIN_QUALS));

	ExplainPropertyText("Fluss Table",
						psprintf("%s.%s", options->database_name,
								 options->table_name), es);
	explain_clauses(node, ancestors, "Fluss Key",
					list_nth(plan->custom_exprs, FLUSS_JOIN_KEYS), es);
	ExplainPropertyText("Fluss Join Type", join_type_name(state->plan.jointype),
						es);
	explain_clauses(node, ancestors, "Fluss Join Filter", quals, es);
	if (es->analyze && state->windows != NULL)
	{
		fluss_counters counters = {0};

		for (int i = 0; i < state->nwindows; i++)
			FlussAddCounters(&counters,
							 fluss_lookup_counters(state->windows[i].own));
		FlussAddCounters(&counters, fluss_lookup_counters(state->large));
		FlussExplainCounters(&counters, es);
	}
}
