/* SPDX-License-Identifier: MIT */
/* calls.h: the tree of calls, line by line, from the branches that a program takes. */
#ifndef SOFTPMU_TOOL_CALLS_H
#define SOFTPMU_TOOL_CALLS_H

#include <stdio.h>

#include "tools/softpmu/edges.h"

struct calls;

/* Whether a function is one of those that were asked for. */
typedef bool calls_filter(void *opaque, uint32_t function);

/* A line is going to be written: what belongs in front of it. */
typedef void calls_begin(void *opaque);

/*
 * Lines go to `to`.  filter NULL: from the beginning on; else each call of a wanted function begins
 * a tree.  `depth`: levels of a tree that are shown, 0: all.
 */
struct calls *calls_new(FILE *to, struct code *code, unsigned depth, calls_filter *filter,
			calls_begin *begin, void *opaque);
void calls_free(struct calls *calls); /* what is held back is written */

/* Write what is held back: another's lines are next. */
void calls_flush(struct calls *calls);

/* Another one in the middle of the same calls, as a new process is. */
struct calls *calls_fork(const struct calls *calls);

/* The time that lines carry from now on, nanoseconds since the start. */
void calls_time(struct calls *calls, uint64_t time_ns);

/* The next branch, when its kind is not EDGE_INSIDE. */
void calls_take(struct calls *calls, const struct edge *edge);

#endif
