/* SPDX-License-Identifier: MIT */
/*
 * meter_list.c: all lists of meters that threads have had.
 *
 * They are found by any thread at any time, so they are one chain that only grows at its head.  Two
 * threads that add the same list at once make it twice, which costs a variant of the code.
 */
#include "engine/count/meter_list.h"

#include "engine/rt/sys.h"

#define POOL_BYTES 16384

/* As shards.c makes it. */
struct meter_list meter_list_none = {.variant = NO_VARIANT, .unchecked = true, .shards = SHARDS};

static struct meter_list *lists = &meter_list_none;

static bool is_equal(const struct meter_list *a, const struct meter_list *b)
{
	return a->meters == b->meters && a->unchecked == b->unchecked && a->shards == b->shards &&
	       a->branch_signals == b->branch_signals && a->branch_kinds == b->branch_kinds &&
	       a->flow == b->flow && a->addresses == b->addresses && a->clocks == b->clocks &&
	       a->activity == b->activity &&
	       !memcmp(a->signals, b->signals, a->meters * sizeof(uint64_t));
}

/* Lists are small, and memory comes in pages: they share some. */
static void *pool_take(size_t bytes)
{
	static struct pool {
		uint64_t used;
		uint8_t room[POOL_BYTES - sizeof(uint64_t)];
	} * pool;
	struct pool *p = __atomic_load_n(&pool, __ATOMIC_ACQUIRE);
	uint64_t at = p ? __atomic_fetch_add(&p->used, bytes, __ATOMIC_RELAXED) : sizeof(p->room);

	if (at + bytes <= sizeof(p->room))
		return p->room + at;
	p = heap_allocate(sizeof(*p));
	p->used = bytes;
	__atomic_store_n(&pool, p, __ATOMIC_RELEASE);
	return p->room;
}

struct meter_list *meter_list_find(const struct meter_list *wanted)
{
	struct meter_list *first = __atomic_load_n(&lists, __ATOMIC_ACQUIRE), *new;

	for (struct meter_list *l = first; l; l = l->next)
		if (is_equal(l, wanted))
			return l;
	new = pool_take(meter_list_bytes(wanted->meters));
	memcpy(new, wanted, meter_list_bytes(wanted->meters));
	new->variant = NO_VARIANT;
	new->next = first;
	while (!__atomic_compare_exchange_n(&lists, &new->next, new, false, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return new;
}
