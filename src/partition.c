/*
 * partition.c
 *	  The buckets that a scan may read, partition by partition, and the columns
 *	  that have one value in all of their records.
 *
 * Those are the metadata of the place and the partition columns.  A partition
 * column's value is read from the partition's name and converted as it would
 * be from a record, so that clauses find in it what they would find there.
 */
#include "fluss_fdw.h"

#include "access/table.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/rel.h"

void
FlussPlacesInit(FlussPlaces *places, const FlussRelation *rel,
				const fluss_partitions *partitions, int nbuckets)
{
	places->rel = rel;
	places->partitions = partitions;
	places->npartitions = partitions != NULL ? partitions->n : 1;
	places->nbuckets = nbuckets;
	if ((int64) places->npartitions * nbuckets >
		(int64) (MaxAllocSize / sizeof(FlussOffsetSet)))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("foreign table \"%s\" has too many partitions",
						rel->name)));
	places->n = places->npartitions * nbuckets;
}

const fluss_partition *
FlussPlacePartition(const FlussPlaces *places, int place)
{
	if (places->partitions == NULL)
		return NULL;
	return &places->partitions->items[place / places->nbuckets];
}

fluss_bucket_ref
FlussPlaceRef(const FlussPlaces *places, int place)
{
	const fluss_partition *partition = FlussPlacePartition(places, place);
	fluss_bucket_ref ref;

	ref.partition_id = partition != NULL ? partition->partition_id :
		FLUSS_NO_PARTITION;
	ref.bucket = place % places->nbuckets;
	return ref;
}

bool
FlussIsPlaceColumn(const FlussRelation *rel, AttrNumber attnum)
{
	if (attnum <= 0 || attnum > rel->natts)
		return false;
	switch (rel->attrs[attnum - 1].metadata)
	{
		case FLUSS_META_NONE:
			return rel->attrs[attnum - 1].partition_key >= 0;
		case FLUSS_META_BUCKET:
			return rel->attrs[attnum - 1].type == INT4OID;
		case FLUSS_META_PARTITION:
			return rel->attrs[attnum - 1].type == TEXTOID;
		case FLUSS_META_PARTITION_ID:
		case FLUSS_META_TABLE_ID:
			return rel->attrs[attnum - 1].type == INT8OID;
		default:
			return false;
	}
}

TupleTableSlot *
FlussPlaceSlot(const FlussRelation *rel)
{
	Relation	relation = table_open(rel->relid, NoLock);
	TupleDesc	desc = CreateTupleDescCopy(RelationGetDescr(relation));

	table_close(relation, NoLock);
	return MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
}

static Datum
partition_datum(const FlussRelation *rel, AttrNumber attnum, const char *name)
{
	FlussConverter converter;
	fluss_value value = {0};
	uint8_t    *buffer = palloc(FLUSS_PARTITION_TEXT_SIZE);
	fluss_error err;

	FlussConverterInit(&converter, rel, attnum);
	fluss_error_init(&err);
	FLUSS_CALL(fluss_partition_value(converter.type, name, buffer, &value,
									 &err), err, rel->name);
	return FlussToDatum(&converter, &value);
}

static void
fill_column(TupleTableSlot *slot, const FlussRelation *rel, AttrNumber attnum,
			const fluss_partition *partition, int bucket)
{
	const FlussAttribute *attr = &rel->attrs[attnum - 1];
	Datum	   *value = &slot->tts_values[attnum - 1];
	bool	   *isnull = &slot->tts_isnull[attnum - 1];

	*isnull = partition == NULL && attr->metadata != FLUSS_META_BUCKET &&
		attr->metadata != FLUSS_META_TABLE_ID;
	if (*isnull)
		return;
	switch (attr->metadata)
	{
		case FLUSS_META_BUCKET:
			*value = Int32GetDatum(bucket);
			break;
		case FLUSS_META_TABLE_ID:
			*value = Int64GetDatum(rel->table->table_id);
			break;
		case FLUSS_META_PARTITION_ID:
			*value = Int64GetDatum(partition->partition_id);
			break;
		case FLUSS_META_PARTITION:
			*value = FlussPartitionName(partition);
			break;
		default:
			*value = partition_datum(rel, attnum,
									 partition->values[attr->partition_key]);
			break;
	}
}

/* Values are allocated in the current context. */
void
FlussFillPlace(TupleTableSlot *slot, const FlussPlaces *places, int place)
{
	const FlussRelation *rel = places->rel;

	ExecClearTuple(slot);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		slot->tts_isnull[i] = true;
		if (FlussIsPlaceColumn(rel, i + 1))
			fill_column(slot, rel, i + 1, FlussPlacePartition(places, place),
						place % places->nbuckets);
	}
	ExecStoreVirtualTuple(slot);
}

/* The text of a partition's name; Fluss has them in UTF-8. */
Datum
FlussPartitionName(const fluss_partition *partition)
{
	return CStringGetTextDatum(pg_any_to_server(partition->name,
												strlen(partition->name),
												PG_UTF8));
}

int
FlussPartitionsKept(const FlussPlaces *places, const FlussOffsetSet *sets)
{
	int			kept = 0;

	for (int i = 0; i < places->npartitions; i++)
	{
		const FlussOffsetSet *set = &sets[i * places->nbuckets];
		int			b = 0;

		while (b < places->nbuckets && FlussSetIsEmpty(&set[b]))
			b++;
		kept += b < places->nbuckets;
	}
	return kept;
}
