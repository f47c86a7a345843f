/*
 * fake_writer.c
 *	  Writers to the simulated server, and what it got.
 */
#include "fake_writer.h"

fluss_writer_options writer_options;

int
start_writing(int nbuckets, bool keyed)
{
	fake_start(nbuckets, keyed);
	for (int i = 0; i < nbuckets; i++)
		fake.buckets[i].leader = i / 2;
	writer_options = (fluss_writer_options) {
		.acks = -1, .batch_size = 1000, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = 1 << 20
	};
	return 0;
}

int
writer_set_up_log(void **unused)
{
	test_set_up(unused);
	return start_writing(4, false);
}

int
writer_set_up_keyed(void **unused)
{
	test_set_up(unused);
	return start_writing(4, true);
}

int
writer_tear_down(void **unused)
{
	fake_end();
	return 0;
}

fluss_writer *
open_writer(void)
{
	fluss_writer *writer;
	fluss_error err;

	assert_fluss_ok(fluss_writer_open(&fake.client, test_host(), &fake.table,
									  &writer_options, &writer, &err), &err);
	return writer;
}

fluss_status
write_rows(fluss_writer *writer, int first, int n, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	for (int i = first; i < first + n && status == FLUSS_OK; i++)
	{
		fluss_value row[3];
		char		name[24];

		fake_row(i, 3, row, name);
		status = fluss_writer_write(writer, row, err);
	}
	return status;
}

void
close_writer(fluss_writer *writer)
{
	fluss_writer_close(writer);
	assert_int_equal(fake.live_requests, 0);
	assert_int_equal(test_host_live_blocks(), 0);
}

void
check_rows(int n)
{
	bool	   *seen = calloc((size_t) n, sizeof(bool));
	int			total = 0;

	for (int b = 0; b < fake.table.nbuckets; b++)
	{
		const fake_bucket *bucket = &fake.buckets[b];

		for (int i = 0; i < bucket->nids; i++)
		{
			assert_in_range(bucket->ids[i], 0, n - 1);
			assert_false(seen[bucket->ids[i]]);
			seen[bucket->ids[i]] = true;
			if (i > 0)
				assert_true(bucket->ids[i] > bucket->ids[i - 1]);
		}
		total += bucket->nids;
	}
	free(seen);
	assert_int_equal(total, n);
}

int64_t
rows_of_runs(fluss_writer *writer, int *nruns)
{
	const fluss_write_run *runs = fluss_writer_runs(writer, nruns);
	int64_t		rows = 0;

	for (int i = 0; i < *nruns; i++)
	{
		rows += runs[i].rows;
		if (i > 0 && runs[i].bucket == runs[i - 1].bucket)
			assert_true(runs[i].first_offset > runs[i - 1].last_offset);
		if (runs[i].first_offset >= 0)
			assert_int_equal(runs[i].last_offset - runs[i].first_offset + 1,
							 runs[i].rows);
	}
	return rows;
}

void
check_acknowledged(int64_t rows)
{
	const fake_bucket *bucket = &fake.buckets[0];
	bool		seen[1000] = {false};

	for (int i = 0; i < bucket->nids; i++)
	{
		assert_in_range(bucket->ids[i], 0, 999);
		assert_false(seen[bucket->ids[i]]);
		seen[bucket->ids[i]] = true;
	}
	assert_true(bucket->nids >= rows);
}
