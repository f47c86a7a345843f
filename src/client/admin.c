/*
 * admin.c
 *	  Databases and tables: create, drop, list.
 *
 * Changes go to the coordinator.  They are not repeated once the server may
 * have seen them: "exists already" must not be the answer to our own success.
 */
#include "client.h"
#include "schema.h"

/* Encodes were done into body: sends it, and drops the empty answer. */
static fluss_status
change(fluss_client *client, fluss_api api, const fluss_buf *body,
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
		status = change(client, FLUSS_API_CREATE_DATABASE, &body, err);
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
		status = change(client, FLUSS_API_DROP_DATABASE, &body, err);
	if (status != FLUSS_OK)
		explain_database(err, "drop", name);
	forget_tables(client, name);
	fluss_buf_free(&body);
	return status;
}

/* ---- tables */

static void
explain_table(fluss_error *err, const char *verb, const char *database,
			  const char *name)
{
	if (err->status != FLUSS_SERVER_ERROR)
		return;
	switch (err->server_code)
	{
		case FLUSS_CODE_DATABASE_NOT_EXIST:
			fluss_error_message(err, "Fluss database \"%s\" does not exist",
								database);
			break;
		case FLUSS_CODE_TABLE_NOT_EXIST:
			fluss_error_message(err, "Fluss table \"%s\" does not exist in database \"%s\"",
								name, database);
			break;
		case FLUSS_CODE_TABLE_ALREADY_EXIST:
			fluss_error_message(err, "Fluss table \"%s\" already exists in database \"%s\"",
								name, database);
			break;
		case FLUSS_CODE_AUTHORIZATION:
			fluss_error_message(err, "not authorized to %s table \"%s\" in Fluss database \"%s\"",
								verb, name, database);
			break;
		default:
			fluss_error_message(err, "could not %s table \"%s\" in Fluss database \"%s\"",
								verb, name, database);
			break;
	}
}

/*
 * A fresh table answers UNKNOWN_TABLE_OR_BUCKET until its leaders have heard
 * of it; listing offsets shows that they have.  A partitioned table has no
 * buckets yet.
 */
static fluss_status
wait_until_served(fluss_client *client, const char *database,
				  const char *name, fluss_error *err)
{
	fluss_table *table;
	int32_t    *buckets = NULL;
	int64_t    *offsets = NULL;
	fluss_arena scratch;
	fluss_status status;

	status = fluss_table_open(client, database, name, true, &table, err);
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&scratch, &client->host);
	if (table->npartition_key == 0)
	{
		buckets = fluss_arena_array(&scratch, table->nbuckets,
									sizeof(*buckets));
		offsets = fluss_arena_array(&scratch, table->nbuckets,
									sizeof(*offsets));
		if (buckets == NULL || offsets == NULL)
			status = fluss_fail_memory(err);
		for (int i = 0; status == FLUSS_OK && i < table->nbuckets; i++)
			buckets[i] = i;
		if (status == FLUSS_OK)
			status = fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
										FLUSS_NO_PARTITION, buckets,
										table->nbuckets, true, offsets, err);
	}
	fluss_arena_free(&scratch);
	fluss_table_release(table);
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
	if (status == FLUSS_OK)
		status = fluss_rpc_encode_create_table(database, name, description,
											   if_not_exists, &body, err);
	if (status == FLUSS_OK)
		status = change(client, FLUSS_API_CREATE_TABLE, &body, err);
	if (status != FLUSS_OK)
		explain_table(err, "create", database, name);
	fluss_buf_free(&body);
	fluss_buf_free(&json);
	if (status != FLUSS_OK)
		return status;
	return wait_until_served(client, database, name, err);
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
		status = change(client, FLUSS_API_DROP_TABLE, &body, err);
	if (status != FLUSS_OK)
		explain_table(err, "drop", database, name);
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
