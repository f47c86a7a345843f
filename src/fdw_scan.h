/*
 * fdw_scan.h
 *	  Part of fluss_fdw.h: scans, joins, what EXPLAIN and ANALYZE see of them.
 */
#ifndef FLUSS_FDW_SCAN_H
#define FLUSS_FDW_SCAN_H

/* --------------------------- scan.c, scan_log.c, scan_kv.c, scan_state.c */

/* Where one attribute's value comes from. */
typedef struct FlussFill
{
	AttrNumber	attnum;
	FlussMetadata metadata;		/* or NONE: column */
	int			column;			/* index into FlussScanState.columns */
	bool		not_null;		/* a NULL is an error */
	FlussConverter converter;
} FlussFill;

typedef struct FlussRounds FlussRounds;
typedef struct FlussParallel FlussParallel;

struct FlussScanState
{
	FlussPlanPrivate plan;
	FlussScanKind kind;
	Index		varno;
	const char *relname;
	FlussRelation *rel;			/* remote side is there once started */
	MemoryContext context;		/* of the whole scan; its reset closes all */
	MemoryContext rescan_context;	/* of the current rescan */
	List	   *clauses;		/* for ranges, buckets or keys */
	List	   *vector_clauses;
	List	   *limit_exprs;	/* LIMIT, and OFFSET if there is one */
	List	   *limit_states;

	/* columns asked of the client, and where they go */
	int			ncolumns;
	int32	   *columns;		/* positions in the remote schema */
	int			nfill;
	FlussFill  *fill;
	fluss_value *values;		/* one row, by columns */
	int		   *key_columns;	/* of the primary key among them; not of a log */

	bool		opened;			/* relation and columns are bound */
	bool		started;		/* the current rescan has begun */
	bool		done;			/* and has nothing more */
	fluss_counters past;		/* of client objects that rescans closed */

	/* log scans, and the buckets of a limit scan */
	FlussRangeTree *ranges;		/* NULL: everything */
	FlussRangeTree *own_ranges; /* without clauses on other relations, where
								 * there are some and that matters; else NULL */
	int64	   *own_starts;		/* lower bounds by own_ranges, by place; 0: none */
	FlussPlaces places;
	FlussIntervals *intervals;	/* by place */
	int			partitions_kept;
	fluss_ends *ends;
	fluss_scan *log;
	const fluss_batch *batch;
	int32		row;			/* current one in batch */
	FlussVector *vector;		/* or NULL: every row */
	const int32 *selected;		/* rows of batch that pass it */
	int32		nselected;
	int32		next_selected;
	int64		rows_removed;
	FlussAggregates *aggregates;	/* or NULL: rows */
	bool		given;			/* the row of aggregates */
	fluss_partitions *fresh_partitions; /* of a lookup, or NULL */
	int64		row_limit;		/* so many rows will do; 0: all are wanted */
	FlussRounds *rounds;		/* or NULL: all ranges are read at once */
	bool		heads_done;		/* FLUSS_ORDER_EDGES: goes on with the tails */
	Bitmapset  *losses;			/* that were reported: see scan_log.c */
	FlussParallel *parallel;	/* or NULL: this process reads everything */

	/* lookups */
	FlussKeyTree *keys;
	fluss_lookup *lookup;
	int			nslots;
	int			slot;			/* the one whose rows are given */
	int			slot_row;		/* next one of them */

	/* rows of a slot that a lookup join handed over */
	fluss_lookup *handed;		/* the join's; NULL: none */
	int			handed_slot;
	int			handed_row;		/* next one of the slot */

	/* whole reads of a primary key table */
	fluss_kvscan *kvscan;
	fluss_bucket_ref *state_buckets;	/* that it reads */
	int			nstate_buckets;
	int64		counted;		/* rows of others, of which only those matter */
};

extern void flussBeginForeignScan(ForeignScanState *node, int eflags);
extern TupleTableSlot *flussIterateForeignScan(ForeignScanState *node);
extern void flussReScanForeignScan(ForeignScanState *node);
extern void flussEndForeignScan(ForeignScanState *node);
/* Binds the scan to its table; once is enough. */
extern void FlussScanOpen(ForeignScanState *node, FlussScanState *state);
/* Finds out which columns to ask for, and where their values go. */
extern void FlussBindColumns(FlussScanState *state);
extern void FlussAddCounters(fluss_counters *total,
							 const fluss_counters *part);
/* Counters of the whole scan so far. */
extern void FlussScanCounters(FlussScanState *state, fluss_counters *out);

/*
 * By kind: start begins a (re)scan, next gives a row or false.  Slots are
 * filled with Datums of the current, per-tuple context; errors of next get the
 * foreign table's name from the caller's error context.
 */
extern void FlussLogStart(ForeignScanState *node, FlussScanState *state);
extern bool FlussLogNext(ForeignScanState *node, FlussScanState *state,
						 TupleTableSlot *slot);
/*
 * Moves to the next batch with a row in range, and lets the vector filter
 * select among them.
 */
extern bool FlussLogNextBatch(ForeignScanState *node, FlussScanState *state);
/* The ranges of state->intervals, by place. */
extern fluss_range *FlussLogRanges(FlussScanState *state, int *nranges);
/* Opens a scan of the client in place of the one before. */
extern void FlussLogOpen(FlussScanState *state, const fluss_range *ranges,
						 int nranges);
/* A range that starts where the bucket holds nothing: on_data_loss decides. */
extern void FlussReportLoss(FlussScanState *state, const fluss_loss *reported);
/* Begins to read state->intervals, all at once. */
extern void FlussLogReadIntervals(FlussScanState *state);
extern void FlussLookupStart(ForeignScanState *node, FlussScanState *state);
extern bool FlussLookupNext(FlussScanState *state, TupleTableSlot *slot);
extern bool FlussHandedNext(FlussScanState *state, TupleTableSlot *slot);
/* Binds the scan under a lookup join to its table; once is enough. */
extern FlussScanState *FlussHandedOpen(ForeignScanState *node);
/* Makes the rows of an answered slot the next ones that the scan gives. */
extern void FlussHandOver(FlussScanState *state, fluss_lookup *lookup,
						  int slot);
/*
 * Opens a lookup for the scan's columns, closed with the context given.  Raises
 * what the client reports.
 */
extern void FlussLookupOpen(FlussScanState *state, MemoryContext context,
							bool prefix, int64 max_bytes,
							fluss_lookup **lookup);
extern void FlussStateScanStart(ForeignScanState *node, FlussScanState *state);
/* Begins to read one place, or its first rows by limit scan. */
extern void FlussStateScanOpen(FlussScanState *state, int place, int64 limit);
extern bool FlussStateScanNext(FlussScanState *state, TupleTableSlot *slot);
/* The rows of all buckets: known to the servers, or read now. */
extern int64 FlussStateScanCount(FlussScanState *state);
/* Pinned ends of the buckets that were not read by limit scan, or NULL. */
extern char *FlussStateScanEnds(FlussScanState *state);
/* As it has turned out so far: a limit scan may have become another. */
extern FlussScanKind FlussStateScanUsed(FlussScanState *state);
/* LIMIT plus OFFSET of the current rescan into state->row_limit. */
extern void FlussEvaluateLimit(ForeignScanState *node, FlussScanState *state);
/* Fills a slot from state->values, for tables with a primary key. */
extern void FlussFillRow(FlussScanState *state, TupleTableSlot *slot,
						 fluss_bucket_ref place);
/* CONTEXT: the primary key of the row in state->values. */
extern void FlussKeyContext(void *state);
/* Raises the NULL in a column that is NOT NULL locally. */
extern void FlussRefuseNull(const FlussFill *fill) __attribute__((noreturn));
/* Metadata that the table or the place decides. */
extern Datum FlussPlaceMetadata(FlussScanState *state, FlussMetadata metadata,
								fluss_bucket_ref place, bool *isnull);
/*
 * Finds the places and intervals of the current rescan, for scans of offsets
 * and for whole reads; false: there is nothing to read.
 */
extern bool FlussEvaluateRanges(ForeignScanState *node, FlussScanState *state);
/* The buckets that a whole read takes, after FlussEvaluateRanges. */
extern fluss_bucket_ref *FlussChooseBuckets(FlussScanState *state, int *n);

/* ------------------------------------- lookup_join.c, lookup_join_exec.c */

/* What the plan of a lookup join tells its execution. */
typedef struct FlussJoinPrivate
{
	JoinType	jointype;
	bool		single;			/* at most one match is wanted */
	double		first_rows;		/* rows that are wanted at first; 0: all */
	bool		prefix;			/* the key is a prefix: many rows each */
	List	   *attnums;		/* int list: the key's columns, by place */
	List	   *argtypes;		/* OID list: types of their values */
	List	   *sources;		/* int list: where each column of the scan tuple
								 * comes from, see FLUSS_JOIN_INNER */
} FlussJoinPrivate;

/* A source: column n of the outer plan, or of the inner one. */
#define FLUSS_JOIN_OUTER(n)	(n)
#define FLUSS_JOIN_INNER(n)	(-(n) - 1)
#define FLUSS_JOIN_NOWHERE	PG_INT32_MIN	/* stays NULL: only EXPLAIN names it */

/* The lists that custom_exprs consists of. */
#define FLUSS_JOIN_VALUES	0	/* key values from the outer row */
#define FLUSS_JOIN_KEYS		1	/* the clauses that they are from */
#define FLUSS_JOIN_OUTER_QUALS	2	/* join clauses on the outer row alone */
#define FLUSS_JOIN_QUALS	3	/* the other ones */

extern void FlussJoinPrivateUnpack(List *list, FlussJoinPrivate *priv);
extern void FlussLookupJoinInit(void);
/* Costs of looking up the rows that match those of an outer path. */
extern void FlussCostLookupJoin(FlussRelation *rel, double outer_rows,
								int outer_width, double keys,
								double first_rows, FlussCost *cost);
extern Node *FlussCreateLookupJoinState(CustomScan *plan);

/* Share of the memory cap that a lookup join's outer rows may take. */
#define FLUSS_JOIN_ROWS_SHARE	0.25

/* ---------------------------------------------------------- scan_rounds.c */

/*
 * Takes ranges over, and asks for offsets where the order needs them.  tail
 * says for FLUSS_ORDER_EDGES which edge is meant; wanted rows will do.
 */
extern FlussRounds *FlussRoundsOpen(FlussScanState *state,
									FlussScanOrder order, bool tail,
									int64 wanted, fluss_range *ranges,
									int nranges);
/* Ranges of the next round, after the one before was read; none: the end. */
extern fluss_range *FlussRoundsNext(FlussRounds *rounds, int *nranges);
/*
 * A batch has arrived.  Gives it back, or one that lives until the next call
 * with more of its rows.  Memory comes from context.
 */
extern const fluss_batch *FlussRoundsNote(FlussRounds *rounds,
										  const fluss_batch *batch,
										  MemoryContext context);

/* -------------------------------------------------------------- explain.c */

extern void flussExplainForeignScan(ForeignScanState *node, ExplainState *es);
/* "fetch 3, lookup 1" and the other counters, for ANALYZE. */
extern void FlussExplainCounters(const fluss_counters *counters,
								 ExplainState *es);

/* ------------------------------------------------------------- parallel.c */

extern bool flussIsForeignScanParallelSafe(PlannerInfo *root, RelOptInfo *rel,
										   RangeTblEntry *rte);
extern Size flussEstimateDSMForeignScan(ForeignScanState *node,
										ParallelContext *pcxt);
extern void flussInitializeDSMForeignScan(ForeignScanState *node,
										  ParallelContext *pcxt,
										  void *coordinate);
extern void flussReInitializeDSMForeignScan(ForeignScanState *node,
											ParallelContext *pcxt,
											void *coordinate);
extern void flussInitializeWorkerForeignScan(ForeignScanState *node,
											 shm_toc *toc, void *coordinate);
extern void flussShutdownForeignScan(ForeignScanState *node);
/* Adds the partial path of a scan of offsets, if the table is large enough. */
extern void FlussAddParallelPath(PlannerInfo *root, RelOptInfo *baserel,
								 FlussPlanState *state);
/* Begins to read slices, and goes on with the next one; false: the end. */
extern void FlussParallelStart(FlussScanState *state);
extern bool FlussParallelNext(FlussScanState *state);
extern bool FlussParallelIsNewLoss(FlussScanState *state,
								   const fluss_loss *loss);

/* -------------------------------------------------------------- analyze.c */

extern bool flussAnalyzeForeignTable(Relation relation,
									 AcquireSampleRowsFunc *func,
									 BlockNumber *totalpages);

#endif							/* FLUSS_FDW_SCAN_H */
