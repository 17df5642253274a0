/* SPDX-License-Identifier: MIT */
/*
 * driver_pdir.c: the driver and precise distribution (Vol. 3B 18.9.4.4). It samples each
 * period-th occurrence and has totals at the same time. On Sandy Bridge it must stop the general
 * counters.
 */
#include "driver_check.h"

#define PREC_DIST 0x01c0u

static void ready(struct host *host, const char *model, unsigned records, unsigned threshold)
{
	host_make_model(host, spmu_model_find(model), 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, host_area_bytes(host, records),
			       threshold),
		 SPMU_OK);
}

static void run(struct host *host, unsigned pieces)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
	for (unsigned n = 0; n < pieces; n++) {
		host_run(host, 1 + host_random(host) % 80);
		host_check_totals(host);
	}
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	spmu_driver_drain(&host->driver);
	host_check_totals(host);
}

/*
 * Checks that each sample of watch 0 comes a period after the one before, or more with collisions.
 */
static void check_ends(struct host *host, uint64_t period)
{
	const struct watch *w = &host->watch[0];
	uint64_t end = 0;

	for (uint64_t i = 0; i < host->takens; i++) {
		if (host->taken[i].tag != 0)
			continue;
		end += period;
		while (end <= w->count && w->ip[end - 1] + 4 != host->taken[i].rip)
			end++;
		CHECK(end <= w->count);
	}
}

/*
 * Checks instructions next to branches, and where each is sampled. Before format 3 records can
 * collide.
 */
static void beside_branches(const char *model, uint64_t period)
{
	struct host host;
	struct spmu_request request;

	ready(&host, model, 20, 3);
	request = host_watch(&host, PREC_DIST, USR, period, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x04c4, USR, 7, true);
	host_add(&host, &request);
	CHECK_EQ(host.driver.counter[host.slot[0]].index, 1);
	CHECK_EQ(host_distance(&host, 0, true, period), period);
	CHECK_EQ(host_distance(&host, 1, true, 7), 8);
	run(&host, 60);
	if (host.driver.facilities.pebs_format >= 3) {
		host_check_samples(&host, 0, true, period);
		host_check_samples(&host, 1, true, 7);
	} else {
		CHECK_EQ(host.driver.records, host.takens + host.driver.collisions);
		CHECK(host.takens > 10);
	}
	check_ends(&host, period);
	host_free(&host);
}

/* Checks that fixed counter 0 of the 10th generation has it and that general counters have not. */
static void beside_fixed(uint64_t period)
{
	struct host host;
	struct spmu_request request;

	ready(&host, "icelake", 20, 3);
	request = host_watch(&host, 0x00c0, USR, period, true);
	request.fixed = 0;
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, period, true);
	request.fixed = -1;
	host_add(&host, &request);
	CHECK_EQ(host_distance(&host, 0, true, period), period);
	CHECK_EQ(host_distance(&host, 1, true, period), period + 1);
	run(&host, 60);
	host_check_samples(&host, 0, true, period);
	host_check_samples(&host, 1, true, period);
	host_free(&host);
}

/* Runs until `count` occurrences of watch 0 have been counted. */
static void run_to(struct host *host, uint64_t count)
{
	while (host->watch[0].count < count)
		host_run(host, 1);
}

/*
 * Checks a full buffer: records are lost, the total is exact, and later periods start at their
 * place.
 */
static void full_buffer(const char *model)
{
	struct host host;
	struct spmu_request request;

	ready(&host, model, 4, 1);
	request = host_watch(&host, PREC_DIST, USR, 10, true);
	host_add(&host, &request);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	for (unsigned round = 0; round < 30; round++) {
		uint64_t takens = host.takens, count = host.watch[0].count;

		/* The fifth record, of the 50th occurrence, is the first that does not fit. */
		host.hold_pmi = true;
		run_to(&host, count + 45 + round);
		host_check_totals(&host);
		host.hold_pmi = false;
		host_deliver(&host);
		CHECK_EQ(host.takens, takens + 4);
		host_check_totals(&host);
		takens = host.takens;
		count = round < 5 ? count + 40 : host.watch[0].count;
		for (unsigned k = 1; k <= 3; k++) {
			run_to(&host, count + 10 * k - 1);
			CHECK_EQ(host.takens, takens + k - 1);
			run_to(&host, count + 10 * k);
			CHECK_EQ(host.takens, takens + k);
			host_check_sample(&host, &host.taken[takens + k - 1],
					  host.watch[0].ip[count + 10 * k - 1]);
		}
		host_check_totals(&host);
	}
	host_free(&host);
}

/* Checks "quiesce the rest of the programmable counters" (06_2AH and 06_2DH). */
static void alone(const char *model, bool expected)
{
	struct spmu_request instructions, branches, fixed;
	struct host host;
	unsigned first, second, third;

	ready(&host, model, 20, 3);
	CHECK_EQ(host.driver.facilities.pdir_alone, expected);
	instructions = host_watch(&host, PREC_DIST, USR, 5, true);
	branches = host_watch(&host, 0x04c4, USR, 7, false);
	fixed = host_watch(&host, 0x00c0, USR, 0, false);
	fixed.fixed = 0;
	CHECK_EQ(spmu_driver_add(&host.driver, &instructions, &first), SPMU_OK);
	CHECK_EQ(spmu_driver_add(&host.driver, &branches, &second),
		 expected ? SPMU_E_COUNTER : SPMU_OK);
	CHECK_EQ(spmu_driver_add(&host.driver, &fixed, &third), SPMU_OK);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_add(&host.driver, &branches, &first), SPMU_OK);
	CHECK_EQ(spmu_driver_add(&host.driver, &instructions, &second),
		 expected ? SPMU_E_COUNTER : SPMU_OK);
	/* The same count without PEBS disturbs no other counter. */
	instructions.precise = false;
	instructions.period = 0;
	if (expected)
		CHECK_EQ(spmu_driver_add(&host.driver, &instructions, &second), SPMU_OK);
	host_free(&host);
}

int main(void)
{
	static const char *const models[] = {"ivybridge", "haswell", "broadwell", "skylake"};
	static const uint64_t periods[] = {1, 2, 3, 10, 97};

	for (unsigned p = 0; p < 5; p++) {
		for (unsigned m = 0; m < 4; m++)
			RUN(beside_branches(models[m], periods[p]));
		RUN(beside_fixed(periods[p]));
	}
	for (unsigned m = 0; m < 4; m++)
		RUN(full_buffer(models[m]));
	RUN(full_buffer("sandybridge"));
	RUN(alone("sandybridge", true));
	RUN(alone("sandybridge-server", true));
	RUN(alone("ivybridge", false));
	RUN(alone("skylake", false));
	return test_summary();
}
