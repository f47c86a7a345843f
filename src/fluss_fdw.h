/*
 * fluss_fdw.h
 *	  Structures and prototypes of the extension half, by file.
 *
 * The extension owns the client library's objects through memory contexts: a
 * reset callback is registered first, the object is opened second, so an
 * ERROR anywhere frees sockets and buffers.  bridge.c is the only place where
 * a fluss_error becomes an ereport.
 */
#ifndef FLUSS_FDW_H
#define FLUSS_FDW_H

#include "compat.h"

#include "access/parallel.h"
#include "commands/explain.h"
#include "foreign/fdwapi.h"
#include "foreign/foreign.h"
#include "nodes/pathnodes.h"
#include "utils/array.h"
#include "utils/jsonb.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "fluss.h"

#define FLUSS_FDW_VERSION "0.1"

/* ------------------------------------------------------------ fluss_fdw.c */

extern int	fluss_max_buffered_kb;	/* GUC fluss_fdw.max_buffered_bytes, in kB */
extern bool fluss_log_requests; /* GUC fluss_fdw.log_requests */
extern bool fluss_enable_vector_filter;
extern bool fluss_enable_aggregate_pushdown;
extern bool fluss_enable_ordered_scan;
extern bool fluss_enable_lookup_join;

#define fluss_max_buffered_bytes() ((int64) fluss_max_buffered_kb * 1024)

/* --------------------------------------------------------------- option.c */

typedef enum FlussOnDataLoss
{
	FLUSS_ON_LOSS_WARNING,
	FLUSS_ON_LOSS_ERROR,
	FLUSS_ON_LOSS_IGNORE
} FlussOnDataLoss;

typedef enum FlussInvalidText
{
	FLUSS_TEXT_ERROR,
	FLUSS_TEXT_REPLACE,
	FLUSS_TEXT_STRIP
} FlussInvalidText;

typedef enum FlussScanMode
{
	FLUSS_MODE_DEFAULT,			/* log tables: log; primary key tables: snapshot */
	FLUSS_MODE_LOG,
	FLUSS_MODE_SNAPSHOT,
	FLUSS_MODE_CHANGELOG
} FlussScanMode;

/* How a primary key table is read whole. */
typedef enum FlussKvScan
{
	FLUSS_KV_SCAN_AUTO,
	FLUSS_KV_SCAN_LIMIT,
	FLUSS_KV_SCAN_SNAPSHOT,
	FLUSS_KV_SCAN_SERVER
} FlussKvScan;

typedef enum FlussStartupMode
{
	FLUSS_STARTUP_EARLIEST,
	FLUSS_STARTUP_LATEST,
	FLUSS_STARTUP_TIMESTAMP
} FlussStartupMode;

/* Options of a server, or of a foreign table merged over its server's. */
typedef struct FlussOptions
{
	/* server */
	const char *bootstrap_servers;
	const char *address_map;	/* or NULL */
	const char *client_id;		/* or NULL */
	int			connect_timeout_ms;
	int			request_timeout_ms;
	bool		sasl;
	bool		keep_connections;
	bool		use_remote_estimate;
	double		fdw_startup_cost;
	double		fdw_tuple_cost;
	const char *remote_files;	/* or NULL */
	const char *s3_endpoint;	/* or NULL */
	const char *s3_region;		/* or NULL */
	bool		s3_path_style;
	/* server or table */
	int64		fetch_max_bytes;
	int64		fetch_max_bytes_for_bucket;
	int			fetch_inflight;
	int			lookup_max_batch_size;
	int			lookup_max_inflight_requests;
	int64		limit_scan_max_rows;
	int			batch_size;
	int			writer_acks;
	int64		writer_batch_size;
	bool		writer_enable_idempotence;
	bool		write_on_commit;	/* write_mode commit */
	bool		create_partitions;
	bool		check_crc;
	bool		updatable;
	FlussOnDataLoss on_data_loss;
	int64		timestamp_skew_ms;
	FlussInvalidText invalid_text;
	bool		bucket_hash_rs; /* bucket_hash fluss_rs */
	/* table */
	const char *database_name;
	const char *table_name;
	FlussScanMode scan_mode;
	FlussKvScan kv_scan;
	FlussStartupMode scan_startup_mode;
	int64		scan_startup_timestamp_ms;
} FlussOptions;

/* Options of a user mapping. */
typedef struct FlussUserOptions
{
	const char *user;			/* or NULL */
	const char *password;		/* or NULL */
	bool		password_required;
	const char *s3_access_key;	/* or NULL */
	const char *s3_secret_key;	/* or NULL */
} FlussUserOptions;

/* What the option metadata of a column asks for. */
typedef enum FlussMetadata
{
	FLUSS_META_NONE,			/* an ordinary column */
	FLUSS_META_BUCKET,			/* integer */
	FLUSS_META_LOG_OFFSET,		/* bigint */
	FLUSS_META_COMMIT_TIMESTAMP,	/* timestamptz */
	FLUSS_META_CHANGE_TYPE,		/* text */
	FLUSS_META_PARTITION,		/* text */
	FLUSS_META_TABLE_ID,		/* bigint */
	FLUSS_META_PARTITION_ID		/* bigint */
} FlussMetadata;

/* Options of a column. */
typedef struct FlussColumnOptions
{
	const char *column_name;	/* or NULL: the local name */
	FlussMetadata metadata;
	const char *fluss_type;		/* or NULL */
	bool		event_time;
	int64		max_clock_skew_ms;
} FlussColumnOptions;

extern FlussOptions *FlussGetServerOptions(ForeignServer *server);
extern FlussOptions *FlussGetTableOptions(Oid relid);
extern void FlussGetUserOptions(UserMapping *mapping, FlussUserOptions *out);
extern void FlussGetColumnOptions(Oid relid, AttrNumber attnum,
								  FlussColumnOptions *out);

/* The candidate nearest to a given name, for hints; match may stay NULL. */
typedef struct FlussNearestName
{
	const char *given;
	const char *match;
	int			distance;
} FlussNearestName;

extern void FlussNearest(FlussNearestName *nearest, const char *candidate);

/* --------------------------------------------------------------- bridge.c */

/* Host hooks whose memory comes from a context that outlives the object. */
extern fluss_host FlussHost(MemoryContext context);

/*
 * Reports a client error: SQLSTATE, message, detail and hint by its status.
 * relname names the foreign table for CONTEXT, or NULL.  An interrupted wait
 * becomes the cancel, termination or other error that interrupted it.
 */
extern void FlussRaise(const fluss_error *err, const char *relname)
			__attribute__((noreturn));

/* Runs a client call and reports its failure. */
#define FLUSS_CALL(call, err, relname) \
	do { \
		if ((call) != FLUSS_OK) \
			FlussRaise(&(err), (relname)); \
	} while (0)

/*
 * Makes context's reset or deletion close an object.  Register first with
 * *object NULL, open second.
 */
extern void FlussCloseOnReset(MemoryContext context, void (*close) (void *),
							  void **object);

/* ----------------------------------------------------------- connection.c */

typedef struct FlussConnection
{
	Oid			umid;			/* hash key: the user mapping */
	Oid			serverid;
	fluss_client *client;
	struct FlussClient *owner;	/* counted; see connection.c */
} FlussConnection;

/*
 * The connection of a user to a server, for use by objects in context: it is
 * not closed before that context is reset.  Does no I/O by itself.
 */
extern FlussConnection *FlussGetConnection(Oid userid, Oid serverid,
										   MemoryContext context);
extern void FlussConnectionInit(void);

/* What fluss_fdw_get_connections() tells of one client. */
typedef struct FlussConnectionInfo
{
	const char *server;			/* NULL: dropped */
	const char *user;			/* NULL: its mapping was dropped */
	bool		valid;			/* no: server or mapping changed since */
	bool		in_use;
} FlussConnectionInfo;

extern FlussConnectionInfo *FlussConnections(int *n);
/*
 * Closes the clients of a server, or of all (InvalidOid), that nothing uses,
 * and warns of the others.  True if it closed any.
 */
extern bool FlussDisconnect(Oid serverid);

/*
 * A failure to get metadata while planning, so that the execution of the same
 * statement does not wait for it a second time.
 */
extern void FlussRememberFailure(FlussConnection *conn, Oid relid,
								 const fluss_error *err);
extern bool FlussRecallFailure(FlussConnection *conn, Oid relid,
							   fluss_error *err);

/* ------------------------------------------------------------- relation.c */

/* One attribute of a foreign table; dropped ones have remote_name NULL. */
typedef struct FlussAttribute
{
	AttrNumber	attnum;
	const char *name;			/* local */
	const char *remote_name;
	Oid			type;
	int32		typmod;
	Oid			collation;
	bool		not_null;		/* locally: the planner believes it */
	FlussMetadata metadata;
	bool		event_time;
	int64		max_clock_skew_ms;	/* of an event time */
	int			remote;			/* position in the remote schema, or -1 */
	int			partition_key;	/* place in the partition key, or -1 */
} FlussAttribute;

/* A foreign table bound to its remote table. */
typedef struct FlussRelation
{
	Oid			relid;
	const char *name;			/* local, for messages */
	FlussOptions *options;
	FlussConnection *conn;
	fluss_table *table;			/* referenced until the context is reset; NULL
								 * when only the local side was asked for */
	int			natts;
	FlussAttribute *attrs;		/* by attnum - 1 */
} FlussRelation;

/* Local side only: options and attributes, no connection. */
extern FlussRelation *FlussRelationLocal(Oid relid, MemoryContext context);
/*
 * Local and remote side.  Asks the cluster for what is not cached.  Errors are
 * raised; with err given, a failure of the client is returned there and the
 * result has table NULL.
 */
extern FlussRelation *FlussRelationOpen(Oid relid, Oid userid,
										MemoryContext context,
										fluss_error *err);
/* Takes the remote side as it is now, and not from the cache. */
extern void FlussRelationRefresh(FlussRelation *rel);
/*
 * Names of Fluss are UTF-8, ours are in the database's encoding.  The result
 * may be the argument itself.
 */
extern const char *FlussNameToRemote(const char *name);
extern const char *FlussNameFromRemote(const char *name);
/* Position of the remote column of that name (in UTF-8), or -1. */
extern int	FlussRemoteColumn(const fluss_table *table, const char *name);
/* Raises HV005 for a column the remote table lacks, HV004 for a wrong type. */
extern Oid	FlussMetadataType(FlussMetadata metadata);
extern void FlussCheckAttribute(FlussRelation *rel, AttrNumber attnum);
extern bool FlussIsKeyed(const FlussRelation *rel);
/*
 * A primary key table that is shown as its current state, so that lookups and
 * whole reads answer for it; not with scan_mode changelog.
 */
extern bool FlussReadsState(const FlussRelation *rel);

/* -------------------------------------------------------------- typemap.c */

/* How values of a Fluss type become values of a PostgreSQL type and back. */
typedef enum FlussConversion
{
	FLUSS_CONVERT_NONE,			/* not at all */
	FLUSS_CONVERT_BOOL,
	FLUSS_CONVERT_INT2,
	FLUSS_CONVERT_INT4,
	FLUSS_CONVERT_INT8,
	FLUSS_CONVERT_INT_NUMERIC,
	FLUSS_CONVERT_FLOAT4,
	FLUSS_CONVERT_FLOAT8,
	FLUSS_CONVERT_DECIMAL,
	FLUSS_CONVERT_TEXT,
	FLUSS_CONVERT_VARCHAR,
	FLUSS_CONVERT_BPCHAR,
	FLUSS_CONVERT_JSON,
	FLUSS_CONVERT_JSONB,
	FLUSS_CONVERT_BYTEA,
	FLUSS_CONVERT_UUID,
	FLUSS_CONVERT_DATE,
	FLUSS_CONVERT_TIME,
	FLUSS_CONVERT_TIMESTAMP,
	FLUSS_CONVERT_TIMESTAMPTZ,
	FLUSS_CONVERT_ARRAY,		/* of scalars, as an array */
	FLUSS_CONVERT_NESTED_JSON,	/* any nested type */
	FLUSS_CONVERT_NESTED_JSONB
} FlussConversion;

extern FlussConversion FlussConversionFor(const fluss_type *type, Oid pgtype);
/* True when values of the Fluss type can be shown as the PostgreSQL type. */
extern bool FlussTypeAccepts(const fluss_type *type, Oid pgtype);
/*
 * The Fluss type that fluss_create_table gives an attribute; allocated in the
 * current context.  Raises HV004 where there is none.
 */
extern void FlussTypeFromPg(const char *column, Oid pgtype, int32 typmod,
							bool not_null, const char *fluss_type_option,
							fluss_type *type);
/* The PostgreSQL type that is nearest to a Fluss type: what IMPORT gives. */
extern void FlussPgTypeFor(const fluss_type *type, Oid *pgtype, int32 *typmod);
#define FLUSS_MAX_PRECISION 38	/* of a DECIMAL */

/* The parts of a numeric's typmod, which must not be -1. */
#define FlussNumericPrecision(typmod) \
	((int) ((((typmod) - VARHDRSZ) >> 16) & 0xffff))
#define FlussNumericScale(typmod) \
	((int) (((((typmod) - VARHDRSZ) & 0x7ff) ^ 1024) - 1024))

/*
 * Equal keys have equal bytes: no for floating point, TIMESTAMP(>6), bpchar,
 * types without a usable equality, collations that are not deterministic, and
 * texts unless invalid_text is error.
 */
extern bool FlussKeyIsExact(const FlussRelation *rel, AttrNumber attnum);

/* -------------------------------------------------------------- convert.c */

/*
 * How the values of one attribute are converted; made once per scan.  That of
 * a nested type has one for each of its parts, whose attr has their PostgreSQL
 * type and the column's name.
 */
typedef struct FlussConverter FlussConverter;
struct FlussConverter
{
	const FlussRelation *rel;
	const FlussAttribute *attr;
	const fluss_type *type;		/* of the remote column */
	FlussConversion kind;
	FlussInvalidText invalid_text;
	int64		limit;			/* private: characters, microseconds, ... */
	const char *path;			/* where a part is in its column, or NULL */
	const FlussConverter *children; /* as type->children, or NULL */
	int16		typlen;			/* of the elements of an array: */
	bool		typbyval;
	char		typalign;
};

/* Milliseconds since 1970-01-01 UTC, rounded down. */
extern int64 FlussTimestampToMillis(TimestampTz timestamp);
/* What it needs besides is allocated in the current context. */
extern void FlussConverterInit(FlussConverter *conv, const FlussRelation *rel,
							   AttrNumber attnum);
/*
 * A value from Fluss, not NULL, as a Datum in the current context.  A value the
 * attribute cannot hold is an error that names the column.
 */
extern Datum FlussToDatum(const FlussConverter *conv, const fluss_value *value);
/*
 * Fixed-width columns straight from a view, no fluss_value in between; view is
 * not NULL at row.  Falls back to FlussToDatum for the others.
 */
extern Datum FlussViewToDatum(const FlussConverter *conv,
							  const fluss_column_view *view, int32_t row);
/*
 * A Datum of the attribute's own type for Fluss; bytes are allocated in the
 * current context or point into the Datum.
 */
extern void FlussFromDatum(const FlussConverter *conv, Datum datum,
						   fluss_value *value);
/*
 * A key value of type argtype, the attribute's own or another that its
 * equality takes.  False when no value of the remote column equals it.
 */
extern bool FlussKeyFromDatum(const FlussConverter *conv, Oid argtype,
							  Datum datum, fluss_value *value);
/* True when FlussKeyFromDatum takes that type. */
extern bool FlussKeyTypeAccepted(const FlussRelation *rel, AttrNumber attnum,
								 Oid argtype);

/* ------------------------------------------------------------- snapshot.c */

/*
 * The pinned ends of a table in the scope of a snapshot (READ COMMITTED: that
 * snapshot; above: the transaction).  query is a memory context that goes when
 * the query does which runs with the snapshot.
 */
extern fluss_ends *FlussPinnedEnds(Oid serverid, int64 table_id,
								   Snapshot snapshot, MemoryContext query);
/* The partitions that the scope sees: those of its first use. */
extern const fluss_partitions *FlussPinnedPartitions(FlussConnection *conn,
													 fluss_table *table,
													 const char *relname,
													 Snapshot snapshot,
													 MemoryContext query);
extern void FlussSnapshotInit(void);

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
/*
 * column = value or column = ANY (array) that a lookup can answer; gives the
 * column's place in the primary key.  Needs the remote side of rel.
 */
extern bool FlussIsKeyClause(FlussRelation *rel, Index varno, Node *clause,
							 int *keyno);
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

/* ------------------------------------------------------------- key_set.c */

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
/*
 * One equality with a single value for each column of the primary key, or of
 * the prefix that chooses partition and bucket, in key order; NIL if one is
 * missing.
 */
extern List *FlussMatchJoinKey(FlussRelation *rel, Index varno, List *clauses,
							   bool prefix);
/*
 * True when the table takes prefix lookups; *columns has the places in the
 * primary key that they need.
 */
extern bool FlussPrefixColumns(const FlussRelation *rel, Bitmapset **columns);
/* Place of an attribute in the primary key, or -1. */
extern int	FlussKeyNumber(const FlussRelation *rel, AttrNumber attnum);

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
	bool		prefix;			/* lookups: by the prefix of the key */
} FlussPlanPrivate;

/* Narrowest fixed-width column: what is fetched when no column is wanted. */
extern int32 FlussNarrowestColumn(const fluss_schema *schema);
extern List *FlussPlanPrivatePack(const FlussPlanPrivate *priv);
extern void FlussPlanPrivateUnpack(List *list, FlussPlanPrivate *priv);

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
/* Costs of the clauses that each row which a scan gets has to pass. */
extern QualCost FlussFilterCost(PlannerInfo *root, RelOptInfo *baserel,
								FlussScanKind kind, List *clauses);
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
/*
 * The table of a base relation whose rows a lookup can give: ours, keyed, read
 * as current state, and with metadata at hand.  Else NULL.
 */
extern FlussRelation *FlussLookupRelation(const RelOptInfo *baserel);
/* A scan of the relation that gives what a lookup join hands it. */
extern ForeignPath *FlussHandedPath(PlannerInfo *root, RelOptInfo *baserel,
									bool prefix);
/* Equalities with the column of varno on the left, as EXPLAIN shows them. */
extern List *FlussColumnsFirst(PlannerInfo *root, List *clauses, Index varno);

extern void flussGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel,
								   Oid relid);
extern void flussGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel,
								 Oid relid);
extern ForeignScan *flussGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel,
										Oid relid, ForeignPath *best_path,
										List *tlist, List *scan_clauses,
										Plan *outer_plan);

/* ----------------------------------------------------------- plan_order.c */

/*
 * Paths that stop early, or read in order: fdw_private is kind, FlussScanOrder
 * and whether FlussLimitExprs go with them.  True: instead of the plain path.
 */
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

typedef struct FlussCost
{
	Cost		startup;
	Cost		total;
} FlussCost;

/* Costs of getting the rows, before any local filter. */
extern void FlussCostLog(FlussRelation *rel, double rows, FlussCost *cost);
extern void FlussCostLookup(FlussRelation *rel, double keys, FlussCost *cost);
extern void FlussCostStateScan(FlussRelation *rel, FlussScanKind kind,
							   double rows, FlussCost *cost);
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
 * seconds), else from ANALYZE, else a constant.  Never fails for the cluster.
 */
extern void FlussEstimateTable(PlannerInfo *root, FlussPlanState *state,
							   const RelOptInfo *baserel);
/* Rows that a whole read, or a scan of offsets, with these clauses gets. */
extern double FlussFetchedRows(PlannerInfo *root, FlussPlanState *state,
							   Index varno, List *clauses);
/* The rows that such a scan should be costed for, once those are known. */
extern double FlussCostedRows(PlannerInfo *root, FlussPlanState *state,
							  Index varno, List *clauses);
/*
 * The clauses that a scan makes use of, or of those, the ones whose sets of
 * records are known before the execution.
 */
extern List *FlussRangeClauses(FlussRelation *rel, Index varno, List *clauses,
							   int allowed, bool constant);

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
extern void FlussReportLoss(FlussScanState *state, const fluss_loss *loss);
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

extern List *FlussJoinPrivatePack(const FlussJoinPrivate *priv);
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
/* A batch has arrived.  Memory comes from context. */
extern void FlussRoundsNote(FlussRounds *rounds, const fluss_batch *batch,
							MemoryContext context);

/* --------------------------------------------------------------- modify.c */

extern List *flussPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
									Index resultRelation, int subplan_index);
extern void flussBeginForeignModify(ModifyTableState *mtstate,
									ResultRelInfo *rri, List *fdw_private,
									int subplan_index, int eflags);
extern TupleTableSlot *flussExecForeignInsert(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern TupleTableSlot *flussExecForeignUpdate(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern TupleTableSlot *flussExecForeignDelete(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern void flussAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
										 RangeTblEntry *target_rte,
										 Relation target_relation);
extern void flussExecForeignTruncate(List *rels, DropBehavior behavior,
									 bool restart_seqs)
			__attribute__((noreturn));
extern void FlussModifyInit(void);
extern TupleTableSlot **flussExecForeignBatchInsert(EState *estate,
													ResultRelInfo *rri,
													TupleTableSlot **slots,
													TupleTableSlot **planSlots,
													int *numSlots);
extern int	flussGetForeignModifyBatchSize(ResultRelInfo *rri);
extern void flussEndForeignModify(EState *estate, ResultRelInfo *rri);
extern void flussBeginForeignInsert(ModifyTableState *mtstate,
									ResultRelInfo *rri);
extern void flussEndForeignInsert(EState *estate, ResultRelInfo *rri);
extern int	flussIsForeignRelUpdatable(Relation rel);
extern void flussExplainForeignModify(ModifyTableState *mtstate,
									  ResultRelInfo *rri, List *fdw_private,
									  int subplan_index, ExplainState *es);

/* --------------------------------------------------------------- commit.c */

/*
 * A writer that holds its rows until the transaction commits, and loses them
 * when the current subtransaction is rolled back.  It is the transaction's.
 */
extern fluss_writer *FlussHeldWriter(const FlussRelation *rel, Oid userid,
									 const fluss_writer_options *options);
/* Bytes that the writers of this transaction hold. */
extern int64 FlussHeldBytes(void);
/* This transaction has written, and so cannot be prepared. */
extern void FlussNoteWrite(void);
extern void FlussCommitInit(void);

/* ----------------------------------------------------------- last_write.c */

/* A run of offsets that a statement wrote. */
typedef struct FlussWrittenRun
{
	int64		table_id;
	fluss_write_run run;
} FlussWrittenRun;

/* What one statement has written so far, with all its targets. */
typedef struct FlussStatement FlussStatement;

/*
 * Counts one more target of the statement of that owner (an EState); it ends
 * with the context.
 */
extern FlussStatement *FlussStatementJoin(const void *owner,
										  MemoryContext context);
/*
 * A target is done and acknowledged.  With its last one the statement becomes
 * the session's last write.
 */
extern void FlussStatementLeave(FlussStatement *statement, int64 table_id,
								fluss_writer *writer);
/* Runs of the last writing statement; they live until the next one ends. */
extern const FlussWrittenRun *FlussLastWrite(int *nruns);

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

/* --------------------------------------------------------------- import.c */

extern List *flussImportForeignSchema(ImportForeignSchemaStmt *stmt,
									  Oid serverid);
/*
 * Appends name, type and options of a foreign table's column for a remote one;
 * its name is none of *names, which learns it.
 */
extern void FlussAppendColumn(StringInfo out, const fluss_column *column,
							  bool not_null, List **names);

/* ------------------------------------------------- admin.c, admin_info.c */

/* What a function of ours is about: a Fluss table, a database or a server. */
typedef struct FlussTarget
{
	MemoryContext context;		/* of the call; holds the connection open */
	MemoryContext caller;
	FlussConnection *conn;
	FlussRelation *rel;			/* or NULL: named by server and names */
	const char *database;
	const char *table;
} FlussTarget;

/*
 * The target of a foreign table or of names.  Checks that the first argument
 * may be used so: mode is ACL_SELECT, or 0 for its owner only; servers are
 * always checked for USAGE.  Leaves the target's context current.
 */
extern void FlussTargetOpenTable(FlussTarget *target, Oid relid, AclMode mode);
extern void FlussTargetOpenServer(FlussTarget *target, const char *server,
								  const char *database, const char *table);
extern void FlussTargetClose(FlussTarget *target);
/* Members of a JSON object of scalars; argument is its name, for errors. */
extern fluss_property *FlussJsonProperties(Jsonb *jsonb, const char *argument,
										   int *n);
/* Texts of an array without NULLs. */
extern const char **FlussTextArray(ArrayType *array, const char *argument,
								   int *n);

#endif							/* FLUSS_FDW_H */
