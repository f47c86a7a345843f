/*
 * leader.c
 *	  Who leads a bucket, and where its replicas are.
 *
 * Leaders are cached on the table object, by partition.  One question brings
 * those of all buckets of a partition.  A leader that is not among the live
 * servers counts as none: the metadata keep naming a dead one until there is
 * another.
 */
#include <string.h>

#include "client.h"
#include "partition.h"

/* Partitions that one question asks about at most. */
#define MAX_ASKED		256
/* Tries while a server knows a partition and not yet its table. */
#define MAX_CONFUSED	8

static fluss_partition_leaders **
slot_of(fluss_table_object *object, int64_t partition_id)
{
	return &object->leaders[(uint64_t) partition_id % FLUSS_LEADER_SLOTS];
}

static fluss_partition_leaders *
find_partition(fluss_table_object *object, int64_t partition_id)
{
	for (fluss_partition_leaders *p = *slot_of(object, partition_id);
		 p != NULL; p = p->next)
	{
		if (p->partition_id == partition_id)
			return p;
	}
	return NULL;
}

static void
forget(fluss_partition_leaders *partition, int32_t nbuckets)
{
	partition->known = false;
	for (int32_t i = 0; i < nbuckets; i++)
		partition->leaders[i] = -1;
}

static fluss_partition_leaders *
add_partition(fluss_table_object *object, int64_t partition_id)
{
	fluss_partition_leaders **slot = slot_of(object, partition_id);
	fluss_partition_leaders *partition;
	int32_t		nbuckets = object->table.nbuckets;

	partition = fluss_arena_alloc(&object->arena, sizeof(*partition));
	if (partition == NULL)
		return NULL;
	partition->leaders = fluss_arena_array(&object->arena, nbuckets,
										   sizeof(*partition->leaders));
	if (partition->leaders == NULL)
		return NULL;
	forget(partition, nbuckets);
	partition->partition_id = partition_id;
	partition->next = *slot;
	*slot = partition;
	return partition;
}

/* For good: ids do not come again.  Its memory stays the table's. */
static void
remove_partition(fluss_table_object *object,
				 const fluss_partition_leaders *partition)
{
	fluss_partition_leaders **link = slot_of(object, partition->partition_id);

	while (*link != NULL && *link != partition)
		link = &(*link)->next;
	if (*link != NULL)
		*link = partition->next;
}

/* Without memory for it, it is asked for when it is needed. */
void
fluss_leader_expect(fluss_table *table, int64_t partition_id)
{
	fluss_table_object *object = (fluss_table_object *) table;

	if (find_partition(object, partition_id) == NULL)
		(void) add_partition(object, partition_id);
}

void
fluss_leader_forget(fluss_client *client, fluss_table *table)
{
	fluss_table_object *object = (fluss_table_object *) table;

	for (int i = 0; i < FLUSS_LEADER_SLOTS; i++)
	{
		for (fluss_partition_leaders *p = object->leaders[i]; p != NULL;
			 p = p->next)
			forget(p, table->nbuckets);
	}
}

static bool
leads_any(const fluss_table_object *object, int32_t node_id)
{
	for (int i = 0; i < FLUSS_LEADER_SLOTS; i++)
	{
		for (const fluss_partition_leaders *p = object->leaders[i];
			 p != NULL; p = p->next)
		{
			for (int b = 0; b < object->table.nbuckets; b++)
			{
				if (p->leaders[b] == node_id)
					return true;
			}
		}
	}
	return false;
}

int
fluss_table_known_leaders(fluss_client *client, const char *database,
						  const char *name, const fluss_node **nodes,
						  int max_nodes)
{
	const fluss_table_object *object = client->tables;
	int			n = 0;

	while (object != NULL && (strcmp(object->table.database, database) != 0 ||
							  strcmp(object->table.name, name) != 0))
		object = object->next;
	for (int i = 0; object != NULL && i < client->nnodes && n < max_nodes; i++)
	{
		const fluss_node *node = &client->nodes[i];

		if (!node->coordinator && leads_any(object, node->node_id))
			nodes[n++] = node;
	}
	return n;
}

/* ---- asking */

/*
 * Ids only grow: an entry with a greater one is about a new table of this
 * name.  One with a smaller id comes from a server that has not heard of this
 * table yet, and says nothing of its leaders.
 */
static fluss_status
check_entry(fluss_client *client, fluss_table *table,
			const fluss_metadata_buckets **entry, fluss_error *err)
{
	static const fluss_metadata_buckets nothing = {0};
	int64_t		table_id = (*entry)->table_id;

	if (table_id == table->table_id)
		return FLUSS_OK;
	if (table_id < table->table_id)
	{
		*entry = &nothing;
		return FLUSS_OK;
	}
	(void) fluss_fail(err, FLUSS_TABLE_CHANGED,
					  "Fluss table \"%s\" in database \"%s\" was made again",
					  table->name, table->database);
	fluss_error_detail(err, "Its id was %lld and is %lld now.",
					   (long long) table->table_id, (long long) table_id);
	fluss_table_forget(client, table->database, table->name);
	return err->status;
}

/*
 * Tables that the user may not describe are left out of metadata without a
 * word; describing one by name says why.
 */
static fluss_status
explain_omission(fluss_client *client, fluss_table *table, fluss_error *err)
{
	fluss_status status = fluss_table_verify(client, table, err);

	if (status != FLUSS_OK)
		return status;
	return fluss_fail(err, FLUSS_CANNOT_CONNECT,
					  "Fluss cluster has no metadata of table \"%s\" in database \"%s\"",
					  table->name, table->database);
}

/* A partition that was asked for by id is gone: it does not come back. */
static void
explain_dropped(fluss_table *table, const int64_t *partition_ids, int n,
				fluss_error *err)
{
	fluss_error_message(err, "partition %lld of Fluss table \"%s\" in database \"%s\" does not exist any more",
						(long long) partition_ids[0], table->name,
						table->database);
	if (n == 1)
		err->partition_id = partition_ids[0];
	fluss_partitions_forget(table);
}

static fluss_status
ask_metadata(fluss_client *client, fluss_table *table,
			 const int64_t *partition_ids, int n, int64_t deadline_ms,
			 fluss_arena *arena, fluss_metadata *metadata, fluss_error *err)
{
	for (int attempt = 0;; attempt++)
	{
		int64_t		pause = fluss_backoff_ms(attempt);
		fluss_error problem;
		fluss_status status;

		status = fluss_nodes_ask(client, table->database, table->name,
								 partition_ids, n, deadline_ms, arena,
								 metadata, err);
		if (status == FLUSS_OK)
			return status;
		/*
		 * A tablet server of Fluss 0.9 that has heard of a new partition
		 * before its table stumbles over the missing path.
		 */
		if (n == 0 || status != FLUSS_SERVER_ERROR ||
			err->server_code != FLUSS_CODE_UNKNOWN_SERVER_ERROR ||
			attempt == MAX_CONFUSED ||
			fluss_client_now(client) + pause >= deadline_ms)
			break;
		status = fluss_cluster_sleep(client, pause, &problem);
		if (status != FLUSS_OK)
		{
			*err = problem;
			return status;
		}
	}
	if (n > 0 && fluss_error_is_dropped_partition(err))
		explain_dropped(table, partition_ids, n, err);
	else
		fluss_table_explain(client, table->database, table->name, deadline_ms,
							err);
	return err->status;
}

/*
 * The entry about the partition, or about the table if it has none; NULL: the
 * answer has none.
 */
static fluss_status
find_entry(fluss_client *client, fluss_table *table, int64_t partition_id,
		   const fluss_metadata *metadata,
		   const fluss_metadata_buckets **entry, fluss_error *err)
{
	bool		partitioned = partition_id != FLUSS_NO_PARTITION;

	*entry = NULL;
	for (int i = 0; i < metadata->nentries; i++)
	{
		const fluss_metadata_buckets *found = &metadata->entries[i];

		if (found->partition_id != partition_id)
			continue;
		if (!partitioned && (strcmp(found->table, table->name) != 0 ||
							 strcmp(found->database, table->database) != 0))
			continue;
		*entry = found;
		return check_entry(client, table, entry, err);
	}
	return FLUSS_OK;
}

static void
fill_leaders(fluss_client *client, fluss_partition_leaders *partition,
			 int32_t nbuckets, const fluss_metadata_buckets *entry)
{
	forget(partition, nbuckets);
	for (int i = 0; i < entry->nbuckets; i++)
	{
		const fluss_bucket_info *bucket = &entry->buckets[i];

		if (bucket->bucket < nbuckets && bucket->leader >= 0 &&
			fluss_nodes_find(client, bucket->leader,
							 FLUSS_API_FETCH_LOG) != NULL)
			partition->leaders[bucket->bucket] = bucket->leader;
	}
}

static fluss_status
fail_leaderless(const fluss_table *table, int32_t bucket, int64_t partition_id,
				fluss_error *err)
{
	(void) fluss_fail(err, FLUSS_CANNOT_CONNECT,
					  "no leader for bucket %d of table \"%s\" in Fluss database \"%s\"",
					  bucket, table->name, table->database);
	if (partition_id != FLUSS_NO_PARTITION)
		fluss_error_detail(err, "The partition's id is %lld.",
						   (long long) partition_id);
	return err->status;
}

/*
 * The partitions to ask about: the given one, and others whose leaders are
 * wanted and not known.
 */
static int
choose_asked(fluss_table *table, fluss_partition_leaders *first,
			 fluss_partition_leaders **asked)
{
	fluss_table_object *object = (fluss_table_object *) table;
	int			n = 0;

	asked[n++] = first;
	if (first->partition_id == FLUSS_NO_PARTITION)
		return n;
	for (int i = 0; i < FLUSS_LEADER_SLOTS; i++)
	{
		for (fluss_partition_leaders *p = object->leaders[i]; p != NULL;
			 p = p->next)
		{
			if (n < MAX_ASKED && p != first && !p->known &&
				p->partition_id != FLUSS_NO_PARTITION)
				asked[n++] = p;
		}
	}
	return n;
}

static fluss_status
ask_about(fluss_client *client, fluss_table *table,
		  fluss_partition_leaders *const *asked, int n, int64_t deadline_ms,
		  fluss_error *err)
{
	int64_t		ids[MAX_ASKED];
	fluss_arena arena;
	fluss_metadata metadata;
	fluss_status status;

	for (int i = 0; i < n; i++)
		ids[i] = asked[i]->partition_id;
	fluss_arena_init(&arena, &client->host);
	status = ask_metadata(client, table, ids,
						  ids[0] == FLUSS_NO_PARTITION ? 0 : n, deadline_ms,
						  &arena, &metadata, err);
	for (int i = 0; status == FLUSS_OK && i < n; i++)
	{
		const fluss_metadata_buckets *entry;

		status = find_entry(client, table, ids[i], &metadata, &entry, err);
		if (status == FLUSS_OK && entry != NULL)
		{
			fill_leaders(client, asked[i], table->nbuckets, entry);
			asked[i]->known = true;
		}
		else if (status == FLUSS_OK && i == 0)
			status = explain_omission(client, table, err);
	}
	fluss_arena_free(&arena);
	return status;
}

/*
 * One dropped partition fails the whole question: then the others have to wait
 * for their own.  The one that is found to be dropped is not asked about again
 * beside others.
 */
static fluss_status
ask_leaders(fluss_client *client, fluss_table *table,
			fluss_partition_leaders *partition, int64_t deadline_ms,
			fluss_error *err)
{
	fluss_partition_leaders *asked[MAX_ASKED];
	int			n = choose_asked(table, partition, asked);
	fluss_status status = ask_about(client, table, asked, n, deadline_ms, err);

	if (status != FLUSS_OK && n > 1 && fluss_error_is_dropped_partition(err))
	{
		for (int i = 1; i < n; i++)
			asked[i]->known = true;
		status = ask_about(client, table, asked, 1, deadline_ms, err);
	}
	if (status != FLUSS_OK && fluss_error_is_dropped_partition(err))
		remove_partition((fluss_table_object *) table, partition);
	return status;
}

static fluss_status
find_by_asking(fluss_client *client, fluss_table *table,
			   fluss_partition_leaders *partition, int32_t bucket,
			   int64_t deadline_ms, int32_t *node, fluss_error *err)
{
	for (int attempt = 0;; attempt++)
	{
		int64_t		pause = fluss_backoff_ms(attempt);
		fluss_status status;

		status = ask_leaders(client, table, partition, deadline_ms, err);
		if (status != FLUSS_OK)
			return status;
		*node = partition->leaders[bucket];
		if (*node >= 0)
			return FLUSS_OK;
		if (fluss_client_now(client) + pause >= deadline_ms)
			return fail_leaderless(table, bucket, partition->partition_id, err);
		status = fluss_cluster_sleep(client, pause, err);
		if (status != FLUSS_OK)
			return status;
	}
}

static fluss_status
open_partition(fluss_table *table, int64_t partition_id, int32_t bucket,
			   fluss_partition_leaders **partition, fluss_error *err)
{
	fluss_table_object *object = (fluss_table_object *) table;

	if (bucket < 0 || bucket >= table->nbuckets)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "table \"%s\" has no bucket %d", table->name, bucket);
	*partition = find_partition(object, partition_id);
	if (*partition == NULL)
		*partition = add_partition(object, partition_id);
	return *partition == NULL ? fluss_fail_memory(err) : FLUSS_OK;
}

fluss_status
fluss_leader_find(fluss_client *client, fluss_table *table,
				  int64_t partition_id, int32_t bucket, int64_t deadline_ms,
				  int32_t *node, fluss_error *err)
{
	fluss_partition_leaders *partition;
	fluss_status status;

	status = open_partition(table, partition_id, bucket, &partition, err);
	if (status != FLUSS_OK)
		return status;
	*node = partition->leaders[bucket];
	if (*node >= 0)
		return FLUSS_OK;
	/* an answer may make the cache drop the table */
	fluss_table_retain(table);
	status = find_by_asking(client, table, partition, bucket, deadline_ms,
							node, err);
	fluss_table_release(table);
	return status;
}

fluss_status
fluss_leader_look(fluss_client *client, fluss_table *table,
				  int64_t partition_id, int32_t bucket, bool *asked,
				  int64_t deadline_ms, int32_t *node, fluss_error *err)
{
	fluss_partition_leaders *partition;
	fluss_status status;

	/* what was asked about and is not there any more is dropped */
	if (*asked &&
		find_partition((fluss_table_object *) table, partition_id) == NULL)
	{
		*node = -1;
		return FLUSS_OK;
	}
	status = open_partition(table, partition_id, bucket, &partition, err);
	if (status == FLUSS_OK && partition->leaders[bucket] < 0 && !*asked)
	{
		*asked = true;
		fluss_table_retain(table);
		status = ask_leaders(client, table, partition, deadline_ms, err);
		*node = status == FLUSS_OK ? partition->leaders[bucket] : -1;
		fluss_table_release(table);
		return status;
	}
	if (status == FLUSS_OK)
		*node = partition->leaders[bucket];
	return status;
}

/* ---- listing */

/* Of all partitions, or of the table if it has none; in the answer's order. */
static fluss_status
gather_buckets(fluss_client *client, fluss_table *table,
			   const int64_t *partition_ids, int n,
			   const fluss_metadata *metadata,
			   const fluss_bucket_info **buckets, int *nbuckets,
			   fluss_error *err)
{
	fluss_bucket_info *all;
	size_t		room = 0;

	for (int i = 0; i < metadata->nentries; i++)
		room += (size_t) metadata->entries[i].nbuckets;
	all = fluss_arena_array(&client->buckets_result, room, sizeof(*all));
	if (all == NULL)
		return fluss_fail_memory(err);
	*buckets = all;
	*nbuckets = 0;
	for (int i = 0; i < n; i++)
	{
		const fluss_metadata_buckets *entry;
		fluss_partition_leaders *leaders;
		fluss_status status;

		status = find_entry(client, table, partition_ids[i], metadata, &entry,
							err);
		if (status == FLUSS_OK && entry == NULL)
			status = explain_omission(client, table, err);
		if (status != FLUSS_OK)
			return status;
		leaders = find_partition((fluss_table_object *) table,
								 partition_ids[i]);
		if (leaders != NULL)
			fill_leaders(client, leaders, table->nbuckets, entry);
		for (int b = 0; b < entry->nbuckets; b++)
			all[(*nbuckets)++] = entry->buckets[b];
	}
	return FLUSS_OK;
}

static fluss_status
list_buckets(fluss_client *client, fluss_table *table,
			 const fluss_bucket_info **buckets, int *nbuckets,
			 fluss_error *err)
{
	const int64_t none = FLUSS_NO_PARTITION;
	const int64_t *ids = &none;
	int			n = 1;
	fluss_partitions *partitions = NULL;
	int64_t    *listed;
	fluss_metadata metadata;
	fluss_status status = FLUSS_OK;

	fluss_arena_reset(&client->buckets_result);
	if (table->npartition_key > 0)
	{
		status = fluss_partitions_open(client, table, 0, &partitions, err);
		if (status != FLUSS_OK)
			return status;
		n = partitions->n;
		listed = fluss_arena_array(&client->buckets_result, (size_t) n,
								   sizeof(*listed));
		for (int i = 0; listed != NULL && i < n; i++)
			listed[i] = partitions->items[i].partition_id;
		fluss_partitions_release(partitions);
		if (listed == NULL)
			return fluss_fail_memory(err);
		ids = listed;
	}
	status = ask_metadata(client, table, ids,
						  table->npartition_key > 0 ? n : 0,
						  fluss_client_deadline(client),
						  &client->buckets_result, &metadata, err);
	if (status == FLUSS_OK)
		status = gather_buckets(client, table, ids, n, &metadata, buckets,
								nbuckets, err);
	return status;
}

/* A partition may be dropped between the list and the question. */
#define MAX_LISTINGS	5

fluss_status
fluss_table_buckets(fluss_client *client, fluss_table *table,
					const fluss_bucket_info **buckets, int *nbuckets,
					fluss_error *err)
{
	fluss_status status;
	int			tries = 0;

	fluss_table_retain(table);
	do
		status = list_buckets(client, table, buckets, nbuckets, err);
	while (status != FLUSS_OK && fluss_error_is_dropped_partition(err) &&
		   ++tries < MAX_LISTINGS);
	fluss_table_release(table);
	return status;
}
