/*
 * partition_type_test.c
 *	  Partition columns of every type, on a real cluster.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tables.h"

#define NVALUES			3

typedef struct type_case
{
	fluss_type	type;
	fluss_value values[NVALUES];
	const char *names[NVALUES];
} type_case;

#define TEXT(s)			{.u.bytes = {(const uint8_t *) (s), sizeof(s) - 1}}
#define INTEGER(v)		{.u.integer = (v)}
#define STAMP(ms, ns)	{.u.timestamp = {(ms), (ns)}}

static const type_case cases[] = {
	{{.id = FLUSS_BOOLEAN}, {{.u.boolean = true}, {.u.boolean = false}},
	{"true", "false"}},
	{{.id = FLUSS_TINYINT}, {INTEGER(-128), INTEGER(127), INTEGER(0)},
	{"-128", "127", "0"}},
	{{.id = FLUSS_SMALLINT}, {INTEGER(-32768), INTEGER(1), INTEGER(7)},
	{"-32768", "1", "7"}},
	{{.id = FLUSS_INTEGER}, {INTEGER(INT32_MIN), INTEGER(128), INTEGER(-1)},
	{"-2147483648", "128", "-1"}},
	{{.id = FLUSS_BIGINT}, {INTEGER(INT64_MIN), INTEGER(INT64_MAX), INTEGER(0)},
	{"-9223372036854775808", "9223372036854775807", "0"}},
	{{.id = FLUSS_FLOAT}, {{.u.float4 = 1.5f}, {.u.float4 = 1e10f}, {.u.float4 = NAN}},
	{"1_5", "1_0E10", "NaN"}},
	{{.id = FLUSS_DOUBLE}, {{.u.float8 = -0.1}, {.u.float8 = 1e-7}, {.u.float8 = -INFINITY}},
	{"-0_1", "1_0E-7", "-Inf"}},
	{{.id = FLUSS_CHAR, .length = 4}, {TEXT("abcd"), TEXT("a"), TEXT("_-Z9")},
	{"abcd", "a", "_-Z9"}},
	{{.id = FLUSS_STRING}, {TEXT("2024-01-02"), TEXT("x"), TEXT("A_b")},
	{"2024-01-02", "x", "A_b"}},
	{{.id = FLUSS_BINARY, .length = 2}, {TEXT("\x0a\xff"), TEXT("\x00\x01"), TEXT("ab")},
	{"0aff", "0001", "6162"}},
	{{.id = FLUSS_BYTES}, {TEXT("\xff"), TEXT("\x00"), TEXT("abc")},
	{"ff", "00", "616263"}},
	{{.id = FLUSS_DATE}, {INTEGER(19724), INTEGER(-1), INTEGER(0)},
	{"2024-01-02", "1969-12-31", "1970-01-01"}},
	{{.id = FLUSS_TIME, .precision = 3}, {INTEGER(3723004), INTEGER(0), INTEGER(86399999)},
	{"01-02-03_004", "00-00-00_000", "23-59-59_999"}},
	{{.id = FLUSS_TIMESTAMP, .precision = 6},
	{STAMP(1704153600123, 456000), STAMP(-1, 0), STAMP(0, 0)},
	{"2024-01-02-00-00-00_123456", "1969-12-31-23-59-59_999", "1970-01-01-00-00-00_"}},
	{{.id = FLUSS_TIMESTAMP_LTZ, .precision = 3},
	{STAMP(1704153600120, 0), STAMP(-1, 0), STAMP(0, 0)},
	{"2024-01-02-00-00-00_12", "1969-12-31-23-59-59_999", "1970-01-01-00-00-00_"}},
};

static int
nvalues_of(const type_case *c)
{
	return c->names[2] == NULL ? 2 : 3;
}

static fluss_table *
create_table(const type_case *c)
{
	const fluss_column columns[] = {
		{.name = "id", .type = {.id = FLUSS_INTEGER}},
		{.name = "p", .type = c->type}
	};
	const char *const key[] = {"id", "p"};
	const fluss_table_spec spec = {
		.ncolumns = 2, .columns = columns, .nbuckets = 1, .nprimary_key = 2,
		.primary_key = key, .npartition_key = 1, .partition_key = key + 1,
		.nbucket_key = 1, .bucket_key = key
	};
	char		name[32];
	fluss_table *table;
	fluss_error err;

	sprintf(name, "type_%d", (int) c->type.id);
	assert_fluss_ok(fluss_create_table(test_client(), TEST_DATABASE, name,
									   &spec, false, &err), &err);
	assert_fluss_ok(fluss_table_open(test_client(), TEST_DATABASE, name, false,
									 &table, &err), &err);
	return table;
}

static void
write_rows(fluss_table *table, const type_case *c)
{
	fluss_writer_options options = test_writer_options();
	fluss_writer *writer;
	fluss_error err;

	options.create_partitions = true;
	writer = test_open_writer(table, &options);
	for (int i = 0; i < nvalues_of(c); i++)
	{
		fluss_value row[2] = {{.u.integer = i}, c->values[i]};

		assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
	}
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
}

static void
check_names(fluss_table *table, const type_case *c)
{
	fluss_partitions *list;
	fluss_error err;

	assert_fluss_ok(fluss_partitions_open(test_client(), table, 0, &list, &err),
					&err);
	assert_int_equal(list->n, nvalues_of(c));
	for (int i = 0; i < list->n; i++)
	{
		const fluss_partition *partition =
			fluss_partition_by_name(list, c->names[i]);
		uint8_t		buffer[FLUSS_PARTITION_TEXT_SIZE];
		fluss_value value;

		assert_non_null(partition);
		assert_fluss_ok(fluss_partition_value(&c->type, partition->values[0],
											  buffer, &value, &err), &err);
		test_same_value(&table->schema->columns[1], &value, &c->values[i]);
	}
	fluss_partitions_release(list);
}

/* Each id is in the partition of its own value, and in no other. */
static void
check_lookups(fluss_table *table, const type_case *c)
{
	static const int32_t columns[] = {0, 1};
	fluss_lookup_options options = test_lookup_options(columns, 2);
	int			n = nvalues_of(c);
	fluss_lookup *lookup;
	fluss_error err;

	options.max_batch_size = 64;
	lookup = test_open_lookup(table, &options);
	for (int i = 0; i < n * n; i++)
	{
		fluss_value key[2] = {{.u.integer = i / n}, c->values[i % n]};
		int			slot;

		assert_fluss_ok(fluss_lookup_add(lookup, key, &slot, &err), &err);
		assert_int_equal(slot, i);
	}
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	for (int i = 0; i < n * n; i++)
	{
		fluss_value values[2];

		assert_int_equal(fluss_lookup_nrows(lookup, i), i / n == i % n);
		if (i / n != i % n)
			continue;
		assert_fluss_ok(fluss_lookup_row(lookup, i, 0, values, &err), &err);
		test_same_value(&table->schema->columns[1], &values[1],
						&c->values[i % n]);
	}
	fluss_lookup_close(lookup);
}

static void
test_every_type(void **unused)
{
	/*
	 * A coordinator of 0.9.1 misses a table that is created on the heels of a
	 * deletion, like that of the database; without buckets nothing shows it.
	 */
	test_client();
	(void) cluster_host()->wait(cluster_host()->arg, NULL, 0, 2500);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		fluss_table *table = create_table(&cases[i]);

		write_rows(table, &cases[i]);
		check_names(table, &cases[i]);
		check_lookups(table, &cases[i]);
		fluss_table_release(table);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_type),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
