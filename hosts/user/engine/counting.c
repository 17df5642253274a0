/* SPDX-License-Identifier: MIT */
/*
 * counting.c: instructions that retire exactly, and what the tool is told of the counts.
 */
#include "sys.h"
#include "units.h"

void counting_interrupts(void)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->units; u++)
		while (c->unit[u].interrupt_due) {
			c->unit[u].interrupt_due = false;
			spmu_driver_interrupt(&c->unit[u].driver);
		}
}

void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals,
		     const struct insn_addresses *at)
{
	struct counting *c = current->counting;
	struct spmu_insn insn = {
		.ip = ip,
		.next_ip = signals & SPMU_SIGBIT(FAR) ? 0 : next_ip,
		.signals = signals,
		.data_address = at ? at->data : 0,
		.store_address = at ? at->store : 0,
		.cycles = 1,
		.cpl = 3,
	};

	c->now_next_ip = next_ip;
	for (unsigned u = 0; u < c->units; u++)
		spmu_retire(c->unit[u].core, 0, &insn);
	counting_interrupts();
}

/* Within the headroom it is only subtracted, as translated code does. */
static bool passes(uint64_t signals)
{
	struct counting *c = current->counting;

	for (unsigned m = 0; m < meters; m++)
		if (c->meter[m].unit->headroom < meter_occurrences(m, signals))
			return false;
	for (unsigned m = 0; m < meters; m++)
		c->meter[m].unit->headroom -= meter_occurrences(m, signals);
	return true;
}

void counting_retire_plain(uint64_t ip, uint64_t next_ip, uint64_t signals)
{
	if (!passes(signals))
		counting_retire(ip, next_ip, signals, NULL);
}

void counting_drain(void)
{
	struct counting *c = current->counting;
	enum counting_mode before;

	if (!current->counts)
		return; /* not yet */
	before = c->mode;
	counting_mode(COUNTING_PRECISE);
	for (unsigned u = 0; u < c->units; u++) {
		if (!c->unit[u].driver.running)
			continue;
		if (spmu_driver_stop(&c->unit[u].driver) != SPMU_OK)
			continue;
		spmu_driver_drain(&c->unit[u].driver);
		if (spmu_driver_start(&c->unit[u].driver) != SPMU_OK)
			engine_unsupported("the unit did not start again");
	}
	counting_mode(before);
}

/* Several processes may do so at a time. */
static void publish(void)
{
	struct counting *c = current->counting;

	for (unsigned e = 0; e < engine_link->events && current->observed; e++) {
		uint64_t n = spmu_driver_read(&c->unit[c->event[e].unit].driver, c->event[e].slot);

		__atomic_add_fetch(&engine_link->count[e], n - c->event[e].published,
				   __ATOMIC_RELAXED);
		c->event[e].published = n;
	}
}

void counting_publish(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_drain();
	counting_mode(COUNTING_PRECISE);
	publish();
	counting_mode(before);
}

void counting_skip(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].published =
			spmu_driver_read(&c->unit[c->event[e].unit].driver, c->event[e].slot);
	counting_mode(before);
}

uint64_t counting_first(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;
	uint64_t n = 0;

	counting_mode(COUNTING_PRECISE);
	if (engine_link->events)
		n = spmu_driver_read(&c->unit[c->event[0].unit].driver, c->event[0].slot);
	counting_mode(before);
	return n;
}

enum counting_mode counting_mode_now(void)
{
	struct counting *c = current->counting;

	return c->mode;
}

void counting_begin_again(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_start();
	counting_mode(before);
	clocks_begin_again();
}

void counting_finish(void)
{
	struct counting *c = current->counting;

	counting_mode(COUNTING_PRECISE);
	if (children_is_first())
		engine_link->tsc_end = read_tsc();
	for (unsigned u = 0; u < c->units; u++) {
		if (c->unit[u].driver.running && spmu_driver_stop(&c->unit[u].driver) == SPMU_OK)
			spmu_driver_drain(&c->unit[u].driver);
		__atomic_add_fetch(&engine_link->interrupts, c->unit[u].driver.interrupts,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->records, c->unit[u].driver.records,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->buffer_full, c->unit[u].driver.buffer_full,
				   __ATOMIC_RELAXED);
	}
	publish();
	branches_end();
	engine_link->units = c->units;
}
