/*
 * partition.c
 *	  The partitions of a table: listing, creating, dropping.
 *
 * A list is immutable.  The newest one hangs on the table's description, with
 * the time it was asked for; whoever holds an older one keeps it.
 */
#include <string.h>

#include "client.h"
#include "partition.h"

void
fluss_partitions_forget(fluss_table *table)
{
	fluss_table_object *object = (fluss_table_object *) table;

	fluss_partitions_release(object->partitions);
	object->partitions = NULL;
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
	fluss_partition_list *list = NULL;
	fluss_partition_entry *entries;
	fluss_arena scratch;
	/* what is true later than that is not promised */
	int64_t		asked_ms = fluss_client_now(client);
	fluss_status status;
	int			n;

	fluss_arena_init(&scratch, &client->host);
	status = ask_list(client, table, &scratch, &entries, &n, err);
	if (status == FLUSS_OK)
		status = fluss_partition_list_make(&client->host, table, entries, n,
										   &list, err);
	fluss_arena_free(&scratch);
	if (status != FLUSS_OK)
		return status;
	list->asked_ms = asked_ms;
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
	fluss_partition_list *list = (fluss_partition_list *) object->partitions;
	fluss_status status = check_partitioned(table, err);

	*partitions = NULL;
	if (status != FLUSS_OK)
		return status;
	if (list == NULL || max_age_ms <= 0 ||
		fluss_client_now(client) - list->asked_ms > max_age_ms)
	{
		fluss_table_retain(table);
		status = refresh_list(client, table, err);
		list = (fluss_partition_list *) object->partitions;
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
	named->name = fluss_partition_join(&named->arena, values, n);
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
