/* SPDX-License-Identifier: MIT */
/* dispositions.h: the dispositions of signals of the processes, shared by contexts
 * (dispositions.c). */
#ifndef SOFTPMU_ENGINE_DISPOSITIONS_H
#define SOFTPMU_ENGINE_DISPOSITIONS_H

#include "engine/rt/context.h"

/* dispositions_copy() returns a copy for one process.  dispositions_share() adds a context to
 * the same ones, and dispositions_leave() removes one that ends.  The lock is held. */
struct dispositions *dispositions_copy(const struct dispositions *of);
struct dispositions *dispositions_share(struct dispositions *of);
void dispositions_leave(struct dispositions *of);

#endif
