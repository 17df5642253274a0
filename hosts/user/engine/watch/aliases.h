/* SPDX-License-Identifier: MIT */
/* aliases.h: shared memory that may be mapped more than once (aliases.c).  The lock is held. */
#ifndef SOFTPMU_ENGINE_ALIASES_H
#define SOFTPMU_ENGINE_ALIASES_H

#include <stdbool.h>
#include <stdint.h>

struct syscall_arguments;

/* Notes what the program mapped by mmap(2).  The pieces of another call belong to the same
 * object. */
void aliases_mapped(uint64_t start, uint64_t bytes, const struct syscall_arguments *c);
void aliases_unmapped(uint64_t start, uint64_t bytes);
void aliases_protected(uint64_t start, uint64_t bytes, uint64_t protection);
/* Notes that a mapping was moved, or, if it has 0 bytes, mapped once more. */
void aliases_moved(uint64_t start, uint64_t bytes, uint64_t to, uint64_t to_bytes, bool stays);

/* Returns whether this code may be written to elsewhere. */
bool aliases_of_code(uint64_t pc);
/* Watches other mappings of this code's page, which is about to be translated.  True: until now
 * some writes were not noticed. */
bool aliases_watch(uint64_t pc);
/* Drops translations of the same page elsewhere, because the page is about to be written to. */
void aliases_forget(uint64_t page);

/* Returns whether any shared memory is executable.  Then a call that writes to a file may write
 * code. */
bool aliases_have_code(void);
/* Returns whether the descriptor's file is. */
bool aliases_file_has_code(int fd);
/* Notes that the file has been written to. */
void aliases_file_written(int fd);

#endif
