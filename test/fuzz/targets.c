/*
 * targets.c
 *	  What is fuzzed: each target takes any bytes and must come back.
 *
 * Where an input is more than the bytes to decode, its first byte chooses:
 * the low bits a schema, the high ones options.  What was decoded is looked at
 * to the last byte, so that a view past its buffer is noticed.
 */
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "row.h"
#include "schema.h"
#include "targets.h"

#define MAX_COLUMNS		32
#define MAX_BYTES		(INT64_C(16) << 20)

/* A violated promise of the library. */
#define require(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

static void *
host_alloc(void *arg, size_t size)
{
	return size > (size_t) MAX_BYTES * 2 ? NULL : malloc(size);
}

static void
host_free(void *arg, void *ptr)
{
	free(ptr);
}

static const fluss_host host = {.alloc = host_alloc,.free = host_free};

/* ---- schemas */

static const char *const row_types[8] = {
	"ROW<a INT, b STRING, c BIGINT>",
	"ROW<c0 BOOLEAN, c1 TINYINT, c2 SMALLINT, c3 INT, c4 BIGINT, c5 FLOAT, "
	"c6 DOUBLE, c7 CHAR(4), c8 STRING, c9 DECIMAL(10, 2), c10 DECIMAL(38, 5), "
	"c11 DATE, c12 TIME(0), c13 TIME(3), c14 TIME(6), c15 TIME(9), "
	"c16 TIMESTAMP(0), c17 TIMESTAMP(3), c18 TIMESTAMP(6), c19 TIMESTAMP(9), "
	"c20 TIMESTAMP_LTZ(0), c21 TIMESTAMP_LTZ(3), c22 TIMESTAMP_LTZ(6), "
	"c23 TIMESTAMP_LTZ(9), c24 BINARY(3), c25 BYTES>",
	"ROW<id INT, arr ARRAY<INT>, m MAP<STRING NOT NULL, INT>, "
	"r ROW<x INT, y STRING>, ar ARRAY<ROW<p BIGINT>>>",
	"ROW<a INT NOT NULL, b TIMESTAMP(3) NOT NULL, c DOUBLE NOT NULL, "
	"d DOUBLE NOT NULL>",
	"ROW<b STRING>",
	"ROW<a INT, c BIGINT>",
	"ROW<k INT NOT NULL, v STRING>",
	"ROW<a ARRAY<STRING>, b ARRAY<BOOLEAN>, c ARRAY<TIMESTAMP(6)>, "
	"d ARRAY<DECIMAL(38, 2)>, e ARRAY<ARRAY<INT>>, "
	"m MAP<STRING, MAP<INT, ROW<x BYTES, y ARRAY<ROW<z CHAR(2)>>>>>>"
};

/* One of them, made once. */
static const fluss_schema *
choose_schema(uint8_t choice)
{
	static fluss_schema schemas[8];
	static fluss_arena arenas[8];
	fluss_schema *schema = &schemas[choice & 7];
	fluss_type	row;
	fluss_error err;

	if (schema->ncolumns > 0)
		return schema;
	fluss_arena_init(&arenas[choice & 7], &host);
	require(fluss_type_parse(&arenas[choice & 7], row_types[choice & 7], &row,
							 &err) == FLUSS_OK);
	schema->schema_id = 1;
	schema->auto_increment = -1;
	schema->ncolumns = row.nchildren;
	schema->columns = row.children;
	return schema;
}

/* All columns, or every second one. */
static int
choose_columns(const fluss_schema *schema, bool second, int32_t *columns,
			   const fluss_type **types)
{
	int			n = 0;

	for (int32_t i = 0; i < schema->ncolumns; i += second ? 2 : 1)
	{
		columns[n] = i;
		types[n++] = &schema->columns[i].type;
	}
	return n;
}

/* ---- looking at results */

/* Where bytes go to be looked at. */
static volatile uint8_t sink;

static void
look_at_bytes(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sink ^= data[i];
}

static void
look_at_value(const fluss_type *type, const fluss_value *value)
{
	int32_t		n;

	if (value->is_null)
		return;
	if (type->id >= FLUSS_CHAR && type->id <= FLUSS_BYTES)
		look_at_bytes(value->u.bytes.data, value->u.bytes.size);
	if (fluss_type_is_scalar(type))
		return;
	n = value->u.nested.n * (type->id == FLUSS_MAP ? 2 : 1);
	for (int32_t i = 0; i < n; i++)
		look_at_value(&type->children[i % type->nchildren].type,
					  &value->u.nested.items[i]);
}

static void
look_at_views(const fluss_column_view *views, int nviews, int32_t nrows)
{
	for (int i = 0; i < nviews; i++)
	{
		require(views[i].length == nrows);
		for (int32_t row = 0; row < nrows; row++)
		{
			fluss_value value;
			fluss_error err;

			if (fluss_type_is_scalar(views[i].type))
			{
				fluss_column_value(&views[i], row, &value);
				look_at_value(views[i].type, &value);
				continue;
			}
			if (fluss_column_nested(&host, &views[i], row, &value,
									&err) != FLUSS_OK)
				continue;
			look_at_value(views[i].type, &value);
			free((void *) value.u.nested.items);
		}
	}
}

/* ---- targets */

/* Choice: schema, 0x08 INDEXED table, 0x10 COMPACTED table, 0x20 CRC, 0x40 projected. */
static void
fuzz_log_batch(const uint8_t *data, size_t size)
{
	fluss_arena arena;
	fluss_error err;
	fluss_log_batch batch;
	bool		complete;
	uint8_t		choice = size > 0 ? data[0] : 0;
	fluss_row_format format = (choice & 0x08) != 0 ? FLUSS_FORMAT_INDEXED :
		(choice & 0x10) != 0 ? FLUSS_FORMAT_COMPACTED : FLUSS_FORMAT_ARROW;
	bool		projected = (choice & 0x40) != 0;
	const fluss_schema *schema = choose_schema(choice);
	int32_t		columns[MAX_COLUMNS];
	const fluss_type *types[MAX_COLUMNS];
	fluss_column_view views[MAX_COLUMNS];
	const uint8_t *change_types;
	int			n;

	if (size == 0)
		return;
	fluss_arena_init(&arena, &host);
	n = choose_columns(schema, projected, columns, types);
	if (fluss_log_batch_open(data + 1, size - 1, (choice & 0x20) != 0, &batch,
							 &complete, &err) == FLUSS_OK && complete)
	{
		require(batch.total_size <= size - 1);
		require(batch.next_offset > batch.base_offset);
		if (fluss_log_batch_columns(&arena, &batch, format, schema,
									projected ? columns : NULL, n, columns,
									types, n, MAX_BYTES, views, &change_types,
									&err) == FLUSS_OK)
		{
			look_at_views(views, n, batch.record_count);
			for (int32_t i = 0; change_types != NULL &&
				 i < batch.record_count; i++)
				require(change_types[i] <= 4);
		}
	}
	fluss_arena_free(&arena);
}

/* Choice: schema; two bytes: rows. */
static void
fuzz_arrow(const uint8_t *data, size_t size)
{
	fluss_arena arena;
	fluss_error err;
	const fluss_schema *schema;
	const fluss_type *types[MAX_COLUMNS];
	fluss_column_view views[MAX_COLUMNS];
	int32_t		nrows;

	if (size < 3)
		return;
	nrows = data[1] | data[2] << 8;
	fluss_arena_init(&arena, &host);
	schema = choose_schema(data[0]);
	for (int32_t i = 0; i < schema->ncolumns; i++)
		types[i] = &schema->columns[i].type;
	if (fluss_arrow_read(&arena, data + 3, size - 3, nrows, types,
						 schema->ncolumns, NULL, MAX_BYTES, views, &err) ==
		FLUSS_OK)
		look_at_views(views, schema->ncolumns, nrows);
	fluss_arena_free(&arena);
}

/* Choice: schema, 0x08 INDEXED.  What is a row is written and read again. */
static void
fuzz_row(const uint8_t *data, size_t size)
{
	fluss_arena arena;
	fluss_error err;
	const fluss_schema *schema;
	fluss_row_format format;
	fluss_buf	out;
	fluss_value values[MAX_COLUMNS];
	fluss_value again[MAX_COLUMNS];

	if (size == 0)
		return;
	fluss_arena_init(&arena, &host);
	fluss_buf_init(&out, &host);
	schema = choose_schema(data[0]);
	format = (data[0] & 0x08) != 0 ? FLUSS_FORMAT_INDEXED :
		FLUSS_FORMAT_COMPACTED;
	if (fluss_row_decode(&arena, format, schema, NULL, data + 1, size - 1,
						 values, &err) == FLUSS_OK)
	{
		for (int32_t i = 0; i < schema->ncolumns; i++)
			look_at_value(&schema->columns[i].type, &values[i]);
		if (fluss_row_encode(format, schema, values, &out, &err) == FLUSS_OK)
		{
			require(fluss_row_decode(&arena, format, schema, NULL, out.data,
									 out.size, again, &err) == FLUSS_OK);
			for (int32_t i = 0; i < schema->ncolumns; i++)
				require(again[i].is_null == values[i].is_null);
		}
		else
			require(err.status == FLUSS_NOT_NULL_VIOLATION);
	}
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

static void
fuzz_value_batch(const uint8_t *data, size_t size)
{
	fluss_value_batch batch;
	fluss_error err;
	fluss_status status = fluss_value_batch_open(data, size, &batch, &err);
	bool		end = false;

	while (status == FLUSS_OK && !end)
	{
		int32_t		schema_id;
		const uint8_t *row;
		size_t		row_size;

		status = fluss_value_batch_next(&batch, &end, &schema_id, &row,
										&row_size, &err);
		if (status == FLUSS_OK && !end)
			look_at_bytes(row, row_size);
	}
}

static void
check_schema(const fluss_schema *schema)
{
	char		spelling[64];

	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		require(fluss_type_is_valid(&schema->columns[i].type));
		fluss_type_print(&schema->columns[i].type, spelling, sizeof(spelling));
	}
	for (int32_t i = 0; i < schema->nprimary_key; i++)
		require(schema->primary_key[i] < schema->ncolumns);
	require(schema->auto_increment < schema->ncolumns);
}

static void
fuzz_descriptor(const uint8_t *data, size_t size)
{
	const char *json = (const char *) data;
	fluss_arena arena;
	fluss_error err;
	fluss_table table;
	fluss_schema *schema;

	memset(&table, 0, sizeof(table));
	fluss_arena_init(&arena, &host);
	if (fluss_table_parse(&arena, json, size, 1, &table, &err) == FLUSS_OK)
	{
		check_schema(table.schema);
		require(table.nbuckets > 0);
		require(table.nphysical_key <= table.schema->nprimary_key);
		for (int32_t i = 0; i < table.nbucket_key; i++)
			require(table.bucket_key[i] < table.schema->ncolumns);
	}
	if (fluss_schema_parse(&arena, json, size, 1, &schema, &err) == FLUSS_OK)
		check_schema(schema);
	fluss_arena_free(&arena);
}

/* What is a type is printed and read again. */
static void
fuzz_type(const uint8_t *data, size_t size)
{
	fluss_arena arena;
	fluss_error err;
	fluss_type	type;
	fluss_type	again;
	char		spelling[8192];
	char	   *text;

	if (size > 1024)
		return;
	fluss_arena_init(&arena, &host);
	text = fluss_arena_strndup(&arena, (const char *) data, size);
	if (text != NULL && fluss_type_parse(&arena, text, &type, &err) == FLUSS_OK)
	{
		fluss_type_print(&type, spelling, sizeof(spelling));
		require(fluss_type_parse(&arena, spelling, &again, &err) == FLUSS_OK);
		require(fluss_type_same(&type, &again));
	}
	fluss_arena_free(&arena);
}

const fuzz_target fuzz_targets[] = {
	{"log_batch", fuzz_log_batch},
	{"arrow", fuzz_arrow},
	{"row", fuzz_row},
	{"value_batch", fuzz_value_batch},
	{"descriptor", fuzz_descriptor},
	{"type", fuzz_type}
};

const int	fuzz_ntargets = sizeof(fuzz_targets) / sizeof(fuzz_targets[0]);
