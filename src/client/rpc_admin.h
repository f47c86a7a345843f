/*
 * rpc_admin.h
 *	  Messages of sessions, metadata and administration, to and from bytes.
 *
 * As in rpc.h: encoders append, decoders allocate in the arena.  Metadata from
 * a server is checked here: ports, node ids and bucket numbers that reach the
 * caches are in range.
 */
#ifndef FLUSS_RPC_ADMIN_H
#define FLUSS_RPC_ADMIN_H

#include "api.h"
#include "arena.h"
#include "buf.h"

/* ---- frames of error */

/* An ErrorResponse; text may be NULL. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_error(fluss_arena *arena,
													 fluss_bytes body,
													 const char *api,
													 int *server_code,
													 const char **text,
													 fluss_error *err);

/* ---- session */

typedef struct fluss_api_range
{
	int32_t		api;
	int32_t		min;
	int32_t		max;
} fluss_api_range;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_versions(const char *client_id,
														fluss_buf *out,
														fluss_error *err);
/* *role is FLUSS_ROLE_ANY when the server did not say. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_versions(fluss_arena *arena,
														fluss_bytes answer,
														fluss_api_range **ranges,
														int *nranges,
														int32_t *role,
														fluss_error *err);
/* SASL PLAIN */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_authenticate(const fluss_host *host,
															const char *user,
															const char *password,
															fluss_buf *out,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_authenticate(fluss_arena *arena,
															fluss_bytes answer,
															fluss_error *err);

/* ---- metadata */

/* database NULL: the servers only.  Partition ids are of that table. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_metadata(const char *database,
														const char *table,
														const int64_t *partition_ids,
														int npartition_ids,
														fluss_buf *out,
														fluss_error *err);

typedef struct fluss_metadata_buckets
{
	int64_t		table_id;
	const char *database;		/* NULL in an entry about a partition */
	const char *table;
	int64_t		partition_id;	/* FLUSS_NO_PARTITION */
	int			nbuckets;
	const fluss_bucket_info *buckets;
} fluss_metadata_buckets;

typedef struct fluss_metadata
{
	int			nnodes;			/* the coordinator first, when there is one */
	const fluss_node *nodes;
	int			nentries;		/* of tables, then of partitions */
	const fluss_metadata_buckets *entries;
} fluss_metadata;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_metadata(fluss_arena *arena,
														fluss_bytes answer,
														fluss_metadata *metadata,
														fluss_error *err);

/* GET_TABLE_INFO */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_table(const char *database,
													 const char *table,
													 fluss_buf *out,
													 fluss_error *err);

typedef struct fluss_table_info
{
	int64_t		table_id;
	int32_t		schema_id;
	fluss_bytes json;
	int64_t		created_ms;
	int64_t		modified_ms;
} fluss_table_info;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_table_info(fluss_arena *arena,
														  fluss_bytes answer,
														  fluss_table_info *info,
														  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_table_schema(const char *database,
															const char *table,
															int32_t schema_id,
															fluss_buf *out,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_table_schema(fluss_arena *arena,
															fluss_bytes answer,
															int32_t *schema_id,
															fluss_bytes *json,
															fluss_error *err);

/* LIST_PARTITION_INFOS, asked as GET_TABLE_INFO is */
typedef struct fluss_partition_entry
{
	int64_t		partition_id;
	int			nvalues;
	const fluss_property *values;	/* column name, value; in any order */
} fluss_partition_entry;

FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_partitions(fluss_arena *arena,
														  fluss_bytes answer,
														  fluss_partition_entry **entries,
														  int *nentries,
														  fluss_error *err);

/* LIST_TABLES, DATABASE_EXISTS */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_database(const char *database,
														fluss_buf *out,
														fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_exists(fluss_arena *arena,
													  fluss_bytes answer,
													  bool *exists,
													  fluss_error *err);
/* NULL-ended */
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_databases(fluss_arena *arena,
														 fluss_bytes answer,
														 const char *const **names,
														 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_tables(fluss_arena *arena,
													  fluss_bytes answer,
													  const char *const **names,
													  fluss_error *err);

/* ---- administration: their answers are empty */

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_create_database(const char *name,
															   bool if_not_exists,
															   fluss_bytes json,
															   fluss_buf *out,
															   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_drop_database(const char *name,
															 bool if_exists,
															 bool cascade,
															 fluss_buf *out,
															 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_create_table(const char *database,
															const char *table,
															fluss_bytes json,
															bool if_not_exists,
															fluss_buf *out,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_drop_table(const char *database,
														  const char *table,
														  bool if_exists,
														  fluss_buf *out,
														  fluss_error *err);

/* CREATE_PARTITION and DROP_PARTITION; ignore: if (not) exists */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_partition(const fluss_host *host,
														 const char *database,
														 const char *table,
														 const fluss_property *values,
														 int nvalues,
														 bool ignore,
														 fluss_buf *out,
														 fluss_error *err);

typedef struct fluss_column_json
{
	const char *name;
	const char *comment;		/* or NULL */
	fluss_bytes type;			/* JSON */
} fluss_column_json;

/* Options, or columns to add at the end; not both. */
FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_alter_table(const fluss_host *host,
														   const char *database,
														   const char *table,
														   const fluss_property *set,
														   int nset,
														   const char *const *reset,
														   int nreset,
														   const fluss_column_json *columns,
														   int ncolumns,
														   fluss_buf *out,
														   fluss_error *err);

/* ---- writer identity */

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_init_writer(const char *database,
														   const char *table,
														   fluss_buf *out,
														   fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_init_writer(fluss_arena *arena,
														   fluss_bytes answer,
														   int64_t *writer_id,
														   fluss_error *err);

/* ---- file systems: GET_FILESYSTEM_SECURITY_TOKEN */

typedef struct fluss_token_info
{
	const char *key;
	const char *value;
} fluss_token_info;

typedef struct fluss_token_answer
{
	const char *scheme;			/* of the cluster's remote data directory */
	fluss_bytes json;			/* empty where no token is needed */
	int64_t		expiration_ms;	/* since 1970; -1: never */
	fluss_token_info *info;		/* settings that go with it */
	int			ninfo;
} fluss_token_answer;

FLUSS_MUST_CHECK fluss_status fluss_rpc_encode_token(fluss_buf *out,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_rpc_decode_token(fluss_arena *arena,
													 fluss_bytes answer,
													 fluss_token_answer *token,
													 fluss_error *err);

#endif							/* FLUSS_RPC_ADMIN_H */
