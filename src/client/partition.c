/*
 * partition.c
 *	  The partitions of a table: listing, creating, dropping.
 *
 * A list is immutable.  The newest one hangs on the table's description, with
 * the time it was asked for; whoever holds an older one keeps it.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "partition.h"

/* What a fluss_partitions really is. */
typedef struct partitions_object
{
	fluss_partitions partitions;	/* must be first */
	const fluss_partition **by_name;
	fluss_host	host;
	fluss_arena arena;			/* of the items and their texts */
	int			references;
	int64_t		asked_ms;
} partitions_object;

/* ---- lists */

static partitions_object *
new_list(const fluss_host *host)
{
	partitions_object *list = host->alloc(host->arg, sizeof(*list));

	if (list == NULL)
		return NULL;
	memset(list, 0, sizeof(*list));
	list->host = *host;
	list->references = 1;
	fluss_arena_init(&list->arena, &list->host);
	return list;
}

void
fluss_partitions_release(fluss_partitions *partitions)
{
	partitions_object *list = (partitions_object *) partitions;
	fluss_host	host;

	if (list == NULL || --list->references > 0)
		return;
	host = list->host;
	fluss_arena_free(&list->arena);
	host.free(host.arg, list);
}

void
fluss_partitions_forget(fluss_table *table)
{
	fluss_table_object *object = (fluss_table_object *) table;

	fluss_partitions_release(object->partitions);
	object->partitions = NULL;
}

const fluss_partition *
fluss_partition_by_id(const fluss_partitions *partitions, int64_t partition_id)
{
	int32_t		low = 0;
	int32_t		high = partitions->n;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;

		if (partitions->items[middle].partition_id < partition_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == partitions->n ||
		partitions->items[low].partition_id != partition_id)
		return NULL;
	return &partitions->items[low];
}

const fluss_partition *
fluss_partition_by_name(const fluss_partitions *partitions, const char *name)
{
	const partitions_object *list = (const partitions_object *) partitions;
	int32_t		low = 0;
	int32_t		high = partitions->n;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;
		int			cmp = strcmp(list->by_name[middle]->name, name);

		if (cmp == 0)
			return list->by_name[middle];
		if (cmp < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int
compare_ids(const void *a, const void *b)
{
	const fluss_partition *x = a;
	const fluss_partition *y = b;

	if (x->partition_id != y->partition_id)
		return x->partition_id < y->partition_id ? -1 : 1;
	return 0;
}

static int
compare_names(const void *a, const void *b)
{
	const fluss_partition *const *x = a;
	const fluss_partition *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* ---- what the server says */

static const char *
value_of(const fluss_partition_entry *entry, const char *key)
{
	for (int i = 0; i < entry->nvalues; i++)
	{
		if (strcmp(entry->values[i].key, key) == 0)
			return entry->values[i].value;
	}
	return NULL;
}

static char *
join_values(fluss_arena *arena, const char *const *values, int n)
{
	size_t		size = 0;
	char	   *name;
	char	   *p;

	for (int i = 0; i < n; i++)
		size += strlen(values[i]) + 1;
	name = p = fluss_arena_alloc(arena, size);
	for (int i = 0; name != NULL && i < n; i++)
	{
		size_t		length = strlen(values[i]);

		memcpy(p, values[i], length);
		p[length] = i + 1 < n ? '$' : '\0';
		p += length + 1;
	}
	return name;
}

/* The server names the columns in any order. */
static fluss_status
fill_item(fluss_arena *arena, const fluss_table *table,
		  const fluss_partition_entry *entry, fluss_partition *item,
		  fluss_error *err)
{
	int			n = table->npartition_key;
	const char **values = fluss_arena_array(arena, (size_t) n,
											sizeof(*values));

	if (values == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		const char *key =
			table->schema->columns[table->partition_key[i]].name;
		const char *value = value_of(entry, key);

		if (value == NULL)
			return fluss_fail(err, FLUSS_MALFORMED,
							  "partition %lld of Fluss table \"%s\" in database \"%s\" has no value for column \"%s\"",
							  (long long) entry->partition_id, table->name,
							  table->database, key);
		values[i] = fluss_arena_strdup(arena, value);
		if (values[i] == NULL)
			return fluss_fail_memory(err);
	}
	item->partition_id = entry->partition_id;
	item->values = values;
	item->name = join_values(arena, values, n);
	return item->name == NULL ? fluss_fail_memory(err) : FLUSS_OK;
}

static fluss_status
fill_list(partitions_object *list, const fluss_table *table,
		  const fluss_partition_entry *entries, int n, fluss_error *err)
{
	fluss_partition *items = fluss_arena_array(&list->arena, (size_t) n,
											   sizeof(*items));

	list->by_name = fluss_arena_array(&list->arena, (size_t) n,
									  sizeof(*list->by_name));
	if (items == NULL || list->by_name == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		fluss_status status = fill_item(&list->arena, table, &entries[i],
										&items[i], err);

		if (status != FLUSS_OK)
			return status;
	}
	qsort(items, (size_t) n, sizeof(*items), compare_ids);
	for (int i = 0; i < n; i++)
		list->by_name[i] = &items[i];
	qsort(list->by_name, (size_t) n, sizeof(*list->by_name), compare_names);
	list->partitions.items = items;
	list->partitions.n = n;
	return FLUSS_OK;
}

static fluss_status
ask_list(fluss_client *client, const fluss_table *table, fluss_arena *arena,
		 fluss_partition_entry **entries, int *nentries, fluss_error *err)
{
	int64_t		deadline_ms = fluss_client_deadline(client);
	fluss_request *answer = NULL;
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_table(table->database, table->name, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_LIST_PARTITION_INFOS, body.data,
									body.size, deadline_ms, NULL, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_partitions(arena,
											 fluss_request_answer(answer),
											 entries, nentries, err);
	else
	{
		fluss_table_explain(client, table->database, table->name, deadline_ms,
							err);
		status = err->status;
	}
	fluss_request_free(answer);
	fluss_buf_free(&body);
	return status;
}

static fluss_status
refresh_list(fluss_client *client, fluss_table *table, fluss_error *err)
{
	fluss_table_object *object = (fluss_table_object *) table;
	partitions_object *list = new_list(&client->host);
	fluss_partition_entry *entries;
	fluss_arena scratch;
	fluss_status status;
	int			n;

	if (list == NULL)
		return fluss_fail_memory(err);
	fluss_arena_init(&scratch, &client->host);
	/* what is true later than that is not promised */
	list->asked_ms = fluss_client_now(client);
	status = ask_list(client, table, &scratch, &entries, &n, err);
	if (status == FLUSS_OK)
		status = fill_list(list, table, entries, n, err);
	fluss_arena_free(&scratch);
	if (status != FLUSS_OK)
	{
		fluss_partitions_release(&list->partitions);
		return status;
	}
	fluss_partitions_forget(table);
	object->partitions = &list->partitions;
	return FLUSS_OK;
}

static fluss_status
check_partitioned(const fluss_table *table, fluss_error *err)
{
	if (table->npartition_key > 0)
		return FLUSS_OK;
	return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
					  "Fluss table \"%s\" in database \"%s\" is not partitioned",
					  table->name, table->database);
}

fluss_status
fluss_partitions_open(fluss_client *client, fluss_table *table,
					  int64_t max_age_ms, fluss_partitions **partitions,
					  fluss_error *err)
{
	fluss_table_object *object = (fluss_table_object *) table;
	partitions_object *list = (partitions_object *) object->partitions;
	fluss_status status = check_partitioned(table, err);

	if (status != FLUSS_OK)
		return status;
	if (list == NULL || max_age_ms <= 0 ||
		fluss_client_now(client) - list->asked_ms > max_age_ms)
	{
		fluss_table_retain(table);
		status = refresh_list(client, table, err);
		list = (partitions_object *) object->partitions;
		if (status == FLUSS_OK)
			list->references++;
		fluss_table_release(table);
	}
	else
		list->references++;
	if (status == FLUSS_OK)
		*partitions = &list->partitions;
	return status;
}

/* ---- creating and dropping */

typedef struct named_partition
{
	fluss_table *table;
	fluss_arena arena;			/* of the two below */
	fluss_property *values;
	const char *name;
} named_partition;

static void
explain(const char *verb, const named_partition *named, fluss_error *err)
{
	const fluss_table *table = named->table;

	if (err->status != FLUSS_SERVER_ERROR)
		return;
	switch (err->server_code)
	{
		case FLUSS_CODE_PARTITION_NOT_EXISTS:
			fluss_error_message(err, "partition \"%.64s\" of Fluss table \"%s\" in database \"%s\" does not exist",
								named->name, table->name, table->database);
			break;
		case FLUSS_CODE_PARTITION_ALREADY_EXISTS:
			fluss_error_message(err, "partition \"%.64s\" of Fluss table \"%s\" in database \"%s\" already exists",
								named->name, table->name, table->database);
			break;
		case FLUSS_CODE_TABLE_NOT_EXIST:
			fluss_error_message(err, "Fluss table \"%s\" does not exist in database \"%s\"",
								table->name, table->database);
			break;
		case FLUSS_CODE_AUTHORIZATION:
			fluss_error_message(err, "not authorized to %s partitions of table \"%s\" in Fluss database \"%s\"",
								verb, table->name, table->database);
			break;
		default:
			fluss_error_message(err, "could not %s partition \"%.64s\" of table \"%s\" in Fluss database \"%s\"",
								verb, named->name, table->name,
								table->database);
			break;
	}
}

static fluss_status
name_partition(fluss_client *client, fluss_table *table,
			   const char *const *values, named_partition *named,
			   fluss_error *err)
{
	int			n = table->npartition_key;
	fluss_status status;

	fluss_arena_init(&named->arena, &client->host);
	named->table = table;
	status = check_partitioned(table, err);
	if (status != FLUSS_OK)
		return status;
	named->values = fluss_arena_array(&named->arena, (size_t) n,
									  sizeof(*named->values));
	named->name = join_values(&named->arena, values, n);
	if (named->values == NULL || named->name == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		const fluss_column *column =
			&table->schema->columns[table->partition_key[i]];

		if (!fluss_partition_text_is_valid(values[i]))
		{
			(void) fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "value for column \"%s\" cannot name a partition",
							  column->name);
			fluss_error_detail(err, "A partition value has 1 to %d letters, digits, \"_\" or \"-\", and does not begin with \"__\".",
							   FLUSS_PARTITION_TEXT_SIZE - 1);
			return err->status;
		}
		named->values[i].key = column->name;
		named->values[i].value = values[i];
	}
	return FLUSS_OK;
}

static fluss_status
change(fluss_client *client, fluss_api api, const char *verb,
	   const named_partition *named, bool ignore, fluss_error *err)
{
	const fluss_table *table = named->table;
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_partition(&client->host, table->database,
										table->name, named->values,
										table->npartition_key, ignore, &body,
										err);
	if (status == FLUSS_OK)
		status = fluss_admin_change(client, api, &body, err);
	if (status != FLUSS_OK)
		explain(verb, named, err);
	fluss_buf_free(&body);
	fluss_partitions_forget(named->table);
	return status;
}

static fluss_status
find_id(fluss_client *client, const named_partition *named,
		int64_t *partition_id, fluss_error *err)
{
	const fluss_partition *partition;
	fluss_partitions *partitions;
	fluss_status status;

	status = fluss_partitions_open(client, named->table, 0, &partitions, err);
	if (status != FLUSS_OK)
		return status;
	partition = fluss_partition_by_name(partitions, named->name);
	if (partition != NULL)
		*partition_id = partition->partition_id;
	else
	{
		(void) fluss_fail_server(err, FLUSS_CODE_PARTITION_NOT_EXISTS, NULL, 0,
								 "find the partition");
		explain("find", named, err);
	}
	fluss_partitions_release(partitions);
	return partition == NULL ? err->status : FLUSS_OK;
}

/*
 * Sends a creation until the coordinator has taken note of it: as with tables
 * (see admin.c), it may miss one for good.
 */
static fluss_status
create_until_served(fluss_client *client, const named_partition *named,
					fluss_error *err)
{
	bool		lost = true;
	fluss_status status = FLUSS_OK;

	for (int attempt = 0; lost && status == FLUSS_OK; attempt++)
	{
		int64_t		partition_id = FLUSS_NO_PARTITION;

		if (attempt > 0)
		{
			status = change(client, FLUSS_API_DROP_PARTITION, "drop", named,
							true, err);
			if (status == FLUSS_OK)
				status = fluss_admin_forgotten(client, err);
		}
		if (status == FLUSS_OK)
			status = change(client, FLUSS_API_CREATE_PARTITION, "create",
							named, false, err);
		if (status == FLUSS_OK)
			status = find_id(client, named, &partition_id, err);
		if (status == FLUSS_OK)
			status = fluss_admin_served(client, named->table, partition_id,
										attempt < FLUSS_ADMIN_MAX_LOST ?
										&lost : NULL, err);
		if (attempt == FLUSS_ADMIN_MAX_LOST)
			lost = false;
	}
	return status;
}

fluss_status
fluss_create_partition(fluss_client *client, fluss_table *table,
					   const char *const *values, bool if_not_exists,
					   fluss_error *err)
{
	named_partition named;
	int64_t		partition_id;
	fluss_status status;

	fluss_table_retain(table);
	status = name_partition(client, table, values, &named, err);
	/* told to ignore one that exists, the server would not say whose it is */
	if (status == FLUSS_OK)
		status = create_until_served(client, &named, err);
	if (status == FLUSS_SERVER_ERROR && if_not_exists &&
		err->server_code == FLUSS_CODE_PARTITION_ALREADY_EXISTS)
	{
		status = find_id(client, &named, &partition_id, err);
		if (status == FLUSS_OK)
			status = fluss_admin_served(client, table, partition_id, NULL,
										err);
	}
	fluss_arena_free(&named.arena);
	fluss_table_release(table);
	return status;
}

fluss_status
fluss_drop_partition(fluss_client *client, fluss_table *table,
					 const char *const *values, bool if_exists,
					 fluss_error *err)
{
	named_partition named;
	fluss_status status;

	fluss_table_retain(table);
	status = name_partition(client, table, values, &named, err);
	if (status == FLUSS_OK)
		status = change(client, FLUSS_API_DROP_PARTITION, "drop", &named,
						if_exists, err);
	fluss_arena_free(&named.arena);
	fluss_table_release(table);
	return status;
}
