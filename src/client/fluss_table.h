/*
 * fluss_table.h
 *	  Part of fluss.h: types, schemas, tables, partitions and offsets.
 */
#ifndef FLUSS_TABLE_H
#define FLUSS_TABLE_H

#include "fluss_base.h"

/* ------------------------------------------------- types, schemas, tables */

typedef enum fluss_type_id
{
	FLUSS_BOOLEAN,
	FLUSS_TINYINT,
	FLUSS_SMALLINT,
	FLUSS_INTEGER,
	FLUSS_BIGINT,
	FLUSS_FLOAT,
	FLUSS_DOUBLE,
	FLUSS_DECIMAL,				/* precision, scale */
	FLUSS_CHAR,					/* length, in characters */
	FLUSS_STRING,
	FLUSS_BINARY,				/* length, in bytes */
	FLUSS_BYTES,
	FLUSS_DATE,
	FLUSS_TIME,					/* precision */
	FLUSS_TIMESTAMP,			/* precision */
	FLUSS_TIMESTAMP_LTZ,		/* precision */
	FLUSS_ARRAY,				/* children[0] */
	FLUSS_MAP,					/* children[0] key, children[1] value */
	FLUSS_ROW					/* children */
} fluss_type_id;

typedef struct fluss_column fluss_column;

typedef struct fluss_type
{
	fluss_type_id id;
	bool		nullable;
	int32_t		length;			/* CHAR, BINARY */
	int32_t		precision;		/* DECIMAL, TIME, TIMESTAMP, TIMESTAMP_LTZ */
	int32_t		scale;			/* DECIMAL */
	int32_t		nchildren;		/* ARRAY 1, MAP 2, ROW its fields */
	const fluss_column *children;
} fluss_type;

struct fluss_column
{
	const char *name;
	const char *comment;		/* or NULL */
	int32_t		id;				/* stable column id */
	fluss_type	type;
};

typedef struct fluss_schema
{
	int32_t		schema_id;
	int32_t		ncolumns;
	const fluss_column *columns;
	int32_t		nprimary_key;	/* 0: log table */
	const int32_t *primary_key; /* column positions, in key order */
	int32_t		auto_increment; /* column position, or -1 */
} fluss_schema;

typedef enum fluss_row_format
{
	FLUSS_FORMAT_ARROW,			/* log only */
	FLUSS_FORMAT_INDEXED,
	FLUSS_FORMAT_COMPACTED
} fluss_row_format;

typedef enum fluss_codec
{
	FLUSS_CODEC_NONE,
	FLUSS_CODEC_LZ4_FRAME,
	FLUSS_CODEC_ZSTD
} fluss_codec;

typedef enum fluss_lake
{
	FLUSS_LAKE_NONE,			/* also lance: both use the Fluss encoder */
	FLUSS_LAKE_PAIMON,
	FLUSS_LAKE_ICEBERG
} fluss_lake;

typedef struct fluss_property
{
	const char *key;
	const char *value;
} fluss_property;

/* One table as GET_TABLE_INFO described it; immutable and reference counted. */
typedef struct fluss_table
{
	const char *database;
	const char *name;
	int64_t		table_id;
	const fluss_schema *schema; /* the current one */
	int32_t		nbucket_key;
	const int32_t *bucket_key;	/* column positions, in bucket key order */
	int32_t		npartition_key;
	const int32_t *partition_key;	/* column positions */
	int32_t		nphysical_key;	/* primary key without partition columns */
	const int32_t *physical_key;
	int32_t		nbuckets;
	fluss_row_format log_format;
	fluss_row_format kv_format;
	int32_t		kv_format_version;	/* 1 when the property is absent */
	fluss_codec codec;
	int32_t		zstd_level;
	fluss_lake	lake;
	bool		has_lake_format;	/* table.datalake.format present */
	const char *comment;		/* or NULL */
	int32_t		nproperties;
	int32_t		ncustom_properties;
	const fluss_property *properties;	/* nproperties, then the custom ones */
	int64_t		created_ms;
	int64_t		modified_ms;
} fluss_table;

/*
 * Whether lookups by a prefix of the key are offered: the bucket key is a part
 * of the primary key, at its front and not all of it (partition columns aside),
 * and the bytes of the one key begin with those of the other.
 */
bool fluss_table_prefix_lookup(const fluss_table *table);

/* Value of a property, or NULL.  Keys are exact, values as stored. */
const char *fluss_table_property(const fluss_table *table, const char *key);

/* SQL spelling of a type, e.g. "DECIMAL(10, 2) NOT NULL", cut to size bytes. */
void fluss_type_print(const fluss_type *type, char *out, size_t size);
/*
 * Reads that spelling back, in any case; field names may do without quotes.
 * The children of a nested type, at every depth, lie in one allocation of the
 * host that starts at type->children and is the caller's to free.
 */
FLUSS_MUST_CHECK fluss_status fluss_type_from_text(const fluss_host *host,
												   const char *text,
												   fluss_type *type,
												   fluss_error *err);

/* Whether describing it takes no request. */
bool fluss_table_is_cached(fluss_client *client, const char *database,
						   const char *name);
/*
 * Describes a table, from the client's cache unless refresh is set.  A cached
 * description is dropped by any answer that shows it stale.  Missing database
 * or table: FLUSS_SERVER_ERROR with code 4 or 7.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_open(fluss_client *client,
											   const char *database,
											   const char *name, bool refresh,
											   fluss_table **table,
											   fluss_error *err);
void fluss_table_retain(fluss_table *table);
void fluss_table_release(fluss_table *table);
/* Drops the cached description and leaders of a table, if there are any. */
void fluss_table_forget(fluss_client *client, const char *database,
						const char *name);

/*
 * Servers known to lead buckets of a cached table, as advertised; asks nobody.
 * They live until the next call on the client.
 */
int fluss_table_known_leaders(fluss_client *client, const char *database,
							  const char *name, const fluss_node **nodes,
							  int max_nodes);

typedef struct fluss_bucket_info
{
	int64_t		partition_id;	/* -1: table without partitions */
	int32_t		bucket;
	int32_t		leader;			/* node id, or -1 */
	int32_t		nreplicas;
	const int32_t *replicas;
} fluss_bucket_info;

/* Buckets with leader and replicas, freshly asked; lives until the next call. */
FLUSS_MUST_CHECK fluss_status fluss_table_buckets(fluss_client *client,
												  fluss_table *table,
												  const fluss_bucket_info **buckets,
												  int *nbuckets,
												  fluss_error *err);

/* ------------------------------------------------------------ partitions */

#define FLUSS_NO_PARTITION (-1)

typedef struct fluss_partition
{
	int64_t		partition_id;
	const char *name;			/* the values joined by '$' */
	const char *const *values;	/* npartition_key texts, in partition key order */
} fluss_partition;

/* The partitions of a table at one moment; immutable, reference counted. */
typedef struct fluss_partitions
{
	int32_t		n;
	const fluss_partition *items;	/* by ascending partition_id */
} fluss_partitions;

/*
 * Lists the partitions of a partitioned table: what the client knows if it is
 * not older than max_age_ms, else freshly asked.  *partitions is NULL after an
 * error.
 */
FLUSS_MUST_CHECK fluss_status fluss_partitions_open(fluss_client *client,
													fluss_table *table,
													int64_t max_age_ms,
													fluss_partitions **partitions,
													fluss_error *err);
void fluss_partitions_release(fluss_partitions *partitions);
/* NULL when there is none of that id, or of that name. */
const fluss_partition *fluss_partition_by_id(const fluss_partitions *partitions,
											 int64_t partition_id);
const fluss_partition *fluss_partition_by_name(const fluss_partitions *partitions,
											   const char *name);

/*
 * Creates or drops a partition; values as in fluss_partition.  A creation
 * waits until the partition's buckets have leaders that serve.
 */
FLUSS_MUST_CHECK fluss_status fluss_create_partition(fluss_client *client,
													 fluss_table *table,
													 const char *const *values,
													 bool if_not_exists,
													 fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_drop_partition(fluss_client *client,
												   fluss_table *table,
												   const char *const *values,
												   bool if_exists,
												   fluss_error *err);

/* How the key's bytes choose a bucket. */
typedef enum fluss_bucket_hash
{
	FLUSS_BUCKET_HASH_FLUSS,	/* as the Java client does */
	FLUSS_BUCKET_HASH_RS		/* as fluss-rs and pyfluss 1.0.0 do: leftover
								 * bytes unsigned */
} fluss_bucket_hash;

typedef enum fluss_offset_kind
{
	FLUSS_OFFSET_EARLIEST = 0,
	FLUSS_OFFSET_LATEST = 1,	/* the high watermark */
	FLUSS_OFFSET_AT_TIMESTAMP = 2,
	FLUSS_OFFSET_LEADER_START = 3	/* the end when its leader took over */
} fluss_offset_kind;

#define FLUSS_OFFSET_UNKNOWN (-1)

/* A bucket of one partition, or of a table without. */
typedef struct fluss_bucket_ref
{
	int64_t		partition_id;	/* or FLUSS_NO_PARTITION */
	int32_t		bucket;
} fluss_bucket_ref;

/* Which of the buckets asked about must have an answer; others are unknown. */
typedef enum fluss_need
{
	FLUSS_NEED_ALL,
	FLUSS_NEED_LED,				/* those that have a leader */
	FLUSS_NEED_ANSWERED			/* those whose leader answers in time */
} fluss_need;

/*
 * Asks all leaders at once for the offsets of the given buckets.  offsets[i]
 * is FLUSS_OFFSET_UNKNOWN where need lets a bucket do without an answer, else
 * that is an error.  timestamp_ms only for AT_TIMESTAMP; a time past the
 * server's clock gives the high watermark.
 */
FLUSS_MUST_CHECK fluss_status fluss_list_offsets(fluss_client *client,
												 fluss_table *table,
												 fluss_offset_kind kind,
												 int64_t timestamp_ms,
												 int64_t partition_id,
												 const int32_t *buckets,
												 int nbuckets,
												 fluss_need need,
												 int64_t *offsets,
												 fluss_error *err);

/*
 * Row counts from the server's table statistics, or FLUSS_OFFSET_UNKNOWN per
 * bucket where it keeps none, or does not answer in time.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_row_counts(fluss_client *client,
													 fluss_table *table,
													 int64_t partition_id,
													 const int32_t *buckets,
													 int nbuckets,
													 int64_t *counts,
													 fluss_error *err);

/*
 * For estimates: buckets of any partitions, those of one in a row.  All
 * questions are on their way at once.  FLUSS_OFFSET_UNKNOWN where a bucket has
 * no leader, its partition is gone, or the server keeps no count.
 */
FLUSS_MUST_CHECK fluss_status fluss_bucket_row_counts(fluss_client *client,
													  fluss_table *table,
													  const fluss_bucket_ref *buckets,
													  int n, int64_t *counts,
													  fluss_error *err);
/*
 * The same of a primary key table, where the count is known to be exact: of
 * what lookups find.  FLUSS_OFFSET_UNKNOWN elsewhere, also where the leader has
 * taken the bucket over with records in it.  counters as a scan has them, or
 * NULL.
 */
struct fluss_counters;
FLUSS_MUST_CHECK fluss_status fluss_exact_row_counts(fluss_client *client,
													 fluss_table *table,
													 const fluss_bucket_ref *buckets,
													 int n, int64_t *counts,
													 struct fluss_counters *counters,
													 fluss_error *err);
/* The first offset of each bucket, and its high watermark. */
FLUSS_MUST_CHECK fluss_status fluss_bucket_spans(fluss_client *client,
												 fluss_table *table,
												 const fluss_bucket_ref *buckets,
												 int n, int64_t *earliest,
												 int64_t *latest,
												 fluss_error *err);

#endif							/* FLUSS_TABLE_H */
