/*
 * main.c
 *	  Entry of libFuzzer: one program per target, named by FUZZ_TARGET.
 */
#include <stdlib.h>
#include <string.h>

#include "targets.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const fuzz_target *target;

	for (int i = 0; target == NULL && i < fuzz_ntargets; i++)
	{
		if (strcmp(fuzz_targets[i].name, FUZZ_TARGET) == 0)
			target = &fuzz_targets[i];
	}
	if (target == NULL)
		abort();
	target->run(data, size);
	return 0;
}
