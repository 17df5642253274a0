/* SPDX-License-Identifier: MIT */
/*
 * costs.h: what each instruction costs on a model of the machine, and the calls, returns and jumps
 * to functions between which it costs that (LINK_WANT_COSTS).
 */
#ifndef SOFTPMU_ENGINE_COSTS_H
#define SOFTPMU_ENGINE_COSTS_H

#include <hosts/user/decode/decode.h>
#include <softpmu/uarch.h>
#include <stdbool.h>
#include <stdint.h>

struct activity;
struct activity_block;
struct activity_code;
struct insn_cost;

/* Returns whether the tool asks for costs. */
bool costs_wanted(void);
/* Returns what costs want of the log of activity in this thread now. */
unsigned costs_activity(void);
/* Makes what a thread needs; NULL: costs are not wanted. */
struct costs *costs_new(void);
/* The units have been reset.  A new process has cost nothing yet. */
void costs_begin_again(struct activity *a);

/* Returns the costs of an instruction; NULL: they are not wanted. */
struct insn_cost *costs_find(uint64_t pc, const struct insn *insn);
/* Sets the costs of a block's instructions, which are at these addresses. */
void costs_describe(struct activity_block *b, const uint64_t *pc, const struct insn *insn);

/* Tell the model what ran, and note what it cost.  Only if costs are wanted, and not those of
 * events. */
void costs_block(struct activity *a, const struct activity_block *b, const uint64_t *word,
		 unsigned insns);
void costs_fetch(struct activity *a, struct insn_cost *insn);
void costs_access(struct activity *a, struct insn_cost *insn, uint64_t address, uint32_t bytes,
		  unsigned kind);
/* A branch has gone somewhere, and the model knows it. */
void costs_branch(struct activity *a, const struct activity_code *code,
		  const struct spmu_executed_branch *branch, bool missed);
/* A direct jump, of which the model is not told. */
void costs_jump(struct activity *a, const struct activity_code *code, uint64_t to);

/* Counts, or stops counting, what is logged from now on.  The model sees all the same.  The log is
 * empty. */
void costs_switch(bool on);
/* Empties the caches. */
void costs_clear_caches(void);
/* What the process has cost up to here is for a file of its own; `zero`: for none.  The log is
 * empty. */
void costs_dump(bool zero);
/* Writes records of everything since the last time.  The log is empty. */
void costs_publish(void);

#endif
