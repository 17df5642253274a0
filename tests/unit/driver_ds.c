/* SPDX-License-Identifier: MIT */
/* driver_ds.c: the DS save area that the driver creates, and the memory that it refuses. */
#include "driver_host.h"

static struct spmu_ds_area area_of(struct host *host, size_t offset)
{
	struct spmu_ds_area area = {0};

	CHECK_EQ(spmu_ds_decode(spmu_model_ds_layout(host->model, true), host->area + offset,
				HOST_AREA_BYTES - offset, &area),
		 SPMU_OK);
	return area;
}

/* Checks the manual's restrictions on the management area, for any memory. */
static void check_restrictions(struct host *host, size_t offset, size_t bytes)
{
	struct spmu_ds_area area = area_of(host, offset);
	size_t record = spmu_pebs_record_bytes(spmu_model_ds_layout(host->model, true), 0);
	uint64_t end = HOST_AREA + offset + bytes;

	CHECK_EQ(host_msr(host, 0x600), HOST_AREA + offset);
	CHECK_EQ(area.pebs_base % 64, 0);
	CHECK(area.pebs_base >=
	      HOST_AREA + offset + spmu_model_ds_layout(host->model, true)->bytes);
	CHECK_EQ(area.pebs_index, area.pebs_base);
	CHECK_EQ((area.pebs_maximum - area.pebs_base) % record, 0);
	CHECK(area.pebs_maximum <= end);
	CHECK(end - area.pebs_maximum < record);
	CHECK_EQ((area.pebs_threshold - area.pebs_base) % record, 0);
	CHECK(area.pebs_threshold > area.pebs_base);
	CHECK(area.pebs_threshold < area.pebs_maximum);
	CHECK(area.bts_base == area.bts_index && area.bts_base == area.bts_maximum);
}

static void makes_areas(void)
{
	static const size_t offsets[] = {0, 4, 8, 60, 64, 1000};

	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		for (size_t bytes = 1024; bytes < 6000; bytes += 237) {
			struct host host;

			host_make(&host, 1);
			CHECK_EQ(host_detect(&host), SPMU_OK);
			CHECK_EQ(host_setup_ds(&host.driver, host.area + offsets[i],
					       HOST_AREA + offsets[i], bytes, bytes % 7),
				 SPMU_OK);
			check_restrictions(&host, offsets[i], bytes);
			/* Nothing is written past the memory. */
			CHECK_EQ(host.area[offsets[i] + bytes], 0xa5);
			host_free(&host);
		}
	}
}

/* Checks how many records come before the threshold. */
static void check_threshold(unsigned records, unsigned wanted, unsigned is)
{
	struct host host;
	struct spmu_ds_area area;

	host_ready(&host, 1, records, wanted);
	area = area_of(&host, 0);
	CHECK_EQ((area.pebs_threshold - area.pebs_base) /
			 spmu_pebs_record_bytes(spmu_model_ds_layout(host.model, true), 0),
		 is);
	host_free(&host);
}

static void refuses_memory(void)
{
	struct host host;
	struct spmu_driver *driver = &host.driver;
	size_t two;

	host_make(&host, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	two = host_area_bytes(&host, 2);
	CHECK_EQ(host_setup_ds(driver, NULL, HOST_AREA, 4096, 0), SPMU_E_ARGUMENT);
	CHECK_EQ(host_setup_ds(driver, host.area, 0, 4096, 0), SPMU_E_ARGUMENT);
	for (unsigned off = 1; off < 4; off++) {
		CHECK_EQ(host_setup_ds(driver, host.area, HOST_AREA + off, 4096, 0),
			 SPMU_E_ARGUMENT);
		CHECK_EQ(host_setup_ds(driver, host.area + off, HOST_AREA, 4096, 0),
			 SPMU_E_ARGUMENT);
	}
	CHECK_EQ(host_setup_ds(driver, host.area, UINT64_MAX - 4095, 8192, 0), SPMU_E_ARGUMENT);
	/* Not canonical: the WRMSR faults. */
	CHECK_EQ(host_setup_ds(driver, host.area, UINT64_C(1) << 60, 4096, 0), SPMU_E_UNAVAILABLE);
	memset(host.area, 0xa5, HOST_AREA_BYTES);
	for (size_t bytes = 0; bytes < two; bytes++)
		CHECK_EQ(host_setup_ds(driver, host.area, HOST_AREA, bytes, 0), SPMU_E_SPACE);
	/* Refused calls have changed nothing. */
	CHECK_EQ(host_msr(&host, 0x600), 0);
	for (size_t i = 0; i < two; i++)
		CHECK_EQ(host.area[i], 0xa5);
	CHECK_EQ(host_setup_ds(driver, host.area, HOST_AREA, two, 0), SPMU_OK);
	host_free(&host);
}

static void refuses_while_in_use(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 8, 1);
	request = host_watch(&host, 0x04c4, USR, 10, true);
	host_add(&host, &request);
	CHECK_EQ(host_setup_ds(&host.driver, host.area, HOST_AREA, 8192, 0), SPMU_E_ARGUMENT);
	host_free(&host);
}

/* Checks that the slot of a counter holds the start value of its period. */
static void fills_reset_slots(void)
{
	struct spmu_request request;
	struct host host;
	unsigned slot;

	host_ready(&host, 1, 8, 1);
	for (unsigned n = 0; n < 4; n++) {
		request = host_watch(&host, 0x04c4, USR, 1000 + n, true);
		slot = host_add(&host, &request);
		CHECK_EQ(area_of(&host, 0).reset[host.driver.counter[slot].index],
			 (UINT64_C(1) << 48) - 1000 - n);
		CHECK_EQ(spmu_driver_set_period(&host.driver, slot, 77), SPMU_OK);
		CHECK_EQ(area_of(&host, 0).reset[host.driver.counter[slot].index],
			 (UINT64_C(1) << 48) - 77);
	}
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_COUNTER);
	host_free(&host);
}

int main(void)
{
	RUN(makes_areas());
	RUN(check_threshold(16, 1, 1));
	RUN(check_threshold(16, 15, 15));
	RUN(check_threshold(16, 16, 15));
	RUN(check_threshold(16, 4000000000u, 15));
	RUN(check_threshold(16, 0, 14));
	RUN(check_threshold(2, 0, 1));
	RUN(check_threshold(2, 2, 1));
	RUN(refuses_memory());
	RUN(refuses_while_in_use());
	RUN(fills_reset_slots());
	return test_summary();
}
