/*
 * resolve.h
 *	  Host names to addresses, without blocking.
 */
#ifndef FLUSS_RESOLVE_H
#define FLUSS_RESOLVE_H

#include "net.h"

/* Addresses of one name that are tried at most. */
#define FLUSS_MAX_ADDRESSES		8
/* Sockets of one resolver at most. */
#define FLUSS_RESOLVER_FDS		16

typedef struct fluss_resolver fluss_resolver;

/* Starts to look a name up; NULL with *reason set when that cannot be. */
fluss_resolver *fluss_resolver_open(const fluss_host *host, const char *name,
									int32_t port, int timeout_ms,
									const char **reason);
void fluss_resolver_close(fluss_resolver *resolver);
/* Sockets to wait for, and how many milliseconds at most (-1: any). */
int fluss_resolver_fds(fluss_resolver *resolver,
					   fluss_pollfd fds[FLUSS_RESOLVER_FDS], int *wait_ms);
/*
 * Does what can be done now.  True when it is over: with *naddresses > 0, or
 * with *reason why there is none.
 */
bool fluss_resolver_step(fluss_resolver *resolver,
						 fluss_sockaddr addresses[FLUSS_MAX_ADDRESSES],
						 int *naddresses, const char **reason);

#endif							/* FLUSS_RESOLVE_H */
