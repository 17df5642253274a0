/* SPDX-License-Identifier: MIT */
/*
 * driver_cascade.c: NetBurst's counters that start each other, as the driver uses them to sample
 * (Vol. 3B 18.15.5.6, 18.15.5.7; FORCE_OVF and OVF_PMI: 18.15.3). The tests check which counters
 * can do it, the contents of their registers, and each sample against the host's own lists of
 * occurrences.
 */
#include "driver_host.h"

#define CCCR_ENABLE (UINT64_C(1) << 12)
#define WAITING	    (UINT64_C(1) << 25) /* FORCE_OVF of a counter that another starts */
#define CASCADE	    (UINT64_C(1) << 30)
#define EXTENDED    (UINT64_C(1) << 11)
#define PMI_T0	    (UINT64_C(1) << 26)

static void make(struct host *host, const char *name)
{
	host_make_model(host, spmu_model_find(name), 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
}

/* Returns a request for an event that each counter of a block can take (table 18-63). */
static struct spmu_request on(unsigned counter)
{
	static const uint32_t events[] = {0x00010613, 0x00021204, 0x80002104, 0x00033402,
					  0x00033402};

	return (struct spmu_request){.size = sizeof(struct spmu_request),
				     .select = USR,
				     .code = events[counter / 4],
				     .counters = 1u << counter,
				     .fixed = -1};
}

/*
 * Returns the bit that starts `to` after `from`: CASCADE between the pairs of a block, in IQ to the
 * third pair alone, and bit 11 from there.
 */
static uint64_t link_of(unsigned from, unsigned to, bool extended)
{
	static const uint8_t plain[][2] = {{0, 2},   {2, 0},   {1, 3},	 {3, 1},   {4, 6},
					   {6, 4},   {5, 7},   {7, 5},	 {8, 10},  {10, 8},
					   {9, 11},  {11, 9},  {12, 14}, {14, 12}, {13, 15},
					   {15, 13}, {14, 16}, {15, 17}};
	static const uint8_t third[][2] = {{16, 12}, {17, 15}, {17, 16}, {16, 17}};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i][0] == from && plain[i][1] == to)
			return CASCADE;
	for (size_t i = 0; extended && i < sizeof(third) / sizeof(third[0]); i++)
		if (third[i][0] == from && third[i][1] == to)
			return EXTENDED;
	return 0;
}

static void links(const char *name, uint32_t signature, bool extended)
{
	for (unsigned n = 0; n < 18 * 18; n++) {
		unsigned from = n / 18, to = n % 18, slots[2] = {77, 77};
		uint64_t link = link_of(from, to, extended);
		struct spmu_request starter = on(from), request = on(to);
		struct host host;

		host_make_model(&host, spmu_model_find(name), 1);
		host.signature = signature;
		CHECK_EQ(host_detect(&host), SPMU_OK);
		starter.period = 100;
		CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots),
			 link ? SPMU_OK : SPMU_E_COUNTER);
		if (link) {
			uint64_t flags = WAITING | CASCADE | EXTENDED | PMI_T0 | CCCR_ENABLE;

			CHECK_EQ(host_msr(&host, 0x360 + from) & flags, 0);
			CHECK_EQ(host_msr(&host, 0x360 + to) & flags, WAITING | PMI_T0 | link);
			CHECK_EQ(host_msr(&host, 0x300 + from), (UINT64_C(1) << 40) - 100);
			CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
			CHECK_EQ(host_msr(&host, 0x360 + from) & flags, CCCR_ENABLE);
			CHECK_EQ(host_msr(&host, 0x360 + to) & flags, WAITING | PMI_T0 | link);
			CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
		} else {
			CHECK_EQ(slots[0], 77);
		}
		for (uint32_t msr = 0x360; msr < 0x372; msr++)
			CHECK_EQ(host_msr(&host, msr), 0);
		host_free(&host);
	}
}

static uint64_t upto(const struct watch *w, uint64_t ip)
{
	uint64_t n = 0, end = w->count;

	while (n < end) {
		uint64_t middle = (n + end) / 2;

		if (w->ip[middle] <= ip)
			n = middle + 1;
		else
			end = middle;
	}
	return n;
}

/*
 * Checks samples of watch 1, which watch 0 starts. A sample comes with the second occurrence after
 * the start, or earlier if another interrupt comes between the two.
 */
static void check_cascade(const struct host *host, uint64_t period, bool alone)
{
	const struct watch *starter = &host->watch[0], *w = &host->watch[1];
	uint64_t start = period, samples = 0;

	for (uint64_t i = 0; i < host->takens; i++) {
		const struct taken *t = &host->taken[i];
		uint64_t first, seen;

		if (t->tag != 1)
			continue;
		samples++;
		if (!CHECK(start <= starter->count))
			return;
		first = upto(w, starter->ip[start - 1]);
		if (!CHECK(first < w->count))
			return;
		if (alone && CHECK(first + 1 < w->count))
			CHECK_EQ(t->rip, w->ip[first + 1] + 4);
		CHECK(t->rip > w->ip[first]);
		if (first + 1 < w->count)
			CHECK(t->rip <= w->ip[first + 1] + 4);
		CHECK_EQ(t->period, period);
		CHECK(!t->precise);
		seen = upto(starter, t->rip - 4);
		start = seen - start < period ? start + period : seen + period;
	}
	CHECK(samples > 3);
	CHECK(start > starter->count || upto(w, starter->ip[start - 1]) + 1 >= w->count);
}

static void samples(const char *name, uint64_t starting, uint64_t started, uint64_t period,
		    uint64_t other)
{
	struct spmu_request starter, request;
	struct host host;
	unsigned slots[2];
	struct spmu_meters list;

	make(&host, name);
	starter = host_watch(&host, host_event(&host, starting), USR | OS, period, false);
	request = host_watch(&host, host_event(&host, started), USR, 0, false);
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots), SPMU_OK);
	host.slot[0] = slots[0];
	host.slot[1] = slots[1];
	if (other) {
		request = host_watch(&host, host_branches(&host), USR, other, false);
		host_add(&host, &request);
	}
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	list = host.meters;
	for (unsigned n = 0; n < 300; n++) {
		host_run(&host, 1 + host_random(&host) % 30);
		CHECK_EQ(spmu_driver_read(&host.driver, slots[0]), host.watch[0].count);
		if (n % 7 == 0) {
			CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
			CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
		}
		/*
		 * The host's code contains the list, so cascades must start and stop without a new
		 * list.
		 */
		CHECK_EQ(host.meters.count, list.count);
		for (unsigned m = 0; m < list.count; m++) {
			CHECK_EQ(host.meters.meter[m].signals, list.meter[m].signals);
			CHECK_EQ(host.meters.meter[m].rings, list.meter[m].rings);
		}
	}
	check_cascade(&host, period, !other);
	if (other)
		host_check_samples(&host, 2, false, other);
	CHECK(spmu_driver_read(&host.driver, slots[1]) < host.watch[1].count);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_free(&host);
}

/*
 * Checks a stop: by 18.15.5.5 the starter's OVF keeps the other counter counting although its
 * ENABLE flag is 0. While stopped, the driver holds that counter by its own bit. After a start it
 * continues, as its sample has not come yet.
 */
static void stops(void)
{
	struct spmu_request starter, request;
	struct host host;
	unsigned slots[2], pmis;
	uint64_t total;

	make(&host, "prescott");
	starter = host_watch(&host, host_instructions(&host), USR | OS, 5, false);
	request =
		host_watch(&host, host_event(&host, SPMU_SIGBIT(COND_NTAKEN)), USR | OS, 0, false);
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots), SPMU_OK);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 5);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	pmis = host.pmis;
	total = spmu_driver_read(&host.driver, slots[1]);
	host_run(&host, 1000);
	CHECK(host.watch[1].count > 2);
	CHECK_EQ(host.pmis, pmis);
	CHECK_EQ(spmu_driver_read(&host.driver, slots[1]), total);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	host_run(&host, 1000);
	CHECK(host.takens > 0);
	host_free(&host);
}

/* Checks that the period is changed through the starter's slot. */
static void changes_period(void)
{
	struct spmu_request starter, request;
	struct host host;
	unsigned slots[2];

	make(&host, "prescott");
	starter = host_watch(&host, host_instructions(&host), USR | OS, 50, false);
	request = host_watch(&host, host_branches(&host), USR | OS, 0, false);
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots), SPMU_OK);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_set_period(&host.driver, slots[1], 20), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_set_period(&host.driver, slots[0], 20), SPMU_OK);
	host_run(&host, 400);
	CHECK(host.takens > 10);
	CHECK_EQ(host.taken[0].period, 50);
	CHECK_EQ(host.taken[1].period, 20);
	host_free(&host);
}

static void refuses(void)
{
	struct spmu_request starter = on(12), request = on(14), bad;
	struct host host;
	unsigned slots[2] = {77, 77};

	make(&host, "prescott");
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots), SPMU_E_ARGUMENT);
	starter.period = 9;
	bad = request;
	bad.period = 9;
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &bad, slots), SPMU_E_ARGUMENT);
	bad = request;
	bad.precise = true;
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &bad, slots), SPMU_E_ARGUMENT);
	bad = starter;
	bad.period = UINT64_C(1) << 40;
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &bad, &request, slots), SPMU_E_ARGUMENT);
	/* If one of the two requests finds no counter, the other gets none either. */
	CHECK_EQ(spmu_driver_add(&host.driver, &request, &slots[1]), SPMU_OK);
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots), SPMU_E_COUNTER);
	CHECK_EQ(host_msr(&host, 0x36c), 0);
	CHECK_EQ(slots[0], 77);
	host_free(&host);
	make(&host, "pentium-iii");
	CHECK_EQ(spmu_driver_add_cascade(&host.driver, &starter, &request, slots),
		 SPMU_E_UNAVAILABLE);
	host_free(&host);
}

int main(void)
{
	static const char *const models[] = {"netburst", "prescott", "cedar-mill"};
	const uint64_t conditional = SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN);
	static const uint64_t periods[] = {1, 2, 7, 30, 97};

	RUN(links("netburst", 0xf12, false));
	RUN(links("netburst", 0xf29, true));
	RUN(links("prescott", 0xf34, true));
	for (unsigned i = 0; i < 15; i++) {
		const char *model = models[i % 3];
		uint64_t period = periods[i / 3];

		RUN(samples(model, SPMU_SIGBIT(INSTRUCTIONS), SPMU_SIGSET_BRANCHES, period, 0));
		RUN(samples(model, SPMU_SIGBIT(INSTRUCTIONS), SPMU_SIGBIT(COND_NTAKEN), period,
			    13));
		RUN(samples(model, SPMU_SIGSET_BRANCHES, SPMU_SIGBIT(INSTRUCTIONS), period, 0));
		RUN(samples(model, conditional, SPMU_SIGBIT(RET_NEAR), period, 0));
		RUN(samples(model, SPMU_SIGBIT(RET_NEAR), conditional, period, 11));
	}
	RUN(stops());
	RUN(changes_period());
	RUN(refuses());
	return test_summary();
}
