/*
 * cost.c
 *	  Costs.
 *
 * The unit of everything is fdw_startup_cost, one round trip to the cluster.
 */
#include "fluss_fdw.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

/* What a key costs more than a row that is read with others. */
#define LOOKUP_KEY_FACTOR	9.0

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
FlussStateScanKind(FlussRelation *rel, double largest)
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
	if (largest <= rel->options->limit_scan_max_rows)
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
		asked * LOOKUP_KEY_FACTOR * rel->options->fdw_tuple_cost;
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

/* One round trip, where all counts are exact. */
void
FlussCostCount(FlussRelation *rel, FlussCost *cost)
{
	cost->startup = cost->total = rel->options->fdw_startup_cost;
}
