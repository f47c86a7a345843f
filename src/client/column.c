/*
 * column.c
 *	  Values out of column views.
 */
#include "arrow.h"
#include "error.h"
#include "schema.h"

void
fluss_column_all_null(fluss_column_view *view, const fluss_type *type,
					  int32_t nrows)
{
	memset(view, 0, sizeof(*view));
	view->type = type;
	view->length = nrows;
	view->all_null = true;
}

static int64_t
floor_divide(int64_t v, int64_t by)
{
	return v / by - (v % by < 0);
}

/* A number of seconds past all bounds stays past all bounds. */
static int64_t
seconds_to_millis(int64_t seconds)
{
	int64_t		millis;

	if (__builtin_mul_overflow(seconds, 1000, &millis))
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	return millis;
}

static void
get_timestamp(int64_t raw, int digits, fluss_value *value)
{
	int64_t		per_milli = digits == 9 ? 1000000 : 1000;
	int64_t		millis = raw;
	int32_t		nanos = 0;

	if (digits == 0)
		millis = seconds_to_millis(raw);
	else if (digits > 3)
	{
		int64_t		rest = raw % per_milli;

		millis = floor_divide(raw, per_milli);
		nanos = (int32_t) ((rest < 0 ? rest + per_milli : rest) *
						   (1000000 / per_milli));
	}
	value->u.timestamp.millis = millis;
	value->u.timestamp.nanos = nanos;
}

static int64_t
get_time(const fluss_column_view *view, int32_t row)
{
	switch (fluss_type_digits(view->type))
	{
		case 0:
			return (int64_t) fluss_column_int32(view, row) * 1000;
		case 3:
			return fluss_column_int32(view, row);
		case 6:
			return floor_divide(fluss_column_int64(view, row), 1000);
		default:
			return floor_divide(fluss_column_int64(view, row), 1000000);
	}
}

void
fluss_column_value(const fluss_column_view *view, int32_t row,
				   fluss_value *value)
{
	value->is_null = fluss_column_is_null(view, row);
	if (value->is_null)
		return;
	switch (view->type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = fluss_column_boolean(view, row);
			break;
		case FLUSS_TINYINT:
			value->u.integer = fluss_column_int8(view, row);
			break;
		case FLUSS_SMALLINT:
			value->u.integer = fluss_column_int16(view, row);
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			value->u.integer = fluss_column_int32(view, row);
			break;
		case FLUSS_TIME:
			value->u.integer = get_time(view, row);
			break;
		case FLUSS_BIGINT:
			value->u.integer = fluss_column_int64(view, row);
			break;
		case FLUSS_FLOAT:
			value->u.float4 = fluss_column_float4(view, row);
			break;
		case FLUSS_DOUBLE:
			value->u.float8 = fluss_column_float8(view, row);
			break;
		case FLUSS_DECIMAL:
			value->u.decimal.low = (uint64_t) fluss_column_int64(view, 2 * row);
			value->u.decimal.high = fluss_column_int64(view, 2 * row + 1);
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			get_timestamp(fluss_column_int64(view, row),
						  fluss_type_digits(view->type), value);
			break;
		default:
			value->u.bytes = fluss_column_bytes(view, row);
			break;
	}
}

/* ---- nested values */

/* Items [*first, *first + *n) of the children belong to the row. */
static void
find_items(const fluss_column_view *view, int32_t row, int32_t *first,
		   int32_t *n)
{
	const uint8_t *offsets;

	if (view->type->id == FLUSS_ROW)
	{
		*first = row;
		*n = 1;
		return;
	}
	offsets = view->offsets + (size_t) row * 4;
	*first = (int32_t) fluss_load_u32le(offsets);
	*n = (int32_t) fluss_load_u32le(offsets + 4) - *first;
}

/* How many values a nested value has in it, at every depth. */
static size_t
count_items(const fluss_column_view *view, int32_t row)
{
	int32_t		first;
	int32_t		n;
	size_t		count;

	if (fluss_column_is_null(view, row))
		return 0;
	find_items(view, row, &first, &n);
	count = (size_t) n * (size_t) view->type->nchildren;
	for (int32_t child = 0; child < view->type->nchildren; child++)
	{
		if (fluss_type_is_scalar(view->children[child].type))
			continue;
		for (int32_t i = 0; i < n; i++)
			count += count_items(&view->children[child], first + i);
	}
	return count;
}

/* Takes its items from *next on, and those of its items behind them. */
static void
fill_items(const fluss_column_view *view, int32_t row, fluss_value *value,
		   fluss_value **next)
{
	int32_t		nchildren = view->type->nchildren;
	fluss_value *items = *next;
	int32_t		first;
	int32_t		n;

	value->is_null = fluss_column_is_null(view, row);
	value->u.nested.items = NULL;
	value->u.nested.n = 0;
	if (value->is_null)
		return;
	find_items(view, row, &first, &n);
	value->u.nested.n = view->type->id == FLUSS_ROW ? nchildren : n;
	if (value->u.nested.n == 0)
		return;
	value->u.nested.items = items;
	*next += (size_t) n * (size_t) nchildren;
	for (int32_t i = 0; i < n; i++)
	{
		for (int32_t child = 0; child < nchildren; child++, items++)
		{
			if (fluss_type_is_scalar(view->children[child].type))
				fluss_column_value(&view->children[child], first + i, items);
			else
				fill_items(&view->children[child], first + i, items, next);
		}
	}
}

fluss_status
fluss_column_nested(const fluss_host *host, const fluss_column_view *view,
					int32_t row, fluss_value *value, fluss_error *err)
{
	size_t		count = count_items(view, row);
	size_t		size;
	fluss_value *items = NULL;

	if (__builtin_mul_overflow(count, sizeof(fluss_value), &size) ||
		size > PTRDIFF_MAX)
		return fluss_fail_memory(err);
	if (count > 0)
	{
		items = host->alloc(host->arg, size);
		if (items == NULL)
			return fluss_fail_memory(err);
	}
	fill_items(view, row, value, &items);
	return FLUSS_OK;
}
