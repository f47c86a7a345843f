/*
 * admin_offsets.c
 *	  Functions that tell the partitions of a table and its offsets by time.
 *
 * They need SELECT on the foreign table, or USAGE on the server, and see the
 * partitions that scans of the same statement see.
 */
#include "fluss_fdw.h"

#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

/* A call that gives rows about one table. */
typedef struct TableCall
{
	FlussTarget target;
	ReturnSetInfo *rsinfo;
	fluss_table *table;
	const fluss_partitions *partitions; /* NULL: not partitioned */
} TableCall;

static void
open_call(FunctionCallInfo fcinfo, TableCall *call)
{
	InitMaterializedSRF(fcinfo, 0);
	FlussTargetOpen(&call->target, fcinfo, ACL_SELECT);
	call->rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	call->table = FlussTargetTable(&call->target);
	call->partitions = NULL;
	if (call->table->npartition_key > 0)
		call->partitions = FlussPinnedPartitions(call->target.conn,
												 call->table,
												 call->target.relname,
												 GetActiveSnapshot(),
												 call->rsinfo->econtext->ecxt_per_query_memory);
}

/* Name and id of a partition, or NULLs. */
static void
set_partition(const fluss_partition *partition, Datum *values, bool *nulls)
{
	nulls[0] = nulls[1] = partition == NULL;
	values[0] = values[1] = (Datum) 0;
	if (partition == NULL)
		return;
	values[0] = FlussPartitionName(partition);
	values[1] = Int64GetDatum(partition->partition_id);
}

/* ------------------------------------------------------------- partitions */

/* {"day": "2026-08-04", "region": "1"}, as fluss_drop_partition takes it */
static Datum
spec_datum(const fluss_table *table, const fluss_partition *partition)
{
	StringInfoData json;

	initStringInfo(&json);
	for (int i = 0; i < table->npartition_key; i++)
	{
		const fluss_column *column = &table->schema->columns[table->partition_key[i]];

		appendStringInfoString(&json, i == 0 ? "{" : ", ");
		escape_json(&json, pg_any_to_server(column->name,
											strlen(column->name), PG_UTF8));
		appendStringInfoString(&json, ": ");
		escape_json(&json, pg_any_to_server(partition->values[i],
											strlen(partition->values[i]),
											PG_UTF8));
	}
	appendStringInfoChar(&json, '}');
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

PG_FUNCTION_INFO_V1(fluss_fdw_partitions);

PGDLLEXPORT Datum
fluss_fdw_partitions(PG_FUNCTION_ARGS)
{
	TableCall	call;
	int			n;

	open_call(fcinfo, &call);
	n = call.partitions != NULL ? call.partitions->n : 0;
	for (int i = 0; i < n; i++)
	{
		const fluss_partition *partition = &call.partitions->items[i];
		Datum		values[4];
		bool		nulls[4] = {false};

		values[0] = Int64GetDatum(call.table->table_id);
		set_partition(partition, &values[1], &nulls[1]);
		values[3] = spec_datum(call.table, partition);
		tuplestore_putvalues(call.rsinfo->setResult, call.rsinfo->setDesc,
							 values, nulls);
	}
	FlussTargetClose(&call.target);
	return (Datum) 0;
}

/* ---------------------------------------------------------------- offsets */

/* What to ask for: the infinities are the ends of the log. */
static fluss_offset_kind
offset_kind(TimestampTz time, int64 *millis)
{
	*millis = 0;
	if (TIMESTAMP_IS_NOEND(time))
		return FLUSS_OFFSET_LATEST;
	if (!TIMESTAMP_IS_NOBEGIN(time))
		*millis = FlussTimestampToMillis(time) + (time % 1000 != 0);
	return *millis > 0 ? FLUSS_OFFSET_AT_TIMESTAMP : FLUSS_OFFSET_EARLIEST;
}

static void
show_offsets_of(TableCall *call, const fluss_partition *partition,
				TimestampTz time)
{
	int			n = call->table->nbuckets;
	int32	   *buckets = palloc(n * sizeof(int32));
	int64	   *offsets = palloc(n * sizeof(int64));
	int64		millis;
	fluss_offset_kind kind = offset_kind(time, &millis);
	fluss_error err;

	for (int i = 0; i < n; i++)
		buckets[i] = i;
	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_offsets(call->target.conn->client, call->table, kind,
								  millis,
								  partition != NULL ? partition->partition_id :
								  FLUSS_NO_PARTITION,
								  buckets, n, FLUSS_NEED_ANSWERED, offsets, &err),
			   err, call->target.relname);
	for (int i = 0; i < n; i++)
	{
		Datum		values[5];
		bool		nulls[5] = {false};

		values[0] = Int64GetDatum(call->table->table_id);
		set_partition(partition, &values[1], &nulls[1]);
		values[3] = Int32GetDatum(i);
		values[4] = Int64GetDatum(offsets[i]);
		nulls[4] = offsets[i] == FLUSS_OFFSET_UNKNOWN;
		tuplestore_putvalues(call->rsinfo->setResult, call->rsinfo->setDesc,
							 values, nulls);
	}
}

PG_FUNCTION_INFO_V1(fluss_fdw_offsets_at);

PGDLLEXPORT Datum
fluss_fdw_offsets_at(PG_FUNCTION_ARGS)
{
	TableCall	call;
	TimestampTz time;

	open_call(fcinfo, &call);
	time = PG_GETARG_TIMESTAMPTZ(call.target.nargs);
	if (call.partitions == NULL)
		show_offsets_of(&call, NULL, time);
	for (int i = 0; call.partitions != NULL && i < call.partitions->n; i++)
		show_offsets_of(&call, &call.partitions->items[i], time);
	FlussTargetClose(&call.target);
	return (Datum) 0;
}
