/*
 * call.c
 *	  A request and its answer, with retries: the one retry loop for calls
 *	  that concern no bucket.
 *
 * The last error is the one reported; it says how often it was tried.
 */
#include "client.h"

int64_t
fluss_backoff_ms(int attempt)
{
	int64_t		pause = 100;

	for (int i = 0; i < attempt && pause < 1000; i++)
		pause *= 2;
	return pause < 1000 ? pause : 1000;
}

typedef struct call
{
	fluss_client *client;
	int32_t		node;
	fluss_api	api;
	const uint8_t *body;
	size_t		size;
	int64_t		deadline_ms;
	bool		repeatable;
	bool		maybe_done;		/* the last try may have reached the server */
} call;

/*
 * Any server will do for some requests: then half of the time is kept for
 * another one.
 */
static int64_t
try_deadline(const call *c)
{
	int64_t		now = fluss_client_now(c->client);

	if (c->node != FLUSS_NODE_ANY_TABLET || c->deadline_ms <= now)
		return c->deadline_ms;
	return now + (c->deadline_ms - now) / 2;
}

static fluss_status
try_once(call *c, fluss_request **answer, fluss_error *err)
{
	fluss_request *request;
	fluss_status status;

	c->maybe_done = false;
	/* finding a first server may take more than half of the time */
	if (c->client->nnodes == 0)
	{
		status = fluss_nodes_refresh(c->client, c->deadline_ms, err);
		if (status != FLUSS_OK)
			return status;
	}
	status = fluss_request_start(c->client, c->node, c->api, c->body, c->size,
								 try_deadline(c), &request, err);
	if (status != FLUSS_OK)
		return status;
	status = fluss_cluster_wait(c->client, request, err);
	if (status == FLUSS_OK)
	{
		*answer = request;
		return FLUSS_OK;
	}
	/* a server that answers with an error has not done it */
	c->maybe_done = request->sent_maybe && status != FLUSS_SERVER_ERROR;
	fluss_request_free(request);
	return status;
}

static fluss_code_action
action_of(const call *c, const fluss_error *error)
{
	fluss_code_action action;

	if (!c->repeatable && c->maybe_done)
		return FLUSS_ACTION_FAIL;
	/* there was no connection to the cluster yet: say so at once */
	if (c->client->nnodes == 0)
		return FLUSS_ACTION_FAIL;
	if (fluss_status_is_network(error->status) ||
		error->status == FLUSS_TIMED_OUT)
		return FLUSS_ACTION_REFRESH;
	if (error->status != FLUSS_SERVER_ERROR)
		return FLUSS_ACTION_FAIL;
	/* every server knows the schemas: this one does not exist */
	if (c->api == FLUSS_API_GET_TABLE_SCHEMA &&
		error->server_code == FLUSS_CODE_SCHEMA_NOT_EXIST)
		return FLUSS_ACTION_FAIL;
	action = fluss_code_to_action(error->server_code);
	if (!c->repeatable && action == FLUSS_ACTION_RETRY)
		return FLUSS_ACTION_FAIL;
	/* whoever chose the server must choose again */
	if (c->node >= 0 && action == FLUSS_ACTION_REFRESH)
		return FLUSS_ACTION_FAIL;
	return action;
}

/* Pauses, and finds out where the servers are now. */
static fluss_status
before_next_try(call *c, fluss_code_action action, int attempt,
				fluss_error *err)
{
	int64_t		pause = fluss_backoff_ms(attempt);
	fluss_error problem;
	fluss_status status;

	if (fluss_client_now(c->client) + pause >= c->deadline_ms)
	{
		if (attempt > 0)
			fluss_error_detail(err, "Gave up after %d tries.", attempt + 1);
		return err->status;
	}
	status = fluss_cluster_sleep(c->client, pause, &problem);
	if (status == FLUSS_OK && action == FLUSS_ACTION_REFRESH)
		status = fluss_nodes_refresh(c->client, c->deadline_ms, &problem);
	if (status != FLUSS_OK)
	{
		*err = problem;
		return status;
	}
	if (c->node >= 0 && fluss_nodes_find(c->client, c->node, c->api) == NULL)
		return err->status;
	return FLUSS_OK;
}

static fluss_status
run(call *c, int64_t *counter, fluss_request **answer, fluss_error *err)
{
	for (int attempt = 0;; attempt++)
	{
		fluss_code_action action;
		fluss_status status;

		if (counter != NULL)
			(*counter)++;
		status = try_once(c, answer, err);
		if (status == FLUSS_OK)
			return status;
		action = action_of(c, err);
		if (action == FLUSS_ACTION_FAIL)
			return status;
		status = before_next_try(c, action, attempt, err);
		if (status != FLUSS_OK)
			return status;
	}
}

fluss_status
fluss_request_call(fluss_client *client, int32_t node, fluss_api api,
				   const uint8_t *body, size_t size, int64_t deadline_ms,
				   int64_t *counter, fluss_request **answer, fluss_error *err)
{
	call		c = {
		.client = client,
		.node = node,
		.api = api,
		.body = body,
		.size = size,
		.deadline_ms = deadline_ms,
		.repeatable = true
	};

	return run(&c, counter, answer, err);
}

fluss_status
fluss_request_call_once(fluss_client *client, int32_t node, fluss_api api,
						const uint8_t *body, size_t size, int64_t deadline_ms,
						fluss_request **answer, fluss_error *err)
{
	call		c = {
		.client = client,
		.node = node,
		.api = api,
		.body = body,
		.size = size,
		.deadline_ms = deadline_ms
	};
	fluss_status status = run(&c, NULL, answer, err);

	if (status != FLUSS_OK && c.maybe_done && status != FLUSS_INTERRUPTED)
		fluss_error_detail(err, "The server may have carried it out all the same.");
	return status;
}
