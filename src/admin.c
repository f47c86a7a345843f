/*
 * admin.c
 *	  Functions that change what a Fluss cluster has: databases and tables.
 *
 * They are for the owner of the foreign table, or for whom EXECUTE is granted
 * where there is none, and refused in read-only transactions.  What they do is
 * done at once: a ROLLBACK does not take it back.
 */
#include "fluss_fdw.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * Far above what clusters allow: a coordinator that is asked for many more runs
 * out of memory before it looks at its own limit.
 */
#define MAX_BUCKET_COUNT	(1 << 17)

/* ---------------------------------------------------------------- targets */

static void
enter_target(FlussTarget *target)
{
	memset(target, 0, sizeof(*target));
	target->context = AllocSetContextCreate(CurrentMemoryContext,
											"fluss function",
											ALLOCSET_DEFAULT_SIZES);
	target->caller = MemoryContextSwitchTo(target->context);
}

/* Anything that is a foreign table of ours has our handler's callbacks. */
static void
check_is_ours(Relation relation)
{
	if (relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE &&
		GetFdwRoutineByRelId(RelationGetRelid(relation))->GetForeignRelSize ==
		flussGetForeignRelSize)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a foreign table of fluss_fdw",
					RelationGetRelationName(relation))));
}

static void
check_table_privilege(Oid relid, const char *name, AclMode mode)
{
	AclResult	result;

	if (mode == 0)
		result = fluss_table_ownercheck(relid, GetUserId()) ?
			ACLCHECK_OK : ACLCHECK_NOT_OWNER;
	else
		result = pg_class_aclcheck(relid, GetUserId(), mode);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FOREIGN_TABLE, name);
}

static void
open_foreign_table(FlussTarget *target, Oid relid, AclMode mode)
{
	Relation	relation;

	relation = relation_open(relid, AccessShareLock);
	check_is_ours(relation);
	check_table_privilege(relid, RelationGetRelationName(relation), mode);
	target->rel = FlussRelationLocal(relid, target->context);
	target->relname = target->rel->name;
	relation_close(relation, NoLock);
	target->database = target->rel->options->database_name;
	target->table = target->rel->options->table_name;
	target->conn = FlussGetConnection(GetUserId(),
									  GetForeignTable(relid)->serverid,
									  target->context);
}

static void
open_server(FlussTarget *target, const char *name)
{
	ForeignServer *server = GetForeignServerByName(name, false);
	AclResult	result;

	result = fluss_server_aclcheck(server->serverid, GetUserId());
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FOREIGN_SERVER, server->servername);
	if (GetFdwRoutineByServerId(server->serverid)->GetForeignRelSize !=
		flussGetForeignRelSize)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("server \"%s\" is not a server of fluss_fdw",
						server->servername)));
	target->conn = FlussGetConnection(GetUserId(), server->serverid,
									  target->context);
}

void
FlussTargetOpenServer(FlussTarget *target, FunctionCallInfo fcinfo,
					  const char *database)
{
	FlussRequireArgument(fcinfo, 0, "server");
	enter_target(target);
	open_server(target, NameStr(*PG_GETARG_NAME(0)));
	target->database = database;
}

/* Each function is declared both ways, with one implementation. */
static bool
is_named_by_server(FunctionCallInfo fcinfo)
{
	Oid		   *types;
	int			n;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &n);
	return types[0] == NAMEOID;
}

void
FlussTargetOpen(FlussTarget *target, FunctionCallInfo fcinfo, AclMode mode)
{
	if (!is_named_by_server(fcinfo))
	{
		FlussRequireArgument(fcinfo, 0, "foreign_table");
		enter_target(target);
		open_foreign_table(target, PG_GETARG_OID(0), mode);
		target->nargs = 1;
		return;
	}
	FlussRequireArgument(fcinfo, 0, "server");
	FlussRequireArgument(fcinfo, 1, "database_name");
	FlussRequireArgument(fcinfo, 2, "table_name");
	FlussTargetOpenServer(target, fcinfo, FlussTextArgument(fcinfo, 1));
	target->table = FlussTextArgument(fcinfo, 2);
	target->nargs = 3;
}

fluss_table *
FlussTargetTable(FlussTarget *target)
{
	fluss_table **table = MemoryContextAllocZero(target->context,
												 sizeof(*table));
	fluss_error err;

	FlussCloseOnReset(target->context, FlussReleaseTable, (void **) table);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_table_open(target->conn->client, target->database,
								target->table, true, table, &err),
			   err, target->relname);
	return *table;
}

void
FlussTargetClose(FlussTarget *target)
{
	MemoryContextSwitchTo(target->caller);
	MemoryContextDelete(target->context);
}

/* -------------------------------------------------------------- arguments */

void
FlussRequireArgument(FunctionCallInfo fcinfo, int n, const char *name)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" must not be null", name)));
}

char *
FlussTextArgument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

static const char *
comment_argument(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : FlussNameToRemote(FlussTextArgument(fcinfo, n));
}

bool
FlussBoolArgument(FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) && PG_GETARG_BOOL(n);
}

/* ------------------------------------------------------------- databases */

PG_FUNCTION_INFO_V1(fluss_fdw_create_database);

PGDLLEXPORT Datum
fluss_fdw_create_database(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_create_database()");
	FlussRequireArgument(fcinfo, 1, "name");
	FlussTargetOpenServer(&target, fcinfo, FlussTextArgument(fcinfo, 1));
	fluss_error_init(&err);
	FLUSS_CALL(fluss_create_database(target.conn->client, target.database,
									 comment_argument(fcinfo, 2),
									 FlussBoolArgument(fcinfo, 3), &err),
			   err, NULL);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(fluss_fdw_drop_database);

PGDLLEXPORT Datum
fluss_fdw_drop_database(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_drop_database()");
	FlussRequireArgument(fcinfo, 1, "name");
	FlussTargetOpenServer(&target, fcinfo, FlussTextArgument(fcinfo, 1));
	fluss_error_init(&err);
	FLUSS_CALL(fluss_drop_database(target.conn->client, target.database,
								   FlussBoolArgument(fcinfo, 3),
								   FlussBoolArgument(fcinfo, 2), &err),
			   err, NULL);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------- create table */

/* The column of a new Fluss table that stands for a local column. */
static const char *
remote_name(const FlussRelation *rel, const char *name)
{
	for (int i = 0; i < rel->natts; i++)
	{
		const FlussAttribute *attr = &rel->attrs[i];

		if (attr->remote_name == NULL || strcmp(attr->name, name) != 0)
			continue;
		if (attr->metadata != FLUSS_META_NONE)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("metadata column \"%s\" of foreign table \"%s\" cannot be part of a key",
							name, rel->name)));
		return FlussNameToRemote(attr->remote_name);
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("column \"%s\" of foreign table \"%s\" does not exist",
					name, rel->name)));
}

const char **
FlussTextArray(ArrayType *array, const char *argument, int *n)
{
	Datum	   *elements;
	bool	   *nulls;
	const char **texts;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements,
					  &nulls, n);
	texts = palloc(sizeof(char *) * Max(*n, 1));
	for (int i = 0; i < *n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument \"%s\" must not contain nulls",
							argument)));
		texts[i] = TextDatumGetCString(elements[i]);
	}
	return texts;
}

/* An array of local column names as remote ones. */
static const char *const *
column_list(FunctionCallInfo fcinfo, int n, const char *argument,
			const FlussRelation *rel, int *count)
{
	const char **names;

	*count = 0;
	if (PG_ARGISNULL(n))
		return NULL;
	names = FlussTextArray(PG_GETARG_ARRAYTYPE_P(n), argument, count);
	for (int i = 0; i < *count; i++)
		names[i] = remote_name(rel, names[i]);
	return names;
}

static bool
is_listed(const char *name, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* A column for each attribute that is neither dropped, virtual nor metadata. */
static void
describe_columns(const FlussRelation *rel, fluss_table_spec *spec)
{
	Relation	relation = table_open(rel->relid, NoLock);
	TupleDesc	desc = RelationGetDescr(relation);
	fluss_column *columns = palloc0(sizeof(*columns) * Max(rel->natts, 1));

	for (int i = 0; i < rel->natts; i++)
	{
		const FlussAttribute *attr = &rel->attrs[i];
		Form_pg_attribute form = TupleDescAttr(desc, i);
		fluss_column *column = &columns[spec->ncolumns];
		FlussColumnOptions options;
		const char *name;

		if (attr->remote_name == NULL || fluss_is_virtual(form) ||
			attr->metadata != FLUSS_META_NONE)
			continue;
		name = FlussNameToRemote(attr->remote_name);
		for (int j = 0; j < spec->ncolumns; j++)
		{
			if (strcmp(columns[j].name, name) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("foreign table \"%s\" has more than one column for \"%s\"",
								rel->name, attr->remote_name)));
		}
		FlussGetColumnOptions(rel->relid, attr->attnum, &options);
		column->name = name;
		FlussTypeFromPg(attr->name, attr->type, attr->typmod,
						form->attnotnull ||
						is_listed(name, spec->primary_key,
								  spec->nprimary_key),
						options.fluss_type, &column->type);
		spec->ncolumns++;
	}
	spec->columns = columns;
	table_close(relation, NoLock);
}

char *
FlussJsonText(const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvString:
			return pnstrdup(value->val.string.val, value->val.string.len);
		case jbvNumeric:
			return DatumGetCString(DirectFunctionCall1(numeric_out,
													   NumericGetDatum(value->val.numeric)));
		case jbvBool:
			return pstrdup(value->val.boolean ? "true" : "false");
		default:
			return NULL;
	}
}

static char *
property_value(const char *key, const JsonbValue *value)
{
	char	   *result = FlussJsonText(value);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value of property \"%s\" must be a string, number or boolean",
						key)));
	return result;
}

fluss_property *
FlussJsonProperties(Jsonb *jsonb, const char *argument, int *n)
{
	JsonbIterator *it = JsonbIteratorInit(&jsonb->root);
	JsonbValue	value;
	JsonbIteratorToken token;
	fluss_property *properties;
	const char *key = "";

	if (!JB_ROOT_IS_OBJECT(jsonb))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be a JSON object", argument)));
	properties = palloc(sizeof(*properties) * Max(JB_ROOT_COUNT(jsonb), 1));
	*n = 0;
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		if (token == WJB_KEY)
			key = pnstrdup(value.val.string.val, value.val.string.len);
		else if (token == WJB_VALUE)
		{
			properties[*n].key = FlussNameToRemote(key);
			properties[(*n)++].value = FlussNameToRemote(property_value(key, &value));
		}
	}
	return properties;
}

/* Keys that begin with "table." are Fluss's own, the others are custom. */
static void
describe_properties(Jsonb *jsonb, fluss_table_spec *spec)
{
	int			n;
	fluss_property *all = FlussJsonProperties(jsonb, "properties", &n);
	fluss_property *own = palloc(sizeof(*own) * Max(n, 1));
	fluss_property *custom = palloc(sizeof(*custom) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		if (strncmp(all[i].key, "table.", strlen("table.")) == 0)
			own[spec->nproperties++] = all[i];
		else
			custom[spec->ncustom_properties++] = all[i];
	}
	spec->properties = own;
	spec->custom_properties = custom;
}

static void
describe_table(FunctionCallInfo fcinfo, const FlussRelation *rel,
			   fluss_table_spec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->primary_key = column_list(fcinfo, 1, "primary_key", rel,
									&spec->nprimary_key);
	spec->bucket_key = column_list(fcinfo, 2, "bucket_key", rel,
								   &spec->nbucket_key);
	if (!PG_ARGISNULL(3))
	{
		spec->nbuckets = PG_GETARG_INT32(3);
		if (spec->nbuckets < 1 || spec->nbuckets > MAX_BUCKET_COUNT)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"bucket_count\" must be between 1 and %d",
							MAX_BUCKET_COUNT)));
	}
	spec->partition_key = column_list(fcinfo, 4, "partitioned_by", rel,
									  &spec->npartition_key);
	if (!PG_ARGISNULL(5))
		describe_properties(PG_GETARG_JSONB_P(5), spec);
	spec->comment = comment_argument(fcinfo, 6);
	describe_columns(rel, spec);
}

PG_FUNCTION_INFO_V1(fluss_fdw_create_table);

PGDLLEXPORT Datum
fluss_fdw_create_table(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_table_spec spec;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_create_table()");
	FlussTargetOpen(&target, fcinfo, 0);
	describe_table(fcinfo, target.rel, &spec);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_create_table(target.conn->client, target.database,
								  target.table, &spec,
								  FlussBoolArgument(fcinfo, 7), &err),
			   err, target.relname);
	fluss_table_forget(target.conn->client, target.database, target.table);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------ drop table */

PG_FUNCTION_INFO_V1(fluss_fdw_drop_table);

PGDLLEXPORT Datum
fluss_fdw_drop_table(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_drop_table()");
	FlussTargetOpen(&target, fcinfo, 0);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_drop_table(target.conn->client, target.database,
								target.table,
								FlussBoolArgument(fcinfo, target.nargs),
								&err), err, target.relname);
	fluss_table_forget(target.conn->client, target.database, target.table);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}
