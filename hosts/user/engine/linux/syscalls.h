/* SPDX-License-Identifier: MIT */
/* syscalls.h: the program's system calls (syscalls.c). */
#ifndef SOFTPMU_ENGINE_SYSCALLS_H
#define SOFTPMU_ENGINE_SYSCALLS_H

#include "engine/rt/call.h"
#include <stdbool.h>

/* syscalls.c: the system call that the program is making; current->pc is after it.
 * syscall_registers() does what the SYSCALL instruction itself does: RCX = RIP, R11 = RFLAGS
 * (Vol.  2B).  syscall_run() returns false if a signal came first; then current->pc is at the
 * SYSCALL, which has not retired. */
void syscall_registers(void);
bool syscall_run(void);

/* Makes this call for the program, by SYSCALL or otherwise. */
long syscall_make(struct syscall_arguments *c);
/* The same for a call whose number and arguments are not in the registers of SYSCALL.  Its
 * instruction also has two bytes. */
bool syscall_run_as(struct syscall_arguments *c);

#endif
