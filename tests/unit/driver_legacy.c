/* SPDX-License-Identifier: MIT */
/*
 * driver_legacy.c: the driver on the units before the architectural one, which it finds by family
 * and model alone: Pentium (Vol. 3B 18.23), P6 and Pentium M (18.22), NetBurst (18.15, with two
 * threads 18.16). Last branch records and branch traces: driver_lbr.c, driver_trace.c. Accesses
 * that fault: driver_fault.c.
 */
#include "driver_host.h"

#define NB_LOADS      0x00013508u /* front_end_event.NBOGUS ... */
#define NB_TAG_LOADS  0x00023202u /* ... of uop_type.TAGLOADS */
#define NB_TAG_STORES 0x00043202u
#define NB_COND	      0x00021204u /* retired_branch_type.CONDITIONAL */

static void make(struct host *host, const char *name)
{
	host_make_model(host, spmu_model_find(name), 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK_EQ(host->writes, 0);
}

static void start(struct host *host)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
}

static void finish(struct host *host)
{
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	host_check_totals(host);
	CHECK_EQ(spmu_driver_release(&host->driver), SPMU_OK);
	host_free(host);
}

/* --- detection --- */

static void finds(void)
{
	static const struct {
		const char *name;
		enum spmu_programming programming;
		unsigned counters;
		bool first, silent, iq, pebs, bts, lbr;
	} families[] = {
		{"pentium", SPMU_PROGRAM_CESR, 2, .silent = true},
		{"pentium-mmx", SPMU_PROGRAM_CESR, 2, .silent = true},
		{"pentium-pro", SPMU_PROGRAM_PERFEVTSEL, 2, .first = true, .lbr = true},
		{"pentium-ii", SPMU_PROGRAM_PERFEVTSEL, 2, .first = true, .lbr = true},
		{"pentium-iii", SPMU_PROGRAM_PERFEVTSEL, 2, .first = true, .lbr = true},
		{"pentium-m", SPMU_PROGRAM_PERFEVTSEL, 2, .first = true, .bts = true, .lbr = true},
		{"netburst", SPMU_PROGRAM_ESCR, 18, .iq = true, .pebs = true, .bts = true,
		 .lbr = true},
		{"prescott", SPMU_PROGRAM_ESCR, 18, .pebs = true, .bts = true, .lbr = true},
		{"cedar-mill", SPMU_PROGRAM_ESCR, 18, .pebs = true, .bts = true, .lbr = true},
	};

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		const struct spmu_facilities *f;
		struct host host;

		make(&host, families[i].name);
		f = &host.driver.facilities;
		CHECK_EQ(f->programming, families[i].programming);
		CHECK_EQ(f->perfmon_version, 0);
		CHECK_EQ(f->counters, families[i].counters);
		CHECK_EQ(f->general_set, (1u << families[i].counters) - 1);
		CHECK_EQ(f->counter_bits, 40);
		CHECK_EQ(f->fixed_set, 0);
		CHECK_EQ(f->enable_first, families[i].first);
		CHECK_EQ(f->no_interrupt, families[i].silent);
		CHECK_EQ(f->iq_escrs, families[i].iq);
		CHECK_EQ(f->pebs, families[i].pebs);
		CHECK_EQ(f->bts, families[i].bts);
		CHECK_EQ(f->lbr, families[i].lbr);
		host_free(&host);
	}
}

/* Checks 18.16: with two threads in a core, each thread has the counters of one ESCR of a pair. */
static void finds_threads(void)
{
	static const struct {
		uint32_t ebx, edx, leaf_4, set;
		unsigned thread;
	} parts[] = {
		{0x00010000, 0, 0, 0x3ffff, 0},		      /* no HTT flag */
		{0x00020000, 1u << 28, 0, 0x13333, 0},	      /* one core, two threads */
		{0x01020000, 1u << 28, 0, 0x2cccc, 1},	      /* its other thread */
		{0x01020000, 1u << 28, 1u << 26, 0x3ffff, 0}, /* two cores of one thread */
		{0x03040000, 1u << 28, 1u << 26, 0x2cccc, 1}, /* two cores of two threads */
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct host host;

		host_make_model(&host, spmu_model_find("prescott-2m"), 2);
		host.leaf_1_ebx = parts[i].ebx;
		host.leaf_1_edx = parts[i].edx;
		host.leaf_4_eax = parts[i].leaf_4;
		CHECK_EQ(host_detect(&host), SPMU_OK);
		CHECK_EQ(host.driver.facilities.general_set, parts[i].set);
		CHECK_EQ(host.driver.facilities.thread, parts[i].thread);
		host_free(&host);
	}
}

static void check_nothing(struct host *host)
{
	struct spmu_request request = {.size = sizeof(struct spmu_request),
				       .select = 0xc0 | USR,
				       .counters = 1,
				       .fixed = -1};
	unsigned slot = 77;

	CHECK_EQ(host_detect(host), SPMU_E_UNAVAILABLE);
	CHECK_EQ(host->driver.facilities.counters, 0);
	CHECK_EQ(spmu_driver_add(&host->driver, &request, &slot), SPMU_E_UNAVAILABLE);
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_E_UNAVAILABLE);
	CHECK_EQ(slot, 77);
	CHECK_EQ(host->writes, 0);
	host_free(host);
}

static void finds_nothing(void)
{
	/* Families 4, 7, 15 with an extended family, and models that do not exist or came later. */
	static const uint32_t signatures[] = {0x480, 0x700, 0x100f22, 0x6c0, 0x6e8, 0x106d0, 0xf50};
	struct host host;

	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		host_make_model(&host, spmu_model_find("netburst"), 1);
		host.signature = signatures[i];
		check_nothing(&host);
	}
	host_make_model(&host, spmu_model_find("pentium"), 1);
	host.max_leaf = 0;
	check_nothing(&host);
	host_make_model(&host, spmu_model_find("netburst"), 1);
	host.misc_enable_clear = 1u << 7; /* performance monitoring is not available */
	check_nothing(&host);
	host_make_model(&host, spmu_model_find("netburst"), 1);
	host.fault_msr = 0x1a0;
	check_nothing(&host);
	/* With IA32_MISC_ENABLE[12] and [11] counting works without PEBS and BTS. */
	host_make_model(&host, spmu_model_find("netburst"), 1);
	host.misc_enable_set = 3u << 11;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	CHECK(!host.driver.facilities.pebs && !host.driver.facilities.bts);
	host_free(&host);
}

/* --- counting --- */

/* Checks every event of the table that the host can follow, in each ring, next to another. */
static void counts(const struct spmu_model *model)
{
	unsigned counted = 0;

	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);
		struct spmu_request request;
		struct host host;
		unsigned slot;

		/* Events that only count tags have their own test. */
		if (!host_can_list(event) || !event->counters || event->pebs_counters)
			continue;
		host_make_model(&host, model, 1);
		CHECK_EQ(host_detect(&host), SPMU_OK);
		/* By row, as two events of a Pentium may have one code. */
		request = host_watch(&host, host_instructions(&host), i & 1 ? USR : USR | OS, 0,
				     false);
		host.watch[0].event = event;
		request.counters = event->counters;
		if (spmu_model_describe(model).programming == SPMU_PROGRAM_PERFEVTSEL)
			request.select = (request.select & ~UINT64_C(0xffff)) | event->code;
		else
			request.code = event->code;
		host_add(&host, &request);
		request = host_watch(&host, host_instructions(&host), OS, 0, false);
		if (spmu_driver_add(&host.driver, &request, &slot) != SPMU_OK)
			host.watches--;
		else
			host.slot[1] = slot;
		start(&host);
		for (unsigned n = 0; n < 10; n++) {
			host_run(&host, 97);
			host_check_totals(&host);
		}
		CHECK(host.watch[0].count > 10);
		finish(&host);
		counted++;
	}
	CHECK(counted >= 3);
}

static void samples(const struct spmu_model *model, uint64_t period)
{
	struct spmu_request request;
	struct host host;

	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	request = host_watch(&host, host_instructions(&host), USR, period, false);
	host_add(&host, &request);
	request = host_watch(&host, host_branches(&host), USR | OS, 13, false);
	host_add(&host, &request);
	for (unsigned round = 0; round < 3; round++) {
		start(&host);
		for (unsigned n = 0; n < 40; n++) {
			host_run(&host, 1 + host_random(&host) % 30);
			host_check_totals(&host);
		}
		CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	}
	host_check_samples(&host, 0, false, period);
	host_check_samples(&host, 1, false, 13);
	CHECK(host.takens > 3);
	finish(&host);
}

static void wraps(const struct spmu_model *model)
{
	uint32_t first = spmu_model_describe(model).programming == SPMU_PROGRAM_ESCR ? 0x300 : 0xc1;
	struct spmu_request request;
	struct host host;

	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	request = host_watch(&host, host_instructions(&host), USR, 0, false);
	host_add(&host, &request);
	start(&host);
	host_check_wraps(&host, first);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_free(&host);
}

/* --- Pentium --- */

/* Checks 18.23: no interrupt, so no period; and the only threshold is "at least one". */
static void pentium_refuses(void)
{
	struct spmu_request request, bad;
	struct host host;
	unsigned slot = 77;

	make(&host, "pentium");
	request = host_watch(&host, 0x16, USR, 0, false);
	bad = request;
	bad.period = 100;
	CHECK_EQ(spmu_driver_add(&host.driver, &bad, &slot), SPMU_E_UNAVAILABLE);
	bad = request;
	bad.precise = true;
	bad.period = 100;
	CHECK_EQ(spmu_driver_add(&host.driver, &bad, &slot), SPMU_E_UNAVAILABLE);
	for (unsigned bit = 18; bit < 32; bit++) {
		bad = request;
		bad.select |= UINT64_C(1) << bit;
		if (bit == 24)
			continue;
		CHECK_EQ(spmu_driver_add(&host.driver, &bad, &slot), SPMU_E_ARGUMENT);
	}
	bad = request;
	bad.code = 0x40;
	CHECK_EQ(spmu_driver_add(&host.driver, &bad, &slot), SPMU_E_ARGUMENT);
	CHECK_EQ(slot, 77);
	host_free(&host);
}

/* Checks 18.23.1: the fields of both counters. When stopped, both are 0. */
static void pentium_programs(void)
{
	struct spmu_request request;
	struct host host;

	make(&host, "pentium-mmx");
	request = host_watch(&host, 0x16, USR | OS, 0, false);
	host_add(&host, &request);
	request = host_watch(&host, 0x28, USR, 0, false);
	request.select |= UINT64_C(1) << 24;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x11), 0);
	start(&host);
	CHECK_EQ(host_msr(&host, 0x11), 0x2d6 | 0x3a8 << 16);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x11), 0);
	host_free(&host);
}

/* Checks that a counter may wrap if it is read often enough, or if its pin reports it (18.23.2). */
static void pentium_wraps(bool wired)
{
	const uint64_t turn = UINT64_C(1) << 40;
	struct spmu_request request;
	struct host host;
	uint64_t passed = 0;

	make(&host, "pentium");
	host.pins_wired = wired;
	request = host_watch(&host, 0x16, USR | OS, 0, false);
	host_add(&host, &request);
	start(&host);
	for (unsigned n = 0; n < 23; n++) {
		uint64_t step = turn / 5 + n;

		/* In bulk while there is headroom, one by one over the end. */
		while (step) {
			struct spmu_meter *m = &host.meters.meter[0];
			uint64_t room = m->headroom > 0 ? (uint64_t)m->headroom : 0;
			uint64_t now = room < step ? room : step;

			m->headroom -= (int64_t)now;
			passed += now;
			step -= now;
			spmu_sync(host.core);
			if (now)
				continue;
			host_run(&host, 1);
			passed++;
			step--;
		}
		if (!wired)
			CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), passed);
	}
	CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), passed);
	CHECK_EQ(host.driver.interrupts != 0, wired);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	host_free(&host);
}

/* --- P6 --- */

/* Checks 18.22.1: EN is in PerfEvtSel0 alone, whichever counters are used. */
static void p6_enables(uint32_t counters)
{
	struct spmu_request request;
	struct host host;

	make(&host, "pentium-iii");
	request = host_watch(&host, 0x00c0, USR, 0, false);
	request.counters = counters;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x186), 0);
	start(&host);
	CHECK_EQ(host_msr(&host, 0x186), counters == 1 ? 0x5100c0 : 0x400000);
	CHECK_EQ(host_msr(&host, 0x187), counters == 1 ? 0 : 0x1100c0);
	/* Further events wait for the next start. */
	request = host_watch(&host, 0x00c4, USR, 0, false);
	host_add(&host, &request);
	host_run(&host, 500);
	CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), host.watch[0].count);
	CHECK_EQ(spmu_driver_read(&host.driver, host.slot[1]), 0);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x186) & 0x400000, 0);
	host.watch[1].count = 0;
	start(&host);
	host_run(&host, 500);
	finish(&host);
}

/* --- NetBurst --- */

static struct spmu_request netburst_request(uint32_t code, uint32_t tagger, uint32_t counters)
{
	return (struct spmu_request){.size = sizeof(struct spmu_request),
				     .select = USR,
				     .code = code,
				     .tagger = tagger,
				     .counters = counters,
				     .fixed = -1};
}

static enum spmu_status try(struct host *host, uint32_t code, uint32_t tagger, uint32_t counters)
{
	struct spmu_request request = netburst_request(code, tagger, counters);
	unsigned slot;

	return spmu_driver_add(&host->driver, &request, &slot);
}

/* Checks the ESCR, the CCCR and the counter (18.15.1, 18.15.3, table 18-63). */
static void netburst_programs(void)
{
	struct spmu_request request;
	struct host host;

	make(&host, "netburst");
	request = netburst_request(NB_COND, 0, 1u << 6);
	request.select |= OS | UINT64_C(1) << 23 | UINT64_C(5) << 24; /* fewer than five */
	request.period = 1000;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x3c3), 0x0800040c); /* TBPU_ESCR1: 4, mask bit 1, T0 */
	CHECK_EQ(host_msr(&host, 0x366), 0x044f4000); /* PMI, 4, COMPLEMENT, COMPARE, any, 2 */
	CHECK_EQ(host_msr(&host, 0x306), (UINT64_C(1) << 40) - 1000);
	start(&host);
	CHECK_EQ(host_msr(&host, 0x366), 0x044f5000);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x366), 0);
	CHECK_EQ(host_msr(&host, 0x3c3), 0);
	/* Edge alone: of one or more. */
	request.select = USR | 1u << 18;
	host_add(&host, &request);
	CHECK_EQ(host_msr(&host, 0x366), 0x05074000);
	host_free(&host);
}

/* Checks counters 8 to 11 and their ESCRs, by x87 operations (19.15). */
static void netburst_counts_x87(void)
{
	for (unsigned counter = 8; counter < 12; counter++) {
		struct spmu_request request = netburst_request(0x80002104, 0, 1u << counter);
		struct spmu_insn insn = {
			.ip = HOST_CODE,
			.next_ip = HOST_CODE + 2,
			.signals = SPMU_SIGBIT(INSTRUCTIONS) | SPMU_SIGBIT(X87),
			.cycles = 1,
			.cpl = 3,
		};
		struct host host;

		make(&host, "netburst");
		host_add(&host, &request);
		start(&host);
		for (unsigned n = 0; n < 9; n++)
			spmu_retire(host.core, 0, &insn);
		CHECK_EQ(spmu_driver_read(&host.driver, host.slot[0]), 9);
		host_free(&host);
	}
}

/* Checks that two counters share an ESCR for the same event, but not for two events. */
static void netburst_shares(void)
{
	const uint32_t branches = 0x000f3506, taken = 0x000c3506, clears = 0x00013502;
	struct host host;

	make(&host, "netburst");
	CHECK_EQ(try(&host, branches, 0, 0x01000), SPMU_OK);
	CHECK_EQ(try(&host, taken, 0, 0x13000), SPMU_E_COUNTER);
	CHECK_EQ(try(&host, branches, 0, 0x13000), SPMU_OK);
	CHECK_EQ(try(&host, taken, 0, 0x3f000), SPMU_OK);
	CHECK_EQ(try(&host, clears, 0, 0x3f000), SPMU_E_COUNTER);
	/* They have other ESCRs. */
	CHECK_EQ(try(&host, 0x00013402, 0, 0x3f000), SPMU_OK);
	CHECK_EQ(try(&host, NB_COND, 0, 0x000f0), SPMU_OK);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	for (uint32_t msr = 0x360; msr < 0x3e2; msr++) {
		uint64_t value = 0;

		if (spmu_read_msr(host.core, 0, msr, &value) == SPMU_DONE)
			CHECK_EQ(value, 0);
	}
	/* IQ_ESCR0 and 1 are gone from model 3 on. */
	CHECK_EQ(try(&host, 0x00013001, 0, 0x3f000), SPMU_OK);
	host_free(&host);
	make(&host, "prescott");
	CHECK_EQ(try(&host, 0x00013001, 0, 0x3f000), SPMU_E_ARGUMENT);
	host_free(&host);
}

/*
 * Checks 18.15.6: one way to tag in the front end, execution tags by values, and untagged
 * instructions.
 */
static void netburst_tags(void)
{
	const uint32_t execution = 0x0000350c, packed = 0x8000210c;
	struct host host;

	make(&host, "netburst");
	CHECK_EQ(try(&host, NB_LOADS, NB_TAG_LOADS, 0x3f000), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x3bc) | host_msr(&host, 0x3bd), 0x04000404);
	CHECK_EQ(try(&host, NB_LOADS, NB_TAG_STORES, 0x3f000), SPMU_E_COUNTER);
	CHECK_EQ(try(&host, NB_LOADS, NB_TAG_LOADS, 0x3f000), SPMU_OK);
	CHECK_EQ(try(&host, 0x00013402, 0, 0x3f000), SPMU_E_COUNTER);
	CHECK_EQ(try(&host, 0x00033402, 0, 0x3f000), SPMU_OK);
	CHECK_EQ(try(&host, NB_LOADS, 0x8000210c, 0x3f000), SPMU_E_ARGUMENT);
	CHECK_EQ(try(&host, 0x00013402, NB_TAG_LOADS, 0x3f000), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x3bc) | host_msr(&host, 0x3bd), 0);

	CHECK_EQ(try(&host, execution | 1u << 16, packed, 0x01000), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x3a4) | host_msr(&host, 0x3a5), 0x19000034 | 0x8000u << 9);
	CHECK_EQ(try(&host, execution | 1u << 16, 0x8000210e, 0x04000), SPMU_E_COUNTER);
	CHECK_EQ(try(&host, execution | 2u << 16, 0x8000210e, 0x04000), SPMU_OK);
	CHECK_EQ(try(&host, execution | 0x10u << 16, packed, 0x04000), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);

	/* A metric of replays: first-level misses. */
	CHECK_EQ(try(&host, 0x00013509, 0x01000001, 0x3f000), SPMU_OK);
	CHECK_EQ(try(&host, 0x00013509, 0x02000004, 0x3f000), SPMU_E_COUNTER);
	CHECK_EQ(host_msr(&host, 0x3f2), 1);
	start(&host);
	CHECK_EQ(host_msr(&host, 0x3f1), 0x01000001);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x3f1), 0);
	host_free(&host);
}

/* Checks tagged events, counted and as PEBS records of MSR_IQ_COUNTER4 (18.15.7). */
static void netburst_counts_tagged(const char *name, uint32_t tagger, uint64_t signal,
				   uint64_t period, unsigned threshold)
{
	const struct spmu_event tagged = {.signals = signal};
	struct spmu_request request;
	struct host host;

	make(&host, name);
	CHECK_EQ(host_setup_ds(&host.driver, host.area, HOST_AREA, host_area_bytes(&host, 20),
			       threshold),
		 SPMU_OK);
	request = host_watch(&host, NB_LOADS, USR, period, period != 0);
	request.tagger = tagger;
	request.counters = 0x3f000;
	host.watch[0].event = &tagged;
	host_add(&host, &request);
	if (period)
		CHECK_EQ(host.driver.counter[host.slot[0]].index, 16);
	for (unsigned round = 0; round < 3; round++) {
		start(&host);
		if (period)
			CHECK_EQ(host_msr(&host, 0x3f1), 1u << 25);
		for (unsigned n = 0; n < 50; n++) {
			host_run(&host, 1 + host_random(&host) % 60);
			host_check_totals(&host);
		}
		CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
		CHECK_EQ(host_msr(&host, 0x370) & 1u << 12, 0);
		spmu_driver_drain(&host.driver);
	}
	if (period)
		host_check_samples(&host, 0, true, period);
	CHECK_EQ(host.driver.interrupts != 0, period != 0);
	CHECK(host.watch[0].count > 100);
	finish(&host);
}

/*
 * Checks 18.16: thread 1's driver selects by T1's flags, gets its own interrupt, and has
 * IQ_COUNTER5.
 */
static void netburst_second_thread(void)
{
	struct spmu_request request;
	struct host host;

	host_make_model(&host, spmu_model_find("prescott-2m"), 2);
	host.lp = 1;
	host.leaf_1_ebx = 0x01020000;
	host.leaf_1_edx = 1u << 28;
	CHECK_EQ(host_detect(&host), SPMU_OK);
	CHECK_EQ(host_setup_ds(&host.driver, host.area, HOST_AREA, host_area_bytes(&host, 20), 3),
		 SPMU_OK);
	request = host_watch(&host, host_branches(&host), USR, 31, false);
	host_add(&host, &request);
	CHECK_EQ(host.driver.counter[host.slot[0]].index, 14);
	CHECK_EQ(host_msr(&host, 0x3cd), 0x0c001e01);
	CHECK_EQ(host_msr(&host, 0x36e), 0x0803a000);
	start(&host);
	host_run(&host, 3000);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	host_check_samples(&host, 0, false, 31);
	CHECK(host.takens > 10);
	CHECK_EQ(spmu_driver_release(&host.driver), SPMU_OK);
	request = netburst_request(NB_LOADS, NB_TAG_LOADS, 0x30000);
	request.precise = true;
	request.period = 9;
	host_add(&host, &request);
	CHECK_EQ(host.driver.counter[host.slot[0]].index, 17);
	host.takens = 0;
	start(&host);
	host_run(&host, 3000);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	spmu_driver_drain(&host.driver);
	CHECK(host.takens > 30);
	host_free(&host);
}

static void check_model(const struct spmu_model *model)
{
	static const uint64_t periods[] = {2, 3, 10, 97};

	counts(model);
	if (spmu_model_describe(model).programming == SPMU_PROGRAM_CESR)
		return;
	for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
		samples(model, periods[i]);
	wraps(model);
}

int main(void)
{
	static const char *const netbursts[] = {"netburst", "prescott", "cedar-mill"};

	RUN(finds());
	RUN(finds_threads());
	RUN(finds_nothing());
	for (size_t i = 0; i < spmu_model_count(); i++) {
		unsigned before = check_failed;

		if (spmu_model_describe(spmu_model_at(i)).perfmon_version)
			continue;
		RUN(check_model(spmu_model_at(i)));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(spmu_model_at(i)).name,
			       check_failed - before);
	}
	RUN(pentium_refuses());
	RUN(pentium_programs());
	RUN(pentium_wraps(false));
	RUN(pentium_wraps(true));
	RUN(p6_enables(1));
	RUN(p6_enables(2));
	RUN(netburst_programs());
	RUN(netburst_counts_x87());
	RUN(netburst_shares());
	RUN(netburst_tags());
	for (unsigned i = 0; i < sizeof(netbursts) / sizeof(netbursts[0]); i++) {
		for (uint64_t period = 0; period < 30; period += 7) {
			RUN(netburst_counts_tagged(netbursts[i], NB_TAG_LOADS, SPMU_SIGBIT(LOADS),
						   period, (unsigned)period % 4));
			RUN(netburst_counts_tagged(netbursts[i], NB_TAG_STORES, SPMU_SIGBIT(STORES),
						   period, (unsigned)period % 5));
		}
	}
	RUN(netburst_second_thread());
	return test_summary();
}
