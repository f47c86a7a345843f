/*
 * partition_text_test.c
 *	  Partition values as text, against what the Java client prints.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "values.h"
#include "partition.h"

static void
check_both_ways(const fluss_column *column, const fluss_value *value,
				const char *expected)
{
	char		text[FLUSS_PARTITION_TEXT_SIZE];
	uint8_t		buffer[FLUSS_PARTITION_TEXT_SIZE];
	fluss_value back;
	fluss_error err;

	assert_fluss_ok(fluss_partition_text(&column->type, value, text, &err),
					&err);
	assert_string_equal(text, expected);
	assert_fluss_ok(fluss_partition_value(&column->type, text, buffer, &back,
										  &err), &err);
	test_same_value(column, &back, value);
}

/* "INT" and "42" as in the vectors. */
static void
check_vector(const char *type, const char *value, const char *expected)
{
	char		row_type[128];
	char		row[256];
	fluss_arena arena;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	snprintf(row_type, sizeof(row_type), "ROW<`v` %s>", type);
	snprintf(row, sizeof(row), "(%s)", value);
	schema = test_schema(&arena, row_type);
	check_both_ways(&schema->columns[0], test_row(&arena, schema, row),
					expected);
	fluss_arena_free(&arena);
}

static void
test_java_vectors(void **unused)
{
	json_t	   *vectors = test_vectors("partition_values.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
		check_vector(test_string(vector, "type"), test_string(vector, "value"),
					 test_string(vector, "partition_value"));
	json_decref(vectors);
}

static void
check_double(double v, const char *expected)
{
	const fluss_column column = {
		.name = "v", .type = {.id = FLUSS_DOUBLE, .nullable = true}
	};
	fluss_value value = {.u.float8 = v};

	check_both_ways(&column, &value, expected);
}

static void
check_float(float v, const char *expected)
{
	const fluss_column column = {
		.name = "v", .type = {.id = FLUSS_FLOAT, .nullable = true}
	};
	fluss_value value = {.u.float4 = v};

	check_both_ways(&column, &value, expected);
}

/* The borders of notation, subnormal numbers, signs. */
static void
test_floating_point(void **unused)
{
	check_double(0.0, "0_0");
	check_double(-0.0, "-0_0");
	check_double(1.0, "1_0");
	check_double(100.0, "100_0");
	check_double(123456.789, "123456_789");
	check_double(9999999.0, "9999999_0");
	check_double(1e7, "1_0E7");
	check_double(12345678.5, "1_23456785E7");
	check_double(0.001, "0_001");
	check_double(0.01, "0_01");
	check_double(0.1, "0_1");
	check_double(0.00123, "0_00123");
	check_double(0.0009999, "9_999E-4");
	check_double(-0.0625, "-0_0625");
	check_double(4.9e-324, "4_9E-324");
	check_double(1.7976931348623157e308, "1_7976931348623157E308");
	check_double(2e-323, "2_0E-323");
	check_double(1e23, "1_0E23");
	check_double(1.0 / 3, "0_3333333333333333");
	check_double(INFINITY, "Inf");
	check_float(1.1f, "1_1");
	check_float(16777216.0f, "1_6777216E7");
	check_float(1.4e-45f, "1_4E-45");
	check_float(3.4028235e38f, "3_4028235E38");
	check_float(0.33333334f, "0_33333334");
	check_float(-2.0f, "-2_0");
}

static void
test_edges(void **unused)
{
	check_vector("TINYINT", "-128", "-128");
	check_vector("BIGINT", "-9223372036854775808", "-9223372036854775808");
	check_vector("BIGINT", "9223372036854775807", "9223372036854775807");
	check_vector("DATE", "0", "1970-01-01");
	check_vector("DATE", "11016", "2000-02-29");
	check_vector("DATE", "-719528", "0000-01-01");
	check_vector("DATE", "-719529", "-001-12-31");
	check_vector("DATE", "2932897", "10000-01-01");
	check_vector("DATE", "2147483647", "5881580-07-11");
	check_vector("DATE", "-2147483648", "-5877641-06-23");
	check_vector("TIME(3)", "86399999", "23-59-59_999");
	check_vector("TIME(0)", "0", "00-00-00_000");
	check_vector("TIMESTAMP(9)", "ntz(ms=-1,nano=999999)",
				 "1969-12-31-23-59-59_999999999");
	check_vector("TIMESTAMP(9)", "ntz(ms=0,nano=1)",
				 "1970-01-01-00-00-00_000000001");
	check_vector("BOOLEAN", "false", "false");
	check_vector("STRING", "_x", "_x");
}

static void
refuse_value(const char *type, const char *value)
{
	char		row_type[128];
	char		row[512];
	char		text[FLUSS_PARTITION_TEXT_SIZE];
	fluss_arena arena;
	const fluss_schema *schema;
	fluss_error err;

	fluss_arena_init(&arena, test_host());
	snprintf(row_type, sizeof(row_type), "ROW<`v` %s>", type);
	snprintf(row, sizeof(row), "(%s)", value);
	schema = test_schema(&arena, row_type);
	assert_int_equal(fluss_partition_text(&schema->columns[0].type,
										  test_row(&arena, schema, row), text,
										  &err), FLUSS_VALUE_OUT_OF_RANGE);
	fluss_arena_free(&arena);
}

static void
test_values_that_name_no_partition(void **unused)
{
	char		longest[202];

	refuse_value("STRING", "a b");
	refuse_value("STRING", "a$b");
	refuse_value("STRING", "a.b");
	refuse_value("STRING", "__x");
	refuse_value("STRING", "\xc3\xa9");
	refuse_value("STRING", "null");
	refuse_value("DECIMAL(5, 2)", "dec(1.50)");
	refuse_value("TIMESTAMP(3)", "ntz(ms=253402300800000,nano=0)");
	memset(longest, 'x', 201);
	longest[201] = '\0';
	refuse_value("STRING", longest);
	longest[200] = '\0';
	check_vector("STRING", longest, longest);
}

static void
refuse_text(fluss_type_id id, const char *text)
{
	const fluss_type type = {.id = id, .length = 8, .precision = 3};
	uint8_t		buffer[FLUSS_PARTITION_TEXT_SIZE];
	fluss_value value;
	fluss_error err;

	assert_int_equal(fluss_partition_value(&type, text, buffer, &value, &err),
					 FLUSS_MALFORMED);
}

static void
test_texts_of_no_value(void **unused)
{
	refuse_text(FLUSS_BOOLEAN, "TRUE");
	refuse_text(FLUSS_TINYINT, "128");
	refuse_text(FLUSS_TINYINT, "-129");
	refuse_text(FLUSS_INTEGER, "");
	refuse_text(FLUSS_INTEGER, "-");
	refuse_text(FLUSS_INTEGER, "1x");
	refuse_text(FLUSS_BIGINT, "9223372036854775808");
	refuse_text(FLUSS_BIGINT, "99999999999999999999");
	refuse_text(FLUSS_BYTES, "abc");
	refuse_text(FLUSS_BYTES, "AB");
	refuse_text(FLUSS_DATE, "2023-02-29");
	refuse_text(FLUSS_DATE, "2023-13-01");
	refuse_text(FLUSS_DATE, "2023-1-01");
	refuse_text(FLUSS_DATE, "2023-01-01-");
	refuse_text(FLUSS_DATE, "9999999-01-01");
	refuse_text(FLUSS_TIME, "24-00-00_000");
	refuse_text(FLUSS_TIME, "00-00-00_0000");
	refuse_text(FLUSS_TIMESTAMP, "2023-01-01-00-00-00");
	refuse_text(FLUSS_TIMESTAMP, "2023-01-01-00-00-00_1234567890");
	refuse_text(FLUSS_DOUBLE, "1_0_0");
	refuse_text(FLUSS_DOUBLE, "");
	refuse_text(FLUSS_DOUBLE, "0x10");
	refuse_text(FLUSS_FLOAT, "nan");
	refuse_text(FLUSS_DECIMAL, "1");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_java_vectors),
		cmocka_unit_test(test_floating_point),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_values_that_name_no_partition),
		cmocka_unit_test(test_texts_of_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
