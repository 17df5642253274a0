/* SPDX-License-Identifier: MIT */
/* events_default.h: the events that stat counts without -e, and those of its -d. */
#ifndef SOFTPMU_EVENTS_DEFAULT_H
#define SOFTPMU_EVENTS_DEFAULT_H

#include "tools/softpmu/events/events.h"

/* Adds what is counted without a machine; names that the model does not know are left out. */
void events_default_exact(struct event_list *events, const struct spmu_model *model);

/* Adds perf's default set, for a run with a machine.  `misses`: also what static clocks leave
 * out. */
void events_default_perfs(struct event_list *events, const struct spmu_model *model, bool misses);

/* Adds perf's events of caches, and if -d was given several times, of TLBs. */
void events_default_detailed(struct event_list *events, const struct spmu_model *model,
			     unsigned times);

#endif
