/*
 * fetch.h
 *	  The inside of a log scan: fetch.c and its parts fetch_plan.c,
 *	  fetch_send.c, fetch_receive.c, fetch_remote.c and fetch_read.c.
 *
 * Every bucket has two cursors over its ranges.  The fetch cursor moves when
 * an answer arrives, by the headers of the batches in it, so that the next
 * request can leave before anything is decoded.  The read cursor follows when
 * batches are given to the caller.  Both stop at min(range end, pinned end).
 *
 * A bucket is asked for by at most one request at a time, so its answers lie
 * in the list in the order of its offsets.  Answers are read in list order.
 *
 * Where a server says that offsets lie in remote storage, the bucket goes on
 * by reading the segments' files, a part at a time.  Such a part is an answer
 * like any other; behind the last segment the server is asked again.
 */
#ifndef FLUSS_FETCH_H
#define FLUSS_FETCH_H

#include "batch.h"
#include "project.h"
#include "remote.h"
#include "retry.h"
#include "rpc.h"

/* The segments in remote storage that a bucket is being read from. */
typedef struct fetch_segments
{
	fluss_arena arena;
	const char *dir;
	fluss_remote_segment *segments;	/* joining on to each other */
	int			nsegments;
	int			current;		/* == nsegments: they are read to their end */
	int64_t		asked_offset;	/* for which the server named them */
	int64_t		position;		/* of the next byte of the current one */
	int64_t		next_offset;	/* of the batch there, or FLUSS_OFFSET_UNKNOWN */
	int64_t		batch_size;		/* of the batch there; 0: not known */
} fetch_segments;

typedef struct fetch_bucket
{
	int64_t		partition_id;
	int32_t		bucket;
	fluss_range *ranges;		/* its own, ascending; times narrow them */
	int			nranges;
	bool		timed;			/* some range has a bound in time */
	int64_t		end;			/* pinned, or FLUSS_OFFSET_UNKNOWN */

	/* fetch cursor; fetch_range == nranges: nothing more to ask for */
	int			fetch_range;
	int64_t		fetch_offset;	/* next one wanted */
	bool		entered;		/* fetch_offset lies in ranges[fetch_range] */
	bool		progressed;		/* records of that range have arrived */
	bool		loss_reported;	/* for that range */

	/* read cursor */
	int			read_range;
	int64_t		read_offset;	/* records before it are not given again */

	bool		in_flight;
	bool		out_of_range;	/* error 19: ask what the bucket holds */
	bool		broken;			/* a header is not valid: reading will tell */
	int			stalls;			/* answers without progress, in a row */
	int64_t		least_bytes;	/* of its next batch, which an answer cut off; 0:
								 * none did */
	fetch_segments *segments;	/* NULL: the server is asked */
	int			missing;		/* segments that were not there, in a row */
	int64_t		served;			/* when it last got records, by scan->clock */

	/* fetching whole rows, although the scan has a projection */
	bool		whole;
	int			patience;		/* good answers until it ends */
	int			fallbacks;

	fluss_retry retry;
} fetch_bucket;

/* What the batches so far tell about their sizes. */
typedef struct fetch_sizes
{
	int64_t		bytes;
	int64_t		offsets;		/* covered by them */
	int64_t		batches;
} fetch_sizes;

/* What one answer brought for one bucket. */
typedef struct fetch_part
{
	fetch_bucket *bucket;
	bool		answered;
	fluss_bytes records;
	size_t		position;		/* of the next batch */
	size_t		end;			/* of the last whole batch */
	int64_t		first_size;		/* of a first batch that is not whole; 0: unknown */
} fetch_part;

typedef struct fetch_answer fetch_answer;
struct fetch_answer
{
	fetch_answer *next;
	fluss_arena arena;			/* parts and records */
	fluss_request *received;	/* holds the records, or NULL */
	/* both NULL: the answer is here */
	fluss_request *request;
	fluss_remote_read *read;	/* of part of a segment instead */
	const char *file;			/* of that segment; NULL: a server answered */
	int32_t		node;
	bool		whole;			/* rows with all their columns */
	int64_t		sent_ms;
	int64_t		bytes;			/* held, or at most asked for */
	fetch_part *parts;			/* in the order they were asked for */
	int			nparts;
	int			current;		/* part that is being read */
};

struct fluss_scan
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_client *client;
	fluss_table *table;
	fluss_ends *ends;
	fluss_scan_options options;
	fluss_counters counters;

	fetch_bucket *buckets;
	int			nbuckets;
	fetch_bucket **order;		/* scratch: buckets to ask for */
	fluss_fetch_bucket *asks;	/* scratch: the same for the encoder */
	const int32_t *projection;	/* ascending positions */
	int			nprojection;	/* 0: whole rows */
	const fluss_type **types;	/* of the wanted columns */
	fluss_projector projector;

	fetch_answer *answers;		/* oldest first */
	fetch_answer *spare;
	int			nrequests;		/* answers not here yet */
	int64_t		bytes;			/* of all answers, held or asked for */
	bool		some_out_of_range;
	fetch_sizes sizes;			/* of what servers answered */
	fetch_sizes remote_sizes;	/* of batches with all their columns */
	int64_t		clock;
	int64_t		first_bytes;	/* most of the next answer while the scan is new */
	int64_t		limit_budget;	/* of the next request under a row limit; 0: no
								 * limit, or it was passed by far */
	int64_t		rows_given;
	fluss_buf	body;

	fluss_loss *losses;			/* room for two a range */
	int			nlosses;
	int			next_loss;

	/* the batch being given */
	fluss_arena batch_arena;
	fluss_log_batch log_batch;
	fetch_bucket *reading;		/* its bucket; NULL: no batch is open */
	fluss_batch batch;
	fluss_column_view *views;
	int64_t		entered_ms;		/* when the caller came in */
	int64_t		left_ms;		/* when the caller went, the last time */
	size_t		unpumped;		/* bytes read since sockets were served */
};

/* in fetch_plan.c: no I/O */
bool		fluss_fetch_settle(fetch_bucket *bucket, fluss_loss *loss);
int64_t		fluss_fetch_range_end(const fetch_bucket *bucket,
								  const fluss_range *range);
int64_t		fluss_fetch_budget(const fetch_bucket *bucket,
							   const fetch_sizes *sizes, int64_t max_bytes,
							   bool *solo);
bool		fluss_fetch_clip(fetch_bucket *bucket, int64_t base_offset,
							 int32_t record_count, int32_t *first_row,
							 int32_t *end_row, bool *more);
void		fluss_fetch_stop(fetch_bucket *bucket, int64_t base_offset,
							 int64_t commit_timestamp_ms);
void		fluss_fetch_pass(fetch_bucket *bucket, int64_t next_offset,
							 int64_t commit_timestamp_ms);
int			fluss_fetch_projection(const fluss_table *table,
								   const int32_t *columns, int ncolumns,
								   int32_t *projection);

/* in fetch_send.c */
FLUSS_MUST_CHECK fluss_status fluss_fetch_send(fluss_scan *scan,
											   fluss_error *err);

void		fluss_fetch_note_sent(fluss_scan *scan);
int64_t		fluss_fetch_room(const fluss_scan *scan);
fetch_answer *fluss_fetch_new_answer(fluss_scan *scan, int32_t node,
									 int nparts, int64_t bytes);
bool		fluss_fetch_node_is_busy(const fluss_scan *scan, int32_t node);

/* in fetch_receive.c */
FLUSS_MUST_CHECK fluss_status fluss_fetch_receive(fluss_scan *scan,
												  fluss_error *err);
/* All buckets of a request that failed: again later, or FLUSS_OK is not given. */
FLUSS_MUST_CHECK fluss_status fluss_fetch_failed(fluss_scan *scan,
												 fetch_answer *answer,
												 const fluss_error *cause,
												 fluss_error *err);
/* Moves the bucket on, keeping what was lost for the caller. */
void		fluss_fetch_move_on(fluss_scan *scan, fetch_bucket *bucket,
								int64_t earliest);

/* The partition of the bucket is gone: gives up what it had left to ask for. */
void		fluss_fetch_dropped(fluss_scan *scan, fetch_bucket *bucket);

/* in fetch_remote.c */
/* Goes on by the segments that the answer names. */
FLUSS_MUST_CHECK fluss_status fluss_fetch_enter_remote(fluss_scan *scan,
													   fetch_bucket *bucket,
													   const fluss_fetch_result *result,
													   fluss_error *err);
/* Starts to read the next part, if the bucket still goes by its segments. */
FLUSS_MUST_CHECK fluss_status fluss_fetch_send_remote(fluss_scan *scan,
													  fetch_bucket *bucket,
													  fluss_error *err);
/* Takes in a part that has arrived or failed. */
FLUSS_MUST_CHECK fluss_status fluss_fetch_accept_remote(fluss_scan *scan,
														fetch_answer *answer,
														fluss_error *err);
void		fluss_fetch_leave_remote(fetch_bucket *bucket);

/* in fetch_read.c */
FLUSS_MUST_CHECK fluss_status fluss_fetch_read(fluss_scan *scan, bool *given,
											   fluss_error *err);

/* in fetch.c */
void		fluss_fetch_answer_free(fluss_scan *scan, fetch_answer *answer);

#endif							/* FLUSS_FETCH_H */
