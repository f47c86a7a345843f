/*
 * remote_test.c
 *	  Parts of remote files: which local ones may be opened, and S3 against a
 *	  server that answers in every wrong way.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client.h"
#include "mock.h"
#include "remote.h"
#include "web.h"

static fluss_config config;
static fluss_client *client;
static char endpoint[64];
static char root[] = "/tmp/fluss_remote_XXXXXX";
static uint8_t buffer[WEB_OBJECT_SIZE + 1000];
static web_server *web;

static void
open_client(void)
{
	fluss_error err;

	if (client != NULL)
		fluss_client_close(client);
	assert_fluss_ok(fluss_client_open(test_host(), &config, &client, &err), &err);
}

static int
set_up(void **unused)
{
	test_set_up(unused);
	web = web_start();
	test_host_on_wait(web_step);
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%d/", web->port);
	config = (fluss_config) {
		.bootstrap_servers = "127.0.0.1:1", .connect_timeout_ms = 2000,
		.request_timeout_ms = 5000, .s3_endpoint = endpoint,
		.s3_region = "eu-west-1", .s3_path_style = true,
		.s3_access_key = "ACCESS", .s3_secret_key = "SECRET"
	};
	open_client();
	return 0;
}

static int
tear_down(void **unused)
{
	fluss_client_close(client);
	client = NULL;
	test_host_on_wait(NULL);
	web_end();
	if (test_host_live_blocks() + test_host_live_fds() > 0)
		print_error("%d blocks, %d sockets are left\n", test_host_live_blocks(),
					test_host_live_fds());
	return test_host_live_blocks() + test_host_live_fds();
}

/* Waits for a part; *size is what came. */
static fluss_status
get(const char *path, int64_t offset, size_t ask, size_t *size, fluss_error *err)
{
	fluss_remote_read *read;
	fluss_status status;

	fluss_error_init(err);
	memset(buffer, 0, sizeof(buffer));
	status = fluss_remote_start(client, path, offset, buffer, ask, &read, err);
	if (status != FLUSS_OK)
		return status;
	while (status == FLUSS_OK &&
		   fluss_remote_state_of(read) == FLUSS_REQUEST_PENDING)
		status = fluss_cluster_poll(client, INT64_MAX, err);
	if (status == FLUSS_OK &&
		fluss_remote_state_of(read) == FLUSS_REQUEST_FAILED)
	{
		*err = *fluss_remote_error(read);
		status = err->status;
	}
	*size = fluss_remote_size(read);
	fluss_remote_free(read);
	return status;
}

/* ---- local files */

static const char *
in_root(const char *name)
{
	static char paths[4][256];
	static int	turn;

	snprintf(paths[++turn % 4], 256, "%s/%s", root, name);
	return paths[turn % 4];
}

static void
write_file(const char *name, const char *text)
{
	FILE	   *file = fopen(in_root(name), "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int
make_files(void **state)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	assert_non_null(mkdtemp(root));
	assert_int_equal(mkdir(in_root("in"), 0700), 0);
	assert_int_equal(mkdir(in_root("in/dir"), 0700), 0);
	assert_int_equal(mkdir(in_root("in2"), 0700), 0);
	write_file("in/dir/file", "0123456789");
	write_file("in/a%20b", "percent");
	write_file("in2/file", "secret");
	assert_int_equal(symlink(in_root("in2"), in_root("in/out")), 0);
	assert_int_equal(symlink(in_root("in/dir"), in_root("in/same")), 0);
	assert_int_equal(symlink(in_root("in2/file"), in_root("in/link")), 0);
	assert_int_equal(symlink(in_root("in"), in_root("alias")), 0);
	assert_int_equal(mkfifo(in_root("in/fifo"), 0600), 0);
	return set_up(state);
}

static int
remove_files(void **state)
{
	static const char *const files[] = {
		"in/dir/file", "in/a%20b", "in2/file", "in/out", "in/same", "in/link",
		"alias", "in/fifo"
	};

	for (int i = 0; i < 8; i++)
		unlink(in_root(files[i]));
	rmdir(in_root("in/dir"));
	rmdir(in_root("in2"));
	rmdir(in_root("in"));
	rmdir(root);
	return tear_down(state);
}

static void
allow(const char *prefixes)
{
	config.remote_files = prefixes;
	open_client();
}

static fluss_status
get_file(const char *format, const char *name, size_t *size)
{
	char		path[512];
	fluss_error err;
	fluss_status status;

	snprintf(path, sizeof(path), format, in_root(name));
	status = get(path, 0, 100, size, &err);
	if (status == FLUSS_NOT_PERMITTED && strstr(err.message, name) == NULL)
		fail_msg("%s", err.message);
	return status;
}

static void
test_forms_of_paths(void **unused)
{
	static const char *const forms[] = {"%s", "file:%s", "file://%s", "FILE:%s"};
	fluss_error err;
	size_t		size;

	allow(in_root("in"));
	for (int i = 0; i < 4; i++)
	{
		assert_int_equal(get_file(forms[i], "in/dir/file", &size), FLUSS_OK);
		assert_int_equal(size, 10);
		assert_memory_equal(buffer, "0123456789", 10);
	}
	assert_int_equal(get(in_root("in/dir/file"), 4, 3, &size, &err), FLUSS_OK);
	assert_int_equal(size, 3);
	assert_memory_equal(buffer, "456", 3);
	assert_int_equal(get(in_root("in/dir/file"), 40, 3, &size, &err), FLUSS_OK);
	assert_int_equal(size, 0);
	/* Fluss prints paths without encoding them */
	assert_int_equal(get_file("file:%s", "in/a%20b", &size), FLUSS_OK);
	assert_int_equal(get_file("file://host%s", "in/dir/file", &size), FLUSS_UNSUPPORTED);
	assert_int_equal(get_file("hdfs://host%s", "in/dir/file", &size), FLUSS_UNSUPPORTED);
	assert_int_equal(get("oss://bucket/key", 0, 1, &size, &err), FLUSS_UNSUPPORTED);
	assert_non_null(strstr(err.message, "\"oss\""));
	assert_int_equal(get("http://127.0.0.1/key", 0, 1, &size, &err), FLUSS_UNSUPPORTED);
	assert_int_equal(get("relative/path", 0, 1, &size, &err), FLUSS_NOT_PERMITTED);
	assert_int_equal(get("", 0, 1, &size, &err), FLUSS_NOT_PERMITTED);
}

static void
test_what_may_be_opened(void **unused)
{
	size_t		size;
	char		list[600];

	assert_int_equal(get_file("%s", "in/dir/file", &size), FLUSS_NOT_PERMITTED);
	allow("");
	assert_int_equal(get_file("%s", "in/dir/file", &size), FLUSS_NOT_PERMITTED);
	allow(in_root("in"));
	assert_int_equal(get_file("%s", "in2/file", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in2/none", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/../in2/file", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/%2e%2e/in2/file", &size), FLUSS_DATA_LOST);
	assert_int_equal(get_file("%s", "in/out/file", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/link", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/fifo", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/dir", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in", &size), FLUSS_NOT_PERMITTED);
	assert_int_equal(get_file("%s", "in/none", &size), FLUSS_DATA_LOST);
	assert_int_equal(get_file("%s", "in/none/file", &size), FLUSS_DATA_LOST);
	assert_int_equal(get_file("%s", "in/same/file", &size), FLUSS_OK);
	assert_int_equal(get_file("%s", "in//dir/./file", &size), FLUSS_OK);
	allow(in_root("in/"));
	assert_int_equal(get_file("%s", "in/dir/file", &size), FLUSS_OK);
	allow(in_root("alias"));
	assert_int_equal(get_file("%s", "in/dir/file", &size), FLUSS_OK);
	assert_int_equal(get_file("%s", "alias/dir/file", &size), FLUSS_OK);
	assert_int_equal(get_file("%s", "in2/file", &size), FLUSS_NOT_PERMITTED);
	snprintf(list, sizeof(list), "/none , %s, /none/too", in_root("in/dir"));
	allow(list);
	assert_int_equal(get_file("%s", "in/dir/file", &size), FLUSS_OK);
	assert_int_equal(get_file("%s", "in/a%20b", &size), FLUSS_NOT_PERMITTED);
	allow("/");
	assert_int_equal(get_file("%s", "in2/file", &size), FLUSS_OK);
}

/* ---- S3 */

#define OBJECT "s3://bucket/a dir/k$y"

static void
assert_part(int64_t offset, size_t ask, size_t expected)
{
	fluss_error err;
	size_t		size;

	assert_fluss_ok(get(OBJECT, offset, ask, &size, &err), &err);
	assert_int_equal(size, expected);
	for (size_t i = 0; i < size; i++)
	{
		if (buffer[i] != web_byte(offset + (int64_t) i))
			fail_msg("byte %zu is wrong", i);
	}
	assert_int_equal(buffer[size], 0);
}

static void
assert_get_fails(fluss_status status, const char *detail)
{
	fluss_error err;
	size_t		size;
	fluss_status got = get(OBJECT, 10, 100000, &size, &err);

	if (got != status || strstr(err.detail, detail) == NULL)
		fail_msg("%d: %s (%s)", got, err.message, err.detail);
	assert_non_null(strstr(err.message, OBJECT));
	assert_null(strstr(err.message, "SECRET"));
	assert_null(strstr(err.detail, "SECRET"));
}

static void
test_parts_of_objects(void **unused)
{
	assert_part(0, 1, 1);
	assert_part(100, 50000, 50000);
	assert_part(0, WEB_OBJECT_SIZE, WEB_OBJECT_SIZE);
	assert_part(WEB_OBJECT_SIZE - 5, 100, 5);
	assert_int_equal(web->accepted, 1);
	assert_non_null(strstr(web->last, "GET /bucket/a%20dir/k%24y HTTP/1.1\r\n"));
	assert_non_null(strstr(web->last, "AWS4-HMAC-SHA256 Credential=ACCESS/"));
	assert_non_null(strstr(web->last, "/eu-west-1/s3/aws4_request"));
	assert_null(strstr(web->last, "SECRET"));
	web->drip = 997;
	assert_part(3, 60000, 60000);
}

static void
test_virtual_host(void **unused)
{
	char		url[64];

	/* a name that needs no server to be looked up */
	snprintf(url, sizeof(url), "http://localhost:%d", web->port);
	config.s3_endpoint = url;
	open_client();
	assert_part(0, 10, 10);
	assert_non_null(strstr(web->last, "Host: localhost"));
}

static void
test_refusals(void **unused)
{
	web->http_status = 404;
	web->body = "<?xml?><Error><Code>NoSuchKey</Code></Error>";
	web->content_range = "";
	assert_get_fails(FLUSS_DATA_LOST, "404 (NoSuchKey)");
	web->http_status = 403;
	web->body = "<Error><Code>SignatureDoesNotMatch</Code><Key>SECRET</Key></Error>";
	assert_get_fails(FLUSS_NOT_PERMITTED, "SignatureDoesNotMatch");
	web->body = "<Error><Code>Not a code SECRET</Code></Error>";
	assert_get_fails(FLUSS_NOT_PERMITTED, "403.");
	web->http_status = 500;
	assert_get_fails(FLUSS_SEND_FAILED, "500");
	web->http_status = 503;
	assert_get_fails(FLUSS_SEND_FAILED, "503");
	web->http_status = 301;
	web->headers = "Location: http://127.0.0.1:1/elsewhere\r\n";
	assert_get_fails(FLUSS_UNSUPPORTED, "301");
}

/* The key is asked for as it is, not as a path that leads elsewhere. */
static void
test_dots_in_key(void **unused)
{
	fluss_error err;
	size_t		size;

	assert_fluss_ok(get("s3://bucket/a/../b/./c", 0, 1, &size, &err), &err);
	assert_non_null(strstr(web->last, "GET /bucket/a/../b/./c HTTP/1.1\r\n"));
}

/* An end is believed where the server tells it, or tells of none. */
static void
test_short_ranges(void **unused)
{
	fluss_error err;
	size_t		size;

	web->body = "short";
	web->content_range = "Content-Range: bytes 10-14/15\r\n";
	assert_fluss_ok(get(OBJECT, 10, 1000, &size, &err), &err);
	assert_int_equal(size, 5);
	web->content_range = "Content-Range: bytes 10-14/*\r\n";
	assert_fluss_ok(get(OBJECT, 10, 1000, &size, &err), &err);
	assert_int_equal(size, 5);
}

/* As of a local file: nothing is left to read, and that is no failure. */
static void
test_past_the_end(void **unused)
{
	web->http_status = 416;
	web->body = "<Error><Code>InvalidRange</Code></Error>";
	web->content_range = "Content-Range: bytes */300000\r\n";
	assert_part(WEB_OBJECT_SIZE, 100, 0);
}

static void
test_wrong_answers(void **unused)
{
	web->http_status = 200;
	web->content_range = "";
	assert_get_fails(FLUSS_MALFORMED, "ignored the range");
	web->http_status = 206;
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = "Content-Range: bytes 11-100010/300000\r\n";
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = "Content-Range: bytes 10-200000/300000\r\n";
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = "Content-Range: bytes 10-5/300000\r\n";
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = "Content-Range: bytes 10-99/100\r\n";
	assert_get_fails(FLUSS_SEND_FAILED, "shorter");
	/* fewer bytes than asked for where the file has not ended */
	web->content_range = "Content-Range: bytes 10-14/300000\r\n";
	web->body = "short";
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = "Content-Range: bytes 10-14/-9223372036854775808\r\n";
	assert_get_fails(FLUSS_MALFORMED, "another range");
	web->content_range = NULL;
	assert_get_fails(FLUSS_SEND_FAILED, "shorter");
	web->body = NULL;
	web->headers = "nonsense\r\n: \r\n";
	assert_int_equal(test_host_live_fds() > 0, true);
}

static void
test_cut_answers(void **unused)
{
	web->reset = true;
	web->stop_after = 1;
	assert_get_fails(FLUSS_SEND_FAILED, "");
	web->stop_after = 60;
	assert_get_fails(FLUSS_SEND_FAILED, "");
	web->stop_after = 50000;
	assert_get_fails(FLUSS_SEND_FAILED, "");
	web->stop_after = 0;
	web->content_length = 100;
	assert_get_fails(FLUSS_TIMED_OUT, "");
	web->content_length = 0;
	assert_part(0, 100, 100);
}

static void
test_silence(void **unused)
{
	web->stop_after = 50000;
	assert_get_fails(FLUSS_TIMED_OUT, "request timeout");
	web_end();
	web = web_start();
	assert_get_fails(FLUSS_CANNOT_CONNECT, "");
}

/* Interrupted at any wait, it leaves nothing behind and works again. */
static void
test_interrupts(void **unused)
{
	web->drip = 3000;
	for (int n = 1; n < 40; n += 3)
	{
		fluss_error err;
		size_t		size;
		fluss_status status;

		test_host_interrupt_at(n);
		status = get(OBJECT, 0, 100000, &size, &err);
		if (status == FLUSS_OK)
			break;
		assert_int_equal(status, FLUSS_INTERRUPTED);
	}
	test_host_interrupt_at(0);
	web->drip = 0;
	assert_part(5, 1000, 1000);
}

static void
test_many_at_once(void **unused)
{
	fluss_remote_read *reads[6];
	static uint8_t parts[6][20000];
	fluss_error err;
	int			done = 0;

	web->drip = 5000;
	for (int i = 0; i < 6; i++)
		assert_fluss_ok(fluss_remote_start(client, OBJECT, i * 20000, parts[i],
										   20000, &reads[i], &err), &err);
	fluss_remote_free(reads[2]);
	while (done < 5)
	{
		assert_fluss_ok(fluss_cluster_poll(client, INT64_MAX, &err), &err);
		done = 0;
		for (int i = 0; i < 6; i++)
			done += i != 2 &&
				fluss_remote_state_of(reads[i]) == FLUSS_REQUEST_DONE;
	}
	for (int i = 0; i < 6; i++)
	{
		if (i == 2)
			continue;
		for (int k = 0; k < 20000; k++)
			assert_int_equal(parts[i][k], web_byte(i * 20000 + k));
		fluss_remote_free(reads[i]);
	}
}

/* ---- tokens of the cluster */

static int	tokens_given;
static int	token_error;
static const char *token_json;

/* schema, token, expiration_time, addition_info with one key and value */
static size_t
put_text(uint8_t *at, int field, const char *text)
{
	size_t		size = strlen(text);

	at[0] = (uint8_t) (field << 3 | 2);
	at[1] = (uint8_t) (size | 0x80);
	at[2] = (uint8_t) (size >> 7);
	memcpy(at + 3, text, size);
	return size + 3;
}

static bool
give_token(const mock_request *request)
{
	uint8_t		body[1024];
	uint8_t		info[256];
	char		json[256];
	size_t		size;
	size_t		info_size;

	if (request->api != 1025)
		return false;
	tokens_given++;
	if (token_error != 0)
	{
		mock_error(request, token_error, "no token");
		return true;
	}
	snprintf(json, sizeof(json), "{\"version\":1,\"access_key_id\":\"TOKEN%d\","
			 "\"access_key_secret\":\"SECRET\",\"security_token\":\"session\"}",
			 tokens_given);
	size = put_text(body, 1, "s3");
	size += put_text(body + size, 2, token_json != NULL ? token_json : json);
	info_size = put_text(info, 1, "fs.s3a.endpoint");
	info_size += put_text(info + info_size, 2, endpoint);
	info[info_size] = '\0';
	body[size++] = 4 << 3 | 2;
	body[size++] = (uint8_t) info_size;
	memcpy(body + size, info, info_size);
	size += info_size;
	info_size = put_text(info, 1, "fs.s3a.region");
	info_size += put_text(info + info_size, 2, "mars-1");
	body[size++] = 4 << 3 | 2;
	body[size++] = (uint8_t) info_size;
	memcpy(body + size, info, info_size);
	mock_answer(request, body, size + info_size);
	return true;
}

static void
step_both(void)
{
	mock_step();
	web_step();
}

static int
set_up_tokens(void **state)
{
	static char bootstrap[64];
	mock_server *server;

	set_up(state);
	server = mock_start();
	server->handler = give_token;
	tokens_given = token_error = 0;
	token_json = NULL;
	test_host_on_wait(step_both);
	snprintf(bootstrap, sizeof(bootstrap), "127.0.0.1:%d", server->port);
	config.bootstrap_servers = bootstrap;
	config.s3_endpoint = config.s3_region = NULL;
	config.s3_access_key = config.s3_secret_key = NULL;
	open_client();
	return 0;
}

static int
tear_down_tokens(void **state)
{
	int			left = tear_down(state);

	mock_end();
	return left;
}

static void
test_token(void **unused)
{
	assert_part(0, 1000, 1000);
	assert_part(1000, 1000, 1000);
	assert_int_equal(tokens_given, 1);
	assert_non_null(strstr(web->last, "Credential=TOKEN1/"));
	assert_non_null(strstr(web->last, "/mars-1/s3/"));
	assert_non_null(strstr(web->last, "x-amz-security-token:"));
	assert_non_null(strstr(web->last, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
	assert_null(strstr(web->last, "SECRET"));
	/* an expired one is replaced with the next try */
	web->http_status = 403;
	web->body = "<Error><Code>ExpiredToken</Code></Error>";
	assert_get_fails(FLUSS_SEND_FAILED, "ExpiredToken");
	web->http_status = 0;
	web->body = NULL;
	assert_part(0, 1000, 1000);
	assert_int_equal(tokens_given, 2);
	assert_non_null(strstr(web->last, "Credential=TOKEN2/"));
	/* it lives an hour when the cluster does not say */
	test_host_advance_ms(3599 * 1000);
	assert_part(0, 1000, 1000);
	assert_int_equal(tokens_given, 2);
	test_host_advance_ms(2000);
	assert_part(0, 1000, 1000);
	assert_int_equal(tokens_given, 3);
}

static void
test_no_token(void **unused)
{
	fluss_error err;
	size_t		size;

	token_error = 30;
	assert_get_fails(FLUSS_NOT_PERMITTED, "no security token");
	assert_get_fails(FLUSS_NOT_PERMITTED, "no security token");
	assert_int_equal(tokens_given, 1);
	config.s3_access_key = "ACCESS";
	config.s3_secret_key = "SECRET";
	config.s3_endpoint = endpoint;
	open_client();
	assert_part(0, 100, 100);
	assert_int_equal(tokens_given, 1);
	config.s3_access_key = NULL;
	open_client();
	token_error = 0;
	token_json = "{\"access_key_id\":\"a\"}";
	assert_int_equal(get(OBJECT, 0, 1, &size, &err), FLUSS_MALFORMED);
	token_json = "not json SECRET";
	assert_int_equal(get(OBJECT, 0, 1, &size, &err), FLUSS_MALFORMED);
	assert_null(strstr(err.detail, "SECRET"));
	token_error = 48;
	assert_int_equal(get(OBJECT, 0, 1, &size, &err), FLUSS_SERVER_ERROR);
}

/* While a token is asked for, other reads go on. */
static void
test_token_beside_reads(void **unused)
{
	fluss_remote_read *first;
	fluss_remote_read *second;
	fluss_error err;
	static uint8_t other[1000];

	assert_fluss_ok(fluss_remote_start(client, OBJECT, 0, buffer, 1000, &first,
									   &err), &err);
	test_host_advance_ms(3601 * 1000);
	assert_fluss_ok(fluss_remote_start(client, OBJECT, 0, other, 1000, &second,
									   &err), &err);
	while (fluss_remote_state_of(second) == FLUSS_REQUEST_PENDING)
		assert_fluss_ok(fluss_cluster_poll(client, INT64_MAX, &err), &err);
	assert_int_equal(fluss_remote_state_of(second), FLUSS_REQUEST_DONE);
	assert_int_equal(tokens_given, 2);
	fluss_remote_free(first);
	fluss_remote_free(second);
}

static void
test_wrong_configuration(void **unused)
{
	fluss_error err;
	size_t		size;

	assert_int_equal(get("s3://bucket", 0, 1, &size, &err), FLUSS_INVALID_ARGUMENT);
	assert_int_equal(get("s3:///key", 0, 1, &size, &err), FLUSS_INVALID_ARGUMENT);
	assert_int_equal(get("s3://a@b:80/key", 0, 1, &size, &err), FLUSS_INVALID_ARGUMENT);
	config.s3_endpoint = "ftp://127.0.0.1";
	open_client();
	assert_int_not_equal(get(OBJECT, 0, 1, &size, &err), FLUSS_OK);
	config.s3_endpoint = "http://not a host";
	open_client();
	assert_int_equal(get(OBJECT, 0, 1, &size, &err), FLUSS_INVALID_ARGUMENT);
	/* nothing listens there */
	config.s3_endpoint = "http://127.0.0.1:1";
	open_client();
	assert_get_fails(FLUSS_CANNOT_CONNECT, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_forms_of_paths, make_files, remove_files),
		cmocka_unit_test_setup_teardown(test_what_may_be_opened, make_files, remove_files),
		cmocka_unit_test_setup_teardown(test_parts_of_objects, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_virtual_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_dots_in_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_past_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_short_ranges, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_silence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many_at_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_token, set_up_tokens, tear_down_tokens),
		cmocka_unit_test_setup_teardown(test_no_token, set_up_tokens, tear_down_tokens),
		cmocka_unit_test_setup_teardown(test_token_beside_reads, set_up_tokens, tear_down_tokens),
		cmocka_unit_test_setup_teardown(test_wrong_configuration, set_up, tear_down)
	};

	return cmocka_run_group_tests_name("remote", tests, NULL, NULL);
}
