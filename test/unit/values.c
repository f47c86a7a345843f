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

/*
 * End of the item at text: the next separator or closing bracket that no
 * bracket encloses.
 */
static char *
item_end(char *text, const char *separator)
{
	int			depth = 0;

	for (;; text++)
	{
		if (depth == 0 && (strchr(")]}", *text) != NULL ||
						   strncmp(text, separator, strlen(separator)) == 0))
			return text;
		if (strchr("([{", *text) != NULL)
			depth++;
		else if (strchr(")]}", *text) != NULL)
			depth--;
	}
}

static void parse_value(fluss_arena *arena, const fluss_type *type,
						const char *text, fluss_value *value);

/* [a, b], {k: v, k: v}, (a, b) */
static void
parse_nested(fluss_arena *arena, const fluss_type *type, const char *text,
			 fluss_value *value)
{
	char	   *item = fluss_arena_strdup(arena, text);
	fluss_value *items = fluss_arena_array(arena, 64, sizeof(fluss_value));
	int			n = 0;
	bool		more = type->id == FLUSS_ROW || strchr("]}", item[1]) == NULL;

	assert_non_null(items);
	for (item++; more; n++)
	{
		bool		is_key = type->id == FLUSS_MAP && n % 2 == 0;
		char	   *end = item_end(item, is_key ? ": " : ", ");

		assert_in_range(n, 0, 63);
		more = strchr(")]}", *end) == NULL;
		*end = '\0';
		parse_value(arena, &type->children[n % type->nchildren].type, item,
					&items[n]);
		item = end + 2;
	}
	value->u.nested.items = n > 0 ? items : NULL;
	value->u.nested.n = type->id == FLUSS_MAP ? n / 2 : n;
}

static void
parse_value(fluss_arena *arena, const fluss_type *type, const char *text,
			fluss_value *value)
{
	memset(value, 0, sizeof(*value));
	value->is_null = strcmp(text, "null") == 0;
	if (value->is_null)
		return;
	switch (type->id)
	{
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			parse_nested(arena, type, text, value);
			break;
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
		char	   *end = item_end(item, ", ");

		assert_int_equal(*end == ')', i == schema->ncolumns - 1);
		*end = '\0';
		parse_value(arena, &schema->columns[i].type, item, &values[i]);
		item = end + 2;
	}
	return values;
}

/* ---- comparing */

static bool same_or_null(const fluss_type *type, const fluss_value *a,
						 const fluss_value *b);

static bool
same_items(const fluss_type *type, const fluss_value *a, const fluss_value *b)
{
	int32_t		n = a->u.nested.n * (type->id == FLUSS_MAP ? 2 : 1);

	if (a->u.nested.n != b->u.nested.n)
		return false;
	for (int32_t i = 0; i < n; i++)
		if (!same_or_null(&type->children[i % type->nchildren].type,
						  &a->u.nested.items[i], &b->u.nested.items[i]))
			return false;
	return true;
}

static bool
same(const fluss_type *type, const fluss_value *a, const fluss_value *b)
{
	switch (type->id)
	{
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			return same_items(type, a, b);
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

static bool
same_or_null(const fluss_type *type, const fluss_value *a,
			 const fluss_value *b)
{
	return a->is_null == b->is_null && (a->is_null || same(type, a, b));
}

void
test_same_value(const fluss_column *column, const fluss_value *actual,
				const fluss_value *expected)
{
	char		spelling[128];

	if (same_or_null(&column->type, actual, expected))
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

uint64_t
test_sum_value(const fluss_type *type, const fluss_value *value)
{
	uint64_t	sum = 0;
	int32_t		n;

	if (value->is_null)
		return 1;
	switch (type->id)
	{
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			n = value->u.nested.n * (type->id == FLUSS_MAP ? 2 : 1);
			for (int32_t i = 0; i < n; i++)
				sum += test_sum_value(&type->children[i % type->nchildren].type,
									  &value->u.nested.items[i]);
			return sum;
		case FLUSS_CHAR:
		case FLUSS_STRING:
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			for (size_t k = 0; k < value->u.bytes.size; k++)
				sum += value->u.bytes.data[k];
			return sum;
		case FLUSS_BOOLEAN:
			return value->u.boolean;
		case FLUSS_FLOAT:
			return 2;
		default:
			return (uint64_t) value->u.integer;
	}
}

/* ---- views */

void
test_view_value(const fluss_column_view *view, int32_t row,
				fluss_value *value, void **items)
{
	fluss_error err;

	*items = NULL;
	if (fluss_type_is_scalar(view->type))
	{
		fluss_column_value(view, row, value);
		return;
	}
	fluss_error_init(&err);
	assert_fluss_ok(fluss_column_nested(test_host(), view, row, value, &err),
					&err);
	if (!value->is_null)
		*items = (void *) value->u.nested.items;
}

void
test_free_items(void *items)
{
	if (items != NULL)
		test_host()->free(test_host()->arg, items);
}
