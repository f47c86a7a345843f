/*
 * fetch.c
 *	  Log scans: opening, the loop, closing.
 *
 * Each turn of the loop takes in answers, sends what can be sent, and only
 * then reads: a request is on its way while the answer before it is decoded.
 * fetch.h describes the state.  After an error a scan can only be closed.
 */
#include <stdlib.h>

#include "error.h"
#include "fetch.h"
#include "frame.h"

/* An answer must fit into a frame, with a batch more than was asked for. */
#define LARGEST_FETCH	((int64_t) FLUSS_MAX_FRAME / 2)
/* Bytes to decode before sockets are served again. */
#define PUMP_BYTES		((size_t) 256 * 1024)
#define LONG_WAIT_MS	60000
/* The first answer of a scan; each one after it may be four times as large. */
#define FIRST_BYTES		((int64_t) 1 << 20)

void
fluss_fetch_answer_free(fluss_scan *scan, fetch_answer *answer)
{
	fetch_answer **link = &scan->answers;

	while (*link != answer)
		link = &(*link)->next;
	*link = answer->next;
	if (answer->request != NULL)
	{
		fluss_request_free(answer->request);
		answer->request = NULL;
		scan->nrequests--;
	}
	if (answer->read != NULL)
	{
		fluss_remote_free(answer->read);
		answer->read = NULL;
		scan->nrequests--;
	}
	fluss_request_free(answer->received);
	answer->received = NULL;
	fluss_arena_reset(&answer->arena);
	scan->bytes -= answer->bytes;
	answer->next = scan->spare;
	scan->spare = answer;
}

/* ---- opening */

static fluss_status
check_options(const fluss_table *table, const fluss_range *ranges, int nranges,
			  const fluss_scan_options *options, fluss_error *err)
{
	for (int i = 0; i < nranges; i++)
	{
		if (ranges[i].partition_id == FLUSS_NO_PARTITION &&
			table->npartition_key > 0)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "a range of table \"%s.%s\" names no partition",
							  table->database, table->name);
		if (ranges[i].bucket < 0 || ranges[i].bucket >= table->nbuckets ||
			ranges[i].start < 0)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "cannot scan bucket %d of table \"%s.%s\" from offset %lld",
							  (int) ranges[i].bucket, table->database,
							  table->name, (long long) ranges[i].start);
	}
	if (options->fetch_max_bytes < 1 ||
		options->fetch_max_bytes_for_bucket < 1 ||
		options->fetch_inflight < 1 || options->max_buffered_bytes < 1)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "limits of a scan must be above zero");
	return FLUSS_OK;
}

static void
keep_options(fluss_scan *scan, const fluss_scan_options *options)
{
	scan->options = *options;
	if (scan->options.fetch_max_bytes > LARGEST_FETCH)
		scan->options.fetch_max_bytes = LARGEST_FETCH;
	if (scan->options.fetch_max_bytes_for_bucket > LARGEST_FETCH)
		scan->options.fetch_max_bytes_for_bucket = LARGEST_FETCH;
	scan->first_bytes = FIRST_BYTES;
	scan->limit_budget = options->row_limit;
	if (scan->limit_budget >= scan->options.fetch_max_bytes)
		scan->limit_budget = 0;
}

static fluss_status
make_columns(fluss_scan *scan, fluss_error *err)
{
	const fluss_schema *schema = scan->table->schema;
	int			n = scan->options.ncolumns;
	int32_t    *projection;
	fluss_status status;

	status = fluss_projector_init(&scan->projector, scan->client, scan->table,
								  &scan->arena, scan->options.columns, n, err);
	if (status != FLUSS_OK)
		return status;
	scan->options.columns = scan->projector.columns;
	scan->types = fluss_arena_array(&scan->arena, (size_t) n,
									sizeof(fluss_type *));
	scan->views = fluss_arena_array(&scan->arena, (size_t) n,
									sizeof(fluss_column_view));
	projection = fluss_arena_array(&scan->arena, (size_t) schema->ncolumns,
								   sizeof(int32_t));
	if (scan->types == NULL || scan->views == NULL || projection == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
		scan->types[i] = &schema->columns[scan->options.columns[i]].type;
	scan->nprojection = fluss_fetch_projection(scan->table,
											   scan->options.columns, n,
											   projection);
	scan->projection = projection;
	return FLUSS_OK;
}

static int
compare_ranges(const void *a, const void *b)
{
	const fluss_range *x = a;
	const fluss_range *y = b;

	if (x->partition_id != y->partition_id)
		return x->partition_id < y->partition_id ? -1 : 1;
	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

static void
start_bucket(fetch_bucket *bucket, fluss_range *range)
{
	bucket->partition_id = range->partition_id;
	bucket->bucket = range->bucket;
	bucket->ranges = range;
	bucket->end = FLUSS_OFFSET_UNKNOWN;
	fluss_retry_clear(&bucket->retry);
}

/* Groups the ranges that are not empty by bucket. */
static bool
make_buckets(fluss_scan *scan, const fluss_range *ranges, int nranges)
{
	size_t		room = (size_t) nranges;
	fluss_range *own = fluss_arena_array(&scan->arena, room,
										 sizeof(fluss_range));
	int			n = 0;

	scan->buckets = fluss_arena_array(&scan->arena, room,
									  sizeof(fetch_bucket));
	scan->order = fluss_arena_array(&scan->arena, room,
									sizeof(fetch_bucket *));
	scan->asks = fluss_arena_array(&scan->arena, room,
								   sizeof(fluss_fetch_bucket));
	scan->losses = fluss_arena_array(&scan->arena, 2 * room,
									 sizeof(fluss_loss));
	if (own == NULL || scan->buckets == NULL || scan->order == NULL ||
		scan->asks == NULL || scan->losses == NULL)
		return false;
	for (int i = 0; i < nranges; i++)
	{
		if (ranges[i].start < ranges[i].end)
			own[n++] = ranges[i];
	}
	qsort(own, (size_t) n, sizeof(fluss_range), compare_ranges);
	for (int i = 0; i < n; i++)
	{
		if (i == 0 || own[i].partition_id != own[i - 1].partition_id ||
			own[i].bucket != own[i - 1].bucket)
		{
			start_bucket(&scan->buckets[scan->nbuckets++], &own[i]);
			fluss_leader_expect(scan->table, own[i].partition_id);
		}
		scan->buckets[scan->nbuckets - 1].nranges++;
		if (own[i].from_ms != 0 || own[i].stop_ms != 0)
			scan->buckets[scan->nbuckets - 1].timed = true;
	}
	return true;
}

fluss_status
fluss_scan_open(fluss_client *client, const fluss_host *host,
				fluss_table *table, const fluss_range *ranges, int nranges,
				const fluss_scan_options *options, fluss_ends *ends,
				fluss_scan **scan, fluss_error *err)
{
	fluss_arena arena;
	fluss_scan *result;
	fluss_status status;

	*scan = NULL;
	status = check_options(table, ranges, nranges, options, err);
	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, host);
	result = fluss_arena_alloc0(&arena, sizeof(fluss_scan));
	if (result == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &result->arena, &result->host);
	result->client = client;
	result->table = table;
	fluss_table_retain(table);
	result->ends = ends;
	fluss_arena_init(&result->batch_arena, &result->host);
	fluss_buf_init(&result->body, &result->host);
	keep_options(result, options);
	status = make_columns(result, err);
	if (status == FLUSS_OK && !make_buckets(result, ranges, nranges))
		status = fluss_fail_memory(err);
	if (status != FLUSS_OK)
	{
		fluss_scan_close(result);
		return status;
	}
	*scan = result;
	return FLUSS_OK;
}

/* ---- the loop */

static bool
is_finished(const fluss_scan *scan)
{
	if (scan->answers != NULL)
		return false;
	for (int i = 0; i < scan->nbuckets; i++)
	{
		if (scan->buckets[i].fetch_range < scan->buckets[i].nranges)
			return false;
	}
	return true;
}

/* When some bucket may be tried again. */
static int64_t
next_try_ms(const fluss_scan *scan)
{
	int64_t		next = scan->host.now_ms(scan->host.arg) + LONG_WAIT_MS;

	for (int i = 0; i < scan->nbuckets; i++)
	{
		const fetch_bucket *bucket = &scan->buckets[i];

		if (bucket->fetch_range < bucket->nranges && !bucket->in_flight &&
			bucket->retry.attempt > 0 && bucket->retry.next_ms < next)
			next = bucket->retry.next_ms;
	}
	return next;
}

static fluss_status
wait_for_answers(fluss_scan *scan, fluss_error *err)
{
	int64_t		until = next_try_ms(scan);
	int64_t		pause = until - scan->host.now_ms(scan->host.arg);

	if (scan->nrequests > 0)
		return fluss_cluster_poll(scan->client, until, err);
	return fluss_cluster_sleep(scan->client, pause > 0 ? pause : 0, err);
}

/* Lets bytes flow while there is something else to do. */
static void
pump_sometimes(fluss_scan *scan)
{
	if (scan->nrequests == 0 || scan->unpumped < PUMP_BYTES)
		return;
	scan->unpumped = 0;
	fluss_cluster_pump(scan->client);
}

/* The time that the caller spends elsewhere is not a bucket's. */
static void
enter(fluss_scan *scan)
{
	scan->entered_ms = scan->host.now_ms(scan->host.arg);
	if (scan->entered_ms == scan->left_ms)
		return;
	for (int i = 0; i < scan->nbuckets; i++)
		fluss_retry_postpone(&scan->buckets[i].retry,
							 scan->entered_ms - scan->left_ms);
}

static fluss_status
find_next(fluss_scan *scan, fluss_scan_item *item, const fluss_batch **batch,
		  fluss_loss *loss, fluss_error *err)
{
	for (;;)
	{
		const fetch_answer *oldest;
		fluss_status status;
		bool		given;

		pump_sometimes(scan);
		status = fluss_fetch_receive(scan, err);
		if (status == FLUSS_OK)
			status = fluss_fetch_send(scan, err);
		if (status != FLUSS_OK)
			return status;
		if (scan->next_loss < scan->nlosses)
		{
			*loss = scan->losses[scan->next_loss++];
			*item = FLUSS_SCAN_LOSS;
			return FLUSS_OK;
		}
		oldest = scan->answers;
		status = fluss_fetch_read(scan, &given, err);
		if (status != FLUSS_OK)
			return status;
		if (given)
		{
			*batch = &scan->batch;
			*item = FLUSS_SCAN_BATCH;
			return FLUSS_OK;
		}
		if (is_finished(scan))
		{
			*item = FLUSS_SCAN_END;
			return FLUSS_OK;
		}
		/* answers without a row in range were dropped: there is room again */
		if (scan->answers != oldest)
			continue;
		status = wait_for_answers(scan, err);
		if (status != FLUSS_OK)
			return status;
	}
}

fluss_status
fluss_scan_next(fluss_scan *scan, fluss_scan_item *item,
				const fluss_batch **batch, fluss_loss *loss, fluss_error *err)
{
	fluss_status status;

	enter(scan);
	status = find_next(scan, item, batch, loss, err);
	scan->left_ms = scan->host.now_ms(scan->host.arg);
	return status;
}

const fluss_counters *
fluss_scan_counters(const fluss_scan *scan)
{
	return &scan->counters;
}

void
fluss_scan_close(fluss_scan *scan)
{
	if (scan == NULL)
		return;
	while (scan->answers != NULL)
		fluss_fetch_answer_free(scan, scan->answers);
	for (fetch_answer *answer = scan->spare; answer != NULL;
		 answer = answer->next)
		fluss_arena_free(&answer->arena);
	for (int i = 0; i < scan->nbuckets; i++)
		fluss_fetch_leave_remote(&scan->buckets[i]);
	fluss_arena_free(&scan->batch_arena);
	fluss_buf_free(&scan->body);
	fluss_table_release(scan->table);
	fluss_arena_free_owner(&scan->arena);
}
