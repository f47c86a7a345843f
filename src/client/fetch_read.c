/*
 * fetch_read.c
 *	  Batches of answers that arrived: which are in range, and their columns.
 *
 * One batch is decoded at a time, into one arena.  Views may point into the
 * answer, so an answer is freed only when the caller comes for more.
 */
#include "error.h"
#include "fetch.h"

/* Where the batch being read lies, and in which segment's file. */
static fluss_status
place_error(const fluss_scan *scan, const fetch_answer *answer,
			const fetch_part *part, fluss_error *err)
{
	if (err->status == FLUSS_INTERRUPTED)
		return err->status;
	fluss_error_place(err, part->bucket->partition_id, part->bucket->bucket,
					  scan->log_batch.base_offset,
					  scan->log_batch.next_offset);
	if (answer->file != NULL)
		fluss_error_detail(err, "It was read from remote file \"%s\".",
						   answer->file);
	return err->status;
}

/* The batch at the head of a part. */
static fluss_status
open_batch(fluss_scan *scan, const fetch_answer *answer, fetch_part *part,
		   fluss_error *err)
{
	bool		complete;
	fluss_status status;

	status = fluss_log_batch_open(part->records.data + part->position,
								  part->end - part->position,
								  answer->whole && scan->options.check_crc,
								  &scan->log_batch, &complete, err);
	if (status == FLUSS_OK && complete)
		return FLUSS_OK;
	if (status == FLUSS_OK)
		status = fluss_fail(err, FLUSS_MALFORMED,
							"a log batch ends before its length says");
	return place_error(scan, answer, part, err);
}

static fluss_status
decode_batch(fluss_scan *scan, const fetch_answer *answer,
			 const fetch_part *part, fluss_error *err)
{
	const fluss_log_batch *log_batch = &scan->log_batch;
	const fluss_projection *projection = NULL;
	fluss_batch *batch = &scan->batch;
	fluss_status status;

	fluss_arena_reset(&scan->batch_arena);
	status = fluss_projector_find(&scan->projector, log_batch->schema_id,
								  &projection, err);
	if (status == FLUSS_OK)
		status = fluss_log_batch_columns(&scan->batch_arena, log_batch,
										 scan->table->log_format,
										 projection->schema,
										 answer->whole ? NULL : scan->projection,
										 answer->whole ? 0 : scan->nprojection,
										 projection->source, scan->types,
										 scan->options.ncolumns,
										 scan->options.max_buffered_bytes,
										 scan->views, &batch->change_types,
										 err);
	if (status != FLUSS_OK)
		return place_error(scan, answer, part, err);
	batch->partition_id = part->bucket->partition_id;
	batch->bucket = part->bucket->bucket;
	batch->base_offset = log_batch->base_offset;
	batch->next_offset = log_batch->next_offset;
	batch->commit_timestamp_ms = log_batch->commit_timestamp_ms;
	batch->schema_id = log_batch->schema_id;
	batch->foreign_layout = log_batch->append_only &&
		log_batch->record_count > 0 &&
		log_batch->arrow != (scan->table->log_format == FLUSS_FORMAT_ARROW);
	batch->columns = scan->views;
	return FLUSS_OK;
}

/* The part to read, or NULL; drops answers that are read to their end. */
static fetch_part *
current_part(fluss_scan *scan, fetch_answer **from)
{
	fetch_answer *answer = scan->answers;
	fetch_answer *next;

	for (; answer != NULL; answer = next)
	{
		next = answer->next;
		if (answer->request != NULL || answer->read != NULL)
			continue;
		while (answer->current < answer->nparts)
		{
			fetch_part *part = &answer->parts[answer->current];

			if (part->position < part->end)
			{
				*from = answer;
				return part;
			}
			answer->current++;
		}
		fluss_fetch_answer_free(scan, answer);
	}
	return NULL;
}

static bool
clip_batch(fluss_scan *scan)
{
	fluss_batch *batch = &scan->batch;
	bool		more = false;

	if (!fluss_fetch_clip(scan->reading, scan->log_batch.base_offset,
						  scan->log_batch.record_count, &batch->first_row,
						  &batch->end_row, &more))
	{
		scan->reading = NULL;
		return false;
	}
	if (!more)
		scan->reading = NULL;
	scan->rows_given += batch->end_row - batch->first_row;
	return true;
}

/* True when a range takes rows of the batch just opened. */
static bool
is_wanted(const fluss_scan *scan, const fetch_bucket *bucket)
{
	fetch_bucket probe = *bucket;
	int32_t		first_row;
	int32_t		end_row;
	bool		more;

	return scan->log_batch.record_count > 0 &&
		fluss_fetch_clip(&probe, scan->log_batch.base_offset,
						 scan->log_batch.record_count, &first_row, &end_row,
						 &more);
}

/*
 * Sets scan->batch to the next rows that are in range, if the answers that
 * are here have any.
 */
fluss_status
fluss_fetch_read(fluss_scan *scan, bool *given, fluss_error *err)
{
	fetch_answer *answer;
	fetch_part *part;

	*given = true;
	if (scan->reading != NULL && clip_batch(scan))
		return FLUSS_OK;
	while ((part = current_part(scan, &answer)) != NULL)
	{
		fluss_status status = open_batch(scan, answer, part, err);

		if (status != FLUSS_OK)
			return status;
		part->position += scan->log_batch.total_size;
		scan->unpumped += scan->log_batch.total_size;
		fluss_fetch_pass(part->bucket, scan->log_batch.next_offset,
						 scan->log_batch.commit_timestamp_ms);
		if (!is_wanted(scan, part->bucket))
			continue;
		status = decode_batch(scan, answer, part, err);
		if (status != FLUSS_OK)
			return status;
		scan->counters.batches++;
		scan->counters.rows += scan->log_batch.record_count;
		scan->reading = part->bucket;
		if (clip_batch(scan))
			return FLUSS_OK;
	}
	*given = false;
	return FLUSS_OK;
}
