/* SPDX-License-Identifier: MIT */
/*
 * events.c: the event tables of all models (chapter 19; precise events: 18.4.4, 18.6.1.1, 18.8.1.1,
 * 18.9.4, 18.13.1.2). The tests check rules that every row keeps, counters against a list typed
 * from another source, and what families must agree on. events_libpfm.c compares codes and
 * precision with libpfm4's.
 */
#include "tests/unit/unit_host.h"

/*
 * Counters as in Linux's event constraints: {model, code, counters of a core with two threads,
 * counters on which the event is precise}.
 */
static const struct {
	int line;
	const char *model;
	uint64_t code;
	uint32_t counters, precise;
} constraints[] = {
	{__LINE__, "pentium", 0x16, 0x03, 0x00},
	{__LINE__, "pentium-mmx", 0x30, 0x01, 0x00},
	{__LINE__, "pentium-mmx", 0x39, 0x01, 0x00},
	{__LINE__, "pentium-iii", 0x00c0, 0x03, 0x00},
	{__LINE__, "pentium-iii", 0x00c1, 0x01, 0x00},
	{__LINE__, "pentium-pro", 0x0010, 0x01, 0x00},
	{__LINE__, "pentium-pro", 0x0014, 0x01, 0x00},
	{__LINE__, "pentium-ii", 0x0011, 0x02, 0x00},
	{__LINE__, "pentium-m", 0x0012, 0x02, 0x00},
	{__LINE__, "pentium-m", 0x0013, 0x02, 0x00},
	/*
	 * NetBurst's codes: event select, ESCR select, block, mask. The counters are the P4
	 * driver's.
	 */
	{__LINE__, "netburst", 0x00013402, 0x3f000, 0x00000}, /* instr_retired, CRU_ESCR0, 1 */
	{__LINE__, "netburst", 0x00021204, 0x000f0, 0x00000}, /* retired_branch_type, TBPU */
	{__LINE__, "netburst", 0x00010613, 0x0000f, 0x00000}, /* global_power_events, FSB */
	{__LINE__, "netburst", 0x80002108, 0x00f00, 0x00000}, /* packed_SP_uop, FIRM */
	{__LINE__, "netburst", 0x00010705, 0x00003, 0x00000}, /* BSQ_allocation, BSU_ESCR0 */
	{__LINE__, "netburst", 0x00010706, 0x0000c, 0x00000}, /* BSQ_active_entries, BSU_ESCR1 */
	{__LINE__, "netburst", 0x0001061a, 0x0000c, 0x00000}, /* IOQ_active_entries, FSB_ESCR1 */
	{__LINE__, "netburst", 0x00013508, 0x3f000, 0x30000}, /* front_end_event, CRU_ESCR2, 3 */
	{__LINE__, "netburst", 0x0001350c, 0x3f000, 0x30000}, /* execution_event */
	{__LINE__, "netburst", 0x00013509, 0x3f000, 0x30000}, /* replay_event */
	{__LINE__, "prescott", 0x00013407, 0x3f000, 0x00000}, /* instr_completed */
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
	{__LINE__, "silvermont", 0x00c0, 0x03, 0x01},
	{__LINE__, "airmont", 0x00c4, 0x03, 0x01},
	{__LINE__, "knightslanding", 0x00c0, 0x03, 0x01},
	{__LINE__, "knightslanding", 0x00c4, 0x03, 0x01},
	{__LINE__, "knightslanding", 0x0404, 0x03, 0x01},
	{__LINE__, "knightslanding", 0x8004, 0x03, 0x00},
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
	{__LINE__, "sandybridge", 0x020002a3, 0x04, 0x00},
	{__LINE__, "sandybridge", 0x81d0, 0x0f, 0x0f},
	{__LINE__, "ivybridge", 0x01c0, 0x02, 0x02},
	{__LINE__, "ivybridge", 0x0148, 0x04, 0x00},
	{__LINE__, "ivybridge", 0x080008a3, 0x04, 0x00},
	{__LINE__, "ivybridge", 0x0c000ca3, 0x04, 0x00},
	{__LINE__, "haswell", 0x01c0, 0x02, 0x02},
	{__LINE__, "haswell", 0x01cd, 0x08, 0x08},
	{__LINE__, "haswell", 0x0148, 0x04, 0x00},
	{__LINE__, "haswell", 0x080008a3, 0x04, 0x00},
	{__LINE__, "haswell", 0x21d0, 0x0f, 0x0f},
	{__LINE__, "broadwell", 0x01c0, 0x02, 0x02},
	{__LINE__, "broadwell", 0x0148, 0x04, 0x00},
	{__LINE__, "broadwell", 0x0c000ca3, 0x04, 0x00},
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
	/* Linux: intel_spr_event_constraints, intel_spr_pebs_event_constraints. */
	{__LINE__, "alderlake-e", 0x05d0, 0x03, 0x03},
	{__LINE__, "alderlake-e", 0x06d0, 0x3f, 0x3f},
	{__LINE__, "alderlake-e", 0x00c4, 0x3f, 0x3f},
	{__LINE__, "sapphirerapids", 0x01cd, 0xfe, 0xfe},
	{__LINE__, "sapphirerapids", 0x02cd, 0x01, 0x01},
	{__LINE__, "sapphirerapids", 0x012a, 0x0f, 0x00},
	{__LINE__, "sapphirerapids", 0x04a4, 0x01, 0x00},
	{__LINE__, "sapphirerapids", 0x08a4, 0x01, 0x00},
	{__LINE__, "sapphirerapids", 0x82d0, 0x0f, 0x0f},
	{__LINE__, "sapphirerapids", 0x20c4, 0xff, 0xff},
	{__LINE__, "graniterapids", 0x01cd, 0xfe, 0xfe},
	{__LINE__, "graniterapids", 0x03c6, 0xff, 0xff},
	{__LINE__, "graniterapids", 0x09d0, 0x0f, 0x0f},
	/* Linux: intel_lnc_event_constraints, intel_lnc_pebs_event_constraints. */
	{__LINE__, "lunarlake", 0x01cd, 0x3fc, 0x3fc},
	{__LINE__, "lunarlake", 0x02cd, 0x03, 0x03},
	{__LINE__, "lunarlake", 0x0148, 0x04, 0x00},
	{__LINE__, "lunarlake", 0x10a4, 0x08, 0x00},
	{__LINE__, "lunarlake", 0x01b1, 0x08, 0x00},
	{__LINE__, "lunarlake", 0x04a4, 0x01, 0x00},
	{__LINE__, "lunarlake", 0x81d0, 0x0f, 0x0f},
	{__LINE__, "lunarlake", UINT64_C(0x100000001c4), 0x3ff, 0x3ff},
	{__LINE__, "sierraforest", 0x05d0, 0x03, 0x03},
	{__LINE__, "sierraforest", 0x06d0, 0xff, 0xff},
	{__LINE__, "sierraforest", 0x00c4, 0xff, 0xff},
	{__LINE__, "sierraforest", 0x1cd1, 0xff, 0xff},
};

/* Second names for a code. The first row is what the code means (tables of the two families). */
static const char *const second_names[] = {"INST_RETIRED.PREC_DIST"};

static bool is_second_name(const char *name)
{
	for (size_t i = 0; i < COUNT(second_names); i++)
		if (!strcmp(second_names[i], name))
			return true;
	return false;
}

static const struct spmu_event *find_name(const struct spmu_model *model, const char *name)
{
	for (size_t e = 0; e < spmu_event_count(model); e++)
		if (!strcmp(spmu_event_at(model, e)->name, name))
			return spmu_event_at(model, e);
	return NULL;
}

/* Checks what every row keeps. */
static void check_event(const struct spmu_model *model, const struct spmu_event *event)
{
	struct spmu_model_info info = spmu_model_describe(model);
	const struct spmu_event *first = spmu_event_by_code(model, event->code);
	uint64_t known = SPMU_SIGSET_ALL;
	unsigned before = check_failed;

	/* A Pentium's counters may have different events for one code (table 19-38). */
	CHECK(first == event || (is_second_name(event->name) && first->signals == event->signals) ||
	      (info.programming == SPMU_PROGRAM_CESR && !(first->counters & event->counters)));
	CHECK(find_name(model, event->name) == event);
	CHECK(event->description && event->section && strlen(event->description) > 5);
	CHECK_EQ(event->signals & ~known, 0);
	CHECK_EQ(event->signals == 0 && event->tally == SPMU_TALLY_NONE,
		 event->fidelity == SPMU_ABSENT);
	CHECK(event->tally < SPMU_TALLIES);
	CHECK_EQ(event->fidelity == SPMU_EXACT && (event->signals & ~SPMU_SIGSET_ARCHITECTURAL), 0);
	CHECK_EQ(event->pebs_counters & ~event->counters, 0);
	CHECK(info.pebs_format >= 0 || !event->pebs_counters);
	CHECK(event->counters || event->fixed >= 0);
	CHECK(!event->counters || (event->counters & ((1u << info.counters_ht) - 1)));
	CHECK(event->fixed < (int)info.fixed_counters);
	CHECK(!event->data_address || event->pebs_counters);
	/* What an instruction does inside is never counted exactly (chapter 19: micro-operations,
	 * operations executed). */
	if (strstr(event->name, "UOP") || strstr(event->name, "uop_") ||
	    (strstr(event->name, "_EXE") && info.perfmon_version))
		CHECK(event->fidelity != SPMU_EXACT);
	if (check_failed != before)
		printf("  %s: %s\n", info.name, event->name);
}

/*
 * Checks that architectural events mean the same in every family (18.2.1.2, table 18-1). So do
 * fixed counters (18.2.2).
 */
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
	unsigned counters = spmu_model_describe(model).fixed_counters;

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
		size_t count = spmu_event_count(model);

		CHECK(spmu_event_at(model, count) == NULL);
		if (spmu_model_describe(model).perfmon_version)
			check_architectural(model);
		else
			CHECK(spmu_event_fixed(model, 0) == NULL);
		for (size_t e = 0; e < count; e++)
			check_event(model, spmu_event_at(model, e));
	}
}

/* Checks that a name counts the same in every family that has it (chapter 19). Off-core responses
 * are only known where the layout of their registers is (offcore.c). */
static void check_same_names(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		for (size_t e = 0; e < spmu_event_count(model); e++) {
			const struct spmu_event *event = spmu_event_at(model, e), *other;

			for (size_t n = m + 1; n < spmu_model_count(); n++) {
				const struct spmu_model *next = spmu_model_at(n);

				other = find_name(next, event->name);
				if (other && (other->tally == SPMU_TALLY_OFFCORE) !=
						     (event->tally == SPMU_TALLY_OFFCORE))
					continue;
				if (other && !CHECK(other->signals == event->signals &&
						    other->tally == event->tally &&
						    other->fidelity == event->fidelity))
					printf("  %s of %s and %s\n", event->name,
					       spmu_model_describe(model).name,
					       spmu_model_describe(next).name);
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
		mask = (1u << spmu_model_describe(model).counters_ht) - 1;
		CHECK_ROW_EQ(constraints[i].line, event->counters & mask, constraints[i].counters);
		CHECK_ROW_EQ(constraints[i].line, event->pebs_counters, constraints[i].precise);
	}
}

/*
 * Checks 18.21: "not supported in Intel Xeon processor 7100 series", though other parts of model 6
 * do.
 */
static void check_queue_events(void)
{
	static const uint32_t codes[] = {0x00010603, 0x80000603, 0x0001061a, 0x8000061a};

	for (size_t i = 0; i < COUNT(codes); i++) {
		CHECK(spmu_event_by_code(spmu_model_find("cedar-mill"), codes[i]) != NULL);
		CHECK(spmu_event_by_code(spmu_model_find("xeon-7100"), codes[i]) == NULL);
	}
}

/*
 * Checks that each instruction has one micro-operation, as there is no model of micro-operations
 * (18.8.1.1, 18.9.4, 18.15.6 and chapter 19 name the events). Drivers use those that PEBS takes by
 * default. Top-down analysis uses those of issue and retirement.
 */
static void check_uops(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t code, precise;
	} rows[] = {
		{__LINE__, "pentium-pro", 0x00c2, 0},	{__LINE__, "pentium-m", 0x00c2, 0},
		{__LINE__, "netburst", 0x00013401, 0},	{__LINE__, "cedar-mill", 0x00013401, 0},
		{__LINE__, "core", 0x00c2, 0},		{__LINE__, "core2", 0x0fc2, 0},
		{__LINE__, "core2", 0x00a0, 0},		{__LINE__, "bonnell", 0x10c2, 0},
		{__LINE__, "silvermont", 0x10c2, 0},	{__LINE__, "goldmont", 0x00c2, 0x1},
		{__LINE__, "goldmont", 0x000e, 0},	{__LINE__, "goldmont-plus", 0x00c2, 0xf},
		{__LINE__, "nehalem", 0x01c2, 0xf},	{__LINE__, "nehalem", 0x010e, 0},
		{__LINE__, "westmere", 0x02c2, 0xf},	{__LINE__, "sandybridge", 0x01c2, 0xf},
		{__LINE__, "sandybridge", 0x02c2, 0xf}, {__LINE__, "sandybridge", 0x010e, 0},
		{__LINE__, "ivybridge", 0x01c2, 0xf},	{__LINE__, "haswell", 0x01c2, 0xf},
		{__LINE__, "haswell", 0x010e, 0},	{__LINE__, "broadwell", 0x02c2, 0xf},
		{__LINE__, "broadwell", 0x01b1, 0},	{__LINE__, "skylake", 0x01c2, 0xf},
		{__LINE__, "skylake", 0x02c2, 0},	{__LINE__, "skylake", 0x010e, 0},
		{__LINE__, "cascadelake", 0x02c2, 0},	{__LINE__, "icelake", 0x02c2, 0},
		{__LINE__, "tigerlake", 0x010e, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].model);
		const struct spmu_event *event = spmu_event_by_code(model, rows[i].code);

		if (!CHECK_ROW(rows[i].line, event != NULL))
			continue;
		CHECK_ROW_EQ(rows[i].line, event->signals, SPMU_SIGBIT(INSTRUCTIONS));
		CHECK_ROW_EQ(rows[i].line, event->fidelity, SPMU_MODELLED);
		CHECK_ROW_EQ(rows[i].line, event->pebs_counters, rows[i].precise);
	}
	/* No model has the queue of instructions: table 19-2, 87H. */
	CHECK(spmu_event_by_code(spmu_model_find("skylake"), 0x0487) == NULL);
}

/*
 * Checks tables 18-56 and 18-45: precise events, and those with a data address. Other tables of
 * chapter 19 name more precise events (19-10 to 19-15, 19-19, 19-26).
 */
static void check_precise_tables(void)
{
	static const uint16_t skylake[] = {
		0x01c0, 0x3fc1, 0x01c4, 0x02c4, 0x04c4, 0x08c4, 0x20c4, 0x40c4, 0x01c5, 0x04c5,
		0x20c5, 0x01c6, 0x04c8, 0x04c9, 0x21d0, 0x41d0, 0x42d0, 0x81d0, 0x82d0, 0x01d1,
		0x02d1, 0x04d1, 0x08d1, 0x10d1, 0x20d1, 0x40d1, 0x01d2, 0x02d2, 0x04d2, 0x08d2};
	static const uint16_t addressed[] = {0x11d0, 0x12d0, 0x21d0, 0x41d0, 0x42d0, 0x81d0, 0x82d0,
					     0x01d1, 0x02d1, 0x04d1, 0x08d1, 0x10d1, 0x20d1, 0x40d1,
					     0x01d2, 0x02d2, 0x04d2, 0x08d2, 0x01d3, 0x01c2};
	static const struct {
		int line;
		const char *model;
		uint16_t code;
	} others[] = {
		{__LINE__, "bonnell", 0x0ac4},
		{__LINE__, "westmere-ep", 0x010f},
		{__LINE__, "westmere-ep", 0x020f},
		{__LINE__, "westmere-ep", 0x040f},
		{__LINE__, "westmere-ep", 0x080f},
		{__LINE__, "westmere-ep", 0x100f},
		{__LINE__, "westmere-ep", 0x200f},
		{__LINE__, "westmere-ep", 0x800f},
		{__LINE__, "sandybridge", 0x20d1},
		{__LINE__, "sandybridge-server", 0x01d3},
		{__LINE__, "sandybridge-server", 0x04d3},
		{__LINE__, "ivybridge", 0x10c4},
		{__LINE__, "ivybridge", 0x40c4},
		{__LINE__, "ivybridge", 0x02ca},
		{__LINE__, "ivybridge", 0x04ca},
		{__LINE__, "ivybridge", 0x08ca},
		{__LINE__, "ivybridge", 0x01d3},
		{__LINE__, "ivybridge-server", 0x0cd3},
		{__LINE__, "ivybridge-server", 0x10d3},
		{__LINE__, "ivybridge-server", 0x20d3},
		{__LINE__, "haswell-server", 0x04d3},
		{__LINE__, "haswell-server", 0x10d3},
		{__LINE__, "broadwell-server", 0x20d3},
	};
	const struct spmu_event *event;

	for (size_t i = 0; i < COUNT(skylake); i++) {
		event = spmu_event_by_code(spmu_model_find("skylake"), skylake[i]);
		if (!CHECK(event && event->pebs_counters))
			printf("  %04x\n", skylake[i]);
	}
	for (size_t i = 0; i < COUNT(others); i++) {
		event = spmu_event_by_code(spmu_model_find(others[i].model), others[i].code);
		CHECK_ROW(others[i].line, event && event->pebs_counters);
	}
	for (size_t i = 0; i < COUNT(addressed); i++) {
		event = spmu_event_by_code(spmu_model_find("haswell"), addressed[i]);
		if (!CHECK(event && event->pebs_counters && event->data_address))
			printf("  %04x\n", addressed[i]);
	}
}

/* Checks table 19-27: each event select of Core Solo and Core Duo has a row. */
static void check_core_selects(void)
{
	static const uint8_t selects[] = {
		0x03, 0x04, 0x05, 0x06, 0x07, 0x10, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24,
		0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2e, 0x30, 0x32, 0x3a, 0x3b, 0x3c, 0x40, 0x41,
		0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x4b, 0x4f, 0x60, 0x61, 0x62, 0x63,
		0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x6f, 0x70, 0x77,
		0x78, 0x7d, 0x7e, 0x80, 0x81, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d,
		0x8e, 0x8f, 0x90, 0x91, 0x92, 0x93, 0x94, 0xa2, 0xb0, 0xb1, 0xb3, 0xc0, 0xc1, 0xc2,
		0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcc, 0xcd, 0xce, 0xd0, 0xd7, 0xd8,
		0xd9, 0xda, 0xdb, 0xe0, 0xe2, 0xe4, 0xe6, 0xf0, 0xf8};
	const struct spmu_model *core = spmu_model_find("core");

	for (size_t i = 0; i < COUNT(selects); i++) {
		bool found = false;

		for (size_t e = 0; e < spmu_event_count(core); e++)
			found |= (spmu_event_at(core, e)->code & 0xff) == selects[i];
		if (!CHECK(found))
			printf("  %02x\n", selects[i]);
	}
}

int main(void)
{
	RUN(check_models());
	RUN(check_queue_events());
	RUN(check_uops());
	RUN(check_precise_tables());
	RUN(check_core_selects());
	RUN(check_same_names());
	RUN(check_constraints());
	return test_summary();
}
