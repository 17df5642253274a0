/* SPDX-License-Identifier: MIT */
/* regions.h: the program's executable memory (regions.c). */
#ifndef SOFTPMU_ENGINE_REGIONS_H
#define SOFTPMU_ENGINE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

#define PROGRAM_END    UINT64_C(0x7ffffffff000)
#define REGION_LOW_END UINT64_C(0x80000000)

void regions_start(void);
void regions_add(uint64_t start, uint64_t bytes, int protection);
void regions_remove(uint64_t start, uint64_t bytes);
/* Notes a stack that may be executed. */
void regions_add_stack(uint64_t start, uint64_t end);
/* Returns whether the code's changes cannot be noticed (a stack, a pinned page).  Such code runs
 * as single steps and is decoded each time. */
bool region_is_volatile(uint64_t pc);
/* Returns the end of the executable region that contains pc.  0: pc cannot be executed. */
uint64_t region_code_end(uint64_t pc);
/* Returns how far a block that begins at pc may extend. */
uint64_t region_block_end(uint64_t pc);
/* Looks up the mapping that contains `at`.  Sets *code and *writable to the protection that the
 * program asked for, which can differ from the kernel's.  Returns the end of that mapping, at
 * most `end`. */
uint64_t region_as_mapped(uint64_t at, uint64_t end, bool *code, bool *writable);
/* Returns whether a change is half done.  The lock is held, so its previous owner ended in the
 * middle of the change. */
bool regions_are_changing(void);
/* Removes the mark of translated code from all pages. */
void regions_forget_translations(void);

/* Returns true if the program may write to the code at pc, which is in a region. */
bool region_is_writable(uint64_t pc);
/* Returns true if pc is in a region that the program may not write to. */
bool region_is_constant(uint64_t pc);
/* Finds the next part of [*from, end) that is executable and writable, and stores it in *from
 * and *to. */
bool region_next_writable(uint64_t *from, uint64_t *to, uint64_t end);
/* Announces that pages of a region will be marked as pinned. */
void region_expect_pinned(void);

/* Executable memory of another process. */
#define REGIONS_OF_MAX 8192
struct region_of {
	uint64_t start, end;
	bool writable, stack;
};
/* Reads that of a process of the run, sorted.  Returns how many there are; 0: it cannot be read. */
unsigned regions_read(uint32_t pid, struct region_of *to);

#endif
