/*
 * retry.h
 *	  Trying again, bucket by bucket: what scans, lookups and writers share.
 *
 * A bucket keeps one fluss_retry.  Its clock starts with the first failure
 * after progress and is stopped by the next progress, so that request_timeout
 * bounds standing still, not the length of the work.
 */
#ifndef FLUSS_RETRY_H
#define FLUSS_RETRY_H

#include "cluster.h"

typedef struct fluss_retry
{
	int			attempt;		/* failures since the last progress */
	int			unknown;		/* of them UNKNOWN_TABLE_OR_BUCKET */
	int64_t		since_ms;		/* of the first of them; -1: there is none */
	int64_t		next_ms;		/* not to be tried before */
} fluss_retry;

/* Nothing has failed: at the start and after every progress. */
void fluss_retry_clear(fluss_retry *retry);
/* Starts its clock at a time that is past, unless it runs already. */
void fluss_retry_begin(fluss_retry *retry, int64_t ms);
/* Its clock stood still for so long: nobody was here to try. */
void fluss_retry_postpone(fluss_retry *retry, int64_t ms);
/* Until when the next try may take. */
int64_t fluss_retry_deadline(const fluss_retry *retry, fluss_client *client);
/*
 * Notes a failure.  FLUSS_OK: try again from retry->next_ms on, with the
 * leaders looked up anew where the cause asks for it.  Else the cause is
 * permanent or the time is up, and err tells (FLUSS_TABLE_CHANGED when the
 * table is not the same any more).
 */
FLUSS_MUST_CHECK fluss_status fluss_retry_note(fluss_retry *retry,
											   fluss_client *client,
											   fluss_table *table,
											   const fluss_error *cause,
											   fluss_error *err);

/* The same for a cause that is known to pass with time. */
FLUSS_MUST_CHECK fluss_status fluss_retry_pause(fluss_retry *retry,
												fluss_client *client,
												const fluss_error *cause,
												fluss_error *err);

/*
 * The leader for the next try.  When the time ran out over that, what failed
 * before tells why, not that no server answered in what time was left.
 */
FLUSS_MUST_CHECK fluss_status fluss_retry_find_leader(const fluss_retry *retry,
													  fluss_client *client,
													  fluss_table *table,
													  int64_t partition_id,
													  int32_t bucket,
													  int32_t *node,
													  fluss_error *err);

/*
 * Why a request failed.  One that timed out while its owner did not look
 * (sent before entered_ms, when the owner came back) counts as lost, not as
 * late.
 */
void fluss_retry_cause(const fluss_request *request, int64_t sent_ms,
					   int64_t entered_ms, fluss_error *cause);

#endif							/* FLUSS_RETRY_H */
