/* SPDX-License-Identifier: MIT */
/*
 * flow.h: makes an exact profile from the log of control flow (hosts/user/link.h), while the
 * program runs.
 */
#ifndef SOFTPMU_TOOL_FLOW_H
#define SOFTPMU_TOOL_FLOW_H

#include <hosts/user/link.h>

#include "tools/softpmu/exact/exact.h"

struct flow;

/* The results go to `exact`, which has its events.  `signals` are those of each event. */
struct flow *flow_new(struct exact *exact, const uint64_t *signals);
void flow_free(struct flow *flow);

/* Takes the shared memory of the run; `opaque` is the flow. */
void flow_prepare(void *opaque, struct link *link);

/* Takes a record of the engine.  This is the launch_sink; `opaque` is the flow. */
void flow_take(void *opaque, const struct link_record *link, uint64_t time_ns, const void *records);

/* Ends all threads that have not ended. */
void flow_end(struct flow *flow);

struct flow_sums {
	uint64_t branches; /* records */
	uint64_t lost;	   /* runs of code that could not be read or decoded */
	uint64_t busy_ns;  /* processor time spent on records */
};
struct flow_sums flow_sums(const struct flow *flow);

#endif
