/*
 * row_indexed.c
 *	  The INDEXED row format.
 *
 * A row is a null bitmap of (columns + 7) / 8 bytes, bit i of byte i / 8 set
 * for NULL, lowest bit first; an int32 for each column of variable size; then
 * the columns that are not NULL, in order:
 *
 *	values of fixed width		see fixed.h
 *	CHAR(n), BINARY(n)			n bytes, shorter ones padded with zeros
 *	TIMESTAMP(_LTZ) above (3)	64-bit milliseconds, 32-bit nanoseconds
 *	STRING, BYTES				variable: the bytes
 *	DECIMAL of more digits		variable: big-endian bytes
 *	ARRAY, MAP, ROW				variable: see row_nested.c
 *
 * The int32 are the sizes of the variable columns that are not NULL, one after
 * the other: those left over stand at the end and mean nothing.  A NULL has no
 * bytes, also where the column is NOT NULL.  All little endian.
 */
#include <string.h>

#include "error.h"
#include "fixed.h"
#include "row.h"
#include "schema.h"

/* Bytes of a value, or -1 when they vary. */
static int64_t
value_width(const fluss_type *type)
{
	size_t		width = fluss_fixed_width(type);

	if (width > 0)
		return (int64_t) width;
	switch (type->id)
	{
		case FLUSS_CHAR:
		case FLUSS_BINARY:
			return type->length;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return 12;
		default:
			return -1;
	}
}

static size_t
sizes_size(const fluss_column *columns, int32_t ncolumns)
{
	size_t		size = 0;

	for (int32_t i = 0; i < ncolumns; i++)
		size += value_width(&columns[i].type) < 0 ? 4 : 0;
	return size;
}

/* ---- decoding */

/* A CHAR has lost how long it was: its zeros at the end are padding. */
static void
get_char(const uint8_t *data, size_t size, fluss_value *value)
{
	while (size > 0 && data[size - 1] == 0)
		size--;
	value->u.bytes.data = data;
	value->u.bytes.size = size;
}

static fluss_status
get_timestamp(const uint8_t *data, fluss_value *value)
{
	uint32_t	nanos = fluss_load_u32le(data + 8);

	value->u.timestamp.millis = (int64_t) fluss_load_u64le(data);
	value->u.timestamp.nanos = (int32_t) nanos;
	return nanos <= 999999 ? FLUSS_OK : FLUSS_MALFORMED;
}

/* Where value_width says how many bytes there are, there are as many. */
static fluss_status
get_value(fluss_arena *arena, const fluss_type *type, const uint8_t *data,
		  size_t size, fluss_value *value)
{
	value->is_null = false;
	if (fluss_fixed_get(type, data, value))
		return FLUSS_OK;
	switch (type->id)
	{
		case FLUSS_DECIMAL:
			return fluss_decimal_from_bytes(data, size, value) ? FLUSS_OK :
				FLUSS_MALFORMED;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return get_timestamp(data, value);
		case FLUSS_CHAR:
			get_char(data, size, value);
			return FLUSS_OK;
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			return fluss_nested_decode(arena, FLUSS_FORMAT_INDEXED, type,
									   data, size, value);
		default:
			value->u.bytes.data = data;
			value->u.bytes.size = size;
			return FLUSS_OK;
	}
}

fluss_status
fluss_indexed_decode(fluss_arena *arena, const fluss_column *columns,
					 int32_t ncolumns, const bool *want, const uint8_t *data,
					 size_t size, fluss_value *values, int32_t *failed_at)
{
	fluss_reader reader;
	const uint8_t *nulls;
	const uint8_t *sizes;

	*failed_at = -1;
	fluss_reader_init(&reader, data, size);
	nulls = fluss_read_bytes(&reader, ((size_t) ncolumns + 7) / 8);
	sizes = fluss_read_bytes(&reader, sizes_size(columns, ncolumns));
	if (reader.failed)
		return FLUSS_MALFORMED;
	for (int32_t i = 0; i < ncolumns; i++)
	{
		const fluss_type *type = &columns[i].type;
		int64_t		fixed = value_width(type);
		bool		skip = !fluss_type_is_scalar(type) && want != NULL &&
			!want[i];
		size_t		value_size = (size_t) fixed;
		const uint8_t *bytes;
		fluss_status status;

		*failed_at = i;
		values[i].is_null = true;
		if ((nulls[i >> 3] & 1 << (i & 7)) != 0)
			continue;
		if (fixed < 0)
		{
			value_size = fluss_load_u32le(sizes);
			sizes += 4;
		}
		bytes = fluss_read_bytes(&reader, value_size);
		if (bytes == NULL)
			return FLUSS_MALFORMED;
		if (skip)
			continue;
		status = get_value(arena, type, bytes, value_size, &values[i]);
		if (status != FLUSS_OK)
			return status;
	}
	*failed_at = ncolumns;
	return fluss_reader_left(&reader) > 0 ? FLUSS_MALFORMED : FLUSS_OK;
}

/* ---- encoding */

bool
fluss_indexed_fits(const fluss_type *type, const fluss_value *value)
{
	int32_t		n;

	if (value->is_null)
		return true;
	if (type->id == FLUSS_CHAR)
		return value->u.bytes.size <= (size_t) type->length;
	if (fluss_type_is_scalar(type))
		return true;
	n = value->u.nested.n * (type->id == FLUSS_MAP ? 2 : 1);
	for (int32_t i = 0; i < n; i++)
	{
		const fluss_type *child = &type->children[i % type->nchildren].type;

		/* arrays and maps hold text of any size */
		if ((child->id != FLUSS_CHAR || type->id == FLUSS_ROW) &&
			!fluss_indexed_fits(child, &value->u.nested.items[i]))
			return false;
	}
	return true;
}

/* A value that was not checked makes the row fail rather than be cut. */
static void
put_padded(fluss_buf *out, const fluss_type *type, const fluss_bytes *bytes)
{
	size_t		length = (size_t) type->length;

	if (bytes->size > length)
	{
		out->failed = true;
		return;
	}
	fluss_buf_append(out, bytes->data, bytes->size);
	fluss_buf_append_zeros(out, length - bytes->size);
}

static void
put_decimal(fluss_buf *out, const fluss_value *value)
{
	uint8_t		bytes[16];
	size_t		size = fluss_decimal_to_bytes(value, bytes);

	fluss_buf_append(out, bytes + 16 - size, size);
}

/* What is not of fixed width. */
static fluss_status
put_value(fluss_buf *out, const fluss_column *column, const fluss_value *value,
		  fluss_error *err)
{
	switch (column->type.id)
	{
		case FLUSS_DECIMAL:
			put_decimal(out, value);
			return FLUSS_OK;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			fluss_buf_u64le(out, (uint64_t) value->u.timestamp.millis);
			fluss_buf_u32le(out, (uint32_t) value->u.timestamp.nanos);
			return FLUSS_OK;
		case FLUSS_CHAR:
		case FLUSS_BINARY:
			put_padded(out, &column->type, &value->u.bytes);
			return FLUSS_OK;
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			return fluss_nested_encode(FLUSS_FORMAT_INDEXED, column, value,
									   out, err);
		default:
			fluss_buf_append(out, value->u.bytes.data, value->u.bytes.size);
			return FLUSS_OK;
	}
}

fluss_status
fluss_indexed_encode(const fluss_column *columns, int32_t ncolumns,
					 const fluss_value *values, fluss_buf *out,
					 fluss_error *err)
{
	size_t		start = out->size;
	size_t		nulls_size = ((size_t) ncolumns + 7) / 8;
	size_t		size_at = start + nulls_size;

	fluss_buf_append_zeros(out, nulls_size + sizes_size(columns, ncolumns));
	for (int32_t i = 0; i < ncolumns && !out->failed; i++)
	{
		size_t		value_at = out->size;
		fluss_status status;

		if (values[i].is_null)
		{
			if (!columns[i].type.nullable)
				return fluss_fail_null(err, columns[i].name);
			out->data[start + (size_t) i / 8] |= (uint8_t) (1 << (i & 7));
			continue;
		}
		if (fluss_fixed_append(out, &columns[i].type, &values[i]))
			continue;
		status = put_value(out, &columns[i], &values[i], err);
		if (status != FLUSS_OK)
			return status;
		if (out->size - value_at > INT32_MAX)
			out->failed = true;
		if (value_width(&columns[i].type) >= 0 || out->failed)
			continue;
		fluss_store_u32le(out->data + size_at,
						  (uint32_t) (out->size - value_at));
		size_at += 4;
	}
	return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
}
