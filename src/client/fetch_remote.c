/*
 * fetch_remote.c
 *	  Offsets that lie only in remote storage: the segments' files, read a
 *	  part at a time.
 *
 * A segment's file is a row of whole log batches, never projected and with
 * valid checksums.  A part ends where its bytes end, mostly within a batch;
 * the next one begins with that batch.  Where a range skips much, the server
 * is asked again, whose index knows the place.
 *
 * What the server said of a segment is held against its file: its size, and
 * that its batches join on up to its end.
 */
#include <stdio.h>

#include "error.h"
#include "fetch.h"

/* The "node" of the answers that are read from files. */
#define REMOTE_NODE			(-100)
#define SMALLEST_PART		((int64_t) 128 * 1024)
#define LARGEST_PART		((int64_t) 8 * 1024 * 1024)
/* Skipping so much costs less than asking the server. */
#define SMALL_SKIP			((int64_t) 256 * 1024)
/* Bytes of a batch that tell its length. */
#define LENGTH_END			12
/* How often a segment may be gone before it counts as lost. */
#define MAX_MISSING			3

/* ---- which segments */

void
fluss_fetch_leave_remote(fetch_bucket *bucket)
{
	fluss_arena arena;

	if (bucket->segments == NULL)
		return;
	/* the arena holds the struct itself */
	arena = bucket->segments->arena;
	bucket->segments = NULL;
	fluss_arena_free(&arena);
}

static fluss_status
fail_segments(const fluss_scan *scan, const fetch_bucket *bucket,
			  fluss_error *err)
{
	fluss_fail(err, FLUSS_MALFORMED,
			   "the answer for bucket %d of table \"%s.%s\" names no remote segment with offset %lld",
			   (int) bucket->bucket, scan->table->database,
			   scan->table->name, (long long) bucket->fetch_offset);
	fluss_error_place(err, bucket->partition_id, bucket->bucket,
					  bucket->fetch_offset, -1);
	return err->status;
}

/* Copies the segments up to the first gap, as what follows cannot be read on. */
static bool
keep_segments(fetch_segments *segments, const fluss_fetch_result *result)
{
	segments->segments = fluss_arena_array(&segments->arena,
										   (size_t) result->nsegments,
										   sizeof(fluss_remote_segment));
	segments->dir = fluss_arena_strdup(&segments->arena, result->remote_dir);
	if (segments->segments == NULL || segments->dir == NULL)
		return false;
	for (int i = 0; i < result->nsegments; i++)
	{
		fluss_remote_segment *segment = &segments->segments[i];

		if (result->segments[i].size == 0 ||
			(i > 0 &&
			 result->segments[i].start_offset != segment[-1].end_offset))
			break;
		*segment = result->segments[i];
		segment->id = fluss_arena_strdup(&segments->arena, segment->id);
		if (segment->id == NULL)
			return false;
		segments->nsegments++;
	}
	return true;
}

fluss_status
fluss_fetch_enter_remote(fluss_scan *scan, fetch_bucket *bucket,
						 const fluss_fetch_result *result, fluss_error *err)
{
	const fluss_remote_segment *first = result->segments;
	fetch_segments *segments;
	fluss_arena arena;

	if (result->nsegments == 0 || bucket->fetch_offset < first->start_offset ||
		bucket->fetch_offset >= first->end_offset ||
		result->first_start_pos >= first->size)
		return fail_segments(scan, bucket, err);
	fluss_arena_init(&arena, &scan->host);
	segments = fluss_arena_alloc0(&arena, sizeof(*segments));
	if (segments == NULL)
		return fluss_fail_memory(err);
	segments->arena = arena;
	bucket->segments = segments;
	segments->asked_offset = bucket->fetch_offset;
	segments->position = result->first_start_pos;
	segments->next_offset = segments->position == 0 ?
		first->start_offset : FLUSS_OFFSET_UNKNOWN;
	if (!keep_segments(segments, result))
		return fluss_fail_memory(err);
	bucket->stalls = 0;
	return FLUSS_OK;
}

static const fluss_remote_segment *
current_segment(const fetch_segments *segments)
{
	return &segments->segments[segments->current];
}

/* DIR/SEGMENT/OFFSET.log, the offset in 20 digits */
static const char *
file_of(const fetch_segments *segments, fluss_arena *arena)
{
	const fluss_remote_segment *segment = current_segment(segments);
	size_t		size = strlen(segments->dir) + strlen(segment->id) + 32;
	char	   *path = fluss_arena_alloc(arena, size);

	if (path != NULL)
		snprintf(path, size, "%s/%s/%020lld.log", segments->dir, segment->id,
				 (long long) segment->start_offset);
	return path;
}

/* ---- sending */

/* Whether what the bucket wants next lies near the place it has come to. */
static bool
goes_on(const fluss_scan *scan, const fetch_bucket *bucket)
{
	const fetch_segments *segments = bucket->segments;
	const fetch_sizes *sizes = &scan->remote_sizes;
	int64_t		skip = bucket->fetch_offset - segments->next_offset;

	if (segments->current == segments->nsegments)
		return false;
	if (segments->next_offset == FLUSS_OFFSET_UNKNOWN || skip <= 0 ||
		bucket->fetch_offset == segments->asked_offset)
		return true;
	return sizes->offsets > 0 &&
		(double) skip * (double) sizes->bytes / (double) sizes->offsets <
		(double) SMALL_SKIP;
}

/* Bytes of the next part; 0: not now. */
static int64_t
part_size(const fluss_scan *scan, const fetch_bucket *bucket)
{
	const fetch_segments *segments = bucket->segments;
	int64_t		left = current_segment(segments)->size - segments->position;
	int64_t		room = fluss_fetch_room(scan);
	int64_t		size;
	bool		solo;

	if (room == 0)
		return 0;
	if (room > LARGEST_PART)
		room = LARGEST_PART;
	if (room > scan->options.fetch_max_bytes_for_bucket)
		room = scan->options.fetch_max_bytes_for_bucket;
	size = fluss_fetch_budget(bucket, &scan->remote_sizes, room, &solo);
	if (size < SMALLEST_PART)
		size = SMALLEST_PART;
	if (size > scan->options.max_buffered_bytes)
		size = scan->options.max_buffered_bytes;
	if (size < segments->batch_size)
		size = segments->batch_size;
	return size < left ? size : left;
}

static fluss_status
fail_batch_size(const fluss_scan *scan, const fetch_bucket *bucket,
				fluss_error *err)
{
	fluss_fail(err, FLUSS_MEMORY_CAP,
			   "a log batch of bucket %d of table \"%s.%s\" does not fit into memory",
			   (int) bucket->bucket, scan->table->database,
			   scan->table->name);
	fluss_error_detail(err, "It has %lld bytes.",
					   (long long) bucket->segments->batch_size);
	fluss_error_place(err, bucket->partition_id, bucket->bucket,
					  bucket->segments->next_offset, -1);
	return err->status;
}

/* A read that could not be started, or failed. */
static fluss_status
note_failure(fluss_scan *scan, fetch_bucket *bucket, const fluss_error *cause,
			 fluss_error *err)
{
	*err = *cause;
	if (cause->status == FLUSS_DATA_LOST)
	{
		/* retention may have passed it: the server knows */
		fluss_fetch_leave_remote(bucket);
		if (++bucket->missing < MAX_MISSING)
			return fluss_retry_pause(&bucket->retry, scan->client, cause, err);
	}
	else if (fluss_status_is_network(cause->status))
		return fluss_retry_pause(&bucket->retry, scan->client, cause, err);
	if (err->status != FLUSS_INTERRUPTED)
		fluss_error_place(err, bucket->partition_id, bucket->bucket,
						  bucket->fetch_offset, -1);
	return err->status;
}

static fluss_status
start_part(fluss_scan *scan, fetch_bucket *bucket, int64_t size,
		   fluss_error *err)
{
	const fetch_segments *segments = bucket->segments;
	fetch_answer *answer;
	uint8_t    *buffer;
	fluss_error cause;
	fluss_status status;

	answer = fluss_fetch_new_answer(scan, REMOTE_NODE, 1, size);
	if (answer == NULL)
		return fluss_fail_memory(err);
	answer->whole = true;
	answer->parts[0].bucket = bucket;
	answer->file = file_of(segments, &answer->arena);
	buffer = fluss_arena_alloc(&answer->arena, (size_t) size);
	if (answer->file == NULL || buffer == NULL)
		return fluss_fail_memory(err);
	answer->parts[0].records.data = buffer;
	status = fluss_remote_start(scan->client, answer->file, segments->position,
								buffer, (size_t) size, &answer->read, &cause);
	if (status != FLUSS_OK)
	{
		answer->current = answer->nparts;
		fluss_fetch_answer_free(scan, answer);
		return note_failure(scan, bucket, &cause, err);
	}
	scan->counters.requests[FLUSS_REQUEST_REMOTE_READ]++;
	bucket->in_flight = true;
	fluss_fetch_note_sent(scan);
	return FLUSS_OK;
}

fluss_status
fluss_fetch_send_remote(fluss_scan *scan, fetch_bucket *bucket,
						fluss_error *err)
{
	int64_t		size;

	if (!goes_on(scan, bucket))
	{
		fluss_fetch_leave_remote(bucket);
		return FLUSS_OK;
	}
	if (bucket->segments->batch_size > scan->options.max_buffered_bytes)
		return fail_batch_size(scan, bucket, err);
	if (fluss_fetch_node_is_busy(scan, REMOTE_NODE))
		return FLUSS_OK;
	size = part_size(scan, bucket);
	return size == 0 ? FLUSS_OK : start_part(scan, bucket, size, err);
}

/* ---- parts that arrived */

static fluss_status
fail_file(const fetch_answer *answer, const char *what, int64_t base_offset,
		  fluss_error *err)
{
	const fetch_bucket *bucket = answer->parts[0].bucket;

	fluss_fail(err, FLUSS_MALFORMED, "remote log segment \"%s\" is malformed",
			   answer->file);
	fluss_error_detail(err, "%s", what);
	fluss_error_place(err, bucket->partition_id, bucket->bucket, base_offset,
					  -1);
	return err->status;
}

static fluss_status
check_batch(const fetch_answer *answer, const fluss_log_batch *batch,
			fluss_error *err)
{
	const fetch_bucket *bucket = answer->parts[0].bucket;
	const fetch_segments *segments = bucket->segments;
	const fluss_remote_segment *segment = current_segment(segments);

	if (segments->next_offset != FLUSS_OFFSET_UNKNOWN ?
		batch->base_offset != segments->next_offset :
		(batch->base_offset > bucket->fetch_offset ||
		 batch->base_offset < segment->start_offset))
		return fail_file(answer, "A batch does not have the offset that follows from the one before.",
						 batch->base_offset, err);
	if (batch->next_offset > segment->end_offset)
		return fail_file(answer, "A batch passes the end of the segment.",
						 batch->base_offset, err);
	return FLUSS_OK;
}

/*
 * Walks the whole batches of a part.  A header that is not valid ends the
 * walk: the bytes are kept, so that reading them tells what is wrong.
 */
static fluss_status
walk_part(fluss_scan *scan, fetch_answer *answer, fluss_error *err)
{
	fetch_part *part = &answer->parts[0];
	fetch_segments *segments = part->bucket->segments;
	const uint8_t *data = part->records.data;
	size_t		size = part->records.size;

	segments->batch_size = 0;
	while (part->end < size)
	{
		fluss_log_batch batch;
		fluss_error ignored;
		bool		complete;
		fluss_status status;

		if (fluss_log_batch_open(data + part->end, size - part->end, false,
								 &batch, &complete, &ignored) != FLUSS_OK)
		{
			part->bucket->broken = true;
			part->end = size;
			break;
		}
		if (!complete)
		{
			if (size - part->end >= LENGTH_END)
				segments->batch_size = LENGTH_END +
					(int64_t) fluss_load_u32le(data + part->end + 8);
			break;
		}
		status = check_batch(answer, &batch, err);
		if (status != FLUSS_OK)
			return status;
		/* batches before the offset came only with the index's entry */
		if (batch.next_offset > part->bucket->fetch_offset)
			fluss_fetch_stop(part->bucket, batch.base_offset,
							 batch.commit_timestamp_ms);
		part->end += batch.total_size;
		segments->position += (int64_t) batch.total_size;
		segments->next_offset = batch.next_offset;
		scan->remote_sizes.batches++;
		scan->remote_sizes.bytes += (int64_t) batch.total_size;
		scan->remote_sizes.offsets += batch.next_offset - batch.base_offset;
	}
	return FLUSS_OK;
}

/* What must hold where the part, or the segment, ends. */
static fluss_status
check_end(const fetch_answer *answer, int64_t asked, fluss_error *err)
{
	const fetch_part *part = &answer->parts[0];
	const fetch_segments *segments = part->bucket->segments;
	const fluss_remote_segment *segment = current_segment(segments);
	char		text[128];

	if ((int64_t) part->records.size < asked)
	{
		snprintf(text, sizeof(text), "It has %lld bytes instead of %d.",
				 (long long) (segments->position - (int64_t) part->end +
							  (int64_t) part->records.size), segment->size);
		return fail_file(answer, text, -1, err);
	}
	if (segments->position + segments->batch_size > segment->size ||
		(segments->position - (int64_t) part->end + asked == segment->size &&
		 segments->position < segment->size))
		return fail_file(answer, "Its last batch is not whole.",
						 segments->next_offset, err);
	if (segments->position == segment->size &&
		segments->next_offset != segment->end_offset)
	{
		snprintf(text, sizeof(text), "It ends at offset %lld instead of %lld.",
				 (long long) segments->next_offset,
				 (long long) segment->end_offset);
		return fail_file(answer, text, -1, err);
	}
	return FLUSS_OK;
}

/* The segment was read to its end: the next one, if there is one. */
static void
next_segment(fetch_segments *segments)
{
	if (segments->position < current_segment(segments)->size)
		return;
	segments->current++;
	segments->position = 0;
	segments->batch_size = 0;
}

static fluss_status
accept_part(fluss_scan *scan, fetch_answer *answer, size_t size,
			fluss_error *err)
{
	fetch_part *part = &answer->parts[0];
	fetch_bucket *bucket = part->bucket;
	int64_t		asked = answer->bytes;
	fluss_status status;

	scan->counters.bytes += (int64_t) size;
	part->records.size = size;
	status = walk_part(scan, answer, err);
	if (status == FLUSS_OK && !bucket->broken)
		status = check_end(answer, asked, err);
	if (status != FLUSS_OK || bucket->broken)
		return status;
	if (part->end > 0)
	{
		bucket->missing = 0;
		bucket->served = ++scan->clock;
		fluss_retry_clear(&bucket->retry);
	}
	if (bucket->segments->next_offset > bucket->fetch_offset)
	{
		bucket->fetch_offset = bucket->segments->next_offset;
		bucket->progressed = true;
	}
	next_segment(bucket->segments);
	fluss_fetch_move_on(scan, bucket, FLUSS_OFFSET_UNKNOWN);
	return FLUSS_OK;
}

fluss_status
fluss_fetch_accept_remote(fluss_scan *scan, fetch_answer *answer,
						  fluss_error *err)
{
	fluss_request_state state = fluss_remote_state_of(answer->read);
	fetch_bucket *bucket = answer->parts[0].bucket;
	size_t		size = 0;
	fluss_error cause;

	if (state == FLUSS_REQUEST_PENDING)
		return FLUSS_OK;
	if (state == FLUSS_REQUEST_DONE)
		size = fluss_remote_size(answer->read);
	else
		cause = *fluss_remote_error(answer->read);
	fluss_remote_free(answer->read);
	answer->read = NULL;
	scan->nrequests--;
	bucket->in_flight = false;
	if (state == FLUSS_REQUEST_DONE)
		return accept_part(scan, answer, size, err);
	answer->current = answer->nparts;
	return note_failure(scan, bucket, &cause, err);
}
