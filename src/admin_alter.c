/*
 * admin_alter.c
 *	  Functions that change a Fluss table, and a foreign table after it.
 */
#include "fluss_fdw.h"

#include "access/table.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

/* ---------------------------------------------------------------- options */

PG_FUNCTION_INFO_V1(fluss_fdw_alter_table);

PGDLLEXPORT Datum
fluss_fdw_alter_table(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	int			first;
	int			nset = 0;
	int			nreset = 0;
	fluss_property *set = NULL;
	const char **reset = NULL;
	fluss_error err;

	PreventCommandIfReadOnly("fluss_alter_table()");
	FlussTargetOpen(&target, fcinfo, 0);
	first = target.nargs;
	if (!PG_ARGISNULL(first))
		set = FlussJsonProperties(PG_GETARG_JSONB_P(first), "set", &nset);
	if (!PG_ARGISNULL(first + 1))
		reset = FlussTextArray(PG_GETARG_ARRAYTYPE_P(first + 1), "reset",
							   &nreset);
	if (nset + nreset == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("nothing to set or to reset")));
	fluss_error_init(&err);
	FLUSS_CALL(fluss_alter_table(target.conn->client, target.database,
								 target.table, set, nset, reset, nreset,
								 &err),
			   err, target.relname);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------- columns */

PG_FUNCTION_INFO_V1(fluss_fdw_add_column);

PGDLLEXPORT Datum
fluss_fdw_add_column(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	int			first;
	fluss_host	host;
	fluss_column column = {0};
	fluss_error err;

	PreventCommandIfReadOnly("fluss_add_column()");
	FlussTargetOpen(&target, fcinfo, 0);
	first = target.nargs;
	FlussRequireArgument(fcinfo, first, "column_name");
	FlussRequireArgument(fcinfo, first + 1, "fluss_type");
	host = FlussHost(target.context);
	column.name = FlussNameToRemote(FlussTextArgument(fcinfo, first));
	fluss_error_init(&err);
	FLUSS_CALL(fluss_type_from_text(&host,
									FlussNameToRemote(FlussTextArgument(fcinfo, first + 1)),
									&column.type, &err), err, NULL);
	if (!PG_ARGISNULL(first + 2))
		column.comment = FlussNameToRemote(FlussTextArgument(fcinfo, first + 2));
	FLUSS_CALL(fluss_add_columns(target.conn->client, target.database,
								 target.table, &column, 1, &err),
			   err, target.relname);
	FlussTargetClose(&target);
	PG_RETURN_VOID();
}

/* ------------------------------------------------------------------- sync */

/* Local names in use, which a new column must not have. */
static List *
local_names(const FlussRelation *rel)
{
	List	   *names = NIL;

	for (int i = 0; i < rel->natts; i++)
	{
		if (rel->attrs[i].remote_name != NULL)
			names = lappend(names, (char *) rel->attrs[i].name);
	}
	return names;
}

/* ALTER FOREIGN TABLE ... ADD COLUMN ..., or NULL when nothing is missing. */
static char *
sync_command(const FlussRelation *rel, List **added)
{
	const fluss_schema *schema = rel->table->schema;
	List	   *names = local_names(rel);
	StringInfoData command;

	initStringInfo(&command);
	appendStringInfo(&command, "ALTER FOREIGN TABLE %s",
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(rel->relid)),
												rel->name));
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (FlussIsMapped(rel, i))
			continue;
		appendStringInfoString(&command, *added != NIL ? ", ADD COLUMN " :
							   " ADD COLUMN ");
		FlussAppendColumn(&command, &schema->columns[i], false, &names);
		*added = lappend(*added, llast(names));
	}
	return *added != NIL ? command.data : NULL;
}

static void
run_command(const char *command)
{
	int			result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	result = SPI_execute(command, false, 0);
	if (result != SPI_OK_UTILITY)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
	SPI_finish();
}

PG_FUNCTION_INFO_V1(fluss_fdw_sync_columns);

PGDLLEXPORT Datum
fluss_fdw_sync_columns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussTarget target;
	FlussRelation *rel;
	List	   *added = NIL;
	char	   *command;
	ListCell   *lc;

	PreventCommandIfReadOnly("fluss_sync_columns()");
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	FlussTargetOpen(&target, fcinfo, 0);
	rel = FlussRelationOpen(PG_GETARG_OID(0), GetUserId(), target.context,
							NULL);
	FlussRelationRefresh(rel);
	command = sync_command(rel, &added);
	if (command != NULL)
		run_command(command);
	foreach(lc, added)
	{
		Datum		value = CStringGetTextDatum(lfirst(lc));
		bool		is_null = false;

		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &is_null);
	}
	FlussTargetClose(&target);
	return (Datum) 0;
}
