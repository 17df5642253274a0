/* SPDX-License-Identifier: MIT */
/* family_names.c: the addresses of registers by the names that the manual gives them (chapter 35).
 */
#include "family.h"

#include <stdlib.h>
#include <string.h>

/* Returns 3 for "IA32_PMC3" with the stem "IA32_PMC", and -1 for another name. */
static long numbered(const char *name, const char *stem)
{
	size_t length = strlen(stem);
	char *end;
	long n;

	if (strncmp(name, stem, length) || name[length] < '0' || name[length] > '9')
		return -1;
	n = strtol(name + length, &end, 10);
	return *end ? -1 : n;
}

static bool lbr_register(const struct family_lbr *lbr, const char *name, uint32_t *msr)
{
	long n;

	if (!lbr)
		return false;
	*msr = !strcmp(name, "MSR_LASTBRANCH_TOS") ? lbr->tos
	       : !strcmp(name, "MSR_LBR_SELECT")   ? lbr->select
	       : !strcmp(name, "MSR_LER_FROM_LIP") ? lbr->ler_from
	       : !strcmp(name, "MSR_LER_TO_LIP")   ? lbr->ler_to
	       : !strcmp(name, "IA32_LBR_CTL")	   ? lbr->ctl
	       : !strcmp(name, "IA32_LBR_DEPTH")   ? lbr->depth_msr
	       : !strcmp(name, "IA32_LER_INFO")	   ? lbr->ler_info
	       : !strcmp(name, "LastBranchFromIP") ? lbr->from
	       : !strcmp(name, "LastBranchToIP")   ? lbr->to
	       : !strcmp(name, "LastIntFromIP")	   ? lbr->ler_from
	       : !strcmp(name, "LastIntToIP")	   ? lbr->ler_to
						   : 0;
	if ((n = numbered(name, "MSR_LASTBRANCH_FROM_")) >= 0 && n < lbr->depth)
		*msr = lbr->from + (uint32_t)n;
	if ((n = numbered(name, "MSR_LASTBRANCH_TO_")) >= 0 && n < lbr->depth)
		*msr = lbr->to + (uint32_t)n;
	if ((n = numbered(name, "IA32_LBR_INFO_")) >= 0 && n < lbr->depth && lbr->ctl)
		*msr = lbr->info + (uint32_t)n;
	if ((n = numbered(name, "MSR_LBR_INFO_")) >= 0 && n < lbr->depth && lbr->info)
		*msr = lbr->info + (uint32_t)n;
	return *msr != 0;
}

/*
 * Finds an ESCR: the units of NetBurst that have ESCRs, and the address of the first of each (table
 * 18-63).
 */
static bool escr_register(const char *name, uint32_t *msr)
{
	static const struct {
		const char *stem;
		uint32_t msr;
	} units[] = {
		{"MSR_BSU_ESCR", 0x3a0},   {"MSR_FSB_ESCR", 0x3a2},  {"MSR_FIRM_ESCR", 0x3a4},
		{"MSR_FLAME_ESCR", 0x3a6}, {"MSR_DAC_ESCR", 0x3a8},  {"MSR_MOB_ESCR", 0x3aa},
		{"MSR_PMH_ESCR", 0x3ac},   {"MSR_SAAT_ESCR", 0x3ae}, {"MSR_U2L_ESCR", 0x3b0},
		{"MSR_BPU_ESCR", 0x3b2},   {"MSR_IS_ESCR", 0x3b4},   {"MSR_ITLB_ESCR", 0x3b6},
		{"MSR_IQ_ESCR", 0x3ba},	   {"MSR_RAT_ESCR", 0x3bc},  {"MSR_SSU_ESCR", 0x3be},
		{"MSR_MS_ESCR", 0x3c0},	   {"MSR_TBPU_ESCR", 0x3c2}, {"MSR_TC_ESCR", 0x3c4},
		{"MSR_IX_ESCR", 0x3c8},	   {"MSR_ALF_ESCR", 0x3ca},
	};
	static const uint32_t cru[] = {0x3b8, 0x3b9, 0x3cc, 0x3cd, 0x3e0, 0x3e1};
	long n = numbered(name, "MSR_CRU_ESCR");

	if (n >= 0 && n < 6) {
		*msr = cru[n];
		return true;
	}
	for (unsigned i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		n = numbered(name, units[i].stem);
		if (n == 0 || n == 1) {
			*msr = units[i].msr + (uint32_t)n;
			return true;
		}
	}
	return false;
}

/*
 * Finds a register of 18.23.1, 18.22.1 or 18.15. DebugCtlMSR, MSR_DEBUGCTLA and MSR_DEBUGCTLB are
 * names of IA32_DEBUGCTL.
 */
static bool legacy_register(const struct family *family, const char *name, uint32_t *msr)
{
	static const struct {
		const char *name;
		uint32_t msr;
		uint8_t programming;
	} single[] = {
		{"CESR", 0x11, BY_CESR},
		{"CTR0", 0x12, BY_CESR},
		{"CTR1", 0x13, BY_CESR},
		{"PerfCtr0", 0xc1, BY_SELECTS},
		{"PerfCtr1", 0xc2, BY_SELECTS},
		{"PerfEvtSel0", 0x186, BY_SELECTS},
		{"PerfEvtSel1", 0x187, BY_SELECTS},
		{"DebugCtlMSR", 0x1d9, BY_SELECTS},
		{"MSR_DEBUGCTLB", 0x1d9, BY_SELECTS},
		{"MSR_DEBUGCTLA", 0x1d9, BY_ESCRS},
		{"IA32_PEBS_ENABLE", 0x3f1, BY_ESCRS},
		{"MSR_TC_PRECISE_EVENT", 0x3f0, BY_ESCRS},
		{"MSR_PEBS_MATRIX_VERT", 0x3f2, BY_ESCRS},
	};
	static const struct {
		const char *stem;
		uint32_t first;
	} many[] = {{"MSR_BPU_COUNTER", 0x300},	  {"MSR_MS_COUNTER", 0x304},
		    {"MSR_FLAME_COUNTER", 0x308}, {"MSR_IQ_COUNTER", 0x30c},
		    {"MSR_BPU_CCCR", 0x360},	  {"MSR_MS_CCCR", 0x364},
		    {"MSR_FLAME_CCCR", 0x368},	  {"MSR_IQ_CCCR", 0x36c}};

	for (unsigned i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		if (family->programming == single[i].programming && !strcmp(name, single[i].name)) {
			*msr = single[i].msr;
			return true;
		}
	*msr = !strcmp(name, "IA32_DEBUGCTL")				   ? 0x1d9
	       : !strcmp(name, "IA32_DS_AREA")				   ? 0x600
	       : !strcmp(name, "IA32_MISC_ENABLE")			   ? 0x1a0
	       : !strcmp(name, "IA32_PERFEVTSEL0") && family->enable_first ? 0x186
	       : !strcmp(name, "IA32_PMC0") && family->enable_first	   ? 0xc1
									   : 0;
	if (*msr)
		return true;
	for (unsigned i = 0; i < 8 && family->programming == BY_ESCRS; i++) {
		long n = numbered(name, many[i].stem);

		if (n >= 0 && n < (i % 4 == 3 ? 6 : 4)) {
			*msr = many[i].first + (uint32_t)n;
			return true;
		}
	}
	return family->programming == BY_ESCRS && escr_register(name, msr);
}

bool family_register(const struct family *family, const char *name, uint32_t *msr)
{
	static const struct {
		const char *name;
		uint32_t msr;
	} single[] = {
		{"IA32_MISC_ENABLE", 0x1a0},
		{"IA32_DEBUGCTL", 0x1d9},
		{"IA32_PERF_CAPABILITIES", 0x345},
		{"IA32_FIXED_CTR_CTRL", 0x38d},
		{"IA32_PERF_GLOBAL_STATUS", 0x38e},
		{"IA32_PERF_GLOBAL_CTRL", 0x38f},
		{"IA32_PERF_GLOBAL_OVF_CTRL", 0x390},
		{"IA32_PERF_GLOBAL_STATUS_RESET", 0x390},
		{"IA32_PERF_GLOBAL_STATUS_SET", 0x391},
		{"IA32_PERF_GLOBAL_INUSE", 0x392},
		{"IA32_PEBS_ENABLE", 0x3f1},
		{"MSR_PEBS_DATA_CFG", 0x3f2},
		{"MSR_PEBS_LD_LAT", 0x3f6},
		{"MSR_PEBS_FRONTEND", 0x3f7},
		{"IA32_DS_AREA", 0x600},
		{"MSR_OFFCORE_RSP_0", 0x1a6},
		{"MSR_OFFCORE_RSP_1", 0x1a7},
		{"MSR_PERF_METRICS", 0x329},
	};
	static const struct {
		const char *stem;
		uint32_t msr;
	} many[] = {{"IA32_PMC", 0xc1},
		    {"IA32_A_PMC", 0x4c1},
		    {"IA32_PERFEVTSEL", 0x186},
		    {"IA32_FIXED_CTR", 0x309}};

	if (!family->version)
		return legacy_register(family, name, msr) || lbr_register(family->lbr, name, msr);
	for (unsigned i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		if (!strcmp(name, single[i].name)) {
			*msr = single[i].msr;
			return true;
		}
	for (unsigned i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		long n = numbered(name, many[i].stem);

		if (n >= 0 && n < 8) {
			*msr = many[i].msr + (uint32_t)n;
			return true;
		}
	}
	return lbr_register(family->lbr, name, msr);
}
