/*
 * fetch_test.c
 *	  Log scans against a simulated server: every kind of range, of answer and
 *	  of loss.
 */
#include "fake_scan.h"

/* ---- plain reading */

static void
test_whole_bucket(void **unused)
{
	scan_result result;

	for (int i = 0; i < 10; i++)
		fake_append(0, 100, 2);
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 1000);
	assert_int_equal(result.nulls, 143);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 1);
	assert_int_equal(result.counters.batches, 10);
	assert_int_equal(result.counters.rows, 1000);
	assert_int_equal(fake.last_nprojection, 0);
	options.columns = name_and_id;
	options.ncolumns = 2;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 1000);
	assert_int_equal(fake.last_nprojection, 2);
	options.ncolumns = 0;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 1000);
	assert_int_equal(fake.last_nprojection, 1);
}

/* Few rows of a large bucket do not cost a large answer. */
static void
test_small_first_answer(void **unused)
{
	scan_result result;

	for (int i = 0; i < 2000; i++)
		fake_append(0, 100, 2);
	stop_after = 1;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_in_range(result.counters.bytes, 1000, (1 << 20) + 10000);
	stop_after = 0;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 200000);
	assert_true(result.counters.bytes > 3 << 20);
}

static void
test_empty_bucket(void **unused)
{
	scan_result result = scan_bucket(0, ALL);

	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 0);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 1);
}

static void
test_nothing_asked(void **unused)
{
	fake_append(0, 100, 2);
	assert_rows(run_scan(NULL, 0, NULL), 0, 0);
	assert_rows(scan_bucket(10, 10), 0, 0);
	assert_rows(scan_bucket(10, 3), 0, 0);
	assert_int_equal(fake.nrequests, 0);
}

/* Fetch sizes from less than a batch to more than all; raw answers are torn. */
static void
test_every_fetch_size(void **unused)
{
	for (int i = 0; i < 10; i++)
		fake_append(0, i * 7 % 13 + 1, 2);
	for (int inflight = 1; inflight < 4; inflight++)
	{
		options.fetch_inflight = inflight;
		for (int size = 1; size < 6000; size += 211)
		{
			options.fetch_max_bytes = size;
			options.columns = all_columns;
			options.ncolumns = 3;
			assert_rows(scan_bucket(0, ALL), 0, fake.buckets[0].end);
			options.columns = id_only;
			options.ncolumns = 1;
			assert_rows(scan_bucket(0, ALL), 0, fake.buckets[0].end);
		}
	}
}

static void
test_every_range(void **unused)
{
	for (int i = 0; i < 4; i++)
		fake_append(0, 5, 2);
	for (int start = 0; start < 20; start++)
	{
		for (int end = start + 1; end < 25; end++)
			assert_rows(scan_bucket(start, end), start, end < 20 ? end : 20);
	}
}

static void
test_empty_batches(void **unused)
{
	scan_result result;

	fake_append(0, 0, 2);
	fake_append(0, 5, 2);
	fake_append(0, 0, 2);
	fake_append(0, 0, 2);
	fake_append(0, 5, 2);
	fake_append(0, 0, 2);
	for (int size = 1; size < 2000; size += 50)
	{
		options.fetch_max_bytes = size;
		result = scan_bucket(0, ALL);
		assert_int_equal(result.status, FLUSS_OK);
		assert_int_equal(result.rows, 10);
		assert_int_equal(result.last, 12);
	}
}

/* What is left of a range are empty batches, smaller than anything else. */
static void
test_empty_batches_alone(void **unused)
{
	scan_result result;

	fake_append(0, 5, 2);
	fake_append(0, 0, 2);
	fake_append(0, 0, 2);
	fake_append(0, 5, 2);
	for (int64_t end = 6; end <= 8; end++)
	{
		result = scan_bucket(5, end);
		assert_int_equal(result.status, FLUSS_OK);
		assert_int_equal(result.rows, end == 8 ? 1 : 0);
	}
	options.fetch_max_bytes = 1;
	options.fetch_max_bytes_for_bucket = 1;
	assert_rows(scan_bucket(5, ALL), 7, 12);
}

/* A first batch that was cut off is asked for again, with room for it. */
static void
test_first_batch_cut_off(void **unused)
{
	fake.cuts_first_batch = true;
	fake_append(0, 5, 2);
	fake_append(0, 2000, 2);
	fake_append(0, 5, 2);
	assert_rows(scan_bucket(0, ALL), 0, 2010);
	options.fetch_max_bytes = 1;
	options.fetch_max_bytes_for_bucket = 1;
	assert_rows(scan_bucket(0, ALL), 0, 2010);
	options.row_limit = 1;
	assert_rows(scan_bucket(6, ALL), 6, 2010);
}

static void
test_small_range_is_one_request(void **unused)
{
	scan_result result;

	fake_append(0, 1000, 2);
	fake_append(0, 1000, 2);
	result = scan_bucket(500, 510);
	assert_rows(result, 500, 510);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 1);
	assert_int_equal(result.counters.rows, 1000);
}

/* Only batches with wanted rows come, give or take one. */
static void
test_no_overfetch(void **unused)
{
	scan_result result;

	options.columns = id_only;
	options.ncolumns = 1;
	for (int i = 0; i < 200; i++)
		fake_append(0, 100, 2);
	result = scan_bucket(5000, 10000);
	assert_rows(result, 5000, 10000);
	assert_in_range(result.counters.rows, 5000, 5400);
	assert_in_range(result.counters.requests[FLUSS_REQUEST_FETCH], 1, 3);
}

static void
test_many_ranges(void **unused)
{
	fluss_range ranges[] = {
		{-1, 0, 0, 3}, {-1, 0, 5, 6}, {-1, 0, 99, 101}, {-1, 0, 15000, 15001},
		{-1, 0, 19999, ALL}
	};
	scan_result result;

	for (int i = 0; i < 200; i++)
		fake_append(0, 100, 2);
	result = run_scan(ranges, 5, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 3 + 1 + 2 + 1 + 1);
	assert_int_equal(result.sum, 3 + 5 + 199 + 15000 + 19999);
	/* the large gaps stay where they are */
	assert_in_range(result.counters.rows, 300, 700);
}

static void
test_row_limit(void **unused)
{
	scan_result result;

	for (int i = 0; i < 200; i++)
		fake_append(0, 100, 2);
	options.row_limit = 10;
	stop_after = 10;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 1);
	assert_int_equal(result.counters.rows, 100);
	options.row_limit = 1000;
	stop_after = 1000;
	result = scan_bucket(0, ALL);
	assert_in_range(result.counters.rows, 1000, 2500);
	/* it is only a hint */
	options.row_limit = 10;
	stop_after = 0;
	assert_rows(scan_bucket(0, ALL), 0, 20000);
}

static void
test_bad_arguments(void **unused)
{
	fluss_range range = {-1, 1, 0, ALL};
	fluss_range negative = {-1, 0, -2, ALL};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_error err;

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_int_equal(fluss_scan_open(&fake.client, test_host(), &fake.table,
									 &range, 1, &options, ends, &scan, &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_int_equal(fluss_scan_open(&fake.client, test_host(), &fake.table,
									 &negative, 1, &options, ends, &scan, &err),
					 FLUSS_INVALID_ARGUMENT);
	fake.table.npartition_key = 1;
	range.bucket = 0;
	assert_int_equal(fluss_scan_open(&fake.client, test_host(), &fake.table,
									 &range, 1, &options, ends, &scan, &err),
					 FLUSS_INVALID_ARGUMENT);
	fluss_ends_close(ends);
}

/* Whatever is asked for, the answer must fit into a frame. */
static void
test_huge_limits(void **unused)
{
	fake_append(0, 10, 2);
	options.fetch_max_bytes = INT64_MAX;
	options.fetch_max_bytes_for_bucket = INT64_MAX;
	options.max_buffered_bytes = INT64_MAX;
	assert_rows(scan_bucket(0, ALL), 0, 10);
	assert_in_range(fake.last_max_bytes, 1, 1 << 29);
}

/* ---- many buckets */

static void
test_many_buckets(void **unused)
{
	fluss_range ranges[8];
	scan_result result;
	int64_t		expected = 0;

	fake_start(8, false);
	for (int b = 0; b < 8; b++)
	{
		fake.buckets[b].leader = b % 3;
		ranges[b] = (fluss_range) {-1, b, 0, ALL};
		for (int i = 0; i < 5 * b; i++)
			fake_append(b, 50, 2);
		expected += 5 * b * 50;
	}
	result = run_scan(ranges, 8, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, expected);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 3);
	/* a batch at a time: none starves, none is given up */
	options.fetch_max_bytes = 10;
	result = run_scan(ranges, 8, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, expected);
}

/* Answers without a row make room for the next request at once. */
static void
test_empty_ranges_of_many_buckets(void **unused)
{
	int64_t		before = test_host()->now_ms(NULL);
	fluss_range ranges[8];
	scan_result result;

	fake_start(8, false);
	options.fetch_inflight = 1;
	for (int b = 0; b < 8; b++)
		ranges[b] = (fluss_range) {-1, b, 0, 9};
	result = run_scan(ranges, 8, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 0);
	assert_true(test_host()->now_ms(NULL) - before < 1000);
}

/* Limits below a batch need a request for each bucket, and no more. */
static void
test_small_ranges_of_many_buckets(void **unused)
{
	fluss_range ranges[4];
	scan_result result;

	fake_start(4, false);
	for (int b = 0; b < 4; b++)
	{
		ranges[b] = (fluss_range) {-1, b, 10, 20};
		fake_append(b, 1000, 2);
		fake_append(b, 1000, 2);
	}
	result = run_scan(ranges, 4, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 40);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 4);
	assert_int_equal(result.counters.rows, 4000);
}

/* The order in which a server fills its answer is its own. */
static void
test_row_limit_of_many_buckets(void **unused)
{
	fluss_range ranges[4];
	scan_result result;

	fake_start(4, false);
	fake.backwards = true;
	options.row_limit = 7;
	for (int b = 0; b < 4; b++)
	{
		ranges[b] = (fluss_range) {-1, b, 10, 20};
		fake_append(b, 15, 2);
		fake_append(b, 15, 2);
	}
	result = run_scan(ranges, 4, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 40);
}

static void
test_memory_bound(void **unused)
{
	fluss_range ranges[4];
	scan_result result;

	fake_start(4, false);
	for (int b = 0; b < 4; b++)
	{
		fake.buckets[b].leader = b;
		ranges[b] = (fluss_range) {-1, b, 0, ALL};
		for (int i = 0; i < 50; i++)
			fake_append(b, 100, 2);
	}
	options.max_buffered_bytes = 20000;
	result = run_scan(ranges, 4, NULL);
	assert_int_equal(result.status, FLUSS_OK);
	assert_int_equal(result.rows, 20000);
	assert_in_range(fake.max_inflight, 1, 2);
}

/* ---- ends */

static void
test_end_is_pinned(void **unused)
{
	fluss_range range = {-1, 0, 0, ALL};
	fluss_range past = {-1, 0, 150, ALL};
	fluss_range bounded = {-1, 0, 100, 120};
	scan_result result;
	fluss_ends *ends;
	fluss_error err;
	int			before;

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	fake_append(0, 100, 2);
	options.fetch_max_bytes = 10;
	/* the blocks of ends are live: run_scan must not look */
	fluss_ends_close(ends);
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 100);

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_ends_pin(ends, -1, 0, 100, &err), &err);
	fake_append(0, 100, 2);
	fluss_scan *scan;
	const fluss_range *cases[] = {&range, &bounded, &past};
	const int	rows[] = {100, 0, 0};
	const int	losses[] = {0, 0, 1};

	for (int i = 0; i < 3; i++)
	{
		fluss_scan_item item;
		const fluss_batch *batch;
		fluss_loss	loss;
		int			n = 0;
		int			l = 0;

		before = fake.nrequests;
		assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
										cases[i], 1, &options, ends, &scan,
										&err), &err);
		for (;;)
		{
			assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err),
							&err);
			if (item == FLUSS_SCAN_END)
				break;
			if (item == FLUSS_SCAN_LOSS)
			{
				l++;
				assert_int_equal(loss.start, 150);
				assert_int_equal(loss.end, 100);
			}
			else
				n += batch->end_row - batch->first_row;
		}
		fluss_scan_close(scan);
		assert_int_equal(n, rows[i]);
		assert_int_equal(l, losses[i]);
		if (i > 0)
			assert_int_equal(fake.nrequests, before);
	}
	fluss_ends_close(ends);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Appends during the scan do not lengthen it. */
static void
test_growing_log(void **unused)
{
	fluss_range range = {-1, 0, 0, ALL};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_error err;
	int64_t		rows = 0;

	for (int i = 0; i < 10; i++)
		fake_append(0, 10, 2);
	options.fetch_max_bytes = 10;
	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
									&range, 1, &options, ends, &scan, &err),
					&err);
	for (;;)
	{
		fluss_scan_item item;
		const fluss_batch *batch;
		fluss_loss	loss;

		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err), &err);
		if (item == FLUSS_SCAN_END)
			break;
		rows += batch->end_row - batch->first_row;
		fake_append(0, 10, 2);
	}
	assert_int_equal(rows, 100);
	assert_true(fake.highest_asked < 100);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
}

/* ---- starts */

static void
test_start_past_the_end(void **unused)
{
	scan_result result;

	fake_append(0, 100, 2);
	result = scan_bucket(100, ALL);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 0);
	/* past the log's end: error 19 */
	result = scan_bucket(150, ALL);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 1);
	assert_int_equal(result.losses[0].start, 150);
	assert_int_equal(result.losses[0].earliest, 0);
	assert_int_equal(result.losses[0].end, 100);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_LIST_OFFSETS], 2);
	/* between high watermark and end: an empty answer */
	fake.buckets[0].high_watermark = 50;
	result = scan_bucket(60, ALL);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 1);
	assert_int_equal(result.losses[0].end, 50);
	result = scan_bucket(50, ALL);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 0);
}

static void
test_start_below_earliest(void **unused)
{
	scan_result result;

	for (int i = 0; i < 10; i++)
		fake_append(0, 10, 2);
	fake.buckets[0].log_start = 40;
	/* zero means: whatever there is */
	result = scan_bucket(0, ALL);
	assert_rows(result, 40, 100);
	assert_int_equal(result.nlosses, 0);
	result = scan_bucket(5, ALL);
	assert_rows(result, 40, 100);
	assert_int_equal(result.nlosses, 1);
	assert_int_equal(result.losses[0].start, 5);
	assert_int_equal(result.losses[0].earliest, 40);
	assert_int_equal(result.losses[0].end, 100);
	/* a range that expired as a whole */
	result = scan_bucket(5, 30);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 1);
	result = scan_bucket(0, 30);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 0);
	/* everything expired */
	fake.buckets[0].log_start = 100;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 0);
	assert_int_equal(result.nlosses, 0);
}

/* Reads four of ten batches, has something happen, reads on to the error. */
static fluss_status
scan_until_error(void (*happen) (void), fluss_error *err)
{
	fluss_range range = {-1, 0, 0, ALL};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_status status = FLUSS_OK;

	for (int i = 0; i < 10; i++)
		fake_append(0, 10, 2);
	options.fetch_max_bytes = 10;
	options.fetch_inflight = 1;
	assert_fluss_ok(fluss_ends_open(test_host(), &ends, err), err);
	assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
									&range, 1, &options, ends, &scan, err),
					err);
	for (int i = 0; status == FLUSS_OK; i++)
	{
		fluss_scan_item item;
		const fluss_batch *batch;
		fluss_loss	loss;

		status = fluss_scan_next(scan, &item, &batch, &loss, err);
		if (status == FLUSS_OK)
			assert_int_equal(item, FLUSS_SCAN_BATCH);
		if (i == 3)
			happen();
	}
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	assert_int_equal(test_host_live_blocks(), 0);
	return status;
}

static void
lose_old_offsets(void)
{
	fake.buckets[0].log_start = 80;
}

static void
lose_new_offsets(void)
{
	fake.buckets[0].end = 20;
}

/* Retention passes an offset that was still to be read. */
static void
test_lost_in_mid_scan(void **unused)
{
	fluss_error err;

	assert_int_equal(scan_until_error(lose_old_offsets, &err), FLUSS_DATA_LOST);
	assert_non_null(strstr(err.message, "offset 40"));
	assert_non_null(strstr(err.detail, "80"));
}

/* A CRC does not cover a batch's place in the log. */
static void
move_a_batch(void)
{
	fake.buckets[0].batches[7].base += 1;
}

static void
test_gap(void **unused)
{
	fluss_error err;

	assert_int_equal(scan_until_error(move_a_batch, &err), FLUSS_MALFORMED);
	assert_string_equal(err.message,
						"the answer for bucket 0 of table \"db.t\" leaves out offsets 70 to 70");
	assert_int_equal(err.base_offset, 70);
	assert_int_equal(err.next_offset, 71);
	/* nobody asks for what is missing */
	assert_rows(scan_bucket(10, 70), 10, 70);
	assert_rows(scan_bucket(71, 95), 71, 95);
}

/* A leader that came back without its newest records has still the oldest. */
static void
test_truncated_in_mid_scan(void **unused)
{
	fluss_error err;

	assert_int_equal(scan_until_error(lose_new_offsets, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_OFFSET_OUT_OF_RANGE);
	assert_string_equal(err.message,
						"could not fetch offset 40 of bucket 0 of table \"db.t\"");
}

static void
test_lake(void **unused)
{
	scan_result result;

	for (int i = 0; i < 10; i++)
		fake_append(0, 10, 2);
	fake.buckets[0].lake_below = 30;
	result = scan_bucket(0, ALL);
	assert_int_equal(result.status, FLUSS_UNSUPPORTED);
	assert_non_null(strstr(result.err.message, "offsets 0 to 99"));
	assert_non_null(strstr(result.err.detail, "lake"));
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 2);
	assert_rows(scan_bucket(30, ALL), 30, 100);
}

/* ---- projections that the server cannot make */

static void
test_old_schema(void **unused)
{
	scan_result result;

	options.columns = name_and_id;
	options.ncolumns = 2;
	for (int i = 0; i < 5; i++)
		fake_append(0, 10, 1);
	for (int i = 0; i < 5; i++)
		fake_append(0, 10, 2);
	options.fetch_max_bytes = 100;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 100);
	assert_int_equal(result.nulls, 50 + 7);
	/* and back to projected fetches once old batches are passed */
	assert_int_equal(fake.last_nprojection, 2);
}

static void
test_foreign_layout(void **unused)
{
	scan_result result;

	options.columns = id_only;
	options.ncolumns = 1;
	for (int i = 0; i < 20; i++)
	{
		fake_append(0, 10, 2);
		fake.buckets[0].batches[i].no_projection = i % 5 == 2;
	}
	options.fetch_max_bytes = 100;
	result = scan_bucket(0, ALL);
	assert_rows(result, 0, 200);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole_bucket, scan_set_up),
		cmocka_unit_test_setup(test_small_first_answer, scan_set_up),
		cmocka_unit_test_setup(test_empty_bucket, scan_set_up),
		cmocka_unit_test_setup(test_nothing_asked, scan_set_up),
		cmocka_unit_test_setup(test_every_fetch_size, scan_set_up),
		cmocka_unit_test_setup(test_every_range, scan_set_up),
		cmocka_unit_test_setup(test_empty_batches, scan_set_up),
		cmocka_unit_test_setup(test_empty_batches_alone, scan_set_up),
		cmocka_unit_test_setup(test_first_batch_cut_off, scan_set_up),
		cmocka_unit_test_setup(test_small_range_is_one_request, scan_set_up),
		cmocka_unit_test_setup(test_no_overfetch, scan_set_up),
		cmocka_unit_test_setup(test_many_ranges, scan_set_up),
		cmocka_unit_test_setup(test_row_limit, scan_set_up),
		cmocka_unit_test_setup(test_bad_arguments, scan_set_up),
		cmocka_unit_test_setup(test_huge_limits, scan_set_up),
		cmocka_unit_test_setup(test_many_buckets, scan_set_up),
		cmocka_unit_test_setup(test_empty_ranges_of_many_buckets, scan_set_up),
		cmocka_unit_test_setup(test_small_ranges_of_many_buckets, scan_set_up),
		cmocka_unit_test_setup(test_row_limit_of_many_buckets, scan_set_up),
		cmocka_unit_test_setup(test_memory_bound, scan_set_up),
		cmocka_unit_test_setup(test_end_is_pinned, scan_set_up),
		cmocka_unit_test_setup(test_growing_log, scan_set_up),
		cmocka_unit_test_setup(test_start_past_the_end, scan_set_up),
		cmocka_unit_test_setup(test_start_below_earliest, scan_set_up),
		cmocka_unit_test_setup(test_lost_in_mid_scan, scan_set_up),
		cmocka_unit_test_setup(test_truncated_in_mid_scan, scan_set_up),
		cmocka_unit_test_setup(test_gap, scan_set_up),
		cmocka_unit_test_setup(test_lake, scan_set_up),
		cmocka_unit_test_setup(test_old_schema, scan_set_up),
		cmocka_unit_test_setup(test_foreign_layout, scan_set_up)
	};

	return cmocka_run_group_tests(tests, NULL, scan_tear_down);
}
