/*
 * values.c
 *	  Schemas and rows written as text, as in the vectors.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "schema.h"

const fluss_schema *
test_schema(fluss_arena *arena, const char *row_type)
{
	fluss_schema *schema = fluss_arena_alloc0(arena, sizeof(*schema));
	fluss_type	row;
	fluss_error err;
	fluss_column *columns;

	fluss_error_init(&err);
	assert_non_null(schema);
	assert_fluss_ok(fluss_type_parse(arena, row_type, &row, &err), &err);
	columns = (fluss_column *) row.children;
	for (int32_t i = 0; i < row.nchildren; i++)
		columns[i].id = i;
	schema->schema_id = 1;
	schema->ncolumns = row.nchildren;
	schema->columns = columns;
	schema->auto_increment = -1;
	return schema;
}

/* ---- rows */

/* "-123.45" becomes -12345: the vectors give all digits of the scale. */
static void
parse_decimal(const char *text, fluss_value *value)
{
	__extension__ unsigned __int128 v = 0;
	bool		negative = *text == '-';

	for (text += negative; *text != ')' && *text != '\0'; text++)
		if (*text != '.')
			v = v * 10 + (unsigned) (*text - '0');
	if (negative)
		v = -v;
	value->u.decimal.low = (uint64_t) v;
	value->u.decimal.high = (int64_t) (uint64_t) (v >> 64);
}

static void
parse_bytes(fluss_arena *arena, const char *text, fluss_value *value)
{
	uint8_t    *bytes;
	size_t		size;

	if (strncmp(text, "0x", 2) != 0)
	{
		value->u.bytes.data = (const uint8_t *) text;
		value->u.bytes.size = strlen(text);
		return;
	}
	size = test_hex(text + 2, &bytes);
	value->u.bytes.data = fluss_arena_memdup(arena, bytes, size);
	value->u.bytes.size = size;
	free(bytes);
}

static void
parse_value(fluss_arena *arena, const fluss_type *type, const char *text,
			fluss_value *value)
{
	memset(value, 0, sizeof(*value));
	value->is_null = strcmp(text, "null") == 0 || !fluss_type_is_scalar(type);
	if (value->is_null)
		return;
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = strcmp(text, "true") == 0;
			break;
		case FLUSS_FLOAT:
			value->u.float4 = strtof(text, NULL);
			break;
		case FLUSS_DOUBLE:
			value->u.float8 = strtod(text, NULL);
			break;
		case FLUSS_DECIMAL:
			parse_decimal(strchr(text, '(') + 1, value);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			assert_int_equal(sscanf(strchr(text, '('),
									"(ms=%" SCNd64 ",nano=%" SCNd32 ")",
									&value->u.timestamp.millis,
									&value->u.timestamp.nanos), 2);
			break;
		case FLUSS_CHAR:
		case FLUSS_STRING:
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			parse_bytes(arena, text, value);
			break;
		default:
			value->u.integer = strtoll(text, NULL, 10);
			break;
	}
}

/* End of the item at text: the next ", " or ")" that no bracket encloses. */
static char *
item_end(char *text)
{
	int			depth = 0;

	for (;; text++)
	{
		if (strchr("([{", *text) != NULL && *text != '\0')
			depth++;
		else if (depth == 0 && (*text == ')' || strncmp(text, ", ", 2) == 0))
			return text;
		else if (strchr(")]}", *text) != NULL && *text != '\0')
			depth--;
		assert_int_not_equal(*text, '\0');
	}
}

fluss_value *
test_row(fluss_arena *arena, const fluss_schema *schema, const char *text)
{
	fluss_value *values = fluss_arena_array(arena, (size_t) schema->ncolumns,
											sizeof(fluss_value));
	char	   *item = fluss_arena_strdup(arena, text);

	assert_non_null(values);
	assert_non_null(item);
	assert_int_equal(*item++, '(');
	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		char	   *end = item_end(item);

		assert_int_equal(*end == ')', i == schema->ncolumns - 1);
		*end = '\0';
		parse_value(arena, &schema->columns[i].type, item, &values[i]);
		item = end + 2;
	}
	return values;
}

/* ---- comparing */

static bool
same(const fluss_type *type, const fluss_value *a, const fluss_value *b)
{
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			return a->u.boolean == b->u.boolean;
		case FLUSS_FLOAT:
			return memcmp(&a->u.float4, &b->u.float4, sizeof(float)) == 0;
		case FLUSS_DOUBLE:
			return memcmp(&a->u.float8, &b->u.float8, sizeof(double)) == 0;
		case FLUSS_DECIMAL:
			return a->u.decimal.low == b->u.decimal.low &&
				a->u.decimal.high == b->u.decimal.high;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return a->u.timestamp.millis == b->u.timestamp.millis &&
				a->u.timestamp.nanos == b->u.timestamp.nanos;
		case FLUSS_CHAR:
		case FLUSS_STRING:
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			return a->u.bytes.size == b->u.bytes.size &&
				(a->u.bytes.size == 0 ||
				 memcmp(a->u.bytes.data, b->u.bytes.data,
						a->u.bytes.size) == 0);
		default:
			return a->u.integer == b->u.integer;
	}
}

void
test_same_value(const fluss_column *column, const fluss_value *actual,
				const fluss_value *expected)
{
	char		spelling[128];

	if (actual->is_null == expected->is_null &&
		(actual->is_null || same(&column->type, actual, expected)))
		return;
	fluss_type_print(&column->type, spelling, sizeof(spelling));
	fail_msg("value of column %s %s differs", column->name, spelling);
}

void
test_same_bytes(const uint8_t *actual, size_t actual_size,
				const uint8_t *expected, size_t expected_size)
{
	size_t		i = 0;

	while (i < actual_size && i < expected_size && actual[i] == expected[i])
		i++;
	if (i < actual_size || i < expected_size)
		fail_msg("%zu bytes where %zu were expected, different from byte %zu on",
				 actual_size, expected_size, i);
}
