/* SPDX-License-Identifier: MIT */
/*
 * fields.h: positions and masks of the fields of data/registers.
 *
 * FIELD(REGISTER, NAME) is the mask of a field. FIELD_LOW(REGISTER, NAME) is its lowest bit.
 */
#ifndef SPMU_DATA_FIELDS_H
#define SPMU_DATA_FIELDS_H

#include <softpmu/registers.h>

#include "data/registers/fields.inc"

#define BITS(low, width) ((UINT64_MAX >> (64 - (width))) << (low))

/* NAME_low and NAME_width of each field of each list. */
#define FIELD_ENUM_F(T, name, low, width, access, meaning, section)                                \
	T##_##name##_low = (low), T##_##name##_width = (width),
#define FIELD_ENUM_P(T, name, low, counter, access, meaning, section)                              \
	T##_##name##_low = (low), T##_##name##_width = 1,
#define FIELD_ENUM_R(T, low, width)
#define FIELD_ENUM(T) FIELDS_##T(FIELD_ENUM_F, FIELD_ENUM_P, FIELD_ENUM_R, T)
enum field_position { FIELD_LISTS(FIELD_ENUM) FIELD_POSITION_END };

#define FIELD_LOW(reg, name) (reg##_##name##_low)
#define FIELD(reg, name)     BITS(reg##_##name##_low, reg##_##name##_width)

/* A list as code uses it, with the masks that follow from it. */
struct field_list {
	const struct spmu_field *field;
	size_t count;
	uint64_t reserved;    /* writing 1 raises #GP */
	uint64_t writable;    /* software reads what it wrote */
	uint64_t named;	      /* not reserved */
	uint64_t per_counter; /* bit n belongs to general counter n */
};

#define FIELD_DECLARE(T) extern const struct field_list field_list_##T;
FIELD_LISTS(FIELD_DECLARE)

#endif
