/*
 * snapshot_files.c
 *	  The newest KV snapshot of a bucket, as files in a local folder.
 *
 * A cluster keeps the newest snapshots of a bucket only, so one that is being
 * copied is leased.  The lease is dropped as soon as the copy is complete or
 * has failed; that request is sent without waiting for its answer, as an
 * interrupted scan must not wait.  A lease whose drop was lost expires.
 *
 * A snapshot may be gone before it is leased: then there is a newer one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "rpc_snapshot.h"
#include "snapshot_copy.h"

#define LEASE_MS		((int64_t) 10 * 60 * 1000)
#define RENEW_MS		(LEASE_MS / 4)
#define MAX_TRIES		4
#define MAX_DEPTH		3

#define CODE_KV_SNAPSHOT_NOT_EXIST	41

typedef struct lease
{
	char		id[40];
	int64_t		snapshot_id;
	bool		asked;			/* it may be there */
	int64_t		since_ms;
} lease;

/* ---- requests */

static fluss_status
call(const fluss_snapshot_source *source, int32_t node, fluss_api api,
	 const fluss_buf *body, fluss_request **answer, fluss_error *err)
{
	return fluss_request_call(source->client, node, api, body->data,
							  body->size, fluss_client_deadline(source->client),
							  &source->counters->requests[FLUSS_REQUEST_SNAPSHOT],
							  answer, err);
}

static fluss_status
find_latest(const fluss_snapshot_source *source, fluss_arena *arena,
			fluss_snapshot_id *snapshot, fluss_error *err)
{
	fluss_table *table = source->table;
	fluss_request *answer = NULL;
	int64_t		table_id = table->table_id;
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, source->host);
	status = fluss_rpc_encode_latest_snapshots(table->database, table->name,
											   source->partition_name, &body,
											   err);
	if (status == FLUSS_OK)
		status = call(source, FLUSS_NODE_ANY_TABLET,
					  FLUSS_API_GET_LATEST_KV_SNAPSHOTS, &body, &answer, err);
	fluss_buf_free(&body);
	if (status != FLUSS_OK)
		return status;
	status = fluss_rpc_decode_latest_snapshots(arena,
											   fluss_request_answer(answer),
											   source->at.bucket, &table_id,
											   snapshot, err);
	fluss_request_free(answer);
	if (status == FLUSS_OK && table_id != table->table_id)
	{
		fluss_fail(err, FLUSS_TABLE_CHANGED,
				   "Fluss table \"%s\" in database \"%s\" was made again",
				   table->name, table->database);
		fluss_error_detail(err, "Its id was %lld and is %lld now.",
						   (long long) table->table_id, (long long) table_id);
		return err->status;
	}
	return status;
}

/* To RocksDB a folder without this file is a new database, without a row. */
static fluss_status
check_files(const fluss_snapshot_source *source,
			const fluss_snapshot_id *snapshot, const fluss_snapshot_file *files,
			int nfiles, fluss_error *err)
{
	for (int i = 0; i < nfiles; i++)
	{
		if (strcmp(files[i].name, "CURRENT") == 0)
			return FLUSS_OK;
	}
	return fluss_fail(err, FLUSS_MALFORMED,
					  "KV snapshot %lld of bucket %d of table \"%s.%s\" is not complete: it has no file CURRENT",
					  (long long) snapshot->snapshot_id,
					  (int) source->at.bucket, source->table->database,
					  source->table->name);
}

static fluss_status
list_files(const fluss_snapshot_source *source, fluss_arena *arena,
		   const fluss_snapshot_id *snapshot, fluss_snapshot_file **files,
		   int *nfiles, fluss_error *err)
{
	fluss_request *answer = NULL;
	int64_t		log_offset = snapshot->log_offset;
	fluss_buf	body;
	fluss_status status;

	fluss_buf_init(&body, source->host);
	status = fluss_rpc_encode_snapshot_files(source->table->table_id,
											 &source->at,
											 snapshot->snapshot_id, &body, err);
	if (status == FLUSS_OK)
		status = call(source, FLUSS_NODE_ANY_TABLET,
					  FLUSS_API_GET_KV_SNAPSHOT_METADATA, &body, &answer, err);
	fluss_buf_free(&body);
	if (status != FLUSS_OK)
		return status;
	status = fluss_rpc_decode_snapshot_files(arena,
											 fluss_request_answer(answer),
											 &log_offset, files, nfiles, err);
	fluss_request_free(answer);
	if (status == FLUSS_OK && log_offset != snapshot->log_offset)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "KV snapshot %lld of bucket %d is said to end at offset %lld and at %lld",
						  (long long) snapshot->snapshot_id,
						  (int) source->at.bucket,
						  (long long) snapshot->log_offset,
						  (long long) log_offset);
	return status != FLUSS_OK ? status :
		check_files(source, snapshot, *files, *nfiles, err);
}

/* ---- the lease */

static fluss_status
name_lease(lease *l, fluss_error *err)
{
	uint8_t		b[16];

	if (getrandom(b, sizeof(b), 0) != (ssize_t) sizeof(b))
		return fluss_fail(err, FLUSS_SEND_FAILED,
						  "could not get random bytes: %s", strerror(errno));
	snprintf(l->id, sizeof(l->id),
			 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			 b[0], b[1], b[2], b[3], b[4], b[5], (b[6] & 0x0f) | 0x40, b[7],
			 (b[8] & 0x3f) | 0x80, b[9], b[10], b[11], b[12], b[13], b[14],
			 b[15]);
	return FLUSS_OK;
}

/* Takes the lease, or takes it anew. */
static fluss_status
acquire(const fluss_snapshot_source *source, lease *l, bool *available,
		fluss_error *err)
{
	fluss_request *answer = NULL;
	fluss_arena arena;
	fluss_buf	body;
	fluss_status status;

	*available = true;
	l->since_ms = source->host->now_ms(source->host->arg);
	fluss_buf_init(&body, source->host);
	status = fluss_rpc_encode_acquire_lease(l->id, LEASE_MS,
											source->table->table_id,
											&source->at, l->snapshot_id, &body,
											err);
	if (status == FLUSS_OK)
	{
		l->asked = true;
		status = call(source, FLUSS_NODE_COORDINATOR,
					  FLUSS_API_ACQUIRE_KV_SNAPSHOT_LEASE, &body, &answer, err);
	}
	fluss_buf_free(&body);
	if (status == FLUSS_UNSUPPORTED)
	{
		/* a server without leases: the copy may have to begin again */
		l->asked = false;
		return FLUSS_OK;
	}
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, source->host);
	status = fluss_rpc_decode_acquire_lease(&arena,
											fluss_request_answer(answer),
											available, err);
	fluss_arena_free(&arena);
	fluss_request_free(answer);
	return status;
}

/* A lease that lasts as long as the copy does. */
typedef struct kept_lease
{
	const fluss_snapshot_source *source;
	lease	   *lease;
} kept_lease;

static fluss_status
renew(void *arg, fluss_error *err)
{
	const kept_lease *kept = arg;
	const fluss_host *host = kept->source->host;
	bool		available;

	if (host->now_ms(host->arg) - kept->lease->since_ms <= RENEW_MS)
		return FLUSS_OK;
	return acquire(kept->source, kept->lease, &available, err);
}

static void
drop(const fluss_snapshot_source *source, lease *l)
{
	fluss_request *request = NULL;
	fluss_buf	body;
	fluss_error ignored;

	if (!l->asked)
		return;
	l->asked = false;
	fluss_buf_init(&body, source->host);
	if (fluss_rpc_encode_drop_lease(l->id, &body, &ignored) == FLUSS_OK &&
		fluss_request_start(source->client, FLUSS_NODE_COORDINATOR,
							FLUSS_API_DROP_KV_SNAPSHOT_LEASE, body.data,
							body.size, fluss_client_deadline(source->client),
							&request, &ignored) == FLUSS_OK)
	{
		source->counters->requests[FLUSS_REQUEST_SNAPSHOT]++;
		fluss_cluster_pump(source->client);
		fluss_request_free(request);
	}
	fluss_buf_free(&body);
}

/* ---- files */

static void
remove_below(int parent, const char *name, int depth)
{
	int			fd = openat(parent, name,
							O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR		   *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (dir == NULL)
	{
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((entry = readdir(dir)) != NULL)
	{
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) != 0 && depth < MAX_DEPTH)
			remove_below(fd, entry->d_name, depth + 1);
	}
	closedir(dir);
	(void) unlinkat(parent, name, AT_REMOVEDIR);
}

void
fluss_snapshot_remove(const char *folder)
{
	remove_below(AT_FDCWD, folder, 0);
}

int64_t
fluss_snapshot_size(const char *folder)
{
	DIR		   *dir = opendir(folder);
	struct dirent *entry;
	struct stat status;
	int64_t		size = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (fstatat(dirfd(dir), entry->d_name, &status,
					AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
			size += (int64_t) status.st_size;
	}
	if (dir != NULL)
		closedir(dir);
	return size;
}

fluss_status
fluss_snapshot_fail_size(const fluss_table *table, int32_t bucket,
						 fluss_error *err)
{
	fluss_fail(err, FLUSS_MEMORY_CAP,
			   "the KV snapshot and the changes of bucket %d of table \"%s.%s\" take more disk space than is allowed",
			   (int) bucket, table->database, table->name);
	fluss_error_hint(err, "Raise temp_file_limit.");
	return err->status;
}

/* ---- all of it */

static fluss_status
make_folder(const fluss_snapshot_source *source, fluss_error *err)
{
	fluss_snapshot_remove(source->folder);
	if (mkdir(source->folder, 0700) != 0)
		return fluss_snapshot_fail_file("create folder", source->folder, errno, err);
	return FLUSS_OK;
}

static fluss_status
copy_snapshot(const fluss_snapshot_source *source, fluss_arena *arena,
			  const fluss_snapshot_id *snapshot, bool *gone, fluss_error *err)
{
	lease		l = {.snapshot_id = snapshot->snapshot_id};
	kept_lease	kept = {.source = source, .lease = &l};
	fluss_snapshot_file *files;
	int			nfiles;
	bool		available;
	fluss_status status;

	*gone = false;
	status = name_lease(&l, err);
	if (status == FLUSS_OK)
		status = acquire(source, &l, &available, err);
	if (status == FLUSS_OK && !available)
		status = fluss_fail(err, FLUSS_DATA_LOST,
							"KV snapshot %lld of bucket %d of table \"%s.%s\" is gone",
							(long long) snapshot->snapshot_id,
							(int) source->at.bucket, source->table->database,
							source->table->name);
	if (status == FLUSS_OK)
		status = list_files(source, arena, snapshot, &files, &nfiles, err);
	if (status == FLUSS_OK)
		status = fluss_snapshot_copy_files(source, files, nfiles, renew, &kept,
										   err);
	drop(source, &l);
	*gone = status == FLUSS_DATA_LOST ||
		(status == FLUSS_SERVER_ERROR &&
		 err->server_code == CODE_KV_SNAPSHOT_NOT_EXIST);
	return status;
}

fluss_status
fluss_snapshot_copy(const fluss_snapshot_source *source, bool *exists,
					int64_t *log_offset, fluss_error *err)
{
	int64_t		failed = -1;
	fluss_error cause;

	for (int attempt = 0;; attempt++)
	{
		fluss_snapshot_id snapshot = {.snapshot_id = -1};
		fluss_arena arena;
		bool		gone = false;
		fluss_status status;

		fluss_arena_init(&arena, source->host);
		status = find_latest(source, &arena, &snapshot, err);
		if (status == FLUSS_OK)
			status = make_folder(source, err);
		*exists = snapshot.snapshot_id >= 0;
		*log_offset = *exists ? snapshot.log_offset : 0;
		if (status == FLUSS_OK && *exists)
		{
			/* the same one again will fail again */
			if (snapshot.snapshot_id == failed || attempt == MAX_TRIES)
			{
				*err = cause;
				status = cause.status;
			}
			else
				status = copy_snapshot(source, &arena, &snapshot, &gone, err);
		}
		fluss_arena_free(&arena);
		if (!gone)
			return status;
		failed = snapshot.snapshot_id;
		cause = *err;
	}
}
