/*
 * admin_info.c
 *	  Functions that tell about a Fluss cluster, the session and ourselves.
 *
 * They need SELECT on the foreign table, or USAGE on the server.
 */
#include "fluss_fdw.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

/* ---------------------------------------------------------------- buckets */

/* Buckets of one partition, or of a table without any, and what is known. */
typedef struct BucketGroup
{
	const fluss_bucket_info *info;
	int			n;
	const fluss_partition *partition;	/* NULL: none */
	MemoryContext query;		/* of the call: see FlussPinnedEnds */
	int64_t    *earliest;
	int64_t    *latest;
	int64_t    *rows;
	int			nasked;			/* buckets whose leaders are asked: */
	int		   *asked;			/* which of the n, */
	int32_t    *buckets;		/* their numbers, */
	int64_t    *answers;		/* and what is answered */
	List	  **silent;			/* leaders that have not answered */
} BucketGroup;

static int
compare_buckets(const void *a, const void *b)
{
	const fluss_bucket_info *x = a;
	const fluss_bucket_info *y = b;

	if (x->partition_id != y->partition_id)
		return x->partition_id < y->partition_id ? -1 : 1;
	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

/* A copy that later calls of the client do not touch, in order. */
static fluss_bucket_info *
copy_buckets(const fluss_bucket_info *buckets, int n)
{
	fluss_bucket_info *copy = palloc(sizeof(*copy) * Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		int32_t    *replicas = palloc(sizeof(int32_t) *
									  Max(buckets[i].nreplicas, 1));

		for (int j = 0; j < buckets[i].nreplicas; j++)
			replicas[j] = buckets[i].replicas[j];
		copy[i] = buckets[i];
		copy[i].replicas = replicas;
	}
	qsort(copy, n, sizeof(*copy), compare_buckets);
	return copy;
}

/* The partition of the group has been dropped, else it is raised. */
static void
check_dropped(const fluss_error *err, const char *relname)
{
	if (err->status != FLUSS_SERVER_ERROR ||
		err->server_code != FLUSS_CODE_PARTITION_NOT_EXISTS)
		FlussRaise(err, relname);
}

static int64_t *
unknown_offsets(int n)
{
	int64_t    *offsets = palloc(sizeof(int64_t) * n);

	for (int i = 0; i < n; i++)
		offsets[i] = FLUSS_OFFSET_UNKNOWN;
	return offsets;
}

/* Asked are those with a leader that has not been silent to this call. */
static void
choose_asked(BucketGroup *group)
{
	group->nasked = 0;
	for (int i = 0; i < group->n; i++)
	{
		int32		leader = group->info[i].leader;

		if (leader < 0 || list_member_int(*group->silent, leader))
			continue;
		group->asked[group->nasked] = i;
		group->buckets[group->nasked++] = group->info[i].bucket;
	}
}

/* False: the partition is gone. */
static bool
ask_offsets(FlussTarget *target, fluss_table *table, BucketGroup *group,
			fluss_offset_kind kind)
{
	fluss_error err;

	if (group->nasked == 0)
		return true;
	fluss_error_init(&err);
	if (fluss_list_offsets(target->conn->client, table, kind, 0,
						   group->info->partition_id, group->buckets,
						   group->nasked, FLUSS_NEED_ANSWERED, group->answers,
						   &err) == FLUSS_OK)
		return true;
	check_dropped(&err, target->relname);
	return false;
}

/* The first question: who does not answer it is not asked again. */
static bool
ask_earliest(FlussTarget *target, fluss_table *table, BucketGroup *group)
{
	if (!ask_offsets(target, table, group, FLUSS_OFFSET_EARLIEST))
		return false;
	for (int i = 0; i < group->nasked; i++)
	{
		group->earliest[group->asked[i]] = group->answers[i];
		if (group->answers[i] == FLUSS_OFFSET_UNKNOWN)
			*group->silent = list_append_unique_int(*group->silent,
													group->info[group->asked[i]].leader);
	}
	choose_asked(group);
	return true;
}

/*
 * The ends at which the scans of this statement stop: those that are pinned
 * already, and the high watermark of now, pinned for them, for the others.
 * False: the partition is gone.
 */
static bool
pinned_ends(FlussTarget *target, fluss_table *table, BucketGroup *group)
{
	fluss_ends *ends = FlussPinnedEnds(target->conn->serverid,
									   table->table_id, GetActiveSnapshot(),
									   group->query);
	int64_t		partition = group->info->partition_id;
	const char *relname = target->relname;
	fluss_error err;
	int			known = 0;

	for (int i = 0; i < group->n; i++)
		known += fluss_ends_get(ends, partition, group->info[i].bucket,
								&group->latest[i]);
	if (known == group->n)
		return true;
	if (!ask_offsets(target, table, group, FLUSS_OFFSET_LATEST))
		return false;
	fluss_error_init(&err);
	for (int i = 0; i < group->nasked; i++)
	{
		if (group->answers[i] != FLUSS_OFFSET_UNKNOWN)
			FLUSS_CALL(fluss_ends_pin(ends, partition, group->buckets[i],
									  group->answers[i], &err), err, relname);
		(void) fluss_ends_get(ends, partition, group->buckets[i],
							  &group->latest[group->asked[i]]);
	}
	return true;
}

/* Servers differ in what they count.  False: the partition is gone. */
static bool
count_rows(FlussTarget *target, fluss_table *table, BucketGroup *group)
{
	fluss_error err;
	fluss_status status;

	if (group->nasked == 0)
		return true;
	fluss_error_init(&err);
	status = fluss_table_row_counts(target->conn->client, table,
									group->info->partition_id, group->buckets,
									group->nasked, group->answers, &err);
	if (status != FLUSS_OK)
	{
		check_dropped(&err, target->relname);
		return false;
	}
	for (int i = 0; i < group->nasked; i++)
		group->rows[group->asked[i]] = group->answers[i];
	return true;
}

/* False: the partition has been dropped meanwhile. */
static bool
ask_group(FlussTarget *target, fluss_table *table, BucketGroup *group)
{
	group->earliest = unknown_offsets(group->n);
	group->latest = unknown_offsets(group->n);
	group->rows = unknown_offsets(group->n);
	group->answers = unknown_offsets(group->n);
	group->asked = palloc(sizeof(int) * group->n);
	group->buckets = palloc(sizeof(int32_t) * group->n);
	choose_asked(group);
	return ask_earliest(target, table, group) &&
		pinned_ends(target, table, group) &&
		count_rows(target, table, group);
}

static Datum
replicas_datum(const fluss_bucket_info *info)
{
	Datum	   *elements = palloc(sizeof(Datum) * Max(info->nreplicas, 1));

	for (int i = 0; i < info->nreplicas; i++)
		elements[i] = Int32GetDatum(info->replicas[i]);
	return PointerGetDatum(construct_array(elements, info->nreplicas, INT4OID,
										   sizeof(int32), true,
										   TYPALIGN_INT));
}

static void
set_offset(int64 offset, Datum *value, bool *is_null)
{
	*is_null = offset == FLUSS_OFFSET_UNKNOWN;
	*value = Int64GetDatum(offset);
}

static void
put_bucket(ReturnSetInfo *rsinfo, const fluss_table *table,
		   const BucketGroup *group, int i)
{
	const fluss_bucket_info *info = &group->info[i];
	Datum		values[9];
	bool		nulls[9] = {false};

	values[0] = Int64GetDatum(table->table_id);
	nulls[1] = group->partition == NULL;
	values[1] = nulls[1] ? (Datum) 0 : FlussPartitionName(group->partition);
	set_offset(info->partition_id, &values[2], &nulls[2]);
	values[3] = Int32GetDatum(info->bucket);
	values[4] = Int32GetDatum(info->leader);
	nulls[4] = info->leader < 0;
	values[5] = replicas_datum(info);
	set_offset(group->earliest[i], &values[6], &nulls[6]);
	set_offset(group->latest[i], &values[7], &nulls[7]);
	set_offset(group->rows[i], &values[8], &nulls[8]);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* One request per kind of fact and partition, whatever the buckets. */
static void
show_buckets(ReturnSetInfo *rsinfo, FlussTarget *target)
{
	fluss_table *table = FlussTargetTable(target);
	const fluss_bucket_info *answer;
	fluss_bucket_info *buckets;
	const char *relname = target->relname;
	fluss_error err;
	int			nbuckets;
	const fluss_partitions *partitions = NULL;
	List	   *silent = NIL;
	BucketGroup group;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_table_buckets(target->conn->client, table, &answer,
								   &nbuckets, &err), err, relname);
	buckets = copy_buckets(answer, nbuckets);
	if (table->npartition_key > 0)
		partitions = FlussPinnedPartitions(target->conn, table, relname,
										   GetActiveSnapshot(),
										   rsinfo->econtext->ecxt_per_query_memory);

	for (int start = 0; start < nbuckets; start += group.n)
	{
		memset(&group, 0, sizeof(group));
		group.info = &buckets[start];
		group.silent = &silent;
		group.query = rsinfo->econtext->ecxt_per_query_memory;
		do
			group.n++;
		while (start + group.n < nbuckets &&
			   buckets[start + group.n].partition_id ==
			   group.info->partition_id);
		if (partitions != NULL)
			group.partition = fluss_partition_by_id(partitions,
													group.info->partition_id);
		/* one that was made after this statement looked is not in it */
		if (partitions != NULL && group.partition == NULL)
			continue;
		if (!ask_group(target, table, &group))
			continue;
		for (int i = 0; i < group.n; i++)
			put_bucket(rsinfo, table, &group, i);
	}
}

PG_FUNCTION_INFO_V1(fluss_fdw_buckets);

PGDLLEXPORT Datum
fluss_fdw_buckets(PG_FUNCTION_ARGS)
{
	FlussTarget target;

	InitMaterializedSRF(fcinfo, 0);
	FlussTargetOpen(&target, fcinfo, ACL_SELECT);
	show_buckets((ReturnSetInfo *) fcinfo->resultinfo, &target);
	FlussTargetClose(&target);
	return (Datum) 0;
}

/* ------------------------------------------------------------- last write */

PG_FUNCTION_INFO_V1(fluss_fdw_last_write);

PGDLLEXPORT Datum
fluss_fdw_last_write(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	const FlussWrittenRun *runs;
	int			nruns;

	InitMaterializedSRF(fcinfo, 0);
	runs = FlussLastWrite(&nruns);
	for (int i = 0; i < nruns; i++)
	{
		const fluss_write_run *run = &runs[i].run;
		Datum		values[6];
		bool		nulls[6] = {false};

		values[0] = Int64GetDatum(runs[i].table_id);
		set_offset(run->partition_id, &values[1], &nulls[1]);
		values[2] = Int32GetDatum(run->bucket);
		set_offset(run->first_offset, &values[3], &nulls[3]);
		set_offset(run->last_offset, &values[4], &nulls[4]);
		values[5] = Int64GetDatum(run->rows);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}

/* ---------------------------------------------------------------- version */

static void
put_version(ReturnSetInfo *rsinfo, const char *name, const char *version)
{
	Datum		values[2];
	bool		nulls[2] = {false};

	values[0] = CStringGetTextDatum(name);
	values[1] = CStringGetTextDatum(version);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

PG_FUNCTION_INFO_V1(fluss_fdw_version);

PGDLLEXPORT Datum
fluss_fdw_version(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	put_version(rsinfo, "fluss_fdw", FLUSS_FDW_VERSION);
	for (const char *const *entry = fluss_library_versions(); *entry; entry++)
	{
		char	   *name = pstrdup(*entry);
		char	   *version = strchr(name, ' ');

		if (version != NULL)
			*version++ = '\0';
		put_version(rsinfo, name, version != NULL ? version : "");
	}
	return (Datum) 0;
}
