/*
 * value.c
 *	  Values against their types, decimals as bytes, and which column of a
 *	  written schema a reader's column is.
 */
#include <string.h>

#include "error.h"
#include "row.h"
#include "schema.h"

#define MILLIS_PER_DAY INT64_C(86400000)

__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;

static const uint64_t powers_of_ten[20] = {
	UINT64_C(1),
	UINT64_C(10),
	UINT64_C(100),
	UINT64_C(1000),
	UINT64_C(10000),
	UINT64_C(100000),
	UINT64_C(1000000),
	UINT64_C(10000000),
	UINT64_C(100000000),
	UINT64_C(1000000000),
	UINT64_C(10000000000),
	UINT64_C(100000000000),
	UINT64_C(1000000000000),
	UINT64_C(10000000000000),
	UINT64_C(100000000000000),
	UINT64_C(1000000000000000),
	UINT64_C(10000000000000000),
	UINT64_C(100000000000000000),
	UINT64_C(1000000000000000000),
	UINT64_C(10000000000000000000)
};

/* ---- decimals */

size_t
fluss_decimal_to_bytes(const fluss_value *value, uint8_t out[16])
{
	uint64_t	high = (uint64_t) value->u.decimal.high;
	uint64_t	low = value->u.decimal.low;
	uint8_t		sign = value->u.decimal.high < 0 ? 0xff : 0;
	size_t		start = 0;

	for (int i = 0; i < 8; i++)
	{
		out[i] = (uint8_t) (high >> (56 - 8 * i));
		out[8 + i] = (uint8_t) (low >> (56 - 8 * i));
	}
	/* the first byte kept must still show the sign */
	while (start < 15 && out[start] == sign &&
		   ((out[start + 1] ^ sign) & 0x80) == 0)
		start++;
	return 16 - start;
}

bool
fluss_decimal_from_bytes(const uint8_t *data, size_t size, fluss_value *value)
{
	uint128		v;

	if (size == 0 || size > 16)
		return false;
	v = (data[0] & 0x80) != 0 ? ~(uint128) 0 : 0;
	for (size_t i = 0; i < size; i++)
		v = v << 8 | data[i];
	value->u.decimal.low = (uint64_t) v;
	value->u.decimal.high = (int64_t) (uint64_t) (v >> 64);
	return true;
}

static bool
decimal_fits(const fluss_value *value, int32_t precision)
{
	uint128		v = (uint128) (uint64_t) value->u.decimal.high << 64 |
		value->u.decimal.low;
	int32_t		low_digits = precision < 19 ? precision : 19;
	uint128		limit = (uint128) powers_of_ten[low_digits] *
		powers_of_ten[precision - low_digits];

	if (value->u.decimal.high < 0)
		v = -v;
	return v < limit;
}

/* ---- checking */

/* What check functions complain about; the column is added by the caller. */
typedef struct complaint
{
	fluss_status status;
	const char *text;
} complaint;

static complaint
complain(fluss_status status, const char *text)
{
	complaint	result = {status, text};

	return result;
}

static const complaint fine = {FLUSS_OK, NULL};

static complaint
check_integer(const fluss_value *value, int bits)
{
	int64_t		limit = INT64_C(1) << (bits - 1);

	if (value->u.integer < -limit || value->u.integer >= limit)
		return complain(FLUSS_VALUE_OUT_OF_RANGE, "is out of range");
	return fine;
}

/* Counts characters only when there may be too many. */
static complaint
check_characters(const fluss_bytes *bytes, int32_t length)
{
	size_t		characters = 0;

	if (bytes->size <= (size_t) length)
		return fine;
	for (size_t i = 0; i < bytes->size; i++)
		characters += (bytes->data[i] & 0xc0) != 0x80;
	if (characters > (size_t) length)
		return complain(FLUSS_VALUE_TOO_LONG, "is too long");
	return fine;
}

static complaint
check_binary(const fluss_bytes *bytes, int32_t length)
{
	if (bytes->size > (size_t) length)
		return complain(FLUSS_VALUE_TOO_LONG, "is too long");
	if (bytes->size < (size_t) length)
		return complain(FLUSS_VALUE_OUT_OF_RANGE, "is too short");
	return fine;
}

static complaint
check_time(const fluss_value *value, int32_t precision)
{
	if (value->u.integer < 0 || value->u.integer >= MILLIS_PER_DAY)
		return complain(FLUSS_DATETIME_OVERFLOW, "is not a time of day");
	if (precision < 3 &&
		value->u.integer % (int64_t) powers_of_ten[3 - precision] != 0)
		return complain(FLUSS_DATETIME_OVERFLOW,
						"has more fractional digits than its type");
	return fine;
}

/* Arrow keeps a timestamp as one integer of micro- or nanoseconds. */
static bool
timestamp_fits(int64_t millis, int32_t nanos, int32_t precision)
{
	int128		units = precision > 6 ?
		(int128) millis * 1000000 + nanos :
		(int128) millis * 1000 + nanos / 1000;

	return precision <= 3 || units == (int64_t) units;
}

static complaint
check_timestamp(const fluss_value *value, int32_t precision)
{
	int64_t		millis = value->u.timestamp.millis;
	int32_t		nanos = value->u.timestamp.nanos;
	bool		cut;

	if (nanos < 0 || nanos > 999999)
		return complain(FLUSS_DATETIME_OVERFLOW,
						"has nanoseconds out of range");
	if (precision < 3)
		cut = millis % (int64_t) powers_of_ten[3 - precision] != 0 ||
			nanos != 0;
	else
		cut = nanos % (int64_t) powers_of_ten[9 - precision] != 0;
	if (cut)
		return complain(FLUSS_DATETIME_OVERFLOW,
						"has more fractional digits than its type");
	if (!timestamp_fits(millis, nanos, precision))
		return complain(FLUSS_DATETIME_OVERFLOW, "is out of range");
	return fine;
}

static complaint
check_by_type(const fluss_type *type, const fluss_value *value)
{
	switch (type->id)
	{
		case FLUSS_TINYINT:
			return check_integer(value, 8);
		case FLUSS_SMALLINT:
			return check_integer(value, 16);
		case FLUSS_INTEGER:
			return check_integer(value, 32);
		case FLUSS_DATE:
			if (check_integer(value, 32).status != FLUSS_OK)
				return complain(FLUSS_DATETIME_OVERFLOW, "is out of range");
			return fine;
		case FLUSS_DECIMAL:
			if (!decimal_fits(value, type->precision))
				return complain(FLUSS_VALUE_OUT_OF_RANGE, "is out of range");
			return fine;
		case FLUSS_CHAR:
			return check_characters(&value->u.bytes, type->length);
		case FLUSS_BINARY:
			return check_binary(&value->u.bytes, type->length);
		case FLUSS_STRING:
		case FLUSS_BYTES:
			if (value->u.bytes.size > INT32_MAX)
				return complain(FLUSS_VALUE_TOO_LONG, "is too long");
			return fine;
		case FLUSS_TIME:
			return check_time(value, type->precision);
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return check_timestamp(value, type->precision);
		default:
			return fine;
	}
}

/*
 * A value, and all that is in it.  *at is the type that complains: that of a
 * NULL, or of the value that does not fit.
 */
static complaint
check_deep(const fluss_type *type, const fluss_value *value,
		   const fluss_type **at)
{
	int32_t		per_entry = type->id == FLUSS_MAP ? 2 : 1;
	complaint	found = fine;

	*at = type;
	if (value->is_null)
		return type->nullable ? fine :
			complain(FLUSS_NOT_NULL_VIOLATION, "is NULL");
	if (fluss_type_is_scalar(type))
		return check_by_type(type, value);
	if (value->u.nested.n < 0 || value->u.nested.n > INT32_MAX / per_entry ||
		(type->id == FLUSS_ROW && value->u.nested.n != type->nchildren))
		return complain(FLUSS_INVALID_ARGUMENT,
						"has a wrong number of items");
	for (int32_t i = 0; i < value->u.nested.n * per_entry &&
		 found.status == FLUSS_OK; i++)
	{
		int32_t		child = type->id == FLUSS_ROW ? i : i % per_entry;

		found = check_deep(&type->children[child].type,
						   &value->u.nested.items[i], at);
	}
	return found;
}

static void
tell_types(fluss_error *err, const fluss_type *type, const fluss_type *at)
{
	char		spelling[128];
	char		inner[128];

	fluss_type_print(type, spelling, sizeof(spelling));
	fluss_type_print(at, inner, sizeof(inner));
	if (at == type)
		fluss_error_detail(err, "The Fluss type of the column is %s.", spelling);
	else
		fluss_error_detail(err, "The Fluss type of the column is %s, of the part %s.",
						   spelling, inner);
}

fluss_status
fluss_value_check(const fluss_column *column, const fluss_value *value,
				  fluss_error *err)
{
	const fluss_type *at;
	complaint	found = check_deep(&column->type, value, &at);

	if (found.status == FLUSS_OK)
		return FLUSS_OK;
	if (at == &column->type && value->is_null)
		return fluss_fail_null(err, column->name);
	if (at == &column->type)
		fluss_fail(err, found.status, "value for column \"%s\" %s",
				   column->name, found.text);
	else
		fluss_fail(err, found.status, "a part of the value for column \"%s\" %s",
				   column->name, found.text);
	tell_types(err, &column->type, at);
	return found.status;
}

/* ---- schemas */

int32_t
fluss_schema_column_by_id(const fluss_schema *schema, int32_t id)
{
	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		if (schema->columns[i].id == id)
			return i;
	}
	return -1;
}

int32_t
fluss_schema_column_by_name(const fluss_schema *schema, const char *name)
{
	for (int32_t i = 0; i < schema->ncolumns; i++)
	{
		if (strcmp(schema->columns[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* Columns are only ever added at the end, so the position mostly agrees. */
static int32_t
find_column(const fluss_schema *written, int32_t position, int32_t id)
{
	if (position < written->ncolumns && written->columns[position].id == id)
		return position;
	return fluss_schema_column_by_id(written, id);
}

fluss_status
fluss_column_mapping(fluss_arena *arena, const fluss_schema *reader,
					 const int32_t *columns, int ncolumns,
					 const fluss_schema *written, const int32_t **source,
					 fluss_error *err)
{
	int32_t    *result = fluss_arena_array(arena, (size_t) ncolumns,
										   sizeof(int32_t));

	if (result == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < ncolumns; i++)
	{
		const fluss_column *column = &reader->columns[columns[i]];
		int32_t		found = find_column(written, columns[i], column->id);

		/* a changed type would make one kind of value be read as another */
		if (found >= 0 &&
			!fluss_type_same(&column->type, &written->columns[found].type))
			return fluss_fail(err, FLUSS_MALFORMED,
							  "column \"%s\" has another type in schema %d than in schema %d",
							  column->name, written->schema_id,
							  reader->schema_id);
		result[i] = found;
	}
	*source = result;
	return FLUSS_OK;
}
