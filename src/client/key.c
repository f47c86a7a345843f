/*
 * key.c
 *	  Key encodings: the bytes that identify a row of a primary key table, and
 *	  those whose hash is its bucket.
 *
 * Compacted: the columns as in a COMPACTED row, without a null bitmap.
 *
 * Paimon: a Paimon BinaryRow.  (columns + 63 + 8) / 64 * 8 bytes of row kind
 * and null bits, all zero; a slot of 8 bytes for each column; then what does
 * not fit its slot: see row_nested.c.  Offsets count from the start of the row.
 *
 * Iceberg: one column only, without a size.
 *
 * All little endian but for the bytes of decimals.
 */
#include <string.h>
#include <strings.h>

#include "error.h"
#include "fixed.h"
#include "row.h"
#include "schema.h"

fluss_status
fluss_table_key_encoders(const fluss_table *table, fluss_key_encoder *kv,
						 fluss_key_encoder *bucket, fluss_error *err)
{
	const char *format = fluss_table_property(table, "table.datalake.format");
	fluss_key_encoder lake = FLUSS_KEY_COMPACTED;
	bool		default_bucket_key;

	if (table->lake == FLUSS_LAKE_PAIMON)
		lake = FLUSS_KEY_PAIMON;
	else if (table->lake == FLUSS_LAKE_ICEBERG)
		lake = FLUSS_KEY_ICEBERG;
	else if (format != NULL && strcasecmp(format, "lance") != 0)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "keys of tables with \"table.datalake.format\" = \"%.64s\" are not supported",
						  format);
	if (table->kv_format_version != 1 && table->kv_format_version != 2)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "keys of tables with another \"table.kv.format-version\" than 1 or 2 are not supported");

	default_bucket_key = table->nbucket_key == table->nphysical_key;
	for (int32_t i = 0; default_bucket_key && i < table->nbucket_key; i++)
		default_bucket_key = table->bucket_key[i] == table->physical_key[i];
	*bucket = lake;
	*kv = table->kv_format_version == 1 || default_bucket_key ? lake :
		FLUSS_KEY_COMPACTED;
	return FLUSS_OK;
}

/*
 * Compacted keys are joined from their columns.  In a Paimon key what is not in
 * its 8 bytes lies past the slots of all columns, and the null bits of many
 * columns take more room.
 */
static bool
keeps_prefix(fluss_key_encoder encoder, const fluss_table *table)
{
	if (encoder == FLUSS_KEY_COMPACTED)
		return true;
	if (encoder == FLUSS_KEY_ICEBERG || table->nphysical_key > 56)
		return false;
	for (int32_t i = 0; i < table->nbucket_key; i++)
	{
		int32_t		column = table->bucket_key[i];

		if (fluss_fixed_width(&table->schema->columns[column].type) == 0)
			return false;
	}
	return true;
}

bool
fluss_table_prefix_lookup(const fluss_table *table)
{
	fluss_key_encoder kv;
	fluss_key_encoder bucket;
	fluss_error ignored;

	if (table->schema->nprimary_key == 0 || table->nbucket_key == 0 ||
		table->nbucket_key >= table->nphysical_key)
		return false;
	for (int32_t i = 0; i < table->nbucket_key; i++)
	{
		if (table->bucket_key[i] != table->physical_key[i])
			return false;
	}
	return fluss_table_key_encoders(table, &kv, &bucket,
									&ignored) == FLUSS_OK &&
		keeps_prefix(kv, table);
}

/* ---- Paimon */

static void
paimon_key(const fluss_schema *schema, const int32_t *columns, int ncolumns,
		   const fluss_value *values, fluss_buf *out)
{
	size_t		start = out->size;
	size_t		header = ((size_t) ncolumns + 63 + 8) / 64 * 8;

	fluss_buf_append_zeros(out, header + 8 * (size_t) ncolumns);
	for (int i = 0; i < ncolumns && !out->failed; i++)
	{
		const fluss_type *type = &schema->columns[columns[i]].type;
		const fluss_value *value = &values[columns[i]];
		size_t		slot_at = start + header + 8 * (size_t) i;

		if (!fluss_fixed_put(type, value, out->data + slot_at))
			fluss_slot_put_long(out, start, slot_at, type, value);
	}
}

/* ---- Iceberg */

static bool
iceberg_knows(fluss_type_id id)
{
	return id != FLUSS_BOOLEAN && id != FLUSS_TINYINT &&
		id != FLUSS_SMALLINT && id != FLUSS_TIMESTAMP_LTZ;
}

/* Times and timestamps are in microseconds; Java's arithmetic wraps too. */
static void
iceberg_key(const fluss_type *type, const fluss_value *value, fluss_buf *out)
{
	uint8_t		bytes[16];
	size_t		size;

	switch (type->id)
	{
		case FLUSS_INTEGER:
		case FLUSS_DATE:
		case FLUSS_BIGINT:
			fluss_buf_u64le(out, (uint64_t) value->u.integer);
			break;
		case FLUSS_TIME:
			fluss_buf_u64le(out, (uint64_t) value->u.integer * 1000);
			break;
		case FLUSS_TIMESTAMP:
			fluss_buf_u64le(out, (uint64_t) value->u.timestamp.millis * 1000 +
							(uint64_t) (value->u.timestamp.nanos / 1000));
			break;
		case FLUSS_DECIMAL:
			size = fluss_decimal_to_bytes(value, bytes);
			fluss_buf_append(out, bytes + 16 - size, size);
			break;
		case FLUSS_FLOAT:
		case FLUSS_DOUBLE:
			fluss_compacted_append(out, type, value);
			break;
		default:
			fluss_buf_append(out, value->u.bytes.data, value->u.bytes.size);
			break;
	}
}

/* ---- all */

static bool
has_bytes(fluss_type_id id)
{
	return id == FLUSS_CHAR || id == FLUSS_STRING || id == FLUSS_BINARY ||
		id == FLUSS_BYTES;
}

static fluss_status
check_key(fluss_key_encoder encoder, const fluss_schema *schema,
		  const int32_t *columns, int ncolumns, const fluss_value *values,
		  fluss_error *err)
{
	if (encoder == FLUSS_KEY_ICEBERG && ncolumns != 1)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "an Iceberg key must have one column, but the table's has %d",
						  ncolumns);
	for (int i = 0; i < ncolumns; i++)
	{
		const fluss_column *column = &schema->columns[columns[i]];

		if (!fluss_type_is_scalar(&column->type))
			return fluss_fail_nested(err, column->name, &column->type);
		if (encoder == FLUSS_KEY_ICEBERG && !iceberg_knows(column->type.id))
			return fluss_fail(err, FLUSS_UNSUPPORTED,
							  "column \"%s\" has a type that Iceberg keys cannot have",
							  column->name);
		if (values[columns[i]].is_null)
			return fluss_fail(err, FLUSS_NOT_NULL_VIOLATION,
							  "null value in key column \"%s\"", column->name);
		/* its bytes would be none, and the server takes no such key */
		if (encoder == FLUSS_KEY_ICEBERG && has_bytes(column->type.id) &&
			values[columns[i]].u.bytes.size == 0)
			return fluss_fail(err, FLUSS_NO_SUCH_KEY,
							  "empty value in key column \"%s\", which Iceberg keys cannot have",
							  column->name);
	}
	return FLUSS_OK;
}

fluss_status
fluss_key_encode(fluss_key_encoder encoder, const fluss_schema *schema,
				 const int32_t *columns, int ncolumns,
				 const fluss_value *values, fluss_buf *out, fluss_error *err)
{
	fluss_status status = check_key(encoder, schema, columns, ncolumns, values,
									err);

	if (status != FLUSS_OK)
		return status;
	if (encoder == FLUSS_KEY_PAIMON)
		paimon_key(schema, columns, ncolumns, values, out);
	else if (encoder == FLUSS_KEY_ICEBERG)
		iceberg_key(&schema->columns[columns[0]].type, &values[columns[0]],
					out);
	else
	{
		for (int i = 0; i < ncolumns; i++)
			fluss_compacted_append(out, &schema->columns[columns[i]].type,
								&values[columns[i]]);
	}
	return out->failed ? fluss_fail_memory(err) : FLUSS_OK;
}
