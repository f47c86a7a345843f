/*
 * partition_test.c
 *	  Partitioned tables of a real cluster: listed, created, dropped, read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "error.h"

#define NBUCKETS	2

static fluss_table *
create_table(const char *name, const fluss_column *columns, int ncolumns,
			 int npartition_key, const char *const *partition_key, bool keyed)
{
	const char *key[8] = {"id"};
	fluss_table_spec spec = {
		.ncolumns = ncolumns, .columns = columns, .nbuckets = NBUCKETS,
		.npartition_key = npartition_key, .partition_key = partition_key
	};
	fluss_table *table;
	fluss_error err;

	for (int i = 0; i < npartition_key; i++)
		key[i + 1] = partition_key[i];
	if (keyed)
	{
		spec.nprimary_key = npartition_key + 1;
		spec.primary_key = key;
		spec.nbucket_key = 1;
		spec.bucket_key = key;
	}
	assert_fluss_ok(fluss_create_table(test_client(), TEST_DATABASE, name,
									   &spec, false, &err), &err);
	assert_fluss_ok(fluss_table_open(test_client(), TEST_DATABASE, name, false,
									 &table, &err), &err);
	return table;
}

static const fluss_column two_keys[] = {
	{.name = "id", .type = {.id = FLUSS_INTEGER}},
	{.name = "region", .type = {.id = FLUSS_STRING}},
	{.name = "day", .type = {.id = FLUSS_DATE}},
	{.name = "v", .type = {.id = FLUSS_BIGINT, .nullable = true}}
};

static const char *const region_and_day[] = {"region", "day"};

static void
sleep_ms(int ms)
{
	(void) cluster_host()->wait(cluster_host()->arg, NULL, 0, ms);
}

static fluss_partitions *
list_partitions(fluss_table *table, int64_t max_age_ms)
{
	fluss_partitions *partitions;
	fluss_error err;

	assert_fluss_ok(fluss_partitions_open(test_client(), table, max_age_ms,
										  &partitions, &err), &err);
	return partitions;
}

static int64_t
id_of(fluss_table *table, const char *name)
{
	fluss_partitions *partitions = list_partitions(table, 0);
	const fluss_partition *found = fluss_partition_by_name(partitions, name);
	int64_t		id = found == NULL ? FLUSS_NO_PARTITION : found->partition_id;

	if (found != NULL)
		assert_ptr_equal(fluss_partition_by_id(partitions, id), found);
	fluss_partitions_release(partitions);
	return id;
}

static void
create(fluss_table *table, const char *region, const char *day)
{
	const char *values[] = {region, day};
	fluss_error err;

	assert_fluss_ok(fluss_create_partition(test_client(), table, values, false,
										   &err), &err);
}

static void
drop(fluss_table *table, const char *region, const char *day)
{
	const char *values[] = {region, day};
	fluss_error err;

	assert_fluss_ok(fluss_drop_partition(test_client(), table, values, false,
										 &err), &err);
}

static void
test_create_list_drop(void **unused)
{
	fluss_table *table = create_table("two_keys", two_keys, 4, 2,
									  region_and_day, false);
	const char *again[] = {"eu", "2024-01-02"};
	const char *wrong[] = {"e.u", "2024-01-02"};
	const fluss_bucket_info *buckets;
	fluss_partitions *old;
	fluss_partitions *partitions;
	fluss_error err;
	int64_t		first;
	int			n;

	old = list_partitions(table, 0);
	assert_int_equal(old->n, 0);
	create(table, "eu", "2024-01-02");
	create(table, "us", "2024-01-02");
	first = id_of(table, "eu$2024-01-02");
	assert_true(first >= 0);
	/* the old list is not touched */
	assert_int_equal(old->n, 0);
	fluss_partitions_release(old);
	partitions = list_partitions(table, 100000);
	assert_int_equal(partitions->n, 2);
	assert_string_equal(partitions->items[0].values[0], "eu");
	assert_string_equal(partitions->items[0].values[1], "2024-01-02");
	assert_null(fluss_partition_by_name(partitions, "eu"));
	assert_null(fluss_partition_by_id(partitions, 999999));
	fluss_partitions_release(partitions);
	assert_fluss_ok(fluss_table_buckets(test_client(), table, &buckets, &n,
										&err), &err);
	assert_int_equal(n, 2 * NBUCKETS);
	for (int i = 0; i < n; i++)
		assert_true(buckets[i].leader >= 0 && buckets[i].partition_id >= 0);

	assert_int_equal(fluss_create_partition(test_client(), table, again, false,
											&err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_PARTITION_ALREADY_EXISTS);
	assert_fluss_ok(fluss_create_partition(test_client(), table, again, true,
										   &err), &err);
	assert_int_equal(fluss_create_partition(test_client(), table, wrong, false,
											&err), FLUSS_INVALID_ARGUMENT);

	drop(table, "eu", "2024-01-02");
	assert_int_equal(fluss_drop_partition(test_client(), table, again, false,
										  &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_PARTITION_NOT_EXISTS);
	assert_fluss_ok(fluss_drop_partition(test_client(), table, again, true,
										 &err), &err);
	create(table, "eu", "2024-01-02");
	assert_true(id_of(table, "eu$2024-01-02") > first);
	fluss_table_release(table);
}

static void
test_dropped_partition(void **unused)
{
	fluss_table *table = create_table("dropped", two_keys, 4, 2,
									  region_and_day, false);
	const int32_t buckets[] = {0, 1};
	int64_t		offsets[2];
	int64_t		id;
	fluss_error err;

	create(table, "eu", "2024-01-02");
	id = id_of(table, "eu$2024-01-02");
	assert_fluss_ok(fluss_list_offsets(test_client(), table,
									   FLUSS_OFFSET_LATEST, 0, id, buckets, 2,
									   true, offsets, &err), &err);
	assert_int_equal(offsets[0], 0);
	assert_fluss_ok(fluss_table_row_counts(test_client(), table, id, buckets,
										   2, offsets, &err), &err);
	assert_int_equal(offsets[1], 0);
	drop(table, "eu", "2024-01-02");
	/* the servers hear of it a moment later */
	while (fluss_list_offsets(test_client(), table, FLUSS_OFFSET_LATEST, 0, id,
							  buckets, 2, true, offsets, &err) == FLUSS_OK)
		sleep_ms(50);
	assert_int_equal(err.status, FLUSS_SERVER_ERROR);
	assert_true(fluss_error_is_dropped_partition(&err));
	assert_int_equal(err.partition_id, id);
	fluss_table_release(table);
}

static void
test_not_partitioned(void **unused)
{
	fluss_table *table = create_table("plain", two_keys, 4, 0, NULL, false);
	const char *values[] = {"eu"};
	fluss_partitions *partitions;
	fluss_error err;

	assert_int_equal(fluss_partitions_open(test_client(), table, 0,
										   &partitions, &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_int_equal(fluss_create_partition(test_client(), table, values, true,
											&err), FLUSS_INVALID_ARGUMENT);
	fluss_table_release(table);
}

static int
tear_down(void **unused)
{
	test_client_done();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_list_drop),
		cmocka_unit_test(test_dropped_partition),
		cmocka_unit_test(test_not_partitioned),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
