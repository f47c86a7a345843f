/*
 * modify.h
 *	  The inside of a modification: modify.c, modify_plan.c, modify_columns.c,
 *	  modify_key.c and modify_reads.c.
 */
#ifndef FLUSS_MODIFY_H
#define FLUSS_MODIFY_H

#include "fluss_fdw.h"

/* A key column of the row that an UPDATE or DELETE is about. */
typedef struct FlussRowKey
{
	AttrNumber	junk;			/* of the plan's rows */
	AttrNumber	attnum;			/* of the foreign table */
	FlussConverter converter;
	int16		typlen;
	bool		typbyval;
} FlussRowKey;

typedef struct FlussModifyState
{
	MemoryContext context;		/* of everything; its reset closes the writer */
	MemoryContext row_context;	/* of one call */
	CmdType		operation;
	FlussRelation *rel;
	FlussStatement *statement;	/* NULL: written with the transaction */
	List	   *planned;		/* columns the plan has an expression for */
	fluss_writer *writer;
	int			nwritten;
	FlussConverter *written;	/* columns that are written */
	int			nread_only;
	AttrNumber *read_only;		/* columns that must be NULL */
	fluss_value *row;			/* by remote column */
	bool		held;			/* nothing is sent before the end */
	bool		flushed;		/* nothing was written since the last flush */

	/* of a routed INSERT: the UPDATE that also has this table as a target */
	struct FlussModifyState *updating;

	/* UPDATE and DELETE */
	int			nkeys;
	FlussRowKey *keys;			/* in the order of the primary key */
	bool		check_key;		/* a trigger may have changed the key */
	fluss_lookup *seen;			/* keys so far, where a join may repeat one */
	int			nseen;
	AttrNumber	whole_row;		/* junk column of the old row, or invalid */
	TupleTableSlot *old_slot;	/* for it */
	FlussConverter *version;	/* version column of the merge engine, or NULL */
} FlussModifyState;

/* ---------------------------------------------------------------- modify.c */

/* Sends what is left and waits until all of it is acknowledged. */
extern void FlussFinishWriting(FlussModifyState *state);

/* ---------------------------------------------------------- modify_reads.c */

/*
 * True when the statement also reads the table that rri writes.  *readers are
 * the foreign tables that it may read it through, one for each server, as far
 * as they can be asked.
 */
extern bool FlussFindReaders(FlussRelation *rel, ResultRelInfo *rri,
							 EState *estate, List **readers);
/* The statement's scans of a log end where it ends now. */
extern void FlussPinBeforeWriting(FlussRelation *reader, EState *estate);
/* From here to the end of its context the modification is under way. */
extern void FlussRegisterModify(FlussModifyState *state, EState *estate);

/* ----------------------------------------------------------- modify_plan.c */

#define FLUSS_WHOLE_ROW "wholerow"	/* core's name of the junk column */

/* Refuses ON CONFLICT but where the table does nothing by itself. */
extern void FlussCheckOnConflict(OnConflictAction action, Oid relid,
								 Oid userid);
/* Refuses UPDATE and DELETE where the table's kind or options forbid them. */
extern void FlussCheckOperation(FlussModifyState *state);
/* 0A000; why goes after "Fluss table ... ". */
extern void FlussRefuseOperation(const FlussModifyState *state,
								 const char *why);
/* The local column that has exactly the values of a remote one, or NULL. */
extern const FlussAttribute *FlussExactAttribute(const FlussRelation *rel,
												 int32 remote);
/* The same for a column of the primary key, which must have one. */
extern const FlussAttribute *FlussKeyAttribute(const FlussRelation *rel,
											   int keyno);
/* Name of the junk column for a key column. */
extern char *FlussJunkName(const FlussAttribute *attr);

/* ------------------------------------------------------------ modify_key.c */

/* What UPDATE and DELETE need beside a writer. */
extern void FlussBeginByKey(FlussModifyState *state, ModifyTableState *mtstate,
							ResultRelInfo *rri);
/* The key of the plan's row, as values in the current context. */
extern fluss_value *FlussKeyValues(FlussModifyState *state,
								   TupleTableSlot *planSlot);
/* False when the row was changed by this statement before. */
extern bool FlussIsFirstChange(FlussModifyState *state,
							   const fluss_value *key);
/* Refuses a row to which a BEFORE ROW trigger gave another key. */
extern void FlussCheckSameKey(FlussModifyState *state, TupleTableSlot *slot,
							  TupleTableSlot *planSlot);
/* Refuses an older version, which the server would drop in silence. */
extern void FlussCheckVersion(FlussModifyState *state, TupleTableSlot *slot,
							  TupleTableSlot *planSlot);
/* Puts the row as it was read into old_slot. */
extern void FlussFetchOldRow(FlussModifyState *state,
							 TupleTableSlot *planSlot);

/* -------------------------------------------------------- modify_columns.c */

/* A column that takes no value: metadata, or auto-increment. */
extern void FlussRefuseColumn(const FlussModifyState *state,
							  AttrNumber attnum) __attribute__((noreturn));
/*
 * Makes the converters of the written columns and tells, by remote column,
 * which they are.
 */
extern bool *FlussCollectColumns(FlussModifyState *state,
								 ModifyTableState *mtstate,
								 ResultRelInfo *rri);
/*
 * Positions of the columns of a partial update, or NULL when every column of
 * the remote table is written.  Refuses what the table forbids.
 */
extern int32_t *FlussTargetColumns(FlussModifyState *state, const bool *marks,
								   int *ntargets);
/* What a new row of a log table lacks may be NULL. */
extern void FlussCheckLogColumns(const FlussRelation *rel, const bool *marks);
/* The table's merge engine, in lower case, or NULL. */
extern const char *FlussMergeEngine(const fluss_table *table);
/* What was read of the column can be written back without a change. */
extern bool FlussRoundTrips(const FlussRelation *rel, AttrNumber attnum);

#endif							/* FLUSS_MODIFY_H */
