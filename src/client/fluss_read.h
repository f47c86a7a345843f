/*
 * fluss_read.h
 *	  Part of fluss.h: log scans, lookups and whole reads.
 */
#ifndef FLUSS_READ_H
#define FLUSS_READ_H

#include "fluss_value.h"

/* ------------------------------------------------------------ counters */

typedef enum fluss_request_kind
{
	FLUSS_REQUEST_METADATA,
	FLUSS_REQUEST_LIST_OFFSETS,
	FLUSS_REQUEST_FETCH,
	FLUSS_REQUEST_REMOTE_READ,	/* part of a file in remote storage */
	FLUSS_REQUEST_LOOKUP,
	FLUSS_REQUEST_PREFIX_LOOKUP,
	FLUSS_REQUEST_LIMIT_SCAN,
	FLUSS_REQUEST_SCAN,			/* SCAN_KV */
	FLUSS_REQUEST_SNAPSHOT,		/* all about KV snapshots */
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

#define FLUSS_OFFSET_END INT64_MAX	/* "up to the pinned end" */

/* Offsets [start, end) of one bucket. */
typedef struct fluss_range
{
	int64_t		partition_id;	/* or FLUSS_NO_PARTITION */
	int32_t		bucket;
	int64_t		start;			/* 0: from the earliest, and no data is missed */
	int64_t		end;			/* FLUSS_OFFSET_END: no bound of its own */
	int64_t		from_ms;		/* leaves out batches committed before it; 0: none */
	int64_t		stop_ms;		/* ends with the first batch that was committed
								 * then or later, without it; 0: it does not */
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
	int32_t		first_row;		/* rows [first_row, end_row) are in range; */
	int32_t		end_row;		/* columns have those around them as well */
	bool		foreign_layout; /* not in the table's log format */
	const uint8_t *change_types;	/* one per record; NULL: all appends */
	const fluss_column_view *columns;	/* as in fluss_scan_options.columns */
} fluss_batch;

/* A range that starts outside what the bucket holds: see fluss_scan_next. */
typedef struct fluss_loss
{
	int64_t		partition_id;
	int32_t		bucket;
	bool		dropped;		/* the partition is gone, with all from start on */
	int64_t		start;			/* where the range wanted to start */
	int64_t		earliest;		/* first offset the server still has, or
								 * FLUSS_OFFSET_UNKNOWN: it was not asked */
	int64_t		end;			/* the pinned end, or FLUSS_OFFSET_UNKNOWN */
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
 * earliest offset; the scan then goes on with what there is.  A partition that
 * is dropped before all of it was read is a loss for each of its buckets that
 * had something left to ask for; earliest is then FLUSS_OFFSET_UNKNOWN.
 */
FLUSS_MUST_CHECK fluss_status fluss_scan_next(fluss_scan *scan,
											  fluss_scan_item *item,
											  const fluss_batch **batch,
											  fluss_loss *loss,
											  fluss_error *err);
const fluss_counters *fluss_scan_counters(const fluss_scan *scan);
void fluss_scan_close(fluss_scan *scan);

/* A place in a bucket's log: the next offset to read. */
typedef struct fluss_position
{
	int64_t		partition_id;	/* or FLUSS_NO_PARTITION */
	int32_t		bucket;
	int64_t		offset;
} fluss_position;

/*
 * Waits until some bucket has a record at or past its position, without
 * asking again and again: the servers answer when there is one.  *ready is
 * false when timeout_ms has passed, or earlier when a partition is gone: then
 * the positions are out of date.  narrow_column is what a log that is
 * stored by column is asked for.  A position past the end of a bucket waits
 * for what comes after it; FLUSS_TABLE_CHANGED when the table is not the same
 * any more.
 */
FLUSS_MUST_CHECK fluss_status fluss_wait_for_records(fluss_client *client,
													 fluss_table *table,
													 const fluss_position *positions,
													 int npositions,
													 int32_t narrow_column,
													 int64_t timeout_ms,
													 bool *ready,
													 fluss_error *err);

/* ---------------------------------------------------------------- lookup */

typedef struct fluss_lookup_options
{
	const int32_t *columns;		/* positions in table->schema to decode */
	int			ncolumns;
	int			max_batch_size; /* keys per request */
	int			max_inflight_requests;	/* per server */
	int64_t		max_buffered_bytes;
	bool		prefix;			/* keys are prefixes: see fluss_lookup_add */
	fluss_bucket_hash bucket_hash;
} fluss_lookup_options;

typedef struct fluss_lookup fluss_lookup;

/*
 * Lookups by the whole primary key, or by the prefix that chooses partition
 * and bucket.  Use: reset, add keys, run, read rows; and again.  Or, to do
 * something else meanwhile: reset, add keys, send, and wait for the slots one
 * after the other.  Current state: nothing is pinned.
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
 * schema->primary_key, none of them NULL.  For a prefix lookup only the
 * columns of the bucket key and the partition key count, the others may be
 * anything.  *slot names the row, or rows, afterwards; equal keys share one.
 * A key of a partition that does not exist is found to have no row.  NULL, or
 * a value that its column cannot hold, is FLUSS_NO_SUCH_KEY: it matches nothing.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_add(fluss_lookup *lookup,
											   const fluss_value *key,
											   int *slot, fluss_error *err);
/* Sends what was added since the last reset or run, waits for all answers. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_run(fluss_lookup *lookup,
											   fluss_error *err);
/*
 * Sends what was added since the last reset, run or send, as far as
 * max_inflight_requests allows, and waits for no answer.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_send(fluss_lookup *lookup,
												fluss_error *err);
/* After a send: works on until the slot is answered. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_wait(fluss_lookup *lookup, int slot,
												fluss_error *err);
/* Rows of an answered slot: 0 or 1, more for a prefix; in key order. */
int fluss_lookup_nrows(const fluss_lookup *lookup, int slot);
/*
 * Decodes row i of a slot that has more than i rows into one value per
 * requested column, columns that its schema lacks as NULL.  Bytes live until
 * reset, items of nested values until the next row is decoded.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_row(fluss_lookup *lookup, int slot,
											   int i, fluss_value *values,
											   fluss_error *err);
/*
 * The bucket that the key of a slot belongs to, and its partition:
 * FLUSS_NO_PARTITION also when that does not exist.
 */
int32_t fluss_lookup_bucket(const fluss_lookup *lookup, int slot);
int64_t fluss_lookup_partition(const fluss_lookup *lookup, int slot);
const fluss_counters *fluss_lookup_counters(const fluss_lookup *lookup);
void fluss_lookup_close(fluss_lookup *lookup);

/* ----------------------------------- whole reads of a primary key table */

/*
 * How a bucket's rows are read.  A limit scan keeps the bucket's writers
 * waiting, and has no paging.  A snapshot read merges the newest KV snapshot
 * with the changelog after it, up to the pinned end.  A server scan is paged,
 * and offered by Fluss 1.0 and later.
 */
typedef enum fluss_kvscan_mode
{
	FLUSS_KVSCAN_AUTO,			/* limit scans, until a bucket has more rows than
								 * allowed; then as _WHOLE */
	FLUSS_KVSCAN_WHOLE,			/* server scans where offered, else snapshots */
	FLUSS_KVSCAN_LIMIT,
	FLUSS_KVSCAN_SNAPSHOT,
	FLUSS_KVSCAN_SERVER
} fluss_kvscan_mode;

/* What snapshot reads need. */
typedef struct fluss_snapshot_options
{
	const char *program;		/* path of the helper program, or NULL */
	const char *folder;			/* to be made, used and removed again */
	int64_t		max_disk_bytes; /* of all files at a time; 0: no limit */
	int64_t    *disk_bytes;		/* their size, shared by several scans, or NULL */
	/* fetches of the changelog, as in fluss_scan_options */
	int64_t		fetch_max_bytes;
	int64_t		fetch_max_bytes_for_bucket;
	int			fetch_inflight;
	bool		check_crc;
} fluss_snapshot_options;

typedef struct fluss_kvscan_options
{
	const int32_t *columns;
	int			ncolumns;
	fluss_kvscan_mode mode;
	const fluss_bucket_ref *buckets;	/* NULL: all of an unpartitioned table */
	int			nbuckets;
	int64_t		max_rows_per_bucket;	/* more: FLUSS_TOO_MANY_ROWS */
	int64_t		row_limit;		/* ends after so many rows; 0: all */
	int64_t		max_buffered_bytes;
	fluss_snapshot_options snapshot;
	/*
	 * Pinned ends to share, or NULL.  What a snapshot read or a server scan
	 * gives of a bucket is its state at or after its end.
	 */
	fluss_ends *ends;
} fluss_kvscan_options;

typedef struct fluss_kvscan fluss_kvscan;

FLUSS_MUST_CHECK fluss_status fluss_kvscan_open(fluss_client *client,
												const fluss_host *host,
												fluss_table *table,
												const fluss_kvscan_options *options,
												fluss_kvscan **scan,
												fluss_error *err);
/*
 * Gives the next row, or *end.  values as in fluss_lookup_row; bytes and items
 * of nested values live until the next call.
 */
FLUSS_MUST_CHECK fluss_status fluss_kvscan_next(fluss_kvscan *scan, bool *end,
												fluss_bucket_ref *bucket,
												fluss_value *values,
												fluss_error *err);
/* What buckets were read by otherwise than limit scan so far, if any were. */
typedef enum fluss_kvscan_used
{
	FLUSS_USED_LIMIT,
	FLUSS_USED_SNAPSHOT,
	FLUSS_USED_SERVER
} fluss_kvscan_used;
fluss_kvscan_used fluss_kvscan_used_mode(const fluss_kvscan *scan);
/* Whether a server that the client is connected to offers server scans. */
bool fluss_client_offers_server_scans(fluss_client *client);
const fluss_counters *fluss_kvscan_counters(const fluss_kvscan *scan);
void fluss_kvscan_close(fluss_kvscan *scan);

#endif							/* FLUSS_READ_H */
