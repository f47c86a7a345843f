/*
 * project.h
 *	  The wanted columns of a table, in data written under any of its schemas.
 *
 * One fluss_projector belongs to a scan or lookup and lives in its arena.
 */
#ifndef FLUSS_PROJECT_H
#define FLUSS_PROJECT_H

#include "cluster.h"
#include "row.h"

/* How the wanted columns lie in what one schema wrote. */
typedef struct fluss_projection fluss_projection;
struct fluss_projection
{
	fluss_projection *next;
	const fluss_schema *schema;
	const int32_t *source;		/* per wanted column: position, or -1 */
	fluss_value *row;			/* scratch, one per column of the schema */
	const bool *want;			/* by column of the schema */
};

typedef struct fluss_projector
{
	fluss_client *client;
	fluss_table *table;			/* not owned */
	fluss_arena *arena;			/* not owned */
	const int32_t *columns;		/* positions in table->schema */
	int			ncolumns;
	fluss_projection *projections;
	fluss_arena nested;			/* items of the last row's nested values */
} fluss_projector;

/*
 * Copies columns into the arena, which also frees what else the projector
 * takes; positions must exist.  The projector must not move.
 */
FLUSS_MUST_CHECK fluss_status fluss_projector_init(fluss_projector *projector,
												   fluss_client *client,
												   fluss_table *table,
												   fluss_arena *arena,
												   const int32_t *columns,
												   int ncolumns,
												   fluss_error *err);
/* May have to ask a server for the schema, once. */
FLUSS_MUST_CHECK fluss_status fluss_projector_find(fluss_projector *projector,
												   int32_t schema_id,
												   const fluss_projection **projection,
												   fluss_error *err);
/*
 * Decodes a row of the table's KV format into one value per wanted column.
 * Bytes point into row; items of nested values live until the next row.
 */
FLUSS_MUST_CHECK fluss_status fluss_projector_row(fluss_projector *projector,
												  int32_t schema_id,
												  const uint8_t *row,
												  size_t size,
												  fluss_value *values,
												  fluss_error *err);

#endif							/* FLUSS_PROJECT_H */
