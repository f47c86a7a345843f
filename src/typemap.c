/*
 * typemap.c
 *	  Which Fluss types and PostgreSQL types go together.
 */
#include "fluss_fdw.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#define UUID_SIZE 16
#define MAX_CHAR_LENGTH 10485760	/* of varchar(n) */

typedef struct TypePair
{
	fluss_type_id id;
	Oid			pgtype;
	FlussConversion conversion;
} TypePair;

/* For each Fluss type first the PostgreSQL type that is nearest. */
static const TypePair type_pairs[] = {
	{FLUSS_BOOLEAN, BOOLOID, FLUSS_CONVERT_BOOL},
	{FLUSS_TINYINT, INT2OID, FLUSS_CONVERT_INT2},
	{FLUSS_TINYINT, INT4OID, FLUSS_CONVERT_INT4},
	{FLUSS_TINYINT, INT8OID, FLUSS_CONVERT_INT8},
	{FLUSS_SMALLINT, INT2OID, FLUSS_CONVERT_INT2},
	{FLUSS_SMALLINT, INT4OID, FLUSS_CONVERT_INT4},
	{FLUSS_SMALLINT, INT8OID, FLUSS_CONVERT_INT8},
	{FLUSS_INTEGER, INT4OID, FLUSS_CONVERT_INT4},
	{FLUSS_INTEGER, INT8OID, FLUSS_CONVERT_INT8},
	{FLUSS_BIGINT, INT8OID, FLUSS_CONVERT_INT8},
	{FLUSS_BIGINT, NUMERICOID, FLUSS_CONVERT_INT_NUMERIC},
	{FLUSS_FLOAT, FLOAT4OID, FLUSS_CONVERT_FLOAT4},
	{FLUSS_DOUBLE, FLOAT8OID, FLUSS_CONVERT_FLOAT8},
	{FLUSS_DECIMAL, NUMERICOID, FLUSS_CONVERT_DECIMAL},
	{FLUSS_STRING, TEXTOID, FLUSS_CONVERT_TEXT},
	{FLUSS_STRING, VARCHAROID, FLUSS_CONVERT_VARCHAR},
	{FLUSS_STRING, JSONOID, FLUSS_CONVERT_JSON},
	{FLUSS_STRING, JSONBOID, FLUSS_CONVERT_JSONB},
	{FLUSS_CHAR, VARCHAROID, FLUSS_CONVERT_VARCHAR},
	{FLUSS_CHAR, TEXTOID, FLUSS_CONVERT_TEXT},
	{FLUSS_CHAR, BPCHAROID, FLUSS_CONVERT_BPCHAR},
	{FLUSS_BINARY, BYTEAOID, FLUSS_CONVERT_BYTEA},
	{FLUSS_BINARY, UUIDOID, FLUSS_CONVERT_UUID},
	{FLUSS_BYTES, BYTEAOID, FLUSS_CONVERT_BYTEA},
	{FLUSS_DATE, DATEOID, FLUSS_CONVERT_DATE},
	{FLUSS_TIME, TIMEOID, FLUSS_CONVERT_TIME},
	{FLUSS_TIMESTAMP, TIMESTAMPOID, FLUSS_CONVERT_TIMESTAMP},
	{FLUSS_TIMESTAMP_LTZ, TIMESTAMPTZOID, FLUSS_CONVERT_TIMESTAMPTZ}
};

/* The type of a true array's elements, or InvalidOid. */
static Oid
array_element(Oid pgtype)
{
	Oid			element = get_element_type(pgtype);

	/* int2vector and oidvector are none */
	return OidIsValid(element) && get_array_type(element) == pgtype ?
		element : InvalidOid;
}

/* The keys of an object are strings: no key of a map may be nested itself. */
static bool
fits_json(const fluss_type *type)
{
	if (type->id == FLUSS_MAP && type->children[0].type.id >= FLUSS_ARRAY)
		return false;
	for (int i = 0; i < type->nchildren; i++)
	{
		if (!fits_json(&type->children[i].type))
			return false;
	}
	return true;
}

static FlussConversion
nested_conversion(const fluss_type *type, Oid pgtype)
{
	Oid			element;

	if (pgtype == JSONBOID || pgtype == JSONOID)
		return !fits_json(type) ? FLUSS_CONVERT_NONE :
			pgtype == JSONBOID ? FLUSS_CONVERT_NESTED_JSONB :
			FLUSS_CONVERT_NESTED_JSON;
	element = array_element(pgtype);
	if (type->id != FLUSS_ARRAY || !OidIsValid(element) ||
		type->children[0].type.id >= FLUSS_ARRAY ||
		!FlussTypeAccepts(&type->children[0].type, element))
		return FLUSS_CONVERT_NONE;
	return FLUSS_CONVERT_ARRAY;
}

const char *
FlussTypeText(const fluss_type *type)
{
	char		buffer[256];

	fluss_type_print(type, buffer, sizeof(buffer));
	return pstrdup(FlussNameFromRemote(buffer));
}

FlussConversion
FlussConversionFor(const fluss_type *type, Oid pgtype)
{
	if (type->id >= FLUSS_ARRAY)
		return nested_conversion(type, pgtype);
	if (pgtype == UUIDOID && type->length != UUID_SIZE)
		return FLUSS_CONVERT_NONE;
	for (int i = 0; i < lengthof(type_pairs); i++)
	{
		if (type_pairs[i].id == type->id && type_pairs[i].pgtype == pgtype)
			return type_pairs[i].conversion;
	}
	return FLUSS_CONVERT_NONE;
}

bool
FlussTypeAccepts(const fluss_type *type, Oid pgtype)
{
	return FlussConversionFor(type, pgtype) != FLUSS_CONVERT_NONE;
}

/* -------------------------------------------- types of a foreign table */

/* varchar(n) for lengths PostgreSQL has, else text */
static void
character_type(const fluss_type *type, Oid *pgtype, int32 *typmod)
{
	if (type->length > MAX_CHAR_LENGTH)
		*pgtype = TEXTOID;
	else
		*typmod = type->length + VARHDRSZ;
}

void
FlussPgTypeFor(const fluss_type *type, Oid *pgtype, int32 *typmod)
{
	*pgtype = JSONBOID;
	*typmod = -1;
	for (int i = 0; i < lengthof(type_pairs); i++)
	{
		if (type_pairs[i].id == type->id)
		{
			*pgtype = type_pairs[i].pgtype;
			break;
		}
	}
	switch (type->id)
	{
		case FLUSS_DECIMAL:
			*typmod = ((type->precision << 16) | type->scale) + VARHDRSZ;
			break;
		case FLUSS_CHAR:
			character_type(type, pgtype, typmod);
			break;
		case FLUSS_TIME:
			*typmod = Min(type->precision, 3);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			*typmod = Min(type->precision, 6);
			break;
		case FLUSS_ARRAY:
			if (type->children[0].type.id < FLUSS_ARRAY)
			{
				FlussPgTypeFor(&type->children[0].type, pgtype, typmod);
				*pgtype = get_array_type(*pgtype);
			}
			break;
		default:
			break;
	}
}

/* ------------------------------------------------- types of a new table */

/* A column, or the elements of its array. */
typedef struct NewColumn
{
	const char *name;
	Oid			pgtype;
	int32		typmod;
} NewColumn;

static void
refuse_type(const NewColumn *column, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
			 errmsg("column \"%s\" has type %s, for which there is no Fluss type",
					column->name,
					format_type_with_typemod(column->pgtype, column->typmod)),
			 hint != NULL ? errhint("%s", hint) : 0));
}

static void
decimal_type(const NewColumn *column, fluss_type *type)
{
	int32		typmod = column->typmod;

	type->id = FLUSS_DECIMAL;
	if (typmod < (int32) VARHDRSZ)
		refuse_type(column,
					"Declare the column as numeric(precision, scale).");
	type->precision = FlussNumericPrecision(typmod);
	type->scale = FlussNumericScale(typmod);
	if (type->precision > FLUSS_MAX_PRECISION || type->scale < 0 ||
		type->scale > type->precision)
		refuse_type(column,
					"A Fluss DECIMAL has up to 38 digits, and a scale from 0 to their number.");
}

static void array_type(const NewColumn *column, Oid element, fluss_type *type);

/* The type of a column, or of its elements, that PostgreSQL's type decides. */
static void
type_from_pg(const NewColumn *column, Oid pgtype, fluss_type *type)
{
	int32		typmod = column->typmod;
	Oid			element;

	type->nullable = true;
	switch (pgtype)
	{
		case BOOLOID:
			type->id = FLUSS_BOOLEAN;
			break;
		case INT2OID:
			type->id = FLUSS_SMALLINT;
			break;
		case INT4OID:
			type->id = FLUSS_INTEGER;
			break;
		case INT8OID:
			type->id = FLUSS_BIGINT;
			break;
		case FLOAT4OID:
			type->id = FLUSS_FLOAT;
			break;
		case FLOAT8OID:
			type->id = FLUSS_DOUBLE;
			break;
		case NUMERICOID:
			decimal_type(column, type);
			break;
		case TEXTOID:
		case VARCHAROID:
		case JSONOID:
		case JSONBOID:
			type->id = FLUSS_STRING;
			break;
		case BPCHAROID:
			type->id = FLUSS_CHAR;
			if (typmod < (int32) VARHDRSZ)
				refuse_type(column,
							"Declare the column as character(length) or text.");
			type->length = typmod - VARHDRSZ;
			break;
		case BYTEAOID:
			type->id = FLUSS_BYTES;
			break;
		case UUIDOID:
			type->id = FLUSS_BINARY;
			type->length = UUID_SIZE;
			break;
		case DATEOID:
			type->id = FLUSS_DATE;
			break;
		case TIMEOID:
			/* Fluss keeps milliseconds whatever the precision */
			type->id = FLUSS_TIME;
			type->precision = typmod < 0 ? 3 : Min(typmod, 3);
			break;
		case TIMESTAMPOID:
			type->id = FLUSS_TIMESTAMP;
			type->precision = typmod < 0 ? 6 : typmod;
			break;
		case TIMESTAMPTZOID:
			type->id = FLUSS_TIMESTAMP_LTZ;
			type->precision = typmod < 0 ? 6 : typmod;
			break;
		default:
			element = pgtype == column->pgtype ? array_element(pgtype) :
				InvalidOid;
			if (!OidIsValid(element))
				refuse_type(column, NULL);
			array_type(column, element, type);
	}
}

static void
array_type(const NewColumn *column, Oid element, fluss_type *type)
{
	fluss_column *child = palloc0(sizeof(*child));

	child->name = "element";
	type_from_pg(column, element, &child->type);
	type->id = FLUSS_ARRAY;
	type->nchildren = 1;
	type->children = child;
}

void
FlussTypeFromPg(const char *column, Oid pgtype, int32 typmod, bool not_null,
				const char *fluss_type_option, fluss_type *type)
{
	fluss_host	host = FlussHost(CurrentMemoryContext);
	NewColumn	new_column = {column, pgtype, typmod};
	fluss_error err;

	memset(type, 0, sizeof(*type));
	if (fluss_type_option == NULL)
		type_from_pg(&new_column, pgtype, type);
	else
	{
		/* fields may have names beyond ASCII */
		char	   *spelling = pg_server_to_any(fluss_type_option,
												strlen(fluss_type_option),
												PG_UTF8);

		fluss_error_init(&err);
		FLUSS_CALL(fluss_type_from_text(&host, spelling, type, &err), err,
				   NULL);
		if (!FlussTypeAccepts(type, pgtype))
			ereport(ERROR,
					(errcode(ERRCODE_FDW_INVALID_DATA_TYPE),
					 errmsg("column \"%s\" of type %s cannot have the Fluss type \"%s\"",
							column, format_type_be(pgtype),
							fluss_type_option)));
	}
	if (not_null)
		type->nullable = false;
}

/* ------------------------------------------------------------------ keys */

bool
FlussKeyIsExact(const FlussRelation *rel, AttrNumber attnum)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];
	const fluss_type *type;

	if (attr->remote < 0)
		return false;
	type = &rel->table->schema->columns[attr->remote].type;
	switch (FlussConversionFor(type, attr->type))
	{
		case FLUSS_CONVERT_BOOL:
		case FLUSS_CONVERT_INT2:
		case FLUSS_CONVERT_INT4:
		case FLUSS_CONVERT_INT8:
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_DECIMAL:
		case FLUSS_CONVERT_BYTEA:
		case FLUSS_CONVERT_UUID:
		case FLUSS_CONVERT_DATE:
		case FLUSS_CONVERT_TIME:
			return true;
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return type->precision <= 6;
		case FLUSS_CONVERT_TEXT:
		case FLUSS_CONVERT_VARCHAR:
			return rel->options->invalid_text == FLUSS_TEXT_ERROR &&
				OidIsValid(attr->collation) &&
				get_collation_isdeterministic(attr->collation);
		default:
			/* floats have two zeros, bpchar ignores blanks, json has no "=" */
			return false;
	}
}
