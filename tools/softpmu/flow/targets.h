/* SPDX-License-Identifier: MIT */
/* targets.h: the functions at the addresses of a process that calls and jumps went to. */
#ifndef SOFTPMU_TOOL_TARGETS_H
#define SOFTPMU_TOOL_TARGETS_H

#include "tools/softpmu/exact/exact.h"
#include "tools/softpmu/symbols/code.h"

struct target {
	uint64_t address;      /* 0: a free place */
	struct exact_place at; /* the start of its function; if that is not known, the address */
	bool known;	       /* the name of its function */
	bool is_start;	       /* of a function */
	bool is_stub;	       /* a part of a procedure linkage table */
	bool is_resolver;      /* the dynamic linker's code that finds a function and jumps to it */
	bool is_part;	       /* of a function that the compiler divided */
};

struct targets;

struct targets *targets_new(struct code *code, struct exact *exact);
void targets_free(struct targets *targets);
/* Forgets all, because code was replaced. */
void targets_clear(struct targets *targets);

/* Returns what is known of the address, which is not 0.  Valid until the next call. */
const struct target *targets_find(struct targets *targets, uint64_t address);

/* Returns the place of an instruction. */
struct exact_place targets_place(struct targets *targets, uint64_t address);

#endif
