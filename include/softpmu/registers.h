/* SPDX-License-Identifier: MIT */
/*
 * registers.h: every register of a model as a list of fields, for dumps, for
 * `softpmu explain`, for the reference pages and for tests.
 *
 * The fields of a register begin at bit 0 and cover all 64 bits, without gaps and overlaps.
 * Reserved bits are fields, too.
 *
 * Example: examples/registers.c.
 */
#ifndef SOFTPMU_REGISTERS_H
#define SOFTPMU_REGISTERS_H

#include <softpmu/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum spmu_access {
	SPMU_RW,       /* software reads what it wrote */
	SPMU_RO,       /* a write that would change it raises #GP or is ignored, by register */
	SPMU_W1C,      /* writing 1 clears a status in another register; reads as 0 */
	SPMU_W1S,      /* writing 1 sets a status in another register; reads as 0 */
	SPMU_RESERVED, /* must be written as 0; writing 1 raises #GP */
	SPMU_IGNORED,  /* does not belong to the unit, which keeps it for the host */
};

struct spmu_field {
	const char *name; /* "CMASK"; NULL when reserved */
	uint8_t low;	  /* lowest bit */
	uint8_t width;	  /* bits */
	enum spmu_access access;
	const char *meaning; /* one line */
	const char *section; /* the manual's */
};

struct spmu_register {
	const char *name; /* "IA32_PERFEVTSEL0" */
	uint32_t msr;
	uint64_t reset;
	const struct spmu_field *fields;
	size_t field_count;
	const char *section;
};

/*
 * Fills in *out with register number `index` of the model, in order of address.  Returns false if
 * the index is past the last register.
 */
SPMU_API bool spmu_register_at(const struct spmu_model *model, size_t index,
			       struct spmu_register *out);

#ifdef __cplusplus
}
#endif

#endif
