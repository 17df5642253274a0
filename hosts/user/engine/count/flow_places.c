/* SPDX-License-Identifier: MIT */
/*
 * flow_places.c: gives each call that is counted a place for its sums, and each indirect branch a
 * number.
 *
 * The place is the same for all threads of a process.  Each has its own sums there, after its
 * context.  A place, once given, stays.
 */
#include "engine/count/flow_places.h"

#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define SITES_MAX  (1u << 16)
#define TRIES_MOST 1000000 /* a thread that was killed may have left the table busy */

static struct flow_call *call; /* by the number of its place; number 0 is no call */
static uint32_t *call_number;  /* twice as many, by a hash of the addresses; 0: none */
static uint32_t calls, jumps;  /* the ends of their numbers */
static uint32_t busy;	       /* a thread changes them */

static struct site {
	uint64_t from, returns_to;
} * site;		      /* number 0 is none */
static uint32_t *site_number; /* twice as many, by a hash of the address; 0: none */
static uint32_t sites;

static uint32_t place_of(uint32_t number)
{
	return CTX_CALLS + number * engine_flow_bytes();
}

/* --- calls ------------------------------------------------------------------------------------ */

static bool begin_change(void)
{
	unsigned tries = 0;

	while (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
		if (++tries == TRIES_MOST)
			return false;
	return true;
}

static void end_change(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static void make_tables(void)
{
	call_number = heap_allocate(2 * FLOW_CALLS_MAX * sizeof(*call_number));
	call = heap_allocate(FLOW_CALLS_MAX * sizeof(*call));
	calls = 1;
	jumps = FLOW_CALLS_JUMPS;
}

static bool is_same(const struct flow_call *a, const struct flow_call *b)
{
	return a->from == b->from && a->to == b->to && a->returns_to == b->returns_to;
}

/* Returns where the number of a branch is, or belongs. */
static uint32_t *find_call(const struct flow_call *wanted)
{
	uint32_t i = (uint32_t)(wanted->from * 31 + wanted->to) * FLOW_FACTOR >> 14;

	_Static_assert(FLOW_CALLS_MAX == 1 << 17, "the hash has 18 bits");
	while (call_number[i] && !is_same(&call[call_number[i]], wanted))
		i = (i + 1) % (2 * FLOW_CALLS_MAX);
	return &call_number[i];
}

static uint32_t find_or_add(const struct flow_call *wanted)
{
	bool is_call = wanted->returns_to;
	uint32_t *number = find_call(wanted), *end = is_call ? &calls : &jumps;

	if (*number || *end == (is_call ? FLOW_CALLS_JUMPS : FLOW_CALLS_MAX))
		return *number;
	call[*end] = *wanted;
	return *number = (*end)++;
}

uint32_t flow_places_get(const struct flow_call *wanted)
{
	uint32_t number;

	if (!begin_change())
		return 0;
	if (!call)
		make_tables();
	number = find_or_add(wanted);
	end_change();
	return number ? place_of(number) : 0;
}

const struct flow_call *flow_places_call(uint32_t place)
{
	return &call[(place - CTX_CALLS) / engine_flow_bytes()];
}

bool flow_places_any(void)
{
	return call;
}

void flow_places_each(void (*visit)(const struct flow_call *call, uint32_t place))
{
	for (uint32_t number = 1; number < calls; number++)
		visit(&call[number], place_of(number));
	for (uint32_t number = FLOW_CALLS_JUMPS; number < jumps; number++)
		visit(&call[number], place_of(number));
}

void flow_places_begin_process(void)
{
	end_change(); /* it has no other thread */
}

/* --- indirect branches ------------------------------------------------------------------------ */

static uint32_t *find_site(uint64_t from)
{
	uint32_t i = (uint32_t)from * FLOW_FACTOR >> 15;

	_Static_assert(SITES_MAX == 1 << 16, "the hash has 17 bits");
	while (site_number[i] && site[site_number[i]].from != from)
		i = (i + 1) % (2 * SITES_MAX);
	return &site_number[i];
}

uint32_t flow_places_site(uint64_t from, uint64_t returns_to)
{
	uint32_t *number;

	if (!site) {
		site_number = heap_allocate(2 * SITES_MAX * sizeof(*site_number));
		site = heap_allocate(SITES_MAX * sizeof(*site));
	}
	number = find_site(from);
	if (!*number && sites == SITES_MAX - 1)
		return 0;
	if (!*number) {
		site[++sites].from = from;
		__atomic_store_n(number, sites, __ATOMIC_RELEASE);
	}
	site[*number].returns_to = returns_to; /* there may be other code now */
	return FLOW_SITE | *number;
}

uint32_t flow_places_find_site(uint64_t from, uint64_t *returns_to)
{
	uint32_t number = sites ? *find_site(from) : 0;

	if (!number)
		return 0;
	*returns_to = site[number].returns_to;
	return FLOW_SITE | number;
}

uint64_t flow_places_of_site(uint32_t id)
{
	return site[id & ~FLOW_SITE].from;
}
