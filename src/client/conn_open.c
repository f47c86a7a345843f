/*
 * conn_open.c
 *	  Bringing a connection up: name, address, versions, authentication.
 *
 * All of it together is bounded by connect_timeout.  A name with several
 * addresses gives each of them a fair part of what is left.  The two kinds of
 * handshake request are put in front of what waits on the connection.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "error.h"

#define AUTH_RETRY_MS			100
#define LONGEST_AUTH_RETRY_MS	5000

static void
refuse(fluss_conn *conn, const char *reason)
{
	fluss_error error;

	snprintf(conn->reason, sizeof(conn->reason), "%s", reason);
	(void) fluss_fail(&error, FLUSS_CANNOT_CONNECT,
					  "could not connect to Fluss server at %s: %s",
					  conn->label, reason);
	fluss_conn_fail(conn, &error);
}

static void
refuse_memory(fluss_conn *conn)
{
	fluss_error error;

	snprintf(conn->reason, sizeof(conn->reason), "out of memory");
	(void) fluss_fail_memory(&error);
	fluss_conn_fail(conn, &error);
}

/*
 * Half of the time a request has in all: a peer that is gone without a word
 * shall leave time for another try.
 */
static int
user_timeout(const fluss_config *config)
{
	int			timeout = config->request_timeout_ms / 2;

	return timeout > config->connect_timeout_ms ?
		timeout : config->connect_timeout_ms;
}

/* Tries the addresses from conn->current on until one is under way. */
static void
try_addresses(fluss_conn *conn, int error)
{
	const fluss_host *host = conn->env->host;

	conn->state = FLUSS_CONN_CONNECTING;
	while (conn->current < conn->naddresses)
	{
		int64_t		now = fluss_conn_now(conn);
		int64_t		left = conn->open_deadline_ms - now;

		conn->fd = fluss_net_connect(host, &conn->addresses[conn->current],
									 user_timeout(conn->env->config), &error);
		if (conn->fd >= 0)
		{
			conn->try_deadline_ms =
				now + left / (conn->naddresses - conn->current);
			return;
		}
		conn->current++;
	}
	refuse(conn, error == 0 ? "timeout expired" : strerror(error));
}

void
fluss_conn_open(fluss_conn *conn)
{
	const fluss_config *config = conn->env->config;
	const char *reason;

	conn->open_deadline_ms = fluss_conn_now(conn) + config->connect_timeout_ms;
	conn->current = 0;
	conn->auth_attempt = 0;
	conn->next_id = 0;
	conn->reason[0] = '\0';
	if (fluss_net_numeric(conn->address.host, conn->address.port,
						  &conn->addresses[0]))
	{
		conn->naddresses = 1;
		try_addresses(conn, 0);
		return;
	}
	conn->state = FLUSS_CONN_RESOLVING;
	conn->resolver = fluss_resolver_open(conn->env->host, conn->address.host,
										 conn->address.port,
										 config->connect_timeout_ms, &reason);
	if (conn->resolver == NULL)
		refuse(conn, reason);
}

static void
step_resolving(fluss_conn *conn)
{
	const char *reason;

	if (!fluss_resolver_step(conn->resolver, conn->addresses,
							 &conn->naddresses, &reason))
		return;
	fluss_resolver_close(conn->resolver);
	conn->resolver = NULL;
	if (conn->naddresses == 0)
		refuse(conn, reason);
	else
		try_addresses(conn, 0);
}

/* Puts a handshake request in front. */
static void
submit_handshake(fluss_conn *conn, fluss_api api, const fluss_buf *body)
{
	fluss_request *request;
	fluss_error error;

	if (fluss_request_new(conn->env, api, body->data, body->size,
						  conn->open_deadline_ms, &request,
						  &error) != FLUSS_OK)
	{
		refuse_memory(conn);
		return;
	}
	request->handshake = true;
	request->conn = conn;
	request->next = conn->requests;
	conn->requests = request;
}

static void
start_versions(fluss_conn *conn)
{
	const char *client_id = conn->env->config->client_id;
	fluss_buf	body;
	fluss_error error;

	conn->state = FLUSS_CONN_VERSIONS;
	fluss_buf_init(&body, conn->env->host);
	if (fluss_rpc_encode_versions(client_id, &body, &error) != FLUSS_OK)
		refuse_memory(conn);
	else
		submit_handshake(conn, FLUSS_API_VERSIONS, &body);
	fluss_buf_free(&body);
}

static void
start_authenticate(fluss_conn *conn)
{
	const fluss_config *config = conn->env->config;
	fluss_buf	body;
	fluss_error error;

	conn->state = FLUSS_CONN_AUTHENTICATING;
	fluss_buf_init(&body, conn->env->host);
	if (fluss_rpc_encode_authenticate(conn->env->host, config->user,
									  config->password, &body,
									  &error) != FLUSS_OK)
		refuse_memory(conn);
	else
		submit_handshake(conn, FLUSS_API_AUTHENTICATE, &body);
	if (body.data != NULL)
		explicit_bzero(body.data, body.size);
	fluss_buf_free(&body);
}

static void
step_connecting(fluss_conn *conn)
{
	int			error = fluss_net_connected(conn->fd);

	if (error == 0)
	{
		start_versions(conn);
		return;
	}
	if (error == EINPROGRESS)
	{
		if (fluss_conn_now(conn) < conn->try_deadline_ms)
			return;
		error = 0;
	}
	fluss_net_close(conn->env->host, conn->fd);
	conn->fd = -1;
	conn->current++;
	try_addresses(conn, error);
}

void
fluss_conn_step_open(fluss_conn *conn)
{
	int64_t		now = fluss_conn_now(conn);

	if (conn->state == FLUSS_CONN_RESOLVING)
		step_resolving(conn);
	if (conn->state == FLUSS_CONN_CONNECTING)
		step_connecting(conn);
	if (conn->auth_retry_ms != 0 && now >= conn->auth_retry_ms)
	{
		conn->auth_retry_ms = 0;
		start_authenticate(conn);
	}
	if (conn->state == FLUSS_CONN_CLOSED || conn->state == FLUSS_CONN_READY ||
		now < conn->open_deadline_ms)
		return;
	/* an answer that is already here still counts */
	if (conn->state >= FLUSS_CONN_VERSIONS && conn->auth_retry_ms == 0)
		fluss_conn_read(conn);
	if (conn->state != FLUSS_CONN_CLOSED && conn->state != FLUSS_CONN_READY)
		refuse(conn, "timeout expired");
}

static void
become_ready(fluss_conn *conn)
{
	conn->state = FLUSS_CONN_READY;
	conn->was_ready = true;
}

/* The highest version that both sides speak, or -1. */
static int16_t
common_version(const fluss_api_info *api, const fluss_api_range *ranges,
			   int nranges)
{
	for (int i = 0; i < nranges; i++)
	{
		int32_t		version = api->max_version;

		if (ranges[i].api != (int32_t) api->api)
			continue;
		if (ranges[i].max < version)
			version = ranges[i].max;
		if (version < ranges[i].min || version < api->min_version)
			return -1;
		return (int16_t) version;
	}
	return -1;
}

static fluss_status
take_versions(fluss_conn *conn, fluss_bytes answer, fluss_error *err)
{
	fluss_arena arena;
	fluss_api_range *ranges;
	int			nranges;
	int32_t		role;
	fluss_status status;

	fluss_arena_init(&arena, conn->env->host);
	status = fluss_rpc_decode_versions(&arena, answer, &ranges, &nranges,
									   &role, err);
	if (status == FLUSS_OK)
	{
		conn->role = role;
		for (int i = 0; i < FLUSS_NAPIS; i++)
			conn->versions[i] = common_version(&fluss_apis[i], ranges, nranges);
	}
	fluss_arena_free(&arena);
	return status;
}

static fluss_status
take_authenticated(fluss_conn *conn, fluss_bytes answer, fluss_error *err)
{
	fluss_arena arena;
	fluss_status status;

	fluss_arena_init(&arena, conn->env->host);
	status = fluss_rpc_decode_authenticate(&arena, answer, err);
	fluss_arena_free(&arena);
	return status;
}

/* True when the authentication will be tried again. */
static bool
pause_authentication(fluss_conn *conn, const fluss_error *error)
{
	int64_t		pause = AUTH_RETRY_MS;

	if (conn->state != FLUSS_CONN_AUTHENTICATING ||
		fluss_code_to_action(error->server_code) != FLUSS_ACTION_RETRY)
		return false;
	for (int i = 0; i < conn->auth_attempt && pause < LONGEST_AUTH_RETRY_MS; i++)
		pause *= 2;
	conn->auth_attempt++;
	conn->auth_retry_ms = fluss_conn_now(conn) + pause;
	return true;
}

void
fluss_conn_handshake_done(fluss_conn *conn, fluss_request *request)
{
	fluss_error error = request->error;
	fluss_status status = error.status;

	if (request->state == FLUSS_REQUEST_DONE)
		status = conn->state == FLUSS_CONN_VERSIONS ?
			take_versions(conn, fluss_request_answer(request), &error) :
			take_authenticated(conn, fluss_request_answer(request), &error);
	fluss_request_free(request);
	if (status != FLUSS_OK)
	{
		if (pause_authentication(conn, &error))
			return;
		snprintf(conn->reason, sizeof(conn->reason), "%.120s", error.message);
		fluss_error_detail(&error, "The server is %s.", conn->label);
		fluss_conn_fail(conn, &error);
	}
	else if (conn->state == FLUSS_CONN_VERSIONS && conn->env->config->sasl)
		start_authenticate(conn);
	else
		become_ready(conn);
}
