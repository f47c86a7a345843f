/*
 * connection.c
 *	  One Fluss client per user mapping, kept across transactions.
 *
 * A client is counted by the memory contexts that use it (a plan, a scan, a
 * function call).  ALTER SERVER or ALTER USER MAPPING marks it invalid: users
 * that are under way finish with it, new ones get a new client, and the old one
 * is closed with its last user.  With keep_connections off a client is closed
 * after the transaction, also with its last user.  Closing never waits and
 * never throws, so it may happen in a reset callback.
 *
 * There is no flag for an exchange cut short: the client library keeps its
 * connections whole whatever interrupts a wait.
 */
#include "fluss_fdw.h"

#include "access/xact.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_user_mapping.h"
#include "lib/ilist.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

typedef struct FlussClient
{
	dlist_node	node;			/* in clients */
	MemoryContext context;		/* everything of the client, this struct too */
	fluss_client *client;
	Oid			umid;
	Oid			serverid;
	uint32		mapping_hash;
	uint32		server_hash;
	int			users;
	bool		invalid;		/* its server or mapping changed */
	bool		keep;			/* keep_connections */
} FlussClient;

/* A use of a client by a memory context. */
typedef struct FlussClientUse
{
	MemoryContextCallback callback;
	FlussConnection connection;
} FlussClientUse;

/* What planning asked for in vain. */
typedef struct FlussFailure
{
	Oid			umid;
	Oid			relid;			/* InvalidOid: raised by now */
	TimestampTz statement;
	bool		no_server;		/* no server was reached: the other tables' too */
	fluss_error error;
} FlussFailure;

static dlist_head clients = DLIST_STATIC_INIT(clients);
static FlussFailure last_failure;

static void
close_client(FlussClient *entry)
{
	dlist_delete(&entry->node);
	fluss_client_close(entry->client);
	MemoryContextDelete(entry->context);
}

/* Plans live in memory that outlives the transaction that made them. */
static bool
is_after_transaction(void)
{
	return !IsTransactionState() && GetCurrentTransactionNestLevel() <= 1;
}

static void
release_use(void *arg)
{
	FlussClientUse *use = arg;
	FlussClient *entry = use->connection.owner;

	use->connection.owner = NULL;
	if (entry == NULL)
		return;
	entry->users--;
	if (entry->users == 0 &&
		(entry->invalid || (!entry->keep && is_after_transaction())))
		close_client(entry);
}

static FlussClient *
find_client(Oid umid)
{
	dlist_iter	iter;

	dlist_foreach(iter, &clients)
	{
		FlussClient *entry = dlist_container(FlussClient, node, iter.cur);

		if (entry->umid == umid && !entry->invalid)
			return entry;
	}
	return NULL;
}

/*
 * With SASL the server asks who we are: a user who is no superuser must bring
 * a password of the mapping, not act as whoever the server trusts.
 */
static void
check_credentials(const FlussOptions *options, const FlussUserOptions *user,
				  ForeignServer *server, Oid userid)
{
	if (!options->sasl)
		return;
	if (user->password == NULL && user->password_required &&
		!superuser_arg(userid))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("password is required for server \"%s\"",
						server->servername),
				 errdetail("Non-superusers must provide a password in the user mapping.")));
	if (user->user == NULL || user->password == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FDW_UNABLE_TO_ESTABLISH_CONNECTION),
				 errmsg("could not connect to server \"%s\"",
						server->servername),
				 errdetail("The user mapping lacks a user or a password for SASL."),
				 errhint("Set the options user and password of the user mapping.")));
}

static void
delete_context(void *arg)
{
	MemoryContextDelete((MemoryContext) arg);
}

static FlussClient *
make_client(UserMapping *mapping, ForeignServer *server)
{
	FlussOptions *options = FlussGetServerOptions(server);
	FlussUserOptions user;
	fluss_config config = {0};
	fluss_host	host;
	fluss_error err;
	FlussClient *entry;
	MemoryContext context;
	fluss_status status;

	FlussGetUserOptions(mapping, &user);
	check_credentials(options, &user, server, mapping->userid);

	context = AllocSetContextCreate(TopMemoryContext, "fluss client",
									ALLOCSET_DEFAULT_SIZES);
	entry = MemoryContextAllocZero(context, sizeof(*entry));
	entry->context = context;
	entry->umid = mapping->umid;
	entry->serverid = server->serverid;
	entry->mapping_hash = GetSysCacheHashValue1(USERMAPPINGOID,
												ObjectIdGetDatum(mapping->umid));
	entry->server_hash = GetSysCacheHashValue1(FOREIGNSERVEROID,
											   ObjectIdGetDatum(server->serverid));
	entry->keep = options->keep_connections;

	config.bootstrap_servers = options->bootstrap_servers;
	config.address_map = options->address_map;
	config.client_id = options->client_id;
	config.connect_timeout_ms = options->connect_timeout_ms;
	config.request_timeout_ms = options->request_timeout_ms;
	config.sasl = options->sasl;
	config.user = user.user;
	config.password = user.password;
	config.remote_files = options->remote_files;
	config.s3_endpoint = options->s3_endpoint;
	config.s3_region = options->s3_region;
	config.s3_path_style = options->s3_path_style;
	config.s3_access_key = user.s3_access_key;
	config.s3_secret_key = user.s3_secret_key;

	host = FlussHost(context);
	fluss_error_init(&err);
	status = fluss_client_open(&host, &config, &entry->client, &err);
	if (status != FLUSS_OK)
	{
		delete_context(context);
		FlussRaise(&err, NULL);
	}
	dlist_push_head(&clients, &entry->node);
	return entry;
}

/* The use was allocated before: nothing may fail between counting and registering. */
static FlussConnection *
register_use(FlussClientUse *use, FlussClient *entry, MemoryContext context)
{
	use->connection.umid = entry->umid;
	use->connection.serverid = entry->serverid;
	use->connection.client = entry->client;
	use->connection.owner = entry;
	use->callback.func = release_use;
	use->callback.arg = use;
	entry->users++;
	MemoryContextRegisterResetCallback(context, &use->callback);
	return &use->connection;
}

FlussConnection *
FlussGetConnection(Oid userid, Oid serverid, MemoryContext context)
{
	UserMapping *mapping = GetUserMapping(userid, serverid);
	FlussClient *entry = find_client(mapping->umid);
	FlussClientUse *use = MemoryContextAllocZero(context, sizeof(*use));

	if (entry == NULL)
		entry = make_client(mapping, GetForeignServer(serverid));
	return register_use(use, entry, context);
}

FlussConnection *
FlussShareConnection(const FlussConnection *conn, MemoryContext context)
{
	FlussClientUse *use = MemoryContextAllocZero(context, sizeof(*use));

	return register_use(use, conn->owner, context);
}

static bool
failed_in_statement(const FlussConnection *conn)
{
	return OidIsValid(last_failure.relid) &&
		last_failure.umid == conn->umid &&
		last_failure.statement == GetCurrentStatementStartTimestamp();
}

void
FlussRememberFailure(FlussConnection *conn, Oid relid, bool metadata,
					 const fluss_error *err)
{
	/* that no server is there tells more */
	if (!metadata && failed_in_statement(conn) && last_failure.no_server)
		return;
	last_failure.umid = conn->umid;
	last_failure.relid = relid;
	last_failure.statement = GetCurrentStatementStartTimestamp();
	last_failure.no_server = metadata &&
		(err->status == FLUSS_CANNOT_CONNECT || err->status == FLUSS_TIMED_OUT);
	last_failure.error = *err;
}

bool
FlussNoServer(const FlussConnection *conn, fluss_error *err)
{
	if (!failed_in_statement(conn) || !last_failure.no_server)
		return false;
	*err = last_failure.error;
	return true;
}

void
FlussForgetFailure(void)
{
	last_failure.relid = InvalidOid;
}

/* Gives a remembered failure once, and only to the same statement. */
bool
FlussRecallFailure(FlussConnection *conn, Oid relid, bool has_metadata,
				   fluss_error *err)
{
	if (!failed_in_statement(conn) ||
		(last_failure.relid != relid &&
		 (has_metadata || !last_failure.no_server)))
		return false;
	*err = last_failure.error;
	FlussForgetFailure();
	return true;
}

/* Closes what is not to be kept; called when nothing of the client runs. */
static void
close_unused(void)
{
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &clients)
	{
		FlussClient *entry = dlist_container(FlussClient, node, iter.cur);

		if (entry->users == 0 && (entry->invalid || !entry->keep))
			close_client(entry);
	}
}

/* The user of a mapping; NULL when the mapping was dropped. */
static const char *
mapping_user(Oid umid)
{
	HeapTuple	tuple = SearchSysCache1(USERMAPPINGOID, ObjectIdGetDatum(umid));
	Oid			user;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	user = ((Form_pg_user_mapping) GETSTRUCT(tuple))->umuser;
	ReleaseSysCache(tuple);
	return OidIsValid(user) ? GetUserNameFromId(user, true) : "public";
}

FlussConnectionInfo *
FlussConnections(int *n)
{
	FlussConnectionInfo *infos;
	dlist_iter	iter;

	*n = 0;
	dlist_foreach(iter, &clients)
		(*n)++;
	infos = palloc0(sizeof(*infos) * Max(*n, 1));
	*n = 0;
	dlist_foreach(iter, &clients)
	{
		FlussClient *entry = dlist_container(FlussClient, node, iter.cur);
		ForeignServer *server = GetForeignServerExtended(entry->serverid,
														 FSV_MISSING_OK);
		FlussConnectionInfo *info = &infos[(*n)++];

		info->server = server != NULL ? server->servername : NULL;
		info->user = mapping_user(entry->umid);
		info->valid = !entry->invalid;
		info->in_use = entry->users > 0;
	}
	return infos;
}

bool
FlussDisconnect(Oid serverid)
{
	bool		closed = false;
	dlist_mutable_iter iter;

	dlist_foreach_modify(iter, &clients)
	{
		FlussClient *entry = dlist_container(FlussClient, node, iter.cur);

		if (OidIsValid(serverid) && entry->serverid != serverid)
			continue;
		if (entry->users == 0)
		{
			close_client(entry);
			closed = true;
		}
		else
			ereport(WARNING,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("connections to server \"%s\" are still in use",
							GetForeignServer(entry->serverid)->servername)));
	}
	return closed;
}

static void
xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		close_unused();
}

/* hashvalue 0 means that everything may have changed */
static void
inval_callback(Datum arg, int cacheid, uint32 hashvalue)
{
	dlist_iter	iter;

	dlist_foreach(iter, &clients)
	{
		FlussClient *entry = dlist_container(FlussClient, node, iter.cur);
		uint32		hash = cacheid == FOREIGNSERVEROID ?
			entry->server_hash : entry->mapping_hash;

		if (hashvalue == 0 || hashvalue == hash)
			entry->invalid = true;
	}
}

void
FlussConnectionInit(void)
{
	RegisterXactCallback(xact_callback, NULL);
	CacheRegisterSyscacheCallback(FOREIGNSERVEROID, inval_callback, (Datum) 0);
	CacheRegisterSyscacheCallback(USERMAPPINGOID, inval_callback, (Datum) 0);
}
