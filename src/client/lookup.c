/*
 * lookup.c
 *	  Batched lookups by primary key.
 *
 * Equal keys share a slot: an open-addressing table over key bytes finds it.
 * A run sorts the new slots by bucket and key bytes (the server's store likes
 * neighbours), cuts them into chunks of one bucket each, and packs chunks of
 * one leader into requests.  A chunk is the unit of retrying.
 *
 * Memory: slots and keys live until reset, values in an arena of their own
 * until then; both count against max_buffered_bytes.
 */
#include <stdlib.h>

#include "error.h"
#include "hash.h"
#include "project.h"
#include "retry.h"
#include "rpc.h"

#define FIRST_TABLE_SIZE	256
#define LONG_WAIT_MS		60000

typedef struct lookup_slot
{
	fluss_bytes key;
	fluss_bytes value;			/* data NULL: not found (or not asked yet) */
	uint32_t	hash;
	int32_t		bucket;
} lookup_slot;

/* order[begin .. end): keys of one bucket. */
typedef struct lookup_chunk
{
	int			begin;
	int			end;
	int32_t		bucket;
	bool		in_flight;
	bool		done;
	fluss_retry retry;
} lookup_chunk;

typedef struct lookup_call lookup_call;
struct lookup_call
{
	lookup_call *next;
	fluss_request *request;
	int32_t		node;
	lookup_chunk **chunks;
	int			nchunks;
};

struct fluss_lookup
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_client *client;
	fluss_table *table;
	fluss_lookup_options options;
	fluss_counters counters;
	fluss_key_encoder key_encoder;
	fluss_key_encoder bucket_encoder;
	bool		bucket_from_key;	/* both encodings give the same bytes */
	fluss_value *key_row;		/* scratch, by schema position */
	fluss_buf	scratch;
	fluss_projector projector;

	/* until reset */
	fluss_arena keys;
	fluss_arena values;
	fluss_buf	slots;			/* of lookup_slot */
	fluss_buf	table_slots;	/* of uint32_t: slot + 1, or 0 */
	uint32_t	table_mask;
	int			nslots;
	int			nrun;			/* slots that a run has answered */

	/* of one run */
	fluss_arena run;
	int			norder;
	int		   *order;			/* slots by bucket and key */
	lookup_chunk *chunks;
	int			nchunks;
	int			nopen;			/* chunks not done */
	lookup_call *calls;
	fluss_buf	body;
};

/* ---- opening, closing */

static bool
same_columns(const int32_t *a, int na, const int32_t *b, int nb)
{
	return na == nb && (na == 0 ||
						memcmp(a, b, (size_t) na * sizeof(int32_t)) == 0);
}

static fluss_status
check_options(const fluss_table *table, const fluss_lookup_options *options,
			  fluss_error *err)
{
	fluss_status status;

	if (table->schema->nprimary_key == 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" has no primary key",
						  table->database, table->name);
	status = fluss_refuse_partitioned(table, err);
	if (status != FLUSS_OK)
		return status;
	if (options->max_batch_size < 1 || options->max_inflight_requests < 1 ||
		options->max_buffered_bytes < 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "limits of a lookup must be above zero");
	return FLUSS_OK;
}

static fluss_status
set_up(fluss_lookup *lookup, const fluss_lookup_options *options,
	   fluss_error *err)
{
	const fluss_table *table = lookup->table;
	fluss_status status;

	lookup->options = *options;
	lookup->key_row = fluss_arena_array(&lookup->arena,
										(size_t) table->schema->ncolumns,
										sizeof(fluss_value));
	if (lookup->key_row == NULL)
		return fluss_fail_memory(err);
	status = fluss_projector_init(&lookup->projector, lookup->client,
								  lookup->table, &lookup->arena,
								  options->columns, options->ncolumns, err);
	if (status == FLUSS_OK)
		status = fluss_table_key_encoders(table, &lookup->key_encoder,
										  &lookup->bucket_encoder, err);
	if (status != FLUSS_OK)
		return status;
	lookup->bucket_from_key =
		lookup->key_encoder == lookup->bucket_encoder &&
		same_columns(table->bucket_key, table->nbucket_key,
					 table->physical_key, table->nphysical_key);
	return FLUSS_OK;
}

fluss_status
fluss_lookup_open(fluss_client *client, const fluss_host *host,
				  fluss_table *table, const fluss_lookup_options *options,
				  fluss_lookup **lookup, fluss_error *err)
{
	fluss_arena arena;
	fluss_lookup *result;
	fluss_status status;

	*lookup = NULL;
	status = check_options(table, options, err);
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, host);
	result = fluss_arena_alloc0(&arena, sizeof(fluss_lookup));
	if (result == NULL)
		return fluss_fail_memory(err);
	result->host = *host;
	result->arena = arena;
	result->arena.host = &result->host;
	result->client = client;
	result->table = table;
	fluss_table_retain(table);
	fluss_arena_init(&result->keys, &result->host);
	fluss_arena_init(&result->values, &result->host);
	fluss_arena_init(&result->run, &result->host);
	fluss_buf_init(&result->scratch, &result->host);
	fluss_buf_init(&result->slots, &result->host);
	fluss_buf_init(&result->table_slots, &result->host);
	fluss_buf_init(&result->body, &result->host);
	status = set_up(result, options, err);
	if (status != FLUSS_OK)
	{
		fluss_lookup_close(result);
		return status;
	}
	*lookup = result;
	return FLUSS_OK;
}

/* Forgets a run, also one that was left in the middle. */
static void
end_run(fluss_lookup *lookup)
{
	for (lookup_call *call = lookup->calls; call != NULL; call = call->next)
		fluss_request_free(call->request);
	lookup->calls = NULL;
	lookup->nopen = 0;
	fluss_arena_reset(&lookup->run);
}

void
fluss_lookup_reset(fluss_lookup *lookup)
{
	end_run(lookup);
	fluss_arena_reset(&lookup->keys);
	fluss_arena_reset(&lookup->values);
	fluss_buf_reset(&lookup->slots);
	fluss_buf_reset(&lookup->table_slots);
	lookup->table_mask = 0;
	lookup->nslots = 0;
	lookup->nrun = 0;
}

void
fluss_lookup_close(fluss_lookup *lookup)
{
	fluss_host	host;
	fluss_arena arena;

	if (lookup == NULL)
		return;
	end_run(lookup);
	fluss_arena_free(&lookup->run);
	fluss_arena_free(&lookup->keys);
	fluss_arena_free(&lookup->values);
	fluss_buf_free(&lookup->scratch);
	fluss_buf_free(&lookup->slots);
	fluss_buf_free(&lookup->table_slots);
	fluss_buf_free(&lookup->body);
	fluss_table_release(lookup->table);
	host = lookup->host;
	arena = lookup->arena;
	arena.host = &host;
	fluss_arena_free(&arena);
}

const fluss_counters *
fluss_lookup_counters(const fluss_lookup *lookup)
{
	return &lookup->counters;
}

/* ---- keys */

static lookup_slot *
slot_at(const fluss_lookup *lookup, int slot)
{
	return (lookup_slot *) lookup->slots.data + slot;
}

static uint32_t *
table_at(const fluss_lookup *lookup, uint32_t position)
{
	return (uint32_t *) lookup->table_slots.data + position;
}

/* Doubles the hash table and puts every slot in again. */
static bool
grow_table(fluss_lookup *lookup)
{
	uint32_t	size = lookup->table_mask == 0 ?
		FIRST_TABLE_SIZE : 2 * (lookup->table_mask + 1);

	fluss_buf_reset(&lookup->table_slots);
	if (fluss_buf_append_zeros(&lookup->table_slots,
							   size * sizeof(uint32_t)) == NULL)
	{
		lookup->table_mask = 0;
		return false;
	}
	lookup->table_mask = size - 1;
	for (int i = 0; i < lookup->nslots; i++)
	{
		uint32_t	at = slot_at(lookup, i)->hash & lookup->table_mask;

		while (*table_at(lookup, at) != 0)
			at = (at + 1) & lookup->table_mask;
		*table_at(lookup, at) = (uint32_t) i + 1;
	}
	return true;
}

/* Slot with these key bytes, or -1 and where it would go. */
static int
find_slot(const fluss_lookup *lookup, const fluss_buf *key, uint32_t hash,
		  uint32_t *position)
{
	uint32_t	at = hash & lookup->table_mask;
	uint32_t	entry;

	while ((entry = *table_at(lookup, at)) != 0)
	{
		const lookup_slot *slot = slot_at(lookup, (int) entry - 1);

		if (slot->hash == hash && slot->key.size == key->size &&
			memcmp(slot->key.data, key->data, key->size) == 0)
			return (int) entry - 1;
		at = (at + 1) & lookup->table_mask;
	}
	*position = at;
	return -1;
}

static int64_t
memory_used(const fluss_lookup *lookup)
{
	return (int64_t) (lookup->keys.allocated + lookup->values.allocated +
					  lookup->slots.size + lookup->table_slots.size);
}

static fluss_status
check_memory(const fluss_lookup *lookup, fluss_error *err)
{
	if (memory_used(lookup) <= lookup->options.max_buffered_bytes)
		return FLUSS_OK;
	return fluss_fail(err, FLUSS_MEMORY_CAP,
					  "lookups in table \"%s.%s\" need more than %lld bytes of memory",
					  lookup->table->database, lookup->table->name,
					  (long long) lookup->options.max_buffered_bytes);
}

/* Puts the key values where their columns are; they must fit their types. */
static fluss_status
fill_key_row(fluss_lookup *lookup, const fluss_value *key, fluss_error *err)
{
	const fluss_schema *schema = lookup->table->schema;

	for (int i = 0; i < schema->nprimary_key; i++)
	{
		int32_t		position = schema->primary_key[i];

		if (key[i].is_null)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "a key value of table \"%s.%s\" is NULL",
							  lookup->table->database, lookup->table->name);
		if (fluss_value_check(&schema->columns[position], &key[i],
							  err) != FLUSS_OK)
		{
			err->status = FLUSS_INVALID_ARGUMENT;
			return err->status;
		}
		lookup->key_row[position] = key[i];
	}
	return FLUSS_OK;
}

/* Bucket of the key in key_row, whose key bytes are in scratch. */
static fluss_status
find_bucket(fluss_lookup *lookup, int32_t *bucket, fluss_error *err)
{
	const fluss_table *table = lookup->table;
	size_t		key_size = lookup->scratch.size;
	fluss_status status = FLUSS_OK;

	*bucket = 0;
	if (table->nbuckets == 1)
		return FLUSS_OK;
	if (lookup->bucket_from_key)
	{
		*bucket = fluss_bucket_of(table->lake, lookup->scratch.data, key_size,
								  table->nbuckets);
		return FLUSS_OK;
	}
	/* behind the key, and taken away again */
	status = fluss_key_encode(lookup->bucket_encoder, table->schema,
							  table->bucket_key, table->nbucket_key,
							  lookup->key_row, &lookup->scratch, err);
	if (status == FLUSS_OK && lookup->scratch.failed)
		status = fluss_fail_memory(err);
	if (status == FLUSS_OK)
		*bucket = fluss_bucket_of(table->lake,
								  lookup->scratch.data + key_size,
								  lookup->scratch.size - key_size,
								  table->nbuckets);
	lookup->scratch.size = key_size;
	return status;
}

static fluss_status
add_slot(fluss_lookup *lookup, uint32_t hash, uint32_t position, int *slot,
		 fluss_error *err)
{
	lookup_slot *added;
	uint8_t    *key;
	int32_t		bucket;
	fluss_status status;

	status = find_bucket(lookup, &bucket, err);
	if (status == FLUSS_OK)
		status = check_memory(lookup, err);
	if (status != FLUSS_OK)
		return status;
	key = fluss_arena_memdup(&lookup->keys, lookup->scratch.data,
							 lookup->scratch.size);
	added = (lookup_slot *) fluss_buf_append_zeros(&lookup->slots,
												   sizeof(lookup_slot));
	if (key == NULL || added == NULL)
		return fluss_fail_memory(err);
	added->key.data = key;
	added->key.size = lookup->scratch.size;
	added->hash = hash;
	added->bucket = bucket;
	*slot = lookup->nslots++;
	*table_at(lookup, position) = (uint32_t) *slot + 1;
	lookup->counters.keys++;
	return FLUSS_OK;
}

fluss_status
fluss_lookup_add(fluss_lookup *lookup, const fluss_value *key, int *slot,
				 fluss_error *err)
{
	const fluss_table *table = lookup->table;
	uint32_t	position = 0;
	uint32_t	hash;
	fluss_status status;

	status = fill_key_row(lookup, key, err);
	if (status != FLUSS_OK)
		return status;
	fluss_buf_reset(&lookup->scratch);
	status = fluss_key_encode(lookup->key_encoder, table->schema,
							  table->physical_key, table->nphysical_key,
							  lookup->key_row, &lookup->scratch, err);
	if (status != FLUSS_OK)
		return status;
	if (lookup->scratch.failed)
		return fluss_fail_memory(err);
	/* at most half full */
	if ((uint32_t) lookup->nslots >= lookup->table_mask / 2 &&
		!grow_table(lookup))
		return fluss_fail_memory(err);
	hash = (uint32_t) fluss_hash_bytes(lookup->scratch.data,
									   lookup->scratch.size);
	*slot = find_slot(lookup, &lookup->scratch, hash, &position);
	if (*slot >= 0)
	{
		lookup->counters.duplicate_keys++;
		return FLUSS_OK;
	}
	return add_slot(lookup, hash, position, slot, err);
}

/* ---- a run: chunks */

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
		entries[i].slot = slot_at(lookup, entries[i].index);
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
		int32_t		bucket = slot_at(lookup, lookup->order[i])->bucket;

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

/* ---- a run: requests */

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
			*keys++ = slot_at(lookup, lookup->order[k])->key;
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

/* ---- a run: answers */

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
		slot_at(lookup, lookup->order[chunk->begin + i])->value =
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
		status = check_memory(lookup, err);
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
	end_run(lookup);
	if (status == FLUSS_OK)
		lookup->nrun = lookup->nslots;
	return status;
}

/* ---- rows */

int32_t
fluss_lookup_bucket(const fluss_lookup *lookup, int slot)
{
	return slot_at(lookup, slot)->bucket;
}

fluss_status
fluss_lookup_row(fluss_lookup *lookup, int slot, bool *found,
				 fluss_value *values, fluss_error *err)
{
	fluss_bytes value = slot_at(lookup, slot)->value;

	*found = value.data != NULL;
	if (!*found)
		return FLUSS_OK;
	if (value.size < sizeof(uint16_t))
		return fluss_fail(err, FLUSS_MALFORMED,
						  "a value of table \"%s.%s\" has no schema id",
						  lookup->table->database, lookup->table->name);
	return fluss_projector_row(&lookup->projector,
							   (int16_t) fluss_load_u16le(value.data),
							   value.data + sizeof(uint16_t),
							   value.size - sizeof(uint16_t), values, err);
}
