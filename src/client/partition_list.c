/*
 * partition_list.c
 *	  Lists of partitions, without I/O: made, searched, let go.
 *
 * A list is immutable and reference counted.
 */
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "partition.h"

/* ---- lists */

static fluss_partition_list *
new_list(const fluss_host *host)
{
	fluss_partition_list *list;
	fluss_arena arena;

	fluss_arena_init(&arena, host);
	list = fluss_arena_alloc0(&arena, sizeof(*list));
	if (list == NULL)
		return NULL;
	fluss_arena_move_in(&arena, &list->arena, &list->host);
	list->references = 1;
	return list;
}

void
fluss_partitions_release(fluss_partitions *partitions)
{
	fluss_partition_list *list = (fluss_partition_list *) partitions;

	if (list != NULL && --list->references == 0)
		fluss_arena_free_owner(&list->arena);
}

const fluss_partition *
fluss_partition_by_id(const fluss_partitions *partitions, int64_t partition_id)
{
	int32_t		low = 0;
	int32_t		high = partitions->n;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;

		if (partitions->items[middle].partition_id < partition_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == partitions->n ||
		partitions->items[low].partition_id != partition_id)
		return NULL;
	return &partitions->items[low];
}

const fluss_partition *
fluss_partition_by_name(const fluss_partitions *partitions, const char *name)
{
	const fluss_partition_list *list = (const fluss_partition_list *) partitions;
	int32_t		low = 0;
	int32_t		high = partitions->n;

	while (low < high)
	{
		int32_t		middle = low + (high - low) / 2;
		int			cmp = strcmp(list->by_name[middle]->name, name);

		if (cmp == 0)
			return list->by_name[middle];
		if (cmp < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int
compare_ids(const void *a, const void *b)
{
	const fluss_partition *x = a;
	const fluss_partition *y = b;

	if (x->partition_id != y->partition_id)
		return x->partition_id < y->partition_id ? -1 : 1;
	return 0;
}

static int
compare_names(const void *a, const void *b)
{
	const fluss_partition *const *x = a;
	const fluss_partition *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* ---- what the server says */

static const char *
value_of(const fluss_partition_entry *entry, const char *key)
{
	for (int i = 0; i < entry->nvalues; i++)
	{
		if (strcmp(entry->values[i].key, key) == 0)
			return entry->values[i].value;
	}
	return NULL;
}

char *
fluss_partition_join(fluss_arena *arena, const char *const *values, int n)
{
	size_t		size = 0;
	char	   *name;
	char	   *p;

	for (int i = 0; i < n; i++)
		size += strlen(values[i]) + 1;
	name = p = fluss_arena_alloc(arena, size);
	for (int i = 0; name != NULL && i < n; i++)
	{
		size_t		length = strlen(values[i]);

		memcpy(p, values[i], length);
		p[length] = i + 1 < n ? '$' : '\0';
		p += length + 1;
	}
	return name;
}

/* The server names the columns in any order. */
static fluss_status
fill_item(fluss_arena *arena, const fluss_table *table,
		  const fluss_partition_entry *entry, fluss_partition *item,
		  fluss_error *err)
{
	int			n = table->npartition_key;
	const char **values = fluss_arena_array(arena, (size_t) n,
											sizeof(*values));

	if (values == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		const char *key =
			table->schema->columns[table->partition_key[i]].name;
		const char *value = value_of(entry, key);

		if (value == NULL)
			return fluss_fail(err, FLUSS_MALFORMED,
							  "partition %lld of Fluss table \"%s\" in database \"%s\" has no value for column \"%s\"",
							  (long long) entry->partition_id, table->name,
							  table->database, key);
		values[i] = fluss_arena_strdup(arena, value);
		if (values[i] == NULL)
			return fluss_fail_memory(err);
	}
	item->partition_id = entry->partition_id;
	item->values = values;
	item->name = fluss_partition_join(arena, values, n);
	return item->name == NULL ? fluss_fail_memory(err) : FLUSS_OK;
}

/* In two orders. */
static fluss_status
fill_list(fluss_partition_list *list, const fluss_table *table,
		  const fluss_partition_entry *entries, int n, fluss_error *err)
{
	fluss_partition *items = fluss_arena_array(&list->arena, (size_t) n,
											   sizeof(*items));

	list->by_name = fluss_arena_array(&list->arena, (size_t) n,
									  sizeof(*list->by_name));
	if (items == NULL || list->by_name == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < n; i++)
	{
		fluss_status status = fill_item(&list->arena, table, &entries[i],
										&items[i], err);

		if (status != FLUSS_OK)
			return status;
	}
	qsort(items, (size_t) n, sizeof(*items), compare_ids);
	for (int i = 0; i < n; i++)
		list->by_name[i] = &items[i];
	qsort(list->by_name, (size_t) n, sizeof(*list->by_name), compare_names);
	list->partitions.items = items;
	list->partitions.n = n;
	return FLUSS_OK;
}

fluss_status
fluss_partition_list_make(const fluss_host *host, const fluss_table *table,
						  const fluss_partition_entry *entries, int nentries,
						  fluss_partition_list **list, fluss_error *err)
{
	fluss_status status;

	*list = new_list(host);
	if (*list == NULL)
		return fluss_fail_memory(err);
	status = fill_list(*list, table, entries, nentries, err);
	if (status != FLUSS_OK)
	{
		fluss_partitions_release(&(*list)->partitions);
		*list = NULL;
	}
	return status;
}

/* ---- by the values of a row */

fluss_status
fluss_partition_name(const fluss_table *table, const fluss_value *row,
					 fluss_buf *name, fluss_error *err)
{
	for (int i = 0; i < table->npartition_key; i++)
	{
		int32_t		column = table->partition_key[i];
		char	   *text = (char *) fluss_buf_reserve(name,
													  FLUSS_PARTITION_TEXT_SIZE);
		fluss_status status;

		if (text == NULL)
			return fluss_fail_memory(err);
		status = fluss_partition_text(&table->schema->columns[column].type,
									  &row[column], text, err);
		if (status != FLUSS_OK)
			return status;
		name->size += strlen(text);
		fluss_buf_u8(name, i + 1 < table->npartition_key ? '$' : '\0');
	}
	return name->failed ? fluss_fail_memory(err) : FLUSS_OK;
}

static bool
is_float(const fluss_type *type)
{
	return type->id == FLUSS_FLOAT || type->id == FLUSS_DOUBLE;
}

static bool
same_number(const fluss_type *type, const char *a, const char *b)
{
	uint8_t		buffer[FLUSS_PARTITION_TEXT_SIZE];
	fluss_value x;
	fluss_value y;
	fluss_error ignored;

	return is_float(type) &&
		fluss_partition_value(type, a, buffer, &x, &ignored) == FLUSS_OK &&
		fluss_partition_value(type, b, buffer, &y, &ignored) == FLUSS_OK &&
		memcmp(&x, &y, sizeof(x)) == 0;
}

static bool
same_values(const fluss_table *table, const fluss_partition *partition,
			const char *name)
{
	char		text[FLUSS_PARTITION_TEXT_SIZE];

	for (int i = 0; i < table->npartition_key; i++)
	{
		size_t		size = strcspn(name, "$");
		int32_t		column = table->partition_key[i];

		if (size >= sizeof(text))
			return false;
		memcpy(text, name, size);
		text[size] = '\0';
		if (strcmp(partition->values[i], text) != 0 &&
			!same_number(&table->schema->columns[column].type,
						 partition->values[i], text))
			return false;
		name += size + (name[size] == '$');
	}
	return true;
}

const fluss_partition *
fluss_partition_find(const fluss_table *table,
					 const fluss_partitions *partitions, const char *name)
{
	const fluss_partition *found = fluss_partition_by_name(partitions, name);
	bool		numbers = false;

	for (int i = 0; i < table->npartition_key; i++)
		numbers = numbers ||
			is_float(&table->schema->columns[table->partition_key[i]].type);
	for (int i = 0; found == NULL && numbers && i < partitions->n; i++)
	{
		if (same_values(table, &partitions->items[i], name))
			found = &partitions->items[i];
	}
	return found;
}

