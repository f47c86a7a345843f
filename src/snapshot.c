/*
 * snapshot.c
 *	  Pinned ends: all scans of one statement end at the same offsets.
 *
 * READ COMMITTED: the scope is the snapshot that a statement runs with, told
 * by its address.  Functions that are stable run with their caller's snapshot
 * and share its ends, volatile ones take a new snapshot and pin anew, and the
 * EState of an EvalPlanQual recheck has its parent's.  The queries that a rule
 * makes of one share a snapshot, whose command id goes on between them: each
 * is a scope of its own.
 *
 * An address is only good while the snapshot lives, so each scope holds a
 * registration of its own on it, and ends once nobody else holds one.  That is
 * looked for when the next scope is wanted, and when the portal is over in
 * which the scope was made: the registration holds back vacuum.
 *
 * REPEATABLE READ and above: one scope, which lasts until the transaction ends.
 */
#include "fluss_fdw.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

typedef struct PinnedTable
{
	dlist_node	node;
	Oid			serverid;
	int64		table_id;
	fluss_ends *ends;
} PinnedTable;

typedef struct PinScope
{
	dlist_node	node;			/* in scopes */
	Snapshot	snapshot;		/* NULL: the transaction */
	CommandId	curcid;			/* of the snapshot, when it was taken */
	MemoryContext context;		/* everything of the scope, this struct too */
	dlist_head	tables;
} PinScope;

/* A portal in whose run scopes were made; lives in its memory. */
typedef struct PortalWatch
{
	dlist_node	node;			/* in watches */
	MemoryContextCallback callback;
	MemoryContext portal;
} PortalWatch;

static dlist_head scopes = DLIST_STATIC_INIT(scopes);
static dlist_head watches = DLIST_STATIC_INIT(watches);

static void
close_ends(void *ends)
{
	fluss_ends_close(ends);
}

/* Forgets a scope; its snapshot was released before or with its owner. */
static void
drop_scope(PinScope *scope)
{
	dlist_delete(&scope->node);
	MemoryContextDelete(scope->context);
}

/* True when nobody but us holds the scope's snapshot any more. */
static bool
is_dead(const PinScope *scope)
{
	return scope->snapshot != NULL && scope->snapshot->regd_count == 1 &&
		scope->snapshot->active_count == 0;
}

static void
end_scope(PinScope *scope)
{
	if (scope->snapshot != NULL)
		UnregisterSnapshotFromOwner(scope->snapshot,
									TopTransactionResourceOwner);
	drop_scope(scope);
}

static void
end_dead_scopes(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &scopes)
	{
		PinScope   *scope = dlist_container(PinScope, node, iter.cur);

		if (is_dead(scope))
			end_scope(scope);
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
		if (snapshot == NULL || scope->curcid == snapshot->curcid)
			return scope;
		end_scope(scope);
	}
	return NULL;
}

/* Not after an abort: the resource owners are not done with the snapshots. */
static void
portal_is_over(void *arg)
{
	PortalWatch *watch = arg;

	dlist_delete(&watch->node);
	if (IsTransactionState())
		end_dead_scopes();
}

static void
watch_portal(void)
{
	PortalWatch *watch;
	dlist_iter	iter;

	if (PortalContext == NULL)
		return;
	dlist_foreach(iter, &watches)
	{
		watch = dlist_container(PortalWatch, node, iter.cur);
		if (watch->portal == PortalContext)
			return;
	}
	watch = MemoryContextAllocZero(PortalContext, sizeof(*watch));
	watch->portal = PortalContext;
	watch->callback.func = portal_is_over;
	watch->callback.arg = watch;
	dlist_push_head(&watches, &watch->node);
	MemoryContextRegisterResetCallback(PortalContext, &watch->callback);
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
		scope->snapshot = RegisterSnapshotOnOwner(snapshot,
												  TopTransactionResourceOwner);
		scope->curcid = snapshot->curcid;
		watch_portal();
	}
	dlist_push_head(&scopes, &scope->node);
	return scope;
}

fluss_ends *
FlussPinnedEnds(Oid serverid, int64 table_id, Snapshot snapshot)
{
	PinScope   *scope;
	PinnedTable *table;
	dlist_iter	iter;
	fluss_host	host;
	fluss_error err;

	end_dead_scopes();
	if (IsolationUsesXactSnapshot())
		snapshot = NULL;
	scope = find_scope(snapshot);
	if (scope == NULL)
		scope = make_scope(snapshot);

	dlist_foreach(iter, &scope->tables)
	{
		table = dlist_container(PinnedTable, node, iter.cur);
		if (table->serverid == serverid && table->table_id == table_id)
			return table->ends;
	}

	table = MemoryContextAllocZero(scope->context, sizeof(*table));
	table->serverid = serverid;
	table->table_id = table_id;
	FlussCloseOnReset(scope->context, close_ends, (void **) &table->ends);
	host = FlussHost(scope->context);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_ends_open(&host, &table->ends, &err), err, NULL);
	dlist_push_head(&scope->tables, &table->node);
	return table->ends;
}

/*
 * Before a commit the registrations must go, or they count as leaked.  At an
 * abort the resource owner gives them back; the scopes are forgotten first.
 */
static void
xact_callback(XactEvent event, void *arg)
{
	dlist_mutable_iter iter;
	bool		release = event == XACT_EVENT_PRE_COMMIT ||
		event == XACT_EVENT_PARALLEL_PRE_COMMIT ||
		event == XACT_EVENT_PRE_PREPARE;
	bool		forget = event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PARALLEL_ABORT;

	if (!release && !forget)
		return;
	dlist_foreach_modify(iter, &scopes)
	{
		PinScope   *scope = dlist_container(PinScope, node, iter.cur);

		if (release)
			end_scope(scope);
		else
			drop_scope(scope);
	}
}

void
FlussSnapshotInit(void)
{
	RegisterXactCallback(xact_callback, NULL);
}
