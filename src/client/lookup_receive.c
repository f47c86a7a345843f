/*
 * lookup_receive.c
 *	  Batched lookups by primary key: what the answers say.
 */
#include "error.h"
#include "lookup.h"

static fluss_status
accept_keys(fluss_lookup *lookup, const lookup_chunk *chunk,
			const fluss_lookup_result *result, fluss_error *err)
{
	if (result->nkeys != chunk->nslots)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "%d keys of bucket %d of table \"%s.%s\" got %d answers",
						  chunk->nslots, (int) chunk->bucket,
						  lookup->table->database, lookup->table->name,
						  result->nkeys);
	for (int i = 0; i < result->nkeys; i++)
	{
		lookup_slot *slot = fluss_lookup_slot(lookup, chunk->slots[i]);

		slot->found = result->keys[i];
		slot->answered = true;
		lookup->counters.rows += slot->found.n;
	}
	return FLUSS_OK;
}

fluss_status
fluss_lookup_dropped(fluss_lookup *lookup, lookup_chunk *chunk,
					 const fluss_error *cause, fluss_error *err)
{
	int64_t		old_id = chunk->partition->partition_id;
	fluss_status status;

	/* another chunk may have seen it before, while this one waited */
	if (cause->partition_id == old_id)
	{
		status = fluss_lookup_find_again(lookup, chunk->partition, err);
		if (status != FLUSS_OK)
			return status;
	}
	if (chunk->partition->partition_id == FLUSS_NO_PARTITION)
	{
		for (int i = 0; i < chunk->nslots; i++)
			fluss_lookup_slot(lookup, chunk->slots[i])->answered = true;
		return FLUSS_OK;
	}
	/* listed all the same: one of the servers has not heard of it yet */
	if (chunk->partition->partition_id == old_id)
	{
		status = fluss_retry_pause(&chunk->retry, lookup->client, cause, err);
		if (status != FLUSS_OK)
			return status;
	}
	return fluss_lookup_wait_again(lookup, chunk, err);
}

static fluss_status
accept_result(fluss_lookup *lookup, lookup_chunk *chunk,
			  const fluss_lookup_result *result, fluss_error *err)
{
	fluss_error cause;
	fluss_status status;

	if (result->error_code == 0)
		return accept_keys(lookup, chunk, result, err);
	fluss_fail_server(&cause, result->error_code, result->error_message,
					  result->error_message == NULL ? 0 :
					  strlen(result->error_message),
					  "look up keys in bucket %d of table \"%s.%s\"",
					  (int) chunk->bucket, lookup->table->database,
					  lookup->table->name);
	cause.partition_id = result->partition_id;
	if (chunk->partition != NULL && fluss_error_is_dropped_partition(&cause))
		return fluss_lookup_dropped(lookup, chunk, &cause, err);
	status = fluss_retry_note(&chunk->retry, lookup->client, lookup->table,
							  &cause, err);
	if (status != FLUSS_OK)
		return status;
	return fluss_lookup_wait_again(lookup, chunk, err);
}

/* Mostly in the order they were asked for; NULL: left out. */
static const fluss_lookup_result *
find_result(const fluss_lookup_result *results, int nresults, int expected,
			int64_t partition_id, int32_t bucket)
{
	for (int i = 0; i < nresults; i++)
	{
		const fluss_lookup_result *result =
			&results[(i + expected) % nresults];

		if (result->bucket == bucket && result->partition_id == partition_id)
			return result;
	}
	return NULL;
}

static fluss_status
accept_answer(fluss_lookup *lookup, lookup_call *call, fluss_error *err)
{
	fluss_bytes bytes = fluss_request_answer(call->request);
	fluss_lookup_result *results;
	int			nresults;
	fluss_status status;

	lookup->counters.bytes += (int64_t) bytes.size;
	lookup->counters.batches++;
	if (lookup->options.prefix)
		status = fluss_rpc_decode_prefix_lookup(&lookup->values, bytes,
												&results, &nresults, err);
	else
		status = fluss_rpc_decode_lookup(&lookup->values, bytes, &results,
										 &nresults, err);
	if (status == FLUSS_OK)
		status = fluss_lookup_check_memory(lookup, err);
	for (int i = 0; i < call->nchunks && status == FLUSS_OK; i++)
	{
		const fluss_lookup_result *result =
			find_result(results, nresults, i, call->chunks[i].asked_id,
						call->chunks[i].bucket);

		if (result == NULL)
			return fluss_fail(err, FLUSS_MALFORMED,
							  "the answer to a lookup in table \"%s.%s\" lacks a bucket",
							  lookup->table->database, lookup->table->name);
		status = accept_result(lookup, &call->chunks[i], result, err);
	}
	return status;
}

fluss_status
fluss_lookup_call_failed(fluss_lookup *lookup, lookup_call *call,
						 const fluss_error *cause, fluss_error *err)
{
	for (int i = 0; i < call->nchunks; i++)
	{
		lookup_chunk *chunk = &call->chunks[i];
		fluss_status status;

		status = fluss_retry_note(&chunk->retry, lookup->client,
								  lookup->table, cause, err);
		if (status == FLUSS_OK)
			status = fluss_lookup_wait_again(lookup, chunk, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

fluss_status
fluss_lookup_receive(fluss_lookup *lookup, fluss_error *err)
{
	lookup_call **link = &lookup->calls;
	fluss_status status = FLUSS_OK;

	while (*link != NULL && status == FLUSS_OK)
	{
		lookup_call *call = *link;
		fluss_request_state state = fluss_request_state_of(call->request);
		fluss_error cause;

		if (state == FLUSS_REQUEST_PENDING)
		{
			link = &call->next;
			continue;
		}
		*link = call->next;
		if (state == FLUSS_REQUEST_DONE)
			status = accept_answer(lookup, call, err);
		else
		{
			fluss_retry_cause(call->request, call->sent_ms,
							  lookup->entered_ms, &cause);
			status = fluss_lookup_call_failed(lookup, call, &cause, err);
		}
		fluss_request_free(call->request);
	}
	return status;
}
