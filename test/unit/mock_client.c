/*
 * mock_client.c
 *	  A client of one mock server.
 */
#include <stdio.h>

#include "mock_client.h"

mock_server *server;
fluss_error err;

fluss_client *
open_client(const char *bootstrap, const char *address_map)
{
	fluss_config config = {
		.bootstrap_servers = bootstrap,
		.address_map = address_map,
		.connect_timeout_ms = 400,
		.request_timeout_ms = 1000,
		.sasl = server->sasl,
		.user = "u",
		.password = "p"
	};
	fluss_client *client;

	assert_fluss_ok(fluss_client_open(test_host(), &config, &client, &err),
					&err);
	return client;
}

fluss_client *
open_default(void)
{
	char		bootstrap[32];

	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d", server->port);
	return open_client(bootstrap, NULL);
}

int
mock_set_up(void **unused)
{
	test_set_up(unused);
	server = mock_start();
	return 0;
}

int
mock_tear_down(void **unused)
{
	mock_end();
	return test_host_live_blocks() + test_host_live_fds();
}

fluss_status
list_databases(fluss_client *client)
{
	const char *const *names;
	fluss_status status = fluss_list_databases(client, &names, &err);

	if (status == FLUSS_OK)
		assert_string_equal(names[0], "db");
	return status;
}

int64_t
now(void)
{
	return test_host()->now_ms(NULL);
}

fluss_request *
start_request(fluss_client *client, fluss_api api, int64_t timeout_ms)
{
	fluss_request *request;

	assert_fluss_ok(fluss_request_start(client, 0, api, (const uint8_t *) "x",
										1, now() + timeout_ms, &request, &err),
					&err);
	return request;
}

fluss_status
wait_for(fluss_client *client, fluss_request *request)
{
	while (fluss_request_state_of(request) == FLUSS_REQUEST_PENDING)
	{
		fluss_status status = fluss_cluster_poll(client, now() + 5000, &err);

		if (status != FLUSS_OK)
			return status;
	}
	if (fluss_request_state_of(request) == FLUSS_REQUEST_DONE)
		return FLUSS_OK;
	err = *fluss_request_error(request);
	return err.status;
}
