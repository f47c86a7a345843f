/*
 * conn.h
 *	  One connection to one server, and the requests on it.
 *
 * States: closed -> resolving -> connecting -> versions -> (authenticating ->)
 * ready.  A closed connection is an address only; the next request opens it.
 * Nothing here waits: step does what can be done now, fds says what to wait
 * for, and whoever owns the connections waits for all of them at once.
 *
 * A request is on the connection's list from submit until it is finished, in
 * the order of sending.  Its owner may free it at any time; when bytes of it
 * have left, the connection keeps it as abandoned until its answer has been
 * read and dropped.
 *
 * Doubt: an abandoned request is left over from work that was interrupted,
 * perhaps because the server or the network is gone.  As long as the answers
 * of such requests are outstanding, new requests are held back.  When they do
 * not arrive soon, the connection is stalled: its owner moves the held
 * requests to a fresh connection and lets this one live only for those that
 * still wait for answers on it.
 */
#ifndef FLUSS_CONN_H
#define FLUSS_CONN_H

#include "address.h"
#include "api.h"
#include "frame.h"
#include "resolve.h"
#include "rpc_admin.h"

typedef struct fluss_conn fluss_conn;

/* What all connections of a client share. */
typedef struct fluss_conn_env
{
	const fluss_host *host;
	const fluss_config *config;
	bool		finished;		/* set when a request finishes */
} fluss_conn_env;

/* ---- requests */

typedef enum fluss_request_stage
{
	FLUSS_STAGE_WAITING,		/* not a byte has left */
	FLUSS_STAGE_SENDING,
	FLUSS_STAGE_SENT,			/* the answer is outstanding */
	FLUSS_STAGE_FINISHED		/* off the list */
} fluss_request_stage;

struct fluss_request
{
	fluss_request *next;
	fluss_conn_env *env;
	fluss_conn *conn;			/* NULL when finished */
	const fluss_api_info *api;
	fluss_request_stage stage;
	fluss_request_state state;
	bool		abandoned;		/* its owner is gone */
	bool		handshake;		/* the connection's own */
	bool		moved;			/* has left a lost connection once */
	bool		sent_maybe;
	uint32_t	id;
	uint8_t    *frame;			/* header and body; NULL when sent */
	size_t		frame_size;
	size_t		frame_sent;
	uint8_t    *answer;
	size_t		answer_size;
	int64_t		deadline_ms;
	int64_t		started_ms;
	fluss_error error;
};

/* Copies the body behind room for the header. */
FLUSS_MUST_CHECK fluss_status fluss_request_new(fluss_conn_env *env,
												fluss_api api,
												const uint8_t *body,
												size_t size,
												int64_t deadline_ms,
												fluss_request **request,
												fluss_error *err);
/* Takes a request off its connection and sets how it ended. */
void fluss_request_finish(fluss_request *request, const fluss_error *error);

/* ---- connections */

typedef enum fluss_conn_state
{
	FLUSS_CONN_CLOSED,
	FLUSS_CONN_RESOLVING,
	FLUSS_CONN_CONNECTING,
	FLUSS_CONN_VERSIONS,
	FLUSS_CONN_AUTHENTICATING,
	FLUSS_CONN_READY
} fluss_conn_state;

#define FLUSS_CONN_INPUT	16384
#define FLUSS_LABEL_SIZE	272

struct fluss_conn
{
	fluss_conn *next;			/* for the owner */
	fluss_conn_env *env;
	fluss_address address;		/* host is our copy */
	char		label[FLUSS_LABEL_SIZE];	/* as advertised: for messages */
	char		reason[128];	/* why it could not be opened last time */
	fluss_conn_state state;
	bool		retired;		/* takes no new requests */
	bool		stalled;		/* held requests must go elsewhere */
	bool		was_ready;		/* since it was opened last */

	/* opening */
	fluss_resolver *resolver;
	fluss_sockaddr addresses[FLUSS_MAX_ADDRESSES];
	int			naddresses;
	int			current;		/* the address being tried */
	int64_t		open_deadline_ms;
	int64_t		try_deadline_ms;	/* of the current address */
	int			auth_attempt;
	int64_t		auth_retry_ms;	/* 0: no pause in the authentication */

	/* open */
	int			fd;				/* -1: none */
	uint32_t	next_id;
	fluss_role	role;			/* what the server says it is */
	int16_t		versions[FLUSS_NAPIS];	/* to be used; -1: not offered */
	fluss_request *requests;	/* in order of sending */
	int64_t		held_since_ms;	/* new requests are held back; 0: they are not */
	int64_t		progress_ms;	/* bytes have arrived */

	/* input: input[input_pos .. input_size) is not looked at yet */
	uint8_t    *input;
	size_t		input_pos;
	size_t		input_size;
	/* the frame whose body is being read */
	bool		in_frame;
	fluss_frame frame;
	size_t		body_read;
	fluss_request *reading;		/* whose answer it is; NULL: drop it */
	uint8_t    *body;			/* body_size bytes, or NULL: drop it */
};

fluss_conn *fluss_conn_new(fluss_conn_env *env, fluss_address address,
						   const char *label);
/* Fails what is on it and frees it. */
void fluss_conn_free(fluss_conn *conn);
/* Puts a request on the list, opening the connection when it is closed. */
void fluss_conn_submit(fluss_conn *conn, fluss_request *request);
void fluss_conn_step(fluss_conn *conn);
/* Up to FLUSS_RESOLVER_FDS sockets; lowers *until_ms to the next deadline. */
int fluss_conn_fds(const fluss_conn *conn, fluss_pollfd *fds,
				   int64_t *until_ms);
/* Moves all deadlines: nobody has stepped for so long. */
void fluss_conn_postpone(fluss_conn *conn, int64_t ms);
/* Whether a request is on it that somebody waits for. */
bool fluss_conn_has_owners(const fluss_conn *conn);
/* Whether bytes can be exchanged. */
bool fluss_conn_is_open(const fluss_conn *conn);
/* Moves requests of which nothing was sent; with to NULL they fail. */
void fluss_conn_move_waiting(fluss_conn *from, fluss_conn *to);
/* Closes the socket; error tells the requests, and the reason, why. */
void fluss_conn_fail(fluss_conn *conn, const fluss_error *error);

/* Stops opening it. */
void fluss_conn_give_up(fluss_conn *conn);

/* conn_io.c */
void fluss_conn_write(fluss_conn *conn);
void fluss_conn_read(fluss_conn *conn);
/* A request is freed in the middle of its answer. */
void fluss_conn_forget_reading(fluss_conn *conn, fluss_request *request);

/* conn_open.c: everything between closed and ready */
void fluss_conn_open(fluss_conn *conn);
void fluss_conn_step_open(fluss_conn *conn);
void fluss_conn_handshake_done(fluss_conn *conn, fluss_request *request);
int64_t fluss_conn_now(const fluss_conn *conn);

#endif							/* FLUSS_CONN_H */
