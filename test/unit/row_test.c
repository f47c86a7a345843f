/*
 * row_test.c
 *	  Rows and keys against the bytes of the Java client, and against garbage.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "buf.h"
#include "row.h"
#include "schema.h"

/* The two row formats, and how the vectors call them. */
static const struct
{
	fluss_row_format format;
	const char *member;
}			formats[] = {
	{FLUSS_FORMAT_COMPACTED, "compacted"},
	{FLUSS_FORMAT_INDEXED, "indexed"}
};

static void
for_each_row(void (*check) (fluss_row_format format,
							const fluss_schema *schema,
							const fluss_value *expected,
							const uint8_t *bytes, size_t size))
{
	json_t	   *vectors = test_vectors("rows.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
	{
		for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
		{
			fluss_arena arena;
			const fluss_schema *schema;
			uint8_t    *bytes;
			size_t		size = test_hex(test_string(vector, formats[f].member),
										&bytes);

			fluss_arena_init(&arena, test_host());
			schema = test_schema(&arena, test_string(vector, "types"));
			check(formats[f].format, schema,
				  test_row(&arena, schema, test_string(vector, "row")),
				  bytes, size);
			free(bytes);
			fluss_arena_free(&arena);
			assert_int_equal(test_host_live_blocks(), 0);
		}
	}
	json_decref(vectors);
}

static void
check_row(fluss_row_format format, const fluss_schema *schema,
		  const fluss_value *expected, const uint8_t *bytes, size_t size)
{
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	fluss_value actual[64];

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	assert_fluss_ok(fluss_row_decode(&arena, format, schema, NULL, bytes, size,
									 actual, &err), &err);
	for (int32_t i = 0; i < schema->ncolumns; i++)
		test_same_value(&schema->columns[i], &actual[i], &expected[i]);
	/* what is there already must not matter */
	fluss_buf_u8(&out, 0x77);
	assert_fluss_ok(fluss_row_encode(format, schema, expected, &out, &err),
					&err);
	test_same_bytes(out.data + 1, out.size - 1, bytes, size);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

static void
test_rows_of_java(void **unused)
{
	for_each_row(check_row);
}

/* Every prefix is refused: no row is the beginning of another. */
static void
check_truncated(fluss_row_format format, const fluss_schema *schema,
				const fluss_value *expected, const uint8_t *bytes,
				size_t size)
{
	fluss_arena arena;
	fluss_error err;
	fluss_value values[64];

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	for (size_t cut = 0; cut < size; cut++)
	{
		uint8_t    *part = malloc(cut > 0 ? cut : 1);

		memcpy(part, bytes, cut);
		assert_int_equal(fluss_row_decode(&arena, format, schema, NULL, part,
										  cut, values, &err),
						 FLUSS_MALFORMED);
		free(part);
	}
	fluss_arena_free(&arena);
}

static void
test_truncated_rows(void **unused)
{
	for_each_row(check_truncated);
}

/* No byte value at any place may do harm; what comes out does not matter. */
static void
check_corrupted(fluss_row_format format, const fluss_schema *schema,
				const fluss_value *expected, const uint8_t *bytes,
				size_t size)
{
	fluss_arena arena;
	fluss_error err;
	fluss_value values[64];
	uint8_t    *copy = malloc(size);

	fluss_arena_init(&arena, test_host());
	memcpy(copy, bytes, size);
	for (size_t place = 0; place < size; place++)
	{
		for (int byte = 0; byte < 256; byte++)
		{
			fluss_status status;

			copy[place] = (uint8_t) byte;
			fluss_arena_reset(&arena);
			status = fluss_row_decode(&arena, format, schema, NULL, copy, size,
									  values, &err);
			if (status != FLUSS_OK)
				assert_int_equal(status, FLUSS_MALFORMED);
			for (int32_t i = 0; i < schema->ncolumns && status == FLUSS_OK; i++)
				(void) test_sum_value(&schema->columns[i].type, &values[i]);
		}
		copy[place] = bytes[place];
	}
	free(copy);
	fluss_arena_free(&arena);
}

static void
test_corrupted_rows(void **unused)
{
	for_each_row(check_corrupted);
}

static void
check_no_memory(fluss_row_format format, const fluss_schema *schema,
				const fluss_value *expected, const uint8_t *bytes,
				size_t size)
{
	bool		failed = true;

	for (int n = 1; failed; n++)
	{
		fluss_arena arena;
		fluss_error err;
		fluss_buf	out;
		fluss_value values[64];
		fluss_status status;

		fluss_error_init(&err);
		fluss_arena_init(&arena, test_host());
		fluss_buf_init(&out, test_host());
		test_host_fail_alloc_at(n);
		status = fluss_row_decode(&arena, format, schema, NULL, bytes, size,
								  values, &err);
		if (status == FLUSS_OK)
			status = fluss_row_encode(format, schema, values, &out, &err);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		fluss_buf_free(&out);
		fluss_arena_free(&arena);
		assert_int_equal(status, failed ? FLUSS_OUT_OF_MEMORY : FLUSS_OK);
	}
}

static void
test_no_memory(void **unused)
{
	for_each_row(check_no_memory);
}

/* The null bit of a NOT NULL column is set, and its value is there. */
static void
test_null_bit_of_not_null_column(void **unused)
{
	const uint8_t bytes[] = {0x03, 0x07};
	fluss_arena arena;
	fluss_error err;
	fluss_value values[2];
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, "ROW<a INT NOT NULL, b INT>");
	assert_fluss_ok(fluss_row_decode(&arena, FLUSS_FORMAT_COMPACTED, schema,
									 NULL, bytes, sizeof(bytes), values, &err), &err);
	assert_false(values[0].is_null);
	assert_int_equal(values[0].u.integer, 7);
	assert_true(values[1].is_null);
	fluss_arena_free(&arena);
}

static void
test_refused_rows(void **unused)
{
	const uint8_t left_over[] = {0x00, 0x07, 0x00};
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_value values[1];
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, "ROW<a INT NOT NULL>");
	assert_int_equal(fluss_row_decode(&arena, FLUSS_FORMAT_COMPACTED, schema,
									  NULL, left_over, sizeof(left_over),
									  values, &err), FLUSS_MALFORMED);
	assert_int_equal(fluss_row_decode(&arena, FLUSS_FORMAT_INDEXED, schema,
									  NULL, left_over, sizeof(left_over),
									  values, &err), FLUSS_MALFORMED);
	assert_non_null(strstr(err.message, "INDEXED"));
	assert_int_equal(fluss_row_decode(&arena, FLUSS_FORMAT_ARROW, schema,
									  NULL, left_over, sizeof(left_over),
									  values, &err), FLUSS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "ARROW"));
	values[0].is_null = true;
	assert_int_equal(fluss_row_encode(FLUSS_FORMAT_COMPACTED, schema, values,
									  &out, &err), FLUSS_NOT_NULL_VIOLATION);
	assert_int_equal(fluss_row_encode(FLUSS_FORMAT_INDEXED, schema, values,
									  &out, &err), FLUSS_NOT_NULL_VIOLATION);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

/* ---- keys */

/* Positions of the names in "a,b". */
static int
key_columns(const fluss_schema *schema, const char *names, int32_t *columns)
{
	char		copy[64];
	char	   *save = NULL;
	int			n = 0;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *name = strtok_r(copy, ",", &save); name != NULL;
		 name = strtok_r(NULL, ",", &save))
		columns[n++] = fluss_schema_column_by_name(schema, name);
	return n;
}

static void
check_key(const json_t *vector, const char *member, fluss_key_encoder encoder)
{
	const char *hex = json_string_value(json_object_get(vector, member));
	const char *row = test_string(vector, "row");
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	const fluss_schema *schema;
	int32_t		columns[8];
	int			ncolumns;
	fluss_status status;

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, test_string(vector, "row_type"));
	ncolumns = key_columns(schema, test_string(vector, "key_columns"), columns);
	/* what is there already must not matter */
	fluss_buf_u8(&out, 0x77);
	status = fluss_key_encode(encoder, schema, columns, ncolumns,
							  test_row(&arena, schema, row), &out, &err);
	if (hex == NULL)
		assert_int_equal(status, FLUSS_UNSUPPORTED);
	else if (hex[0] == '\0')
		/* Java makes such a key, and no server takes it */
		assert_int_equal(status, FLUSS_NO_SUCH_KEY);
	else
	{
		uint8_t    *expected;
		size_t		size = test_hex(hex, &expected);

		assert_int_equal(status, FLUSS_OK);
		test_same_bytes(out.data + 1, out.size - 1, expected, size);
		free(expected);
	}
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_keys_of_java(void **unused)
{
	json_t	   *vectors = test_vectors("keys.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
	{
		check_key(vector, "compacted", FLUSS_KEY_COMPACTED);
		check_key(vector, "paimon", FLUSS_KEY_PAIMON);
		check_key(vector, "iceberg", FLUSS_KEY_ICEBERG);
	}
	json_decref(vectors);
}

static void
test_refused_keys(void **unused)
{
	const int32_t column = 0;
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_value value;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, "ROW<a INT>");
	value.is_null = true;
	assert_int_equal(fluss_key_encode(FLUSS_KEY_COMPACTED, schema, &column, 1,
									  &value, &out, &err),
					 FLUSS_NOT_NULL_VIOLATION);
	value.is_null = false;
	value.u.bytes.data = (const uint8_t *) "";
	value.u.bytes.size = 0;
	schema = test_schema(&arena, "ROW<a STRING>");
	assert_int_equal(fluss_key_encode(FLUSS_KEY_ICEBERG, schema, &column, 1,
									  &value, &out, &err),
					 FLUSS_NO_SUCH_KEY);
	schema = test_schema(&arena, "ROW<a ROW<b INT>>");
	assert_int_equal(fluss_key_encode(FLUSS_KEY_PAIMON, schema, &column, 1,
									  &value, &out, &err), FLUSS_UNSUPPORTED);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

static void
check_encoders(const char *lake_format, int32_t version, bool default_key,
			   int kv, int bucket)
{
	const int32_t physical[2] = {0, 1};
	const fluss_property property = {"table.datalake.format", lake_format};
	fluss_table table = {
		.nphysical_key = 2,.physical_key = physical,
		.nbucket_key = default_key ? 2 : 1,.bucket_key = physical,
		.kv_format_version = version,
		.nproperties = lake_format != NULL,.properties = &property,
		.has_lake_format = lake_format != NULL
	};
	fluss_key_encoder kv_encoder;
	fluss_key_encoder bucket_encoder;
	fluss_error err;
	fluss_status status;

	if (lake_format != NULL && strcmp(lake_format, "paimon") == 0)
		table.lake = FLUSS_LAKE_PAIMON;
	if (lake_format != NULL && strcmp(lake_format, "iceberg") == 0)
		table.lake = FLUSS_LAKE_ICEBERG;
	status = fluss_table_key_encoders(&table, &kv_encoder, &bucket_encoder,
									  &err);
	if (kv < 0)
	{
		assert_int_equal(status, FLUSS_UNSUPPORTED);
		return;
	}
	assert_int_equal(status, FLUSS_OK);
	assert_int_equal(kv_encoder, kv);
	assert_int_equal(bucket_encoder, bucket);
}

static void
test_choice_of_encoders(void **unused)
{
	check_encoders(NULL, 1, true, FLUSS_KEY_COMPACTED, FLUSS_KEY_COMPACTED);
	check_encoders(NULL, 2, false, FLUSS_KEY_COMPACTED, FLUSS_KEY_COMPACTED);
	check_encoders("LANCE", 2, true, FLUSS_KEY_COMPACTED, FLUSS_KEY_COMPACTED);
	check_encoders("paimon", 1, true, FLUSS_KEY_PAIMON, FLUSS_KEY_PAIMON);
	check_encoders("paimon", 1, false, FLUSS_KEY_PAIMON, FLUSS_KEY_PAIMON);
	check_encoders("paimon", 2, true, FLUSS_KEY_PAIMON, FLUSS_KEY_PAIMON);
	check_encoders("paimon", 2, false, FLUSS_KEY_COMPACTED, FLUSS_KEY_PAIMON);
	check_encoders("iceberg", 2, false, FLUSS_KEY_COMPACTED, FLUSS_KEY_ICEBERG);
	check_encoders("hudi", 2, true, -1, -1);
	check_encoders(NULL, 3, true, -1, -1);
	check_encoders(NULL, 0, true, -1, -1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_rows_of_java, test_set_up),
		cmocka_unit_test_setup(test_truncated_rows, test_set_up),
		cmocka_unit_test_setup(test_corrupted_rows, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
		cmocka_unit_test_setup(test_null_bit_of_not_null_column, test_set_up),
		cmocka_unit_test_setup(test_refused_rows, test_set_up),
		cmocka_unit_test_setup(test_keys_of_java, test_set_up),
		cmocka_unit_test_setup(test_refused_keys, test_set_up),
		cmocka_unit_test_setup(test_choice_of_encoders, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
