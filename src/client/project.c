/*
 * project.c
 *	  The wanted columns of a table, in data written under any of its schemas.
 *
 * Columns are matched by id; one that a schema lacks was added later and is
 * NULL in what that schema wrote.
 */
#include "project.h"

#include "error.h"

static void
free_arena(void *arena)
{
	fluss_arena_free(arena);
}

fluss_status
fluss_projector_init(fluss_projector *projector, fluss_client *client,
					 fluss_table *table, fluss_arena *arena,
					 const int32_t *columns, int ncolumns, fluss_error *err)
{
	for (int i = 0; i < ncolumns; i++)
	{
		if (columns[i] < 0 || columns[i] >= table->schema->ncolumns)
			return fluss_fail(err, FLUSS_INVALID_ARGUMENT,
							  "table \"%s.%s\" has no column at position %d",
							  table->database, table->name, (int) columns[i]);
	}
	projector->client = client;
	projector->table = table;
	projector->arena = arena;
	projector->ncolumns = ncolumns;
	projector->projections = NULL;
	fluss_arena_init(&projector->nested, arena->host);
	projector->columns = fluss_arena_memdup(arena, columns,
											(size_t) ncolumns *
											sizeof(int32_t));
	if (projector->columns == NULL ||
		!fluss_arena_on_reset(arena, free_arena, &projector->nested))
		return fluss_fail_memory(err);
	return FLUSS_OK;
}

static fluss_status
add_projection(fluss_projector *projector, int32_t schema_id,
			   fluss_projection **result, fluss_error *err)
{
	fluss_projection *added;
	bool	   *want;
	fluss_status status;

	added = fluss_arena_alloc0(projector->arena, sizeof(fluss_projection));
	if (added == NULL)
		return fluss_fail_memory(err);
	status = fluss_table_schema(projector->client, projector->table, schema_id,
								&added->schema, err);
	if (status == FLUSS_OK)
		status = fluss_column_mapping(projector->arena,
									  projector->table->schema,
									  projector->columns, projector->ncolumns,
									  added->schema, &added->source, err);
	if (status != FLUSS_OK)
		return status;
	added->row = fluss_arena_array(projector->arena,
								   (size_t) added->schema->ncolumns,
								   sizeof(fluss_value));
	want = fluss_arena_array(projector->arena,
							 (size_t) added->schema->ncolumns, sizeof(bool));
	if (added->row == NULL || want == NULL)
		return fluss_fail_memory(err);
	for (int i = 0; i < projector->ncolumns; i++)
	{
		if (added->source[i] >= 0)
			want[added->source[i]] = true;
	}
	added->want = want;
	added->next = projector->projections;
	projector->projections = added;
	*result = added;
	return FLUSS_OK;
}

fluss_status
fluss_projector_find(fluss_projector *projector, int32_t schema_id,
					 const fluss_projection **projection, fluss_error *err)
{
	fluss_projection *found = projector->projections;

	while (found != NULL && found->schema->schema_id != schema_id)
		found = found->next;
	if (found == NULL)
	{
		fluss_status status = add_projection(projector, schema_id, &found,
											 err);

		if (status != FLUSS_OK)
			return status;
	}
	*projection = found;
	return FLUSS_OK;
}

fluss_status
fluss_projector_row(fluss_projector *projector, int32_t schema_id,
					const uint8_t *row, size_t size, fluss_value *values,
					fluss_error *err)
{
	const fluss_projection *projection;
	fluss_status status;

	status = fluss_projector_find(projector, schema_id, &projection, err);
	if (projector->nested.blocks != NULL)
		fluss_arena_reset(&projector->nested);
	if (status == FLUSS_OK)
		status = fluss_row_decode(&projector->nested,
								  projector->table->kv_format,
								  projection->schema, projection->want, row,
								  size, projection->row, err);
	if (status != FLUSS_OK)
		return status;
	for (int i = 0; i < projector->ncolumns; i++)
	{
		if (projection->source[i] >= 0)
			values[i] = projection->row[projection->source[i]];
		else
			values[i] = (fluss_value) {.is_null = true};
	}
	return FLUSS_OK;
}
