/*
 * retry.c
 *	  Trying again, bucket by bucket: what scans, lookups and writers share.
 *
 * Only requests that may be repeated come here: reads, and writes whose
 * repetition the server recognizes or the user has allowed.
 */
#include "retry.h"

#include "error.h"

void
fluss_retry_clear(fluss_retry *retry)
{
	retry->attempt = 0;
	retry->unknown = 0;
	retry->since_ms = -1;
	retry->next_ms = 0;
}

void
fluss_retry_begin(fluss_retry *retry, int64_t ms)
{
	if (retry->since_ms < 0)
		retry->since_ms = ms;
}

void
fluss_retry_postpone(fluss_retry *retry, int64_t ms)
{
	if (retry->since_ms >= 0)
		retry->since_ms += ms;
}

static int64_t
now_ms(fluss_client *client)
{
	const fluss_host *host = fluss_client_host(client);

	return host->now_ms(host->arg);
}

int64_t
fluss_retry_deadline(const fluss_retry *retry, fluss_client *client)
{
	if (retry->since_ms < 0)
		return fluss_client_deadline(client);
	return retry->since_ms + fluss_client_config(client)->request_timeout_ms;
}

static fluss_code_action
cause_action(const fluss_error *cause)
{
	if (fluss_status_is_network(cause->status))
		return FLUSS_ACTION_REFRESH;
	if (cause->status == FLUSS_SERVER_ERROR)
		return fluss_code_to_action(cause->server_code);
	return FLUSS_ACTION_FAIL;
}

/*
 * A table that was made again answers UNKNOWN_TABLE_OR_BUCKET for ever, a
 * fresh one or one whose leader moves only for a moment: ask at the second,
 * fourth, eighth time.
 */
static bool
wants_verify(fluss_retry *retry, const fluss_error *cause)
{
	if (cause->server_code != FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET)
		return false;
	retry->unknown++;
	return retry->unknown > 1 && (retry->unknown & (retry->unknown - 1)) == 0;
}

static fluss_status
give_up(const fluss_retry *retry, const fluss_error *cause, fluss_error *err)
{
	*err = *cause;
	if (retry->attempt > 1)
		fluss_error_detail(err, "Gave up after %d tries.",
						   retry->attempt + 1);
	return err->status;
}

fluss_status
fluss_retry_pause(fluss_retry *retry, fluss_client *client,
				  const fluss_error *cause, fluss_error *err)
{
	int64_t		now = now_ms(client);
	int64_t		pause = fluss_backoff_ms(retry->attempt);

	*fluss_client_failure(client) = *cause;
	fluss_retry_begin(retry, now);
	if (now + pause > fluss_retry_deadline(retry, client))
		return give_up(retry, cause, err);
	retry->attempt++;
	retry->next_ms = now + pause;
	return FLUSS_OK;
}

fluss_status
fluss_retry_find_leader(const fluss_retry *retry, fluss_client *client,
						fluss_table *table, int64_t partition_id,
						int32_t bucket, int32_t *node, fluss_error *err)
{
	int64_t		deadline = fluss_retry_deadline(retry, client);
	fluss_status status;

	status = fluss_leader_find(client, table, partition_id, bucket, deadline,
							   node, err);
	if (retry->attempt == 0 || now_ms(client) < deadline ||
		!(fluss_status_is_network(status) || status == FLUSS_TIMED_OUT))
		return status;
	return give_up(retry, fluss_client_failure(client), err);
}

fluss_status
fluss_retry_note(fluss_retry *retry, fluss_client *client, fluss_table *table,
				 const fluss_error *cause, fluss_error *err)
{
	fluss_code_action action = cause_action(cause);
	fluss_status status;

	if (action == FLUSS_ACTION_FAIL)
		return give_up(retry, cause, err);
	status = fluss_retry_pause(retry, client, cause, err);
	if (status != FLUSS_OK)
		return status;
	if (action == FLUSS_ACTION_REFRESH)
		fluss_leader_forget(client, table);
	if (wants_verify(retry, cause))
		return fluss_table_verify(client, table, err);
	return FLUSS_OK;
}

void
fluss_retry_cause(const fluss_request *request, int64_t sent_ms,
				  int64_t entered_ms, fluss_error *cause)
{
	*cause = *fluss_request_error(request);
	if (cause->status == FLUSS_TIMED_OUT && sent_ms < entered_ms)
		cause->status = FLUSS_SEND_FAILED;
}
