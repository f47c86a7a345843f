/*
 * offsets_test.c
 *	  Offsets and row counts of buckets, from servers that misbehave.
 */
#include "client.h"
#include "mock_client.h"

static int	stale_left;
static bool timestamp_asked;

static bool
stale_offsets(const mock_request *request)
{
	/* bucket 0, code 12 or 38 */
	static const uint8_t stale[] = {0x0a, 4, 0x08, 0, 0x10, 12};
	static const uint8_t future[] = {0x0a, 4, 0x08, 0, 0x10, 38};

	if (request->api != FLUSS_API_LIST_OFFSETS)
		return false;
	if (stale_left > 0)
	{
		stale_left--;
		mock_answer(request, stale, sizeof(stale));
		return true;
	}
	/* follower id takes 11 bytes, then the offset type */
	if (request->body[12] == FLUSS_OFFSET_AT_TIMESTAMP)
	{
		timestamp_asked = true;
		mock_answer(request, future, sizeof(future));
		return true;
	}
	return false;
}

static void
test_offsets(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	const int32_t buckets[] = {0, 1};
	int64_t		offsets[2];

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   FLUSS_NO_PARTITION, buckets, 2, FLUSS_NEED_ALL,
									   offsets, &err), &err);
	assert_int_equal(offsets[0], 100);
	assert_int_equal(offsets[1], 101);

	server->handler = stale_offsets;
	stale_left = 2;
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   FLUSS_NO_PARTITION, buckets, 1, FLUSS_NEED_ALL,
									   offsets, &err), &err);
	assert_int_equal(stale_left, 0);
	assert_int_equal(offsets[0], 100);
	/* a time past the server's clock is the end */
	assert_fluss_ok(fluss_list_offsets(client, table,
									   FLUSS_OFFSET_AT_TIMESTAMP, 1,
									   FLUSS_NO_PARTITION, buckets, 1, FLUSS_NEED_ALL,
									   offsets, &err), &err);
	assert_true(timestamp_asked);
	assert_int_equal(offsets[0], 100);
	/* an answer that leaves a bucket out for ever ends with an error */
	stale_left = 1000;
	assert_int_equal(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
										FLUSS_NO_PARTITION, buckets + 1, 1,
										FLUSS_NEED_ALL, offsets, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET);
	/* or, where none is needed, with none */
	stale_left = 1000;
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   FLUSS_NO_PARTITION, buckets + 1, 1,
									   FLUSS_NEED_ANSWERED, offsets, &err),
					&err);
	assert_int_equal(offsets[0], FLUSS_OFFSET_UNKNOWN);
	fluss_table_release(table);
	fluss_client_close(client);
}

static bool
silent_about_counts(const mock_request *request)
{
	return request->api == FLUSS_API_LIST_OFFSETS ||
		request->api == FLUSS_API_GET_TABLE_STATS;
}

/* A leader that accepts a request and never answers it. */
static void
test_silent_leader(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	const int32_t buckets[] = {0, 1};
	int64_t		numbers[2] = {7, 7};

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	server->handler = silent_about_counts;
	assert_int_equal(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
										FLUSS_NO_PARTITION, buckets, 2,
										FLUSS_NEED_LED, numbers, &err),
					 FLUSS_TIMED_OUT);
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   FLUSS_NO_PARTITION, buckets, 2,
									   FLUSS_NEED_ANSWERED, numbers, &err),
					&err);
	assert_int_equal(numbers[0], FLUSS_OFFSET_UNKNOWN);
	assert_int_equal(numbers[1], FLUSS_OFFSET_UNKNOWN);
	numbers[0] = numbers[1] = 7;
	assert_fluss_ok(fluss_table_row_counts(client, table, FLUSS_NO_PARTITION,
										   buckets, 2, numbers, &err), &err);
	assert_int_equal(numbers[0], FLUSS_OFFSET_UNKNOWN);
	assert_int_equal(numbers[1], FLUSS_OFFSET_UNKNOWN);
	fluss_table_release(table);
	fluss_client_close(client);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_offsets),
		TEST(test_silent_leader)
	};

	return cmocka_run_group_tests_name("offsets", tests, NULL, NULL);
}
