/* SPDX-License-Identifier: MIT */
/*
 * code.h: what stands at the addresses of processes while they run: which function, and what kind
 * of branch.  Answers cost a search; whoever asks often keeps them.
 */
#ifndef SOFTPMU_TOOL_CODE_H
#define SOFTPMU_TOOL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hosts/user/link.h>

struct symbol;
struct code; /* mappings of processes, and the files behind them */

struct code *code_new(void);
void code_free(struct code *code);

/* The process whose addresses are asked about from now on. */
void code_enter(struct code *code, uint32_t pid);

/* A process has begun with its parent's mappings, executes another program, has ended. */
void code_fork(struct code *code, uint32_t pid, uint32_t parent);
void code_exec(struct code *code, uint32_t pid);
void code_exit(struct code *code, uint32_t pid);

/* A mapping was made in the process that it names.  True when it took the place of an older one, so
 * that what was said of addresses there does not hold any more. */
bool code_map(struct code *code, const struct link_mmap *map);

struct code_function {
	const char *name;	     /* as the compiler wrote it; NULL: not known */
	const struct symbol *symbol; /* the same with its other names */
	const char *object;	     /* path of the file, "[unknown]" */
	uint64_t calls, branches;    /* for the caller's use */
};

/*
 * The function at the address, a number below code_functions().  Addresses without a known function
 * share one for each file.  *offset: from its beginning, or in the file when it has no name.
 */
uint32_t code_function_at(struct code *code, uint64_t address, uint64_t *offset);
uint32_t code_functions(const struct code *code);
struct code_function *code_function(struct code *code, uint32_t number);

/* Kinds of branches, as an instruction's bytes tell. */
enum code_branch {
	BRANCH_UNKNOWN, /* the bytes cannot be had, or are no branch: an exception */
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

/* The kind of the instruction there and its length (0: not known). */
enum code_branch code_branch_at(struct code *code, uint64_t address, unsigned *length);

#endif
