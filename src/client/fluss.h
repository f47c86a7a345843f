/*
 * fluss.h
 *	  Public interface of the Fluss client library.
 *
 * The library is plain C11 over POSIX.  It starts no threads, keeps no global
 * state and never jumps out of a call: every fallible function returns a
 * fluss_status and fills the caller's fluss_error exactly once.  Memory,
 * waiting and time come from the host's hooks, so the same code runs inside a
 * PostgreSQL backend, in unit tests and in fuzzers.
 *
 * Ownership: a handle returned through an out parameter belongs to the caller
 * until its _close/_release function; those functions accept NULL, never fail
 * and never wait.  Pointers inside results live as long as the comment at the
 * function says.
 */
#ifndef FLUSS_H
#define FLUSS_H

#include "fluss_base.h"			/* errors, host, client */
#include "fluss_table.h"		/* types, schemas, tables, offsets */
#include "fluss_value.h"		/* values, column views */
#include "fluss_read.h"			/* log scans, lookups, whole reads */
#include "fluss_write.h"		/* writing, administration */

#endif							/* FLUSS_H */
