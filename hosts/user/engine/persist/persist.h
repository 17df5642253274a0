/* SPDX-License-Identifier: MIT */
/* persist.h: translations that are saved between runs (persist.c). */
#ifndef SOFTPMU_ENGINE_PERSIST_H
#define SOFTPMU_ENGINE_PERSIST_H

#include <stdbool.h>
#include <stdint.h>

/* Loads the saved code, once.  The cache is empty, and the meters are known. */
void persist_load(void);
/* The same for code of several threads (emit_context), if there was code for one thread. */
void persist_load_again(void);
/* Saves the code at the end of the process.  No other thread runs. */
void persist_save(void);
/* Notes that the file open as fd has been mapped there from `offset`, executable and not
 * writable. */
void persist_mapped(uint64_t start, uint64_t bytes, int fd, uint64_t offset);
/* Notes that something else is mapped there, or may be. */
void persist_changed(uint64_t start, uint64_t end);
/* Returns true if the addresses belong to different modules.  A jump between modules must go
 * through an exit stub, because saving the persistent code cache unlinks such jumps. */
bool persist_parts(uint64_t a, uint64_t b);
/* persist_begin() notes that the block being translated begins at pc.  The next function notes a
 * jump of it, whose rel32 is at `rel32`, to the code of this key. */
void persist_begin(uint64_t pc);
void persist_jump(uint64_t rel32, uint64_t key);
/* Returns whether pc is outside the module in which that block begins. */
bool persist_outside(uint64_t pc);
/* Returns whether the bytes there change only together with that block, so that the block may
 * depend on them.  A module changes as a whole, other code by pages. */
bool persist_is_with_block(uint64_t pc, unsigned bytes);

#endif
