/* SPDX-License-Identifier: MIT */
/*
 * driver_sample.c: samples from interrupts and from PEBS records are exactly at the occurrences
 * that the periods name. Totals stay exact at the same time.
 */
#include "driver_host.h"

/* Returns how many records wait, by the PEBS index in the DS management area. */
static uint64_t waiting_records(struct host *host)
{
	struct spmu_ds_area area = {0};

	CHECK_EQ(spmu_ds_decode(spmu_model_ds_layout(host->model, true), host->area,
				HOST_AREA_BYTES, &area),
		 SPMU_OK);
	return (area.pebs_index - area.pebs_base) /
	       spmu_pebs_record_bytes(spmu_model_ds_layout(host->model, true), 0);
}

static void check_totals(struct host *host)
{
	for (unsigned i = 0; i < host->watches; i++)
		CHECK_EQ(spmu_driver_read(&host->driver, host->slot[i]), host->watch[i].count);
}

static void start(struct host *host)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
}

/* Stops and takes what is still in the buffer. */
static void finish(struct host *host)
{
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	check_totals(host);
	spmu_driver_drain(&host->driver);
	CHECK_EQ(waiting_records(host), 0);
	check_totals(host);
}

static void samples_one(uint64_t period, bool precise, int fixed, bool legacy, unsigned threshold)
{
	struct spmu_request request;
	struct host host;

	host_make(&host, 1);
	host.capabilities_clear = legacy ? 1u << 13 : 0;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	if (precise)
		CHECK_EQ(host_setup_ds(&host.driver, host.area, HOST_AREA,
				       host_area_bytes(&host, 20), threshold),
			 SPMU_OK);
	request = host_watch(&host,
			     fixed >= 0 ? 0x00c0
			     : precise	? 0x04c4
					: 0x00c4,
			     USR, period, precise);
	request.fixed = (int8_t)fixed;
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 200; n++) {
		host_run(&host, 20);
		check_totals(&host);
	}
	finish(&host);
	host_check_samples(&host, 0, precise, period);
	if (precise) {
		uint64_t records = host.watch[0].count / (period + 1);

		CHECK_EQ(host.driver.records, records);
		CHECK_EQ(host.driver.interrupts, records / threshold);
		CHECK_EQ(host.driver.buffer_full, records / threshold);
	} else {
		CHECK_EQ(host.driver.interrupts, host.watch[0].count / period);
		CHECK_EQ(host.driver.records, 0);
	}
	host_free(&host);
}

/* Checks that a record has the data address of its instruction. */
static void records_data_addresses(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, 5);
	request = host_watch(&host, 0x81d0, USR | OS, 13, true);
	host_add(&host, &request);
	start(&host);
	host_run(&host, 5000);
	finish(&host);
	host_check_samples(&host, 0, true, 13);
	for (uint64_t i = 0; i < host.takens; i++) {
		CHECK(host.taken[i].data_address >= UINT64_C(0x10000000));
		CHECK_EQ(host.taken[i].applicable,
			 UINT64_C(1) << host.driver.counter[host.slot[0]].index);
	}
	host_free(&host);
}

/* Checks that counting, interrupts and PEBS at the same time do not disturb one another. */
static void samples_many(unsigned threshold, uint64_t seed)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, threshold);
	host.random += seed;
	request = host_watch(&host, 0x04c4, USR, 17 + seed % 5, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 29, false);
	request.fixed = 0;
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR | OS, 0, false);
	host_add(&host, &request);
	request = host_watch(&host, 0x81d0, USR, 31 + seed % 7, false);
	host_add(&host, &request);
	request = host_watch(&host, 0x20c4, USR | OS, 1, false);
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 100; n++) {
		host_run(&host, 1 + host_random(&host) % 70);
		check_totals(&host);
	}
	finish(&host);
	host_check_samples(&host, 0, true, 17 + seed % 5);
	host_check_samples(&host, 1, false, 29);
	host_check_samples(&host, 3, false, 31 + seed % 7);
	host_check_samples(&host, 4, false, 1);
	host_free(&host);
}

/* Checks several counters with PEBS. One record may belong to two of them. */
static void samples_precisely(unsigned threshold, uint64_t seed)
{
	static const uint16_t codes[] = {0x04c4, 0x81d0, 0x82d0, 0x20c4};
	struct spmu_request request;
	uint64_t period[4];
	struct host host;

	host_ready(&host, 1, 20, threshold);
	host.random += seed;
	for (unsigned i = 0; i < 4; i++) {
		period[i] = 1 + (seed * (i + 3)) % 19;
		request = host_watch(&host, codes[i], USR, period[i], true);
		host_add(&host, &request);
	}
	start(&host);
	for (unsigned n = 0; n < 100; n++) {
		host_run(&host, 1 + host_random(&host) % 70);
		check_totals(&host);
	}
	finish(&host);
	for (unsigned i = 0; i < 4; i++)
		host_check_samples(&host, i, true, period[i]);
	host_free(&host);
}

/* Checks that stops, drains and starts lose nothing, not even the record of an armed counter. */
static void survives_stops(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, 3);
	request = host_watch(&host, 0x04c4, USR, 2, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 11, false);
	host_add(&host, &request);
	for (unsigned n = 0; n < 500; n++) {
		start(&host);
		host_run(&host, 1 + host_random(&host) % 9);
		if (n % 3)
			finish(&host);
		else
			CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	}
	finish(&host);
	host_check_samples(&host, 0, true, 2);
	host_check_samples(&host, 1, false, 11);
	host_free(&host);
}

/* Checks that a late interrupt finds several records, and a counter that has continued. */
static void survives_late_interrupts(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 200, 1);
	request = host_watch(&host, 0x04c4, USR, 5, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 1000, false);
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 300; n++) {
		host.hold_pmi = n % 5;
		host_deliver(&host);
		host_run(&host, 20);
		check_totals(&host);
	}
	finish(&host);
	host_check_samples(&host, 0, true, 5);
	CHECK(host.driver.interrupts < host.driver.records);
	/* Periods begin at the overflow, so there is no drift. */
	for (uint64_t i = 0, k = 0; i < host.takens; i++) {
		uint64_t expected;

		if (host.taken[i].tag != 1)
			continue;
		expected = host.watch[1].ip[++k * 1000 - 1];
		CHECK(host.taken[i].rip >= expected + 4);
		CHECK(host.taken[i].rip < expected + 4 * 20 * 5);
	}
	host_free(&host);
}

/* Checks a full buffer: its records are lost, occurrences are not, and sampling continues. */
static void survives_full_buffer(void)
{
	struct spmu_request request;
	struct host host;
	uint64_t before, seen;

	host_ready(&host, 1, 4, 1);
	request = host_watch(&host, 0x04c4, USR, 10, true);
	host_add(&host, &request);
	start(&host);
	for (unsigned round = 0; round < 10; round++) {
		host.hold_pmi = true;
		host_run(&host, 1000);
		CHECK_EQ(waiting_records(&host), 4);
		check_totals(&host);
		before = host.takens;
		seen = host.driver.buffer_full;
		host.hold_pmi = false;
		host_deliver(&host);
		CHECK_EQ(host.driver.buffer_full, seen + 1);
		CHECK_EQ(host.takens, before + 4);
		CHECK_EQ(waiting_records(&host), 0);
		check_totals(&host);

		/* From here on the buffer has no effect: the next records have equal distances. */
		before = host.watch[0].count;
		for (unsigned k = 1; k <= 3; k++) {
			uint64_t takens = host.takens;

			while (host.watch[0].count < before + k * 11) {
				CHECK_EQ(host.takens, takens);
				host_run(&host, 1);
			}
			CHECK_EQ(host.takens, takens + 1);
			CHECK_EQ(host.taken[takens].eventing_ip,
				 host.watch[0].ip[before + k * 11 - 1]);
			check_totals(&host);
		}
		/* The hold begins again with an interrupt that is not pending. */
		CHECK(!host.pmi_pending);
		host_run(&host, 100);
		check_totals(&host);
	}
	finish(&host);
	host_free(&host);
}

/* Reads a total in a sample. The sink may read any total at any sample. */
static void read_in_sink(struct host *host, const struct spmu_sample *sample)
{
	(void)sample;
	for (unsigned i = 0; i < host->watches; i++)
		CHECK_EQ(spmu_driver_read(&host->driver, host->slot[i]), host->watch[i].count);
}

static void reads_in_sink(unsigned threshold)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, threshold);
	request = host_watch(&host, 0x04c4, USR, 7, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 13, false);
	host_add(&host, &request);
	request = host_watch(&host, 0x82d0, USR | OS, 0, false);
	host_add(&host, &request);
	host.in_sink = read_in_sink;
	start(&host);
	host_run(&host, 5000);
	finish(&host);
	CHECK(host.takens > 300);
	host_free(&host);
}

/*
 * Changes a period in a sample, as a profiler does that aims at a frequency. The sample still has
 * the period that led to it, and totals stay exact.
 */
static void change_in_sink(struct host *host, const struct spmu_sample *sample)
{
	uint64_t period = 5 + host->takens % 11;

	CHECK_EQ(spmu_driver_set_period(&host->driver, host->slot[sample->tag], period), SPMU_OK);
	read_in_sink(host, sample);
}

/* Checks that the distances between the samples of a tag are those that the samples name. */
static void check_named_distances(struct host *host, unsigned tag, bool precise)
{
	const struct watch *w = &host->watch[tag];
	uint64_t at = 0, samples = 0;

	for (uint64_t i = 0; i < host->takens; i++) {
		const struct taken *t = &host->taken[i];

		if (t->tag != tag)
			continue;
		at += t->period + precise;
		if (!CHECK(at <= w->count))
			return;
		CHECK_EQ(t->rip, w->ip[at - 1] + 4);
		samples++;
	}
	CHECK(samples > 100);
}

static void changes_periods(unsigned threshold, bool in_sink)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, threshold);
	request = host_watch(&host, 0x04c4, USR, 9, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 13, false);
	host_add(&host, &request);
	host.in_sink = in_sink ? change_in_sink : NULL;
	start(&host);
	for (unsigned n = 0; n < 300; n++) {
		host_run(&host, 20);
		check_totals(&host);
		if (in_sink || n % 3)
			continue;
		CHECK_EQ(spmu_driver_set_period(&host.driver, host.slot[n & 1], 5 + n % 17),
			 SPMU_OK);
		check_totals(&host);
	}
	host.in_sink = NULL;
	finish(&host);
	check_named_distances(&host, 0, true);
	check_named_distances(&host, 1, false);
	host_free(&host);
}

/* Stops the unit in a sample. The service routine must not start it again. */
static void stop_in_sink(struct host *host, const struct spmu_sample *sample)
{
	(void)sample;
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
}

static void stops_in_sink(bool precise)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, 1);
	request = host_watch(&host, precise ? 0x04c4 : 0x00c4, USR, 50, precise);
	host_add(&host, &request);
	host.in_sink = stop_in_sink;
	start(&host);
	host_run(&host, 5000);
	CHECK_EQ(host.takens, 1);
	CHECK_EQ(host_msr(&host, 0x38f), 0);
	CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), 50 + precise);
	start(&host);
	host_run(&host, 5000);
	CHECK_EQ(host.takens, 2);
	CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), 2 * (50 + precise));
	host_free(&host);
}

/* Checks that the service routine undoes a freeze on the interrupt (IA32_DEBUGCTL). */
static void survives_freezing(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, 2);
	CHECK_EQ(spmu_write_msr(host.core, 0, 0x1d9, 1u << 11 | 1u << 12), SPMU_DONE);
	request = host_watch(&host, 0x04c4, USR, 9, true);
	host_add(&host, &request);
	request = host_watch(&host, 0x00c0, USR, 13, false);
	host_add(&host, &request);
	start(&host);
	host_run(&host, 3000);
	finish(&host);
	CHECK_EQ(host_msr(&host, 0x38e) >> 58, 0);
	host_check_samples(&host, 0, true, 9);
	host_check_samples(&host, 1, false, 13);
	host_free(&host);
}

/* Checks that the driver stays inside its memory when the observed program writes to the area. */
static void survives_scribbles(void)
{
	struct spmu_request request;
	struct host host;

	host_ready(&host, 1, 20, 3);
	request = host_watch(&host, 0x04c4, USR, 9, true);
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 2000; n++) {
		host_run(&host, 30);
		for (unsigned i = 0; i < 0x60; i += 8) {
			uint64_t value = host_random(&host);

			if (value & 1)
				value = HOST_AREA + (value >> 40) % HOST_AREA_BYTES;
			memcpy(host.area + i, &value, 8);
		}
		(void)spmu_driver_read(&host.driver, host.slot[0]);
		spmu_driver_interrupt(&host.driver);
		spmu_driver_drain(&host.driver);
		CHECK_EQ(waiting_records(&host), 0);
		CHECK(host.driver.records <= (n + 1) * UINT64_C(60));
	}
	host_free(&host);
}

/* Checks that a wrong index gives only whole records inside the buffer. */
static void check_index(uint64_t index, uint64_t records)
{
	struct spmu_ds_area area = {0};
	const struct spmu_ds_layout *layout;
	struct host host;

	host_ready(&host, 1, 20, 3);
	layout = spmu_model_ds_layout(host.model, true);
	CHECK_EQ(spmu_ds_decode(layout, host.area, HOST_AREA_BYTES, &area), SPMU_OK);
	area.pebs_index = area.pebs_base + index;
	CHECK_EQ(spmu_ds_encode(layout, &area, host.area, HOST_AREA_BYTES), SPMU_OK);
	spmu_driver_drain(&host.driver);
	CHECK_EQ(host.driver.records, records);
	CHECK_EQ(waiting_records(&host), 0);
	host_free(&host);
}

int main(void)
{
	static const uint64_t periods[] = {1, 2, 3, 10, 97};

	for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		for (unsigned legacy = 0; legacy < 2; legacy++) {
			RUN(samples_one(periods[i], false, -1, legacy, 0));
			RUN(samples_one(periods[i], false, 0, legacy, 0));
			for (unsigned threshold = 1; threshold < 20; threshold += 6)
				RUN(samples_one(periods[i], true, -1, legacy, threshold));
		}
	}
	RUN(records_data_addresses());
	for (uint64_t seed = 0; seed < 20; seed++)
		RUN(samples_many(1 + (unsigned)seed % 6, seed));
	for (uint64_t seed = 0; seed < 20; seed++)
		RUN(samples_precisely(1 + (unsigned)seed % 6, seed));
	RUN(survives_stops());
	RUN(survives_late_interrupts());
	RUN(survives_full_buffer());
	RUN(reads_in_sink(1));
	RUN(reads_in_sink(6));
	RUN(changes_periods(1, true));
	RUN(changes_periods(6, true));
	RUN(changes_periods(1, false));
	RUN(changes_periods(6, false));
	RUN(stops_in_sink(false));
	RUN(stops_in_sink(true));
	RUN(survives_freezing());
	RUN(survives_scribbles());
	RUN(check_index(0, 0));
	RUN(check_index(1, 0));
	RUN(check_index(200, 1));
	RUN(check_index(399, 1));
	RUN(check_index(UINT64_C(0) - 200, 0));
	RUN(check_index(20 * 200, 20));
	RUN(check_index(20 * 200 + 1, 20));
	RUN(check_index(UINT64_C(1) << 40, 20));
	return test_summary();
}
