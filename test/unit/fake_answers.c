/*
 * fake_answers.c
 *	  What the simulated server answers to fetches, lookups, limit scans and
 *	  writes.
 */
#include <string.h>

#include "batch.h"
#include "error.h"
#include "fake_cluster.h"
#include "fake_remote.h"
#include "fluss.pb-c.h"
#include "row.h"
#include "rpc_pb.h"

/* ---- fetch */

static int
put_records(const fake_bucket *bucket, int64_t offset,
				   const int32_t *fields, int nfields, int64_t max_bytes,
				   bool first, fluss_buf *out)
{
	size_t		start = out->size;

	for (int i = 0; i < bucket->nbatches; i++)
	{
		const fake_batch *batch = &bucket->batches[i];
		int64_t		next = batch->base + (batch->count == 0 ? 1 : batch->count);
		size_t		before = out->size;

		if (next <= offset || next > fake_high_watermark(bucket))
			continue;
		if (batch->count == 0 && before == start && max_bytes <= 48)
			return 0;
		if (fields != NULL && batch->no_projection)
			return out->size > start ? 0 : -1;
		if (fields != NULL &&
			fields[nfields - 1] >= fake.schemas[batch->schema_id].ncolumns)
			return out->size > start ? 0 : FLUSS_CODE_INVALID_PROJECTION;
		fake_write_batch(batch, fields, nfields, out);
		if ((int64_t) (out->size - start) <= max_bytes)
			continue;
		if (before == start && first && !fake.cuts_first_batch)
			return 0;
		/* raw answers are cut at the limit, projected ones at a batch */
		out->size = fields == NULL ? start + (size_t) max_bytes : before;
		return 0;
	}
	return 0;
}

static int
answer_bucket(const Fluss__PbFetchLogReqForTable *table,
				  const Fluss__PbFetchLogReqForBucket *ask, int64_t *left,
				  bool *first, Fluss__PbFetchLogRespForBucket *answer,
				  fluss_buf *out)
{
	fake_bucket *bucket = &fake.buckets[ask->bucket_id];
	int64_t		limit = ask->max_fetch_bytes < *left ? ask->max_fetch_bytes : *left;
	int			code = fake_take_error(bucket);

	if (ask->fetch_offset > fake.highest_asked)
		fake.highest_asked = ask->fetch_offset;
	if (code != 0)
		return code;
	if (ask->fetch_offset < bucket->log_start || ask->fetch_offset > bucket->end)
		return FLUSS_CODE_OFFSET_OUT_OF_RANGE;
	answer->has_high_watermark = 1;
	answer->high_watermark = fake_high_watermark(bucket);
	if (ask->fetch_offset < bucket->lake_below)
		return 0;
	if (ask->fetch_offset < bucket->remote_below)
	{
		answer->remote_log_fetch_info = fake_remote_info(ask->bucket_id,
														 ask->fetch_offset);
		return 0;
	}
	code = put_records(bucket, ask->fetch_offset,
							  table->projection_pushdown_enabled ?
							  table->projected_fields : NULL,
							  (int) table->n_projected_fields, limit, *first,
							  out);
	if (code != 0)
		return code;
	if (out->size > 0)
		*first = false;
	*left = (int64_t) out->size < *left ? *left - (int64_t) out->size : 0;
	answer->has_records = 1;
	answer->records.data = out->data;
	answer->records.len = out->size;
	fake.bytes_sent += (int64_t) out->size;
	return 0;
}

static void
answer_fetch(fluss_request *request, const uint8_t *body, size_t size)
{
	Fluss__FetchLogRequest *ask = fluss__fetch_log_request__unpack(NULL, size, body);
	Fluss__PbFetchLogReqForTable *table = ask->tables_req[0];
	Fluss__FetchLogResponse answer = FLUSS__FETCH_LOG_RESPONSE__INIT;
	Fluss__PbFetchLogRespForTable in_table = FLUSS__PB_FETCH_LOG_RESP_FOR_TABLE__INIT;
	Fluss__PbFetchLogRespForTable *tables[] = {&in_table};
	Fluss__PbFetchLogRespForBucket in_bucket[FAKE_MAX_BUCKETS];
	Fluss__PbFetchLogRespForBucket *buckets[FAKE_MAX_BUCKETS];
	fluss_buf	records[FAKE_MAX_BUCKETS];
	int64_t		left = ask->max_bytes;
	bool		first = true;
	fluss_error err;

	fake.last_nbuckets = (int) table->n_buckets_req;
	fake.last_max_bytes = ask->max_bytes;
	fake.last_nprojection = (int) table->n_projected_fields;
	for (size_t n = 0; n < table->n_buckets_req; n++)
	{
		size_t		i = fake.backwards ? table->n_buckets_req - 1 - n : n;
		int			code;

		fluss_buf_init(&records[i], fake_host());
		fluss__pb_fetch_log_resp_for_bucket__init(&in_bucket[i]);
		in_bucket[i].bucket_id = table->buckets_req[i]->bucket_id;
		code = answer_bucket(table, table->buckets_req[i], &left, &first,
								 &in_bucket[i], &records[i]);
		in_bucket[i].has_error_code = code != 0;
		in_bucket[i].error_code = code;
		buckets[i] = &in_bucket[i];
	}
	in_table.table_id = table->table_id;
	in_table.n_buckets_resp = table->n_buckets_req;
	in_table.buckets_resp = buckets;
	answer.n_tables_resp = 1;
	answer.tables_resp = tables;
	assert_fluss_ok(fluss_pb_pack(&answer, &request->answer, &err), &err);
	for (size_t i = 0; i < table->n_buckets_req; i++)
		fluss_buf_free(&records[i]);
	fluss__fetch_log_request__free_unpacked(ask, NULL);
}

/* ---- lookup: keys divisible by three are missing */

static void
answer_lookup(fluss_request *request, const uint8_t *body, size_t size)
{
	Fluss__LookupRequest *ask = fluss__lookup_request__unpack(NULL, size, body);
	Fluss__LookupResponse answer = FLUSS__LOOKUP_RESPONSE__INIT;
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, fake_host());
	answer.n_buckets_resp = ask->n_buckets_req;
	answer.buckets_resp = fluss_arena_array(&arena, ask->n_buckets_req,
											sizeof(void *));
	fake.last_nkeys = 0;
	for (size_t i = 0; i < ask->n_buckets_req; i++)
	{
		Fluss__PbLookupReqForBucket *in = ask->buckets_req[i];
		Fluss__PbLookupRespForBucket *out = fluss_arena_alloc(&arena, sizeof(*out));
		fluss_buf	row;

		fluss_buf_init(&row, fake_host());
		fluss__pb_lookup_resp_for_bucket__init(out);
		answer.buckets_resp[i] = out;
		out->bucket_id = in->bucket_id;
		out->error_code = fake_take_error(&fake.buckets[in->bucket_id]);
		out->has_error_code = out->error_code != 0;
		fake.last_nkeys += (int) in->n_keys;
		if (out->has_error_code)
			continue;
		out->n_values = in->n_keys;
		out->values = fluss_arena_array(&arena, in->n_keys, sizeof(void *));
		for (size_t k = 0; k < in->n_keys; k++)
		{
			Fluss__PbValue *value = fluss_arena_alloc(&arena, sizeof(*value));
			fluss_value values[3];
			fluss_reader reader;
			char		name[24];
			int64_t		key;

			fluss__pb_value__init(value);
			out->values[k] = value;
			fluss_reader_init(&reader, in->keys[k].data, in->keys[k].len);
			key = (int64_t) fluss_read_varint64(&reader);
			if (k > 0 && memcmp(in->keys[k - 1].data, in->keys[k].data,
								in->keys[k - 1].len < in->keys[k].len ?
								in->keys[k - 1].len : in->keys[k].len) > 0)
				fake.sorted = false;
			if (key % 3 == 0)
				continue;
			fake_row(key, 3, values, name);
			fluss_buf_reset(&row);
			/* every other row was written before "name" was added */
			fluss_buf_u16le(&row, key % 2 == 0 ? 1 : 2);
			assert_fluss_ok(fluss_row_encode(FLUSS_FORMAT_COMPACTED,
											 &fake.schemas[key % 2 == 0 ? 1 : 2],
											 values, &row, &err), &err);
			value->has_values = 1;
			value->values.data = fluss_arena_memdup(&arena, row.data, row.size);
			value->values.len = row.size;
		}
		fluss_buf_free(&row);
	}
	assert_fluss_ok(fluss_pb_pack(&answer, &request->answer, &err), &err);
	fluss_arena_free(&arena);
	fluss__lookup_request__free_unpacked(ask, NULL);
}

/* ---- limit scan: rows bucket * 1000 ..., as many as fake.buckets[].end */

static void
answer_limit_scan(fluss_request *request, const uint8_t *body, size_t size)
{
	Fluss__LimitScanRequest *ask = fluss__limit_scan_request__unpack(NULL, size, body);
	Fluss__LimitScanResponse answer = FLUSS__LIMIT_SCAN_RESPONSE__INIT;
	fake_bucket *bucket = &fake.buckets[ask->bucket_id];
	int32_t		n = bucket->end < ask->limit ? (int32_t) bucket->end : ask->limit;
	fluss_error err;
	fluss_buf	rows;

	fluss_buf_init(&rows, fake_host());
	fluss_buf_u32le(&rows, 0);
	fluss_buf_u8(&rows, 0);
	fluss_buf_u32le(&rows, (uint32_t) (n > 0 ? n - fake.hidden_rows : 0));
	for (int i = 0; i < n; i++)
	{
		size_t		start = rows.size;
		fluss_value values[3];
		char		name[24];

		fake_row(ask->bucket_id * 1000 + i, 3, values, name);
		fluss_buf_u32le(&rows, 0);
		fluss_buf_u16le(&rows, 2);
		assert_fluss_ok(fluss_row_encode(FLUSS_FORMAT_COMPACTED,
										 &fake.schemas[2], values, &rows,
										 &err), &err);
		fluss_store_u32le(rows.data + start, (uint32_t) (rows.size - start - 4));
	}
	fluss_store_u32le(rows.data, (uint32_t) (rows.size - 4));
	answer.error_code = fake_take_error(bucket);
	answer.has_error_code = answer.error_code != 0;
	answer.has_is_log_table = 1;
	answer.has_records = !answer.has_error_code;
	answer.records.data = rows.data;
	answer.records.len = rows.size;
	assert_fluss_ok(fluss_pb_pack(&answer, &request->answer, &err), &err);
	fluss_buf_free(&rows);
	fluss__limit_scan_request__free_unpacked(ask, NULL);
}

/* ---- writes */

static fake_writer *
find_writer(fake_bucket *bucket, int64_t id)
{
	for (int i = 0; i < bucket->nwriters; i++)
	{
		if (bucket->writers[i].id == id)
			return &bucket->writers[i];
	}
	assert_in_range(bucket->nwriters, 0, 63);
	bucket->writers[bucket->nwriters] = (fake_writer) {.id = id};
	return &bucket->writers[bucket->nwriters++];
}

static void
take_log_rows(fake_bucket *bucket, const uint8_t *data, size_t size)
{
	static const int32_t source[] = {0};
	const fluss_type *types[] = {&fake.schemas[1].columns[0].type};
	const uint8_t *change_types;
	fluss_log_batch batch;
	fluss_column_view view;
	fluss_arena arena;
	fluss_error err;
	bool		complete;

	fluss_arena_init(&arena, fake_host());
	assert_fluss_ok(fluss_log_batch_open(data, size, true, &batch, &complete,
										 &err), &err);
	assert_true(complete && batch.total_size == size);
	assert_fluss_ok(fluss_log_batch_columns(&arena, &batch,
											fake.table.log_format,
											&fake.schemas[batch.schema_id],
											NULL, 0, source, types, 1, 1 << 30,
											&view, &change_types, &err), &err);
	for (int32_t i = 0; i < batch.record_count; i++)
	{
		fluss_value value;

		fluss_column_value(&view, i, &value);
		bucket->ids[bucket->nids++] = value.u.integer;
	}
	bucket->end += batch.record_count;
	fluss_arena_free(&arena);
}

static void
take_kv_rows(fake_bucket *bucket, const uint8_t *data, size_t size)
{
	fluss_reader reader;
	uint32_t	count;

	fluss_reader_init(&reader, data + 24, size - 24);
	count = fluss_read_u32le(&reader);
	for (uint32_t i = 0; i < count; i++)
	{
		uint32_t	length = fluss_read_u32le(&reader);
		fluss_reader record;
		const uint8_t *bytes = fluss_read_bytes(&reader, length);

		assert_non_null(bytes);
		fluss_reader_init(&record, bytes, length);
		(void) fluss_read_varint32(&record);
		bucket->ids[bucket->nids++] = (int64_t) fluss_read_varint64(&record);
	}
	assert_int_equal(fluss_reader_left(&reader), 0);
	bucket->end += count;
}

/* Code for a batch of an idempotent writer; *base is what is answered. */
static int
take_batch(fake_bucket *bucket, bool keyed, const uint8_t *data,
				size_t size, int64_t *base)
{
	int64_t		id = (int64_t) fluss_load_u64le(data + (keyed ? 12 : 32));
	int32_t		sequence = (int32_t) fluss_load_u32le(data + (keyed ? 20 : 40));
	fake_writer *writer = NULL;

	if (id >= 0)
	{
		writer = find_writer(bucket, id);
		for (int i = 0; i < writer->nlast; i++)
		{
			if (writer->last[i].sequence == sequence)
			{
				*base = writer->last[i].base;
				return 0;
			}
		}
		if (sequence != writer->next)
			return FLUSS_CODE_OUT_OF_ORDER_SEQUENCE;
	}
	*base = bucket->end;
	if (keyed)
	{
		take_kv_rows(bucket, data, size);
		*base = bucket->end;
	}
	else
		take_log_rows(bucket, data, size);
	if (writer != NULL)
	{
		memmove(&writer->last[1], &writer->last[0], sizeof(writer->last[0]) * 4);
		writer->last[0].sequence = sequence;
		writer->last[0].base = *base;
		writer->nlast = writer->nlast < 5 ? writer->nlast + 1 : 5;
		writer->next = sequence + 1;
	}
	return 0;
}

static void
answer_write(fluss_request *request, const uint8_t *body, size_t size)
{
	bool		keyed = request->api == FLUSS_API_PUT_KV;
	Fluss__PutKvRequest *put = NULL;
	Fluss__ProduceLogRequest *produce = NULL;
	Fluss__PbRecordsForBucket **asks;
	Fluss__WriteResponse answer = FLUSS__WRITE_RESPONSE__INIT;
	Fluss__PbWrittenForBucket written[FAKE_MAX_BUCKETS];
	Fluss__PbWrittenForBucket *buckets[FAKE_MAX_BUCKETS];
	size_t		n;
	fluss_error err;

	if (keyed)
		put = fluss__put_kv_request__unpack(NULL, size, body);
	else
		produce = fluss__produce_log_request__unpack(NULL, size, body);
	asks = keyed ? put->buckets_req : produce->buckets_req;
	n = keyed ? put->n_buckets_req : produce->n_buckets_req;
	for (size_t i = 0; i < n; i++)
	{
		fake_bucket *bucket = &fake.buckets[asks[i]->bucket_id];
		int64_t		base = -1;
		int			code = fake_take_error(bucket);

		/* REQUEST_TIME_OUT comes after the rows were taken */
		if (code == 0 || code == 25)
		{
			int			taken = take_batch(bucket, keyed,
												asks[i]->records.data,
												asks[i]->records.len, &base);

			code = taken != 0 ? taken : code;
		}
		fluss__pb_written_for_bucket__init(&written[i]);
		written[i].bucket_id = asks[i]->bucket_id;
		written[i].has_error_code = code != 0;
		written[i].error_code = code;
		written[i].has_offset = code == 0;
		written[i].offset = base;
		buckets[i] = &written[i];
	}
	answer.n_buckets_resp = n;
	answer.buckets_resp = buckets;
	assert_fluss_ok(fluss_pb_pack(&answer, &request->answer, &err), &err);
	if (keyed)
		fluss__put_kv_request__free_unpacked(put, NULL);
	else
		fluss__produce_log_request__free_unpacked(produce, NULL);
}

bool
fake_answer(fluss_request *request, const uint8_t *body, size_t size)
{
	switch (request->api)
	{
		case FLUSS_API_FETCH_LOG:
			answer_fetch(request, body, size);
			return true;
		case FLUSS_API_LOOKUP:
			answer_lookup(request, body, size);
			return true;
		case FLUSS_API_LIMIT_SCAN:
			answer_limit_scan(request, body, size);
			return true;
		case FLUSS_API_PRODUCE_LOG:
		case FLUSS_API_PUT_KV:
			answer_write(request, body, size);
			return true;
		default:
			return false;
	}
}
