/*
 * convert.h
 *	  What both directions of converting values share.
 *
 * No value is changed in silence: what the other side cannot hold is an error
 * that names the column, and never the value.  The one exception is documented:
 * Fluss timestamps lose what lies below the microsecond.
 */
#ifndef FLUSS_CONVERT_H
#define FLUSS_CONVERT_H

#include "fluss_fdw.h"

#include "datatype/timestamp.h"

/*
 * Fluss counts days and milliseconds from 1970-01-01, PostgreSQL days and
 * microseconds from 2000-01-01.
 */
#define FLUSS_EPOCH_DAYS		(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)
#define FLUSS_EPOCH_MILLIS	(FLUSS_EPOCH_DAYS * INT64CONST(86400000))
#define FLUSS_EPOCH_USECS		(FLUSS_EPOCH_DAYS * USECS_PER_DAY)

/* "value for column ... of foreign table ..." and why it is refused. */
extern void FlussRefuseValue(const FlussConverter *conv, int sqlstate,
							 const char *why) __attribute__((noreturn));

/* "... is out of range for Fluss type ...": Fluss's type cannot hold it. */
extern void FlussRefuseWrite(const FlussConverter *conv, int sqlstate,
							 const char *what) __attribute__((noreturn));

/* Makes errors of core's own conversions name the column. */
extern void FlussPushColumnContext(ErrorContextCallback *callback,
								   const FlussConverter *conv);
extern void FlussPopColumnContext(ErrorContextCallback *callback);

/* The converter of a part of a nested value, from the one of the whole. */
extern void FlussConverterInitPart(FlussConverter *part,
								   const FlussConverter *whole,
								   const fluss_type *type,
								   FlussConversion kind, Oid pgtype,
								   int32 typmod, const char *path);

/* ------------------------------- convert_nested.c, convert_nested_write.c */

/* Makes the parts of a converter of a nested type. */
extern void FlussNestedInit(FlussConverter *conv);
extern Datum FlussNestedToDatum(const FlussConverter *conv,
								const fluss_value *value);
extern Datum FlussNestedViewToDatum(const FlussConverter *conv,
									const fluss_column_view *view, int32_t row);
extern void FlussNestedFromDatum(const FlussConverter *conv, Datum datum,
								 fluss_value *value);

static inline int128
FlussPowerOfTen(int exponent)
{
	int128		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* Unscaled value of a DECIMAL column. */
static inline int128
FlussColumnDecimal(const fluss_column_view *view, int32_t row)
{
	return (int128) ((uint128) (uint64) fluss_column_int64(view, 2 * row + 1) << 64 |
					 (uint64) fluss_column_int64(view, 2 * row));
}

/* The numeric of an unscaled value. */
extern Datum FlussNumericOf(int128 unscaled, int scale);

#endif							/* FLUSS_CONVERT_H */
