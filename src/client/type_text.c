/*
 * type_text.c
 *	  The public way to read a scalar type from its SQL spelling.
 */
#include "arena.h"
#include "error.h"
#include "schema.h"

fluss_status
fluss_type_from_text(const fluss_host *host, const char *text,
					 fluss_type *type, fluss_error *err)
{
	fluss_arena arena;
	fluss_status status;

	/* only the children of a nested type are in the arena */
	fluss_arena_init(&arena, host);
	status = fluss_type_parse(&arena, text, type, err);
	fluss_arena_free(&arena);
	if (status != FLUSS_OK)
		return status;
	if (!fluss_type_is_scalar(type))
		return fluss_fail(err, FLUSS_UNSUPPORTED,
						  "nested Fluss types are not supported yet: \"%s\"",
						  text);
	return FLUSS_OK;
}
