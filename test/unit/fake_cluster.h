/*
 * fake_cluster.h
 *	  cluster.h over a simulated server, for tests of the data paths.
 *
 * Included by one test program each; it defines the functions of cluster.h,
 * so that the real ones are not linked.  The server keeps the rules that the
 * data paths rely on: at least one whole batch to the first bucket that has
 * any, torn batches at the end of raw answers, positions checked against each
 * batch's own schema, the last five batches of a writer remembered.
 *
 * Requests are processed in order when they are started; answers are given
 * out by fluss_cluster_poll, one at a time.  Faults are injected by number or
 * at random.  Only waiting moves the test host's clock.
 */
#ifndef FLUSS_FAKE_CLUSTER_H
#define FLUSS_FAKE_CLUSTER_H

#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "batch.h"
#include "cluster.h"
#include "error.h"
#include "remote.h"
#include "fluss.pb-c.h"
#include "row.h"
#include "rpc_pb.h"

#define FAKE_MAX_BUCKETS	8
#define FAKE_MAX_BATCHES	4096
#define FAKE_MAX_ROWS		200000
#define FAKE_MAX_ERRORS		64
#define FAKE_TIMEOUT_MS		30000

struct fluss_client
{
	fluss_config config;
	fluss_writer *writers;
};

struct fluss_request
{
	fluss_request *next;
	fluss_request_state state;
	fluss_api	api;
	int32_t		node;
	fluss_buf	answer;
	fluss_error error;
	bool		sent_maybe;
	int64_t		deadline_ms;
	bool		lost;			/* ends with an error instead of an answer */
	bool		refused;		/* the server does not offer it */
};

typedef struct fake_batch
{
	int64_t		base;
	int32_t		count;			/* 0: takes one offset */
	int32_t		schema_id;
	bool		no_projection;	/* foreign layout: a projection fails, -1 */
} fake_batch;

typedef struct fake_writer
{
	int64_t		id;
	int32_t		next;			/* sequence */
	struct
	{
		int32_t		sequence;
		int64_t		base;
	}			last[5];
	int			nlast;
} fake_writer;

typedef struct fake_bucket
{
	int32_t		leader;
	int64_t		log_start;
	int64_t		high_watermark; /* -1: at the end */
	int64_t		lake_below;		/* offsets below come back empty */
	int64_t		remote_below;	/* offsets below lie in remote storage */
	fake_batch	batches[FAKE_MAX_BATCHES];
	int			nbatches;
	int64_t		end;
	int			errors[FAKE_MAX_ERRORS];	/* for the next requests */
	int			nerrors;
	int			next_error;
	int64_t    *ids;			/* of the rows written */
	int			nids;
	fake_writer writers[64];
	int			nwriters;
} fake_bucket;

static struct
{
	fluss_client client;
	fluss_table table;
	fluss_schema schemas[3];	/* by id */
	fake_bucket buckets[FAKE_MAX_BUCKETS];
	fluss_request *pending;
	int			live_requests;

	/* faults */
	unsigned	random;
	int			fault_percent;	/* of requests and of answers */
	int			lose_request;	/* the n-th from now: 1 the next */
	int			interrupt_poll;
	bool		made_again;		/* the table */
	int			hidden_rows;	/* that a limit scan does not count */
	bool		silent;			/* no answers any more */
	int			swallow;		/* so many answers never come */
	/* answers what the fake itself does not know, or fails the request */
	bool		(*handler) (fluss_request *request, const uint8_t *body,
							size_t size);

	/* a fetch is answered from its last bucket to its first */
	bool		backwards;
	/* a fetch may end within its first batch */
	bool		cuts_first_batch;

	/* what was seen */
	int			nrequests;
	int			inflight;
	int			max_inflight;
	int			nlist_offsets;
	int			nforgets;
	int			last_nbuckets;	/* of a fetch */
	int32_t		last_max_bytes;
	int			last_nprojection;
	int			last_nkeys;
	int64_t		highest_asked;	/* offset of a fetch */
	bool		sorted;			/* every key list so far was */
	int64_t		bytes_sent;		/* records in answers */

	int64_t		writer_id;
	int64_t		next_writer_id;
	int32_t		sequences[FAKE_MAX_BUCKETS];
	struct
	{
		int64_t		writer_id;
		int32_t		sequence;
	}			acked[FAKE_MAX_BUCKETS];
}			fake;

/* The server's own memory: failing allocations are the client's business. */
static void *
fake_alloc(void *arg, size_t size)
{
	return malloc(size);
}

static void
fake_free(void *arg, void *ptr)
{
	free(ptr);
}

static const fluss_host *
fake_host(void)
{
	static const fluss_host host = {.alloc = fake_alloc, .free = fake_free};

	return &host;
}

/* ---- the table: (id BIGINT NOT NULL, twice BIGINT, name STRING) */

static const fluss_column fake_columns[] = {
	{.name = "id", .id = 0, .type = {.id = FLUSS_BIGINT}},
	{.name = "twice", .id = 1, .type = {.id = FLUSS_BIGINT, .nullable = true}},
	{.name = "name", .id = 2, .type = {.id = FLUSS_STRING, .nullable = true}}
};

static const int32_t fake_key[] = {0};

static void fake_remote_reset(void);

static void
fake_no_step(void)
{
}

static void
fake_start(int nbuckets, bool keyed)
{
	for (int i = 0; i < FAKE_MAX_BUCKETS; i++)
		free(fake.buckets[i].ids);
	memset(&fake, 0, sizeof(fake));
	fake_remote_reset();
	/* its servers answer in the call: nobody but the clock needs a turn */
	test_host_on_wait(fake_no_step);
	fake.client.config.request_timeout_ms = FAKE_TIMEOUT_MS;
	for (int id = 1; id <= 2; id++)
	{
		fake.schemas[id] = (fluss_schema) {
			.schema_id = id, .ncolumns = id + 1, .columns = fake_columns,
			.nprimary_key = keyed, .primary_key = fake_key,
			.auto_increment = -1
		};
	}
	fake.table = (fluss_table) {
		.database = "db", .name = "t", .table_id = 7,
		.schema = &fake.schemas[2], .nbuckets = nbuckets,
		.nbucket_key = keyed, .bucket_key = fake_key,
		.nphysical_key = keyed, .physical_key = fake_key,
		.log_format = FLUSS_FORMAT_ARROW, .kv_format = FLUSS_FORMAT_COMPACTED,
		.kv_format_version = 1
	};
	for (int i = 0; i < FAKE_MAX_BUCKETS; i++)
	{
		fake.buckets[i].high_watermark = -1;
		fake.buckets[i].ids = calloc(FAKE_MAX_ROWS, sizeof(int64_t));
	}
	fake.random = 1;
	fake.writer_id = -1;
	fake.next_writer_id = 100;
	fake.sorted = true;
}

static void __attribute__((unused))
fake_append(int bucket, int32_t count, int32_t schema_id)
{
	fake_bucket *b = &fake.buckets[bucket];

	b->batches[b->nbatches++] = (fake_batch) {
		.base = b->end, .count = count, .schema_id = schema_id
	};
	b->end += count == 0 ? 1 : count;
}

static void __attribute__((unused))
fake_error(int bucket, int code)
{
	fake_bucket *b = &fake.buckets[bucket];

	b->errors[b->nerrors++] = code;
}

static bool
fake_chance(int percent)
{
	fake.random = fake.random * 1103515245 + 12345;
	return (int) (fake.random >> 16) % 100 < percent;
}

/* The error to answer for a bucket with, or 0. */
static int
fake_take_error(fake_bucket *bucket)
{
	if (bucket->next_error < bucket->nerrors)
		return bucket->errors[bucket->next_error++];
	if (fake.fault_percent > 0 && fake_chance(fake.fault_percent))
		return fake_chance(50) ? FLUSS_CODE_NOT_LEADER : 10;
	return 0;
}

static int64_t
fake_high_watermark(const fake_bucket *bucket)
{
	return bucket->high_watermark < 0 ? bucket->end : bucket->high_watermark;
}

/* ---- values */

/* Row number n: name is NULL where n is a multiple of seven. */
static void
fake_row(int64_t n, int32_t ncolumns, fluss_value *row, char name[24])
{
	row[0] = (fluss_value) {.u.integer = n};
	row[1] = (fluss_value) {.u.integer = 2 * n};
	if (ncolumns < 3)
		return;
	row[2] = (fluss_value) {.is_null = n % 7 == 0};
	row[2].u.bytes.data = (uint8_t *) name;
	row[2].u.bytes.size = (size_t) sprintf(name, "n%lld", (long long) n);
}

static void
fake_write_batch(const fake_batch *batch, const int32_t *fields, int nfields,
				 fluss_buf *out)
{
	const fluss_schema *schema = &fake.schemas[batch->schema_id];
	const fluss_type *types[3];
	fluss_arrow_builder *builder;
	fluss_error err;
	size_t		start = out->size;

	if (fields == NULL)
		nfields = schema->ncolumns;
	for (int i = 0; i < nfields; i++)
		types[i] = &schema->columns[fields == NULL ? i : fields[i]].type;
	assert_fluss_ok(fluss_arrow_builder_open(fake_host(), types, nfields,
											 &builder, &err), &err);
	for (int i = 0; i < batch->count; i++)
	{
		fluss_value row[3];
		fluss_value chosen[3];
		char		name[24];

		fake_row(batch->base + i, schema->ncolumns, row, name);
		for (int c = 0; c < nfields; c++)
			chosen[c] = row[fields == NULL ? c : fields[c]];
		assert_fluss_ok(fluss_arrow_builder_add(builder, chosen, &err), &err);
	}
	assert_fluss_ok(fluss_log_batch_write(builder, FLUSS_CODEC_NONE, 0,
										  batch->schema_id, -1, -1, out, &err),
					&err);
	if (batch->count == 0)
	{
		/* header only, taking one offset */
		out->size = start + 48;
		fluss_store_u32le(out->data + start + 8, 36);
		fluss_store_u32le(out->data + start + 28, 0);
		fluss_store_u32le(out->data + start + 44, 0);
		fluss_log_batch_stamp(out->data + start, 48, -1, -1);
	}
	fluss_store_u64le(out->data + start, (uint64_t) batch->base);
	fluss_store_u64le(out->data + start + 13, (uint64_t) (1000 + batch->base));
	if (fields != NULL)
		fluss_store_u32le(out->data + start + 21, 0xbad);
	fluss_arrow_builder_close(builder);
}

#include "fake_remote.h"

/* ---- fetch */

static int
fake_fetch_records(const fake_bucket *bucket, int64_t offset,
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
fake_fetch_bucket(const Fluss__PbFetchLogReqForTable *table,
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
	code = fake_fetch_records(bucket, ask->fetch_offset,
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
fake_fetch(fluss_request *request, const uint8_t *body, size_t size)
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
		code = fake_fetch_bucket(table, table->buckets_req[i], &left, &first,
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
fake_lookup(fluss_request *request, const uint8_t *body, size_t size)
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
fake_limit_scan(fluss_request *request, const uint8_t *body, size_t size)
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
fake_writer_of(fake_bucket *bucket, int64_t id)
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
fake_take_log_rows(fake_bucket *bucket, const uint8_t *data, size_t size)
{
	static const int32_t source[] = {0};
	const fluss_type *types[] = {&fake_columns[0].type};
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
fake_take_kv_rows(fake_bucket *bucket, const uint8_t *data, size_t size)
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
fake_take_batch(fake_bucket *bucket, bool keyed, const uint8_t *data,
				size_t size, int64_t *base)
{
	int64_t		id = (int64_t) fluss_load_u64le(data + (keyed ? 12 : 32));
	int32_t		sequence = (int32_t) fluss_load_u32le(data + (keyed ? 20 : 40));
	fake_writer *writer = NULL;

	if (id >= 0)
	{
		writer = fake_writer_of(bucket, id);
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
		fake_take_kv_rows(bucket, data, size);
		*base = bucket->end;
	}
	else
		fake_take_log_rows(bucket, data, size);
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
fake_write(fluss_request *request, const uint8_t *body, size_t size)
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
			int			taken = fake_take_batch(bucket, keyed,
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

/* ---- cluster.h */

const fluss_host *
fluss_client_host(fluss_client *client)
{
	return test_host();
}

const fluss_config *
fluss_client_config(fluss_client *client)
{
	return &client->config;
}

int64_t
fluss_client_deadline(fluss_client *client)
{
	return test_host()->now_ms(NULL) + client->config.request_timeout_ms;
}

fluss_status
fluss_request_start(fluss_client *client, int32_t node, fluss_api api,
					const uint8_t *body, size_t size, int64_t deadline_ms,
					fluss_request **request, fluss_error *err)
{
	fluss_request *r = calloc(1, sizeof(fluss_request));
	fluss_request **tail = &fake.pending;

	*request = r;
	r->api = api;
	r->node = node;
	r->deadline_ms = deadline_ms;
	fluss_buf_init(&r->answer, fake_host());
	fake.live_requests++;
	fake.nrequests++;
	if (++fake.inflight > fake.max_inflight)
		fake.max_inflight = fake.inflight;
	while (*tail != NULL)
		tail = &(*tail)->next;
	*tail = r;
	if (fake.lose_request > 0 && --fake.lose_request == 0)
		r->lost = true;
	if (fake.fault_percent > 0 && fake_chance(fake.fault_percent))
		r->lost = true;
	r->sent_maybe = fake_chance(50);
	if (r->lost && !r->sent_maybe)
		return FLUSS_OK;
	/* a lost request that was sent may have been processed, or not */
	if (r->lost && fake_chance(50))
		return FLUSS_OK;
	switch (api)
	{
		case FLUSS_API_FETCH_LOG:
			fake_fetch(r, body, size);
			break;
		case FLUSS_API_LOOKUP:
			fake_lookup(r, body, size);
			break;
		case FLUSS_API_LIMIT_SCAN:
			fake_limit_scan(r, body, size);
			break;
		case FLUSS_API_PRODUCE_LOG:
		case FLUSS_API_PUT_KV:
			fake_write(r, body, size);
			break;
		default:
			if (fake.handler != NULL && fake.handler(r, body, size))
				break;
			fail_msg("request %d", api);
	}
	return FLUSS_OK;
}

fluss_request_state
fluss_request_state_of(const fluss_request *request)
{
	return request->state;
}

fluss_bytes
fluss_request_answer(const fluss_request *request)
{
	fluss_bytes bytes = {request->answer.data, request->answer.size};

	assert_int_equal(request->state, FLUSS_REQUEST_DONE);
	return bytes;
}

const fluss_error *
fluss_request_error(const fluss_request *request)
{
	assert_int_equal(request->state, FLUSS_REQUEST_FAILED);
	return &request->error;
}

bool
fluss_request_sent_maybe(const fluss_request *request)
{
	return request->sent_maybe;
}

static void
fake_unlink(fluss_request *request)
{
	fluss_request **link = &fake.pending;

	while (*link != NULL && *link != request)
		link = &(*link)->next;
	if (*link == NULL)
		return;
	*link = request->next;
	fake.inflight--;
}

void
fluss_request_free(fluss_request *request)
{
	if (request == NULL)
		return;
	fake_unlink(request);
	fluss_buf_free(&request->answer);
	free(request);
	fake.live_requests--;
}

/* Answers one request: mostly the oldest. */
fluss_status
fluss_cluster_poll(fluss_client *client, int64_t deadline_ms, fluss_error *err)
{
	fluss_request *request = fake.pending;
	int64_t		now = test_host()->now_ms(NULL);

	if (fake.interrupt_poll > 0 && --fake.interrupt_poll == 0)
		return fluss_fail(err, FLUSS_INTERRUPTED, "interrupted");
	if ((request == NULL || fake_chance(30)) && fake_remote_finish())
		return FLUSS_OK;
	if (request == NULL || fake.silent || fake.swallow > 0)
	{
		if (request != NULL && request->deadline_ms < deadline_ms)
			deadline_ms = request->deadline_ms;
		test_host_advance_ms(deadline_ms > now ? deadline_ms - now : 0);
		if (request != NULL && deadline_ms == request->deadline_ms)
		{
			if (fake.swallow > 0)
				fake.swallow--;
			fake_unlink(request);
			request->state = FLUSS_REQUEST_FAILED;
			fluss_fail(&request->error, FLUSS_TIMED_OUT, "no answer");
		}
		return FLUSS_OK;
	}
	if (request->next != NULL && fake_chance(30))
		request = request->next;
	fake_unlink(request);
	request->state = request->lost ? FLUSS_REQUEST_FAILED : FLUSS_REQUEST_DONE;
	if (request->lost)
		fluss_fail(&request->error, FLUSS_SEND_FAILED, "connection lost");
	if (request->refused)
	{
		request->state = FLUSS_REQUEST_FAILED;
		fluss_fail(&request->error, FLUSS_UNSUPPORTED, "not offered");
	}
	return FLUSS_OK;
}

void
fluss_cluster_pump(fluss_client *client)
{
}

fluss_status __attribute__((unused))
fluss_request_call(fluss_client *client, int32_t node, fluss_api api,
				   const uint8_t *body, size_t size, int64_t deadline_ms,
				   int64_t *counter, fluss_request **answer, fluss_error *err)
{
	fluss_status status;

	(*counter)++;
	status = fluss_request_start(client, node, api, body, size, deadline_ms,
								 answer, err);
	while (status == FLUSS_OK && (*answer)->state == FLUSS_REQUEST_PENDING)
		status = fluss_cluster_poll(client, deadline_ms, err);
	if (status == FLUSS_OK && (*answer)->state == FLUSS_REQUEST_FAILED)
	{
		*err = (*answer)->error;
		status = err->status;
	}
	if (status != FLUSS_OK && *answer != NULL)
	{
		fluss_request_free(*answer);
		*answer = NULL;
	}
	return status;
}

fluss_status
fluss_cluster_sleep(fluss_client *client, int64_t ms, fluss_error *err)
{
	test_host_advance_ms(ms);
	return FLUSS_OK;
}

int64_t
fluss_backoff_ms(int attempt)
{
	return attempt > 3 ? 1000 : 100 << attempt;
}

fluss_status
fluss_leader_find(fluss_client *client, fluss_table *table,
				  int64_t partition_id, int32_t bucket, int64_t deadline_ms,
				  int32_t *node, fluss_error *err)
{
	*node = fake.buckets[bucket].leader;
	return FLUSS_OK;
}

void
fluss_leader_expect(fluss_table *table, int64_t partition_id)
{
}

fluss_status
fluss_partitions_open(fluss_client *client, fluss_table *table,
					  int64_t max_age_ms, fluss_partitions **partitions,
					  fluss_error *err)
{
	fail_msg("the table has no partitions");
	return FLUSS_OK;
}

fluss_status
fluss_create_partition(fluss_client *client, fluss_table *table,
					   const char *const *values, bool if_not_exists,
					   fluss_error *err)
{
	fail_msg("the table has no partitions");
	return FLUSS_OK;
}

void
fluss_leader_forget(fluss_client *client, fluss_table *table)
{
	fake.nforgets++;
}

fluss_status
fluss_table_verify(fluss_client *client, fluss_table *table, fluss_error *err)
{
	if (fake.made_again)
		return fluss_fail(err, FLUSS_TABLE_CHANGED, "table was made again");
	return FLUSS_OK;
}

fluss_status
fluss_table_schema(fluss_client *client, fluss_table *table, int32_t schema_id,
				   const fluss_schema **schema, fluss_error *err)
{
	if (schema_id < 1 || schema_id > 2)
		return fluss_fail_server(err, FLUSS_CODE_SCHEMA_NOT_EXIST, NULL, 0,
								 "get schema %d", (int) schema_id);
	*schema = &fake.schemas[schema_id];
	return FLUSS_OK;
}

void
fluss_table_retain(fluss_table *table)
{
}

void
fluss_table_release(fluss_table *table)
{
}

fluss_status
fluss_list_offsets(fluss_client *client, fluss_table *table,
				   fluss_offset_kind kind, int64_t timestamp_ms,
				   int64_t partition_id, const int32_t *buckets, int nbuckets,
				   fluss_need need, int64_t *offsets, fluss_error *err)
{
	fake.nlist_offsets++;
	for (int i = 0; i < nbuckets; i++)
	{
		const fake_bucket *bucket = &fake.buckets[buckets[i]];

		offsets[i] = kind == FLUSS_OFFSET_EARLIEST ? bucket->log_start :
			fake_high_watermark(bucket);
	}
	return FLUSS_OK;
}

fluss_status
fluss_client_writer_id(fluss_client *client, fluss_table *table,
					   int64_t *writer_id, int64_t *counter, fluss_error *err)
{
	if (fake.writer_id < 0)
	{
		fake.writer_id = fake.next_writer_id++;
		memset(fake.sequences, 0, sizeof(fake.sequences));
		(*counter)++;
	}
	*writer_id = fake.writer_id;
	return FLUSS_OK;
}

int64_t
fluss_client_known_writer_id(const fluss_client *client)
{
	return fake.writer_id;
}

fluss_status
fluss_client_next_sequence(fluss_client *client, int64_t table_id,
						   int64_t partition_id, int32_t bucket,
						   int32_t *sequence, fluss_error *err)
{
	*sequence = fake.sequences[bucket]++;
	return FLUSS_OK;
}

void
fluss_client_acknowledged(fluss_client *client, int64_t table_id,
						  int64_t partition_id, int32_t bucket,
						  int64_t writer_id, int32_t sequence)
{
	if (fake.acked[bucket].writer_id == writer_id &&
		fake.acked[bucket].sequence > sequence)
		return;
	fake.acked[bucket].writer_id = writer_id;
	fake.acked[bucket].sequence = sequence;
}

bool
fluss_client_is_acknowledged(const fluss_client *client, int64_t table_id,
							 int64_t partition_id, int32_t bucket,
							 int64_t writer_id, int32_t sequence)
{
	return writer_id >= 0 && fake.acked[bucket].writer_id == writer_id &&
		sequence <= fake.acked[bucket].sequence;
}

void
fluss_client_discard_writer(fluss_client *client)
{
	fake.writer_id = -1;
}

fluss_writer **
fluss_client_writers(fluss_client *client)
{
	return &client->writers;
}

#endif							/* FLUSS_FAKE_CLUSTER_H */
