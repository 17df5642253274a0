/* SPDX-License-Identifier: MIT */
/*
 * fuzz_state.c: spmu_load() and spmu_state_difference() on arbitrary bytes.
 *
 * Each input takes one of the models. Half of the inputs are raw. The others change some bytes of a
 * saved state, so that they get past the header. A state that is refused changes nothing. A state
 * that is accepted is returned by spmu_save(), and the core works with it.
 */
#include "fuzz.h"
#include "tests/reference/world.h"

#include <stdlib.h>

#define BLOCK_BYTES 65536

#define MODELS_MAX 64

/* A core of each model, made on first use, and its saved state with counters in use. */
static struct subject {
	struct spmu_core *core;
	struct spmu_meters meters[SPMU_THREADS_MAX];
	uint8_t saved[BLOCK_BYTES];
	size_t bytes;
} subjects[MODELS_MAX];

static struct world world;
static uint8_t block[BLOCK_BYTES], before[BLOCK_BYTES], after[BLOCK_BYTES];

static uint64_t no_status(void *unit, unsigned lp)
{
	(void)unit;
	return lp;
}

/* A write that the model may not have. */
static void set(struct subject *s, unsigned lp, uint32_t msr, uint64_t value)
{
	(void)!spmu_write_msr(s->core, lp, msr, value);
}

/*
 * Sets up instructions on thread 0 and branches with a threshold on thread 1, in the registers of
 * the family.
 */
static void program_counters(struct subject *s, const struct spmu_model *model)
{
	static const struct {
		uint32_t msr[2];
		uint64_t value[2];
	} ways[] = {
		[SPMU_PROGRAM_PERFEVTSEL] = {{0x186, 0x187}, {0x5300c0, 0x025300c4}},
		[SPMU_PROGRAM_CESR] = {{0x11, 0x11}, {0x02d600d6, 0x02d600d6}},
		[SPMU_PROGRAM_ESCR] = {{0x3b8, 0x36c}, {0x0400060f, 0x0c139000}},
	};
	unsigned way = spmu_model_describe(model).programming;

	for (unsigned i = 0; i < 2; i++)
		FUZZ_HOLDS(spmu_write_msr(s->core, i, ways[way].msr[i], ways[way].value[i]) ==
			   SPMU_DONE);
}

static void create(struct subject *s, const struct spmu_model *model)
{
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = model,
					  .threads = 2,
					  .meters = {&s->meters[0], &s->meters[1]}};
	size_t need = (spmu_core_bytes() + 63) & ~(size_t)63;
	struct spmu_host host;

	world_reset(&world);
	world.read_status = no_status;
	world_host(&world, true, &host);
	FUZZ_HOLDS(spmu_core_create(aligned_alloc(64, need), need, &config, &host, &s->core) ==
		   SPMU_OK);
	program_counters(s, model);
	set(s, 0, 0x38d, 0xb);
	set(s, 0, 0x38f, UINT64_C(0x700000003));
	set(s, 0, 0x600, WORLD_MIDDLE);
	set(s, 0, 0x3f1, spmu_model_describe(model).shared ? 0x2000000 : 1);
	set(s, 0, 0x1d9, spmu_model_describe(model).shared ? 0xd : 0xc1);
	set(s, 1, 0x1d9, 0x1);
	s->bytes = spmu_state_bytes(s->core);
	FUZZ_HOLDS(s->bytes <= BLOCK_BYTES);
	FUZZ_HOLDS(spmu_save(s->core, s->saved, s->bytes) == SPMU_OK);
}

/* Uses what was loaded. Nothing may go wrong, whatever the registers contain. */
static void exercise(struct subject *s, struct fuzz_input *input)
{
	for (unsigned i = 0; i < 24; i++) {
		struct spmu_insn insn = {
			.ip = 0x1000 + i,
			.next_ip = 0x1001 + i,
			.signals = fuzz_word(input) & SPMU_SIGSET_ALL,
			.cycles = fuzz_byte(input),
			.cpl = fuzz_byte(input) & 3,
		};
		struct spmu_branch branch = {
			.from = insn.ip, .to = insn.next_ip, .signal = SPMU_SIG_CALL_REL};

		world.insn = &insn;
		(void)spmu_retire(s->core, i & 1, &insn);
		(void)spmu_branches(s->core, i & 1, &branch, 1);
		world.insn = NULL;
	}
	(void)spmu_clocks(s->core, 0, SPMU_SIGBIT(CYCLES), fuzz_word(input) >> 16, 3);
	spmu_smm(s->core, 0, fuzz_byte(input) & 1);
	spmu_debug_exception(s->core, 1);
	(void)spmu_set_halted(s->core, 0, fuzz_byte(input) & 1);
	spmu_sync(s->core);
	for (unsigned lp = 0; lp < 2; lp++)
		FUZZ_HOLDS(s->meters[lp].count <= SPMU_METERS_MAX);
}

/* Raw bytes, or a saved state with some bytes changed. Returns how many bytes there are. */
static size_t take_block(const struct subject *s, struct fuzz_input *input)
{
	if (fuzz_byte(input) & 1) {
		size_t given = input->size < s->bytes ? input->size : s->bytes;

		memset(block, 0, s->bytes);
		fuzz_take(input, block, given);
		return given;
	}
	memcpy(block, s->saved, s->bytes);
	for (unsigned changes = fuzz_byte(input) & 15; changes; changes--) {
		size_t at = (fuzz_byte(input) | fuzz_byte(input) << 8) % s->bytes;

		block[at] ^= (uint8_t)fuzz_byte(input);
	}
	return s->bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, size};
	size_t index = fuzz_byte(&input) % spmu_model_count();
	struct subject *s = &subjects[index];
	enum spmu_status status;
	unsigned lp = 0;

	FUZZ_HOLDS(spmu_model_count() <= MODELS_MAX);
	if (!s->core)
		create(s, spmu_model_at(index));
	size_t given = take_block(s, &input);

	FUZZ_HOLDS(spmu_save(s->core, before, s->bytes) == SPMU_OK);
	status = spmu_load(s->core, block, given);
	FUZZ_HOLDS(spmu_save(s->core, after, s->bytes) == SPMU_OK);
	(void)spmu_state_difference(before, block, given, &lp);
	FUZZ_HOLDS(!spmu_state_difference(after, after, s->bytes, &lp));
	if (status != SPMU_OK) {
		FUZZ_HOLDS(!memcmp(before, after, s->bytes));
		return 0;
	}
	FUZZ_HOLDS(!memcmp(block, after, s->bytes));
	exercise(s, &input);
	FUZZ_HOLDS(spmu_load(s->core, s->saved, s->bytes) == SPMU_OK);
	return 0;
}
