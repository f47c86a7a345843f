/*
 * snapshot.c
 *	  Pinned ends: all scans of one statement end at the same offsets and see
 *	  the same partitions.
 *
 * READ COMMITTED: the scope is the snapshot that a statement runs with, told
 * by its address.  Functions that are stable run with their caller's snapshot
 * and share its ends, volatile ones take a new snapshot and pin anew, and the
 * EState of an EvalPlanQual recheck has its parent's.  The queries that a rule
 * makes of one share a snapshot, whose command id goes on between them: each
 * is a scope of its own.
 *
 * An address is only good while the snapshot lives, and a registration of ours
 * would hold back vacuum and break core's rule that nobody else has the active
 * snapshot when its command id goes on.  So a scope marks its snapshot, in a
 * field that MVCC snapshots have no use for and that is zero in each new one:
 * another snapshot at the same address does not have the mark.  A scope that no
 * query uses any more may still be wanted, by the next query of a function; of
 * those the latest are kept.
 *
 * REPEATABLE READ and above: one scope, which lasts until the transaction ends.
 */
#include "fluss_fdw.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Scopes without a query that are kept: functions in functions. */
#define MAX_IDLE_SCOPES 32

typedef struct PinnedTable
{
	dlist_node	node;
	Oid			serverid;
	int64		table_id;
	fluss_ends *ends;
	fluss_partitions *partitions;	/* NULL: not asked for yet */
} PinnedTable;

typedef struct PinScope
{
	dlist_node	node;			/* in scopes, the latest first */
	Snapshot	snapshot;		/* NULL: the transaction; never followed */
	uint32		mark;			/* of the snapshot */
	CommandId	curcid;			/* of the snapshot, when it was taken */
	int			nqueries;		/* that use it */
	MemoryContext context;		/* everything of the scope, this struct too */
	dlist_head	tables;
} PinScope;

/* A query that uses a scope; lives in its memory. */
typedef struct QueryWatch
{
	dlist_node	node;			/* in watches */
	MemoryContextCallback callback;
	MemoryContext query;
	PinScope   *scope;			/* NULL: gone with its transaction */
} QueryWatch;

static dlist_head scopes = DLIST_STATIC_INIT(scopes);
static dlist_head watches = DLIST_STATIC_INIT(watches);
static uint32 last_mark = 0;

static void
drop_scope(PinScope *scope)
{
	dlist_delete(&scope->node);
	MemoryContextDelete(scope->context);
}

/* Drops the oldest of the scopes without a query, if there are too many. */
static void
drop_idle_scopes(void)
{
	dlist_mutable_iter iter;
	int			idle = 0;

	dlist_foreach_modify(iter, &scopes)
	{
		PinScope   *scope = dlist_container(PinScope, node, iter.cur);

		if (scope->nqueries == 0 && scope->snapshot != NULL &&
			++idle > MAX_IDLE_SCOPES)
			drop_scope(scope);
	}
}

static PinScope *
find_scope(Snapshot snapshot)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &scopes)
	{
		PinScope   *scope = dlist_container(PinScope, node, iter.cur);

		if (scope->snapshot != snapshot)
			continue;
		if (snapshot == NULL || (scope->mark == snapshot->speculativeToken &&
								 scope->curcid == snapshot->curcid))
			return scope;
		if (scope->nqueries == 0)
			drop_scope(scope);
	}
	return NULL;
}

static PinScope *
make_scope(Snapshot snapshot)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext,
												  "fluss pinned ends",
												  ALLOCSET_SMALL_SIZES);
	PinScope   *scope = MemoryContextAllocZero(context, sizeof(*scope));

	scope->context = context;
	dlist_init(&scope->tables);
	if (snapshot != NULL)
	{
		if (++last_mark == 0)
			last_mark = 1;
		scope->snapshot = snapshot;
		scope->mark = snapshot->speculativeToken = last_mark;
		scope->curcid = snapshot->curcid;
	}
	dlist_push_head(&scopes, &scope->node);
	return scope;
}

static void
query_is_over(void *arg)
{
	QueryWatch *watch = arg;

	dlist_delete(&watch->node);
	if (watch->scope != NULL)
		watch->scope->nqueries--;
}

static void
watch_query(PinScope *scope, MemoryContext query)
{
	QueryWatch *watch;
	dlist_iter	iter;

	dlist_foreach(iter, &watches)
	{
		watch = dlist_container(QueryWatch, node, iter.cur);
		if (watch->query == query && watch->scope == scope)
			return;
	}
	watch = MemoryContextAllocZero(query, sizeof(*watch));
	watch->query = query;
	watch->scope = scope;
	watch->callback.func = query_is_over;
	watch->callback.arg = watch;
	scope->nqueries++;
	dlist_push_head(&watches, &watch->node);
	MemoryContextRegisterResetCallback(query, &watch->callback);
}

static PinnedTable *
make_table(PinScope *scope, Oid serverid, int64 table_id)
{
	PinnedTable *table = MemoryContextAllocZero(scope->context,
												sizeof(*table));
	fluss_host	host = FlussHost(scope->context);
	fluss_error err;

	table->serverid = serverid;
	table->table_id = table_id;
	FlussCloseOnReset(scope->context, FlussCloseEnds, (void **) &table->ends);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_ends_open(&host, &table->ends, &err), err, NULL);
	dlist_push_head(&scope->tables, &table->node);
	return table;
}

static PinnedTable *
find_table(Oid serverid, int64 table_id, Snapshot snapshot,
		   MemoryContext query)
{
	PinScope   *scope;
	dlist_iter	iter;

	if (IsolationUsesXactSnapshot())
		snapshot = NULL;
	scope = find_scope(snapshot);
	if (scope == NULL)
		scope = make_scope(snapshot);
	watch_query(scope, query);
	drop_idle_scopes();

	dlist_foreach(iter, &scope->tables)
	{
		PinnedTable *table = dlist_container(PinnedTable, node, iter.cur);

		if (table->serverid == serverid && table->table_id == table_id)
			return table;
	}
	return make_table(scope, serverid, table_id);
}

fluss_ends *
FlussPinnedEnds(Oid serverid, int64 table_id, Snapshot snapshot,
				MemoryContext query)
{
	return find_table(serverid, table_id, snapshot, query)->ends;
}

/* The list goes with the client that asked for it, so that has to stay. */
static void
pin_partitions(PinnedTable *pinned, FlussConnection *conn, fluss_table *table,
			   const char *relname)
{
	MemoryContext context = GetMemoryChunkContext(pinned);
	fluss_error err;

	/* registered first, so closed last */
	(void) FlussShareConnection(conn, context);
	FlussCloseOnReset(context, FlussReleasePartitions,
					  (void **) &pinned->partitions);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_partitions_open(conn->client, table, 0,
									 &pinned->partitions, &err),
			   err, relname);
}

const fluss_partitions *
FlussPinnedPartitions(FlussConnection *conn, fluss_table *table,
					  const char *relname, Snapshot snapshot,
					  MemoryContext query)
{
	PinnedTable *pinned = find_table(conn->serverid, table->table_id,
									 snapshot, query);

	if (pinned->partitions == NULL)
		pin_partitions(pinned, conn, table, relname);
	return pinned->partitions;
}

/* The scopes go with the transaction's memory, or before it. */
static void
xact_callback(XactEvent event, void *arg)
{
	dlist_mutable_iter iter;
	dlist_iter	watched;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_PARALLEL_COMMIT &&
		event != XACT_EVENT_ABORT && event != XACT_EVENT_PARALLEL_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	dlist_foreach(watched, &watches)
		dlist_container(QueryWatch, node, watched.cur)->scope = NULL;
	dlist_foreach_modify(iter, &scopes)
		drop_scope(dlist_container(PinScope, node, iter.cur));
}

void
FlussSnapshotInit(void)
{
	RegisterXactCallback(xact_callback, NULL);
}
