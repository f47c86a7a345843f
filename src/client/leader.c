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

static fluss_partition_leaders *
find_partition(const fluss_table_object *object, int64_t partition_id)
{
	for (fluss_partition_leaders *p = object->leaders; p != NULL; p = p->next)
	{
		if (p->partition_id == partition_id)
			return p;
	}
	return NULL;
}

static void
forget(fluss_partition_leaders *partition, int32_t nbuckets)
{
	for (int32_t i = 0; i < nbuckets; i++)
		partition->leaders[i] = -1;
}

static fluss_partition_leaders *
add_partition(fluss_table_object *object, int64_t partition_id)
{
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
	partition->next = object->leaders;
	object->leaders = partition;
	return partition;
}

void
fluss_leader_forget(fluss_client *client, fluss_table *table)
{
	fluss_table_object *object = (fluss_table_object *) table;

	for (fluss_partition_leaders *p = object->leaders; p != NULL; p = p->next)
		forget(p, table->nbuckets);
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
		bool		leads = false;

		for (const fluss_partition_leaders *p = object->leaders;
			 p != NULL && !node->coordinator && !leads; p = p->next)
		{
			for (int b = 0; b < object->table.nbuckets && !leads; b++)
				leads = p->leaders[b] == node->node_id;
		}
		if (leads)
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

/* The entry about the partition, or about the table if it has none. */
static fluss_status
ask_buckets(fluss_client *client, fluss_table *table, int64_t partition_id,
			int64_t deadline_ms, fluss_arena *arena,
			const fluss_metadata_buckets **entry, fluss_error *err)
{
	bool		partitioned = partition_id != FLUSS_NO_PARTITION;
	fluss_metadata metadata;
	fluss_status status;

	status = fluss_nodes_ask(client, table->database, table->name,
							 &partition_id, partitioned ? 1 : 0, deadline_ms,
							 arena, &metadata, err);
	if (status != FLUSS_OK)
	{
		fluss_table_explain(client, table->database, table->name, deadline_ms,
							err);
		return err->status;
	}
	for (int i = 0; i < metadata.nentries; i++)
	{
		const fluss_metadata_buckets *found = &metadata.entries[i];

		if (found->partition_id != partition_id)
			continue;
		if (!partitioned && (strcmp(found->table, table->name) != 0 ||
							 strcmp(found->database, table->database) != 0))
			continue;
		*entry = found;
		return check_entry(client, table, entry, err);
	}
	return explain_omission(client, table, err);
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

static fluss_status
ask_leaders(fluss_client *client, fluss_table *table,
			fluss_partition_leaders *partition, int64_t deadline_ms,
			fluss_error *err)
{
	fluss_arena arena;
	const fluss_metadata_buckets *entry;
	fluss_status status;

	fluss_arena_init(&arena, &client->host);
	status = ask_buckets(client, table, partition->partition_id, deadline_ms,
						 &arena, &entry, err);
	if (status == FLUSS_OK)
		fill_leaders(client, partition, table->nbuckets, entry);
	fluss_arena_free(&arena);
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

fluss_status
fluss_table_buckets(fluss_client *client, fluss_table *table,
					const fluss_bucket_info **buckets, int *nbuckets,
					fluss_error *err)
{
	const fluss_metadata_buckets *entry;
	fluss_partition_leaders *partition;
	fluss_status status;

	if (table->npartition_key > 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "cannot list the buckets of partitioned table \"%s\"",
						  table->name);
	fluss_table_retain(table);
	fluss_arena_reset(&client->buckets_result);
	status = ask_buckets(client, table, FLUSS_NO_PARTITION,
						 fluss_client_deadline(client),
						 &client->buckets_result, &entry, err);
	if (status == FLUSS_OK)
	{
		partition = find_partition((fluss_table_object *) table,
								   FLUSS_NO_PARTITION);
		if (partition != NULL)
			fill_leaders(client, partition, table->nbuckets, entry);
		*buckets = entry->buckets;
		*nbuckets = entry->nbuckets;
	}
	fluss_table_release(table);
	return status;
}
