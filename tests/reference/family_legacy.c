/* SPDX-License-Identifier: MIT */
/*
 * family_legacy.c: the families before architectural performance monitoring: Pentium (18.23), P6
 * (18.22, 17.14), Pentium M (17.13), NetBurst (18.15 to 18.20, 17.11).
 */
#include "family.h"

/* 17.14.2: one record, no pointer. */
static const struct family_lbr lbr_p6 = {
	.depth = 1, .format = 2, .from = 0x1db, .to = 0x1dc, .ler_from = 0x1dd, .ler_to = 0x1de};
/* 17.13. The registers of the last exception are in reverse order (table 35-44). */
static const struct family_lbr lbr_pentium_m = {.depth = 8,
						.format = 0,
						.from = 0x40,
						.to = 0x40,
						.tos = 0x1c9,
						.ler_from = 0x1de,
						.ler_to = 0x1dd};
/* 17.11.2: four in one register each up to model 2, sixteen pairs from model 3 on. */
static const struct family_lbr lbr_netburst = {.depth = 4,
					       .format = 0,
					       .from = 0x1db,
					       .to = 0x1db,
					       .tos = 0x1da,
					       .ler_from = 0x1d7,
					       .ler_to = 0x1d8};
static const struct family_lbr lbr_prescott = {.depth = 16,
					       .format = 1,
					       .from = 0x680,
					       .to = 0x6c0,
					       .tos = 0x1da,
					       .ler_from = 0x1d7,
					       .ler_to = 0x1d8};

/* Figure 17-5. The Pentium M has only the branch trace. */
static const struct family_area area_bts = {.field = 4, .reset_at = 0x20, .bts_bytes = 12};
static const struct family_area area_32 = {
	.field = 4, .resets = 1, .reset_at = 0x20, .bts_bytes = 12};
static const struct family_area area_64 = {
	.field = 8, .resets = 1, .reset_at = 0x40, .bts_bytes = 24};

#define PENTIUM_PARTS                                                                              \
	.programming = BY_CESR, .generals = 2, .generals_ht = 2, .bits = 40, .pebs_format = -1,    \
	.system_cpl = 2, .no_lvt = true, .pin_at_overflow = true
#define P6_PARTS                                                                                   \
	.generals = 2, .generals_ht = 2, .bits = 40, .pebs_format = -1, .enable_first = true
/*
 * IA32_PEBS_ENABLE: the replay metrics of table 19-33, bits 24 to 26.  CCCRs and ESCRs: netburst.c.
 * PEBS: MSR_IQ_COUNTER4, of thread 1 MSR_IQ_COUNTER5 (18.15.7, 18.16.3).
 */
#define NETBURST_PARTS                                                                             \
	.programming = BY_ESCRS, .rdpmc = RDPMC_FAST, .generals = 18, .generals_ht = 18,           \
	.bits = 40, .pebs_format = 0, .pebs_generals = 0x30000, .shared = true,                    \
	.misc_enable = true, .bts_predicted = true, .debugctl_shift = 4, .pebs_enable = 0x7019fff
#define PRESCOTT_PARTS NETBURST_PARTS, .lbr = &lbr_prescott, .area = &area_64, .debugctl = 0x7c3

#define DTES64 (1u << 2)
#define DS_CPL (1u << 4)
#define PDCM   (1u << 15)

static const struct family families[] = {
	{.model = "pentium", PENTIUM_PARTS, .rdpmc = RDPMC_NONE},
	{.model = "pentium-mmx", PENTIUM_PARTS},
	{.model = "pentium-pro", P6_PARTS, .lvt_stays = true, .lbr = &lbr_p6, .debugctl = 0x7f},
	{.model = "pentium-ii", P6_PARTS, .lvt_stays = true, .lbr = &lbr_p6, .debugctl = 0x7f},
	{.model = "pentium-iii", P6_PARTS, .lvt_stays = true, .lbr = &lbr_p6, .debugctl = 0x7f},
	{.model = "pentium-m",
	 P6_PARTS,
	 .misc_enable = true,
	 .lbr = &lbr_pentium_m,
	 .area = &area_bts,
	 .area_legacy = &area_bts,
	 .debugctl = 0x1ff},
	/* DS-CPL came with model 3. Earlier models have no BTS_OFF_OS and BTS_OFF_USR. */
	{.model = "netburst",
	 NETBURST_PARTS,
	 .iq_escrs = true,
	 .lbr = &lbr_netburst,
	 .area = &area_32,
	 .area_legacy = &area_32,
	 .debugctl = 0x1c3},
	{.model = "prescott", PRESCOTT_PARTS, .area_legacy = &area_32, .cpuid_01_ecx = DS_CPL},
	{.model = "prescott-2m", PRESCOTT_PARTS, .dtes64 = true, .cpuid_01_ecx = DTES64 | DS_CPL},
	{.model = "cedar-mill",
	 PRESCOTT_PARTS,
	 .dtes64 = true,
	 .cpuid_01_ecx = DTES64 | DS_CPL | PDCM,
	 .capabilities = 1},
	{.model = "xeon-7100",
	 PRESCOTT_PARTS,
	 .dtes64 = true,
	 .bus_counters = 8,
	 .bus_l3 = true,
	 .cpuid_01_ecx = DTES64 | DS_CPL | PDCM,
	 .capabilities = 1},
	{.model = "xeon-mp-8m-l3",
	 PRESCOTT_PARTS,
	 .dtes64 = true,
	 .bus_counters = 8,
	 .cpuid_01_ecx = DTES64 | DS_CPL},
};

const struct family *family_legacy(unsigned index)
{
	return index < sizeof(families) / sizeof(families[0]) ? &families[index] : NULL;
}

/* The counters that the first and the second ESCR of each block reach (table 18-63). */
#define BPU_0	0x00003u
#define BPU_1	0x0000cu
#define MS_0	0x00030u
#define MS_1	0x000c0u
#define FLAME_0 0x00300u
#define FLAME_1 0x00c00u
#define IQ_0	0x13000u
#define IQ_1	0x2c000u

static const struct family_escr escrs[] = {
	{0x3a0, 7, BPU_0},   {0x3a1, 7, BPU_1},	  /* BSU */
	{0x3a2, 6, BPU_0},   {0x3a3, 6, BPU_1},	  /* FSB */
	{0x3a4, 1, FLAME_0}, {0x3a5, 1, FLAME_1}, /* FIRM */
	{0x3a6, 0, FLAME_0}, {0x3a7, 0, FLAME_1}, /* FLAME */
	{0x3a8, 5, FLAME_0}, {0x3a9, 5, FLAME_1}, /* DAC */
	{0x3aa, 2, BPU_0},   {0x3ab, 2, BPU_1},	  /* MOB */
	{0x3ac, 4, BPU_0},   {0x3ad, 4, BPU_1},	  /* PMH */
	{0x3ae, 2, FLAME_0}, {0x3af, 2, FLAME_1}, /* SAAT */
	{0x3b0, 3, FLAME_0}, {0x3b1, 3, FLAME_1}, /* U2L */
	{0x3b2, 0, BPU_0},   {0x3b3, 0, BPU_1},	  /* BPU */
	{0x3b4, 1, BPU_0},   {0x3b5, 1, BPU_1},	  /* IS */
	{0x3b6, 3, BPU_0},   {0x3b7, 3, BPU_1},	  /* ITLB */
	{0x3b8, 4, IQ_0},    {0x3b9, 4, IQ_1},	  /* CRU0, CRU1 */
	{0x3ba, 0, IQ_0},    {0x3bb, 0, IQ_1},	  /* IQ: models 0 to 2 */
	{0x3bc, 2, IQ_0},    {0x3bd, 2, IQ_1},	  /* RAT */
	{0x3be, 3, IQ_0},			  /* SSU0 */
	{0x3c0, 0, MS_0},    {0x3c1, 0, MS_1},	  /* MS */
	{0x3c2, 2, MS_0},    {0x3c3, 2, MS_1},	  /* TBPU */
	{0x3c4, 1, MS_0},    {0x3c5, 1, MS_1},	  /* TC */
	{0x3c8, 5, BPU_0},   {0x3c9, 5, BPU_1},	  /* IX */
	{0x3ca, 1, IQ_0},    {0x3cb, 1, IQ_1},	  /* ALF */
	{0x3cc, 5, IQ_0},    {0x3cd, 5, IQ_1},	  /* CRU2, CRU3 */
	{0x3e0, 6, IQ_0},    {0x3e1, 6, IQ_1},	  /* CRU4, CRU5 */
};
#define ESCRS (sizeof(escrs) / sizeof(escrs[0]))

static bool has_escr(const struct family *family, const struct family_escr *escr)
{
	if (family->programming != BY_ESCRS)
		return false;
	return family->iq_escrs || (escr->msr != 0x3ba && escr->msr != 0x3bb);
}

const struct family_escr *family_escr(const struct family *family, uint32_t msr)
{
	for (unsigned i = 0; i < ESCRS; i++)
		if (escrs[i].msr == msr)
			return has_escr(family, &escrs[i]) ? &escrs[i] : NULL;
	return NULL;
}

const struct family_escr *family_escr_of(const struct family *family, unsigned counter,
					 unsigned select)
{
	for (unsigned i = 0; i < ESCRS; i++)
		if (escrs[i].select == select && (escrs[i].counters >> counter & 1))
			return has_escr(family, &escrs[i]) ? &escrs[i] : NULL;
	return NULL;
}
