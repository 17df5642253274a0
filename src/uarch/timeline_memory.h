/* SPDX-License-Identifier: MIT */
/*
 * timeline_memory.h: when the loads and stores of an instruction are done: lines that are on their
 * way, and loads that get the data of a store.
 *
 * It is a part of timeline.c, which compiles it once for each mode.
 */
#ifndef SPMU_SRC_UARCH_TIMELINE_MEMORY_H
#define SPMU_SRC_UARCH_TIMELINE_MEMORY_H

#include "src/uarch/timeline.h"

/* Clocks for which a core that renames memory remembers a store.  How many it remembers is not
 * published. */
#define RENAMED_FOR 64u

#define INLINE static inline __attribute__((always_inline))
/* Not inlined, which is faster. */
#define APART static __attribute__((noinline, unused))

/*
 * What a timeline does besides its clocks: it accounts for them, or only chains of registers
 * matter.  Code for each of these is apart, because most runs need neither.
 */
struct mode {
	bool account, unlimited;
};

static inline unsigned next_in(unsigned at, unsigned count)
{
	return at + 1 == count ? 0 : at + 1;
}

static inline struct remembered *line_of(struct spmu_timeline *t, uint64_t linear)
{
	return &t->pending[linear >> LINE_SHIFT & (PENDING - 1)];
}

/* Brings a line that missed the first level.  Returns when it is there. */
APART uint64_t fill(struct spmu_timeline *t, const struct spmu_timed_access *a, uint64_t start)
{
	uint64_t done, asked = start;

	start = later(start, t->filled[t->filled_at]);
	if (a->level == SPMU_LEVEL_MEMORY) {
		start = later(start, t->line_free);
		t->line_free = start + t->core.line * PART;
	}
	done = start + t->core.level[a->level] * PART;
	t->filled[t->filled_at] = done;
	t->filled_at = next_in(t->filled_at, t->core.fills);
	if (t->account.on)
		timeline_account_fill(t, a, asked, start, done);
	*line_of(t, a->linear) = (struct remembered){a->linear >> LINE_SHIFT, done};
	return done;
}

static inline struct remembered *forward_of(struct spmu_timeline *t, uint64_t linear)
{
	return &t->forward[(linear >> 2 ^ linear >> 10) & (FORWARDS - 1)];
}

/* Returns when a load has the data of a store, if the first level could have it at `value`.  A core
 * that renames memory takes the operand of a MOV to a general register, or of an instruction that
 * also writes it, from the store.  Then it does not wait for the address. */
static inline uint64_t forwarded(const struct spmu_timeline *t, const struct timed_insn *in,
				 const struct remembered *store, uint64_t value)
{
	bool renames = !t->core.renamed, is_simple = in->address[1] == TIMED_NONE;
	uint64_t extra = later(in->load, t->core.level[0]) - t->core.level[0];
	bool is_move = !in->latency && !extra;

	if (renames && (is_move || in->flags & TIMED_STORES) &&
	    store->ready + RENAMED_FOR * PART > t->dispatched)
		return later(store->ready, t->dispatched);
	if (renames || !is_simple)
		return later(value, store->ready + (t->core.forward + extra) * PART);
	return later(value, store->ready + t->core.renamed * PART);
}

/* Returns when a load that starts at `start` has its data. */
INLINE uint64_t load(struct spmu_timeline *t, const struct timed_insn *in,
		     const struct spmu_timed_access *a, uint64_t start, struct mode mode)
{
	const struct remembered *forward = forward_of(t, a->linear);
	const struct remembered *line = line_of(t, a->linear);
	uint64_t value, extra = later(in->load, t->core.level[0]) - t->core.level[0];
	uint64_t asked = start;

	start += a->walk ? t->core.walk * PART : 0;
	if (a->level != SPMU_LEVEL_L1) {
		value = fill(t, a, start) + extra * PART;
	} else {
		value = start + in->load * PART;
		if (line->what == a->linear >> LINE_SHIFT)
			value = later(value, line->ready);
		/* A locked access has waited for older stores. */
		if (forward->what == a->linear && !(in->flags & TIMED_LOCKS))
			value = forwarded(t, in, forward, value);
	}
	if (mode.account)
		timeline_account_load(t, a, asked, start, value);
	return value;
}

/* A store that is complete and has retired goes to the first level. */
static inline void store(struct spmu_timeline *t, const struct spmu_timed_access *a,
			 uint64_t complete)
{
	uint64_t start = complete + (a && a->walk ? t->core.walk * PART : 0);

	t->committed = later(t->committed + t->commit_step, t->retired);
	if (a && a->level != SPMU_LEVEL_L1)
		t->committed = later(t->committed, fill(t, a, start));
	if (a)
		*forward_of(t, a->linear) = (struct remembered){a->linear, complete};
	if (a && t->account.on) {
		account_store(&t->account, a, t->committed);
		if (t->front.on)
			front_store(&t->front, a->linear);
		t->account.sum[SUM_STORE_WALKS] += start - complete;
		account_span(&t->account, SPAN_STORE_WALK, complete, start);
	}
	t->stored[t->stored_at] = t->committed;
	t->stored_at = next_in(t->stored_at, t->core.stores);
}

/* Returns when the data of an instruction's memory operands is there. */
INLINE uint64_t load_all(struct spmu_timeline *t, const struct timed_insn *in,
			 const struct spmu_timed_access *a, unsigned accesses, struct mode mode)
{
	uint64_t start = later(later(t->ready[in->address[0]], t->ready[in->address[1]]),
			       later(t->dispatched, t->barrier));
	uint64_t value = 0;

	if (in->flags & TIMED_LOCKS) {
		start = later(start, t->committed);
		if (accesses && t->account.on)
			account_lock(&t->account, a);
	}
	for (unsigned i = 0; i < accesses; i++) {
		if (a[i].kind & SPMU_UARCH_LOAD)
			value = later(value, load(t, in, &a[i], start, mode));
		else if (a[i].kind & SPMU_UARCH_PREFETCH && a[i].level != SPMU_LEVEL_L1)
			(void)fill(t, &a[i], start);
	}
	if (value)
		return value;
	return in->flags & TIMED_LOADS ? start + in->load * PART : start;
}

APART void store_all(struct spmu_timeline *t, const struct timed_insn *in,
		     const struct spmu_timed_access *a, unsigned accesses, uint64_t complete)
{
	bool listed = false;

	if (t->front.on)
		t->account.asked = later(t->ready[in->address[0]], t->ready[in->address[1]]);
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

#endif
