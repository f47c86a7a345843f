/*
 * arrow_nested_test.c
 *	  ARRAY, MAP and ROW in Arrow record batches, and in text.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "arrow.h"
#include "schema.h"

#define MAX_COLUMNS 16
#define NO_LIMIT	INT64_MAX

#define TYPES \
	"ROW<a ARRAY<INT>, b ARRAY<STRING>, c ARRAY<BOOLEAN NOT NULL>, " \
	"d ARRAY<ARRAY<DECIMAL(38, 2)>>, e MAP<STRING, INT>, " \
	"f MAP<INT, MAP<INT, TIMESTAMP(9)>>, g ROW<x INT, y STRING>, " \
	"h ROW<x ROW<y ROW<z TIME(3)>>, u ARRAY<ROW<p BIGINT, q BINARY(2)>>>, " \
	"i INT>"

static const char *const rows[] = {
	"([1, null, 3], [x, null, , long enough for no slot], [true, false], "
	"[[dec(-1.23), null], null, []], {k: 1, l: null}, "
	"{1: {2: ntz(ms=-1,nano=999999)}, 2: null, 3: {}}, (5, yy), "
	"(((86399999)), [(7, 0x0102), null, (null, null)]), 1)",
	"(null, null, null, null, null, null, null, null, null)",
	"([], [], [], [], {}, {}, (null, null), (null, []), 2)",
	"([-2147483648], [z], [true, true, true, true, true, true, true, true, "
	"true], [[], [dec(1.00)]], {m: 3}, {4: {5: null, 6: ntz(ms=0,nano=0)}}, "
	"(null, w), ((null), null), null)"
};

#define NROWS ((int) (sizeof(rows) / sizeof(rows[0])))

typedef struct fixture
{
	fluss_arena arena;
	const fluss_schema *schema;
	const fluss_type *types[MAX_COLUMNS];
	fluss_arrow_builder *builder;
	fluss_buf	out;
	fluss_column_view views[MAX_COLUMNS];
	fluss_error err;
} fixture;

static void
open_fixture(fixture *f, const char *row_type)
{
	fluss_error_init(&f->err);
	fluss_arena_init(&f->arena, test_host());
	fluss_buf_init(&f->out, test_host());
	f->schema = test_schema(&f->arena, row_type);
	for (int32_t i = 0; i < f->schema->ncolumns; i++)
		f->types[i] = &f->schema->columns[i].type;
	f->builder = NULL;
}

static void
close_fixture(fixture *f)
{
	fluss_arrow_builder_close(f->builder);
	fluss_buf_free(&f->out);
	fluss_arena_free(&f->arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Rows over and over, as one message in f->out. */
static fluss_status
write_message(fixture *f, const char *const *texts, int ntexts, int nrows,
			  fluss_codec codec)
{
	fluss_status status = FLUSS_OK;

	if (f->builder == NULL)
		status = fluss_arrow_builder_open(test_host(), f->types,
										  f->schema->ncolumns, &f->builder,
										  &f->err);
	for (int i = 0; i < nrows && status == FLUSS_OK; i++)
		status = fluss_arrow_builder_add(f->builder,
										 test_row(&f->arena, f->schema,
												  texts[i % ntexts]), &f->err);
	if (status == FLUSS_OK)
		status = fluss_arrow_builder_finish(f->builder, codec, 3, &f->out,
											&f->err);
	return status;
}

static fluss_status
read_message(fixture *f, fluss_arena *arena, const uint8_t *data, size_t size,
			 int nrows)
{
	return fluss_arrow_read(arena, data, size, nrows, f->types,
							f->schema->ncolumns, NULL, NO_LIMIT, f->views,
							&f->err);
}

static void
compare_views(fixture *f, const char *const *texts, int ntexts, int nrows)
{
	for (int i = 0; i < nrows; i++)
	{
		const fluss_value *expected = test_row(&f->arena, f->schema,
											   texts[i % ntexts]);

		for (int32_t c = 0; c < f->schema->ncolumns; c++)
		{
			fluss_value actual;
			void	   *items;

			assert_int_equal(f->views[c].length, nrows);
			test_view_value(&f->views[c], i, &actual, &items);
			test_same_value(&f->schema->columns[c], &actual, &expected[c]);
			test_free_items(items);
		}
	}
}

static void
check_round_trip(int nrows, fluss_codec codec)
{
	fixture		f;

	open_fixture(&f, TYPES);
	/* what a builder held before must not show */
	for (int round = 0; round < 2; round++)
	{
		fluss_buf_reset(&f.out);
		assert_fluss_ok(write_message(&f, rows, NROWS, nrows, codec), &f.err);
		assert_fluss_ok(fluss_arrow_builder_views(f.builder, f.views, &f.err),
						&f.err);
		compare_views(&f, rows, NROWS, nrows);
		assert_fluss_ok(read_message(&f, &f.arena, f.out.data, f.out.size,
									 nrows), &f.err);
		compare_views(&f, rows, NROWS, nrows);
		if (codec == FLUSS_CODEC_NONE)
			assert_true(fluss_arrow_builder_size(f.builder) <= f.out.size);
		assert_true(fluss_arrow_builder_size(f.builder) <=
					fluss_arrow_builder_memory(f.builder));
		fluss_arrow_builder_reset(f.builder);
	}
	close_fixture(&f);
}

static void
test_round_trips(void **unused)
{
	static const fluss_codec codecs[] = {
		FLUSS_CODEC_NONE, FLUSS_CODEC_LZ4_FRAME, FLUSS_CODEC_ZSTD
	};
	static const int counts[] = {0, 1, 2, NROWS, 63, 64, 65, 300};

	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
		for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
			check_round_trip(counts[j], codecs[i]);
}

/* Touches every byte that the views promise. */
static void
look_at_views(const fixture *f, int nrows)
{

	for (int32_t c = 0; c < f->schema->ncolumns; c++)
	{
		for (int i = 0; i < nrows; i++)
		{
			fluss_value value;
			void	   *items;

			test_view_value(&f->views[c], i, &value, &items);
			(void) test_sum_value(f->types[c], &value);
			test_free_items(items);
		}
	}
}

static void
test_truncated(void **unused)
{
	fixture		f;

	open_fixture(&f, TYPES);
	assert_fluss_ok(write_message(&f, rows, NROWS, NROWS, FLUSS_CODEC_NONE),
					&f.err);
	for (size_t cut = 0; cut < f.out.size; cut++)
	{
		uint8_t    *part = malloc(cut > 0 ? cut : 1);
		fluss_arena arena;

		memcpy(part, f.out.data, cut);
		fluss_arena_init(&arena, test_host());
		assert_int_equal(read_message(&f, &arena, part, cut, NROWS),
						 FLUSS_MALFORMED);
		fluss_arena_free(&arena);
		free(part);
	}
	close_fixture(&f);
}

static void
test_corrupted(void **unused)
{
	static const uint8_t flips[] = {0x01, 0x80, 0xff};
	fixture		f;
	uint8_t    *copy;

	open_fixture(&f, TYPES);
	assert_fluss_ok(write_message(&f, rows, NROWS, NROWS, FLUSS_CODEC_NONE),
					&f.err);
	copy = malloc(f.out.size);
	memcpy(copy, f.out.data, f.out.size);
	for (size_t place = 0; place < f.out.size; place++)
	{
		for (size_t i = 0; i < sizeof(flips); i++)
		{
			fluss_arena arena;

			copy[place] = f.out.data[place] ^ flips[i];
			fluss_arena_init(&arena, test_host());
			if (read_message(&f, &arena, copy, f.out.size, NROWS) == FLUSS_OK)
				look_at_views(&f, NROWS);
			fluss_arena_free(&arena);
		}
		copy[place] = f.out.data[place];
	}
	free(copy);
	close_fixture(&f);
}

/* Each allocation fails once: of building, writing, reading, looking. */
static void
test_no_memory(void **unused)
{
	bool		failed = true;

	for (int n = 1; failed; n++)
	{
		fixture		f;
		fluss_arena arena;
		fluss_value *values[NROWS];
		fluss_value value;
		fluss_status status;

		open_fixture(&f, TYPES);
		fluss_arena_init(&arena, test_host());
		for (int i = 0; i < NROWS; i++)
			values[i] = test_row(&f.arena, f.schema, rows[i]);
		test_host_fail_alloc_at(n);
		status = fluss_arrow_builder_open(test_host(), f.types,
										  f.schema->ncolumns, &f.builder,
										  &f.err);
		if (status != FLUSS_OK)
			f.builder = NULL;
		for (int i = 0; i < NROWS && status == FLUSS_OK; i++)
			status = fluss_arrow_builder_add(f.builder, values[i], &f.err);
		if (status == FLUSS_OK)
			status = fluss_arrow_builder_finish(f.builder, FLUSS_CODEC_NONE, 0,
												&f.out, &f.err);
		if (status == FLUSS_OK)
			status = read_message(&f, &arena, f.out.data, f.out.size, NROWS);
		if (status == FLUSS_OK)
			status = fluss_column_nested(test_host(), &f.views[0], 0, &value,
										 &f.err);
		if (status == FLUSS_OK)
			test_free_items((void *) value.u.nested.items);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		assert_int_equal(status, failed ? FLUSS_OUT_OF_MEMORY : FLUSS_OK);
		fluss_arena_free(&arena);
		close_fixture(&f);
	}
}

/* One allocation, and none when there is nothing in it. */
static void
test_items_are_one_allocation(void **unused)
{
	fixture		f;
	fluss_value value;
	int			before;

	open_fixture(&f, TYPES);
	assert_fluss_ok(write_message(&f, rows, NROWS, NROWS, FLUSS_CODEC_NONE),
					&f.err);
	assert_fluss_ok(read_message(&f, &f.arena, f.out.data, f.out.size, NROWS),
					&f.err);
	before = test_host_live_blocks();
	for (int32_t c = 0; c < f.schema->ncolumns - 1; c++)
	{
		assert_fluss_ok(fluss_column_nested(test_host(), &f.views[c], 0,
											&value, &f.err), &f.err);
		assert_int_equal(test_host_live_blocks(), before + 1);
		test_free_items((void *) value.u.nested.items);
		assert_fluss_ok(fluss_column_nested(test_host(), &f.views[c], 1,
											&value, &f.err), &f.err);
		assert_true(value.is_null);
		assert_null(value.u.nested.items);
	}
	assert_fluss_ok(fluss_column_nested(test_host(), &f.views[0], 2, &value,
										&f.err), &f.err);
	assert_false(value.is_null);
	assert_int_equal(value.u.nested.n, 0);
	assert_null(value.u.nested.items);
	close_fixture(&f);
}

/* What a batch has no column for, as it was added later. */
static void
test_absent_column(void **unused)
{
	fixture		f;
	fluss_value value;

	open_fixture(&f, TYPES);
	for (int32_t c = 0; c < f.schema->ncolumns - 1; c++)
	{
		fluss_column_all_null(&f.views[c], f.types[c], 2);
		assert_fluss_ok(fluss_column_nested(test_host(), &f.views[c], 1,
											&value, &f.err), &f.err);
		assert_true(value.is_null);
	}
	close_fixture(&f);
}

/* ---- in text */

static void
check_text(const char *text, const char *expected)
{
	char		spelling[256];
	fluss_error err;
	fluss_type	type;

	fluss_error_init(&err);
	assert_fluss_ok(fluss_type_from_text(test_host(), text, &type, &err), &err);
	fluss_type_print(&type, spelling, sizeof(spelling));
	assert_string_equal(spelling, expected);
	assert_int_equal(test_host_live_blocks(), type.nchildren > 0);
	test_free_items((void *) type.children);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_types_of_text(void **unused)
{
	fluss_error err;
	fluss_type	type;

	check_text("int not null", "INT NOT NULL");
	check_text("array<int>", "ARRAY<INT>");
	check_text("map<string, int not null> not null",
			   "MAP<STRING NOT NULL, INT NOT NULL> NOT NULL");
	check_text("row<a int, `b, >` array<row<seven__ string, x map<int,int>>>>",
			   "ROW<`a` INT, `b, >` ARRAY<ROW<`seven__` STRING, `x` MAP<INT NOT NULL, INT>>>>");
	assert_int_equal(fluss_type_from_text(test_host(), "array<", &type, &err),
					 FLUSS_INVALID_ARGUMENT);
	for (int n = 1; n <= 2; n++)
	{
		test_host_fail_alloc_at(n);
		assert_int_equal(fluss_type_from_text(test_host(), "array<int>",
											  &type, &err),
						 FLUSS_OUT_OF_MEMORY);
		test_host_fail_alloc_at(0);
		assert_int_equal(test_host_live_blocks(), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_round_trips, test_set_up),
		cmocka_unit_test_setup(test_truncated, test_set_up),
		cmocka_unit_test_setup(test_corrupted, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
		cmocka_unit_test_setup(test_items_are_one_allocation, test_set_up),
		cmocka_unit_test_setup(test_absent_column, test_set_up),
		cmocka_unit_test_setup(test_types_of_text, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
