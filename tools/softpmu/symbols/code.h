/* SPDX-License-Identifier: MIT */
/*
 * code.h: what is at the addresses of running processes: functions, and kinds of branches.  Each
 * answer costs a search, so callers that ask often should keep it.
 */
#ifndef SOFTPMU_TOOL_CODE_H
#define SOFTPMU_TOOL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hosts/user/link.h>

struct call_frames;
struct symbol;
struct code; /* mappings of processes, and the mapped files */

struct code *code_new(void);
void code_free(struct code *code);

/* Makes a process the current one: addresses below are addresses of that process. */
void code_enter(struct code *code, uint32_t pid);

/* Say that a process began with its parent's mappings, executes another program, or ended. */
void code_fork(struct code *code, uint32_t pid, uint32_t parent);
void code_exec(struct code *code, uint32_t pid);
void code_exit(struct code *code, uint32_t pid);

/* Adds a mapping to the process that it names.  Returns true if it replaced an older one: answers
 * about addresses there are no longer valid. */
bool code_map(struct code *code, const struct link_mmap *map);

/* Returns whether the mapping would replace an older one. */
bool code_is_mapped(struct code *code, const struct link_mmap *map);

/* Calls `visit` with the name and the range of each function of a mapped file, in addresses of the
 * process. */
void code_each_function(struct code *code, const struct link_mmap *map,
			void (*visit)(void *opaque, const char *name, uint64_t start, uint64_t end),
			void *opaque);

/* Returns whether the name is that of a part of a procedure linkage table. */
bool code_is_stub(const char *name);

/* Returns whether the name is that of the dynamic linker's code that finds a function and jumps to
 * it. */
bool code_is_resolver(const char *name);

/* Returns whether code at the address is not that of a file, so that other code may replace it. */
bool code_is_memory(struct code *code, uint64_t address);

struct code_function {
	const char *name;	     /* as the compiler wrote it; NULL: not known */
	const char *shown;	     /* the name to show; NULL: not known */
	const struct symbol *symbol; /* has the other names */
	const char *object;	     /* path of the file, "[unknown]" */
	uint64_t calls, branches;    /* free for the caller's use */
};

/*
 * Returns the function at the address, as a number below code_functions().  All addresses of a file
 * without a known function share one.  Sets *offset to the distance from the function's start, or
 * to the address in the file if there is no function.
 */
uint32_t code_function_at(struct code *code, uint64_t address, uint64_t *offset);
uint32_t code_functions(const struct code *code);
struct code_function *code_function(struct code *code, uint32_t number);

/* Kinds of branches, by the instruction. */
enum code_branch {
	BRANCH_UNKNOWN, /* the bytes cannot be read, or are not a branch: an exception */
	BRANCH_COND,
	BRANCH_JUMP,
	BRANCH_JUMP_INDIRECT,
	BRANCH_CALL,
	BRANCH_CALL_INDIRECT,
	BRANCH_RETURN,
	BRANCH_SYSCALL,
	BRANCH_SYSTEM_RETURN, /* IRET, SYSRET, SYSEXIT */
	BRANCH_FAR,	      /* another far transfer, or an interrupt by instruction */
	BRANCHES
};

/* Returns the kind of the instruction at the address and its length (0: not known). */
enum code_branch code_branch_at(struct code *code, uint64_t address, unsigned *length);

/* Reads up to `bytes` bytes of instructions.  Returns how many there are. */
size_t code_read(struct code *code, uint64_t address, void *to, size_t bytes);

/* The same at an address of a file. */
size_t code_read_file(struct code *code, const char *path, uint64_t address, void *to,
		      size_t bytes);

/* Returns the unwind table of the file at the address, or NULL.  Sets *file_address. */
struct call_frames *code_frames_at(struct code *code, uint64_t address, uint64_t *file_address);

/* Returns the path of the file at the address, or "[unknown]".  Sets *file_address to the address
 * in that file or, without a file, to the address itself. */
const char *code_object_at(struct code *code, uint64_t address, uint64_t *file_address);

#endif
