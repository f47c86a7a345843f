/*
 * writer_batch.c
 *	  Rows into batches: which bucket, which bytes.
 *
 * Rows of log tables go into an Arrow builder, or become records at once as
 * those of primary key tables do, by the format of the table.  A closed batch
 * carries no writer id yet: it is stamped when it is first sent, because
 * sequence numbers are used in the order of sending, by all writers of the
 * client.
 */
#include "error.h"
#include "hash.h"
#include "writer.h"

/* ---- buckets */

fluss_status
fluss_write_choose_bucket(fluss_writer *writer, const fluss_value *row,
						  bool may_create, write_bucket **bucket,
						  fluss_error *err)
{
	const fluss_table *table = writer->table;
	write_partition *partition;
	int32_t		chosen = 0;
	fluss_status status;

	*bucket = NULL;
	status = fluss_write_find_partition(writer, row, may_create, &partition,
										err);
	if (status != FLUSS_OK || partition == NULL)
		return status;
	if (table->nbucket_key == 0 && !writer->keyed)
		chosen = partition->sticky;
	else if (table->nbuckets > 1)
	{
		fluss_buf_reset(&writer->key);
		status = fluss_key_encode(writer->bucket_encoder, table->schema,
								  table->bucket_key, table->nbucket_key, row,
								  &writer->key, err);
		if (status != FLUSS_OK)
			return status;
		if (writer->key.failed)
			return fluss_fail_memory(err);
		chosen = fluss_bucket_of(writer->options.bucket_hash, table->lake,
								 writer->key.data,
								 writer->key.size, table->nbuckets);
	}
	*bucket = &partition->buckets[chosen];
	return FLUSS_OK;
}

/* ---- rows */

static void
count_open(fluss_writer *writer, write_bucket *bucket, size_t size)
{
	writer->buffered += (int64_t) size - (int64_t) bucket->open_size;
	bucket->open_size = size;
}

/* A record of a log table whose format is INDEXED or COMPACTED. */
static fluss_status
add_log_row(fluss_writer *writer, write_bucket *bucket, const fluss_value *row,
			fluss_error *err)
{
	const fluss_table *table = writer->table;
	fluss_status status;

	if (bucket->open_rows == 0)
	{
		fluss_buf_reset(&bucket->records);
		fluss_log_rows_begin(&bucket->records);
	}
	status = fluss_log_rows_add(&bucket->records, table->log_format,
								table->schema, row, err);
	if (status != FLUSS_OK)
		return status;
	bucket->open_rows++;
	count_open(writer, bucket, bucket->records.size);
	return FLUSS_OK;
}

static fluss_status
add_to_log(fluss_writer *writer, write_bucket *bucket, const fluss_value *row,
		   fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (bucket->builder == NULL)
		status = fluss_arrow_builder_open(&writer->host, writer->types,
										  writer->table->schema->ncolumns,
										  &bucket->builder, err);
	if (status == FLUSS_OK)
		status = fluss_arrow_builder_add(bucket->builder, row, err);
	if (status != FLUSS_OK)
		return status;
	bucket->open_rows++;
	count_open(writer, bucket, fluss_arrow_builder_size(bucket->builder));
	return FLUSS_OK;
}

/* A KV record: the row's bytes, or none for a delete. */
static fluss_status
add_record(fluss_writer *writer, write_bucket *bucket, const fluss_value *row,
		   bool with_row, fluss_error *err)
{
	const fluss_table *table = writer->table;
	fluss_status status;

	fluss_buf_reset(&writer->key);
	fluss_buf_reset(&writer->bytes);
	status = fluss_key_encode(writer->key_encoder, table->schema,
							  table->physical_key, table->nphysical_key, row,
							  &writer->key, err);
	if (status == FLUSS_OK && with_row)
		status = fluss_row_encode(table->kv_format, table->schema, row,
								  &writer->bytes, err);
	if (status != FLUSS_OK)
		return status;
	if (writer->key.failed || writer->bytes.failed)
		return fluss_fail_memory(err);
	if (bucket->open_rows == 0)
	{
		fluss_buf_reset(&bucket->records);
		fluss_kv_batch_begin(&bucket->records, table->schema->schema_id);
	}
	fluss_kv_batch_add(&bucket->records, writer->key.data, writer->key.size,
					   with_row ? writer->bytes.data : NULL,
					   writer->bytes.size);
	if (bucket->records.failed)
		return fluss_fail_memory(err);
	bucket->open_rows++;
	count_open(writer, bucket, bucket->records.size);
	return FLUSS_OK;
}

fluss_status
fluss_write_add_row(fluss_writer *writer, write_bucket *bucket,
					const fluss_value *row, fluss_error *err)
{
	if (writer->keyed)
		return add_record(writer, bucket, row, true, err);
	if (writer->table->log_format != FLUSS_FORMAT_ARROW)
		return add_log_row(writer, bucket, row, err);
	return add_to_log(writer, bucket, row, err);
}

fluss_status
fluss_write_add_delete(fluss_writer *writer, write_bucket *bucket,
					   const fluss_value *row, fluss_error *err)
{
	return add_record(writer, bucket, row, false, err);
}

/* ---- closing */

static write_batch *
new_batch(fluss_writer *writer)
{
	write_batch *batch = writer->spare_batches;

	if (batch != NULL)
		writer->spare_batches = batch->next;
	else
	{
		batch = fluss_arena_alloc0(&writer->arena, sizeof(write_batch));
		if (batch == NULL)
			return NULL;
		fluss_buf_init(&batch->bytes, &writer->host);
	}
	fluss_buf_reset(&batch->bytes);
	batch->next = NULL;
	batch->writer_id = FLUSS_NO_WRITER;
	batch->sequence = -1;
	batch->in_flight = false;
	batch->sent = false;
	batch->sent_first = false;
	batch->maybe_written = false;
	return batch;
}

static fluss_status
finish_bytes(fluss_writer *writer, write_bucket *bucket, write_batch *batch,
			 fluss_error *err)
{
	const fluss_table *table = writer->table;
	fluss_buf	swap;
	fluss_status status;

	if (writer->keyed || table->log_format != FLUSS_FORMAT_ARROW)
	{
		if (writer->keyed)
			fluss_kv_batch_finish(&bucket->records, FLUSS_NO_WRITER, -1,
								  bucket->open_rows);
		else
			fluss_log_rows_finish(&bucket->records, table->schema->schema_id,
								  FLUSS_NO_WRITER, -1, bucket->open_rows);
		swap = batch->bytes;
		batch->bytes = bucket->records;
		bucket->records = swap;
	}
	else
	{
		status = fluss_log_batch_write(bucket->builder, table->codec,
									   table->zstd_level,
									   table->schema->schema_id,
									   FLUSS_NO_WRITER, -1, &batch->bytes,
									   err);
		if (status != FLUSS_OK)
			return status;
		/* what it holds on to would add up over many partitions */
		if (writer->npartitions > 1)
		{
			fluss_arrow_builder_close(bucket->builder);
			bucket->builder = NULL;
		}
		else
			fluss_arrow_builder_reset(bucket->builder);
	}
	if (batch->bytes.failed)
		return fluss_fail_memory(err);
	return FLUSS_OK;
}

/* Moves the open batch, if it has rows, to the end of its bucket's queue. */
fluss_status
fluss_write_close_batch(fluss_writer *writer, write_bucket *bucket,
						fluss_error *err)
{
	write_batch *batch;
	fluss_status status;

	if (bucket->open_rows == 0)
		return FLUSS_OK;
	batch = new_batch(writer);
	if (batch == NULL)
		return fluss_fail_memory(err);
	status = finish_bytes(writer, bucket, batch, err);
	if (status != FLUSS_OK)
	{
		batch->next = writer->spare_batches;
		writer->spare_batches = batch;
		return status;
	}
	batch->rows = bucket->open_rows;
	bucket->open_rows = 0;
	count_open(writer, bucket, 0);
	writer->buffered += (int64_t) batch->bytes.size;
	writer->nclosed++;
	if (bucket->first == NULL)
		bucket->first = batch;
	else
		bucket->last->next = batch;
	bucket->last = batch;
	fluss_write_leave_sticky(writer, bucket);
	return FLUSS_OK;
}
