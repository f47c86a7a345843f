/*
 * unique.c
 *	  Tells the planner that a primary key is unique.
 *
 * Core knows uniqueness from indexes only, so a keyed table gets one that does
 * not exist: no path can use it, as foreign tables have no index paths, but
 * joins on the key are known to match one row, and their sizes are right.
 *
 * Keys that differ in Fluss may be equal here, as two texts may be that are
 * repaired.  Then the index is like one whose check is deferred: estimates look
 * at it, plans do not rely on it.
 */
#include "fluss_fdw.h"

#include "optimizer/plancat.h"
#include "utils/typcache.h"

static get_relation_info_hook_type previous_hook;

/* False: the foreign table does not have the column. */
static bool
describe_column(FlussRelation *rel, int32 remote, IndexOptInfo *index, int at)
{
	bool		found = false;

	for (int i = 0; i < rel->natts; i++)
	{
		FlussAttribute *attr = &rel->attrs[i];
		TypeCacheEntry *type;

		if (attr->metadata != FLUSS_META_NONE || attr->remote != remote ||
			(found && !FlussKeyIsExact(rel, attr->attnum)))
			continue;
		type = lookup_type_cache(attr->type, TYPECACHE_BTREE_OPFAMILY);
		index->indexkeys[at] = attr->attnum;
		index->indexcollations[at] = attr->collation;
		index->opfamily[at] = type->btree_opf;
		index->opcintype[at] = type->btree_opintype;
		if (FlussKeyIsExact(rel, attr->attnum))
			return true;
		found = true;
	}
	index->immediate = false;
	return found;
}

/* The key as an index, or NULL when a column is not there. */
static IndexOptInfo *
make_index(FlussRelation *rel, RelOptInfo *baserel)
{
	const fluss_schema *schema = rel->table->schema;
	int			n = schema->nprimary_key;
	IndexOptInfo *index = makeNode(IndexOptInfo);

	index->rel = baserel;
	index->ncolumns = index->nkeycolumns = n;
	index->indexkeys = palloc0(n * sizeof(int));
	index->indexcollations = palloc0(n * sizeof(Oid));
	index->opfamily = palloc0(n * sizeof(Oid));
	index->opcintype = palloc0(n * sizeof(Oid));
	index->canreturn = palloc0(n * sizeof(bool));
	index->tree_height = -1;
	index->unique = index->immediate = index->hypothetical = true;
	for (int i = 0; i < n; i++)
	{
		if (!describe_column(rel, schema->primary_key[i], index, i))
			return NULL;
	}
	return index;
}

static void
add_unique_key(PlannerInfo *root, Oid relid, bool inhparent, RelOptInfo *rel)
{
	IndexOptInfo *index;

	if (previous_hook)
		previous_hook(root, relid, inhparent, rel);
	if (inhparent || rel->fdwroutine == NULL ||
		rel->fdwroutine->GetForeignRelSize != flussGetForeignRelSize)
		return;
	FlussPlanStateOpen(rel, relid);
	if (FlussLookupRelation(rel) == NULL)
		return;
	index = make_index(FlussLookupRelation(rel), rel);
	if (index != NULL)
		rel->indexlist = lappend(rel->indexlist, index);
}

void
FlussUniqueInit(void)
{
	previous_hook = get_relation_info_hook;
	get_relation_info_hook = add_unique_key;
}
