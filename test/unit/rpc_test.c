/*
 * rpc_test.c
 *	  Messages against frames captured from a real server.
 */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "rpc.h"
#include "rpc_admin.h"

#define FRAME_HEADER	12
#define ANSWER_HEADER	9

typedef fluss_status (*encoder) (fluss_buf *out, fluss_error *err);
typedef fluss_status (*decoder) (fluss_arena *arena, fluss_bytes answer,
								 fluss_error *err);

typedef struct vector_case
{
	const char *name;
	encoder		encode;
	decoder		decode;
	/* bytes of options at the captured request's end that we do not send */
	size_t		unsent;
} vector_case;

/* ---- what the captured exchange was about */

static const int64_t log_table = 16;
static const int64_t zstd_table = 17;
static const int64_t pk_table = 18;

static fluss_status
encode_versions(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_versions("c-client", out, err);
}

static fluss_status
decode_versions(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_api_range *ranges;
	int			nranges;
	int32_t		role;
	fluss_status status;

	status = fluss_rpc_decode_versions(arena, answer, &ranges, &nranges, &role,
									   err);
	if (status == FLUSS_OK && role != FLUSS_ROLE_ANY)
	{
		assert_int_equal(role, FLUSS_ROLE_COORDINATOR);
		assert_int_equal(ranges[0].api, 1000);
		assert_true(nranges > 10);
	}
	return status;
}

static fluss_status
encode_create_database(fluss_buf *out, fluss_error *err)
{
	fluss_bytes none = {0};

	return fluss_rpc_encode_create_database("cap", true, none, out, err);
}

static fluss_status
encode_table_info(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_table("cap", "log", out, err);
}

static fluss_status
decode_table_info(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_table_info info;
	fluss_status status = fluss_rpc_decode_table_info(arena, answer, &info,
													  err);

	if (status == FLUSS_OK)
	{
		assert_int_equal(info.table_id, log_table);
		assert_int_equal(info.schema_id, 1);
		assert_memory_equal(info.json.data, "{\"version\":1", 12);
		assert_true(info.created_ms > 0);
	}
	return status;
}

static fluss_status
decode_metadata(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_metadata metadata;
	fluss_status status = fluss_rpc_decode_metadata(arena, answer, &metadata,
													err);

	/* tables come last: a truncated answer may still be a valid one */
	if (status == FLUSS_OK && metadata.nentries == 2)
	{
		assert_int_equal(metadata.nnodes, 2);
		assert_true(metadata.nodes[0].coordinator);
		assert_string_equal(metadata.nodes[1].host, "127.0.0.1");
		assert_string_equal(metadata.entries[0].table, "log");
		assert_int_equal(metadata.entries[0].table_id, log_table);
		assert_int_equal(metadata.entries[0].partition_id, FLUSS_NO_PARTITION);
		assert_int_equal(metadata.entries[0].nbuckets, 1);
		assert_int_equal(metadata.entries[0].buckets[0].leader, 1);
		assert_int_equal(metadata.entries[0].buckets[0].nreplicas, 1);
	}
	return status;
}

static fluss_status
encode_init_writer(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_init_writer("cap", "log", out, err);
}

static fluss_status
decode_init_writer(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	int64_t		writer_id;
	fluss_status status = fluss_rpc_decode_init_writer(arena, answer,
													   &writer_id, err);

	if (status == FLUSS_OK)
		assert_int_equal(writer_id, 3);
	return status;
}

static fluss_status
decode_produce(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_write_result *results;
	int			nresults;
	fluss_status status = fluss_rpc_decode_produce(arena, answer, &results,
												   &nresults, err);

	if (status == FLUSS_OK && nresults > 0)
	{
		assert_int_equal(results[0].bucket, 0);
		assert_int_equal(results[0].error_code, 0);
		assert_int_equal(results[0].offset, 0);
	}
	return status;
}

static fluss_status
encode_fetch(int64_t table_id, const int32_t *projection, int nprojection,
			 int64_t offset, fluss_buf *out, fluss_error *err)
{
	fluss_fetch_bucket bucket = {FLUSS_NO_PARTITION, 0, offset, 1 << 20};

	return fluss_rpc_encode_fetch(test_host(), table_id, 1 << 20, projection,
								  nprojection, &bucket, 1, 0, out, err);
}

static fluss_status
encode_fetch_full(fluss_buf *out, fluss_error *err)
{
	return encode_fetch(log_table, NULL, 0, 0, out, err);
}

static fluss_status
encode_fetch_projected(fluss_buf *out, fluss_error *err)
{
	const int32_t columns[] = {0, 2};

	return encode_fetch(log_table, columns, 2, 0, out, err);
}

static fluss_status
encode_fetch_past_end(fluss_buf *out, fluss_error *err)
{
	return encode_fetch(log_table, NULL, 0, 99, out, err);
}

static fluss_status
decode_fetch(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_fetch_result *results;
	int			nresults;
	fluss_status status = fluss_rpc_decode_fetch(arena, answer, log_table,
												 &results, &nresults, err);

	if (status == FLUSS_OK && nresults > 0)
	{
		assert_int_equal(results[0].bucket, 0);
		assert_int_equal(results[0].error_code, 0);
		assert_int_equal(results[0].high_watermark, 3);
		assert_true(results[0].records.size > 48);
		assert_null(results[0].remote_dir);
	}
	return status;
}

static fluss_status
decode_fetch_past_end(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_fetch_result *results;
	int			nresults;
	fluss_status status = fluss_rpc_decode_fetch(arena, answer, log_table,
												 &results, &nresults, err);

	if (status == FLUSS_OK && nresults > 0)
	{
		assert_int_equal(results[0].error_code, 19);
		assert_non_null(results[0].error_message);
	}
	return status;
}

static fluss_status
encode_lookup(fluss_buf *out, fluss_error *err)
{
	const fluss_bytes keys[] = {
		{(const uint8_t *) "\x01", 1}, {(const uint8_t *) "\x63", 1}
	};
	fluss_lookup_ask bucket = {FLUSS_NO_PARTITION, 0, keys, 2};

	return fluss_rpc_encode_lookup(test_host(), pk_table, &bucket, 1, out, err);
}

static fluss_status
decode_lookup(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_lookup_result *results;
	int			nresults;
	fluss_status status = fluss_rpc_decode_lookup(arena, answer, &results,
												  &nresults, err);

	if (status == FLUSS_OK && nresults > 0)
	{
		assert_int_equal(results[0].nkeys, 2);
		assert_int_equal(results[0].keys[0].n, 1);
		assert_int_equal(results[0].keys[0].values[0].size, 8);
		assert_int_equal(results[0].keys[1].n, 0);
	}
	return status;
}

static fluss_status
encode_limit_scan(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_limit_scan(test_host(), pk_table,
									   FLUSS_NO_PARTITION, 0, 10, out, err);
}

static fluss_status
decode_limit_scan(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_limit_scan_result result;
	fluss_status status = fluss_rpc_decode_limit_scan(arena, answer, &result,
													  err);

	if (status == FLUSS_OK && result.records.data != NULL)
	{
		assert_false(result.is_log_table);
		assert_int_equal(result.records.size, 29);
	}
	return status;
}

static fluss_status
encode_list_offsets(fluss_buf *out, fluss_error *err)
{
	const int32_t bucket = 0;

	return fluss_rpc_encode_list_offsets(test_host(), log_table,
										 FLUSS_NO_PARTITION,
										 FLUSS_OFFSET_LATEST, 0, &bucket, 1,
										 out, err);
}

static fluss_status
decode_list_offsets(fluss_arena *arena, fluss_bytes answer, fluss_error *err)
{
	fluss_offset_result *results;
	int			nresults;
	fluss_status status = fluss_rpc_decode_list_offsets(arena, answer,
														&results, &nresults,
														err);

	if (status == FLUSS_OK && nresults > 0)
		assert_int_equal(results[0].offset, 3);
	return status;
}

static fluss_status
encode_authenticate(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_authenticate(test_host(), "bob", "bob-secret", out,
										 err);
}

static fluss_status
encode_nodes(fluss_buf *out, fluss_error *err)
{
	return fluss_rpc_encode_metadata(NULL, NULL, NULL, 0, out, err);
}

static fluss_status
decode_error(fluss_arena *arena, fluss_bytes body, fluss_error *err)
{
	int			code;
	const char *text;
	fluss_status status = fluss_rpc_decode_error(arena, body, "x", &code,
												 &text, err);

	if (status == FLUSS_OK)
		assert_true(code == 7 || code == 46);
	return status;
}

static const vector_case cases[] = {
	{"api_versions_coordinator", encode_versions, decode_versions, 0},
	{"create_database", encode_create_database, NULL, 0},
	{"table_not_exist_error", NULL, decode_error, 0},
	{"get_table_info", encode_table_info, decode_table_info, 0},
	{"metadata", NULL, decode_metadata, 0},
	{"init_writer", encode_init_writer, decode_init_writer, 0},
	{"produce_log", NULL, decode_produce, 0},
	{"fetch_log_full", encode_fetch_full, decode_fetch, 5},
	{"fetch_log_projected_0_2", encode_fetch_projected, decode_fetch, 5},
	{"fetch_log_out_of_range", encode_fetch_past_end, decode_fetch_past_end, 5},
	{"lookup", encode_lookup, decode_lookup, 0},
	{"limit_scan_pk", encode_limit_scan, decode_limit_scan, 0},
	{"list_offsets_latest", encode_list_offsets, decode_list_offsets, 0},
	{"sasl_authenticate_ok", encode_authenticate,
	fluss_rpc_decode_authenticate, 0},
	{"sasl_authenticate_bad", NULL, decode_error, 0},
	{"sasl_required_error", encode_nodes, decode_error, 0}
};

#define NCASES	((int) (sizeof(cases) / sizeof(cases[0])))

static json_t *
find_vector(json_t *vectors, const char *name)
{
	size_t		i;
	json_t	   *entry;

	json_array_foreach(vectors, i, entry)
	{
		if (strcmp(test_string(entry, "name"), name) == 0)
			return entry;
	}
	fail_msg("no vector \"%s\"", name);
	return NULL;
}

static void
check_encode(const vector_case *c, const json_t *entry)
{
	uint8_t    *frame;
	size_t		size = test_hex(test_string(entry, "request_frame"), &frame);
	fluss_buf	out;
	fluss_error err;

	fluss_buf_init(&out, test_host());
	assert_fluss_ok(c->encode(&out, &err), &err);
	assert_int_equal(out.size, size - FRAME_HEADER - c->unsent);
	if (out.size > 0)
		assert_memory_equal(out.data, frame + FRAME_HEADER, out.size);
	fluss_buf_free(&out);

	for (int n = 1;; n++)
	{
		test_host_fail_alloc_at(n);
		if (c->encode(&out, &err) == FLUSS_OK)
			break;
		assert_int_equal(err.status, FLUSS_OUT_OF_MEMORY);
		fluss_buf_free(&out);
	}
	assert_false(test_host_alloc_failed());
	test_host_fail_alloc_at(0);
	fluss_buf_free(&out);
	free(frame);
	assert_int_equal(test_host_live_blocks(), 0);
}

/* Every truncation decodes or fails cleanly: the sanitizer watches. */
static void
check_decode(const vector_case *c, const json_t *entry)
{
	uint8_t    *frame;
	size_t		size = test_hex(test_string(entry, "response_frame"), &frame);
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, test_host());
	for (size_t cut = 0; cut <= size - ANSWER_HEADER; cut++)
	{
		size_t		body_size = size - ANSWER_HEADER - cut;
		uint8_t    *body = malloc(body_size > 0 ? body_size : 1);
		fluss_bytes answer = {body, body_size};
		fluss_status status;

		memcpy(body, frame + ANSWER_HEADER, body_size);
		status = c->decode(&arena, answer, &err);
		if (cut == 0)
			assert_fluss_ok(status, &err);
		else if (status != FLUSS_OK)
			assert_int_equal(status, FLUSS_MALFORMED);
		fluss_arena_reset(&arena);
		free(body);
	}
	fluss_arena_free(&arena);

	for (int n = 1;; n++)
	{
		fluss_bytes answer = {frame + ANSWER_HEADER, size - ANSWER_HEADER};

		test_host_fail_alloc_at(n);
		if (c->decode(&arena, answer, &err) == FLUSS_OK)
			break;
		assert_int_equal(err.status, FLUSS_OUT_OF_MEMORY);
		fluss_arena_free(&arena);
	}
	test_host_fail_alloc_at(0);
	fluss_arena_free(&arena);
	free(frame);
	assert_int_equal(test_host_live_blocks(), 0);
}

static void
test_captured_frames(void **unused)
{
	json_t	   *vectors = test_vectors("frames.json");

	for (int i = 0; i < NCASES; i++)
	{
		json_t	   *entry = find_vector(vectors, cases[i].name);

		if (cases[i].encode != NULL)
			check_encode(&cases[i], entry);
		if (cases[i].decode != NULL)
			check_decode(&cases[i], entry);
	}
	json_decref(vectors);
}

/* The records of a captured request, sent through our encoder. */
static void
test_writes(void **unused)
{
	json_t	   *vectors = test_vectors("frames.json");
	static const char *const names[] = {
		"produce_log", "produce_log_zstd", "put_kv"
	};

	for (int i = 0; i < 3; i++)
	{
		uint8_t    *frame;
		size_t		size = test_hex(test_string(find_vector(vectors, names[i]),
												"request_frame"), &frame);
		/* acks 11, table id 2, timeout 3; then the entry's own header */
		size_t		head = FRAME_HEADER + 11 + 2 + 3 + (i == 2 ? 6 : 8);
		fluss_write_bucket bucket = {
			FLUSS_NO_PARTITION, 0, {frame + head, size - head}
		};
		fluss_buf	out;
		fluss_error err;

		fluss_buf_init(&out, test_host());
		if (i == 2)
			assert_fluss_ok(fluss_rpc_encode_put(test_host(), pk_table, -1,
												 5000, NULL, 0, false, &bucket,
												 1, &out, &err), &err);
		else
			assert_fluss_ok(fluss_rpc_encode_produce(test_host(),
													 i == 0 ? log_table :
													 zstd_table, -1, 5000,
													 &bucket, 1, &out, &err),
							&err);
		assert_int_equal(out.size, size - FRAME_HEADER);
		assert_memory_equal(out.data, frame + FRAME_HEADER, out.size);
		fluss_buf_free(&out);
		free(frame);
	}
	json_decref(vectors);
}

static void
expect_malformed(const char *hex, decoder decode)
{
	uint8_t    *body;
	size_t		size = test_hex(hex, &body);
	fluss_bytes answer = {body, size};
	fluss_arena arena;
	fluss_error err;

	fluss_arena_init(&arena, test_host());
	assert_int_equal(decode(&arena, answer, &err), FLUSS_MALFORMED);
	assert_non_null(strstr(err.message, "is not valid"));
	fluss_arena_free(&arena);
	free(body);
}

static void
test_hostile_answers(void **unused)
{
	/* no table, another table, a negative bucket */
	expect_malformed("", decode_fetch);
	expect_malformed("0a020811", decode_fetch);
	expect_malformed("0a0f0810120b10ffffffffffffffffff01", decode_fetch);
	/* partition id -1 */
	expect_malformed("0a0d08ffffffffffffffffff011000", decode_produce);
	/* neither offset nor error */
	expect_malformed("0a021000", decode_produce);
	expect_malformed("0a020800", decode_list_offsets);
	/* port 0, port 65536, node id -1 */
	expect_malformed("0a09080012036162631800", decode_metadata);
	expect_malformed("0a0b08001203616263188080" "04", decode_metadata);
	expect_malformed("0a1208ffffffffffffffffff0112036162631801",
					 decode_metadata);
	/* a challenge that asks for more */
	expect_malformed("0a0161", fluss_rpc_decode_authenticate);
	/* lengths past the end, and of nearly 2^64 */
	expect_malformed("0affffffff0f", decode_fetch);
	expect_malformed("0affffffffffffffffff01", decode_fetch);
	expect_malformed("08", decode_init_writer);
	expect_malformed("08ffffffffffffffffff01", decode_init_writer);
}

/* Fields of a newer server, one of wire type 5, are skipped. */
static void
test_newer_fields(void **unused)
{
	uint8_t    *body;
	size_t		size = test_hex("0a0910002800350000803f" "9a3f00", &body);
	fluss_bytes answer = {body, size};
	fluss_arena arena;
	fluss_error err;
	fluss_write_result *results;
	int			nresults;

	fluss_arena_init(&arena, test_host());
	assert_fluss_ok(fluss_rpc_decode_put(&arena, answer, &results, &nresults,
										 &err), &err);
	assert_int_equal(nresults, 1);
	assert_int_equal(results[0].offset, 0);
	fluss_arena_free(&arena);
	free(body);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_captured_frames, test_set_up),
		cmocka_unit_test_setup(test_writes, test_set_up),
		cmocka_unit_test_setup(test_hostile_answers, test_set_up),
		cmocka_unit_test_setup(test_newer_fields, test_set_up)
	};

	return cmocka_run_group_tests_name("rpc", tests, NULL, NULL);
}
