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

/*
 * The units of the threads of a core, cpu[0] to cpu[threads - 1]; returns that of the first.
 */
struct softpmu *softpmu_unit_new(X86CPU *cpu[], unsigned threads, const struct spmu_model *model,
				 uint64_t exact, uint64_t modelled);

/* The model that is nearest to a CPUID signature, which becomes the model's; NULL: none. */
const struct spmu_model *softpmu_model_of(uint32_t *signature);

#endif
