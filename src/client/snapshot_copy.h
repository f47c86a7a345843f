/*
 * snapshot_copy.h
 *	  The files of a KV snapshot, copied into a local folder.
 */
#ifndef FLUSS_SNAPSHOT_COPY_H
#define FLUSS_SNAPSHOT_COPY_H

#include "rpc_snapshot.h"
#include "snapshot_files.h"

/* Called again and again while files are copied, to keep what they need. */
typedef fluss_status (*fluss_snapshot_keep) (void *arg, fluss_error *err);

/*
 * Copies the files into the source's folder, which is there and empty.
 * FLUSS_DATA_LOST: one of them is gone.
 */
FLUSS_MUST_CHECK fluss_status fluss_snapshot_copy_files(const fluss_snapshot_source *source,
														const fluss_snapshot_file *files,
														int nfiles,
														fluss_snapshot_keep keep,
														void *arg,
														fluss_error *err);
/* What the system said of a local file or folder. */
fluss_status fluss_snapshot_fail_file(const char *what, const char *path,
									  int error, fluss_error *err);

#endif							/* FLUSS_SNAPSHOT_COPY_H */
