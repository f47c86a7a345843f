/*
 * type_test.c
 *	  SQL spelling of types, both ways.
 */
#include <string.h>

#include "support.h"
#include "schema.h"

static fluss_status
parse(fluss_arena *arena, const char *text, fluss_type *type)
{
	fluss_error err;

	fluss_error_init(&err);
	return fluss_type_parse(arena, text, type, &err);
}

static void
check_spelling(const char *text, const char *printed)
{
	fluss_arena arena;
	fluss_type	type;
	fluss_type	again;
	char		out[256];

	fluss_arena_init(&arena, test_host());
	assert_int_equal(parse(&arena, text, &type), FLUSS_OK);
	fluss_type_print(&type, out, sizeof(out));
	assert_string_equal(out, printed);
	assert_int_equal(parse(&arena, out, &again), FLUSS_OK);
	assert_true(fluss_type_same(&type, &again));
	assert_int_equal(type.nullable, again.nullable);
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_spellings(void **unused)
{
	check_spelling("boolean", "BOOLEAN");
	check_spelling(" TinyInt Not  Null ", "TINYINT NOT NULL");
	check_spelling("INT", "INT");
	check_spelling("integer not null", "INT NOT NULL");
	check_spelling("decimal", "DECIMAL(10, 0)");
	check_spelling("decimal(5)", "DECIMAL(5, 0)");
	check_spelling("decimal(38,38) not null", "DECIMAL(38, 38) NOT NULL");
	check_spelling("char", "CHAR(1)");
	check_spelling("BINARY ( 16 )", "BINARY(16)");
	check_spelling("time", "TIME(0)");
	check_spelling("timestamp", "TIMESTAMP(6)");
	check_spelling("timestamp_ltz(9)", "TIMESTAMP_LTZ(9)");
	check_spelling("TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
				   "TIMESTAMP_LTZ(3) NOT NULL");
	check_spelling("array<string not null>", "ARRAY<STRING NOT NULL>");
	check_spelling("map<string, array<int>> not null",
				   "MAP<STRING NOT NULL, ARRAY<INT>> NOT NULL");
	check_spelling("row<a int, `b c` map<int,int>, d char(2), e date, f bytes>",
				   "ROW<`a` INT, `b c` MAP<INT NOT NULL, INT>, `d` CHAR(2), `e` DATE, `f` BYTES>");
}

static void
test_refused(void **unused)
{
	static const char *const texts[] = {
		"", " ", "intt", "int(3)", "decimal(0)", "decimal(39)",
		"decimal(5,6)", "decimal(99999999999)", "decimal(-1)", "char(0)",
		"char(", "time(10)", "timestamp(3", "int not", "int null null",
		"varchar(3)", "array", "array<", "array<int", "array<int,int>",
		"map<int>", "map<int,int,int>", "row<>", "row<int>", "row<`a int>",
		"row<a` int>",
		"int not null not null", "timestamp with local"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
	{
		fluss_arena arena;
		fluss_type	type;

		fluss_arena_init(&arena, test_host());
		if (parse(&arena, texts[i], &type) != FLUSS_INVALID_ARGUMENT)
			fail_msg("\"%s\" was not refused", texts[i]);
		fluss_arena_free(&arena);
	}
}

static void
test_depth_is_limited(void **unused)
{
	char		text[4096] = "";
	fluss_arena arena;
	fluss_type	type;

	for (int i = 0; i < 500; i++)
		strcat(text, "array<");
	fluss_arena_init(&arena, test_host());
	assert_int_equal(parse(&arena, text, &type), FLUSS_INVALID_ARGUMENT);
	fluss_arena_free(&arena);
}

static void
test_print_is_cut(void **unused)
{
	fluss_type	type = {.id = FLUSS_DECIMAL,.precision = 10,.scale = 2};
	char		out[8];

	for (size_t size = 0; size < sizeof(out); size++)
	{
		memset(out, 'x', sizeof(out));
		fluss_type_print(&type, out, size);
		assert_int_equal(out[size], 'x');
		if (size > 0)
			assert_int_equal(strlen(out), size - 1);
	}
}

/* A cut text ends with a whole character, and nothing comes after it. */
static void
test_print_is_cut_between_characters(void **unused)
{
	static const char whole[] = "ROW<`\xe2\x82\xac\xc3\xa9` INT>";
	const fluss_column field = {
		.name = "\xe2\x82\xac\xc3\xa9",
		.type = {.id = FLUSS_INTEGER,.nullable = true}
	};
	fluss_type	type = {
		.id = FLUSS_ROW,.nullable = true,.nchildren = 1,.children = &field
	};
	char		out[sizeof(whole)];

	for (size_t size = 1; size <= sizeof(whole); size++)
	{
		size_t		length = size - 1;

		/* the characters begin at 5 and at 8 */
		if (length > 5 && length < 8)
			length = 5;
		else if (length == 9)
			length = 8;
		fluss_type_print(&type, out, size);
		assert_int_equal(strlen(out), length);
		assert_memory_equal(out, whole, length);
	}
}

static void
test_same(void **unused)
{
	static const char *const types[] = {
		"int", "bigint", "decimal(10,2)", "decimal(10,3)", "decimal(11,2)",
		"char(2)", "char(3)", "time(1)", "time(2)", "timestamp(3)",
		"timestamp_ltz(3)", "array<int>", "array<string>", "row<a int>",
		"row<a int, b int>"
	};
	int			n = sizeof(types) / sizeof(types[0]);
	fluss_arena arena;
	fluss_type	a;
	fluss_type	b;

	fluss_arena_init(&arena, test_host());
	for (int i = 0; i < n; i++)
	{
		for (int j = 0; j < n; j++)
		{
			assert_int_equal(parse(&arena, types[i], &a), FLUSS_OK);
			assert_int_equal(parse(&arena, types[j], &b), FLUSS_OK);
			assert_int_equal(fluss_type_same(&a, &b), i == j);
		}
	}
	assert_int_equal(parse(&arena, "row<z int not null> not null", &a),
					 FLUSS_OK);
	assert_int_equal(parse(&arena, "row<a int>", &b), FLUSS_OK);
	assert_true(fluss_type_same(&a, &b));
	fluss_arena_free(&arena);
}

static void
test_no_memory(void **unused)
{
	for (int n = 1;; n++)
	{
		fluss_arena arena;
		fluss_type	type;
		fluss_status status;
		bool		failed;

		fluss_arena_init(&arena, test_host());
		test_host_fail_alloc_at(n);
		status = parse(&arena, "row<a row<b int, c int, d int>, e map<int,int>>",
					   &type);
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		fluss_arena_free(&arena);
		assert_int_equal(test_host_live_blocks(), 0);
		assert_int_equal(status, failed ? FLUSS_OUT_OF_MEMORY : FLUSS_OK);
		if (!failed)
			return;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_spellings, test_set_up),
		cmocka_unit_test_setup(test_refused, test_set_up),
		cmocka_unit_test_setup(test_depth_is_limited, test_set_up),
		cmocka_unit_test_setup(test_print_is_cut, test_set_up),
		cmocka_unit_test_setup(test_print_is_cut_between_characters, test_set_up),
		cmocka_unit_test_setup(test_same, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
