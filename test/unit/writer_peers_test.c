/*
 * writer_peers_test.c
 *	  Several writers of one client, in one bucket and one sequence.
 */
#include "fake_writer.h"

/* Two writers of one client in one bucket share its sequence. */
static void
test_two_writers(void **unused)
{
	fluss_writer *one;
	fluss_writer *two;
	fluss_error err;

	start_writing(1, false);
	writer_options.batch_size = 200;
	one = open_writer();
	two = open_writer();
	for (int i = 0; i < 50; i++)
	{
		assert_fluss_ok(write_rows(one, i * 20, 10, &err), &err);
		assert_fluss_ok(write_rows(two, i * 20 + 10, 10, &err), &err);
	}
	assert_fluss_ok(fluss_writer_flush(one, &err), &err);
	assert_fluss_ok(fluss_writer_flush(two, &err), &err);
	assert_int_equal(fake.buckets[0].nids, 1000);
	fluss_writer_close(one);
	close_writer(two);
}

/*
 * A statement inside another one, both in one sequence, on bad connections: the
 * inner writer sends the outer one's batches again, too.
 */
static void
test_two_writers_with_faults(void **unused)
{
	for (unsigned seed = 1; seed < 200; seed++)
	{
		fluss_writer *outer;
		fluss_error err;
		int			nruns;
		int64_t		rows = 0;

		start_writing(1, false);
		fake.random = seed * 7919;
		fake.fault_percent = seed % 2 == 0 ? 10 : 30;
		writer_options.batch_size = 200;
		outer = open_writer();
		for (int i = 0; i < 50; i++)
		{
			fluss_writer *inner = open_writer();

			assert_fluss_ok(write_rows(outer, i * 20, 10, &err), &err);
			assert_fluss_ok(write_rows(inner, i * 20 + 10, 10, &err), &err);
			assert_fluss_ok(fluss_writer_flush(inner, &err), &err);
			rows += rows_of_runs(inner, &nruns);
			fluss_writer_close(inner);
		}
		assert_fluss_ok(fluss_writer_flush(outer, &err), &err);
		rows += rows_of_runs(outer, &nruns);
		check_acknowledged(rows);
		assert_int_equal(rows, 1000);
		close_writer(outer);
	}
}

/*
 * The server refuses a batch of the outer writer, which the inner one learns
 * first: it goes on, and the outer one fails when it is used again.
 */
static void
test_outer_writer_refused(void **unused)
{
	fluss_writer *outer;
	fluss_writer *inner;
	fluss_error err;
	int			nruns;

	start_writing(1, false);
	writer_options.batch_size = 100;
	outer = open_writer();
	inner = open_writer();
	fake_error(0, 15);			/* INVALID_TABLE_EXCEPTION */
	assert_fluss_ok(write_rows(outer, 0, 8, &err), &err);
	assert_fluss_ok(write_rows(inner, 100, 50, &err), &err);
	assert_fluss_ok(fluss_writer_flush(inner, &err), &err);
	assert_int_equal(rows_of_runs(inner, &nruns), 50);
	assert_int_equal(fluss_writer_flush(outer, &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, 15);
	check_acknowledged(50);
	fluss_writer_close(inner);
	close_writer(outer);
}

/*
 * Another writer of the client fails and takes the writer id with it: what is
 * under way with the old one still comes first.
 */
static void
test_new_writer_id_in_between(void **unused)
{
	fluss_writer *writer;
	fluss_error err;

	start_writing(1, false);
	writer_options.batch_size = 1;
	writer = open_writer();
	fake_error(0, FLUSS_CODE_NOT_LEADER);
	assert_fluss_ok(write_rows(writer, 0, 1, &err), &err);
	fluss_client_discard_writer(&fake.client);
	assert_fluss_ok(write_rows(writer, 1, 9, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	check_rows(10);
	assert_int_equal(fake.buckets[0].nwriters, 2);
	close_writer(writer);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_two_writers, writer_set_up_log),
		cmocka_unit_test_setup(test_two_writers_with_faults, writer_set_up_log),
		cmocka_unit_test_setup(test_outer_writer_refused, writer_set_up_log),
		cmocka_unit_test_setup(test_new_writer_id_in_between, writer_set_up_log)
	};

	return cmocka_run_group_tests(tests, NULL, writer_tear_down);
}
