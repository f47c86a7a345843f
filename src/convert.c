/*
 * convert.c
 *	  Values from Fluss to PostgreSQL; see convert.h for the rules.
 */
#include "convert.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#define MAX_FRACTION_DIGITS 6	/* digits of a second that PostgreSQL keeps */

static const char replacement_character[] = "\357\277\275";

/* ---------------------------------------------------------------- errors */

void
FlussRefuseValue(const FlussConverter *conv, int sqlstate, const char *why)
{
	ereport(ERROR,
			(errcode(sqlstate),
			 errmsg("value for column \"%s\" of foreign table \"%s\" %s",
					conv->attr->name, conv->rel->name, why),
			 conv->path != NULL ?
			 errdetail("The part that does not fit is %s.", conv->path) : 0));
}

/* PostgreSQL's type cannot hold what Fluss has. */
static void refuse_read(const FlussConverter *conv, int sqlstate,
						const char *what) __attribute__((noreturn));

static void
refuse_read(const FlussConverter *conv, int sqlstate, const char *what)
{
	const char *type = format_type_with_typemod(conv->attr->type,
												conv->attr->typmod);

	FlussRefuseValue(conv, sqlstate, psprintf("%s type %s", what, type));
}

/* Says which column core's own input functions complain about. */
static void
conversion_context(void *arg)
{
	const FlussConverter *conv = arg;

	errcontext("column \"%s\" of foreign table \"%s\"",
			   conv->path != NULL ? conv->path : conv->attr->name,
			   conv->rel->name);
}

void
FlussPushColumnContext(ErrorContextCallback *callback,
					   const FlussConverter *conv)
{
	callback->callback = conversion_context;
	callback->arg = unconstify(FlussConverter *, conv);
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

void
FlussPopColumnContext(ErrorContextCallback *callback)
{
	error_context_stack = callback->previous;
}

/* ----------------------------------------------------------------- setup */

/*
 * Characters that fit (-1: any number), or the microseconds that times are a
 * multiple of, or for numerics whether the local type is narrower (1) or not.
 */
static int64
conversion_limit(const FlussConverter *conv, int32 typmod)
{
	int			scale;

	switch (conv->kind)
	{
		case FLUSS_CONVERT_VARCHAR:
		case FLUSS_CONVERT_BPCHAR:
			return typmod < (int32) VARHDRSZ ? -1 : typmod - VARHDRSZ;
		case FLUSS_CONVERT_TIME:
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return typmod < 0 ? 1 :
				(int64) FlussPowerOfTen(MAX_FRACTION_DIGITS -
										Min(typmod, MAX_FRACTION_DIGITS));
		case FLUSS_CONVERT_INT_NUMERIC:
			return typmod >= (int32) VARHDRSZ;
		case FLUSS_CONVERT_DECIMAL:
			if (typmod < (int32) VARHDRSZ)
				return 0;
			scale = FlussNumericScale(typmod);
			return scale != conv->type->scale ||
				FlussNumericPrecision(typmod) < conv->type->precision;
		default:
			return 0;
	}
}

void
FlussConverterInit(FlussConverter *conv, const FlussRelation *rel,
				   AttrNumber attnum)
{
	memset(conv, 0, sizeof(*conv));
	conv->rel = rel;
	conv->attr = &rel->attrs[attnum - 1];
	conv->type = &rel->table->schema->columns[conv->attr->remote].type;
	conv->kind = FlussConversionFor(conv->type, conv->attr->type);
	conv->invalid_text = rel->options->invalid_text;
	conv->limit = conversion_limit(conv, conv->attr->typmod);
	FlussNestedInit(conv);
}

void
FlussConverterInitPart(FlussConverter *part, const FlussConverter *whole,
					   const fluss_type *type, FlussConversion kind,
					   Oid pgtype, int32 typmod, const char *path)
{
	FlussAttribute *attr = palloc(sizeof(*attr));

	*attr = *whole->attr;
	attr->type = pgtype;
	attr->typmod = typmod;
	memset(part, 0, sizeof(*part));
	part->rel = whole->rel;
	part->attr = attr;
	part->type = type;
	part->kind = kind;
	part->invalid_text = whole->invalid_text;
	part->limit = conversion_limit(part, typmod);
	part->path = path;
	FlussNestedInit(part);
}

/* -------------------------------------------------------------- numerics */

static int128
decimal_value(const fluss_value *value)
{
	return (int128) ((uint128) (uint64) value->u.decimal.high << 64 |
					 value->u.decimal.low);
}

/*
 * A numeric of a decimal wider than 64 bits goes through its text: it is rare,
 * and numeric_in is exact.
 */
static Datum
wide_numeric(int128 unscaled, int scale)
{
	char		buffer[64];
	char	   *pos = buffer + sizeof(buffer);
	uint128		rest = unscaled < 0 ? -(uint128) unscaled : (uint128) unscaled;
	int			digits = 0;

	*--pos = '\0';
	do
	{
		if (digits++ == scale && scale > 0)
			*--pos = '.';
		*--pos = '0' + (int) (rest % 10);
		rest /= 10;
	} while (rest != 0 || digits <= scale);
	if (unscaled < 0)
		*--pos = '-';
	return DirectFunctionCall3(numeric_in, CStringGetDatum(pos),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

Datum
FlussNumericOf(int128 unscaled, int scale)
{
	if (unscaled > PG_INT64_MAX || unscaled < PG_INT64_MIN)
		return wide_numeric(unscaled, scale);
	if (scale == 0)
		return NumericGetDatum(int64_to_numeric((int64) unscaled));
	return NumericGetDatum(int64_div_fast_to_numeric((int64) unscaled, scale));
}

/* True when a numeric of that typmod holds the value without rounding it. */
static bool
fits_typmod(int128 unscaled, int scale, int32 typmod)
{
	int			dropped = scale - FlussNumericScale(typmod);
	int			whole = FlussNumericPrecision(typmod) + dropped;

	if (unscaled == 0)
		return true;
	if (dropped > FLUSS_MAX_PRECISION || whole <= 0)
		return false;
	if (dropped > 0 && unscaled % FlussPowerOfTen(dropped) != 0)
		return false;
	if (whole > FLUSS_MAX_PRECISION)
		return true;
	return unscaled < FlussPowerOfTen(whole) &&
		unscaled > -FlussPowerOfTen(whole);
}

static Datum
datum_of_numeric(const FlussConverter *conv, int128 unscaled, int scale)
{
	Datum		datum = FlussNumericOf(unscaled, scale);

	if (conv->limit == 0)
		return datum;
	if (!fits_typmod(unscaled, scale, conv->attr->typmod))
		refuse_read(conv, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
					"is out of range for");
	/* gives it the digits after the point that the type shows */
	return DirectFunctionCall2(numeric, datum,
							   Int32GetDatum(conv->attr->typmod));
}

/* ----------------------------------------------------------------- texts */

/* Copies the valid parts; what is not is replaced or left out. */
static fluss_bytes
repair_text(const fluss_bytes *bytes, FlussInvalidText how)
{
	StringInfoData out;
	const char *pos = (const char *) bytes->data;
	const char *end = pos + bytes->size;
	fluss_bytes result;

	initStringInfo(&out);
	while (pos < end)
	{
		int			valid = pg_encoding_verifymbstr(PG_UTF8, pos, end - pos);

		appendBinaryStringInfo(&out, pos, valid);
		pos += valid;
		if (pos == end)
			break;
		if (how == FLUSS_TEXT_REPLACE)
			appendStringInfoString(&out, replacement_character);
		pos++;
	}
	result.data = (const uint8_t *) out.data;
	result.size = out.len;
	return result;
}

/*
 * Converts valid UTF-8 to the database's encoding; a character that it does not
 * have, such as the replacement character, is replaced by "?" or left out.
 */
static fluss_bytes
translate_repairing(const fluss_bytes *bytes, Oid conversion,
					FlussInvalidText how)
{
	StringInfoData out;
	unsigned char *pos = (unsigned char *) bytes->data;
	unsigned char *end = pos + bytes->size;
	int			size = (int) bytes->size * MAX_CONVERSION_GROWTH + 1;
	unsigned char *translated = palloc(size);
	fluss_bytes result;

	initStringInfo(&out);
	while (pos < end)
	{
		int			done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
														 GetDatabaseEncoding(),
														 pos, end - pos,
														 translated, size, true);

		appendStringInfoString(&out, (char *) translated);
		pos += done;
		if (pos == end)
			break;
		if (how == FLUSS_TEXT_REPLACE)
			appendStringInfoChar(&out, '?');
		pos += pg_utf_mblen(pos);
	}
	pfree(translated);
	result.data = (const uint8_t *) out.data;
	result.size = out.len;
	return result;
}

/*
 * Text in the database's encoding, without a NUL character; it may be the
 * value's own bytes.
 */
static fluss_bytes
server_text(const FlussConverter *conv, const fluss_value *value)
{
	fluss_bytes bytes = value->u.bytes;
	ErrorContextCallback callback;
	Oid			conversion;
	char	   *converted;

	if (bytes.size > MaxAllocSize - VARHDRSZ)
		FlussRefuseValue(conv, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "is too large");
	if (pg_encoding_verifymbstr(PG_UTF8, (const char *) bytes.data,
								(int) bytes.size) != (int) bytes.size)
	{
		if (conv->invalid_text == FLUSS_TEXT_ERROR)
			FlussRefuseValue(conv, ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
				   memchr(bytes.data, '\0', bytes.size) != NULL ?
				   "contains a NUL character" :
				   "contains bytes that are not valid UTF-8");
		bytes = repair_text(&bytes, conv->invalid_text);
	}
	if (GetDatabaseEncoding() == PG_UTF8)
		return bytes;
	if (conv->invalid_text != FLUSS_TEXT_ERROR &&
		bytes.size < MaxAllocSize / MAX_CONVERSION_GROWTH)
	{
		conversion = FindDefaultConversionProc(PG_UTF8, GetDatabaseEncoding());
		if (OidIsValid(conversion))
			return translate_repairing(&bytes, conversion, conv->invalid_text);
	}

	FlussPushColumnContext(&callback, conv);
	converted = pg_any_to_server((const char *) bytes.data, (int) bytes.size,
								 PG_UTF8);
	FlussPopColumnContext(&callback);
	if (converted != (const char *) bytes.data)
	{
		bytes.data = (const uint8_t *) converted;
		bytes.size = strlen(converted);
	}
	return bytes;
}

static Datum
make_varlena(const uint8_t *data, size_t size)
{
	struct varlena *result = palloc(VARHDRSZ + size);

	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), data, size);
	return PointerGetDatum(result);
}

static int64
count_characters(const FlussConverter *conv, const fluss_bytes *bytes)
{
	int64		count = pg_mbstrlen_with_len((const char *) bytes->data,
											 (int) bytes->size);

	if (count > conv->limit)
		refuse_read(conv, ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
					"is too long for");
	return count;
}

static Datum
datum_of_bpchar(const FlussConverter *conv, const fluss_bytes *bytes)
{
	size_t		blanks = conv->limit < 0 ? 0 :
		conv->limit - count_characters(conv, bytes);
	struct varlena *result = palloc(VARHDRSZ + bytes->size + blanks);

	SET_VARSIZE(result, VARHDRSZ + bytes->size + blanks);
	memcpy(VARDATA(result), bytes->data, bytes->size);
	memset(VARDATA(result) + bytes->size, ' ', blanks);
	return PointerGetDatum(result);
}

static Datum
datum_of_json(const FlussConverter *conv, const fluss_bytes *bytes)
{
	char	   *string = pnstrdup((const char *) bytes->data, bytes->size);
	ErrorContextCallback callback;
	Datum		result;

	FlussPushColumnContext(&callback, conv);
	result = DirectFunctionCall1(conv->kind == FLUSS_CONVERT_JSON ?
								 json_in : jsonb_in, CStringGetDatum(string));
	FlussPopColumnContext(&callback);
	return result;
}

static Datum
datum_of_text(const FlussConverter *conv, const fluss_value *value)
{
	fluss_bytes bytes = server_text(conv, value);

	switch (conv->kind)
	{
		case FLUSS_CONVERT_BPCHAR:
			return datum_of_bpchar(conv, &bytes);
		case FLUSS_CONVERT_JSON:
		case FLUSS_CONVERT_JSONB:
			return datum_of_json(conv, &bytes);
		case FLUSS_CONVERT_VARCHAR:
			if (conv->limit >= 0 && (int64) bytes.size > conv->limit)
				(void) count_characters(conv, &bytes);
			break;
		default:
			break;
	}
	return make_varlena(bytes.data, bytes.size);
}

static Datum
datum_of_uuid(const FlussConverter *conv, const fluss_value *value)
{
	pg_uuid_t  *uuid;

	if (value->u.bytes.size != UUID_LEN)
		FlussRefuseValue(conv, ERRCODE_STRING_DATA_LENGTH_MISMATCH,
			   "does not have the 16 bytes of type uuid");
	uuid = palloc(sizeof(*uuid));
	memcpy(uuid->data, value->u.bytes.data, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

static Datum
datum_of_bytea(const FlussConverter *conv, const fluss_value *value)
{
	if (value->u.bytes.size > MaxAllocSize - VARHDRSZ)
		FlussRefuseValue(conv, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "is too large");
	return make_varlena(value->u.bytes.data, value->u.bytes.size);
}

/* ------------------------------------------------------- dates and times */

static Datum
datum_of_date(const FlussConverter *conv, int64 unix_days)
{
	int64		date = unix_days - FLUSS_EPOCH_DAYS;

	if (!IS_VALID_DATE(date))
		refuse_read(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					"is out of range for");
	return DateADTGetDatum((DateADT) date);
}

static Datum
datum_of_time(const FlussConverter *conv, int64 millis)
{
	if (millis < 0 || millis > USECS_PER_DAY / 1000)
		refuse_read(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					"is out of range for");
	if (millis * 1000 % conv->limit != 0)
		refuse_read(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					"has more digits of a second than");
	return TimeADTGetDatum(millis * 1000);
}

/* overflow says that the microseconds left 64 bits on the way */
static inline Datum
datum_of_timestamp(const FlussConverter *conv, int64 usecs, bool overflow)
{
	if (unlikely(overflow || !IS_VALID_TIMESTAMP(usecs)))
		refuse_read(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					"is out of range for");
	if (unlikely(conv->limit != 1 && usecs % conv->limit != 0))
		refuse_read(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
					"has more digits of a second than");
	return TimestampGetDatum(usecs);
}

static Datum
timestamp_of_value(const FlussConverter *conv, const fluss_value *value)
{
	int64		usecs;
	bool		overflow;

	overflow = pg_sub_s64_overflow(value->u.timestamp.millis, FLUSS_EPOCH_MILLIS,
								   &usecs) ||
		pg_mul_s64_overflow(usecs, 1000, &usecs) ||
		pg_add_s64_overflow(usecs, value->u.timestamp.nanos / 1000, &usecs);
	return datum_of_timestamp(conv, usecs, overflow);
}

/* ------------------------------------------------------ Fluss to Datum */

Datum
FlussToDatum(const FlussConverter *conv, const fluss_value *value)
{
	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			return BoolGetDatum(value->u.boolean);
		case FLUSS_CONVERT_INT2:
			return Int16GetDatum((int16) value->u.integer);
		case FLUSS_CONVERT_INT4:
			return Int32GetDatum((int32) value->u.integer);
		case FLUSS_CONVERT_INT8:
			return Int64GetDatum(value->u.integer);
		case FLUSS_CONVERT_INT_NUMERIC:
			return datum_of_numeric(conv, value->u.integer, 0);
		case FLUSS_CONVERT_DECIMAL:
			return datum_of_numeric(conv, decimal_value(value), conv->type->scale);
		case FLUSS_CONVERT_FLOAT4:
			return Float4GetDatum(value->u.float4);
		case FLUSS_CONVERT_FLOAT8:
			return Float8GetDatum(value->u.float8);
		case FLUSS_CONVERT_TEXT:
		case FLUSS_CONVERT_VARCHAR:
		case FLUSS_CONVERT_BPCHAR:
		case FLUSS_CONVERT_JSON:
		case FLUSS_CONVERT_JSONB:
			return datum_of_text(conv, value);
		case FLUSS_CONVERT_BYTEA:
			return datum_of_bytea(conv, value);
		case FLUSS_CONVERT_UUID:
			return datum_of_uuid(conv, value);
		case FLUSS_CONVERT_DATE:
			return datum_of_date(conv, value->u.integer);
		case FLUSS_CONVERT_TIME:
			return datum_of_time(conv, value->u.integer);
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return timestamp_of_value(conv, value);
		case FLUSS_CONVERT_ARRAY:
		case FLUSS_CONVERT_NESTED_JSON:
		case FLUSS_CONVERT_NESTED_JSONB:
			return FlussNestedToDatum(conv, value);
		case FLUSS_CONVERT_NONE:
			break;
	}
	elog(ERROR, "column \"%s\" has no conversion", conv->attr->name);
}

static inline int64
view_integer(const fluss_column_view *view, int32_t row)
{
	switch (view->type->id)
	{
		case FLUSS_TINYINT:
			return fluss_column_int8(view, row);
		case FLUSS_SMALLINT:
			return fluss_column_int16(view, row);
		case FLUSS_BIGINT:
			return fluss_column_int64(view, row);
		default:
			return fluss_column_int32(view, row);
	}
}

static inline Datum
view_timestamp(const FlussConverter *conv, const fluss_column_view *view,
			   int32_t row)
{
	int64		count = fluss_column_int64(view, row);
	int64		usecs;
	bool		overflow;

	/* the epoch first: PostgreSQL's last years overflow in Unix microseconds */
	switch (fluss_type_digits(view->type))
	{
		case 0:
			overflow = pg_sub_s64_overflow(count, FLUSS_EPOCH_MILLIS / 1000,
										   &usecs) ||
				pg_mul_s64_overflow(usecs, USECS_PER_SEC, &usecs);
			break;
		case 3:
			overflow = pg_sub_s64_overflow(count, FLUSS_EPOCH_MILLIS,
										   &usecs) ||
				pg_mul_s64_overflow(usecs, 1000, &usecs);
			break;
		case 9:
			count = count / 1000 - (count % 1000 < 0);
			/* FALLTHROUGH */
		default:
			overflow = pg_sub_s64_overflow(count, FLUSS_EPOCH_USECS, &usecs);
			break;
	}
	return datum_of_timestamp(conv, usecs, overflow);
}

Datum
FlussViewToDatum(const FlussConverter *conv, const fluss_column_view *view,
				 int32_t row)
{
	fluss_value value;

	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			return BoolGetDatum(fluss_column_boolean(view, row));
		case FLUSS_CONVERT_INT2:
			return Int16GetDatum((int16) view_integer(view, row));
		case FLUSS_CONVERT_INT4:
			return Int32GetDatum((int32) view_integer(view, row));
		case FLUSS_CONVERT_INT8:
			return Int64GetDatum(view_integer(view, row));
		case FLUSS_CONVERT_FLOAT4:
			return Float4GetDatum(fluss_column_float4(view, row));
		case FLUSS_CONVERT_FLOAT8:
			return Float8GetDatum(fluss_column_float8(view, row));
		case FLUSS_CONVERT_DATE:
			return datum_of_date(conv, view_integer(view, row));
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return view_timestamp(conv, view, row);
		case FLUSS_CONVERT_ARRAY:
		case FLUSS_CONVERT_NESTED_JSON:
		case FLUSS_CONVERT_NESTED_JSONB:
			return FlussNestedViewToDatum(conv, view, row);
		default:
			fluss_column_value(view, row, &value);
			return FlussToDatum(conv, &value);
	}
}
