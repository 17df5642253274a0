/* SPDX-License-Identifier: MIT */
/*
 * layouts.c: makes layouts from the lists of data/ds, and proves at compile time that each byte of
 * a PEBS record belongs to exactly one field.
 */
#include "data/model.h"

#define COUNT(array)		 (sizeof(array) / sizeof((array)[0]))
#define FIELD_ROW(offset, name)	 {offset, offsetof(struct spmu_pebs_record, name)},
#define SAME_PLACE(offset, name) &&(offset) == offsetof(struct spmu_pebs_record, name)

/*
 * A list of fields `word` bytes wide, from offset `first` to `end`. Each offset is a multiple of
 * the width, there are as many fields as fit, and no two have the same offset.
 */
#define ONE(offset, name)   +1
#define LOW(offset, name)   | (offset)
#define PLACE(offset, name) | UINT64_C(1) << (offset) / 4
#define PLACES_4(n)	    ((UINT64_C(1) << (n)) - 1)
#define PLACES_8(n)	    (((UINT64_C(1) << 2 * (n)) - 1) / 3)
#define FIELDS(LIST, first, word, end)                                                             \
	_Static_assert((first) + (word) * (0 LIST(ONE)) == (end), #LIST ": number");               \
	_Static_assert(((0 LIST(LOW)) & ((word)-1)) == 0, #LIST ": alignment");                    \
	_Static_assert((UINT64_C(0) LIST(PLACE)) == PLACES_##word(0 LIST(ONE)) << (first) / 4,     \
		       #LIST ": places");                                                          \
	static const struct pebs_field fields_##LIST[] = {LIST(FIELD_ROW)};

#define GROUP(LIST, selected_by, end)                                                              \
	{                                                                                          \
		.group = (selected_by), .bytes = (end), .field_count = COUNT(fields_##LIST),       \
		.field = fields_##LIST,                                                            \
	}

#define FORMAT(object, LIST, number, words, end)                                                   \
	FIELDS(LIST, 0, words, end)                                                                \
	static const struct pebs_group group_##LIST = GROUP(LIST, 0, end);                         \
	const struct spmu_pebs_layout object = {                                                   \
		.format = (number),                                                                \
		.word_bytes = (words),                                                             \
		.straight = (words) == 8 LIST(SAME_PLACE),                                         \
		.group_count = 1,                                                                  \
		.group = &group_##LIST,                                                            \
	};

FORMAT(pebs_format_0_32, PEBS_FORMAT_0_32, 0, 4, 0x28)
FORMAT(pebs_format_0, PEBS_FORMAT_0, 0, 8, 0x90)
FORMAT(pebs_format_1, PEBS_FORMAT_1, 1, 8, 0xb0)
FORMAT(pebs_format_2, PEBS_FORMAT_2, 2, 8, 0xc0)
FORMAT(pebs_format_3, PEBS_FORMAT_3, 3, 8, 0xc8)

FIELDS(PEBS_BASIC, 8, 8, 32)
FIELDS(PEBS_MEMORY, 0, 8, 32)
FIELDS(PEBS_GPRS, 0, 8, 144)
static const struct pebs_group format_4_groups[] = {
	GROUP(PEBS_BASIC, 0, 32),
	GROUP(PEBS_MEMORY, SPMU_PEBS_MEMORY, 32),
	GROUP(PEBS_GPRS, SPMU_PEBS_GPRS, 144),
};
#define ADAPTIVE(number, branches)                                                                 \
	{                                                                                          \
		.format = (number), .word_bytes = 8, .adaptive = true,                             \
		.group_count = COUNT(format_4_groups), .lbr_format = (branches),                   \
		.group = format_4_groups,                                                          \
	}
const struct spmu_pebs_layout pebs_format_4 = ADAPTIVE(4, SPMU_LBR_INFO);
const struct spmu_pebs_layout pebs_format_4_arch_lbr = ADAPTIVE(4, SPMU_LBR_ARCHITECTURAL);
const struct spmu_pebs_layout pebs_format_5 = ADAPTIVE(5, SPMU_LBR_ARCHITECTURAL);

#define DS_LAYOUT(name, word, bts, general, general_at, fixed, fixed_at, records)                  \
	_Static_assert((general) <= SPMU_DS_RESETS_MAX && (fixed) <= SPMU_DS_FIXED_RESETS_MAX &&   \
			       (general_at) >= 8 * (word) &&                                       \
			       (!(fixed) || (fixed_at) >= (general_at) + 8 * (general)),           \
		       #name ": resets");                                                          \
	const struct spmu_ds_layout name = {                                                       \
		.field_bytes = (word),                                                             \
		.resets = (general),                                                               \
		.fixed_resets = (fixed),                                                           \
		.bts_bytes = (bts),                                                                \
		.reset_offset = (general_at),                                                      \
		.fixed_reset_offset = (fixed_at),                                                  \
		.bytes = (fixed) ? (fixed_at) + 8 * (fixed) : (general_at) + 8 * (general),        \
		.pebs = (records),                                                                 \
	};                                                                                         \
	_Static_assert(((fixed) ? (fixed_at) + 8 * (fixed) : (general_at) + 8 * (general)) <=      \
			       DS_AREA_BYTES_MAX,                                                  \
		       #name ": buffers hold it");
DS_LAYOUTS(DS_LAYOUT)

const struct spmu_ds_layout *spmu_model_ds_layout(const struct spmu_model *model, bool ia32e)
{
	return !ia32e && model->ds_legacy ? model->ds_legacy : model->ds;
}
