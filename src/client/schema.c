/*
 * schema.c
 *	  Reading schema JSON and table descriptor JSON.
 *
 * Schema: {"columns":[{"name","data_type","comment"?,"id"?}],
 * "primary_key":[name]?,"auto_increment_column":[name]?}; column ids may be
 * absent in tables older than 0.9.  Type: {"type":NAME,"nullable":false?,...}
 * with "length", "precision", "scale", "element_type", "key_type" and
 * "value_type" or "fields" as the type wants.  Descriptor: {"schema",
 * "partition_key":[name],"bucket_key":[name]?,"bucket_count","comment"?,
 * "properties":{},"custom_properties":{}}.  Other members are ignored.
 *
 * jansson keeps its values on its own heap: they are freed before each return,
 * and everything that lives on is copied into the arena.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "error.h"
#include "schema.h"

/*
 * More buckets than any table has: a server allows 128,000 by default.  Memory
 * is taken by their number.
 */
#define MAX_BUCKETS		(1 << 20)

typedef struct context
{
	fluss_arena *arena;
	fluss_error *err;
} context;

static fluss_status parse_type(context *ctx, const json_t *json, int depth,
							   fluss_type *type);

static fluss_status malformed(context *ctx, const char *format,...)
			__attribute__((format(printf, 2, 3)));

static fluss_status
malformed(context *ctx, const char *format,...)
{
	char		detail[256];
	va_list		args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	fluss_fail(ctx->err, FLUSS_MALFORMED, "could not read a table's description");
	fluss_error_detail(ctx->err, "%s", detail);
	return FLUSS_MALFORMED;
}

/* ---- members */

static fluss_status
copy_string(context *ctx, const json_t *json, const char **out)
{
	*out = fluss_arena_strndup(ctx->arena, json_string_value(json),
							   json_string_length(json));
	return *out == NULL ? fluss_fail_memory(ctx->err) : FLUSS_OK;
}

static fluss_status
get_string(context *ctx, const json_t *object, const char *key,
		   const char **out)
{
	const json_t *json = json_object_get(object, key);

	if (!json_is_string(json))
		return malformed(ctx, "Expected a string \"%s\".", key);
	return copy_string(ctx, json, out);
}

/* Leaves *out NULL when the member is absent. */
static fluss_status
get_comment(context *ctx, const json_t *object, const char *key,
			const char **out)
{
	const json_t *json = json_object_get(object, key);

	*out = NULL;
	if (json == NULL || json_is_null(json))
		return FLUSS_OK;
	return get_string(ctx, object, key, out);
}

static bool
is_int32(const json_t *json)
{
	return json_is_integer(json) &&
		json_integer_value(json) >= INT32_MIN &&
		json_integer_value(json) <= INT32_MAX;
}

static fluss_status
get_int32(context *ctx, const json_t *object, const char *key, int32_t *out)
{
	const json_t *json = json_object_get(object, key);

	if (!is_int32(json))
		return malformed(ctx, "Expected a 32-bit integer \"%s\".", key);
	*out = (int32_t) json_integer_value(json);
	return FLUSS_OK;
}

/* ---- types */

static fluss_status
parse_arguments(context *ctx, const json_t *json, fluss_type *type)
{
	const fluss_type_kind *kind = &fluss_type_kinds[type->id];
	fluss_status status = FLUSS_OK;

	if (kind->has_length)
		status = get_int32(ctx, json, "length", &type->length);
	if (status == FLUSS_OK && kind->has_precision)
		status = get_int32(ctx, json, "precision", &type->precision);
	if (status == FLUSS_OK && kind->has_scale)
		status = get_int32(ctx, json, "scale", &type->scale);
	if (status == FLUSS_OK && !fluss_type_is_valid(type))
		return malformed(ctx, "The length, precision or scale of a %s is out of bounds.",
						 kind->sql_name);
	return status;
}

static fluss_status
parse_row_field(context *ctx, const json_t *json, int depth,
				fluss_column *field)
{
	const json_t *id = json_object_get(json, "field_id");
	fluss_status status = get_string(ctx, json, "name", &field->name);

	if (status == FLUSS_OK)
		status = get_comment(ctx, json, "description", &field->comment);
	field->id = is_int32(id) ? (int32_t) json_integer_value(id) : -1;
	if (status == FLUSS_OK)
		status = parse_type(ctx, json_object_get(json, "field_type"), depth,
							&field->type);
	return status;
}

static fluss_status
parse_children(context *ctx, const json_t *json, int depth, fluss_type *type)
{
	/* member and name of the children of ARRAY and MAP */
	static const char *const members[3][2] = {
		{"element_type", "element"}, {"key_type", "key"}, {"value_type", "value"}
	};
	const json_t *fields = json_object_get(json, "fields");
	int			first = type->id == FLUSS_MAP ? 1 : 0;
	size_t		n = type->id == FLUSS_ROW ? json_array_size(fields) :
		type->id == FLUSS_MAP ? 2 : 1;
	fluss_column *children;
	fluss_status status = FLUSS_OK;

	if (type->id == FLUSS_ROW && !json_is_array(fields))
		return malformed(ctx, "Expected an array \"fields\" in a ROW.");
	children = fluss_arena_array(ctx->arena, n, sizeof(fluss_column));
	if (children == NULL)
		return fluss_fail_memory(ctx->err);
	for (size_t i = 0; i < n && status == FLUSS_OK; i++)
	{
		if (type->id == FLUSS_ROW)
		{
			status = parse_row_field(ctx, json_array_get(fields, i), depth + 1,
									 &children[i]);
			continue;
		}
		children[i].name = members[first + i][1];
		status = parse_type(ctx, json_object_get(json, members[first + i][0]),
							depth + 1, &children[i].type);
	}
	/* as the server takes it */
	if (type->id == FLUSS_MAP)
		children[0].type.nullable = false;
	type->nchildren = (int32_t) n;
	type->children = children;
	return status;
}

static fluss_status
parse_type(context *ctx, const json_t *json, int depth, fluss_type *type)
{
	const json_t *nullable = json_object_get(json, "nullable");
	const char *name = json_string_value(json_object_get(json, "type"));
	int			id = 0;

	if (name == NULL)
		return malformed(ctx, "Expected a data type with a string \"type\".");
	if (depth > FLUSS_MAX_NESTING)
		return malformed(ctx, "A data type is nested more than %d deep.",
						 FLUSS_MAX_NESTING);
	if (nullable != NULL && !json_is_boolean(nullable))
		return malformed(ctx, "Expected a boolean \"nullable\".");
	while (id <= FLUSS_ROW && strcmp(fluss_type_kinds[id].json_name, name) != 0)
		id++;
	if (id > FLUSS_ROW)
		return fluss_fail(ctx->err, FLUSS_UNSUPPORTED,
						  "data type \"%.64s\" is not supported", name);
	type->id = (fluss_type_id) id;
	type->nullable = !json_is_false(nullable);
	return fluss_type_is_scalar(type) ? parse_arguments(ctx, json, type) :
		parse_children(ctx, json, depth, type);
}

/* ---- schemas */

/* An array of column names as positions. */
static fluss_status
parse_names(context *ctx, const json_t *object, const char *key,
			const fluss_schema *schema, const int32_t **positions, int32_t *n)
{
	const json_t *names = json_object_get(object, key);
	size_t		count = json_array_size(names);
	int32_t    *result;

	if (names != NULL && !json_is_array(names))
		return malformed(ctx, "Expected an array \"%s\".", key);
	if (count > (size_t) schema->ncolumns)
		return malformed(ctx, "\"%s\" names more columns than there are.", key);
	result = fluss_arena_array(ctx->arena, count, sizeof(int32_t));
	if (result == NULL)
		return fluss_fail_memory(ctx->err);
	for (size_t i = 0; i < count; i++)
	{
		const char *name = json_string_value(json_array_get(names, i));

		result[i] = name == NULL ? -1 : fluss_schema_column_by_name(schema, name);
		if (result[i] < 0)
			return malformed(ctx, "Entry %zu of \"%s\" is not a column.",
							 i + 1, key);
	}
	*positions = result;
	*n = (int32_t) count;
	return FLUSS_OK;
}

static fluss_status
parse_column(context *ctx, const json_t *json, fluss_column *column)
{
	fluss_status status = get_string(ctx, json, "name", &column->name);

	if (status == FLUSS_OK)
		status = get_comment(ctx, json, "comment", &column->comment);
	if (status == FLUSS_OK)
		status = parse_type(ctx, json_object_get(json, "data_type"), 0,
							&column->type);
	return status;
}

static fluss_status
parse_columns(context *ctx, const json_t *json, fluss_schema *schema)
{
	const json_t *list = json_object_get(json, "columns");
	size_t		n = json_array_size(list);
	bool		have_ids = true;
	fluss_column *columns;

	if (n == 0 || n > INT32_MAX)
		return malformed(ctx, "Expected an array \"columns\" with at least one column.");
	columns = fluss_arena_array(ctx->arena, n, sizeof(fluss_column));
	if (columns == NULL)
		return fluss_fail_memory(ctx->err);
	for (size_t i = 0; i < n; i++)
	{
		const json_t *column = json_array_get(list, i);
		const json_t *id = json_object_get(column, "id");
		fluss_status status = parse_column(ctx, column, &columns[i]);

		if (status != FLUSS_OK)
			return status;
		if (is_int32(id))
			columns[i].id = (int32_t) json_integer_value(id);
		else
			have_ids = false;
	}
	for (size_t i = 0; i < n && !have_ids; i++)
		columns[i].id = (int32_t) i;
	schema->ncolumns = (int32_t) n;
	schema->columns = columns;
	return FLUSS_OK;
}

static fluss_status
parse_schema(context *ctx, const json_t *json, int32_t schema_id,
			 fluss_schema **result)
{
	fluss_schema *schema = fluss_arena_alloc0(ctx->arena, sizeof(*schema));
	const int32_t *auto_increment = NULL;
	int32_t		nauto_increment = 0;
	fluss_status status;

	if (schema == NULL)
		return fluss_fail_memory(ctx->err);
	schema->schema_id = schema_id;
	status = parse_columns(ctx, json, schema);
	if (status == FLUSS_OK)
		status = parse_names(ctx, json, "primary_key", schema,
							 &schema->primary_key, &schema->nprimary_key);
	if (status == FLUSS_OK)
		status = parse_names(ctx, json, "auto_increment_column", schema,
							 &auto_increment, &nauto_increment);
	if (status != FLUSS_OK)
		return status;
	schema->auto_increment = nauto_increment > 0 ? auto_increment[0] : -1;
	*result = schema;
	return FLUSS_OK;
}

/* The document, to be freed by the caller. */
static fluss_status
load(context *ctx, const char *text, size_t size, json_t **json)
{
	json_error_t error;

	*json = json_loadb(text, size, 0, &error);
	if (*json != NULL)
		return FLUSS_OK;
	if (json_error_code(&error) == json_error_out_of_memory)
		return fluss_fail_memory(ctx->err);
	return malformed(ctx, "JSON error at byte %d: %s.", error.position,
					 error.text);
}

fluss_status
fluss_schema_parse(fluss_arena *arena, const char *json, size_t size,
				   int32_t schema_id, fluss_schema **schema, fluss_error *err)
{
	context		ctx = {arena, err};
	json_t	   *root;
	fluss_status status = load(&ctx, json, size, &root);

	if (status != FLUSS_OK)
		return status;
	status = parse_schema(&ctx, root, schema_id, schema);
	json_decref(root);
	return status;
}

/* ---- tables */

static fluss_status
copy_properties(context *ctx, const json_t *object, fluss_property *out)
{
	const char *key;
	json_t	   *value;

	json_object_foreach((json_t *) object, key, value)
	{
		fluss_status status;

		if (!json_is_string(value))
			return malformed(ctx, "Property \"%s\" is not a string.", key);
		out->key = fluss_arena_strdup(ctx->arena, key);
		if (out->key == NULL)
			return fluss_fail_memory(ctx->err);
		status = copy_string(ctx, value, &out->value);
		if (status != FLUSS_OK)
			return status;
		out++;
	}
	return FLUSS_OK;
}

static fluss_status
parse_properties(context *ctx, const json_t *json, fluss_table *table)
{
	const json_t *own = json_object_get(json, "properties");
	const json_t *custom = json_object_get(json, "custom_properties");
	size_t		nown = json_object_size(own);
	size_t		ncustom = json_object_size(custom);
	fluss_property *list = fluss_arena_array(ctx->arena, nown + ncustom,
											 sizeof(fluss_property));
	fluss_status status;

	if (list == NULL)
		return fluss_fail_memory(ctx->err);
	table->nproperties = (int32_t) nown;
	table->ncustom_properties = (int32_t) ncustom;
	table->properties = list;
	status = copy_properties(ctx, own, list);
	return status == FLUSS_OK ? copy_properties(ctx, custom, list + nown) :
		status;
}

const char *
fluss_table_property(const fluss_table *table, const char *key)
{
	int32_t		n = table->nproperties + table->ncustom_properties;

	for (int32_t i = 0; i < n; i++)
	{
		if (strcmp(table->properties[i].key, key) == 0)
			return table->properties[i].value;
	}
	return NULL;
}

/* An enum by name, the names in the order of its values, NULL-ended. */
static fluss_status
parse_choice(context *ctx, const fluss_table *table, const char *key,
			 const char *const *names, int default_choice, int *choice)
{
	const char *value = fluss_table_property(table, key);

	*choice = default_choice;
	if (value == NULL)
		return FLUSS_OK;
	for (int i = 0; names[i] != NULL; i++)
	{
		if (strcasecmp(names[i], value) == 0)
		{
			*choice = i;
			return FLUSS_OK;
		}
	}
	return fluss_fail(ctx->err, FLUSS_UNSUPPORTED,
					  "tables with \"%s\" = \"%.64s\" are not supported",
					  key, value);
}

/* A number from min to max, or otherwise when it is anything else. */
static int32_t
parse_number(const fluss_table *table, const char *key, int32_t default_number,
			 int32_t min, int32_t max, int32_t otherwise)
{
	const char *value = fluss_table_property(table, key);
	char	   *end;
	long		number;

	if (value == NULL)
		return default_number;
	number = strtol(value, &end, 10);
	if (end == value || *end != '\0' || number < min || number > max)
		return otherwise;
	return (int32_t) number;
}

/*
 * A lake format that is not known here only matters once a key is encoded:
 * fluss_table_key_encoders refuses it.
 */
static void
parse_lake(fluss_table *table)
{
	const char *format = fluss_table_property(table, "table.datalake.format");

	table->has_lake_format = format != NULL;
	table->lake = FLUSS_LAKE_NONE;
	if (format != NULL && strcasecmp(format, "paimon") == 0)
		table->lake = FLUSS_LAKE_PAIMON;
	else if (format != NULL && strcasecmp(format, "iceberg") == 0)
		table->lake = FLUSS_LAKE_ICEBERG;
}

static fluss_status
parse_formats(context *ctx, fluss_table *table)
{
	static const char *const formats[] = {"ARROW", "INDEXED", "COMPACTED", NULL};
	static const char *const codecs[] = {"NONE", "LZ4_FRAME", "ZSTD", NULL};
	int			log_format,
				kv_format,
				codec;
	fluss_status status;

	status = parse_choice(ctx, table, "table.log.format", formats,
						  FLUSS_FORMAT_ARROW, &log_format);
	if (status == FLUSS_OK)
		status = parse_choice(ctx, table, "table.kv.format", formats,
							  FLUSS_FORMAT_COMPACTED, &kv_format);
	if (status == FLUSS_OK)
		status = parse_choice(ctx, table, "table.log.arrow.compression.type",
							  codecs, FLUSS_CODEC_ZSTD, &codec);
	if (status != FLUSS_OK)
		return status;
	table->log_format = (fluss_row_format) log_format;
	table->kv_format = (fluss_row_format) kv_format;
	table->codec = (fluss_codec) codec;
	/* any level can be read; -1 is a version that no encoder has */
	table->zstd_level =
		parse_number(table, "table.log.arrow.compression.zstd.level",
					 3, 1, 22, 3);
	table->kv_format_version =
		parse_number(table, "table.kv.format-version", 1, 0, INT32_MAX, -1);
	parse_lake(table);
	return FLUSS_OK;
}

static bool
contains(const int32_t *positions, int32_t n, int32_t position)
{
	for (int32_t i = 0; i < n; i++)
	{
		if (positions[i] == position)
			return true;
	}
	return false;
}

/* Physical key: the primary key without the partition columns. */
static fluss_status
parse_keys(context *ctx, const json_t *json, fluss_table *table)
{
	const fluss_schema *schema = table->schema;
	int32_t    *physical = fluss_arena_array(ctx->arena,
											 (size_t) schema->nprimary_key,
											 sizeof(int32_t));
	fluss_status status;

	if (physical == NULL)
		return fluss_fail_memory(ctx->err);
	status = parse_names(ctx, json, "partition_key", schema,
						 &table->partition_key, &table->npartition_key);
	if (status != FLUSS_OK)
		return status;
	table->nphysical_key = 0;
	for (int32_t i = 0; i < schema->nprimary_key; i++)
	{
		if (!contains(table->partition_key, table->npartition_key,
					  schema->primary_key[i]))
			physical[table->nphysical_key++] = schema->primary_key[i];
	}
	table->physical_key = physical;
	table->bucket_key = physical;
	table->nbucket_key = table->nphysical_key;
	if (json_object_get(json, "bucket_key") == NULL)
		return FLUSS_OK;
	return parse_names(ctx, json, "bucket_key", schema,
					   &table->bucket_key, &table->nbucket_key);
}

static fluss_status
parse_table(context *ctx, const json_t *json, int32_t schema_id,
			fluss_table *table)
{
	fluss_schema *schema;
	fluss_status status = parse_schema(ctx, json_object_get(json, "schema"),
									   schema_id, &schema);

	if (status != FLUSS_OK)
		return status;
	table->schema = schema;
	status = parse_keys(ctx, json, table);
	if (status == FLUSS_OK)
		status = get_int32(ctx, json, "bucket_count", &table->nbuckets);
	if (status == FLUSS_OK &&
		(table->nbuckets < 1 || table->nbuckets > MAX_BUCKETS))
		status = malformed(ctx, "The bucket count is %d.", table->nbuckets);
	if (status == FLUSS_OK)
		status = get_comment(ctx, json, "comment", &table->comment);
	if (status == FLUSS_OK)
		status = parse_properties(ctx, json, table);
	return status == FLUSS_OK ? parse_formats(ctx, table) : status;
}

fluss_status
fluss_table_parse(fluss_arena *arena, const char *json, size_t size,
				  int32_t schema_id, fluss_table *table, fluss_error *err)
{
	context		ctx = {arena, err};
	json_t	   *root;
	fluss_status status = load(&ctx, json, size, &root);

	if (status != FLUSS_OK)
		return status;
	status = parse_table(&ctx, root, schema_id, table);
	json_decref(root);
	return status;
}
