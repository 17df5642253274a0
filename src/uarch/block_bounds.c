/* SPDX-License-Identifier: MIT */
/* block_bounds.c: what limits a block that runs again and again (uarch_time.h). */
#include "src/uarch/timeline.h"

#define BOUNDS_TURNS 4096u /* instructions that spmu_timed_block_bounds() runs, about */

/* Returns the time of a turn, in thousandths of a clock, when the block has run for a while. */
static uint32_t time_of_turn(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	uint64_t turns = BOUNDS_TURNS / b->count + 8, start = 0;

	for (uint64_t i = 0; i < 2 * turns; i++) {
		if (i == turns)
			start = t->retired;
		spmu_timeline_run(t, b, b->count, SPMU_LEVEL_L1, NULL, 0);
	}
	return (uint32_t)((t->retired - start) * 1000 / (turns * PART));
}

static uint32_t bound_by_front(const struct spmu_timed_block *b, const struct spmu_core_shape *core)
{
	uint32_t slots = 0;

	for (unsigned i = 0; i < b->count; i++)
		slots += b->insn[i].slots;
	return slots * 1000 / core->width;
}

/* What a block asks of each set of ports. */
struct demand {
	uint64_t ports[256];
	uint32_t clocks[256];
	unsigned count;
};

static void add_demand(struct demand *d, uint64_t ports, unsigned clocks)
{
	unsigned i = 0;

	while (i < d->count && d->ports[i] != ports)
		i++;
	if (i == sizeof(d->clocks) / sizeof(d->clocks[0]))
		return;
	if (i == d->count) {
		d->ports[i] = ports;
		d->clocks[i] = 0;
		d->count++;
	}
	d->clocks[i] += clocks;
}

static uint32_t ports_in(uint64_t set)
{
	uint32_t n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/*
 * Returns the bound of the best choice of ports.  By Hall's theorem it is the largest of: what must
 * go to some ports, divided by their number, over all unions of sets.
 */
static uint32_t bound_of_demand(struct demand *d)
{
	unsigned sets = d->count;
	uint32_t bound = 0;

	for (unsigned i = 0; i < d->count; i++)
		for (unsigned j = 0; j < sets && d->count < 256; j++)
			add_demand(d, d->ports[i] | d->ports[j], 0);
	for (unsigned i = 0; i < d->count; i++) {
		uint32_t ports = ports_in(d->ports[i]), clocks = 0, here;

		for (unsigned j = 0; j < sets; j++)
			clocks += d->ports[j] & ~d->ports[i] ? 0 : d->clocks[j];
		here = ports ? clocks * 1000 / ports : 0;
		bound = here > bound ? here : bound;
	}
	return bound;
}

static uint32_t bound_by_ports(const struct spmu_timed_block *b,
			       const struct spmu_core_costs *costs)
{
	struct demand d = {.count = 0};

	for (unsigned i = 0; i < b->count; i++)
		for (unsigned k = 0; k < b->insn[i].uses; k++) {
			const struct port_use *use = &costs->use[b->insn[i].use + k];

			add_demand(&d, costs->ports[use->ports], use->clocks);
		}
	return bound_of_demand(&d);
}

struct spmu_block_bounds spmu_timed_block_bounds(const struct spmu_timed_block *block,
						 const struct spmu_core_shape *core, void *memory)
{
	struct spmu_block_bounds bounds = {0, 0, 0, 0};
	struct spmu_timeline *t;

	if (spmu_timeline_create(memory, core, &t) != SPMU_OK)
		return bounds;
	bounds.loop = time_of_turn(t, block);
	bounds.front = bound_by_front(block, &t->core);
	bounds.ports = bound_by_ports(block, t->core.costs);
	if (spmu_timeline_create(memory, core, &t) == SPMU_OK) {
		t->unlimited = true;
		t->retire_step = 0;
		bounds.chain = time_of_turn(t, block);
	}
	return bounds;
}
