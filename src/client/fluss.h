/*
 * fluss.h
 *	  Public interface of the Fluss client library.
 *
 * The library is plain C11 over POSIX.  It starts no threads, keeps no global
 * state and never jumps out of a call: every fallible function returns a
 * fluss_status and fills the caller's fluss_error exactly once.  Memory,
 * waiting and time come from the host's hooks, so the same code runs inside a
 * PostgreSQL backend, in unit tests and in fuzzers.
 *
 * Ownership: a handle returned through an out parameter belongs to the caller
 * until its _close/_release function; those functions accept NULL, never fail
 * and never wait.  Pointers inside results live as long as the comment at the
 * function says.
 */
#ifndef FLUSS_H
#define FLUSS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FLUSS_MUST_CHECK __attribute__((warn_unused_result))

/* ---------------------------------------------------------------- errors */

typedef enum fluss_status
{
	FLUSS_OK = 0,
	FLUSS_INTERRUPTED,			/* the host's wait hook said so: unwind */
	FLUSS_TIMED_OUT,			/* a deadline passed */
	FLUSS_OUT_OF_MEMORY,		/* the host's allocator returned NULL */
	FLUSS_MEMORY_CAP,			/* would pass the handle's max_buffered_bytes */
	FLUSS_CANNOT_CONNECT,		/* no server reachable, or no leader */
	FLUSS_AUTH_FAILED,			/* the server refused the credentials */
	FLUSS_SEND_FAILED,			/* a request could not be sent */
	FLUSS_MALFORMED,			/* an answer or a stored batch is not valid */
	FLUSS_SERVER_ERROR,			/* see fluss_error.server_code */
	FLUSS_UNSUPPORTED,			/* this table, server or format cannot do it */
	FLUSS_VALUE_OUT_OF_RANGE,	/* number or decimal the Fluss type cannot hold */
	FLUSS_DATETIME_OVERFLOW,	/* date, time or timestamp it cannot hold */
	FLUSS_VALUE_TOO_LONG,		/* text or bytes longer than the Fluss type */
	FLUSS_NOT_NULL_VIOLATION,	/* NULL for a NOT NULL column */
	FLUSS_DATA_LOST,			/* offsets that the scan still needed are gone */
	FLUSS_TABLE_CHANGED,		/* the table was made again under this name */
	FLUSS_TOO_MANY_ROWS,		/* a limit scan would pass its row cap */
	FLUSS_INVALID_ARGUMENT		/* the caller's mistake, e.g. a bad address list */
} fluss_status;

/* Server error codes the callers look at (protocol: "Error codes"). */
#define FLUSS_CODE_UNKNOWN_SERVER_ERROR		(-1)
#define FLUSS_CODE_DATABASE_NOT_EXIST		4
#define FLUSS_CODE_DATABASE_NOT_EMPTY		5
#define FLUSS_CODE_DATABASE_ALREADY_EXIST	6
#define FLUSS_CODE_TABLE_NOT_EXIST			7
#define FLUSS_CODE_TABLE_ALREADY_EXIST		8
#define FLUSS_CODE_SCHEMA_NOT_EXIST			9
#define FLUSS_CODE_NOT_LEADER				12
#define FLUSS_CODE_OFFSET_OUT_OF_RANGE		19
#define FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET	21
#define FLUSS_CODE_OUT_OF_ORDER_SEQUENCE	31
#define FLUSS_CODE_DUPLICATE_SEQUENCE		32
#define FLUSS_CODE_INVALID_PROJECTION		34
#define FLUSS_CODE_PARTITION_NOT_EXISTS		36
#define FLUSS_CODE_INVALID_TIMESTAMP		38
#define FLUSS_CODE_AUTHENTICATE				46
#define FLUSS_CODE_AUTHORIZATION			48

typedef struct fluss_error
{
	fluss_status status;
	int			server_code;	/* Fluss error code; 0 when no server spoke */
	char		message[256];	/* lower case, no full stop: "could not ..." */
	char		detail[512];	/* sentences; peer, code and name, server text */
	char		hint[256];		/* advice, or empty */
	/* where a decode or data-loss error lies; bucket < 0 when it has no place */
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		base_offset;	/* of the batch; -1 when not known */
	int64_t		next_offset;	/* where reading could go on past it, or -1 */
} fluss_error;

void fluss_error_init(fluss_error *err);
/* Name of a server error code, e.g. "TABLE_NOT_EXIST"; never NULL. */
const char *fluss_code_name(int server_code);

/* ------------------------------------------------------------------ host */

typedef struct fluss_pollfd
{
	int			fd;
	bool		want_read;
	bool		want_write;
} fluss_pollfd;

typedef enum fluss_wait_result
{
	FLUSS_WAIT_READY,			/* some socket may be ready: try them */
	FLUSS_WAIT_TIMEOUT,
	FLUSS_WAIT_INTERRUPTED		/* stop working, return to the caller */
} fluss_wait_result;

/*
 * What the library needs from its host.  No hook may jump out of the call.
 * The struct is copied by fluss_client_open and by each handle's open.
 */
typedef struct fluss_host
{
	void	   *arg;
	/* NULL on failure; memory need not be zeroed */
	void	   *(*alloc) (void *arg, size_t size);
	void		(*free) (void *arg, void *ptr);
	/* waits for a socket or timeout_ms (-1: for ever; 0: only looks) */
	fluss_wait_result (*wait) (void *arg, const fluss_pollfd *fds, int nfds,
							   int timeout_ms);
	/* monotonic milliseconds */
	int64_t		(*now_ms) (void *arg);
	/* a socket is about to be opened (false: refused) / was closed; may be NULL */
	bool		(*acquire_fd) (void *arg);
	void		(*release_fd) (void *arg, int fd);
	/* one line per request when asked for; may be NULL */
	void		(*log) (void *arg, const char *line);
} fluss_host;

/* ---------------------------------------------------------------- client */

typedef struct fluss_client fluss_client;

typedef struct fluss_config
{
	const char *bootstrap_servers;	/* "host:port,[::1]:port" */
	const char *address_map;	/* "advertised=reachable,..." or NULL */
	const char *client_id;		/* NULL: "fluss_fdw" */
	int			connect_timeout_ms; /* one server: resolve, connect, handshake */
	int			request_timeout_ms; /* one request with all its retries */
	bool		sasl;			/* SASL PLAIN with user and password */
	const char *user;
	const char *password;
} fluss_config;

/* Checks the lists and copies the configuration; does no I/O. */
FLUSS_MUST_CHECK fluss_status fluss_client_open(const fluss_host *host,
												const fluss_config *config,
												fluss_client **client,
												fluss_error *err);
/* Closes every socket.  Handles opened on the client must be closed before. */
void fluss_client_close(fluss_client *client);

/* Checks a bootstrap list or an address map without keeping it. */
FLUSS_MUST_CHECK fluss_status fluss_check_bootstrap_servers(const char *list,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_check_address_map(const char *list,
													  fluss_error *err);

typedef struct fluss_node
{
	int32_t		node_id;
	bool		coordinator;
	const char *host;
	int32_t		port;
	const char *rack;			/* or NULL */
} fluss_node;

/* Live servers, freshly asked.  The array lives until the next such call. */
FLUSS_MUST_CHECK fluss_status fluss_client_nodes(fluss_client *client,
												 const fluss_node **nodes,
												 int *nnodes, fluss_error *err);

/* Versions of the libraries used, as "name version" strings, NULL-ended. */
const char *const *fluss_library_versions(void);

/* ------------------------------------------------- types, schemas, tables */

typedef enum fluss_type_id
{
	FLUSS_BOOLEAN,
	FLUSS_TINYINT,
	FLUSS_SMALLINT,
	FLUSS_INTEGER,
	FLUSS_BIGINT,
	FLUSS_FLOAT,
	FLUSS_DOUBLE,
	FLUSS_DECIMAL,				/* precision, scale */
	FLUSS_CHAR,					/* length, in characters */
	FLUSS_STRING,
	FLUSS_BINARY,				/* length, in bytes */
	FLUSS_BYTES,
	FLUSS_DATE,
	FLUSS_TIME,					/* precision */
	FLUSS_TIMESTAMP,			/* precision */
	FLUSS_TIMESTAMP_LTZ,		/* precision */
	FLUSS_ARRAY,				/* children[0] */
	FLUSS_MAP,					/* children[0] key, children[1] value */
	FLUSS_ROW					/* children */
} fluss_type_id;

typedef struct fluss_column fluss_column;

typedef struct fluss_type
{
	fluss_type_id id;
	bool		nullable;
	int32_t		length;			/* CHAR, BINARY */
	int32_t		precision;		/* DECIMAL, TIME, TIMESTAMP, TIMESTAMP_LTZ */
	int32_t		scale;			/* DECIMAL */
	int32_t		nchildren;		/* ARRAY 1, MAP 2, ROW its fields */
	const fluss_column *children;
} fluss_type;

struct fluss_column
{
	const char *name;
	const char *comment;		/* or NULL */
	int32_t		id;				/* stable column id */
	fluss_type	type;
};

typedef struct fluss_schema
{
	int32_t		schema_id;
	int32_t		ncolumns;
	const fluss_column *columns;
	int32_t		nprimary_key;	/* 0: log table */
	const int32_t *primary_key; /* column positions, in key order */
	int32_t		auto_increment; /* column position, or -1 */
} fluss_schema;

typedef enum fluss_row_format
{
	FLUSS_FORMAT_ARROW,			/* log only */
	FLUSS_FORMAT_INDEXED,
	FLUSS_FORMAT_COMPACTED
} fluss_row_format;

typedef enum fluss_codec
{
	FLUSS_CODEC_NONE,
	FLUSS_CODEC_LZ4_FRAME,
	FLUSS_CODEC_ZSTD
} fluss_codec;

typedef enum fluss_lake
{
	FLUSS_LAKE_NONE,			/* also lance: both use the Fluss encoder */
	FLUSS_LAKE_PAIMON,
	FLUSS_LAKE_ICEBERG
} fluss_lake;

typedef struct fluss_property
{
	const char *key;
	const char *value;
} fluss_property;

/* One table as GET_TABLE_INFO described it; immutable and reference counted. */
typedef struct fluss_table
{
	const char *database;
	const char *name;
	int64_t		table_id;
	const fluss_schema *schema; /* the current one */
	int32_t		nbucket_key;
	const int32_t *bucket_key;	/* column positions, in bucket key order */
	int32_t		npartition_key;
	const int32_t *partition_key;	/* column positions */
	int32_t		nphysical_key;	/* primary key without partition columns */
	const int32_t *physical_key;
	int32_t		nbuckets;
	fluss_row_format log_format;
	fluss_row_format kv_format;
	int32_t		kv_format_version;	/* 1 when the property is absent */
	fluss_codec codec;
	int32_t		zstd_level;
	fluss_lake	lake;
	bool		has_lake_format;	/* table.datalake.format present */
	const char *comment;		/* or NULL */
	int32_t		nproperties;
	int32_t		ncustom_properties;
	const fluss_property *properties;	/* nproperties, then the custom ones */
	int64_t		created_ms;
	int64_t		modified_ms;
} fluss_table;

/* Value of a property, or NULL.  Keys are exact, values as stored. */
const char *fluss_table_property(const fluss_table *table, const char *key);

/* SQL spelling of a type, e.g. "DECIMAL(10, 2) NOT NULL", cut to size bytes. */
void fluss_type_print(const fluss_type *type, char *out, size_t size);
/* Reads that spelling back, of scalar types only; any case. */
FLUSS_MUST_CHECK fluss_status fluss_type_from_text(const fluss_host *host,
												   const char *text,
												   fluss_type *type,
												   fluss_error *err);

/*
 * Describes a table, from the client's cache unless refresh is set.  A cached
 * description is dropped by any answer that shows it stale.  Missing database
 * or table: FLUSS_SERVER_ERROR with code 4 or 7.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_open(fluss_client *client,
											   const char *database,
											   const char *name, bool refresh,
											   fluss_table **table,
											   fluss_error *err);
void fluss_table_retain(fluss_table *table);
void fluss_table_release(fluss_table *table);
/* Drops the cached description and leaders of a table, if there are any. */
void fluss_table_forget(fluss_client *client, const char *database,
						const char *name);

/*
 * Servers known to lead buckets of a cached table, as advertised; asks nobody.
 * They live until the next call on the client.
 */
int fluss_table_known_leaders(fluss_client *client, const char *database,
							  const char *name, const fluss_node **nodes,
							  int max_nodes);

typedef struct fluss_bucket_info
{
	int64_t		partition_id;	/* -1: table without partitions */
	int32_t		bucket;
	int32_t		leader;			/* node id, or -1 */
	int32_t		nreplicas;
	const int32_t *replicas;
} fluss_bucket_info;

/* Buckets with leader and replicas, freshly asked; lives until the next call. */
FLUSS_MUST_CHECK fluss_status fluss_table_buckets(fluss_client *client,
												  fluss_table *table,
												  const fluss_bucket_info **buckets,
												  int *nbuckets,
												  fluss_error *err);

typedef enum fluss_offset_kind
{
	FLUSS_OFFSET_EARLIEST = 0,
	FLUSS_OFFSET_LATEST = 1,	/* the high watermark */
	FLUSS_OFFSET_AT_TIMESTAMP = 2
} fluss_offset_kind;

#define FLUSS_OFFSET_UNKNOWN (-1)

/*
 * Asks all leaders at once for the offsets of the given buckets.  offsets[i]
 * is FLUSS_OFFSET_UNKNOWN where the bucket has no leader and required is
 * false; with required set that is an error.  timestamp_ms only for
 * AT_TIMESTAMP; a time past the server's clock gives the high watermark.
 */
FLUSS_MUST_CHECK fluss_status fluss_list_offsets(fluss_client *client,
												 fluss_table *table,
												 fluss_offset_kind kind,
												 int64_t timestamp_ms,
												 int64_t partition_id,
												 const int32_t *buckets,
												 int nbuckets, bool required,
												 int64_t *offsets,
												 fluss_error *err);

/*
 * Row counts from the server's table statistics, or FLUSS_OFFSET_UNKNOWN per
 * bucket where it keeps none.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_row_counts(fluss_client *client,
													 fluss_table *table,
													 int64_t partition_id,
													 const int32_t *buckets,
													 int nbuckets,
													 int64_t *counts,
													 fluss_error *err);

/* ---------------------------------------------------------------- values */

typedef struct fluss_bytes
{
	const uint8_t *data;
	size_t		size;
} fluss_bytes;

/* One scalar value; which member holds it follows from the column's type. */
typedef struct fluss_value
{
	bool		is_null;
	union
	{
		bool		boolean;
		int64_t		integer;	/* TINYINT..BIGINT; DATE in days since
								 * 1970-01-01; TIME in milliseconds */
		float		float4;
		double		float8;
		struct
		{
			int64_t		millis; /* since 1970-01-01 00:00 (UTC for LTZ) */
			int32_t		nanos;	/* of the millisecond, 0..999999 */
		}			timestamp;
		struct
		{
			uint64_t	low;
			int64_t		high;
		}			decimal;	/* unscaled, 128-bit two's complement */
		fluss_bytes bytes;		/* CHAR, STRING (UTF-8), BINARY, BYTES */
	}			u;
} fluss_value;

/* ----------------------------------------------------------- column views */

/*
 * One column of a batch: a view over verified Arrow buffers.  Everything a
 * reader needs was checked when the batch was opened: offsets ascend and stay
 * within data, fixed-width data has length * width bytes.  Buffers are little
 * endian and may be unaligned; use the functions below.
 */
typedef struct fluss_column_view
{
	const fluss_type *type;
	int32_t		length;
	bool		all_null;		/* column is absent from the batch's schema */
	const uint8_t *validity;	/* bit i set: value i is not NULL; NULL: none is */
	const uint8_t *offsets;		/* (length + 1) int32 for STRING, CHAR, BYTES */
	const uint8_t *data;
} fluss_column_view;

static inline bool
fluss_column_is_null(const fluss_column_view *view, int32_t row)
{
	return view->all_null ||
		(view->validity != NULL &&
		 (view->validity[row >> 3] & (1 << (row & 7))) == 0);
}

/* Reads one value; bytes point into the batch. */
void fluss_column_value(const fluss_column_view *view, int32_t row,
						fluss_value *value);

/*
 * The same for loops that looked at the type once.  The value must not be
 * NULL.  TIME is an int32 up to precision 3 and an int64 above, TIMESTAMP and
 * TIMESTAMP_LTZ are int64; both count units of 10^-fluss_type_digits seconds.
 */
static inline int
fluss_type_digits(const fluss_type *type)
{
	return (type->precision + 2) / 3 * 3;
}

static inline bool
fluss_column_boolean(const fluss_column_view *view, int32_t row)
{
	return (view->data[row >> 3] >> (row & 7) & 1) != 0;
}

static inline int8_t
fluss_column_int8(const fluss_column_view *view, int32_t row)
{
	return (int8_t) view->data[row];
}

static inline int16_t
fluss_column_int16(const fluss_column_view *view, int32_t row)
{
	uint16_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap16(v);
#endif
	return (int16_t) v;
}

static inline int32_t
fluss_column_int32(const fluss_column_view *view, int32_t row)
{
	uint32_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return (int32_t) v;
}

static inline int64_t
fluss_column_int64(const fluss_column_view *view, int32_t row)
{
	uint64_t	v;

	memcpy(&v, view->data + (size_t) row * sizeof(v), sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return (int64_t) v;
}

static inline float
fluss_column_float4(const fluss_column_view *view, int32_t row)
{
	int32_t		bits = fluss_column_int32(view, row);
	float		v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static inline double
fluss_column_float8(const fluss_column_view *view, int32_t row)
{
	int64_t		bits = fluss_column_int64(view, row);
	double		v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* CHAR, STRING, BYTES and BINARY; the bytes point into the batch. */
static inline fluss_bytes
fluss_column_bytes(const fluss_column_view *view, int32_t row)
{
	fluss_bytes bytes;
	uint32_t	bounds[2];

	if (view->offsets == NULL)
	{
		bytes.size = (size_t) view->type->length;
		bytes.data = view->data + (size_t) row * bytes.size;
		return bytes;
	}
	memcpy(bounds, view->offsets + (size_t) row * sizeof(uint32_t),
		   sizeof(bounds));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	bounds[0] = __builtin_bswap32(bounds[0]);
	bounds[1] = __builtin_bswap32(bounds[1]);
#endif
	bytes.data = view->data + bounds[0];
	bytes.size = bounds[1] - bounds[0];
	return bytes;
}

/* ------------------------------------------------------------ counters */

typedef enum fluss_request_kind
{
	FLUSS_REQUEST_METADATA,
	FLUSS_REQUEST_LIST_OFFSETS,
	FLUSS_REQUEST_FETCH,
	FLUSS_REQUEST_LOOKUP,
	FLUSS_REQUEST_PREFIX_LOOKUP,
	FLUSS_REQUEST_LIMIT_SCAN,
	FLUSS_REQUEST_STATS,
	FLUSS_REQUEST_PRODUCE,
	FLUSS_REQUEST_PUT,
	FLUSS_REQUEST_INIT_WRITER,
	FLUSS_REQUEST_OTHER,
	FLUSS_NREQUEST_KINDS
} fluss_request_kind;

/* Lower-case name as EXPLAIN prints it, e.g. "fetch". */
const char *fluss_request_kind_name(fluss_request_kind kind);

/* What one handle has caused so far.  Retries count as requests. */
typedef struct fluss_counters
{
	int64_t		requests[FLUSS_NREQUEST_KINDS];
	int64_t		bytes;			/* answers received, or records sent */
	int64_t		batches;		/* decoded: those that hold something in range */
	int64_t		rows;			/* records in those batches, or rows found */
	int64_t		keys;			/* distinct keys asked for */
	int64_t		duplicate_keys; /* keys answered from an equal one */
} fluss_counters;

/* -------------------------------------------------------------- log scan */

/*
 * Pinned ends: where scans of one scope stop, by (partition, bucket).  A scan
 * that is first to read a bucket pins its end at the high watermark of the
 * first answer; every other scan given the same object ends there too.
 */
typedef struct fluss_ends fluss_ends;

FLUSS_MUST_CHECK fluss_status fluss_ends_open(const fluss_host *host,
											  fluss_ends **ends,
											  fluss_error *err);
void fluss_ends_close(fluss_ends *ends);
bool fluss_ends_get(const fluss_ends *ends, int64_t partition_id,
					int32_t bucket, int64_t *offset);
/* Keeps an earlier value when there is one. */
FLUSS_MUST_CHECK fluss_status fluss_ends_pin(fluss_ends *ends,
											 int64_t partition_id,
											 int32_t bucket, int64_t offset,
											 fluss_error *err);

#define FLUSS_NO_PARTITION (-1)
#define FLUSS_OFFSET_END INT64_MAX	/* "up to the pinned end" */

/* Offsets [start, end) of one bucket. */
typedef struct fluss_range
{
	int64_t		partition_id;	/* FLUSS_NO_PARTITION */
	int32_t		bucket;
	int64_t		start;			/* 0: from the earliest, and no data is missed */
	int64_t		end;			/* FLUSS_OFFSET_END: no bound of its own */
} fluss_range;

typedef struct fluss_scan_options
{
	const int32_t *columns;		/* positions in table->schema, distinct, any
								 * order; may be empty (only offsets wanted) */
	int			ncolumns;
	int64_t		fetch_max_bytes;
	int64_t		fetch_max_bytes_for_bucket;
	int			fetch_inflight; /* answers asked for or held per server */
	int64_t		max_buffered_bytes;
	bool		check_crc;
	int64_t		row_limit;		/* hint: so many rows will do; 0: all */
} fluss_scan_options;

/* Some records of one bucket, by column. */
typedef struct fluss_batch
{
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		base_offset;	/* of record 0; record i has base_offset + i */
	int64_t		next_offset;	/* first offset past the batch */
	int64_t		commit_timestamp_ms;
	int32_t		schema_id;
	int32_t		first_row;		/* rows [first_row, end_row) are in range */
	int32_t		end_row;
	const uint8_t *change_types;	/* one per record; NULL: all appends */
	const fluss_column_view *columns;	/* as in fluss_scan_options.columns */
} fluss_batch;

/* A range that starts outside what the bucket holds: see fluss_scan_next. */
typedef struct fluss_loss
{
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		start;			/* where the range wanted to start */
	int64_t		earliest;		/* first offset the server still has, or
								 * FLUSS_OFFSET_UNKNOWN: it was not asked */
	int64_t		end;			/* the pinned end */
} fluss_loss;

typedef enum fluss_scan_item
{
	FLUSS_SCAN_BATCH,
	FLUSS_SCAN_LOSS,
	FLUSS_SCAN_END
} fluss_scan_item;

typedef struct fluss_scan fluss_scan;

/*
 * Opens a scan over ranges that are disjoint, and ascending within a bucket.
 * Sends nothing yet.  The scan holds a reference to the table; ends must
 * outlive it.
 */
FLUSS_MUST_CHECK fluss_status fluss_scan_open(fluss_client *client,
											  const fluss_host *host,
											  fluss_table *table,
											  const fluss_range *ranges,
											  int nranges,
											  const fluss_scan_options *options,
											  fluss_ends *ends,
											  fluss_scan **scan,
											  fluss_error *err);
/*
 * Gives the next batch with at least one row in range, or a loss report, or
 * the end.  *batch lives until the next call; one that several ranges take
 * from is given once for each.  A loss is reported before any record of its
 * range: the start lies above the pinned end, or above zero and below the
 * earliest offset; the scan then goes on with what there is.
 */
FLUSS_MUST_CHECK fluss_status fluss_scan_next(fluss_scan *scan,
											  fluss_scan_item *item,
											  const fluss_batch **batch,
											  fluss_loss *loss,
											  fluss_error *err);
const fluss_counters *fluss_scan_counters(const fluss_scan *scan);
void fluss_scan_close(fluss_scan *scan);

/* ---------------------------------------------------------------- lookup */

typedef struct fluss_lookup_options
{
	const int32_t *columns;		/* positions in table->schema to decode */
	int			ncolumns;
	int			max_batch_size; /* keys per request */
	int			max_inflight_requests;	/* per server */
	int64_t		max_buffered_bytes;
} fluss_lookup_options;

typedef struct fluss_lookup fluss_lookup;

/*
 * Lookups by the whole primary key.  Use: reset, add keys, run, read rows;
 * and again.  Current state: nothing is pinned.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_open(fluss_client *client,
												const fluss_host *host,
												fluss_table *table,
												const fluss_lookup_options *options,
												fluss_lookup **lookup,
												fluss_error *err);
/* Forgets keys and rows, keeps memory and counters. */
void fluss_lookup_reset(fluss_lookup *lookup);
/*
 * Adds a key: one value per primary key column, in the order of
 * schema->primary_key, none of them NULL.  *slot names the row afterwards;
 * equal keys share one.  A value its column cannot hold is
 * FLUSS_INVALID_ARGUMENT: the caller knows that it matches nothing.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_add(fluss_lookup *lookup,
											   const fluss_value *key,
											   int *slot, fluss_error *err);
/* Sends what was added since the last reset or run, waits for all answers. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_run(fluss_lookup *lookup,
											   fluss_error *err);
/*
 * Decodes the row of a slot into one value per requested column, columns
 * that its schema lacks as NULL.  Bytes live until reset.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_row(fluss_lookup *lookup, int slot,
											   bool *found,
											   fluss_value *values,
											   fluss_error *err);
/* The bucket that the key of a slot belongs to. */
int32_t fluss_lookup_bucket(const fluss_lookup *lookup, int slot);
const fluss_counters *fluss_lookup_counters(const fluss_lookup *lookup);
void fluss_lookup_close(fluss_lookup *lookup);

/* ----------------------------------- whole reads of a primary key table */

typedef struct fluss_kvscan_options
{
	const int32_t *columns;
	int			ncolumns;
	const int32_t *buckets;		/* NULL: all */
	int			nbuckets;
	int64_t		max_rows_per_bucket;	/* more: FLUSS_TOO_MANY_ROWS */
	int64_t		row_limit;		/* ends after so many rows; 0: all */
	int64_t		max_buffered_bytes;
} fluss_kvscan_options;

typedef struct fluss_kvscan fluss_kvscan;

FLUSS_MUST_CHECK fluss_status fluss_kvscan_open(fluss_client *client,
												const fluss_host *host,
												fluss_table *table,
												const fluss_kvscan_options *options,
												fluss_kvscan **scan,
												fluss_error *err);
/*
 * Gives the next row, or *end.  values as in fluss_lookup_row; bytes live
 * until the next call.
 */
FLUSS_MUST_CHECK fluss_status fluss_kvscan_next(fluss_kvscan *scan, bool *end,
												int32_t *bucket,
												fluss_value *values,
												fluss_error *err);
const fluss_counters *fluss_kvscan_counters(const fluss_kvscan *scan);
void fluss_kvscan_close(fluss_kvscan *scan);

/* --------------------------------------------------------------- writing */

typedef struct fluss_writer_options
{
	int			acks;			/* -1 all, 1 leader, 0 none */
	int64_t		batch_size;		/* bytes of one batch, uncompressed */
	bool		idempotence;	/* needs acks -1; without it, rows whose
								 * acknowledgement is lost are written again */
	int			max_inflight_per_bucket;	/* 1..5 */
	int64_t		max_buffered_bytes;
	const int32_t *target_columns;	/* partial update: positions; NULL: whole
									 * rows */
	int			ntarget_columns;
} fluss_writer_options;

/*
 * A run of contiguous acknowledged offsets of one bucket.  Rows of a log table
 * that are known to be written, but not where, share one run with both offsets
 * -1.
 */
typedef struct fluss_write_run
{
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		first_offset;	/* -1 for primary key tables */
	int64_t		last_offset;	/* of the changelog for primary key tables */
	int64_t		rows;
} fluss_write_run;

typedef struct fluss_writer fluss_writer;

/* Writers of one client share its writer id and sequence numbers. */
FLUSS_MUST_CHECK fluss_status fluss_writer_open(fluss_client *client,
												const fluss_host *host,
												fluss_table *table,
												const fluss_writer_options *options,
												fluss_writer **writer,
												fluss_error *err);
/*
 * Adds a row: one value per column of table->schema.  Appends to a log table,
 * upserts into a primary key table.  Checks NOT NULL and the ranges of the
 * Fluss types; such an error leaves the writer usable.  Copies what it needs.
 * Full batches are sent and acknowledgements read on the way.
 */
FLUSS_MUST_CHECK fluss_status fluss_writer_write(fluss_writer *writer,
												 const fluss_value *row,
												 fluss_error *err);
/* Deletes by primary key: key values as in fluss_lookup_add. */
FLUSS_MUST_CHECK fluss_status fluss_writer_delete(fluss_writer *writer,
												  const fluss_value *key,
												  fluss_error *err);
/* Sends what is buffered and waits until everything is acknowledged. */
FLUSS_MUST_CHECK fluss_status fluss_writer_flush(fluss_writer *writer,
												 fluss_error *err);
/*
 * Acknowledged runs so far, merged where contiguous, by bucket and offset; the
 * array lives until the next call on the writer.
 */
const fluss_write_run *fluss_writer_runs(fluss_writer *writer, int *nruns);
const fluss_counters *fluss_writer_counters(const fluss_writer *writer);
/*
 * Drops what was not sent.  Batches without an answer make the client take a
 * new writer id before its next write.
 */
void fluss_writer_close(fluss_writer *writer);

/* -------------------------------------------------------- administration */

FLUSS_MUST_CHECK fluss_status fluss_create_database(fluss_client *client,
													const char *name,
													const char *comment,
													bool if_not_exists,
													fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_drop_database(fluss_client *client,
												  const char *name,
												  bool if_exists, bool cascade,
												  fluss_error *err);

/* What CREATE_TABLE is told; names, not positions. */
typedef struct fluss_table_spec
{
	const char *comment;		/* or NULL */
	int			ncolumns;
	const fluss_column *columns;	/* id is ignored */
	int			nprimary_key;
	const char *const *primary_key;
	int			nbucket_key;
	const char *const *bucket_key;
	int			nbuckets;		/* 0: the server's default */
	int			npartition_key;
	const char *const *partition_key;
	int			nproperties;
	const fluss_property *properties;	/* "table." keys */
	int			ncustom_properties;
	const fluss_property *custom_properties;
} fluss_table_spec;

/*
 * Creates the table and waits until its buckets have leaders that serve (a
 * fresh table answers UNKNOWN_TABLE_OR_BUCKET for a moment).
 */
FLUSS_MUST_CHECK fluss_status fluss_create_table(fluss_client *client,
												 const char *database,
												 const char *name,
												 const fluss_table_spec *spec,
												 bool if_not_exists,
												 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_drop_table(fluss_client *client,
											   const char *database,
											   const char *name,
											   bool if_exists,
											   fluss_error *err);
/* Names, NULL-ended; the array lives until the next call. */
FLUSS_MUST_CHECK fluss_status fluss_list_databases(fluss_client *client,
												   const char *const **names,
												   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_list_tables(fluss_client *client,
												const char *database,
												const char *const **names,
												fluss_error *err);

#endif							/* FLUSS_H */
