/* SPDX-License-Identifier: MIT */
/* translate.h: what is asked of the translator: blocks, traces, steps, what is known of them. */
#ifndef SOFTPMU_ENGINE_TRANSLATE_H
#define SOFTPMU_ENGINE_TRANSLATE_H

#include "engine/cache/cache.h"

/* translate.c */
#define PLAIN_INSNS_MAX	       48
#define LOW_HEADROOM_INSNS_MAX 4
#define RUN_BLOCKS_MAX	       8 /* blocks translated at a time */
/* Translates the block of this key, and some that most likely run after it.  Returns 0 if the
 * key cannot be executed. */
uint64_t translate_block(uint64_t key);
/* Makes indirect branches, or returns, find the code of this key, if it can be executed. */
void translate_target(uint64_t key, bool of_return);
/* Translates `key` in place of the jump at the end of the newest block, whose rel32 this is.
 * Returns its code, or 0 if the jump is not there or the translation is impossible. */
uint64_t translate_in_place(uint64_t rel32, uint64_t key);
/* Links the jump of an exit stub: the code that it leads to, 0: none.  The lock is held. */
uint64_t translate_link(uint32_t number, struct exit_stub stub);
/* Makes a trace along the path that a thread has taken, in place of the block where it begins.
 * Returns false if there is none. */
bool translate_recorded(const uint64_t *pcs, unsigned n);

/* side_tables.c */
/* Notes in the side table of the newest block that it charges n of meter m, with the check at
 * `offset` in its code. */
void side_table_add_charge(unsigned m, unsigned n, unsigned offset);
/* Takes back the block's charge number `index`, for which there was no headroom, and those
 * before it. */
struct block_charge {
	unsigned meter, n;
	uint64_t check; /* address of its check */
} side_table_take_back(const struct block *block, unsigned index);
/* Returns the occurrences that instructions first to last-1 of a block produce on meter m,
 * without the outcome of a final conditional branch. */
unsigned side_table_occurrences(const struct block *block, unsigned first, unsigned last,
				unsigned m);
/* Returns what a SYSCALL produces on meter m. */
unsigned side_table_syscall_occurrences(unsigned m);
/* Returns the place where the block charges its meters. */
uint64_t side_table_check_code(const struct block *block);
/* Charges what ran before the block was left there. */
void side_table_leave_at_check(const struct block *block);
/* Returns the program address of instruction `index` of a block.  block->insns: the address
 * after it. */
uint64_t side_table_pc_of(const struct block *block, unsigned index);

/* hot.c: traces of code that runs often */
/* Called when bulk code has used up a sampling quantum at this block's check.  Returns how
 * many of the next instructions must run as precise steps, to record their path.  0: the block
 * continues. */
unsigned hot_sample(const struct block *block);
/* While current->run.recording is set: notes the instruction that is about to run, and the end
 * of the path. */
void hot_note(uint64_t pc);
void hot_end(void);
/* Forgets everything in a new process. */
void hot_forget(void);
/* Ends a recording that a vfork child began in the thread's context before it was killed. */
void hot_abandon(void);

/* step.c: precise steps: a few instructions in a form that returns to the engine. */
struct guarded_code;

struct step {
	uint64_t pc;
	uint32_t headroom;
	uint32_t code, code_end;
	uint8_t insns;
	uint8_t variant; /* of the code, whose list it was made for */
	/* Of the last instruction; the others are plain. */
	uint8_t kind, rep;
	bool special, uses_gs, addressed, address32;
	bool lasts;	    /* it is found again */
	bool guarded;	    /* its code has a guard in front (rseq.c) */
	uint32_t next_code; /* bulk code for `next`; 0: not known */
	uint64_t target;
	uint64_t next; /* where the program continued after it */
	struct {
		uint64_t signals;
		uint8_t bytes, code_bytes;
	} insn[];
};
/* Translates a step from pc on, as long as the headroom allows.  Returns NULL if pc cannot be
 * executed. */
struct step *step_translate(uint64_t pc);
void step_start(void);
/* Forgets the steps in this range. */
void step_leave(uint64_t start, uint64_t end);
/* Returns where the step that has just run stores the code for pc; NULL: it did not end there. */
uint32_t *step_code_after(uint64_t pc);
/* Returns a page of the thread that nothing may access.  Code may be written directly before it. */
#define STEP_GUARD_ROOM 64
uint8_t *step_guard(void);
/* The steps that the thread has made are not used any more. */
void step_forget_all(void);
/* What is in front of a guarded step's code. */
struct guarded_code step_guarded_code(const struct step *s);
/* Returns the running step, if the address is in it. */
struct step *step_of_code(uint64_t address);
/* Returns whether this is the beginning of a system call by INT 80H that the kernel is going to
 * restart. */
bool step_waits(uint64_t address);
/* Returns the instruction that contains the address.  *exact: it begins there. */
unsigned step_index(const struct step *s, uint64_t address, bool *exact);

#endif
