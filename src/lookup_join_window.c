/*
 * lookup_join_window.c
 *	  The outer rows of a lookup join, and the lookups that are under way for
 *	  them.
 *
 * Outer rows are taken in windows.  A window ends when it has as many
 * different keys as one request may ask for, or all the memory it may take.
 * Its keys are sent when it is complete; while the rows of one window are
 * given, the answers for the next ones are on their way.  So windows form a
 * ring: the current one, and those sent after it.
 *
 * How large the answers are is not known before: when they outgrow a window's
 * share of memory, its keys are asked for again in smaller pieces.
 */
#include "lookup_join.h"

#include "utils/memutils.h"

#define MAX_WINDOWS	64
#define FIRST_ROWS	64
#define MOST_ROWS	(PG_INT32_MAX / 4)

void
FlussJoinOpenWindows(FlussJoinState *state)
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
	state->windows = palloc0(state->nwindows * sizeof(FlussJoinWindow));
	for (i = 0; i < state->nwindows; i++)
	{
		FlussJoinWindow *window = &state->windows[i];

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
empty_window(FlussJoinWindow *window)
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

void
FlussJoinResetWindows(FlussJoinState *state)
{
	for (int i = 0; i < state->nwindows; i++)
		empty_window(&state->windows[i]);
	state->current = state->nfilled = 0;
	state->most_rows = state->plan.first_rows > 0 ?
		Min(state->plan.first_rows, MOST_ROWS) : MOST_ROWS;
	state->outer_done = false;
}

static FlussJoinRow *
add_row(FlussJoinState *state, FlussJoinWindow *window, TupleTableSlot *outer)
{
	MemoryContext old = MemoryContextSwitchTo(window->context);
	FlussJoinRow *row;

	if (window->nrows == window->maxrows)
	{
		window->maxrows = Max(window->maxrows * 2, FIRST_ROWS);
		window->rows = window->rows == NULL ?
			palloc(window->maxrows * sizeof(FlussJoinRow)) :
			repalloc_huge(window->rows,
						  (Size) window->maxrows * sizeof(FlussJoinRow));
	}
	row = &window->rows[window->nrows++];
	row->tuple = ExecCopySlotMinimalTuple(outer);
	row->slot = FLUSS_NO_SLOT;
	window->bytes += sizeof(FlussJoinRow) + row->tuple->t_len;
	MemoryContextSwitchTo(old);
	return row;
}

/*
 * The key of the outer row in the scan tuple, in state->key.  False when it
 * matches nothing: a NULL, or a value that the column cannot have.
 */
static bool
evaluate_key(FlussJoinState *state, ExprContext *econtext)
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
ask_for_row(FlussJoinState *state, FlussJoinWindow *window,
			TupleTableSlot *outer, FlussJoinRow *row, fluss_error *err)
{
	ExprContext *econtext = state->css.ss.ps.ps_ExprContext;
	MemoryContext old;
	fluss_status status = FLUSS_OK;
	int			slot;
	bool		usable;

	ResetExprContext(econtext);
	FlussJoinFillOuter(state, outer);
	/* what a key value points to lives until the next row */
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	usable = evaluate_key(state, econtext);
	row->slot = FLUSS_NO_SLOT;
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
shrink_window(FlussJoinState *state, FlussJoinWindow *window, int first,
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
send_window(FlussJoinState *state, FlussJoinWindow *window, int first)
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
ask_piece(FlussJoinState *state, FlussJoinWindow *window, int first)
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
		FlussJoinRow *row = &window->rows[window->asked];

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
fill_window(FlussJoinState *state, FlussJoinWindow *window)
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
		FlussJoinRow *row;

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
		{
			state->outer_done = true;
			break;
		}
		row = add_row(state, window, slot);
		if (ask_for_row(state, window, slot, row, &err) != FLUSS_OK)
			break;
		if (drop && row->slot == FLUSS_NO_SLOT)
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
fill_ring(FlussJoinState *state)
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
answer_row(FlussJoinState *state, FlussJoinWindow *window, int at)
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
		if (window->rows[at].slot == FLUSS_NO_SLOT)
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

bool
FlussJoinNextOuter(FlussJoinState *state)
{
	FlussJoinWindow *window;
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
	FlussJoinFillOuter(state, state->outer_slot);
	FlussHandOver(state->inner,
				  window->rows[at].slot == FLUSS_NO_SLOT ? NULL : window->lookup,
				  window->rows[at].slot);
	return true;
}
