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
/* Bulk code goes on where a piece begins. */
void pieces_leave(void);
/* Returns whether current->pc is within the piece whose instructions were stepped last. */
bool pieces_inside(void);

#endif
