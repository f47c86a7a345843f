/*
 * fetch_remote_test.c
 *	  Log scans over offsets that lie in remote storage, against a simulated
 *	  server: everything a segment can be, and every way its file can be wrong.
 */
#include "fake_remote.h"
#include "fake_scan.h"

/* Bucket 0 with n batches of ten rows, the first remote ones in segments. */
static void
make_log(int nbatches, int remote, int segment_batches)
{
	fake_start(1, false);
	for (int i = 0; i < nbatches; i++)
		fake_append(0, 10, 1 + i / 4 % 2);
	fake.buckets[0].remote_below = 10 * remote;
	fake_remote.segment_batches = segment_batches;
}

static void
test_mixed_with_local(void **unused)
{
	scan_result result;

	make_log(20, 12, 4);
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 200);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_REMOTE_READ], 3);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 2);
	assert_true(result.counters.bytes > fake_remote.bytes);
	assert_int_equal(fake_remote.live, 0);
	/* segments are not projected, nor are old schemas */
	options.columns = name_and_id;
	options.ncolumns = 2;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 200);
	assert_true(result.nulls > 80);
	options.ncolumns = 0;
	assert_rows(scan_bucket(0, ALL), 0, 200);
}

static void
test_every_remote_range(void **unused)
{
	make_log(8, 6, 2);
	for (int start = 0; start < 80; start += 3)
	{
		for (int end = start; end <= 80; end += 7)
			assert_rows(scan_bucket(start, end), start, end);
		assert_rows(scan_bucket(start, ALL), start, 80);
	}
	fake_remote.named = 1;
	assert_rows(scan_bucket(0, ALL), 0, 80);
	fake_remote.named = 0;
	fake_remote.segment_batches = 0;
	assert_rows(scan_bucket(0, ALL), 0, 80);
}

/* Empty batches take offsets, also at the end of a segment. */
static void
test_remote_empty_batches(void **unused)
{
	fake_start(1, false);
	for (int i = 0; i < 12; i++)
		fake_append(0, i % 3 == 2 ? 0 : 10, 2);
	fake.buckets[0].remote_below = fake.buckets[0].batches[9].base;
	fake_remote.segment_batches = 3;
	assert_int_equal(scan_bucket(0, ALL).rows, 80);
	assert_int_equal(scan_bucket(0, ALL).status, FLUSS_OK);
}

/* Parts end within batches, and a batch may be larger than a part. */
static void
test_parts(void **unused)
{
	scan_result result;
	int			n;

	fake_start(1, false);
	for (int i = 0; i < 40; i++)
		fake_append(0, i % 5 == 0 ? 9000 : 300 + i, 2);
	n = (int) fake.buckets[0].end;
	fake.buckets[0].remote_below = n;
	fake_remote.segment_batches = 15;
	options.fetch_max_bytes = 1;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, n);
	assert_true(result.counters.requests[FLUSS_REQUEST_REMOTE_READ] > 8);
	options.fetch_max_bytes = 1 << 24;
	options.max_buffered_bytes = 1 << 20;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, n);
	options.max_buffered_bytes = 1 << 16;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_MEMORY_CAP);
}

/* A range far away asks the server, which knows the place. */
static void
test_remote_ranges(void **unused)
{
	fluss_range ranges[3] = {{-1, 0, 5, 15}, {-1, 0, 50000, 50010}, {-1, 0, 99990, ALL}};
	scan_result result;

	fake_start(1, false);
	for (int i = 0; i < 1000; i++)
		fake_append(0, 100, 2);
	fake.buckets[0].remote_below = 99000;
	fake_remote.segment_batches = 300;
	result = run_scan(ranges, 3, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 30);
	assert_int_equal(result.sum, scan_sum(5, 15) + scan_sum(50000, 50010) +
					 scan_sum(99990, 100000));
	assert_true(fake_remote.bytes < 600000);
}

static void
test_remote_many_buckets(void **unused)
{
	fluss_range ranges[4];
	scan_result result;

	fake_start(4, false);
	for (int b = 0; b < 4; b++)
	{
		for (int i = 0; i < 20; i++)
			fake_append(b, 10, 2);
		fake.buckets[b].remote_below = 60 * b;
		fake.buckets[b].leader = b % 2;
		ranges[b] = (fluss_range) {-1, b, 0, ALL};
	}
	fake_remote.segment_batches = 4;
	result = run_scan(ranges, 4, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 800);
	assert_int_equal(result.sum, 4 * scan_sum(0, 200));
}

/* The end is pinned by the answer that names the segments. */
static void
test_remote_end_is_pinned(void **unused)
{
	fluss_range range = {-1, 0, 0, ALL};
	fluss_ends *ends;
	fluss_error err;

	make_log(20, 10, 4);
	fake.buckets[0].high_watermark = 130;
	assert_rows(scan_bucket(0, ALL), 0, 130);
	assert_fluss_ok(fluss_ends_open(fake_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_ends_pin(ends, -1, 0, 55, &err), &err);
	assert_rows(run_scan(&range, 1, ends), 0, 55);
	fluss_ends_close(ends);
}

/* A scan with an upper time bound ends in the midst of a segment. */
static void
test_remote_stop(void **unused)
{
	fluss_range range = {-1, 0, 95, ALL, 0, 1150};
	scan_result result;

	/* batch n was committed at 1000 + 10 n */
	make_log(20, 18, 9);
	result = run_scan(&range, 1, NULL);
	assert_rows(result, 95, 150);
	range.stop_ms = 1090;
	assert_int_equal(run_scan(&range, 1, NULL).rows, 0);
	range.stop_ms = 0;
	range.from_ms = 1120;
	assert_rows(run_scan(&range, 1, NULL), 120, 200);
}

/* ---- faults */

static void
test_segment_is_gone(void **unused)
{
	scan_result result;

	make_log(20, 12, 4);
	fake_remote.missing = 1;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 200);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 3);
	fake_remote.missing = 1000;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_DATA_LOST);
	assert_int_equal(result.err.bucket, 0);
	assert_true(fake_remote.missing > 990);
	/* retention passed it meanwhile */
	fake_remote.missing = 1;
	fake.buckets[0].log_start = 40;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.rows, 160);
}

static void
test_remote_network(void **unused)
{
	make_log(20, 12, 4);
	fake_remote.lost = 3;
	assert_rows(scan_bucket(0, ALL), 0, 200);
	fake_remote.lost = 100000;
	assert_int_equal(scan_bucket(0, ALL).status, FLUSS_SEND_FAILED);
	fake_remote.lost = 0;
	fake_remote.refused = FLUSS_NOT_PERMITTED;
	assert_int_equal(scan_bucket(0, ALL).status, FLUSS_NOT_PERMITTED);
	fake_remote.refused = FLUSS_UNSUPPORTED;
	assert_int_equal(scan_bucket(0, ALL).status, FLUSS_UNSUPPORTED);
}

static void
assert_malformed(const char *detail)
{
	scan_result result = scan_bucket(0, ALL);

	assert_int_equal(result.status, FLUSS_MALFORMED);
	if (strstr(result.err.message, "mem://0/id/") == NULL &&
		strstr(result.err.detail, "mem://0/id/") == NULL)
		fail_msg("no file: %s (%s)", result.err.message, result.err.detail);
	if (strstr(result.err.detail, detail) == NULL)
		fail_msg("\"%s\": %s", detail, result.err.detail);
	assert_int_equal(result.err.bucket, 0);
}

static void
test_wrong_files(void **unused)
{
	make_log(20, 12, 4);
	fake_remote.short_by = 1;
	assert_malformed("instead of");
	fake_remote.short_by = 500;
	assert_malformed("instead of");
	fake_remote.short_by = 0;
	fake_remote.wrong_end = 1;
	assert_malformed("ends at offset");
	fake_remote.wrong_end = -1;
	assert_malformed("passes the end");
	fake_remote.wrong_end = 0;
	/* the checksum of the first batch */
	fake_remote.flip_at = 100;
	assert_malformed("checksum");
	options.check_crc = false;
	fake_remote.flip_at = 3;
	assert_malformed("offset that follows");
	fake_remote.flip_at = 10;
	assert_malformed("not whole");
	fake_remote.flip_at = 11;
	assert_malformed("");
}

/* No wrong byte brings a wrong row, a hang or a crash. */
static void
test_every_wrong_byte(void **unused)
{
	int			good = 0;

	make_log(6, 4, 2);
	for (int at = 1; at < 800; at++)
	{
		scan_result result;

		fake_remote.flip_at = at;
		result = scan_bucket(0, ALL);
		if (result.status != FLUSS_MALFORMED &&
			result.status != FLUSS_UNSUPPORTED)
		{
			assert_rows(result, 0, 60);
			good++;
		}
	}
	/* the timestamps of two batches are not covered by the checksum */
	assert_int_equal(good, 16);
}

static void
test_random_faults(void **unused)
{
	for (unsigned seed = 1; seed < 60; seed++)
	{
		make_log(40, 30, 1 + (int) seed % 7);
		fake.random = seed * 7919;
		fake.fault_percent = 10;
		fake_remote.lost = (int) seed % 4;
		fake_remote.missing = (int) seed % 2;
		options.fetch_max_bytes = 1 + (int) seed * 100;
		assert_rows(scan_bucket(0, ALL), 0, 400);
		assert_int_equal(fake_remote.live, 0);
	}
}

static void
make_two_buckets(void)
{
	fake_start(2, false);
	for (int i = 0; i < 5; i++)
	{
		fake_append(0, 10, 1 + i / 3);
		fake_append(1, 10, 2);
	}
	fake.buckets[0].remote_below = 30;
	fake.buckets[1].remote_below = 10;
	fake_remote.segment_batches = 2;
	options.fetch_max_bytes = 500;
}

static void
test_remote_interrupts(void **unused)
{
	make_two_buckets();
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = quiet_scan();
		assert_int_equal(fake.live_requests, 0);
		assert_int_equal(fake_remote.live, 0);
		assert_int_equal(test_host_live_blocks(), 0);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
	fake.interrupt_poll = 0;
}

static void
test_remote_allocations(void **unused)
{
	make_two_buckets();
	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = quiet_scan();
		assert_int_equal(fake_remote.live, 0);
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
		cmocka_unit_test_setup(test_mixed_with_local, scan_set_up),
		cmocka_unit_test_setup(test_every_remote_range, scan_set_up),
		cmocka_unit_test_setup(test_remote_empty_batches, scan_set_up),
		cmocka_unit_test_setup(test_parts, scan_set_up),
		cmocka_unit_test_setup(test_remote_ranges, scan_set_up),
		cmocka_unit_test_setup(test_remote_many_buckets, scan_set_up),
		cmocka_unit_test_setup(test_remote_end_is_pinned, scan_set_up),
		cmocka_unit_test_setup(test_remote_stop, scan_set_up),
		cmocka_unit_test_setup(test_segment_is_gone, scan_set_up),
		cmocka_unit_test_setup(test_remote_network, scan_set_up),
		cmocka_unit_test_setup(test_wrong_files, scan_set_up),
		cmocka_unit_test_setup(test_every_wrong_byte, scan_set_up),
		cmocka_unit_test_setup(test_random_faults, scan_set_up),
		cmocka_unit_test_setup(test_remote_interrupts, scan_set_up),
		cmocka_unit_test_setup(test_remote_allocations, scan_set_up)
	};

	return cmocka_run_group_tests_name("fetch_remote", tests, NULL, scan_tear_down);
}
