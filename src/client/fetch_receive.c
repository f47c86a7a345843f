/*
 * fetch_receive.c
 *	  What an answer means for the buckets of a log scan, before anything in
 *	  it is decoded.
 *
 * The headers of the batches move the fetch cursor.  Everything that is not
 * progress is told apart here: the pinned end, lost data, a projection that
 * the server could not make, a leader that moved, offsets that live elsewhere.
 */
#include "error.h"
#include "fetch.h"

/* Answers without progress, in a row, that mean there will be none. */
#define MAX_STALLS		2
/* Asked for a batch whose length is not known. */
#define LEAST_BYTES		((int64_t) 64 * 1024)
#define MAX_PATIENCE	64

/* ---- losses */

static void
add_loss(fluss_scan *scan, const fluss_loss *loss)
{
	/* its start and a drop, for each range at most: there is room */
	scan->losses[scan->nlosses++] = *loss;
}

void
fluss_fetch_move_on(fluss_scan *scan, fetch_bucket *bucket, int64_t earliest)
{
	fluss_loss	loss;

	while (fluss_fetch_settle(bucket, &loss))
	{
		loss.earliest = earliest;
		add_loss(scan, &loss);
	}
}

void
fluss_fetch_dropped(fluss_scan *scan, fetch_bucket *bucket)
{
	const fluss_range *range;

	bucket->out_of_range = false;
	fluss_fetch_move_on(scan, bucket, FLUSS_OFFSET_UNKNOWN);
	if (bucket->fetch_range == bucket->nranges)
		return;
	range = &bucket->ranges[bucket->fetch_range];
	add_loss(scan, &(fluss_loss) {
			 .partition_id = bucket->partition_id,
			 .bucket = bucket->bucket,
			 .dropped = true,
			 .start = bucket->progressed ? bucket->fetch_offset : range->start,
			 .earliest = FLUSS_OFFSET_UNKNOWN,
			 .end = bucket->end
			 });
	bucket->fetch_range = bucket->nranges;
}

static fluss_status
pin_end(fluss_scan *scan, fetch_bucket *bucket, int64_t offset,
		fluss_error *err)
{
	fluss_status status;

	if (bucket->end != FLUSS_OFFSET_UNKNOWN)
		return FLUSS_OK;
	status = fluss_ends_pin(scan->ends, bucket->partition_id, bucket->bucket,
							offset, err);
	if (status != FLUSS_OK)
		return status;
	if (!fluss_ends_get(scan->ends, bucket->partition_id, bucket->bucket,
						&bucket->end))
		bucket->end = offset;
	return FLUSS_OK;
}

/* ---- offsets out of range */

/* Retention has passed an offset in the middle of a range. */
static fluss_status
fail_lost(const fluss_scan *scan, const fetch_bucket *bucket,
		  int64_t earliest, fluss_error *err)
{
	fluss_fail(err, FLUSS_DATA_LOST,
			   "offset %lld of bucket %d of table \"%s.%s\" was lost before it could be read",
			   (long long) bucket->fetch_offset, (int) bucket->bucket,
			   scan->table->database, scan->table->name);
	fluss_error_detail(err, "The bucket now starts at offset %lld.",
					   (long long) earliest);
	fluss_error_place(err, bucket->partition_id, bucket->bucket,
					  bucket->fetch_offset, earliest);
	return err->status;
}

/* Goes on from what the bucket holds. */
static fluss_status
start_again(fluss_scan *scan, fetch_bucket *bucket, int64_t earliest,
			fluss_error *err)
{
	const fluss_range *range;
	fluss_error cause;

	bucket->out_of_range = false;
	fluss_fetch_move_on(scan, bucket, earliest);
	if (bucket->fetch_range == bucket->nranges)
		return FLUSS_OK;
	range = &bucket->ranges[bucket->fetch_range];
	if (bucket->fetch_offset < earliest)
	{
		if (bucket->progressed)
			return fail_lost(scan, bucket, earliest, err);
		if (range->start > 0 && !bucket->loss_reported)
		{
			fluss_loss	loss = {
				.partition_id = bucket->partition_id,
				.bucket = bucket->bucket,
				.start = range->start,
				.earliest = earliest,
				.end = bucket->end
			};

			bucket->loss_reported = true;
			add_loss(scan, &loss);
		}
		bucket->fetch_offset = earliest;
		fluss_fetch_move_on(scan, bucket, earliest);
		return FLUSS_OK;
	}
	/* not past retention: a leader that has not caught up, or has lost it */
	fluss_fail_server(&cause, FLUSS_CODE_OFFSET_OUT_OF_RANGE, NULL, 0,
					  "fetch offset %lld of bucket %d of table \"%s.%s\"",
					  (long long) bucket->fetch_offset, (int) bucket->bucket,
					  scan->table->database, scan->table->name);
	return fluss_retry_pause(&bucket->retry, scan->client, &cause, err);
}

static fluss_status
list_offsets(fluss_scan *scan, fluss_offset_kind kind, int64_t partition_id,
			 const int32_t *buckets, int n, int64_t *offsets, fluss_error *err)
{
	scan->counters.requests[FLUSS_REQUEST_LIST_OFFSETS]++;
	return fluss_list_offsets(scan->client, scan->table, kind, 0, partition_id,
							  buckets, n, FLUSS_NEED_ALL, offsets, err);
}

/* One partition's buckets: those of the first one that is out of range. */
static fluss_status
find_range_of(fluss_scan *scan, fluss_arena *arena, int first,
			  fluss_error *err)
{
	size_t		room = (size_t) (scan->nbuckets - first);
	int32_t    *ids = fluss_arena_array(arena, room, sizeof(int32_t));
	fetch_bucket **found = fluss_arena_array(arena, room, sizeof(*found));
	int64_t    *offsets = fluss_arena_array(arena, room, sizeof(int64_t));
	int64_t    *ends = fluss_arena_array(arena, room, sizeof(int64_t));
	int64_t		partition_id = scan->buckets[first].partition_id;
	bool		pinned = true;
	fluss_status status;
	int			n = 0;

	if (ids == NULL || found == NULL || offsets == NULL || ends == NULL)
		return fluss_fail_memory(err);
	for (int i = first; i < scan->nbuckets; i++)
	{
		fetch_bucket *bucket = &scan->buckets[i];

		if (!bucket->out_of_range || bucket->partition_id != partition_id)
			continue;
		ids[n] = bucket->bucket;
		found[n++] = bucket;
		pinned = pinned && bucket->end != FLUSS_OFFSET_UNKNOWN;
	}
	status = list_offsets(scan, FLUSS_OFFSET_EARLIEST, partition_id, ids, n,
						  offsets, err);
	if (status == FLUSS_OK && !pinned)
		status = list_offsets(scan, FLUSS_OFFSET_LATEST, partition_id, ids, n,
							  ends, err);
	if (status != FLUSS_OK && fluss_error_is_dropped_partition(err))
	{
		for (int i = 0; i < n; i++)
			fluss_fetch_dropped(scan, found[i]);
		return FLUSS_OK;
	}
	for (int i = 0; i < n && status == FLUSS_OK; i++)
	{
		if (!pinned)
			status = pin_end(scan, found[i], ends[i], err);
		if (status == FLUSS_OK)
			status = start_again(scan, found[i], offsets[i], err);
	}
	return status;
}

/* Asks what those buckets hold whose offset was out of range. */
static fluss_status
find_ranges(fluss_scan *scan, fluss_error *err)
{
	fluss_status status = FLUSS_OK;
	fluss_arena arena;

	if (!scan->some_out_of_range)
		return FLUSS_OK;
	scan->some_out_of_range = false;
	fluss_arena_init(&arena, &scan->host);
	for (int i = 0; i < scan->nbuckets && status == FLUSS_OK; i++)
	{
		if (scan->buckets[i].out_of_range)
			status = find_range_of(scan, &arena, i, err);
	}
	fluss_arena_free(&arena);
	return status;
}

/* ---- batches that arrived */

/*
 * Walks the whole batches of a part and returns the first offset past them,
 * or the fetch offset when there are none.  A header that is not valid ends
 * the walk: the bytes are kept, so that reading them tells what is wrong.  So
 * does a batch that does not join on: it is asked for again if what is missing
 * before it, up to *gap_end, is wanted.
 */
static int64_t
walk_batches(fluss_scan *scan, fetch_part *part, bool *narrow,
			 int64_t *gap_end)
{
	int64_t		next = part->bucket->fetch_offset;
	fluss_log_batch batch;
	fluss_error ignored;
	bool		complete;

	*narrow = false;
	*gap_end = FLUSS_OFFSET_UNKNOWN;
	while (part->end < part->records.size)
	{
		if (fluss_log_batch_open(part->records.data + part->end,
								 part->records.size - part->end, false,
								 &batch, &complete, &ignored) != FLUSS_OK)
		{
			part->bucket->broken = true;
			part->end = part->records.size;
			break;
		}
		if (!complete)
		{
			if (part->end == 0)
				part->first_size = (int64_t) batch.total_size;
			break;
		}
		if (batch.base_offset > next)
		{
			*gap_end = batch.base_offset;
			break;
		}
		part->end += batch.total_size;
		fluss_fetch_stop(part->bucket, batch.base_offset,
						 batch.commit_timestamp_ms);
		scan->sizes.batches++;
		scan->sizes.bytes += (int64_t) batch.total_size;
		scan->sizes.offsets += batch.next_offset - batch.base_offset;
		if (!batch.arrow && batch.record_count > 0)
			*narrow = true;
		if (batch.schema_id < scan->table->schema->schema_id)
			*narrow = true;
		if (batch.next_offset > next)
			next = batch.next_offset;
	}
	return next;
}

/* Whole rows were fetched; after some good answers the projection is tried. */
static void
leave_whole(fetch_bucket *bucket, bool narrow)
{
	if (!bucket->whole || narrow)
		return;
	if (--bucket->patience <= 0)
		bucket->whole = false;
}

/*
 * The server could not project: some batch lacks a column (written before it
 * was added), has no schema, or is no Arrow batch at all.
 */
static void
enter_whole(fetch_bucket *bucket)
{
	bucket->whole = true;
	bucket->patience = 1 << (bucket->fallbacks < 6 ? bucket->fallbacks : 6);
	if (bucket->patience > MAX_PATIENCE)
		bucket->patience = MAX_PATIENCE;
	bucket->fallbacks++;
}

/* There is data below the high watermark, and no answer brings it. */
static fluss_status
fail_stalled(const fluss_scan *scan, const fetch_bucket *bucket,
			 const fetch_part *part, fluss_error *err)
{
	const fluss_range *range = &bucket->ranges[bucket->fetch_range];

	if (part->records.size > 0)
		fluss_fail(err, FLUSS_MALFORMED,
				   "the answer for bucket %d of table \"%s.%s\" ends within its first batch",
				   (int) bucket->bucket, scan->table->database,
				   scan->table->name);
	else
	{
		fluss_fail(err, FLUSS_UNSUPPORTED,
				   "cannot read offsets %lld to %lld of bucket %d of table \"%s.%s\"",
				   (long long) bucket->fetch_offset,
				   (long long) fluss_fetch_range_end(bucket, range) - 1,
				   (int) bucket->bucket, scan->table->database,
				   scan->table->name);
		fluss_error_detail(err, "They live only in the lake, which cannot be read yet.");
	}
	fluss_error_place(err, bucket->partition_id, bucket->bucket,
					  bucket->fetch_offset, -1);
	return err->status;
}

/*
 * An answer ended within its first batch.  Servers give that batch whole,
 * whatever the limit says; should one not, it is asked for with a limit that
 * holds it.  False when the limit did hold it.
 */
static bool
ask_for_more(fetch_bucket *bucket, const fetch_part *part)
{
	int64_t		least = part->first_size;

	if (part->records.size == 0)
		return false;
	if (least == 0)
		least = LEAST_BYTES;
	if (least <= bucket->least_bytes || least > INT32_MAX)
		return false;
	bucket->least_bytes = least;
	return true;
}

/*
 * No record came.  That says nothing when another bucket took the room of the
 * answer, which the server fills in an order of its own; else there is none
 * below the high watermark, or none to be had.
 */
static fluss_status
note_stall(fluss_scan *scan, fetch_bucket *bucket, const fetch_part *part,
		   int64_t high_watermark, bool had_room, fluss_error *err)
{
	fluss_error cause;

	if (high_watermark > bucket->fetch_offset)
	{
		if (had_room && !ask_for_more(bucket, part) &&
			++bucket->stalls >= MAX_STALLS)
			return fail_stalled(scan, bucket, part, err);
		return FLUSS_OK;
	}
	/* a new leader that does not know the old high watermark yet */
	fluss_fail(&cause, FLUSS_TIMED_OUT,
			   "could not fetch from bucket %d of table \"%s.%s\"",
			   (int) bucket->bucket, scan->table->database,
			   scan->table->name);
	fluss_error_detail(&cause, "Its high watermark stays at %lld, below the end at %lld seen before.",
					   (long long) high_watermark, (long long) bucket->end);
	return fluss_retry_pause(&bucket->retry, scan->client, &cause, err);
}

/* Offsets follow each other in a log, empty batches included. */
static fluss_status
fail_gap(const fluss_scan *scan, const fetch_bucket *bucket, int64_t end,
		 fluss_error *err)
{
	int64_t		start = bucket->fetch_offset;

	fluss_fail(err, FLUSS_MALFORMED,
			   "the answer for bucket %d of table \"%s.%s\" leaves out offsets %lld to %lld",
			   (int) bucket->bucket, scan->table->database, scan->table->name,
			   (long long) start, (long long) end - 1);
	fluss_error_place(err, bucket->partition_id, bucket->bucket, start, end);
	return err->status;
}

static fluss_status
accept_records(fluss_scan *scan, fetch_answer *answer, fetch_part *part,
			   const fluss_fetch_result *result, bool had_room,
			   fluss_error *err)
{
	fetch_bucket *bucket = part->bucket;
	bool		narrow;
	int64_t		gap_end;
	int64_t		next;
	fluss_status status;

	if (result->high_watermark < 0)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the answer for bucket %d of table \"%s.%s\" has no high watermark",
						  (int) bucket->bucket, scan->table->database,
						  scan->table->name);
	status = pin_end(scan, bucket, result->high_watermark, err);
	if (status != FLUSS_OK)
		return status;
	part->records = result->records;
	next = walk_batches(scan, part, &narrow, &gap_end);
	leave_whole(bucket, narrow);
	if (next > bucket->fetch_offset)
	{
		bucket->fetch_offset = next;
		bucket->progressed = true;
		bucket->stalls = 0;
		bucket->least_bytes = 0;
		bucket->served = ++scan->clock;
		fluss_retry_clear(&bucket->retry);
		fluss_fetch_move_on(scan, bucket, FLUSS_OFFSET_UNKNOWN);
		return FLUSS_OK;
	}
	fluss_fetch_move_on(scan, bucket, FLUSS_OFFSET_UNKNOWN);
	if (bucket->fetch_range == bucket->nranges || bucket->broken)
		return FLUSS_OK;
	if (gap_end != FLUSS_OFFSET_UNKNOWN)
		return fail_gap(scan, bucket, gap_end, err);
	if (result->remote_dir != NULL)
		return fluss_fetch_enter_remote(scan, bucket, result, err);
	return note_stall(scan, bucket, part, result->high_watermark,
					  had_room || answer->nparts == 1, err);
}

/* ---- answers */

static bool
is_projection_error(int code)
{
	return code == FLUSS_CODE_INVALID_PROJECTION ||
		code == FLUSS_CODE_UNKNOWN_SERVER_ERROR ||
		code == FLUSS_CODE_SCHEMA_NOT_EXIST;
}

static fluss_status
accept_result(fluss_scan *scan, fetch_answer *answer, fetch_part *part,
			  const fluss_fetch_result *result, bool empty, fluss_error *err)
{
	fetch_bucket *bucket = part->bucket;
	fluss_error cause;

	bucket->in_flight = false;
	if (result->error_code == 0)
		return accept_records(scan, answer, part, result, empty, err);
	if (result->error_code == FLUSS_CODE_OFFSET_OUT_OF_RANGE)
	{
		bucket->out_of_range = true;
		scan->some_out_of_range = true;
		return FLUSS_OK;
	}
	if (!answer->whole && is_projection_error(result->error_code))
	{
		enter_whole(bucket);
		return FLUSS_OK;
	}
	if (result->error_code == FLUSS_CODE_PARTITION_NOT_EXISTS)
	{
		fluss_fetch_dropped(scan, bucket);
		return FLUSS_OK;
	}
	fluss_fail_server(&cause, result->error_code, result->error_message,
					  result->error_message == NULL ? 0 :
					  strlen(result->error_message),
					  "fetch from bucket %d of table \"%s.%s\"",
					  (int) bucket->bucket, scan->table->database,
					  scan->table->name);
	fluss_error_place(&cause, bucket->partition_id, bucket->bucket,
					  bucket->fetch_offset, -1);
	return fluss_retry_note(&bucket->retry, scan->client, scan->table, &cause,
							err);
}

static fetch_part *
find_part(fetch_answer *answer, const fluss_fetch_result *result)
{
	for (int i = 0; i < answer->nparts; i++)
	{
		fetch_part *part = &answer->parts[i];

		if (part->bucket->bucket == result->bucket &&
			part->bucket->partition_id == result->partition_id &&
			!part->answered)
			return part;
	}
	return NULL;
}

static fluss_status
accept_results(fluss_scan *scan, fetch_answer *answer,
			   const fluss_fetch_result *results, int nresults,
			   fluss_error *err)
{
	bool		empty = true;
	int			matched = 0;

	for (int i = 0; i < nresults; i++)
		empty = empty && results[i].records.size == 0;
	for (int i = 0; i < nresults; i++)
	{
		fetch_part *part = find_part(answer, &results[i]);
		fluss_status status;

		if (part == NULL)
			continue;
		part->answered = true;
		matched++;
		status = accept_result(scan, answer, part, &results[i], empty, err);
		if (status != FLUSS_OK)
			return status;
	}
	if (matched < answer->nparts)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the answer to a fetch from table \"%s.%s\" lacks a bucket",
						  scan->table->database, scan->table->name);
	return FLUSS_OK;
}

static fluss_status
accept_answer(fluss_scan *scan, fetch_answer *answer, fluss_error *err)
{
	fluss_bytes bytes = fluss_request_answer(answer->request);
	fluss_fetch_result *results;
	int			nresults;
	fluss_status status;

	scan->counters.bytes += (int64_t) bytes.size;
	scan->bytes += (int64_t) bytes.size - answer->bytes;
	answer->bytes = (int64_t) bytes.size;
	status = fluss_rpc_decode_fetch(&answer->arena, bytes,
									scan->table->table_id, &results, &nresults,
									err);
	/* records point into it */
	answer->received = answer->request;
	answer->request = NULL;
	scan->nrequests--;
	if (status != FLUSS_OK)
		return status;
	return accept_results(scan, answer, results, nresults, err);
}

fluss_status
fluss_fetch_failed(fluss_scan *scan, fetch_answer *answer,
				   const fluss_error *cause, fluss_error *err)
{
	for (int i = 0; i < answer->nparts; i++)
	{
		fetch_bucket *bucket = answer->parts[i].bucket;
		fluss_status status;

		bucket->in_flight = false;
		status = fluss_retry_note(&bucket->retry, scan->client, scan->table,
								  cause, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static fluss_status
accept_failure(fluss_scan *scan, fetch_answer *answer, fluss_error *err)
{
	fluss_error cause;

	fluss_retry_cause(answer->request, answer->sent_ms, scan->entered_ms,
					  &cause);
	fluss_request_free(answer->request);
	answer->request = NULL;
	answer->current = answer->nparts;
	scan->nrequests--;
	return fluss_fetch_failed(scan, answer, &cause, err);
}

/* Takes in every answer that is there. */
fluss_status
fluss_fetch_receive(fluss_scan *scan, fluss_error *err)
{
	fetch_answer *next;

	for (fetch_answer *answer = scan->answers;
		 answer != NULL && scan->nrequests > 0; answer = next)
	{
		fluss_status status = FLUSS_OK;

		next = answer->next;
		if (answer->read != NULL)
			status = fluss_fetch_accept_remote(scan, answer, err);
		if (status != FLUSS_OK)
			return status;
		if (answer->request == NULL)
			continue;
		switch (fluss_request_state_of(answer->request))
		{
			case FLUSS_REQUEST_PENDING:
				break;
			case FLUSS_REQUEST_DONE:
				status = accept_answer(scan, answer, err);
				break;
			case FLUSS_REQUEST_FAILED:
				status = accept_failure(scan, answer, err);
				break;
		}
		if (status != FLUSS_OK)
			return status;
	}
	return find_ranges(scan, err);
}
