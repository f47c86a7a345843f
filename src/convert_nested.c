/*
 * convert_nested.c
 *	  Values of nested types from Fluss to PostgreSQL: arrays of scalars as
 *	  arrays, and every nested type as jsonb or json.
 *
 * In JSON, numbers are exact, what JSON has no number for is a string, bytes
 * are \x and hex digits, and dates and times are what PostgreSQL's own JSON
 * functions print.  A ROW is an object by the names of its fields; so is a MAP,
 * whose keys are the text of what they would be as values.
 */
#include "convert.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

/* ----------------------------------------------------------------- setup */

typedef struct ScalarInJson
{
	FlussConversion kind;
	Oid			pgtype;
} ScalarInJson;

/* Through which PostgreSQL type a scalar goes into JSON and comes back. */
static ScalarInJson
scalar_in_json(const fluss_type *type)
{
	static const ScalarInJson by_type[] = {
		[FLUSS_BOOLEAN] = {FLUSS_CONVERT_BOOL, BOOLOID},
		[FLUSS_TINYINT] = {FLUSS_CONVERT_INT_NUMERIC, NUMERICOID},
		[FLUSS_SMALLINT] = {FLUSS_CONVERT_INT_NUMERIC, NUMERICOID},
		[FLUSS_INTEGER] = {FLUSS_CONVERT_INT_NUMERIC, NUMERICOID},
		[FLUSS_BIGINT] = {FLUSS_CONVERT_INT_NUMERIC, NUMERICOID},
		[FLUSS_FLOAT] = {FLUSS_CONVERT_FLOAT4, FLOAT4OID},
		[FLUSS_DOUBLE] = {FLUSS_CONVERT_FLOAT8, FLOAT8OID},
		[FLUSS_DECIMAL] = {FLUSS_CONVERT_DECIMAL, NUMERICOID},
		[FLUSS_CHAR] = {FLUSS_CONVERT_TEXT, TEXTOID},
		[FLUSS_STRING] = {FLUSS_CONVERT_TEXT, TEXTOID},
		[FLUSS_BINARY] = {FLUSS_CONVERT_BYTEA, BYTEAOID},
		[FLUSS_BYTES] = {FLUSS_CONVERT_BYTEA, BYTEAOID},
		[FLUSS_DATE] = {FLUSS_CONVERT_DATE, DATEOID},
		[FLUSS_TIME] = {FLUSS_CONVERT_TIME, TIMEOID},
		[FLUSS_TIMESTAMP] = {FLUSS_CONVERT_TIMESTAMP, TIMESTAMPOID},
		[FLUSS_TIMESTAMP_LTZ] = {FLUSS_CONVERT_TIMESTAMPTZ, TIMESTAMPTZOID}
	};

	return by_type[type->id];
}

/* Where a part is in its column, for messages. */
static const char *
part_path(const FlussConverter *whole, int i)
{
	const char *path = whole->path != NULL ? whole->path : whole->attr->name;

	switch (whole->type->id)
	{
		case FLUSS_ARRAY:
			return psprintf("%s[]", path);
		case FLUSS_MAP:
			return i == 0 ? psprintf("the keys of %s", path) :
				psprintf("%s{}", path);
		default:
			return psprintf("%s.%s", path, whole->type->children[i].name);
	}
}

void
FlussNestedInit(FlussConverter *conv)
{
	const fluss_type *type = conv->type;
	FlussConverter *children;

	if (conv->kind < FLUSS_CONVERT_ARRAY)
		return;
	children = palloc0(sizeof(FlussConverter) * Max(type->nchildren, 1));
	conv->children = children;
	if (conv->kind == FLUSS_CONVERT_ARRAY)
	{
		Oid			element = get_element_type(conv->attr->type);

		FlussConverterInitPart(&children[0], conv, &type->children[0].type,
							   FlussConversionFor(&type->children[0].type,
												  element),
							   element, conv->attr->typmod, part_path(conv, 0));
		get_typlenbyvalalign(element, &conv->typlen, &conv->typbyval,
							 &conv->typalign);
		return;
	}
	for (int i = 0; i < type->nchildren; i++)
	{
		const fluss_type *part = &type->children[i].type;
		ScalarInJson scalar = {conv->kind, conv->attr->type};

		if (part->id < FLUSS_ARRAY)
			scalar = scalar_in_json(part);
		FlussConverterInitPart(&children[i], conv, part, scalar.kind,
							   scalar.pgtype, -1, part_path(conv, i));
	}
}

/* ---------------------------------------------------------------- arrays */

/* The elements of a view's value: count of them from *first on. */
static int32
view_elements(const fluss_column_view *view, int32 row, int32 *first)
{
	fluss_column_view bounds = {.data = view->offsets};

	*first = fluss_column_int32(&bounds, row);
	return fluss_column_int32(&bounds, row + 1) - *first;
}

static Datum
make_array(const FlussConverter *conv, Datum *datums, bool *nulls, int n)
{
	Oid			element = conv->children[0].attr->type;
	int			lower = 1;

	return PointerGetDatum(construct_md_array(datums, nulls, 1, &n, &lower,
											  element, conv->typlen,
											  conv->typbyval, conv->typalign));
}

static void
allocate_elements(const FlussConverter *conv, int32 n, Datum **datums,
				  bool **nulls)
{
	if (n > MaxArraySize)
		FlussRefuseValue(conv, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "is too large");
	*datums = palloc(sizeof(Datum) * n);
	*nulls = palloc(sizeof(bool) * n);
}

static Datum
array_of_value(const FlussConverter *conv, const fluss_value *value)
{
	int32		n = value->u.nested.n;
	Datum	   *datums;
	bool	   *nulls;

	if (n == 0)
		return PointerGetDatum(construct_empty_array(conv->children[0].attr->type));
	allocate_elements(conv, n, &datums, &nulls);
	for (int32 i = 0; i < n; i++)
	{
		const fluss_value *item = &value->u.nested.items[i];

		nulls[i] = item->is_null;
		if (!item->is_null)
			datums[i] = FlussToDatum(&conv->children[0], item);
	}
	return make_array(conv, datums, nulls, n);
}

/* Straight from the elements' column, without fluss_values. */
static Datum
array_of_view(const FlussConverter *conv, const fluss_column_view *view,
			  int32 row)
{
	const fluss_column_view *elements = view->children;
	int32		first;
	int32		n = view_elements(view, row, &first);
	Datum	   *datums;
	bool	   *nulls;

	if (n == 0)
		return PointerGetDatum(construct_empty_array(conv->children[0].attr->type));
	allocate_elements(conv, n, &datums, &nulls);
	for (int32 i = 0; i < n; i++)
	{
		nulls[i] = fluss_column_is_null(elements, first + i);
		if (!nulls[i])
			datums[i] = FlussViewToDatum(&conv->children[0], elements,
										 first + i);
	}
	return make_array(conv, datums, nulls, n);
}

/* ---------------------------------------------------------- JSON: scalars */

typedef struct JsonText
{
	bool		quoted;			/* else a number or a boolean */
	const char *data;			/* in the database's encoding */
	int			size;
} JsonText;

static JsonText
json_text(bool quoted, const char *data)
{
	JsonText	chars = {quoted, data, strlen(data)};

	return chars;
}

static JsonText
json_text_of_float(const FlussConverter *conv, Datum datum)
{
	char	   *chars = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);
	double		number;

	if (conv->kind == FLUSS_CONVERT_FLOAT4)
	{
		number = DatumGetFloat4(datum);
		float_to_shortest_decimal_buf(DatumGetFloat4(datum), chars);
	}
	else
	{
		number = DatumGetFloat8(datum);
		double_to_shortest_decimal_buf(number, chars);
	}
	return json_text(!isfinite(number), chars);
}

static JsonText
json_text_of_bytes(Datum datum)
{
	const struct varlena *bytes = (struct varlena *) DatumGetPointer(datum);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);
	JsonText	chars = {true, NULL, 2 + 2 * size};
	char	   *data = palloc(3 + 2 * size);

	data[0] = '\\';
	data[1] = 'x';
	hex_encode(VARDATA_ANY(bytes), size, data + 2);
	data[chars.size] = '\0';
	chars.data = data;
	return chars;
}

static JsonText
json_text_of_string(Datum datum)
{
	const struct varlena *string = (struct varlena *) DatumGetPointer(datum);
	JsonText	chars = {true, VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string)};

	return chars;
}

static JsonText
scalar_text(const FlussConverter *conv, const fluss_value *value)
{
	Datum		datum = FlussToDatum(conv, value);

	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			return json_text(false, DatumGetBool(datum) ? "true" : "false");
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
			return json_text(false, DatumGetCString(DirectFunctionCall1(numeric_out,
																		datum)));
		case FLUSS_CONVERT_FLOAT4:
		case FLUSS_CONVERT_FLOAT8:
			return json_text_of_float(conv, datum);
		case FLUSS_CONVERT_BYTEA:
			return json_text_of_bytes(datum);
		case FLUSS_CONVERT_TEXT:
			return json_text_of_string(datum);
		default:
			return json_text(true, JsonEncodeDateTime(palloc(MAXDATELEN + 1),
													  datum, conv->attr->type,
													  NULL));
	}
}

static void
scalar_jsonb(const FlussConverter *conv, const fluss_value *value,
			 JsonbValue *out)
{
	JsonText	chars;

	switch (conv->kind)
	{
		case FLUSS_CONVERT_BOOL:
			out->type = jbvBool;
			out->val.boolean = value->u.boolean;
			return;
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
			out->type = jbvNumeric;
			out->val.numeric = DatumGetNumeric(FlussToDatum(conv, value));
			return;
		default:
			chars = scalar_text(conv, value);
	}
	if (chars.quoted)
	{
		out->type = jbvString;
		out->val.string.val = unconstify(char *, chars.data);
		out->val.string.len = chars.size;
		return;
	}
	out->type = jbvNumeric;
	out->val.numeric =
		DatumGetNumeric(DirectFunctionCall3(numeric_in,
											CStringGetDatum(chars.data),
											ObjectIdGetDatum(InvalidOid),
											Int32GetDatum(-1)));
}

/* ------------------------------------------------------ JSON: everything */

/* What is being made: jsonb, or the text of a json. */
typedef struct JsonMaker
{
	bool		binary;
	JsonbParseState *state;
	JsonbValue *result;
	StringInfoData text;
} JsonMaker;

static void put_value(JsonMaker *out, const FlussConverter *conv,
					  const fluss_value *value, JsonbIteratorToken place);

static void
put_quoted(JsonMaker *out, const JsonText *chars)
{
	escape_json(&out->text, pnstrdup(chars->data, chars->size));
}

static void
put_scalar(JsonMaker *out, const FlussConverter *conv,
		   const fluss_value *value, JsonbIteratorToken place)
{
	JsonbValue	jsonb;
	JsonText	chars;

	if (out->binary)
	{
		if (value->is_null)
			jsonb.type = jbvNull;
		else
			scalar_jsonb(conv, value, &jsonb);
		out->result = pushJsonbValue(&out->state, place, &jsonb);
		return;
	}
	if (value->is_null)
	{
		appendStringInfoString(&out->text, "null");
		return;
	}
	chars = scalar_text(conv, value);
	if (chars.quoted)
		put_quoted(out, &chars);
	else
		appendBinaryStringInfo(&out->text, chars.data, chars.size);
}

static void
put_bracket(JsonMaker *out, JsonbIteratorToken token, char bracket)
{
	if (out->binary)
		out->result = pushJsonbValue(&out->state, token, NULL);
	else
		appendStringInfoChar(&out->text, bracket);
}

static void
put_comma(JsonMaker *out, int32 i)
{
	if (!out->binary && i > 0)
		appendStringInfoChar(&out->text, ',');
}

static void
put_array(JsonMaker *out, const FlussConverter *conv, const fluss_value *value)
{
	put_bracket(out, WJB_BEGIN_ARRAY, '[');
	for (int32 i = 0; i < value->u.nested.n; i++)
	{
		put_comma(out, i);
		put_value(out, &conv->children[0], &value->u.nested.items[i], WJB_ELEM);
	}
	put_bracket(out, WJB_END_ARRAY, ']');
}

static void
put_member(JsonMaker *out, const JsonText *key, const FlussConverter *conv,
		   const fluss_value *value)
{
	JsonbValue	name;

	if (out->binary)
	{
		name.type = jbvString;
		name.val.string.val = unconstify(char *, key->data);
		name.val.string.len = key->size;
		out->result = pushJsonbValue(&out->state, WJB_KEY, &name);
	}
	else
	{
		put_quoted(out, key);
		appendStringInfoChar(&out->text, ':');
	}
	put_value(out, conv, value, WJB_VALUE);
}

static int
compare_texts(const void *a, const void *b)
{
	const JsonText *x = a;
	const JsonText *y = b;
	int			order = memcmp(x->data, y->data, Min(x->size, y->size));

	return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

/* Of two equal keys of an object all but one would be lost. */
static void
refuse_equal_keys(const FlussConverter *conv, const JsonText *keys, int32 n)
{
	JsonText   *sorted = palloc(sizeof(JsonText) * n);

	memcpy(sorted, keys, sizeof(JsonText) * n);
	qsort(sorted, n, sizeof(JsonText), compare_texts);
	for (int32 i = 1; i < n; i++)
	{
		if (compare_texts(&sorted[i - 1], &sorted[i]) == 0)
			FlussRefuseValue(conv, ERRCODE_DUPLICATE_JSON_OBJECT_KEY_VALUE,
							 "has a map with two keys that are the same in JSON");
	}
	pfree(sorted);
}

static void
put_map(JsonMaker *out, const FlussConverter *conv, const fluss_value *value)
{
	int32		n = value->u.nested.n;
	JsonText   *keys = palloc(sizeof(JsonText) * Max(n, 1));

	for (int32 i = 0; i < n; i++)
	{
		const fluss_value *key = &value->u.nested.items[2 * i];

		if (key->is_null)
			FlussRefuseValue(conv, ERRCODE_NULL_VALUE_NOT_ALLOWED,
							 "has a map with a null key");
		keys[i] = scalar_text(&conv->children[0], key);
	}
	if (n > 1)
		refuse_equal_keys(conv, keys, n);
	put_bracket(out, WJB_BEGIN_OBJECT, '{');
	for (int32 i = 0; i < n; i++)
	{
		put_comma(out, i);
		put_member(out, &keys[i], &conv->children[1],
				   &value->u.nested.items[2 * i + 1]);
	}
	put_bracket(out, WJB_END_OBJECT, '}');
}

static void
put_row(JsonMaker *out, const FlussConverter *conv, const fluss_value *value)
{
	put_bracket(out, WJB_BEGIN_OBJECT, '{');
	for (int32 i = 0; i < value->u.nested.n; i++)
	{
		const char *field = conv->type->children[i].name;
		JsonText	name = json_text(true, pg_any_to_server(field, strlen(field),
															PG_UTF8));

		put_comma(out, i);
		put_member(out, &name, &conv->children[i], &value->u.nested.items[i]);
	}
	put_bracket(out, WJB_END_OBJECT, '}');
}

static void
put_value(JsonMaker *out, const FlussConverter *conv,
		  const fluss_value *value, JsonbIteratorToken place)
{
	if (value->is_null || conv->type->id < FLUSS_ARRAY)
		put_scalar(out, conv, value, place);
	else if (conv->type->id == FLUSS_ARRAY)
		put_array(out, conv, value);
	else if (conv->type->id == FLUSS_MAP)
		put_map(out, conv, value);
	else
		put_row(out, conv, value);
}

Datum
FlussNestedToDatum(const FlussConverter *conv, const fluss_value *value)
{
	JsonMaker	out = {0};
	ErrorContextCallback callback;
	Datum		result;

	if (conv->kind == FLUSS_CONVERT_ARRAY)
		return array_of_value(conv, value);

	out.binary = conv->kind == FLUSS_CONVERT_NESTED_JSONB;
	if (!out.binary)
		initStringInfo(&out.text);
	FlussPushColumnContext(&callback, conv);
	put_value(&out, conv, value, WJB_ELEM);
	if (out.binary)
		result = JsonbPGetDatum(JsonbValueToJsonb(out.result));
	else
		result = PointerGetDatum(cstring_to_text_with_len(out.text.data,
														  out.text.len));
	FlussPopColumnContext(&callback);
	return result;
}

Datum
FlussNestedViewToDatum(const FlussConverter *conv,
					   const fluss_column_view *view, int32_t row)
{
	fluss_host	host;
	fluss_value value;
	fluss_error err;

	if (conv->kind == FLUSS_CONVERT_ARRAY)
		return array_of_view(conv, view, row);
	host = FlussHost(CurrentMemoryContext);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_column_nested(&host, view, row, &value, &err), err, NULL);
	return FlussNestedToDatum(conv, &value);
}
