/* SPDX-License-Identifier: MIT */
/* ask.h: tasks of the run that are asked to look at their lists of opened events (ask.c). */
#ifndef SOFTPMU_ENGINE_ASK_H
#define SOFTPMU_ENGINE_ASK_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the place of a task's entry among link.follower; -1: the run has no such task. */
int ask_find(uint32_t tid);

/*
 * Waits for every other task that has this event in its list.  `serial` names the event
 * (link_open.h).  The wait for a task ends when the task has looked at its list, or is in a system
 * call.  Such a call has published what the task counted, and the task looks at its list before it
 * runs more of the program.  The engine's lock is not held.
 */
void ask_counting(uint64_t serial);

/* The same for a task by the place of its entry. */
void ask_one(unsigned place);

#endif
