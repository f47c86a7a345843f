/*
 * address.h
 *	  Server addresses as users write them.
 */
#ifndef FLUSS_ADDRESS_H
#define FLUSS_ADDRESS_H

#include "arena.h"

typedef struct fluss_address
{
	const char *host;
	int32_t		port;			/* 0: any, in an address map only */
} fluss_address;

typedef struct fluss_address_pair
{
	fluss_address advertised;
	fluss_address reachable;
} fluss_address_pair;

/* Reads "host:port,[::1]:port". */
FLUSS_MUST_CHECK fluss_status fluss_address_list(fluss_arena *arena,
												 const char *list,
												 fluss_address **addresses,
												 int *naddresses,
												 fluss_error *err);
/*
 * Reads "advertised=reachable,...": both sides with a port, or both without
 * (then the port stays).  NULL and "" are an empty map.
 */
FLUSS_MUST_CHECK fluss_status fluss_address_map(fluss_arena *arena,
												const char *list,
												fluss_address_pair **pairs,
												int *npairs, fluss_error *err);
/* Where to reach what a server advertised. */
fluss_address fluss_address_reachable(const fluss_address_pair *pairs,
									  int npairs, fluss_address advertised);
/* "host:port", IPv6 addresses in brackets. */
void fluss_address_print(fluss_address address, char *out, size_t size);

#endif							/* FLUSS_ADDRESS_H */
