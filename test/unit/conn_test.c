/*
 * conn_test.c
 *	  Connections to servers that misbehave: what comes over them, what does
 *	  not, and what an interruption leaves on them.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "mock_client.h"

/* ---- bytes */

static void
test_slow_bytes(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;

	server->trickle = true;
	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	assert_int_equal(table->table_id, MOCK_TABLE_ID);
	fluss_table_release(table);
	fluss_client_close(client);
}

#define LARGE	((size_t) 3 << 20)

static bool
answer_large(const mock_request *request)
{
	uint8_t    *body;

	if (request->api != FLUSS_API_FETCH_LOG)
		return false;
	body = malloc(LARGE);
	for (size_t i = 0; i < LARGE; i++)
		body[i] = (uint8_t) (i * 31 >> 3);
	mock_answer(request, body, LARGE);
	free(body);
	return true;
}

static void
test_large_answer(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *requests[3];

	server->handler = answer_large;
	for (int i = 0; i < 3; i++)
		requests[i] = start_request(client, FLUSS_API_FETCH_LOG, 5000);
	for (int i = 0; i < 3; i++)
	{
		fluss_bytes answer;

		assert_fluss_ok(wait_for(client, requests[i]), &err);
		answer = fluss_request_answer(requests[i]);
		assert_int_equal(answer.size, LARGE);
		for (size_t j = 0; j < LARGE; j += 997)
			assert_int_equal(answer.data[j], (uint8_t) (j * 31 >> 3));
		fluss_request_free(requests[i]);
	}
	assert_int_equal(server->accepted, 1);
	fluss_client_close(client);
}

/* A large request meets a full socket buffer. */
static void
test_large_request(void **unused)
{
	fluss_client *client = open_default();
	uint8_t    *body = calloc(1, LARGE);
	fluss_request *request;

	assert_fluss_ok(fluss_request_start(client, 0, FLUSS_API_PRODUCE_LOG, body,
										LARGE, now() + 5000, &request, &err),
					&err);
	assert_fluss_ok(wait_for(client, request), &err);
	fluss_request_free(request);
	free(body);
	fluss_client_close(client);
}

static mock_request held[8];
static int	nheld;

static bool
hold_lookups(const mock_request *request)
{
	if (request->api != FLUSS_API_LOOKUP)
		return false;
	held[nheld++] = *request;
	return true;
}

static void
test_out_of_order(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *first;
	fluss_request *second;
	fluss_request *third;

	nheld = 0;
	server->handler = hold_lookups;
	first = start_request(client, FLUSS_API_LOOKUP, 2000);
	second = start_request(client, FLUSS_API_LOOKUP, 2000);
	third = start_request(client, FLUSS_API_LIST_OFFSETS, 2000);
	assert_fluss_ok(wait_for(client, third), &err);
	assert_int_equal(nheld, 2);
	mock_answer(&held[1], "two", 3);
	mock_answer(&held[0], "first", 5);
	assert_fluss_ok(wait_for(client, first), &err);
	assert_fluss_ok(wait_for(client, second), &err);
	assert_memory_equal(fluss_request_answer(first).data, "first", 5);
	assert_memory_equal(fluss_request_answer(second).data, "two", 3);
	fluss_request_free(first);
	fluss_request_free(second);
	fluss_request_free(third);
	fluss_client_close(client);
}

/* ---- broken answers */

static const char *garbage;
static size_t garbage_size;

static bool
answer_garbage(const mock_request *request)
{
	if (request->api != FLUSS_API_LOOKUP)
		return false;
	mock_raw(request->conn, garbage, garbage_size);
	return true;
}

static void
test_garbage(void **unused)
{
	static const struct
	{
		const char *bytes;
		size_t		size;
	}			cases[] = {
		{"HTTP/1.1 400 Bad Request\r\n", 26},
		{"\0\0\0\5\3\0\0\0\0", 9},	/* type 3 */
		{"\0\0\0\4\0\0\0\0\0", 9},	/* too short for an id */
		{"\0\0\0\0\2", 5},		/* too short for a type */
		{"\x7f\xff\xff\xff\0\0\0\0\0", 9},	/* too long */
		{"\0\0\0\5\0\0\0\x27\x0f", 9},	/* nobody's answer */
		{"\0\0\0\5\0\0\0\0\0", 9},	/* answered before */
		{"\0\x20\0\0\1\0\0\0\2", 9}	/* an error text of 2 MB */
	};
	fluss_client *client = open_default();

	server->handler = answer_garbage;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		fluss_request *request;

		garbage = cases[i].bytes;
		garbage_size = cases[i].size;
		request = start_request(client, FLUSS_API_LOOKUP, 2000);
		assert_int_equal(wait_for(client, request), FLUSS_MALFORMED);
		fluss_request_free(request);
		assert_fluss_ok(list_databases(client), &err);
	}
	fluss_client_close(client);
}

static bool
answer_error(const mock_request *request)
{
	if (request->api == FLUSS_API_LOOKUP)
		mock_error(request, 48, "No authorization");
	else if (request->api == FLUSS_API_PUT_KV)
		mock_failure(request, -1, "request too large\n\tat x");
	else
		return false;
	return true;
}

static void
test_error_frames(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	server->handler = answer_error;
	request = start_request(client, FLUSS_API_LOOKUP, 2000);
	assert_int_equal(wait_for(client, request), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, 48);
	assert_string_equal(err.message, "could not look up keys");
	assert_string_equal(err.detail, "Fluss error 48 (AUTHORIZATION_EXCEPTION): No authorization.");
	fluss_request_free(request);
	assert_int_equal(server->accepted, 1);

	request = start_request(client, FLUSS_API_PUT_KV, 2000);
	assert_int_equal(wait_for(client, request), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, -1);
	assert_non_null(strstr(err.detail, "request too large."));
	assert_true(fluss_request_sent_maybe(request));
	fluss_request_free(request);
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(server->accepted, 2);
	fluss_client_close(client);
}

/* ---- lost connections */

static void
test_idle_connection_closed(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	assert_fluss_ok(list_databases(client), &err);
	mock_stop(server);
	mock_restart(server);
	/* not a single try is lost on it */
	request = start_request(client, FLUSS_API_LIST_DATABASES, 2000);
	assert_fluss_ok(wait_for(client, request), &err);
	fluss_request_free(request);
	assert_int_equal(server->accepted, 2);
	fluss_client_close(client);
}

static int	resets_left;

static bool
reset_some(const mock_request *request)
{
	if (request->api != FLUSS_API_LIST_DATABASES || resets_left == 0)
		return false;
	resets_left--;
	/* half of an answer */
	mock_raw(request->conn, "\0\0\1\0\0", 5);
	mock_reset(request->conn);
	return true;
}

static void
test_reset(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	server->handler = reset_some;
	resets_left = 1;
	request = start_request(client, FLUSS_API_LIST_DATABASES, 2000);
	assert_int_equal(wait_for(client, request), FLUSS_SEND_FAILED);
	assert_true(fluss_request_sent_maybe(request));
	assert_memory_equal(err.message, "lost connection to Fluss server at ", 35);
	fluss_request_free(request);
	/* a call is repeated */
	resets_left = 2;
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(resets_left, 0);
	fluss_client_close(client);
}

/* A change is not. */
static bool
reset_changes(const mock_request *request)
{
	if (request->api != FLUSS_API_CREATE_DATABASE)
		return false;
	mock_reset(request->conn);
	return true;
}

static void
test_change_is_not_repeated(void **unused)
{
	fluss_client *client = open_default();
	int			requests;

	assert_fluss_ok(list_databases(client), &err);
	requests = server->requests;
	server->handler = reset_changes;
	assert_int_equal(fluss_create_database(client, "x", NULL, true, &err),
					 FLUSS_SEND_FAILED);
	assert_non_null(strstr(err.detail, "may have carried it out"));
	assert_int_equal(server->requests, requests + 1);
	fluss_client_close(client);
}

static void
test_server_restarts(void **unused)
{
	fluss_client *client = open_default();

	assert_fluss_ok(list_databases(client), &err);
	mock_stop(server);
	assert_int_equal(list_databases(client), FLUSS_CANNOT_CONNECT);
	mock_restart(server);
	assert_fluss_ok(list_databases(client), &err);
	fluss_client_close(client);
}

/* ---- silence */

static bool
drop_lookups(const mock_request *request)
{
	return request->api == FLUSS_API_LOOKUP;
}

static void
test_silence(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;
	int			waits;

	assert_fluss_ok(list_databases(client), &err);
	server->handler = drop_lookups;
	waits = test_host_waits();
	request = start_request(client, FLUSS_API_LOOKUP, 300);
	assert_int_equal(wait_for(client, request), FLUSS_TIMED_OUT);
	assert_non_null(strstr(err.message, " to LOOKUP within 300 ms"));
	assert_in_range(test_host_waits() - waits, 1, 5);
	assert_true(fluss_request_sent_maybe(request));
	fluss_request_free(request);
	/* the connection is gone with it */
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(server->accepted, 2);
	fluss_client_close(client);
}

/* A server that stopped: the kernel accepts, nobody answers. */
static void
test_stopped_server(void **unused)
{
	fluss_client *client = open_default();
	int64_t		started;
	int			waits = test_host_waits();

	server->paused = true;
	started = now();
	assert_int_equal(list_databases(client), FLUSS_CANNOT_CONNECT);
	assert_non_null(strstr(err.message, ": timeout expired"));
	assert_in_range(now() - started, 400, 800);
	assert_in_range(test_host_waits() - waits, 1, 20);
	server->paused = false;
	assert_fluss_ok(list_databases(client), &err);

	server->paused = true;
	started = now();
	assert_int_not_equal(list_databases(client), FLUSS_OK);
	assert_in_range(now() - started, 400, 2000);
	server->paused = false;
	assert_fluss_ok(list_databases(client), &err);
	fluss_client_close(client);
}

/* ---- interruptions */

static void
test_interrupt(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	/* while connecting */
	test_host_interrupt_at(1);
	assert_int_equal(list_databases(client), FLUSS_INTERRUPTED);
	assert_fluss_ok(list_databases(client), &err);

	/* while waiting for an answer that never comes */
	server->handler = drop_lookups;
	request = start_request(client, FLUSS_API_LOOKUP, 2000);
	test_host_interrupt_at(1);
	assert_int_equal(fluss_cluster_poll(client, now() + 1000, &err),
					 FLUSS_INTERRUPTED);
	assert_int_equal(fluss_request_state_of(request), FLUSS_REQUEST_PENDING);
	fluss_request_free(request);
	fluss_client_close(client);
}

/*
 * The connection is dead, the server is not: what an interrupted statement
 * left behind must not hold up the next one for long, nor take with it what
 * somebody else waits for.
 */
static void
test_abandoned_without_answer(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *live;
	fluss_request *lost;
	int64_t		started;
	int			accepted;

	nheld = 0;
	server->handler = hold_lookups;
	live = start_request(client, FLUSS_API_LOOKUP, 2000);
	lost = start_request(client, FLUSS_API_LOOKUP, 2000);
	assert_fluss_ok(fluss_cluster_poll(client, now() + 50, &err), &err);
	assert_fluss_ok(fluss_cluster_poll(client, now() + 50, &err), &err);
	assert_int_equal(nheld, 2);
	fluss_request_free(lost);
	accepted = server->accepted;

	started = now();
	assert_fluss_ok(list_databases(client), &err);
	assert_in_range(now() - started, 150, 600);
	assert_int_equal(server->accepted, accepted + 1);
	started = now();
	assert_fluss_ok(list_databases(client), &err);
	assert_in_range(now() - started, 0, 100);

	/* the first one still gets its answer, on the old connection */
	mock_answer(&held[0], "x", 1);
	assert_fluss_ok(wait_for(client, live), &err);
	fluss_request_free(live);
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(server->accepted, accepted + 1);
	fluss_client_close(client);
}

/* An answer that comes late is dropped, and the connection kept. */
static void
test_abandoned_with_late_answer(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	assert_fluss_ok(list_databases(client), &err);
	server->handler = answer_large;
	request = start_request(client, FLUSS_API_FETCH_LOG, 2000);
	test_host_interrupt_at(3);
	while (fluss_cluster_poll(client, now() + 1000, &err) == FLUSS_OK)
	{
		if (fluss_request_state_of(request) != FLUSS_REQUEST_PENDING)
			break;
	}
	test_host_interrupt_at(0);
	fluss_request_free(request);
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(server->accepted, 1);
	fluss_client_close(client);
}

/* A cursor that was left alone for an hour finds its answer in the socket. */
static void
test_time_away(void **unused)
{
	fluss_client *client = open_default();
	fluss_request *request;

	assert_fluss_ok(list_databases(client), &err);
	nheld = 0;
	server->handler = hold_lookups;
	request = start_request(client, FLUSS_API_LOOKUP, 1000);
	assert_fluss_ok(fluss_cluster_poll(client, now() + 50, &err), &err);
	test_host_advance_ms(3600 * 1000);
	assert_fluss_ok(fluss_cluster_poll(client, now() + 50, &err), &err);
	assert_int_equal(nheld, 1);
	mock_answer(&held[0], NULL, 0);
	assert_fluss_ok(wait_for(client, request), &err);
	fluss_request_free(request);
	fluss_client_close(client);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_slow_bytes),
		TEST(test_large_answer),
		TEST(test_large_request),
		TEST(test_out_of_order),
		TEST(test_garbage),
		TEST(test_error_frames),
		TEST(test_idle_connection_closed),
		TEST(test_reset),
		TEST(test_change_is_not_repeated),
		TEST(test_server_restarts),
		TEST(test_silence),
		TEST(test_stopped_server),
		TEST(test_interrupt),
		TEST(test_abandoned_without_answer),
		TEST(test_abandoned_with_late_answer),
		TEST(test_time_away)
	};

	return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
