/* SPDX-License-Identifier: MIT */
/* far.h: far transfers (far.c). */
#ifndef SOFTPMU_ENGINE_FAR_H
#define SOFTPMU_ENGINE_FAR_H

#include <hosts/user/decode/decode.h>

#include "engine/count/accesses.h"
#include "engine/translate/translate.h"

/*
 * Runs the far transfer of a step.  If `list` is not NULL, it gets the accesses.  Returns false if
 * the instruction must run unchanged, because it faults or because it returns by itself.
 */
bool far_run(const struct step *s, const struct insn *insn, struct accesses *list);

/* Returns whether the instruction is INT 80H. */
bool far_is_call(const struct insn *insn);

#endif
