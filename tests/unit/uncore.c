/* SPDX-License-Identifier: MIT */
/*
 * uncore.c: the unit outside the cores of Nehalem and Westmere (Vol. 3B 18.8.2).  The bits of the
 * registers are those of figures 18-25 to 18-30 and of Linux's driver for this unit.
 */
#include "tests/unit/unit_host.h"

enum {
	U_CTRL = 0x391,
	U_STATUS = 0x392,
	U_OVF_CTRL = 0x393,
	U_FIXED = 0x394,
	U_FIXED_CTRL = 0x395,
	U_MATCH = 0x396,
	U_PMC0 = 0x3b0,
	U_SELECT0 = 0x3c0,
};

#define BIT(n)	  (UINT64_C(1) << (n))
#define EN	  BIT(22)
#define PMI	  BIT(20)
#define INV	  BIT(23)
#define EDGE	  BIT(18)
#define FC0	  BIT(32)
#define OVF_PMI	  BIT(61)
#define CHG	  BIT(63)
#define FRZ	  BIT(63)
#define CORE(n)	  BIT(48 + (n))
#define UNCORE_ON BIT(13) /* IA32_DEBUGCTL.ENABLE_UNCORE_PMI */
#define OVF_OF_IT BIT(61) /* IA32_PERF_GLOBAL_STATUS.Ovf_Uncore */

struct package {
	struct unit_host core[2];
	struct spmu_uncore *uncore;
	uint64_t memory[64];
};

static void package_create(struct package *p, const char *model, unsigned threads)
{
	struct spmu_uncore_config config = {.size = sizeof(config), .cores = 2};

	for (unsigned i = 0; i < 2; i++) {
		host_create(&p->core[i], model, threads, SUPPLY_EXECUTION);
		config.core[i] = p->core[i].core;
	}
	config.model = p->core[0].model;
	CHECK(spmu_uncore_bytes() <= sizeof(p->memory));
	CHECK_EQ(spmu_uncore_create(p->memory, sizeof(p->memory), &config, &p->uncore), SPMU_OK);
}

static void package_destroy(struct package *p)
{
	host_destroy(&p->core[0]);
	host_destroy(&p->core[1]);
}

static void put(struct package *p, uint32_t msr, uint64_t value)
{
	CHECK_EQ(spmu_uncore_write_msr(p->uncore, msr, value), SPMU_DONE);
}

static uint64_t get(struct package *p, uint32_t msr)
{
	uint64_t value = 0;

	CHECK_EQ(spmu_uncore_read_msr(p->uncore, msr, &value), SPMU_DONE);
	return value;
}

/* `clocks` pass; event 0BH with unit mask 10H happens `times` times in each. */
static void pass(struct package *p, uint64_t clocks, uint16_t times)
{
	struct spmu_uncore_activity activity = {.event = 0x0b, .mask = 0x10, .times = times};

	spmu_uncore_clocks(p->uncore, clocks, &activity, times != 0);
}

/* Checks figures 18-25 to 18-30: the bits that can be written. */
static void registers(void)
{
	static const struct {
		int line;
		uint32_t msr;
		uint64_t bits; /* that can be written and are read again */
	} rows[] = {
		{__LINE__, U_CTRL, FRZ | CORE(0) | CORE(1) | FC0 | 0xff},
		{__LINE__, U_FIXED, MAX48},
		{__LINE__, U_FIXED_CTRL, 5},
		{__LINE__, U_PMC0, MAX48},
		{__LINE__, U_PMC0 + 7, MAX48},
		{__LINE__, U_SELECT0, 0xffd4ffff & ~BIT(17)},
		{__LINE__, U_SELECT0 + 7, 0xffd4ffff & ~BIT(17)},
	};
	struct package p;
	uint64_t value = 1;

	package_create(&p, "nehalem", 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint64_t bits = 0;

		for (unsigned n = 0; n < 64; n++)
			if (spmu_uncore_write_msr(p.uncore, rows[i].msr, BIT(n)) == SPMU_DONE)
				bits |= get(&p, rows[i].msr);
		CHECK_ROW_EQ(rows[i].line, bits, rows[i].bits);
	}
	spmu_uncore_reset(p.uncore);
	for (size_t i = 0; i < COUNT(rows); i++)
		CHECK_ROW_EQ(rows[i].line, get(&p, rows[i].msr), 0);
	/* "It will always read as a zero." */
	put(&p, U_SELECT0, BIT(17));
	CHECK_EQ(get(&p, U_SELECT0), 0);
	CHECK_EQ(spmu_uncore_write_msr(p.uncore, U_STATUS, 0), SPMU_GP);
	CHECK_EQ(spmu_uncore_write_msr(p.uncore, U_OVF_CTRL, BIT(33)), SPMU_GP);
	for (uint32_t msr = 0x390; msr < 0x3d0; msr++) {
		bool ours = (msr >= U_CTRL && msr <= U_MATCH) || (msr >= U_PMC0 && msr < 0x3b8) ||
			    (msr >= U_SELECT0 && msr < 0x3c8);

		CHECK_EQ(spmu_uncore_read_msr(p.uncore, msr, &value) == SPMU_DONE, ours);
		if (ours)
			CHECK(spmu_read_msr(p.core[0].core, 0, msr, &value) != SPMU_DONE);
		else
			CHECK_EQ(spmu_uncore_write_msr(p.uncore, msr, 0), SPMU_NOT_OURS);
	}
	package_destroy(&p);
}

/* Checks 18.8.2.2: local and global enable bits, unit masks, and the fixed counter. */
static void counts(void)
{
	struct package p;

	package_create(&p, "westmere-ep", 1);
	put(&p, U_SELECT0, EN | 0x100b);     /* the event */
	put(&p, U_SELECT0 + 1, EN | 0x300b); /* one of two unit masks is its own */
	put(&p, U_SELECT0 + 2, EN | 0x200b); /* another unit mask */
	put(&p, U_SELECT0 + 3, EN | 0x100c); /* another event */
	put(&p, U_SELECT0 + 4, 0x100b);	     /* EN is clear */
	put(&p, U_SELECT0 + 5, EN | 0x100b); /* EN_PC5 is clear */
	put(&p, U_FIXED_CTRL, 1);
	put(&p, U_CTRL, FC0 | 0x1f);
	pass(&p, 1000, 3);
	for (unsigned n = 0; n < 8; n++)
		CHECK_EQ(get(&p, U_PMC0 + n), n < 2 ? 3000 : 0);
	CHECK_EQ(get(&p, U_FIXED), 1000);
	pass(&p, 500, 0);
	CHECK_EQ(get(&p, U_PMC0), 3000);
	CHECK_EQ(get(&p, U_FIXED), 1500);
	put(&p, U_FIXED_CTRL, 0);
	pass(&p, 500, 1);
	CHECK_EQ(get(&p, U_PMC0), 3500);
	CHECK_EQ(get(&p, U_FIXED), 1500);
	CHECK_EQ(get(&p, U_STATUS), 0);
	package_destroy(&p);
}

/* Checks 18.8.2.2: the counter mask, INV and E. */
static void compares(void)
{
	static const struct {
		int line;
		uint64_t select;
		/* After 10 clocks with 2, 5 with none, 7 with 3 and 1 with none. */
		uint64_t expected;
	} rows[] = {
		{__LINE__, 0, 20 + 21},
		{__LINE__, INV, 20 + 21}, /* without a mask it has no effect */
		{__LINE__, EDGE, 2},
		{__LINE__, CMASK(1), 17},
		{__LINE__, CMASK(2), 17},
		{__LINE__, CMASK(3), 7},
		{__LINE__, CMASK(4), 0},
		{__LINE__, CMASK(3) | INV, 16},
		{__LINE__, CMASK(1) | INV, 6},
		{__LINE__, CMASK(3) | EDGE, 1},
		{__LINE__, CMASK(1) | INV | EDGE, 2},
	};
	struct package p;

	package_create(&p, "nehalem", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_uncore_reset(p.uncore);
		put(&p, U_SELECT0, EN | 0x100b | rows[i].select);
		put(&p, U_CTRL, 1);
		pass(&p, 10, 2);
		pass(&p, 5, 0);
		pass(&p, 7, 3);
		pass(&p, 1, 0);
		CHECK_ROW_EQ(rows[i].line, get(&p, U_PMC0), rows[i].expected);
	}
	package_destroy(&p);
}

/* Checks 18.8.2.1: status bits, and how they are cleared. */
static void overflows(void)
{
	struct package p;

	package_create(&p, "nehalem", 1);
	put(&p, U_SELECT0 + 2, EN | 0x100b);
	put(&p, U_PMC0 + 2, MAX48 - 9);
	put(&p, U_FIXED, MAX48);
	put(&p, U_FIXED_CTRL, 1);
	put(&p, U_CTRL, FC0 | 4);
	pass(&p, 1, 1);
	CHECK_EQ(get(&p, U_STATUS), CHG | FC0);
	CHECK_EQ(get(&p, U_FIXED), 0);
	pass(&p, 3, 3); /* 1 + 9 occurrences: just 0 */
	CHECK_EQ(get(&p, U_STATUS), CHG | FC0 | 4);
	CHECK_EQ(get(&p, U_PMC0 + 2), 0);
	put(&p, U_OVF_CTRL, CHG | FC0);
	CHECK_EQ(get(&p, U_STATUS), 4);
	/* A bit that is set already does not change. */
	put(&p, U_PMC0 + 2, MAX48);
	pass(&p, 1, 1);
	CHECK_EQ(get(&p, U_STATUS), 4);
	put(&p, U_OVF_CTRL, 4);
	CHECK_EQ(get(&p, U_STATUS), 0);
	CHECK_EQ(get(&p, U_OVF_CTRL), 0);
	CHECK_EQ(p.core[0].pmis + p.core[1].pmis, 0); /* PMI is clear */
	package_destroy(&p);
}

/* Checks 18.8.2.1, 17.4.1: the interrupt goes to the cores and the threads that ask for it. */
static void interrupts(void)
{
	struct package p;

	package_create(&p, "nehalem", 2);
	for (unsigned i = 0; i < 2; i++) {
		spmu_write_lvt(p.core[i].core, 0, LVT_NMI);
		spmu_write_lvt(p.core[i].core, 1, LVT_NMI);
	}
	WRMSR_LP(&p.core[1], 1, DEBUGCTL, UNCORE_ON);
	put(&p, U_SELECT0, EN | PMI | 0x100b);
	put(&p, U_PMC0, MAX48);
	put(&p, U_CTRL, CORE(0) | 1);
	pass(&p, 1, 1); /* core 0 has no thread that asks for it */
	CHECK_EQ(get(&p, U_STATUS), CHG | OVF_PMI | 1);
	CHECK_EQ(p.core[0].pmis + p.core[1].pmis, 0);
	put(&p, U_CTRL, CORE(0) | CORE(1) | 1);
	put(&p, U_PMC0, MAX48);
	pass(&p, 1, 1);
	CHECK_EQ(p.core[0].pmis, 0);
	CHECK_EQ(p.core[1].pmis, 1);
	CHECK_EQ(p.core[1].pmi_lp, 1);
	CHECK_EQ(RDMSR_LP(&p.core[1], 1, STATUS), OVF_OF_IT | CHANGED);
	CHECK_EQ(RDMSR_LP(&p.core[1], 0, STATUS), 0);
	CHECK_EQ(RDMSR_LP(&p.core[0], 0, STATUS), 0);
	WRMSR_LP(&p.core[1], 1, STATUS_RESET, OVF_OF_IT | CHANGED);
	CHECK_EQ(RDMSR_LP(&p.core[1], 1, STATUS), 0);
	/* The entry of the local vector table is masked now. */
	put(&p, U_PMC0, MAX48);
	pass(&p, 1, 1);
	CHECK_EQ(p.core[1].pmis, 1);
	CHECK_EQ(RDMSR_LP(&p.core[1], 1, STATUS), OVF_OF_IT | CHANGED);
	package_destroy(&p);
}

/* Checks 17.4.7: the request freezes the counters of the core, as IA32_DEBUGCTL says. */
static void freezes_core(void)
{
	struct package p;

	package_create(&p, "nehalem", 1);
	WRMSR(&p.core[0], EVTSEL0, COUNT_ALL | 0xc0);
	WRMSR(&p.core[0], GLOBAL_CTRL, 1);
	WRMSR(&p.core[0], DEBUGCTL, UNCORE_ON | BIT(12));
	put(&p, U_SELECT0, EN | PMI | 0x100b);
	put(&p, U_PMC0, MAX48);
	put(&p, U_CTRL, CORE(0) | 1);
	pass(&p, 1, 1);
	CHECK_EQ(RDMSR(&p.core[0], GLOBAL_CTRL), 0);
	package_destroy(&p);
}

/* Checks 18.8.2.1: PMI_FRZ disables all counters at the clock of the interrupt. */
static void freezes(void)
{
	struct package p;

	package_create(&p, "westmere", 1);
	put(&p, U_SELECT0, EN | PMI | 0x100b);
	put(&p, U_SELECT0 + 1, EN | 0x100b);
	put(&p, U_FIXED_CTRL, 1);
	put(&p, U_PMC0, MAX48 - 99);
	put(&p, U_CTRL, FRZ | FC0 | CORE(1) | 3);
	pass(&p, 1000000, 2);
	CHECK_EQ(get(&p, U_CTRL), FRZ | CORE(1));
	CHECK_EQ(get(&p, U_PMC0), 0);
	CHECK_EQ(get(&p, U_PMC0 + 1), 100);
	CHECK_EQ(get(&p, U_FIXED), 50);
	CHECK_EQ(get(&p, U_STATUS), CHG | OVF_PMI | 1);
	/* "Software must explicitly re-enable the counter". */
	put(&p, U_CTRL, FRZ | 2);
	pass(&p, 10, 2);
	CHECK_EQ(get(&p, U_PMC0 + 1), 120);
	/* Without PMI_FRZ counting goes on, and each overflow interrupts. */
	WRMSR(&p.core[0], DEBUGCTL, UNCORE_ON);
	put(&p, U_PMC0, MAX48 - 99);
	put(&p, U_CTRL, CORE(0) | 1);
	pass(&p, 51, 2);
	CHECK_EQ(get(&p, U_PMC0), 2);
	CHECK_EQ(RDMSR(&p.core[0], STATUS), OVF_OF_IT | CHANGED);
	package_destroy(&p);
}

/* Checks 18.8.2.3 and table 18-27. */
static void matches(void)
{
	static const struct {
		int line;
		uint64_t select; /* MatchSel */
		bool both, address, opcode, neither;
	} rows[] = {
		{__LINE__, 0, false, false, false, false}, {__LINE__, 4, true, true, false, false},
		{__LINE__, 2, true, false, true, false},   {__LINE__, 6, true, true, true, false},
		{__LINE__, 1, true, false, false, false},
	};
	struct package p;

	package_create(&p, "nehalem", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		put(&p, U_MATCH, rows[i].select << 61 | BIT(40) * 0x1d | 0x123456788);
		CHECK_ROW_EQ(rows[i].line, get(&p, U_MATCH) >> 61, rows[i].select);
		/* Bits 2:0 and those above bit 39 do not count. */
		CHECK_ROW_EQ(rows[i].line,
			     spmu_uncore_matches(p.uncore, BIT(40) | 0x12345678f, 0x1d),
			     rows[i].both);
		CHECK_ROW_EQ(rows[i].line, spmu_uncore_matches(p.uncore, 0x123456788, 0x0d),
			     rows[i].address);
		CHECK_ROW_EQ(rows[i].line, spmu_uncore_matches(p.uncore, 0x123456780, 0x1d),
			     rows[i].opcode);
		CHECK_ROW_EQ(rows[i].line, spmu_uncore_matches(p.uncore, 0x123456780, 0x0d),
			     rows[i].neither);
	}
	for (uint64_t reserved = 3; reserved < 8; reserved += 2)
		CHECK_EQ(spmu_uncore_write_msr(p.uncore, U_MATCH, reserved << 61), SPMU_GP);
	CHECK_EQ(spmu_uncore_write_msr(p.uncore, U_MATCH, 1), SPMU_GP);
	CHECK_EQ(spmu_uncore_write_msr(p.uncore, U_MATCH, BIT(48)), SPMU_GP);
	package_destroy(&p);
}

/* Checks which models have the unit, and what is refused. */
static void refuses(void)
{
	struct spmu_uncore_config config = {.size = sizeof(config), .cores = 1};
	struct spmu_uncore *uncore = NULL;
	uint64_t memory[64];
	unsigned have = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		config.model = spmu_model_at(m);
		if (spmu_uncore_create(memory, sizeof(memory), &config, &uncore) == SPMU_OK)
			have++;
		else
			CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), &config, &uncore),
				 SPMU_E_MODEL);
	}
	CHECK_EQ(have, 3); /* the Xeon 7500 has another one */
	config.model = spmu_model_find("nehalem");
	CHECK_EQ(spmu_uncore_create(memory, 8, &config, &uncore), SPMU_E_SPACE);
	CHECK_EQ(spmu_uncore_create((uint8_t *)memory + 1, 400, &config, &uncore), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_uncore_create(NULL, 400, &config, &uncore), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), NULL, &uncore), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), &config, NULL), SPMU_E_ARGUMENT);
	config.cores = 0;
	CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), &config, &uncore), SPMU_E_ARGUMENT);
	config.cores = SPMU_UNCORE_CORES_MAX + 1;
	CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), &config, &uncore), SPMU_E_ARGUMENT);
	config = (struct spmu_uncore_config){.cores = 1};
	CHECK_EQ(spmu_uncore_create(memory, sizeof(memory), &config, &uncore), SPMU_E_ARGUMENT);
}

int main(void)
{
	RUN(registers());
	RUN(counts());
	RUN(compares());
	RUN(overflows());
	RUN(interrupts());
	RUN(freezes_core());
	RUN(freezes());
	RUN(matches());
	RUN(refuses());
	return test_summary();
}
