/*
 * bench.c
 *	  How fast the client's data paths are against a real cluster: sensor
 *	  readings (INT, TIMESTAMP(3), DOUBLE, DOUBLE) appended and scanned, rows
 *	  of a keyed table upserted, looked up and read whole.
 *
 *	  bench [ROWS]		FLUSS_BOOTSTRAP names the cluster
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fluss.h"

#define DATABASE	"c_client_bench"
#define MEGABYTE	((int64_t) 1 << 20)

static fluss_client *client;
static fluss_error err;

static void *
host_alloc(void *arg, size_t size)
{
	return malloc(size);
}

static void
host_free(void *arg, void *ptr)
{
	free(ptr);
}

static fluss_wait_result
host_wait(void *arg, const fluss_pollfd *fds, int nfds, int timeout_ms)
{
	struct pollfd polls[64];
	int			n;

	for (int i = 0; i < nfds && i < 64; i++)
	{
		polls[i].fd = fds[i].fd;
		polls[i].events = (fds[i].want_read ? POLLIN : 0) |
			(fds[i].want_write ? POLLOUT : 0);
	}
	n = poll(polls, (nfds_t) nfds, timeout_ms);
	return n == 0 ? FLUSS_WAIT_TIMEOUT : FLUSS_WAIT_READY;
}

static int64_t
host_now_ms(void *arg)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const fluss_host host = {
	.alloc = host_alloc, .free = host_free, .wait = host_wait,
	.now_ms = host_now_ms
};

static double
clock_seconds(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static double started;
static double started_cpu;

static void
begin(void)
{
	started = clock_seconds(CLOCK_MONOTONIC);
	started_cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void
end(const char *what, int64_t n, int64_t requests, int64_t bytes)
{
	double		wall = clock_seconds(CLOCK_MONOTONIC) - started;
	double		cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - started_cpu;

	printf("%-34s %9lld  %8.1f ms  (client %7.1f ms)  %8.2f M/s  %4lld requests %7.1f MB\n",
		   what, (long long) n, wall * 1e3, cpu * 1e3, (double) n / wall / 1e6,
		   (long long) requests, (double) bytes / 1e6);
	fflush(stdout);
}

static void
check(fluss_status status)
{
	if (status == FLUSS_OK)
		return;
	fprintf(stderr, "%s (%s)\n", err.message, err.detail);
	exit(1);
}

static fluss_table *
make_table(const char *name, const fluss_column *columns, int ncolumns,
		   int nkey, int nbuckets)
{
	const char *key[] = {columns[0].name};
	fluss_table_spec spec = {
		.ncolumns = ncolumns, .columns = columns, .nprimary_key = nkey,
		.primary_key = key, .nbuckets = nbuckets
	};
	fluss_table *table;

	check(fluss_create_table(client, DATABASE, name, &spec, false, &err));
	check(fluss_table_open(client, DATABASE, name, true, &table, &err));
	return table;
}

/* Evenly from 0 to below n; the data should compress as real data does. */
static int64_t
any(int64_t n)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int64_t) (state % (uint64_t) n);
}

/* ---- log tables */

static void
append(fluss_table *table, int64_t rows)
{
	fluss_writer_options options = {
		.acks = -1, .batch_size = 2 * MEGABYTE, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = 64 * MEGABYTE
	};
	const fluss_counters *counters;
	fluss_writer *writer;

	begin();
	check(fluss_writer_open(client, &host, table, &options, &writer, &err));
	for (int64_t i = 0; i < rows; i++)
	{
		fluss_value row[4] = {
			{.u.integer = any(1000)},
			{.u.timestamp = {1700000000000 + i * 10 + any(10), 0}},
			{.u.float8 = 20 + (double) any(1000) / 100},
			{.u.float8 = 50 + (double) any(5000) / 100}
		};

		check(fluss_writer_write(writer, row, &err));
	}
	check(fluss_writer_flush(writer, &err));
	counters = fluss_writer_counters(writer);
	end("append", rows, counters->requests[FLUSS_REQUEST_PRODUCE],
		counters->bytes);
	fluss_writer_close(writer);
}

static void
scan(fluss_table *table, const char *what, const int32_t *columns,
	 int ncolumns, int64_t first, int64_t past)
{
	fluss_scan_options options = {
		.columns = columns, .ncolumns = ncolumns,
		.fetch_max_bytes = 16 * MEGABYTE,
		.fetch_max_bytes_for_bucket = 16 * MEGABYTE, .fetch_inflight = 2,
		.max_buffered_bytes = 64 * MEGABYTE, .check_crc = true
	};
	const fluss_counters *counters;
	fluss_range ranges[16];
	fluss_ends *ends;
	fluss_scan *s;
	int64_t		rows = 0;
	double		sum = 0;

	begin();
	for (int i = 0; i < table->nbuckets; i++)
		ranges[i] = (fluss_range) {FLUSS_NO_PARTITION, i, first, past};
	check(fluss_ends_open(&host, &ends, &err));
	check(fluss_scan_open(client, &host, table, ranges, table->nbuckets,
						  &options, ends, &s, &err));
	for (;;)
	{
		const fluss_batch *batch;
		fluss_scan_item item;
		fluss_loss	loss;

		check(fluss_scan_next(s, &item, &batch, &loss, &err));
		if (item == FLUSS_SCAN_END)
			break;
		rows += batch->end_row - batch->first_row;
		for (int c = 0; c < ncolumns; c++)
		{
			for (int32_t i = batch->first_row; i < batch->end_row; i++)
			{
				fluss_value value;

				fluss_column_value(&batch->columns[c], i, &value);
				sum += value.u.float8;
			}
		}
	}
	counters = fluss_scan_counters(s);
	end(what, rows, counters->requests[FLUSS_REQUEST_FETCH], counters->bytes);
	if (sum == 0.25)
		printf("\n");
	fluss_scan_close(s);
	fluss_ends_close(ends);
}

/* ---- keyed tables */

static void
upsert(fluss_table *table, int64_t rows)
{
	fluss_writer_options options = {
		.acks = -1, .batch_size = 2 * MEGABYTE, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = 64 * MEGABYTE
	};
	const fluss_counters *counters;
	fluss_writer *writer;

	begin();
	check(fluss_writer_open(client, &host, table, &options, &writer, &err));
	for (int64_t i = 0; i < rows; i++)
	{
		char		name[32];
		fluss_value row[3] = {{.u.integer = i}, {.is_null = false}, {.u.float8 = 1}};

		row[1].u.bytes.data = (uint8_t *) name;
		row[1].u.bytes.size = (size_t) sprintf(name, "sensor %lld",
											   (long long) i);
		check(fluss_writer_write(writer, row, &err));
	}
	check(fluss_writer_flush(writer, &err));
	counters = fluss_writer_counters(writer);
	end("upsert", rows, counters->requests[FLUSS_REQUEST_PUT], counters->bytes);
	fluss_writer_close(writer);
}

static void
look_up(fluss_table *table, int64_t keys, int64_t step, int batch_size)
{
	static const int32_t columns[] = {0, 1, 2};
	fluss_lookup_options options = {
		.columns = columns, .ncolumns = 3, .max_batch_size = batch_size,
		.max_inflight_requests = 4, .max_buffered_bytes = 64 * MEGABYTE
	};
	const fluss_counters *counters;
	fluss_lookup *lookup;
	int64_t		found_rows = 0;
	char		what[64];

	begin();
	check(fluss_lookup_open(client, &host, table, &options, &lookup, &err));
	for (int64_t i = 0; i < keys; i++)
	{
		fluss_value key = {.u.integer = i * step};
		int			slot;

		check(fluss_lookup_add(lookup, &key, &slot, &err));
	}
	check(fluss_lookup_run(lookup, &err));
	for (int64_t i = 0; i < keys; i++)
	{
		fluss_value values[3];

		if (fluss_lookup_nrows(lookup, (int) i) == 0)
			continue;
		check(fluss_lookup_row(lookup, (int) i, 0, values, &err));
		found_rows++;
	}
	counters = fluss_lookup_counters(lookup);
	snprintf(what, sizeof(what), "lookup, %d keys a request", batch_size);
	end(what, found_rows, counters->requests[FLUSS_REQUEST_LOOKUP],
		counters->bytes);
	fluss_lookup_close(lookup);
}

static void
read_whole(fluss_table *table)
{
	static const int32_t columns[] = {0, 1, 2};
	fluss_kvscan_options options = {
		.columns = columns, .ncolumns = 3, .max_rows_per_bucket = 10000000,
		.max_buffered_bytes = 1024 * MEGABYTE
	};
	const fluss_counters *counters;
	fluss_kvscan *s;
	int64_t		rows = 0;

	begin();
	check(fluss_kvscan_open(client, &host, table, &options, &s, &err));
	for (;; rows++)
	{
		fluss_value values[3];
		fluss_bucket_ref bucket;
		bool		done;

		check(fluss_kvscan_next(s, &done, &bucket, values, &err));
		if (done)
			break;
	}
	counters = fluss_kvscan_counters(s);
	end("whole read", rows, counters->requests[FLUSS_REQUEST_LIMIT_SCAN],
		counters->bytes);
	fluss_kvscan_close(s);
}

int
main(int argc, char **argv)
{
	static const fluss_column readings[] = {
		{"sensor_id", NULL, 0, {FLUSS_INTEGER, true}},
		{"measured_at", NULL, 1, {FLUSS_TIMESTAMP, true, 0, 3}},
		{"temperature_c", NULL, 2, {FLUSS_DOUBLE, true}},
		{"humidity_pct", NULL, 3, {FLUSS_DOUBLE, true}}
	};
	static const fluss_column info[] = {
		{"sensor_id", NULL, 0, {FLUSS_INTEGER, false}},
		{"name", NULL, 1, {FLUSS_STRING, true}},
		{"height", NULL, 2, {FLUSS_DOUBLE, true}}
	};
	static const int32_t all[] = {0, 1, 2, 3};
	static const int32_t one[] = {2};
	fluss_config config = {
		.bootstrap_servers = getenv("FLUSS_BOOTSTRAP"),
		.connect_timeout_ms = 10000, .request_timeout_ms = 30000
	};
	int64_t		rows = argc > 1 ? atoll(argv[1]) : 1000000;

	check(fluss_client_open(&host, &config, &client, &err));
	check(fluss_drop_database(client, DATABASE, true, true, &err));
	check(fluss_create_database(client, DATABASE, NULL, false, &err));
	for (int nbuckets = 1; nbuckets <= 4; nbuckets += 3)
	{
		fluss_table *log = make_table(nbuckets == 1 ? "log1" : "log4", readings,
									  4, 0, nbuckets);
		fluss_table *keyed = make_table(nbuckets == 1 ? "kv1" : "kv4", info, 3,
										1, nbuckets);

		printf("%d bucket(s)\n", nbuckets);
		append(log, rows);
		for (int i = 0; i < 3; i++)
			scan(log, "scan, all columns", all, 4, 0, FLUSS_OFFSET_END);
		scan(log, "scan, one column", one, 1, 0, FLUSS_OFFSET_END);
		scan(log, "scan, no column", NULL, 0, 0, FLUSS_OFFSET_END);
		scan(log, "scan, 10 offsets a bucket", all, 4, 1000, 1010);
		upsert(keyed, rows / 5);
		for (int i = 0; i < 3; i++)
			look_up(keyed, 10000, rows / 5 / 10000, 4096);
		look_up(keyed, 10000, 1, 65536);
		look_up(keyed, 1, 1, 4096);
		read_whole(keyed);
		fluss_table_release(log);
		fluss_table_release(keyed);
	}
	check(fluss_drop_database(client, DATABASE, true, true, &err));
	fluss_client_close(client);
	return 0;
}
