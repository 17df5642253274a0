/* SPDX-License-Identifier: MIT */
/*
 * timeline.c: follows blocks through the window of a core (uarch_time.h).
 *
 * Time is counted in parts of a clock, so that widths of 1 to 6, 8 and more divide a clock without
 * a rest.  A port has a backlog: the time until which it has work.  An instruction that waits for
 * its operands does not hold up others for the same port, but its work is in the backlog.
 */
#include <string.h>

#include "src/uarch/timed.h"

#define PART	     UINT64_C(240) /* of them are a clock */
#define PORTS	     64u
#define FORWARDS     256u
#define PENDING	     64u
#define LINE_SHIFT   6u
#define BOUNDS_TURNS 4096u /* instructions that spmu_timed_block_bounds() runs, about */

struct remembered {
	uint64_t what, ready;
};

struct spmu_timeline {
	struct spmu_core_shape core;
	uint64_t dispatch_step, retire_step; /* for each place in the window */
	uint64_t dispatched, retired, committed, resolved;
	uint64_t last_taken, end;    /* the last taken branch; the address after the last block */
	uint64_t barrier, line_free; /* loads start after `barrier` */
	uint64_t ready[TIMED_REGISTERS];
	uint64_t backlog[PORTS];
	uint64_t window[TIMED_WINDOW_MAX]; /* when the entries become free */
	uint64_t stored[TIMED_STORES_MAX];
	uint64_t filled[TIMED_FILLS_MAX];
	unsigned window_at, stored_at, filled_at;
	bool unlimited;			     /* only the chains of registers matter */
	struct remembered forward[FORWARDS]; /* stores by address */
	struct remembered pending[PENDING];  /* lines that are on their way */
};

size_t spmu_timeline_bytes(void)
{
	return sizeof(struct spmu_timeline);
}

enum spmu_status spmu_timeline_create(void *memory, const struct spmu_core_shape *core,
				      struct spmu_timeline **timeline)
{
	struct spmu_timeline *t = (struct spmu_timeline *)memory;
	struct spmu_core_shape shape;

	if (!memory || !timeline || (uintptr_t)memory % 64 || !core_shape_take(&shape, core))
		return SPMU_E_ARGUMENT;
	memset(t, 0, sizeof(*t));
	t->core = shape;
	t->dispatch_step = PART / shape.width;
	t->retire_step = PART / shape.retire;
	*timeline = t;
	return SPMU_OK;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline unsigned next_in(unsigned at, unsigned count)
{
	return at + 1 == count ? 0 : at + 1;
}

/* Takes as many places of the window as an instruction needs. */
static inline void dispatch(struct spmu_timeline *t, const struct timed_insn *in)
{
	unsigned at = t->window_at;

	if (t->unlimited)
		return;
	t->dispatched += in->slots * t->dispatch_step;
	for (unsigned i = 0; i < in->slots; i++) {
		t->dispatched = later(t->dispatched, t->window[at]);
		at = next_in(at, t->core.window);
	}
	if (in->flags & TIMED_SERIALIZES)
		t->dispatched = later(t->dispatched, t->retired);
	if (in->flags & TIMED_STORES)
		t->dispatched = later(t->dispatched, t->stored[t->stored_at]);
}

/* Retires an instruction that is complete at `complete`. */
static inline void retire(struct spmu_timeline *t, const struct timed_insn *in, uint64_t complete)
{
	t->retired = later(t->retired + in->slots * t->retire_step, complete);
	for (unsigned i = 0; i < in->slots; i++) {
		t->window[t->window_at] = t->retired;
		t->window_at = next_in(t->window_at, t->core.window);
	}
	t->resolved = complete;
	if (in->flags & TIMED_SERIALIZES)
		t->dispatched = later(t->dispatched, complete);
}

/* Gives one clock of work to the port with the least.  Returns when it can start. */
static inline uint64_t use_port(struct spmu_timeline *t, uint64_t ports, uint64_t work)
{
	unsigned best = (unsigned)__builtin_ctzll(ports);
	uint64_t start;

	for (ports &= ports - 1; ports; ports &= ports - 1) {
		unsigned port = (unsigned)__builtin_ctzll(ports);

		if (t->backlog[port] < t->backlog[best])
			best = port;
	}
	start = later(t->backlog[best], t->dispatched);
	t->backlog[best] = start + work;
	return start;
}

/* Returns when all ports that an instruction needs have been free for it. */
static inline uint64_t use_ports(struct spmu_timeline *t, const struct timed_insn *in)
{
	const struct spmu_core_costs *costs = t->core.costs;
	uint64_t start = 0;

	for (unsigned i = 0; i < in->uses && !t->unlimited; i++) {
		const struct port_use *use = &costs->use[in->use + i];
		uint64_t ports = costs->ports[use->ports];

		if (!(ports & (ports - 1))) {
			start = later(start, use_port(t, ports, use->clocks * PART));
			continue;
		}
		/* Several clocks of a group are as many micro-operations. */
		for (unsigned n = use->clocks; n; n--)
			start = later(start, use_port(t, ports, PART));
	}
	return start;
}

static inline struct remembered *line_of(struct spmu_timeline *t, uint64_t linear)
{
	return &t->pending[linear >> LINE_SHIFT & (PENDING - 1)];
}

/* Brings a line that missed the first level.  Returns when it is there. */
static uint64_t fill(struct spmu_timeline *t, const struct spmu_timed_access *a, uint64_t start)
{
	uint64_t done;

	start = later(start, t->filled[t->filled_at]);
	if (a->level == SPMU_LEVEL_MEMORY) {
		start = later(start, t->line_free);
		t->line_free = start + t->core.line * PART;
	}
	done = start + t->core.level[a->level] * PART;
	t->filled[t->filled_at] = done;
	t->filled_at = next_in(t->filled_at, t->core.fills);
	*line_of(t, a->linear) = (struct remembered){a->linear >> LINE_SHIFT, done};
	return done;
}

static inline struct remembered *forward_of(struct spmu_timeline *t, uint64_t linear)
{
	return &t->forward[(linear >> 2 ^ linear >> 10) & (FORWARDS - 1)];
}

static inline uint64_t forwarding(const struct spmu_timeline *t, const struct timed_insn *in)
{
	return (in->address[1] == TIMED_NONE ? t->core.renamed : t->core.forward) * PART;
}

/* Returns when a load that starts at `start` has its data. */
static inline uint64_t load(struct spmu_timeline *t, const struct timed_insn *in,
			    const struct spmu_timed_access *a, uint64_t start)
{
	const struct remembered *forward = forward_of(t, a->linear);
	const struct remembered *line = line_of(t, a->linear);
	uint64_t value, extra = later(in->load, t->core.level[0]) - t->core.level[0];

	start += a->walk ? t->core.walk * PART : 0;
	if (a->level != SPMU_LEVEL_L1)
		return fill(t, a, start) + extra * PART;
	value = start + in->load * PART;
	if (line->what == a->linear >> LINE_SHIFT)
		value = later(value, line->ready);
	if (forward->what == a->linear)
		value = later(value, forward->ready + forwarding(t, in));
	return value;
}

/* A store that is complete and has retired goes to the first level. */
static inline void store(struct spmu_timeline *t, const struct spmu_timed_access *a,
			 uint64_t complete)
{
	uint64_t start = complete + (a && a->walk ? t->core.walk * PART : 0);

	t->committed = later(t->committed + PART, t->retired);
	if (a && a->level != SPMU_LEVEL_L1)
		t->committed = later(t->committed, fill(t, a, start));
	if (a)
		*forward_of(t, a->linear) = (struct remembered){a->linear, complete};
	t->stored[t->stored_at] = t->committed;
	t->stored_at = next_in(t->stored_at, t->core.stores);
}

/* Returns when the data of an instruction's memory operands is there. */
static inline uint64_t load_all(struct spmu_timeline *t, const struct timed_insn *in,
				const struct spmu_timed_access *a, unsigned accesses)
{
	uint64_t start = later(later(t->ready[in->address[0]], t->ready[in->address[1]]),
			       later(t->dispatched, t->barrier));
	uint64_t value = start;

	if (in->flags & TIMED_LOCKS)
		start = later(start, t->committed);
	if (in->flags & TIMED_LOADS)
		value = start + in->load * PART;
	for (unsigned i = 0; i < accesses; i++) {
		if (a[i].kind & SPMU_UARCH_LOAD)
			value = later(value, load(t, in, &a[i], start));
		else if (a[i].kind & SPMU_UARCH_PREFETCH && a[i].level != SPMU_LEVEL_L1)
			(void)fill(t, &a[i], start);
	}
	return value;
}

static void store_all(struct spmu_timeline *t, const struct timed_insn *in,
		      const struct spmu_timed_access *a, unsigned accesses, uint64_t complete)
{
	bool listed = false;

	for (unsigned i = 0; i < accesses; i++)
		if (a[i].kind & SPMU_UARCH_STORE) {
			store(t, &a[i], complete);
			listed = true;
		}
	if (!listed)
		store(t, NULL, complete);
	if (in->flags & TIMED_LOCKS)
		t->barrier = complete;
}

static inline void run_insn(struct spmu_timeline *t, const struct timed_insn *in,
			    const struct spmu_timed_access *a, unsigned accesses)
{
	uint64_t start, complete;

	dispatch(t, in);
	start = load_all(t, in, a, accesses);
	for (unsigned i = 0; i < TIMED_SOURCES && in->source[i] != TIMED_NONE; i++)
		start = later(start, t->ready[in->source[i]]);
	start = later(start, use_ports(t, in));
	complete = start + in->latency * PART;
	for (unsigned i = 0; i < TIMED_TARGETS && in->target[i] != TIMED_NONE; i++)
		t->ready[in->target[i]] = complete;
	retire(t, in, complete);
	if (in->flags & TIMED_STORES && !t->unlimited)
		store_all(t, in, a, accesses, complete);
}

/* The block is fetched: after a taken branch, or from another level. */
static void fetch(struct spmu_timeline *t, const struct spmu_timed_block *b,
		  enum spmu_uarch_level level)
{
	if (level != SPMU_LEVEL_L1)
		t->dispatched += t->core.level[level] * PART;
	if (b->linear == t->end)
		return;
	t->dispatched = later(t->dispatched, t->last_taken + t->core.taken * PART);
	t->last_taken = t->dispatched;
}

void spmu_timeline_run(struct spmu_timeline *timeline, const struct spmu_timed_block *block,
		       unsigned insns, enum spmu_uarch_level fetched,
		       const struct spmu_timed_access *access, unsigned accesses)
{
	const struct spmu_timed_access *end = access + accesses;

	if (!timeline->unlimited)
		fetch(timeline, block, fetched);
	for (unsigned i = 0; i < insns && i < block->count; i++) {
		unsigned n = 0;

		while (access + n < end && access[n].insn == i)
			n++;
		run_insn(timeline, &block->insn[i], access, n);
		access += n;
	}
	timeline->end = block->end;
}

void spmu_timeline_mispredict(struct spmu_timeline *timeline)
{
	timeline->dispatched =
		later(timeline->dispatched, timeline->resolved + timeline->core.refill * PART);
}

void spmu_timeline_wait(struct spmu_timeline *timeline, uint64_t clocks)
{
	timeline->retired += clocks * PART;
	timeline->dispatched = later(timeline->dispatched, timeline->retired);
}

uint64_t spmu_timeline_clocks(const struct spmu_timeline *timeline)
{
	return timeline->retired / PART;
}

void spmu_timeline_supplies(struct spmu_supply *supply)
{
	supply->modelled |= SPMU_SIGSET_CLOCKS;
}

/* --- bounds of a block --- */

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
