/*
 * s3.h
 *	  Objects in S3: where they are, and with which keys they are read.
 */
#ifndef FLUSS_S3_H
#define FLUSS_S3_H

#include "cluster.h"
#include "http.h"

/* What the cluster says about its remote storage; NULL: not asked yet. */
typedef struct fluss_s3_token fluss_s3_token;

void fluss_s3_token_free(fluss_s3_token *token);

/*
 * Fills ask for the object "bucket/key", with texts in the arena.  Asks the
 * cluster, once in a while, for what the configuration does not say; *token
 * keeps the answer.
 */
FLUSS_MUST_CHECK fluss_status fluss_s3_locate(fluss_client *client,
											  fluss_s3_token **token,
											  const char *path,
											  const char *object,
											  fluss_arena *arena,
											  fluss_http_ask *ask,
											  fluss_error *err);

#endif							/* FLUSS_S3_H */
