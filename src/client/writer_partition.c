/*
 * writer_partition.c
 *	  The buckets of a writer, and the partitions they belong to.
 *
 * A table without partitions has one write_partition without a name.  Else
 * each is made when the first row names it, and the remote one is created if
 * it does not exist and the writer may.
 */
#include <time.h>

#include "error.h"
#include "hash.h"
#include "partition.h"
#include "writer.h"

/* How old the client's list of partitions may be to be believed. */
#define LIST_AGE_MS		5000

/* ---- buckets */

static uint64_t
next_random(fluss_writer *writer)
{
	uint64_t	x = writer->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	writer->random = x;
	return x;
}

/*
 * Rows without a bucket key stay with one bucket until its batch is closed:
 * few large batches instead of many small ones.
 */
void
fluss_write_leave_sticky(fluss_writer *writer, write_bucket *bucket)
{
	write_partition *partition = bucket->partition;
	int32_t		others = writer->table->nbuckets - 1;
	int32_t		next;

	if (others < 1 || bucket->bucket != partition->sticky)
		return;
	next = (int32_t) (next_random(writer) % (uint64_t) others);
	partition->sticky = next < partition->sticky ? next : next + 1;
}

static void
init_bucket(fluss_writer *writer, write_partition *partition, int32_t number)
{
	write_bucket *bucket = &partition->buckets[number];

	bucket->partition = partition;
	bucket->bucket = number;
	bucket->void_writer = FLUSS_NO_WRITER;
	fluss_buf_init(&bucket->records, &writer->host);
	fluss_buf_init(&bucket->runs, &writer->host);
	fluss_retry_clear(&bucket->retry);
}

/* Where the buckets of a partition go: they are kept by ascending id. */
static int
find_place(const fluss_writer *writer, int64_t partition_id)
{
	int			at = writer->nbuckets;

	while (at > 0 && writer->buckets[at - 1]->partition->partition_id >
		   partition_id)
		at--;
	return at;
}

static bool
grow_buckets(fluss_writer *writer)
{
	int			n = writer->table->nbuckets;
	int			room = 2 * (writer->nbuckets + n);
	write_bucket **grown;

	if (writer->nbuckets + n <= writer->buckets_room)
		return true;
	grown = fluss_arena_array(&writer->arena, (size_t) room, sizeof(*grown));
	if (grown == NULL)
		return false;
	if (writer->nbuckets > 0)
		memcpy(grown, writer->buckets,
			   (size_t) writer->nbuckets * sizeof(*grown));
	writer->buckets = grown;
	writer->buckets_room = room;
	return true;
}

static fluss_status
add_partition(fluss_writer *writer, const char *name, uint32_t hash,
			  int64_t partition_id, write_partition **added, fluss_error *err)
{
	write_partition **slot =
		&writer->partitions[hash % FLUSS_WRITE_PARTITION_SLOTS];
	int			n = writer->table->nbuckets;
	write_partition *partition = fluss_arena_alloc0(&writer->arena,
													sizeof(*partition));
	int			at = find_place(writer, partition_id);

	if (partition == NULL)
		return fluss_fail_memory(err);
	partition->name = fluss_arena_strdup(&writer->arena, name);
	partition->buckets = fluss_arena_array(&writer->arena, (size_t) n,
										   sizeof(write_bucket));
	if (partition->name == NULL || partition->buckets == NULL ||
		!grow_buckets(writer))
		return fluss_fail_memory(err);
	partition->hash = hash;
	partition->partition_id = partition_id;
	partition->sticky = (int32_t) (next_random(writer) >> 33) % n;
	memmove(writer->buckets + at + n, writer->buckets + at,
			(size_t) (writer->nbuckets - at) * sizeof(*writer->buckets));
	for (int i = 0; i < n; i++)
	{
		init_bucket(writer, partition, i);
		writer->buckets[at + i] = &partition->buckets[i];
	}
	writer->nbuckets += n;
	writer->npartitions++;
	partition->next = *slot;
	*slot = partition;
	if (partition_id != FLUSS_NO_PARTITION)
		fluss_leader_expect(writer->table, partition_id);
	*added = partition;
	return FLUSS_OK;
}

fluss_status
fluss_write_make_buckets(fluss_writer *writer, fluss_error *err)
{
	/* any bucket will do; not the same one for every writer */
	writer->random = (uint64_t) writer->host.now_ms(writer->host.arg) << 16;
	writer->random = (writer->random ^ (uint64_t) (uintptr_t) writer) | 1;
	if (writer->table->npartition_key > 0)
		return FLUSS_OK;
	return add_partition(writer, "", 0, FLUSS_NO_PARTITION, &writer->last,
						 err);
}

/* ---- partitions */

static fluss_status
fail_missing(const fluss_writer *writer, const char *name, fluss_error *err)
{
	(void) fluss_fail_server(err, FLUSS_CODE_PARTITION_NOT_EXISTS, NULL, 0,
							 "find the partition");
	fluss_error_message(err, "partition \"%.64s\" of Fluss table \"%s\" in database \"%s\" does not exist",
						name, writer->table->name, writer->table->database);
	fluss_error_hint(err, "Create the partition, or let the option create_partitions do it.");
	return err->status;
}

/* Cuts a name into its values. */
static const char *const *
split_name(const fluss_writer *writer, fluss_arena *arena, const char *name)
{
	int			n = writer->table->npartition_key;
	const char **values = fluss_arena_array(arena, (size_t) n,
											sizeof(*values));

	for (int i = 0; values != NULL && i < n; i++)
	{
		size_t		size = strcspn(name, "$");

		values[i] = fluss_arena_strndup(arena, name, size);
		if (values[i] == NULL)
			return NULL;
		name += size + (name[size] == '$');
	}
	return values;
}

static fluss_status
create(fluss_writer *writer, const char *name, fluss_error *err)
{
	fluss_arena arena;
	const char *const *values;
	fluss_status status;

	fluss_arena_init(&arena, &writer->host);
	values = split_name(writer, &arena, name);
	status = values == NULL ? fluss_fail_memory(err) :
		fluss_partition_check_age(writer->table, values,
								  writer->options.zone_offset,
								  (int64_t) time(NULL), err);
	if (status == FLUSS_OK && !writer->options.create_partitions)
		status = fail_missing(writer, name, err);
	if (status == FLUSS_OK)
		status = fluss_create_partition(writer->client, writer->table, values,
										true, err);
	fluss_arena_free(&arena);
	return status;
}

/* The id of a name; FLUSS_NO_PARTITION: there is none in a list that old. */
static fluss_status
look_for_id(fluss_writer *writer, const char *name, int64_t age_ms,
			int64_t *partition_id, fluss_error *err)
{
	const fluss_partition *found;
	fluss_partitions *list;
	fluss_status status;

	*partition_id = FLUSS_NO_PARTITION;
	status = fluss_partitions_open(writer->client, writer->table, age_ms,
								   &list, err);
	if (status != FLUSS_OK)
		return status;
	found = fluss_partition_find(writer->table, list, name);
	if (found != NULL)
		*partition_id = found->partition_id;
	fluss_partitions_release(list);
	return FLUSS_OK;
}

/* Only what is written may make a partition; nothing is deleted in a new one. */
static fluss_status
find_id(fluss_writer *writer, const char *name, bool may_create,
		int64_t *partition_id, fluss_error *err)
{
	fluss_status status = look_for_id(writer, name, LIST_AGE_MS, partition_id,
									  err);

	if (status == FLUSS_OK && *partition_id == FLUSS_NO_PARTITION)
		status = look_for_id(writer, name, 0, partition_id, err);
	if (status != FLUSS_OK || *partition_id != FLUSS_NO_PARTITION ||
		!may_create)
		return status;
	status = create(writer, name, err);
	if (status == FLUSS_OK)
		status = look_for_id(writer, name, LIST_AGE_MS, partition_id, err);
	if (status == FLUSS_OK && *partition_id == FLUSS_NO_PARTITION)
		status = fail_missing(writer, name, err);
	return status;
}

/* Into writer->name: that of a row's partition. */
static fluss_status
name_partition(fluss_writer *writer, const fluss_value *row, fluss_error *err)
{
	fluss_buf_reset(&writer->name);
	for (int i = 0; i < writer->table->npartition_key; i++)
	{
		int32_t		column = writer->table->partition_key[i];

		if (row[column].is_null)
			return fluss_fail(err, FLUSS_NOT_NULL_VIOLATION,
							  "null value in partition column \"%s\"",
							  writer->table->schema->columns[column].name);
	}
	return fluss_partition_name(writer->table, row, &writer->name, err);
}

fluss_status
fluss_write_find_partition(fluss_writer *writer, const fluss_value *row,
						   bool may_create, write_partition **partition,
						   fluss_error *err)
{
	const char *name;
	uint32_t	hash;
	int64_t		partition_id;
	fluss_status status;

	*partition = writer->last;
	if (writer->table->npartition_key == 0)
		return FLUSS_OK;
	status = name_partition(writer, row, err);
	if (status != FLUSS_OK)
		return status;
	name = (const char *) writer->name.data;
	if (*partition != NULL && strcmp((*partition)->name, name) == 0)
		return FLUSS_OK;
	hash = (uint32_t) fluss_hash_bytes(writer->name.data, writer->name.size);
	*partition = writer->partitions[hash % FLUSS_WRITE_PARTITION_SLOTS];
	while (*partition != NULL && ((*partition)->hash != hash ||
								  strcmp((*partition)->name, name) != 0))
		*partition = (*partition)->next;
	if (*partition == NULL)
	{
		status = find_id(writer, name, may_create, &partition_id, err);
		if (status == FLUSS_OK && partition_id != FLUSS_NO_PARTITION)
			status = add_partition(writer, name, hash, partition_id, partition,
								   err);
	}
	if (status == FLUSS_OK && *partition != NULL)
		writer->last = *partition;
	return status;
}
