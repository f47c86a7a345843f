/*
 * offsets.c
 *	  Questions to all leaders at once: offsets, and row counts.
 *
 * A round sends the requests of a question to each leader, about those of its
 * buckets that have no answer yet, and waits for all of them.  Rounds are
 * repeated, by the rules that all data paths share, until every bucket has its
 * answer, or until the time is up: then those that need none are unknown.
 *
 * Exact row counts take three requests.  A server counts the keys of a bucket
 * exactly as long as it leads it from the first record on.  A leader that has
 * recovered the bucket may count wrong: Fluss 0.9 can save a count in a
 * snapshot with the offset of an earlier state, and then counts the changes
 * between the two twice; and it starts from zero where a snapshot has no
 * count.  And a server that does not lead the bucket counts all the same, the
 * records of its log, while lookups are refused.  So it is asked for the count,
 * then to look up no key, and last where the log ended when it took over the
 * bucket for the last time.  The lookup shows that it led the bucket after it
 * had counted; zero after that, that it has led since the log was empty.  So
 * it either led when it counted, or there was nothing to count.  A server works
 * through the requests of a connection in their order.
 */
#include "client.h"
#include "retry.h"
#include "rpc.h"

typedef enum question_kind
{
	ASK_OFFSETS,
	ASK_LATEST,					/* for a time past the server's clock */
	ASK_COUNTS,
	ASK_EXACT_COUNTS
} question_kind;

#define MAX_STEPS	3

/* The requests that a question takes, in the order in which they are sent. */
typedef struct question_steps
{
	int			n;
	fluss_api	apis[MAX_STEPS];
} question_steps;

static const question_steps steps_of[] = {
	[ASK_OFFSETS] = {1, {FLUSS_API_LIST_OFFSETS}},
	[ASK_LATEST] = {1, {FLUSS_API_LIST_OFFSETS}},
	[ASK_COUNTS] = {1, {FLUSS_API_GET_TABLE_STATS}},
	[ASK_EXACT_COUNTS] = {3, {FLUSS_API_GET_TABLE_STATS, FLUSS_API_LOOKUP,
	FLUSS_API_LIST_OFFSETS}}
};

typedef struct asked_bucket
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		node;
	question_kind kind;
	bool		done;
	bool		sent;			/* in this round */
	bool		answered;		/* in this round, in whatever way */
	int			steps;			/* that went well in this round, in a row */
	int64_t		value;			/* that they have brought */
	int64_t    *result;
} asked_bucket;

typedef struct asked_leader
{
	fluss_request *requests[MAX_STEPS];
	int			nrequests;
	question_kind kind;
	asked_bucket *first;		/* that it asks about, ... */
	int			n;				/* ... of so many in a row */
} asked_leader;

typedef struct survey
{
	fluss_client *client;
	fluss_table *table;
	fluss_offset_kind offset_kind;
	int64_t		timestamp_ms;
	fluss_need	need;
	asked_bucket *buckets;
	int			nbuckets;
	asked_leader *leaders;		/* of this round */
	int			nleaders;
	int32_t    *numbers;		/* scratch: buckets of one request */
	fluss_counters *counters;	/* of what is sent and received, or NULL */
	fluss_retry retry;
	bool		failed;			/* something in this round has */
	fluss_error cause;			/* the first such failure */
} survey;

static void
note_failure(survey *s, const fluss_error *cause)
{
	if (!s->failed)
		s->cause = *cause;
	s->failed = true;
}

static void
finish_bucket(asked_bucket *bucket, int64_t result)
{
	*bucket->result = result;
	bucket->done = true;
}

/* ---- leaders */

/* An answer that need not be had is not, of a partition that is gone. */
static fluss_status
find_leaders(survey *s, fluss_error *err)
{
	int64_t		deadline_ms = fluss_retry_deadline(&s->retry, s->client);
	bool		asked = false;

	for (int i = 0; i < s->nbuckets; i++)
	{
		asked_bucket *bucket = &s->buckets[i];
		fluss_status status;

		if (i > 0 && bucket->partition_id != bucket[-1].partition_id)
			asked = false;
		if (bucket->done)
			continue;
		if (s->need == FLUSS_NEED_ALL)
			status = fluss_leader_find(s->client, s->table,
									   bucket->partition_id, bucket->bucket,
									   deadline_ms, &bucket->node, err);
		else
			status = fluss_leader_look(s->client, s->table,
									   bucket->partition_id, bucket->bucket,
									   &asked, deadline_ms, &bucket->node,
									   err);
		if (status != FLUSS_OK && s->need != FLUSS_NEED_ALL &&
			fluss_error_is_dropped_partition(err))
			bucket->node = -1;
		else if (status != FLUSS_OK)
			return status;
		if (bucket->node < 0)
			finish_bucket(bucket, FLUSS_OFFSET_UNKNOWN);
	}
	return FLUSS_OK;
}

/* ---- sending */

static fluss_status
encode_leader_check(const survey *s, const asked_bucket *first, int n,
					fluss_buf *out, fluss_error *err)
{
	const fluss_host *host = &s->client->host;
	fluss_lookup_ask *asks;
	fluss_arena scratch;
	fluss_status status;

	fluss_arena_init(&scratch, host);
	asks = fluss_arena_array(&scratch, n, sizeof(*asks));
	for (int i = 0; asks != NULL && i < n; i++)
		asks[i] = (fluss_lookup_ask) {
			.partition_id = first->partition_id,
			.bucket = s->numbers[i]
		};
	status = asks == NULL ? fluss_fail_memory(err) :
		fluss_rpc_encode_lookup(host, s->table->table_id, asks, n, out, err);
	fluss_arena_free(&scratch);
	return status;
}

/* Encodes a step of the question about the buckets of s->numbers. */
static fluss_status
encode(const survey *s, const asked_bucket *first, fluss_api api, int n,
	   fluss_buf *out, fluss_error *err)
{
	const fluss_host *host = &s->client->host;
	fluss_offset_kind kind = s->offset_kind;

	if (api == FLUSS_API_LOOKUP)
		return encode_leader_check(s, first, n, out, err);
	if (api == FLUSS_API_GET_TABLE_STATS)
		return fluss_rpc_encode_stats(host, s->table->table_id,
									  first->partition_id, s->numbers, n, out,
									  err);
	if (first->kind == ASK_LATEST)
		kind = FLUSS_OFFSET_LATEST;
	else if (first->kind == ASK_EXACT_COUNTS)
		kind = FLUSS_OFFSET_LEADER_START;
	return fluss_rpc_encode_list_offsets(host, s->table->table_id,
										 first->partition_id, kind,
										 s->timestamp_ms, s->numbers, n, out,
										 err);
}

static void
count_request(survey *s, fluss_api api)
{
	if (s->counters == NULL)
		return;
	s->counters->requests[api == FLUSS_API_LOOKUP ? FLUSS_REQUEST_LOOKUP :
						  api == FLUSS_API_GET_TABLE_STATS ?
						  FLUSS_REQUEST_STATS :
						  FLUSS_REQUEST_LIST_OFFSETS]++;
}

/* The requests of a question about the buckets of s->numbers. */
static fluss_status
send_steps(survey *s, const asked_bucket *first, int n, asked_leader *leader,
		   fluss_error *err)
{
	const question_steps *steps = &steps_of[first->kind];
	int64_t		deadline_ms = fluss_retry_deadline(&s->retry, s->client);
	fluss_status status = FLUSS_OK;

	for (int i = 0; status == FLUSS_OK && i < steps->n; i++)
	{
		fluss_buf	body;

		fluss_buf_init(&body, &s->client->host);
		status = encode(s, first, steps->apis[i], n, &body, err);
		if (status == FLUSS_OK)
			status = fluss_request_start(s->client, first->node,
										 steps->apis[i], body.data, body.size,
										 deadline_ms, &leader->requests[i],
										 err);
		fluss_buf_free(&body);
		if (status != FLUSS_OK)
			break;
		leader->nrequests++;
		count_request(s, steps->apis[i]);
	}
	return status;
}

static void
free_requests(asked_leader *leader)
{
	for (int i = 0; i < leader->nrequests; i++)
		fluss_request_free(leader->requests[i]);
	leader->nrequests = 0;
}

/*
 * Asks about everything that goes the way of the given bucket; what is about
 * one partition stands in a row.
 */
static fluss_status
send_like(survey *s, asked_bucket *first, fluss_error *err)
{
	asked_leader *leader = &s->leaders[s->nleaders];
	asked_bucket *end = s->buckets + s->nbuckets;
	asked_bucket *bucket;
	int			n = 0;
	fluss_status status;

	for (bucket = first; bucket < end &&
		 bucket->partition_id == first->partition_id; bucket++)
	{
		if (bucket->done || bucket->node != first->node ||
			bucket->kind != first->kind)
			continue;
		s->numbers[n++] = bucket->bucket;
		bucket->sent = true;
		bucket->answered = false;
		bucket->steps = 0;
	}
	leader->kind = first->kind;
	leader->first = first;
	leader->n = (int) (bucket - first);
	leader->nrequests = 0;
	status = send_steps(s, first, n, leader, err);
	if (status == FLUSS_OK)
		s->nleaders++;
	else
		free_requests(leader);
	return status;
}

static fluss_status
send_all(survey *s, fluss_error *err)
{
	s->nleaders = 0;
	for (int i = 0; i < s->nbuckets; i++)
		s->buckets[i].sent = false;
	for (int i = 0; i < s->nbuckets; i++)
	{
		fluss_status status;

		if (s->buckets[i].done || s->buckets[i].sent)
			continue;
		status = send_like(s, &s->buckets[i], err);
		if (fluss_status_is_network(status))
			note_failure(s, err);
		else if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

/* ---- answers */

static void
fail_bucket(survey *s, int32_t bucket, int code, const char *text)
{
	fluss_error cause;

	(void) fluss_fail_server(&cause, code, text,
							 text != NULL ? strlen(text) : 0,
							 "list offsets of bucket %d of table \"%s\" in Fluss database \"%s\"",
							 bucket, s->table->name, s->table->database);
	note_failure(s, &cause);
}

/* A time past the server's clock is asked again as "latest". */
static void
take_offset(survey *s, asked_bucket *bucket, const fluss_offset_result *result)
{
	if (result->error_code == 0)
		finish_bucket(bucket, result->offset);
	else if (result->error_code == FLUSS_CODE_INVALID_TIMESTAMP &&
			 bucket->kind == ASK_OFFSETS &&
			 s->offset_kind == FLUSS_OFFSET_AT_TIMESTAMP)
		bucket->kind = ASK_LATEST;
	else
		fail_bucket(s, bucket->bucket, result->error_code,
					result->error_message);
}

/*
 * A step of a count: the last one brings the answer, if all were good.  What
 * the server does not tell for good is not known.
 */
static void
take_step(survey *s, asked_bucket *bucket, int step, int code,
		  const char *text, bool good)
{
	/* an earlier one failed, and says why */
	if (bucket->steps != step)
		return;
	if (code != 0 && fluss_code_to_action(code) != FLUSS_ACTION_FAIL)
		fail_bucket(s, bucket->bucket, code, text);
	else if (code != 0 || !good)
		finish_bucket(bucket, FLUSS_OFFSET_UNKNOWN);
	else if (++bucket->steps == steps_of[bucket->kind].n)
		finish_bucket(bucket, bucket->value);
	else
		return;
	bucket->answered = true;
}

/* The bucket that an answer is about, if it was asked for. */
static asked_bucket *
find_asked(const asked_leader *leader, int32_t number)
{
	for (int i = 0; i < leader->n; i++)
	{
		asked_bucket *bucket = &leader->first[i];

		if (!bucket->done && bucket->sent && bucket->kind == leader->kind &&
			bucket->node == leader->first->node && bucket->bucket == number)
			return bucket;
	}
	return NULL;
}

static fluss_status
read_offsets(survey *s, const asked_leader *leader, int step,
			 fluss_arena *arena, fluss_error *err)
{
	fluss_offset_result *results;
	int			nresults;
	fluss_status status;

	status = fluss_rpc_decode_list_offsets(arena,
										   fluss_request_answer(leader->requests[step]),
										   &results, &nresults, err);
	for (int i = 0; status == FLUSS_OK && i < nresults; i++)
	{
		const fluss_offset_result *result = &results[i];
		asked_bucket *bucket = find_asked(leader, result->bucket);

		if (bucket == NULL)
			continue;
		if (leader->kind == ASK_EXACT_COUNTS)
		{
			take_step(s, bucket, step, result->error_code,
					  result->error_message, result->offset == 0);
			continue;
		}
		bucket->answered = true;
		if (result->error_code == 0 && result->offset < 0)
			return fluss_fail(err, FLUSS_MALFORMED,
							  "malformed LIST_OFFSETS answer from Fluss: bucket %d has a negative offset",
							  (int) result->bucket);
		take_offset(s, bucket, result);
	}
	return status;
}

static fluss_status
read_counts(survey *s, const asked_leader *leader, int step,
			fluss_arena *arena, fluss_error *err)
{
	fluss_stats_result *results;
	int			nresults;
	fluss_status status;

	status = fluss_rpc_decode_stats(arena,
									fluss_request_answer(leader->requests[step]),
									&results, &nresults, err);
	for (int i = 0; status == FLUSS_OK && i < nresults; i++)
	{
		const fluss_stats_result *result = &results[i];
		asked_bucket *bucket = find_asked(leader, result->bucket);

		if (bucket == NULL)
			continue;
		bucket->value = result->row_count;
		take_step(s, bucket, step, result->error_code, result->error_message,
				  result->row_count >= 0);
	}
	return status;
}

static fluss_status
read_leader_check(survey *s, const asked_leader *leader, int step,
				  fluss_arena *arena, fluss_error *err)
{
	fluss_lookup_result *results;
	int			nresults;
	fluss_status status;

	status = fluss_rpc_decode_lookup(arena,
									 fluss_request_answer(leader->requests[step]),
									 &results, &nresults, err);
	for (int i = 0; status == FLUSS_OK && i < nresults; i++)
	{
		asked_bucket *bucket = find_asked(leader, results[i].bucket);

		if (bucket != NULL)
			take_step(s, bucket, step, results[i].error_code,
					  results[i].error_message, true);
	}
	return status;
}

static fluss_status
read_answer(survey *s, const asked_leader *leader, int step, fluss_error *err)
{
	fluss_arena arena;
	fluss_status status;

	if (s->counters != NULL)
		s->counters->bytes +=
			(int64_t) fluss_request_answer(leader->requests[step]).size;
	fluss_arena_init(&arena, &s->client->host);
	switch (steps_of[leader->kind].apis[step])
	{
		case FLUSS_API_LOOKUP:
			status = read_leader_check(s, leader, step, &arena, err);
			break;
		case FLUSS_API_GET_TABLE_STATS:
			status = read_counts(s, leader, step, &arena, err);
			break;
		default:
			status = read_offsets(s, leader, step, &arena, err);
			break;
	}
	fluss_arena_free(&arena);
	return status;
}

static fluss_status
receive_steps(survey *s, const asked_leader *leader, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	for (int i = 0; status == FLUSS_OK && i < leader->nrequests; i++)
	{
		status = fluss_cluster_wait(s->client, leader->requests[i], err);
		if (status == FLUSS_OK)
			status = read_answer(s, leader, i, err);
		else if (fluss_status_is_network(status) ||
				 status == FLUSS_SERVER_ERROR ||
				 (status == FLUSS_TIMED_OUT && s->need == FLUSS_NEED_ANSWERED))
		{
			note_failure(s, err);
			status = FLUSS_OK;
		}
	}
	return status;
}

static fluss_status
receive_all(survey *s, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	for (int i = 0; status == FLUSS_OK && i < s->nleaders; i++)
		status = receive_steps(s, &s->leaders[i], err);
	for (int i = 0; i < s->nleaders; i++)
		free_requests(&s->leaders[i]);
	s->nleaders = 0;
	return status;
}

/* ---- rounds */

static bool
all_done(const survey *s)
{
	for (int i = 0; i < s->nbuckets; i++)
	{
		if (!s->buckets[i].done)
			return false;
	}
	return true;
}

/* A leader that may do better another time. */
static bool
is_passing(const fluss_error *cause)
{
	return fluss_status_is_network(cause->status) ||
		cause->status == FLUSS_TIMED_OUT ||
		(cause->status == FLUSS_SERVER_ERROR &&
		 fluss_code_to_action(cause->server_code) != FLUSS_ACTION_FAIL);
}

static fluss_status
give_up(survey *s, const fluss_error *cause)
{
	if (s->need != FLUSS_NEED_ANSWERED || !is_passing(cause))
		return cause->status;
	for (int i = 0; i < s->nbuckets; i++)
	{
		if (!s->buckets[i].done)
			finish_bucket(&s->buckets[i], FLUSS_OFFSET_UNKNOWN);
	}
	return FLUSS_OK;
}

/* A bucket that an answer left out counts as one that the server lacks. */
static fluss_status
after_round(survey *s, fluss_error *err)
{
	fluss_status status;

	for (int i = 0; !s->failed && i < s->nbuckets; i++)
	{
		const asked_bucket *bucket = &s->buckets[i];

		if (!bucket->done && !bucket->answered)
			fail_bucket(s, bucket->bucket, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET,
						NULL);
	}
	if (!s->failed)
		return FLUSS_OK;
	s->failed = false;
	if (s->cause.status == FLUSS_TIMED_OUT)
	{
		*err = s->cause;
		return give_up(s, err);
	}
	status = fluss_retry_note(&s->retry, s->client, s->table, &s->cause, err);
	if (status != FLUSS_OK)
		return give_up(s, err);
	return fluss_cluster_sleep(s->client,
							   s->retry.next_ms - fluss_client_now(s->client),
							   err);
}

static fluss_status
run_rounds(survey *s, fluss_error *err)
{
	while (!all_done(s))
	{
		fluss_status status = find_leaders(s, err);

		if (fluss_status_is_network(status) && s->need != FLUSS_NEED_ALL)
			note_failure(s, err);
		else if (status != FLUSS_OK)
			return status;
		else
		{
			status = send_all(s, err);
			if (status == FLUSS_OK)
				status = receive_all(s, err);
			if (status != FLUSS_OK)
				return status;
		}
		if (all_done(s))
			break;
		status = after_round(s, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

/* Makes room for n questions. */
static fluss_status
open_survey(survey *s, fluss_arena *scratch, int n, fluss_error *err)
{
	fluss_retry_clear(&s->retry);
	fluss_arena_init(scratch, &s->client->host);
	s->buckets = fluss_arena_array(scratch, n, sizeof(*s->buckets));
	s->leaders = fluss_arena_array(scratch, n, sizeof(*s->leaders));
	s->numbers = fluss_arena_array(scratch, n, sizeof(*s->numbers));
	if (s->buckets != NULL && s->leaders != NULL && s->numbers != NULL)
		return FLUSS_OK;
	fluss_arena_free(scratch);
	return fluss_fail_memory(err);
}

static void
add_question(survey *s, question_kind kind, int64_t partition_id,
			 int32_t bucket, int64_t *result)
{
	asked_bucket *asked = &s->buckets[s->nbuckets++];

	asked->partition_id = partition_id;
	asked->bucket = bucket;
	asked->kind = kind;
	asked->result = result;
}

/* Asks, and frees what open_survey made. */
static fluss_status
run_survey(survey *s, fluss_arena *scratch, fluss_error *err)
{
	fluss_status status;

	fluss_table_retain(s->table);
	status = run_rounds(s, err);
	fluss_table_release(s->table);
	for (int i = 0; i < s->nleaders; i++)
		free_requests(&s->leaders[i]);
	fluss_arena_free(scratch);
	return status;
}

fluss_status
fluss_list_offsets(fluss_client *client, fluss_table *table,
				   fluss_offset_kind kind, int64_t timestamp_ms,
				   int64_t partition_id, const int32_t *buckets, int nbuckets,
				   fluss_need need, int64_t *offsets, fluss_error *err)
{
	survey		s = {
		.client = client,
		.table = table,
		.offset_kind = kind,
		.timestamp_ms = timestamp_ms,
		.need = need
	};
	fluss_arena scratch;
	fluss_status status = open_survey(&s, &scratch, nbuckets, err);

	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < nbuckets; i++)
		add_question(&s, ASK_OFFSETS, partition_id, buckets[i], &offsets[i]);
	return run_survey(&s, &scratch, err);
}

/* One question brings the leaders of all of them. */
static void
expect_partitions(fluss_table *table, const fluss_bucket_ref *buckets, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (i == 0 || buckets[i].partition_id != buckets[i - 1].partition_id)
			fluss_leader_expect(table, buckets[i].partition_id);
	}
}

static fluss_status
count_rows(survey *s, question_kind kind, const fluss_bucket_ref *buckets,
		   int n, int64_t *counts, fluss_error *err)
{
	fluss_arena scratch;
	fluss_status status = open_survey(s, &scratch, n, err);

	if (status != FLUSS_OK)
		return status;
	expect_partitions(s->table, buckets, n);
	for (int i = 0; i < n; i++)
		add_question(s, kind, buckets[i].partition_id, buckets[i].bucket,
					 &counts[i]);
	status = run_survey(s, &scratch, err);

	/* an older server has no statistics at all */
	if (status != FLUSS_UNSUPPORTED)
		return status;
	for (int i = 0; i < n; i++)
		counts[i] = FLUSS_OFFSET_UNKNOWN;
	return FLUSS_OK;
}

fluss_status
fluss_table_row_counts(fluss_client *client, fluss_table *table,
					   int64_t partition_id, const int32_t *buckets,
					   int nbuckets, int64_t *counts, fluss_error *err)
{
	survey		s = {.client = client, .table = table, .need = FLUSS_NEED_ANSWERED};
	fluss_arena scratch;
	fluss_bucket_ref *refs;
	fluss_status status;

	fluss_arena_init(&scratch, &client->host);
	refs = fluss_arena_array(&scratch, nbuckets, sizeof(*refs));
	if (refs == NULL)
	{
		fluss_arena_free(&scratch);
		return fluss_fail_memory(err);
	}
	for (int i = 0; i < nbuckets; i++)
	{
		refs[i].partition_id = partition_id;
		refs[i].bucket = buckets[i];
	}
	status = count_rows(&s, ASK_COUNTS, refs, nbuckets, counts, err);
	fluss_arena_free(&scratch);
	return status;
}

fluss_status
fluss_bucket_row_counts(fluss_client *client, fluss_table *table,
						const fluss_bucket_ref *buckets, int n,
						int64_t *counts, fluss_error *err)
{
	survey		s = {.client = client, .table = table, .need = FLUSS_NEED_LED};

	return count_rows(&s, ASK_COUNTS, buckets, n, counts, err);
}

fluss_status
fluss_exact_row_counts(fluss_client *client, fluss_table *table,
					   const fluss_bucket_ref *buckets, int n,
					   int64_t *counts, fluss_counters *counters,
					   fluss_error *err)
{
	survey		s = {
		.client = client,
		.table = table,
		.need = FLUSS_NEED_LED,
		.counters = counters
	};

	return count_rows(&s, ASK_EXACT_COUNTS, buckets, n, counts, err);
}

fluss_status
fluss_bucket_spans(fluss_client *client, fluss_table *table,
				   const fluss_bucket_ref *buckets, int n, int64_t *earliest,
				   int64_t *latest, fluss_error *err)
{
	survey		s = {
		.client = client,
		.table = table,
		.offset_kind = FLUSS_OFFSET_EARLIEST,
		.need = FLUSS_NEED_LED
	};
	fluss_arena scratch;
	fluss_status status = open_survey(&s, &scratch, 2 * n, err);

	if (status != FLUSS_OK)
		return status;
	expect_partitions(table, buckets, n);
	for (int i = 0; i < n; i++)
	{
		add_question(&s, ASK_OFFSETS, buckets[i].partition_id,
					 buckets[i].bucket, &earliest[i]);
		add_question(&s, ASK_LATEST, buckets[i].partition_id,
					 buckets[i].bucket, &latest[i]);
	}
	return run_survey(&s, &scratch, err);
}
