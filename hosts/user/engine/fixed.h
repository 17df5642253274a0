/* SPDX-License-Identifier: MIT */
/* fixed.h: a run that is to be the same each time (fixed.c, fixed_places.c). */
#ifndef SOFTPMU_ENGINE_FIXED_H
#define SOFTPMU_ENGINE_FIXED_H

#include <stdbool.h>
#include <stdint.h>

struct syscall_arguments;

/*
 * Addresses where Linux places nothing by itself while it places mappings at random (its mappings
 * begin less than 1 TiB below the end of the address space), and that sanitizers leave to programs.
 */
#define FIXED_STACK_END UINT64_C(0x7ef000000000)
#define FIXED_HEAP	UINT64_C(0x551010000000)

bool fixed_wanted(void);
/* At the start: the stack, moved, and what its auxiliary vector leads to. */
uint64_t *fixed_start(const uint64_t *stack);
/* The engine has left the kernel's stack: unmaps that, and the vDSO. */
void fixed_leave(void);
/* The next bytes of the sequence in place of random ones. */
void fixed_random(uint64_t to, uint64_t bytes);
bool fixed_is_random_file(int fd);

/* The system calls that place a mapping; the lock is held. */
long fixed_mmap(const struct syscall_arguments *c);
long fixed_mremap(const struct syscall_arguments *c);
long fixed_shmat(const struct syscall_arguments *c);

#endif
