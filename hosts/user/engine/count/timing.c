/* SPDX-License-Identifier: MIT */
/*
 * timing.c: asks the model of the machine where accesses go, and has a timeline run the blocks of
 * the log of activity (softpmu/uarch_time.h).
 */
#include "engine/count/timing.h"

#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* A repeated string instruction moves a vector in a clock, after some clocks of preparation. */
#define REPEAT_CLOCKS 16u
#define REPEAT_BYTES  32u

const struct spmu_core_shape *timing_core(void)
{
	return engine_link->static_clocks ? NULL : spmu_core_shape_find(engine_link->core);
}

void timing_begin(struct timing *t, struct spmu_uarch *model)
{
	void *memory = t->timeline;

	if (!memory)
		memory = heap_allocate(spmu_timeline_bytes());
	*t = (struct timing){.model = model};
	if (spmu_timeline_create(memory, timing_core(), &t->timeline) != SPMU_OK)
		engine_fail(125, "the model of time cannot be created");
}

void timing_fetch(struct timing *t, uint64_t linear, uint32_t bytes)
{
	const uint64_t *n = spmu_uarch_counts(t->model, 0);
	uint64_t walks = n[SPMU_UARCH_ITLB_WALKS];
	enum spmu_uarch_level level = spmu_uarch_fetch(t->model, 0, linear, bytes);

	if (level > t->fetched)
		t->fetched = level;
	if (n[SPMU_UARCH_ITLB_WALKS] != walks)
		spmu_timeline_fetch_walk(t->timeline);
}

enum spmu_uarch_level timing_access(struct timing *t, uint64_t linear, uint32_t bytes,
				    uint32_t kind, unsigned insn)
{
	const uint64_t *n = spmu_uarch_counts(t->model, 0);
	uint64_t walks = n[SPMU_UARCH_DTLB_LOAD_WALKS] + n[SPMU_UARCH_DTLB_STORE_WALKS];
	enum spmu_uarch_level level = spmu_uarch_access(t->model, 0, linear, bytes, kind);

	walks -= n[SPMU_UARCH_DTLB_LOAD_WALKS] + n[SPMU_UARCH_DTLB_STORE_WALKS];
	if (t->accesses == TIMED_ACCESSES_MAX)
		return level;
	t->access[t->accesses++] = (struct spmu_timed_access){.linear = linear,
							      .insn = (uint8_t)insn,
							      .kind = (uint8_t)kind,
							      .level = (uint8_t)level,
							      .walk = walks != 0,
							      .bytes = (uint16_t)bytes};
	return level;
}

void timing_run(struct timing *t, const struct spmu_timed_block *block, unsigned insns)
{
	spmu_timeline_run(t->timeline, block, insns, t->fetched, t->access, t->accesses);
	t->fetched = SPMU_LEVEL_L1;
	t->accesses = 0;
}

void timing_run_in(struct timing *t, const struct spmu_timed_block *block, unsigned insn,
		   unsigned insns)
{
	spmu_timeline_run_one(t->timeline, block, insn, insns, t->fetched, t->access, t->accesses);
	t->accesses = 0;
	if (insn + 1 == insns)
		t->fetched = SPMU_LEVEL_L1;
}

void timing_run_one(struct timing *t, uint64_t pc, unsigned bytes)
{
	const struct spmu_code code = {(const uint8_t *)pc, (uint8_t)bytes};
	uint64_t memory[SPMU_TIMED_BLOCK_OF_ONE / sizeof(uint64_t)];
	struct spmu_timed_block *block =
		spmu_timed_block_create(memory, timing_core(), pc, &code, 1);

	if (block)
		timing_run(t, block, 1);
}

void timing_repeat(struct timing *t, uint64_t bytes)
{
	spmu_timeline_wait(t->timeline, REPEAT_CLOCKS + bytes / REPEAT_BYTES);
}
