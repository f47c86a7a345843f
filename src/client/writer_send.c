/*
 * writer_send.c
 *	  Closed batches onto the wire.
 *
 * A bucket's batches leave in the order of its queue, a retried one before
 * anything newer; up to max_inflight_per_bucket of them may be unanswered
 * (the server remembers five), one without idempotence, where nothing else
 * keeps the order.  A request takes one batch of each bucket of a leader.
 */
#include "error.h"
#include "writer.h"

/* A request grows to this; one batch may be larger. */
#define MAX_REQUEST_BYTES	((size_t) 10 * 1024 * 1024)
#define LONG_WAIT_MS		60000
/* A try that has less time than this has all that is left. */
#define MIN_TRY_MS			1000

static int
inflight_limit(const fluss_writer *writer)
{
	return writer->options.idempotence ?
		writer->options.max_inflight_per_bucket : 1;
}

static bool
wants_stamp(const fluss_writer *writer, const write_bucket *bucket,
			const write_batch *batch)
{
	return writer->options.idempotence &&
		(batch->writer_id == FLUSS_NO_WRITER ||
		 batch->writer_id == bucket->void_writer);
}

/*
 * The bucket's next batch to send, or NULL when it waits for an answer.  Where
 * the client has another writer id by now, that is the answer to all before
 * it: the server orders the batches of one id only.
 */
static write_batch *
next_batch(const fluss_writer *writer, const write_bucket *bucket)
{
	write_batch *batch = bucket->first;

	if (bucket->nin_flight >= inflight_limit(writer))
		return NULL;
	while (batch != NULL && batch->in_flight)
		batch = batch->next;
	if (batch != NULL && batch != bucket->first &&
		wants_stamp(writer, bucket, batch) &&
		bucket->first->writer_id != fluss_client_known_writer_id(writer->client))
		return NULL;
	return batch;
}

/* The same, unless a pause before a retry is not over. */
static write_batch *
sendable_batch(const fluss_writer *writer, const write_bucket *bucket,
			   int64_t now)
{
	return bucket->retry.next_ms > now ? NULL : next_batch(writer, bucket);
}

static write_call *
new_call(fluss_writer *writer)
{
	write_call *call = writer->spare_calls;

	if (call != NULL)
		writer->spare_calls = call->next;
	else
	{
		call = fluss_arena_alloc0(&writer->arena, sizeof(write_call));
		if (call == NULL)
			return NULL;
		call->parts = fluss_arena_array(&writer->arena,
										(size_t) writer->max_parts,
										sizeof(write_part));
		if (call->parts == NULL)
			return NULL;
	}
	call->request = NULL;
	call->nparts = 0;
	return call;
}

void
fluss_write_call_free(fluss_writer *writer, write_call *call)
{
	if (call->request != NULL)
		fluss_request_free(call->request);
	call->request = NULL;
	call->next = writer->spare_calls;
	writer->spare_calls = call;
}

/*
 * Gives the batch its place among all that the client has written to the
 * bucket.  One that has a place keeps it, unless the writer id came to
 * nothing there.
 */
static fluss_status
stamp_batch(fluss_writer *writer, const write_bucket *bucket,
			write_batch *batch, fluss_error *err)
{
	fluss_status status;

	if (!wants_stamp(writer, bucket, batch))
		return FLUSS_OK;
	batch->writer_id = FLUSS_NO_WRITER;
	status = fluss_client_writer_id(writer->client, writer->table,
									&batch->writer_id,
									&writer->counters.requests[FLUSS_REQUEST_INIT_WRITER],
									err);
	if (status == FLUSS_OK)
		status = fluss_client_next_sequence(writer->client,
											writer->table->table_id,
											bucket->partition->partition_id,
											bucket->bucket,
											&batch->sequence, err);
	if (status != FLUSS_OK)
	{
		batch->writer_id = FLUSS_NO_WRITER;
		return status;
	}
	batch->maybe_written = false;
	if (writer->keyed)
		fluss_kv_batch_stamp(batch->bytes.data, batch->bytes.size,
							 batch->writer_id, batch->sequence);
	else
		fluss_log_batch_stamp(batch->bytes.data, batch->bytes.size,
							  batch->writer_id, batch->sequence);
	return FLUSS_OK;
}

static fluss_status
bucket_leader(fluss_writer *writer, const write_bucket *bucket, int32_t *node,
			  fluss_error *err)
{
	return fluss_retry_find_leader(&bucket->retry, writer->client,
								   writer->table,
								   bucket->partition->partition_id,
								   bucket->bucket, node, err);
}

/* Batches of buckets from first on that go to node in one request. */
static fluss_status
pack_call(fluss_writer *writer, int first, int32_t node, write_call *call,
		  fluss_error *err)
{
	int64_t		now = writer->host.now_ms(writer->host.arg);
	size_t		size = 0;

	for (int i = first;
		 i < writer->nbuckets && call->nparts < writer->max_parts; i++)
	{
		write_bucket *bucket = writer->buckets[i];
		write_batch *batch = sendable_batch(writer, bucket, now);
		int32_t		leader = node;
		fluss_status status = FLUSS_OK;

		if (batch == NULL ||
			(call->nparts > 0 && size + batch->bytes.size > MAX_REQUEST_BYTES))
			continue;
		if (i > first)
			status = bucket_leader(writer, bucket, &leader, err);
		if (status == FLUSS_OK && leader == node)
			status = stamp_batch(writer, bucket, batch, err);
		if (status != FLUSS_OK)
			return status;
		if (leader != node)
			continue;
		writer->asks[call->nparts] = (fluss_write_bucket) {
			.partition_id = bucket->partition->partition_id,
			.bucket = bucket->bucket,
			.records = {batch->bytes.data, batch->bytes.size}
		};
		call->parts[call->nparts++] = (write_part) {bucket, batch, false};
		size += batch->bytes.size;
	}
	return FLUSS_OK;
}

static fluss_status
encode_call(fluss_writer *writer, const write_call *call, fluss_error *err)
{
	const fluss_writer_options *options = &writer->options;
	int32_t		timeout = fluss_client_config(writer->client)->request_timeout_ms;

	fluss_buf_reset(&writer->body);
	if (writer->keyed)
		return fluss_rpc_encode_put(&writer->host, writer->table->table_id,
									options->acks, timeout,
									options->target_columns,
									options->ntarget_columns,
									options->overwrite, writer->asks,
									call->nparts, &writer->body, err);
	return fluss_rpc_encode_produce(&writer->host, writer->table->table_id,
									options->acks, timeout, writer->asks,
									call->nparts, &writer->body, err);
}

/*
 * An answer may get lost without a trace.  An idempotent writer keeps half of
 * the time for asking again, on another connection.
 */
static int64_t
call_deadline(fluss_writer *writer, const write_call *call)
{
	int64_t		deadline = INT64_MAX;
	int64_t		half;

	for (int i = 0; i < call->nparts; i++)
	{
		int64_t		limit = fluss_retry_deadline(&call->parts[i].bucket->retry,
												 writer->client);

		if (limit < deadline)
			deadline = limit;
	}
	half = (deadline - call->sent_ms) / 2;
	return writer->options.idempotence && half >= MIN_TRY_MS ?
		call->sent_ms + half : deadline;
}

static void
mark_sent(fluss_writer *writer, write_call *call)
{
	for (int i = 0; i < call->nparts; i++)
	{
		write_batch *batch = call->parts[i].batch;

		batch->in_flight = true;
		call->parts[i].bucket->nin_flight++;
		writer->counters.bytes += (int64_t) batch->bytes.size;
		if (!batch->sent)
		{
			writer->counters.batches++;
			writer->counters.rows += batch->rows;
		}
		batch->sent = true;
		batch->sent_first = batch == call->parts[i].bucket->first &&
			!fluss_write_is_behind_peer(writer, call->parts[i].bucket, batch);
	}
	writer->counters.requests[writer->keyed ? FLUSS_REQUEST_PUT :
							  FLUSS_REQUEST_PRODUCE]++;
}

static fluss_status
start_call(fluss_writer *writer, int first, int32_t node, fluss_error *err)
{
	write_call *call = new_call(writer);
	fluss_api	api = writer->keyed ? FLUSS_API_PUT_KV : FLUSS_API_PRODUCE_LOG;
	fluss_error cause;
	fluss_status status;

	if (call == NULL)
		return fluss_fail_memory(err);
	status = pack_call(writer, first, node, call, err);
	if (status == FLUSS_OK && call->nparts > 0)
		status = encode_call(writer, call, err);
	if (status != FLUSS_OK || call->nparts == 0)
	{
		fluss_write_call_free(writer, call);
		return status;
	}
	mark_sent(writer, call);
	call->sent_ms = writer->host.now_ms(writer->host.arg);
	if (fluss_request_start(writer->client, node, api, writer->body.data,
							writer->body.size, call_deadline(writer, call),
							&call->request, &cause) != FLUSS_OK)
	{
		call->request = NULL;
		status = fluss_write_refused(writer, call, &cause, false, err);
		fluss_write_call_free(writer, call);
		return status;
	}
	call->next = writer->calls;
	writer->calls = call;
	return FLUSS_OK;
}

static fluss_status
send_batches(fluss_writer *writer, fluss_error *err)
{
	int64_t		now = writer->host.now_ms(writer->host.arg);

	for (int i = 0; i < writer->nbuckets; i++)
	{
		write_bucket *bucket = writer->buckets[i];

		while (sendable_batch(writer, bucket, now) != NULL)
		{
			int32_t		node;
			fluss_status status;

			status = bucket_leader(writer, bucket, &node, err);
			if (status == FLUSS_OK)
				status = start_call(writer, i, node, err);
			if (status != FLUSS_OK)
				return status;
		}
	}
	return FLUSS_OK;
}

/* Every answer that is there, even when one of them is a failure. */
static fluss_status
receive_answers(fluss_writer *writer, fluss_error *err)
{
	write_call **link = &writer->calls;
	fluss_status result = FLUSS_OK;

	while (*link != NULL)
	{
		write_call *call = *link;
		fluss_request_state state = fluss_request_state_of(call->request);
		fluss_status status;
		fluss_error cause;

		if (state == FLUSS_REQUEST_PENDING)
		{
			link = &call->next;
			continue;
		}
		*link = call->next;
		if (state == FLUSS_REQUEST_DONE)
			status = fluss_write_accept(writer, call, &cause);
		else
		{
			fluss_error refusal;

			fluss_retry_cause(call->request, call->sent_ms,
							  writer->entered_ms, &refusal);
			status = fluss_write_refused(writer, call, &refusal,
										 fluss_request_sent_maybe(call->request),
										 &cause);
		}
		fluss_write_call_free(writer, call);
		if (status != FLUSS_OK && result == FLUSS_OK)
		{
			result = status;
			*err = cause;
		}
	}
	return result;
}

fluss_status
fluss_write_serve(fluss_writer *writer, fluss_error *err)
{
	fluss_status status;

	if (writer->calls != NULL)
		fluss_cluster_pump(writer->client);
	status = receive_answers(writer, err);
	if (status == FLUSS_OK && writer->nclosed > 0)
		status = send_batches(writer, err);
	if (status == FLUSS_OK && writer->calls != NULL)
		fluss_cluster_pump(writer->client);
	return status;
}

void
fluss_write_next_try(const fluss_writer *writer, int64_t *until_ms)
{
	for (int i = 0; i < writer->nbuckets; i++)
	{
		const write_bucket *bucket = writer->buckets[i];

		if (next_batch(writer, bucket) != NULL &&
			bucket->retry.next_ms < *until_ms)
			*until_ms = bucket->retry.next_ms;
	}
}

fluss_status
fluss_write_wait(fluss_writer *writer, fluss_error *err)
{
	int64_t		now = writer->host.now_ms(writer->host.arg);
	int64_t		until = now + LONG_WAIT_MS;
	bool		calling;
	fluss_status status;

	fluss_write_next_try(writer, &until);
	calling = fluss_write_await_peers(writer, &until) || writer->calls != NULL;
	if (writer->deadline_ms < until)
		until = writer->deadline_ms;
	if (until < now)
		until = now;
	if (calling)
		status = fluss_cluster_poll(writer->client, until, err);
	else
		status = fluss_cluster_sleep(writer->client, until - now, err);
	if (status == FLUSS_OK)
		status = fluss_write_serve_peers(writer, err);
	if (status != FLUSS_OK)
		return status;
	return fluss_write_serve(writer, err);
}
