/*
 * partition_age.c
 *	  Whether a table's retention would take a new partition away at once.
 *
 * A table with automatic partitioning keeps the partitions of the current unit
 * of time and of num-retention units before it; older ones are dropped, with
 * the rows in them.  The server compares the values as text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "error.h"
#include "partition.h"

/* As the server: PREFIX and what the client assumes without the property. */
#define PROPERTY(name)		"table.auto-partition." name
#define DEFAULT_RETENTION	7
/* Nowhere is it earlier in the day. */
#define EARLIEST_ZONE_S		(-12 * 3600)

typedef enum time_unit
{
	UNIT_HOUR,
	UNIT_DAY,
	UNIT_MONTH,
	UNIT_QUARTER,
	UNIT_YEAR,
	UNIT_UNKNOWN
} time_unit;

static time_unit
unit_of(const fluss_table *table)
{
	static const char *const names[] = {
		"HOUR", "DAY", "MONTH", "QUARTER", "YEAR"
	};
	const char *text = fluss_table_property(table, PROPERTY("time-unit"));

	if (text == NULL)
		return UNIT_DAY;
	for (int i = 0; i < UNIT_UNKNOWN; i++)
	{
		if (strcasecmp(text, names[i]) == 0)
			return (time_unit) i;
	}
	return UNIT_UNKNOWN;
}

/* Position among the partition columns of the one that tells the time, or -1. */
static int
time_column(const fluss_table *table)
{
	const char *key = fluss_table_property(table, PROPERTY("key"));

	if (table->npartition_key == 1)
		return 0;
	for (int i = 0; key != NULL && i < table->npartition_key; i++)
	{
		if (strcmp(table->schema->columns[table->partition_key[i]].name,
				   key) == 0)
			return i;
	}
	return -1;
}

static int64_t
local_seconds(const fluss_table *table, fluss_zone_offset zone_offset,
			  int64_t utc_s)
{
	const char *zone = fluss_table_property(table, PROPERTY("time-zone"));
	int32_t		offset_s = EARLIEST_ZONE_S;

	/* the server's own zone, or one that nobody here knows */
	if (zone == NULL || zone_offset == NULL ||
		!zone_offset(zone, utc_s, &offset_s))
		offset_s = EARLIEST_ZONE_S;
	return utc_s + offset_s;
}

static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* The oldest value that is kept. */
static void
oldest_kept(const fluss_table *table, fluss_zone_offset zone_offset,
			time_unit unit, int64_t retention, int64_t now_s, char out[32])
{
	int64_t		back_s = unit == UNIT_HOUR ? retention * 3600 : 0;
	int64_t		local = local_seconds(table, zone_offset, now_s - back_s);
	int64_t		days = floor_div(local, 86400);
	fluss_date	date = fluss_days_to_date(unit == UNIT_DAY ? days - retention :
										  days);
	int64_t		months = date.year * 12 + date.month - 1;

	switch (unit)
	{
		case UNIT_HOUR:
			snprintf(out, 32, "%04lld%02d%02d%02d", (long long) date.year,
					 date.month, date.day,
					 (int) ((local - days * 86400) / 3600));
			break;
		case UNIT_DAY:
			snprintf(out, 32, "%04lld%02d%02d", (long long) date.year,
					 date.month, date.day);
			break;
		case UNIT_MONTH:
			months -= retention;
			snprintf(out, 32, "%04lld%02d", (long long) floor_div(months, 12),
					 (int) (months - floor_div(months, 12) * 12) + 1);
			break;
		case UNIT_QUARTER:
			months -= 3 * retention;
			snprintf(out, 32, "%04lld%d", (long long) floor_div(months, 12),
					 (int) (months - floor_div(months, 12) * 12) / 3 + 1);
			break;
		default:
			snprintf(out, 32, "%04lld", (long long) (date.year - retention));
			break;
	}
}

fluss_status
fluss_partition_check_age(const fluss_table *table, const char *const *values,
						  fluss_zone_offset zone_offset, int64_t now_s,
						  fluss_error *err)
{
	const char *enabled = fluss_table_property(table, PROPERTY("enabled"));
	const char *kept = fluss_table_property(table, PROPERTY("num-retention"));
	int64_t		retention = kept == NULL ? DEFAULT_RETENTION : atoll(kept);
	time_unit	unit = unit_of(table);
	int			column = time_column(table);
	char		oldest[32];

	if (enabled == NULL || strcasecmp(enabled, "true") != 0 ||
		retention < 0 || retention > INT32_MAX || unit == UNIT_UNKNOWN ||
		column < 0)
		return FLUSS_OK;
	oldest_kept(table, zone_offset, unit, retention, now_s, oldest);
	if (strcmp(values[column], oldest) >= 0)
		return FLUSS_OK;
	(void) fluss_fail(err, FLUSS_PARTITION_EXPIRED,
					  "partition value \"%.64s\" is older than what Fluss table \"%s\" in database \"%s\" retains",
					  values[column], table->name, table->database);
	fluss_error_detail(err, "The oldest value it keeps is \"%s\"; the server would drop an older partition with its rows.",
					   oldest);
	return err->status;
}
