/*
 * modify_plan.c
 *	  Planning INSERT, UPDATE and DELETE, and what each table allows.
 *
 * UPDATE and DELETE find their rows by the primary key, which the plan's rows
 * carry in junk columns.  Their names have attribute number and type, so that
 * tables below one partitioned parent may differ.
 */
#include "modify.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/appendinfo.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* -------------------------------------------------------------- planning */

static void
refuse_log_table(const FlussRelation *rel, CmdType operation)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 operation == CMD_UPDATE ?
			 errmsg("cannot update foreign table \"%s\"", rel->name) :
			 errmsg("cannot delete from foreign table \"%s\"", rel->name),
			 errdetail("Fluss table \"%s.%s\" is a log table: rows can only be added.",
					   rel->table->database, rel->table->name)));
}

/* The junk column for a key column; the same for all that may share it. */
char *
FlussJunkName(const FlussAttribute *attr)
{
	return psprintf("fluss_key_%d_%u_%d_%u", attr->attnum, attr->type,
					attr->typmod, attr->collation);
}

/* The local column for a remote one that keeps its values whole, or NULL. */
const FlussAttribute *
FlussExactAttribute(const FlussRelation *rel, int32 remote)
{
	for (int i = 0; i < rel->natts; i++)
	{
		const FlussAttribute *attr = &rel->attrs[i];

		if (attr->remote_name != NULL && attr->remote == remote &&
			attr->metadata == FLUSS_META_NONE &&
			FlussRoundTrips(rel, attr->attnum))
			return attr;
	}
	return NULL;
}

const FlussAttribute *
FlussKeyAttribute(const FlussRelation *rel, int keyno)
{
	const fluss_schema *schema = rel->table->schema;
	int32		column = schema->primary_key[keyno];
	const FlussAttribute *attr = FlussExactAttribute(rel, column);

	if (attr == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot tell rows of foreign table \"%s\" by their key",
						rel->name),
				 errdetail("No column of it has exactly the values of primary key column \"%s\" of Fluss table \"%s.%s\".",
						   FlussNameFromRemote(schema->columns[column].name),
						   rel->table->database, rel->table->name)));
	return attr;
}

/*
 * Without metadata nothing is added: EXPLAIN works all the same, and the
 * execution tells what is wrong.
 */
void
flussAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
							 RangeTblEntry *target_rte,
							 Relation target_relation)
{
	FlussRelation *rel;
	fluss_error err;

	fluss_error_init(&err);
	rel = FlussRelationOpen(RelationGetRelid(target_relation),
							fluss_target_user(root), CurrentMemoryContext,
							&err);
	if (rel->table == NULL)
	{
		FlussRememberFailure(rel->conn, rel->relid, true, &err);
		return;
	}
	if (!FlussIsKeyed(rel))
		refuse_log_table(rel, root->parse->commandType);
	for (int i = 0; i < rel->table->schema->nprimary_key; i++)
	{
		const FlussAttribute *attr = FlussKeyAttribute(rel, i);
		Var		   *var = makeVar(rtindex, attr->attnum, attr->type,
								  attr->typmod, attr->collation, 0);

		add_row_identity_var(root, var, rtindex, FlussJunkName(attr));
	}
	/* what RETURNING of a DELETE shows; core adds it for an UPDATE */
	if (root->parse->commandType == CMD_DELETE &&
		root->parse->returningList != NIL)
		add_row_identity_var(root, makeVar(rtindex, InvalidAttrNumber,
										   RECORDOID, -1, InvalidOid, 0),
							 rtindex, FLUSS_WHOLE_ROW);
}

/*
 * A first_row table keeps the row it has, so it does nothing on conflict by
 * itself.
 */
void
FlussCheckOnConflict(OnConflictAction action, Oid relid, Oid userid)
{
	FlussRelation *rel;
	const char *engine = NULL;

	if (action == ONCONFLICT_NONE)
		return;
	if (action == ONCONFLICT_NOTHING)
	{
		rel = FlussRelationOpen(relid, userid, CurrentMemoryContext, NULL);
		engine = FlussMergeEngine(rel->table);
	}
	if (engine != NULL && strcmp(engine, "first_row") == 0)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("INSERT with ON CONFLICT is not supported by foreign table \"%s\"",
					get_rel_name(relid)),
			 errhint("An INSERT into a primary key table replaces the row with the same key; ON CONFLICT DO NOTHING works for the merge engine first_row.")));
}

/*
 * The plan remembers which columns it has an expression for: the default of a
 * view's column is to be seen nowhere else.
 */
List *
flussPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
					   Index resultRelation, int subplan_index)
{
	List	   *attnums = NIL;
	ListCell   *lc;

	if (plan->operation != CMD_INSERT)
		return NIL;
	FlussCheckOnConflict(plan->onConflictAction,
					  planner_rt_fetch(resultRelation, root)->relid,
					  fluss_target_user(root));
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
	return (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE);
}

void
flussExecForeignTruncate(List *rels, DropBehavior behavior, bool restart_seqs)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot truncate foreign table \"%s\"",
					RelationGetRelationName((Relation) linitial(rels))),
			 errhint("Make the Fluss table again with fluss_drop_table() and fluss_create_table().")));
}

/* ------------------------------------------------- what the table allows */

void
FlussRefuseOperation(const FlussModifyState *state, const char *why)
{
	const FlussRelation *rel = state->rel;

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 state->operation == CMD_UPDATE ?
			 errmsg("cannot update foreign table \"%s\"", rel->name) :
			 errmsg("cannot delete from foreign table \"%s\"", rel->name),
			 errdetail("Fluss table \"%s.%s\" %s.", rel->table->database,
					   rel->table->name, why)));
}

/* The server drops a delete in silence where the table ignores them. */
static void
check_delete(const FlussModifyState *state, const char *engine)
{
	const fluss_schema *schema = state->rel->table->schema;
	const char *behavior = fluss_table_property(state->rel->table,
												"table.delete.behavior");

	if (behavior == NULL)
		behavior = engine != NULL ? "IGNORE" : "ALLOW";
	if (pg_strcasecmp(behavior, "ALLOW") != 0)
		FlussRefuseOperation(state,
						 psprintf("has table.delete.behavior \"%s\"", behavior));
	/* the server takes such a delete only of all other columns: no row goes */
	if (schema->auto_increment >= 0)
		FlussRefuseOperation(state,
							 psprintf("has an auto-increment column, \"%s\"",
									  FlussNameFromRemote(schema->columns[schema->auto_increment].name)));
}

void
FlussCheckOperation(FlussModifyState *state)
{
	FlussRelation *rel = state->rel;
	const char *engine = FlussMergeEngine(rel->table);

	if (state->operation == CMD_INSERT)
		return;
	if (!FlussIsKeyed(rel))
		refuse_log_table(rel, state->operation);
	if (state->operation == CMD_DELETE)
		check_delete(state, engine);
	else if (engine != NULL && strcmp(engine, "first_row") == 0)
		FlussRefuseOperation(state, "keeps the first row of each key, by its merge engine first_row");
}
