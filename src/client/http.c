/*
 * http.c
 *	  Byte ranges by HTTP and HTTPS: gets on libcurl's multi interface.
 *
 * A get first waits for the addresses of its host, then runs inside libcurl.
 * Redirects are not followed and the environment's proxies not used: a get
 * goes where its URL says.  The body of a good answer goes straight into the
 * caller's buffer.
 *
 * libcurl keeps its memory in malloc.  Its sockets are opened and closed
 * through the host's accounting; two more, by which other threads could wake
 * it, are counted with the handle.  A socket that has not connected yet libcurl
 * closes without a word: so after all that it does we look which are left.
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http.h"
#include "http_site.h"
#include "net.h"

#define MAX_SOCKETS			32
#define OWN_FDS				2
#define ERROR_BODY			1024
#define RECEIVE_BUFFER		(256L * 1024)
/* S3 demands it; not every libcurl adds it by itself. */
#define EMPTY_BODY_HASH		"x-amz-content-sha256:" \
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* A socket that the host has counted, and which one it is. */
typedef struct http_socket
{
	int			fd;
	ino_t		inode;
} http_socket;

struct fluss_http_get
{
	fluss_http_get *next;
	fluss_http *http;
	http_site  *site;			/* NULL: the URL has the address itself */
	CURL	   *easy;
	struct curl_slist *headers;
	bool		in_multi;
	int64_t		last_ms;		/* when something came */
	int64_t		offset;
	uint8_t    *buffer;
	size_t		size;
	bool		has_range;		/* the answer said which bytes it has */
	int64_t		range_size;		/* so many */
	bool		overflow;
	char		body[ERROR_BODY];	/* of a refusal */
	size_t		body_size;
	char		curl_text[CURL_ERROR_SIZE];
	fluss_http_result result;
};

struct fluss_http
{
	const fluss_host *host;
	CURLM	   *multi;
	int			connect_timeout_ms;
	int			stall_timeout_ms;
	fluss_pollfd sockets[MAX_SOCKETS];
	int			nsockets;
	http_socket opened[MAX_SOCKETS];
	int			nopened;
	int64_t		due_ms;			/* libcurl wants to be called; -1: never */
	fluss_http_get *gets;
	http_site  *sites;
	int			own_fds;		/* counted for the handle */
	bool		global;
};

static int64_t
now_ms(const fluss_http *http)
{
	return http->host->now_ms(http->host->arg);
}

/* ---- what libcurl calls */

static curl_socket_t
on_open_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	fluss_http *http = arg;
	const fluss_host *host = http->host;
	struct stat status;
	int			fd;

	if (http->nopened == MAX_SOCKETS ||
		(host->acquire_fd != NULL && !host->acquire_fd(host->arg)))
		return CURL_SOCKET_BAD;
	fd = socket(address->family, address->socktype | SOCK_CLOEXEC,
				address->protocol);
	if (fd < 0 || fstat(fd, &status) != 0)
	{
		if (fd >= 0)
			close(fd);
		if (host->release_fd != NULL)
			host->release_fd(host->arg, fd);
		return CURL_SOCKET_BAD;
	}
	http->opened[http->nopened].fd = fd;
	http->opened[http->nopened++].inode = status.st_ino;
	return fd;
}

/* The socket was closed. */
static void
forget_opened(fluss_http *http, int i)
{
	int			fd = http->opened[i].fd;

	http->opened[i] = http->opened[--http->nopened];
	if (http->host->release_fd != NULL)
		http->host->release_fd(http->host->arg, fd);
}

static int
on_close_socket(void *arg, curl_socket_t fd)
{
	fluss_http *http = arg;
	int			i = 0;

	close(fd);
	while (i < http->nopened && http->opened[i].fd != fd)
		i++;
	if (i < http->nopened)
		forget_opened(http, i);
	return 0;
}

/* The number may be somebody else's by now. */
static void
find_closed(fluss_http *http)
{
	for (int i = http->nopened - 1; i >= 0; i--)
	{
		struct stat status;

		if (fstat(http->opened[i].fd, &status) != 0 ||
			!S_ISSOCK(status.st_mode) ||
			status.st_ino != http->opened[i].inode)
			forget_opened(http, i);
	}
}

static int
on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	fluss_http *http = arg;
	int			i = 0;

	while (i < http->nsockets && http->sockets[i].fd != fd)
		i++;
	if (what == CURL_POLL_REMOVE)
	{
		if (i < http->nsockets)
			http->sockets[i] = http->sockets[--http->nsockets];
		return 0;
	}
	if (i == http->nsockets)
	{
		/* one too many is not waited for: its get times out */
		if (i == MAX_SOCKETS)
			return 0;
		http->nsockets++;
	}
	http->sockets[i].fd = fd;
	http->sockets[i].want_read = (what & CURL_POLL_IN) != 0;
	http->sockets[i].want_write = (what & CURL_POLL_OUT) != 0;
	return 0;
}

static int
on_timer(CURLM *multi, long timeout_ms, void *arg)
{
	fluss_http *http = arg;

	http->due_ms = timeout_ms < 0 ? -1 : now_ms(http) + timeout_ms;
	return 0;
}

static long
http_status_of(const fluss_http_get *get)
{
	long		status = 0;

	curl_easy_getinfo(get->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

/*
 * "Content-Range: bytes 5-9/100".  A range shorter than was asked for is the
 * end of the file, or else not an answer; for "5-9" of unknown length that has
 * to be believed.
 */
static size_t
on_header(char *data, size_t unit, size_t count, void *arg)
{
	static const char name[] = "content-range:";
	fluss_http_get *get = arg;
	size_t		size = unit * count;
	char		line[128];
	long long	first;
	long long	last;
	long long	length;
	int			n;

	get->last_ms = now_ms(get->http);
	if (size < sizeof(name) || size >= sizeof(line) ||
		strncasecmp(data, name, sizeof(name) - 1) != 0)
		return size;
	memcpy(line, data, size);
	line[size] = '\0';
	n = sscanf(line + sizeof(name) - 1, " bytes %lld-%lld/%lld", &first, &last,
			   &length);
	get->has_range = false;
	if (n >= 2 && first == get->offset && last >= first &&
		last - first < (int64_t) get->size &&
		(n == 2 || last + 1 == length ||
		 last - first == (int64_t) get->size - 1))
	{
		get->has_range = true;
		get->range_size = last - first + 1;
	}
	return size;
}

static size_t
on_body(char *data, size_t unit, size_t count, void *arg)
{
	fluss_http_get *get = arg;
	size_t		size = unit * count;
	size_t		room;

	get->last_ms = now_ms(get->http);
	if (http_status_of(get) != 206)
	{
		room = sizeof(get->body) - 1 - get->body_size;
		memcpy(get->body + get->body_size, data, size < room ? size : room);
		get->body_size += size < room ? size : room;
		/* a whole file, where a part was asked for, is not read to its end */
		return http_status_of(get) < 300 ? 0 : size;
	}
	if (!get->has_range || size > get->size - get->result.size)
	{
		get->overflow = get->has_range;
		return 0;
	}
	memcpy(get->buffer + get->result.size, data, size);
	get->result.size += size;
	return size;
}

/* ---- opening and closing */

fluss_http *
fluss_http_open(const fluss_host *host, int connect_timeout_ms,
				int stall_timeout_ms)
{
	fluss_http *http = host->alloc(host->arg, sizeof(*http));

	if (http == NULL)
		return NULL;
	memset(http, 0, sizeof(*http));
	http->host = host;
	http->connect_timeout_ms = connect_timeout_ms;
	http->stall_timeout_ms = stall_timeout_ms;
	http->due_ms = -1;
	while (http->own_fds < OWN_FDS &&
		   (host->acquire_fd == NULL || host->acquire_fd(host->arg)))
		http->own_fds++;
	http->global = http->own_fds == OWN_FDS &&
		curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
	if (http->global)
		http->multi = curl_multi_init();
	if (http->multi == NULL)
	{
		fluss_http_close(http);
		return NULL;
	}
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
	curl_multi_setopt(http->multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
	curl_multi_setopt(http->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS,
					  (long) MAX_SOCKETS / 2);
	return http;
}

void
fluss_http_close(fluss_http *http)
{
	const fluss_host *host;

	if (http == NULL)
		return;
	host = http->host;
	fluss_http_sites_free(host, http->sites);
	if (http->multi != NULL)
		curl_multi_cleanup(http->multi);
	find_closed(http);
	if (http->global)
		curl_global_cleanup();
	while (http->own_fds-- > 0 && host->release_fd != NULL)
		host->release_fd(host->arg, -1);
	host->free(host->arg, http);
}

/* ---- gets */

static void
finish(fluss_http_get *get, fluss_http_outcome outcome, const char *reason)
{
	get->result.outcome = outcome;
	snprintf(get->result.reason, sizeof(get->result.reason), "%s", reason);
	if (get->in_multi)
		curl_multi_remove_handle(get->http->multi, get->easy);
	get->in_multi = false;
}

static bool
append_header(fluss_http_get *get, const char *header)
{
	struct curl_slist *list = curl_slist_append(get->headers, header);

	if (list != NULL)
		get->headers = list;
	return list != NULL;
}

static bool
set_signature(fluss_http_get *get, const fluss_http_ask *ask)
{
	char		header[4096];
	bool		good;

	if (ask->sigv4 == NULL)
		return true;
	good = curl_easy_setopt(get->easy, CURLOPT_AWS_SIGV4, ask->sigv4) == CURLE_OK &&
		curl_easy_setopt(get->easy, CURLOPT_USERNAME, ask->access_key) == CURLE_OK &&
		curl_easy_setopt(get->easy, CURLOPT_PASSWORD, ask->secret_key) == CURLE_OK &&
		append_header(get, EMPTY_BODY_HASH);
	if (!good || ask->session_token == NULL)
		return good;
	good = snprintf(header, sizeof(header), "x-amz-security-token:%s",
					ask->session_token) < (int) sizeof(header) &&
		append_header(get, header);
	explicit_bzero(header, sizeof(header));
	return good;
}

static bool
set_options(fluss_http_get *get, const fluss_http_ask *ask)
{
	fluss_http *http = get->http;
	CURL	   *easy = get->easy;
	char		range[64];

	snprintf(range, sizeof(range), "%lld-%lld", (long long) ask->offset,
			 (long long) (ask->offset + (int64_t) ask->size - 1));
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS,
					 (long) (CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	/* a key is no path: its dots mean nothing */
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long) CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
					 (long) http->connect_timeout_ms);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, RECEIVE_BUFFER);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "fluss_fdw");
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, get->curl_text);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, get);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, http);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close_socket);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, http);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, get);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, get);
	return curl_easy_setopt(easy, CURLOPT_URL, ask->url) == CURLE_OK &&
		curl_easy_setopt(easy, CURLOPT_RANGE, range) == CURLE_OK &&
		set_signature(get, ask) &&
		curl_easy_setopt(easy, CURLOPT_HTTPHEADER, get->headers) == CURLE_OK;
}

/* Hands the get to libcurl. */
static void
run(fluss_http_get *get)
{
	fluss_http *http = get->http;

	get->last_ms = now_ms(http);
	if (get->site != NULL)
		curl_easy_setopt(get->easy, CURLOPT_RESOLVE, get->site->entry);
	if (curl_multi_add_handle(http->multi, get->easy) != CURLM_OK)
		finish(get, FLUSS_HTTP_CUT, "Out of memory");
	else
		get->in_multi = true;
}

fluss_http_get *
fluss_http_start(fluss_http *http, const fluss_http_ask *ask)
{
	fluss_http_get *get;
	fluss_sockaddr numeric;
	char		name[FLUSS_SITE_NAME];
	int32_t		port;
	bool		good;

	if (!fluss_http_site_of(ask->url, name, &port))
		return NULL;
	get = http->host->alloc(http->host->arg, sizeof(*get));
	if (get == NULL)
		return NULL;
	memset(get, 0, sizeof(*get));
	get->http = http;
	get->offset = ask->offset;
	get->buffer = ask->buffer;
	get->size = ask->size;
	get->last_ms = now_ms(http);
	get->next = http->gets;
	http->gets = get;
	get->easy = curl_easy_init();
	good = get->easy != NULL && set_options(get, ask);
	if (good && !fluss_net_numeric(name, port, &numeric))
	{
		get->site = fluss_http_site_find(&http->sites, http->host, name, port);
		good = get->site != NULL;
	}
	if (!good)
	{
		fluss_http_free(get);
		return NULL;
	}
	if (get->site == NULL)
		run(get);
	else
		fluss_http_site_resolve(get->site, http->host,
								http->connect_timeout_ms);
	return get;
}

const fluss_http_result *
fluss_http_result_of(const fluss_http_get *get)
{
	return &get->result;
}

void
fluss_http_free(fluss_http_get *get)
{
	const fluss_host *host = get->http->host;
	fluss_http_get **link = &get->http->gets;

	while (*link != get)
		link = &(*link)->next;
	*link = get->next;
	if (get->in_multi)
		curl_multi_remove_handle(get->http->multi, get->easy);
	if (get->easy != NULL)
		curl_easy_cleanup(get->easy);
	find_closed(get->http);
	curl_slist_free_all(get->headers);
	host->free(host->arg, get);
}

/* ---- how a get ended */

/* <Code>NoSuchKey</Code>: letters only, whatever the peer sends. */
static void
read_code(fluss_http_get *get)
{
	const char *start = strstr(get->body, "<Code>");
	size_t		length = 0;

	if (start == NULL)
		return;
	start += strlen("<Code>");
	while (((start[length] | 0x20) >= 'a' && (start[length] | 0x20) <= 'z') &&
		   length < sizeof(get->result.code) - 1)
		length++;
	if (start[length] == '<')
		memcpy(get->result.code, start, length);
}

static fluss_http_outcome
outcome_of(CURLcode code)
{
	switch (code)
	{
		case CURLE_COULDNT_RESOLVE_HOST:
		case CURLE_COULDNT_CONNECT:
		case CURLE_SSL_CONNECT_ERROR:
		case CURLE_PEER_FAILED_VERIFICATION:
		case CURLE_OPERATION_TIMEDOUT:
			return FLUSS_HTTP_NO_SERVER;
		case CURLE_UNSUPPORTED_PROTOCOL:
		case CURLE_WEIRD_SERVER_REPLY:
		case CURLE_WRITE_ERROR:
			return FLUSS_HTTP_WRONG;
		default:
			return FLUSS_HTTP_CUT;
	}
}

static void
on_finished(fluss_http_get *get, CURLcode code)
{
	long		status = http_status_of(get);
	bool		complete = code == CURLE_OK || code == CURLE_WRITE_ERROR;
	char		reason[64];

	get->result.http_status = (int) status;
	if (complete && status != 206 && status < 300)
		finish(get, FLUSS_HTTP_WRONG, "The server ignored the range that was asked for");
	else if (status >= 300)
	{
		read_code(get);
		snprintf(reason, sizeof(reason), "The server answered with HTTP status %ld",
				 status);
		finish(get, FLUSS_HTTP_REFUSED, reason);
	}
	else if (complete && (!get->has_range || get->overflow))
		finish(get, FLUSS_HTTP_WRONG, get->overflow ?
			   "The answer is longer than it says" :
			   "The answer has another range than was asked for");
	else if (code != CURLE_OK)
		finish(get, outcome_of(code), get->curl_text[0] != '\0' ?
			   get->curl_text : curl_easy_strerror(code));
	else if ((int64_t) get->result.size != get->range_size)
		finish(get, FLUSS_HTTP_CUT, "The answer is shorter than it says");
	else
		finish(get, FLUSS_HTTP_DONE, "");
}

/* ---- the loop */

static void
step_curl(fluss_http *http)
{
	fluss_pollfd sockets[MAX_SOCKETS];
	int			n = http->nsockets;
	int			running;
	CURLMsg    *message;

	memcpy(sockets, http->sockets, sizeof(*sockets) * (size_t) n);
	for (int i = 0; i < n; i++)
	{
		bool		still = false;

		for (int j = 0; j < http->nsockets; j++)
			still = still || http->sockets[j].fd == sockets[i].fd;
		/* libcurl looks itself what the socket is ready for */
		if (still)
			curl_multi_socket_action(http->multi, sockets[i].fd, 0, &running);
	}
	if (http->due_ms >= 0 && now_ms(http) >= http->due_ms)
	{
		http->due_ms = -1;
		curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	while ((message = curl_multi_info_read(http->multi, &n)) != NULL)
	{
		fluss_http_get *get = NULL;

		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
						  (char **) &get);
		if (message->msg == CURLMSG_DONE && get != NULL)
			on_finished(get, message->data.result);
	}
}

/* Gets that wait for addresses, or have waited too long. */
static void
step_get(fluss_http_get *get)
{
	http_site  *site = get->site;

	if (!get->in_multi && site != NULL && site->resolver == NULL)
	{
		char		reason[FLUSS_MAX_ADDRESSES * 64];

		if (site->reason[0] == '\0')
			run(get);
		else
		{
			snprintf(reason, sizeof(reason),
					 "Could not resolve host name \"%.128s\": %s", site->name,
					 site->reason);
			finish(get, FLUSS_HTTP_NO_SERVER, reason);
		}
	}
	else if (now_ms(get->http) - get->last_ms >= get->http->stall_timeout_ms)
		finish(get, FLUSS_HTTP_TIMED_OUT, "No answer within the request timeout");
}

bool
fluss_http_step(fluss_http *http)
{
	bool		finished = false;

	for (http_site *site = http->sites; site != NULL; site = site->next)
	{
		if (site->resolver != NULL)
			fluss_http_site_step(site, http->host);
	}
	for (fluss_http_get *get = http->gets; get != NULL; get = get->next)
	{
		if (get->result.outcome == FLUSS_HTTP_RUNNING && !get->in_multi)
			step_get(get);
	}
	step_curl(http);
	for (fluss_http_get *get = http->gets; get != NULL; get = get->next)
	{
		if (get->result.outcome == FLUSS_HTTP_RUNNING)
			step_get(get);
		finished = finished || get->result.outcome != FLUSS_HTTP_RUNNING;
	}
	find_closed(http);
	return finished;
}

void
fluss_http_postpone(fluss_http *http, int64_t ms)
{
	for (fluss_http_get *get = http->gets; get != NULL; get = get->next)
		get->last_ms += ms;
}

int
fluss_http_max_fds(const fluss_http *http)
{
	int			n = http->nsockets;

	for (http_site *site = http->sites; site != NULL; site = site->next)
		n += site->resolver != NULL ? FLUSS_RESOLVER_FDS : 0;
	return n;
}

static void
set_earlier(int64_t *until_ms, int64_t time_ms)
{
	if (time_ms < *until_ms)
		*until_ms = time_ms;
}

int
fluss_http_fds(const fluss_http *http, fluss_pollfd *fds, int64_t *until_ms)
{
	int			n = http->nsockets;

	memcpy(fds, http->sockets, sizeof(*fds) * (size_t) n);
	if (http->due_ms >= 0)
		set_earlier(until_ms, http->due_ms);
	for (http_site *site = http->sites; site != NULL; site = site->next)
	{
		int			wait_ms = -1;

		if (site->resolver == NULL)
			continue;
		n += fluss_resolver_fds(site->resolver, fds + n, &wait_ms);
		if (wait_ms >= 0)
			set_earlier(until_ms, now_ms(http) + wait_ms);
	}
	for (fluss_http_get *get = http->gets; get != NULL; get = get->next)
	{
		if (get->result.outcome == FLUSS_HTTP_RUNNING)
			set_earlier(until_ms, get->last_ms + http->stall_timeout_ms);
	}
	return n;
}
