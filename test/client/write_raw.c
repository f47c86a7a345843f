/*
 * write_raw.c
 *	  Writes rows whose texts are any bytes, as a client may that does not check
 *	  them: build/client/write_raw DATABASE TABLE < ROWS
 *
 * FLUSS_BOOTSTRAP has the cluster.  A line is a row: a token per column, "-"
 * for NULL, a number for INT and BIGINT, "x" and hex digits for texts, and for
 * a map of texts to integers "x..=1,x..=2".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "arena.h"

#define MAX_COLUMNS 16
#define MAX_ENTRIES 8

static void
check(fluss_status status, const fluss_error *err)
{
	if (status == FLUSS_OK)
		return;
	fprintf(stderr, "%s (%s)\n", err->message, err->detail);
	exit(1);
}

static void parse_value(fluss_arena *arena, const fluss_type *type,
						char *token, fluss_value *value);

static void
parse_map(fluss_arena *arena, const fluss_type *type, char *token,
		  fluss_value *value)
{
	fluss_value *items = fluss_arena_array(arena, 2 * MAX_ENTRIES,
										   sizeof(fluss_value));
	char	   *rest = NULL;

	value->u.nested.items = items;
	value->u.nested.n = 0;
	for (char *entry = strtok_r(token, ",", &rest);
		 entry != NULL && value->u.nested.n < MAX_ENTRIES;
		 entry = strtok_r(NULL, ",", &rest))
	{
		char	   *number = strchr(entry, '=');
		fluss_value *item = &items[2 * value->u.nested.n++];

		if (number == NULL)
			exit(2);
		*number++ = '\0';
		parse_value(arena, &type->children[0].type, entry, &item[0]);
		parse_value(arena, &type->children[1].type, number, &item[1]);
	}
}

static void
parse_value(fluss_arena *arena, const fluss_type *type, char *token,
			fluss_value *value)
{
	memset(value, 0, sizeof(*value));
	if (strcmp(token, "-") == 0)
		value->is_null = true;
	else if (type->id == FLUSS_MAP)
		parse_map(arena, type, token, value);
	else if (token[0] == 'x')
	{
		uint8_t    *bytes;

		value->u.bytes.size = test_hex(token + 1, &bytes);
		value->u.bytes.data = bytes;
	}
	else
		value->u.integer = strtoll(token, NULL, 10);
}

static void
write_lines(fluss_writer *writer, const fluss_schema *schema)
{
	char		line[4096];
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, cluster_host());
	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		fluss_value row[MAX_COLUMNS];
		char	   *rest = NULL;
		char	   *token = strtok_r(line, " \n", &rest);

		for (int i = 0; i < schema->ncolumns; i++)
		{
			if (token == NULL)
				exit(2);
			parse_value(&arena, &schema->columns[i].type, token, &row[i]);
			token = strtok_r(NULL, " \n", &rest);
		}
		check(fluss_writer_write(writer, row, &err), &err);
		fluss_arena_reset(&arena);
	}
	check(fluss_writer_flush(writer, &err), &err);
	fluss_arena_free(&arena);
}

int
main(int argc, char **argv)
{
	fluss_config config = {
		.bootstrap_servers = getenv("FLUSS_BOOTSTRAP"),
		.connect_timeout_ms = 10000,
		.request_timeout_ms = 20000
	};
	fluss_writer_options options = {
		.acks = -1, .batch_size = 65536, .idempotence = true,
		.max_inflight_per_bucket = 1, .max_buffered_bytes = 1 << 24
	};
	fluss_client *client;
	fluss_table *table;
	fluss_writer *writer;
	fluss_error err;

	if (argc != 3 || config.bootstrap_servers == NULL)
		return 2;
	check(fluss_client_open(cluster_host(), &config, &client, &err), &err);
	check(fluss_table_open(client, argv[1], argv[2], true, &table, &err), &err);
	if (table->schema->ncolumns > MAX_COLUMNS)
		return 2;
	check(fluss_writer_open(client, cluster_host(), table, &options, &writer,
							&err), &err);
	write_lines(writer, table->schema);
	fluss_writer_close(writer);
	fluss_table_release(table);
	fluss_client_close(client);
	return 0;
}
