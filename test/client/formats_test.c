/*
 * formats_test.c
 *	  Nested values on a real cluster, in every log and KV format.
 *
 * What is written is read back by scans of all and of some columns, lookups
 * and whole reads.  No BINARY ends with a zero: a server of 0.9.1 takes that for
 * padding when it makes changelog columns of INDEXED rows, and then fails.
 */
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "schema.h"

#define COLUMNS		"id INT NOT NULL, a ARRAY<INT>, b ARRAY<STRING>, " \
	"c ARRAY<ARRAY<DECIMAL(38, 2)>>, d MAP<STRING, INT>, " \
	"e MAP<INT, MAP<INT, TIMESTAMP(9)>>, f ROW<x INT, y STRING>, " \
	"g ROW<x ROW<y TIME(3)>, u ARRAY<ROW<p BIGINT, q BYTES>>>, " \
	"h ARRAY<TIMESTAMP_LTZ(6)>, i CHAR(4), k DECIMAL(38, 5), l BINARY(3), z STRING"
#define NCOLUMNS	13

static const char *const rows[] = {
	"(0, [1, null, 3], [x, null, , long enough for no slot], "
	"[[dec(-1.23), null], null, []], {k: 1, l: null}, "
	"{1: {2: ntz(ms=-1,nano=999999)}, 2: null, 3: {}}, (5, yy), "
	"((86399999), [(7, 0x0102), null, (null, null)]), "
	"[ltz(ms=-1,nano=999000), null], abcd, dec(-1.00000), 0x010203, end)",
	"(1, null, null, null, null, null, null, null, null, null, null, null, null)",
	"(2, [], [], [], {}, {}, (null, null), (null, []), [], é, dec(0.00001), 0x610062, )",
	"(3, [-2147483648], [12345678], [[], [dec(1.00)]], {m: 3}, "
	"{4: {5: null, 6: ntz(ms=0,nano=0)}}, (null, w), ((null), null), "
	"[ltz(ms=9223372036854775,nano=807000)], a, "
	"dec(999999999999999999999999999999999.99999), 0x000001, 8)"
};

#define NROWS ((int) (sizeof(rows) / sizeof(rows[0])))

static const struct
{
	const char *name;
	int			nkey;
	const char *log_format;
	const char *kv_format;
}			tables[] = {
	{"log_arrow", 0, "ARROW", NULL},
	{"log_indexed", 0, "INDEXED", NULL},
	{"log_compacted", 0, "COMPACTED", NULL},
	{"kv_compacted", 1, "ARROW", "COMPACTED"},
	{"kv_compacted_log", 1, "COMPACTED", "COMPACTED"},
	{"kv_indexed", 1, "ARROW", "INDEXED"}
};

#define NTABLES ((int) (sizeof(tables) / sizeof(tables[0])))

static fluss_table *
create_table(fluss_arena *arena, int i)
{
	const fluss_schema *schema = test_schema(arena, "ROW<" COLUMNS ">");
	const test_table_spec spec = {
		.name = tables[i].name,.nbuckets = 2,.nkey = tables[i].nkey,
		.log_format = tables[i].log_format,.kv_format = tables[i].kv_format,
		.columns = schema->columns,.ncolumns = schema->ncolumns
	};

	return test_table_create(&spec);
}

static void
write_rows(fluss_table *table)
{
	const fluss_writer_options options = test_writer_options();
	fluss_writer *writer = test_open_writer(table, &options);
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, test_host());
	for (int i = 0; i < NROWS; i++)
	{
		fluss_value *row = test_row(&arena, table->schema, rows[i]);

		assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
	}
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	fluss_arena_free(&arena);
}

/* Column i of the table as it was made; later ones are NULL. */
static void
check_value(const fluss_table *table, int32_t column, const fluss_value *actual,
			int64_t id)
{
	static const fluss_value null = {.is_null = true};
	fluss_arena arena;
	const fluss_schema *schema;

	fluss_arena_init(&arena, test_host());
	schema = test_schema(&arena, "ROW<" COLUMNS ">");
	assert_in_range(id, 0, NROWS - 1);
	test_same_value(&table->schema->columns[column], actual,
					column < NCOLUMNS ?
					&test_row(&arena, schema, rows[id])[column] : &null);
	fluss_arena_free(&arena);
}

static void
check_scan(fluss_table *table, const int32_t *columns, int ncolumns)
{
	const fluss_scan_options options = test_scan_options(columns, ncolumns);
	const fluss_range ranges[] = {
		{FLUSS_NO_PARTITION, 0, 0, FLUSS_OFFSET_END},
		{FLUSS_NO_PARTITION, 1, 0, FLUSS_OFFSET_END}
	};
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_scan_item item;
	fluss_loss	loss;
	const fluss_batch *batch;
	fluss_error err;
	int			seen = 0;

	assert_fluss_ok(fluss_ends_open(test_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table,
									ranges, 2, &options, ends, &scan, &err),
					&err);
	for (;;)
	{
		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err), &err);
		if (item == FLUSS_SCAN_END)
			break;
		assert_int_equal(item, FLUSS_SCAN_BATCH);
		for (int32_t row = batch->first_row; row < batch->end_row; row++, seen++)
		{
			int32_t		id = fluss_column_int32(&batch->columns[0], row);

			for (int i = 0; i < ncolumns; i++)
			{
				fluss_value value;
				void	   *items;

				test_view_value(&batch->columns[i], row, &value, &items);
				check_value(table, columns[i], &value, id);
				test_free_items(items);
			}
		}
	}
	assert_int_equal(seen, NROWS);
	fluss_scan_close(scan);
	fluss_ends_close(ends);
}

static void
check_lookups(fluss_table *table, const int32_t *columns, int ncolumns)
{
	const fluss_lookup_options options = test_lookup_options(columns, ncolumns);
	fluss_lookup *lookup = test_open_lookup(table, &options);
	fluss_value values[NCOLUMNS + 1];
	fluss_error err;
	int			slots[NROWS];

	fluss_lookup_reset(lookup);
	for (int id = 0; id < NROWS; id++)
	{
		const fluss_value key = {.u.integer = id};

		assert_fluss_ok(fluss_lookup_add(lookup, &key, &slots[id], &err), &err);
	}
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	for (int id = 0; id < NROWS; id++)
	{
		assert_fluss_ok(fluss_lookup_row(lookup, slots[id], 0, values, &err),
						&err);
		for (int i = 0; i < ncolumns; i++)
			check_value(table, columns[i], &values[i], id);
	}
	fluss_lookup_close(lookup);
}

static void
check_whole_read(fluss_table *table, const int32_t *columns, int ncolumns)
{
	const fluss_kvscan_options options = {
		.columns = columns,.ncolumns = ncolumns,.max_rows_per_bucket = 1000,
		.max_buffered_bytes = 64 * MEGABYTE
	};
	fluss_kvscan *scan;
	fluss_value values[NCOLUMNS + 1];
	fluss_error err;
	int			seen = 0;

	assert_fluss_ok(fluss_kvscan_open(test_client(), cluster_host(), table,
									  &options, &scan, &err), &err);
	for (;; seen++)
	{
		bool		end;
		fluss_bucket_ref bucket;

		assert_fluss_ok(fluss_kvscan_next(scan, &end, &bucket, values, &err),
						&err);
		if (end)
			break;
		for (int i = 0; i < ncolumns; i++)
			check_value(table, columns[i], &values[i], values[0].u.integer);
	}
	assert_int_equal(seen, NROWS);
	fluss_kvscan_close(scan);
}

static void
check_table(fluss_table *table)
{
	static const int32_t some[] = {0, 7, 3};
	int32_t		all[NCOLUMNS + 1];
	int			n = table->schema->ncolumns;

	for (int i = 0; i < n; i++)
		all[i] = i;
	check_scan(table, all, n);
	check_scan(table, some, 3);
	if (table->schema->nprimary_key == 0)
		return;
	check_lookups(table, all, n);
	check_lookups(table, some, 3);
	check_whole_read(table, all, n);
	check_whole_read(table, some, 3);
}

static void
test_formats(void **unused)
{
	for (int i = 0; i < NTABLES; i++)
	{
		fluss_arena arena;
		fluss_table *table;

		fluss_arena_init(&arena, test_host());
		table = create_table(&arena, i);
		print_message("%s\n", tables[i].name);
		write_rows(table);
		check_table(table);
		fluss_table_release(table);
		fluss_arena_free(&arena);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
