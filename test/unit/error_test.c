/*
 * error_test.c
 *	  Error texts, and what server codes mean.
 */
#include <string.h>

#include "support.h"
#include "error.h"

static void
test_server_error(void **unused)
{
	fluss_error err;
	const char	text[] = "Table 'a.b' does not exist.\n\tat java.lang.Foo";

	assert_int_equal(fluss_fail_server(&err, 7, text, strlen(text),
									   "describe table \"%s\"", "b"),
					 FLUSS_SERVER_ERROR);
	assert_string_equal(err.message, "could not describe table \"b\"");
	assert_string_equal(err.detail, "Fluss error 7 (TABLE_NOT_EXIST): "
						"Table 'a.b' does not exist.");
	assert_int_equal(err.server_code, 7);
	assert_int_equal(err.bucket, -1);

	assert_int_equal(fluss_fail_server(&err, 46, NULL, 0, "log in"),
					 FLUSS_AUTH_FAILED);
	assert_string_equal(err.detail, "Fluss error 46 (AUTHENTICATE_EXCEPTION).");
	(void) fluss_fail_server(&err, 4711, "x", 1, "x");
	assert_string_equal(err.detail, "Fluss error 4711 (not known to this client): x.");
}

static void
test_text_is_sane(void **unused)
{
	fluss_error err;
	char		longtext[400];

	(void) fluss_fail(&err, FLUSS_MALFORMED, "a\xff\x01\xc3\xa4\xc3");
	assert_string_equal(err.message, "a??\xc3\xa4?");

	/* 10 + 245 bytes fit: the last character is cut in the middle */
	memset(longtext, 'x', sizeof(longtext));
	memcpy(longtext + 244, "\xc3\xa4", 2);
	longtext[sizeof(longtext) - 1] = '\0';
	(void) fluss_fail(&err, FLUSS_MALFORMED, "could not %s", longtext);
	assert_int_equal(strlen(err.message), 254);

	(void) fluss_fail(&err, FLUSS_MALFORMED, "x");
	assert_string_equal(err.detail, "");
	fluss_error_detail(&err, "One.");
	fluss_error_detail(&err, "Two.");
	assert_string_equal(err.detail, "One. Two.");
	for (int i = 0; i < 100; i++)
		fluss_error_hint(&err, "Advice number %d.", i);
	assert_int_equal(strlen(err.hint), sizeof(err.hint) - 1);
}

static void
test_actions(void **unused)
{
	assert_int_equal(fluss_code_to_action(12), FLUSS_ACTION_REFRESH);
	assert_int_equal(fluss_code_to_action(25), FLUSS_ACTION_RETRY);
	assert_int_equal(fluss_code_to_action(7), FLUSS_ACTION_FAIL);
	assert_int_equal(fluss_code_to_action(-1), FLUSS_ACTION_FAIL);
	assert_int_equal(fluss_code_to_action(9999), FLUSS_ACTION_FAIL);
	for (int code = -2; code < 80; code++)
		assert_non_null(fluss_code_name(code));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server_error),
		cmocka_unit_test(test_text_is_sane),
		cmocka_unit_test(test_actions)
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
