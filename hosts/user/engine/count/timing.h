/* SPDX-License-Identifier: MIT */
/* timing.h: the time that a model of the machine gives what ran (timing.c). */
#ifndef SOFTPMU_ENGINE_TIMING_H
#define SOFTPMU_ENGINE_TIMING_H

#include <softpmu/uarch_time.h>

#include "engine/count/activity.h"

#define TIMED_ACCESSES_MAX 256u

/* The time of a thread. */
struct timing {
	struct spmu_uarch *model;
	struct spmu_timeline *timeline;
	enum spmu_uarch_level fetched; /* where the block's instructions were */
	struct spmu_timed_access access[TIMED_ACCESSES_MAX];
	unsigned accesses;
};

/* Returns the core of the run's machine, or NULL. */
const struct spmu_core_shape *timing_core(void);

/* Makes a thread's time, or begins it again.  The machine has a core. */
void timing_begin(struct timing *t, struct spmu_uarch *model);

/* Tells the model of a fetch or an access of instruction `insn` of what runs next.  The second
 * function returns where the data was. */
void timing_fetch(struct timing *t, uint64_t linear, uint32_t bytes);
enum spmu_uarch_level timing_access(struct timing *t, uint64_t linear, uint32_t bytes,
				    uint32_t kind, unsigned insn);

/* Runs the first `insns` instructions of a block, with what the model was told of. */
void timing_run(struct timing *t, const struct spmu_timed_block *block, unsigned insns);
/* The same for one of these instructions alone. */
void timing_run_in(struct timing *t, const struct spmu_timed_block *block, unsigned insn,
		   unsigned insns);

/* Runs one instruction at `pc`. */
void timing_run_one(struct timing *t, uint64_t pc, unsigned bytes);

/* Adds the time of a repeated string instruction that has moved `bytes` bytes. */
void timing_repeat(struct timing *t, uint64_t bytes);

#endif
