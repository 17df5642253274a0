/* SPDX-License-Identifier: MIT */
/*
 * model.h: what a model is made of.
 *
 * Every part is constant and may be shared by several models. Code asks a part for a capability; it
 * never asks which family it is.
 */
#ifndef SPMU_DATA_MODEL_H
#define SPMU_DATA_MODEL_H

#include <softpmu/ds.h>
#include <softpmu/lbr.h>
#include <softpmu/registers.h>

#include "data/ds/layout.h"
#include "data/registers/fields.h"

#define GENERAL_MAX	18 /* general counters of any model */
#define GENERAL_OWN_MAX 10 /* general counters of any model whose threads have their own */
#define FIXED_MAX	4  /* fixed counters of any model */
#define OFFCORE_MAX	2  /* MSR_OFFCORE_RSP registers */
#define ESCR_MAX	45 /* event selection control registers */
#define BUS_COUNTER_MAX 8  /* counters of the bus and the third-level cache */
#define METRICS_MAX	8  /* fields of MSR_PERF_METRICS of any model */
#define COUNTERS_MAX	(GENERAL_MAX + FIXED_MAX + METRICS_MAX)

/*
 * An event selection control register, ESCR (18.15.1): the value of CCCR.ESCR_SELECT that connects
 * a counter to it, and the counters that it can be connected to, by RDPMC's numbers.
 */
struct escr {
	uint8_t select;
	uint32_t counters;
};

/* An event that tags in the front end (18.15.6.2): its code, and the signals that get the tag. */
struct front_end_tag {
	uint32_t code;
	uint64_t signals;
};

/*
 * A metric of replay tagging (18.15.6.4). It is on while both registers have these bits. What gets
 * the tag is described by signals or by a tally.
 */
struct replay_tag {
	uint64_t enable; /* of IA32_PEBS_ENABLE, without bits 25 and 26 */
	uint64_t matrix; /* of MSR_PEBS_MATRIX_VERT */
	uint64_t signals;
	uint16_t tally;
};

/* What ESCRs and CCCRs of a family can do. */
struct escr_layout {
	const struct escr *escr;	/* ESCR_MAX of them, by address */
	uint64_t absent;		/* bit n: the model lacks ESCR n */
	uint32_t cascade[GENERAL_MAX];	/* counters that CCCRn.CASCADE lets start counter n */
	uint32_t extended[GENERAL_MAX]; /* the same for CCCRn[11] */
	uint32_t front_end, execution, replay; /* events that count tags: codes without a mask */
	uint32_t untagged, tagged;	       /* instructions without a tag, and with one */
	const uint16_t *independent;	       /* classes of events that cannot be qualified by
					          thread (table 19-34: TI) */
	const struct front_end_tag *front_end_tag;
	const struct replay_tag *replay_tag;
	uint8_t independents, front_end_tags, replay_tags;
};

/* Counters and their capabilities (18.2). */
struct counter_layout {
	uint8_t version;     /* of architectural perfmon; 0: before it */
	uint8_t programming; /* enum spmu_programming */
	uint8_t counters_ht, counters_single;
	uint8_t counter_bits;
	uint8_t fixed_counters, fixed_bits;
	uint8_t event_bits;	  /* CPUID.0AH:EAX[31:24] */
	uint16_t missing_events;  /* CPUID.0AH:EBX as the part reports it */
	uint32_t fixed_mask;	  /* CPUID.0AH:ECX, fixed counters by bit (version 5) */
	uint32_t leaf_0a_edx;	  /* CPUID.0AH:EDX above the fixed counters' width */
	uint32_t extended_events; /* CPUID.23H.3:EAX; 0: there is no leaf 23H */
	uint32_t extensions;	  /* CPUID.23H.0:EBX: of event selects */
	/* CPUID.1AH:EAX, the kind of core, of a part with several kinds; 0: all are alike. */
	uint32_t core_kind;
	/* What CPUID.0AH reports instead of the counters above: what all cores of a part have in
	 * common. 0: it reports those. */
	uint8_t common_counters, common_fixed;
	uint32_t pebs_counters; /* bit n: PMCn supports PEBS. If `shared`: those of thread 0, and
				   those of thread 1 above them */
	uint8_t pebs_fixed;	/* bit n: fixed counter n supports PEBS (extended PEBS) */
	uint8_t pdir_fixed;	/* bit n: fixed counter n is precisely distributed */
	uint32_t pdir_counters; /* bit n: so is PMCn (18.9.4.4) ... */
	uint16_t pdir_event;	/* ... with this event */
	uint32_t skid_counters; /* bit n: on PMCn each precise event is precisely distributed
				   (18.7.1.2) */
	uint16_t precise_store; /* event whose record has a store's address and status; 0: none */
	/* Bits of MSR_OFFCORE_RSP_x that select local memory as the supplier; 0: off-core events
	 * are absent. */
	uint32_t offcore_memory;
	bool pebs_any_event;   /* PEBS takes events that are not precise, too (18.7.1) */
	bool pebs_whole;       /* records hold whole registers in all modes (18.7.1) */
	bool pebs_outside;     /* an index outside the buffer drops the record (18.7.1.3) */
	bool any_ignored;      /* AnyThread can be set and does nothing (18.6, 18.7) */
	bool freeze_by_status; /* PMI freezes through CTR_Frz and LBR_Frz (18.2.4.1) */
	bool shared;	       /* the threads of a core share one set of counters */
	bool enable_first;     /* EN of event select 0 enables all counters (18.22.1) */
	bool no_lvt;	       /* no interrupt: the local APIC has no entry for it */
	bool lvt_stays;	       /* the delivery of an interrupt does not mask the LVT entry */
	bool rdpmc_none;       /* no RDPMC: #UD */
	bool rdpmc_fast;       /* RDPMC with ECX[31] reads the low half */
	bool pin_asserts;      /* pin control 1: asserted at overflow, 0: at each count. Otherwise
				   1: toggled at each count, 0: at overflow */
	uint8_t os_cpl;	       /* counters treat privilege levels up to this one as the operating
				   system's */
	uint8_t metrics;       /* fields of MSR_PERF_METRICS; 0: there is none */
	uint8_t bus_counters;  /* bus counters, which RDPMC numbers after the general ones */
	const struct escr_layout *escrs; /* SPMU_PROGRAM_ESCR */
	uint64_t capabilities;		 /* IA32_PERF_CAPABILITIES */
	uint32_t feature_ecx;		 /* flags of the unit in CPUID.01H that are set */
	uint32_t feature_edx;
};

/* The unit's flags among those of CPUID.01H. */
#define FEATURE_ECX_DTES64	 (1u << 2)
#define FEATURE_ECX_DS_CPL	 (1u << 4)
#define FEATURE_ECX_PDCM	 (1u << 15)
#define FEATURE_ECX_MASK	 (FEATURE_ECX_DTES64 | FEATURE_ECX_DS_CPL | FEATURE_ECX_PDCM)
#define FEATURE_EDX_DS		 (1u << 21)
#define FEATURE_7_EDX_ARCH_LBR	 (1u << 19) /* in CPUID.07H.0 */
#define FEATURE_7_EDX_HYBRID	 (1u << 15)
#define FEATURE_7_1_EAX_EXTENDED (1u << 8) /* in CPUID.07H.1: leaf 23H */

/* CPUID.23H.0:EBX: bits of event selects. */
#define EXTENSION_UMASK2 (1u << 0)
#define EXTENSION_EQ	 (1u << 1)

/* What reading and writing a register does: a row of src/pmu/msr_roles.c for each. */
enum msr_role {
	ROLE_PMC,     /* a write sign-extends bit 31 */
	ROLE_COUNTER, /* general counter, written in full width */
	ROLE_A_PMC,
	ROLE_PERFEVTSEL,
	ROLE_CESR,
	ROLE_CCCR, /* index: its counter */
	ROLE_ESCR, /* index: in struct escr_layout */
	ROLE_BUS_COUNTER,
	ROLE_BUS_CONTROL, /* commands for the bus counters */
	ROLE_FIXED_CTR,
	ROLE_PERF_METRICS,
	ROLE_FIXED_CTR_CTRL,
	ROLE_GLOBAL_STATUS,
	ROLE_GLOBAL_CTRL,
	ROLE_STATUS_RESET,
	ROLE_STATUS_SET,
	ROLE_GLOBAL_INUSE,
	ROLE_PERF_CAPABILITIES,
	ROLE_PEBS_ENABLE,
	ROLE_TC_PRECISE_EVENT,
	ROLE_PEBS_MATRIX_VERT,
	ROLE_PEBS_LD_LAT,
	ROLE_PEBS_FRONTEND,
	ROLE_DS_AREA,
	ROLE_DEBUGCTL,
	ROLE_MISC_ENABLE,
	ROLE_PEBS_DATA_CFG,
	ROLE_OFFCORE_RSP,
	ROLE_LBR_SELECT,
	ROLE_LBR_TOS,
	ROLE_LBR_CTL,
	ROLE_LBR_DEPTH,
	ROLE_LBR_FROM, /* index: entry of the stack */
	ROLE_LBR_TO,
	ROLE_LBR_INFO,
	ROLE_LER_FROM,
	ROLE_LER_TO,
	ROLE_LER_INFO,
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

/* Events come in lists, so that siblings can share most of a table. */
#define EVENT_PARTS_MAX 8
struct event_part {
	const struct spmu_event *event;
	size_t count;
};
struct event_table {
	struct event_part part[EVENT_PARTS_MAX];
	uint32_t fixed_code[FIXED_MAX]; /* codes of the fixed counters' events */
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
	struct {
		uint32_t first, last;
	} foreign; /* in MSR_RANGES, but not the unit's in this family; last 0: none */
	const struct event_table *events;
	const struct spmu_ds_layout *ds;	/* with DTES64, else in IA-32e mode; NULL: none */
	const struct spmu_ds_layout *ds_legacy; /* outside IA-32e mode; NULL with DTES64 */
	const struct spmu_lbr_layout *lbr;	/* NULL: no last branch records */
	bool bts_predicted;			/* BTS records say whether a branch was predicted */
	uint8_t debugctl_shift; /* IA32_DEBUGCTL's bits TR to BTS_OFF_USR are this much lower in the
				   family's register */
	bool asks_sockets;	/* what the last level misses, it asks other sockets for */
	bool uncore;		/* the unit outside the cores is that of 18.8.2 (uncore.h) */
	const struct spmu_facility *facilities;
	uint64_t errata; /* HAS_ERRATUM() */
};

#endif
