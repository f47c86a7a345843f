/*
 * resolve.c
 *	  Host names to addresses, without blocking, by c-ares.
 *
 * getaddrinfo cannot be cancelled, and getaddrinfo_a starts a thread.  c-ares
 * does the same (hosts file, search list, IPv4 and IPv6) on sockets of its
 * own, which the caller waits for.  One channel serves one name.  c-ares opens
 * and closes its sockets as it likes and tells on_socket, which tells the host:
 * a number that was closed may come back as somebody else's socket.
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

typedef struct resolver_socket
{
	fluss_pollfd poll;
	bool		acquired;		/* counted by the host */
} resolver_socket;

struct fluss_resolver
{
	fluss_host	host;
	ares_channel channel;
	bool		has_channel;
	int			nsockets;
	resolver_socket sockets[FLUSS_RESOLVER_FDS];
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

static bool
acquire(const fluss_resolver *resolver)
{
	return resolver->host.acquire_fd == NULL ||
		resolver->host.acquire_fd(resolver->host.arg);
}

static void
release(const fluss_resolver *resolver, int fd)
{
	if (resolver->host.release_fd != NULL)
		resolver->host.release_fd(resolver->host.arg, fd);
}

static resolver_socket *
find_socket(fluss_resolver *resolver, int fd)
{
	for (int i = 0; i < resolver->nsockets; i++)
	{
		if (resolver->sockets[i].poll.fd == fd)
			return &resolver->sockets[i];
	}
	return NULL;
}

/* What c-ares wants of a socket has changed; nothing: it is being closed. */
static void
on_socket(void *arg, ares_socket_t fd, int readable, int writable)
{
	fluss_resolver *resolver = arg;
	resolver_socket *found = find_socket(resolver, fd);

	if (!readable && !writable)
	{
		if (found == NULL)
			return;
		if (found->acquired)
			release(resolver, fd);
		*found = resolver->sockets[--resolver->nsockets];
		return;
	}
	if (found == NULL)
	{
		/* one too many is not waited for: its query times out */
		if (resolver->nsockets == FLUSS_RESOLVER_FDS)
			return;
		found = &resolver->sockets[resolver->nsockets++];
		found->poll.fd = fd;
		/* c-ares cannot be refused any more */
		found->acquired = acquire(resolver);
	}
	found->poll.want_read = readable != 0;
	found->poll.want_write = writable != 0;
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
	options.sock_state_cb = on_socket;
	options.sock_state_cb_data = resolver;
	return ares_init_options(&resolver->channel, &options,
							 ARES_OPT_TRIES | ARES_OPT_TIMEOUTMS |
							 ARES_OPT_SOCK_STATE_CB) == ARES_SUCCESS;
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
	/* is there room for one at all? */
	if (!acquire(resolver))
	{
		*reason = "too many open files";
		fluss_resolver_close(resolver);
		return NULL;
	}
	release(resolver, -1);
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
	for (int i = 0; i < resolver->nsockets; i++)
	{
		if (resolver->sockets[i].acquired)
			release(resolver, resolver->sockets[i].poll.fd);
	}
	host.free(host.arg, resolver);
}

int
fluss_resolver_fds(fluss_resolver *resolver,
				   fluss_pollfd fds[FLUSS_RESOLVER_FDS], int *wait_ms)
{
	struct timeval until;

	*wait_ms = -1;
	if (ares_timeout(resolver->channel, NULL, &until) != NULL)
		*wait_ms = (int) (until.tv_sec * 1000 + (until.tv_usec + 999) / 1000);
	for (int i = 0; i < resolver->nsockets; i++)
		fds[i] = resolver->sockets[i].poll;
	return resolver->nsockets;
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
