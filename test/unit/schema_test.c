/*
 * schema_test.c
 *	  Schema and descriptor JSON, read and written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "buf.h"
#include "schema.h"

static char *
read_file(const char *path)
{
	FILE	   *file = fopen(path, "r");
	char	   *text = calloc(1, 65536);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static fluss_status
parse_table(fluss_arena *arena, const char *json, fluss_table *table,
			fluss_error *err)
{
	memset(table, 0, sizeof(*table));
	fluss_error_init(err);
	return fluss_table_parse(arena, json, strlen(json), 1, table, err);
}

static void
assert_type(const fluss_schema *schema, int32_t i, const char *name, int32_t id,
			const char *type)
{
	char		spelling[128];

	assert_string_equal(schema->columns[i].name, name);
	assert_int_equal(schema->columns[i].id, id);
	fluss_type_print(&schema->columns[i].type, spelling, sizeof(spelling));
	assert_string_equal(spelling, type);
}

static void
test_descriptor_of_java(void **unused)
{
	char	   *json =
		read_file("test/unit/vectors/table_descriptor_example.json");
	fluss_arena arena;
	fluss_error err;
	fluss_table table;

	fluss_arena_init(&arena, test_host());
	assert_fluss_ok(parse_table(&arena, json, &table, &err), &err);
	assert_int_equal(table.schema->schema_id, 1);
	assert_int_equal(table.schema->ncolumns, 9);
	assert_type(table.schema, 0, "id", 0, "INT NOT NULL");
	assert_string_equal(table.schema->columns[0].comment, "c1");
	assert_null(table.schema->columns[1].comment);
	assert_type(table.schema, 1, "d", 1, "DECIMAL(10, 2)");
	assert_type(table.schema, 2, "t", 2, "TIMESTAMP_LTZ(6)");
	assert_type(table.schema, 3, "a", 3, "ARRAY<STRING>");
	assert_type(table.schema, 4, "m", 4, "MAP<STRING NOT NULL, INT>");
	assert_type(table.schema, 5, "r", 5, "ROW<`x` INT, `y` CHAR(3)>");
	assert_int_equal(table.schema->columns[5].type.children[1].id, 7);
	assert_type(table.schema, 6, "tm", 8, "TIME(3)");
	assert_type(table.schema, 7, "bi", 9, "BINARY(4)");
	assert_type(table.schema, 8, "by", 10, "BYTES");
	assert_int_equal(table.schema->nprimary_key, 1);
	assert_int_equal(table.schema->primary_key[0], 0);
	assert_int_equal(table.schema->auto_increment, -1);
	assert_int_equal(fluss_schema_column_by_id(table.schema, 9), 7);
	assert_int_equal(fluss_schema_column_by_id(table.schema, 7), -1);
	assert_int_equal(fluss_schema_column_by_name(table.schema, "tm"), 6);
	assert_int_equal(table.nbuckets, 3);
	assert_int_equal(table.nbucket_key, 1);
	assert_int_equal(table.nphysical_key, 1);
	assert_int_equal(table.npartition_key, 0);
	assert_string_equal(table.comment, "tc");
	assert_string_equal(fluss_table_property(&table,
											 "table.replication.factor"), "1");
	assert_string_equal(fluss_table_property(&table, "x"), "y");
	assert_null(fluss_table_property(&table, "z"));
	/* defaults */
	assert_int_equal(table.log_format, FLUSS_FORMAT_ARROW);
	assert_int_equal(table.kv_format, FLUSS_FORMAT_COMPACTED);
	assert_int_equal(table.kv_format_version, 1);
	assert_int_equal(table.codec, FLUSS_CODEC_ZSTD);
	assert_int_equal(table.zstd_level, 3);
	assert_int_equal(table.lake, FLUSS_LAKE_NONE);
	assert_false(table.has_lake_format);
	free(json);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

#define COLUMNS(list) "{\"schema\":{\"columns\":[" list "]"
#define COLUMN(name, more) "{\"name\":\"" name "\",\"data_type\":{" more "}}"
#define INT_COLUMN(name) COLUMN(name, "\"type\":\"INTEGER\"")
#define THREE COLUMNS(INT_COLUMN("a") "," INT_COLUMN("b") "," INT_COLUMN("c"))
#define REST ",\"bucket_count\":2,\"properties\":{},\"custom_properties\":{}}"

static void
test_keys(void **unused)
{
	fluss_arena arena;
	fluss_error err;
	fluss_table table;

	fluss_arena_init(&arena, test_host());
	assert_fluss_ok(parse_table(&arena, THREE ",\"primary_key\":[\"c\",\"a\",\"b\"],"
								"\"auto_increment_column\":[\"b\"]},"
								"\"partition_key\":[\"a\"]" REST, &table, &err),
					&err);
	assert_int_equal(table.nphysical_key, 2);
	assert_int_equal(table.physical_key[0], 2);
	assert_int_equal(table.physical_key[1], 1);
	assert_int_equal(table.nbucket_key, 2);
	assert_int_equal(table.bucket_key[0], 2);
	assert_int_equal(table.schema->auto_increment, 1);
	/* ids are missing: by position */
	assert_int_equal(table.schema->columns[2].id, 2);

	assert_fluss_ok(parse_table(&arena, THREE ",\"primary_key\":[\"c\",\"a\",\"b\"]},"
								"\"partition_key\":[],\"bucket_key\":[\"a\"]" REST,
								&table, &err), &err);
	assert_int_equal(table.nbucket_key, 1);
	assert_int_equal(table.bucket_key[0], 0);

	assert_fluss_ok(parse_table(&arena, THREE "},\"partition_key\":[]" REST,
								&table, &err), &err);
	assert_int_equal(table.nbucket_key, 0);
	assert_int_equal(table.schema->nprimary_key, 0);
	fluss_arena_free(&arena);
}

static fluss_status
parse_with_properties(fluss_arena *arena, const char *properties,
					  fluss_table *table)
{
	char		json[1024];
	fluss_error err;

	snprintf(json, sizeof(json), COLUMNS(INT_COLUMN("a")) "},"
			 "\"partition_key\":[],\"bucket_count\":1,"
			 "\"properties\":{%s},\"custom_properties\":{}}", properties);
	return parse_table(arena, json, table, &err);
}

static void
test_properties(void **unused)
{
	fluss_arena arena;
	fluss_table table;

	fluss_arena_init(&arena, test_host());
	assert_int_equal(parse_with_properties(&arena,
										   "\"table.log.format\":\"Compacted\","
										   "\"table.kv.format\":\"indexed\","
										   "\"table.kv.format-version\":\"2\","
										   "\"table.log.arrow.compression.type\":\"lz4_frame\","
										   "\"table.log.arrow.compression.zstd.level\":\"11\","
										   "\"table.datalake.format\":\"Paimon\","
										   "\"table.some.news\":\"?\"", &table),
					 FLUSS_OK);
	assert_int_equal(table.log_format, FLUSS_FORMAT_COMPACTED);
	assert_int_equal(table.kv_format, FLUSS_FORMAT_INDEXED);
	assert_int_equal(table.kv_format_version, 2);
	assert_int_equal(table.codec, FLUSS_CODEC_LZ4_FRAME);
	assert_int_equal(table.zstd_level, 11);
	assert_int_equal(table.lake, FLUSS_LAKE_PAIMON);
	assert_true(table.has_lake_format);
	assert_string_equal(fluss_table_property(&table, "table.some.news"), "?");

	assert_int_equal(parse_with_properties(&arena,
										   "\"table.datalake.format\":\"lance\","
										   "\"table.kv.format-version\":\"two\"",
										   &table), FLUSS_OK);
	assert_int_equal(table.lake, FLUSS_LAKE_NONE);
	assert_true(table.has_lake_format);
	assert_int_equal(table.kv_format_version, -1);

	assert_int_equal(parse_with_properties(&arena,
										   "\"table.log.format\":\"avro\"",
										   &table), FLUSS_UNSUPPORTED);
	assert_int_equal(parse_with_properties(&arena, "\"a\":1", &table),
					 FLUSS_MALFORMED);
	fluss_arena_free(&arena);
}

static void
test_malformed_descriptors(void **unused)
{
	static const char *const texts[] = {
		"", "{", "[]", "{}", "null", "{\"schema\":{}}",
		"{\"schema\":{\"columns\":{}}}",
		COLUMNS("") "},\"partition_key\":[]" REST,
		COLUMNS("1") "},\"partition_key\":[]" REST,
		COLUMNS("{\"name\":\"a\"}") "},\"partition_key\":[]" REST,
		COLUMNS("{\"data_type\":{\"type\":\"INTEGER\"}}") "}" REST,
		COLUMNS(COLUMN("a", "\"type\":7")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"CHAR\"")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"CHAR\",\"length\":0")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"CHAR\",\"length\":4294967296")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"DECIMAL\",\"precision\":39,\"scale\":0")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"DECIMAL\",\"precision\":3,\"scale\":4")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"DECIMAL\",\"precision\":3")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"INTEGER\",\"nullable\":\"no\"")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"ARRAY\"")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"ROW\"")) "}" REST,
		COLUMNS(COLUMN("a", "\"type\":\"ROW\",\"fields\":[{}]")) "}" REST,
		THREE ",\"primary_key\":[\"d\"]}" REST,
		THREE ",\"primary_key\":[1]}" REST,
		THREE ",\"primary_key\":\"a\"}" REST,
		THREE ",\"primary_key\":[\"a\",\"a\",\"a\",\"a\"]}" REST,
		THREE "},\"partition_key\":[\"d\"]" REST,
		THREE "},\"bucket_key\":[\"d\"]" REST,
		THREE "},\"bucket_count\":0}",
		THREE "},\"bucket_count\":2147483647}",
		THREE "},\"bucket_count\":\"1\"}",
		THREE "}}",
		THREE "},\"comment\":5" REST,
		COLUMNS(INT_COLUMN("a\\u0000b")) "}" REST
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		fluss_arena arena;
		fluss_error err;
		fluss_table table;

		fluss_arena_init(&arena, test_host());
		if (parse_table(&arena, texts[i], &table, &err) != FLUSS_MALFORMED)
			fail_msg("%s was not refused", texts[i]);
		fluss_arena_free(&arena);
	}
}

static void
test_unknown_type(void **unused)
{
	fluss_arena arena;
	fluss_error err;
	fluss_table table;

	fluss_arena_init(&arena, test_host());
	assert_int_equal(parse_table(&arena, COLUMNS(COLUMN("a", "\"type\":\"VARIANT\""))
								 "}" REST, &table, &err), FLUSS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "VARIANT"));
	fluss_arena_free(&arena);
}

static void
test_deep_nesting(void **unused)
{
	char	   *json = calloc(1, 65536);
	fluss_arena arena;
	fluss_error err;
	fluss_table table;

	strcpy(json, "{\"schema\":{\"columns\":[{\"name\":\"a\",\"data_type\":");
	for (int i = 0; i < 500; i++)
		strcat(json, "{\"type\":\"ARRAY\",\"element_type\":");
	strcat(json, "{\"type\":\"INTEGER\"}");
	for (int i = 0; i < 500; i++)
		strcat(json, "}");
	strcat(json, "}]}" REST);
	fluss_arena_init(&arena, test_host());
	assert_int_equal(parse_table(&arena, json, &table, &err), FLUSS_MALFORMED);
	assert_non_null(strstr(err.detail, "nested"));
	fluss_arena_free(&arena);
	free(json);
}

static void
test_truncated_descriptor(void **unused)
{
	char	   *json =
		read_file("test/unit/vectors/table_descriptor_example.json");

	for (size_t cut = 0; cut < strlen(json); cut++)
	{
		fluss_arena arena;
		fluss_error err;
		fluss_table table;

		fluss_arena_init(&arena, test_host());
		fluss_error_init(&err);
		assert_int_equal(fluss_table_parse(&arena, json, cut, 1, &table, &err),
						 FLUSS_MALFORMED);
		fluss_arena_free(&arena);
	}
	free(json);
}

static void
test_no_memory(void **unused)
{
	char	   *json =
		read_file("test/unit/vectors/table_descriptor_example.json");
	bool		failed = true;

	for (int n = 1; failed; n++)
	{
		fluss_arena arena;
		fluss_error err;
		fluss_table table;
		fluss_status status;

		fluss_arena_init(&arena, test_host());
		test_host_fail_alloc_at(n);
		status = parse_table(&arena, json, &table, &err);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		fluss_arena_free(&arena);
		assert_int_equal(status, failed ? FLUSS_OUT_OF_MEMORY : FLUSS_OK);
		assert_int_equal(test_host_live_blocks(), 0);
	}
	free(json);
}

/* ---- writing */

/* A column of a type in SQL spelling. */
static fluss_column
column(fluss_arena *arena, const char *name, const char *type)
{
	fluss_column result = {.name = name};
	fluss_error err;

	assert_fluss_ok(fluss_type_parse(arena, type, &result.type, &err), &err);
	return result;
}

/* The descriptor that Java writes for the same table. */
static void
test_write_descriptor(void **unused)
{
	static const char *const key[] = {"id"};
	static const fluss_property property = {"table.replication.factor", "1"};
	static const fluss_property custom = {"x", "y"};
	json_t	   *expected = test_vectors("table_descriptor_example.json");
	json_t	   *actual;
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	fluss_column columns[9];
	fluss_table_spec spec = {
		.comment = "tc",.ncolumns = 9,.columns = columns,
		.nprimary_key = 1,.primary_key = key,
		.nbucket_key = 1,.bucket_key = key,.nbuckets = 3,
		.nproperties = 1,.properties = &property,
		.ncustom_properties = 1,.custom_properties = &custom
	};

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	columns[0] = column(&arena, "id", "int");
	columns[0].comment = "c1";
	columns[1] = column(&arena, "d", "decimal(10,2)");
	columns[2] = column(&arena, "t", "timestamp_ltz(6)");
	columns[3] = column(&arena, "a", "array<string>");
	columns[4] = column(&arena, "m", "map<string,int>");
	columns[5] = column(&arena, "r", "row<x int, y char(3)>");
	columns[6] = column(&arena, "tm", "time(3)");
	columns[7] = column(&arena, "bi", "binary(4)");
	columns[8] = column(&arena, "by", "bytes");
	assert_fluss_ok(fluss_table_spec_json(test_host(), &spec, &out, &err), &err);
	actual = json_loadb((const char *) out.data, out.size, 0, NULL);
	assert_non_null(actual);
	assert_true(json_equal(actual, expected));
	json_decref(actual);
	json_decref(expected);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
check_spec(const fluss_table_spec *spec, const char *complaint)
{
	fluss_buf	out;
	fluss_error err;
	fluss_status status;

	fluss_buf_init(&out, test_host());
	status = fluss_table_spec_json(test_host(), spec, &out, &err);
	if (complaint == NULL)
		assert_fluss_ok(status, &err);
	else
	{
		assert_int_equal(status, FLUSS_INVALID_ARGUMENT);
		if (strstr(err.message, complaint) == NULL)
			fail_msg("\"%s\" is not about \"%s\"", err.message, complaint);
	}
	fluss_buf_free(&out);
}

static void
test_refused_specs(void **unused)
{
	static const char *const a[] = {"a"};
	static const char *const d[] = {"d"};
	static const char *const aa[] = {"a", "a"};
	static const char *const ab[] = {"a", "b"};
	static const char *const list[] = {"list"};
	static const char *const money[] = {"money"};
	fluss_arena arena;
	fluss_column columns[5];
	const fluss_table_spec good = {
		.ncolumns = 5,.columns = columns,.nprimary_key = 2,.primary_key = ab,
		.npartition_key = 1,.partition_key = a,.nbuckets = 3
	};
	fluss_table_spec spec;

	fluss_arena_init(&arena, test_host());
	columns[0] = column(&arena, "a", "int");
	columns[1] = column(&arena, "b", "string");
	columns[2] = column(&arena, "list", "array<int>");
	columns[3] = column(&arena, "money", "decimal(3,2)");
	columns[4] = column(&arena, "c", "date");
	check_spec(&good, NULL);

#define REFUSED(complaint, change) \
	(spec = good, change, check_spec(&spec, complaint))
	REFUSED("at least one column", spec.ncolumns = 0);
	REFUSED("\"d\" does not exist", (spec.nprimary_key = 1, spec.primary_key = d));
	REFUSED("twice", spec.primary_key = aa);
	REFUSED("nested", (spec.nprimary_key = 1, spec.primary_key = list));
	REFUSED("part of the primary key",
			(spec.nbucket_key = 1, spec.bucket_key = money));
	REFUSED("both in the bucket key",
			(spec.nbucket_key = 1, spec.bucket_key = a));
	REFUSED("not in the partition key",
			(spec.npartition_key = 2, spec.partition_key = ab));
	REFUSED("DECIMAL", (spec.nprimary_key = 0, spec.partition_key = money));
	REFUSED("negative", spec.nbuckets = -1);
	REFUSED("UTF-8", spec.comment = "\xff");
	columns[4].name = "b";
	check_spec(&good, "given twice");
	columns[4].name = "_log_offset";
	check_spec(&good, "reserved");
	columns[4].name = "";
	check_spec(&good, "needs a name");
	columns[4].name = "c";
	columns[4].type.id = FLUSS_CHAR;
	check_spec(&good, "out of bounds");
	fluss_arena_free(&arena);
}

/* A bucket count needs its bucket key: the default one is written out. */
static void
test_default_bucket_key(void **unused)
{
	static const char *const ab[] = {"a", "b"};
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	fluss_column columns[2];
	fluss_table_spec spec = {
		.ncolumns = 2,.columns = columns,.nprimary_key = 2,.primary_key = ab,
		.npartition_key = 1,.partition_key = ab,.nbuckets = 3
	};

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	columns[0] = column(&arena, "a", "int");
	columns[1] = column(&arena, "b", "string");
	assert_fluss_ok(fluss_table_spec_json(test_host(), &spec, &out, &err), &err);
	fluss_buf_u8(&out, 0);
	assert_non_null(strstr((char *) out.data, "\"bucket_key\":[\"b\"]"));
	assert_non_null(strstr((char *) out.data, "\"bucket_count\":3"));
	assert_non_null(strstr((char *) out.data,
						   "{\"type\":\"INTEGER\",\"nullable\":false}"));
	fluss_buf_reset(&out);
	spec.nbuckets = 0;
	assert_fluss_ok(fluss_table_spec_json(test_host(), &spec, &out, &err), &err);
	fluss_buf_u8(&out, 0);
	assert_null(strstr((char *) out.data, "bucket"));

	fluss_buf_free(&out);
	test_host_fail_alloc_at(1);
	assert_int_equal(fluss_table_spec_json(test_host(), &spec, &out, &err),
					 FLUSS_OUT_OF_MEMORY);
	test_host_fail_alloc_at(0);

	fluss_buf_reset(&out);
	assert_fluss_ok(fluss_database_json(test_host(), "so \"it\" is", &out, &err),
					&err);
	fluss_buf_u8(&out, 0);
	assert_string_equal((char *) out.data,
						"{\"version\":1,\"comment\":\"so \\\"it\\\" is\","
						"\"custom_properties\":{}}");
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_descriptor_of_java, test_set_up),
		cmocka_unit_test_setup(test_keys, test_set_up),
		cmocka_unit_test_setup(test_properties, test_set_up),
		cmocka_unit_test_setup(test_malformed_descriptors, test_set_up),
		cmocka_unit_test_setup(test_unknown_type, test_set_up),
		cmocka_unit_test_setup(test_deep_nesting, test_set_up),
		cmocka_unit_test_setup(test_truncated_descriptor, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
		cmocka_unit_test_setup(test_write_descriptor, test_set_up),
		cmocka_unit_test_setup(test_refused_specs, test_set_up),
		cmocka_unit_test_setup(test_default_bucket_key, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
