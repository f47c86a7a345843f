/*
 * writer_peers.c
 *	  Writers of one client beside each other.
 *
 * A statement inside another one may write to the table that the outer one
 * writes to.  Both number the batches of a bucket from one sequence, and the
 * server takes them in that order only.  So who waits drives the others too:
 * a batch of the outer writer that has to be sent again would else keep the
 * inner one waiting for good.  What becomes of it the outer one's caller hears.
 *
 * Writers that hold their rows have sent nothing before they flush.
 */
#include "error.h"
#include "writer.h"

void
fluss_write_join(fluss_writer *writer)
{
	fluss_writer **head = fluss_client_writers(writer->client);

	writer->next_peer = *head;
	*head = writer;
}

void
fluss_write_part_from(fluss_writer *writer)
{
	fluss_writer **link = fluss_client_writers(writer->client);

	while (*link != NULL && *link != writer)
		link = &(*link)->next_peer;
	if (*link != NULL)
		*link = writer->next_peer;
}

/* Has the other one batches that those of writer may have to wait for? */
static bool
is_peer(const fluss_writer *writer, const fluss_writer *other)
{
	return other != writer && !other->failed && other->nclosed > 0 &&
		other->options.idempotence && !other->options.hold &&
		other->table->table_id == writer->table->table_id;
}

/* The time before writer's caller came in was spent away from both. */
fluss_status
fluss_write_serve_peers(fluss_writer *writer, fluss_error *err)
{
	for (fluss_writer *peer = *fluss_client_writers(writer->client);
		 peer != NULL; peer = peer->next_peer)
	{
		fluss_error cause;
		fluss_status status;

		if (!is_peer(writer, peer))
			continue;
		if (peer->left_ms < writer->entered_ms)
			fluss_write_enter(peer);
		status = fluss_write_serve(peer, &cause);
		fluss_write_leave(peer);
		if (fluss_write_finish(peer, status, &cause) == FLUSS_INTERRUPTED)
		{
			*err = cause;
			return FLUSS_INTERRUPTED;
		}
	}
	return FLUSS_OK;
}

bool
fluss_write_await_peers(const fluss_writer *writer, int64_t *until_ms)
{
	bool		calling = false;

	for (const fluss_writer *peer = *fluss_client_writers(writer->client);
		 peer != NULL; peer = peer->next_peer)
	{
		if (!is_peer(writer, peer))
			continue;
		calling |= peer->calls != NULL;
		fluss_write_next_try(peer, until_ms);
	}
	return calling;
}

static bool
has_earlier_batch(const write_bucket *bucket, const write_batch *than)
{
	for (const write_batch *batch = bucket->first; batch != NULL;
		 batch = batch->next)
	{
		if (batch->writer_id == than->writer_id &&
			batch->sequence < than->sequence)
			return true;
	}
	return false;
}

bool
fluss_write_is_behind_peer(const fluss_writer *writer,
						   const write_bucket *bucket,
						   const write_batch *batch)
{
	for (const fluss_writer *peer = *fluss_client_writers(writer->client);
		 peer != NULL; peer = peer->next_peer)
	{
		if (!is_peer(writer, peer))
			continue;
		for (int i = 0; i < peer->nbuckets; i++)
		{
			const write_bucket *other = peer->buckets[i];

			if (other->bucket == bucket->bucket &&
				other->partition->partition_id ==
				bucket->partition->partition_id &&
				has_earlier_batch(other, batch))
				return true;
		}
	}
	return false;
}
