/* SPDX-License-Identifier: MIT */
/* int80.h: system calls by INT 80H (int80.c). */
#ifndef SOFTPMU_ENGINE_INT80_H
#define SOFTPMU_ENGINE_INT80_H

#include <stdbool.h>

/*
 * Makes the system call of INT 80H that the program's registers describe.  Returns false if the
 * kernel can make it without the engine.  *made: as syscall_run() returns it.
 */
bool int80_run(bool *made);
/* Returns whether the kernel can make the call without the engine. */
bool int80_is_plain(void);

#endif
