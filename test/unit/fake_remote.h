/*
 * fake_remote.h
 *	  remote.h over the simulated server's batches.
 *
 * Offsets below remote_below lie in segments of segment_batches batches each;
 * only so many of them are named by an answer as named says.  A read is
 * finished by fluss_cluster_poll; or by its time, all at once, where starting
 * one takes time, too, as that may ask the cluster for a token.  A path zeros:N
 * is a file of N zeros.
 */
#ifndef FLUSS_FAKE_REMOTE_H
#define FLUSS_FAKE_REMOTE_H

#include "fake_cluster.h"
#include "remote.h"
#include "fluss.pb-c.h"

typedef struct fake_remote_files
{
	int			segment_batches;	/* 0: all in one segment */
	int			named;			/* segments of an answer; 0: all */
	int			missing;		/* the next reads find no file */
	int			lost;			/* the next reads are cut off */
	fluss_status refused;		/* every read, unless FLUSS_OK */
	int			short_by;		/* bytes that files lack at their end */
	int64_t		flip_at;		/* a byte of every file that is wrong; 0: none */
	int64_t		wrong_end;		/* added to the end offset of segments */
	int64_t		read_ms;		/* what a read takes */
	int64_t		start_ms;		/* what starting one takes; 0: one by one */
	int			nreads;
	int64_t		bytes;
	fluss_remote_read *pending;
	int			live;
} fake_remote_files;

extern fake_remote_files fake_remote;

void fake_remote_reset(void);
/* The segments of a bucket from the one with the offset on. */
Fluss__PbRemoteLogFetchInfo *fake_remote_info(int number, int64_t offset);
/* Finishes a read; false: there is none. */
bool fake_remote_finish(void);

#endif							/* FLUSS_FAKE_REMOTE_H */
