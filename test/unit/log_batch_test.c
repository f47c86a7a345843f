/*
 * log_batch_test.c
 *	  Log batches of the Java and the Go client, and damaged ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "batch.h"
#include "hash.h"
#include "row.h"
#include "schema.h"

#define MAX_COLUMNS		32
#define MAX_BYTES		(INT64_C(1) << 20)

/* A batch that is read whole. */
typedef struct reading
{
	const fluss_schema *schema;
	fluss_row_format format;
	int32_t		source[MAX_COLUMNS];
	const fluss_type *types[MAX_COLUMNS];
	int			nwanted;
	fluss_column_view views[MAX_COLUMNS];
	const uint8_t *change_types;
	fluss_log_batch batch;
	fluss_error err;
} reading;

static void
init_reading(reading *r, const fluss_schema *schema, fluss_row_format format)
{
	memset(r, 0, sizeof(*r));
	fluss_error_init(&r->err);
	r->schema = schema;
	r->format = format;
	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		r->source[r->nwanted] = i;
		r->types[r->nwanted++] = &schema->columns[i].type;
	}
}

static fluss_status
read_batch(fluss_arena *arena, reading *r, const uint8_t *data, size_t size,
		   bool check_crc, bool *complete)
{
	fluss_status status = fluss_log_batch_open(data, size, check_crc,
											   &r->batch, complete, &r->err);

	if (status != FLUSS_OK || !*complete)
		return status;
	return fluss_log_batch_columns(arena, &r->batch, r->format, r->schema,
								   NULL, 0, r->source, r->types, r->nwanted,
								   MAX_BYTES, r->views, &r->change_types,
								   &r->err);
}

/* Touches every byte that a view promises. */
static uint64_t
sum_views(const reading *r)
{
	uint64_t	sum = 0;

	for (int i = 0; i < r->nwanted; i++)
	{
		for (int32_t row = 0; row < r->batch.record_count; row++)
		{
			fluss_value value;
			void	   *items;

			test_view_value(&r->views[i], row, &value, &items);
			sum += test_sum_value(r->types[i], &value);
			test_free_items(items);
		}
	}
	for (int32_t row = 0; r->change_types != NULL &&
		 row < r->batch.record_count; row++)
		sum += r->change_types[row];
	return sum;
}

static fluss_row_format
format_of(const json_t *vector)
{
	const char *name = test_string(vector, "log_format");

	return strcmp(name, "ARROW") == 0 ? FLUSS_FORMAT_ARROW :
		strcmp(name, "INDEXED") == 0 ? FLUSS_FORMAT_INDEXED :
		FLUSS_FORMAT_COMPACTED;
}

static void
compare_row(const reading *r, fluss_arena *arena, int32_t row,
			const char *text)
{
	fluss_value *expected = test_row(arena, r->schema, text);

	for (int i = 0; i < r->nwanted; i++)
	{
		fluss_value actual;
		void	   *items;

		test_view_value(&r->views[i], row, &actual, &items);
		test_same_value(&r->schema->columns[r->source[i]], &actual,
						&expected[r->source[i]]);
		test_free_items(items);
	}
}

static void
compare_rows(const reading *r, fluss_arena *arena, const json_t *vector)
{
	static const char *const names[] = {"+A", "+I", "-U", "+U", "-D"};
	const json_t *rows = json_object_get(vector, "rows");
	const json_t *changes = json_object_get(vector, "change_types");

	if (!json_is_array(rows))
	{
		/* 200 rows i=0..199: (i%3, 'value-'||(i%5), i) */
		assert_int_equal(r->batch.record_count, 200);
		for (int i = 0; i < 200; i++)
		{
			char		text[64];

			snprintf(text, sizeof(text), "(%d, value-%d, %d)", i % 3, i % 5, i);
			compare_row(r, arena, i, text);
		}
		return;
	}
	assert_int_equal(r->batch.record_count, json_array_size(rows));
	for (int32_t i = 0; i < r->batch.record_count; i++)
		compare_row(r, arena, i,
					json_string_value(json_array_get(rows, (size_t) i)));
	assert_int_equal(r->batch.append_only, changes == NULL);
	for (size_t i = 0; i < json_array_size(changes); i++)
		assert_string_equal(names[r->change_types[i]],
							json_string_value(json_array_get(changes, i)));
}

static void
check_vector(const json_t *vector)
{
	fluss_arena arena;
	reading		r;
	bool		complete;
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(vector, "hex"), &bytes);
	fluss_status status;

	fluss_arena_init(&arena, test_host());
	init_reading(&r, test_schema(&arena, test_string(vector, "row_type")),
				 format_of(vector));
	status = read_batch(&arena, &r, bytes, size, true, &complete);
	assert_true(complete);
	assert_fluss_ok(status, &r.err);
	assert_int_equal(r.batch.schema_id, 1);
	assert_int_equal(r.batch.base_offset, 0);
	assert_int_equal(r.batch.total_size, size);
	assert_int_equal(r.batch.next_offset,
					 r.batch.record_count > 0 ? r.batch.record_count : 1);
	compare_rows(&r, &arena, vector);
	free(bytes);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Of the row formats every byte is known. */
static void
check_written(const json_t *vector, const uint8_t *bytes, size_t size)
{
	const json_t *rows = json_object_get(vector, "rows");
	fluss_row_format format = format_of(vector);
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	const fluss_schema *schema;

	if (format == FLUSS_FORMAT_ARROW)
		return;
	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, test_string(vector, "row_type"));
	fluss_log_rows_begin(&out);
	for (size_t i = 0; i < json_array_size(rows); i++)
		assert_fluss_ok(fluss_log_rows_add(&out, format, schema,
										   test_row(&arena, schema,
													json_string_value(json_array_get(rows, i))),
										   &err), &err);
	fluss_log_rows_finish(&out, 1, -1, -1, (int32_t) json_array_size(rows));
	test_same_bytes(out.data, out.size, bytes, size);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

static void
test_batches_of_java(void **unused)
{
	json_t	   *vectors = test_vectors("log_batches.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
		check_vector(vector);
	json_decref(vectors);
}

/* Rows in COMPACTED layout, in a table whose format is ARROW. */
static void
test_batch_of_go(void **unused)
{
	json_t	   *vector = test_vectors("fluss_go_batch.json");
	const json_t *rows = json_object_get(vector, "rows");
	fluss_arena arena;
	reading		r;
	bool		complete;
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(vector, "batch_hex"), &bytes);

	fluss_arena_init(&arena, test_host());
	init_reading(&r, test_schema(&arena, "ROW<a INT NOT NULL, "
								 "b TIMESTAMP(3) NOT NULL, "
								 "c DOUBLE NOT NULL, d DOUBLE NOT NULL>"),
				 FLUSS_FORMAT_ARROW);
	assert_fluss_ok(read_batch(&arena, &r, bytes, size, true, &complete),
					&r.err);
	assert_true(complete);
	assert_false(r.batch.arrow);
	assert_null(r.change_types);
	assert_int_equal(r.batch.record_count, json_array_size(rows));
	for (int32_t i = 0; i < r.batch.record_count; i++)
	{
		const json_t *row = json_array_get(rows, (size_t) i);

		assert_int_equal(fluss_column_int32(&r.views[0], i),
						 json_integer_value(json_array_get(row, 0)));
		/* a quarter of an hour from row to row, from 2026-08-04T09:00 on */
		assert_int_equal(fluss_column_int64(&r.views[1], i),
						 INT64_C(1785834000000) + i * INT64_C(900000));
		assert_true(fluss_column_float8(&r.views[2], i) ==
					json_real_value(json_array_get(row, 2)));
		assert_true(fluss_column_float8(&r.views[3], i) ==
					json_real_value(json_array_get(row, 3)));
	}
	free(bytes);
	fluss_arena_free(&arena);
	json_decref(vector);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* ---- damage */

static void
for_each_vector(void (*check) (const json_t *vector, const uint8_t *bytes,
							   size_t size))
{
	json_t	   *vectors = test_vectors("log_batches.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
	{
		uint8_t    *bytes;
		size_t		size = test_hex(test_string(vector, "hex"), &bytes);

		check(vector, bytes, size);
		free(bytes);
	}
	json_decref(vectors);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
check_truncated(const json_t *vector, const uint8_t *bytes, size_t size)
{
	for (size_t cut = 0; cut < size; cut++)
	{
		fluss_log_batch batch;
		fluss_error err;
		bool		complete = true;
		uint8_t    *part = malloc(cut > 0 ? cut : 1);

		memcpy(part, bytes, cut);
		assert_int_equal(fluss_log_batch_open(part, cut, true, &batch,
											  &complete, &err), FLUSS_OK);
		assert_false(complete);
		free(part);
	}
}

static void
test_torn_batches(void **unused)
{
	for_each_vector(check_truncated);
}

/* The header says that the shortened batch is whole. */
static void
check_shortened(const json_t *vector, const uint8_t *bytes, size_t size)
{
	fluss_arena arena;
	reading		r;

	fluss_arena_init(&arena, test_host());
	init_reading(&r, test_schema(&arena, test_string(vector, "row_type")),
				 format_of(vector));
	for (size_t cut = 48; cut < size; cut++)
	{
		bool		complete;
		uint8_t    *part = malloc(cut);
		fluss_arena scratch;

		memcpy(part, bytes, cut);
		fluss_store_u32le(part + 8, (uint32_t) (cut - 12));
		fluss_arena_init(&scratch, test_host());
		/* zero bytes that pad the last buffer may be missing */
		if (read_batch(&scratch, &r, part, cut, false, &complete) == FLUSS_OK)
			sum_views(&r);
		assert_true(complete);
		assert_int_equal(read_batch(&scratch, &r, part, cut, true, &complete),
						 FLUSS_MALFORMED);
		fluss_arena_free(&scratch);
		free(part);
	}
	fluss_arena_free(&arena);
}

static void
test_shortened_batches(void **unused)
{
	for_each_vector(check_shortened);
}

static void
check_corrupted(const json_t *vector, const uint8_t *bytes, size_t size)
{
	static const uint8_t flips[] = {0x01, 0xff};
	uint8_t    *copy = malloc(size);
	fluss_arena arena;
	reading		r;

	fluss_arena_init(&arena, test_host());
	init_reading(&r, test_schema(&arena, test_string(vector, "row_type")),
				 format_of(vector));
	memcpy(copy, bytes, size);
	for (size_t place = 0; place < size; place++)
	{
		for (size_t i = 0; i < sizeof(flips); i++)
		{
			fluss_arena scratch;
			bool		complete;

			copy[place] = bytes[place] ^ flips[i];
			fluss_arena_init(&scratch, test_host());
			if (read_batch(&scratch, &r, copy, size, false, &complete) ==
				FLUSS_OK && complete)
				sum_views(&r);
			/* behind the CRC it is always noticed, whatever was hit */
			if (place >= 21 &&
				read_batch(&scratch, &r, copy, size, true, &complete) ==
				FLUSS_OK)
				fail_msg("byte %zu was changed unnoticed", place);
			fluss_arena_free(&scratch);
		}
		copy[place] = bytes[place];
	}
	free(copy);
	fluss_arena_free(&arena);
}

static void
test_corrupted_batches(void **unused)
{
	for_each_vector(check_corrupted);
}

static void
check_no_memory(const json_t *vector, const uint8_t *bytes, size_t size)
{
	fluss_arena arena;
	reading		r;
	bool		failed = true;

	fluss_arena_init(&arena, test_host());
	init_reading(&r, test_schema(&arena, test_string(vector, "row_type")),
				 format_of(vector));
	for (int n = 1; failed; n++)
	{
		fluss_arena scratch;
		bool		complete;
		fluss_status status;

		fluss_arena_init(&scratch, test_host());
		test_host_fail_alloc_at(n);
		status = read_batch(&scratch, &r, bytes, size, true, &complete);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		fluss_arena_free(&scratch);
		if (failed)
			assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	fluss_arena_free(&arena);
}

static void
test_no_memory(void **unused)
{
	for_each_vector(check_no_memory);
}

static void
test_written_as_java_does(void **unused)
{
	for_each_vector(check_written);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_batches_of_java, test_set_up),
		cmocka_unit_test_setup(test_batch_of_go, test_set_up),
		cmocka_unit_test_setup(test_written_as_java_does, test_set_up),
		cmocka_unit_test_setup(test_torn_batches, test_set_up),
		cmocka_unit_test_setup(test_shortened_batches, test_set_up),
		cmocka_unit_test_setup(test_corrupted_batches, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
