/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.h: a virtual processor's unit, between softpmu.c, which counts, softpmu-access.c,
 * through which the guest reaches its registers, and softpmu-unit.c, which makes it and answers its
 * callbacks.
 */
#ifndef SOFTPMU_UNIT_H_QEMU
#define SOFTPMU_UNIT_H_QEMU

#include <softpmu/softpmu.h>

#define SOFTPMU_LOG_MAX	 4096 /* branches in a log */
#define SOFTPMU_ROOM_MAX (INT64_C(1) << 40)

/* What software enabled, and how often, though nothing supplies it. */
struct softpmu_absent {
	char *what; /* NULL: an unused entry */
	uint64_t times;
};

struct softpmu {
	struct spmu_meters meters;
	const struct spmu_model *model;
	struct spmu_core *core;
	unsigned lp;		 /* the thread of the core that this processor is */
	struct softpmu *sibling; /* the other thread of the core; NULL: none */
	X86CPU *cpu;
	bool timed;	     /* some meter counts reference clocks */
	int32_t log_room[2]; /* of each ring, when the log was last emptied */
	uint64_t single;     /* instructions that were retired one by one */
	uint64_t absent;     /* counters that are enabled for an absent event */
	struct softpmu_absent absent_events[32];
	uint64_t tsc;	      /* until when reference clocks are accounted for */
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

/* The time-stamp counter as the guest has it. */
uint64_t softpmu_tsc(CPUX86State *env);

/*
 * The model of the unit that a processor gets, which it is then made to look like; NULL: none, and
 * *errp says why, or -cpu max has none by itself.
 */
const struct spmu_model *softpmu_choose_model(X86CPU *cpu, Error **errp);

/* After software wrote a register: note the absent events that it has enabled by that. */
void softpmu_note_absent(struct softpmu *unit);

/* Hand the unit what passed since the last time, and let run what may run now. */
void softpmu_sync(struct softpmu *unit);
void softpmu_grant(struct softpmu *unit);

/* Hand the unit the logged branches, and the core clocks since the last of them. */
void softpmu_hand_over(struct softpmu *unit);

/*
 * How many instructions of either ring may retire before the log can be full, or before the branch
 * that reaches the threshold of the BTS buffer can come.  That one is retired exactly.
 */
int64_t softpmu_log_room(const struct spmu_branch_tap *tap);

/* How many instructions may still retire in a ring; what is set stays until the next grant. */
int64_t softpmu_room(CPUX86State *env, unsigned ring);
void softpmu_set_room(CPUX86State *env, unsigned ring, int64_t room);

/* The instruction that the registers name is going to be executed exactly. */
void softpmu_set_pending(CPUX86State *env);

#endif
