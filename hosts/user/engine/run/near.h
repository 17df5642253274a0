/* SPDX-License-Identifier: MIT */
/* near.h: near branches that the engine runs itself (near.c). */
#ifndef SOFTPMU_ENGINE_NEAR_H
#define SOFTPMU_ENGINE_NEAR_H

#include <hosts/user/decode/decode.h>

#include "engine/count/accesses.h"
#include "engine/translate/translate.h"

/* Runs the near branch of a step.  Returns false if it must run unchanged, because it faults. */
bool near_run(const struct step *s, const struct insn *insn, const struct accesses *list);

/* Returns whether a branch to this address is allowed (Vol.  1, 3.3.7.1). */
static inline bool is_canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

#endif
