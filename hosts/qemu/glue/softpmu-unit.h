/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.h: a virtual processor's unit, between softpmu.c, which counts, softpmu-access.c,
 * through which the guest reaches its registers, and softpmu-unit.c, which makes it and answers its
 * callbacks.
 */
#ifndef SOFTPMU_UNIT_H_QEMU
#define SOFTPMU_UNIT_H_QEMU

#include <softpmu/softpmu.h>

struct softpmu {
	struct spmu_meters meters;
	struct spmu_core *core;
	unsigned lp;		 /* the thread of the core that this processor is */
	struct softpmu *sibling; /* the other thread of the core; NULL: none */
	X86CPU *cpu;
	bool timed;	      /* some meter counts reference clocks */
	uint64_t tsc;	      /* until when reference clocks are accounted for */
	uint32_t state_bytes; /* of a snapshot */
	uint8_t *state;
};

static inline unsigned cpl_of(const CPUX86State *env)
{
	return env->hflags & HF_CPL_MASK;
}

/* Whether a block with these flags has been charged for at its start. */
static inline bool charged(uint32_t flags)
{
	return (flags & HF_SOFTPMU_COUNT) && !(flags & HF_SOFTPMU_EXACT);
}

/* The time-stamp counter as the guest has it. */
uint64_t softpmu_tsc(CPUX86State *env);

/* Hand the unit what passed since the last time, and let run what may run now. */
void softpmu_sync(struct softpmu *unit);
void softpmu_grant(struct softpmu *unit);

/* How many instructions may still retire in a ring; what is set stays until the next grant. */
int64_t softpmu_room(CPUX86State *env, unsigned ring);
void softpmu_set_room(CPUX86State *env, unsigned ring, int64_t room);

/* The instruction that the registers name is going to be executed exactly. */
void softpmu_set_pending(CPUX86State *env);

#endif
