/*
 * partition.h
 *	  Partitions of a table: the inside of partition.c and partition_text.c.
 */
#ifndef FLUSS_PARTITION_H
#define FLUSS_PARTITION_H

#include "arena.h"

/* What a server takes as a partition value: see partition_text.c. */
bool fluss_partition_text_is_valid(const char *text);

/* Lets go of the list that the table has cached, if any. */
void fluss_partitions_forget(fluss_table *table);

#endif							/* FLUSS_PARTITION_H */
