/*
 * fetch_send.c
 *	  Which buckets of a log scan go into which request, and when.
 *
 * A request carries all idle buckets of one leader, those that waited longest
 * for records first: the server fills its answer in that order.  It goes out
 * as soon as the leader has fewer than fetch_inflight answers asked for or
 * held, and as the bytes of all answers allow.  The first answers are smaller:
 * decoding begins early, and who wants few rows does not pay for many.  Under a
 * row limit there is only one request at a time, smaller still.
 */
#include <stdlib.h>

#include "error.h"
#include "fetch.h"

/*
 * No request asks for less: a limit that is no larger than the header of a
 * batch brings nothing where the log goes on with batches of no records, as a
 * changelog does after writes without effect.
 */
#define MIN_BYTES	((int64_t) 256)

static bool
wants_request(const fetch_bucket *bucket, int64_t now)
{
	return bucket->fetch_range < bucket->nranges && !bucket->in_flight &&
		!bucket->broken && !bucket->out_of_range &&
		bucket->retry.next_ms <= now;
}

/* Another scan of the scope may have pinned the end since we looked. */
static void
look_for_end(fluss_scan *scan, fetch_bucket *bucket)
{
	int64_t		end;

	if (bucket->end == FLUSS_OFFSET_UNKNOWN &&
		fluss_ends_get(scan->ends, bucket->partition_id, bucket->bucket, &end))
		bucket->end = end;
	fluss_fetch_move_on(scan, bucket, FLUSS_OFFSET_UNKNOWN);
}

static int
compare_served(const void *a, const void *b)
{
	const fetch_bucket *x = *(fetch_bucket *const *) a;
	const fetch_bucket *y = *(fetch_bucket *const *) b;

	if (x->served != y->served)
		return x->served < y->served ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int
collect(fluss_scan *scan)
{
	int64_t		now = scan->host.now_ms(scan->host.arg);
	int			n = 0;

	for (int i = 0; i < scan->nbuckets; i++)
	{
		fetch_bucket *bucket = &scan->buckets[i];

		if (!wants_request(bucket, now))
			continue;
		look_for_end(scan, bucket);
		if (wants_request(bucket, now))
			scan->order[n++] = bucket;
	}
	qsort(scan->order, (size_t) n, sizeof(fetch_bucket *), compare_served);
	return n;
}

/* It has as many answers as may be asked for or held. */
bool
fluss_fetch_node_is_busy(const fluss_scan *scan, int32_t node)
{
	int			n = 0;

	for (fetch_answer *a = scan->answers; a != NULL; a = a->next)
	{
		if (a->node == node)
			n++;
	}
	return n >= scan->options.fetch_inflight;
}

/* Bytes of the next answer under a row limit. */
static int64_t
limit_bytes(const fluss_scan *scan)
{
	const fetch_sizes *sizes = &scan->sizes;
	int64_t		missing = scan->options.row_limit - scan->rows_given;
	double		bytes = 0;

	if (sizes->offsets > 0 && missing > 0)
		bytes = (double) missing * (double) sizes->bytes /
			(double) sizes->offsets;
	if (bytes > (double) INT32_MAX)
		return INT32_MAX;
	return bytes > (double) scan->limit_budget ?
		(int64_t) bytes : scan->limit_budget;
}

/* Most bytes that the next answer may have; 0: none now. */
int64_t
fluss_fetch_room(const fluss_scan *scan)
{
	int64_t		room = scan->options.max_buffered_bytes - scan->bytes;
	int64_t		most = scan->options.fetch_max_bytes;

	if (most > scan->first_bytes)
		most = scan->first_bytes;
	if (scan->limit_budget > 0)
	{
		if (scan->answers != NULL)
			return 0;
		if (most > limit_bytes(scan))
			most = limit_bytes(scan);
	}
	if (room >= most)
		return most;
	/* one answer there must be; others only when they are worth it */
	if (scan->answers == NULL)
		return room > 0 ? room : 1;
	return room >= most / 2 ? room : 0;
}

/* After a request under a row limit: the next one asks for more. */
static void
grow_limit_budget(fluss_scan *scan)
{
	int64_t		budget = scan->limit_budget;

	if (budget == 0)
		return;
	if (scan->sizes.batches > 0)
	{
		int64_t		batch = scan->sizes.bytes / scan->sizes.batches;

		if (budget < batch)
			budget = batch;
	}
	scan->limit_budget =
		budget >= scan->options.fetch_max_bytes / 2 ? 0 : budget * 2;
}

/* One more answer is under way; the next one may be larger. */
void
fluss_fetch_note_sent(fluss_scan *scan)
{
	scan->nrequests++;
	if (scan->first_bytes < scan->options.fetch_max_bytes)
		scan->first_bytes *= 4;
	grow_limit_budget(scan);
}

static void
append_answer(fluss_scan *scan, fetch_answer *answer)
{
	fetch_answer **tail = &scan->answers;

	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = answer;
	answer->next = NULL;
	scan->bytes += answer->bytes;
}

/* An answer of so many bytes at most, the last of the list; or NULL. */
fetch_answer *
fluss_fetch_new_answer(fluss_scan *scan, int32_t node, int nparts,
					   int64_t bytes)
{
	fetch_answer *answer = scan->spare;
	fluss_arena arena;

	if (answer == NULL)
	{
		answer = fluss_arena_alloc0(&scan->arena, sizeof(fetch_answer));
		if (answer == NULL)
			return NULL;
		fluss_arena_init(&answer->arena, &scan->host);
	}
	else
		scan->spare = answer->next;
	arena = answer->arena;
	*answer = (fetch_answer) {.arena = arena, .node = node, .bytes = bytes};
	answer->parts = fluss_arena_array(&answer->arena, (size_t) nparts,
									  sizeof(fetch_part));
	if (answer->parts == NULL)
	{
		answer->next = scan->spare;
		scan->spare = answer;
		return NULL;
	}
	answer->nparts = nparts;
	append_answer(scan, answer);
	return answer;
}

#define NO_NODE		(-1)

/* The bucket's leader; NO_NODE: it went with its partition. */
static fluss_status
find_leader(fluss_scan *scan, fetch_bucket *bucket, int32_t *node,
			fluss_error *err)
{
	fluss_status status;

	status = fluss_retry_find_leader(&bucket->retry, scan->client, scan->table,
									 bucket->partition_id, bucket->bucket,
									 node, err);
	if (status == FLUSS_OK || !fluss_error_is_dropped_partition(err))
		return status;
	fluss_fetch_dropped(scan, bucket);
	*node = NO_NODE;
	return FLUSS_OK;
}

static int64_t
at_least(int64_t bytes, int64_t least)
{
	return bytes < least ? least : bytes;
}

/*
 * Moves to order[0 .. n) what goes into one request with order[0], whose
 * leader is node, and fills asks.  *max_bytes is cut to what they ask for.
 */
static fluss_status
choose_buckets(fluss_scan *scan, fetch_bucket **order, int norder,
			   int32_t node, int64_t *max_bytes, int *n, fluss_error *err)
{
	int64_t		bucket_bytes = scan->options.fetch_max_bytes_for_bucket;
	int64_t		total = 0;

	if (bucket_bytes > *max_bytes)
		bucket_bytes = *max_bytes;
	*n = 0;
	for (int i = 0; i < norder; i++)
	{
		fetch_bucket *bucket = order[i];
		int32_t		leader = node;
		int64_t		budget;
		bool		solo;
		fluss_status status;

		if (bucket->in_flight || bucket->segments != NULL ||
			bucket->whole != order[0]->whole ||
			bucket->fetch_range == bucket->nranges)
			continue;
		budget = fluss_fetch_budget(bucket, &scan->sizes, bucket_bytes, &solo);
		budget = at_least(budget, at_least(bucket->least_bytes, MIN_BYTES));
		solo = bucket->least_bytes > 0 || (solo && scan->limit_budget == 0);
		if (i > 0 && solo)
			continue;
		if (i > 0)
		{
			status = find_leader(scan, bucket, &leader, err);
			if (status != FLUSS_OK)
				return status;
			if (leader != node)
				continue;
		}
		order[i] = order[*n];
		order[*n] = bucket;
		scan->asks[*n].partition_id = bucket->partition_id;
		scan->asks[*n].bucket = bucket->bucket;
		scan->asks[*n].offset = bucket->fetch_offset;
		scan->asks[*n].max_bytes = (int32_t) budget;
		(*n)++;
		total += budget;
		if (solo)
			break;
	}
	if (total < *max_bytes)
		*max_bytes = total;
	*max_bytes = at_least(*max_bytes,
						  at_least(order[0]->least_bytes, MIN_BYTES));
	return FLUSS_OK;
}

static fluss_status
start_request(fluss_scan *scan, fetch_answer *answer, fluss_error *err)
{
	bool		projected = !answer->whole && scan->nprojection > 0;
	int64_t		deadline = INT64_MAX;
	fluss_status status;

	for (int i = 0; i < answer->nparts; i++)
	{
		int64_t		limit = fluss_retry_deadline(&answer->parts[i].bucket->retry,
												 scan->client);

		if (limit < deadline)
			deadline = limit;
	}
	fluss_buf_reset(&scan->body);
	status = fluss_rpc_encode_fetch(&scan->host, scan->table->table_id,
									(int32_t) answer->bytes, scan->projection,
									projected ? scan->nprojection : 0,
									scan->asks, answer->nparts, 0, &scan->body,
									err);
	if (status != FLUSS_OK)
		return status;
	scan->counters.requests[FLUSS_REQUEST_FETCH]++;
	answer->sent_ms = scan->host.now_ms(scan->host.arg);
	return fluss_request_start(scan->client, answer->node, FLUSS_API_FETCH_LOG,
							   scan->body.data, scan->body.size, deadline,
							   &answer->request, err);
}

static fluss_status
send_to(fluss_scan *scan, fetch_bucket **order, int norder, int32_t node,
		int64_t max_bytes, fluss_error *err)
{
	fetch_answer *answer;
	fluss_status status;
	int			n;

	status = choose_buckets(scan, order, norder, node, &max_bytes, &n, err);
	if (status != FLUSS_OK)
		return status;
	answer = fluss_fetch_new_answer(scan, node, n, max_bytes);
	if (answer == NULL)
		return fluss_fail_memory(err);
	answer->whole = order[0]->whole || scan->nprojection == 0;
	for (int i = 0; i < n; i++)
		answer->parts[i].bucket = order[i];
	status = start_request(scan, answer, err);
	if (status != FLUSS_OK)
	{
		fluss_error cause = *err;

		answer->request = NULL;
		status = fluss_fetch_failed(scan, answer, &cause, err);
		answer->current = answer->nparts;
		fluss_fetch_answer_free(scan, answer);
		return status;
	}
	for (int i = 0; i < n; i++)
		order[i]->in_flight = true;
	fluss_fetch_note_sent(scan);
	return FLUSS_OK;
}

/* Sends what can be sent now. */
fluss_status
fluss_fetch_send(fluss_scan *scan, fluss_error *err)
{
	int			norder = collect(scan);
	int			before = scan->nrequests;

	for (int i = 0; i < norder; i++)
	{
		fetch_bucket *bucket = scan->order[i];
		int64_t		room = fluss_fetch_room(scan);
		int32_t		node;
		fluss_status status;

		if (room == 0)
			break;
		if (bucket->in_flight || bucket->fetch_range == bucket->nranges)
			continue;
		if (bucket->segments != NULL)
		{
			status = fluss_fetch_send_remote(scan, bucket, err);
			if (status != FLUSS_OK)
				return status;
		}
		if (bucket->in_flight || bucket->segments != NULL)
			continue;
		status = find_leader(scan, bucket, &node, err);
		if (status == FLUSS_OK && node != NO_NODE &&
			!fluss_fetch_node_is_busy(scan, node))
			status = send_to(scan, scan->order + i, norder - i, node, room,
							 err);
		if (status != FLUSS_OK)
			return status;
	}
	/* onto the wire before anything is decoded */
	if (scan->nrequests > before)
		fluss_cluster_pump(scan->client);
	return FLUSS_OK;
}
