/*
 * fdw_plan.h
 *	  Part of fluss_fdw.h: clauses, ranges, paths, plans and their costs.
 */
#ifndef FLUSS_FDW_PLAN_H
#define FLUSS_FDW_PLAN_H

/* ----------------------------------------------------------------- qual.c */

/* A comparison with the relation's column and a scan's constant told apart. */
typedef struct FlussComparison
{
	const FlussAttribute *attr;
	Oid			opno;			/* as "column op value" */
	Oid			collation;
	Expr	   *value;
	Oid			argtype;		/* of the value; of its elements for an array */
	bool		is_array;		/* column = ANY (value) */
} FlussComparison;

extern bool FlussSplitComparison(const FlussRelation *rel, Index varno,
								 Node *clause, FlussComparison *out);
/* smallint, integer and bigint, and a value of one of them. */
extern bool FlussIsIntegerType(Oid type);
extern int64 FlussIntegerOf(Datum datum, Oid type);
/* The elements of an array; gives their number. */
extern int	FlussArrayElements(Datum array, Datum **items, bool **nulls);
/*
 * column = value or column = ANY (array) that a lookup can answer; gives the
 * column's place in the primary key.  Needs the remote side of rel.
 */
extern bool FlussIsKeyClause(FlussRelation *rel, Index varno, Node *clause,
							 int *keyno);
/* Place of an attribute in the primary key, or -1. */
extern int	FlussKeyNumber(const FlussRelation *rel, AttrNumber attnum);

/* ------------------------------------------------------------------ key.c */

/* An equality on a primary key column. */
typedef struct FlussKeyLeaf
{
	int			keyno;			/* place in the primary key */
	AttrNumber	attnum;
	Expr	   *value;
	Oid			argtype;		/* of the value; of its elements for an array */
	bool		is_array;
} FlussKeyLeaf;

/* The clauses of a lookup. */
typedef struct FlussKeyMatch
{
	bool		prefix;			/* only by the prefix of the key */
	List	   *exact;			/* the lookup answers them */
	List	   *hints;			/* they name keys, and say more than that */
	double		keys;			/* so many, about */
} FlussKeyMatch;

extern bool FlussSplitKeyLeaf(FlussRelation *rel, Index varno, Node *clause,
							  FlussKeyLeaf *leaf);
/* True when the clause fixes some column of the primary key. */
extern bool FlussIsKeyUse(FlussRelation *rel, Index varno, Node *clause);
/*
 * The clauses, RestrictInfos or bare, that fix the whole key, or else its
 * prefix; false when they do not.
 */
extern bool FlussMatchKey(PlannerInfo *root, FlussRelation *rel, Index varno,
						  List *clauses, FlussKeyMatch *match);
/*
 * One equality with a single value for each column of the primary key, or of
 * the prefix that chooses partition and bucket, in key order; NIL if one is
 * missing.
 */
extern List *FlussMatchJoinKey(FlussRelation *rel, Index varno, List *clauses,
							   bool prefix);

/* -------------------------------------------------------------- key_set.c */

typedef struct FlussKeyTree FlussKeyTree;

/* Compiles the clauses of a lookup for evaluation under parent. */
extern FlussKeyTree *FlussKeyCompile(FlussRelation *rel, Index varno,
									 List *clauses, PlanState *parent);
/*
 * The keys they name now, each with its values by place in the primary key, in
 * the current context; how many is returned.  HV001 past the memory cap.
 */
extern int	FlussKeyEvaluate(FlussKeyTree *tree, ExprContext *econtext,
							 const fluss_value ***keys);

/* ------------------------------------------------ vector.c, vector_value.c */

typedef struct FlussScanState FlussScanState;
/* A compiled filter on the columns of a batch. */
typedef struct FlussVector FlussVector;

/* Fixed-width, so that filters and aggregates can work on its views. */
extern bool FlussIsVectorColumn(const FlussRelation *rel, AttrNumber attnum);
/* Simple tests of such columns and AND, OR of them; needs the remote side. */
extern bool FlussIsVectorClause(FlussRelation *rel, Index varno, Node *clause);
/* Compiles such clauses (implicitly ANDed) for evaluation under parent. */
extern FlussVector *FlussVectorCompile(FlussRelation *rel, Index varno,
									   List *clauses, PlanState *parent);
/* Finds the columns among those that the scan fetches, once it is open. */
extern void FlussVectorBind(FlussVector *vector, FlussScanState *state);
/* Values are computed again. */
extern void FlussVectorRescan(FlussVector *vector);
/* Rows in range of a batch that pass; the array lives until the next call. */
extern const int32 *FlussVectorSelect(FlussVector *vector,
									  ExprContext *econtext,
									  const fluss_batch *batch, int32 *nrows);

/* ------------------------------------------------------------- interval.c */

/* Some records of a bucket: half-open both in offsets and in commit times. */
typedef struct FlussInterval
{
	int64		start;
	int64		end;			/* FLUSS_OFFSET_END: no bound */
	int64		from_ms;		/* a hint, as until_ms; 0: no bound */
	int64		until_ms;		/* FLUSS_TIME_END: no bound */
} FlussInterval;

#define FLUSS_TIME_END PG_INT64_MAX
#define FLUSS_WHOLE_INTERVAL {0, FLUSS_OFFSET_END, 0, FLUSS_TIME_END}

/* Ascending, with disjoint offsets. */
typedef struct FlussIntervals
{
	int			n;
	FlussInterval *items;
} FlussIntervals;

/* Open intervals have no lower bound of their own: see scan_startup_mode. */
typedef struct FlussOffsetSet
{
	FlussIntervals bounded;
	FlussIntervals open;
} FlussOffsetSet;

extern FlussOffsetSet FlussSetNone(void);
extern FlussOffsetSet FlussSetAll(void);
extern FlussOffsetSet FlussSetOf(const FlussInterval *interval, bool open);
extern bool FlussSetIsAll(const FlussOffsetSet *set);
extern bool FlussSetIsEmpty(const FlussOffsetSet *set);
extern FlussOffsetSet FlussSetIntersect(const FlussOffsetSet *a,
										const FlussOffsetSet *b);
extern FlussOffsetSet FlussSetUnion(const FlussOffsetSet *sets, int nsets);
/* Lets the open half start where scan_startup_mode says. */
extern void FlussSetStart(FlussOffsetSet *set, const FlussOptions *options);
/* Both halves together. */
extern FlussIntervals FlussSetFinish(const FlussOffsetSet *set);
/* Appends " [5,15) [20,)". */
extern void FlussIntervalsText(StringInfo out, const FlussIntervals *intervals);

/* ------------------------------------------------------------ partition.c */

/*
 * The buckets of a table, those of one partition after the other: bucket b of
 * partition p is number p * nbuckets + b.  A table that is not partitioned
 * counts as one partition.
 */
typedef struct FlussPlaces
{
	const FlussRelation *rel;
	const fluss_partitions *partitions; /* NULL: not partitioned */
	int			npartitions;
	int			nbuckets;		/* of each partition */
	int			n;
} FlussPlaces;

/* partitions is NULL for a table that is not partitioned. */
extern void FlussPlacesInit(FlussPlaces *places, const FlussRelation *rel,
							const fluss_partitions *partitions, int nbuckets);
extern fluss_bucket_ref FlussPlaceRef(const FlussPlaces *places, int place);
/* NULL in a table that is not partitioned. */
extern const fluss_partition *FlussPlacePartition(const FlussPlaces *places,
												  int place);
/* True for columns whose value is the same in all records of a place. */
extern bool FlussIsPlaceColumn(const FlussRelation *rel, AttrNumber attnum);
/* A slot for such columns; fill it for a place before evaluating on it. */
extern TupleTableSlot *FlussPlaceSlot(const FlussRelation *rel);
extern void FlussFillPlace(TupleTableSlot *slot, const FlussPlaces *places,
						   int place);
extern Datum FlussPartitionName(const fluss_partition *partition);
/* Partitions with a set that is not empty. */
extern int	FlussPartitionsKept(const FlussPlaces *places,
								const FlussOffsetSet *sets);

/* ----------------------------------------------------------- range_qual.c */

/* What a clause is worth to a scan. */
typedef enum FlussRangeUse
{
	FLUSS_RANGE_NONE,
	FLUSS_RANGE_HINT,			/* it narrows the scan, and stays a filter */
	FLUSS_RANGE_EXACT			/* the scan answers it */
} FlussRangeUse;

/* Parts of range clauses; a mask. */
#define FLUSS_PART_PLACE	0x01	/* partition, bucket */
#define FLUSS_PART_OFFSET	0x02
#define FLUSS_PART_TIME		0x04
#define FLUSS_PART_PARTITION 0x08	/* among the places: partitions */
#define FLUSS_PART_ALL		0x0f

/*
 * Looks at a boolean tree over _log_offset, _bucket, times, and expressions of
 * columns that are the same in a whole bucket; other sides are foreign to rel.
 * allowed are the parts that the scan can make use of; *parts, if given, gets
 * those found.
 */
extern FlussRangeUse FlussRangeUseOf(FlussRelation *rel, Index varno,
									 Node *clause, int allowed, int *parts);
/* What a scan of that kind can use of a clause. */
#define FlussAllowedParts(kind) \
	(FlussIsLogScan(kind) ? FLUSS_PART_ALL : \
	 FlussIsStateScan(kind) ? FLUSS_PART_PLACE | FLUSS_PART_PARTITION : 0)

typedef enum FlussLeafKind
{
	FLUSS_LEAF_NONE,			/* of no use */
	FLUSS_LEAF_COMPARE,			/* of a bucket or an offset */
	FLUSS_LEAF_TIME,
	FLUSS_LEAF_TEST				/* the same for a whole place */
} FlussLeafKind;

/* A clause that is no AND or OR. */
typedef struct FlussLeaf
{
	FlussLeafKind kind;
	int			part;
	bool		exact;
	int			strategy;		/* btree; COMPARE and TIME */
	FlussComparison comparison; /* the same */
} FlussLeaf;

extern void FlussLeafOf(FlussRelation *rel, Index varno, Node *clause,
						FlussLeaf *leaf);
/* A comparison of rows as AND and OR of comparisons; others as they are. */
extern Node *FlussExpandRowCompare(Node *clause);

/* ---------------------------------------------------------------- range.c */

typedef struct FlussRangeTree FlussRangeTree;

/*
 * Compiles range clauses (implicitly ANDed) for evaluation under parent, or
 * with parent NULL, at plan time.  Needs the remote side of rel for clauses on
 * partition columns.
 */
extern FlussRangeTree *FlussRangeCompile(FlussRelation *rel, Index varno,
										 List *clauses, int allowed,
										 PlanState *parent);
/*
 * Evaluates every value once, and then gives the set of each place, allocated
 * in the current context.
 */
extern FlussOffsetSet *FlussRangeEvaluate(FlussRangeTree *tree,
										  ExprContext *econtext,
										  const FlussPlaces *places);
/* True when nothing in the clause has to wait for the execution. */
extern bool FlussRangeIsConstant(FlussRelation *rel, Index varno,
								 Node *clause);
/* Sets by clauses that are constant in that sense. */
extern FlussOffsetSet *FlussRangeConstant(FlussRelation *rel, Index varno,
										  List *clauses, int allowed,
										  const FlussPlaces *places);
/* "bucket 0: [5,15), bucket 2: [0,3) [7,)", or "none" */
extern char *FlussRangeText(const FlussPlaces *places,
							const FlussIntervals *intervals);

/* ----------------------------------------------------------- range_time.c */

/*
 * The commit times that a comparison of a time asks for: narrows *from_ms and
 * *until_ms and says whether the clause bounds the scan from below itself.
 * False: no time does.
 */
extern bool FlussTimeBounds(const FlussAttribute *attr, int strategy,
							Oid type, Datum datum, FlussInterval *interval);
/*
 * Looks up where the times start, and raises the starts of the sets.  Gives the
 * number of requests.
 */
extern int	FlussResolveTimes(FlussRelation *rel, const FlussPlaces *places,
							  fluss_ends *ends, FlussOffsetSet *sets);

/* ----------------------------------------------------------------- plan.c */

typedef enum FlussScanKind
{
	FLUSS_SCAN_UNKNOWN,			/* planned without metadata: told at execution */
	FLUSS_SCAN_LOG,
	FLUSS_SCAN_CHANGELOG,		/* the log of a primary key table */
	FLUSS_SCAN_LOOKUP,
	FLUSS_SCAN_LIMIT,
	FLUSS_SCAN_SNAPSHOT,
	FLUSS_SCAN_SERVER,
	FLUSS_SCAN_HANDED			/* a lookup join hands it rows that it looked up */
} FlussScanKind;

/* Whole reads of a primary key table, by scan_state.c. */
#define FlussIsStateScan(kind) \
	((kind) == FLUSS_SCAN_LIMIT || (kind) == FLUSS_SCAN_SNAPSHOT || \
	 (kind) == FLUSS_SCAN_SERVER)

/* Scans of offsets, by scan_log.c. */
#define FlussIsLogScan(kind) \
	((kind) == FLUSS_SCAN_LOG || (kind) == FLUSS_SCAN_CHANGELOG)

/* Planned without metadata; Fluss counts its tables from 0. */
#define FLUSS_NO_TABLE_ID (-1)

/* In which order, or how far, a log scan reads. */
typedef enum FlussScanOrder
{
	FLUSS_ORDER_NONE,
	FLUSS_ORDER_ASCENDING,		/* by bucket and offset */
	FLUSS_ORDER_TAIL,			/* last rows of each bucket, in any order */
	FLUSS_ORDER_TAIL_TIME,		/* latest rows by commit time */
	FLUSS_ORDER_EDGES			/* first or last row of each bucket, or both:
								 * for min and max of the offset */
} FlussScanOrder;

/* What a plan tells its execution; a List inside the plan tree. */
typedef struct FlussPlanPrivate
{
	FlussScanKind kind;
	int64		table_id;		/* or FLUSS_NO_TABLE_ID */
	int32		nbuckets;
	List	   *attnums;		/* int list: attributes to fill in */
	char	   *narrowest;		/* remote column to fetch when none is wanted,
								 * or NULL */
	int			nvector;		/* last clauses that are vector filters */
	int			naggregates;	/* first entries of fdw_scan_tlist; 0: rows */
	List	   *partition_attnums;	/* int list: partition columns */
	int			npartitions;	/* when it was planned; -1: not partitioned */
	int			partitions_kept;	/* of them; -1: told at execution */
	FlussScanOrder order;
	int			nlimit;			/* expressions after the clauses: LIMIT, OFFSET */
	List	   *joined;			/* int list: clauses, by number, that name columns
								 * of other relations */
	bool		prefix;			/* lookups: by the prefix of the key */
} FlussPlanPrivate;

/* What the planner callbacks share about a relation: baserel->fdw_private. */
typedef struct FlussPlanState
{
	FlussRelation *rel;
	bool		keyed;			/* FlussReadsState */
	FlussPlaces places;
	bool		places_known;	/* or one partition stands for all */
	struct FlussSpan *spans;	/* by place */
	double		place_rows;		/* of a place whose span is not known */
	double		largest;		/* rows of the largest place, or -1 */
	double		table_rows;
	double		fetched_rows;	/* of an unparameterized scan */
	double		cost_rows;		/* the same, of a log that goes on growing */
} FlussPlanState;

/* The relation's state, made with the first call; metadata may be missing. */
extern FlussPlanState *FlussPlanStateOpen(RelOptInfo *baserel, Oid relid);
extern void FlussUniqueInit(void);
/* How the records of a table that is read by offsets are called. */
extern FlussScanKind FlussLogKind(const FlussRelation *rel);
typedef struct FlussCost
{
	Cost		startup;
	Cost		total;
} FlussCost;

/* How a path reads: its fdw_private. */
typedef struct FlussPathForm
{
	FlussScanKind kind;
	FlussScanOrder order;
	bool		limited;		/* FlussLimitExprs go with it */
	bool		prefix;			/* what is handed over: by the key's prefix */
} FlussPathForm;

extern List *FlussPathFormPack(const FlussPathForm *form);
extern void FlussPathFormUnpack(List *list, FlussPathForm *form);
/*
 * Adds a path whose fetched rows are filtered by what the scan leaves of the
 * clauses; cost is that of fetching.
 */
extern void FlussAddScanPath(PlannerInfo *root, RelOptInfo *baserel,
							 const FlussPathForm *form, List *clauses,
							 double rows, double fetched,
							 const FlussCost *cost, List *pathkeys,
							 Relids required_outer);
/* Costs of the clauses that each row which a scan gets has to pass. */
extern QualCost FlussFilterCost(PlannerInfo *root, RelOptInfo *baserel,
								FlussScanKind kind, List *clauses);
/*
 * The table of a base relation whose rows a lookup can give: ours, keyed, read
 * as current state, and with metadata at hand.  Else NULL.
 */
extern FlussRelation *FlussLookupRelation(const RelOptInfo *baserel);
/* A scan of the relation that gives what a lookup join hands it. */
extern ForeignPath *FlussHandedPath(PlannerInfo *root, RelOptInfo *baserel,
									bool prefix);
extern void flussGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
								   Oid relid);
extern void flussGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
								 Oid relid);

/* ------------------------------------------------------------ plan_scan.c */

/* Narrowest fixed-width column: what is fetched when no column is wanted. */
extern int32 FlussNarrowestColumn(const fluss_schema *schema);
extern List *FlussPlanPrivatePack(const FlussPlanPrivate *priv);
extern void FlussPlanPrivateUnpack(List *list, FlussPlanPrivate *priv);

/* What becomes of the clauses of a plan. */
typedef struct FlussSplit
{
	List	   *exact;			/* ranges, buckets or keys: the scan answers them */
	List	   *hints;			/* they narrow it, and stay in one of the next */
	List	   *vector;			/* vector filters */
	List	   *local;			/* what is left to the executor */
	bool		prefix;			/* a lookup by the prefix of the key */
} FlussSplit;

extern void FlussSplitClauses(PlannerInfo *root, FlussPlanState *state,
							  FlussScanKind kind, Index varno, List *clauses,
							  FlussSplit *out);
/*
 * Tells in priv what the plan knows of partitions, so that EXPLAIN need not
 * ask; clauses are the exact ones and the hints.
 */
extern void FlussDescribePartitions(FlussPlanState *state,
									FlussPlanPrivate *priv, Index varno,
									List *clauses);
/* Attributes that the expressions use; a whole-row reference takes all. */
extern List *FlussNeededAttributes(FlussRelation *rel, Index varno,
								   List *exprs);
/* A log fetch asks for at least one column: the one that costs least. */
extern char *FlussNarrowestIfNone(FlussRelation *rel, FlussScanKind kind,
								  List *attnums);
/* Equalities with the column of varno on the left, as EXPLAIN shows them. */
extern List *FlussColumnsFirst(PlannerInfo *root, List *clauses, Index varno);

extern ForeignScan *flussGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel,
										Oid relid, ForeignPath *best_path,
										List *tlist, List *scan_clauses,
										Plan *outer_plan);

/* ----------------------------------------------------------- plan_order.c */

/* Paths that stop early, or read in order.  True: instead of the plain path. */
extern bool FlussAddLogPaths(PlannerInfo *root, RelOptInfo *baserel,
							 FlussPlanState *state);
extern bool FlussAddLimitScanPath(PlannerInfo *root, RelOptInfo *baserel,
								  FlussPlanState *state);
/* The query's LIMIT, and OFFSET if there is one. */
extern List *FlussLimitExprs(PlannerInfo *root);

/* ------------------------------------- aggregate.c, vector_aggregate.c */

typedef enum FlussAggregateKind
{
	FLUSS_COUNT_ROWS,			/* count(*) */
	FLUSS_COUNT,
	FLUSS_SUM,
	FLUSS_AVG,
	FLUSS_MIN,
	FLUSS_MAX
} FlussAggregateKind;

/* Aggregates of one scan, and their state. */
typedef struct FlussAggregates FlussAggregates;

extern void flussGetForeignUpperPaths(PlannerInfo *root,
									  UpperRelationKind stage,
									  RelOptInfo *input_rel,
									  RelOptInfo *output_rel, void *extra);
extern ForeignScan *FlussAggregatePlan(PlannerInfo *root, RelOptInfo *rel,
									   ForeignPath *best_path, List *tlist);
/* One of ours, over all rows or a column of varno (else attnum is invalid). */
extern bool FlussMatchAggregate(const FlussRelation *rel, Index varno,
								Aggref *aggref, FlussAggregateKind *kind,
								AttrNumber *attnum);
extern FlussAggregates *FlussAggregatesCompile(FlussRelation *rel, Index varno,
											   List *aggrefs);
/* Nothing but the offset's min (first), and max (last). */
extern void FlussAggregatesEdges(const FlussAggregates *aggregates,
								 bool *first, bool *last);
/* Nothing but count(*): no column is looked at. */
extern bool FlussAggregatesCountOnly(const FlussAggregates *aggregates);
/* Reads the scan to its end and fills in the one row. */
extern void FlussAggregatesRun(ForeignScanState *node, FlussScanState *state,
							   TupleTableSlot *slot);

/* ----------------------------------------------------------------- cost.c */

/* So many values of a vector cost what one operator, or one row, does. */
#define FLUSS_VECTOR_LENGTH	8.0

/* Costs of getting the rows, before any local filter. */
extern void FlussCostLog(FlussRelation *rel, double rows, FlussCost *cost);
extern void FlussCostLookup(FlussRelation *rel, double keys, FlussCost *cost);
extern void FlussCostStateScan(FlussRelation *rel, FlussScanKind kind,
							   double rows, FlussCost *cost);
extern void FlussCostCount(FlussRelation *rel, FlussCost *cost);
/*
 * How a primary key table is best read whole: as its option kv_scan says, else
 * by the rows of its largest bucket, or -1 when they are not known.
 */
extern FlussScanKind FlussStateScanKind(FlussRelation *rel, double largest);

/* ------------------------------------------------------------- estimate.c */

/* Offsets [low, high) that a bucket holds, or rows; high is -1: not known. */
typedef struct FlussSpan
{
	int64		low;
	int64		high;
} FlussSpan;

/*
 * Sizes of the table and its places: from the cluster (remembered for some
 * seconds), else from ANALYZE, else a constant.  Then what a scan fetches of
 * them.  Never fails for the cluster.
 */
extern void FlussEstimateTable(PlannerInfo *root, FlussPlanState *state,
							   const RelOptInfo *baserel);
/* Rows that a whole read, or a scan of offsets, with these clauses gets. */
extern double FlussFetchedRows(PlannerInfo *root, FlussPlanState *state,
							   Index varno, List *clauses);

#endif							/* FLUSS_FDW_PLAN_H */
