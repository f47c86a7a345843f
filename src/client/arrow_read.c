/*
 * arrow_read.c
 *	  Arrow buffers as column views.
 *
 * A field has one node and, by its type, these buffers: validity bits and data
 * (fixed width, booleans as bits); validity, offsets and data (CHAR, STRING,
 * BYTES); validity, offsets, then the child (ARRAY); the same, where the child
 * is a struct of key and value (MAP); validity, then the children (ROW).  Nodes
 * and buffers follow each other in that order, depth first.
 *
 * Whatever a view promises is checked here, for wanted fields only.  A child
 * may be longer than its parent needs.  Types are no deeper than
 * FLUSS_MAX_NESTING, so functions that follow them may call themselves.
 */
#include "arrow.h"
#include "error.h"
#include "schema.h"

/* ---- layout */

int32_t
fluss_arrow_width(const fluss_type *type)
{
	switch (type->id)
	{
		case FLUSS_TINYINT:
			return 1;
		case FLUSS_SMALLINT:
			return 2;
		case FLUSS_INTEGER:
		case FLUSS_FLOAT:
		case FLUSS_DATE:
			return 4;
		case FLUSS_TIME:
			return type->precision <= 3 ? 4 : 8;
		case FLUSS_BIGINT:
		case FLUSS_DOUBLE:
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return 8;
		case FLUSS_DECIMAL:
			return 16;
		case FLUSS_BINARY:
			return type->length;
		default:
			return 0;
	}
}

bool
fluss_arrow_is_variable(const fluss_type *type)
{
	return type->id == FLUSS_CHAR || type->id == FLUSS_STRING ||
		type->id == FLUSS_BYTES;
}

/* How many nodes and buffers stand before the next field. */
typedef struct position
{
	int64_t		node;
	int64_t		buffer;
} position;

static void
skip_field(position *at, const fluss_type *type)
{
	/* a MAP's entries are a struct with a node of their own */
	bool		is_map = type->id == FLUSS_MAP;

	at->node += is_map ? 2 : 1;
	if (type->id == FLUSS_ROW)
		at->buffer += 1;
	else if (is_map || fluss_arrow_is_variable(type))
		at->buffer += 3;
	else
		at->buffer += 2;
	for (int32_t i = 0; i < type->nchildren; i++)
		skip_field(at, &type->children[i].type);
}

/* ---- reading */

/* One message that is being read. */
typedef struct reading
{
	fluss_arrow_message message;
	fluss_unpacker unpacker;
	int32_t		nrows;
	fluss_error *err;
} reading;

static fluss_status
malformed(reading *r, const fluss_type *type, const char *what)
{
	char		spelling[128];

	fluss_type_print(type, spelling, sizeof(spelling));
	fluss_fail(r->err, FLUSS_MALFORMED, "Arrow record batch is malformed");
	fluss_error_detail(r->err, "A field of type %s %s.", spelling, what);
	return FLUSS_MALFORMED;
}

static fluss_status
get_buffer(reading *r, int64_t i, fluss_bytes *bytes)
{
	fluss_bytes stored;
	fluss_status status = fluss_arrow_message_buffer(&r->message, (int32_t) i,
													 &stored, r->err);

	return status == FLUSS_OK ?
		fluss_unpack(&r->unpacker, stored, bytes, r->err) : status;
}

/* Length and NULLs that the node announces. */
static fluss_status
read_node(reading *r, const position *at, const fluss_type *type,
		  int64_t *length, int64_t *null_count)
{
	const uint8_t *node = r->message.nodes + at->node * 16;

	*length = (int64_t) fluss_load_u64le(node);
	*null_count = (int64_t) fluss_load_u64le(node + 8);
	if (*length < 0 || *length > INT32_MAX)
		return malformed(r, type, "has an impossible length");
	if (*null_count < 0 || *null_count > *length)
		return malformed(r, type, "has an impossible count of nulls");
	return FLUSS_OK;
}

/* Without NULLs the validity buffer is left alone, whatever it holds. */
static fluss_status
read_validity(reading *r, const position *at, int64_t null_count,
			  fluss_column_view *view)
{
	fluss_bytes bits;
	fluss_status status;

	if (null_count == 0)
		return FLUSS_OK;
	status = get_buffer(r, at->buffer, &bits);
	if (status != FLUSS_OK)
		return status;
	if (bits.size < ((size_t) view->length + 7) / 8)
		return malformed(r, view->type, "has too short a validity buffer");
	view->validity = bits.data;
	return FLUSS_OK;
}

/* Offsets ascend from 0 or more up to at most the size of the data. */
static bool
offsets_are_valid(const uint8_t *offsets, int32_t nrows, size_t data_size)
{
	int32_t		previous = (int32_t) fluss_load_u32le(offsets);
	bool		descends = previous < 0;

	for (int32_t i = 1; i <= nrows; i++)
	{
		int32_t		next =
			(int32_t) fluss_load_u32le(offsets + (size_t) i * 4);

		descends |= next < previous;
		previous = next;
	}
	return !descends && (size_t) previous <= data_size;
}

/* There are as many as the view needs; what they say is not looked at. */
static fluss_status
read_offsets(reading *r, const position *at, fluss_column_view *view)
{
	/* what a field without values may leave out */
	static const uint8_t no_offsets[4] = {0};
	fluss_bytes offsets;
	fluss_status status = get_buffer(r, at->buffer + 1, &offsets);

	if (status != FLUSS_OK)
		return status;
	if (offsets.size == 0 && view->length == 0)
		offsets = (fluss_bytes) {no_offsets, sizeof(no_offsets)};
	if (offsets.size / 4 < (size_t) view->length + 1)
		return malformed(r, view->type, "has too short an offsets buffer");
	view->offsets = offsets.data;
	return FLUSS_OK;
}

static fluss_status
read_variable(reading *r, const position *at, fluss_column_view *view)
{
	fluss_bytes data;
	fluss_status status = read_offsets(r, at, view);

	if (status == FLUSS_OK)
		status = get_buffer(r, at->buffer + 2, &data);
	if (status != FLUSS_OK)
		return status;
	if (!offsets_are_valid(view->offsets, view->length, data.size))
		return malformed(r, view->type, "has offsets that descend or leave its data");
	view->data = data.data;
	return FLUSS_OK;
}

static fluss_status
read_fixed(reading *r, const position *at, fluss_column_view *view)
{
	size_t		wanted = view->type->id == FLUSS_BOOLEAN ?
		((size_t) view->length + 7) / 8 :
		(size_t) view->length * (size_t) fluss_arrow_width(view->type);
	fluss_bytes data;
	fluss_status status = get_buffer(r, at->buffer + 1, &data);

	if (status != FLUSS_OK)
		return status;
	if (data.size < wanted)
		return malformed(r, view->type, "has too short a data buffer");
	view->data = data.data;
	return FLUSS_OK;
}

static fluss_status read_field(reading *r, position at,
							   const fluss_type *type,
							   fluss_column_view *view);

/* The entries of a MAP are a struct that nothing is NULL in. */
static fluss_status
read_entries(reading *r, const position *at, const fluss_column_view *map,
			 int64_t *length)
{
	int64_t		null_count;
	fluss_status status = read_node(r, at, map->type, length, &null_count);

	if (status == FLUSS_OK && null_count > 0)
		return malformed(r, map->type, "has entries that are NULL");
	return status;
}

static fluss_status
read_nested(reading *r, position at, fluss_column_view *view)
{
	const fluss_type *type = view->type;
	int32_t		n = type->nchildren;
	fluss_column_view *children = fluss_arena_array(r->unpacker.arena,
													(size_t) n,
													sizeof(*children));
	int64_t		needed = view->length;
	fluss_status status = FLUSS_OK;

	if (children == NULL)
		return fluss_fail_memory(r->err);
	/* nothing would bound the number of its values */
	if (n == 0)
		return fluss_fail(r->err, FLUSS_UNSUPPORTED,
						  "a ROW without fields cannot be read");
	if (type->id != FLUSS_ROW)
		status = read_offsets(r, &at, view);
	at.node += 1;
	at.buffer += type->id == FLUSS_ROW ? 1 : 2;
	if (status == FLUSS_OK && type->id == FLUSS_MAP)
	{
		status = read_entries(r, &at, view, &needed);
		at.node += 1;
		at.buffer += 1;
	}
	for (int32_t i = 0; i < n && status == FLUSS_OK; i++)
	{
		status = read_field(r, at, &type->children[i].type, &children[i]);
		skip_field(&at, &type->children[i].type);
		if (status == FLUSS_OK && type->id != FLUSS_ARRAY &&
			children[i].length < needed)
			return malformed(r, type, "has a child that is too short");
	}
	if (status != FLUSS_OK)
		return status;
	if (type->id == FLUSS_ARRAY)
		needed = children[0].length;
	if (type->id != FLUSS_ROW &&
		!offsets_are_valid(view->offsets, view->length, (size_t) needed))
		return malformed(r, type, "has offsets that descend or leave its child");
	view->children = children;
	return FLUSS_OK;
}

/* at stays: the caller skips the field. */
static fluss_status
read_field(reading *r, position at, const fluss_type *type,
		   fluss_column_view *view)
{
	int64_t		length;
	int64_t		null_count;
	fluss_status status = read_node(r, &at, type, &length, &null_count);

	if (status != FLUSS_OK)
		return status;
	memset(view, 0, sizeof(*view));
	view->type = type;
	view->length = (int32_t) length;
	status = read_validity(r, &at, null_count, view);
	if (status != FLUSS_OK)
		return status;
	if (!fluss_type_is_scalar(type))
		return read_nested(r, at, view);
	return fluss_arrow_is_variable(type) ? read_variable(r, &at, view) :
		read_fixed(r, &at, view);
}

static fluss_status
read_fields(reading *r, const fluss_type *const *types, int ntypes,
			const bool *want, fluss_column_view *views)
{
	position	at = {0, 0};

	for (int i = 0; i < ntypes; i++)
		skip_field(&at, types[i]);
	if (at.node != r->message.nnodes || at.buffer != r->message.nbuffers)
	{
		fluss_fail(r->err, FLUSS_MALFORMED, "Arrow record batch is malformed");
		fluss_error_detail(r->err, "It has %d nodes and %d buffers where the schema wants %lld and %lld.",
						   r->message.nnodes, r->message.nbuffers,
						   (long long) at.node, (long long) at.buffer);
		return FLUSS_MALFORMED;
	}
	at = (position) {0, 0};
	for (int i = 0; i < ntypes; i++)
	{
		if (want == NULL || want[i])
		{
			fluss_status status = read_field(r, at, types[i], &views[i]);

			if (status == FLUSS_OK && views[i].length != r->nrows)
				status = malformed(r, types[i], "has another length than the batch");
			if (status != FLUSS_OK)
				return status;
		}
		skip_field(&at, types[i]);
	}
	return FLUSS_OK;
}

fluss_status
fluss_arrow_read(fluss_arena *arena, const uint8_t *data, size_t size,
				 int32_t nrows, const fluss_type *const *types, int ntypes,
				 const bool *want, int64_t max_bytes,
				 fluss_column_view *views, fluss_error *err)
{
	reading		r = {.nrows = nrows,.err = err};
	fluss_status status = fluss_arrow_message_open(data, size, &r.message, err);

	if (status != FLUSS_OK)
		return status;
	if (r.message.nrows != nrows)
	{
		fluss_fail(err, FLUSS_MALFORMED, "Arrow record batch is malformed");
		fluss_error_detail(err, "It has %lld rows where %d were announced.",
						   (long long) r.message.nrows, nrows);
		return FLUSS_MALFORMED;
	}
	fluss_unpacker_init(&r.unpacker, arena, r.message.codec, max_bytes);
	status = read_fields(&r, types, ntypes, want, views);
	fluss_unpacker_free(&r.unpacker);
	return status;
}
