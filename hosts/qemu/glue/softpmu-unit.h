/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.h: the unit of a virtual processor, as the files of the glue share it.
 *
 *	softpmu.c		counts
 *	softpmu-access.c	serves the guest's register accesses
 *	softpmu-unit.c		creates the unit and answers its callbacks
 *	softpmu-list.c		lists accesses
 *	softpmu-machine.c	feeds a model of the machine
 */
#ifndef SOFTPMU_UNIT_H_QEMU
#define SOFTPMU_UNIT_H_QEMU

#include <softpmu/softpmu.h>

#define SOFTPMU_LOG_MAX	     4096 /* branches in a log */
#define SOFTPMU_HEADROOM_MAX (INT64_C(1) << 40)

/* An absent event that software enabled, and how often. */
struct softpmu_absent {
	char *what; /* NULL: an unused entry */
	uint64_t times;
};

struct softpmu_feed;

struct softpmu {
	struct spmu_meters meters;
	struct softpmu_feed *feed; /* of the model of the machine; NULL: there is none */
	const struct spmu_model *model;
	struct spmu_core *core;
	unsigned lp;		 /* the thread of the core that this processor is */
	struct softpmu *sibling; /* the other thread of the core; NULL: none */
	X86CPU *cpu;
	bool timed;		 /* a meter counts reference clocks */
	bool tallied;		 /* a meter counts tallies that only exact blocks know */
	bool modelled;		 /* a meter counts what the model of the machine counts */
	int32_t log_headroom[2]; /* headroom of each ring when the log was last emptied */
	uint64_t single;	 /* how many instructions were retired one by one */
	uint64_t absent;	 /* counters that are enabled for an absent event */
	struct softpmu_absent absent_events[32];
	uint64_t tsc;	      /* reference clocks are reported up to this time */
	uint32_t state_bytes; /* of a snapshot */
	uint8_t *state;
};

static inline unsigned cpl_of(const CPUX86State *env)
{
	return env->hflags & HF_CPL_MASK;
}

static inline uint64_t linear_ip(const CPUX86State *env)
{
	uint64_t ip = env->segs[R_CS].base + env->eip;

	return env->hflags & HF_CS64_MASK ? env->eip : (uint32_t)ip;
}

/* Returns the guest's time-stamp counter. */
uint64_t softpmu_tsc(CPUX86State *env);

/*
 * Chooses the model of a processor's unit, and gives the processor that model's identity.  Returns
 * NULL if there is none: *errp says why, or, for -cpu max without pmu-model=, is not set.
 */
const struct spmu_model *softpmu_choose_model(X86CPU *cpu, Error **errp);

/* Notes the absent events that software has enabled by the register write just made. */
void softpmu_note_absent(struct softpmu *unit);

/* Reports to the unit what has passed since the last call. */
void softpmu_sync(struct softpmu *unit);

/* Takes headroom from the unit's meters, and chooses what blocks do from now on. */
void softpmu_grant(struct softpmu *unit);

/* Reports to the unit the logged branches, and the core clocks since the last of them. */
void softpmu_hand_over(struct softpmu *unit);

/*
 * Returns how many instructions of each ring may certainly retire. After that the log can be full,
 * or a branch can reach the threshold of the BTS buffer. An exact block retires that branch.
 */
int64_t softpmu_log_headroom(const struct spmu_branch_tap *tap);

/* The headroom of a ring: how many instructions may still retire.  A value set is valid until the
 * next softpmu_grant(). */
int64_t softpmu_headroom(CPUX86State *env, unsigned ring);
void softpmu_set_headroom(CPUX86State *env, unsigned ring, int64_t headroom);

/* Returns a field of a word that counts loads, stores and locked loads. */
static inline uint64_t softpmu_field(uint64_t memory, uint64_t one)
{
	return memory / one & ((1u << SOFTPMU_FIELD_BITS) - 1);
}

/*
 * softpmu-list.c.  softpmu_accesses() copies the accesses of the pending instruction to a list and
 * returns their number.  softpmu_count_splits() counts the tallies that follow from them.
 */
uint16_t softpmu_accesses(const struct softpmu_env *pmu,
			  struct spmu_memory_access list[SOFTPMU_ACCESSES_MAX]);
void softpmu_count_splits(const struct spmu_insn *insn, struct spmu_tally tallies[2]);

/* Makes blocks exact. */
void softpmu_run_exact(struct softpmu_env *pmu);

/*
 * softpmu-machine.c.  softpmu_machine_known() makes the model of the machine that has this unit, if
 * the library knows one.  softpmu_machine_join() gives a processor its part of the model.
 * softpmu_machine_supply() adds what the model counts.  softpmu_machine_forget() empties the model.
 * softpmu_machine_name() returns the machine's name, or NULL if the unit has no model.
 */
bool softpmu_machine_known(const struct spmu_model *model, Error **errp);
bool softpmu_machine_join(struct softpmu *unit, Error **errp);
void softpmu_machine_supply(struct spmu_supply *supply, const struct spmu_model *model);
void softpmu_machine_forget(void);
const char *softpmu_machine_name(const struct softpmu *unit);

/* Returns whether the model counts something for a meter, and how many instructions may then run
 * before the meter's headroom is used up. */
bool softpmu_machine_counts(const struct softpmu *unit, const struct spmu_meter *meter);
int64_t softpmu_machine_headroom(const struct spmu_meter *meter);

/* Software may have written a register that the model's counts depend on. */
void softpmu_machine_update(struct softpmu *unit);

/* Charges what the model has counted to the meters. */
void softpmu_machine_charge(struct softpmu *unit);

/* Adds what the model has counted for the pending instruction, and nothing before it. */
void softpmu_machine_retire(struct softpmu *unit, struct spmu_insn *insn,
			    struct spmu_tally tallies[SPMU_TALLIES]);

/* Notes that the instruction at EIP is about to run in an exact block. */
void softpmu_set_pending(CPUX86State *env);

#endif
