/*
 * partition.h
 *	  Partitions of a table: the inside of partition.c, partition_list.c,
 *	  partition_text.c and partition_age.c.
 */
#ifndef FLUSS_PARTITION_H
#define FLUSS_PARTITION_H

#include "arena.h"
#include "buf.h"
#include "rpc_admin.h"

/* What a fluss_partitions really is. */
typedef struct fluss_partition_list
{
	fluss_partitions partitions;	/* must be first */
	const fluss_partition **by_name;
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself, items and texts */
	int			references;
	int64_t		asked_ms;
} fluss_partition_list;

/* A list with one reference, of what a server has said. */
FLUSS_MUST_CHECK fluss_status fluss_partition_list_make(const fluss_host *host,
														const fluss_table *table,
														const fluss_partition_entry *entries,
														int nentries,
														fluss_partition_list **list,
														fluss_error *err);
/* The values joined by '$', in the arena; NULL without memory. */
char	   *fluss_partition_join(fluss_arena *arena, const char *const *values,
								 int n);

/* Of the proleptic Gregorian calendar. */
typedef struct fluss_date
{
	int64_t		year;
	int			month;
	int			day;
} fluss_date;

fluss_date	fluss_days_to_date(int64_t days);

/*
 * FLUSS_PARTITION_EXPIRED when the server would drop a new partition of these
 * values, because of the table's retention; now_s in seconds since 1970.
 */
FLUSS_MUST_CHECK fluss_status fluss_partition_check_age(const fluss_table *table,
														const char *const *values,
														fluss_zone_offset zone_offset,
														int64_t now_s,
														fluss_error *err);

/* What a server takes as a partition value: see partition_text.c. */
bool fluss_partition_text_is_valid(const char *text);

/*
 * Appends the name of the partition that a row belongs to, with its NUL;
 * values by schema position, none of the partition columns' NULL.
 */
FLUSS_MUST_CHECK fluss_status fluss_partition_name(const fluss_table *table,
												   const fluss_value *row,
												   fluss_buf *name,
												   fluss_error *err);
/*
 * The partition of that name, or NULL.  Other clients may have printed the
 * same floating point number otherwise: so these are compared as numbers.
 */
const fluss_partition *fluss_partition_find(const fluss_table *table,
											const fluss_partitions *partitions,
											const char *name);

/* Lets go of the list that the table has cached, if any. */
void fluss_partitions_forget(fluss_table *table);

#endif							/* FLUSS_PARTITION_H */
