/* SPDX-License-Identifier: MIT */
/*
 * model.h: what a model is made of.  Every part is constant and may be shared
 * by several models; code asks a part for a capability.
 */
#ifndef SPMU_DATA_MODEL_H
#define SPMU_DATA_MODEL_H

#include <softpmu/ds.h>
#include <softpmu/lbr.h>
#include <softpmu/registers.h>

#include "data/ds/layout.h"
#include "data/registers/fields.h"

#define GENERAL_MAX  8 /* general counters of any model */
#define FIXED_MAX    4 /* fixed counters of any model */
#define OFFCORE_MAX  2 /* MSR_OFFCORE_RSP registers */
#define COUNTERS_MAX (GENERAL_MAX + FIXED_MAX)

/* Counters and their capabilities (18.2). */
struct counter_layout {
	uint8_t version; /* of architectural perfmon */
	uint8_t counters_ht, counters_single;
	uint8_t counter_bits;
	uint8_t fixed_counters, fixed_bits;
	uint8_t event_bits;	/* CPUID.0AH:EAX[31:24] */
	uint8_t missing_events; /* CPUID.0AH:EBX as the part reports it */
	uint32_t fixed_mask;	/* CPUID.0AH:ECX, fixed counters by bit (version 5) */
	uint32_t leaf_0a_edx;	/* CPUID.0AH:EDX above the fixed counters' width */
	uint8_t pebs_counters;	/* bit n: PMCn supports PEBS */
	uint8_t pebs_fixed;	/* bit n: fixed counter n supports PEBS (extended PEBS) */
	bool pebs_any_event;	/* PEBS takes events that are not precise, too (18.7.1) */
	bool freeze_by_status;	/* PMI freezes through CTR_Frz and LBR_Frz (18.2.4.1) */
	uint64_t capabilities;	/* IA32_PERF_CAPABILITIES */
	uint32_t feature_ecx;	/* CPUID.01H flags of the unit: present ... */
	uint32_t feature_edx;
};

/* The unit's flags among those of CPUID.01H. */
#define FEATURE_ECX_DTES64 (1u << 2)
#define FEATURE_ECX_DS_CPL (1u << 4)
#define FEATURE_ECX_PDCM   (1u << 15)
#define FEATURE_ECX_MASK   (FEATURE_ECX_DTES64 | FEATURE_ECX_DS_CPL | FEATURE_ECX_PDCM)
#define FEATURE_EDX_DS	   (1u << 21)

/* What reading and writing a register does. */
enum msr_role {
	ROLE_PMC,
	ROLE_A_PMC,
	ROLE_PERFEVTSEL,
	ROLE_FIXED_CTR,
	ROLE_FIXED_CTR_CTRL,
	ROLE_GLOBAL_STATUS,
	ROLE_GLOBAL_CTRL,
	ROLE_STATUS_RESET,
	ROLE_STATUS_SET,
	ROLE_GLOBAL_INUSE,
	ROLE_PERF_CAPABILITIES,
	ROLE_PEBS_ENABLE,
	ROLE_PEBS_LD_LAT,
	ROLE_PEBS_FRONTEND,
	ROLE_DS_AREA,
	ROLE_DEBUGCTL,
	ROLE_MISC_ENABLE,
	ROLE_PEBS_DATA_CFG,
	ROLE_OFFCORE_RSP,
	ROLE_LBR_SELECT,
	ROLE_LBR_TOS,
	ROLE_LBR_FROM, /* index: entry of the stack */
	ROLE_LBR_TO,
	ROLE_LBR_INFO,
	ROLE_LER_FROM,
	ROLE_LER_TO,
	ROLE_COUNT
};

struct msr {
	uint32_t address;
	uint8_t role; /* enum msr_role */
	uint8_t index;
	const char *name;
	const struct field_list *list;
	uint64_t reset;
	const char *section;
};

struct msr_map {
	const struct msr *msr; /* in order of address */
	size_t count;
};

/* Events come in parts, so that siblings share most of a table. */
#define EVENT_PARTS_MAX 4
struct event_part {
	const struct spmu_event *event;
	size_t count;
};
struct event_table {
	struct event_part part[EVENT_PARTS_MAX];
	uint16_t fixed_code[FIXED_MAX]; /* codes of the fixed counters' events */
};

/* Errata; a model has a set of them. */
enum erratum {
#define ERRATUM(id, name, number, effect, state) ERRATUM_##id,
#include "data/errata.inc"
#undef ERRATUM
	ERRATUM_COUNT
};
#define HAS_ERRATUM(id) (UINT64_C(1) << ERRATUM_##id)

#define ALIASES_MAX 4
struct spmu_model {
	const char *name, *title, *section, *pfm;
	const char *alias[ALIASES_MAX];
	uint32_t signature;
	const struct counter_layout *counters;
	const struct msr_map *msrs;
	const struct event_table *events;
	const struct spmu_ds_layout *ds;	/* with DTES64, else in IA-32e mode; NULL: none */
	const struct spmu_ds_layout *ds_legacy; /* outside IA-32e mode; NULL with DTES64 */
	const struct spmu_lbr_layout *lbr;	/* NULL: no last branch records */
	const struct spmu_facility *facilities;
	uint64_t errata; /* HAS_ERRATUM() */
};

#endif
