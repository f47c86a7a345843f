/*
 * kvscan.c
 *	  Whole reads of a primary key table, bucket after bucket.
 *
 * A limit scan has no paging: one answer holds a bucket's rows or there are
 * too many.  Two answers take turns: while one is read, the request for the
 * next bucket is under way.  The other ways to read a bucket are in files of
 * their own; which one is taken can change from one bucket to the next, never
 * within one.  After an error a scan can only be closed.
 */
#include "batch.h"
#include "error.h"
#include "kvscan.h"
#include "retry.h"
#include "rpc.h"

/* Rows to give before sockets are served again. */
#define PUMP_ROWS		4096
#define LONG_WAIT_MS	60000

typedef enum kvscan_stage
{
	KVSCAN_IDLE,				/* no bucket */
	KVSCAN_ASKING,				/* to be sent, or in flight */
	KVSCAN_READING				/* rows holds what is left of the answer */
} kvscan_stage;

/* How a bucket is being read that is not read by limit scan. */
typedef enum kvscan_way
{
	WAY_NONE,					/* there is none */
	WAY_SNAPSHOT,
	WAY_SERVER
} kvscan_way;

typedef struct kvscan_read
{
	kvscan_stage stage;
	fluss_arena arena;			/* the answer's records */
	fluss_request *request;		/* while in flight */
	int64_t		sent_ms;
	int			index;			/* in the list of buckets */
	fluss_bucket_ref at;
	int64_t		limit;
	fluss_retry retry;
	fluss_value_batch rows;
	size_t		size;			/* of the records */
} kvscan_read;

struct fluss_kvscan
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_client *client;
	fluss_table *table;
	fluss_kvscan_options options;
	fluss_counters counters;
	fluss_projector projector;
	const fluss_bucket_ref *buckets;
	int			nbuckets;
	int			next_bucket;	/* first one not begun */
	kvscan_read reads[2];
	int			current;		/* the one to read; the other is ahead */
	int64_t		given;			/* rows */
	int64_t		entered_ms;		/* when the caller came to wait */
	fluss_buf	body;

	/* buckets that are not read by limit scan */
	fluss_kvscan_mode mode;		/* of the buckets to come */
	fluss_kvscan_used used;
	fluss_kvscan_env env;
	fluss_ends *own_ends;
	fluss_snapshot_read *snapshot;
	fluss_server_scan *server;
	kvscan_way	way;			/* of the bucket being read */
	fluss_bucket_ref at;		/* that bucket */
};

/* ---- opening, closing */

static fluss_status
fail_no_partition(const fluss_table *table, fluss_error *err)
{
	return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
					  "a bucket of table \"%s.%s\" names no partition",
					  table->database, table->name);
}

static fluss_status
check_options(const fluss_table *table, const fluss_kvscan_options *options,
			  fluss_error *err)
{
	if (table->schema->nprimary_key == 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "table \"%s.%s\" has no primary key",
						  table->database, table->name);
	for (int i = 0; options->buckets != NULL && i < options->nbuckets; i++)
	{
		const fluss_bucket_ref *at = &options->buckets[i];

		if (at->partition_id == FLUSS_NO_PARTITION && table->npartition_key > 0)
			return fail_no_partition(table, err);
		if (at->bucket < 0 || at->bucket >= table->nbuckets ||
			(at->partition_id != FLUSS_NO_PARTITION &&
			 table->npartition_key == 0))
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "table \"%s.%s\" has no bucket %d",
							  table->database, table->name,
							  (int) at->bucket);
	}
	if (options->buckets == NULL && table->npartition_key > 0)
		return fail_no_partition(table, err);
	if (options->max_rows_per_bucket < 0 || options->max_buffered_bytes < 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "limits of a scan must be above zero");
	return FLUSS_OK;
}

static fluss_status
choose_buckets(fluss_kvscan *scan, const fluss_kvscan_options *options,
			   fluss_error *err)
{
	int			n = options->buckets != NULL ? options->nbuckets :
		scan->table->nbuckets;
	fluss_bucket_ref *buckets = fluss_arena_array(&scan->arena, (size_t) n,
												  sizeof(*buckets));

	if (buckets == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		if (options->buckets != NULL)
			buckets[i] = options->buckets[i];
		else
			buckets[i] = (fluss_bucket_ref) {FLUSS_NO_PARTITION, i};
	}
	scan->buckets = buckets;
	scan->nbuckets = n;
	return FLUSS_OK;
}

static fluss_status
prepare_ends(fluss_kvscan *scan, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (scan->options.ends == NULL)
		status = fluss_ends_open(&scan->host, &scan->own_ends, err);
	scan->mode = scan->options.mode;
	scan->env = (fluss_kvscan_env) {
		.client = scan->client, .host = &scan->host, .table = scan->table,
		.options = &scan->options, .arena = &scan->arena,
		.projector = &scan->projector, .counters = &scan->counters,
		.ends = scan->options.ends != NULL ? scan->options.ends : scan->own_ends
	};
	return status;
}

fluss_status
fluss_kvscan_open(fluss_client *client, const fluss_host *host,
				  fluss_table *table, const fluss_kvscan_options *options,
				  fluss_kvscan **scan, fluss_error *err)
{
	fluss_arena arena;
	fluss_kvscan *result;
	fluss_status status;

	*scan = NULL;
	status = check_options(table, options, err);
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, host);
	result = fluss_arena_alloc0(&arena, sizeof(fluss_kvscan));
	if (result == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &result->arena, &result->host);
	result->client = client;
	result->table = table;
	fluss_table_retain(table);
	result->options = *options;
	fluss_buf_init(&result->body, &result->host);
	for (int i = 0; i < 2; i++)
		fluss_arena_init(&result->reads[i].arena, &result->host);
	status = fluss_projector_init(&result->projector, client, table,
								  &result->arena, options->columns,
								  options->ncolumns, err);
	if (status == FLUSS_OK)
		status = choose_buckets(result, options, err);
	if (status == FLUSS_OK)
		status = prepare_ends(result, err);
	if (status != FLUSS_OK)
	{
		fluss_kvscan_close(result);
		return status;
	}
	*scan = result;
	return FLUSS_OK;
}

void
fluss_kvscan_close(fluss_kvscan *scan)
{
	if (scan == NULL)
		return;
	for (int i = 0; i < 2; i++)
	{
		if (scan->reads[i].request != NULL)
			fluss_request_free(scan->reads[i].request);
		fluss_arena_free(&scan->reads[i].arena);
	}
	fluss_snapshot_read_close(scan->snapshot);
	fluss_server_scan_close(scan->server);
	fluss_ends_close(scan->own_ends);
	fluss_buf_free(&scan->body);
	fluss_table_release(scan->table);
	fluss_arena_free_owner(&scan->arena);
}

const fluss_counters *
fluss_kvscan_counters(const fluss_kvscan *scan)
{
	return &scan->counters;
}

fluss_kvscan_used
fluss_kvscan_used_mode(const fluss_kvscan *scan)
{
	return scan->used;
}

/* ---- asking */

/* Rows here that were not given yet. */
static int64_t
rows_left(const fluss_kvscan *scan)
{
	const kvscan_read *read = &scan->reads[scan->current];

	return read->stage == KVSCAN_READING ? read->rows.count - read->rows.done : 0;
}

/* One more than may be there, so that a bucket with too many shows. */
static int64_t
bucket_limit(const fluss_kvscan *scan)
{
	int64_t		limit = scan->options.max_rows_per_bucket;
	int64_t		wanted = scan->options.row_limit - scan->given -
		rows_left(scan);

	if (limit < INT32_MAX)
		limit++;
	else
		limit = INT32_MAX;
	if (scan->options.row_limit > 0 && wanted < limit)
		return wanted;
	return limit;
}

static fluss_status
send_request(fluss_kvscan *scan, kvscan_read *read, fluss_error *err)
{
	int64_t		deadline = fluss_retry_deadline(&read->retry, scan->client);
	fluss_error cause;
	int32_t		node;
	fluss_status status;

	status = fluss_leader_find(scan->client, scan->table,
							   read->at.partition_id, read->at.bucket,
							   deadline, &node, err);
	if (status != FLUSS_OK)
		return status;
	fluss_buf_reset(&scan->body);
	status = fluss_rpc_encode_limit_scan(&scan->host, scan->table->table_id,
										 read->at.partition_id,
										 read->at.bucket,
										 (int32_t) read->limit, &scan->body,
										 err);
	if (status != FLUSS_OK)
		return status;
	scan->counters.requests[FLUSS_REQUEST_LIMIT_SCAN]++;
	read->sent_ms = scan->host.now_ms(scan->host.arg);
	if (fluss_request_start(scan->client, node, FLUSS_API_LIMIT_SCAN,
							scan->body.data, scan->body.size, deadline,
							&read->request, &cause) == FLUSS_OK)
		return FLUSS_OK;
	read->request = NULL;
	return fluss_retry_note(&read->retry, scan->client, scan->table, &cause,
							err);
}

/* Sends the request of a bucket that waits for it, when its time has come. */
static fluss_status
ask(fluss_kvscan *scan, kvscan_read *read, fluss_error *err)
{
	if (read->stage != KVSCAN_ASKING || read->request != NULL ||
		read->retry.next_ms > scan->host.now_ms(scan->host.arg))
		return FLUSS_OK;
	return send_request(scan, read, err);
}

static void
begin_bucket(fluss_kvscan *scan, kvscan_read *read)
{
	if (read->stage != KVSCAN_IDLE || scan->next_bucket == scan->nbuckets)
		return;
	read->stage = KVSCAN_ASKING;
	read->index = scan->next_bucket;
	read->at = scan->buckets[scan->next_bucket++];
	read->limit = bucket_limit(scan);
	fluss_retry_clear(&read->retry);
}

/* Whether the next bucket will be needed, and its rows have room. */
static bool
may_ask_ahead(const fluss_kvscan *scan)
{
	const kvscan_read *read = &scan->reads[scan->current];

	if (read->stage != KVSCAN_READING)
		return scan->options.row_limit == 0;
	return (int64_t) read->size <= scan->options.max_buffered_bytes / 2 &&
		(scan->options.row_limit == 0 ||
		 scan->given + rows_left(scan) < scan->options.row_limit);
}

static fluss_status
ask_for_rows(fluss_kvscan *scan, fluss_error *err)
{
	kvscan_read *read = &scan->reads[scan->current];
	kvscan_read *ahead = &scan->reads[1 - scan->current];
	fluss_status status;

	begin_bucket(scan, read);
	status = ask(scan, read, err);
	if (status != FLUSS_OK || !may_ask_ahead(scan))
		return status;
	begin_bucket(scan, ahead);
	return ask(scan, ahead, err);
}

/* ---- answers */

static fluss_status
fail_too_many(const fluss_kvscan *scan, const kvscan_read *read,
			  fluss_error *err)
{
	fluss_fail(err, FLUSS_TOO_MANY_ROWS,
			   "bucket %d of table \"%s.%s\" has more than %lld rows",
			   (int) read->at.bucket, scan->table->database, scan->table->name,
			   (long long) scan->options.max_rows_per_bucket);
	fluss_error_place(err, read->at.partition_id, read->at.bucket, -1, -1);
	return err->status;
}

static fluss_status
open_rows(fluss_kvscan *scan, kvscan_read *read,
		  const fluss_limit_scan_result *result, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (result->is_log_table)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the server takes table \"%s.%s\" for a log table",
						  scan->table->database, scan->table->name);
	memset(&read->rows, 0, sizeof(read->rows));
	read->size = result->records.size;
	if (read->size > 0)
		status = fluss_value_batch_open(result->records.data, read->size,
										&read->rows, err);
	if (status != FLUSS_OK)
		return status;
	scan->counters.batches++;
	scan->counters.rows += read->rows.count;
	if (read->rows.count > scan->options.max_rows_per_bucket)
		return fail_too_many(scan, read, err);
	read->stage = KVSCAN_READING;
	fluss_retry_clear(&read->retry);
	return FLUSS_OK;
}

static fluss_status
accept_answer(fluss_kvscan *scan, kvscan_read *read, fluss_error *err)
{
	fluss_bytes bytes = fluss_request_answer(read->request);
	fluss_limit_scan_result result;
	fluss_error cause;
	fluss_status status;

	scan->counters.bytes += (int64_t) bytes.size;
	if ((int64_t) bytes.size > scan->options.max_buffered_bytes)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "the rows of bucket %d of table \"%s.%s\" take %zu bytes, more than the %lld allowed",
						  (int) read->at.bucket, scan->table->database,
						  scan->table->name, bytes.size,
						  (long long) scan->options.max_buffered_bytes);
	status = fluss_rpc_decode_limit_scan(&read->arena, bytes, &result, err);
	fluss_request_free(read->request);
	read->request = NULL;
	if (status != FLUSS_OK)
		return status;
	if (result.error_code == 0)
		return open_rows(scan, read, &result, err);
	fluss_fail_server(&cause, result.error_code, result.error_message,
					  result.error_message == NULL ? 0 :
					  strlen(result.error_message),
					  "read bucket %d of table \"%s.%s\"", (int) read->at.bucket,
					  scan->table->database, scan->table->name);
	fluss_arena_reset(&read->arena);
	return fluss_retry_note(&read->retry, scan->client, scan->table, &cause,
							err);
}

static fluss_status
receive(fluss_kvscan *scan, kvscan_read *read, fluss_error *err)
{
	fluss_error cause;

	if (read->request == NULL)
		return FLUSS_OK;
	switch (fluss_request_state_of(read->request))
	{
		case FLUSS_REQUEST_PENDING:
			break;
		case FLUSS_REQUEST_DONE:
			return accept_answer(scan, read, err);
		case FLUSS_REQUEST_FAILED:
			fluss_retry_cause(read->request, read->sent_ms, scan->entered_ms,
							  &cause);
			fluss_request_free(read->request);
			read->request = NULL;
			return fluss_retry_note(&read->retry, scan->client, scan->table,
									&cause, err);
	}
	return FLUSS_OK;
}

static fluss_status
wait_for_answer(fluss_kvscan *scan, fluss_error *err)
{
	int64_t		now = scan->host.now_ms(scan->host.arg);
	int64_t		until = now + LONG_WAIT_MS;
	bool		in_flight = false;

	for (int i = 0; i < 2; i++)
	{
		const kvscan_read *read = &scan->reads[i];

		if (read->request != NULL)
			in_flight = true;
		else if (read->stage == KVSCAN_ASKING && read->retry.next_ms < until)
			until = read->retry.next_ms;
	}
	if (in_flight)
		return fluss_cluster_poll(scan->client, until, err);
	return fluss_cluster_sleep(scan->client, until > now ? until - now : 0,
							   err);
}

/* Turns to the next bucket with rows; *end when there is none. */
static fluss_status
find_rows(fluss_kvscan *scan, bool *end, fluss_error *err)
{
	kvscan_read *read = &scan->reads[scan->current];
	fluss_status status = FLUSS_OK;

	*end = false;
	if (read->stage == KVSCAN_READING && read->rows.done < read->rows.count)
		return ask_for_rows(scan, err);
	scan->entered_ms = scan->host.now_ms(scan->host.arg);
	while (status == FLUSS_OK)
	{
		read = &scan->reads[scan->current];
		if (read->stage == KVSCAN_READING)
		{
			if (read->rows.done < read->rows.count)
				return ask_for_rows(scan, err);
			read->stage = KVSCAN_IDLE;
			fluss_arena_reset(&read->arena);
			scan->current = 1 - scan->current;
			continue;
		}
		if (read->stage == KVSCAN_IDLE && scan->next_bucket == scan->nbuckets)
		{
			*end = true;
			return FLUSS_OK;
		}
		status = ask_for_rows(scan, err);
		if (status == FLUSS_OK && (read->request == NULL ||
								   fluss_request_state_of(read->request) ==
								   FLUSS_REQUEST_PENDING))
			status = wait_for_answer(scan, err);
		if (status == FLUSS_OK)
			status = receive(scan, read, err);
	}
	return status;
}

static fluss_status
next_limited(fluss_kvscan *scan, bool *end, fluss_bucket_ref *bucket,
			 fluss_value *values, fluss_error *err)
{
	kvscan_read *read;
	const uint8_t *row;
	size_t		size;
	int32_t		schema_id;
	fluss_status status = find_rows(scan, end, err);

	if (status != FLUSS_OK || *end)
		return status;
	read = &scan->reads[scan->current];
	status = fluss_value_batch_next(&read->rows, end, &schema_id, &row, &size,
									err);
	if (status == FLUSS_OK && *end)
		status = fluss_fail(err, FLUSS_MALFORMED,
							"bucket %d of table \"%s.%s\" holds fewer rows than its answer says",
							(int) read->at.bucket, scan->table->database,
							scan->table->name);
	if (status == FLUSS_OK)
		status = fluss_projector_row(&scan->projector, schema_id, row, size,
									 values, err);
	*bucket = read->at;
	return status;
}

/* ---- the other ways */

/*
 * The bucket whose rows are too many, and all after it, are read another way:
 * they are likely to have as many.
 */
static void
give_up_limits(fluss_kvscan *scan)
{
	scan->next_bucket = scan->reads[scan->current].index;
	for (int i = 0; i < 2; i++)
	{
		kvscan_read *read = &scan->reads[i];

		if (read->request != NULL)
			fluss_request_free(read->request);
		read->request = NULL;
		read->stage = KVSCAN_IDLE;
		fluss_arena_reset(&read->arena);
	}
	scan->mode = FLUSS_KVSCAN_WHOLE;
}

static fluss_status
begin_server(fluss_kvscan *scan, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (scan->server == NULL)
		status = fluss_server_scan_open(&scan->env, &scan->server, err);
	if (status == FLUSS_OK)
		status = fluss_server_scan_begin(scan->server, &scan->at, err);
	if (status != FLUSS_OK)
		return status;
	scan->way = WAY_SERVER;
	scan->used = FLUSS_USED_SERVER;
	return FLUSS_OK;
}

static fluss_status
begin_snapshot(fluss_kvscan *scan, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (scan->snapshot == NULL)
		status = fluss_snapshot_read_open(&scan->env, &scan->snapshot, err);
	if (status == FLUSS_OK)
		status = fluss_snapshot_read_begin(scan->snapshot, &scan->at, err);
	if (status != FLUSS_OK)
		return status;
	scan->way = WAY_SNAPSHOT;
	scan->used = FLUSS_USED_SNAPSHOT;
	return FLUSS_OK;
}

/* Server scans where they are offered, unless another way is prescribed. */
static fluss_status
begin_whole(fluss_kvscan *scan, fluss_error *err)
{
	fluss_status status = FLUSS_UNSUPPORTED;

	scan->at = scan->buckets[scan->next_bucket++];
	if (scan->mode != FLUSS_KVSCAN_SNAPSHOT)
		status = begin_server(scan, err);
	if (scan->mode == FLUSS_KVSCAN_SERVER && status == FLUSS_UNSUPPORTED)
		fluss_error_hint(err, "Fluss offers it from 1.0 on: set the table option kv_scan to another value.");
	if (scan->mode == FLUSS_KVSCAN_SERVER || status != FLUSS_UNSUPPORTED)
		return status;
	scan->mode = FLUSS_KVSCAN_SNAPSHOT;
	return begin_snapshot(scan, err);
}

static fluss_status
next_whole(fluss_kvscan *scan, bool *end, fluss_bucket_ref *bucket,
		   fluss_value *values, fluss_error *err)
{
	for (;;)
	{
		bool		bucket_end = false;
		fluss_status status = FLUSS_OK;

		if (scan->way == WAY_NONE)
		{
			*end = scan->next_bucket == scan->nbuckets;
			if (*end)
				return FLUSS_OK;
			status = begin_whole(scan, err);
		}
		if (status == FLUSS_OK && scan->way == WAY_SERVER)
			status = fluss_server_scan_next(scan->server, &bucket_end, values,
											err);
		else if (status == FLUSS_OK)
			status = fluss_snapshot_read_next(scan->snapshot, &bucket_end,
											  values, err);
		if (status != FLUSS_OK || !bucket_end)
		{
			*bucket = scan->at;
			return status;
		}
		scan->way = WAY_NONE;
	}
}

/* Too many rows, or too large ones, for one answer. */
static bool
is_too_much(const fluss_kvscan *scan, fluss_status status)
{
	return scan->mode == FLUSS_KVSCAN_AUTO &&
		(status == FLUSS_TOO_MANY_ROWS || status == FLUSS_MEMORY_CAP) &&
		scan->reads[scan->current].stage == KVSCAN_ASKING;
}

fluss_status
fluss_kvscan_next(fluss_kvscan *scan, bool *end, fluss_bucket_ref *bucket,
				  fluss_value *values, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	*end = scan->options.row_limit > 0 &&
		scan->given >= scan->options.row_limit;
	if (*end)
		return FLUSS_OK;
	if (scan->mode == FLUSS_KVSCAN_AUTO || scan->mode == FLUSS_KVSCAN_LIMIT)
	{
		status = next_limited(scan, end, bucket, values, err);
		if (is_too_much(scan, status))
		{
			give_up_limits(scan);
			status = FLUSS_OK;
		}
	}
	if (scan->mode != FLUSS_KVSCAN_AUTO && scan->mode != FLUSS_KVSCAN_LIMIT)
		status = next_whole(scan, end, bucket, values, err);
	if (status != FLUSS_OK || *end)
		return status;
	if (++scan->given % PUMP_ROWS == 0)
		fluss_cluster_pump(scan->client);
	return FLUSS_OK;
}
