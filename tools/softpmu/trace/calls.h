/* SPDX-License-Identifier: MIT */
/* calls.h: the tree of calls, line by line, from the branches of a program. */
#ifndef SOFTPMU_TOOL_CALLS_H
#define SOFTPMU_TOOL_CALLS_H

#include <stdio.h>

#include "tools/softpmu/trace/edges.h"

struct calls;

/* Returns true if the user wants the function. */
typedef bool calls_filter(void *opaque, uint32_t function);

/* Is called before each line, to write a heading. */
typedef void calls_begin(void *opaque);

/*
 * Prints to `to`.  Without a filter the tree begins at once.  With one, each call of a wanted
 * function begins a tree.  `depth`: how many levels of a tree are shown, 0: all.
 */
struct calls *calls_new(FILE *to, struct code *code, unsigned depth, calls_filter *filter,
			calls_begin *begin, void *opaque);
void calls_free(struct calls *calls); /* prints the line held back first */

/* Prints the line held back, before lines of another thread. */
void calls_flush(struct calls *calls);

/* Returns a copy with the same calls, as a forked process has them. */
struct calls *calls_fork(const struct calls *calls);

/* Sets the time of the next lines, in nanoseconds since the start. */
void calls_time(struct calls *calls, uint64_t time_ns);

/* Takes the next branch.  Its kind is not EDGE_INSIDE. */
void calls_take(struct calls *calls, const struct edge *edge);

#endif
