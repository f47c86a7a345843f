/*
 * lookup.h
 *	  The inside of a lookup: lookup.c, lookup_partition.c, lookup_run.c and
 *	  lookup_receive.c.
 *
 * Equal keys share a slot.  Slots and keys live until reset, values in an
 * arena of their own until then; all of it counts against max_buffered_bytes.
 *
 * A chunk is a run of sorted keys of one bucket.  It waits in a list, by
 * partition and bucket, until a request takes it, or as much of it as fits;
 * after a failure it waits again.
 */
#ifndef FLUSS_LOOKUP_H
#define FLUSS_LOOKUP_H

#include "partition.h"
#include "project.h"
#include "retry.h"
#include "rpc.h"

/* A partition that keys name; the same one until reset. */
typedef struct lookup_partition lookup_partition;
struct lookup_partition
{
	lookup_partition *next;		/* of the same hash */
	lookup_partition *next_open;	/* not looked for yet */
	const char *name;
	uint32_t	hash;
	int64_t		partition_id;	/* FLUSS_NO_PARTITION: there is none (yet) */
	bool		moved;			/* it has had another id */
};

typedef struct lookup_slot
{
	fluss_bytes key;
	fluss_found found;
	lookup_partition *partition;	/* NULL: table without partitions */
	uint32_t	hash;
	int32_t		bucket;
	bool		answered;
} lookup_slot;

typedef struct lookup_chunk lookup_chunk;
struct lookup_chunk
{
	lookup_chunk *next;			/* in the list of waiting ones */
	const int  *slots;			/* sorted by key */
	int			nslots;
	lookup_partition *partition;	/* or NULL */
	int64_t		asked_id;		/* the partition's, in a request */
	int32_t		bucket;
	fluss_retry retry;
};

typedef struct lookup_call lookup_call;
struct lookup_call
{
	lookup_call *next;
	fluss_request *request;
	int32_t		node;
	int64_t		sent_ms;
	lookup_chunk *chunks;		/* by partition and bucket, each bucket once */
	int			nchunks;
};

#define FLUSS_LOOKUP_PARTITION_SLOTS	64

struct fluss_lookup
{
	fluss_host	host;
	fluss_arena arena;			/* holds the struct itself */
	fluss_client *client;
	fluss_table *table;
	fluss_lookup_options options;
	fluss_counters counters;
	fluss_key_encoder key_encoder;
	fluss_key_encoder bucket_encoder;
	const int32_t *key_columns; /* of the key bytes */
	int			nkey_columns;
	const bool *key_counts;		/* by primary key column: its value is needed */
	bool		bucket_from_key;	/* both encodings give the same bytes */
	fluss_value *key_row;		/* scratch, by schema position */
	fluss_buf	scratch;
	fluss_buf	name;			/* scratch, of a partition */
	fluss_projector projector;

	/* until reset */
	fluss_arena keys;
	fluss_arena values;
	fluss_buf	slots;			/* of lookup_slot */
	fluss_buf	table_slots;	/* of uint32_t: slot + 1, or 0 */
	uint32_t	table_mask;
	int			nslots;
	int			nsent;			/* slots before it were sent */
	lookup_partition *partitions[FLUSS_LOOKUP_PARTITION_SLOTS];
	lookup_partition *open_partitions;
	lookup_partition *last_partition;

	/* while anything is waiting or in flight */
	fluss_arena run;
	lookup_chunk *waiting;
	lookup_call *calls;
	fluss_buf	body;
	int64_t		entered_ms;		/* when the caller came in */
	int64_t		left_ms;		/* when the caller went, the last time */
};

static inline lookup_slot *
fluss_lookup_slot(const fluss_lookup *lookup, int slot)
{
	return (lookup_slot *) lookup->slots.data + slot;
}

static inline int64_t
fluss_lookup_partition_id(const lookup_partition *partition)
{
	return partition == NULL ? FLUSS_NO_PARTITION : partition->partition_id;
}

/* in lookup.c */
/* FLUSS_MEMORY_CAP when keys and values have outgrown their bound. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_check_memory(const fluss_lookup *lookup,
														fluss_error *err);

/* in lookup_partition.c */
/* Partition of the key in key_row; one that does not exist has no id. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_name_partition(fluss_lookup *lookup,
														  lookup_partition **partition,
														  fluss_error *err);
/* Looks for the ids of all named since the last time. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_find_partitions(fluss_lookup *lookup,
														   fluss_error *err);
/*
 * A server says that the partition is gone: looks whether there is another one
 * of its name.
 */
FLUSS_MUST_CHECK fluss_status fluss_lookup_find_again(fluss_lookup *lookup,
													  lookup_partition *partition,
													  fluss_error *err);

/* in lookup_run.c */
/* Forgets what waits or is in flight. */
void		fluss_lookup_end_run(fluss_lookup *lookup);
/* Puts a chunk, which is copied, back to where it belongs. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_wait_again(fluss_lookup *lookup,
													  const lookup_chunk *chunk,
													  fluss_error *err);

/* in lookup_receive.c */
/* Takes in every answer that is there. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_receive(fluss_lookup *lookup,
												   fluss_error *err);
/* All chunks of a call that failed: again later, or FLUSS_OK is not given. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_call_failed(fluss_lookup *lookup,
													   lookup_call *call,
													   const fluss_error *cause,
													   fluss_error *err);
/* The chunk's partition is gone: no rows, or the keys are asked for again. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_dropped(fluss_lookup *lookup,
												   lookup_chunk *chunk,
												   const fluss_error *cause,
												   fluss_error *err);

#endif							/* FLUSS_LOOKUP_H */
