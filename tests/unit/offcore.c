/* SPDX-License-Identifier: MIT */
/*
 * offcore.c: off-core response events (18.9.5, 18.13.2): which requests the registers select.  The
 * values are those of Intel's event lists and of Linux's table of cache events.
 */
#include "unit_host.h"

#define RESPONSE_0 UINT64_C(0x01b7)
#define RESPONSE_1 UINT64_C(0x01bb)
#define RSP_0	   0x1a6
#define RSP_1	   0x1a7

/* What the tests' hosts supply, and responses to requests. */
static struct spmu_supply supply_responses(void)
{
	struct spmu_supply supply = supply_all();

	spmu_uarch_supplies_offcore(&supply);
	return supply;
}

/* Reports each kind of request and response a different number of times: powers of two. */
static void request_all(struct unit_host *host)
{
	for (unsigned kind = SPMU_TALLY_OFFCORE_DATA_L3; kind <= SPMU_TALLY_OFFCORE_CODE_MEMORY;
	     kind++) {
		const struct spmu_tally tally = {
			.kind = (uint16_t)kind,
			.count = 1u << (kind - SPMU_TALLY_OFFCORE_DATA_L3),
		};

		(void)spmu_tallies(host->core, 0, &tally, 1, 3);
	}
}

/* Kinds of responses of one kind of request, in request_all()'s counts. */
enum { L3 = 1, SHARED = 2, MODIFIED = 4, DRAM = 8, ANSWERS = 15 };
#define DATA(responses) (responses)
#define OWN(responses)	((responses) << 4)
#define CODE(responses) ((responses) << 8)

static void selects_requests(void)
{
	static const struct {
		int line;
		const char *model;
		uint64_t value;
		unsigned count;
	} rows[] = {
		/* Linux: LLC-loads, LLC-load-misses, LLC-stores, LLC-store-misses. */
		{__LINE__, "skylake", UINT64_C(0x10001), DATA(ANSWERS)},
		{__LINE__, "skylake-server", UINT64_C(0x3ffc020001), DATA(DRAM)},
		{__LINE__, "skylake", UINT64_C(0x10002), OWN(ANSWERS)},
		{__LINE__, "skylake", UINT64_C(0x3ffc020002), OWN(DRAM)},
		{__LINE__, "icelake", UINT64_C(0x3ffc020001), DATA(DRAM)},
		/* L3_HIT.HITM_OTHER_CORE, of data reads and of all three. */
		{__LINE__, "skylake", UINT64_C(0x10003c0001), DATA(MODIFIED)},
		{__LINE__, "skylake", UINT64_C(0x10003c0007),
		 DATA(MODIFIED) | OWN(MODIFIED) | CODE(MODIFIED)},
		/* L3_HIT.HIT_OTHER_CORE_NO_FWD, SNOOP_NOT_NEEDED, ANY_SNOOP. */
		{__LINE__, "haswell", UINT64_C(0x04003c0001), DATA(SHARED)},
		{__LINE__, "haswell", UINT64_C(0x01003c0004), CODE(L3)},
		{__LINE__, "haswell", UINT64_C(0x3f803c0001), DATA(L3 | SHARED | MODIFIED)},
		/* LLC_MISS.DRAM, LOCAL_DRAM and so on: other bits in each of these. */
		{__LINE__, "sandybridge", UINT64_C(0x0300400001), DATA(DRAM)},
		{__LINE__, "sandybridge-server", UINT64_C(0x0600400001), DATA(DRAM)},
		{__LINE__, "ivybridge-server", UINT64_C(0x0600400001), DATA(DRAM)},
		{__LINE__, "haswell", UINT64_C(0x0100400001), DATA(DRAM)},
		{__LINE__, "haswell-server", UINT64_C(0x0600400001), DATA(DRAM)},
		{__LINE__, "broadwell", UINT64_C(0x013c000001), DATA(DRAM)},
		{__LINE__, "broadwell", UINT64_C(0x0204000001), 0}, /* SNOOP_MISS */
		{__LINE__, "skylake-server", UINT64_C(0x0604000001), DATA(DRAM)},
		{__LINE__, "icelake", UINT64_C(0x0184000001), DATA(DRAM)},
		{__LINE__, "icelake-server", UINT64_C(0x0104000001), DATA(DRAM)},
		{__LINE__, "icelake-server", UINT64_C(0x073c000001), DATA(DRAM)},
		/* A supplier without an outcome, an outcome without a supplier, no request. */
		{__LINE__, "skylake", UINT64_C(0x00003c0001), 0},
		{__LINE__, "skylake", UINT64_C(0x1000000001), 0},
		{__LINE__, "skylake", UINT64_C(0x10000), 0},
		/* Prefetches, of which there are none. */
		{__LINE__, "skylake", UINT64_C(0x10490), 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, supply_responses());
		WRMSR(&host, RSP_0, rows[i].value & UINT64_C(0x3fffff8fff));
		WRMSR(&host, EVTSEL0, COUNT_USER | RESPONSE_0);
		WRMSR(&host, GLOBAL_CTRL, 1);
		request_all(&host);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, PMC0), rows[i].count);
		host_destroy(&host);
	}
}

/* Checks which values select only what tallies stand for. */
static void knows_what_lacks(void)
{
	static const struct {
		int line;
		uint64_t value;
		bool all;
	} rows[] = {
		{__LINE__, UINT64_C(0x10001), true},
		{__LINE__, UINT64_C(0x10007), true},
		{__LINE__, UINT64_C(0x3ffc020002), true},
		/* Prefetches, with or without a demand read; other requests. */
		{__LINE__, UINT64_C(0x10080), false},
		{__LINE__, UINT64_C(0x10081), false},
		{__LINE__, UINT64_C(0x18001), false},
		/* No request, no response, another socket's memory. */
		{__LINE__, UINT64_C(0x10000), false},
		{__LINE__, UINT64_C(0x00001), false},
		{__LINE__, UINT64_C(0x3fb8000001), false},
	};
	struct spmu_tally_set set;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_ROW_EQ(rows[i].line,
			     spmu_offcore_tallies(spmu_model_find("skylake"), rows[i].value, &set),
			     rows[i].all);
}

/* Checks that each event has its own register, and that a write takes effect at once. */
static void has_two_registers(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, supply_responses());
	WRMSR(&host, RSP_0, 0x10001);
	WRMSR(&host, RSP_1, 0x10004);
	WRMSR(&host, EVTSEL0, COUNT_USER | RESPONSE_0);
	WRMSR(&host, EVTSEL0 + 1, COUNT_USER | RESPONSE_1);
	WRMSR(&host, GLOBAL_CTRL, 3);
	request_all(&host);
	CHECK_EQ(RDMSR(&host, PMC0), DATA(ANSWERS));
	CHECK_EQ(RDMSR(&host, PMC0 + 1), CODE(ANSWERS));
	WRMSR(&host, RSP_0, 0x10002);
	request_all(&host);
	CHECK_EQ(RDMSR(&host, PMC0), DATA(ANSWERS) + OWN(ANSWERS));
	CHECK_EQ(RDMSR(&host, PMC0 + 1), 2 * CODE(ANSWERS));
	host_destroy(&host);
}

int main(void)
{
	RUN(selects_requests());
	RUN(knows_what_lacks());
	RUN(has_two_registers());
	return test_summary();
}
