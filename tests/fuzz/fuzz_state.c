/* SPDX-License-Identifier: MIT */
/*
 * fuzz_state.c: spmu_load() and spmu_state_difference() on arbitrary bytes.
 *
 * Half of the inputs are raw; the others change some bytes of a state that was
 * saved, so that they get past the head.  A state that is refused changes
 * nothing; one that is taken gives itself back, and the core then works.
 */
#include "fuzz.h"
#include "tests/reference/world.h"

#include <stdlib.h>

#define BLOCK_BYTES 65536

static struct world world;
static struct spmu_core *core;
static struct spmu_meters meters[SPMU_THREADS_MAX];
static uint8_t saved[BLOCK_BYTES], block[BLOCK_BYTES], before[BLOCK_BYTES], after[BLOCK_BYTES];
static size_t bytes;

static uint64_t no_status(void *unit, unsigned lp)
{
	(void)unit;
	return lp;
}

static void create(void)
{
	struct spmu_core_config config = {.model = spmu_model_find("skylake"),
					  .threads = 2,
					  .meters = {&meters[0], &meters[1]}};
	size_t need = (spmu_core_bytes() + 63) & ~(size_t)63;
	struct spmu_host host;

	world_reset(&world);
	world.read_status = no_status;
	world_host(&world, true, &host);
	FUZZ_HOLDS(spmu_core_create(aligned_alloc(64, need), need, &config, &host, &core) ==
		   SPMU_OK);
	FUZZ_HOLDS(spmu_write_msr(core, 0, 0x186, 0x5300c0) == SPMU_DONE);
	FUZZ_HOLDS(spmu_write_msr(core, 1, 0x187, 0x025300c4) == SPMU_DONE);
	FUZZ_HOLDS(spmu_write_msr(core, 0, 0x38d, 0xb) == SPMU_DONE);
	FUZZ_HOLDS(spmu_write_msr(core, 0, 0x38f, UINT64_C(0x70000000f)) == SPMU_DONE);
	FUZZ_HOLDS(spmu_write_msr(core, 0, 0x600, WORLD_MIDDLE) == SPMU_DONE);
	FUZZ_HOLDS(spmu_write_msr(core, 0, 0x3f1, 1) == SPMU_DONE);
	bytes = spmu_state_bytes(core);
	FUZZ_HOLDS(bytes <= BLOCK_BYTES);
	FUZZ_HOLDS(spmu_save(core, saved, bytes) == SPMU_OK);
}

/* Use what was loaded: nothing may run wild, whatever the registers are. */
static void exercise(struct fuzz_input *input)
{
	for (unsigned i = 0; i < 24; i++) {
		struct spmu_insn insn = {
			.ip = 0x1000 + i,
			.next_ip = 0x1001 + i,
			.signals = fuzz_word(input) & ((UINT64_C(1) << SPMU_SIGNALS) - 1),
			.cycles = fuzz_byte(input),
			.cpl = fuzz_byte(input) & 3,
		};

		world.insn = &insn;
		(void)spmu_retire(core, i & 1, &insn);
		world.insn = NULL;
	}
	(void)spmu_clocks(core, 0, SPMU_SIGBIT(CYCLES), fuzz_word(input) >> 16, 3);
	spmu_settle(core);
	for (unsigned lp = 0; lp < 2; lp++)
		FUZZ_HOLDS(meters[lp].count <= SPMU_METERS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	enum spmu_status status;
	size_t given = bytes;
	unsigned lp = 0;

	if (!core) {
		create();
		given = bytes;
	}
	if (fuzz_byte(&input) & 1) {
		given = input.size < bytes ? input.size : bytes;
		memset(block, 0, bytes);
		fuzz_take(&input, block, given);
	} else {
		memcpy(block, saved, bytes);
		for (unsigned changes = fuzz_byte(&input) & 15; changes; changes--) {
			size_t at = (fuzz_byte(&input) | fuzz_byte(&input) << 8) % bytes;

			block[at] ^= (uint8_t)fuzz_byte(&input);
		}
	}
	FUZZ_HOLDS(spmu_save(core, before, bytes) == SPMU_OK);
	status = spmu_load(core, block, given);
	FUZZ_HOLDS(spmu_save(core, after, bytes) == SPMU_OK);
	(void)spmu_state_difference(before, block, given, &lp);
	FUZZ_HOLDS(!spmu_state_difference(after, after, bytes, &lp));
	if (status != SPMU_OK) {
		FUZZ_HOLDS(!memcmp(before, after, bytes));
		return 0;
	}
	FUZZ_HOLDS(!memcmp(block, after, bytes));
	exercise(&input);
	FUZZ_HOLDS(spmu_load(core, saved, bytes) == SPMU_OK);
	return 0;
}
