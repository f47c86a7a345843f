/*
 * nodes.c
 *	  The servers of the cluster: finding the first one, and who they are.
 *
 * Metadata can be had from any server.  Those known from earlier answers are
 * asked first, then the bootstrap list.  They are asked one after another, but
 * none is waited for alone for longer than STAGGER_MS: then the next one is
 * asked too, and the first answer wins.
 */
#include <stdio.h>
#include <string.h>

#include "client.h"

#define STAGGER_MS		1000
/* How often a cluster is tried of which no server can be reached. */
#define UNREACHABLE_TRIES	3

typedef struct candidate
{
	fluss_address advertised;
	fluss_address reachable;
	fluss_request *request;		/* NULL: not asked yet, or has failed */
	fluss_error error;
} candidate;

typedef struct question
{
	fluss_client *client;
	fluss_arena *scratch;
	candidate  *candidates;
	int			ncandidates;
	int			asked;			/* the first so many */
	int			pending;
	fluss_buf	body;
	int64_t		deadline_ms;
	fluss_request *winner;
} question;

/* ---- who to send to */

static int
rank_node(fluss_client *client, const fluss_node *node)
{
	fluss_address advertised = {node->host, node->port};
	fluss_address reachable = fluss_address_reachable(client->address_map,
													  client->naddress_map,
													  advertised);

	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		if (conn->retired || conn->address.port != reachable.port ||
			strcmp(conn->address.host, reachable.host) != 0)
			continue;
		if (conn->state == FLUSS_CONN_READY)
			return 3;
		return conn->reason[0] == '\0' ? 2 : 0;
	}
	return 1;
}

static const fluss_node *
choose_tablet(fluss_client *client)
{
	const fluss_node *best = NULL;
	int			best_rank = -1;

	for (int i = 0; i < client->nnodes; i++)
	{
		int			at = (int) ((client->turn + (unsigned) i) %
								(unsigned) client->nnodes);
		const fluss_node *node = &client->nodes[at];
		int			rank = node->coordinator ? -1 : rank_node(client, node);

		if (rank > best_rank)
		{
			best = node;
			best_rank = rank;
		}
	}
	/* the next request looks elsewhere first when this server does not answer */
	if (best_rank < 3)
		client->turn++;
	return best;
}

const fluss_node *
fluss_nodes_find(fluss_client *client, int32_t node, fluss_api api)
{
	const fluss_node *coordinator = NULL;
	const fluss_node *tablet;

	for (int i = 0; i < client->nnodes; i++)
	{
		if (client->nodes[i].coordinator)
			coordinator = &client->nodes[i];
		else if (client->nodes[i].node_id == node)
			return &client->nodes[i];
	}
	if (node == FLUSS_NODE_COORDINATOR)
		return coordinator;
	if (node != FLUSS_NODE_ANY_TABLET)
		return NULL;
	tablet = choose_tablet(client);
	if (tablet == NULL && fluss_apis[fluss_api_index(api)].role == FLUSS_ROLE_ANY)
		return coordinator;
	return tablet;
}

/* ---- taking over what an answer says */

static bool
copy_node(fluss_arena *arena, const fluss_node *from, fluss_node *to)
{
	*to = *from;
	to->host = fluss_arena_strdup(arena, from->host);
	to->rack = from->rack == NULL ? NULL :
		fluss_arena_strdup(arena, from->rack);
	return to->host != NULL && (from->rack == NULL || to->rack != NULL);
}

/* Closes idle connections to addresses that are no server's any more. */
static void
close_others(fluss_client *client)
{
	for (fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		bool		known = false;

		for (int i = 0; i < client->nnodes && !known; i++)
		{
			fluss_address advertised = {
				client->nodes[i].host, client->nodes[i].port
			};
			fluss_address reachable =
				fluss_address_reachable(client->address_map,
										client->naddress_map, advertised);

			known = reachable.port == conn->address.port &&
				strcmp(reachable.host, conn->address.host) == 0;
		}
		if (!known && conn->requests == NULL)
			conn->retired = true;
	}
}

static fluss_status
take_nodes(fluss_client *client, const fluss_metadata *metadata,
		   fluss_error *err)
{
	fluss_arena arena;
	fluss_node *nodes;

	/* an answer without servers tells nothing to go by */
	if (metadata->nnodes == 0)
		return FLUSS_OK;
	fluss_arena_init(&arena, &client->host);
	nodes = fluss_arena_array(&arena, metadata->nnodes, sizeof(*nodes));
	for (int i = 0; nodes != NULL && i < metadata->nnodes; i++)
	{
		if (!copy_node(&arena, &metadata->nodes[i], &nodes[i]))
			nodes = NULL;
	}
	if (nodes == NULL)
	{
		fluss_arena_free(&arena);
		return fluss_fail_memory(err);
	}
	fluss_arena_free(&client->nodes_arena);
	client->nodes_arena = arena;
	client->nodes = nodes;
	client->nnodes = metadata->nnodes;
	close_others(client);
	return FLUSS_OK;
}

/* ---- asking */

static void
add_candidate(question *q, fluss_address advertised, fluss_address reachable)
{
	for (int i = 0; i < q->ncandidates; i++)
	{
		if (q->candidates[i].reachable.port == reachable.port &&
			strcmp(q->candidates[i].reachable.host, reachable.host) == 0)
			return;
	}
	q->candidates[q->ncandidates].advertised = advertised;
	q->candidates[q->ncandidates].reachable = reachable;
	q->candidates[q->ncandidates].request = NULL;
	q->ncandidates++;
}

static bool
copy_address(fluss_arena *arena, fluss_address *address)
{
	address->host = fluss_arena_strdup(arena, address->host);
	return address->host != NULL;
}

/*
 * Addresses are copied: those of the nodes may go while the question is open.
 */
static fluss_status
find_candidates(question *q, fluss_error *err)
{
	fluss_client *client = q->client;
	int			most = client->nnodes + client->nbootstrap;

	q->ncandidates = 0;
	q->asked = 0;
	q->pending = 0;
	q->winner = NULL;
	q->candidates = fluss_arena_array(q->scratch, most,
									  sizeof(*q->candidates));
	if (q->candidates == NULL)
		return fluss_fail_memory(err);
	for (int rank = 3; rank >= 0; rank--)
	{
		for (int i = 0; i < client->nnodes; i++)
		{
			int			at = (int) ((client->turn + (unsigned) i) %
									(unsigned) client->nnodes);
			fluss_address advertised = {
				client->nodes[at].host, client->nodes[at].port
			};

			if (rank_node(client, &client->nodes[at]) == rank)
				add_candidate(q, advertised,
							  fluss_address_reachable(client->address_map,
													  client->naddress_map,
													  advertised));
		}
	}
	for (int i = 0; i < client->nbootstrap; i++)
		add_candidate(q, client->bootstrap[i], client->bootstrap[i]);
	for (int i = 0; i < q->ncandidates; i++)
	{
		if (!copy_address(q->scratch, &q->candidates[i].advertised) ||
			!copy_address(q->scratch, &q->candidates[i].reachable))
			return fluss_fail_memory(err);
	}
	return FLUSS_OK;
}

static fluss_status
ask_next(question *q, fluss_error *err)
{
	candidate  *next = &q->candidates[q->asked];
	fluss_conn *conn = fluss_cluster_conn(q->client, next->advertised,
										  next->reachable);
	fluss_status status;

	if (conn == NULL)
		return fluss_fail_memory(err);
	status = fluss_cluster_start(q->client, conn, FLUSS_API_GET_METADATA,
								 q->body.data, q->body.size, q->deadline_ms,
								 &next->request, err);
	if (status != FLUSS_OK)
		return status;
	q->asked++;
	q->pending++;
	return FLUSS_OK;
}

/* Another server may do better. */
static bool
may_ask_another(const fluss_error *error)
{
	return fluss_status_is_network(error->status) ||
		error->status == FLUSS_TIMED_OUT ||
		error->status == FLUSS_MALFORMED ||
		(error->status == FLUSS_SERVER_ERROR &&
		 fluss_code_to_action(error->server_code) != FLUSS_ACTION_FAIL);
}

/* Looks at those that have finished.  An error here ends the question. */
static fluss_status
collect_answers(question *q, fluss_error *err)
{
	for (int i = 0; i < q->asked; i++)
	{
		candidate  *c = &q->candidates[i];

		if (c->request == NULL || c->request->state == FLUSS_REQUEST_PENDING)
			continue;
		q->pending--;
		if (c->request->state == FLUSS_REQUEST_DONE)
		{
			q->winner = c->request;
			c->request = NULL;
			return FLUSS_OK;
		}
		c->error = c->request->error;
		fluss_request_free(c->request);
		c->request = NULL;
		if (!may_ask_another(&c->error))
		{
			*err = c->error;
			return err->status;
		}
	}
	return FLUSS_OK;
}

static fluss_status
ask_all(question *q, fluss_error *err)
{
	fluss_status status = find_candidates(q, err);
	int64_t		next_ms = 0;

	while (status == FLUSS_OK && q->winner == NULL &&
		   (q->pending > 0 || q->asked < q->ncandidates))
	{
		int64_t		now = fluss_client_now(q->client);

		if (q->asked < q->ncandidates && (q->pending == 0 || now >= next_ms))
		{
			status = ask_next(q, err);
			next_ms = now + STAGGER_MS;
		}
		else
			status = fluss_cluster_poll(q->client,
										q->asked < q->ncandidates ?
										next_ms : INT64_MAX, err);
		if (status == FLUSS_OK)
			status = collect_answers(q, err);
	}
	for (int i = 0; i < q->asked; i++)
	{
		fluss_request_free(q->candidates[i].request);
		q->candidates[i].request = NULL;
	}
	return status;
}

/* What a server said says more than that others cannot be reached. */
static const fluss_error *
server_error(const question *q)
{
	for (int i = 0; i < q->ncandidates; i++)
	{
		if (q->candidates[i].error.status == FLUSS_SERVER_ERROR)
			return &q->candidates[i].error;
	}
	return NULL;
}

/* Every server and why it failed. */
static fluss_status
fail_all(const question *q, fluss_error *err)
{
	const fluss_error *told = server_error(q);

	*err = told != NULL ? *told : q->candidates[0].error;
	if (told != NULL || q->ncandidates == 1)
		return err->status;
	(void) fluss_fail(err, FLUSS_CANNOT_CONNECT,
					  "could not connect to any Fluss server");
	for (int i = 0; i < q->ncandidates; i++)
	{
		const candidate *c = &q->candidates[i];
		fluss_conn *conn = fluss_cluster_conn(q->client, c->advertised,
											  c->reachable);
		char		label[FLUSS_LABEL_SIZE];

		fluss_address_print(c->advertised, label, sizeof(label));
		fluss_error_detail(err, "%s: %s.", label,
						   conn != NULL && conn->reason[0] != '\0' ?
						   conn->reason : c->error.message);
	}
	return err->status;
}

/*
 * Tries again when a server said that it will do better later, and, if there
 * was a connection to the cluster before, when none can be reached.
 */
static fluss_status
ask_until(question *q, fluss_error *err)
{
	bool		known = q->client->nnodes > 0;
	int			unreachable = 0;
	fluss_status status;

	for (int attempt = 0;; attempt++)
	{
		int64_t		pause = fluss_backoff_ms(attempt);

		status = ask_all(q, err);
		if (status != FLUSS_OK || q->winner != NULL)
			return status;
		status = fail_all(q, err);
		if (err->status != FLUSS_SERVER_ERROR &&
			(!known || ++unreachable >= UNREACHABLE_TRIES))
			return status;
		if (fluss_client_now(q->client) + pause >= q->deadline_ms)
			return status;
		status = fluss_cluster_sleep(q->client, pause, err);
		if (status != FLUSS_OK)
			return status;
		fluss_arena_reset(q->scratch);
	}
}

fluss_status
fluss_nodes_ask(fluss_client *client, const char *database, const char *table,
				const int64_t *partition_ids, int npartition_ids,
				int64_t deadline_ms, fluss_arena *arena,
				fluss_metadata *metadata, fluss_error *err)
{
	fluss_arena scratch;
	question	q = {
		.client = client,
		.scratch = &scratch,
		.deadline_ms = deadline_ms
	};
	fluss_status status;

	fluss_arena_init(&scratch, &client->host);
	fluss_buf_init(&q.body, &client->host);
	status = fluss_rpc_encode_metadata(database, table, partition_ids,
									   npartition_ids, &q.body, err);
	if (status == FLUSS_OK)
		status = ask_until(&q, err);
	if (status == FLUSS_OK)
		status = fluss_rpc_decode_metadata(arena,
										   fluss_request_answer(q.winner),
										   metadata, err);
	if (status == FLUSS_OK)
		status = take_nodes(client, metadata, err);
	fluss_request_free(q.winner);
	fluss_buf_free(&q.body);
	fluss_arena_free(&scratch);
	return status;
}

fluss_status
fluss_nodes_refresh(fluss_client *client, int64_t deadline_ms,
					fluss_error *err)
{
	fluss_arena arena;
	fluss_metadata metadata;
	fluss_status status;

	fluss_arena_init(&arena, &client->host);
	status = fluss_nodes_ask(client, NULL, NULL, NULL, 0, deadline_ms, &arena,
							 &metadata, err);
	fluss_arena_free(&arena);
	return status;
}

fluss_status
fluss_client_nodes(fluss_client *client, const fluss_node **nodes, int *nnodes,
				   fluss_error *err)
{
	fluss_metadata metadata;
	fluss_status status;

	fluss_arena_reset(&client->nodes_result);
	status = fluss_nodes_ask(client, NULL, NULL, NULL, 0,
							 fluss_client_deadline(client),
							 &client->nodes_result, &metadata, err);
	if (status != FLUSS_OK)
		return status;
	*nodes = metadata.nodes;
	*nnodes = metadata.nnodes;
	return FLUSS_OK;
}

/* ---- what servers offer */

bool
fluss_client_offers_server_scans(fluss_client *client)
{
	int			api = fluss_api_index(FLUSS_API_SCAN_KV);

	for (const fluss_conn *conn = client->conns; conn != NULL; conn = conn->next)
	{
		if (conn->state == FLUSS_CONN_READY && conn->versions[api] >= 0)
			return true;
	}
	return false;
}
