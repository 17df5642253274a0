/* SPDX-License-Identifier: MIT */
/* opened_task.h: the opened events of the running task, one by one (opened_task.c). */
#ifndef SOFTPMU_ENGINE_OPENED_TASK_H
#define SOFTPMU_ENGINE_OPENED_TASK_H

#include "engine/count/opened.h"
#include "engine/rt/engine.h"

static inline struct link_open *opened_task_event(const struct opened_event *e)
{
	return &engine_link->open[e->place];
}

/* Returns the task's event with this serial; NULL: it has none. */
struct opened_event *opened_task_find(uint64_t serial);

/* Returns whether the task is to count the event. */
bool opened_task_wants(const struct opened_event *e);

/* Returns what the task has counted of the event since something that does not change while it
 * counts.  `now` is its own time. */
uint64_t opened_task_count(const struct opened_event *e, uint64_t now);

/* The task's own processor time in nanoseconds. */
uint64_t opened_task_time(void);

/* Returns the number that records have for the event in this task. */
uint64_t opened_task_stream(const struct opened_event *e);

#endif
