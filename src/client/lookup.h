/*
 * lookup.h
 *	  The inside of a lookup: lookup.c and lookup_run.c.
 *
 * Equal keys share a slot.  Slots and keys live until reset, values in an
 * arena of their own until then; both count against max_buffered_bytes.
 */
#ifndef FLUSS_LOOKUP_H
#define FLUSS_LOOKUP_H

#include "project.h"
#include "retry.h"
#include "rpc.h"

typedef struct lookup_slot
{
	fluss_bytes key;
	fluss_bytes value;			/* data NULL: not found (or not asked yet) */
	uint32_t	hash;
	int32_t		bucket;
} lookup_slot;

/* order[begin .. end): keys of one bucket. */
typedef struct lookup_chunk
{
	int			begin;
	int			end;
	int32_t		bucket;
	bool		in_flight;
	bool		done;
	fluss_retry retry;
} lookup_chunk;

typedef struct lookup_call lookup_call;
struct lookup_call
{
	lookup_call *next;
	fluss_request *request;
	int32_t		node;
	lookup_chunk **chunks;
	int			nchunks;
};

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
	bool		bucket_from_key;	/* both encodings give the same bytes */
	fluss_value *key_row;		/* scratch, by schema position */
	fluss_buf	scratch;
	fluss_projector projector;

	/* until reset */
	fluss_arena keys;
	fluss_arena values;
	fluss_buf	slots;			/* of lookup_slot */
	fluss_buf	table_slots;	/* of uint32_t: slot + 1, or 0 */
	uint32_t	table_mask;
	int			nslots;
	int			nrun;			/* slots that a run has answered */

	/* of one run */
	fluss_arena run;
	int			norder;
	int		   *order;			/* slots by bucket and key */
	lookup_chunk *chunks;
	int			nchunks;
	int			nopen;			/* chunks not done */
	lookup_call *calls;
	fluss_buf	body;
};

static inline lookup_slot *
fluss_lookup_slot(const fluss_lookup *lookup, int slot)
{
	return (lookup_slot *) lookup->slots.data + slot;
}

/* in lookup.c */
/* FLUSS_MEMORY_CAP when keys and values have outgrown their bound. */
FLUSS_MUST_CHECK fluss_status fluss_lookup_check_memory(const fluss_lookup *lookup,
														fluss_error *err);

/* in lookup_run.c */
/* Forgets a run, also one that was left in the middle. */
void		fluss_lookup_end_run(fluss_lookup *lookup);

#endif							/* FLUSS_LOOKUP_H */
