/*
 * lookup_pipeline_test.c
 *	  Lookups that are sent and waited for later, against a simulated server.
 */
#include "fake_cluster.h"

static const int32_t columns[] = {1};
static fluss_lookup_options options;

static void
start(void)
{
	fake_start(4, true);
	fake.buckets[2].leader = 1;
	fake.buckets[3].leader = 1;
	options = (fluss_lookup_options) {
		.columns = columns, .ncolumns = 1, .max_batch_size = 64,
		.max_inflight_requests = 2, .max_buffered_bytes = 1 << 24
	};
}

static int
set_up(void **unused)
{
	test_set_up(unused);
	start();
	return 0;
}

static int
tear_down(void **unused)
{
	fake_end();
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
	return 0;
}

static fluss_lookup *
open_lookup(void)
{
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	return lookup;
}

static void
add_keys(fluss_lookup *lookup, int first, int end)
{
	fluss_error err;

	for (int i = first; i < end; i++)
	{
		fluss_value key = {.u.integer = i};
		int			slot;

		assert_fluss_ok(fluss_lookup_add(lookup, &key, &slot, &err), &err);
	}
}

/* Keys from first on lie in slots from 0 on. */
static void
check_rows(fluss_lookup *lookup, int first, int end)
{
	fluss_error err;

	for (int i = first; i < end; i++)
	{
		fluss_value value;

		assert_fluss_ok(fluss_lookup_wait(lookup, i - first, &err), &err);
		assert_int_equal(fluss_lookup_nrows(lookup, i - first), i % 3 != 0);
		if (i % 3 == 0)
			continue;
		assert_fluss_ok(fluss_lookup_row(lookup, i - first, 0, &value,
											 &err), &err);
		assert_true(value.u.integer == 2 * i);
	}
}

static int64_t
requests(const fluss_lookup *lookup)
{
	return fluss_lookup_counters(lookup)->requests[FLUSS_REQUEST_LOOKUP];
}

/* Two windows in turn, as a join keeps them. */
static void
test_two_windows(void **unused)
{
	fluss_lookup *lookup[2] = {open_lookup(), open_lookup()};
	fluss_error err;

	add_keys(lookup[0], 0, 500);
	assert_fluss_ok(fluss_lookup_send(lookup[0], &err), &err);
	assert_in_range(requests(lookup[0]), 3, 4);
	for (int window = 1; window < 10; window++)
	{
		fluss_lookup *next = lookup[window % 2];
		int			before = fake.inflight;

		fluss_lookup_reset(next);
		add_keys(next, window * 500, window * 500 + 500);
		assert_fluss_ok(fluss_lookup_send(next, &err), &err);
		assert_true(fake.inflight > before || before > 0);
		check_rows(lookup[(window + 1) % 2], window * 500 - 500, window * 500);
	}
	check_rows(lookup[1], 4500, 5000);
	/* two leaders with some 250 keys each */
	assert_in_range(requests(lookup[0]), 5 * 8, 5 * 10);
	fluss_lookup_close(lookup[0]);
	fluss_lookup_close(lookup[1]);
}

/* Sent in three parts: each goes out with the next, none is asked for twice. */
static void
test_sends_add_up(void **unused)
{
	fluss_lookup *lookup = open_lookup();
	fluss_error err;

	for (int i = 0; i < 3; i++)
	{
		add_keys(lookup, 100 * i, 100 * i + 100);
		assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
		assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	}
	check_rows(lookup, 0, 300);
	assert_int_equal(fluss_lookup_counters(lookup)->keys, 300);
	assert_int_equal(fluss_lookup_counters(lookup)->rows, 200);
	assert_in_range(fake.max_inflight, 1, 4);
	fluss_lookup_close(lookup);
}

/* Whatever the keys' buckets are, requests are filled. */
static void
test_requests_are_filled(void **unused)
{
	for (int n = 1; n < 400; n += 7)
	{
		fluss_lookup *lookup;
		fluss_error err;

		start();
		options.max_batch_size = 1 + n % 50;
		lookup = open_lookup();
		add_keys(lookup, 0, n);
		assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
		assert_true(requests(lookup) <= 2 *
					((n + options.max_batch_size - 1) / options.max_batch_size));
		check_rows(lookup, 0, n);
		assert_true(fake.sorted);
		fluss_lookup_close(lookup);
	}
}

/* With lost requests and errors of single buckets. */
static void
test_faults(void **unused)
{
	for (unsigned seed = 1; seed < 30; seed++)
	{
		fluss_lookup *lookup;
		fluss_error err;

		start();
		fake.random = seed * 104729;
		fake.fault_percent = 20;
		fake_error(1, FLUSS_CODE_NOT_LEADER);
		fake_error(1, FLUSS_CODE_NOT_LEADER);
		options.max_batch_size = 10 + (int) seed;
		lookup = open_lookup();
		add_keys(lookup, 0, 300);
		assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
		check_rows(lookup, 0, 300);
		fluss_lookup_close(lookup);
		assert_int_equal(fake.live_requests, 0);
	}
}

/* Time that the caller spends elsewhere is not the server's. */
static void
test_time_away(void **unused)
{
	fluss_lookup *lookup = open_lookup();
	fluss_error err;

	fake_error(1, FLUSS_CODE_NOT_LEADER);
	fake_error(1, FLUSS_CODE_NOT_LEADER);
	fake_error(1, FLUSS_CODE_NOT_LEADER);
	add_keys(lookup, 0, 300);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	for (int i = 0; i < 300; i++)
	{
		test_host_advance_ms(2 * FAKE_TIMEOUT_MS);
		assert_fluss_ok(fluss_lookup_wait(lookup, i, &err), &err);
	}
	fluss_lookup_close(lookup);
}

static void
test_misuse(void **unused)
{
	fluss_lookup *lookup = open_lookup();
	fluss_value value;
	fluss_error err;

	assert_int_equal(fluss_lookup_wait(lookup, 0, &err),
					 FLUSS_INVALID_ARGUMENT);
	add_keys(lookup, 0, 1);
	assert_int_equal(fluss_lookup_wait(lookup, 0, &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_int_equal(fluss_lookup_row(lookup, 0, 0, &value, &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	assert_fluss_ok(fluss_lookup_wait(lookup, 0, &err), &err);
	assert_int_equal(fluss_lookup_row(lookup, 0, 0, &value, &err),
					 FLUSS_INVALID_ARGUMENT);
	/* closed, and reset, with answers on their way */
	add_keys(lookup, 1, 300);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	fluss_lookup_reset(lookup);
	add_keys(lookup, 5, 300);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	check_rows(lookup, 5, 300);
	fluss_lookup_reset(lookup);
	add_keys(lookup, 5, 300);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	fluss_lookup_close(lookup);
}

/* After an interruption what has no answer can be sent again. */
static void
test_interrupts(void **unused)
{
	fluss_lookup *lookup = open_lookup();
	fluss_error err;

	add_keys(lookup, 0, 300);
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = fluss_lookup_run(lookup, &err);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
	fake.interrupt_poll = 0;
	check_rows(lookup, 0, 300);
	fluss_lookup_close(lookup);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_windows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sends_add_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_requests_are_filled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_time_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_misuse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupts, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
