/*
 * remote.h
 *	  Reading parts of files in remote storage: tiered log segments and KV
 *	  snapshots, as the cluster names them.
 *
 * A path is a local one (bare, or of scheme file) or an S3 object's (s3, s3a,
 * s3n).  It is taken literally, as Fluss prints it: nothing in it is
 * percent-encoded.  Every part is a read of its own, which is driven like a
 * request, by fluss_cluster_poll, and may be freed at any time.
 *
 * Local files are opened only below the prefixes of fluss_config.remote_files.
 * S3 is reached where fluss_config says, else where the cluster says.
 */
#ifndef FLUSS_REMOTE_H
#define FLUSS_REMOTE_H

#include "cluster.h"

typedef struct fluss_remote_read fluss_remote_read;

/*
 * Starts to read size bytes at offset into buffer, which must live until the
 * read is freed.  Waits only for a security token, when a new one is needed.
 */
FLUSS_MUST_CHECK fluss_status fluss_remote_start(fluss_client *client,
												 const char *path,
												 int64_t offset,
												 uint8_t *buffer, size_t size,
												 fluss_remote_read **read,
												 fluss_error *err);
fluss_request_state fluss_remote_state_of(const fluss_remote_read *read);
/* Bytes that came: fewer than asked for only where the file ends. */
size_t fluss_remote_size(const fluss_remote_read *read);
/*
 * Why it failed.  FLUSS_DATA_LOST: there is no such file.  A network's status
 * (fluss_status_is_network): it may work next time.
 */
const fluss_error *fluss_remote_error(const fluss_remote_read *read);
/* Ends it at once where it is still going on. */
void fluss_remote_free(fluss_remote_read *read);

/* ---- for the loop of cluster.c */

typedef struct fluss_remote fluss_remote;

void fluss_remote_close(fluss_remote *remote);
/* Does what can be done now; true when a read was finished. */
bool fluss_remote_step(fluss_remote *remote);
/* Nobody served the reads for so long. */
void fluss_remote_postpone(fluss_remote *remote, int64_t ms);
/* Sockets that fluss_remote_fds gives at most. */
int fluss_remote_max_fds(const fluss_remote *remote);
int fluss_remote_fds(const fluss_remote *remote, fluss_pollfd *fds,
					 int64_t *until_ms);

#endif							/* FLUSS_REMOTE_H */
