/* SPDX-License-Identifier: MIT */
/* recover.h: state recovery when translated code is left in the middle, for signals.c and
 * faults.c (recover.c). */
#ifndef SOFTPMU_ENGINE_RECOVER_H
#define SOFTPMU_ENGINE_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

struct sigcontext;

/* Returns whether an instruction of the program begins at this address in a block. */
bool recover_is_possible(uint64_t rip);

/* Returns where the registers have R8 to R15. */
uint64_t *recover_high_register(struct sigcontext *regs, unsigned reg);

/*
 * Corrects the meters as if translated code had ended before the instruction at regs->rip
 * (retired is 1: after it).  current->pc becomes the address of that instruction, and regs
 * become the program's own.
 */
void recover(struct sigcontext *regs, unsigned retired);

#endif
