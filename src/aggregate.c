/*
 * aggregate.c
 *	  Aggregates without GROUP BY: on the column views of a log's batches, or
 *	  count(*) of a primary key table from the servers' statistics; planning.
 *
 * One foreign scan gives one row of aggregates.  The plan keeps the Aggrefs in
 * fdw_scan_tlist, followed by the columns that the pushed clauses name, so that
 * core can resolve both; vector_aggregate.c reads them from there.
 *
 * All clauses must be ranges or vector filters, or choose among the buckets of
 * a primary key table.  Anything that an Aggref could say beyond its column
 * (DISTINCT, ORDER BY, FILTER) is left to core.
 *
 * Whether a count is exact is only known when the servers are asked: see
 * scan_state.c.  Buckets without an exact count are read whole, as they would
 * be without this path, so nothing is lost by planning it.
 */
#include "fluss_fdw.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"

/* What the upper relation keeps for its plan. */
typedef struct AggregatePlan
{
	FlussPlanState *input;
	FlussScanKind kind;
	Index		varno;
	List	   *clauses;		/* bare, all pushed */
	List	   *aggrefs;		/* distinct */
} AggregatePlan;

static const struct
{
	Oid			fnoid;
	FlussAggregateKind kind;
}			aggregates[] = {
	{F_COUNT_, FLUSS_COUNT_ROWS},
	{F_COUNT_ANY, FLUSS_COUNT},
	{F_SUM_INT2, FLUSS_SUM}, {F_SUM_INT4, FLUSS_SUM}, {F_SUM_INT8, FLUSS_SUM},
	{F_SUM_FLOAT4, FLUSS_SUM}, {F_SUM_FLOAT8, FLUSS_SUM},
	{F_SUM_NUMERIC, FLUSS_SUM},
	{F_AVG_INT2, FLUSS_AVG}, {F_AVG_INT4, FLUSS_AVG}, {F_AVG_INT8, FLUSS_AVG},
	{F_AVG_FLOAT4, FLUSS_AVG}, {F_AVG_FLOAT8, FLUSS_AVG},
	{F_AVG_NUMERIC, FLUSS_AVG},
	{F_MIN_INT2, FLUSS_MIN}, {F_MIN_INT4, FLUSS_MIN}, {F_MIN_INT8, FLUSS_MIN},
	{F_MIN_FLOAT4, FLUSS_MIN}, {F_MIN_FLOAT8, FLUSS_MIN},
	{F_MIN_NUMERIC, FLUSS_MIN}, {F_MIN_DATE, FLUSS_MIN},
	{F_MIN_TIME, FLUSS_MIN}, {F_MIN_TIMESTAMP, FLUSS_MIN},
	{F_MIN_TIMESTAMPTZ, FLUSS_MIN},
	{F_MAX_INT2, FLUSS_MAX}, {F_MAX_INT4, FLUSS_MAX}, {F_MAX_INT8, FLUSS_MAX},
	{F_MAX_FLOAT4, FLUSS_MAX}, {F_MAX_FLOAT8, FLUSS_MAX},
	{F_MAX_NUMERIC, FLUSS_MAX}, {F_MAX_DATE, FLUSS_MAX},
	{F_MAX_TIME, FLUSS_MAX}, {F_MAX_TIMESTAMP, FLUSS_MAX},
	{F_MAX_TIMESTAMPTZ, FLUSS_MAX}
};

bool
FlussMatchAggregate(const FlussRelation *rel, Index varno, Aggref *aggref,
					FlussAggregateKind *kind, AttrNumber *attnum)
{
	Node	   *arg;
	int			i;

	*attnum = InvalidAttrNumber;
	for (i = 0; i < lengthof(aggregates); i++)
	{
		if (aggregates[i].fnoid == aggref->aggfnoid)
			break;
	}
	if (i == lengthof(aggregates) || aggref->agglevelsup != 0 ||
		aggref->aggdistinct != NIL || aggref->aggorder != NIL ||
		aggref->aggfilter != NULL || aggref->aggsplit != AGGSPLIT_SIMPLE)
		return false;
	*kind = aggregates[i].kind;
	if (*kind == FLUSS_COUNT_ROWS)
		return true;
	arg = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (*kind == FLUSS_COUNT && IsA(arg, Const) && !((Const *) arg)->constisnull)
	{
		*kind = FLUSS_COUNT_ROWS;
		return true;
	}
	if (!IsA(arg, Var) || ((Var *) arg)->varno != (int) varno ||
		((Var *) arg)->varattno <= 0 || ((Var *) arg)->varattno > rel->natts)
		return false;
	*attnum = ((Var *) arg)->varattno;
	return true;
}

/* Can the column be aggregated without a Datum for each of its values? */
static bool
is_aggregable(FlussRelation *rel, FlussAggregateKind kind, AttrNumber attnum)
{
	FlussMetadata metadata = rel->attrs[attnum - 1].metadata;
	FlussConverter conv;

	if (metadata == FLUSS_META_LOG_OFFSET ||
		metadata == FLUSS_META_COMMIT_TIMESTAMP)
		return kind == FLUSS_MIN || kind == FLUSS_MAX;
	if (!FlussIsVectorColumn(rel, attnum))
		return false;
	FlussConverterInit(&conv, rel, attnum);
	/* numerics that get other digits than Fluss has */
	return (conv.kind != FLUSS_CONVERT_DECIMAL &&
			conv.kind != FLUSS_CONVERT_INT_NUMERIC) || conv.limit == 0;
}

/* The Aggrefs of the target, or NIL when core must compute them. */
static List *
find_aggregates(FlussRelation *rel, Index varno, PathTarget *target)
{
	List	   *found = pull_var_clause((Node *) target->exprs,
										PVC_INCLUDE_AGGREGATES |
										PVC_INCLUDE_PLACEHOLDERS |
										PVC_INCLUDE_WINDOWFUNCS);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, found)
	{
		Aggref	   *aggref = lfirst(lc);
		FlussAggregateKind kind;
		AttrNumber	attnum;

		if (!IsA(aggref, Aggref) ||
			!FlussMatchAggregate(rel, varno, aggref, &kind, &attnum) ||
			(AttributeNumberIsValid(attnum) &&
			 !is_aggregable(rel, kind, attnum)))
			return NIL;
		result = list_append_unique(result, aggref);
	}
	return result;
}

/*
 * Is there nothing but count(*), of a table whose rows the servers count?  They
 * do not where the changelog has no images of the old rows.  An option that says
 * how the table is to be read holds for its count too.
 */
static bool
is_counted(const FlussRelation *rel, Index varno, List *aggrefs)
{
	const char *image = fluss_table_property(rel->table,
											 "table.changelog.image");
	ListCell   *lc;

	if (rel->options->kv_scan != FLUSS_KV_SCAN_AUTO ||
		(image != NULL && pg_strcasecmp(image, "full") != 0))
		return false;
	foreach(lc, aggrefs)
	{
		FlussAggregateKind kind;
		AttrNumber	attnum;

		if (!FlussMatchAggregate(rel, varno, lfirst(lc), &kind, &attnum) ||
			kind != FLUSS_COUNT_ROWS)
			return false;
	}
	return true;
}

/* The clauses of a relation, if the scan answers every one of them. */
static bool
all_pushed(FlussRelation *rel, RelOptInfo *baserel, FlussScanKind kind,
		   List **clauses)
{
	ListCell   *lc;

	*clauses = NIL;
	foreach(lc, baserel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Node	   *clause = (Node *) rinfo->clause;

		if (rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, baserel))
			return false;
		if (FlussRangeUseOf(rel, baserel->relid, clause,
							FlussAllowedParts(kind), NULL) !=
			FLUSS_RANGE_EXACT &&
			!(fluss_enable_vector_filter && FlussIsLogScan(kind) &&
			  FlussIsVectorClause(rel, baserel->relid, clause)))
			return false;
		*clauses = lappend(*clauses, clause);
	}
	return true;
}

void
flussGetForeignUpperPaths(PlannerInfo *root, UpperRelationKind stage,
						  RelOptInfo *input_rel, RelOptInfo *output_rel,
						  void *extra)
{
	Query	   *parse = root->parse;
	FlussPlanState *input = IS_DUMMY_REL(input_rel) ? NULL :
		input_rel->fdw_private;
	AggregatePlan *plan;
	FlussScanKind kind;
	List	   *aggrefs;
	List	   *clauses;
	FlussCost	cost;
	ForeignPath *path;

	if (stage != UPPERREL_GROUP_AGG || !fluss_enable_aggregate_pushdown ||
		input_rel->reloptkind != RELOPT_BASEREL || input == NULL ||
		input->rel->table == NULL || output_rel->fdw_private != NULL ||
		!bms_is_empty(input_rel->lateral_relids))
		return;
	if (!parse->hasAggs || parse->groupClause != NIL ||
		parse->groupingSets != NIL || parse->havingQual != NULL ||
		parse->hasTargetSRFs)
		return;
	aggrefs = find_aggregates(input->rel, input_rel->relid,
							  output_rel->reltarget);
	kind = input->keyed ? FlussStateScanKind(input->rel, input->largest) :
		FlussLogKind(input->rel);
	if (aggrefs == NIL ||
		(input->keyed && !is_counted(input->rel, input_rel->relid, aggrefs)) ||
		!all_pushed(input->rel, input_rel, kind, &clauses))
		return;

	plan = palloc0(sizeof(*plan));
	plan->input = input;
	plan->kind = kind;
	plan->varno = input_rel->relid;
	plan->clauses = clauses;
	plan->aggrefs = aggrefs;
	output_rel->fdw_private = plan;

	if (input->keyed)
		FlussCostCount(input->rel, &cost);
	else
	{
		/* so much less than rows that workers, which make them, do not pay */
		FlussCostLog(input->rel, input->cost_rows, &cost);
		cost.total = cost.startup +
			(cost.total - cost.startup) / FLUSS_VECTOR_LENGTH;
		cost.total += input->cost_rows *
			(list_length(aggrefs) + list_length(clauses)) *
			cpu_operator_cost / FLUSS_VECTOR_LENGTH;
	}
	path = fluss_create_foreign_upper_path(root, output_rel,
										   output_rel->reltarget, 1,
										   cost.total,
										   cost.total + cpu_tuple_cost,
										   NIL);
	path->path.parallel_safe = false;
	add_path(output_rel, (Path *) path);
}

/* The columns of the relation that the clauses name, as they are in them. */
static List *
clause_columns(List *clauses, Index varno)
{
	List	   *vars = pull_var_clause((Node *) clauses,
									   PVC_RECURSE_PLACEHOLDERS);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *var = lfirst_node(Var, lc);

		if (var->varno == (int) varno)
			result = lappend(result, var);
	}
	return result;
}

/* Nothing but the least and the greatest offset is wanted. */
static bool
are_edges(const AggregatePlan *plan)
{
	FlussRelation *rel = plan->input->rel;
	ListCell   *lc;

	foreach(lc, plan->aggrefs)
	{
		FlussAggregateKind kind;
		AttrNumber	attnum;

		if (!FlussMatchAggregate(rel, plan->varno, lfirst(lc), &kind, &attnum) ||
			!AttributeNumberIsValid(attnum) ||
			rel->attrs[attnum - 1].metadata != FLUSS_META_LOG_OFFSET)
			return false;
	}
	return true;
}

ForeignScan *
FlussAggregatePlan(PlannerInfo *root, RelOptInfo *rel, ForeignPath *best_path,
				   List *tlist)
{
	AggregatePlan *plan = rel->fdw_private;
	FlussRelation *frel = plan->input->rel;
	FlussPlanPrivate priv = {0};
	List	   *scan_tlist;
	List	   *ranges;
	FlussSplit	split;

	priv.kind = plan->kind;
	priv.table_id = frel->table->table_id;
	priv.nbuckets = frel->table->nbuckets;
	FlussSplitClauses(root, plan->input, priv.kind, plan->varno, plan->clauses,
					  &split);
	if (split.local != NIL)
		elog(ERROR, "aggregate path lost a clause");
	priv.attnums = FlussNeededAttributes(frel, plan->varno,
										 list_concat_copy(plan->aggrefs,
														  split.vector));
	priv.narrowest = FlussNarrowestIfNone(frel, priv.kind, priv.attnums);
	priv.nvector = list_length(split.vector);
	ranges = list_concat_copy(split.exact, split.hints);
	FlussDescribePartitions(plan->input, &priv, plan->varno, ranges);
	priv.naggregates = list_length(plan->aggrefs);
	if (split.vector == NIL && split.hints == NIL && are_edges(plan))
		priv.order = FLUSS_ORDER_EDGES;

	scan_tlist = add_to_flat_tlist(NIL, plan->aggrefs);
	scan_tlist = add_to_flat_tlist(scan_tlist,
								   clause_columns(plan->clauses, plan->varno));
	return make_foreignscan(tlist, NIL, 0, list_concat(ranges, split.vector),
							FlussPlanPrivatePack(&priv), scan_tlist, NIL,
							NULL);
}
