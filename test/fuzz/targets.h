/*
 * targets.h
 *	  What is fuzzed: each target takes any bytes and must come back.
 */
#ifndef FLUSS_FUZZ_TARGETS_H
#define FLUSS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_target
{
	const char *name;			/* also of its folder in test/fuzz/corpus */
	void		(*run) (const uint8_t *data, size_t size);
} fuzz_target;

extern const fuzz_target fuzz_targets[];
extern const int fuzz_ntargets;

#endif							/* FLUSS_FUZZ_TARGETS_H */
