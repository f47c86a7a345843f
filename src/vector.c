/*
 * vector.c
 *	  Filters on the column views of a batch, before a row is formed.
 *
 * A clause is a tree of AND and OR over simple tests of one fixed-width column.
 * A test becomes an interval of the column's own raw units, so that a column of
 * any width is compared without a conversion and with the result that core's
 * operator has: what lies between two raw values is rounded the way that the
 * operator wants.  Floating point keeps core's order, NaN above all.
 *
 * Three-valued logic is cut to "true or not": there is no NOT above a test.
 *
 * The other side of a test is computed once per rescan, and not before a row
 * is there that gets as far: an error in it shows where core would show it.  A
 * column that is tested is filled in as well, so a surviving row with a value
 * that PostgreSQL cannot hold is an error as without a filter.
 */
#include "convert.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

/* Strategy of <>, which no operator family has. */
#define NOT_EQUAL_STRATEGY	(BTMaxStrategyNumber + 1)

/* Beyond the unscaled value of any DECIMAL, and of any 64-bit integer. */
#define WIDE_MAX	FlussPowerOfTen(38)

typedef enum VectorKind
{
	VECTOR_AND,
	VECTOR_OR,
	VECTOR_TEST
} VectorKind;

typedef enum FloatTest
{
	FLOAT_ANY,					/* true for every number */
	FLOAT_LESS,
	FLOAT_LESS_EQUAL,
	FLOAT_EQUAL,
	FLOAT_NOT_NAN
} FloatTest;

typedef struct VectorNode
{
	VectorKind	kind;
	List	   *children;		/* AND, OR: of VectorNode */
	/* tests */
	AttrNumber	attnum;
	int			column;			/* index into the batch's columns */
	FlussConversion conversion;
	const fluss_type *type;
	int			strategy;		/* btree, or <>; 0: the value is not asked for */
	Oid			argtype;
	Const	   *constant;
	ExprState  *value;			/* NULL: constant, or none */
	/* once the value is known: true for NULL, true for what lies within */
	bool		ready;
	bool		null_result;
	bool		negate;			/* ... or for what does not */
	int128		low;			/* raw units; none when low > high */
	int128		high;
	FloatTest	float_test;
	double		float_key;
	/* result for the rows of the current batch */
	uint8	   *mask;
	int			room;
} VectorNode;

struct FlussVector
{
	VectorNode *root;
	MemoryContext context;
	int32	   *rows;
	int			room;
};

/* ------------------------------------------------------- what qualifies */

static bool
is_integer_type(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

static bool
is_float_type(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* Pairs whose operators depend on no setting. */
static bool
is_comparable(Oid column, Oid value)
{
	if (is_integer_type(column))
		return is_integer_type(value);
	if (is_float_type(column))
		return is_float_type(value);
	if (column == TIMESTAMPOID && value == DATEOID)
		return true;
	return column == value &&
		(column == BOOLOID || column == NUMERICOID || column == DATEOID ||
		 column == TIMEOID || column == TIMESTAMPOID ||
		 column == TIMESTAMPTZOID);
}

bool
FlussIsVectorColumn(const FlussRelation *rel, AttrNumber attnum)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];

	if (attr->metadata != FLUSS_META_NONE || attr->remote < 0)
		return false;
	switch (FlussConversionFor(&rel->table->schema->columns[attr->remote].type,
							   attr->type))
	{
		case FLUSS_CONVERT_BOOL:
		case FLUSS_CONVERT_INT2:
		case FLUSS_CONVERT_INT4:
		case FLUSS_CONVERT_INT8:
		case FLUSS_CONVERT_INT_NUMERIC:
		case FLUSS_CONVERT_FLOAT4:
		case FLUSS_CONVERT_FLOAT8:
		case FLUSS_CONVERT_DECIMAL:
		case FLUSS_CONVERT_DATE:
		case FLUSS_CONVERT_TIME:
		case FLUSS_CONVERT_TIMESTAMP:
		case FLUSS_CONVERT_TIMESTAMPTZ:
			return true;
		default:
			return false;
	}
}

/* The strategy of an operator in the order of the type; 0: it has none. */
static int
strategy_of(Oid opno, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	int			strategy;
	Oid			negator;

	if (!OidIsValid(entry->btree_opf))
		return 0;
	strategy = get_op_opfamily_strategy(opno, entry->btree_opf);
	if (strategy != InvalidStrategy)
		return strategy;
	negator = get_negator(opno);
	if (OidIsValid(negator) &&
		get_op_opfamily_strategy(negator, entry->btree_opf) ==
		BTEqualStrategyNumber)
		return NOT_EQUAL_STRATEGY;
	return 0;
}

/* The column itself, and nothing around it. */
static AttrNumber
plain_column(const FlussRelation *rel, Index varno, Node *node)
{
	Var		   *var = (Var *) node;

	if (node == NULL || !IsA(node, Var) || var->varno != (int) varno ||
		var->varlevelsup != 0 || var->varattno <= 0 ||
		var->varattno > rel->natts)
		return InvalidAttrNumber;
	return var->varattno;
}

/* A boolean column, with what makes it true. */
static bool
match_boolean(const FlussRelation *rel, Index varno, Node *clause,
			  VectorNode *test)
{
	bool		wanted = true;

	test->null_result = false;
	if (IsA(clause, BooleanTest))
	{
		BooleanTest *btest = (BooleanTest *) clause;

		switch (btest->booltesttype)
		{
			case IS_TRUE:
				break;
			case IS_FALSE:
				wanted = false;
				break;
			case IS_NOT_TRUE:
				wanted = false;
				test->null_result = true;
				break;
			case IS_NOT_FALSE:
				test->null_result = true;
				break;
			default:
				return false;
		}
		clause = (Node *) btest->arg;
	}
	else if (IsA(clause, BoolExpr) &&
			 ((BoolExpr *) clause)->boolop == NOT_EXPR)
	{
		wanted = false;
		clause = linitial(((BoolExpr *) clause)->args);
	}
	test->attnum = plain_column(rel, varno, clause);
	test->low = test->high = wanted;
	return AttributeNumberIsValid(test->attnum) &&
		rel->attrs[test->attnum - 1].type == BOOLOID;
}

static bool
match_null_test(const FlussRelation *rel, Index varno, NullTest *ntest,
				VectorNode *test)
{
	test->attnum = plain_column(rel, varno, (Node *) ntest->arg);
	test->null_result = ntest->nulltesttype == IS_NULL;
	/* every value lies within */
	test->low = -WIDE_MAX;
	test->high = WIDE_MAX;
	test->float_test = FLOAT_ANY;
	test->negate = ntest->nulltesttype == IS_NULL;
	return AttributeNumberIsValid(test->attnum) && !ntest->argisrow;
}

/* Fills in what the form of a test tells; value is its other side, or NULL. */
static bool
match_test(FlussRelation *rel, Index varno, Node *clause, VectorNode *test,
		   Expr **value)
{
	Oid			opno;
	bool		is_array;

	*value = NULL;
	test->kind = VECTOR_TEST;
	test->strategy = 0;
	test->ready = true;
	if (IsA(clause, NullTest))
		return match_null_test(rel, varno, (NullTest *) clause, test);
	if (!IsA(clause, OpExpr))
		return match_boolean(rel, varno, clause, test);
	if (!FlussSplitOperator(rel, varno, clause, &test->attnum, &opno, value,
							&test->argtype, &is_array) || is_array ||
		!is_comparable(rel->attrs[test->attnum - 1].type, test->argtype))
		return false;
	test->ready = false;
	test->strategy = strategy_of(opno, rel->attrs[test->attnum - 1].type);
	return test->strategy != 0;
}

bool
FlussIsVectorClause(FlussRelation *rel, Index varno, Node *clause)
{
	VectorNode	test = {0};
	Expr	   *value;
	ListCell   *lc;

	if (is_andclause(clause) || is_orclause(clause))
	{
		foreach(lc, ((BoolExpr *) clause)->args)
		{
			if (!FlussIsVectorClause(rel, varno, lfirst(lc)))
				return false;
		}
		return true;
	}
	return match_test(rel, varno, clause, &test, &value) &&
		FlussIsVectorColumn(rel, test.attnum);
}

/* ------------------------------------------------------------- compiling */

static VectorNode *
compile(FlussRelation *rel, Index varno, Node *clause, PlanState *parent)
{
	VectorNode *node = palloc0(sizeof(*node));
	Expr	   *value;
	ListCell   *lc;

	if (is_andclause(clause) || is_orclause(clause))
	{
		node->kind = is_orclause(clause) ? VECTOR_OR : VECTOR_AND;
		foreach(lc, ((BoolExpr *) clause)->args)
			node->children = lappend(node->children,
									 compile(rel, varno, lfirst(lc), parent));
		return node;
	}
	if (!match_test(rel, varno, clause, node, &value))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has changed since the query was planned",
						rel->name)));
	if (value != NULL && IsA(value, Const))
		node->constant = (Const *) value;
	else if (value != NULL)
		node->value = ExecInitExpr(value, parent);
	return node;
}

FlussVector *
FlussVectorCompile(FlussRelation *rel, Index varno, List *clauses,
				   PlanState *parent)
{
	FlussVector *vector = palloc0(sizeof(*vector));

	vector->context = CurrentMemoryContext;
	vector->root = compile(rel, varno,
						   (Node *) makeBoolExpr(AND_EXPR, clauses, -1),
						   parent);
	return vector;
}

static void
bind(VectorNode *node, FlussScanState *state)
{
	ListCell   *lc;

	foreach(lc, node->children)
		bind(lfirst(lc), state);
	if (node->kind != VECTOR_TEST)
		return;
	if (!FlussIsVectorColumn(state->rel, node->attnum))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has changed since the query was planned",
						state->rel->name)));
	for (int i = 0; i < state->nfill; i++)
	{
		const FlussFill *fill = &state->fill[i];

		if (fill->attnum != node->attnum)
			continue;
		node->column = fill->column;
		node->conversion = fill->converter.kind;
		node->type = fill->converter.type;
		return;
	}
	elog(ERROR, "column %d is filtered by and not fetched", node->attnum);
}

void
FlussVectorBind(FlussVector *vector, FlussScanState *state)
{
	bind(vector->root, state);
}

static void
forget_values(VectorNode *node)
{
	ListCell   *lc;

	foreach(lc, node->children)
		forget_values(lfirst(lc));
	if (node->strategy != 0)
		node->ready = false;
}

void
FlussVectorRescan(FlussVector *vector)
{
	forget_values(vector->root);
}

/* -------------------------------------------------- values to intervals */

/* A key between two raw values is down, the lower one, and not exact. */
static void
set_interval(VectorNode *test, int128 down, bool exact)
{
	test->low = -WIDE_MAX;
	test->high = WIDE_MAX;
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
			test->negate = test->strategy == NOT_EQUAL_STRATEGY;
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

/* Unscaled value of a numeric at a scale, rounded down. */
static int128
unscaled_numeric(Datum datum, int scale, bool *exact)
{
	Numeric		number = DatumGetNumeric(datum);
	char	   *digits;
	Datum		scaled;
	Datum		down;
	int128		result = 0;

	*exact = false;
	/* what cannot be told exactly is past all values on its side */
	if (numeric_is_nan(number))
		return WIDE_MAX;
	if (numeric_is_inf(number))
	{
		digits = DatumGetCString(DirectFunctionCall1(numeric_out, datum));
		return digits[0] == '-' ? -WIDE_MAX : WIDE_MAX;
	}
	scaled = DirectFunctionCall3(numeric_in,
								 CStringGetDatum(psprintf("1e%d", scale)),
								 ObjectIdGetDatum(InvalidOid),
								 Int32GetDatum(-1));
	scaled = DirectFunctionCall2(numeric_mul, datum, scaled);
	down = DirectFunctionCall1(numeric_floor, scaled);
	digits = DatumGetCString(DirectFunctionCall1(numeric_out, down));
	if (strlen(digits) > 38 + (digits[0] == '-'))
		return digits[0] == '-' ? -WIDE_MAX : WIDE_MAX;
	for (char *p = digits; *p != '\0'; p++)
	{
		if (*p != '-')
			result = result * 10 + (*p - '0');
	}
	*exact = DatumGetBool(DirectFunctionCall2(numeric_eq, scaled, down));
	return digits[0] == '-' ? -result : result;
}

/* The interval counts fine units of which one raw unit has n. */
static void
to_coarser(VectorNode *test, int128 n)
{
	test->low = -floor_divide(-test->low, n);
	test->high = floor_divide(test->high, n);
}

/* The interval counts units that n raw ones are rounded down to. */
static void
to_finer(VectorNode *test, int128 n)
{
	/* past 64 bits already where it could overflow */
	test->low = Max(test->low, -WIDE_MAX / n) * n;
	test->high = Min(test->high, WIDE_MAX / n - 1) * n + (n - 1);
}

/* From microseconds to the column's units. */
static void
scale_time(VectorNode *test)
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

static int128
integer_of(Datum datum, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(datum);
		case INT4OID:
			return DatumGetInt32(datum);
		default:
			return DatumGetInt64(datum);
	}
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
set_float_test(VectorNode *test, double key)
{
	static const struct
	{
		FloatTest	number;		/* for a key that is a number */
		FloatTest	nan;		/* and for NaN */
		bool		negate;
		bool		nan_negate;
	}			tests[] = {
		[BTLessStrategyNumber] = {FLOAT_LESS, FLOAT_NOT_NAN, false, false},
		[BTLessEqualStrategyNumber] = {FLOAT_LESS_EQUAL, FLOAT_ANY, false, false},
		[BTEqualStrategyNumber] = {FLOAT_EQUAL, FLOAT_NOT_NAN, false, true},
		[BTGreaterEqualStrategyNumber] = {FLOAT_LESS, FLOAT_NOT_NAN, true, true},
		[BTGreaterStrategyNumber] = {FLOAT_LESS_EQUAL, FLOAT_ANY, true, true},
		[NOT_EQUAL_STRATEGY] = {FLOAT_EQUAL, FLOAT_NOT_NAN, true, false}
	};
	bool		nan = isnan(key);

	test->float_key = key;
	test->float_test = nan ? tests[test->strategy].nan :
		tests[test->strategy].number;
	test->negate = nan ? tests[test->strategy].nan_negate :
		tests[test->strategy].negate;
}

static void
set_key(VectorNode *test, Datum datum)
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
			set_interval(test, integer_of(datum, test->argtype), true);
			break;
	}
}

/* A comparison with NULL is true for nothing. */
static void
set_nothing(VectorNode *test)
{
	test->low = -WIDE_MAX;
	test->high = WIDE_MAX;
	test->float_test = FLOAT_ANY;
	test->negate = true;
}

static void
make_ready(VectorNode *test, ExprContext *econtext)
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
	if (isnull)
		set_nothing(test);
	else
		set_key(test, datum);
	test->ready = true;
	MemoryContextSwitchTo(old);
}

/* ------------------------------------------------------------ evaluation */

/*
 * One loop for each width: mask[i] is 1 where the value lies within, or does
 * not, as negate says.  The bounds are cut to 64 bits before.
 */
#define INTERVAL_LOOP(get) \
	for (int32 i = 0; i < n; i++) \
	{ \
		int64		v = get(view, first + i); \
		mask[i] = (uint8) ((v >= low) & (v <= high)) ^ negate; \
	}

static void
test_integers(const VectorNode *test, const fluss_column_view *view,
			  int32 first, int32 n, uint8 *mask)
{
	int64		low;
	int64		high;
	uint8		negate = test->negate;

	if (test->low > test->high || test->low > PG_INT64_MAX ||
		test->high < PG_INT64_MIN)
	{
		memset(mask, negate, n);
		return;
	}
	low = (int64) Max(test->low, (int128) PG_INT64_MIN);
	high = (int64) Min(test->high, (int128) PG_INT64_MAX);
	switch (view->type->id)
	{
		case FLUSS_BOOLEAN:
			INTERVAL_LOOP(fluss_column_boolean);
			break;
		case FLUSS_TINYINT:
			INTERVAL_LOOP(fluss_column_int8);
			break;
		case FLUSS_SMALLINT:
			INTERVAL_LOOP(fluss_column_int16);
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			INTERVAL_LOOP(fluss_column_int32);
			break;
		case FLUSS_TIME:
			if (fluss_type_digits(view->type) <= 3)
				INTERVAL_LOOP(fluss_column_int32)
			else
				INTERVAL_LOOP(fluss_column_int64)
			break;
		default:
			INTERVAL_LOOP(fluss_column_int64);
			break;
	}
}

static void
test_decimals(const VectorNode *test, const fluss_column_view *view,
			  int32 first, int32 n, uint8 *mask)
{
	for (int32 i = 0; i < n; i++)
	{
		int128		v = FlussColumnDecimal(view, first + i);

		mask[i] = (uint8) (v >= test->low && v <= test->high) ^
			(uint8) test->negate;
	}
}

#define FLOAT_LOOP(get, condition) \
	for (int32 i = 0; i < n; i++) \
	{ \
		double		v = get(view, first + i); \
		mask[i] = (uint8) (condition) ^ negate; \
	}

#define FLOAT_LOOPS(get) \
	switch (test->float_test) \
	{ \
		case FLOAT_ANY: \
			memset(mask, !negate, n); \
			break; \
		case FLOAT_LESS: \
			FLOAT_LOOP(get, v < key); \
			break; \
		case FLOAT_LESS_EQUAL: \
			FLOAT_LOOP(get, v <= key); \
			break; \
		case FLOAT_EQUAL: \
			FLOAT_LOOP(get, v == key); \
			break; \
		case FLOAT_NOT_NAN: \
			FLOAT_LOOP(get, v == v); \
			break; \
	}

/* A comparison with NaN is false in C: >= is "not <", so that it is true. */
static void
test_floats(const VectorNode *test, const fluss_column_view *view,
			int32 first, int32 n, uint8 *mask)
{
	double		key = test->float_key;
	uint8		negate = test->negate;

	if (view->type->id == FLUSS_FLOAT)
		FLOAT_LOOPS(fluss_column_float4)
	else
		FLOAT_LOOPS(fluss_column_float8)
}

static void
run_test(VectorNode *test, ExprContext *econtext, const fluss_batch *batch,
		 uint8 *mask)
{
	const fluss_column_view *view = &batch->columns[test->column];
	int32		first = batch->first_row;
	int32		n = batch->end_row - first;

	make_ready(test, econtext);
	if (view->all_null)
	{
		memset(mask, test->null_result, n);
		return;
	}
	switch (test->conversion)
	{
		case FLUSS_CONVERT_FLOAT4:
		case FLUSS_CONVERT_FLOAT8:
			test_floats(test, view, first, n, mask);
			break;
		case FLUSS_CONVERT_DECIMAL:
			test_decimals(test, view, first, n, mask);
			break;
		default:
			test_integers(test, view, first, n, mask);
			break;
	}
	if (view->validity == NULL)
		return;
	for (int32 i = 0; i < n; i++)
	{
		if (fluss_column_is_null(view, first + i))
			mask[i] = test->null_result;
	}
}

static void
evaluate(FlussVector *vector, VectorNode *node, ExprContext *econtext,
		 const fluss_batch *batch)
{
	int32		n = batch->end_row - batch->first_row;
	bool		all = node->kind == VECTOR_AND;
	ListCell   *lc;

	if (node->room < n)
	{
		if (node->mask != NULL)
			pfree(node->mask);
		node->mask = MemoryContextAlloc(vector->context, n);
		node->room = n;
	}
	if (node->kind == VECTOR_TEST)
	{
		run_test(node, econtext, batch, node->mask);
		return;
	}
	memset(node->mask, all, n);
	foreach(lc, node->children)
	{
		VectorNode *child = lfirst(lc);

		/* decided for every row: core would not look at the rest */
		if (memchr(node->mask, all, n) == NULL)
			return;
		evaluate(vector, child, econtext, batch);
		if (all)
		{
			for (int32 i = 0; i < n; i++)
				node->mask[i] &= child->mask[i];
		}
		else
		{
			for (int32 i = 0; i < n; i++)
				node->mask[i] |= child->mask[i];
		}
	}
}

const int32 *
FlussVectorSelect(FlussVector *vector, ExprContext *econtext,
				  const fluss_batch *batch, int32 *nrows)
{
	int32		n = batch->end_row - batch->first_row;
	int32		selected = 0;

	evaluate(vector, vector->root, econtext, batch);
	if (vector->room < n)
	{
		if (vector->rows != NULL)
			pfree(vector->rows);
		vector->rows = MemoryContextAllocHuge(vector->context,
											  n * sizeof(int32));
		vector->room = n;
	}
	for (int32 i = 0; i < n; i++)
	{
		vector->rows[selected] = batch->first_row + i;
		selected += vector->root->mask[i];
	}
	*nrows = selected;
	return vector->rows;
}
