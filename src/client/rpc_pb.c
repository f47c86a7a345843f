/*
 * rpc_pb.c
 *	  The seam to protobuf-c.
 *
 * Messages are unpacked straight into an arena: protobuf-c's free is a no-op,
 * and a failed unpack leaves garbage that goes with the arena.  protobuf-c
 * checks lengths and required fields; it says only that something is wrong,
 * so "no memory" is told apart by a flag in the allocator.
 */
#include <limits.h>

#include "rpc_pb.h"

typedef struct arena_allocator
{
	ProtobufCAllocator base;	/* must be first */
	fluss_arena *arena;
	bool		failed;
} arena_allocator;

static void *
allocate(void *data, size_t size)
{
	arena_allocator *allocator = data;
	void	   *result = fluss_arena_alloc(allocator->arena, size);

	if (result == NULL)
		allocator->failed = true;
	return result;
}

static void
release(void *data, void *pointer)
{
}

fluss_status
fluss_pb_pack(const void *message, fluss_buf *out, fluss_error *err)
{
	size_t		size = protobuf_c_message_get_packed_size(message);
	uint8_t    *p = fluss_buf_reserve(out, size);

	if (p == NULL)
		return fluss_fail_memory(err);
	out->size += protobuf_c_message_pack(message, p);
	return FLUSS_OK;
}

fluss_status
fluss_pb_finish(fluss_arena *scratch, const void *message, fluss_buf *out,
				fluss_error *err)
{
	fluss_status status;

	status = message != NULL ? fluss_pb_pack(message, out, err) :
		fluss_fail_memory(err);
	fluss_arena_free(scratch);
	return status;
}

fluss_status
fluss_pb_unpack(fluss_arena *arena,
				const ProtobufCMessageDescriptor *descriptor,
				fluss_bytes answer, const char *api, void **message,
				fluss_error *err)
{
	arena_allocator allocator = {
		.base = {.alloc = allocate, .free = release},
		.arena = arena
	};
	/* protobuf-c wants a pointer even for no bytes */
	const uint8_t *data = answer.size > 0 ? answer.data : (const uint8_t *) "";

	allocator.base.allocator_data = &allocator;
	*message = protobuf_c_message_unpack(descriptor, &allocator.base,
										 answer.size, data);
	if (*message != NULL)
		return FLUSS_OK;
	if (allocator.failed)
		return fluss_fail_memory(err);
	return fluss_pb_malformed(err, api,
							  "It cannot be decoded, or lacks a field.");
}

void *
fluss_pb_list(fluss_arena *arena, const ProtobufCMessageDescriptor *descriptor,
			  size_t count, void *list)
{
	size_t		size = descriptor->sizeof_message;
	char	   *messages = fluss_arena_array(arena, count, size);
	void	  **pointers = fluss_arena_array(arena, count, sizeof(void *));

	if (messages == NULL || pointers == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
	{
		pointers[i] = messages + i * size;
		protobuf_c_message_init(descriptor, pointers[i]);
	}
	memcpy(list, &pointers, sizeof(pointers));
	return messages;
}

fluss_status
fluss_pb_results(fluss_arena *arena, size_t count, size_t size,
				 const char *api, void **results, int *nresults,
				 fluss_error *err)
{
	if (count > INT_MAX)
		return fluss_pb_malformed(err, api, "It has too many entries.");
	*results = fluss_arena_array(arena, count, size);
	if (*results == NULL)
		return fluss_fail_memory(err);
	*nresults = (int) count;
	return FLUSS_OK;
}

bool
fluss_pb_next_field(fluss_reader *reader, fluss_pb_field *field)
{
	const uint8_t *start = reader->pos;
	uint64_t	tag;

	if (reader->failed || fluss_reader_left(reader) == 0)
		return false;
	tag = fluss_read_varint64(reader);
	field->number = (uint32_t) (tag >> 3);
	field->is_bytes = (tag & 7) == 2;
	field->value = 0;
	switch (tag & 7)
	{
		case 0:
			field->value = fluss_read_varint64(reader);
			break;
		case 1:
			field->value = fluss_read_u64le(reader);
			break;
		case 2:
			field->bytes.size = fluss_read_varint32(reader);
			field->bytes.data = fluss_read_bytes(reader, field->bytes.size);
			break;
		case 5:
			field->value = fluss_read_u32le(reader);
			break;
		default:
			reader->failed = true;
			break;
	}
	field->whole.data = start;
	field->whole.size = (size_t) (reader->pos - start);
	return !reader->failed;
}

fluss_status
fluss_pb_malformed(fluss_error *err, const char *api, const char *what)
{
	fluss_status status;

	status = fluss_fail(err, FLUSS_MALFORMED,
						"answer of Fluss server to %s is not valid", api);
	fluss_error_detail(err, "%s", what);
	return status;
}

fluss_bytes
fluss_pb_bytes(ProtobufCBinaryData data)
{
	fluss_bytes bytes = {
		.data = data.len > 0 ? data.data : (const uint8_t *) "",
		.size = data.len
	};

	return bytes;
}

/* protobuf-c does not write through the pointer when it packs. */
ProtobufCBinaryData
fluss_pb_data(fluss_bytes bytes)
{
	ProtobufCBinaryData data = {
		.len = bytes.size,
		.data = (uint8_t *) bytes.data
	};

	return data;
}
