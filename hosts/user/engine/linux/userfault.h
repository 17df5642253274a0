/* SPDX-License-Identifier: MIT */
/* userfault.h: the part of userfaultfd(2) that the program may use (userfault.c). */
#ifndef SOFTPMU_ENGINE_USERFAULT_H
#define SOFTPMU_ENGINE_USERFAULT_H

#include "engine/rt/call.h"

/* Executes ioctl(2), for any file. */
long userfault_ioctl(const struct syscall_arguments *c);

#endif
