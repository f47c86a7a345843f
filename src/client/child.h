/*
 * child.h
 *	  The helper program as a child process: start, talk, end.
 *
 * See helper.h for what is said.  Waiting for it goes through the host's wait
 * hook, so it can be interrupted; ending it never waits for the program's
 * consent.  A child that failed can only be ended.
 */
#ifndef FLUSS_CHILD_H
#define FLUSS_CHILD_H

#include "buf.h"

typedef struct fluss_child
{
	const fluss_host *host;		/* not owned */
	const char *program;		/* its path; not owned */
	int			pid;			/* 0: not running */
	int			fd;				/* its input and output, or -1 */
	int			error_fd;		/* its standard error, or -1 */
	fluss_buf	output;			/* changes that were not sent yet */
	fluss_buf	input;			/* what it said; input_pos is read */
	size_t		input_pos;
	int64_t		max_bytes;		/* of one value */
	bool		over_limit;		/* it ended as its folder grew too large */
	uint64_t	nvalues;		/* that it has given */
} fluss_child;

void fluss_child_init(fluss_child *child, const fluss_host *host);
/* Whether the program is installed: FLUSS_UNSUPPORTED if not. */
FLUSS_MUST_CHECK fluss_status fluss_child_check(const char *program,
												fluss_error *err);
/*
 * Starts the program on a folder, which may grow to so many bytes; -1: to any
 * size.  When it grows larger, the next call fails and over_limit is set.
 */
FLUSS_MUST_CHECK fluss_status fluss_child_start(fluss_child *child,
												const char *program,
												const char *folder,
												int64_t max_folder_bytes,
												int64_t max_bytes,
												fluss_error *err);
/* A change; value NULL deletes. */
FLUSS_MUST_CHECK fluss_status fluss_child_change(fluss_child *child,
												 fluss_bytes key,
												 const fluss_bytes *value,
												 fluss_error *err);
/* There are no more changes. */
FLUSS_MUST_CHECK fluss_status fluss_child_read(fluss_child *child,
											   fluss_error *err);
/* The next value, which lives until the next call; *end after the last. */
FLUSS_MUST_CHECK fluss_status fluss_child_next(fluss_child *child, bool *end,
											   fluss_bytes *value,
											   fluss_error *err);
/* Ends the program, whatever it does, and forgets it. */
void fluss_child_end(fluss_child *child);
/* The same, and gives back the memory. */
void fluss_child_free(fluss_child *child);

#endif							/* FLUSS_CHILD_H */
