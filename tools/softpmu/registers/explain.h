/* SPDX-License-Identifier: MIT */
/* explain.h: registers and CPUID leaves as the manual draws them. */
#ifndef SOFTPMU_TOOL_EXPLAIN_H
#define SOFTPMU_TOOL_EXPLAIN_H

#include <softpmu/unit.h>

#include "tools/softpmu/registers/draw.h"

struct explain {
	const struct spmu_model *model;
	struct spmu_model_info info;
	unsigned threads; /* logical processors of the core: 1 or 2 */
	struct draw_style style;
	struct spmu_core *core; /* of the model, after power-up; writes are tried on it */
};

/* Reads a number as C or the manual writes it: 5439680, 0x5300c0, 5300C0H. */
bool explain_number(const char *text, uint64_t *value);

/* Lists the registers of the model.  Returns the exit status. */
int explain_list(const struct explain *explain);

/* Draws NAME[=VALUE], without a value as it is after reset.  Returns the exit status. */
int explain_register(const struct explain *explain, const char *text);

/* Draws leaf `which` ("0AH", "1"; NULL: all that the unit fills).  Returns the exit status. */
int explain_cpuid(const struct explain *explain, const char *which);

/* Say what a Pentium's CESR, or an ESCR or CCCR of NetBurst, makes its counters count. */
void explain_legacy_cesr(const struct explain *explain, uint64_t value);
void explain_legacy_escr(const struct explain *explain, const char *name, uint64_t value);
void explain_legacy_cccr(const struct explain *explain, uint32_t msr, uint64_t value);

#endif
