/*
 * last_write.c
 *	  What the session's last writing statement wrote, for fluss_last_write().
 *
 * A statement may write through several targets: partitions, data-modifying
 * WITH clauses.  They share its EState, by which they are told from those of a
 * statement inside a trigger or function.  What is written when a transaction
 * commits is one statement, too.  The runs are kept with the
 * statement while it goes on, and replace the session's only when its last
 * target has been acknowledged: a statement that fails leaves them alone.
 */
#include "fluss_fdw.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

struct FlussStatement
{
	dlist_node	node;			/* in statements */
	MemoryContextCallback callback;
	const void *owner;			/* an EState, or what commits */
	MemoryContext context;
	int			ntargets;		/* that have not left yet */
	int			nruns;
	FlussWrittenRun *runs;
};

static dlist_head statements = DLIST_STATIC_INIT(statements);

static FlussWrittenRun *last_runs = NULL;
static int	last_nruns = 0;

/* The context goes, whether the statement succeeded or not. */
static void
forget_statement(void *arg)
{
	FlussStatement *statement = arg;

	dlist_delete(&statement->node);
}

FlussStatement *
FlussStatementJoin(const void *owner, MemoryContext context)
{
	FlussStatement *statement;
	dlist_iter	iter;

	dlist_foreach(iter, &statements)
	{
		statement = dlist_container(FlussStatement, node, iter.cur);
		if (statement->owner == owner)
		{
			statement->ntargets++;
			return statement;
		}
	}

	statement = MemoryContextAllocZero(context, sizeof(*statement));
	statement->owner = owner;
	statement->context = context;
	statement->ntargets = 1;
	statement->callback.func = forget_statement;
	statement->callback.arg = statement;
	dlist_push_head(&statements, &statement->node);
	MemoryContextRegisterResetCallback(context, &statement->callback);
	return statement;
}

static int
compare_int64(int64 a, int64 b)
{
	return a < b ? -1 : a > b;
}

static int
compare_runs(const void *a, const void *b)
{
	const FlussWrittenRun *x = a;
	const FlussWrittenRun *y = b;
	int			result = compare_int64(x->table_id, y->table_id);

	if (result == 0)
		result = compare_int64(x->run.partition_id, y->run.partition_id);
	if (result == 0)
		result = compare_int64(x->run.bucket, y->run.bucket);
	if (result == 0)
		result = compare_int64(x->run.first_offset, y->run.first_offset);
	return result;
}

/*
 * True when next continues the run.  Runs of a bucket whose first offset is not
 * known are one: those of a primary key table, and rows of a log that are known
 * to be written, but not where.
 */
static bool
continues(const FlussWrittenRun *run, const FlussWrittenRun *next)
{
	return run->table_id == next->table_id &&
		run->run.partition_id == next->run.partition_id &&
		run->run.bucket == next->run.bucket &&
		(run->run.first_offset < 0 ? next->run.first_offset < 0 :
		 run->run.last_offset + 1 == next->run.first_offset);
}

/* Two targets may have written to the same bucket. */
static void
merge_runs(FlussStatement *statement)
{
	FlussWrittenRun *runs = statement->runs;
	int			n = 0;

	if (statement->nruns == 0)
		return;
	qsort(runs, statement->nruns, sizeof(*runs), compare_runs);
	for (int i = 1; i < statement->nruns; i++)
	{
		if (continues(&runs[n], &runs[i]))
		{
			runs[n].run.last_offset = Max(runs[n].run.last_offset,
										  runs[i].run.last_offset);
			runs[n].run.rows += runs[i].run.rows;
		}
		else
			runs[++n] = runs[i];
	}
	statement->nruns = n + 1;
}

static void
publish(FlussStatement *statement)
{
	FlussWrittenRun *runs = NULL;
	Size		size;

	merge_runs(statement);
	size = statement->nruns * sizeof(*runs);
	if (size > 0)
	{
		runs = MemoryContextAllocHuge(TopMemoryContext, size);
		memcpy(runs, statement->runs, size);
	}
	if (last_runs != NULL)
		pfree(last_runs);
	last_runs = runs;
	last_nruns = statement->nruns;
}

void
FlussStatementLeave(FlussStatement *statement, int64 table_id,
					fluss_writer *writer)
{
	int			added;
	const fluss_write_run *runs = fluss_writer_runs(writer, &added);
	int			total = statement->nruns + added;

	if (added > 0)
	{
		if (statement->runs == NULL)
			statement->runs = MemoryContextAllocHuge(statement->context,
													 added * sizeof(*statement->runs));
		else
			statement->runs = repalloc_huge(statement->runs,
											total * sizeof(*statement->runs));
	}
	for (int i = 0; i < added; i++)
	{
		statement->runs[statement->nruns].table_id = table_id;
		statement->runs[statement->nruns++].run = runs[i];
	}
	if (--statement->ntargets == 0)
		publish(statement);
}

const FlussWrittenRun *
FlussLastWrite(int *nruns)
{
	*nruns = last_nruns;
	return last_runs;
}
