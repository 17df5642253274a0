/* SPDX-License-Identifier: MIT */
/*
 * timeline.c: follows blocks through the window of a core (uarch_time.h).
 *
 * Time is counted in parts of a clock, so that widths of 1 to 6, 8 and more divide a clock without
 * a rest.  A port has a backlog: the time until which it has work.  An instruction that waits for
 * its operands does not hold up others for the same port, but its work is in the backlog.
 */
#include <string.h>

#include "src/uarch/timeline.h"
#include "src/uarch/timeline_memory.h"

/* Clocks of a refill in which the front end fetches, as in Intel's metrics for Haswell. */
#define RESTEER 12u

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
	t->commit_step = PART / (shape.commits ? shape.commits : 1);
	*timeline = t;
	return SPMU_OK;
}

/* Lets dispatch wait until `until`. */
INLINE void wait_by(struct spmu_timeline *t, uint64_t until, enum cause cause, struct mode mode)
{
	uint64_t from = t->dispatched;

	if (until <= from)
		return;
	t->dispatched = until;
	if (mode.account)
		account_lose(&t->account, &t->core, from, until, cause);
}

static void wait(struct spmu_timeline *t, uint64_t until, enum cause cause)
{
	wait_by(t, until, cause, (struct mode){.account = t->account.on});
}

/* The same for the front end.  While the window is full, that is the cause. */
static inline void wait_for_front(struct spmu_timeline *t, uint64_t until, enum cause cause)
{
	uint64_t free = t->window[t->window_at];

	if (t->account.on && free > t->dispatched)
		wait(t, free < until ? free : until, t->account.cause[t->window_at]);
	wait(t, until, cause);
}

/* Takes as many places of the window as an instruction needs. */
INLINE void dispatch(struct spmu_timeline *t, const struct timed_insn *in, struct mode mode)
{
	uint64_t slots = in->slots * t->dispatch_step;
	unsigned at = t->window_at;

	if (mode.unlimited)
		return;
	t->dispatched += slots;
	if (mode.account)
		account_settle(&t->account, t->dispatched, false);
	for (unsigned i = 0; i < in->slots; i++) {
		wait_by(t, t->window[at], t->account.cause[at], mode);
		at = next_in(at, t->core.window);
	}
	if (in->flags & TIMED_SERIALIZES)
		wait_by(t, t->retired, CAUSE_SERIAL, mode);
	if (in->flags & TIMED_STORES)
		wait_by(t, t->stored[t->stored_at], CAUSE_STORES, mode);
	if (mode.account && in->slots) {
		t->account.sum[SUM_NOT_ISSUED] +=
			(t->dispatched - slots - t->account.issued) / PART;
		t->account.issued = t->dispatched;
	}
}

/* Retires an instruction that is complete at `complete`. */
INLINE void retire(struct spmu_timeline *t, const struct timed_insn *in, uint64_t complete,
		   enum cause late, struct mode mode)
{
	if (mode.account && complete > t->retired + in->slots * t->retire_step)
		t->account.retires_by = (uint8_t)late;
	t->retired = later(t->retired + in->slots * t->retire_step, complete);
	for (unsigned i = 0; i < in->slots; i++) {
		t->window[t->window_at] = t->retired;
		if (mode.account)
			t->account.cause[t->window_at] = t->account.retires_by;
		t->window_at = next_in(t->window_at, t->core.window);
	}
	t->resolved = complete;
	if (in->flags & TIMED_SERIALIZES)
		wait_by(t, complete, CAUSE_SERIAL, mode);
}

/* Counts the work of a port, or of a divider. */
static inline void count_port(struct spmu_timeline *t, unsigned port, uint64_t work)
{
	unsigned unit = t->core.costs->unit ? t->core.costs->unit[port] : TIMED_NO_PORT;

	if (unit < TIMED_PORTS)
		t->account.port[unit] += work / PART;
	else if (unit == TIMED_DIVIDER)
		t->account.sum[SUM_DIVIDER] += work;
}

/* Gives one clock of work to the port with the least.  Returns when it can start. */
INLINE uint64_t use_port(struct spmu_timeline *t, uint64_t ports, uint64_t work, struct mode mode)
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
	if (mode.account)
		count_port(t, best, work);
	return start;
}

/* Returns when all ports that an instruction needs have been free for it. */
INLINE uint64_t use_ports(struct spmu_timeline *t, const struct timed_insn *in, struct mode mode)
{
	const struct spmu_core_costs *costs = t->core.costs;
	uint64_t start = 0;

	for (unsigned i = 0; i < in->uses && !mode.unlimited; i++) {
		const struct port_use *use = &costs->use[in->use + i];
		uint64_t ports = costs->ports[use->ports];

		if (!(ports & (ports - 1))) {
			start = later(start, use_port(t, ports, use->clocks * PART, mode));
			continue;
		}
		/* Several clocks of a group are as many micro-operations. */
		for (unsigned n = use->clocks; n; n--)
			start = later(start, use_port(t, ports, PART, mode));
	}
	return start;
}

/* Waits for a place in the scheduler.  Only instructions with a result in general registers or
 * flags need one. */
INLINE void wait_for_scheduler(struct spmu_timeline *t, struct mode mode)
{
	uint64_t room = scheduler_room(&t->scheduler, t->dispatched / PART, t->core.scheduler);

	wait_by(t, room * PART, CAUSE_CORE, mode);
}

INLINE void run_insn(struct spmu_timeline *t, const struct timed_insn *in,
		     const struct spmu_timed_access *a, unsigned accesses, struct mode mode)
{
	uint64_t start, complete, loaded;
	enum cause late = CAUSE_CORE;
	bool scheduled = t->core.scheduler && in->uses && in->target[0] < TIMED_VECTOR;

	dispatch(t, in, mode);
	if (scheduled && !mode.unlimited)
		wait_for_scheduler(t, mode);
	if (mode.account)
		t->account.level = SPMU_LEVEL_L1;
	start = loaded = load_all(t, in, a, accesses, mode);
	for (unsigned i = 0; i < TIMED_SOURCES && in->source[i] != TIMED_NONE; i++)
		start = later(start, t->ready[in->source[i]]);
	start = later(start, use_ports(t, in, mode));
	if (scheduled && start > t->dispatched)
		scheduler_add(&t->scheduler, start / PART);
	complete = start + in->latency * PART;
	for (unsigned i = 0; i < TIMED_TARGETS && in->target[i] != TIMED_NONE; i++)
		t->ready[in->target[i]] = complete;
	if (mode.account && in->flags & TIMED_LOADS && loaded == start)
		late = CAUSE_L1 + t->account.level;
	retire(t, in, complete, late, mode);
	if (mode.account)
		timeline_account_insn(t, in,
				      later(t->ready[in->address[0]], t->ready[in->address[1]]),
				      start, complete);
	if (in->flags & TIMED_STORES && !mode.unlimited)
		store_all(t, in, a, accesses, complete);
}

/* Code is fetched from another place, at least some time after the last one. */
static inline void begin_window(struct spmu_timeline *t, uint64_t time)
{
	wait_for_front(t, t->last_window + time, CAUSE_TAKEN);
	t->last_window = t->dispatched;
}

/* Fetches entries of the decoded instruction cache. */
static void fetch_entries(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	uint64_t time = b->linear != t->end ? timeline_entries_jump(t, b) : 0;

	if (time)
		begin_window(t, time);
	else
		wait_for_front(t, t->last_window, CAUSE_TAKEN);
	t->last_window += timeline_entries_fetch(t, b);
}

/* The block is fetched: after a taken branch, or from another level. */
static void fetch(struct spmu_timeline *t, const struct spmu_timed_block *b,
		  enum spmu_uarch_level level)
{
	if (level != SPMU_LEVEL_L1) {
		uint64_t took = t->core.level[level] * PART;

		wait_for_front(t, t->dispatched + took, CAUSE_CODE_CACHE);
		if (t->account.on && level >= SPMU_LEVEL_LLC)
			t->account.sum[SUM_CODE_OFFCORE] += took;
	}
	if (t->core.entry) {
		fetch_entries(t, b);
		return;
	}
	if (b->linear != t->end)
		begin_window(t, (t->after_return ? t->core.returned : t->core.taken) * PART);
	else if (t->core.rules & SPMU_CORE_FETCHES_LINES && !(b->linear % LINE))
		begin_window(t, PART);
	if (t->core.rules & SPMU_CORE_FETCHES_LINES)
		t->last_window += ((b->end - 1) / LINE - b->linear / LINE) * PART;
}

/* Runs the instructions of a block from `first` on, and before `insns`. */
INLINE void run_insns(struct spmu_timeline *t, const struct spmu_timed_block *block, unsigned first,
		      unsigned insns, const struct spmu_timed_access *access, unsigned accesses,
		      struct mode mode)
{
	const struct spmu_timed_access *end = access + accesses;

	for (unsigned i = first; i < insns && i < block->count; i++) {
		unsigned n = 0;

		while (access + n < end && access[n].insn == i)
			n++;
		run_insn(t, &block->insn[i], access, n, mode);
		access += n;
	}
}

void timeline_fetch(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	fetch(t, b, SPMU_LEVEL_L1);
}

void timeline_run_insn(struct spmu_timeline *t, const struct timed_insn *in,
		       const struct spmu_timed_access *access, unsigned accesses)
{
	run_insn(t, in, access, accesses, (struct mode){false, false});
}

/* Tells the front end what runs. */
static void follow(struct spmu_timeline *t, const struct spmu_timed_block *b, unsigned insns)
{
	t->account.block = b->linear;
	front_run(&t->front, &t->core, b, insns < b->count ? insns : b->count, t->end);
}

/* A block begins, of which the first `insns` instructions run. */
static void begin(struct spmu_timeline *t, const struct spmu_timed_block *b, unsigned insns,
		  enum spmu_uarch_level fetched)
{
	if (t->front.on)
		follow(t, b, insns);
	if (!t->unlimited)
		fetch(t, b, fetched);
}

static void run_range(struct spmu_timeline *t, const struct spmu_timed_block *b, unsigned first,
		      unsigned insns, const struct spmu_timed_access *access, unsigned accesses)
{
	const struct mode plain = {false, false}, account = {true, false}, chains = {false, true};

	if (t->unlimited)
		run_insns(t, b, first, insns, access, accesses, chains);
	else if (t->account.on)
		run_insns(t, b, first, insns, access, accesses, account);
	else
		run_insns(t, b, first, insns, access, accesses, plain);
}

static void end(struct spmu_timeline *t, const struct spmu_timed_block *b)
{
	t->end = b->end;
	t->after_return = b->returns && t->core.returned;
}

void spmu_timeline_run(struct spmu_timeline *timeline, const struct spmu_timed_block *block,
		       unsigned insns, enum spmu_uarch_level fetched,
		       const struct spmu_timed_access *access, unsigned accesses)
{
	begin(timeline, block, insns, fetched);
	run_range(timeline, block, 0, insns, access, accesses);
	end(timeline, block);
}

void spmu_timeline_run_one(struct spmu_timeline *timeline, const struct spmu_timed_block *block,
			   unsigned insn, unsigned insns, enum spmu_uarch_level fetched,
			   const struct spmu_timed_access *access, unsigned accesses)
{
	if (insn == 0)
		begin(timeline, block, insns, fetched);
	run_range(timeline, block, insn, insn + 1, access, accesses);
	if (insn + 1 == insns)
		end(timeline, block);
}

void spmu_timeline_fetch_walk(struct spmu_timeline *timeline)
{
	uint64_t took = timeline->core.walk * PART;

	wait_for_front(timeline, timeline->dispatched + took, CAUSE_CODE_WALK);
	timeline->account.sum[SUM_CODE_WALKS] += timeline->account.on ? took : 0;
}

/*
 * Issues a wrong path until its branch is resolved.  It takes places of the window that become
 * free; while there is none, the window is the cause.
 */
static void follow_wrong_path(struct spmu_timeline *t)
{
	unsigned at = t->window_at;

	for (unsigned n = 0; t->dispatched < t->resolved && n < t->core.window; n++) {
		uint64_t free = t->window[at];

		if (free > t->dispatched)
			wait(t, free < t->resolved ? free : t->resolved, t->account.cause[at]);
		if (t->dispatched + t->dispatch_step > t->resolved)
			break;
		wait(t, t->dispatched + t->dispatch_step, CAUSE_WRONG_PATH);
		t->account.sum[SUM_WRONG]++;
		at = next_in(at, t->core.window);
	}
	wait(t, t->resolved, CAUSE_CORE);
}

void spmu_timeline_mispredict(struct spmu_timeline *timeline)
{
	struct spmu_timeline *t = timeline;
	uint64_t again = t->resolved + t->core.refill * PART;
	unsigned fetch = t->core.refill < RESTEER ? t->core.refill : RESTEER;

	if (t->account.on) {
		follow_wrong_path(t);
		wait(t, again - fetch * PART, CAUSE_RECOVERY);
	}
	wait(t, again, CAUSE_RESTEER);
}

void spmu_timeline_wait(struct spmu_timeline *timeline, uint64_t clocks)
{
	timeline->retired += clocks * PART;
	wait(timeline, timeline->retired, CAUSE_CORE);
}
