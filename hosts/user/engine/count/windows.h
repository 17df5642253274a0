/* SPDX-License-Identifier: MIT */
/*
 * windows.h: the windows of a run that a model of the machine sees, if it does not see all
 * (windows.c).
 */
#ifndef SOFTPMU_ENGINE_WINDOWS_H
#define SOFTPMU_ENGINE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"

struct counting;

/* A thread's turns: a window is counted; code runs without the model; the model warms up. */
enum windows_phase { WINDOWS_COUNT, WINDOWS_SKIP, WINDOWS_WARM };

struct windows {
	enum windows_phase phase;
	/* Of the headroom of counting.window: where the phase ends, where the window has begun, and
	 * where the interval has begun whose counts the next window estimates. */
	int64_t phase_end, interval, window;
	bool whole; /* the first window estimates itself alone */
	/* Of each meter: occurrences in this window; and those of the last one, with its
	 * instructions. */
	uint64_t count[SHARDED_METERS], last[SHARDED_METERS], last_insns;
	/* The counts of all events after the last window, if only windows have changed those that
	 * the model counts. */
	uint64_t read[LINK_EVENTS_MAX];
	bool is_read;
};

static inline bool windows_wanted(void)
{
	return engine_link->windows.count;
}

/* The thread's units are new: they begin with a window. */
void windows_begin(struct counting *c);
/* Returns whether the model is told of nothing now. */
bool windows_skipping(const struct counting *c);
/* Returns whether the model only warms up. */
bool windows_warming(const struct counting *c);
/* The model has counted occurrences of meter m. */
void windows_add(struct counting *c, unsigned m, uint64_t n);
/* Bulk mode: returns how many instructions are left of the phase, if the meter of instructions has
 * this headroom, without what is kept back. */
int64_t windows_left(int64_t headroom);
/* Precise mode: charges the meters at the end of a window. */
void windows_end(struct counting *c);
/* Precise mode: begins the next phase.  Returns how many instructions it has. */
uint32_t windows_next(struct counting *c);
/* Returns the occurrences in some instructions, by those in others. */
uint64_t windows_scale(uint64_t n, uint64_t insns, uint64_t of);
/* Precise mode: charges the meters for what has run since the last window. */
void windows_settle(void);

/* sample_turn.c: Bulk mode: begins the next phase.  Afterwards the mode is precise. */
void sample_turn(void);

#endif
