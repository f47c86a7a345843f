/*
 * ends.c
 *	  Pinned ends: where the scans of one scope stop, by partition and bucket.
 *
 * An array of entries sorted by (partition, bucket), searched by halves.  The
 * first value given for a bucket stays: that is what makes every scan of a
 * scope see the same end.
 */
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "error.h"

typedef struct end_entry
{
	int64_t		partition_id;
	int64_t		offset;
	int32_t		bucket;
} end_entry;

struct fluss_ends
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_buf	entries;		/* of end_entry */
};

fluss_status
fluss_ends_open(const fluss_host *host, fluss_ends **ends, fluss_error *err)
{
	fluss_arena arena;
	fluss_ends *result;

	*ends = NULL;
	fluss_arena_init(&arena, host);
	result = fluss_arena_alloc0(&arena, sizeof(fluss_ends));
	if (result == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &result->arena, &result->host);
	fluss_buf_init(&result->entries, &result->host);
	*ends = result;
	return FLUSS_OK;
}

void
fluss_ends_close(fluss_ends *ends)
{
	if (ends == NULL)
		return;
	fluss_buf_free(&ends->entries);
	fluss_arena_free_owner(&ends->arena);
}

static size_t
entry_count(const fluss_ends *ends)
{
	return ends->entries.size / sizeof(end_entry);
}

/* Position of the first entry at or past (partition, bucket). */
static size_t
entry_search(const fluss_ends *ends, int64_t partition_id, int32_t bucket)
{
	const end_entry *entries = (const end_entry *) ends->entries.data;
	size_t		low = 0;
	size_t		high = entry_count(ends);

	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;
		const end_entry *entry = &entries[middle];

		if (entry->partition_id < partition_id ||
			(entry->partition_id == partition_id && entry->bucket < bucket))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool
fluss_ends_get(const fluss_ends *ends, int64_t partition_id, int32_t bucket,
			   int64_t *offset)
{
	const end_entry *entries = (const end_entry *) ends->entries.data;
	size_t		position = entry_search(ends, partition_id, bucket);

	if (position == entry_count(ends) ||
		entries[position].partition_id != partition_id ||
		entries[position].bucket != bucket)
		return false;
	*offset = entries[position].offset;
	return true;
}

fluss_status
fluss_ends_pin(fluss_ends *ends, int64_t partition_id, int32_t bucket,
			   int64_t offset, fluss_error *err)
{
	size_t		count = entry_count(ends);
	size_t		position = entry_search(ends, partition_id, bucket);
	end_entry  *entry;
	int64_t		earlier;

	if (fluss_ends_get(ends, partition_id, bucket, &earlier))
		return FLUSS_OK;
	if (fluss_buf_append_zeros(&ends->entries, sizeof(end_entry)) == NULL)
	{
		/* what is there stays whole: only room for one more is missing */
		ends->entries.failed = false;
		return fluss_fail_memory(err);
	}
	entry = (end_entry *) ends->entries.data + position;
	memmove(entry + 1, entry, (count - position) * sizeof(end_entry));
	entry->partition_id = partition_id;
	entry->bucket = bucket;
	entry->offset = offset;
	return FLUSS_OK;
}
