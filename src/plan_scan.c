/*
 * plan_scan.c
 *	  Plans of foreign scans: who evaluates which clause, which columns are
 *	  fetched, and what the plan tells its execution.
 */
#include "fluss_fdw.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

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
	list = lappend(list, priv->joined);
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
	priv->joined = NEXT_FIELD(lfirst(lc));
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
	ListCell   *lc;

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
	foreach(lc, clauses)
	{
		if (!FlussRangeIsConstant(rel, varno, lfirst(lc)))
			return;
	}
	priv->partitions_kept =
		FlussPartitionsKept(&state->places,
							FlussRangeConstant(rel, varno, clauses, allowed,
											   &state->places));
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

/* Numbers of the clauses that name columns of other relations. */
static List *
joined_clauses(PlannerInfo *root, Index varno, List *clauses)
{
	List	   *result = NIL;

	for (int i = 0; i < list_length(clauses); i++)
	{
		Relids		relids = pull_varnos(root, list_nth(clauses, i));

		if (!bms_is_subset(relids, bms_make_singleton(varno)))
			result = lappend_int(result, i);
	}
	return result;
}

ForeignScan *
flussGetForeignPlan(PlannerInfo *root, RelOptInfo *baserel, Oid relid,
					ForeignPath *best_path, List *tlist, List *scan_clauses,
					Plan *outer_plan)
{
	FlussPlanState *state = baserel->fdw_private;
	FlussPlanPrivate priv = {.table_id = FLUSS_NO_TABLE_ID};
	FlussPathForm form;
	FlussSplit	split;
	List	   *early;
	List	   *late;
	List	   *ranges;
	List	   *used;
	List	   *exprs;

	if (IS_UPPER_REL(baserel))
		return FlussAggregatePlan(root, baserel, best_path, tlist);
	FlussPathFormUnpack(best_path->fdw_private, &form);
	priv.kind = form.kind;
	priv.order = form.order;
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
	priv.prefix = split.prefix || form.prefix;
	ranges = list_concat_copy(split.exact, split.hints);
	FlussDescribePartitions(state, &priv, baserel->relid, ranges);
	priv.joined = joined_clauses(root, baserel->relid, ranges);
	exprs = list_concat_copy(ranges, split.vector);
	if (form.limited)
	{
		List	   *limit = FlussLimitExprs(root);

		priv.nlimit = list_length(limit);
		exprs = list_concat(exprs, limit);
	}

	/* a recheck of a locked row looks at what the scan answers, too */
	return make_foreignscan(tlist, split.local, baserel->relid, exprs,
							FlussPlanPrivatePack(&priv), NIL,
							list_concat_copy(split.exact, split.vector),
							outer_plan);
}
