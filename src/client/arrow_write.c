/*
 * arrow_write.c
 *	  Columns built row by row, and the Arrow record batch around them.
 *
 * The buffers of all columns have room for the same number of rows, so that a
 * row is added without looking at their ends; only the data of CHAR, STRING
 * and BYTES grows by itself.  Their sizes are set when the batch is finished.
 * Bits of validity past the last row are zero; under a NULL lie zeros.
 */
#include "arrow.h"
#include "error.h"
#include "schema.h"

#define FIRST_ROWS	64

typedef struct builder_column
{
	const fluss_type *type;
	int32_t		width;			/* of fixed-width values, else 0 */
	bool		variable;
	int32_t		null_count;
	fluss_buf	validity;
	fluss_buf	offsets;		/* variable only */
	fluss_buf	data;			/* size is kept for variable ones */
} builder_column;

struct fluss_arrow_builder
{
	fluss_host	host;
	fluss_packer packer;
	int32_t		nrows;
	int32_t		capacity;		/* rows that the buffers have room for */
	int			ncolumns;
	builder_column columns[];
};

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
	b->ncolumns = ntypes;
	fluss_packer_init(&b->packer, &b->host);
	for (int i = 0; i < ntypes; i++)
	{
		builder_column *column = &b->columns[i];

		column->type = types[i];
		column->width = fluss_arrow_width(types[i]);
		column->variable = fluss_arrow_is_variable(types[i]);
		fluss_buf_init(&column->validity, &b->host);
		fluss_buf_init(&column->offsets, &b->host);
		fluss_buf_init(&column->data, &b->host);
		if (!fluss_type_is_scalar(types[i]))
		{
			fluss_arrow_builder_close(b);
			return fluss_fail(err, FLUSS_UNSUPPORTED,
							  "values of type %s are not supported yet",
							  fluss_type_kinds[types[i]->id].sql_name);
		}
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
	{
		fluss_buf_free(&builder->columns[i].validity);
		fluss_buf_free(&builder->columns[i].offsets);
		fluss_buf_free(&builder->columns[i].data);
	}
	host.free(host.arg, builder);
}

void
fluss_arrow_builder_reset(fluss_arrow_builder *builder)
{
	builder->nrows = 0;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		builder_column *column = &builder->columns[i];

		column->null_count = 0;
		fluss_buf_reset(&column->validity);
		fluss_buf_reset(&column->offsets);
		fluss_buf_reset(&column->data);
	}
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

static size_t
fixed_size(const builder_column *column, int32_t nrows)
{
	return column->type->id == FLUSS_BOOLEAN ? bits_size(nrows) :
		(size_t) nrows * (size_t) column->width;
}

static size_t
column_size(const builder_column *column, int32_t nrows)
{
	return bits_size(nrows) +
		(column->variable ? offsets_size(nrows) + column->data.size :
		 fixed_size(column, nrows));
}

size_t
fluss_arrow_builder_size(const fluss_arrow_builder *builder)
{
	size_t		size = 0;

	for (int i = 0; i < builder->ncolumns; i++)
		size += column_size(&builder->columns[i], builder->nrows);
	return size;
}

size_t
fluss_arrow_builder_memory(const fluss_arrow_builder *builder)
{
	size_t		size = sizeof(*builder);

	for (int i = 0; i < builder->ncolumns; i++)
	{
		const builder_column *column = &builder->columns[i];

		size += sizeof(*column) + column->validity.capacity +
			column->offsets.capacity + column->data.capacity;
	}
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

	if (!column->variable)
		return ok && extend(&column->data, fixed_size(column, nrows),
							fixed_size(column, capacity));
	ok = ok && extend(&column->offsets, nrows == 0 ? 0 : offsets_size(nrows),
					  offsets_size(capacity)) &&
		fluss_buf_reserve(&column->data, 0) != NULL;
	if (ok && nrows == 0)
		fluss_store_u32le(column->offsets.data, 0);
	return ok;
}

static fluss_status
grow(fluss_arrow_builder *builder, fluss_error *err)
{
	int32_t		capacity = FIRST_ROWS;

	if (builder->capacity > INT32_MAX / 2)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a batch cannot have more than %d rows",
						  builder->capacity);
	if (builder->capacity > 0)
		capacity = 2 * builder->capacity;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		if (!extend_column(&builder->columns[i], builder->nrows, capacity))
			return fluss_fail_memory(err);
	}
	builder->capacity = capacity;
	return FLUSS_OK;
}

/* Offsets are 32 bits wide: checked for the whole row before it is added. */
static fluss_status
reserve_bytes(fluss_arrow_builder *builder, const fluss_value *values,
			  fluss_error *err)
{
	for (int i = 0; i < builder->ncolumns; i++)
	{
		builder_column *column = &builder->columns[i];

		if (!column->variable || values[i].is_null)
			continue;
		if (values[i].u.bytes.size > INT32_MAX - column->data.size)
			return fluss_fail(err, FLUSS_MEMORY_CAP,
							  "a batch cannot hold more than 2 GB of one column");
		if (fluss_buf_reserve(&column->data, values[i].u.bytes.size) == NULL)
			return fluss_fail_memory(err);
	}
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

static void
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
	else if (!column->variable)
		memset(column->data.data + (size_t) row * (size_t) column->width, 0,
			   (size_t) column->width);
}

fluss_status
fluss_arrow_builder_add(fluss_arrow_builder *builder,
						const fluss_value *values, fluss_error *err)
{
	int32_t		row = builder->nrows;
	fluss_status status = reserve_bytes(builder, values, err);

	if (status == FLUSS_OK && row == builder->capacity)
		status = grow(builder, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		builder_column *column = &builder->columns[i];

		set_bit(column->validity.data, row, !values[i].is_null);
		if (values[i].is_null)
			put_null(column, row);
		else
			put_value(column, row, &values[i]);
		if (column->variable)
			fluss_store_u32le(column->offsets.data + 4 * ((size_t) row + 1),
							  (uint32_t) column->data.size);
	}
	builder->nrows++;
	return FLUSS_OK;
}

/* ---- finishing */

/* A builder that never had a row has no buffers yet. */
static bool
has_buffers(fluss_arrow_builder *builder, fluss_error *err)
{
	return builder->capacity > 0 || grow(builder, err) == FLUSS_OK;
}

static fluss_status
write_buffer(fluss_arrow_builder *builder, fluss_arrow_writer *writer,
			 int32_t *i, fluss_codec codec, int zstd_level,
			 const uint8_t *data, size_t size, fluss_error *err)
{
	size_t		start = fluss_arrow_writer_align(writer);
	fluss_status status = fluss_pack(&builder->packer, codec, zstd_level,
									 data, size, writer->out, err);

	fluss_arrow_writer_buffer(writer, (*i)++, start);
	return status;
}

static fluss_status
write_column(fluss_arrow_builder *builder, fluss_arrow_writer *writer,
			 const builder_column *column, int32_t *i, fluss_codec codec,
			 int zstd_level, fluss_error *err)
{
	int32_t		nrows = builder->nrows;
	fluss_status status = write_buffer(builder, writer, i, codec, zstd_level,
									   column->validity.data,
									   bits_size(nrows), err);

	if (status == FLUSS_OK && column->variable)
		status = write_buffer(builder, writer, i, codec, zstd_level,
							  column->offsets.data, offsets_size(nrows), err);
	if (status == FLUSS_OK)
		status = write_buffer(builder, writer, i, codec, zstd_level,
							  column->data.data,
							  column->variable ? column->data.size :
							  fixed_size(column, nrows), err);
	return status;
}

fluss_status
fluss_arrow_builder_finish(fluss_arrow_builder *builder, fluss_codec codec,
						   int zstd_level, fluss_buf *out, fluss_error *err)
{
	fluss_arrow_writer writer;
	int32_t		nbuffers = 0;
	int32_t		next = 0;

	if (!has_buffers(builder, err))
		return err->status;
	for (int i = 0; i < builder->ncolumns; i++)
		nbuffers += builder->columns[i].variable ? 3 : 2;
	fluss_arrow_writer_begin(&writer, out, codec, builder->nrows,
							 builder->ncolumns, nbuffers);
	for (int i = 0; i < builder->ncolumns; i++)
	{
		const builder_column *column = &builder->columns[i];
		fluss_status status = write_column(builder, &writer, column, &next,
										   codec, zstd_level, err);

		if (status != FLUSS_OK)
			return status;
		fluss_arrow_writer_node(&writer, i, builder->nrows,
								column->null_count);
	}
	fluss_arrow_writer_finish(&writer);
	return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
}

fluss_status
fluss_arrow_builder_views(fluss_arrow_builder *builder,
						  fluss_column_view *views, fluss_error *err)
{
	if (!has_buffers(builder, err))
		return err->status;
	for (int i = 0; i < builder->ncolumns; i++)
	{
		const builder_column *column = &builder->columns[i];
		fluss_column_view *view = &views[i];

		memset(view, 0, sizeof(*view));
		view->type = column->type;
		view->length = builder->nrows;
		if (column->null_count > 0)
			view->validity = column->validity.data;
		if (column->variable)
			view->offsets = column->offsets.data;
		view->data = column->data.data;
	}
	return FLUSS_OK;
}
