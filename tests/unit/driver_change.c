/* SPDX-License-Identifier: MIT */
/*
 * driver_change.c: requests that are added, switched and removed between runs of the driver, on
 * every model (spmu_driver_set_enabled(), spmu_driver_remove()). A request that is switched off
 * counts nothing, keeps its counter and later continues where it was. A counter that is given back
 * serves the next request.
 */
#include "driver_host.h"

#define ROUNDS 60

static bool ready(struct host *host, const struct spmu_model *model)
{
	host_make_model(host, model, 1);
	if (!CHECK_EQ(host_detect(host), SPMU_OK))
		return false;
	return !host->driver.facilities.pebs ||
	       CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA,
				      host_area_bytes(host, 32), 0),
			SPMU_OK);
}

/* Switches a request, and the host's own list of its occurrences with it. */
static void set_enabled(struct host *host, unsigned tag, bool on)
{
	CHECK_EQ(spmu_driver_set_enabled(&host->driver, host->slot[tag], on), SPMU_OK);
	host->watch[tag].select = on ? USR : 0;
}

static void run(struct host *host, uint64_t n)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
	host_run(host, n);
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	spmu_driver_drain(&host->driver);
	host_check_totals(host);
}

static void add(struct host *host, uint64_t code, uint64_t period, bool precise)
{
	struct spmu_request request = host_watch(host, code, USR, period, precise);

	host_add(host, &request);
}

/* Checks both requests on, one of them, and none, in every order. */
static void switches(const struct spmu_model *model, uint64_t period)
{
	struct host host;

	if (!ready(&host, model))
		return;
	if (host.driver.facilities.no_interrupt)
		period = 0;
	add(&host, host_instructions(&host), period, false);
	add(&host, host_branches(&host), 0, false);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t on = host_random(&host);

		set_enabled(&host, 0, on & 1);
		set_enabled(&host, 1, on & 2);
		run(&host, 1 + (on >> 8) % 40);
	}
	CHECK(host.watch[0].count > 100 && host.watch[1].count > 50);
	CHECK(host.watch[0].count < host.retired && host.watch[1].count < host.retired / 2);
	if (period)
		host_check_samples(&host, 0, false, period);
	host_free(&host);
}

/* Checks that an armed counter waits for its record until it is switched on again. */
static void switches_precise(const struct spmu_model *model, const struct spmu_event *event)
{
	struct host host;

	if (!ready(&host, model))
		return;
	add(&host, event->code, 5, true);
	for (unsigned round = 0; round < ROUNDS; round++) {
		set_enabled(&host, 0, round & 1);
		run(&host, 1 + host_random(&host) % 40);
	}
	CHECK(host.watch[0].count > 20 && host.watch[0].count < host.retired / 2);
	host_check_samples(&host, 0, true, 5);
	host_free(&host);
}

/* Checks each event of loads or branches that PEBS can sample. (NetBurst's: driver_legacy.c.) */
static void each_precise_event(const struct spmu_model *model)
{
	const uint64_t frequent = SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(COND_TAKEN);

	if (spmu_model_describe(model).programming != SPMU_PROGRAM_PERFEVTSEL ||
	    spmu_model_describe(model).pebs_format < 0)
		return;
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		if (event->pebs_counters && event->fidelity == SPMU_EXACT && host_can_list(event) &&
		    event->signals & frequent)
			switches_precise(model, event);
	}
}

/* Checks, with all counters taken, that each one that is given back can be taken again. */
static void removes(const struct spmu_model *model)
{
	struct host host;
	unsigned slot[SPMU_DRIVER_COUNTERS], count = 0;
	struct spmu_request request, other;
	uint64_t before;

	if (!ready(&host, model))
		return;
	other = host_watch(&host, host_branches(&host), USR, 0, false);
	host_add(&host, &other);
	request = host_watch(&host, host_instructions(&host), USR, 0, false);
	while (count < SPMU_DRIVER_COUNTERS &&
	       spmu_driver_add(&host.driver, &request, &slot[count]) == SPMU_OK)
		host.slot[1] = slot[count++];
	CHECK(count > 0);
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot[0]), SPMU_E_COUNTER);
	run(&host, 100);
	for (unsigned i = 0; i < 2 * count; i++) {
		CHECK_EQ(spmu_driver_remove(&host.driver, host.slot[1]), SPMU_OK);
		CHECK_EQ(spmu_driver_remove(&host.driver, host.slot[1]), SPMU_E_ARGUMENT);
		CHECK_EQ(spmu_driver_set_enabled(&host.driver, host.slot[1], true),
			 SPMU_E_ARGUMENT);
		before = host.watch[1].count;
		host.watch[1].count = 0;
		host_add(&host, &request);
		run(&host, 50);
		CHECK(host.watch[1].count > 20 && before > 20);
	}
	host_free(&host);
}

static void refuses_while_running(void)
{
	struct host host;

	host_ready(&host, 1, 8, 1);
	add(&host, 0x00c0, 0, false);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_remove(&host.driver, host.slot[0]), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_set_enabled(&host.driver, host.slot[0], false), SPMU_E_ARGUMENT);
	host_run(&host, 100);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	host_check_totals(&host);
	CHECK_EQ(spmu_driver_remove(&host.driver, SPMU_DRIVER_COUNTERS), SPMU_E_ARGUMENT);
	host_free(&host);
}

/* Checks that a removed request's records are handed out from the buffer, and none after that. */
static void hands_out_before(void)
{
	struct host host;
	uint64_t takens;

	host_ready(&host, 1, 32, 0);
	add(&host, 0x00c0, 9, true);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 145);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	takens = host.takens;
	CHECK_EQ(spmu_driver_remove(&host.driver, host.slot[0]), SPMU_OK);
	CHECK(host.takens > takens);
	CHECK_EQ(host.takens, host.watch[0].count / 10);
	takens = host.takens;
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 145);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	spmu_driver_drain(&host.driver);
	CHECK_EQ(host.takens, takens);
	host_free(&host);
}

static void check_model(const struct spmu_model *model)
{
	switches(model, 0);
	switches(model, 7);
	removes(model);
	each_precise_event(model);
}

int main(void)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		unsigned before = check_failed;

		RUN(check_model(spmu_model_at(i)));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(spmu_model_at(i)).name,
			       check_failed - before);
	}
	RUN(refuses_while_running());
	RUN(hands_out_before());
	return test_summary();
}
