/*
 * commit.c
 *	  write_mode commit: rows that are written when the transaction commits.
 *
 * A statement's rows go, encoded, into a writer of the transaction that sends
 * nothing.  Each writer belongs to the subtransaction that filled it: it goes
 * with that one's rollback and passes to the parent with its commit.  Before
 * the local commit the writers are flushed in the order in which they came to
 * be, so writes to one row keep their order; a writer is only used again while
 * it is the last one for its table, by whatever server that is written.
 *
 * The local commit may still fail after that.  A prepared transaction could be
 * rolled back long after its rows are in Fluss, whatever the mode: it is
 * refused once the transaction has written anything.
 */
#include "fluss_fdw.h"

#include "access/xact.h"
#include "lib/ilist.h"
#include "storage/proc.h"
#include "utils/memutils.h"

typedef struct HeldWriter
{
	dlist_node	node;			/* in held, oldest first */
	MemoryContext context;		/* of this struct, the writer and its client */
	SubTransactionId subid;
	FlussConnection *conn;
	const fluss_table *table;	/* the writer's */
	const char *relname;
	int64		timeout_ms;
	fluss_writer_options options;
	fluss_writer *writer;
} HeldWriter;

static dlist_head held = DLIST_STATIC_INIT(held);
static bool has_written = false;	/* this transaction, in any mode */

static void
drop_writer(HeldWriter *entry)
{
	dlist_delete(&entry->node);
	MemoryContextDelete(entry->context);
}

static void
close_writer(void *writer)
{
	fluss_writer_close(writer);
}

/* ---------------------------------------------------------------- holding */

static bool
same_options(const fluss_writer_options *a, const fluss_writer_options *b)
{
	return a->acks == b->acks && a->batch_size == b->batch_size &&
		a->idempotence == b->idempotence && a->overwrite == b->overwrite &&
		a->create_partitions == b->create_partitions &&
		a->bucket_hash == b->bucket_hash &&
		(a->target_columns == NULL) == (b->target_columns == NULL) &&
		a->ntarget_columns == b->ntarget_columns &&
		memcmp(a->target_columns, b->target_columns,
			   sizeof(int32_t) * a->ntarget_columns) == 0;
}

/* The last writer of the table if the new rows may follow its own. */
static HeldWriter *
find_writer(const FlussRelation *rel, const fluss_writer_options *options)
{
	dlist_iter	iter;

	dlist_reverse_foreach(iter, &held)
	{
		HeldWriter *entry = dlist_container(HeldWriter, node, iter.cur);

		if (!FlussIsSameTable(entry->table, rel->table))
			continue;
		if (entry->subid == GetCurrentSubTransactionId() &&
			entry->conn->client == rel->conn->client &&
			entry->table->schema->schema_id == rel->table->schema->schema_id &&
			same_options(&entry->options, options))
			return entry;
		return NULL;
	}
	return NULL;
}

int64
FlussHeldBytes(void)
{
	int64		bytes = 0;
	dlist_iter	iter;

	dlist_foreach(iter, &held)
		bytes += fluss_writer_buffered(dlist_container(HeldWriter, node,
													   iter.cur)->writer);
	return bytes;
}

static HeldWriter *
make_writer(const FlussRelation *rel, const fluss_writer_options *options)
{
	MemoryContext context = AllocSetContextCreate(TopTransactionContext,
												  "fluss held writer",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	HeldWriter *entry = palloc0(sizeof(*entry));
	fluss_host	host = FlussHost(context);
	fluss_error err;

	entry->context = context;
	entry->subid = GetCurrentSubTransactionId();
	entry->conn = FlussShareConnection(rel->conn, context);
	entry->table = rel->table;
	entry->relname = pstrdup(rel->name);
	entry->timeout_ms = rel->options->request_timeout_ms;
	entry->options = *options;
	entry->options.hold = true;
	entry->options.max_buffered_bytes = Max(options->max_buffered_bytes -
											FlussHeldBytes(), 1);
	if (options->target_columns != NULL)
	{
		Size		size = sizeof(int32_t) * options->ntarget_columns;
		int32_t    *targets = palloc(size);

		memcpy(targets, options->target_columns, size);
		entry->options.target_columns = targets;
	}
	FlussCloseOnReset(context, close_writer, (void **) &entry->writer);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_writer_open(entry->conn->client, &host, rel->table,
								 &entry->options, &entry->writer, &err),
			   err, rel->name);
	dlist_push_tail(&held, &entry->node);
	MemoryContextSwitchTo(caller);
	return entry;
}

fluss_writer *
FlussHeldWriter(const FlussRelation *rel, const fluss_writer_options *options)
{
	HeldWriter *entry = find_writer(rel, options);

	if (entry == NULL)
		entry = make_writer(rel, options);
	return entry->writer;
}

void
FlussNoteWrite(void)
{
	has_written = true;
}

/* ------------------------------------------------------------- committing */

/*
 * statement_timeout does not fire while a transaction commits; a flush has
 * that much time all the same.
 */
static int64
flush_timeout(const HeldWriter *entry, TimestampTz start)
{
	int64		timeout = entry->timeout_ms;
	int64		spent = TimestampDifferenceMilliseconds(start,
														GetCurrentTimestamp());

	if (StatementTimeout > 0)
		timeout = Min(timeout, StatementTimeout);
	return Max(timeout - spent, 1);
}

static void
flush_writers(void)
{
	TimestampTz start = GetCurrentTimestamp();
	FlussStatement *statement = NULL;
	dlist_iter	iter;

	dlist_foreach(iter, &held)
		statement = FlussStatementJoin(&held, TopTransactionContext);
	dlist_foreach(iter, &held)
	{
		HeldWriter *entry = dlist_container(HeldWriter, node, iter.cur);
		fluss_error err;

		fluss_error_init(&err);
		FLUSS_CALL(fluss_writer_flush_within(entry->writer,
											 flush_timeout(entry, start),
											 &err), err, entry->relname);
		FlussStatementLeave(statement, entry->table->table_id, entry->writer);
	}
}

static void
drop_writers(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &held)
		drop_writer(dlist_container(HeldWriter, node, iter.cur));
}

static void
xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
			flush_writers();
			drop_writers();
			break;
		case XACT_EVENT_PRE_PREPARE:
			if (has_written)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has written to Fluss tables")));
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			drop_writers();
			has_written = false;
			break;
		default:
			break;
	}
}

static void
subxact_callback(SubXactEvent event, SubTransactionId mine,
				 SubTransactionId parent, void *arg)
{
	dlist_mutable_iter iter;

	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	dlist_foreach_modify(iter, &held)
	{
		HeldWriter *entry = dlist_container(HeldWriter, node, iter.cur);

		if (entry->subid != mine)
			continue;
		if (event == SUBXACT_EVENT_COMMIT_SUB)
			entry->subid = parent;
		else
			drop_writer(entry);
	}
}

void
FlussCommitInit(void)
{
	RegisterXactCallback(xact_callback, NULL);
	RegisterSubXactCallback(subxact_callback, NULL);
}
