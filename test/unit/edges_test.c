/*
 * edges_test.c
 *	  Values at the edges of their types, in every format and place.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "batch.h"
#include "row.h"
#include "schema.h"

#define MAX_BYTES (INT64_C(1) << 24)

/* Types with the values that are hard to keep. */
static const char *const edges[][8] = {
	{"BOOLEAN", "true", "false"},
	{"TINYINT", "-128", "127", "0"},
	{"SMALLINT", "-32768", "32767"},
	{"INT", "-2147483648", "2147483647", "-1", "128", "16384"},
	{"BIGINT", "-9223372036854775808", "9223372036854775807", "-1"},
	{"FLOAT", "3.4028235e38", "-0.0", "nan", "-inf", "1e-45"},
	{"DOUBLE", "1.7976931348623157e308", "-0.0", "nan", "inf", "5e-324"},
	{"CHAR(4)", "abcd", "a", "", "éé"},
	{"STRING", "", "1234567", "12345678", "温度计 🌡"},
	{"BINARY(3)", "0x000000", "0xffffff", "0x610000"},
	{"BINARY(9)", "0x000000000000000000", "0x616263646566676869"},
	{"BYTES", "0x", "0x00", "0x01020304050607", "0x0102030405060708"},
	{"DECIMAL(1, 0)", "dec(9)", "dec(-9)", "dec(0)"},
	{"DECIMAL(18, 0)", "dec(999999999999999999)", "dec(-999999999999999999)"},
	{"DECIMAL(18, 18)", "dec(0.999999999999999999)", "dec(-0.000000000000000001)"},
	{"DECIMAL(19, 0)", "dec(9999999999999999999)", "dec(-9999999999999999999)",
	"dec(9223372036854775807)", "dec(-9223372036854775808)", "dec(0)", "dec(-1)", "dec(128)"},
	{"DECIMAL(38, 0)", "dec(99999999999999999999999999999999999999)",
	"dec(-99999999999999999999999999999999999999)", "dec(-128)", "dec(255)"},
	{"DECIMAL(38, 38)", "dec(0.99999999999999999999999999999999999999)",
	"dec(-0.00000000000000000000000000000000000001)"},
	{"DATE", "-2147483648", "2147483647", "-1", "0"},
	{"TIME(0)", "0", "86399000"},
	{"TIME(1)", "0", "86399900"},
	{"TIME(2)", "10", "86399990"},
	{"TIME(3)", "1", "86399999"},
	{"TIME(4)", "1", "86399999"},
	{"TIME(5)", "1", "86399999"},
	{"TIME(6)", "1", "86399999"},
	{"TIME(7)", "1", "86399999"},
	{"TIME(8)", "1", "86399999"},
	{"TIME(9)", "1", "86399999"},
	{"TIMESTAMP(0)", "ntz(ms=-1000,nano=0)", "ntz(ms=253402300799000,nano=0)"},
	{"TIMESTAMP(1)", "ntz(ms=-100,nano=0)", "ntz(ms=253402300799900,nano=0)"},
	{"TIMESTAMP(2)", "ntz(ms=-10,nano=0)", "ntz(ms=-62135596800000,nano=0)"},
	{"TIMESTAMP(3)", "ntz(ms=-1,nano=0)", "ntz(ms=9223372036854775807,nano=0)",
	"ntz(ms=-9223372036854775808,nano=0)"},
	{"TIMESTAMP(4)", "ntz(ms=-1,nano=900000)", "ntz(ms=9223372036854775,nano=800000)"},
	{"TIMESTAMP(5)", "ntz(ms=-1,nano=990000)", "ntz(ms=-9223372036854775,nano=0)"},
	{"TIMESTAMP(6)", "ntz(ms=-1,nano=999000)", "ntz(ms=9223372036854775,nano=807000)",
	"ntz(ms=-9223372036854776,nano=192000)", "ntz(ms=0,nano=1000)"},
	{"TIMESTAMP(7)", "ntz(ms=-1,nano=999900)", "ntz(ms=1,nano=100)"},
	{"TIMESTAMP(8)", "ntz(ms=-1,nano=999990)", "ntz(ms=1,nano=10)"},
	{"TIMESTAMP(9)", "ntz(ms=-1,nano=999999)", "ntz(ms=9223372036854,nano=775807)",
	"ntz(ms=-9223372036855,nano=224192)", "ntz(ms=-1,nano=1)"},
	{"TIMESTAMP_LTZ(0)", "ltz(ms=-1000,nano=0)"},
	{"TIMESTAMP_LTZ(3)", "ltz(ms=-1,nano=0)"},
	{"TIMESTAMP_LTZ(6)", "ltz(ms=-1,nano=999000)"},
	{"TIMESTAMP_LTZ(9)", "ltz(ms=-1,nano=999999)"}
};

/* Where a value of type %s can be, and a row with it as %s. */
static const char *const places[][2] = {
	{"ROW<v %s>", "(%s)"},
	{"ROW<i INT, v %s NOT NULL, s STRING>", "(1, %s, x)"},
	{"ROW<v ARRAY<%s>>", "([null, %s])"},
	{"ROW<v ARRAY<%s NOT NULL>>", "([%s])"},
	{"ROW<v MAP<INT, %s>>", "({1: null, 2: %s})"},
	{"ROW<v MAP<%s, INT>>", "({%s: 1})"},
	{"ROW<v ROW<a INT, b %s, c STRING>>", "((null, %s, z))"},
	{"ROW<v ARRAY<ROW<b %s>>>", "([(%s), null, (null)])"},
	{"ROW<v ARRAY<ARRAY<%s>>>", "([[%s], [], null])"}
};

static void
compare(const fluss_schema *schema, const fluss_value *actual,
		const fluss_value *expected)
{
	for (int32_t i = 0; i < schema->ncolumns; i++)
		test_same_value(&schema->columns[i], &actual[i], &expected[i]);
}

static void
compare_views(const fluss_schema *schema, const fluss_column_view *views,
			  const fluss_value *expected)
{
	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		fluss_value actual;
		void	   *items;

		test_view_value(&views[i], 0, &actual, &items);
		test_same_value(&schema->columns[i], &actual, &expected[i]);
		test_free_items(items);
	}
}

/* A batch of one row, in out, as columns again. */
static void
check_batch(fluss_arena *arena, const fluss_schema *schema,
			fluss_row_format format, const fluss_buf *out,
			const fluss_value *expected)
{
	const int32_t source[] = {0, 1, 2};
	const fluss_type *types[3];
	fluss_column_view views[3];
	const uint8_t *change_types;
	fluss_log_batch batch;
	fluss_error err;
	bool		complete;

	fluss_error_init(&err);
	for (int32_t i = 0; i < schema->ncolumns; i++)
		types[i] = &schema->columns[i].type;
	assert_fluss_ok(fluss_log_batch_open(out->data, out->size, true, &batch,
										 &complete, &err), &err);
	assert_true(complete);
	assert_fluss_ok(fluss_log_batch_columns(arena, &batch, format, schema,
											NULL, 0, source, types,
											schema->ncolumns, MAX_BYTES, views,
											&change_types, &err), &err);
	compare_views(schema, views, expected);
}

static void
check_rows(fluss_arena *arena, const fluss_schema *schema,
		   fluss_row_format format, const fluss_value *expected)
{
	fluss_value actual[3];
	fluss_buf	out;
	fluss_error err;

	fluss_error_init(&err);
	fluss_buf_init(&out, test_host());
	assert_fluss_ok(fluss_row_encode(format, schema, expected, &out, &err),
					&err);
	assert_fluss_ok(fluss_row_decode(arena, format, schema, NULL, out.data,
									 out.size, actual, &err), &err);
	compare(schema, actual, expected);
	fluss_buf_reset(&out);
	fluss_log_rows_begin(&out);
	assert_fluss_ok(fluss_log_rows_add(&out, format, schema, expected, &err),
					&err);
	fluss_log_rows_finish(&out, 1, -1, -1, 1);
	check_batch(arena, schema, format, &out, expected);
	fluss_buf_free(&out);
}

static void
check_arrow(fluss_arena *arena, const fluss_schema *schema,
			const fluss_value *expected)
{
	const fluss_type *types[3];
	fluss_arrow_builder *builder;
	fluss_buf	out;
	fluss_error err;

	fluss_error_init(&err);
	fluss_buf_init(&out, test_host());
	for (int32_t i = 0; i < schema->ncolumns; i++)
		types[i] = &schema->columns[i].type;
	assert_fluss_ok(fluss_arrow_builder_open(test_host(), types,
											 schema->ncolumns, &builder,
											 &err), &err);
	assert_fluss_ok(fluss_arrow_builder_add(builder, expected, &err), &err);
	assert_fluss_ok(fluss_log_batch_write(builder, FLUSS_CODEC_ZSTD, 3, 1, -1,
										  -1, &out, &err), &err);
	check_batch(arena, schema, FLUSS_FORMAT_ARROW, &out, expected);
	fluss_arrow_builder_close(builder);
	fluss_buf_free(&out);
}

static void
check_edge(const char *type, const char *text, const char *const *place)
{
	char		row_type[128];
	char		row[256];
	fluss_arena arena;
	const fluss_schema *schema;
	const fluss_value *expected;
	fluss_error err;

	fluss_error_init(&err);
	snprintf(row_type, sizeof(row_type), place[0], type);
	snprintf(row, sizeof(row), place[1], text);
	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, row_type);
	expected = test_row(&arena, schema, row);
	for (int32_t i = 0; i < schema->ncolumns; i++)
		assert_fluss_ok(fluss_row_check(FLUSS_FORMAT_INDEXED,
										&schema->columns[i], &expected[i],
										&err), &err);
	check_rows(&arena, schema, FLUSS_FORMAT_COMPACTED, expected);
	check_rows(&arena, schema, FLUSS_FORMAT_INDEXED, expected);
	check_arrow(&arena, schema, expected);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_edges(void **unused)
{
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		for (int v = 1; v < 8 && edges[i][v] != NULL; v++)
			for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++)
				check_edge(edges[i][0], edges[i][v], places[p]);
}

/* ---- what does not fit */

static fluss_status
check(fluss_row_format format, const char *type, const char *text,
	  const char *complaint)
{
	char		row_type[128];
	char		row[256];
	fluss_arena arena;
	const fluss_schema *schema;
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	snprintf(row_type, sizeof(row_type), "ROW<`v` %s>", type);
	snprintf(row, sizeof(row), "(%s)", text);
	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, row_type);
	status = fluss_row_check(format, &schema->columns[0],
							 test_row(&arena, schema, row), &err);
	if (status != FLUSS_OK)
	{
		assert_non_null(strstr(err.message, "\"v\""));
		if (strstr(err.message, complaint) == NULL &&
			strstr(err.detail, complaint) == NULL)
			fail_msg("\"%s\" is not about \"%s\"", err.message, complaint);
	}
	fluss_arena_free(&arena);
	return status;
}

static void
test_refused(void **unused)
{
	static const struct
	{
		const char *type;
		const char *text;
		fluss_status status;
		const char *complaint;
	}			cases[] = {
		{"TIMESTAMP(9)", "ntz(ms=9223372036854,nano=775808)", FLUSS_DATETIME_OVERFLOW, "out of range"},
		{"TIMESTAMP(9)", "ntz(ms=-9223372036855,nano=224191)", FLUSS_DATETIME_OVERFLOW, "out of range"},
		{"TIMESTAMP_LTZ(7)", "ltz(ms=-62135596800000,nano=0)", FLUSS_DATETIME_OVERFLOW, "out of range"},
		{"TIME(2)", "1", FLUSS_DATETIME_OVERFLOW, "fractional digits"},
		{"BINARY(3)", "0x0102", FLUSS_VALUE_OUT_OF_RANGE, "too short"},
		{"ARRAY<BINARY(3)>", "[0x01020304]", FLUSS_VALUE_TOO_LONG, "part BINARY(3)"},
		{"ARRAY<INT NOT NULL>", "[1, null]", FLUSS_NOT_NULL_VIOLATION, "part INT NOT NULL"},
		{"MAP<STRING, INT>", "{null: 1}", FLUSS_NOT_NULL_VIOLATION, "part STRING NOT NULL"},
		{"ROW<a TINYINT>", "(128)", FLUSS_VALUE_OUT_OF_RANGE, "part TINYINT"},
		{"ROW<a ROW<b ARRAY<TIMESTAMP(9)>>>", "(([ntz(ms=9223372036855,nano=0)]))",
		FLUSS_DATETIME_OVERFLOW, "part TIMESTAMP(9)"},
		{"ARRAY<DECIMAL(3, 1)>", "[dec(100.0)]", FLUSS_VALUE_OUT_OF_RANGE, "part DECIMAL(3, 1)"},
		{"ARRAY<CHAR(2)>", "[abc]", FLUSS_VALUE_TOO_LONG, "part CHAR(2)"}
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		fluss_status status = check(FLUSS_FORMAT_ARROW, cases[i].type,
									cases[i].text, cases[i].complaint);

		if (status != cases[i].status)
			fail_msg("%s as %s: status %d", cases[i].text, cases[i].type,
					 status);
	}
}

/* Two characters, four bytes: too long for the two bytes of an INDEXED row. */
static void
test_char_of_indexed_rows(void **unused)
{
	static const char *const within[][2] = {
		{"CHAR(2)", "éé"},
		{"ROW<a CHAR(2)>", "(éé)"},
		{"ARRAY<ROW<a CHAR(2)>>", "[(éé)]"},
		{"MAP<INT, ROW<a CHAR(2)>>", "{1: null, 2: (éé)}"}
	};

	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++)
	{
		assert_int_equal(check(FLUSS_FORMAT_INDEXED, within[i][0],
							   within[i][1], "n bytes, not characters"),
						 FLUSS_VALUE_TOO_LONG);
		assert_int_equal(check(FLUSS_FORMAT_COMPACTED, within[i][0],
							   within[i][1], ""), FLUSS_OK);
		assert_int_equal(check(FLUSS_FORMAT_ARROW, within[i][0],
							   within[i][1], ""), FLUSS_OK);
	}
	assert_int_equal(check(FLUSS_FORMAT_INDEXED, "ARRAY<CHAR(2)>",
						   "[éé]", ""), FLUSS_OK);
}

/* A NULL of an INDEXED row has no bytes, whatever its type says. */
static void
test_null_in_indexed_row(void **unused)
{
	const uint8_t bytes[] = {0x01, 0x07, 0, 0, 0};
	fluss_arena arena;
	fluss_error err;
	fluss_value values[2];
	const fluss_schema *schema;

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, "ROW<a INT NOT NULL, b INT>");
	assert_fluss_ok(fluss_row_decode(&arena, FLUSS_FORMAT_INDEXED, schema,
									 NULL, bytes, sizeof(bytes), values, &err),
					&err);
	assert_true(values[0].is_null);
	assert_int_equal(values[1].u.integer, 7);
	fluss_arena_free(&arena);
}

/* Elements that all refer to the same bytes would be more than there is. */
static void
test_parts_cannot_overlap(void **unused)
{
	fluss_arena arena;
	fluss_error err;
	fluss_buf	out;
	fluss_value value;
	const fluss_schema *schema;
	const fluss_value *row;
	size_t		slots = 5 + 4 + 4;

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	fluss_buf_init(&out, test_host());
	schema = test_schema(&arena, "ROW<a ARRAY<STRING>>");
	row = test_row(&arena, schema, "([0123456789abcdef, 0123456789abcdef, x])");
	/* INDEXED: the array starts behind the bitmap and one size */
	assert_fluss_ok(fluss_row_encode(FLUSS_FORMAT_INDEXED, schema, row, &out,
									 &err), &err);
	for (int i = 0; i < 3; i++)
	{
		fluss_store_u32le(out.data + slots + 8 * i, 24);
		fluss_store_u32le(out.data + slots + 8 * i + 4, 8);
	}
	assert_int_equal(fluss_row_decode(&arena, FLUSS_FORMAT_INDEXED, schema,
									  NULL, out.data, out.size, &value, &err),
					 FLUSS_MALFORMED);
	fluss_buf_free(&out);
	fluss_arena_free(&arena);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_edges, test_set_up),
		cmocka_unit_test_setup(test_refused, test_set_up),
		cmocka_unit_test_setup(test_char_of_indexed_rows, test_set_up),
		cmocka_unit_test_setup(test_null_in_indexed_row, test_set_up),
		cmocka_unit_test_setup(test_parts_cannot_overlap, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
