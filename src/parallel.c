/*
 * parallel.c
 *	  Parallel scans of a log.
 *
 * The leader finds out what there is to read before any worker starts: places,
 * ranges, where times start, the pinned ends.  It cuts that into slices, and
 * each process takes the next slice that nobody has.  So every process sees the
 * partitions and ends of the statement, and no record is read twice.
 *
 * The slices lie in the query's shared area, because a rescan may have more of
 * them than the scan before.
 */
#include "fluss_fdw.h"

#include "access/parallel.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "port/atomics.h"
#include "storage/spin.h"
#include "utils/dsa.h"

/* Slices for each process, so that all end at about the same time. */
#define SLICES_PER_PROCESS	4
/* Records of a slice at least: batches at its ends are decoded twice. */
#define MIN_SLICE_ROWS		65536
/* An answer may hold records past the end of a slice: it had better be small. */
#define SLICE_FETCH_BYTES	(2 * 1024 * 1024)

typedef struct Slice
{
	fluss_range range;
	int64		pinned_end;		/* of the bucket */
} Slice;

typedef struct SharedPartition
{
	int64		partition_id;
	Size		name;			/* offset in the block */
	pg_atomic_uint32 reported;	/* that it was dropped */
} SharedPartition;

/* What the leader found; one piece of shared memory. */
typedef struct SharedBlock
{
	int			nslices;
	int			npartitions;	/* -1: the table is not partitioned */
	Size		partitions;		/* offset in the block */
	Slice		slices[FLEXIBLE_ARRAY_MEMBER];
} SharedBlock;

/* In the table of contents. */
typedef struct SharedScan
{
	dsa_pointer block;
	pg_atomic_uint32 next;		/* slice to take */
	slock_t		mutex;
	fluss_counters counters;	/* of workers that are done */
	int64		rows_removed;
} SharedScan;

struct FlussParallel
{
	SharedScan *shared;
	SharedBlock *block;
	bool		worker;
};

/* ------------------------------------------------------------------ planning */

bool
flussIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
							   RangeTblEntry *rte)
{
	/* paths that only the leader may take say so themselves */
	return true;
}

/* As core has it: the leader works, too, when it is not busy with rows. */
static double
parallel_divisor(int workers)
{
	double		leader = 1.0 - 0.3 * workers;

	return parallel_leader_participation && leader > 0 ? workers + leader :
		workers;
}

void
FlussAddParallelPath(PlannerInfo *root, RelOptInfo *baserel,
					 FlussPlanState *state)
{
	FlussScanKind kind = FlussLogKind(state->rel);
	double		rows = state->fetched_rows;
	double		pages = rows * (baserel->reltarget->width + 16) / BLCKSZ;
	int			workers;
	double		saved;
	double		divisor;
	QualCost	filter;
	FlussCost	cost;
	FlussPathForm form = {.kind = kind};
	ForeignPath *path;

	if (!baserel->consider_parallel || baserel->lateral_relids != NULL)
		return;
	workers = compute_parallel_worker(baserel, Max(pages, 1), -1,
									  max_parallel_workers_per_gather);
	if (workers <= 0)
		return;
	divisor = parallel_divisor(workers);
	filter = FlussFilterCost(root, baserel, kind, baserel->baserestrictinfo);
	FlussCostLog(state->rel, state->cost_rows, &cost);
	/* the ends are asked for first */
	cost.startup += state->rel->options->fdw_startup_cost + filter.startup;
	cost.total += state->rel->options->fdw_startup_cost + filter.startup +
		state->cost_rows * (cpu_tuple_cost + filter.per_tuple);
	/* only the rows that are there by now are shared */
	saved = rows * (state->rel->options->fdw_tuple_cost + cpu_tuple_cost +
					filter.per_tuple) * (1 - 1 / divisor);
	path = fluss_create_foreignscan_path(root, baserel,
										 clamp_row_est(baserel->rows / divisor),
										 cost.startup, cost.total - saved,
										 NIL, NULL, FlussPathFormPack(&form));
	path->path.parallel_aware = true;
	path->path.parallel_safe = true;
	path->path.parallel_workers = workers;
	add_partial_path(baserel, (Path *) path);
}

/* ---------------------------------------------------------------- the leader */

/* The offsets of a bucket that the leader found. */
static void
ask_place(FlussScanState *state, int place, FlussSpan *span)
{
	fluss_bucket_ref ref = FlussPlaceRef(&state->places, place);
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	state->past.requests[FLUSS_REQUEST_LIST_OFFSETS] += 2;
	status = fluss_list_offsets(state->rel->conn->client, state->rel->table,
								FLUSS_OFFSET_EARLIEST, 0, ref.partition_id,
								&ref.bucket, 1, FLUSS_NEED_ALL, &span->low, &err);
	if (status == FLUSS_OK)
		status = fluss_list_offsets(state->rel->conn->client,
									state->rel->table, FLUSS_OFFSET_LATEST, 0,
									ref.partition_id, &ref.bucket, 1, FLUSS_NEED_ALL,
									&span->high, &err);
	if (status == FLUSS_SERVER_ERROR &&
		err.server_code == FLUSS_CODE_PARTITION_NOT_EXISTS)
	{
		fluss_loss	loss = {ref.partition_id, ref.bucket, true};

		loss.earliest = loss.end = FLUSS_OFFSET_UNKNOWN;
		FlussReportLoss(state, &loss);
		span->low = span->high = 0;
	}
	else if (status != FLUSS_OK)
		FlussRaise(&err, state->relname);
}

/* Pins the ends of all places that have something to read. */
static FlussSpan *
find_ends(FlussScanState *state)
{
	const FlussPlaces *places = &state->places;
	FlussSpan  *spans = palloc0((places->n + 1) * sizeof(*spans));
	fluss_bucket_ref *refs = palloc((places->n + 1) * sizeof(*refs));
	int64	   *low = palloc((places->n + 1) * sizeof(int64));
	int64	   *high = palloc((places->n + 1) * sizeof(int64));
	int			n = 0;
	fluss_error err;

	fluss_error_init(&err);
	for (int i = 0; i < places->n; i++)
	{
		if (state->intervals[i].n > 0)
			refs[n++] = FlussPlaceRef(places, i);
	}
	if (n == 0)
		return spans;
	state->past.requests[FLUSS_REQUEST_LIST_OFFSETS] += 2;
	FLUSS_CALL(fluss_bucket_spans(state->rel->conn->client, state->rel->table,
								  refs, n, low, high, &err),
			   err, state->relname);
	n = 0;
	for (int i = 0; i < places->n; i++)
	{
		fluss_bucket_ref ref = FlussPlaceRef(places, i);

		if (state->intervals[i].n == 0)
			continue;
		spans[i].low = low[n];
		spans[i].high = high[n++];
		if (spans[i].low < 0 || spans[i].high < 0)
			ask_place(state, i, &spans[i]);
		FLUSS_CALL(fluss_ends_pin(state->ends, ref.partition_id, ref.bucket,
								  spans[i].high, &err), err, state->relname);
		(void) fluss_ends_get(state->ends, ref.partition_id, ref.bucket,
							  &spans[i].high);
	}
	return spans;
}

/* What of a range is there; false: nothing.  Tells what is lost. */
static bool
clip_range(FlussScanState *state, fluss_range *range, const FlussSpan *span)
{
	fluss_loss	loss = {range->partition_id, range->bucket};

	loss.start = range->start;
	loss.earliest = span->low;
	loss.end = span->high;
	if (range->start > span->high ||
		(range->start > 0 && range->start < span->low))
		FlussReportLoss(state, &loss);
	range->start = Max(range->start, span->low);
	range->end = Min(range->end, span->high);
	return range->start < range->end;
}

/* Ranges as slices of at most that many records. */
static List *
cut_ranges(FlussScanState *state, const FlussSpan *spans, int64 most)
{
	List	   *slices = NIL;
	int			nranges;
	fluss_range *ranges = FlussLogRanges(state, &nranges);
	int			r = 0;

	for (int i = 0; i < state->places.n; i++)
	{
		for (int j = 0; j < state->intervals[i].n; j++)
		{
			fluss_range range = ranges[r++];

			if (!clip_range(state, &range, &spans[i]))
				continue;
			while (range.start < range.end)
			{
				Slice	   *slice = palloc(sizeof(*slice));

				slice->range = range;
				slice->range.end = range.end - range.start > most ?
					range.start + most : range.end;
				slice->pinned_end = spans[i].high;
				range.start = slice->range.end;
				slices = lappend(slices, slice);
			}
		}
	}
	return slices;
}

static int64
slice_rows(const FlussScanState *state, const FlussSpan *spans, int processes)
{
	int64		rows = 0;

	for (int i = 0; i < state->places.n; i++)
	{
		for (int j = 0; j < state->intervals[i].n; j++)
		{
			const FlussInterval *item = &state->intervals[i].items[j];

			rows += Max(Min(item->end, spans[i].high) -
						Max(item->start, spans[i].low), 0);
		}
	}
	return Max(rows / (processes * SLICES_PER_PROCESS), MIN_SLICE_ROWS);
}

static Size
names_size(const FlussPlaces *places)
{
	Size		size = 0;

	for (int i = 0; places->partitions != NULL && i < places->npartitions; i++)
		size = add_size(size,
						strlen(places->partitions->items[i].name) + 1);
	return size;
}

static void
fill_partitions(SharedBlock *block, const FlussPlaces *places)
{
	SharedPartition *shared = (SharedPartition *) ((char *) block +
												   block->partitions);
	Size		at = block->partitions +
		places->npartitions * sizeof(SharedPartition);

	for (int i = 0; i < places->npartitions; i++)
	{
		const fluss_partition *partition = &places->partitions->items[i];

		shared[i].partition_id = partition->partition_id;
		shared[i].name = at;
		pg_atomic_init_u32(&shared[i].reported, 0);
		strcpy((char *) block + at, partition->name);
		at += strlen(partition->name) + 1;
	}
}

/* The block, in the area, or without workers in the scan's memory. */
static SharedBlock *
make_block(FlussScanState *state, dsa_area *area, List *slices,
		   dsa_pointer *pointer)
{
	const FlussPlaces *places = &state->places;
	bool		partitioned = places->partitions != NULL;
	Size		size = add_size(offsetof(SharedBlock, slices),
								mul_size(list_length(slices), sizeof(Slice)));
	Size		partitions = MAXALIGN(size);
	SharedBlock *block;
	ListCell   *lc;

	size = add_size(partitions, mul_size(partitioned ? places->npartitions : 0,
										 sizeof(SharedPartition)));
	size = add_size(size, names_size(places));
	if (area != NULL)
	{
		*pointer = dsa_allocate_extended(area, size, DSA_ALLOC_HUGE);
		block = dsa_get_address(area, *pointer);
	}
	else
		block = MemoryContextAllocHuge(state->context, size);
	block->nslices = 0;
	block->npartitions = partitioned ? places->npartitions : -1;
	block->partitions = partitions;
	foreach(lc, slices)
		block->slices[block->nslices++] = *(Slice *) lfirst(lc);
	if (partitioned)
		fill_partitions(block, places);
	return block;
}

/* Finds out what there is to read, and cuts it for that many processes. */
static void
prepare(ForeignScanState *node, FlussScanState *state, int processes)
{
	FlussParallel *parallel = state->parallel;
	dsa_area   *area = node->ss.ps.state->es_query_dsa;
	List	   *slices = NIL;
	MemoryContext old;

	FlussScanOpen(node, state);
	old = MemoryContextSwitchTo(state->rescan_context);
	if (FlussEvaluateRanges(node, state))
	{
		FlussSpan  *spans = find_ends(state);

		slices = cut_ranges(state, spans,
							slice_rows(state, spans, processes));
	}
	MemoryContextSwitchTo(old);
	if (area != NULL && DsaPointerIsValid(parallel->shared->block))
		dsa_free(area, parallel->shared->block);
	else if (area == NULL && parallel->block != NULL)
		pfree(parallel->block);
	parallel->block = NULL;
	parallel->shared->block = InvalidDsaPointer;
	parallel->block = make_block(state, area, slices,
								 &parallel->shared->block);
	pg_atomic_write_u32(&parallel->shared->next, 0);
}

Size
flussEstimateDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt)
{
	return sizeof(SharedScan);
}

void
flussInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
							  void *coordinate)
{
	FlussScanState *state = node->fdw_state;
	SharedScan *shared = coordinate;

	memset(shared, 0, sizeof(*shared));
	shared->block = InvalidDsaPointer;
	pg_atomic_init_u32(&shared->next, 0);
	SpinLockInit(&shared->mutex);
	state->parallel = MemoryContextAllocZero(state->context,
											 sizeof(FlussParallel));
	state->parallel->shared = shared;
	prepare(node, state, pcxt->nworkers + 1);
}

/* What workers have counted so far goes to the leader's own. */
static void
gather_counters(FlussScanState *state)
{
	SharedScan *shared = state->parallel->shared;

	SpinLockAcquire(&shared->mutex);
	FlussAddCounters(&state->past, &shared->counters);
	state->rows_removed += shared->rows_removed;
	memset(&shared->counters, 0, sizeof(shared->counters));
	shared->rows_removed = 0;
	SpinLockRelease(&shared->mutex);
}

void
flussReInitializeDSMForeignScan(ForeignScanState *node, ParallelContext *pcxt,
								void *coordinate)
{
	FlussScanState *state = node->fdw_state;

	gather_counters(state);
	prepare(node, state, pcxt->nworkers + 1);
}

/* --------------------------------------------------------------- the workers */

void
flussInitializeWorkerForeignScan(ForeignScanState *node, shm_toc *toc,
								 void *coordinate)
{
	FlussScanState *state = node->fdw_state;
	FlussParallel *parallel = MemoryContextAllocZero(state->context,
													 sizeof(*parallel));

	parallel->shared = coordinate;
	parallel->worker = true;
	parallel->block = dsa_get_address(node->ss.ps.state->es_query_dsa,
									  parallel->shared->block);
	state->parallel = parallel;
}

/* The partitions that the leader saw, as far as a scan has to know them. */
static fluss_partitions *
shared_partitions(SharedBlock *block)
{
	SharedPartition *shared = (SharedPartition *) ((char *) block +
												   block->partitions);
	fluss_partitions *result = palloc0(sizeof(*result));
	fluss_partition *items = palloc0((block->npartitions + 1) * sizeof(*items));

	for (int i = 0; i < block->npartitions; i++)
	{
		items[i].partition_id = shared[i].partition_id;
		items[i].name = (char *) block + shared[i].name;
	}
	result->n = block->npartitions;
	result->items = items;
	return result;
}

/* Places and ends are those of the leader. */
static void
adopt_places(FlussScanState *state)
{
	SharedBlock *block = state->parallel->block;
	fluss_host	host = FlussHost(state->rescan_context);
	fluss_error err;

	FlussPlacesInit(&state->places, state->rel,
					block->npartitions < 0 ? NULL : shared_partitions(block),
					state->rel->table->nbuckets);
	FlussCloseOnReset(state->rescan_context, FlussCloseEnds,
					  (void **) &state->ends);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_ends_open(&host, &state->ends, &err), err,
			   state->relname);
	for (int i = 0; i < block->nslices; i++)
		FLUSS_CALL(fluss_ends_pin(state->ends,
								  block->slices[i].range.partition_id,
								  block->slices[i].range.bucket,
								  block->slices[i].pinned_end, &err), err,
				   state->relname);
}

void
FlussParallelStart(FlussScanState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->rescan_context);
	FlussOptions *options = state->rel->options;

	if (state->parallel->worker)
		adopt_places(state);
	MemoryContextSwitchTo(old);
	options->fetch_max_bytes_for_bucket =
		Min(options->fetch_max_bytes_for_bucket, SLICE_FETCH_BYTES);
	if (!FlussParallelNext(state))
		state->done = true;
}

bool
FlussParallelNext(FlussScanState *state)
{
	FlussParallel *parallel = state->parallel;
	uint32		next;
	MemoryContext old;

	/* over, or the counter would go on with every call at the end */
	if (parallel->shared == NULL)
		return false;
	if (pg_atomic_read_u32(&parallel->shared->next) >=
		(uint32) parallel->block->nslices)
		return false;
	next = pg_atomic_fetch_add_u32(&parallel->shared->next, 1);
	if (next >= (uint32) parallel->block->nslices)
		return false;
	old = MemoryContextSwitchTo(state->rescan_context);
	FlussLogOpen(state, &parallel->block->slices[next].range, 1);
	MemoryContextSwitchTo(old);
	return true;
}

/* True for the first process that meets the loss of a partition. */
bool
FlussParallelIsNewLoss(FlussScanState *state, const fluss_loss *loss)
{
	SharedBlock *block = state->parallel->block;
	SharedPartition *shared;

	if (block == NULL || state->parallel->shared == NULL || !loss->dropped ||
		block->npartitions < 0)
		return true;
	shared = (SharedPartition *) ((char *) block + block->partitions);
	for (int i = 0; i < block->npartitions; i++)
	{
		if (shared[i].partition_id == loss->partition_id)
			return pg_atomic_exchange_u32(&shared[i].reported, 1) == 0;
	}
	return true;
}

/*
 * A worker leaves its counters; the leader collects them while the memory is
 * there, when all workers have given their rows.
 */
void
flussShutdownForeignScan(ForeignScanState *node)
{
	FlussScanState *state = node->fdw_state;
	FlussParallel *parallel;
	fluss_counters mine;

	if (state == NULL || state->parallel == NULL)
		return;
	parallel = state->parallel;
	if (parallel->shared == NULL)
		return;
	if (!parallel->worker)
	{
		gather_counters(state);
		parallel->shared = NULL;
		return;
	}
	FlussScanCounters(state, &mine);
	SpinLockAcquire(&parallel->shared->mutex);
	FlussAddCounters(&parallel->shared->counters, &mine);
	parallel->shared->rows_removed += state->rows_removed;
	SpinLockRelease(&parallel->shared->mutex);
	parallel->shared = NULL;
}
