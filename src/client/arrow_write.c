/*
 * arrow_write.c
 *	  Columns built row by row, and the Arrow record batch around them.
 *
 * The buffers of all columns have room for the same number of rows, so that a
 * row is added without looking at their ends; only the data of CHAR, STRING
 * and BYTES grows by itself, and so do the children of nested columns, which
 * have lengths of their own.  Sizes are set when the batch is finished.  Bits
 * of validity past the last value are zero; under a NULL lie zeros, and under
 * a NULL of type ROW are NULLs.
 */
#include "arrow.h"
#include "error.h"
#include "schema.h"

#define FIRST_ROWS	64

typedef struct builder_column builder_column;
struct builder_column
{
	const fluss_type *type;
	int32_t		width;			/* of fixed-width values, else 0 */
	bool		variable;
	bool		has_offsets;	/* variable, ARRAY, MAP */
	int32_t		null_count;
	fluss_buf	validity;
	fluss_buf	offsets;
	fluss_buf	data;			/* size is kept for variable ones; MAP: the
								 * validity of its entries */
	int32_t		nchildren;
	builder_column *children;	/* of nested types */
	fluss_column_view *views;	/* of the children, when asked for */
	int32_t		length;			/* of a child; columns have the builder's */
	int32_t		capacity;		/* the same */
};

struct fluss_arrow_builder
{
	fluss_host	host;
	fluss_packer packer;
	int32_t		nrows;
	int32_t		capacity;		/* rows that the buffers have room for */
	size_t		base_size;		/* bytes without a row: first offsets */
	size_t		row_size;		/* of each row but for its bits */
	size_t		nbits;			/* and of those */
	size_t		variable_size;	/* data of columns of variable width */
	bool		nested;			/* there are nested columns */
	int			ncolumns;
	builder_column columns[];
};

/* ---- opening, closing */

/* The column is zero. */
static bool
open_column(const fluss_host *host, builder_column *column,
			const fluss_type *type)
{
	size_t		n = (size_t) type->nchildren;

	column->type = type;
	column->width = fluss_arrow_width(type);
	column->variable = fluss_arrow_is_variable(type);
	column->has_offsets = column->variable || type->id == FLUSS_ARRAY ||
		type->id == FLUSS_MAP;
	fluss_buf_init(&column->validity, host);
	fluss_buf_init(&column->offsets, host);
	fluss_buf_init(&column->data, host);
	if (n == 0)
		return true;
	column->views = host->alloc(host->arg, n * sizeof(fluss_column_view));
	column->children = host->alloc(host->arg, n * sizeof(builder_column));
	if (column->children == NULL)
		return false;
	memset(column->children, 0, n * sizeof(builder_column));
	for (size_t i = 0; i < n; i++)
	{
		column->nchildren++;
		if (!open_column(host, &column->children[i], &type->children[i].type))
			return false;
	}
	return column->views != NULL;
}

static void
close_column(const fluss_host *host, builder_column *column)
{
	fluss_buf_free(&column->validity);
	fluss_buf_free(&column->offsets);
	fluss_buf_free(&column->data);
	for (int32_t i = 0; i < column->nchildren; i++)
		close_column(host, &column->children[i]);
	if (column->children != NULL)
		host->free(host->arg, column->children);
	if (column->views != NULL)
		host->free(host->arg, column->views);
}

fluss_status
fluss_arrow_builder_open(const fluss_host *host,
						 const fluss_type *const *types, int ntypes,
						 fluss_arrow_builder **builder, fluss_error *err)
{
	size_t		size = sizeof(fluss_arrow_builder) +
		(size_t) ntypes * sizeof(builder_column);
	fluss_arrow_builder *b = host->alloc(host->arg, size);

	if (b == NULL)
		return fluss_fail_memory(err);
	memset(b, 0, size);
	b->host = *host;
	fluss_packer_init(&b->packer, &b->host);
	for (int i = 0; i < ntypes; i++)
	{
		b->ncolumns++;
		if (!open_column(&b->host, &b->columns[i], types[i]))
		{
			fluss_arrow_builder_close(b);
			return fluss_fail_memory(err);
		}
		b->nbits += types[i]->id == FLUSS_BOOLEAN ? 2 : 1;
		b->base_size += b->columns[i].has_offsets ? 4 : 0;
		b->row_size += (size_t) b->columns[i].width +
			(b->columns[i].has_offsets ? 4 : 0);
		b->nested |= b->columns[i].children != NULL;
	}
	*builder = b;
	return FLUSS_OK;
}

void
fluss_arrow_builder_close(fluss_arrow_builder *builder)
{
	fluss_host	host;

	if (builder == NULL)
		return;
	host = builder->host;
	fluss_packer_free(&builder->packer);
	for (int i = 0; i < builder->ncolumns; i++)
		close_column(&host, &builder->columns[i]);
	host.free(host.arg, builder);
}

static void
reset_column(builder_column *column)
{
	column->null_count = 0;
	column->length = 0;
	fluss_buf_reset(&column->validity);
	fluss_buf_reset(&column->offsets);
	fluss_buf_reset(&column->data);
	for (int32_t i = 0; i < column->nchildren; i++)
		reset_column(&column->children[i]);
}

void
fluss_arrow_builder_reset(fluss_arrow_builder *builder)
{
	builder->nrows = 0;
	builder->variable_size = 0;
	for (int i = 0; i < builder->ncolumns; i++)
		reset_column(&builder->columns[i]);
}

int32_t
fluss_arrow_builder_rows(const fluss_arrow_builder *builder)
{
	return builder->nrows;
}

/* ---- sizes */

static size_t
bits_size(int32_t nrows)
{
	return ((size_t) nrows + 7) / 8;
}

static size_t
offsets_size(int32_t nrows)
{
	return ((size_t) nrows + 1) * 4;
}

/* Of a ROW nothing is left but its validity. */
static size_t
fixed_size(const builder_column *column, int32_t nrows)
{
	return column->type->id == FLUSS_BOOLEAN ? bits_size(nrows) :
		(size_t) nrows * (size_t) column->width;
}

static size_t
column_size(const builder_column *column, int32_t nrows)
{
	size_t		size = bits_size(nrows);

	if (column->has_offsets)
		size += offsets_size(nrows);
	size += column->variable ? column->data.size : fixed_size(column, nrows);
	if (column->type->id == FLUSS_MAP)
		size += bits_size(column->children[0].length);
	for (int32_t i = 0; i < column->nchildren; i++)
		size += column_size(&column->children[i], column->children[i].length);
	return size;
}

/* Asked for after every row: counted as rows come where that is simple. */
size_t
fluss_arrow_builder_size(const fluss_arrow_builder *builder)
{
	size_t		size = 0;

	if (!builder->nested)
		return builder->base_size +
			builder->nbits * bits_size(builder->nrows) +
			builder->row_size * (size_t) builder->nrows +
			builder->variable_size;
	for (int i = 0; i < builder->ncolumns; i++)
		size += column_size(&builder->columns[i], builder->nrows);
	return size;
}

static size_t
column_memory(const builder_column *column)
{
	size_t		size = sizeof(*column) + column->validity.capacity +
		column->offsets.capacity + column->data.capacity;

	for (int32_t i = 0; i < column->nchildren; i++)
		size += sizeof(fluss_column_view) +
			column_memory(&column->children[i]);
	return size;
}

size_t
fluss_arrow_builder_memory(const fluss_arrow_builder *builder)
{
	size_t		size = sizeof(*builder);

	for (int i = 0; i < builder->ncolumns; i++)
		size += column_memory(&builder->columns[i]);
	return size;
}

/* ---- adding */

/* Makes room for so many bytes in all, keeping those of the first nrows. */
static bool
extend(fluss_buf *buf, size_t used, size_t size)
{
	buf->size = used;
	return fluss_buf_reserve(buf, size - used) != NULL;
}

static bool
extend_column(builder_column *column, int32_t nrows, int32_t capacity)
{
	bool		ok = extend(&column->validity, bits_size(nrows),
							bits_size(capacity));

	/* the entries of a MAP are as many as its keys, not its rows */
	if (!column->variable && column->type->id != FLUSS_MAP)
		ok = ok && extend(&column->data, fixed_size(column, nrows),
						  fixed_size(column, capacity));
	else
		ok = ok && fluss_buf_reserve(&column->data, 0) != NULL;
	if (!column->has_offsets)
		return ok;
	ok = ok && extend(&column->offsets, nrows == 0 ? 0 : offsets_size(nrows),
					  offsets_size(capacity));
	if (ok && nrows == 0)
		fluss_store_u32le(column->offsets.data, 0);
	return ok;
}

static fluss_status
next_capacity(int32_t *capacity, fluss_error *err)
{
	if (*capacity > INT32_MAX / 2)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a batch cannot have more than %d rows",
						  *capacity);
	*capacity = *capacity > 0 ? 2 * *capacity : FIRST_ROWS;
	return FLUSS_OK;
}

static fluss_status
grow(fluss_arrow_builder *builder, fluss_error *err)
{
	int32_t		capacity = builder->capacity;
	fluss_status status = next_capacity(&capacity, err);

	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		if (!extend_column(&builder->columns[i], builder->nrows, capacity))
			return fluss_fail_memory(err);
	}
	builder->capacity = capacity;
	return FLUSS_OK;
}

static fluss_status
grow_child(builder_column *column, fluss_error *err)
{
	int32_t		capacity = column->capacity;
	fluss_status status = next_capacity(&capacity, err);

	if (status != FLUSS_OK)
		return status;
	if (!extend_column(column, column->length, capacity))
		return fluss_fail_memory(err);
	column->capacity = capacity;
	return FLUSS_OK;
}

/* Offsets are 32 bits wide. */
static fluss_status
reserve_bytes(builder_column *column, const fluss_value *value,
			  fluss_error *err)
{
	if (value->u.bytes.size > INT32_MAX - column->data.size)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a batch cannot hold more than 2 GB of one column");
	if (fluss_buf_reserve(&column->data, value->u.bytes.size) == NULL)
		return fluss_fail_memory(err);
	return FLUSS_OK;
}

static void
set_bit(uint8_t *bits, int32_t row, bool value)
{
	if ((row & 7) == 0)
		bits[row >> 3] = 0;
	bits[row >> 3] |= (uint8_t) (value << (row & 7));
}

static void
put_time(uint8_t *p, int32_t row, const fluss_type *type, int64_t millis)
{
	switch (fluss_type_digits(type))
	{
		case 0:
			fluss_store_u32le(p + 4 * (size_t) row, (uint32_t) (millis / 1000));
			break;
		case 3:
			fluss_store_u32le(p + 4 * (size_t) row, (uint32_t) millis);
			break;
		case 6:
			fluss_store_u64le(p + 8 * (size_t) row, (uint64_t) millis * 1000);
			break;
		default:
			fluss_store_u64le(p + 8 * (size_t) row,
							  (uint64_t) millis * 1000000);
			break;
	}
}

/* Wraps in the middle only: what a check lets pass fits in the end. */
static uint64_t
timestamp_units(const fluss_type *type, const fluss_value *value)
{
	uint64_t	millis = (uint64_t) value->u.timestamp.millis;
	uint64_t	nanos = (uint64_t) value->u.timestamp.nanos;

	switch (fluss_type_digits(type))
	{
		case 0:
			return (uint64_t) (value->u.timestamp.millis / 1000);
		case 3:
			return millis;
		case 6:
			return millis * 1000 + nanos / 1000;
		default:
			return millis * 1000000 + nanos;
	}
}

static void
put_bytes(builder_column *column, int32_t row, const fluss_bytes *bytes)
{
	if (column->variable)
	{
		if (bytes->size > 0)
			memcpy(column->data.data + column->data.size, bytes->data,
				   bytes->size);
		column->data.size += bytes->size;
	}
	else
		memcpy(column->data.data + (size_t) row * (size_t) column->width,
			   bytes->data, (size_t) column->width);
}

static inline __attribute__((always_inline)) void
put_value(builder_column *column, int32_t row, const fluss_value *value)
{
	uint8_t    *p = column->data.data;
	size_t		i = (size_t) row;
	uint32_t	bits4;
	uint64_t	bits8;

	switch (column->type->id)
	{
		case FLUSS_BOOLEAN:
			set_bit(p, row, value->u.boolean);
			break;
		case FLUSS_TINYINT:
			p[i] = (uint8_t) value->u.integer;
			break;
		case FLUSS_SMALLINT:
			fluss_store_u16le(p + 2 * i, (uint16_t) value->u.integer);
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			fluss_store_u32le(p + 4 * i, (uint32_t) value->u.integer);
			break;
		case FLUSS_BIGINT:
			fluss_store_u64le(p + 8 * i, (uint64_t) value->u.integer);
			break;
		case FLUSS_FLOAT:
			memcpy(&bits4, &value->u.float4, sizeof(bits4));
			fluss_store_u32le(p + 4 * i, bits4);
			break;
		case FLUSS_DOUBLE:
			memcpy(&bits8, &value->u.float8, sizeof(bits8));
			fluss_store_u64le(p + 8 * i, bits8);
			break;
		case FLUSS_DECIMAL:
			fluss_store_u64le(p + 16 * i, value->u.decimal.low);
			fluss_store_u64le(p + 16 * i + 8, (uint64_t) value->u.decimal.high);
			break;
		case FLUSS_TIME:
			put_time(p, row, column->type, value->u.integer);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			fluss_store_u64le(p + 8 * i, timestamp_units(column->type, value));
			break;
		default:
			put_bytes(column, row, &value->u.bytes);
			break;
	}
}

static void
put_null(builder_column *column, int32_t row)
{
	column->null_count++;
	if (column->type->id == FLUSS_BOOLEAN)
		set_bit(column->data.data, row, false);
	else if (column->width > 0)
		memset(column->data.data + (size_t) row * (size_t) column->width, 0,
			   (size_t) column->width);
}

/* There is room for it.  Inline, as rows are added by the million. */
static inline __attribute__((always_inline)) void
put_scalar(builder_column *column, int32_t row, const fluss_value *value)
{
	set_bit(column->validity.data, row, !value->is_null);
	if (value->is_null)
		put_null(column, row);
	else
		put_value(column, row, value);
	if (column->variable)
		fluss_store_u32le(column->offsets.data + 4 * ((size_t) row + 1),
						  (uint32_t) column->data.size);
}

static fluss_status put_nested(builder_column *column, int32_t row,
							   const fluss_value *value, fluss_error *err);

static fluss_status
add_to_child(builder_column *column, const fluss_value *value,
			 fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	if (column->length == column->capacity)
		status = grow_child(column, err);
	if (status == FLUSS_OK && column->variable && !value->is_null)
		status = reserve_bytes(column, value, err);
	if (status == FLUSS_OK && column->children != NULL)
		status = put_nested(column, column->length, value, err);
	else if (status == FLUSS_OK)
		put_scalar(column, column->length, value);
	if (status == FLUSS_OK)
		column->length++;
	return status;
}

/* One entry of a MAP exists whatever is in it. */
static fluss_status
add_entry(builder_column *column, const fluss_value *entry, fluss_error *err)
{
	int32_t		at = column->children[0].length;
	fluss_status status;

	column->data.size = bits_size(at);
	if (fluss_buf_reserve(&column->data, 1) == NULL)
		return fluss_fail_memory(err);
	set_bit(column->data.data, at, true);
	status = add_to_child(&column->children[0], &entry[0], err);
	return status == FLUSS_OK ?
		add_to_child(&column->children[1], &entry[1], err) : status;
}

static fluss_status
put_row(builder_column *column, const fluss_value *value, fluss_error *err)
{
	static const fluss_value null = {.is_null = true};
	fluss_status status = FLUSS_OK;

	for (int32_t i = 0; i < column->nchildren && status == FLUSS_OK; i++)
		status = add_to_child(&column->children[i], value->is_null ? &null :
							  &value->u.nested.items[i], err);
	return status;
}

static fluss_status
put_nested(builder_column *column, int32_t row, const fluss_value *value,
		   fluss_error *err)
{
	int32_t		n = value->is_null ? 0 : value->u.nested.n;
	const fluss_value *items = n == 0 ? NULL : value->u.nested.items;
	fluss_status status = FLUSS_OK;

	set_bit(column->validity.data, row, !value->is_null);
	column->null_count += value->is_null;
	if (column->type->id == FLUSS_ROW)
		return put_row(column, value, err);
	for (int32_t i = 0; i < n && status == FLUSS_OK; i++)
		status = column->type->id == FLUSS_MAP ?
			add_entry(column, &items[2 * (size_t) i], err) :
			add_to_child(&column->children[0], &items[i], err);
	fluss_store_u32le(column->offsets.data + 4 * ((size_t) row + 1),
					  (uint32_t) column->children[0].length);
	return status;
}

fluss_status
fluss_arrow_builder_add(fluss_arrow_builder *builder,
						const fluss_value *values, fluss_error *err)
{
	int32_t		row = builder->nrows;
	size_t		variable_size = 0;
	fluss_status status = FLUSS_OK;

	for (int i = 0; i < builder->ncolumns && status == FLUSS_OK; i++)
	{
		if (!builder->columns[i].variable || values[i].is_null)
			continue;
		status = reserve_bytes(&builder->columns[i], &values[i], err);
		variable_size += values[i].u.bytes.size;
	}
	if (status == FLUSS_OK && row == builder->capacity)
		status = grow(builder, err);
	for (int i = 0; i < builder->ncolumns && status == FLUSS_OK; i++)
	{
		builder_column *column = &builder->columns[i];

		if (column->children != NULL)
			status = put_nested(column, row, &values[i], err);
		else
			put_scalar(column, row, &values[i]);
	}
	if (status != FLUSS_OK)
		return status;
	builder->nrows++;
	builder->variable_size += variable_size;
	return FLUSS_OK;
}

/* ---- finishing */

/* A column that never had a value has no buffers yet. */
static bool
has_buffers(builder_column *column, fluss_error *err)
{
	for (int32_t i = 0; i < column->nchildren; i++)
	{
		builder_column *child = &column->children[i];

		if ((child->capacity == 0 && grow_child(child, err) != FLUSS_OK) ||
			!has_buffers(child, err))
			return false;
	}
	return true;
}

static bool
have_buffers(fluss_arrow_builder *builder, fluss_error *err)
{
	if (builder->capacity == 0 && grow(builder, err) != FLUSS_OK)
		return false;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		if (!has_buffers(&builder->columns[i], err))
			return false;
	}
	return true;
}

/* A batch that is being written. */
typedef struct writing
{
	fluss_arrow_builder *builder;
	fluss_arrow_writer writer;
	int32_t		nnodes;			/* written so far */
	int32_t		nbuffers;
	fluss_codec codec;
	int			zstd_level;
	fluss_error *err;
} writing;

static fluss_status
write_buffer(writing *w, const uint8_t *data, size_t size)
{
	size_t		start = fluss_arrow_writer_align(&w->writer);
	fluss_status status = fluss_pack(&w->builder->packer, w->codec,
									 w->zstd_level, data, size,
									 w->writer.out, w->err);

	fluss_arrow_writer_buffer(&w->writer, w->nbuffers++, start);
	return status;
}

/* The struct of the entries: a node, and that none of them is NULL. */
static fluss_status
write_entries(writing *w, const builder_column *map)
{
	int32_t		n = map->children[0].length;

	fluss_arrow_writer_node(&w->writer, w->nnodes++, n, 0);
	return write_buffer(w, map->data.data, bits_size(n));
}

static fluss_status
write_column(writing *w, const builder_column *column, int32_t nrows)
{
	fluss_status status;

	fluss_arrow_writer_node(&w->writer, w->nnodes++, nrows,
							column->null_count);
	status = write_buffer(w, column->validity.data, bits_size(nrows));
	if (status == FLUSS_OK && column->has_offsets)
		status = write_buffer(w, column->offsets.data, offsets_size(nrows));
	if (status == FLUSS_OK && column->children == NULL)
		status = write_buffer(w, column->data.data, column->variable ?
							  column->data.size : fixed_size(column, nrows));
	if (status == FLUSS_OK && column->type->id == FLUSS_MAP)
		status = write_entries(w, column);
	for (int32_t i = 0; i < column->nchildren && status == FLUSS_OK; i++)
		status = write_column(w, &column->children[i],
							  column->children[i].length);
	return status;
}

static void
count_parts(const builder_column *column, int32_t *nnodes, int32_t *nbuffers)
{
	bool		is_map = column->type->id == FLUSS_MAP;

	*nnodes += is_map ? 2 : 1;
	*nbuffers += 1 + column->has_offsets + (column->children == NULL) + is_map;
	for (int32_t i = 0; i < column->nchildren; i++)
		count_parts(&column->children[i], nnodes, nbuffers);
}

fluss_status
fluss_arrow_builder_finish(fluss_arrow_builder *builder, fluss_codec codec,
						   int zstd_level, fluss_buf *out, fluss_error *err)
{
	writing		w = {
		.builder = builder,.codec = codec,.zstd_level = zstd_level,.err = err
	};
	int32_t		nnodes = 0;
	int32_t		nbuffers = 0;

	if (!have_buffers(builder, err))
		return err->status;
	for (int i = 0; i < builder->ncolumns; i++)
		count_parts(&builder->columns[i], &nnodes, &nbuffers);
	fluss_arrow_writer_begin(&w.writer, out, codec, builder->nrows, nnodes,
							 nbuffers);
	for (int i = 0; i < builder->ncolumns; i++)
	{
		fluss_status status = write_column(&w, &builder->columns[i],
										   builder->nrows);

		if (status != FLUSS_OK)
			return status;
	}
	fluss_arrow_writer_finish(&w.writer);
	return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
}

static void
view_column(const builder_column *column, int32_t nrows,
			fluss_column_view *view)
{
	memset(view, 0, sizeof(*view));
	view->type = column->type;
	view->length = nrows;
	if (column->null_count > 0)
		view->validity = column->validity.data;
	if (column->has_offsets)
		view->offsets = column->offsets.data;
	if (column->children == NULL)
		view->data = column->data.data;
	for (int32_t i = 0; i < column->nchildren; i++)
		view_column(&column->children[i], column->children[i].length,
					&column->views[i]);
	view->children = column->views;
}

fluss_status
fluss_arrow_builder_views(fluss_arrow_builder *builder,
						  fluss_column_view *views, fluss_error *err)
{
	if (!have_buffers(builder, err))
		return err->status;
	for (int i = 0; i < builder->ncolumns; i++)
		view_column(&builder->columns[i], builder->nrows, &views[i]);
	return FLUSS_OK;
}
