/*
 * rpc_pb.h
 *	  The seam to protobuf-c, for rpc.c, rpc_admin.c and rpc_snapshot.c only.
 */
#ifndef FLUSS_RPC_PB_H
#define FLUSS_RPC_PB_H

#include "arena.h"
#include "buf.h"
#include "error.h"
#include "fluss.pb-c.h"

/* Appends the serialized message. */
FLUSS_MUST_CHECK fluss_status fluss_pb_pack(const void *message,
											fluss_buf *out, fluss_error *err);
/*
 * The same for a message that was built in the arena, which is freed in any
 * case.  message NULL: the arena ran out of memory.
 */
FLUSS_MUST_CHECK fluss_status fluss_pb_finish(fluss_arena *scratch,
											  const void *message,
											  fluss_buf *out, fluss_error *err);
/*
 * Unpacks into the arena; there is nothing to free.  api names the answer in
 * the error.
 */
FLUSS_MUST_CHECK fluss_status fluss_pb_unpack(fluss_arena *arena,
											  const ProtobufCMessageDescriptor *descriptor,
											  fluss_bytes answer,
											  const char *api, void **message,
											  fluss_error *err);
/*
 * count messages of one kind, initialized, and in *list the pointers to them,
 * which are what a repeated field is.  NULL when there is no memory.
 */
void *fluss_pb_list(fluss_arena *arena,
					const ProtobufCMessageDescriptor *descriptor, size_t count,
					void *list);
/* The partition and bucket that a request is about. */
#define FLUSS_PB_SET_BUCKET(message, partition, bucket) \
	do { \
		(message)->has_partition_id = (partition) != FLUSS_NO_PARTITION; \
		(message)->partition_id = (partition); \
		(message)->bucket_id = (bucket); \
	} while (0)
/*
 * An array, zeroed, for what is made of each message of a repeated field.
 * protobuf-c counts with size_t, callers with int.
 */
FLUSS_MUST_CHECK fluss_status fluss_pb_results(fluss_arena *arena,
											   size_t count, size_t size,
											   const char *api,
											   void **results, int *nresults,
											   fluss_error *err);
/*
 * One field of a message that is taken apart by hand, so that its long fields
 * need no copy.
 */
typedef struct fluss_pb_field
{
	uint32_t	number;
	bool		is_bytes;		/* a message, a string or bytes; else a number */
	fluss_bytes bytes;			/* points into the message */
	uint64_t	value;
	fluss_bytes whole;			/* the field with its tag */
} fluss_pb_field;

/* Gives the next field; false at the end, or when reader->failed. */
bool fluss_pb_next_field(fluss_reader *reader, fluss_pb_field *field);

/* "the answer to api is not valid", DETAIL what. */
fluss_status fluss_pb_malformed(fluss_error *err, const char *api,
								const char *what);
/* An empty bytes field is not an absent one: its data is never NULL. */
fluss_bytes fluss_pb_bytes(ProtobufCBinaryData data);
ProtobufCBinaryData fluss_pb_data(fluss_bytes bytes);

#endif							/* FLUSS_RPC_PB_H */
