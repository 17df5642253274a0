/* SPDX-License-Identifier: MIT */
/* vsyscall.h: calls to the vsyscall page (vsyscall.c). */
#ifndef SOFTPMU_ENGINE_VSYSCALL_H
#define SOFTPMU_ENGINE_VSYSCALL_H

#include <stdbool.h>

/* Runs the function of the page that current->pc is the address of, and returns from it.  False:
 * it is none, or it faults. */
bool vsyscall_run(void);

#endif
