/* SPDX-License-Identifier: MIT */
/* driver_count.c: which counter a request gets, and totals in 64 bits. */
#include "driver_host.h"

#define WIDTH (UINT64_C(1) << 48)

/* Returns the number of the counter that a request got. Fixed counters begin at 100. */
static unsigned counter_of(const struct host *host, unsigned slot)
{
	return host->driver.counter[slot].index + (host->driver.counter[slot].fixed ? 100 : 0);
}

static unsigned add_for(struct host *host, uint64_t select, uint32_t counters, int fixed)
{
	struct spmu_request request = {.size = sizeof(struct spmu_request),
				       .select = select,
				       .counters = counters,
				       .fixed = (int8_t)fixed};
	unsigned slot = UINT32_MAX;

	if (spmu_driver_add(&host->driver, &request, &slot) != SPMU_OK)
		return 1000;
	return counter_of(host, slot);
}

static void assigns(void)
{
	struct spmu_request precise = {.size = sizeof(struct spmu_request),
				       .select = 0x4c4 | USR,
				       .counters = 0xff,
				       .fixed = 0,
				       .period = 9,
				       .precise = true};
	struct host host;
	unsigned slot;

	host_ready(&host, 1, 4, 1);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, 0), 100);
	/* It is taken. Next comes the lowest of the counters that cannot do PEBS. */
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, 0), 4);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, -1), 5);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0x0e, -1), 3);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0x08, -1), 1000);
	/* A fixed counter cannot do a threshold. */
	CHECK_EQ(add_for(&host, 0x3c | USR | UINT64_C(2) << 24, 0xff, 1), 6);
	CHECK_EQ(add_for(&host, 0x3c | USR, 0xff, 1), 101);
	/* A fixed counter that the unit does not have. */
	CHECK_EQ(add_for(&host, 0x3c | USR, 0xff, 3), 7);
	/* PEBS: the lowest of PMC0 to PMC3, never the fixed one. */
	CHECK_EQ(spmu_driver_add(&host.driver, &precise, &slot), SPMU_OK);
	CHECK_EQ(counter_of(&host, slot), 0);
	CHECK_EQ(spmu_driver_add(&host.driver, &precise, &slot), SPMU_OK);
	CHECK_EQ(counter_of(&host, slot), 1);
	precise.counters = 0xf0;
	CHECK_EQ(spmu_driver_add(&host.driver, &precise, &slot), SPMU_E_COUNTER);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, -1), 2);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, -1), 1000);
	host_free(&host);

	/* With Hyper-Threading there are four counters, all with PEBS. Higher bits name nothing. */
	host_ready(&host, 2, 4, 1);
	for (unsigned n = 0; n < 4; n++)
		CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, -1), 3 - n);
	CHECK_EQ(add_for(&host, 0xc0 | USR, 0xff, -1), 1000);
	host_free(&host);
}

/* Checks that counters of other software (18.2.4.3) are not taken, and keep their enable bits. */
static void respects_others(void)
{
	const uint64_t others = 0x31 | UINT64_C(1) << 32;
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 4, 1);
	host.inuse_set = others;
	CHECK_EQ(spmu_write_msr(host.core, 0, 0x38f, UINT64_C(0x100000021)), SPMU_DONE);
	request = host_watch(&host, 0x00c0, USR, 50, false);
	request.fixed = 0;
	CHECK_EQ(counter_of(&host, host_add(&host, &request)), 6);
	CHECK_EQ(add_for(&host, 0xc4 | USR, 0x31, -1), 1000);
	CHECK_EQ(add_for(&host, 0xc4 | USR, 0xff, -1), 7);
	CHECK_EQ(add_for(&host, 0xc4 | USR, 0xff, -1), 3);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x38f), UINT64_C(0x1000000e9));
	host_run(&host, 1000);
	CHECK(host.driver.interrupts > 5);
	CHECK_EQ(host_msr(&host, 0x38f), UINT64_C(0x1000000e9));
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x38f), UINT64_C(0x100000021));
	host_check_samples(&host, 0, false, 50);
	host_free(&host);
}

/* Checks that counters that are given back are free. */
static void releases(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x04c4, USR, 5, true);
	host_add(&host, &request);
	request.fixed = 1;
	request.precise = false;
	request.select = 0x3c | USR;
	host_add(&host, &request);
	CHECK(host_msr(&host, 0x392) != 0);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x392), 0);
	CHECK_EQ(host_msr(&host, 0x38f), 0);
	CHECK_EQ(host_msr(&host, 0x3f1), 0);
	request = host_watch(&host, 0x04c4, USR, 5, true);
	CHECK_EQ(counter_of(&host, host_add(&host, &request)), 0);
	host_free(&host);
}

static void programs(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x04c4, USR, 100, true);
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x186), 0x4104c4); /* EN, no INT */
	CHECK_EQ(host_msr(&host, 0xc1), WIDTH - 100);
	request = host_watch(&host, 0x00c4, USR | OS, 100, false);
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x18a), 0x5300c4); /* EN and INT */
	request.fixed = 0;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x38d), 0xb);
	request.fixed = 2;
	request.select = 0x13c | USR;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x38d), 0xa0b);
	/* Programmed, but not enabled: no count changes. */
	CHECK_EQ(host_msr(&host, 0x38f), 0);
	host_run(&host, 100);
	CHECK_EQ(host_msr(&host, 0xc5), WIDTH - 100);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x38f), UINT64_C(0x500000011));
	CHECK_EQ(host_msr(&host, 0x3f1), 1);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x38f), 0);
	CHECK_EQ(host_msr(&host, 0x3f1), 0);
	host_free(&host);
}

static void refuses_requests(void)
{
	struct spmu_request good, request;
	struct host host;
	unsigned slot = 77;

	host_ready(&host, 1, 4, 1);
	good = request = host_watch(&host, 0x00c4, USR, 0, false);
	request.select |= UINT64_C(1) << 22;
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_ARGUMENT);
	request.select = good.select | UINT64_C(1) << 20;
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_ARGUMENT);
	request = good;
	request.precise = true;
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_ARGUMENT);
	request = good;
	request.period = WIDTH;
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_ARGUMENT);
	/* A reserved bit: the WRMSR faults, the counter stays free. */
	request = good;
	request.select |= UINT64_C(1) << 63;
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_UNAVAILABLE);
	CHECK_EQ(slot, 77);
	CHECK_EQ(spmu_driver_read(&host.driver, 0), 0);
	CHECK_EQ(spmu_driver_read(&host.driver, 1000), 0);
	CHECK_EQ(host_add(&host, &good), 0);
	CHECK_EQ(counter_of(&host, 0), 4);
	CHECK_EQ(spmu_driver_set_period(&host.driver, 0, 10), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_set_period(&host.driver, 1, 10), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_set_period(&host.driver, 1000, 10), SPMU_E_ARGUMENT);
	host_free(&host);
}

/* Checks start values: at least -2^31 without full-width writes; any value on a fixed counter. */
static void knows_legacy_writes(void)
{
	const uint64_t longest = UINT64_C(1) << 31;
	struct spmu_request request;
	struct host host;
	unsigned slot;

	host_make(&host, 1);
	host.capabilities_clear = 1u << 13;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	request = host_watch(&host, 0x00c4, USR, longest + 1, false);
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_ARGUMENT);
	request.period = longest;
	slot = host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0xc1 + host.driver.counter[slot].index), WIDTH - longest);
	CHECK_EQ(spmu_driver_set_period(&host.driver, slot, longest + 1), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_set_period(&host.driver, slot, longest), SPMU_OK);
	request.fixed = 1;
	request.period = longest + 1;
	slot = host_add(&host, &request);
	CHECK_EQ(counter_of(&host, slot), 101);
	CHECK_EQ(host_msr(&host, 0x30a), WIDTH - longest - 1);
	host_free(&host);
}

static void check_totals(struct host *host)
{
	for (unsigned i = 0; i < host->watches; i++)
		CHECK_EQ(spmu_driver_read(&host->driver, host->slot[i]), host->watch[i].count);
}

/* Checks all requests at once, read at odd moments and stopped in between. */
static void counts(void)
{
	static const uint16_t codes[] = {0x00c4, 0x20c4, 0x02c4, 0x81d0, 0x82d0};
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x00c0, USR, 0, false);
	request.fixed = 0;
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, OS, 0, false);
	host_add(&host, &request);
	for (unsigned i = 0; i < 5; i++) {
		request = host_watch(&host, codes[i], i & 1 ? USR : USR | OS, 0, false);
		host_add(&host, &request);
	}
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	for (unsigned i = 0; i < 50; i++) {
		host_run(&host, 1 + host_random(&host) % 100);
		check_totals(&host);
	}
	CHECK(host.watch[1].count > 0);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	check_totals(&host);
	/* What retires while it is stopped does not count. */
	for (unsigned n = 0; n < 100; n++) {
		struct spmu_insn insn = host_next(&host);

		spmu_retire(host.core, 0, &insn);
	}
	check_totals(&host);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 1000);
	check_totals(&host);
	CHECK_EQ(host.takens, 0);
	host_free(&host);
}

/*
 * Checks the end of a counter that only counts. It wraps after 2^48 occurrences, too many for a
 * test, so the test moves it to just before its end.
 */
static void check_wraps(int fixed, bool hold)
{
	const uint64_t near = WIDTH - 50;
	struct spmu_request request;
	struct host host;
	uint64_t wraps = 0;
	unsigned slot;
	uint32_t msr;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x00c0, USR | OS, 0, false);
	request.fixed = (int8_t)fixed;
	slot = host_add(&host, &request);
	msr = host.driver.counter[slot].index + (fixed == 0 ? 0x309 : 0x4c1);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	for (unsigned round = 0; round < 5; round++) {
		uint64_t present = host_msr(&host, msr);

		CHECK_EQ(spmu_write_msr(host.core, 0, msr, near), SPMU_DONE);
		wraps += near - present;
		for (unsigned n = 0; n < 100; n++) {
			host.hold_pmi = hold && n != 70;
			host_deliver(&host);
			host_run(&host, 1);
			CHECK_EQ(spmu_driver_read(&host.driver, slot), host.watch[0].count + wraps);
		}
	}
	CHECK_EQ(host.driver.interrupts, 5);
	CHECK(spmu_driver_read(&host.driver, slot) > 4 * WIDTH);
	CHECK_EQ(host.takens, 0);
	host_free(&host);
}

/* Checks counting in bulk, as a host does while there is headroom. */
static void counts_in_bulk(void)
{
	struct spmu_request request;
	struct host host;
	uint64_t bulk = 0;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x00c0, USR, 0, false);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 1000, false);
	host_add(&host, &request);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	for (unsigned n = 0; n < 20000; n++) {
		const int64_t block = 7;
		bool room = true;

		for (unsigned m = 0; m < host.meters.count; m++)
			room &= host.meters.meter[m].headroom >= block;
		for (unsigned m = 0; room && m < host.meters.count; m++) {
			if (host.meters.meter[m].rings & SPMU_RING_USER)
				host.meters.meter[m].headroom -= block;
		}
		for (unsigned i = 0; i < block; i++) {
			struct spmu_insn insn = host_next(&host);

			insn.signals = SPMU_SIGBIT(INSTRUCTIONS);
			insn.cpl = 3;
			host_list(&host, &insn);
			if (!room)
				spmu_retire(host.core, 0, &insn);
			host_deliver(&host);
		}
		bulk += room;
		if (n % 97 == 0)
			check_totals(&host);
	}
	check_totals(&host);
	CHECK(bulk > 10000);
	host_check_samples(&host, 1, false, 1000);
	host_free(&host);
}

int main(void)
{
	RUN(assigns());
	RUN(respects_others());
	RUN(releases());
	RUN(programs());
	RUN(refuses_requests());
	RUN(knows_legacy_writes());
	RUN(counts());
	for (int fixed = -1; fixed <= 0; fixed++) {
		RUN(check_wraps(fixed, false));
		RUN(check_wraps(fixed, true));
	}
	RUN(counts_in_bulk());
	return test_summary();
}
