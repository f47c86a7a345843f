/*
 * lookup_join.h
 *	  The inside of a lookup join's execution: lookup_join_exec.c and
 *	  lookup_join_window.c.
 */
#ifndef FLUSS_LOOKUP_JOIN_H
#define FLUSS_LOOKUP_JOIN_H

#include "fluss_fdw.h"

#include "nodes/extensible.h"

#define FLUSS_NO_SLOT	(-1)

typedef struct FlussJoinRow
{
	MinimalTuple tuple;
	int			slot;			/* of the window's lookup; FLUSS_NO_SLOT: no match */
} FlussJoinRow;

typedef struct FlussJoinWindow
{
	MemoryContext context;		/* of the rows */
	fluss_lookup *own;
	fluss_lookup *lookup;		/* own, or the state's large one */
	FlussJoinRow *rows;
	int			nrows;
	int			maxrows;
	int64		bytes;			/* of the rows */
	int			next;			/* first row not yet given */
	int			asked;			/* rows before have their slots */
	int			nslots;
	bool		pieces;			/* its keys were too many for its share */
	bool		large_next;		/* ask for the next piece by the large lookup */
} FlussJoinWindow;

typedef struct FlussJoinState
{
	CustomScanState css;
	FlussJoinPrivate plan;
	ForeignScanState *inner_scan;
	FlussScanState *inner;		/* its state, bound once a row came */
	MemoryContext context;		/* lookups and windows */

	/* expressions over the scan tuple */
	int			nkeys;			/* of the primary key */
	int			nvalues;
	ExprState **values;
	int		   *places;			/* in the primary key */
	FlussConverter *converters;
	fluss_value *key;			/* by place */
	ExprState  *outer_quals;
	ExprState  *quals;
	ExprState  *recheck_quals;	/* all, when no lookup vouches for the key */

	/* where the scan tuple's columns come from */
	int			ncolumns;
	int		   *sources;

	/* windows */
	int			nwindows;
	FlussJoinWindow *windows;
	fluss_lookup *large;		/* for an answer that fills a window's share;
								 * only the current window uses it */
	int			current;
	int			nfilled;		/* from the current one on */
	int64		rows_limit;		/* bytes of a window's rows */
	int64		lookup_limit;	/* bytes of its keys and answers */
	int			batch_size;
	int			most_keys;		/* of a window: less when answers are large */
	double		most_rows;		/* grows while few rows are wanted */
	bool		outer_done;

	/* the current outer row */
	TupleTableSlot *outer_slot;
	bool		have_outer;
	bool		matched;
} FlussJoinState;

/* ------------------------------------------------------ lookup_join_exec.c */

/* Puts an outer row into the scan tuple, with NULLs for the inner side. */
extern void FlussJoinFillOuter(FlussJoinState *state, TupleTableSlot *outer);

/* ---------------------------------------------------- lookup_join_window.c */

/* Makes the windows, which need the table; once. */
extern void FlussJoinOpenWindows(FlussJoinState *state);
/* As before the first row. */
extern void FlussJoinResetWindows(FlussJoinState *state);
/*
 * Puts the next outer row into the scan tuple, and hands its answer to the
 * inner child; false at the end.
 */
extern bool FlussJoinNextOuter(FlussJoinState *state);

#endif							/* FLUSS_LOOKUP_JOIN_H */
