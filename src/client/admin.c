/*
 * admin.c
 *	  Databases and tables: create, drop, list.
 *
 * Changes go to the coordinator.  They are not repeated once the server may
 * have seen them: "exists already" must not be the answer to our own success.
 */
#include "client.h"
#include "schema.h"

/* How long a new table may be without any leader, and how often it is made. */
#define LOST_AFTER_MS	4000
#define FORGOTTEN_AFTER_MS	2000
#define SERVED_POLL_MS	50

fluss_status
fluss_admin_change(fluss_client *client, fluss_api api, const fluss_buf *body,
				   fluss_error *err)
{
	fluss_request *answer = NULL;
	fluss_status status;

	status = fluss_request_call_once(client, FLUSS_NODE_COORDINATOR, api,
									 body->data, body->size,
									 fluss_client_deadline(client), &answer,
									 err);
	fluss_request_free(answer);
	return status;
}

/* ---- databases */

static void
explain_database(fluss_error *err, const char *verb, const char *name)
{
	if (err->status != FLUSS_SERVER_ERROR)
		return;
	switch (err->server_code)
	{
		case FLUSS_CODE_DATABASE_NOT_EXIST:
			fluss_error_message(err, "Fluss database \"%s\" does not exist",
								name);
			break;
		case FLUSS_CODE_DATABASE_ALREADY_EXIST:
			fluss_error_message(err, "Fluss database \"%s\" already exists",
								name);
			break;
		case FLUSS_CODE_DATABASE_NOT_EMPTY:
			fluss_error_message(err, "Fluss database \"%s\" is not empty",
								name);
			break;
		case FLUSS_CODE_AUTHORIZATION:
			fluss_error_message(err, "not authorized to %s Fluss database \"%s\"",
								verb, name);
			break;
		default:
			fluss_error_message(err, "could not %s Fluss database \"%s\"",
								verb, name);
			break;
	}
}

fluss_status
fluss_create_database(fluss_client *client, const char *name,
					  const char *comment, bool if_not_exists,
					  fluss_error *err)
{
	fluss_buf	json;
	fluss_buf	body;
	fluss_bytes description = {0};
	fluss_status status = FLUSS_OK;

	fluss_buf_init(&json, &client->host);
	fluss_buf_init(&body, &client->host);
	if (comment != NULL)
		status = fluss_database_json(&client->host, comment, &json, err);
	description.data = json.data;
	description.size = json.size;
	if (status == FLUSS_OK)
		status = fluss_rpc_encode_create_database(name, if_not_exists,
												  description, &body, err);
	if (status == FLUSS_OK)
		status = fluss_admin_change(client, FLUSS_API_CREATE_DATABASE, &body,
									err);
	if (status != FLUSS_OK)
		explain_database(err, "create", name);
	fluss_buf_free(&body);
	fluss_buf_free(&json);
	return status;
}

/* Tables of the database may be cached: they are gone with it. */
static void
forget_tables(fluss_client *client, const char *database)
{
	fluss_table_object *next;

	for (fluss_table_object *object = client->tables; object != NULL;
		 object = next)
	{
		next = object->next;
		if (strcmp(object->table.database, database) == 0)
			fluss_table_forget(client, database, object->table.name);
	}
}

fluss_status
fluss_drop_database(fluss_client *client, const char *name, bool if_exists,
					bool cascade, fluss_error *err)
{
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_drop_database(name, if_exists, cascade, &body,
											err);
	if (status == FLUSS_OK)
		status = fluss_admin_change(client, FLUSS_API_DROP_DATABASE, &body,
									err);
	if (status != FLUSS_OK)
		explain_database(err, "drop", name);
	forget_tables(client, name);
	fluss_buf_free(&body);
	return status;
}

/* ---- tables */

/* The buckets of a new table or partition, and whether they are served. */
typedef struct new_buckets
{
	fluss_table *table;
	int64_t		partition_id;
	fluss_arena scratch;
	int32_t    *buckets;
	int64_t    *offsets;
} new_buckets;

static fluss_status
list_new_offsets(fluss_client *client, new_buckets *made, fluss_need need,
				 fluss_error *err)
{
	return fluss_list_offsets(client, made->table, FLUSS_OFFSET_LATEST, 0,
							  made->partition_id, made->buckets,
							  made->table->nbuckets, need, made->offsets,
							  err);
}

/* Looks whether the buckets are served, for LOST_AFTER_MS at most. */
static fluss_status
count_served(fluss_client *client, new_buckets *made, int *served,
			 fluss_error *err)
{
	int64_t		end_ms = fluss_client_now(client) + LOST_AFTER_MS;
	fluss_status status;

	for (;;)
	{
		status = list_new_offsets(client, made, FLUSS_NEED_LED, err);
		*served = 0;
		for (int i = 0; status == FLUSS_OK && i < made->table->nbuckets; i++)
			*served += made->offsets[i] != FLUSS_OFFSET_UNKNOWN;
		if (status != FLUSS_OK || *served == made->table->nbuckets ||
			fluss_client_now(client) >= end_ms)
			return status;
		status = fluss_cluster_sleep(client, SERVED_POLL_MS, err);
		if (status != FLUSS_OK)
			return status;
	}
}

/*
 * Something fresh answers UNKNOWN_TABLE_OR_BUCKET until its leaders have heard
 * of it; listing offsets shows that they have.
 *
 * The coordinator of Fluss 0.9 hears of a new table or partition through a
 * watch that can miss it: then no bucket ever gets a leader.  With lost given,
 * that is told there after LOST_AFTER_MS instead of waiting on.
 */
fluss_status
fluss_admin_served(fluss_client *client, fluss_table *table,
				   int64_t partition_id, bool *lost, fluss_error *err)
{
	int32_t		n = table->nbuckets;
	new_buckets made = {.table = table, .partition_id = partition_id};
	int			served = 1;
	fluss_status status = FLUSS_OK;

	fluss_arena_init(&made.scratch, &client->host);
	made.buckets = fluss_arena_array(&made.scratch, n, sizeof(int32_t));
	made.offsets = fluss_arena_array(&made.scratch, n, sizeof(int64_t));
	if (made.buckets == NULL || made.offsets == NULL)
		status = fluss_fail_memory(err);
	for (int i = 0; status == FLUSS_OK && i < n; i++)
		made.buckets[i] = i;
	if (status == FLUSS_OK && lost != NULL)
		status = count_served(client, &made, &served, err);
	if (status == FLUSS_OK && served > 0)
		status = list_new_offsets(client, &made, FLUSS_NEED_ALL, err);
	if (lost != NULL)
		*lost = status == FLUSS_OK && served == 0;
	fluss_arena_free(&made.scratch);
	return status;
}

/* The watch would miss again what comes on the heels of a deletion. */
fluss_status
fluss_admin_forgotten(fluss_client *client, fluss_error *err)
{
	return fluss_cluster_sleep(client, FORGOTTEN_AFTER_MS, err);
}

/* A new partitioned table has no buckets yet. */
static fluss_status
wait_until_served(fluss_client *client, const char *database,
				  const char *name, bool *lost, fluss_error *err)
{
	fluss_table *table;
	fluss_status status = fluss_table_open(client, database, name, true,
										   &table, err);

	if (lost != NULL)
		*lost = false;
	if (status != FLUSS_OK)
		return status;
	if (table->npartition_key == 0)
		status = fluss_admin_served(client, table, FLUSS_NO_PARTITION, lost,
									err);
	fluss_table_release(table);
	return status;
}

/*
 * Sends a creation until the coordinator has taken note of it.  A table that
 * was not there before and has no leader at all is ours, and nobody can have
 * written to it: it may be dropped and created again.
 */
static fluss_status
create_until_served(fluss_client *client, const char *database,
					const char *name, const fluss_buf *body, fluss_error *err)
{
	bool		lost = true;
	fluss_status status = FLUSS_OK;

	for (int attempt = 0; lost; attempt++)
	{
		if (attempt > 0)
			status = fluss_drop_table(client, database, name, true, err);
		if (attempt > 0 && status == FLUSS_OK)
			status = fluss_admin_forgotten(client, err);
		if (status == FLUSS_OK)
			status = fluss_admin_change(client, FLUSS_API_CREATE_TABLE, body,
										err);
		if (status != FLUSS_OK)
		{
			fluss_table_error(err, "create", database, name);
			return status;
		}
		if (attempt == FLUSS_ADMIN_MAX_LOST)
			return wait_until_served(client, database, name, NULL, err);
		status = wait_until_served(client, database, name, &lost, err);
	}
	return status;
}

fluss_status
fluss_create_table(fluss_client *client, const char *database,
				   const char *name, const fluss_table_spec *spec,
				   bool if_not_exists, fluss_error *err)
{
	fluss_buf	json;
	fluss_buf	body;
	fluss_bytes description;
	fluss_status status;

	fluss_buf_init(&json, &client->host);
	fluss_buf_init(&body, &client->host);
	status = fluss_table_spec_json(&client->host, spec, &json, err);
	description.data = json.data;
	description.size = json.size;
	/* told to ignore one that exists, the server would not say whose it is */
	if (status == FLUSS_OK)
		status = fluss_rpc_encode_create_table(database, name, description,
											   false, &body, err);
	if (status == FLUSS_OK)
		status = create_until_served(client, database, name, &body, err);
	/* see FLUSS_ADMIN_NOTED_MS */
	if (status == FLUSS_OK && spec->npartition_key > 0)
		status = fluss_cluster_sleep(client, FLUSS_ADMIN_NOTED_MS, err);
	fluss_buf_free(&body);
	fluss_buf_free(&json);
	if (status == FLUSS_SERVER_ERROR && if_not_exists &&
		err->server_code == FLUSS_CODE_TABLE_ALREADY_EXIST)
		return wait_until_served(client, database, name, NULL, err);
	return status;
}

fluss_status
fluss_drop_table(fluss_client *client, const char *database, const char *name,
				 bool if_exists, fluss_error *err)
{
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_drop_table(database, name, if_exists, &body, err);
	if (status == FLUSS_OK)
		status = fluss_admin_change(client, FLUSS_API_DROP_TABLE, &body,
									err);
	if (status != FLUSS_OK)
		fluss_table_error(err, "drop", database, name);
	fluss_table_forget(client, database, name);
	fluss_buf_free(&body);
	return status;
}

/* ---- lists */

fluss_status
fluss_list_databases(fluss_client *client, const char *const **names,
					 fluss_error *err)
{
	fluss_request *answer = NULL;
	fluss_status status;

	fluss_arena_reset(&client->databases_result);
	status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
								FLUSS_API_LIST_DATABASES, NULL, 0,
								fluss_client_deadline(client), NULL, &answer,
								err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_databases(&client->databases_result,
											fluss_request_answer(answer),
											names, err);
	fluss_request_free(answer);
	return status;
}

fluss_status
fluss_list_tables(fluss_client *client, const char *database,
				  const char *const **names, fluss_error *err)
{
	fluss_buf	body;
	fluss_request *answer = NULL;
	fluss_status status;

	fluss_arena_reset(&client->tables_result);
	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_database(database, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_LIST_TABLES, body.data,
									body.size, fluss_client_deadline(client),
									NULL, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_tables(&client->tables_result,
										 fluss_request_answer(answer), names,
										 err);
	else if (status == FLUSS_SERVER_ERROR)
		explain_database(err, "list the tables of", database);
	fluss_request_free(answer);
	fluss_buf_free(&body);
	return status;
}
