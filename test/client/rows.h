/*
 * rows.h
 *	  Rows written to test tables, and read again through a log scan.
 */
#ifndef FLUSS_TEST_ROWS_H
#define FLUSS_TEST_ROWS_H

#include "tables.h"

#define ALL				FLUSS_OFFSET_END
#define MAX_BUCKETS		8

/* (id INT NOT NULL, a DOUBLE, b STRING); small_columns are id, b, a. */
fluss_table *small_table(const char *name, int nbuckets, int nkey);
extern const int32_t small_columns[3];

/* ---- writing */

/* Rows first .. end-1 of test_make_row, to the end. */
void write_to(fluss_writer *writer, fluss_table *table, int64_t first,
			  int64_t end);
/* The same with a writer of its own. */
void write_rows(fluss_table *table, int64_t first, int64_t end);

/* ---- scanning */

typedef struct scan_result
{
	int64_t		rows;
	int64_t		rows_of[MAX_BUCKETS];
	int64_t		next[MAX_BUCKETS];	/* offset past the last row */
	int			changes[5];		/* rows by change type */
	int			nlosses;
	fluss_loss	loss;
	int64_t		id_sum;
	fluss_counters counters;
} scan_result;

/*
 * Reads the ranges, with ends of its own if NULL.  Column 0 must be the first
 * one that is asked for, and the rest of a row as test_make_row made it.
 */
scan_result scan_ranges(fluss_table *table, const fluss_range *ranges,
						int nranges, const fluss_scan_options *options,
						fluss_ends *ends);
/* All of all buckets. */
scan_result scan_all(fluss_table *table, const fluss_scan_options *options);
/* A table of all types with rows 0 .. nrows-1, by all and by some columns. */
void scan_in_every_way(fluss_table *table, int64_t nrows);
/* The sum of the ids below n. */
int64_t sum_to(int64_t n);

#endif							/* FLUSS_TEST_ROWS_H */
