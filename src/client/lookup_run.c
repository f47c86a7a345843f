/*
 * lookup_run.c
 *	  Batched lookups by primary key: asking the servers.
 *
 * What was added is sorted by bucket and key bytes (the server's store likes
 * neighbours) and cut into one chunk a bucket.  A request takes the chunks of
 * one leader in turn until it holds max_batch_size keys; the last one is cut
 * where it is full.  So no more requests leave than the keys of each leader
 * fill.
 */
#include <stdlib.h>

#include "error.h"
#include "lookup.h"

#define LONG_WAIT_MS		60000

void
fluss_lookup_end_run(fluss_lookup *lookup)
{
	for (lookup_call *call = lookup->calls; call != NULL; call = call->next)
		fluss_request_free(call->request);
	lookup->calls = NULL;
	lookup->waiting = NULL;
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
compare_places(int64_t partition_a, int32_t bucket_a, int64_t partition_b,
			   int32_t bucket_b)
{
	if (partition_a != partition_b)
		return partition_a < partition_b ? -1 : 1;
	return bucket_a < bucket_b ? -1 : bucket_a > bucket_b;
}

static int
compare_entries(const void *a, const void *b)
{
	const order_entry *x = a;
	const order_entry *y = b;
	int			cmp;

	cmp = compare_places(fluss_lookup_partition_id(x->slot->partition),
						 x->slot->bucket,
						 fluss_lookup_partition_id(y->slot->partition),
						 y->slot->bucket);
	if (cmp != 0)
		return cmp;
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

/* Those with a partition that does not exist are answered thereby. */
static bool
is_answered(lookup_slot *slot)
{
	if (slot->partition != NULL &&
		slot->partition->partition_id == FLUSS_NO_PARTITION)
		slot->answered = true;
	return slot->answered;
}

/* The slots from nsent on that want an answer, sorted; NULL without memory. */
static int *
sort_slots(fluss_lookup *lookup, int *count)
{
	int			most = lookup->nslots - lookup->nsent;
	order_entry *entries = fluss_arena_array(&lookup->run, (size_t) most,
											 sizeof(order_entry));
	int		   *order = fluss_arena_array(&lookup->run, (size_t) most,
										  sizeof(int));
	int			n = 0;

	if (entries == NULL || order == NULL)
		return NULL;
	for (int i = lookup->nsent; i < lookup->nslots; i++)
	{
		lookup_slot *slot = fluss_lookup_slot(lookup, i);

		if (is_answered(slot))
			continue;
		entries[n].index = i;
		entries[n].slot = slot;
		entries[n++].prefix = key_prefix(&slot->key);
	}
	qsort(entries, (size_t) n, sizeof(order_entry), compare_entries);
	for (int i = 0; i < n; i++)
		order[i] = entries[i].index;
	*count = n;
	return order;
}

/* Behind the waiting chunks of the same place. */
static void
insert_chunk(fluss_lookup *lookup, lookup_chunk **link, lookup_chunk *chunk)
{
	while (*link != NULL &&
		   compare_places(fluss_lookup_partition_id((*link)->partition),
						  (*link)->bucket,
						  fluss_lookup_partition_id(chunk->partition),
						  chunk->bucket) <= 0)
		link = &(*link)->next;
	chunk->next = *link;
	*link = chunk;
}

fluss_status
fluss_lookup_wait_again(fluss_lookup *lookup, const lookup_chunk *chunk,
						fluss_error *err)
{
	lookup_chunk *copy = fluss_arena_memdup(&lookup->run, chunk,
											sizeof(*chunk));

	if (copy == NULL)
		return fluss_fail_memory(err);
	insert_chunk(lookup, &lookup->waiting, copy);
	return FLUSS_OK;
}

/* What was added since the last send goes to the waiting chunks. */
static fluss_status
make_chunks(fluss_lookup *lookup, fluss_error *err)
{
	lookup_chunk **link = &lookup->waiting;
	lookup_chunk *chunk = NULL;
	fluss_status status;
	int		   *order;
	int			n;

	if (lookup->nsent == lookup->nslots)
		return FLUSS_OK;
	status = fluss_lookup_find_partitions(lookup, err);
	if (status != FLUSS_OK)
		return status;
	order = sort_slots(lookup, &n);
	if (order == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		const lookup_slot *slot = fluss_lookup_slot(lookup, order[i]);

		if (chunk == NULL || chunk->partition != slot->partition ||
			chunk->bucket != slot->bucket)
		{
			chunk = fluss_arena_alloc0(&lookup->run, sizeof(*chunk));
			if (chunk == NULL)
				return fluss_fail_memory(err);
			chunk->slots = order + i;
			chunk->partition = slot->partition;
			chunk->bucket = slot->bucket;
			fluss_retry_clear(&chunk->retry);
			/* they come in order: each is inserted past the one before */
			insert_chunk(lookup, link, chunk);
			link = &chunk->next;
		}
		chunk->nslots++;
	}
	lookup->nsent = lookup->nslots;
	return FLUSS_OK;
}

/* ---- requests */

#define NO_NODE		(-1)

/* Takes a chunk out of the list. */
static lookup_chunk *
unlink_chunk(lookup_chunk **link)
{
	lookup_chunk *chunk = *link;

	*link = chunk->next;
	chunk->next = NULL;
	return chunk;
}

/*
 * The leader of the chunk at *link.  NO_NODE: its partition is gone, and the
 * chunk is not there any more.
 */
static fluss_status
chunk_leader(fluss_lookup *lookup, lookup_chunk **link, int32_t *node,
			 fluss_error *err)
{
	const lookup_chunk *chunk = *link;
	fluss_error cause;
	fluss_status status;

	status = fluss_retry_find_leader(&chunk->retry, lookup->client,
									 lookup->table,
									 fluss_lookup_partition_id(chunk->partition),
									 chunk->bucket, node, err);
	if (status == FLUSS_OK || chunk->partition == NULL ||
		!fluss_error_is_dropped_partition(err))
		return status;
	*node = NO_NODE;
	cause = *err;
	return fluss_lookup_dropped(lookup, unlink_chunk(link), &cause, err);
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

/*
 * Chunks of one bucket are neighbours in the list, unless the partition got
 * another id while one of them waited.
 */
static bool
has_bucket(const lookup_call *call, const lookup_chunk *chunk)
{
	int			i = call->nchunks - 1;
	int			last = i;

	if (chunk->partition != NULL && chunk->partition->moved)
		last = 0;
	for (; i >= last; i--)
	{
		if (call->chunks[i].partition == chunk->partition &&
			call->chunks[i].bucket == chunk->bucket)
			return true;
	}
	return false;
}

/*
 * Moves keys of waiting chunks, from *link on, to the call, a bucket once; the
 * first one goes there in any case.
 */
static fluss_status
pack_call(fluss_lookup *lookup, lookup_chunk **link, lookup_call *call,
		  fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);
	int			left = lookup->options.max_batch_size;
	bool		first = true;
	int			room = 0;

	for (const lookup_chunk *chunk = *link; chunk != NULL && room < left;
		 chunk = chunk->next)
		room++;
	call->chunks = fluss_arena_array(&lookup->run, (size_t) room,
									 sizeof(lookup_chunk));
	if (call->chunks == NULL)
		return fluss_fail_memory(err);
	while (*link != NULL && left > 0 && call->nchunks < room)
	{
		lookup_chunk *chunk = *link;
		lookup_chunk *packed = &call->chunks[call->nchunks];
		int32_t		node = call->node;

		if (!first && chunk->retry.next_ms <= now &&
			!has_bucket(call, chunk))
		{
			fluss_status status = chunk_leader(lookup, link, &node, err);

			if (status != FLUSS_OK)
				return status;
			if (node == NO_NODE)
				continue;
		}
		else if (!first)
			node = NO_NODE;
		if (node != call->node)
		{
			link = &chunk->next;
			continue;
		}
		first = false;
		*packed = *chunk;
		packed->asked_id = fluss_lookup_partition_id(chunk->partition);
		call->nchunks++;
		if (chunk->nslots > left)
		{
			packed->nslots = left;
			chunk->slots += left;
			chunk->nslots -= left;
		}
		else
			(void) unlink_chunk(link);
		left -= packed->nslots;
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
		nkeys += (size_t) call->chunks[i].nslots;
	buckets = fluss_arena_array(&arena, (size_t) call->nchunks,
								sizeof(fluss_lookup_ask));
	keys = fluss_arena_array(&arena, nkeys, sizeof(fluss_bytes));
	if (buckets == NULL || keys == NULL)
		status = fluss_fail_memory(err);
	for (int i = 0; i < call->nchunks && status == FLUSS_OK; i++)
	{
		const lookup_chunk *chunk = &call->chunks[i];

		buckets[i].partition_id = chunk->asked_id;
		buckets[i].bucket = chunk->bucket;
		buckets[i].keys = keys;
		buckets[i].nkeys = chunk->nslots;
		for (int k = 0; k < chunk->nslots; k++)
			*keys++ = fluss_lookup_slot(lookup, chunk->slots[k])->key;
	}
	fluss_buf_reset(&lookup->body);
	if (status == FLUSS_OK)
		status = fluss_rpc_encode_lookup(&lookup->host,
										 lookup->table->table_id, buckets,
										 call->nchunks, &lookup->body, err);
	fluss_arena_free(&arena);
	return status;
}

static int64_t
call_deadline(fluss_lookup *lookup, const lookup_call *call)
{
	int64_t		deadline = INT64_MAX;

	for (int i = 0; i < call->nchunks; i++)
	{
		int64_t		limit = fluss_retry_deadline(&call->chunks[i].retry,
												 lookup->client);

		if (limit < deadline)
			deadline = limit;
	}
	return deadline;
}

static fluss_status
start_call(fluss_lookup *lookup, lookup_chunk **link, int32_t node,
		   fluss_error *err)
{
	bool		prefix = lookup->options.prefix;
	lookup_call *call = fluss_arena_alloc0(&lookup->run, sizeof(lookup_call));
	fluss_error cause;
	fluss_status status;

	if (call == NULL)
		return fluss_fail_memory(err);
	call->node = node;
	status = pack_call(lookup, link, call, err);
	if (status == FLUSS_OK)
		status = encode_call(lookup, call, err);
	if (status != FLUSS_OK)
		return status;
	lookup->counters.requests[prefix ? FLUSS_REQUEST_PREFIX_LOOKUP :
							  FLUSS_REQUEST_LOOKUP]++;
	call->sent_ms = lookup->host.now_ms(lookup->host.arg);
	if (fluss_request_start(lookup->client, node,
							prefix ? FLUSS_API_PREFIX_LOOKUP : FLUSS_API_LOOKUP,
							lookup->body.data, lookup->body.size,
							call_deadline(lookup, call), &call->request,
							&cause) != FLUSS_OK)
		return fluss_lookup_call_failed(lookup, call, &cause, err);
	call->next = lookup->calls;
	lookup->calls = call;
	return FLUSS_OK;
}

static fluss_status
send_calls(fluss_lookup *lookup, fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);
	lookup_chunk **link = &lookup->waiting;

	while (*link != NULL)
	{
		int32_t		node;
		fluss_status status;

		if ((*link)->retry.next_ms > now)
		{
			link = &(*link)->next;
			continue;
		}
		status = chunk_leader(lookup, link, &node, err);
		if (status != FLUSS_OK)
			return status;
		if (node == NO_NODE)
			continue;
		if (leader_is_busy(lookup, node))
		{
			link = &(*link)->next;
			continue;
		}
		/* what is at *link afterwards has not been looked at yet */
		status = start_call(lookup, link, node, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static fluss_status
wait_for_answers(fluss_lookup *lookup, fluss_error *err)
{
	int64_t		now = lookup->host.now_ms(lookup->host.arg);
	int64_t		until = now + LONG_WAIT_MS;

	for (const lookup_chunk *chunk = lookup->waiting; chunk != NULL;
		 chunk = chunk->next)
	{
		if (chunk->retry.attempt > 0 && chunk->retry.next_ms < until)
			until = chunk->retry.next_ms;
	}
	if (lookup->calls != NULL)
		return fluss_cluster_poll(lookup->client, until, err);
	return fluss_cluster_sleep(lookup->client, until > now ? until - now : 0,
							   err);
}

/* ---- coming in and going out */

/* The time that the caller spends elsewhere is not a bucket's. */
static void
enter(fluss_lookup *lookup)
{
	int64_t		away;

	lookup->entered_ms = lookup->host.now_ms(lookup->host.arg);
	away = lookup->entered_ms - lookup->left_ms;
	for (lookup_chunk *chunk = lookup->waiting; chunk != NULL && away != 0;
		 chunk = chunk->next)
		fluss_retry_postpone(&chunk->retry, away);
	for (lookup_call *call = lookup->calls; call != NULL && away != 0;
		 call = call->next)
	{
		for (int i = 0; i < call->nchunks; i++)
			fluss_retry_postpone(&call->chunks[i].retry, away);
	}
}

/* After an error all that has no answer counts as not sent. */
static fluss_status
leave(fluss_lookup *lookup, fluss_status status)
{
	lookup->left_ms = lookup->host.now_ms(lookup->host.arg);
	if (status != FLUSS_OK)
		lookup->nsent = 0;
	if (status != FLUSS_OK ||
		(lookup->waiting == NULL && lookup->calls == NULL))
		fluss_lookup_end_run(lookup);
	return status;
}

fluss_status
fluss_lookup_send(fluss_lookup *lookup, fluss_error *err)
{
	fluss_status status;

	enter(lookup);
	status = make_chunks(lookup, err);
	if (status == FLUSS_OK)
		status = fluss_lookup_receive(lookup, err);
	if (status == FLUSS_OK)
		status = send_calls(lookup, err);
	/* onto the wire before the caller goes on */
	if (status == FLUSS_OK && lookup->calls != NULL)
		fluss_cluster_pump(lookup->client);
	return leave(lookup, status);
}

static bool
is_idle(const fluss_lookup *lookup)
{
	return lookup->waiting == NULL && lookup->calls == NULL;
}

/* Until the slot is answered, or with slot -1 until all are. */
static fluss_status
work_until(fluss_lookup *lookup, int slot, fluss_error *err)
{
	for (;;)
	{
		fluss_status status = fluss_lookup_receive(lookup, err);

		if (status == FLUSS_OK)
			status = send_calls(lookup, err);
		if (status != FLUSS_OK || is_idle(lookup) ||
			(slot >= 0 && fluss_lookup_slot(lookup, slot)->answered))
			return status;
		status = wait_for_answers(lookup, err);
		if (status != FLUSS_OK)
			return status;
	}
}

fluss_status
fluss_lookup_wait(fluss_lookup *lookup, int slot, fluss_error *err)
{
	if (slot < 0 || slot >= lookup->nslots || slot >= lookup->nsent)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "a lookup is waited for that was not sent");
	if (fluss_lookup_slot(lookup, slot)->answered)
		return FLUSS_OK;
	enter(lookup);
	return leave(lookup, work_until(lookup, slot, err));
}

fluss_status
fluss_lookup_run(fluss_lookup *lookup, fluss_error *err)
{
	fluss_status status;

	enter(lookup);
	status = make_chunks(lookup, err);
	if (status == FLUSS_OK)
		status = work_until(lookup, -1, err);
	return leave(lookup, status);
}
