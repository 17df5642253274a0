/* SPDX-License-Identifier: MIT */
/* lines.h: source lines of instructions, from the line tables of DWARF. */
#ifndef SOFTPMU_TOOL_LINES_H
#define SOFTPMU_TOOL_LINES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct lines; /* the line tables of one file */

/* From the file or, when it has none, from its debug file; either may be NULL.  NULL: none. */
struct lines *lines_open(Elf *file, Elf *debug);
void lines_close(struct lines *lines);

/* The source and line of the instruction at the address; *source lives until lines_close(). */
bool lines_find(struct lines *lines, uint64_t address, const char **source, int *line);

#endif
