/*
 * convert_nested_write.c
 *	  Values of nested types from PostgreSQL to Fluss: arrays, and jsonb or
 *	  json of the form that convert_nested.c gives them.
 *
 * A JSON value comes as a sequence of events, from core's iterator of jsonb or
 * its parser of json; they are put together here along the Fluss type.  What
 * the type does not expect ends it, so that no value nests deeper than its
 * type.  Ranges and lengths are the client's business, as for other columns.
 */
#include "convert.h"

#include "catalog/pg_type.h"
#include "common/jsonapi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/jsonb.h"
#include "utils/jsonfuncs.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#define FIRST_CAPACITY 8

/* ---------------------------------------------------------------- arrays */

static void
array_to_value(const FlussConverter *conv, Datum datum, fluss_value *value)
{
	ArrayType  *array = DatumGetArrayTypeP(datum);
	const FlussConverter *element = &conv->children[0];
	fluss_value *items;
	Datum	   *datums;
	bool	   *nulls;
	int			n;

	if (ARR_NDIM(array) > 1)
		FlussRefuseWrite(conv, ERRCODE_ARRAY_SUBSCRIPT_ERROR,
						 "has more than the one dimension of");
	if (ARR_NDIM(array) == 1 && ARR_LBOUND(array)[0] != 1)
		FlussRefuseWrite(conv, ERRCODE_ARRAY_SUBSCRIPT_ERROR,
						 "does not begin with index 1, as it must for");
	deconstruct_array(array, element->attr->type, conv->typlen,
					  conv->typbyval, conv->typalign, &datums, &nulls, &n);
	items = palloc0(sizeof(fluss_value) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		items[i].is_null = nulls[i];
		if (!nulls[i])
			FlussFromDatum(element, datums[i], &items[i]);
	}
	value->u.nested.items = items;
	value->u.nested.n = n;
}

/* ---------------------------------------------------------- JSON: scalars */

typedef struct JsonScalar
{
	enum jbvType type;			/* null, string, numeric or boolean */
	bool		boolean;
	Numeric		numeric;		/* of jsonb; NULL: a number as its text */
	char	   *text;			/* of strings, and of numbers of json */
} JsonScalar;

static void refuse_kind(const FlussConverter *conv, const char *found)
			__attribute__((noreturn));

static void
refuse_kind(const FlussConverter *conv, const char *found)
{
	FlussRefuseWrite(conv, ERRCODE_INVALID_PARAMETER_VALUE,
					 psprintf("has %s in place of", found));
}

static void refuse_scalar(const FlussConverter *conv,
						  const JsonScalar *scalar)
			__attribute__((noreturn));

static void
refuse_scalar(const FlussConverter *conv, const JsonScalar *scalar)
{
	refuse_kind(conv, scalar->type == jbvNull ? "JSON null" :
				scalar->type == jbvString ? "a JSON string" :
				scalar->type == jbvBool ? "a JSON boolean" : "a JSON number");
}

static Datum
number_of_text(char *chars)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(chars),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

static bool
exact_number(const JsonScalar *scalar, bool is_key, Datum *datum)
{
	if (scalar->type != jbvNumeric && !is_key)
		return false;
	*datum = scalar->numeric != NULL ? NumericGetDatum(scalar->numeric) :
		number_of_text(scalar->text);
	return true;
}

static bool
float_number(const FlussConverter *conv, const JsonScalar *scalar, bool is_key,
			 Datum *datum)
{
	char	   *chars = scalar->text;

	if (scalar->type == jbvString && !is_key &&
		strcmp(chars, "NaN") != 0 && strcmp(chars, "Infinity") != 0 &&
		strcmp(chars, "-Infinity") != 0)
		return false;
	if (scalar->type != jbvString && scalar->type != jbvNumeric)
		return false;
	if (scalar->numeric != NULL)
		chars = DatumGetCString(DirectFunctionCall1(numeric_out,
												   NumericGetDatum(scalar->numeric)));
	*datum = DirectFunctionCall1(conv->kind == FLUSS_CONVERT_FLOAT4 ?
								 float4in : float8in, CStringGetDatum(chars));
	return true;
}

/* Input functions round to microseconds; this says when they would. */
static bool
is_finer_than_microseconds(const char *chars)
{
	for (; (chars = strchr(chars, '.')) != NULL; chars++)
	{
		size_t		digits = strspn(chars + 1, "0123456789");

		if (digits > 6 && strspn(chars + 7, "0") < digits - 6)
			return true;
	}
	return false;
}

static Datum
date_or_time(const FlussConverter *conv, char *chars)
{
	PGFunction	input;

	switch (conv->kind)
	{
		case FLUSS_CONVERT_DATE:
			return DirectFunctionCall1(date_in, CStringGetDatum(chars));
		case FLUSS_CONVERT_TIME:
			input = time_in;
			break;
		case FLUSS_CONVERT_TIMESTAMP:
			input = timestamp_in;
			break;
		default:
			input = timestamptz_in;
	}
	if (is_finer_than_microseconds(chars))
		FlussRefuseValue(conv, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE,
						 "has digits below the microsecond");
	return DirectFunctionCall3(input, CStringGetDatum(chars),
							   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

/*
 * The scalar as a Datum of the converter's PostgreSQL type; false if it is of
 * another kind.  A map's key is always a string.
 */
static bool
datum_of_scalar(const FlussConverter *conv, const JsonScalar *scalar,
				bool is_key, Datum *datum)
{
	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			*datum = BoolGetDatum(is_key ? strcmp(scalar->text, "true") == 0 :
								  scalar->boolean);
			return is_key ? DatumGetBool(*datum) ||
				strcmp(scalar->text, "false") == 0 : scalar->type == jbvBool;
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
			return exact_number(scalar, is_key, datum);
		case FLUSS_CONVERT_FLOAT4:
		case FLUSS_CONVERT_FLOAT8:
			return float_number(conv, scalar, is_key, datum);
		default:
			break;
	}
	if (scalar->type != jbvString)
		return false;
	if (conv->kind == FLUSS_CONVERT_TEXT)
		*datum = CStringGetTextDatum(scalar->text);
	else if (conv->kind != FLUSS_CONVERT_BYTEA)
		*datum = date_or_time(conv, scalar->text);
	else if (strncmp(scalar->text, "\\x", 2) == 0)
		*datum = DirectFunctionCall1(byteain, CStringGetDatum(scalar->text));
	else
		FlussRefuseWrite(conv, ERRCODE_INVALID_TEXT_REPRESENTATION,
						 "is not \\x and hexadecimal digits in place of");
	return true;
}

/* ------------------------------------------------------ JSON: everything */

/* An ARRAY, MAP or ROW that has begun. */
typedef struct JsonFrame
{
	const FlussConverter *conv;
	fluss_value *value;			/* that it will be */
	fluss_value *items;			/* of a ROW all, else the first n */
	int			n;
	int			capacity;
	int			field;			/* of a ROW: the one that comes next */
	bool	   *given;			/* of a ROW: fields that were there */
} JsonFrame;

typedef struct JsonInput
{
	const FlussConverter *column;
	fluss_value *value;			/* of the column */
	int			depth;			/* frames in use */
	JsonFrame	frames[FLUSS_MAX_NESTING + 1];
} JsonInput;

static fluss_value *
append_item(JsonFrame *frame)
{
	if (frame->n == frame->capacity)
	{
		frame->capacity = Max(2 * frame->capacity, FIRST_CAPACITY);
		if (frame->items == NULL)
			frame->items = palloc(sizeof(fluss_value) * frame->capacity);
		else
			frame->items = repalloc(frame->items,
									sizeof(fluss_value) * frame->capacity);
	}
	memset(&frame->items[frame->n], 0, sizeof(fluss_value));
	return &frame->items[frame->n++];
}

/* Where the next value goes, and what it must be. */
static fluss_value *
next_place(JsonInput *in, const FlussConverter **conv)
{
	JsonFrame  *frame = &in->frames[in->depth - 1];

	if (in->depth == 0)
	{
		*conv = in->column;
		return in->value;
	}
	switch (frame->conv->type->id)
	{
		case FLUSS_ARRAY:
			*conv = &frame->conv->children[0];
			return append_item(frame);
		case FLUSS_MAP:
			*conv = &frame->conv->children[1];
			return append_item(frame);
		default:
			*conv = &frame->conv->children[frame->field];
			return &frame->items[frame->field];
	}
}

static void
on_scalar(JsonInput *in, const JsonScalar *scalar)
{
	const FlussConverter *conv;
	fluss_value *value = next_place(in, &conv);
	Datum		datum;

	value->is_null = scalar->type == jbvNull;
	if (value->is_null && in->depth > 0)
		return;
	if (conv->type->id >= FLUSS_ARRAY ||
		!datum_of_scalar(conv, scalar, false, &datum))
		refuse_scalar(conv, scalar);
	FlussFromDatum(conv, datum, value);
}

static void
on_begin(JsonInput *in, bool is_object)
{
	const FlussConverter *conv;
	fluss_value *value = next_place(in, &conv);
	JsonFrame  *frame = &in->frames[in->depth];

	if (conv->type->id < FLUSS_ARRAY ||
		is_object != (conv->type->id != FLUSS_ARRAY))
		refuse_kind(conv, is_object ? "a JSON object" : "a JSON array");
	if (in->depth > FLUSS_MAX_NESTING)
		elog(ERROR, "type of column \"%s\" is nested too deeply",
			 conv->attr->name);
	memset(frame, 0, sizeof(*frame));
	frame->conv = conv;
	frame->value = value;
	value->is_null = false;
	if (conv->type->id == FLUSS_ROW)
	{
		frame->n = conv->type->nchildren;
		frame->items = palloc0(sizeof(fluss_value) * Max(frame->n, 1));
		frame->given = palloc0(sizeof(bool) * Max(frame->n, 1));
		for (int i = 0; i < frame->n; i++)
			frame->items[i].is_null = true;
	}
	in->depth++;
}

/* text is in the database's encoding. */
static void
on_row_field(JsonFrame *frame, const char *chars)
{
	const fluss_type *type = frame->conv->type;
	const char *name = pg_server_to_any(chars, strlen(chars), PG_UTF8);

	for (frame->field = 0; frame->field < type->nchildren; frame->field++)
	{
		if (strcmp(type->children[frame->field].name, name) == 0)
			break;
	}
	if (frame->field == type->nchildren)
		FlussRefuseWrite(frame->conv, ERRCODE_INVALID_PARAMETER_VALUE,
						 psprintf("has a field \"%s\", which is not one of",
								  chars));
	if (frame->given[frame->field])
		FlussRefuseValue(frame->conv, ERRCODE_DUPLICATE_JSON_OBJECT_KEY_VALUE,
						 psprintf("has the field \"%s\" twice", chars));
	frame->given[frame->field] = true;
}

static void
on_key(JsonInput *in, char *chars)
{
	JsonFrame  *frame = &in->frames[in->depth - 1];
	const FlussConverter *conv = &frame->conv->children[0];
	JsonScalar	key = {.type = jbvString,.text = chars};
	Datum		datum;

	if (frame->conv->type->id == FLUSS_ROW)
	{
		on_row_field(frame, chars);
		return;
	}
	if (!datum_of_scalar(conv, &key, true, &datum))
		FlussRefuseWrite(conv, ERRCODE_INVALID_TEXT_REPRESENTATION,
						 "has a key that is not a value of");
	FlussFromDatum(conv, datum, append_item(frame));
}

static int
compare_keys(const void *a, const void *b, void *arg)
{
	const fluss_value *x = *(const fluss_value *const *) a;
	const fluss_value *y = *(const fluss_value *const *) b;
	const fluss_type *type = arg;
	int			order;

	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			return x->u.boolean - y->u.boolean;
		case FLUSS_FLOAT:
			return memcmp(&x->u.float4, &y->u.float4, sizeof(float));
		case FLUSS_DOUBLE:
			return memcmp(&x->u.float8, &y->u.float8, sizeof(double));
		case FLUSS_DECIMAL:
			return memcmp(&x->u.decimal, &y->u.decimal, sizeof(x->u.decimal));
		case FLUSS_CHAR:
		case FLUSS_STRING:
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			order = memcmp(x->u.bytes.data, y->u.bytes.data,
						   Min(x->u.bytes.size, y->u.bytes.size));
			return order != 0 ? order : (x->u.bytes.size > y->u.bytes.size) -
				(x->u.bytes.size < y->u.bytes.size);
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			if (x->u.timestamp.millis != y->u.timestamp.millis)
				return x->u.timestamp.millis > y->u.timestamp.millis ? 1 : -1;
			return x->u.timestamp.nanos - y->u.timestamp.nanos;
		default:
			return (x->u.integer > y->u.integer) -
				(x->u.integer < y->u.integer);
	}
}

/* Keys that differ as text can be the same value, such as 1 and 1.0. */
static void
refuse_equal_keys(const JsonFrame *frame)
{
	const FlussConverter *key = &frame->conv->children[0];
	int			n = frame->n / 2;
	const fluss_value **keys = palloc(sizeof(*keys) * Max(n, 1));

	for (int i = 0; i < n; i++)
		keys[i] = &frame->items[2 * i];
	qsort_arg(keys, n, sizeof(*keys), compare_keys,
			  unconstify(fluss_type *, key->type));
	for (int i = 1; i < n; i++)
	{
		if (compare_keys(&keys[i - 1], &keys[i],
						 unconstify(fluss_type *, key->type)) == 0)
			FlussRefuseValue(frame->conv,
							 ERRCODE_DUPLICATE_JSON_OBJECT_KEY_VALUE,
							 "has a map with two keys that are the same value");
	}
	pfree(keys);
}

static void
on_end(JsonInput *in)
{
	JsonFrame  *frame = &in->frames[--in->depth];

	if (frame->conv->type->id == FLUSS_MAP)
		refuse_equal_keys(frame);
	frame->value->u.nested.items = frame->items;
	frame->value->u.nested.n = frame->conv->type->id == FLUSS_MAP ?
		frame->n / 2 : frame->n;
}

/* ----------------------------------------------------------------- jsonb */

static void
on_jsonb_scalar(JsonInput *in, const JsonbValue *jsonb)
{
	JsonScalar	scalar = {.type = jsonb->type};

	if (jsonb->type == jbvString)
		scalar.text = pnstrdup(jsonb->val.string.val, jsonb->val.string.len);
	else if (jsonb->type == jbvNumeric)
		scalar.numeric = jsonb->val.numeric;
	else if (jsonb->type == jbvBool)
		scalar.boolean = jsonb->val.boolean;
	on_scalar(in, &scalar);
}

static void
read_jsonb(JsonInput *in, Datum datum)
{
	Jsonb	   *jsonb = DatumGetJsonbP(datum);
	JsonbIterator *iterator = JsonbIteratorInit(&jsonb->root);
	JsonbIteratorToken token;
	JsonbValue	value;

	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		switch (token)
		{
			case WJB_BEGIN_ARRAY:
				/* a scalar comes as the one element of such an array */
				if (!value.val.array.rawScalar)
					on_begin(in, false);
				break;
			case WJB_BEGIN_OBJECT:
				on_begin(in, true);
				break;
			case WJB_KEY:
				on_key(in, pnstrdup(value.val.string.val,
									value.val.string.len));
				break;
			case WJB_ELEM:
			case WJB_VALUE:
				on_jsonb_scalar(in, &value);
				break;
			default:
				on_end(in);
		}
	}
}

/* ------------------------------------------------------------------ json */

static fluss_json_result
json_object_start(void *state)
{
	on_begin(state, true);
	return FLUSS_JSON_SUCCESS;
}

static fluss_json_result
json_array_start(void *state)
{
	on_begin(state, false);
	return FLUSS_JSON_SUCCESS;
}

static fluss_json_result
json_end(void *state)
{
	on_end(state);
	return FLUSS_JSON_SUCCESS;
}

static fluss_json_result
json_field_start(void *state, char *name, bool isnull)
{
	on_key(state, pstrdup(name));
	return FLUSS_JSON_SUCCESS;
}

static fluss_json_result
json_scalar(void *state, char *token, JsonTokenType type)
{
	JsonScalar	scalar = {.type = jbvNull};

	switch (type)
	{
		case JSON_TOKEN_TRUE:
		case JSON_TOKEN_FALSE:
			scalar.type = jbvBool;
			scalar.boolean = type == JSON_TOKEN_TRUE;
			break;
		case JSON_TOKEN_NUMBER:
		case JSON_TOKEN_STRING:
			scalar.type = type == JSON_TOKEN_STRING ? jbvString : jbvNumeric;
			scalar.text = pstrdup(token);
			break;
		default:
			break;
	}
	on_scalar(state, &scalar);
	return FLUSS_JSON_SUCCESS;
}

static void
read_json(JsonInput *in, Datum datum)
{
	JsonSemAction actions = {
		.semstate = in,
		.object_start = json_object_start,
		.object_end = json_end,
		.array_start = json_array_start,
		.array_end = json_end,
		.object_field_start = json_field_start,
		.scalar = json_scalar
	};

	pg_parse_json_or_ereport(fluss_json_lexer(DatumGetTextPP(datum)), &actions);
}

void
FlussNestedFromDatum(const FlussConverter *conv, Datum datum,
					 fluss_value *value)
{
	JsonInput	in;
	ErrorContextCallback callback;

	if (conv->kind == FLUSS_CONVERT_ARRAY)
	{
		array_to_value(conv, datum, value);
		return;
	}
	in.column = conv;
	in.value = value;
	in.depth = 0;
	FlussPushColumnContext(&callback, conv);
	if (conv->kind == FLUSS_CONVERT_NESTED_JSONB)
		read_jsonb(&in, datum);
	else
		read_json(&in, datum);
	FlussPopColumnContext(&callback);
}
