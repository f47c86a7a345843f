/*
 * mock_client.h
 *	  A client of one mock server.
 */
#ifndef FLUSS_TEST_MOCK_CLIENT_H
#define FLUSS_TEST_MOCK_CLIENT_H

#include "cluster.h"
#include "mock.h"

/* Of each test: its server, and the error of its last call. */
extern mock_server *server;
extern fluss_error err;

/* Start the server; end all and fail if something is left. */
int mock_set_up(void **unused);
int mock_tear_down(void **unused);

#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, mock_set_up, mock_tear_down)

/* A client with short timeouts; it connects when it is used. */
fluss_client *open_client(const char *bootstrap, const char *address_map);
/* One of the server. */
fluss_client *open_default(void);
/* The test host's time. */
int64_t now(void);
/* A call that is answered with the one database there is. */
fluss_status list_databases(fluss_client *client);
/* A request to tablet server 0, with a body of one byte. */
fluss_request *start_request(fluss_client *client, fluss_api api,
							 int64_t timeout_ms);
/* Waits for the answer to it. */
fluss_status wait_for(fluss_client *client, fluss_request *request);

#endif							/* FLUSS_TEST_MOCK_CLIENT_H */
