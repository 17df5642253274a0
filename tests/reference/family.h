/* SPDX-License-Identifier: MIT */
/*
 * family.h: what the manual says each family has, typed by hand a second time for the reference
 * unit and the scenarios. Nothing here comes from the library's rows, so a wrong row is found.
 */
#ifndef SOFTPMU_FAMILY_H
#define SOFTPMU_FAMILY_H

#include <softpmu/softpmu.h>

/* Last branch records (Vol. 3B 17.4.8 and the families' sections of chapter 17). */
struct family_lbr {
	uint8_t depth, format;
	bool call_stack, reports_lip, linear;
	uint32_t from, to, info, tos, select, ler_from, ler_to;
	uint32_t ctl, depth_msr, ler_info; /* architectural: entry 0 is the newest */
	bool logs; /* entries log events of the first four general counters */
};

/* The DS management area in one mode (17.4.9, figures 17-5 and 18-22). */
struct family_area {
	uint8_t field; /* bytes of an address */
	uint8_t resets, fixed_resets, bts_bytes;
	uint16_t reset_at, fixed_reset_at, bytes;
};

/* How software tells counters what to count. */
enum family_programming { BY_SELECTS, BY_CESR, BY_ESCRS };

/* RDPMC: plain, absent, or with ECX[31] for the low half. */
enum family_rdpmc { RDPMC_PLAIN, RDPMC_NONE, RDPMC_FAST };

#define FAMILY_ESCR_FIRST 0x3a0u
#define FAMILY_ESCR_LAST  0x3e1u

/* An ESCR (table 18-63): its CCCR select value and counters, by RDPMC's numbers. */
struct family_escr {
	uint16_t msr;
	uint8_t select;
	uint32_t counters;
};

struct family {
	const char *model;   /* the library's name */
	uint8_t version;     /* of architectural perfmon; 0: before it */
	uint8_t programming; /* enum family_programming */
	uint8_t rdpmc;	     /* enum family_rdpmc */
	uint8_t generals;    /* counters when the core runs one thread ... */
	uint8_t generals_ht; /* ... and two */
	uint8_t bits;	     /* of a general counter */
	uint8_t fixed, fixed_bits;
	int8_t pebs_format;	/* -1: none */
	uint32_t pebs_generals; /* bit n: PMCn */
	uint8_t pebs_fixed;
	uint32_t pdir_generals; /* precise distribution: bit n: PMCn has it for the event */
	uint16_t pdir_event;
	uint32_t skid_generals; /* bit n: each precise event of PMCn has it (18.7.1.2) */
	uint8_t pdir_fixed;
	uint8_t metrics;	  /* bytes of MSR_PERF_METRICS */
	uint32_t extended_events; /* CPUID.23H.3:EAX; 0: no leaf 23H */
	bool version_6;		  /* unit mask 2, the equal flag, registers from 1900H on */
	uint8_t common_generals, common_fixed; /* what leaf 0AH reports instead; 0: the same */
	bool any_thread, full_width, tsx, adaptive;
	bool any_ignored;   /* AnyThread is there and does nothing (18.6, 18.7) */
	bool pebs_goldmont; /* whole registers in all modes (18.7.1), 18.7.1.3 */
	bool extended_pebs; /* any event may make records */
	uint16_t uops;	    /* event of all micro-operations retired, where it is precise */
	bool dtes64;
	bool select_shared;    /* MSR_LBR_SELECT is one for the threads of a core (17.7, 17.8) */
	bool freeze_clears_tr; /* with FREEZE_LBRS_ON_PMI, too (17.5: the Atom family) */
	/* Bits of registers (chapter 35) that do not follow from the fields above. */
	uint64_t debugctl, pebs_enable;
	bool ld_lat, frontend;
	bool trace; /* version 3 with processor trace: status bit 55 (18.12) */
	/* Differences before architectural perfmon. */
	uint8_t system_cpl;	/* CPL up to which counters count as the system's */
	bool enable_first;	/* EN of the first select register enables all */
	bool no_lvt, lvt_stays; /* no interrupt; delivery does not mask the entry */
	bool pin_at_overflow;	/* pin control 1 means overflow, not count */
	bool shared;		/* a core has one set of counters and selects */
	bool iq_escrs;		/* MSR_IQ_ESCR0 and 1 */
	bool misc_enable;
	bool bts_predicted;	  /* branch trace records tell the prediction */
	uint8_t debugctl_shift;	  /* how much lower the trace's bits are */
	uint8_t bus_counters;	  /* of the 64-bit Xeon MP and the Xeon 7100 and 7400 series */
	bool bus_l3, bus_control; /* as the two series have them; MSR_EMON_L3_GL_CTL */
	uint32_t cpuid_01_ecx;	  /* DTES64, DS-CPL, PDCM */
	uint64_t capabilities;	  /* IA32_PERF_CAPABILITIES; with version 0 */
	/* CPUID.0AH of real parts, besides versions and numbers. */
	uint8_t event_bits;
	uint32_t cpuid_ebx, cpuid_ecx, cpuid_edx;
	const struct family_lbr *lbr;
	const struct family_area *area;	       /* IA-32e mode, or both with DTES64 */
	const struct family_area *area_legacy; /* the others */
};

/* The families before architectural perfmon (family_legacy.c). Returns NULL after the last. */
const struct family *family_legacy(unsigned index);
const struct family_escr *family_escr(const struct family *family, uint32_t msr);
/* Returns the ESCR that CCCRn connects by this select value, or NULL. */
const struct family_escr *family_escr_of(const struct family *family, unsigned counter,
					 unsigned select);

/* Returns the family of this name, or NULL. */
const struct family *family_find(const char *model);
const struct family *family_at(unsigned index);

/* Gets the address of a register by the manual's name. Returns false if the family has none. */
bool family_register(const struct family *family, const char *name, uint32_t *msr);

/*
 * Converts IA32_DEBUGCTL to the family's register. NetBurst has the bits from TR to BTS_OFF_USR
 * lower (17.11.1).
 */
#define FAMILY_DEBUGCTL_TRACE UINT64_C(0x7c0)
static inline uint64_t family_debugctl(const struct family *family, uint64_t value)
{
	return (value & ~FAMILY_DEBUGCTL_TRACE) |
	       (value & FAMILY_DEBUGCTL_TRACE) >> family->debugctl_shift;
}

static inline uint64_t family_mask(const struct family *family)
{
	return (UINT64_C(1) << family->bits) - 1;
}

#endif
