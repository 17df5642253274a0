/* SPDX-License-Identifier: MIT */
/*
 * registers.c: makes tables of the field lists and address maps of data/registers, proves that the
 * lists are complete, and implements registers.h.
 */
#include "src/pmu/core.h"
#include "src/pmu/msr.h"

/*
 * For each list the widths add up to 64 and the masks cover all bits. So no bit is missing, and
 * none is there twice.
 */
#define WIDTH_F(T, name, low, width, access, meaning, section)	 +(width)
#define WIDTH_P(T, name, low, counter, access, meaning, section) +1
#define WIDTH_R(T, low, width)					 +(width)
#define COVER_F(T, name, low, width, access, meaning, section)	 | BITS(low, width)
#define COVER_P(T, name, low, counter, access, meaning, section) | BITS(low, 1)
#define COVER_R(T, low, width)					 | BITS(low, width)
#define PROVE(T)                                                                                   \
	_Static_assert(FIELDS_##T(WIDTH_F, WIDTH_P, WIDTH_R, T) == 64, #T ": widths");             \
	_Static_assert((UINT64_C(0) FIELDS_##T(COVER_F, COVER_P, COVER_R, T)) == UINT64_MAX,       \
		       #T ": bits");
FIELD_LISTS(PROVE)

#define ROW_F(T, name, low, width, access, meaning, section)                                       \
	{#name, low, width, access, meaning, section},
#define ROW_P(T, name, low, counter, access, meaning, section)                                     \
	{#name, low, 1, access, meaning, section},
#define ROW_R(T, low, width) {NULL, low, width, SPMU_RESERVED, "reserved", NULL},
#define NONE_F(T, name, low, width, access, meaning, section)
#define NONE_P(T, name, low, counter, access, meaning, section)
#define NONE_R(T, low, width)
#define WRITABLE_F(T, name, low, width, access, meaning, section)                                  \
	| ((access) == SPMU_RW || (access) == SPMU_IGNORED ? BITS(low, width) : 0)
#define WRITABLE_P(T, name, low, counter, access, meaning, section)                                \
	| ((access) == SPMU_RW ? BITS(low, 1) : 0)
#define COUNTER_P(T, name, low, counter, access, meaning, section) | BITS(low, 1)
/* The bit of general counter n is bit n, so a shift can cut off those of absent counters. */
#define PLACE_P(T, name, low, counter, access, meaning, section)                                   \
	_Static_assert((low) == (counter), #T "." #name);

#define TABLE(T)                                                                                   \
	static const struct spmu_field rows_##T[] = {FIELDS_##T(ROW_F, ROW_P, ROW_R, T)};          \
	FIELDS_##T(NONE_F, PLACE_P, NONE_R, T) const struct field_list field_list_##T = {          \
		.field = rows_##T,                                                                 \
		.count = sizeof(rows_##T) / sizeof(rows_##T[0]),                                   \
		.reserved = UINT64_C(0) FIELDS_##T(NONE_F, NONE_P, COVER_R, T),                    \
		.writable = UINT64_C(0) FIELDS_##T(WRITABLE_F, WRITABLE_P, NONE_R, T),             \
		.named = UINT64_C(0) FIELDS_##T(COVER_F, COVER_P, NONE_R, T),                      \
		.per_counter = UINT64_C(0) FIELDS_##T(NONE_F, COUNTER_P, NONE_R, T),               \
	};
FIELD_LISTS(TABLE)

const struct msr *model_msr(const struct spmu_model *model, uint32_t address)
{
	const struct msr *msr = model->msrs->msr;
	size_t low = 0, high = model->msrs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (msr[middle].address == address)
			return &msr[middle];
		if (msr[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

bool spmu_register_at(const struct spmu_model *model, size_t index, struct spmu_register *out)
{
	const struct msr *msr;

	if (!model || !out || index >= model->msrs->count)
		return false;
	msr = &model->msrs->msr[index];
	out->name = msr->name;
	out->msr = msr->address;
	out->reset =
		msr->role == ROLE_PERF_CAPABILITIES ? model->counters->capabilities : msr->reset;
	out->fields = msr->list->field;
	out->field_count = msr->list->count;
	out->section = msr->section;
	return true;
}
