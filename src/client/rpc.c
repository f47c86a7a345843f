/*
 * rpc.c
 *	  Messages of the data paths, to and from bytes.
 *
 * An encoder builds the message in a scratch arena, packs it and drops the
 * arena; bytes and arrays of the caller are pointed to, not copied.  A decoder
 * unpacks into the caller's arena and hands out pointers into the unpacked
 * message, so each payload is copied once.
 *
 * Counts, bucket numbers and offsets of an answer are the server's: negative
 * ones where there can be none make the answer malformed.
 */
#include "rpc.h"
#include "rpc_pb.h"

/* Fields of a fetch's answer that are found by hand: see fluss.proto. */
#define TABLES_FIELD	1
#define TABLE_ID_FIELD	1
#define BUCKETS_FIELD	2
#define RECORDS_FIELD	8

static const char *const fetch_api = "FETCH_LOG";
static const char *const lookup_api = "LOOKUP";
static const char *const prefix_lookup_api = "PREFIX_LOOKUP";
static const char *const limit_scan_api = "LIMIT_SCAN";
static const char *const produce_api = "PRODUCE_LOG";
static const char *const put_api = "PUT_KV";
static const char *const list_offsets_api = "LIST_OFFSETS";
static const char *const stats_api = "GET_TABLE_STATS";

/* The protocol's way to say that the caller is a client, not a follower. */
#define FOLLOWER_NONE	(-1)

static fluss_status
check_partition(bool present, int64_t partition_id, int64_t *out,
				const char *api, fluss_error *err)
{
	if (present && partition_id < 0)
		return fluss_pb_malformed(err, api, "A partition id is negative.");
	*out = present ? partition_id : FLUSS_NO_PARTITION;
	return FLUSS_OK;
}

static fluss_status
check_bucket(int32_t bucket, const char *api, fluss_error *err)
{
	if (bucket < 0)
		return fluss_pb_malformed(err, api, "A bucket number is negative.");
	return FLUSS_OK;
}

/* Bucket entries begin alike: partition, bucket, error. */
#define READ_BUCKET_HEAD(result, entry, api, err) \
	do { \
		fluss_status head_status; \
		head_status = check_partition((entry)->has_partition_id, \
									  (entry)->partition_id, \
									  &(result)->partition_id, api, err); \
		if (head_status == FLUSS_OK) \
			head_status = check_bucket((entry)->bucket_id, api, err); \
		if (head_status != FLUSS_OK) \
			return head_status; \
		(result)->bucket = (entry)->bucket_id; \
		(result)->error_code = \
			(entry)->has_error_code ? (entry)->error_code : 0; \
		(result)->error_message = (entry)->error_message; \
	} while (0)

/* ---- fetch log */

static bool
fill_fetch_buckets(fluss_arena *scratch, Fluss__PbFetchLogReqForTable *table,
				   const fluss_fetch_bucket *buckets, int nbuckets)
{
	Fluss__PbFetchLogReqForBucket *entries;

	entries = fluss_pb_list(scratch,
							&fluss__pb_fetch_log_req_for_bucket__descriptor,
							nbuckets, &table->buckets_req);
	if (entries == NULL)
		return false;
	table->n_buckets_req = nbuckets;
	for (int i = 0; i < nbuckets; i++)
	{
		FLUSS_PB_SET_BUCKET(&entries[i], buckets[i].partition_id,
							buckets[i].bucket);
		entries[i].fetch_offset = buckets[i].offset;
		entries[i].max_fetch_bytes = buckets[i].max_bytes;
	}
	return true;
}

fluss_status
fluss_rpc_encode_fetch(const fluss_host *host, int64_t table_id,
					   int32_t max_bytes, const int32_t *projection,
					   int nprojection, const fluss_fetch_bucket *buckets,
					   int nbuckets, int32_t max_wait_ms, fluss_buf *out,
					   fluss_error *err)
{
	Fluss__FetchLogRequest request = FLUSS__FETCH_LOG_REQUEST__INIT;
	Fluss__PbFetchLogReqForTable table = FLUSS__PB_FETCH_LOG_REQ_FOR_TABLE__INIT;
	Fluss__PbFetchLogReqForTable *tables[1] = {&table};
	fluss_arena scratch;
	bool		filled;

	fluss_arena_init(&scratch, host);
	request.follower_server_id = FOLLOWER_NONE;
	request.max_bytes = max_bytes;
	request.n_tables_req = 1;
	request.tables_req = tables;
	request.has_max_wait_ms = request.has_min_bytes = max_wait_ms > 0;
	request.max_wait_ms = max_wait_ms;
	request.min_bytes = 1;
	table.table_id = table_id;
	table.projection_pushdown_enabled = nprojection > 0;
	table.n_projected_fields = nprojection;
	table.projected_fields = (int32_t *) projection;
	filled = fill_fetch_buckets(&scratch, &table, buckets, nbuckets);
	return fluss_pb_finish(&scratch, filled ? &request : NULL, out, err);
}

static fluss_status
read_segments(fluss_arena *arena, const Fluss__PbRemoteLogFetchInfo *info,
			  fluss_fetch_result *result, fluss_error *err)
{
	fluss_remote_segment *segments;
	fluss_status status;

	status = fluss_pb_results(arena, info->n_remote_log_segments,
							  sizeof(*segments), fetch_api,
							  (void **) &segments, &result->nsegments, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < result->nsegments; i++)
	{
		const Fluss__PbRemoteLogSegment *entry = info->remote_log_segments[i];

		if (entry->remote_log_start_offset < 0 ||
			entry->remote_log_end_offset < entry->remote_log_start_offset ||
			entry->segment_size_in_bytes < 0)
			return fluss_pb_malformed(err, fetch_api,
									  "A remote log segment has a negative length.");
		segments[i].id = entry->remote_log_segment_id;
		segments[i].start_offset = entry->remote_log_start_offset;
		segments[i].end_offset = entry->remote_log_end_offset;
		segments[i].size = entry->segment_size_in_bytes;
	}
	if (info->has_first_start_pos && info->first_start_pos < 0)
		return fluss_pb_malformed(err, fetch_api,
								  "A position in a remote log segment is negative.");
	result->first_start_pos =
		info->has_first_start_pos ? info->first_start_pos : 0;
	result->segments = segments;
	result->remote_dir = info->remote_log_tablet_dir;
	return FLUSS_OK;
}

/*
 * The records are nearly all of an answer: they are left where they are, and
 * the rest of the message is what protobuf-c unpacks.
 */
static fluss_status
split_fetch_bucket(fluss_arena *arena, fluss_bytes message,
				   fluss_bytes *rest, fluss_fetch_result *result,
				   fluss_error *err)
{
	fluss_pb_field field;
	fluss_reader reader;
	uint8_t    *copy;
	size_t		size = message.size;

	fluss_reader_init(&reader, message.data, message.size);
	while (fluss_pb_next_field(&reader, &field))
	{
		if (field.number != RECORDS_FIELD || !field.is_bytes)
			continue;
		result->records = field.bytes;
		size -= field.whole.size;
	}
	if (reader.failed)
		return fluss_pb_malformed(err, fetch_api, "It cannot be decoded.");
	copy = fluss_arena_alloc(arena, size);
	if (copy == NULL)
		return fluss_fail_memory(err);
	rest->data = copy;
	rest->size = size;
	fluss_reader_init(&reader, message.data, message.size);
	while (fluss_pb_next_field(&reader, &field))
	{
		if (field.number == RECORDS_FIELD && field.is_bytes)
			continue;
		memcpy(copy, field.whole.data, field.whole.size);
		copy += field.whole.size;
	}
	return FLUSS_OK;
}

static fluss_status
read_fetch_bucket(fluss_arena *arena, fluss_bytes message,
				  fluss_fetch_result *result, fluss_error *err)
{
	Fluss__PbFetchLogRespForBucket *entry;
	fluss_bytes rest;
	fluss_status status;

	status = split_fetch_bucket(arena, message, &rest, result, err);
	if (status == FLUSS_OK)
		status = fluss_pb_unpack(arena,
								 &fluss__pb_fetch_log_resp_for_bucket__descriptor,
								 rest, fetch_api, (void **) &entry, err);
	if (status != FLUSS_OK)
		return status;
	READ_BUCKET_HEAD(result, entry, fetch_api, err);
	result->high_watermark = -1;
	if (entry->has_high_watermark && entry->high_watermark >= 0)
		result->high_watermark = entry->high_watermark;
	if (entry->remote_log_fetch_info == NULL)
		return FLUSS_OK;
	return read_segments(arena, entry->remote_log_fetch_info, result, err);
}

/* The one table in the answer, its id, and how many buckets it has. */
static fluss_status
find_fetch_table(fluss_bytes answer, int64_t table_id, fluss_bytes *table,
				 size_t *nbuckets, fluss_error *err)
{
	fluss_pb_field field;
	fluss_reader reader;
	int			ntables = 0;
	bool		found = false;

	fluss_reader_init(&reader, answer.data, answer.size);
	while (fluss_pb_next_field(&reader, &field))
	{
		if (field.number != TABLES_FIELD || !field.is_bytes)
			continue;
		*table = field.bytes;
		ntables++;
	}
	if (reader.failed)
		return fluss_pb_malformed(err, fetch_api, "It cannot be decoded.");
	*nbuckets = 0;
	if (ntables == 1)
	{
		fluss_reader_init(&reader, table->data, table->size);
		while (fluss_pb_next_field(&reader, &field))
		{
			if (field.number == BUCKETS_FIELD && field.is_bytes)
				(*nbuckets)++;
			else if (field.number == TABLE_ID_FIELD && !field.is_bytes)
				found = (int64_t) field.value == table_id;
		}
		if (reader.failed)
			return fluss_pb_malformed(err, fetch_api, "It cannot be decoded.");
	}
	if (!found)
		return fluss_pb_malformed(err, fetch_api,
								  "It is not about the table asked for.");
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_fetch(fluss_arena *arena, fluss_bytes answer,
					   int64_t table_id, fluss_fetch_result **results,
					   int *nresults, fluss_error *err)
{
	fluss_bytes table = {0};
	fluss_pb_field field;
	fluss_reader reader;
	size_t		nbuckets = 0;
	int			n = 0;
	fluss_status status;

	status = find_fetch_table(answer, table_id, &table, &nbuckets, err);
	if (status == FLUSS_OK)
		status = fluss_pb_results(arena, nbuckets, sizeof(**results),
								  fetch_api, (void **) results, nresults, err);
	if (status != FLUSS_OK)
		return status;
	fluss_reader_init(&reader, table.data, table.size);
	while (status == FLUSS_OK && fluss_pb_next_field(&reader, &field))
	{
		if (field.number == BUCKETS_FIELD && field.is_bytes)
			status = read_fetch_bucket(arena, field.bytes, &(*results)[n++],
									   err);
	}
	return status;
}

/* ---- lookup */

static bool
fill_lookup_bucket(fluss_arena *scratch, const fluss_lookup_ask *bucket,
				   Fluss__PbLookupReqForBucket *entry)
{
	FLUSS_PB_SET_BUCKET(entry, bucket->partition_id, bucket->bucket);
	entry->keys = fluss_arena_array(scratch, bucket->nkeys,
									sizeof(*entry->keys));
	if (entry->keys == NULL)
		return false;
	entry->n_keys = bucket->nkeys;
	for (int i = 0; i < bucket->nkeys; i++)
		entry->keys[i] = fluss_pb_data(bucket->keys[i]);
	return true;
}

fluss_status
fluss_rpc_encode_lookup(const fluss_host *host, int64_t table_id,
						const fluss_lookup_ask *buckets, int nbuckets,
						fluss_buf *out, fluss_error *err)
{
	Fluss__LookupRequest request = FLUSS__LOOKUP_REQUEST__INIT;
	Fluss__PbLookupReqForBucket *entries;
	fluss_arena scratch;
	bool		filled;

	fluss_arena_init(&scratch, host);
	request.table_id = table_id;
	request.n_buckets_req = nbuckets;
	entries = fluss_pb_list(&scratch,
							&fluss__pb_lookup_req_for_bucket__descriptor,
							nbuckets, &request.buckets_req);
	filled = entries != NULL;
	for (int i = 0; filled && i < nbuckets; i++)
		filled = fill_lookup_bucket(&scratch, &buckets[i], &entries[i]);
	return fluss_pb_finish(&scratch, filled ? &request : NULL, out, err);
}

static fluss_status
read_lookup_bucket(fluss_arena *arena,
				   const Fluss__PbLookupRespForBucket *entry,
				   fluss_lookup_result *result, fluss_error *err)
{
	fluss_found *keys;
	fluss_bytes *values;
	fluss_status status;

	READ_BUCKET_HEAD(result, entry, lookup_api, err);
	status = fluss_pb_results(arena, entry->n_values, sizeof(*keys),
							  lookup_api, (void **) &keys, &result->nkeys,
							  err);
	if (status != FLUSS_OK)
		return status;
	values = fluss_arena_array(arena, entry->n_values, sizeof(*values));
	if (values == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < result->nkeys; i++)
	{
		values[i] = fluss_pb_bytes(entry->values[i]->values);
		keys[i].values = &values[i];
		keys[i].n = entry->values[i]->has_values ? 1 : 0;
	}
	result->keys = keys;
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_lookup(fluss_arena *arena, fluss_bytes answer,
						fluss_lookup_result **results, int *nresults,
						fluss_error *err)
{
	Fluss__LookupResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__lookup_response__descriptor,
							 answer, lookup_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_buckets_resp,
							  sizeof(**results), lookup_api, (void **) results,
							  nresults, err);
	for (int i = 0; status == FLUSS_OK && i < *nresults; i++)
		status = read_lookup_bucket(arena, response->buckets_resp[i],
									&(*results)[i], err);
	return status;
}

static fluss_status
read_prefix_bucket(fluss_arena *arena,
				   const Fluss__PbPrefixLookupRespForBucket *entry,
				   fluss_lookup_result *result, fluss_error *err)
{
	fluss_found *keys;
	fluss_status status;

	READ_BUCKET_HEAD(result, entry, prefix_lookup_api, err);
	status = fluss_pb_results(arena, entry->n_value_lists, sizeof(*keys),
							  prefix_lookup_api, (void **) &keys,
							  &result->nkeys, err);
	for (int i = 0; status == FLUSS_OK && i < result->nkeys; i++)
	{
		const Fluss__PbValueList *list = entry->value_lists[i];
		fluss_bytes *values;

		status = fluss_pb_results(arena, list->n_values, sizeof(*values),
								  prefix_lookup_api, (void **) &values,
								  &keys[i].n, err);
		for (int v = 0; status == FLUSS_OK && v < keys[i].n; v++)
			values[v] = fluss_pb_bytes(list->values[v]);
		keys[i].values = values;
	}
	result->keys = keys;
	return status;
}

fluss_status
fluss_rpc_decode_prefix_lookup(fluss_arena *arena, fluss_bytes answer,
							   fluss_lookup_result **results, int *nresults,
							   fluss_error *err)
{
	Fluss__PrefixLookupResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__prefix_lookup_response__descriptor,
							 answer, prefix_lookup_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_buckets_resp,
							  sizeof(**results), prefix_lookup_api,
							  (void **) results, nresults, err);
	for (int i = 0; status == FLUSS_OK && i < *nresults; i++)
		status = read_prefix_bucket(arena, response->buckets_resp[i],
									&(*results)[i], err);
	return status;
}

/* ---- limit scan */

fluss_status
fluss_rpc_encode_limit_scan(const fluss_host *host, int64_t table_id,
							int64_t partition_id, int32_t bucket,
							int32_t limit, fluss_buf *out, fluss_error *err)
{
	Fluss__LimitScanRequest request = FLUSS__LIMIT_SCAN_REQUEST__INIT;

	request.table_id = table_id;
	FLUSS_PB_SET_BUCKET(&request, partition_id, bucket);
	request.limit = limit;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_limit_scan(fluss_arena *arena, fluss_bytes answer,
							fluss_limit_scan_result *result, fluss_error *err)
{
	Fluss__LimitScanResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__limit_scan_response__descriptor,
							 answer, limit_scan_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	memset(result, 0, sizeof(*result));
	result->error_code = response->has_error_code ? response->error_code : 0;
	result->error_message = response->error_message;
	result->is_log_table = response->has_is_log_table && response->is_log_table;
	if (response->has_records)
		result->records = fluss_pb_bytes(response->records);
	return FLUSS_OK;
}

/* ---- produce log and put kv */

/* NULL when there is no memory. */
static Fluss__PbRecordsForBucket **
new_records(fluss_arena *scratch, const fluss_write_bucket *buckets,
			int nbuckets)
{
	Fluss__PbRecordsForBucket *entries;
	Fluss__PbRecordsForBucket **list;

	entries = fluss_pb_list(scratch, &fluss__pb_records_for_bucket__descriptor,
							nbuckets, &list);
	if (entries == NULL)
		return NULL;
	for (int i = 0; i < nbuckets; i++)
	{
		FLUSS_PB_SET_BUCKET(&entries[i], buckets[i].partition_id,
							buckets[i].bucket);
		entries[i].records = fluss_pb_data(buckets[i].records);
	}
	return list;
}

fluss_status
fluss_rpc_encode_produce(const fluss_host *host, int64_t table_id, int acks,
						 int32_t timeout_ms, const fluss_write_bucket *buckets,
						 int nbuckets, fluss_buf *out, fluss_error *err)
{
	Fluss__ProduceLogRequest request = FLUSS__PRODUCE_LOG_REQUEST__INIT;
	fluss_arena scratch;

	fluss_arena_init(&scratch, host);
	request.acks = acks;
	request.table_id = table_id;
	request.timeout_ms = timeout_ms;
	request.n_buckets_req = nbuckets;
	request.buckets_req = new_records(&scratch, buckets, nbuckets);
	return fluss_pb_finish(&scratch,
						   request.buckets_req != NULL ? &request : NULL, out,
						   err);
}

fluss_status
fluss_rpc_encode_put(const fluss_host *host, int64_t table_id, int acks,
					 int32_t timeout_ms, const int32_t *target_columns,
					 int ntarget_columns, bool overwrite,
					 const fluss_write_bucket *buckets, int nbuckets,
					 fluss_buf *out, fluss_error *err)
{
	Fluss__PutKvRequest request = FLUSS__PUT_KV_REQUEST__INIT;
	fluss_arena scratch;

	fluss_arena_init(&scratch, host);
	request.acks = acks;
	request.table_id = table_id;
	request.timeout_ms = timeout_ms;
	request.n_target_columns = ntarget_columns;
	request.target_columns = (int32_t *) target_columns;
	request.has_agg_mode = overwrite;
	request.agg_mode = overwrite ? 1 : 0;
	request.n_buckets_req = nbuckets;
	request.buckets_req = new_records(&scratch, buckets, nbuckets);
	return fluss_pb_finish(&scratch,
						   request.buckets_req != NULL ? &request : NULL, out,
						   err);
}

static fluss_status
read_written_bucket(const Fluss__PbWrittenForBucket *entry, const char *api,
					fluss_write_result *result, fluss_error *err)
{
	READ_BUCKET_HEAD(result, entry, api, err);
	if (result->error_code == 0 && !entry->has_offset)
		return fluss_pb_malformed(err, api,
								  "A bucket has neither an offset nor an error.");
	result->offset = entry->has_offset ? entry->offset : -1;
	return FLUSS_OK;
}

static fluss_status
decode_written(fluss_arena *arena, fluss_bytes answer, const char *api,
			   fluss_write_result **results, int *nresults, fluss_error *err)
{
	Fluss__WriteResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__write_response__descriptor,
							 answer, api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_buckets_resp,
							  sizeof(**results), api, (void **) results,
							  nresults, err);
	for (int i = 0; status == FLUSS_OK && i < *nresults; i++)
		status = read_written_bucket(response->buckets_resp[i], api,
									 &(*results)[i], err);
	return status;
}

fluss_status
fluss_rpc_decode_produce(fluss_arena *arena, fluss_bytes answer,
						 fluss_write_result **results, int *nresults,
						 fluss_error *err)
{
	return decode_written(arena, answer, produce_api, results, nresults, err);
}

fluss_status
fluss_rpc_decode_put(fluss_arena *arena, fluss_bytes answer,
					 fluss_write_result **results, int *nresults,
					 fluss_error *err)
{
	return decode_written(arena, answer, put_api, results, nresults, err);
}

/* ---- list offsets */

fluss_status
fluss_rpc_encode_list_offsets(const fluss_host *host, int64_t table_id,
							  int64_t partition_id, fluss_offset_kind kind,
							  int64_t timestamp_ms, const int32_t *buckets,
							  int nbuckets, fluss_buf *out, fluss_error *err)
{
	Fluss__ListOffsetsRequest request = FLUSS__LIST_OFFSETS_REQUEST__INIT;

	request.follower_server_id = FOLLOWER_NONE;
	request.offset_type = kind;
	request.table_id = table_id;
	request.has_partition_id = partition_id != FLUSS_NO_PARTITION;
	request.partition_id = partition_id;
	request.n_bucket_id = nbuckets;
	request.bucket_id = (int32_t *) buckets;
	request.has_start_timestamp = kind == FLUSS_OFFSET_AT_TIMESTAMP;
	request.start_timestamp = timestamp_ms;
	return fluss_pb_pack(&request, out, err);
}

static fluss_status
read_offset_bucket(const Fluss__PbListOffsetsRespForBucket *entry,
				   fluss_offset_result *result, fluss_error *err)
{
	fluss_status status = check_bucket(entry->bucket_id, list_offsets_api, err);

	if (status != FLUSS_OK)
		return status;
	result->bucket = entry->bucket_id;
	result->error_code = entry->has_error_code ? entry->error_code : 0;
	result->error_message = entry->error_message;
	if (result->error_code == 0 &&
		(!entry->has_offset || entry->offset < FLUSS_OFFSET_UNKNOWN))
		return fluss_pb_malformed(err, list_offsets_api,
								  "A bucket has neither an offset nor an error.");
	result->offset = entry->has_offset ? entry->offset : FLUSS_OFFSET_UNKNOWN;
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_list_offsets(fluss_arena *arena, fluss_bytes answer,
							  fluss_offset_result **results, int *nresults,
							  fluss_error *err)
{
	Fluss__ListOffsetsResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__list_offsets_response__descriptor,
							 answer, list_offsets_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_buckets_resp,
							  sizeof(**results), list_offsets_api,
							  (void **) results, nresults, err);
	for (int i = 0; status == FLUSS_OK && i < *nresults; i++)
		status = read_offset_bucket(response->buckets_resp[i],
									&(*results)[i], err);
	return status;
}

/* ---- table statistics */

fluss_status
fluss_rpc_encode_stats(const fluss_host *host, int64_t table_id,
					   int64_t partition_id, const int32_t *buckets,
					   int nbuckets, fluss_buf *out, fluss_error *err)
{
	Fluss__GetTableStatsRequest request = FLUSS__GET_TABLE_STATS_REQUEST__INIT;
	Fluss__PbTableStatsReqForBucket *entries;
	fluss_arena scratch;

	fluss_arena_init(&scratch, host);
	request.table_id = table_id;
	request.n_buckets_req = nbuckets;
	entries = fluss_pb_list(&scratch,
							&fluss__pb_table_stats_req_for_bucket__descriptor,
							nbuckets, &request.buckets_req);
	for (int i = 0; entries != NULL && i < nbuckets; i++)
		FLUSS_PB_SET_BUCKET(&entries[i], partition_id, buckets[i]);
	return fluss_pb_finish(&scratch, entries != NULL ? &request : NULL, out,
						   err);
}

static fluss_status
read_stats_bucket(const Fluss__PbTableStatsRespForBucket *entry,
				  fluss_stats_result *result, fluss_error *err)
{
	READ_BUCKET_HEAD(result, entry, stats_api, err);
	result->row_count = -1;
	if (result->error_code == 0 && entry->has_row_count &&
		entry->row_count >= 0)
		result->row_count = entry->row_count;
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_stats(fluss_arena *arena, fluss_bytes answer,
					   fluss_stats_result **results, int *nresults,
					   fluss_error *err)
{
	Fluss__GetTableStatsResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__get_table_stats_response__descriptor,
							 answer, stats_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_buckets_resp,
							  sizeof(**results), stats_api, (void **) results,
							  nresults, err);
	for (int i = 0; status == FLUSS_OK && i < *nresults; i++)
		status = read_stats_bucket(response->buckets_resp[i], &(*results)[i],
								   err);
	return status;
}
