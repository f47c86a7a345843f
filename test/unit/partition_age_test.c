/*
 * partition_age_test.c
 *	  Which partitions a table's retention would take away at once.
 */
#include <string.h>

#include "support.h"
#include "partition.h"

/* 2024-03-01 00:30:00 UTC */
#define NOW		INT64_C(1709253000)

static const fluss_column columns[] = {
	{.name = "id", .type = {.id = FLUSS_INTEGER}},
	{.name = "region", .type = {.id = FLUSS_STRING}},
	{.name = "day", .type = {.id = FLUSS_STRING}}
};
static const fluss_schema schema = {.ncolumns = 3, .columns = columns};
static const int32_t region_and_day[] = {1, 2};

static bool
zone_offset(const char *zone, int64_t utc_s, int32_t *offset_s)
{
	if (strcmp(zone, "UTC") == 0)
		*offset_s = 0;
	else if (strcmp(zone, "America/New_York") == 0)
		*offset_s = -5 * 3600;
	else
		return false;
	return true;
}

static fluss_status
check_with(const char *unit, const char *kept, const char *zone,
		   const char *enabled, const char *value)
{
	fluss_property properties[5];
	const char *values[] = {"eu", value};
	fluss_table table = {
		.database = "db", .name = "t", .schema = &schema, .npartition_key = 2,
		.partition_key = region_and_day, .properties = properties
	};
	fluss_error err;

	properties[table.nproperties++] =
		(fluss_property) {"table.auto-partition.key", "day"};
	if (enabled != NULL)
		properties[table.nproperties++] =
			(fluss_property) {"table.auto-partition.enabled", enabled};
	if (unit != NULL)
		properties[table.nproperties++] =
			(fluss_property) {"table.auto-partition.time-unit", unit};
	if (kept != NULL)
		properties[table.nproperties++] =
			(fluss_property) {"table.auto-partition.num-retention", kept};
	if (zone != NULL)
		properties[table.nproperties++] =
			(fluss_property) {"table.auto-partition.time-zone", zone};
	return fluss_partition_check_age(&table, values, zone_offset, NOW, &err);
}

static void
border(const char *unit, const char *kept, const char *zone,
	   const char *oldest, const char *gone)
{
	assert_int_equal(check_with(unit, kept, zone, "true", oldest), FLUSS_OK);
	assert_int_equal(check_with(unit, kept, zone, "true", gone),
					 FLUSS_PARTITION_EXPIRED);
}

static void
test_units(void **unused)
{
	border("DAY", "2", "UTC", "20240228", "20240227");
	border("day", "0", "UTC", "20240301", "20240229");
	border(NULL, NULL, "UTC", "20240223", "20240222");
	border("HOUR", "3", "UTC", "2024022921", "2024022920");
	border("MONTH", "3", "UTC", "202312", "202311");
	border("QUARTER", "1", "UTC", "20234", "20233");
	border("QUARTER", "4", "UTC", "20231", "20224");
	border("YEAR", "2", "UTC", "2022", "2021");
}

/* Elsewhere it is still the day before; a zone not known may be the last. */
static void
test_zones(void **unused)
{
	border("DAY", "0", "America/New_York", "20240229", "20240228");
	border("DAY", "0", "Mars/Olympus", "20240229", "20240228");
	border("DAY", "0", NULL, "20240229", "20240228");
}

static void
test_no_retention(void **unused)
{
	assert_int_equal(check_with("DAY", "-1", "UTC", "true", "19700101"),
					 FLUSS_OK);
	assert_int_equal(check_with("DAY", "2", "UTC", "false", "19700101"),
					 FLUSS_OK);
	assert_int_equal(check_with("DAY", "2", "UTC", NULL, "19700101"),
					 FLUSS_OK);
	assert_int_equal(check_with("DECADE", "2", "UTC", "true", "1970"),
					 FLUSS_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_no_retention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
