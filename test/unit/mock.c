/*
 * mock.c
 *	  Servers that misbehave on demand.
 */
/* memmem, accept4 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mock.h"
#include "buf.h"

#define MAX_SERVERS		4
#define MAX_REQUEST		((size_t) 1 << 22)

struct mock_conn
{
	mock_conn  *next;
	int			fd;
	bool		authenticated;
	bool		closing;
	uint8_t    *in;
	size_t		in_size;
	uint8_t    *out;
	size_t		out_size;
};

static mock_server *servers[MAX_SERVERS];
static int	nservers;

/* ---- protobuf by hand: the tests must not share the code under test */

typedef struct message
{
	uint8_t		data[4096];
	size_t		size;
} message;

static void
put_varint(message *m, uint64_t v)
{
	while (v >= 0x80)
	{
		m->data[m->size++] = (uint8_t) (v | 0x80);
		v >>= 7;
	}
	m->data[m->size++] = (uint8_t) v;
}

static void
put_int(message *m, int field, int64_t v)
{
	put_varint(m, (uint64_t) field << 3);
	put_varint(m, (uint64_t) v);
}

static void
put_bytes(message *m, int field, const void *data, size_t size)
{
	put_varint(m, (uint64_t) field << 3 | 2);
	put_varint(m, size);
	assert_true(m->size + size < sizeof(m->data));
	memcpy(m->data + m->size, data, size);
	m->size += size;
}

static void
put_text(message *m, int field, const char *text)
{
	put_bytes(m, field, text, strlen(text));
}

static void
put_message(message *m, int field, const message *part)
{
	put_bytes(m, field, part->data, part->size);
}

/* ---- output */

void
mock_raw(mock_conn *conn, const void *data, size_t size)
{
	conn->out = realloc(conn->out, conn->out_size + size);
	assert_non_null(conn->out);
	memcpy(conn->out + conn->out_size, data, size);
	conn->out_size += size;
}

static void
put_u32be(uint8_t *p, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t) (v >> (24 - 8 * i));
}

static void
send_frame(const mock_request *request, uint8_t type, const void *body,
		   size_t size)
{
	uint8_t		header[9];

	put_u32be(header, (uint32_t) (5 + size));
	header[4] = type;
	put_u32be(header + 5, request->id);
	mock_raw(request->conn, header, sizeof(header));
	if (size > 0)
		mock_raw(request->conn, body, size);
}

void
mock_answer(const mock_request *request, const void *body, size_t size)
{
	send_frame(request, 0, body, size);
}

void
mock_error(const mock_request *request, int code, const char *text)
{
	message		m = {.size = 0};

	put_int(&m, 1, code);
	if (text != NULL)
		put_text(&m, 2, text);
	send_frame(request, 1, m.data, m.size);
}

void
mock_failure(const mock_request *request, int code, const char *text)
{
	message		m = {.size = 0};
	uint8_t		header[5];

	put_int(&m, 1, code);
	put_text(&m, 2, text);
	put_u32be(header, (uint32_t) (1 + m.size));
	header[4] = 2;
	mock_raw(request->conn, header, sizeof(header));
	mock_raw(request->conn, m.data, m.size);
	mock_close(request->conn);
}

/* ---- answers */

static const int apis[] = {
	1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1011, 1012, 1014,
	1015, 1016, 1017, 1021, 1025, 1026, 1033, 1038, 1059, 1099
};

static void
answer_versions(const mock_request *request)
{
	message		m = {.size = 0};

	for (size_t i = 0; i < sizeof(apis) / sizeof(apis[0]); i++)
	{
		message		range = {.size = 0};

		if (apis[i] == request->server->unsupported)
			continue;
		put_int(&range, 1, apis[i]);
		put_int(&range, 2, 0);
		put_int(&range, 3, 9);
		put_message(&m, 1, &range);
	}
	put_int(&m, 2, 2);
	mock_answer(request, m.data, m.size);
}

static void
put_node(message *m, int field, int id, int port)
{
	message		node = {.size = 0};

	put_int(&node, 1, id);
	put_text(&node, 2, "127.0.0.1");
	put_int(&node, 3, port);
	put_message(m, field, &node);
}

static void
put_table(const mock_server *server, message *m)
{
	message		path = {.size = 0};
	message		table = {.size = 0};

	put_text(&path, 1, "db");
	put_text(&path, 2, "t");
	put_message(&table, 1, &path);
	put_int(&table, 2, server->table_id);
	put_int(&table, 3, 1);
	put_text(&table, 4, "{}");
	for (int i = 0; i < MOCK_BUCKETS; i++)
	{
		message		bucket = {.size = 0};

		put_int(&bucket, 1, i);
		if (server->leader >= 0)
			put_int(&bucket, 2, server->leader);
		put_bytes(&bucket, 3, "\x00\x01", 2);
		put_message(&table, 5, &bucket);
	}
	put_int(&table, 6, 1000);
	put_int(&table, 7, 1000);
	put_message(m, 3, &table);
}

static void
answer_metadata(const mock_request *request)
{
	const mock_server *server = request->server;
	message		m = {.size = 0};

	put_node(&m, 1, 0, server->port);
	put_node(&m, 2, 0, server->port);
	if (server->peer != NULL)
		put_node(&m, 2, 1, server->peer->port);
	if (request->size > 0)
		put_table(server, &m);
	mock_answer(request, m.data, m.size);
}

static const char table_json[] =
"{\"version\":1,\"schema\":{\"version\":1,\"columns\":[{\"name\":\"a\","
"\"data_type\":{\"type\":\"INTEGER\"},\"id\":0}],\"highest_field_id\":0},"
"\"partition_key\":[],\"bucket_key\":[],\"bucket_count\":2,"
"\"properties\":{},\"custom_properties\":{}}";

static const char schema_json[] =
"{\"version\":1,\"columns\":[{\"name\":\"a\",\"data_type\":"
"{\"type\":\"INTEGER\"},\"id\":0}],\"highest_field_id\":0}";

static void
answer_table_info(const mock_request *request)
{
	message		m = {.size = 0};

	if (memmem(request->body, request->size, "\x12\x01t", 3) == NULL)
	{
		mock_error(request, 7, "Table does not exist.");
		return;
	}
	put_int(&m, 1, request->server->table_id);
	put_int(&m, 2, 1);
	put_text(&m, 3, table_json);
	put_int(&m, 4, 1000);
	put_int(&m, 5, 1000);
	mock_answer(request, m.data, m.size);
}

static void
answer_schema(const mock_request *request)
{
	message		m = {.size = 0};

	put_int(&m, 1, request->body[request->size - 1]);
	put_text(&m, 2, schema_json);
	mock_answer(request, m.data, m.size);
}

/* Bucket i ends at offset 100 + i. */
static void
answer_offsets(const mock_request *request)
{
	message		m = {.size = 0};

	for (int i = 0; i < MOCK_BUCKETS; i++)
	{
		message		bucket = {.size = 0};

		put_int(&bucket, 1, i);
		put_int(&bucket, 4, 100 + i);
		put_message(&m, 1, &bucket);
	}
	mock_answer(request, m.data, m.size);
}

static void
answer_exists(const mock_request *request)
{
	message		m = {.size = 0};

	put_int(&m, 1, memmem(request->body, request->size, "db", 2) != NULL);
	mock_answer(request, m.data, m.size);
}

static void
answer_databases(const mock_request *request)
{
	message		m = {.size = 0};

	put_text(&m, 1, "db");
	mock_answer(request, m.data, m.size);
}

static void
answer_authenticate(const mock_request *request)
{
	static const uint8_t good[] = "\x0a\x05PLAIN\x12\x04\0u\0p";

	if (request->size == sizeof(good) - 1 &&
		memcmp(request->body, good, request->size) == 0)
	{
		request->conn->authenticated = true;
		mock_answer(request, "\x0a\x00", 2);
	}
	else
		mock_error(request, 46, "Invalid username or password");
}

void
mock_default(const mock_request *request)
{
	if (request->server->sasl && !request->conn->authenticated &&
		request->api != 1000 && request->api != 1038)
	{
		mock_error(request, 46, "not authenticated yet");
		return;
	}
	switch (request->api)
	{
		case 1000:
			answer_versions(request);
			break;
		case 1003:
			answer_databases(request);
			break;
		case 1004:
			answer_exists(request);
			break;
		case 1007:
			answer_table_info(request);
			break;
		case 1011:
			answer_schema(request);
			break;
		case 1012:
			answer_metadata(request);
			break;
		case 1021:
			answer_offsets(request);
			break;
		case 1026:
			mock_answer(request, "\x08\x05", 2);
			break;
		case 1038:
			answer_authenticate(request);
			break;
		default:
			mock_answer(request, NULL, 0);
			break;
	}
}

/* ---- input */

static void
handle(mock_server *server, mock_conn *conn, const uint8_t *frame, size_t size)
{
	mock_request request = {
		.server = server,
		.conn = conn,
		.api = frame[4] << 8 | frame[5],
		.version = frame[6] << 8 | frame[7],
		.id = fluss_load_u32be(frame + 8),
		.body = frame + 12,
		.size = size - 12
	};

	if (request.api != 1000 && request.api != 1038)
		server->requests++;
	if (server->handler == NULL || !server->handler(&request))
		mock_default(&request);
}

static void
handle_input(mock_server *server, mock_conn *conn)
{
	size_t		done = 0;

	while (conn->in_size - done >= 12)
	{
		size_t		size = 4 + fluss_load_u32be(conn->in + done);

		if (conn->in_size - done < size)
			break;
		handle(server, conn, conn->in + done, size);
		done += size;
	}
	memmove(conn->in, conn->in + done, conn->in_size - done);
	conn->in_size -= done;
}

/* ---- connections */

static void
accept_all(mock_server *server)
{
	int			fd;

	while (server->fd >= 0 &&
		   (fd = accept4(server->fd, NULL, NULL, SOCK_NONBLOCK)) >= 0)
	{
		mock_conn  *conn = calloc(1, sizeof(*conn));

		conn->in = malloc(MAX_REQUEST);
		conn->fd = fd;
		conn->next = server->conns;
		server->conns = conn;
		server->accepted++;
	}
}

static void
read_all(mock_server *server, mock_conn *conn)
{
	while (conn->fd >= 0 && !conn->closing && conn->in_size < MAX_REQUEST)
	{
		ssize_t		n = recv(conn->fd, conn->in + conn->in_size,
							 MAX_REQUEST - conn->in_size, 0);

		if (n <= 0)
		{
			if (n == 0 || errno != EAGAIN)
				mock_reset(conn);
			return;
		}
		conn->in_size += (size_t) n;
		handle_input(server, conn);
	}
}

static void
write_all(mock_server *server, mock_conn *conn)
{
	while (conn->fd >= 0 && conn->out_size > 0)
	{
		size_t		size = server->trickle ? 1 : conn->out_size;
		ssize_t		n = send(conn->fd, conn->out, size, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		conn->out_size -= (size_t) n;
		memmove(conn->out, conn->out + n, conn->out_size);
		if (server->trickle)
			break;
	}
	if (conn->closing && conn->out_size == 0 && conn->fd >= 0)
	{
		close(conn->fd);
		conn->fd = -1;
	}
}

void
mock_close(mock_conn *conn)
{
	conn->closing = true;
}

void
mock_reset(mock_conn *conn)
{
	struct linger linger = {1, 0};

	if (conn->fd < 0)
		return;
	setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(conn->fd);
	conn->fd = -1;
	conn->out_size = 0;
}

void
mock_step(void)
{
	for (int i = 0; i < nservers; i++)
	{
		mock_server *server = servers[i];

		if (server->paused)
			continue;
		accept_all(server);
		for (mock_conn *conn = server->conns; conn != NULL; conn = conn->next)
		{
			read_all(server, conn);
			write_all(server, conn);
		}
	}
}

/* ---- servers */

static void
start_listening(mock_server *server)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t) server->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)
	};
	socklen_t	size = sizeof(address);
	int			on = 1;

	server->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(server->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	assert_int_equal(bind(server->fd, (struct sockaddr *) &address, size), 0);
	assert_int_equal(listen(server->fd, 16), 0);
	assert_int_equal(getsockname(server->fd, (struct sockaddr *) &address,
								 &size), 0);
	server->port = ntohs(address.sin_port);
}

mock_server *
mock_start(void)
{
	mock_server *server = calloc(1, sizeof(*server));

	assert_in_range(nservers, 0, MAX_SERVERS - 1);
	server->table_id = MOCK_TABLE_ID;
	start_listening(server);
	servers[nservers++] = server;
	test_host_on_wait(mock_step);
	return server;
}

void
mock_stop(mock_server *server)
{
	if (server->fd >= 0)
		close(server->fd);
	server->fd = -1;
	for (mock_conn *conn = server->conns; conn != NULL; conn = conn->next)
		mock_reset(conn);
}

void
mock_restart(mock_server *server)
{
	start_listening(server);
}

void
mock_end(void)
{
	test_host_on_wait(NULL);
	for (int i = 0; i < nservers; i++)
	{
		mock_server *server = servers[i];

		mock_stop(server);
		while (server->conns != NULL)
		{
			mock_conn  *conn = server->conns;

			server->conns = conn->next;
			free(conn->in);
			free(conn->out);
			free(conn);
		}
		free(server);
	}
	nservers = 0;
}
