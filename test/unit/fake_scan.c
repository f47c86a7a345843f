/*
 * fake_scan.c
 *	  Log scans against the simulated server, and what they gave.
 */
#include <stdio.h>
#include <string.h>

#include "fake_scan.h"

const int32_t all_columns[3] = {0, 1, 2};
const int32_t name_and_id[2] = {2, 0};
const int32_t id_only[1] = {0};

fluss_scan_options options;
int64_t		stop_after;

static void
check_batch(const fluss_batch *batch, scan_result *result)
{
	assert_true(batch->first_row < batch->end_row);
	assert_true(batch->base_offset + batch->end_row <= batch->next_offset);
	for (int32_t i = batch->first_row; i < batch->end_row; i++)
	{
		int64_t		offset = batch->base_offset + i;

		if (batch->bucket == 0)
		{
			if (result->first < 0)
				result->first = offset;
			else
				assert_true(offset > result->last);
			result->last = offset;
		}
		result->rows++;
		result->sum += offset;
		for (int c = 0; c < options.ncolumns; c++)
		{
			const fluss_column_view *view = &batch->columns[c];
			fluss_value value;
			char		name[24];

			fluss_column_value(view, i, &value);
			if (options.columns[c] < 2)
			{
				assert_false(value.is_null);
				assert_true(value.u.integer ==
							offset * (options.columns[c] + 1));
				continue;
			}
			result->nulls += value.is_null;
			if (value.is_null)
			{
				assert_true(offset % 7 == 0 || batch->schema_id == 1);
				continue;
			}
			sprintf(name, "n%lld", (long long) offset);
			assert_int_equal(value.u.bytes.size, strlen(name));
			assert_memory_equal(value.u.bytes.data, name, strlen(name));
		}
	}
}

scan_result
run_scan(const fluss_range *ranges, int nranges, fluss_ends *ends)
{
	scan_result result = {.first = -1, .last = -1};
	fluss_ends *own = NULL;
	fluss_scan *scan;
	fluss_error err;

	if (ends == NULL)
	{
		assert_fluss_ok(fluss_ends_open(test_host(), &own, &err), &err);
		ends = own;
	}
	assert_fluss_ok(fluss_scan_open(&fake.client, test_host(), &fake.table,
									ranges, nranges, &options, ends, &scan,
									&err), &err);
	for (;;)
	{
		const fluss_batch *batch;
		fluss_scan_item item;
		fluss_loss	loss;

		result.status = fluss_scan_next(scan, &item, &batch, &loss, &result.err);
		if (result.status != FLUSS_OK || item == FLUSS_SCAN_END)
			break;
		if (item == FLUSS_SCAN_LOSS)
			result.losses[result.nlosses++] = loss;
		else
			check_batch(batch, &result);
		if (stop_after > 0 && result.rows >= stop_after)
			break;
	}
	result.counters = *fluss_scan_counters(scan);
	fluss_scan_close(scan);
	fluss_ends_close(own);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
	return result;
}

scan_result
scan_bucket(int64_t start, int64_t end)
{
	fluss_range range = {FLUSS_NO_PARTITION, 0, start, end};

	return run_scan(&range, 1, NULL);
}

int64_t
scan_sum(int64_t start, int64_t end)
{
	return (start + end - 1) * (end - start) / 2;
}

int
scan_set_up(void **unused)
{
	test_set_up(unused);
	fake_start(1, false);
	stop_after = 0;
	options = (fluss_scan_options) {
		.columns = all_columns, .ncolumns = 3, .fetch_max_bytes = 1 << 24,
		.fetch_max_bytes_for_bucket = 1 << 24, .fetch_inflight = 2,
		.max_buffered_bytes = 1 << 26, .check_crc = true
	};
	return 0;
}

int
scan_tear_down(void **unused)
{
	fake_end();
	return 0;
}

fluss_status
quiet_scan(void)
{
	fluss_range ranges[] = {{-1, 0, 0, ALL}, {-1, 1, 5, 25}};
	fluss_scan *scan = NULL;
	fluss_ends *ends = NULL;
	fluss_error err;
	fluss_status status;

	fluss_error_init(&err);
	status = fluss_ends_open(test_host(), &ends, &err);
	if (status == FLUSS_OK)
		status = fluss_scan_open(&fake.client, test_host(), &fake.table, ranges,
								 2, &options, ends, &scan, &err);
	while (status == FLUSS_OK)
	{
		fluss_scan_item item;
		const fluss_batch *batch;
		fluss_loss	loss;

		status = fluss_scan_next(scan, &item, &batch, &loss, &err);
		if (status == FLUSS_OK && item == FLUSS_SCAN_END)
			break;
	}
	fluss_scan_close(scan);
	fluss_ends_close(ends);
	if (status != FLUSS_OK)
	{
		assert_int_equal(err.status, status);
		assert_true(err.message[0] != '\0');
	}
	return status;
}
