/*
 * kv_test.c
 *	  Primary key tables of a real cluster: lookups, whole reads, changes.
 *
 * The values themselves are compared with another client's by the
 * interoperability test.
 */
#include "rows.h"

/* Looks up first .. end-1 by id; the rows there must be as written. */
static int
look_up(fluss_table *table, int64_t first, int64_t end)
{
	const fluss_schema *schema = table->schema;
	int32_t		every[64];
	fluss_lookup_options options;
	fluss_lookup *lookup;
	fluss_arena arena;
	fluss_error err;
	int			nfound = 0;

	for (int i = 0; i < schema->ncolumns; i++)
		every[i] = i;
	options = test_lookup_options(every, schema->ncolumns);
	lookup = test_open_lookup(table, &options);
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
		int			slot = (int) (n - first);

		if (fluss_lookup_nrows(lookup, slot) == 0)
			continue;
		nfound++;
		assert_fluss_ok(fluss_lookup_row(lookup, slot, 0, values, &err), &err);
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
	fluss_scan_options options = test_scan_options(small_columns, 1);
	const fluss_writer_options writing = test_writer_options();
	fluss_writer *writer;
	scan_result result;
	fluss_error err;
	int64_t		rows;

	write_rows(table, 0, 1000);
	write_rows(table, 0, 1000);
	writer = test_open_writer(table, &writing);
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
	fluss_writer_options writing = test_writer_options();
	const fluss_lookup_options looking = test_lookup_options(small_columns, 3);
	fluss_value row[3] = {
		{.u.integer = 7}, {.is_null = true}, {.u.bytes = {(uint8_t *) "new", 3}}
	};
	fluss_lookup *lookup = test_open_lookup(table, &looking);
	fluss_writer *writer;
	fluss_value values[3];
	fluss_error err;
	int			slot;

	write_rows(table, 7, 8);
	writing.target_columns = targets;
	writing.ntarget_columns = 2;
	writer = test_open_writer(table, &writing);
	assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	assert_fluss_ok(fluss_lookup_add(lookup, row, &slot, &err), &err);
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	assert_fluss_ok(fluss_lookup_row(lookup, slot, 0, values, &err), &err);
	assert_memory_equal(values[1].u.bytes.data, "new", 3);
	assert_false(values[2].is_null);
	assert_true(values[2].u.float8 == 8.0 / 7);
	fluss_lookup_close(lookup);
	fluss_table_release(table);
}

/* Whatever is interrupted, the client goes on. */
static void
test_interruptions(void **unused)
{
	const fluss_writer_options writing = test_writer_options();
	const fluss_lookup_options looking = test_lookup_options(small_columns, 3);
	fluss_table *table = small_table("interrupted", 4, 1);
	fluss_error err;

	write_rows(table, 0, 100);
	for (int n = 1; n < 12; n++)
	{
		fluss_lookup *lookup = test_open_lookup(table, &looking);
		fluss_writer *writer = test_open_writer(table, &writing);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keyed_types),
		cmocka_unit_test(test_keyed_changes),
		cmocka_unit_test(test_partial_update),
		cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
