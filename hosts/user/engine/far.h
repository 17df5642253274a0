/* SPDX-License-Identifier: MIT */
/* far.h: far transfers (far.c) and system calls by INT 80H (calls.c). */
#ifndef SOFTPMU_ENGINE_FAR_H
#define SOFTPMU_ENGINE_FAR_H

#include "engine.h"

/*
 * Runs the far transfer of a step.  False: the instruction is to run as it is, because it faults or
 * because it comes back by itself.
 */
bool far_run(const struct step *s, const struct insn *insn, const struct insn_addresses *at);

/* Returns whether a branch may go there (Vol. 1, 3.3.7.1). */
static inline bool is_canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/* Returns whether the instruction is INT 80H. */
bool far_is_call(const struct insn *insn);

/*
 * Makes the system call of INT 80H that the program's registers describe, unless the kernel can
 * make it without the engine (false).  *made: as syscall_run() returns it.
 */
bool call_run(bool *made);
/* Returns whether the kernel can make it without the engine. */
bool call_is_plain(void);

#endif
