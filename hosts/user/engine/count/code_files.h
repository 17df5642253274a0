/* SPDX-License-Identifier: MIT */
/* code_files.h: the mapped files with code, and what the tool says of places in them
 * (code_files.c). */
#ifndef SOFTPMU_ENGINE_CODE_FILES_H
#define SOFTPMU_ENGINE_CODE_FILES_H

#include <hosts/user/link.h>
#include <stdbool.h>
#include <stdint.h>

/* Tells the tool of a mapping with code, and waits until it has told what is there.  If there was
 * code, `before`, if it is not NULL, is called first, while the other threads are stopped.  The
 * lock is held. */
void code_files_map(const struct link_mmap *map, void (*before)(void));

/* Returns whether the code at the address is always that of a file, which the tool can read. */
bool code_files_have(uint64_t address);

/* Returns whether the place in a file at that address has the mark. */
bool code_files_marked(enum link_mark mark, uint64_t address);

#endif
