/*
 * tables.h
 *	  Tables of a real cluster, and rows for them.
 */
#ifndef FLUSS_TEST_TABLES_H
#define FLUSS_TEST_TABLES_H

#include "support.h"
#include "values.h"

#define TEST_DATABASE	"c_client_test"
#define MEGABYTE		((int64_t) 1 << 20)

/* The unit tests' host, but sleeps take their time. */
const fluss_host *cluster_host(void);
/* One client for the program, to FLUSS_BOOTSTRAP; makes the database anew. */
fluss_client *test_client(void);
/*
 * The last test of each program: drops the database and closes the client, and
 * then everything is given back.
 */
void test_nothing_is_left(void **unused);

typedef struct test_table_spec
{
	const char *name;
	int			nbuckets;
	int			nkey;			/* 0: log table; else that many first columns */
	const char *codec;			/* NONE, LZ4_FRAME, ZSTD, or NULL */
	const char *log_format;		/* or NULL */
	const char *kv_format;		/* or NULL */
	const fluss_column *columns;
	int			ncolumns;
} test_table_spec;

/*
 * Creates and opens the table.  A coordinator of 0.9.1 misses the creation of
 * a table now and then; such a table never gets a leader, and is made again.
 */
fluss_table *test_table_create(const test_table_spec *spec);

/* Large batches, answers and requests; a test changes what it is about. */
fluss_writer_options test_writer_options(void);
fluss_scan_options test_scan_options(const int32_t *columns, int ncolumns);
fluss_lookup_options test_lookup_options(const int32_t *columns, int ncolumns);
fluss_writer *test_open_writer(fluss_table *table,
							   const fluss_writer_options *options);
fluss_lookup *test_open_lookup(fluss_table *table,
							   const fluss_lookup_options *options);

/* One column of every scalar type, first an INT "id" NOT NULL. */
const fluss_column *test_all_types(int *ncolumns);
/*
 * Row n for these columns: column 0 is n, the others run through the edges of
 * their type, with a NULL now and then.  Bytes live in the arena.
 */
fluss_value *test_make_row(fluss_arena *arena, const fluss_column *columns,
						   int ncolumns, int64_t n);

#endif							/* FLUSS_TEST_TABLES_H */
