/* SPDX-License-Identifier: MIT */
/*
 * path.h: a stretch of program code that is translated as one block: the instructions in the
 * order in which they run when every branch but the last goes the way that was followed.
 */
#ifndef SOFTPMU_ENGINE_PATH_H
#define SOFTPMU_ENGINE_PATH_H

#include "engine.h"

#define COND_SIGNALS (SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN))

struct path {
	struct insn insn[BLOCK_INSNS_MAX];
	uint64_t pc[BLOCK_INSNS_MAX + 1]; /* pc[n]: behind the last, not where a branch goes */
	unsigned n;
};

/* Decode one instruction that ends before `end`; false when it does not. */
bool path_decode(uint64_t pc, uint64_t end, struct insn *insn);

/* Lets a new process decode its first instructions without the decoder's memo.  The kernel copies
 * each page of the memo that the process writes to, and many processes end after a few blocks. */
void path_begin_process(void);

/* The path of a plain block: up to the first control transfer, at most `limit` instructions.
 * `locked`: the caller has the lock. */
void path_of_block(struct path *p, uint64_t pc, uint64_t end, unsigned limit, bool locked);

/* The path that a thread has taken, from pcs[0], as far as one block may go. */
bool path_of_record(struct path *p, const uint64_t *pcs, unsigned n);

/* That of a block (maps.c). */
void block_path(struct path *p, const struct block *block);

/* Must the engine look at this instruction each time it runs? */
bool path_needs_engine(const struct insn *insn);

bool is_conditional(const struct insn *insn);
bool is_indirect(const struct insn *insn);

/* An instruction that is not run as it is: the engine refuses it or acts for it. */
bool is_special(const struct insn *insn);

/* Which way branch i of the path, not its last, was followed. */
bool path_taken(const struct path *p, unsigned i);

/* Where the path is left when branch i does not go the way that was followed. */
uint64_t path_side(const struct path *p, unsigned i);

/* What instruction i produces on meter m; of the last instruction without the outcome of a
 * conditional branch, unless the meter does not care which it is. */
unsigned path_occurrences(const struct path *p, unsigned i, unsigned m);

/*
 * Does the program certainly go on at a higher address behind the path, inside the same UPWARD_SPAN
 * aligned bytes?  So there are at most that many instructions until a path that does not.
 */
#define UPWARD_SPAN (1u << 20)
bool path_goes_upward(const struct path *p);

/* How many instructions may run before the path is charged. */
unsigned path_charge_limit(const struct path *p);

/*
 * The first point, at most `limit` instructions in, at which the arithmetic flags are certainly
 * overwritten before anything reads them; -1: there is none.
 */
int path_dead_flags(const struct path *p, unsigned limit);

/* Are the flags certainly overwritten before anything at pc reads them?  For the block that is
 * being translated; another one begins with flags_forget(). */
bool flags_dead_at(uint64_t pc);
void flags_forget(void);

/* lanes.c */
/*
 * Is meter m checked only by blocks that may go on elsewhere than upward?  Others charge it all the
 * same: what they use up shows at the next check.
 */
bool meter_is_distant(unsigned m);
/* May there be such meters?  Are all of them? */
bool counting_is_distant(void);
bool counting_all_distant(void);

/* stable.c */
/* Where an indirect branch is expected to go each time, 0: nowhere in particular. */
uint64_t stable_target(const struct insn *insn, uint64_t pc);
/* Code at pc is an indirect jump that will have such a target once it has run: how many
 * instructions until then, 0: it is not. */
unsigned stable_soon(uint64_t pc);

#endif
