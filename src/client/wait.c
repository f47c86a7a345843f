/*
 * wait.c
 *	  Waiting for new records, without asking again and again.
 *
 * A look asks for the high watermarks.  Where none has passed its position,
 * each leader gets a fetch from its buckets' ends that it may answer late,
 * when a record has come or its time is up; with each answer come the high
 * watermarks of then.  Only what an answer cannot tell needs another look.
 *
 * Fluss 0.9 answers early where a follower makes a record visible; a bucket of
 * one replica it only looks at again when the time is up.  So that is short.
 *
 * A write that changes nothing in a primary key table leaves an offset without
 * a record in its changelog.  There what lies past a position is read, up to
 * the first record, before somebody is woken up for it.
 */
#include "client.h"
#include "rpc.h"

/* A server lets a fetch wait so long at most, as the Java client asks for. */
#define LATE_ANSWER_MS	500
/* Pause after an answer that came early, for another reason than a record. */
#define PAUSE_MS		50
/* Memory of the scan that looks for a record. */
#define LOOK_MAX_BYTES	(64 * 1024 * 1024)

typedef struct waited_bucket
{
	const fluss_position *position;
	int64_t		offset;			/* before it is no record to wait for */
	int64_t		latest;			/* FLUSS_OFFSET_UNKNOWN: no leader */
	int32_t		node;
	bool		sent;
} waited_bucket;

typedef struct waiter
{
	fluss_client *client;
	fluss_table *table;
	fluss_arena arena;
	waited_bucket *buckets;
	int			nbuckets;
	int32_t		column;
	int64_t		deadline_ms;
	fluss_fetch_bucket *asks;	/* scratch */
	int32_t    *numbers;		/* scratch */
	int64_t    *offsets;		/* scratch */
	fluss_range *ranges;		/* scratch */
	fluss_request **requests;
	int			nrequests;
} waiter;

/* ---- looking */

/* Asks for the ends of the buckets that are of one partition with first. */
static fluss_status
look_at_partition(waiter *w, int first, fluss_error *err)
{
	int64_t		partition_id = w->buckets[first].position->partition_id;
	int			n = 0;
	fluss_status status;

	for (int i = first; i < w->nbuckets; i++)
	{
		if (w->buckets[i].position->partition_id == partition_id)
			w->numbers[n++] = w->buckets[i].position->bucket;
	}
	status = fluss_list_offsets(w->client, w->table, FLUSS_OFFSET_LATEST, 0,
								partition_id, w->numbers, n, FLUSS_NEED_LED, w->offsets,
								err);
	n = 0;
	for (int i = first; i < w->nbuckets && status == FLUSS_OK; i++)
	{
		if (w->buckets[i].position->partition_id != partition_id)
			continue;
		w->buckets[i].latest = w->offsets[n++];
		w->buckets[i].sent = true;
	}
	return status;
}

/*
 * Reads up to the first record of the ranges.  A loss is something to be told
 * about, too.
 */
static fluss_status
find_record(waiter *w, const fluss_range *ranges, int n, bool *found,
			fluss_error *err)
{
	fluss_scan_options options = {
		.columns = &w->column, .ncolumns = 1, .fetch_max_bytes = 1,
		.fetch_max_bytes_for_bucket = 1, .fetch_inflight = 1,
		.max_buffered_bytes = LOOK_MAX_BYTES, .row_limit = 1
	};
	fluss_ends *ends = NULL;
	fluss_scan *scan = NULL;
	fluss_scan_item item = FLUSS_SCAN_END;
	const fluss_batch *batch;
	fluss_loss	loss;
	fluss_status status;

	status = fluss_ends_open(&w->client->host, &ends, err);
	if (status == FLUSS_OK)
		status = fluss_scan_open(w->client, &w->client->host, w->table, ranges,
								 n, &options, ends, &scan, err);
	if (status == FLUSS_OK)
		status = fluss_scan_next(scan, &item, &batch, &loss, err);
	*found = status == FLUSS_OK && item != FLUSS_SCAN_END;
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	return status;
}

/* Are there records in the offsets that have come? */
static fluss_status
confirm(waiter *w, bool *ready, fluss_error *err)
{
	int			n = 0;
	fluss_status status;

	for (int i = 0; i < w->nbuckets; i++)
	{
		const waited_bucket *bucket = &w->buckets[i];

		if (bucket->latest > bucket->offset)
			w->ranges[n++] = (fluss_range) {
				.partition_id = bucket->position->partition_id,
				.bucket = bucket->position->bucket,
				.start = bucket->offset, .end = bucket->latest
			};
	}
	status = find_record(w, w->ranges, n, ready, err);
	for (int i = 0; i < w->nbuckets && status == FLUSS_OK && !*ready; i++)
	{
		if (w->buckets[i].latest > w->buckets[i].offset)
			w->buckets[i].offset = w->buckets[i].latest;
	}
	return status;
}

/* By the high watermarks that are known. */
static fluss_status
judge(waiter *w, bool *ready, fluss_error *err)
{
	*ready = false;
	for (int i = 0; i < w->nbuckets; i++)
	{
		if (w->buckets[i].latest > w->buckets[i].offset)
			*ready = true;
	}
	if (*ready && w->table->schema->nprimary_key > 0)
		return confirm(w, ready, err);
	return FLUSS_OK;
}

static fluss_status
look(waiter *w, bool *ready, fluss_error *err)
{
	for (int i = 0; i < w->nbuckets; i++)
		w->buckets[i].sent = false;
	for (int i = 0; i < w->nbuckets; i++)
	{
		fluss_status status;

		if (w->buckets[i].sent)
			continue;
		status = look_at_partition(w, i, err);
		if (status != FLUSS_OK)
			return status;
	}
	return judge(w, ready, err);
}

/* ---- waiting */

/* One fetch for all buckets of a leader, to be answered late. */
static fluss_status
send_to(waiter *w, int32_t node, int64_t wait_ms, fluss_error *err)
{
	bool		columns = w->table->log_format == FLUSS_FORMAT_ARROW;
	fluss_buf	body;
	int			n = 0;
	fluss_status status;

	for (int i = 0; i < w->nbuckets; i++)
	{
		waited_bucket *bucket = &w->buckets[i];

		if (bucket->sent || bucket->node != node)
			continue;
		bucket->sent = true;
		w->asks[n++] = (fluss_fetch_bucket) {
			.partition_id = bucket->position->partition_id,
			.bucket = bucket->position->bucket,
			.offset = bucket->latest, .max_bytes = 1
		};
	}
	fluss_buf_init(&body, &w->client->host);
	status = fluss_rpc_encode_fetch(&w->client->host, w->table->table_id, 1,
									&w->column, columns ? 1 : 0, w->asks, n,
									(int32_t) wait_ms, &body, err);
	if (status == FLUSS_OK)
		status = fluss_request_start(w->client, node, FLUSS_API_FETCH_LOG,
									 body.data, body.size,
									 fluss_client_deadline(w->client) + wait_ms,
									 &w->requests[w->nrequests], err);
	if (status == FLUSS_OK)
		w->nrequests++;
	fluss_buf_free(&body);
	return status;
}

static fluss_status
find_leaders(waiter *w, fluss_error *err)
{
	for (int i = 0; i < w->nbuckets; i++)
	{
		waited_bucket *bucket = &w->buckets[i];
		fluss_status status;

		bucket->sent = bucket->latest == FLUSS_OFFSET_UNKNOWN;
		if (bucket->sent)
			continue;
		status = fluss_leader_find(w->client, w->table,
								   bucket->position->partition_id,
								   bucket->position->bucket,
								   fluss_client_deadline(w->client),
								   &bucket->node, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static bool
any_finished(const waiter *w)
{
	for (int i = 0; i < w->nrequests; i++)
	{
		if (fluss_request_state_of(w->requests[i]) != FLUSS_REQUEST_PENDING)
			return true;
	}
	return w->nrequests == 0;
}

/* Takes the high watermarks of an answer; false: it does not tell all. */
static bool
take_answer(waiter *w, const fluss_request *request)
{
	fluss_arena scratch;
	fluss_fetch_result *results;
	int			n;
	fluss_error ignored;
	bool		good;

	if (fluss_request_state_of(request) != FLUSS_REQUEST_DONE)
		return false;
	fluss_arena_init(&scratch, &w->client->host);
	good = fluss_rpc_decode_fetch(&scratch, fluss_request_answer(request),
								  w->table->table_id, &results, &n,
								  &ignored) == FLUSS_OK;
	for (int i = 0; good && i < n; i++)
	{
		good = results[i].error_code == 0 && results[i].high_watermark >= 0;
		for (int j = 0; good && j < w->nbuckets; j++)
		{
			waited_bucket *bucket = &w->buckets[j];

			if (bucket->position->bucket == results[i].bucket &&
				bucket->position->partition_id == results[i].partition_id)
				bucket->latest = results[i].high_watermark;
		}
	}
	fluss_arena_free(&scratch);
	return good;
}

/*
 * Until a server has something to say.  *clear: the answers that came tell all
 * that a look at their buckets would.
 */
static fluss_status
wait_for_servers(waiter *w, bool *clear, fluss_error *err)
{
	int64_t		now = w->client->host.now_ms(w->client->host.arg);
	int64_t		wait_ms = w->deadline_ms - now;
	fluss_status status;

	*clear = false;
	if (wait_ms > LATE_ANSWER_MS)
		wait_ms = LATE_ANSWER_MS;
	if (wait_ms < 1)
		return FLUSS_OK;
	status = find_leaders(w, err);
	*clear = true;
	for (int i = 0; i < w->nbuckets && status == FLUSS_OK; i++)
	{
		if (w->buckets[i].latest == FLUSS_OFFSET_UNKNOWN)
			*clear = false;
		if (!w->buckets[i].sent)
			status = send_to(w, w->buckets[i].node, wait_ms, err);
	}
	if (status == FLUSS_OK && w->nrequests == 0)
		return fluss_cluster_sleep(w->client, wait_ms, err);
	while (status == FLUSS_OK && !any_finished(w))
		status = fluss_cluster_poll(w->client, now + wait_ms +
									fluss_client_config(w->client)->request_timeout_ms,
									err);
	for (int i = 0; i < w->nrequests && status == FLUSS_OK; i++)
	{
		if (fluss_request_state_of(w->requests[i]) != FLUSS_REQUEST_PENDING &&
			!take_answer(w, w->requests[i]))
			*clear = false;
	}
	return status;
}

static void
drop_requests(waiter *w)
{
	for (int i = 0; i < w->nrequests; i++)
		fluss_request_free(w->requests[i]);
	w->nrequests = 0;
}

static fluss_status
wait_until_ready(waiter *w, bool *ready, fluss_error *err)
{
	const fluss_host *host = &w->client->host;
	fluss_status status = look(w, ready, err);

	while (status == FLUSS_OK && !*ready)
	{
		int64_t		start = host->now_ms(host->arg);
		bool		clear;

		if (start >= w->deadline_ms)
			break;
		status = wait_for_servers(w, &clear, err);
		drop_requests(w);
		/* leaders may have moved: the next look tells */
		if (fluss_status_is_network(status))
		{
			fluss_leader_forget(w->client, w->table);
			clear = false;
			status = FLUSS_OK;
		}
		if (status == FLUSS_OK && clear)
			status = judge(w, ready, err);
		if (status == FLUSS_OK && !*ready &&
			host->now_ms(host->arg) - start < PAUSE_MS)
			status = fluss_cluster_sleep(w->client, PAUSE_MS, err);
		if (status == FLUSS_OK && !clear)
			status = look(w, ready, err);
	}
	return status;
}

static fluss_status
set_up(waiter *w, const fluss_position *positions, int n, fluss_error *err)
{
	w->buckets = fluss_arena_array(&w->arena, (size_t) n, sizeof(*w->buckets));
	w->asks = fluss_arena_array(&w->arena, (size_t) n, sizeof(*w->asks));
	w->numbers = fluss_arena_array(&w->arena, (size_t) n, sizeof(int32_t));
	w->offsets = fluss_arena_array(&w->arena, (size_t) n, sizeof(int64_t));
	w->ranges = fluss_arena_array(&w->arena, (size_t) n, sizeof(fluss_range));
	w->requests = fluss_arena_array(&w->arena, (size_t) n,
									sizeof(fluss_request *));
	if (w->buckets == NULL || w->asks == NULL || w->numbers == NULL ||
		w->offsets == NULL || w->ranges == NULL || w->requests == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		if (positions[i].bucket < 0 ||
			positions[i].bucket >= w->table->nbuckets)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "table \"%s.%s\" has no bucket %d",
							  w->table->database, w->table->name,
							  (int) positions[i].bucket);
		w->buckets[i].position = &positions[i];
		w->buckets[i].offset = positions[i].offset;
	}
	w->nbuckets = n;
	return FLUSS_OK;
}

fluss_status
fluss_wait_for_records(fluss_client *client, fluss_table *table,
					   const fluss_position *positions, int npositions,
					   int32_t narrow_column, int64_t timeout_ms, bool *ready,
					   fluss_error *err)
{
	waiter		w = {0};
	fluss_status status;

	*ready = false;
	w.client = client;
	w.table = table;
	w.column = narrow_column;
	w.deadline_ms = client->host.now_ms(client->host.arg) + timeout_ms;
	fluss_arena_init(&w.arena, &client->host);
	fluss_table_retain(table);
	status = set_up(&w, positions, npositions, err);
	if (status == FLUSS_OK && npositions > 0)
		status = wait_until_ready(&w, ready, err);
	else if (status == FLUSS_OK)
		status = fluss_cluster_sleep(client, timeout_ms, err);
	drop_requests(&w);
	if (status != FLUSS_OK && fluss_error_is_dropped_partition(err))
	{
		fluss_error_init(err);
		status = fluss_cluster_sleep(client, PAUSE_MS, err);
	}
	fluss_table_release(table);
	fluss_arena_free(&w.arena);
	return status;
}
