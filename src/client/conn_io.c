/*
 * conn_io.c
 *	  The bytes of a connection.
 *
 * Output: requests are sent from their own frames, several in one call.
 *
 * Input: headers and small answers come through a buffer of the connection,
 * many frames in one call.  The body of a long answer is read straight into
 * memory of its size.  A body that nobody wants is read into the buffer and
 * dropped.
 */
#include <string.h>

#include "conn.h"
#include "error.h"

#define MAX_PARTS		16
/* An error frame holds a text; a longer one is garbage. */
#define MAX_ERROR_BODY	((size_t) 1 << 20)
/* Bytes read in one step: other connections want their turn. */
#define READ_BUDGET		((size_t) 32 << 20)

static void
keep_reason(fluss_conn *conn, const char *reason)
{
	size_t		size = strnlen(reason, sizeof(conn->reason) - 1);

	memcpy(conn->reason, reason, size);
	conn->reason[size] = '\0';
}

static void
lose(fluss_conn *conn, const char *reason)
{
	bool		ready = conn->state == FLUSS_CONN_READY;
	fluss_error error;

	(void) fluss_fail(&error, ready ? FLUSS_SEND_FAILED : FLUSS_CANNOT_CONNECT,
					  ready ? "lost connection to Fluss server at %s: %s" :
					  "could not connect to Fluss server at %s: %s",
					  conn->label, reason);
	keep_reason(conn, reason);
	fluss_conn_fail(conn, &error);
}

static void
lose_malformed(fluss_conn *conn, fluss_error *error)
{
	fluss_error_detail(error, "The server is %s.", conn->label);
	keep_reason(conn, error->message);
	fluss_conn_fail(conn, error);
}

/* ---- output */

static bool
may_send(const fluss_conn *conn, const fluss_request *request)
{
	if (request->stage == FLUSS_STAGE_SENDING)
		return true;
	if (request->stage != FLUSS_STAGE_WAITING)
		return false;
	if (request->handshake)
		return true;
	return conn->state == FLUSS_CONN_READY && conn->held_since_ms == 0;
}

/*
 * Servers change places: another one may listen now where the wanted one did.
 * That is found out by asking for the servers again.
 */
static void
refuse_api(const fluss_conn *conn, const fluss_api_info *api,
		   fluss_error *error)
{
	bool		wrong_server = api->role != FLUSS_ROLE_ANY &&
		conn->role != FLUSS_ROLE_ANY && conn->role != api->role;

	if (wrong_server)
		(void) fluss_fail(error, FLUSS_CANNOT_CONNECT,
						  "Fluss server at %s is no %s", conn->label,
						  api->role == FLUSS_ROLE_TABLET ?
						  "tablet server" : "coordinator");
	else
		(void) fluss_fail(error, FLUSS_UNSUPPORTED,
						  "Fluss server at %s does not offer %s",
						  conn->label, api->name);
}

/* Gives it an id and a version; false when it was finished instead. */
static bool
prepare(fluss_conn *conn, fluss_request *request)
{
	int			api = (int) (request->api - fluss_apis);
	int16_t		version = request->handshake ? 0 : conn->versions[api];

	if (version < 0)
	{
		fluss_error error;

		refuse_api(conn, request->api, &error);
		fluss_request_finish(request, &error);
		return false;
	}
	request->id = conn->next_id++;
	request->stage = FLUSS_STAGE_SENDING;
	fluss_frame_write_header(request->frame, (int16_t) request->api->api,
							 version, request->id,
							 request->frame_size - FLUSS_REQUEST_HEADER);
	return true;
}

static int
collect(fluss_conn *conn, struct iovec *parts)
{
	fluss_request *next;
	int			n = 0;

	for (fluss_request *r = conn->requests; r != NULL && n < MAX_PARTS;
		 r = next)
	{
		next = r->next;
		if (!may_send(conn, r) ||
			(r->stage == FLUSS_STAGE_WAITING && !prepare(conn, r)))
			continue;
		parts[n].iov_base = r->frame + r->frame_sent;
		parts[n].iov_len = r->frame_size - r->frame_sent;
		n++;
	}
	return n;
}

static void
mark_sent(fluss_request *request)
{
	const fluss_host *host = request->env->host;

	request->stage = FLUSS_STAGE_SENT;
	request->sent_maybe = true;
	if (request->handshake)
		explicit_bzero(request->frame, request->frame_size);
	host->free(host->arg, request->frame);
	request->frame = NULL;
}

static void
advance(fluss_conn *conn, size_t count)
{
	for (fluss_request *r = conn->requests; r != NULL && count > 0; r = r->next)
	{
		size_t		left = r->frame_size - r->frame_sent;

		if (r->stage != FLUSS_STAGE_SENDING)
			continue;
		if (left > count)
			left = count;
		r->frame_sent += left;
		count -= left;
		if (r->frame_sent == r->frame_size)
			mark_sent(r);
	}
}

void
fluss_conn_write(fluss_conn *conn)
{
	struct iovec parts[MAX_PARTS];
	int			nparts;

	while ((nparts = collect(conn, parts)) > 0)
	{
		size_t		count;
		int			error;

		switch (fluss_net_write(conn->fd, parts, nparts, &count, &error))
		{
			case FLUSS_IO_DONE:
				advance(conn, count);
				break;
			case FLUSS_IO_AGAIN:
				return;
			default:
				/* why the server hung up may stand in what it sent before */
				fluss_conn_read(conn);
				if (fluss_conn_is_open(conn))
					lose(conn, strerror(error));
				return;
		}
	}
}

/* ---- input */

static fluss_request *
find_sent(const fluss_conn *conn, uint32_t id)
{
	for (fluss_request *r = conn->requests; r != NULL; r = r->next)
	{
		if (r->stage == FLUSS_STAGE_SENT && r->id == id)
			return r;
	}
	return NULL;
}

/*
 * No memory for an answer ends the request, not the connection: the answer is
 * dropped like that of an abandoned one.
 */
static void
begin_body(fluss_conn *conn)
{
	const fluss_host *host = conn->env->host;
	size_t		size = conn->frame.body_size;
	fluss_error error;

	if (conn->frame.type != FLUSS_FRAME_FAILURE &&
		(conn->reading == NULL || conn->reading->abandoned))
		return;
	conn->body = host->alloc(host->arg, size > 0 ? size : 1);
	if (conn->body != NULL || conn->reading == NULL)
		return;
	(void) fluss_fail_memory(&error);
	fluss_error_detail(&error, "The answer of Fluss server at %s to %s has %zu bytes.",
					   conn->label, conn->reading->api->name, size);
	if (conn->reading->handshake)
	{
		fluss_conn_fail(conn, &error);
		return;
	}
	fluss_request_finish(conn->reading, &error);
	conn->reading = NULL;
}

/* Looks at the header of the next frame. */
static void
begin_frame(fluss_conn *conn)
{
	fluss_error error;

	conn->body_read = 0;
	conn->body = NULL;
	conn->reading = NULL;
	if (conn->frame.type != FLUSS_FRAME_FAILURE)
	{
		conn->reading = find_sent(conn, conn->frame.request_id);
		if (conn->reading == NULL)
		{
			(void) fluss_fail(&error, FLUSS_MALFORMED,
							  "Fluss server sent an answer that nobody asked for");
			lose_malformed(conn, &error);
			return;
		}
	}
	if (conn->frame.type != FLUSS_FRAME_ANSWER &&
		conn->frame.body_size > MAX_ERROR_BODY)
	{
		(void) fluss_fail(&error, FLUSS_MALFORMED,
						  "Fluss server sent an error text of %zu bytes",
						  conn->frame.body_size);
		lose_malformed(conn, &error);
		return;
	}
	conn->in_frame = true;
	begin_body(conn);
}

static void
read_error(const fluss_conn *conn, fluss_bytes body, const fluss_api_info *api,
		   fluss_error *error)
{
	fluss_arena arena;
	int			code;
	const char *text;

	fluss_arena_init(&arena, conn->env->host);
	if (fluss_rpc_decode_error(&arena, body, api != NULL ? api->name : "x",
							   &code, &text, error) == FLUSS_OK)
	{
		size_t		size = text != NULL ? strlen(text) : 0;

		if (api == NULL)
			(void) fluss_fail_server(error, code, text, size,
									 "use connection to Fluss server at %s",
									 conn->label);
		else if (api->api == FLUSS_API_AUTHENTICATE)
			(void) fluss_fail_server(error, code, text, size,
									 "log in to Fluss server at %s as user \"%s\"",
									 conn->label, conn->env->config->user);
		else
			(void) fluss_fail_server(error, code, text, size, "%s",
									 api->action);
		if (error->status == FLUSS_AUTH_FAILED && !conn->env->config->sasl)
			fluss_error_message(error, "Fluss server at %s requires authentication",
								conn->label);
	}
	fluss_arena_free(&arena);
}

/*
 * The answer, or the error, is complete.  Takes conn->body over or frees it.
 */
static void
end_frame(fluss_conn *conn)
{
	const fluss_host *host = conn->env->host;
	fluss_request *request = conn->reading;
	fluss_bytes body = {conn->body, conn->frame.body_size};
	uint8_t    *taken = conn->body;
	fluss_error error;
	bool		failed = conn->frame.type != FLUSS_FRAME_ANSWER;

	conn->in_frame = false;
	conn->reading = NULL;
	conn->body = NULL;
	if (request == NULL && conn->frame.type != FLUSS_FRAME_FAILURE)
		return;
	if (failed && taken != NULL)
	{
		read_error(conn, body, request != NULL ? request->api : NULL, &error);
		host->free(host->arg, taken);
	}
	if (request == NULL)
	{
		if (taken == NULL)
			(void) fluss_fail_memory(&error);
		lose_malformed(conn, &error);
		return;
	}
	if (failed && taken == NULL)
		(void) fluss_fail(&error, FLUSS_SERVER_ERROR, "dropped");
	if (!failed)
	{
		request->answer = taken;
		request->answer_size = body.size;
	}
	if (request->handshake)
	{
		fluss_request_finish(request, failed ? &error : NULL);
		fluss_conn_handshake_done(conn, request);
		return;
	}
	fluss_request_finish(request, failed ? &error : NULL);
}

/* Everything that the buffered input completes. */
static void
consume_input(fluss_conn *conn)
{
	while (fluss_conn_is_open(conn))
	{
		const uint8_t *data = conn->input + conn->input_pos;
		size_t		size = conn->input_size - conn->input_pos;
		fluss_error error;

		if (!conn->in_frame)
		{
			if (fluss_frame_read_header(data, size, &conn->frame,
										&error) != FLUSS_OK)
			{
				lose_malformed(conn, &error);
				return;
			}
			if (conn->frame.header_size == 0)
				return;
			conn->input_pos += conn->frame.header_size;
			begin_frame(conn);
			continue;
		}
		if (size > conn->frame.body_size - conn->body_read)
			size = conn->frame.body_size - conn->body_read;
		if (conn->body != NULL && size > 0)
			memcpy(conn->body + conn->body_read, data, size);
		conn->input_pos += size;
		conn->body_read += size;
		if (conn->body_read < conn->frame.body_size)
			return;
		end_frame(conn);
	}
}

/*
 * Where the next bytes go: the buffer, or the body if much of it is missing.
 * *more says that there may be more of them now.
 */
static fluss_io
read_some(fluss_conn *conn, size_t *count, bool *more, int *error)
{
	size_t		left = conn->frame.body_size - conn->body_read;
	fluss_io	result;

	if (conn->in_frame && conn->body != NULL && left >= FLUSS_CONN_INPUT)
	{
		result = fluss_net_read(conn->fd, conn->body + conn->body_read, left,
								count, error);
		if (result == FLUSS_IO_DONE)
			conn->body_read += *count;
		*more = *count == left;
		return result;
	}
	conn->input_size -= conn->input_pos;
	memmove(conn->input, conn->input + conn->input_pos, conn->input_size);
	conn->input_pos = 0;
	result = fluss_net_read(conn->fd, conn->input + conn->input_size,
							FLUSS_CONN_INPUT - conn->input_size, count, error);
	if (result == FLUSS_IO_DONE)
		conn->input_size += *count;
	*more = conn->input_size == FLUSS_CONN_INPUT;
	return result;
}

void
fluss_conn_read(fluss_conn *conn)
{
	const fluss_host *host = conn->env->host;
	size_t		budget = READ_BUDGET;
	bool		more = true;

	if (conn->input == NULL)
		conn->input = host->alloc(host->arg, FLUSS_CONN_INPUT);
	if (conn->input == NULL)
	{
		fluss_error error;

		(void) fluss_fail_memory(&error);
		fluss_conn_fail(conn, &error);
		return;
	}
	while (more && budget > 0 && fluss_conn_is_open(conn))
	{
		size_t		count = 0;
		int			error = 0;

		switch (read_some(conn, &count, &more, &error))
		{
			case FLUSS_IO_DONE:
				conn->progress_ms = fluss_conn_now(conn);
				budget -= count < budget ? count : budget;
				consume_input(conn);
				break;
			case FLUSS_IO_AGAIN:
				return;
			case FLUSS_IO_CLOSED:
				lose(conn, "the server closed the connection");
				return;
			default:
				lose(conn, strerror(error));
				return;
		}
	}
}

void
fluss_conn_forget_reading(fluss_conn *conn, fluss_request *request)
{
	if (conn->reading != request || conn->body == NULL)
		return;
	conn->env->host->free(conn->env->host->arg, conn->body);
	conn->body = NULL;
}
