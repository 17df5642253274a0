/* SPDX-License-Identifier: MIT */
/*
 * driver_check.h: comparisons of the driver's results with the host's own lists: samples and
 * totals. It also tells which events those lists can follow.
 */
#ifndef SOFTPMU_TESTS_DRIVER_CHECK_H
#define SOFTPMU_TESTS_DRIVER_CHECK_H

#include "driver_host.h"

/*
 * Checks a sample of the instruction at `ip` and the registers at that time. Formats 0 and 1 do not
 * hold the address of the instruction. Formats 0 to 2 do not hold the time; the sample has the time
 * of the interrupt.
 */
static inline void host_check_sample(const struct host *host, const struct taken *t, uint64_t ip)
{
	unsigned format = t->precise ? host->driver.facilities.pebs_format : 0;

	CHECK_EQ(t->rip, ip + 4);
	CHECK_EQ(t->rax, (ip - HOST_CODE) / 4);
	if (t->precise)
		CHECK_EQ(t->eventing_ip, format < 2 ? 0 : ip);
	CHECK_EQ(t->ip, format < 2 ? ip + 4 : ip);
	if (!t->precise || format >= 3)
		CHECK_EQ(t->tsc, 3 * (t->rax + 1));
	else
		CHECK(t->tsc >= 3 * (t->rax + 1));
}

/*
 * Returns the occurrences between records. With precise distribution the record is of the one that
 * overflows (18.9.4.4).
 */
static inline uint64_t host_distance(const struct host *host, unsigned tag, bool precise,
				     uint64_t period)
{
	unsigned slot = host->slot[tag], format = host->driver.facilities.pebs_format;
	const struct spmu_request *request = &host->driver.counter[slot].request;
	bool pdir = host->driver.counter[slot].fixed
			    ? format >= 4 && host->driver.counter[slot].index == 0
			    : host->driver.facilities.perfmon_version &&
				      host->driver.counter[slot].index == 1 && format < 4 &&
				      (request->select & 0xffff) == 0x01c0;

	/* 18.7.1.2: Goldmont and Goldmont Plus, any event on PMC0. */
	if (!strncmp(spmu_model_describe(host->model).name, "goldmont", 8))
		pdir = !host->driver.counter[slot].fixed && host->driver.counter[slot].index == 0;
	/* 12th generation Core, PDist: the same, and fixed counter 0. Lion Cove: PMC1, too. */
	if (host->driver.lbr_layout && host->driver.lbr_layout->format == SPMU_LBR_ARCHITECTURAL)
		pdir = host->driver.counter[slot].index == 0 ||
		       (host->driver.facilities.perfmon_version == 6 &&
			!host->driver.counter[slot].fixed && host->driver.counter[slot].index == 1);
	return precise && !pdir ? period + 1 : period;
}

/*
 * Checks that the samples of one watch are at every distance-th occurrence, with none missing and
 * none added. NetBurst interrupts at the occurrence after the overflow, or when another interrupt
 * comes before (18.15.3).
 */
static inline void host_check_samples(struct host *host, unsigned tag, bool precise,
				      uint64_t period)
{
	const struct watch *w = &host->watch[tag];
	bool late = !precise && host->driver.facilities.programming == SPMU_PROGRAM_ESCR;
	uint64_t distance = host_distance(host, tag, precise, period), samples = 0;

	for (uint64_t i = 0; i < host->takens; i++) {
		const struct taken *t = &host->taken[i];

		if (t->tag != tag)
			continue;
		samples++;
		if (!CHECK(samples * distance <= w->count))
			return;
		if (late)
			CHECK(t->rip > w->ip[samples * distance - 1] &&
			      (samples * distance == w->count ||
			       t->rip <= w->ip[samples * distance] + 4));
		else
			host_check_sample(host, t, w->ip[samples * distance - 1]);
		CHECK_EQ(t->precise, precise);
		CHECK_EQ(t->period, period);
	}
	CHECK(samples == w->count / distance || (late && samples == (w->count - 1) / distance));
}

/* Signals that the program of host_next() produces. An instruction has one of each pair. */
#define HOST_BRANCHES                                                                              \
	(SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN) | SPMU_SIGBIT(CALL_REL) |              \
	 SPMU_SIGBIT(RET_NEAR))

/*
 * Returns true if host_list() can follow an event of the table. It must occur at most once in an
 * instruction, and not depend on how a branch was predicted, which that host does not tell.
 */
static inline bool host_can_list(const struct spmu_event *event)
{
	uint64_t made = event->signals & (SPMU_SIGBIT(INSTRUCTIONS) | HOST_BRANCHES |
					  SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));

	if (event->signals & (SPMU_SIGBIT(BRANCH_MISS) | SPMU_SIGBIT(BRANCH_PREDICTED)))
		return false;
	return made == SPMU_SIGBIT(INSTRUCTIONS) || made == SPMU_SIGBIT(LOADS) ||
	       made == SPMU_SIGBIT(STORES) || (made && !(made & ~HOST_BRANCHES));
}

/* Returns how much too high a total can be: each collision before format 3 can add one. */
static inline uint64_t host_uncertain(const struct host *host)
{
	const struct spmu_driver *driver = &host->driver;
	struct spmu_ds_area area;

	if (driver->facilities.pebs_format >= 3 || !(driver->pebs_bits & (driver->pebs_bits - 1)))
		return 0;
	CHECK_EQ(spmu_ds_decode(driver->layout, driver->area, driver->area_bytes, &area), SPMU_OK);
	return driver->collisions +
	       (area.pebs_index - driver->pebs_base) / spmu_pebs_record_bytes(driver->layout, 0);
}

/* Checks the present totals of all watches. */
static inline void host_check_totals(struct host *host)
{
	for (unsigned i = 0; i < host->watches; i++) {
		uint64_t total = spmu_driver_read(&host->driver, host->slot[i]);
		bool precise = host->driver.counter[host->slot[i]].request.precise;
		uint64_t uncertain = precise ? host_uncertain(host) : 0;

		if (uncertain)
			CHECK(total >= host->watch[i].count &&
			      total - host->watch[i].count <= uncertain);
		else
			CHECK_EQ(total, host->watch[i].count);
	}
}

/*
 * Checks that a counter that only counts goes through its end and interrupts the service routine.
 * The test moves the counter of slot 0 to just before. Counter 0 is the register `first`. P6's and
 * architectural ones take the low 32 bits and extend bit 31.
 */
static inline void host_check_wraps(struct host *host, uint32_t first)
{
	uint64_t end = UINT64_C(1) << spmu_model_describe(host->model).counter_bits, moved = 0;
	uint32_t counter = first + host->driver.counter[host->slot[0]].index;

	for (unsigned round = 0; round < 5; round++) {
		moved += end - 50 - host_msr(host, counter);
		CHECK_EQ(spmu_write_msr(host->core, 0, counter, end - 50), SPMU_DONE);
		for (unsigned n = 0; n < 10; n++) {
			host_run(host, 20);
			CHECK_EQ(spmu_driver_read(&host->driver, host->slot[0]),
				 host->watch[0].count + moved);
		}
	}
	CHECK_EQ(host->driver.interrupts, 5);
}

#endif
