/*
 * writer.h
 *	  The inside of a writer: writer.c, writer_partition.c, writer_batch.c,
 *	  writer_send.c, writer_ack.c and writer_peers.c.
 *
 * Rows gather in one open batch a bucket.  A closed batch waits in its
 * bucket's queue, in sequence order, from its closing to its acknowledgement;
 * its bytes do not change after the first sending, so that sending them again
 * is safe for an idempotent writer.
 *
 * writer->buffered counts open and closed batches; the bytes of a request on
 * its way are a copy that the transport owns.
 */
#ifndef FLUSS_WRITER_H
#define FLUSS_WRITER_H

#include "batch.h"
#include "cluster.h"
#include "retry.h"
#include "row.h"
#include "rpc.h"

#define FLUSS_NO_WRITER		((int64_t) -1)

typedef struct write_batch write_batch;
struct write_batch
{
	write_batch *next;			/* in its bucket's queue, or spare */
	fluss_buf	bytes;
	int32_t		rows;
	int64_t		writer_id;		/* FLUSS_NO_WRITER: not stamped */
	int32_t		sequence;
	bool		in_flight;
	bool		sent;			/* at least once */
	bool		sent_first;		/* last time with nothing unanswered before it */
	bool		maybe_written;	/* a sending ended without an answer */
};

typedef struct write_partition write_partition;

typedef struct write_bucket
{
	write_partition *partition;
	int32_t		bucket;

	/* the open batch: a builder for Arrow, records else */
	fluss_arrow_builder *builder;	/* made at first use */
	fluss_buf	records;
	int32_t		open_rows;
	size_t		open_size;

	write_batch *first;			/* closed, not acknowledged */
	write_batch *last;
	int			nin_flight;
	fluss_retry retry;			/* of the first batch */

	int64_t		acked_rows;
	int64_t		void_writer;	/* its sequences here have come to nothing */
	fluss_buf	runs;			/* of fluss_write_run, ascending */
} write_bucket;

struct write_partition
{
	write_partition *next;		/* of the same hash */
	const char *name;			/* "" in a table without partitions */
	uint32_t	hash;
	int64_t		partition_id;
	write_bucket *buckets;		/* by number */
	int32_t		sticky;			/* bucket of rows without a bucket key */
};

#define FLUSS_WRITE_PARTITION_SLOTS	64
/* Most batches of a request. */
#define FLUSS_WRITE_MAX_PARTS		256

/* One batch of a bucket in a request. */
typedef struct write_part
{
	write_bucket *bucket;
	write_batch *batch;
	bool		answered;
} write_part;

typedef struct write_call write_call;
struct write_call
{
	write_call *next;			/* or spare */
	fluss_request *request;
	int64_t		sent_ms;
	write_part *parts;			/* room for writer->max_parts */
	int			nparts;
};

struct fluss_writer
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_client *client;
	fluss_writer *next_peer;	/* of the client's open writers */
	fluss_table *table;
	fluss_writer_options options;
	fluss_counters counters;
	bool		keyed;			/* a primary key table */
	const bool *targeted;		/* by column; NULL: whole rows */
	const fluss_type **types;	/* of all columns */
	fluss_key_encoder key_encoder;
	fluss_key_encoder bucket_encoder;
	fluss_value *row;			/* scratch, by column */
	fluss_buf	key;			/* scratch */
	fluss_buf	bytes;			/* scratch */

	write_bucket **buckets;		/* of all partitions, by id and number */
	int			nbuckets;
	int			buckets_room;
	write_partition *partitions[FLUSS_WRITE_PARTITION_SLOTS];
	int			npartitions;
	write_partition *last;		/* that of the last row */
	fluss_buf	name;			/* scratch, of a partition */
	int			max_parts;
	uint64_t	random;
	int64_t		buffered;
	int			nclosed;		/* batches in queues */

	write_call *calls;			/* in flight */
	write_batch *spare_batches;
	write_call *spare_calls;
	fluss_write_bucket *asks;	/* scratch, max_parts of them */
	fluss_buf	body;
	fluss_buf	all_runs;		/* what fluss_writer_runs gave */
	int64_t		entered_ms;		/* when the caller came in */
	int64_t		left_ms;		/* when the caller went, the last time */
	int64_t		deadline_ms;	/* of a flush; INT64_MAX: none */
	bool		failed;			/* rows are lost: see error */
	fluss_error error;
};

/* in writer.c */
/* The caller comes in and goes: time spent elsewhere is not a bucket's. */
void		fluss_write_enter(fluss_writer *writer);
void		fluss_write_leave(fluss_writer *writer);
/* Notes a failure; everything but an interruption ends the writer. */
FLUSS_MUST_CHECK fluss_status fluss_write_finish(fluss_writer *writer,
												 fluss_status status,
												 fluss_error *err);

/* in writer_partition.c */
FLUSS_MUST_CHECK fluss_status fluss_write_make_buckets(fluss_writer *writer,
													   fluss_error *err);
/* The partition of a row; NULL: there is none, and it may not be created. */
FLUSS_MUST_CHECK fluss_status fluss_write_find_partition(fluss_writer *writer,
														 const fluss_value *row,
														 bool may_create,
														 write_partition **partition,
														 fluss_error *err);
/* The bucket's batch was closed: further rows go elsewhere. */
void		fluss_write_leave_sticky(fluss_writer *writer,
									 write_bucket *bucket);

/* in writer_batch.c */
/* NULL: nothing to delete in a partition that does not exist. */
FLUSS_MUST_CHECK fluss_status fluss_write_choose_bucket(fluss_writer *writer,
														const fluss_value *row,
														bool may_create,
														write_bucket **bucket,
														fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_write_add_row(fluss_writer *writer,
												  write_bucket *bucket,
												  const fluss_value *row,
												  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_write_add_delete(fluss_writer *writer,
													 write_bucket *bucket,
													 const fluss_value *row,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_write_close_batch(fluss_writer *writer,
													  write_bucket *bucket,
													  fluss_error *err);

/* in writer_send.c */
/* Sends what can be sent, takes in what is answered; does not wait. */
FLUSS_MUST_CHECK fluss_status fluss_write_serve(fluss_writer *writer,
												fluss_error *err);
/* The same after waiting for an answer or the end of a pause. */
FLUSS_MUST_CHECK fluss_status fluss_write_wait(fluss_writer *writer,
											   fluss_error *err);
void		fluss_write_call_free(fluss_writer *writer, write_call *call);
/* Makes *until_ms the time of the writer's next try, if that is earlier. */
void		fluss_write_next_try(const fluss_writer *writer,
								 int64_t *until_ms);

/* in writer_ack.c */
FLUSS_MUST_CHECK fluss_status fluss_write_accept(fluss_writer *writer,
												 write_call *call,
												 fluss_error *err);
/* All batches of a call that could not be sent or got no answer. */
FLUSS_MUST_CHECK fluss_status fluss_write_refused(fluss_writer *writer,
												  write_call *call,
												  const fluss_error *cause,
												  bool maybe_written,
												  fluss_error *err);

/* in writer_peers.c */
void		fluss_write_join(fluss_writer *writer);
void		fluss_write_part_from(fluss_writer *writer);
/* fluss_write_serve for the others; only an interruption is a failure. */
FLUSS_MUST_CHECK fluss_status fluss_write_serve_peers(fluss_writer *writer,
													  fluss_error *err);
/* fluss_write_next_try of the others; true: some wait for answers. */
bool		fluss_write_await_peers(const fluss_writer *writer,
									int64_t *until_ms);
/* Another writer has a batch under way that the server takes first. */
bool		fluss_write_is_behind_peer(const fluss_writer *writer,
									   const write_bucket *bucket,
									   const write_batch *batch);

#endif							/* FLUSS_WRITER_H */
