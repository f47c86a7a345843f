/*
 * corpus_test.c
 *	  Replays the fuzzer's inputs, whole, cut and with single bytes changed.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "../fuzz/targets.h"

/* Memory of exactly that size, so that the sanitizer sees a byte too many. */
static void
run_copy(const fuzz_target *target, const uint8_t *data, size_t size)
{
	uint8_t    *copy = malloc(size > 0 ? size : 1);

	assert_non_null(copy);
	memcpy(copy, data, size);
	target->run(copy, size);
	free(copy);
}

/* Every length and byte of small inputs, some of larger ones. */
static void
run_input(const fuzz_target *target, uint8_t *data, size_t size)
{
	size_t		step = size / 256 + 1;

	run_copy(target, data, size);
	for (size_t i = 0; i < size; i += step)
	{
		uint8_t		saved = data[i];

		run_copy(target, data, i);
		data[i] = (uint8_t) (saved ^ 0xff);
		run_copy(target, data, size);
		data[i] = saved;
	}
}

static void
replay_file(const fuzz_target *target, const char *path)
{
	static uint8_t data[1 << 16];
	FILE	   *file = fopen(path, "rb");
	size_t		size;

	assert_non_null(file);
	size = fread(data, 1, sizeof(data), file);
	fclose(file);
	run_input(target, data, size);
}

static void
test_corpus(void **unused)
{
	for (int i = 0; i < fuzz_ntargets; i++)
	{
		char		folder[256];
		DIR		   *dir;
		struct dirent *entry;
		int			nfiles = 0;

		snprintf(folder, sizeof(folder), "test/fuzz/corpus/%s",
				 fuzz_targets[i].name);
		dir = opendir(folder);
		if (dir == NULL)
			fail_msg("no folder %s (run from the top of the tree)", folder);
		while ((entry = readdir(dir)) != NULL)
		{
			char		path[600];

			if (entry->d_name[0] == '.')
				continue;
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			replay_file(&fuzz_targets[i], path);
			nfiles++;
		}
		closedir(dir);
		assert_int_not_equal(nfiles, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
