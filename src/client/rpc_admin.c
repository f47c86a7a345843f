/*
 * rpc_admin.c
 *	  Messages of sessions, metadata and administration, to and from bytes.
 *
 * The requests are small and of fixed shape, so they are built on the stack.
 * protobuf-c does not write to what it packs: the casts take const away only.
 */
#include <limits.h>

#include "rpc_admin.h"
#include "rpc_pb.h"

static const char *const versions_api = "API_VERSIONS";
static const char *const authenticate_api = "AUTHENTICATE";
static const char *const metadata_api = "GET_METADATA";
static const char *const table_info_api = "GET_TABLE_INFO";
static const char *const table_schema_api = "GET_TABLE_SCHEMA";
static const char *const database_exists_api = "DATABASE_EXISTS";
static const char *const list_databases_api = "LIST_DATABASES";
static const char *const list_tables_api = "LIST_TABLES";
static const char *const list_partitions_api = "LIST_PARTITION_INFOS";
static const char *const init_writer_api = "INIT_WRITER";
static const char *const token_api = "GET_FILESYSTEM_SECURITY_TOKEN";

static void
fill_path(Fluss__PbTablePath *path, const char *database, const char *table)
{
	fluss__pb_table_path__init(path);
	path->database_name = (char *) database;
	path->table_name = (char *) table;
}

/* ---- frames of error */

fluss_status
fluss_rpc_decode_error(fluss_arena *arena, fluss_bytes body, const char *api,
					   int *server_code, const char **text, fluss_error *err)
{
	Fluss__ErrorResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__error_response__descriptor, body,
							 api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	*server_code = response->error_code;
	*text = response->error_message;
	return FLUSS_OK;
}

/* ---- session */

fluss_status
fluss_rpc_encode_versions(const char *client_id, fluss_buf *out,
						  fluss_error *err)
{
	Fluss__ApiVersionsRequest request = FLUSS__API_VERSIONS_REQUEST__INIT;

	request.client_software_name = (char *) client_id;
	request.client_software_version = (char *) "0.1";
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_versions(fluss_arena *arena, fluss_bytes answer,
						  fluss_api_range **ranges, int *nranges,
						  int32_t *role, fluss_error *err)
{
	Fluss__ApiVersionsResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__api_versions_response__descriptor,
							 answer, versions_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_api_versions,
							  sizeof(**ranges), versions_api, (void **) ranges,
							  nranges, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < *nranges; i++)
	{
		(*ranges)[i].api = response->api_versions[i]->api_key;
		(*ranges)[i].min = response->api_versions[i]->min_version;
		(*ranges)[i].max = response->api_versions[i]->max_version;
	}
	*role = response->has_server_type ? response->server_type : FLUSS_ROLE_ANY;
	return FLUSS_OK;
}

/* The token is authzid NUL user NUL password, authzid empty. */
fluss_status
fluss_rpc_encode_authenticate(const fluss_host *host, const char *user,
							  const char *password, fluss_buf *out,
							  fluss_error *err)
{
	Fluss__AuthenticateRequest request = FLUSS__AUTHENTICATE_REQUEST__INIT;
	fluss_buf	token;
	fluss_status status;

	fluss_buf_init(&token, host);
	fluss_buf_u8(&token, 0);
	fluss_buf_append(&token, user, strlen(user));
	fluss_buf_u8(&token, 0);
	fluss_buf_append(&token, password, strlen(password));
	if (token.failed)
		status = fluss_fail_memory(err);
	else
	{
		request.protocol = (char *) "PLAIN";
		request.token.data = token.data;
		request.token.len = token.size;
		status = fluss_pb_pack(&request, out, err);
	}
	if (token.data != NULL)
		explicit_bzero(token.data, token.size);
	fluss_buf_free(&token);
	return status;
}

/* SASL PLAIN ends after one round: a challenge with content is not for us. */
fluss_status
fluss_rpc_decode_authenticate(fluss_arena *arena, fluss_bytes answer,
							  fluss_error *err)
{
	Fluss__AuthenticateResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__authenticate_response__descriptor,
							 answer, authenticate_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	if (response->has_challenge && response->challenge.len > 0)
		return fluss_pb_malformed(err, authenticate_api,
								  "SASL PLAIN has no second challenge.");
	return FLUSS_OK;
}

/* ---- metadata */

fluss_status
fluss_rpc_encode_metadata(const char *database, const char *table,
						  const int64_t *partition_ids, int npartition_ids,
						  fluss_buf *out, fluss_error *err)
{
	Fluss__MetadataRequest request = FLUSS__METADATA_REQUEST__INIT;
	Fluss__PbTablePath path;
	Fluss__PbTablePath *paths[1] = {&path};

	if (database != NULL)
	{
		fill_path(&path, database, table);
		request.n_table_path = 1;
		request.table_path = paths;
	}
	request.n_partitions_id = npartition_ids;
	request.partitions_id = (int64_t *) partition_ids;
	return fluss_pb_pack(&request, out, err);
}

static fluss_status
read_node(const Fluss__PbServerNode *entry, bool coordinator, fluss_node *node,
		  fluss_error *err)
{
	if (entry->port < 1 || entry->port > 65535 || entry->host[0] == '\0')
		return fluss_pb_malformed(err, metadata_api,
								  "The address of a server is not valid.");
	if (entry->node_id < 0)
		return fluss_pb_malformed(err, metadata_api, "A node id is negative.");
	node->node_id = entry->node_id;
	node->coordinator = coordinator;
	node->host = entry->host;
	node->port = entry->port;
	node->rack = entry->rack;
	return FLUSS_OK;
}

static fluss_status
read_nodes(fluss_arena *arena, const Fluss__MetadataResponse *response,
		   fluss_metadata *metadata, fluss_error *err)
{
	fluss_node *nodes;
	fluss_status status = FLUSS_OK;

	nodes = fluss_arena_array(arena, response->n_tablet_servers + 1,
							  sizeof(*nodes));
	if (nodes == NULL)
		return fluss_fail_memory(err);
	metadata->nodes = nodes;
	if (response->coordinator_server != NULL)
		status = read_node(response->coordinator_server, true,
						   &nodes[metadata->nnodes++], err);
	for (size_t i = 0; status == FLUSS_OK && i < response->n_tablet_servers; i++)
		status = read_node(response->tablet_servers[i], false,
						   &nodes[metadata->nnodes++], err);
	return status;
}

static fluss_status
read_buckets(fluss_arena *arena, size_t count,
			 Fluss__PbBucketMetadata *const *list,
			 fluss_metadata_buckets *entry, fluss_error *err)
{
	fluss_bucket_info *buckets;
	fluss_status status;

	status = fluss_pb_results(arena, count, sizeof(*buckets), metadata_api,
							  (void **) &buckets, &entry->nbuckets, err);
	if (status != FLUSS_OK)
		return status;
	entry->buckets = buckets;
	for (int i = 0; i < entry->nbuckets; i++)
	{
		if (list[i]->bucket_id < 0 || list[i]->n_replica_id > INT_MAX ||
			(list[i]->has_leader_id && list[i]->leader_id < -1))
			return fluss_pb_malformed(err, metadata_api,
									  "A bucket number or leader is negative.");
		buckets[i].partition_id = entry->partition_id;
		buckets[i].bucket = list[i]->bucket_id;
		buckets[i].leader = list[i]->has_leader_id ? list[i]->leader_id : -1;
		buckets[i].nreplicas = (int) list[i]->n_replica_id;
		buckets[i].replicas = list[i]->replica_id;
	}
	return FLUSS_OK;
}

static fluss_status
read_table_entry(fluss_arena *arena, const Fluss__PbTableMetadata *table,
				 fluss_metadata_buckets *entry, fluss_error *err)
{
	entry->table_id = table->table_id;
	entry->database = table->table_path->database_name;
	entry->table = table->table_path->table_name;
	entry->partition_id = FLUSS_NO_PARTITION;
	return read_buckets(arena, table->n_bucket_metadata,
						table->bucket_metadata, entry, err);
}

static fluss_status
read_partition_entry(fluss_arena *arena,
					 const Fluss__PbPartitionMetadata *partition,
					 fluss_metadata_buckets *entry, fluss_error *err)
{
	if (partition->partition_id < 0)
		return fluss_pb_malformed(err, metadata_api,
								  "A partition id is negative.");
	entry->table_id = partition->table_id;
	entry->partition_id = partition->partition_id;
	return read_buckets(arena, partition->n_bucket_metadata,
						partition->bucket_metadata, entry, err);
}

fluss_status
fluss_rpc_decode_metadata(fluss_arena *arena, fluss_bytes answer,
						  fluss_metadata *metadata, fluss_error *err)
{
	Fluss__MetadataResponse *response;
	fluss_metadata_buckets *entries;
	fluss_status status;

	memset(metadata, 0, sizeof(*metadata));
	status = fluss_pb_unpack(arena, &fluss__metadata_response__descriptor,
							 answer, metadata_api, (void **) &response, err);
	if (status == FLUSS_OK)
		status = read_nodes(arena, response, metadata, err);
	if (status != FLUSS_OK)
		return status;
	entries = fluss_arena_array(arena, response->n_table_metadata +
								response->n_partition_metadata,
								sizeof(*entries));
	if (entries == NULL)
		return fluss_fail_memory(err);
	metadata->entries = entries;
	for (size_t i = 0; status == FLUSS_OK && i < response->n_table_metadata; i++)
		status = read_table_entry(arena, response->table_metadata[i],
								  &entries[metadata->nentries++], err);
	for (size_t i = 0; status == FLUSS_OK && i < response->n_partition_metadata; i++)
		status = read_partition_entry(arena, response->partition_metadata[i],
									  &entries[metadata->nentries++], err);
	return status;
}

fluss_status
fluss_rpc_encode_table(const char *database, const char *table,
					   fluss_buf *out, fluss_error *err)
{
	Fluss__TableRequest request = FLUSS__TABLE_REQUEST__INIT;
	Fluss__PbTablePath path;

	fill_path(&path, database, table);
	request.table_path = &path;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_table_info(fluss_arena *arena, fluss_bytes answer,
							fluss_table_info *info, fluss_error *err)
{
	Fluss__GetTableInfoResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__get_table_info_response__descriptor,
							 answer, table_info_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	if (response->table_id < 0)
		return fluss_pb_malformed(err, table_info_api,
								  "The table id is negative.");
	info->table_id = response->table_id;
	info->schema_id = response->schema_id;
	info->json = fluss_pb_bytes(response->table_json);
	info->created_ms = response->created_time;
	info->modified_ms = response->modified_time;
	return FLUSS_OK;
}

fluss_status
fluss_rpc_encode_table_schema(const char *database, const char *table,
							  int32_t schema_id, fluss_buf *out,
							  fluss_error *err)
{
	Fluss__GetTableSchemaRequest request = FLUSS__GET_TABLE_SCHEMA_REQUEST__INIT;
	Fluss__PbTablePath path;

	fill_path(&path, database, table);
	request.table_path = &path;
	request.has_schema_id = true;
	request.schema_id = schema_id;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_table_schema(fluss_arena *arena, fluss_bytes answer,
							  int32_t *schema_id, fluss_bytes *json,
							  fluss_error *err)
{
	Fluss__GetTableSchemaResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__get_table_schema_response__descriptor,
							 answer, table_schema_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	*schema_id = response->schema_id;
	*json = fluss_pb_bytes(response->schema_json);
	return FLUSS_OK;
}

/* ---- partitions */

static fluss_status
read_partition_info(fluss_arena *arena, const Fluss__PbPartitionInfo *info,
					fluss_partition_entry *entry, fluss_error *err)
{
	const Fluss__PbPartitionSpec *spec = info->partition_spec;
	fluss_property *values;
	fluss_status status;

	status = fluss_pb_results(arena, spec->n_partition_key_values,
							  sizeof(*values), list_partitions_api,
							  (void **) &values, &entry->nvalues, err);
	if (status != FLUSS_OK)
		return status;
	if (info->partition_id < 0)
		return fluss_pb_malformed(err, list_partitions_api,
								  "A partition id is negative.");
	entry->partition_id = info->partition_id;
	entry->values = values;
	for (int i = 0; i < entry->nvalues; i++)
	{
		values[i].key = spec->partition_key_values[i]->key;
		values[i].value = spec->partition_key_values[i]->value;
	}
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_partitions(fluss_arena *arena, fluss_bytes answer,
							fluss_partition_entry **entries, int *nentries,
							fluss_error *err)
{
	Fluss__ListPartitionInfosResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__list_partition_infos_response__descriptor,
							 answer, list_partitions_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_pb_results(arena, response->n_partitions_info,
							  sizeof(**entries), list_partitions_api,
							  (void **) entries, nentries, err);
	for (int i = 0; status == FLUSS_OK && i < *nentries; i++)
		status = read_partition_info(arena, response->partitions_info[i],
									 &(*entries)[i], err);
	return status;
}

fluss_status
fluss_rpc_encode_partition(const fluss_host *host, const char *database,
						   const char *table, const fluss_property *values,
						   int nvalues, bool ignore, fluss_buf *out,
						   fluss_error *err)
{
	Fluss__PartitionRequest request = FLUSS__PARTITION_REQUEST__INIT;
	Fluss__PbPartitionSpec spec = FLUSS__PB_PARTITION_SPEC__INIT;
	Fluss__PbTablePath path;
	Fluss__PbKeyValue *pairs;
	fluss_arena scratch;

	fluss_arena_init(&scratch, host);
	pairs = fluss_pb_list(&scratch, &fluss__pb_key_value__descriptor,
						  (size_t) nvalues, &spec.partition_key_values);
	for (int i = 0; pairs != NULL && i < nvalues; i++)
	{
		pairs[i].key = (char *) values[i].key;
		pairs[i].value = (char *) values[i].value;
	}
	fill_path(&path, database, table);
	spec.n_partition_key_values = (size_t) nvalues;
	request.table_path = &path;
	request.partition_spec = &spec;
	request.ignore = ignore;
	return fluss_pb_finish(&scratch, pairs != NULL ? &request : NULL, out, err);
}

fluss_status
fluss_rpc_encode_database(const char *database, fluss_buf *out,
						  fluss_error *err)
{
	Fluss__DatabaseRequest request = FLUSS__DATABASE_REQUEST__INIT;

	request.database_name = (char *) database;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_exists(fluss_arena *arena, fluss_bytes answer, bool *exists,
						fluss_error *err)
{
	Fluss__DatabaseExistsResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__database_exists_response__descriptor,
							 answer, database_exists_api, (void **) &response,
							 err);
	if (status == FLUSS_OK)
		*exists = response->exists;
	return status;
}

static fluss_status
copy_names(fluss_arena *arena, size_t count, char *const *list,
		   const char *const **names, fluss_error *err)
{
	const char **copy = fluss_arena_array(arena, count + 1, sizeof(*copy));

	if (copy == NULL)
		return fluss_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		copy[i] = list[i];
	*names = copy;
	return FLUSS_OK;
}

fluss_status
fluss_rpc_decode_databases(fluss_arena *arena, fluss_bytes answer,
						   const char *const **names, fluss_error *err)
{
	Fluss__ListDatabasesResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__list_databases_response__descriptor,
							 answer, list_databases_api, (void **) &response,
							 err);
	if (status != FLUSS_OK)
		return status;
	return copy_names(arena, response->n_database_name,
					  response->database_name, names, err);
}

fluss_status
fluss_rpc_decode_tables(fluss_arena *arena, fluss_bytes answer,
						const char *const **names, fluss_error *err)
{
	Fluss__ListTablesResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__list_tables_response__descriptor,
							 answer, list_tables_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	return copy_names(arena, response->n_table_name, response->table_name,
					  names, err);
}

/* ---- administration */

fluss_status
fluss_rpc_encode_create_database(const char *name, bool if_not_exists,
								 fluss_bytes json, fluss_buf *out,
								 fluss_error *err)
{
	Fluss__CreateDatabaseRequest request = FLUSS__CREATE_DATABASE_REQUEST__INIT;

	request.database_name = (char *) name;
	request.ignore_if_exists = if_not_exists;
	request.has_database_json = json.data != NULL;
	request.database_json = fluss_pb_data(json);
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_encode_drop_database(const char *name, bool if_exists, bool cascade,
							   fluss_buf *out, fluss_error *err)
{
	Fluss__DropDatabaseRequest request = FLUSS__DROP_DATABASE_REQUEST__INIT;

	request.database_name = (char *) name;
	request.ignore_if_not_exists = if_exists;
	request.cascade = cascade;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_encode_create_table(const char *database, const char *table,
							  fluss_bytes json, bool if_not_exists,
							  fluss_buf *out, fluss_error *err)
{
	Fluss__CreateTableRequest request = FLUSS__CREATE_TABLE_REQUEST__INIT;
	Fluss__PbTablePath path;

	fill_path(&path, database, table);
	request.table_path = &path;
	request.table_json = fluss_pb_data(json);
	request.ignore_if_exists = if_not_exists;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_encode_drop_table(const char *database, const char *table,
							bool if_exists, fluss_buf *out, fluss_error *err)
{
	Fluss__DropTableRequest request = FLUSS__DROP_TABLE_REQUEST__INIT;
	Fluss__PbTablePath path;

	fill_path(&path, database, table);
	request.table_path = &path;
	request.ignore_if_not_exists = if_exists;
	return fluss_pb_pack(&request, out, err);
}

/* Codes of what an option's change and a column's place are. */
#define ALTER_SET			0
#define ALTER_DELETE		1
#define POSITION_LAST		0

static void
fill_configs(Fluss__PbAlterConfig *configs, const fluss_property *set,
			 int nset, const char *const *reset, int nreset)
{
	for (int i = 0; i < nset; i++, configs++)
	{
		configs->config_key = (char *) set[i].key;
		configs->config_value = (char *) set[i].value;
		configs->op_type = ALTER_SET;
	}
	for (int i = 0; i < nreset; i++, configs++)
	{
		configs->config_key = (char *) reset[i];
		configs->op_type = ALTER_DELETE;
	}
}

static void
fill_columns(Fluss__PbAddColumn *added, const fluss_column_json *columns,
			 int ncolumns)
{
	for (int i = 0; i < ncolumns; i++)
	{
		added[i].column_name = (char *) columns[i].name;
		added[i].data_type_json = fluss_pb_data(columns[i].type);
		added[i].comment = (char *) columns[i].comment;
		added[i].column_position_type = POSITION_LAST;
	}
}

fluss_status
fluss_rpc_encode_alter_table(const fluss_host *host, const char *database,
							 const char *table, const fluss_property *set,
							 int nset, const char *const *reset, int nreset,
							 const fluss_column_json *columns, int ncolumns,
							 fluss_buf *out, fluss_error *err)
{
	Fluss__AlterTableRequest request = FLUSS__ALTER_TABLE_REQUEST__INIT;
	Fluss__PbTablePath path;
	Fluss__PbAlterConfig *configs;
	Fluss__PbAddColumn *added;
	fluss_arena scratch;

	fluss_arena_init(&scratch, host);
	request.n_config_changes = (size_t) nset + (size_t) nreset;
	configs = fluss_pb_list(&scratch, &fluss__pb_alter_config__descriptor,
							request.n_config_changes, &request.config_changes);
	request.n_add_columns = (size_t) ncolumns;
	added = fluss_pb_list(&scratch, &fluss__pb_add_column__descriptor,
						  request.n_add_columns, &request.add_columns);
	if (configs == NULL || added == NULL)
		return fluss_pb_finish(&scratch, NULL, out, err);
	fill_path(&path, database, table);
	request.table_path = &path;
	fill_configs(configs, set, nset, reset, nreset);
	fill_columns(added, columns, ncolumns);
	return fluss_pb_finish(&scratch, &request, out, err);
}

/* ---- writer identity */

fluss_status
fluss_rpc_encode_init_writer(const char *database, const char *table,
							 fluss_buf *out, fluss_error *err)
{
	Fluss__InitWriterRequest request = FLUSS__INIT_WRITER_REQUEST__INIT;
	Fluss__PbTablePath path;
	Fluss__PbTablePath *paths[1] = {&path};

	fill_path(&path, database, table);
	request.n_table_path = 1;
	request.table_path = paths;
	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_init_writer(fluss_arena *arena, fluss_bytes answer,
							 int64_t *writer_id, fluss_error *err)
{
	Fluss__InitWriterResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena, &fluss__init_writer_response__descriptor,
							 answer, init_writer_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	if (response->writer_id < 0)
		return fluss_pb_malformed(err, init_writer_api,
								  "The writer id is negative.");
	*writer_id = response->writer_id;
	return FLUSS_OK;
}

/* ---- file systems */

fluss_status
fluss_rpc_encode_token(fluss_buf *out, fluss_error *err)
{
	Fluss__GetFileSystemSecurityTokenRequest request =
		FLUSS__GET_FILE_SYSTEM_SECURITY_TOKEN_REQUEST__INIT;

	return fluss_pb_pack(&request, out, err);
}

fluss_status
fluss_rpc_decode_token(fluss_arena *arena, fluss_bytes answer,
					   fluss_token_answer *token, fluss_error *err)
{
	Fluss__GetFileSystemSecurityTokenResponse *response;
	fluss_status status;

	status = fluss_pb_unpack(arena,
							 &fluss__get_file_system_security_token_response__descriptor,
							 answer, token_api, (void **) &response, err);
	if (status != FLUSS_OK)
		return status;
	token->scheme = response->schema;
	token->json = fluss_pb_bytes(response->token);
	token->expiration_ms =
		response->has_expiration_time ? response->expiration_time : -1;
	status = fluss_pb_results(arena, response->n_addition_info,
							  sizeof(*token->info), token_api,
							  (void **) &token->info, &token->ninfo, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < token->ninfo; i++)
	{
		token->info[i].key = response->addition_info[i]->key;
		token->info[i].value = response->addition_info[i]->value;
	}
	return FLUSS_OK;
}
