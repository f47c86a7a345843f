/*
 * request.c
 *	  The life of one request.
 *
 * A request belongs to its owner and, until it is finished, also to its
 * connection.  See conn.h for what happens when the owner goes first.
 */
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "error.h"

fluss_status
fluss_request_new(fluss_conn_env *env, fluss_api api, const uint8_t *body,
				  size_t size, int64_t deadline_ms, fluss_request **request,
				  fluss_error *err)
{
	const fluss_host *host = env->host;
	fluss_request *new;

	if (size > FLUSS_MAX_FRAME)
		return fluss_fail(err, FLUSS_SEND_FAILED,
						  "request of %zu bytes is too long", size);
	new = host->alloc(host->arg, sizeof(*new));
	if (new == NULL)
		return fluss_fail_memory(err);
	memset(new, 0, sizeof(*new));
	new->frame = host->alloc(host->arg, FLUSS_REQUEST_HEADER + size);
	if (new->frame == NULL)
	{
		host->free(host->arg, new);
		return fluss_fail_memory(err);
	}
	if (size > 0)
		memcpy(new->frame + FLUSS_REQUEST_HEADER, body, size);
	new->frame_size = FLUSS_REQUEST_HEADER + size;
	new->env = env;
	new->api = &fluss_apis[fluss_api_index(api)];
	new->deadline_ms = deadline_ms;
	new->started_ms = host->now_ms(host->arg);
	*request = new;
	return FLUSS_OK;
}

/* A handshake may hold a password. */
static void
free_frame(fluss_request *request)
{
	const fluss_host *host = request->env->host;

	if (request->frame == NULL)
		return;
	if (request->handshake)
		explicit_bzero(request->frame, request->frame_size);
	host->free(host->arg, request->frame);
	request->frame = NULL;
}

static void
destroy(fluss_request *request)
{
	const fluss_host *host = request->env->host;

	free_frame(request);
	if (request->answer != NULL)
		host->free(host->arg, request->answer);
	host->free(host->arg, request);
}

static void
unlink_request(fluss_request *request)
{
	fluss_request **link;

	if (request->conn == NULL)
		return;
	link = &request->conn->requests;
	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	request->next = NULL;
}

static void
log_request(const fluss_request *request, const fluss_conn *conn)
{
	const fluss_host *host = request->env->host;
	long long	ms;
	char		line[640];

	if (host->log == NULL)
		return;
	ms = (long long) (host->now_ms(host->arg) - request->started_ms);
	if (request->state == FLUSS_REQUEST_DONE)
		snprintf(line, sizeof(line),
				 "%s to %s: sent %zu bytes, received %zu, %lld ms",
				 request->api->name, conn->label, request->frame_size,
				 request->answer_size, ms);
	else
		snprintf(line, sizeof(line),
				 "%s to %s: sent %zu bytes, failed after %lld ms: %s",
				 request->api->name, conn->label, request->frame_size, ms,
				 request->error.message);
	host->log(host->arg, line);
}

void
fluss_request_finish(fluss_request *request, const fluss_error *error)
{
	fluss_conn *conn = request->conn;

	unlink_request(request);
	free_frame(request);
	request->stage = FLUSS_STAGE_FINISHED;
	request->state = FLUSS_REQUEST_DONE;
	if (error != NULL)
	{
		request->state = FLUSS_REQUEST_FAILED;
		request->error = *error;
	}
	if (request->abandoned)
	{
		destroy(request);
		return;
	}
	log_request(request, conn);
	request->conn = NULL;
	if (!request->handshake)
		request->env->finished = true;
}

fluss_request_state
fluss_request_state_of(const fluss_request *request)
{
	return request->state;
}

fluss_bytes
fluss_request_answer(const fluss_request *request)
{
	fluss_bytes answer = {request->answer, request->answer_size};

	return answer;
}

const fluss_error *
fluss_request_error(const fluss_request *request)
{
	return &request->error;
}

bool
fluss_request_sent_maybe(const fluss_request *request)
{
	return request->sent_maybe;
}

void
fluss_request_free(fluss_request *request)
{
	fluss_conn *conn;

	if (request == NULL)
		return;
	conn = request->conn;
	if (request->stage == FLUSS_STAGE_FINISHED || conn == NULL)
	{
		destroy(request);
		return;
	}
	if (request->frame_sent == 0)
	{
		unlink_request(request);
		destroy(request);
	}
	else
	{
		request->abandoned = true;
		fluss_conn_forget_reading(conn, request);
	}
	if (conn->state != FLUSS_CONN_READY && !fluss_conn_has_owners(conn))
		fluss_conn_give_up(conn);
}
