/* SPDX-License-Identifier: MIT */
/*
 * straight.h: how often each instruction of a file ran.  That follows from how often a thread came
 * to an address, and how often it left one, other than straight on.
 */
#ifndef SOFTPMU_TOOL_STRAIGHT_H
#define SOFTPMU_TOOL_STRAIGHT_H

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/symbols/code.h"

struct straight_place {
	struct exact_place at;
	uint64_t in;	 /* how often the thread came here */
	uint64_t before; /* left before the instruction */
	uint64_t after;	 /* left after it: a branch was taken */
	uint64_t idle;	 /* the instruction accessed no memory */
};

struct straight {
	struct straight_place *places;
	size_t count, room;
	struct numbering numbers;
};

void straight_free(struct straight *straight);

/* Returns the place of an address of the current process.  Valid until the next call. */
struct straight_place *straight_at(struct straight *straight, struct exact *exact,
				   struct code *code, uint64_t address);

/* Adds the costs of all instructions to the thread.  `events`: the signals of each event.  Returns
 * how often code ran that could not be read or decoded. */
uint64_t straight_fold(struct straight *straight, struct exact *exact, size_t thread,
		       struct code *code, const uint64_t *events);

#endif
