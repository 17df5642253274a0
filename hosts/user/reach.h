/* SPDX-License-Identifier: MIT */
/* reach.h: the memory of processes of the run, for the tool (reach.c). */
#ifndef SOFTPMU_HOST_REACH_H
#define SOFTPMU_HOST_REACH_H

#include <stdint.h>
#include <sys/types.h>

/* Reads memory of a process.  Returns how many bytes; -1 with errno: none. */
ssize_t reach_read(pid_t pid, uint64_t from, void *to, size_t bytes);

#endif
