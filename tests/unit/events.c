/* SPDX-License-Identifier: MIT */
/*
 * events.c: the event tables of all models (chapter 19; precise events: 18.4.4, 18.6.1.1, 18.8.1.1,
 * 18.9.4, 18.13.1.2): rules that every row keeps, codes and precision against libpfm4's tables as a
 * second source, counters against a list typed from a third, and what families must agree on.
 */
#include <perfmon/pfmlib.h>

#include "tests/unit/unit_host.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What libpfm4 4.13 spells otherwise, or lacks (NULL).  A row without a table's name holds for
 * all tables.  A row that is not needed fails.
 */
static struct {
	const char *pfm, *name, *spelling;
	bool used;
} spellings[] = {
	/* Fixed counters have no names of their own there; code 0300H has one. */
	{"core atom slm glm nhm wsm snb ivb hsw bdw skl skx clx", "INST_RETIRED.ANY", NULL,
	 false}, /* means 01C0H */
	{NULL, "CPU_CLK_UNHALTED.THREAD", NULL, false},
	{"core atom slm", "CPU_CLK_UNHALTED.CORE", NULL, false},
	{"core atom nhm wsm", "CPU_CLK_UNHALTED.REF", "UNHALTED_REFERENCE_CYCLES", false},
	{NULL, "CPU_CLK_UNHALTED.REF_TSC", "UNHALTED_REFERENCE_CYCLES", false},
	{"skl skx clx", "CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_THREAD_UNHALTED:THREAD_P", false},
	{"skl skx clx", "CPU_CLK_UNHALTED.REF_XCLK", "CPU_CLK_THREAD_UNHALTED:REF_XCLK", false},
	{"glm", "CPU_CLK_UNHALTED.CORE_P", "UNHALTED_CORE_CYCLES",
	 false},				      /* lost its event select */
	{"glm", "CPU_CLK_UNHALTED.REF", NULL, false}, /* likewise */
	/* Other names for the same. */
	{"core", "BR_INST_RETIRED.MISPRED", "BR_INST_RETIRED_MISPRED", false},
	{"core atom", "L2_RQSTS.SELF.DEMAND.MESI", "LLC_REFERENCES", false},
	{"core atom", "L2_RQSTS.SELF.DEMAND.I_STATE", "LLC_MISSES", false},
	{"atom", "BR_INST_RETIRED.MISPRED", "MISPREDICTED_BRANCH_RETIRED",
	 false}, /* its MISPRED is 0AC4H */
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
	/* In Intel's lists or the manual's tables alone. */
	{"skl skx clx", "INST_RETIRED.NOP", NULL, false},
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
	/* Needs a register of its own, which libpfm4 asks for. */
	{NULL, "FRONTEND_RETIRED", NULL, false},
	{"icl icx", "OFFCORE_RESPONSE_0", NULL, false},
	{"icl icx", "OFFCORE_RESPONSE_1", NULL, false},
};

/*
 * Where libpfm4 and the manual's tables differ about precision.  From Sandy Bridge to Skylake
 * libpfm4 marks all unit masks of C4H and C5H; the tables of precise events list some of them, and
 * unit mask 04H for all branches.
 */
static struct {
	const char *pfm, *name;
	bool used;
} precision[] = {
	{"ivb hsw bdw skl skx clx", "BR_INST_RETIRED.ALL_BRANCHES", false},
	{"ivb hsw bdw skl skx clx", "BR_MISP_RETIRED.ALL_BRANCHES", false},
	{"snb ivb hsw bdw", "BR_INST_RETIRED.NOT_TAKEN", false},
	{"snb ivb hsw bdw", "BR_INST_RETIRED.FAR_BRANCH", false},
	{"skl skx clx", "OTHER_ASSISTS.ANY", false},  /* precise in table 18-56 */
	{"slm", "INST_RETIRED.ANY_P", false},	      /* not in table 18-12 */
	{"hsw", "INST_RETIRED.X87", false},	      /* not in Intel's list */
	{"wsm", "INSTRUCTION_RETIRED", false},	      /* C0H is precise with any unit mask */
	{"icl icx", "INST_RETIRED.ANY_P", false},     /* precise in Intel's lists */
	{"icl icx", "INST_RETIRED.NOP", false},	      /* precise in Intel's lists */
	{"icl icx", "INST_RETIRED.PREC_DIST", false}, /* on fixed counter 0, which no row says */
	{"icl icx", "RTM_RETIRED.ABORTED", false},    /* precise in Intel's lists */
};

/*
 * Counters, as Linux's event constraints have them: {model, code, counters of a core with two
 * threads, those on which it is precise}.
 */
static const struct {
	int line;
	const char *model;
	uint16_t code;
	uint32_t counters, precise;
} constraints[] = {
	{__LINE__, "core", 0x00c0, 0x03, 0x00},
	{__LINE__, "core", 0x0011, 0x02, 0x00},
	{__LINE__, "core", 0x00c1, 0x01, 0x00},
	{__LINE__, "core2", 0x00c0, 0x03, 0x01},
	{__LINE__, "core2", 0xfec1, 0x03, 0x01},
	{__LINE__, "core2", 0x00c5, 0x03, 0x01},
	{__LINE__, "core2", 0x1fc7, 0x03, 0x01},
	{__LINE__, "core2", 0x04cb, 0x01, 0x01},
	{__LINE__, "core2", 0x00c9, 0x01, 0x00},
	{__LINE__, "core2", 0x0010, 0x01, 0x00},
	{__LINE__, "core2", 0x0012, 0x02, 0x00},
	{__LINE__, "core2", 0x0018, 0x01, 0x00},
	{__LINE__, "core2", 0x0219, 0x02, 0x00},
	{__LINE__, "core2", 0x20a1, 0x01, 0x00},
	{__LINE__, "core2", 0x00c4, 0x03, 0x00},
	{__LINE__, "bonnell", 0x00c0, 0x03, 0x01},
	{__LINE__, "bonnell", 0x00c5, 0x03, 0x01},
	{__LINE__, "bonnell", 0x01cb, 0x03, 0x01},
	{__LINE__, "bonnell", 0x00c4, 0x03, 0x00},
	{__LINE__, "silvermont", 0x00c4, 0x03, 0x01},
	{__LINE__, "silvermont", 0x00c0, 0x03, 0x00},
	{__LINE__, "airmont", 0x00c4, 0x03, 0x01},
	{__LINE__, "goldmont", 0x00c0, 0x0f, 0x01},
	{__LINE__, "goldmont", 0x81d0, 0x0f, 0x01},
	{__LINE__, "goldmont-plus", 0x00c0, 0x0f, 0x0f},
	{__LINE__, "goldmont-plus", 0x81d0, 0x0f, 0x0f},
	{__LINE__, "nehalem", 0x00c0, 0x0f, 0x0f},
	{__LINE__, "nehalem", 0x010b, 0x0f, 0x0f},
	{__LINE__, "nehalem", 0x100b, 0x0f, 0x0f},
	{__LINE__, "nehalem", 0x0140, 0x03, 0x00},
	{__LINE__, "nehalem", 0x0251, 0x03, 0x00},
	{__LINE__, "nehalem", 0x0163, 0x03, 0x00},
	{__LINE__, "nehalem", 0x02c5, 0x0f, 0x0f},
	{__LINE__, "nehalem", 0x00c5, 0x0f, 0x00},
	{__LINE__, "westmere", 0x00c5, 0x0f, 0x0f},
	{__LINE__, "westmere", 0x0251, 0x03, 0x00},
	{__LINE__, "westmere", 0x0160, 0x01, 0x00},
	{__LINE__, "westmere", 0x01b3, 0x01, 0x00},
	{__LINE__, "sandybridge", 0x01c0, 0x02, 0x02},
	{__LINE__, "sandybridge", 0x01cd, 0x08, 0x08},
	{__LINE__, "sandybridge", 0x02cd, 0x08, 0x08},
	{__LINE__, "sandybridge", 0x0148, 0x04, 0x00},
	{__LINE__, "sandybridge", 0x02a3, 0x04, 0x00},
	{__LINE__, "sandybridge", 0x81d0, 0x0f, 0x0f},
	{__LINE__, "ivybridge", 0x01c0, 0x02, 0x02},
	{__LINE__, "ivybridge", 0x0148, 0x04, 0x00},
	{__LINE__, "ivybridge", 0x08a3, 0x04, 0x00},
	{__LINE__, "ivybridge", 0x0ca3, 0x04, 0x00},
	{__LINE__, "haswell", 0x01c0, 0x02, 0x02},
	{__LINE__, "haswell", 0x01cd, 0x08, 0x08},
	{__LINE__, "haswell", 0x0148, 0x04, 0x00},
	{__LINE__, "haswell", 0x08a3, 0x04, 0x00},
	{__LINE__, "haswell", 0x21d0, 0x0f, 0x0f},
	{__LINE__, "broadwell", 0x01c0, 0x02, 0x02},
	{__LINE__, "broadwell", 0x0148, 0x04, 0x00},
	{__LINE__, "broadwell", 0x0ca3, 0x04, 0x00},
	{__LINE__, "skylake", 0x01c0, 0x02, 0x02},
	{__LINE__, "skylake", 0x81d0, 0x0f, 0x0f},
	{__LINE__, "icelake", 0x00c0, 0xff, 0xff},
	{__LINE__, "icelake", 0x20c4, 0xff, 0xff},
	{__LINE__, "icelake", 0x01cd, 0xff, 0xff},
	{__LINE__, "icelake", 0x0148, 0x0f, 0x00},
	{__LINE__, "icelake", 0x01b7, 0x0f, 0x00},
	{__LINE__, "icelake", 0x82d0, 0x0f, 0x0f},
	{__LINE__, "icelake", 0x08d2, 0x0f, 0x0f},
	{__LINE__, "tigerlake", 0x82d0, 0x0f, 0x0f},
	{__LINE__, "tigerlake", 0x00c4, 0xff, 0xff},
};

/* A second name for a code; the first row is what the code means (tables of the two families). */
static const char *const second_names[] = {"INST_RETIRED.PREC_DIST"};

/* Whether `word` is one of the words of the list; NULL stands for every word.  A server's table
 * ("snb_ep") is meant by the name of its sibling's. */
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

/* The row of spellings for an event, one that names the table before one that does not. */
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

/* Whether libpfm4 marks the event, or the unit mask when one is named, precise. */
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

/* libpfm4's code of "table::name"; false when it does not know the name. */
static bool pfm_encode(const char *pfm, const char *name, pfm_pmu_encode_arg_t *arg, uint16_t *code)
{
	char full[160];

	snprintf(full, sizeof(full), "%s::%s", pfm, name);
	*arg = (pfm_pmu_encode_arg_t){.size = sizeof(*arg)};
	if (pfm_get_os_event_encoding(full, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, arg) != PFM_SUCCESS)
		return false;
	*code = (uint16_t)arg->codes[0];
	free(arg->codes);
	return true;
}

/* libpfm4 leaves tables of 32-bit processors out where it is built for 64 bits. */
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

/* Returns 1 when libpfm4 agreed about the event. */
static unsigned check_against_pfm(const char *pfm, const struct spmu_event *event)
{
	int spelling = find_spelling(pfm, event->name);
	pfm_pmu_encode_arg_t arg;
	char name[128];
	uint16_t code = 0;
	bool known, good;

	snprintf(name, sizeof(name), "%s", event->name);
	if (strchr(name, '.'))
		*strchr(name, '.') = ':';
	if (spelling >= 0 && spellings[spelling].spelling)
		snprintf(name, sizeof(name), "%s", spellings[spelling].spelling);
	known = pfm_encode(pfm, name, &arg, &code);
	/* A server's table may know what its sibling's does not. */
	if (spelling >= 0 && !spellings[spelling].spelling &&
	    !(strchr(pfm, '_') && known && code == event->code)) {
		if (!CHECK(!known || code != event->code))
			printf("  %s::%s is known after all\n", pfm, name);
		return 0;
	}
	good = CHECK(known) && CHECK_EQ(code, event->code);
	if (good)
		good = CHECK_EQ(pfm_precise(arg.idx, strchr(name, ':')) ^
					differs_in_precision(pfm, event->name),
				event->pebs_counters != 0);
	if (!good)
		printf("  %s::%s\n", pfm, name);
	return good;
}

static bool is_second_name(const char *name)
{
	for (size_t i = 0; i < COUNT(second_names); i++)
		if (!strcmp(second_names[i], name))
			return true;
	return false;
}

/* What every row keeps. */
static void check_event(const struct spmu_model *model, const struct spmu_event *event)
{
	struct spmu_model_info info = spmu_model_info(model);
	const struct spmu_event *first = spmu_event_by_code(model, event->code);
	uint64_t known = (UINT64_C(1) << SPMU_SIGNALS) - 1;
	unsigned before = check_failed;

	CHECK(first == event || (is_second_name(event->name) && first->signals == event->signals));
	CHECK(event->description && event->section && strlen(event->description) > 5);
	CHECK_EQ(event->signals & ~known, 0);
	CHECK_EQ(event->signals == 0, event->fidelity == SPMU_ABSENT);
	CHECK_EQ(event->fidelity == SPMU_EXACT && (event->signals & ~SPMU_SIGSET_ARCHITECTURAL), 0);
	CHECK_EQ(event->pebs_counters & ~event->counters, 0);
	CHECK(info.pebs_format >= 0 || !event->pebs_counters);
	CHECK(event->counters || event->fixed >= 0);
	CHECK(!event->counters || (event->counters & ((1u << info.counters_ht) - 1)));
	CHECK(event->fixed < (int)info.fixed_counters);
	CHECK(!event->data_address || event->pebs_counters);
	/* What an instruction does inside is never counted exactly (chapter 19: micro-operations,
	 * operations executed). */
	if (strstr(event->name, "UOP") || strstr(event->name, "_EXE"))
		CHECK(event->fidelity != SPMU_EXACT);
	if (check_failed != before)
		printf("  %s: %s\n", info.name, event->name);
}

/* Architectural events mean the same in every family (18.2.1.2, table 18-1), and so do fixed
 * counters (18.2.2). */
static void check_architectural(const struct spmu_model *model)
{
	static const struct {
		int line;
		uint16_t code;
		uint64_t signals;
		enum spmu_fidelity fidelity;
	} rows[] = {
		{__LINE__, 0x00c0, SPMU_SIGBIT(INSTRUCTIONS), SPMU_EXACT},
		{__LINE__, 0x00c4, SPMU_SIGSET_BRANCHES, SPMU_EXACT},
		{__LINE__, 0x00c5, SPMU_SIGBIT(BRANCH_MISS), SPMU_MODELLED},
		{__LINE__, 0x003c, SPMU_SIGBIT(CYCLES), SPMU_MODELLED},
		{__LINE__, 0x013c, SPMU_SIGBIT(REF_CYCLES), SPMU_MODELLED},
		{__LINE__, 0x4f2e, SPMU_SIGBIT(LLC_REFERENCE), SPMU_MODELLED},
		{__LINE__, 0x412e, SPMU_SIGBIT(LLC_MISS), SPMU_MODELLED},
	};
	static const uint64_t fixed[] = {SPMU_SIGBIT(INSTRUCTIONS), SPMU_SIGBIT(CYCLES),
					 SPMU_SIGBIT(REF_CYCLES), 0};
	unsigned counters = spmu_model_info(model).fixed_counters;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_event *event = spmu_event_by_code(model, rows[i].code);

		if (!CHECK_ROW(rows[i].line, event != NULL))
			continue;
		CHECK_ROW_EQ(rows[i].line, event->signals, rows[i].signals);
		CHECK_ROW_EQ(rows[i].line, event->fidelity, rows[i].fidelity);
		CHECK_ROW(rows[i].line, (event->counters & 3) == 3);
	}
	for (unsigned f = 0; f < counters; f++) {
		const struct spmu_event *event = spmu_event_fixed(model, f);

		if (!CHECK(event != NULL))
			continue;
		CHECK_EQ(event->code, (f + 1) << 8);
		CHECK_EQ(event->fixed, (int)f);
		CHECK_EQ(event->counters, 0);
		CHECK_EQ(event->signals, fixed[f]);
	}
	CHECK(spmu_event_fixed(model, counters) == NULL);
}

static void check_models(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		struct spmu_model_info info = spmu_model_info(model);
		size_t count = spmu_event_count(model);
		bool has_table = info.pfm && pfm_has(info.pfm);
		unsigned agreed = 0;

		CHECK(spmu_event_at(model, count) == NULL);
		CHECK(has_table || !strcmp(info.name, "core"));
		check_architectural(model);
		for (size_t e = 0; e < count; e++) {
			check_event(model, spmu_event_at(model, e));
			if (has_table)
				agreed += check_against_pfm(info.pfm, spmu_event_at(model, e));
		}
		if (has_table && !CHECK(agreed > count / 2))
			printf("  %s: libpfm4 knows %u of %zu\n", info.name, agreed, count);
	}
}

static const struct spmu_event *find_name(const struct spmu_model *model, const char *name)
{
	for (size_t e = 0; e < spmu_event_count(model); e++)
		if (!strcmp(spmu_event_at(model, e)->name, name))
			return spmu_event_at(model, e);
	return NULL;
}

/* A name counts the same in every family that has it (chapter 19). */
static void check_same_names(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		for (size_t e = 0; e < spmu_event_count(model); e++) {
			const struct spmu_event *event = spmu_event_at(model, e), *other;

			for (size_t n = m + 1; n < spmu_model_count(); n++) {
				const struct spmu_model *next = spmu_model_at(n);

				other = find_name(next, event->name);
				if (other && !CHECK(other->signals == event->signals &&
						    other->fidelity == event->fidelity))
					printf("  %s of %s and %s\n", event->name,
					       spmu_model_info(model).name,
					       spmu_model_info(next).name);
			}
		}
	}
}

static void check_constraints(void)
{
	for (size_t i = 0; i < COUNT(constraints); i++) {
		const struct spmu_model *model = spmu_model_find(constraints[i].model);
		const struct spmu_event *event;
		uint32_t mask;

		if (!CHECK_ROW(constraints[i].line, model != NULL))
			continue;
		event = spmu_event_by_code(model, constraints[i].code);
		if (!CHECK_ROW(constraints[i].line, event != NULL))
			continue;
		mask = (1u << spmu_model_info(model).counters_ht) - 1;
		CHECK_ROW_EQ(constraints[i].line, event->counters & mask, constraints[i].counters);
		CHECK_ROW_EQ(constraints[i].line, event->pebs_counters, constraints[i].precise);
	}
}

/* Exceptions that nothing needs hide mistakes. */
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
	check_models();
	check_same_names();
	check_constraints();
	check_exceptions();
	return test_summary();
}
