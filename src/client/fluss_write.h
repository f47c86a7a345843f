/*
 * fluss_write.h
 *	  Part of fluss.h: writing and administration.
 */
#ifndef FLUSS_WRITE_H
#define FLUSS_WRITE_H

#include "fluss_value.h"

/* --------------------------------------------------------------- writing */

/*
 * Seconds east of UTC in a time zone of Java's names, at a time in seconds
 * since 1970; false: the host does not know the zone.  May not jump.
 */
typedef bool (*fluss_zone_offset) (const char *zone, int64_t utc_s,
								   int32_t *offset_s);

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
	bool		hold;			/* send nothing before a flush; what would pass
								 * max_buffered_bytes is FLUSS_MEMORY_CAP */
	bool		overwrite;		/* put values as they are, past an aggregation
								 * merge engine */
	bool		create_partitions;	/* create a partition that a row misses */
	fluss_bucket_hash bucket_hash;
	fluss_zone_offset zone_offset;	/* for the age of partitions, or NULL */
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
 * Full batches are sent and acknowledgements read on the way.  In a partitioned
 * table the partition is made if it is missing and create_partitions allows,
 * unless the table's retention has passed it (FLUSS_PARTITION_EXPIRED).
 */
FLUSS_MUST_CHECK fluss_status fluss_writer_write(fluss_writer *writer,
												 const fluss_value *row,
												 fluss_error *err);
/*
 * Deletes by primary key: key values as in fluss_lookup_add.  In a partition
 * that does not exist there is nothing to delete.
 */
FLUSS_MUST_CHECK fluss_status fluss_writer_delete(fluss_writer *writer,
												  const fluss_value *key,
												  fluss_error *err);
/* Sends what is buffered and waits until everything is acknowledged. */
FLUSS_MUST_CHECK fluss_status fluss_writer_flush(fluss_writer *writer,
												 fluss_error *err);
/* The same, but FLUSS_TIMED_OUT after timeout_ms, whatever is retried. */
FLUSS_MUST_CHECK fluss_status fluss_writer_flush_within(fluss_writer *writer,
														int64_t timeout_ms,
														fluss_error *err);
/* Bytes of rows that are not acknowledged. */
int64_t		fluss_writer_buffered(const fluss_writer *writer);
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
/*
 * Changes options of a table: set nset pairs, remove nreset keys.  Custom ones
 * are those that do not begin with "table.".
 */
FLUSS_MUST_CHECK fluss_status fluss_alter_table(fluss_client *client,
												const char *database,
												const char *name,
												const fluss_property *set,
												int nset,
												const char *const *reset,
												int nreset, fluss_error *err);
/* Adds nullable columns at the end. */
FLUSS_MUST_CHECK fluss_status fluss_add_columns(fluss_client *client,
												const char *database,
												const char *name,
												const fluss_column *columns,
												int ncolumns,
												fluss_error *err);
/* Names, NULL-ended; the array lives until the next call. */
FLUSS_MUST_CHECK fluss_status fluss_list_databases(fluss_client *client,
												   const char *const **names,
												   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_list_tables(fluss_client *client,
												const char *database,
												const char *const **names,
												fluss_error *err);

#endif							/* FLUSS_WRITE_H */
