/*
 * server_scan.c
 *	  A bucket's rows by SCAN_KV, which Fluss offers from 1.0 on.
 *
 * The server fixes the bucket's state when a scanner is opened, and gives it
 * in batches.  The next batch is asked for as soon as one has arrived, so two
 * are held at most.  A batch that is lost cannot be asked for again, and a new
 * scanner would see another state: once rows were given, that is an error.
 */
#include "batch.h"
#include "error.h"
#include "kvscan.h"
#include "retry.h"
#include "rpc_snapshot.h"

#define BATCH_BYTES			((int64_t) 4 * 1024 * 1024)
#define MAX_SCANNER_BYTES	256
#define LONG_WAIT_MS		60000

#define CODE_TOO_MANY_SCANNERS	69

struct fluss_server_scan
{
	const fluss_kvscan_env *env;
	fluss_bucket_ref at;
	int32_t		node;
	fluss_retry retry;
	int32_t		call;			/* number of the next request */
	bool		has_scanner;	/* that is to be closed */
	uint8_t		scanner[MAX_SCANNER_BYTES];
	size_t		scanner_size;
	fluss_request *request;		/* for the batch after this one, or NULL */
	bool		more;			/* there may be such a batch */
	fluss_arena arena;			/* the batch that is read */
	fluss_value_batch rows;
	fluss_buf	body;
};

fluss_status
fluss_server_scan_open(const fluss_kvscan_env *env, fluss_server_scan **scan,
					   fluss_error *err)
{
	*scan = fluss_arena_alloc0(env->arena, sizeof(**scan));
	if (*scan == NULL)
		return fluss_fail_memory(err);
	(*scan)->env = env;
	fluss_arena_init(&(*scan)->arena, env->host);
	fluss_buf_init(&(*scan)->body, env->host);
	return FLUSS_OK;
}

/* ---- requests */

static fluss_status
send_request(fluss_server_scan *scan, bool close, int64_t deadline_ms,
			 fluss_error *err)
{
	const fluss_kvscan_env *env = scan->env;
	fluss_bytes scanner = {scan->scanner, scan->scanner_size};
	int64_t		batch_bytes = env->options->max_buffered_bytes / 4;
	fluss_status status;

	if (batch_bytes > BATCH_BYTES)
		batch_bytes = BATCH_BYTES;
	fluss_buf_reset(&scan->body);
	status = fluss_rpc_encode_scan_kv(env->table->table_id, &scan->at,
									  scan->has_scanner ? &scanner : NULL,
									  scan->call, (int32_t) batch_bytes, close,
									  &scan->body, err);
	if (status != FLUSS_OK)
		return status;
	env->counters->requests[FLUSS_REQUEST_SCAN]++;
	status = fluss_request_start(env->client, scan->node, FLUSS_API_SCAN_KV,
								 scan->body.data, scan->body.size, deadline_ms,
								 &scan->request, err);
	if (status != FLUSS_OK)
		scan->request = NULL;
	return status;
}

/* Forgets the bucket; the server is told, without waiting. */
static void
end_scanner(fluss_server_scan *scan)
{
	fluss_error ignored;

	if (scan->request != NULL)
		fluss_request_free(scan->request);
	scan->request = NULL;
	if (scan->has_scanner &&
		send_request(scan, true, fluss_client_deadline(scan->env->client),
					 &ignored) == FLUSS_OK)
	{
		fluss_cluster_pump(scan->env->client);
		fluss_request_free(scan->request);
		scan->request = NULL;
	}
	scan->has_scanner = false;
	scan->more = false;
	memset(&scan->rows, 0, sizeof(scan->rows));
	fluss_arena_reset(&scan->arena);
}

void
fluss_server_scan_close(fluss_server_scan *scan)
{
	if (scan == NULL)
		return;
	end_scanner(scan);
	fluss_arena_free(&scan->arena);
	fluss_buf_free(&scan->body);
}

static fluss_status
wait_for_answer(fluss_server_scan *scan, fluss_error *err)
{
	const fluss_kvscan_env *env = scan->env;
	fluss_status status = FLUSS_OK;

	while (status == FLUSS_OK &&
		   fluss_request_state_of(scan->request) == FLUSS_REQUEST_PENDING)
		status = fluss_cluster_poll(env->client,
									env->host->now_ms(env->host->arg) +
									LONG_WAIT_MS, err);
	if (status == FLUSS_OK &&
		fluss_request_state_of(scan->request) == FLUSS_REQUEST_FAILED)
	{
		*err = *fluss_request_error(scan->request);
		status = err->status;
	}
	if (status != FLUSS_OK)
	{
		fluss_request_free(scan->request);
		scan->request = NULL;
	}
	return status;
}

/* ---- answers */

static fluss_status
fail_code(const fluss_server_scan *scan, const fluss_scan_kv_result *result,
		  fluss_error *err)
{
	const fluss_table *table = scan->env->table;

	fluss_fail_server(err, result->error_code, result->error_message,
					  result->error_message == NULL ? 0 :
					  strlen(result->error_message),
					  "scan bucket %d of table \"%s.%s\"",
					  (int) scan->at.bucket, table->database, table->name);
	fluss_error_place(err, scan->at.partition_id, scan->at.bucket, -1, -1);
	return err->status;
}

static fluss_status
take_scanner(fluss_server_scan *scan, const fluss_scan_kv_result *result,
			 fluss_error *err)
{
	scan->more = result->more;
	/* a scanner that has given everything is closed by the server */
	scan->has_scanner = result->more;
	if (!result->more)
		return FLUSS_OK;
	if (result->scanner.size > MAX_SCANNER_BYTES)
	{
		scan->has_scanner = false;
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the id of a scanner has %zu bytes",
						  result->scanner.size);
	}
	memcpy(scan->scanner, result->scanner.data, result->scanner.size);
	scan->scanner_size = result->scanner.size;
	return FLUSS_OK;
}

/* The answer becomes the batch to read, and the next one is asked for. */
static fluss_status
take_batch(fluss_server_scan *scan, fluss_error *err)
{
	const fluss_kvscan_env *env = scan->env;
	fluss_bytes bytes = fluss_request_answer(scan->request);
	fluss_scan_kv_result result;
	fluss_status status;

	fluss_arena_reset(&scan->arena);
	memset(&scan->rows, 0, sizeof(scan->rows));
	env->counters->bytes += (int64_t) bytes.size;
	if ((int64_t) bytes.size > env->options->max_buffered_bytes)
		status = fluss_fail(err, FLUSS_MEMORY_CAP,
							"rows of table \"%s.%s\" take %zu bytes, more than the %lld allowed",
							env->table->database, env->table->name, bytes.size,
							(long long) env->options->max_buffered_bytes);
	else
		status = fluss_rpc_decode_scan_kv(&scan->arena, bytes, &result, err);
	fluss_request_free(scan->request);
	scan->request = NULL;
	if (status != FLUSS_OK)
		return status;
	if (result.error_code != 0)
		return fail_code(scan, &result, err);
	status = take_scanner(scan, &result, err);
	if (status == FLUSS_OK && scan->call == 0 && result.log_offset >= 0)
		status = fluss_ends_pin(env->ends, scan->at.partition_id,
								scan->at.bucket, result.log_offset, err);
	if (status == FLUSS_OK && result.records.size > 0)
		status = fluss_value_batch_open(result.records.data,
										result.records.size, &scan->rows, err);
	if (status != FLUSS_OK)
		return status;
	env->counters->batches++;
	env->counters->rows += scan->rows.count;
	scan->call++;
	return scan->more ?
		send_request(scan, false, fluss_client_deadline(env->client), err) :
		FLUSS_OK;
}

/* ---- a bucket */

static fluss_status
open_once(fluss_server_scan *scan, fluss_error *err)
{
	const fluss_kvscan_env *env = scan->env;
	int64_t		deadline = fluss_retry_deadline(&scan->retry, env->client);
	fluss_status status;

	scan->call = 0;
	status = fluss_leader_find(env->client, env->table, scan->at.partition_id,
							   scan->at.bucket, deadline, &scan->node, err);
	if (status == FLUSS_OK)
		status = send_request(scan, false, deadline, err);
	if (status == FLUSS_OK)
		status = wait_for_answer(scan, err);
	if (status == FLUSS_OK)
		status = take_batch(scan, err);
	return status;
}

/* Whether another server, or a later time, may do it: no row was given yet. */
static bool
may_try_again(const fluss_error *cause)
{
	return fluss_status_is_network(cause->status) ||
		cause->status == FLUSS_SERVER_ERROR;
}

fluss_status
fluss_server_scan_begin(fluss_server_scan *scan, const fluss_bucket_ref *at,
						fluss_error *err)
{
	const fluss_kvscan_env *env = scan->env;
	fluss_status status;

	end_scanner(scan);
	scan->at = *at;
	fluss_retry_clear(&scan->retry);
	for (;;)
	{
		fluss_error cause = {0};
		int64_t		now;

		status = open_once(scan, &cause);
		if (status == FLUSS_OK)
			return status;
		if (!may_try_again(&cause))
		{
			*err = cause;
			return status;
		}
		end_scanner(scan);
		if (cause.status == FLUSS_SERVER_ERROR &&
			cause.server_code == CODE_TOO_MANY_SCANNERS)
			status = fluss_retry_pause(&scan->retry, env->client, &cause, err);
		else
			status = fluss_retry_note(&scan->retry, env->client, env->table,
									  &cause, err);
		now = env->host->now_ms(env->host->arg);
		if (status == FLUSS_OK)
			status = fluss_cluster_sleep(env->client,
										 scan->retry.next_ms > now ?
										 scan->retry.next_ms - now : 0, err);
		if (status != FLUSS_OK)
			return status;
	}
}

fluss_status
fluss_server_scan_next(fluss_server_scan *scan, bool *end,
					   fluss_value *values, fluss_error *err)
{
	const uint8_t *row;
	size_t		size;
	int32_t		schema_id;
	fluss_status status = FLUSS_OK;

	while (scan->rows.done == scan->rows.count)
	{
		*end = scan->request == NULL;
		if (*end)
			return FLUSS_OK;
		status = wait_for_answer(scan, err);
		if (status == FLUSS_OK)
			status = take_batch(scan, err);
		if (status != FLUSS_OK)
			return status;
	}
	status = fluss_value_batch_next(&scan->rows, end, &schema_id, &row, &size,
									err);
	if (status == FLUSS_OK)
		status = fluss_projector_row(scan->env->projector, schema_id, row,
									 size, values, err);
	return status;
}
