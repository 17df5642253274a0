/* SPDX-License-Identifier: MIT */
/*
 * layout.h: the layouts of data/ds/layouts.inc as objects that models name, and the sizes of
 * buffers that hold the largest of them.
 */
#ifndef SPMU_DATA_DS_LAYOUT_H
#define SPMU_DATA_DS_LAYOUT_H

#include <softpmu/ds.h>

#include "data/ds/layouts.inc"

/* Where a member of struct spmu_pebs_record is in a record, or in a group of a record. */
struct pebs_field {
	uint16_t offset;
	uint16_t member; /* 64 bits wide in struct spmu_pebs_record */
};

/* Fields that are together in a record. */
struct pebs_group {
	uint32_t group; /* SPMU_PEBS_ bit that selects it; 0: always there */
	uint16_t bytes;
	uint8_t field_count;
	const struct pebs_field *field;
};

struct spmu_pebs_layout {
	uint8_t format;	    /* IA32_PERF_CAPABILITIES.PEBS_REC_FMT */
	uint8_t word_bytes; /* bytes of each field, 4 or 8; a record of 4 holds low halves */
	bool straight;	    /* one group, whose fields have the order of the members */
	bool adaptive;	    /* it begins with a format word; vectors and branches may follow */
	uint8_t group_count;
	uint8_t lbr_format; /* enum spmu_lbr_format: of the branches in an adaptive record */
	const struct pebs_group *group;
};

/* The numbers of the area's addresses: DS_AREA_pebs_index and so on. */
#define DS_AREA_NUMBER(n, member) DS_AREA_##member = (n),
enum ds_area_number { DS_AREA_WORDS(DS_AREA_NUMBER) DS_AREA_NUMBERS };
#undef DS_AREA_NUMBER

/* The LBR group of an adaptive record: {from, to, info} for each entry. */
#define PEBS_VECTORS_BYTES     256u
#define PEBS_BRANCH_BYTES      24u
#define PEBS_FORMAT_GROUPS     UINT64_C(0xf) /* of the format word: the groups, */
#define PEBS_FORMAT_ENTRIES    24	     /* the entries less 1 (8 bits), */
#define PEBS_FORMAT_SIZE       48	     /* and the bytes of the record (16 bits) */
#define PEBS_DATA_CFG_WRITABLE (PEBS_FORMAT_GROUPS | UINT64_C(0xff) << PEBS_FORMAT_ENTRIES)

extern const struct spmu_pebs_layout pebs_format_0_32, pebs_format_0, pebs_format_1, pebs_format_2,
	pebs_format_3, pebs_format_4, pebs_format_4_arch_lbr, pebs_format_5;

#define DS_LAYOUT_DECLARE(name, ...) extern const struct spmu_ds_layout name;
DS_LAYOUTS(DS_LAYOUT_DECLARE)
#undef DS_LAYOUT_DECLARE

#define DS_AREA_BYTES_MAX 0x160
#define PEBS_RECORD_BYTES_MAX                                                                      \
	(32 + 32 + 144 + PEBS_VECTORS_BYTES + SPMU_LBR_DEPTH_MAX * PEBS_BRANCH_BYTES)

#endif
