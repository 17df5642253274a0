/* SPDX-License-Identifier: MIT */
/*
 * driver_detect.c: what the driver detects, in which order, and what it does if something is
 * missing.
 */
#include "driver_host.h"

#define ECX_DTES64 (1u << 2)
#define ECX_PDCM   (1u << 15)
#define EDX_DS	   (1u << 21)

static void finds_skylake(unsigned threads, unsigned counters)
{
	struct host host;
	const struct spmu_facilities *f = &host.driver.facilities;

	host_make(&host, threads);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	CHECK_EQ(f->perfmon_version, 4);
	CHECK_EQ(f->counters, counters);
	CHECK_EQ(f->counter_bits, 48);
	CHECK_EQ(f->fixed_counters, 3);
	CHECK_EQ(f->fixed_bits, 48);
	CHECK_EQ(f->pebs_format, 3);
	CHECK_EQ(f->absent_events, 0);
	CHECK(f->full_width_writes && f->ds && f->ds64 && f->ds_cpl && f->pdcm && f->pebs);
	CHECK_EQ(host.writes, 0);
	host_free(&host);
}

/* Checks that detection fails, leaves no facility set, and that every other call then refuses. */
static void check_nothing(struct host *host)
{
	struct spmu_request request = {.size = sizeof(struct spmu_request),
				       .select = 0xc0 | USR,
				       .counters = 0xf,
				       .fixed = 0};
	unsigned slot = 77;

	CHECK_EQ(host_detect(host), SPMU_E_UNAVAILABLE);
	CHECK_EQ(host->driver.facilities.counters, 0);
	CHECK_EQ(host->driver.facilities.fixed_counters, 0);
	CHECK_EQ(spmu_driver_add(&host->driver, &request, &slot), SPMU_E_UNAVAILABLE);
	CHECK_EQ(slot, 77);
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_E_UNAVAILABLE);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, HOST_AREA_BYTES, 0),
		 SPMU_E_UNAVAILABLE);
	CHECK_EQ(host->writes, 0);
	host_free(host);
}

static void refuses_without_unit(void)
{
	struct host host;

	host_make(&host, 1);
	host.max_leaf = 9;
	check_nothing(&host);
	host_make(&host, 1);
	host.version = 0;
	check_nothing(&host);
	host_make(&host, 1);
	host.fault_msr = 0x1a0;
	check_nothing(&host);
	host_make(&host, 1);
	host.fault_msr = 0x345;
	check_nothing(&host);
}

/* Checks that without PEBS no DS save area and nothing precise can be made, but counting works. */
static void check_no_pebs(struct host *host)
{
	struct spmu_request request = {.size = sizeof(struct spmu_request),
				       .select = 0x4c4 | USR,
				       .counters = 0xf,
				       .fixed = -1,
				       .period = 100,
				       .precise = true};
	unsigned slot = 77;

	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK(!host->driver.facilities.pebs);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, HOST_AREA_BYTES, 0),
		 SPMU_E_UNAVAILABLE);
	CHECK_EQ(spmu_driver_add(&host->driver, &request, &slot), SPMU_E_UNAVAILABLE);
	CHECK_EQ(slot, 77);

	request = host_watch(host, 0x00c4, USR, 100, false);
	slot = host_add(host, &request);
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
	host_run(host, 5000);
	CHECK_EQ(spmu_driver_read(&host->driver, slot), host->watch[0].count);
	host_check_samples(host, 0, false, 100);
	host_free(host);
}

static void does_without(void)
{
	struct host host;

	host_make(&host, 2);
	host.hide_1_edx = EDX_DS;
	check_no_pebs(&host);
	CHECK_EQ(host.misc_reads, 0);

	host_make(&host, 2);
	host.hide_1_ecx = ECX_PDCM;
	check_no_pebs(&host);
	CHECK_EQ(host.capabilities_reads, 0);
	CHECK(!host.driver.facilities.full_width_writes);

	host_make(&host, 2);
	host.hide_1_ecx = ECX_DTES64;
	check_no_pebs(&host);

	host_make(&host, 2);
	host.misc_enable_set = 1u << 12;
	check_no_pebs(&host);
	CHECK(host.driver.facilities.bts);

	/* A record format that is not the model's. */
	host_make(&host, 2);
	host.capabilities_clear = 1u << 8;
	check_no_pebs(&host);
	CHECK(host.driver.facilities.full_width_writes);

	host_make(&host, 2);
	host.misc_enable_set = 1u << 11;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	CHECK(!host.driver.facilities.bts && host.driver.facilities.pebs);
	host_free(&host);
}

static void refuses_half_a_port(void)
{
	struct spmu_driver driver;
	struct host host;
	struct spmu_port port;

	host_make(&host, 1);
	port = host_port(&host);
	CHECK_EQ(spmu_driver_detect(NULL, sizeof(driver), &port, host.model), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_detect(&driver, sizeof(driver), NULL, host.model), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_detect(&driver, sizeof(driver), &port, NULL), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_bytes(), sizeof(driver));
	CHECK_EQ(spmu_driver_detect(&driver, sizeof(driver) - 1, &port, host.model), SPMU_E_SPACE);
	port.wrmsr = NULL;
	CHECK_EQ(spmu_driver_detect(&driver, sizeof(driver), &port, host.model), SPMU_E_ARGUMENT);
	host_free(&host);
}

int main(void)
{
	RUN(finds_skylake(1, 8));
	RUN(finds_skylake(2, 4));
	RUN(refuses_without_unit());
	RUN(does_without());
	RUN(refuses_half_a_port());
	return test_summary();
}
