/* SPDX-License-Identifier: MIT */
/*
 * driver_status.c: the indications that the driver clears when it stops counting and when it
 * changes what counts (Vol. 3B 18.2.2, 18.4.2, 17.4.9.1). Bit 62 and CondChgd are among them.
 */
#include "driver_check.h"

#define STATUS	   0x38e
#define STATUS_SET 0x391
#define OVFBUF	   (UINT64_C(1) << 62)
#define CHANGED	   (UINT64_C(1) << 63)

static bool has_status(const struct spmu_model *model)
{
	return spmu_model_describe(model).perfmon_version >= 2;
}

static bool has_pebs(const struct spmu_model *model)
{
	return has_status(model) && spmu_model_describe(model).pebs_format >= 0;
}

static void add(struct host *host, uint64_t code, uint64_t period, bool precise)
{
	struct spmu_request request = host_watch(host, code, USR | OS, period, precise);

	host_add(host, &request);
}

/* Runs until the first event has occurred `count` times. No interrupt comes meanwhile. */
static void run_held(struct host *host, uint64_t count)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
	host->hold_pmi = true;
	while (host->watch[0].count < count)
		host_run(host, 1);
}

/* Checks a stop after a sampling and a counting counter have overflowed. */
static void stop_serves(const struct spmu_model *model)
{
	struct host host;

	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c0, 500, false);
	run_held(&host, 510);
	CHECK_EQ(host_msr(&host, STATUS) & ~CHANGED, host.driver.enabled);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, STATUS), 0);
	host_check_totals(&host);
	if (CHECK_EQ(host.takens, 1))
		CHECK_EQ(host.taken[0].rip, host.watch[0].ip[509] + 4);
	/* The interrupt that was held back finds nothing. The period continues. */
	host.hold_pmi = false;
	host_deliver(&host);
	CHECK_EQ(host.takens, 1);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 1000);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	host_check_totals(&host);
	if (CHECK_EQ(host.takens, 3)) {
		CHECK_EQ(host.taken[1].rip, host.watch[0].ip[999] + 4);
		CHECK_EQ(host.taken[2].rip, host.watch[0].ip[1499] + 4);
	}
	host_free(&host);
}

static void ready(struct host *host, const struct spmu_model *model)
{
	static const uint32_t precise[] = {0x00c0, 0x01c0, 0x04c4, 0x00c4, 0x81d0};
	const struct spmu_event *event = NULL;

	host_make_model(host, model, 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, host_area_bytes(host, 20), 1),
		 SPMU_OK);
	for (unsigned i = 0; i < sizeof(precise) / sizeof(precise[0]); i++) {
		event = spmu_event_by_code(model, precise[i]);
		if (event && (event->pebs_counters & 1) && host_can_list(event))
			break;
	}
	if (CHECK(event))
		add(host, event->code, 10, true);
}

/* Checks a stop after the buffer has reached its threshold. */
static void stop_clears_buffer(const struct spmu_model *model)
{
	struct host host;

	ready(&host, model);
	run_held(&host, 13);
	CHECK_EQ(host_msr(&host, STATUS), OVFBUF | CHANGED);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, STATUS), 0);
	host_free(&host);
}

/* Checks that a counter that waits for its record keeps its indication until it is given back. */
static void armed_waits(const struct spmu_model *model)
{
	uint64_t armed;
	struct host host;

	ready(&host, model);
	run_held(&host, 10);
	armed = spmu_model_pdir(model, host.driver.counter[0].index,
				host.driver.counter[0].request.select)
			? 0
			: host.driver.pebs_bits;
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, STATUS), armed);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	while (host.watch[0].count < 11)
		host_run(&host, 1);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	spmu_driver_drain(&host.driver);
	CHECK_EQ(host.takens, 1);
	host_free(&host);
}

static void release_clears(const struct spmu_model *model)
{
	for (uint64_t count = 10; count <= 13; count += 3) {
		struct host host;

		ready(&host, model);
		run_held(&host, count);
		CHECK(host_msr(&host, STATUS) != 0);
		CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
		CHECK_EQ(host_msr(&host, STATUS), 0);
		CHECK_EQ(host.takens, 0);
		host_free(&host);
	}
}

/* Checks that a driver can begin where another one ended without a stop. */
static void add_clears(const struct spmu_model *model)
{
	struct host host;

	ready(&host, model);
	run_held(&host, 13);
	CHECK_EQ(host_msr(&host, STATUS), OVFBUF | CHANGED);
	host.watches = 0;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c0, 0, false);
	CHECK_EQ(host_msr(&host, STATUS), 0);
	host_free(&host);
}

/* Checks that a start clears what software has set while the counters were stopped. */
static void start_clears(const struct spmu_model *model)
{
	struct host host;
	uint64_t bit;

	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c4, 0, false);
	bit = UINT64_C(1) << host.driver.counter[0].index;
	CHECK_EQ(spmu_write_msr(host.core, 0, STATUS_SET, OVFBUF | CHANGED | bit), SPMU_DONE);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, STATUS), 0);
	host_run(&host, 100);
	host_check_totals(&host);
	host_free(&host);
}

int main(void)
{
	unsigned models = 0;

	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);

		if (!has_status(model))
			continue;
		models++;
		RUN(stop_serves(model));
		if (spmu_model_describe(model).perfmon_version >= 4)
			RUN(start_clears(model));
		if (!has_pebs(model))
			continue;
		RUN(stop_clears_buffer(model));
		RUN(armed_waits(model));
		RUN(release_clears(model));
		RUN(add_clears(model));
	}
	CHECK(models > 20);
	return test_summary();
}
