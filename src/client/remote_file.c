/*
 * remote_file.c
 *	  Local files that the cluster names: which may be opened, and parts of
 *	  them.
 *
 * The path comes from a server of the cluster, so it is not trusted.  It must
 * be absolute, free of "..", and lie below a prefix as it is written: so much
 * is decided without touching the file system, and nobody learns what exists
 * outside.  Then the directory is resolved and must still lie below the
 * resolved prefix.  The file is opened from the prefix downwards, name by
 * name, without following a symbolic link: what is exchanged for a link after
 * the check is not followed out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "remote_file.h"

/* The rest of path after a directory prefix and a slash, or NULL. */
static const char *
below(const char *path, const char *prefix)
{
	size_t		length = strlen(prefix);

	while (length > 0 && prefix[length - 1] == '/')
		length--;
	if (strncmp(path, prefix, length) != 0 || path[length] != '/')
		return NULL;
	path += length;
	while (*path == '/')
		path++;
	return path;
}

static bool
has_parent_name(const char *path)
{
	for (const char *at = strstr(path, ".."); at != NULL;
		 at = strstr(at + 1, ".."))
	{
		if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return true;
	}
	return false;
}

/* The next prefix of a list that is short enough to be one. */
static bool
next_prefix(const char **list, char prefix[PATH_MAX])
{
	while (*list != NULL && **list != '\0')
	{
		const char *start = *list + strspn(*list, " ,");
		size_t		length = strcspn(start, ",");

		*list = start + length;
		while (length > 0 && start[length - 1] == ' ')
			length--;
		if (length == 0 || length >= PATH_MAX || start[0] != '/')
			continue;
		memcpy(prefix, start, length);
		prefix[length] = '\0';
		return true;
	}
	return false;
}

/*
 * Resolves the directory of path and the prefix that both it and the resolved
 * directory lie below.  *rest is what follows the prefix in the directory.
 * 0, EACCES: there is no such prefix, or another errno.
 */
static int
find_prefix(const char *prefixes, const char *path, char real[PATH_MAX],
			char directory[PATH_MAX], const char **rest)
{
	char		prefix[PATH_MAX];
	char		named[PATH_MAX];
	const char *name = strrchr(path, '/');
	int			result = EACCES;

	if (path[0] != '/' || has_parent_name(path) ||
		strlen(path) >= PATH_MAX - 1)
		return EACCES;
	memcpy(named, path, (size_t) (name - path));
	named[name - path] = '\0';
	if (name == path)
		strcpy(named, "/");
	while (next_prefix(&prefixes, prefix))
	{
		if (realpath(prefix, real) == NULL ||
			(below(path, prefix) == NULL && below(path, real) == NULL))
			continue;
		if (realpath(named, directory) == NULL)
		{
			result = errno;
			continue;
		}
		/* the directory may be the prefix itself */
		strcat(directory, strlen(directory) < PATH_MAX - 1 ? "/" : "");
		*rest = below(directory, real);
		if (*rest != NULL)
			return 0;
	}
	return result;
}

/* Opens name below directory fd; closes that. */
static int
open_below(int fd, const char *name, size_t length, int flags)
{
	char		copy[NAME_MAX + 1];
	int			result = -1;

	if (length > NAME_MAX)
		errno = ENAMETOOLONG;
	else
	{
		memcpy(copy, name, length);
		copy[length] = '\0';
		result = openat(fd, copy, flags | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd >= 0)
	{
		int			saved = errno;

		close(fd);
		errno = saved;
	}
	return result;
}

/* The file, or -1 with errno.  rest has a slash after each name. */
static int
open_file(const char *real, const char *rest, const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	int			fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && *rest != '\0')
	{
		size_t		length = strcspn(rest, "/");

		fd = open_below(fd, rest, length, O_PATH | O_DIRECTORY);
		rest += length;
		rest += strspn(rest, "/");
	}
	/* a FIFO must not block, and a device is only looked at */
	if (fd >= 0)
		fd = open_below(fd, name, strlen(name), O_RDONLY | O_NONBLOCK | O_NOCTTY);
	return fd;
}

static fluss_status
fail_read(fluss_error *err, const char *path, int error)
{
	fluss_fail(err, error == ENOENT || error == ENOTDIR ? FLUSS_DATA_LOST :
			   error == EACCES || error == EPERM || error == ELOOP ?
			   FLUSS_NOT_PERMITTED : FLUSS_CANNOT_CONNECT,
			   "could not read remote file \"%s\"", path);
	fluss_error_detail(err, "%s.", strerror(error));
	return err->status;
}

static fluss_status
fail_not_allowed(fluss_error *err, const char *prefixes, const char *path)
{
	fluss_fail(err, FLUSS_NOT_PERMITTED,
			   "permission denied to read remote file \"%s\"", path);
	fluss_error_detail(err, prefixes == NULL || prefixes[0] == '\0' ?
					   "The server option remote_files allows no local file." :
					   "It lies below none of the paths of the server option remote_files.");
	fluss_error_hint(err, "A superuser can add its directory to the option remote_files of the foreign server.");
	return err->status;
}

static fluss_status
read_file(int fd, const char *path, int64_t offset, uint8_t *buffer,
		  size_t size, size_t *count, fluss_error *err)
{
	struct stat status;

	if (fstat(fd, &status) != 0)
		return fail_read(err, path, errno);
	if (!S_ISREG(status.st_mode))
	{
		fluss_fail(err, FLUSS_NOT_PERMITTED,
				   "permission denied to read remote file \"%s\"", path);
		fluss_error_detail(err, "It is not a regular file.");
		return err->status;
	}
	*count = 0;
	while (*count < size)
	{
		ssize_t		n = pread(fd, buffer + *count, size - *count,
							  (off_t) (offset + (int64_t) *count));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_read(err, path, errno);
		if (n == 0)
			break;
		*count += (size_t) n;
	}
	return FLUSS_OK;
}

fluss_status
fluss_remote_file_read(const fluss_host *host, const char *prefixes,
					   const char *path, int64_t offset, uint8_t *buffer,
					   size_t size, size_t *count, fluss_error *err)
{
	char		real[PATH_MAX];
	char		directory[PATH_MAX];
	const char *rest;
	int			error;
	int			fd;
	fluss_status status;

	error = find_prefix(prefixes, path, real, directory, &rest);
	if (error == EACCES)
		return fail_not_allowed(err, prefixes, path);
	if (error != 0)
		return fail_read(err, path, error);
	if (host->acquire_fd != NULL && !host->acquire_fd(host->arg))
		return fail_read(err, path, EMFILE);
	fd = open_file(real, rest, path);
	if (fd >= 0)
	{
		status = read_file(fd, path, offset, buffer, size, count, err);
		close(fd);
	}
	else
		status = fail_read(err, path, errno);
	if (host->release_fd != NULL)
		host->release_fd(host->arg, fd);
	return status;
}
