/*
 * http.h
 *	  Byte ranges by HTTP and HTTPS, many at a time, without a thread.
 *
 * libcurl's multi interface does the work; its sockets are waited for with all
 * others.  It would look names up in a thread, so they are looked up here, by
 * resolve.c, and given to it as addresses.
 */
#ifndef FLUSS_HTTP_H
#define FLUSS_HTTP_H

#include "fluss.h"

typedef struct fluss_http fluss_http;
typedef struct fluss_http_get fluss_http_get;

/* Texts are copied; the buffer must live until the get is freed. */
typedef struct fluss_http_ask
{
	const char *url;			/* http or https, with everything encoded */
	const char *sigv4;			/* "aws:amz:region:service", or NULL: unsigned */
	const char *access_key;
	const char *secret_key;
	const char *session_token;	/* or NULL */
	int64_t		offset;
	uint8_t    *buffer;
	size_t		size;
} fluss_http_ask;

typedef enum fluss_http_outcome
{
	FLUSS_HTTP_RUNNING,
	FLUSS_HTTP_DONE,			/* the range, or what there is of it, came */
	FLUSS_HTTP_REFUSED,			/* another HTTP status */
	FLUSS_HTTP_CUT,				/* the network failed: it may work next time */
	FLUSS_HTTP_TIMED_OUT,		/* no byte for too long */
	FLUSS_HTTP_NO_SERVER,		/* no address, no connection, no TLS */
	FLUSS_HTTP_WRONG			/* not an answer to what was asked */
} fluss_http_outcome;

typedef struct fluss_http_result
{
	fluss_http_outcome outcome;
	size_t		size;			/* bytes in the buffer */
	int			http_status;	/* 0: there was none */
	char		code[48];		/* of an S3 error, e.g. "NoSuchKey" */
	char		reason[256];	/* a sentence without its full stop */
} fluss_http_result;

/* host must outlive it.  NULL without memory or descriptors. */
fluss_http *fluss_http_open(const fluss_host *host, int connect_timeout_ms,
							int stall_timeout_ms);
/* Every get must have been freed. */
void fluss_http_close(fluss_http *http);
/* NULL without memory, or when the URL is not valid. */
fluss_http_get *fluss_http_start(fluss_http *http, const fluss_http_ask *ask);
const fluss_http_result *fluss_http_result_of(const fluss_http_get *get);
void fluss_http_free(fluss_http_get *get);

/* True when a get was finished. */
bool fluss_http_step(fluss_http *http);
void fluss_http_postpone(fluss_http *http, int64_t ms);
int fluss_http_max_fds(const fluss_http *http);
int fluss_http_fds(const fluss_http *http, fluss_pollfd *fds,
				   int64_t *until_ms);

#endif							/* FLUSS_HTTP_H */
