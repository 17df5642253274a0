/* SPDX-License-Identifier: MIT */
/*
 * costs.h: makes an exact profile from what instructions cost on a model of the machine
 * (hosts/user/link.h, LINK_WANT_COSTS and LINK_WANT_EVENT_COSTS), while the program runs.
 */
#ifndef SOFTPMU_TOOL_COSTS_H
#define SOFTPMU_TOOL_COSTS_H

#include <hosts/user/link.h>

#include "tools/softpmu/exact/exact.h"

struct costs;

/* Is called when the program dumps or zeroes its costs: with what it has cost since the last time,
 * to free with exact_free(). */
typedef void costs_dump(void *opaque, struct exact *part, bool zero);

/* The results go to `exact`, which has its events.  `which` are the costs of each event; NULL: the
 * events are those of the run.  `dump` may be NULL if the program has no way to ask for it. */
struct costs *costs_new(struct exact *exact, const enum link_cost *which, costs_dump *dump,
			void *opaque);
/* Also ends all threads. */
void costs_free(struct costs *costs);

/* Takes the shared memory of the run; `opaque` is the costs. */
void costs_prepare(void *opaque, struct link *link);

/* Takes a record of the engine.  This is the launch_sink; `opaque` is the costs. */
void costs_take(void *opaque, const struct link_record *link, uint64_t time_ns, const void *trace);

/* Returns how many threads processes have started, besides their first ones. */
size_t costs_threads(const struct costs *costs);

#endif
