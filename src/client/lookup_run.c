/*
 * lookup_run.c
 *	  Batched lookups by primary key: asking the servers.
 *
 * A run sorts the new slots by bucket and key bytes (the server's store likes
 * neighbours), cuts them into chunks of one bucket each, and packs chunks of
 * one leader into requests.  A chunk is the unit of retrying.
 */
#include <stdlib.h>

#include "error.h"
#include "lookup.h"

#define LONG_WAIT_MS		60000

/* Forgets a run, also one that was left in the middle. */
void
fluss_lookup_end_run(fluss_lookup *lookup)
{
	for (lookup_call *call = lookup->calls; call != NULL; call = call->next)
		fluss_request_free(call->request);
	lookup->calls = NULL;
	lookup->nopen = 0;
	fluss_arena_reset(&lookup->run);
}

/* ---- chunks */

static int
compare_bytes(const fluss_bytes *a, const fluss_bytes *b)
{
	size_t		size = a->size < b->size ? a->size : b->size;
	int			cmp = size > 0 ? memcmp(a->data, b->data, size) : 0;

	if (cmp != 0)
		return cmp;
	return a->size < b->size ? -1 : a->size > b->size;
}

/* For sorting: the slot's first key bytes decide most comparisons. */
typedef struct order_entry
{
	uint64_t	prefix;			/* first key bytes, big endian */
	const lookup_slot *slot;
	int			index;
} order_entry;

static int
compare_entries(const void *a, const void *b)
{
	const order_entry *x = a;
	const order_entry *y = b;

	if (x->slot->bucket != y->slot->bucket)
		return x->slot->bucket < y->slot->bucket ? -1 : 1;
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	return compare_bytes(&x->slot->key, &y->slot->key);
}

static uint64_t
key_prefix(const fluss_bytes *key)
{
	uint64_t	prefix = 0;

	for (size_t i = 0; i < 8; i++)
		prefix = prefix << 8 | (i < key->size ? key->data[i] : 0);
	return prefix;
}

static bool
sort_keys(fluss_lookup *lookup)
{
	int			n = lookup->nslots - lookup->nrun;
	order_entry *entries = fluss_arena_array(&lookup->run, (size_t) n,
											 sizeof(order_entry));

	lookup->order = fluss_arena_array(&lookup->run, (size_t) n, sizeof(int));
	if (entries == NULL || lookup->order == NULL)
		return false;
	for (int i = 0; i < n; i++)
	{
		entries[i].index = lookup->nrun + i;
		entries[i].slot = fluss_lookup_slot(lookup, entries[i].index);
		entries[i].prefix = key_prefix(&entries[i].slot->key);
	}
	qsort(entries, (size_t) n, sizeof(order_entry), compare_entries);
	for (int i = 0; i < n; i++)
		lookup->order[i] = entries[i].index;
	lookup->norder = n;
	return true;
}

/* Cuts the sorted keys where the bucket changes or a request is full. */
static bool
make_chunks(fluss_lookup *lookup)
{
	int			most = lookup->options.max_batch_size;
	lookup_chunk *chunk = NULL;

	lookup->nchunks = 0;
	lookup->chunks = fluss_arena_array(&lookup->run,
									   (size_t) lookup->table->nbuckets +
									   (size_t) (lookup->norder / most) + 1,
									   sizeof(lookup_chunk));
	if (lookup->chunks == NULL)
		return false;
	for (int i = 0; i < lookup->norder; i++)
	{
		int32_t		bucket = fluss_lookup_slot(lookup, lookup->order[i])->bucket;

		if (chunk == NULL || chunk->bucket != bucket || i - chunk->begin >= most)
		{
			chunk = &lookup->chunks[lookup->nchunks++];
			chunk->begin = i;
			chunk->bucket = bucket;
			fluss_retry_clear(&chunk->retry);
		}
		chunk->end = i + 1;
	}
	lookup->nopen = lookup->nchunks;
	return true;
}

/* ---- requests */

static fluss_status
chunk_leader(fluss_lookup *lookup, const lookup_chunk *chunk, int32_t *node,
			 fluss_error *err)
{
	return fluss_leader_find(lookup->client, lookup->table, FLUSS_NO_PARTITION,
							 chunk->bucket,
							 fluss_retry_deadline(&chunk->retry,
												  lookup->client),
							 node, err);
}

static bool
wants_request(const lookup_chunk *chunk, int64_t now)
{
	return !chunk->done && !chunk->in_flight && chunk->retry.next_ms <= now;
}

static bool
leader_is_busy(const fluss_lookup *lookup, int32_t node)
{
	int			n = 0;

	for (lookup_call *call = lookup->calls; call != NULL; call = call->next)
	{
		if (call->node == node)
			n++;
	}
	return n >= lookup->options.max_inflight_requests;
}

/* Chunks from first on that go to node in one request, a bucket once. */
static fluss_status
pack_call(fluss_lookup *lookup, int first, lookup_call *call, fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);
	int			nkeys = 0;

	for (int i = first; i < lookup->nchunks; i++)
	{
		lookup_chunk *chunk = &lookup->chunks[i];
		int32_t		node = call->node;
		int			n = chunk->end - chunk->begin;
		fluss_status status;

		if (!wants_request(chunk, now) ||
			nkeys + n > lookup->options.max_batch_size ||
			(call->nchunks > 0 &&
			 call->chunks[call->nchunks - 1]->bucket == chunk->bucket))
			continue;
		if (i > first)
		{
			status = chunk_leader(lookup, chunk, &node, err);
			if (status != FLUSS_OK)
				return status;
		}
		if (node != call->node)
			continue;
		call->chunks[call->nchunks++] = chunk;
		nkeys += n;
		if (nkeys == lookup->options.max_batch_size)
			break;
	}
	return FLUSS_OK;
}

static fluss_status
encode_call(fluss_lookup *lookup, const lookup_call *call, fluss_error *err)
{
	fluss_arena arena;
	fluss_lookup_ask *buckets;
	fluss_bytes *keys;
	fluss_status status = FLUSS_OK;
	size_t		nkeys = 0;

	fluss_arena_init(&arena, &lookup->host);
	for (int i = 0; i < call->nchunks; i++)
		nkeys += (size_t) (call->chunks[i]->end - call->chunks[i]->begin);
	buckets = fluss_arena_array(&arena, (size_t) call->nchunks,
								sizeof(fluss_lookup_ask));
	keys = fluss_arena_array(&arena, nkeys, sizeof(fluss_bytes));
	if (buckets == NULL || keys == NULL)
		status = fluss_fail_memory(err);
	for (int i = 0; i < call->nchunks && status == FLUSS_OK; i++)
	{
		const lookup_chunk *chunk = call->chunks[i];

		buckets[i].partition_id = FLUSS_NO_PARTITION;
		buckets[i].bucket = chunk->bucket;
		buckets[i].keys = keys;
		buckets[i].nkeys = chunk->end - chunk->begin;
		for (int k = chunk->begin; k < chunk->end; k++)
			*keys++ = fluss_lookup_slot(lookup, lookup->order[k])->key;
	}
	fluss_buf_reset(&lookup->body);
	if (status == FLUSS_OK)
		status = fluss_rpc_encode_lookup(&lookup->host,
										 lookup->table->table_id, buckets,
										 call->nchunks, &lookup->body, err);
	fluss_arena_free(&arena);
	return status;
}

/* Every chunk of a call that failed as a whole. */
static fluss_status
note_failure(fluss_lookup *lookup, const lookup_call *call,
			 const fluss_error *cause, fluss_error *err)
{
	for (int i = 0; i < call->nchunks; i++)
	{
		lookup_chunk *chunk = call->chunks[i];
		fluss_status status;

		chunk->in_flight = false;
		status = fluss_retry_note(&chunk->retry, lookup->client,
								  lookup->table, cause, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static int64_t
call_deadline(fluss_lookup *lookup, const lookup_call *call)
{
	int64_t		deadline = INT64_MAX;

	for (int i = 0; i < call->nchunks; i++)
	{
		int64_t		limit = fluss_retry_deadline(&call->chunks[i]->retry,
												 lookup->client);

		if (limit < deadline)
			deadline = limit;
	}
	return deadline;
}

static fluss_status
start_call(fluss_lookup *lookup, int first, int32_t node, fluss_error *err)
{
	lookup_call *call = fluss_arena_alloc0(&lookup->run, sizeof(lookup_call));
	fluss_error cause;
	fluss_status status;

	if (call == NULL)
		return fluss_fail_memory(err);
	call->node = node;
	call->chunks = fluss_arena_array(&lookup->run,
									 (size_t) lookup->table->nbuckets,
									 sizeof(lookup_chunk *));
	if (call->chunks == NULL)
		return fluss_fail_memory(err);
	status = pack_call(lookup, first, call, err);
	if (status == FLUSS_OK)
		status = encode_call(lookup, call, err);
	if (status != FLUSS_OK)
		return status;
	lookup->counters.requests[FLUSS_REQUEST_LOOKUP]++;
	if (fluss_request_start(lookup->client, node, FLUSS_API_LOOKUP,
							lookup->body.data, lookup->body.size,
							call_deadline(lookup, call), &call->request,
							&cause) != FLUSS_OK)
		return note_failure(lookup, call, &cause, err);
	for (int i = 0; i < call->nchunks; i++)
		call->chunks[i]->in_flight = true;
	call->next = lookup->calls;
	lookup->calls = call;
	return FLUSS_OK;
}

static fluss_status
send_calls(fluss_lookup *lookup, fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);

	for (int i = 0; i < lookup->nchunks; i++)
	{
		int32_t		node;
		fluss_status status;

		if (!wants_request(&lookup->chunks[i], now))
			continue;
		status = chunk_leader(lookup, &lookup->chunks[i], &node, err);
		if (status == FLUSS_OK && !leader_is_busy(lookup, node))
			status = start_call(lookup, i, node, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

/* ---- answers */

static fluss_status
accept_values(fluss_lookup *lookup, lookup_chunk *chunk,
			  const fluss_lookup_result *result, fluss_error *err)
{
	if (result->nvalues != chunk->end - chunk->begin)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "%d keys of bucket %d of table \"%s.%s\" got %d answers",
						  chunk->end - chunk->begin, (int) chunk->bucket,
						  lookup->table->database, lookup->table->name,
						  result->nvalues);
	for (int i = 0; i < result->nvalues; i++)
	{
		fluss_lookup_slot(lookup, lookup->order[chunk->begin + i])->value =
			result->values[i];
		if (result->values[i].data != NULL)
			lookup->counters.rows++;
	}
	chunk->done = true;
	lookup->nopen--;
	return FLUSS_OK;
}

static fluss_status
accept_result(fluss_lookup *lookup, lookup_chunk *chunk,
			  const fluss_lookup_result *result, fluss_error *err)
{
	fluss_error cause;

	chunk->in_flight = false;
	if (result->error_code == 0)
		return accept_values(lookup, chunk, result, err);
	fluss_fail_server(&cause, result->error_code, result->error_message,
					  result->error_message == NULL ? 0 :
					  strlen(result->error_message),
					  "look up keys in bucket %d of table \"%s.%s\"",
					  (int) chunk->bucket, lookup->table->database,
					  lookup->table->name);
	return fluss_retry_note(&chunk->retry, lookup->client, lookup->table,
							&cause, err);
}

/* The answer's result for a chunk's bucket, or NULL. */
static const fluss_lookup_result *
find_result(const fluss_lookup_result *results, int nresults, int32_t bucket)
{
	for (int i = 0; i < nresults; i++)
	{
		if (results[i].bucket == bucket)
			return &results[i];
	}
	return NULL;
}

static fluss_status
accept_answer(fluss_lookup *lookup, lookup_call *call, fluss_error *err)
{
	fluss_bytes bytes = fluss_request_answer(call->request);
	fluss_lookup_result *results;
	int			nresults;
	fluss_status status;

	lookup->counters.bytes += (int64_t) bytes.size;
	lookup->counters.batches++;
	status = fluss_rpc_decode_lookup(&lookup->values, bytes, &results,
									 &nresults, err);
	if (status == FLUSS_OK)
		status = fluss_lookup_check_memory(lookup, err);
	for (int i = 0; i < call->nchunks && status == FLUSS_OK; i++)
	{
		const fluss_lookup_result *result =
			find_result(results, nresults, call->chunks[i]->bucket);

		if (result == NULL)
			return fluss_fail(err, FLUSS_MALFORMED,
							  "the answer to a lookup in table \"%s.%s\" lacks a bucket",
							  lookup->table->database, lookup->table->name);
		status = accept_result(lookup, call->chunks[i], result, err);
	}
	return status;
}

static fluss_status
receive_answers(fluss_lookup *lookup, fluss_error *err)
{
	lookup_call **link = &lookup->calls;
	fluss_status status = FLUSS_OK;

	while (*link != NULL && status == FLUSS_OK)
	{
		lookup_call *call = *link;
		fluss_request_state state = fluss_request_state_of(call->request);

		if (state == FLUSS_REQUEST_PENDING)
		{
			link = &call->next;
			continue;
		}
		*link = call->next;
		if (state == FLUSS_REQUEST_DONE)
			status = accept_answer(lookup, call, err);
		else
			status = note_failure(lookup, call,
								  fluss_request_error(call->request), err);
		fluss_request_free(call->request);
	}
	return status;
}

static fluss_status
wait_for_answers(fluss_lookup *lookup, fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);
	int64_t		until = now + LONG_WAIT_MS;

	for (int i = 0; i < lookup->nchunks; i++)
	{
		const lookup_chunk *chunk = &lookup->chunks[i];

		if (!chunk->done && !chunk->in_flight && chunk->retry.attempt > 0 &&
			chunk->retry.next_ms < until)
			until = chunk->retry.next_ms;
	}
	if (lookup->calls != NULL)
		return fluss_cluster_poll(lookup->client, until, err);
	return fluss_cluster_sleep(lookup->client, until > now ? until - now : 0,
							   err);
}

fluss_status
fluss_lookup_run(fluss_lookup *lookup, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (lookup->nslots == lookup->nrun)
		return FLUSS_OK;
	if (!sort_keys(lookup) || !make_chunks(lookup))
		status = fluss_fail_memory(err);
	while (status == FLUSS_OK)
	{
		status = send_calls(lookup, err);
		if (status == FLUSS_OK)
			status = wait_for_answers(lookup, err);
		if (status == FLUSS_OK)
			status = receive_answers(lookup, err);
		if (status == FLUSS_OK && lookup->nopen == 0)
			break;
	}
	fluss_lookup_end_run(lookup);
	if (status == FLUSS_OK)
		lookup->nrun = lookup->nslots;
	return status;
}
