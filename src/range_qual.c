/*
 * range_qual.c
 *	  Which clauses narrow a scan of offsets, and whether it answers them.
 *
 * A clause is a tree of AND and OR.  Its leaves compare offsets, buckets or
 * times, or they are expressions of columns that are the same in all records
 * of a bucket.  An arm of an AND that is of no use is left out, which makes
 * the clause a hint: it is still evaluated on every row.  An OR needs all of
 * its arms.
 *
 * The other sides may be constants, parameters or outer columns: form alone
 * decides, so plan time and execution come to the same result.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

static bool
is_time_type(Oid type)
{
	return type == TIMESTAMPTZOID || type == TIMESTAMPOID || type == DATEOID;
}

/* The comparison's place in the default order of the column's type, or 0. */
static int
strategy_of(const FlussComparison *cmp)
{
	TypeCacheEntry *entry = lookup_type_cache(cmp->attr->type,
											  TYPECACHE_BTREE_OPFAMILY);
	int			strategy = OidIsValid(entry->btree_opf) ?
		get_op_opfamily_strategy(cmp->opno, entry->btree_opf) :
		InvalidStrategy;

	if (cmp->is_array && strategy != BTEqualStrategyNumber)
		return InvalidStrategy;
	return strategy;
}

static void
compare_leaf(FlussLeaf *leaf)
{
	bool		bucket = leaf->comparison.attr->metadata == FLUSS_META_BUCKET;

	if (!FlussIsIntegerType(leaf->comparison.argtype))
		return;
	leaf->kind = FLUSS_LEAF_COMPARE;
	leaf->part = bucket ? FLUSS_PART_PLACE : FLUSS_PART_OFFSET;
	leaf->exact = true;
}

/* An event time only tells the earliest commit. */
static void
time_leaf(FlussLeaf *leaf)
{
	if (!is_time_type(leaf->comparison.argtype))
		return;
	if (leaf->comparison.attr->event_time &&
		(leaf->strategy == BTLessStrategyNumber ||
		 leaf->strategy == BTLessEqualStrategyNumber))
		return;
	leaf->kind = FLUSS_LEAF_TIME;
	leaf->part = FLUSS_PART_TIME;
	leaf->exact = false;
}

static bool
is_comparison_leaf(FlussRelation *rel, Index varno, Node *clause,
				   FlussLeaf *leaf)
{
	const FlussAttribute *attr;

	if (!FlussSplitComparison(rel, varno, clause, &leaf->comparison))
		return false;
	attr = leaf->comparison.attr;
	leaf->strategy = strategy_of(&leaf->comparison);
	if (leaf->strategy == InvalidStrategy)
		return false;
	if (attr->metadata == FLUSS_META_BUCKET ||
		attr->metadata == FLUSS_META_LOG_OFFSET)
		compare_leaf(leaf);
	else if (attr->metadata == FLUSS_META_COMMIT_TIMESTAMP || attr->event_time)
		time_leaf(leaf);
	return leaf->kind != FLUSS_LEAF_NONE;
}

/*
 * Any expression that has one value in a whole place.  What the records of a
 * partition hold in its columns is their writers' affair, so those are looked
 * at again.
 */
static void
test_leaf(FlussRelation *rel, Index varno, Node *clause, FlussLeaf *leaf)
{
	List	   *vars;
	ListCell   *lc;
	int			part = FLUSS_PART_PLACE;
	bool		exact = true;

	if (contain_volatile_functions(clause) || contain_subplans(clause))
		return;
	vars = pull_var_clause(clause, PVC_RECURSE_PLACEHOLDERS |
						   PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_WINDOWFUNCS);
	foreach(lc, vars)
	{
		Var		   *var = lfirst(lc);

		if (!IsA(var, Var) || var->varlevelsup != 0)
			return;
		if (var->varno != (int) varno)
			continue;
		if (!FlussIsPlaceColumn(rel, var->varattno))
			return;
		if (rel->attrs[var->varattno - 1].partition_key >= 0)
			exact = false;
		if (rel->attrs[var->varattno - 1].metadata != FLUSS_META_BUCKET)
			part |= FLUSS_PART_PARTITION;
	}
	leaf->kind = FLUSS_LEAF_TEST;
	leaf->part = part;
	leaf->exact = exact;
}

void
FlussLeafOf(FlussRelation *rel, Index varno, Node *clause, FlussLeaf *leaf)
{
	memset(leaf, 0, sizeof(*leaf));
	if (!is_comparison_leaf(rel, varno, clause, leaf))
		test_leaf(rel, varno, clause, leaf);
}

/* left op right by that strategy of the operator's family, or NULL. */
static Expr *
compare_columns(RowCompareExpr *row, int i, int strategy)
{
	Node	   *left = list_nth(row->largs, i);
	Node	   *right = list_nth(row->rargs, i);
	Oid			family = list_nth_oid(row->opfamilies, i);
	int			given;
	Oid			lefttype;
	Oid			righttype;
	Oid			opno;
	Expr	   *result;

	get_op_opfamily_properties(list_nth_oid(row->opnos, i), family, false,
							   &given, &lefttype, &righttype);
	opno = get_opfamily_member(family, lefttype, righttype, strategy);
	if (!OidIsValid(opno))
		return NULL;
	result = make_opclause(opno, BOOLOID, false, (Expr *) left, (Expr *) right,
						   InvalidOid, list_nth_oid(row->inputcollids, i));
	set_opfuncid((OpExpr *) result);
	return result;
}

/* (a, b) > (1, 2) is a > 1 OR (a = 1 AND b > 2) */
Node *
FlussExpandRowCompare(Node *clause)
{
	RowCompareExpr *row = (RowCompareExpr *) clause;
	List	   *arms = NIL;
	List	   *equal = NIL;
	int			n;

	if (!IsA(clause, RowCompareExpr))
		return clause;
	n = list_length(row->opnos);
	for (int i = 0; i < n; i++)
	{
		int			strategy = fluss_row_compare_strategy(row);
		Expr	   *step;

		if (i < n - 1 && strategy == BTLessEqualStrategyNumber)
			strategy = BTLessStrategyNumber;
		if (i < n - 1 && strategy == BTGreaterEqualStrategyNumber)
			strategy = BTGreaterStrategyNumber;
		step = compare_columns(row, i, strategy);
		if (step == NULL)
			return clause;
		arms = lappend(arms, make_ands_explicit(lappend(list_copy(equal),
														 step)));
		step = compare_columns(row, i, BTEqualStrategyNumber);
		if (step == NULL)
			return clause;
		equal = lappend(equal, step);
	}
	return (Node *) make_orclause(arms);
}

static FlussRangeUse
use_of_and(FlussRelation *rel, Index varno, List *args, int allowed,
		   int *parts)
{
	bool		useful = false;
	bool		exact = true;
	ListCell   *lc;

	foreach(lc, args)
	{
		FlussRangeUse use = FlussRangeUseOf(rel, varno, lfirst(lc), allowed,
											parts);

		useful = useful || use != FLUSS_RANGE_NONE;
		exact = exact && use == FLUSS_RANGE_EXACT;
	}
	return !useful ? FLUSS_RANGE_NONE :
		exact ? FLUSS_RANGE_EXACT : FLUSS_RANGE_HINT;
}

static FlussRangeUse
use_of_or(FlussRelation *rel, Index varno, List *args, int allowed, int *parts)
{
	FlussRangeUse result = FLUSS_RANGE_EXACT;
	int			found = 0;
	ListCell   *lc;

	foreach(lc, args)
	{
		FlussRangeUse use = FlussRangeUseOf(rel, varno, lfirst(lc), allowed,
											&found);

		if (use == FLUSS_RANGE_NONE)
			return use;
		result = Min(result, use);
	}
	*parts |= found;
	return result;
}

FlussRangeUse
FlussRangeUseOf(FlussRelation *rel, Index varno, Node *clause, int allowed,
				int *parts)
{
	FlussLeaf	leaf;
	int			ignored = 0;

	if (parts == NULL)
		parts = &ignored;
	clause = FlussExpandRowCompare(clause);
	if (is_andclause(clause))
		return use_of_and(rel, varno, ((BoolExpr *) clause)->args, allowed,
						  parts);
	if (is_orclause(clause))
		return use_of_or(rel, varno, ((BoolExpr *) clause)->args, allowed,
						 parts);
	FlussLeafOf(rel, varno, clause, &leaf);
	if (leaf.kind == FLUSS_LEAF_NONE || (leaf.part & ~allowed) != 0)
		return FLUSS_RANGE_NONE;
	*parts |= leaf.part;
	return leaf.exact ? FLUSS_RANGE_EXACT : FLUSS_RANGE_HINT;
}
