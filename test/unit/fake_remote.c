/*
 * fake_remote.c
 *	  remote.h over the simulated server's batches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fake_remote.h"

#define FAKE_MAX_SEGMENTS	64

struct fluss_remote_read
{
	fluss_remote_read *next;
	fluss_request_state state;
	fluss_bytes file;
	int64_t		offset;
	uint8_t    *buffer;
	size_t		size;
	int64_t		due_ms;
	fluss_error error;
};

fake_remote_files fake_remote;

void
fake_remote_reset(void)
{
	memset(&fake_remote, 0, sizeof(fake_remote));
}

/* Batches of segment s: [first, end). */
static void
find_segment(const fake_bucket *bucket, int s, int *first, int *end)
{
	int			n = 0;
	int			size;

	while (n < bucket->nbatches && bucket->batches[n].base < bucket->remote_below)
		n++;
	size = fake_remote.segment_batches > 0 ? fake_remote.segment_batches : n;
	*first = s * size < n ? s * size : n;
	*end = *first + size < n ? *first + size : n;
}

static void
put_batches(const fake_bucket *bucket, int first, int end, fluss_buf *out)
{
	fluss_buf_init(out, fake_host());
	for (int i = first; i < end; i++)
		fake_write_batch(&bucket->batches[i], NULL, 0, out);
}

Fluss__PbRemoteLogFetchInfo *
fake_remote_info(int number, int64_t offset)
{
	static Fluss__PbRemoteLogFetchInfo info;
	static Fluss__PbRemoteLogSegment segments[FAKE_MAX_SEGMENTS];
	static Fluss__PbRemoteLogSegment *list[FAKE_MAX_SEGMENTS];
	static char dir[32];
	const fake_bucket *bucket = &fake.buckets[number];

	fluss__pb_remote_log_fetch_info__init(&info);
	sprintf(dir, "mem://%d", number);
	info.remote_log_tablet_dir = dir;
	info.remote_log_segments = list;
	for (int s = 0;; s++)
	{
		Fluss__PbRemoteLogSegment *segment = &segments[info.n_remote_log_segments];
		const fake_batch *last;
		fluss_buf	bytes;
		int			first;
		int			end;

		find_segment(bucket, s, &first, &end);
		if (first == end)
			break;
		last = &bucket->batches[end - 1];
		if (last->base + (last->count == 0 ? 1 : last->count) <= offset)
			continue;
		put_batches(bucket, first, end, &bytes);
		fluss__pb_remote_log_segment__init(segment);
		segment->remote_log_segment_id = (char *) "id";
		segment->remote_log_start_offset = bucket->batches[first].base;
		segment->remote_log_end_offset = last->base +
			(last->count == 0 ? 1 : last->count) + fake_remote.wrong_end;
		segment->segment_size_in_bytes = (int32_t) bytes.size;
		fluss_buf_free(&bytes);
		if (info.n_remote_log_segments == 0)
		{
			/* index-granular: every third batch has an entry */
			int			at = first;

			for (int i = first; i < end && bucket->batches[i].base <= offset; i++)
			{
				if ((i - first) % 3 == 0)
					at = i;
			}
			put_batches(bucket, first, at, &bytes);
			info.has_first_start_pos = 1;
			info.first_start_pos = (int32_t) bytes.size;
			fluss_buf_free(&bytes);
		}
		list[info.n_remote_log_segments++] = segment;
		if ((int) info.n_remote_log_segments == fake_remote.named ||
			info.n_remote_log_segments == FAKE_MAX_SEGMENTS)
			break;
	}
	return &info;
}

bool
fake_remote_finish(void)
{
	fluss_remote_read **link = &fake_remote.pending;
	fluss_remote_read *read = *link;
	size_t		left;

	if (read == NULL)
		return false;
	for (fluss_remote_read **l = link; *l != NULL; l = &(*l)->next)
	{
		if ((*l)->due_ms < (*link)->due_ms)
			link = l;
	}
	read = *link;
	*link = read->next;
	if (read->due_ms == 0)
		test_host_advance_ms(fake_remote.read_ms);
	else if (read->due_ms > test_host()->now_ms(NULL))
		test_host_advance_ms(read->due_ms - test_host()->now_ms(NULL));
	read->state = FLUSS_REQUEST_FAILED;
	if (fake_remote.refused != FLUSS_OK)
		fluss_fail(&read->error, fake_remote.refused, "refused");
	else if (fake_remote.missing > 0 && fake_remote.missing-- > 0)
		fluss_fail(&read->error, FLUSS_DATA_LOST, "no such file");
	else if (fake_remote.lost > 0 && fake_remote.lost-- > 0)
		fluss_fail(&read->error, FLUSS_SEND_FAILED, "cut off");
	else
		read->state = FLUSS_REQUEST_DONE;
	left = read->file.size > (size_t) read->offset ?
		read->file.size - (size_t) read->offset : 0;
	if (left < read->size)
		read->size = left;
	if (read->state == FLUSS_REQUEST_DONE)
	{
		memcpy(read->buffer, read->file.data + read->offset, read->size);
		fake_remote.bytes += (int64_t) read->size;
	}
	return true;
}

static void
finish_due(void)
{
	fluss_remote_read *next;

	for (fluss_remote_read *read = fake_remote.pending; read != NULL; read = next)
	{
		next = read->next;
		if (read->due_ms <= test_host()->now_ms(NULL))
			(void) fake_remote_finish();
	}
}

fluss_status
fluss_remote_start(fluss_client *client, const char *path, int64_t offset,
				   uint8_t *buffer, size_t size, fluss_remote_read **read,
				   fluss_error *err)
{
	fluss_remote_read *new;
	fluss_buf	bytes = {0};
	long long	base;
	int			number;
	int			length = 0;

	*read = NULL;
	if (sscanf(path, "zeros:%d", &length) == 1)
	{
		fluss_buf_init(&bytes, fake_host());
		assert_non_null(fluss_buf_append_zeros(&bytes, (size_t) length));
	}
	else
	{
		assert_int_equal(sscanf(path, "mem://%d/id/%lld.log%n", &number, &base,
								&length), 2);
		assert_int_equal(length, strlen(path));
	}
	for (int s = 0; bytes.data == NULL; s++)
	{
		int			first;
		int			end;

		find_segment(&fake.buckets[number], s, &first, &end);
		assert_true(first < end);
		if (fake.buckets[number].batches[first].base == base)
			put_batches(&fake.buckets[number], first, end, &bytes);
	}
	if (fake_remote.refused == FLUSS_UNSUPPORTED)
	{
		fluss_buf_free(&bytes);
		return fluss_fail(err, FLUSS_UNSUPPORTED, "no such scheme");
	}
	new = calloc(1, sizeof(*new));
	if (fake_remote.start_ms > 0)
	{
		test_host_advance_ms(fake_remote.start_ms);
		finish_due();
		new->due_ms = test_host()->now_ms(NULL) + fake_remote.read_ms;
	}
	new->file.data = bytes.data;
	new->file.size = bytes.size - (size_t) fake_remote.short_by;
	if (fake_remote.flip_at > 0)
		bytes.data[fake_remote.flip_at] ^= 0x40;
	new->offset = offset;
	new->buffer = buffer;
	new->size = size;
	new->next = fake_remote.pending;
	fake_remote.pending = new;
	fake_remote.nreads++;
	fake_remote.live++;
	*read = new;
	return FLUSS_OK;
}

fluss_request_state
fluss_remote_state_of(const fluss_remote_read *read)
{
	return read->state;
}

size_t
fluss_remote_size(const fluss_remote_read *read)
{
	return read->size;
}

const fluss_error *
fluss_remote_error(const fluss_remote_read *read)
{
	return &read->error;
}

void
fluss_remote_free(fluss_remote_read *read)
{
	fluss_remote_read **link = &fake_remote.pending;

	while (*link != NULL && *link != read)
		link = &(*link)->next;
	if (*link != NULL)
		*link = read->next;
	free((uint8_t *) read->file.data);
	free(read);
	fake_remote.live--;
}
