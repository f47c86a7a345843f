/*
 * fluss_base.h
 *	  Part of fluss.h: errors, the host and the client.
 */
#ifndef FLUSS_BASE_H
#define FLUSS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FLUSS_MUST_CHECK __attribute__((warn_unused_result))

/* ---------------------------------------------------------------- errors */

typedef enum fluss_status
{
	FLUSS_OK = 0,
	FLUSS_INTERRUPTED,			/* the host's wait hook said so: unwind */
	FLUSS_TIMED_OUT,			/* a deadline passed */
	FLUSS_OUT_OF_MEMORY,		/* the host's allocator returned NULL */
	FLUSS_MEMORY_CAP,			/* would pass the handle's max_buffered_bytes */
	FLUSS_CANNOT_CONNECT,		/* no server reachable, or no leader */
	FLUSS_AUTH_FAILED,			/* the server refused the credentials */
	FLUSS_NOT_PERMITTED,		/* a file that may not be read */
	FLUSS_SEND_FAILED,			/* a request could not be sent */
	FLUSS_MALFORMED,			/* an answer or a stored batch is not valid */
	FLUSS_SERVER_ERROR,			/* see fluss_error.server_code */
	FLUSS_UNSUPPORTED,			/* this table, server or format cannot do it */
	FLUSS_VALUE_OUT_OF_RANGE,	/* number or decimal the Fluss type cannot hold */
	FLUSS_DATETIME_OVERFLOW,	/* date, time or timestamp it cannot hold */
	FLUSS_VALUE_TOO_LONG,		/* text or bytes longer than the Fluss type */
	FLUSS_NOT_NULL_VIOLATION,	/* NULL for a NOT NULL column */
	FLUSS_DATA_LOST,			/* offsets that the scan still needed are gone */
	FLUSS_TABLE_CHANGED,		/* the table was made again under this name */
	FLUSS_TOO_MANY_ROWS,		/* a limit scan would pass its row cap */
	FLUSS_INVALID_ARGUMENT,		/* the caller's mistake, e.g. a bad address list */
	FLUSS_PARTITION_EXPIRED,	/* the table's retention would drop it at once */
	FLUSS_NO_SUCH_KEY,			/* a key that no row can have */
	FLUSS_DISK_FULL				/* no space for temporary files */
} fluss_status;

/* Server error codes the callers look at (protocol: "Error codes"). */
#define FLUSS_CODE_UNKNOWN_SERVER_ERROR		(-1)
#define FLUSS_CODE_DATABASE_NOT_EXIST		4
#define FLUSS_CODE_DATABASE_NOT_EMPTY		5
#define FLUSS_CODE_DATABASE_ALREADY_EXIST	6
#define FLUSS_CODE_TABLE_NOT_EXIST			7
#define FLUSS_CODE_TABLE_ALREADY_EXIST		8
#define FLUSS_CODE_SCHEMA_NOT_EXIST			9
#define FLUSS_CODE_NOT_LEADER				12
#define FLUSS_CODE_OFFSET_OUT_OF_RANGE		19
#define FLUSS_CODE_UNKNOWN_TABLE_OR_BUCKET	21
#define FLUSS_CODE_OUT_OF_ORDER_SEQUENCE	31
#define FLUSS_CODE_DUPLICATE_SEQUENCE		32
#define FLUSS_CODE_INVALID_PROJECTION		34
#define FLUSS_CODE_PARTITION_NOT_EXISTS		36
#define FLUSS_CODE_INVALID_TIMESTAMP		38
#define FLUSS_CODE_PARTITION_ALREADY_EXISTS	42
#define FLUSS_CODE_AUTHENTICATE				46
#define FLUSS_CODE_AUTHORIZATION			48

typedef struct fluss_error
{
	fluss_status status;
	int			server_code;	/* Fluss error code; 0 when no server spoke */
	char		message[256];	/* lower case, no full stop: "could not ..." */
	char		detail[512];	/* sentences; peer, code and name, server text */
	char		hint[256];		/* advice, or empty */
	/* where a decode or data-loss error lies; bucket < 0 when it has no place */
	int64_t		partition_id;
	int32_t		bucket;
	int64_t		base_offset;	/* of the batch; -1 when not known */
	int64_t		next_offset;	/* where reading could go on past it, or -1 */
} fluss_error;

void fluss_error_init(fluss_error *err);
/* Name of a server error code, e.g. "TABLE_NOT_EXIST"; never NULL. */
const char *fluss_code_name(int server_code);

/* ------------------------------------------------------------------ host */

typedef struct fluss_pollfd
{
	int			fd;
	bool		want_read;
	bool		want_write;
} fluss_pollfd;

typedef enum fluss_wait_result
{
	FLUSS_WAIT_READY,			/* some socket may be ready: try them */
	FLUSS_WAIT_TIMEOUT,
	FLUSS_WAIT_INTERRUPTED		/* stop working, return to the caller */
} fluss_wait_result;

/*
 * What the library needs from its host.  No hook may jump out of the call.
 * The struct is copied by fluss_client_open and by each handle's open.
 */
typedef struct fluss_host
{
	void	   *arg;
	/* NULL on failure; memory need not be zeroed */
	void	   *(*alloc) (void *arg, size_t size);
	void		(*free) (void *arg, void *ptr);
	/* waits for a socket or timeout_ms (-1: for ever; 0: only looks) */
	fluss_wait_result (*wait) (void *arg, const fluss_pollfd *fds, int nfds,
							   int timeout_ms);
	/* monotonic milliseconds */
	int64_t		(*now_ms) (void *arg);
	/* a socket or file is about to be opened (false: refused) / was closed;
	 * may be NULL */
	bool		(*acquire_fd) (void *arg);
	void		(*release_fd) (void *arg, int fd);
	/* one line per request when asked for; may be NULL */
	void		(*log) (void *arg, const char *line);
} fluss_host;

/* ---------------------------------------------------------------- client */

typedef struct fluss_client fluss_client;

typedef struct fluss_config
{
	const char *bootstrap_servers;	/* "host:port,[::1]:port" */
	const char *address_map;	/* "advertised=reachable,..." or NULL */
	const char *client_id;		/* NULL: "fluss_fdw" */
	int			connect_timeout_ms; /* one server: resolve, connect, handshake */
	int			request_timeout_ms; /* one request with all its retries */
	bool		sasl;			/* SASL PLAIN with user and password */
	const char *user;
	const char *password;
	/* remote files: tiered segments and KV snapshots */
	const char *remote_files;	/* local path prefixes that may be opened,
								 * comma-separated; NULL: none */
	const char *s3_endpoint;	/* URL, or NULL: by region */
	const char *s3_region;		/* or NULL: as the cluster says */
	bool		s3_path_style;
	const char *s3_access_key;	/* NULL: the cluster's security token */
	const char *s3_secret_key;
} fluss_config;

/* Checks the lists and copies the configuration; does no I/O. */
FLUSS_MUST_CHECK fluss_status fluss_client_open(const fluss_host *host,
												const fluss_config *config,
												fluss_client **client,
												fluss_error *err);
/* Closes every socket.  Handles opened on the client must be closed before. */
void fluss_client_close(fluss_client *client);

/* Checks a bootstrap list, an address map or a URL without keeping it. */
FLUSS_MUST_CHECK fluss_status fluss_check_bootstrap_servers(const char *list,
															fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_check_address_map(const char *list,
													  fluss_error *err);
FLUSS_MUST_CHECK fluss_status fluss_check_s3_endpoint(const char *url,
													  fluss_error *err);

typedef struct fluss_node
{
	int32_t		node_id;
	bool		coordinator;
	const char *host;
	int32_t		port;
	const char *rack;			/* or NULL */
} fluss_node;

/* Live servers, freshly asked.  The array lives until the next such call. */
FLUSS_MUST_CHECK fluss_status fluss_client_nodes(fluss_client *client,
												 const fluss_node **nodes,
												 int *nnodes, fluss_error *err);

/* Versions of the libraries used, as "name version" strings, NULL-ended. */
const char *const *fluss_library_versions(void);

#endif							/* FLUSS_BASE_H */
