/* SPDX-License-Identifier: MIT */
/* limits.h: the limit of the program's address space (limits.c). */
#ifndef SOFTPMU_ENGINE_LIMITS_H
#define SOFTPMU_ENGINE_LIMITS_H

#include <stdbool.h>

/* Called at the start, before the engine has mapped much. */
void limits_start(void);
/* Returns whether a limit applies to the engine too and leaves it little. */
bool limits_are_tight(void);
/* Sets the limit to *new, if that is not NULL, and stores the old one, both as the program sees
 * them.  The lock is held. */
struct rlimit64;
long limits_change(const struct rlimit64 *new, struct rlimit64 *old);

#endif
