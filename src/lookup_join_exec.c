/*
 * lookup_join_exec.c
 *	  Execution of lookup joins.
 *
 * Outer rows are taken in windows.  A window ends when it has as many
 * different keys as one request may ask for, or all the memory it may take.
 * Its keys are sent when it is complete; while the rows of one window are
 * given, the answers for the next ones are on their way.  So windows form a
 * ring: the current one, and those sent after it.
 *
 * Rows come out in the order of the outer side.  Each is put into the scan
 * tuple, then the inner child gives the rows found for it, which passed the
 * inner table's own conditions.
 *
 * How large the answers are is not known before: when they outgrow a window's
 * share of memory, its keys are asked for again in smaller pieces.
 */
#include "fluss_fdw.h"

#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#define NO_SLOT		(-1)
#define MAX_WINDOWS	64
#define FIRST_ROWS	64
#define MOST_ROWS	(PG_INT32_MAX / 4)

typedef struct JoinRow
{
	MinimalTuple tuple;
	int			slot;			/* of the window's lookup; NO_SLOT: no match */
} JoinRow;

typedef struct JoinWindow
{
	MemoryContext context;		/* of the rows */
	fluss_lookup *own;
	fluss_lookup *lookup;		/* own, or the state's large one */
	JoinRow    *rows;
	int			nrows;
	int			maxrows;
	int64		bytes;			/* of the rows */
	int			next;			/* first row not yet given */
	int			asked;			/* rows before have their slots */
	int			nslots;
	bool		pieces;			/* its keys were too many for its share */
	bool		large_next;		/* ask for the next piece by the large lookup */
} JoinWindow;

typedef struct LookupJoinState
{
	CustomScanState css;
	FlussJoinPrivate plan;
	ForeignScanState *inner_scan;
	FlussScanState *inner;		/* its state, bound once a row came */
	MemoryContext context;		/* lookups and windows */

	/* expressions over the scan tuple */
	int			nkeys;			/* of the primary key */
	int			nvalues;
	ExprState **values;
	int		   *places;			/* in the primary key */
	FlussConverter *converters;
	fluss_value *key;			/* by place */
	ExprState  *outer_quals;
	ExprState  *quals;
	ExprState  *recheck_quals;	/* all, when no lookup vouches for the key */

	/* where the scan tuple's columns come from */
	int			ncolumns;
	int		   *sources;

	/* windows */
	int			nwindows;
	JoinWindow *windows;
	fluss_lookup *large;		/* for an answer that fills a window's share;
								 * only the current window uses it */
	int			current;
	int			nfilled;		/* from the current one on */
	int64		rows_limit;		/* bytes of a window's rows */
	int64		lookup_limit;	/* bytes of its keys and answers */
	int			batch_size;
	int			most_keys;		/* of a window: less when answers are large */
	double		most_rows;		/* grows while few rows are wanted */
	bool		outer_done;

	/* the current outer row */
	TupleTableSlot *outer_slot;
	bool		have_outer;
	bool		matched;
} LookupJoinState;

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
	LookupJoinState *state = palloc0(sizeof(*state));

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
compile_expressions(LookupJoinState *state, CustomScan *plan)
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
	LookupJoinState *state = (LookupJoinState *) node;
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

static void
fill_outer(LookupJoinState *state, TupleTableSlot *outer)
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
fill_inner(LookupJoinState *state, TupleTableSlot *inner)
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

/* ------------------------------------------------------------- windows */

/* The ring and what depends on the table. */
static void
open_windows(LookupJoinState *state)
{
	int64		cap = fluss_max_buffered_bytes();
	FlussOptions *options;
	MemoryContext old = MemoryContextSwitchTo(state->context);
	ListCell   *lc;
	int			i = 0;

	state->inner = FlussHandedOpen(state->inner_scan);
	options = state->inner->rel->options;
	state->nkeys = state->inner->rel->table->schema->nprimary_key;
	state->key = palloc0((state->nkeys + 1) * sizeof(fluss_value));
	state->places = palloc0((state->nvalues + 1) * sizeof(int));
	state->converters = palloc0((state->nvalues + 1) *
								sizeof(FlussConverter));
	foreach(lc, state->plan.attnums)
	{
		FlussCheckAttribute(state->inner->rel, lfirst_int(lc));
		FlussConverterInit(&state->converters[i], state->inner->rel,
						   lfirst_int(lc));
		state->places[i++] = FlussKeyNumber(state->inner->rel, lfirst_int(lc));
	}

	/* one that is given, and those in flight */
	state->nwindows = Min(options->lookup_max_inflight_requests, MAX_WINDOWS) + 1;
	state->batch_size = state->most_keys = options->lookup_max_batch_size;
	state->rows_limit = cap * FLUSS_JOIN_ROWS_SHARE / state->nwindows;
	state->lookup_limit = (cap - cap * FLUSS_JOIN_ROWS_SHARE) /
		state->nwindows;
	state->windows = palloc0(state->nwindows * sizeof(JoinWindow));
	for (i = 0; i < state->nwindows; i++)
	{
		JoinWindow *window = &state->windows[i];

		window->context = GenerationContextCreate(state->context,
												  "fluss lookup join rows",
												  ALLOCSET_DEFAULT_SIZES);
		FlussLookupOpen(state->inner, state->context, state->plan.prefix,
						state->lookup_limit, &window->own);
		window->lookup = window->own;
	}
	FlussLookupOpen(state->inner, state->context, state->plan.prefix, cap,
					&state->large);
	MemoryContextSwitchTo(old);
}

static void
empty_window(JoinWindow *window)
{
	fluss_lookup_reset(window->lookup);
	window->lookup = window->own;
	window->rows = NULL;
	window->nrows = window->maxrows = 0;
	window->next = window->asked = window->nslots = 0;
	window->pieces = window->large_next = false;
	window->bytes = 0;
	MemoryContextReset(window->context);
}

/* As before the first row. */
static void
reset_windows(LookupJoinState *state)
{
	for (int i = 0; i < state->nwindows; i++)
		empty_window(&state->windows[i]);
	state->current = state->nfilled = 0;
	state->most_rows = state->plan.first_rows > 0 ?
		Min(state->plan.first_rows, MOST_ROWS) : MOST_ROWS;
}

static JoinRow *
add_row(LookupJoinState *state, JoinWindow *window, TupleTableSlot *outer)
{
	MemoryContext old = MemoryContextSwitchTo(window->context);
	JoinRow    *row;

	if (window->nrows == window->maxrows)
	{
		window->maxrows = Max(window->maxrows * 2, FIRST_ROWS);
		window->rows = window->rows == NULL ?
			palloc(window->maxrows * sizeof(JoinRow)) :
			repalloc_huge(window->rows,
						  (Size) window->maxrows * sizeof(JoinRow));
	}
	row = &window->rows[window->nrows++];
	row->tuple = ExecCopySlotMinimalTuple(outer);
	row->slot = NO_SLOT;
	window->bytes += sizeof(JoinRow) + row->tuple->t_len;
	MemoryContextSwitchTo(old);
	return row;
}

/*
 * The key of the outer row in the scan tuple, in state->key.  False when it
 * matches nothing: a NULL, or a value that the column cannot have.
 */
static bool
evaluate_key(LookupJoinState *state, ExprContext *econtext)
{
	if (!ExecQual(state->outer_quals, econtext))
		return false;
	for (int i = 0; i < state->nvalues; i++)
	{
		bool		isnull;
		Datum		value = ExecEvalExprSwitchContext(state->values[i],
													  econtext, &isnull);

		if (isnull ||
			!FlussKeyFromDatum(&state->converters[i],
							   list_nth_oid(state->plan.argtypes, i), value,
							   &state->key[state->places[i]]))
			return false;
	}
	return true;
}

/*
 * Adds a row's key to the window's lookup.  FLUSS_MEMORY_CAP when there is no
 * room for it beside the others.
 */
static fluss_status
ask_for_row(LookupJoinState *state, JoinWindow *window, TupleTableSlot *outer,
			JoinRow *row, fluss_error *err)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	fluss_status status = FLUSS_OK;
	int			slot;
	bool		usable;

	ResetExprContext(econtext);
	fill_outer(state, outer);
	/* what a key value points to lives until the next row */
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	usable = evaluate_key(state, econtext);
	row->slot = NO_SLOT;
	if (usable)
		status = fluss_lookup_add(window->lookup, state->key, &slot, err);
	MemoryContextSwitchTo(old);
	if (!usable || status == FLUSS_NO_SUCH_KEY)
		return FLUSS_OK;
	if (status == FLUSS_OK)
	{
		row->slot = slot;
		window->nslots = Max(window->nslots, slot + 1);
	}
	else if (status != FLUSS_MEMORY_CAP || window->nslots == 0)
		FlussRaise(err, state->inner->relname);
	return status;
}

/*
 * The window's answers are too much at once: forgets them, so that its rows
 * from first on are asked for again, fewer at a time.
 */
static void
shrink_window(LookupJoinState *state, JoinWindow *window, int first,
			  const fluss_error *err)
{
	int			nslots = window->nslots;

	if (nslots <= 1 && window->lookup == state->large)
		FlussRaise(err, state->inner->relname);
	fluss_lookup_reset(window->lookup);
	window->nslots = 0;
	window->asked = first;
	window->pieces = true;
	state->most_keys = Max(nslots / 4, 1);
	/* even a single answer may be more than a window's share */
	window->large_next = nslots <= 1;
}

static void
send_window(LookupJoinState *state, JoinWindow *window, int first)
{
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	if (window->nslots == 0)
		return;
	status = fluss_lookup_send(window->lookup, &err);
	if (status == FLUSS_MEMORY_CAP)
		shrink_window(state, window, first, &err);
	else if (status != FLUSS_OK)
		FlussRaise(&err, state->inner->relname);
}

/* Asks for the keys of the next rows that found no room before. */
static void
ask_piece(LookupJoinState *state, JoinWindow *window, int first)
{
	fluss_error err;

	fluss_error_init(&err);
	fluss_lookup_reset(window->lookup);
	window->lookup = window->large_next ? state->large : window->own;
	window->large_next = false;
	window->nslots = 0;
	window->asked = first;
	while (window->asked < window->nrows &&
		   window->nslots < state->most_keys)
	{
		JoinRow    *row = &window->rows[window->asked];

		CHECK_FOR_INTERRUPTS();
		ExecStoreMinimalTuple(row->tuple, state->outer_slot, false);
		if (ask_for_row(state, window, state->outer_slot, row,
						&err) != FLUSS_OK)
			break;
		window->asked++;
	}
	send_window(state, window, first);
}

/* Takes rows from the outer side, and sends their keys. */
static void
fill_window(LookupJoinState *state, JoinWindow *window)
{
	PlanState  *outer = linitial(state->css.custom_ps);
	bool		drop = state->plan.jointype == JOIN_INNER ||
		state->plan.jointype == JOIN_SEMI;
	fluss_error err;

	fluss_error_init(&err);
	while (window->nslots < state->most_keys &&
		   window->nrows < state->most_rows &&
		   window->bytes < state->rows_limit)
	{
		TupleTableSlot *slot = ExecProcNode(outer);
		JoinRow    *row;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
		{
			state->outer_done = true;
			break;
		}
		row = add_row(state, window, slot);
		if (ask_for_row(state, window, slot, row, &err) != FLUSS_OK)
			break;
		if (drop && row->slot == NO_SLOT)
		{
			/* its memory goes with the window's */
			window->nrows--;
			continue;
		}
		window->asked++;
	}
	send_window(state, window, 0);
}

/*
 * Keeps the ring full.  While few rows are wanted, windows start small and
 * double, and none is sent ahead.
 */
static void
fill_ring(LookupJoinState *state)
{
	while (state->nfilled < state->nwindows && !state->outer_done)
	{
		bool		small = state->most_rows < state->most_keys;
		int			at = (state->current + state->nfilled) % state->nwindows;

		if (small && state->nfilled > 0)
			break;
		fill_window(state, &state->windows[at]);
		state->nfilled++;
		if (small)
			state->most_rows *= 2;
		else
			state->most_rows = MOST_ROWS;
	}
}

/* Sees to it that a row's answer is there. */
static void
answer_row(LookupJoinState *state, JoinWindow *window, int at)
{
	fluss_error err;

	fluss_error_init(&err);
	/* answers differ in size: step by step back to full requests */
	if (at >= window->asked && window->pieces)
		state->most_keys = Min(state->most_keys * 2, state->batch_size);
	for (;;)
	{
		fluss_status status;

		while (at >= window->asked)
			ask_piece(state, window, at);
		if (window->rows[at].slot == NO_SLOT)
			return;
		status = fluss_lookup_wait(window->lookup, window->rows[at].slot,
								   &err);
		if (status == FLUSS_OK)
			return;
		if (status != FLUSS_MEMORY_CAP)
			FlussRaise(&err, state->inner->relname);
		shrink_window(state, window, at, &err);
	}
}

/* Puts the next outer row into the scan tuple; false at the end. */
static bool
next_outer(LookupJoinState *state)
{
	JoinWindow *window;
	int			at;

	for (;;)
	{
		if (state->nfilled == 0)
			fill_ring(state);
		if (state->nfilled == 0)
			return false;
		window = &state->windows[state->current];
		if (window->next < window->nrows)
			break;
		empty_window(window);
		state->current = (state->current + 1) % state->nwindows;
		state->nfilled--;
		fill_ring(state);
	}
	at = window->next++;
	answer_row(state, window, at);
	ExecStoreMinimalTuple(window->rows[at].tuple, state->outer_slot, false);
	fill_outer(state, state->outer_slot);
	FlussHandOver(state->inner,
				  window->rows[at].slot == NO_SLOT ? NULL : window->lookup,
				  window->rows[at].slot);
	return true;
}

/* --------------------------------------------------------------- joining */

typedef enum JoinStep
{
	STEP_GIVE,					/* the scan tuple is a row of the join */
	STEP_ON,					/* look at the next inner row */
	STEP_DONE					/* with the outer row */
} JoinStep;

/* An inner row that matches the outer one. */
static JoinStep
take_match(LookupJoinState *state)
{
	state->matched = true;
	if (state->plan.jointype == JOIN_ANTI)
		return STEP_DONE;
	return STEP_GIVE;
}

/*
 * The next row of the join, in the scan tuple; false at the end.  Of a row that
 * needs one match only, the other rows are left.
 */
static bool
next_joined(LookupJoinState *state, bool (*advance) (LookupJoinState *),
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
			if (take_match(state) == STEP_DONE)
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
	LookupJoinState *state = (LookupJoinState *) node;

	if (state->windows == NULL)
	{
		open_windows(state);
		reset_windows(state);
	}
	if (!next_joined(state, next_outer, state->quals))
		return ExecClearTuple(node->ss_ScanTupleSlot);
	return node->ss_ScanTupleSlot;
}

/*
 * The next outer row when a locked row is checked again: both children give
 * the rows to be checked, and nothing is looked up.
 */
static bool
next_outer_again(LookupJoinState *state)
{
	TupleTableSlot *slot = ExecProcNode(linitial(state->css.custom_ps));

	if (TupIsNull(slot))
		return false;
	ExecCopySlot(state->outer_slot, slot);
	fill_outer(state, state->outer_slot);
	ExecReScan(lsecond(state->css.custom_ps));
	return true;
}

/* Core asks for the rows one by one, until there is none. */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	return next_joined((LookupJoinState *) node, next_outer_again,
					   ((LookupJoinState *) node)->recheck_quals);
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
	LookupJoinState *state = (LookupJoinState *) node;
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
		reset_windows(state);
		FlussHandOver(state->inner, NULL, NO_SLOT);
	}
	state->outer_done = state->have_outer = false;
}

static void
end_lookup_join(CustomScanState *node)
{
	LookupJoinState *state = (LookupJoinState *) node;
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
	LookupJoinState *state = (LookupJoinState *) node;
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
