/*
 * remote.c
 *	  Reads of parts of files in remote storage, by the scheme of their path.
 *
 * A local file is read when the read is served first, not when it is started:
 * so a read never is finished before its owner looks for it, and whoever
 * prefetches has time to send other things before.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "http.h"
#include "remote.h"
#include "remote_file.h"
#include "s3.h"

/* HTTP status of a range that begins where the file has ended. */
#define RANGE_NOT_SATISFIABLE	416

struct fluss_remote_read
{
	fluss_remote_read *next;
	fluss_remote *remote;
	fluss_arena arena;			/* path, file */
	const char *path;			/* as the cluster names it */
	const char *file;			/* of a local one, without scheme */
	fluss_http_get *get;		/* else */
	bool		token_used;		/* keys of the cluster, not of the user */
	int64_t		offset;
	uint8_t    *buffer;
	size_t		size;			/* asked for, then received */
	fluss_request_state state;
	fluss_error error;
};

struct fluss_remote
{
	fluss_client *client;
	fluss_http *http;			/* NULL: not needed yet */
	fluss_s3_token *token;
	fluss_remote_read *reads;
};

/* NULL without memory. */
static fluss_remote *
open_remote(fluss_client *client)
{
	const fluss_host *host = fluss_client_host(client);
	fluss_remote *remote = host->alloc(host->arg, sizeof(*remote));

	if (remote != NULL)
		*remote = (fluss_remote) {.client = client};
	return remote;
}

void
fluss_remote_close(fluss_remote *remote)
{
	const fluss_host *host;

	if (remote == NULL)
		return;
	host = fluss_client_host(remote->client);
	while (remote->reads != NULL)
		fluss_remote_free(remote->reads);
	fluss_http_close(remote->http);
	fluss_s3_token_free(remote->token);
	host->free(host->arg, remote);
}

/* ---- paths */

/* Length of the scheme, or 0: it is a bare path. */
static size_t
scheme_length(const char *path)
{
	size_t		length = strspn(path, "abcdefghijklmnopqrstuvwxyz"
								"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");

	return length > 0 && path[length] == ':' ? length : 0;
}

static bool
scheme_is(const char *path, size_t length, const char *name)
{
	return strlen(name) == length && strncasecmp(path, name, length) == 0;
}

/* file:/p and file:///p; another host's file is none of ours. */
static const char *
local_path(const char *rest)
{
	if (strncmp(rest, "//", 2) != 0)
		return rest;
	return rest[2] == '/' ? rest + 2 : NULL;
}

static fluss_status
start_s3(fluss_remote_read *read, const char *object, fluss_error *err)
{
	fluss_remote *remote = read->remote;
	const fluss_config *config = fluss_client_config(remote->client);
	fluss_http_ask ask = {
		.offset = read->offset, .buffer = read->buffer, .size = read->size
	};
	fluss_status status;

	status = fluss_s3_locate(remote->client, &remote->token, read->path,
							 object, &read->arena, &ask, err);
	if (status != FLUSS_OK)
		return status;
	read->token_used = ask.access_key != config->s3_access_key;
	if (remote->http == NULL)
		remote->http = fluss_http_open(fluss_client_host(remote->client),
									   config->connect_timeout_ms,
									   config->request_timeout_ms);
	if (remote->http == NULL)
		return fluss_fail(err, FLUSS_CANNOT_CONNECT,
						  "could not read remote file \"%s\": too many open files",
						  read->path);
	read->get = fluss_http_start(remote->http, &ask);
	if (read->get != NULL)
		return FLUSS_OK;
	fluss_fail(err, FLUSS_INVALID_ARGUMENT,
			   "could not read remote file \"%s\"", read->path);
	fluss_error_detail(err, "Its address \"%s\" is not valid.", ask.url);
	return err->status;
}

static fluss_status
start(fluss_remote_read *read, fluss_error *err)
{
	size_t		length = scheme_length(read->path);
	const char *rest = length == 0 ? read->path : read->path + length + 1;

	if (length == 0)
		read->file = rest;
	else if (scheme_is(read->path, length, "file"))
		read->file = local_path(rest);
	else if ((scheme_is(read->path, length, "s3") ||
			  scheme_is(read->path, length, "s3a") ||
			  scheme_is(read->path, length, "s3n")) &&
			 strncmp(rest, "//", 2) == 0)
		return start_s3(read, rest + 2, err);
	if (read->file != NULL)
		return FLUSS_OK;
	fluss_fail(err, FLUSS_UNSUPPORTED,
			   "remote storage with scheme \"%.*s\" is not supported",
			   length < 32 ? (int) length : 32, read->path);
	fluss_error_detail(err, "The file is \"%s\".", read->path);
	return err->status;
}

static void
free_read(fluss_remote_read *read)
{
	const fluss_host *host = fluss_client_host(read->remote->client);

	if (read->get != NULL)
		fluss_http_free(read->get);
	fluss_arena_free(&read->arena);
	host->free(host->arg, read);
}

fluss_status
fluss_remote_start(fluss_client *client, const char *path, int64_t offset,
				   uint8_t *buffer, size_t size, fluss_remote_read **read,
				   fluss_error *err)
{
	const fluss_host *host = fluss_client_host(client);
	fluss_remote_read *new;
	fluss_status status;

	*read = NULL;
	if (client->remote == NULL)
		client->remote = open_remote(client);
	new = client->remote == NULL ? NULL :
		host->alloc(host->arg, sizeof(*new));
	if (new == NULL)
		return fluss_fail_memory(err);
	*new = (fluss_remote_read) {
		.remote = client->remote, .offset = offset, .buffer = buffer,
		.size = size, .state = FLUSS_REQUEST_PENDING
	};
	fluss_error_init(&new->error);
	fluss_arena_init(&new->arena, host);
	new->path = fluss_arena_strdup(&new->arena, path);
	status = new->path == NULL ? fluss_fail_memory(err) : start(new, err);
	if (status != FLUSS_OK)
	{
		free_read(new);
		return status;
	}
	/* not before: asking for a token serves what is on the list */
	new->next = client->remote->reads;
	client->remote->reads = new;
	*read = new;
	return FLUSS_OK;
}

fluss_request_state
fluss_remote_state_of(const fluss_remote_read *read)
{
	return read->state;
}

size_t
fluss_remote_size(const fluss_remote_read *read)
{
	return read->size;
}

const fluss_error *
fluss_remote_error(const fluss_remote_read *read)
{
	return &read->error;
}

void
fluss_remote_free(fluss_remote_read *read)
{
	fluss_remote_read **link = &read->remote->reads;

	while (*link != read)
		link = &(*link)->next;
	*link = read->next;
	free_read(read);
}

/* ---- how a get ended */

/* "s3://bucket/key" and what the endpoint said: never a key of ours. */
static void
fail(fluss_remote_read *read, fluss_status status,
	 const fluss_http_result *result)
{
	fluss_fail(&read->error, status, "could not read remote file \"%s\"",
			   read->path);
	if (result->code[0] != '\0')
		fluss_error_detail(&read->error, "%s (%s).", result->reason,
						   result->code);
	else
		fluss_error_detail(&read->error, "%s.", result->reason);
}

static bool
token_is_over(const fluss_http_result *result)
{
	return strcmp(result->code, "ExpiredToken") == 0 ||
		strcmp(result->code, "InvalidToken") == 0 ||
		strcmp(result->code, "TokenRefreshRequired") == 0;
}

static void
fail_refused(fluss_remote_read *read, const fluss_http_result *result)
{
	int			http_status = result->http_status;

	if (http_status == 404)
		fail(read, FLUSS_DATA_LOST, result);
	else if (http_status >= 500 || http_status == 429 || http_status == 408)
		fail(read, FLUSS_SEND_FAILED, result);
	else if (read->token_used && token_is_over(result))
	{
		/* the next try brings a new one */
		fluss_s3_token_free(read->remote->token);
		read->remote->token = NULL;
		fail(read, FLUSS_SEND_FAILED, result);
	}
	else if (http_status == 401 || http_status == 403)
	{
		fail(read, FLUSS_NOT_PERMITTED, result);
		if (!read->token_used)
			fluss_error_hint(&read->error, "Check the options s3_access_key and s3_secret_key of the user mapping.");
	}
	else
	{
		fail(read, FLUSS_UNSUPPORTED, result);
		fluss_error_hint(&read->error, "Check the server options s3_endpoint, s3_region and s3_path_style.");
	}
}

static void
finish_get(fluss_remote_read *read, const fluss_http_result *result)
{
	read->state = FLUSS_REQUEST_FAILED;
	switch (result->outcome)
	{
		case FLUSS_HTTP_DONE:
			read->size = result->size;
			read->state = FLUSS_REQUEST_DONE;
			break;
		case FLUSS_HTTP_REFUSED:
			if (result->http_status != RANGE_NOT_SATISFIABLE)
				fail_refused(read, result);
			else
			{
				/* the file ends at the offset, or before it */
				read->size = 0;
				read->state = FLUSS_REQUEST_DONE;
			}
			break;
		case FLUSS_HTTP_TIMED_OUT:
			fail(read, FLUSS_TIMED_OUT, result);
			break;
		case FLUSS_HTTP_NO_SERVER:
			fail(read, FLUSS_CANNOT_CONNECT, result);
			break;
		case FLUSS_HTTP_WRONG:
			fail(read, FLUSS_MALFORMED, result);
			break;
		default:
			fail(read, FLUSS_SEND_FAILED, result);
			break;
	}
}

/* ---- the loop */

static bool
step_read(fluss_remote_read *read)
{
	const fluss_http_result *result;

	if (read->state != FLUSS_REQUEST_PENDING)
		return false;
	if (read->get == NULL)
	{
		const fluss_config *config = fluss_client_config(read->remote->client);
		size_t		count = 0;
		fluss_status status;

		status = fluss_remote_file_read(fluss_client_host(read->remote->client),
										config->remote_files, read->file,
										read->offset, read->buffer,
										read->size, &count, &read->error);
		read->size = count;
		read->state = status == FLUSS_OK ?
			FLUSS_REQUEST_DONE : FLUSS_REQUEST_FAILED;
		return true;
	}
	result = fluss_http_result_of(read->get);
	if (result->outcome == FLUSS_HTTP_RUNNING)
		return false;
	finish_get(read, result);
	return true;
}

bool
fluss_remote_step(fluss_remote *remote)
{
	bool		finished = false;

	if (remote->reads == NULL)
		return false;
	if (remote->http != NULL)
		fluss_http_step(remote->http);
	for (fluss_remote_read *read = remote->reads; read != NULL;
		 read = read->next)
		finished = step_read(read) || finished;
	return finished;
}

void
fluss_remote_postpone(fluss_remote *remote, int64_t ms)
{
	if (remote->http != NULL)
		fluss_http_postpone(remote->http, ms);
}

int
fluss_remote_max_fds(const fluss_remote *remote)
{
	return remote->http == NULL ? 0 : fluss_http_max_fds(remote->http);
}

int
fluss_remote_fds(const fluss_remote *remote, fluss_pollfd *fds,
				 int64_t *until_ms)
{
	if (remote->reads == NULL || remote->http == NULL)
		return 0;
	return fluss_http_fds(remote->http, fds, until_ms);
}
