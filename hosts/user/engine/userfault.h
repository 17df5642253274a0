/* SPDX-License-Identifier: MIT */
/* userfault.h: userfaultfd(2) as the program may use it (userfault.c). */
#ifndef SOFTPMU_ENGINE_USERFAULT_H
#define SOFTPMU_ENGINE_USERFAULT_H

struct syscall_arguments;

/* ioctl(2), of whatever file. */
long userfault_ioctl(const struct syscall_arguments *c);

#endif
