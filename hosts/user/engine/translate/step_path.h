/* SPDX-License-Identifier: MIT */
/* step_path.h: which instructions become one precise step (step_path.c). */
#ifndef SOFTPMU_ENGINE_STEP_PATH_H
#define SOFTPMU_ENGINE_STEP_PATH_H

#include "engine/translate/path.h"

/* Decodes the instructions from pc on that the headroom allows, and one more.  `changes`: the code
 * may change at any time.  Returns false if there is no instruction.  The lock is held. */
bool step_path(struct path *p, uint64_t pc, uint32_t headroom, bool changes);
/* Returns whether the step continues after the instruction: it is copied unchanged, and the engine
 * need not know how it ran. */
bool step_path_goes_on(const struct insn *insn);

#endif
