/* SPDX-License-Identifier: MIT */
/* lines.h: source lines of instructions, from the line tables of DWARF. */
#ifndef SOFTPMU_TOOL_LINES_H
#define SOFTPMU_TOOL_LINES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct lines; /* the line tables of one file */

/* Opens the line tables of the file or, if it has none, of its debug file.  Both may be NULL. */
struct lines *lines_open(Elf *file, Elf *debug);
void lines_close(struct lines *lines);

/* Finds the source and the line of the instruction at the address.  *source lives until
 * lines_close(). */
bool lines_find(struct lines *lines, uint64_t address, const char **source, int *line);

#endif
