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
/* Such closing, of what many hold. */
extern void FlussReleaseTable(void *table);
extern void FlussReleasePartitions(void *partitions);
extern void FlussCloseEnds(void *ends);

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
/*
 * The same client for objects in another context, also when its server or
 * mapping has changed since: what it describes, like tables, goes with it.
 */
extern FlussConnection *FlussShareConnection(const FlussConnection *conn,
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
 * What planning asked for in vain, so that the execution of the same statement
 * does not wait for it a second time.  metadata: a table's description was
 * asked for; where no server could be reached, those of the other tables are
 * not asked for either (FlussNoServer).
 */
extern void FlussRememberFailure(FlussConnection *conn, Oid relid,
								 bool metadata, const fluss_error *err);
extern bool FlussRecallFailure(FlussConnection *conn, Oid relid,
							   bool has_metadata, fluss_error *err);
extern bool FlussNoServer(const FlussConnection *conn, fluss_error *err);
/* It was raised: the next statement in the same command asks again. */
extern void FlussForgetFailure(void);

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
	bool		is_no_time;		/* marked as an event time, of another type */
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
/* True when an attribute stands for the remote column at that position. */
extern bool FlussIsMapped(const FlussRelation *rel, int remote);
extern Oid	FlussMetadataType(FlussMetadata metadata);
/* Raises HV005 for a column the remote table lacks, HV004 for a wrong type. */
extern void FlussCheckAttribute(FlussRelation *rel, AttrNumber attnum);
extern bool FlussIsKeyed(const FlussRelation *rel);
/* One table, by whatever client and address it was described. */
extern bool FlussIsSameTable(const fluss_table *a, const fluss_table *b);
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
/* The type as Fluss spells it, for messages. */
extern const char *FlussTypeText(const fluss_type *type);
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

#include "fdw_plan.h"			/* clauses, ranges, paths, costs */
#include "fdw_scan.h"			/* scans and joins */
#include "fdw_write.h"			/* writing, administration */

#endif							/* FLUSS_FDW_H */
