/*
 * hash.h
 *	  Bucket hash functions and CRC-32C.
 *
 * The hashes follow the Java client to the bit; see the comments in hash.c
 * for where they differ from the textbook.
 */
#ifndef FLUSS_HASH_H
#define FLUSS_HASH_H

#include "fluss.h"

/* CRC-32C (Castagnoli), standard initial value and final xor. */
uint32_t fluss_crc32c(const void *data, size_t size);
/* The same without the processor's instruction, for tests to compare. */
uint32_t fluss_crc32c_portable(const void *data, size_t size);
/* murmur with seed 42 and Java's own tail handling */
int32_t fluss_hash_bytes(const uint8_t *data, size_t size);
/* Bucket 0..nbuckets-1 of encoded bucket key bytes; nbuckets > 0. */
int32_t fluss_bucket_of(fluss_bucket_hash kind, fluss_lake lake,
						const uint8_t *key, size_t size, int32_t nbuckets);

#endif							/* FLUSS_HASH_H */
