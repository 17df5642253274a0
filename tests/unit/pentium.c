/* SPDX-License-Identifier: MIT */
/*
 * pentium.c: the Pentium's unit: CESR, CTR0 and CTR1, the pins (18.23).
 */
#include "tests/unit/unit_host.h"

enum { CESR = 0x11, CTR0 = 0x12, CTR1 = 0x13 };

#define ES(n, event) ((uint64_t)(event) << 16 * (n))
#define CC(n, code)  ((uint64_t)(code) << (16 * (n) + 6))
#define PC(n)	     (UINT64_C(0x200) << 16 * (n))
#define INSTRUCTIONS 0x16
#define READS	     0x00
#define WRITES	     0x01
#define ALL_LEVELS   3

static void create(struct unit_host *host, const char *model)
{
	host_create(host, model, 1, SUPPLY_ALL);
	spmu_set_ia32e(host->core, 0, false);
	spmu_write_lvt(host->core, 0, LVT_NMI);
}

/* Checks 18.23.1: what each control code counts, at each CPL, on each counter. */
static void control(void)
{
	static const struct {
		int line;
		unsigned code;
		bool cpl[4];
	} rows[] = {
		{__LINE__, 0, {false, false, false, false}},
		{__LINE__, 1, {true, true, true, false}},
		{__LINE__, 2, {false, false, false, true}},
		{__LINE__, 3, {true, true, true, true}},
		{__LINE__, 4, {false, false, false, false}},
		{__LINE__, 5, {true, true, true, false}},
		{__LINE__, 6, {false, false, false, true}},
		{__LINE__, 7, {true, true, true, true}},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned n = 0; n < 2; n++)
			for (unsigned cpl = 0; cpl <= 3; cpl++) {
				struct unit_host host;

				create(&host, "pentium");
				WRMSR(&host, CESR, ES(n, INSTRUCTIONS) | CC(n, rows[i].code));
				retire_lp(&host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), cpl, 1);
				CHECK_ROW_EQ(rows[i].line, RDMSR(&host, CTR0 + n),
					     rows[i].cpl[cpl]);
				CHECK_ROW_EQ(rows[i].line, RDMSR(&host, CTR1 - n), 0);
				host_destroy(&host);
			}
}

/* Checks that CPL 1 and 2 count as CPL 0 in bulk too: the ring of the meter (unit.h). */
static void levels(void)
{
	struct unit_host host;

	create(&host, "pentium");
	CHECK_EQ(spmu_model_describe(host.model).os_cpl, 2);
	WRMSR(&host, CESR, ES(0, INSTRUCTIONS) | CC(0, 1));
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(host.meters[0].meter[0].rings, SPMU_RING0);
	host.meters[0].meter[0].headroom -= 7;
	retire_lp(&host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), 2, 1);
	CHECK_EQ(RDMSR(&host, CTR0), 8);
	host_destroy(&host);
}

/* Checks 18.23.1: clocks count each clock of the event once; events count every occurrence. */
static void clocks(void)
{
	struct unit_host host;

	create(&host, "pentium");
	WRMSR(&host, CESR, ES(0, INSTRUCTIONS) | CC(0, 7) | ES(1, INSTRUCTIONS) | CC(1, 3));
	retire_lp(&host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
	retire_lp(&host, 0, 0x1004, SPMU_SIGBIT(INSTRUCTIONS), 3, 0); /* paired */
	retire_lp(&host, 0, 0x1008, SPMU_SIGBIT(INSTRUCTIONS), 3, 4);
	CHECK_EQ(RDMSR(&host, CTR0), 2);
	CHECK_EQ(RDMSR(&host, CTR1), 3);
	host_destroy(&host);
}

/* Checks 18.23: 40 bits, written as they are. An overflow has no effect but on the pin. */
static void width(void)
{
	struct unit_host host;

	create(&host, "pentium");
	WRMSR(&host, CTR0, MAX40);
	CHECK_EQ(RDMSR(&host, CTR0), MAX40);
	WRMSR(&host, CTR1, 0x80000000);
	CHECK_EQ(RDMSR(&host, CTR1), 0x80000000);
	WRMSR(&host, CESR, ES(0, INSTRUCTIONS) | CC(0, ALL_LEVELS) | PC(0));
	CHECK_EQ(retire(&host, 0x1000, 0) & SPMU_EV_PMI, 0);
	CHECK_EQ(RDMSR(&host, CTR0), 0);
	CHECK_EQ(host.pmis, 0);
	CHECK_EQ(host.toggles[0], 1);
	CHECK_EQ(spmu_read_lvt(host.core, 0), LVT_MASKED); /* no such entry */
	host_destroy(&host);
}

/* Checks 18.23.1: PC 1 asserts the pin at overflow, PC 0 at each increment. */
static void pins(void)
{
	struct unit_host host;

	create(&host, "pentium");
	WRMSR(&host, CTR1, MAX40 - 1);
	WRMSR(&host, CESR,
	      ES(0, READS) | CC(0, ALL_LEVELS) | ES(1, WRITES) | CC(1, ALL_LEVELS) | PC(1));
	for (unsigned i = 0; i < 6; i++)
		retire(&host, 0x1000, SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
	CHECK_EQ(RDMSR(&host, CTR0), 6);
	CHECK_EQ(host.toggles[0], 6);
	CHECK_EQ(host.toggles[1], 1);
	host_destroy(&host);
}

/* Checks Vol. 2B RDPMC: it exists from the Pentium with MMX on. */
static void rdpmc(void)
{
	struct unit_host host;
	uint64_t value = 0;

	create(&host, "pentium");
	CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 0, true, true, &value), SPMU_UD);
	host_destroy(&host);
	create(&host, "pentium-mmx");
	WRMSR(&host, CTR1, 0x1234567890);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 1, 3, true, true, &value), SPMU_DONE);
	CHECK_EQ(value, 0x1234567890);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 1, 3, false, true, &value), SPMU_GP);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 2, 0, true, true, &value), SPMU_GP);
	host_destroy(&host);
}

/* Checks 19.18: with MMX the counters have different events for one code. */
static void two_meanings(void)
{
	struct unit_host host;

	create(&host, "pentium-mmx");
	WRMSR(&host, CESR, ES(0, 0x39) | CC(0, ALL_LEVELS) | ES(1, 0x39) | CC(1, ALL_LEVELS));
	retire(&host, 0x1000, SPMU_SIGBIT(RET_NEAR));
	CHECK_EQ(RDMSR(&host, CTR0), 1); /* returns */
	CHECK_EQ(RDMSR(&host, CTR1), 0); /* predicted returns */
	host_destroy(&host);
}

/*
 * Checks that a write of CESR ends the current clock for both counters, and that a state holds that
 * clock.
 */
static void state(void)
{
	static uint8_t saved[16384], again[16384];
	struct unit_host host;
	unsigned lp;

	create(&host, "pentium");
	WRMSR(&host, CESR, ES(0, INSTRUCTIONS) | CC(0, 7));
	retire_lp(&host, 0, 0x1000, SPMU_SIGBIT(INSTRUCTIONS), 3, 1);
	CHECK(spmu_state_bytes(host.core) <= sizeof(saved));
	CHECK_EQ(spmu_save(host.core, saved, sizeof(saved)), SPMU_OK);
	WRMSR(&host, CESR, ES(0, INSTRUCTIONS) | CC(0, 7));
	retire_lp(&host, 0, 0x1004, SPMU_SIGBIT(INSTRUCTIONS), 3, 0);
	CHECK_EQ(RDMSR(&host, CTR0), 2); /* a new clock */
	CHECK_EQ(spmu_load(host.core, saved, spmu_state_bytes(host.core)), SPMU_OK);
	CHECK_EQ(spmu_save(host.core, again, sizeof(again)), SPMU_OK);
	CHECK(!spmu_state_difference(saved, again, spmu_state_bytes(host.core), &lp));
	retire_lp(&host, 0, 0x1004, SPMU_SIGBIT(INSTRUCTIONS), 3, 0);
	CHECK_EQ(RDMSR(&host, CTR0), 1); /* the clock before the write */
	host_destroy(&host);
}

int main(void)
{
	RUN(control());
	RUN(levels());
	RUN(clocks());
	RUN(width());
	RUN(pins());
	RUN(rdpmc());
	RUN(two_meanings());
	RUN(state());
	return test_summary();
}
