/*
 * writer.c
 *	  Writing rows to a table: opening, rows in, flushing, closing.
 *
 * writer.h describes the state.  A row that does not fit its types leaves the
 * writer as it was; any other failure means that rows are lost: the writer
 * then repeats its error and can only be closed.  An interruption does not:
 * work may go on afterwards.
 */
#include <stdio.h>

#include "error.h"
#include "schema.h"
#include "writer.h"

#define MAX_INFLIGHT	5		/* batches that the server remembers */
/*
 * Rows of one KV batch.  The server collects the change types of a batch in
 * one buffer of 128 kB, a byte a change, and every row may be an update, which
 * is two: beyond that it fails.
 */
#define MAX_KV_ROWS		32768

/* ---- opening */

static fluss_status
check_options(const fluss_table *table, const fluss_writer_options *options,
			  fluss_error *err)
{
	if (options->acks < -1 || options->acks > 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "acks must be -1, 0 or 1");
	if (options->idempotence && options->acks != -1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "an idempotent writer needs the acknowledgement of all replicas");
	if (options->batch_size < 1 || options->max_buffered_bytes < 1 ||
		options->max_inflight_per_bucket < 1 ||
		options->max_inflight_per_bucket > MAX_INFLIGHT)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "limits of a writer are out of range");
	if (options->target_columns != NULL && table->schema->nprimary_key == 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" has no primary key, so rows cannot be written in part",
						  table->database, table->name);
	return FLUSS_OK;
}

/* Marks the columns of a partial update; the key must be among them. */
static fluss_status
set_targets(fluss_writer *writer, const fluss_writer_options *options,
			fluss_error *err)
{
	const fluss_schema *schema = writer->table->schema;
	bool	   *targeted;

	if (options->target_columns == NULL)
		return FLUSS_OK;
	targeted = fluss_arena_array(&writer->arena, (size_t) schema->ncolumns,
								 sizeof(bool));
	writer->options.target_columns =
		fluss_arena_memdup(&writer->arena, options->target_columns,
						   (size_t) options->ntarget_columns *
						   sizeof(int32_t));
	if (targeted == NULL || writer->options.target_columns == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < options->ntarget_columns; i++)
	{
		int32_t		column = options->target_columns[i];

		if (column < 0 || column >= schema->ncolumns)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "table \"%s.%s\" has no column at position %d",
							  writer->table->database, writer->table->name,
							  (int) column);
		targeted[column] = true;
	}
	for (int i = 0; i < schema->nprimary_key; i++)
	{
		if (!targeted[schema->primary_key[i]])
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "a partial update of table \"%s.%s\" must give key column \"%s\"",
							  writer->table->database, writer->table->name,
							  schema->columns[schema->primary_key[i]].name);
	}
	writer->targeted = targeted;
	return FLUSS_OK;
}

static fluss_status
make_scratch(fluss_writer *writer, fluss_error *err)
{
	const fluss_schema *schema = writer->table->schema;

	writer->max_parts = writer->table->npartition_key > 0 ||
		writer->table->nbuckets > FLUSS_WRITE_MAX_PARTS ?
		FLUSS_WRITE_MAX_PARTS : writer->table->nbuckets;
	writer->asks = fluss_arena_array(&writer->arena,
									 (size_t) writer->max_parts,
									 sizeof(fluss_write_bucket));
	writer->row = fluss_arena_array(&writer->arena, (size_t) schema->ncolumns,
									sizeof(fluss_value));
	writer->types = fluss_arena_array(&writer->arena,
									  (size_t) schema->ncolumns,
									  sizeof(fluss_type *));
	if (writer->asks == NULL || writer->row == NULL || writer->types == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < schema->ncolumns; i++)
	{
		writer->types[i] = &schema->columns[i].type;
		writer->row[i].is_null = true;
	}
	return fluss_write_make_buckets(writer, err);
}

static fluss_status
set_up(fluss_writer *writer, const fluss_writer_options *options,
	   fluss_error *err)
{
	const fluss_table *table = writer->table;
	fluss_status status;

	writer->options = *options;
	writer->options.target_columns = NULL;
	writer->options.ntarget_columns =
		options->target_columns == NULL ? 0 : options->ntarget_columns;
	writer->keyed = table->schema->nprimary_key > 0;
	writer->deadline_ms = INT64_MAX;
	status = fluss_table_key_encoders(table, &writer->key_encoder,
									  &writer->bucket_encoder, err);
	if (status == FLUSS_OK)
		status = set_targets(writer, options, err);
	if (status == FLUSS_OK)
		status = make_scratch(writer, err);
	return status;
}

fluss_status
fluss_writer_open(fluss_client *client, const fluss_host *host,
				  fluss_table *table, const fluss_writer_options *options,
				  fluss_writer **writer, fluss_error *err)
{
	fluss_arena arena;
	fluss_writer *result;
	fluss_status status;

	*writer = NULL;
	status = check_options(table, options, err);
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, host);
	result = fluss_arena_alloc0(&arena, sizeof(fluss_writer));
	if (result == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &result->arena, &result->host);
	result->client = client;
	result->table = table;
	fluss_table_retain(table);
	fluss_buf_init(&result->key, &result->host);
	fluss_buf_init(&result->name, &result->host);
	fluss_buf_init(&result->bytes, &result->host);
	fluss_buf_init(&result->body, &result->host);
	fluss_buf_init(&result->all_runs, &result->host);
	status = set_up(result, options, err);
	if (status != FLUSS_OK)
	{
		fluss_writer_close(result);
		return status;
	}
	fluss_write_join(result);
	*writer = result;
	return FLUSS_OK;
}

/* ---- failing */

/* How far each bucket has come, for an error that ends the writing. */
static void
tell_acknowledged(const fluss_writer *writer, fluss_error *err)
{
	char		text[256] = "";
	size_t		used = 0;

	for (int i = 0; i < writer->nbuckets; i++)
	{
		const write_bucket *bucket = writer->buckets[i];
		int			length;

		if (bucket->acked_rows == 0 && bucket->first == NULL &&
			bucket->open_rows == 0)
			continue;
		length = snprintf(text + used, sizeof(text) - used,
						  "%s%lld of bucket %d%s%.64s",
						  used == 0 ? "" : ", ",
						  (long long) bucket->acked_rows,
						  (int) bucket->bucket,
						  *bucket->partition->name == '\0' ? "" :
						  " of partition ", bucket->partition->name);
		if (length < 0 || (size_t) length >= sizeof(text) - used)
		{
			text[used] = '\0';
			break;
		}
		used += (size_t) length;
	}
	if (used > 0)
		fluss_error_detail(err, "Rows acknowledged before: %s.", text);
}

/* Everything but an interruption ends the writer. */
fluss_status
fluss_write_finish(fluss_writer *writer, fluss_status status, fluss_error *err)
{
	if (status == FLUSS_OK || status == FLUSS_INTERRUPTED)
		return status;
	tell_acknowledged(writer, err);
	writer->failed = true;
	writer->error = *err;
	/* sequence numbers were used that the server may not have seen */
	if (writer->options.idempotence && writer->nclosed > 0)
		fluss_client_discard_writer(writer->client);
	return status;
}

static fluss_status
fail_again(const fluss_writer *writer, fluss_error *err)
{
	*err = writer->error;
	return err->status;
}

/* ---- rows in */

/* The time that the caller spends elsewhere is not a bucket's. */
void
fluss_write_enter(fluss_writer *writer)
{
	writer->entered_ms = writer->host.now_ms(writer->host.arg);
	if (writer->entered_ms == writer->left_ms)
		return;
	for (int i = 0; i < writer->nbuckets; i++)
		fluss_retry_postpone(&writer->buckets[i]->retry,
							 writer->entered_ms - writer->left_ms);
}

void
fluss_write_leave(fluss_writer *writer)
{
	writer->left_ms = writer->host.now_ms(writer->host.arg);
}

static write_bucket *
largest_open(fluss_writer *writer)
{
	write_bucket *largest = writer->buckets[0];

	for (int i = 1; i < writer->nbuckets; i++)
	{
		if (writer->buckets[i]->open_size > largest->open_size)
			largest = writer->buckets[i];
	}
	return largest;
}

/* Waits for acknowledgements until what is buffered is within its bounds. */
static fluss_status
make_room(fluss_writer *writer, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	while (status == FLUSS_OK &&
		   writer->buffered > writer->options.max_buffered_bytes)
	{
		if (writer->nclosed > 0)
			status = fluss_write_wait(writer, err);
		else
		{
			status = fluss_write_close_batch(writer, largest_open(writer),
											 err);
			if (status == FLUSS_OK)
				status = fluss_write_serve(writer, err);
		}
	}
	return status;
}

/* Closing a batch of a log table compresses it, which makes room, too. */
static fluss_status
hold_row(fluss_writer *writer, write_bucket *bucket, bool full,
		 fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (full)
		status = fluss_write_close_batch(writer, bucket, err);
	if (status == FLUSS_OK &&
		writer->buffered > writer->options.max_buffered_bytes)
		status = fluss_fail(err, FLUSS_MEMORY_CAP,
							"rows to write to table \"%s.%s\" need more memory than they may have",
							writer->table->database, writer->table->name);
	return status;
}

/* After a row was added to a bucket. */
static fluss_status
after_add(fluss_writer *writer, write_bucket *bucket, fluss_error *err)
{
	bool		full = (int64_t) bucket->open_size >= writer->options.batch_size ||
		(writer->keyed && bucket->open_rows >= MAX_KV_ROWS);
	fluss_status status = FLUSS_OK;

	if (writer->options.hold)
		return hold_row(writer, bucket, full, err);
	if (!full && writer->buffered <= writer->options.max_buffered_bytes)
		return FLUSS_OK;
	fluss_write_enter(writer);
	if (full)
		status = fluss_write_close_batch(writer, bucket, err);
	if (full && status == FLUSS_OK)
		status = fluss_write_serve(writer, err);
	if (status == FLUSS_OK)
		status = make_room(writer, err);
	fluss_write_leave(writer);
	return status;
}

/* Checks the row; *checked is it, or a copy with what is written only. */
static fluss_status
check_row(fluss_writer *writer, const fluss_value *row,
		  const fluss_value **checked, fluss_error *err)
{
	const fluss_schema *schema = writer->table->schema;
	fluss_row_format format = writer->keyed ? writer->table->kv_format :
		writer->table->log_format;

	for (int i = 0; i < schema->ncolumns; i++)
	{
		fluss_status status;

		if (writer->targeted != NULL && !writer->targeted[i])
			continue;
		status = fluss_row_check(format, &schema->columns[i], &row[i], err);
		if (status != FLUSS_OK)
			return status;
		writer->row[i] = row[i];
	}
	*checked = writer->targeted != NULL ? writer->row : row;
	return FLUSS_OK;
}

fluss_status
fluss_writer_write(fluss_writer *writer, const fluss_value *row,
				   fluss_error *err)
{
	write_bucket *bucket;
	fluss_status status;

	if (writer->failed)
		return fail_again(writer, err);
	status = check_row(writer, row, &row, err);
	if (status == FLUSS_OK)
		status = fluss_write_choose_bucket(writer, row, true, &bucket, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_write_add_row(writer, bucket, row, err);
	if (status == FLUSS_OK)
		status = after_add(writer, bucket, err);
	return fluss_write_finish(writer, status, err);
}

fluss_status
fluss_writer_delete(fluss_writer *writer, const fluss_value *key,
					fluss_error *err)
{
	const fluss_schema *schema = writer->table->schema;
	write_bucket *bucket;
	fluss_status status = FLUSS_OK;

	if (writer->failed)
		return fail_again(writer, err);
	if (!writer->keyed)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" has no primary key, so rows cannot be deleted",
						  writer->table->database, writer->table->name);
	for (int i = 0; i < schema->nprimary_key && status == FLUSS_OK; i++)
	{
		int32_t		column = schema->primary_key[i];

		status = fluss_value_check(&schema->columns[column], &key[i], err);
		writer->row[column] = key[i];
	}
	if (status == FLUSS_OK)
		status = fluss_write_choose_bucket(writer, writer->row, false, &bucket,
										   err);
	if (status != FLUSS_OK || bucket == NULL)
		return status;
	status = fluss_write_add_delete(writer, bucket, writer->row, err);
	if (status == FLUSS_OK)
		status = after_add(writer, bucket, err);
	return fluss_write_finish(writer, status, err);
}

fluss_status
fluss_writer_flush(fluss_writer *writer, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (writer->failed)
		return fail_again(writer, err);
	fluss_write_enter(writer);
	for (int i = 0; i < writer->nbuckets && status == FLUSS_OK; i++)
		status = fluss_write_close_batch(writer, writer->buckets[i], err);
	if (status == FLUSS_OK && writer->nclosed > 0)
		status = fluss_write_serve(writer, err);
	while (status == FLUSS_OK && writer->nclosed > 0)
	{
		if (writer->host.now_ms(writer->host.arg) >= writer->deadline_ms)
			status = fluss_fail(err, FLUSS_TIMED_OUT,
								"could not write all rows to table \"%s.%s\" in time",
								writer->table->database, writer->table->name);
		else
			status = fluss_write_wait(writer, err);
	}
	fluss_write_leave(writer);
	return fluss_write_finish(writer, status, err);
}

fluss_status
fluss_writer_flush_within(fluss_writer *writer, int64_t timeout_ms,
						  fluss_error *err)
{
	fluss_status status;

	writer->deadline_ms = writer->host.now_ms(writer->host.arg) + timeout_ms;
	status = fluss_writer_flush(writer, err);
	writer->deadline_ms = INT64_MAX;
	return status;
}

int64_t
fluss_writer_buffered(const fluss_writer *writer)
{
	return writer->buffered;
}

/* ---- results, closing */

const fluss_write_run *
fluss_writer_runs(fluss_writer *writer, int *nruns)
{
	fluss_buf_reset(&writer->all_runs);
	for (int i = 0; i < writer->nbuckets; i++)
		fluss_buf_append(&writer->all_runs, writer->buckets[i]->runs.data,
						 writer->buckets[i]->runs.size);
	*nruns = (int) (writer->all_runs.size / sizeof(fluss_write_run));
	return (const fluss_write_run *) writer->all_runs.data;
}

const fluss_counters *
fluss_writer_counters(const fluss_writer *writer)
{
	return &writer->counters;
}

static bool
has_open_sequence(const fluss_writer *writer)
{
	for (int i = 0; i < writer->nbuckets; i++)
	{
		for (write_batch *batch = writer->buckets[i]->first; batch != NULL;
			 batch = batch->next)
		{
			if (batch->writer_id != FLUSS_NO_WRITER)
				return true;
		}
	}
	return false;
}

static void
free_batches(write_batch *batch)
{
	for (; batch != NULL; batch = batch->next)
		fluss_buf_free(&batch->bytes);
}

void
fluss_writer_close(fluss_writer *writer)
{
	if (writer == NULL)
		return;
	fluss_write_part_from(writer);
	if (has_open_sequence(writer))
		fluss_client_discard_writer(writer->client);
	while (writer->calls != NULL)
	{
		write_call *call = writer->calls;

		writer->calls = call->next;
		fluss_write_call_free(writer, call);
	}
	for (int i = 0; i < writer->nbuckets; i++)
	{
		free_batches(writer->buckets[i]->first);
		if (writer->buckets[i]->builder != NULL)
			fluss_arrow_builder_close(writer->buckets[i]->builder);
		fluss_buf_free(&writer->buckets[i]->records);
		fluss_buf_free(&writer->buckets[i]->runs);
	}
	free_batches(writer->spare_batches);
	fluss_buf_free(&writer->key);
	fluss_buf_free(&writer->name);
	fluss_buf_free(&writer->bytes);
	fluss_buf_free(&writer->body);
	fluss_buf_free(&writer->all_runs);
	fluss_table_release(writer->table);
	fluss_arena_free_owner(&writer->arena);
}
