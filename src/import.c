/*
 * import.c
 *	  IMPORT FOREIGN SCHEMA: a foreign table for each table of a Fluss database.
 *
 * Local names are Fluss's own where PostgreSQL takes them: what is longer than
 * an identifier may be, is there twice after being cut, or names a system
 * column gets another name and the option column_name or table_name.  Metadata
 * columns come last, so INSERT without a column list fills the others.
 */
#include "fluss_fdw.h"

#include "access/htup_details.h"
#include "catalog/heap.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

typedef struct ImportOptions
{
	bool		metadata;		/* import_metadata */
	bool		not_null;		/* import_not_null */
	bool		changelog;		/* import_changelog */
} ImportOptions;

/* Of a primary key table, its changelog is a table of its own. */
#define CHANGELOG_SUFFIX "_changelog"

/* ---------------------------------------------------------------- options */

static void
refuse_option(const char *name)
{
	FlussNearestName nearest = {name, NULL, 0};

	FlussNearest(&nearest, "import_metadata");
	FlussNearest(&nearest, "import_not_null");
	FlussNearest(&nearest, "import_changelog");
	ereport(ERROR,
			(errcode(ERRCODE_FDW_INVALID_OPTION_NAME),
			 errmsg("invalid option \"%s\"", name),
			 nearest.match != NULL ?
			 errhint("Perhaps you meant the option \"%s\".", nearest.match) :
			 errhint("Valid options in this context are: import_metadata, import_not_null, import_changelog")));
}

static void
read_options(List *list, ImportOptions *options)
{
	ListCell   *lc;

	options->metadata = true;
	options->not_null = true;
	options->changelog = false;
	foreach(lc, list)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "import_metadata") == 0)
			options->metadata = defGetBoolean(def);
		else if (strcmp(def->defname, "import_not_null") == 0)
			options->not_null = defGetBoolean(def);
		else if (strcmp(def->defname, "import_changelog") == 0)
			options->changelog = defGetBoolean(def);
		else
			refuse_option(def->defname);
	}
}

/* ------------------------------------------------------------------ names */

/* Cut to what an identifier may be, at a character's border. */
static char *
clip_name(const char *name, int room)
{
	int			length = strlen(name);

	if (length <= room)
		return pstrdup(name);
	return pnstrdup(name, pg_mbcliplen(name, length, room));
}

static bool
is_taken(List *names, const char *name)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) == 0)
			return true;
	}
	return false;
}

static bool
is_system_column(const char *name)
{
	return SystemAttributeByName(name) != NULL;
}

/* A name for a column that none before it has; *names learns it. */
static const char *
column_name(const char *remote, List **names)
{
	char	   *name = clip_name(remote, NAMEDATALEN - 1);

	for (int i = 2; is_taken(*names, name) || is_system_column(name); i++)
	{
		char		suffix[16];

		snprintf(suffix, sizeof(suffix), "_%d", i);
		name = psprintf("%s%s",
						clip_name(remote, NAMEDATALEN - 1 - strlen(suffix)),
						suffix);
	}
	*names = lappend(*names, name);
	return name;
}

/* Is the table wanted by the LIMIT TO or EXCEPT of the statement? */
static bool
is_wanted(ImportForeignSchemaStmt *stmt, const char *local)
{
	bool		listed = false;
	ListCell   *lc;

	if (stmt->list_type == FDW_IMPORT_SCHEMA_ALL)
		return true;
	foreach(lc, stmt->table_list)
	{
		if (strcmp(lfirst_node(RangeVar, lc)->relname, local) == 0)
			listed = true;
	}
	return listed == (stmt->list_type == FDW_IMPORT_SCHEMA_LIMIT_TO);
}

/* --------------------------------------------------------------- commands */

static void
add_option(StringInfo out, const char *name, const char *value)
{
	appendStringInfo(out, "%s %s", name, quote_literal_cstr(value));
}

void
FlussAppendColumn(StringInfo out, const fluss_column *column, bool not_null,
				  List **names)
{
	const char *remote = FlussNameFromRemote(column->name);
	const char *name = column_name(remote, names);
	Oid			type;
	int32		typmod;

	FlussPgTypeFor(&column->type, &type, &typmod);
	appendStringInfo(out, "%s %s", quote_identifier(name),
					 format_type_with_typemod(type, typmod));
	if (strcmp(name, remote) != 0)
	{
		appendStringInfoString(out, " OPTIONS (");
		add_option(out, "column_name", remote);
		appendStringInfoChar(out, ')');
		ereport(NOTICE,
				(errmsg("column \"%s\" is imported as \"%s\"",
						remote, name)));
	}
	if (not_null && !column->type.nullable)
		appendStringInfoString(out, " NOT NULL");
}

typedef struct MetadataColumn
{
	const char *name;
	const char *type;
	const char *metadata;
} MetadataColumn;

static void
add_metadata(StringInfo out, const MetadataColumn *column, List **names)
{
	appendStringInfo(out, ",\n  %s %s OPTIONS (",
					 quote_identifier(column_name(column->name, names)),
					 column->type);
	add_option(out, "metadata", column->metadata);
	appendStringInfoChar(out, ')');
}

/* What scans of logs and changelogs know; state has no offset and no time. */
static void
add_metadata_columns(StringInfo out, const fluss_table *table, bool changelog,
					 List **names)
{
	static const MetadataColumn partition = {"_partition", "text", "partition"};
	static const MetadataColumn bucket = {"_bucket", "integer", "bucket"};
	static const MetadataColumn offset = {"_log_offset", "bigint", "log_offset"};
	static const MetadataColumn timestamp = {"_commit_timestamp", "timestamptz",
	"commit_timestamp"};
	static const MetadataColumn type = {"_change_type", "text", "change_type"};

	if (table->npartition_key > 0)
		add_metadata(out, &partition, names);
	add_metadata(out, &bucket, names);
	add_metadata(out, &offset, names);
	add_metadata(out, &timestamp, names);
	if (changelog)
		add_metadata(out, &type, names);
}

static char *
create_command(const fluss_table *table, const char *local, bool changelog,
			   const char *server, const ImportOptions *options,
			   int *ncolumns)
{
	const fluss_schema *schema = table->schema;
	StringInfoData out;
	List	   *names = NIL;

	initStringInfo(&out);
	appendStringInfo(&out, "CREATE FOREIGN TABLE %s (",
					 quote_identifier(local));
	/* an old image of a changelog may lack what is NOT NULL by now */
	for (int i = 0; i < schema->ncolumns; i++)
	{
		appendStringInfoString(&out, i > 0 ? ",\n  " : "\n  ");
		FlussAppendColumn(&out, &schema->columns[i],
						  options->not_null && !changelog, &names);
	}
	if (options->metadata && (changelog || schema->nprimary_key == 0))
		add_metadata_columns(&out, table, changelog, &names);
	*ncolumns = list_length(names);
	appendStringInfo(&out, "\n) SERVER %s\nOPTIONS (",
					 quote_identifier(server));
	add_option(&out, "database_name", table->database);
	appendStringInfoString(&out, ", ");
	add_option(&out, "table_name", table->name);
	if (changelog)
		appendStringInfoString(&out, ", scan_mode 'changelog'");
	appendStringInfoChar(&out, ')');
	return out.data;
}

/* ----------------------------------------------------------------- import */

typedef struct Import
{
	ImportForeignSchemaStmt *stmt;
	ImportOptions options;
	FlussConnection *conn;
	const char *server;
	List	   *locals;			/* names of the tables so far */
	List	   *commands;
} Import;

/* What is not possible for one table must not keep the others out. */
static void
leave_out(const fluss_table *table, const char *local, const char *detail,
		  const char *hint)
{
	ereport(WARNING,
			(errmsg("foreign table \"%s\" for Fluss table \"%s.%s\" is left out",
					local, table->database, table->name),
			 errdetail("%s", detail),
			 hint != NULL ? errhint("%s", hint) : 0));
}

static void
add_table(Import *import, const fluss_table *table, const char *local,
		  bool changelog)
{
	int			ncolumns;
	char	   *command;

	if (is_taken(import->locals, local))
	{
		leave_out(table, local, "Another one of that name is imported.",
				  NULL);
		return;
	}
	command = create_command(table, local, changelog, import->server,
							 &import->options, &ncolumns);
	if (ncolumns > MaxHeapAttributeNumber)
	{
		leave_out(table, local,
				  psprintf("It would have %d columns, more than the %d that a table can have.",
						   ncolumns, MaxHeapAttributeNumber),
				  table->schema->ncolumns <= MaxHeapAttributeNumber ?
				  "Leave out the metadata columns with the option import_metadata 'false'." :
				  NULL);
		return;
	}
	import->locals = lappend(import->locals, pstrdup(local));
	import->commands = lappend(import->commands, command);
}

/* The description of a table, or NULL for one that was dropped since. */
static fluss_table *
describe(Import *import, const char *name)
{
	fluss_table **table = palloc0(sizeof(*table));
	fluss_error err;
	fluss_status status;

	FlussCloseOnReset(CurrentMemoryContext, FlussReleaseTable, (void **) table);
	fluss_error_init(&err);
	status = fluss_table_open(import->conn->client,
							  import->stmt->remote_schema, name, true, table,
							  &err);
	if (status == FLUSS_SERVER_ERROR &&
		err.server_code == FLUSS_CODE_TABLE_NOT_EXIST)
		return NULL;
	if (status != FLUSS_OK)
		FlussRaise(&err, NULL);
	return *table;
}

static void
import_table(Import *import, const char *name)
{
	char	   *local = clip_name(name, NAMEDATALEN - 1);
	char	   *changes = psprintf("%s" CHANGELOG_SUFFIX,
								   clip_name(name, NAMEDATALEN - 1 -
											 strlen(CHANGELOG_SUFFIX)));
	bool		state = is_wanted(import->stmt, local);
	bool		changelog = import->options.changelog &&
		is_wanted(import->stmt, changes);
	fluss_table *table;

	if (!state && !changelog)
		return;
	table = describe(import, name);
	if (table == NULL)
		return;
	if (state)
	{
		if (strcmp(local, name) != 0)
			ereport(NOTICE,
					(errmsg("Fluss table \"%s.%s\" is imported as \"%s\"",
							table->database, name, local)));
		add_table(import, table, local, false);
	}
	if (changelog && table->schema->nprimary_key > 0)
		add_table(import, table, changes, true);
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* The database's tables by name, copied: the client forgets its answers. */
static const char **
table_names(Import *import, int *n)
{
	const char *const *answer;
	const char **names;
	fluss_error err;

	fluss_error_init(&err);
	FLUSS_CALL(fluss_list_tables(import->conn->client,
								 import->stmt->remote_schema, &answer, &err),
			   err, NULL);
	*n = 0;
	while (answer[*n] != NULL)
		(*n)++;
	names = palloc(sizeof(char *) * (*n + 1));
	for (int i = 0; i < *n; i++)
		names[i] = pstrdup(answer[i]);
	qsort(names, *n, sizeof(char *), compare_names);
	return names;
}

List *
flussImportForeignSchema(ImportForeignSchemaStmt *stmt, Oid serverid)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "fluss import",
												  ALLOCSET_DEFAULT_SIZES);
	Import		import = {stmt};
	List	   *result = NIL;
	ListCell   *lc;
	const char **names;
	int			n;
	MemoryContext caller = MemoryContextSwitchTo(context);

	read_options(stmt->options, &import.options);
	import.server = GetForeignServer(serverid)->servername;
	import.conn = FlussGetConnection(GetUserId(), serverid, context);
	names = table_names(&import, &n);
	for (int i = 0; i < n; i++)
		import_table(&import, names[i]);

	MemoryContextSwitchTo(caller);
	foreach(lc, import.commands)
		result = lappend(result, pstrdup(lfirst(lc)));
	MemoryContextDelete(context);
	return result;
}
