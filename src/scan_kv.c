/*
 * scan_kv.c
 *	  Lookups in a primary key table by the whole key: current state, nothing
 *	  is pinned.
 */
#include "fluss_fdw.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- lookups */

void
FlussLookupCompile(ForeignScanState *node, FlussScanState *state,
				   List *clauses)
{
	ListCell   *lc;

	state->keys = palloc0(list_length(clauses) * sizeof(FlussKeyPart));
	foreach(lc, clauses)
	{
		FlussKeyPart *key = &state->keys[state->nkeys++];
		Expr	   *value;

		if (!FlussSplitKeyClause(state->rel, state->varno, lfirst(lc),
								 &key->attnum, &value, &key->argtype,
								 &key->is_array))
			elog(ERROR, "lookup plan holds a clause that is no key");
		key->value = ExecInitExpr(value, &node->ss.ps);
	}
}

/* Adds a value that some row of the table may have. */
static void
add_key_value(FlussKeyPart *key, Datum datum)
{
	if (FlussKeyFromDatum(&key->converter, key->argtype, datum,
						  &key->values[key->nvalues]))
		key->nvalues++;
}

/* The values of one key column; NULL equals nothing. */
static void
evaluate_key(FlussKeyPart *key, ExprContext *econtext)
{
	bool		isnull;
	Datum		datum = ExecEvalExpr(key->value, econtext, &isnull);
	ArrayType  *array;
	int16		len;
	bool		byval;
	char		align;
	Datum	   *items;
	bool	   *nulls;
	int			n;

	key->nvalues = 0;
	if (isnull)
		return;
	if (!key->is_array)
	{
		key->values = palloc0(sizeof(fluss_value));
		add_key_value(key, datum);
		return;
	}

	array = DatumGetArrayTypeP(datum);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &len, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), len, byval, align, &items,
					  &nulls, &n);
	key->values = palloc0((n + 1) * sizeof(fluss_value));
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			add_key_value(key, items[i]);
	}
}

/* Adds every combination of the key columns' values. */
static void
add_keys(FlussScanState *state)
{
	int		   *at = palloc0(state->nkeys * sizeof(int));
	fluss_value *key = palloc0(state->nkeys * sizeof(fluss_value));
	fluss_error err;

	fluss_error_init(&err);
	for (;;)
	{
		fluss_status status;
		int			slot;
		int			i;

		for (i = 0; i < state->nkeys; i++)
			key[i] = state->keys[i].values[at[i]];
		status = fluss_lookup_add(state->lookup, key, &slot, &err);
		if (status == FLUSS_OK)
			state->nslots = Max(state->nslots, slot + 1);
		else if (status != FLUSS_INVALID_ARGUMENT)
			FlussRaise(&err, state->relname);

		for (i = state->nkeys - 1; i >= 0; i--)
		{
			if (++at[i] < state->keys[i].nvalues)
				break;
			at[i] = 0;
		}
		if (i < 0)
			break;
		CHECK_FOR_INTERRUPTS();
	}
}

static void
close_lookup(void *lookup)
{
	fluss_lookup_close(lookup);
}

void
FlussLookupOpen(FlussScanState *state, MemoryContext context, bool prefix,
				int64 max_bytes, fluss_lookup **lookup)
{
	FlussOptions *options = state->rel->options;
	fluss_lookup_options asked = {0};
	fluss_host	host = FlussHost(context);
	fluss_error err;

	asked.columns = state->columns;
	asked.ncolumns = state->ncolumns;
	asked.max_batch_size = options->lookup_max_batch_size;
	asked.max_inflight_requests = options->lookup_max_inflight_requests;
	asked.max_buffered_bytes = max_bytes;
	asked.prefix = prefix;
	asked.bucket_hash = options->bucket_hash_rs ?
		FLUSS_BUCKET_HASH_RS : FLUSS_BUCKET_HASH_FLUSS;
	fluss_error_init(&err);
	FlussCloseOnReset(context, close_lookup, (void **) lookup);
	FLUSS_CALL(fluss_lookup_open(state->rel->conn->client, &host,
								 state->rel->table, &asked, lookup, &err),
			   err, state->relname);
}

void
FlussLookupStart(ForeignScanState *node, FlussScanState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);
	bool		empty = false;
	fluss_error err;

	for (int i = 0; i < state->nkeys && !empty; i++)
	{
		evaluate_key(&state->keys[i], node->ss.ps.ps_ExprContext);
		empty = state->keys[i].nvalues == 0;
	}
	state->slot = state->nslots = 0;
	if (!empty)
	{
		if (state->lookup == NULL)
			FlussLookupOpen(state, state->context, false,
							fluss_max_buffered_bytes(), &state->lookup);
		fluss_lookup_reset(state->lookup);
		add_keys(state);
		fluss_error_init(&err);
		FLUSS_CALL(fluss_lookup_run(state->lookup, &err), err, state->relname);
	}
	MemoryContextSwitchTo(old);
}

bool
FlussLookupNext(FlussScanState *state, TupleTableSlot *slot)
{
	fluss_error err;

	fluss_error_init(&err);
	while (state->slot < state->nslots)
	{
		int			at = state->slot++;
		bool		found;

		FLUSS_CALL(fluss_lookup_row(state->lookup, at, &found, state->values,
									&err),
				   err, NULL);
		if (found)
		{
			fluss_bucket_ref place;

			place.partition_id = fluss_lookup_partition(state->lookup, at);
			place.bucket = fluss_lookup_bucket(state->lookup, at);
			FlussFillRow(state, slot, place);
			return true;
		}
	}
	return false;
}

/* ---------------------------------------------- rows of a lookup join */

void
FlussHandOver(FlussScanState *state, fluss_lookup *lookup, int slot)
{
	state->handed = lookup;
	state->handed_slot = slot;
	state->handed_row = 0;
}

bool
FlussHandedNext(FlussScanState *state, TupleTableSlot *slot)
{
	fluss_lookup *lookup = state->handed;
	int			at = state->handed_slot;
	fluss_bucket_ref place;
	fluss_error err;

	if (lookup == NULL || state->handed_row >= fluss_lookup_nrows(lookup, at))
		return false;
	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_nth_row(lookup, at, state->handed_row++,
									state->values, &err),
			   err, NULL);
	place.partition_id = fluss_lookup_partition(lookup, at);
	place.bucket = fluss_lookup_bucket(lookup, at);
	FlussFillRow(state, slot, place);
	return true;
}
