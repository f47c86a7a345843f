/*
 * arrow_test.c
 *	  Arrow record batches: written and read back, and damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "arrow.h"
#include "schema.h"

#define ALL_TYPES \
	"ROW<a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, " \
	"g DOUBLE, h CHAR(4), i STRING, j DECIMAL(10, 2), k DECIMAL(38, 5), " \
	"l DATE, m TIME(0), n TIME(3), o TIME(6), p TIME(9), " \
	"q TIMESTAMP(0), r TIMESTAMP(3), s TIMESTAMP(6), t TIMESTAMP(9), " \
	"u TIMESTAMP_LTZ(0), v TIMESTAMP_LTZ(3), w TIMESTAMP_LTZ(6), " \
	"x TIMESTAMP_LTZ(9), y BINARY(3), z BYTES>"
#define MAX_COLUMNS 32
#define NO_LIMIT	INT64_MAX

static const char *const all_rows[] = {
	"(true, -128, -32768, -2147483648, -9223372036854775808, 1.5, -2.5, "
	"abcd, hello, dec(-99999999.99), "
	"dec(-999999999999999999999999999999999.99999), -719162, 0, 0, 0, 0, "
	"ntz(ms=-62135596800000,nano=0), ntz(ms=-62135596800000,nano=0), "
	"ntz(ms=-62135596800000,nano=0), ntz(ms=-9223372036855,nano=224192), "
	"ltz(ms=-1000,nano=0), ltz(ms=-1,nano=0), ltz(ms=-1,nano=999000), "
	"ltz(ms=-1,nano=999999), 0x000000, 0x00)",
	"(false, 127, 32767, 2147483647, 9223372036854775807, -0.0, 1e308, "
	", , dec(99999999.99), "
	"dec(999999999999999999999999999999999.99999), 2932896, 86399000, "
	"86399999, 86399999, 86399999, "
	"ntz(ms=253402300799000,nano=0), ntz(ms=253402300799999,nano=0), "
	"ntz(ms=253402300799999,nano=999000), "
	"ntz(ms=9223372036854,nano=775807), "
	"ltz(ms=1000,nano=0), ltz(ms=1,nano=0), ltz(ms=1,nano=1000), "
	"ltz(ms=1,nano=1), 0xffffff, 0xff00ff)",
	"(null, null, null, null, null, null, null, null, null, null, null, "
	"null, null, null, null, null, null, null, null, null, null, null, "
	"null, null, null, null)"
};

static int
column_types(const fluss_schema *schema, const fluss_type **types)
{
	for (int32_t i = 0; i < schema->ncolumns; i++)
		types[i] = &schema->columns[i].type;
	return schema->ncolumns;
}

static fluss_arrow_builder *
open_builder(const fluss_schema *schema)
{
	const fluss_type *types[MAX_COLUMNS];
	fluss_arrow_builder *builder;
	fluss_error err;
	int			n = column_types(schema, types);

	assert_fluss_ok(fluss_arrow_builder_open(test_host(), types, n, &builder,
											 &err), &err);
	return builder;
}

/* Adds row i of the list, over and over. */
static void
add_rows(fluss_arena *arena, fluss_arrow_builder *builder,
		 const fluss_schema *schema, int nrows)
{
	fluss_value *rows[3];
	fluss_error err;

	for (int i = 0; i < 3; i++)
		rows[i] = test_row(arena, schema, all_rows[i]);
	for (int i = 0; i < nrows; i++)
		assert_fluss_ok(fluss_arrow_builder_add(builder, rows[i % 3], &err),
						&err);
}

static void
compare_views(fluss_arena *arena, const fluss_schema *schema,
			  const fluss_column_view *views, int nrows)
{
	fluss_value *rows[3];

	for (int i = 0; i < 3; i++)
		rows[i] = test_row(arena, schema, all_rows[i]);
	for (int32_t c = 0; c < schema->ncolumns; c++)
	{
		assert_int_equal(views[c].length, nrows);
		for (int i = 0; i < nrows; i++)
		{
			fluss_value value;

			fluss_column_value(&views[c], i, &value);
			test_same_value(&schema->columns[c], &value, &rows[i % 3][c]);
		}
	}
}

static fluss_status
read_all(fluss_arena *arena, const fluss_schema *schema, const uint8_t *data,
		 size_t size, int nrows, int64_t max_bytes, fluss_column_view *views,
		 fluss_error *err)
{
	const fluss_type *types[MAX_COLUMNS];
	int			n = column_types(schema, types);

	fluss_error_init(err);
	return fluss_arrow_read(arena, data, size, nrows, types, n, NULL,
							max_bytes, views, err);
}

static void
check_round_trip(int nrows, fluss_codec codec)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_column_view views[MAX_COLUMNS];
	const fluss_schema *schema;
	fluss_arrow_builder *builder;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, ALL_TYPES);
	builder = open_builder(schema);
	/* what a builder held before must not show */
	for (int round = 0; round < 2; round++)
	{
		add_rows(&arena, builder, schema, nrows);
		assert_int_equal(fluss_arrow_builder_rows(builder), nrows);
		assert_fluss_ok(fluss_arrow_builder_views(builder, views, &err), &err);
		compare_views(&arena, schema, views, nrows);
		fluss_buf_reset(&out);
		assert_fluss_ok(fluss_arrow_builder_finish(builder, codec, 3, &out,
												   &err), &err);
		assert_int_equal(out.size % 8, 0);
		assert_fluss_ok(read_all(&arena, schema, out.data, out.size, nrows,
								 NO_LIMIT, views, &err), &err);
		compare_views(&arena, schema, views, nrows);
		fluss_arrow_builder_reset(builder);
	}
	fluss_arrow_builder_close(builder);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_round_trip(void **unused)
{
	static const int counts[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 1000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
	{
		check_round_trip(counts[i], FLUSS_CODEC_NONE);
		check_round_trip(counts[i], FLUSS_CODEC_LZ4_FRAME);
		check_round_trip(counts[i], FLUSS_CODEC_ZSTD);
	}
}

/* The sizes that a writer goes by are those that come out. */
static void
test_builder_sizes(void **unused)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_arrow_message message;
	fluss_arrow_builder *builder;
	const fluss_schema *schema;
	size_t		sum = 0;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, ALL_TYPES);
	builder = open_builder(schema);
	add_rows(&arena, builder, schema, 100);
	assert_fluss_ok(fluss_arrow_builder_finish(builder, FLUSS_CODEC_NONE, 0,
											   &out, &err), &err);
	assert_fluss_ok(fluss_arrow_message_open(out.data, out.size, &message,
											 &err), &err);
	assert_int_equal(message.nrows, 100);
	assert_int_equal(message.codec, FLUSS_CODEC_NONE);
	assert_int_equal(message.nnodes, 26);
	for (int32_t i = 0; i < message.nbuffers; i++)
	{
		fluss_bytes bytes;

		assert_fluss_ok(fluss_arrow_message_buffer(&message, i, &bytes, &err),
						&err);
		assert_int_equal((bytes.data - message.body) % 8, 0);
		sum += bytes.size;
	}
	assert_int_equal(fluss_arrow_builder_size(builder), sum);
	assert_true(fluss_arrow_builder_memory(builder) >= sum);
	fluss_arrow_builder_close(builder);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

/* One packed batch of a million zeros, for the cap and the inflated sizes. */
static void
make_large(fluss_arena *arena, fluss_codec codec, const fluss_schema **schema,
		   fluss_buf *out)
{
	fluss_arrow_builder *builder;
	fluss_error err;
	fluss_value value = {0};

	*schema = test_schema(arena, "ROW<a BIGINT>");
	builder = open_builder(*schema);
	for (int i = 0; i < 100000; i++)
		assert_fluss_ok(fluss_arrow_builder_add(builder, &value, &err), &err);
	assert_fluss_ok(fluss_arrow_builder_finish(builder, codec, 1, out, &err),
					&err);
	fluss_arrow_builder_close(builder);
}

static void
check_cap(fluss_codec codec)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_column_view view;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	make_large(&arena, codec, &schema, &out);
	assert_true(out.size < 50000);
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 100000,
							  799999, &view, &err), FLUSS_MEMORY_CAP);
	assert_fluss_ok(read_all(&arena, schema, out.data, out.size, 100000,
							 800000, &view, &err), &err);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_memory_cap(void **unused)
{
	check_cap(FLUSS_CODEC_ZSTD);
	check_cap(FLUSS_CODEC_LZ4_FRAME);
}

/* The announced size of a packed buffer is one too large or too small. */
static void
check_announced_size(fluss_codec codec, int change)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_column_view view;
	fluss_arrow_message message;
	fluss_bytes bytes;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	make_large(&arena, codec, &schema, &out);
	assert_fluss_ok(fluss_arrow_message_open(out.data, out.size, &message,
											 &err), &err);
	assert_fluss_ok(fluss_arrow_message_buffer(&message, 1, &bytes, &err),
					&err);
	assert_int_equal(fluss_load_u64le(bytes.data), 800000);
	fluss_store_u64le((uint8_t *) bytes.data, (uint64_t) (800000 + change));
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 100000,
							  NO_LIMIT, &view, &err), FLUSS_MALFORMED);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_announced_sizes(void **unused)
{
	static const int changes[] = {-800002, -1, 1, 8, 800000};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
	{
		check_announced_size(FLUSS_CODEC_ZSTD, changes[i]);
		check_announced_size(FLUSS_CODEC_LZ4_FRAME, changes[i]);
	}
}

/* Java only reads frames of independent blocks, which the third byte says. */
static void
test_lz4_blocks(void **unused)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_arrow_message message;
	fluss_bytes bytes;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	make_large(&arena, FLUSS_CODEC_LZ4_FRAME, &schema, &out);
	assert_fluss_ok(fluss_arrow_message_open(out.data, out.size, &message,
											 &err), &err);
	assert_fluss_ok(fluss_arrow_message_buffer(&message, 1, &bytes, &err),
					&err);
	assert_true(fluss_load_u32le(bytes.data + 8) == 0x184d2204);
	assert_true((bytes.data[12] & 0x20) != 0);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

/* The Java writer packs an empty buffer as a size of 0. */
static void
test_empty_buffer_of_java(void **unused)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_arrow_message message;
	fluss_column_view view;
	fluss_bytes bytes;
	fluss_value null = {.is_null = true};
	const fluss_schema *schema;
	fluss_arrow_builder *builder;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, "ROW<a STRING>");
	builder = open_builder(schema);
	assert_fluss_ok(fluss_arrow_builder_add(builder, &null, &err), &err);
	assert_fluss_ok(fluss_arrow_builder_finish(builder, FLUSS_CODEC_ZSTD, 3,
											   &out, &err), &err);
	fluss_arrow_builder_close(builder);
	assert_fluss_ok(fluss_arrow_message_open(out.data, out.size, &message,
											 &err), &err);
	assert_fluss_ok(fluss_arrow_message_buffer(&message, 2, &bytes, &err),
					&err);
	assert_int_equal(bytes.size, 8);
	fluss_store_u64le((uint8_t *) bytes.data, 0);
	assert_fluss_ok(read_all(&arena, schema, out.data, out.size, 1, NO_LIMIT,
							 &view, &err), &err);
	assert_true(fluss_column_is_null(&view, 0));
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

static void
test_wrong_schema(void **unused)
{
	fluss_arena arena;
	fluss_buf	out;
	fluss_error err;
	fluss_column_view views[4];
	const fluss_schema *schema;
	fluss_arrow_builder *builder;

	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, "ROW<a INT, b STRING>");
	builder = open_builder(schema);
	assert_fluss_ok(fluss_arrow_builder_add(builder,
											test_row(&arena, schema, "(1, xyz)"),
											&err), &err);
	assert_fluss_ok(fluss_arrow_builder_finish(builder, FLUSS_CODEC_NONE, 0,
											   &out, &err), &err);
	fluss_arrow_builder_close(builder);
	assert_fluss_ok(read_all(&arena, schema, out.data, out.size, 1, NO_LIMIT,
							 views, &err), &err);
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 2, NO_LIMIT,
							  views, &err), FLUSS_MALFORMED);
	schema = test_schema(&arena, "ROW<a INT, b INT>");
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 1, NO_LIMIT,
							  views, &err), FLUSS_MALFORMED);
	assert_non_null(strstr(err.detail, "2 nodes and 5 buffers"));
	schema = test_schema(&arena, "ROW<a BIGINT, b STRING>");
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 1, NO_LIMIT,
							  views, &err), FLUSS_MALFORMED);
	schema = test_schema(&arena, "ROW<a ROW<b STRING NOT NULL>>");
	assert_int_equal(read_all(&arena, schema, out.data, out.size, 1, NO_LIMIT,
							  views, &err), FLUSS_MALFORMED);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

/* A server pads what it makes of INDEXED rows; STRING keeps its bytes. */
static void
test_padded_char(void **unused)
{
	static const uint8_t data[] = {'a', 0, 0, 0, 0, 'b', 0};
	static const uint8_t offsets[] = {0, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0};
	static const size_t sizes[] = {1, 0, 1};
	fluss_type	type = {.id = FLUSS_CHAR,.length = 4};
	const fluss_column_view view = {
		.type = &type,.length = 3,.offsets = offsets,.data = data
	};

	for (int32_t i = 0; i < 3; i++)
		assert_int_equal(fluss_column_bytes(&view, i).size, sizes[i]);
	type.id = FLUSS_STRING;
	assert_int_equal(fluss_column_bytes(&view, 0).size, 3);
}

/* Seconds that are no milliseconds any more stay out of all bounds. */
static void
test_hostile_seconds(void **unused)
{
	const fluss_type type = {.id = FLUSS_TIMESTAMP};
	uint8_t		data[16];
	fluss_column_view view = {.type = &type,.length = 2,.data = data};
	fluss_value value;

	fluss_store_u64le(data, INT64_MAX);
	fluss_store_u64le(data + 8, (uint64_t) INT64_MIN);
	fluss_column_value(&view, 0, &value);
	assert_true(value.u.timestamp.millis == INT64_MAX);
	fluss_column_value(&view, 1, &value);
	assert_true(value.u.timestamp.millis == INT64_MIN);
}

static void
check_no_memory(fluss_codec codec)
{
	bool		failed = true;

	for (int n = 1; failed; n++)
	{
		fluss_arena arena;
		fluss_buf	out;
		fluss_error err;
		const fluss_schema *schema;
		const fluss_type *types[MAX_COLUMNS];
		fluss_arrow_builder *builder = NULL;
		fluss_value *row;
		fluss_status status;

		fluss_arena_init(&arena, test_host());
		fluss_buf_init(&out, test_host());
		schema = test_schema(&arena, "ROW<a INT, b STRING>");
		row = test_row(&arena, schema, "(1, some text)");
		column_types(schema, types);
		test_host_fail_alloc_at(n);
		status = fluss_arrow_builder_open(test_host(), types, 2, &builder,
										  &err);
		for (int i = 0; i < 200 && status == FLUSS_OK; i++)
			status = fluss_arrow_builder_add(builder, row, &err);
		if (status == FLUSS_OK)
			status = fluss_arrow_builder_finish(builder, codec, 3, &out, &err);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		/* a codec without memory leaves the bytes as they are */
		if (!failed || codec == FLUSS_CODEC_NONE)
			assert_int_equal(status, failed ? FLUSS_OUT_OF_MEMORY : FLUSS_OK);
		fluss_arrow_builder_close(builder);
		fluss_buf_free(&out);
		fluss_arena_free(&arena);
		assert_int_equal(test_host_live_blocks(), 0);
	}
}

static void
test_no_memory(void **unused)
{
	check_no_memory(FLUSS_CODEC_NONE);
	check_no_memory(FLUSS_CODEC_ZSTD);
	check_no_memory(FLUSS_CODEC_LZ4_FRAME);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_round_trip, test_set_up),
		cmocka_unit_test_setup(test_builder_sizes, test_set_up),
		cmocka_unit_test_setup(test_memory_cap, test_set_up),
		cmocka_unit_test_setup(test_announced_sizes, test_set_up),
		cmocka_unit_test_setup(test_lz4_blocks, test_set_up),
		cmocka_unit_test_setup(test_empty_buffer_of_java, test_set_up),
		cmocka_unit_test_setup(test_wrong_schema, test_set_up),
		cmocka_unit_test_setup(test_padded_char, test_set_up),
		cmocka_unit_test_setup(test_hostile_seconds, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
