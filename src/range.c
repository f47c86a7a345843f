/*
 * range.c
 *	  From clauses over _log_offset and _bucket to intervals of offsets.
 *
 * A clause is a tree of AND and OR over comparisons.  For one bucket every node
 * is a set of offsets: a comparison of the offset is an interval, a comparison
 * of the bucket is all offsets or none, AND is intersection and OR is union.
 * Evaluating the tree once per bucket so gives disjoint ascending intervals,
 * and no record is read twice whatever the clauses say.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

typedef enum NodeKind
{
	NODE_AND,
	NODE_OR,
	NODE_COMPARE
} NodeKind;

struct FlussRangeTree
{
	NodeKind	kind;
	List	   *children;		/* AND, OR: of FlussRangeTree */
	/* comparisons */
	FlussMetadata target;
	int			strategy;		/* btree */
	bool		is_array;
	Oid			type;			/* of the value */
	Const	   *constant;		/* at plan time */
	ExprState  *value;			/* at execution */
	/* the values of the current evaluation */
	int			nvalues;
	int64	   *values;
};

/* ------------------------------------------------------- interval algebra */

static FlussIntervals
none(void)
{
	FlussIntervals result = {0, NULL};

	return result;
}

static FlussIntervals
single(int64 start, int64 end)
{
	FlussIntervals result = {1, palloc(sizeof(FlussInterval))};

	if (start < 0)
		start = 0;
	if (start >= end)
		return none();
	result.items[0].start = start;
	result.items[0].end = end;
	return result;
}

static FlussIntervals
intersect(FlussIntervals a, FlussIntervals b)
{
	FlussIntervals result = {0, palloc((a.n + b.n + 1) * sizeof(FlussInterval))};
	int			i = 0;
	int			j = 0;

	while (i < a.n && j < b.n)
	{
		int64		start = Max(a.items[i].start, b.items[j].start);
		int64		end = Min(a.items[i].end, b.items[j].end);

		if (start < end)
		{
			result.items[result.n].start = start;
			result.items[result.n++].end = end;
		}
		if (a.items[i].end < b.items[j].end)
			i++;
		else
			j++;
	}
	return result;
}

static int
compare_intervals(const void *a, const void *b)
{
	const FlussInterval *x = a;
	const FlussInterval *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Sorts, and joins what overlaps or touches. */
static FlussIntervals
normalize(FlussIntervals set)
{
	int			n = 0;

	if (set.n > 1)
		qsort(set.items, set.n, sizeof(FlussInterval), compare_intervals);
	for (int i = 0; i < set.n; i++)
	{
		if (n > 0 && set.items[i].start <= set.items[n - 1].end)
			set.items[n - 1].end = Max(set.items[n - 1].end, set.items[i].end);
		else
			set.items[n++] = set.items[i];
	}
	set.n = n;
	return set;
}

/* ------------------------------------------------------------- the tree */

static FlussRangeTree *
compile(FlussRelation *rel, Index varno, Node *clause, PlanState *parent)
{
	FlussRangeTree *node = palloc0(sizeof(*node));
	Expr	   *value;
	ListCell   *lc;

	if (IsA(clause, BoolExpr))
	{
		node->kind = ((BoolExpr *) clause)->boolop == OR_EXPR ?
			NODE_OR : NODE_AND;
		foreach(lc, ((BoolExpr *) clause)->args)
			node->children = lappend(node->children,
									 compile(rel, varno, lfirst(lc), parent));
		return node;
	}

	node->kind = NODE_COMPARE;
	if (!FlussMatchComparison(rel, varno, clause, &node->target,
							  &node->strategy, &value, &node->is_array))
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has changed since the query was planned",
						rel->name)));
	node->type = exprType((Node *) value);
	if (IsA(value, Const))
		node->constant = (Const *) value;
	else if (parent != NULL)
		node->value = ExecInitExpr(value, parent);
	return node;
}

FlussRangeTree *
FlussRangeCompile(FlussRelation *rel, Index varno, List *clauses,
				  PlanState *parent)
{
	Node	   *all = (Node *) makeBoolExpr(AND_EXPR, clauses, -1);

	return compile(rel, varno, all, parent);
}

static int64
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

static void
take_array(FlussRangeTree *node, Datum datum)
{
	ArrayType  *array = DatumGetArrayTypeP(datum);
	Oid			type = ARR_ELEMTYPE(array);
	int16		len;
	bool		byval;
	char		align;
	Datum	   *items;
	bool	   *nulls;
	int			n;

	get_typlenbyvalalign(type, &len, &byval, &align);
	deconstruct_array(array, type, len, byval, align, &items, &nulls, &n);
	node->values = palloc((n + 1) * sizeof(int64));
	node->nvalues = 0;
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			node->values[node->nvalues++] = integer_of(items[i], type);
	}
}

/* NULL leaves no values: such a comparison is true for no offset. */
static void
take_value(FlussRangeTree *node, Datum datum, bool isnull)
{
	node->nvalues = 0;
	if (isnull)
		return;
	if (node->is_array)
	{
		take_array(node, datum);
		return;
	}
	node->values = palloc(sizeof(int64));
	node->values[0] = integer_of(datum, node->type);
	node->nvalues = 1;
}

static void
evaluate_values(FlussRangeTree *node, ExprContext *econtext)
{
	ListCell   *lc;
	Datum		datum;
	bool		isnull;

	foreach(lc, node->children)
		evaluate_values(lfirst(lc), econtext);
	if (node->kind != NODE_COMPARE)
		return;
	if (node->constant != NULL)
	{
		take_value(node, node->constant->constvalue,
				   node->constant->constisnull);
		return;
	}
	datum = ExecEvalExpr(node->value, econtext, &isnull);
	take_value(node, datum, isnull);
}

static FlussIntervals
interval_of(int strategy, int64 value)
{
	int64		next = value < FLUSS_OFFSET_END ? value + 1 : value;

	switch (strategy)
	{
		case BTLessStrategyNumber:
			return single(0, value);
		case BTLessEqualStrategyNumber:
			return single(0, next);
		case BTEqualStrategyNumber:
			return value < 0 ? none() : single(value, next);
		case BTGreaterEqualStrategyNumber:
			return single(value, FLUSS_OFFSET_END);
		default:
			return single(next, FLUSS_OFFSET_END);
	}
}

static bool
bucket_matches(int strategy, int64 value, int bucket)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return bucket < value;
		case BTLessEqualStrategyNumber:
			return bucket <= value;
		case BTEqualStrategyNumber:
			return bucket == value;
		case BTGreaterEqualStrategyNumber:
			return bucket >= value;
		default:
			return bucket > value;
	}
}

static FlussIntervals
compare_set(const FlussRangeTree *node, int bucket)
{
	FlussIntervals result = none();

	if (node->target == FLUSS_META_BUCKET)
	{
		for (int i = 0; i < node->nvalues; i++)
		{
			if (bucket_matches(node->strategy, node->values[i], bucket))
				return single(0, FLUSS_OFFSET_END);
		}
		return result;
	}

	result.items = palloc((node->nvalues + 1) * sizeof(FlussInterval));
	for (int i = 0; i < node->nvalues; i++)
	{
		FlussIntervals one = interval_of(node->strategy, node->values[i]);

		if (one.n > 0)
			result.items[result.n++] = one.items[0];
	}
	return normalize(result);
}

static FlussIntervals set_of(const FlussRangeTree *node, int bucket);

static FlussIntervals
intersection_of(const FlussRangeTree *node, int bucket)
{
	FlussIntervals result = single(0, FLUSS_OFFSET_END);
	ListCell   *lc;

	foreach(lc, node->children)
		result = intersect(result, set_of(lfirst(lc), bucket));
	return result;
}

/* Puts all children together at once: an OR may have thousands. */
static FlussIntervals
union_of(const FlussRangeTree *node, int bucket)
{
	int			nchildren = list_length(node->children);
	FlussIntervals *children = palloc((nchildren + 1) * sizeof(*children));
	FlussIntervals result = none();
	int			n = 0;

	for (int i = 0; i < nchildren; i++)
	{
		children[i] = set_of(list_nth(node->children, i), bucket);
		n += children[i].n;
	}
	result.items = palloc((n + 1) * sizeof(FlussInterval));
	for (int i = 0; i < nchildren; i++)
	{
		if (children[i].n > 0)
			memcpy(result.items + result.n, children[i].items,
				   children[i].n * sizeof(FlussInterval));
		result.n += children[i].n;
	}
	return normalize(result);
}

static FlussIntervals
set_of(const FlussRangeTree *node, int bucket)
{
	switch (node->kind)
	{
		case NODE_AND:
			return intersection_of(node, bucket);
		case NODE_OR:
			return union_of(node, bucket);
		default:
			return compare_set(node, bucket);
	}
}

static FlussIntervals *
all_buckets(const FlussRangeTree *tree, int nbuckets)
{
	FlussIntervals *result = palloc0((nbuckets + 1) * sizeof(*result));

	for (int i = 0; i < nbuckets; i++)
		result[i] = set_of(tree, i);
	return result;
}

FlussIntervals *
FlussRangeEvaluate(FlussRangeTree *tree, ExprContext *econtext, int nbuckets)
{
	evaluate_values(tree, econtext);
	return all_buckets(tree, nbuckets);
}

static bool
is_constant_tree(const FlussRangeTree *node)
{
	ListCell   *lc;

	foreach(lc, node->children)
	{
		if (!is_constant_tree(lfirst(lc)))
			return false;
	}
	return node->kind != NODE_COMPARE || node->constant != NULL;
}

bool
FlussRangeConstant(FlussRelation *rel, Index varno, List *clauses,
				   int nbuckets, FlussIntervals **intervals)
{
	FlussRangeTree *tree = FlussRangeCompile(rel, varno, clauses, NULL);

	if (!is_constant_tree(tree))
		return false;
	evaluate_values(tree, NULL);
	*intervals = all_buckets(tree, nbuckets);
	return true;
}

/* "bucket 0: [5,15), bucket 2: [0,3) [7,)", or "none" */
char *
FlussRangeText(const FlussIntervals *intervals, int nbuckets)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < nbuckets; i++)
	{
		if (intervals[i].n == 0)
			continue;
		appendStringInfo(&out, "%sbucket %d:", out.len > 0 ? ", " : "", i);
		for (int j = 0; j < intervals[i].n; j++)
		{
			FlussInterval *item = &intervals[i].items[j];

			if (item->end == FLUSS_OFFSET_END)
				appendStringInfo(&out, " [" INT64_FORMAT ",)", item->start);
			else
				appendStringInfo(&out, " [" INT64_FORMAT "," INT64_FORMAT ")",
								 item->start, item->end);
		}
	}
	return out.len > 0 ? out.data : pstrdup("none");
}
