/*
 * hash_test.c
 *	  Checksums and bucket hashes against known answers.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "hash.h"

static void
test_crc32c_known(void **unused)
{
	uint8_t		bytes[32];

	assert_true(fluss_crc32c("123456789", 9) == UINT32_C(0xe3069283));
	assert_true(fluss_crc32c(NULL, 0) == 0);
	memset(bytes, 0, sizeof(bytes));
	assert_true(fluss_crc32c(bytes, 32) == UINT32_C(0x8a9136aa));
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(fluss_crc32c(bytes, 32) == UINT32_C(0x62a8ab43));
}

/* All sizes and alignments around a word. */
static void
test_crc32c_portable_agrees(void **unused)
{
	uint8_t		bytes[80];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t) (i * 37 + 11);
	for (size_t start = 0; start < 8; start++)
		for (size_t size = 0; size <= 64; size++)
			assert_true(fluss_crc32c(bytes + start, size) ==
						fluss_crc32c_portable(bytes + start, size));
}

static void
check_buckets(const json_t *vector, const char *key_name,
			  const char *buckets_name, fluss_lake lake)
{
	const json_t *buckets = json_object_get(vector, buckets_name);
	const char *n;
	json_t	   *expected;
	uint8_t    *key;
	size_t		size;

	if (json_object_get(vector, key_name) == NULL)
		return;					/* the encoder refuses this type */
	size = test_hex(test_string(vector, key_name), &key);
	json_object_foreach((json_t *) buckets, n, expected)
		assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_FLUSS, lake, key, size, atoi(n)),
						 json_integer_value(expected));
	free(key);
}

static void
test_buckets_of_java(void **unused)
{
	json_t	   *vectors = test_vectors("keys.json");
	json_t	   *vector;
	size_t		i;

	json_array_foreach(vectors, i, vector)
	{
		uint8_t    *key;
		size_t		size = test_hex(test_string(vector, "compacted"), &key);

		assert_int_equal(fluss_hash_bytes(key, size),
						 json_integer_value(json_object_get(vector,
															"murmur_seed42")));
		free(key);
		check_buckets(vector, "compacted", "fluss_bucket", FLUSS_LAKE_NONE);
		check_buckets(vector, "paimon", "paimon_bucket", FLUSS_LAKE_PAIMON);
		check_buckets(vector, "iceberg", "iceberg_bucket", FLUSS_LAKE_ICEBERG);
	}
	json_decref(vectors);
}

/* An empty Iceberg key (the empty string) still has a bucket. */
static void
test_empty_key(void **unused)
{
	const uint8_t nothing[1] = {0};

	assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_FLUSS, FLUSS_LAKE_ICEBERG, nothing, 0, 7), 0);
}

/* Leftover bytes taken as unsigned: other buckets from 0x80 on only. */
static void
test_buckets_of_fluss_rs(void **unused)
{
	static const struct
	{
		const char *key;
		int32_t		java_16;
		int32_t		rs_16;
		int32_t		rs_7;
		int32_t		rs_paimon_16;
	}			known[] = {
		{"\x01", 12, 12, 4, 10},
		{"\x80\x01", 2, 7, 6, 0},
		{"\xff\xff\x7f", 7, 5, 3, 5},
		{"\xc3\xa9", 6, 5, 4, 10},
		{"abcd\xc3\xa9", 15, 0, 0, 7},
		{"hello", 9, 9, 3, 8}
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
	{
		const uint8_t *key = (const uint8_t *) known[i].key;
		size_t		size = strlen(known[i].key);

		assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_FLUSS,
										 FLUSS_LAKE_NONE, key, size, 16),
						 known[i].java_16);
		assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_RS, FLUSS_LAKE_NONE,
										 key, size, 16), known[i].rs_16);
		assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_RS, FLUSS_LAKE_NONE,
										 key, size, 7), known[i].rs_7);
		assert_int_equal(fluss_bucket_of(FLUSS_BUCKET_HASH_RS,
										 FLUSS_LAKE_PAIMON, key, size, 16),
						 known[i].rs_paimon_16);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc32c_known),
		cmocka_unit_test(test_crc32c_portable_agrees),
		cmocka_unit_test(test_buckets_of_java),
		cmocka_unit_test(test_empty_key),
		cmocka_unit_test(test_buckets_of_fluss_rs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
