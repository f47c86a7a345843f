/*
 * metadata.c
 *	  Descriptions of tables, and the client's cache of them.
 *
 * A description never changes; a newer one is another object.  Leaders and
 * older schemas hang on the object too, in its arena, and grow with what is
 * asked.  The object lives until its last reference goes, which may be after
 * the cache has dropped it.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"
#include "schema.h"

/* ---- objects */

static fluss_table_object *
new_object(const fluss_host *host)
{
	fluss_table_object *object;
	fluss_arena arena;

	fluss_arena_init(&arena, host);
	object = fluss_arena_alloc0(&arena, sizeof(*object));
	if (object == NULL)
		return NULL;
	fluss_arena_move_in(&arena, &object->arena, &object->host);
	object->references = 1;
	return object;
}

void
fluss_table_retain(fluss_table *table)
{
	((fluss_table_object *) table)->references++;
}

void
fluss_table_release(fluss_table *table)
{
	fluss_table_object *object = (fluss_table_object *) table;

	if (object == NULL || --object->references > 0)
		return;
	fluss_partitions_release(object->partitions);
	fluss_arena_free_owner(&object->arena);
}

/* ---- the cache */

static fluss_table_object **
find_cached(fluss_client *client, const char *database, const char *name)
{
	fluss_table_object **link = &client->tables;

	while (*link != NULL &&
		   (strcmp((*link)->table.name, name) != 0 ||
			strcmp((*link)->table.database, database) != 0))
		link = &(*link)->next;
	return link;
}

static void
drop_cached(fluss_table_object **link)
{
	fluss_table_object *object = *link;

	*link = object->next;
	object->next = NULL;
	fluss_table_release(&object->table);
}

void
fluss_tables_free(fluss_client *client)
{
	while (client->tables != NULL)
		drop_cached(&client->tables);
}

void
fluss_table_forget(fluss_client *client, const char *database,
				   const char *name)
{
	fluss_table_object **link = find_cached(client, database, name);

	if (*link == NULL)
		return;
	fluss_leader_forget(client, &(*link)->table);
	drop_cached(link);
}

/* ---- errors about tables */

static fluss_status
database_exists(fluss_client *client, const char *database,
				int64_t deadline_ms, bool *exists, fluss_error *err)
{
	fluss_arena arena;
	fluss_buf	body;
	fluss_request *answer = NULL;
	fluss_status status;

	fluss_arena_init(&arena, &client->host);
	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_database(database, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_DATABASE_EXISTS, body.data,
									body.size, deadline_ms, NULL, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_exists(&arena, fluss_request_answer(answer),
										 exists, err);
	fluss_request_free(answer);
	fluss_buf_free(&body);
	fluss_arena_free(&arena);
	return status;
}

void
fluss_table_error(fluss_error *err, const char *verb, const char *database,
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
 * A server says "table does not exist" also when the whole database is
 * missing, so that is asked.
 */
void
fluss_table_explain(fluss_client *client, const char *database,
					const char *name, int64_t deadline_ms, fluss_error *err)
{
	fluss_error problem;
	bool		exists = true;

	if (err->status != FLUSS_SERVER_ERROR)
		return;
	if (err->server_code == FLUSS_CODE_TABLE_NOT_EXIST &&
		database_exists(client, database, deadline_ms, &exists,
						&problem) == FLUSS_INTERRUPTED)
	{
		*err = problem;
		return;
	}
	if (!exists)
		err->server_code = FLUSS_CODE_DATABASE_NOT_EXIST;
	fluss_table_error(err, "describe", database, name);
}

/* ---- describing */

static fluss_status
ask_info(fluss_client *client, const char *database, const char *name,
		 fluss_arena *arena, fluss_table_info *info, fluss_error *err)
{
	int64_t		deadline_ms = fluss_client_deadline(client);
	fluss_buf	body;
	fluss_request *answer = NULL;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_table(database, name, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_GET_TABLE_INFO, body.data,
									body.size, deadline_ms, NULL, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_table_info(arena,
											 fluss_request_answer(answer),
											 info, err);
	else
		fluss_table_explain(client, database, name, deadline_ms, err);
	fluss_request_free(answer);
	fluss_buf_free(&body);
	/* explaining may have been interrupted */
	return status == FLUSS_OK ? FLUSS_OK : err->status;
}

static fluss_status
fill_object(fluss_table_object *object, const char *database,
			const char *name, const fluss_table_info *info, fluss_error *err)
{
	fluss_table *table = &object->table;
	fluss_status status;

	status = fluss_table_parse(&object->arena, (const char *) info->json.data,
							   info->json.size, info->schema_id, table, err);
	if (status != FLUSS_OK)
		return status;
	table->database = fluss_arena_strdup(&object->arena, database);
	table->name = fluss_arena_strdup(&object->arena, name);
	if (table->database == NULL || table->name == NULL)
		return fluss_fail_memory(err);
	table->table_id = info->table_id;
	table->created_ms = info->created_ms;
	table->modified_ms = info->modified_ms;
	return FLUSS_OK;
}

/* The answer describes what is cached, which has leaders and schemas, too. */
static bool
is_unchanged(const fluss_table *table, const fluss_table_info *info)
{
	return table->table_id == info->table_id &&
		table->schema->schema_id == info->schema_id &&
		table->modified_ms == info->modified_ms;
}

bool
fluss_table_is_cached(fluss_client *client, const char *database,
					  const char *name)
{
	return *find_cached(client, database, name) != NULL;
}

fluss_status
fluss_table_open(fluss_client *client, const char *database, const char *name,
				 bool refresh, fluss_table **table, fluss_error *err)
{
	fluss_table_object *object = *find_cached(client, database, name);
	fluss_arena scratch;
	fluss_table_info info;
	fluss_status status;

	if (object != NULL && !refresh)
	{
		fluss_table_retain(&object->table);
		*table = &object->table;
		return FLUSS_OK;
	}
	fluss_arena_init(&scratch, &client->host);
	status = ask_info(client, database, name, &scratch, &info, err);
	if (status != FLUSS_OK)
	{
		if (status == FLUSS_SERVER_ERROR)
			fluss_table_forget(client, database, name);
		fluss_arena_free(&scratch);
		return status;
	}
	object = *find_cached(client, database, name);
	if (object != NULL && is_unchanged(&object->table, &info))
	{
		fluss_arena_free(&scratch);
		fluss_table_retain(&object->table);
		*table = &object->table;
		return FLUSS_OK;
	}
	object = new_object(&client->host);
	status = object == NULL ? fluss_fail_memory(err) :
		fill_object(object, database, name, &info, err);
	fluss_arena_free(&scratch);
	if (status != FLUSS_OK)
	{
		if (object != NULL)
			fluss_table_release(&object->table);
		return status;
	}
	fluss_table_forget(client, database, name);
	object->next = client->tables;
	client->tables = object;
	fluss_table_retain(&object->table);
	*table = &object->table;
	return FLUSS_OK;
}

static fluss_status
table_changed(fluss_client *client, const fluss_table *table,
			  const char *how, fluss_error *err)
{
	fluss_error cause = *err;

	(void) fluss_fail(err, FLUSS_TABLE_CHANGED,
					  "Fluss table \"%s\" in database \"%s\" was %s",
					  table->name, table->database, how);
	if (cause.status == FLUSS_SERVER_ERROR)
		fluss_error_detail(err, "%s", cause.detail);
	fluss_table_forget(client, table->database, table->name);
	return err->status;
}

fluss_status
fluss_table_verify(fluss_client *client, fluss_table *table, fluss_error *err)
{
	fluss_arena scratch;
	fluss_table_info info;
	fluss_status status;

	fluss_error_init(err);
	/* the name must outlive the cached object that it may belong to */
	fluss_table_retain(table);
	fluss_arena_init(&scratch, &client->host);
	status = ask_info(client, table->database, table->name, &scratch, &info,
					  err);
	fluss_arena_free(&scratch);
	if (status == FLUSS_SERVER_ERROR &&
		(err->server_code == FLUSS_CODE_TABLE_NOT_EXIST ||
		 err->server_code == FLUSS_CODE_DATABASE_NOT_EXIST))
		status = table_changed(client, table, "dropped", err);
	else if (status == FLUSS_OK && info.table_id != table->table_id)
	{
		status = table_changed(client, table, "made again", err);
		fluss_error_detail(err, "Its id was %lld and is %lld now.",
						   (long long) table->table_id,
						   (long long) info.table_id);
	}
	fluss_table_release(table);
	return status;
}

/* ---- schemas by id */

static fluss_status
ask_schema(fluss_client *client, fluss_table_object *object,
		   int32_t schema_id, const fluss_schema **schema, fluss_error *err)
{
	const fluss_table *table = &object->table;
	fluss_arena scratch;
	fluss_buf	body;
	fluss_request *answer = NULL;
	fluss_schema *parsed = NULL;
	fluss_bytes json;
	int32_t		answered_id = schema_id;
	fluss_status status;

	fluss_arena_init(&scratch, &client->host);
	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_table_schema(table->database, table->name,
										   schema_id, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_GET_TABLE_SCHEMA, body.data,
									body.size, fluss_client_deadline(client),
									NULL, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_table_schema(&scratch,
											   fluss_request_answer(answer),
											   &answered_id, &json, err);
	if (status == FLUSS_OK && answered_id != schema_id)
		status = fluss_fail(err, FLUSS_MALFORMED,
							"asked for schema %d of table \"%s\" and got schema %d",
							schema_id, table->name, answered_id);
	if (status == FLUSS_OK)
		status = fluss_schema_parse(&object->arena, (const char *) json.data,
									json.size, schema_id, &parsed, err);
	else if (status == FLUSS_SERVER_ERROR)
		fluss_error_message(err, "could not get schema %d of table \"%s\" in Fluss database \"%s\"",
							schema_id, table->name, table->database);
	*schema = parsed;
	fluss_request_free(answer);
	fluss_buf_free(&body);
	fluss_arena_free(&scratch);
	return status;
}

fluss_status
fluss_table_schema(fluss_client *client, fluss_table *table, int32_t schema_id,
				   const fluss_schema **schema, fluss_error *err)
{
	fluss_table_object *object = (fluss_table_object *) table;
	fluss_known_schema *known;
	fluss_status status;

	if (table->schema->schema_id == schema_id)
	{
		*schema = table->schema;
		return FLUSS_OK;
	}
	for (known = object->schemas; known != NULL; known = known->next)
	{
		if (known->schema->schema_id == schema_id)
		{
			*schema = known->schema;
			return FLUSS_OK;
		}
	}
	status = ask_schema(client, object, schema_id, schema, err);
	if (status != FLUSS_OK)
		return status;
	known = fluss_arena_alloc(&object->arena, sizeof(*known));
	if (known == NULL)
		return fluss_fail_memory(err);
	known->schema = *schema;
	known->next = object->schemas;
	object->schemas = known;
	return FLUSS_OK;
}
