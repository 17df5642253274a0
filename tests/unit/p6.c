/* SPDX-License-Identifier: MIT */
/*
 * p6.c: the units of the P6 family (18.22, 17.14) and of the Pentium M (17.13): what differs from
 * architectural performance monitoring.
 */
#include "tests/unit/unit_host.h"

#define EN	     0x400000u
#define USR	     0x010000u
#define OS	     0x020000u
#define PBI(n)	     (UINT64_C(4) << (n))
#define INSTRUCTIONS 0xc0u
#define BRANCHES     0xc4u
#define FLOPS	     0xc1u

static const char *const models[] = {"pentium-pro", "pentium-ii", "pentium-iii", "pentium-m"};

static void each_model(void (*test)(struct unit_host *host))
{
	for (size_t i = 0; i < COUNT(models); i++) {
		struct unit_host host;

		host_create(&host, models[i], 1, SUPPLY_ALL);
		spmu_set_ia32e(host.core, 0, false);
		host.narrow = true;
		test(&host);
		host_destroy(&host);
	}
}

/*
 * Checks 18.22.1: EN of PerfEvtSel0 enables both counters. In PerfEvtSel1 the bit has no effect.
 * Bit 21 is reserved.
 */
static void one_enable(struct unit_host *host)
{
	WRMSR(host, EVTSEL0 + 1, USR | OS | BRANCHES);
	retire(host, 0x1000, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(RDMSR(host, PMC0 + 1), 0);
	WRMSR(host, EVTSEL0, EN); /* without a ring it counts nothing */
	retire(host, 0x1000, SPMU_SIGBIT(JMP_REL));
	retire(host, 0x1004, 0);
	CHECK_EQ(RDMSR(host, PMC0), 0);
	CHECK_EQ(RDMSR(host, PMC0 + 1), 1);
	WRMSR(host, EVTSEL0, EN | USR | INSTRUCTIONS);
	retire(host, 0x1000, SPMU_SIGBIT(JMP_REL));
	WRMSR(host, EVTSEL0, USR | INSTRUCTIONS);
	retire(host, 0x1000, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(RDMSR(host, PMC0), 1);
	CHECK_EQ(RDMSR(host, PMC0 + 1), 2);
	WRMSR(host, EVTSEL0 + 1, EN | USR | OS | BRANCHES);
	retire(host, 0x1000, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(RDMSR(host, PMC0 + 1), 2);
	CHECK_EQ(spmu_write_msr(host->core, 0, EVTSEL0, SELECT_ANY), SPMU_GP);
}

/* Checks 18.22.1: USR is CPL 1, 2 and 3, OS is CPL 0. */
static void rings(struct unit_host *host)
{
	WRMSR(host, EVTSEL0, EN | USR | INSTRUCTIONS);
	WRMSR(host, EVTSEL0 + 1, OS | INSTRUCTIONS);
	for (unsigned cpl = 0; cpl <= 3; cpl++)
		retire_lp(host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), cpl, 1);
	CHECK_EQ(RDMSR(host, PMC0), 3);
	CHECK_EQ(RDMSR(host, PMC0 + 1), 1);
}

/* Checks 18.22.2: 40 bits; a write takes the low 32 and extends bit 31. */
static void sign_extension(struct unit_host *host)
{
	WRMSR(host, PMC0, 0x80000000);
	CHECK_EQ(RDMSR(host, PMC0), 0xff80000000);
	WRMSR(host, PMC0, 0x7fffffff);
	CHECK_EQ(RDMSR(host, PMC0), 0x7fffffff);
	WRMSR(host, PMC0 + 1, 0x12300000005);
	CHECK_EQ(RDMSR(host, PMC0 + 1), 5);
	WRMSR(host, EVTSEL0, EN | USR | INSTRUCTIONS);
	WRMSR(host, PMC0, 0xffffffff);
	CHECK_EQ(RDMSR(host, PMC0), MAX40);
	retire(host, 0x1000, 0);
	CHECK_EQ(RDMSR(host, PMC0), 0);
}

/* Checks 18.22.1: CMASK, INV and E judge each clock. */
static void conditions(struct unit_host *host)
{
	static const struct {
		int line;
		uint64_t select, want;
	} rows[] = {
		{__LINE__, CMASK(1), 2},
		{__LINE__, CMASK(2), 1},
		{__LINE__, CMASK(2) | SELECT_INV, 2}, /* and the clock of the write: none */
		{__LINE__, CMASK(1) | SELECT_E, 1},
		{__LINE__, SELECT_E, 1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		spmu_reset(host->core, 0);
		WRMSR(host, EVTSEL0, EN | USR | INSTRUCTIONS | rows[i].select);
		/* Clocks with one instruction and with two; a third is not over. */
		retire_lp(host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
		retire_lp(host, 0, 0x1004, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
		retire_lp(host, 0, 0x1008, SPMU_SIGBIT(INSTRUCTIONS), 3, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, PMC0), rows[i].want);
	}
}

/* Checks 18.22.5: INT of either counter sends overflow through the LVT entry. */
static void interrupt(struct unit_host *host)
{
	bool stays = strcmp(spmu_model_describe(host->model).name, "pentium-m") != 0;

	for (unsigned n = 0; n < 2; n++) {
		host->pmis = 0;
		spmu_write_lvt(host->core, 0, LVT_NMI);
		WRMSR(host, EVTSEL0, EN);
		WRMSR(host, EVTSEL0 + n, (n ? 0 : EN) | USR | SELECT_INT | INSTRUCTIONS);
		WRMSR(host, PMC0 + n, 0xfffffffe);
		CHECK_EQ(retire(host, 0x1000, 0) & SPMU_EV_PMI, 0);
		CHECK_EQ(retire(host, 0x1004, 0) & SPMU_EV_PMI, SPMU_EV_PMI);
		CHECK_EQ(host->pmis, 1);
		CHECK_EQ(host->pmi.delivery, SPMU_DELIVER_NMI);
		/* Delivery masks the entry of a Pentium M, but not that of a P6. */
		CHECK_EQ(spmu_read_lvt(host->core, 0), stays ? LVT_NMI : LVT_NMI | LVT_MASKED);
		WRMSR(host, EVTSEL0 + n, 0);
	}
}

/*
 * Checks 18.22.1: PC toggles PMi at each count, or at overflow. PBi gives the pin away (17.14.1).
 */
static void pins(struct unit_host *host)
{
	WRMSR(host, EVTSEL0, EN | USR | SELECT_PC | INSTRUCTIONS);
	WRMSR(host, EVTSEL0 + 1, USR | INSTRUCTIONS);
	WRMSR(host, PMC0 + 1, 0xfffffffe);
	for (unsigned i = 0; i < 5; i++)
		retire(host, 0x1000, 0);
	spmu_sync(host->core);
	CHECK_EQ(host->toggles[0], 5);
	CHECK_EQ(host->toggles[1], 1);
	/* Counts in bulk toggle the pin when they are folded in. */
	host->meters[0].meter[0].headroom -= 100;
	CHECK_EQ(RDMSR(host, PMC0), 105);
	CHECK_EQ(host->toggles[0], 105);
	WRMSR(host, DEBUGCTL, PBI(0));
	retire(host, 0x1000, 0);
	CHECK_EQ(RDMSR(host, PMC0), 106);
	CHECK_EQ(host->toggles[0], 105);
}

/* Checks 19.17: only counter 0 counts FLOPS. */
static void bound(struct unit_host *host)
{
	WRMSR(host, EVTSEL0, EN | USR | FLOPS);
	WRMSR(host, EVTSEL0 + 1, USR | FLOPS);
	retire(host, 0x1000, SPMU_SIGBIT(X87));
	CHECK_EQ(RDMSR(host, PMC0), 1);
	CHECK_EQ(RDMSR(host, PMC0 + 1), 0);
}

/* Checks Vol. 2B RDPMC: counters 0 and 1, all 40 bits, by CR4.PCE. */
static void rdpmc(struct unit_host *host)
{
	uint64_t value = 0;

	WRMSR(host, PMC0 + 1, 0x80000001);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 1, 3, true, true, &value), SPMU_DONE);
	CHECK_EQ(value, 0xff80000001);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 1, 3, false, true, &value), SPMU_GP);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 1, 3, false, false, &value), SPMU_DONE);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 2, 0, true, true, &value), SPMU_GP);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 0x80000000, 0, true, true, &value), SPMU_GP);
	CHECK_EQ(spmu_rdpmc(host->core, 0, 0x40000000, 0, true, true, &value), SPMU_GP);
}

/* Checks 18.2.1: none of the registers of architectural performance monitoring exist. */
static void not_architectural(struct unit_host *host)
{
	struct spmu_cpuid_regs regs = {1, 2, 3, 4};
	uint64_t value;

	CHECK(spmu_cpuid(host->core, 0x0a, 0, &regs));
	CHECK_EQ(regs.eax | regs.ebx | regs.ecx | regs.edx, 0);
	CHECK_EQ(spmu_read_msr(host->core, 0, GLOBAL_CTRL, &value), SPMU_GP);
	CHECK_EQ(spmu_read_msr(host->core, 0, EVTSEL0 + 2, &value), SPMU_GP);
}

static void branch(struct unit_host *host, uint64_t from, uint64_t to, uint8_t flags)
{
	struct spmu_branch taken = {
		.from = from,
		.to = to,
		.signal = flags ? SPMU_SIG_FAR : SPMU_SIG_JMP_REL,
		.cpl = 3,
		.next_cpl = flags ? 0 : 3,
		.flags = flags,
	};

	(void)spmu_branches(host->core, 0, &taken, 1);
}

/* Checks 17.14.2: the last branch, and the last branch before an exception. */
static void last_branch(void)
{
	enum { FROM = 0x1db, TO = 0x1dc, INT_FROM = 0x1dd, INT_TO = 0x1de };
	struct unit_host host;

	host_create(&host, "pentium-iii", 1, SUPPLY_EXECUTION);
	branch(&host, 0x1000, 0x2000, 0);
	CHECK_EQ(RDMSR(&host, FROM), 0);
	WRMSR(&host, DEBUGCTL, 1);
	branch(&host, 0x1000, 0x2000, 0);
	branch(&host, 0x3000, 0x4000, 0);
	CHECK_EQ(RDMSR(&host, FROM), 0x3000);
	CHECK_EQ(RDMSR(&host, TO), 0x4000);
	branch(&host, 0x4004, 0xc0000000, SPMU_BRANCH_EVENT);
	CHECK_EQ(RDMSR(&host, FROM), 0x4004);
	CHECK_EQ(RDMSR(&host, TO), 0xc0000000);
	CHECK_EQ(RDMSR(&host, INT_FROM), 0x3000);
	CHECK_EQ(RDMSR(&host, INT_TO), 0x4000);
	/* 17.14.1: #DB clears LBR and BTF. */
	WRMSR(&host, DEBUGCTL, 3);
	CHECK(spmu_steps_on_branches(host.core, 0));
	spmu_debug_exception(host.core, 0);
	CHECK_EQ(RDMSR(&host, DEBUGCTL), 0);
	host_destroy(&host);
}

/* Checks 17.13: eight entries, both addresses in one register; TOS at 1C9H. */
static void stack(void)
{
	struct unit_host host;

	host_create(&host, "pentium-m", 1, SUPPLY_EXECUTION);
	WRMSR(&host, DEBUGCTL, 1);
	for (unsigned i = 0; i < 11; i++)
		branch(&host, 0x1000 + i, 0x2000 + i, 0);
	CHECK_EQ(RDMSR(&host, LBR_TOS), 3);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t n = i > 3 ? i - 1 : i + 7; /* entry 3 holds the newest, number 10 */

		CHECK_EQ(RDMSR(&host, 0x40 + i), (0x2000 + n) << 32 | (0x1000 + n));
	}
	branch(&host, 0x200a, 0xc0000000, SPMU_BRANCH_EVENT);
	CHECK_EQ(RDMSR(&host, 0x1dd), 0x200a); /* MSR_LER_TO_LIP */
	CHECK_EQ(RDMSR(&host, 0x1de), 0x100a);
	host_destroy(&host);
}

/* Checks 17.13: branch trace store with 32-bit records, no prediction flag and no filter by CPL. */
static void trace(void)
{
	struct spmu_bts_record record;
	struct spmu_ds_area area = {
		.bts_base = MEMORY_BASE + 0x1000,
		.bts_index = MEMORY_BASE + 0x1000,
		.bts_maximum = MEMORY_BASE + 0x1000 + 4 * 12,
		.bts_threshold = MEMORY_BASE + 0x1000 + 2 * 12,
	};
	struct unit_host host;

	host_create(&host, "pentium-m", 1, SUPPLY_ALL);
	spmu_set_ia32e(host.core, 0, false);
	host.narrow = true;
	host.base = 0x10000000;
	area.bts_base = area.bts_index = host.base + 0x1000;
	area.bts_maximum = area.bts_base + 4 * 12;
	area.bts_threshold = area.bts_base + 2 * 12;
	CHECK_EQ(spmu_ds_encode(host_layout(&host), &area, host.memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(&host, DS_AREA_MSR, host.base);
	spmu_write_lvt(host.core, 0, 0x20);
	WRMSR(&host, DEBUGCTL, 0x1c0); /* TR, BTS, BTINT */
	CHECK_EQ(spmu_write_msr(host.core, 0, DEBUGCTL, 0x200), SPMU_GP);
	branch(&host, 0x1000, 0x2000, 0);
	CHECK_EQ(host.pmis, 0);
	branch(&host, 0x3000, 0x4000, 0);
	CHECK_EQ(host.pmis, 1);
	CHECK_EQ(host.pmi.vector, 0x20);
	CHECK_EQ(spmu_bts_decode(host_layout(&host), host.memory + 0x100c, 12, &record), SPMU_OK);
	CHECK_EQ(record.from, 0x3000);
	CHECK_EQ(record.to, 0x4000);
	CHECK(!record.predicted);
	/* There is no PEBS: IA32_MISC_ENABLE[12] is set, and IA32_PEBS_ENABLE does not exist. */
	CHECK_EQ(RDMSR(&host, MISC_ENABLE) & 0x1880, 0x1080);
	CHECK_EQ(spmu_write_msr(host.core, 0, PEBS_ENABLE, 1), SPMU_GP);
	host_destroy(&host);
}

int main(void)
{
	RUN(each_model(one_enable));
	RUN(each_model(rings));
	RUN(each_model(sign_extension));
	RUN(each_model(conditions));
	RUN(each_model(interrupt));
	RUN(each_model(pins));
	RUN(each_model(bound));
	RUN(each_model(rdpmc));
	RUN(each_model(not_architectural));
	RUN(last_branch());
	RUN(stack());
	RUN(trace());
	return test_summary();
}
