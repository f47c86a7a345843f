/*
 * arrow.h
 *	  Arrow record batches as Fluss sends them: one encapsulated RecordBatch
 *	  message, schema known from elsewhere, no dictionaries.
 *
 * arrow_ipc.c reads, verifies and writes the envelope; arrow_codec.c packs and
 * unpacks buffers; arrow_read.c turns buffers into column views, column.c those
 * into values; arrow_write.c builds columns.
 */
#ifndef FLUSS_ARROW_H
#define FLUSS_ARROW_H

#include "arena.h"
#include "buf.h"

/* ---- the envelope */

/* A verified message: points into its bytes. */
typedef struct fluss_arrow_message
{
	int64_t		nrows;
	int32_t		nnodes;
	int32_t		nbuffers;
	fluss_codec codec;
	const uint8_t *nodes;		/* int64 length, int64 null count each */
	const uint8_t *buffers;		/* int64 offset in body, int64 size each */
	const uint8_t *body;
	size_t		body_size;
} fluss_arrow_message;

FLUSS_MUST_CHECK fluss_status fluss_arrow_message_open(const uint8_t *data,
													   size_t size,
													   fluss_arrow_message *message,
													   fluss_error *err);
/* Buffer i < nbuffers as it is stored. */
FLUSS_MUST_CHECK fluss_status fluss_arrow_message_buffer(const fluss_arrow_message *message,
														 int32_t i,
														 fluss_bytes *bytes,
														 fluss_error *err);

/*
 * Writing: begin appends prefix and metadata with room for the counts given;
 * then node and buffer fill in entry i; body bytes are appended by the caller,
 * padded to 8; finish sets the body's size.
 */
typedef struct fluss_arrow_writer
{
	fluss_buf  *out;
	size_t		body_size_at;	/* positions in out */
	size_t		nodes_at;
	size_t		buffers_at;
	size_t		body_at;
} fluss_arrow_writer;

void fluss_arrow_writer_begin(fluss_arrow_writer *writer, fluss_buf *out,
							  fluss_codec codec, int64_t nrows,
							  int32_t nnodes, int32_t nbuffers);
void fluss_arrow_writer_node(fluss_arrow_writer *writer, int32_t i,
							 int64_t length, int64_t null_count);
/* The buffer is what was appended to out since body position start. */
void fluss_arrow_writer_buffer(fluss_arrow_writer *writer, int32_t i,
							   size_t start);
/* Pads the body to 8 bytes and returns the position in it. */
size_t fluss_arrow_writer_align(fluss_arrow_writer *writer);
void fluss_arrow_writer_finish(fluss_arrow_writer *writer);

/* ---- packed buffers: int64 unpacked size (-1: stored as it is), then bytes */

/* Unpacks buffers of one message; contexts are made when first needed. */
typedef struct fluss_unpacker
{
	fluss_arena *arena;			/* unpacked bytes go there */
	fluss_codec codec;
	int64_t		bytes_left;		/* that may still be unpacked */
	void	   *zstd;
	void	   *lz4;
} fluss_unpacker;

void fluss_unpacker_init(fluss_unpacker *unpacker, fluss_arena *arena,
						 fluss_codec codec, int64_t max_bytes);
FLUSS_MUST_CHECK fluss_status fluss_unpack(fluss_unpacker *unpacker,
										   fluss_bytes packed,
										   fluss_bytes *bytes,
										   fluss_error *err);
void fluss_unpacker_free(fluss_unpacker *unpacker);

/* Packs buffers; kept between batches, as its context is dear. */
typedef struct fluss_packer
{
	const fluss_host *host;
	void	   *zstd;
} fluss_packer;

void fluss_packer_init(fluss_packer *packer, const fluss_host *host);
/*
 * Appends the packed form of the bytes; with codec NONE the bytes themselves.
 * No bytes at all are stored as they are: no reader takes that for a frame.
 */
FLUSS_MUST_CHECK fluss_status fluss_pack(fluss_packer *packer,
										 fluss_codec codec, int zstd_level,
										 const void *data, size_t size,
										 fluss_buf *out, fluss_error *err);
void fluss_packer_free(fluss_packer *packer);

/* ---- columns */

/* Bytes of one value of a fixed-width type; 0 for the others. */
int32_t fluss_arrow_width(const fluss_type *type);
/* True for CHAR, STRING and BYTES: an offsets buffer and a data buffer. */
bool fluss_arrow_is_variable(const fluss_type *type);

/* A view of nrows NULLs. */
void fluss_column_all_null(fluss_column_view *view, const fluss_type *type,
						   int32_t nrows);

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
/*
 * Adds one row; values[i] for type i, already checked.  Copies bytes.  After a
 * failure the builder can only be reset or closed.
 */
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
