/*
 * log_layout_test.c
 *	  Log batches of our own: written, stamped, projected, in row layouts, with
 *	  every version of the header, and with what must be refused.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "batch.h"
#include "hash.h"
#include "row.h"
#include "schema.h"

#define MAX_COLUMNS		8
#define MAX_BYTES		(INT64_C(1) << 20)

typedef struct fixture
{
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	const fluss_schema *schema;
	fluss_log_batch batch;
	fluss_column_view views[MAX_COLUMNS];
	const uint8_t *change_types;
} fixture;

static void
open_fixture(fixture *f, const char *row_type)
{
	memset(f, 0, sizeof(*f));
	fluss_error_init(&f->err);
	fluss_arena_init(&f->arena, test_host());
	fluss_buf_init(&f->out, test_host());
	f->schema = test_schema(&f->arena, row_type);
}

static void
close_fixture(fixture *f)
{
	fluss_buf_free(&f->out);
	fluss_arena_free(&f->arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* An Arrow batch of the schema's columns that are given, one row per text. */
static void
write_arrow(fixture *f, const int32_t *columns, int ncolumns,
			const char *const *rows, int nrows, fluss_codec codec)
{
	const fluss_type *types[MAX_COLUMNS];
	fluss_arrow_builder *builder;

	for (int i = 0; i < ncolumns; i++)
		types[i] = &f->schema->columns[columns[i]].type;
	assert_fluss_ok(fluss_arrow_builder_open(test_host(), types, ncolumns,
											 &builder, &f->err), &f->err);
	for (int r = 0; r < nrows; r++)
	{
		fluss_value *row = test_row(&f->arena, f->schema, rows[r]);
		fluss_value values[MAX_COLUMNS];

		for (int i = 0; i < ncolumns; i++)
			values[i] = row[columns[i]];
		assert_fluss_ok(fluss_arrow_builder_add(builder, values, &f->err),
						&f->err);
	}
	assert_fluss_ok(fluss_log_batch_write(builder, codec, 3, 1, 77, 5, &f->out,
										  &f->err), &f->err);
	fluss_arrow_builder_close(builder);
}

/* A batch in COMPACTED layout; change_types NULL: append-only. */
static void
write_rows(fixture *f, const char *const *rows, int nrows,
		   const uint8_t *change_types)
{
	fluss_buf  *out = &f->out;

	fluss_buf_append_zeros(out, 48);
	for (int r = 0; r < nrows; r++)
	{
		size_t		start = out->size;

		fluss_buf_u32le(out, 0);
		fluss_buf_u8(out, change_types == NULL ? 0 : change_types[r]);
		assert_fluss_ok(fluss_row_encode(FLUSS_FORMAT_COMPACTED, f->schema,
										 test_row(&f->arena, f->schema, rows[r]),
										 out, &f->err), &f->err);
		fluss_store_u32le(out->data + start, (uint32_t) (out->size - start - 4));
	}
	fluss_store_u32le(out->data + 8, (uint32_t) (out->size - 12));
	fluss_store_u16le(out->data + 25, 1);
	out->data[27] = change_types == NULL;
	fluss_store_u32le(out->data + 28, (uint32_t) nrows - 1);
	fluss_store_u32le(out->data + 44, (uint32_t) nrows);
	fluss_log_batch_stamp(out->data, out->size, -1, -1);
}

static fluss_status
open_batch(fixture *f, bool check_crc)
{
	bool		complete;
	fluss_status status = fluss_log_batch_open(f->out.data, f->out.size,
											   check_crc, &f->batch, &complete,
											   &f->err);

	if (status == FLUSS_OK)
		assert_true(complete);
	return status;
}

static fluss_status
read_columns(fixture *f, fluss_row_format format, const int32_t *fields,
			 int nfields, const int32_t *source, int nwanted)
{
	static const fluss_type absent = {.id = FLUSS_BIGINT,.nullable = true};
	const fluss_type *types[MAX_COLUMNS];

	for (int i = 0; i < nwanted; i++)
		types[i] = source[i] < 0 ? &absent :
			&f->schema->columns[source[i]].type;
	return fluss_log_batch_columns(&f->arena, &f->batch, format, f->schema,
								   fields, nfields, source, types, nwanted,
								   MAX_BYTES, f->views, &f->change_types,
								   &f->err);
}

static void
assert_column(const fixture *f, int view, int32_t column,
			  const char *const *rows, int nrows)
{
	fluss_arena arena;

	fluss_arena_init(&arena, test_host());
	assert_int_equal(f->views[view].length, nrows);
	for (int r = 0; r < nrows; r++)
	{
		fluss_value value;

		fluss_column_value(&f->views[view], r, &value);
		test_same_value(&f->schema->columns[column], &value,
						&test_row(&arena, f->schema, rows[r])[column]);
	}
	fluss_arena_free(&arena);
}

#define THREE "ROW<a INT, b STRING, c BIGINT>"
static const char *const three_rows[] = {
	"(1, x, 10)", "(2, null, 20)", "(3, zzz, 30)"
};
static const int32_t all_three[] = {0, 1, 2};

/* ---- writing */

static void
test_written_header(void **unused)
{
	fixture		f;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_ZSTD);
	assert_int_equal(fluss_load_u64le(f.out.data), 0);
	assert_int_equal(fluss_load_u32le(f.out.data + 8), f.out.size - 12);
	assert_int_equal(f.out.data[12], 0);
	assert_int_equal(fluss_load_u64le(f.out.data + 13), 0);
	assert_int_equal(fluss_load_u16le(f.out.data + 25), 1);
	assert_int_equal(f.out.data[27], 1);
	assert_int_equal(fluss_load_u32le(f.out.data + 28), 2);
	assert_int_equal(fluss_load_u64le(f.out.data + 32), 77);
	assert_int_equal(fluss_load_u32le(f.out.data + 40), 5);
	assert_int_equal(fluss_load_u32le(f.out.data + 44), 3);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_true(f.batch.append_only);
	assert_true(f.batch.arrow);

	fluss_log_batch_stamp(f.out.data, f.out.size, 78, 0);
	assert_int_equal(fluss_load_u64le(f.out.data + 32), 78);
	assert_int_equal(fluss_load_u32le(f.out.data + 40), 0);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	close_fixture(&f);
}

/* What was written before in the same buffer stays whole. */
static void
test_two_batches_in_one_buffer(void **unused)
{
	fixture		f;
	size_t		first;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_NONE);
	first = f.out.size;
	write_arrow(&f, all_three, 3, three_rows, 2, FLUSS_CODEC_LZ4_FRAME);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_int_equal(f.batch.total_size, first);
	memmove(f.out.data, f.out.data + first, f.out.size - first);
	f.out.size -= first;
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_int_equal(f.batch.total_size, f.out.size);
	assert_int_equal(f.batch.record_count, 2);
	assert_fluss_ok(read_columns(&f, FLUSS_FORMAT_ARROW, NULL, 0, all_three, 3),
					&f.err);
	assert_column(&f, 1, 1, three_rows, 2);
	close_fixture(&f);
}

/* ---- columns */

/* A projected answer holds fields 0 and 2; they are wanted in another order. */
static void
test_projected(void **unused)
{
	static const int32_t fields[] = {0, 2};
	static const int32_t source[] = {2, -1, 0};
	static const int32_t missing[] = {1};
	static const int32_t past_schema[] = {0, 1000000};
	fixture		f;

	open_fixture(&f, THREE);
	write_arrow(&f, fields, 2, three_rows, 3, FLUSS_CODEC_ZSTD);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_fluss_ok(read_columns(&f, FLUSS_FORMAT_ARROW, fields, 2, source, 3),
					&f.err);
	assert_null(f.change_types);
	assert_column(&f, 0, 2, three_rows, 3);
	assert_column(&f, 2, 0, three_rows, 3);
	assert_true(f.views[1].all_null);
	assert_int_equal(f.views[1].length, 3);
	for (int32_t r = 0; r < 3; r++)
		assert_true(fluss_column_is_null(&f.views[1], r));

	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, fields, 2, missing, 1),
					 FLUSS_MALFORMED);
	/* the batch says that its schema has fewer columns than were asked for */
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, past_schema, 2,
								  all_three, 1), FLUSS_MALFORMED);
	/* only offsets are wanted */
	assert_fluss_ok(read_columns(&f, FLUSS_FORMAT_ARROW, fields, 2, NULL, 0),
					&f.err);
	close_fixture(&f);
}

static void
test_compacted_changelog(void **unused)
{
	static const uint8_t changes[] = {1, 2, 3};
	static const int32_t source[] = {1, 0};
	fixture		f;

	open_fixture(&f, THREE);
	write_rows(&f, three_rows, 3, changes);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_false(f.batch.append_only);
	assert_fluss_ok(read_columns(&f, FLUSS_FORMAT_COMPACTED, NULL, 0, source, 2),
					&f.err);
	assert_memory_equal(f.change_types, changes, 3);
	assert_column(&f, 0, 1, three_rows, 3);
	assert_column(&f, 1, 0, three_rows, 3);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_INDEXED, NULL, 0, source, 2),
					 FLUSS_MALFORMED);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, NULL, 0, source, 2),
					 FLUSS_MALFORMED);
	close_fixture(&f);
}

static void
test_refused_rows(void **unused)
{
	static const uint8_t bad_change[] = {1, 2, 5};
	static const int32_t some[] = {0, 2};
	fixture		f;

	open_fixture(&f, THREE);
	write_rows(&f, three_rows, 3, bad_change);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_COMPACTED, NULL, 0,
								  all_three, 3), FLUSS_MALFORMED);
	assert_non_null(strstr(f.err.detail, "change type"));

	fluss_buf_reset(&f.out);
	write_rows(&f, three_rows, 3, NULL);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, some, 2, some, 2),
					 FLUSS_MALFORMED);
	/* one record less than there are, one more */
	fluss_store_u32le(f.out.data + 44, 2);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, NULL, 0,
								  all_three, 3), FLUSS_MALFORMED);
	assert_non_null(strstr(f.err.detail, "left over"));
	fluss_store_u32le(f.out.data + 28, 3);
	fluss_store_u32le(f.out.data + 44, 4);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_int_equal(read_columns(&f, FLUSS_FORMAT_ARROW, NULL, 0,
								  all_three, 3), FLUSS_MALFORMED);
	close_fixture(&f);
}

/* Rows hold more than Arrow columns can: no value is cut in silence. */
static void
check_does_not_fit(const char *row_type, const char *row)
{
	static const int32_t first[] = {0};
	fixture		f;

	open_fixture(&f, row_type);
	write_rows(&f, &row, 1, NULL);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	if (read_columns(&f, FLUSS_FORMAT_ARROW, NULL, 0, first, 1) == FLUSS_OK)
		fail_msg("%s was taken as %s", row, row_type);
	assert_non_null(strstr(f.err.message, "column \""));
	close_fixture(&f);
}

static void
test_rows_that_do_not_fit(void **unused)
{
	check_does_not_fit("ROW<a TIME(0)>", "(1001)");
	check_does_not_fit("ROW<a TIME(3)>", "(-1)");
	check_does_not_fit("ROW<a TIMESTAMP(0)>", "(ntz(ms=1001,nano=0))");
	check_does_not_fit("ROW<a TIMESTAMP(9)>",
					   "(ntz(ms=9223372036855,nano=0))");
	check_does_not_fit("ROW<a TIMESTAMP_LTZ(6)>",
					   "(ltz(ms=9223372036854775807,nano=0))");
	check_does_not_fit("ROW<a BINARY(3)>", "(0x01)");
	check_does_not_fit("ROW<a ARRAY<TIMESTAMP(9)>>",
					   "([null, ntz(ms=9223372036855,nano=0)])");
}

static void
test_memory_cap(void **unused)
{
	const fluss_type *types[1];
	static const int32_t first[] = {0};
	fixture		f;

	open_fixture(&f, THREE);
	types[0] = &f.schema->columns[0].type;
	write_rows(&f, three_rows, 3, NULL);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_int_equal(fluss_log_batch_columns(&f.arena, &f.batch,
											 FLUSS_FORMAT_ARROW, f.schema,
											 NULL, 0, first, types, 1, 64,
											 f.views, &f.change_types, &f.err),
					 FLUSS_MEMORY_CAP);
	close_fixture(&f);
}

/* ---- headers */

/* Turns the batch into one of magic 1 by adding bytes before or after the CRC's fields. */
static void
make_magic_1(fixture *f, size_t at, const uint8_t *bytes, size_t size)
{
	uint8_t    *copy = malloc(f->out.size);
	size_t		old = f->out.size;

	memcpy(copy, f->out.data, old);
	fluss_buf_reset(&f->out);
	fluss_buf_append(&f->out, copy, at);
	fluss_buf_append(&f->out, bytes, size);
	fluss_buf_append(&f->out, copy + at, old - at);
	f->out.data[12] = 1;
	fluss_store_u32le(f->out.data + 8, (uint32_t) (f->out.size - 12));
	free(copy);
}

static void
assert_reads_three(fixture *f)
{
	assert_int_equal(f->batch.schema_id, 1);
	assert_int_equal(f->batch.record_count, 3);
	assert_int_equal(f->batch.next_offset, 3);
	assert_fluss_ok(read_columns(f, FLUSS_FORMAT_ARROW, NULL, 0, all_three, 3),
					&f->err);
	for (int i = 0; i < 3; i++)
		assert_column(f, i, i, three_rows, 3);
}

/* 0.9.1: a leader epoch before the CRC, which does not cover it. */
static void
test_magic_1_of_091(void **unused)
{
	static const uint8_t epoch[4] = {9, 0, 0, 0};
	fixture		f;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_ZSTD);
	make_magic_1(&f, 21, epoch, sizeof(epoch));
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_reads_three(&f);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_reads_three(&f);
	/* a stale CRC leaves it to the counts */
	f.out.data[25] ^= 1;
	assert_int_equal(open_batch(&f, true), FLUSS_MALFORMED);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_reads_three(&f);
	f.out.data[25] ^= 1;
	f.out.data[f.out.size - 1] ^= 1;
	assert_int_equal(open_batch(&f, true), FLUSS_MALFORMED);
	close_fixture(&f);
}

/* 1.0: statistics before the records. */
static void
test_magic_1_of_100(void **unused)
{
	static const uint8_t statistics[11] = {7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7};
	fixture		f;
	uint32_t	crc;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_NONE);
	make_magic_1(&f, 48, statistics, sizeof(statistics));
	crc = fluss_crc32c(f.out.data + 25, f.out.size - 25);
	fluss_store_u32le(f.out.data + 21, crc);
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_reads_three(&f);
	/* a projected batch has a stale CRC; whoever wrote it makes no difference */
	f.out.data[21] ^= 1;
	fluss_store_u64le(f.out.data + 32, (uint64_t) -1);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_reads_three(&f);
	assert_int_equal(open_batch(&f, true), FLUSS_MALFORMED);

	fluss_store_u32le(f.out.data + 48, (uint32_t) f.out.size);
	fluss_store_u32le(f.out.data + 21,
					  fluss_crc32c(f.out.data + 25, f.out.size - 25));
	assert_int_equal(open_batch(&f, true), FLUSS_MALFORMED);
	close_fixture(&f);
}

/* 2: both the leader epoch and statistics. */
static void
test_magic_2(void **unused)
{
	static const uint8_t epoch[4] = {9, 0, 0, 0};
	static const uint8_t statistics[9] = {5, 0, 0, 0, 1, 2, 3, 4, 5};
	fixture		f;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_NONE);
	make_magic_1(&f, 21, epoch, sizeof(epoch));
	make_magic_1(&f, 52, statistics, sizeof(statistics));
	f.out.data[12] = 2;
	fluss_store_u32le(f.out.data + 25,
					  fluss_crc32c(f.out.data + 29, f.out.size - 29));
	assert_fluss_ok(open_batch(&f, true), &f.err);
	assert_reads_three(&f);
	f.out.data[25] ^= 1;
	assert_int_equal(open_batch(&f, true), FLUSS_MALFORMED);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_reads_three(&f);
	fluss_store_u32le(f.out.data + 52, (uint32_t) f.out.size);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	assert_non_null(strstr(f.err.detail, "statistics"));
	close_fixture(&f);
}

static void
test_refused_headers(void **unused)
{
	fixture		f;

	open_fixture(&f, THREE);
	write_arrow(&f, all_three, 3, three_rows, 3, FLUSS_CODEC_NONE);
	f.out.data[12] = 3;
	assert_int_equal(open_batch(&f, false), FLUSS_UNSUPPORTED);
	assert_non_null(strstr(f.err.message, "version 3"));
	f.out.data[12] = 0;

	/* more records than offsets, offsets past all bounds */
	fluss_store_u32le(f.out.data + 28, 1);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	fluss_store_u32le(f.out.data + 28, UINT32_MAX);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	fluss_store_u32le(f.out.data + 28, 2);
	fluss_store_u32le(f.out.data + 44, UINT32_MAX);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	fluss_store_u32le(f.out.data + 44, 3);
	fluss_store_u64le(f.out.data, (uint64_t) INT64_MAX - 2);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	assert_true(f.batch.base_offset == INT64_MAX - 2);
	assert_int_equal(f.batch.next_offset, -1);
	fluss_store_u64le(f.out.data, (uint64_t) INT64_MAX - 3);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_true(f.batch.next_offset == INT64_MAX);
	fluss_store_u64le(f.out.data, UINT64_MAX);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	fluss_store_u64le(f.out.data, 0);

	/* more offsets than records are fine */
	fluss_store_u32le(f.out.data + 28, 9);
	assert_fluss_ok(open_batch(&f, false), &f.err);
	assert_int_equal(f.batch.next_offset, 10);

	/* a length that the header alone needs more than */
	fluss_store_u32le(f.out.data + 8, 35);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	fluss_store_u32le(f.out.data + 8, UINT32_MAX);
	assert_int_equal(open_batch(&f, false), FLUSS_MALFORMED);
	close_fixture(&f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_written_header, test_set_up),
		cmocka_unit_test_setup(test_two_batches_in_one_buffer, test_set_up),
		cmocka_unit_test_setup(test_projected, test_set_up),
		cmocka_unit_test_setup(test_compacted_changelog, test_set_up),
		cmocka_unit_test_setup(test_refused_rows, test_set_up),
		cmocka_unit_test_setup(test_rows_that_do_not_fit, test_set_up),
		cmocka_unit_test_setup(test_memory_cap, test_set_up),
		cmocka_unit_test_setup(test_magic_1_of_091, test_set_up),
		cmocka_unit_test_setup(test_magic_1_of_100, test_set_up),
		cmocka_unit_test_setup(test_magic_2, test_set_up),
		cmocka_unit_test_setup(test_refused_headers, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
