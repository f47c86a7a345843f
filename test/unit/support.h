/*
 * support.h
 *	  What the unit tests share: a host over malloc and poll that can be told
 *	  to fail, and test vectors.
 */
#ifndef FLUSS_TEST_SUPPORT_H
#define FLUSS_TEST_SUPPORT_H

/* cmocka wants these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>

#include "fluss.h"

/*
 * The host.  Its clock is the real one plus what sleeps without a socket would
 * have taken: those return at once.
 */
const fluss_host *test_host(void);
/* Makes the n-th allocation from now fail (1: the next one; 0: none). */
void test_host_fail_alloc_at(int n);
/* Whether that allocation was asked for. */
bool test_host_alloc_failed(void);
/* Makes the n-th wait from now say "interrupted" (1: the next; 0: none). */
void test_host_interrupt_at(int n);
bool test_host_interrupted(void);
/* Memory blocks and sockets that are not given back yet. */
int test_host_live_blocks(void);
int test_host_live_fds(void);
/*
 * Forgets both, and what was to fail or to be interrupted: what a failed test
 * left is not the next one's.  To be called first in the set-up of every test
 * that asks for them; it is one, too.
 */
int test_set_up(void **unused);
/* Waits so far: a busy loop shows here. */
int test_host_waits(void);
/* Moves the clock. */
void test_host_advance_ms(int64_t ms);
/*
 * Called again and again while the library waits; NULL: nobody is.  As long as
 * it is set only waiting makes the clock go on, however busy the machine is.
 */
void test_host_on_wait(void (*step) (void));
/* Lines logged so far. */
int test_host_log_lines(void);

/* Reads test/unit/vectors/FILE; fails the test when it cannot. */
json_t *test_vectors(const char *file);
/* Decodes hex into malloc'ed memory of exactly that size. */
size_t test_hex(const char *hex, uint8_t **out);
/* Member of a JSON object, which must be a string. */
const char *test_string(const json_t *object, const char *key);

#define assert_fluss_ok(call, err) \
	do { \
		if ((call) != FLUSS_OK) \
			fail_msg("%s: %s (%s)", #call, (err)->message, (err)->detail); \
	} while (0)

#endif							/* FLUSS_TEST_SUPPORT_H */
