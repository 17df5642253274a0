/* SPDX-License-Identifier: MIT */
/*
 * driver_fault.c: MSR accesses that fault, one after the other through the whole setup. The call
 * that meets the fault reports it, and nothing is left counting.
 */
#include "driver_host.h"

/* Does the whole setup. Returns the status of the first call that fails. */
static enum spmu_status set_up(struct host *host, struct spmu_request *request, unsigned requests)
{
	enum spmu_status status = host_detect(host);
	unsigned slot;

	if (status == SPMU_OK)
		status = host_setup_ds(&host->driver, host->area, HOST_AREA, HOST_AREA_BYTES, 1);
	for (unsigned i = 0; status == SPMU_OK && i < requests; i++)
		status = spmu_driver_add(&host->driver, &request[i], &slot);
	if (status == SPMU_OK)
		status = spmu_driver_start(&host->driver);
	return status;
}

/* Checks that no counter moves and that there is no record and no interrupt. */
static void check_still(struct host *host)
{
	uint64_t before[11];

	for (unsigned n = 0; n < 11; n++)
		before[n] = host_msr(host, n < 8 ? 0xc1 + n : 0x309 + n - 8);
	host->fault_at = -1;
	host_run(host, 500);
	for (unsigned n = 0; n < 11; n++)
		CHECK_EQ(host_msr(host, n < 8 ? 0xc1 + n : 0x309 + n - 8), before[n]);
	CHECK_EQ(host->pmis, 0);
	CHECK_EQ(host->driver.interrupts, 0);
	CHECK_EQ(host->takens, 0);
	CHECK(!host->driver.running);
}

/* Lets the n-th access of the setup fault. Returns false if there were fewer accesses. */
static bool faults_at(long n, bool on)
{
	struct spmu_request request[4];
	struct host host;
	enum spmu_status status;

	host_make(&host, 1);
	request[0] = host_watch(&host, 0x04c4, USR, 10, true);
	request[1] = host_watch(&host, 0x00c0, USR, 20, false);
	request[1].fixed = 0;
	request[2] = host_watch(&host, 0x00c0, USR, 30, false);
	request[3] = host_watch(&host, 0x00c4, USR, 0, false);
	host.fault_at = n;
	host.fault_on = on;
	status = set_up(&host, request, 4);
	if (host.accesses <= n) {
		CHECK_EQ(status, SPMU_OK);
		host_free(&host);
		return false;
	}
	CHECK_EQ(status, SPMU_E_UNAVAILABLE);
	/* After a single fault the driver can still switch the rest off. */
	if (!on)
		CHECK_EQ(host_msr(&host, 0x3f1), 0);
	/* IA32_PERF_GLOBAL_CTRL may be as after reset, but no event is on. */
	check_still(&host);
	host_free(&host);
	return true;
}

/*
 * Checks that the same driver can be set up after a fault, once the port works again, and is exact.
 * Returns false if there were fewer accesses.
 */
static bool recovers(long n)
{
	enum spmu_status status;
	struct spmu_request request[2];
	struct host host;
	unsigned slot;

	host_make(&host, 1);
	request[0] = host_watch(&host, 0x04c4, USR, 10, true);
	request[1] = host_watch(&host, 0x00c0, USR, 20, false);
	request[1].fixed = 0;
	host.fault_at = n;
	status = set_up(&host, request, 2);
	if (host.accesses <= n) {
		CHECK_EQ(status, SPMU_OK);
		host_free(&host);
		return false;
	}
	CHECK_EQ(status, SPMU_E_UNAVAILABLE);
	host.fault_at = -1;
	CHECK_EQ(set_up(&host, request, 2), SPMU_OK);
	host_run(&host, 1000);
	for (slot = 0; slot < 2; slot++)
		CHECK_EQ(spmu_driver_read(&host.driver, slot), host.watch[slot].count);
	host_check_samples(&host, 0, true, 10);
	host_check_samples(&host, 1, false, 20);
	host_free(&host);
	return true;
}

/* Checks that stopping tries both registers, whichever of them faults. */
static void stops_despite(uint32_t msr, uint32_t other)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 8, 1);
	request = host_watch(&host, 0x04c4, USR, 1000, true);
	host_add(&host, &request);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 10);
	host.fault_msr = msr;
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_E_UNAVAILABLE);
	CHECK_EQ(host_msr(&host, other), 0);
	CHECK(!host.driver.running);
	host_free(&host);
}

/* Checks that a service routine ends although every access faults, and that reading ends, too. */
static void serves_despite(void)
{
	struct spmu_request request;
	struct host host;
	unsigned slot;

	host_ready(&host, 1, 8, 1);
	request = host_watch(&host, 0x04c4, USR, 10, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 10, false);
	slot = host_add(&host, &request);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 1000);
	host.fault_at = 0;
	host.fault_on = true;
	host.accesses = 0;
	CHECK_EQ(spmu_driver_set_period(&host.driver, host.slot[0], 5), SPMU_E_UNAVAILABLE);
	spmu_driver_interrupt(&host.driver);
	(void)spmu_driver_read(&host.driver, slot);
	CHECK(host.accesses > 0 && host.accesses < 100);
	host_free(&host);
}

/* --- everything at once, on each model --- */

static uint64_t forget_trace(void *opaque, const void *records, size_t count, uint64_t linear)
{
	(void)opaque;
	CHECK(records && count);
	return linear;
}

/*
 * Chooses two events, on a counter with PEBS and on another: instructions, or tagged loads on
 * NetBurst.
 */
static void choose_events(const struct spmu_facilities *f, struct spmu_request *request,
			  bool precise)
{
	request->counters = request->counters ? 2 : 1;
	request->select = 0xc0 | USR;
	if (f->programming == SPMU_PROGRAM_CESR) {
		request->code = 0x16;
		request->period = 0;
	} else if (f->programming == SPMU_PROGRAM_ESCR) {
		request->counters = precise ? 1u << 16 : 1u << 4;
		request->code = precise ? 0x00013508 : 0x00021204;
		request->tagger = precise ? 0x00023202 : 0;
	}
	request->precise = precise;
}

static enum spmu_status set_up_all(struct host *host)
{
	struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory),
		.memory = host->area,
		.linear = HOST_AREA,
		.bytes = 32 * 1024,
		.records_per_interrupt = 1,
	};
	struct spmu_request request = {
		.size = sizeof(struct spmu_request), .select = USR, .fixed = -1, .period = 50};
	enum spmu_status status = host_detect(host);
	const struct spmu_facilities *f = &host->driver.facilities;
	unsigned slot;

	if (status != SPMU_OK)
		return status;
	spmu_driver_set_bts_sink(&host->driver, forget_trace, host);
	memory.bts_bytes = f->bts ? 100 * host->driver.layout->bts_bytes : 0;
	if (f->pebs || f->bts)
		status = spmu_driver_setup_ds(&host->driver, &memory);
	if (status == SPMU_OK && f->lbr)
		status = spmu_driver_enable_lbr(&host->driver, 0);
	choose_events(f, &request, f->pebs);
	if (status == SPMU_OK)
		status = spmu_driver_add(&host->driver, &request, &slot);
	choose_events(f, &request, false);
	if (status == SPMU_OK)
		status = spmu_driver_add(&host->driver, &request, &slot);
	if (status == SPMU_OK)
		status = spmu_driver_start(&host->driver);
	if (status == SPMU_OK && f->bts)
		status = spmu_driver_start_bts(&host->driver, true, true);
	return status;
}

/*
 * Lets an access of the setup fault and checks that everything is off after a release. Returns
 * false if there were fewer accesses.
 */
static bool releases_after(const struct spmu_model *model, long n)
{
	bool global = spmu_model_describe(model).perfmon_version >= 2;
	enum spmu_status status;
	struct host host;
	unsigned pmis;

	host_make_model(&host, model, 1);
	host.fault_at = n;
	status = set_up_all(&host);
	if (host.accesses <= n) {
		CHECK_EQ(status, SPMU_OK);
		host_free(&host);
		return false;
	}
	/* Before version 1 IA32_EFER may not be there, and last branch records not be written. */
	CHECK(status == SPMU_E_UNAVAILABLE ||
	      (status == SPMU_OK && !spmu_model_describe(model).perfmon_version));
	host.fault_at = -1;
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_deliver(&host);
	pmis = host.pmis;
	host_run(&host, 2000);
	CHECK_EQ(host.pmis, pmis);
	if (host.driver.facilities.lbr)
		CHECK_EQ(host_msr(&host, 0x1d9), 0);
	if (global && host.driver.facilities.counters)
		CHECK_EQ(host_msr(&host, 0x38f) & host_msr(&host, 0x186), 0);
	host_free(&host);
	return true;
}

/* Lets one access fault, or all from it on, during a run: no crash and no endless loop. */
static void runs_despite(const struct spmu_model *model, long n, bool on)
{
	unsigned refused = 0;
	struct host host;

	host_make_model(&host, model, 1);
	CHECK_EQ(set_up_all(&host), SPMU_OK);
	host.accesses = 0;
	host.fault_at = n;
	host.fault_on = on;
	for (unsigned i = 0; i < 20; i++) {
		host_run(&host, 100);
		(void)spmu_driver_read(&host.driver, 0);
		refused += !host.driver.facilities.no_interrupt &&
			   spmu_driver_set_period(&host.driver, 0, 30 + i) != SPMU_OK;
	}
	CHECK(refused <= 20 && (on || refused <= 1));
	CHECK(host.accesses < 200000);
	host.fault_at = -1;
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_free(&host);
}

int main(void)
{
	long n = 0;

	while (faults_at(n, false) && faults_at(n, true))
		n++;
	/* Detection, DS area, four counters and the start. */
	CHECK(n > 20 && n < 100);
	n = 0;
	while (recovers(n))
		n++;
	CHECK(n > 15 && n < 100);
	RUN(stops_despite(0x38f, 0x3f1));
	RUN(stops_despite(0x3f1, 0x38f));
	RUN(serves_despite());
	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);

		for (n = 0; releases_after(model, n);)
			n++;
		CHECK(n > 5 && n < 400);
		for (n = 0; n < 100; n++) {
			RUN(runs_despite(model, n, false));
			RUN(runs_despite(model, n, true));
		}
	}
	return test_summary();
}
