/*
 * buf.c
 *	  A growing byte writer and a bounds-checked byte reader.
 *
 * Invariant of a writer: size <= capacity, and data holds capacity bytes (NULL
 * when capacity is 0).  Invariant of a reader: start <= pos <= end; a failed
 * reader does not move.
 */
#include "buf.h"

#define FIRST_CAPACITY	((size_t) 256)
#define MAX_VARINT		10

/* ---- writer */

void
fluss_buf_init(fluss_buf *buf, const fluss_host *host)
{
	memset(buf, 0, sizeof(*buf));
	buf->host = host;
}

void
fluss_buf_free(fluss_buf *buf)
{
	if (buf->data != NULL)
		buf->host->free(buf->host->arg, buf->data);
	fluss_buf_init(buf, buf->host);
}

void
fluss_buf_reset(fluss_buf *buf)
{
	buf->size = 0;
	buf->failed = false;
}

/* Doubles, so that appending n bytes one by one costs O(n). */
static bool
grow(fluss_buf *buf, size_t needed)
{
	size_t		capacity = buf->capacity;
	uint8_t    *data;

	if (capacity < FIRST_CAPACITY)
		capacity = FIRST_CAPACITY;
	while (capacity < needed)
	{
		if (capacity > PTRDIFF_MAX / 2)
		{
			capacity = needed;
			break;
		}
		capacity *= 2;
	}
	data = buf->host->alloc(buf->host->arg, capacity);
	if (data == NULL)
		return false;
	if (buf->data != NULL)
	{
		memcpy(data, buf->data, buf->size);
		buf->host->free(buf->host->arg, buf->data);
	}
	buf->data = data;
	buf->capacity = capacity;
	return true;
}

bool
fluss_buf_grow(fluss_buf *buf, size_t size)
{
	size_t		needed;

	if (buf->failed)
		return false;
	buf->failed = __builtin_add_overflow(buf->size, size, &needed) ||
		needed > PTRDIFF_MAX || !grow(buf, needed);
	return !buf->failed;
}

uint8_t *
fluss_buf_append_zeros(fluss_buf *buf, size_t size)
{
	uint8_t    *p = fluss_buf_reserve(buf, size);

	if (p == NULL)
		return NULL;
	memset(p, 0, size);
	buf->size += size;
	return p;
}

void
fluss_buf_append(fluss_buf *buf, const void *data, size_t size)
{
	uint8_t    *p;

	if (size == 0)
		return;
	p = fluss_buf_reserve(buf, size);
	if (p == NULL)
		return;
	memcpy(p, data, size);
	buf->size += size;
}

void
fluss_buf_u8(fluss_buf *buf, uint8_t v)
{
	fluss_buf_append(buf, &v, 1);
}

void
fluss_buf_u16le(fluss_buf *buf, uint16_t v)
{
	uint8_t		bytes[2];

	fluss_store_u16le(bytes, v);
	fluss_buf_append(buf, bytes, sizeof(bytes));
}

void
fluss_buf_u32le(fluss_buf *buf, uint32_t v)
{
	uint8_t		bytes[4];

	fluss_store_u32le(bytes, v);
	fluss_buf_append(buf, bytes, sizeof(bytes));
}

void
fluss_buf_u64le(fluss_buf *buf, uint64_t v)
{
	uint8_t		bytes[8];

	fluss_store_u64le(bytes, v);
	fluss_buf_append(buf, bytes, sizeof(bytes));
}

void
fluss_buf_varint32(fluss_buf *buf, uint32_t v)
{
	fluss_buf_varint64(buf, v);
}

void
fluss_buf_varint64(fluss_buf *buf, uint64_t v)
{
	uint8_t    *start = fluss_buf_reserve(buf, MAX_VARINT);
	uint8_t    *p = start;

	if (p == NULL)
		return;
	while (v >= 0x80)
	{
		*p++ = (uint8_t) (v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t) v;
	buf->size += (size_t) (p - start);
}

/* ---- reader */

void
fluss_reader_init(fluss_reader *reader, const void *data, size_t size)
{
	/* pointer arithmetic on NULL is undefined, even by zero */
	static const uint8_t empty[1] = {0};

	reader->start = size > 0 ? data : empty;
	reader->pos = reader->start;
	reader->end = reader->start + size;
	reader->failed = false;
}

uint8_t
fluss_read_u8(fluss_reader *reader)
{
	const uint8_t *p = fluss_read_bytes(reader, 1);

	return p == NULL ? 0 : *p;
}

uint32_t
fluss_read_u32le(fluss_reader *reader)
{
	const uint8_t *p = fluss_read_bytes(reader, 4);

	return p == NULL ? 0 : fluss_load_u32le(p);
}

uint64_t
fluss_read_u64le(fluss_reader *reader)
{
	const uint8_t *p = fluss_read_bytes(reader, 8);

	return p == NULL ? 0 : fluss_load_u64le(p);
}

uint32_t
fluss_read_u32be(fluss_reader *reader)
{
	const uint8_t *p = fluss_read_bytes(reader, 4);

	return p == NULL ? 0 : fluss_load_u32be(p);
}

/* Bits of the last byte that do not fit width are an error, not dropped. */
static uint64_t
read_varint(fluss_reader *reader, int width)
{
	uint64_t	v = 0;

	for (int shift = 0; shift < width; shift += 7)
	{
		uint8_t		byte = fluss_read_u8(reader);
		int			room = width - shift;

		if (reader->failed)
			return 0;
		if (room < 7 && (byte & 0x7f) >> room != 0)
			break;
		v |= (uint64_t) (byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return v;
	}
	reader->failed = true;
	return 0;
}

uint32_t
fluss_read_varint32(fluss_reader *reader)
{
	return (uint32_t) read_varint(reader, 32);
}

uint64_t
fluss_read_varint64(fluss_reader *reader)
{
	return read_varint(reader, 64);
}
