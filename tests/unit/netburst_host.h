/* SPDX-License-Identifier: MIT */
/*
 * netburst_host.h: NetBurst's registers for tests: addresses, and values in the terms of the manual
 * (18.15.1, 18.15.3).
 */
#ifndef SPMU_TESTS_NETBURST_HOST_H
#define SPMU_TESTS_NETBURST_HOST_H

#include "tests/unit/unit_host.h"

#define COUNTERS 18

enum {
	COUNTER0 = 0x300,
	CCCR0 = 0x360,
	FSB_ESCR0 = 0x3a2,
	FIRM_ESCR0 = 0x3a4,
	FIRM_ESCR1 = 0x3a5,
	CRU_ESCR0 = 0x3b8,
	CRU_ESCR1 = 0x3b9,
	IQ_ESCR0 = 0x3ba,
	RAT_ESCR0 = 0x3bc,
	TBPU_ESCR0 = 0x3c2,
	CRU_ESCR2 = 0x3cc,
	CRU_ESCR3 = 0x3cd,
	MATRIX_VERT = 0x3f2,
	NETBURST_TOS = 0x1da,
};

/* ESCR: event select, mask, tag, rings. */
#define T1_USR		     1u
#define T1_OS		     2u
#define T0_USR		     4u
#define T0_OS		     8u
#define EVENT(select, mask)  ((uint64_t)(select) << 25 | (uint64_t)(mask) << 9)
#define TAG(value)	     (0x10u | (unsigned)(value) << 5)
#define INSTR_RETIRED	     EVENT(0x02, 1)
#define BRANCH_RETIRED(mask) EVENT(0x06, mask)
#define FRONT_END	     EVENT(0x08, 1)
#define REPLAY		     EVENT(0x09, 1)
#define EXECUTION(mask)	     EVENT(0x0c, mask)
#define UOP_TYPE(mask)	     EVENT(0x02, mask)
#define TAGLOADS	     2u
#define TAGSTORES	     4u

/* CCCR. */
#define ENABLE	     0x1000u
#define EXTENDED     0x0800u
#define SELECT(n)    ((uint64_t)(n) << 13)
#define ACTIVE(n)    ((uint64_t)(n) << 16)
#define ANY_ACTIVE   ACTIVE(3)
#define COMPARE	     0x40000u
#define COMPLEMENT   0x80000u
#define THRESHOLD(n) ((uint64_t)(n) << 20)
#define EDGE	     0x1000000u
#define FORCE_OVF    0x2000000u
#define OVF_PMI_T0   0x4000000u
#define OVF_PMI_T1   0x8000000u
#define CASCADE	     0x40000000u
#define OVF	     0x80000000u

/* IA32_PEBS_ENABLE. */
#define UOP_TAG	  (UINT64_C(1) << 24)
#define MY_THREAD (UINT64_C(1) << 25)
#define OTHER	  (UINT64_C(1) << 26)

/* The CCCR of a counter that counts the event of a selected ESCR. */
#define COUNTS(select) (ENABLE | ANY_ACTIVE | SELECT(select))

/* Returns CRU_ESCR0 or 1, depending on which the IQ counter n reaches. */
static inline uint32_t cru_low(unsigned n)
{
	return n == 12 || n == 13 || n == 16 ? CRU_ESCR0 : CRU_ESCR1;
}

/* Lets counter n of the IQ count instructions. Its CCCR also has the bits of `more`. */
static inline void count_instructions(struct unit_host *host, unsigned n, uint64_t more)
{
	WRMSR(host, cru_low(n), INSTR_RETIRED | T0_USR | T0_OS);
	WRMSR(host, CCCR0 + n, ANY_ACTIVE | SELECT(4) | more);
}

#endif
