/*
 * qual.c
 *	  Comparisons of a column with what does not change in a scan, and which of
 *	  them are equalities on primary key columns that a lookup answers.
 *
 * A clause qualifies by its form alone: one side is a column of the relation,
 * the other side is free of the relation's columns and not volatile.  Whether
 * that side is a constant, a parameter or an outer column plays no part; its
 * value is computed when a scan starts.  The same functions look at a clause
 * at plan time and, with the final variables, at execution.
 */
#include "fluss_fdw.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Binary-compatible casts do not change a value. */
static Node *
strip_relabel(Node *node)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node;
}

static const FlussAttribute *
attribute_of(const FlussRelation *rel, Index varno, Node *node)
{
	Var		   *var = (Var *) strip_relabel(node);
	const FlussAttribute *attr;

	if (var == NULL || !IsA(var, Var) || var->varno != (int) varno ||
		var->varlevelsup != 0 || var->varattno <= 0 ||
		var->varattno > rel->natts)
		return NULL;
	attr = &rel->attrs[var->varattno - 1];
	return attr->remote_name == NULL && attr->metadata == FLUSS_META_NONE ?
		NULL : attr;
}

/* Can be computed before the scan of varno starts, and stays the same in it. */
static bool
is_scan_constant(Node *node, Index varno)
{
	List	   *vars = pull_var_clause(node,
									   PVC_RECURSE_PLACEHOLDERS |
									   PVC_INCLUDE_AGGREGATES |
									   PVC_INCLUDE_WINDOWFUNCS);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Node	   *var = lfirst(lc);

		if (!IsA(var, Var) || ((Var *) var)->varno == (int) varno)
			return false;
	}
	list_free(vars);
	return !contain_volatile_functions(node) && !contain_subplans(node);
}

/* The type of what a value consists of: a domain's values are its base type's. */
static Oid
value_type(Node *node)
{
	return getBaseType(exprType(strip_relabel(node)));
}

static bool
split_opexpr(const FlussRelation *rel, Index varno, OpExpr *op,
			 FlussComparison *out)
{
	Node	   *left;
	Node	   *right;

	if (list_length(op->args) != 2)
		return false;
	left = linitial(op->args);
	right = lsecond(op->args);
	out->opno = op->opno;
	out->attr = attribute_of(rel, varno, left);
	if (out->attr == NULL || !is_scan_constant(right, varno))
	{
		out->attr = attribute_of(rel, varno, right);
		out->opno = get_commutator(op->opno);
		right = left;
		if (out->attr == NULL || !OidIsValid(out->opno) ||
			!is_scan_constant(right, varno))
			return false;
	}
	out->value = (Expr *) right;
	out->argtype = value_type(right);
	out->is_array = false;
	out->collation = op->inputcollid;
	return true;
}

static bool
split_scalar_array(const FlussRelation *rel, Index varno,
				   ScalarArrayOpExpr *op, FlussComparison *out)
{
	if (!op->useOr || list_length(op->args) != 2)
		return false;
	out->attr = attribute_of(rel, varno, linitial(op->args));
	if (out->attr == NULL || !is_scan_constant(lsecond(op->args), varno))
		return false;
	out->opno = op->opno;
	out->value = lsecond(op->args);
	out->argtype = get_element_type(getBaseType(exprType((Node *) out->value)));
	if (OidIsValid(out->argtype))
		out->argtype = getBaseType(out->argtype);
	out->is_array = true;
	out->collation = op->inputcollid;
	return OidIsValid(out->argtype);
}

bool
FlussSplitComparison(const FlussRelation *rel, Index varno, Node *clause,
					 FlussComparison *out)
{
	if (IsA(clause, OpExpr))
		return split_opexpr(rel, varno, (OpExpr *) clause, out);
	if (IsA(clause, ScalarArrayOpExpr))
		return split_scalar_array(rel, varno, (ScalarArrayOpExpr *) clause,
								  out);
	return false;
}

bool
FlussIsIntegerType(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

int64
FlussIntegerOf(Datum datum, Oid type)
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

int
FlussArrayElements(Datum datum, Datum **items, bool **nulls)
{
	ArrayType  *array = DatumGetArrayTypeP(datum);
	int16		len;
	bool		byval;
	char		align;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &len, &byval, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), len, byval, align, items,
					  nulls, &n);
	return n;
}

int
FlussKeyNumber(const FlussRelation *rel, AttrNumber attnum)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];
	const fluss_schema *schema = rel->table->schema;

	if (attr->metadata != FLUSS_META_NONE || attr->remote < 0)
		return -1;
	for (int i = 0; i < schema->nprimary_key; i++)
	{
		if (schema->primary_key[i] == attr->remote)
			return i;
	}
	return -1;
}

/* The equality that ordinary comparisons of the type use. */
static bool
is_default_equality(Oid opno, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(entry->btree_opf) &&
		get_op_opfamily_strategy(opno, entry->btree_opf) ==
		BTEqualStrategyNumber;
}

bool
FlussIsKeyClause(FlussRelation *rel, Index varno, Node *clause, int *keyno)
{
	FlussComparison cmp;

	if (!FlussSplitComparison(rel, varno, clause, &cmp))
		return false;
	*keyno = FlussKeyNumber(rel, cmp.attr->attnum);
	if (*keyno < 0 ||
		!FlussKeyIsExact(rel, cmp.attr->attnum) ||
		!FlussKeyTypeAccepted(rel, cmp.attr->attnum, cmp.argtype) ||
		!is_default_equality(cmp.opno, cmp.attr->type))
		return false;
	if (OidIsValid(cmp.collation) &&
		!get_collation_isdeterministic(cmp.collation))
		return false;
	return true;
}
