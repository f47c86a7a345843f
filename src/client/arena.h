/*
 * arena.h
 *	  Bump allocation over the host's memory.
 *
 * An arena belongs to one handle (scan, lookup, writer, answer).  Nothing in
 * it is freed alone; reset keeps one block for the next round, free gives
 * everything back.  Third-party handles hang on it as cleanups, run newest
 * first on reset and free.
 */
#ifndef FLUSS_ARENA_H
#define FLUSS_ARENA_H

#include "fluss.h"

typedef struct fluss_arena_block fluss_arena_block;
typedef struct fluss_arena_cleanup fluss_arena_cleanup;

typedef struct fluss_arena
{
	const fluss_host *host;		/* not owned */
	fluss_arena_block *blocks;	/* newest first */
	fluss_arena_cleanup *cleanups;
	size_t		allocated;		/* bytes taken from the host */
} fluss_arena;

/* Needs no memory yet.  host must outlive the arena. */
void fluss_arena_init(fluss_arena *arena, const fluss_host *host);
/* Aligned for 64-bit types; NULL when the host has no memory or size is absurd. */
void *fluss_arena_alloc(fluss_arena *arena, size_t size);
void *fluss_arena_alloc0(fluss_arena *arena, size_t size);
/* count * size with overflow check, zeroed */
void *fluss_arena_array(fluss_arena *arena, size_t count, size_t size);
void *fluss_arena_memdup(fluss_arena *arena, const void *data, size_t size);
char *fluss_arena_strdup(fluss_arena *arena, const char *text);
/* Copies size bytes and adds a terminating NUL. */
char *fluss_arena_strndup(fluss_arena *arena, const char *text, size_t size);
/* False when there is no memory: then cleanup was already run. */
bool fluss_arena_on_reset(fluss_arena *arena, void (*cleanup) (void *),
						  void *arg);
void fluss_arena_reset(fluss_arena *arena);
void fluss_arena_free(fluss_arena *arena);

/*
 * For an object that was allocated from the arena and owns it: moves the arena
 * into *own, and a copy of its host into *host, which are parts of the object.
 */
void fluss_arena_move_in(const fluss_arena *arena, fluss_arena *own,
						 fluss_host *host);
/* Frees such an arena, and with it the object. */
void fluss_arena_free_owner(const fluss_arena *own);

#endif							/* FLUSS_ARENA_H */
