/* SPDX-License-Identifier: MIT */
/* flow_edges.h: taken branches that are counted and not logged (flow_edges.c). */
#ifndef SOFTPMU_ENGINE_FLOW_EDGES_H
#define SOFTPMU_ENGINE_FLOW_EDGES_H

#include <stdbool.h>
#include <stdint.h>

/* Tells the tool of a mapping with code, and waits until it has told where functions begin. */
struct link_mmap;
void flow_edges_map(const struct link_mmap *map);

/* Returns whether the tool only wants to know how often each branch was taken. */
bool flow_edges_in_any_order(void);
/* Returns the offset, in a context, of a new counter for this branch, whose target is constant; 0:
 * a return.  Returns 0 if it must be logged.  The lock is held. */
unsigned flow_edges_counter(uint64_t from, uint64_t to);
/* Returns whether the counters may not suffice for the next block. */
bool flow_edges_full(void);

/* Moves what the thread has counted to its log. */
void flow_edges_drain(void);
/* Forgets what the thread has counted. */
void flow_edges_clear(void);
/* Moves what all threads have counted to their logs.  All counters are free then.  The others are
 * stopped. */
void flow_edges_restart(void);

#endif
