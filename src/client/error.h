/*
 * error.h
 *	  Filling in a fluss_error, and what a server's error code means.
 *
 * The frame that knows most fills the error; callers above pass it on.
 */
#ifndef FLUSS_ERROR_H
#define FLUSS_ERROR_H

#include "fluss.h"

/* Sets status and message, clears the rest; returns status. */
fluss_status fluss_fail(fluss_error *err, fluss_status status,
						const char *format,...)
			__attribute__((format(printf, 3, 4)));
/* The same for "out of memory". */
fluss_status fluss_fail_memory(fluss_error *err);
/* Another message for an error already set. */
void fluss_error_message(fluss_error *err, const char *format,...)
			__attribute__((format(printf, 2, 3)));
/* Adds to an error already set. */
void fluss_error_detail(fluss_error *err, const char *format,...)
			__attribute__((format(printf, 2, 3)));
void fluss_error_hint(fluss_error *err, const char *format,...)
			__attribute__((format(printf, 2, 3)));
/* Says where in a log the error lies. */
void fluss_error_place(fluss_error *err, int64_t partition_id, int32_t bucket,
					   int64_t base_offset, int64_t next_offset);
/*
 * A server's error code and text: FLUSS_SERVER_ERROR (FLUSS_AUTH_FAILED for
 * code 46) with DETAIL "Fluss error 7 (TABLE_NOT_EXIST): first line of text".
 * what completes "could not ...", e.g. "fetch from bucket 0".
 */
fluss_status fluss_fail_server(fluss_error *err, int server_code,
							   const char *server_text, size_t text_size,
							   const char *what,...)
			__attribute__((format(printf, 5, 6)));

typedef enum fluss_code_action
{
	FLUSS_ACTION_FAIL,			/* permanent */
	FLUSS_ACTION_RETRY,			/* after a pause */
	FLUSS_ACTION_REFRESH		/* refresh metadata, then retry */
} fluss_code_action;

fluss_code_action fluss_code_to_action(int server_code);
/* Worth another try by somebody who can repeat the request safely. */
bool fluss_status_is_network(fluss_status status);

/*
 * FLUSS_SERVER_ERROR with code PARTITION_NOT_EXISTS: the partition
 * err->partition_id (if one was asked for by id) is gone.
 */
bool fluss_error_is_dropped_partition(const fluss_error *err);

#endif							/* FLUSS_ERROR_H */
