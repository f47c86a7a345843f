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
 * Whatever a view promises is checked here, for wanted fields only.
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

/* Without NULLs the validity buffer is left alone, whatever it holds. */
static fluss_status
read_validity(reading *r, const position *at, fluss_column_view *view)
{
	const uint8_t *node = r->message.nodes + at->node * 16;
	int64_t		length = (int64_t) fluss_load_u64le(node);
	int64_t		null_count = (int64_t) fluss_load_u64le(node + 8);
	fluss_bytes bits;
	fluss_status status;

	if (length != r->nrows)
		return malformed(r, view->type, "has another length than the batch");
	if (null_count < 0 || null_count > length)
		return malformed(r, view->type, "has an impossible count of nulls");
	if (null_count == 0)
		return FLUSS_OK;
	status = get_buffer(r, at->buffer, &bits);
	if (status != FLUSS_OK)
		return status;
	if (bits.size < ((size_t) r->nrows + 7) / 8)
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

static fluss_status
read_variable(reading *r, const position *at, fluss_column_view *view)
{
	/* what a batch without rows may leave out */
	static const uint8_t no_offsets[4] = {0};
	fluss_bytes offsets;
	fluss_bytes data;
	fluss_status status = get_buffer(r, at->buffer + 1, &offsets);

	if (status == FLUSS_OK)
		status = get_buffer(r, at->buffer + 2, &data);
	if (status != FLUSS_OK)
		return status;
	if (offsets.size == 0 && r->nrows == 0)
		offsets = (fluss_bytes) {no_offsets, sizeof(no_offsets)};
	if (offsets.size / 4 < (size_t) r->nrows + 1)
		return malformed(r, view->type, "has too short an offsets buffer");
	if (!offsets_are_valid(offsets.data, r->nrows, data.size))
		return malformed(r, view->type, "has offsets that descend or leave its data");
	view->offsets = offsets.data;
	view->data = data.data;
	return FLUSS_OK;
}

static fluss_status
read_fixed(reading *r, const position *at, fluss_column_view *view)
{
	size_t		wanted = view->type->id == FLUSS_BOOLEAN ?
		((size_t) r->nrows + 7) / 8 :
		(size_t) r->nrows * (size_t) fluss_arrow_width(view->type);
	fluss_bytes data;
	fluss_status status = get_buffer(r, at->buffer + 1, &data);

	if (status != FLUSS_OK)
		return status;
	if (data.size < wanted)
		return malformed(r, view->type, "has too short a data buffer");
	view->data = data.data;
	return FLUSS_OK;
}

static fluss_status
read_field(reading *r, const position *at, const fluss_type *type,
		   fluss_column_view *view)
{
	fluss_status status;

	memset(view, 0, sizeof(*view));
	view->type = type;
	view->length = r->nrows;
	if (!fluss_type_is_scalar(type))
		return fluss_fail(r->err, FLUSS_UNSUPPORTED,
						  "values of type %s are not supported yet",
						  fluss_type_kinds[type->id].sql_name);
	status = read_validity(r, at, view);
	if (status != FLUSS_OK)
		return status;
	return fluss_arrow_is_variable(type) ? read_variable(r, at, view) :
		read_fixed(r, at, view);
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
			fluss_status status = read_field(r, &at, types[i], &views[i]);

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

/* ---- views */

void
fluss_column_all_null(fluss_column_view *view, const fluss_type *type,
					  int32_t nrows)
{
	memset(view, 0, sizeof(*view));
	view->type = type;
	view->length = nrows;
	view->all_null = true;
}

static int64_t
floor_divide(int64_t v, int64_t by)
{
	return v / by - (v % by < 0);
}

/* A number of seconds past all bounds stays past all bounds. */
static int64_t
seconds_to_millis(int64_t seconds)
{
	int64_t		millis;

	if (__builtin_mul_overflow(seconds, 1000, &millis))
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	return millis;
}

static void
get_timestamp(int64_t raw, int digits, fluss_value *value)
{
	int64_t		per_milli = digits == 9 ? 1000000 : 1000;
	int64_t		millis = raw;
	int32_t		nanos = 0;

	if (digits == 0)
		millis = seconds_to_millis(raw);
	else if (digits > 3)
	{
		int64_t		rest = raw % per_milli;

		millis = floor_divide(raw, per_milli);
		nanos = (int32_t) ((rest < 0 ? rest + per_milli : rest) *
						   (1000000 / per_milli));
	}
	value->u.timestamp.millis = millis;
	value->u.timestamp.nanos = nanos;
}

static int64_t
get_time(const fluss_column_view *view, int32_t row)
{
	switch (fluss_type_digits(view->type))
	{
		case 0:
			return (int64_t) fluss_column_int32(view, row) * 1000;
		case 3:
			return fluss_column_int32(view, row);
		case 6:
			return floor_divide(fluss_column_int64(view, row), 1000);
		default:
			return floor_divide(fluss_column_int64(view, row), 1000000);
	}
}

void
fluss_column_value(const fluss_column_view *view, int32_t row,
				   fluss_value *value)
{
	value->is_null = fluss_column_is_null(view, row);
	if (value->is_null)
		return;
	switch (view->type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = fluss_column_boolean(view, row);
			break;
		case FLUSS_TINYINT:
			value->u.integer = fluss_column_int8(view, row);
			break;
		case FLUSS_SMALLINT:
			value->u.integer = fluss_column_int16(view, row);
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			value->u.integer = fluss_column_int32(view, row);
			break;
		case FLUSS_TIME:
			value->u.integer = get_time(view, row);
			break;
		case FLUSS_BIGINT:
			value->u.integer = fluss_column_int64(view, row);
			break;
		case FLUSS_FLOAT:
			value->u.float4 = fluss_column_float4(view, row);
			break;
		case FLUSS_DOUBLE:
			value->u.float8 = fluss_column_float8(view, row);
			break;
		case FLUSS_DECIMAL:
			value->u.decimal.low = (uint64_t) fluss_column_int64(view, 2 * row);
			value->u.decimal.high = fluss_column_int64(view, 2 * row + 1);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			get_timestamp(fluss_column_int64(view, row),
						  fluss_type_digits(view->type), value);
			break;
		default:
			value->u.bytes = fluss_column_bytes(view, row);
			break;
	}
}
