/*
 * s3.c
 *	  Objects in S3: where they are, and with which keys they are read.
 *
 * The configuration comes first.  What it leaves open the cluster says, with a
 * security token of limited life, which is replaced after three quarters of
 * it.  A cluster that gives out none answers with error 30; that is remembered
 * for a while, too.
 *
 * A token is JSON: access_key_id, access_key_secret, security_token or null.
 */
#include <curl/curl.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "error.h"
#include "rpc_admin.h"
#include "s3.h"

#define CODE_SECURITY_TOKEN		30
/* How long an answer without an end is used, and the lack of one. */
#define LONGEST_LIFE_MS			((int64_t) 3600 * 1000)
#define NONE_LIFE_MS			((int64_t) 60 * 1000)
/* The first libcurl whose signature S3 accepts. */
#define OLDEST_CURL				0x075700

struct fluss_s3_token
{
	fluss_host	host;
	fluss_arena arena;
	int64_t		renew_ms;
	const char *access_key;		/* NULL: the cluster gives out none */
	const char *secret_key;
	const char *session_token;	/* or NULL */
	const char *endpoint;		/* or NULL */
	const char *region;			/* or NULL */
	bool		path_style;
};

/* ---- tokens */

static void
wipe(const char *secret)
{
	if (secret != NULL)
		explicit_bzero((char *) secret, strlen(secret));
}

void
fluss_s3_token_free(fluss_s3_token *token)
{
	if (token == NULL)
		return;
	wipe(token->secret_key);
	wipe(token->session_token);
	fluss_arena_free_owner(&token->arena);
}

/* A member of the token's JSON, or NULL. */
static const char *
copy_member(fluss_arena *arena, const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text == NULL || text[0] == '\0' ? NULL :
		fluss_arena_strdup(arena, text);
}

static fluss_status
read_keys(fluss_s3_token *token, fluss_bytes bytes, fluss_error *err)
{
	json_t	   *json;

	if (bytes.size == 0)
		return FLUSS_OK;
	json = json_loadb((const char *) bytes.data, bytes.size, 0, NULL);
	if (json == NULL)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the file system token of the cluster is not valid");
	token->access_key = copy_member(&token->arena, json, "access_key_id");
	token->secret_key = copy_member(&token->arena, json, "access_key_secret");
	token->session_token = copy_member(&token->arena, json, "security_token");
	json_decref(json);
	if (token->access_key == NULL || token->secret_key == NULL)
		return fluss_fail(err, FLUSS_MALFORMED,
						  "the file system token of the cluster lacks a key");
	return FLUSS_OK;
}

static bool
read_settings(fluss_s3_token *token, const fluss_token_answer *answer)
{
	bool		good = true;

	for (int i = 0; i < answer->ninfo; i++)
	{
		const fluss_token_info *info = &answer->info[i];
		const char **target = NULL;

		if (strcmp(info->key, "fs.s3a.endpoint") == 0)
			target = &token->endpoint;
		else if (strcmp(info->key, "fs.s3a.region") == 0 ||
				 strcmp(info->key, "fs.s3a.endpoint.region") == 0)
			target = &token->region;
		else if (strcmp(info->key, "fs.s3a.path.style.access") == 0)
			token->path_style = strcasecmp(info->value, "true") == 0;
		if (target != NULL && info->value[0] != '\0')
		{
			*target = fluss_arena_strdup(&token->arena, info->value);
			good = good && *target != NULL;
		}
	}
	return good;
}

static int64_t
life_ms(const fluss_token_answer *answer)
{
	struct timespec now;
	int64_t		life;

	if (answer->expiration_ms < 0)
		return LONGEST_LIFE_MS;
	clock_gettime(CLOCK_REALTIME, &now);
	life = answer->expiration_ms -
		((int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000);
	return life <= 0 ? 0 : life > LONGEST_LIFE_MS * 24 ?
		LONGEST_LIFE_MS * 24 : life / 4 * 3;
}

static fluss_status
read_answer(fluss_s3_token *token, fluss_arena *scratch, fluss_bytes bytes,
			int64_t now_ms, fluss_error *err)
{
	fluss_token_answer answer;
	fluss_status status;

	status = fluss_rpc_decode_token(scratch, bytes, &answer, err);
	if (status != FLUSS_OK)
		return status;
	token->renew_ms = now_ms + life_ms(&answer);
	if (!read_settings(token, &answer))
		return fluss_fail_memory(err);
	if (strncmp(answer.scheme, "s3", 2) != 0)
		return FLUSS_OK;
	return read_keys(token, answer.json, err);
}

static fluss_status
ask_cluster(fluss_client *client, fluss_s3_token *token, fluss_error *err)
{
	const fluss_host *host = fluss_client_host(client);
	int64_t		now_ms = host->now_ms(host->arg);
	fluss_request *answer = NULL;
	fluss_arena scratch;
	fluss_buf	body;
	fluss_status status;

	fluss_arena_init(&scratch, host);
	fluss_buf_init(&body, host);
	status = fluss_rpc_encode_token(&body, err);
	if (status == FLUSS_OK)
		status = fluss_request_call(client, FLUSS_NODE_ANY_TABLET,
									FLUSS_API_GET_FILESYSTEM_SECURITY_TOKEN,
									body.data, body.size,
									fluss_client_deadline(client), NULL,
									&answer, err);
	if (status == FLUSS_OK)
		status = read_answer(token, &scratch, fluss_request_answer(answer),
							 now_ms, err);
	else if (status == FLUSS_UNSUPPORTED ||
			 (status == FLUSS_SERVER_ERROR &&
			  err->server_code == CODE_SECURITY_TOKEN))
	{
		token->renew_ms = now_ms + NONE_LIFE_MS;
		status = FLUSS_OK;
	}
	if (answer != NULL)
		fluss_request_free(answer);
	fluss_buf_free(&body);
	fluss_arena_free(&scratch);
	return status;
}

/* What the cluster says, asked anew when it is old. */
static fluss_status
get_token(fluss_client *client, fluss_s3_token **token, fluss_error *err)
{
	const fluss_host *host = fluss_client_host(client);
	fluss_arena arena;
	fluss_s3_token *new;
	fluss_status status;

	if (*token != NULL && host->now_ms(host->arg) < (*token)->renew_ms)
		return FLUSS_OK;
	fluss_arena_init(&arena, host);
	new = fluss_arena_alloc0(&arena, sizeof(*new));
	if (new == NULL)
		return fluss_fail_memory(err);
	fluss_arena_move_in(&arena, &new->arena, &new->host);
	status = ask_cluster(client, new, err);
	if (status != FLUSS_OK)
	{
		fluss_s3_token_free(new);
		return status;
	}
	fluss_s3_token_free(*token);
	*token = new;
	return FLUSS_OK;
}

/* ---- where an object is */

static bool
has_part(CURLU *url, CURLUPart part)
{
	char	   *text = NULL;
	bool		found = curl_url_get(url, part, &text, 0) == CURLUE_OK;

	curl_free(text);
	return found;
}

/* libcurl takes "http:/host", too: the two slashes are ours to look for. */
fluss_status
fluss_check_s3_endpoint(const char *url, fluss_error *err)
{
	CURLU	   *parts = curl_url();
	bool		good;

	if (parts == NULL)
		return fluss_fail_memory(err);
	good = (strncasecmp(url, "http://", 7) == 0 ||
			strncasecmp(url, "https://", 8) == 0) &&
		curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
		has_part(parts, CURLUPART_HOST) && !has_part(parts, CURLUPART_QUERY) &&
		!has_part(parts, CURLUPART_FRAGMENT);
	if (good && (has_part(parts, CURLUPART_USER) ||
				 has_part(parts, CURLUPART_PASSWORD)))
		fluss_fail(err, FLUSS_INVALID_ARGUMENT,
				   "an S3 endpoint has no user and no password");
	else if (!good)
		fluss_fail(err, FLUSS_INVALID_ARGUMENT,
				   "an S3 endpoint is a URL like http://host:port or https://host");
	else
		err->status = FLUSS_OK;
	curl_url_cleanup(parts);
	return err->status;
}

/* Appends text; all but letters, digits and -._~/ as %XX, as S3 signs it. */
static void
append_encoded(fluss_buf *buf, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (; *text != '\0'; text++)
	{
		unsigned char c = (unsigned char) *text;

		if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
			strchr("-._~/", c) != NULL)
			fluss_buf_u8(buf, c);
		else
		{
			fluss_buf_u8(buf, '%');
			fluss_buf_u8(buf, (uint8_t) hex[c >> 4]);
			fluss_buf_u8(buf, (uint8_t) hex[c & 15]);
		}
	}
}

static void
append_text(fluss_buf *buf, const char *text)
{
	fluss_buf_append(buf, text, strlen(text));
}

/* The endpoint without a slash at its end, split behind its scheme. */
static void
append_endpoint(fluss_buf *buf, const char *endpoint, const char *region,
				const char *bucket, size_t bucket_size, bool path_style)
{
	const char *rest = endpoint == NULL ? NULL : strstr(endpoint, "://");
	size_t		size;

	if (rest == NULL)
		append_text(buf, "https://");
	else
		fluss_buf_append(buf, endpoint, (size_t) (rest + 3 - endpoint));
	if (!path_style)
	{
		fluss_buf_append(buf, bucket, bucket_size);
		fluss_buf_u8(buf, '.');
	}
	if (endpoint == NULL)
	{
		append_text(buf, "s3.");
		append_text(buf, region);
		append_text(buf, ".amazonaws.com");
	}
	else
	{
		rest = rest == NULL ? endpoint : rest + 3;
		size = strlen(rest);
		while (size > 0 && rest[size - 1] == '/')
			size--;
		fluss_buf_append(buf, rest, size);
	}
	fluss_buf_u8(buf, '/');
	if (path_style)
	{
		fluss_buf_append(buf, bucket, bucket_size);
		fluss_buf_u8(buf, '/');
	}
}

/* Only what may stand in a host name: it becomes part of one. */
static bool
bucket_is_valid(const char *bucket, size_t size)
{
	for (size_t i = 0; i < size; i++)
	{
		unsigned char c = (unsigned char) bucket[i];

		if (!(c >= '0' && c <= '9') &&
			!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
			strchr("-._", c) == NULL)
			return false;
	}
	return size > 0;
}

static fluss_status
make_url(fluss_arena *arena, const char *path, const char *object,
		 const char *endpoint, const char *region, bool path_style,
		 const char **url, fluss_error *err)
{
	size_t		bucket_size = strcspn(object, "/");
	fluss_buf	buf;

	if (!bucket_is_valid(object, bucket_size) || object[bucket_size] == '\0')
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "\"%s\" is not the path of an S3 object", path);
	/* a certificate for *.s3.amazonaws.com covers no further dot */
	if (memchr(object, '.', bucket_size) != NULL ||
		memchr(object, '_', bucket_size) != NULL)
		path_style = true;
	fluss_buf_init(&buf, arena->host);
	append_endpoint(&buf, endpoint, region, object, bucket_size, path_style);
	append_encoded(&buf, object + bucket_size + 1);
	*url = buf.failed ? NULL :
		fluss_arena_strndup(arena, (const char *) buf.data, buf.size);
	fluss_buf_free(&buf);
	return *url == NULL ? fluss_fail_memory(err) : FLUSS_OK;
}

static const char *
signature_of(fluss_arena *arena, const char *region)
{
	char		text[128];

	if (snprintf(text, sizeof(text), "aws:amz:%s:s3", region) >= (int) sizeof(text))
		return NULL;
	return fluss_arena_strdup(arena, text);
}

static fluss_status
fail_no_keys(const char *path, fluss_error *err)
{
	fluss_fail(err, FLUSS_NOT_PERMITTED,
			   "permission denied to read remote file \"%s\"", path);
	fluss_error_detail(err, "The Fluss cluster gives out no security token for its remote storage.");
	fluss_error_hint(err, "Set the options s3_access_key and s3_secret_key of the user mapping.");
	return err->status;
}

fluss_status
fluss_s3_locate(fluss_client *client, fluss_s3_token **token, const char *path,
				const char *object, fluss_arena *arena, fluss_http_ask *ask,
				fluss_error *err)
{
	const fluss_config *config = fluss_client_config(client);
	const char *endpoint = config->s3_endpoint;
	const char *region = config->s3_region;
	bool		path_style = config->s3_path_style;
	bool		own_keys = config->s3_access_key != NULL &&
		config->s3_secret_key != NULL;
	fluss_status status;

	if (curl_version_info(CURLVERSION_NOW)->version_num < OLDEST_CURL)
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "reading from S3 needs libcurl 7.87 or later");
	ask->access_key = config->s3_access_key;
	ask->secret_key = config->s3_secret_key;
	if (!own_keys || endpoint == NULL)
	{
		status = get_token(client, token, err);
		if (status != FLUSS_OK)
			return status;
		if (!own_keys && (*token)->access_key == NULL)
			return fail_no_keys(path, err);
		if (!own_keys)
		{
			ask->access_key = (*token)->access_key;
			ask->secret_key = (*token)->secret_key;
			ask->session_token = (*token)->session_token;
		}
		if (endpoint == NULL)
		{
			endpoint = (*token)->endpoint;
			path_style = path_style || (*token)->path_style;
		}
		if (region == NULL)
			region = (*token)->region;
	}
	if (region == NULL)
		region = "us-east-1";
	ask->sigv4 = signature_of(arena, region);
	if (ask->sigv4 == NULL)
		return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
						  "S3 region \"%s\" is too long", region);
	return make_url(arena, path, object, endpoint, region, path_style,
					&ask->url, err);
}
