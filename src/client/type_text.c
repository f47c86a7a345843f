/*
 * type_text.c
 *	  The public way to read a type from its SQL spelling.
 */
#include "arena.h"
#include "error.h"
#include "schema.h"

/* Bytes of all children with their names, at every depth. */
static size_t
children_size(const fluss_type *type)
{
	size_t		size = (size_t) type->nchildren * sizeof(fluss_column);

	for (int32_t i = 0; i < type->nchildren; i++)
	{
		/* so that what follows a name is aligned */
		size += (strlen(type->children[i].name) + 8) / 8 * 8;
		size += children_size(&type->children[i].type);
	}
	return size;
}

/* Copies the children to *next, and moves it behind them. */
static void
copy_children(fluss_type *type, char **next)
{
	fluss_column *copies = (fluss_column *) *next;
	size_t		size = (size_t) type->nchildren * sizeof(fluss_column);

	if (type->nchildren == 0)
		return;
	memcpy(copies, type->children, size);
	*next += size;
	for (int32_t i = 0; i < type->nchildren; i++)
	{
		copies[i].name = strcpy(*next, copies[i].name);
		*next += (strlen(copies[i].name) + 8) / 8 * 8;
		copy_children(&copies[i].type, next);
	}
	type->children = copies;
}

fluss_status
fluss_type_from_text(const fluss_host *host, const char *text,
					 fluss_type *type, fluss_error *err)
{
	fluss_arena arena;
	fluss_status status;

	fluss_arena_init(&arena, host);
	status = fluss_type_parse(&arena, text, type, err);
	if (status == FLUSS_OK && type->nchildren > 0)
	{
		char	   *copy = host->alloc(host->arg, children_size(type));

		if (copy != NULL)
			copy_children(type, &copy);
		else
			status = fluss_fail_memory(err);
	}
	fluss_arena_free(&arena);
	return status;
}
