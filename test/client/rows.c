/*
 * rows.c
 *	  Rows written to test tables, and read again through a log scan.
 */
#include "rows.h"

const int32_t small_columns[3] = {0, 2, 1};

fluss_table *
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

/* ---- writing */

void
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

void
write_rows(fluss_table *table, int64_t first, int64_t end)
{
	const fluss_writer_options options = test_writer_options();
	fluss_writer *writer = test_open_writer(table, &options);

	write_to(writer, table, first, end);
	fluss_writer_close(writer);
}

/* ---- scanning */

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

scan_result
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

scan_result
scan_all(fluss_table *table, const fluss_scan_options *options)
{
	fluss_range ranges[MAX_BUCKETS];

	for (int i = 0; i < table->nbuckets; i++)
		ranges[i] = (fluss_range) {FLUSS_NO_PARTITION, i, 0, ALL};
	return scan_ranges(table, ranges, table->nbuckets, options, NULL);
}

int64_t
sum_to(int64_t n)
{
	return n * (n - 1) / 2;
}

/* Every column, some of them in another order, and none. */
void
scan_in_every_way(fluss_table *table, int64_t nrows)
{
	static const int32_t some[] = {0, 20, 11, 3};
	int32_t		every[64];
	fluss_scan_options options;
	scan_result result;

	for (int i = 0; i < table->schema->ncolumns; i++)
		every[i] = i;
	options = test_scan_options(every, table->schema->ncolumns);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	assert_int_equal(result.id_sum, sum_to(nrows));
	options = test_scan_options(some, 4);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	assert_int_equal(result.id_sum, sum_to(nrows));
	options = test_scan_options(NULL, 0);
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
	/* many small answers */
	options = test_scan_options(some, 4);
	options.fetch_max_bytes = 20000;
	options.max_buffered_bytes = 500000;
	result = scan_all(table, &options);
	assert_int_equal(result.rows, nrows);
}
