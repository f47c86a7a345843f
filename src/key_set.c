/*
 * key_set.c
 *	  The keys that the clauses of a lookup name, evaluated for one (re)scan.
 *
 * A clause gives a set of partial keys: an equality one for each of its
 * values, an AND those of its arms that agree where they overlap, an OR all of
 * its arms'.  What is no equality on a key column says nothing: one partial key
 * without any column.  All clauses together leave whole keys, or whole
 * prefixes; which clauses those are was decided by key.c.
 */
#include "fluss_fdw.h"

#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

typedef enum KeyNodeKind
{
	KEY_ANY,
	KEY_VALUES,
	KEY_AND,
	KEY_OR
} KeyNodeKind;

typedef struct KeyNode KeyNode;
struct KeyNode
{
	KeyNodeKind kind;
	int			keyno;			/* VALUES */
	FlussConverter converter;
	ExprState  *value;
	Oid			argtype;		/* of the value, or of its elements */
	bool		is_array;
	int			n;				/* AND, OR */
	KeyNode   **args;
};

struct FlussKeyTree
{
	const FlussRelation *rel;
	int			nkeys;
	KeyNode    *root;
	/* of one evaluation */
	ExprContext *econtext;
	int64		bytes;
};

/* Bit i of set: value i is there. */
typedef struct PartialKey
{
	uint64		set;
	const fluss_value *values;	/* by key place */
} PartialKey;

typedef struct KeySet
{
	int			n;
	PartialKey *items;
} KeySet;

/* --------------------------------------------------------------- compile */

static KeyNode *
compile_clause(FlussRelation *rel, Index varno, Node *clause,
			   PlanState *parent)
{
	KeyNode    *node = palloc0(sizeof(*node));
	FlussKeyLeaf leaf;
	ListCell   *lc;

	if (IsA(clause, BoolExpr) && ((BoolExpr *) clause)->boolop != NOT_EXPR)
	{
		List	   *args = ((BoolExpr *) clause)->args;

		node->kind = ((BoolExpr *) clause)->boolop == AND_EXPR ?
			KEY_AND : KEY_OR;
		node->args = palloc(list_length(args) * sizeof(KeyNode *));
		foreach(lc, args)
			node->args[node->n++] = compile_clause(rel, varno, lfirst(lc),
												   parent);
		return node;
	}
	if (!FlussSplitKeyLeaf(rel, varno, clause, &leaf))
		return node;
	node->kind = KEY_VALUES;
	node->keyno = leaf.keyno;
	node->value = ExecInitExpr(leaf.value, parent);
	node->argtype = leaf.argtype;
	node->is_array = leaf.is_array;
	FlussConverterInit(&node->converter, rel, leaf.attnum);
	return node;
}

FlussKeyTree *
FlussKeyCompile(FlussRelation *rel, Index varno, List *clauses,
				PlanState *parent)
{
	FlussKeyTree *tree = palloc0(sizeof(*tree));
	ListCell   *lc;

	tree->rel = rel;
	tree->nkeys = rel->table->schema->nprimary_key;
	tree->root = palloc0(sizeof(KeyNode));
	tree->root->kind = KEY_AND;
	tree->root->args = palloc((list_length(clauses) + 1) * sizeof(KeyNode *));
	foreach(lc, clauses)
		tree->root->args[tree->root->n++] = compile_clause(rel, varno,
														   lfirst(lc), parent);
	return tree;
}

/* ---------------------------------------------------------------- values */

static int
compare_values(const fluss_type *type, const fluss_value *a,
			   const fluss_value *b)
{
	size_t		size;
	int			cmp;

#define COMPARE(field) \
	if (a->u.field != b->u.field) \
		return a->u.field < b->u.field ? -1 : 1
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			COMPARE(boolean);
			return 0;
		case FLUSS_DECIMAL:
			COMPARE(decimal.high);
			COMPARE(decimal.low);
			return 0;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			COMPARE(timestamp.millis);
			COMPARE(timestamp.nanos);
			return 0;
		case FLUSS_CHAR:
		case FLUSS_STRING:
		case FLUSS_BINARY:
		case FLUSS_BYTES:
			size = Min(a->u.bytes.size, b->u.bytes.size);
			cmp = size > 0 ? memcmp(a->u.bytes.data, b->u.bytes.data, size) : 0;
			if (cmp != 0)
				return cmp;
			COMPARE(bytes.size);
			return 0;
		default:
			COMPARE(integer);
			return 0;
	}
#undef COMPARE
}

typedef struct CompareState
{
	const FlussKeyTree *tree;
	uint64		columns;		/* that are compared */
} CompareState;

static int
compare_keys(const void *a, const void *b, void *arg)
{
	const CompareState *state = arg;
	const fluss_schema *schema = state->tree->rel->table->schema;

	for (int i = 0; i < state->tree->nkeys; i++)
	{
		int			cmp;

		if ((state->columns & UINT64CONST(1) << i) == 0)
			continue;
		cmp = compare_values(&schema->columns[schema->primary_key[i]].type,
							 &((const PartialKey *) a)->values[i],
							 &((const PartialKey *) b)->values[i]);
		if (cmp != 0)
			return cmp;
	}
	return 0;
}

/* ------------------------------------------------------------------ sets */

/* Room for so many more keys, within what a scan may hold. */
static KeySet
make_set(FlussKeyTree *tree, int64 n, bool values)
{
	KeySet		set = {0};
	int64		size = sizeof(PartialKey) +
		(values ? tree->nkeys * sizeof(fluss_value) : 0);

	if (n > 0 && n > (fluss_max_buffered_bytes() - tree->bytes) / size)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_OUT_OF_MEMORY),
				 errmsg("keys of table \"%s.%s\" need more than " INT64_FORMAT " bytes of memory",
						tree->rel->table->database, tree->rel->table->name,
						fluss_max_buffered_bytes()),
				 errhint("Name fewer keys, or raise fluss_fdw.max_buffered_bytes.")));
	tree->bytes += n * size;
	set.items = palloc_extended((n + 1) * sizeof(PartialKey), MCXT_ALLOC_HUGE);
	return set;
}

static void
add_value(FlussKeyTree *tree, KeyNode *node, Datum datum, KeySet *set)
{
	fluss_value *values = palloc0(tree->nkeys * sizeof(fluss_value));

	if (!FlussKeyFromDatum(&node->converter, node->argtype, datum,
						   &values[node->keyno]))
		return;
	set->items[set->n].set = UINT64CONST(1) << node->keyno;
	set->items[set->n++].values = values;
}

/* NULL equals nothing, and a value that the column cannot have neither. */
static KeySet
evaluate_values(FlussKeyTree *tree, KeyNode *node)
{
	bool		isnull;
	Datum		datum = ExecEvalExpr(node->value, tree->econtext, &isnull);
	Datum	   *items;
	bool	   *nulls;
	int			n;
	KeySet		set;

	if (isnull)
		return make_set(tree, 0, true);
	if (!node->is_array)
	{
		set = make_set(tree, 1, true);
		add_value(tree, node, datum, &set);
		return set;
	}
	n = FlussArrayElements(datum, &items, &nulls);
	set = make_set(tree, n, true);
	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			add_value(tree, node, items[i], &set);
	}
	return set;
}

/* Columns that all keys of the set have. */
static uint64
common_columns(const KeySet *set)
{
	uint64		columns = ~UINT64CONST(0);

	for (int i = 0; i < set->n; i++)
		columns &= set->items[i].set;
	return columns;
}

/* First of the sorted keys that is not below the given one. */
static int
lower_bound(const KeySet *sorted, const PartialKey *key, CompareState *state)
{
	int			low = 0;
	int			high = sorted->n;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (compare_keys(&sorted->items[middle], key, state) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
merge_keys(FlussKeyTree *tree, const PartialKey *a, const PartialKey *b,
		   PartialKey *out)
{
	fluss_value *values;

	out->set = a->set | b->set;
	if (out->set == a->set)
	{
		out->values = a->values;
		return;
	}
	values = palloc(tree->nkeys * sizeof(fluss_value));
	for (int i = 0; i < tree->nkeys; i++)
		values[i] = (a->set & UINT64CONST(1) << i) != 0 ?
			a->values[i] : b->values[i];
	out->values = values;
}

/*
 * Every pair that agrees.  Where all keys share columns, those of b are sorted
 * by them and looked for; the others are tried one by one.
 */
static KeySet
intersect(FlussKeyTree *tree, const KeySet *a, KeySet *b)
{
	CompareState shared = {tree, common_columns(a) & common_columns(b)};
	int64		room = 0;
	KeySet		set = {0};

	if (a->n == 0 || b->n == 0)
		return make_set(tree, 0, true);
	qsort_arg(b->items, b->n, sizeof(PartialKey), compare_keys, &shared);
	for (int i = 0; i < a->n; i++)
	{
		const PartialKey *key = &a->items[i];

		for (int j = lower_bound(b, key, &shared); j < b->n; j++)
		{
			const PartialKey *other = &b->items[j];
			CompareState both = {tree, key->set & other->set};

			CHECK_FOR_INTERRUPTS();
			if (compare_keys(key, other, &shared) != 0)
				break;
			if (compare_keys(key, other, &both) != 0)
				continue;
			if (set.n == room)
			{
				int64		more = Max(room, 16);
				KeySet		larger = make_set(tree, more, true);

				/* the array is made anew, the values stay */
				pfree(larger.items);
				larger.items = palloc_extended((room + more) * sizeof(PartialKey),
											   MCXT_ALLOC_HUGE);
				memcpy(larger.items, set.items, set.n * sizeof(PartialKey));
				set.items = larger.items;
				room += more;
			}
			merge_keys(tree, key, other, &set.items[set.n++]);
		}
	}
	return set;
}

static KeySet
evaluate_node(FlussKeyTree *tree, KeyNode *node)
{
	KeySet		set;

	check_stack_depth();
	if (node->kind == KEY_VALUES)
		return evaluate_values(tree, node);
	if (node->kind == KEY_ANY || node->n == 0)
	{
		set = make_set(tree, 1, true);
		set.items[set.n].set = 0;
		set.items[set.n++].values = palloc0(tree->nkeys * sizeof(fluss_value));
		return set;
	}
	set = evaluate_node(tree, node->args[0]);
	if (node->kind == KEY_OR)
	{
		/* room for all at once: an OR may have thousands of arms */
		KeySet	   *arms = palloc(node->n * sizeof(KeySet));
		int64		n = set.n;

		arms[0] = set;
		for (int i = 1; i < node->n; i++)
		{
			arms[i] = evaluate_node(tree, node->args[i]);
			n += arms[i].n;
		}
		set = make_set(tree, n, false);
		for (int i = 0; i < node->n; i++)
		{
			memcpy(set.items + set.n, arms[i].items,
				   arms[i].n * sizeof(PartialKey));
			set.n += arms[i].n;
		}
		return set;
	}
	for (int i = 1; i < node->n && set.n > 0; i++)
	{
		KeySet		other = evaluate_node(tree, node->args[i]);

		set = intersect(tree, &set, &other);
	}
	return set;
}

int
FlussKeyEvaluate(FlussKeyTree *tree, ExprContext *econtext,
				 const fluss_value ***keys)
{
	KeySet		set;
	const fluss_value **result;

	tree->econtext = econtext;
	tree->bytes = 0;
	set = evaluate_node(tree, tree->root);
	result = palloc_extended((set.n + 1) * sizeof(fluss_value *),
							 MCXT_ALLOC_HUGE);
	for (int i = 0; i < set.n; i++)
		result[i] = set.items[i].values;
	*keys = result;
	return set.n;
}
