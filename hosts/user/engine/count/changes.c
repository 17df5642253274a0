/* SPDX-License-Identifier: MIT */
/*
 * changes.c: events that the tool switches on and off while the program runs, in all threads or in
 * some.
 *
 * The tool writes a change before it counts it in link.changes.  A thread reads that number first.
 * So a thread that misses a part of a change sees another number the next time, and looks again.
 */
#include <asm/unistd.h>
#include <linux/futex.h>

#include "engine/count/activity.h"
#include "engine/count/client.h"
#include "engine/count/costs.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/follow.h"
#include "engine/count/opened.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

static uint32_t changes_now(void)
{
	return __atomic_load_n(&engine_link->changes, __ATOMIC_SEQ_CST);
}

bool changes_are_due(void)
{
	return changes_now() != current->followed;
}

static bool is_after(uint32_t change, uint32_t other)
{
	return (int32_t)(change - other) > 0;
}

/* Replaces the bits `set` of `on` by those of `by`. */
static uint64_t replace(uint64_t on, uint64_t set, uint64_t by)
{
	return (on & ~set) | (by & set);
}

/* Returns the events that have changed in all threads since then. */
static uint64_t changed_since(uint32_t change)
{
	uint64_t set = 0;

	for (unsigned e = 0; e <= LINK_EVENTS_MAX; e++)
		if (is_after(__atomic_load_n(&engine_link->changed[e], __ATOMIC_ACQUIRE), change))
			set |= UINT64_C(1) << e;
	return set;
}

/* Returns which events count in the thread after all changes. */
static uint64_t events_wanted(void)
{
	const struct link_follower *f = current->follower;
	uint64_t all = changed_since(current->followed), on = current->events_on, own;
	uint32_t change;

	on = replace(on, all, __atomic_load_n(&engine_link->events_on, __ATOMIC_ACQUIRE));
	if (!f)
		return on;
	change = __atomic_load_n(&f->own_change, __ATOMIC_ACQUIRE);
	if (!is_after(change, current->followed))
		return on;
	own = __atomic_load_n(&f->own, __ATOMIC_RELAXED) & ~changed_since(change);
	return replace(on, own, __atomic_load_n(&f->own_on, __ATOMIC_RELAXED));
}

void changes_switch(uint64_t on)
{
	enum counting_mode before = counting_mode_now();

	if (costs_wanted()) {
		activity_take();
		activity_reach(current->pc);
		costs_switch(client_counts());
	}
	if (!on)
		flow_pause();
	current->events_on = on;
	shards_set_mode(COUNTING_PRECISE);
	units_switch(on);
	shards_follow_units();
	shards_set_mode(before);
}

void changes_follow(void)
{
	uint32_t change = changes_now();
	uint64_t on = events_wanted();

	if (on != current->events_on)
		changes_switch(on);
	if (opened_wanted() && current->follower)
		opened_follow(&engine_link->opened[current->follower - engine_link->follower]);
	counting_publish_interval();
	current->followed = change;
	if (!current->follower)
		return;
	__atomic_store_n(&current->follower->seen, change, __ATOMIC_SEQ_CST);
	syscall3(__NR_futex, (long)&current->follower->seen, FUTEX_WAKE, 1);
}
