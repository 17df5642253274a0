/* SPDX-License-Identifier: MIT */
/* unwind.h: the beginnings of functions, from the unwind table that stripped files have, too. */
#ifndef SOFTPMU_TOOL_UNWIND_H
#define SOFTPMU_TOOL_UNWIND_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the addresses of the beginnings in ascending order, to free(), and their number in
 * *count. Returns NULL if the file has no table, or one in a form that linkers do not write.
 */
uint64_t *unwind_starts(Elf *elf, size_t *count);

#endif
