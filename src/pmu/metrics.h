/* SPDX-License-Identifier: MIT */
/* metrics.h: the shares of issue slots in MSR_PERF_METRICS (metrics.c). */
#ifndef SPMU_SRC_METRICS_H
#define SPMU_SRC_METRICS_H

#include "src/pmu/core.h"

/* Returns true if the model has the register and the host supplies what it counts. */
bool metrics_supplied(const struct spmu_core *core);

/*
 * Adds the counters of slots to the active ones, after perfevtsel_update() has set fixed counter 3.
 */
void metrics_update(const struct spmu_core *core, struct thread *thread);

/* Read and write the register.  What passed in bulk must have been added before. */
uint64_t metrics_shown(const struct spmu_core *core, const struct thread_state *state);
void metrics_set(const struct spmu_core *core, struct thread_state *state, uint64_t value);

#endif
