/*
 * arrow_ipc.c
 *	  The envelope of an Arrow record batch.
 *
 * ff ff ff ff, int32 size of the metadata (with its padding to 8), the
 * metadata, the body.  The metadata is a flatbuffer of these tables, whose
 * fields are given with their numbers:
 *
 *	Message			0 version (int16, 4: V5), 1 header type (uint8,
 *					3: RecordBatch), 2 header, 3 body size (int64)
 *	RecordBatch		0 rows (int64), 1 nodes, 2 buffers, 3 compression
 *	BodyCompression	0 codec (int8, 0: LZ4 frame, 1: zstd), 1 method (int8, 0)
 *
 * Nodes are a vector of (int64 length, int64 null count), buffers one of
 * (int64 offset in the body, int64 size), for the fields depth first.
 *
 * A flatbuffer table starts with an int32: its own position minus that is its
 * vtable, which holds uint16 size of the vtable, uint16 size of the table, then
 * for each field a uint16 offset in the table, 0 when it is absent.  Other
 * references are uint32, counted from where they stand; a vector starts with a
 * uint32 count.  All little endian.
 */
#include "arrow.h"
#include "error.h"

#define PREFIX_SIZE			8
#define HEADER_RECORD_BATCH	3
#define VERSION_V5			4
#define ENTRY_SIZE			16	/* of a node, of a buffer */

static fluss_status
malformed(fluss_error *err, const char *what)
{
	fluss_fail(err, FLUSS_MALFORMED, "Arrow record batch is malformed");
	fluss_error_detail(err, "%s", what);
	return FLUSS_MALFORMED;
}

/* ---- reading flatbuffers */

/* Sticky: after the first reference that leads nowhere all reads give 0. */
typedef struct flat
{
	const uint8_t *data;
	size_t		size;
	bool		failed;
} flat;

typedef struct flat_table
{
	size_t		at;
	size_t		size;
	size_t		vtable_at;
	size_t		vtable_size;
} flat_table;

/* Position of size bytes at, which must lie within. */
static bool
flat_has(flat *f, size_t at, size_t size)
{
	if (!f->failed && at <= f->size && size <= f->size - at)
		return true;
	f->failed = true;
	return false;
}

/* What the reference at this position leads to. */
static size_t
flat_follow(flat *f, size_t at)
{
	size_t		distance;

	if (!flat_has(f, at, 4))
		return 0;
	distance = fluss_load_u32le(f->data + at);
	return flat_has(f, at, distance) ? at + distance : 0;
}

static flat_table
flat_open(flat *f, size_t at)
{
	flat_table	table = {0};
	int64_t		vtable_at;

	if (!flat_has(f, at, 4))
		return table;
	vtable_at = (int64_t) at - (int32_t) fluss_load_u32le(f->data + at);
	if (vtable_at < 0 || !flat_has(f, (size_t) vtable_at, 4))
	{
		f->failed = true;
		return table;
	}
	table.at = at;
	table.vtable_at = (size_t) vtable_at;
	table.vtable_size = fluss_load_u16le(f->data + vtable_at);
	table.size = fluss_load_u16le(f->data + vtable_at + 2);
	if (!flat_has(f, table.vtable_at, table.vtable_size) ||
		!flat_has(f, at, table.size))
		table.vtable_size = 0;
	return table;
}

/* Position of a field of that width, or 0 when it is absent. */
static size_t
flat_field(flat *f, const flat_table *table, int field, size_t width)
{
	size_t		entry = 4 + 2 * (size_t) field;
	size_t		offset;

	if (f->failed || entry + 2 > table->vtable_size)
		return 0;
	offset = fluss_load_u16le(f->data + table->vtable_at + entry);
	if (offset == 0)
		return 0;
	if (offset + width > table->size)
	{
		f->failed = true;
		return 0;
	}
	return table->at + offset;
}

static uint8_t
flat_u8(flat *f, const flat_table *table, int field)
{
	size_t		at = flat_field(f, table, field, 1);

	return at == 0 ? 0 : f->data[at];
}

static int64_t
flat_i64(flat *f, const flat_table *table, int field)
{
	size_t		at = flat_field(f, table, field, 8);

	return at == 0 ? 0 : (int64_t) fluss_load_u64le(f->data + at);
}

/* Entries of a vector of nodes or buffers; absent: none. */
static const uint8_t *
flat_entries(flat *f, const flat_table *table, int field, int32_t *count)
{
	size_t		at = flat_field(f, table, field, 4);
	size_t		n;

	*count = 0;
	if (at == 0)
		return f->data;
	at = flat_follow(f, at);
	if (!flat_has(f, at, 4))
		return f->data;
	n = fluss_load_u32le(f->data + at);
	if (n > INT32_MAX || !flat_has(f, at + 4, n * ENTRY_SIZE))
	{
		f->failed = true;
		return f->data;
	}
	*count = (int32_t) n;
	return f->data + at + 4;
}

/* ---- reading */

static fluss_status
read_compression(flat *f, const flat_table *batch, fluss_arrow_message *message,
				 fluss_error *err)
{
	size_t		at = flat_field(f, batch, 3, 4);
	flat_table	compression;
	uint8_t		codec,
				method;

	message->codec = FLUSS_CODEC_NONE;
	if (at == 0)
		return FLUSS_OK;
	compression = flat_open(f, flat_follow(f, at));
	codec = flat_u8(f, &compression, 0);
	method = flat_u8(f, &compression, 1);
	if (f->failed)
		return FLUSS_OK;		/* told by the caller */
	if (codec > 1 || method != 0)
		return malformed(err, "It is compressed in a way that is not known.");
	message->codec = codec == 0 ? FLUSS_CODEC_LZ4_FRAME : FLUSS_CODEC_ZSTD;
	return FLUSS_OK;
}

static fluss_status
read_metadata(flat *f, fluss_arrow_message *message, int64_t *body_size,
			  fluss_error *err)
{
	flat_table	root = flat_open(f, flat_follow(f, 0));
	size_t		header = flat_field(f, &root, 2, 4);
	flat_table	batch;
	fluss_status status;

	if (!f->failed &&
		(header == 0 || flat_u8(f, &root, 1) != HEADER_RECORD_BATCH))
		return malformed(err, "The message is not a record batch.");
	*body_size = flat_i64(f, &root, 3);
	batch = flat_open(f, flat_follow(f, header));
	message->nrows = flat_i64(f, &batch, 0);
	message->nodes = flat_entries(f, &batch, 1, &message->nnodes);
	message->buffers = flat_entries(f, &batch, 2, &message->nbuffers);
	status = read_compression(f, &batch, message, err);
	if (status == FLUSS_OK && f->failed)
		return malformed(err, "Its metadata has a reference past its end.");
	return status;
}

fluss_status
fluss_arrow_message_open(const uint8_t *data, size_t size,
						 fluss_arrow_message *message, fluss_error *err)
{
	size_t		metadata_size;
	int64_t		body_size = 0;
	flat		f;
	fluss_status status;

	if (size < PREFIX_SIZE || fluss_load_u32le(data) != UINT32_MAX)
		return malformed(err, "It does not start with ff ff ff ff.");
	metadata_size = fluss_load_u32le(data + 4);
	if (metadata_size > size - PREFIX_SIZE)
		return malformed(err, "Its metadata is longer than the batch.");
	f = (flat) {data + PREFIX_SIZE, metadata_size, false};
	status = read_metadata(&f, message, &body_size, err);
	if (status != FLUSS_OK)
		return status;
	message->body = data + PREFIX_SIZE + metadata_size;
	message->body_size = size - PREFIX_SIZE - metadata_size;
	if (body_size < 0 || (uint64_t) body_size > message->body_size)
		return malformed(err, "Its body is longer than the batch.");
	message->body_size = (size_t) body_size;
	return FLUSS_OK;
}

fluss_status
fluss_arrow_message_buffer(const fluss_arrow_message *message, int32_t i,
						   fluss_bytes *bytes, fluss_error *err)
{
	const uint8_t *entry = message->buffers + (size_t) i * ENTRY_SIZE;
	uint64_t	offset = fluss_load_u64le(entry);
	uint64_t	size = fluss_load_u64le(entry + 8);

	if (offset > message->body_size || size > message->body_size - offset)
		return malformed(err, "A buffer lies outside its body.");
	bytes->data = message->body + offset;
	bytes->size = (size_t) size;
	return FLUSS_OK;
}

/* ---- writing */

/*
 * Metadata up to the nodes, positions counted from its start.  References go
 * forward, so each table stands behind what refers to it; 64-bit fields and
 * vector entries are aligned.
 */
#define MESSAGE_VTABLE		4
#define MESSAGE_TABLE		16
#define BATCH_VTABLE		36
#define BATCH_TABLE			48
#define COMPRESSION_VTABLE	72
#define COMPRESSION_TABLE	80
#define NODES				92	/* the count; entries at 96 */

static const uint8_t metadata_template[NODES] = {
	MESSAGE_TABLE, 0, 0, 0,
	/* Message: vtable size, table size, fields 0 to 3 */
	12, 0, 20, 0, 16, 0, 18, 0, 4, 0, 8, 0,
	MESSAGE_TABLE - MESSAGE_VTABLE, 0, 0, 0,
	BATCH_TABLE - MESSAGE_TABLE - 4, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,		/* body size */
	VERSION_V5, 0, HEADER_RECORD_BATCH, 0,
	/* RecordBatch: the same; field 3 is taken out without compression */
	12, 0, 24, 0, 8, 0, 4, 0, 16, 0, 20, 0,
	BATCH_TABLE - BATCH_VTABLE, 0, 0, 0,
	NODES - BATCH_TABLE - 4, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0,		/* rows */
	0, 0, 0, 0,					/* buffers */
	COMPRESSION_TABLE - BATCH_TABLE - 20, 0, 0, 0,
	/* BodyCompression */
	8, 0, 8, 0, 4, 0, 5, 0,
	COMPRESSION_TABLE - COMPRESSION_VTABLE, 0, 0, 0,
	0, 0, 0, 0,					/* codec, method */
	0, 0, 0, 0
};

void
fluss_arrow_writer_begin(fluss_arrow_writer *writer, fluss_buf *out,
						 fluss_codec codec, int64_t nrows, int32_t nnodes,
						 int32_t nbuffers)
{
	size_t		prefix_at = out->size;
	size_t		start = prefix_at + PREFIX_SIZE;
	/* its entries must be aligned: 4 bytes of padding before the count */
	size_t		buffers = NODES + 4 + (size_t) nnodes * ENTRY_SIZE + 4;
	size_t		size = buffers + 4 + (size_t) nbuffers * ENTRY_SIZE;
	uint8_t    *p = fluss_buf_append_zeros(out, PREFIX_SIZE + size);

	writer->out = out;
	writer->body_size_at = start + MESSAGE_TABLE + 8;
	writer->nodes_at = start + NODES + 4;
	writer->buffers_at = start + buffers + 4;
	writer->body_at = start + size;
	if (p == NULL)
		return;
	fluss_store_u32le(p, UINT32_MAX);
	fluss_store_u32le(p + 4, (uint32_t) size);
	p += PREFIX_SIZE;
	memcpy(p, metadata_template, sizeof(metadata_template));
	fluss_store_u64le(p + BATCH_TABLE + 8, (uint64_t) nrows);
	fluss_store_u32le(p + BATCH_TABLE + 16,
					  (uint32_t) (buffers - BATCH_TABLE - 16));
	if (codec == FLUSS_CODEC_NONE)
		fluss_store_u16le(p + BATCH_VTABLE + 10, 0);
	else
		p[COMPRESSION_TABLE + 4] = codec == FLUSS_CODEC_ZSTD ? 1 : 0;
	fluss_store_u32le(p + NODES, (uint32_t) nnodes);
	fluss_store_u32le(p + buffers, (uint32_t) nbuffers);
}

static void
store_entry(fluss_arrow_writer *writer, size_t at, int32_t i, uint64_t first,
			uint64_t second)
{
	uint8_t    *p;

	if (writer->out->failed)
		return;
	p = writer->out->data + at + (size_t) i * ENTRY_SIZE;
	fluss_store_u64le(p, first);
	fluss_store_u64le(p + 8, second);
}

void
fluss_arrow_writer_node(fluss_arrow_writer *writer, int32_t i, int64_t length,
						int64_t null_count)
{
	store_entry(writer, writer->nodes_at, i, (uint64_t) length,
				(uint64_t) null_count);
}

void
fluss_arrow_writer_buffer(fluss_arrow_writer *writer, int32_t i, size_t start)
{
	size_t		end = writer->out->size - writer->body_at;

	store_entry(writer, writer->buffers_at, i, start, end - start);
}

size_t
fluss_arrow_writer_align(fluss_arrow_writer *writer)
{
	size_t		size = writer->out->size - writer->body_at;

	fluss_buf_append_zeros(writer->out, (8 - size % 8) % 8);
	return writer->out->size - writer->body_at;
}

void
fluss_arrow_writer_finish(fluss_arrow_writer *writer)
{
	uint64_t	size = fluss_arrow_writer_align(writer);

	if (!writer->out->failed)
		fluss_store_u64le(writer->out->data + writer->body_size_at, size);
}
