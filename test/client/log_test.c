/*
 * log_test.c
 *	  Log tables of a real cluster: what is written is read again, by ranges,
 *	  columns and limits.
 *
 * The values themselves are compared with another client's by the
 * interoperability test.
 */
#include <stdio.h>
#include <stdlib.h>

#include "batch.h"
#include "cluster.h"
#include "rows.h"
#include "rpc.h"

static void
test_log_types(void **unused)
{
	const fluss_writer_options options = test_writer_options();
	static const char *const codecs[] = {"NONE", "LZ4_FRAME", "ZSTD"};
	test_table_spec spec = {0};

	spec.columns = test_all_types(&spec.ncolumns);
	for (int i = 0; i < 6; i++)
	{
		char		name[64];
		fluss_table *table;
		fluss_writer *writer;
		const fluss_write_run *runs;
		int64_t		rows = 0;
		int			nruns;

		spec.codec = codecs[i / 2];
		spec.nbuckets = i % 2 == 0 ? 1 : 4;
		snprintf(name, sizeof(name), "log_%s_%d", spec.codec, spec.nbuckets);
		spec.name = name;
		table = test_table_create(&spec);
		writer = test_open_writer(table, &options);
		write_to(writer, table, 0, 3000);
		write_to(writer, table, 3000, 6000);
		runs = fluss_writer_runs(writer, &nruns);
		for (int r = 0; r < nruns; r++)
		{
			assert_int_equal(runs[r].last_offset - runs[r].first_offset + 1,
							 runs[r].rows);
			rows += runs[r].rows;
		}
		assert_int_equal(rows, 6000);
		if (spec.nbuckets == 1)
			assert_int_equal(nruns, 1);
		fluss_writer_close(writer);
		scan_in_every_way(table, 6000);
		fluss_table_release(table);
	}
}

static void
test_ranges(void **unused)
{
	fluss_table *table = small_table("ranges", 1, 0);
	fluss_scan_options options = test_scan_options(small_columns, 3);
	fluss_range many[] = {{-1, 0, 3, 8}, {-1, 0, 10, 11}, {-1, 0, 995, 1005},
						  {-1, 0, 4000, ALL}};
	scan_result result;

	for (int i = 0; i < 5; i++)
		write_rows(table, i * 1000, i * 1000 + 1000);
	for (int start = 0; start < 5000; start += 331)
	{
		for (int end = start + 1; end < 5300; end += 777)
		{
			fluss_range range = {FLUSS_NO_PARTITION, 0, start, end};
			int64_t		stop = end < 5000 ? end : 5000;

			result = scan_ranges(table, &range, 1, &options, NULL);
			assert_int_equal(result.rows, stop - start);
			assert_int_equal(result.id_sum, sum_to(stop) - sum_to(start));
			assert_int_equal(result.nlosses, 0);
		}
	}
	options.ncolumns = 1;
	result = scan_ranges(table, many, 4, &options, NULL);
	assert_int_equal(result.rows, 5 + 1 + 10 + 1000);
	/* ten rows of one batch: one request, one batch of whole rows */
	options.ncolumns = 3;
	result = scan_ranges(table, &(fluss_range) {-1, 0, 500, 510}, 1, &options,
						 NULL);
	assert_int_equal(result.rows, 10);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 1);
	assert_int_equal(result.counters.rows, 1000);
	fluss_table_release(table);
}

static void
test_starts_and_ends(void **unused)
{
	fluss_table *table = small_table("ends", 1, 0);
	fluss_scan_options options = test_scan_options(small_columns, 3);
	fluss_range all = {-1, 0, 0, ALL};
	fluss_range past = {-1, 0, 150, ALL};
	scan_result result;
	fluss_ends *ends;
	fluss_error err;
	int64_t		end;

	result = scan_all(table, &options);
	assert_int_equal(result.rows, 0);
	write_rows(table, 0, 100);
	assert_fluss_ok(fluss_ends_open(cluster_host(), &ends, &err), &err);
	result = scan_ranges(table, &all, 1, &options, ends);
	assert_int_equal(result.rows, 100);
	write_rows(table, 100, 200);
	/* the same scope sees the same end, and asks for nothing past it */
	result = scan_ranges(table, &all, 1, &options, ends);
	assert_int_equal(result.rows, 100);
	assert_true(fluss_ends_get(ends, -1, 0, &end));
	assert_int_equal(end, 100);
	result = scan_ranges(table, &past, 1, &options, ends);
	assert_int_equal(result.nlosses, 1);
	assert_int_equal(result.loss.end, 100);
	assert_int_equal(result.counters.requests[FLUSS_REQUEST_FETCH], 0);
	fluss_ends_close(ends);
	result = scan_ranges(table, &past, 1, &options, NULL);
	assert_int_equal(result.rows, 50);
	assert_int_equal(result.nlosses, 0);
	/* a start past the log's end */
	past.start = 1000;
	result = scan_ranges(table, &past, 1, &options, NULL);
	assert_int_equal(result.rows, 0);
	assert_int_equal(result.nlosses, 1);
	assert_int_equal(result.loss.start, 1000);
	assert_int_equal(result.loss.earliest, 0);
	assert_int_equal(result.loss.end, 200);
	fluss_table_release(table);
}

static void
test_small_ranges_of_buckets(void **unused)
{
	fluss_table *table = small_table("four", 4, 0);
	fluss_scan_options options = test_scan_options(small_columns, 3);
	fluss_writer_options writing = test_writer_options();
	fluss_writer *writer;
	fluss_range ranges[4];
	scan_result result;

	writing.batch_size = 4000;
	writer = test_open_writer(table, &writing);
	write_to(writer, table, 0, 10000);
	fluss_writer_close(writer);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, 10000);
	assert_int_equal(result.id_sum, sum_to(10000));
	for (int i = 0; i < 4; i++)
	{
		assert_true(result.rows_of[i] > 200);
		ranges[i] = (fluss_range) {-1, i, 100, 110};
	}
	result = scan_ranges(table, ranges, 4, &options, NULL);
	assert_int_equal(result.rows, 40);
	assert_in_range(result.counters.requests[FLUSS_REQUEST_FETCH], 4, 8);
	fluss_table_release(table);
}

static void
test_row_limit(void **unused)
{
	fluss_table *table = small_table("limit", 1, 0);
	fluss_scan_options options = test_scan_options(small_columns, 3);
	fluss_range range = {-1, 0, 0, ALL};
	const fluss_batch *batch;
	fluss_scan_item item;
	fluss_loss	loss;
	fluss_scan *scan;
	fluss_ends *ends;
	fluss_error err;

	for (int i = 0; i < 20; i++)
		write_rows(table, i * 1000, i * 1000 + 1000);
	options.row_limit = 10;
	assert_fluss_ok(fluss_ends_open(cluster_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table, &range, 1,
									&options, ends, &scan, &err), &err);
	assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err), &err);
	assert_int_equal(item, FLUSS_SCAN_BATCH);
	assert_int_equal(fluss_scan_counters(scan)->rows, 1000);
	assert_int_equal(fluss_scan_counters(scan)->requests[FLUSS_REQUEST_FETCH], 1);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	fluss_table_release(table);
}

/* Has the server append a batch as it is, which it does without a look. */
static void
append_raw(fluss_table *table, const uint8_t *batch, size_t size)
{
	fluss_write_bucket ask = {FLUSS_NO_PARTITION, 0, {batch, size}};
	int64_t		deadline = fluss_client_deadline(test_client());
	fluss_write_result *results;
	fluss_request *answer;
	fluss_arena arena;
	fluss_error err;
	fluss_buf	body;
	int32_t		node;
	int			nresults;

	fluss_arena_init(&arena, cluster_host());
	fluss_buf_init(&body, cluster_host());
	assert_fluss_ok(fluss_leader_find(test_client(), table, FLUSS_NO_PARTITION,
									  0, deadline, &node, &err), &err);
	assert_fluss_ok(fluss_rpc_encode_produce(cluster_host(), table->table_id, -1,
											 5000, &ask, 1, &body, &err), &err);
	assert_fluss_ok(fluss_request_call(test_client(), node,
									   FLUSS_API_PRODUCE_LOG, body.data,
									   body.size, deadline, NULL, &answer,
									   &err), &err);
	assert_fluss_ok(fluss_rpc_decode_produce(&arena, fluss_request_answer(answer),
											 &results, &nresults, &err), &err);
	assert_int_equal(results[0].error_code, 0);
	fluss_request_free(answer);
	fluss_buf_free(&body);
	fluss_arena_free(&arena);
}

/*
 * Rows in a row layout amid Arrow batches, as fluss-go writes them: sensors 1
 * to 10, 21 to 30 degrees.  The server cannot project them.
 */
static void
test_foreign_layout(void **unused)
{
	static const fluss_column columns[] = {
		{"sensor_id", NULL, 0, {FLUSS_INTEGER, false}},
		{"measured_at", NULL, 1, {FLUSS_TIMESTAMP, false, 0, 3}},
		{"temperature_c", NULL, 2, {FLUSS_DOUBLE, false}},
		{"humidity_pct", NULL, 3, {FLUSS_DOUBLE, false}}
	};
	static const int32_t temperature[] = {2};
	test_table_spec spec = {
		.name = "foreign", .nbuckets = 1, .columns = columns, .ncolumns = 4
	};
	fluss_table *table = test_table_create(&spec);
	fluss_scan_options options = test_scan_options(temperature, 1);
	fluss_range range = {FLUSS_NO_PARTITION, 0, 0, ALL};
	json_t	   *vectors = test_vectors("fluss_go_batch.json");
	const fluss_batch *batch;
	fluss_scan_item item;
	fluss_loss	loss;
	fluss_scan *scan;
	fluss_ends *ends;
	fluss_error err;
	uint8_t    *bytes;
	size_t		size = test_hex(test_string(vectors, "batch_hex"), &bytes);
	int			foreign = 0;
	int			rows = 0;

	/* it names a writer: the server would take it once only */
	fluss_log_batch_stamp(bytes, size, -1, -1);
	for (int i = 0; i < 20; i++)
	{
		write_rows(table, i * 100, i * 100 + 100);
		if (i == 3 || i == 4 || i == 9)
			append_raw(table, bytes, size);
	}
	options.fetch_max_bytes = 2000;
	assert_fluss_ok(fluss_ends_open(cluster_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table, &range,
									1, &options, ends, &scan, &err), &err);
	for (;;)
	{
		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err), &err);
		if (item == FLUSS_SCAN_END)
			break;
		assert_int_equal(batch->base_offset + batch->first_row, rows);
		rows += batch->end_row - batch->first_row;
		for (int32_t i = 0; i < 10 && batch->end_row == 10; i++)
		{
			fluss_value value;

			fluss_column_value(&batch->columns[0], i, &value);
			assert_true(value.u.float8 == 21 + i);
			foreign++;
		}
	}
	assert_int_equal(rows, 20 * 100 + 3 * 10);
	assert_int_equal(foreign, 30);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	fluss_table_release(table);
	free(bytes);
	json_decref(vectors);
}

static void
test_table_made_again(void **unused)
{
	fluss_table *table = small_table("again", 1, 0);
	fluss_scan_options options = test_scan_options(small_columns, 3);
	fluss_range range = {-1, 0, 0, ALL};
	const fluss_batch *batch;
	fluss_scan_item item;
	fluss_loss	loss;
	fluss_scan *scan;
	fluss_ends *ends;
	fluss_error err;

	assert_fluss_ok(fluss_drop_table(test_client(), TEST_DATABASE, "again",
									 false, &err), &err);
	fluss_table_release(small_table("again", 1, 0));
	assert_fluss_ok(fluss_ends_open(cluster_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table, &range, 1,
									&options, ends, &scan, &err), &err);
	assert_int_equal(fluss_scan_next(scan, &item, &batch, &loss, &err),
					 FLUSS_TABLE_CHANGED);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	fluss_table_release(table);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_types),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_starts_and_ends),
		cmocka_unit_test(test_small_ranges_of_buckets),
		cmocka_unit_test(test_row_limit),
		cmocka_unit_test(test_foreign_layout),
		cmocka_unit_test(test_table_made_again),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
