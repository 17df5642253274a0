/* SPDX-License-Identifier: MIT */
/* deterministic.h: a run that is the same each time (deterministic.c, deterministic_places.c). */
#ifndef SOFTPMU_ENGINE_DETERMINISTIC_H
#define SOFTPMU_ENGINE_DETERMINISTIC_H

#include "engine/rt/call.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Addresses where Linux places nothing by itself, and that sanitizers leave to programs. (While
 * Linux places mappings at random, they begin less than 1 TiB below the end of the address space.)
 */
#define DETERMINISTIC_STACK_END UINT64_C(0x7ef000000000)
#define DETERMINISTIC_HEAP	UINT64_C(0x551010000000)

bool deterministic_wanted(void);
/* Moves the stack and the data of its auxiliary vector, at the start.  Returns the new stack. */
uint64_t *deterministic_start(const uint64_t *stack);
/* Unmaps the kernel's stack, which the engine has left, and the vDSO. */
void deterministic_leave(void);
/* Writes the next bytes of the sequence instead of random ones. */
void deterministic_random(uint64_t to, uint64_t bytes);
bool deterministic_is_random_file(int fd);
/* After a call that has succeeded: if it reports a file's times, hides the last access. */
void deterministic_file_times(const struct syscall_arguments *c);

/* The system calls that place a mapping.  The lock is held. */
long deterministic_mmap(const struct syscall_arguments *c);
long deterministic_mremap(const struct syscall_arguments *c);
long deterministic_shmat(const struct syscall_arguments *c);

#endif
