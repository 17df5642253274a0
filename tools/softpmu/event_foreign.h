/* SPDX-License-Identifier: MIT */
/* event_foreign.h: events of perf that are none of a processor core's unit. */
#ifndef SOFTPMU_TOOL_EVENT_FOREIGN_H
#define SOFTPMU_TOOL_EVENT_FOREIGN_H

/* Why the unit of an event "UNIT/.../" is not here: a phrase after "there is no unit 'UNIT'". */
const char *event_foreign_unit(const char *unit);

/* What an event is that softpmu does not know and perf does: the kernel's, a breakpoint, a cache's;
 * a sentence without its beginning.  NULL: nothing is known of it. */
const char *event_foreign_kind(const char *name);

#endif
