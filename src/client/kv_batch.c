/*
 * kv_batch.c
 *	  KV batches (written) and value record batches (read).
 *
 * KV batch: int32 bytes after it, int8 magic 0, CRC-32C of what follows it,
 * int16 schema id, int8 attributes 0, int64 writer id, int32 batch sequence,
 * int32 record count; then for each record int32 bytes after it, varint size of
 * the key, the key, the row; no row deletes the key.
 *
 * Value record batch: int32 bytes after it, int8 magic 0, int32 count; then for
 * each value int32 bytes after it, int16 schema id, the row.
 *
 * All little endian.
 */
#include "batch.h"
#include "error.h"
#include "hash.h"

#define CRC_AT			5
#define SCHEMA_ID_AT	9
#define WRITER_ID_AT	12
#define SEQUENCE_AT		20
#define COUNT_AT		24
#define HEADER_SIZE		28

/* ---- KV batches */

void
fluss_kv_batch_begin(fluss_buf *out, int32_t schema_id)
{
	uint8_t    *p = fluss_buf_append_zeros(out, HEADER_SIZE);

	if (p != NULL)
		fluss_store_u16le(p + SCHEMA_ID_AT, (uint16_t) schema_id);
}

void
fluss_kv_batch_add(fluss_buf *out, const uint8_t *key, size_t key_size,
				   const uint8_t *row, size_t row_size)
{
	size_t		start = out->size;

	fluss_buf_u32le(out, 0);
	fluss_buf_varint32(out, (uint32_t) key_size);
	fluss_buf_append(out, key, key_size);
	if (row != NULL)
		fluss_buf_append(out, row, row_size);
	/* sizes are 32 bits wide */
	if (out->size > INT32_MAX)
		out->failed = true;
	if (!out->failed)
		fluss_store_u32le(out->data + start, (uint32_t) (out->size - start - 4));
}

void
fluss_kv_batch_finish(fluss_buf *out, int64_t writer_id,
					  int32_t batch_sequence, int32_t record_count)
{
	if (out->failed)
		return;
	fluss_store_u32le(out->data, (uint32_t) (out->size - 4));
	fluss_store_u32le(out->data + COUNT_AT, (uint32_t) record_count);
	fluss_kv_batch_stamp(out->data, out->size, writer_id, batch_sequence);
}

void
fluss_kv_batch_stamp(uint8_t *batch, size_t size, int64_t writer_id,
					 int32_t batch_sequence)
{
	fluss_store_u64le(batch + WRITER_ID_AT, (uint64_t) writer_id);
	fluss_store_u32le(batch + SEQUENCE_AT, (uint32_t) batch_sequence);
	fluss_store_u32le(batch + CRC_AT,
					  fluss_crc32c(batch + SCHEMA_ID_AT, size - SCHEMA_ID_AT));
}

/* ---- value record batches */

static fluss_status
malformed(fluss_error *err, const char *what)
{
	fluss_fail(err, FLUSS_MALFORMED, "value record batch is malformed");
	fluss_error_detail(err, "%s", what);
	return FLUSS_MALFORMED;
}

/* Who counts too few would hide the others. */
static fluss_status
check_end(const fluss_value_batch *batch, fluss_error *err)
{
	if (batch->done == batch->count && fluss_reader_left(&batch->reader) > 0)
		return malformed(err, "Bytes are left over after its last value.");
	return FLUSS_OK;
}

fluss_status
fluss_value_batch_open(const uint8_t *data, size_t size,
					   fluss_value_batch *batch, fluss_error *err)
{
	fluss_reader reader;
	uint32_t	length;
	uint8_t		magic;

	memset(batch, 0, sizeof(*batch));
	fluss_reader_init(&reader, data, size);
	length = fluss_read_u32le(&reader);
	if (reader.failed || length != fluss_reader_left(&reader))
		return malformed(err, "It has another size than it says.");
	magic = fluss_read_u8(&reader);
	batch->count = (int32_t) fluss_read_u32le(&reader);
	batch->reader = reader;
	if (reader.failed || batch->count < 0)
		return malformed(err, "Its header is not valid.");
	if (magic != 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "value record batches of version %d are not supported",
						  magic);
	return check_end(batch, err);
}

fluss_status
fluss_value_batch_next(fluss_value_batch *batch, bool *end, int32_t *schema_id,
					   const uint8_t **row, size_t *row_size, fluss_error *err)
{
	fluss_reader *reader = &batch->reader;
	size_t		size;
	const uint8_t *value;

	*end = batch->done == batch->count;
	if (*end)
		return FLUSS_OK;
	size = fluss_read_u32le(reader);
	value = fluss_read_bytes(reader, size);
	if (value == NULL || size < 2)
		return malformed(err, "A value is longer than the batch.");
	batch->done++;
	*schema_id = (int16_t) fluss_load_u16le(value);
	*row = value + 2;
	*row_size = size - 2;
	return check_end(batch, err);
}
