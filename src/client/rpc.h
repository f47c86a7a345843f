/*
 * rpc.h
 *	  One encoder and one decoder per message that the data paths use: the
 *	  only code that sees the generated protobuf names lies behind them (and
 *	  behind cluster.c's own metadata calls, in rpc_admin.c).
 *
 * Encoders append the serialized message.  Decoders allocate in the arena;
 * bytes fields are copied there too, so the request may be freed.  Any answer
 * that lacks what protocol demands is FLUSS_MALFORMED.
 */
#ifndef FLUSS_RPC_H
#define FLUSS_RPC_H

#include "arena.h"
#include "buf.h"

/* ---- fetch log (one table per request) */

typedef struct fluss_fetch_bucket
{
	int64_t		partition_id;	/* FLUSS_NO_PARTITION */
	int32_t		bucket;
	int64_t		offset;
	int32_t		max_bytes;
} fluss_fetch_bucket;

typedef struct fluss_remote_segment
{
	const char *id;
	int64_t		start_offset;
	int64_t		end_offset;		/* exclusive */
	int32_t		size;
} fluss_remote_segment;

typedef struct fluss_fetch_result
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		error_code;		/* 0: none */
	const char *error_message;	/* or NULL */
	int64_t		high_watermark; /* -1: absent */
	fluss_bytes records;
	/* data that only lies in remote storage; NULL when there is none */
	const char *remote_dir;
	const fluss_remote_segment *segments;
	int			nsegments;
	int32_t		first_start_pos;
} fluss_fetch_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_fetch(const fluss_host *host,
													 int64_t table_id,
													 int32_t max_bytes,
													 const int32_t *projection,
													 int nprojection, /* 0: off */
													 const fluss_fetch_bucket *buckets,
													 int nbuckets,
													 int32_t max_wait_ms, /* 0: at once */
													 fluss_buf *out,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_fetch(fluss_arena *arena,
													 fluss_bytes answer,
													 int64_t table_id,
													 fluss_fetch_result **results,
													 int *nresults,
													 fluss_error *err);

/* ---- lookup */

typedef struct fluss_lookup_ask
{
	int64_t		partition_id;
	int32_t		bucket;
	const fluss_bytes *keys;
	int			nkeys;
} fluss_lookup_ask;

/* The rows of one key: one at most, unless it is a prefix. */
typedef struct fluss_found
{
	const fluss_bytes *values;
	int			n;
} fluss_found;

typedef struct fluss_lookup_result
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		error_code;
	const char *error_message;
	const fluss_found *keys;	/* in the order they were asked for */
	int			nkeys;
} fluss_lookup_result;

/* Of keys, or of prefixes. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_lookup(const fluss_host *host,
													  int64_t table_id,
													  const fluss_lookup_ask *buckets,
													  int nbuckets,
													  fluss_buf *out,
													  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_lookup(fluss_arena *arena,
													  fluss_bytes answer,
													  fluss_lookup_result **results,
													  int *nresults,
													  fluss_error *err);

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_prefix_lookup(fluss_arena *arena,
															 fluss_bytes answer,
															 fluss_lookup_result **results,
															 int *nresults,
															 fluss_error *err);

/* ---- limit scan */

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_limit_scan(const fluss_host *host,
														  int64_t table_id,
														  int64_t partition_id,
														  int32_t bucket,
														  int32_t limit,
														  fluss_buf *out,
														  fluss_error *err);

typedef struct fluss_limit_scan_result
{
	int32_t		error_code;
	const char *error_message;
	bool		is_log_table;
	fluss_bytes records;
} fluss_limit_scan_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_limit_scan(fluss_arena *arena,
														  fluss_bytes answer,
														  fluss_limit_scan_result *result,
														  fluss_error *err);

/* ---- produce log and put kv: the same shape both ways */

typedef struct fluss_write_bucket
{
	int64_t		partition_id;
	int32_t		bucket;
	fluss_bytes records;
} fluss_write_bucket;

typedef struct fluss_write_result
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		error_code;
	const char *error_message;
	int64_t		offset;			/* produce: base offset; put: log end offset */
} fluss_write_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_produce(const fluss_host *host,
													   int64_t table_id, int acks,
													   int32_t timeout_ms,
													   const fluss_write_bucket *buckets,
													   int nbuckets,
													   fluss_buf *out,
													   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_produce(fluss_arena *arena,
													   fluss_bytes answer,
													   fluss_write_result **results,
													   int *nresults,
													   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_put(const fluss_host *host,
												   int64_t table_id, int acks,
												   int32_t timeout_ms,
												   const int32_t *target_columns,
												   int ntarget_columns,
												   bool overwrite,
												   const fluss_write_bucket *buckets,
												   int nbuckets,
												   fluss_buf *out,
												   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_put(fluss_arena *arena,
												   fluss_bytes answer,
												   fluss_write_result **results,
												   int *nresults,
												   fluss_error *err);

/* ---- list offsets (one partition, buckets of one leader) */

typedef struct fluss_offset_result
{
	int32_t		bucket;
	int32_t		error_code;
	const char *error_message;
	int64_t		offset;			/* or FLUSS_OFFSET_UNKNOWN */
} fluss_offset_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_list_offsets(const fluss_host *host,
															int64_t table_id,
															int64_t partition_id,
															fluss_offset_kind kind,
															int64_t timestamp_ms,
															const int32_t *buckets,
															int nbuckets,
															fluss_buf *out,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_list_offsets(fluss_arena *arena,
															fluss_bytes answer,
															fluss_offset_result **results,
															int *nresults,
															fluss_error *err);

/* ---- table statistics */

typedef struct fluss_stats_result
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		error_code;
	const char *error_message;
	int64_t		row_count;		/* -1: absent */
} fluss_stats_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_stats(const fluss_host *host,
													 int64_t table_id,
													 int64_t partition_id,
													 const int32_t *buckets,
													 int nbuckets,
													 fluss_buf *out,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_stats(fluss_arena *arena,
													 fluss_bytes answer,
													 fluss_stats_result **results,
													 int *nresults,
													 fluss_error *err);

#endif							/* FLUSS_RPC_H */
