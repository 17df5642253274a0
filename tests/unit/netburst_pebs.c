/* SPDX-License-Identifier: MIT */
/*
 * netburst_pebs.c: NetBurst's tags and precise records (18.15.6, 18.15.7) on one thread.
 */
#include "tests/unit/netburst_host.h"

/* Models with their record formats outside and in IA-32e mode (17.4.9.1, 17.4.9.2). */
static const struct {
	const char *model;
	size_t narrow, wide;
} models[] = {
	{"netburst", 0x28, 0x28},
	{"prescott", 0x28, 0x90},
	{"prescott-2m", 0x90, 0x90},
	{"cedar-mill", 0x90, 0x90},
};

#define PEBS_COUNTER 16
#define LOAD	     SPMU_SIGBIT(LOADS)
#define STORE	     SPMU_SIGBIT(STORES)
#define PACKED	     SPMU_SIGBIT(FP_128_SINGLE)
#define SCALAR	     SPMU_SIGBIT(FP_SCALAR_DOUBLE)

static void create(struct unit_host *host, const char *model, bool wide)
{
	host_create(host, model, 1, SUPPLY_ALL);
	host->narrow = !wide;
	host->base = host_layout(host)->field_bytes == 8 ? MEMORY_BASE : 0x10000000;
	spmu_set_ia32e(host->core, 0, wide);
	spmu_write_lvt(host->core, 0, LVT_NMI);
}

/* Lets counter n count tags of a kind, by CRU_ESCR2 or 3. */
static void count_tags(struct unit_host *host, unsigned n, uint64_t event, uint64_t more)
{
	WRMSR(host, n == 12 || n == 13 || n == 16 ? CRU_ESCR2 : CRU_ESCR3, event | T0_USR | T0_OS);
	WRMSR(host, CCCR0 + n, COUNTS(5) | more);
}

static void run(struct unit_host *host)
{
	retire(host, 0x1000, LOAD);
	retire(host, 0x1004, LOAD | STORE);
	retire(host, 0x1008, STORE | PACKED);
	retire(host, 0x100c, PACKED);
	retire(host, 0x1010, SCALAR);
	retire(host, 0x1014, SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(BRANCH_MISS));
	retire_lp(host, 0, 0x1018, SPMU_SIGBIT(INSTRUCTIONS) | LOAD, 0, 1);
}

/* Checks 18.15.6.2: uop_type in a RAT_ESCR tags loads, stores or both. It needs no counter. */
static void front_end(void)
{
	static const struct {
		int line;
		uint64_t tagger, event;
		unsigned want;
	} rows[] = {
		{__LINE__, 0, FRONT_END, 0},
		{__LINE__, UOP_TYPE(TAGLOADS) | T0_USR | T0_OS, FRONT_END, 3},
		{__LINE__, UOP_TYPE(TAGLOADS) | T0_USR, FRONT_END, 2},
		{__LINE__, UOP_TYPE(TAGSTORES) | T0_USR | T0_OS, FRONT_END, 2},
		{__LINE__, UOP_TYPE(TAGLOADS | TAGSTORES) | T0_USR | T0_OS, FRONT_END, 5},
		{__LINE__, UOP_TYPE(TAGLOADS) | T0_USR | T0_OS, EVENT(0x08, 2), 0}, /* bogus */
		{__LINE__, UOP_TYPE(TAGLOADS) | T0_USR | T0_OS, REPLAY, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned escr = 0; escr < 2; escr++) {
			struct unit_host host;

			create(&host, "netburst", true);
			WRMSR(&host, RAT_ESCR0 + escr, rows[i].tagger);
			count_tags(&host, 12, rows[i].event, 0);
			run(&host);
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, COUNTER0 + 12), rows[i].want);
			host_destroy(&host);
		}
}

/* Checks table 19-29: uop_type itself counts nothing. */
static void uop_type_counts_nothing(void)
{
	struct unit_host host;

	create(&host, "netburst", true);
	WRMSR(&host, RAT_ESCR0, UOP_TYPE(TAGLOADS | TAGSTORES) | T0_USR | T0_OS);
	WRMSR(&host, CCCR0 + 12, COUNTS(2));
	run(&host);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 0);
	host_destroy(&host);
}

/* Checks 18.15.6.3: an upstream ESCR sets a tag, and execution_event counts by mask. */
static void execution(void)
{
	static const struct {
		int line;
		unsigned packed, scalar; /* tag values; 0: TAG_ENABLE clear */
		unsigned mask, want;
	} rows[] = {
		{__LINE__, 0, 0, 0xf, 0},  {__LINE__, 1, 0, 1, 2},    {__LINE__, 1, 0, 2, 0},
		{__LINE__, 2, 1, 1, 1},	   {__LINE__, 2, 1, 2, 2},    {__LINE__, 2, 1, 3, 3},
		{__LINE__, 8, 4, 0xc, 3},  {__LINE__, 3, 0, 1, 2},    {__LINE__, 3, 0, 3, 2},
		{__LINE__, 1, 1, 0x10, 0}, {__LINE__, 1, 1, 0xf0, 0}, /* bogus */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		uint64_t flags = T0_USR | T0_OS;

		create(&host, "netburst", true);
		WRMSR(&host, FIRM_ESCR0,
		      EVENT(0x08, 0x8000) | flags | (rows[i].packed ? TAG(rows[i].packed) : 0));
		WRMSR(&host, FIRM_ESCR1,
		      EVENT(0x0e, 0x8000) | flags | (rows[i].scalar ? TAG(rows[i].scalar) : 0));
		count_tags(&host, 14, EXECUTION(rows[i].mask), 0);
		run(&host);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, COUNTER0 + 14), rows[i].want);
		host_destroy(&host);
	}
}

/* Checks 18.15.1: a tag value without TAG_ENABLE does not tag. */
static void tag_enable(void)
{
	struct unit_host host;

	create(&host, "netburst", true);
	WRMSR(&host, FIRM_ESCR0, EVENT(0x08, 0x8000) | T0_USR | (TAG(1) & ~0x10u));
	count_tags(&host, 14, EXECUTION(1), 0);
	run(&host);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 14), 0);
	host_destroy(&host);
}

/* Retires an instruction with as many misses of each kind as the kind's place says. */
static void retire_misses(struct unit_host *host)
{
	static const struct spmu_tally tallies[] = {
		{.kind = SPMU_TALLY_LOAD_L1_MISSES, .count = 1},
		{.kind = SPMU_TALLY_LOAD_L2_MISSES, .count = 10},
		{.kind = SPMU_TALLY_LOAD_STLB_MISSES, .count = 100},
		{.kind = SPMU_TALLY_STORE_STLB_MISSES, .count = 1000},
		{.kind = SPMU_TALLY_LOAD_SPLITS, .count = 10000}, /* no metric counts it */
	};
	const struct spmu_insn insn = {
		.ip = 0x2000,
		.next_ip = 0x2004,
		.signals = SPMU_SIGBIT(INSTRUCTIONS) | LOAD | STORE,
		.tallies = tallies,
		.tally_count = COUNT(tallies),
		.cycles = 1,
		.cpl = 3,
	};

	spmu_retire(host->core, 0, &insn);
}

/*
 * Checks 18.15.6.4, table 19-33: all bits of the metric and UOP_TAG must be set. Mispredicted
 * branches are a signal, misses are tallies.
 */
static void replay(void)
{
	static const struct {
		int line;
		uint64_t enable, matrix;
		unsigned want;
	} rows[] = {
		{__LINE__, UOP_TAG | 0x18000, 0x10, 1},
		{__LINE__, 0x18000, 0x10, 0},
		{__LINE__, UOP_TAG | 0x8000, 0x10, 0},
		{__LINE__, UOP_TAG | 0x18000, 0, 0},
		{__LINE__, UOP_TAG | 1, 1, 1},
		{__LINE__, UOP_TAG | 1, 2, 0},
		{__LINE__, 1, 1, 0},
		{__LINE__, UOP_TAG | 2, 1, 10},
		{__LINE__, UOP_TAG | 4, 1, 100},
		{__LINE__, UOP_TAG | 4, 2, 1000},
		{__LINE__, UOP_TAG | 4, 3, 1100},
		{__LINE__, UOP_TAG | 3, 1, 11},
		{__LINE__, UOP_TAG | 0x18001, 0x11, 2}, /* two metrics */
		{__LINE__, UOP_TAG | 0x400, 1, 0},	/* splits need an ESCR, too */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		create(&host, "netburst", true);
		WRMSR(&host, PEBS_ENABLE, rows[i].enable);
		WRMSR(&host, MATRIX_VERT, rows[i].matrix);
		count_tags(&host, 12, REPLAY, 0);
		run(&host);
		retire_misses(&host);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, COUNTER0 + 12), rows[i].want);
		host_destroy(&host);
	}
}

/* Checks that a replay that the host does not supply is not counted. */
static void replay_absent(void)
{
	struct unit_host host;

	host_create(&host, "netburst", 1, SUPPLY_EXECUTION);
	WRMSR(&host, PEBS_ENABLE, UOP_TAG | 0x18001);
	WRMSR(&host, MATRIX_VERT, 0x11);
	count_tags(&host, 12, REPLAY, 0);
	run(&host);
	retire_misses(&host);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 0);
	CHECK(spmu_absent_counters(host.core, 0) & 1u << 12);
	host_destroy(&host);
}

/* Checks table 19-29: instr_retired separates what the front end tagged from what it did not. */
static void split(void)
{
	static const struct {
		int line;
		unsigned tags, mask, want;
	} rows[] = {
		{__LINE__, 0, 1, 7},
		{__LINE__, 0, 2, 0},
		{__LINE__, TAGLOADS, 2, 3},
		{__LINE__, TAGLOADS, 3, 7},
		{__LINE__, TAGLOADS, 1, 0}, /* not known: does not count */
		{__LINE__, TAGLOADS | TAGSTORES, 2, 0},
		{__LINE__, TAGLOADS | TAGSTORES, 3, 7},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		create(&host, "netburst", true);
		WRMSR(&host, RAT_ESCR0, UOP_TYPE(rows[i].tags) | T0_USR | T0_OS);
		WRMSR(&host, CRU_ESCR0, EVENT(0x02, rows[i].mask) | T0_USR | T0_OS);
		WRMSR(&host, CCCR0 + 12, COUNTS(4));
		run(&host);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, COUNTER0 + 12), rows[i].want);
		host_destroy(&host);
	}
}

/*
 * Makes a DS save area of `records`, with a reset value and the threshold after `threshold`
 * records.
 */
static void area(struct unit_host *host, unsigned records, unsigned threshold, uint64_t reset)
{
	const struct spmu_ds_layout *layout = host_layout(host);
	struct spmu_ds_area ds = {.pebs_base = host->base + 0x1000, .reset = {reset}};

	ds.pebs_index = ds.pebs_base;
	ds.pebs_maximum = ds.pebs_base + records * host_record_bytes(host);
	ds.pebs_threshold = ds.pebs_base + threshold * host_record_bytes(host);
	CHECK_EQ(spmu_ds_encode(layout, &ds, host->memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(host, DS_AREA_MSR, host->base);
}

static uint64_t written(struct unit_host *host)
{
	return (host_area(host).pebs_index - host->base - 0x1000) / host_record_bytes(host);
}

static struct spmu_pebs_record record_at(struct unit_host *host, unsigned n)
{
	struct spmu_pebs_record record = {0};

	CHECK_EQ(spmu_pebs_decode(host_layout(host),
				  host->memory + 0x1000 + n * host_record_bytes(host),
				  host_record_bytes(host), &record, NULL),
		 SPMU_OK);
	return record;
}

#define PERIOD 5u

static void arm(struct unit_host *host, unsigned n, uint64_t more)
{
	WRMSR(host, RAT_ESCR0, UOP_TYPE(TAGLOADS) | T0_USR | T0_OS);
	WRMSR(host, COUNTER0 + n, (0 - (uint64_t)PERIOD) & MAX40);
	count_tags(host, n, FRONT_END, more);
}

/*
 * Checks 18.15.7: the counter overflows at its period, and the next tagged event makes the record.
 * The record has the state after the instruction. The counter continues from the reset value of the
 * area.
 */
static void records(void)
{
	for (size_t i = 0; i < COUNT(models); i++)
		for (unsigned wide = 0; wide < 2; wide++) {
			uint64_t mask = wide && models[i].wide == 0x90 ? UINT64_MAX : UINT32_MAX;
			struct unit_host host;

			create(&host, models[i].model, wide);
			CHECK_EQ(host_record_bytes(&host),
				 wide ? models[i].wide : models[i].narrow);
			area(&host, 4, 3, (0 - (uint64_t)PERIOD) & MAX40);
			WRMSR(&host, PEBS_ENABLE, MY_THREAD);
			arm(&host, PEBS_COUNTER, 0);
			for (unsigned load = 1; load <= PERIOD; load++) {
				retire(&host, 0x2000, STORE);
				retire(&host, 0x2000 + 16 * load, LOAD);
				CHECK_EQ(written(&host), 0);
			}
			CHECK(RDMSR(&host, CCCR0 + PEBS_COUNTER) & OVF);
			retire(&host, 0x3000, STORE);
			CHECK_EQ(written(&host), 0);
			retire(&host, 0x4000, LOAD);
			CHECK_EQ(written(&host), 1);
			CHECK_EQ(record_at(&host, 0).regs.rip, 0x4004);
			CHECK_EQ(record_at(&host, 0).regs.rsp, 0x1109 & mask);
			CHECK_EQ(record_at(&host, 0).regs.r15,
				 wide && models[i].wide == 0x90 ? 0x1111 : 0);
			CHECK_EQ(RDMSR(&host, COUNTER0 + PEBS_COUNTER),
				 (0 - (uint64_t)PERIOD) & MAX40);
			/* Sticky: a record clears nothing (18.15.3). */
			CHECK(RDMSR(&host, CCCR0 + PEBS_COUNTER) & OVF);
			host_destroy(&host);
		}
}

/* Checks 18.15.7: MSR_IQ_COUNTER4 alone, and the three events alone. */
static void where(void)
{
	for (unsigned n = 12; n < COUNTERS; n++) {
		struct unit_host host;

		create(&host, "netburst", true);
		area(&host, 4, 3, 0);
		WRMSR(&host, PEBS_ENABLE, MY_THREAD);
		arm(&host, n, 0);
		for (unsigned i = 0; i < 2 * PERIOD; i++)
			retire(&host, 0x2000, LOAD);
		CHECK_EQ(written(&host), n == PEBS_COUNTER);
		host_destroy(&host);
	}
	for (unsigned enabled = 0; enabled < 2; enabled++) {
		struct unit_host host;

		create(&host, "netburst", true);
		area(&host, 4, 3, 0);
		WRMSR(&host, PEBS_ENABLE, enabled ? MY_THREAD : UOP_TAG);
		arm(&host, PEBS_COUNTER, 0);
		if (enabled) {
			count_instructions(&host, PEBS_COUNTER, ENABLE);
			WRMSR(&host, COUNTER0 + PEBS_COUNTER, MAX40);
		}
		for (unsigned i = 0; i < 2 * PERIOD; i++)
			retire(&host, 0x2000, LOAD);
		CHECK_EQ(written(&host), 0);
		host_destroy(&host);
	}
}

/* Checks table 18-11: OVF_PMI asks for the interrupt at the threshold, and for none before it. */
static void threshold(void)
{
	for (unsigned asked = 0; asked < 2; asked++) {
		struct unit_host host;

		create(&host, "netburst", true);
		area(&host, 4, 2, MAX40);
		WRMSR(&host, PEBS_ENABLE, MY_THREAD);
		arm(&host, PEBS_COUNTER, asked ? OVF_PMI_T0 : 0);
		for (unsigned i = 0; i < PERIOD + 1; i++)
			retire(&host, 0x2000, LOAD);
		CHECK_EQ(written(&host), 1);
		CHECK_EQ(host.pmis, 0);
		retire(&host, 0x2000, LOAD);
		retire(&host, 0x2000, LOAD);
		CHECK_EQ(written(&host), 2);
		CHECK_EQ(host.pmis, asked);
		for (unsigned i = 0; i < 20; i++) /* no circular buffer (18.15.7) */
			retire(&host, 0x2000, LOAD);
		CHECK_EQ(written(&host), 4);
		host_destroy(&host);
	}
}

/* Checks that execution tags make records, with a period in bulk and its end one by one. */
static void by_execution(void)
{
	struct unit_host host;

	create(&host, "prescott", true);
	area(&host, 4, 3, (0 - UINT64_C(1000)) & MAX40);
	WRMSR(&host, PEBS_ENABLE, MY_THREAD);
	WRMSR(&host, FIRM_ESCR0, EVENT(0x08, 0x8000) | T0_USR | TAG(1));
	WRMSR(&host, COUNTER0 + PEBS_COUNTER, (0 - UINT64_C(1000)) & MAX40);
	count_tags(&host, PEBS_COUNTER, EXECUTION(1), 0);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].meter[0].signals, PACKED);
	CHECK_EQ(host.meters[0].meter[0].rings, SPMU_RING_USER);
	CHECK_EQ(host.meters[0].meter[0].headroom, 999);
	host.meters[0].meter[0].headroom = 0;
	retire(&host, 0x2000, PACKED);
	CHECK_EQ(written(&host), 0);
	retire(&host, 0x2004, LOAD);
	retire_lp(&host, 0, 0x2008, SPMU_SIGBIT(INSTRUCTIONS) | PACKED, 0, 1); /* another ring */
	CHECK_EQ(written(&host), 0);
	retire(&host, 0x200c, PACKED);
	CHECK_EQ(written(&host), 1);
	CHECK_EQ(record_at(&host, 0).regs.rip, 0x2010);
	host_destroy(&host);
}

int main(void)
{
	RUN(front_end());
	RUN(uop_type_counts_nothing());
	RUN(execution());
	RUN(tag_enable());
	RUN(replay());
	RUN(replay_absent());
	RUN(split());
	RUN(records());
	RUN(where());
	RUN(threshold());
	RUN(by_execution());
	return test_summary();
}
