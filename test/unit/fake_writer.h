/*
 * fake_writer.h
 *	  Writers to the simulated server, and what it got.
 */
#ifndef FLUSS_FAKE_WRITER_H
#define FLUSS_FAKE_WRITER_H

#include <stdio.h>
#include <string.h>

#include "fake_cluster.h"

/* How to write: set anew for each test. */
extern fluss_writer_options writer_options;

/* The server anew, its buckets two to a leader, and the options. */
int start_writing(int nbuckets, bool keyed);
/* The same before a test, with four buckets; and the end of it. */
int writer_set_up_log(void **unused);
int writer_set_up_keyed(void **unused);
int writer_tear_down(void **unused);

fluss_writer *open_writer(void);
/* Writes the rows first .. first + n - 1. */
fluss_status write_rows(fluss_writer *writer, int first, int n,
						fluss_error *err);
/* Closes the last writer that is open: nothing is left then. */
void close_writer(fluss_writer *writer);
/* Rows 0 .. n-1 are there once each, ascending within their buckets. */
void check_rows(int n);
/* Rows that are acknowledged are there, and none is there twice. */
void check_acknowledged(int64_t rows);
/* Sums up what the writer tells, and checks that its runs are apart. */
int64_t rows_of_runs(fluss_writer *writer, int *nruns);

#endif							/* FLUSS_FAKE_WRITER_H */
