/*
 * tables.c
 *	  Tables of a real cluster, and rows for them.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define MAX_CREATIONS	4

static fluss_client *client;

static fluss_wait_result
cluster_wait(void *arg, const fluss_pollfd *fds, int nfds, int timeout_ms)
{
	if (nfds > 0)
		return test_host()->wait(arg, fds, nfds, timeout_ms);
	poll(NULL, 0, timeout_ms);
	return FLUSS_WAIT_TIMEOUT;
}

const fluss_host *
cluster_host(void)
{
	static fluss_host host;

	host = *test_host();
	host.wait = cluster_wait;
	return &host;
}

fluss_client *
test_client(void)
{
	fluss_config config = {
		.bootstrap_servers = getenv("FLUSS_BOOTSTRAP"),
		.connect_timeout_ms = 10000,
		.request_timeout_ms = 30000
	};
	fluss_error err;

	if (client != NULL)
		return client;
	if (config.bootstrap_servers == NULL)
		fail_msg("FLUSS_BOOTSTRAP is not set");
	assert_fluss_ok(fluss_client_open(cluster_host(), &config, &client, &err),
					&err);
	assert_fluss_ok(fluss_drop_database(client, TEST_DATABASE, true, true, &err),
					&err);
	assert_fluss_ok(fluss_create_database(client, TEST_DATABASE, NULL, false,
										  &err), &err);
	return client;
}

void
test_nothing_is_left(void **unused)
{
	fluss_error err;

	assert_fluss_ok(fluss_drop_database(client, TEST_DATABASE, true, true, &err),
					&err);
	fluss_client_close(client);
	client = NULL;
	assert_int_equal(test_host_live_blocks(), 0);
	assert_int_equal(test_host_live_fds(), 0);
}

fluss_table *
test_table_create(const test_table_spec *spec)
{
	fluss_property properties[3];
	const char *key[8];
	fluss_table_spec table = {
		.ncolumns = spec->ncolumns, .columns = spec->columns,
		.nprimary_key = spec->nkey, .primary_key = key,
		.nbuckets = spec->nbuckets, .properties = properties
	};
	fluss_table *result;
	fluss_error err;
	fluss_status status = FLUSS_TIMED_OUT;

	for (int i = 0; i < spec->nkey; i++)
		key[i] = spec->columns[i].name;
	if (spec->codec != NULL)
		properties[table.nproperties++] = (fluss_property) {
			"table.log.arrow.compression.type", spec->codec
		};
	if (spec->log_format != NULL)
		properties[table.nproperties++] = (fluss_property) {
			"table.log.format", spec->log_format
		};
	if (spec->kv_format != NULL)
		properties[table.nproperties++] = (fluss_property) {
			"table.kv.format", spec->kv_format
		};
	for (int i = 0; i < MAX_CREATIONS && status != FLUSS_OK; i++)
	{
		assert_fluss_ok(fluss_drop_table(test_client(), TEST_DATABASE,
										 spec->name, true, &err), &err);
		status = fluss_create_table(test_client(), TEST_DATABASE, spec->name,
									&table, false, &err);
	}
	assert_fluss_ok(status, &err);
	assert_fluss_ok(fluss_table_open(test_client(), TEST_DATABASE, spec->name,
									 true, &result, &err), &err);
	return result;
}

fluss_writer_options
test_writer_options(void)
{
	return (fluss_writer_options) {
		.acks = -1, .batch_size = MEGABYTE, .idempotence = true,
		.max_inflight_per_bucket = 5, .max_buffered_bytes = 64 * MEGABYTE
	};
}

fluss_scan_options
test_scan_options(const int32_t *columns, int ncolumns)
{
	return (fluss_scan_options) {
		.columns = columns, .ncolumns = ncolumns,
		.fetch_max_bytes = 16 * MEGABYTE,
		.fetch_max_bytes_for_bucket = 16 * MEGABYTE, .fetch_inflight = 2,
		.max_buffered_bytes = 64 * MEGABYTE, .check_crc = true
	};
}

fluss_lookup_options
test_lookup_options(const int32_t *columns, int ncolumns)
{
	return (fluss_lookup_options) {
		.columns = columns, .ncolumns = ncolumns, .max_batch_size = 1000,
		.max_inflight_requests = 4, .max_buffered_bytes = 64 * MEGABYTE
	};
}

fluss_writer *
test_open_writer(fluss_table *table, const fluss_writer_options *options)
{
	fluss_writer *writer;
	fluss_error err;

	assert_fluss_ok(fluss_writer_open(test_client(), cluster_host(), table,
									  options, &writer, &err), &err);
	return writer;
}

fluss_lookup *
test_open_lookup(fluss_table *table, const fluss_lookup_options *options)
{
	fluss_lookup *lookup;
	fluss_error err;

	assert_fluss_ok(fluss_lookup_open(test_client(), cluster_host(), table,
									  options, &lookup, &err), &err);
	return lookup;
}

const fluss_column *
test_all_types(int *ncolumns)
{
	static const fluss_column columns[] = {
		{"id", NULL, 0, {FLUSS_INTEGER, false}},
		{"boolean", NULL, 1, {FLUSS_BOOLEAN, true}},
		{"tinyint", NULL, 2, {FLUSS_TINYINT, true}},
		{"smallint", NULL, 3, {FLUSS_SMALLINT, true}},
		{"int", NULL, 4, {FLUSS_INTEGER, true}},
		{"bigint", NULL, 5, {FLUSS_BIGINT, true}},
		{"float", NULL, 6, {FLUSS_FLOAT, true}},
		{"double", NULL, 7, {FLUSS_DOUBLE, true}},
		{"decimal_10_2", NULL, 8, {FLUSS_DECIMAL, true, 0, 10, 2}},
		{"decimal_38_18", NULL, 9, {FLUSS_DECIMAL, true, 0, 38, 18}},
		{"char", NULL, 10, {FLUSS_CHAR, true, 20}},
		{"string", NULL, 11, {FLUSS_STRING, true}},
		{"binary", NULL, 12, {FLUSS_BINARY, true, 4}},
		{"bytes", NULL, 13, {FLUSS_BYTES, true}},
		{"date", NULL, 14, {FLUSS_DATE, true}},
		{"time_0", NULL, 15, {FLUSS_TIME, true, 0, 0}},
		{"time_3", NULL, 16, {FLUSS_TIME, true, 0, 3}},
		{"time_9", NULL, 17, {FLUSS_TIME, true, 0, 9}},
		{"ntz_0", NULL, 18, {FLUSS_TIMESTAMP, true, 0, 0}},
		{"ntz_3", NULL, 19, {FLUSS_TIMESTAMP, true, 0, 3}},
		{"ntz_6", NULL, 20, {FLUSS_TIMESTAMP, true, 0, 6}},
		{"ntz_9", NULL, 21, {FLUSS_TIMESTAMP, true, 0, 9}},
		{"ltz_0", NULL, 22, {FLUSS_TIMESTAMP_LTZ, true, 0, 0}},
		{"ltz_3", NULL, 23, {FLUSS_TIMESTAMP_LTZ, true, 0, 3}},
		{"ltz_6", NULL, 24, {FLUSS_TIMESTAMP_LTZ, true, 0, 6}},
		{"ltz_9", NULL, 25, {FLUSS_TIMESTAMP_LTZ, true, 0, 9}}
	};

	*ncolumns = (int) (sizeof(columns) / sizeof(columns[0]));
	return columns;
}

/* ---- values */

static int64_t
integer_value(int bits, int64_t n)
{
	int64_t		most = (int64_t) (UINT64_MAX >> (65 - bits));
	const int64_t edges[] = {0, 1, -1, most, -most - 1};

	if (n % 8 < 5)
		return edges[n % 8];
	return (int64_t) ((uint64_t) n * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits);
}

static void
set_decimal(fluss_value *value, int precision, int64_t n)
{
	__int128	most = 1;
	__int128	unscaled;

	for (int i = 0; i < precision; i++)
		most *= 10;
	most--;
	unscaled = n % 5 == 0 ? most : n % 5 == 1 ? -most : n % 5 == 2 ? 0 :
		n % 5 == 3 ? -1 : (__int128) n * 1234567 % most;
	value->u.decimal.low = (uint64_t) unscaled;
	value->u.decimal.high = (int64_t) (unscaled >> 64);
}

static void
set_text(fluss_arena *arena, fluss_value *value, int64_t n, bool small)
{
	static const char *const texts[] = {
		"", "a", "sevench", "eight888", "h\xc3\xa9llo",
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "\xf0\x9f\x98\x80"
	};
	char		text[600];

	if (n % 9 < 7)
		snprintf(text, sizeof(text), "%s", texts[n % 9]);
	else if (n % 9 == 7 || small)
		snprintf(text, sizeof(text), "row %lld", (long long) (n % 100000000));
	else
		snprintf(text, sizeof(text), "%*lld", (int) (n % 500), (long long) n);
	value->u.bytes.data = (uint8_t *) fluss_arena_strdup(arena, text);
	value->u.bytes.size = strlen(text);
}

static void
set_bytes(fluss_arena *arena, fluss_value *value, int64_t n, size_t size)
{
	uint8_t    *bytes = fluss_arena_alloc(arena, size + 1);

	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t) (n + (int64_t) i * 37);
	value->u.bytes.data = bytes;
	value->u.bytes.size = size;
}

/* Also before 1970, with the part below the millisecond counted upwards. */
static void
set_timestamp(fluss_value *value, int precision, int64_t n)
{
	int64_t		seconds = (n % 3 == 0 ? -1 : 1) * (n * 7919 % 4000000000);

	value->u.timestamp.millis = seconds * 1000;
	value->u.timestamp.nanos = 0;
	if (precision >= 3)
		value->u.timestamp.millis += n % 1000;
	if (precision >= 6)
		value->u.timestamp.nanos = (int32_t) (n * 31 % 1000) * 1000;
	if (precision >= 9)
		value->u.timestamp.nanos += (int32_t) (n * 17 % 1000);
}

static void
set_value(fluss_arena *arena, const fluss_type *type, int64_t n,
		  fluss_value *value)
{
	switch (type->id)
	{
		case FLUSS_BOOLEAN:
			value->u.boolean = n % 2;
			break;
		case FLUSS_TINYINT:
			value->u.integer = integer_value(8, n);
			break;
		case FLUSS_SMALLINT:
			value->u.integer = integer_value(16, n);
			break;
		case FLUSS_INTEGER:
			value->u.integer = integer_value(32, n);
			break;
		case FLUSS_BIGINT:
			value->u.integer = integer_value(64, n);
			break;
		case FLUSS_FLOAT:
			value->u.float4 = n % 7 == 0 ? -0.0f : (float) n / 3;
			break;
		case FLUSS_DOUBLE:
			value->u.float8 = n % 7 == 0 ? -1e300 : (double) n / 7;
			break;
		case FLUSS_DECIMAL:
			set_decimal(value, type->precision, n);
			break;
		case FLUSS_CHAR:
			set_text(arena, value, n, true);
			break;
		case FLUSS_STRING:
			set_text(arena, value, n, false);
			break;
		case FLUSS_BINARY:
			set_bytes(arena, value, n, (size_t) type->length);
			break;
		case FLUSS_BYTES:
			set_bytes(arena, value, n, (size_t) (n * n % 97));
			break;
		case FLUSS_DATE:
			value->u.integer = (n % 2 == 0 ? 1 : -1) * (n * 131 % 2000000);
			break;
		case FLUSS_TIME:
			value->u.integer = type->precision == 0 ?
				n * 1009 % 86400 * 1000 : n * 1000003 % 86400000;
			break;
		case FLUSS_TIMESTAMP:
		case FLUSS_TIMESTAMP_LTZ:
			set_timestamp(value, type->precision, n);
			break;
		default:
			fail_msg("type %d", (int) type->id);
	}
}

fluss_value *
test_make_row(fluss_arena *arena, const fluss_column *columns, int ncolumns,
			  int64_t n)
{
	fluss_value *row = fluss_arena_array(arena, (size_t) ncolumns,
										 sizeof(fluss_value));

	row[0].u.integer = n;
	for (int i = 1; i < ncolumns; i++)
	{
		row[i].is_null = columns[i].type.nullable && (n + i) % 11 == 0;
		if (!row[i].is_null)
			set_value(arena, &columns[i].type, n + i, &row[i]);
	}
	return row;
}
