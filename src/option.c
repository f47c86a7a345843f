/*
 * option.c
 *	  The options of servers, user mappings, foreign tables and columns.
 *
 * One table describes them all: where an option may stand, what values it
 * takes, and which field of FlussOptions, FlussUserOptions or
 * FlussColumnOptions receives it.  The validator, its hints and the merging of
 * levels only walk this table.  Nothing here contacts the cluster.
 */
#include "fluss_fdw.h"

#include "access/reloptions.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_foreign_server.h"
#include "catalog/pg_foreign_table.h"
#include "catalog/pg_user_mapping.h"
#include "commands/defrem.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/varlena.h"

#define ON_SERVER	0x01
#define ON_MAPPING	0x02
#define ON_TABLE	0x04
#define ON_COLUMN	0x08

#define NOT_IN_STRUCT (-1)

typedef enum OptionType
{
	TYPE_NAME,					/* any text but the empty one */
	TYPE_SECRET,				/* any text, never shown */
	TYPE_BOOL,
	TYPE_COUNT,
	TYPE_SIZE,					/* bytes; '16MB' */
	TYPE_DURATION,				/* milliseconds; '10s' */
	TYPE_COST,
	TYPE_CHOICE,
	TYPE_TIMESTAMP,				/* milliseconds since 1970-01-01 UTC */
	TYPE_SERVERS,
	TYPE_ADDRESS_MAP,
	TYPE_PATHS,
	TYPE_URL,
	TYPE_FLUSS_TYPE
} OptionType;

typedef struct OptionChoice
{
	const char *name;
	int			value;
} OptionChoice;

typedef struct FlussOption
{
	const char *name;
	int			levels;
	OptionType	type;
	int			min;			/* TYPE_COUNT, TYPE_SIZE, TYPE_DURATION */
	const OptionChoice *choices;	/* TYPE_CHOICE; ended by a NULL name */
	int			offset;			/* of its field, or NOT_IN_STRUCT */
	int			size;			/* of its field */
} FlussOption;

/* What a value means; which member holds it follows from the type. */
typedef struct OptionValue
{
	const char *text;
	int64		number;
	double		cost;
} OptionValue;

static const OptionChoice security_protocols[] = {
	{"plaintext", false}, {"sasl", true}, {NULL, 0}
};

static const OptionChoice sasl_mechanisms[] = {{"PLAIN", 0}, {NULL, 0}};

static const OptionChoice acks_choices[] = {
	{"all", -1}, {"-1", -1}, {"1", 1}, {"0", 0}, {NULL, 0}
};

static const OptionChoice write_modes[] = {
	{"statement", false}, {"commit", true}, {NULL, 0}
};

static const OptionChoice loss_choices[] = {
	{"warning", FLUSS_ON_LOSS_WARNING},
	{"error", FLUSS_ON_LOSS_ERROR},
	{"ignore", FLUSS_ON_LOSS_IGNORE},
	{NULL, 0}
};

static const OptionChoice text_choices[] = {
	{"error", FLUSS_TEXT_ERROR},
	{"replace", FLUSS_TEXT_REPLACE},
	{"strip", FLUSS_TEXT_STRIP},
	{NULL, 0}
};

static const OptionChoice hash_choices[] = {
	{"fluss", false}, {"fluss_rs", true}, {NULL, 0}
};

static const OptionChoice scan_modes[] = {
	{"log", FLUSS_MODE_LOG},
	{"snapshot", FLUSS_MODE_SNAPSHOT},
	{"changelog", FLUSS_MODE_CHANGELOG},
	{NULL, 0}
};

static const OptionChoice kv_scans[] = {
	{"auto", FLUSS_KV_SCAN_AUTO},
	{"limit_scan", FLUSS_KV_SCAN_LIMIT},
	{"snapshot", FLUSS_KV_SCAN_SNAPSHOT},
	{"scan_kv", FLUSS_KV_SCAN_SERVER},
	{NULL, 0}
};

static const OptionChoice startup_modes[] = {
	{"earliest", FLUSS_STARTUP_EARLIEST},
	{"latest", FLUSS_STARTUP_LATEST},
	{"timestamp", FLUSS_STARTUP_TIMESTAMP},
	{NULL, 0}
};

static const OptionChoice metadata_choices[] = {
	{"bucket", FLUSS_META_BUCKET},
	{"log_offset", FLUSS_META_LOG_OFFSET},
	{"commit_timestamp", FLUSS_META_COMMIT_TIMESTAMP},
	{"change_type", FLUSS_META_CHANGE_TYPE},
	{"partition", FLUSS_META_PARTITION},
	{"table_id", FLUSS_META_TABLE_ID},
	{"partition_id", FLUSS_META_PARTITION_ID},
	{NULL, 0}
};

#define IN(structure, member) \
	offsetof(structure, member), sizeof(((structure *) NULL)->member)
#define FIELD(member)	IN(FlussOptions, member)
#define USER(member)	IN(FlussUserOptions, member)
#define COLUMN(member)	IN(FlussColumnOptions, member)
#define CHECKED_ONLY	NOT_IN_STRUCT, 0
#define ON_BOTH			(ON_SERVER | ON_TABLE)

static const FlussOption options_table[] = {
	{"bootstrap_servers", ON_SERVER, TYPE_SERVERS, 0, NULL, FIELD(bootstrap_servers)},
	{"address_map", ON_SERVER, TYPE_ADDRESS_MAP, 0, NULL, FIELD(address_map)},
	{"client_id", ON_SERVER, TYPE_NAME, 0, NULL, FIELD(client_id)},
	{"connect_timeout", ON_SERVER, TYPE_DURATION, 1, NULL, FIELD(connect_timeout_ms)},
	{"request_timeout", ON_SERVER, TYPE_DURATION, 1, NULL, FIELD(request_timeout_ms)},
	{"security_protocol", ON_SERVER, TYPE_CHOICE, 0, security_protocols, FIELD(sasl)},
	{"sasl_mechanism", ON_SERVER, TYPE_CHOICE, 0, sasl_mechanisms, CHECKED_ONLY},
	{"keep_connections", ON_SERVER, TYPE_BOOL, 0, NULL, FIELD(keep_connections)},
	{"use_remote_estimate", ON_SERVER, TYPE_BOOL, 0, NULL, FIELD(use_remote_estimate)},
	{"fdw_startup_cost", ON_SERVER, TYPE_COST, 0, NULL, FIELD(fdw_startup_cost)},
	{"fdw_tuple_cost", ON_SERVER, TYPE_COST, 0, NULL, FIELD(fdw_tuple_cost)},
	{"remote_files", ON_SERVER, TYPE_PATHS, 0, NULL, FIELD(remote_files)},
	{"s3_endpoint", ON_SERVER, TYPE_URL, 0, NULL, FIELD(s3_endpoint)},
	{"s3_region", ON_SERVER, TYPE_NAME, 0, NULL, FIELD(s3_region)},
	{"s3_path_style", ON_SERVER, TYPE_BOOL, 0, NULL, FIELD(s3_path_style)},

	{"fetch_max_bytes", ON_BOTH, TYPE_SIZE, 1, NULL, FIELD(fetch_max_bytes)},
	{"fetch_max_bytes_for_bucket", ON_BOTH, TYPE_SIZE, 1, NULL, FIELD(fetch_max_bytes_for_bucket)},
	{"fetch_inflight", ON_BOTH, TYPE_COUNT, 1, NULL, FIELD(fetch_inflight)},
	{"lookup_max_batch_size", ON_BOTH, TYPE_COUNT, 1, NULL, FIELD(lookup_max_batch_size)},
	{"lookup_max_inflight_requests", ON_BOTH, TYPE_COUNT, 1, NULL, FIELD(lookup_max_inflight_requests)},
	{"limit_scan_max_rows", ON_BOTH, TYPE_COUNT, 1, NULL, FIELD(limit_scan_max_rows)},
	{"batch_size", ON_BOTH, TYPE_COUNT, 1, NULL, FIELD(batch_size)},
	{"writer_acks", ON_BOTH, TYPE_CHOICE, 0, acks_choices, FIELD(writer_acks)},
	{"writer_batch_size", ON_BOTH, TYPE_SIZE, 1024, NULL, FIELD(writer_batch_size)},
	{"writer_enable_idempotence", ON_BOTH, TYPE_BOOL, 0, NULL, FIELD(writer_enable_idempotence)},
	{"write_mode", ON_BOTH, TYPE_CHOICE, 0, write_modes, FIELD(write_on_commit)},
	{"create_partitions", ON_BOTH, TYPE_BOOL, 0, NULL, FIELD(create_partitions)},
	{"check_crc", ON_BOTH, TYPE_BOOL, 0, NULL, FIELD(check_crc)},
	{"updatable", ON_BOTH, TYPE_BOOL, 0, NULL, FIELD(updatable)},
	{"on_data_loss", ON_BOTH, TYPE_CHOICE, 0, loss_choices, FIELD(on_data_loss)},
	{"timestamp_skew", ON_BOTH, TYPE_DURATION, 0, NULL, FIELD(timestamp_skew_ms)},
	{"invalid_text", ON_BOTH, TYPE_CHOICE, 0, text_choices, FIELD(invalid_text)},
	{"bucket_hash", ON_BOTH, TYPE_CHOICE, 0, hash_choices, FIELD(bucket_hash_rs)},

	{"database_name", ON_BOTH, TYPE_NAME, 0, NULL, FIELD(database_name)},
	{"table_name", ON_TABLE, TYPE_NAME, 0, NULL, FIELD(table_name)},
	{"scan_mode", ON_TABLE, TYPE_CHOICE, 0, scan_modes, FIELD(scan_mode)},
	{"kv_scan", ON_TABLE, TYPE_CHOICE, 0, kv_scans, FIELD(kv_scan)},
	{"scan_startup_mode", ON_TABLE, TYPE_CHOICE, 0, startup_modes, FIELD(scan_startup_mode)},
	{"scan_startup_timestamp", ON_TABLE, TYPE_TIMESTAMP, 0, NULL, FIELD(scan_startup_timestamp_ms)},

	{"user", ON_MAPPING, TYPE_NAME, 0, NULL, USER(user)},
	{"password", ON_MAPPING, TYPE_SECRET, 0, NULL, USER(password)},
	{"password_required", ON_MAPPING, TYPE_BOOL, 0, NULL, USER(password_required)},
	{"s3_access_key", ON_MAPPING, TYPE_SECRET, 0, NULL, USER(s3_access_key)},
	{"s3_secret_key", ON_MAPPING, TYPE_SECRET, 0, NULL, USER(s3_secret_key)},

	{"column_name", ON_COLUMN, TYPE_NAME, 0, NULL, COLUMN(column_name)},
	{"metadata", ON_COLUMN, TYPE_CHOICE, 0, metadata_choices, COLUMN(metadata)},
	{"fluss_type", ON_COLUMN, TYPE_FLUSS_TYPE, 0, NULL, COLUMN(fluss_type)},
	{"event_time", ON_COLUMN, TYPE_BOOL, 0, NULL, COLUMN(event_time)},
	{"max_clock_skew", ON_COLUMN, TYPE_DURATION, 0, NULL, COLUMN(max_clock_skew_ms)}
};

static const FlussOptions default_options = {
	.connect_timeout_ms = 10 * 1000,
	.request_timeout_ms = 30 * 1000,
	.keep_connections = true,
	.use_remote_estimate = true,
	.fdw_startup_cost = 25.0,
	.fdw_tuple_cost = 0.01,
	.fetch_max_bytes = 16 * 1024 * 1024,
	.fetch_max_bytes_for_bucket = 16 * 1024 * 1024,
	.fetch_inflight = 2,
	.lookup_max_batch_size = 8192,
	.lookup_max_inflight_requests = 4,
	.limit_scan_max_rows = 100000,
	.batch_size = 1,			/* the writer makes batches without copying rows */
	.writer_acks = -1,
	.writer_batch_size = 2 * 1024 * 1024,
	.writer_enable_idempotence = true,
	.create_partitions = true,
	.check_crc = true,
	.updatable = true,
	.timestamp_skew_ms = 10 * 1000
};

/* ------------------------------------------------------------ near names */

void
FlussNearest(FlussNearestName *nearest, const char *candidate)
{
	int			length = strlen(nearest->given);
	int			limit = nearest->match != NULL ?
		nearest->distance - 1 : Min(4, length / 2);
	int			distance;

	if (length == 0 || length >= NAMEDATALEN ||
		strlen(candidate) >= NAMEDATALEN || limit < 0)
		return;
	/* "database" is a database_name that was cut short */
	if (strncmp(candidate, nearest->given, length) == 0 &&
		candidate[length] == '_')
	{
		nearest->distance = 0;
		nearest->match = candidate;
		return;
	}
	distance = varstr_levenshtein_less_equal(nearest->given, length,
											 candidate, strlen(candidate),
											 1, 1, 1, limit, true);
	if (distance <= limit)
	{
		nearest->distance = distance;
		nearest->match = candidate;
	}
}

/* -------------------------------------------------------- reading values */

/* A list of absolute paths, separated by commas. */
static bool
paths_are_absolute(const char *string)
{
	const char *path = string;

	do
	{
		path += strspn(path, " ");
		if (*path != '/')
			return false;
		path = strchr(path, ',');
	} while (path++ != NULL);
	return true;
}

static bool
parse_timestamp(const char *string, int64 *millis)
{
	struct pg_tm tm;
	fsec_t		fsec;
	int			tz;
	int			dtype;
	int			nf;
	char	   *field[MAXDATEFIELDS];
	int			ftype[MAXDATEFIELDS];
	char		workbuf[MAXDATELEN + MAXDATEFIELDS];
	TimestampTz timestamp;

	if (ParseDateTime(string, workbuf, sizeof(workbuf), field, ftype,
					  MAXDATEFIELDS, &nf) != 0 ||
		fluss_decode_datetime(field, ftype, nf, &dtype, &tm, &fsec, &tz) != 0 ||
		dtype != DTK_DATE ||
		tm2timestamp(&tm, fsec, &tz, &timestamp) != 0)
		return false;
	*millis = FlussTimestampToMillis(timestamp);
	return true;
}

static bool
parse_choice(const OptionChoice *choices, const char *string, int64 *number)
{
	for (; choices->name != NULL; choices++)
	{
		if (pg_strcasecmp(choices->name, string) == 0)
		{
			*number = choices->value;
			return true;
		}
	}
	return false;
}

static char *
choice_names(const OptionChoice *choices)
{
	StringInfoData names;

	initStringInfo(&names);
	for (; choices->name != NULL; choices++)
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 choices->name);
	return names.data;
}

/* A number with the unit its type takes; *detail tells what is wrong. */
static bool
parse_number(const FlussOption *option, const char *string, int64 *number,
			 const char **detail)
{
	int			flags = option->type == TYPE_SIZE ? GUC_UNIT_BYTE :
		option->type == TYPE_DURATION ? GUC_UNIT_MS : 0;
	const char *hint = NULL;
	int			value;

	if (!parse_int(string, &value, flags, &hint))
	{
		*detail = hint != NULL ? hint : "The value must be a whole number.";
		return false;
	}
	if (value < option->min)
	{
		*detail = psprintf("The value must be at least %d.", option->min);
		return false;
	}
	*number = value;
	return true;
}

/* A sentence of a client's check that failed. */
static const char *
client_detail(const fluss_error *err)
{
	if (err->detail[0] != '\0')
		return pstrdup(err->detail);
	return psprintf("%c%s.", pg_toupper((unsigned char) err->message[0]),
					err->message + 1);
}

/* Reads a value; false with *detail, a sentence, when the option forbids it. */
static bool
parse_value(const FlussOption *option, const char *string, OptionValue *value,
			const char **detail)
{
	fluss_host	host = FlussHost(CurrentMemoryContext);
	fluss_error err;
	fluss_type	type;
	bool		flag;

	fluss_error_init(&err);
	*detail = NULL;
	value->text = string;
	switch (option->type)
	{
		case TYPE_NAME:
			*detail = "The value must not be empty.";
			return string[0] != '\0';
		case TYPE_SECRET:
			return true;
		case TYPE_BOOL:
			*detail = "The value must be a boolean.";
			if (!parse_bool(string, &flag))
				return false;
			value->number = flag;
			return true;
		case TYPE_COUNT:
		case TYPE_SIZE:
		case TYPE_DURATION:
			return parse_number(option, string, &value->number, detail);
		case TYPE_COST:
			*detail = "The value must be a number that is not negative.";
			return parse_real(string, &value->cost, 0, NULL) && value->cost >= 0;
		case TYPE_CHOICE:
			*detail = psprintf("Valid values are: %s.",
							   choice_names(option->choices));
			return parse_choice(option->choices, string, &value->number);
		case TYPE_TIMESTAMP:
			*detail = "The value must be a timestamp with time zone.";
			return parse_timestamp(string, &value->number);
		case TYPE_SERVERS:
			if (fluss_check_bootstrap_servers(string, &err) == FLUSS_OK)
				return true;
			*detail = client_detail(&err);
			return false;
		case TYPE_ADDRESS_MAP:
			if (fluss_check_address_map(string, &err) == FLUSS_OK)
				return true;
			*detail = client_detail(&err);
			return false;
		case TYPE_PATHS:
			*detail = "The value must be a list of absolute paths, separated by commas.";
			return paths_are_absolute(string);
		case TYPE_URL:
			if (fluss_check_s3_endpoint(string, &err) == FLUSS_OK)
				return true;
			*detail = client_detail(&err);
			return false;
		case TYPE_FLUSS_TYPE:
			if (fluss_type_from_text(&host, string, &type, &err) == FLUSS_OK)
				return true;
			*detail = client_detail(&err);
			return false;
	}
	return false;
}

/* ------------------------------------------------------------- validator */

static const FlussOption *
find_option(const char *name, int level)
{
	for (int i = 0; i < lengthof(options_table); i++)
	{
		if ((options_table[i].levels & level) != 0 &&
			strcmp(options_table[i].name, name) == 0)
			return &options_table[i];
	}
	return NULL;
}

static int
level_of_catalog(Oid catalog)
{
	switch (catalog)
	{
		case ForeignServerRelationId:
			return ON_SERVER;
		case UserMappingRelationId:
			return ON_MAPPING;
		case ForeignTableRelationId:
			return ON_TABLE;
		case AttributeRelationId:
			return ON_COLUMN;
		default:
			return 0;
	}
}

static const char *
levels_name(int levels)
{
	switch (levels)
	{
		case ON_SERVER:
			return "a server";
		case ON_MAPPING:
			return "a user mapping";
		case ON_TABLE:
			return "a foreign table";
		case ON_COLUMN:
			return "a column of a foreign table";
		default:
			return "a server or a foreign table";
	}
}

static void refuse_name(const char *name, int level)
			__attribute__((noreturn));

static void
refuse_name(const char *name, int level)
{
	const FlussOption *elsewhere = find_option(name, ~0);
	FlussNearestName nearest = {name, NULL, 0};
	const char *hint = NULL;

	for (int i = 0; i < lengthof(options_table); i++)
	{
		if ((options_table[i].levels & level) != 0)
			FlussNearest(&nearest, options_table[i].name);
	}
	if (elsewhere != NULL)
		hint = psprintf("The option \"%s\" belongs to %s.", name,
						levels_name(elsewhere->levels));
	else if (nearest.match != NULL)
		hint = psprintf("Perhaps you meant the option \"%s\".", nearest.match);
	else if (level == 0)
		hint = "A foreign-data wrapper has no options of its own.";

	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 hint != NULL ? errhint("%s", hint) : 0));
}

static void
check_value(const FlussOption *option, const char *string)
{
	OptionValue value;
	const char *detail;

	if (parse_value(option, string, &value, &detail))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("invalid value for option \"%s\": \"%s\"",
					option->name, string),
			 detail != NULL ? errdetail("%s", detail) : 0));
}

/* Options that give a user what only the server's owner has: its files. */
static void
check_privilege(const FlussOption *option, const char *string)
{
	bool		required = true;

	if (superuser())
		return;
	if (strcmp(option->name, "remote_files") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\"", option->name),
				 errdetail("Only superusers may name files that the server opens.")));
	if (strcmp(option->name, "password_required") == 0 &&
		parse_bool(string, &required) && !required)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to set option \"%s\" to false",
						option->name),
				 errdetail("Only superusers may let others do without a password.")));
}

static void
refuse_together(const char *name, const char *other)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE),
			 errmsg("options \"%s\" and \"%s\" exclude each other",
					name, other)));
}

static void
require_option(const char *name, const char *because)
{
	ereport(ERROR,
			(errcode(ERRCODE_FDW_DYNAMIC_PARAMETER_VALUE_NEEDED),
			 errmsg("option \"%s\" is required %s", name, because)));
}

static const char *
given_value(List *options, const char *name)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
			return defGetString(def);
	}
	return NULL;
}

/* What holds between the options of one object. */
static void
check_together(List *options, int level)
{
	const char *mode = given_value(options, "scan_startup_mode");

	if (level == ON_SERVER && given_value(options, "bootstrap_servers") == NULL)
		require_option("bootstrap_servers", "for a server");
	if (level == ON_TABLE && mode != NULL &&
		pg_strcasecmp(mode, "timestamp") == 0 &&
		given_value(options, "scan_startup_timestamp") == NULL)
		require_option("scan_startup_timestamp",
					   "for scan_startup_mode \"timestamp\"");
	if (level == ON_COLUMN && given_value(options, "metadata") != NULL)
	{
		if (given_value(options, "column_name") != NULL)
			refuse_together("metadata", "column_name");
		if (given_value(options, "fluss_type") != NULL)
			refuse_together("metadata", "fluss_type");
		if (given_value(options, "event_time") != NULL)
			refuse_together("metadata", "event_time");
	}
}

PG_FUNCTION_INFO_V1(fluss_fdw_validator);

PGDLLEXPORT Datum
fluss_fdw_validator(PG_FUNCTION_ARGS)
{
	List	   *options = untransformRelOptions(PG_GETARG_DATUM(0));
	int			level = level_of_catalog(PG_GETARG_OID(1));
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const FlussOption *option = find_option(def->defname, level);

		if (option == NULL)
			refuse_name(def->defname, level);
		check_value(option, defGetString(def));
		check_privilege(option, defGetString(def));
	}
	check_together(options, level);
	PG_RETURN_VOID();
}

/* --------------------------------------------------------------- merging */

static void
store_value(const FlussOption *option, const OptionValue *value, char *base)
{
	char	   *field = base + option->offset;

	switch (option->type)
	{
		case TYPE_NAME:
		case TYPE_SECRET:
		case TYPE_SERVERS:
		case TYPE_ADDRESS_MAP:
		case TYPE_PATHS:
		case TYPE_URL:
		case TYPE_FLUSS_TYPE:
			*(const char **) field = value->text;
			break;
		case TYPE_COST:
			*(double *) field = value->cost;
			break;
		default:
			if (option->size == sizeof(bool))
				*(bool *) field = value->number != 0;
			else if (option->size == sizeof(int))
				*(int *) field = (int) value->number;
			else
				*(int64 *) field = value->number;
			break;
	}
}

/*
 * Stores the options of one object, which the validator has passed.  An
 * option that it would refuse now, after an update of the extension or of the
 * catalogs by hand, is an error as there.
 */
static void
apply_options(List *options, int level, void *base)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const FlussOption *option = find_option(def->defname, level);
		const char *string = defGetString(def);
		const char *detail;
		OptionValue value = {0};

		if (option == NULL)
			refuse_name(def->defname, level);
		if (option->offset == NOT_IN_STRUCT)
			continue;
		if (!parse_value(option, string, &value, &detail))
			check_value(option, string);
		store_value(option, &value, base);
	}
}

FlussOptions *
FlussGetServerOptions(ForeignServer *server)
{
	FlussOptions *options = palloc(sizeof(*options));

	*options = default_options;
	apply_options(server->options, ON_SERVER, options);
	return options;
}

FlussOptions *
FlussGetTableOptions(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);
	FlussOptions *options = FlussGetServerOptions(GetForeignServer(table->serverid));

	apply_options(table->options, ON_TABLE, options);
	if (options->table_name == NULL)
		options->table_name = get_rel_name(relid);
	return options;
}

void
FlussGetUserOptions(UserMapping *mapping, FlussUserOptions *out)
{
	memset(out, 0, sizeof(*out));
	out->password_required = true;
	apply_options(mapping->options, ON_MAPPING, out);
}

void
FlussGetColumnOptions(Oid relid, AttrNumber attnum, FlussColumnOptions *out)
{
	memset(out, 0, sizeof(*out));
	apply_options(GetForeignColumnOptions(relid, attnum), ON_COLUMN, out);
}
