/*
 * writer_test.c
 *	  Writers against a simulated server: every row once, in order, whatever
 *	  gets lost on the way.
 */
#include "fake_writer.h"

/* ---- plain writing */

static void
test_append(void **unused)
{
	fluss_writer *writer = open_writer();
	fluss_error err;
	int			nruns;

	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	assert_int_equal(fake.nrequests, 0);
	assert_fluss_ok(write_rows(writer, 0, 5000, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(5000);
	assert_int_equal(rows_of_runs(writer, &nruns), 5000);
	assert_in_range(nruns, 1, 4);
	assert_int_equal(fluss_writer_counters(writer)->rows, 5000);
	assert_int_equal(fluss_writer_counters(writer)->requests[FLUSS_REQUEST_INIT_WRITER],
					 1);
	/* all buckets got something: the sticky one changes */
	for (int b = 0; b < 4; b++)
		assert_true(fake.buckets[b].nids > 0);
	assert_fluss_ok(write_rows(writer, 5000, 10, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(5010);
	close_writer(writer);
	assert_int_equal(fake.writer_id, 100);
	fluss_writer_close(NULL);
}

/* One statement of few rows: one request, as one bucket is enough. */
static void
test_small_append(void **unused)
{
	fluss_writer *writer = open_writer();
	fluss_error err;

	assert_fluss_ok(write_rows(writer, 0, 10, &err), &err);
	assert_int_equal(fake.nrequests, 0);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	assert_int_equal(fake.nrequests, 1);
	check_rows(10);
	close_writer(writer);
}

static void
test_upsert(void **unused)
{
	fluss_writer *writer = open_writer();
	fluss_error err;
	int			nruns;

	assert_fluss_ok(write_rows(writer, 0, 3000, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(3000);
	assert_int_equal(rows_of_runs(writer, &nruns), 3000);
	assert_int_equal(nruns, 4);
	assert_int_equal(fluss_writer_runs(writer, &nruns)[0].first_offset, -1);
	assert_int_equal(fluss_writer_runs(writer, &nruns)[0].last_offset,
					 fake.buckets[0].end - 1);
	close_writer(writer);
}

/* Batches of a leader's buckets travel together at the flush. */
static void
test_buckets_share_requests(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	writer_options.batch_size = 1 << 20;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 100, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	assert_int_equal(fake.nrequests, 2);
	close_writer(writer);
}

/* The server takes no more changes in one batch, however small they are. */
static void
test_rows_of_a_batch(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	start_writing(1, true);
	writer_options.batch_size = 1 << 24;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 70000, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	assert_in_range(fake.nrequests, 3, 4);
	close_writer(writer);
}

static void
test_delete(void **unused)
{
	fluss_writer *writer = open_writer();
	fluss_error err;

	for (int i = 0; i < 100; i++)
	{
		fluss_value key = {.u.integer = i};

		assert_fluss_ok(fluss_writer_delete(writer, &key, &err), &err);
	}
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(100);
	close_writer(writer);
	start_writing(1, false);
	writer = open_writer();
	assert_int_equal(fluss_writer_delete(writer, NULL, &err), FLUSS_UNSUPPORTED);
	close_writer(writer);
}

static void
test_bad_rows_leave_it_usable(void **unused)
{
	fluss_value row[3] = {{.is_null = true}};
	fluss_writer *writer = open_writer();
	fluss_error err;

	assert_int_equal(fluss_writer_write(writer, row, &err),
					 FLUSS_NOT_NULL_VIOLATION);
	assert_fluss_ok(write_rows(writer, 0, 10, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(10);
	close_writer(writer);
}

static void
test_partial_update(void **unused)
{
	static const int32_t targets[] = {0, 2};
	static const int32_t no_key[] = {2};
	fluss_value row[3] = {{.u.integer = 0}, {.u.integer = 5}, {.is_null = true}};
	fluss_writer *writer;
	fluss_error err;

	writer_options.target_columns = no_key;
	writer_options.ntarget_columns = 1;
	assert_int_equal(fluss_writer_open(&fake.client, test_host(), &fake.table,
									   &writer_options, &writer, &err),
					 FLUSS_INVALID_ARGUMENT);
	writer_options.target_columns = targets;
	writer_options.ntarget_columns = 2;
	writer = open_writer();
	assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(1);
	close_writer(writer);
}

static void
test_refusals(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	writer_options.acks = 1;
	assert_int_equal(fluss_writer_open(&fake.client, test_host(), &fake.table,
									   &writer_options, &writer, &err),
					 FLUSS_INVALID_ARGUMENT);
	writer_options.acks = -1;
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Log tables of the row formats. */
static void
test_append_rows(void **unused)
{
	static const fluss_row_format formats[] = {
		FLUSS_FORMAT_INDEXED, FLUSS_FORMAT_COMPACTED
	};

	for (int i = 0; i < 2; i++)
	{
		fluss_writer *writer;
		fluss_error err;
		int			nruns;

		start_writing(4, false);
		fake.table.log_format = formats[i];
		writer = open_writer();
		assert_fluss_ok(write_rows(writer, 0, 5000, &err), &err);
		assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
		check_rows(5000);
		assert_int_equal(rows_of_runs(writer, &nruns), 5000);
		close_writer(writer);
	}
}

/* Rows wait when what is buffered reaches the bound. */
static void
test_memory_bound(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	writer_options.max_buffered_bytes = 3000;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 5000, &err), &err);
	assert_in_range(fake.max_inflight, 1, 4);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(5000);
	close_writer(writer);
	/* a bound below the batch size: smaller batches */
	start_writing(4, true);
	writer_options.batch_size = 1 << 20;
	writer_options.max_buffered_bytes = 500;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 500, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(500);
	close_writer(writer);
}

/* Nothing leaves before the flush, and what does not fit is refused. */
static void
test_hold(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	writer_options.hold = true;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 1000, &err), &err);
	assert_int_equal(fake.nrequests, 0);
	assert_true(fluss_writer_buffered(writer) > 1000);
	assert_fluss_ok(fluss_writer_flush_within(writer, 10000, &err), &err);
	assert_int_equal(fluss_writer_buffered(writer), 0);
	check_rows(1000);
	close_writer(writer);
	/* closed without a flush: as if it had not been */
	start_writing(4, true);
	writer_options.hold = true;
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 1000, &err), &err);
	close_writer(writer);
	assert_int_equal(fake.nrequests, 0);
	start_writing(4, true);
	writer_options.hold = true;
	writer_options.max_buffered_bytes = 3000;
	writer = open_writer();
	assert_int_equal(write_rows(writer, 0, 1000, &err), FLUSS_MEMORY_CAP);
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_MEMORY_CAP);
	close_writer(writer);
	assert_int_equal(fake.nrequests, 0);
}

/* ---- trouble */

static void
random_faults(bool keyed, bool idempotence)
{
	for (unsigned seed = 1; seed < 80; seed++)
	{
		fluss_writer *writer;
		fluss_error err;
		int			nruns;

		start_writing(3, keyed);
		fake.random = seed * 7919;
		fake.fault_percent = idempotence ? 25 : 0;
		writer_options.idempotence = idempotence;
		writer_options.batch_size = 200;
		writer_options.max_inflight_per_bucket = 1 + (int) seed % 5;
		writer = open_writer();
		/* rows written, then the answer fails: only idempotence tells */
		for (int i = 0; i < 10 && idempotence; i++)
			fake_error((int) (seed + i) % 3, i % 2 == 0 ? 25 : 29);
		if (write_rows(writer, 0, 500, &err) != FLUSS_OK ||
			fluss_writer_flush(writer, &err) != FLUSS_OK)
			fail_msg("seed %u: %s (%s)", seed, err.message, err.detail);
		check_rows(500);
		assert_int_equal(rows_of_runs(writer, &nruns), 500);
		close_writer(writer);
	}
}

static void
test_random_faults_append(void **unused)
{
	random_faults(false, true);
}

static void
test_random_faults_upsert(void **unused)
{
	random_faults(true, true);
}

static void
test_without_idempotence(void **unused)
{
	random_faults(false, false);
	/* one a bucket: nothing else keeps the order */
	assert_in_range(fake.max_inflight, 1, 3);
}

static void
test_permanent_error(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	start_writing(1, false);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 100, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fake_error(0, FLUSS_CODE_AUTHORIZATION);
	assert_fluss_ok(write_rows(writer, 100, 5, &err), &err);
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_AUTHORIZATION);
	assert_non_null(strstr(err.detail, "100 of bucket 0"));
	/* it stays failed, and its sequence number is given up */
	assert_int_equal(write_rows(writer, 0, 1, &err), FLUSS_SERVER_ERROR);
	close_writer(writer);
	assert_int_equal(fake.writer_id, -1);
	check_rows(100);
}

static void
test_time_is_up(void **unused)
{
	fluss_writer *writer;
	int64_t		start_ms;
	fluss_error err;

	start_writing(1, false);
	for (int i = 0; i < FAKE_MAX_ERRORS; i++)
		fake_error(0, FLUSS_CODE_NOT_LEADER);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 5, &err), &err);
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_SERVER_ERROR);
	close_writer(writer);
	start_writing(1, false);
	fake.silent = true;
	start_ms = test_host()->now_ms(NULL);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 5, &err), &err);
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_TIMED_OUT);
	assert_int_equal(test_host()->now_ms(NULL) - start_ms, FAKE_TIMEOUT_MS);
	close_writer(writer);
	/* a flush's own deadline ends what would be retried longer */
	start_writing(1, false);
	for (int i = 0; i < FAKE_MAX_ERRORS; i++)
		fake_error(0, FLUSS_CODE_NOT_LEADER);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 5, &err), &err);
	assert_int_equal(fluss_writer_flush_within(writer, 50, &err),
					 FLUSS_TIMED_OUT);
	close_writer(writer);
}

/* An answer that never comes is asked for again, within request_timeout. */
static void
test_swallowed_answers(void **unused)
{
	fluss_writer *writer = open_writer();
	int64_t		start_ms;
	fluss_error err;
	int			nruns;

	fake.swallow = 2;
	assert_fluss_ok(write_rows(writer, 0, 2000, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	assert_int_equal(fake.swallow, 0);
	assert_int_equal(rows_of_runs(writer, &nruns), 2000);
	check_rows(2000);
	close_writer(writer);

	/* who writes without sequence numbers must not: it waits, and fails */
	start_writing(1, false);
	writer_options.idempotence = false;
	fake.swallow = 1;
	start_ms = test_host()->now_ms(NULL);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 5, &err), &err);
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_TIMED_OUT);
	assert_int_equal(test_host()->now_ms(NULL) - start_ms, FAKE_TIMEOUT_MS);
	close_writer(writer);
}

/*
 * On a busy machine a writer may come too late to its next try: then what failed
 * before is the error.
 */
static void
test_late_tries(void **unused)
{
	for (int late_ms = 0; late_ms < FAKE_TIMEOUT_MS; late_ms += 100)
	{
		fluss_writer *writer;
		fluss_error err;

		start_writing(2, false);
		writer = open_writer();
		fake.silent = true;
		fake.oversleep_ms = late_ms;
		assert_fluss_ok(write_rows(writer, 0, 5, &err), &err);
		assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_TIMED_OUT);
		assert_string_equal(err.message, "no answer");
		close_writer(writer);
	}
}

/* The server has forgotten the writer: a new id, and no row is lost. */
static void
test_writer_forgotten(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	start_writing(1, false);
	writer = open_writer();
	assert_fluss_ok(write_rows(writer, 0, 10, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fake.buckets[0].nwriters = 0;
	writer_options.batch_size = 100;
	assert_fluss_ok(write_rows(writer, 10, 300, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(310);
	assert_int_equal(fake.writer_id, 101);
	close_writer(writer);
}

static fluss_status
quiet_write(void)
{
	fluss_writer *writer = NULL;
	fluss_error err;
	fluss_status status;

	status = fluss_writer_open(&fake.client, test_host(), &fake.table,
							   &writer_options, &writer, &err);
	if (status == FLUSS_OK)
		status = write_rows(writer, 0, 300, &err);
	if (status == FLUSS_OK)
		status = fluss_writer_flush(writer, &err);
	close_writer(writer);
	return status;
}

static void
unwind(bool keyed)
{
	for (int n = 1;; n++)
	{
		fluss_status status;

		start_writing(2, keyed);
		test_host_fail_alloc_at(n);
		status = quiet_write();
		if (!test_host_alloc_failed())
			break;
		assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	test_host_fail_alloc_at(0);
	for (int n = 1;; n++)
	{
		fluss_status status;

		start_writing(2, keyed);
		fake.interrupt_poll = n;
		status = quiet_write();
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
		/* unanswered batches: their sequence numbers are given up */
		assert_int_equal(fake.writer_id, -1);
	}
}

static void
test_unwinds(void **unused)
{
	unwind(false);
	unwind(true);
}

/* After an interruption the work can go on. */
static void
test_flush_again(void **unused)
{
	fluss_writer *writer = open_writer();
	fluss_error err;

	assert_fluss_ok(write_rows(writer, 0, 30, &err), &err);
	fake.interrupt_poll = 1;
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_INTERRUPTED);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(30);
	close_writer(writer);
}

/* So it can after an hour, even if a bucket was being tried again. */
static void
test_flush_after_time_away(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	start_writing(1, false);
	writer = open_writer();
	fake_error(0, FLUSS_CODE_NOT_LEADER);
	fake_error(0, FLUSS_CODE_NOT_LEADER);
	assert_fluss_ok(write_rows(writer, 0, 10, &err), &err);
	fake.interrupt_poll = 2;
	assert_int_equal(fluss_writer_flush(writer, &err), FLUSS_INTERRUPTED);
	test_host_advance_ms(3600 * 1000);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(10);
	close_writer(writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_append, writer_set_up_log),
		cmocka_unit_test_setup(test_small_append, writer_set_up_log),
		cmocka_unit_test_setup(test_upsert, writer_set_up_keyed),
		cmocka_unit_test_setup(test_buckets_share_requests, writer_set_up_keyed),
		cmocka_unit_test_setup(test_rows_of_a_batch, writer_set_up_keyed),
		cmocka_unit_test_setup(test_delete, writer_set_up_keyed),
		cmocka_unit_test_setup(test_bad_rows_leave_it_usable, writer_set_up_log),
		cmocka_unit_test_setup(test_partial_update, writer_set_up_keyed),
		cmocka_unit_test_setup(test_refusals, writer_set_up_log),
		cmocka_unit_test_setup(test_append_rows, writer_set_up_log),
		cmocka_unit_test_setup(test_memory_bound, writer_set_up_log),
		cmocka_unit_test_setup(test_hold, writer_set_up_log),
		cmocka_unit_test_setup(test_random_faults_append, writer_set_up_log),
		cmocka_unit_test_setup(test_random_faults_upsert, writer_set_up_log),
		cmocka_unit_test_setup(test_without_idempotence, writer_set_up_log),
		cmocka_unit_test_setup(test_permanent_error, writer_set_up_log),
		cmocka_unit_test_setup(test_time_is_up, writer_set_up_log),
		cmocka_unit_test_setup(test_swallowed_answers, writer_set_up_log),
		cmocka_unit_test_setup(test_late_tries, writer_set_up_log),
		cmocka_unit_test_setup(test_writer_forgotten, writer_set_up_log),
		cmocka_unit_test_setup(test_unwinds, writer_set_up_log),
		cmocka_unit_test_setup(test_flush_again, writer_set_up_log),
		cmocka_unit_test_setup(test_flush_after_time_away, writer_set_up_log)
	};

	return cmocka_run_group_tests(tests, NULL, writer_tear_down);
}
