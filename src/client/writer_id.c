/*
 * writer_id.c
 *	  The writer identity that all writers of a client share.
 *
 * A server tells repeated batches by (writer id, bucket, sequence number).
 * Numbers count per bucket from 0 and wrap to 0 past the largest int32.
 */
#include "client.h"

static fluss_status
ask_writer_id(fluss_client *client, const fluss_table *table,
			  int64_t *counter, fluss_error *err)
{
	fluss_arena scratch;
	fluss_buf	body;
	fluss_request *answer = NULL;
	fluss_status status;

	fluss_arena_init(&scratch, &client->host);
	fluss_buf_init(&body, &client->host);
	status = fluss_rpc_encode_init_writer(table->database, table->name, &body,
										  err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_INIT_WRITER, body.data,
									body.size, fluss_client_deadline(client),
									counter, &answer, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_init_writer(&scratch,
											  fluss_request_answer(answer),
											  &client->writer_id, err);
	else if (status == FLUSS_SERVER_ERROR &&
			 err->server_code == FLUSS_CODE_AUTHORIZATION)
		fluss_error_message(err, "not authorized to write to table \"%s\" in Fluss database \"%s\"",
							table->name, table->database);
	fluss_request_free(answer);
	fluss_buf_free(&body);
	fluss_arena_free(&scratch);
	return status;
}

fluss_status
fluss_client_writer_id(fluss_client *client, fluss_table *table,
					   int64_t *writer_id, int64_t *counter, fluss_error *err)
{
	if (client->writer_id < 0)
	{
		fluss_status status = ask_writer_id(client, table, counter, err);

		if (status != FLUSS_OK)
			return status;
	}
	*writer_id = client->writer_id;
	return FLUSS_OK;
}

int64_t
fluss_client_known_writer_id(const fluss_client *client)
{
	return client->writer_id;
}

static size_t
sequence_slot(int64_t table_id, int64_t partition_id, int32_t bucket)
{
	uint64_t	hash = (uint64_t) table_id * 31 + (uint64_t) partition_id;

	hash = hash * 31 + (uint32_t) bucket;
	return hash % FLUSS_SEQUENCE_SLOTS;
}

static fluss_sequence *
find_sequence(const fluss_client *client, int64_t table_id,
			  int64_t partition_id, int32_t bucket)
{
	fluss_sequence *entry = client->sequences[sequence_slot(table_id,
															partition_id,
															bucket)];

	while (entry != NULL &&
		   (entry->table_id != table_id || entry->bucket != bucket ||
			entry->partition_id != partition_id))
		entry = entry->next;
	return entry;
}

static fluss_sequence *
add_sequence(fluss_client *client, int64_t table_id, int64_t partition_id,
			 int32_t bucket)
{
	size_t		slot = sequence_slot(table_id, partition_id, bucket);
	fluss_sequence *entry = fluss_arena_alloc0(&client->sequences_arena,
											   sizeof(*entry));

	if (entry == NULL)
		return NULL;
	entry->table_id = table_id;
	entry->partition_id = partition_id;
	entry->bucket = bucket;
	entry->writer_id = entry->acked_writer = -1;
	entry->next = client->sequences[slot];
	client->sequences[slot] = entry;
	return entry;
}

fluss_status
fluss_client_next_sequence(fluss_client *client, int64_t table_id,
						   int64_t partition_id, int32_t bucket,
						   int32_t *sequence, fluss_error *err)
{
	fluss_sequence *entry = find_sequence(client, table_id, partition_id,
										  bucket);

	if (entry == NULL)
		entry = add_sequence(client, table_id, partition_id, bucket);
	if (entry == NULL)
		return fluss_fail_memory(err);
	if (entry->writer_id != client->writer_id)
	{
		entry->writer_id = client->writer_id;
		entry->sequence = 0;
	}
	*sequence = entry->sequence;
	entry->sequence = entry->sequence == INT32_MAX ? 0 : entry->sequence + 1;
	return FLUSS_OK;
}

void
fluss_client_acknowledged(fluss_client *client, int64_t table_id,
						  int64_t partition_id, int32_t bucket,
						  int64_t writer_id, int32_t sequence)
{
	fluss_sequence *entry = find_sequence(client, table_id, partition_id,
										  bucket);

	/* what has no writer id is in no sequence */
	if (entry == NULL || writer_id < 0 ||
		(entry->acked_writer == writer_id && entry->acked_sequence > sequence))
		return;
	entry->acked_writer = writer_id;
	entry->acked_sequence = sequence;
}

bool
fluss_client_is_acknowledged(const fluss_client *client, int64_t table_id,
							 int64_t partition_id, int32_t bucket,
							 int64_t writer_id, int32_t sequence)
{
	const fluss_sequence *entry = find_sequence(client, table_id, partition_id,
												bucket);

	return entry != NULL && writer_id >= 0 &&
		entry->acked_writer == writer_id &&
		sequence <= entry->acked_sequence;
}

void
fluss_client_discard_writer(fluss_client *client)
{
	client->writer_id = -1;
}

fluss_writer **
fluss_client_writers(fluss_client *client)
{
	return &client->writers;
}
