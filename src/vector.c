/*
 * vector.c
 *	  Filters on the column views of a batch, before a row is formed.
 *
 * A clause is a tree of AND and OR over simple tests of one fixed-width column.
 * A test becomes an interval of the column's own raw units (vector_value.c), or
 * several, so that a column of any width is compared without a conversion.
 *
 * Three-valued logic is cut to "true or not": there is no NOT above a test.
 *
 * The other side of a test is computed once per rescan, and not before a row
 * is there that gets as far: an error in it shows where core would show it.  A
 * column that is tested is filled in as well, so a surviving row with a value
 * that PostgreSQL cannot hold is an error as without a filter.
 */
#include "vector.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

struct FlussVector
{
	FlussVectorNode *root;
	MemoryContext context;
	int32	   *rows;
	int			room;
};

/* ------------------------------------------------------- what qualifies */

static bool
is_float_type(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/* Pairs whose operators depend on no setting. */
static bool
is_comparable(Oid column, Oid value)
{
	if (FlussIsIntegerType(column))
		return FlussIsIntegerType(value);
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
		return FLUSS_NOT_EQUAL_STRATEGY;
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
			  FlussVectorNode *test)
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
				FlussVectorNode *test)
{
	test->attnum = plain_column(rel, varno, (Node *) ntest->arg);
	test->null_result = ntest->nulltesttype == IS_NULL;
	/* every value lies within */
	test->low = -FLUSS_WIDE_MAX;
	test->high = FLUSS_WIDE_MAX;
	test->float_test = FLOAT_ANY;
	test->negate = ntest->nulltesttype == IS_NULL;
	return AttributeNumberIsValid(test->attnum) && !ntest->argisrow;
}

/* Fills in what the form of a test tells; value is its other side, or NULL. */
static bool
match_test(FlussRelation *rel, Index varno, Node *clause, FlussVectorNode *test,
		   Expr **value)
{
	FlussComparison comparison;

	*value = NULL;
	test->kind = VECTOR_TEST;
	test->strategy = 0;
	test->ready = true;
	if (IsA(clause, NullTest))
		return match_null_test(rel, varno, (NullTest *) clause, test);
	if (!IsA(clause, OpExpr) && !IsA(clause, ScalarArrayOpExpr))
		return match_boolean(rel, varno, clause, test);
	if (!FlussSplitComparison(rel, varno, clause, &comparison) ||
		!is_comparable(comparison.attr->type, comparison.argtype))
		return false;
	test->attnum = comparison.attr->attnum;
	test->argtype = comparison.argtype;
	test->is_array = comparison.is_array;
	*value = comparison.value;
	test->ready = false;
	test->strategy = strategy_of(comparison.opno, comparison.attr->type);
	return test->is_array ? test->strategy == BTEqualStrategyNumber :
		test->strategy != 0;
}

bool
FlussIsVectorClause(FlussRelation *rel, Index varno, Node *clause)
{
	FlussVectorNode	test = {0};
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

static FlussVectorNode *
compile(FlussRelation *rel, Index varno, Node *clause, PlanState *parent)
{
	FlussVectorNode *node = palloc0(sizeof(*node));
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
bind(FlussVectorNode *node, FlussScanState *state)
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
forget_values(FlussVectorNode *node)
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
test_integers(const FlussVectorNode *test, const fluss_column_view *view,
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
test_decimals(const FlussVectorNode *test, const fluss_column_view *view,
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
test_floats(const FlussVectorNode *test, const fluss_column_view *view,
			int32 first, int32 n, uint8 *mask)
{
	double		key = test->float_key;
	uint8		negate = test->negate;

	if (view->type->id == FLUSS_FLOAT)
		FLOAT_LOOPS(fluss_column_float4)
	else
		FLOAT_LOOPS(fluss_column_float8)
}

static inline bool
lies_within(const FlussVectorNode *test, int128 value)
{
	int			low = 0;
	int			high = test->nintervals;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (test->intervals[middle].high < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low < test->nintervals && test->intervals[low].low <= value;
}

#define ARRAY_LOOP(value) \
	for (int32 i = 0; i < n; i++) \
		mask[i] = lies_within(test, value)

static void
test_array(const FlussVectorNode *test, const fluss_column_view *view,
		   int32 first, int32 n, uint8 *mask)
{
	if (test->conversion == FLUSS_CONVERT_DECIMAL)
	{
		ARRAY_LOOP(FlussColumnDecimal(view, first + i));
		return;
	}
	switch (view->type->id)
	{
		case FLUSS_BOOLEAN:
			ARRAY_LOOP(fluss_column_boolean(view, first + i));
			break;
		case FLUSS_TINYINT:
			ARRAY_LOOP(fluss_column_int8(view, first + i));
			break;
		case FLUSS_SMALLINT:
			ARRAY_LOOP(fluss_column_int16(view, first + i));
			break;
		case FLUSS_FLOAT:
			ARRAY_LOOP(FlussFloatOrder(fluss_column_float4(view, first + i)));
			break;
		case FLUSS_DOUBLE:
			ARRAY_LOOP(FlussFloatOrder(fluss_column_float8(view, first + i)));
			break;
		case FLUSS_INTEGER:
		case FLUSS_DATE:
			ARRAY_LOOP(fluss_column_int32(view, first + i));
			break;
		case FLUSS_TIME:
			if (fluss_type_digits(view->type) <= 3)
				ARRAY_LOOP(fluss_column_int32(view, first + i));
			else
				ARRAY_LOOP(fluss_column_int64(view, first + i));
			break;
		default:
			ARRAY_LOOP(fluss_column_int64(view, first + i));
			break;
	}
}

static void
run_test(FlussVector *vector, FlussVectorNode *test, ExprContext *econtext,
		 const fluss_batch *batch, uint8 *mask)
{
	const fluss_column_view *view = &batch->columns[test->column];
	int32		first = batch->first_row;
	int32		n = batch->end_row - first;

	FlussVectorReady(test, vector->context, econtext);
	if (view->all_null)
	{
		memset(mask, test->null_result, n);
		return;
	}
	if (test->is_array)
		test_array(test, view, first, n, mask);
	else if (test->conversion == FLUSS_CONVERT_FLOAT4 ||
			 test->conversion == FLUSS_CONVERT_FLOAT8)
		test_floats(test, view, first, n, mask);
	else if (test->conversion == FLUSS_CONVERT_DECIMAL)
		test_decimals(test, view, first, n, mask);
	else
		test_integers(test, view, first, n, mask);
	if (view->validity == NULL)
		return;
	for (int32 i = 0; i < n; i++)
	{
		if (fluss_column_is_null(view, first + i))
			mask[i] = test->null_result;
	}
}

static void
evaluate(FlussVector *vector, FlussVectorNode *node, ExprContext *econtext,
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
		run_test(vector, node, econtext, batch, node->mask);
		return;
	}
	memset(node->mask, all, n);
	foreach(lc, node->children)
	{
		FlussVectorNode *child = lfirst(lc);

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
