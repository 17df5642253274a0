/* SPDX-License-Identifier: MIT */
/*
 * version_6.c: version 6 of architectural performance monitoring, as Lunar Lake has it: further
 * addresses of the counters, unit mask 2 and the equal flag. Linux's driver is the second source
 * (MSR_IA32_PMC_V6_GP0_CTR, ARCH_PERFMON_EVENTSEL_UMASK2, ARCH_PERFMON_EVENTSEL_EQ), and Intel's
 * list of events for the unit masks.
 */
#include "tests/unit/unit_host.h"

#define GENERAL 10
#define FIXED	4
#define EQUAL	(UINT64_C(1) << 36)
#define CLOCKS	7 /* of run_clocks() */
#define UMASK2	40
#define INVERT	(UINT64_C(1) << 23)

static uint32_t counter_at(unsigned n)
{
	return 0x1900 + 4 * n;
}

static uint32_t select_at(unsigned n)
{
	return 0x1901 + 4 * n;
}

static uint32_t fixed_at(unsigned n)
{
	return 0x1980 + 4 * n;
}

static void execute(struct unit_host *host, uint64_t signals, uint32_t cycles)
{
	struct spmu_insn insn = {.ip = 0x1000,
				 .next_ip = 0x2000,
				 .cpl = 3,
				 .next_cpl = 3,
				 .cycles = cycles,
				 .signals = SPMU_SIGBIT(INSTRUCTIONS) | signals};

	spmu_retire(host->core, 0, &insn);
}

/* Checks that each register is the same at both addresses, in full width. */
static void addresses(void)
{
	struct unit_host host;
	uint64_t value;

	host_create(&host, "lunarlake", 1, SUPPLY_EXECUTION);
	for (unsigned n = 0; n < GENERAL; n++) {
		WRMSR(&host, counter_at(n), MAX48 - n);
		CHECK_EQ(RDMSR(&host, PMC0 + n), MAX48 - n);
		CHECK_EQ(RDMSR(&host, A_PMC0 + n), MAX48 - n);
		WRMSR(&host, A_PMC0 + n, n);
		CHECK_EQ(RDMSR(&host, counter_at(n)), n);
		WRMSR(&host, select_at(n), COUNT_USER | 0xc0);
		CHECK_EQ(RDMSR(&host, EVTSEL0 + n), COUNT_USER | 0xc0);
		CHECK_EQ(spmu_write_msr(host.core, 0, counter_at(n), MAX48 + 1), SPMU_GP);
	}
	for (unsigned n = 0; n < FIXED; n++) {
		WRMSR(&host, fixed_at(n), MAX48 - n);
		CHECK_EQ(RDMSR(&host, FIXED0 + n), MAX48 - n);
	}
	/* The registers of auto counter reload, and counters that are not there. */
	for (unsigned n = 0; n < GENERAL; n++)
		for (unsigned reload = 1; reload < 3 && n < GENERAL - 1; reload++)
			CHECK_EQ(spmu_read_msr(host.core, 0, select_at(n) + reload, &value),
				 SPMU_GP);
	CHECK_EQ(spmu_read_msr(host.core, 0, fixed_at(0) + 2, &value), SPMU_GP);
	CHECK_EQ(spmu_read_msr(host.core, 0, counter_at(GENERAL), &value), SPMU_NOT_OURS);
	execute(&host, 0, 0);
	for (unsigned n = 0; n < GENERAL; n++)
		CHECK_EQ(RDMSR(&host, counter_at(n)), n + 1);
	host_destroy(&host);
	host_create(&host, "graniterapids", 1, SUPPLY_EXECUTION);
	CHECK_EQ(spmu_read_msr(host.core, 0, counter_at(0), &value), SPMU_GP);
	CHECK_EQ(spmu_write_msr(host.core, 0, EVTSEL0, EQUAL), SPMU_GP);
	CHECK_EQ(spmu_write_msr(host.core, 0, EVTSEL0, UINT64_C(1) << UMASK2), SPMU_GP);
	host_destroy(&host);
}

/* Checks that unit mask 2 is a part of the event's code. */
static void unit_mask_2(void)
{
	const uint64_t taken = UINT64_C(1) << UMASK2 | 0x01c4; /* BR_INST_RETIRED.COND_TAKEN */
	const uint64_t conditional = UINT64_C(1) << UMASK2 | 0x11c4;
	struct unit_host host;

	host_create(&host, "lunarlake", 1, SUPPLY_EXECUTION);
	WRMSR(&host, select_at(0), COUNT_USER | taken);
	WRMSR(&host, select_at(1), COUNT_USER | conditional);
	WRMSR(&host, select_at(2), COUNT_USER | 0x01c4); /* taken backwards: absent */
	WRMSR(&host, select_at(3), COUNT_USER | taken | UINT64_C(2) << UMASK2);
	for (unsigned i = 0; i < 3; i++)
		execute(&host, SPMU_SIGBIT(COND_TAKEN), 0);
	execute(&host, SPMU_SIGBIT(COND_NTAKEN), 0);
	CHECK_EQ(RDMSR(&host, counter_at(0)), 3);
	CHECK_EQ(RDMSR(&host, counter_at(1)), 4);
	CHECK_EQ(RDMSR(&host, counter_at(2)), 0);
	CHECK_EQ(RDMSR(&host, counter_at(3)), 0);
	CHECK_EQ(spmu_absent_counters(host.core, 0), 0xc);
	host_destroy(&host);
}

/* Runs clocks in which 0, 1, 2, 3, 2, 0 and 0 instructions retire. */
static void run_clocks(struct unit_host *host)
{
	static const unsigned each[] = {1, 2, 3, 2};

	spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 1, 3);
	for (size_t i = 0; i < COUNT(each); i++)
		for (unsigned n = 0; n < each[i]; n++)
			execute(host, 0, n == 0);
	spmu_clocks(host->core, 0, SPMU_SIGBIT(CYCLES), 2, 3);
}

/* Checks that the equal flag counts clocks with exactly as many, and with INV the others. */
static void equal_flag(void)
{
	static const struct {
		int line;
		uint64_t condition;
		uint64_t clocks;
	} rows[] = {
		{__LINE__, CMASK(2), 3},
		{__LINE__, CMASK(2) | EQUAL, 2},
		{__LINE__, CMASK(1) | EQUAL, 1},
		{__LINE__, CMASK(4) | EQUAL, 0},
		{__LINE__, EQUAL, 8}, /* without a threshold it has no effect */
	};
	struct unit_host host;

	for (size_t i = 0; i < COUNT(rows); i++) {
		host_create(&host, "lunarlake", 1, SUPPLY_ALL);
		WRMSR(&host, select_at(0), COUNT_USER | 0xc0 | rows[i].condition);
		WRMSR(&host, select_at(1), COUNT_USER | 0xc0 | rows[i].condition | INVERT);
		run_clocks(&host);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, counter_at(0)), rows[i].clocks);
		if (rows[i].condition >> 24 & 0xff)
			CHECK_ROW_EQ(rows[i].line, RDMSR(&host, counter_at(1)),
				     CLOCKS - rows[i].clocks);
		host_destroy(&host);
	}
}

int main(void)
{
	RUN(addresses());
	RUN(unit_mask_2());
	RUN(equal_flag());
	return test_summary();
}
