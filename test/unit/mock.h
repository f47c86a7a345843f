/*
 * mock.h
 *	  Servers that misbehave on demand, played by the test's own thread: they
 *	  get their turn whenever the library waits.
 *
 * A mock server answers the handshake, metadata (itself as coordinator and
 * tablet server 0), and questions about one table, "db.t" with id 7 and two
 * buckets.  A test's own handler sees each request first.
 */
#ifndef FLUSS_TEST_MOCK_H
#define FLUSS_TEST_MOCK_H

#include "support.h"

#define MOCK_TABLE_ID	7
#define MOCK_BUCKETS	2

typedef struct mock_server mock_server;
typedef struct mock_conn mock_conn;

typedef struct mock_request
{
	mock_server *server;
	mock_conn  *conn;
	int			api;
	int			version;
	uint32_t	id;
	const uint8_t *body;
	size_t		size;
} mock_request;

/* True: it has dealt with the request; a request may also stay unanswered. */
typedef bool (*mock_handler) (const mock_request *request);

struct mock_server
{
	int			port;
	mock_handler handler;		/* may be NULL */
	bool		paused;			/* accepts and reads nothing, as if stopped */
	bool		trickle;		/* sends one byte a turn */
	bool		sasl;			/* wants user "u" with password "p" */
	int			leader;			/* of all buckets; -1: none */
	int64_t		table_id;
	int			accepted;		/* connections so far */
	int			requests;		/* so far, without the handshake */
	int			unsupported;	/* an API that is not offered; 0: none */
	mock_server *peer;			/* tablet server 1, or NULL */
	/* private */
	int			fd;
	mock_conn  *conns;
};

/* A server on a port of its own. */
mock_server *mock_start(void);
/* Listens no longer and resets its connections; start again on the port. */
void mock_stop(mock_server *server);
void mock_restart(mock_server *server);
/* The servers' turn, for a test that has others, too. */
void mock_step(void);
/* Ends all servers. */
void mock_end(void);

void mock_answer(const mock_request *request, const void *body, size_t size);
void mock_error(const mock_request *request, int code, const char *text);
/* A frame without a request id. */
void mock_failure(const mock_request *request, int code, const char *text);
void mock_raw(mock_conn *conn, const void *data, size_t size);
/* What a mock server answers by itself. */
void mock_default(const mock_request *request);
/* Closes in good order once everything was sent, or resets at once. */
void mock_close(mock_conn *conn);
void mock_reset(mock_conn *conn);

#endif							/* FLUSS_TEST_MOCK_H */
