/*
 * bridge.c
 *	  The one seam between the client library and the server: host hooks, and
 *	  fluss_error to ereport.
 *
 * The client does not expect its hooks to jump.  So the wait hook never lets
 * an ERROR pass: it answers "interrupted", the client unwinds by status, and
 * FlussRaise then raises what interrupted the wait.  A FATAL would not pass
 * through PG_TRY, so a pending cancel or termination is only noticed in the
 * hook and processed after the unwinding, too.
 */
#include "fluss_fdw.h"

#include <poll.h>
#include <time.h>

#include "pgstat.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "utils/elog.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

/* The error that an interrupted wait met, until FlussRaise throws it again. */
static ErrorData *interrupting_error = NULL;

/*
 * One wait event set is kept for the sockets of the last wait: making one
 * costs several system calls, a lookup only two.
 */
#define MAX_WAIT_SOCKETS 64
static WaitEventSet *wait_set = NULL;
static fluss_pollfd wait_fds[MAX_WAIT_SOCKETS];
static int	wait_nfds = 0;

static void *
host_alloc(void *arg, size_t size)
{
	if (size > MaxAllocHugeSize)
		return NULL;
	return MemoryContextAllocExtended((MemoryContext) arg, size,
									  MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
}

static void
host_free(void *arg, void *ptr)
{
	if (ptr != NULL)
		pfree(ptr);
}

static int64_t
host_now_ms(void *arg)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
forget_wait_set(void)
{
	WaitEventSet *set = wait_set;

	wait_set = NULL;
	wait_nfds = 0;
	if (set != NULL)
		FreeWaitEventSet(set);
}

static bool
host_acquire_fd(void *arg)
{
	return AcquireExternalFD();
}

/* The kernel may give the number to another socket: the set is of no use. */
static void
host_release_fd(void *arg, int fd)
{
	for (int i = 0; i < wait_nfds; i++)
	{
		if (wait_fds[i].fd == fd)
		{
			forget_wait_set();
			break;
		}
	}
	ReleaseExternalFD();
}

static void
host_log(void *arg, const char *line)
{
	if (fluss_log_requests)
		ereport(LOG, (errmsg_internal("%s", line), errhidestmt(true),
					  errhidecontext(true)));
}

static uint32
events_of(const fluss_pollfd *fd)
{
	return (fd->want_read ? WL_SOCKET_READABLE : 0) |
		(fd->want_write ? WL_SOCKET_WRITEABLE : 0);
}

/* Makes wait_set fit the sockets.  Throws when the system refuses a set. */
static void
prepare_wait_set(const fluss_pollfd *fds, int nfds)
{
	bool		same = wait_set != NULL && nfds == wait_nfds;

	for (int i = 0; same && i < nfds; i++)
		same = fds[i].fd == wait_fds[i].fd;

	if (same)
	{
		/* positions 0 and 1 are the latch and the postmaster */
		for (int i = 0; i < nfds; i++)
		{
			if (events_of(&fds[i]) != events_of(&wait_fds[i]))
				ModifyWaitEvent(wait_set, i + 2, events_of(&fds[i]), NULL);
			wait_fds[i] = fds[i];
		}
		return;
	}

	forget_wait_set();
	wait_set = fluss_create_wait_event_set(nfds + 2);
	AddWaitEventToSet(wait_set, WL_LATCH_SET, PGINVALID_SOCKET, MyLatch, NULL);
	AddWaitEventToSet(wait_set, WL_EXIT_ON_PM_DEATH, PGINVALID_SOCKET, NULL,
					  NULL);
	for (int i = 0; i < nfds; i++)
	{
		AddWaitEventToSet(wait_set, events_of(&fds[i]), fds[i].fd, NULL, NULL);
		wait_fds[i] = fds[i];
		wait_nfds = i + 1;
	}
}

/* Ready now?  Saves the wait event set when answers are already there. */
static bool
ready_now(const fluss_pollfd *fds, int nfds)
{
	struct pollfd pfds[MAX_WAIT_SOCKETS];

	for (int i = 0; i < nfds; i++)
	{
		pfds[i].fd = fds[i].fd;
		pfds[i].events = (fds[i].want_read ? POLLIN : 0) |
			(fds[i].want_write ? POLLOUT : 0);
		pfds[i].revents = 0;
	}
	return poll(pfds, nfds, 0) > 0;
}

/* Keeps the error being handled, the first one of a wait, for FlussRaise. */
static void
keep_error(MemoryContext context)
{
	if (interrupting_error == NULL)
	{
		MemoryContextSwitchTo(TopMemoryContext);
		interrupting_error = CopyErrorData();
	}
	MemoryContextSwitchTo(context);
	FlushErrorState();
}

/*
 * Handles what may be handled on the way (a barrier, a reload); true when the
 * wait must end, with the error to throw kept or still pending.
 */
static bool
interrupted(void)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool failed = false;

	if (ProcDiePending || QueryCancelPending)
		return InterruptHoldoffCount == 0 && CritSectionCount == 0;
	if (!INTERRUPTS_PENDING_CONDITION())
		return false;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
	}
	PG_CATCH();
	{
		keep_error(context);
		failed = true;
	}
	PG_END_TRY();
	return failed;
}

typedef enum WaitOutcome
{
	WAIT_NOTHING,				/* the time is over */
	WAIT_LATCH,
	WAIT_SOCKET,
	WAIT_FAILED					/* the error is kept for FlussRaise */
} WaitOutcome;

/* Waits on the set.  May throw. */
static WaitOutcome
wait_on_set(const fluss_pollfd *fds, int nfds, long timeout_ms)
{
	WaitEvent	event;

	prepare_wait_set(fds, nfds);
	if (WaitEventSetWait(wait_set, timeout_ms, &event, 1,
						 PG_WAIT_EXTENSION) == 0)
		return WAIT_NOTHING;
	if ((event.events & WL_LATCH_SET) == 0)
		return WAIT_SOCKET;
	ResetLatch(MyLatch);
	return WAIT_LATCH;
}

/* The same, with an error kept instead of thrown. */
static WaitOutcome
guarded_wait(const fluss_pollfd *fds, int nfds, long timeout_ms)
{
	MemoryContext context = CurrentMemoryContext;
	volatile WaitOutcome outcome = WAIT_FAILED;

	PG_TRY();
	{
		outcome = wait_on_set(fds, nfds, timeout_ms);
	}
	PG_CATCH();
	{
		/* no more descriptors for a wait event set, most likely */
		keep_error(context);
		forget_wait_set();
	}
	PG_END_TRY();
	return outcome;
}

static fluss_wait_result
host_wait(void *arg, const fluss_pollfd *fds, int nfds, int timeout_ms)
{
	int64_t		end = host_now_ms(arg) + timeout_ms;

	if (nfds > MAX_WAIT_SOCKETS)
		nfds = MAX_WAIT_SOCKETS;

	for (;;)
	{
		long		left = timeout_ms < 0 ? -1 : Max(end - host_now_ms(arg), 0);

		if (interrupted())
			return FLUSS_WAIT_INTERRUPTED;
		if (nfds > 0 && ready_now(fds, nfds))
			return FLUSS_WAIT_READY;
		if (left == 0)
			return FLUSS_WAIT_TIMEOUT;
		switch (guarded_wait(fds, nfds, left))
		{
			case WAIT_FAILED:
				return FLUSS_WAIT_INTERRUPTED;
			case WAIT_SOCKET:
				return FLUSS_WAIT_READY;
			default:
				break;
		}
	}
}

fluss_host
FlussHost(MemoryContext context)
{
	fluss_host	host = {0};

	host.arg = context;
	host.alloc = host_alloc;
	host.free = host_free;
	host.wait = host_wait;
	host.now_ms = host_now_ms;
	host.acquire_fd = host_acquire_fd;
	host.release_fd = host_release_fd;
	host.log = host_log;
	return host;
}

/* ------------------------------------------------------------------ errors */

static int
sqlstate_of_server(int code)
{
	switch (code)
	{
		case FLUSS_CODE_DATABASE_NOT_EXIST:
			return ERRCODE_FDW_SCHEMA_NOT_FOUND;	/* HV00Q */
		case FLUSS_CODE_TABLE_NOT_EXIST:
			return ERRCODE_FDW_TABLE_NOT_FOUND; /* HV00R */
		case FLUSS_CODE_AUTHENTICATE:
			return ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION;	/* HV00N */
		case FLUSS_CODE_AUTHORIZATION:
			return ERRCODE_INSUFFICIENT_PRIVILEGE;	/* 42501 */
		case FLUSS_CODE_DATABASE_ALREADY_EXIST:
			return ERRCODE_DUPLICATE_SCHEMA;
		case FLUSS_CODE_TABLE_ALREADY_EXIST:
			return ERRCODE_DUPLICATE_TABLE;
		case FLUSS_CODE_PARTITION_ALREADY_EXISTS:
			return ERRCODE_DUPLICATE_OBJECT;
		case FLUSS_CODE_PARTITION_NOT_EXISTS:
			return ERRCODE_UNDEFINED_OBJECT;
		case FLUSS_CODE_DATABASE_NOT_EMPTY:
			return ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST;
		default:
			return ERRCODE_FDW_ERROR;	/* HV000 */
	}
}

static int
sqlstate_of(const fluss_error *err)
{
	switch (err->status)
	{
		case FLUSS_SERVER_ERROR:
			return sqlstate_of_server(err->server_code);
		case FLUSS_CANNOT_CONNECT:
		case FLUSS_AUTH_FAILED:
			return ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION;	/* HV00N */
		case FLUSS_NOT_PERMITTED:
			return ERRCODE_INSUFFICIENT_PRIVILEGE;	/* 42501 */
		case FLUSS_TIMED_OUT:
		case FLUSS_SEND_FAILED:
			return ERRCODE_FDW_UNABLE_TO_CREATE_EXECUTION;	/* HV00L */
		case FLUSS_MALFORMED:
			return ERRCODE_FDW_UNABLE_TO_CREATE_REPLY;	/* HV00M */
		case FLUSS_OUT_OF_MEMORY:
			return ERRCODE_OUT_OF_MEMORY;
		case FLUSS_MEMORY_CAP:
			return ERRCODE_FDW_OUT_OF_MEMORY;	/* HV001 */
		case FLUSS_UNSUPPORTED:
			return ERRCODE_FEATURE_NOT_SUPPORTED;	/* 0A000 */
		case FLUSS_VALUE_OUT_OF_RANGE:
			return ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;	/* 22003 */
		case FLUSS_DATETIME_OVERFLOW:
			return ERRCODE_DATETIME_VALUE_OUT_OF_RANGE; /* 22008 */
		case FLUSS_VALUE_TOO_LONG:
			return ERRCODE_STRING_DATA_RIGHT_TRUNCATION;	/* 22001 */
		case FLUSS_NOT_NULL_VIOLATION:
			return ERRCODE_NOT_NULL_VIOLATION;	/* 23502 */
		case FLUSS_DATA_LOST:
		case FLUSS_PARTITION_EXPIRED:
		case FLUSS_INVALID_ARGUMENT:
		case FLUSS_NO_SUCH_KEY:
			return ERRCODE_INVALID_PARAMETER_VALUE; /* 22023 */
		case FLUSS_TABLE_CHANGED:
			return ERRCODE_FDW_INCONSISTENT_DESCRIPTOR_INFORMATION; /* HV021 */
		case FLUSS_DISK_FULL:
			return ERRCODE_DISK_FULL;	/* 53100 */
		case FLUSS_TOO_MANY_ROWS:
			return ERRCODE_FEATURE_NOT_SUPPORTED;	/* 0A000 */
		default:
			return ERRCODE_FDW_ERROR;	/* HV000 */
	}
}

/* Throws what ended a wait: the kept error, or the pending cancel. */
static void
throw_interrupt(void)
{
	ErrorData  *error = interrupting_error;

	if (error != NULL)
	{
		interrupting_error = NULL;
		ReThrowError(error);
	}
	CHECK_FOR_INTERRUPTS();
	ereport(ERROR,
			(errcode(ERRCODE_QUERY_CANCELED),
			 errmsg("canceling statement during a Fluss request")));
}

/* CONTEXT: the foreign table, and for a decode error where in the log. */
static void
add_context(const fluss_error *err, const char *relname)
{
	char		partition[48] = "";

	if (relname != NULL)
		errcontext("foreign table \"%s\"", relname);
	if (err->bucket < 0)
		return;
	if (err->partition_id >= 0)
		snprintf(partition, sizeof(partition), "partition %lld, ",
				 (long long) err->partition_id);
	if (err->base_offset >= 0 && err->next_offset >= 0)
		errcontext("%sbucket %d, batch of offsets %lld to %lld",
				   partition, err->bucket, (long long) err->base_offset,
				   (long long) err->next_offset - 1);
	else
		errcontext("%sbucket %d", partition, err->bucket);
}

void
FlussRaise(const fluss_error *err, const char *relname)
{
	if (err->status == FLUSS_INTERRUPTED)
		throw_interrupt();
	/* plans for the table that was are of no use */
	if (err->status == FLUSS_TABLE_CHANGED)
		ResetPlanCache();

	errstart(ERROR, TEXTDOMAIN);
	errcode(sqlstate_of(err));
	errmsg("%s", err->message[0] ? err->message : "could not access Fluss");
	if (err->detail[0])
		errdetail("%s", err->detail);
	if (err->hint[0])
		errhint("%s", err->hint);
	else if (err->status == FLUSS_MEMORY_CAP)
		errhint("Raise fluss_fdw.max_buffered_bytes.");
	else if (err->status == FLUSS_TOO_MANY_ROWS)
		errhint("Ask by primary key, or raise the option limit_scan_max_rows.");
	add_context(err, relname);
	errfinish(__FILE__, __LINE__, __func__);
	pg_unreachable();
}

/* --------------------------------------------------- objects and contexts */

typedef struct CloseOnReset
{
	MemoryContextCallback callback;
	void		(*close) (void *);
	void	  **object;
} CloseOnReset;

static void
close_object(void *arg)
{
	CloseOnReset *entry = arg;
	void	   *object = *entry->object;

	*entry->object = NULL;
	if (object != NULL)
		entry->close(object);
}

void
FlussCloseOnReset(MemoryContext context, void (*close) (void *), void **object)
{
	CloseOnReset *entry = MemoryContextAllocZero(context, sizeof(*entry));

	entry->close = close;
	entry->object = object;
	entry->callback.func = close_object;
	entry->callback.arg = entry;
	MemoryContextRegisterResetCallback(context, &entry->callback);
}

void
FlussReleaseTable(void *table)
{
	fluss_table_release(table);
}

void
FlussReleasePartitions(void *partitions)
{
	fluss_partitions_release(partitions);
}

void
FlussCloseEnds(void *ends)
{
	fluss_ends_close(ends);
}
