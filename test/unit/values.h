/*
 * values.h
 *	  Schemas and rows written as text, as in the vectors.
 */
#ifndef FLUSS_TEST_VALUES_H
#define FLUSS_TEST_VALUES_H

#include "support.h"
#include "arena.h"

/* Schema 1 with the fields of "ROW<`a` INT NOT NULL, ...>", ids by position. */
const fluss_schema *test_schema(fluss_arena *arena, const char *row_type);
/*
 * Values of a row "(1, null, text, 0x01ff, dec(-1.5), ntz(ms=1,nano=0))".
 * Columns of nested types stay NULL.
 */
fluss_value *test_row(fluss_arena *arena, const fluss_schema *schema,
					  const char *text);
/* Fails the test, naming the column, when the two differ. */
void test_same_value(const fluss_column *column, const fluss_value *actual,
					 const fluss_value *expected);
/* Same bytes, else fails printing both. */
void test_same_bytes(const uint8_t *actual, size_t actual_size,
					 const uint8_t *expected, size_t expected_size);

/* Touches every byte that a value promises. */
uint64_t test_sum_value(const fluss_type *type, const fluss_value *value);
/* Value of a view of any type; *items is to be freed by test_free_items. */
void test_view_value(const fluss_column_view *view, int32_t row,
					 fluss_value *value, void **items);
void test_free_items(void *items);

#endif							/* FLUSS_TEST_VALUES_H */
