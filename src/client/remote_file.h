/*
 * remote_file.h
 *	  Local files that the cluster names: which may be opened, and parts of
 *	  them.
 */
#ifndef FLUSS_REMOTE_FILE_H
#define FLUSS_REMOTE_FILE_H

#include "fluss.h"

/*
 * Reads up to size bytes at offset of a regular file below one of the prefixes
 * (comma-separated, NULL: none).  *count is smaller only where the file ends.
 * FLUSS_NOT_PERMITTED: the path lies below none of them, whether there is such
 * a file or not.  FLUSS_DATA_LOST: it does, and there is no such file.
 */
FLUSS_MUST_CHECK fluss_status fluss_remote_file_read(const fluss_host *host,
													 const char *prefixes,
													 const char *path,
													 int64_t offset,
													 uint8_t *buffer,
													 size_t size,
													 size_t *count,
													 fluss_error *err);

#endif							/* FLUSS_REMOTE_FILE_H */
