/* SPDX-License-Identifier: MIT */
/* samples.h: what samples of the tool's events and of opened events have in common (samples.c). */
#ifndef SOFTPMU_ENGINE_SAMPLES_H
#define SOFTPMU_ENGINE_SAMPLES_H

#include <softpmu/driver.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns the shortest period that a rate may lead to, of the event with this code. */
uint64_t samples_least_period(const struct spmu_model *model, uint64_t code);

/*
 * Returns the period by which `frequency` samples come each second.  The last sample came `elapsed`
 * ticks after the one before, and `passed` occurrences after it.  `ticks` of the time-stamp counter
 * are `ns` nanoseconds.
 */
struct samples_rate {
	uint64_t frequency, period, least, passed, elapsed, ticks, ns;
};
uint64_t samples_next_period(const struct samples_rate *rate);

/* Returns whether records of the precise event with this code may hold data addresses. */
bool samples_tell_address(const struct spmu_model *model, uint32_t code);

/* Returns the flags of a last branch record, as in perf's struct perf_branch_entry. */
uint64_t samples_branch_flags(const struct spmu_model *model, const struct spmu_branch *branch);

#endif
