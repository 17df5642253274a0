/* SPDX-License-Identifier: MIT */
/* flow_places.h: the calls that are counted, and the indirect branches (flow_places.c). */
#ifndef SOFTPMU_ENGINE_FLOW_PLACES_H
#define SOFTPMU_ENGINE_FLOW_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* A branch to a function, both in code of files. */
struct flow_call {
	uint64_t from, to;
	uint64_t returns_to; /* 0: it is a jump */
};

/* Returns the place of the sums of the branch in a context.  0: there is no room. */
uint32_t flow_places_get(const struct flow_call *wanted);
/* Returns the branch whose sums are there. */
const struct flow_call *flow_places_call(uint32_t place);
/* Returns whether there is any. */
bool flow_places_any(void);
/* Calls `visit` with each branch and its place. */
void flow_places_each(void (*visit)(const struct flow_call *call, uint32_t place));
/* A forked child begins. */
void flow_places_begin_process(void);

/* Returns the id of an indirect branch of a file.  0: there is no room.  The lock is held. */
uint32_t flow_places_site(uint64_t from, uint64_t returns_to);
/* Returns the id of the branch, if it has one, and sets *returns_to; 0: it has none. */
uint32_t flow_places_find_site(uint64_t from, uint64_t *returns_to);
/* Returns the address of the branch with that id. */
uint64_t flow_places_of_site(uint32_t id);

#endif
