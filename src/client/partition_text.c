/*
 * partition_text.c
 *	  Partition values as they stand in a partition's name, and back.
 *
 * A name is an identifier: letters, digits, '_' and '-'.  So a point becomes
 * '_', a colon '-'; bytes are lower-case hex; floating point is as Java prints
 * it, which is the shortest text that reads back as the same number, with an
 * exponent below 10^-3 and from 10^7 on.  A timestamp ends with '_' and its
 * fraction without trailing zeros.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "partition.h"

#define MILLIS_PER_DAY	INT64_C(86400000)
#define MAX_TEXT		(FLUSS_PARTITION_TEXT_SIZE - 1)

/* ---- what the server accepts */

static bool
is_name_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool
fluss_partition_text_is_valid(const char *text)
{
	size_t		size = strlen(text);

	if (size == 0 || size > MAX_TEXT || strncmp(text, "__", 2) == 0)
		return false;
	for (size_t i = 0; i < size; i++)
	{
		if (!is_name_byte(text[i]))
			return false;
	}
	return true;
}

static fluss_status
fail_unnamable(const fluss_type *type, fluss_error *err)
{
	char		spelling[128];

	fluss_type_print(type, spelling, sizeof(spelling));
	(void) fluss_fail(err, FLUSS_VALUE_OUT_OF_RANGE,
					  "value of type %s cannot name a partition", spelling);
	fluss_error_detail(err, "A partition value has 1 to %d letters, digits, \"_\" or \"-\", and does not begin with \"__\".",
					   MAX_TEXT);
	return err->status;
}

/* ---- days */

/* Counted in eras of 400 years. */
fluss_date
fluss_days_to_date(int64_t days)
{
	int64_t		shifted = days + 719468;	/* since 0000-03-01 */
	int64_t		era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
	int64_t		day = shifted - era * 146097;
	int64_t		year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	int64_t		rest = day - (365 * year + year / 4 - year / 100);
	int64_t		month = (5 * rest + 2) / 153;	/* 0: March */
	fluss_date	date = {
		.day = (int) (rest - (153 * month + 2) / 5 + 1),
		.month = (int) (month < 10 ? month + 3 : month - 9),
		.year = year + era * 400 + (month >= 10)
	};

	return date;
}

static int64_t
date_to_days(const fluss_date *date)
{
	int64_t		year = date->year - (date->month <= 2);
	int64_t		era = (year >= 0 ? year : year - 399) / 400;
	int64_t		of_era = year - era * 400;
	int64_t		month = date->month > 2 ? date->month - 3 : date->month + 9;
	int64_t		of_year = (153 * month + 2) / 5 + date->day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
		719468;
}

/* ---- floating point */

/*
 * Digits without point, and the power of ten of the first of them.  At least
 * two digits are tried, as Java does: 4.9E-324, not 5.0E-324.
 */
static void
shortest_digits(double value, bool is_float, char digits[24], int *exponent)
{
	char		text[40];
	int			n = 0;

	for (int precision = 2; precision <= 17; precision++)
	{
		snprintf(text, sizeof(text), "%.*e", precision - 1, value);
		if (is_float ? strtof(text, NULL) == (float) value :
			strtod(text, NULL) == value)
			break;
	}
	for (const char *p = text; *p != 'e'; p++)
	{
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	}
	while (n > 2 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	*exponent = atoi(strchr(text, 'e') + 1);
}

/* value is finite and not negative. */
static void
print_float(double value, bool is_float, char *out, size_t size)
{
	char		digits[24];
	int			exponent;
	int			n;

	if (value == 0)
	{
		snprintf(out, size, "0_0");
		return;
	}
	shortest_digits(value, is_float, digits, &exponent);
	n = (int) strlen(digits);
	if (exponent < -3 || exponent >= 7)
		snprintf(out, size, "%c_%sE%d", digits[0], digits + 1, exponent);
	else if (exponent < 0)
	{
		/* the second digit may be a mere 0 */
		if (n == 2 && digits[1] == '0')
			digits[1] = '\0';
		snprintf(out, size, "0_%.*s%s", -exponent - 1, "00", digits);
	}
	else if (n <= exponent + 1)
		snprintf(out, size, "%s%.*s_0", digits, exponent + 1 - n, "000000");
	else
		snprintf(out, size, "%.*s_%s", exponent + 1, digits,
				 digits + exponent + 1);
}

static void
float_text(double value, bool is_float, char *text)
{
	if (isnan(value))
		strcpy(text, "NaN");
	else if (isinf(value))
		strcpy(text, value < 0 ? "-Inf" : "Inf");
	else
	{
		if (signbit(value))
			*text++ = '-';
		print_float(fabs(value), is_float, text, 40);
	}
}

/* ---- to text */

static void
hex_text(const fluss_bytes *bytes, char *text)
{
	for (size_t i = 0; i < bytes->size; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes->data[i]);
	text[2 * bytes->size] = '\0';
}

static void
date_text(int64_t days, char *text)
{
	fluss_date	date = fluss_days_to_date(days);

	snprintf(text, FLUSS_PARTITION_TEXT_SIZE, "%04lld-%02d-%02d",
			 (long long) date.year, date.month, date.day);
}

static void
time_text(int64_t millis, char *text)
{
	snprintf(text, FLUSS_PARTITION_TEXT_SIZE, "%02d-%02d-%02d_%03d",
			 (int) (millis / 3600000), (int) (millis / 60000 % 60),
			 (int) (millis / 1000 % 60), (int) (millis % 1000));
}

/* Java prints a year past 9999 with a plus sign, and none before the first. */
static bool
timestamp_text(const fluss_value *value, char *text)
{
	int64_t		millis = value->u.timestamp.millis;
	int64_t		days = millis / MILLIS_PER_DAY;
	int64_t		rest = millis % MILLIS_PER_DAY;
	fluss_date	date;
	int			length;

	if (rest < 0)
	{
		rest += MILLIS_PER_DAY;
		days--;
	}
	date = fluss_days_to_date(days);
	if (date.year < 1 || date.year > 9999)
		return false;
	length = snprintf(text, FLUSS_PARTITION_TEXT_SIZE,
					  "%04d-%02d-%02d-%02d-%02d-%02d_%03d%06d",
					  (int) date.year, date.month, date.day,
					  (int) (rest / 3600000), (int) (rest / 60000 % 60),
					  (int) (rest / 1000 % 60), (int) (rest % 1000),
					  (int) value->u.timestamp.nanos);
	while (text[length - 1] == '0')
		text[--length] = '\0';
	return true;
}

fluss_status
fluss_partition_text(const fluss_type *type, const fluss_value *value,
					 char *text, fluss_error *err)
{
	bool		fits = !value->is_null;

	*text = '\0';
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			strcpy(text, value->u.boolean ? "true" : "false");
			break;
		case FLUSS_TINYINT:
		case FLUSS_SMALLINT:
		case FLUSS_INTEGER:
		case FLUSS_BIGINT:
			snprintf(text, FLUSS_PARTITION_TEXT_SIZE, "%lld",
					 (long long) value->u.integer);
			break;
		case FLUSS_FLOAT:
			float_text(value->u.float4, true, text);
			break;
		case FLUSS_DOUBLE:
			float_text(value->u.float8, false, text);
			break;
		case FLUSS_CHAR:
		case FLUSS_STRING:
			fits = fits && value->u.bytes.size <= MAX_TEXT &&
				memchr(value->u.bytes.data, '\0', value->u.bytes.size) == NULL;
			if (fits)
			{
				memcpy(text, value->u.bytes.data, value->u.bytes.size);
				text[value->u.bytes.size] = '\0';
			}
			break;
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			fits = fits && value->u.bytes.size <= MAX_TEXT / 2;
			if (fits)
				hex_text(&value->u.bytes, text);
			break;
		case FLUSS_DATE:
			date_text(value->u.integer, text);
			break;
		case FLUSS_TIME:
			time_text(value->u.integer, text);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			fits = fits && timestamp_text(value, text);
			break;
		default:
			fits = false;
			break;
	}
	if (fits && fluss_partition_text_is_valid(text))
		return FLUSS_OK;
	return fail_unnamable(type, err);
}

/* ---- from text */

/*
 * Reads at least low and at most high digits and the byte after them, if one
 * is wanted.
 */
static bool
read_number(const char **p, int low, int high, char after, int64_t *number)
{
	int			n = 0;

	*number = 0;
	while (n < high && **p >= '0' && **p <= '9')
	{
		*number = *number * 10 + (*(*p)++ - '0');
		n++;
	}
	if (n < low || (after != '\0' && *(*p)++ != after))
		return false;
	return true;
}

static bool
read_date(const char **p, int64_t *days)
{
	bool		negative = **p == '-';
	int64_t		month;
	int64_t		day;
	fluss_date	date;

	if (negative)
		(*p)++;
	if (!read_number(p, negative ? 3 : 4, 7, '-', &date.year) ||
		!read_number(p, 2, 2, '-', &month) ||
		!read_number(p, 2, 2, '\0', &day) ||
		month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (negative)
		date.year = -date.year;
	date.month = (int) month;
	date.day = (int) day;
	*days = date_to_days(&date);
	/* the 30th of February is the 1st of March by this arithmetic */
	date = fluss_days_to_date(*days);
	return date.month == month && date.day == day &&
		*days >= INT32_MIN && *days <= INT32_MAX;
}

static bool
read_clock(const char **p, int64_t *millis)
{
	int64_t		hour;
	int64_t		minute;
	int64_t		second;

	if (!read_number(p, 2, 2, '-', &hour) ||
		!read_number(p, 2, 2, '-', &minute) ||
		!read_number(p, 2, 2, '_', &second) ||
		hour > 23 || minute > 59 || second > 59)
		return false;
	*millis = ((hour * 60 + minute) * 60 + second) * 1000;
	return true;
}

static bool
read_time(const char *p, fluss_value *value)
{
	int64_t		fraction;

	if (!read_clock(&p, &value->u.integer) ||
		!read_number(&p, 3, 3, '\0', &fraction))
		return false;
	value->u.integer += fraction;
	return *p == '\0';
}

static bool
read_timestamp(const char *p, fluss_value *value)
{
	int64_t		days;
	int64_t		millis;
	int64_t		nanos = 0;

	if (!read_date(&p, &days) || *p++ != '-' || !read_clock(&p, &millis))
		return false;
	for (int i = 0; i < 9; i++)
		nanos = nanos * 10 + (*p >= '0' && *p <= '9' ? *p++ - '0' : 0);
	value->u.timestamp.millis = days * MILLIS_PER_DAY + millis +
		nanos / 1000000;
	value->u.timestamp.nanos = (int32_t) (nanos % 1000000);
	return *p == '\0';
}

static bool
read_integer(const char *p, const fluss_type *type, fluss_value *value)
{
	static const int bits[] = {
		[FLUSS_TINYINT] = 8, [FLUSS_SMALLINT] = 16,
		[FLUSS_INTEGER] = 32, [FLUSS_BIGINT] = 64
	};
	bool		negative = *p == '-';
	int64_t		limit = INT64_MAX >> (64 - bits[type->id]);
	int64_t		v = 0;

	if (negative)
		p++;
	if (*p == '\0')
		return false;
	/* downwards, where there is room for one more */
	for (; *p >= '0' && *p <= '9'; p++)
	{
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_sub_overflow(v, *p - '0', &v))
			return false;
	}
	if (*p != '\0' || v < -limit - 1 || (!negative && v < -limit))
		return false;
	value->u.integer = negative ? v : -v;
	return true;
}

static bool
read_float(const char *p, bool is_float, fluss_value *value)
{
	char		text[40];
	char	   *end;
	double		v;
	size_t		size = strlen(p);

	if (strcmp(p, "NaN") == 0)
		v = NAN;
	else if (strcmp(p, "Inf") == 0)
		v = INFINITY;
	else if (strcmp(p, "-Inf") == 0)
		v = -INFINITY;
	else
	{
		if (size >= sizeof(text) || strspn(p, "-0123456789_E") != size)
			return false;
		memcpy(text, p, size + 1);
		end = strchr(text, '_');
		if (end != NULL)
			*end = '.';
		v = is_float ? (double) strtof(text, &end) : strtod(text, &end);
		if (*end != '\0' || end == text)
			return false;
	}
	if (is_float)
		value->u.float4 = (float) v;
	else
		value->u.float8 = v;
	return true;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
read_hex(const char *p, uint8_t *buffer, fluss_value *value)
{
	size_t		size = strlen(p);

	if (size % 2 != 0 || size > MAX_TEXT)
		return false;
	for (size_t i = 0; i < size / 2; i++)
	{
		int			high = hex_digit(p[2 * i]);
		int			low = hex_digit(p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		buffer[i] = (uint8_t) (high << 4 | low);
	}
	value->u.bytes.data = buffer;
	value->u.bytes.size = size / 2;
	return true;
}

static bool
read_text(const char *p, uint8_t *buffer, fluss_value *value)
{
	size_t		size = strlen(p);

	if (size > MAX_TEXT)
		return false;
	memcpy(buffer, p, size);
	value->u.bytes.data = buffer;
	value->u.bytes.size = size;
	return true;
}

static bool
read_value(const fluss_type *type, const char *text, uint8_t *buffer,
		   fluss_value *value)
{
	const char *p = text;

	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = strcmp(text, "true") == 0;
			return value->u.boolean || strcmp(text, "false") == 0;
		case FLUSS_TINYINT:
		case FLUSS_SMALLINT:
		case FLUSS_INTEGER:
		case FLUSS_BIGINT:
			return read_integer(text, type, value);
		case FLUSS_FLOAT:
		case FLUSS_DOUBLE:
			return read_float(text, type->id == FLUSS_FLOAT, value);
		case FLUSS_CHAR:
		case FLUSS_STRING:
			return read_text(text, buffer, value);
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			return read_hex(text, buffer, value);
		case FLUSS_DATE:
			return read_date(&p, &value->u.integer) && *p == '\0';
		case FLUSS_TIME:
			return read_time(text, value);
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			return read_timestamp(text, value);
		default:
			return false;
	}
}

fluss_status
fluss_partition_value(const fluss_type *type, const char *text,
					  uint8_t *buffer, fluss_value *value, fluss_error *err)
{
	char		spelling[128];

	memset(value, 0, sizeof(*value));
	if (read_value(type, text, buffer, value))
		return FLUSS_OK;
	fluss_type_print(type, spelling, sizeof(spelling));
	return fluss_fail(err, FLUSS_MALFORMED,
					  "partition value \"%.200s\" is not of type %s", text,
					  spelling);
}
