/* SPDX-License-Identifier: MIT */
/* children.h: processes and threads that the program starts (children.c). */
#ifndef SOFTPMU_ENGINE_CHILDREN_H
#define SOFTPMU_ENGINE_CHILDREN_H

#include "engine/rt/call.h"

/* Runs the program's code in a thread or a child that has just begun, and does not return.  start.c
 * sets it: the dispatcher makes system calls, and some of them begin a thread. */
extern __attribute__((noreturn)) void (*children_run)(void);
long children_fork(const struct syscall_arguments *c);
/* Executes exit(2).  The last thread ends the process. */
long children_end_thread(const struct syscall_arguments *c);

#endif
