/*
 * scan_state.c
 *	  Whole reads of a primary key table: by limit scan, from KV snapshots and
 *	  the changelog, or by server scan; and counts of its rows.
 *
 * A limit scan gives the current state of a bucket and pins nothing.  The
 * others share the pinned ends of the statement with scans of the changelog:
 * what they give of a bucket is its state at or after its end.
 *
 * A count asks the servers, which tell how many rows a lookup could find, and
 * reads the buckets of which that number is not known to be exact.
 *
 * The files of a snapshot read lie in a folder among the temporary files, by a
 * name that makes the server remove it after a crash.
 */
#include "fluss_fdw.h"

#include "catalog/pg_tablespace_d.h"
#include "commands/tablespace.h"
#include "common/int.h"
#include "common/file_utils.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#define HELPER_PROGRAM "fluss_fdw_rocksdb"

static void
close_kvscan(void *scan)
{
	fluss_kvscan_close(scan);
}

/* ----------------------------------------------------------- snapshot reads */

/* The folder for this scan, not made yet; the one that it lies in is. */
static char *
temporary_folder(void)
{
	static uint32 counter = 0;
	char		parent[MAXPGPATH];
	Oid			tablespace;

	PrepareTempTablespaces();
	tablespace = GetNextTempTableSpace();
	if (!OidIsValid(tablespace))
		tablespace = MyDatabaseTableSpace ? MyDatabaseTableSpace :
			DEFAULTTABLESPACE_OID;
	TempTablespacePath(parent, tablespace);
	if (MakePGDirectory(parent) < 0 && errno != EEXIST)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create directory \"%s\": %m", parent)));
	return psprintf("%s/%s%d.fluss%u", parent, PG_TEMP_FILE_PREFIX, MyProcPid,
					counter++);
}

static void
set_snapshot_options(FlussScanState *state, fluss_snapshot_options *snapshot)
{
	/* temp_file_limit is the process's, so its scans share it */
	static int64 disk_bytes = 0;
	FlussOptions *options = state->rel->options;

	snapshot->program = psprintf("%s/%s", pkglib_path, HELPER_PROGRAM);
	snapshot->folder = temporary_folder();
	snapshot->max_disk_bytes = temp_file_limit < 0 ? 0 :
		Max((int64) temp_file_limit * 1024, 1);
	snapshot->disk_bytes = &disk_bytes;
	snapshot->fetch_max_bytes = options->fetch_max_bytes;
	snapshot->fetch_max_bytes_for_bucket = options->fetch_max_bytes_for_bucket;
	snapshot->fetch_inflight = options->fetch_inflight;
	snapshot->check_crc = options->check_crc;
}

/* -------------------------------------------------------------------- scan */

static fluss_kvscan_mode
scan_mode(const FlussScanState *state)
{
	switch (state->kind)
	{
		case FLUSS_SCAN_SNAPSHOT:
			return FLUSS_KVSCAN_SNAPSHOT;
		case FLUSS_SCAN_SERVER:
			return FLUSS_KVSCAN_SERVER;
		default:
			return state->rel->options->kv_scan == FLUSS_KV_SCAN_LIMIT ?
				FLUSS_KVSCAN_LIMIT : FLUSS_KVSCAN_AUTO;
	}
}

/* Opens the scan of state_buckets in the rescan's context. */
static void
open_kvscan(FlussScanState *state, fluss_kvscan_mode mode)
{
	FlussRelation *rel = state->rel;
	fluss_kvscan_options options = {0};
	fluss_host	host = FlussHost(state->rescan_context);
	fluss_error err;

	options.buckets = state->state_buckets;
	options.nbuckets = state->nstate_buckets;
	options.columns = state->columns;
	options.ncolumns = state->ncolumns;
	options.max_rows_per_bucket = rel->options->limit_scan_max_rows;
	options.row_limit = state->row_limit;
	options.mode = mode;
	options.max_buffered_bytes = fluss_max_buffered_bytes();
	options.ends = state->ends;
	set_snapshot_options(state, &options.snapshot);

	fluss_error_init(&err);
	FlussCloseOnReset(state->rescan_context, close_kvscan,
					  (void **) &state->kvscan);
	FLUSS_CALL(fluss_kvscan_open(rel->conn->client, &host, rel->table,
								 &options, &state->kvscan, &err),
			   err, state->relname);
}

static int64
add_rows(int64 rows, int64 more)
{
	if (pg_add_s64_overflow(rows, more, &rows))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("bigint out of range")));
	return rows;
}

/* Lets the servers count what they can, and leaves the other buckets. */
static void
ask_counts(FlussScanState *state)
{
	FlussRelation *rel = state->rel;
	int64	   *counts = palloc((state->nstate_buckets + 1) * sizeof(int64));
	int			left = 0;
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_exact_row_counts(rel->conn->client, rel->table,
									  state->state_buckets,
									  state->nstate_buckets, counts,
									  &state->past, &err),
			   err, state->relname);
	for (int i = 0; i < state->nstate_buckets; i++)
	{
		if (counts[i] != FLUSS_OFFSET_UNKNOWN)
			state->counted = add_rows(state->counted, counts[i]);
		else
			state->state_buckets[left++] = state->state_buckets[i];
	}
	state->nstate_buckets = left;
}

void
FlussStateScanStart(ForeignScanState *node, FlussScanState *state)
{
	FlussRelation *rel = state->rel;
	MemoryContext old;

	state->counted = 0;
	if (!FlussEvaluateRanges(node, state))
	{
		state->done = true;
		return;
	}
	old = MemoryContextSwitchTo(state->rescan_context);
	state->state_buckets = FlussChooseBuckets(state, &state->nstate_buckets);
	if (state->aggregates != NULL)
		ask_counts(state);
	if (state->nstate_buckets == 0)
	{
		state->done = true;
		MemoryContextSwitchTo(old);
		return;
	}
	state->ends = FlussPinnedEnds(rel->conn->serverid, rel->table->table_id,
								  node->ss.ps.state->es_snapshot,
								  node->ss.ps.state->es_query_cxt);
	FlussEvaluateLimit(node, state);
	open_kvscan(state, scan_mode(state));
	MemoryContextSwitchTo(old);
}

void
FlussStateScanOpen(FlussScanState *state, int place, int64 limit)
{
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);

	state->state_buckets = palloc(sizeof(fluss_bucket_ref));
	state->state_buckets[0] = FlussPlaceRef(&state->places, place);
	state->nstate_buckets = 1;
	state->row_limit = limit;
	open_kvscan(state, limit > 0 ? FLUSS_KVSCAN_LIMIT : scan_mode(state));
	MemoryContextSwitchTo(old);
}

bool
FlussStateScanNext(FlussScanState *state, TupleTableSlot *slot)
{
	bool		end;
	fluss_bucket_ref bucket;
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_kvscan_next(state->kvscan, &end, &bucket, state->values,
								 &err),
			   err, NULL);
	if (end)
		return false;
	FlussFillRow(state, slot, bucket);
	return true;
}

int64
FlussStateScanCount(FlussScanState *state)
{
	int64		rows = state->counted;
	bool		end = state->done;

	while (!end)
	{
		fluss_bucket_ref bucket;
		fluss_error err;

		CHECK_FOR_INTERRUPTS();
		fluss_error_init(&err);
		FLUSS_CALL(fluss_kvscan_next(state->kvscan, &end, &bucket,
									 state->values, &err),
				   err, NULL);
		if (!end)
			rows = add_rows(rows, 1);
	}
	state->done = true;
	return rows;
}

/* ----------------------------------------------------------------- EXPLAIN */

FlussScanKind
FlussStateScanUsed(FlussScanState *state)
{
	if (!FlussIsStateScan(state->kind) || state->kvscan == NULL)
		return state->kind;
	switch (fluss_kvscan_used_mode(state->kvscan))
	{
		case FLUSS_USED_SNAPSHOT:
			return FLUSS_SCAN_SNAPSHOT;
		case FLUSS_USED_SERVER:
			return FLUSS_SCAN_SERVER;
		default:
			return state->kind;
	}
}

char *
FlussStateScanEnds(FlussScanState *state)
{
	StringInfoData ends;

	if (!FlussIsStateScan(state->kind) || state->kvscan == NULL ||
		fluss_kvscan_used_mode(state->kvscan) == FLUSS_USED_LIMIT)
		return NULL;
	initStringInfo(&ends);
	for (int i = 0; i < state->nstate_buckets; i++)
	{
		const fluss_bucket_ref *at = &state->state_buckets[i];
		const fluss_partition *partition = state->places.partitions == NULL ?
			NULL : fluss_partition_by_id(state->places.partitions,
										 at->partition_id);
		int64		end;

		if (!fluss_ends_get(state->ends, at->partition_id, at->bucket, &end))
			continue;
		appendStringInfoString(&ends, ends.len > 0 ? ", " : "");
		if (partition != NULL)
			appendStringInfo(&ends, "partition %s ", partition->name);
		appendStringInfo(&ends, "bucket %d: " INT64_FORMAT, at->bucket, end);
	}
	return ends.len > 0 ? ends.data : NULL;
}
