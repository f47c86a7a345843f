/*
 * frame.h
 *	  Frames of the wire protocol to and from bytes; no I/O.
 */
#ifndef FLUSS_FRAME_H
#define FLUSS_FRAME_H

#include "buf.h"

#define FLUSS_REQUEST_HEADER	12
/* the longest header of an answer */
#define FLUSS_ANSWER_HEADER		9
/* A longer answer is taken for garbage. */
#define FLUSS_MAX_FRAME			((uint32_t) 1 << 30)

typedef enum fluss_frame_type
{
	FLUSS_FRAME_ANSWER = 0,
	FLUSS_FRAME_ERROR = 1,		/* about one request */
	FLUSS_FRAME_FAILURE = 2		/* of the connection: has no request id */
} fluss_frame_type;

typedef struct fluss_frame
{
	fluss_frame_type type;
	uint32_t	request_id;
	size_t		header_size;	/* 0: the header is not complete yet */
	size_t		body_size;
} fluss_frame;

/* Writes FLUSS_REQUEST_HEADER bytes. */
void fluss_frame_write_header(uint8_t *out, int16_t api, int16_t version,
							  uint32_t request_id, size_t body_size);
/* Reads the header of an answer from its first bytes. */
FLUSS_MUST_CHECK fluss_status fluss_frame_read_header(const uint8_t *data,
													  size_t size,
													  fluss_frame *frame,
													  fluss_error *err);

#endif							/* FLUSS_FRAME_H */
