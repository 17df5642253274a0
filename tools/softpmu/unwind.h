/* SPDX-License-Identifier: MIT */
/* unwind.h: where functions begin, by the unwind table that even stripped files keep. */
#ifndef SOFTPMU_TOOL_UNWIND_H
#define SOFTPMU_TOOL_UNWIND_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The addresses at which functions begin, ascending, to free(); *count gets their number.  NULL
 * when the file has no table, or one in a form that linkers do not write.
 */
uint64_t *unwind_starts(Elf *elf, size_t *count);

#endif
