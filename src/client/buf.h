/*
 * buf.h
 *	  A growing byte writer and a bounds-checked byte reader.
 *
 * Both have a sticky error: after the first failed allocation or short read
 * every further call does nothing (reads give zero), so callers check once at
 * the end.  Loads and stores go byte by byte: right on any host, aligned or
 * not.
 */
#ifndef FLUSS_BUF_H
#define FLUSS_BUF_H

#include <string.h>

#include "fluss.h"

/* ---- loads and stores */

static inline uint16_t
fluss_load_u16le(const uint8_t *p)
{
	return (uint16_t) (p[0] | p[1] << 8);
}

static inline uint32_t
fluss_load_u32le(const uint8_t *p)
{
	return (uint32_t) p[0] | (uint32_t) p[1] << 8 |
		(uint32_t) p[2] << 16 | (uint32_t) p[3] << 24;
}

static inline uint64_t
fluss_load_u64le(const uint8_t *p)
{
	return fluss_load_u32le(p) | (uint64_t) fluss_load_u32le(p + 4) << 32;
}

static inline uint32_t
fluss_load_u32be(const uint8_t *p)
{
	return (uint32_t) p[3] | (uint32_t) p[2] << 8 |
		(uint32_t) p[1] << 16 | (uint32_t) p[0] << 24;
}

static inline void
fluss_store_u16le(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t) v;
	p[1] = (uint8_t) (v >> 8);
}

static inline void
fluss_store_u32le(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t) v;
	p[1] = (uint8_t) (v >> 8);
	p[2] = (uint8_t) (v >> 16);
	p[3] = (uint8_t) (v >> 24);
}

static inline void
fluss_store_u64le(uint8_t *p, uint64_t v)
{
	fluss_store_u32le(p, (uint32_t) v);
	fluss_store_u32le(p + 4, (uint32_t) (v >> 32));
}

/* ---- writer */

typedef struct fluss_buf
{
	const fluss_host *host;		/* not owned */
	uint8_t    *data;
	size_t		size;			/* bytes written */
	size_t		capacity;
	bool		failed;			/* an allocation failed; data is incomplete */
} fluss_buf;

void fluss_buf_init(fluss_buf *buf, const fluss_host *host);
void fluss_buf_free(fluss_buf *buf);
/* Forgets the content and the error, keeps the memory. */
void fluss_buf_reset(fluss_buf *buf);
/* For the next function: makes that room. */
bool fluss_buf_grow(fluss_buf *buf, size_t size);
/* Room for size more bytes; NULL (and failed) when there is none. */
static inline uint8_t *
fluss_buf_reserve(fluss_buf *buf, size_t size)
{
	if ((buf->failed || buf->data == NULL ||
		 size > buf->capacity - buf->size) && !fluss_buf_grow(buf, size))
		return NULL;
	return buf->data + buf->size;
}
/* Appends size zero bytes and returns where they start, or NULL. */
uint8_t *fluss_buf_append_zeros(fluss_buf *buf, size_t size);
void fluss_buf_append(fluss_buf *buf, const void *data, size_t size);
void fluss_buf_u8(fluss_buf *buf, uint8_t v);
void fluss_buf_u16le(fluss_buf *buf, uint16_t v);
void fluss_buf_u32le(fluss_buf *buf, uint32_t v);
void fluss_buf_u64le(fluss_buf *buf, uint64_t v);
/* unsigned LEB128 of the 32- or 64-bit pattern, no zigzag */
void fluss_buf_varint32(fluss_buf *buf, uint32_t v);
void fluss_buf_varint64(fluss_buf *buf, uint64_t v);

/* ---- reader */

typedef struct fluss_reader
{
	const uint8_t *start;
	const uint8_t *pos;
	const uint8_t *end;
	bool		failed;			/* something wanted more bytes than there are */
} fluss_reader;

void fluss_reader_init(fluss_reader *reader, const void *data, size_t size);
static inline size_t
fluss_reader_left(const fluss_reader *reader)
{
	return (size_t) (reader->end - reader->pos);
}
/* size bytes in place, or NULL (and failed) */
static inline const uint8_t *
fluss_read_bytes(fluss_reader *reader, size_t size)
{
	const uint8_t *p = reader->pos;

	if (reader->failed || size > fluss_reader_left(reader))
	{
		reader->failed = true;
		return NULL;
	}
	reader->pos += size;
	return p;
}
uint8_t fluss_read_u8(fluss_reader *reader);
uint32_t fluss_read_u32le(fluss_reader *reader);
uint64_t fluss_read_u64le(fluss_reader *reader);
uint32_t fluss_read_u32be(fluss_reader *reader);
/* Fails on more than 5 or 10 bytes, and on bits past the width. */
uint32_t fluss_read_varint32(fluss_reader *reader);
uint64_t fluss_read_varint64(fluss_reader *reader);

#endif							/* FLUSS_BUF_H */
