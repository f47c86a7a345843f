/*
 * relation.c
 *	  A foreign table bound to its Fluss table.
 *
 * Columns are bound by name, never by position.  That a remote column is
 * missing or of another type is only an error once the column is used, so a
 * table whose schema has drifted still answers for the rest.
 */
#include "fluss_fdw.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* By FlussMetadata. */
static const Oid metadata_types[] = {
	[FLUSS_META_NONE] = InvalidOid,
	[FLUSS_META_BUCKET] = INT4OID,
	[FLUSS_META_LOG_OFFSET] = INT8OID,
	[FLUSS_META_COMMIT_TIMESTAMP] = TIMESTAMPTZOID,
	[FLUSS_META_CHANGE_TYPE] = TEXTOID,
	[FLUSS_META_PARTITION] = TEXTOID,
	[FLUSS_META_TABLE_ID] = INT8OID,
	[FLUSS_META_PARTITION_ID] = INT8OID
};

/* The one type that a metadata column has. */
Oid
FlussMetadataType(FlussMetadata metadata)
{
	return metadata_types[metadata];
}

static void
describe_attribute(Oid relid, Form_pg_attribute form, FlussAttribute *attr)
{
	FlussColumnOptions options;

	attr->attnum = form->attnum;
	attr->remote = -1;
	attr->partition_key = -1;
	if (form->attisdropped)
		return;
	FlussGetColumnOptions(relid, form->attnum, &options);
	attr->name = pstrdup(NameStr(form->attname));
	attr->remote_name = options.column_name ? options.column_name : attr->name;
	attr->type = form->atttypid;
	attr->typmod = form->atttypmod;
	attr->collation = form->attcollation;
	attr->not_null = form->attnotnull;
	attr->metadata = options.metadata;
	attr->event_time = options.event_time &&
		(attr->type == TIMESTAMPOID || attr->type == TIMESTAMPTZOID);
	attr->is_no_time = options.event_time && !attr->event_time;
	attr->max_clock_skew_ms = options.max_clock_skew_ms;
}

FlussRelation *
FlussRelationLocal(Oid relid, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	Relation	relation = table_open(relid, NoLock);
	TupleDesc	desc = RelationGetDescr(relation);
	FlussRelation *rel = palloc0(sizeof(*rel));

	rel->relid = relid;
	rel->name = pstrdup(RelationGetRelationName(relation));
	rel->options = FlussGetTableOptions(relid);
	if (rel->options->database_name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
				 errmsg("foreign table \"%s\" has no Fluss database",
						rel->name),
				 errhint("Set the option \"database_name\" of the foreign table or of its server.")));
	rel->natts = desc->natts;
	rel->attrs = palloc0(sizeof(FlussAttribute) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
		describe_attribute(relid, TupleDescAttr(desc, i), &rel->attrs[i]);
	table_close(relation, NoLock);
	MemoryContextSwitchTo(caller);
	return rel;
}

const char *
FlussNameToRemote(const char *name)
{
	return pg_server_to_any(name, strlen(name), PG_UTF8);
}

const char *
FlussNameFromRemote(const char *name)
{
	return pg_any_to_server(name, strlen(name), PG_UTF8);
}

int
FlussRemoteColumn(const fluss_table *table, const char *name)
{
	const fluss_schema *schema = table->schema;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (strcmp(schema->columns[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* The place in the partition key of a column with an acceptable type, or -1. */
static int
partition_key_of(const fluss_table *table, const FlussAttribute *attr)
{
	for (int i = 0; i < table->npartition_key; i++)
	{
		if (table->partition_key[i] == attr->remote &&
			FlussTypeAccepts(&table->schema->columns[attr->remote].type,
							 attr->type))
			return i;
	}
	return -1;
}

/*
 * Finds each attribute's remote column.  Both sides mostly have the same
 * order, so the column after the last one found is tried first.
 */
static void
bind_columns(FlussRelation *rel)
{
	const fluss_schema *schema = rel->table->schema;
	int			next = 0;

	for (int i = 0; i < rel->natts; i++)
	{
		FlussAttribute *attr = &rel->attrs[i];
		const char *remote_name;

		if (attr->remote_name == NULL || attr->metadata != FLUSS_META_NONE)
			continue;
		remote_name = FlussNameToRemote(attr->remote_name);
		if (next < schema->ncolumns &&
			strcmp(schema->columns[next].name, remote_name) == 0)
			attr->remote = next;
		else
			attr->remote = FlussRemoteColumn(rel->table, remote_name);
		if (attr->remote >= 0)
			next = attr->remote + 1;
		attr->partition_key = partition_key_of(rel->table, attr);
	}
}

/* A server that this statement could not reach is not waited for again. */
static fluss_status
find_table(FlussRelation *rel, fluss_error *err)
{
	const FlussOptions *options = rel->options;

	if (!fluss_table_is_cached(rel->conn->client, options->database_name,
							   options->table_name) &&
		FlussNoServer(rel->conn, err))
		return err->status;
	return fluss_table_open(rel->conn->client, options->database_name,
							options->table_name, false, &rel->table, err);
}

FlussRelation *
FlussRelationOpen(Oid relid, Oid userid, MemoryContext context,
				  fluss_error *err)
{
	FlussRelation *rel = FlussRelationLocal(relid, context);
	Oid			serverid = GetForeignTable(relid)->serverid;
	fluss_error local;
	fluss_status status;

	rel->conn = FlussGetConnection(userid, serverid, context);
	FlussCloseOnReset(context, FlussReleaseTable, (void **) &rel->table);
	fluss_error_init(&local);
	status = find_table(rel, &local);
	if (status == FLUSS_OK)
		bind_columns(rel);
	else if (err == NULL || status == FLUSS_INTERRUPTED)
	{
		FlussForgetFailure();
		FlussRaise(&local, rel->name);
	}
	else
		*err = local;
	return rel;
}

/* The description as it is now.  The one before lives as long as rel. */
static fluss_table *
ask_again(FlussRelation *rel)
{
	fluss_table *fresh = NULL;
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_table_open(rel->conn->client, rel->table->database,
								rel->table->name, true, &fresh, &err),
			   err, rel->name);
	return fresh;
}

static void
use_table(FlussRelation *rel, fluss_table *fresh)
{
	MemoryContext context = GetMemoryChunkContext(rel);
	fluss_table **old = MemoryContextAlloc(context, sizeof(*old));

	/* converters point into it */
	*old = rel->table;
	FlussCloseOnReset(context, FlussReleaseTable, (void **) old);
	rel->table = fresh;
	bind_columns(rel);
}

void
FlussRelationRefresh(FlussRelation *rel)
{
	use_table(rel, ask_again(rel));
}

/*
 * A column may have been added since the description was cached: asks once
 * more before it counts as missing.  Columns are only ever added at the end,
 * so positions bound before stay right.
 */
static void
refresh_columns(FlussRelation *rel)
{
	fluss_table *fresh = ask_again(rel);

	if (fresh->table_id == rel->table->table_id)
		use_table(rel, fresh);
	else
		fluss_table_release(fresh);
}

static void
raise_missing_column(FlussRelation *rel, const FlussAttribute *attr)
{
	const fluss_schema *schema = rel->table->schema;
	FlussNearestName nearest = {attr->remote_name, NULL, 0};

	for (int i = 0; i < schema->ncolumns; i++)
		FlussNearest(&nearest, FlussNameFromRemote(schema->columns[i].name));
	ereport(ERROR,
			(errcode(ERRCODE_FDW_COLUMN_NAME_NOT_FOUND),
			 errmsg("column \"%s\" does not exist in Fluss table \"%s.%s\"",
					attr->remote_name, rel->table->database, rel->table->name),
			 errdetail("Column \"%s\" of foreign table \"%s\" stands for it.",
					   attr->name, rel->name),
			 nearest.match != NULL ?
			 errhint("Perhaps you meant the column \"%s\"; the option \"column_name\" names it.",
					 nearest.match) :
			 errhint("Set the option \"column_name\" of the column, or drop it.")));
}

static void
raise_wrong_type(FlussRelation *rel, const FlussAttribute *attr)
{
	const char *pgtype = format_type_be(attr->type);
	const char *type;

	if (attr->metadata != FLUSS_META_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
				 errmsg("metadata column \"%s\" of foreign table \"%s\" has type %s, not %s",
						attr->name, rel->name, pgtype,
						format_type_be(metadata_types[attr->metadata]))));

	type = FlussTypeText(&rel->table->schema->columns[attr->remote].type);
	/* no nested type but a map by nested keys is without one of PostgreSQL's */
	if (rel->table->schema->columns[attr->remote].type.id >= FLUSS_ARRAY &&
		!FlussTypeAccepts(&rel->table->schema->columns[attr->remote].type,
						  JSONBOID))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("columns of type %s are not supported", type),
				 errdetail("Column \"%s\" of foreign table \"%s\" has that type in Fluss table \"%s.%s\".",
						   attr->name, rel->name, rel->table->database,
						   rel->table->name)));
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("column \"%s\" of foreign table \"%s\" cannot have type %s",
					attr->name, rel->name, pgtype),
			 errdetail("The column \"%s\" of Fluss table \"%s.%s\" has type %s.",
					   attr->remote_name, rel->table->database,
					   rel->table->name, type)));
}

static void
raise_no_event_time(const FlussRelation *rel, const FlussAttribute *attr)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("column \"%s\" of foreign table \"%s\" cannot have the option \"event_time\"",
					attr->name, rel->name),
			 errdetail("It has type %s.", format_type_be(attr->type)),
			 errhint("An event time is of type timestamp or timestamptz: drop the option.")));
}

/* The column exists on the other side, or needs none, and the types agree. */
static bool
has_right_type(const FlussRelation *rel, const FlussAttribute *attr)
{
	if (attr->metadata != FLUSS_META_NONE)
		return attr->type == metadata_types[attr->metadata];
	return FlussTypeAccepts(&rel->table->schema->columns[attr->remote].type,
							attr->type);
}

void
FlussCheckAttribute(FlussRelation *rel, AttrNumber attnum)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];

	Assert(attnum > 0 && attnum <= rel->natts && attr->remote_name != NULL);
	if (attr->metadata == FLUSS_META_NONE && attr->remote < 0)
		refresh_columns(rel);
	if (attr->metadata == FLUSS_META_NONE && attr->remote < 0)
		raise_missing_column(rel, attr);
	if (!has_right_type(rel, attr))
		raise_wrong_type(rel, attr);
	if (attr->is_no_time)
		raise_no_event_time(rel, attr);
}

/*
 * Ids are a cluster's own, and clusters have none: but two tables of one name
 * and id are hardly made in the same millisecond.
 */
bool
FlussIsSameTable(const fluss_table *a, const fluss_table *b)
{
	return a->table_id == b->table_id && a->created_ms == b->created_ms &&
		strcmp(a->name, b->name) == 0 &&
		strcmp(a->database, b->database) == 0;
}

bool
FlussIsMapped(const FlussRelation *rel, int remote)
{
	for (int i = 0; i < rel->natts; i++)
	{
		if (rel->attrs[i].remote_name != NULL && rel->attrs[i].remote == remote)
			return true;
	}
	return false;
}

bool
FlussIsKeyed(const FlussRelation *rel)
{
	return rel->table->schema->nprimary_key > 0;
}

bool
FlussReadsState(const FlussRelation *rel)
{
	return FlussIsKeyed(rel) &&
		rel->options->scan_mode != FLUSS_MODE_CHANGELOG;
}
