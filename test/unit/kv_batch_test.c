/*
 * kv_batch_test.c
 *	  KV batches byte for byte as Java's, and value record batches.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "batch.h"
#include "row.h"

static const json_t *
find_vector(const json_t *vectors, const char *name)
{
	json_t	   *vector;
	size_t		i;

	json_array_foreach((json_t *) vectors, i, vector)
		if (strcmp(test_string(vector, "name"), name) == 0)
			return vector;
	fail_msg("no vector \"%s\"", name);
	return NULL;
}

/* Key and, unless it is a delete, row of "(k, v)". */
static void
add_record(fluss_arena *arena, fluss_buf *out, fluss_row_format format,
		   const fluss_schema *schema, const char *text, bool delete)
{
	const int32_t key_column = 0;
	fluss_value *values = test_row(arena, schema, text);
	fluss_buf	key;
	fluss_buf	row;
	fluss_error err;

	fluss_buf_init(&key, test_host());
	fluss_buf_init(&row, test_host());
	assert_fluss_ok(fluss_key_encode(FLUSS_KEY_COMPACTED, schema, &key_column,
									 1, values, &key, &err), &err);
	assert_fluss_ok(fluss_row_encode(format, schema, values, &row, &err), &err);
	fluss_kv_batch_add(out, key.data, key.size, delete ? NULL : row.data,
					   row.size);
	fluss_buf_free(&key);
	fluss_buf_free(&row);
}

static void
check_kv_batch(const char *name, fluss_row_format format)
{
	json_t	   *vectors = test_vectors("kv_batches.json");
	const json_t *vector = find_vector(vectors, name);
	fluss_arena arena;
	fluss_buf	out;
	const fluss_schema *schema;
	uint8_t    *expected;
	size_t		size = test_hex(test_string(vector, "hex"), &expected);

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, test_string(vector, "types"));
	fluss_kv_batch_begin(&out, 1);
	add_record(&arena, &out, format, schema, "(1, one)", false);
	add_record(&arena, &out, format, schema, "(2, null)", false);
	add_record(&arena, &out, format, schema, "(300, null)", true);
	fluss_kv_batch_finish(&out, -1, -1, 3);
	assert_false(out.failed);
	test_same_bytes(out.data, out.size, expected, size);

	fluss_kv_batch_stamp(out.data, out.size, 7, 1);
	assert_true(memcmp(out.data, expected, size) != 0);
	fluss_kv_batch_stamp(out.data, out.size, -1, -1);
	test_same_bytes(out.data, out.size, expected, size);

	free(expected);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	json_decref(vectors);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_kv_batch_of_java(void **unused)
{
	check_kv_batch("kv_compacted", FLUSS_FORMAT_COMPACTED);
	check_kv_batch("kv_indexed", FLUSS_FORMAT_INDEXED);
}

static void
test_kv_batch_without_memory(void **unused)
{
	fluss_buf	out;

	fluss_buf_init(&out, test_host());
	test_host_fail_alloc_at(1);
	fluss_kv_batch_begin(&out, 1);
	fluss_kv_batch_add(&out, (const uint8_t *) "k", 1, NULL, 0);
	fluss_kv_batch_finish(&out, -1, -1, 1);
	test_host_fail_alloc_at(0);
	assert_true(out.failed);
	fluss_buf_free(&out);
}

/* Values of a batch, or why it is refused; -1 in *n then. */
static fluss_status
read_values(const uint8_t *data, size_t size, int *n)
{
	fluss_value_batch batch;
	fluss_error err;
	fluss_status status = fluss_value_batch_open(data, size, &batch, &err);

	for (*n = 0; status == FLUSS_OK; (*n)++)
	{
		int32_t		schema_id;
		const uint8_t *row;
		size_t		row_size;
		bool		end;

		status = fluss_value_batch_next(&batch, &end, &schema_id, &row,
										&row_size, &err);
		if (status != FLUSS_OK || end)
			return status;
		assert_true(row >= data && row + row_size <= data + size);
	}
	return status;
}

static void
check_value_batch(const char *name, fluss_row_format format)
{
	json_t	   *vectors = test_vectors("kv_batches.json");
	const json_t *vector = find_vector(vectors, name);
	fluss_arena arena;
	fluss_value_batch batch;
	fluss_error err;
	const fluss_schema *schema;
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(vector, "hex"), &bytes);
	static const char *const rows[] = {"(1, one)", "(2, null)"};
	bool		end;
	int32_t		schema_id;
	const uint8_t *row;
	size_t		row_size;

	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, test_string(vector, "types"));
	assert_fluss_ok(fluss_value_batch_open(bytes, size, &batch, &err), &err);
	for (int i = 0; i < 2; i++)
	{
		fluss_value values[2];
		fluss_value *expected = test_row(&arena, schema, rows[i]);

		assert_fluss_ok(fluss_value_batch_next(&batch, &end, &schema_id, &row,
											   &row_size, &err), &err);
		assert_false(end);
		assert_int_equal(schema_id, 1);
		assert_fluss_ok(fluss_row_decode(&arena, format, schema, NULL, row,
										 row_size, values, &err), &err);
		test_same_value(&schema->columns[0], &values[0], &expected[0]);
		test_same_value(&schema->columns[1], &values[1], &expected[1]);
	}
	assert_fluss_ok(fluss_value_batch_next(&batch, &end, &schema_id, &row,
										   &row_size, &err), &err);
	assert_true(end);
	free(bytes);
	fluss_arena_free(&arena);
	json_decref(vectors);
}

static void
test_value_batch_of_java(void **unused)
{
	check_value_batch("value_record_batch_compacted", FLUSS_FORMAT_COMPACTED);
	check_value_batch("value_record_batch_indexed", FLUSS_FORMAT_INDEXED);
}

/* What a lookup gives: a schema id, a row. */
static void
check_lookup_value(const char *name, fluss_row_format format)
{
	json_t	   *vectors = test_vectors("kv_batches.json");
	fluss_arena arena;
	fluss_error err;
	const fluss_schema *schema;
	fluss_value values[2];
	fluss_value *expected;
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(find_vector(vectors, name), "hex"),
								&bytes);

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, "ROW<k INT NOT NULL, v STRING>");
	expected = test_row(&arena, schema, "(1, one)");
	assert_int_equal(fluss_load_u16le(bytes), 1);
	assert_fluss_ok(fluss_row_decode(&arena, format, schema, NULL, bytes + 2,
									 size - 2, values, &err), &err);
	test_same_value(&schema->columns[0], &values[0], &expected[0]);
	test_same_value(&schema->columns[1], &values[1], &expected[1]);
	free(bytes);
	fluss_arena_free(&arena);
	json_decref(vectors);
}

static void
test_lookup_value_of_java(void **unused)
{
	check_lookup_value("lookup_value_compacted", FLUSS_FORMAT_COMPACTED);
	check_lookup_value("lookup_value_indexed", FLUSS_FORMAT_INDEXED);
}

static void
check_damaged(const char *name)
{
	json_t	   *vectors = test_vectors("kv_batches.json");
	const json_t *vector = find_vector(vectors, name);
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(vector, "hex"), &bytes);
	int			n;

	for (size_t cut = 0; cut < size; cut++)
	{
		uint8_t    *part = malloc(cut > 0 ? cut : 1);

		memcpy(part, bytes, cut);
		assert_int_equal(read_values(part, cut, &n), FLUSS_MALFORMED);
		if (cut >= 4)
		{
			fluss_store_u32le(part, (uint32_t) cut - 4);
			assert_int_equal(read_values(part, cut, &n), FLUSS_MALFORMED);
		}
		free(part);
	}
	for (size_t place = 0; place < size; place++)
	{
		uint8_t		saved = bytes[place];

		for (int byte = 0; byte < 256; byte++)
		{
			bytes[place] = (uint8_t) byte;
			if (read_values(bytes, size, &n) == FLUSS_OK)
				assert_int_equal(n, 2);
		}
		bytes[place] = saved;
	}
	bytes[4] = 1;
	assert_int_equal(read_values(bytes, size, &n), FLUSS_UNSUPPORTED);
	free(bytes);
	json_decref(vectors);
}

static void
test_damaged_value_batch(void **unused)
{
	check_damaged("value_record_batch_compacted");
	check_damaged("value_record_batch_indexed");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kv_batch_of_java, test_set_up),
		cmocka_unit_test_setup(test_kv_batch_without_memory, test_set_up),
		cmocka_unit_test_setup(test_value_batch_of_java, test_set_up),
		cmocka_unit_test_setup(test_lookup_value_of_java, test_set_up),
		cmocka_unit_test_setup(test_damaged_value_batch, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
