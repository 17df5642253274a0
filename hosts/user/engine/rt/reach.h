/* SPDX-License-Identifier: MIT */
/* reach.h: the memory of other processes (reach.c). */
#ifndef SOFTPMU_ENGINE_REACH_H
#define SOFTPMU_ENGINE_REACH_H

#include <stddef.h>
#include <stdint.h>

/* Reads memory of another task.  Returns how many bytes, or an error of process_vm_readv(2).
 * -ESRCH: it is dead, even if its parent has not waited for it yet. */
long reach_read(uint32_t tid, uint64_t from, void *to, size_t bytes);

#endif
