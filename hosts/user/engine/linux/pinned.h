/* SPDX-License-Identifier: MIT */
/* pinned.h: memory that the kernel may write to at any time (pinned.c). */
#ifndef SOFTPMU_ENGINE_PINNED_H
#define SOFTPMU_ENGINE_PINNED_H

#include "engine/rt/call.h"

/* Executes io_uring_register(2). */
long pinned_register(const struct syscall_arguments *c);

#endif
