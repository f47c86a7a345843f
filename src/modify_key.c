/*
 * modify_key.c
 *	  Rows of UPDATE and DELETE: their keys, and which may be changed.
 */
#include "modify.h"

#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"

/* --------------------------------------------------- rows by their keys */

static AttrNumber
find_junk(Plan *subplan, const char *name)
{
	return ExecFindJunkAttributeInTlist(subplan->targetlist, name);
}

static void
collect_keys(FlussModifyState *state, Plan *subplan)
{
	FlussRelation *rel = state->rel;
	int			nkeys = rel->table->schema->nprimary_key;

	state->keys = palloc0(sizeof(FlussRowKey) * Max(nkeys, 1));
	state->nkeys = nkeys;
	for (int i = 0; i < nkeys; i++)
	{
		const FlussAttribute *attr = FlussKeyAttribute(rel, i);
		FlussRowKey *key = &state->keys[i];

		key->attnum = attr->attnum;
		key->junk = find_junk(subplan, FlussJunkName(attr));
		if (key->junk == InvalidAttrNumber)
		{
			ResetPlanCache();
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
					 errmsg("table \"%s.%s\" has changed since the query was planned",
							rel->table->database, rel->table->name),
					 errhint("Execute the statement again.")));
		}
		FlussConverterInit(&key->converter, rel, attr->attnum);
		get_typlenbyval(attr->type, &key->typlen, &key->typbyval);
	}
	state->whole_row = find_junk(subplan, FLUSS_WHOLE_ROW);
}

/* The version column that decides whether the server takes a new row. */
static void
find_version(FlussModifyState *state)
{
	const char *engine = FlussMergeEngine(state->rel->table);
	const char *name;
	const FlussAttribute *attr = NULL;

	if (engine == NULL || strcmp(engine, "versioned") != 0)
		return;
	name = fluss_table_property(state->rel->table,
								"table.merge-engine.versioned.ver-column");
	if (name != NULL && FlussRemoteColumn(state->rel->table, name) >= 0)
		attr = FlussExactAttribute(state->rel,
								   FlussRemoteColumn(state->rel->table, name));
	if (attr == NULL)
		FlussRefuseOperation(state, "has the merge engine versioned, whose version column the foreign table lacks");
	state->version = palloc(sizeof(FlussConverter));
	FlussConverterInit(state->version, state->rel, attr->attnum);
}

static void
close_seen(void *seen)
{
	fluss_lookup_close(seen);
}

/*
 * A join may give a row several times.  SQL changes it once, so keys are
 * remembered, as those of a lookup that is never sent.
 */
static void
remember_keys(FlussModifyState *state)
{
	fluss_lookup_options options = {0};
	fluss_host	host = FlussHost(state->context);
	fluss_error err;

	options.max_batch_size = 1;
	options.max_inflight_requests = 1;
	options.max_buffered_bytes = fluss_max_buffered_bytes();
	FlussCloseOnReset(state->context, close_seen, (void **) &state->seen);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_open(state->rel->conn->client, &host,
								 state->rel->table, &options, &state->seen,
								 &err), err, state->rel->name);
}

/* What UPDATE and DELETE need beside a writer. */
void
FlussBeginByKey(FlussModifyState *state, ModifyTableState *mtstate,
			 ResultRelInfo *rri)
{
	PlanState  *subplan = outerPlanState(mtstate);

	collect_keys(state, subplan->plan);
	if (state->operation == CMD_UPDATE)
		find_version(state);
	if (!IsA(subplan, ForeignScanState))
		remember_keys(state);
	state->old_slot = MakeSingleTupleTableSlot(RelationGetDescr(rri->ri_RelationDesc),
											   &TTSOpsHeapTuple);
}

/* ------------------------------------------------------ update and delete */

/* The key of the plan's row, as values in the current context. */
fluss_value *
FlussKeyValues(FlussModifyState *state, TupleTableSlot *planSlot)
{
	fluss_value *values = palloc0(sizeof(fluss_value) * Max(state->nkeys, 1));

	for (int i = 0; i < state->nkeys; i++)
	{
		bool		is_null;
		Datum		datum = slot_getattr(planSlot, state->keys[i].junk,
										 &is_null);

		if (is_null)
			elog(ERROR, "the key of a row of foreign table \"%s\" is null",
				 state->rel->name);
		FlussFromDatum(&state->keys[i].converter, datum, &values[i]);
	}
	return values;
}

/* False when the row was changed by this statement before. */
bool
FlussIsFirstChange(FlussModifyState *state, const fluss_value *key)
{
	int			slot;
	fluss_error err;

	if (state->seen == NULL)
		return true;
	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_add(state->seen, key, &slot, &err), err,
			   state->rel->name);
	if (slot < state->nseen)
		return false;
	state->nseen = slot + 1;
	return true;
}

/* A BEFORE ROW trigger may have given the row another key. */
void
FlussCheckSameKey(FlussModifyState *state, TupleTableSlot *slot,
			   TupleTableSlot *planSlot)
{
	for (int i = 0; i < state->nkeys; i++)
	{
		FlussRowKey *key = &state->keys[i];
		bool		old_null;
		bool		new_null;
		Datum		old = slot_getattr(planSlot, key->junk, &old_null);
		Datum		new = slot_getattr(slot, key->attnum, &new_null);

		if (old_null || new_null ||
			!datum_image_eq(old, new, key->typbyval, key->typlen))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot update primary key column \"%s\" of foreign table \"%s\"",
							key->converter.attr->name, state->rel->name),
					 errhint("Delete the row and insert another one.")));
	}
}

/* The row as it was read, in old_slot. */
void
FlussFetchOldRow(FlussModifyState *state, TupleTableSlot *planSlot)
{
	bool		is_null;
	Datum		row = slot_getattr(planSlot, state->whole_row, &is_null);

	if (is_null)
		elog(ERROR, "the old row of foreign table \"%s\" is null",
			 state->rel->name);
	ExecStoreHeapTupleDatum(row, state->old_slot);
}

/* A version of a row; NULL comes before all others. */
static void
read_version(FlussModifyState *state, TupleTableSlot *slot,
			 fluss_value *version)
{
	bool		is_null;
	Datum		datum = slot_getattr(slot, state->version->attr->attnum,
									 &is_null);

	memset(version, 0, sizeof(*version));
	version->is_null = is_null;
	if (!is_null)
		FlussFromDatum(state->version, datum, version);
}

static bool
is_older(const fluss_type *type, const fluss_value *a, const fluss_value *b)
{
	if (a->is_null || b->is_null)
		return a->is_null && !b->is_null;
	if (type->id == FLUSS_INTEGER || type->id == FLUSS_BIGINT)
		return a->u.integer < b->u.integer;
	return a->u.timestamp.millis < b->u.timestamp.millis ||
		(a->u.timestamp.millis == b->u.timestamp.millis &&
		 a->u.timestamp.nanos < b->u.timestamp.nanos);
}

/* The server would drop a row of an older version in silence. */
void
FlussCheckVersion(FlussModifyState *state, TupleTableSlot *slot,
			  TupleTableSlot *planSlot)
{
	fluss_value old;
	fluss_value new;

	FlussFetchOldRow(state, planSlot);
	read_version(state, state->old_slot, &old);
	read_version(state, slot, &new);
	if (is_older(state->version->type, &new, &old))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot update a row of foreign table \"%s\" to an older version",
						state->rel->name),
				 errdetail("The merge engine of Fluss table \"%s.%s\" keeps the newest by column \"%s\".",
						   state->rel->table->database,
						   state->rel->table->name,
						   state->version->attr->name)));
}
