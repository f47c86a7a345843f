/*
 * admin_wait.c
 *	  fluss_wait(): until there is something to read past given positions.
 *
 * It pins nothing, so that a scan of the next statement sees what it waited
 * for.  Under REPEATABLE READ that scan would not: there it is refused.
 */
#include "fluss_fdw.h"

#include "access/xact.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* New partitions are looked for so often. */
#define PARTITIONS_MS	5000

/* What was read of one bucket. */
typedef struct Seen
{
	int64		partition_id;
	int32		bucket;
	int64		offset;			/* the last one read */
} Seen;

typedef struct SeenList
{
	int			n;
	Seen	   *items;
} SeenList;

/* -------------------------------------------------------------- positions */

static bool
find_member(JsonbContainer *object, const char *name, JsonbValue *value)
{
	return getKeyJsonValueFromContainer(object, name, strlen(name),
										value) != NULL &&
		value->type != jbvNull;
}

static int64
number_of(const JsonbValue *value, const char *name)
{
	if (value->type != jbvNumeric)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" of a position must be a number", name)));
	return DatumGetInt64(DirectFunctionCall1(numeric_int8,
											 NumericGetDatum(value->val.numeric)));
}

/* One that another may follow. */
static int64
offset_of(const JsonbValue *value, const char *name)
{
	return Min(number_of(value, name), PG_INT64_MAX - 1);
}

/* The partition of a position, by id or by name; -2: it is not there. */
static int64
partition_of(JsonbContainer *object, const fluss_partitions *partitions)
{
	JsonbValue	value;
	const fluss_partition *partition = NULL;
	int64		id;

	if (partitions == NULL)
		return FLUSS_NO_PARTITION;
	if (find_member(object, "partition_id", &value))
	{
		id = number_of(&value, "partition_id");
		partition = fluss_partition_by_id(partitions, id);
	}
	else if (find_member(object, "partition", &value) &&
			 value.type == jbvString)
		partition = fluss_partition_by_name(partitions,
											pnstrdup(value.val.string.val,
													 value.val.string.len));
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a position of a partitioned table needs \"partition_id\" or \"partition\"")));
	return partition != NULL ? partition->partition_id : -2;
}

static void
check_table_id(JsonbContainer *object, const fluss_table *table)
{
	JsonbValue	value;

	if (find_member(object, "table_id", &value) &&
		number_of(&value, "table_id") != table->table_id)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("table \"%s.%s\" was made again since the position was taken",
						table->database, table->name)));
}

static void
read_position(JsonbContainer *object, const fluss_table *table,
			  const fluss_partitions *partitions, Seen *seen)
{
	static const char *const names[] = {"log_offset", "last_offset", "offset"};
	JsonbValue	value;
	int			i = 0;

	check_table_id(object, table);
	seen->partition_id = partition_of(object, partitions);
	if (!find_member(object, "bucket", &value))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a position needs \"bucket\"")));
	seen->bucket = DatumGetInt32(DirectFunctionCall1(int84,
													 Int64GetDatum(number_of(&value, "bucket"))));
	while (i < lengthof(names) && !find_member(object, names[i], &value))
		i++;
	seen->offset = i < lengthof(names) ? offset_of(&value, names[i]) : -1;
}

/* {"0": 41, "1": 7}: last offsets by bucket. */
static void
read_object(Jsonb *after, const fluss_partitions *partitions, SeenList *list)
{
	JsonbIterator *it = JsonbIteratorInit(&after->root);
	JsonbValue	value;
	JsonbIteratorToken token;

	if (partitions != NULL && JB_ROOT_COUNT(after) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("positions of a partitioned table must be an array of objects")));
	while ((token = JsonbIteratorNext(&it, &value, true)) != WJB_DONE)
	{
		Seen	   *seen = &list->items[list->n];

		if (token == WJB_KEY)
		{
			seen->partition_id = FLUSS_NO_PARTITION;
			seen->bucket = pg_strtoint32(pnstrdup(value.val.string.val,
												  value.val.string.len));
		}
		else if (token == WJB_VALUE)
		{
			seen->offset = offset_of(&value, "offset");
			list->n++;
		}
	}
}

static void
read_positions(Jsonb *after, const fluss_table *table,
			   const fluss_partitions *partitions, SeenList *list)
{
	list->n = 0;
	list->items = NULL;
	if (after == NULL)
		return;
	list->items = palloc0(sizeof(Seen) * Max(JB_ROOT_COUNT(after), 1));
	if (JB_ROOT_IS_OBJECT(after))
	{
		read_object(after, partitions, list);
		return;
	}
	for (int i = 0; i < JB_ROOT_COUNT(after); i++)
	{
		JsonbValue *item = getIthJsonbValueFromContainer(&after->root, i);

		if (item == NULL || item->type != jbvBinary ||
			!JsonContainerIsObject(item->val.binary.data))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"after\" must be an array of positions, or an object with the last offset of each bucket")));
		read_position(item->val.binary.data, table, partitions,
					  &list->items[list->n++]);
	}
}

static int64
last_seen(const SeenList *list, int64 partition_id, int32 bucket)
{
	int64		last = -1;

	for (int i = 0; i < list->n; i++)
	{
		if (list->items[i].partition_id == partition_id &&
			list->items[i].bucket == bucket)
			last = Max(last, list->items[i].offset);
	}
	return last;
}

/* All buckets of the table; those not mentioned were never read. */
static fluss_position *
next_positions(const fluss_table *table, const fluss_partitions *partitions,
			   const SeenList *list, int *n)
{
	int			npartitions = partitions != NULL ? partitions->n : 1;
	fluss_position *positions = palloc(sizeof(*positions) *
									   Max(npartitions * table->nbuckets, 1));

	*n = 0;
	for (int i = 0; i < npartitions; i++)
	{
		int64		id = partitions != NULL ?
			partitions->items[i].partition_id : FLUSS_NO_PARTITION;

		for (int j = 0; j < table->nbuckets; j++)
			positions[(*n)++] = (fluss_position) {
				.partition_id = id, .bucket = j,
				.offset = last_seen(list, id, j) + 1
			};
	}
	return positions;
}

/* ---------------------------------------------------------------- waiting */

/* One spell with the partitions of now. */
static bool
wait_once(FlussTarget *target, Jsonb *after, int64 timeout_ms)
{
	fluss_table **table = palloc0(sizeof(*table));
	fluss_partitions **partitions = palloc0(sizeof(*partitions));
	const char *relname = target->relname;
	fluss_position *positions;
	int			npositions;
	SeenList	seen = {0};
	bool		ready;
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, FlussReleaseTable, (void **) table);
	FlussCloseOnReset(CurrentMemoryContext, FlussReleasePartitions,
					  (void **) partitions);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_table_open(target->conn->client, target->database,
								target->table, false, table, &err),
			   err, relname);
	if ((*table)->npartition_key > 0)
	{
		FLUSS_CALL(fluss_partitions_open(target->conn->client, *table, 0,
										 partitions, &err), err, relname);
		timeout_ms = Min(timeout_ms, PARTITIONS_MS);
	}
	read_positions(after, *table, *partitions, &seen);
	positions = next_positions(*table, *partitions, &seen, &npositions);
	FLUSS_CALL(fluss_wait_for_records(target->conn->client, *table, positions,
									  npositions,
									  FlussNarrowestColumn((*table)->schema),
									  timeout_ms, &ready, &err),
			   err, relname);
	return ready;
}

static bool
wait_for_records(FlussTarget *target, Jsonb *after, Interval *timeout)
{
	TimestampTz start = GetCurrentTimestamp();
	TimestampTz end = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
															  TimestampTzGetDatum(start),
															  IntervalPGetDatum(timeout)));
	MemoryContext spell = AllocSetContextCreate(target->context,
												"fluss wait",
												ALLOCSET_DEFAULT_SIZES);
	bool		ready = false;
	int64		left;

	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot wait for records in a transaction of isolation level REPEATABLE READ or SERIALIZABLE"),
				 errdetail("Its scans end where the log ended when they first looked.")));
	do
	{
		MemoryContext caller;

		left = Max(TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end),
				   0);
		MemoryContextReset(spell);
		caller = MemoryContextSwitchTo(spell);
		ready = wait_once(target, after, left);
		MemoryContextSwitchTo(caller);
	} while (!ready && GetCurrentTimestamp() < end);
	return ready;
}

PG_FUNCTION_INFO_V1(fluss_fdw_wait);

PGDLLEXPORT Datum
fluss_fdw_wait(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	int			first;
	bool		ready;

	/* as if it were strict: only the positions may be null */
	for (int i = 0; i < PG_NARGS() - 2; i++)
	{
		if (PG_ARGISNULL(i))
			PG_RETURN_NULL();
	}
	FlussTargetOpen(&target, fcinfo, ACL_SELECT);
	first = target.nargs;
	FlussRequireArgument(fcinfo, first + 1, "timeout");
	ready = wait_for_records(&target, PG_ARGISNULL(first) ? NULL :
							 PG_GETARG_JSONB_P(first),
							 PG_GETARG_INTERVAL_P(first + 1));
	FlussTargetClose(&target);
	PG_RETURN_BOOL(ready);
}
