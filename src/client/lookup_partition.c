/*
 * lookup_partition.c
 *	  The partitions that the keys of a lookup name.
 *
 * A name is looked for in the list that the client knows.  The list is asked
 * for anew once a send when a name is missing: then the partition does not
 * exist, and its keys have no rows.
 */
#include "error.h"
#include "hash.h"
#include "lookup.h"

/* A list of any age will do: a name that it lacks has it asked for anew. */
#define ANY_AGE		INT64_MAX

static lookup_partition *
find_named(fluss_lookup *lookup, const char *name, uint32_t hash)
{
	lookup_partition *partition =
		lookup->partitions[hash % FLUSS_LOOKUP_PARTITION_SLOTS];

	while (partition != NULL &&
		   (partition->hash != hash || strcmp(partition->name, name) != 0))
		partition = partition->next;
	return partition;
}

static lookup_partition *
add_named(fluss_lookup *lookup, const char *name, uint32_t hash)
{
	lookup_partition **link =
		&lookup->partitions[hash % FLUSS_LOOKUP_PARTITION_SLOTS];
	lookup_partition *partition = fluss_arena_alloc0(&lookup->keys,
													 sizeof(*partition));

	if (partition == NULL)
		return NULL;
	partition->name = fluss_arena_strdup(&lookup->keys, name);
	if (partition->name == NULL)
		return NULL;
	partition->hash = hash;
	partition->partition_id = FLUSS_NO_PARTITION;
	partition->next = *link;
	*link = partition;
	/* an empty name is none that could be found */
	if (*name != '\0')
	{
		partition->next_open = lookup->open_partitions;
		lookup->open_partitions = partition;
	}
	return partition;
}

fluss_status
fluss_lookup_name_partition(fluss_lookup *lookup, lookup_partition **partition,
							fluss_error *err)
{
	const char *name;
	uint32_t	hash;
	fluss_status status;

	*partition = NULL;
	if (lookup->table->npartition_key == 0)
		return FLUSS_OK;
	fluss_buf_reset(&lookup->name);
	status = fluss_partition_name(lookup->table, lookup->key_row,
								  &lookup->name, err);
	name = (const char *) lookup->name.data;
	if (status == FLUSS_VALUE_OUT_OF_RANGE)
		name = "";				/* there cannot be such a partition */
	else if (status != FLUSS_OK)
		return status;
	*partition = lookup->last_partition;
	if (*partition != NULL && strcmp((*partition)->name, name) == 0)
		return FLUSS_OK;
	hash = (uint32_t) fluss_hash_bytes((const uint8_t *) name, strlen(name));
	*partition = find_named(lookup, name, hash);
	if (*partition == NULL)
		*partition = add_named(lookup, name, hash);
	if (*partition == NULL)
		return fluss_fail_memory(err);
	lookup->last_partition = *partition;
	return FLUSS_OK;
}

/* True when all that are open were found. */
static bool
take_ids(fluss_lookup *lookup, const fluss_partitions *list)
{
	bool		all = true;

	for (lookup_partition *partition = lookup->open_partitions;
		 partition != NULL; partition = partition->next_open)
	{
		const fluss_partition *found = fluss_partition_find(lookup->table,
															list,
															partition->name);

		if (found != NULL)
			partition->partition_id = found->partition_id;
		all = all && found != NULL;
	}
	return all;
}

fluss_status
fluss_lookup_find_partitions(fluss_lookup *lookup, fluss_error *err)
{
	int64_t		age = ANY_AGE;
	bool		all = false;

	while (lookup->open_partitions != NULL && !all)
	{
		fluss_partitions *list;
		fluss_status status;

		status = fluss_partitions_open(lookup->client, lookup->table, age,
									   &list, err);
		if (status != FLUSS_OK)
			return status;
		all = take_ids(lookup, list);
		fluss_partitions_release(list);
		if (age == 0)
			break;
		age = 0;
	}
	for (lookup_partition *partition = lookup->open_partitions;
		 partition != NULL; partition = partition->next_open)
	{
		if (partition->partition_id != FLUSS_NO_PARTITION)
			fluss_leader_expect(lookup->table, partition->partition_id);
	}
	lookup->open_partitions = NULL;
	return FLUSS_OK;
}

fluss_status
fluss_lookup_find_again(fluss_lookup *lookup, lookup_partition *partition,
						fluss_error *err)
{
	const fluss_partition *found;
	fluss_partitions *list;
	fluss_status status;

	status = fluss_partitions_open(lookup->client, lookup->table, 0, &list,
								   err);
	if (status != FLUSS_OK)
		return status;
	found = fluss_partition_find(lookup->table, list, partition->name);
	partition->partition_id = found == NULL ? FLUSS_NO_PARTITION :
		found->partition_id;
	partition->moved = true;
	fluss_partitions_release(list);
	return FLUSS_OK;
}
