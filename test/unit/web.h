/*
 * web.h
 *	  An HTTP server that misbehaves on demand, played by the test's own
 *	  thread: it gets its turn whenever the library waits.
 */
#ifndef FLUSS_TEST_WEB_H
#define FLUSS_TEST_WEB_H

#include "support.h"

#define WEB_OBJECT_SIZE	300000

typedef struct web_server
{
	int			port;

	/* what to do wrong; all zero: serve ranges of the object */
	int			http_status;	/* instead of 206 */
	const char *body;			/* instead of the object's bytes */
	const char *headers;		/* more of them, each with its end of line */
	const char *content_range;	/* instead of the right one; "": none */
	int			content_length; /* added to the right one */
	int			drip;			/* bytes a turn; 0: all at once */
	int			stop_after;		/* bytes of the answer; 0: all */
	bool		reset;			/* then, instead of staying silent */
	int			bad;			/* so many requests; then all is well */

	/* what was seen */
	int			accepted;
	int			requests;
	char		last[8192];		/* the last request's head */
} web_server;

/* Byte i of the object. */
uint8_t web_byte(int64_t i);
/* A server on a port of its own; the only one of the test. */
web_server *web_start(void);
void web_step(void);
void web_end(void);

#endif							/* FLUSS_TEST_WEB_H */
