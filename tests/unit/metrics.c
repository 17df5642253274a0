/* SPDX-License-Identifier: MIT */
/*
 * metrics.c: MSR_PERF_METRICS (10th generation Core, performance metrics; 12th generation Core,
 * level 2). Linux's driver is the second source: it starts with both registers 0, and takes each
 * byte for 255ths of fixed counter 3.
 */
#include "tests/unit/unit_host.h"

#define METRICS		 0x329u
#define EN_METRICS	 (UINT64_C(1) << 48)
#define EN_SLOTS	 (UINT64_C(1) << 35)
#define RDPMC_OF_METRICS (1u << 29)

static const uint16_t kinds[] = {
	SPMU_TALLY_SLOTS,	   SPMU_TALLY_SLOTS_RETIRED, SPMU_TALLY_SLOTS_BAD_SPECULATION,
	SPMU_TALLY_SLOTS_FRONTEND, SPMU_TALLY_SLOTS_BACKEND, SPMU_TALLY_SLOTS_FETCH_LATENCY,
	SPMU_TALLY_SLOTS_MEMORY,
};

/* A host that supplies slots, except for the kinds of the set `without`. */
static void start(struct unit_host *host, const char *model, unsigned threads, unsigned without)
{
	struct spmu_supply supply = SUPPLY_EXECUTION;

	for (unsigned i = 0; i < COUNT(kinds); i++)
		if (!(without >> i & 1))
			spmu_tally_set_add(&supply.modelled_tallies, kinds[i]);
	host_create(host, model, threads, supply);
	WRMSR(host, FIXED_CTRL, 0x3000);
	WRMSR(host, GLOBAL_CTRL, EN_METRICS | EN_SLOTS);
}

/* Reports slots: of all, then of the other kinds in their order. */
static void report(struct unit_host *host, unsigned cpl, const unsigned slots[COUNT(kinds)])
{
	struct spmu_tally tallies[COUNT(kinds)];

	for (unsigned i = 0; i < COUNT(kinds); i++)
		tallies[i] = (struct spmu_tally){.kind = kinds[i], .count = slots[i]};
	spmu_tallies(host->core, 0, tallies, COUNT(kinds), cpl);
}

/* Checks the shares of levels 1 and 2, by RDMSR and by RDPMC. */
static void shares(void)
{
	static const unsigned slots[] = {1000, 500, 100, 150, 250, 50, 200};
	static const struct {
		int line;
		const char *model;
		uint64_t want;
	} rows[] = {
		{__LINE__, "icelake", 0x4026 << 16 | 0x1a80},
		{__LINE__, "tigerlake", 0x4026 << 16 | 0x1a80},
		/* memory, fetch latency, mispredictions, and no heavy operations */
		{__LINE__, "sapphirerapids", UINT64_C(0x330d1a0040261a80)},
		{__LINE__, "graniterapids", UINT64_C(0x330d1a0040261a80)},
		{__LINE__, "lunarlake", UINT64_C(0x330d1a0040261a80)},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		uint64_t value;

		start(&host, rows[i].model, 1, 0);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, CAPABILITIES) >> 15 & 1, 1);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, METRICS), 0);
		report(&host, 3, slots);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, FIXED0 + 3), 1000);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, METRICS), rows[i].want);
		CHECK_ROW_EQ(rows[i].line,
			     spmu_rdpmc(host.core, 0, RDPMC_OF_METRICS, 3, true, true, &value),
			     SPMU_DONE);
		CHECK_ROW_EQ(rows[i].line, value, rows[i].want);
		CHECK_ROW_EQ(rows[i].line,
			     spmu_rdpmc(host.core, 0, RDPMC_OF_METRICS | 1, 3, true, true, &value),
			     SPMU_GP);
		host_destroy(&host);
	}
}

/* Checks what must be on: the enable bit, fixed counter 3, and its privilege levels. */
static void enabling(void)
{
	static const unsigned slots[] = {510, 510, 0, 0, 0, 0, 0};
	static const struct {
		int line;
		uint64_t global, control;
		unsigned cpl;
		uint64_t want;
	} rows[] = {
		{__LINE__, EN_METRICS | EN_SLOTS, 0x3000, 3, 255},
		{__LINE__, EN_METRICS | EN_SLOTS, 0x3000, 0, 255},
		{__LINE__, EN_METRICS | EN_SLOTS, 0x2000, 3, 255},
		{__LINE__, EN_METRICS | EN_SLOTS, 0x2000, 0, 0},
		{__LINE__, EN_METRICS | EN_SLOTS, 0x1000, 3, 0},
		{__LINE__, EN_SLOTS, 0x3000, 3, 0},
		{__LINE__, EN_METRICS, 0x3000, 3, 0},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		start(&host, "icelake", 1, 0);
		WRMSR(&host, FIXED0 + 3, 0);
		WRMSR(&host, FIXED_CTRL, rows[i].control);
		WRMSR(&host, GLOBAL_CTRL, rows[i].global);
		report(&host, rows[i].cpl, slots);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, METRICS), rows[i].want);
		host_destroy(&host);
	}
}

/* Checks a write: it sets shares of fixed counter 3, and both continue from there. */
static void writing(void)
{
	static const unsigned more[] = {255, 255, 0, 0, 0, 0, 0};
	struct unit_host host;

	start(&host, "icelake", 1, 0);
	WRMSR(&host, FIXED0 + 3, 255);
	WRMSR(&host, METRICS, 0x10203040);
	CHECK_EQ(RDMSR(&host, METRICS), 0x10203040);
	report(&host, 3, more);
	CHECK_EQ(RDMSR(&host, METRICS), 0x081018a0);
	WRMSR(&host, FIXED0 + 3, 0);
	CHECK_EQ(RDMSR(&host, METRICS), 0);
	WRMSR(&host, METRICS, 0);
	CHECK_EQ(spmu_write_msr(host.core, 0, METRICS, UINT64_C(1) << 32), SPMU_GP);
	/* The counter below the slots counted: a share is at most 255. */
	report(&host, 3, more);
	WRMSR(&host, FIXED0 + 3, 1);
	CHECK_EQ(RDMSR(&host, METRICS), 0xff);
	host_destroy(&host);
}

/* Checks hosts that lack a kind: the register is there, is not reported, and stays 0. */
static void without_supply(void)
{
	static const unsigned slots[] = {1000, 500, 100, 150, 250, 50, 200};

	for (unsigned missing = 0; missing < 5; missing++) {
		struct unit_host host;

		start(&host, "icelake", 1, 1u << missing);
		CHECK_EQ(RDMSR(&host, CAPABILITIES) >> 15 & 1, 0);
		report(&host, 3, slots);
		CHECK_EQ(RDMSR(&host, METRICS), 0);
		host_destroy(&host);
	}
}

/* Checks that a saved state keeps the shares. */
static void saved(void)
{
	static const unsigned slots[] = {1000, 500, 100, 150, 250, 50, 200};
	struct unit_host host, other;
	uint64_t before;
	size_t bytes;
	void *state;

	start(&host, "sapphirerapids", 1, 0);
	start(&other, "sapphirerapids", 1, 0);
	report(&host, 3, slots);
	before = RDMSR(&host, METRICS);
	bytes = spmu_state_bytes(host.core);
	state = malloc(bytes);
	CHECK_EQ(spmu_save(host.core, state, bytes), SPMU_OK);
	CHECK_EQ(spmu_load(other.core, state, bytes), SPMU_OK);
	CHECK_EQ(RDMSR(&other, METRICS), before);
	report(&host, 3, slots);
	report(&other, 3, slots);
	CHECK_EQ(RDMSR(&other, METRICS), RDMSR(&host, METRICS));
	free(state);
	host_destroy(&host);
	host_destroy(&other);
}

int main(void)
{
	RUN(shares());
	RUN(enabling());
	RUN(writing());
	RUN(without_supply());
	RUN(saved());
	return test_summary();
}
