/*
 * fluss_fdw.c
 *	  Handler and settings.
 */
#include "fluss_fdw.h"

#include "fmgr.h"
#include "utils/guc.h"

PG_MODULE_MAGIC;

int			fluss_max_buffered_kb = 64 * 1024;
bool		fluss_log_requests = false;
bool		fluss_enable_lookup_join = true;
bool		fluss_enable_vector_filter = true;
bool		fluss_enable_aggregate_pushdown = true;
bool		fluss_enable_ordered_scan = true;

extern PGDLLEXPORT void _PG_init(void);
extern PGDLLEXPORT Datum fluss_fdw_handler(PG_FUNCTION_ARGS);

PG_FUNCTION_INFO_V1(fluss_fdw_handler);

/* What the planner may do. */
static void
define_switch(const char *name, const char *description, bool *variable)
{
	DefineCustomBoolVariable(name, description, NULL, variable, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
}

void
_PG_init(void)
{
	DefineCustomIntVariable("fluss_fdw.max_buffered_bytes",
							"Memory that one scan or writer may hold.",
							NULL,
							&fluss_max_buffered_kb,
							64 * 1024, 1024, MAX_KILOBYTES,
							PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("fluss_fdw.log_requests",
							 "Logs every request to a Fluss cluster.",
							 NULL,
							 &fluss_log_requests,
							 false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
	define_switch("fluss_fdw.enable_lookup_join",
				  "Enables joins on the key of a table by batched lookups.",
				  &fluss_enable_lookup_join);
	define_switch("fluss_fdw.enable_vector_filter",
				  "Enables filters on column vectors, before rows are formed.",
				  &fluss_enable_vector_filter);
	define_switch("fluss_fdw.enable_aggregate_pushdown",
				  "Enables aggregates on column vectors, and counts by the servers.",
				  &fluss_enable_aggregate_pushdown);
	define_switch("fluss_fdw.enable_ordered_scan",
				  "Enables scans in the order of offsets, and of the tail of a log.",
				  &fluss_enable_ordered_scan);
	MarkGUCPrefixReserved("fluss_fdw");

	FlussConnectionInit();
	FlussSnapshotInit();
	FlussModifyInit();
	FlussCommitInit();
	FlussLookupJoinInit();
	FlussUniqueInit();
}

Datum
fluss_fdw_handler(PG_FUNCTION_ARGS)
{
	FdwRoutine *routine = makeNode(FdwRoutine);

	routine->GetForeignRelSize = flussGetForeignRelSize;
	routine->GetForeignPaths = flussGetForeignPaths;
	routine->GetForeignPlan = flussGetForeignPlan;
	routine->GetForeignUpperPaths = flussGetForeignUpperPaths;
	routine->BeginForeignScan = flussBeginForeignScan;
	routine->IterateForeignScan = flussIterateForeignScan;
	routine->ReScanForeignScan = flussReScanForeignScan;
	routine->EndForeignScan = flussEndForeignScan;
	routine->ExplainForeignScan = flussExplainForeignScan;

	routine->PlanForeignModify = flussPlanForeignModify;
	routine->BeginForeignModify = flussBeginForeignModify;
	routine->AddForeignUpdateTargets = flussAddForeignUpdateTargets;
	routine->ExecForeignInsert = flussExecForeignInsert;
	routine->ExecForeignUpdate = flussExecForeignUpdate;
	routine->ExecForeignDelete = flussExecForeignDelete;
	routine->ExecForeignTruncate = flussExecForeignTruncate;
	routine->ExecForeignBatchInsert = flussExecForeignBatchInsert;
	routine->GetForeignModifyBatchSize = flussGetForeignModifyBatchSize;
	routine->EndForeignModify = flussEndForeignModify;
	routine->BeginForeignInsert = flussBeginForeignInsert;
	routine->EndForeignInsert = flussEndForeignInsert;
	routine->IsForeignRelUpdatable = flussIsForeignRelUpdatable;
	routine->ExplainForeignModify = flussExplainForeignModify;

	routine->IsForeignScanParallelSafe = flussIsForeignScanParallelSafe;
	routine->EstimateDSMForeignScan = flussEstimateDSMForeignScan;
	routine->InitializeDSMForeignScan = flussInitializeDSMForeignScan;
	routine->ReInitializeDSMForeignScan = flussReInitializeDSMForeignScan;
	routine->InitializeWorkerForeignScan = flussInitializeWorkerForeignScan;
	routine->ShutdownForeignScan = flussShutdownForeignScan;

	routine->AnalyzeForeignTable = flussAnalyzeForeignTable;

	routine->ImportForeignSchema = flussImportForeignSchema;

	PG_RETURN_POINTER(routine);
}
