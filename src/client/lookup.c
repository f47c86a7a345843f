/*
 * lookup.c
 *	  Batched lookups by primary key: keys in, rows out.
 *
 * An open-addressing table over key bytes finds the slot of an equal key.
 * lookup_run.c asks the servers.  The key bytes of a prefix lookup are those of
 * the bucket key alone.
 */
#include "error.h"
#include "hash.h"
#include "lookup.h"

#define FIRST_TABLE_SIZE	256

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
	if (table->schema->nprimary_key == 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" has no primary key",
						  table->database, table->name);
	if (options->prefix && !fluss_table_prefix_lookup(table))
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" does not offer lookups by a prefix of its key",
						  table->database, table->name);
	if (options->max_batch_size < 1 || options->max_inflight_requests < 1 ||
		options->max_buffered_bytes < 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "limits of a lookup must be above zero");
	return FLUSS_OK;
}

static bool
has_column(const int32_t *columns, int n, int32_t column)
{
	for (int i = 0; i < n; i++)
	{
		if (columns[i] == column)
			return true;
	}
	return false;
}

/* Which columns make the key bytes, and which others are needed. */
static bool
choose_key_columns(fluss_lookup *lookup)
{
	const fluss_table *table = lookup->table;
	const fluss_schema *schema = table->schema;
	bool	   *counts = fluss_arena_array(&lookup->arena,
										   (size_t) schema->nprimary_key,
										   sizeof(bool));

	if (counts == NULL)
		return false;
	lookup->key_counts = counts;
	lookup->key_columns = lookup->options.prefix ? table->bucket_key :
		table->physical_key;
	lookup->nkey_columns = lookup->options.prefix ? table->nbucket_key :
		table->nphysical_key;
	for (int i = 0; i < schema->nprimary_key; i++)
		counts[i] = !lookup->options.prefix ||
			has_column(table->bucket_key, table->nbucket_key,
					   schema->primary_key[i]) ||
			has_column(table->partition_key, table->npartition_key,
					   schema->primary_key[i]);
	return true;
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
	if (lookup->key_row == NULL || !choose_key_columns(lookup))
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
					 lookup->key_columns, lookup->nkey_columns);
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
	fluss_arena_move_in(&arena, &result->arena, &result->host);
	result->client = client;
	result->table = table;
	fluss_table_retain(table);
	fluss_arena_init(&result->keys, &result->host);
	fluss_arena_init(&result->values, &result->host);
	fluss_arena_init(&result->run, &result->host);
	fluss_buf_init(&result->scratch, &result->host);
	fluss_buf_init(&result->name, &result->host);
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

/* An arena keeps a block: not one that leaves little of the memory allowed. */
static void
reset_arena(fluss_lookup *lookup, fluss_arena *arena)
{
	fluss_arena_reset(arena);
	if ((int64_t) arena->allocated > lookup->options.max_buffered_bytes / 4)
	{
		fluss_arena_free(arena);
		fluss_arena_init(arena, &lookup->host);
	}
}

void
fluss_lookup_reset(fluss_lookup *lookup)
{
	fluss_lookup_end_run(lookup);
	reset_arena(lookup, &lookup->keys);
	reset_arena(lookup, &lookup->values);
	fluss_buf_reset(&lookup->slots);
	fluss_buf_reset(&lookup->table_slots);
	lookup->table_mask = 0;
	lookup->nslots = 0;
	lookup->nsent = 0;
	memset(lookup->partitions, 0, sizeof(lookup->partitions));
	lookup->open_partitions = NULL;
	lookup->last_partition = NULL;
}

void
fluss_lookup_close(fluss_lookup *lookup)
{
	if (lookup == NULL)
		return;
	fluss_lookup_end_run(lookup);
	fluss_arena_free(&lookup->run);
	fluss_arena_free(&lookup->keys);
	fluss_arena_free(&lookup->values);
	fluss_buf_free(&lookup->scratch);
	fluss_buf_free(&lookup->name);
	fluss_buf_free(&lookup->slots);
	fluss_buf_free(&lookup->table_slots);
	fluss_buf_free(&lookup->body);
	fluss_table_release(lookup->table);
	fluss_arena_free_owner(&lookup->arena);
}

const fluss_counters *
fluss_lookup_counters(const fluss_lookup *lookup)
{
	return &lookup->counters;
}

/* ---- keys */

static uint32_t *
table_at(const fluss_lookup *lookup, uint32_t position)
{
	return (uint32_t *) lookup->table_slots.data + position;
}

/* Makes the hash table anew and puts every slot in. */
static bool
grow_table(fluss_lookup *lookup)
{
	uint32_t	size = FIRST_TABLE_SIZE;

	/* at most half full, with the one to come */
	while (size / 2 <= (uint32_t) lookup->nslots + 1)
		size *= 2;
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
		uint32_t	at = fluss_lookup_slot(lookup, i)->hash & lookup->table_mask;

		while (*table_at(lookup, at) != 0)
			at = (at + 1) & lookup->table_mask;
		*table_at(lookup, at) = (uint32_t) i + 1;
	}
	return true;
}

/* Slot with these key bytes, or -1 and where it would go. */
static int
find_slot(const fluss_lookup *lookup, const fluss_buf *key,
		  const lookup_partition *partition, uint32_t hash,
		  uint32_t *position)
{
	uint32_t	at = hash & lookup->table_mask;
	uint32_t	entry;

	while ((entry = *table_at(lookup, at)) != 0)
	{
		const lookup_slot *slot = fluss_lookup_slot(lookup, (int) entry - 1);

		if (slot->hash == hash && slot->key.size == key->size &&
			slot->partition == partition &&
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
					  lookup->run.allocated +
					  lookup->slots.size + lookup->table_slots.size);
}

fluss_status
fluss_lookup_check_memory(const fluss_lookup *lookup, fluss_error *err)
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

		if (!lookup->key_counts[i])
			continue;
		if (key[i].is_null)
			return fluss_fail(err, FLUSS_NO_SUCH_KEY,
							  "a key value of table \"%s.%s\" is NULL",
							  lookup->table->database, lookup->table->name);
		if (fluss_value_check(&schema->columns[position], &key[i],
							  err) != FLUSS_OK)
		{
			err->status = FLUSS_NO_SUCH_KEY;
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
		*bucket = fluss_bucket_of(lookup->options.bucket_hash, table->lake,
								  lookup->scratch.data, key_size,
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
		*bucket = fluss_bucket_of(lookup->options.bucket_hash, table->lake,
								  lookup->scratch.data + key_size,
								  lookup->scratch.size - key_size,
								  table->nbuckets);
	lookup->scratch.size = key_size;
	return status;
}

static fluss_status
add_slot(fluss_lookup *lookup, lookup_partition *partition, uint32_t hash,
		 uint32_t position, int *slot, fluss_error *err)
{
	lookup_slot *added;
	uint8_t    *key;
	int32_t		bucket;
	fluss_status status;

	status = find_bucket(lookup, &bucket, err);
	if (status == FLUSS_OK)
		status = fluss_lookup_check_memory(lookup, err);
	if (status != FLUSS_OK)
		return status;
	key = fluss_arena_memdup(&lookup->keys, lookup->scratch.data,
							 lookup->scratch.size);
	if (key == NULL)
		return fluss_fail_memory(err);
	added = (lookup_slot *) fluss_buf_append_zeros(&lookup->slots,
												   sizeof(lookup_slot));
	if (added == NULL)
	{
		/* what is there stays whole: only room for one more is missing */
		lookup->slots.failed = false;
		return fluss_fail_memory(err);
	}
	added->key.data = key;
	added->key.size = lookup->scratch.size;
	added->hash = hash;
	added->bucket = bucket;
	added->partition = partition;
	*slot = lookup->nslots++;
	*table_at(lookup, position) = (uint32_t) *slot + 1;
	lookup->counters.keys++;
	return FLUSS_OK;
}

fluss_status
fluss_lookup_add(fluss_lookup *lookup, const fluss_value *key, int *slot,
				 fluss_error *err)
{
	lookup_partition *partition;
	uint32_t	position = 0;
	uint32_t	hash;
	fluss_status status;

	status = fill_key_row(lookup, key, err);
	if (status == FLUSS_OK)
		status = fluss_lookup_name_partition(lookup, &partition, err);
	if (status != FLUSS_OK)
		return status;
	fluss_buf_reset(&lookup->scratch);
	status = fluss_key_encode(lookup->key_encoder, lookup->table->schema,
							  lookup->key_columns, lookup->nkey_columns,
							  lookup->key_row, &lookup->scratch, err);
	if (status != FLUSS_OK)
		return status;
	if (lookup->scratch.failed)
		return fluss_fail_memory(err);
	if ((uint32_t) lookup->nslots >= lookup->table_mask / 2 &&
		!grow_table(lookup))
		return fluss_fail_memory(err);
	hash = (uint32_t) fluss_hash_bytes(lookup->scratch.data,
									   lookup->scratch.size);
	if (partition != NULL)
		hash ^= partition->hash;
	*slot = find_slot(lookup, &lookup->scratch, partition, hash, &position);
	if (*slot >= 0)
	{
		lookup->counters.duplicate_keys++;
		return FLUSS_OK;
	}
	return add_slot(lookup, partition, hash, position, slot, err);
}

/* ---- rows */

int32_t
fluss_lookup_bucket(const fluss_lookup *lookup, int slot)
{
	return fluss_lookup_slot(lookup, slot)->bucket;
}

int64_t
fluss_lookup_partition(const fluss_lookup *lookup, int slot)
{
	return fluss_lookup_partition_id(fluss_lookup_slot(lookup,
													   slot)->partition);
}

int
fluss_lookup_nrows(const fluss_lookup *lookup, int slot)
{
	return fluss_lookup_slot(lookup, slot)->found.n;
}

fluss_status
fluss_lookup_row(fluss_lookup *lookup, int slot, int i, fluss_value *values,
				 fluss_error *err)
{
	const fluss_found *found = &fluss_lookup_slot(lookup, slot)->found;
	fluss_bytes value;

	if (i < 0 || i >= found->n)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "a key has no row number %d", i);
	value = found->values[i];
	if (value.size < sizeof(uint16_t))
		return fluss_fail(err, FLUSS_MALFORMED,
						  "a value of table \"%s.%s\" has no schema id",
						  lookup->table->database, lookup->table->name);
	return fluss_projector_row(&lookup->projector,
							   (int16_t) fluss_load_u16le(value.data),
							   value.data + sizeof(uint16_t),
							   value.size - sizeof(uint16_t), values, err);
}
