/* SPDX-License-Identifier: MIT */
/* vsyscall.h: calls to the vsyscall page (vsyscall.c). */
#ifndef SOFTPMU_ENGINE_VSYSCALL_H
#define SOFTPMU_ENGINE_VSYSCALL_H

#include <stdbool.h>

/* Runs the function of the page at current->pc, and returns from it.  Returns false if there is
 * none, or if it faults. */
bool vsyscall_run(void);

#endif
