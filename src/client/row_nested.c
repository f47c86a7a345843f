/*
 * row_nested.c
 *	  ARRAY, MAP and ROW within rows.
 *
 * An array is int32 n, a null bitmap of (n + 31) / 32 * 4 bytes (bit i set for
 * NULL, lowest bit first), n slots, zeros up to a multiple of 8, and what does
 * not fit its slot, each part padded with zeros to a multiple of 8.  Slots of
 * values of fixed width are as wide as these (see fixed.h), all others 8 bytes:
 *
 *	TIMESTAMP(_LTZ) above				reference to int64 milliseconds, with
 *										the nanoseconds in place of a size
 *	CHAR, STRING, BINARY, BYTES			up to 7 bytes, byte 7 = 0x80 + size;
 *										or a reference to the bytes
 *	long DECIMAL						reference to big-endian bytes, for which
 *										16 are reserved
 *	ARRAY, MAP, ROW						reference to an array, map or row
 *
 * where a reference is int32 size, int32 offset from the start of the array.  A
 * map is int32 size of the array of its keys, that array, the array of its
 * values.  A row is one of the format around it.  All little endian.
 *
 * Parts of an array do not overlap.  That they are not larger than it is
 * checked: a few bytes cannot stand for ever more values.
 */
#include "error.h"
#include "fixed.h"
#include "row.h"
#include "schema.h"

#define INLINE_MARK		0x80
#define INLINE_SIZE		7
#define DECIMAL_ROOM	16

static size_t
slot_width(const fluss_type *type)
{
	size_t		width = fluss_fixed_width(type);

	return width > 0 ? width : 8;
}

/* Bytes before the first slot. */
static size_t
slots_at(int32_t n)
{
	return 4 + ((size_t) n + 31) / 32 * 4;
}

/* ---- decoding */

/* An array that is being read. */
typedef struct array_reader
{
	fluss_arena *arena;
	fluss_row_format format;
	const uint8_t *data;
	size_t		size;
	size_t		parts_left;		/* bytes that references may still take */
} array_reader;

/* Bytes that a slot refers to, or NULL. */
static const uint8_t *
follow(array_reader *r, const uint8_t *slot, size_t size)
{
	size_t		offset = fluss_load_u32le(slot + 4);

	if (offset > r->size || size > r->size - offset || size > r->parts_left)
		return NULL;
	r->parts_left -= size;
	return r->data + offset;
}

static fluss_status
get_bytes(array_reader *r, const uint8_t *slot, fluss_value *value)
{
	if ((slot[7] & INLINE_MARK) != 0)
	{
		value->u.bytes.data = slot;
		value->u.bytes.size = slot[7] & ~INLINE_MARK;
		return value->u.bytes.size <= INLINE_SIZE ? FLUSS_OK : FLUSS_MALFORMED;
	}
	value->u.bytes.size = fluss_load_u32le(slot);
	value->u.bytes.data = follow(r, slot, value->u.bytes.size);
	return value->u.bytes.data != NULL ? FLUSS_OK : FLUSS_MALFORMED;
}

static fluss_status
get_decimal(array_reader *r, const uint8_t *slot, fluss_value *value)
{
	size_t		size = fluss_load_u32le(slot);
	const uint8_t *bytes = follow(r, slot, size);

	return bytes != NULL && fluss_decimal_from_bytes(bytes, size, value) ?
		FLUSS_OK : FLUSS_MALFORMED;
}

static fluss_status
get_timestamp(array_reader *r, const uint8_t *slot, fluss_value *value)
{
	uint32_t	nanos = fluss_load_u32le(slot);
	const uint8_t *millis = follow(r, slot, 8);

	if (millis == NULL || nanos > 999999)
		return FLUSS_MALFORMED;
	value->u.timestamp.millis = (int64_t) fluss_load_u64le(millis);
	value->u.timestamp.nanos = (int32_t) nanos;
	return FLUSS_OK;
}

static fluss_status
get_nested(array_reader *r, const fluss_type *type, const uint8_t *slot,
		   fluss_value *value)
{
	size_t		size = fluss_load_u32le(slot);
	const uint8_t *data = follow(r, slot, size);

	return data == NULL ? FLUSS_MALFORMED :
		fluss_nested_decode(r->arena, r->format, type, data, size, value);
}

static fluss_status
get_element(array_reader *r, const fluss_type *type, const uint8_t *slot,
			fluss_value *value)
{
	value->is_null = false;
	if (fluss_fixed_get(type, slot, value))
		return FLUSS_OK;
	switch (type->id)
	{
		case FLUSS_DECIMAL:
			return get_decimal(r, slot, value);
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return get_timestamp(r, slot, value);
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			return get_nested(r, type, slot, value);
		default:
			return get_bytes(r, slot, value);
	}
}

/* Number of elements, or -1 when there is no room for them. */
static int32_t
count_elements(const fluss_type *element, const uint8_t *data, size_t size)
{
	int32_t		n;

	if (size < 4)
		return -1;
	n = (int32_t) fluss_load_u32le(data);
	if (n < 0 || slots_at(n) > size ||
		(size_t) n > (size - slots_at(n)) / slot_width(element))
		return -1;
	return n;
}

/* Element i becomes items[i * stride]; n is what count_elements gave. */
static fluss_status
decode_elements(fluss_arena *arena, fluss_row_format format,
				const fluss_type *element, const uint8_t *data, size_t size,
				int32_t n, fluss_value *items, int stride)
{
	array_reader r = {arena, format, data, size, size};
	const uint8_t *nulls = data + 4;
	const uint8_t *slot = data + slots_at(n);
	size_t		width = slot_width(element);

	for (int32_t i = 0; i < n; i++, slot += width, items += stride)
	{
		fluss_status status;

		if (element->nullable && (nulls[i >> 3] & 1 << (i & 7)) != 0)
		{
			items->is_null = true;
			continue;
		}
		status = get_element(&r, element, slot, items);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static fluss_status
make_items(fluss_arena *arena, int32_t n, int per_entry, fluss_value *value,
		   fluss_value **items)
{
	*items = NULL;
	value->u.nested.n = n;
	value->u.nested.items = NULL;
	if (n == 0)
		return FLUSS_OK;
	*items = fluss_arena_array(arena, (size_t) n * (size_t) per_entry,
							   sizeof(fluss_value));
	value->u.nested.items = *items;
	return *items == NULL ? FLUSS_OUT_OF_MEMORY : FLUSS_OK;
}

static fluss_status
decode_array(fluss_arena *arena, fluss_row_format format,
			 const fluss_type *type, const uint8_t *data, size_t size,
			 fluss_value *value)
{
	const fluss_type *element = &type->children[0].type;
	int32_t		n = count_elements(element, data, size);
	fluss_value *items;
	fluss_status status;

	if (n < 0)
		return FLUSS_MALFORMED;
	status = make_items(arena, n, 1, value, &items);
	return status != FLUSS_OK ? status :
		decode_elements(arena, format, element, data, size, n, items, 1);
}

static fluss_status
decode_map(fluss_arena *arena, fluss_row_format format, const fluss_type *type,
		   const uint8_t *data, size_t size, fluss_value *value)
{
	const fluss_type *key = &type->children[0].type;
	const fluss_type *item = &type->children[1].type;
	size_t		keys_size;
	size_t		values_size;
	const uint8_t *values;
	int32_t		n;
	fluss_value *items;
	fluss_status status;

	if (size < 4)
		return FLUSS_MALFORMED;
	keys_size = fluss_load_u32le(data);
	data += 4;
	if (keys_size > size - 4)
		return FLUSS_MALFORMED;
	values = data + keys_size;
	values_size = size - 4 - keys_size;
	n = count_elements(key, data, keys_size);
	if (n < 0 || count_elements(item, values, values_size) != n)
		return FLUSS_MALFORMED;
	status = make_items(arena, n, 2, value, &items);
	if (status == FLUSS_OK)
		status = decode_elements(arena, format, key, data, keys_size, n,
								 items, 2);
	if (status == FLUSS_OK && n > 0)
		status = decode_elements(arena, format, item, values, values_size, n,
								 items + 1, 2);
	return status;
}

static fluss_status
decode_row(fluss_arena *arena, fluss_row_format format, const fluss_type *type,
		   const uint8_t *data, size_t size, fluss_value *value)
{
	fluss_value *items;
	int32_t		failed_at;
	fluss_status status = make_items(arena, type->nchildren, 1, value, &items);

	return status != FLUSS_OK ? status :
		fluss_fields_decode(arena, format, type->children, type->nchildren,
							NULL, data, size, items, &failed_at);
}

fluss_status
fluss_nested_decode(fluss_arena *arena, fluss_row_format format,
					const fluss_type *type, const uint8_t *data, size_t size,
					fluss_value *value)
{
	if (type->id == FLUSS_ARRAY)
		return decode_array(arena, format, type, data, size, value);
	if (type->id == FLUSS_MAP)
		return decode_map(arena, format, type, data, size, value);
	return decode_row(arena, format, type, data, size, value);
}

/* ---- encoding */

/* Zeros up to a multiple of 8 bytes since start. */
static void
pad(fluss_buf *out, size_t start)
{
	size_t		past = (out->size - start) % 8;

	if (past > 0)
		fluss_buf_append_zeros(out, 8 - past);
}

/* Lets the slot refer to what was appended from there on. */
static void
refer(fluss_buf *out, size_t start, size_t slot_at, size_t part_at,
	  size_t size)
{
	if (part_at - start > INT32_MAX || size > INT32_MAX)
		out->failed = true;
	if (out->failed)
		return;
	fluss_store_u32le(out->data + slot_at, (uint32_t) size);
	fluss_store_u32le(out->data + slot_at + 4, (uint32_t) (part_at - start));
	pad(out, start);
}

static void
put_bytes(fluss_buf *out, size_t start, size_t slot_at,
		  const fluss_bytes *bytes)
{
	size_t		part_at = out->size;

	if (bytes->size <= INLINE_SIZE)
	{
		if (bytes->size > 0)
			memcpy(out->data + slot_at, bytes->data, bytes->size);
		out->data[slot_at + 7] = (uint8_t) (INLINE_MARK | bytes->size);
		return;
	}
	fluss_buf_append(out, bytes->data, bytes->size);
	refer(out, start, slot_at, part_at, bytes->size);
}

static void
put_decimal(fluss_buf *out, size_t start, size_t slot_at,
			const fluss_value *value)
{
	uint8_t		bytes[16];
	size_t		part_at = out->size;
	size_t		size = fluss_decimal_to_bytes(value, bytes);
	uint8_t    *p = fluss_buf_append_zeros(out, DECIMAL_ROOM);

	if (p != NULL)
		memcpy(p, bytes + 16 - size, size);
	refer(out, start, slot_at, part_at, size);
}

static void
put_timestamp(fluss_buf *out, size_t start, size_t slot_at,
			  const fluss_value *value)
{
	size_t		part_at = out->size;

	fluss_buf_u64le(out, (uint64_t) value->u.timestamp.millis);
	refer(out, start, slot_at, part_at, (size_t) value->u.timestamp.nanos);
}

void
fluss_slot_put_long(fluss_buf *out, size_t start, size_t slot_at,
					const fluss_type *type, const fluss_value *value)
{
	switch (type->id)
	{
		case FLUSS_DECIMAL:
			put_decimal(out, start, slot_at, value);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			put_timestamp(out, start, slot_at, value);
			break;
		default:
			put_bytes(out, start, slot_at, &value->u.bytes);
			break;
	}
}

static fluss_status
put_nested(fluss_row_format format, fluss_buf *out, size_t start,
		   size_t slot_at, const fluss_column *element,
		   const fluss_value *value, fluss_error *err)
{
	size_t		part_at = out->size;
	fluss_status status = fluss_nested_encode(format, element, value, out,
											  err);

	if (status == FLUSS_OK)
		refer(out, start, slot_at, part_at, out->size - part_at);
	return status;
}

/* The slot is there and zero. */
static inline fluss_status
put_element(fluss_row_format format, fluss_buf *out, size_t start,
			size_t slot_at, const fluss_column *element,
			const fluss_value *value, fluss_error *err)
{
	if (fluss_fixed_put(&element->type, value, out->data + slot_at))
		return FLUSS_OK;
	if (!fluss_type_is_scalar(&element->type))
		return put_nested(format, out, start, slot_at, element, value, err);
	fluss_slot_put_long(out, start, slot_at, &element->type, value);
	return FLUSS_OK;
}

static fluss_status
encode_elements(fluss_row_format format, const fluss_column *element,
				const fluss_value *items, int32_t n, int stride,
				fluss_buf *out, fluss_error *err)
{
	size_t		start = out->size;
	size_t		width = slot_width(&element->type);
	size_t		slot_at = start + slots_at(n);

	fluss_buf_append_zeros(out, slots_at(n) + (size_t) n * width);
	pad(out, start);
	if (!out->failed)
		fluss_store_u32le(out->data + start, (uint32_t) n);
	for (int32_t i = 0; i < n && !out->failed; i++, slot_at += width)
	{
		const fluss_value *value = &items[(size_t) i * (size_t) stride];
		fluss_status status;

		if (value->is_null && element->type.nullable)
		{
			out->data[start + 4 + (size_t) i / 8] |= (uint8_t) (1 << (i & 7));
			continue;
		}
		if (value->is_null)
			return fluss_fail_null(err, element->name);
		status = put_element(format, out, start, slot_at, element, value, err);
		if (status != FLUSS_OK)
			return status;
	}
	return FLUSS_OK;
}

static fluss_status
encode_map(fluss_row_format format, const fluss_type *type,
		   const fluss_value *value, fluss_buf *out, fluss_error *err)
{
	size_t		start = out->size;
	const fluss_value *items = value->u.nested.items;
	int32_t		n = value->u.nested.n;
	fluss_status status;

	fluss_buf_u32le(out, 0);
	status = encode_elements(format, &type->children[0], items, n, 2, out,
							 err);
	if (status != FLUSS_OK)
		return status;
	if (!out->failed)
		fluss_store_u32le(out->data + start,
						  (uint32_t) (out->size - start - 4));
	return encode_elements(format, &type->children[1],
						   n == 0 ? items : items + 1, n, 2, out, err);
}

fluss_status
fluss_nested_encode(fluss_row_format format, const fluss_column *column,
					const fluss_value *value, fluss_buf *out,
					fluss_error *err)
{
	const fluss_type *type = &column->type;

	if (type->id == FLUSS_ARRAY)
		return encode_elements(format, &type->children[0],
							   value->u.nested.items, value->u.nested.n, 1,
							   out, err);
	if (type->id == FLUSS_MAP)
		return encode_map(format, type, value, out, err);
	return fluss_fields_encode(format, type->children, type->nchildren,
							   value->u.nested.items, out, err);
}
