/*
 * key.c
 *	  Which clauses fix the primary key of a table, or the prefix of it that
 *	  chooses partition and bucket.
 */
#include "fluss_fdw.h"

bool
FlussPrefixColumns(const FlussRelation *rel, Bitmapset **columns)
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

	if (prefix && !FlussPrefixColumns(rel, &wanted))
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
