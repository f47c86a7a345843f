/*
 * snapshot_copy.c
 *	  The files of a KV snapshot, copied into a local folder.
 *
 * From an object store a copy is mostly waiting, so several files are copied
 * at a time, each part after part.  A read may be finished by whatever serves
 * the client's sockets, the start of another one included: so before every
 * wait it is looked whether there is anything to wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "error.h"
#include "remote.h"
#include "retry.h"
#include "snapshot_copy.h"

/* Files at a time, and bytes of a part. */
#define LANES			4
#define PART_BYTES		((size_t) 2 * 1024 * 1024)
#define LONG_WAIT_MS	60000
#define MAX_PATH		1024

/* A file that is being copied. */
typedef struct lane
{
	int			fd;				/* -1: no file */
	const char *remote_path;
	char		path[MAX_PATH];
	int64_t		offset;
	uint8_t    *buffer;			/* of part_bytes; NULL: not needed yet */
	fluss_remote_read *read;	/* while it goes on */
	fluss_retry retry;
} lane;

typedef struct copy
{
	const fluss_snapshot_source *source;
	const fluss_snapshot_file *files;
	int			nfiles;
	int			next_file;
	size_t		part_bytes;
	int64_t		copied;			/* bytes, of all files */
	lane		lanes[LANES];
} copy;

fluss_status
fluss_snapshot_fail_file(const char *what, const char *path, int error,
						 fluss_error *err)
{
	fluss_fail(err, error == ENOSPC || error == EDQUOT ? FLUSS_DISK_FULL :
			   FLUSS_SEND_FAILED, "could not %s \"%.150s\": %s", what, path,
			   strerror(error));
	return err->status;
}

/* ---- one file */

static fluss_status
open_file(copy *c, lane *l, const fluss_snapshot_file *file, fluss_error *err)
{
	const fluss_host *host = c->source->host;

	if (snprintf(l->path, sizeof(l->path), "%s/%s", c->source->folder,
				 file->name) >= (int) sizeof(l->path))
		return fluss_snapshot_fail_file("create file", file->name,
										ENAMETOOLONG, err);
	if (l->buffer == NULL)
		l->buffer = host->alloc(host->arg, c->part_bytes);
	if (l->buffer == NULL)
		return fluss_fail_memory(err);
	l->fd = open(l->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (l->fd < 0)
		return fluss_snapshot_fail_file("create file", l->path, errno, err);
	l->remote_path = file->remote_path;
	l->offset = 0;
	fluss_retry_clear(&l->retry);
	return FLUSS_OK;
}

static fluss_status
close_file(lane *l, fluss_error *err)
{
	int			fd = l->fd;

	l->fd = -1;
	return close(fd) == 0 ? FLUSS_OK :
		fluss_snapshot_fail_file("write to", l->path, errno, err);
}

static fluss_status
write_all(const lane *l, size_t size, fluss_error *err)
{
	const uint8_t *data = l->buffer;

	while (size > 0)
	{
		ssize_t		n = write(l->fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fluss_snapshot_fail_file("write to", l->path,
											n == 0 ? ENOSPC : errno, err);
		data += n;
		size -= (size_t) n;
	}
	return FLUSS_OK;
}

static fluss_status
check_disk(const copy *c, fluss_error *err)
{
	const fluss_snapshot_source *source = c->source;

	if (source->max_disk_bytes < 0 || c->copied <= source->max_disk_bytes)
		return FLUSS_OK;
	return fluss_snapshot_fail_size(source->table, source->at.bucket, err);
}

static void
end_read(lane *l)
{
	if (l->read != NULL)
		fluss_remote_free(l->read);
	l->read = NULL;
}

/* A part came; a short one is the file's last. */
static fluss_status
store_part(copy *c, lane *l, fluss_error *err)
{
	size_t		count = fluss_remote_size(l->read);
	fluss_status status;

	end_read(l);
	fluss_retry_clear(&l->retry);
	c->copied += (int64_t) count;
	c->source->counters->bytes += (int64_t) count;
	l->offset += (int64_t) count;
	status = check_disk(c, err);
	if (status == FLUSS_OK)
		status = write_all(l, count, err);
	if (status == FLUSS_OK && count < c->part_bytes)
		status = close_file(l, err);
	return status;
}

/* Tried again while the network is to blame. */
static fluss_status
note_failure(copy *c, lane *l, const fluss_error *cause, fluss_error *err)
{
	if (fluss_status_is_network(cause->status))
		return fluss_retry_pause(&l->retry, c->source->client, cause, err);
	*err = *cause;
	return err->status;
}

/* What became of the part; nothing while it is under way. */
static fluss_status
receive_part(copy *c, lane *l, fluss_error *err)
{
	fluss_error cause;

	if (l->read == NULL)
		return FLUSS_OK;
	switch (fluss_remote_state_of(l->read))
	{
		case FLUSS_REQUEST_PENDING:
			break;
		case FLUSS_REQUEST_DONE:
			return store_part(c, l, err);
		case FLUSS_REQUEST_FAILED:
			cause = *fluss_remote_error(l->read);
			end_read(l);
			return note_failure(c, l, &cause, err);
	}
	return FLUSS_OK;
}

/* Asks for the next part, of the next file when there is none. */
static fluss_status
ask_for_part(copy *c, lane *l, fluss_error *err)
{
	const fluss_host *host = c->source->host;
	fluss_error cause;
	fluss_status status;

	if (l->read != NULL)
		return FLUSS_OK;
	if (l->fd < 0)
	{
		if (c->next_file == c->nfiles)
			return FLUSS_OK;
		status = open_file(c, l, &c->files[c->next_file++], err);
		if (status != FLUSS_OK)
			return status;
	}
	if (l->retry.next_ms > host->now_ms(host->arg))
		return FLUSS_OK;
	status = fluss_remote_start(c->source->client, l->remote_path, l->offset,
								l->buffer, c->part_bytes, &l->read, &cause);
	if (status == FLUSS_OK)
		return FLUSS_OK;
	l->read = NULL;
	return note_failure(c, l, &cause, err);
}

/* ---- all of them */

static bool
is_done(const copy *c)
{
	for (int i = 0; i < LANES; i++)
	{
		if (c->lanes[i].fd >= 0)
			return false;
	}
	return c->next_file == c->nfiles;
}

/* Until a part has come or one is to be tried again. */
static fluss_status
wait_for_part(const copy *c, fluss_error *err)
{
	const fluss_host *host = c->source->host;
	int64_t		now = host->now_ms(host->arg);
	int64_t		until = now + LONG_WAIT_MS;
	bool		reading = false;

	for (int i = 0; i < LANES; i++)
	{
		const lane *l = &c->lanes[i];

		if (l->read != NULL &&
			fluss_remote_state_of(l->read) != FLUSS_REQUEST_PENDING)
			until = now;
		else if (l->read == NULL && l->fd >= 0 && l->retry.next_ms < until)
			until = l->retry.next_ms;
		reading = reading || l->read != NULL;
	}
	/* an interrupt counts, too, when nothing has to be waited for */
	if (host->wait(host->arg, NULL, 0, 0) == FLUSS_WAIT_INTERRUPTED)
		return fluss_fail(err, FLUSS_INTERRUPTED, "interrupted");
	if (until <= now)
		return FLUSS_OK;
	return reading ? fluss_cluster_poll(c->source->client, until, err) :
		fluss_cluster_sleep(c->source->client, until - now, err);
}

static fluss_status
copy_all(copy *c, fluss_snapshot_keep keep, void *arg, fluss_error *err)
{
	while (!is_done(c))
	{
		fluss_status status = keep(arg, err);

		for (int i = 0; i < LANES && status == FLUSS_OK; i++)
		{
			status = receive_part(c, &c->lanes[i], err);
			if (status == FLUSS_OK)
				status = ask_for_part(c, &c->lanes[i], err);
		}
		if (status == FLUSS_OK && !is_done(c))
			status = wait_for_part(c, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

fluss_status
fluss_snapshot_copy_files(const fluss_snapshot_source *source,
						  const fluss_snapshot_file *files, int nfiles,
						  fluss_snapshot_keep keep, void *arg,
						  fluss_error *err)
{
	const fluss_host *host = source->host;
	copy	   *c = host->alloc(host->arg, sizeof(*c));
	fluss_status status;

	if (c == NULL)
		return fluss_fail_memory(err);
	memset(c, 0, sizeof(*c));
	c->source = source;
	c->files = files;
	c->nfiles = nfiles;
	c->part_bytes = PART_BYTES;
	if (source->max_buffered_bytes < (int64_t) (LANES * PART_BYTES))
		c->part_bytes = (size_t) source->max_buffered_bytes / LANES + 1;
	for (int i = 0; i < LANES; i++)
		c->lanes[i].fd = -1;
	status = copy_all(c, keep, arg, err);
	for (int i = 0; i < LANES; i++)
	{
		end_read(&c->lanes[i]);
		if (c->lanes[i].fd >= 0)
			close(c->lanes[i].fd);
		if (c->lanes[i].buffer != NULL)
			host->free(host->arg, c->lanes[i].buffer);
	}
	host->free(host->arg, c);
	return status;
}
