/*
 * cost.c
 *	  Sizes and costs.
 *
 * The unit of everything is fdw_startup_cost, one round trip to the cluster.
 */
#include "fluss_fdw.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/timestamp.h"

/* Rows of a table that nothing is known about. */
#define DEFAULT_LOG_ROWS	1000000.0
#define DEFAULT_KEYED_ROWS	10000.0

/* How long the server's row count is believed without asking again. */
#define ROW_COUNT_SECONDS	10
#define ROW_COUNT_ENTRIES	32

/* What a key costs more than a row that is read with others. */
#define LOOKUP_KEY_FACTOR	9.0

typedef struct RowCount
{
	Oid			serverid;
	int64		table_id;
	TimestampTz asked;			/* 0: unused */
	double		rows;			/* -1: the server keeps no count */
	double		largest;		/* of a bucket, as far as counts are known */
} RowCount;

static RowCount row_counts[ROW_COUNT_ENTRIES];

/* The entry of a table, or the oldest one to be taken for it. */
static RowCount *
row_count_entry(Oid serverid, int64 table_id)
{
	RowCount   *oldest = &row_counts[0];

	for (int i = 0; i < ROW_COUNT_ENTRIES; i++)
	{
		RowCount   *entry = &row_counts[i];

		if (entry->asked != 0 && entry->serverid == serverid &&
			entry->table_id == table_id)
			return entry;
		if (entry->asked < oldest->asked)
			oldest = entry;
	}
	oldest->serverid = serverid;
	oldest->table_id = table_id;
	oldest->asked = 0;
	return oldest;
}

/* Rows of all buckets, and of the largest of them. */
static double
ask_row_count(FlussRelation *rel, double *largest)
{
	fluss_table *table = rel->table;
	int32	   *buckets = palloc(table->nbuckets * sizeof(int32));
	int64	   *counts = palloc(table->nbuckets * sizeof(int64));
	double		rows = 0;
	bool		complete = true;
	fluss_error err;
	fluss_status status;

	if (table->npartition_key > 0)
		return -1;
	for (int i = 0; i < table->nbuckets; i++)
		buckets[i] = i;
	fluss_error_init(&err);
	status = fluss_table_row_counts(rel->conn->client, table,
									FLUSS_NO_PARTITION, buckets,
									table->nbuckets, counts, &err);
	if (status == FLUSS_INTERRUPTED)
		FlussRaise(&err, rel->name);

	/* an estimate may fail: the execution tells what is wrong, at once */
	if (status != FLUSS_OK)
	{
		FlussRememberFailure(rel->conn, rel->relid, &err);
		return -1;
	}
	for (int i = 0; i < table->nbuckets; i++)
	{
		if (counts[i] == FLUSS_OFFSET_UNKNOWN)
			complete = false;
		rows += counts[i];
		*largest = Max(*largest, counts[i]);
	}
	return complete ? rows : -1;
}

static const RowCount *
remote_row_count(FlussRelation *rel)
{
	RowCount   *entry = row_count_entry(rel->conn->serverid,
										rel->table->table_id);
	TimestampTz now = GetCurrentTimestamp();

	if (entry->asked == 0 ||
		TimestampDifferenceExceeds(entry->asked, now,
								   ROW_COUNT_SECONDS * 1000))
	{
		entry->largest = -1;
		entry->rows = ask_row_count(rel, &entry->largest);
		entry->asked = now;
	}
	return entry;
}

double
FlussTableRows(FlussRelation *rel, const RelOptInfo *baserel)
{
	bool		keyed = rel->table != NULL && FlussIsKeyed(rel);

	if (keyed && rel->options->use_remote_estimate)
	{
		double		rows = remote_row_count(rel)->rows;

		if (rows >= 0)
			return rows;
	}
	if (baserel->tuples >= 0 && baserel->pages > 0)
		return baserel->tuples;
	return keyed ? DEFAULT_KEYED_ROWS : DEFAULT_LOG_ROWS;
}

void
FlussCostLog(FlussRelation *rel, double rows, FlussCost *cost)
{
	cost->startup = rel->options->fdw_startup_cost;
	cost->total = cost->startup + rows * rel->options->fdw_tuple_cost;
}

void
FlussCostLookup(FlussRelation *rel, double keys, FlussCost *cost)
{
	double		requests = ceil(keys / rel->options->lookup_max_batch_size);

	cost->startup = rel->options->fdw_startup_cost * Max(requests, 1);
	cost->total = cost->startup +
		keys * (rel->options->fdw_tuple_cost + cpu_operator_cost);
}

FlussScanKind
FlussStateScanKind(FlussRelation *rel)
{
	switch (rel->options->kv_scan)
	{
		case FLUSS_KV_SCAN_LIMIT:
			return FLUSS_SCAN_LIMIT;
		case FLUSS_KV_SCAN_SNAPSHOT:
			return FLUSS_SCAN_SNAPSHOT;
		case FLUSS_KV_SCAN_SERVER:
			return FLUSS_SCAN_SERVER;
		case FLUSS_KV_SCAN_AUTO:
			break;
	}
	if (!rel->options->use_remote_estimate)
		return FLUSS_SCAN_LIMIT;
	if (remote_row_count(rel)->largest <= rel->options->limit_scan_max_rows)
		return FLUSS_SCAN_LIMIT;
	return fluss_client_offers_server_scans(rel->conn->client) ?
		FLUSS_SCAN_SERVER : FLUSS_SCAN_SNAPSHOT;
}

/* What a snapshot read costs before its first row, in startups. */
#define SNAPSHOT_STARTUPS 20

/*
 * Lookups of a lookup join.  Requests overlap with one another and with the
 * work on their answers, so only the first one is waited for in full.
 */
void
FlussCostLookupJoin(FlussRelation *rel, double outer_rows, int outer_width,
					double keys, double first_rows, FlussCost *cost)
{
	double		batch = rel->options->lookup_max_batch_size;
	double		row_bytes = outer_width + 32;
	double		window_rows = fluss_max_buffered_bytes() *
		FLUSS_JOIN_ROWS_SHARE /
		(rel->options->lookup_max_inflight_requests + 1) / row_bytes;
	double		windows = Max(ceil(keys / batch),
							  ceil(outer_rows / Max(window_rows, 1)));
	/* a key is asked for once a window */
	double		asked = Min(outer_rows, Max(keys, windows *
											Min(keys, window_rows)));

	if (first_rows > 0)
		windows += log2(Max(outer_rows / first_rows, 1));
	cost->startup = rel->options->fdw_startup_cost;
	cost->total = cost->startup +
		(Max(windows, 1) - 1) * rel->options->fdw_startup_cost * 0.25 +
		asked * LOOKUP_KEY_FACTOR * rel->options->fdw_tuple_cost +
		outer_rows * cpu_tuple_cost;
}

/*
 * A limit scan keeps writers of the bucket waiting: a lookup is preferred even
 * in a table of one row.
 */
void
FlussCostStateScan(FlussRelation *rel, FlussScanKind kind, double rows,
				   FlussCost *cost)
{
	cost->startup = 2 * rel->options->fdw_startup_cost;
	if (kind == FLUSS_SCAN_SNAPSHOT)
		cost->startup *= SNAPSHOT_STARTUPS;
	cost->total = cost->startup + rows * rel->options->fdw_tuple_cost;
}
