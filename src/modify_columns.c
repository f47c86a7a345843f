/*
 * modify_columns.c
 *	  Which remote columns a command writes, and whether it may.
 *
 * INSERT writes what the command gives, and what a default or generated
 * expression does; UPDATE what it sets, what is generated from that, and the
 * key, which says where.  A BEFORE ROW trigger may change anything: then every
 * mapped column is written.  If those are not all columns of the *remote*
 * table, a primary key table gets a partial update, which leaves the rest of
 * the row alone, and never NULLs for columns the command said nothing about.
 */
#include "modify.h"

#include "access/table.h"
#include "commands/trigger.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

const char *
FlussMergeEngine(const fluss_table *table)
{
	const char *engine = fluss_table_property(table, "table.merge-engine");

	char	   *lower;

	if (engine == NULL || pg_strcasecmp(engine, "none") == 0)
		return NULL;
	lower = pstrdup(engine);
	for (char *c = lower; *c != '\0'; c++)
		*c = pg_tolower((unsigned char) *c);
	return lower;
}

bool
FlussRoundTrips(const FlussRelation *rel, AttrNumber attnum)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];
	const fluss_type *type = &rel->table->schema->columns[attr->remote].type;

	switch (FlussConversionFor(type, attr->type))
	{
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return type->precision <= 6;
		case FLUSS_CONVERT_TEXT:
		case FLUSS_CONVERT_VARCHAR:
		case FLUSS_CONVERT_JSON:
			return rel->options->invalid_text == FLUSS_TEXT_ERROR;
		case FLUSS_CONVERT_JSONB:
			/* jsonb has its own order of keys; a MAP or ROW has none */
			return type->id != FLUSS_STRING &&
				rel->options->invalid_text == FLUSS_TEXT_ERROR;
		case FLUSS_CONVERT_BPCHAR:
		case FLUSS_CONVERT_NONE:
			return false;
		default:
			return true;
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

/* ------------------------------------------------------- written columns */

static bool
has_before_row_trigger(CmdType operation, ResultRelInfo *rri)
{
	if (rri->ri_TrigDesc == NULL)
		return false;
	return operation == CMD_UPDATE ?
		rri->ri_TrigDesc->trig_update_before_row :
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

/* Columns that an INSERT writes, as a set of attnums. */
static Bitmapset *
inserted_attributes(const FlussModifyState *state, ModifyTableState *mtstate,
					ResultRelInfo *rri)
{
	ResultRelInfo *root = rri->ri_RootResultRelInfo ?
		rri->ri_RootResultRelInfo : rri;
	TupleDesc	desc = RelationGetDescr(rri->ri_RelationDesc);
	Bitmapset  *given = ExecGetInsertedCols(rri, mtstate->ps.state);
	/* a row that an UPDATE moves here comes whole */
	bool		all = mtstate->operation != CMD_INSERT ||
		has_before_row_trigger(CMD_INSERT, rri) ||
		has_before_row_trigger(CMD_INSERT, root);
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

/* What only a trigger may change is written back as it was read. */
static void
check_unchanged(const FlussModifyState *state, AttrNumber attnum)
{
	const FlussAttribute *attr = &state->rel->attrs[attnum - 1];

	if (attr->remote >= 0 && !FlussRoundTrips(state->rel, attnum))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot update foreign table \"%s\" with a BEFORE ROW trigger",
						state->rel->name),
				 errdetail("Values of column \"%s\" that were read cannot be written back exactly.",
						   attr->name)));
}

/*
 * The updated columns and what is generated from them.  Core's own set is not
 * there yet when a modification begins, and asking for it makes it: twice.
 */
static Bitmapset *
with_generated(ResultRelInfo *rri, const Bitmapset *updated)
{
	Relation	rel = rri->ri_RelationDesc;
	TupleDesc	desc = RelationGetDescr(rel);
	Bitmapset  *result = bms_copy(updated);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);
		Bitmapset  *used = NULL;

		if (attr->attgenerated != ATTRIBUTE_GENERATED_STORED)
			continue;
		pull_varattnos(build_column_default(rel, attr->attnum), 1, &used);
		if (bms_overlap(updated, used))
			result = bms_add_member(result, attr->attnum -
									FirstLowInvalidHeapAttributeNumber);
	}
	return result;
}

/* Columns that an UPDATE writes, without the key. */
static Bitmapset *
updated_attributes(const FlussModifyState *state, ModifyTableState *mtstate,
				   ResultRelInfo *rri)
{
	EState	   *estate = mtstate->ps.state;
	TupleDesc	desc = RelationGetDescr(rri->ri_RelationDesc);
	Bitmapset  *given = with_generated(rri, ExecGetUpdatedCols(rri, estate));
	bool		all = has_before_row_trigger(CMD_UPDATE, rri);
	Bitmapset  *result = NULL;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attr = TupleDescAttr(desc, i);
		FlussMetadata metadata = state->rel->attrs[i].metadata;

		if (attr->attisdropped || fluss_is_virtual(attr))
			continue;
		if (bms_is_member(attr->attnum - FirstLowInvalidHeapAttributeNumber,
						  given))
			result = bms_add_member(result, attr->attnum);
		else if (all && metadata == FLUSS_META_NONE)
		{
			check_unchanged(state, attr->attnum);
			result = bms_add_member(result, attr->attnum);
		}
	}
	return result;
}

void
FlussRefuseColumn(const FlussModifyState *state, AttrNumber attnum)
{
	const FlussAttribute *attr = &state->rel->attrs[attnum - 1];

	if (attr->metadata == FLUSS_META_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot write column \"%s\" of foreign table \"%s\"",
						attr->name, state->rel->name),
				 errdetail("Fluss gives the column its values.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot write metadata column \"%s\" of foreign table \"%s\"",
					attr->name, state->rel->name),
			 errhint("Name the columns to write without it.")));
}

static void
refuse_key_update(const FlussModifyState *state, AttrNumber attnum)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot update primary key column \"%s\" of foreign table \"%s\"",
					state->rel->attrs[attnum - 1].name, state->rel->name),
			 errhint("Delete the row and insert another one.")));
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

/* Marks a remote column as written from an attribute. */
static void
add_column(FlussModifyState *state, AttrNumber attnum, bool *marks)
{
	FlussRelation *rel = state->rel;
	const FlussAttribute *attr = &rel->attrs[attnum - 1];

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

/* Fluss gives it its values. */
static bool
is_read_only(const FlussRelation *rel, const FlussAttribute *attr)
{
	return attr->metadata != FLUSS_META_NONE ||
		attr->remote == rel->table->schema->auto_increment;
}

/* The key of the row says where an UPDATE writes. */
static void
collect_updated(FlussModifyState *state, Bitmapset *attnums, bool triggered,
				bool *marks)
{
	FlussRelation *rel = state->rel;
	int			attnum = -1;

	for (int i = 0; i < state->nkeys; i++)
		add_column(state, state->keys[i].attnum, marks);
	state->check_key = triggered;
	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		FlussAttribute *attr = &rel->attrs[attnum - 1];

		if (attr->metadata != FLUSS_META_NONE)
			FlussRefuseColumn(state, attnum);
		if (is_key_column(rel->table->schema, attr->remote))
		{
			if (!triggered)
				refuse_key_update(state, attnum);
		}
		else if (attr->remote != rel->table->schema->auto_increment)
			add_column(state, attnum, marks);
		else if (!triggered)
			FlussRefuseColumn(state, attnum);
	}
}

/*
 * Read-only columns that the command names are refused; where it says nothing
 * of columns (a routed row, a trigger) only a value for them is.
 */
static void
collect_inserted(FlussModifyState *state, Bitmapset *attnums, bool named,
				 bool *marks)
{
	FlussRelation *rel = state->rel;
	int			attnum = -1;

	while ((attnum = bms_next_member(attnums, attnum)) >= 0)
	{
		if (!is_read_only(rel, &rel->attrs[attnum - 1]))
			add_column(state, attnum, marks);
		else if (named)
			FlussRefuseColumn(state, attnum);
		else
			state->read_only[state->nread_only++] = attnum;
	}
}

bool *
FlussCollectColumns(FlussModifyState *state, ModifyTableState *mtstate,
					ResultRelInfo *rri)
{
	FlussRelation *rel = state->rel;
	bool		triggered = has_before_row_trigger(state->operation, rri);
	Bitmapset  *attnums = state->operation == CMD_UPDATE ?
		updated_attributes(state, mtstate, rri) :
		inserted_attributes(state, mtstate, rri);
	bool	   *marks;

	check_columns(rel, attnums);
	marks = palloc0(sizeof(bool) * Max(rel->table->schema->ncolumns, 1));
	state->written = palloc(sizeof(FlussConverter) * Max(rel->natts, 1));
	state->read_only = palloc(sizeof(AttrNumber) * Max(rel->natts, 1));
	if (state->operation == CMD_UPDATE)
		collect_updated(state, attnums, triggered, marks);
	else
		collect_inserted(state, attnums,
						 rri->ri_RootResultRelInfo == NULL && !triggered,
						 marks);
	return marks;
}

/* -------------------------------------------------------- partial updates */

static void
refuse_missing(const FlussRelation *rel, const fluss_column *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_NOT_NULL_VIOLATION),
			 errmsg("column \"%s\" of Fluss table \"%s.%s\" must have a value",
					FlussNameFromRemote(column->name), rel->table->database,
					rel->table->name),
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
					   FlussNameFromRemote(missing->name), why)));
}

void
FlussCheckLogColumns(const FlussRelation *rel, const bool *marks)
{
	const fluss_schema *schema = rel->table->schema;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!marks[i] && !schema->columns[i].type.nullable)
			refuse_missing(rel, &schema->columns[i]);
	}
}

/* Why the server would refuse a partial update of the table, or NULL. */
static const char *
whole_rows_only(const FlussRelation *rel)
{
	const fluss_schema *schema = rel->table->schema;
	const char *engine = FlussMergeEngine(rel->table);

	if (engine != NULL && (strcmp(engine, "first_row") == 0 ||
						   strcmp(engine, "versioned") == 0))
		return psprintf("the merge engine %s needs whole rows", engine);
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!schema->columns[i].type.nullable && !is_key_column(schema, i) &&
			i != schema->auto_increment)
			return psprintf("column \"%s\" is NOT NULL without being part of the primary key",
							FlussNameFromRemote(schema->columns[i].name));
	}
	return NULL;
}

/* The first column that is not written; an auto-increment one comes last. */
static int
missing_column(const fluss_schema *schema, const bool *marks)
{
	int			missing = -1;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!marks[i] && (missing < 0 || missing == schema->auto_increment))
			missing = i;
	}
	return missing;
}

/*
 * The row was read, so an UPDATE can write it whole where it has to: what the
 * command does not set goes back as it came.
 */
static void
complete_row(FlussModifyState *state, bool *marks, const char *why)
{
	FlussRelation *rel = state->rel;
	const fluss_schema *schema = rel->table->schema;

	for (int i = 0; i < rel->natts; i++)
	{
		const FlussAttribute *attr = &rel->attrs[i];

		if (attr->remote_name != NULL && attr->remote >= 0 &&
			attr->metadata == FLUSS_META_NONE && !marks[attr->remote] &&
			FlussTypeAccepts(&schema->columns[attr->remote].type, attr->type) &&
			FlussRoundTrips(rel, attr->attnum))
			add_column(state, attr->attnum, marks);
	}
	if (missing_column(schema, marks) >= 0)
		refuse_partial(rel, &schema->columns[missing_column(schema, marks)],
					   why);
}

static void
check_key_columns(const FlussRelation *rel, const bool *marks)
{
	const fluss_schema *schema = rel->table->schema;

	for (int i = 0; i < schema->nprimary_key; i++)
	{
		if (!marks[schema->primary_key[i]])
			refuse_missing(rel, &schema->columns[schema->primary_key[i]]);
	}
}

int32_t *
FlussTargetColumns(FlussModifyState *state, const bool *given, int *ntargets)
{
	FlussRelation *rel = state->rel;
	const fluss_schema *schema = rel->table->schema;
	int32_t    *targets = palloc(sizeof(int32_t) * Max(schema->ncolumns, 1));
	bool	   *marks = palloc(sizeof(bool) * Max(schema->ncolumns, 1));
	const char *why;

	*ntargets = 0;
	memcpy(marks, given, sizeof(bool) * schema->ncolumns);
	if (missing_column(schema, marks) < 0)
		return NULL;
	check_key_columns(rel, marks);
	why = whole_rows_only(rel);
	if (why != NULL && state->operation == CMD_UPDATE)
	{
		complete_row(state, marks, why);
		return NULL;
	}
	if (why != NULL)
		refuse_partial(rel, &schema->columns[missing_column(schema, marks)],
					   why);
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (marks[i])
			targets[(*ntargets)++] = i;
	}
	return targets;
}
