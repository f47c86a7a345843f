/*
 * offsets.c
 *	  Questions to all leaders at once: offsets, and row counts.
 *
 * A round sends one request to each leader, about those of its buckets that
 * have no answer yet, and waits for all of them.  Rounds are repeated, by the
 * rules that all data paths share, until every bucket has its answer, or until
 * the time is up: then those that need none are unknown.
 */
#include "client.h"
#include "retry.h"
#include "rpc.h"

typedef enum question_kind
{
	ASK_OFFSETS,
	ASK_LATEST,					/* for a time past the server's clock */
	ASK_COUNTS
} question_kind;

typedef struct asked_bucket
{
	int64_t		partition_id;
	int32_t		bucket;
	int32_t		node;
	question_kind kind;
	bool		done;
	bool		sent;			/* in this round */
	bool		answered;		/* in this round, in whatever way */
	int64_t    *result;
} asked_bucket;

typedef struct asked_leader
{
	fluss_request *request;
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
encode(const survey *s, const asked_bucket *first, int n, fluss_buf *out,
	   fluss_error *err)
{
	const fluss_host *host = &s->client->host;

	if (first->kind == ASK_COUNTS)
		return fluss_rpc_encode_stats(host, s->table->table_id,
									  first->partition_id, s->numbers, n, out,
									  err);
	return fluss_rpc_encode_list_offsets(host, s->table->table_id,
										 first->partition_id,
										 first->kind == ASK_LATEST ?
										 FLUSS_OFFSET_LATEST : s->offset_kind,
										 s->timestamp_ms, s->numbers, n, out,
										 err);
}

/*
 * One request with everything that goes the way of the given bucket; what is
 * about one partition stands in a row.
 */
static fluss_status
send_like(survey *s, asked_bucket *first, fluss_error *err)
{
	int32_t		node = first->node;
	question_kind kind = first->kind;
	asked_leader *leader = &s->leaders[s->nleaders];
	asked_bucket *end = s->buckets + s->nbuckets;
	asked_bucket *bucket;
	fluss_buf	body;
	int			n = 0;
	fluss_status status;

	for (bucket = first; bucket < end &&
		 bucket->partition_id == first->partition_id; bucket++)
	{
		if (bucket->done || bucket->node != node || bucket->kind != kind)
			continue;
		s->numbers[n++] = bucket->bucket;
		bucket->sent = true;
		bucket->answered = false;
	}
	fluss_buf_init(&body, &s->client->host);
	status = encode(s, first, n, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_start(s->client, node, kind == ASK_COUNTS ?
									 FLUSS_API_GET_TABLE_STATS :
									 FLUSS_API_LIST_OFFSETS,
									 body.data, body.size,
									 fluss_retry_deadline(&s->retry, s->client),
									 &leader->request, err);
	fluss_buf_free(&body);
	if (status == FLUSS_OK)
	{
		leader->kind = kind;
		leader->first = first;
		leader->n = (int) (bucket - first);
		s->nleaders++;
	}
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

/* What the server does not count for good is not known. */
static void
take_count(survey *s, asked_bucket *bucket, const fluss_stats_result *result)
{
	if (result->error_code == 0 ||
		fluss_code_to_action(result->error_code) == FLUSS_ACTION_FAIL)
		finish_bucket(bucket, result->row_count);
	else
		fail_bucket(s, bucket->bucket, result->error_code,
					result->error_message);
}

static fluss_status
read_offsets(survey *s, const asked_leader *leader, fluss_arena *arena,
			 fluss_error *err)
{
	asked_bucket *asked = leader->first;
	fluss_offset_result *results;
	int			nresults;
	fluss_status status;

	status = fluss_rpc_decode_list_offsets(arena,
										   fluss_request_answer(leader->request),
										   &results, &nresults, err);
	for (int i = 0; status == FLUSS_OK && i < nresults; i++)
	{
		for (int j = 0; j < leader->n; j++)
		{
			asked_bucket *bucket = &asked[j];

			if (!bucket->done && bucket->kind == leader->kind &&
				bucket->bucket == results[i].bucket)
			{
				bucket->answered = true;
				take_offset(s, bucket, &results[i]);
			}
		}
	}
	return status;
}

static fluss_status
read_counts(survey *s, const asked_leader *leader, fluss_arena *arena,
			fluss_error *err)
{
	asked_bucket *asked = leader->first;
	fluss_stats_result *results;
	int			nresults;
	fluss_status status;

	status = fluss_rpc_decode_stats(arena,
									fluss_request_answer(leader->request),
									&results, &nresults, err);
	for (int i = 0; status == FLUSS_OK && i < nresults; i++)
	{
		for (int j = 0; j < leader->n; j++)
		{
			asked_bucket *bucket = &asked[j];

			if (!bucket->done && bucket->bucket == results[i].bucket)
			{
				bucket->answered = true;
				take_count(s, bucket, &results[i]);
			}
		}
	}
	return status;
}

static fluss_status
read_answer(survey *s, const asked_leader *leader, fluss_error *err)
{
	fluss_arena arena;
	fluss_status status;

	fluss_arena_init(&arena, &s->client->host);
	status = leader->kind == ASK_COUNTS ?
		read_counts(s, leader, &arena, err) :
		read_offsets(s, leader, &arena, err);
	fluss_arena_free(&arena);
	return status;
}

static fluss_status
receive_all(survey *s, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	for (int i = 0; status == FLUSS_OK && i < s->nleaders; i++)
	{
		status = fluss_cluster_wait(s->client, s->leaders[i].request, err);
		if (status == FLUSS_OK)
			status = read_answer(s, &s->leaders[i], err);
		else if (fluss_status_is_network(status) ||
				 status == FLUSS_SERVER_ERROR ||
				 (status == FLUSS_TIMED_OUT && s->need == FLUSS_NEED_ANSWERED))
		{
			note_failure(s, err);
			status = FLUSS_OK;
		}
	}
	for (int i = 0; i < s->nleaders; i++)
		fluss_request_free(s->leaders[i].request);
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
		fluss_request_free(s->leaders[i].request);
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
count_rows(survey *s, const fluss_bucket_ref *buckets, int n, int64_t *counts,
		   fluss_error *err)
{
	fluss_arena scratch;
	fluss_status status = open_survey(s, &scratch, n, err);

	if (status != FLUSS_OK)
		return status;
	expect_partitions(s->table, buckets, n);
	for (int i = 0; i < n; i++)
		add_question(s, ASK_COUNTS, buckets[i].partition_id,
					 buckets[i].bucket, &counts[i]);
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
	status = count_rows(&s, refs, nbuckets, counts, err);
	fluss_arena_free(&scratch);
	return status;
}

fluss_status
fluss_bucket_row_counts(fluss_client *client, fluss_table *table,
						const fluss_bucket_ref *buckets, int n,
						int64_t *counts, fluss_error *err)
{
	survey		s = {.client = client, .table = table, .need = FLUSS_NEED_LED};

	return count_rows(&s, buckets, n, counts, err);
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
