/*
 * fetch_plan_test.c
 *	  Ranges, budgets and projections of a log scan.
 */
#include <string.h>

#include "support.h"
#include "fetch.h"

#define UNKNOWN	FLUSS_OFFSET_UNKNOWN

static fetch_bucket
bucket_of(fluss_range *ranges, int nranges, int64_t end)
{
	fetch_bucket bucket = {
		.partition_id = FLUSS_NO_PARTITION, .ranges = ranges,
		.nranges = nranges, .end = end
	};

	return bucket;
}

/* ---- settle */

static void
test_settle_unbounded(void **unused)
{
	fluss_range range = {-1, 0, 0, FLUSS_OFFSET_END};
	fetch_bucket bucket = bucket_of(&range, 1, UNKNOWN);
	fluss_loss	loss;

	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 0);
	assert_int_equal(bucket.fetch_offset, 0);
	bucket.end = 10;
	bucket.fetch_offset = 9;
	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 0);
	bucket.fetch_offset = 10;
	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 1);
}

static void
test_settle_empty_bucket(void **unused)
{
	fluss_range range = {-1, 0, 0, FLUSS_OFFSET_END};
	fetch_bucket bucket = bucket_of(&range, 1, 0);
	fluss_loss	loss;

	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 1);
}

/* A start at the end is empty, one past it has lost something. */
static void
test_settle_past_end(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 5, 8}, {-1, 0, 10, 12}, {-1, 0, 13, 15},
							{-1, 0, 20, FLUSS_OFFSET_END}};
	fetch_bucket bucket = bucket_of(ranges, 4, 10);
	fluss_loss	loss;

	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_offset, 5);
	bucket.fetch_offset = 9;
	assert_true(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(loss.start, 13);
	assert_int_equal(loss.end, 10);
	assert_int_equal(loss.earliest, UNKNOWN);
	assert_true(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(loss.start, 20);
	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 4);
}

/* A batch that covers several ranges passes them all. */
static void
test_settle_covered_ranges(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 2, 4}, {-1, 0, 7, 9}, {-1, 0, 90, 120}};
	fetch_bucket bucket = bucket_of(ranges, 3, UNKNOWN);
	fluss_loss	loss;

	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_false(bucket.progressed);
	bucket.fetch_offset = 100;
	assert_false(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(bucket.fetch_range, 2);
	assert_int_equal(bucket.fetch_offset, 100);
	assert_true(bucket.progressed);
}

/* ---- clip */

static void
test_clip_ranges_in_a_batch(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 2, 4}, {-1, 0, 7, 9}, {-1, 0, 95, 105}};
	fetch_bucket bucket = bucket_of(ranges, 3, 1000);
	int32_t		first;
	int32_t		end;
	bool		more;

	assert_true(fluss_fetch_clip(&bucket, 0, 100, &first, &end, &more));
	assert_int_equal(first, 2);
	assert_int_equal(end, 4);
	assert_true(more);
	assert_true(fluss_fetch_clip(&bucket, 0, 100, &first, &end, &more));
	assert_int_equal(first, 7);
	assert_int_equal(end, 9);
	assert_true(fluss_fetch_clip(&bucket, 0, 100, &first, &end, &more));
	assert_int_equal(first, 95);
	assert_int_equal(end, 100);
	assert_false(more);
	assert_false(fluss_fetch_clip(&bucket, 0, 100, &first, &end, &more));
	/* the next batch, and the same one once more */
	assert_true(fluss_fetch_clip(&bucket, 100, 50, &first, &end, &more));
	assert_int_equal(first, 0);
	assert_int_equal(end, 5);
	assert_false(fluss_fetch_clip(&bucket, 100, 50, &first, &end, &more));
	assert_false(fluss_fetch_clip(&bucket, 0, 100, &first, &end, &more));
}

/* For every start within a batch exactly the rows from there on. */
static void
test_clip_every_start(void **unused)
{
	for (int start = 0; start < 20; start++)
	{
		fluss_range range = {-1, 0, start, FLUSS_OFFSET_END};
		fetch_bucket bucket = bucket_of(&range, 1, 20);
		int32_t		first;
		int32_t		end;
		int			rows = 0;
		bool		more;

		for (int base = 0; base < 20; base += 10)
		{
			if (fluss_fetch_clip(&bucket, base, 10, &first, &end, &more))
				rows += end - first;
		}
		assert_int_equal(rows, 20 - start);
	}
}

static void
test_clip_at_pinned_end(void **unused)
{
	fluss_range range = {-1, 0, 0, FLUSS_OFFSET_END};
	fetch_bucket bucket = bucket_of(&range, 1, 7);
	int32_t		first;
	int32_t		end;
	bool		more;

	assert_true(fluss_fetch_clip(&bucket, 5, 10, &first, &end, &more));
	assert_int_equal(first, 0);
	assert_int_equal(end, 2);
	assert_false(fluss_fetch_clip(&bucket, 15, 10, &first, &end, &more));
}

/* A commit time ends the ranges that it is too late for, and no other. */
static void
test_stop_by_time(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 0, 10, 0, 500}, {-1, 0, 20, 40, 0, 500},
	{-1, 0, 50, FLUSS_OFFSET_END, 0, 900}};
	fetch_bucket bucket = bucket_of(ranges, 3, UNKNOWN);
	fluss_loss	loss;

	fluss_fetch_stop(&bucket, 0, 1000);
	assert_int_equal(ranges[0].end, 10);
	bucket.timed = true;
	fluss_fetch_stop(&bucket, 25, 499);
	assert_int_equal(ranges[1].end, 40);
	bucket.fetch_range = 1;
	fluss_fetch_stop(&bucket, 25, 500);
	assert_int_equal(ranges[0].end, 10);
	assert_int_equal(ranges[1].end, 25);
	assert_int_equal(ranges[2].end, FLUSS_OFFSET_END);
	fluss_fetch_stop(&bucket, 30, 900);
	assert_int_equal(ranges[2].end, 50);
	bucket.fetch_offset = 25;
	bucket.end = 30;
	assert_true(fluss_fetch_settle(&bucket, &loss));
	assert_int_equal(loss.start, 50);
	assert_int_equal(bucket.fetch_range, 3);
}

/* Batches from before a range's time are passed, up to the pinned end. */
static void
test_pass_by_time(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 2, 4, 500, 0}, {-1, 0, 7, 100, 500, 0},
	{-1, 0, 200, 300, 500, 0}};
	fetch_bucket bucket = bucket_of(ranges, 3, 90);
	int32_t		first;
	int32_t		end;
	bool		more;

	bucket.timed = true;
	fluss_fetch_pass(&bucket, 50, 499);
	assert_int_equal(ranges[1].start, 50);
	assert_int_equal(ranges[2].start, 200);
	assert_false(fluss_fetch_clip(&bucket, 0, 50, &first, &end, &more));
	fluss_fetch_pass(&bucket, 60, 500);
	assert_true(fluss_fetch_clip(&bucket, 50, 10, &first, &end, &more));
	assert_int_equal(first, 0);
	assert_int_equal(end, 10);
	fluss_fetch_pass(&bucket, 110, 499);
	assert_int_equal(ranges[1].start, 90);
}

/* ---- budget */

static void
test_budget_unbounded(void **unused)
{
	fluss_range range = {-1, 0, 0, FLUSS_OFFSET_END};
	fetch_bucket bucket = bucket_of(&range, 1, UNKNOWN);
	fetch_sizes sizes = {0};
	fluss_loss	loss;
	bool		solo;

	(void) fluss_fetch_settle(&bucket, &loss);
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo),
					 1000000);
	assert_false(solo);
	/* a pinned end bounds it once the size of records is known */
	bucket.end = 100;
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo),
					 1000000);
	sizes = (fetch_sizes) {.bytes = 10000, .offsets = 100, .batches = 2};
	assert_in_range(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo),
					10000, 16000);
}

static void
test_budget_bounded(void **unused)
{
	fluss_range range = {-1, 0, 1000, 1010};
	fetch_bucket bucket = bucket_of(&range, 1, UNKNOWN);
	fetch_sizes sizes = {0};
	fluss_loss	loss;
	bool		solo;

	(void) fluss_fetch_settle(&bucket, &loss);
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo), 1);
	assert_true(solo);
	sizes = (fetch_sizes) {.bytes = 200000, .offsets = 1000, .batches = 1};
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo), 2000);
	assert_true(solo);
	/* many batches' worth: not a byte for what lies past them */
	range.end = 1000 + 4000;
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 10000000, &solo),
					 800000);
	assert_false(solo);
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000, &solo), 1000);
}

/* A small gap is read over, a large one is not. */
static void
test_budget_gaps(void **unused)
{
	fluss_range ranges[] = {{-1, 0, 0, 10}, {-1, 0, 20, 30},
							{-1, 0, 1000000, 1000010}};
	fetch_bucket bucket = bucket_of(ranges, 3, UNKNOWN);
	fetch_sizes sizes = {0};
	fluss_loss	loss;
	bool		solo;

	(void) fluss_fetch_settle(&bucket, &loss);
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo), 1);
	sizes = (fetch_sizes) {.bytes = 100000, .offsets = 1000, .batches = 1000};
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, 1000000, &solo),
					 3000);
	/* where each record is huge even a small gap is */
	sizes = (fetch_sizes) {.bytes = 100000000, .offsets = 1000, .batches = 1000};
	assert_in_range(fluss_fetch_budget(&bucket, &sizes, 10000000, &solo),
					1000000, 1000000);
}

/* No overflow whatever the sizes. */
static void
test_budget_extremes(void **unused)
{
	fluss_range range = {-1, 0, 0, INT64_MAX - 1};
	fetch_bucket bucket = bucket_of(&range, 1, UNKNOWN);
	fetch_sizes sizes = {.bytes = INT64_MAX / 2, .offsets = 1, .batches = 1};
	fluss_loss	loss;
	bool		solo;

	(void) fluss_fetch_settle(&bucket, &loss);
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, INT32_MAX, &solo),
					 INT32_MAX);
	sizes.offsets = 0;
	sizes.batches = 0;
	assert_int_equal(fluss_fetch_budget(&bucket, &sizes, INT32_MAX, &solo), 1);
}

/* ---- projection */

static void
test_projection(void **unused)
{
	fluss_column columns[] = {
		{.type.id = FLUSS_STRING}, {.type.id = FLUSS_BIGINT},
		{.type.id = FLUSS_DECIMAL}, {.type.id = FLUSS_SMALLINT},
		{.type.id = FLUSS_DOUBLE}
	};
	fluss_schema schema = {.schema_id = 1, .ncolumns = 5, .columns = columns};
	fluss_table table = {.schema = &schema, .log_format = FLUSS_FORMAT_ARROW};
	const int32_t wanted[] = {4, 0, 2};
	const int32_t all[] = {4, 3, 2, 1, 0};
	int32_t		projection[5];

	assert_int_equal(fluss_fetch_projection(&table, wanted, 3, projection), 3);
	assert_int_equal(projection[0], 0);
	assert_int_equal(projection[1], 2);
	assert_int_equal(projection[2], 4);
	assert_int_equal(fluss_fetch_projection(&table, all, 5, projection), 0);
	/* only offsets wanted: the narrowest column, for none is not allowed */
	assert_int_equal(fluss_fetch_projection(&table, NULL, 0, projection), 1);
	assert_int_equal(projection[0], 3);
	schema.ncolumns = 1;
	assert_int_equal(fluss_fetch_projection(&table, NULL, 0, projection), 0);
	schema.ncolumns = 5;
	table.log_format = FLUSS_FORMAT_INDEXED;
	assert_int_equal(fluss_fetch_projection(&table, wanted, 3, projection), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle_unbounded),
		cmocka_unit_test(test_settle_empty_bucket),
		cmocka_unit_test(test_settle_past_end),
		cmocka_unit_test(test_settle_covered_ranges),
		cmocka_unit_test(test_clip_ranges_in_a_batch),
		cmocka_unit_test(test_clip_every_start),
		cmocka_unit_test(test_clip_at_pinned_end),
		cmocka_unit_test(test_stop_by_time),
		cmocka_unit_test(test_pass_by_time),
		cmocka_unit_test(test_budget_unbounded),
		cmocka_unit_test(test_budget_bounded),
		cmocka_unit_test(test_budget_gaps),
		cmocka_unit_test(test_budget_extremes),
		cmocka_unit_test(test_projection)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
