/* SPDX-License-Identifier: MIT */
/* address_spaces.h: which file is mapped where in each process. */
#ifndef SOFTPMU_TOOL_ADDRESS_SPACES_H
#define SOFTPMU_TOOL_ADDRESS_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_spaces;
struct jit;
struct symbol_file;

struct address_mapping {
	uint64_t start, end, page_offset;
	const char *path; /* lives as long as the address spaces */
	struct symbol_file *file;
	bool is_constant; /* code there is always that of the file */
	bool generated;	  /* memory without a file: code there was made by the program */
};

/* The files in which a process described the code that it generated; NULL: there is none. */
struct address_code {
	struct jit *dump, *perf_map;
};

struct address_spaces *address_spaces_new(void);
void address_spaces_free(struct address_spaces *spaces);

/* Forgets all processes. */
void address_spaces_clear(struct address_spaces *spaces);

/* Begins a process with a copy of its parent's mappings, or with none if the parent is not known.
 * Does nothing if both are the same process, which then has another thread. */
void address_spaces_fork(struct address_spaces *spaces, uint32_t pid, uint32_t parent);

/* Removes all mappings of a process that executes another program. */
void address_spaces_exec(struct address_spaces *spaces, uint32_t pid);

/* Forgets a process. */
void address_spaces_exit(struct address_spaces *spaces, uint32_t pid);

/* Adds a mapping, which covers older ones.  Returns true if there was an older one in its range. */
bool address_spaces_map(struct address_spaces *spaces, uint32_t pid,
			const struct address_mapping *map);

/* Returns whether a mapping has a part of the range. */
bool address_spaces_holds(struct address_spaces *spaces, uint32_t pid, uint64_t start,
			  uint64_t bytes);

/* Returns the mapping at the address, or NULL.  Valid until the next change. */
const struct address_mapping *address_spaces_find(struct address_spaces *spaces, uint32_t pid,
						  uint64_t address);

/* Returns the files of generated code, which the caller may change.  Valid until the process
 * ends. */
struct address_code *address_spaces_code(struct address_spaces *spaces, uint32_t pid);

#endif
