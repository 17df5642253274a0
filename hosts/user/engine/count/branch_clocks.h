/* SPDX-License-Identifier: MIT */
/* branch_clocks.h: static clocks from one branch to the next, for last branch records
 * (branch_clocks.c). */
#ifndef SOFTPMU_ENGINE_BRANCH_CLOCKS_H
#define SOFTPMU_ENGINE_BRANCH_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the static clocks from pc to the instruction at `last`, in parts, with its own if it is
 * `included` (pieces_between()).  The translator, which knows code, says which function that is. */
typedef unsigned branch_clocks_code(uint64_t pc, uint64_t last, bool included);
void branch_clocks_use(branch_clocks_code *between);

/* Begins to count where control comes to. */
void branch_clocks_begin(uint64_t pc);
/* Returns the whole clocks from there to the branch at `from`, and begins again at its target.  0
 * also if the code between is not known. */
uint32_t branch_clocks_to(uint64_t from, uint64_t to);
/* The same to the instruction at pc, which has not run. */
uint32_t branch_clocks_rest(uint64_t pc);

#endif
