/*
 * scan_kv.c
 *	  Lookups in a primary key table by the key or its prefix, and the rows that
 *	  a lookup join hands over: current state, nothing is pinned.
 */
#include "fluss_fdw.h"

#include "mb/pg_wchar.h"
#include "utils/memutils.h"

/* ---------------------------------------------------------------- lookups */

static void
add_keys(FlussScanState *state, const fluss_value **keys, int nkeys)
{
	fluss_error err;

	fluss_error_init(&err);
	for (int i = 0; i < nkeys; i++)
	{
		int			slot;
		fluss_status status;

		CHECK_FOR_INTERRUPTS();
		status = fluss_lookup_add(state->lookup, keys[i], &slot, &err);
		if (status == FLUSS_OK)
			state->nslots = Max(state->nslots, slot + 1);
		else if (status != FLUSS_NO_SUCH_KEY)
			FlussRaise(&err, state->relname);
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
	const fluss_value **keys;
	int			nkeys = FlussKeyEvaluate(state->keys,
										 node->ss.ps.ps_ExprContext, &keys);
	fluss_error err;

	state->slot = state->nslots = state->slot_row = 0;
	if (nkeys > 0)
	{
		if (state->lookup == NULL)
			FlussLookupOpen(state, state->context, state->plan.prefix,
							fluss_max_buffered_bytes(), &state->lookup);
		fluss_lookup_reset(state->lookup);
		add_keys(state, keys, nkeys);
		fluss_error_init(&err);
		FLUSS_CALL(fluss_lookup_run(state->lookup, &err), err, state->relname);
	}
	MemoryContextSwitchTo(old);
}

/* Fills a slot with a row that a lookup found. */
static void
fill_found(FlussScanState *state, fluss_lookup *lookup, int at, int row,
		   TupleTableSlot *slot)
{
	fluss_bucket_ref place;
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_row(lookup, at, row, state->values, &err),
			   err, NULL);
	place.partition_id = fluss_lookup_partition(lookup, at);
	place.bucket = fluss_lookup_bucket(lookup, at);
	FlussFillRow(state, slot, place);
}

bool
FlussLookupNext(FlussScanState *state, TupleTableSlot *slot)
{
	for (; state->slot < state->nslots; state->slot++, state->slot_row = 0)
	{
		if (state->slot_row < fluss_lookup_nrows(state->lookup, state->slot))
		{
			fill_found(state, state->lookup, state->slot, state->slot_row++,
					   slot);
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

	if (lookup == NULL || state->handed_row >= fluss_lookup_nrows(lookup, at))
		return false;
	fill_found(state, lookup, at, state->handed_row++, slot);
	return true;
}

/* ------------------------------------------------------ the key, for CONTEXT */

#define MAX_KEY_TEXT 64			/* bytes of a key's text that are shown */

/* Throws nothing, as it runs while an error is reported. */
static void
append_key_value(StringInfo out, const fluss_type *type,
				 const fluss_value *value)
{
	const char *data = (const char *) value->u.bytes.data;
	char		shown[FLUSS_PARTITION_TEXT_SIZE];
	fluss_error err;

	fluss_error_init(&err);
	if ((type->id == FLUSS_STRING || type->id == FLUSS_CHAR) &&
		GetDatabaseEncoding() == PG_UTF8)
		appendBinaryStringInfo(out, data,
							   pg_encoding_verifymbstr(PG_UTF8, data,
													   (int) Min(value->u.bytes.size, MAX_KEY_TEXT)));
	else if (fluss_partition_text(type, value, shown, &err) == FLUSS_OK)
		appendStringInfoString(out, shown);
	else
		appendStringInfoString(out, "...");
}

void
FlussKeyContext(void *arg)
{
	const FlussScanState *state = arg;
	const fluss_schema *schema = state->rel->table->schema;
	StringInfoData names;
	StringInfoData values;

	initStringInfo(&names);
	initStringInfo(&values);
	for (int i = 0; i < schema->nprimary_key; i++)
	{
		const fluss_column *column = &schema->columns[schema->primary_key[i]];

		appendStringInfo(&names, "%s%s", i > 0 ? ", " : "", column->name);
		if (i > 0)
			appendStringInfoString(&values, ", ");
		append_key_value(&values, &column->type,
						 &state->values[state->key_columns[i]]);
	}
	errcontext("key (%s)=(%s)", names.data, values.data);
}
