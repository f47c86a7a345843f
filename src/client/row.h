/*
 * row.h
 *	  Row encodings (COMPACTED and INDEXED) and key encodings.
 */
#ifndef FLUSS_ROW_H
#define FLUSS_ROW_H

#include "arena.h"
#include "buf.h"

/*
 * Where each wanted column of a reader comes from in rows of one schema:
 * reader column columns[i] is schema column (*source)[i], or -1 when that
 * schema lacks it.  Made by matching column ids.  A type that changed under an
 * id is FLUSS_MALFORMED.
 */
FLUSS_MUST_CHECK fluss_status fluss_column_mapping(fluss_arena *arena,
												   const fluss_schema *reader,
												   const int32_t *columns,
												   int ncolumns,
												   const fluss_schema *written,
												   const int32_t **source,
												   fluss_error *err);

/*
 * Decodes one row of the format, written under the given schema, all columns
 * into values[0 .. schema->ncolumns).  Bytes point into data, items of nested
 * values lie in the arena.  A nested column without want[i] is passed over and
 * comes as NULL (want NULL: all are wanted).  NOT NULL columns of COMPACTED
 * rows always have a value whatever the null bit says.
 */
FLUSS_MUST_CHECK fluss_status fluss_row_decode(fluss_arena *arena,
											   fluss_row_format format,
											   const fluss_schema *schema,
											   const bool *want,
											   const uint8_t *data, size_t size,
											   fluss_value *values,
											   fluss_error *err);
/*
 * fluss_value_check, and that the format can hold the value: a CHAR(n) of an
 * INDEXED row has room for n bytes, in a ROW in it too.
 */
FLUSS_MUST_CHECK fluss_status fluss_row_check(fluss_row_format format,
											  const fluss_column *column,
											  const fluss_value *value,
											  fluss_error *err);
/* Appends one row, values in schema order.  Values were checked before. */
FLUSS_MUST_CHECK fluss_status fluss_row_encode(fluss_row_format format,
											   const fluss_schema *schema,
											   const fluss_value *values,
											   fluss_buf *out, fluss_error *err);

/*
 * What these are made of, for rows and for values of type ROW.  Decoders give
 * FLUSS_MALFORMED, with the column in *failed_at (-1: before the first, number
 * of columns: behind the last), or FLUSS_OUT_OF_MEMORY.  The depth of types is
 * limited where they are read, so all of this may call itself.
 */
FLUSS_MUST_CHECK fluss_status fluss_fields_decode(fluss_arena *arena,
												  fluss_row_format format,
												  const fluss_column *columns,
												  int32_t ncolumns,
												  const bool *want,
												  const uint8_t *data,
												  size_t size,
												  fluss_value *values,
												  int32_t *failed_at);
FLUSS_MUST_CHECK fluss_status fluss_fields_encode(fluss_row_format format,
												  const fluss_column *columns,
												  int32_t ncolumns,
												  const fluss_value *values,
												  fluss_buf *out,
												  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_compacted_decode(fluss_arena *arena,
													 const fluss_column *columns,
													 int32_t ncolumns,
													 const bool *want,
													 const uint8_t *data,
													 size_t size,
													 fluss_value *values,
													 int32_t *failed_at);
FLUSS_MUST_CHECK fluss_status fluss_compacted_encode(const fluss_column *columns,
													 int32_t ncolumns,
													 const fluss_value *values,
													 fluss_buf *out,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_indexed_decode(fluss_arena *arena,
												   const fluss_column *columns,
												   int32_t ncolumns,
												   const bool *want,
												   const uint8_t *data,
												   size_t size,
												   fluss_value *values,
												   int32_t *failed_at);
FLUSS_MUST_CHECK fluss_status fluss_indexed_encode(const fluss_column *columns,
												   int32_t ncolumns,
												   const fluss_value *values,
												   fluss_buf *out,
												   fluss_error *err);
/* That CHAR values within are no longer than INDEXED rows can hold. */
bool fluss_indexed_fits(const fluss_type *type, const fluss_value *value);
/* The bytes of one ARRAY, MAP or ROW; the same statuses. */
FLUSS_MUST_CHECK fluss_status fluss_nested_decode(fluss_arena *arena,
												  fluss_row_format format,
												  const fluss_type *type,
												  const uint8_t *data,
												  size_t size,
												  fluss_value *value);
/* Appends them; a failed out is for the caller to notice. */
FLUSS_MUST_CHECK fluss_status fluss_nested_encode(fluss_row_format format,
												  const fluss_column *column,
												  const fluss_value *value,
												  fluss_buf *out,
												  fluss_error *err);
/*
 * Puts a scalar that is not of fixed width into its slot of 8 bytes, which is
 * zero, and what does not fit behind all that is there.  Offsets count from
 * start.
 */
void fluss_slot_put_long(fluss_buf *out, size_t start, size_t slot_at,
						 const fluss_type *type, const fluss_value *value);
/* FLUSS_NOT_NULL_VIOLATION of the column. */
fluss_status fluss_fail_null(fluss_error *err, const char *name);
/* Appends one value of a scalar type that is not NULL. */
void fluss_compacted_append(fluss_buf *out, const fluss_type *type,
							const fluss_value *value);

/*
 * Checks a value against its type: NULL, integer and decimal ranges, CHAR and
 * BINARY lengths, dates, times of day, timestamps (digits past the precision,
 * and what the 64-bit integer of an Arrow timestamp cannot hold), nested values
 * with all that is in them.  The error names the column, never the value.
 */
FLUSS_MUST_CHECK fluss_status fluss_value_check(const fluss_column *column,
												const fluss_value *value,
												fluss_error *err);

/*
 * Unscaled decimal as big-endian two's complement without superfluous leading
 * bytes, as Java's BigInteger writes it: fills the end of out and returns the
 * size.  Its bytes are out + 16 - size.
 */
size_t fluss_decimal_to_bytes(const fluss_value *value, uint8_t out[16]);
/* False when size is 0, or more than 16. */
bool fluss_decimal_from_bytes(const uint8_t *data, size_t size,
							  fluss_value *value);
/* Decimals up to this precision are stored as 64-bit integers in rows. */
#define FLUSS_COMPACT_DECIMAL_PRECISION 18
/* Timestamps up to this precision are stored as milliseconds in rows. */
#define FLUSS_COMPACT_TIMESTAMP_PRECISION 3

/* How the keys of a table are encoded; which encoder by kv format version. */
typedef enum fluss_key_encoder
{
	FLUSS_KEY_COMPACTED,
	FLUSS_KEY_PAIMON,
	FLUSS_KEY_ICEBERG
} fluss_key_encoder;

/*
 * Encoders for KV key bytes and for the bytes hashed to find the bucket.
 * An unknown kv format version is FLUSS_UNSUPPORTED.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_key_encoders(const fluss_table *table,
													   fluss_key_encoder *kv,
													   fluss_key_encoder *bucket,
													   fluss_error *err);
/*
 * Appends the key bytes of values[columns[0..ncolumns)], values by schema
 * position.  NULL is FLUSS_NOT_NULL_VIOLATION, a type the encoder does not know
 * FLUSS_UNSUPPORTED.
 */
FLUSS_MUST_CHECK fluss_status fluss_key_encode(fluss_key_encoder encoder,
											   const fluss_schema *schema,
											   const int32_t *columns,
											   int ncolumns,
											   const fluss_value *values,
											   fluss_buf *out, fluss_error *err);

#endif							/* FLUSS_ROW_H */
