/*
 * net.h
 *	  Non-blocking TCP sockets; no parsing, no waiting.
 */
#ifndef FLUSS_NET_H
#define FLUSS_NET_H

#include <sys/socket.h>
#include <sys/uio.h>

#include "fluss.h"

typedef struct fluss_sockaddr
{
	struct sockaddr_storage storage;
	socklen_t	size;
} fluss_sockaddr;

/* False when the host is no IPv4 or IPv6 address in numbers. */
bool fluss_net_numeric(const char *host, int32_t port, fluss_sockaddr *address);

/*
 * Starts to connect.  Returns the socket, or -1 with *error set to an errno
 * (EMFILE also when the host refuses another socket).
 */
int fluss_net_connect(const fluss_host *host, const fluss_sockaddr *address,
					  int user_timeout_ms, int *error);
/* 0: connected; EINPROGRESS: not yet; else the errno of the failure. */
int fluss_net_connected(int fd);

typedef enum fluss_io
{
	FLUSS_IO_DONE,				/* *count bytes, at least one */
	FLUSS_IO_AGAIN,				/* not without waiting */
	FLUSS_IO_CLOSED,			/* the peer has closed */
	FLUSS_IO_FAILED				/* *error is an errno */
} fluss_io;

fluss_io fluss_net_read(int fd, void *data, size_t size, size_t *count,
						int *error);
fluss_io fluss_net_write(int fd, const struct iovec *parts, int nparts,
						 size_t *count, int *error);
void fluss_net_close(const fluss_host *host, int fd);

#endif							/* FLUSS_NET_H */
