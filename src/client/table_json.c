/*
 * table_json.c
 *	  Writing table descriptor JSON and database JSON (layout: schema.c).
 *
 * Ids are given as the Java client does: one after the other, a column's before
 * those of the ROW fields in it.  Primary key columns are written NOT NULL, as
 * the server makes them so.  A bucket count needs a bucket key beside
 * it: the default one is spelled out then.
 *
 * jansson's setters take a missing value as a failure, so a tree is built
 * without looking and one flag tells at the end whether all of it is there.
 */
#include <string.h>

#include <jansson.h>

#include "error.h"
#include "schema.h"

/*
 * An empty object.  Not by json_object(): a PostgreSQL server exports a
 * function of that name, and the dynamic linker would call that one.
 */
static json_t *
new_object(void)
{
	return json_pack("{}");
}

static const char *const reserved_names[] = {
	"__offset", "__timestamp", "__bucket",
	"_change_type", "_log_offset", "_commit_timestamp", NULL
};

static bool
name_in(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
	{
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

static const fluss_column *
find_column(const fluss_table_spec *spec, const char *name)
{
	for (int i = 0; i < spec->ncolumns; i++)
	{
		if (strcmp(spec->columns[i].name, name) == 0)
			return &spec->columns[i];
	}
	return NULL;
}

/* ---- checks */

static fluss_status
check_columns(const fluss_table_spec *spec, fluss_error *err)
{
	if (spec->ncolumns < 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "a Fluss table needs at least one column");
	for (int i = 0; i < spec->ncolumns; i++)
	{
		const char *name = spec->columns[i].name;

		if (name[0] == '\0')
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "a Fluss column needs a name");
		for (int j = 0; reserved_names[j] != NULL; j++)
		{
			if (strcmp(reserved_names[j], name) == 0)
				return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
								  "column name \"%s\" is reserved by Fluss",
								  name);
		}
		if (find_column(spec, name) != &spec->columns[i])
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "column \"%s\" is given twice", name);
		if (!fluss_type_is_valid(&spec->columns[i].type))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "the type of column \"%s\" has a length, precision or scale out of bounds, or is nested too deep",
							  name);
	}
	return FLUSS_OK;
}

/* Names are distinct columns of types that can be part of a key. */
static fluss_status
check_key(const fluss_table_spec *spec, const char *what,
		  const char *const *names, int n, fluss_error *err)
{
	for (int i = 0; i < n; i++)
	{
		const fluss_column *column = find_column(spec, names[i]);

		if (column == NULL)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "%s column \"%s\" does not exist",
							  what, names[i]);
		if (name_in(names[i], names, i))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "%s column \"%s\" is given twice",
							  what, names[i]);
		if (!fluss_type_is_scalar(&column->type))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "%s column \"%s\" cannot have a nested type",
							  what, names[i]);
	}
	return FLUSS_OK;
}

static fluss_status
check_within_primary_key(const fluss_table_spec *spec, const char *what,
						 const char *const *names, int n, fluss_error *err)
{
	for (int i = 0; i < n && spec->nprimary_key > 0; i++)
	{
		if (!name_in(names[i], spec->primary_key, spec->nprimary_key))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "%s column \"%s\" must be part of the primary key",
							  what, names[i]);
	}
	return FLUSS_OK;
}

static fluss_status
check_partition_key(const fluss_table_spec *spec, fluss_error *err)
{
	for (int i = 0; i < spec->npartition_key; i++)
	{
		const char *name = spec->partition_key[i];

		if (find_column(spec, name)->type.id == FLUSS_DECIMAL)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "partition column \"%s\" cannot be of type DECIMAL",
							  name);
		if (name_in(name, spec->bucket_key, spec->nbucket_key))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "column \"%s\" cannot be both in the bucket key and in the partition key",
							  name);
	}
	if (spec->nprimary_key > 0 && spec->npartition_key >= spec->nprimary_key)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "the primary key must have a column that is not in the partition key");
	return FLUSS_OK;
}

static fluss_status
check_spec(const fluss_table_spec *spec, fluss_error *err)
{
	fluss_status status = check_columns(spec, err);

	if (status == FLUSS_OK)
		status = check_key(spec, "primary key", spec->primary_key,
						   spec->nprimary_key, err);
	if (status == FLUSS_OK)
		status = check_key(spec, "bucket key", spec->bucket_key,
						   spec->nbucket_key, err);
	if (status == FLUSS_OK)
		status = check_key(spec, "partition", spec->partition_key,
						   spec->npartition_key, err);
	if (status == FLUSS_OK)
		status = check_within_primary_key(spec, "bucket key",
										  spec->bucket_key,
										  spec->nbucket_key, err);
	if (status == FLUSS_OK)
		status = check_within_primary_key(spec, "partition",
										  spec->partition_key,
										  spec->npartition_key, err);
	if (status == FLUSS_OK)
		status = check_partition_key(spec, err);
	if (status == FLUSS_OK && spec->nbuckets < 0)
		status = fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							"the number of buckets cannot be negative");
	return status;
}

/* ---- building */

typedef struct builder
{
	bool		failed;			/* no memory, or text that is not UTF-8 */
	int32_t		next_id;		/* of a column or field */
} builder;

static void
set(builder *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value) != 0)
		b->failed = true;
}

static void
append(builder *b, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		b->failed = true;
}

static json_t *
names_json(builder *b, const char *const *names, int n)
{
	json_t	   *array = json_array();

	for (int i = 0; i < n; i++)
		append(b, array, json_string(names[i]));
	return array;
}

static json_t *
properties_json(builder *b, const fluss_property *properties, int n)
{
	json_t	   *object = new_object();

	for (int i = 0; i < n; i++)
		set(b, object, properties[i].key, json_string(properties[i].value));
	return object;
}

static json_t *type_json(builder *b, const fluss_type *type, bool nullable);

static json_t *
fields_json(builder *b, const fluss_type *row)
{
	json_t	   *array = json_array();

	for (int32_t i = 0; i < row->nchildren; i++)
	{
		const fluss_column *field = &row->children[i];
		json_t	   *object = new_object();

		set(b, object, "name", json_string(field->name));
		set(b, object, "field_id", json_integer(b->next_id++));
		set(b, object, "field_type",
			type_json(b, &field->type, field->type.nullable));
		if (field->comment != NULL)
			set(b, object, "description", json_string(field->comment));
		append(b, array, object);
	}
	return array;
}

static json_t *
type_json(builder *b, const fluss_type *type, bool nullable)
{
	const fluss_type_kind *kind = &fluss_type_kinds[type->id];
	const fluss_column *children = type->children;
	json_t	   *object = new_object();

	set(b, object, "type", json_string(kind->json_name));
	if (!nullable)
		set(b, object, "nullable", json_false());
	if (kind->has_length)
		set(b, object, "length", json_integer(type->length));
	if (kind->has_precision)
		set(b, object, "precision", json_integer(type->precision));
	if (kind->has_scale)
		set(b, object, "scale", json_integer(type->scale));
	if (type->id == FLUSS_ARRAY)
		set(b, object, "element_type",
			type_json(b, &children[0].type, children[0].type.nullable));
	if (type->id == FLUSS_MAP)
	{
		set(b, object, "key_type", type_json(b, &children[0].type, false));
		set(b, object, "value_type",
			type_json(b, &children[1].type, children[1].type.nullable));
	}
	if (type->id == FLUSS_ROW)
		set(b, object, "fields", fields_json(b, type));
	return object;
}

static json_t *
schema_json(builder *b, const fluss_table_spec *spec)
{
	json_t	   *object = new_object();
	json_t	   *columns = json_array();

	for (int i = 0; i < spec->ncolumns; i++)
	{
		const fluss_column *column = &spec->columns[i];
		bool		in_key = name_in(column->name, spec->primary_key,
									 spec->nprimary_key);
		json_t	   *entry = new_object();

		set(b, entry, "name", json_string(column->name));
		set(b, entry, "id", json_integer(b->next_id++));
		set(b, entry, "data_type",
			type_json(b, &column->type, column->type.nullable && !in_key));
		if (column->comment != NULL)
			set(b, entry, "comment", json_string(column->comment));
		append(b, columns, entry);
	}
	set(b, object, "version", json_integer(1));
	set(b, object, "columns", columns);
	set(b, object, "highest_field_id", json_integer(b->next_id - 1));
	if (spec->nprimary_key > 0)
		set(b, object, "primary_key",
			names_json(b, spec->primary_key, spec->nprimary_key));
	return object;
}

static json_t *
bucket_key_json(builder *b, const fluss_table_spec *spec)
{
	json_t	   *array;

	if (spec->nbucket_key > 0)
		return names_json(b, spec->bucket_key, spec->nbucket_key);
	array = json_array();
	for (int i = 0; i < spec->nprimary_key; i++)
	{
		if (!name_in(spec->primary_key[i], spec->partition_key,
					 spec->npartition_key))
			append(b, array, json_string(spec->primary_key[i]));
	}
	return array;
}

static json_t *
table_json(builder *b, const fluss_table_spec *spec)
{
	json_t	   *object = new_object();

	set(b, object, "version", json_integer(1));
	set(b, object, "schema", schema_json(b, spec));
	if (spec->comment != NULL)
		set(b, object, "comment", json_string(spec->comment));
	set(b, object, "partition_key",
		names_json(b, spec->partition_key, spec->npartition_key));
	if (spec->nbucket_key > 0 || spec->nbuckets > 0)
		set(b, object, "bucket_key", bucket_key_json(b, spec));
	if (spec->nbuckets > 0)
		set(b, object, "bucket_count", json_integer(spec->nbuckets));
	set(b, object, "properties",
		properties_json(b, spec->properties, spec->nproperties));
	set(b, object, "custom_properties",
		properties_json(b, spec->custom_properties,
						spec->ncustom_properties));
	return object;
}

/* ---- text */

static int
append_text(const char *text, size_t size, void *arg)
{
	fluss_buf  *out = arg;

	fluss_buf_append(out, text, size);
	return out->failed ? -1 : 0;
}

static fluss_status
write_json(json_t *json, const builder *b, fluss_buf *out, fluss_error *err)
{
	int			rc = -1;

	if (!b->failed)
		rc = json_dump_callback(json, append_text, out, JSON_COMPACT);
	json_decref(json);
	if (b->failed && !out->failed)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "names, comments and properties of a Fluss table must be valid UTF-8");
	return rc == 0 ? FLUSS_OK : fluss_fail_memory(err);
}

fluss_status
fluss_table_spec_json(const fluss_host *host, const fluss_table_spec *spec,
					  fluss_buf *out, fluss_error *err)
{
	builder		b = {false, 0};
	fluss_status status = check_spec(spec, err);

	if (status != FLUSS_OK)
		return status;
	return write_json(table_json(&b, spec), &b, out, err);
}

fluss_status
fluss_type_json(const fluss_host *host, const fluss_type *type,
				fluss_buf *out, fluss_error *err)
{
	builder		b = {0};

	return write_json(type_json(&b, type, type->nullable), &b, out, err);
}

fluss_status
fluss_database_json(const fluss_host *host, const char *comment,
					fluss_buf *out, fluss_error *err)
{
	builder		b = {false, 0};
	json_t	   *object = new_object();

	set(&b, object, "version", json_integer(1));
	if (comment != NULL)
		set(&b, object, "comment", json_string(comment));
	set(&b, object, "custom_properties", new_object());
	return write_json(object, &b, out, err);
}
