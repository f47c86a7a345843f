/*
 * batch.h
 *	  Log record batches and KV batches as bytes.
 */
#ifndef FLUSS_BATCH_H
#define FLUSS_BATCH_H

#include "arena.h"
#include "arrow.h"
#include "buf.h"

/* Header fields of a log record batch, and where its records lie. */
typedef struct fluss_log_batch
{
	int64_t		base_offset;
	int64_t		next_offset;	/* base_offset + last_offset_delta + 1 */
	int64_t		commit_timestamp_ms;
	int32_t		schema_id;
	int32_t		record_count;
	bool		append_only;
	bool		arrow;			/* as the bytes look, whatever the table says */
	const uint8_t *records;
	size_t		records_size;
	size_t		total_size;		/* of the batch */
} fluss_log_batch;

/*
 * Looks at the batch at data.  *complete is false, and FLUSS_OK returned, when
 * size does not hold all of it (a raw fetch ends in a torn batch); total_size
 * is 0 then when size does not even hold the length.  Checks
 * every length and, when asked, the CRC; a projected batch has a stale one.
 * On failure base_offset and next_offset are set as far as they could be told,
 * else -1.
 */
FLUSS_MUST_CHECK fluss_status fluss_log_batch_open(const uint8_t *data,
												   size_t size, bool check_crc,
												   fluss_log_batch *batch,
												   bool *complete,
												   fluss_error *err);

/*
 * Column views of the records.  written is the schema of batch->schema_id.
 * fields are the positions in written that the bytes hold, ascending (a
 * projected fetch), or NULL when they hold all its columns.  source[i] is the
 * position in written of wanted column i, or -1: an all-null view.  types[i]
 * is its type for the reader.  Records in a row layout become columns here: an
 * append-only batch may have one whatever the table's format says.
 * change_types is NULL for append-only batches.  Memory past max_bytes is
 * FLUSS_MEMORY_CAP.
 */
FLUSS_MUST_CHECK fluss_status fluss_log_batch_columns(fluss_arena *arena,
													  const fluss_log_batch *batch,
													  fluss_row_format table_format,
													  const fluss_schema *written,
													  const int32_t *fields,
													  int nfields,
													  const int32_t *source,
													  const fluss_type *const *types,
													  int nwanted,
													  int64_t max_bytes,
													  fluss_column_view *views,
													  const uint8_t **change_types,
													  fluss_error *err);

/*
 * Appends a log batch of format ARROW, append-only, around what the builder
 * holds.  writer_id and batch_sequence -1 without idempotence.
 */
FLUSS_MUST_CHECK fluss_status fluss_log_batch_write(fluss_arrow_builder *builder,
													fluss_codec codec,
													int zstd_level,
													int32_t schema_id,
													int64_t writer_id,
													int32_t batch_sequence,
													fluss_buf *out,
													fluss_error *err);
/*
 * The same in format INDEXED or COMPACTED: begin, rows, finish.  out must hold
 * nothing else.  Values were checked before; after a failure out is of no use.
 */
void fluss_log_rows_begin(fluss_buf *out);
FLUSS_MUST_CHECK fluss_status fluss_log_rows_add(fluss_buf *out,
												 fluss_row_format format,
												 const fluss_schema *schema,
												 const fluss_value *values,
												 fluss_error *err);
void fluss_log_rows_finish(fluss_buf *out, int32_t schema_id,
						   int64_t writer_id, int32_t batch_sequence,
						   int32_t record_count);
/*
 * Sets writer id and sequence of a finished log or KV batch and makes its CRC
 * anew (after a new writer id).
 */
void fluss_log_batch_stamp(uint8_t *batch, size_t size, int64_t writer_id,
						   int32_t batch_sequence);
void fluss_kv_batch_stamp(uint8_t *batch, size_t size, int64_t writer_id,
						  int32_t batch_sequence);

/* KV batch: begin, records, finish.  out must hold nothing else. */
void fluss_kv_batch_begin(fluss_buf *out, int32_t schema_id);
/* A record with row bytes upserts, with row NULL deletes. */
void fluss_kv_batch_add(fluss_buf *out, const uint8_t *key, size_t key_size,
						const uint8_t *row, size_t row_size);
void fluss_kv_batch_finish(fluss_buf *out, int64_t writer_id,
						   int32_t batch_sequence, int32_t record_count);

/* Value record batch of a limit scan: a reader over schema id + row pairs. */
typedef struct fluss_value_batch
{
	fluss_reader reader;
	int32_t		count;
	int32_t		done;
} fluss_value_batch;

FLUSS_MUST_CHECK fluss_status fluss_value_batch_open(const uint8_t *data,
													 size_t size,
													 fluss_value_batch *batch,
													 fluss_error *err);
/* Next value, split into schema id and row bytes; *end when there is none. */
FLUSS_MUST_CHECK fluss_status fluss_value_batch_next(fluss_value_batch *batch,
													 bool *end,
													 int32_t *schema_id,
													 const uint8_t **row,
													 size_t *row_size,
													 fluss_error *err);

#endif							/* FLUSS_BATCH_H */
