/*
 * admin_catalog.c
 *	  Functions that show what a Fluss cluster has: servers, databases, tables.
 *
 * They need USAGE on the server, or SELECT on the foreign table.
 */
#include "convert.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

static void
put_names(ReturnSetInfo *rsinfo, const char *const *names)
{
	for (; *names != NULL; names++)
	{
		Datum		value = CStringGetTextDatum(*names);
		bool		is_null = false;

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &is_null);
	}
}

PG_FUNCTION_INFO_V1(fluss_fdw_databases);

PGDLLEXPORT Datum
fluss_fdw_databases(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussTarget target;
	const char *const *names;
	fluss_error err;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	FlussTargetOpenServer(&target, fcinfo, NULL);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_databases(target.conn->client, &names, &err),
			   err, NULL);
	put_names(rsinfo, names);
	FlussTargetClose(&target);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(fluss_fdw_tables);

PGDLLEXPORT Datum
fluss_fdw_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussTarget target;
	const char *const *names;
	fluss_error err;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	FlussTargetOpenServer(&target, fcinfo, FlussTextArgument(fcinfo, 1));
	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_tables(target.conn->client, target.database, &names,
								 &err), err, NULL);
	put_names(rsinfo, names);
	FlussTargetClose(&target);
	return (Datum) 0;
}

/* ------------------------------------------------------------------ nodes */

PG_FUNCTION_INFO_V1(fluss_fdw_nodes);

PGDLLEXPORT Datum
fluss_fdw_nodes(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussTarget target;
	const fluss_node *nodes;
	int			nnodes;
	fluss_error err;

	InitMaterializedSRF(fcinfo, 0);
	FlussTargetOpenServer(&target, fcinfo, NULL);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_client_nodes(target.conn->client, &nodes, &nnodes, &err),
			   err, NULL);
	for (int i = 0; i < nnodes; i++)
	{
		Datum		values[5];
		bool		nulls[5] = {false};

		values[0] = Int32GetDatum(nodes[i].node_id);
		values[1] = CStringGetTextDatum(nodes[i].coordinator ?
										"coordinator" : "tablet server");
		values[2] = CStringGetTextDatum(nodes[i].host);
		values[3] = Int32GetDatum(nodes[i].port);
		nulls[4] = nodes[i].rack == NULL;
		if (!nulls[4])
			values[4] = CStringGetTextDatum(nodes[i].rack);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	FlussTargetClose(&target);
	return (Datum) 0;
}

/* ------------------------------------------------------------- table info */

/* Names of some columns of a table; NULL for none. */
static void
column_names(const fluss_table *table, const int32_t *columns, int n,
			 Datum *value, bool *is_null)
{
	Datum	   *names = palloc(sizeof(Datum) * Max(n, 1));

	for (int i = 0; i < n; i++)
		names[i] = CStringGetTextDatum(FlussNameFromRemote(table->schema->columns[columns[i]].name));
	*is_null = n == 0;
	if (n > 0)
		*value = PointerGetDatum(construct_array(names, n, TEXTOID, -1, false,
												 TYPALIGN_INT));
}

static void
push_string(JsonbParseState **parse, JsonbIteratorToken token,
			const char *string)
{
	JsonbValue	value;

	value.type = jbvString;
	value.val.string.val = (char *) FlussNameFromRemote(string);
	value.val.string.len = strlen(value.val.string.val);
	pushJsonbValue(parse, token, &value);
}

static Datum
properties_datum(const fluss_property *properties, int n)
{
	JsonbParseState *parse = NULL;

	pushJsonbValue(&parse, WJB_BEGIN_OBJECT, NULL);
	for (int i = 0; i < n; i++)
	{
		push_string(&parse, WJB_KEY, properties[i].key);
		push_string(&parse, WJB_VALUE, properties[i].value);
	}
	return JsonbPGetDatum(JsonbValueToJsonb(pushJsonbValue(&parse,
														   WJB_END_OBJECT,
														   NULL)));
}

static Datum
time_datum(int64 millis)
{
	return TimestampTzGetDatum((millis - FLUSS_EPOCH_MILLIS) * 1000);
}

static const char *
format_name(fluss_row_format format)
{
	return format == FLUSS_FORMAT_ARROW ? "ARROW" :
		format == FLUSS_FORMAT_INDEXED ? "INDEXED" : "COMPACTED";
}

static void
put_table(ReturnSetInfo *rsinfo, const fluss_table *table)
{
	bool		keyed = table->schema->nprimary_key > 0;
	Datum		values[15] = {0};
	bool		nulls[15] = {false};

	values[0] = CStringGetTextDatum(psprintf("%s.%s", table->database,
											 table->name));
	values[1] = Int64GetDatum(table->table_id);
	values[2] = Int32GetDatum(table->schema->schema_id);
	values[3] = CStringGetTextDatum(keyed ? "primary key" : "log");
	column_names(table, table->schema->primary_key,
				 table->schema->nprimary_key, &values[4], &nulls[4]);
	column_names(table, table->bucket_key, table->nbucket_key, &values[5],
				 &nulls[5]);
	column_names(table, table->partition_key, table->npartition_key,
				 &values[6], &nulls[6]);
	values[7] = Int32GetDatum(table->nbuckets);
	values[8] = CStringGetTextDatum(format_name(table->log_format));
	nulls[9] = !keyed;
	if (keyed)
		values[9] = CStringGetTextDatum(format_name(table->kv_format));
	values[10] = properties_datum(table->properties, table->nproperties);
	values[11] = properties_datum(table->properties + table->nproperties,
								  table->ncustom_properties);
	nulls[12] = table->comment == NULL;
	if (table->comment != NULL)
		values[12] = CStringGetTextDatum(FlussNameFromRemote(table->comment));
	values[13] = time_datum(table->created_ms);
	values[14] = time_datum(table->modified_ms);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(fluss_fdw_table_info);

PGDLLEXPORT Datum
fluss_fdw_table_info(PG_FUNCTION_ARGS)
{
	FlussTarget target;

	InitMaterializedSRF(fcinfo, 0);
	FlussTargetOpen(&target, fcinfo, ACL_SELECT);
	put_table((ReturnSetInfo *) fcinfo->resultinfo, FlussTargetTable(&target));
	FlussTargetClose(&target);
	return (Datum) 0;
}
