/*
 * resolve.c
 *	  Host names to addresses, without blocking, by c-ares.
 *
 * getaddrinfo cannot be cancelled, and getaddrinfo_a starts a thread.  c-ares
 * does the same (hosts file, search list, IPv4 and IPv6) on sockets of its
 * own, which the caller waits for.  One channel serves one name.  The host is
 * asked for one socket: names are asked for by UDP.
 *
 * c-ares keeps its memory in malloc: its allocator is global to the process
 * and not ours to set.
 */
#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/time.h>

#include "resolve.h"

#define TRIES			4
#define SHORTEST_TRY_MS	250

struct fluss_resolver
{
	fluss_host	host;
	ares_channel channel;
	bool		has_channel;
	bool		has_fd;
	int32_t		port;
	bool		done;
	int			result;			/* of c-ares */
	int			naddresses;
	fluss_sockaddr addresses[FLUSS_MAX_ADDRESSES];
};

static void
set_port(fluss_sockaddr *address, int32_t port)
{
	uint16_t	wire = htons((uint16_t) port);

	if (address->storage.ss_family == AF_INET)
		((struct sockaddr_in *) &address->storage)->sin_port = wire;
	else
		((struct sockaddr_in6 *) &address->storage)->sin6_port = wire;
}

/* Also called, by ares_destroy, for a lookup that is given up. */
static void
on_result(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	fluss_resolver *resolver = arg;
	struct ares_addrinfo_node *node = info != NULL ? info->nodes : NULL;

	resolver->done = true;
	resolver->result = status;
	for (; node != NULL && resolver->naddresses < FLUSS_MAX_ADDRESSES;
		 node = node->ai_next)
	{
		fluss_sockaddr *address = &resolver->addresses[resolver->naddresses];

		if ((node->ai_family != AF_INET && node->ai_family != AF_INET6) ||
			node->ai_addrlen > sizeof(address->storage))
			continue;
		memcpy(&address->storage, node->ai_addr, node->ai_addrlen);
		address->size = node->ai_addrlen;
		set_port(address, resolver->port);
		resolver->naddresses++;
	}
	if (info != NULL)
		ares_freeaddrinfo(info);
}

/* The tries together, each twice as long as the last, fill the timeout. */
static bool
open_channel(fluss_resolver *resolver, int timeout_ms)
{
	struct ares_options options;

	if (ares_library_initialized() != ARES_SUCCESS &&
		ares_library_init(ARES_LIB_INIT_ALL) != ARES_SUCCESS)
		return false;
	memset(&options, 0, sizeof(options));
	options.tries = TRIES;
	options.timeout = timeout_ms / ((1 << TRIES) - 1);
	if (options.timeout < SHORTEST_TRY_MS)
		options.timeout = SHORTEST_TRY_MS;
	return ares_init_options(&resolver->channel, &options,
							 ARES_OPT_TRIES | ARES_OPT_TIMEOUTMS) == ARES_SUCCESS;
}

fluss_resolver *
fluss_resolver_open(const fluss_host *host, const char *name, int32_t port,
					int timeout_ms, const char **reason)
{
	fluss_resolver *resolver = host->alloc(host->arg, sizeof(*resolver));
	struct ares_addrinfo_hints hints = {.ai_family = AF_UNSPEC};

	if (resolver == NULL)
	{
		*reason = "out of memory";
		return NULL;
	}
	memset(resolver, 0, sizeof(*resolver));
	resolver->host = *host;
	resolver->port = port;
	if (host->acquire_fd != NULL && !host->acquire_fd(host->arg))
	{
		*reason = "too many open files";
		fluss_resolver_close(resolver);
		return NULL;
	}
	resolver->has_fd = true;
	resolver->has_channel = open_channel(resolver, timeout_ms);
	if (!resolver->has_channel)
	{
		*reason = "could not initialize the name resolver";
		fluss_resolver_close(resolver);
		return NULL;
	}
	hints.ai_socktype = SOCK_STREAM;
	ares_getaddrinfo(resolver->channel, name, NULL, &hints, on_result,
					 resolver);
	return resolver;
}

void
fluss_resolver_close(fluss_resolver *resolver)
{
	fluss_host	host;

	if (resolver == NULL)
		return;
	host = resolver->host;
	if (resolver->has_channel)
		ares_destroy(resolver->channel);
	if (resolver->has_fd && host.release_fd != NULL)
		host.release_fd(host.arg, -1);
	host.free(host.arg, resolver);
}

int
fluss_resolver_fds(fluss_resolver *resolver,
				   fluss_pollfd fds[FLUSS_RESOLVER_FDS], int *wait_ms)
{
	ares_socket_t sockets[ARES_GETSOCK_MAXNUM];
	/* c-ares's own macros shift a 1 into the sign bit */
	unsigned	bits = (unsigned) ares_getsock(resolver->channel, sockets,
											   ARES_GETSOCK_MAXNUM);
	struct timeval until;
	int			n = 0;

	*wait_ms = -1;
	if (ares_timeout(resolver->channel, NULL, &until) != NULL)
		*wait_ms = (int) (until.tv_sec * 1000 + (until.tv_usec + 999) / 1000);
	for (int i = 0; i < ARES_GETSOCK_MAXNUM; i++)
	{
		bool		want_read = (bits >> i & 1) != 0;
		bool		want_write = (bits >> (i + ARES_GETSOCK_MAXNUM) & 1) != 0;

		if (!want_read && !want_write)
			continue;
		fds[n].fd = sockets[i];
		fds[n].want_read = want_read;
		fds[n].want_write = want_write;
		n++;
	}
	return n;
}

bool
fluss_resolver_step(fluss_resolver *resolver,
					fluss_sockaddr addresses[FLUSS_MAX_ADDRESSES],
					int *naddresses, const char **reason)
{
	fluss_pollfd fds[FLUSS_RESOLVER_FDS];
	int			wait_ms;
	int			n = fluss_resolver_fds(resolver, fds, &wait_ms);

	for (int i = 0; i < n && !resolver->done; i++)
		ares_process_fd(resolver->channel,
						fds[i].want_read ? fds[i].fd : ARES_SOCKET_BAD,
						fds[i].want_write ? fds[i].fd : ARES_SOCKET_BAD);
	if (!resolver->done)
		ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	if (!resolver->done)
		return false;
	*naddresses = resolver->naddresses;
	memcpy(addresses, resolver->addresses, sizeof(resolver->addresses));
	*reason = resolver->result == ARES_SUCCESS ?
		"the host name has no address" : ares_strerror(resolver->result);
	return true;
}
