/*
 * fixed.h
 *	  Values of fixed width.  They lie alike in INDEXED rows, in arrays and in
 *	  Paimon keys:
 *
 *	BOOLEAN, TINYINT			1 byte
 *	SMALLINT					2 bytes
 *	INT, DATE, TIME, FLOAT		4 bytes
 *	BIGINT, DOUBLE				8 bytes
 *	DECIMAL up to 18 digits		64-bit unscaled value
 *	TIMESTAMP(_LTZ) up to (3)	64-bit milliseconds
 *
 * All little endian.  Each format has its own way with all other types: of these
 * the width is 0, and the others do nothing and say false.  Inline, as rows are
 * read and written by the million.
 */
#ifndef FLUSS_FIXED_H
#define FLUSS_FIXED_H

#include "row.h"

static inline void
fluss_decimal_from_int64(int64_t unscaled, fluss_value *value)
{
	value->u.decimal.low = (uint64_t) unscaled;
	value->u.decimal.high = unscaled < 0 ? -1 : 0;
}

static inline size_t
fluss_fixed_width(const fluss_type *type)
{
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
		case FLUSS_TINYINT:
			return 1;
		case FLUSS_SMALLINT:
			return 2;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_TIME:
		case FLUSS_FLOAT:
			return 4;
		case FLUSS_BIGINT:
		case FLUSS_DOUBLE:
			return 8;
		case FLUSS_DECIMAL:
			return type->precision <= FLUSS_COMPACT_DECIMAL_PRECISION ? 8 : 0;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return type->precision <= FLUSS_COMPACT_TIMESTAMP_PRECISION ? 8 : 0;
		default:
			return 0;
	}
}

static inline bool
fluss_fixed_get(const fluss_type *type, const uint8_t *data,
				fluss_value *value)
{
	uint32_t	bits4;
	uint64_t	bits8;

	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = data[0] != 0;
			return true;
		case FLUSS_TINYINT:
			value->u.integer = (int8_t) data[0];
			return true;
		case FLUSS_SMALLINT:
			value->u.integer = (int16_t) fluss_load_u16le(data);
			return true;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_TIME:
			value->u.integer = (int32_t) fluss_load_u32le(data);
			return true;
		case FLUSS_BIGINT:
			value->u.integer = (int64_t) fluss_load_u64le(data);
			return true;
		case FLUSS_FLOAT:
			bits4 = fluss_load_u32le(data);
			memcpy(&value->u.float4, &bits4, sizeof(bits4));
			return true;
		case FLUSS_DOUBLE:
			bits8 = fluss_load_u64le(data);
			memcpy(&value->u.float8, &bits8, sizeof(bits8));
			return true;
		case FLUSS_DECIMAL:
			if (type->precision > FLUSS_COMPACT_DECIMAL_PRECISION)
				return false;
			fluss_decimal_from_int64((int64_t) fluss_load_u64le(data), value);
			return true;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			if (type->precision > FLUSS_COMPACT_TIMESTAMP_PRECISION)
				return false;
			value->u.timestamp.millis = (int64_t) fluss_load_u64le(data);
			value->u.timestamp.nanos = 0;
			return true;
		default:
			return false;
	}
}

static inline bool
fluss_fixed_put(const fluss_type *type, const fluss_value *value,
				uint8_t *data)
{
	uint32_t	bits4;
	uint64_t	bits8;

	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			data[0] = value->u.boolean ? 1 : 0;
			return true;
		case FLUSS_TINYINT:
			data[0] = (uint8_t) value->u.integer;
			return true;
		case FLUSS_SMALLINT:
			fluss_store_u16le(data, (uint16_t) value->u.integer);
			return true;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_TIME:
			fluss_store_u32le(data, (uint32_t) value->u.integer);
			return true;
		case FLUSS_BIGINT:
			fluss_store_u64le(data, (uint64_t) value->u.integer);
			return true;
		case FLUSS_FLOAT:
			memcpy(&bits4, &value->u.float4, sizeof(bits4));
			fluss_store_u32le(data, bits4);
			return true;
		case FLUSS_DOUBLE:
			memcpy(&bits8, &value->u.float8, sizeof(bits8));
			fluss_store_u64le(data, bits8);
			return true;
		case FLUSS_DECIMAL:
			if (type->precision > FLUSS_COMPACT_DECIMAL_PRECISION)
				return false;
			fluss_store_u64le(data, value->u.decimal.low);
			return true;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			if (type->precision > FLUSS_COMPACT_TIMESTAMP_PRECISION)
				return false;
			fluss_store_u64le(data, (uint64_t) value->u.timestamp.millis);
			return true;
		default:
			return false;
	}
}

static inline bool
fluss_fixed_append(fluss_buf *out, const fluss_type *type,
				   const fluss_value *value)
{
	size_t		width = fluss_fixed_width(type);
	uint8_t    *data;

	if (width == 0)
		return false;
	data = fluss_buf_reserve(out, width);
	if (data == NULL)
		return true;
	out->size += width;
	return fluss_fixed_put(type, value, data);
}

#endif							/* FLUSS_FIXED_H */
