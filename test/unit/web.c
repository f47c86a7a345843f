/*
 * web.c
 *	  An HTTP server that misbehaves on demand.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web.h"

#define MAX_CONNS	8

typedef struct web_conn
{
	int			fd;				/* 0: none */
	char		input[8192];
	size_t		input_size;
	char	   *output;
	size_t		size;
	size_t		sent;
	size_t		stop;
	bool		reset;
} web_conn;

static web_server server;
static int	listener = -1;
static web_conn conns[MAX_CONNS];

uint8_t
web_byte(int64_t i)
{
	return (uint8_t) (i * 131 + i / 256);
}

web_server *
web_start(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t	size = sizeof(address);

	memset(&server, 0, sizeof(server));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *) &address, size), 0);
	assert_int_equal(listen(listener, 8), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *) &address, &size), 0);
	server.port = ntohs(address.sin_port);
	return &server;
}

static void
close_conn(web_conn *conn)
{
	struct linger hard = {.l_onoff = 1};

	if (conn->reset)
		setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(conn->fd);
	free(conn->output);
	memset(conn, 0, sizeof(*conn));
}

void
web_end(void)
{
	for (int i = 0; i < MAX_CONNS; i++)
	{
		if (conns[i].fd > 0)
			close_conn(&conns[i]);
	}
	if (listener >= 0)
		close(listener);
	listener = -1;
}

/* The answer to the request in input. */
static void
answer(web_conn *conn)
{
	bool		bad = server.bad == 0 || server.requests <= server.bad;
	int			status = bad && server.http_status > 0 ? server.http_status : 206;
	const char *body = bad ? server.body : NULL;
	const char *range = strstr(conn->input, "Range: bytes=");
	long long	first = 0;
	long long	last = WEB_OBJECT_SIZE - 1;
	char		content_range[128];
	size_t		n;

	if (range != NULL)
		sscanf(range, "Range: bytes=%lld-%lld", &first, &last);
	if (last >= WEB_OBJECT_SIZE)
		last = WEB_OBJECT_SIZE - 1;
	snprintf(content_range, sizeof(content_range),
			 "Content-Range: bytes %lld-%lld/%d\r\n", first, last, WEB_OBJECT_SIZE);
	n = body != NULL ? strlen(body) : (size_t) (last - first + 1);
	conn->output = malloc(n + 2048);
	conn->size = (size_t) sprintf(conn->output,
								  "HTTP/1.1 %d Something\r\n%s%sContent-Length: %d\r\n\r\n",
								  status,
								  bad && server.content_range != NULL ?
								  server.content_range : content_range,
								  bad && server.headers != NULL ? server.headers : "",
								  (int) n + (bad ? server.content_length : 0));
	for (size_t i = 0; i < n; i++)
		conn->output[conn->size++] = body != NULL ? body[i] :
			(char) web_byte(first + (long long) i);
	conn->stop = bad && server.stop_after > 0 &&
		(size_t) server.stop_after < conn->size ?
		(size_t) server.stop_after : conn->size;
	conn->reset = bad && server.reset;
	conn->sent = 0;
}

static void
read_requests(web_conn *conn)
{
	ssize_t		n = recv(conn->fd, conn->input + conn->input_size,
						 sizeof(conn->input) - 1 - conn->input_size, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN))
	{
		close_conn(conn);
		return;
	}
	if (n < 0)
		return;
	conn->input_size += (size_t) n;
	conn->input[conn->input_size] = '\0';
	if (strstr(conn->input, "\r\n\r\n") == NULL)
		return;
	server.requests++;
	strcpy(server.last, conn->input);
	answer(conn);
	conn->input_size = 0;
}

static void
write_answer(web_conn *conn)
{
	size_t		n = conn->stop - conn->sent;
	ssize_t		sent;

	if (server.drip > 0 && n > (size_t) server.drip)
		n = (size_t) server.drip;
	if (n > 0)
	{
		sent = send(conn->fd, conn->output + conn->sent, n,
					MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent > 0)
			conn->sent += (size_t) sent;
		else if (errno != EAGAIN)
		{
			close_conn(conn);
			return;
		}
	}
	if (conn->sent < conn->stop)
		return;
	if (conn->stop == conn->size)
	{
		free(conn->output);
		conn->output = NULL;
	}
	else if (conn->reset)
		close_conn(conn);
}

void
web_step(void)
{
	for (int i = 0; i < MAX_CONNS; i++)
	{
		web_conn   *conn = &conns[i];

		if (conn->fd == 0)
		{
			int			fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

			if (fd < 0)
				continue;
			conn->fd = fd;
			server.accepted++;
		}
		if (conn->output == NULL)
			read_requests(conn);
		if (conn->output != NULL)
			write_answer(conn);
	}
}
