/*
 * vector_value.c
 *	  The values that filters on column vectors compare with.
 *
 * A value becomes an interval of the column's own raw units, with the result
 * that core's operator has: what lies between two raw values is rounded the way
 * that the operator wants.  Floating point keeps core's order, NaN above all.
 * Each element of an array becomes one.
 */
#include "vector.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

/* A key between two raw values is down, the lower one, and not exact. */
static void
set_interval(FlussVectorNode *test, int128 down, bool exact)
{
	test->low = -FLUSS_WIDE_MAX;
	test->high = FLUSS_WIDE_MAX;
	test->negate = false;
	switch (test->strategy)
	{
		case BTLessStrategyNumber:
			test->high = exact ? down - 1 : down;
			break;
		case BTLessEqualStrategyNumber:
			test->high = down;
			break;
		case BTGreaterEqualStrategyNumber:
			test->low = exact ? down : down + 1;
			break;
		case BTGreaterStrategyNumber:
			test->low = down + 1;
			break;
		default:
			test->negate = test->strategy == FLUSS_NOT_EQUAL_STRATEGY;
			test->low = exact ? down : 1;
			test->high = exact ? down : 0;
			break;
	}
}

static int128
floor_divide(int128 value, int128 by)
{
	return value / by - (value % by < 0);
}

/* The digits of a whole number; NULL: too many, or infinity. */
static char *
whole_digits(Datum datum, bool *negative)
{
	char	   *digits = DatumGetCString(DirectFunctionCall1(numeric_out, datum));

	*negative = digits[0] == '-';
	digits += *negative;
	return numeric_is_inf(DatumGetNumeric(datum)) || strlen(digits) > 38 ?
		NULL : digits;
}

/* Unscaled value of a numeric at a scale, rounded down. */
static int128
unscaled_numeric(Datum datum, int scale, bool *exact)
{
	char	   *digits;
	bool		negative;
	Datum		scaled;
	Datum		down;
	int128		result = 0;

	*exact = false;
	/* what cannot be told exactly is past all values on its side */
	if (numeric_is_nan(DatumGetNumeric(datum)))
		return FLUSS_WIDE_MAX;
	/* scaled, it might be past all that numeric has */
	if (whole_digits(DirectFunctionCall1(numeric_floor, datum),
					 &negative) == NULL)
		return negative ? -FLUSS_WIDE_MAX : FLUSS_WIDE_MAX;
	scaled = DirectFunctionCall3(numeric_in,
								 CStringGetDatum(psprintf("1e%d", scale)),
								 ObjectIdGetDatum(InvalidOid),
								 Int32GetDatum(-1));
	scaled = DirectFunctionCall2(numeric_mul, datum, scaled);
	down = DirectFunctionCall1(numeric_floor, scaled);
	digits = whole_digits(down, &negative);
	if (digits == NULL)
		return negative ? -FLUSS_WIDE_MAX : FLUSS_WIDE_MAX;
	for (char *p = digits; *p != '\0'; p++)
		result = result * 10 + (*p - '0');
	*exact = DatumGetBool(DirectFunctionCall2(numeric_eq, scaled, down));
	return negative ? -result : result;
}

/* The interval counts fine units of which one raw unit has n. */
static void
to_coarser(FlussVectorNode *test, int128 n)
{
	test->low = -floor_divide(-test->low, n);
	test->high = floor_divide(test->high, n);
}

/* The interval counts units that n raw ones are rounded down to. */
static void
to_finer(FlussVectorNode *test, int128 n)
{
	/* past 64 bits already where it could overflow */
	test->low = Max(test->low, -FLUSS_WIDE_MAX / n) * n;
	test->high = Min(test->high, FLUSS_WIDE_MAX / n - 1) * n + (n - 1);
}

/* From microseconds to the column's units. */
static void
scale_time(FlussVectorNode *test)
{
	int			digits = fluss_type_digits(test->type);

	if (test->low > test->high)
		return;
	if (test->conversion == FLUSS_CONVERT_TIME && digits > 3)
	{
		/* only milliseconds are kept */
		to_coarser(test, 1000);
		if (test->low <= test->high)
			to_finer(test, FlussPowerOfTen(digits - 3));
	}
	else if (digits > 6)
		to_finer(test, FlussPowerOfTen(digits - 6));
	else
		to_coarser(test, FlussPowerOfTen(6 - digits));
}

/* Microseconds since 1970; the infinities lie outside of what a column has. */
static int128
unix_microseconds(Datum datum, Oid type)
{
	if (type == DATEOID)
		return ((int128) DatumGetDateADT(datum) + FLUSS_EPOCH_DAYS) *
			USECS_PER_DAY;
	return (int128) DatumGetTimestamp(datum) + FLUSS_EPOCH_USECS;
}

/* NaN equals itself and is above all numbers. */
static void
set_float_test(FlussVectorNode *test, double key)
{
	static const struct
	{
		FlussFloatTest	number;		/* for a key that is a number */
		FlussFloatTest	nan;		/* and for NaN */
		bool		negate;
		bool		nan_negate;
	}			tests[] = {
		[BTLessStrategyNumber] = {FLOAT_LESS, FLOAT_NOT_NAN, false, false},
		[BTLessEqualStrategyNumber] = {FLOAT_LESS_EQUAL, FLOAT_ANY, false, false},
		[BTEqualStrategyNumber] = {FLOAT_EQUAL, FLOAT_NOT_NAN, false, true},
		[BTGreaterEqualStrategyNumber] = {FLOAT_LESS, FLOAT_NOT_NAN, true, true},
		[BTGreaterStrategyNumber] = {FLOAT_LESS_EQUAL, FLOAT_ANY, true, true},
		[FLUSS_NOT_EQUAL_STRATEGY] = {FLOAT_EQUAL, FLOAT_NOT_NAN, true, false}
	};
	bool		nan = isnan(key);

	test->float_key = key;
	test->float_test = nan ? tests[test->strategy].nan :
		tests[test->strategy].number;
	test->negate = nan ? tests[test->strategy].nan_negate :
		tests[test->strategy].negate;
}

static void
set_key(FlussVectorNode *test, Datum datum)
{
	bool		exact = true;
	int128		key;

	switch (test->conversion)
	{
		case FLUSS_CONVERT_BOOL:
			set_interval(test, DatumGetBool(datum), true);
			break;
		case FLUSS_CONVERT_INT_NUMERIC:
			key = unscaled_numeric(datum, 0, &exact);
			set_interval(test, key, exact);
			break;
		case FLUSS_CONVERT_DECIMAL:
			key = unscaled_numeric(datum, test->type->scale, &exact);
			set_interval(test, key, exact);
			break;
		case FLUSS_CONVERT_FLOAT4:
		case FLUSS_CONVERT_FLOAT8:
			set_float_test(test, test->argtype == FLOAT4OID ?
						   DatumGetFloat4(datum) : DatumGetFloat8(datum));
			break;
		case FLUSS_CONVERT_DATE:
			set_interval(test, (int128) DatumGetDateADT(datum) +
						 FLUSS_EPOCH_DAYS, true);
			break;
		case FLUSS_CONVERT_TIME:
			set_interval(test, DatumGetTimeADT(datum), true);
			scale_time(test);
			break;
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			set_interval(test, unix_microseconds(datum, test->argtype), true);
			scale_time(test);
			break;
		default:
			set_interval(test, FlussIntegerOf(datum, test->argtype), true);
			break;
	}
}

/* A comparison with NULL is true for nothing. */
static void
set_nothing(FlussVectorNode *test)
{
	test->low = -FLUSS_WIDE_MAX;
	test->high = FLUSS_WIDE_MAX;
	test->float_test = FLOAT_ANY;
	test->negate = true;
}

static int
compare_intervals(const void *a, const void *b)
{
	const FlussVectorInterval *first = a;
	const FlussVectorInterval *second = b;

	return (first->low > second->low) - (first->low < second->low);
}

/*
 * The intervals of an array's elements; NULLs equal nothing.  Those of different
 * values have nothing in common.
 */
static void
set_keys(FlussVectorNode *test, Datum array, MemoryContext context)
{
	bool		is_float = test->conversion == FLUSS_CONVERT_FLOAT4 ||
		test->conversion == FLUSS_CONVERT_FLOAT8;
	Datum	   *elements;
	bool	   *nulls;
	int			n = FlussArrayElements(array, &elements, &nulls);

	if (test->intervals_room < n)
	{
		if (test->intervals != NULL)
			pfree(test->intervals);
		test->intervals = MemoryContextAllocHuge(context,
												 n * sizeof(FlussVectorInterval));
		test->intervals_room = n;
	}
	for (int i = 0; i < n; i++)
	{
		FlussVectorInterval *interval = &test->intervals[test->nintervals];

		if (i % 1024 == 1023)
			CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		set_key(test, elements[i]);
		if (is_float)
			test->low = test->high = FlussFloatOrder(test->float_key);
		interval->low = test->low;
		interval->high = test->high;
		test->nintervals += test->low <= test->high;
	}
	qsort(test->intervals, test->nintervals, sizeof(FlussVectorInterval),
		  compare_intervals);
}

void
FlussVectorReady(FlussVectorNode *test, MemoryContext context,
				 ExprContext *econtext)
{
	MemoryContext old;
	Datum		datum;
	bool		isnull;

	if (test->ready)
		return;
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (test->constant != NULL)
	{
		datum = test->constant->constvalue;
		isnull = test->constant->constisnull;
	}
	else
		datum = ExecEvalExpr(test->value, econtext, &isnull);
	test->nintervals = 0;
	if (isnull)
		set_nothing(test);
	else if (test->is_array)
		set_keys(test, datum, context);
	else
		set_key(test, datum);
	test->ready = true;
	MemoryContextSwitchTo(old);
}
