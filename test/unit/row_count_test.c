/*
 * row_count_test.c
 *	  Exact row counts: only of a leader that leads the bucket from its first
 *	  record on, and does so when it counts.
 */
#include <stdio.h>
#include <string.h>

#include "support.h"
#include "client.h"
#include "mock.h"

#define NOT_LEADER		12
#define INVALID_TABLE	15

static mock_server *servers[2];
static fluss_client *client;
static fluss_table *table;
static fluss_error err;
static fluss_counters counters;
static int64_t counts[MOCK_BUCKETS];

/* What the servers play. */
static struct
{
	bool		leads[2];		/* of all buckets */
	bool		led[2];			/* at some time */
	int			leads_for;		/* so many requests; 0: it stays so */
	bool		away;			/* it does not lead while it counts */
	int64_t		leader_start[MOCK_BUCKETS];
	int			stats_error[MOCK_BUCKETS];
	bool		omits_bucket;	/* number 1, in the statistics */
	int			asked[8];		/* APIs in their order */
	int			nasked;
}			play;

#define AT_TAKE_OVER	20		/* records, when it leads again */

/* ---- the servers: a bucket i of the leader has 10 + i rows */

typedef struct bytes
{
	size_t		size;
	uint8_t		data[128];
} bytes;

static void
put_varint(bytes *b, uint64_t value)
{
	while (value >= 128)
	{
		b->data[b->size++] = (uint8_t) (value | 128);
		value >>= 7;
	}
	b->data[b->size++] = (uint8_t) value;
}

static void
put_field(bytes *b, int field, int64_t value)
{
	put_varint(b, (uint64_t) field << 3);
	put_varint(b, (uint64_t) value);
}

static void
put_bucket(bytes *answer, const bytes *bucket)
{
	put_varint(answer, 1 << 3 | 2);
	put_varint(answer, bucket->size);
	memcpy(answer->data + answer->size, bucket->data, bucket->size);
	answer->size += bucket->size;
}

static void
put_lookup(bytes *answer, int i, bool leads)
{
	bytes		bucket = {0};

	put_field(&bucket, 2, i);
	if (!leads)
		put_field(&bucket, 3, NOT_LEADER);
	put_bucket(answer, &bucket);
}

static void
put_offset(bytes *answer, int i, bool led)
{
	bytes		bucket = {0};

	put_field(&bucket, 1, i);
	put_field(&bucket, 4, led ? play.leader_start[i] : -1);
	put_bucket(answer, &bucket);
}

/* A server that does not lead the bucket counts the records of its log. */
static void
put_stats(bytes *answer, int i, bool leads)
{
	bytes		bucket = {0};

	if (play.omits_bucket && i == 1)
		return;
	put_field(&bucket, 4, i);
	if (play.stats_error[i] != 0)
		put_field(&bucket, 1, play.stats_error[i]);
	else
		put_field(&bucket, 5, leads ? 10 + i : 777);
	put_bucket(answer, &bucket);
}

static void
take_over_again(void)
{
	for (int i = 0; i < MOCK_BUCKETS; i++)
		play.leader_start[i] = AT_TAKE_OVER;
}

static bool
serve(const mock_request *request)
{
	int			self = request->server == servers[1];
	bool	   *leads = &play.leads[self];
	bytes		answer = {0};

	play.led[self] |= *leads;
	if (request->api == FLUSS_API_GET_METADATA)
	{
		mock_request as_first = *request;

		as_first.server = servers[0];
		servers[0]->leader = play.leads[0] ? 0 : 1;
		mock_default(&as_first);
		return true;
	}
	if (request->api != FLUSS_API_LOOKUP &&
		request->api != FLUSS_API_LIST_OFFSETS &&
		request->api != FLUSS_API_GET_TABLE_STATS)
		return false;
	if (play.nasked < 8)
		play.asked[play.nasked++] = request->api;
	for (int i = 0; i < MOCK_BUCKETS; i++)
	{
		if (request->api == FLUSS_API_LOOKUP)
			put_lookup(&answer, i, *leads);
		else if (request->api == FLUSS_API_LIST_OFFSETS)
			put_offset(&answer, i, play.led[self]);
		else
			put_stats(&answer, i, *leads && !play.away);
	}
	mock_answer(request, answer.data, answer.size);
	if (request->api == FLUSS_API_GET_TABLE_STATS && play.away)
		take_over_again();

	/* the lead goes over after so many requests */
	if (*leads && play.leads_for > 0 && --play.leads_for == 0)
	{
		*leads = false;
		play.leads[!self] = true;
	}
	return true;
}

/* ---- scaffolding */

static int
setup(void **unused)
{
	test_set_up(unused);
	for (int i = 0; i < 2; i++)
	{
		servers[i] = mock_start();
		servers[i]->handler = serve;
	}
	servers[0]->peer = servers[1];
	memset(&play, 0, sizeof(play));
	memset(&counters, 0, sizeof(counters));
	play.leads[0] = true;
	client = NULL;
	return 0;
}

static int
teardown(void **unused)
{
	fluss_client_close(client);
	mock_end();
	return test_host_live_blocks() + test_host_live_fds();
}

static fluss_status
count(void)
{
	const fluss_bucket_ref buckets[] = {
		{FLUSS_NO_PARTITION, 0}, {FLUSS_NO_PARTITION, 1}
	};
	char		bootstrap[32];
	fluss_config config = {
		.bootstrap_servers = bootstrap,
		.connect_timeout_ms = 400,
		.request_timeout_ms = 1000
	};
	fluss_status status = FLUSS_OK;

	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d", servers[0]->port);
	if (client == NULL)
		status = fluss_client_open(test_host(), &config, &client, &err);
	if (status == FLUSS_OK)
		status = fluss_table_open(client, "db", "t", false, &table, &err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_exact_row_counts(client, table, buckets, 2, counts,
									&counters, &err);
	fluss_table_release(table);
	return status;
}

#define assert_counts(first, second) \
	do { \
		assert_fluss_ok(count(), &err); \
		assert_int_equal(counts[0], first); \
		assert_int_equal(counts[1], second); \
	} while (0)

/* ---- tests */

static void
test_exact(void **unused)
{
	static const int order[] = {
		FLUSS_API_GET_TABLE_STATS, FLUSS_API_LOOKUP, FLUSS_API_LIST_OFFSETS
	};

	assert_counts(10, 11);
	assert_int_equal(play.nasked, 3);
	assert_memory_equal(play.asked, order, sizeof(order));
	assert_int_equal(counters.requests[FLUSS_REQUEST_LOOKUP], 1);
	assert_int_equal(counters.requests[FLUSS_REQUEST_LIST_OFFSETS], 1);
	assert_int_equal(counters.requests[FLUSS_REQUEST_STATS], 1);
	assert_true(counters.bytes > 0);
}

/* Such a leader has recovered its count, maybe wrongly. */
static void
test_taken_over(void **unused)
{
	play.leader_start[1] = 1;
	assert_counts(10, FLUSS_OFFSET_UNKNOWN);
}

static void
test_not_counted(void **unused)
{
	play.stats_error[0] = INVALID_TABLE;
	assert_counts(FLUSS_OFFSET_UNKNOWN, 11);
}

static void
test_not_offered(void **unused)
{
	servers[0]->unsupported = FLUSS_API_GET_TABLE_STATS;
	assert_counts(FLUSS_OFFSET_UNKNOWN, FLUSS_OFFSET_UNKNOWN);
}

/* The client still takes a server for the leader that is not any more. */
static void
test_stale_leader(void **unused)
{
	assert_counts(10, 11);
	play.leads[0] = false;
	play.leads[1] = true;
	assert_counts(10, 11);
	assert_true(play.nasked >= 6);
}

/* It loses the lead after it has counted, whether it has shown it or not. */
static void
test_lost_lead(void **unused)
{
	for (int n = 1; n <= 2; n++)
	{
		play.leads[0] = true;
		play.leads[1] = false;
		play.leads_for = n;
		assert_counts(10, 11);
		assert_false(play.leads[0]);
		play.leads_for = 0;
		/* back, and the client is told by an error */
		play.leads[0] = true;
		play.leads[1] = false;
		assert_counts(10, 11);
	}
}

/* It has the lead before and after it counts, and not in between. */
static void
test_away(void **unused)
{
	play.away = true;
	assert_counts(FLUSS_OFFSET_UNKNOWN, FLUSS_OFFSET_UNKNOWN);
}

/* An answer that leaves a bucket out for ever ends with an error. */
static void
test_omitted_bucket(void **unused)
{
	play.omits_bucket = true;
	assert_int_equal(count(), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET);
	assert_int_equal(counts[0], 10);
}

static void
test_no_memory(void **unused)
{
	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = count();
		if (!test_host_alloc_failed())
		{
			assert_fluss_ok(status, &err);
			break;
		}
		/* some code got over it */
		if (status != FLUSS_OK && status != FLUSS_OUT_OF_MEMORY &&
			strstr(err.message, "out of memory") == NULL)
			fail_msg("allocation %d: %d %s", n, status, err.message);
		test_host_fail_alloc_at(0);
		assert_counts(10, 11);
		fluss_client_close(client);
		client = NULL;
		assert_int_equal(test_host_live_blocks(), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(test_taken_over, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_offered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stale_leader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lost_lead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_away, setup, teardown),
		cmocka_unit_test_setup_teardown(test_omitted_bucket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown)
	};

	return cmocka_run_group_tests_name("row_count", tests, NULL, NULL);
}
