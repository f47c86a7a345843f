/*
 * fake_cluster.h
 *	  cluster.h over a simulated server, for tests of the data paths.
 *
 * What is linked with it gets its functions instead of the real ones.  The
 * server keeps the rules that the data paths rely on: at least one whole batch
 * to the first bucket that has any, torn batches at the end of raw answers,
 * positions checked against each batch's own schema, the last five batches of a
 * writer remembered.
 *
 * Requests are processed in order when they are started; answers are given
 * out by fluss_cluster_poll, one at a time.  Faults are injected by number or
 * at random.  Only waiting moves the test host's clock.
 */
#ifndef FLUSS_FAKE_CLUSTER_H
#define FLUSS_FAKE_CLUSTER_H

#include "support.h"
#include "buf.h"
#include "cluster.h"

#define FAKE_MAX_BUCKETS	8
#define FAKE_MAX_BATCHES	4096
#define FAKE_MAX_ROWS		200000
#define FAKE_MAX_ERRORS		64
#define FAKE_TIMEOUT_MS		30000

struct fluss_client
{
	fluss_config config;
	fluss_writer *writers;
	fluss_error failure;
};

struct fluss_request
{
	fluss_request *next;
	fluss_request_state state;
	fluss_api	api;
	int32_t		node;
	fluss_buf	answer;
	fluss_error error;
	bool		sent_maybe;
	int64_t		deadline_ms;
	bool		lost;			/* ends with an error instead of an answer */
	bool		refused;		/* the server does not offer it */
};

typedef struct fake_batch
{
	int64_t		base;
	int32_t		count;			/* 0: takes one offset */
	int32_t		schema_id;
	bool		no_projection;	/* foreign layout: a projection fails, -1 */
} fake_batch;

typedef struct fake_writer
{
	int64_t		id;
	int32_t		next;			/* sequence */
	struct
	{
		int32_t		sequence;
		int64_t		base;
	}			last[5];
	int			nlast;
} fake_writer;

typedef struct fake_bucket
{
	int32_t		leader;
	int64_t		log_start;
	int64_t		high_watermark; /* -1: at the end */
	int64_t		lake_below;		/* offsets below come back empty */
	int64_t		remote_below;	/* offsets below lie in remote storage */
	fake_batch	batches[FAKE_MAX_BATCHES];
	int			nbatches;
	int64_t		end;
	int			errors[FAKE_MAX_ERRORS];	/* for the next requests */
	int			nerrors;
	int			next_error;
	int64_t    *ids;			/* of the rows written */
	int			nids;
	fake_writer writers[64];
	int			nwriters;
} fake_bucket;

typedef struct fake_cluster
{
	fluss_client client;
	fluss_table table;
	fluss_schema schemas[3];	/* by id */
	fake_bucket buckets[FAKE_MAX_BUCKETS];
	fluss_request *pending;
	int			live_requests;

	/* faults */
	unsigned	random;
	int			fault_percent;	/* of requests and of answers */
	int			lose_request;	/* the n-th from now: 1 the next */
	int			interrupt_poll;
	bool		made_again;		/* the table */
	int			hidden_rows;	/* that a limit scan does not count */
	bool		silent;			/* no answers any more */
	int			swallow;		/* so many answers never come */
	int			oversleep_ms;	/* a sleep takes so much longer */
	/* answers what the fake itself does not know, or fails the request */
	bool		(*handler) (fluss_request *request, const uint8_t *body,
							size_t size);

	/* a fetch is answered from its last bucket to its first */
	bool		backwards;
	/* a fetch may end within its first batch */
	bool		cuts_first_batch;

	/* what was seen */
	int			nrequests;
	int			inflight;
	int			max_inflight;
	int			nlist_offsets;
	int			nforgets;
	int			last_nbuckets;	/* of a fetch */
	int32_t		last_max_bytes;
	int			last_nprojection;
	int			last_nkeys;
	int64_t		highest_asked;	/* offset of a fetch */
	bool		sorted;			/* every key list so far was */
	int64_t		bytes_sent;		/* records in answers */

	int64_t		writer_id;
	int64_t		next_writer_id;
	int32_t		sequences[FAKE_MAX_BUCKETS];
	struct
	{
		int64_t		writer_id;
		int32_t		sequence;
	}			acked[FAKE_MAX_BUCKETS];
} fake_cluster;

extern fake_cluster fake;

/* ---- setting up */

/*
 * A server, and a table with so many buckets: (id BIGINT NOT NULL, twice
 * BIGINT, name STRING), of which schema 1 lacks "name"; keyed: by "id".
 * Forgets whatever a test before left.
 */
void fake_start(int nbuckets, bool keyed);
/* Gives back what that took. */
void fake_end(void);
/* One more batch of a log; count 0: it has no rows and takes one offset. */
void fake_append(int bucket, int32_t count, int32_t schema_id);
/* The bucket's next request that is not told so already fails with it. */
void fake_error(int bucket, int code);

/* ---- what the parts of the server share */

/* The server's own memory: failing allocations are the client's business. */
const fluss_host *fake_host(void);
/* True for so many calls of a hundred. */
bool fake_chance(int percent);
/* The error to answer for a bucket with, or 0. */
int fake_take_error(fake_bucket *bucket);
int64_t fake_high_watermark(const fake_bucket *bucket);
/* Row number n: name is NULL where n is a multiple of seven. */
void fake_row(int64_t n, int32_t ncolumns, fluss_value *row, char name[24]);
/* Appends the batch as a log has it; fields NULL: all of them. */
void fake_write_batch(const fake_batch *batch, const int32_t *fields,
					  int nfields, fluss_buf *out);
/* Answers a request of the data paths; false: it is none. */
bool fake_answer(fluss_request *request, const uint8_t *body, size_t size);

#endif							/* FLUSS_FAKE_CLUSTER_H */
