/*
 * kvscan_test.c
 *	  Server scans, and the requests of snapshot reads, against a simulated
 *	  server.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_remote.h"
#include "fluss.pb-c.h"
#include "row.h"
#include "rpc_pb.h"

#define PAGE_ROWS	7
#define MAX_FILES	7

static const int32_t columns[] = {2, 1};
static fluss_kvscan_options options;
/* for the copies of a test: others may run on the machine, or have failed */
static char folder[64];

/* the server's scanners, by bucket */
static struct
{
	int			given[4];
	int			call[4];
	int			opened;
	int			closed;
	int			finished;
	int			open_error;		/* for the next openings */
	int			nopen_errors;
	int			page_error;		/* for the third page of bucket 1 */
	bool		refused;		/* the server does not offer it */
	char		lease[40];		/* the one that is there; "": none */
	int			leases;			/* that were taken and not dropped */
	int			acquired;
	bool		snapshot_gone;
	const char *file;			/* of the snapshots; NULL: they have but ... */
	int			more_files;		/* like it */
	bool		no_current;		/* ... this one, unless they lack it */
}			server;

static void
put_page(fluss_buf *rows, int bucket, int from, int n)
{
	fluss_error err;

	fluss_buf_u32le(rows, 0);
	fluss_buf_u8(rows, 0);
	fluss_buf_u32le(rows, (uint32_t) n);
	for (int i = 0; i < n; i++)
	{
		size_t		start = rows->size;
		fluss_value values[3];
		char		name[24];

		fake_row(bucket * 1000 + from + i, 3, values, name);
		fluss_buf_u32le(rows, 0);
		fluss_buf_u16le(rows, 2);
		assert_fluss_ok(fluss_row_encode(FLUSS_FORMAT_COMPACTED,
										 &fake.schemas[2], values, rows, &err),
						&err);
		fluss_store_u32le(rows->data + start,
						  (uint32_t) (rows->size - start - 4));
	}
	fluss_store_u32le(rows->data, (uint32_t) (rows->size - 4));
}

static void
scan_kv(fluss_request *request, const uint8_t *body, size_t size)
{
	Fluss__ScanKvRequest *ask = fluss__scan_kv_request__unpack(NULL, size, body);
	Fluss__ScanKvResponse answer = FLUSS__SCAN_KV_RESPONSE__INIT;
	uint8_t		scanner[1];
	fluss_error err;
	fluss_buf	rows;
	int			bucket;

	fluss_buf_init(&rows, fake_host());
	assert_true((ask->bucket_scan_req == NULL) == ask->has_scanner_id);
	if (ask->bucket_scan_req != NULL)
	{
		bucket = ask->bucket_scan_req->bucket_id;
		assert_int_equal(ask->call_seq_id, 0);
		if (server.nopen_errors > 0)
		{
			server.nopen_errors--;
			answer.has_error_code = 1;
			answer.error_code = server.open_error;
		}
		else
		{
			server.opened++;
			server.given[bucket] = server.call[bucket] = 0;
			answer.has_log_offset = 1;
			answer.log_offset = 500 + bucket;
		}
	}
	else
	{
		bucket = ask->scanner_id.data[0];
		if (ask->close_scanner)
			server.closed++;
		else if (server.page_error != 0 && bucket == 1 &&
				 server.call[bucket] == 2)
		{
			answer.has_error_code = 1;
			answer.error_code = server.page_error;
		}
		else
			assert_int_equal(ask->call_seq_id, server.call[bucket]);
	}
	if (!answer.has_error_code && !ask->close_scanner)
	{
		int			left = (int) fake.buckets[bucket].end - server.given[bucket];
		int			n = left < PAGE_ROWS ? left : PAGE_ROWS;

		put_page(&rows, bucket, server.given[bucket], n);
		server.given[bucket] += n;
		server.call[bucket]++;
		answer.has_has_more_results = 1;
		answer.has_more_results = n < left;
		if (n == left)
			server.finished++;
		scanner[0] = (uint8_t) bucket;
		answer.has_scanner_id = fake.buckets[bucket].end > 0;
		answer.scanner_id.data = scanner;
		answer.scanner_id.len = 1;
		answer.has_records = 1;
		answer.records.data = rows.data;
		answer.records.len = rows.size;
	}
	assert_fluss_ok(fluss_pb_pack(&answer, &request->answer, &err), &err);
	fluss_buf_free(&rows);
	fluss__scan_kv_request__free_unpacked(ask, NULL);
}

/* Every bucket has snapshot 3, up to offset 40, of one file or none. */
static bool
answer_snapshot(fluss_request *request, const uint8_t *body, size_t size)
{
	Fluss__GetLatestKvSnapshotsResponse latest = FLUSS__GET_LATEST_KV_SNAPSHOTS_RESPONSE__INIT;
	Fluss__GetKvSnapshotMetadataResponse files = FLUSS__GET_KV_SNAPSHOT_METADATA_RESPONSE__INIT;
	Fluss__AcquireKvSnapshotLeaseResponse lease = FLUSS__ACQUIRE_KV_SNAPSHOT_LEASE_RESPONSE__INIT;
	Fluss__PbKvSnapshot snapshot = FLUSS__PB_KV_SNAPSHOT__INIT;
	Fluss__PbKvSnapshot *snapshots[1] = {&snapshot};
	Fluss__PbRemotePathAndLocalFile file[MAX_FILES];
	Fluss__PbRemotePathAndLocalFile current = FLUSS__PB_REMOTE_PATH_AND_LOCAL_FILE__INIT;
	Fluss__PbRemotePathAndLocalFile *list[MAX_FILES + 1];
	char		names[MAX_FILES][16];
	Fluss__AcquireKvSnapshotLeaseRequest *ask;
	fluss_error err;

	switch (request->api)
	{
		case FLUSS_API_GET_LATEST_KV_SNAPSHOTS:
			latest.table_id = 7;
			latest.n_latest_snapshots = 1;
			latest.latest_snapshots = snapshots;
			snapshot.has_snapshot_id = snapshot.has_log_offset = 1;
			snapshot.snapshot_id = 3;
			snapshot.log_offset = 40;
			assert_fluss_ok(fluss_pb_pack(&latest, &request->answer, &err), &err);
			return true;
		case FLUSS_API_ACQUIRE_KV_SNAPSHOT_LEASE:
			ask = fluss__acquire_kv_snapshot_lease_request__unpack(NULL, size, body);
			assert_int_equal(strlen(ask->lease_id), 36);
			assert_true(ask->lease_duration_ms == 600000);
			assert_true(ask->snapshots_to_lease[0]->bucket_snapshots[0]->snapshot_id == 3);
			server.acquired++;
			if (strcmp(server.lease, ask->lease_id) != 0)
				server.leases++;
			strcpy(server.lease, ask->lease_id);
			fluss__acquire_kv_snapshot_lease_request__free_unpacked(ask, NULL);
			assert_fluss_ok(fluss_pb_pack(&lease, &request->answer, &err), &err);
			return true;
		case FLUSS_API_DROP_KV_SNAPSHOT_LEASE:
			server.leases--;
			return true;
		case FLUSS_API_GET_KV_SNAPSHOT_METADATA:
			files.log_offset = server.snapshot_gone ? 41 : 40;
			current.remote_path = (char *) "zeros:1";
			current.local_file_name = (char *) "CURRENT";
			for (int i = 0; server.file != NULL && i <= server.more_files; i++)
			{
				fluss__pb_remote_path_and_local_file__init(&file[i]);
				snprintf(names[i], sizeof(names[i]), "%06d.sst", i + 1);
				file[i].remote_path = (char *) server.file;
				file[i].local_file_name = names[i];
				list[files.n_snapshot_files++] = &file[i];
			}
			if (!server.no_current)
				list[files.n_snapshot_files++] = &current;
			files.snapshot_files = list;
			assert_fluss_ok(fluss_pb_pack(&files, &request->answer, &err), &err);
			return true;
		default:
			return false;
	}
}

static bool
handle(fluss_request *request, const uint8_t *body, size_t size)
{
	if (request->api != FLUSS_API_SCAN_KV)
		return answer_snapshot(request, body, size);
	if (server.refused)
	{
		/* as a connection does when the server does not list the API */
		request->refused = true;
		return true;
	}
	scan_kv(request, body, size);
	return true;
}

static void
start(void)
{
	fake_start(4, true);
	memset(&server, 0, sizeof(server));
	fake.handler = handle;
	for (int b = 0; b < 4; b++)
		fake.buckets[b].end = b * 10;
	options = (fluss_kvscan_options) {
		.columns = columns, .ncolumns = 2, .mode = FLUSS_KVSCAN_SERVER,
		.max_rows_per_bucket = 15, .max_buffered_bytes = 1 << 24
	};
}

static int
set_up(void **unused)
{
	static int	tests = 0;

	test_set_up(unused);
	snprintf(folder, sizeof(folder), "/tmp/fluss_kvscan_%d_%d", (int) getpid(),
			 ++tests);
	start();
	return 0;
}

static int
tear_down(void **unused)
{
	fake_end();
	return 0;
}

/* Reads up to max rows; every bucket's in its order. */
static fluss_status
read_rows(int max, int *rows, fluss_error *err)
{
	int64_t		next[4] = {0};
	fluss_kvscan *scan = NULL;
	bool		end = false;
	fluss_status status;

	*rows = 0;
	fluss_error_init(err);
	status = fluss_kvscan_open(&fake.client, test_host(), &fake.table,
							   &options, &scan, err);
	while (status == FLUSS_OK && !end && *rows < max)
	{
		fluss_bucket_ref at;
		fluss_value values[2];

		status = fluss_kvscan_next(scan, &end, &at, values, err);
		if (status != FLUSS_OK || end)
			break;
		assert_true(values[1].u.integer ==
					2 * (at.bucket * 1000 + next[at.bucket]));
		next[at.bucket]++;
		(*rows)++;
	}
	fluss_kvscan_close(scan);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
	return status;
}

static void
test_server_scan(void **unused)
{
	fluss_ends *ends;
	fluss_error err;
	int64_t		end;
	int			rows;

	assert_fluss_ok(fluss_ends_open(fake_host(), &ends, &err), &err);
	/* an end that was pinned before stays */
	assert_fluss_ok(fluss_ends_pin(ends, FLUSS_NO_PARTITION, 3, 17, &err), &err);
	options.ends = ends;
	assert_fluss_ok(read_rows(1000, &rows, &err), &err);
	assert_int_equal(rows, 60);
	assert_int_equal(server.opened, 4);
	assert_int_equal(server.finished, 4);
	assert_int_equal(server.closed, 0);
	assert_true(fluss_ends_get(ends, FLUSS_NO_PARTITION, 2, &end) && end == 502);
	assert_true(fluss_ends_get(ends, FLUSS_NO_PARTITION, 3, &end) && end == 17);
	fluss_ends_close(ends);
}

/* A scanner that is not read to its end is closed. */
static void
test_server_scan_is_closed(void **unused)
{
	fluss_error err;
	int			rows;

	assert_fluss_ok(read_rows(3, &rows, &err), &err);
	assert_int_equal(rows, 3);
	assert_int_equal(server.opened, 2);
	assert_int_equal(server.closed + server.finished, 3);
}

static void
test_server_scan_errors(void **unused)
{
	fluss_error err;
	int			rows;

	/* too many scanners, no leader: try again */
	server.open_error = 69;
	server.nopen_errors = 3;
	assert_fluss_ok(read_rows(1000, &rows, &err), &err);
	assert_int_equal(rows, 60);
	start();
	server.open_error = FLUSS_CODE_NOT_LEADER;
	server.nopen_errors = 2;
	assert_fluss_ok(read_rows(1000, &rows, &err), &err);
	assert_int_equal(rows, 60);
	assert_int_equal(fake.nforgets, 2);
	/* an expired scanner cannot be gone on with */
	start();
	fake.buckets[1].end = 40;
	server.page_error = 66;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_SERVER_ERROR);
	assert_int_equal(err.server_code, 66);
	assert_int_equal(err.bucket, 1);
	assert_in_range(rows, 14, 14);
	/* a server before 1.0 */
	start();
	server.refused = true;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_UNSUPPORTED);
}

/* Limit scans up to the first bucket with too many rows. */
static void
test_limit_scans_give_way(void **unused)
{
	fluss_error err;
	int			rows;

	options.mode = FLUSS_KVSCAN_AUTO;
	assert_fluss_ok(read_rows(1000, &rows, &err), &err);
	assert_int_equal(rows, 60);
	assert_int_equal(server.opened, 2);
	/* neither is there */
	server.refused = true;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_UNSUPPORTED);
	assert_int_equal(rows, 10);
}

static void
test_server_scan_unwinds(void **unused)
{
	fluss_error err;
	int			rows;

	for (int n = 1;; n++)
	{
		fluss_status status;

		test_host_fail_alloc_at(n);
		status = read_rows(1000, &rows, &err);
		if (!test_host_alloc_failed())
			break;
		assert_int_equal(status, FLUSS_OUT_OF_MEMORY);
	}
	test_host_fail_alloc_at(0);
	for (int n = 1;; n++)
	{
		fluss_status status;

		fake.interrupt_poll = n;
		status = read_rows(1000, &rows, &err);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
}

/* Of a partitioned table all buckets have to be named, with their partition. */
static void
test_buckets_without_partition(void **unused)
{
	const fluss_bucket_ref bucket = {FLUSS_NO_PARTITION, 0};
	fluss_error err;
	int			rows;

	fake.table.npartition_key = 1;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_INVALID_ARGUMENT);
	options.buckets = &bucket;
	options.nbuckets = 1;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_INVALID_ARGUMENT);
	assert_non_null(strstr(err.message, "names no partition"));
	assert_int_equal(fake.nrequests, 0);
}

/* ---- snapshot reads */

static void
test_program_is_missing(void **unused)
{
	fluss_error err;
	int			rows;

	options.mode = FLUSS_KVSCAN_SNAPSHOT;
	options.snapshot.folder = folder;
	options.snapshot.program = "/nonexistent";
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "not installed"));
	assert_int_equal(fake.nrequests, 0);
}

/* With a program that ends at once. */
static void
by_snapshot(void)
{
	options.mode = FLUSS_KVSCAN_SNAPSHOT;
	options.snapshot = (fluss_snapshot_options) {
		.folder = folder, .program = "/bin/true",
		.fetch_max_bytes = 1 << 20, .fetch_max_bytes_for_bucket = 1 << 20,
		.fetch_inflight = 1
	};
}

/* The lease goes, whatever happens after it was taken. */
static void
test_leases(void **unused)
{
	fluss_error err;
	int			rows;

	by_snapshot();
	/* the log ends before the snapshot does */
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_SEND_FAILED);
	assert_non_null(strstr(err.message, "ended unexpectedly"));
	assert_int_equal(server.acquired, 1);
	assert_int_equal(server.leases, 0);
	server.snapshot_gone = true;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_MALFORMED);
	assert_int_equal(server.acquired, 2);
	assert_int_equal(server.leases, 0);
	server.snapshot_gone = false;
	for (int n = 1; n < 8; n++)
	{
		fake.interrupt_poll = n;
		assert_int_not_equal(read_rows(1000, &rows, &err), FLUSS_OK);
		assert_int_equal(server.leases, 0);
	}
	fake.interrupt_poll = 0;
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* A copy that takes long keeps its lease, which is one and goes with it. */
static void
test_lease_is_renewed(void **unused)
{
	fluss_error err;
	int			rows;

	by_snapshot();
	server.file = "zeros:15000000";
	fake_remote.read_ms = 100000;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_SEND_FAILED);
	assert_int_equal(fake_remote.nreads, 9);
	assert_int_equal(server.acquired, 5);
	assert_int_equal(server.leases, 0);
	fake_remote.missing = 1;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_DATA_LOST);
	assert_int_equal(server.leases, 0);
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* It would be read as a table without rows. */
static void
test_snapshot_is_not_complete(void **unused)
{
	fluss_error err;
	int			rows;

	by_snapshot();
	server.file = "zeros:10";
	server.no_current = true;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_MALFORMED);
	assert_non_null(strstr(err.message, "CURRENT"));
	assert_int_equal(server.leases, 0);
}

/* Reads with a shell script in place of the program. */
static fluss_status
read_by(const char *script, fluss_error *err)
{
	char		path[] = "/tmp/fluss_kvscan_program_XXXXXX";
	int			fd = mkstemp(path);
	fluss_status status;
	int			rows;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, script, strlen(script)), strlen(script));
	assert_int_equal(fchmod(fd, 0700), 0);
	close(fd);
	options.snapshot.program = path;
	status = read_rows(1000, &rows, err);
	unlink(path);
	assert_int_not_equal(access(folder, F_OK), 0);
	return status;
}

/* A program that tells of a row which it does not give. */
static void
test_rows_are_counted(void **unused)
{
	fluss_error err;

	by_snapshot();
	assert_int_equal(read_by("#!/bin/sh\nhead -c 9 > /dev/null\n"
							 "printf '\\377\\377\\377\\377\\1\\0\\0\\0\\0\\0\\0\\0'\n",
							 &err), FLUSS_MALFORMED);
	assert_string_equal(err.message, "0 rows of a KV snapshot came instead of 1");
}

/* In parts that may fail and are tried again. */
static void
test_files_are_copied(void **unused)
{
	static const int sizes[] = {0, 1, 2097152, 2097153, 5000000};
	fluss_error err;

	by_snapshot();
	server.more_files = MAX_FILES - 1;
	for (int i = 0; i < 5; i++)
	{
		int			size = sizes[i];
		char		path[32];
		char		script[128];

		snprintf(path, sizeof(path), "zeros:%d", size);
		snprintf(script, sizeof(script),
				 "#!/bin/sh\n[ $(cat $1/0*.sst | wc -c) = %d ] && exit 5\n",
				 MAX_FILES * size);
		fake_remote_reset();
		fake_remote.lost = i;
		server.file = path;
		assert_int_equal(read_by(script, &err), FLUSS_SEND_FAILED);
		assert_string_equal(err.detail, "Its exit status was 5.");
		assert_true(fake_remote.bytes == (int64_t) MAX_FILES * size + 1);
		assert_int_equal(fake_remote.nreads,
						 i + 1 + MAX_FILES * (1 + size / 2097152));
		assert_int_equal(fake_remote.live, 0);
	}
}

/*
 * Several files at a time; a part that came while another one was asked for is
 * not waited for.
 */
static void
test_files_are_copied_together(void **unused)
{
	fluss_error err;
	int64_t		start = test_host()->now_ms(NULL);
	int			rows;

	by_snapshot();
	server.file = "zeros:5";
	server.more_files = MAX_FILES - 1;
	fake_remote.start_ms = 60;
	fake_remote.read_ms = 100;
	/* the last byte ends it: waiting for the program would take time, too */
	options.snapshot.max_disk_bytes = MAX_FILES * 5;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_MEMORY_CAP);
	assert_int_equal(fake_remote.nreads, MAX_FILES + 1);
	assert_true(test_host()->now_ms(NULL) - start == (MAX_FILES + 1) * 60 + 100);
}

static void
test_copy_unwinds(void **unused)
{
	fluss_error err;
	int			rows;

	by_snapshot();
	server.file = "zeros:5000000";
	server.more_files = MAX_FILES - 1;
	for (int n = 1; n < 40; n++)
	{
		fake.interrupt_poll = n;
		assert_int_not_equal(read_rows(1000, &rows, &err), FLUSS_OK);
		assert_int_equal(server.leases, 0);
		assert_int_equal(fake_remote.live, 0);
	}
	fake.interrupt_poll = 0;
	for (int n = 1;; n++)
	{
		test_host_fail_alloc_at(n);
		assert_int_not_equal(read_rows(1000, &rows, &err), FLUSS_OK);
		assert_int_equal(fake_remote.live, 0);
		if (!test_host_alloc_failed())
			break;
	}
	test_host_fail_alloc_at(0);
	fake_remote.refused = FLUSS_UNSUPPORTED;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_UNSUPPORTED);
	assert_int_equal(fake_remote.live, 0);
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* The copies of all scans that share it count, and what the program writes. */
static void
test_disk_is_bounded(void **unused)
{
	fluss_error err;
	int64_t		others = 1000000;
	int			rows;

	by_snapshot();
	server.file = "zeros:2000000";
	options.snapshot.disk_bytes = &others;
	options.snapshot.max_disk_bytes = 3000000;
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_MEMORY_CAP);
	assert_non_null(strstr(err.hint, "temp_file_limit"));
	assert_true(others == 1000000);
	/* CURRENT has a byte */
	options.snapshot.max_disk_bytes = 3000001;
	assert_int_equal(read_by("#!/bin/sh\n[ $3 = 2000001 ] && exit 3\n", &err),
					 FLUSS_MEMORY_CAP);
	assert_non_null(strstr(err.hint, "temp_file_limit"));
	assert_true(others == 1000000);
	others = 5000000;
	options.snapshot.program = "/bin/true";
	assert_int_equal(read_rows(1000, &rows, &err), FLUSS_MEMORY_CAP);
	options.snapshot.max_disk_bytes = 0;
	assert_int_equal(read_by("#!/bin/sh\n[ $3 = -1 ] && exit 4\n", &err),
					 FLUSS_SEND_FAILED);
	assert_non_null(strstr(err.detail, "4"));
	assert_true(others == 5000000);
}

static void
test_disk_is_full(void **unused)
{
	fluss_error err;

	by_snapshot();
	assert_int_equal(read_by("#!/bin/sh\nhead -c 9 > /dev/null\n"
							 "printf '\\376\\377\\377\\377\\50\\0\\0\\0IO error: No space left on device: a.sst'\n",
							 &err), FLUSS_DISK_FULL);
	assert_string_equal(err.detail, "RocksDB says: IO error: No space left on device: a.sst");
	assert_int_equal(read_by("#!/bin/sh\nhead -c 9 > /dev/null\n"
							 "printf '\\376\\377\\377\\377\\21\\0\\0\\0Corruption: a.sst'\n",
							 &err), FLUSS_MALFORMED);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_server_scan, set_up),
		cmocka_unit_test_setup(test_server_scan_is_closed, set_up),
		cmocka_unit_test_setup(test_server_scan_errors, set_up),
		cmocka_unit_test_setup(test_limit_scans_give_way, set_up),
		cmocka_unit_test_setup(test_server_scan_unwinds, set_up),
		cmocka_unit_test_setup(test_buckets_without_partition, set_up),
		cmocka_unit_test_setup(test_program_is_missing, set_up),
		cmocka_unit_test_setup(test_leases, set_up),
		cmocka_unit_test_setup(test_lease_is_renewed, set_up),
		cmocka_unit_test_setup(test_snapshot_is_not_complete, set_up),
		cmocka_unit_test_setup(test_rows_are_counted, set_up),
		cmocka_unit_test_setup(test_files_are_copied, set_up),
		cmocka_unit_test_setup(test_files_are_copied_together, set_up),
		cmocka_unit_test_setup(test_copy_unwinds, set_up),
		cmocka_unit_test_setup(test_disk_is_bounded, set_up),
		cmocka_unit_test_setup(test_disk_is_full, set_up)
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
