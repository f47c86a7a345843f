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
									   FLUSS_NEED_ALL, offsets, &err), &err);
	assert_int_equal(offsets[0], 0);
	assert_fluss_ok(fluss_table_row_counts(test_client(), table, id, buckets,
										   2, offsets, &err), &err);
	assert_int_equal(offsets[1], 0);
	drop(table, "eu", "2024-01-02");
	/* the servers hear of it a moment later */
	while (fluss_list_offsets(test_client(), table, FLUSS_OFFSET_LATEST, 0, id,
							  buckets, 2, FLUSS_NEED_ALL, offsets, &err) == FLUSS_OK)
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

/* ---- rows */

#define FIRST_DAY		19724	/* 2024-01-02 */
#define NDAYS			3

static fluss_writer *
open_writer(fluss_table *table, bool create_partitions)
{
	fluss_writer_options options = test_writer_options();

	options.create_partitions = create_partitions;
	return test_open_writer(table, &options);
}

static fluss_status
write_row(fluss_writer *writer, int64_t id, const char *region, int64_t day,
		  int64_t v, fluss_error *err)
{
	fluss_value row[] = {
		{.u.integer = id},
		{.u.bytes = {(const uint8_t *) region, strlen(region)}},
		{.u.integer = day},
		{.u.integer = v}
	};

	return fluss_writer_write(writer, row, err);
}

/* Rows id = 0 .. n-1, by turns in the days and in "eu" and "us". */
static void
write_rows(fluss_table *table, int n)
{
	fluss_writer *writer = open_writer(table, true);
	const fluss_write_run *runs;
	fluss_error err;
	int64_t		rows = 0;
	int			nruns;

	for (int i = 0; i < n; i++)
		assert_fluss_ok(write_row(writer, i, i % 2 == 0 ? "eu" : "us",
								  FIRST_DAY + i % NDAYS, 10 * i, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	runs = fluss_writer_runs(writer, &nruns);
	for (int i = 0; i < nruns; i++)
	{
		assert_true(runs[i].partition_id >= 0);
		assert_true(i == 0 || runs[i].partition_id >= runs[i - 1].partition_id);
		rows += runs[i].rows;
	}
	assert_int_equal(rows, n);
	fluss_writer_close(writer);
}

typedef struct scanned
{
	int64_t		rows;
	int64_t		id_sum;
	int			ndropped;
	int64_t		dropped_id;
} scanned;

/* Scans all partitions of the list; drops one, if any, before batch number 1. */
static scanned
scan_all(fluss_table *table, const char *drop_region, const char *drop_day)
{
	const int32_t columns[] = {0};
	const fluss_scan_options options = {
		.columns = columns, .ncolumns = 1, .fetch_max_bytes = MEGABYTE,
		.fetch_max_bytes_for_bucket = MEGABYTE, .fetch_inflight = 1,
		.max_buffered_bytes = MEGABYTE
	};
	fluss_partitions *list = list_partitions(table, 0);
	fluss_range *ranges = calloc((size_t) list->n * NBUCKETS, sizeof(*ranges));
	scanned		result = {.dropped_id = FLUSS_NO_PARTITION};
	const fluss_batch *batch;
	fluss_scan_item item;
	fluss_loss	loss;
	fluss_ends *ends;
	fluss_scan *scan;
	fluss_error err;

	for (int i = 0; i < list->n * NBUCKETS; i++)
		ranges[i] = (fluss_range) {
			.partition_id = list->items[i / NBUCKETS].partition_id,
			.bucket = i % NBUCKETS, .end = FLUSS_OFFSET_END
		};
	assert_fluss_ok(fluss_ends_open(cluster_host(), &ends, &err), &err);
	assert_fluss_ok(fluss_scan_open(test_client(), cluster_host(), table,
									ranges, list->n * NBUCKETS, &options, ends,
									&scan, &err), &err);
	if (drop_region != NULL)
	{
		drop(table, drop_region, drop_day);
		sleep_ms(1500);
	}
	for (;;)
	{
		assert_fluss_ok(fluss_scan_next(scan, &item, &batch, &loss, &err),
						&err);
		if (item == FLUSS_SCAN_END)
			break;
		if (item == FLUSS_SCAN_LOSS)
		{
			assert_true(loss.dropped);
			assert_int_equal(loss.start, 0);
			result.ndropped++;
			result.dropped_id = loss.partition_id;
			continue;
		}
		for (int32_t i = batch->first_row; i < batch->end_row; i++)
		{
			fluss_value value;

			fluss_column_value(&batch->columns[0], i, &value);
			result.rows++;
			result.id_sum += value.u.integer;
		}
	}
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	fluss_partitions_release(list);
	free(ranges);
	return result;
}

static void
test_log_table(void **unused)
{
	fluss_table *table = create_table("log_rows", two_keys, 4, 2,
									  region_and_day, false);
	scanned		result;
	int64_t		id;

	write_rows(table, 6000);
	result = scan_all(table, NULL, NULL);
	assert_int_equal(result.rows, 6000);
	assert_int_equal(result.id_sum, 6000 * 5999 / 2);
	assert_int_equal(result.ndropped, 0);
	/* dropped between the choice of the ranges and the first fetch */
	id = id_of(table, "eu$2024-01-02");
	result = scan_all(table, "eu", "2024-01-02");
	assert_int_equal(result.rows, 5000);
	assert_int_equal(result.ndropped, NBUCKETS);
	assert_int_equal(result.dropped_id, id);
	fluss_table_release(table);
}

static void
test_writing_to_missing_partitions(void **unused)
{
	fluss_table *table = create_table("missing", two_keys, 4, 2,
									  region_and_day, false);
	fluss_writer *writer = open_writer(table, false);
	fluss_error err;

	assert_int_equal(write_row(writer, 1, "eu", FIRST_DAY, 1, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_PARTITION_NOT_EXISTS);
	assert_non_null(strstr(err.message, "eu$2024-01-02"));
	assert_non_null(strstr(err.hint, "create_partitions"));
	assert_int_equal(write_row(writer, 1, "e u", FIRST_DAY, 1, &err),
					 FLUSS_VALUE_OUT_OF_RANGE);
	create(table, "eu", "2024-01-02");
	assert_fluss_ok(write_row(writer, 1, "eu", FIRST_DAY, 1, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	fluss_table_release(table);
}

static fluss_lookup *
open_lookup(fluss_table *table, bool prefix)
{
	static const int32_t columns[] = {0, 3};
	fluss_lookup_options options = test_lookup_options(columns, 2);

	options.max_batch_size = 100;
	options.prefix = prefix;
	return test_open_lookup(table, &options);
}

/* Primary key order is id, region, day. */
static int
add_key(fluss_lookup *lookup, int64_t id, const char *region, int64_t day)
{
	fluss_value key[] = {
		{.u.integer = id},
		{.u.bytes = {(const uint8_t *) region, strlen(region)}},
		{.u.integer = day}
	};
	fluss_error err;
	int			slot;

	assert_fluss_ok(fluss_lookup_add(lookup, key, &slot, &err), &err);
	return slot;
}

/* How many of the ids have a row, each checked, in its own partition. */
static int
look_up(fluss_lookup *lookup, int n)
{
	fluss_error err;
	int			found = 0;

	for (int i = 0; i < n; i++)
		assert_int_equal(add_key(lookup, i, i % 2 == 0 ? "eu" : "us",
								 FIRST_DAY + i % NDAYS), i);
	assert_fluss_ok(fluss_lookup_send(lookup, &err), &err);
	for (int i = 0; i < n; i++)
	{
		fluss_value values[2];

		assert_fluss_ok(fluss_lookup_wait(lookup, i, &err), &err);
		if (fluss_lookup_nrows(lookup, i) == 0)
			continue;
		assert_fluss_ok(fluss_lookup_row(lookup, i, 0, values, &err), &err);
		assert_int_equal(values[0].u.integer, i);
		assert_int_equal(values[1].u.integer, 10 * i);
		assert_true(fluss_lookup_partition(lookup, i) >= 0);
		found++;
	}
	return found;
}

static void
test_keyed_table(void **unused)
{
	fluss_table *table = create_table("keyed_rows", two_keys, 4, 2,
									  region_and_day, true);
	fluss_lookup *lookup = open_lookup(table, false);
	fluss_value gone[] = {
		{.u.integer = 6}, {.u.bytes = {(const uint8_t *) "us", 2}},
		{.u.integer = FIRST_DAY}
	};
	fluss_writer *writer;
	fluss_error err;
	int			slots[3];

	/* no partition yet: no rows, no error */
	assert_int_equal(look_up(lookup, 600), 0);
	fluss_lookup_reset(lookup);
	write_rows(table, 600);
	assert_int_equal(look_up(lookup, 600), 600);
	fluss_lookup_reset(lookup);
	/* the same id elsewhere, and values that name nothing */
	slots[0] = add_key(lookup, 0, "us", FIRST_DAY);
	slots[1] = add_key(lookup, 0, "nowhere", FIRST_DAY);
	slots[2] = add_key(lookup, 0, "e$u", FIRST_DAY);
	assert_fluss_ok(fluss_lookup_run(lookup, &err), &err);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fluss_lookup_nrows(lookup, slots[i]), 0);
	fluss_lookup_reset(lookup);

	/* dropped, and made again with other rows */
	drop(table, "eu", "2024-01-02");
	sleep_ms(1500);
	assert_int_equal(look_up(lookup, 600), 500);
	fluss_lookup_reset(lookup);
	create(table, "eu", "2024-01-02");
	assert_int_equal(look_up(lookup, 600), 500);
	fluss_lookup_reset(lookup);
	write_rows(table, 6);
	assert_int_equal(look_up(lookup, 600), 501);

	/* deletes: of a row, of none, in no partition */
	writer = open_writer(table, true);
	fluss_lookup_reset(lookup);
	gone[0].u.integer = 3;
	assert_fluss_ok(fluss_writer_delete(writer, gone, &err), &err);
	gone[0].u.integer = 6;
	assert_fluss_ok(fluss_writer_delete(writer, gone, &err), &err);
	gone[2].u.integer = FIRST_DAY + 100;
	assert_fluss_ok(fluss_writer_delete(writer, gone, &err), &err);
	assert_fluss_ok(fluss_writer_flush(writer, &err), &err);
	fluss_writer_close(writer);
	assert_int_equal(look_up(lookup, 600), 500);
	assert_int_equal(id_of(table, "us$2024-04-11"), FLUSS_NO_PARTITION);
	fluss_lookup_close(lookup);
	fluss_table_release(table);
}

/* A row that no frame can carry is refused by the server, once. */
static void
test_row_too_large_for_a_frame(void **unused)
{
	static const fluss_column large_columns[] = {
		{.name = "b", .type = {.id = FLUSS_BYTES, .nullable = true}}
	};
	fluss_writer_options options = test_writer_options();
	size_t		size = (size_t) 110 * MEGABYTE;
	uint64_t	random = 1;
	uint8_t    *bytes = malloc(size);
	fluss_table *table = create_table("large", large_columns, 1, 0, NULL,
									  false);
	fluss_value row = {.u.bytes = {bytes, size}};
	fluss_writer *writer;
	fluss_error err;
	fluss_status status;

	/* nothing that could be compressed */
	for (size_t i = 0; i < size; i++)
	{
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		bytes[i] = (uint8_t) (random >> 24);
	}
	options.max_buffered_bytes = 2000 * MEGABYTE;
	writer = test_open_writer(table, &options);
	status = fluss_writer_write(writer, &row, &err);
	if (status == FLUSS_OK)
		status = fluss_writer_flush(writer, &err);
	assert_int_equal(status, FLUSS_SERVER_ERROR);
	printf("%s: %s\n", err.message, err.detail);
	assert_int_equal(fluss_writer_counters(writer)->requests[FLUSS_REQUEST_PRODUCE],
					 1);
	fluss_writer_close(writer);
	fluss_table_release(table);
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_list_drop),
		cmocka_unit_test(test_dropped_partition),
		cmocka_unit_test(test_not_partitioned),
		cmocka_unit_test(test_log_table),
		cmocka_unit_test(test_writing_to_missing_partitions),
		cmocka_unit_test(test_keyed_table),
		cmocka_unit_test(test_row_too_large_for_a_frame),
		cmocka_unit_test(test_nothing_is_left)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
