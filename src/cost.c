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
#define LOOKUP_KEY_FACTOR	2.0

typedef struct RowCount
{
	Oid			serverid;
	int64		table_id;
	TimestampTz asked;			/* 0: unused */
	double		rows;			/* -1: the server keeps no count */
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

static double
ask_row_count(FlussRelation *rel)
{
	fluss_table *table = rel->table;
	int32	   *buckets = palloc(table->nbuckets * sizeof(int32));
	int64	   *counts = palloc(table->nbuckets * sizeof(int64));
	double		rows = 0;
	fluss_error err;
	fluss_status status;

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
			return -1;
		rows += counts[i];
	}
	return rows;
}

static double
remote_row_count(FlussRelation *rel)
{
	RowCount   *entry = row_count_entry(rel->conn->serverid,
										rel->table->table_id);
	TimestampTz now = GetCurrentTimestamp();

	if (entry->asked == 0 ||
		TimestampDifferenceExceeds(entry->asked, now,
								   ROW_COUNT_SECONDS * 1000))
	{
		entry->rows = ask_row_count(rel);
		entry->asked = now;
	}
	return entry->rows;
}

double
FlussTableRows(FlussRelation *rel, const RelOptInfo *baserel)
{
	bool		keyed = rel->table != NULL && FlussIsKeyed(rel);

	if (keyed && rel->options->use_remote_estimate)
	{
		double		rows = remote_row_count(rel);

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
 * in a table of one row.  A read past limit_scan_max_rows would fail: only when
 * nothing else works.
 */
void
FlussCostLimitScan(FlussRelation *rel, double rows, FlussCost *cost)
{
	int			nbuckets = rel->table != NULL ? rel->table->nbuckets : 1;

	cost->startup = 2 * rel->options->fdw_startup_cost;
	if (rows / Max(nbuckets, 1) > rel->options->limit_scan_max_rows)
		cost->startup += disable_cost;
	cost->total = cost->startup + rows * rel->options->fdw_tuple_cost;
}
