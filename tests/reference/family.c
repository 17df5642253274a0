/* SPDX-License-Identifier: MIT */
/*
 * family.c: the families as the manual's sections and CPUID leaf 0AH describe
 * them (18.3 to 18.13; 17.5 to 17.13 for last branch records).
 */
#include "family.h"

#include <string.h>

/* 17.12: eight pairs in one register each, from in the low half. */
static const struct family_lbr lbr_core = {.depth = 8,
					   .format = 0,
					   .from = 0x40,
					   .to = 0x40,
					   .tos = 0x1c9,
					   .ler_from = 0x1dd,
					   .ler_to = 0x1de};
/* 17.5 */
static const struct family_lbr lbr_core2 = {.depth = 4,
					    .format = 2,
					    .from = 0x40,
					    .to = 0x60,
					    .tos = 0x1c9,
					    .ler_from = 0x1dd,
					    .ler_to = 0x1de};
static const struct family_lbr lbr_bonnell = {.depth = 8,
					      .format = 2,
					      .from = 0x40,
					      .to = 0x60,
					      .tos = 0x1c9,
					      .ler_from = 0x1dd,
					      .ler_to = 0x1de};
/* 17.5.2 */
static const struct family_lbr lbr_silvermont = {.depth = 8,
						 .format = 2,
						 .from = 0x40,
						 .to = 0x60,
						 .tos = 0x1c9,
						 .select = 0x1c8,
						 .ler_from = 0x1dd,
						 .ler_to = 0x1de};
/* 18.14: IA32_PERF_CAPABILITIES says 1, but bit 63 of FROM is a misprediction (format 3). */
static const struct family_lbr lbr_knightslanding = {.depth = 8,
						     .format = 3,
						     .reports_lip = true,
						     .from = 0x680,
						     .to = 0x6c0,
						     .tos = 0x1c9,
						     .select = 0x1c8,
						     .ler_from = 0x1dd,
						     .ler_to = 0x1de};
/* 17.7: the top 16 bits of TO hold clocks. */
static const struct family_lbr lbr_goldmont = {.depth = 32,
					       .format = 6,
					       .from = 0x680,
					       .to = 0x6c0,
					       .tos = 0x1c9,
					       .select = 0x1c8,
					       .ler_from = 0x1dd,
					       .ler_to = 0x1de,
					       .call_stack = true};
static const struct family_lbr lbr_goldmont_plus = {.depth = 32,
						    .format = 7,
						    .from = 0x680,
						    .to = 0x6c0,
						    .info = 0xdc0,
						    .tos = 0x1c9,
						    .select = 0x1c8,
						    .ler_from = 0x1dd,
						    .ler_to = 0x1de,
						    .call_stack = true};
/* 17.8 */
static const struct family_lbr lbr_nehalem = {.depth = 16,
					      .format = 3,
					      .from = 0x680,
					      .to = 0x6c0,
					      .tos = 0x1c9,
					      .select = 0x1c8,
					      .ler_from = 0x1dd,
					      .ler_to = 0x1de};
/* 17.10, 17.11 */
static const struct family_lbr lbr_haswell = {.depth = 16,
					      .format = 4,
					      .from = 0x680,
					      .to = 0x6c0,
					      .tos = 0x1c9,
					      .select = 0x1c8,
					      .ler_from = 0x1dd,
					      .ler_to = 0x1de,
					      .call_stack = true};
static const struct family_lbr lbr_skylake = {.depth = 32,
					      .format = 5,
					      .from = 0x680,
					      .to = 0x6c0,
					      .info = 0xdc0,
					      .tos = 0x1c9,
					      .select = 0x1c8,
					      .ler_from = 0x1dd,
					      .ler_to = 0x1de,
					      .call_stack = true};

/* Figure 17-5: eight addresses, then the counter resets. */
static const struct family_area area_32 = {
	.field = 4, .resets = 1, .reset_at = 0x20, .bts_bytes = 12};
static const struct family_area area_64 = {
	.field = 8, .resets = 1, .reset_at = 0x40, .bts_bytes = 24};
/* Figure 18-22. */
static const struct family_area area_nehalem = {
	.field = 8, .resets = 4, .reset_at = 0x40, .bts_bytes = 24};
static const struct family_area area_goldmont_plus = {.field = 8,
						      .resets = 8,
						      .reset_at = 0x40,
						      .fixed_resets = 3,
						      .fixed_reset_at = 0x80,
						      .bts_bytes = 24};
static const struct family_area area_icelake = {.field = 8,
						.resets = 8,
						.reset_at = 0x40,
						.fixed_resets = 4,
						.fixed_reset_at = 0x80,
						.bts_bytes = 24};

/* PEBS format 5: room for 32 general counters, of which there are eight. */
static const struct family_area area_sapphirerapids = {.field = 8,
						       .resets = 8,
						       .reset_at = 0x40,
						       .fixed_resets = 4,
						       .fixed_reset_at = 0x140,
						       .bts_bytes = 24};

static const struct family_area area_lioncove = {.field = 8,
						 .resets = 10,
						 .reset_at = 0x40,
						 .fixed_resets = 4,
						 .fixed_reset_at = 0x140,
						 .bts_bytes = 24};
static const struct family_area area_crestmont = {.field = 8,
						  .resets = 8,
						  .reset_at = 0x40,
						  .fixed_resets = 3,
						  .fixed_reset_at = 0x140,
						  .bts_bytes = 24};

/* IA32_DEBUGCTL: 17.12; 17.5; with FREEZE_WHILE_SMM (table 18-18); with the uncore's PMI (17.7);
 * with RTM (17.3.3). */
#define DEBUGCTL_CORE	 0x1c3
#define DEBUGCTL_CORE2	 0x1fc3
#define DEBUGCTL_ATOM	 0x5fc3
#define DEBUGCTL_NEHALEM 0x7fc3
#define DEBUGCTL_RTM	 0xffc3
/* Four counters with PEBS and load latency (figure 18-21). */
#define PEBS_LATENCY UINT64_C(0xf0000000f)

#define CORE2_PARTS                                                                                \
	.version = 2, .generals = 2, .generals_ht = 2, .bits = 40, .fixed = 3, .fixed_bits = 40,   \
	.pebs_format = 0, .pebs_generals = 1, .dtes64 = true, .lbr = &lbr_core2, .area = &area_64, \
	.debugctl = DEBUGCTL_CORE2, .pebs_enable = 1, .event_bits = 7
#define ATOM_PARTS                                                                                 \
	.version = 3, .generals = 2, .generals_ht = 2, .bits = 40, .fixed = 3, .fixed_bits = 40,   \
	.pebs_generals = 1, .any_thread = true, .dtes64 = true, .pebs_enable = 1, .event_bits = 7, \
	.freeze_clears_tr = true
#define CORE3_PARTS                                                                                \
	.version = 3, .generals_ht = 4, .bits = 48, .fixed = 3, .fixed_bits = 48,                  \
	.pebs_generals = 15, .any_thread = true, .dtes64 = true, .area = &area_nehalem,            \
	.ld_lat = true, .event_bits = 7
#define NEHALEM_PARTS                                                                              \
	CORE3_PARTS, .uops = 0x01c2, .generals = 4, .pebs_format = 1, .lbr = &lbr_nehalem,         \
		     .debugctl = DEBUGCTL_NEHALEM, .pebs_enable = PEBS_LATENCY,                    \
		     .select_shared = true
#define SANDYBRIDGE_PARTS                                                                          \
	CORE3_PARTS, .uops = 0x01c2, .generals = 8, .pebs_format = 1, .full_width = true,          \
		     .lbr = &lbr_nehalem, .debugctl = DEBUGCTL_NEHALEM,                            \
		     .pebs_enable = PEBS_LATENCY | UINT64_C(1) << 63
#define HASWELL_PARTS                                                                              \
	CORE3_PARTS, .uops = 0x01c2, .generals = 8, .pebs_format = 2, .full_width = true,          \
		     .tsx = true, .lbr = &lbr_haswell, .debugctl = DEBUGCTL_RTM,                   \
		     .pebs_enable = PEBS_LATENCY
#define SKYLAKE_PARTS                                                                              \
	.version = 4, .generals = 8, .generals_ht = 4, .bits = 48, .fixed = 3, .fixed_bits = 48,   \
	.pebs_format = 3, .pebs_generals = 15, .any_thread = true, .full_width = true,             \
	.tsx = true, .dtes64 = true, .lbr = &lbr_skylake, .area = &area_nehalem,                   \
	.debugctl = DEBUGCTL_RTM, .pebs_enable = PEBS_LATENCY, .ld_lat = true, .frontend = true,   \
	.event_bits = 7
#define GOLDMONT_PARTS                                                                             \
	.version = 4, .generals = 4, .generals_ht = 4, .bits = 48, .fixed = 3, .fixed_bits = 48,   \
	.pebs_format = 3, .full_width = true, .extended_pebs = true, .dtes64 = true,               \
	.pebs_goldmont = true, .debugctl = DEBUGCTL_ATOM, .event_bits = 7
/* The chapter on last branch records of later editions; 8, 16 or 32 entries. */
#define LBR_ARCHITECTURAL                                                                          \
	.depth = 32, .format = 0x3f, .call_stack = true, .from = 0x1500, .to = 0x1600,             \
	.info = 0x1200, .ctl = 0x14ce, .depth_msr = 0x14cf, .ler_from = 0x1dd, .ler_to = 0x1de,    \
	.ler_info = 0x1e0
static const struct family_lbr lbr_architectural = {LBR_ARCHITECTURAL};
/* It reports linear addresses. */
static const struct family_lbr lbr_gracemont = {LBR_ARCHITECTURAL, .linear = true};

static const struct family_lbr lbr_lioncove = {LBR_ARCHITECTURAL, .logs = true};
static const struct family_lbr lbr_crestmont = {LBR_ARCHITECTURAL, .linear = true, .logs = true};

#define GRACEMONT_PARTS                                                                            \
	.version = 5, .bits = 48, .fixed = 3, .fixed_bits = 48, .event_bits = 7, .cpuid_ecx = 7,   \
	.cpuid_edx = 0x8000, .full_width = true, .adaptive = true, .extended_pebs = true,          \
	.dtes64 = true, .pebs_fixed = 7, .skid_generals = 1, .pdir_fixed = 1, .ld_lat = true,      \
	.debugctl = DEBUGCTL_ATOM

/* From the 10th generation on. */
#define VERSION_5_PARTS                                                                            \
	.version = 5, .generals = 8, .generals_ht = 8, .bits = 48, .fixed = 4, .fixed_bits = 48,   \
	.pebs_generals = 0xff, .pebs_fixed = 15, .full_width = true, .adaptive = true,             \
	.extended_pebs = true, .dtes64 = true, .pebs_enable = UINT64_C(0xf000000ff),               \
	.ld_lat = true, .frontend = true, .event_bits = 8, .cpuid_ecx = 15, .cpuid_edx = 0x8000,   \
	.pdir_fixed = 1
#define ICELAKE_PARTS                                                                              \
	VERSION_5_PARTS, .pebs_format = 4, .lbr = &lbr_skylake, .area = &area_icelake,             \
			 .metrics = 4, .tsx = true, .debugctl = DEBUGCTL_RTM

/* 18.9.4.4: INST_RETIRED.PREC_DIST on IA32_PMC1 (18.13.1: unchanged). */
#define PDIR_PARTS .pdir_generals = 2, .pdir_event = 0x01c0

static const struct family families[] = {
	{.model = "core",
	 .version = 1,
	 .generals = 2,
	 .generals_ht = 2,
	 .bits = 40,
	 .event_bits = 7,
	 .debugctl = DEBUGCTL_CORE,
	 .pebs_format = -1,
	 .lbr = &lbr_core,
	 .area = &area_32,
	 .area_legacy = &area_32},
	{.model = "core2", CORE2_PARTS},
	{.model = "core2-45nm", CORE2_PARTS},
	{.model = "xeon-7400", CORE2_PARTS, .bus_counters = 8, .bus_l3 = true, .bus_control = true},
	{.model = "bonnell",
	 ATOM_PARTS,
	 .debugctl = DEBUGCTL_CORE2,
	 .pebs_format = 0,
	 .lbr = &lbr_bonnell,
	 .area = &area_64},
	/* Table 18-13: the record ends with EventingRIP and a reserved field. */
	{.model = "silvermont",
	 .cpuid_edx = 0x4000,
	 ATOM_PARTS,
	 .pebs_format = 2,
	 .full_width = true,
	 .any_ignored = true,
	 .debugctl = DEBUGCTL_ATOM,
	 .lbr = &lbr_silvermont,
	 .area = &area_nehalem},
	{.model = "airmont",
	 ATOM_PARTS,
	 .pebs_format = 2,
	 .full_width = true,
	 .any_ignored = true,
	 .debugctl = DEBUGCTL_ATOM,
	 .lbr = &lbr_silvermont,
	 .area = &area_nehalem},
	{.model = "knightslanding",
	 ATOM_PARTS,
	 .pebs_format = 2,
	 .full_width = true,
	 .debugctl = DEBUGCTL_ATOM,
	 .lbr = &lbr_knightslanding,
	 .area = &area_nehalem},
	{.model = "goldmont",
	 GOLDMONT_PARTS,
	 .pebs_generals = 1,
	 .skid_generals = 1,
	 .any_thread = true,
	 .any_ignored = true,
	 .pebs_enable = 1,
	 .lbr = &lbr_goldmont,
	 .area = &area_nehalem},
	{.model = "goldmont-plus",
	 GOLDMONT_PARTS,
	 .pebs_generals = 15,
	 .skid_generals = 1,
	 .pebs_fixed = 7,
	 .pebs_enable = UINT64_C(0x70000000f),
	 .cpuid_edx = 0x8000,
	 .lbr = &lbr_goldmont_plus,
	 .area = &area_goldmont_plus},
	{.model = "nehalem", NEHALEM_PARTS, .cpuid_ebx = 0x40},
	{.model = "nehalem-ex", NEHALEM_PARTS, .cpuid_ebx = 0x44},
	{.model = "westmere", NEHALEM_PARTS, .cpuid_ebx = 4},
	{.model = "westmere-ep", NEHALEM_PARTS, .cpuid_ebx = 4},
	{.model = "sandybridge", SANDYBRIDGE_PARTS, PDIR_PARTS},
	{.model = "sandybridge-server", SANDYBRIDGE_PARTS, PDIR_PARTS},
	{.model = "ivybridge", SANDYBRIDGE_PARTS, PDIR_PARTS},
	{.model = "ivybridge-server", SANDYBRIDGE_PARTS, PDIR_PARTS},
	{.model = "haswell", HASWELL_PARTS, PDIR_PARTS},
	{.model = "haswell-server", HASWELL_PARTS, PDIR_PARTS},
	{.model = "broadwell", HASWELL_PARTS, PDIR_PARTS, .trace = true},
	{.model = "broadwell-server", HASWELL_PARTS, PDIR_PARTS, .trace = true},
	{.model = "skylake", SKYLAKE_PARTS, PDIR_PARTS},
	{.model = "kabylake", SKYLAKE_PARTS, PDIR_PARTS},
	{.model = "coffeelake", SKYLAKE_PARTS, PDIR_PARTS},
	{.model = "skylake-server", SKYLAKE_PARTS, PDIR_PARTS},
	{.model = "cascadelake", SKYLAKE_PARTS, PDIR_PARTS},
	{.model = "icelake", ICELAKE_PARTS},
	{.model = "icelake-server", ICELAKE_PARTS},
	{.model = "tigerlake", ICELAKE_PARTS},
	{.model = "alderlake-e",
	 GRACEMONT_PARTS,
	 .generals = 6,
	 .generals_ht = 6,
	 .pebs_format = 4,
	 .pebs_generals = 0x3f,
	 .pebs_enable = UINT64_C(0x70000003f),
	 .lbr = &lbr_gracemont,
	 .area = &area_goldmont_plus},
	{.model = "sierraforest",
	 GRACEMONT_PARTS,
	 .generals = 8,
	 .generals_ht = 8,
	 .pebs_format = 5,
	 .pebs_generals = 0xff,
	 .pebs_enable = UINT64_C(0x7000000ff),
	 .lbr = &lbr_crestmont,
	 .area = &area_crestmont},
	{.model = "alderlake",
	 VERSION_5_PARTS,
	 .pebs_format = 4,
	 .metrics = 8,
	 .skid_generals = 1,
	 .debugctl = 0x7fc3,
	 .lbr = &lbr_architectural,
	 .area = &area_icelake},
	{.model = "sapphirerapids",
	 VERSION_5_PARTS,
	 .pebs_format = 5,
	 .metrics = 8,
	 .tsx = true,
	 .debugctl = DEBUGCTL_RTM,
	 .skid_generals = 1,
	 .lbr = &lbr_architectural,
	 .area = &area_sapphirerapids},
	{.model = "graniterapids",
	 VERSION_5_PARTS,
	 .extended_events = 0xdff,
	 .pebs_format = 5,
	 .metrics = 8,
	 .tsx = true,
	 .debugctl = DEBUGCTL_RTM,
	 .skid_generals = 1,
	 .lbr = &lbr_architectural,
	 .area = &area_sapphirerapids},
	{.model = "lunarlake",
	 .version = 6,
	 .version_6 = true,
	 .generals = 10,
	 .generals_ht = 10,
	 .bits = 48,
	 .fixed = 4,
	 .fixed_bits = 48,
	 .common_generals = 8,
	 .common_fixed = 3,
	 .event_bits = 13,
	 .cpuid_ebx = 0x280,
	 .cpuid_ecx = 7,
	 .cpuid_edx = 0x8000,
	 .extended_events = 0x1dff,
	 .full_width = true,
	 .adaptive = true,
	 .extended_pebs = true,
	 .dtes64 = true,
	 .pebs_format = 5,
	 .pebs_generals = 0x3ff,
	 .pebs_fixed = 15,
	 .pebs_enable = UINT64_C(0xf000003ff),
	 .skid_generals = 3,
	 .pdir_fixed = 1,
	 .metrics = 8,
	 .ld_lat = true,
	 .frontend = true,
	 .debugctl = 0x7fc3,
	 .lbr = &lbr_lioncove,
	 .area = &area_lioncove},
};

#define FAMILIES (sizeof(families) / sizeof(families[0]))

const struct family *family_at(unsigned index)
{
	return index < FAMILIES ? &families[index] : family_legacy(index - FAMILIES);
}

const struct family *family_find(const char *model)
{
	static const struct family *family; /* property tests ask for one again and again */

	if (family && !strcmp(family->model, model))
		return family;
	for (unsigned i = 0; (family = family_at(i)); i++)
		if (!strcmp(family->model, model))
			return family;
	return NULL;
}
