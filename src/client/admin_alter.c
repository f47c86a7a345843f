/*
 * admin_alter.c
 *	  Changes to a table: its options, new columns.
 *
 * One request carries either options or columns: a server refuses both at
 * once.
 */
#include "client.h"
#include "schema.h"

typedef struct alteration
{
	const char *database;
	const char *name;
	const fluss_property *set;
	int			nset;
	const char *const *reset;
	int			nreset;
	const fluss_column_json *columns;
	int			ncolumns;
} alteration;

static fluss_status
alter(fluss_client *client, const alteration *a, fluss_error *err)
{
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_alter_table(&client->host, a->database, a->name,
										  a->set, a->nset, a->reset,
										  a->nreset, a->columns, a->ncolumns,
										  &body, err);
	if (status == FLUSS_OK)
		status = fluss_admin_change(client, FLUSS_API_ALTER_TABLE, &body, err);
	if (status != FLUSS_OK)
		fluss_table_error(err, "alter", a->database, a->name);
	fluss_buf_free(&body);
	/* the description has changed, or may have */
	fluss_table_forget(client, a->database, a->name);
	return status;
}

fluss_status
fluss_alter_table(fluss_client *client, const char *database,
				  const char *name, const fluss_property *set, int nset,
				  const char *const *reset, int nreset, fluss_error *err)
{
	const alteration a = {
		.database = database, .name = name, .set = set, .nset = nset,
		.reset = reset, .nreset = nreset
	};

	if (nset == 0 && nreset == 0)
		return FLUSS_OK;
	return alter(client, &a, err);
}

fluss_status
fluss_add_columns(fluss_client *client, const char *database,
				  const char *name, const fluss_column *columns, int ncolumns,
				  fluss_error *err)
{
	alteration	a = {
		.database = database, .name = name, .ncolumns = ncolumns
	};
	fluss_arena arena;
	fluss_column_json *added;
	fluss_status status = FLUSS_OK;

	if (ncolumns == 0)
		return FLUSS_OK;
	fluss_arena_init(&arena, &client->host);
	added = fluss_arena_array(&arena, (size_t) ncolumns, sizeof(*added));
	if (added == NULL)
		status = fluss_fail_memory(err);
	for (int i = 0; i < ncolumns && status == FLUSS_OK; i++)
	{
		fluss_buf	json;

		if (!columns[i].type.nullable)
		{
			status = fluss_fail(err, FLUSS_UNSUPPORTED,
								"cannot add column \"%s\" to Fluss table \"%s\": it would be NOT NULL",
								columns[i].name, name);
			break;
		}
		fluss_buf_init(&json, &client->host);
		status = fluss_type_json(&client->host, &columns[i].type, &json, err);
		if (status == FLUSS_OK)
		{
			added[i].name = columns[i].name;
			added[i].comment = columns[i].comment;
			added[i].type.size = json.size;
			added[i].type.data = fluss_arena_memdup(&arena, json.data,
													json.size);
			if (added[i].type.data == NULL)
				status = fluss_fail_memory(err);
		}
		fluss_buf_free(&json);
	}
	a.columns = added;
	if (status == FLUSS_OK)
		status = alter(client, &a, err);
	fluss_arena_free(&arena);
	return status;
}
