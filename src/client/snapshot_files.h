/*
 * snapshot_files.h
 *	  The newest KV snapshot of a bucket, as files in a local folder.
 */
#ifndef FLUSS_SNAPSHOT_FILES_H
#define FLUSS_SNAPSHOT_FILES_H

#include "cluster.h"

typedef struct fluss_snapshot_source
{
	fluss_client *client;
	const fluss_host *host;
	fluss_table *table;
	fluss_bucket_ref at;
	const char *partition_name; /* NULL: a table without partitions */
	const char *folder;			/* made by the copy */
	int64_t		max_buffered_bytes; /* of memory, for the copy */
	int64_t		max_disk_bytes; /* that may be copied; -1: no limit */
	fluss_counters *counters;
} fluss_snapshot_source;

/*
 * Makes the folder and copies the files of the newest snapshot into it, which
 * is leased for as long as that takes.  *log_offset is the first offset that
 * the snapshot does not hold; 0, and the folder empty, when there is none.
 * After an error the folder may be there.
 */
FLUSS_MUST_CHECK fluss_status fluss_snapshot_copy(const fluss_snapshot_source *source,
												  bool *exists,
												  int64_t *log_offset,
												  fluss_error *err);
/* The bucket needs more than the limit: FLUSS_MEMORY_CAP. */
FLUSS_MUST_CHECK fluss_status fluss_snapshot_fail_size(const fluss_table *table,
													   int32_t bucket,
													   fluss_error *err);
/* Bytes of the files in a folder. */
int64_t fluss_snapshot_size(const char *folder);
/* Removes a folder with all that is in it, if there is one. */
void fluss_snapshot_remove(const char *folder);

#endif							/* FLUSS_SNAPSHOT_FILES_H */
