/*
 * interval.c
 *	  Sets of records of one bucket: intervals of offsets, each with the commit
 *	  times that are wanted of it.
 *
 * The times of an interval are hints: putting overlapping intervals together
 * may widen them, never narrow them, and who asked for a time looks at every
 * row again.  The offsets are exact.
 *
 * A set has two halves.  What the query bounds from below stays as it is; the
 * rest is open, and starts where the table's scan_startup_mode says.
 */
#include "fluss_fdw.h"

static const FlussIntervals no_intervals = {0, NULL};

static FlussIntervals
one_interval(const FlussInterval *interval)
{
	FlussIntervals result = {1, palloc(sizeof(FlussInterval))};

	result.items[0] = *interval;
	return result;
}

static bool
is_empty(const FlussInterval *interval)
{
	return interval->start >= interval->end ||
		interval->from_ms >= interval->until_ms;
}

FlussOffsetSet
FlussSetOf(const FlussInterval *interval, bool open)
{
	FlussOffsetSet result = {no_intervals, no_intervals};

	if (is_empty(interval))
		return result;
	if (open)
		result.open = one_interval(interval);
	else
		result.bounded = one_interval(interval);
	return result;
}

FlussOffsetSet
FlussSetNone(void)
{
	FlussOffsetSet result = {no_intervals, no_intervals};

	return result;
}

FlussOffsetSet
FlussSetAll(void)
{
	FlussInterval whole = FLUSS_WHOLE_INTERVAL;

	return FlussSetOf(&whole, true);
}

/* Whether it is what FlussSetAll() gives. */
bool
FlussSetIsAll(const FlussOffsetSet *set)
{
	FlussInterval whole = FLUSS_WHOLE_INTERVAL;

	return set->open.n == 1 &&
		memcmp(&set->open.items[0], &whole, sizeof(whole)) == 0;
}

bool
FlussSetIsEmpty(const FlussOffsetSet *set)
{
	return set->bounded.n == 0 && set->open.n == 0;
}

static int
compare_intervals(const void *a, const void *b)
{
	const FlussInterval *x = a;
	const FlussInterval *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

static bool
joins_on(const FlussInterval *a, const FlussInterval *b)
{
	return b->start < a->end ||
		(b->start == a->end && a->from_ms == b->from_ms &&
		 a->until_ms == b->until_ms);
}

/* Sorts, and joins what overlaps or touches. */
static void
normalize(FlussIntervals *set)
{
	int			n = 0;

	if (set->n > 1)
		qsort(set->items, set->n, sizeof(FlussInterval), compare_intervals);
	for (int i = 0; i < set->n; i++)
	{
		FlussInterval *last = n > 0 ? &set->items[n - 1] : NULL;
		FlussInterval *item = &set->items[i];

		if (last != NULL && joins_on(last, item))
		{
			last->end = Max(last->end, item->end);
			last->from_ms = Min(last->from_ms, item->from_ms);
			last->until_ms = Max(last->until_ms, item->until_ms);
		}
		else
			set->items[n++] = *item;
	}
	set->n = n;
}

static FlussIntervals
intersect(const FlussIntervals *a, const FlussIntervals *b)
{
	FlussIntervals result = no_intervals;
	int			i = 0;
	int			j = 0;

	if (a->n == 0 || b->n == 0)
		return result;
	result.items = palloc((a->n + b->n) * sizeof(FlussInterval));
	while (i < a->n && j < b->n)
	{
		const FlussInterval *x = &a->items[i];
		const FlussInterval *y = &b->items[j];
		FlussInterval both = {
			.start = Max(x->start, y->start),
			.end = Min(x->end, y->end),
			.from_ms = Max(x->from_ms, y->from_ms),
			.until_ms = Min(x->until_ms, y->until_ms)
		};

		if (!is_empty(&both))
			result.items[result.n++] = both;
		if (x->end < y->end)
			i++;
		else
			j++;
	}
	return result;
}

static FlussIntervals
unite(const FlussIntervals *sets, int nsets)
{
	FlussIntervals result = no_intervals;
	int			n = 0;

	for (int i = 0; i < nsets; i++)
		n += sets[i].n;
	if (n == 0)
		return result;
	result.items = palloc(n * sizeof(FlussInterval));
	for (int i = 0; i < nsets; i++)
	{
		if (sets[i].n > 0)
			memcpy(result.items + result.n, sets[i].items,
				   sets[i].n * sizeof(FlussInterval));
		result.n += sets[i].n;
	}
	normalize(&result);
	return result;
}

/* What either side bounds from below is bounded. */
FlussOffsetSet
FlussSetIntersect(const FlussOffsetSet *a, const FlussOffsetSet *b)
{
	FlussOffsetSet result;
	FlussIntervals bounded[3];

	bounded[0] = intersect(&a->bounded, &b->bounded);
	bounded[1] = intersect(&a->bounded, &b->open);
	bounded[2] = intersect(&a->open, &b->bounded);
	result.bounded = unite(bounded, 3);
	result.open = intersect(&a->open, &b->open);
	return result;
}

/* All at once: an OR may have thousands of arms. */
FlussOffsetSet
FlussSetUnion(const FlussOffsetSet *sets, int nsets)
{
	FlussIntervals *halves = palloc((nsets + 1) * sizeof(*halves));
	FlussOffsetSet result;

	for (int i = 0; i < nsets; i++)
		halves[i] = sets[i].bounded;
	result.bounded = unite(halves, nsets);
	for (int i = 0; i < nsets; i++)
		halves[i] = sets[i].open;
	result.open = unite(halves, nsets);
	pfree(halves);
	return result;
}

void
FlussSetStart(FlussOffsetSet *set, const FlussOptions *options)
{
	FlussInterval from = FLUSS_WHOLE_INTERVAL;
	FlussIntervals all = {1, &from};

	if (options->scan_startup_mode == FLUSS_STARTUP_LATEST)
		set->open = no_intervals;
	else if (options->scan_startup_mode == FLUSS_STARTUP_TIMESTAMP)
	{
		from.from_ms = Max(options->scan_startup_timestamp_ms, 0);
		set->open = intersect(&set->open, &all);
	}
}

FlussIntervals
FlussSetFinish(const FlussOffsetSet *set)
{
	FlussIntervals halves[2] = {set->bounded, set->open};

	return unite(halves, 2);
}

/* " [5,15) [20,)" */
void
FlussIntervalsText(StringInfo out, const FlussIntervals *intervals)
{
	for (int i = 0; i < intervals->n; i++)
	{
		const FlussInterval *item = &intervals->items[i];

		if (item->end == FLUSS_OFFSET_END)
			appendStringInfo(out, " [" INT64_FORMAT ",)", item->start);
		else
			appendStringInfo(out, " [" INT64_FORMAT "," INT64_FORMAT ")",
							 item->start, item->end);
	}
}
