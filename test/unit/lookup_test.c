/*
 * lookup_test.c
 *	  Lookups and whole reads of a keyed table against a simulated server.
 */
#include <stdio.h>

#include "fake_cluster.h"

static const int32_t columns[] = {2, 1};
static fluss_lookup_options options;
static fluss_kvscan_options scan_options;

static void
start(void)
{
	fake_start(4, true);
	fake.buckets[2].leader = 1;
	fake.buckets[3].leader = 1;
	options = (fluss_lookup_options) {
		.columns = columns, .ncolumns = 2, .max_batch_size = 100,
		.max_inflight_requests = 3, .max_buffered_bytes = 1 << 24
	};
	scan_options = (fluss_kvscan_options) {
		.columns = columns, .ncolumns = 2, .mode = FLUSS_KVSCAN_LIMIT,
		.max_rows_per_bucket = 100,
		.max_buffered_bytes = 1 << 24
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
	return 0;
}

/* A row's columns "name", "twice" as fake_row makes them. */
static void
check_values(const fluss_value *values, int64_t n, bool has_name)
{
	char		name[24];

	assert_true(values[1].u.integer == 2 * n);
	assert_int_equal(values[0].is_null, !has_name || n % 7 == 0);
	if (values[0].is_null)
		return;
	sprintf(name, "n%lld", (long long) n);
	assert_int_equal(values[0].u.bytes.size, strlen(name));
	assert_memory_equal(values[0].u.bytes.data, name, strlen(name));
}

/* ---- lookups */

/* Looks up keys 0 .. n-1, each twice, and checks every row. */
static fluss_status
look_up(fluss_lookup *lookup, int n, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	for (int i = 0; i < 2 * n && status == FLUSS_OK; i++)
	{
		fluss_value key = {.u.integer = (i * 7919) % n};
		int			slot;

		status = fluss_lookup_add(lookup, &key, &slot, err);
	}
	if (status == FLUSS_OK)
		status = fluss_lookup_run(lookup, err);
	for (int i = 0; i < n && status == FLUSS_OK; i++)
	{
		fluss_value key = {.u.integer = i};
		fluss_value values[2];
		bool		found;
		int			slot;

		status = fluss_lookup_add(lookup, &key, &slot, err);
		found = status == FLUSS_OK && fluss_lookup_nrows(lookup, slot) > 0;
		if (found)
			status = fluss_lookup_row(lookup, slot, 0, values, err);
		if (status != FLUSS_OK)
			break;
		assert_int_equal(found, i % 3 != 0);
		if (found)
			check_values(values, i, i % 2 != 0);
		assert_in_range(fluss_lookup_bucket(lookup, slot), 0, 3);
	}
	return status;
}

static void
test_lookups(void **unused)
{
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	assert_int_equal(fake.nrequests, 0);
	for (int round = 0; round < 3; round++)
	{
		assert_fluss_ok(look_up(lookup, 1000, &err), &err);
		fluss_lookup_reset(lookup);
	}
	assert_true(fake.sorted);
	assert_int_equal(fluss_lookup_counters(lookup)->keys, 3000);
	assert_int_equal(fluss_lookup_counters(lookup)->rows, 3 * 666);
	assert_in_range(fluss_lookup_counters(lookup)->requests[FLUSS_REQUEST_LOOKUP],
					30, 48);
	assert_in_range(fake.max_inflight, 5, 6);
	fluss_lookup_close(lookup);
	fluss_lookup_close(NULL);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Few keys in many buckets of a leader: one request. */
static void
test_buckets_share_requests(void **unused)
{
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	assert_fluss_ok(look_up(lookup, 40, &err), &err);
	assert_int_equal(fake.nrequests, 2);
	fluss_lookup_close(lookup);
}

static void
test_keys_that_match_nothing(void **unused)
{
	static const fluss_column small = {
		.name = "id", .type = {.id = FLUSS_INTEGER}
	};
	fluss_value key = {.u.integer = INT64_C(1) << 40};
	fluss_value null = {.is_null = true};
	fluss_lookup *lookup;
	fluss_error err;
	int			slot;

	fake.schemas[2].columns = &small;
	fake.schemas[2].ncolumns = 1;
	options.ncolumns = 0;
	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	assert_int_equal(fluss_lookup_add(lookup, &key, &slot, &err),
					 FLUSS_NO_SUCH_KEY);
	assert_int_equal(fluss_lookup_add(lookup, &null, &slot, &err),
					 FLUSS_NO_SUCH_KEY);
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	assert_int_equal(fake.nrequests, 0);
	fluss_lookup_close(lookup);
}

static void
test_memory_cap(void **unused)
{
	fluss_lookup *lookup;
	fluss_error err;

	options.max_buffered_bytes = 1 << 20;
	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	assert_int_equal(look_up(lookup, 20000, &err), FLUSS_MEMORY_CAP);
	fluss_lookup_reset(lookup);
	assert_fluss_ok(look_up(lookup, 100, &err), &err);
	fluss_lookup_close(lookup);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_lookup_faults(void **unused)
{
	for (unsigned seed = 1; seed < 40; seed++)
	{
		fluss_lookup *lookup;
		fluss_error err;

		start();
		fake.random = seed * 7919;
		fake.fault_percent = 20;
		options.max_batch_size = (int) seed;
		assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(),
										  &fake.table, &options, &lookup, &err),
						&err);
		assert_fluss_ok(look_up(lookup, 200, &err), &err);
		fluss_lookup_close(lookup);
		assert_int_equal(fake.live_requests, 0);
	}
}

static void
test_lookup_errors(void **unused)
{
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									  &options, &lookup, &err), &err);
	fake_error(1, FLUSS_CODE_AUTHORIZATION);
	assert_int_equal(look_up(lookup, 100, &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_AUTHORIZATION);
	assert_non_null(strstr(err.message, "bucket 1"));
	fluss_lookup_reset(lookup);
	fake.silent = true;
	assert_int_equal(look_up(lookup, 100, &err), FLUSS_TIMED_OUT);
	fake.silent = false;
	fluss_lookup_reset(lookup);
	assert_fluss_ok(look_up(lookup, 100, &err), &err);
	fluss_lookup_close(lookup);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_log_table_is_refused(void **unused)
{
	fluss_lookup *lookup;
	fluss_kvscan *scan;
	fluss_error err;

	fake_start(1, false);
	assert_int_equal(fluss_lookup_open(&fake.client, test_host(), &fake.table,
									   &options, &lookup, &err),
					 FLUSS_UNSUPPORTED);
	assert_int_equal(fluss_kvscan_open(&fake.client, test_host(), &fake.table,
									   &scan_options, &scan, &err),
					 FLUSS_UNSUPPORTED);
	assert_int_equal(test_host_live_blocks(), 0);
}

static fluss_status
quiet_lookup(void)
{
	fluss_lookup *lookup = NULL;
	fluss_error err;
	fluss_status status;

	status = fluss_lookup_open(&fake.client, test_host(), &fake.table,
							   &options, &lookup, &err);
	if (status == FLUSS_OK)
		status = look_up(lookup, 500, &err);
	fluss_lookup_close(lookup);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
	return status;
}

static void
test_lookup_unwinds(void **unused)
{
	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = quiet_lookup();
		if (!test_host_alloc_failed())
			break;
		assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	test_host_fail_alloc_at(0);
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = quiet_lookup();
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
}

/* A key that found no memory leaves no trace: it can be added again. */
static void
test_add_again(void **unused)
{
	fluss_lookup *lookup;
	fluss_error err;
	bool		failed = true;

	for (int n = 1; failed; n++)
	{
		assert_fluss_ok(fluss_lookup_open(&fake.client, test_host(),
										  &fake.table, &options, &lookup,
										  &err), &err);
		test_host_fail_alloc_at(n);
		for (int i = 0; i < 600; i++)
		{
			fluss_value key = {.u.integer = i};
			int			slot;

			if (fluss_lookup_add(lookup, &key, &slot, &err) != FLUSS_OK)
				assert_fluss_ok(fluss_lookup_add(lookup, &key, &slot, &err),
								&err);
			assert_int_equal(slot, i);
		}
		failed = test_host_alloc_failed();
		test_host_fail_alloc_at(0);
		assert_fluss_ok(look_up(lookup, 600, &err), &err);
		assert_int_equal(fluss_lookup_counters(lookup)->keys, 600);
		fluss_lookup_close(lookup);
	}
	assert_int_equal(test_host_live_blocks(), 0);
}

/* ---- whole reads */

/* Reads to the end; rows of each bucket in its order. */
static fluss_status
read_all(fluss_kvscan *scan, int64_t *rows, fluss_error *err)
{
	int64_t		next[4] = {0};

	*rows = 0;
	for (;;)
	{
		fluss_value values[2];
		fluss_bucket_ref bucket;
		bool		end;
		fluss_status status;

		status = fluss_kvscan_next(scan, &end, &bucket, values, err);
		if (status != FLUSS_OK || end)
			return status;
		assert_int_equal(bucket.partition_id, FLUSS_NO_PARTITION);
		check_values(values, bucket.bucket * 1000 + next[bucket.bucket]++,
					 true);
		(*rows)++;
	}
}

static fluss_status
whole_read(int64_t *rows, fluss_counters *counters, fluss_error *err)
{
	fluss_kvscan *scan = NULL;
	fluss_status status;

	status = fluss_kvscan_open(&fake.client, test_host(), &fake.table,
							   &scan_options, &scan, err);
	if (status == FLUSS_OK)
		status = read_all(scan, rows, err);
	if (scan != NULL)
		*counters = *fluss_kvscan_counters(scan);
	fluss_kvscan_close(scan);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
	return status;
}

static void
test_whole_read(void **unused)
{
	static const fluss_bucket_ref one[] = {{FLUSS_NO_PARTITION, 2}};
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 0);
	for (int b = 0; b < 4; b++)
		fake.buckets[b].end = b * 30;
	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 180);
	assert_int_equal(counters.rows, 180);
	assert_int_equal(counters.requests[FLUSS_REQUEST_LIMIT_SCAN], 4);
	assert_int_equal(fake.max_inflight, 2);
	scan_options.buckets = one;
	scan_options.nbuckets = 1;
	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 60);
}

/* An answer that says less than it holds is no answer. */
static void
test_hidden_rows(void **unused)
{
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	for (int n = 1; n <= 2; n++)
	{
		fake.buckets[0].end = n;
		fake.hidden_rows = 1;
		assert_int_equal(whole_read(&rows, &counters, &err), FLUSS_MALFORMED);
		assert_non_null(strstr(err.detail, "left over"));
	}
}

static void
test_too_many_rows(void **unused)
{
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	fake.buckets[2].end = 100;
	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 100);
	fake.buckets[2].end = 101;
	assert_int_equal(whole_read(&rows, &counters, &err), FLUSS_TOO_MANY_ROWS);
	assert_non_null(strstr(err.message, "bucket 2"));
	assert_non_null(strstr(err.message, "100"));
	assert_int_equal(err.bucket, 2);
	/* a limit may end before anybody notices */
	scan_options.row_limit = 50;
	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 50);
	assert_int_equal(counters.rows, 50);
}

static void
test_row_limit(void **unused)
{
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	for (int b = 0; b < 4; b++)
		fake.buckets[b].end = 10;
	scan_options.row_limit = 15;
	assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
	assert_int_equal(rows, 15);
	assert_int_equal(counters.requests[FLUSS_REQUEST_LIMIT_SCAN], 2);
	assert_int_equal(counters.rows, 15);
}

static void
test_whole_read_faults(void **unused)
{
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	for (unsigned seed = 1; seed < 40; seed++)
	{
		start();
		for (int b = 0; b < 4; b++)
			fake.buckets[b].end = 10 + b;
		fake.random = seed * 7919;
		fake.fault_percent = 25;
		assert_fluss_ok(whole_read(&rows, &counters, &err), &err);
		assert_int_equal(rows, 46);
	}
	start();
	fake.silent = true;
	assert_int_equal(whole_read(&rows, &counters, &err), FLUSS_TIMED_OUT);
}

static void
test_whole_read_unwinds(void **unused)
{
	fluss_counters counters;
	fluss_error err;
	int64_t		rows;

	for (int b = 0; b < 4; b++)
		fake.buckets[b].end = 10;
	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = whole_read(&rows, &counters, &err);
		if (!test_host_alloc_failed())
			break;
		assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	test_host_fail_alloc_at(0);
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = whole_read(&rows, &counters, &err);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_lookups, set_up),
		cmocka_unit_test_setup(test_buckets_share_requests, set_up),
		cmocka_unit_test_setup(test_keys_that_match_nothing, set_up),
		cmocka_unit_test_setup(test_memory_cap, set_up),
		cmocka_unit_test_setup(test_lookup_faults, set_up),
		cmocka_unit_test_setup(test_lookup_errors, set_up),
		cmocka_unit_test_setup(test_log_table_is_refused, set_up),
		cmocka_unit_test_setup(test_lookup_unwinds, set_up),
		cmocka_unit_test_setup(test_add_again, set_up),
		cmocka_unit_test_setup(test_whole_read, set_up),
		cmocka_unit_test_setup(test_hidden_rows, set_up),
		cmocka_unit_test_setup(test_too_many_rows, set_up),
		cmocka_unit_test_setup(test_row_limit, set_up),
		cmocka_unit_test_setup(test_whole_read_faults, set_up),
		cmocka_unit_test_setup(test_whole_read_unwinds, set_up)
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
