/*
 * api.h
 *	  What the client knows about each API of the protocol.
 */
#ifndef FLUSS_API_H
#define FLUSS_API_H

#include "cluster.h"

/* As servers say what they are; of an API: who offers it. */
typedef enum fluss_role
{
	FLUSS_ROLE_ANY = 0,
	FLUSS_ROLE_COORDINATOR = 1,
	FLUSS_ROLE_TABLET = 2
} fluss_role;

typedef struct fluss_api_info
{
	fluss_api	api;
	int16_t		min_version;	/* that this client speaks */
	int16_t		max_version;
	const char *name;
	const char *action;			/* completes "could not ..." */
	fluss_role	role;
} fluss_api_info;

#define FLUSS_NAPIS		31

extern const fluss_api_info fluss_apis[FLUSS_NAPIS];

/* Position in fluss_apis, or -1. */
int fluss_api_index(int32_t api);

#endif							/* FLUSS_API_H */
