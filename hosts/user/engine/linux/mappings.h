/* SPDX-License-Identifier: MIT */
/* mappings.h: system calls that change the memory map (mappings.c). */
#ifndef SOFTPMU_ENGINE_MAPPINGS_H
#define SOFTPMU_ENGINE_MAPPINGS_H

#include "engine/rt/call.h"

#include <stdint.h>

/* Makes the call. */
long mappings_call(struct syscall_arguments *c);

/* Notes memory of the program, with the protection that it asked for. */
void mappings_add(uint64_t start, uint64_t bytes, int protection);
/* Notes that the program may execute this stack, which may grow downwards. */
void mappings_add_stack(uint64_t start, uint64_t end);

#endif
