/* SPDX-License-Identifier: MIT */
/* views.h: shared memory that may be mapped more than once (views.c).  The lock is held. */
#ifndef SOFTPMU_ENGINE_VIEWS_H
#define SOFTPMU_ENGINE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

struct syscall_arguments;

/* What the program mapped, by mmap(2); another call's pieces lead to the same object. */
void views_mapped(uint64_t start, uint64_t bytes, const struct syscall_arguments *c);
void views_unmapped(uint64_t start, uint64_t bytes);
void views_protected(uint64_t start, uint64_t bytes, uint64_t protection);
/* Moved, or, when it has 0 bytes, mapped once more. */
void views_moved(uint64_t start, uint64_t bytes, uint64_t to, uint64_t to_bytes, bool stays);

/* Is this code that may be written elsewhere? */
bool views_of_code(uint64_t pc);
/* The code's page is going to be translated: writes to it elsewhere must be noticed.  True: until
 * now some were not. */
bool views_watch(uint64_t pc);
/* The page is going to be written to: translations of the same page elsewhere are forgotten. */
void views_forget(uint64_t page);

/* Is any shared memory executable?  Then a call that writes to a file may write code. */
bool views_have_code(void);
/* Is what the descriptor leads to? */
bool views_file_has_code(int fd);
/* It has been written to. */
void views_file_written(int fd);

#endif
