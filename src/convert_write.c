/*
 * convert_write.c
 *	  Values from PostgreSQL to Fluss, in rows and in keys; see convert.h for
 *	  the rules.
 *
 * What the type alone decides, the lengths and ranges of integers, texts and
 * times, the client checks when it writes: only what would not fit into a
 * fluss_value is refused here.
 */
#include "convert.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

void
FlussRefuseWrite(const FlussConverter *conv, int sqlstate, const char *what)
{
	FlussRefuseValue(conv, sqlstate, psprintf("%s Fluss type %s", what,
											  FlussTypeText(conv->type)));
}

/* -------------------------------------------------------------- numerics */

/*
 * The unscaled value of a numeric at a scale; false when it has no exact one
 * of that precision (too many digits, NaN, infinity).
 */
static bool
numeric_unscaled(Datum datum, int precision, int scale, int128 *unscaled)
{
	Numeric		numeric = DatumGetNumeric(datum);
	const char *pos;
	bool		negative;
	int128		value = 0;
	int128		limit = FlussPowerOfTen(precision - 1);
	int			after_point = -1;	/* digits, once the point was seen */

	if (numeric_is_nan(numeric) || numeric_is_inf(numeric))
		return false;
	pos = DatumGetCString(DirectFunctionCall1(numeric_out,
											  NumericGetDatum(numeric)));
	negative = *pos == '-';
	for (pos += negative; *pos != '\0'; pos++)
	{
		if (*pos == '.')
		{
			after_point = 0;
			continue;
		}
		if (after_point >= scale)
		{
			if (*pos != '0')
				return false;
			continue;
		}
		if (value >= limit)
			return false;
		value = value * 10 + (*pos - '0');
		if (after_point >= 0)
			after_point++;
	}
	for (after_point = Max(after_point, 0); after_point < scale; after_point++)
	{
		if (value >= limit)
			return false;
		value *= 10;
	}
	*unscaled = negative ? -value : value;
	return true;
}

/* Digits of the longest bigint, one of which 10^19 does not reach. */
#define BIGINT_PRECISION 19

static bool
numeric_to_value(const FlussConverter *conv, Datum datum, fluss_value *value)
{
	int128		unscaled;

	if (conv->kind == FLUSS_CONVERT_INT_NUMERIC)
	{
		if (!numeric_unscaled(datum, BIGINT_PRECISION, 0, &unscaled) ||
			unscaled > PG_INT64_MAX || unscaled < PG_INT64_MIN)
			return false;
		value->u.integer = (int64) unscaled;
		return true;
	}
	if (!numeric_unscaled(datum, conv->type->precision, conv->type->scale,
						  &unscaled))
		return false;
	value->u.decimal.low = (uint64) (uint128) unscaled;
	value->u.decimal.high = (int64) ((uint128) unscaled >> 64);
	return true;
}

/* ----------------------------------------------------------------- texts */

/* Text of the database as UTF-8; it may be its own bytes. */
static void
text_to_value(const FlussConverter *conv, const char *data, int size,
			  fluss_value *value)
{
	ErrorContextCallback callback;
	char	   *converted = unconstify(char *, data);

	if (GetDatabaseEncoding() != PG_UTF8)
	{
		FlussPushColumnContext(&callback, conv);
		converted = pg_server_to_any(data, size, PG_UTF8);
		FlussPopColumnContext(&callback);
	}
	value->u.bytes.data = (const uint8_t *) converted;
	value->u.bytes.size = converted == data ? (size_t) size : strlen(converted);
}

static void
varlena_to_value(const FlussConverter *conv, Datum datum, fluss_value *value)
{
	struct varlena *packed = PG_DETOAST_DATUM_PACKED(datum);
	char	   *data = VARDATA_ANY(packed);
	int			size = VARSIZE_ANY_EXHDR(packed);

	if (conv->kind == FLUSS_CONVERT_BYTEA)
	{
		value->u.bytes.data = (const uint8_t *) data;
		value->u.bytes.size = size;
		return;
	}
	if (conv->kind == FLUSS_CONVERT_BPCHAR)
		size = bpchartruelen(data, size);
	text_to_value(conv, data, size, value);
}

static void
jsonb_to_value(const FlussConverter *conv, Datum datum, fluss_value *value)
{
	Jsonb	   *jsonb = DatumGetJsonbP(datum);
	StringInfoData out;

	initStringInfo(&out);
	JsonbToCString(&out, &jsonb->root, VARSIZE(jsonb));
	text_to_value(conv, out.data, out.len, value);
}

/* ------------------------------------------------------- dates and times */

int64
FlussTimestampToMillis(TimestampTz timestamp)
{
	int64		millis = timestamp / 1000;

	if (timestamp % 1000 < 0)
		millis--;
	return millis + FLUSS_EPOCH_MILLIS;
}

/* False for the infinities, which Fluss does not have. */
static bool
timestamp_to_value(Timestamp timestamp, fluss_value *value)
{
	int64		millis = FlussTimestampToMillis(timestamp);

	if (TIMESTAMP_NOT_FINITE(timestamp))
		return false;
	value->u.timestamp.millis = millis;
	value->u.timestamp.nanos =
		(int32) (timestamp - (millis - FLUSS_EPOCH_MILLIS) * 1000) * 1000;
	return true;
}

static bool
date_to_value(DateADT date, fluss_value *value)
{
	if (DATE_NOT_FINITE(date))
		return false;
	value->u.integer = (int64) date + FLUSS_EPOCH_DAYS;
	return true;
}

/* False when a part lies below the millisecond, which Fluss does not keep. */
static bool
time_to_value(TimeADT time, fluss_value *value)
{
	value->u.integer = time / 1000;
	return time % 1000 == 0;
}

/* ------------------------------------------------------------------ rows */

void
FlussFromDatum(const FlussConverter *conv, Datum datum, fluss_value *value)
{
	value->is_null = false;
	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			value->u.boolean = DatumGetBool(datum);
			return;
		case FLUSS_CONVERT_INT2:
			value->u.integer = DatumGetInt16(datum);
			return;
		case FLUSS_CONVERT_INT4:
			value->u.integer = DatumGetInt32(datum);
			return;
		case FLUSS_CONVERT_INT8:
			value->u.integer = DatumGetInt64(datum);
			return;
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
			if (!numeric_to_value(conv, datum, value))
				FlussRefuseWrite(conv, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
							 "has no exact counterpart in");
			return;
		case FLUSS_CONVERT_FLOAT4:
			value->u.float4 = DatumGetFloat4(datum);
			return;
		case FLUSS_CONVERT_FLOAT8:
			value->u.float8 = DatumGetFloat8(datum);
			return;
		case FLUSS_CONVERT_TEXT:
		case FLUSS_CONVERT_VARCHAR:
		case FLUSS_CONVERT_BPCHAR:
		case FLUSS_CONVERT_JSON:
		case FLUSS_CONVERT_BYTEA:
			varlena_to_value(conv, datum, value);
			return;
		case FLUSS_CONVERT_JSONB:
			jsonb_to_value(conv, datum, value);
			return;
		case FLUSS_CONVERT_UUID:
			value->u.bytes.data = DatumGetUUIDP(datum)->data;
			value->u.bytes.size = UUID_LEN;
			return;
		case FLUSS_CONVERT_DATE:
			if (!date_to_value(DatumGetDateADT(datum), value))
				FlussRefuseWrite(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
							 "is infinite, which is out of range for");
			return;
		case FLUSS_CONVERT_TIME:
			if (!time_to_value(DatumGetTimeADT(datum), value))
				FlussRefuseWrite(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
							 "has more than the milliseconds of");
			return;
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			if (!timestamp_to_value(DatumGetTimestamp(datum), value))
				FlussRefuseWrite(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
							 "is infinite, which is out of range for");
			return;
		case FLUSS_CONVERT_ARRAY:
		case FLUSS_CONVERT_NESTED_JSON:
		case FLUSS_CONVERT_NESTED_JSONB:
			FlussNestedFromDatum(conv, datum, value);
			return;
		case FLUSS_CONVERT_NONE:
			break;
	}
	elog(ERROR, "column \"%s\" has no conversion", conv->attr->name);
}

/* ------------------------------------------------------------------ keys */

bool
FlussKeyTypeAccepted(const FlussRelation *rel, AttrNumber attnum, Oid argtype)
{
	switch (rel->attrs[attnum - 1].type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return argtype == INT2OID || argtype == INT4OID ||
				argtype == INT8OID;
		case TEXTOID:
		case VARCHAROID:
			return argtype == TEXTOID || argtype == VARCHAROID;
		default:
			return argtype == rel->attrs[attnum - 1].type;
	}
}

/* An integer of any width, if the remote column is as wide. */
static bool
integer_key(const FlussConverter *conv, Oid argtype, Datum datum,
			fluss_value *value)
{
	int64		limit;

	value->u.integer = argtype == INT2OID ? DatumGetInt16(datum) :
		argtype == INT4OID ? DatumGetInt32(datum) : DatumGetInt64(datum);
	switch (conv->type->id)
	{
		case FLUSS_TINYINT:
			limit = PG_INT8_MAX;
			break;
		case FLUSS_SMALLINT:
			limit = PG_INT16_MAX;
			break;
		case FLUSS_INTEGER:
			limit = PG_INT32_MAX;
			break;
		default:
			return true;
	}
	return value->u.integer <= limit && value->u.integer >= -limit - 1;
}

static size_t
utf8_characters(const fluss_bytes *bytes)
{
	size_t		count = 0;

	for (size_t i = 0; i < bytes->size; i++)
		count += (bytes->data[i] & 0xc0) != 0x80;
	return count;
}

/* True when a CHAR(n) or BINARY(n) can have the bytes as they are. */
static bool
bytes_fit(const fluss_type *type, const fluss_bytes *bytes)
{
	if (type->id == FLUSS_BINARY)
		return bytes->size == (size_t) type->length;
	return type->id != FLUSS_CHAR || bytes->size <= (size_t) type->length ||
		utf8_characters(bytes) <= (size_t) type->length;
}

bool
FlussKeyFromDatum(const FlussConverter *conv, Oid argtype, Datum datum,
				  fluss_value *value)
{
	value->is_null = false;
	switch (conv->kind)
	{
		case FLUSS_CONVERT_INT2:
		case FLUSS_CONVERT_INT4:
		case FLUSS_CONVERT_INT8:
			return integer_key(conv, argtype, datum, value);
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
			return numeric_to_value(conv, datum, value);
		case FLUSS_CONVERT_TEXT:
		case FLUSS_CONVERT_VARCHAR:
		case FLUSS_CONVERT_BYTEA:
			varlena_to_value(conv, datum, value);
			return bytes_fit(conv->type, &value->u.bytes);
		case FLUSS_CONVERT_DATE:
			return date_to_value(DatumGetDateADT(datum), value);
		case FLUSS_CONVERT_TIME:
			return time_to_value(DatumGetTimeADT(datum), value) &&
				value->u.integer < USECS_PER_DAY / 1000;
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return timestamp_to_value(DatumGetTimestamp(datum), value) &&
				(conv->type->precision > 3 || value->u.timestamp.nanos == 0);
		default:
			FlussFromDatum(conv, datum, value);
			return true;
	}
}
