/* SPDX-License-Identifier: MIT */
/* stack.h: what a sample tells of the program's stack (stack.c). */
#ifndef SOFTPMU_ENGINE_STACK_H
#define SOFTPMU_ENGINE_STACK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Follows the frame pointers from `frame`, which is RBP.  Stores `ip` and then at most `most` - 1
 * return addresses.  Returns how many addresses it has stored; `most` is at least 1.
 */
size_t stack_walk(uint64_t ip, uint64_t frame, unsigned most, uint64_t *chain);

/* Copies up to `bytes` bytes of the program's memory.  Returns how many can be read. */
size_t stack_copy(void *to, uint64_t from, size_t bytes);

#endif
