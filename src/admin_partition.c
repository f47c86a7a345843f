/*
 * admin_partition.c
 *	  Functions that create and drop partitions of a Fluss table.
 *
 * A partition is given as a JSON object, a value for each partition column.
 * Of a foreign table these are its own columns, and values as PostgreSQL
 * writes them; of a table named by server these are Fluss's columns, and the
 * values as they stand in the names of partitions.
 */
#include "fluss_fdw.h"

#include "fmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

static fluss_table *
open_table(FlussTarget *target)
{
	fluss_table *table = FlussTargetTable(target);

	if (table->npartition_key == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("Fluss table \"%s.%s\" is not partitioned",
						table->database, table->name)));
	return table;
}

/* ----------------------------------------------------------------- values */

/* The local column for a partition column; NULL when there is none. */
static const FlussAttribute *
local_column(const FlussRelation *rel, const char *remote)
{
	for (int i = 0; i < rel->natts; i++)
	{
		const FlussAttribute *attr = &rel->attrs[i];

		if (attr->remote_name != NULL && attr->metadata == FLUSS_META_NONE &&
			strcmp(FlussNameToRemote(attr->remote_name), remote) == 0)
			return attr;
	}
	return NULL;
}

/* A PostgreSQL value's text, as it stands in a partition's name. */
static char *
partition_text(FlussTarget *target, const FlussAttribute *attr,
			   const fluss_type *type, char *input)
{
	FlussRelation *rel = target->rel;
	FlussConverter converter;
	fluss_value value;
	fluss_error err;
	Oid			input_function;
	Oid			ioparam;
	Datum		datum;
	char	   *result = palloc(FLUSS_PARTITION_TEXT_SIZE);

	FlussCheckAttribute(rel, attr->attnum);
	FlussConverterInit(&converter, rel, attr->attnum);
	getTypeInputInfo(attr->type, &input_function, &ioparam);
	datum = OidInputFunctionCall(input_function, input, ioparam, attr->typmod);
	memset(&value, 0, sizeof(value));
	FlussFromDatum(&converter, datum, &value);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_partition_text(type, &value, result, &err), err,
			   rel->name);
	return result;
}

/* Takes the value of a column out of the object, and counts it. */
static char *
take_value(Jsonb *spec, const char *name, int *taken)
{
	JsonbValue	value;
	char	   *result;

	if (getKeyJsonValueFromContainer(&spec->root, name, strlen(name),
									 &value) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("partition column \"%s\" has no value", name),
				 errhint("The argument \"spec\" is an object with a value for each partition column.")));
	(*taken)++;
	result = FlussJsonText(&value);
	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value of partition column \"%s\" must be a string, number or boolean",
						name)));
	return result;
}

/* The values of a partition, in partition key order. */
static const char **
partition_values(FlussTarget *target, const fluss_table *table, Jsonb *spec)
{
	const char **values = palloc(sizeof(char *) * table->npartition_key);
	int			taken = 0;

	if (!JB_ROOT_IS_OBJECT(spec))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"spec\" must be a JSON object")));
	for (int i = 0; i < table->npartition_key; i++)
	{
		const fluss_column *column =
			&table->schema->columns[table->partition_key[i]];
		const char *remote = FlussNameFromRemote(column->name);
		const FlussAttribute *attr = target->rel != NULL ?
			local_column(target->rel, column->name) : NULL;

		if (attr != NULL)
			values[i] = partition_text(target, attr, &column->type,
									   take_value(spec, attr->name, &taken));
		else
			values[i] = take_value(spec, remote, &taken);
	}
	if (taken < JB_ROOT_COUNT(spec))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"spec\" has a value for a column that is no partition column")));
	return values;
}

/* -------------------------------------------------------------- functions */

/* Opens the target with its remote side, and takes what the spec says. */
static const char **
open_partition(FlussTarget *target, FunctionCallInfo fcinfo,
			   fluss_table **table)
{
	FlussTargetOpen(target, fcinfo, 0);
	FlussRequireArgument(fcinfo, target->nargs, "spec");
	if (target->rel != NULL)
		target->rel = FlussRelationOpen(target->rel->relid, GetUserId(),
										target->context, NULL);
	*table = open_table(target);
	return partition_values(target, *table, PG_GETARG_JSONB_P(target->nargs));
}

PG_FUNCTION_INFO_V1(fluss_fdw_create_partition);

PGDLLEXPORT Datum
fluss_fdw_create_partition(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_table *table;
	const char **values;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_create_partition()");
	values = open_partition(&target, fcinfo, &table);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_create_partition(target.conn->client, table, values,
									  FlussBoolArgument(fcinfo, target.nargs + 1),
									  &err), err, target.relname);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(fluss_fdw_drop_partition);

PGDLLEXPORT Datum
fluss_fdw_drop_partition(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	fluss_table *table;
	const char **values;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_drop_partition()");
	values = open_partition(&target, fcinfo, &table);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_drop_partition(target.conn->client, table, values,
									FlussBoolArgument(fcinfo, target.nargs + 1),
									&err), err, target.relname);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}
