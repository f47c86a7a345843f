/*
 * buf_test.c
 *	  Byte writer and reader, and the arena they share their host with.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "arena.h"
#include "buf.h"

static void
test_write_then_read(void **unused)
{
	fluss_buf	buf;
	fluss_reader reader;

	fluss_buf_init(&buf, test_host());
	fluss_buf_u8(&buf, 0xab);
	fluss_buf_u16le(&buf, 0x1234);
	fluss_buf_u32le(&buf, 0xdeadbeef);
	fluss_buf_u64le(&buf, UINT64_C(0x0123456789abcdef));
	fluss_buf_append(&buf, "\xde\xad\xbe\xef", 4);
	fluss_buf_varint32(&buf, UINT32_MAX);
	fluss_buf_varint64(&buf, UINT64_MAX);
	fluss_buf_varint64(&buf, 300);
	assert_false(buf.failed);

	fluss_reader_init(&reader, buf.data, buf.size);
	assert_int_equal(fluss_read_u8(&reader), 0xab);
	assert_int_equal(fluss_load_u16le(fluss_read_bytes(&reader, 2)), 0x1234);
	assert_true(fluss_read_u32le(&reader) == 0xdeadbeef);
	assert_true(fluss_read_u64le(&reader) == UINT64_C(0x0123456789abcdef));
	assert_true(fluss_read_u32be(&reader) == 0xdeadbeef);
	assert_true(fluss_read_varint32(&reader) == UINT32_MAX);
	assert_true(fluss_read_varint64(&reader) == UINT64_MAX);
	assert_true(fluss_read_varint64(&reader) == 300);
	assert_false(reader.failed);
	assert_int_equal(fluss_reader_left(&reader), 0);
	fluss_buf_free(&buf);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_short_read_is_sticky(void **unused)
{
	const uint8_t bytes[3] = {1, 2, 3};
	fluss_reader reader;

	fluss_reader_init(&reader, bytes, sizeof(bytes));
	assert_int_equal(fluss_read_u32le(&reader), 0);
	assert_true(reader.failed);
	assert_int_equal(fluss_read_u8(&reader), 0);
	assert_null(fluss_read_bytes(&reader, 0));
	fluss_reader_init(&reader, NULL, 0);
	assert_non_null(fluss_read_bytes(&reader, 0));
	assert_null(fluss_read_bytes(&reader, SIZE_MAX));
}

static void
check_varint(const char *hex, int width, bool valid)
{
	uint8_t    *bytes;
	size_t		size = test_hex(hex, &bytes);
	fluss_reader reader;

	fluss_reader_init(&reader, bytes, size);
	if (width == 32)
		(void) fluss_read_varint32(&reader);
	else
		(void) fluss_read_varint64(&reader);
	assert_int_equal(reader.failed, !valid);
	free(bytes);
}

static void
test_varint_limits(void **unused)
{
	check_varint("ffffffff0f", 32, true);
	check_varint("ffffffff1f", 32, false);
	check_varint("ffffffff8f00", 32, false);
	check_varint("ffffffff", 32, false);
	check_varint("ffffffffffffffffff01", 64, true);
	check_varint("ffffffffffffffffff02", 64, false);
	check_varint("ffffffffffffffffff8100", 64, false);
	check_varint("", 64, false);
}

static void
test_buf_failure_is_sticky(void **unused)
{
	fluss_buf	buf;

	fluss_buf_init(&buf, test_host());
	fluss_buf_u8(&buf, 1);
	test_host_fail_alloc_at(1);
	assert_null(fluss_buf_append_zeros(&buf, 100000));
	assert_true(test_host_alloc_failed());
	fluss_buf_u8(&buf, 2);
	assert_true(buf.failed);
	assert_int_equal(buf.size, 1);
	fluss_buf_reset(&buf);
	assert_null(fluss_buf_reserve(&buf, SIZE_MAX));
	fluss_buf_reset(&buf);
	fluss_buf_u8(&buf, 3);
	assert_false(buf.failed);
	fluss_buf_free(&buf);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
append_letter(void *arg)
{
	char	  **end = arg;

	*(*end)++ = 'x';
}

static void
test_arena(void **unused)
{
	fluss_arena arena;
	char		text[3] = {0};
	char	   *end = text;

	fluss_arena_init(&arena, test_host());
	for (int round = 0; round < 3; round++)
	{
		for (int i = 1; i < 2000; i++)
		{
			uint8_t    *p = fluss_arena_alloc(&arena, i);

			assert_non_null(p);
			assert_int_equal((uintptr_t) p % 8, 0);
			memset(p, 0xff, i);
		}
		assert_non_null(fluss_arena_alloc(&arena, 1 << 20));
		fluss_arena_reset(&arena);
		assert_int_equal(test_host_live_blocks(), 1);
	}
	assert_null(fluss_arena_alloc(&arena, SIZE_MAX));
	assert_null(fluss_arena_array(&arena, SIZE_MAX / 2, 4));
	assert_string_equal(fluss_arena_strndup(&arena, "abc", 2), "ab");

	assert_true(fluss_arena_on_reset(&arena, append_letter, &end));
	fluss_arena_reset(&arena);
	assert_string_equal(text, "x");
	fluss_arena_free(&arena);
	assert_string_equal(text, "x");
	test_host_fail_alloc_at(1);
	assert_false(fluss_arena_on_reset(&arena, append_letter, &end));
	assert_string_equal(text, "xx");
	fluss_arena_free(&arena);
	assert_int_equal(test_host_live_blocks(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_write_then_read, test_set_up),
		cmocka_unit_test_setup(test_short_read_is_sticky, test_set_up),
		cmocka_unit_test_setup(test_varint_limits, test_set_up),
		cmocka_unit_test_setup(test_buf_failure_is_sticky, test_set_up),
		cmocka_unit_test_setup(test_arena, test_set_up)
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
