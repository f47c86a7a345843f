/*
 * row.c
 *	  Rows of any format: which codec is asked, and what is said of its failure.
 */
#include "error.h"
#include "row.h"

static const char *
format_name(fluss_row_format format)
{
	return format == FLUSS_FORMAT_INDEXED ? "INDEXED" :
		format == FLUSS_FORMAT_COMPACTED ? "COMPACTED" : "ARROW";
}

static fluss_status
fail_format(fluss_row_format format, fluss_error *err)
{
	return fluss_fail(err, FLUSS_UNSUPPORTED,
					  "rows in %s format are not supported",
					  format_name(format));
}

fluss_status
fluss_fail_null(fluss_error *err, const char *name)
{
	return fluss_fail(err, FLUSS_NOT_NULL_VIOLATION,
					  "null value in column \"%s\" violates not-null constraint",
					  name);
}

static fluss_status
fail_row(fluss_row_format format, const fluss_schema *schema, int32_t column,
		 fluss_error *err)
{
	char		spelling[128];

	fluss_fail(err, FLUSS_MALFORMED, "row in %s format is malformed",
			   format_name(format));
	if (column < 0)
		fluss_error_detail(err, "It ends before its first column.");
	else if (column == schema->ncolumns)
		fluss_error_detail(err, "Bytes are left over after its last column.");
	else
	{
		fluss_type_print(&schema->columns[column].type, spelling,
						 sizeof(spelling));
		fluss_error_detail(err, "Column \"%s\" does not hold a %s.",
						   schema->columns[column].name, spelling);
	}
	return FLUSS_MALFORMED;
}

fluss_status
fluss_fields_decode(fluss_arena *arena, fluss_row_format format,
					const fluss_column *columns, int32_t ncolumns,
					const bool *want, const uint8_t *data, size_t size,
					fluss_value *values, int32_t *failed_at)
{
	if (format == FLUSS_FORMAT_INDEXED)
		return fluss_indexed_decode(arena, columns, ncolumns, want, data,
									size, values, failed_at);
	return fluss_compacted_decode(arena, columns, ncolumns, want, data, size,
								  values, failed_at);
}

fluss_status
fluss_row_decode(fluss_arena *arena, fluss_row_format format,
				 const fluss_schema *schema, const bool *want,
				 const uint8_t *data, size_t size, fluss_value *values,
				 fluss_error *err)
{
	int32_t		failed_at = -1;
	fluss_status status;

	if (format == FLUSS_FORMAT_ARROW)
		return fail_format(format, err);
	status = fluss_fields_decode(arena, format, schema->columns,
								 schema->ncolumns, want, data, size, values,
								 &failed_at);
	if (status == FLUSS_MALFORMED)
		return fail_row(format, schema, failed_at, err);
	return status == FLUSS_OK ? status : fluss_fail_memory(err);
}

fluss_status
fluss_row_check(fluss_row_format format, const fluss_column *column,
				const fluss_value *value, fluss_error *err)
{
	fluss_status status = fluss_value_check(column, value, err);

	if (status != FLUSS_OK || format != FLUSS_FORMAT_INDEXED ||
		fluss_indexed_fits(&column->type, value))
		return status;
	fluss_fail(err, FLUSS_VALUE_TOO_LONG,
			   "value for column \"%s\" is too long", column->name);
	fluss_error_detail(err, "In rows of INDEXED format a CHAR(n) has room for n bytes, not characters.");
	return FLUSS_VALUE_TOO_LONG;
}

fluss_status
fluss_fields_encode(fluss_row_format format, const fluss_column *columns,
					int32_t ncolumns, const fluss_value *values,
					fluss_buf *out, fluss_error *err)
{
	if (format == FLUSS_FORMAT_INDEXED)
		return fluss_indexed_encode(columns, ncolumns, values, out, err);
	return fluss_compacted_encode(columns, ncolumns, values, out, err);
}

fluss_status
fluss_row_encode(fluss_row_format format, const fluss_schema *schema,
				 const fluss_value *values, fluss_buf *out, fluss_error *err)
{
	if (format == FLUSS_FORMAT_ARROW)
		return fail_format(format, err);
	return fluss_fields_encode(format, schema->columns, schema->ncolumns,
							   values, out, err);
}
