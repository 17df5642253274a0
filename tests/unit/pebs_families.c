/* SPDX-License-Identifier: MIT */
/*
 * pebs_families.c: differences between families in precise event-based sampling: counters, events,
 * record formats, registers (Vol. 3B 18.4.4, 18.5, 18.6.1, 18.7.1, 18.8.1, 18.9.4, 18.11; extended
 * PEBS of Goldmont Plus).
 */
#include <softpmu/state.h>

#include "tests/unit/unit_host.h"

#define INSNS	 SPMU_SIGBIT(INSTRUCTIONS)
#define JUMP	 SPMU_SIGBIT(JMP_REL)
#define LOAD	 SPMU_SIGBIT(LOADS)
#define STORE	 SPMU_SIGBIT(STORES)
#define LOCK	 SPMU_SIGBIT(LOCK_LOADS)
#define NOP	 SPMU_SIGBIT(NOP)
#define BIT(n)	 (UINT64_C(1) << (n))
#define FIXED(n) (UINT64_C(1) << (32 + (n)))
#define LD_LAT	 0x3f6

/* A period of two events, in 48 bits or 40. */
static const uint64_t minus_2[4] = {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 1};

static void create(struct unit_host *host, const char *model, unsigned threads)
{
	host_create(host, model, threads, SUPPLY_ALL);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	host_ds(host, 8, 8, minus_2);
}

/* Sets up a general counter that wraps with the next event. */
static void arm(struct unit_host *host, unsigned n, uint64_t select)
{
	WRMSR(host, EVTSEL0 + n, COUNT_ALL | select);
	WRMSR(host, PMC0 + n, UINT32_MAX);
}

/* Checks that bits of IA32_PEBS_ENABLE above those of the family are reserved. */
static void enable_bits(void)
{
	static const struct {
		int line;
		const char *model;
		uint64_t bits;
	} rows[] = {
		{__LINE__, "core2", 1},
		{__LINE__, "core2-45nm", 1},
		{__LINE__, "bonnell", 1},
		{__LINE__, "silvermont", 1},
		{__LINE__, "goldmont", 1},
		{__LINE__, "goldmont-plus", UINT64_C(0x70000000f)},
		{__LINE__, "nehalem", UINT64_C(0xf0000000f)},
		{__LINE__, "westmere", UINT64_C(0xf0000000f)},
		{__LINE__, "sandybridge", UINT64_C(0x8000000f0000000f)},
		{__LINE__, "ivybridge", UINT64_C(0x8000000f0000000f)},
		{__LINE__, "haswell", UINT64_C(0xf0000000f)},
		{__LINE__, "broadwell", UINT64_C(0xf0000000f)},
		{__LINE__, "skylake", UINT64_C(0xf0000000f)},
		{__LINE__, "icelake", UINT64_C(0xf000000ff)},
		{__LINE__, "tigerlake", UINT64_C(0xf000000ff)},
		{__LINE__, "sapphirerapids", UINT64_C(0xf000000ff)},
		{__LINE__, "alderlake-e", UINT64_C(0x70000003f)},
		{__LINE__, "graniterapids", UINT64_C(0xf000000ff)},
		{__LINE__, "lunarlake", UINT64_C(0xf000003ff)},
		{__LINE__, "sierraforest", UINT64_C(0x7000000ff)},
		{__LINE__, "alderlake", UINT64_C(0xf000000ff)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		create(&host, rows[i].model, 1);
		for (unsigned bit = 0; bit < 64; bit++)
			CHECK_ROW_EQ(rows[i].line,
				     try_write(&host, PEBS_ENABLE, UINT64_C(1) << bit),
				     rows[i].bits >> bit & 1 ? SPMU_DONE : SPMU_GP);
		host_destroy(&host);
	}
}

/* Checks the record of each family by its bytes: its length and the fields at its end. */
static void records(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t code;
		unsigned bytes;
		bool status, eventing, time;
	} rows[] = {
		{__LINE__, "core2", 0xc0, 0x90, false, false, false},
		{__LINE__, "bonnell", 0xc0, 0x90, false, false, false},
		{__LINE__, "nehalem", 0xc0, 0xb0, true, false, false},
		{__LINE__, "westmere", 0xc0, 0xb0, true, false, false},
		{__LINE__, "sandybridge", 0x4c4, 0xb0, true, false, false},
		{__LINE__, "ivybridge", 0x4c4, 0xb0, true, false, false},
		{__LINE__, "haswell", 0x4c4, 0xc0, true, true, false},
		{__LINE__, "broadwell", 0x4c4, 0xc0, true, true, false},
		{__LINE__, "goldmont", 0xc0, 0xc8, true, true, true},
		{__LINE__, "goldmont-plus", 0xc0, 0xc8, true, true, true},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;
		uint64_t word[25];

		create(&host, rows[i].model, 1);
		memset(host.memory + 0x1000, 0x5a, 0x200);
		arm(&host, 0, rows[i].code);
		WRMSR(&host, PEBS_ENABLE, 1);
		/* Goldmont's record is of the instruction that overflows (18.7.1.2). */
		WRMSR(&host, PMC0, rows[i].time ? UINT32_MAX - 1 : UINT32_MAX);
		host.tsc = 0x1000;
		CHECK_ROW_EQ(rows[i].line, retire(&host, 0x10, JUMP), 0);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 0x20, JUMP), SPMU_EV_RECORD);
		CHECK_ROW_EQ(rows[i].line, host_area(&host).pebs_index, PEBS_BASE + rows[i].bytes);
		memcpy(word, host.memory + 0x1000, sizeof(word));
		for (unsigned w = 0; w < 18; w++)
			CHECK_ROW_EQ(rows[i].line, word[w], w == 1 ? 0x24 : 0x1100 + w);
		CHECK_ROW_EQ(rows[i].line, word[18],
			     !rows[i].status ? UINT64_C(0x5a5a5a5a5a5a5a5a)
			     : rows[i].time  ? 1
					     : CHANGED | 1);
		CHECK_ROW_EQ(rows[i].line, word[22],
			     rows[i].eventing ? 0x20 : UINT64_C(0x5a5a5a5a5a5a5a5a));
		CHECK_ROW_EQ(rows[i].line, word[23],
			     rows[i].eventing ? 0 : UINT64_C(0x5a5a5a5a5a5a5a5a));
		CHECK_ROW_EQ(rows[i].line, word[24],
			     rows[i].time ? 0x1000 + 20 : UINT64_C(0x5a5a5a5a5a5a5a5a));
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0) + 2,
			     UINT64_C(1) << spmu_model_describe(host.model).counter_bits);
		host_destroy(&host);
	}
}

/* Checks 18.4.4.1, 18.8.1.1, 18.7.1: counters on which a precise event makes records. */
static void counters(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t code;
		unsigned precise; /* bit n: PMCn */
	} rows[] = {
		{__LINE__, "core2", 0xc0, 0x01},	  {__LINE__, "bonnell", 0xc0, 0x01},
		{__LINE__, "silvermont", 0xc4, 0x01},	  {__LINE__, "nehalem", 0xc0, 0x0f},
		{__LINE__, "haswell", 0x4c4, 0x0f},	  {__LINE__, "goldmont", 0xc4, 0x01},
		{__LINE__, "goldmont-plus", 0xc4, 0x0f},  {__LINE__, "icelake", 0xc4, 0xff},
		{__LINE__, "tigerlake", 0xc4, 0xff},	  {__LINE__, "sandybridge", 0x1c0, 0x02},
		{__LINE__, "silvermont", 0xc0, 0x01},	  {__LINE__, "airmont", 0xc0, 0x01},
		{__LINE__, "sapphirerapids", 0xc4, 0xff}, {__LINE__, "alderlake-e", 0xc4, 0x3f},
		{__LINE__, "graniterapids", 0xc4, 0xff},  {__LINE__, "lunarlake", 0xc4, 0x3ff},
		{__LINE__, "sierraforest", 0xc4, 0xff},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned general =
			spmu_model_describe(spmu_model_find(rows[i].model)).counters_single;

		for (unsigned n = 0; n < general; n++) {
			struct unit_host host;
			bool may;

			create(&host, rows[i].model, 1);
			may = try_write(&host, PEBS_ENABLE, UINT64_C(1) << n) == SPMU_DONE;
			CHECK_ROW(rows[i].line, may || !(rows[i].precise >> n & 1));
			arm(&host, n, rows[i].code);
			WRMSR(&host, GLOBAL_CTRL, UINT64_C(1) << n);
			for (unsigned k = 1; k <= 3; k++)
				retire(&host, k, JUMP);
			CHECK_ROW_EQ(rows[i].line, host_records(&host) > 0,
				     rows[i].precise >> n & 1);
			host_destroy(&host);
		}
	}
}

/*
 * Checks INST_RETIRED.ALL_CYCLES (18.13.1.2, note 2 of table 18-56): clocks by CMASK of 10 and INV,
 * on the counter of INST_RETIRED.PREC_DIST. The next instruction makes the record.
 */
static void all_cycles(void)
{
	struct unit_host host;

	create(&host, "skylake", 1);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0x1c0 | 10 << 24 | 1 << 23);
	WRMSR(&host, PMC0 + 1, UINT32_MAX - 5);
	WRMSR(&host, PEBS_ENABLE, 2);
	spmu_clocks(host.core, 0, SPMU_SIGBIT(CYCLES), 4, 3);
	for (unsigned k = 1; k <= 2; k++)
		CHECK_EQ(retire(&host, k, 0), 0);
	CHECK_EQ(CAUSES(&host), 2);
	CHECK_EQ(retire(&host, 3, 0), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 3);
	host_destroy(&host);
}

/* Checks that before extended PEBS an event that is not precise makes no record. */
static void imprecise_never(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t code;
	} rows[] = {
		{__LINE__, "core2", 0x3c},	{__LINE__, "nehalem", 0x3c},
		{__LINE__, "haswell", 0xc0},	{__LINE__, "skylake", 0x3c},
		{__LINE__, "silvermont", 0x3c},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		create(&host, rows[i].model, 1);
		arm(&host, 0, rows[i].code);
		WRMSR(&host, PEBS_ENABLE, 1);
		for (unsigned k = 1; k <= 6; k++)
			retire(&host, k, SPMU_SIGBIT(CYCLES) | JUMP);
		CHECK_ROW_EQ(rows[i].line, host_records(&host), 0);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 1);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), 5);
		host_destroy(&host);
	}
}

/* Checks 18.7.1: where PEBS takes any event, the record comes at the next opportunity. */
static void imprecise_next(void)
{
	static const char *const models[] = {"goldmont", "goldmont-plus", "icelake"};

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		struct unit_host host;
		uint32_t epoch;

		create(&host, models[m], 1);
		WRMSR(&host, PEBS_ENABLE, 1);
		WRMSR(&host, EVTSEL0, COUNT_USER | 0x3c);
		WRMSR(&host, PMC0, UINT32_MAX - 1);
		CHECK_EQ(host.meters[0].count, 2); /* clocks, and instructions to wait for */
		CHECK(host.meters[0].meter[1].headroom > 1000000);
		CHECK_EQ(host.meters[0].meter[1].signals, INSNS);
		retire(&host, 1, SPMU_SIGBIT(CYCLES));
		CHECK_EQ(retire(&host, 2, SPMU_SIGBIT(CYCLES)), 0);
		CHECK_EQ(CAUSES(&host), 1);
		CHECK_EQ(host.meters[0].meter[1].headroom, 0);
		/*
		 * An instruction of a ring that the counter does not count makes no record, not
		 * even if another counter makes the unit look at it.
		 */
		WRMSR(&host, EVTSEL0 + 1, 0x420000 | 0xc0);
		WRMSR(&host, PMC0 + 1, UINT32_MAX);
		CHECK_EQ(retire_lp(&host, 0, 3, INSNS, 0, 1), 0);
		CHECK_EQ(CAUSES(&host), 3);
		WRMSR(&host, EVTSEL0 + 1, 0);
		WRMSR(&host, STATUS_RESET, 2);
		epoch = host.meters[0].epoch;
		/* It need not count: the counter keeps its value until it is reloaded. */
		CHECK_EQ(retire_lp(&host, 0, 4, INSNS, 3, 0), SPMU_EV_RECORD);
		CHECK_EQ(host_record(&host, 0).eventing_ip, 4);
		CHECK_EQ(host_record(&host, 0).applicable, 1);
		CHECK_EQ(CAUSES(&host), 0);
		CHECK_EQ(RDMSR(&host, PMC0), MAX48 - 1);
		CHECK(host.meters[0].meter[1].headroom > 1000000);
		CHECK_EQ(host.meters[0].epoch, epoch); /* translated code stays valid */
		CHECK_EQ(retire(&host, 5, 0), 0);

		/* Clocks without an instruction arm as well. */
		CHECK_EQ(spmu_clocks(host.core, 0, SPMU_SIGBIT(CYCLES), 2, 3), 0);
		CHECK_EQ(host_records(&host), 1);
		CHECK_EQ(retire_lp(&host, 0, 6, INSNS, 3, 0), SPMU_EV_RECORD);
		CHECK_EQ(host_record(&host, 1).eventing_ip, 6);

		/* "including immediately after an overflow is set by an MSR write". */
		WRMSR(&host, STATUS_SET, 1);
		CHECK_EQ(retire_lp(&host, 0, 7, INSNS, 3, 0), SPMU_EV_RECORD);
		CHECK_EQ(CAUSES(&host), 0);
		/* Software that disables PEBS withdraws it. */
		WRMSR(&host, STATUS_SET, 1);
		WRMSR(&host, PEBS_ENABLE, 0);
		CHECK_EQ(retire_lp(&host, 0, 8, INSNS, 3, 0), 0);
		host_destroy(&host);
	}
}

/* Checks a precise event set by STATUS_SET: it still waits for its event, as nothing arms it. */
static void status_set_precise(void)
{
	struct unit_host host;

	create(&host, "icelake", 1);
	WRMSR(&host, PEBS_ENABLE, 1);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc4);
	WRMSR(&host, STATUS_SET, 1);
	retire(&host, 1, 0);
	retire(&host, 2, JUMP);
	CHECK_EQ(host_records(&host), 0);
	host_destroy(&host);
}

/* Checks extended PEBS: fixed counters, their bits from 32 on, and their own resets. */
static void fixed_counters(void)
{
	static const struct {
		int line;
		const char *model;
		unsigned n;
		uint64_t signal;
	} rows[] = {
		/* pebs_pdir.c checks icelake's first. */
		{__LINE__, "goldmont-plus", 0, 0},
		{__LINE__, "goldmont-plus", 1, SPMU_SIGBIT(CYCLES)},
		{__LINE__, "goldmont-plus", 2, SPMU_SIGBIT(REF_CYCLES)},
		{__LINE__, "icelake", 1, SPMU_SIGBIT(CYCLES)},
		{__LINE__, "icelake", 2, SPMU_SIGBIT(REF_CYCLES)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;
		unsigned n = rows[i].n;
		struct spmu_ds_area area;
		uint8_t block[8192], again[8192];

		create(&host, rows[i].model, 1);
		area = host_area(&host);
		for (unsigned f = 0; f < 3; f++)
			area.fixed_reset[f] = UINT64_MAX - 10 - f;
		CHECK_EQ(spmu_ds_encode(host_layout(&host), &area, host.memory, MEMORY_BYTES),
			 SPMU_OK);
		WRMSR(&host, GLOBAL_CTRL, FIXED(n));
		WRMSR(&host, FIXED_CTRL, UINT64_C(3) << (4 * n));
		WRMSR(&host, FIXED0 + n, MAX48);
		WRMSR(&host, PEBS_ENABLE, FIXED(n));
		CHECK_ROW_EQ(rows[i].line, retire(&host, 1, rows[i].signal), 0);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), FIXED(n));
		/* A record that is still to come is part of the state. */
		CHECK_EQ(spmu_save(host.core, block, sizeof(block)), SPMU_OK);
		CHECK_EQ(spmu_load(host.core, block, spmu_state_bytes(host.core)), SPMU_OK);
		CHECK_EQ(spmu_save(host.core, again, sizeof(again)), SPMU_OK);
		CHECK(!memcmp(block, again, spmu_state_bytes(host.core)));
		CHECK_ROW_EQ(rows[i].line, retire(&host, 2, 0), SPMU_EV_RECORD);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).applicable, FIXED(n));
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).eventing_ip, 2);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, FIXED0 + n), MAX48 - 10 - n);
		host_destroy(&host);
	}
}

/* Checks that a thread's record that is still to come does not affect the other thread. */
static void threads_apart(void)
{
	struct unit_host host;

	create(&host, "icelake", 2);
	for (unsigned lp = 0; lp < 2; lp++) {
		WRMSR_LP(&host, lp, DS_AREA_MSR, DS_AREA);
		WRMSR_LP(&host, lp, PEBS_ENABLE, 1);
		WRMSR_LP(&host, lp, EVTSEL0, COUNT_ALL | 0x3c);
	}
	WRMSR_LP(&host, 1, PMC0, UINT32_MAX);
	CHECK_EQ(retire_lp(&host, 1, 1, INSNS | SPMU_SIGBIT(CYCLES), 3, 1), 0);
	CHECK_EQ(CAUSES_LP(&host, 1), 1);
	CHECK_EQ(CAUSES_LP(&host, 0), 0);
	CHECK_EQ(retire_lp(&host, 0, 2, INSNS, 3, 1), 0);
	CHECK_EQ(retire_lp(&host, 1, 3, INSNS, 3, 0), SPMU_EV_RECORD);
	CHECK_EQ(CAUSES_LP(&host, 1), 0);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 3);
	host_destroy(&host);
}

/* Checks IA32_PEBS_ENABLE: a fixed counter that is switched off is no longer armed. */
static void fixed_disabled(void)
{
	struct unit_host host;

	create(&host, "goldmont-plus", 1);
	WRMSR(&host, GLOBAL_CTRL, FIXED(0));
	WRMSR(&host, FIXED_CTRL, 3);
	WRMSR(&host, PEBS_ENABLE, FIXED(0));
	for (unsigned pass = 0; pass < 2; pass++) {
		WRMSR(&host, FIXED0, MAX48);
		CHECK_EQ(retire(&host, 1, 0), 0);
		/*
		 * The bit with the unit's internal number of this counter is not the counter's bit.
		 */
		WRMSR(&host, PEBS_ENABLE, pass ? FIXED(0) | 0xf : 0);
		WRMSR(&host, PEBS_ENABLE, FIXED(0));
		CHECK_EQ(retire(&host, 2, 0), pass ? SPMU_EV_RECORD : 0);
	}
	host_destroy(&host);
}

/*
 * Checks 18.8.1.1, field 90H before format 3: it holds the status at the time, so it may name
 * several counters. The record reloads those that are enabled for PEBS, and clears their status
 * (18.9.4.1).
 */
static void status_field(void)
{
	static const char *const models[] = {"nehalem", "sandybridge", "haswell"};

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		struct unit_host host;

		create(&host, models[m], 1);
		/* PMC1 waits for calls, and fixed counter 0 has overflowed. */
		arm(&host, 0, 0x4c4);
		arm(&host, 1, 0x2c4);
		WRMSR(&host, FIXED0, MAX48);
		WRMSR(&host, FIXED_CTRL, 3);
		WRMSR(&host, GLOBAL_CTRL, FIXED(0) | 3);
		WRMSR(&host, PEBS_ENABLE, 3);
		retire(&host, 1, SPMU_SIGBIT(CALL_REL));
		CHECK_EQ(CAUSES(&host), FIXED(0) | 3);
		CHECK_EQ(retire(&host, 2, JUMP), SPMU_EV_RECORD);
		CHECK_EQ(host_record(&host, 0).applicable, CHANGED | FIXED(0) | 3);
		CHECK_EQ(CAUSES(&host), FIXED(0));
		/* Both were reloaded with -2 and count their first event. PMC1 is not armed. */
		CHECK_EQ(retire(&host, 3, SPMU_SIGBIT(CALL_REL)), 0);
		CHECK_EQ(RDMSR(&host, PMC0), MAX48);
		CHECK_EQ(RDMSR(&host, PMC0 + 1), MAX48);
		host_destroy(&host);
	}
}

/* Checks a collision: one event that two counters wait for makes one record with both bits. */
static void collision(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t code;
	} rows[] = {
		{__LINE__, "nehalem", 0xc0},
		{__LINE__, "haswell", 0x4c4},
		{__LINE__, "skylake", 0x4c4},
		{__LINE__, "goldmont-plus", 0xc4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		create(&host, rows[i].model, 1);
		arm(&host, 1, rows[i].code);
		arm(&host, 3, rows[i].code);
		WRMSR(&host, PEBS_ENABLE, 0xa);
		retire(&host, 1, JUMP);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 0xa);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 2, JUMP), SPMU_EV_RECORD);
		CHECK_ROW_EQ(rows[i].line, host_records(&host), 1);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).applicable & ~CHANGED, 0xa);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0 + 1), MAX48 - 1);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0 + 3), MAX48 - 1);
		host_destroy(&host);
	}
}

/* Checks 17.4.9.1, 18.4.4: the format has 64 bits in all modes. Outside IA-32e mode it holds 32. */
static void thirty_two_bits(void)
{
	static const char *const models[] = {"core2", "nehalem", "skylake"};

	for (size_t m = 0; m < sizeof(models) / sizeof(models[0]); m++) {
		struct unit_host host;
		struct spmu_pebs_record record;

		create(&host, models[m], 1);
		spmu_set_ia32e(host.core, 0, false);
		host.narrow = true;
		arm(&host, 0, m == 2 ? 0x4c4 : 0xc0);
		WRMSR(&host, PEBS_ENABLE, 1);
		retire(&host, 1, JUMP);
		CHECK_EQ(retire(&host, UINT64_C(0x1234567800001000), JUMP), SPMU_EV_RECORD);
		record = host_record(&host, 0);
		CHECK_EQ(record.regs.rip, 0x1004);
		CHECK_EQ(record.regs.rsp, 0x1109);
		CHECK_EQ(record.eventing_ip, m == 2 ? 0x1000 : 0);
		CHECK_EQ(record.regs.r8, 0);
		CHECK_EQ(record.regs.r15, 0);
		/* After RESET the host reports the mode again. */
		spmu_set_ia32e(host.core, 0, true);
		host.narrow = false;
		retire(&host, 3, JUMP);
		retire(&host, 4, JUMP);
		CHECK_EQ(retire(&host, 5, JUMP), SPMU_EV_RECORD);
		CHECK_EQ(host_record(&host, 1).regs.r15, 0x1111);
		host_destroy(&host);
	}
}

/*
 * Checks 18.9.4.3. With PS_ENABLE the record of a store on PMC3 has the address that it stores to,
 * and says whether it was locked. Without PS_ENABLE the record has neither. Only PMC3 has the
 * event.
 */
static void precise_store(void)
{
	static const struct {
		int line;
		uint64_t enable, signals, address, status;
	} rows[] = {
		{__LINE__, BIT(63) | 8, STORE, 0x2000, 0},
		{__LINE__, BIT(63) | 8, LOAD | STORE, 0x2008, 0},
		{__LINE__, BIT(63) | 8, LOAD | STORE | LOCK, 0x2008, SPMU_STORE_LOCKED},
		{__LINE__, 8, LOAD | STORE | LOCK, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		create(&host, "ivybridge", 1);
		WRMSR(&host, PEBS_ENABLE, rows[i].enable);
		arm(&host, 3, 0x2cd);
		retire(&host, 0x10, STORE);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 0x18, LOAD), 0);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 0x20, rows[i].signals), SPMU_EV_RECORD);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).data_address, rows[i].address);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).data_source, rows[i].status);
		CHECK_ROW_EQ(rows[i].line, host_record(&host, 0).latency, 0);
		host_destroy(&host);
	}
}

/*
 * Checks 18.8.1.2, 18.9.4.2: load latency has registers, but makes no record; nor does a store on
 * PMC0.
 */
static void latency_and_stores(void)
{
	struct unit_host host;

	create(&host, "sandybridge", 1);
	WRMSR(&host, LD_LAT, 0x1234);
	CHECK_EQ(RDMSR(&host, LD_LAT), 0x1234);
	WRMSR(&host, PEBS_ENABLE, UINT64_C(0x8000000f0000000f));
	CHECK_EQ(RDMSR(&host, PEBS_ENABLE), UINT64_C(0x8000000f0000000f));
	arm(&host, 0, 0x1cd);
	arm(&host, 1, 0x2cd);
	for (unsigned k = 0; k < 4; k++)
		retire(&host, k, LOAD | STORE);
	CHECK_EQ(host_records(&host), 0);
	CHECK_EQ(RDMSR(&host, PMC0), MAX48);
	CHECK_EQ(RDMSR(&host, PMC0 + 1), MAX48);
	/* LL_EN alone does not enable PEBS. */
	WRMSR(&host, PEBS_ENABLE, UINT64_C(0xf00000000));
	arm(&host, 0, 0x4c4);
	retire(&host, 5, JUMP);
	CHECK_EQ(retire(&host, 6, JUMP), 0);
	CHECK_EQ(CAUSES(&host), 1);
	host_destroy(&host);
}

int main(void)
{
	RUN(enable_bits());
	RUN(records());
	RUN(counters());
	RUN(all_cycles());
	RUN(imprecise_never());
	RUN(imprecise_next());
	RUN(status_set_precise());
	RUN(fixed_counters());
	RUN(threads_apart());
	RUN(fixed_disabled());
	RUN(status_field());
	RUN(collision());
	RUN(thirty_two_bits());
	RUN(precise_store());
	RUN(latency_and_stores());
	return test_summary();
}
