/* SPDX-License-Identifier: MIT */
/* settle.h: translated code that is left in the middle, as signals.c and faults.c do (settle.c). */
#ifndef SOFTPMU_ENGINE_SETTLE_H
#define SOFTPMU_ENGINE_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

struct sigcontext;

/* Is this address, in a block, where an instruction of the program begins? */
bool settle_possible(uint64_t rip);

/*
 * Put the meters as if translated code had ended before the instruction at regs->rip
 * (behind it: retired is 1); current->pc becomes that instruction's, and regs the program's own.
 */
void settle(struct sigcontext *regs, unsigned retired);

#endif
