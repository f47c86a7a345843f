/*
 * cluster_test.c
 *	  The client's data paths against a real cluster.
 *
 * What is written through one path is read through the others; the values
 * themselves are compared with another client's by the interoperability test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "batch.h"
#include "cluster.h"
#include "rpc.h"

#define ALL				FLUSS_OFFSET_END
#define MEGABYTE		((int64_t) 1 << 20)
#define MAX_BUCKETS		8

/* ---- writing */

static fluss_writer *
open_writer(fluss_table *table, const fluss_writer_options *changed)
{
	fluss_writer_options options = {
		.acks = -1, .batch_size = MEGABYTE, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = 64 * MEGABYTE
	};
	fluss_writer *writer;
	fluss_error err;

	assert_fluss_ok(fluss_writer_open(test_client(), cluster_host(), table,
									  changed != NULL ? changed : &options,
									  &writer, &err), &err);
	return writer;
}

static void
write_to(fluss_writer *writer, fluss_table *table, int64_t first, int64_t end)
{
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, test_host());
	for (int64_t n = first; n < end; n++)
	{
		const fluss_value *row = test_make_row(&arena, table->schema->columns,
											   table->schema->ncolumns, n);

		assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
		fluss_arena_reset(&arena);
	}
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_arena_free(&arena);
}

static void
write_rows(fluss_table *table, int64_t first, int64_t end)
{
	fluss_writer *writer = open_writer(table, NULL);

	write_to(writer, table, first, end);
	fluss_writer_close(writer);
}

/* ---- scanning */

typedef struct scan_result
{
	int64_t		rows;
	int64_t		rows_of[MAX_BUCKETS];
	int64_t		next[MAX_BUCKETS];	/* offset past the last row */
	int			changes[5];		/* rows by change type */
	int			nlosses;
	fluss_loss	loss;
	int64_t		id_sum;
	fluss_counters counters;
} scan_result;

static void
check_row(const fluss_batch *batch, int32_t row, const fluss_table *table,
		  const fluss_scan_options *options, fluss_arena *arena,
		  scan_result *result)
{
	const fluss_schema *schema = table->schema;
	const fluss_value *expected;
	fluss_value value;

	fluss_column_value(&batch->columns[0], row, &value);
	assert_false(value.is_null);
	result->id_sum += value.u.integer;
	expected = test_make_row(arena, schema->columns, schema->ncolumns,
							 value.u.integer);
	for (int i = 1; i < options->ncolumns; i++)
	{
		int32_t		column = options->columns[i];

		fluss_column_value(&batch->columns[i], row, &value);
		test_same_value(&schema->columns[column], &value, &expected[column]);
	}
	fluss_arena_reset(arena);
}

static void
check_batch(const fluss_batch *batch, const fluss_table *table,
			const fluss_scan_options *options, scan_result *result)
{
	fluss_arena arena;

	fluss_arena_init(&arena, test_host());
	assert_true(batch->base_offset + batch->first_row >=
				result->next[batch->bucket]);
	for (int32_t i = batch->first_row; i < batch->end_row; i++)
	{
		result->rows++;
		result->rows_of[batch->bucket]++;
		result->changes[batch->change_types == NULL ? 0 : batch->change_types[i]]++;
		if (options->ncolumns > 0)
			check_row(batch, i, table, options, &arena, result);
	}
	result->next[batch->bucket] = batch->base_offset + batch->end_row;
	assert_true(batch->commit_timestamp_ms > INT64_C(1700000000000));
	fluss_arena_free(&arena);
}

static scan_result
scan_ranges(fluss_table *table, const fluss_range *ranges, int nranges,
			const fluss_scan_options *options, fluss_ends *ends)
{
	scan_result result = {0};
	fluss_ends *own = NULL;
	fluss_scan *scan;
	fluss_error err;

	if (ends == NULL)
	{
		assert_fluss_ok(fluss_ends_open(cluster_host(), &own, &err), &err);
		ends = own;
	}
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table, ranges,
									nranges, options, ends, &scan, &err), &err);
	for (;;)
	{
		const fluss_batch *batch;
		fluss_scan_item item;
		fluss_loss	loss;

		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err), &err);
		if (item == FLUSS_SCAN_END)
			break;
		if (item == FLUSS_SCAN_LOSS)
		{
			result.nlosses++;
			result.loss = loss;
			continue;
		}
		check_batch(batch, table, options, &result);
	}
	result.counters = *fluss_scan_counters(scan);
	fluss_scan_close(scan);
	fluss_ends_close(own);
	return result;
}

static fluss_scan_options
scan_options(const int32_t *columns, int ncolumns)
{
	return (fluss_scan_options) {
		.columns = columns, .ncolumns = ncolumns,
		.fetch_max_bytes = 16 * MEGABYTE,
		.fetch_max_bytes_for_bucket = 16 * MEGABYTE, .fetch_inflight = 2,
		.max_buffered_bytes = 64 * MEGABYTE, .check_crc = true
	};
}

static scan_result
scan_all(fluss_table *table, const fluss_scan_options *options)
{
	fluss_range ranges[MAX_BUCKETS];

	for (int i = 0; i < table->nbuckets; i++)
		ranges[i] = (fluss_range) {FLUSS_NO_PARTITION, i, 0, ALL};
	return scan_ranges(table, ranges, table->nbuckets, options, NULL);
}

static int64_t
sum_to(int64_t n)
{
	return n * (n - 1) / 2;
}

/* Every column, some of them in another order, and none. */
static void
scan_in_every_way(fluss_table *table, int64_t nrows)
{
	static const int32_t some[] = {0, 20, 11, 3};
	int32_t		every[64];
	fluss_scan_options options;
	scan_result result;

	for (int i = 0; i < table->schema->ncolumns; i++)
		every[i] = i;
	options = scan_options(every, table->schema->ncolumns);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	assert_int_equal(result.id_sum, sum_to(nrows));
	options = scan_options(some, 4);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	assert_int_equal(result.id_sum, sum_to(nrows));
	options = scan_options(NULL, 0);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	/* many small answers */
	options = scan_options(some, 4);
	options.fetch_max_bytes = 20000;
	options.max_buffered_bytes = 500000;
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
}

/* ---- log tables */

static void
test_log_types(void **unused)
{
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
		writer = open_writer(table, NULL);
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

static fluss_table *
small_table(const char *name, int nbuckets, int nkey)
{
	static const fluss_column columns[] = {
		{"id", NULL, 0, {FLUSS_INTEGER, false}},
		{"a", NULL, 1, {FLUSS_DOUBLE, true}},
		{"b", NULL, 2, {FLUSS_STRING, true}}
	};
	test_table_spec spec = {
		.name = name, .nbuckets = nbuckets, .nkey = nkey, .columns = columns,
		.ncolumns = 3
	};

	return test_table_create(&spec);
}

static const int32_t small_columns[] = {0, 2, 1};

static void
test_ranges(void **unused)
{
	fluss_table *table = small_table("ranges", 1, 0);
	fluss_scan_options options = scan_options(small_columns, 3);
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
	fluss_scan_options options = scan_options(small_columns, 3);
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
	fluss_scan_options options = scan_options(small_columns, 3);
	fluss_writer_options writing = {
		.acks = -1, .batch_size = 4000, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = MEGABYTE
	};
	fluss_writer *writer = open_writer(table, &writing);
	fluss_range ranges[4];
	scan_result result;

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
	fluss_scan_options options = scan_options(small_columns, 3);
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
	fluss_scan_options options = scan_options(temperature, 1);
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

/* ---- keyed tables */

static fluss_lookup *
open_lookup(fluss_table *table, const int32_t *columns, int ncolumns)
{
	fluss_lookup_options options = {
		.columns = columns, .ncolumns = ncolumns, .max_batch_size = 1000,
		.max_inflight_requests = 4, .max_buffered_bytes = 64 * MEGABYTE
	};
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(test_client(), cluster_host(), table,
									  &options, &lookup, &err), &err);
	return lookup;
}

/* Looks up first .. end-1 by id; the rows there must be as written. */
static int
look_up(fluss_table *table, int64_t first, int64_t end)
{
	const fluss_schema *schema = table->schema;
	int32_t		every[64];
	fluss_lookup *lookup;
	fluss_arena arena;
	fluss_error err;
	int			nfound = 0;

	for (int i = 0; i < schema->ncolumns; i++)
		every[i] = i;
	lookup = open_lookup(table, every, schema->ncolumns);
	fluss_arena_init(&arena, test_host());
	for (int64_t n = first; n < end; n++)
	{
		fluss_value key = {.u.integer = n};
		int			slot;

		assert_fluss_ok(fluss_lookup_add(lookup, &key, &slot, &err), &err);
		assert_int_equal(slot, n - first);
	}
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	for (int64_t n = first; n < end; n++)
	{
		const fluss_value *expected;
		fluss_value values[64];
		bool		found;

		assert_fluss_ok(fluss_lookup_row(lookup, (int) (n - first), &found,
										 values, &err), &err);
		if (!found)
			continue;
		nfound++;
		expected = test_make_row(&arena, schema->columns, schema->ncolumns, n);
		for (int i = 0; i < schema->ncolumns; i++)
			test_same_value(&schema->columns[i], &values[i], &expected[i]);
		fluss_arena_reset(&arena);
	}
	fluss_arena_free(&arena);
	fluss_lookup_close(lookup);
	return nfound;
}

static fluss_status
read_whole(fluss_table *table, int64_t max_rows, int64_t *rows,
		   fluss_error *err)
{
	const fluss_schema *schema = table->schema;
	int32_t		every[64];
	fluss_kvscan_options options = {
		.columns = every, .ncolumns = schema->ncolumns,
		.mode = FLUSS_KVSCAN_LIMIT, .max_rows_per_bucket = max_rows,
		.max_buffered_bytes = 64 * MEGABYTE
	};
	fluss_kvscan *scan;
	fluss_arena arena;
	fluss_status status;

	for (int i = 0; i < schema->ncolumns; i++)
		every[i] = i;
	*rows = 0;
	fluss_arena_init(&arena, test_host());
	assert_fluss_ok(fluss_kvscan_open(test_client(), cluster_host(), table,
									  &options, &scan, err), err);
	for (;;)
	{
		const fluss_value *expected;
		fluss_value values[64];
		fluss_bucket_ref bucket;
		bool		end;

		status = fluss_kvscan_next(scan, &end, &bucket, values, err);
		if (status != FLUSS_OK || end)
			break;
		(*rows)++;
		expected = test_make_row(&arena, schema->columns, schema->ncolumns,
								 values[0].u.integer);
		for (int i = 0; i < schema->ncolumns; i++)
			test_same_value(&schema->columns[i], &values[i], &expected[i]);
		fluss_arena_reset(&arena);
	}
	fluss_arena_free(&arena);
	fluss_kvscan_close(scan);
	return status;
}

static void
test_keyed_types(void **unused)
{
	test_table_spec spec = {.nkey = 1};

	spec.columns = test_all_types(&spec.ncolumns);
	for (int i = 0; i < 2; i++)
	{
		fluss_table *table;
		fluss_error err;
		int64_t		rows;

		spec.nbuckets = i == 0 ? 1 : 4;
		spec.name = i == 0 ? "kv_1" : "kv_4";
		table = test_table_create(&spec);
		write_rows(table, 0, 5000);
		assert_int_equal(look_up(table, -100, 5200), 5000);
		assert_fluss_ok(read_whole(table, 5000, &rows, &err), &err);
		assert_int_equal(rows, 5000);
		/* the changelog */
		scan_in_every_way(table, 5000);
		fluss_table_release(table);
	}
}

static void
test_keyed_changes(void **unused)
{
	fluss_table *table = small_table("changes", 4, 1);
	fluss_scan_options options = scan_options(small_columns, 1);
	fluss_writer *writer;
	scan_result result;
	fluss_error err;
	int64_t		rows;

	write_rows(table, 0, 1000);
	write_rows(table, 0, 1000);
	writer = open_writer(table, NULL);
	for (int n = 0; n < 1000; n += 2)
	{
		fluss_value key = {.u.integer = n};

		assert_fluss_ok(fluss_writer_delete(writer, &key, &err), &err);
	}
	/* one that is not there: no change, but an offset */
	assert_fluss_ok(fluss_writer_delete(writer, &(fluss_value) {
		.u.integer = 5000
	}, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	assert_int_equal(look_up(table, 0, 1000), 500);
	assert_fluss_ok(read_whole(table, 1000, &rows, &err), &err);
	assert_int_equal(rows, 500);
	assert_int_equal(read_whole(table, 10, &rows, &err), FLUSS_TOO_MANY_ROWS);
	result = scan_all(table, &options);
	assert_int_equal(result.changes[1], 1000);
	assert_int_equal(result.changes[2], 1000);
	assert_int_equal(result.changes[3], 1000);
	assert_int_equal(result.changes[4], 500);
	fluss_table_release(table);
}

static void
test_partial_update(void **unused)
{
	static const int32_t targets[] = {0, 2};
	fluss_table *table = small_table("partial", 1, 1);
	fluss_writer_options writing = {
		.acks = -1, .batch_size = 4000, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = MEGABYTE,
		.target_columns = targets, .ntarget_columns = 2
	};
	fluss_value row[3] = {
		{.u.integer = 7}, {.is_null = true}, {.u.bytes = {(uint8_t *) "new", 3}}
	};
	fluss_lookup *lookup = open_lookup(table, small_columns, 3);
	fluss_writer *writer;
	fluss_value values[3];
	fluss_error err;
	bool		found;
	int			slot;

	write_rows(table, 7, 8);
	writer = open_writer(table, &writing);
	assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	assert_fluss_ok(fluss_lookup_add(lookup, row, &slot, &err), &err);
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	assert_fluss_ok(fluss_lookup_row(lookup, slot, &found, values, &err), &err);
	assert_true(found);
	assert_memory_equal(values[1].u.bytes.data, "new", 3);
	assert_false(values[2].is_null);
	assert_true(values[2].u.float8 == 8.0 / 7);
	fluss_lookup_close(lookup);
	fluss_table_release(table);
}

/* ---- trouble */

static void
test_table_made_again(void **unused)
{
	fluss_table *table = small_table("again", 1, 0);
	fluss_scan_options options = scan_options(small_columns, 3);
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

/* Whatever is interrupted, the client goes on. */
static void
test_interruptions(void **unused)
{
	fluss_table *table = small_table("interrupted", 4, 1);
	fluss_error err;

	write_rows(table, 0, 100);
	for (int n = 1; n < 12; n++)
	{
		fluss_lookup *lookup = open_lookup(table, small_columns, 3);
		fluss_writer *writer = open_writer(table, NULL);
		int			slot;

		for (int i = 0; i < 100; i++)
			assert_fluss_ok(fluss_lookup_add(lookup, &(fluss_value) {
				.u.integer = i
			}, &slot, &err), &err);
		test_host_interrupt_at(n);
		if (fluss_lookup_run(lookup, &err) != FLUSS_OK)
			assert_int_equal(err.status, FLUSS_INTERRUPTED);
		fluss_lookup_close(lookup);
		for (int i = 0; i < 100; i++)
		{
			fluss_value row[3] = {{.u.integer = i}, {.u.float8 = 1},
								  {.is_null = true}};

			if (fluss_writer_write(writer, row, &err) != FLUSS_OK)
				assert_int_equal(err.status, FLUSS_INTERRUPTED);
		}
		if (fluss_writer_flush(writer, &err) != FLUSS_OK)
			assert_int_equal(err.status, FLUSS_INTERRUPTED);
		fluss_writer_close(writer);
		test_host_interrupt_at(0);
	}
	write_rows(table, 0, 100);
	assert_int_equal(look_up(table, 0, 100), 100);
	fluss_table_release(table);
}

/* Everything is given back when the client is closed. */
static void
test_nothing_is_left(void **unused)
{
	test_client_done();
	assert_int_equal(test_host_live_blocks(), 0);
	assert_int_equal(test_host_live_fds(), 0);
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
		cmocka_unit_test(test_keyed_types),
		cmocka_unit_test(test_keyed_changes),
		cmocka_unit_test(test_partial_update),
		cmocka_unit_test(test_table_made_again),
		cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
