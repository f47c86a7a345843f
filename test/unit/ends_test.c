/*
 * ends_test.c
 *	  Pinned ends.
 */
#include "support.h"

static void
test_first_value_stays(void **unused)
{
	fluss_ends *ends;
	fluss_error err;
	int64_t		offset;

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_false(fluss_ends_get(ends, FLUSS_NO_PARTITION, 0, &offset));
	assert_fluss_ok(fluss_ends_pin(ends, FLUSS_NO_PARTITION, 0, 17, &err), &err);
	assert_fluss_ok(fluss_ends_pin(ends, FLUSS_NO_PARTITION, 0, 99, &err), &err);
	assert_true(fluss_ends_get(ends, FLUSS_NO_PARTITION, 0, &offset));
	assert_int_equal(offset, 17);
	fluss_ends_close(ends);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Every order of arrival, partitions and buckets mixed. */
static void
test_many_buckets(void **unused)
{
	fluss_ends *ends;
	fluss_error err;
	int64_t		offset;

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	for (int i = 0; i < 500; i++)
	{
		int			n = i * 263 % 500;

		assert_fluss_ok(fluss_ends_pin(ends, n % 7 - 1, n / 7, n, &err), &err);
	}
	for (int n = 0; n < 500; n++)
	{
		assert_true(fluss_ends_get(ends, n % 7 - 1, n / 7, &offset));
		assert_int_equal(offset, n);
	}
	assert_false(fluss_ends_get(ends, 7, 0, &offset));
	assert_false(fluss_ends_get(ends, -1, 1000, &offset));
	fluss_ends_close(ends);
	fluss_ends_close(NULL);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_no_memory(void **unused)
{
	fluss_ends *ends;
	fluss_error err;
	int64_t		offset;

	test_host_fail_alloc_at(1);
	assert_int_equal(fluss_ends_open(test_host(), &ends, &err),
					 FLUSS_OUT_OF_MEMORY);
	assert_null(ends);
	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	test_host_fail_alloc_at(1);
	assert_int_equal(fluss_ends_pin(ends, -1, 0, 5, &err), FLUSS_OUT_OF_MEMORY);
	assert_false(fluss_ends_get(ends, -1, 0, &offset));
	/* and it works again when there is memory again */
	assert_fluss_ok(fluss_ends_pin(ends, -1, 0, 6, &err), &err);
	assert_true(fluss_ends_get(ends, -1, 0, &offset));
	assert_int_equal(offset, 6);
	fluss_ends_close(ends);
	assert_int_equal(test_host_live_blocks(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_first_value_stays, test_set_up),
		cmocka_unit_test_setup(test_many_buckets, test_set_up),
		cmocka_unit_test_setup(test_no_memory, test_set_up)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
