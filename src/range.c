/*
 * range.c
 *	  From range clauses to the records that a scan needs of each bucket.
 *
 * Clauses are compiled into a tree of AND and OR over leaves (range_qual.c).
 * For one bucket every node is a set of offsets (interval.c): a comparison of
 * the offset is an interval, one of a time is all offsets with a time, one of
 * the bucket or a test of the place is all or none.  AND is intersection and
 * OR is union.  Evaluating the tree once per bucket so gives disjoint
 * ascending intervals, and no record is read twice whatever the clauses say.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

typedef enum NodeKind
{
	NODE_ALL,					/* a clause of no use */
	NODE_AND,
	NODE_OR,
	NODE_COMPARE,
	NODE_TIME,
	NODE_TEST
} NodeKind;

typedef struct RangeNode RangeNode;
struct RangeNode
{
	NodeKind	kind;
	List	   *children;		/* AND, OR: of RangeNode */
	Cost		cost;			/* of its tests */

	/* COMPARE, TIME */
	const FlussAttribute *attr;
	int			strategy;		/* btree */
	bool		is_array;
	Oid			type;			/* of the value; of its elements */
	ExprState  *value;			/* TEST: the test */

	/* the values of the current evaluation */
	int			nvalues;
	int64	   *values;			/* COMPARE */
	bool		any_time;		/* TIME: some time is wanted */
	FlussInterval times;
};

struct FlussRangeTree
{
	RangeNode  *root;
	bool		has_tests;
	TupleTableSlot *slot;		/* what tests look at */
};

/* -------------------------------------------------------------- compiling */

static ExprState *
compile_expr(Expr *expr, PlanState *parent)
{
	if (parent == NULL)
	{
		expr = copyObject(expr);
		fix_opfuncids((Node *) expr);
	}
	return ExecInitExpr(expr, parent);
}

static Cost
cost_of(Node *test)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, test, NULL);
	return cost.startup + cost.per_tuple;
}

static RangeNode *
compile_leaf(FlussRangeTree *tree, FlussRelation *rel, Index varno,
			 Node *clause, int allowed, PlanState *parent)
{
	RangeNode  *node = palloc0(sizeof(*node));
	FlussLeaf	leaf;

	FlussLeafOf(rel, varno, clause, &leaf);
	if (leaf.kind == FLUSS_LEAF_NONE || (leaf.part & ~allowed) != 0)
	{
		node->kind = NODE_ALL;
		return node;
	}
	if (leaf.kind == FLUSS_LEAF_TEST)
	{
		node->kind = NODE_TEST;
		node->cost = cost_of(clause);
		node->value = compile_expr((Expr *) clause, parent);
		tree->has_tests = true;
		return node;
	}
	node->kind = leaf.kind == FLUSS_LEAF_TIME ? NODE_TIME : NODE_COMPARE;
	node->attr = leaf.comparison.attr;
	node->strategy = leaf.strategy;
	node->is_array = leaf.comparison.is_array;
	node->type = leaf.comparison.argtype;
	node->value = compile_expr(leaf.comparison.value, parent);
	return node;
}

static RangeNode *
compile(FlussRangeTree *tree, FlussRelation *rel, Index varno, Node *clause,
		int allowed, PlanState *parent)
{
	RangeNode  *node;
	ListCell   *lc;

	clause = FlussExpandRowCompare(clause);
	if (!is_andclause(clause) && !is_orclause(clause))
		return compile_leaf(tree, rel, varno, clause, allowed, parent);
	node = palloc0(sizeof(*node));
	node->kind = is_orclause(clause) ? NODE_OR : NODE_AND;
	foreach(lc, ((BoolExpr *) clause)->args)
	{
		RangeNode  *child = compile(tree, rel, varno, lfirst(lc), allowed,
									parent);

		node->cost += child->cost;
		node->children = lappend(node->children, child);
	}
	return node;
}

/*
 * Clauses in the order in which the executor would evaluate them, so that a
 * cheap one keeps another from an error as it would there.
 */
static void
order_clauses(RangeNode *root)
{
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, root->children)
	{
		RangeNode  *child = lfirst(lc);
		int			i = list_length(ordered);

		while (i > 0 &&
			   ((RangeNode *) list_nth(ordered, i - 1))->cost > child->cost)
			i--;
		ordered = list_insert_nth(ordered, i, child);
	}
	root->children = ordered;
}

/*
 * The plan may be older than what rel says: a clause that cannot be used any
 * more would be lost, as the executor does not look at it.
 */
static void
check_clauses(FlussRelation *rel, Index varno, List *clauses, int allowed)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (FlussRangeUseOf(rel, varno, lfirst(lc), allowed, NULL) !=
			FLUSS_RANGE_NONE)
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION),
				 errmsg("foreign table \"%s\" has changed since the query was planned",
						rel->name)));
	}
}

FlussRangeTree *
FlussRangeCompile(FlussRelation *rel, Index varno, List *clauses, int allowed,
				  PlanState *parent)
{
	FlussRangeTree *tree = palloc0(sizeof(*tree));
	Node	   *all = (Node *) makeBoolExpr(AND_EXPR, clauses, -1);

	check_clauses(rel, varno, clauses, allowed);
	tree->root = compile(tree, rel, varno, all, allowed, parent);
	order_clauses(tree->root);
	if (tree->has_tests)
		tree->slot = FlussPlaceSlot(rel);
	return tree;
}

/* ----------------------------------------------------------------- values */

/* Times of several values: what lies between them may come, too. */
static void
take_time(RangeNode *node, Datum datum)
{
	FlussInterval one = FLUSS_WHOLE_INTERVAL;

	if (!FlussTimeBounds(node->attr, node->strategy, node->type, datum, &one))
		return;
	if (node->any_time)
	{
		one.from_ms = Min(one.from_ms, node->times.from_ms);
		one.until_ms = Max(one.until_ms, node->times.until_ms);
	}
	node->times = one;
	node->any_time = true;
}

static void
take_one(RangeNode *node, Datum datum)
{
	if (node->kind == NODE_TIME)
		take_time(node, datum);
	else
		node->values[node->nvalues++] = FlussIntegerOf(datum, node->type);
}

static void
take_array(RangeNode *node, Datum datum)
{
	Datum	   *items;
	bool	   *nulls;
	int			n = FlussArrayElements(datum, &items, &nulls);

	node->values = palloc((n + 1) * sizeof(int64));
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			take_one(node, items[i]);
	}
}

/* NULL leaves no values: such a comparison is true for no record. */
static void
evaluate_values(RangeNode *node, ExprContext *econtext)
{
	ListCell   *lc;
	Datum		datum;
	bool		isnull;

	foreach(lc, node->children)
		evaluate_values(lfirst(lc), econtext);
	if (node->kind != NODE_COMPARE && node->kind != NODE_TIME)
		return;
	node->nvalues = 0;
	node->any_time = false;
	datum = ExecEvalExpr(node->value, econtext, &isnull);
	if (isnull)
		return;
	if (node->is_array)
	{
		take_array(node, datum);
		return;
	}
	node->values = palloc(sizeof(int64));
	take_one(node, datum);
}

/* ------------------------------------------------------------------- sets */

static FlussOffsetSet
offsets_of(int strategy, int64 value)
{
	FlussInterval result = FLUSS_WHOLE_INTERVAL;
	int64		next = value < FLUSS_OFFSET_END ? value + 1 : value;
	bool		open = false;

	switch (strategy)
	{
		case BTLessStrategyNumber:
			result.end = value;
			open = true;
			break;
		case BTLessEqualStrategyNumber:
			result.end = next;
			open = true;
			break;
		case BTEqualStrategyNumber:
			result.start = value;
			result.end = value < 0 ? value : next;
			break;
		case BTGreaterEqualStrategyNumber:
			result.start = value;
			break;
		default:
			result.start = next;
			break;
	}
	result.start = Max(result.start, 0);
	return FlussSetOf(&result, open);
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

static FlussOffsetSet
set_of_comparison(const RangeNode *node, int bucket)
{
	FlussOffsetSet *sets;

	if (node->attr->metadata == FLUSS_META_BUCKET)
	{
		for (int i = 0; i < node->nvalues; i++)
		{
			if (bucket_matches(node->strategy, node->values[i], bucket))
				return FlussSetAll();
		}
		return FlussSetNone();
	}
	if (node->nvalues == 1)
		return offsets_of(node->strategy, node->values[0]);
	sets = palloc((node->nvalues + 1) * sizeof(*sets));
	for (int i = 0; i < node->nvalues; i++)
		sets[i] = offsets_of(node->strategy, node->values[i]);
	return FlussSetUnion(sets, node->nvalues);
}

/* An event time is a hint and no bound: what it leaves out could not match. */
static FlussOffsetSet
set_of_time(const RangeNode *node)
{
	bool		open = node->attr->event_time ||
		node->strategy == BTLessStrategyNumber ||
		node->strategy == BTLessEqualStrategyNumber;

	return node->any_time ? FlussSetOf(&node->times, open) : FlussSetNone();
}

static FlussOffsetSet
set_of_test(const RangeNode *node, ExprContext *econtext)
{
	bool		isnull;
	Datum		datum = ExecEvalExprSwitchContext(node->value, econtext,
												  &isnull);

	return !isnull && DatumGetBool(datum) ? FlussSetAll() : FlussSetNone();
}

static FlussOffsetSet set_of(const RangeNode *node, ExprContext *econtext,
							 int bucket);

/* What follows an empty arm is not evaluated: a test may be an error there. */
static FlussOffsetSet
intersection_of(const RangeNode *node, ExprContext *econtext, int bucket)
{
	FlussOffsetSet result = FlussSetAll();
	ListCell   *lc;

	foreach(lc, node->children)
	{
		FlussOffsetSet arm = set_of(lfirst(lc), econtext, bucket);

		result = FlussSetIntersect(&result, &arm);
		if (FlussSetIsEmpty(&result))
			break;
	}
	return result;
}

/* Of several tests, what follows one that is true is not evaluated either. */
static FlussOffsetSet
union_of(const RangeNode *node, ExprContext *econtext, int bucket)
{
	FlussOffsetSet *sets = palloc((list_length(node->children) + 1) *
								  sizeof(*sets));
	int			n = 0;
	bool		all = false;
	ListCell   *lc;

	foreach(lc, node->children)
	{
		const RangeNode *child = lfirst(lc);

		if (all && child->kind == NODE_TEST)
			continue;
		sets[n] = set_of(child, econtext, bucket);
		all = all || FlussSetIsAll(&sets[n]);
		n++;
	}
	return FlussSetUnion(sets, n);
}

static FlussOffsetSet
set_of(const RangeNode *node, ExprContext *econtext, int bucket)
{
	switch (node->kind)
	{
		case NODE_AND:
			return intersection_of(node, econtext, bucket);
		case NODE_OR:
			return union_of(node, econtext, bucket);
		case NODE_COMPARE:
			return set_of_comparison(node, bucket);
		case NODE_TIME:
			return set_of_time(node);
		case NODE_TEST:
			return set_of_test(node, econtext);
		default:
			return FlussSetAll();
	}
}

FlussOffsetSet *
FlussRangeEvaluate(FlussRangeTree *tree, ExprContext *econtext,
				   const FlussPlaces *places)
{
	FlussOffsetSet *result = palloc0((places->n + 1) * sizeof(*result));
	TupleTableSlot *scan_slot = econtext->ecxt_scantuple;
	MemoryContext scratch = NULL;
	MemoryContext old;

	evaluate_values(tree->root, econtext);
	if (tree->has_tests)
		scratch = AllocSetContextCreate(CurrentMemoryContext, "fluss place",
										ALLOCSET_SMALL_SIZES);
	for (int i = 0; i < places->n; i++)
	{
		if (tree->has_tests)
		{
			old = MemoryContextSwitchTo(scratch);
			FlussFillPlace(tree->slot, places, i);
			econtext->ecxt_scantuple = tree->slot;
			MemoryContextSwitchTo(old);
		}
		result[i] = set_of(tree->root, econtext, i % places->nbuckets);
		if (tree->has_tests)
		{
			ExecClearTuple(tree->slot);
			MemoryContextReset(scratch);
			ResetExprContext(econtext);
		}
	}
	econtext->ecxt_scantuple = scan_slot;
	if (scratch != NULL)
		MemoryContextDelete(scratch);
	return result;
}

/* ---------------------------------------------------- without an execution */

static bool
has_param_or_other_var(Node *node, void *varno)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) || IsA(node, PlaceHolderVar))
		return true;
	if (IsA(node, Var))
		return ((Var *) node)->varno != *(int *) varno;
	return expression_tree_walker(node, has_param_or_other_var, varno);
}

bool
FlussRangeIsConstant(FlussRelation *rel, Index varno, Node *clause)
{
	int			number = (int) varno;

	return !contain_mutable_functions(clause) &&
		!has_param_or_other_var(clause, &number);
}

FlussOffsetSet *
FlussRangeConstant(FlussRelation *rel, Index varno, List *clauses, int allowed,
				   const FlussPlaces *places)
{
	ExprContext *econtext = CreateStandaloneExprContext();
	FlussRangeTree *tree = FlussRangeCompile(rel, varno, clauses, allowed,
											 NULL);
	FlussOffsetSet *result = FlussRangeEvaluate(tree, econtext, places);

	if (tree->slot != NULL)
		ExecDropSingleTupleTableSlot(tree->slot);
	FreeExprContext(econtext, true);
	return result;
}

/* A bucket as "bucket 0", of a partition as "partition p1 bucket 0". */
char *
FlussRangeText(const FlussPlaces *places, const FlussIntervals *intervals)
{
	StringInfoData out;

	initStringInfo(&out);
	for (int i = 0; i < places->n; i++)
	{
		const fluss_partition *partition = FlussPlacePartition(places, i);

		if (intervals[i].n == 0)
			continue;
		if (out.len > 0)
			appendStringInfoString(&out, ", ");
		if (partition != NULL)
			appendStringInfo(&out, "partition %s ", partition->name);
		appendStringInfo(&out, "bucket %d:", i % places->nbuckets);
		FlussIntervalsText(&out, &intervals[i]);
	}
	return out.len > 0 ? out.data : pstrdup("none");
}
