/*
 * log_batch.c
 *	  Log record batches.
 *
 * Header, little endian, by magic:
 *
 *						 0		 1 of 0.9.1		1 of 1.0		2
 *	base offset			 0..8	 0..8			 0..8			 0..8
 *	bytes after these 12 8..12	 8..12			 8..12			 8..12
 *	magic				12		12				12				12
 *	commit timestamp	13..21	13..21			13..21			13..21
 *	leader epoch		-		21..25			-				21..25
 *	CRC-32C of the rest	21..25	25..29			21..25			25..29
 *	schema id			25..27	29..31			25..27			29..31
 *	attributes			27		31				27				31	bit 0: append-only
 *	last offset delta	28..32	32..36			28..32			32..36
 *	writer id			32..40	36..44			32..40			36..44
 *	batch sequence		40..44	44..48			40..44			44..48
 *	record count		44..48	48..52			44..48			48..52
 *	statistics			-		-				int32 size, then so many bytes
 *	records				48		52				after that
 *
 * Records are one Arrow message, preceded by one byte of change type for each
 * unless the batch is append-only; or in a row layout: int32 size, change type,
 * row, for each.  The two are told apart by the bytes, as there are clients
 * that append rows to tables of Arrow format.  Changelogs are made by the
 * server, which keeps to the table's format.
 *
 * A batch without records takes one offset all the same.
 */
#include "batch.h"
#include "error.h"
#include "hash.h"
#include "row.h"
#include "schema.h"

#define LENGTH_AT			8
#define LENGTH_END			12
#define MAGIC_AT			12
#define TIMESTAMP_AT		13
#define CRC_AT				21
#define HEADER_SIZE			48
#define EPOCH_SIZE			4
#define STATISTICS_SIZE		4	/* of their size */

/* positions counted from the CRC */
#define SCHEMA_ID			4
#define ATTRIBUTES			6
#define OFFSET_DELTA		7
#define WRITER_ID			11
#define SEQUENCE			19
#define RECORD_COUNT		23

#define APPEND_ONLY			1
#define MAX_CHANGE_TYPE		4

/* ---- opening */

static fluss_status
malformed(fluss_error *err, const char *what)
{
	fluss_fail(err, FLUSS_MALFORMED, "log record batch is malformed");
	fluss_error_detail(err, "%s", what);
	return FLUSS_MALFORMED;
}

static bool
crc_matches(const uint8_t *data, size_t total, size_t crc_at)
{
	size_t		start = crc_at + SCHEMA_ID;

	return fluss_load_u32le(data + crc_at) ==
		fluss_crc32c(data + start, total - start);
}

/*
 * Whether a batch of magic 1 is one of 1.0.  Both meanings are met.  The place
 * where the CRC is right tells.  That of a projected batch is stale: then the
 * counts tell, which agree with each other where they really are.
 */
static bool
is_of_1_0(const uint8_t *data, size_t total)
{
	const uint8_t *fields = data + CRC_AT;
	uint32_t	delta = fluss_load_u32le(fields + OFFSET_DELTA);
	uint32_t	count = fluss_load_u32le(fields + RECORD_COUNT);
	uint32_t	size = fluss_load_u32le(data + HEADER_SIZE);

	if (crc_matches(data, total, CRC_AT))
		return true;
	if (crc_matches(data, total, CRC_AT + EPOCH_SIZE))
		return false;
	return fields[ATTRIBUTES] <= APPEND_ONLY && count <= INT32_MAX &&
		delta == (count > 0 ? count - 1 : 0) &&
		size <= total - HEADER_SIZE - STATISTICS_SIZE;
}

/* Where the CRC and the records are. */
static fluss_status
find_parts(const uint8_t *data, size_t total, size_t *crc_at,
		   size_t *records_at, fluss_error *err)
{
	uint8_t		magic = data[MAGIC_AT];
	size_t		least = HEADER_SIZE + (magic == 0 ? 0 : EPOCH_SIZE) +
		(magic == 2 ? STATISTICS_SIZE : 0);
	uint32_t	size;

	*crc_at = CRC_AT;
	*records_at = HEADER_SIZE;
	if (magic > 2)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "log record batches of version %d are not supported",
						  magic);
	if (total < least)
		return malformed(err, "It is shorter than its header.");
	if (magic == 0)
		return FLUSS_OK;
	if (magic == 1 && !is_of_1_0(data, total))
	{
		*crc_at += EPOCH_SIZE;
		*records_at += EPOCH_SIZE;
		return FLUSS_OK;
	}
	if (magic == 2)
	{
		*crc_at += EPOCH_SIZE;
		*records_at += EPOCH_SIZE;
	}
	size = fluss_load_u32le(data + *records_at);
	*records_at += STATISTICS_SIZE;
	if (size > total - *records_at)
		return malformed(err, "Its statistics are longer than the batch.");
	*records_at += size;
	return FLUSS_OK;
}

static bool
change_types_are_valid(const uint8_t *types, int32_t n)
{
	uint8_t		worst = 0;

	for (int32_t i = 0; i < n; i++)
		worst = types[i] > worst ? types[i] : worst;
	return worst <= MAX_CHANGE_TYPE;
}

/* No record of a row layout has a size of -1. */
static bool
looks_like_arrow(const fluss_log_batch *batch)
{
	size_t		at = batch->append_only ? 0 : (size_t) batch->record_count;

	return batch->records_size >= 4 && at <= batch->records_size - 4 &&
		fluss_load_u32le(batch->records + at) == UINT32_MAX &&
		(batch->append_only ||
		 change_types_are_valid(batch->records, batch->record_count));
}

/* Fields behind the CRC. */
static fluss_status
read_fields(const uint8_t *fields, fluss_log_batch *batch, fluss_error *err)
{
	int32_t		delta = (int32_t) fluss_load_u32le(fields + OFFSET_DELTA);

	batch->schema_id = (int16_t) fluss_load_u16le(fields + SCHEMA_ID);
	batch->append_only = (fields[ATTRIBUTES] & APPEND_ONLY) != 0;
	batch->record_count = (int32_t) fluss_load_u32le(fields + RECORD_COUNT);
	if (delta < 0 || batch->base_offset < 0 ||
		batch->base_offset > INT64_MAX - 1 - delta)
		return malformed(err, "Its offsets are out of range.");
	batch->next_offset = batch->base_offset + delta + 1;
	if (batch->record_count < 0 || batch->record_count - 1 > delta)
		return malformed(err, "It has more records than offsets.");
	return FLUSS_OK;
}

fluss_status
fluss_log_batch_open(const uint8_t *data, size_t size, bool check_crc,
					 fluss_log_batch *batch, bool *complete, fluss_error *err)
{
	int32_t		length;
	size_t		total;
	size_t		crc_at;
	size_t		records_at;
	fluss_status status;

	memset(batch, 0, sizeof(*batch));
	batch->base_offset = -1;
	batch->next_offset = -1;
	*complete = false;
	if (size < LENGTH_END)
		return FLUSS_OK;
	batch->base_offset = (int64_t) fluss_load_u64le(data);
	length = (int32_t) fluss_load_u32le(data + LENGTH_AT);
	if (length < HEADER_SIZE - LENGTH_END)
		return malformed(err, "It is shorter than its header.");
	total = (size_t) length + LENGTH_END;
	batch->total_size = total;
	if (size < total)
		return FLUSS_OK;
	*complete = true;
	batch->commit_timestamp_ms =
		(int64_t) fluss_load_u64le(data + TIMESTAMP_AT);
	status = find_parts(data, total, &crc_at, &records_at, err);
	if (status == FLUSS_OK && check_crc && !crc_matches(data, total, crc_at))
		status = malformed(err, "Its checksum does not match.");
	if (status == FLUSS_OK)
		status = read_fields(data + crc_at, batch, err);
	if (status != FLUSS_OK)
		return status;
	batch->records = data + records_at;
	batch->records_size = total - records_at;
	batch->arrow = looks_like_arrow(batch);
	return FLUSS_OK;
}

/* ---- columns */

/* What fluss_log_batch_columns was asked for. */
typedef struct request
{
	fluss_arena *arena;
	const fluss_log_batch *batch;
	const fluss_schema *written;
	const int32_t *fields;
	int			nfields;
	const int32_t *source;
	const fluss_type *const *types;
	int			nwanted;
	int64_t		max_bytes;
	fluss_column_view *views;
	fluss_error *err;
} request;

static fluss_status
check_request(const request *r)
{
	for (int i = 0; i < r->nwanted; i++)
	{
		const fluss_column *column;

		if (r->source[i] < 0)
			continue;
		if (r->source[i] >= r->written->ncolumns)
			return malformed(r->err, "It lacks a column of its schema.");
		column = &r->written->columns[r->source[i]];
		if (!fluss_type_same(&column->type, r->types[i]))
			return fluss_fail(r->err, FLUSS_MALFORMED,
							  "column \"%s\" has another type in schema %d",
							  column->name, r->written->schema_id);
	}
	return FLUSS_OK;
}

/* Which field of the bytes a column of the written schema is, or -1. */
static int
field_of(const request *r, int32_t column)
{
	if (r->fields == NULL)
		return column;
	for (int i = 0; i < r->nfields; i++)
	{
		if (r->fields[i] == column)
			return i;
	}
	return -1;
}

static fluss_status
check_change_types(const request *r, const uint8_t *change_types)
{
	if (change_types_are_valid(change_types, r->batch->record_count))
		return FLUSS_OK;
	return malformed(r->err, "It has a change type that is not known.");
}

static fluss_status
read_arrow(const request *r, const uint8_t **change_types)
{
	const fluss_log_batch *batch = r->batch;
	size_t		skip = batch->append_only ? 0 : (size_t) batch->record_count;
	size_t		n = (size_t) r->nfields;
	const fluss_type **types = fluss_arena_array(r->arena, n, sizeof(*types));
	bool	   *want = fluss_arena_array(r->arena, n, sizeof(bool));
	fluss_column_view *all = fluss_arena_array(r->arena, n, sizeof(*all));
	fluss_status status = FLUSS_OK;

	if (types == NULL || want == NULL || all == NULL)
		return fluss_fail_memory(r->err);
	if (skip > batch->records_size)
		return malformed(r->err, "It has fewer change types than records.");
	for (int i = 0; i < r->nfields; i++)
	{
		int32_t		column = r->fields == NULL ? i : r->fields[i];

		if (column >= r->written->ncolumns)
			return malformed(r->err, "Its schema lacks a column that was asked for.");
		types[i] = &r->written->columns[column].type;
	}
	for (int i = 0; i < r->nwanted; i++)
	{
		int			field = r->source[i] < 0 ? -1 : field_of(r, r->source[i]);

		if (field >= 0)
			want[field] = true;
		else if (r->source[i] >= 0)
			return malformed(r->err, "It lacks a column that was asked for.");
	}
	if (skip > 0)
	{
		*change_types = batch->records;
		status = check_change_types(r, batch->records);
	}
	if (status == FLUSS_OK)
		status = fluss_arrow_read(r->arena, batch->records + skip,
								  batch->records_size - skip,
								  batch->record_count, types, r->nfields,
								  want, r->max_bytes, all, r->err);
	for (int i = 0; i < r->nwanted && status == FLUSS_OK; i++)
	{
		if (r->source[i] < 0)
			continue;
		r->views[i] = all[field_of(r, r->source[i])];
		r->views[i].type = r->types[i];
	}
	return status;
}

/* ---- row layouts */

/*
 * Arrow columns hold less than rows do: times at full precision, and bytes of
 * any size for BINARY(n).  What they cannot hold is an error here.
 */
static fluss_status
check_fits(const fluss_column *column, const fluss_value *value,
		   fluss_error *err)
{
	fluss_column stored = *column;
	fluss_status status = FLUSS_OK;
	int32_t		n;

	switch (value->is_null ? FLUSS_BOOLEAN : column->type.id)
	{
		case FLUSS_TIME:
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			stored.type.precision = fluss_type_digits(&column->type);
			return fluss_value_check(&stored, value, err);
		case FLUSS_BINARY:
			return fluss_value_check(column, value, err);
		case FLUSS_ARRAY:
		case FLUSS_MAP:
		case FLUSS_ROW:
			n = value->u.nested.n * (column->type.id == FLUSS_MAP ? 2 : 1);
			for (int32_t i = 0; i < n && status == FLUSS_OK; i++)
				status = check_fits(&column->type.children[i % column->type.nchildren],
									&value->u.nested.items[i], err);
			return status;
		default:
			return FLUSS_OK;
	}
}

static void
close_builder(void *builder)
{
	fluss_arrow_builder_close(builder);
}

/* A builder over the wanted columns that there are; the arena owns it. */
static fluss_status
open_builder(const request *r, fluss_arrow_builder **builder)
{
	const fluss_type **types = fluss_arena_array(r->arena, (size_t) r->nwanted,
												 sizeof(*types));
	int			n = 0;
	fluss_status status;

	if (types == NULL)
		return fluss_fail_memory(r->err);
	for (int i = 0; i < r->nwanted; i++)
	{
		if (r->source[i] >= 0)
			types[n++] = r->types[i];
	}
	status = fluss_arrow_builder_open(r->arena->host, types, n, builder,
									  r->err);
	if (status == FLUSS_OK &&
		!fluss_arena_on_reset(r->arena, close_builder, *builder))
		return fluss_fail_memory(r->err);
	return status;
}

/* What the records of a batch take turns in. */
typedef struct row_scratch
{
	fluss_arena nested;			/* items of one row's nested values */
	fluss_arrow_builder *builder;
	bool	   *want;			/* by column of the written schema */
	fluss_value *row;			/* the same */
	fluss_value *picked;		/* those that are wanted, in their order */
} row_scratch;

static fluss_status
add_record(const request *r, fluss_row_format format, fluss_reader *reader,
		   row_scratch *scratch, uint8_t *change_type)
{
	size_t		size = fluss_read_u32le(reader);
	const uint8_t *record = fluss_read_bytes(reader, size);
	int			n = 0;
	fluss_status status;

	if (record == NULL || size < 1)
		return malformed(r->err, "A record is longer than the batch.");
	*change_type = record[0];
	if (scratch->nested.blocks != NULL)
		fluss_arena_reset(&scratch->nested);
	status = fluss_row_decode(&scratch->nested, format, r->written,
							  scratch->want, record + 1, size - 1,
							  scratch->row, r->err);
	for (int i = 0; i < r->nwanted && status == FLUSS_OK; i++)
	{
		if (r->source[i] < 0)
			continue;
		scratch->picked[n++] = scratch->row[r->source[i]];
		status = check_fits(&r->written->columns[r->source[i]],
							&scratch->row[r->source[i]], r->err);
	}
	if (status == FLUSS_OK)
		status = fluss_arrow_builder_add(scratch->builder, scratch->picked,
										 r->err);
	if (status == FLUSS_OK &&
		fluss_arrow_builder_memory(scratch->builder) > (size_t) r->max_bytes)
		return fluss_fail(r->err, FLUSS_MEMORY_CAP,
						  "a batch needs more memory than allowed");
	return status;
}

static fluss_status
copy_views(const request *r, fluss_arrow_builder *builder)
{
	fluss_column_view *built = fluss_arena_array(r->arena,
												 (size_t) r->nwanted,
												 sizeof(*built));
	fluss_status status;
	int			n = 0;

	if (built == NULL)
		return fluss_fail_memory(r->err);
	status = fluss_arrow_builder_views(builder, built, r->err);
	for (int i = 0; i < r->nwanted && status == FLUSS_OK; i++)
	{
		if (r->source[i] >= 0)
			r->views[i] = built[n++];
	}
	return status;
}

static fluss_status
open_scratch(const request *r, row_scratch *scratch)
{
	size_t		ncolumns = (size_t) r->written->ncolumns;

	fluss_arena_init(&scratch->nested, r->arena->host);
	scratch->row = fluss_arena_array(r->arena, ncolumns, sizeof(fluss_value));
	scratch->want = fluss_arena_array(r->arena, ncolumns, sizeof(bool));
	scratch->picked = fluss_arena_array(r->arena, (size_t) r->nwanted,
										sizeof(fluss_value));
	if (scratch->row == NULL || scratch->want == NULL ||
		scratch->picked == NULL)
		return fluss_fail_memory(r->err);
	for (int i = 0; i < r->nwanted; i++)
	{
		if (r->source[i] >= 0)
			scratch->want[r->source[i]] = true;
	}
	return open_builder(r, &scratch->builder);
}

static fluss_status
read_rows(const request *r, fluss_row_format format,
		  const uint8_t **change_types)
{
	const fluss_log_batch *batch = r->batch;
	uint8_t    *changes = NULL;
	row_scratch scratch;
	fluss_reader reader;
	fluss_status status;

	if (r->fields != NULL && r->nfields != r->written->ncolumns)
		return malformed(r->err, "It holds whole rows where some columns were asked for.");
	/* a record takes 5 bytes at least */
	if ((size_t) batch->record_count > batch->records_size / 5)
		return malformed(r->err, "It has fewer records than it says.");
	changes = fluss_arena_alloc(r->arena, (size_t) batch->record_count);
	if (changes == NULL)
		return fluss_fail_memory(r->err);
	status = open_scratch(r, &scratch);
	fluss_reader_init(&reader, batch->records, batch->records_size);
	for (int32_t i = 0; i < batch->record_count && status == FLUSS_OK; i++)
		status = add_record(r, format, &reader, &scratch, &changes[i]);
	fluss_arena_free(&scratch.nested);
	if (status == FLUSS_OK && fluss_reader_left(&reader) > 0)
		return malformed(r->err, "Bytes are left over after its last record.");
	if (status == FLUSS_OK)
		status = check_change_types(r, changes);
	if (!batch->append_only)
		*change_types = changes;
	return status == FLUSS_OK ? copy_views(r, scratch.builder) : status;
}

fluss_status
fluss_log_batch_columns(fluss_arena *arena, const fluss_log_batch *batch,
						fluss_row_format table_format,
						const fluss_schema *written, const int32_t *fields,
						int nfields, const int32_t *source,
						const fluss_type *const *types, int nwanted,
						int64_t max_bytes, fluss_column_view *views,
						const uint8_t **change_types, fluss_error *err)
{
	request		r = {
		arena, batch, written, fields,
		fields == NULL ? written->ncolumns : nfields,
		source, types, nwanted, max_bytes, views, err
	};
	bool		arrow = batch->append_only ? batch->arrow :
		table_format == FLUSS_FORMAT_ARROW;
	fluss_status status = check_request(&r);

	*change_types = NULL;
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < nwanted; i++)
		fluss_column_all_null(&views[i], types[i], batch->record_count);
	if (batch->record_count == 0)
		return FLUSS_OK;
	if (arrow)
		return read_arrow(&r, change_types);
	return read_rows(&r, table_format == FLUSS_FORMAT_INDEXED ?
					 FLUSS_FORMAT_INDEXED : FLUSS_FORMAT_COMPACTED,
					 change_types);
}

/* ---- writing */

/* Everything in front of the records, which start where the header ends. */
static void
write_header(uint8_t *batch, size_t size, int32_t schema_id, int32_t nrows,
			 int64_t writer_id, int32_t batch_sequence)
{
	fluss_store_u32le(batch + LENGTH_AT, (uint32_t) (size - LENGTH_END));
	fluss_store_u16le(batch + CRC_AT + SCHEMA_ID, (uint16_t) schema_id);
	batch[CRC_AT + ATTRIBUTES] = APPEND_ONLY;
	fluss_store_u32le(batch + CRC_AT + OFFSET_DELTA,
					  nrows == 0 ? 0 : (uint32_t) nrows - 1);
	fluss_store_u32le(batch + CRC_AT + RECORD_COUNT, (uint32_t) nrows);
	fluss_log_batch_stamp(batch, size, writer_id, batch_sequence);
}

fluss_status
fluss_log_batch_write(fluss_arrow_builder *builder, fluss_codec codec,
					  int zstd_level, int32_t schema_id, int64_t writer_id,
					  int32_t batch_sequence, fluss_buf *out,
					  fluss_error *err)
{
	size_t		start = out->size;
	fluss_status status;

	fluss_buf_append_zeros(out, HEADER_SIZE);
	status = fluss_arrow_builder_finish(builder, codec, zstd_level, out, err);
	if (status != FLUSS_OK)
		return status;
	if (out->size - start > INT32_MAX)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a batch cannot be larger than 2 GB");
	write_header(out->data + start, out->size - start, schema_id,
				 fluss_arrow_builder_rows(builder), writer_id,
				 batch_sequence);
	return FLUSS_OK;
}

void
fluss_log_rows_begin(fluss_buf *out)
{
	fluss_buf_append_zeros(out, HEADER_SIZE);
}

fluss_status
fluss_log_rows_add(fluss_buf *out, fluss_row_format format,
				   const fluss_schema *schema, const fluss_value *values,
				   fluss_error *err)
{
	size_t		start = out->size;
	fluss_status status;

	fluss_buf_u32le(out, 0);
	fluss_buf_u8(out, 0);
	status = fluss_row_encode(format, schema, values, out, err);
	if (status != FLUSS_OK)
		return status;
	/* sizes are 32 bits wide */
	if (out->size > INT32_MAX)
		return fluss_fail(err, FLUSS_MEMORY_CAP,
						  "a batch cannot be larger than 2 GB");
	fluss_store_u32le(out->data + start, (uint32_t) (out->size - start - 4));
	return FLUSS_OK;
}

void
fluss_log_rows_finish(fluss_buf *out, int32_t schema_id, int64_t writer_id,
					  int32_t batch_sequence, int32_t record_count)
{
	if (!out->failed)
		write_header(out->data, out->size, schema_id, record_count, writer_id,
					 batch_sequence);
}

void
fluss_log_batch_stamp(uint8_t *batch, size_t size, int64_t writer_id,
					  int32_t batch_sequence)
{
	size_t		start = CRC_AT + SCHEMA_ID;

	fluss_store_u64le(batch + CRC_AT + WRITER_ID, (uint64_t) writer_id);
	fluss_store_u32le(batch + CRC_AT + SEQUENCE, (uint32_t) batch_sequence);
	fluss_store_u32le(batch + CRC_AT, fluss_crc32c(batch + start,
												   size - start));
}
