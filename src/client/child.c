/*
 * child.c
 *	  The helper program as a child process: start, talk, end.
 *
 * posix_spawn, not fork: nothing of the host runs in the child, whatever its
 * exit handlers and locks.  The child gets a process group of its own, so that
 * a cancel that is sent to the host's group does not end it first; it ends by
 * itself when its parent does.
 *
 * Both sides of the talk share one stream socket.  The program reads all
 * changes before it writes, except for the report of an error, after which it
 * is gone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE				/* pipe2 */
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "error.h"
#include "helper.h"

#define SEND_BYTES		((size_t) 64 * 1024)
#define RECEIVE_BYTES	((size_t) 64 * 1024)
#define STDERR_BYTES	300

extern char **environ;

void
fluss_child_init(fluss_child *child, const fluss_host *host)
{
	memset(child, 0, sizeof(*child));
	child->host = host;
	child->fd = child->error_fd = -1;
	fluss_buf_init(&child->output, host);
	fluss_buf_init(&child->input, host);
}

/* ---- start */

static fluss_status
fail_start(const fluss_child *child, int error, fluss_error *err)
{
	fluss_fail(err, FLUSS_SEND_FAILED,
			   "could not start the program that reads KV snapshots");
	fluss_error_detail(err, "\"%.200s\": %s.", child->program, strerror(error));
	return err->status;
}

fluss_status
fluss_child_check(const char *program, fluss_error *err)
{
	if (program != NULL && access(program, X_OK) == 0)
		return FLUSS_OK;
	fluss_fail(err, FLUSS_UNSUPPORTED,
			   "KV snapshots cannot be read: the program for it is not installed");
	if (program != NULL)
		fluss_error_detail(err, "It was looked for as \"%.200s\".", program);
	fluss_error_hint(err, "Install librocksdb-dev, and build and install the extension again.");
	return FLUSS_UNSUPPORTED;
}

static int
spawn(fluss_child *child, const char *folder, int64_t max_folder_bytes,
	  int stream, int errors)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t	none;
	sigset_t	all;
	char		parent[24];
	char		limit[24];
	char	   *argv[5] = {(char *) child->program, (char *) folder, parent,
		limit, NULL};
	pid_t		pid = 0;
	int			error;

	snprintf(parent, sizeof(parent), "%ld", (long) getpid());
	snprintf(limit, sizeof(limit), "%lld", (long long) max_folder_bytes);
	error = posix_spawn_file_actions_init(&actions);
	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error != 0)
	{
		posix_spawn_file_actions_destroy(&actions);
		return error;
	}
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setpgroup(&attributes, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
							 POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	error = posix_spawn_file_actions_adddup2(&actions, stream, STDIN_FILENO);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, stream,
												 STDOUT_FILENO);
	if (error == 0)
		error = posix_spawn_file_actions_adddup2(&actions, errors,
												 STDERR_FILENO);
	if (error == 0)
		error = posix_spawn(&pid, child->program, &actions, &attributes, argv,
							environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (error == 0)
		child->pid = (int) pid;
	return error;
}

static bool
acquire_fds(const fluss_child *child)
{
	const fluss_host *host = child->host;

	if (host->acquire_fd == NULL)
		return true;
	if (!host->acquire_fd(host->arg))
		return false;
	if (host->acquire_fd(host->arg))
		return true;
	host->release_fd(host->arg, -1);
	return false;
}

static void
close_fd(const fluss_child *child, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	if (child->host->release_fd != NULL)
		child->host->release_fd(child->host->arg, *fd);
	*fd = -1;
}

fluss_status
fluss_child_start(fluss_child *child, const char *program, const char *folder,
				  int64_t max_folder_bytes, int64_t max_bytes, fluss_error *err)
{
	int			stream[2];
	int			errors[2];
	int			error = 0;

	child->program = program;
	child->max_bytes = max_bytes;
	child->nvalues = 0;
	child->over_limit = false;
	fluss_buf_reset(&child->output);
	fluss_buf_reset(&child->input);
	child->input_pos = 0;
	if (!acquire_fds(child))
		return fail_start(child, EMFILE, err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) != 0)
		stream[0] = stream[1] = -1;
	else if (pipe2(errors, O_CLOEXEC | O_NONBLOCK) != 0)
	{
		error = errno;
		close(stream[0]);
		close(stream[1]);
		stream[0] = -1;
	}
	if (stream[0] < 0)
	{
		error = error != 0 ? error : errno;
		for (int i = 0; i < 2 && child->host->release_fd != NULL; i++)
			child->host->release_fd(child->host->arg, -1);
		return fail_start(child, error, err);
	}
	child->fd = stream[0];
	child->error_fd = errors[0];
	if (fcntl(child->fd, F_SETFL, O_NONBLOCK) != 0)
		error = errno;
	else
		error = spawn(child, folder, max_folder_bytes, stream[1], errors[1]);
	close(stream[1]);
	close(errors[1]);
	if (error == 0)
		return FLUSS_OK;
	fluss_child_end(child);
	return fail_start(child, error, err);
}

/* ---- end */

/* How it ended, or would have if it had not been ended here. */
static int
reap(fluss_child *child)
{
	int			how = 0;

	if (child->pid == 0)
		return 0;
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, &how, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	return how;
}

void
fluss_child_end(fluss_child *child)
{
	(void) reap(child);
	close_fd(child, &child->fd);
	close_fd(child, &child->error_fd);
}

void
fluss_child_free(fluss_child *child)
{
	fluss_child_end(child);
	fluss_buf_free(&child->output);
	fluss_buf_free(&child->input);
}

/* It has closed its side without saying why. */
static fluss_status
fail_gone(fluss_child *child, fluss_error *err)
{
	char		text[STDERR_BYTES + 1];
	ssize_t		n = read(child->error_fd, text, STDERR_BYTES);
	int			how = 0;

	/* it is ending: how it does so is worth a moment */
	for (int i = 0; i < 100 && child->pid != 0; i++)
	{
		pid_t		done = waitpid(child->pid, &how, WNOHANG);

		if (done == child->pid || (done < 0 && errno != EINTR))
			child->pid = 0;
		else
			usleep(1000);
	}
	(void) reap(child);
	child->over_limit = WIFEXITED(how) &&
		WEXITSTATUS(how) == FLUSS_HELPER_OVER_LIMIT;
	fluss_fail(err, FLUSS_SEND_FAILED,
			   "the program that reads KV snapshots ended unexpectedly");
	if (WIFSIGNALED(how))
		fluss_error_detail(err, "It was terminated by signal %d.",
						   WTERMSIG(how));
	else if (WIFEXITED(how) && WEXITSTATUS(how) != 0)
		fluss_error_detail(err, "Its exit status was %d.", WEXITSTATUS(how));
	if (n > 0)
	{
		text[n] = '\0';
		fluss_error_detail(err, "%s", text);
	}
	return err->status;
}

/* ---- talking */

static fluss_status
wait_for(const fluss_child *child, bool to_write, fluss_error *err)
{
	/* an error may be told at any time */
	fluss_pollfd fd = {.fd = child->fd, .want_read = true,
	.want_write = to_write};

	if (child->host->wait(child->host->arg, &fd, 1, -1) ==
		FLUSS_WAIT_INTERRUPTED)
		return fluss_fail(err, FLUSS_INTERRUPTED, "interrupted");
	return FLUSS_OK;
}

/* Reads some bytes; *some is false when there are none for now. */
static fluss_status
receive(fluss_child *child, bool *some, fluss_error *err)
{
	ssize_t		n;
	uint8_t    *room;

	*some = false;
	if (child->input_pos > 0)
	{
		size_t		left = child->input.size - child->input_pos;

		memmove(child->input.data, child->input.data + child->input_pos, left);
		child->input.size = left;
		child->input_pos = 0;
	}
	room = fluss_buf_reserve(&child->input, RECEIVE_BYTES);
	if (room == NULL)
		return fluss_fail_memory(err);
	n = recv(child->fd, room, RECEIVE_BYTES, 0);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return FLUSS_OK;
	if (n <= 0)
		return fail_gone(child, err);
	child->input.size += (size_t) n;
	*some = true;
	return FLUSS_OK;
}

/* Waits until size bytes are there. */
static fluss_status
need(fluss_child *child, size_t size, fluss_error *err)
{
	while (child->input.size - child->input_pos < size)
	{
		bool		some;
		fluss_status status = receive(child, &some, err);

		if (status == FLUSS_OK && !some)
			status = wait_for(child, false, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

/*
 * RocksDB puts the kind of an error and the system's text before the rest; the
 * program has no locale, so it is English.
 */
static bool
is_disk_full(const char *text, size_t size)
{
	static const char *const starts[] = {
		"IO error: No space left on device", "IO error: Disk quota exceeded"
	};

	for (int i = 0; i < 2; i++)
	{
		if (size >= strlen(starts[i]) &&
			memcmp(text, starts[i], strlen(starts[i])) == 0)
			return true;
	}
	return false;
}

static fluss_status
take_error(fluss_child *child, fluss_error *err)
{
	uint32_t	size;
	const char *text;
	fluss_status status = need(child, 8, err);

	if (status != FLUSS_OK)
		return status;
	size = fluss_load_u32le(child->input.data + child->input_pos + 4);
	if (size > FLUSS_HELPER_MAX_TEXT)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the program that reads KV snapshots is of another version");
	status = need(child, 8 + size, err);
	if (status != FLUSS_OK)
		return status;
	text = (const char *) child->input.data + child->input_pos + 8;
	fluss_fail(err, is_disk_full(text, size) ? FLUSS_DISK_FULL :
			   FLUSS_MALFORMED, "could not read a KV snapshot");
	fluss_error_detail(err, "RocksDB says: %.*s", (int) size, text);
	return err->status;
}

/* While changes are sent there is but one thing to hear: an error. */
static fluss_status
hear_error(fluss_child *child, fluss_error *err)
{
	bool		some;
	fluss_status status = receive(child, &some, err);

	if (status != FLUSS_OK || !some)
		return status;
	return take_error(child, err);
}

static fluss_status
flush(fluss_child *child, fluss_error *err)
{
	size_t		sent = 0;

	if (child->output.failed)
		return fluss_fail_memory(err);
	while (sent < child->output.size)
	{
		ssize_t		n = send(child->fd, child->output.data + sent,
							 child->output.size - sent, MSG_NOSIGNAL);
		fluss_status status = FLUSS_OK;

		if (n > 0)
			sent += (size_t) n;
		else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		{
			status = wait_for(child, true, err);
			if (status == FLUSS_OK)
				status = hear_error(child, err);
		}
		else if (n == 0 || errno != EINTR)
		{
			/* what it had to say is still there to read */
			status = hear_error(child, err);
			if (status == FLUSS_OK)
				status = fail_gone(child, err);
		}
		if (status != FLUSS_OK)
			return status;
	}
	fluss_buf_reset(&child->output);
	return FLUSS_OK;
}

static void
put_header(fluss_child *child, char kind, size_t key_size, size_t value_size)
{
	fluss_buf_u8(&child->output, (uint8_t) kind);
	fluss_buf_u32le(&child->output, (uint32_t) key_size);
	fluss_buf_u32le(&child->output, (uint32_t) value_size);
}

fluss_status
fluss_child_change(fluss_child *child, fluss_bytes key,
				   const fluss_bytes *value, fluss_error *err)
{
	if (key.size > FLUSS_HELPER_MAX_VALUE ||
		(value != NULL && value->size > FLUSS_HELPER_MAX_VALUE))
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a row of a changelog is too long");
	if (value != NULL)
		put_header(child, FLUSS_HELPER_PUT, key.size, value->size);
	else
		put_header(child, FLUSS_HELPER_DELETE, key.size, 0);
	fluss_buf_append(&child->output, key.data, key.size);
	if (value != NULL)
		fluss_buf_append(&child->output, value->data, value->size);
	return child->output.size < SEND_BYTES && !child->output.failed ?
		FLUSS_OK : flush(child, err);
}

fluss_status
fluss_child_read(fluss_child *child, fluss_error *err)
{
	put_header(child, FLUSS_HELPER_READ, 0, 0);
	return flush(child, err);
}

static fluss_status
check_count(fluss_child *child, fluss_error *err)
{
	fluss_status status = need(child, 12, err);
	uint64_t	count;

	if (status != FLUSS_OK)
		return status;
	count = fluss_load_u64le(child->input.data + child->input_pos + 4);
	if (count == child->nvalues)
		return FLUSS_OK;
	return fluss_fail(err, FLUSS_MALFORMED,
					  "%llu rows of a KV snapshot came instead of %llu",
					  (unsigned long long) child->nvalues,
					  (unsigned long long) count);
}

fluss_status
fluss_child_next(fluss_child *child, bool *end, fluss_bytes *value,
				 fluss_error *err)
{
	uint32_t	size;
	fluss_status status = need(child, 4, err);

	*end = false;
	if (status != FLUSS_OK)
		return status;
	size = fluss_load_u32le(child->input.data + child->input_pos);
	if (size == FLUSS_HELPER_ERROR)
		return take_error(child, err);
	if (size == FLUSS_HELPER_END)
	{
		*end = true;
		return check_count(child, err);
	}
	if (size > FLUSS_HELPER_MAX_VALUE || (int64_t) size > child->max_bytes)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a row of a KV snapshot takes %lu bytes, more than the %lld allowed",
						  (unsigned long) size, (long long) child->max_bytes);
	status = need(child, 4 + (size_t) size, err);
	if (status != FLUSS_OK)
		return status;
	value->data = child->input.data + child->input_pos + 4;
	value->size = size;
	child->input_pos += 4 + (size_t) size;
	child->nvalues++;
	return FLUSS_OK;
}
