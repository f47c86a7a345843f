/*
 * support.c
 *	  What the unit tests share: a host over malloc and poll that can be told
 *	  to fail, and test vectors.
 */
/* ppoll */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support.h"

static struct
{
	int			fail_alloc_in;
	bool		alloc_failed;
	int			interrupt_in;
	bool		interrupted;
	int			live_blocks;
	int			live_fds;
	int			waits;
	int			log_lines;
	int64_t		clock_skew_ms;
	void		(*step) (void);
	int64_t		stepped_ms;		/* the clock while step is set */
}			state;

/* What a millisecond of the clock takes while step is set. */
#define SLICE_NS	200000

static int64_t
real_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Whoever plays the servers gets a turn each millisecond. */
static int
stepped_poll(struct pollfd *polls, int nfds, int timeout_ms)
{
	const struct timespec slice = {0, SLICE_NS};

	for (int left_ms = timeout_ms;; left_ms--)
	{
		int			n;

		state.step();
		n = ppoll(polls, nfds, &slice, NULL);
		if (n != 0 || left_ms == 0)
			return n;
		state.stepped_ms++;
	}
}

static void *
host_alloc(void *arg, size_t size)
{
	void	   *result;

	if (state.fail_alloc_in > 0 && --state.fail_alloc_in == 0)
	{
		state.alloc_failed = true;
		return NULL;
	}
	result = malloc(size);
	if (result != NULL)
	{
		state.live_blocks++;
		/* so that nobody relies on zeros */
		memset(result, 0xa5, size < 4096 ? size : 4096);
	}
	return result;
}

static void
host_free(void *arg, void *ptr)
{
	if (ptr != NULL)
		state.live_blocks--;
	free(ptr);
}

static fluss_wait_result
host_wait(void *arg, const fluss_pollfd *fds, int nfds, int timeout_ms)
{
	struct pollfd polls[64];
	int			n;

	state.waits++;
	if (state.interrupt_in > 0 && --state.interrupt_in == 0)
	{
		state.interrupted = true;
		return FLUSS_WAIT_INTERRUPTED;
	}
	if (nfds == 0)
	{
		if (timeout_ms < 0)
			fail_msg("waits for ever for nothing");
		test_host_advance_ms(timeout_ms);
		if (state.step != NULL)
			state.step();
		return FLUSS_WAIT_TIMEOUT;
	}
	assert_in_range(nfds, 1, 64);
	for (int i = 0; i < nfds; i++)
	{
		polls[i].fd = fds[i].fd;
		polls[i].events = (fds[i].want_read ? POLLIN : 0) |
			(fds[i].want_write ? POLLOUT : 0);
		polls[i].revents = 0;
	}
	do
		n = state.step != NULL ? stepped_poll(polls, nfds, timeout_ms) :
			poll(polls, nfds, timeout_ms);
	while (n < 0 && errno == EINTR);
	assert_true(n >= 0);
	return n == 0 ? FLUSS_WAIT_TIMEOUT : FLUSS_WAIT_READY;
}

static int64_t
host_now_ms(void *arg)
{
	if (state.step != NULL)
		return state.stepped_ms;
	return real_now_ms() + state.clock_skew_ms;
}

static bool
host_acquire_fd(void *arg)
{
	state.live_fds++;
	return true;
}

static void
host_release_fd(void *arg, int fd)
{
	state.live_fds--;
}

static void
host_log(void *arg, const char *line)
{
	state.log_lines++;
	if (getenv("TEST_LOG") != NULL)
		fprintf(stderr, "%s\n", line);
}

const fluss_host *
test_host(void)
{
	static const fluss_host host = {
		.alloc = host_alloc,
		.free = host_free,
		.wait = host_wait,
		.now_ms = host_now_ms,
		.acquire_fd = host_acquire_fd,
		.release_fd = host_release_fd,
		.log = host_log
	};

	return &host;
}

void
test_host_fail_alloc_at(int n)
{
	state.fail_alloc_in = n;
	state.alloc_failed = false;
}

bool
test_host_alloc_failed(void)
{
	return state.alloc_failed;
}

void
test_host_interrupt_at(int n)
{
	state.interrupt_in = n;
	state.interrupted = false;
}

bool
test_host_interrupted(void)
{
	return state.interrupted;
}

int
test_host_live_blocks(void)
{
	return state.live_blocks;
}

int
test_host_live_fds(void)
{
	return state.live_fds;
}

int
test_set_up(void **unused)
{
	state.live_blocks = 0;
	state.live_fds = 0;
	test_host_fail_alloc_at(0);
	test_host_interrupt_at(0);
	return 0;
}

int
test_host_waits(void)
{
	return state.waits;
}

int
test_host_log_lines(void)
{
	return state.log_lines;
}

void
test_host_advance_ms(int64_t ms)
{
	state.clock_skew_ms += ms;
	state.stepped_ms += ms;
}

void
test_host_on_wait(void (*step) (void))
{
	/* the clock never goes back */
	if (step != NULL && state.step == NULL)
		state.stepped_ms = host_now_ms(NULL);
	else if (step == NULL && state.step != NULL)
		state.clock_skew_ms = state.stepped_ms - real_now_ms();
	state.step = step;
}

json_t *
test_vectors(const char *file)
{
	char		path[1024];
	json_error_t error;
	json_t	   *json;

	snprintf(path, sizeof(path), "test/unit/vectors/%s", file);
	json = json_load_file(path, 0, &error);
	if (json == NULL)
		fail_msg("%s: %s (run from the top of the tree)", path, error.text);
	return json;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	fail_msg("not a hex digit: '%c'", c);
	return 0;
}

size_t
test_hex(const char *hex, uint8_t **out)
{
	size_t		size = strlen(hex) / 2;

	assert_int_equal(strlen(hex) % 2, 0);
	/* exact size, so that the sanitizer sees a byte too many */
	*out = malloc(size > 0 ? size : 1);
	assert_non_null(*out);
	for (size_t i = 0; i < size; i++)
		(*out)[i] = (uint8_t) (hex_digit(hex[2 * i]) << 4 |
							   hex_digit(hex[2 * i + 1]));
	return size;
}

const char *
test_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (text == NULL)
		fail_msg("no string \"%s\"", key);
	return text;
}
