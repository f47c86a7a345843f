/*
 * error.c
 *	  Filling in a fluss_error, and what a server's error code means.
 *
 * Texts are valid UTF-8 without control characters, whatever a peer put into
 * them, and are cut at a character's border when they do not fit.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

typedef struct code_entry
{
	const char *name;
	fluss_code_action action;
} code_entry;

#define FAIL(name)		{ name, FLUSS_ACTION_FAIL }
#define RETRY(name)		{ name, FLUSS_ACTION_RETRY }
#define REFRESH(name)	{ name, FLUSS_ACTION_REFRESH }

/*
 * By code.  SCHEMA_NOT_EXIST and CORRUPT_RECORD_EXCEPTION are formally
 * retriable; a tablet server learns a new schema a moment late, so the first
 * is; the same bytes stay corrupt, so the second is not.  INVALID_COORDINATOR
 * and NOT_COORDINATOR_LEADER mean that the coordinator moved.
 */
static const code_entry codes[] = {
	[0] = FAIL("NONE"),
	[1] = REFRESH("NETWORK_EXCEPTION"),
	[2] = FAIL("UNSUPPORTED_VERSION"),
	[3] = RETRY("CORRUPT_MESSAGE"),
	[4] = FAIL("DATABASE_NOT_EXIST"),
	[5] = FAIL("DATABASE_NOT_EMPTY"),
	[6] = FAIL("DATABASE_ALREADY_EXIST"),
	[7] = FAIL("TABLE_NOT_EXIST"),
	[8] = FAIL("TABLE_ALREADY_EXIST"),
	[9] = RETRY("SCHEMA_NOT_EXIST"),
	[10] = RETRY("LOG_STORAGE_EXCEPTION"),
	[11] = RETRY("KV_STORAGE_EXCEPTION"),
	[12] = REFRESH("NOT_LEADER_OR_FOLLOWER"),
	[13] = FAIL("RECORD_TOO_LARGE_EXCEPTION"),
	[14] = FAIL("CORRUPT_RECORD_EXCEPTION"),
	[15] = FAIL("INVALID_TABLE_EXCEPTION"),
	[16] = FAIL("INVALID_DATABASE_EXCEPTION"),
	[17] = FAIL("INVALID_REPLICATION_FACTOR"),
	[18] = FAIL("INVALID_REQUIRED_ACKS"),
	[19] = FAIL("LOG_OFFSET_OUT_OF_RANGE_EXCEPTION"),
	[20] = FAIL("NON_PRIMARY_KEY_TABLE_EXCEPTION"),
	[21] = REFRESH("UNKNOWN_TABLE_OR_BUCKET_EXCEPTION"),
	[22] = FAIL("INVALID_UPDATE_VERSION_EXCEPTION"),
	[23] = REFRESH("INVALID_COORDINATOR_EXCEPTION"),
	[24] = REFRESH("FENCED_LEADER_EPOCH_EXCEPTION"),
	[25] = RETRY("REQUEST_TIME_OUT"),
	[26] = RETRY("STORAGE_EXCEPTION"),
	[27] = FAIL("OPERATION_NOT_ATTEMPTED_EXCEPTION"),
	[28] = RETRY("NOT_ENOUGH_REPLICAS_AFTER_APPEND_EXCEPTION"),
	[29] = RETRY("NOT_ENOUGH_REPLICAS_EXCEPTION"),
	[30] = FAIL("SECURITY_TOKEN_EXCEPTION"),
	[31] = FAIL("OUT_OF_ORDER_SEQUENCE_EXCEPTION"),
	[32] = FAIL("DUPLICATE_SEQUENCE_EXCEPTION"),
	[33] = FAIL("UNKNOWN_WRITER_ID_EXCEPTION"),
	[34] = FAIL("INVALID_COLUMN_PROJECTION"),
	[35] = FAIL("INVALID_TARGET_COLUMN"),
	[36] = FAIL("PARTITION_NOT_EXISTS"),
	[37] = FAIL("TABLE_NOT_PARTITIONED_EXCEPTION"),
	[38] = FAIL("INVALID_TIMESTAMP_EXCEPTION"),
	[39] = FAIL("INVALID_CONFIG_EXCEPTION"),
	[40] = FAIL("LAKE_STORAGE_NOT_CONFIGURED_EXCEPTION"),
	[41] = FAIL("KV_SNAPSHOT_NOT_EXIST"),
	[42] = FAIL("PARTITION_ALREADY_EXISTS"),
	[43] = FAIL("PARTITION_SPEC_INVALID_EXCEPTION"),
	[44] = REFRESH("LEADER_NOT_AVAILABLE_EXCEPTION"),
	[45] = FAIL("PARTITION_MAX_NUM_EXCEPTION"),
	[46] = FAIL("AUTHENTICATE_EXCEPTION"),
	[47] = FAIL("SECURITY_DISABLED_EXCEPTION"),
	[48] = FAIL("AUTHORIZATION_EXCEPTION"),
	[49] = FAIL("BUCKET_MAX_NUM_EXCEPTION"),
	[50] = FAIL("FENCED_TIERING_EPOCH_EXCEPTION"),
	[51] = RETRY("RETRIABLE_AUTHENTICATE_EXCEPTION"),
	[52] = FAIL("INVALID_SERVER_RACK_INFO_EXCEPTION"),
	[53] = FAIL("LAKE_SNAPSHOT_NOT_EXIST"),
	[54] = FAIL("LAKE_TABLE_ALREADY_EXIST"),
	[55] = FAIL("INELIGIBLE_REPLICA_EXCEPTION"),
	[56] = FAIL("INVALID_ALTER_TABLE_EXCEPTION"),
	[57] = FAIL("DELETION_DISABLED_EXCEPTION"),
	[58] = FAIL("SERVER_NOT_EXIST_EXCEPTION"),
	[59] = FAIL("SEVER_TAG_ALREADY_EXIST_EXCEPTION"),
	[60] = FAIL("SEVER_TAG_NOT_EXIST_EXCEPTION"),
	[61] = FAIL("REBALANCE_FAILURE_EXCEPTION"),
	[62] = FAIL("NO_REBALANCE_IN_PROGRESS_EXCEPTION"),
	[63] = FAIL("INVALID_PRODUCER_ID_EXCEPTION"),
	[64] = FAIL("CONFIG_EXCEPTION"),
	[65] = REFRESH("NOT_COORDINATOR_LEADER_EXCEPTION"),
	[66] = FAIL("SCANNER_EXPIRED"),
	[67] = FAIL("UNKNOWN_SCANNER_ID"),
	[68] = FAIL("INVALID_SCAN_REQUEST"),
	[69] = FAIL("TOO_MANY_SCANNERS"),
	[70] = RETRY("DISK_WRITE_LOCKED"),
	[71] = FAIL("INSUFFICIENT_KV_LEADER_REPLICA_CAPACITY"),
	[72] = RETRY("STORAGE_BACKPRESSURE"),
	[73] = RETRY("HISTORICAL_PARTITION_THROTTLED")
};

#define NCODES	((int) (sizeof(codes) / sizeof(codes[0])))

const char *
fluss_code_name(int server_code)
{
	if (server_code == FLUSS_CODE_UNKNOWN_SERVER_ERROR)
		return "UNKNOWN_SERVER_ERROR";
	if (server_code < 0 || server_code >= NCODES)
		return "not known to this client";
	return codes[server_code].name;
}

fluss_code_action
fluss_code_to_action(int server_code)
{
	if (server_code < 0 || server_code >= NCODES)
		return FLUSS_ACTION_FAIL;
	return codes[server_code].action;
}

bool
fluss_status_is_network(fluss_status status)
{
	return status == FLUSS_CANNOT_CONNECT || status == FLUSS_SEND_FAILED;
}

bool
fluss_error_is_dropped_partition(const fluss_error *err)
{
	return err->status == FLUSS_SERVER_ERROR &&
		err->server_code == FLUSS_CODE_PARTITION_NOT_EXISTS;
}

void
fluss_error_init(fluss_error *err)
{
	memset(err, 0, sizeof(*err));
	err->partition_id = -1;
	err->bucket = -1;
	err->base_offset = -1;
	err->next_offset = -1;
}

/* Length of the valid UTF-8 character at p, or 0.  Stops at a NUL. */
static int
utf8_length(const unsigned char *p)
{
	int			length;
	uint32_t	c;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		length = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		length = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		length = 4;
	else
		return 0;
	c = p[0] & (0x7f >> length);
	for (int i = 1; i < length; i++)
	{
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((length == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
		(length == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return length;
}

/*
 * Replaces what no client could show.  truncated says that the text was cut:
 * then a broken last character is dropped.
 */
static void
sanitize(char *text, bool truncated)
{
	unsigned char *p = (unsigned char *) text;
	unsigned char *end = p + strlen(text);

	while (p < end)
	{
		int			length = utf8_length(p);

		if (length == 0 && truncated && end - p < 4 && p[0] >= 0xc0)
		{
			*p = '\0';
			return;
		}
		if (length == 0 || *p < 0x20 || *p == 0x7f)
		{
			*p = '?';
			length = 1;
		}
		p += length;
	}
}

static void
format_text(char *out, size_t size, const char *format, va_list args)
		__attribute__((format(printf, 3, 0)));

/* Appends to the text that out already holds. */
static void
format_text(char *out, size_t size, const char *format, va_list args)
{
	size_t		used = strlen(out);
	int			length;

	length = vsnprintf(out + used, size - used, format, args);
	if (length < 0)
		out[used] = '\0';
	sanitize(out + used, (size_t) length >= size - used);
}

/* A blank between what is there and what follows. */
static void
start_sentence(char *out, size_t size)
{
	size_t		used = strlen(out);

	if (used > 0 && used + 1 < size)
		memcpy(out + used, " ", 2);
}

static void
set_status(fluss_error *err, fluss_status status)
{
	fluss_error_init(err);
	err->status = status;
}

fluss_status
fluss_fail(fluss_error *err, fluss_status status, const char *format,...)
{
	va_list		args;

	set_status(err, status);
	va_start(args, format);
	format_text(err->message, sizeof(err->message), format, args);
	va_end(args);
	return status;
}

fluss_status
fluss_fail_memory(fluss_error *err)
{
	return fluss_fail(err, FLUSS_OUT_OF_MEMORY, "out of memory");
}

void
fluss_error_message(fluss_error *err, const char *format,...)
{
	va_list		args;

	err->message[0] = '\0';
	va_start(args, format);
	format_text(err->message, sizeof(err->message), format, args);
	va_end(args);
}

void
fluss_error_detail(fluss_error *err, const char *format,...)
{
	va_list		args;

	start_sentence(err->detail, sizeof(err->detail));
	va_start(args, format);
	format_text(err->detail, sizeof(err->detail), format, args);
	va_end(args);
}

void
fluss_error_hint(fluss_error *err, const char *format,...)
{
	va_list		args;

	start_sentence(err->hint, sizeof(err->hint));
	va_start(args, format);
	format_text(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

void
fluss_error_place(fluss_error *err, int64_t partition_id, int32_t bucket,
				  int64_t base_offset, int64_t next_offset)
{
	err->partition_id = partition_id;
	err->bucket = bucket;
	err->base_offset = base_offset;
	err->next_offset = next_offset;
}

/*
 * The first line of a server's text; the rest is a Java stack trace.  A long
 * class name in front of an unexpected error tells more than it takes.
 */
static size_t
first_line_size(const char *text, size_t size)
{
	size_t		length = 0;

	while (length < size && text[length] != '\n' && text[length] != '\r' &&
		   text[length] != '\0')
		length++;
	while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '.'))
		length--;
	return length;
}

fluss_status
fluss_fail_server(fluss_error *err, int server_code,
				  const char *server_text, size_t text_size,
				  const char *what,...)
{
	va_list		args;
	size_t		length = 0;

	set_status(err, server_code == FLUSS_CODE_AUTHENTICATE ?
			   FLUSS_AUTH_FAILED : FLUSS_SERVER_ERROR);
	err->server_code = server_code;
	memcpy(err->message, "could not ", sizeof("could not "));
	va_start(args, what);
	format_text(err->message, sizeof(err->message), what, args);
	va_end(args);
	if (server_text != NULL)
		length = first_line_size(server_text, text_size);
	if (length > 400)
		length = 400;
	if (length > 0)
		fluss_error_detail(err, "Fluss error %d (%s): %.*s.", server_code,
						   fluss_code_name(server_code), (int) length,
						   server_text);
	else
		fluss_error_detail(err, "Fluss error %d (%s).", server_code,
						   fluss_code_name(server_code));
	return err->status;
}
