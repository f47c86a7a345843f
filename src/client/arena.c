/*
 * arena.c
 *	  Bump allocation over the host's memory.
 *
 * Blocks form a list, newest first; only the first one is bumped.  A request
 * too big to share a block gets one of its own, put behind the first so that
 * the rest of that one is not lost.  Every block is charged to
 * arena->allocated by its full size.
 */
#include <string.h>

#include "arena.h"

#define FIRST_BLOCK		((size_t) 1024)
#define LARGEST_BLOCK	((size_t) 256 * 1024)

struct fluss_arena_block
{
	fluss_arena_block *next;
	size_t		size;			/* of the whole block */
	size_t		used;			/* header included */
};

struct fluss_arena_cleanup
{
	fluss_arena_cleanup *next;
	void		(*run) (void *arg);
	void	   *arg;
};

/* Hosts align their memory for 64-bit types only. */
#define ALIGNMENT		((size_t) 8)
#define ALIGN_UP(n)		(((n) + ALIGNMENT - 1) & ~(ALIGNMENT - 1))
#define BLOCK_HEADER	ALIGN_UP(sizeof(fluss_arena_block))

void
fluss_arena_init(fluss_arena *arena, const fluss_host *host)
{
	memset(arena, 0, sizeof(*arena));
	arena->host = host;
}

static fluss_arena_block *
new_block(fluss_arena *arena, size_t size)
{
	fluss_arena_block *block = arena->host->alloc(arena->host->arg, size);

	if (block == NULL)
		return NULL;
	block->size = size;
	block->used = BLOCK_HEADER;
	arena->allocated += size;
	return block;
}

static void *
block_take(fluss_arena_block *block, size_t size)
{
	void	   *result = (char *) block + block->used;

	block->used += size;
	return result;
}

/* Blocks double with what the arena holds, so few are needed. */
static size_t
next_block_size(const fluss_arena *arena)
{
	size_t		size = FIRST_BLOCK;

	while (size < arena->allocated && size < LARGEST_BLOCK)
		size *= 2;
	return size;
}

void *
fluss_arena_alloc(fluss_arena *arena, size_t size)
{
	fluss_arena_block *first = arena->blocks;
	fluss_arena_block *block;
	size_t		block_size;

	if (size > PTRDIFF_MAX - 2 * BLOCK_HEADER)
		return NULL;
	size = size == 0 ? ALIGNMENT : ALIGN_UP(size);
	if (first != NULL && first->size - first->used >= size)
		return block_take(first, size);

	block_size = next_block_size(arena);
	if (size > (block_size - BLOCK_HEADER) / 4)
	{
		block = new_block(arena, BLOCK_HEADER + size);
		if (block == NULL)
			return NULL;
		if (first == NULL)
		{
			block->next = NULL;
			arena->blocks = block;
		}
		else
		{
			block->next = first->next;
			first->next = block;
		}
		return block_take(block, size);
	}

	block = new_block(arena, block_size);
	if (block == NULL)
		return NULL;
	block->next = first;
	arena->blocks = block;
	return block_take(block, size);
}

void *
fluss_arena_alloc0(fluss_arena *arena, size_t size)
{
	void	   *result = fluss_arena_alloc(arena, size);

	if (result != NULL)
		memset(result, 0, size);
	return result;
}

void *
fluss_arena_array(fluss_arena *arena, size_t count, size_t size)
{
	size_t		total;

	if (__builtin_mul_overflow(count, size, &total))
		return NULL;
	return fluss_arena_alloc0(arena, total);
}

void *
fluss_arena_memdup(fluss_arena *arena, const void *data, size_t size)
{
	void	   *result = fluss_arena_alloc(arena, size);

	if (result != NULL && size > 0)
		memcpy(result, data, size);
	return result;
}

char *
fluss_arena_strdup(fluss_arena *arena, const char *text)
{
	return fluss_arena_memdup(arena, text, strlen(text) + 1);
}

char *
fluss_arena_strndup(fluss_arena *arena, const char *text, size_t size)
{
	char	   *result;

	if (size == SIZE_MAX)
		return NULL;
	result = fluss_arena_alloc(arena, size + 1);
	if (result == NULL)
		return NULL;
	if (size > 0)
		memcpy(result, text, size);
	result[size] = '\0';
	return result;
}

bool
fluss_arena_on_reset(fluss_arena *arena, void (*cleanup) (void *), void *arg)
{
	fluss_arena_cleanup *entry = fluss_arena_alloc(arena, sizeof(*entry));

	if (entry == NULL)
	{
		cleanup(arg);
		return false;
	}
	entry->run = cleanup;
	entry->arg = arg;
	entry->next = arena->cleanups;
	arena->cleanups = entry;
	return true;
}

static void
run_cleanups(fluss_arena *arena)
{
	while (arena->cleanups != NULL)
	{
		fluss_arena_cleanup *entry = arena->cleanups;

		arena->cleanups = entry->next;
		entry->run(entry->arg);
	}
}

/* Keeps the largest shareable block: the next round will need as much. */
void
fluss_arena_reset(fluss_arena *arena)
{
	fluss_arena_block *kept = NULL;
	fluss_arena_block *next;

	run_cleanups(arena);
	for (fluss_arena_block *block = arena->blocks; block != NULL; block = next)
	{
		fluss_arena_block *drop = block;

		next = block->next;
		if (block->size <= LARGEST_BLOCK &&
			(kept == NULL || block->size > kept->size))
		{
			drop = kept;
			kept = block;
		}
		if (drop != NULL)
			arena->host->free(arena->host->arg, drop);
	}
	arena->blocks = kept;
	arena->allocated = 0;
	if (kept != NULL)
	{
		kept->next = NULL;
		kept->used = BLOCK_HEADER;
		arena->allocated = kept->size;
	}
}

void
fluss_arena_free(fluss_arena *arena)
{
	run_cleanups(arena);
	while (arena->blocks != NULL)
	{
		fluss_arena_block *block = arena->blocks;

		arena->blocks = block->next;
		arena->host->free(arena->host->arg, block);
	}
	arena->allocated = 0;
}

void
fluss_arena_move_in(const fluss_arena *arena, fluss_arena *own,
					fluss_host *host)
{
	*host = *arena->host;
	*own = *arena;
	own->host = host;
}

void
fluss_arena_free_owner(const fluss_arena *own)
{
	fluss_host	host = *own->host;
	fluss_arena arena = *own;

	arena.host = &host;
	fluss_arena_free(&arena);
}
