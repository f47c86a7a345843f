/*
 * estimate.c
 *	  How many rows there are: what the cluster tells of buckets, remembered for
 *	  some seconds, and what range clauses leave of them.
 *
 * Of a log table the offsets that a bucket holds are asked for, of a primary
 * key table the server's count of its rows.  All questions of one planning go
 * out at once, and a cluster that does not answer is not asked again for a
 * while.  Nothing here may fail a query: the execution tells what is wrong.
 */
#include "fluss_fdw.h"

#include <math.h>

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* Rows of a table that nothing is known about. */
#define DEFAULT_LOG_ROWS	1000000.0
#define DEFAULT_KEYED_ROWS	10000.0

/* How long an answer is believed, and a silent cluster is left alone. */
#define REMEMBERED_MS	10000
/* Buckets that are remembered. */
#define MAX_REMEMBERED	16384
/* Partitions that are asked about; the others are taken to be like them. */
#define MAX_ASKED_PARTITIONS 64

/* Share of a bucket past, before or between bounds that are not known yet. */
#define BOUND_FRACTION	0.1
#define RANGE_FRACTION	0.005
/* Share of a bucket that a bound in time leaves, when its age is not known. */
#define TIME_FRACTION	0.3333333333
#define LEAST_FRACTION	0.0001

/*
 * A log that is read to its end costs as much as one of so many records: it
 * grows, plans are kept, and one that reads all of it is only good as long as
 * it is small.
 */
#define GROWN_ROWS		DEFAULT_LOG_ROWS

typedef struct BucketKey
{
	int64		table_id;
	int64		partition_id;
	int32		bucket;
	Oid			umid;
	int64		counts;			/* rows were counted, not offsets */
} BucketKey;

typedef struct BucketEntry
{
	BucketKey	key;
	TimestampTz asked;
	FlussSpan	span;
} BucketEntry;

static HTAB *remembered = NULL;

/* The last question that was not answered. */
static Oid	silent_umid = InvalidOid;
static TimestampTz silent_since;

static bool
is_recent(TimestampTz since)
{
	return !TimestampDifferenceExceeds(since, GetCurrentTimestamp(),
									   REMEMBERED_MS);
}

static BucketKey
bucket_key(const FlussPlanState *state, int place)
{
	fluss_bucket_ref ref = FlussPlaceRef(&state->places, place);
	BucketKey	key;

	memset(&key, 0, sizeof(key));
	key.table_id = state->rel->table->table_id;
	key.partition_id = ref.partition_id;
	key.bucket = ref.bucket;
	key.umid = state->rel->conn->umid;
	key.counts = state->keyed;
	return key;
}

/* What is remembered of a place; false: it is to be asked about. */
static bool
recall(FlussPlanState *state, int place)
{
	BucketKey	key = bucket_key(state, place);
	BucketEntry *entry;

	if (remembered == NULL)
		return false;
	entry = hash_search(remembered, &key, HASH_FIND, NULL);
	if (entry == NULL || !is_recent(entry->asked))
		return false;
	state->spans[place] = entry->span;
	return true;
}

static void
remember(FlussPlanState *state, int place)
{
	BucketKey	key = bucket_key(state, place);
	BucketEntry *entry;
	bool		found;

	if (remembered != NULL && hash_get_num_entries(remembered) >= MAX_REMEMBERED)
	{
		hash_destroy(remembered);
		remembered = NULL;
	}
	if (remembered == NULL)
	{
		HASHCTL		control = {0};

		control.keysize = sizeof(BucketKey);
		control.entrysize = sizeof(BucketEntry);
		control.hcxt = TopMemoryContext;
		remembered = hash_create("fluss bucket sizes", 64, &control,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	entry = hash_search(remembered, &key, HASH_ENTER, &found);
	entry->asked = GetCurrentTimestamp();
	entry->span = state->spans[place];
}

/* Places to ask about: of partitions spread over all, if there are many. */
static int *
choose_places(FlussPlanState *state, const bool *wanted, int *n)
{
	int			nbuckets = state->places.nbuckets;
	int		   *result = palloc((state->places.n + 1) * sizeof(int));
	bool	   *missing = palloc0(state->places.npartitions + 1);
	int			nmissing = 0;
	int			seen = 0;

	for (int i = 0; i < state->places.n; i++)
	{
		bool	   *partition = &missing[i / nbuckets];

		if (wanted[i] && !recall(state, i) && !*partition)
		{
			*partition = true;
			nmissing++;
		}
	}
	*n = 0;
	for (int p = 0; p < state->places.npartitions; p++)
	{
		if (!missing[p])
			continue;
		if (nmissing <= MAX_ASKED_PARTITIONS ||
			(int64) (seen + 1) * MAX_ASKED_PARTITIONS / nmissing !=
			(int64) seen * MAX_ASKED_PARTITIONS / nmissing)
		{
			for (int b = 0; b < nbuckets; b++)
			{
				if (wanted[p * nbuckets + b])
					result[(*n)++] = p * nbuckets + b;
			}
		}
		seen++;
	}
	return result;
}

static fluss_status
ask_spans(FlussPlanState *state, const int *places, int n, fluss_error *err)
{
	FlussRelation *rel = state->rel;
	fluss_bucket_ref *refs = palloc(n * sizeof(*refs));
	int64	   *low = palloc0(n * sizeof(int64));
	int64	   *high = palloc(n * sizeof(int64));
	fluss_status status;

	for (int i = 0; i < n; i++)
		refs[i] = FlussPlaceRef(&state->places, places[i]);
	if (state->keyed)
		status = fluss_bucket_row_counts(rel->conn->client, rel->table, refs,
										 n, high, err);
	else
		status = fluss_bucket_spans(rel->conn->client, rel->table, refs, n,
									low, high, err);
	for (int i = 0; i < n; i++)
	{
		FlussSpan  *span = &state->spans[places[i]];

		span->low = span->high = FLUSS_OFFSET_UNKNOWN;
		if (status == FLUSS_OK && low[i] >= 0 && high[i] >= low[i])
		{
			span->low = low[i];
			span->high = high[i];
		}
		remember(state, places[i]);
	}
	return status;
}

/*
 * The spans of the wanted places, as far as they are known or can be asked for.
 */
static void
find_spans(FlussPlanState *state, const bool *wanted)
{
	FlussRelation *rel = state->rel;
	fluss_error err;
	fluss_status status;
	int		   *places;
	int			n;

	state->spans = palloc(state->places.n * sizeof(FlussSpan) + 1);
	for (int i = 0; i < state->places.n; i++)
		state->spans[i].low = state->spans[i].high = FLUSS_OFFSET_UNKNOWN;
	if (!rel->options->use_remote_estimate || !state->places_known)
		return;
	places = choose_places(state, wanted, &n);
	if (n == 0 ||
		(silent_umid == rel->conn->umid && is_recent(silent_since)))
		return;
	fluss_error_init(&err);
	status = ask_spans(state, places, n, &err);
	if (status == FLUSS_INTERRUPTED)
		FlussRaise(&err, rel->name);
	if (status == FLUSS_OK)
		return;
	FlussRememberFailure(rel->conn, rel->relid, false, &err);
	if (status == FLUSS_TIMED_OUT || status == FLUSS_CANNOT_CONNECT)
	{
		silent_umid = rel->conn->umid;
		silent_since = GetCurrentTimestamp();
	}
}

/* ------------------------------------------------------------------ clauses */

/*
 * With what stable functions and known parameters stand for now.  Only those
 * that may be evaluated before all others: what a policy hides shall not be told.
 */
static List *
estimated_clauses(PlannerInfo *root, Index varno, List *clauses)
{
	RelOptInfo *baserel = find_base_rel(root, varno);
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (restriction_is_securely_promotable(rinfo, baserel))
			result = lappend(result,
							 estimate_expression_value(root,
													   (Node *) rinfo->clause));
	}
	return result;
}

/* The clauses that a scan makes use of: what they leave of each place. */
typedef struct Weighed
{
	FlussOffsetSet *sets;		/* of those with known values */
	List	   *open;			/* the others */
} Weighed;

static void
weigh_clauses(PlannerInfo *root, FlussPlanState *state, Index varno,
			  List *clauses, Weighed *out)
{
	int			allowed = FlussAllowedParts(state->keyed ? FLUSS_SCAN_LIMIT :
											FLUSS_SCAN_LOG);
	List	   *known = NIL;
	ListCell   *lc;

	out->open = NIL;
	foreach(lc, estimated_clauses(root, varno, clauses))
	{
		Node	   *clause = lfirst(lc);

		if (FlussRangeUseOf(state->rel, varno, clause, allowed, NULL) ==
			FLUSS_RANGE_NONE)
			continue;
		if (FlussRangeIsConstant(state->rel, varno, clause))
			known = lappend(known, clause);
		else
			out->open = lappend(out->open, clause);
	}
	out->sets = FlussRangeConstant(state->rel, varno, known, allowed,
								   &state->places);
}

/* The share of all records that pass, and the most of a place. */
typedef struct Guess
{
	double		fraction;
	double		per_place;		/* or -1: no limit */
	bool		lower;
	bool		upper;
} Guess;

static void
guess_leaf(PlannerInfo *root, FlussPlanState *state, const FlussLeaf *leaf,
		   Guess *guess)
{
	bool		equal = leaf->strategy == BTEqualStrategyNumber;
	double		values = 1;

	if (leaf->kind != FLUSS_LEAF_COMPARE && leaf->kind != FLUSS_LEAF_TIME)
	{
		guess->fraction *= BOUND_FRACTION;
		return;
	}
	if (leaf->comparison.is_array)
		values = fluss_estimate_array_length(root,
											 (Node *) leaf->comparison.value);
	if (leaf->kind == FLUSS_LEAF_COMPARE &&
		leaf->comparison.attr->metadata == FLUSS_META_BUCKET)
		guess->fraction *= equal ?
			Min(values / state->places.nbuckets, 1) : TIME_FRACTION;
	else if (equal && leaf->kind == FLUSS_LEAF_COMPARE)
		guess->per_place = guess->per_place < 0 ? values :
			Min(guess->per_place, values);
	else if (leaf->strategy == BTLessStrategyNumber ||
			 leaf->strategy == BTLessEqualStrategyNumber)
		guess->upper = true;
	else
		guess->lower = true;
}

/* Clauses whose values are not known yet. */
static Guess
guess_clauses(PlannerInfo *root, FlussPlanState *state, Index varno,
			  List *clauses)
{
	Guess		guess = {.fraction = 1, .per_place = -1};
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = FlussExpandRowCompare(lfirst(lc));
		FlussLeaf	leaf;

		if (is_andclause(clause) || is_orclause(clause))
		{
			guess.fraction *= BOUND_FRACTION;
			continue;
		}
		FlussLeafOf(state->rel, varno, clause, &leaf);
		guess_leaf(root, state, &leaf, &guess);
	}
	if (guess.lower && guess.upper)
		guess.fraction *= RANGE_FRACTION;
	else if (guess.lower || guess.upper)
		guess.fraction *= BOUND_FRACTION;
	return guess;
}

/* ------------------------------------------------------------------- places */

/*
 * The share of a table's life that lies between two times: records come in as
 * steadily as one can tell for nothing.
 */
static double
time_fraction(const FlussRelation *rel, const FlussInterval *item)
{
	double		now = FlussTimestampToMillis(GetCurrentTimestamp());
	double		born = rel->table->created_ms;
	double		from = Max((double) item->from_ms, born);
	double		until = Min((double) item->until_ms, now);

	if (item->from_ms <= 0 && item->until_ms == FLUSS_TIME_END)
		return 1;
	if (born <= 0 || now <= born)
		return TIME_FRACTION;
	return Min(Max((until - from) / (now - born), LEAST_FRACTION), 1);
}

static double
interval_rows(const FlussPlanState *state, int place,
			  const FlussInterval *item)
{
	const FlussSpan *span = &state->spans[place];
	double		rows = state->place_rows;

	if (state->keyed)
		rows = span->high >= 0 ? span->high : rows;
	else if (span->high >= 0)
		rows = Max(Min((double) item->end, (double) span->high) -
				   Max((double) item->start, (double) span->low), 0);
	else if (item->end != FLUSS_OFFSET_END)
		rows = Min((double) item->end - (double) item->start, rows);
	else if (item->start > 0)
		rows *= TIME_FRACTION;
	return rows * time_fraction(state->rel, item);
}

static double
set_rows(const FlussPlanState *state, int place, FlussOffsetSet set)
{
	FlussIntervals intervals;
	double		rows = 0;

	if (!state->keyed)
		FlussSetStart(&set, state->rel->options);
	intervals = FlussSetFinish(&set);
	for (int i = 0; i < intervals.n; i++)
		rows += interval_rows(state, place, &intervals.items[i]);
	return rows;
}

/* Does a scan of these take what comes in later? */
static bool
is_open_ended(const FlussPlanState *state, const FlussOffsetSet *sets)
{
	for (int i = 0; i < state->places.n; i++)
	{
		FlussIntervals intervals = FlussSetFinish(&sets[i]);

		if (intervals.n > 0 &&
			intervals.items[intervals.n - 1].end == FLUSS_OFFSET_END)
			return true;
	}
	return false;
}

static double
fetched_rows(PlannerInfo *root, FlussPlanState *state, Index varno,
			 const Weighed *weighed)
{
	Guess		guess = guess_clauses(root, state, varno, weighed->open);
	double		rows = 0;

	for (int i = 0; i < state->places.n; i++)
	{
		double		here;

		if (FlussSetIsEmpty(&weighed->sets[i]))
			continue;
		here = set_rows(state, i, weighed->sets[i]);
		rows += guess.per_place >= 0 ? Min(here, guess.per_place) : here;
	}
	return rows * guess.fraction;
}

double
FlussFetchedRows(PlannerInfo *root, FlussPlanState *state, Index varno,
				 List *clauses)
{
	Weighed		weighed;

	weigh_clauses(root, state, varno, clauses, &weighed);
	return fetched_rows(root, state, varno, &weighed);
}

/* Rows of the whole table: those of the known places, and as many in others. */
static void
find_table_rows(FlussPlanState *state, const RelOptInfo *baserel)
{
	double		sum = 0;
	double		largest = -1;
	int			known = 0;

	for (int i = 0; i < state->places.n && state->spans != NULL; i++)
	{
		const FlussSpan *span = &state->spans[i];

		if (span->high < 0)
			continue;
		known++;
		sum += span->high - span->low;
		largest = Max(largest, (double) (span->high - span->low));
	}
	state->largest = largest;
	if (known > 0)
		state->table_rows = sum / known * state->places.n;
	else if (state->places_known && state->places.n == 0)
		state->table_rows = 0;
	else if (baserel->tuples >= 0)
		state->table_rows = baserel->tuples;
	else
		state->table_rows = state->keyed ? DEFAULT_KEYED_ROWS :
			DEFAULT_LOG_ROWS;
	state->place_rows = state->table_rows / Max(state->places.n, 1);
}

void
FlussEstimateTable(PlannerInfo *root, FlussPlanState *state,
				   const RelOptInfo *baserel)
{
	Weighed		weighed;
	bool	   *wanted;

	if (state->rel->table == NULL)
	{
		find_table_rows(state, baserel);
		state->fetched_rows = state->cost_rows = state->table_rows;
		return;
	}
	weigh_clauses(root, state, baserel->relid, baserel->baserestrictinfo,
				  &weighed);
	wanted = palloc(state->places.n + 1);
	for (int i = 0; i < state->places.n; i++)
		wanted[i] = !FlussSetIsEmpty(&weighed.sets[i]);
	find_spans(state, wanted);
	find_table_rows(state, baserel);
	state->fetched_rows = state->cost_rows =
		fetched_rows(root, state, baserel->relid, &weighed);
	if (!state->keyed && is_open_ended(state, weighed.sets))
		state->cost_rows = Max(state->cost_rows, GROWN_ROWS);
}
