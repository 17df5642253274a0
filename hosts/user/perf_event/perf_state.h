/* SPDX-License-Identifier: MIT */
/*
 * perf_state.h: the state of an event in one task, and its times (perf_event_open(2), time_enabled
 * and time_running).
 *
 * Times are those in which the task runs.  `now` is the task's own clock.
 */
#ifndef SOFTPMU_PERF_STATE_H
#define SOFTPMU_PERF_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum perf_state {
	PERF_STATE_OFF,	     /* disabled, or its group's leader is */
	PERF_STATE_INACTIVE, /* enabled, and no counter is free for it */
	PERF_STATE_ACTIVE,   /* it counts */
};

struct perf_times {
	enum perf_state state;
	uint64_t since;			 /* when the times were last right */
	uint64_t enabled_ns, running_ns; /* until then */
};

/* Returns the state of an event that is enabled or not, as is its group's leader, and has a counter
 * or not. */
static inline enum perf_state perf_state_of(bool leader_on, bool on, bool has_counter)
{
	if (!leader_on || !on)
		return PERF_STATE_OFF;
	return has_counter ? PERF_STATE_ACTIVE : PERF_STATE_INACTIVE;
}

/* Adds the time since the last call. */
static inline void perf_state_advance(struct perf_times *t, uint64_t now)
{
	uint64_t passed = now > t->since ? now - t->since : 0;

	t->since = now;
	t->enabled_ns += t->state >= PERF_STATE_INACTIVE ? passed : 0;
	t->running_ns += t->state >= PERF_STATE_ACTIVE ? passed : 0;
}

/* Changes the state. */
static inline void perf_state_set(struct perf_times *t, enum perf_state state, uint64_t now)
{
	perf_state_advance(t, now);
	t->state = state;
}

#endif
