/* SPDX-License-Identifier: MIT */
/* actions.h: what the program asked for each signal, and what the kernel is told of it (actions.c).
 */
#ifndef SOFTPMU_ENGINE_ACTIONS_H
#define SOFTPMU_ENGINE_ACTIONS_H

#include "signals.h"

#define IGNORE 1 /* SIG_IGN */

/* What the program asked for. */
static inline struct kernel_action *action_of(long sig)
{
	return &current->signals.process->action[sig];
}

static inline bool action_has_handler(long sig)
{
	return action_of(sig)->handler > IGNORE;
}

/* Does it end the process when nothing is asked for? */
bool action_ends(long sig);
/* What is to be done; once, if the program wants that. */
struct kernel_action action_take(int sig);
/* The kernel's own doing from now on. */
void action_default(long sig);
/* At the start: what the program was given. */
void actions_start(void);

#endif
