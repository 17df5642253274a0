/* SPDX-License-Identifier: MIT */
/*
 * driver_families.c: the driver on every model (Vol. 3B 18.2, 18.4.4, 18.8.1, 18.11.2, 18.13.1),
 * with architectural perfmon versions 1 to 5. It finds by itself what is there, counts, and
 * samples through interrupts and PEBS. Each occurrence is accounted for.
 */
#include "driver_host.h"

static void finds(const struct spmu_model *model, unsigned threads)
{
	struct spmu_model_info info = spmu_model_describe(model);
	const struct spmu_facilities *f;
	struct host host;

	host_make_model(&host, model, threads);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	f = &host.driver.facilities;
	CHECK_EQ(f->perfmon_version, info.perfmon_version);
	CHECK_EQ(f->counters, threads == 2 ? info.counters_ht : info.counters_single);
	CHECK_EQ(f->counter_bits, info.counter_bits);
	CHECK(f->fixed_counters <= info.fixed_counters);
	CHECK_EQ(f->pebs, info.pebs_format >= 0);
	if (f->pebs)
		CHECK_EQ(f->pebs_format, info.pebs_format);
	CHECK_EQ(f->lbr, spmu_model_lbr_layout(model) != NULL);
	CHECK_EQ(f->bts, host.driver.layout && host.driver.layout->bts_bytes);
	CHECK_EQ(host.writes, 0);
	host_free(&host);
}

/* Adds a request for the event in user mode, on its fixed counter too if asked for. */
static void add(struct host *host, uint16_t code, uint64_t period, bool fixed)
{
	struct spmu_request request = host_watch(host, code, USR, period, false);

	if (fixed)
		request.fixed = host->watch[request.tag].event->fixed;
	host_add(host, &request);
}

static void start(struct host *host)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
}

static void finish(struct host *host)
{
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	host_check_totals(host);
	spmu_driver_drain(&host->driver);
	host_check_totals(host);
}

/*
 * Checks instructions and branches as samples and as counts, with and without the fixed counter.
 * After reset, a unit that shows version 1 in CPUID also counts by its EN bits.
 */
static void counts_and_samples(const struct spmu_model *model, uint64_t period, bool fixed,
			       uint32_t version)
{
	struct host host;

	host_make_model(&host, model, 1);
	host.version = version;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c0, period, fixed);
	add(&host, 0x00c4, period == 1 ? 0 : period - 1, false);
	for (unsigned round = 0; round < 3; round++) {
		start(&host);
		for (unsigned n = 0; n < 60; n++) {
			host_run(&host, 1 + host_random(&host) % 30);
			host_check_totals(&host);
		}
		finish(&host);
	}
	host_check_samples(&host, 0, false, period);
	if (period > 1)
		host_check_samples(&host, 1, false, period - 1);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_free(&host);
}

/* Checks a late interrupt: nothing is lost, and periods begin at the overflow. */
static void serves_late(const struct spmu_model *model, uint32_t version)
{
	struct host host;

	host_make_model(&host, model, 1);
	host.version = version;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c0, 500, false);
	add(&host, 0x00c4, 0, false);
	start(&host);
	for (unsigned n = 0; n < 400; n++) {
		host.hold_pmi = n % 7;
		host_deliver(&host);
		host_run(&host, 20);
		host_check_totals(&host);
	}
	host.hold_pmi = false;
	host_deliver(&host);
	for (uint64_t i = 0; i < host.takens; i++) {
		uint64_t expected = host.watch[0].ip[(i + 1) * 500 - 1];

		CHECK_EQ(host.taken[i].tag, 0);
		CHECK(host.taken[i].rip >= expected + 4);
		CHECK(host.taken[i].rip < expected + 4 * 20 * 10);
	}
	CHECK(host.takens > 5);
	finish(&host);
	host_free(&host);
}

/*
 * Checks the longest period. Without a status the sign tells an overflow, so it is half the range.
 */
static void check_longest(struct host *host)
{
	const struct spmu_facilities *f = &host->driver.facilities;
	uint64_t longest = UINT64_C(1) << 31;
	struct spmu_request request = host_watch(host, 0x00c4, USR, 0, false);
	unsigned slot;

	if (f->full_width_writes)
		longest = (UINT64_C(1) << (f->counter_bits - (f->perfmon_version == 1))) -
			  (f->perfmon_version != 1);
	request.period = longest + 1;
	CHECK_EQ(spmu_driver_add(&host->driver, &request, &slot), SPMU_E_ARGUMENT);
	request.period = longest;
	CHECK_EQ(spmu_driver_add(&host->driver, &request, &slot), SPMU_OK);
}

static void wraps(const struct spmu_model *model, uint32_t version)
{
	struct host host;

	host_make_model(&host, model, 1);
	host.version = version;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	add(&host, 0x00c0, 0, false);
	start(&host);
	host_check_wraps(&host, 0xc1);
	CHECK_EQ(host.takens, 0);
	check_longest(&host);
	host_free(&host);
}

/* --- PEBS --- */

static void ready(struct host *host, const struct spmu_model *model, unsigned records,
		  unsigned threshold)
{
	host_make_model(host, model, 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, host_area_bytes(host, records),
			       threshold),
		 SPMU_OK);
}

/* Returns true if PEBS can sample the event here and the host can list its occurrences. */
static bool is_usable(const struct spmu_event *event)
{
	return event->pebs_counters && event->fidelity == SPMU_EXACT && host_can_list(event);
}

static void samples_precisely(const struct spmu_model *model, const struct spmu_event *event,
			      uint64_t period, unsigned threshold)
{
	struct spmu_request request;
	struct host host;
	uint64_t records;

	ready(&host, model, 20, threshold);
	request = host_watch(&host, event->code, USR, period, true);
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 40; n++) {
		host_run(&host, 1 + host_random(&host) % 80);
		host_check_totals(&host);
		if (n % 8 == 7) {
			finish(&host);
			start(&host);
		}
	}
	finish(&host);
	host_check_samples(&host, 0, true, period);
	records = host.watch[0].count / host_distance(&host, 0, true, period);
	CHECK_EQ(host.driver.records, records);
	CHECK_EQ(host.driver.collisions, 0);
	CHECK_EQ(host.driver.damaged, 0);
	host_free(&host);
}

static unsigned each_precise_event(const struct spmu_model *model)
{
	unsigned events = 0;

	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		if (!is_usable(event))
			continue;
		samples_precisely(model, event, 1 + i % 13, 1 + i % 15);
		events++;
	}
	return events;
}

/* Checks the fixed counters that have PEBS. */
static void samples_on_fixed(const struct spmu_model *model)
{
	struct spmu_request request;
	struct host host;

	ready(&host, model, 20, 3);
	request = host_watch(&host, 0x00c0, USR, 7, true);
	request.fixed = 0;
	request.counters = 0;
	if (host.driver.layout->fixed_resets == 0) {
		unsigned slot;

		CHECK_EQ(spmu_driver_add(&host.driver, &request, &slot), SPMU_E_COUNTER);
		host_free(&host);
		return;
	}
	host_add(&host, &request);
	CHECK(host.driver.counter[host.slot[0]].fixed);
	start(&host);
	for (unsigned n = 0; n < 50; n++) {
		host_run(&host, 1 + host_random(&host) % 50);
		host_check_totals(&host);
	}
	finish(&host);
	host_check_samples(&host, 0, true, 7);
	host_free(&host);
}

/*
 * Checks that each sample is of an occurrence at least a period after the one before. Collisions
 * make the distance longer. Returns the number of samples.
 */
static uint64_t check_subset(struct host *host, unsigned tag, uint64_t period)
{
	const struct watch *w = &host->watch[tag];
	uint64_t distance = host_distance(host, tag, true, period);
	uint64_t samples = 0, n = distance - 1;

	for (uint64_t i = 0; i < host->takens; i++) {
		const struct taken *t = &host->taken[i];

		if (t->tag != tag)
			continue;
		while (n < w->count && w->ip[n] + 4 != t->rip)
			n++;
		samples += n < w->count;
		n += distance;
		CHECK_EQ(t->period, period);
	}
	return samples;
}

/* Asks for another period in each sample, up or down. */
static void change_in_sink(struct host *host, const struct spmu_sample *sample)
{
	CHECK_EQ(spmu_driver_set_period(&host->driver, host->slot[sample->tag],
					1 + host_random(host) % 40),
		 SPMU_OK);
}

static uint64_t collisions;

/*
 * Checks several counters with PEBS at once. If a record cannot say which counter made it (formats
 * 1 and 2), it becomes a sample of one counter or a collision.
 */
static void samples_together(const struct spmu_model *model, uint64_t seed, bool changing)
{
	uint64_t period[4] = {0}, samples = 0;
	unsigned requests = 0;
	struct host host;

	ready(&host, model, 20, 1 + (unsigned)seed % 6);
	host.random += seed;
	for (size_t i = 0; i < spmu_event_count(model) && requests < 4; i++) {
		const struct spmu_event *event =
			spmu_event_at(model, (i + seed * 5) % spmu_event_count(model));
		struct spmu_request request;
		unsigned slot;

		if (!is_usable(event) || !(event->signals & HOST_BRANCHES))
			continue;
		period[requests] = 1 + (seed * (requests + 3)) % 19;
		request = host_watch(&host, event->code, USR, period[requests], true);
		if (spmu_driver_add(&host.driver, &request, &slot) == SPMU_OK)
			host.slot[requests++] = slot;
		else
			host.watches--;
	}
	/* Core 2 and Bonnell have one counter with PEBS and no precise event of branches. */
	if (!requests) {
		CHECK_EQ(host.driver.facilities.pebs_format, 0);
		host_free(&host);
		return;
	}
	host.in_sink = changing ? change_in_sink : NULL;
	start(&host);
	for (unsigned n = 0; n < 60; n++) {
		host_run(&host, 1 + host_random(&host) % 70);
		host_check_totals(&host);
	}
	finish(&host);
	for (unsigned i = 0; i < requests && !changing; i++)
		samples += check_subset(&host, i, period[i]);
	if (!changing)
		CHECK_EQ(samples, host.takens);
	collisions += host.driver.collisions;
	if (host.driver.facilities.pebs_format < 3)
		CHECK_EQ(host.driver.records, host.takens + host.driver.collisions);
	else
		for (unsigned i = 0; i < requests && !changing; i++)
			host_check_samples(&host, i, true, period[i]);
	host_free(&host);
}

/*
 * Checks that the driver undoes a freeze (18.2.4.1, 17.4.7) by others, whatever the freeze clears.
 */
static void survives_freezing(const struct spmu_model *model)
{
	struct host host;

	if (spmu_model_describe(model).perfmon_version < 2)
		return;
	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	CHECK_EQ(spmu_write_msr(host.core, 0, 0x1d9, 1u << 12), SPMU_DONE);
	add(&host, 0x00c0, 13, false);
	start(&host);
	host_run(&host, 3000);
	finish(&host);
	host_check_samples(&host, 0, false, 13);
	CHECK_EQ(host_msr(&host, 0x1d9), 1u << 12);
	host_free(&host);
}

static void check_model(const struct spmu_model *model)
{
	static const uint64_t periods[] = {1, 2, 3, 10, 97};

	finds(model, 1);
	finds(model, 2);
	for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		counts_and_samples(model, periods[i], false, UINT32_MAX);
		counts_and_samples(model, periods[i], true, UINT32_MAX);
		counts_and_samples(model, periods[i], true, 1);
	}
	serves_late(model, UINT32_MAX);
	serves_late(model, 1);
	wraps(model, UINT32_MAX);
	wraps(model, 1);
	survives_freezing(model);
	if (spmu_model_describe(model).pebs_format < 0)
		return;
	CHECK(each_precise_event(model) > 0);
	samples_on_fixed(model);
	for (uint64_t seed = 0; seed < 24; seed++)
		samples_together(model, seed, seed & 1);
}

int main(void)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		unsigned before = check_failed;

		if (spmu_model_describe(spmu_model_at(i)).programming != SPMU_PROGRAM_PERFEVTSEL)
			continue; /* driver_legacy.c has it */
		RUN(check_model(spmu_model_at(i)));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(spmu_model_at(i)).name,
			       check_failed - before);
	}
	CHECK(collisions > 100);
	return test_summary();
}
