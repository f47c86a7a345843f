/*
 * fdw_write.h
 *	  Part of fluss_fdw.h: writing, IMPORT and administration.
 */
#ifndef FLUSS_FDW_WRITE_H
#define FLUSS_FDW_WRITE_H

/* --------------------------------------------------------------- modify.c */

extern List *flussPlanForeignModify(PlannerInfo *root, ModifyTable *plan,
									Index resultRelation, int subplan_index);
extern void flussBeginForeignModify(ModifyTableState *mtstate,
									ResultRelInfo *rri, List *fdw_private,
									int subplan_index, int eflags);
extern TupleTableSlot *flussExecForeignInsert(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern TupleTableSlot *flussExecForeignUpdate(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern TupleTableSlot *flussExecForeignDelete(EState *estate,
											  ResultRelInfo *rri,
											  TupleTableSlot *slot,
											  TupleTableSlot *planSlot);
extern void flussAddForeignUpdateTargets(PlannerInfo *root, Index rtindex,
										 RangeTblEntry *target_rte,
										 Relation target_relation);
extern void flussExecForeignTruncate(List *rels, DropBehavior behavior,
									 bool restart_seqs)
			__attribute__((noreturn));
extern TupleTableSlot **flussExecForeignBatchInsert(EState *estate,
													ResultRelInfo *rri,
													TupleTableSlot **slots,
													TupleTableSlot **planSlots,
													int *numSlots);
extern int	flussGetForeignModifyBatchSize(ResultRelInfo *rri);
extern void flussEndForeignModify(EState *estate, ResultRelInfo *rri);
extern void flussBeginForeignInsert(ModifyTableState *mtstate,
									ResultRelInfo *rri);
extern void flussEndForeignInsert(EState *estate, ResultRelInfo *rri);
extern int	flussIsForeignRelUpdatable(Relation rel);
extern void flussExplainForeignModify(ModifyTableState *mtstate,
									  ResultRelInfo *rri, List *fdw_private,
									  int subplan_index, ExplainState *es);

/* ---------------------------------------------------------- modify_reads.c */

/*
 * Statements that this one, of the EState, runs in, and that have inserted into
 * the table: what they have not sent yet is sent, and acknowledged.
 */
extern void FlussSendBeforeReading(const FlussRelation *rel, EState *estate);
extern void FlussModifyInit(void);

/* --------------------------------------------------------------- commit.c */

/*
 * A writer that holds its rows until the transaction commits, and loses them
 * when the current subtransaction is rolled back.  It is the transaction's.
 */
extern fluss_writer *FlussHeldWriter(const FlussRelation *rel,
									 const fluss_writer_options *options);
/* Bytes that the writers of this transaction hold. */
extern int64 FlussHeldBytes(void);
/* This transaction has written, and so cannot be prepared. */
extern void FlussNoteWrite(void);
extern void FlussCommitInit(void);

/* ----------------------------------------------------------- last_write.c */

/* A run of offsets that a statement wrote. */
typedef struct FlussWrittenRun
{
	int64		table_id;
	fluss_write_run run;
} FlussWrittenRun;

/* What one statement has written so far, with all its targets. */
typedef struct FlussStatement FlussStatement;

/*
 * Counts one more target of the statement of that owner (an EState); it ends
 * with the context.
 */
extern FlussStatement *FlussStatementJoin(const void *owner,
										  MemoryContext context);
/*
 * A target is done and acknowledged.  With its last one the statement becomes
 * the session's last write.
 */
extern void FlussStatementLeave(FlussStatement *statement, int64 table_id,
								fluss_writer *writer);
/* Runs of the last writing statement; they live until the next one ends. */
extern const FlussWrittenRun *FlussLastWrite(int *nruns);

/* --------------------------------------------------------------- import.c */

extern List *flussImportForeignSchema(ImportForeignSchemaStmt *stmt,
									  Oid serverid);
/*
 * Appends name, type and options of a foreign table's column for a remote one;
 * its name is none of *names, which learns it.
 */
extern void FlussAppendColumn(StringInfo out, const fluss_column *column,
							  bool not_null, List **names);

/* ------------------------------------------------- admin.c, admin_info.c */

/* What a function of ours is about: a Fluss table, a database or a server. */
typedef struct FlussTarget
{
	MemoryContext context;		/* of the call; holds the connection open */
	MemoryContext caller;
	FlussConnection *conn;
	FlussRelation *rel;			/* or NULL: named by server and names */
	const char *relname;		/* of the foreign table, or NULL */
	const char *database;
	const char *table;
	int			nargs;			/* arguments that name it: the others follow */
} FlussTarget;

/*
 * The table that a call's first arguments name: a foreign table, or server,
 * database and table, as the function is declared.  Checks that the caller may
 * use it so: mode is ACL_SELECT, or 0 for the foreign table's owner only;
 * servers are always checked for USAGE.  Leaves the target's context current.
 */
extern void FlussTargetOpen(FlussTarget *target, FunctionCallInfo fcinfo,
							AclMode mode);
/* The same of the server that the first argument names, and a database. */
extern void FlussTargetOpenServer(FlussTarget *target, FunctionCallInfo fcinfo,
								  const char *database);
/* Its Fluss table, as it is now; goes with the target. */
extern fluss_table *FlussTargetTable(FlussTarget *target);
extern void FlussTargetClose(FlussTarget *target);
/* Refuses NULL for the function's argument of that number and name. */
extern void FlussRequireArgument(FunctionCallInfo fcinfo, int n,
								 const char *name);
/* Arguments of functions that are not strict: NULL and false for a null. */
extern char *FlussTextArgument(FunctionCallInfo fcinfo, int n);
extern bool FlussBoolArgument(FunctionCallInfo fcinfo, int n);
/* The text of a JSON scalar; NULL for what is none. */
extern char *FlussJsonText(const JsonbValue *value);
/* Members of a JSON object of scalars; argument is its name, for errors. */
extern fluss_property *FlussJsonProperties(Jsonb *jsonb, const char *argument,
										   int *n);
/* Texts of an array without NULLs. */
extern const char **FlussTextArray(ArrayType *array, const char *argument,
								   int *n);

#endif							/* FLUSS_FDW_WRITE_H */
