/*
 * row.c
 *	  Rows of any format: which codec is asked.
 */
#include "error.h"
#include "row.h"

static fluss_status
fail_format(fluss_row_format format, fluss_error *err)
{
	return fluss_fail(err, FLUSS_UNSUPPORTED,
					  "rows in %s format are not supported",
					  format == FLUSS_FORMAT_INDEXED ? "INDEXED" : "ARROW");
}

fluss_status
fluss_row_decode(fluss_row_format format, const fluss_schema *schema,
				 const uint8_t *data, size_t size, fluss_value *values,
				 fluss_error *err)
{
	if (format == FLUSS_FORMAT_COMPACTED)
		return fluss_compacted_decode(schema, data, size, values, err);
	return fail_format(format, err);
}

fluss_status
fluss_row_encode(fluss_row_format format, const fluss_schema *schema,
				 const fluss_value *values, fluss_buf *out, fluss_error *err)
{
	if (format == FLUSS_FORMAT_COMPACTED)
		return fluss_compacted_encode(schema, values, out, err);
	return fail_format(format, err);
}
