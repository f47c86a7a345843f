/*
 * vector.h
 *	  The inside of filters on column vectors: vector.c and vector_value.c.
 */
#ifndef FLUSS_VECTOR_H
#define FLUSS_VECTOR_H

#include "convert.h"

#include <math.h>

#include "access/stratnum.h"

/* Strategy of <>, which no operator family has. */
#define FLUSS_NOT_EQUAL_STRATEGY	(BTMaxStrategyNumber + 1)

/* Beyond the unscaled value of any DECIMAL, and of any 64-bit integer. */
#define FLUSS_WIDE_MAX	FlussPowerOfTen(38)

typedef enum FlussVectorKind
{
	VECTOR_AND,
	VECTOR_OR,
	VECTOR_TEST
} FlussVectorKind;

typedef enum FlussFloatTest
{
	FLOAT_ANY,					/* true for every number */
	FLOAT_LESS,
	FLOAT_LESS_EQUAL,
	FLOAT_EQUAL,
	FLOAT_NOT_NAN
} FlussFloatTest;

/* Raw units; of floating point, values by FlussFloatOrder. */
typedef struct FlussVectorInterval
{
	int128		low;
	int128		high;
} FlussVectorInterval;

typedef struct FlussVectorNode
{
	FlussVectorKind	kind;
	List	   *children;		/* AND, OR: of FlussVectorNode */
	/* tests */
	AttrNumber	attnum;
	int			column;			/* index into the batch's columns */
	FlussConversion conversion;
	const fluss_type *type;
	int			strategy;		/* btree, or <>; 0: the value is not asked for */
	Oid			argtype;		/* of the value; of its elements for an array */
	bool		is_array;		/* column = ANY (value) */
	Const	   *constant;
	ExprState  *value;			/* NULL: constant, or none */
	/* once the value is known: true for NULL, true for what lies within */
	bool		ready;
	bool		null_result;
	bool		negate;			/* ... or for what does not */
	int128		low;			/* raw units; none when low > high */
	int128		high;
	FlussFloatTest	float_test;
	double		float_key;
	/* arrays: true for what lies within one of these, ascending and disjoint */
	int			nintervals;
	FlussVectorInterval *intervals;
	int			intervals_room;
	/* result for the rows of the current batch */
	uint8	   *mask;
	int			room;
} FlussVectorNode;

/* ---------------------------------------------------------- vector_value.c */

/*
 * Computes the other side of a test, unless that was done before.  What an array
 * needs is kept in context.
 */
extern void FlussVectorReady(FlussVectorNode *test, MemoryContext context,
							 ExprContext *econtext);

/* An integer that orders floating point as core does, NaN above all. */
static inline int64
FlussFloatOrder(double value)
{
	int64		bits;

	if (isnan(value))
		return PG_INT64_MAX;
	if (value == 0)
		return 0;
	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? -(bits & PG_INT64_MAX) : bits;
}

#endif							/* FLUSS_VECTOR_H */
