/* SPDX-License-Identifier: MIT */
/* run.h: the dispatcher (run.c), its precise steps (run_steps.c), and the unit as the program sees
 * it (self.c). */
#ifndef SOFTPMU_ENGINE_RUN_H
#define SOFTPMU_ENGINE_RUN_H

#include <softpmu/unit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* run.c */
__attribute__((noreturn)) void run_program(void);

/* run_steps.c */
/* Runs the step at current->pc, in precise mode. */
void run_step(void);
/* Handles a jump to current->pc where no code is: a call to the vsyscall page, or a fault as
 * natively. */
void run_bad_jump(void);

/* self.c */
/* Changes the registers after the program's CPUID of this leaf: what concerns the unit is the
 * model's. */
void self_cpuid(uint32_t leaf, uint32_t subleaf);
/* Executes RDPMC in precise mode.  Changes the registers only if the result is SPMU_DONE. */
enum spmu_outcome self_rdpmc(void);
/* Returns whether the processor knows XBEGIN, even if every transaction aborts. */
bool self_has_transactions(void);

#endif
