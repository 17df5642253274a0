/* SPDX-License-Identifier: MIT */
/*
 * softpmu-unit.h: a virtual processor's unit, between softpmu.c, which counts, and
 * softpmu-unit.c, which makes it and answers its callbacks.
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

/* The time-stamp counter as the guest has it. */
uint64_t softpmu_tsc(CPUX86State *env);

/* Hand the unit what passed since the last time, and let run what may run now. */
void softpmu_sync(struct softpmu *unit);
void softpmu_grant(struct softpmu *unit);

#endif
