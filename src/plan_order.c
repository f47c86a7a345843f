/*
 * plan_order.c
 *	  Scans that stop early or read in order: LIMIT, and ORDER BY over offsets
 *	  and commit times.
 *
 * A limit is a hint for the scan, the Limit node stays.  It is given only where
 * each row of the scan is a row of the Limit node: nothing between the two
 * drops, groups or multiplies rows, and the scan itself evaluates all clauses.
 *
 * An order is claimed for offsets alone, which are integers, are never NULL and
 * ascend within a bucket.  The tail of a log claims none: it holds all rows that
 * can be among the first n of the order, ties included, and the Sort node
 * stays.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Rows that a limit which is not known yet asks for. */
#define UNKNOWN_LIMIT	100.0

/* ----------------------------------------------------------------- limits */

static bool
is_usable_limit(Node *expr)
{
	return !contain_volatile_functions(expr) && !contain_subplans(expr);
}

/*
 * Is it all that the query reads, or a member of that?  An Append hands on every
 * row of its members, and it is they that evaluate the clauses.
 */
static bool
is_only_relation(PlannerInfo *root, RelOptInfo *baserel)
{
	if (baserel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		return bms_equal(root->all_baserels, baserel->top_parent_relids);
	return baserel->reloptkind == RELOPT_BASEREL &&
		bms_equal(root->all_baserels, baserel->relids);
}

/* Does every row of the relation go to the query's Limit node? */
static bool
feeds_limit(PlannerInfo *root, RelOptInfo *baserel)
{
	Query	   *parse = root->parse;
	Node	   *count = parse->limitCount;

	if (count == NULL || parse->limitOption != LIMIT_OPTION_COUNT ||
		(IsA(count, Const) && ((Const *) count)->constisnull))
		return false;
	if (!is_only_relation(root, baserel) ||
		parse->commandType != CMD_SELECT || parse->rowMarks != NIL ||
		parse->setOperations != NULL || parse->groupClause != NIL ||
		parse->groupingSets != NIL || parse->distinctClause != NIL ||
		parse->hasAggs || parse->hasWindowFuncs || parse->hasTargetSRFs ||
		root->hasHavingQual)
		return false;
	return is_usable_limit(count) &&
		(parse->limitOffset == NULL || is_usable_limit(parse->limitOffset));
}

/* The scan drops all rows that the clauses of the relation refuse. */
static bool
evaluates_all(FlussPlanState *state, RelOptInfo *baserel)
{
	int			allowed = FlussAllowedParts(state->keyed ? FLUSS_SCAN_LIMIT :
											FlussLogKind(state->rel));
	ListCell   *lc;

	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		if (!restriction_is_securely_promotable(rinfo, baserel) ||
			FlussRangeUseOf(state->rel, baserel->relid,
							(Node *) rinfo->clause, allowed, NULL) !=
			FLUSS_RANGE_EXACT)
			return false;
	}
	return true;
}

static bool
is_limited(PlannerInfo *root, RelOptInfo *baserel, FlussPlanState *state)
{
	return feeds_limit(root, baserel) && evaluates_all(state, baserel);
}

static double
limit_rows(PlannerInfo *root)
{
	return root->limit_tuples > 0 ? root->limit_tuples : UNKNOWN_LIMIT;
}

List *
FlussLimitExprs(PlannerInfo *root)
{
	List	   *exprs = list_make1(copyObject(root->parse->limitCount));

	if (root->parse->limitOffset != NULL)
		exprs = lappend(exprs, copyObject(root->parse->limitOffset));
	return exprs;
}

/* ----------------------------------------------------------------- orders */

/* The metadata column of the relation that a pathkey orders by. */
static FlussMetadata
ordered_column(FlussRelation *rel, RelOptInfo *baserel, PathKey *pathkey,
			   bool *descending)
{
	ListCell   *lc;

	*descending = fluss_pathkey_descends(pathkey);
	if (pathkey->pk_eclass->ec_has_volatile)
		return FLUSS_META_NONE;
	foreach(lc, pathkey->pk_eclass->ec_members)
	{
		EquivalenceMember *em = lfirst(lc);
		Var		   *var = (Var *) em->em_expr;
		const FlussAttribute *attr;
		Oid			type;

		if (!IsA(var, Var) || var->varno != (int) baserel->relid ||
			var->varattno <= 0 || var->varattno > rel->natts)
			continue;
		attr = &rel->attrs[var->varattno - 1];
		type = attr->metadata == FLUSS_META_COMMIT_TIMESTAMP ?
			TIMESTAMPTZOID : INT8OID;
		if (lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf ==
			pathkey->pk_opfamily)
			return attr->metadata;
	}
	return FLUSS_META_NONE;
}

/* Is only one bucket read, of one partition? */
static bool
reads_one_bucket(FlussPlanState *state, RelOptInfo *baserel)
{
	ListCell   *lc;

	if (state->rel->table->nbuckets == 1)
		return true;
	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		FlussLeaf	leaf;

		if (!IsA(rinfo->clause, OpExpr))
			continue;
		FlussLeafOf(state->rel, baserel->relid, (Node *) rinfo->clause, &leaf);
		if (leaf.kind == FLUSS_LEAF_COMPARE && leaf.exact &&
			leaf.comparison.attr->metadata == FLUSS_META_BUCKET &&
			leaf.strategy == BTEqualStrategyNumber &&
			!leaf.comparison.is_array)
			return true;
	}
	return false;
}

/* The column of an equality that holds for one value in bytes, or none. */
static AttrNumber
equal_column(FlussRelation *rel, Index varno, OpExpr *op)
{
	for (int i = 0; i < 2 && list_length(op->args) == 2; i++)
	{
		Var		   *var = list_nth(op->args, i);
		Node	   *other = list_nth(op->args, 1 - i);
		Oid			family;

		if (!IsA(var, Var) || var->varno != (int) varno || var->varattno <= 0 ||
			var->varattno > rel->natts ||
			contain_var_clause(other) || contain_volatile_functions(other))
			continue;
		family = lookup_type_cache(rel->attrs[var->varattno - 1].type,
								   TYPECACHE_BTREE_OPFAMILY)->btree_opf;
		if (OidIsValid(family) &&
			get_op_opfamily_strategy(op->opno, family) ==
			BTEqualStrategyNumber &&
			(!OidIsValid(op->inputcollid) ||
			 get_collation_isdeterministic(op->inputcollid)))
			return var->varattno;
	}
	return InvalidAttrNumber;
}

/* The operator of a = b, and of a IS NOT DISTINCT FROM b, or NULL. */
static OpExpr *
equality_of(Node *clause)
{
	if (is_notclause(clause) && IsA(get_notclausearg(clause), DistinctExpr))
		return (OpExpr *) get_notclausearg(clause);
	return IsA(clause, OpExpr) ? (OpExpr *) clause : NULL;
}

/* Do all rows that pass the clauses belong to one partition? */
static bool
reads_one_partition(FlussPlanState *state, RelOptInfo *baserel)
{
	FlussRelation *rel = state->rel;
	const fluss_table *table = rel->table;
	Bitmapset  *fixed = NULL;
	ListCell   *lc;

	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		OpExpr	   *op = equality_of((Node *) rinfo->clause);
		AttrNumber	attnum;

		if (op == NULL)
			continue;
		attnum = equal_column(rel, baserel->relid, op);
		if (!AttributeNumberIsValid(attnum))
			continue;
		if (rel->attrs[attnum - 1].metadata == FLUSS_META_PARTITION ||
			rel->attrs[attnum - 1].metadata == FLUSS_META_PARTITION_ID)
			return true;
		if (rel->attrs[attnum - 1].remote >= 0 && FlussKeyIsExact(rel, attnum))
			fixed = bms_add_member(fixed, rel->attrs[attnum - 1].remote);
	}
	for (int i = 0; i < table->npartition_key; i++)
	{
		if (!bms_is_member(table->partition_key[i], fixed))
			return false;
	}
	return true;
}

/* As many of the wanted pathkeys as a scan in ascending order has. */
static List *
ascending_pathkeys(PlannerInfo *root, RelOptInfo *baserel,
				   FlussPlanState *state)
{
	bool		one_bucket = reads_one_bucket(state, baserel);
	List	   *result = NIL;
	ListCell   *lc;

	if (!reads_one_partition(state, baserel))
		return NIL;
	foreach(lc, root->query_pathkeys)
	{
		PathKey    *pathkey = lfirst(lc);
		bool		descending;
		FlussMetadata column = ordered_column(state->rel, baserel, pathkey,
											  &descending);

		if (descending || (column != FLUSS_META_BUCKET &&
						   column != FLUSS_META_LOG_OFFSET))
			break;
		if (column == FLUSS_META_LOG_OFFSET && !one_bucket)
			break;
		result = lappend(result, pathkey);
		if (column == FLUSS_META_LOG_OFFSET)
			break;
		one_bucket = true;		/* equal buckets: the offset comes next */
	}
	return result;
}

static FlussScanOrder
tail_order(PlannerInfo *root, RelOptInfo *baserel, FlussPlanState *state)
{
	bool		descending;

	if (root->sort_pathkeys == NIL)
		return FLUSS_ORDER_NONE;
	switch (ordered_column(state->rel, baserel, linitial(root->sort_pathkeys),
						   &descending))
	{
		case FLUSS_META_LOG_OFFSET:
			return descending ? FLUSS_ORDER_TAIL : FLUSS_ORDER_NONE;
		case FLUSS_META_COMMIT_TIMESTAMP:
			return descending ? FLUSS_ORDER_TAIL_TIME : FLUSS_ORDER_NONE;
		default:
			return FLUSS_ORDER_NONE;
	}
}

/* ------------------------------------------------------------------ paths */

static void
add_tail_path(PlannerInfo *root, RelOptInfo *baserel, FlussPlanState *state,
			  FlussScanOrder order)
{
	double		rows = Min(limit_rows(root) * state->rel->table->nbuckets,
						   state->fetched_rows);
	FlussPathForm form = {FlussLogKind(state->rel), order, true};
	FlussCost	cost;

	FlussCostLog(state->rel, rows, &cost);
	/* the ends and starts are asked for first */
	cost.startup += state->rel->options->fdw_startup_cost;
	cost.total += state->rel->options->fdw_startup_cost;
	FlussAddScanPath(root, baserel, &form, baserel->baserestrictinfo, rows,
					 rows, &cost, NIL, baserel->lateral_relids);
}

/*
 * Adds the paths of a log scan that stop early or read in order.  True when
 * one of them takes the place of the plain path.
 */
bool
FlussAddLogPaths(PlannerInfo *root, RelOptInfo *baserel,
				 FlussPlanState *state)
{
	FlussPathForm form = {.kind = FlussLogKind(state->rel)};
	bool		limited = is_limited(root, baserel, state);
	bool		replaces = limited && root->sort_pathkeys == NIL;
	List	   *pathkeys = NIL;
	FlussCost	cost;

	FlussCostLog(state->rel, state->cost_rows, &cost);
	if (replaces)
	{
		form.limited = true;
		FlussAddScanPath(root, baserel, &form, baserel->baserestrictinfo,
						 baserel->rows, state->cost_rows, &cost, NIL,
						 baserel->lateral_relids);
	}
	if (!fluss_enable_ordered_scan)
		return replaces;
	pathkeys = ascending_pathkeys(root, baserel, state);
	if (pathkeys != NIL)
	{
		form.order = FLUSS_ORDER_ASCENDING;
		form.limited = limited &&
			pathkeys_contained_in(root->sort_pathkeys, pathkeys);
		FlussAddScanPath(root, baserel, &form, baserel->baserestrictinfo,
						 baserel->rows, state->cost_rows, &cost, pathkeys,
						 baserel->lateral_relids);
	}
	if (limited)
	{
		FlussScanOrder order = tail_order(root, baserel, state);

		if (order != FLUSS_ORDER_NONE)
			add_tail_path(root, baserel, state, order);
	}
	return replaces;
}

/* The same for the whole read of a primary key table. */
bool
FlussAddLimitScanPath(PlannerInfo *root, RelOptInfo *baserel,
					  FlussPlanState *state)
{
	FlussPathForm form = {.kind = FLUSS_SCAN_LIMIT, .limited = true};
	double		rows = limit_rows(root);
	FlussCost	cost;

	if (!is_limited(root, baserel, state) || root->sort_pathkeys != NIL ||
		rows > state->rel->options->limit_scan_max_rows)
		return false;
	FlussCostStateScan(state->rel, FLUSS_SCAN_LIMIT, state->table_rows, &cost);
	FlussAddScanPath(root, baserel, &form, baserel->baserestrictinfo,
					 baserel->rows, state->table_rows, &cost, NIL,
					 baserel->lateral_relids);
	return true;
}
