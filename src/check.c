/*
 * check.c
 *	  fluss_fdw_check(): what in a foreign table, or in the Fluss table behind
 *	  it, would surprise who queries it, each with what to do.
 *
 * A table that is named by server has no columns here that could differ.  Of the
 * rows a sample is looked at, of each bucket the first and the last of a log,
 * and the first by key of a primary key table.  A key that lies in
 * another bucket than the one it hashes to is not found by a lookup; some
 * clients hash some keys differently, which leaves rows there, and a second
 * row when the key is written again.
 */
#include "fluss_fdw.h"

#include "access/table.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#define SAMPLE_ROWS	1000		/* of a bucket, at each end */
#define SAMPLE_PARTITIONS 20	/* the newest */

typedef struct Check
{
	FlussRelation *rel;			/* NULL: the table is named by server */
	const char *relname;		/* the same */
	fluss_client *client;
	fluss_table *table;
	const FlussOptions *options;
	ReturnSetInfo *rsinfo;
} Check;

static void
report(Check *check, const char *kind, const char *subject, char *detail,
	   const char *hint)
{
	Datum		values[4];
	bool		nulls[4] = {false};

	values[0] = CStringGetTextDatum(kind);
	values[1] = CStringGetTextDatum(subject);
	values[2] = CStringGetTextDatum(detail);
	values[3] = CStringGetTextDatum(hint);
	tuplestore_putvalues(check->rsinfo->setResult, check->rsinfo->setDesc,
						 values, nulls);
}

/* ----------------------------------------------------------------- schema */

static void
check_metadata(Check *check, const FlussAttribute *attr)
{
	Oid			type = FlussMetadataType(attr->metadata);

	if (attr->type != type)
		report(check, "wrong type", attr->name,
			   psprintf("The column has type %s, this metadata has type %s.",
						format_type_be(attr->type), format_type_be(type)),
			   psprintf("Change the type of the column to %s.",
						format_type_be(type)));
}

static void
check_attribute(Check *check, const FlussAttribute *attr)
{
	const fluss_table *table = check->rel->table;
	const fluss_type *type;

	if (attr->remote < 0)
	{
		report(check, "missing column", attr->name,
			   psprintf("Fluss table \"%s.%s\" has no column \"%s\".",
						table->database, table->name, attr->remote_name),
			   "Set the option column_name of the column, or drop it.");
		return;
	}
	type = &table->schema->columns[attr->remote].type;
	if (!FlussTypeAccepts(type, attr->type))
		report(check, "wrong type", attr->name,
			   psprintf("The column has type %s, in Fluss it has type %s.",
						format_type_be(attr->type), FlussTypeText(type)),
			   "Change the type of the column; IMPORT FOREIGN SCHEMA shows which one fits.");
	else if (attr->not_null && type->nullable)
		report(check, "NOT NULL", attr->name,
			   pstrdup("The column may have nulls in Fluss; one that is read is an error."),
			   "Drop NOT NULL from the column.");
}

static void
check_schema(Check *check)
{
	FlussRelation *rel = check->rel;
	const fluss_schema *schema = rel->table->schema;

	for (int i = 0; i < rel->natts; i++)
	{
		if (rel->attrs[i].remote_name == NULL)
			continue;
		if (rel->attrs[i].metadata == FLUSS_META_NONE)
			check_attribute(check, &rel->attrs[i]);
		else
			check_metadata(check, &rel->attrs[i]);
	}
	for (int i = 0; i < schema->ncolumns; i++)
	{
		if (!FlussIsMapped(rel, i))
			report(check, "column not mapped",
				   FlussNameFromRemote(schema->columns[i].name),
				   psprintf("The foreign table has no column for it; it has type %s.",
							FlussTypeText(&schema->columns[i].type)),
				   "fluss_sync_columns() adds it.");
	}
}

/* ------------------------------------------------------------------- rows */

/* A bucket's name in a report. */
static char *
bucket_name(int64 partition_id, const char *partition, int32 bucket)
{
	if (partition_id == FLUSS_NO_PARTITION)
		return psprintf("bucket %d", bucket);
	return psprintf("partition %s bucket %d", partition, bucket);
}

static void
close_scan(void *scan)
{
	fluss_scan_close(scan);
}

static fluss_scan *
open_sample(Check *check, fluss_ends *ends, int64 partition_id, int32 bucket,
			int64 first, int64 end)
{
	int64		last = Max(end - SAMPLE_ROWS, first + SAMPLE_ROWS);
	int32		column = FlussNarrowestColumn(check->table->schema);
	fluss_range ranges[2] = {
		{partition_id, bucket, first, Min(first + SAMPLE_ROWS, end)},
		{partition_id, bucket, last, end}
	};
	fluss_scan_options options = {
		.columns = &column, .ncolumns = 1,
		.fetch_max_bytes = check->options->fetch_max_bytes,
		.fetch_max_bytes_for_bucket = check->options->fetch_max_bytes_for_bucket,
		.fetch_inflight = 1, .row_limit = SAMPLE_ROWS,
		.max_buffered_bytes = fluss_max_buffered_bytes(),
		.check_crc = check->options->check_crc
	};
	fluss_host	host = FlussHost(CurrentMemoryContext);
	fluss_scan **scan = palloc0(sizeof(*scan));
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, close_scan, (void **) scan);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_scan_open(check->client, &host, check->table, ranges,
							   last < end ? 2 : 1, &options, ends, scan, &err),
			   err, check->relname);
	return *scan;
}

/* Batches whose records are not laid out as the table says. */
static void
check_layout(Check *check, fluss_scan *scan, const char *place)
{
	int			nforeign = 0;
	int64		first = 0;
	fluss_scan_item item;
	const fluss_batch *batch;
	fluss_loss	loss;
	fluss_error err;

	fluss_error_init(&err);
	for (;;)
	{
		FLUSS_CALL(fluss_scan_next(scan, &item, &batch, &loss, &err), err,
				   check->relname);
		if (item == FLUSS_SCAN_END)
			break;
		if (item != FLUSS_SCAN_BATCH || !batch->foreign_layout)
			continue;
		if (nforeign++ == 0)
			first = batch->base_offset;
	}
	if (nforeign > 0)
		report(check, "foreign batch layout", place,
			   psprintf("%d of the batches looked at, the first at offset " INT64_FORMAT ", are not in the table's log format.",
						nforeign, first),
			   "They are read right here, but other clients may fail on them: write with one that follows table.log.format.");
}

static void
check_log_bucket(Check *check, int64 partition_id, const char *partition,
				 int32 bucket)
{
	fluss_host	host = FlussHost(CurrentMemoryContext);
	fluss_ends **ends = palloc0(sizeof(*ends));
	int64_t		first;
	int64_t		end;
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, FlussCloseEnds, (void **) ends);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_offsets(check->client, check->table,
								  FLUSS_OFFSET_EARLIEST, 0, partition_id,
								  &bucket, 1, FLUSS_NEED_ALL, &first, &err), err,
			   check->relname);
	FLUSS_CALL(fluss_list_offsets(check->client, check->table,
								  FLUSS_OFFSET_LATEST, 0, partition_id,
								  &bucket, 1, FLUSS_NEED_ALL, &end, &err), err,
			   check->relname);
	if (first >= end)
		return;
	FLUSS_CALL(fluss_ends_open(&host, ends, &err), err, check->relname);
	check_layout(check, open_sample(check, *ends, partition_id, bucket, first,
									end),
				 bucket_name(partition_id, partition, bucket));
}

/* ------------------------------------------------------------------- keys */

static void
close_lookup(void *lookup)
{
	fluss_lookup_close(lookup);
}

static fluss_lookup *
open_lookup(Check *check, fluss_bucket_hash hash)
{
	fluss_lookup_options options = {
		.max_batch_size = check->options->lookup_max_batch_size,
		.max_inflight_requests = check->options->lookup_max_inflight_requests,
		.max_buffered_bytes = fluss_max_buffered_bytes(),
		.bucket_hash = hash
	};
	fluss_host	host = FlussHost(CurrentMemoryContext);
	fluss_lookup **lookup = palloc0(sizeof(*lookup));
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, close_lookup, (void **) lookup);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_open(check->client, &host, check->table,
								 &options, lookup, &err), err, check->relname);
	return *lookup;
}

static void
close_kvscan(void *scan)
{
	fluss_kvscan_close(scan);
}

static fluss_kvscan *
open_keys(Check *check, const fluss_bucket_ref *bucket)
{
	fluss_kvscan_options options = {
		.columns = check->table->schema->primary_key,
		.ncolumns = check->table->schema->nprimary_key,
		.buckets = bucket, .nbuckets = 1,
		.max_rows_per_bucket = SAMPLE_ROWS, .row_limit = SAMPLE_ROWS,
		.max_buffered_bytes = fluss_max_buffered_bytes()
	};
	fluss_host	host = FlussHost(CurrentMemoryContext);
	fluss_kvscan **scan = palloc0(sizeof(*scan));
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, close_kvscan, (void **) scan);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_kvscan_open(check->client, &host, check->table,
								 &options, scan, &err), err, check->relname);
	return *scan;
}

typedef struct KeyCounts
{
	int			sampled;
	int			misplaced;		/* by the hash that the table is said to have */
	int			by_other_hash;	/* of them at their place by the other one */
	int			twice;			/* of them with another row at their place */
} KeyCounts;

/* The rows that misplaced keys have where they belong. */
static void
look_up_again(Check *check, fluss_lookup *right, KeyCounts *counts)
{
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_lookup_run(right, &err), err, check->relname);
	for (int i = 0; i < counts->misplaced; i++)
		counts->twice += fluss_lookup_nrows(right, i) > 0;
}

static void
count_keys(Check *check, const fluss_bucket_ref *bucket, KeyCounts *counts)
{
	bool		rs = check->options->bucket_hash_rs;
	fluss_bucket_hash hash = rs ? FLUSS_BUCKET_HASH_RS :
		FLUSS_BUCKET_HASH_FLUSS;
	fluss_kvscan *scan = open_keys(check, bucket);
	fluss_lookup *probe = open_lookup(check, hash);
	fluss_lookup *other = open_lookup(check, rs ? FLUSS_BUCKET_HASH_FLUSS :
									  FLUSS_BUCKET_HASH_RS);
	fluss_lookup *right = open_lookup(check, hash);
	fluss_value *key = palloc(sizeof(*key) *
							  check->table->schema->nprimary_key);
	fluss_error err;

	fluss_error_init(&err);
	for (;;)
	{
		fluss_bucket_ref place;
		bool		end;
		int			slot;

		FLUSS_CALL(fluss_kvscan_next(scan, &end, &place, key, &err), err,
				   check->relname);
		if (end)
			break;
		counts->sampled++;
		FLUSS_CALL(fluss_lookup_add(probe, key, &slot, &err), err,
				   check->relname);
		if (fluss_lookup_bucket(probe, slot) == place.bucket)
			continue;
		counts->misplaced++;
		FLUSS_CALL(fluss_lookup_add(right, key, &slot, &err), err,
				   check->relname);
		FLUSS_CALL(fluss_lookup_add(other, key, &slot, &err), err,
				   check->relname);
		if (fluss_lookup_bucket(other, slot) == place.bucket)
			counts->by_other_hash++;
	}
	if (counts->misplaced > 0)
		look_up_again(check, right, counts);
}

static const char *
misplaced_hint(const Check *check, const KeyCounts *counts)
{
	bool		rs = check->options->bucket_hash_rs;

	if (counts->by_other_hash < counts->misplaced)
		return rs ? "Write the rows again with a client that hashes as fluss-rs does." :
			"Write the rows again with a client that hashes as the Java client does.";
	return rs ?
		"They are where the Java client puts them: drop the option bucket_hash if only clients that hash as it does write the table, else write the rows again." :
		"They are where fluss-rs and pyfluss put them: set the option bucket_hash to \"fluss_rs\" if only those write the table, else write the rows again.";
}

static void
check_keyed_bucket(Check *check, int64 partition_id, const char *partition,
				   int32 bucket)
{
	fluss_bucket_ref ref = {partition_id, bucket};
	const char *place = bucket_name(partition_id, partition, bucket);
	KeyCounts	counts = {0};

	count_keys(check, &ref, &counts);
	if (counts.misplaced > 0)
		report(check, "misplaced keys", place,
			   psprintf("%d of %d rows looked at do not belong there by their keys: lookups miss them.",
						counts.misplaced, counts.sampled),
			   misplaced_hint(check, &counts));
	if (counts.twice > 0)
		report(check, "keys found twice", place,
			   psprintf("%d of %d misplaced keys have another row where they belong.",
						counts.twice, counts.misplaced),
			   "A whole read shows both rows. Copy the rows that are right into a new table.");
}

/* --------------------------------------------------------------- function */

static void
check_partition(Check *check, int64 partition_id, const char *partition)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "fluss check",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);

	for (int32 i = 0; i < check->table->nbuckets; i++)
	{
		if (check->table->schema->nprimary_key > 0)
			check_keyed_bucket(check, partition_id, partition, i);
		else
			check_log_bucket(check, partition_id, partition, i);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

static void
check_partitions(Check *check)
{
	fluss_partitions **partitions = palloc0(sizeof(*partitions));
	fluss_error err;

	FlussCloseOnReset(CurrentMemoryContext, FlussReleasePartitions,
					  (void **) partitions);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_partitions_open(check->client, check->table, 0,
									 partitions, &err), err, check->relname);
	for (int i = Max((*partitions)->n - SAMPLE_PARTITIONS, 0);
		 i < (*partitions)->n; i++)
		check_partition(check, (*partitions)->items[i].partition_id,
						(*partitions)->items[i].name);
}

static void
check_rows(Check *check)
{
	if (check->table->npartition_key > 0)
		check_partitions(check);
	else
		check_partition(check, FLUSS_NO_PARTITION, NULL);
}

PG_FUNCTION_INFO_V1(fluss_fdw_check);

PGDLLEXPORT Datum
fluss_fdw_check(PG_FUNCTION_ARGS)
{
	FlussTarget target;
	Check		check = {0};

	InitMaterializedSRF(fcinfo, 0);
	check.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	FlussTargetOpen(&target, fcinfo, ACL_SELECT);
	check.client = target.conn->client;
	check.relname = target.relname;
	if (target.rel != NULL)
	{
		check.rel = FlussRelationOpen(target.rel->relid, GetUserId(),
									  target.context, NULL);
		FlussRelationRefresh(check.rel);
		check.table = check.rel->table;
		check.options = check.rel->options;
		check_schema(&check);
	}
	else
	{
		check.table = FlussTargetTable(&target);
		check.options = FlussGetServerOptions(GetForeignServer(target.conn->serverid));
	}
	check_rows(&check);
	FlussTargetClose(&target);
	return (Datum) 0;
}
