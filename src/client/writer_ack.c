/*
 * writer_ack.c
 *	  What the server says of batches: acknowledged, again, or lost.
 *
 * The rules for sequence numbers: the server takes a batch when it has taken
 * the one before, and answers a repeated one of the last five as it did the
 * first time.  So a batch older than an acknowledged one is written, one
 * behind an unanswered one has to wait, and only the first in the queue can
 * really be out of order.
 */
#include "error.h"
#include "writer.h"

/* ---- acknowledged */

static void
unlink_batch(write_bucket *bucket, write_batch *batch)
{
	write_batch *before = NULL;

	for (write_batch *b = bucket->first; b != batch; b = b->next)
		before = b;
	if (before == NULL)
		bucket->first = batch->next;
	else
		before->next = batch->next;
	if (bucket->last == batch)
		bucket->last = before;
}

static fluss_write_run *
run_at(const write_bucket *bucket, size_t i)
{
	return (fluss_write_run *) bucket->runs.data + i;
}

/* Log tables: [first, first + rows) joins its neighbours or stands alone. */
static bool
add_log_run(write_bucket *bucket, int64_t first, int64_t rows)
{
	size_t		n = bucket->runs.size / sizeof(fluss_write_run);
	size_t		at = n;
	fluss_write_run *run;

	while (at > 0 && run_at(bucket, at - 1)->first_offset > first)
		at--;
	if (at > 0 && run_at(bucket, at - 1)->last_offset + 1 == first)
	{
		run = run_at(bucket, at - 1);
		run->last_offset += rows;
		run->rows += rows;
		if (at < n && run_at(bucket, at)->first_offset == run->last_offset + 1)
		{
			run->last_offset = run_at(bucket, at)->last_offset;
			run->rows += run_at(bucket, at)->rows;
			memmove(run + 1, run + 2, (n - at - 1) * sizeof(*run));
			bucket->runs.size -= sizeof(*run);
		}
		return true;
	}
	if (at < n && run_at(bucket, at)->first_offset == first + rows)
	{
		run = run_at(bucket, at);
		run->first_offset = first;
		run->rows += rows;
		return true;
	}
	if (fluss_buf_append_zeros(&bucket->runs, sizeof(*run)) == NULL)
		return false;
	run = run_at(bucket, at);
	memmove(run + 1, run, (n - at) * sizeof(*run));
	*run = (fluss_write_run) {
		.partition_id = bucket->partition->partition_id,
		.bucket = bucket->bucket,
		.first_offset = first, .last_offset = first + rows - 1, .rows = rows
	};
	return true;
}

/*
 * Rows whose first offset is not known: of a primary key table, where only
 * the end of the changelog is told, or of a batch known to be written without
 * a fresh answer.  They share one run, first in the array.
 */
static bool
add_other_run(write_bucket *bucket, int64_t last, int64_t rows)
{
	size_t		n = bucket->runs.size / sizeof(fluss_write_run);
	fluss_write_run *run;

	if (n == 0 || run_at(bucket, 0)->first_offset >= 0)
	{
		if (fluss_buf_append_zeros(&bucket->runs, sizeof(*run)) == NULL)
			return false;
		run = run_at(bucket, 0);
		memmove(run + 1, run, n * sizeof(*run));
		*run = (fluss_write_run) {
			.partition_id = bucket->partition->partition_id,
			.bucket = bucket->bucket,
			.first_offset = -1, .last_offset = -1
		};
	}
	run = run_at(bucket, 0);
	run->rows += rows;
	if (last > run->last_offset)
		run->last_offset = last;
	return true;
}

/* offset: as in fluss_write_result, or -1 when the server did not tell. */
static fluss_status
acknowledge(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
			int64_t offset, fluss_error *err)
{
	bool		kept;

	unlink_batch(bucket, batch);
	bucket->acked_rows += batch->rows;
	fluss_client_acknowledged(writer->client, writer->table->table_id,
							  bucket->partition->partition_id, bucket->bucket,
							  batch->writer_id, batch->sequence);
	fluss_retry_clear(&bucket->retry);
	if (writer->keyed || offset < 0)
		kept = add_other_run(bucket, offset - 1, batch->rows);
	else
		kept = add_log_run(bucket, offset, batch->rows);
	writer->buffered -= (int64_t) batch->bytes.size;
	writer->nclosed--;
	batch->next = writer->spare_batches;
	writer->spare_batches = batch;
	return kept ? FLUSS_OK : fluss_fail_memory(err);
}

/* ---- not acknowledged */

/*
 * A batch that may be sent again.  The first one in the queue sets the pace
 * for the bucket; those behind it wait for it anyway.
 */
static fluss_status
try_again(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
		  const fluss_error *cause, fluss_error *err)
{
	fluss_retry unused;

	if (batch == bucket->first)
		return fluss_retry_note(&bucket->retry, writer->client, writer->table,
								cause, err);
	fluss_retry_clear(&unused);
	return fluss_retry_note(&unused, writer->client, writer->table, cause,
							err);
}

/*
 * No answer in time.  An idempotent writer asks again while request_timeout
 * lasts, which began when it asked first.
 */
static fluss_status
ask_again(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
		  int64_t sent_ms, const fluss_error *cause, fluss_error *err)
{
	if (!writer->options.idempotence)
		return try_again(writer, bucket, batch, cause, err);
	fluss_leader_forget(writer->client, writer->table);
	if (batch != bucket->first)
		return FLUSS_OK;
	fluss_retry_begin(&bucket->retry, sent_ms);
	return fluss_retry_pause(&bucket->retry, writer->client, cause, err);
}

/*
 * The server had not the batch before this one.  If we had no other on the
 * way then, and no sending of this one went without an answer, it is not
 * written: the server has forgotten this writer, and a new writer id starts
 * over.
 */
static fluss_status
out_of_order(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
			 const fluss_error *cause, fluss_error *err)
{
	if (fluss_client_is_acknowledged(writer->client, writer->table->table_id,
									 bucket->partition->partition_id,
									 bucket->bucket, batch->writer_id,
									 batch->sequence))
		return acknowledge(writer, bucket, batch, -1, err);
	if (!batch->sent_first)
		return batch != bucket->first ? FLUSS_OK :
			fluss_retry_pause(&bucket->retry, writer->client, cause, err);
	if (batch->maybe_written || !writer->options.idempotence)
	{
		*err = *cause;
		fluss_error_detail(err, "The rows of the last batch of bucket %d may or may not have been written.",
						   (int) bucket->bucket);
		return err->status;
	}
	if (batch->writer_id != bucket->void_writer)
	{
		bucket->void_writer = batch->writer_id;
		fluss_client_discard_writer(writer->client);
	}
	return fluss_retry_pause(&bucket->retry, writer->client, cause, err);
}

static bool
leaves_doubt(int code)
{
	return code == 25 ||		/* REQUEST_TIME_OUT: replication is pending */
		code == 28;				/* NOT_ENOUGH_REPLICAS_AFTER_APPEND */
}

static fluss_status
accept_error(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
			 const fluss_write_result *result, fluss_error *err)
{
	fluss_error cause;

	if (result->error_code == FLUSS_CODE_DUPLICATE_SEQUENCE)
		return acknowledge(writer, bucket, batch, -1, err);
	fluss_fail_server(&cause, result->error_code, result->error_message,
					  result->error_message == NULL ? 0 :
					  strlen(result->error_message),
					  "write to bucket %d of table \"%s.%s\"",
					  (int) bucket->bucket, writer->table->database,
					  writer->table->name);
	cause.partition_id = bucket->partition->partition_id;
	if (result->error_code == FLUSS_CODE_OUT_OF_ORDER_SEQUENCE ||
		result->error_code == 33)	/* UNKNOWN_WRITER_ID */
		return out_of_order(writer, bucket, batch, &cause, err);
	if (leaves_doubt(result->error_code))
		batch->maybe_written = true;
	return try_again(writer, bucket, batch, &cause, err);
}

/* ---- answers */

static fluss_status
accept_result(fluss_writer *writer, write_part *part,
			  const fluss_write_result *result, fluss_error *err)
{
	part->answered = true;
	part->batch->in_flight = false;
	part->bucket->nin_flight--;
	if (result->error_code != 0)
		return accept_error(writer, part->bucket, part->batch, result, err);
	if (result->offset < 0)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the server took no batch of bucket %d of table \"%s.%s\"",
						  (int) part->bucket->bucket, writer->table->database,
						  writer->table->name);
	return acknowledge(writer, part->bucket, part->batch, result->offset, err);
}

static write_part *
find_part(write_call *call, int64_t partition_id, int32_t bucket)
{
	for (int i = 0; i < call->nparts; i++)
	{
		if (!call->parts[i].answered &&
			call->parts[i].bucket->bucket == bucket &&
			call->parts[i].bucket->partition->partition_id == partition_id)
			return &call->parts[i];
	}
	return NULL;
}

/* Remembers the first failure, goes on with the other buckets. */
static void
note_failure(fluss_status status, const fluss_error *cause,
			 fluss_status *result, fluss_error *err)
{
	if (status == FLUSS_OK || *result != FLUSS_OK)
		return;
	*result = status;
	*err = *cause;
}

fluss_status
fluss_write_accept(fluss_writer *writer, write_call *call, fluss_error *err)
{
	fluss_status result = FLUSS_OK;
	fluss_write_result *results = NULL;
	int			nresults = 0;
	fluss_status status;
	fluss_arena arena;
	fluss_error cause;

	fluss_arena_init(&arena, &writer->host);
	if (writer->keyed)
		status = fluss_rpc_decode_put(&arena,
									  fluss_request_answer(call->request),
									  &results, &nresults, &cause);
	else
		status = fluss_rpc_decode_produce(&arena,
										  fluss_request_answer(call->request),
										  &results, &nresults, &cause);
	note_failure(status, &cause, &result, err);
	for (int i = 0; i < nresults && status == FLUSS_OK; i++)
	{
		write_part *part = find_part(call, results[i].partition_id,
									 results[i].bucket);

		if (part != NULL)
			note_failure(accept_result(writer, part, &results[i], &cause),
						 &cause, &result, err);
	}
	fluss_arena_free(&arena);
	fluss_fail(&cause, FLUSS_MALFORMED,
			   "the answer to a write to table \"%s.%s\" lacks a bucket",
			   writer->table->database, writer->table->name);
	for (int i = 0; i < call->nparts; i++)
	{
		if (call->parts[i].answered)
			continue;
		call->parts[i].batch->in_flight = false;
		call->parts[i].batch->maybe_written = true;
		call->parts[i].bucket->nin_flight--;
		note_failure(FLUSS_MALFORMED, &cause, &result, err);
	}
	return result;
}

fluss_status
fluss_write_refused(fluss_writer *writer, write_call *call,
					const fluss_error *cause, bool maybe_written,
					fluss_error *err)
{
	fluss_status result = FLUSS_OK;
	fluss_error failure;

	for (int i = 0; i < call->nparts; i++)
	{
		write_part *part = &call->parts[i];
		fluss_status status;

		part->batch->in_flight = false;
		part->bucket->nin_flight--;
		if (maybe_written)
			part->batch->maybe_written = true;
		if (cause->status == FLUSS_TIMED_OUT)
			status = ask_again(writer, part->bucket, part->batch,
							   call->sent_ms, cause, &failure);
		else
			status = try_again(writer, part->bucket, part->batch, cause,
							   &failure);
		note_failure(status, &failure, &result, err);
	}
	return result;
}
