/*
 * schema.h
 *	  Schema and table descriptor JSON, and reading them into structs.
 */
#ifndef FLUSS_SCHEMA_H
#define FLUSS_SCHEMA_H

#include "arena.h"
#include "buf.h"

/*
 * Reads schema JSON (GET_TABLE_SCHEMA).  Everything is allocated in the arena.
 * Column ids that are absent are given by position.
 */
FLUSS_MUST_CHECK fluss_status fluss_schema_parse(fluss_arena *arena,
												 const char *json, size_t size,
												 int32_t schema_id,
												 fluss_schema **schema,
												 fluss_error *err);
/*
 * Reads table descriptor JSON (GET_TABLE_INFO) and fills all of *table but
 * database, name, table_id and the times.  Property values are compared
 * without regard to case; unknown ones are kept and ignored.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_parse(fluss_arena *arena,
												const char *json, size_t size,
												int32_t schema_id,
												fluss_table *table,
												fluss_error *err);
/*
 * Writes descriptor JSON for CREATE_TABLE.  Checks what the server would
 * refuse less clearly: names, keys that are no columns, reserved names.
 */
FLUSS_MUST_CHECK fluss_status fluss_table_spec_json(const fluss_host *host,
													const fluss_table_spec *spec,
													fluss_buf *out,
													fluss_error *err);
/* {"version":1,"comment":...,"custom_properties":{}} */
FLUSS_MUST_CHECK fluss_status fluss_database_json(const fluss_host *host,
												  const char *comment,
												  fluss_buf *out,
												  fluss_error *err);
/*
 * Parses a type as fluss_type_print writes it (any case, e.g. "decimal(10,2)
 * not null"), for the fluss_type option.
 */
FLUSS_MUST_CHECK fluss_status fluss_type_parse(fluss_arena *arena,
											   const char *text,
											   fluss_type *type,
											   fluss_error *err);
/* Position of the column with this id, or -1. */
int32_t fluss_schema_column_by_id(const fluss_schema *schema, int32_t id);
/* True when every type in it can be read and written (no nested ones yet). */
bool fluss_type_is_scalar(const fluss_type *type);

#endif							/* FLUSS_SCHEMA_H */
