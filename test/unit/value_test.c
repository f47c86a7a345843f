/*
 * value_test.c
 *	  Values at the limits of their types, decimals, column mappings.
 */
#include <stdlib.h>
#include <string.h>

#include "values.h"
#include "row.h"
#include "schema.h"

static fluss_status
check(const char *type, fluss_value value)
{
	fluss_arena arena;
	fluss_column column = {.name = "c"};
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	fluss_arena_init(&arena, test_host());
	assert_fluss_ok(fluss_type_parse(&arena, type, &column.type, &err), &err);
	status = fluss_value_check(&column, &value, &err);
	if (status != FLUSS_OK)
		assert_non_null(strstr(err.message, "\"c\""));
	fluss_arena_free(&arena);
	return status;
}

static fluss_value
integer(int64_t v)
{
	return (fluss_value) {.u.integer = v};
}

static fluss_value
timestamp(int64_t millis, int32_t nanos)
{
	fluss_value value = {0};

	value.u.timestamp.millis = millis;
	value.u.timestamp.nanos = nanos;
	return value;
}

static fluss_value
decimal(int64_t high, uint64_t low)
{
	fluss_value value = {0};

	value.u.decimal.high = high;
	value.u.decimal.low = low;
	return value;
}

static fluss_value
text(const char *v)
{
	fluss_value value = {0};

	value.u.bytes.data = (const uint8_t *) v;
	value.u.bytes.size = strlen(v);
	return value;
}

static void
test_nulls(void **unused)
{
	const fluss_value null = {.is_null = true};

	assert_int_equal(check("INT", null), FLUSS_OK);
	assert_int_equal(check("ARRAY<INT>", null), FLUSS_OK);
	assert_int_equal(check("INT NOT NULL", null), FLUSS_NOT_NULL_VIOLATION);
}

static void
test_integers(void **unused)
{
	static const struct
	{
		const char *type;
		int			bits;
		fluss_status status;
	}			cases[] = {
		{"TINYINT", 8, FLUSS_VALUE_OUT_OF_RANGE},
		{"SMALLINT", 16, FLUSS_VALUE_OUT_OF_RANGE},
		{"INT", 32, FLUSS_VALUE_OUT_OF_RANGE},
		{"DATE", 32, FLUSS_DATETIME_OVERFLOW}
	};

	for (size_t i = 0; i < 4; i++)
	{
		int64_t		limit = INT64_C(1) << (cases[i].bits - 1);
		fluss_status status = cases[i].status;

		assert_int_equal(check(cases[i].type, integer(limit - 1)), FLUSS_OK);
		assert_int_equal(check(cases[i].type, integer(-limit)), FLUSS_OK);
		assert_int_equal(check(cases[i].type, integer(limit)), status);
		assert_int_equal(check(cases[i].type, integer(-limit - 1)), status);
		assert_int_equal(check(cases[i].type, integer(INT64_MIN)), status);
	}
	assert_int_equal(check("BIGINT", integer(INT64_MIN)), FLUSS_OK);
}

static void
test_decimals(void **unused)
{
	/* 10^38 is 0x4b3b4ca85a86c47a 098a224000000000 */
	const int64_t high = INT64_C(0x4b3b4ca85a86c47a);
	const uint64_t low = UINT64_C(0x098a224000000000);

	assert_int_equal(check("DECIMAL(38,0)", decimal(high, low - 1)), FLUSS_OK);
	assert_int_equal(check("DECIMAL(38,38)", decimal(high, low)),
					 FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("DECIMAL(38,0)", decimal(-high - 1, 1 - low)),
					 FLUSS_OK);
	assert_int_equal(check("DECIMAL(38,0)", decimal(-high - 1, -low)),
					 FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("DECIMAL(38,0)", decimal(INT64_MIN, 0)),
					 FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("DECIMAL(1,0)", decimal(0, 9)), FLUSS_OK);
	assert_int_equal(check("DECIMAL(1,0)", decimal(0, 10)),
					 FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("DECIMAL(1,0)", decimal(-1, (uint64_t) -9)),
					 FLUSS_OK);
	assert_int_equal(check("DECIMAL(19,0)",
						   decimal(0, UINT64_C(9999999999999999999))), FLUSS_OK);
	assert_int_equal(check("DECIMAL(19,0)",
						   decimal(0, UINT64_C(10000000000000000000))),
					 FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("DECIMAL(20,0)",
						   decimal(0, UINT64_C(10000000000000000000))), FLUSS_OK);
}

static void
test_text_and_bytes(void **unused)
{
	assert_int_equal(check("CHAR(3)", text("abc")), FLUSS_OK);
	assert_int_equal(check("CHAR(3)", text("")), FLUSS_OK);
	assert_int_equal(check("CHAR(3)", text("abcd")), FLUSS_VALUE_TOO_LONG);
	/* characters, not bytes */
	assert_int_equal(check("CHAR(3)", text("\xc3\xa4\xe4\xb8\x96\xc3\xb6")),
					 FLUSS_OK);
	assert_int_equal(check("CHAR(2)", text("\xc3\xa4\xe4\xb8\x96\xc3\xb6")),
					 FLUSS_VALUE_TOO_LONG);
	assert_int_equal(check("BINARY(3)", text("abc")), FLUSS_OK);
	assert_int_equal(check("BINARY(3)", text("abcd")), FLUSS_VALUE_TOO_LONG);
	assert_int_equal(check("BINARY(3)", text("ab")), FLUSS_VALUE_OUT_OF_RANGE);
	assert_int_equal(check("STRING", text("anything")), FLUSS_OK);
}

static void
test_times(void **unused)
{
	assert_int_equal(check("TIME(3)", integer(0)), FLUSS_OK);
	assert_int_equal(check("TIME(3)", integer(86399999)), FLUSS_OK);
	assert_int_equal(check("TIME(9)", integer(86399999)), FLUSS_OK);
	assert_int_equal(check("TIME(3)", integer(86400000)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIME(3)", integer(-1)), FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIME(0)", integer(1000)), FLUSS_OK);
	assert_int_equal(check("TIME(0)", integer(1001)), FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIME(2)", integer(1010)), FLUSS_OK);
	assert_int_equal(check("TIME(2)", integer(1001)), FLUSS_DATETIME_OVERFLOW);
}

static void
test_timestamps(void **unused)
{
	/* INT64_MIN and INT64_MAX nanoseconds */
	const int64_t low = INT64_C(-9223372036855);
	const int64_t high = INT64_C(9223372036854);

	assert_int_equal(check("TIMESTAMP(9)", timestamp(low, 224192)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(9)", timestamp(low, 224191)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(9)", timestamp(high, 775807)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(9)", timestamp(high, 775808)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(6)", timestamp(high, 775000)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(6)", timestamp(INT64_MAX, 0)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(3)", timestamp(INT64_MAX, 0)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(9)", timestamp(0, 1000000)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(9)", timestamp(0, -1)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP_LTZ(6)", timestamp(-1, 999000)),
					 FLUSS_OK);
	assert_int_equal(check("TIMESTAMP_LTZ(6)", timestamp(-1, 999001)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP_LTZ(3)", timestamp(-1, 1)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(0)", timestamp(-1000, 0)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(0)", timestamp(-1, 0)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(0)", timestamp(0, 1)),
					 FLUSS_DATETIME_OVERFLOW);
	assert_int_equal(check("TIMESTAMP(1)", timestamp(100, 0)), FLUSS_OK);
	assert_int_equal(check("TIMESTAMP(1)", timestamp(110, 0)),
					 FLUSS_DATETIME_OVERFLOW);
}

static void
check_decimal_bytes(int64_t high, uint64_t low, const char *hex)
{
	fluss_value value = decimal(high, low);
	fluss_value back;
	uint8_t		bytes[16];
	uint8_t    *expected;
	size_t		expected_size = test_hex(hex, &expected);
	size_t		size = fluss_decimal_to_bytes(&value, bytes);

	test_same_bytes(bytes + 16 - size, size, expected, expected_size);
	assert_true(fluss_decimal_from_bytes(expected, expected_size, &back));
	assert_true(back.u.decimal.high == high && back.u.decimal.low == low);
	free(expected);
}

static void
test_decimal_bytes(void **unused)
{
	fluss_value value;
	const uint8_t zeros[17] = {0};

	check_decimal_bytes(0, 0, "00");
	check_decimal_bytes(0, 127, "7f");
	check_decimal_bytes(0, 128, "0080");
	check_decimal_bytes(-1, UINT64_MAX, "ff");
	check_decimal_bytes(-1, (uint64_t) -128, "80");
	check_decimal_bytes(-1, (uint64_t) -129, "ff7f");
	check_decimal_bytes(0, UINT64_MAX, "00ffffffffffffffff");
	check_decimal_bytes(-1, 0, "ff0000000000000000");
	check_decimal_bytes(INT64_MAX, UINT64_MAX,
						"7fffffffffffffffffffffffffffffff");
	check_decimal_bytes(INT64_MIN, 0, "80000000000000000000000000000000");
	/* superfluous leading bytes are read */
	assert_true(fluss_decimal_from_bytes(zeros, 16, &value));
	assert_int_equal(value.u.decimal.low, 0);
	assert_false(fluss_decimal_from_bytes(zeros, 0, &value));
	assert_false(fluss_decimal_from_bytes(zeros, 17, &value));
}

/* ---- mappings */

static void
test_mapping(void **unused)
{
	const int32_t columns[] = {2, 0, 1};
	fluss_arena arena;
	fluss_error err;
	const fluss_schema *reader;
	const fluss_schema *older;
	fluss_schema swapped;
	fluss_column swapped_columns[2];
	const int32_t *source;

	fluss_arena_init(&arena, test_host());
	reader = test_schema(&arena, "ROW<a INT, b STRING, c BIGINT>");
	older = test_schema(&arena, "ROW<x INT NOT NULL, y STRING>");
	assert_fluss_ok(fluss_column_mapping(&arena, reader, columns, 3, older,
										 &source, &err), &err);
	assert_int_equal(source[0], -1);
	assert_int_equal(source[1], 0);
	assert_int_equal(source[2], 1);

	/* ids decide, not positions */
	swapped = *older;
	swapped_columns[0] = older->columns[1];
	swapped_columns[1] = older->columns[0];
	swapped.columns = swapped_columns;
	assert_fluss_ok(fluss_column_mapping(&arena, reader, columns, 3, &swapped,
										 &source, &err), &err);
	assert_int_equal(source[1], 1);
	assert_int_equal(source[2], 0);

	/* a changed type */
	older = test_schema(&arena, "ROW<a BIGINT>");
	assert_int_equal(fluss_column_mapping(&arena, reader, columns, 3, older,
										  &source, &err), FLUSS_MALFORMED);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);

	fluss_arena_init(&arena, test_host());
	test_host_fail_alloc_at(1);
	assert_int_equal(fluss_column_mapping(&arena, NULL, NULL, 0, NULL,
										  &source, &err), FLUSS_OUT_OF_MEMORY);
	test_host_fail_alloc_at(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_nulls, test_set_up),
		cmocka_unit_test_setup(test_integers, test_set_up),
		cmocka_unit_test_setup(test_decimals, test_set_up),
		cmocka_unit_test_setup(test_text_and_bytes, test_set_up),
		cmocka_unit_test_setup(test_times, test_set_up),
		cmocka_unit_test_setup(test_timestamps, test_set_up),
		cmocka_unit_test_setup(test_decimal_bytes, test_set_up),
		cmocka_unit_test_setup(test_mapping, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
