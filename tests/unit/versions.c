/* SPDX-License-Identifier: MIT */
/*
 * versions.c: differences between the versions of architectural performance monitoring, one
 * function for each rule, with its section (Vol. 3B 18.2).
 */
#include <softpmu/state.h>

#include "tests/unit/unit_host.h"

#define EN_FIXED UINT64_C(0x100000000)
#define JUMP	 SPMU_SIGBIT(JMP_REL)
#define BRANCHES 0xc4 /* the architectural event, table 18-1 */
#define INSNS	 0xc0

static enum spmu_outcome try_read(struct unit_host *host, uint32_t msr)
{
	uint64_t value;

	return spmu_read_msr(host->core, 0, msr, &value);
}

/* Checks 18.2.1: version 1 has event selects and counters and nothing else. */
static void version_1_registers(void)
{
	static const uint32_t absent[] = {0x309, 0x30a, 0x30b, 0x38d, 0x38e, 0x38f, 0x390,
					  0x391, 0x392, 0x3f1, 0x4c1, 0xc3,  0x188};
	struct unit_host host;

	host_create(&host, "core", 1, SUPPLY_EXECUTION);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		CHECK_EQ(try_read(&host, absent[i]), SPMU_GP);
		CHECK_EQ(try_write(&host, absent[i], 0), SPMU_GP);
	}
	CHECK_EQ(try_write(&host, EVTSEL0, COUNT_ALL | SELECT_ANY | INSNS), SPMU_GP);
	host_destroy(&host);
}

/* Checks 18.2.1.1: in version 1 a counter counts as soon as its own EN bit is set. */
static void version_1_enables(void)
{
	struct unit_host host;

	host_create(&host, "core", 1, SUPPLY_EXECUTION);
	WRMSR(&host, EVTSEL0, COUNT_ALL | INSNS);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | BRANCHES);
	retire(&host, 1, JUMP);
	retire(&host, 2, 0);
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 1);
	WRMSR(&host, EVTSEL0, (COUNT_ALL & ~0x400000u) | INSNS);
	retire(&host, 3, JUMP);
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 2);
	host_destroy(&host);
}

/* Checks 18.2.1.1, INT: the interrupt is the only sign of an overflow; no status is kept. */
static void version_1_overflows(void)
{
	struct unit_host host, other;
	uint8_t block[8192], again[8192];
	size_t bytes;

	host_create(&host, "core", 1, SUPPLY_EXECUTION);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | INSNS);
	WRMSR(&host, PMC0, UINT32_MAX); /* -1 in 40 bits */
	CHECK_EQ(RDMSR(&host, PMC0), MAX40);
	CHECK_EQ(retire(&host, 1, 0), SPMU_EV_PMI);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	CHECK_EQ(retire(&host, 2, 0), 0);
	CHECK_EQ(host.pmis, 1);
	/* In bulk, too. */
	WRMSR(&host, EVTSEL0, COUNT_ALL | INSNS);
	WRMSR(&host, PMC0, UINT32_MAX);
	host.meters[0].meter[0].headroom -= 3;
	CHECK_EQ(RDMSR(&host, PMC0), 2);

	bytes = spmu_state_bytes(host.core);
	CHECK(bytes <= sizeof(block));
	CHECK_EQ(spmu_save(host.core, block, sizeof(block)), SPMU_OK);
	host_create(&other, "core", 1, SUPPLY_EXECUTION);
	CHECK_EQ(spmu_load(other.core, block, bytes), SPMU_OK);
	CHECK_EQ(spmu_save(other.core, again, sizeof(again)), SPMU_OK);
	CHECK(!memcmp(block, again, bytes));
	host_destroy(&other);
	host_destroy(&host);
}

/* Checks 18.2.1.1 and 18.2.5: counters of 40 bits; IA32_PMCx takes 32 and extends the sign. */
static void forty_bits(void)
{
	static const char *const models[] = {"core",	"core2",      "core2-45nm",
					     "bonnell", "silvermont", "airmont"};

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		struct unit_host host;
		uint64_t value;

		host_create(&host, models[m], 1, SUPPLY_EXECUTION);
		spmu_write_lvt(host.core, 0, LVT_NMI);
		WRMSR(&host, PMC0, UINT64_C(0xdeadbeef80000000));
		CHECK_EQ(RDMSR(&host, PMC0), UINT64_C(0xff80000000));
		WRMSR(&host, PMC0, UINT64_C(0xff7fffffff));
		CHECK_EQ(RDMSR(&host, PMC0), 0x7fffffff);
		WRMSR(&host, PMC0, UINT64_C(0xfffffffe));
		WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | INSNS);
		CHECK_EQ(retire(&host, 1, 0), 0);
		CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 0, false, true, &value), SPMU_DONE);
		CHECK_EQ(value, MAX40);
		CHECK_EQ(retire(&host, 2, 0), SPMU_EV_PMI);
		CHECK_EQ(RDMSR(&host, PMC0), 0);
		if (spmu_model_describe(host.model).fixed_counters) {
			CHECK_EQ(try_write(&host, FIXED0, MAX40), SPMU_DONE);
			CHECK_EQ(try_write(&host, FIXED0, MAX40 + 1), SPMU_GP);
			WRMSR(&host, GLOBAL_CTRL, EN_FIXED);
			WRMSR(&host, FIXED_CTRL, 0xb);
			spmu_write_lvt(host.core, 0, LVT_NMI);
			CHECK_EQ(retire(&host, 3, 0), SPMU_EV_PMI);
			CHECK_EQ(RDMSR(&host, FIXED0), 0);
			CHECK_EQ(CAUSES(&host), EN_FIXED | 1);
		}
		host_destroy(&host);
	}
}

/*
 * Checks 18.2.5: full-width aliases where IA32_PERF_CAPABILITIES has the bit, as wide as the
 * counters.
 */
static void full_width(void)
{
	static const struct {
		int line;
		const char *model;
		unsigned bits; /* 0: no aliases */
	} rows[] = {
		{__LINE__, "core2", 0},	      {__LINE__, "bonnell", 0},
		{__LINE__, "silvermont", 40}, {__LINE__, "nehalem", 0},
		{__LINE__, "westmere", 0},    {__LINE__, "goldmont", 48},
		{__LINE__, "haswell", 48},    {__LINE__, "broadwell", 48},
		{__LINE__, "ivybridge", 48},  {__LINE__, "goldmont-plus", 48},
		{__LINE__, "icelake", 48},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;
		uint64_t top = rows[i].bits ? UINT64_C(1) << rows[i].bits : 0;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, CAPABILITIES) >> 13 & 1, rows[i].bits != 0);
		CHECK_ROW_EQ(rows[i].line, try_write(&host, A_PMC0, top >> 1),
			     rows[i].bits ? SPMU_DONE : SPMU_GP);
		if (rows[i].bits) {
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), top >> 1);
			CHECK_ROW_EQ(rows[i].line, try_write(&host, A_PMC0, top), SPMU_GP);
		}
		host_destroy(&host);
	}
}

/* Checks 18.2.2 to 18.2.4: which of the global registers exist, and their power-up values. */
static void global_registers(void)
{
	static const struct {
		int line;
		const char *model;
		uint64_t enabled;
		bool set;
	} rows[] = {
		{__LINE__, "core2", 3, false},		 {__LINE__, "bonnell", 3, false},
		{__LINE__, "silvermont", 3, false},	 {__LINE__, "nehalem", 0xf, false},
		{__LINE__, "sandybridge", 0xff, false},	 {__LINE__, "haswell", 0xff, false},
		{__LINE__, "goldmont", 0xf, true},	 {__LINE__, "goldmont-plus", 0xf, true},
		{__LINE__, "skylake", 0xff, true},	 {__LINE__, "icelake", 0xff, true},
		{__LINE__, "tigerlake", 0xff, true},	 {__LINE__, "sapphirerapids", 0xff, true},
		{__LINE__, "alderlake-e", 0x3f, true},	 {__LINE__, "alderlake", 0xff, true},
		{__LINE__, "graniterapids", 0xff, true}, {__LINE__, "lunarlake", 0x3ff, true},
		{__LINE__, "sierraforest", 0xff, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, GLOBAL_CTRL), rows[i].enabled);
		CHECK_ROW_EQ(rows[i].line, try_write(&host, STATUS, 0), SPMU_GP);
		CHECK_ROW_EQ(rows[i].line, try_write(&host, STATUS_SET, 1),
			     rows[i].set ? SPMU_DONE : SPMU_GP);
		CHECK_ROW_EQ(rows[i].line, try_read(&host, INUSE),
			     rows[i].set ? SPMU_DONE : SPMU_GP);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), rows[i].set);
		/*
		 * IA32_PERF_GLOBAL_OVF_CTRL and IA32_PERF_GLOBAL_STATUS_RESET are the same
		 * register.
		 */
		WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | INSNS);
		WRMSR(&host, PMC0 + 1, UINT32_MAX);
		retire(&host, 1, 0);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host) & 2, 2);
		WRMSR(&host, STATUS_RESET, 1);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 2);
		WRMSR(&host, STATUS_RESET, OVFBUF | UINT64_C(1) << 63 | 2);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, STATUS_RESET), 0);
		/* 18.2.2: the enable bit and the global one are ANDed. */
		WRMSR(&host, GLOBAL_CTRL, 1);
		retire(&host, 2, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0 + 1), 0);
		host_destroy(&host);
	}
}

/* Checks 17.4.7 and 18.2.4.1: before version 4 a freeze clears IA32_PERF_GLOBAL_CTRL. */
static void freezes(void)
{
	static const struct {
		int line;
		const char *model;
		bool legacy;
	} rows[] = {
		{__LINE__, "core2", true},	{__LINE__, "bonnell", true},
		{__LINE__, "silvermont", true}, {__LINE__, "nehalem", true},
		{__LINE__, "haswell", true},	{__LINE__, "goldmont", false},
		{__LINE__, "skylake", false},	{__LINE__, "icelake", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		spmu_write_lvt(host.core, 0, LVT_NMI);
		WRMSR(&host, DEBUGCTL, 1u << 12);
		WRMSR(&host, EVTSEL0, COUNT_ALL | SELECT_INT | BRANCHES);
		WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | INSNS);
		WRMSR(&host, PMC0, UINT32_MAX);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 1, JUMP), SPMU_EV_PMI | SPMU_EV_METERS);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, GLOBAL_CTRL) == 0, rows[i].legacy);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), rows[i].legacy ? 1 : CTR_FRZ | 1);
		retire(&host, 2, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0 + 1), 1);
		/* Software unfreezes through the register that was frozen. */
		if (rows[i].legacy)
			WRMSR(&host, GLOBAL_CTRL, 3);
		else
			WRMSR(&host, STATUS_RESET, CTR_FRZ);
		retire(&host, 3, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0 + 1), 2);
		host_destroy(&host);
	}
}

/* Checks 18.2.3: AnyThread from version 3 on, unless CPUID.0AH:EDX[15] deprecates it. */
static void any_thread(void)
{
	static const struct {
		int line;
		const char *model;
		bool any;
	} rows[] = {
		{__LINE__, "core2", false},    {__LINE__, "bonnell", true},
		{__LINE__, "nehalem", true},   {__LINE__, "sandybridge", true},
		{__LINE__, "broadwell", true}, {__LINE__, "goldmont-plus", false},
		{__LINE__, "icelake", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 2, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, try_write(&host, FIXED_CTRL, 7),
			     rows[i].any ? SPMU_DONE : SPMU_GP);
		CHECK_ROW_EQ(rows[i].line,
			     try_write(&host, EVTSEL0, COUNT_ALL | SELECT_ANY | INSNS),
			     rows[i].any ? SPMU_DONE : SPMU_GP);
		if (rows[i].any) {
			WRMSR(&host, GLOBAL_CTRL, EN_FIXED | 1);
			retire_lp(&host, 1, 1, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
			retire_lp(&host, 0, 1, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), 2);
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, FIXED0), 2);
		}
		host_destroy(&host);
	}
}

/* Checks version 5: a fourth fixed counter, of slots, which only a model has. */
static void slots(void)
{
	struct unit_host host;

	host_create(&host, "icelake", 1, SUPPLY_EXECUTION);
	WRMSR(&host, FIXED0 + 3, 7);
	WRMSR(&host, FIXED_CTRL, 0xb000);
	WRMSR(&host, GLOBAL_CTRL, EN_FIXED << 3);
	CHECK_EQ(host.meters[0].count, 0);
	retire(&host, 1, SPMU_SIGBIT(CYCLES));
	CHECK_EQ(RDMSR(&host, FIXED0 + 3), 7);
	CHECK_EQ(RDMSR(&host, INUSE), UINT64_C(1) << 63 | EN_FIXED << 3);
	CHECK_EQ(spmu_event_fixed(host.model, 3)->signals, 0);
	CHECK_EQ(spmu_event_fixed(host.model, 3)->tally, SPMU_TALLY_SLOTS);
	CHECK_EQ(spmu_absent_counters(host.core, 0), UINT64_C(1) << 35);
	host_destroy(&host);
	host_create(&host, "skylake", 1, SUPPLY_ALL);
	CHECK_EQ(try_read(&host, FIXED0 + 3), SPMU_GP);
	host_destroy(&host);
}

/* Checks Vol. 2B RDPMC: the index, and the bits above it that some families had. */
static void rdpmc(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		struct spmu_model_info info = spmu_model_describe(spmu_model_at(m));
		/* The L3 controller's counters come after the general counters (18.21). */
		unsigned readable = info.counters_single + (strcmp(info.name, "xeon-7400") ? 0 : 8);
		struct unit_host host;
		uint64_t value;

		if (!info.perfmon_version)
			continue; /* legacy_registers.c */
		host_create(&host, info.name, 1, SUPPLY_EXECUTION);
		for (uint32_t n = 0; n < 12; n++) {
			CHECK_EQ(spmu_rdpmc(host.core, 0, n, 0, false, true, &value),
				 n < readable ? SPMU_DONE : SPMU_GP);
			CHECK_EQ(spmu_rdpmc(host.core, 0, 1u << 30 | n, 3, true, true, &value),
				 n < info.fixed_counters ? SPMU_DONE : SPMU_GP);
			CHECK_EQ(spmu_rdpmc(host.core, 0, 1u << 31 | n, 0, false, true, &value),
				 SPMU_GP); /* the fast form is of processors without version 1 */
			CHECK_EQ(spmu_rdpmc(host.core, 0, 1u << 29 | n, 0, false, true, &value),
				 n || info.fixed_counters < 4 ? SPMU_GP
							      : SPMU_DONE); /* metrics.c */
		}
		CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 3, false, true, &value), SPMU_GP);
		CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 3, false, false, &value), SPMU_DONE);
		WRMSR(&host, PMC0, 0x89abcdef);
		CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 3, true, true, &value), SPMU_DONE);
		CHECK_EQ(value, (UINT64_C(1) << info.counter_bits) - 0x100000000 + 0x89abcdef);
		host_destroy(&host);
	}
}

/* Checks Vol. 3C 35.1: what IA32_MISC_ENABLE tells of the unit cannot be written. */
static void misc_enable(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		struct spmu_model_info info = spmu_model_describe(spmu_model_at(m));
		struct unit_host host;

		if (!info.perfmon_version)
			continue; /* legacy_registers.c */
		host_create(&host, info.name, 1, SUPPLY_EXECUTION);
		for (unsigned pass = 0; pass < 2; pass++) {
			CHECK_EQ(RDMSR(&host, MISC_ENABLE) & 0x1880,
				 0x80u | (info.pebs_format < 0 ? 0x1000u : 0));
			WRMSR(&host, MISC_ENABLE, pass ? 0 : 0x1880);
		}
		host_destroy(&host);
	}
}

int main(void)
{
	RUN(version_1_registers());
	RUN(version_1_enables());
	RUN(version_1_overflows());
	RUN(forty_bits());
	RUN(full_width());
	RUN(global_registers());
	RUN(freezes());
	RUN(any_thread());
	RUN(slots());
	RUN(rdpmc());
	RUN(misc_enable());
	return test_summary();
}
