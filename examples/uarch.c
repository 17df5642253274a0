/* SPDX-License-Identifier: MIT */
/*
 * uarch.c: reads an array of 64 KB twice on the model of a Skylake, with a branch that depends on a
 * pattern. It prints what the machine would have had to do.
 *
 * Prints:
 *	16384 loads, 1024 + 1024 missed L1, 1024 missed every cache, 16 page walks
 *	16384 conditional branches, fewer than 1 in 100 mispredicted
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/uarch.h>

#define ARRAY  UINT64_C(0x10000000)
#define BYTES  65536u
#define BRANCH UINT64_C(0x401000)

int main(void)
{
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = spmu_machine_find("skylake"), .threads = 1};
	size_t bytes = (spmu_uarch_bytes(&config) + 63) & ~(size_t)63;
	void *memory = bytes ? aligned_alloc(64, bytes) : NULL;
	struct spmu_uarch *model;
	const uint64_t *count;
	uint64_t first = 0;

	if (!memory || spmu_uarch_create(memory, bytes, &config, &model) != SPMU_OK)
		return 1;
	count = spmu_uarch_counts(model, 0);
	for (unsigned turn = 0; turn < 2; turn++) {
		for (uint64_t at = 0; at < BYTES; at += 8) {
			const struct spmu_executed_branch branch = {
				.from = BRANCH,
				.next = BRANCH + 2,
				.to = at % 24 ? BRANCH + 16 : BRANCH + 2,
				.kind = SPMU_BRANCH_CONDITIONAL,
				.taken = at % 24 != 0,
			};

			(void)spmu_uarch_access(model, 0, ARRAY + at, 8, SPMU_UARCH_LOAD);
			(void)spmu_uarch_branch(model, 0, &branch);
		}
		if (turn == 0)
			first = count[SPMU_UARCH_LOAD_L1_MISSES];
	}
	printf("%llu loads, %llu + %llu missed L1, %llu missed every cache, %llu page walks\n",
	       (unsigned long long)count[SPMU_UARCH_LOADS], (unsigned long long)first,
	       (unsigned long long)(count[SPMU_UARCH_LOAD_L1_MISSES] - first),
	       (unsigned long long)count[SPMU_UARCH_LOAD_LLC_MISSES],
	       (unsigned long long)count[SPMU_UARCH_DTLB_LOAD_WALKS]);
	printf("%llu conditional branches, %s\n",
	       (unsigned long long)count[SPMU_UARCH_CONDITIONALS],
	       count[SPMU_UARCH_CONDITIONAL_MISSES] * 100 < count[SPMU_UARCH_CONDITIONALS]
		       ? "fewer than 1 in 100 mispredicted"
		       : "many mispredicted");
	free(memory);
	return 0;
}
