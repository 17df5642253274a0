/* SPDX-License-Identifier: MIT */
/* pieces.h: static clocks of instructions that run as precise steps (pieces.c). */
#ifndef SOFTPMU_ENGINE_PIECES_H
#define SOFTPMU_ENGINE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

struct step;

/* Returns the static clocks of a step of one instruction, in parts. */
unsigned pieces_clocks(const struct step *s);
/* The thread leaves a block that begins at pc before its instruction `index`.  Returns the static
 * clocks of the instructions before, in parts. */
unsigned pieces_enter(uint64_t pc, unsigned index);
/* Returns the static clocks from pc to the instruction at `last`, in parts, with its own if it is
 * `included`.  No branch between was taken.  0: that is not so, or not known. */
unsigned pieces_between(uint64_t pc, uint64_t last, bool included);
/* Bulk code goes on where a piece begins. */
void pieces_leave(void);
/* Returns whether current->pc is within the piece whose instructions were stepped last. */
bool pieces_inside(void);

#endif
