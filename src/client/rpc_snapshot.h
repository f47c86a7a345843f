/*
 * rpc_snapshot.h
 *	  Messages about KV snapshots and of server-side scans, to and from bytes.
 *
 * As in rpc.h: encoders append, decoders allocate in the arena.
 */
#ifndef FLUSS_RPC_SNAPSHOT_H
#define FLUSS_RPC_SNAPSHOT_H

#include "arena.h"
#include "buf.h"

/* ---- the newest snapshot of a bucket */

/* partition_name NULL: a table without partitions */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_latest_snapshots(const char *database,
																const char *table,
																const char *partition_name,
																fluss_buf *out,
																fluss_error *err);

typedef struct fluss_snapshot_id
{
	int64_t		snapshot_id;	/* -1: the bucket has none */
	int64_t		log_offset;		/* first one that it does not hold */
} fluss_snapshot_id;

/* That of one bucket; the answer is about all. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_latest_snapshots(fluss_arena *arena,
																fluss_bytes answer,
																int32_t bucket,
																int64_t *table_id,
																fluss_snapshot_id *snapshot,
																fluss_error *err);

/* ---- its files */

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_snapshot_files(int64_t table_id,
															  const fluss_bucket_ref *at,
															  int64_t snapshot_id,
															  fluss_buf *out,
															  fluss_error *err);

typedef struct fluss_snapshot_file
{
	const char *remote_path;
	const char *name;			/* a plain file name */
} fluss_snapshot_file;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_snapshot_files(fluss_arena *arena,
															  fluss_bytes answer,
															  int64_t *log_offset,
															  fluss_snapshot_file **files,
															  int *nfiles,
															  fluss_error *err);

/* ---- leases */

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_acquire_lease(const char *lease_id,
															 int64_t duration_ms,
															 int64_t table_id,
															 const fluss_bucket_ref *at,
															 int64_t snapshot_id,
															 fluss_buf *out,
															 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_acquire_lease(fluss_arena *arena,
															 fluss_bytes answer,
															 bool *available,
															 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_drop_lease(const char *lease_id,
														  fluss_buf *out,
														  fluss_error *err);

/* ---- server-side scans */

/* scanner NULL: opens one; else goes on with it, or closes it */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_scan_kv(int64_t table_id,
													   const fluss_bucket_ref *at,
													   const fluss_bytes *scanner,
													   int32_t call,
													   int32_t batch_bytes,
													   bool close,
													   fluss_buf *out,
													   fluss_error *err);

typedef struct fluss_scan_kv_result
{
	int32_t		error_code;
	const char *error_message;
	fluss_bytes scanner;		/* data NULL: there is none */
	bool		more;
	fluss_bytes records;
	int64_t		log_offset;		/* -1: absent */
} fluss_scan_kv_result;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_scan_kv(fluss_arena *arena,
													   fluss_bytes answer,
													   fluss_scan_kv_result *result,
													   fluss_error *err);

#endif							/* FLUSS_RPC_SNAPSHOT_H */
