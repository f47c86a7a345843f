/*
 * cluster.h
 *	  Requests to the servers of a cluster: who leads what, connections, and
 *	  one event loop for everything that is in flight.
 *
 * A request is started, then driven by fluss_cluster_poll, which serves every
 * connection of the client; whoever waits drives all.  A request that its
 * owner frees while it is in flight is forgotten: its answer is read and
 * dropped.  cluster.c never holds a half-read state on an error return, so a
 * client stays usable after any interruption.
 */
#ifndef FLUSS_CLUSTER_H
#define FLUSS_CLUSTER_H

#include "arena.h"
#include "buf.h"

typedef enum fluss_api
{
	FLUSS_API_VERSIONS = 1000,
	FLUSS_API_CREATE_DATABASE = 1001,
	FLUSS_API_DROP_DATABASE = 1002,
	FLUSS_API_LIST_DATABASES = 1003,
	FLUSS_API_DATABASE_EXISTS = 1004,
	FLUSS_API_CREATE_TABLE = 1005,
	FLUSS_API_DROP_TABLE = 1006,
	FLUSS_API_GET_TABLE_INFO = 1007,
	FLUSS_API_LIST_TABLES = 1008,
	FLUSS_API_LIST_PARTITION_INFOS = 1009,
	FLUSS_API_GET_TABLE_SCHEMA = 1011,
	FLUSS_API_GET_METADATA = 1012,
	FLUSS_API_PRODUCE_LOG = 1014,
	FLUSS_API_FETCH_LOG = 1015,
	FLUSS_API_PUT_KV = 1016,
	FLUSS_API_LOOKUP = 1017,
	FLUSS_API_LIST_OFFSETS = 1021,
	FLUSS_API_GET_LATEST_KV_SNAPSHOTS = 1023,
	FLUSS_API_GET_KV_SNAPSHOT_METADATA = 1024,
	FLUSS_API_GET_FILESYSTEM_SECURITY_TOKEN = 1025,
	FLUSS_API_INIT_WRITER = 1026,
	FLUSS_API_LIMIT_SCAN = 1033,
	FLUSS_API_PREFIX_LOOKUP = 1034,
	FLUSS_API_CREATE_PARTITION = 1036,
	FLUSS_API_DROP_PARTITION = 1037,
	FLUSS_API_AUTHENTICATE = 1038,
	FLUSS_API_ALTER_TABLE = 1044,
	FLUSS_API_ACQUIRE_KV_SNAPSHOT_LEASE = 1056,
	FLUSS_API_DROP_KV_SNAPSHOT_LEASE = 1058,
	FLUSS_API_GET_TABLE_STATS = 1059,
	FLUSS_API_SCAN_KV = 1061
} fluss_api;

const fluss_host *fluss_client_host(fluss_client *client);
const fluss_config *fluss_client_config(fluss_client *client);
/* now + request_timeout: the deadline of a new operation with its retries */
int64_t fluss_client_deadline(fluss_client *client);
/* What failed last, of all that was to be tried again. */
fluss_error *fluss_client_failure(fluss_client *client);

/* ---- asynchronous requests */

typedef struct fluss_request fluss_request;

typedef enum fluss_request_state
{
	FLUSS_REQUEST_PENDING,
	FLUSS_REQUEST_DONE,			/* success frame: see fluss_request_answer */
	FLUSS_REQUEST_FAILED		/* see fluss_request_error */
} fluss_request_state;

#define FLUSS_NODE_COORDINATOR (-2)
#define FLUSS_NODE_ANY_TABLET (-3)

/*
 * Queues a request to a tablet server by node id, to the coordinator or to
 * any tablet server; connects first where needed.  body is the serialized
 * message; it is copied.  The api version is negotiated: what the server does
 * not offer fails with FLUSS_UNSUPPORTED.  When deadline_ms passes without an
 * answer the request fails with FLUSS_TIMED_OUT and its connection is closed.
 * A lost connection fails its requests with FLUSS_SEND_FAILED (sent_maybe
 * tells whether the server may have seen it).  Nothing is retried here, but a
 * request of which no byte had left moves to a new connection by itself.
 *
 * Waits only if no server of the cluster is known yet.  Deadlines stand still
 * between calls into the library: time that the host spends elsewhere does not
 * count.
 */
FLUSS_MUST_CHECK fluss_status fluss_request_start(fluss_client *client,
												  int32_t node,
												  fluss_api api,
												  const uint8_t *body,
												  size_t size,
												  int64_t deadline_ms,
												  fluss_request **request,
												  fluss_error *err);
fluss_request_state fluss_request_state_of(const fluss_request *request);
/* The message's bytes, valid until the request is freed. */
fluss_bytes fluss_request_answer(const fluss_request *request);
/* Why it failed: the error frame of the server, a lost connection, ... */
const fluss_error *fluss_request_error(const fluss_request *request);
bool fluss_request_sent_maybe(const fluss_request *request);
void fluss_request_free(fluss_request *request);

/*
 * Waits until some request of the client changed its state, or some time
 * passed (then state is unchanged and FLUSS_OK), or the host interrupts.
 */
FLUSS_MUST_CHECK fluss_status fluss_cluster_poll(fluss_client *client,
												 int64_t deadline_ms,
												 fluss_error *err);
/* Reads and writes what is ready, without waiting. */
void fluss_cluster_pump(fluss_client *client);
/* Sleeps in the wait hook (a pause before a retry), serving connections. */
FLUSS_MUST_CHECK fluss_status fluss_cluster_sleep(fluss_client *client,
												  int64_t ms, fluss_error *err);

/* Pause before try number attempt (0, 1, ...): 100 ms * 2^n up to 1 s. */
int64_t fluss_backoff_ms(int attempt);

/*
 * Start, wait, retry by the error's action until deadline_ms.  Only for
 * requests that may be repeated.  With a node id, an error that asks for
 * another server goes back to the caller, who chose this one.  counter may be
 * NULL.  The answer is a request to be freed by the caller.
 */
FLUSS_MUST_CHECK fluss_status fluss_request_call(fluss_client *client,
												 int32_t node, fluss_api api,
												 const uint8_t *body,
												 size_t size,
												 int64_t deadline_ms,
												 int64_t *counter,
												 fluss_request **answer,
												 fluss_error *err);

/* ---- leaders */

/*
 * Node id of a bucket's leader, from the cache; asks for metadata when it is
 * not known, until there is one or deadline_ms passes (FLUSS_CANNOT_CONNECT,
 * "no leader").
 */
FLUSS_MUST_CHECK fluss_status fluss_leader_find(fluss_client *client,
												fluss_table *table,
												int64_t partition_id,
												int32_t bucket,
												int64_t deadline_ms,
												int32_t *node,
												fluss_error *err);
/* Forgets the leaders of a table, so that the next find asks again. */
void fluss_leader_forget(fluss_client *client, fluss_table *table);
/*
 * Buckets of this partition will be asked for: the next question about leaders
 * of the table covers it too.
 */
void fluss_leader_expect(fluss_table *table, int64_t partition_id);
/*
 * After UNKNOWN_TABLE_OR_BUCKET: asks for the table's id by name again.
 * FLUSS_TABLE_CHANGED when the name now means another table (or none).
 */
FLUSS_MUST_CHECK fluss_status fluss_table_verify(fluss_client *client,
												 fluss_table *table,
												 fluss_error *err);

/*
 * Schema by id, from the table, the cache (for ever) or the server; lives as
 * long as the table object.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_schema(fluss_client *client,
												 fluss_table *table,
												 int32_t schema_id,
												 const fluss_schema **schema,
												 fluss_error *err);

/* ---- writer identity, shared by the writers of a client */

/* The client's writer id; asks for one when there is none. */
FLUSS_MUST_CHECK fluss_status fluss_client_writer_id(fluss_client *client,
													 fluss_table *table,
													 int64_t *writer_id,
													 int64_t *counter,
													 fluss_error *err);
/* The same, or -1 when there is none yet; asks nobody. */
int64_t fluss_client_known_writer_id(const fluss_client *client);
/* Next sequence number of a bucket; counts up. */
FLUSS_MUST_CHECK fluss_status fluss_client_next_sequence(fluss_client *client,
														 int64_t table_id,
														 int64_t partition_id,
														 int32_t bucket,
														 int32_t *sequence,
														 fluss_error *err);
/* A batch that had the sequence number under the writer id is written. */
void fluss_client_acknowledged(fluss_client *client, int64_t table_id,
							   int64_t partition_id, int32_t bucket,
							   int64_t writer_id, int32_t sequence);
/* The same is known of that batch, or of one after it. */
bool fluss_client_is_acknowledged(const fluss_client *client,
								  int64_t table_id, int64_t partition_id,
								  int32_t bucket, int64_t writer_id,
								  int32_t sequence);
/* Forgets the writer id: the next write starts anew. */
void fluss_client_discard_writer(fluss_client *client);
/* Where the list of the client's open writers begins; see writer_peers.c. */
fluss_writer **fluss_client_writers(fluss_client *client);

#endif							/* FLUSS_CLUSTER_H */
