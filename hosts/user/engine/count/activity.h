/* SPDX-License-Identifier: MIT */
/*
 * activity.h: the log of activity, from which a model of the machine (softpmu/uarch.h) is told
 * what ran (activity.c).
 */
#ifndef SOFTPMU_ENGINE_ACTIVITY_H
#define SOFTPMU_ENGINE_ACTIVITY_H

#include <hosts/user/decode/decode.h>
#include <softpmu/signals.h>
#include <softpmu/uarch.h>
#include <stdbool.h>
#include <stdint.h>

/* What a list of meters wants to be logged. */
#define ACTIVITY_BRANCHES 1u
#define ACTIVITY_ACCESSES 2u  /* and instruction fetches */
#define ACTIVITY_CLOCKS	  4u  /* with both others */
#define ACTIVITY_METERS	  8u  /* a meter is counted by the model */
#define ACTIVITY_ACCOUNT  16u /* time accounts for its clocks, with ACTIVITY_CLOCKS */
#define ACTIVITY_FRONT	  32u /* and follows the front end, with ACTIVITY_ACCOUNT */

/* The signals that only the model counts, except clocks. */
#define ACTIVITY_SIGNALS                                                                           \
	(SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS) | SPMU_SIGBIT(BRANCH_MISS))

/* Some instructions that run one after the other, and the branch at their end. */
struct activity_code {
	uint64_t pc, target;	/* target: of a direct branch */
	uint16_t bytes;		/* of the program */
	uint16_t branch_at;	/* distance of the branch from pc */
	uint8_t branch;		/* enum spmu_uarch_branch_kind; ACTIVITY_NO_BRANCH */
	struct insn_cost *last; /* of the branch (costs.h); NULL: not wanted */
};

/*
 * What a block logs.  Where the block begins, its code stores the block's number.  A word for each
 * access whose address is not constant follows.
 */
struct activity_block {
	struct activity_code code;
	struct spmu_uarch_block run;	      /* its words begin with the block's number */
	const struct spmu_timed_block *timed; /* NULL: no list wants clocks */
	struct insn_cost **costs;	      /* of each instruction (costs.h); NULL: not wanted */
	uint8_t insns;
	uint8_t words;			      /* including the block's number */
	uint8_t log_register, other_register; /* that its code spills */
	struct spmu_uarch_block_access access[];
};
#define ACTIVITY_NO_BRANCH 0xff

/* The tally LOAD_LATENCY has loads that take so many core clocks from now on. */
void activity_set_load_threshold(uint32_t clocks);

/* Returns the kind of a branch, or ACTIVITY_NO_BRANCH. */
uint8_t activity_branch_kind(const struct insn *insn);

/* Returns the SPMU_UARCH_ bits of an access. */
uint8_t activity_kind(const struct insn_access *access);

/* Returns memory for the description of a block, and what belongs to it.  The lock is held. */
void *activity_allocate(size_t bytes);
/* Returns the number that the block's code stores.  It is negative, so no address is equal. */
int32_t activity_number(const struct activity_block *block);

/* Returns the first tally of the set from `tally` on, or SPMU_TALLIES.  A set has few of them. */
static inline unsigned activity_next_tally(const struct spmu_tally_set *set, unsigned tally)
{
	unsigned word = tally / 64;
	uint64_t left = set->word[word] >> tally % 64 << tally % 64;

	while (!left && ++word <= SPMU_TALLIES / 64)
		left = set->word[word];
	return left ? word * 64 + (unsigned)__builtin_ctzll(left) : SPMU_TALLIES;
}
#define ACTIVITY_EACH_TALLY(t, set)                                                                \
	for (unsigned t = activity_next_tally(set, 1); t < SPMU_TALLIES;                           \
	     t = activity_next_tally(set, t + 1))

/* Returns what a meter wants of the log; 0: code counts it. */
struct spmu_meter;
unsigned activity_wanted(const struct spmu_meter *meter);
/* Returns how often a meter counts what the model has counted: signals and tallies by number. */
uint64_t activity_occurrences(const struct spmu_meter *meter, const uint64_t *signals,
			      const uint64_t *tallies);
/* Adds the tallies that a meter counts to a set. */
void activity_tallies(const struct spmu_meter *meter, struct spmu_tally_set *set);
/* Returns what the log of these taken branches wants: whether they were predicted. */
unsigned activity_of_branches(uint64_t signals);
/* Returns what records want that say where an access found its data. */
unsigned activity_of_records(void);
/* The thread's list begins to want activity, or wants something else: a list with `meters` meters
 * that wants `what`. */
void activity_prepare(unsigned what, unsigned meters);
/* The units have been reset: what is in the log does not count. */
void activity_begin_again(void);
/* Gives the log to the model, and what the model counts to the meters. */
void activity_take(void);
/* From now on the model is told only of a part of what runs. */
void activity_skips(void);
/* Tells the model where execution continues after what it knows. */
void activity_reach(uint64_t pc);

/* Returns whether translated code faulted at this address because the log is full.  Then *place,
 * the register with the place in the log, gets its new value. */
bool activity_full_at(uint64_t address, uint64_t *place);

/* Returns the block that is running: its code has begun to log. */
const struct activity_block *activity_running(void);
/* Its first `insns` instructions have retired; the others do not run now. */
void activity_leave(unsigned insns);

/* Returns whether a taken branch, which the log of branches has, was mispredicted.  The caller asks
 * for the newest first and keeps *newest, 0 at first, for the next one. */
bool activity_missed(uint64_t from, uint64_t to, unsigned *newest);

/* Returns how many instructions of bulk code cannot have more occurrences of a meter that the model
 * counts than its headroom. */
int64_t activity_window(const struct spmu_meter *meter);

/* What the model has counted for one instruction. */
struct activity_outcome {
	uint64_t signals;
	uint32_t times[SPMU_SIGNALS]; /* how often each of them */
	const struct spmu_tally *tally;
	uint16_t tallies;
	uint32_t latency;		   /* as in struct spmu_insn */
	uint8_t data_source, store_source; /* the same */
};

/* Precise steps.  An instruction is about to run. */
void activity_before_step(const struct insn *insn, uint64_t pc);
/* It has retired, and execution continues at `next`.  *outcome is 0 at first. */
void activity_retire(uint64_t ip, uint64_t next, struct activity_outcome *outcome);
/* It has been left before its end: the elements of a string instruction that are done count. */
void activity_leave_step(void);

#endif
