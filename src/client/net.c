/*
 * net.c
 *	  Non-blocking TCP sockets; no parsing, no waiting.
 *
 * Nagle is off: requests are written whole.  Keepalive and the user timeout
 * find out about a peer or a NAT entry that is gone without a word.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "net.h"

#define KEEPALIVE_IDLE_S		60
#define KEEPALIVE_INTERVAL_S	10
#define KEEPALIVE_COUNT			3

bool
fluss_net_numeric(const char *host, int32_t port, fluss_sockaddr *address)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *) &address->storage;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *) &address->storage;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1)
	{
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t) port);
		address->size = sizeof(*v4);
		return true;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1)
	{
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t) port);
		address->size = sizeof(*v6);
		return true;
	}
	return false;
}

static void
set_option(int fd, int level, int name, int value)
{
	/* each of them only makes a good connection better */
	(void) setsockopt(fd, level, name, &value, sizeof(value));
}

int
fluss_net_connect(const fluss_host *host, const fluss_sockaddr *address,
				  int user_timeout_ms, int *error)
{
	int			fd;

	if (host->acquire_fd != NULL && !host->acquire_fd(host->arg))
	{
		*error = EMFILE;
		return -1;
	}
	fd = socket(address->storage.ss_family,
				SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
	{
		*error = errno;
		if (host->release_fd != NULL)
			host->release_fd(host->arg, -1);
		return -1;
	}
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_COUNT);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_ms);
	if (connect(fd, (const struct sockaddr *) &address->storage,
				address->size) != 0 &&
		errno != EINPROGRESS && errno != EINTR)
	{
		*error = errno;
		fluss_net_close(host, fd);
		return -1;
	}
	return fd;
}

int
fluss_net_connected(int fd)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLOUT};
	int			error = 0;
	socklen_t	size = sizeof(error);

	if (poll(&poll_fd, 1, 0) <= 0)
		return EINPROGRESS;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
		return errno;
	return error;
}

static fluss_io
failed(int *error)
{
	*error = errno;
	if (*error == EAGAIN || *error == EWOULDBLOCK)
		return FLUSS_IO_AGAIN;
	return FLUSS_IO_FAILED;
}

fluss_io
fluss_net_read(int fd, void *data, size_t size, size_t *count, int *error)
{
	ssize_t		n;

	do
		n = recv(fd, data, size, 0);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return failed(error);
	*count = (size_t) n;
	return n == 0 ? FLUSS_IO_CLOSED : FLUSS_IO_DONE;
}

fluss_io
fluss_net_write(int fd, const struct iovec *parts, int nparts, size_t *count,
				int *error)
{
	struct msghdr message = {
		.msg_iov = (struct iovec *) parts,
		.msg_iovlen = nparts
	};
	ssize_t		n;

	do
		n = sendmsg(fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return failed(error);
	*count = (size_t) n;
	return FLUSS_IO_DONE;
}

void
fluss_net_close(const fluss_host *host, int fd)
{
	close(fd);
	if (host->release_fd != NULL)
		host->release_fd(host->arg, fd);
}
