/*
 * fake_cluster.c
 *	  cluster.h over a simulated server: what it holds, when it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "error.h"
#include "fake_cluster.h"
#include "fake_remote.h"

fake_cluster fake;

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

const fluss_host *
fake_host(void)
{
	static const fluss_host host = {.alloc = fake_alloc, .free = fake_free};

	return &host;
}

/* ---- the table */

static const fluss_column fake_columns[] = {
	{.name = "id", .id = 0, .type = {.id = FLUSS_BIGINT}},
	{.name = "twice", .id = 1, .type = {.id = FLUSS_BIGINT, .nullable = true}},
	{.name = "name", .id = 2, .type = {.id = FLUSS_STRING, .nullable = true}}
};

static const int32_t fake_key[] = {0};

static void
fake_no_step(void)
{
}

void
fake_start(int nbuckets, bool keyed)
{
	fake_end();
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

void
fake_end(void)
{
	for (int i = 0; i < FAKE_MAX_BUCKETS; i++)
	{
		free(fake.buckets[i].ids);
		fake.buckets[i].ids = NULL;
	}
}

void
fake_append(int bucket, int32_t count, int32_t schema_id)
{
	fake_bucket *b = &fake.buckets[bucket];

	b->batches[b->nbatches++] = (fake_batch) {
		.base = b->end, .count = count, .schema_id = schema_id
	};
	b->end += count == 0 ? 1 : count;
}

void
fake_error(int bucket, int code)
{
	fake_bucket *b = &fake.buckets[bucket];

	b->errors[b->nerrors++] = code;
}

bool
fake_chance(int percent)
{
	fake.random = fake.random * 1103515245 + 12345;
	return (int) (fake.random >> 16) % 100 < percent;
}

int
fake_take_error(fake_bucket *bucket)
{
	if (bucket->next_error < bucket->nerrors)
		return bucket->errors[bucket->next_error++];
	if (fake.fault_percent > 0 && fake_chance(fake.fault_percent))
		return fake_chance(50) ? FLUSS_CODE_NOT_LEADER : 10;
	return 0;
}

int64_t
fake_high_watermark(const fake_bucket *bucket)
{
	return bucket->high_watermark < 0 ? bucket->end : bucket->high_watermark;
}

/* ---- values */

void
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

void
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

fluss_error *
fluss_client_failure(fluss_client *client)
{
	return &client->failure;
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
	if (!fake_answer(r, body, size) &&
		(fake.handler == NULL || !fake.handler(r, body, size)))
		fail_msg("request %d", api);
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

fluss_status
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
	test_host_advance_ms(ms + fake.oversleep_ms);
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
	if (deadline_ms <= test_host()->now_ms(NULL))
		return fluss_fail(err, FLUSS_CANNOT_CONNECT, "no time to ask");
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
