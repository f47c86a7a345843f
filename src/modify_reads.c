/*
 * modify_reads.c
 *	  What may be read of a table while a statement writes to it.
 *
 * The statement itself must not see its own rows: of a primary key table the
 * writer holds them until the plan has ended, of a log table the scans end
 * where the log ended before.  It may read the table through another foreign
 * server than it writes through, so tables are told by what Fluss says of them.
 *
 * Statements inside it see what it has inserted so far, as in PostgreSQL, and
 * AFTER ROW triggers all that it has written: the writer sends what it has
 * before they read.
 */
#include "modify.h"

#include "catalog/pg_user_mapping.h"
#include "lib/ilist.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/syscache.h"

/* A modification under way. */
typedef struct OpenModify
{
	dlist_node	node;			/* in open_modifies */
	MemoryContextCallback callback;
	EState	   *estate;
	FlussModifyState *state;
} OpenModify;

static dlist_head open_modifies = DLIST_STATIC_INIT(open_modifies);
static ExecutorFinish_hook_type next_finish = NULL;

/* ------------------------------------------------- by the statement itself */

/* Asking for a mapping that is not there is an error. */
static bool
has_user_mapping(Oid userid, Oid serverid)
{
	return SearchSysCacheExists2(USERMAPPINGUSERSERVER,
								 ObjectIdGetDatum(userid),
								 ObjectIdGetDatum(serverid)) ||
		SearchSysCacheExists2(USERMAPPINGUSERSERVER,
							  ObjectIdGetDatum(InvalidOid),
							  ObjectIdGetDatum(serverid));
}

/* A foreign table of ours whose Fluss table has the name of rel's. */
static bool
has_same_name(const FlussRelation *rel, Oid relid)
{
	FlussOptions *options;

	if (GetFdwRoutineByRelId(relid)->GetForeignRelSize !=
		flussGetForeignRelSize)
		return false;
	options = FlussGetTableOptions(relid);
	return options->database_name != NULL &&
		strcmp(options->database_name, rel->options->database_name) == 0 &&
		strcmp(options->table_name, rel->options->table_name) == 0;
}

/*
 * Does the range table entry read the table that rel writes?  *reader is the
 * foreign table bound to it, or NULL if it cannot be asked; then it counts as
 * the same, and what is wrong its scan will tell.
 */
static bool
reads_same_table(FlussRelation *rel, RangeTblEntry *rte, EState *estate,
				 FlussRelation **reader)
{
	Oid			serverid = GetForeignTable(rte->relid)->serverid;
	Oid			userid = fluss_rte_user(rte, estate);
	fluss_error err;

	*reader = NULL;
	if (!has_same_name(rel, rte->relid))
		return false;
	if (serverid == rel->conn->serverid)
	{
		*reader = rel;
		return true;
	}
	if (!has_user_mapping(userid, serverid))
		return true;
	fluss_error_init(&err);
	*reader = FlussRelationOpen(rte->relid, userid, CurrentMemoryContext,
								&err);
	if ((*reader)->table == NULL)
	{
		*reader = NULL;
		return true;
	}
	return FlussIsSameTable(rel->table, (*reader)->table);
}

bool
FlussFindReaders(FlussRelation *rel, ResultRelInfo *rri, EState *estate,
				 List **readers)
{
	ResultRelInfo *root = rri->ri_RootResultRelInfo ?
		rri->ri_RootResultRelInfo : rri;
	bool		found = false;
	Index		rti = 0;
	ListCell   *lc;

	*readers = NIL;
	foreach(lc, estate->es_range_table)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		FlussRelation *reader;

		rti++;
		if (rte->rtekind != RTE_RELATION ||
			rte->relkind != RELKIND_FOREIGN_TABLE ||
			rti == root->ri_RangeTableIndex ||
			!reads_same_table(rel, rte, estate, &reader))
			continue;
		found = true;
		if (reader != NULL)
			*readers = list_append_unique_ptr(*readers, reader);
	}
	return found;
}

static void
pin_partition(FlussRelation *rel, fluss_ends *ends, int64 partition_id)
{
	int			n = rel->table->nbuckets;
	int32_t    *buckets = palloc(sizeof(int32_t) * n);
	int64_t    *offsets = palloc(sizeof(int64_t) * n);
	fluss_error err;

	for (int i = 0; i < n; i++)
		buckets[i] = i;
	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_offsets(rel->conn->client, rel->table,
								  FLUSS_OFFSET_LATEST, 0, partition_id,
								  buckets, n, FLUSS_NEED_ALL, offsets, &err),
			   err, rel->name);
	for (int i = 0; i < n; i++)
		FLUSS_CALL(fluss_ends_pin(ends, partition_id, i, offsets[i], &err),
				   err, rel->name);
}

void
FlussPinBeforeWriting(FlussRelation *reader, EState *estate)
{
	fluss_ends *ends = FlussPinnedEnds(reader->conn->serverid,
									   reader->table->table_id,
									   estate->es_snapshot,
									   estate->es_query_cxt);
	const fluss_partitions *partitions;

	if (reader->table->npartition_key == 0)
	{
		pin_partition(reader, ends, FLUSS_NO_PARTITION);
		return;
	}
	partitions = FlussPinnedPartitions(reader->conn, reader->table,
									   reader->name, estate->es_snapshot,
									   estate->es_query_cxt);
	for (int i = 0; i < partitions->n; i++)
		pin_partition(reader, ends, partitions->items[i].partition_id);
}

/* ------------------------------------------------ by statements inside it */

static void
forget_modify(void *arg)
{
	OpenModify *open = arg;

	dlist_delete(&open->node);
}

void
FlussRegisterModify(FlussModifyState *state, EState *estate)
{
	OpenModify *open = MemoryContextAllocZero(state->context, sizeof(*open));

	open->estate = estate;
	open->state = state;
	open->callback.func = forget_modify;
	open->callback.arg = open;
	dlist_push_tail(&open_modifies, &open->node);
	MemoryContextRegisterResetCallback(state->context, &open->callback);
}

/* What a stable function reads is as old as the statement that calls it. */
static bool
sees_commands_of(const EState *inner, const EState *outer)
{
	return outer->es_snapshot == NULL || inner->es_snapshot == NULL ||
		inner->es_snapshot->curcid > outer->es_snapshot->curcid;
}

void
FlussSendBeforeReading(const FlussRelation *rel, EState *estate)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_modifies)
	{
		OpenModify *open = dlist_container(OpenModify, node, iter.cur);

		if (open->estate != estate && !open->state->held &&
			sees_commands_of(estate, open->estate) &&
			FlussIsSameTable(open->state->rel->table, rel->table))
			FlussFinishWriting(open->state);
	}
}

static bool
is_modifying(const EState *estate)
{
	dlist_iter	iter;

	dlist_foreach(iter, &open_modifies)
	{
		if (dlist_container(OpenModify, node, iter.cur)->estate == estate)
			return true;
	}
	return false;
}

/* What is left of data-modifying WITH clauses, as core would do it next. */
static void
finish_with_clauses(EState *estate)
{
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
	ListCell   *lc;

	estate->es_direction = ForwardScanDirection;
	foreach(lc, estate->es_auxmodifytables)
	{
		TupleTableSlot *slot;

		do
		{
			ResetPerTupleExprContext(estate);
			slot = ExecProcNode(lfirst(lc));
		} while (!TupIsNull(slot));
	}
	MemoryContextSwitchTo(caller);
}

/* AFTER ROW triggers fire next, and see what the statement has written. */
static void
finish_executor(QueryDesc *query)
{
	dlist_iter	iter;

	if (is_modifying(query->estate))
	{
		finish_with_clauses(query->estate);
		dlist_foreach(iter, &open_modifies)
		{
			OpenModify *open = dlist_container(OpenModify, node, iter.cur);

			if (open->estate == query->estate)
				FlussFinishWriting(open->state);
		}
	}
	if (next_finish != NULL)
		next_finish(query);
	else
		standard_ExecutorFinish(query);
}

void
FlussModifyInit(void)
{
	next_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = finish_executor;
}
