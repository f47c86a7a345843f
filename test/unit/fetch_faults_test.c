/*
 * fetch_faults_test.c
 *	  Log scans against a simulated server that fails, falls silent or is
 *	  interrupted.
 */
#include "fake_scan.h"

/* ---- trouble */

static void
test_retries(void **unused)
{
	scan_result result;

	for (int i = 0; i < 5; i++)
		fake_append(0, 10, 2);
	fake_error(0, FLUSS_CODE_NOT_LEADER);
	fake_error(0, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET);
	fake_error(0, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET);
	fake_error(0, 44);
	fake_error(0, 24);
	fake_error(0, 10);
	fake.lose_request = 3;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 50);
	assert_in_range(result.counters.requests[FLUSS_REQUEST_FETCH], 7, 8);
	assert_in_range(fake.nforgets, 5, 6);
}

static void
test_permanent_errors(void **unused)
{
	scan_result result;

	fake_append(0, 10, 2);
	fake_error(0, FLUSS_CODE_AUTHORIZATION);
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_SERVER_ERROR);
	assert_int_equal(result.err.server_code, FLUSS_CODE_AUTHORIZATION);
	assert_int_equal(result.err.bucket, 0);
	/* never a leader: until the time is up */
	for (int i = 0; i < 60; i++)
		fake_error(0, FLUSS_CODE_NOT_LEADER);
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_SERVER_ERROR);
	assert_in_range(result.counters.requests[FLUSS_REQUEST_FETCH], 25, 45);
}

static void
test_table_made_again(void **unused)
{
	scan_result result;

	fake.made_again = true;
	for (int i = 0; i < 5; i++)
		fake_error(0, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET);
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_TABLE_CHANGED);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 2);
}

static void
test_silent_server(void **unused)
{
	scan_result result;

	fake_append(0, 10, 2);
	fake.silent = true;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_TIMED_OUT);
}

/* A cursor that is left alone while a bucket is being tried again. */
static void
test_time_away(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 0, ALL}, {-1, 1, 0, ALL}};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_error err;
	fluss_scan_item item = FLUSS_SCAN_BATCH;
	int			nbatches = 0;

	fake_start(2, false);
	for (int i = 0; i < 20; i++)
		fake_append(i % 2, 10, 2);
	fake_error(1, FLUSS_CODE_NOT_LEADER);
	fake_error(1, FLUSS_CODE_NOT_LEADER);
	options.fetch_max_bytes_for_bucket = 10;
	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
									ranges, 2, &options, ends, &scan, &err),
					&err);
	while (item != FLUSS_SCAN_END)
	{
		const fluss_batch *batch;
		fluss_loss	loss;

		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err),
						&err);
		nbatches += item == FLUSS_SCAN_BATCH;
		test_host_advance_ms(3600 * 1000);
	}
	assert_int_equal(nbatches, 20);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_high_watermark_steps_back(void **unused)
{
	fluss_range range = {-1, 0, 0, ALL};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_scan_item item;
	const fluss_batch *batch;
	fluss_loss	loss;
	fluss_error err;

	fake_append(0, 10, 2);
	fake.buckets[0].high_watermark = 0;
	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_ends_pin(ends, -1, 0, 10, &err), &err);
	assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
									&range, 1, &options, ends, &scan, &err),
					&err);
	assert_int_equal(fluss_scan_next(scan, &item, &batch, &loss, &err),
					 FLUSS_TIMED_OUT);
	assert_non_null(strstr(err.detail, "high watermark"));
	fluss_scan_close(scan);
	fluss_ends_close(ends);
}

/* Anything may fail at any time; what comes is right all the same. */
static void
test_random_faults(void **unused)
{
	fluss_range ranges[4];

	options.columns = name_and_id;
	options.ncolumns = 2;
	options.fetch_max_bytes = 3000;
	for (unsigned seed = 1; seed < 60; seed++)
	{
		int64_t		expected = 0;
		scan_result result;

		fake_start(4, false);
		fake.random = seed * 7919;
		fake.fault_percent = 20;
		for (int b = 0; b < 4; b++)
		{
			fake.buckets[b].leader = b / 2;
			ranges[b] = (fluss_range) {-1, b, b * 3, ALL};
			for (int i = 0; i < 10; i++)
			{
				fake_append(b, (int) (seed + i) % 9, 1 + (i > 4));
				fake.buckets[b].batches[i].no_projection = (i + seed) % 11 == 0;
			}
			for (int i = 0; i < 10; i++)
			{
				const fake_batch *batch = &fake.buckets[b].batches[i];

				for (int r = 0; r < batch->count; r++)
					expected += batch->base + r >= b * 3;
			}
		}
		result = run_scan(ranges, 4, NULL);
		if (result.status != FLUSS_OK)
			fail_msg("seed %u: %s", seed, result.err.message);
		assert_int_equal(result.rows, expected);
		assert_int_equal(result.nlosses, 0);
	}
}

/* ---- memory and interruptions */

static void
test_interrupt_every_wait(void **unused)
{
	fake_start(2, false);
	for (int i = 0; i < 5; i++)
	{
		fake_append(0, 10, 2);
		fake_append(1, 10, 2);
	}
	options.fetch_max_bytes = 10;
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = quiet_scan();
		assert_int_equal(fake.live_requests, 0);
		assert_int_equal(test_host_live_blocks(), 0);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
	fake.interrupt_poll = 0;
}

static void
test_fail_every_allocation(void **unused)
{
	fake_start(2, false);
	for (int i = 0; i < 5; i++)
	{
		fake_append(0, 10, 1 + i / 3);
		fake_append(1, 10, 2);
	}
	options.fetch_max_bytes = 500;
	options.columns = name_and_id;
	options.ncolumns = 2;
	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = quiet_scan();
		assert_int_equal(fake.live_requests, 0);
		assert_int_equal(test_host_live_blocks(), 0);
		if (!test_host_alloc_failed())
		{
			assert_int_equal(status, FLUSS_OK);
			break;
		}
		assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	test_host_fail_alloc_at(0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_retries, scan_set_up),
		cmocka_unit_test_setup(test_permanent_errors, scan_set_up),
		cmocka_unit_test_setup(test_table_made_again, scan_set_up),
		cmocka_unit_test_setup(test_silent_server, scan_set_up),
		cmocka_unit_test_setup(test_time_away, scan_set_up),
		cmocka_unit_test_setup(test_high_watermark_steps_back, scan_set_up),
		cmocka_unit_test_setup(test_random_faults, scan_set_up),
		cmocka_unit_test_setup(test_interrupt_every_wait, scan_set_up),
		cmocka_unit_test_setup(test_fail_every_allocation, scan_set_up)
	};

	return cmocka_run_group_tests(tests, NULL, scan_tear_down);
}
