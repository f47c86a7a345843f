/*
 * key.c
 *	  Which clauses fix the primary key of a table, or the prefix of it that
 *	  chooses partition and bucket.
 */
#include "fluss_fdw.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

/* Sets of key columns are so many bits wide at execution. */
#define MAX_KEY_COLUMNS 64

/* Place in the primary key of a boolean column that stands for itself, or -1. */
static int
boolean_key(const FlussRelation *rel, Index varno, Node *node)
{
	Var		   *var = (Var *) node;
	int			keyno;

	if (var == NULL || !IsA(var, Var) || var->varno != (int) varno ||
		var->varlevelsup != 0 || var->varattno <= 0 ||
		var->varattno > rel->natts || var->vartype != BOOLOID)
		return -1;
	keyno = FlussKeyNumber(rel, var->varattno);
	return keyno >= 0 && FlussKeyIsExact(rel, var->varattno) ? keyno : -1;
}

static bool
split_boolean(FlussRelation *rel, Index varno, Node *clause,
			  FlussKeyLeaf *leaf)
{
	bool		value = true;

	if (IsA(clause, BoolExpr) && ((BoolExpr *) clause)->boolop == NOT_EXPR)
	{
		value = false;
		clause = linitial(((BoolExpr *) clause)->args);
	}
	else if (IsA(clause, BooleanTest) &&
			 (((BooleanTest *) clause)->booltesttype == IS_TRUE ||
			  ((BooleanTest *) clause)->booltesttype == IS_FALSE))
	{
		value = ((BooleanTest *) clause)->booltesttype == IS_TRUE;
		clause = (Node *) ((BooleanTest *) clause)->arg;
	}
	leaf->keyno = boolean_key(rel, varno, clause);
	if (leaf->keyno < 0)
		return false;
	leaf->attnum = ((Var *) clause)->varattno;
	leaf->value = (Expr *) makeBoolConst(value, false);
	leaf->argtype = BOOLOID;
	leaf->is_array = false;
	return true;
}

bool
FlussSplitKeyLeaf(FlussRelation *rel, Index varno, Node *clause,
				  FlussKeyLeaf *leaf)
{
	FlussComparison comparison;

	if (!FlussIsKeyClause(rel, varno, clause, &leaf->keyno) ||
		!FlussSplitComparison(rel, varno, clause, &comparison))
		return split_boolean(rel, varno, clause, leaf);
	leaf->attnum = comparison.attr->attnum;
	leaf->value = comparison.value;
	leaf->argtype = comparison.argtype;
	leaf->is_array = comparison.is_array;
	return true;
}

/*
 * True when the table takes prefix lookups; *columns has the places in the
 * primary key that they need.
 */
static bool
prefix_columns(const FlussRelation *rel, Bitmapset **columns)
{
	const fluss_table *table = rel->table;
	const fluss_schema *schema = table->schema;

	*columns = NULL;
	if (!fluss_table_prefix_lookup(table))
		return false;
	for (int i = 0; i < schema->nprimary_key; i++)
	{
		for (int j = 0; j < table->nbucket_key; j++)
		{
			if (table->bucket_key[j] == schema->primary_key[i])
				*columns = bms_add_member(*columns, i);
		}
		for (int j = 0; j < table->npartition_key; j++)
		{
			if (table->partition_key[j] == schema->primary_key[i])
				*columns = bms_add_member(*columns, i);
		}
	}
	return true;
}

List *
FlussMatchJoinKey(FlussRelation *rel, Index varno, List *clauses, bool prefix)
{
	int			nkeys = rel->table->schema->nprimary_key;
	Node	  **found = palloc0((nkeys + 1) * sizeof(Node *));
	Bitmapset  *wanted = NULL;
	List	   *result = NIL;
	ListCell   *lc;

	if (prefix && !prefix_columns(rel, &wanted))
		return NIL;
	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		int			keyno;

		if (IsA(clause, OpExpr) &&
			FlussIsKeyClause(rel, varno, clause, &keyno) &&
			found[keyno] == NULL)
			found[keyno] = clause;
	}
	for (int i = 0; i < nkeys; i++)
	{
		if (prefix && !bms_is_member(i, wanted))
			continue;
		if (found[i] == NULL)
			return NIL;
		result = lappend(result, found[i]);
	}
	return result;
}

/* ------------------------------------------------------- keys of a scan */

/* What a clause says about the key. */
typedef struct KeyUse
{
	Bitmapset  *fixed;			/* columns that it gives values in every arm */
	Bitmapset  *named;			/* and in any */
	bool		exact;			/* it says nothing else */
	double		keys;			/* how many */
} KeyUse;

static void
use_leaf(PlannerInfo *root, FlussRelation *rel, Index varno, Node *clause,
		 KeyUse *use)
{
	FlussKeyLeaf leaf;

	memset(use, 0, sizeof(*use));
	use->keys = 1;
	if (!FlussSplitKeyLeaf(rel, varno, clause, &leaf))
		return;
	use->fixed = use->named = bms_make_singleton(leaf.keyno);
	use->exact = true;
	if (leaf.is_array && root != NULL)
		use->keys = fluss_estimate_array_length(root, (Node *) leaf.value);
}

/* Keys of both together: those of disjoint columns multiply. */
static void
add_use(KeyUse *all, const KeyUse *use)
{
	if (bms_overlap(all->fixed, use->fixed))
		all->keys = Min(all->keys, use->keys);
	else if (use->fixed != NULL)
		all->keys *= use->keys;
	all->fixed = bms_union(all->fixed, use->fixed);
	all->named = bms_union(all->named, use->named);
	all->exact = all->exact && use->exact;
}

static void
use_clause(PlannerInfo *root, FlussRelation *rel, Index varno, Node *clause,
		   KeyUse *use)
{
	BoolExpr   *expr = (BoolExpr *) clause;
	bool		first = true;
	ListCell   *lc;

	if (!IsA(clause, BoolExpr) || expr->boolop == NOT_EXPR)
	{
		use_leaf(root, rel, varno, clause, use);
		return;
	}
	memset(use, 0, sizeof(*use));
	use->keys = expr->boolop == AND_EXPR ? 1 : 0;
	use->exact = true;
	foreach(lc, expr->args)
	{
		KeyUse		arm;

		use_clause(root, rel, varno, lfirst(lc), &arm);
		if (expr->boolop == AND_EXPR)
			add_use(use, &arm);
		else
		{
			use->fixed = first ? bms_copy(arm.fixed) :
				bms_intersect(use->fixed, arm.fixed);
			use->named = bms_union(use->named, arm.named);
			use->exact = use->exact && arm.exact;
			use->keys += arm.keys;
		}
		first = false;
	}
}

bool
FlussIsKeyUse(FlussRelation *rel, Index varno, Node *clause)
{
	KeyUse		use;

	use_clause(NULL, rel, varno, clause, &use);
	return use.fixed != NULL;
}

/*
 * A clause on columns past a prefix narrows nothing there.  One that speaks of
 * both is a hint: it stays a condition of the rows, too.
 */
static bool
match_key(PlannerInfo *root, FlussRelation *rel, Index varno, List *clauses,
		  Bitmapset *wanted, FlussKeyMatch *match)
{
	KeyUse		all = {.exact = true, .keys = 1};
	List	   *by_column[MAX_KEY_COLUMNS];
	ListCell   *lc;

	/* in key order, whatever the query's was */
	match->exact = match->hints = NIL;
	memset(by_column, 0, sizeof(by_column));
	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		KeyUse		use;

		if (IsA(clause, RestrictInfo))
		{
			if (((RestrictInfo *) clause)->pseudoconstant)
				continue;
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		}
		use_clause(root, rel, varno, clause, &use);
		if (!bms_overlap(use.fixed, wanted))
			continue;
		if (use.exact && bms_is_subset(use.named, wanted))
		{
			int			first = bms_next_member(use.fixed, -1);

			by_column[first] = lappend(by_column[first], clause);
		}
		else
			match->hints = lappend(match->hints, clause);
		add_use(&all, &use);
	}
	for (int i = 0; i < MAX_KEY_COLUMNS; i++)
		match->exact = list_concat(match->exact, by_column[i]);
	match->keys = all.keys;
	return bms_is_subset(wanted, all.fixed);
}

bool
FlussMatchKey(PlannerInfo *root, FlussRelation *rel, Index varno,
			  List *clauses, FlussKeyMatch *match)
{
	int			nkeys = rel->table->schema->nprimary_key;
	Bitmapset  *wanted;

	if (nkeys < 1 || nkeys > MAX_KEY_COLUMNS)
		return false;
	match->prefix = false;
	wanted = bms_add_range(NULL, 0, nkeys - 1);
	if (match_key(root, rel, varno, clauses, wanted, match))
		return true;
	match->prefix = true;
	return prefix_columns(rel, &wanted) &&
		match_key(root, rel, varno, clauses, wanted, match);
}
