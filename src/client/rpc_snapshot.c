/*
 * rpc_snapshot.c
 *	  Messages about KV snapshots and of server-side scans, to and from bytes.
 *
 * File names in an answer become names in a folder of ours: one that could
 * lead out of it makes the answer malformed.
 */
#include "rpc_pb.h"
#include "rpc_snapshot.h"

static const char *const latest_api = "GET_LATEST_KV_SNAPSHOTS";
static const char *const files_api = "GET_KV_SNAPSHOT_METADATA";
static const char *const acquire_api = "ACQUIRE_KV_SNAPSHOT_LEASE";
static const char *const scan_api = "SCAN_KV";

#define MAX_FILE_NAME	200

/* ---- the newest snapshot of a bucket */

fluss_status
fluss_rpc_encode_latest_snapshots(const char *database, const char *table,
								  const char *partition_name, fluss_buf *out,
								  fluss_error *err)
{
	Fluss__GetLatestKvSnapshotsRequest request = FLUSS__GET_LATEST_KV_SNAPSHOTS_REQUEST__INIT;
	Fluss__PbTablePath path = FLUSS__PB_TABLE_PATH__INIT;

	path.database_name = (char *) database;
	path.table_name = (char *) table;
	request.table_path = &path;
	request.partition_name = (char *) partition_name;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_latest_snapshots(fluss_arena *arena, fluss_bytes answer,
								  int32_t bucket, int64_t *table_id,
								  fluss_snapshot_id *snapshot,
								  fluss_error *err)
{
	Fluss__GetLatestKvSnapshotsResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__get_latest_kv_snapshots_response__descriptor,
							 answer, latest_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	*table_id = response->table_id;
	*snapshot = (fluss_snapshot_id) {.snapshot_id = -1};
	for (size_t i = 0; i < response->n_latest_snapshots; i++)
	{
		const Fluss__PbKvSnapshot *entry = response->latest_snapshots[i];

		if (entry->bucket_id != bucket || !entry->has_snapshot_id)
			continue;
		if (entry->snapshot_id < 0 || !entry->has_log_offset ||
			entry->log_offset < 0)
			return fluss_pb_malformed(err, latest_api,
									  "A snapshot's id or offset is negative.");
		snapshot->snapshot_id = entry->snapshot_id;
		snapshot->log_offset = entry->log_offset;
	}
	return FLUSS_OK;
}

/* ---- its files */

fluss_status
fluss_rpc_encode_snapshot_files(int64_t table_id, const fluss_bucket_ref *at,
								int64_t snapshot_id, fluss_buf *out,
								fluss_error *err)
{
	Fluss__GetKvSnapshotMetadataRequest request = FLUSS__GET_KV_SNAPSHOT_METADATA_REQUEST__INIT;

	request.table_id = table_id;
	FLUSS_PB_SET_BUCKET(&request, at->partition_id, at->bucket);
	request.snapshot_id = snapshot_id;
	return fluss_pb_pack(&request, out, err);
}

static bool
is_plain_name(const char *name)
{
	return name[0] != '\0' && name[0] != '.' &&
		strchr(name, '/') == NULL && strlen(name) <= MAX_FILE_NAME;
}

fluss_status
fluss_rpc_decode_snapshot_files(fluss_arena *arena, fluss_bytes answer,
								int64_t *log_offset,
								fluss_snapshot_file **files, int *nfiles,
								fluss_error *err)
{
	Fluss__GetKvSnapshotMetadataResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__get_kv_snapshot_metadata_response__descriptor,
							 answer, files_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	if (response->log_offset < 0)
		return fluss_pb_malformed(err, files_api,
								  "The snapshot's offset is negative.");
	*log_offset = response->log_offset;
	status = fluss_pb_results(arena, response->n_snapshot_files,
							  sizeof(**files), files_api, (void **) files,
							  nfiles, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < *nfiles; i++)
	{
		(*files)[i].remote_path = response->snapshot_files[i]->remote_path;
		(*files)[i].name = response->snapshot_files[i]->local_file_name;
		if (!is_plain_name((*files)[i].name))
			return fluss_pb_malformed(err, files_api,
									  "The name of a file is not valid.");
	}
	return FLUSS_OK;
}

/* ---- leases */

fluss_status
fluss_rpc_encode_acquire_lease(const char *lease_id, int64_t duration_ms,
							   int64_t table_id, const fluss_bucket_ref *at,
							   int64_t snapshot_id, fluss_buf *out,
							   fluss_error *err)
{
	Fluss__AcquireKvSnapshotLeaseRequest request = FLUSS__ACQUIRE_KV_SNAPSHOT_LEASE_REQUEST__INIT;
	Fluss__PbKvSnapshotLeaseForTable table = FLUSS__PB_KV_SNAPSHOT_LEASE_FOR_TABLE__INIT;
	Fluss__PbKvSnapshotLeaseForBucket bucket = FLUSS__PB_KV_SNAPSHOT_LEASE_FOR_BUCKET__INIT;
	Fluss__PbKvSnapshotLeaseForTable *tables[1] = {&table};
	Fluss__PbKvSnapshotLeaseForBucket *buckets[1] = {&bucket};

	FLUSS_PB_SET_BUCKET(&bucket, at->partition_id, at->bucket);
	bucket.snapshot_id = snapshot_id;
	table.table_id = table_id;
	table.n_bucket_snapshots = 1;
	table.bucket_snapshots = buckets;
	request.lease_id = (char *) lease_id;
	request.lease_duration_ms = duration_ms;
	request.n_snapshots_to_lease = 1;
	request.snapshots_to_lease = tables;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_acquire_lease(fluss_arena *arena, fluss_bytes answer,
							   bool *available, fluss_error *err)
{
	Fluss__AcquireKvSnapshotLeaseResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__acquire_kv_snapshot_lease_response__descriptor,
							 answer, acquire_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	*available = true;
	for (size_t i = 0; i < response->n_unavailable_snapshots; i++)
	{
		if (response->unavailable_snapshots[i]->n_bucket_snapshots > 0)
			*available = false;
	}
	return FLUSS_OK;
}

fluss_status
fluss_rpc_encode_drop_lease(const char *lease_id, fluss_buf *out,
							fluss_error *err)
{
	Fluss__DropKvSnapshotLeaseRequest request = FLUSS__DROP_KV_SNAPSHOT_LEASE_REQUEST__INIT;

	request.lease_id = (char *) lease_id;
	return fluss_pb_pack(&request, out, err);
}

/* ---- server-side scans */

fluss_status
fluss_rpc_encode_scan_kv(int64_t table_id, const fluss_bucket_ref *at,
						 const fluss_bytes *scanner, int32_t call,
						 int32_t batch_bytes, bool close, fluss_buf *out,
						 fluss_error *err)
{
	Fluss__ScanKvRequest request = FLUSS__SCAN_KV_REQUEST__INIT;
	Fluss__PbScanReqForBucket bucket = FLUSS__PB_SCAN_REQ_FOR_BUCKET__INIT;

	if (scanner != NULL)
	{
		request.has_scanner_id = true;
		request.scanner_id = fluss_pb_data(*scanner);
	}
	else
	{
		bucket.table_id = table_id;
		FLUSS_PB_SET_BUCKET(&bucket, at->partition_id, at->bucket);
		request.bucket_scan_req = &bucket;
	}
	if (close)
	{
		request.has_close_scanner = true;
		request.close_scanner = true;
	}
	else
	{
		request.has_call_seq_id = true;
		request.call_seq_id = call;
		request.has_batch_size_bytes = true;
		request.batch_size_bytes = batch_bytes;
	}
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_scan_kv(fluss_arena *arena, fluss_bytes answer,
						 fluss_scan_kv_result *result, fluss_error *err)
{
	Fluss__ScanKvResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__scan_kv_response__descriptor,
							 answer, scan_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	memset(result, 0, sizeof(*result));
	result->error_code = response->has_error_code ? response->error_code : 0;
	result->error_message = response->error_message;
	if (response->has_scanner_id)
		result->scanner = fluss_pb_bytes(response->scanner_id);
	if (response->has_records)
		result->records = fluss_pb_bytes(response->records);
	result->more = response->has_has_more_results && response->has_more_results;
	result->log_offset = response->has_log_offset ? response->log_offset : -1;
	if (result->error_code == 0 && result->more && result->scanner.data == NULL)
		return fluss_pb_malformed(err, scan_api,
								  "There is more to read, but no scanner.");
	return FLUSS_OK;
}
