/* SPDX-License-Identifier: MIT */
/*
 * counting.c: retires single instructions exactly, and reports the counts to the tool.
 */
#include <softpmu/uarch_time.h>

#include "engine/count/accesses.h"
#include "engine/count/activity.h"
#include "engine/count/client.h"
#include "engine/count/costs.h"
#include "engine/count/count.h"
#include "engine/count/event_set.h"
#include "engine/count/flow.h"
#include "engine/count/meter_list.h"
#include "engine/count/opened.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static void retire_in_units(const struct spmu_insn *insn)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->set.units; u++)
		spmu_retire(c->unit[u].core, 0, insn);
}

/*
 * Adds what a model of the machine counts for the instruction.  An instruction has a signal at most
 * once, so further occurrences go first, as instructions that have nothing else.  The function is
 * not inline, because setting the outcome to 0 takes time.
 */
static __attribute__((noinline)) void add_activity(struct spmu_insn *insn, uint64_t next_ip)
{
	struct activity_outcome outcome = {0};

	activity_retire(insn->ip, next_ip, &outcome);
	insn->tallies = outcome.tally;
	insn->tally_count = outcome.tallies;
	insn->latency = outcome.latency;
	insn->data_source = outcome.data_source;
	insn->store_source = outcome.store_source;
	for (uint64_t set = outcome.signals; set; set &= set - 1) {
		struct spmu_insn again = {
			.ip = insn->ip,
			.next_ip = next_ip,
			.signals = set & -set,
			.accesses = insn->accesses,
			.access_count = insn->access_count,
			.latency = insn->latency,
			.data_source = insn->data_source,
			.store_source = insn->store_source,
			.cpl = insn->cpl,
		};

		for (uint32_t n = outcome.times[__builtin_ctzll(set)]; n > 1; n--)
			retire_in_units(&again);
	}
	insn->signals |= outcome.signals;
}

/* Lets clocks pass on meters of clocks.  Returns false if one of them has not so much headroom. */
static bool pass_clocks(unsigned clocks)
{
	struct counting *c = current->counting;

	for (unsigned m = 0; m < current->list->meters; m++)
		if (meter_counts_clocks(m) && c->meter[m].unit->headroom < clocks)
			return false;
	for (unsigned m = 0; m < current->list->meters; m++)
		if (meter_counts_clocks(m))
			c->meter[m].unit->headroom -= clocks;
	return true;
}

/*
 * Returns how many core clocks pass until the instruction of a step retires.  If a unit must act in
 * them, they are reported to the units, and then the instruction retires in the last of them.
 */
static unsigned clocks_of_step(void)
{
	struct counting *c = current->counting;
	unsigned parts, clocks;

	if (!engine_link->static_clocks)
		return SPMU_CLOCKS_UNMODELLED;
	parts = c->clock_parts + c->step_parts;
	clocks = parts / SPMU_CLOCK_PARTS;
	c->clock_parts = parts % SPMU_CLOCK_PARTS;
	if (pass_clocks(clocks))
		return clocks;
	for (unsigned u = 0; u < c->set.units; u++)
		spmu_clocks(c->unit[u].core, 0, SPMU_SIGSET_CLOCKS, clocks, 3);
	return 0;
}

void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals, const struct accesses *list)
{
	struct counting *c = current->counting;
	struct spmu_insn insn = {
		.ip = ip,
		.next_ip = signals & SPMU_SIGBIT(FAR) ? 0 : next_ip,
		.signals = signals,
		.accesses = list ? list->at : NULL,
		.access_count = list ? (uint16_t)list->n : 0,
		.cpl = 3,
	};

	c->now_next_ip = next_ip;
	if (current->list->flow)
		flow_begin_step(ip);
	if (current->list->activity)
		add_activity(&insn, next_ip);
	insn.cycles = clocks_of_step();
	if (windows_wanted())
		c->window.headroom--;
	retire_in_units(&insn);
	if (current->list->flow)
		flow_retire(ip, next_ip, signals);
	interrupts_service();
}

/* Returns whether the instruction is within the headroom.  Then it is only subtracted, as
 * translated code does. */
static bool passes(uint64_t signals)
{
	struct counting *c = current->counting;

	for (unsigned m = 0; m < current->list->meters; m++)
		if (c->meter[m].unit->headroom < meter_occurrences(m, signals))
			return false;
	for (unsigned m = 0; m < current->list->meters; m++)
		c->meter[m].unit->headroom -= meter_occurrences(m, signals);
	return true;
}

void counting_retire_plain(uint64_t ip, uint64_t next_ip, uint64_t signals)
{
	if (current->list->clocks || !passes(signals))
		counting_retire(ip, next_ip, signals, NULL);
}

/* Does anything ask the units for records? */
static bool makes_records(void)
{
	for (unsigned e = 0; e < engine_link->events; e++)
		if (engine_link->event[e].period || engine_link->event[e].frequency)
			return true;
	return engine_link->want & LINK_WANT_BTS;
}

void counting_drain(void)
{
	struct counting *c = current->counting;
	enum counting_mode before;

	flow_drain();
	if (!current->counts || !makes_records())
		return; /* not yet, or never */
	before = c->mode;
	shards_set_mode(COUNTING_PRECISE);
	for (unsigned u = 0; u < c->set.units; u++) {
		if (!c->unit[u].driver.running)
			continue;
		if (spmu_driver_stop(&c->unit[u].driver) != SPMU_OK)
			continue;
		spmu_driver_drain(&c->unit[u].driver);
		if (spmu_driver_start(&c->unit[u].driver) != SPMU_OK)
			engine_unsupported("the unit did not start again");
	}
	shards_set_mode(before);
}

/* Adds what the thread has counted of an event since the last time to the shared memory.  Returns
 * that number.  Several processes may do so at a time. */
static uint64_t publish_event(unsigned e)
{
	struct counting *c = current->counting;
	uint64_t n = counting_of(c, e), new = n - c->event[e].published;

	__atomic_add_fetch(&engine_link->count[e], new, __ATOMIC_RELAXED);
	c->event[e].published = n;
	return new;
}

/* Adds the counts to the shared memory, and tells the tool what the thread has counted, if it wants
 * that. */
static void publish(void)
{
	struct link_counts r = {
		.header = {LINK_REC_COUNTS, sizeof(r)},
		.pid = current->pid,
		.tid = current->tid,
		.tsc = read_tsc(),
	};

	for (unsigned e = 0; e < engine_link->events && current->observed; e++)
		r.count[e] = publish_event(e);
	client_publish();
	costs_publish();
	if (engine_link->want & LINK_WANT_PER_THREAD)
		ring_write(&r.header);
}

void counting_publish(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_drain();
	shards_set_mode(COUNTING_PRECISE);
	windows_settle();
	publish();
	opened_publish();
	shards_set_mode(before);
}

void counting_publish_interval(void)
{
	enum counting_mode before;

	if (!(engine_link->want & LINK_WANT_INTERVALS) || !current->counts)
		return;
	before = counting_mode_now();
	shards_set_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events && current->observed; e++)
		publish_event(e);
	shards_set_mode(before);
}

void counting_skip(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	shards_set_mode(COUNTING_PRECISE);
	windows_settle();
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].published = counting_of(c, e);
	shards_set_mode(before);
}

uint64_t counting_first(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;
	uint64_t n = 0;

	shards_set_mode(COUNTING_PRECISE);
	if (engine_link->events)
		n = counting_of(c, 0);
	shards_set_mode(before);
	return n;
}

enum counting_mode counting_mode_now(void)
{
	struct counting *c = current->counting;

	return c->mode;
}

void counting_finish(void)
{
	struct counting *c = current->counting;

	shards_set_mode(COUNTING_PRECISE);
	windows_settle();
	if (engine_is_first_process())
		engine_link->tsc_end = read_tsc();
	for (unsigned u = 0; u < c->set.units; u++) {
		if (makes_records() && c->unit[u].driver.running &&
		    spmu_driver_stop(&c->unit[u].driver) == SPMU_OK)
			spmu_driver_drain(&c->unit[u].driver);
		__atomic_add_fetch(&engine_link->interrupts, c->unit[u].driver.interrupts,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->records, c->unit[u].driver.records,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->buffer_full, c->unit[u].driver.buffer_full,
				   __ATOMIC_RELAXED);
	}
	flow_end();
	publish();
	branches_end();
	engine_link->units = c->set.units;
}
