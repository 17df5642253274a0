/* SPDX-License-Identifier: MIT */
/*
 * timeline.c: says what limits a loop on the model of a Skylake, and how long a miss takes in it.
 *
 * Prints:
 *	a turn takes 4.00 clocks: dispatch 0.50, ports 0.50, chain 4.00
 *	100 turns: 401 clocks, with a miss in the middle 627
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/uarch_time.h>

#define AT UINT64_C(0x401000)

/* again: MOV RAX, [RAX]; DEC RDI; JNZ again */
static const uint8_t load[] = {0x48, 0x8b, 0x00}, dec[] = {0x48, 0xff, 0xcf}, jnz[] = {0x75, 0xf8};
static const struct spmu_code loop[] = {{load, 3}, {dec, 3}, {jnz, 2}};

static int show(const struct spmu_core_shape *core, void *block_memory, void *memory)
{
	const struct spmu_timed_block *block =
		spmu_timed_block_create(block_memory, core, AT, loop, 3);
	struct spmu_block_bounds b;
	uint64_t clocks[2] = {0, 0};

	if (!block)
		return 1;
	b = spmu_timed_block_bounds(block, core, memory);
	printf("a turn takes %.2f clocks: dispatch %.2f, ports %.2f, chain %.2f\n", b.loop / 1e3,
	       b.front / 1e3, b.ports / 1e3, b.chain / 1e3);
	for (unsigned missing = 0; missing < 2; missing++) {
		struct spmu_timeline *timeline;

		if (spmu_timeline_create(memory, core, &timeline) != SPMU_OK)
			return 1;
		for (unsigned turn = 0; turn < 100; turn++) {
			struct spmu_timed_access access = {
				.linear = UINT64_C(0x10000000) + turn * UINT64_C(4096),
				.kind = SPMU_UARCH_LOAD,
			};

			if (missing && turn == 50)
				access.level = SPMU_LEVEL_MEMORY;
			spmu_timeline_run(timeline, block, 3, SPMU_LEVEL_L1, &access, 1);
		}
		clocks[missing] = spmu_timeline_clocks(timeline);
	}
	printf("100 turns: %llu clocks, with a miss in the middle %llu\n",
	       (unsigned long long)clocks[0], (unsigned long long)clocks[1]);
	return 0;
}

int main(void)
{
	void *block_memory = malloc(spmu_timed_block_bytes(3));
	void *memory = aligned_alloc(64, (spmu_timeline_bytes() + 63) & ~(size_t)63);
	int status = 1;

	if (block_memory && memory)
		status = show(spmu_core_shape_find("skylake"), block_memory, memory);
	free(memory);
	free(block_memory);
	return status;
}
