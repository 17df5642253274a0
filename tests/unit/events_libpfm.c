/* SPDX-License-Identifier: MIT */
/*
 * events_libpfm.c: codes and precision of all models' events compared with libpfm4's tables as a
 * second source (chapter 19). Each difference is listed with its reason.
 */
#include <perfmon/pfmlib.h>

#include "tests/unit/unit_host.h"

/*
 * Names that libpfm4 4.13 spells differently, or lacks (NULL). A row without a table's name applies
 * to all tables. A row that is not needed fails.
 */
static struct {
	const char *pfm, *name, *spelling;
	bool used;
} spellings[] = {
	/* Fixed counters have no names of their own in libpfm4; code 0300H has one. */
	{"core atom slm knl glm nhm wsm snb ivb hsw bdw skl skx clx", "INST_RETIRED.ANY", NULL,
	 false}, /* means 01C0H */
	{"spr", "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED:THREAD", false},
	{NULL, "CPU_CLK_UNHALTED.THREAD", NULL, false},
	{"core atom slm", "CPU_CLK_UNHALTED.CORE", NULL, false},
	{"core atom nhm wsm", "CPU_CLK_UNHALTED.REF", "UNHALTED_REFERENCE_CYCLES", false},
	{NULL, "CPU_CLK_UNHALTED.REF_TSC", "UNHALTED_REFERENCE_CYCLES", false},
	{"skl skx clx", "CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_THREAD_UNHALTED:THREAD_P", false},
	{"skl skx clx", "CPU_CLK_UNHALTED.REF_XCLK", "CPU_CLK_THREAD_UNHALTED:REF_XCLK", false},
	{"glm", "CPU_CLK_UNHALTED.CORE_P", "UNHALTED_CORE_CYCLES",
	 false},				      /* lost its event select */
	{"glm", "CPU_CLK_UNHALTED.REF", NULL, false}, /* the same */
	/* Other names for the same. */
	{"core", "BR_INST_RETIRED.MISPRED", "BR_INST_RETIRED_MISPRED", false},
	{"core atom", "L2_RQSTS.SELF.DEMAND.MESI", "LLC_REFERENCES", false},
	{"core atom", "L2_RQSTS.SELF.DEMAND.I_STATE", "LLC_MISSES", false},
	{"atom", "BR_INST_RETIRED.MISPRED", "MISPREDICTED_BRANCH_RETIRED",
	 false}, /* its MISPRED is 0AC4H */
	{"atom", "BR_INST_RETIRED.MISPRED_PEBS", "BR_INST_RETIRED:MISPRED", false},
	{"wsm", "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HIT", "MEM_UNCORE_RETIRED:LOCAL_HITM", false},
	{"snb", "MEM_LOAD_UOPS_RETIRED.LLC_MISS", NULL, false}, /* in table 19-13 */
	{"atom", "X87_COMP_OPS_EXE.ANY.AR", "X87_COMP_OPS_EXE:ANY_AR", false},
	{"slm snb", "LONGEST_LAT_CACHE.REFERENCE", "LLC_REFERENCES", false},
	{"slm snb", "LONGEST_LAT_CACHE.MISS", "LLC_MISSES", false},
	{"slm", "MEM_UOPS_RETIRED.L1_MISS_LOADS", "MEM_UOP_RETIRED:LD_DCU_MISS", false},
	{"slm", "MEM_UOPS_RETIRED.L2_HIT_LOADS", "MEM_UOP_RETIRED:LD_L2_HIT", false},
	{"slm", "MEM_UOPS_RETIRED.L2_MISS_LOADS", "MEM_UOP_RETIRED:LD_L2_MISS", false},
	{"slm", "MEM_UOPS_RETIRED.DTLB_MISS_LOADS", "MEM_UOP_RETIRED:LD_DTLB_MISS", false},
	{"slm", "MEM_UOPS_RETIRED.UTLB_MISS", "MEM_UOP_RETIRED:LD_UTLB_MISS", false},
	{"slm", "MEM_UOPS_RETIRED.HITM", "MEM_UOP_RETIRED:HITM", false},
	{"slm", "MEM_UOPS_RETIRED.ALL_LOADS", "MEM_UOP_RETIRED:ANY_LD", false},
	{"slm", "MEM_UOPS_RETIRED.ALL_STORES", "MEM_UOP_RETIRED:ANY_ST", false},
	{"slm", "UOPS_RETIRED.ALL", "UOPS_RETIRED:ANY", false},
	{"slm", "CYCLES_DIV_BUSY.ALL", "CYCLES_DIV_BUSY:ANY", false},
	{"knl", "RS_FULL_STALL.ALL", "RS_FULL_STALL:ANY", false},
	{"knl", "MS_DECODED.MS_ENTRY", "MS_DECODED:ENTRY", false},
	{"knl", "CPU_CLK_UNHALTED.REF", NULL, false}, /* its BUS is 023CH */
	{"knl", "L2_PREFETCHER.ALLOC_XQ", NULL, false},
	{"nhm", "INSTRUCTION_RETIRED", "INST_RETIRED:ANY_P", false},
	{"nhm wsm", "BRANCH_INSTRUCTIONS_RETIRED", "BR_INST_RETIRED:ALL_BRANCHES", false},
	{"wsm", "OFFCORE_REQUESTS_OUTSTANDING.DEMAND.READ_DATA",
	 "OFFCORE_REQUESTS_OUTSTANDING:DEMAND_READ_DATA", false},
	{"wsm", "OFFCORE_REQUESTS_OUTSTANDING.DEMAND.READ_CODE",
	 "OFFCORE_REQUESTS_OUTSTANDING:DEMAND_READ_CODE", false},
	{"wsm", "OFFCORE_REQUESTS_OUTSTANDING.DEMAND.RFO",
	 "OFFCORE_REQUESTS_OUTSTANDING:DEMAND_RFO", false},
	{"wsm", "OFFCORE_REQUESTS_OUTSTANDING.ANY.READ", "OFFCORE_REQUESTS_OUTSTANDING:ANY_READ",
	 false},
	{"snb", "BR_INST_RETIRED.ALL_BRANCHES", NULL, false}, /* libpfm4: 04C4H */
	{"snb", "BR_MISP_RETIRED.ALL_BRANCHES", NULL, false}, /* libpfm4: 04C5H */
	{"snb", "BR_INST_RETIRED.ALL_BRANCHES_PEBS", "BR_INST_RETIRED:ALL_BRANCHES", false},
	{"snb", "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", "BR_MISP_RETIRED:ALL_BRANCHES", false},
	{"snb ivb", "MEM_TRANS_RETIRED.LOAD_LATENCY", "MEM_TRANS_RETIRED:LATENCY_ABOVE_THRESHOLD",
	 false},
	{"snb ivb", "FP_COMP_OPS_EXE.SSE_PACKED_DOUBLE", "FP_COMP_OPS_EXE:SSE_FP_PACKED_DOUBLE",
	 false},
	{"snb ivb", "FP_COMP_OPS_EXE.SSE_SCALAR_SINGLE", "FP_COMP_OPS_EXE:SSE_FP_SCALAR_SINGLE",
	 false},
	{"snb ivb", "MEM_LOAD_UOPS_RETIRED.LLC_HIT", "MEM_LOAD_UOPS_RETIRED:L3_HIT", false},
	{"ivb", "BR_INST_RETIRED.CONDITIONAL", "BR_INST_RETIRED:COND", false},
	{"ivb", "MEM_LOAD_UOPS_RETIRED.LLC_MISS", "MEM_LOAD_UOPS_RETIRED:L3_MISS", false},
	{"icl icx", "LONGEST_LAT_CACHE.REFERENCE", "LONGEST_LAT_CACHE:REFERENCES", false},
	{"icl icx", "MEM_LOAD_L3_HIT_RETIRED.XSNP_NO_FWD", "MEM_LOAD_L3_HIT_RETIRED:XSNP_HIT",
	 false},
	{"icl icx", "MEM_LOAD_L3_HIT_RETIRED.XSNP_FWD", "MEM_LOAD_L3_HIT_RETIRED:XSNP_HITM", false},
	/* Only in Intel's lists or the manual's tables. */
	{"skl skx clx", "INST_RETIRED.NOP", NULL, false},
	{"skl skx clx", "UOPS_RETIRED.MACRO_FUSED", NULL, false},
	{NULL, "BR_INST_RETIRED.ALL_BRANCHES_PEBS", NULL, false}, /* unit mask 04H */
	{NULL, "BR_MISP_RETIRED.ALL_BRANCHES_PEBS", NULL, false}, /* unit mask 04H */
	{"atom", "BR_INST_TYPE_RETIRED.COND", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.UNCOND", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.IND", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.RET", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.DIR_CALL", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.IND_CALL", NULL, false},
	{"atom", "BR_INST_TYPE_RETIRED.COND_TAKEN", NULL, false},
	{"atom", "BR_MISSP_TYPE_RETIRED.COND", NULL, false},
	{"atom", "BR_MISSP_TYPE_RETIRED.IND", NULL, false},
	{"atom", "BR_MISSP_TYPE_RETIRED.RETURN", NULL, false},
	{"atom", "BR_MISSP_TYPE_RETIRED.IND_CALL", NULL, false},
	{"atom", "BR_MISSP_TYPE_RETIRED.COND_TAKEN", NULL, false},
	{"atom", "X87_COMP_OPS_EXE.FXCH.AR", NULL, false},
	{"atom", "HW_INT_RCV", NULL, false}, /* table 19-26: C8H, 00H; libpfm4: 01H */
	{"glm", "INST_RETIRED.PREC_DIST", NULL, false},
	{"glm", "UOPS_RETIRED.FPDIV", NULL, false},
	{"glm", "UOPS_RETIRED.IDIV", NULL, false},
	{"nhm", "INST_RETIRED.ANY_P", NULL, false},		  /* 01C0H; libpfm4: 00C0H */
	{"nhm wsm", "BR_INST_RETIRED.ALL_BRANCHES", NULL, false}, /* 04C4H; libpfm4: 00C4H */
	{"wsm", "BR_MISP_RETIRED.ALL_BRANCHES", NULL, false},	  /* 04C5H; libpfm4: 00C5H */
	{"nhm", "MISPREDICTED_BRANCH_RETIRED", NULL, false},
	{"nhm", "INST_RETIRED.MMX", NULL, false},
	{"nhm", "MEM_UNCORE_RETIRED.UNCACHEABLE", NULL, false},
	{"bdw", "FP_ARITH_INST_RETIRED.4_FLOPS", NULL, false},
	{"icl icx", "BR_MISP_RETIRED.RET", NULL, false},
	{"icl icx", "MEM_LOAD_MISC_RETIRED.UC", NULL, false}, /* D4H; libpfm4 has it at C4H */
	{"netburst", "uop_type.TAGLOADS", "uops_type:TAGLOADS", false},
	{"netburst", "uop_type.TAGSTORES", "uops_type:TAGSTORES", false},
	{"netburst", "mispred_branch_retired.NBOGUS", "mispred_branch_retired:BOGUS", false},
	{"netburst", "x87_SIMD_moves_uop.ALLP0", NULL, false}, /* in table 19-34 and Linux */
	{"netburst", "x87_SIMD_moves_uop.ALLP2", NULL, false}, /* the same */
	{"netburst", "b2b_cycles.BIT5", NULL, false},	       /* libpfm4: bit 4 */
	{"netburst", "b2b_cycles.BIT6", NULL, false},	       /* libpfm4: bit 4 */
	/* It needs a separate register, which libpfm4 asks for. */
	{NULL, "FRONTEND_RETIRED", NULL, false},
	{"icl icx", "TOPDOWN.BACKEND_BOUND_SLOTS", NULL, false}, /* A4H; libpfm4: 00H */
	{"hsw bdw skl skx clx", "IDQ.MITE_ALL_UOPS", "IDQ:ALL_MITE_UOPS", false},
	{"skl skx clx icl icx", "SW_PREFETCH_ACCESS.ANY", NULL, false},
	{"icl icx spr", "OFFCORE_RESPONSE_0", NULL, false},
	{"icl icx spr", "OFFCORE_RESPONSE_1", NULL, false},
	{"spr", "INST_RETIRED.ANY", NULL, false},	     /* libpfm4: 01C0H */
	{"spr", "TOPDOWN.BACKEND_BOUND_SLOTS", NULL, false}, /* A4H; libpfm4: 00H, as the others */
	{"spr", "TOPDOWN.BAD_SPEC_SLOTS", NULL, false},
	{"spr", "TOPDOWN.BR_MISPREDICT_SLOTS", NULL, false},
	{"spr", "TOPDOWN.MEMORY_BOUND_SLOTS", NULL, false},
	{"spr", "MEM_TRANS_RETIRED.STORE_SAMPLE", NULL, false}, /* 02CDH; libpfm4: 03CDH */
	{"spr", "L2_RQSTS.MISS", NULL, false},
	{"spr", "L2_RQSTS.REFERENCES", NULL, false},
	{"spr", "IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV.CORE",
	 "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE", false},
	{"spr", "EXE_ACTIVITY.EXE_BOUND_0_PORTS", NULL, false},
	{"spr", "MEM_LOAD_L3_HIT_RETIRED.XSNP_HIT", NULL, false}, /* Alder Lake's */
	{"spr", "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", NULL, false},
};

/*
 * Differences between libpfm4 and the manual's tables about precision. From Sandy Bridge to Skylake
 * libpfm4 marks all unit masks of C4H and C5H. The tables of precise events list some of them, and
 * unit mask 04H for all branches.
 */
static struct {
	const char *pfm, *name;
	bool used;
} precision[] = {
	{"ivb hsw bdw skl skx clx", "BR_INST_RETIRED.ALL_BRANCHES", false},
	{"ivb hsw bdw skl skx clx", "BR_MISP_RETIRED.ALL_BRANCHES", false},
	{"snb hsw bdw", "BR_INST_RETIRED.NOT_TAKEN", false},
	{"snb hsw bdw", "BR_INST_RETIRED.FAR_BRANCH", false},
	{"ivb", "FP_ASSIST.X87_OUTPUT", false}, /* precise in table 19-11, like the next two */
	{"atom", "BR_INST_RETIRED.MISPRED_PEBS", false}, /* precise in table 19-26 */
	{"ivb", "FP_ASSIST.X87_INPUT", false},
	{"ivb", "FP_ASSIST.SIMD_OUTPUT", false},
	{"skl skx clx", "INST_RETIRED.ANY_P", false},	     /* Linux samples clocks by it */
	{"skl skx clx", "OTHER_ASSISTS.ANY", false},	     /* precise in table 18-56 */
	{"skl skx clx", "UOPS_RETIRED.RETIRE_SLOTS", false}, /* libpfm4's text: "non PEBS" */
	{"hsw", "INST_RETIRED.X87", false},		     /* not in Intel's list */
	{"wsm", "INSTRUCTION_RETIRED", false},		     /* C0H is precise with any unit mask */
	{"icl icx spr", "INST_RETIRED.ANY_P", false},	     /* precise in Intel's lists */
	{"icl icx spr", "INST_RETIRED.NOP", false},	     /* precise in Intel's lists */
	{"icl icx spr", "INST_RETIRED.PREC_DIST",
	 false},				       /* on fixed counter 0, which no row says */
	{"icl icx spr", "RTM_RETIRED.ABORTED", false}, /* precise in Intel's lists */
	{"spr", "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", false}, /* precise for Linux: D1H to D4H */
	/* These count clocks.  Without a model of time their row is the one without a threshold. */
	{"nhm wsm", "UOPS_RETIRED.ACTIVE_CYCLES", false},
	{"nhm wsm snb ivb hsw bdw skl skx clx", "UOPS_RETIRED.STALL_CYCLES", false},
	{"snb ivb hsw bdw skl skx clx", "UOPS_RETIRED.TOTAL_CYCLES", false},
};

/*
 * Returns true if `word` is one of the words of the list. NULL contains every word. The list has a
 * server's table ("snb_ep") under the name of its client's.
 */
static bool among(const char *list, const char *word)
{
	size_t length = strcspn(word, "_");

	for (const char *at = list; at; at = strchr(at, ' ')) {
		at += *at == ' ';
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ' '))
			return true;
	}
	return !list;
}

/*
 * Returns the row of spellings for an event. A row that names the table comes before one that does
 * not.
 */
static int find_spelling(const char *pfm, const char *name)
{
	int found = -1;

	for (size_t i = 0; i < COUNT(spellings); i++)
		if (!strcmp(spellings[i].name, name) && among(spellings[i].pfm, pfm) &&
		    (found < 0 || spellings[i].pfm))
			found = (int)i;
	if (found >= 0)
		spellings[found].used = true;
	return found;
}

static bool differs_in_precision(const char *pfm, const char *name)
{
	for (size_t i = 0; i < COUNT(precision); i++)
		if (!strcmp(precision[i].name, name) && among(precision[i].pfm, pfm))
			return precision[i].used = true;
	return false;
}

/* Returns true if libpfm4 marks the event precise, or its unit mask if one is named. */
static bool pfm_precise(int index, const char *mask)
{
	pfm_event_info_t info = {.size = sizeof(info)};

	if (pfm_get_event_info(index, PFM_OS_NONE, &info) != PFM_SUCCESS)
		return false;
	for (int a = 0; mask && a < info.nattrs; a++) {
		pfm_event_attr_info_t attr = {.size = sizeof(attr)};

		if (pfm_get_event_attr_info(index, a, PFM_OS_NONE, &attr) == PFM_SUCCESS &&
		    attr.type == PFM_ATTR_UMASK && !strcmp(attr.name, mask + 1))
			return attr.is_precise;
	}
	return info.is_precise;
}

/*
 * Makes NetBurst's code from an ESCR and a CCCR (18.15.1, 18.15.3): event select, ESCR select,
 * mask. They do not contain the block of counters, bits 13:12.
 */
#define BLOCK 0x3000u
static uint32_t netburst_code(uint64_t escr, uint64_t cccr)
{
	return (uint32_t)((escr >> 25 & 0x3f) | (cccr >> 13 & 7) << 8 | (escr >> 9 & 0xffff) << 16);
}

/* E, INV and CMASK, which belong to some events. */
#define CONDITION 0xff840000u

/* Gets libpfm4's code of "table::name". Returns false if libpfm4 does not know the name. */
static bool pfm_encode(const char *pfm, const char *name, pfm_pmu_encode_arg_t *arg, uint32_t *code)
{
	char full[160];

	snprintf(full, sizeof(full), "%s::%s", pfm, name);
	*arg = (pfm_pmu_encode_arg_t){.size = sizeof(*arg)};
	if (pfm_get_os_event_encoding(full, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, arg) != PFM_SUCCESS)
		return false;
	*code = arg->codes[0] & (UINT16_MAX | CONDITION);
	if (!strncmp(pfm, "netburst", 8))
		*code = arg->count > 1 ? netburst_code(arg->codes[0], arg->codes[1]) : 0;
	free(arg->codes);
	return true;
}

/* Returns true if libpfm4 has the table. A 64-bit build has no tables of 32-bit processors. */
static bool pfm_has(const char *pfm)
{
	pfm_pmu_info_t info = {.size = sizeof(info)};
	int pmu;

	pfm_for_all_pmus(pmu)
	{
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) == PFM_SUCCESS &&
		    !strcmp(info.name, pfm))
			return true;
	}
	return false;
}

/* Returns 1 if libpfm4 knows the event and agrees. */
static unsigned check_against_pfm(const char *pfm, const struct spmu_event *event)
{
	int spelling = find_spelling(pfm, event->name);
	pfm_pmu_encode_arg_t arg;
	char name[128];
	uint32_t code = 0, own = event->code;
	bool known, good, netburst = !strncmp(pfm, "netburst", 8);
	char *dot = name;

	if (netburst)
		own &= ~BLOCK;
	snprintf(name, sizeof(name), "%s", event->name);
	do { /* NetBurst's have several masks */
		dot = strchr(dot, '.');
		if (dot)
			*dot = ':';
	} while (dot && netburst);
	if (spelling >= 0 && spellings[spelling].spelling)
		snprintf(name, sizeof(name), "%s", spellings[spelling].spelling);
	known = pfm_encode(pfm, name, &arg, &code);
	if (!netburst && !(own & CONDITION))
		code &= UINT16_MAX;
	/* A server's table may have events that its client's does not. */
	if (spelling >= 0 && !spellings[spelling].spelling &&
	    !(strchr(pfm, '_') && known && code == own)) {
		if (!CHECK(!known || code != own))
			printf("  %s::%s is known after all\n", pfm, name);
		return 0;
	}
	good = CHECK(known) && CHECK_EQ(code, own);
	if (good && !netburst) /* libpfm4 does not know NetBurst's PEBS */
		good = CHECK_EQ(pfm_precise(arg.idx, strchr(name, ':')) ^
					differs_in_precision(pfm, event->name),
				event->pebs_counters != 0);
	if (!good)
		printf("  %s::%s\n", pfm, name);
	return good;
}

/* Returns true for the Pentium, which libpfm4 lacks, and for tables of its 32-bit build. */
static bool without_table(const char *pfm)
{
	return !pfm || among("coreduo ppro pii p6 pm", pfm);
}

static void check_models(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		struct spmu_model_info info = spmu_model_describe(model);
		size_t count = spmu_event_count(model);
		unsigned agreed = 0;

		if (!info.pfm || !pfm_has(info.pfm)) {
			CHECK(without_table(info.pfm));
			continue;
		}
		for (size_t e = 0; e < count; e++)
			agreed += check_against_pfm(info.pfm, spmu_event_at(model, e));
		if (!CHECK(agreed > count / 2))
			printf("  %s: libpfm4 knows %u of %zu\n", info.name, agreed, count);
	}
}

static bool has_code(const struct spmu_model *model, uint32_t code)
{
	bool found = false;

	for (size_t e = 0; !found && e < spmu_event_count(model); e++)
		found = (spmu_event_at(model, e)->code & ~BLOCK) == code;
	return found;
}

/*
 * Checks that each bit of each event of NetBurst that libpfm4 knows has a row. TAG0 to TAG3 are tag
 * values. Masks of replay_event other than BOGUS are registers (table 19-33), so they are not bits
 * of a mask.
 */
static unsigned check_masks_of(const struct spmu_model *model, const char *pfm, int index)
{
	pfm_event_info_t info = {.size = sizeof(info)};
	pfm_event_attr_info_t attr = {.size = sizeof(attr)};
	unsigned found = 0;

	if (!CHECK_EQ(pfm_get_event_info(index, PFM_OS_NONE, &info), PFM_SUCCESS))
		return 0;
	for (int a = 0; a < info.nattrs; a++) {
		pfm_pmu_encode_arg_t arg;
		char name[128];
		uint32_t code = 0;

		if (pfm_get_event_attr_info(index, a, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK ||
		    (!strncmp(attr.name, "TAG", 3) && attr.name[3] <= '9') ||
		    (!strcmp(info.name, "replay_event") && !strstr(attr.name, "BOGUS")))
			continue;
		snprintf(name, sizeof(name), "%s:%s", info.name, attr.name);
		found++;
		if (!CHECK(pfm_encode(pfm, name, &arg, &code) && has_code(model, code)))
			printf("  %s::%s, %x\n", pfm, name, code);
	}
	return found;
}

static void check_complete(void)
{
	static const struct {
		const char *model, *pfm;
	} rows[] = {{"netburst", "netburst"}, {"cedar-mill", "netburst_p"}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].model);
		pfm_pmu_info_t info = {.size = sizeof(info)};
		unsigned masks = 0;
		int pmu;

		pfm_for_all_pmus(pmu)
		{
			if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS ||
			    strcmp(info.name, rows[i].pfm) != 0)
				continue;
			for (int e = info.first_event; e != -1; e = pfm_get_event_next(e))
				masks += check_masks_of(model, rows[i].pfm, e);
		}
		CHECK(masks > 120);
	}
}

/*
 * Checks tables that only libpfm4's 32-bit build has, typed from its source, and the Pentium's,
 * typed from perfctr's and FreeBSD's lists: name, code, counters.
 */
static void check_typed(void)
{
	static const struct {
		int line;
		const char *model, *name;
		uint32_t code, counters;
	} rows[] = {
		{__LINE__, "pentium", "DATA_READ", 0x00, 3},
		{__LINE__, "pentium", "BRANCHES", 0x12, 3},
		{__LINE__, "pentium", "INSTRUCTIONS_EXECUTED", 0x16, 3},
		{__LINE__, "pentium", "LOCKED_BUS_CYCLE", 0x1c, 3},
		{__LINE__, "pentium", "FLOPS", 0x22, 3},
		{__LINE__, "pentium", "HARDWARE_INTERRUPTS", 0x27, 3},
		{__LINE__, "pentium", "DATA_READ_MISS_OR_WRITE_MISS", 0x29, 3},
		{__LINE__, "pentium-mmx", "MMX_INSTRUCTIONS_EXECUTED_U_PIPE", 0x2b, 1},
		{__LINE__, "pentium-mmx", "MMX_INSTRUCTIONS_EXECUTED_V_PIPE", 0x2b, 2},
		{__LINE__, "pentium-mmx", "NUMBER_OF_CYCLES_NOT_IN_HALT_STATE", 0x30, 1},
		{__LINE__, "pentium-mmx", "TAKEN_BRANCHES", 0x32, 2},
		{__LINE__, "pentium-mmx", "RETURNS", 0x39, 1},
		{__LINE__, "pentium-pro", "CPU_CLK_UNHALTED", 0x0079, 3},
		{__LINE__, "pentium-pro", "INST_RETIRED", 0x00c0, 3},
		{__LINE__, "pentium-pro", "DATA_MEM_REFS", 0x0043, 3},
		{__LINE__, "pentium-pro", "BR_TAKEN_RETIRED", 0x00c9, 3},
		{__LINE__, "pentium-pro", "FLOPS", 0x00c1, 1},
		{__LINE__, "pentium-pro", "BUS_TRAN_ANY.ANY", 0x2070, 3},
		{__LINE__, "pentium-pro", "L2_LINES_IN", 0x0024, 3},
		{__LINE__, "pentium-ii", "MMX_INSTR_RET", 0x00ce, 3},
		{__LINE__, "pentium-ii", "SEG_REG_RENAMES.GS", 0x08d5, 3},
		{__LINE__, "pentium-iii", "L2_RQSTS.M", 0x082e, 3},
		{__LINE__, "pentium-iii", "EMON_KNI_COMP_INST_RET.SCALAR", 0x01d9, 3},
		{__LINE__, "pentium-m", "BR_IND_CALL_EXEC", 0x0094, 3},
		{__LINE__, "pentium-m", "EMON_EST_TRANS.FREQ", 0x0258, 3},
		{__LINE__, "pentium-m", "EMON_SSE_SSE2_COMP_INST_RETIRED.SSE2_SCALAR_DOUBLE",
		 0x03d9, 3},
		{__LINE__, "pentium-m", "L2_LINES_IN.ONLY_HW_PREFETCH", 0x1024, 3},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].model);
		const struct spmu_event *event = NULL;

		for (size_t e = 0; model && e < spmu_event_count(model); e++)
			if (!strcmp(spmu_event_at(model, e)->name, rows[i].name))
				event = spmu_event_at(model, e);
		if (!CHECK_ROW(rows[i].line, event != NULL))
			continue;
		CHECK_ROW_EQ(rows[i].line, event->code, rows[i].code);
		CHECK_ROW_EQ(rows[i].line, event->counters & 3, rows[i].counters);
	}
	/* Events of MMX, of SSE, and of the Pentium II alone. */
	CHECK(spmu_event_by_code(spmu_model_find("pentium"), 0x2b) == NULL);
	CHECK(spmu_event_by_code(spmu_model_find("pentium-pro"), 0x00cd) == NULL);
	CHECK(spmu_event_by_code(spmu_model_find("pentium-ii"), 0x00d9) == NULL);
	CHECK(spmu_event_by_code(spmu_model_find("pentium-iii"), 0x00ce) == NULL);
	CHECK(spmu_event_by_code(spmu_model_find("netburst"), 0x00013407) == NULL);
}

/* Checks that each listed exception is needed, as the others hide mistakes. */
static void check_exceptions(void)
{
	for (size_t i = 0; i < COUNT(spellings); i++)
		if (!CHECK(spellings[i].used))
			printf("  %s\n", spellings[i].name);
	for (size_t i = 0; i < COUNT(precision); i++)
		if (!CHECK(precision[i].used))
			printf("  %s\n", precision[i].name);
}

int main(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS) {
		printf("libpfm4 does not start\n");
		return 1;
	}
	RUN(check_models());
	RUN(check_complete());
	RUN(check_typed());
	RUN(check_exceptions());
	return test_summary();
}
