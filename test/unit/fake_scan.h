/*
 * fake_scan.h
 *	  Log scans against the simulated server, and what they gave.
 */
#ifndef FLUSS_FAKE_SCAN_H
#define FLUSS_FAKE_SCAN_H

#include "fake_cluster.h"

#define ALL	FLUSS_OFFSET_END

/* What a scan gave. */
typedef struct scan_result
{
	int64_t		rows;
	int64_t		sum;			/* of the rows' offsets */
	int			nlosses;
	fluss_loss	losses[8];
	int64_t		first;			/* offset of the first row of bucket 0 */
	int64_t		last;			/* of the last one */
	int			nulls;			/* of "name" */
	fluss_counters counters;
	fluss_status status;
	fluss_error err;
} scan_result;

extern const int32_t all_columns[3];
extern const int32_t name_and_id[2];
extern const int32_t id_only[1];

/* How to scan: set anew for each test. */
extern fluss_scan_options options;
extern int64_t stop_after;		/* rows; 0: never */

/* The server anew with one bucket, and the options; and the end of it. */
int scan_set_up(void **unused);
int scan_tear_down(void **unused);
/*
 * Scans, with ends of its own if NULL, and checks each row, and that nothing is
 * left.
 */
scan_result run_scan(const fluss_range *ranges, int nranges, fluss_ends *ends);
/* The same of offsets of bucket 0. */
scan_result scan_bucket(int64_t start, int64_t end);
/* A scan of two buckets that may fail, looking at nothing but the error. */
fluss_status quiet_scan(void);
int64_t scan_sum(int64_t start, int64_t end);

#define assert_rows(result, start, end) \
	do { \
		if ((result).status != FLUSS_OK) \
			fail_msg("%s (%s)", (result).err.message, (result).err.detail); \
		assert_int_equal((result).rows, (end) - (start)); \
		assert_int_equal((result).sum, scan_sum(start, end)); \
	} while (0)

#endif							/* FLUSS_FAKE_SCAN_H */
