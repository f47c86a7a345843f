/*
 * row_compacted.c
 *	  The COMPACTED row format.
 *
 * A row is a null bitmap of (columns + 7) / 8 bytes, bit i of byte i / 8 set
 * for NULL, lowest bit first; then the columns that are not NULL, in order:
 *
 *	BOOLEAN, TINYINT			1 byte
 *	SMALLINT					2 bytes
 *	INT, DATE, TIME				varint of the 32-bit pattern
 *	BIGINT						varint of the 64-bit pattern
 *	FLOAT, DOUBLE				4, 8 bytes
 *	CHAR, STRING, BINARY, BYTES	varint size, then the bytes
 *	DECIMAL up to 18 digits		varint of the 64-bit unscaled value
 *	DECIMAL of more digits		varint size, then big-endian bytes
 *	TIMESTAMP(_LTZ) up to (3)	varint of 64-bit milliseconds
 *	TIMESTAMP(_LTZ) above		the same, then varint nanoseconds
 *	ARRAY, MAP, ROW				varint size, then bytes: see row_nested.c
 *
 * Numbers are little endian, varints unsigned LEB128 without zigzag.  The null
 * bit of a NOT NULL column means nothing: its value is always there.
 */
#include <string.h>

#include "error.h"
#include "fixed.h"
#include "row.h"
#include "schema.h"

/* ---- decoding */

static fluss_bytes
get_bytes(fluss_reader *reader)
{
	size_t		size = fluss_read_varint32(reader);

	return (fluss_bytes) {fluss_read_bytes(reader, size), size};
}

static void
get_decimal(fluss_reader *reader, const fluss_type *type, fluss_value *value)
{
	fluss_bytes bytes;

	if (type->precision <= FLUSS_COMPACT_DECIMAL_PRECISION)
	{
		fluss_decimal_from_int64((int64_t) fluss_read_varint64(reader), value);
		return;
	}
	bytes = get_bytes(reader);
	if (bytes.data != NULL &&
		!fluss_decimal_from_bytes(bytes.data, bytes.size, value))
		reader->failed = true;
}

static void
get_timestamp(fluss_reader *reader, const fluss_type *type, fluss_value *value)
{
	uint32_t	nanos = 0;

	value->u.timestamp.millis = (int64_t) fluss_read_varint64(reader);
	if (type->precision > FLUSS_COMPACT_TIMESTAMP_PRECISION)
		nanos = fluss_read_varint32(reader);
	if (nanos > 999999)
		reader->failed = true;
	value->u.timestamp.nanos = (int32_t) nanos;
}

static void
get_fixed(fluss_reader *reader, const fluss_type *type, fluss_value *value)
{
	const uint8_t *data = fluss_read_bytes(reader, fluss_fixed_width(type));

	if (data != NULL)
		fluss_fixed_get(type, data, value);
}

/* What does not fit makes the reader fail. */
static void
get_value(fluss_reader *reader, const fluss_type *type, fluss_value *value)
{
	value->is_null = false;
	switch (type->id)
	{
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_TIME:
			value->u.integer = (int32_t) fluss_read_varint32(reader);
			break;
		case FLUSS_BIGINT:
			value->u.integer = (int64_t) fluss_read_varint64(reader);
			break;
		case FLUSS_BOOLEAN:
		case FLUSS_TINYINT:
		case FLUSS_SMALLINT:
		case FLUSS_FLOAT:
		case FLUSS_DOUBLE:
			get_fixed(reader, type, value);
			break;
		case FLUSS_DECIMAL:
			get_decimal(reader, type, value);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			get_timestamp(reader, type, value);
			break;
		default:
			/* for a nested type this is not all yet */
			value->u.bytes = get_bytes(reader);
			break;
	}
}

/* What get_value left as bytes; NULL when nobody wants it. */
static fluss_status
get_nested(fluss_arena *arena, const fluss_type *type, bool wanted,
		   fluss_value *value)
{
	fluss_bytes bytes = value->u.bytes;

	value->is_null = !wanted;
	if (!wanted)
		return FLUSS_OK;
	return fluss_nested_decode(arena, FLUSS_FORMAT_COMPACTED, type,
							   bytes.data, bytes.size, value);
}

fluss_status
fluss_compacted_decode(fluss_arena *arena, const fluss_column *columns,
					   int32_t ncolumns, const bool *want,
					   const uint8_t *data, size_t size, fluss_value *values,
					   int32_t *failed_at)
{
	fluss_reader reader;
	const uint8_t *nulls;

	*failed_at = -1;
	fluss_reader_init(&reader, data, size);
	nulls = fluss_read_bytes(&reader, ((size_t) ncolumns + 7) / 8);
	if (nulls == NULL)
		return FLUSS_MALFORMED;
	for (int32_t i = 0; i < ncolumns; i++)
	{
		const fluss_type *type = &columns[i].type;
		fluss_status status = FLUSS_OK;

		if (type->nullable && (nulls[i >> 3] & 1 << (i & 7)) != 0)
		{
			values[i].is_null = true;
			continue;
		}
		*failed_at = i;
		get_value(&reader, type, &values[i]);
		if (reader.failed)
			return FLUSS_MALFORMED;
		if (!fluss_type_is_scalar(type))
			status = get_nested(arena, type, want == NULL || want[i],
								&values[i]);
		if (status != FLUSS_OK)
			return status;
	}
	*failed_at = ncolumns;
	return fluss_reader_left(&reader) > 0 ? FLUSS_MALFORMED : FLUSS_OK;
}

/* ---- encoding */

static void
put_bytes(fluss_buf *out, const void *data, size_t size)
{
	fluss_buf_varint32(out, (uint32_t) size);
	fluss_buf_append(out, data, size);
}

static void
put_decimal(fluss_buf *out, const fluss_type *type, const fluss_value *value)
{
	uint8_t		bytes[16];
	size_t		size;

	if (type->precision <= FLUSS_COMPACT_DECIMAL_PRECISION)
	{
		fluss_buf_varint64(out, value->u.decimal.low);
		return;
	}
	size = fluss_decimal_to_bytes(value, bytes);
	put_bytes(out, bytes + 16 - size, size);
}

static void
put_timestamp(fluss_buf *out, const fluss_type *type, const fluss_value *value)
{
	fluss_buf_varint64(out, (uint64_t) value->u.timestamp.millis);
	if (type->precision > FLUSS_COMPACT_TIMESTAMP_PRECISION)
		fluss_buf_varint32(out, (uint32_t) value->u.timestamp.nanos);
}

void
fluss_compacted_append(fluss_buf *out, const fluss_type *type,
					   const fluss_value *value)
{
	switch (type->id)
	{
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_TIME:
			fluss_buf_varint32(out, (uint32_t) value->u.integer);
			break;
		case FLUSS_BIGINT:
			fluss_buf_varint64(out, (uint64_t) value->u.integer);
			break;
		case FLUSS_BOOLEAN:
		case FLUSS_TINYINT:
		case FLUSS_SMALLINT:
		case FLUSS_FLOAT:
		case FLUSS_DOUBLE:
			fluss_fixed_append(out, type, value);
			break;
		case FLUSS_DECIMAL:
			put_decimal(out, type, value);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			put_timestamp(out, type, value);
			break;
		default:
			put_bytes(out, value->u.bytes.data, value->u.bytes.size);
			break;
	}
}

/* A nested value has its size before it, which is known afterwards. */
static fluss_status
put_nested(fluss_buf *out, const fluss_column *column,
		   const fluss_value *value, fluss_error *err)
{
	size_t		start = out->size;
	size_t		size;
	size_t		moved;
	fluss_status status = fluss_nested_encode(FLUSS_FORMAT_COMPACTED, column,
											  value, out, err);

	if (status != FLUSS_OK || out->failed)
		return status;
	size = out->size - start;
	if (size > INT32_MAX)
	{
		out->failed = true;
		return FLUSS_OK;
	}
	fluss_buf_varint32(out, (uint32_t) size);
	if (!out->failed)
	{
		uint8_t		prefix[5];

		moved = out->size - start - size;
		memcpy(prefix, out->data + start + size, moved);
		memmove(out->data + start + moved, out->data + start, size);
		memcpy(out->data + start, prefix, moved);
	}
	return FLUSS_OK;
}

fluss_status
fluss_compacted_encode(const fluss_column *columns, int32_t ncolumns,
					   const fluss_value *values, fluss_buf *out,
					   fluss_error *err)
{
	size_t		start = out->size;

	fluss_buf_append_zeros(out, ((size_t) ncolumns + 7) / 8);
	for (int32_t i = 0; i < ncolumns && !out->failed; i++)
	{
		const fluss_column *column = &columns[i];
		fluss_status status = FLUSS_OK;

		if (values[i].is_null && column->type.nullable)
			out->data[start + (size_t) i / 8] |= (uint8_t) (1 << (i & 7));
		else if (values[i].is_null)
			return fluss_fail_null(err, column->name);
		else if (!fluss_type_is_scalar(&column->type))
			status = put_nested(out, column, &values[i], err);
		else
			fluss_compacted_append(out, &column->type, &values[i]);
		if (status != FLUSS_OK)
			return status;
	}
	return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
}
