/*
 * type.c
 *	  Fluss types: their table of names and bounds, and their SQL spelling.
 *
 * Spelling: NAME, NAME(argument) or DECIMAL(precision, scale), then NOT NULL
 * where it applies; ARRAY<t>, MAP<k, v>, ROW<`field` t, ...>.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "schema.h"

#define PLAIN(sql, json)	{ sql, json, false, false, false, 0, 0, 0 }
#define WITH_LENGTH(name)	{ name, name, true, false, false, 1, INT32_MAX, 1 }
#define WITH_PRECISION(sql, json, dflt) \
	{ sql, json, false, true, false, 0, 9, dflt }

const fluss_type_kind fluss_type_kinds[FLUSS_ROW + 1] = {
	[FLUSS_BOOLEAN] = PLAIN("BOOLEAN", "BOOLEAN"),
	[FLUSS_TINYINT] = PLAIN("TINYINT", "TINYINT"),
	[FLUSS_SMALLINT] = PLAIN("SMALLINT", "SMALLINT"),
	[FLUSS_INTEGER] = PLAIN("INT", "INTEGER"),
	[FLUSS_BIGINT] = PLAIN("BIGINT", "BIGINT"),
	[FLUSS_FLOAT] = PLAIN("FLOAT", "FLOAT"),
	[FLUSS_DOUBLE] = PLAIN("DOUBLE", "DOUBLE"),
	[FLUSS_DECIMAL] = {"DECIMAL", "DECIMAL", false, true, true, 1, 38, 10},
	[FLUSS_CHAR] = WITH_LENGTH("CHAR"),
	[FLUSS_STRING] = PLAIN("STRING", "STRING"),
	[FLUSS_BINARY] = WITH_LENGTH("BINARY"),
	[FLUSS_BYTES] = PLAIN("BYTES", "BYTES"),
	[FLUSS_DATE] = PLAIN("DATE", "DATE"),
	[FLUSS_TIME] = WITH_PRECISION("TIME", "TIME_WITHOUT_TIME_ZONE", 0),
	[FLUSS_TIMESTAMP] =
	WITH_PRECISION("TIMESTAMP", "TIMESTAMP_WITHOUT_TIME_ZONE", 6),
	[FLUSS_TIMESTAMP_LTZ] =
	WITH_PRECISION("TIMESTAMP_LTZ", "TIMESTAMP_WITH_LOCAL_TIME_ZONE", 6),
	[FLUSS_ARRAY] = PLAIN("ARRAY", "ARRAY"),
	[FLUSS_MAP] = PLAIN("MAP", "MAP"),
	[FLUSS_ROW] = PLAIN("ROW", "ROW")
};

bool
fluss_type_is_scalar(const fluss_type *type)
{
	return type->id < FLUSS_ARRAY;
}

fluss_status
fluss_fail_nested(fluss_error *err, const char *name, const fluss_type *type)
{
	char		spelling[128];

	fluss_type_print(type, spelling, sizeof(spelling));
	fluss_fail(err, FLUSS_UNSUPPORTED,
			   "key column \"%s\" has a nested type", name);
	fluss_error_detail(err, "The type of the column is %s.", spelling);
	return FLUSS_UNSUPPORTED;
}

static bool
is_valid(const fluss_type *type, int depth)
{
	const fluss_type_kind *kind = &fluss_type_kinds[type->id];
	int32_t		argument = kind->has_length ? type->length : type->precision;

	if (depth > FLUSS_MAX_NESTING)
		return false;
	for (int32_t i = 0; i < type->nchildren; i++)
	{
		if (!is_valid(&type->children[i].type, depth + 1))
			return false;
	}
	if (!kind->has_length && !kind->has_precision)
		return true;
	if (argument < kind->min_argument || argument > kind->max_argument)
		return false;
	return !kind->has_scale ||
		(type->scale >= 0 && type->scale <= type->precision);
}

bool
fluss_type_is_valid(const fluss_type *type)
{
	return is_valid(type, 0);
}

bool
fluss_type_same(const fluss_type *a, const fluss_type *b)
{
	const fluss_type_kind *kind = &fluss_type_kinds[a->id];

	if (a == b)
		return true;
	if (a->id != b->id || a->nchildren != b->nchildren ||
		(kind->has_length && a->length != b->length) ||
		(kind->has_precision && a->precision != b->precision) ||
		(kind->has_scale && a->scale != b->scale))
		return false;
	for (int32_t i = 0; i < a->nchildren; i++)
	{
		if (!fluss_type_same(&a->children[i].type, &b->children[i].type))
			return false;
	}
	return true;
}

/* ---- printing */

typedef struct printer
{
	char	   *out;
	size_t		left;			/* room including the terminating NUL */
} printer;

/* Ends a text that was cut before a character that is not whole. */
static void
end_at_border(char *text, size_t size)
{
	size_t		start = size;

	while (start > 0 && (text[start - 1] & 0xc0) == 0x80)
		start--;
	if (start > 0 && (text[start - 1] & 0xc0) == 0xc0)
	{
		unsigned char lead = (unsigned char) text[start - 1];
		size_t		whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

		if (size - (start - 1) < whole)
			text[start - 1] = '\0';
	}
}

static void put(printer *p, const char *format,...)
			__attribute__((format(printf, 2, 3)));

static void
put(printer *p, const char *format,...)
{
	va_list		args;
	int			size;

	if (p->left == 0)
		return;
	va_start(args, format);
	size = vsnprintf(p->out, p->left, format, args);
	va_end(args);
	if (size < 0)
		size = 0;
	if ((size_t) size < p->left)
	{
		p->out += size;
		p->left -= (size_t) size;
		return;
	}
	end_at_border(p->out, p->left - 1);
	/* nothing comes after a cut */
	p->left = 0;
}

static void
print_type(printer *p, const fluss_type *type)
{
	const fluss_type_kind *kind = &fluss_type_kinds[type->id];

	put(p, "%s", kind->sql_name);
	if (kind->has_scale)
		put(p, "(%d, %d)", type->precision, type->scale);
	else if (kind->has_precision)
		put(p, "(%d)", type->precision);
	else if (kind->has_length)
		put(p, "(%d)", type->length);
	if (!fluss_type_is_scalar(type))
	{
		for (int32_t i = 0; i < type->nchildren; i++)
		{
			put(p, i == 0 ? "<" : ", ");
			if (type->id == FLUSS_ROW)
				put(p, "`%s` ", type->children[i].name);
			print_type(p, &type->children[i].type);
		}
		put(p, type->nchildren == 0 ? "<>" : ">");
	}
	if (!type->nullable)
		put(p, " NOT NULL");
}

void
fluss_type_print(const fluss_type *type, char *out, size_t size)
{
	printer		p = {out, size};

	if (size == 0)
		return;
	out[0] = '\0';
	print_type(&p, type);
}

/* ---- parsing */

typedef struct parser
{
	fluss_arena *arena;
	const char *whole;			/* for the message */
	const char *pos;
	fluss_error *err;
} parser;

static fluss_status parse_type(parser *p, int depth, fluss_type *type);

static fluss_status
fail_parse(parser *p, const char *expected)
{
	fluss_fail(p->err, FLUSS_INVALID_ARGUMENT, "invalid Fluss type \"%s\"",
			   p->whole);
	fluss_error_detail(p->err, "Expected %s at \"%.40s\".", expected, p->pos);
	return FLUSS_INVALID_ARGUMENT;
}

static void
skip_space(parser *p)
{
	while (isspace((unsigned char) *p->pos))
		p->pos++;
}

static bool
take_char(parser *p, char c)
{
	skip_space(p);
	if (*p->pos != c)
		return false;
	p->pos++;
	return true;
}

/* Takes the words, each separated by space, or nothing. */
static bool
take_words(parser *p, const char *words)
{
	const char *start = p->pos;

	while (*words != '\0')
	{
		size_t		size = strcspn(words, " ");

		skip_space(p);
		if (strncasecmp(p->pos, words, size) != 0 ||
			isalnum((unsigned char) p->pos[size]) || p->pos[size] == '_')
		{
			p->pos = start;
			return false;
		}
		p->pos += size;
		words += size;
		words += strspn(words, " ");
	}
	return true;
}

static bool
take_number(parser *p, int32_t *number)
{
	int64_t		v = 0;

	skip_space(p);
	if (!isdigit((unsigned char) *p->pos))
		return false;
	for (; isdigit((unsigned char) *p->pos); p->pos++)
	{
		v = v * 10 + (*p->pos - '0');
		if (v > INT32_MAX)
			return false;
	}
	*number = (int32_t) v;
	return true;
}

/* Arguments in parentheses may be left out: then the defaults hold. */
static fluss_status
parse_arguments(parser *p, fluss_type *type)
{
	const fluss_type_kind *kind = &fluss_type_kinds[type->id];
	int32_t	   *argument = kind->has_length ? &type->length : &type->precision;
	const char *start = p->pos;

	if (!kind->has_length && !kind->has_precision)
		return FLUSS_OK;
	*argument = kind->default_argument;
	if (!take_char(p, '('))
		return FLUSS_OK;
	if (!take_number(p, argument))
		return fail_parse(p, "a number");
	if (kind->has_scale && take_char(p, ',') && !take_number(p, &type->scale))
		return fail_parse(p, "a number");
	if (!take_char(p, ')'))
		return fail_parse(p, "\")\"");
	if (!fluss_type_is_valid(type))
	{
		p->pos = start;
		return fail_parse(p, kind->has_scale ?
						  "a precision of 1 to 38 and a scale up to it" :
						  kind->has_length ? "a length of at least 1" :
						  "a precision of 0 to 9");
	}
	return FLUSS_OK;
}

static fluss_status
parse_field_name(parser *p, const char **name)
{
	const char *start;
	size_t		size;

	if (take_char(p, '`'))
	{
		start = p->pos;
		size = strcspn(start, "`");
		p->pos += size + (start[size] == '`' ? 1 : 0);
	}
	else
	{
		start = p->pos;
		size = strcspn(start, " \t\n,<>`");
		p->pos += size;
	}
	if (size == 0)
		return fail_parse(p, "a field name");
	*name = fluss_arena_strndup(p->arena, start, size);
	return *name == NULL ? fluss_fail_memory(p->err) : FLUSS_OK;
}

/* Makes room for one more child: arrays double, the old one stays behind. */
static fluss_column *
add_child(parser *p, fluss_type *type)
{
	int32_t		n = type->nchildren;
	fluss_column *children = (fluss_column *) type->children;

	if ((n & (n - 1)) == 0)
	{
		children = fluss_arena_array(p->arena, n == 0 ? 1 : 2 * (size_t) n,
									 sizeof(fluss_column));
		if (children == NULL)
			return NULL;
		if (n > 0)
			memcpy(children, type->children, (size_t) n * sizeof(fluss_column));
		type->children = children;
	}
	type->nchildren++;
	return &children[n];
}

static fluss_status
parse_children(parser *p, int depth, fluss_type *type)
{
	static const char *const map_names[2] = {"key", "value"};
	int32_t		wanted = type->id == FLUSS_ARRAY ? 1 : 2;

	if (!take_char(p, '<'))
		return fail_parse(p, "\"<\"");
	do
	{
		fluss_column *child = add_child(p, type);
		fluss_status status = FLUSS_OK;

		if (child == NULL)
			return fluss_fail_memory(p->err);
		if (type->id == FLUSS_ROW)
			status = parse_field_name(p, &child->name);
		else
			child->name = type->id == FLUSS_ARRAY ? "element" :
				map_names[type->nchildren > 1];
		if (status == FLUSS_OK)
			status = parse_type(p, depth + 1, &child->type);
		if (status != FLUSS_OK)
			return status;
	} while ((type->id == FLUSS_ROW || type->nchildren < wanted) &&
			 take_char(p, ','));
	if (type->id != FLUSS_ROW && type->nchildren < wanted)
		return fail_parse(p, "\",\"");
	/* as the server takes it */
	if (type->id == FLUSS_MAP)
		((fluss_column *) type->children)[0].type.nullable = false;
	return take_char(p, '>') ? FLUSS_OK : fail_parse(p, "\">\"");
}

static fluss_status
parse_type(parser *p, int depth, fluss_type *type)
{
	fluss_status status;
	int			id = 0;

	memset(type, 0, sizeof(*type));
	if (depth > FLUSS_MAX_NESTING)
		return fail_parse(p, "less nesting");
	/* the JSON name of INT is the alias one meets */
	while (id <= FLUSS_ROW &&
		   !take_words(p, fluss_type_kinds[id].sql_name) &&
		   !take_words(p, fluss_type_kinds[id].json_name))
		id++;
	if (id > FLUSS_ROW)
		return fail_parse(p, "a type name");
	type->id = (fluss_type_id) id;
	status = fluss_type_is_scalar(type) ? parse_arguments(p, type) :
		parse_children(p, depth, type);
	if (status != FLUSS_OK)
		return status;
	if (type->id == FLUSS_TIMESTAMP && take_words(p, "WITH LOCAL TIME ZONE"))
		type->id = FLUSS_TIMESTAMP_LTZ;
	type->nullable = !take_words(p, "NOT NULL");
	return FLUSS_OK;
}

fluss_status
fluss_type_parse(fluss_arena *arena, const char *text, fluss_type *type,
				 fluss_error *err)
{
	parser		p = {arena, text, text, err};
	fluss_status status = parse_type(&p, 0, type);

	if (status != FLUSS_OK)
		return status;
	skip_space(&p);
	return *p.pos == '\0' ? FLUSS_OK : fail_parse(&p, "the end");
}
