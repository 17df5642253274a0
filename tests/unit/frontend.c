/* SPDX-License-Identifier: MIT */
/*
 * frontend.c: FRONTEND_RETIRED counts what MSR_PEBS_FRONTEND selects (18.13.1.4, table 18-59).  The
 * values are those of Intel's event lists.
 */
#include <softpmu/uarch_time.h>

#include "unit_host.h"

#define FRONTEND_RETIRED UINT64_C(0x01c6)
#define FRONTEND	 0x3f7

static const uint16_t tallies[] = {
	SPMU_TALLY_DSB_MISSES,	     SPMU_TALLY_CODE_L1_MISSES,	  SPMU_TALLY_CODE_L2_MISSES,
	SPMU_TALLY_CODE_ITLB_MISSES, SPMU_TALLY_CODE_STLB_MISSES,
};

#define TALLIES (sizeof(tallies) / sizeof(tallies[0]))

/* What the tests' hosts supply, and what a model of the machine and one of time do. */
static struct spmu_supply supply_front(bool time)
{
	struct spmu_supply supply = supply_all();

	spmu_uarch_supplies(&supply);
	if (time)
		spmu_timeline_supplies(spmu_core_shape_find("skylake"), &supply);
	return supply;
}

/* Reports each condition a different number of times: powers of two. */
static void report_all(struct unit_host *host)
{
	for (unsigned i = 0; i < TALLIES; i++) {
		const struct spmu_tally tally = {.kind = tallies[i], .count = 1u << i};

		(void)spmu_tallies(host->core, 0, &tally, 1, 3);
	}
}

static uint64_t count_of(const char *model, uint64_t value, bool time)
{
	struct unit_host host;
	uint64_t n;

	host_create(&host, model, 1, supply_front(time));
	WRMSR(&host, FRONTEND, value);
	WRMSR(&host, EVTSEL0, COUNT_USER | FRONTEND_RETIRED);
	WRMSR(&host, GLOBAL_CTRL, 1);
	report_all(&host);
	n = RDMSR(&host, PMC0);
	host_destroy(&host);
	return n;
}

static void test_conditions(void)
{
	static const struct {
		int line;
		const char *model;
		uint64_t value;
		unsigned count;
	} rows[] = {
		{__LINE__, "skylake", 0x1, 1},	    {__LINE__, "skylake", 0x12, 2},
		{__LINE__, "skylake", 0x13, 4},	    {__LINE__, "skylake", 0x14, 8},
		{__LINE__, "skylake", 0x15, 16},    {__LINE__, "icelake", 0x500112, 2},
		{__LINE__, "skylake", 0x11, 0},	    /* misses that stall */
		{__LINE__, "skylake", 0x400406, 0}, /* bubbles */
		{__LINE__, "skylake", 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_ROW_EQ(rows[i].line, count_of(rows[i].model, rows[i].value, true),
			     rows[i].count);
	CHECK_EQ(count_of("skylake", 0x1, false), 0); /* nobody supplies that */
}

/* A write takes effect at once. */
static void test_write(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, supply_front(true));
	WRMSR(&host, EVTSEL0, COUNT_USER | FRONTEND_RETIRED);
	WRMSR(&host, GLOBAL_CTRL, 1);
	report_all(&host);
	CHECK_EQ(RDMSR(&host, PMC0), 0);
	WRMSR(&host, FRONTEND, 0x12);
	report_all(&host);
	CHECK_EQ(RDMSR(&host, PMC0), 2);
	WRMSR(&host, FRONTEND, 0x13);
	report_all(&host);
	CHECK_EQ(RDMSR(&host, PMC0), 2 + 4);
	host_destroy(&host);
}

int main(void)
{
	RUN(test_conditions());
	RUN(test_write());
	return test_summary();
}
