/* SPDX-License-Identifier: MIT */
/* explain.h: what `softpmu explain` of registers and of CPUID leaves share. */
#ifndef SOFTPMU_TOOL_EXPLAIN_H
#define SOFTPMU_TOOL_EXPLAIN_H

#include <softpmu/unit.h>

#include "tools/softpmu/draw.h"

struct explain {
	const struct spmu_model *model;
	struct spmu_model_info info;
	unsigned threads; /* logical processors of the core: 1 or 2 */
	struct draw_style style;
	struct spmu_core *core; /* of the model, after power-up */
};

/* A number as C or the manual writes it: 5439680, 0x5300c0, 5300C0H. */
bool explain_number(const char *text, uint64_t *value);

/* Draw leaf `which` ("0AH", "1"), or all that the unit fills when it is NULL.  Exit status. */
int explain_cpuid(const struct explain *explain, const char *which);

/* What a Pentium's CESR, and NetBurst's ESCRs and CCCRs, make their counters count. */
void explain_cesr(const struct explain *explain, uint64_t value);
void explain_escr(const struct explain *explain, const char *name, uint64_t value);
void explain_cccr(const struct explain *explain, uint32_t msr, uint64_t value);

#endif
