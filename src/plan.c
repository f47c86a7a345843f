/*
 * plan.c
 *	  Sizes and paths of one foreign table.
 *
 * Planning needs the table's metadata: is there a primary key, how many
 * buckets are there.  It comes from the backend's cache, or once from the
 * cluster.  When that fails the plan is a scan without any pushdown, so that
 * EXPLAIN, views and pg_dump work with the cluster down, and the execution
 * tells what is wrong.
 */
#include "fluss_fdw.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

/* How old a list of partitions may be that a plan is made with. */
#define PARTITIONS_MAX_AGE_MS 60000

/* ----------------------------------------------------------------- sizes */

/* The clauses that the scan does not answer by what it reads. */
static List *
local_clauses(RelOptInfo *baserel, FlussPlanState *state, List *clauses)
{
	int			allowed = FlussAllowedParts(state->keyed ? FLUSS_SCAN_LIMIT :
											FLUSS_SCAN_LOG);
	List	   *local = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (FlussRangeUseOf(state->rel, baserel->relid, (Node *) rinfo->clause,
							allowed, NULL) == FLUSS_RANGE_NONE)
			local = lappend(local, rinfo);
	}
	return local;
}

/*
 * The buckets of the table.  Partitions that the cache has will do: the
 * execution asks again.
 */
static void
find_places(FlussPlanState *state)
{
	FlussRelation *rel = state->rel;
	fluss_partitions **partitions;
	fluss_error err;
	fluss_status status = FLUSS_OK;

	if (rel->table == NULL)
		return;
	partitions = palloc0(sizeof(*partitions));
	if (rel->table->npartition_key > 0)
	{
		FlussCloseOnReset(CurrentMemoryContext, FlussReleasePartitions,
						  (void **) partitions);
		fluss_error_init(&err);
		status = fluss_partitions_open(rel->conn->client, rel->table,
									   PARTITIONS_MAX_AGE_MS, partitions,
									   &err);
		if (status == FLUSS_INTERRUPTED)
			FlussRaise(&err, rel->name);
		if (status != FLUSS_OK)
			FlussRememberFailure(rel->conn, rel->relid, false, &err);
	}
	state->places_known = status == FLUSS_OK;
	FlussPlacesInit(&state->places, rel, *partitions, rel->table->nbuckets);
}

FlussPlanState *
FlussPlanStateOpen(RelOptInfo *baserel, Oid relid)
{
	FlussPlanState *state = baserel->fdw_private;
	fluss_error err;

	if (state != NULL)
		return state;
	state = palloc0(sizeof(*state));
	fluss_error_init(&err);
	state->rel = FlussRelationOpen(relid, fluss_rel_user(baserel),
								   CurrentMemoryContext, &err);
	if (state->rel->table == NULL)
		FlussRememberFailure(state->rel->conn, relid, true, &err);
	else
		state->keyed = FlussReadsState(state->rel);
	baserel->fdw_private = state;
	return state;
}

void
flussGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FlussKeyMatch match;
	FlussPlanState *state = FlussPlanStateOpen(baserel, relid);

	find_places(state);

	FlussEstimateTable(root, state, baserel);
	baserel->tuples = Max(state->table_rows, 1);
	set_baserel_size_estimates(root, baserel);

	if (state->rel->table == NULL)
		return;
	baserel->rows = state->fetched_rows *
		clauselist_selectivity(root,
							   local_clauses(baserel, state,
											 baserel->baserestrictinfo),
							   baserel->relid, JOIN_INNER, NULL);
	if (state->keyed &&
		FlussMatchKey(root, state->rel, baserel->relid,
					  baserel->baserestrictinfo, &match) && !match.prefix)
		baserel->rows = Min(baserel->rows, match.keys);
	baserel->rows = clamp_row_est(baserel->rows);
}

/* ------------------------------------------------------------------ paths */

/* How the records of a table that is read by offsets are called. */
FlussScanKind
FlussLogKind(const FlussRelation *rel)
{
	return FlussIsKeyed(rel) ? FLUSS_SCAN_CHANGELOG : FLUSS_SCAN_LOG;
}

QualCost
FlussFilterCost(PlannerInfo *root, RelOptInfo *baserel, FlussScanKind kind,
				List *clauses)
{
	FlussPlanState *state = baserel->fdw_private;
	FlussSplit	split;
	QualCost	vector;
	QualCost	local;

	if (state->rel->table == NULL)
		return baserel->baserestrictcost;
	FlussSplitClauses(root, state, kind, baserel->relid,
					  extract_actual_clauses(clauses, false), &split);
	cost_qual_eval(&local, split.local, root);
	cost_qual_eval(&vector, split.vector, root);
	local.startup += vector.startup;
	local.per_tuple += vector.per_tuple / FLUSS_VECTOR_LENGTH;
	return local;
}

List *
FlussPathFormPack(const FlussPathForm *form)
{
	return list_make4_int(form->kind, form->order, form->limited,
						  form->prefix);
}

void
FlussPathFormUnpack(List *list, FlussPathForm *form)
{
	form->kind = linitial_int(list);
	form->order = lsecond_int(list);
	form->limited = lthird_int(list) != 0;
	form->prefix = lfourth_int(list) != 0;
}

void
FlussAddScanPath(PlannerInfo *root, RelOptInfo *baserel,
				 const FlussPathForm *form, List *clauses, double rows,
				 double fetched, const FlussCost *cost, List *pathkeys,
				 Relids required_outer)
{
	QualCost	filter = FlussFilterCost(root, baserel, form->kind, clauses);
	Cost		per_row = cpu_tuple_cost + filter.per_tuple;
	ForeignPath *path;

	path = fluss_create_foreignscan_path(root, baserel, clamp_row_est(rows),
										 cost->startup + filter.startup,
										 cost->total + filter.startup +
										 fetched * per_row,
										 pathkeys, required_outer,
										 FlussPathFormPack(form));
	/* a worker would not know the pinned ends */
	path->path.parallel_safe &= form->kind == FLUSS_SCAN_LOOKUP;
	add_path(baserel, (Path *) path);
}

/* A path that gives all rows of the clauses, in no order. */
static void
add_plain_path(PlannerInfo *root, RelOptInfo *baserel, FlussScanKind kind,
			   List *clauses, double rows, double fetched,
			   const FlussCost *cost, Relids required_outer)
{
	FlussPathForm form = {.kind = kind};

	FlussAddScanPath(root, baserel, &form, clauses, rows, fetched, cost, NIL,
					 required_outer);
}

/* Adds the path by keys, if the clauses fix them. */
static void
add_lookup_path(PlannerInfo *root, RelOptInfo *baserel, FlussPlanState *state,
				List *clauses, double rows, Relids required_outer)
{
	FlussKeyMatch match;
	FlussCost	cost;
	double		fetched;

	if (!FlussMatchKey(root, state->rel, baserel->relid, clauses, &match))
		return;
	fetched = match.keys;
	if (match.prefix)
		fetched = Max(fetched, state->table_rows *
					  clauselist_selectivity(root, match.exact,
											 baserel->relid, JOIN_INNER, NULL));
	FlussCostLookup(state->rel, match.keys, &cost);
	cost.total += (fetched - match.keys) * state->rel->options->fdw_tuple_cost;
	add_plain_path(root, baserel, FLUSS_SCAN_LOOKUP, clauses,
				   Min(rows, fetched), fetched, &cost, required_outer);
}

typedef struct MemberMatch
{
	FlussRelation *rel;
	Index		varno;
	AttrNumber	attnum;
} MemberMatch;

/* Is this member of an equivalence class the column we look for? */
static bool
member_is_column(PlannerInfo *root, RelOptInfo *baserel,
				 EquivalenceClass *ec, EquivalenceMember *em, void *arg)
{
	MemberMatch *match = arg;
	Node	   *expr = (Node *) em->em_expr;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return expr != NULL && IsA(expr, Var) &&
		((Var *) expr)->varno == (int) match->varno &&
		((Var *) expr)->varattno == match->attnum;
}

/* The other relations of a join clause, if it may be evaluated down here. */
static void
collect_outer(RelOptInfo *baserel, RestrictInfo *rinfo, List **outers)
{
	Relids		outer;
	ListCell   *lc;

	if (!join_clause_is_movable_to(rinfo, baserel))
		return;
	outer = bms_difference(rinfo->clause_relids, baserel->relids);
	outer = bms_union(outer, baserel->lateral_relids);
	if (bms_is_empty(outer))
		return;
	foreach(lc, *outers)
	{
		if (bms_equal(lfirst(lc), outer))
			return;
	}
	*outers = lappend(*outers, outer);
}

/* Is the clause of use to a parameterized scan of the relation? */
static bool
is_useful_clause(FlussPlanState *state, Index varno, RestrictInfo *rinfo)
{
	if (state->keyed)
		return FlussIsKeyUse(state->rel, varno, (Node *) rinfo->clause);
	return FlussRangeUseOf(state->rel, varno, (Node *) rinfo->clause,
						   FLUSS_PART_ALL, NULL) != FLUSS_RANGE_NONE;
}

/*
 * Sets of outer relations that could feed a scan: those of each useful join
 * clause, and their union (a key whose columns come from several relations).
 */
static List *
candidate_outers(PlannerInfo *root, RelOptInfo *baserel,
				 FlussPlanState *state)
{
	FlussRelation *rel = state->rel;
	List	   *outers = NIL;
	Relids		all = NULL;
	ListCell   *lc;

	foreach(lc, baserel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (is_useful_clause(state, baserel->relid, rinfo))
			collect_outer(baserel, rinfo, &outers);
	}

	for (int i = 0; baserel->has_eclass_joins && i < rel->natts; i++)
	{
		MemberMatch match = {rel, baserel->relid, i + 1};
		List	   *clauses;

		if (rel->attrs[i].metadata == FLUSS_META_NONE &&
			rel->attrs[i].remote < 0)
			continue;
		clauses = generate_implied_equalities_for_column(root, baserel,
														 member_is_column,
														 &match,
														 baserel->lateral_referencers);
		foreach(lc, clauses)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

			if (is_useful_clause(state, baserel->relid, rinfo))
				collect_outer(baserel, rinfo, &outers);
		}
	}

	foreach(lc, outers)
		all = bms_union(all, lfirst(lc));
	if (list_length(outers) > 1)
	{
		foreach(lc, outers)
		{
			if (bms_equal(lfirst(lc), all))
				return outers;
		}
		outers = lappend(outers, all);
	}
	return outers;
}

static void
add_parameterized_path(PlannerInfo *root, RelOptInfo *baserel,
					   FlussPlanState *state, Relids outer)
{
	ParamPathInfo *ppi = get_baserel_parampathinfo(root, baserel, outer);
	List	   *clauses = list_concat_copy(baserel->baserestrictinfo,
										   ppi->ppi_clauses);
	FlussCost	cost;

	if (state->keyed)
	{
		add_lookup_path(root, baserel, state, clauses, ppi->ppi_rows, outer);
	}
	else
	{
		double		fetched = FlussFetchedRows(root, state, baserel->relid,
											   clauses);

		FlussCostLog(state->rel, fetched, &cost);
		/* leaders and ends are known in all scans but the first */
		cost.startup /= 2;
		cost.total -= cost.startup;
		add_plain_path(root, baserel, FlussLogKind(state->rel), clauses,
					   Min(ppi->ppi_rows, fetched), fetched, &cost, outer);
	}
}

static void
add_keyed_paths(PlannerInfo *root, RelOptInfo *baserel, FlussPlanState *state)
{
	FlussScanKind kind = FlussStateScanKind(state->rel, state->largest);
	FlussCost	cost;

	if (!FlussAddLimitScanPath(root, baserel, state))
	{
		FlussCostStateScan(state->rel, kind, state->fetched_rows, &cost);
		add_plain_path(root, baserel, kind, baserel->baserestrictinfo,
					   baserel->rows, state->fetched_rows, &cost,
					   baserel->lateral_relids);
	}
	add_lookup_path(root, baserel, state, baserel->baserestrictinfo,
					baserel->rows, baserel->lateral_relids);
}

void
flussGetForeignPaths(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FlussPlanState *state = baserel->fdw_private;
	FlussCost	cost;
	ListCell   *lc;

	if (state->rel->table == NULL)
	{
		FlussCostLog(state->rel, state->table_rows, &cost);
		add_plain_path(root, baserel, FLUSS_SCAN_UNKNOWN,
					   baserel->baserestrictinfo, baserel->rows,
					   state->table_rows, &cost, baserel->lateral_relids);
		return;
	}

	if (state->keyed)
		add_keyed_paths(root, baserel, state);
	else if (!FlussAddLogPaths(root, baserel, state))
	{
		FlussCostLog(state->rel, state->cost_rows, &cost);
		add_plain_path(root, baserel, FlussLogKind(state->rel),
					   baserel->baserestrictinfo, baserel->rows,
					   state->cost_rows, &cost, baserel->lateral_relids);
	}

	if (!state->keyed)
		FlussAddParallelPath(root, baserel, state);
	foreach(lc, candidate_outers(root, baserel, state))
		add_parameterized_path(root, baserel, state, lfirst(lc));
}

/* -------------------------------------------------------- lookup joins */

FlussRelation *
FlussLookupRelation(const RelOptInfo *baserel)
{
	FlussPlanState *state;

	if (baserel->reloptkind != RELOPT_BASEREL ||
		baserel->rtekind != RTE_RELATION || baserel->fdwroutine == NULL ||
		baserel->fdwroutine->GetForeignRelSize != flussGetForeignRelSize)
		return NULL;
	state = baserel->fdw_private;
	if (state == NULL || state->rel->table == NULL || !state->keyed)
		return NULL;
	return state->rel;
}

/* Its costs are the join's. */
ForeignPath *
FlussHandedPath(PlannerInfo *root, RelOptInfo *baserel, bool prefix)
{
	FlussPathForm form = {.kind = FLUSS_SCAN_HANDED, .prefix = prefix};

	return fluss_create_foreignscan_path(root, baserel, 1, 0, 0, NIL, NULL,
										 FlussPathFormPack(&form));
}
