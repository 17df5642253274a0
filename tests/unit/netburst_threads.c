/* SPDX-License-Identifier: MIT */
/*
 * netburst_threads.c: NetBurst with Hyper-Threading (18.16), two cores of a dual-core part
 * (18.19), and the bus counters of the 64-bit Xeon MP (18.20).
 */
#include "tests/unit/netburst_host.h"

#define INSTRUCTION SPMU_SIGBIT(INSTRUCTIONS)

static void create(struct unit_host *host, const char *model)
{
	host_create(host, model, 2, SUPPLY_ALL);
	for (unsigned lp = 0; lp < 2; lp++)
		spmu_write_lvt(host->core, lp, LVT_NMI);
}

/* Retires one instruction at each level on each thread. */
static void all_levels(struct unit_host *host)
{
	for (unsigned lp = 0; lp < 2; lp++)
		for (unsigned cpl = 0; cpl <= 3; cpl++)
			retire_lp(host, lp, 0x1000, INSTRUCTION, cpl, 1);
}

/* Checks 18.16.1: four flags tell for which thread and levels an event counts. */
static void qualification(void)
{
	for (unsigned flags = 0; flags < 16; flags++) {
		struct unit_host host;
		unsigned want = (flags & T0_USR ? 3 : 0) + (flags & T0_OS ? 1 : 0) +
				(flags & T1_USR ? 3 : 0) + (flags & T1_OS ? 1 : 0);

		create(&host, "prescott");
		WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | flags);
		WRMSR(&host, CCCR0 + 12, COUNTS(4));
		CHECK_EQ(host.meters[0].count, (flags & (T0_USR | T0_OS)) != 0);
		CHECK_EQ(host.meters[1].count, (flags & (T1_USR | T1_OS)) != 0);
		all_levels(&host);
		CHECK_EQ(RDMSR_LP(&host, 0, COUNTER0 + 12), want);
		CHECK_EQ(RDMSR_LP(&host, 1, COUNTER0 + 12), want);
		host_destroy(&host);
	}
}

/*
 * Checks table 18-67: an event without a thread (table 19-34: TI) counts for both threads, at the
 * levels that the flags name for either. A tag that such an event sets is set for both.
 */
static void independent(void)
{
	static const struct {
		int line;
		unsigned select;
		uint64_t signal;
	} rows[] = {
		{__LINE__, 0x08, SPMU_SIGBIT(FP_128_SINGLE)},
		{__LINE__, 0x0c, SPMU_SIGBIT(FP_128_DOUBLE)},
		{__LINE__, 0x0a, SPMU_SIGBIT(FP_SCALAR_SINGLE)},
		{__LINE__, 0x0e, SPMU_SIGBIT(FP_SCALAR_DOUBLE)},
		{__LINE__, 0x04, SPMU_SIGBIT(X87)},
	};

	for (size_t i = 0; i < COUNT(rows) * 16; i++) {
		const unsigned row = (unsigned)i / 16, flags = i % 16;
		uint64_t event = EVENT(rows[row].select, 0x8000) | flags;
		unsigned want =
			(flags & (T0_USR | T1_USR) ? 6 : 0) + (flags & (T0_OS | T1_OS) ? 2 : 0);
		struct unit_host host;

		create(&host, "prescott");
		WRMSR(&host, FIRM_ESCR0, event | TAG(1));
		WRMSR(&host, CCCR0 + 8, COUNTS(1));
		WRMSR(&host, CRU_ESCR2, EXECUTION(1) | T1_USR | T1_OS);
		WRMSR(&host, CCCR0 + 12, COUNTS(5));
		for (unsigned lp = 0; lp < 2; lp++)
			for (unsigned cpl = 0; cpl <= 3; cpl++)
				retire_lp(&host, lp, 0x1000, rows[row].signal, cpl, 1);
		CHECK_ROW_EQ(rows[row].line, RDMSR(&host, COUNTER0 + 8), want);
		CHECK_ROW_EQ(rows[row].line, RDMSR(&host, COUNTER0 + 12), want / 2);
		host_destroy(&host);
	}
}

/* Checks bulk: a counter that both threads move grants each half of its headroom. */
static void bulk(void)
{
	struct unit_host host;

	create(&host, "prescott");
	WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | T0_USR | T1_USR);
	WRMSR(&host, CCCR0 + 12, COUNTS(4));
	WRMSR(&host, COUNTER0 + 12, (0 - UINT64_C(1001)) & MAX40);
	CHECK_EQ(host.meters[0].meter[0].headroom, 500);
	CHECK_EQ(host.meters[1].meter[0].headroom, 500);
	host.meters[0].meter[0].headroom -= 300;
	host.meters[1].meter[0].headroom -= 500;
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), (0 - UINT64_C(201)) & MAX40);
	for (unsigned i = 0; i < 201; i++) {
		CHECK(!(RDMSR_LP(&host, 1, CCCR0 + 12) & OVF));
		retire_lp(&host, i % 2, 0x1000, INSTRUCTION, 3, 1);
	}
	CHECK(RDMSR_LP(&host, 1, CCCR0 + 12) & OVF);
	host_destroy(&host);
}

/* Checks 18.16.2: the active-thread field: none, one, both, any. */
static void active_thread(void)
{
	for (unsigned field = 0; field < 4; field++)
		for (unsigned halted = 0; halted < 4; halted++) {
			unsigned active = 2 - (halted & 1) - (halted >> 1);
			bool counts = field == 3 ? active > 0 : active == field;
			struct unit_host host;

			create(&host, "prescott");
			WRMSR(&host, FSB_ESCR0, EVENT(0x13, 1) | T0_OS | T0_USR | T1_OS | T1_USR);
			WRMSR(&host, CCCR0, ENABLE | SELECT(6) | ACTIVE(field));
			for (unsigned lp = 0; lp < 2; lp++)
				(void)spmu_set_halted(host.core, lp, halted >> lp & 1);
			(void)spmu_clocks(host.core, 0, SPMU_SIGBIT(CYCLES), 10, 0);
			CHECK_EQ(RDMSR(&host, COUNTER0), counts ? 10 : 0);
			host_destroy(&host);
		}
}

/* Checks what changes for a host, whose code contains the list, when a thread halts or wakes up. */
static void halting_changes_lists(void)
{
	struct unit_host host;

	create(&host, "prescott");
	WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | T0_USR);
	WRMSR(&host, CCCR0 + 12, ENABLE | SELECT(4) | ACTIVE(1));
	CHECK_EQ(host.meters[0].count, 0);
	CHECK_EQ(spmu_set_halted(host.core, 1, true), SPMU_EV_METERS);
	CHECK_EQ(spmu_set_halted(host.core, 1, true), 0);
	CHECK_EQ(host.meters[0].count, 1);
	host.meters[0].meter[0].headroom -= 7;
	CHECK_EQ(spmu_set_halted(host.core, 1, false), SPMU_EV_METERS);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 7);
	spmu_reset(host.core, 1);
	host_destroy(&host);
}

/*
 * Checks 18.16.2: OVF_PMI_T0 and T1 tell which thread is interrupted, whichever caused the
 * overflow.
 */
static void interrupts(void)
{
	for (unsigned to = 0; to < 4; to++)
		for (unsigned by = 0; by < 2; by++) {
			struct unit_host host;

			create(&host, "prescott");
			WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | T0_USR | T1_USR);
			WRMSR(&host, CCCR0 + 12,
			      COUNTS(4) | (to & 1 ? OVF_PMI_T0 : 0) | (to & 2 ? OVF_PMI_T1 : 0));
			WRMSR(&host, COUNTER0 + 12, MAX40);
			retire_lp(&host, by, 0x1000, INSTRUCTION, 3, 1);
			CHECK_EQ(host.pmis, 0);
			retire_lp(&host, by, 0x1000, INSTRUCTION, 3, 1);
			for (unsigned lp = 0; lp < 2; lp++)
				CHECK_EQ(spmu_read_lvt(host.core, lp),
					 to >> lp & 1 ? LVT_NMI | LVT_MASKED : LVT_NMI);
			CHECK_EQ(host.pmis, (to & 1) + (to >> 1));
			host_destroy(&host);
		}
}

/*
 * Checks the table of 18.16: counters, CCCRs and ESCRs are shared; debug control and save area are
 * not.
 */
static void sharing(void)
{
	static const struct {
		int line;
		uint32_t msr;
		uint64_t value;
		bool shared;
	} rows[] = {
		{__LINE__, COUNTER0 + 5, 0x123456789a, true},
		{__LINE__, CCCR0 + 5, COUNTS(2) | OVF_PMI_T1, true},
		{__LINE__, CRU_ESCR0, INSTR_RETIRED | T1_USR, true},
		{__LINE__, MATRIX_VERT, 3, true},
		{__LINE__, 0x3f0, 0xfc00, true}, /* MSR_TC_PRECISE_EVENT */
		{__LINE__, DEBUGCTL, 0x0c, false},
		{__LINE__, DS_AREA_MSR, 0x12345000, false},
		{__LINE__, LBR_FROM, 0x401000, false},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned by = 0; by < 2; by++) {
			struct unit_host host;

			create(&host, "prescott");
			WRMSR_LP(&host, by, rows[i].msr, rows[i].value);
			CHECK_ROW_EQ(rows[i].line, RDMSR_LP(&host, by, rows[i].msr), rows[i].value);
			CHECK_ROW_EQ(rows[i].line, RDMSR_LP(&host, 1 - by, rows[i].msr),
				     rows[i].shared ? rows[i].value : 0);
			host_destroy(&host);
		}
}

/* Checks that RDPMC reads what both share (Vol. 2B). */
static void rdpmc(void)
{
	struct unit_host host;
	uint64_t value = 0;

	create(&host, "prescott");
	WRMSR_LP(&host, 0, COUNTER0 + 17, 0x8765432109);
	CHECK_EQ(spmu_rdpmc(host.core, 1, 17, 0, false, true, &value), SPMU_DONE);
	CHECK_EQ(value, 0x8765432109);
	host_destroy(&host);
}

/* Checks 18.16.3: "my thread" and "other thread" depend on the thread that reads or writes. */
static void enable_views(void)
{
	for (unsigned by = 0; by < 2; by++) {
		struct unit_host host;

		create(&host, "prescott");
		WRMSR_LP(&host, by, PEBS_ENABLE, UOP_TAG | MY_THREAD | 1);
		CHECK_EQ(RDMSR_LP(&host, by, PEBS_ENABLE), UOP_TAG | MY_THREAD | 1);
		CHECK_EQ(RDMSR_LP(&host, 1 - by, PEBS_ENABLE), UOP_TAG | OTHER | 1);
		host_destroy(&host);
	}
}

/* Returns where thread lp keeps its records. */
static uint64_t area_of(unsigned lp)
{
	return MEMORY_BASE + lp * 0x800;
}

static void set_area(struct unit_host *host, unsigned lp)
{
	const struct spmu_ds_layout *layout = host_layout(host);
	struct spmu_ds_area area = {.pebs_base = MEMORY_BASE + 0x1000 * (lp + 1),
				    .reset = {MAX40 - 10 * lp}};

	area.pebs_index = area.pebs_base;
	area.pebs_maximum = area.pebs_base + 4 * host_record_bytes(host);
	area.pebs_threshold = area.pebs_base + host_record_bytes(host);
	CHECK_EQ(spmu_ds_encode(layout, &area, host->memory + lp * 0x800, MEMORY_BYTES), SPMU_OK);
	WRMSR_LP(host, lp, DS_AREA_MSR, area_of(lp));
}

static uint64_t index_of(struct unit_host *host, unsigned lp)
{
	struct spmu_ds_area area = {0};

	CHECK_EQ(spmu_ds_decode(host_layout(host), host->memory + lp * 0x800, MEMORY_BYTES, &area),
		 SPMU_OK);
	return (area.pebs_index - area.pebs_base) / host_record_bytes(host);
}

/*
 * Checks 18.16.3: MSR_IQ_COUNTER4 makes the records of logical processor 0, and MSR_IQ_COUNTER5
 * those of 1. Area and reset value are those of the thread that retired the instruction.
 */
static void records(void)
{
	for (unsigned enabled = 0; enabled < 4; enabled++)
		for (unsigned by = 0; by < 2; by++) {
			struct unit_host host;
			bool made = enabled >> by & 1;

			create(&host, "prescott");
			set_area(&host, 0);
			set_area(&host, 1);
			WRMSR(&host, PEBS_ENABLE,
			      (enabled & 1 ? MY_THREAD : 0) | (enabled & 2 ? OTHER : 0));
			WRMSR(&host, RAT_ESCR0, UOP_TYPE(TAGLOADS) | T0_USR | T1_USR);
			for (unsigned i = 0; i < 2; i++) {
				WRMSR(&host, CRU_ESCR2 + i, FRONT_END | T0_USR | T1_USR);
				WRMSR(&host, COUNTER0 + 16 + i, MAX40);
				WRMSR(&host, CCCR0 + 16 + i,
				      COUNTS(5) | (i ? OVF_PMI_T1 : OVF_PMI_T0));
			}
			for (unsigned k = 0; k < 2; k++)
				retire_lp(&host, by, 0x2000, INSTRUCTION | SPMU_SIGBIT(LOADS), 3,
					  1);
			CHECK_EQ(index_of(&host, by), made);
			CHECK_EQ(index_of(&host, 1 - by), 0);
			CHECK_EQ(RDMSR(&host, COUNTER0 + 16 + by), made ? MAX40 - 10 * by : 1);
			/*
			 * The threshold interrupts its own thread, as does a counter without PEBS.
			 */
			CHECK_EQ(spmu_read_lvt(host.core, by) & LVT_MASKED, LVT_MASKED);
			host_destroy(&host);
		}
}

/*
 * Checks 18.15.5.7, example 18-2: counter 12 begins to count on thread 1 when counter 16 has
 * counted 4096 instructions of thread 0.
 */
static void extended_cascade(void)
{
	struct unit_host host;

	create(&host, "netburst");
	WRMSR(&host, COUNTER0 + 12, 0);
	WRMSR(&host, CRU_ESCR0, 0x04000603);
	WRMSR(&host, CCCR0 + 12, 0x04038800);
	WRMSR(&host, COUNTER0 + 16, (0 - UINT64_C(4096)) & MAX40);
	/* The example's values give both counters one ESCR; here counter 16 has another. */
	WRMSR(&host, CRU_ESCR2, BRANCH_RETIRED(15) | T0_USR | T0_OS);
	WRMSR(&host, CCCR0 + 16, COUNTS(5));
	for (unsigned i = 0; i < 4096; i++) {
		retire_lp(&host, 1, 0x1000, INSTRUCTION, 3, 1);
		CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 0);
		retire_lp(&host, 0, 0x1000, INSTRUCTION | SPMU_SIGBIT(JMP_REL), 3, 1);
	}
	for (unsigned i = 0; i < 10; i++)
		retire_lp(&host, 1, 0x1000, INSTRUCTION, 3, 1);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 10);
	host_destroy(&host);
}

/* Checks that a threshold judges the clocks of each thread separately. */
static void clocks(void)
{
	struct unit_host host;

	create(&host, "prescott");
	WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | T0_USR | T1_USR);
	WRMSR(&host, CCCR0 + 12, COUNTS(4) | COMPARE | THRESHOLD(1));
	retire_lp(&host, 0, 0x1000, INSTRUCTION, 3, 1);
	retire_lp(&host, 1, 0x1000, INSTRUCTION, 3, 1);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 0);
	retire_lp(&host, 0, 0x1000, INSTRUCTION, 3, 0);
	CHECK_EQ(RDMSR(&host, COUNTER0 + 12), 1);
	host_destroy(&host);
}

/* Checks that thread 0 has the shared state. A state in which thread 1 has it, too, is refused. */
static void state(void)
{
	static uint8_t saved[32768];
	struct unit_host host;
	size_t bytes;

	create(&host, "prescott");
	bytes = spmu_state_bytes(host.core);
	CHECK(bytes <= sizeof(saved));
	WRMSR_LP(&host, 1, COUNTER0 + 3, 5);
	(void)spmu_set_halted(host.core, 1, true);
	CHECK_EQ(spmu_save(host.core, saved, sizeof(saved)), SPMU_OK);
	spmu_reset(host.core, 0);
	CHECK_EQ(RDMSR_LP(&host, 1, COUNTER0 + 3), 0);
	CHECK_EQ(spmu_load(host.core, saved, bytes), SPMU_OK);
	CHECK_EQ(RDMSR_LP(&host, 1, COUNTER0 + 3), 5);
	saved[STATE_HEADER + (bytes - STATE_HEADER) / 2 + 3 * 8] = 1;
	CHECK_EQ(spmu_load(host.core, saved, bytes), SPMU_E_CORRUPT);
	host_destroy(&host);
}

/*
 * Checks Vol. 3A 9.1.1: RESET of either thread resets the core's counters and their hidden state.
 */
static void reset(void)
{
	static uint8_t saved[32768], fresh[32768];

	for (unsigned lp = 0; lp < 2; lp++) {
		struct unit_host host;

		create(&host, "prescott");
		CHECK_EQ(spmu_save(host.core, fresh, sizeof(fresh)), SPMU_OK);
		WRMSR(&host, CRU_ESCR0, INSTR_RETIRED | T0_USR | T1_USR);
		WRMSR(&host, CCCR0 + 12, COUNTS(4) | OVF_PMI_T0);
		WRMSR(&host, CCCR0 + 13, COUNTS(4) | COMPARE | THRESHOLD(1));
		WRMSR(&host, COUNTER0 + 12, MAX40);
		retire_lp(&host, 1 - lp, 0x1000, INSTRUCTION, 3, 1);
		spmu_reset(host.core, lp);
		spmu_write_lvt(host.core, lp, LVT_NMI);
		spmu_set_ia32e(host.core, lp, true);
		CHECK_EQ(host.meters[0].count + host.meters[1].count, 0);
		CHECK_EQ(spmu_save(host.core, saved, sizeof(saved)), SPMU_OK);
		CHECK(!memcmp(saved, fresh, spmu_state_bytes(host.core)));
		CHECK_EQ(spmu_load(host.core, saved, spmu_state_bytes(host.core)), SPMU_OK);
		host_destroy(&host);
	}
}

/* Checks 18.19: each core of a dual-core part has its own unit. */
static void dual_core(void)
{
	struct unit_host core[2];

	for (unsigned i = 0; i < 2; i++)
		host_create(&core[i], "cedar-mill", 1, SUPPLY_ALL);
	count_instructions(&core[0], 12, ENABLE);
	count_instructions(&core[1], 12, ENABLE);
	retire(&core[0], 0x1000, 0);
	CHECK_EQ(RDMSR(&core[0], COUNTER0 + 12), 1);
	CHECK_EQ(RDMSR(&core[1], COUNTER0 + 12), 0);
	for (unsigned i = 0; i < 2; i++)
		host_destroy(&core[i]);
}

/*
 * Checks 18.20: registers at 107CCH to 107D3H, RDPMC from 18 on with 32 bits. They count nothing
 * here.
 */
static void bus(void)
{
	struct unit_host host;
	uint64_t value;

	create(&host, "xeon-mp-8m-l3");
	for (unsigned n = 0; n < 8; n++) {
		uint64_t wrote = n == 6 ? UINT64_C(1) << 26 : UINT64_C(0x0123456700000010) + n;

		WRMSR_LP(&host, 0, 0x107cc + n, wrote);
		CHECK_EQ(RDMSR_LP(&host, 1, 0x107cc + n), wrote);
		CHECK_EQ(spmu_rdpmc(host.core, 1, 18 + n, 3, true, true, &value), SPMU_DONE);
		CHECK_EQ(value, (uint32_t)wrote);
	}
	all_levels(&host);
	CHECK_EQ(RDMSR(&host, 0x107cc), 0x0123456700000010);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 26, 0, true, true, &value), SPMU_GP);
	CHECK_EQ(spmu_write_msr(host.core, 0, 0x107d2, 1), SPMU_GP);
	host_destroy(&host);
	create(&host, "prescott");
	CHECK_EQ(spmu_rdpmc(host.core, 0, 18, 0, true, true, &value), SPMU_GP);
	CHECK(spmu_write_msr(host.core, 0, 0x107cc, 0) != SPMU_DONE);
	host_destroy(&host);
}

int main(void)
{
	RUN(qualification());
	RUN(independent());
	RUN(bulk());
	RUN(active_thread());
	RUN(halting_changes_lists());
	RUN(interrupts());
	RUN(sharing());
	RUN(rdpmc());
	RUN(enable_views());
	RUN(records());
	RUN(extended_cascade());
	RUN(clocks());
	RUN(state());
	RUN(reset());
	RUN(dual_core());
	RUN(bus());
	return test_summary();
}
