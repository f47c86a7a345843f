/*
 * plan.c
 *	  Paths and plans of one foreign table.
 *
 * Planning needs the table's metadata: is there a primary key, how many
 * buckets are there.  It comes from the backend's cache, or once from the
 * cluster.  When that fails the plan is a scan without any pushdown, so that
 * EXPLAIN, views and pg_dump work with the cluster down, and the execution
 * tells what is wrong.
 */
#include "fluss_fdw.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* Values that a vector filter takes for the cost of one operator. */
#define VECTOR_LENGTH	8.0

/* How old a list of partitions may be that a plan is made with. */
#define PARTITIONS_MAX_AGE_MS 60000

/* -------------------------------------------------------- private lists */

/*
 * A list with one node per field, in the order in which both functions name
 * them; a long long is a Const, as plan trees know no such value node.
 */
static Node *
long_node(int64 value)
{
	return (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
							  Int64GetDatum(value), false, FLOAT8PASSBYVAL);
}

static int64
long_value(Node *node)
{
	return DatumGetInt64(castNode(Const, node)->constvalue);
}

static Node *
string_node(char *string)
{
	return string ? (Node *) makeString(string) : NULL;
}

static char *
string_value(Node *node)
{
	return node ? strVal(node) : NULL;
}

List *
FlussPlanPrivatePack(const FlussPlanPrivate *priv)
{
	List	   *list = NIL;

	list = lappend(list, makeInteger(priv->kind));
	list = lappend(list, long_node(priv->table_id));
	list = lappend(list, makeInteger(priv->nbuckets));
	list = lappend(list, priv->attnums);
	list = lappend(list, string_node(priv->narrowest));
	list = lappend(list, makeInteger(priv->nvector));
	list = lappend(list, makeInteger(priv->naggregates));
	list = lappend(list, priv->partition_attnums);
	list = lappend(list, makeInteger(priv->npartitions));
	list = lappend(list, makeInteger(priv->partitions_kept));
	list = lappend(list, makeInteger(priv->order));
	list = lappend(list, makeInteger(priv->nlimit));
	list = lappend(list, makeInteger(priv->prefix));
	return list;
}

void
FlussPlanPrivateUnpack(List *list, FlussPlanPrivate *priv)
{
	ListCell   *lc = list_head(list);

#define NEXT_FIELD(read) (read); lc = lnext(list, lc)
	priv->kind = NEXT_FIELD(intVal(lfirst(lc)));
	priv->table_id = NEXT_FIELD(long_value(lfirst(lc)));
	priv->nbuckets = NEXT_FIELD(intVal(lfirst(lc)));
	priv->attnums = NEXT_FIELD(lfirst(lc));
	priv->narrowest = NEXT_FIELD(string_value(lfirst(lc)));
	priv->nvector = NEXT_FIELD(intVal(lfirst(lc)));
	priv->naggregates = NEXT_FIELD(intVal(lfirst(lc)));
	priv->partition_attnums = NEXT_FIELD(lfirst(lc));
	priv->npartitions = NEXT_FIELD(intVal(lfirst(lc)));
	priv->partitions_kept = NEXT_FIELD(intVal(lfirst(lc)));
	priv->order = NEXT_FIELD(intVal(lfirst(lc)));
	priv->nlimit = NEXT_FIELD(intVal(lfirst(lc)));
	priv->prefix = NEXT_FIELD(intVal(lfirst(lc)) != 0);
#undef NEXT_FIELD
	Assert(lc == NULL);
}

int32
FlussNarrowestColumn(const fluss_schema *schema)
{
	static const int width[] = {
		[FLUSS_BOOLEAN] = 1, [FLUSS_TINYINT] = 2, [FLUSS_SMALLINT] = 3,
		[FLUSS_INTEGER] = 4, [FLUSS_DATE] = 4, [FLUSS_FLOAT] = 4,
		[FLUSS_TIME] = 5, [FLUSS_BIGINT] = 8, [FLUSS_DOUBLE] = 8,
		[FLUSS_TIMESTAMP] = 8, [FLUSS_TIMESTAMP_LTZ] = 8,
		[FLUSS_DECIMAL] = 16, [FLUSS_BINARY] = 20, [FLUSS_CHAR] = 30,
		[FLUSS_STRING] = 40, [FLUSS_BYTES] = 40, [FLUSS_ARRAY] = 100,
		[FLUSS_MAP] = 100, [FLUSS_ROW] = 100
	};
	int32		best = 0;

	for (int32 i = 1; i < schema->ncolumns; i++)
	{
		if (width[schema->columns[i].type.id] <
			width[schema->columns[best].type.id])
			best = i;
	}
	return best;
}

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

/*
 * Lets estimates know that a key of one column is unique: they look for that
 * among the indexes of a relation.  It is not immediate, so plans do not rely
 * on it: a table that other clients filled may hold a key twice.
 */
static void
tell_uniqueness(RelOptInfo *baserel, FlussRelation *rel)
{
	IndexOptInfo *index;

	if (rel->table->schema->nprimary_key != 1)
		return;
	for (int i = 0; i < rel->natts; i++)
	{
		if (rel->attrs[i].remote != rel->table->schema->primary_key[0] ||
			rel->attrs[i].metadata != FLUSS_META_NONE)
			continue;
		index = makeNode(IndexOptInfo);
		index->rel = baserel;
		index->tuples = baserel->tuples;
		index->ncolumns = index->nkeycolumns = 1;
		index->indexkeys = palloc(sizeof(int));
		index->indexkeys[0] = i + 1;
		index->unique = true;
		index->hypothetical = true;
		baserel->indexlist = lappend(baserel->indexlist, index);
	}
}

void
flussGetForeignRelSize(PlannerInfo *root, RelOptInfo *baserel, Oid relid)
{
	FlussKeyMatch match;
	FlussPlanState *state = FlussPlanStateOpen(baserel, relid);

	find_places(state);

	FlussEstimateTable(root, state, baserel);
	baserel->tuples = Max(state->table_rows, 1);
	if (state->keyed)
		tell_uniqueness(baserel, state->rel);
	set_baserel_size_estimates(root, baserel);

	state->fetched_rows = state->cost_rows = state->table_rows;
	if (state->rel->table == NULL)
		return;
	state->fetched_rows = FlussFetchedRows(root, state, baserel->relid,
										   baserel->baserestrictinfo);
	state->cost_rows = FlussCostedRows(root, state, baserel->relid,
									   baserel->baserestrictinfo);
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
	local.per_tuple += vector.per_tuple / VECTOR_LENGTH;
	return local;
}

/* Adds a path; fetched rows are filtered by what the scan leaves of clauses. */
static void
add_scan_path(PlannerInfo *root, RelOptInfo *baserel, FlussScanKind kind,
			  List *clauses, double rows, double fetched,
			  const FlussCost *cost, Relids required_outer)
{
	QualCost	filter = FlussFilterCost(root, baserel, kind, clauses);
	Cost		per_row = cpu_tuple_cost + filter.per_tuple;
	ForeignPath *path;

	path = fluss_create_foreignscan_path(root, baserel, clamp_row_est(rows),
										 cost->startup + filter.startup,
										 cost->total + filter.startup +
										 fetched * per_row,
										 NIL, required_outer,
										 list_make1(makeInteger(kind)));
	/* a worker would not know the pinned ends */
	path->path.parallel_safe &= kind == FLUSS_SCAN_LOOKUP;
	add_path(baserel, (Path *) path);
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
	add_scan_path(root, baserel, FLUSS_SCAN_LOOKUP, clauses,
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
		add_scan_path(root, baserel, FlussLogKind(state->rel), clauses,
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
		add_scan_path(root, baserel, kind, baserel->baserestrictinfo,
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
		add_scan_path(root, baserel, FLUSS_SCAN_UNKNOWN,
					  baserel->baserestrictinfo, baserel->rows,
					  state->table_rows, &cost, baserel->lateral_relids);
		return;
	}

	if (state->keyed)
		add_keyed_paths(root, baserel, state);
	else if (!FlussAddLogPaths(root, baserel, state))
	{
		FlussCostLog(state->rel, state->cost_rows, &cost);
		add_scan_path(root, baserel, FlussLogKind(state->rel),
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

/* Its costs are the join's.  A second entry of the list says prefix. */
ForeignPath *
FlussHandedPath(PlannerInfo *root, RelOptInfo *baserel, bool prefix)
{
	List	   *private = list_make1(makeInteger(FLUSS_SCAN_HANDED));

	if (prefix)
		private = lappend(private, makeInteger(1));
	return fluss_create_foreignscan_path(root, baserel, 1, 0, 0, NIL, NULL,
										 private);
}

/* ------------------------------------------------------------------- plan */

/*
 * So that EXPLAIN reads the same however the query or an equivalence class
 * spelled them.
 */
List *
FlussColumnsFirst(PlannerInfo *root, List *clauses, Index varno)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		OpExpr	   *clause = lfirst(lc);

		if (IsA(clause, OpExpr) && list_length(clause->args) == 2 &&
			!bms_is_member(varno, pull_varnos(root, linitial(clause->args))) &&
			OidIsValid(get_commutator(clause->opno)))
		{
			clause = copyObject(clause);
			CommuteOpExpr(clause);
		}
		result = lappend(result, clause);
	}
	return result;
}

void
FlussSplitClauses(PlannerInfo *root, FlussPlanState *state,
				  FlussScanKind kind, Index varno, List *clauses,
				  FlussSplit *out)
{
	int			allowed = FlussAllowedParts(kind);
	ListCell   *lc;

	memset(out, 0, sizeof(*out));
	if (kind == FLUSS_SCAN_LOOKUP)
	{
		FlussKeyMatch match;

		if (!FlussMatchKey(root, state->rel, varno, clauses, &match))
			elog(ERROR, "lookup path lost its key");
		out->exact = match.exact;
		out->hints = FlussColumnsFirst(root, match.hints, varno);
		out->prefix = match.prefix;
		out->local = list_difference_ptr(clauses, out->exact);
		out->exact = FlussColumnsFirst(root, out->exact, varno);
		return;
	}
	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		FlussRangeUse use = allowed == 0 ? FLUSS_RANGE_NONE :
			FlussRangeUseOf(state->rel, varno, clause, allowed, NULL);

		if (use == FLUSS_RANGE_EXACT)
		{
			out->exact = lappend(out->exact, clause);
			continue;
		}
		if (use == FLUSS_RANGE_HINT)
			out->hints = lappend(out->hints, clause);
		if (FlussIsLogScan(kind) && fluss_enable_vector_filter &&
			FlussIsVectorClause(state->rel, varno, clause))
			out->vector = lappend(out->vector, clause);
		else
			out->local = lappend(out->local, clause);
	}
	out->exact = FlussColumnsFirst(root, out->exact, varno);
	out->hints = FlussColumnsFirst(root, out->hints, varno);
	out->vector = FlussColumnsFirst(root, out->vector, varno);
}

void
FlussDescribePartitions(FlussPlanState *state, FlussPlanPrivate *priv,
						Index varno, List *clauses)
{
	FlussRelation *rel = state->rel;
	int			allowed = FlussAllowedParts(priv->kind);
	List	   *constant;

	priv->npartitions = priv->partitions_kept = -1;
	if (rel->table == NULL || rel->table->npartition_key == 0)
		return;
	for (int i = 0; i < rel->natts; i++)
	{
		if (rel->attrs[i].partition_key >= 0)
			priv->partition_attnums = lappend_int(priv->partition_attnums,
												  i + 1);
	}
	if (!state->places_known)
		return;
	priv->npartitions = state->places.npartitions;
	if (allowed == 0)
		return;
	constant = FlussRangeClauses(rel, varno, clauses, allowed, true);
	if (list_length(constant) == list_length(clauses))
		priv->partitions_kept = constant == NIL ? priv->npartitions :
			FlussPartitionsKept(&state->places,
								FlussRangeConstant(rel, varno, constant,
												   allowed, &state->places));
}

List *
FlussNeededAttributes(FlussRelation *rel, Index varno, List *exprs)
{
	Bitmapset  *used = NULL;
	List	   *result = NIL;
	bool		all;

	pull_varattnos((Node *) exprs, varno, &used);
	all = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, used);

	for (int i = 0; i < rel->natts; i++)
	{
		FlussAttribute *attr = &rel->attrs[i];

		if (attr->remote_name == NULL && attr->metadata == FLUSS_META_NONE)
			continue;
		if (all || bms_is_member(attr->attnum -
								 FirstLowInvalidHeapAttributeNumber, used))
			result = lappend_int(result, attr->attnum);
	}
	return result;
}

char *
FlussNarrowestIfNone(FlussRelation *rel, FlussScanKind kind, List *attnums)
{
	const fluss_schema *schema;
	ListCell   *lc;

	if (!FlussIsLogScan(kind))
		return NULL;
	foreach(lc, attnums)
	{
		if (rel->attrs[lfirst_int(lc) - 1].metadata == FLUSS_META_NONE)
			return NULL;
	}
	schema = rel->table->schema;
	return pstrdup(schema->columns[FlussNarrowestColumn(schema)].name);
}

/*
 * Bare clauses that may be evaluated before all others.  What a barrier guards
 * must not be shown to a function that could tell of it: the rest stays with
 * the executor, which keeps the order.  A lookup evaluates no clause on a row.
 */
static List *
early_clauses(RelOptInfo *baserel, FlussScanKind kind, List *scan_clauses,
			  List **late)
{
	List	   *early = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, scan_clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (kind == FLUSS_SCAN_LOOKUP ||
			restriction_is_securely_promotable(rinfo, baserel))
			early = lappend(early, rinfo);
		else
			others = lappend(others, rinfo);
	}
	*late = extract_actual_clauses(others, false);
	return extract_actual_clauses(early, false);
}

ForeignScan *
flussGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid relid,
					ForeignPath *best_path, List *tlist, List *scan_clauses,
					Plan *outer_plan)
{
	FlussPlanState *state = baserel->fdw_private;
	FlussPlanPrivate priv = {.table_id = FLUSS_NO_TABLE_ID};
	FlussSplit	split;
	List	   *early;
	List	   *late;
	List	   *ranges;
	List	   *used;
	List	   *exprs;

	if (IS_UPPER_REL(baserel))
		return FlussAggregatePlan(root, baserel, best_path, tlist);
	priv.kind = intVal(linitial(best_path->fdw_private));
	if (state->rel->table != NULL)
	{
		priv.table_id = state->rel->table->table_id;
		priv.nbuckets = state->rel->table->nbuckets;
	}
	early = early_clauses(baserel, priv.kind, scan_clauses, &late);
	FlussSplitClauses(root, state, priv.kind, baserel->relid, early, &split);
	split.local = list_concat(split.local, late);
	used = list_concat_copy(baserel->reltarget->exprs, split.local);
	used = list_concat(used, split.vector);
	priv.attnums = FlussNeededAttributes(state->rel, baserel->relid, used);
	priv.narrowest = FlussNarrowestIfNone(state->rel, priv.kind, priv.attnums);
	priv.nvector = list_length(split.vector);
	priv.prefix = split.prefix ||
		list_length(best_path->fdw_private) == 2;
	ranges = list_concat_copy(split.exact, split.hints);
	FlussDescribePartitions(state, &priv, baserel->relid, ranges);
	exprs = list_concat_copy(ranges, split.vector);
	if (list_length(best_path->fdw_private) == 3)
	{
		priv.order = intVal(lsecond(best_path->fdw_private));
		if (intVal(lthird(best_path->fdw_private)))
		{
			List	   *limit = FlussLimitExprs(root);

			priv.nlimit = list_length(limit);
			exprs = list_concat(exprs, limit);
		}
	}

	/* a recheck of a locked row looks at what the scan answers, too */
	return make_foreignscan(tlist, split.local, baserel->relid, exprs,
							FlussPlanPrivatePack(&priv), NIL,
							list_concat_copy(split.exact, split.vector),
							outer_plan);
}
