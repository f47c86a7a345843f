/*
 * row.h
 *	  Row encodings (compacted; others refused by name) and key encodings.
 */
#ifndef FLUSS_ROW_H
#define FLUSS_ROW_H

#include "arena.h"
#include "buf.h"

/*
 * Where each wanted column of a reader comes from in rows of one schema:
 * reader column columns[i] is schema column (*source)[i], or -1 when that
 * schema lacks it.  Made by matching column ids.  A wanted column of a nested
 * type is FLUSS_UNSUPPORTED; a type that changed under an id FLUSS_MALFORMED.
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
 * into values[0 .. schema->ncolumns).  Bytes point into data.  NOT NULL
 * columns always have a value whatever the null bit says.  A column of a
 * nested type gets its undecoded bytes.
 */
FLUSS_MUST_CHECK fluss_status fluss_row_decode(fluss_row_format format,
											   const fluss_schema *schema,
											   const uint8_t *data, size_t size,
											   fluss_value *values,
											   fluss_error *err);
/* Appends one row, values in schema order.  Values were checked before. */
FLUSS_MUST_CHECK fluss_status fluss_row_encode(fluss_row_format format,
											   const fluss_schema *schema,
											   const fluss_value *values,
											   fluss_buf *out, fluss_error *err);

/* What the two are made of for COMPACTED rows: see row_compacted.c. */
FLUSS_MUST_CHECK fluss_status fluss_compacted_decode(const fluss_schema *schema,
													 const uint8_t *data,
													 size_t size,
													 fluss_value *values,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_compacted_encode(const fluss_schema *schema,
													 const fluss_value *values,
													 fluss_buf *out,
													 fluss_error *err);
/* Appends one value of a scalar type that is not NULL. */
void fluss_compacted_put(fluss_buf *out, const fluss_type *type,
						 const fluss_value *value);

/*
 * Checks a value against its type: NULL, integer and decimal ranges, CHAR and
 * BINARY lengths, dates, times of day, timestamps (digits past the precision,
 * and what the 64-bit integer of an Arrow timestamp cannot hold).  The error
 * names the column, never the value.
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
 * position.  NULL is FLUSS_INVALID_ARGUMENT, a type the encoder does not know
 * FLUSS_UNSUPPORTED.
 */
FLUSS_MUST_CHECK fluss_status fluss_key_encode(fluss_key_encoder encoder,
											   const fluss_schema *schema,
											   const int32_t *columns,
											   int ncolumns,
											   const fluss_value *values,
											   fluss_buf *out, fluss_error *err);

#endif							/* FLUSS_ROW_H */
