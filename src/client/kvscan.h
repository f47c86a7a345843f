/*
 * kvscan.h
 *	  The inside of whole reads: kvscan.c, and its parts snapshot_read.c and
 *	  server_scan.c, which read one bucket after the other.
 */
#ifndef FLUSS_KVSCAN_H
#define FLUSS_KVSCAN_H

#include "project.h"

/* What the parts share with the scan that owns them. */
typedef struct fluss_kvscan_env
{
	fluss_client *client;
	const fluss_host *host;
	fluss_table *table;
	const fluss_kvscan_options *options;
	fluss_arena *arena;			/* of the scan */
	fluss_projector *projector;
	fluss_counters *counters;
	fluss_ends *ends;			/* never NULL */
} fluss_kvscan_env;

/* ---- snapshot_read.c */

typedef struct fluss_snapshot_read fluss_snapshot_read;

FLUSS_MUST_CHECK fluss_status fluss_snapshot_read_open(const fluss_kvscan_env *env,
													   fluss_snapshot_read **read,
													   fluss_error *err);
/* Copies, merges, and returns when the first row can be read. */
FLUSS_MUST_CHECK fluss_status fluss_snapshot_read_begin(fluss_snapshot_read *read,
														const fluss_bucket_ref *at,
														fluss_error *err);
/* Rows as those of fluss_kvscan_next; *end at the end of the bucket. */
FLUSS_MUST_CHECK fluss_status fluss_snapshot_read_next(fluss_snapshot_read *read,
													   bool *end,
													   fluss_value *values,
													   fluss_error *err);
void fluss_snapshot_read_close(fluss_snapshot_read *read);

/* ---- server_scan.c */

typedef struct fluss_server_scan fluss_server_scan;

FLUSS_MUST_CHECK fluss_status fluss_server_scan_open(const fluss_kvscan_env *env,
													 fluss_server_scan **scan,
													 fluss_error *err);
/* FLUSS_UNSUPPORTED, with nothing done, when the server does not offer it. */
FLUSS_MUST_CHECK fluss_status fluss_server_scan_begin(fluss_server_scan *scan,
													  const fluss_bucket_ref *at,
													  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_server_scan_next(fluss_server_scan *scan,
													 bool *end,
													 fluss_value *values,
													 fluss_error *err);
void fluss_server_scan_close(fluss_server_scan *scan);

#endif							/* FLUSS_KVSCAN_H */
