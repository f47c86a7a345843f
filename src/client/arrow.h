/*
 * arrow.h
 *	  Arrow record batches as Fluss sends them: one encapsulated RecordBatch
 *	  message, schema known from elsewhere, no dictionaries.
 *
 * arrow_ipc.c reads, verifies and writes the envelope; arrow_read.c turns
 * buffers into column views; arrow_write.c builds columns.
 */
#ifndef FLUSS_ARROW_H
#define FLUSS_ARROW_H

#include "arena.h"
#include "buf.h"

/*
 * Reads one message of nrows rows whose fields are the given types in order,
 * and gives a view for each field with want[i] set (want NULL: all).  Only
 * the buffers of wanted fields are decompressed, into the arena; others and
 * uncompressed ones stay views into data.  Decompressed bytes in total may
 * not pass max_bytes (FLUSS_MEMORY_CAP).
 */
FLUSS_MUST_CHECK fluss_status fluss_arrow_read(fluss_arena *arena,
											   const uint8_t *data, size_t size,
											   int32_t nrows,
											   const fluss_type *const *types,
											   int ntypes, const bool *want,
											   int64_t max_bytes,
											   fluss_column_view *views,
											   fluss_error *err);

/* Builds the columns of one batch, row by row. */
typedef struct fluss_arrow_builder fluss_arrow_builder;

FLUSS_MUST_CHECK fluss_status fluss_arrow_builder_open(const fluss_host *host,
													   const fluss_type *const *types,
													   int ntypes,
													   fluss_arrow_builder **builder,
													   fluss_error *err);
/* Adds one row; values[i] for type i, already checked.  Copies bytes. */
FLUSS_MUST_CHECK fluss_status fluss_arrow_builder_add(fluss_arrow_builder *builder,
													  const fluss_value *values,
													  fluss_error *err);
int32_t fluss_arrow_builder_rows(const fluss_arrow_builder *builder);
/* Bytes of all buffers before compression. */
size_t fluss_arrow_builder_size(const fluss_arrow_builder *builder);
/* Memory it holds. */
size_t fluss_arrow_builder_memory(const fluss_arrow_builder *builder);
/*
 * Appends the encapsulated message to out.  Buffers in order, 8-byte aligned,
 * compressed with the codec (stored raw where that does not shrink them).
 */
FLUSS_MUST_CHECK fluss_status fluss_arrow_builder_finish(fluss_arrow_builder *builder,
														 fluss_codec codec,
														 int zstd_level,
														 fluss_buf *out,
														 fluss_error *err);
/*
 * Views over what was built so far, valid until the next add or reset: this is
 * how batches of rows become columns for the reader.
 */
FLUSS_MUST_CHECK fluss_status fluss_arrow_builder_views(fluss_arrow_builder *builder,
														fluss_column_view *views,
														fluss_error *err);
void fluss_arrow_builder_reset(fluss_arrow_builder *builder);
void fluss_arrow_builder_close(fluss_arrow_builder *builder);

#endif							/* FLUSS_ARROW_H */
