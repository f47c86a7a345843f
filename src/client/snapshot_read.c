/*
 * snapshot_read.c
 *	  A bucket's rows from its newest KV snapshot and the changelog after it.
 *
 * The helper program gets a copy of the snapshot's files and the changes that
 * the changelog has from the snapshot's offset up to the pinned end, in order;
 * it applies them and gives back all rows.  So the later change of a key wins,
 * whichever of the two it comes from, and what a long changelog takes is on
 * disk.
 *
 * A row of the snapshot starts with the id of the schema it was written under.
 * A changed row is kept as a COMPACTED row of the wanted columns alone, behind
 * an id that no schema has.
 *
 * A bucket without a snapshot is read from the changelog alone, if that is
 * complete.
 */
#include "child.h"
#include "error.h"
#include "kvscan.h"
#include "schema.h"
#include "snapshot_files.h"

#define CHANGED_ROW		UINT16_C(0xffff)

/* Change types of the changelog. */
#define CHANGE_UPDATE_BEFORE	2
#define CHANGE_DELETE			4
#define CHANGE_LAST				4

struct fluss_snapshot_read
{
	const fluss_kvscan_env *env;
	fluss_child child;
	fluss_bucket_ref at;
	bool		folder_made;
	int64_t		disk_bytes;		/* of the folder, in the sum of all */

	/* of the changelog: the wanted columns, then those of the key */
	fluss_key_encoder encoder;
	int32_t    *columns;
	int			ncolumns;
	int		   *key_columns;	/* per key column, its place in columns */
	fluss_value *key;			/* by position in the schema */
	fluss_scan *log;
	fluss_buf	key_bytes;
	fluss_buf	row_bytes;

	/* the schema of changed rows */
	fluss_schema changed;
	fluss_value *values;
};

/* ---- open, close */

static int
want(fluss_snapshot_read *read, int32_t column)
{
	for (int i = 0; i < read->ncolumns; i++)
	{
		if (read->columns[i] == column)
			return i;
	}
	read->columns[read->ncolumns] = column;
	return read->ncolumns++;
}

static fluss_status
choose_columns(fluss_snapshot_read *read, fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	const fluss_table *table = env->table;
	int			nwanted = env->options->ncolumns;
	fluss_column *columns;

	columns = fluss_arena_array(env->arena, (size_t) nwanted + 1,
								sizeof(*columns));
	read->values = fluss_arena_array(env->arena, (size_t) nwanted + 1,
									 sizeof(fluss_value));
	read->columns = fluss_arena_array(env->arena, (size_t) nwanted +
									  (size_t) table->nphysical_key,
									  sizeof(int32_t));
	read->key_columns = fluss_arena_array(env->arena,
										  (size_t) table->nphysical_key,
										  sizeof(int));
	read->key = fluss_arena_array(env->arena, (size_t) table->schema->ncolumns,
								  sizeof(fluss_value));
	if (columns == NULL || read->values == NULL || read->columns == NULL ||
		read->key_columns == NULL || read->key == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < nwanted; i++)
	{
		columns[i] = table->schema->columns[env->projector->columns[i]];
		/* readers never look at the null bit of the others */
		columns[i].type.nullable = true;
		read->columns[read->ncolumns++] = env->projector->columns[i];
	}
	for (int i = 0; i < table->nphysical_key; i++)
		read->key_columns[i] = want(read, table->physical_key[i]);
	read->changed.ncolumns = nwanted;
	read->changed.columns = columns;
	read->changed.auto_increment = -1;
	return FLUSS_OK;
}

fluss_status
fluss_snapshot_read_open(const fluss_kvscan_env *env,
						 fluss_snapshot_read **read, fluss_error *err)
{
	fluss_snapshot_read *result = fluss_arena_alloc0(env->arena,
													 sizeof(*result));
	fluss_key_encoder bucket;
	fluss_status status;

	*read = NULL;
	if (result == NULL)
		return fluss_fail_memory(err);
	if (env->options->snapshot.folder == NULL)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "KV snapshots cannot be read without a temporary folder");
	result->env = env;
	fluss_child_init(&result->child, env->host);
	fluss_buf_init(&result->key_bytes, env->host);
	fluss_buf_init(&result->row_bytes, env->host);
	status = fluss_table_key_encoders(env->table, &result->encoder, &bucket,
									  err);
	if (status == FLUSS_OK)
		status = choose_columns(result, err);
	if (status == FLUSS_OK)
		*read = result;
	return status;
}

/* Keeps the sum of all folders right. */
static void
note_size(fluss_snapshot_read *read, int64_t bytes)
{
	int64_t    *sum = read->env->options->snapshot.disk_bytes;

	if (sum != NULL)
		*sum += bytes - read->disk_bytes;
	read->disk_bytes = bytes;
}

/* What the folder may grow to: others of the same process take their part. */
static int64_t
room_on_disk(const fluss_snapshot_read *read)
{
	const fluss_snapshot_options *options = &read->env->options->snapshot;
	int64_t		others = options->disk_bytes == NULL ? 0 :
		*options->disk_bytes - read->disk_bytes;

	if (options->max_disk_bytes == 0)
		return -1;
	return others < options->max_disk_bytes ?
		options->max_disk_bytes - others : 0;
}

/* Back to where the next bucket can begin. */
static void
end_bucket(fluss_snapshot_read *read)
{
	fluss_scan_close(read->log);
	read->log = NULL;
	/* nobody must write into a folder that is being removed */
	fluss_child_end(&read->child);
	if (read->folder_made)
		fluss_snapshot_remove(read->env->options->snapshot.folder);
	read->folder_made = false;
	note_size(read, 0);
}

void
fluss_snapshot_read_close(fluss_snapshot_read *read)
{
	if (read == NULL)
		return;
	end_bucket(read);
	fluss_child_free(&read->child);
	fluss_buf_free(&read->key_bytes);
	fluss_buf_free(&read->row_bytes);
}

/* ---- the changelog */

static fluss_status
place(const fluss_snapshot_read *read, fluss_error *err)
{
	if (err->bucket < 0)
		fluss_error_place(err, read->at.partition_id, read->at.bucket, -1, -1);
	return err->status;
}

static bool
is_nested(const fluss_type *type)
{
	return type->id == FLUSS_ARRAY || type->id == FLUSS_MAP ||
		type->id == FLUSS_ROW;
}

static fluss_status
read_value(const fluss_snapshot_read *read, const fluss_column_view *view,
		   int32_t record, fluss_value *value, fluss_error *err)
{
	*value = (fluss_value) {.is_null = true};
	if (fluss_column_is_null(view, record))
		return FLUSS_OK;
	if (is_nested(view->type))
		return fluss_column_nested(read->env->host, view, record, value, err);
	fluss_column_value(view, record, value);
	return FLUSS_OK;
}

/* The wanted columns of one record as a row. */
static fluss_status
encode_row(fluss_snapshot_read *read, const fluss_batch *batch, int32_t record,
		   fluss_error *err)
{
	const fluss_host *host = read->env->host;
	fluss_status status = FLUSS_OK;
	int			n;

	fluss_buf_reset(&read->row_bytes);
	fluss_buf_u16le(&read->row_bytes, CHANGED_ROW);
	for (n = 0; n < read->changed.ncolumns && status == FLUSS_OK; n++)
		status = read_value(read, &batch->columns[n], record, &read->values[n],
							err);
	if (status == FLUSS_OK)
		status = fluss_row_encode(FLUSS_FORMAT_COMPACTED, &read->changed,
								  read->values, &read->row_bytes, err);
	for (int i = 0; i < n; i++)
	{
		fluss_value *value = &read->values[i];

		if (is_nested(&read->changed.columns[i].type) && !value->is_null &&
			value->u.nested.items != NULL)
			host->free(host->arg, (void *) value->u.nested.items);
	}
	return status;
}

/* One record: the key encoded, and the row when there is one. */
static fluss_status
encode_record(fluss_snapshot_read *read, const fluss_batch *batch,
			  int32_t record, bool with_row, fluss_error *err)
{
	const fluss_table *table = read->env->table;
	fluss_status status;

	for (int i = 0; i < table->nphysical_key; i++)
		fluss_column_value(&batch->columns[read->key_columns[i]], record,
						   &read->key[table->physical_key[i]]);
	fluss_buf_reset(&read->key_bytes);
	status = fluss_key_encode(read->encoder, table->schema,
							  table->physical_key, table->nphysical_key,
							  read->key, &read->key_bytes, err);
	if (status == FLUSS_OK && with_row)
		status = encode_row(read, batch, record, err);
	return status;
}

static fluss_status
apply_record(fluss_snapshot_read *read, const fluss_batch *batch,
			 int32_t record, fluss_error *err)
{
	int			change = batch->change_types != NULL ?
		batch->change_types[record] : 0;
	bool		deletes = change == CHANGE_DELETE;
	fluss_bytes key;
	fluss_bytes row;
	fluss_status status;

	if (change == CHANGE_UPDATE_BEFORE)
		return FLUSS_OK;
	if (change > CHANGE_LAST)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "a changelog has a change of type %d", change);
	status = encode_record(read, batch, record, !deletes, err);
	if (status != FLUSS_OK)
		return status;
	key = (fluss_bytes) {read->key_bytes.data, read->key_bytes.size};
	row = (fluss_bytes) {read->row_bytes.data, read->row_bytes.size};
	return fluss_child_change(&read->child, key, deletes ? NULL : &row, err);
}

static fluss_status
apply_batch(fluss_snapshot_read *read, const fluss_batch *batch,
			fluss_error *err)
{
	for (int32_t i = batch->first_row; i < batch->end_row; i++)
	{
		fluss_status status = apply_record(read, batch, i, err);

		if (status != FLUSS_OK)
		{
			if (status != FLUSS_INTERRUPTED && err->bucket < 0)
				fluss_error_place(err, batch->partition_id, batch->bucket,
								  batch->base_offset, batch->next_offset);
			return status;
		}
	}
	return FLUSS_OK;
}

static fluss_status
fail_incomplete(const fluss_snapshot_read *read, int64_t from,
				int64_t earliest, fluss_error *err)
{
	const fluss_table *table = read->env->table;

	fluss_fail(err, FLUSS_DATA_LOST,
			   "the changelog of bucket %d of table \"%s.%s\" does not reach back to offset %lld",
			   (int) read->at.bucket, table->database, table->name,
			   (long long) from);
	if (earliest >= 0)
		fluss_error_detail(err, "It begins at offset %lld.",
						   (long long) earliest);
	fluss_error_hint(err, "Read the table by limit scan: table option kv_scan.");
	return place(read, err);
}

/*
 * The log scan takes a start of 0 for "from the earliest": then it must really
 * be the first.
 */
static fluss_status
check_complete(const fluss_snapshot_read *read, fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	int64_t		earliest = 0;
	fluss_status status;

	env->counters->requests[FLUSS_REQUEST_LIST_OFFSETS]++;
	status = fluss_list_offsets(env->client, env->table, FLUSS_OFFSET_EARLIEST,
								0, read->at.partition_id, &read->at.bucket, 1,
								FLUSS_NEED_ALL, &earliest, err);
	if (status == FLUSS_OK && earliest > 0)
		return fail_incomplete(read, 0, earliest, err);
	return status;
}

static void
add_counters(fluss_snapshot_read *read)
{
	const fluss_counters *part = fluss_scan_counters(read->log);
	fluss_counters *total = read->env->counters;

	for (int i = 0; i < FLUSS_NREQUEST_KINDS; i++)
		total->requests[i] += part->requests[i];
	total->bytes += part->bytes;
	total->batches += part->batches;
}

static fluss_status
apply_log(fluss_snapshot_read *read, int64_t from, fluss_error *err)
{
	for (;;)
	{
		const fluss_batch *batch;
		fluss_scan_item item;
		fluss_loss	loss;
		fluss_status status;

		status = fluss_scan_next(read->log, &item, &batch, &loss, err);
		if (status != FLUSS_OK || item == FLUSS_SCAN_END)
			return status;
		/* a snapshot may be newer than the pinned end */
		if (item == FLUSS_SCAN_LOSS && loss.start > loss.end)
			continue;
		if (item == FLUSS_SCAN_LOSS)
			return fail_incomplete(read, from, loss.earliest, err);
		status = apply_batch(read, batch, err);
		if (status != FLUSS_OK)
			return status;
	}
}

static fluss_status
open_log(fluss_snapshot_read *read, int64_t from, fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	const fluss_snapshot_options *options = &env->options->snapshot;
	fluss_scan_options log = {
		.columns = read->columns,
		.ncolumns = read->ncolumns,
		.fetch_max_bytes = options->fetch_max_bytes,
		.fetch_max_bytes_for_bucket = options->fetch_max_bytes_for_bucket,
		.fetch_inflight = options->fetch_inflight,
		.max_buffered_bytes = env->options->max_buffered_bytes,
		.check_crc = options->check_crc
	};
	fluss_range range = {
		.partition_id = read->at.partition_id,
		.bucket = read->at.bucket,
		.start = from,
		.end = FLUSS_OFFSET_END
	};

	return fluss_scan_open(env->client, env->host, env->table, &range, 1, &log,
						   env->ends, &read->log, err);
}

/* All changes from an offset on, up to the pinned end. */
static fluss_status
apply_changes(fluss_snapshot_read *read, int64_t from, fluss_error *err)
{
	int64_t		end;
	fluss_status status;

	if (fluss_ends_get(read->env->ends, read->at.partition_id, read->at.bucket,
					   &end) && end <= from)
		return FLUSS_OK;
	status = open_log(read, from, err);
	if (status != FLUSS_OK)
		return status;
	status = apply_log(read, from, err);
	add_counters(read);
	fluss_scan_close(read->log);
	read->log = NULL;
	return status;
}

/* ---- a bucket */

/* The name of the bucket's partition; ids are not used twice. */
static fluss_status
find_partition(const fluss_snapshot_read *read, fluss_partitions **partitions,
			   const char **name, fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	const fluss_partition *partition = NULL;

	*partitions = NULL;
	*name = NULL;
	if (read->at.partition_id == FLUSS_NO_PARTITION)
		return FLUSS_OK;
	for (int64_t max_age = INT64_MAX; partition == NULL; max_age = 0)
	{
		fluss_status status;

		fluss_partitions_release(*partitions);
		status = fluss_partitions_open(env->client, env->table, max_age,
									   partitions, err);
		if (status != FLUSS_OK)
			return status;
		partition = fluss_partition_by_id(*partitions, read->at.partition_id);
		if (partition == NULL && max_age == 0)
			return fluss_fail_server(err, FLUSS_CODE_PARTITION_NOT_EXISTS,
									 NULL, 0, "find partition %lld of table \"%s.%s\"",
									 (long long) read->at.partition_id,
									 env->table->database, env->table->name);
	}
	*name = partition->name;
	return FLUSS_OK;
}

static fluss_status
copy_bucket(fluss_snapshot_read *read, int64_t *from, fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	fluss_partitions *partitions = NULL;
	fluss_snapshot_source source = {
		.client = env->client,
		.host = env->host,
		.table = env->table,
		.at = read->at,
		.folder = env->options->snapshot.folder,
		.max_buffered_bytes = env->options->max_buffered_bytes,
		.max_disk_bytes = room_on_disk(read),
		.counters = env->counters
	};
	bool		exists;
	fluss_status status;

	status = find_partition(read, &partitions, &source.partition_name, err);
	if (status == FLUSS_OK)
	{
		read->folder_made = true;
		status = fluss_snapshot_copy(&source, &exists, from, err);
	}
	fluss_partitions_release(partitions);
	if (status == FLUSS_OK && *from == 0)
		status = check_complete(read, err);
	return status;
}

/* A program that ended as its folder grew too large could not say so. */
static fluss_status
check_limit(const fluss_snapshot_read *read, fluss_status status,
			fluss_error *err)
{
	if (status == FLUSS_SEND_FAILED && read->child.over_limit)
		return fluss_snapshot_fail_size(read->env->table, read->at.bucket, err);
	return status;
}

fluss_status
fluss_snapshot_read_begin(fluss_snapshot_read *read,
						  const fluss_bucket_ref *at, fluss_error *err)
{
	const fluss_snapshot_options *options = &read->env->options->snapshot;
	int64_t		from;
	fluss_status status;

	end_bucket(read);
	read->at = *at;
	status = fluss_child_check(options->program, err);
	if (status == FLUSS_OK)
		status = copy_bucket(read, &from, err);
	if (status == FLUSS_OK)
		status = fluss_child_start(&read->child, options->program,
								   options->folder, room_on_disk(read),
								   read->env->options->max_buffered_bytes, err);
	if (status == FLUSS_OK)
		status = apply_changes(read, from, err);
	/* retention may have passed the start before it was read */
	if (status == FLUSS_OK && from == 0)
		status = check_complete(read, err);
	if (status == FLUSS_OK)
		status = fluss_child_read(&read->child, err);
	note_size(read, fluss_snapshot_size(options->folder));
	return check_limit(read, status, err);
}

static fluss_status
decode_row(fluss_snapshot_read *read, fluss_bytes bytes, fluss_value *values,
		   fluss_error *err)
{
	const fluss_kvscan_env *env = read->env;
	uint16_t	schema_id;

	if (bytes.size < 2)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "a row of a KV snapshot is too short");
	schema_id = fluss_load_u16le(bytes.data);
	if (schema_id == CHANGED_ROW)
	{
		fluss_arena_reset(&env->projector->nested);
		return fluss_row_decode(&env->projector->nested,
								FLUSS_FORMAT_COMPACTED, &read->changed, NULL,
								bytes.data + 2, bytes.size - 2, values, err);
	}
	return fluss_projector_row(env->projector, (int16_t) schema_id,
							   bytes.data + 2, bytes.size - 2, values, err);
}

fluss_status
fluss_snapshot_read_next(fluss_snapshot_read *read, bool *end,
						 fluss_value *values, fluss_error *err)
{
	fluss_bytes bytes;
	fluss_status status = fluss_child_next(&read->child, end, &bytes, err);

	status = check_limit(read, status, err);
	if (status == FLUSS_OK && *end)
	{
		end_bucket(read);
		return FLUSS_OK;
	}
	if (status == FLUSS_OK)
		status = decode_row(read, bytes, values, err);
	if (status == FLUSS_OK)
		read->env->counters->rows++;
	else if (status != FLUSS_INTERRUPTED)
		(void) place(read, err);
	return status;
}
