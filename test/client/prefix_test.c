/*
 * prefix_test.c
 *	  Lookups by a prefix of the key, for each key format, and altered tables,
 *	  on a real cluster.
 */
#include <stdio.h>
#include <string.h>

#include "tables.h"
#include "row.h"


static const fluss_column columns[] = {
	{.name = "a", .type = {.id = FLUSS_INTEGER}},
	{.name = "b", .type = {.id = FLUSS_STRING}},
	{.name = "c", .type = {.id = FLUSS_BIGINT}},
	{.name = "v", .type = {.id = FLUSS_STRING, .nullable = true}}
};

/* Primary key (a, b, c) and the first nbucket_key of them for the bucket. */
static fluss_status
create_table(const char *name, int nbucket_key, const char *version,
			 const char *lake, fluss_table **table, fluss_error *err)
{
	const char *const key[] = {"a", "b", "c"};
	fluss_property properties[2];
	fluss_table_spec spec = {
		.ncolumns = 4, .columns = columns, .nprimary_key = 3,
		.primary_key = key, .nbucket_key = nbucket_key, .bucket_key = key,
		.nbuckets = 3, .properties = properties
	};
	fluss_status status;

	if (version != NULL)
		properties[spec.nproperties++] =
			(fluss_property) {"table.kv.format-version", version};
	if (lake != NULL)
		properties[spec.nproperties++] =
			(fluss_property) {"table.datalake.format", lake};
	status = fluss_create_table(test_client(), TEST_DATABASE, name, &spec,
								false, err);
	if (status == FLUSS_OK)
		status = fluss_table_open(test_client(), TEST_DATABASE, name, false,
								  table, err);
	return status;
}

static fluss_bytes
text(const char *p)
{
	return (fluss_bytes) {(const uint8_t *) p, strlen(p)};
}

static void
write_rows(fluss_table *table)
{
	const fluss_writer_options options = test_writer_options();
	fluss_writer *writer = test_open_writer(table, &options);
	fluss_error err;

	for (int a = 0; a < 200; a++)
	{
		for (int i = 0; i < a % 5; i++)
		{
			char		b[32];
			fluss_value row[4];

			sprintf(b, "a long text %d", i / 2);
			row[0] = (fluss_value) {.u.integer = a};
			row[1] = (fluss_value) {.u.bytes = text(b)};
			row[2] = (fluss_value) {.u.integer = i};
			row[3] = (fluss_value) {.u.bytes = text(b)};
			assert_fluss_ok(fluss_writer_write(writer, row, &err), &err);
		}
	}
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
}

/* a alone, or with b, leads to the rows that write_rows made. */
static void
check_prefixes(fluss_table *table)
{
	static const int32_t wanted[] = {0, 2};
	fluss_lookup_options options = test_lookup_options(wanted, 2);
	bool		with_b = table->nbucket_key == 2;
	fluss_lookup *lookup;
	fluss_error err;

	options.max_batch_size = 64;
	options.prefix = true;
	lookup = test_open_lookup(table, &options);
	for (int a = 0; a < 210; a++)
	{
		fluss_value key[3] = {
			{.u.integer = a}, {.is_null = !with_b}, {.is_null = true}
		};
		int			slot;

		key[1].u.bytes = text("a long text 0");
		assert_fluss_ok(fluss_lookup_add(lookup, key, &slot, &err), &err);
		assert_int_equal(slot, a);
	}
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	for (int a = 0; a < 210; a++)
	{
		int			expected = a < 200 ? a % 5 : 0;

		if (with_b && expected > 2)
			expected = 2;
		assert_int_equal(fluss_lookup_nrows(lookup, a), expected);
		for (int i = 0; i < expected; i++)
		{
			fluss_value values[2];

			assert_fluss_ok(fluss_lookup_row(lookup, a, i, values, &err),
							&err);
			assert_int_equal(values[0].u.integer, a);
			assert_in_range(values[1].u.integer, 0, 3);
		}
	}
	assert_in_range(fluss_lookup_counters(lookup)->requests[FLUSS_REQUEST_PREFIX_LOOKUP],
					1, 4);
	fluss_lookup_close(lookup);
}

static void
check_format(const char *name, int nbucket_key, const char *version,
			 const char *lake, bool offered)
{
	fluss_table *table;
	fluss_error err;

	assert_fluss_ok(create_table(name, nbucket_key, version, lake, &table,
								 &err), &err);
	assert_int_equal(fluss_table_prefix_lookup(table), offered);
	if (offered)
	{
		write_rows(table);
		check_prefixes(table);
	}
	fluss_table_release(table);
}

static void
test_key_formats(void **unused)
{
	check_format("v2", 1, NULL, NULL, true);
	check_format("v2_two", 2, NULL, NULL, true);
	check_format("v1", 1, "1", NULL, true);
	check_format("v1_two", 2, "1", NULL, true);
	check_format("whole", 3, NULL, NULL, false);
}

static void
try_lake(const char *name, int nbucket_key, const char *version,
		 const char *lake, bool offered)
{
	fluss_table *table;
	fluss_error err;

	/* a cluster without that lake may refuse the property */
	if (create_table(name, nbucket_key, version, lake, &table,
					 &err) != FLUSS_OK)
	{
		printf("%s: %s (%s)\n", name, err.message, err.detail);
		return;
	}
	fluss_table_release(table);
	assert_fluss_ok(fluss_drop_table(test_client(), TEST_DATABASE, name, false,
									 &err), &err);
	check_format(name, nbucket_key, version, lake, offered);
}

static void
test_lake_formats(void **unused)
{
	try_lake("paimon_v2", 1, NULL, "paimon", true);
	try_lake("paimon_v2_two", 2, NULL, "paimon", true);
	try_lake("paimon_v1", 1, "1", "paimon", true);
	try_lake("paimon_v1_two", 2, "1", "paimon", false);
	try_lake("iceberg_v2", 1, NULL, "iceberg", true);
	try_lake("lance_v2", 2, NULL, "lance", true);
}

/* ---- alterations */

static void
test_alter(void **unused)
{
	const fluss_column added[] = {
		{.name = "n", .comment = "new", .type = {.id = FLUSS_DECIMAL,
				.precision = 10, .scale = 2, .nullable = true}},
		{.name = "s", .type = {.id = FLUSS_STRING, .nullable = true}}
	};
	const fluss_column strict = {.name = "x", .type = {.id = FLUSS_INTEGER}};
	const fluss_property set[] = {
		{"table.log.tiered.local-segments", "5"}, {"my.key", "mine"}
	};
	const fluss_property wrong = {"table.replication.factor", "3"};
	const char *const reset[] = {"my.key"};
	fluss_table *table;
	fluss_error err;

	assert_fluss_ok(create_table("altered", 1, NULL, NULL, &table, &err), &err);
	fluss_table_release(table);
	assert_fluss_ok(fluss_alter_table(test_client(), TEST_DATABASE, "altered",
									  set, 2, NULL, 0, &err), &err);
	assert_fluss_ok(fluss_table_open(test_client(), TEST_DATABASE, "altered",
									 false, &table, &err), &err);
	assert_string_equal(fluss_table_property(table, "my.key"), "mine");
	assert_string_equal(fluss_table_property(table, set[0].key), "5");
	fluss_table_release(table);
	assert_fluss_ok(fluss_alter_table(test_client(), TEST_DATABASE, "altered",
									  NULL, 0, reset, 1, &err), &err);
	assert_int_equal(fluss_alter_table(test_client(), TEST_DATABASE, "altered",
									   &wrong, 1, NULL, 0, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(fluss_alter_table(test_client(), TEST_DATABASE, "nothing",
									   set, 1, NULL, 0, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_TABLE_NOT_EXIST);
	assert_fluss_ok(fluss_add_columns(test_client(), TEST_DATABASE, "altered",
									  added, 2, &err), &err);
	assert_fluss_ok(fluss_table_open(test_client(), TEST_DATABASE, "altered",
									 false, &table, &err), &err);
	assert_null(fluss_table_property(table, "my.key"));
	assert_int_equal(table->schema->ncolumns, 6);
	assert_string_equal(table->schema->columns[4].comment, "new");
	assert_int_equal(table->schema->columns[4].type.scale, 2);
	assert_int_equal(table->schema->columns[5].type.id, FLUSS_STRING);
	fluss_table_release(table);
	assert_int_equal(fluss_add_columns(test_client(), TEST_DATABASE, "altered",
									   &strict, 1, &err), FLUSS_UNSUPPORTED);
	assert_int_equal(fluss_add_columns(test_client(), TEST_DATABASE, "altered",
									   added, 1, &err), FLUSS_SERVER_ERROR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_formats),
		cmocka_unit_test(test_lake_formats),
		cmocka_unit_test(test_alter),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
