/*
 * schema.h
 *	  Schema and table descriptor JSON, and reading them into structs.
 */
#ifndef FLUSS_SCHEMA_H
#define FLUSS_SCHEMA_H

#include "arena.h"
#include "buf.h"

/*
 * What the spellings of a type have in common, by fluss_type_id.  The argument
 * is the length of CHAR and BINARY and the precision of the others.
 */
typedef struct fluss_type_kind
{
	const char *sql_name;
	const char *json_name;
	bool		has_length;
	bool		has_precision;
	bool		has_scale;
	int32_t		min_argument;
	int32_t		max_argument;
	int32_t		default_argument;
} fluss_type_kind;

extern const fluss_type_kind fluss_type_kinds[FLUSS_ROW + 1];

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
/* Writes the JSON of one type, e.g. {"type":"CHAR","length":3}. */
FLUSS_MUST_CHECK fluss_status fluss_type_json(const fluss_host *host,
											  const fluss_type *type,
											  fluss_buf *out,
											  fluss_error *err);
/* {"version":1,"comment":...,"custom_properties":{}} */
FLUSS_MUST_CHECK fluss_status fluss_database_json(const fluss_host *host,
												  const char *comment,
												  fluss_buf *out,
												  fluss_error *err);
/*
 * Parses a type as fluss_type_print writes it (any case, e.g. "decimal(10,2)
 * not null"), for the fluss_type option.  Anything else is
 * FLUSS_INVALID_ARGUMENT.
 */
FLUSS_MUST_CHECK fluss_status fluss_type_parse(fluss_arena *arena,
											   const char *text,
											   fluss_type *type,
											   fluss_error *err);
/*
 * True when lengths, precisions and scales are within their bounds, at every
 * depth, and that is no more than FLUSS_MAX_NESTING.
 */
bool fluss_type_is_valid(const fluss_type *type);
/*
 * True when values of one are stored like values of the other: ids, arguments
 * and children are equal, whatever is NOT NULL and however fields are called.
 */
bool fluss_type_same(const fluss_type *a, const fluss_type *b);
/* True when it is not ARRAY, MAP or ROW. */
bool fluss_type_is_scalar(const fluss_type *type);
/* FLUSS_UNSUPPORTED, naming the key column and its type. */
fluss_status fluss_fail_nested(fluss_error *err, const char *name,
							   const fluss_type *type);
/* Position of the column with this id or name, or -1. */
int32_t fluss_schema_column_by_id(const fluss_schema *schema, int32_t id);
int32_t fluss_schema_column_by_name(const fluss_schema *schema,
									const char *name);

#endif							/* FLUSS_SCHEMA_H */
