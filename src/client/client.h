/*
 * client.h
 *	  The inside of a client: cluster.c, nodes.c, call.c, metadata.c,
 *	  leader.c, partition.c, writer_id.c, offsets.c and admin.c.
 */
#ifndef FLUSS_CLIENT_H
#define FLUSS_CLIENT_H

#include "cluster.h"
#include "conn.h"
#include "error.h"
#include "remote.h"
#include "rpc_admin.h"

/* Where the next batch of a bucket stands; see writer_id.c. */
typedef struct fluss_sequence
{
	struct fluss_sequence *next;
	int64_t		table_id;
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		writer_id;		/* under which the next one is: */
	int32_t		sequence;
	int64_t		acked_writer;	/* newest acknowledged one, and whose */
	int32_t		acked_sequence;
} fluss_sequence;

/* Without partitions, the one of FLUSS_NO_PARTITION; see leader.c. */
typedef struct fluss_partition_leaders
{
	struct fluss_partition_leaders *next;
	int64_t		partition_id;
	bool		known;			/* asked for since they were forgotten */
	int32_t    *leaders;		/* by bucket; -1: not known */
} fluss_partition_leaders;

typedef struct fluss_known_schema
{
	struct fluss_known_schema *next;
	const fluss_schema *schema;
} fluss_known_schema;

#define FLUSS_LEADER_SLOTS	64

/* What a fluss_table really is. */
typedef struct fluss_table_object
{
	fluss_table table;			/* must be first */
	struct fluss_table_object *next;	/* in the client's cache */
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself, and all below */
	int			references;
	fluss_known_schema *schemas;	/* besides the current one */
	fluss_partition_leaders *leaders[FLUSS_LEADER_SLOTS];	/* by hash of id */
	fluss_partitions *partitions;	/* the newest list, or NULL */
} fluss_table_object;

#define FLUSS_SEQUENCE_SLOTS	64

struct fluss_client
{
	fluss_host	host;
	fluss_config config;		/* strings in the arena */
	fluss_arena arena;
	fluss_address *bootstrap;
	int			nbootstrap;
	fluss_address_pair *address_map;
	int			naddress_map;

	/* connections, any order */
	fluss_conn_env env;
	fluss_conn *conns;
	fluss_pollfd *fds;
	int			max_fds;
	fluss_remote *remote;		/* reads of remote files; NULL: none yet */
	int64_t		left_ms;		/* when they were served last */
	fluss_error failure;		/* the last after which something is tried again */

	/* servers, as of the last metadata; nnodes 0: never asked */
	fluss_arena nodes_arena;
	const fluss_node *nodes;
	int			nnodes;
	unsigned	turn;			/* spreads requests over the servers */

	fluss_table_object *tables; /* the cache holds a reference to each */

	/* results that live until the next call of their kind */
	fluss_arena nodes_result;
	fluss_arena buckets_result;
	fluss_arena databases_result;
	fluss_arena tables_result;

	fluss_writer *writers;		/* that are open */
	int64_t		writer_id;		/* -1: none */
	fluss_arena sequences_arena;
	fluss_sequence *sequences[FLUSS_SEQUENCE_SLOTS];
};

int64_t fluss_client_now(const fluss_client *client);

/* cluster.c */
/* The connection to an address, opened with the first request on it. */
fluss_conn *fluss_cluster_conn(fluss_client *client, fluss_address advertised,
							   fluss_address reachable);
/* Starts a request on a connection. */
FLUSS_MUST_CHECK fluss_status fluss_cluster_start(fluss_client *client,
												  fluss_conn *conn,
												  fluss_api api,
												  const uint8_t *body,
												  size_t size,
												  int64_t deadline_ms,
												  fluss_request **request,
												  fluss_error *err);
/* Waits until the request is done; else says why not. */
FLUSS_MUST_CHECK fluss_status fluss_cluster_wait(fluss_client *client,
												 fluss_request *request,
												 fluss_error *err);

/* nodes.c */
const fluss_node *fluss_nodes_find(fluss_client *client, int32_t node,
								   fluss_api api);
/*
 * Asks any server for metadata, of the servers and of one table if given.
 * What it says of the servers is taken over.
 */
FLUSS_MUST_CHECK fluss_status fluss_nodes_ask(fluss_client *client,
											  const char *database,
											  const char *table,
											  const int64_t *partition_ids,
											  int npartition_ids,
											  int64_t deadline_ms,
											  fluss_arena *arena,
											  fluss_metadata *metadata,
											  fluss_error *err);
/* The same for the servers only, with nothing kept but them. */
FLUSS_MUST_CHECK fluss_status fluss_nodes_refresh(fluss_client *client,
												  int64_t deadline_ms,
												  fluss_error *err);

/* call.c */
/* As fluss_request_call, for what must not be done twice. */
FLUSS_MUST_CHECK fluss_status fluss_request_call_once(fluss_client *client,
													  int32_t node,
													  fluss_api api,
													  const uint8_t *body,
													  size_t size,
													  int64_t deadline_ms,
													  fluss_request **answer,
													  fluss_error *err);

/* leader.c */
/* Like fluss_leader_find, but asks once at most; *node is -1 without a leader. */
FLUSS_MUST_CHECK fluss_status fluss_leader_look(fluss_client *client,
												fluss_table *table,
												int64_t partition_id,
												int32_t bucket, bool *asked,
												int64_t deadline_ms,
												int32_t *node,
												fluss_error *err);

/* admin.c */
/* Sends a change to the coordinator, once, and drops the empty answer. */
FLUSS_MUST_CHECK fluss_status fluss_admin_change(fluss_client *client,
												 fluss_api api,
												 const fluss_buf *body,
												 fluss_error *err);
/*
 * Waits until all buckets of a new table or partition are served.  With lost
 * given: or until it is sure that the coordinator has missed the creation.
 */
FLUSS_MUST_CHECK fluss_status fluss_admin_served(fluss_client *client,
												 fluss_table *table,
												 int64_t partition_id,
												 bool *lost, fluss_error *err);
/*
 * A partitioned table has no bucket whose leader would tell that the
 * coordinator has taken note of it.  One of 0.9.1 that hears of a partition
 * before it hears of its table gives nothing new a leader any more, so a new
 * table gets this time.
 */
#define FLUSS_ADMIN_NOTED_MS	500
/* How often something is made again. */
#define FLUSS_ADMIN_MAX_LOST	3
/* Pauses between the removal of a lost one and the next creation. */
FLUSS_MUST_CHECK fluss_status fluss_admin_forgotten(fluss_client *client,
													fluss_error *err);

/* metadata.c */
void fluss_tables_free(fluss_client *client);
/*
 * What a server's error about a table means: "does not exist", "not authorized
 * to verb table", "could not verb table".
 */
void fluss_table_error(fluss_error *err, const char *verb,
					   const char *database, const char *name);
/* The same for "describe", when it has to be asked which of both is missing. */
void fluss_table_explain(fluss_client *client, const char *database,
						 const char *name, int64_t deadline_ms,
						 fluss_error *err);

#endif							/* FLUSS_CLIENT_H */
