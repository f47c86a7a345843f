/*
 * cluster_test.c
 *	  Finding servers, leaders and tables, among servers that misbehave.
 */
/* memmem */
#define _GNU_SOURCE

#include <stdio.h>
#include <string.h>

#include "client.h"
#include "mock_client.h"

/* ---- addresses */

static void
test_addresses(void **unused)
{
	static const char *const good[] = {
		"h:1", " h:9123 , [::1]:65535", "10.0.0.1:1,b:2"
	};
	static const char *const bad[] = {
		"", "h", "h:", "h:0", "h:65536", "h:12x", ":1", "h:1,", "::1:9123",
		"[::1]", "[::1", "[]:1", "[::1]9:1", "a b:1"
	};
	static const char *const good_map[] = {
		"", "a:1=b:2", "a=b", "a:1=[::1]:2, c=d"
	};
	static const char *const bad_map[] = {"a:1", "a:1=b", "a=b:1", "=b", "a="};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_fluss_ok(fluss_check_bootstrap_servers(good[i], &err), &err);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fluss_check_bootstrap_servers(bad[i], &err),
						 FLUSS_INVALID_ARGUMENT);
	for (size_t i = 0; i < sizeof(good_map) / sizeof(good_map[0]); i++)
		assert_fluss_ok(fluss_check_address_map(good_map[i], &err), &err);
	for (size_t i = 0; i < sizeof(bad_map) / sizeof(bad_map[0]); i++)
		assert_int_equal(fluss_check_address_map(bad_map[i], &err),
						 FLUSS_INVALID_ARGUMENT);
	assert_int_equal(fluss_check_bootstrap_servers("good:1,bad", &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_string_equal(err.message, "\"bad\" is not a server address");
	assert_true(err.hint[0] != '\0');
}

/* ---- finding the cluster */

static void
test_bootstrap(void **unused)
{
	fluss_client *client = open_default();
	const fluss_node *nodes;
	int			nnodes;

	assert_fluss_ok(fluss_client_nodes(client, &nodes, &nnodes, &err), &err);
	assert_int_equal(nnodes, 2);
	assert_true(nodes[0].coordinator);
	assert_int_equal(nodes[1].port, server->port);
	assert_fluss_ok(list_databases(client), &err);
	/* coordinator and tablet server share an address here */
	assert_int_equal(server->accepted, 1);
	fluss_client_close(client);
}

static void
test_bootstrap_next(void **unused)
{
	mock_server *dead = mock_start();
	char		bootstrap[64];
	fluss_client *client;
	int64_t		started = now();

	mock_stop(dead);
	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d,127.0.0.1:%d",
			 dead->port, server->port);
	client = open_client(bootstrap, NULL);
	assert_fluss_ok(list_databases(client), &err);
	assert_in_range(now() - started, 0, 500);
	fluss_client_close(client);
}

/* A server that does not answer costs a second, not its timeout. */
static void
test_bootstrap_stuck(void **unused)
{
	mock_server *stuck = mock_start();
	char		bootstrap[64];
	fluss_config config = {
		.connect_timeout_ms = 5000, .request_timeout_ms = 9000
	};
	fluss_client *client;
	int64_t		started = now();

	stuck->paused = true;
	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d,127.0.0.1:%d",
			 stuck->port, server->port);
	config.bootstrap_servers = bootstrap;
	assert_fluss_ok(fluss_client_open(test_host(), &config, &client, &err),
					&err);
	assert_fluss_ok(list_databases(client), &err);
	assert_in_range(now() - started, 900, 2000);
	fluss_client_close(client);
}

static int	unready_left;

static bool
not_ready(const mock_request *request)
{
	if (request->api != FLUSS_API_GET_METADATA || unready_left == 0)
		return false;
	unready_left--;
	mock_error(request, 44, "later");
	return true;
}

/* A server that asks for patience gets it, although another one is down. */
static void
test_bootstrap_not_ready(void **unused)
{
	mock_server *dead = mock_start();
	char		bootstrap[64];
	fluss_client *client;

	mock_stop(dead);
	server->handler = not_ready;
	unready_left = 2;
	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d,127.0.0.1:%d",
			 server->port, dead->port);
	client = open_client(bootstrap, NULL);
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(unready_left, 0);
	unready_left = 1000;
	fluss_client_close(client);

	client = open_client(bootstrap, NULL);
	assert_int_equal(list_databases(client), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, 44);
	fluss_client_close(client);
}

static void
test_nobody_there(void **unused)
{
	char		bootstrap[64];
	char		expected[200];
	fluss_client *client = open_default();
	int64_t		started = now();

	mock_stop(server);
	assert_int_equal(list_databases(client), FLUSS_CANNOT_CONNECT);
	snprintf(expected, sizeof(expected),
			 "could not connect to Fluss server at 127.0.0.1:%d: Connection refused",
			 server->port);
	assert_string_equal(err.message, expected);
	fluss_client_close(client);

	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d,[::1]:1",
			 server->port);
	client = open_client(bootstrap, NULL);
	assert_int_equal(list_databases(client), FLUSS_CANNOT_CONNECT);
	assert_string_equal(err.message, "could not connect to any Fluss server");
	snprintf(expected, sizeof(expected), "127.0.0.1:%d: Connection refused. [::1]:1: ",
			 server->port);
	assert_memory_equal(err.detail, expected, strlen(expected));
	fluss_client_close(client);
	assert_in_range(now() - started, 0, 500);
}

static void
test_names(void **unused)
{
	char		bootstrap[64];
	fluss_client *client;
	int64_t		started;

	snprintf(bootstrap, sizeof(bootstrap), "localhost:%d", server->port);
	client = open_client(bootstrap, NULL);
	assert_fluss_ok(list_databases(client), &err);
	fluss_client_close(client);

	client = open_client("no-such-host.invalid:1", NULL);
	started = now();
	assert_int_equal(list_databases(client), FLUSS_CANNOT_CONNECT);
	assert_non_null(strstr(err.message,
						   "could not connect to Fluss server at no-such-host.invalid:1: "));
	assert_in_range(now() - started, 0, 800);
	fluss_client_close(client);
}

static void
test_address_map(void **unused)
{
	mock_server *proxy = mock_start();
	char		bootstrap[32];
	char		map[64];
	fluss_client *client;
	fluss_request *request;

	/* what the first server advertises is reachable at the second only */
	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d", server->port);
	snprintf(map, sizeof(map), "127.0.0.1:%d=127.0.0.1:%d", server->port,
			 proxy->port);
	client = open_client(bootstrap, map);
	assert_fluss_ok(list_databases(client), &err);
	assert_int_equal(server->requests, 1);
	assert_int_equal(proxy->requests, 1);
	mock_stop(proxy);
	request = start_request(client, FLUSS_API_LOOKUP, 1000);
	assert_int_equal(wait_for(client, request), FLUSS_CANNOT_CONNECT);
	assert_non_null(strstr(err.message, bootstrap));
	fluss_request_free(request);
	fluss_client_close(client);
}

/* ---- authentication and versions */

static int	retries_left;

static bool
retry_authentication(const mock_request *request)
{
	if (request->api != 1038 || retries_left == 0)
		return false;
	retries_left--;
	mock_error(request, 51, "later");
	return true;
}

static void
test_sasl(void **unused)
{
	fluss_client *client;
	fluss_config config = {
		.connect_timeout_ms = 1000, .request_timeout_ms = 2000,
		.sasl = true, .user = "u", .password = "wrong"
	};
	char		bootstrap[32];

	server->sasl = true;
	client = open_default();
	assert_fluss_ok(list_databases(client), &err);
	fluss_client_close(client);

	retries_left = 2;
	server->handler = retry_authentication;
	client = open_default();
	assert_fluss_ok(list_databases(client), &err);
	fluss_client_close(client);
	assert_int_equal(retries_left, 0);

	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d", server->port);
	config.bootstrap_servers = bootstrap;
	assert_fluss_ok(fluss_client_open(test_host(), &config, &client, &err),
					&err);
	assert_int_equal(list_databases(client), FLUSS_AUTH_FAILED);
	assert_int_equal(err.server_code, 46);
	assert_non_null(strstr(err.message, "as user \"u\""));
	assert_null(strstr(err.message, "wrong"));
	fluss_client_close(client);

	config.sasl = false;
	assert_fluss_ok(fluss_client_open(test_host(), &config, &client, &err),
					&err);
	assert_int_equal(list_databases(client), FLUSS_AUTH_FAILED);
	fluss_client_close(client);
}

static void
test_api_not_offered(void **unused)
{
	fluss_client *client;
	fluss_table *table;
	const int32_t bucket = 0;
	int64_t		count;

	server->unsupported = FLUSS_API_GET_TABLE_STATS;
	client = open_default();
	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	assert_fluss_ok(fluss_table_row_counts(client, table, FLUSS_NO_PARTITION,
										   &bucket, 1, &count, &err), &err);
	assert_int_equal(count, FLUSS_OFFSET_UNKNOWN);
	fluss_table_release(table);
	fluss_client_close(client);
}

/* Whoever lets the list go after an error lets nothing go. */
static void
test_no_partitions(void **unused)
{
	fluss_client *client = open_default();
	fluss_partitions *partitions = (fluss_partitions *) client;
	fluss_table *table;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	assert_int_equal(fluss_partitions_open(client, table, 0, &partitions, &err),
					 FLUSS_INVALID_ARGUMENT);
	assert_null(partitions);
	fluss_table_release(table);
	fluss_client_close(client);
}

/* A tablet server listens where the coordinator did: asks where that is now. */
static void
test_wrong_server(void **unused)
{
	char		expected[64];
	fluss_client *client;
	int			requests;

	server->unsupported = FLUSS_API_CREATE_DATABASE;
	client = open_default();
	assert_fluss_ok(list_databases(client), &err);
	requests = server->requests;
	assert_int_equal(fluss_create_database(client, "x", NULL, true, &err),
					 FLUSS_CANNOT_CONNECT);
	snprintf(expected, sizeof(expected),
			 "Fluss server at 127.0.0.1:%d is no coordinator", server->port);
	assert_string_equal(err.message, expected);
	assert_true(server->requests > requests);
	fluss_client_close(client);
}

/* ---- tables and leaders */

static void
test_table(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	fluss_table *again;
	const fluss_schema *schema;
	const fluss_bucket_info *buckets;
	int			nbuckets;
	int			requests;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	requests = server->requests;
	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &again, &err),
					&err);
	assert_ptr_equal(table, again);
	fluss_table_release(again);
	assert_fluss_ok(fluss_table_schema(client, table, 1, &schema, &err), &err);
	assert_int_equal(server->requests, requests);
	assert_fluss_ok(fluss_table_schema(client, table, 2, &schema, &err), &err);
	assert_fluss_ok(fluss_table_schema(client, table, 2, &schema, &err), &err);
	assert_int_equal(schema->schema_id, 2);
	assert_int_equal(server->requests, requests + 1);

	assert_fluss_ok(fluss_table_buckets(client, table, &buckets, &nbuckets,
										&err), &err);
	assert_int_equal(nbuckets, MOCK_BUCKETS);
	assert_int_equal(buckets[1].leader, 0);
	assert_int_equal(buckets[1].nreplicas, 2);

	/* asked again and not changed: the cached one stays, with its leaders */
	requests = server->requests;
	assert_fluss_ok(fluss_table_open(client, "db", "t", true, &again, &err),
					&err);
	assert_ptr_equal(table, again);
	assert_int_equal(server->requests, requests + 1);
	fluss_table_release(again);

	/* the table outlives what the cache thinks of it */
	server->table_id++;
	assert_int_equal(fluss_table_verify(client, table, &err),
					 FLUSS_TABLE_CHANGED);
	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &again, &err),
					&err);
	assert_int_equal(again->table_id, MOCK_TABLE_ID + 1);
	assert_int_equal(table->table_id, MOCK_TABLE_ID);
	fluss_table_release(again);
	fluss_table_release(table);
	fluss_client_close(client);
}

static void
test_missing_table(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;

	assert_int_equal(fluss_table_open(client, "db", "nope", false, &table,
									  &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_TABLE_NOT_EXIST);
	assert_string_equal(err.message, "Fluss table \"nope\" does not exist in database \"db\"");
	assert_int_equal(fluss_table_open(client, "nil", "nope", false, &table,
									  &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_DATABASE_NOT_EXIST);
	assert_string_equal(err.message, "Fluss database \"nil\" does not exist");
	fluss_client_close(client);
}

static bool
omit_table(const mock_request *request)
{
	mock_request empty = *request;

	if (request->api == FLUSS_API_GET_TABLE_INFO && server->leader == 0)
	{
		mock_error(request, 48, "no");
		return true;
	}
	if (request->api != FLUSS_API_GET_METADATA)
		return false;
	empty.size = 0;
	mock_default(&empty);
	return true;
}

static void
test_not_authorized(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	int32_t		node;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	server->handler = omit_table;
	assert_int_equal(fluss_leader_find(client, table, FLUSS_NO_PARTITION, 0,
									   now() + 1000, &node, &err),
					 FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, FLUSS_CODE_AUTHORIZATION);
	assert_string_equal(err.message, "not authorized to describe table \"t\" in Fluss database \"db\"");
	fluss_table_release(table);
	fluss_client_close(client);
}

static int	leaderless_left;

static bool
elect_later(const mock_request *request)
{
	if (request->api == FLUSS_API_GET_METADATA && request->size > 0)
		server->leader = leaderless_left-- > 0 ? -1 : 0;
	return false;
}

static void
test_leader(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	int32_t		node;
	int			requests;
	const int32_t bucket = 1;
	int64_t		offset;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	server->handler = elect_later;
	leaderless_left = 2;
	assert_fluss_ok(fluss_leader_find(client, table, FLUSS_NO_PARTITION, 1,
									  now() + 2000, &node, &err), &err);
	assert_int_equal(node, 0);
	requests = server->requests;
	assert_fluss_ok(fluss_leader_find(client, table, FLUSS_NO_PARTITION, 0,
									  now() + 2000, &node, &err), &err);
	assert_int_equal(server->requests, requests);

	fluss_leader_forget(client, table);
	leaderless_left = 1000;
	assert_int_equal(fluss_leader_find(client, table, FLUSS_NO_PARTITION, 1,
									   now() + 400, &node, &err),
					 FLUSS_CANNOT_CONNECT);
	assert_string_equal(err.message, "no leader for bucket 1 of table \"t\" in Fluss database \"db\"");
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   FLUSS_NO_PARTITION, &bucket, 1, FLUSS_NEED_LED,
									   &offset, &err), &err);
	assert_int_equal(offset, FLUSS_OFFSET_UNKNOWN);
	assert_int_equal(fluss_leader_find(client, table, FLUSS_NO_PARTITION, 2,
									   now() + 400, &node, &err),
					 FLUSS_INVALID_ARGUMENT);
	fluss_table_release(table);
	fluss_client_close(client);
}

/* Its varint has no byte in common with other fields of a question. */
#define DROPPED_PARTITION	INT64_C(0x1234567890abc)

static int	dropped_asked;

static bool
miss_dropped(const mock_request *request)
{
	uint8_t		varint[10];
	int			n = 0;

	if (request->api != FLUSS_API_GET_METADATA)
		return false;
	for (uint64_t rest = DROPPED_PARTITION; rest > 0; rest >>= 7)
		varint[n++] = (uint8_t) (rest & 0x7f) | (rest > 0x7f ? 0x80 : 0);
	if (memmem(request->body, request->size, varint, n) == NULL)
		return false;
	dropped_asked++;
	mock_error(request, FLUSS_CODE_PARTITION_NOT_EXISTS, "gone");
	return true;
}

/* Asked for beside others again, it would fail their question every time. */
static void
test_dropped_partition(void **unused)
{
	fluss_client *client = open_default();
	const int32_t buckets[] = {0, 1};
	int64_t		offsets[2];
	fluss_table *table;
	int32_t		node;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	server->handler = miss_dropped;
	dropped_asked = 0;
	assert_int_equal(fluss_leader_find(client, table, DROPPED_PARTITION, 0,
									   now() + 1000, &node, &err),
					 FLUSS_SERVER_ERROR);
	assert_true(fluss_error_is_dropped_partition(&err));
	assert_int_equal(dropped_asked, 1);
	fluss_leader_forget(client, table);
	assert_int_equal(fluss_leader_find(client, table, 5, 0, now() + 1000,
									   &node, &err), FLUSS_CANNOT_CONNECT);
	assert_int_equal(dropped_asked, 1);
	/* nor for its second bucket */
	assert_fluss_ok(fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									   DROPPED_PARTITION, buckets, 2,
									   FLUSS_NEED_LED, offsets, &err), &err);
	assert_int_equal(offsets[1], FLUSS_OFFSET_UNKNOWN);
	dropped_asked = 0;
	assert_int_equal(fluss_leader_find(client, table, 5, 0, now() + 1000,
									   &node, &err), FLUSS_CANNOT_CONNECT);
	assert_int_equal(dropped_asked, 0);
	fluss_table_release(table);
	fluss_client_close(client);
}

/* ---- writer identity */

static void
test_writer_id(void **unused)
{
	fluss_client *client = open_default();
	fluss_table *table;
	int64_t		writer_id;
	int64_t		counter = 0;
	int32_t		sequence;

	assert_fluss_ok(fluss_table_open(client, "db", "t", false, &table, &err),
					&err);
	assert_fluss_ok(fluss_client_writer_id(client, table, &writer_id, &counter,
										   &err), &err);
	assert_fluss_ok(fluss_client_writer_id(client, table, &writer_id, &counter,
										   &err), &err);
	assert_int_equal(writer_id, 5);
	assert_int_equal(counter, 1);
	for (int i = 0; i < 200; i++)
	{
		assert_fluss_ok(fluss_client_next_sequence(client, 7, -1, i % 100,
												   &sequence, &err), &err);
		assert_int_equal(sequence, i / 100);
	}
	fluss_client_acknowledged(client, 7, -1, 3, writer_id, 1);
	fluss_client_acknowledged(client, 7, -1, 3, writer_id, 0);
	/* by a writer that is not idempotent */
	fluss_client_acknowledged(client, 7, -1, 3, -1, 0);
	assert_true(fluss_client_is_acknowledged(client, 7, -1, 3, writer_id, 0));
	assert_true(fluss_client_is_acknowledged(client, 7, -1, 3, writer_id, 1));
	assert_false(fluss_client_is_acknowledged(client, 7, -1, 3, writer_id, 2));
	assert_false(fluss_client_is_acknowledged(client, 7, -1, 3, 6, 0));
	assert_false(fluss_client_is_acknowledged(client, 7, -1, 4, writer_id, 0));
	fluss_client_discard_writer(client);
	assert_fluss_ok(fluss_client_next_sequence(client, 7, -1, 3, &sequence,
											   &err), &err);
	assert_int_equal(sequence, 0);
	fluss_table_release(table);
	fluss_client_close(client);
}

/* ---- everything fails once */

/* A session that touches most of the client. */
static fluss_status
session(fluss_client *client)
{
	fluss_table *table;
	const int32_t buckets[] = {0, 1};
	int64_t		offsets[2];
	int64_t		writer_id;
	const fluss_schema *schema;
	const char *const *names;
	const fluss_node *nodes;
	int			nnodes;
	fluss_status status;

	status = fluss_client_nodes(client, &nodes, &nnodes, &err);
	if (status == FLUSS_OK)
		status = fluss_list_databases(client, &names, &err);
	if (status == FLUSS_OK)
		status = fluss_create_database(client, "x", NULL, true, &err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_table_open(client, "db", "t", true, &table, &err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_table_schema(client, table, 2, &schema, &err);
	if (status == FLUSS_OK)
		status = fluss_list_offsets(client, table, FLUSS_OFFSET_LATEST, 0,
									FLUSS_NO_PARTITION, buckets, 2, FLUSS_NEED_ALL,
									offsets, &err);
	if (status == FLUSS_OK)
		status = fluss_client_writer_id(client, table, &writer_id, NULL, &err);
	if (status == FLUSS_OK)
		status = fluss_table_verify(client, table, &err);
	fluss_table_release(table);
	return status;
}

static void
test_no_memory(void **unused)
{
	char		bootstrap[64];

	server->sasl = true;
	/* by name, so that the resolver takes part */
	snprintf(bootstrap, sizeof(bootstrap), "localhost:%d", server->port);
	for (int n = 1;; n++)
	{
		fluss_client *client = open_client(bootstrap, NULL);
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = session(client);
		if (!test_host_alloc_failed())
		{
			assert_fluss_ok(status, &err);
			fluss_client_close(client);
			break;
		}
		/* some code got over it; else the error says so */
		if (status != FLUSS_OK && status != FLUSS_OUT_OF_MEMORY &&
			strstr(err.message, "out of memory") == NULL)
			fail_msg("allocation %d: %d %s", n, status, err.message);
		test_host_fail_alloc_at(0);
		assert_fluss_ok(session(client), &err);
		fluss_client_close(client);
		assert_int_equal(test_host_live_blocks(), 0);
		assert_int_equal(test_host_live_fds(), 0);
	}
}

static void
test_interrupt_everywhere(void **unused)
{
	server->sasl = true;
	for (int n = 1;; n++)
	{
		fluss_client *client = open_default();
		fluss_status status;

		test_host_interrupt_at(n);
		status = session(client);
		if (!test_host_interrupted())
		{
			assert_fluss_ok(status, &err);
			fluss_client_close(client);
			break;
		}
		assert_int_equal(status, FLUSS_INTERRUPTED);
		/* and again in the next statement */
		test_host_interrupt_at(2);
		(void) !session(client);
		test_host_interrupt_at(0);
		assert_fluss_ok(session(client), &err);
		fluss_client_close(client);
		assert_int_equal(test_host_live_blocks(), 0);
		assert_int_equal(test_host_live_fds(), 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_addresses),
		TEST(test_bootstrap),
		TEST(test_bootstrap_next),
		TEST(test_bootstrap_stuck),
		TEST(test_bootstrap_not_ready),
		TEST(test_nobody_there),
		TEST(test_names),
		TEST(test_address_map),
		TEST(test_sasl),
		TEST(test_api_not_offered),
		TEST(test_no_partitions),
		TEST(test_wrong_server),
		TEST(test_table),
		TEST(test_missing_table),
		TEST(test_not_authorized),
		TEST(test_leader),
		TEST(test_dropped_partition),
		TEST(test_writer_id),
		TEST(test_no_memory),
		TEST(test_interrupt_everywhere)
	};

	return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
