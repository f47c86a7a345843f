/*
 * frame.c
 *	  Frames of the wire protocol to and from bytes; no I/O.
 *
 *	  request	i32 length (8 + body), i16 api, i16 version, i32 id, body
 *	  answer	i32 length (5 + body), u8 0, i32 id, body
 *	  error		i32 length (5 + body), u8 1, i32 id, body
 *	  failure	i32 length (1 + body), u8 2, body
 *
 * Everything here is big endian, unlike the payloads.  The length does not
 * count itself.
 */
#include "error.h"
#include "frame.h"

#define LENGTH_SIZE		4

static void
store_u16be(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t) (v >> 8);
	p[1] = (uint8_t) v;
}

static void
store_u32be(uint8_t *p, uint32_t v)
{
	store_u16be(p, (uint16_t) (v >> 16));
	store_u16be(p + 2, (uint16_t) v);
}

void
fluss_frame_write_header(uint8_t *out, int16_t api, int16_t version,
						 uint32_t request_id, size_t body_size)
{
	store_u32be(out, (uint32_t) (FLUSS_REQUEST_HEADER - LENGTH_SIZE +
								 body_size));
	store_u16be(out + 4, (uint16_t) api);
	store_u16be(out + 6, (uint16_t) version);
	store_u32be(out + 8, request_id);
}

fluss_status
fluss_frame_read_header(const uint8_t *data, size_t size, fluss_frame *frame,
						fluss_error *err)
{
	fluss_reader reader;
	uint32_t	length;
	uint8_t		type;
	uint32_t	rest;

	frame->header_size = 0;
	fluss_reader_init(&reader, data, size);
	length = fluss_read_u32be(&reader);
	type = fluss_read_u8(&reader);
	if (reader.failed)
		return FLUSS_OK;
	rest = type == FLUSS_FRAME_FAILURE ? 1 : FLUSS_ANSWER_HEADER - LENGTH_SIZE;
	if (type > FLUSS_FRAME_FAILURE || length < rest ||
		length > FLUSS_MAX_FRAME)
	{
		(void) fluss_fail(err, FLUSS_MALFORMED,
						  "bytes from the server are no answer of a Fluss server");
		fluss_error_detail(err, "The frame says type %u and length %u.",
						   type, length);
		return err->status;
	}
	frame->request_id = 0;
	if (type != FLUSS_FRAME_FAILURE)
		frame->request_id = fluss_read_u32be(&reader);
	if (reader.failed)
		return FLUSS_OK;
	frame->type = type;
	frame->header_size = LENGTH_SIZE + rest;
	frame->body_size = length - rest;
	return FLUSS_OK;
}
