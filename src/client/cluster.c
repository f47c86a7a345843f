/*
 * cluster.c
 *	  The client, its connections, and the one loop that serves them.
 *
 * Every public function that serves connections first moves their deadlines by
 * the time for which nobody did: a cursor that is read again after an hour
 * must not find its requests timed out while their answers lie in the socket.
 */
#include <limits.h>
#include <string.h>

#include "client.h"

/* ---- opening and closing */

static bool
copy_text(fluss_arena *arena, const char *text, const char **copy)
{
	*copy = text == NULL ? NULL : fluss_arena_strdup(arena, text);
	return text == NULL || *copy != NULL;
}

static fluss_status
copy_config(fluss_client *client, const fluss_config *config, fluss_error *err)
{
	fluss_config *copy = &client->config;
	fluss_status status;

	*copy = *config;
	if (!copy_text(&client->arena, config->bootstrap_servers,
				   &copy->bootstrap_servers) ||
		!copy_text(&client->arena, config->address_map, &copy->address_map) ||
		!copy_text(&client->arena, config->client_id != NULL ?
				   config->client_id : "fluss_fdw", &copy->client_id) ||
		!copy_text(&client->arena, config->user, &copy->user) ||
		!copy_text(&client->arena, config->password, &copy->password) ||
		!copy_text(&client->arena, config->remote_files,
				   &copy->remote_files) ||
		!copy_text(&client->arena, config->s3_endpoint, &copy->s3_endpoint) ||
		!copy_text(&client->arena, config->s3_region, &copy->s3_region) ||
		!copy_text(&client->arena, config->s3_access_key,
				   &copy->s3_access_key) ||
		!copy_text(&client->arena, config->s3_secret_key,
				   &copy->s3_secret_key))
		return fluss_fail_memory(err);
	status = fluss_address_list(&client->arena, copy->bootstrap_servers,
								&client->bootstrap, &client->nbootstrap, err);
	if (status != FLUSS_OK)
		return status;
	return fluss_address_map(&client->arena, copy->address_map,
							 &client->address_map, &client->naddress_map, err);
}

static fluss_status
check_config(const fluss_config *config, fluss_error *err)
{
	if (config->connect_timeout_ms <= 0 || config->request_timeout_ms <= 0)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "timeouts must be greater than zero");
	if (config->sasl && (config->user == NULL || config->password == NULL))
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "SASL needs a user and a password");
	return FLUSS_OK;
}

fluss_status
fluss_client_open(const fluss_host *host, const fluss_config *config,
				  fluss_client **client, fluss_error *err)
{
	fluss_arena arena;
	fluss_client *new;
	fluss_status status = check_config(config, err);

	if (status != FLUSS_OK)
		return status;
	fluss_arena_init(&arena, host);
	new = fluss_arena_alloc0(&arena, sizeof(*new));
	if (new == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &new->arena, &new->host);
	new->env.host = &new->host;
	new->env.config = &new->config;
	new->writer_id = -1;
	new->left_ms = fluss_client_now(new);
	/* so that several backends do not all take the same server */
	new->turn = (unsigned) new->left_ms;
	fluss_arena_init(&new->nodes_arena, &new->host);
	fluss_arena_init(&new->nodes_result, &new->host);
	fluss_arena_init(&new->buckets_result, &new->host);
	fluss_arena_init(&new->databases_result, &new->host);
	fluss_arena_init(&new->tables_result, &new->host);
	fluss_arena_init(&new->sequences_arena, &new->host);
	status = copy_config(new, config, err);
	if (status != FLUSS_OK)
	{
		fluss_client_close(new);
		return status;
	}
	*client = new;
	return FLUSS_OK;
}

static void
wipe(const char *secret)
{
	if (secret != NULL)
		explicit_bzero((char *) secret, strlen(secret));
}

void
fluss_client_close(fluss_client *client)
{
	if (client == NULL)
		return;
	while (client->conns != NULL)
	{
		fluss_conn *conn = client->conns;

		client->conns = conn->next;
		fluss_conn_free(conn);
	}
	fluss_remote_close(client->remote);
	fluss_tables_free(client);
	if (client->fds != NULL)
		client->host.free(client->host.arg, client->fds);
	wipe(client->config.password);
	wipe(client->config.s3_secret_key);
	fluss_arena_free(&client->sequences_arena);
	fluss_arena_free(&client->tables_result);
	fluss_arena_free(&client->databases_result);
	fluss_arena_free(&client->buckets_result);
	fluss_arena_free(&client->nodes_result);
	fluss_arena_free(&client->nodes_arena);
	fluss_arena_free_owner(&client->arena);
}

const fluss_host *
fluss_client_host(fluss_client *client)
{
	return &client->host;
}

const fluss_config *
fluss_client_config(fluss_client *client)
{
	return &client->config;
}

int64_t
fluss_client_now(const fluss_client *client)
{
	return client->host.now_ms(client->host.arg);
}

int64_t
fluss_client_deadline(fluss_client *client)
{
	return fluss_client_now(client) + client->config.request_timeout_ms;
}

fluss_error *
fluss_client_failure(fluss_client *client)
{
	return &client->failure;
}

/* ---- connections */

static bool
same_address(fluss_address a, fluss_address b)
{
	return a.port == b.port && strcmp(a.host, b.host) == 0;
}

static fluss_conn *
add_conn(fluss_client *client, fluss_address address, const char *label)
{
	fluss_conn *conn = fluss_conn_new(&client->env, address, label);

	if (conn == NULL)
		return NULL;
	conn->next = client->conns;
	client->conns = conn;
	return conn;
}

fluss_conn *
fluss_cluster_conn(fluss_client *client, fluss_address advertised,
				   fluss_address reachable)
{
	char		label[FLUSS_LABEL_SIZE];

	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		if (!conn->retired && same_address(conn->address, reachable))
			return conn;
	}
	fluss_address_print(advertised, label, sizeof(label));
	return add_conn(client, reachable, label);
}

/*
 * The old connection takes no new requests, and lives for those that still
 * wait on it.
 */
static void
replace_conn(fluss_client *client, fluss_conn *conn)
{
	fluss_conn *fresh;

	conn->retired = true;
	conn->stalled = false;
	conn->held_since_ms = 0;
	fresh = add_conn(client, conn->address, conn->label);
	fluss_conn_move_waiting(conn, fresh);
}

static void
free_retired(fluss_client *client)
{
	fluss_conn **link = &client->conns;

	while (*link != NULL)
	{
		fluss_conn *conn = *link;

		if (conn->retired && !fluss_conn_has_owners(conn))
		{
			*link = conn->next;
			fluss_conn_free(conn);
		}
		else
			link = &conn->next;
	}
}

static void
step_all(fluss_client *client)
{
	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		if (conn->requests == NULL)
			continue;
		fluss_conn_step(conn);
		if (conn->stalled)
			replace_conn(client, conn);
	}
	free_retired(client);
	if (client->remote != NULL && fluss_remote_step(client->remote))
		client->env.finished = true;
}

/* ---- serving them */

static void
enter(fluss_client *client)
{
	int64_t		away = fluss_client_now(client) - client->left_ms;

	if (away <= 0)
		return;
	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		if (conn->requests != NULL)
			fluss_conn_postpone(conn, away);
	}
	if (client->remote != NULL)
		fluss_remote_postpone(client->remote, away);
}

static void
leave(fluss_client *client)
{
	client->left_ms = fluss_client_now(client);
}

static bool
reserve_fds(fluss_client *client)
{
	const fluss_host *host = &client->host;
	int			needed = 0;

	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
		needed += FLUSS_RESOLVER_FDS;
	if (client->remote != NULL)
		needed += fluss_remote_max_fds(client->remote);
	if (needed <= client->max_fds)
		return true;
	if (client->fds != NULL)
		host->free(host->arg, client->fds);
	client->max_fds = needed * 2;
	client->fds = host->alloc(host->arg,
							  client->max_fds * sizeof(*client->fds));
	if (client->fds == NULL)
		client->max_fds = 0;
	return client->fds != NULL;
}

/* One wait for all connections, until one is ready or something is due. */
static fluss_status
wait_once(fluss_client *client, int64_t until_ms, fluss_error *err)
{
	const fluss_host *host = &client->host;
	int64_t		left;
	int			nfds = 0;

	if (!reserve_fds(client))
		return fluss_fail_memory(err);
	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
		nfds += fluss_conn_fds(conn, client->fds + nfds, &until_ms);
	if (client->remote != NULL)
		nfds += fluss_remote_fds(client->remote, client->fds + nfds, &until_ms);
	left = until_ms - fluss_client_now(client);
	if (left < 0)
		left = 0;
	if (left > INT_MAX)
		left = INT_MAX;
	if (host->wait(host->arg, client->fds, nfds,
				   (int) left) == FLUSS_WAIT_INTERRUPTED)
		return fluss_fail(err, FLUSS_INTERRUPTED, "interrupted");
	return FLUSS_OK;
}

fluss_status
fluss_cluster_poll(fluss_client *client, int64_t deadline_ms, fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	enter(client);
	for (;;)
	{
		step_all(client);
		if (client->env.finished || fluss_client_now(client) >= deadline_ms)
			break;
		status = wait_once(client, deadline_ms, err);
		if (status != FLUSS_OK)
			break;
	}
	client->env.finished = false;
	leave(client);
	return status;
}

void
fluss_cluster_pump(fluss_client *client)
{
	enter(client);
	step_all(client);
	leave(client);
}

/* Also asks the host for interrupts when there is no time to sleep. */
fluss_status
fluss_cluster_sleep(fluss_client *client, int64_t ms, fluss_error *err)
{
	int64_t		until_ms = fluss_client_now(client) + ms;
	fluss_status status;

	enter(client);
	do
	{
		step_all(client);
		status = wait_once(client, until_ms, err);
	} while (status == FLUSS_OK && fluss_client_now(client) < until_ms);
	leave(client);
	return status;
}

/* ---- requests */

fluss_status
fluss_cluster_start(fluss_client *client, fluss_conn *conn, fluss_api api,
					const uint8_t *body, size_t size, int64_t deadline_ms,
					fluss_request **request, fluss_error *err)
{
	fluss_status status;

	status = fluss_request_new(&client->env, api, body, size, deadline_ms,
							   request, err);
	if (status != FLUSS_OK)
		return status;
	enter(client);
	fluss_conn_submit(conn, *request);
	leave(client);
	return FLUSS_OK;
}

fluss_status
fluss_request_start(fluss_client *client, int32_t node, fluss_api api,
					const uint8_t *body, size_t size, int64_t deadline_ms,
					fluss_request **request, fluss_error *err)
{
	const fluss_node *found;
	fluss_address advertised;
	fluss_conn *conn;

	if (client->nnodes == 0)
	{
		fluss_status status = fluss_nodes_refresh(client, deadline_ms, err);

		if (status != FLUSS_OK)
			return status;
	}
	found = fluss_nodes_find(client, node, api);
	if (found == NULL)
	{
		if (node >= 0)
			return fluss_fail(err, FLUSS_CANNOT_CONNECT,
							  "Fluss tablet server %d is not available", node);
		return fluss_fail(err, FLUSS_CANNOT_CONNECT,
						  "Fluss cluster has no %s", node == FLUSS_NODE_COORDINATOR ?
						  "coordinator at the moment" : "tablet server");
	}
	advertised.host = found->host;
	advertised.port = found->port;
	conn = fluss_cluster_conn(client, advertised,
							  fluss_address_reachable(client->address_map,
													  client->naddress_map,
													  advertised));
	if (conn == NULL)
		return fluss_fail_memory(err);
	return fluss_cluster_start(client, conn, api, body, size, deadline_ms,
							   request, err);
}

/* The request's own deadline ends the wait. */
fluss_status
fluss_cluster_wait(fluss_client *client, fluss_request *request,
				   fluss_error *err)
{
	fluss_status status = FLUSS_OK;

	while (request->state == FLUSS_REQUEST_PENDING && status == FLUSS_OK)
		status = fluss_cluster_poll(client, INT64_MAX, err);
	if (status == FLUSS_OK && request->state == FLUSS_REQUEST_FAILED)
	{
		*err = request->error;
		status = err->status;
	}
	return status;
}
