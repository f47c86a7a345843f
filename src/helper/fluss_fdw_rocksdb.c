/*
 * fluss_fdw_rocksdb.c
 *	  The helper program: the rows of a KV snapshot with later changes.
 *
 * A KV snapshot of Fluss is a RocksDB database.  Its library starts threads
 * and brings the C++ runtime, so it does not belong into a server process:
 * one such program is started for each bucket that is read.  client/helper.h
 * has what it is told and what it answers.
 *
 * The changes are written into the database itself, a private copy: RocksDB
 * then orders, overwrites and deletes, and moves to disk what does not fit
 * into a few megabytes.
 *
 * The program ends with its parent, whatever way that ends, and touches
 * nothing outside of its folder.  RocksDB merges files when it likes to, so a
 * thread looks at the size of the folder again and again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rocksdb/c.h>

#include "helper.h"

#define BUFFER_SIZE			((size_t) 64 * 1024)
#define BATCH_BYTES			((size_t) 512 * 1024)
#define WRITE_BUFFER_BYTES	((size_t) 8 * 1024 * 1024)
#define CACHE_BYTES			((size_t) 8 * 1024 * 1024)
#define MAX_OPEN_FILES		200
/* Files of changes before they are merged, and before that is waited for. */
#define MERGE_FILES			16
#define SLOW_FILES			48
#define STOP_FILES			64
/* How often the folder's size is looked at. */
#define WATCH_MICROSECONDS	20000

static uint8_t input[BUFFER_SIZE];
static size_t input_pos;
static size_t input_size;
static uint8_t output[BUFFER_SIZE];
static size_t output_size;

/* ---- bytes in and out */

/* The parent has gone: there is nobody to tell. */
static void
give_up(void)
{
	_exit(2);
}

static void
flush_output(void)
{
	size_t		sent = 0;

	while (sent < output_size)
	{
		ssize_t		n = write(STDOUT_FILENO, output + sent, output_size - sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			give_up();
		sent += (size_t) n;
	}
	output_size = 0;
}

static void
put_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;

	while (size > 0)
	{
		size_t		room = BUFFER_SIZE - output_size;
		size_t		part = size < room ? size : room;

		memcpy(output + output_size, p, part);
		output_size += part;
		p += part;
		size -= part;
		if (output_size == BUFFER_SIZE)
			flush_output();
	}
}

static void
put_number(uint64_t value, int size)
{
	uint8_t		bytes[8];

	for (int i = 0; i < size; i++)
		bytes[i] = (uint8_t) (value >> (8 * i));
	put_bytes(bytes, (size_t) size);
}

/* Tells what is wrong, and ends. */
static void
fail(const char *text)
{
	size_t		size = strnlen(text, FLUSS_HELPER_MAX_TEXT);

	put_number(FLUSS_HELPER_ERROR, 4);
	put_number(size, 4);
	put_bytes(text, size);
	flush_output();
	_exit(1);
}

static void
check(const char *error)
{
	if (error != NULL)
		fail(error);
}

static void
get_bytes(void *data, size_t size)
{
	uint8_t    *p = data;

	while (size > 0)
	{
		size_t		part;

		if (input_pos == input_size)
		{
			ssize_t		n = read(STDIN_FILENO, input, BUFFER_SIZE);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				give_up();
			input_pos = 0;
			input_size = (size_t) n;
		}
		part = input_size - input_pos;
		if (part > size)
			part = size;
		memcpy(p, input + input_pos, part);
		input_pos += part;
		p += part;
		size -= part;
	}
}

static uint32_t
number_at(const uint8_t *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 |
		(uint32_t) p[3] << 24;
}

/* ---- the size of the folder */

static const char *watched;
static long long max_folder_bytes;

static void
check_size(void)
{
	DIR		   *dir = opendir(watched);
	struct dirent *entry;
	struct stat status;
	long long	size = 0;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
	{
		if (fstatat(dirfd(dir), entry->d_name, &status,
					AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode))
			size += (long long) status.st_size;
	}
	if (dir != NULL)
		closedir(dir);
	if (size > max_folder_bytes)
		_exit(FLUSS_HELPER_OVER_LIMIT);
}

static void *
watch(void *unused)
{
	for (;;)
	{
		check_size();
		usleep(WATCH_MICROSECONDS);
	}
	return unused;
}

/* A negative size is no limit. */
static void
watch_size(const char *folder, long long max_bytes)
{
	pthread_t	thread;

	watched = folder;
	max_folder_bytes = max_bytes;
	if (max_bytes >= 0 && pthread_create(&thread, NULL, watch, NULL) != 0)
		fail("could not start a thread");
}

/* ---- the database */

static rocksdb_t *
open_database(const char *folder)
{
	rocksdb_options_t *options = rocksdb_options_create();
	rocksdb_block_based_table_options_t *table =
		rocksdb_block_based_options_create();
	char	   *error = NULL;
	rocksdb_t  *db;

	rocksdb_options_set_create_if_missing(options, 1);
	rocksdb_options_set_paranoid_checks(options, 1);
	/* everything in a table counts against the cache: memory is bounded */
	rocksdb_block_based_options_set_block_cache(table,
												rocksdb_cache_create_lru(CACHE_BYTES));
	rocksdb_block_based_options_set_cache_index_and_filter_blocks(table, 1);
	rocksdb_options_set_block_based_table_factory(options, table);
	rocksdb_options_set_max_open_files(options, MAX_OPEN_FILES);
	rocksdb_options_set_write_buffer_size(options, WRITE_BUFFER_BYTES);
	rocksdb_options_set_max_write_buffer_number(options, 2);
	rocksdb_options_set_max_background_jobs(options, 2);
	rocksdb_options_set_level0_file_num_compaction_trigger(options, MERGE_FILES);
	rocksdb_options_set_level0_slowdown_writes_trigger(options, SLOW_FILES);
	rocksdb_options_set_level0_stop_writes_trigger(options, STOP_FILES);
	rocksdb_options_set_compression(options, rocksdb_lz4_compression);
	rocksdb_options_set_info_log_level(options, 4);		/* fatal */
	rocksdb_options_set_keep_log_file_num(options, 1);
	rocksdb_options_set_stats_dump_period_sec(options, 0);
	rocksdb_options_set_skip_stats_update_on_db_open(options, 1);
	db = rocksdb_open(options, folder, &error);
	check(error);
	return db;
}

/* One change into the batch; false: there are no more. */
static int
take_change(rocksdb_writebatch_t *batch, uint8_t **buffer, size_t *capacity,
			size_t *bytes)
{
	uint8_t		header[FLUSS_HELPER_HEADER];
	size_t		key_size;
	size_t		value_size;

	get_bytes(header, sizeof(header));
	if (header[0] == FLUSS_HELPER_READ)
		return 0;
	key_size = number_at(header + 1);
	value_size = number_at(header + 5);
	if ((header[0] != FLUSS_HELPER_PUT && header[0] != FLUSS_HELPER_DELETE) ||
		key_size > FLUSS_HELPER_MAX_VALUE || value_size > FLUSS_HELPER_MAX_VALUE)
		fail("a change is not valid");
	if (key_size + value_size > *capacity)
	{
		*capacity = key_size + value_size;
		free(*buffer);
		*buffer = malloc(*capacity);
		if (*buffer == NULL)
			fail("out of memory");
	}
	get_bytes(*buffer, key_size + value_size);
	if (header[0] == FLUSS_HELPER_PUT)
		rocksdb_writebatch_put(batch, (char *) *buffer, key_size,
							   (char *) *buffer + key_size, value_size);
	else
		rocksdb_writebatch_delete(batch, (char *) *buffer, key_size);
	*bytes += key_size + value_size;
	return 1;
}

static void
take_changes(rocksdb_t *db)
{
	rocksdb_writeoptions_t *options = rocksdb_writeoptions_create();
	rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
	uint8_t    *buffer = NULL;
	size_t		capacity = 0;
	int			more = 1;

	rocksdb_writeoptions_disable_WAL(options, 1);
	while (more)
	{
		size_t		bytes = 0;
		char	   *error = NULL;

		while (bytes < BATCH_BYTES && more)
			more = take_change(batch, &buffer, &capacity, &bytes);
		rocksdb_write(db, options, batch, &error);
		check(error);
		rocksdb_writebatch_clear(batch);
	}
	rocksdb_writebatch_destroy(batch);
	rocksdb_writeoptions_destroy(options);
	free(buffer);
}

static void
give_values(rocksdb_t *db)
{
	rocksdb_readoptions_t *options = rocksdb_readoptions_create();
	rocksdb_iterator_t *it;
	uint64_t	count = 0;
	char	   *error = NULL;

	rocksdb_readoptions_set_verify_checksums(options, 1);
	rocksdb_readoptions_set_fill_cache(options, 0);
	rocksdb_readoptions_set_total_order_seek(options, 1);
	it = rocksdb_create_iterator(db, options);
	for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it);
		 rocksdb_iter_next(it))
	{
		size_t		size;
		const char *value = rocksdb_iter_value(it, &size);

		if (size > FLUSS_HELPER_MAX_VALUE)
			fail("a value is too long");
		put_number(size, 4);
		put_bytes(value, size);
		count++;
	}
	/* an iterator that met an error looks like one at its end */
	rocksdb_iter_get_error(it, &error);
	check(error);
	put_number(FLUSS_HELPER_END, 4);
	put_number(count, 8);
	flush_output();
}

/* Nothing of the parent is kept but the socket and standard error. */
static void
leave_parent(long parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (parent != (long) getppid())
		_exit(2);
#ifdef SYS_close_range
	if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
		return;
#endif
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
}

int
main(int argc, char **argv)
{
	rocksdb_t  *db;

	if (argc != 4)
	{
		fprintf(stderr, "fluss_fdw_rocksdb is started by fluss_fdw to read a KV snapshot\n");
		return 2;
	}
	leave_parent(strtol(argv[2], NULL, 10));
	/* a file that may not grow is an error to tell of */
	signal(SIGXFSZ, SIG_IGN);
	watch_size(argv[1], strtoll(argv[3], NULL, 10));
	db = open_database(argv[1]);
	take_changes(db);
	if (max_folder_bytes >= 0)
		check_size();
	give_values(db);
	/* the folder goes: there is nothing to close properly */
	_exit(0);
}
