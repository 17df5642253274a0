/* SPDX-License-Identifier: MIT */
/* event_foreign.h: events of perf that a processor core's unit does not have. */
#ifndef SOFTPMU_TOOL_EVENT_FOREIGN_H
#define SOFTPMU_TOOL_EVENT_FOREIGN_H

/* Returns why there is no unit for an event "UNIT/.../": a phrase to follow "there is no unit
 * 'UNIT'". */
const char *event_foreign_unit(const char *unit);

/* Returns what kind of event perf knows by that name: an event of the kernel, a breakpoint, an
 * event of a cache.  It is a sentence without its beginning.  Returns NULL for other names. */
const char *event_foreign_kind(const char *name);

#endif
