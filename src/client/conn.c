/*
 * conn.c
 *	  One connection to one server: its list of requests, its deadlines and
 *	  its end.  conn_open.c brings it up, conn_io.c moves the bytes.
 */
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "error.h"

/*
 * How long new requests are held back for the answers of abandoned ones:
 * without a byte, and in all.
 */
#define HOLD_QUIET_MS	200
#define HOLD_MS			1000

int64_t
fluss_conn_now(const fluss_conn *conn)
{
	return conn->env->host->now_ms(conn->env->host->arg);
}

fluss_conn *
fluss_conn_new(fluss_conn_env *env, fluss_address address,
			   const char *label)
{
	const fluss_host *host = env->host;
	size_t		host_size = strlen(address.host) + 1;
	fluss_conn *conn = host->alloc(host->arg, sizeof(*conn) + host_size);

	if (conn == NULL)
		return NULL;
	memset(conn, 0, sizeof(*conn));
	memcpy(conn + 1, address.host, host_size);
	conn->env = env;
	conn->address.host = (const char *) (conn + 1);
	conn->address.port = address.port;
	conn->fd = -1;
	snprintf(conn->label, sizeof(conn->label), "%s", label);
	return conn;
}

void
fluss_conn_free(fluss_conn *conn)
{
	const fluss_host *host = conn->env->host;
	fluss_error error;

	(void) fluss_fail(&error, FLUSS_SEND_FAILED,
					  "closed the connection to Fluss server at %s",
					  conn->label);
	conn->retired = true;
	fluss_conn_fail(conn, &error);
	if (conn->input != NULL)
		host->free(host->arg, conn->input);
	host->free(host->arg, conn);
}

static bool
unsent(const fluss_request *request)
{
	return request->stage == FLUSS_STAGE_WAITING ||
		(request->stage == FLUSS_STAGE_SENDING && request->frame_sent == 0);
}

bool
fluss_conn_has_owners(const fluss_conn *conn)
{
	for (const fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (!r->abandoned && !r->handshake)
			return true;
	}
	return false;
}

bool
fluss_conn_is_open(const fluss_conn *conn)
{
	return conn->fd >= 0 && conn->state >= FLUSS_CONN_VERSIONS;
}

static bool
has_abandoned(const fluss_conn *conn)
{
	for (const fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (r->abandoned)
			return true;
	}
	return false;
}

static void
append(fluss_conn *conn, fluss_request *request)
{
	fluss_request **link = &conn->requests;

	while (*link != NULL)
		link = &(*link)->next;
	request->next = NULL;
	request->conn = conn;
	*link = request;
}

/* ---- the end of a connection */

static void
close_socket(fluss_conn *conn)
{
	const fluss_host *host = conn->env->host;

	fluss_resolver_close(conn->resolver);
	conn->resolver = NULL;
	if (conn->fd >= 0)
		fluss_net_close(host, conn->fd);
	conn->fd = -1;
	if (conn->body != NULL)
		host->free(host->arg, conn->body);
	conn->body = NULL;
	conn->reading = NULL;
	conn->in_frame = false;
	conn->input_pos = conn->input_size = 0;
	conn->held_since_ms = 0;
	conn->stalled = false;
	conn->auth_retry_ms = 0;
	conn->state = FLUSS_CONN_CLOSED;
}

/*
 * A request of which the server has seen nothing moves on to a new connection
 * when it was the old one that broke, once; the others end here.
 */
void
fluss_conn_fail(fluss_conn *conn, const fluss_error *error)
{
	bool		reopen = conn->was_ready && !conn->retired;
	fluss_request *list = conn->requests;
	fluss_request *next;

	conn->was_ready = false;
	close_socket(conn);
	conn->requests = NULL;
	for (fluss_request *r = list; r != NULL; r = next)
	{
		next = r->next;
		append(conn, r);
		if (reopen && unsent(r) && !r->moved && !r->handshake)
		{
			r->moved = true;
			r->stage = FLUSS_STAGE_WAITING;
			continue;
		}
		r->abandoned |= r->handshake;
		fluss_request_finish(r, error);
	}
	if (conn->requests != NULL)
		fluss_conn_open(conn);
}

void
fluss_conn_move_waiting(fluss_conn *from, fluss_conn *to)
{
	fluss_request **link = &from->requests;

	while (*link != NULL)
	{
		fluss_request *request = *link;

		if (!unsent(request) || request->handshake)
		{
			link = &request->next;
			continue;
		}
		if (to == NULL)
		{
			fluss_error error;

			(void) fluss_fail_memory(&error);
			fluss_request_finish(request, &error);
			continue;
		}
		*link = request->next;
		request->stage = FLUSS_STAGE_WAITING;
		append(to, request);
	}
	if (to != NULL && to->requests != NULL && to->state == FLUSS_CONN_CLOSED)
		fluss_conn_open(to);
}

/* ---- requests */

/*
 * A server may have closed an idle connection: reading now finds out before
 * the request is sent.
 */
void
fluss_conn_submit(fluss_conn *conn, fluss_request *request)
{
	fluss_conn_step(conn);
	append(conn, request);
	if (conn->state == FLUSS_CONN_CLOSED)
	{
		fluss_conn_open(conn);
		return;
	}
	if (conn->state != FLUSS_CONN_READY)
		return;
	if (conn->held_since_ms == 0 && has_abandoned(conn))
	{
		conn->held_since_ms = fluss_conn_now(conn);
		conn->progress_ms = conn->held_since_ms;
	}
	fluss_conn_write(conn);
}

static void
check_hold(fluss_conn *conn, int64_t now)
{
	if (conn->held_since_ms == 0)
		return;
	if (!has_abandoned(conn))
		conn->held_since_ms = 0;
	else if (now >= conn->progress_ms + HOLD_QUIET_MS ||
			 now >= conn->held_since_ms + HOLD_MS)
		conn->stalled = true;
}

static fluss_request *
find_expired(const fluss_conn *conn, int64_t now)
{
	for (fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (!r->abandoned && !r->handshake && now >= r->deadline_ms)
			return r;
	}
	return NULL;
}

/*
 * An answer that comes too late would be taken for another's, if ids were used
 * again, and the server may be stuck: a connection does not outlive a timeout.
 */
static void
expire(fluss_conn *conn, int64_t now)
{
	fluss_request *request;

	while ((request = find_expired(conn, now)) != NULL)
	{
		bool		was_sent = request->frame_sent > 0;
		fluss_error error;

		(void) fluss_fail(&error, FLUSS_TIMED_OUT,
						  "no answer from Fluss server at %s to %s within %lld ms",
						  conn->label, request->api->name,
						  (long long) (now - request->started_ms));
		if (conn->state != FLUSS_CONN_READY)
			fluss_error_detail(&error, "The connection was not established yet.");
		fluss_request_finish(request, &error);
		if (!was_sent)
			continue;
		(void) fluss_fail(&error, FLUSS_SEND_FAILED,
						  "closed the connection to Fluss server at %s because another request had timed out",
						  conn->label);
		fluss_conn_fail(conn, &error);
	}
	if (conn->state != FLUSS_CONN_READY && conn->requests != NULL &&
		!fluss_conn_has_owners(conn))
		fluss_conn_give_up(conn);
}

/* Nobody waits for it any more: the next one shall have the whole time. */
void
fluss_conn_give_up(fluss_conn *conn)
{
	fluss_error error;

	(void) fluss_fail(&error, FLUSS_CANNOT_CONNECT,
					  "gave up connecting to Fluss server at %s", conn->label);
	fluss_conn_fail(conn, &error);
}

void
fluss_conn_step(fluss_conn *conn)
{
	int64_t		now;

	if (conn->state == FLUSS_CONN_CLOSED)
		return;
	if (conn->state != FLUSS_CONN_READY)
		fluss_conn_step_open(conn);
	if (fluss_conn_is_open(conn))
		fluss_conn_write(conn);
	if (fluss_conn_is_open(conn))
		fluss_conn_read(conn);
	now = fluss_conn_now(conn);
	check_hold(conn, now);
	if (fluss_conn_is_open(conn))
		fluss_conn_write(conn);
	expire(conn, now);
}

/* ---- what to wait for */

static void
lower(int64_t *until_ms, int64_t ms)
{
	if (ms < *until_ms)
		*until_ms = ms;
}

static void
add_deadlines(const fluss_conn *conn, int64_t *until_ms)
{
	for (const fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (!r->abandoned && !r->handshake)
			lower(until_ms, r->deadline_ms);
	}
	if (conn->state != FLUSS_CONN_READY)
		lower(until_ms, conn->open_deadline_ms);
	if (conn->state == FLUSS_CONN_CONNECTING)
		lower(until_ms, conn->try_deadline_ms);
	if (conn->auth_retry_ms != 0)
		lower(until_ms, conn->auth_retry_ms);
	if (conn->held_since_ms != 0)
	{
		lower(until_ms, conn->progress_ms + HOLD_QUIET_MS);
		lower(until_ms, conn->held_since_ms + HOLD_MS);
	}
}

/* Something that write could send now. */
static bool
wants_write(const fluss_conn *conn)
{
	for (const fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (r->stage == FLUSS_STAGE_SENDING)
			return true;
	}
	return false;
}

int
fluss_conn_fds(const fluss_conn *conn, fluss_pollfd *fds, int64_t *until_ms)
{
	int			wait_ms;
	int			n;

	if (conn->state == FLUSS_CONN_CLOSED || conn->requests == NULL)
		return 0;
	add_deadlines(conn, until_ms);
	if (conn->state == FLUSS_CONN_RESOLVING)
	{
		n = fluss_resolver_fds(conn->resolver, fds, &wait_ms);
		if (wait_ms >= 0)
			lower(until_ms, fluss_conn_now(conn) + wait_ms);
		return n;
	}
	fds[0].fd = conn->fd;
	fds[0].want_read = conn->state >= FLUSS_CONN_VERSIONS;
	fds[0].want_write = conn->state == FLUSS_CONN_CONNECTING ||
		wants_write(conn);
	return 1;
}

void
fluss_conn_postpone(fluss_conn *conn, int64_t ms)
{
	for (fluss_request *r = conn->requests; r != NULL; r = r->next)
		r->deadline_ms += ms;
	conn->open_deadline_ms += ms;
	conn->try_deadline_ms += ms;
	if (conn->auth_retry_ms != 0)
		conn->auth_retry_ms += ms;
	if (conn->held_since_ms != 0)
	{
		conn->held_since_ms += ms;
		conn->progress_ms += ms;
	}
}
