/* SPDX-License-Identifier: MIT */
/* actions.h: the program's dispositions of signals, and what the kernel is told (actions.c). */
#ifndef SOFTPMU_ENGINE_ACTIONS_H
#define SOFTPMU_ENGINE_ACTIONS_H

#include "engine/signal/signals.h"

#define IGNORE 1 /* SIG_IGN */

/* Returns what the program asked for. */
static inline struct kernel_action *action_of(long sig)
{
	return &current->signals.process->action[sig];
}

static inline bool action_has_handler(long sig)
{
	return action_of(sig)->handler > IGNORE;
}

/* Returns whether the signal ends the process by default. */
bool action_ends(long sig);
/* Returns the disposition of a signal that is delivered now.  With SA_RESETHAND it is valid
 * once. */
struct kernel_action action_take(int sig);
/* Gives the signal its default disposition in the kernel. */
void action_default(long sig);
/* At the start: what the program was given.  The engine's handler begins at `entry` and returns to
 * `back`. */
void actions_start(const char *entry, const char *back);

#endif
