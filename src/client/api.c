/*
 * api.c
 *	  What the client knows about each API of the protocol.
 *
 * PUT_KV and the lookups start at version 1: with version 0 a server refuses
 * tables whose keys are encoded in the newer way.
 */
#include "api.h"

const fluss_api_info fluss_apis[FLUSS_NAPIS] = {
	{FLUSS_API_VERSIONS, 0, 0, "API_VERSIONS", "agree on versions", FLUSS_ROLE_ANY},
	{FLUSS_API_CREATE_DATABASE, 0, 0, "CREATE_DATABASE", "create database", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_DROP_DATABASE, 0, 0, "DROP_DATABASE", "drop database", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_LIST_DATABASES, 0, 0, "LIST_DATABASES", "list databases", FLUSS_ROLE_ANY},
	{FLUSS_API_DATABASE_EXISTS, 0, 0, "DATABASE_EXISTS", "look up database", FLUSS_ROLE_ANY},
	{FLUSS_API_CREATE_TABLE, 0, 0, "CREATE_TABLE", "create table", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_DROP_TABLE, 0, 0, "DROP_TABLE", "drop table", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_GET_TABLE_INFO, 0, 0, "GET_TABLE_INFO", "describe table", FLUSS_ROLE_ANY},
	{FLUSS_API_LIST_TABLES, 0, 0, "LIST_TABLES", "list tables", FLUSS_ROLE_ANY},
	{FLUSS_API_LIST_PARTITION_INFOS, 0, 0, "LIST_PARTITION_INFOS", "list partitions", FLUSS_ROLE_ANY},
	{FLUSS_API_GET_TABLE_SCHEMA, 0, 0, "GET_TABLE_SCHEMA", "get table schema", FLUSS_ROLE_ANY},
	{FLUSS_API_GET_METADATA, 0, 0, "GET_METADATA", "get metadata", FLUSS_ROLE_ANY},
	{FLUSS_API_PRODUCE_LOG, 0, 0, "PRODUCE_LOG", "append to log", FLUSS_ROLE_TABLET},
	{FLUSS_API_FETCH_LOG, 0, 0, "FETCH_LOG", "fetch from log", FLUSS_ROLE_TABLET},
	{FLUSS_API_PUT_KV, 1, 1, "PUT_KV", "write to primary key table", FLUSS_ROLE_TABLET},
	{FLUSS_API_LOOKUP, 1, 1, "LOOKUP", "look up keys", FLUSS_ROLE_TABLET},
	{FLUSS_API_LIST_OFFSETS, 0, 0, "LIST_OFFSETS", "list offsets", FLUSS_ROLE_TABLET},
	{FLUSS_API_GET_FILESYSTEM_SECURITY_TOKEN, 0, 0, "GET_FILESYSTEM_SECURITY_TOKEN", "get a file system token", FLUSS_ROLE_ANY},
	{FLUSS_API_INIT_WRITER, 0, 0, "INIT_WRITER", "get a writer id", FLUSS_ROLE_TABLET},
	{FLUSS_API_LIMIT_SCAN, 0, 0, "LIMIT_SCAN", "scan primary key table", FLUSS_ROLE_TABLET},
	{FLUSS_API_PREFIX_LOOKUP, 1, 1, "PREFIX_LOOKUP", "look up key prefixes", FLUSS_ROLE_TABLET},
	{FLUSS_API_CREATE_PARTITION, 0, 0, "CREATE_PARTITION", "create partition", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_DROP_PARTITION, 0, 0, "DROP_PARTITION", "drop partition", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_AUTHENTICATE, 0, 0, "AUTHENTICATE", "authenticate", FLUSS_ROLE_ANY},
	{FLUSS_API_ALTER_TABLE, 0, 0, "ALTER_TABLE", "alter table", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_GET_TABLE_STATS, 0, 0, "GET_TABLE_STATS", "get table statistics", FLUSS_ROLE_TABLET},
	{FLUSS_API_GET_LATEST_KV_SNAPSHOTS, 0, 0, "GET_LATEST_KV_SNAPSHOTS", "list KV snapshots", FLUSS_ROLE_ANY},
	{FLUSS_API_GET_KV_SNAPSHOT_METADATA, 0, 0, "GET_KV_SNAPSHOT_METADATA", "describe a KV snapshot", FLUSS_ROLE_ANY},
	{FLUSS_API_ACQUIRE_KV_SNAPSHOT_LEASE, 0, 0, "ACQUIRE_KV_SNAPSHOT_LEASE", "lease a KV snapshot", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_DROP_KV_SNAPSHOT_LEASE, 0, 0, "DROP_KV_SNAPSHOT_LEASE", "drop the lease of a KV snapshot", FLUSS_ROLE_COORDINATOR},
	{FLUSS_API_SCAN_KV, 0, 0, "SCAN_KV", "scan primary key table", FLUSS_ROLE_TABLET}
};

int
fluss_api_index(int32_t api)
{
	for (int i = 0; i < FLUSS_NAPIS; i++)
	{
		if (fluss_apis[i].api == (fluss_api) api)
			return i;
	}
	return -1;
}

static const char *const kind_names[FLUSS_NREQUEST_KINDS] = {
	[FLUSS_REQUEST_METADATA] = "metadata",
	[FLUSS_REQUEST_LIST_OFFSETS] = "list offsets",
	[FLUSS_REQUEST_FETCH] = "fetch",
	[FLUSS_REQUEST_REMOTE_READ] = "remote read",
	[FLUSS_REQUEST_LOOKUP] = "lookup",
	[FLUSS_REQUEST_PREFIX_LOOKUP] = "prefix lookup",
	[FLUSS_REQUEST_LIMIT_SCAN] = "limit scan",
	[FLUSS_REQUEST_SCAN] = "kv scan",
	[FLUSS_REQUEST_SNAPSHOT] = "snapshot",
	[FLUSS_REQUEST_STATS] = "statistics",
	[FLUSS_REQUEST_PRODUCE] = "produce",
	[FLUSS_REQUEST_PUT] = "put",
	[FLUSS_REQUEST_INIT_WRITER] = "init writer",
	[FLUSS_REQUEST_OTHER] = "other"
};

const char *
fluss_request_kind_name(fluss_request_kind kind)
{
	return kind_names[kind];
}
