/* SPDX-License-Identifier: MIT */
/* uncore.h: the state of an uncore unit, and the fields of its registers (18.8.2, figures 18-25 to
 * 18-30). */
#ifndef SPMU_SRC_UNCORE_H
#define SPMU_SRC_UNCORE_H

#include <softpmu/uncore.h>

#define UNCORE_GENERAL	8
#define UNCORE_COUNTERS (UNCORE_GENERAL + 1) /* the last is the fixed one */
#define UNCORE_FIXED	UNCORE_GENERAL
#define UNCORE_MAX	UINT64_C(0xffffffffffff) /* 48 bits */

#define BIT(n) (UINT64_C(1) << (n))

/* MSR_UNCORE_PERF_GLOBAL_CTRL, _STATUS and _OVF_CTRL: EN_PCn, OVF_PCn and CLR_OVF_PCn are bit n. */
#define UNCORE_PC      (BIT(UNCORE_GENERAL) - 1)
#define UNCORE_FC0     BIT(32)
#define UNCORE_ALL     (UNCORE_FC0 | UNCORE_PC)
#define CTRL_PMI_CORE0 48
#define CTRL_PMI_FRZ   BIT(63)
#define STATUS_OVF_PMI BIT(61)
#define STATUS_CHG     BIT(63)

/* MSR_UNCORE_PERFEVTSELx. */
#define SELECT_EVENT(v)	   ((uint8_t)(v))
#define SELECT_UMASK(v)	   ((uint8_t)((v) >> 8))
#define SELECT_OCC_CTR_RST BIT(17)
#define SELECT_E	   BIT(18)
#define SELECT_PMI	   BIT(20)
#define SELECT_EN	   BIT(22)
#define SELECT_INV	   BIT(23)
#define SELECT_CMASK(v)	   ((uint8_t)((v) >> 24))
#define SELECT_WRITABLE	   (UINT64_C(0xff00ffff) | SELECT_E | SELECT_PMI | SELECT_EN | SELECT_INV)

/* MSR_UNCORE_FIXED_CTR_CTRL. */
#define FIXED_EN  BIT(0)
#define FIXED_PMI BIT(2)

/* MSR_UNCORE_ADDR_OPCODE_MATCH. */
#define MATCH_ADDRESS	  UINT64_C(0xfffffffff8) /* bits 39:3 */
#define MATCH_OPCODE(v)	  ((uint8_t)((v) >> 40))
#define MATCH_OPCODE_BITS (UINT64_C(0xff) << 40)
#define MATCH_SELECT(v)	  ((v) >> 61)

struct spmu_uncore {
	struct spmu_uncore_config config;
	uint64_t control, status, fixed_control, match;
	uint64_t select[UNCORE_GENERAL];
	uint64_t counter[UNCORE_COUNTERS];
	bool asserted
		[UNCORE_GENERAL]; /* the condition held in the clock before: for edge detection */
};

/* The bit of counter n in the global registers. */
static inline uint64_t uncore_bit(unsigned n)
{
	return n == UNCORE_FIXED ? UNCORE_FC0 : BIT(n);
}

#endif
