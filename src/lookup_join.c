/*
 * lookup_join.c
 *	  Paths and plans of lookup joins: the rows of any outer side, each with
 *	  what batched lookups in a keyed Fluss table find for it.
 *
 * The inner child is an ordinary foreign scan without parameters that gives
 * whatever rows its parent hands it.  So the inner table's own conditions, row
 * security, whole-row references, system columns and the user to check as stay
 * where core puts them.
 *
 * The plan node's scan tuple has one column for each Var and PlaceHolderVar
 * that the target list or a condition wants from a child.  A join clause
 * speaks of the inner columns before they may become null, the target list of
 * those after it: both are the same column of the scan tuple, so each clause's
 * variables are replaced by the scan tuple's spelling of them.
 */
#include "fluss_fdw.h"

#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/selfuncs.h"

/* A join that may become lookups: what its paths have in common. */
typedef struct LookupJoin
{
	PlannerInfo *root;
	RelOptInfo *joinrel;
	RelOptInfo *outerrel;
	RelOptInfo *innerrel;
	JoinType	jointype;		/* of the execution */
	bool		unique_outer;	/* over the outer side made unique */
	JoinPathExtraData *extra;
	FlussRelation *rel;			/* of the inner side */
	bool		prefix;
	List	   *keys;			/* clauses, one for each key column */
} LookupJoin;

/* Fields of CustomPath.custom_private. */
enum
{
	PATH_JOINTYPE,
	PATH_SINGLE,
	PATH_FIRST_ROWS,
	PATH_PREFIX,
	PATH_KEYS,
	PATH_RESTRICTLIST
};

static set_join_pathlist_hook_type previous_hook;

static Plan *plan_lookup_join(PlannerInfo *root, RelOptInfo *joinrel,
							  CustomPath *best_path, List *tlist,
							  List *clauses, List *custom_plans);

static const CustomPathMethods path_methods = {
	.CustomName = "Fluss Lookup Join",
	.PlanCustomPath = plan_lookup_join
};

static const CustomScanMethods scan_methods = {
	.CustomName = "Fluss Lookup Join",
	.CreateCustomScanState = FlussCreateLookupJoinState
};

/* -------------------------------------------------------- private lists */

static List *
pack_private(const FlussJoinPrivate *priv)
{
	List	   *list = NIL;

	list = lappend(list, makeInteger(priv->jointype));
	list = lappend(list, makeInteger(priv->single));
	/* a worker would read one without a point as an integer */
	list = lappend(list, makeFloat(psprintf("%.1f", priv->first_rows)));
	list = lappend(list, makeInteger(priv->prefix));
	list = lappend(list, priv->attnums);
	list = lappend(list, priv->argtypes);
	list = lappend(list, priv->sources);
	return list;
}

void
FlussJoinPrivateUnpack(List *list, FlussJoinPrivate *priv)
{
	ListCell   *lc = list_head(list);

#define NEXT_FIELD(read) (read); lc = lnext(list, lc)
	priv->jointype = NEXT_FIELD(intVal(lfirst(lc)));
	priv->single = NEXT_FIELD(intVal(lfirst(lc)) != 0);
	priv->first_rows = NEXT_FIELD(floatVal(lfirst(lc)));
	priv->prefix = NEXT_FIELD(intVal(lfirst(lc)) != 0);
	priv->attnums = NEXT_FIELD(lfirst(lc));
	priv->argtypes = NEXT_FIELD(lfirst(lc));
	priv->sources = NEXT_FIELD(lfirst(lc));
#undef NEXT_FIELD
	Assert(lc == NULL);
}

/* ------------------------------------------------------------------ keys */

/* Clauses that decide whether two rows match, and may thus be keys. */
static List *
matching_clauses(const LookupJoin *join)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, join->extra->restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		if (IS_OUTER_JOIN(join->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, join->joinrel->relids))
			continue;
		result = lappend(result, rinfo->clause);
	}
	return result;
}

/* The key's clauses: constants from the inner side, else the join's. */
static bool
find_key(LookupJoin *join)
{
	List	   *joining = matching_clauses(join);
	List	   *clauses = list_copy(joining);
	ListCell   *lc;

	foreach(lc, join->innerrel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant)
			clauses = lappend(clauses, rinfo->clause);
	}
	join->prefix = false;
	join->keys = FlussMatchJoinKey(join->rel, join->innerrel->relid, clauses,
								   false);
	if (join->keys == NIL)
	{
		join->prefix = true;
		join->keys = FlussMatchJoinKey(join->rel, join->innerrel->relid,
									   clauses, true);
	}
	foreach(lc, join->keys)
	{
		if (list_member_ptr(joining, lfirst(lc)))
			return true;
	}
	/* a key without an outer column is a plain lookup's business */
	return false;
}

/* ------------------------------------------------------------------ costs */

/* Different keys among the rows of the outer side. */
static double
count_keys(const LookupJoin *join, double outer_rows)
{
	double		keys = 1;
	double		most = outer_rows;
	ListCell   *lc;

	foreach(lc, join->keys)
	{
		FlussComparison key;
		bool		isdefault;
		VariableStatData vardata;

		if (!FlussSplitComparison(join->rel, join->innerrel->relid, lfirst(lc),
								  &key))
			elog(ERROR, "lookup join holds a clause that is no key");
		if (pull_varnos(join->root, (Node *) key.value) == NULL)
			continue;
		examine_variable(join->root, (Node *) key.value, 0, &vardata);
		keys *= get_variable_numdistinct(&vardata, &isdefault);
		ReleaseVariableStats(vardata);

		/* nothing known: a key for each row, while the table has as many */
		if (isdefault)
			return join->prefix ? outer_rows :
				Min(outer_rows, Max(join->innerrel->tuples, 1));
	}
	return Min(keys, most);
}

/* Rows that the query above wants first, or 0. */
static double
wanted_rows(PlannerInfo *root)
{
	if (root->tuple_fraction >= 1.0)
		return root->tuple_fraction;
	/* some part of all, a cursor's rows for one: a guess to start from */
	return root->tuple_fraction > 0.0 ? 64 : 0;
}

/* A row of the outer side has no more matches than that on average. */
static double
joined_rows(const LookupJoin *join, const Path *outer)
{
	if (join->prefix)
		return join->joinrel->rows;
	if (join->jointype == JOIN_LEFT)
		return Max(Min(join->joinrel->rows, outer->rows), 1);
	return Min(join->joinrel->rows, outer->rows);
}

/* How many shares there are of a path's rows, as core reckons: one if it is whole. */
static double
count_shares(const Path *path)
{
	double		shares = path->parallel_workers;

	if (parallel_leader_participation)
		shares += Max(1.0 - 0.3 * shares, 0);
	return Max(shares, 1);
}

/*
 * Parallel workers share the rows, but not the time of the servers, which one
 * process keeps as busy as several: each waits for the lookups of all.
 */
static void
cost_path(const LookupJoin *join, CustomPath *path, const Path *outer)
{
	double		all_rows = outer->rows * count_shares(outer);
	double		matches = join->prefix ?
		Max(join->joinrel->rows, outer->rows) : outer->rows;
	QualCost	quals;
	FlussCost	lookups;
	Cost		per_row;
	Cost		startup;

	cost_qual_eval(&quals, join->extra->restrictlist, join->root);
	FlussCostLookupJoin(join->rel, all_rows, outer->pathtarget->width,
						count_keys(join, all_rows), wanted_rows(join->root),
						&lookups);
	per_row = cpu_tuple_cost + quals.per_tuple +
		join->innerrel->baserestrictcost.per_tuple +
		join->rel->options->fdw_tuple_cost;
	startup = outer->startup_cost + lookups.startup + quals.startup +
		join->joinrel->reltarget->cost.startup;

	path->path.rows = clamp_row_est(joined_rows(join, outer));
	path->path.startup_cost = startup;
	path->path.total_cost = startup +
		(outer->total_cost - outer->startup_cost) +
		(lookups.total - lookups.startup) +
		outer->rows * cpu_tuple_cost + matches * per_row +
		path->path.rows * join->joinrel->reltarget->cost.per_tuple;
}

/* ------------------------------------------------------------------ paths */

static CustomPath *
make_path(const LookupJoin *join, Path *outer, ForeignPath *inner)
{
	CustomPath *path = makeNode(CustomPath);
	bool		single = !join->prefix || join->extra->inner_unique ||
		join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI;

	path->path.pathtype = T_CustomScan;
	path->path.parent = join->joinrel;
	path->path.pathtarget = join->joinrel->reltarget;
	path->path.parallel_safe = join->joinrel->consider_parallel &&
		outer->parallel_safe && inner->path.parallel_safe;
	path->path.parallel_workers = outer->parallel_workers;
	path->path.pathkeys = build_join_pathkeys(join->root, join->joinrel,
											  join->jointype,
											  outer->pathkeys);
	path->custom_paths = list_make2(outer, inner);
	path->custom_private = list_make5(makeInteger(join->jointype),
									  makeInteger(single),
									  makeFloat(psprintf("%.0f",
														 wanted_rows(join->root))),
									  makeInteger(join->prefix),
									  join->keys);
	path->custom_private = lappend(path->custom_private,
								   join->extra->restrictlist);
	fluss_set_join_conditions(path, join->extra->restrictlist);
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &path_methods;
	cost_path(join, path, outer);
	return path;
}

/* The planner sizes joins by single columns: a key may have several. */
static void
note_uniqueness(const LookupJoin *join)
{
	if (!join->prefix && !join->unique_outer &&
		(join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT))
		join->joinrel->rows = Min(join->joinrel->rows, join->outerrel->rows);
}

static void
add_paths(LookupJoin *join)
{
	ForeignPath *inner = FlussHandedPath(join->root, join->innerrel,
										   join->prefix);
	Path	   *outer = join->outerrel->cheapest_total_path;
	ListCell   *lc;

	note_uniqueness(join);
	if (join->unique_outer)
	{
		if (outer == NULL || PATH_REQ_OUTER(outer) != NULL)
			return;
		outer = (Path *) create_unique_path(join->root, join->outerrel, outer,
											join->extra->sjinfo);
		if (outer != NULL)
			add_path(join->joinrel,
					 (Path *) make_path(join, outer, inner));
		return;
	}

	foreach(lc, join->outerrel->pathlist)
	{
		outer = lfirst(lc);
		if (PATH_REQ_OUTER(outer) == NULL)
			add_path(join->joinrel,
					 (Path *) make_path(join, outer, inner));
	}
	if (!join->joinrel->consider_parallel || !inner->path.parallel_safe)
		return;
	foreach(lc, join->outerrel->partial_pathlist)
		add_partial_path(join->joinrel,
						 (Path *) make_path(join, lfirst(lc), inner));
}

/* Row identities of an inherited target are no variables of a relation yet. */
static bool
has_row_identity(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->reltarget->exprs)
	{
		Var		   *var = lfirst(lc);

		if (IsA(var, Var) && var->varno == ROWID_VAR)
			return true;
	}
	return false;
}

static bool
has_gate(List *restrictlist)
{
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return true;
	}
	return false;
}

static bool
can_be_lookups(LookupJoin *join)
{
	switch (join->jointype)
	{
		case JOIN_INNER:
		case JOIN_LEFT:
		case JOIN_SEMI:
		case JOIN_ANTI:
			break;
		case JOIN_UNIQUE_OUTER:
			join->unique_outer = true;
			join->jointype = JOIN_INNER;
			break;
		default:
			return false;
	}
	join->rel = FlussLookupRelation(join->innerrel);
	if (join->rel == NULL ||
		IS_OTHER_REL(join->joinrel) || IS_OTHER_REL(join->outerrel) ||
		!bms_is_empty(join->innerrel->lateral_relids) ||
		!bms_is_empty(join->joinrel->lateral_relids) ||
		has_row_identity(join->joinrel))
		return false;
	if (!FLUSS_JOINS_HAVE_GATES && has_gate(join->extra->restrictlist))
		return false;
	return find_key(join);
}

static void
add_lookup_joins(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				 RelOptInfo *innerrel, JoinType jointype,
				 JoinPathExtraData *extra)
{
	LookupJoin	join = {root, joinrel, outerrel, innerrel, jointype};

	if (previous_hook)
		previous_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!fluss_enable_lookup_join)
		return;
	join.extra = extra;
	if (can_be_lookups(&join))
		add_paths(&join);
}

/* ------------------------------------------------------------------- plan */

/* Place of a variable in a target list, whatever may have nulled it; or -1. */
static int
find_variable(List *tlist, Node *wanted)
{
	ListCell   *lc;

	foreach(lc, tlist)
	{
		Node	   *expr = (Node *) ((TargetEntry *) lfirst(lc))->expr;

		if (nodeTag(expr) != nodeTag(wanted))
			continue;
		if (IsA(wanted, Var) &&
			((Var *) expr)->varno == ((Var *) wanted)->varno &&
			((Var *) expr)->varattno == ((Var *) wanted)->varattno)
			return foreach_current_index(lc);
		if (IsA(wanted, PlaceHolderVar) &&
			((PlaceHolderVar *) expr)->phid == ((PlaceHolderVar *) wanted)->phid)
			return foreach_current_index(lc);
	}
	return -1;
}

static Node *
use_scan_tuple(Node *node, void *scan_tlist)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) || IsA(node, PlaceHolderVar))
	{
		int			at = find_variable(scan_tlist, node);

		if (at >= 0)
			return (Node *) copyObject(list_nth_node(TargetEntry, scan_tlist,
													 at)->expr);
	}
	return expression_tree_mutator(node, use_scan_tuple, scan_tlist);
}

/* The scan tuple's columns and where they come from. */
typedef struct ScanTuple
{
	List	   *tlist;
	List	   *sources;
	Plan	   *outer;
	Plan	   *inner;
	Relids		inner_relids;
} ScanTuple;

static void
add_variables(ScanTuple *scan, Node *exprs)
{
	List	   *vars = pull_var_clause(exprs,
									   PVC_RECURSE_AGGREGATES |
									   PVC_RECURSE_WINDOWFUNCS |
									   PVC_INCLUDE_PLACEHOLDERS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Node	   *var = lfirst(lc);
		int			source;
		int			at;

		if (find_variable(scan->tlist, var) >= 0)
			continue;
		if ((at = find_variable(scan->outer->targetlist, var)) >= 0)
			source = FLUSS_JOIN_OUTER(at);
		else if ((at = find_variable(scan->inner->targetlist, var)) >= 0)
			source = FLUSS_JOIN_INNER(at);
		else if (IsA(var, PlaceHolderVar))
		{
			/* it is evaluated here */
			add_variables(scan, (Node *) ((PlaceHolderVar *) var)->phexpr);
			continue;
		}
		else if (bms_is_member(((Var *) var)->varno, scan->inner_relids))
			source = FLUSS_JOIN_NOWHERE;	/* only the scan's filter has it */
		else
			elog(ERROR, "variable of a lookup join is in neither child");
		scan->tlist = lappend(scan->tlist,
							  makeTargetEntry(copyObject((Expr *) var),
											  list_length(scan->tlist) + 1,
											  NULL, false));
		scan->sources = lappend_int(scan->sources, source);
	}
}

/*
 * The target list speaks of the scan tuple's columns as core wants them, but
 * what a PlaceHolderVar that is evaluated here is made of does not.
 */
static Node *
finish_target(Node *node, void *scan_tlist)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, PlaceHolderVar) && find_variable(scan_tlist, node) < 0)
	{
		PlaceHolderVar *phv = copyObject((PlaceHolderVar *) node);

		phv->phexpr = (Expr *) use_scan_tuple((Node *) phv->phexpr,
											  scan_tlist);
		return (Node *) phv;
	}
	return expression_tree_mutator(node, finish_target, scan_tlist);
}

typedef struct OrderedClause
{
	Node	   *clause;
	Index		security_level;
	Cost		cost;
} OrderedClause;

static bool
comes_before(const OrderedClause *a, const OrderedClause *b)
{
	if (a->security_level != b->security_level)
		return a->security_level < b->security_level;
	return a->cost < b->cost;
}

/* As core evaluates them: by security level, then the cheap ones first. */
static List *
order_clauses(PlannerInfo *root, List *restrictlist)
{
	int			n = 0;
	OrderedClause *items = palloc0((list_length(restrictlist) + 1) *
								   sizeof(*items));
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		QualCost	cost;
		OrderedClause item = {(Node *) rinfo, rinfo->security_level};
		int			at = n++;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		item.cost = cost.per_tuple;
		/* security levels do not bind what gives nothing away */
		if (rinfo->leakproof && rinfo->security_level > 0 &&
			cost.per_tuple <= 10 * cpu_operator_cost)
			item.security_level = 0;
		for (; at > 0 && comes_before(&item, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
	for (int i = 0; i < n; i++)
		result = lappend(result, items[i].clause);
	return result;
}

/* Parts of a lookup join's conditions, not yet in terms of the scan tuple. */
typedef struct JoinClauses
{
	List	   *values;
	List	   *keys;
	List	   *outer_quals;
	List	   *quals;
	List	   *filter;			/* after rows were joined */
} JoinClauses;

static void
split_keys(PlannerInfo *root, FlussRelation *rel, Index varno, List *keys,
		   JoinClauses *parts, FlussJoinPrivate *priv)
{
	ListCell   *lc;

	foreach(lc, keys)
	{
		FlussComparison key;

		if (!FlussSplitComparison(rel, varno, lfirst(lc), &key))
			elog(ERROR, "lookup join holds a clause that is no key");
		parts->values = lappend(parts->values, key.value);
		priv->attnums = lappend_int(priv->attnums, key.attr->attnum);
		priv->argtypes = lappend_oid(priv->argtypes, key.argtype);
	}
	parts->keys = FlussColumnsFirst(root, keys, varno);
}

static void
split_quals(PlannerInfo *root, CustomPath *path, JoinType jointype,
			JoinClauses *parts)
{
	List	   *keys = list_nth(path->custom_private, PATH_KEYS);
	List	   *ordered = order_clauses(root, list_nth(path->custom_private,
													   PATH_RESTRICTLIST));
	Path	   *outer = linitial(path->custom_paths);
	Relids		outer_relids = outer->parent->relids;
	List	   *joining;
	ListCell   *lc;

	if (IS_OUTER_JOIN(jointype))
		extract_actual_join_clauses(ordered, path->path.parent->relids,
									&joining, &parts->filter);
	else
		joining = extract_actual_clauses(ordered, false);
	foreach(lc, joining)
	{
		Node	   *clause = lfirst(lc);

		if (list_member_ptr(keys, clause))
			continue;
		/* first of all, but not before a condition that guards rows */
		if (root->qual_security_level == 0 &&
			bms_is_subset(pull_varnos(root, clause), outer_relids) &&
			!contain_volatile_functions(clause))
			parts->outer_quals = lappend(parts->outer_quals, clause);
		else
			parts->quals = lappend(parts->quals, clause);
	}
}

static Plan *
plan_lookup_join(PlannerInfo *root, RelOptInfo *joinrel, CustomPath *best_path,
				 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *plan = makeNode(CustomScan);
	Path	   *inner = lsecond(best_path->custom_paths);
	List	   *private = best_path->custom_private;
	FlussJoinPrivate priv = {0};
	JoinClauses parts = {0};
	ScanTuple	scan = {0};

	priv.jointype = intVal(list_nth(private, PATH_JOINTYPE));
	priv.single = intVal(list_nth(private, PATH_SINGLE)) != 0;
	priv.first_rows = floatVal(list_nth(private, PATH_FIRST_ROWS));
	priv.prefix = intVal(list_nth(private, PATH_PREFIX)) != 0;
	split_keys(root, FlussLookupRelation(inner->parent), inner->parent->relid,
			   list_nth(private, PATH_KEYS), &parts, &priv);
	split_quals(root, best_path, priv.jointype, &parts);

	scan.outer = linitial(custom_plans);
	scan.inner = lsecond(custom_plans);
	scan.inner_relids = inner->parent->relids;
	add_variables(&scan, (Node *) joinrel->reltarget->exprs);
	add_variables(&scan, (Node *) parts.filter);
	add_variables(&scan, (Node *) parts.keys);
	add_variables(&scan, (Node *) parts.outer_quals);
	add_variables(&scan, (Node *) parts.quals);
	priv.sources = scan.sources;

	plan->scan.plan.targetlist = (List *) finish_target((Node *) tlist,
															 scan.tlist);
	plan->scan.plan.qual = (List *) use_scan_tuple((Node *) parts.filter,
												   scan.tlist);
	plan->flags = best_path->flags;
	plan->custom_plans = custom_plans;
	/* in the order of FLUSS_JOIN_VALUES and so on */
	plan->custom_exprs = (List *)
		use_scan_tuple((Node *) list_make4(parts.values, parts.keys,
										   parts.outer_quals, parts.quals),
					   scan.tlist);
	plan->custom_private = pack_private(&priv);
	plan->custom_scan_tlist = scan.tlist;
	plan->custom_relids = bms_copy(joinrel->relids);
	plan->methods = &scan_methods;
	return (Plan *) plan;
}

void
FlussLookupJoinInit(void)
{
	RegisterCustomScanMethods(&scan_methods);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_lookup_joins;
}
