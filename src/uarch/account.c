/* SPDX-License-Identifier: MIT */
/*
 * account.c: what a timeline spends its clocks on.
 *
 * Issue slots are counted at dispatch, as in top-down analysis (Yasin, "A Top-Down Method for
 * Performance Analysis and Counters Architecture", ISPASS 2014).  A slot that has no
 * micro-operation has one cause.  If the window is full and the front end has nothing, either, the
 * cause is the window.  A wrong path takes slots until its branch is resolved or the window is
 * full.
 *
 * A ring has a byte for each clock that may still change: how many micro-operations start, and
 * which loads are outstanding.  When dispatch has passed a clock, its byte moves to a histogram, so
 * that each combination of conditions can be counted later.
 *
 * Simplified: more than 15 micro-operations in a clock count as 15.  Spans that begin in another
 * order than they are reported in can be counted twice.
 */
#include <string.h>

#include "src/uarch/account.h"

static uint64_t clock_of(uint64_t time)
{
	return time / PART;
}

void account_begin(struct account *a, uint64_t dispatched, uint64_t now)
{
	a->on = true;
	a->begun = now;
	a->issued = a->last_start = dispatched;
	a->settled = clock_of(dispatched);
	a->last_clock = clock_of(now);
	/* Nobody has noted why earlier instructions retire late. */
	memset(a->cause, CAUSE_CORE, sizeof(a->cause));
	a->retires_by = CAUSE_CORE;
}

void account_settle(struct account *a, uint64_t now, bool stores_full)
{
	uint64_t end = clock_of(now), started = clock_of(a->last_start);

	for (uint64_t c = a->settled; c < end; c++) {
		uint8_t *clock = &a->clock[c % ACCOUNT_CLOCKS];
		bool none_waits = c > started;
		unsigned state = *clock | (none_waits ? CLOCK_NONE_WAIT : 0) |
				 (stores_full ? CLOCK_STORES : 0);

		a->state[state]++;
		a->sum[SUM_NONE_WAIT_TIMES] += none_waits && !a->none_waited;
		a->none_waited = none_waits;
		*clock = 0;
	}
	if (end > a->settled)
		a->settled = end;
}

static bool is_of_front(enum cause cause)
{
	return cause >= CAUSE_RESTEER && cause <= CAUSE_TAKEN;
}

/* Counts the clocks of slots for which the front end had nothing. */
static void count_undelivered(struct account *a, unsigned width, uint64_t slots)
{
	uint64_t clocks = slots / width;
	unsigned rest = (unsigned)(slots % width);

	a->sum[SUM_NOT_DELIVERED] += clocks + (rest != 0);
	for (unsigned most = 0; most < 4; most++)
		a->sum[SUM_DELIVERED_0 + most] += clocks + (rest && width - rest <= most);
}

void account_lose(struct account *a, const struct spmu_core_shape *core, uint64_t from, uint64_t to,
		  enum cause cause)
{
	a->lost[cause] += to - from;
	if (is_of_front(cause))
		count_undelivered(a, core->width, (to - from) * core->width / PART);
	account_settle(a, to, cause == CAUSE_STORES);
}

/* Returns the last clock of the ring. */
static uint64_t last_of(const struct account *a)
{
	return a->settled + ACCOUNT_CLOCKS - 1;
}

void account_start(struct account *a, uint64_t start, unsigned uops)
{
	const unsigned most = 4;

	a->sum[SUM_EXECUTED] += uops;
	if (start > a->last_start)
		a->last_start = start;
	for (uint64_t c = clock_of(start); uops && c <= last_of(a); c++) {
		uint8_t *clock = &a->clock[c % ACCOUNT_CLOCKS];
		unsigned room = CLOCK_STARTS - (*clock & CLOCK_STARTS);
		unsigned now = uops < most ? uops : most;

		*clock = (uint8_t)(*clock + (now < room ? now : room));
		uops -= now;
	}
}

void account_load(struct account *a, uint64_t from, uint64_t to, unsigned flags)
{
	uint64_t end = clock_of(to), last = last_of(a);

	for (uint64_t c = clock_of(from); c < end && c <= last; c++)
		a->clock[c % ACCOUNT_CLOCKS] |= (uint8_t)flags;
}

void account_retire(struct account *a, uint64_t at, unsigned slots, uint64_t step)
{
	uint64_t end = clock_of(at - 1) + 1, first = clock_of(at - (slots - 1) * step - 1);

	a->sum[SUM_SLOTS] += slots;
	if (end > a->last_clock)
		a->sum[SUM_RETIRED_CLOCKS] += end - (first > a->last_clock ? first : a->last_clock);
	a->last_clock = end > a->last_clock ? end : a->last_clock;
}

/* --- tallies --- */

/* Returns the clocks whose state has all bits of `with`, none of `without`, and a number of starts
 * from `least` to `most`. */
static uint64_t clocks_with(const struct account *a, unsigned with, unsigned without,
			    unsigned least, unsigned most)
{
	uint64_t n = 0;

	for (unsigned s = 0; s < CLOCK_STATES; s++)
		if ((s & with) == with && !(s & without) && (s & CLOCK_STARTS) >= least &&
		    (s & CLOCK_STARTS) <= most)
			n += a->state[s];
	return n;
}

static uint64_t lost(const struct account *a, enum cause first, enum cause last)
{
	uint64_t n = 0;

	for (unsigned cause = first; cause <= last; cause++)
		n += a->lost[cause];
	return n;
}

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t slots_tally(const struct account *a, const struct spmu_core_shape *core,
			    uint64_t now, enum spmu_tally_kind tally)
{
	uint64_t all = (now - a->begun) * core->width / PART;
	uint64_t wrong = a->sum[SUM_WRONG] + a->lost[CAUSE_RECOVERY] * core->width / PART;
	uint64_t latency = lost(a, CAUSE_RESTEER, CAUSE_CODE_WALK) * core->width / PART;
	uint64_t bandwidth = a->lost[CAUSE_TAKEN] * core->width / PART;
	uint64_t back = less(all, a->sum[SUM_SLOTS] + wrong + latency + bandwidth);
	uint64_t memory =
		(a->lost[CAUSE_STORES] + lost(a, CAUSE_L1, CAUSE_MEMORY)) * core->width / PART;

	if (memory > back)
		memory = back;
	switch (tally) {
	case SPMU_TALLY_SLOTS:
		return all;
	case SPMU_TALLY_SLOTS_BAD_SPECULATION:
		return wrong;
	case SPMU_TALLY_SLOTS_FETCH_LATENCY:
		return latency;
	case SPMU_TALLY_SLOTS_FETCH_BANDWIDTH:
		return bandwidth;
	case SPMU_TALLY_SLOTS_FRONTEND:
		return latency + bandwidth;
	case SPMU_TALLY_SLOTS_BACKEND:
		return back;
	case SPMU_TALLY_SLOTS_MEMORY:
		return memory;
	default:
		return back - memory;
	}
}

/* Returns a tally of the clocks' states. */
static uint64_t state_tally(const struct account *a, enum spmu_tally_kind tally)
{
	const unsigned any = CLOCK_STARTS;

	switch (tally) {
	case SPMU_TALLY_CLOCKS_EXECUTED_0:
		return clocks_with(a, 0, 0, 0, 0);
	case SPMU_TALLY_CLOCKS_EXECUTED_1:
	case SPMU_TALLY_CLOCKS_EXECUTED_2:
	case SPMU_TALLY_CLOCKS_EXECUTED_3:
	case SPMU_TALLY_CLOCKS_EXECUTED_4:
		return clocks_with(a, 0, 0, tally - SPMU_TALLY_CLOCKS_EXECUTED_0, any);
	case SPMU_TALLY_CLOCKS_PORTS_0:
		return clocks_with(a, 0, CLOCK_NONE_WAIT, 0, 0);
	case SPMU_TALLY_CLOCKS_PORTS_1:
	case SPMU_TALLY_CLOCKS_PORTS_2:
	case SPMU_TALLY_CLOCKS_PORTS_3:
		return clocks_with(a, 0, 0, tally - SPMU_TALLY_CLOCKS_PORTS_0,
				   tally - SPMU_TALLY_CLOCKS_PORTS_0);
	case SPMU_TALLY_CLOCKS_PORTS_4:
		return clocks_with(a, 0, 0, 4, any);
	case SPMU_TALLY_CLOCKS_BOUND_ON_STORES:
		return clocks_with(a, CLOCK_STORES, CLOCK_LOAD, 0, 0);
	case SPMU_TALLY_CLOCKS_NONE_WAIT:
		return clocks_with(a, CLOCK_NONE_WAIT, 0, 0, any);
	case SPMU_TALLY_CLOCKS_LOAD:
		return clocks_with(a, CLOCK_LOAD, 0, 0, any);
	case SPMU_TALLY_CLOCKS_L1D_MISS:
		return clocks_with(a, CLOCK_L1_MISS, 0, 0, any);
	case SPMU_TALLY_CLOCKS_L2_MISS:
		return clocks_with(a, CLOCK_L2_MISS, 0, 0, any);
	case SPMU_TALLY_CLOCKS_L3_MISS:
		return clocks_with(a, CLOCK_L3_MISS, 0, 0, any);
	case SPMU_TALLY_STALLS_LOAD:
		return clocks_with(a, CLOCK_LOAD, 0, 0, 0);
	case SPMU_TALLY_STALLS_L1D_MISS:
		return clocks_with(a, CLOCK_L1_MISS, 0, 0, 0);
	case SPMU_TALLY_STALLS_L2_MISS:
		return clocks_with(a, CLOCK_L2_MISS, 0, 0, 0);
	case SPMU_TALLY_STALLS_L3_MISS:
		return clocks_with(a, CLOCK_L3_MISS, 0, 0, 0);
	default:
		return 0;
	}
}

/* Where a tally that is a sum is: a number of enum account_sum, and whether it has parts. */
static const struct sum_tally {
	uint16_t tally;
	uint8_t sum;
} sum_tallies[] = {
	{SPMU_TALLY_SLOTS_RETIRED, SUM_SLOTS},
	{SPMU_TALLY_UOPS_RETIRED, SUM_UOPS},
	{SPMU_TALLY_UOPS_MACRO_FUSED, SUM_FUSED},
	{SPMU_TALLY_UOPS_EXECUTED, SUM_EXECUTED},
	{SPMU_TALLY_UOPS_X87, SUM_X87},
	{SPMU_TALLY_UOPS_SLOW_LEA, SUM_SLOW_LEA},
	{SPMU_TALLY_MOVES_GENERAL, SUM_MOVES_GENERAL},
	{SPMU_TALLY_MOVES_VECTOR, SUM_MOVES_VECTOR},
	{SPMU_TALLY_CLOCKS_DELIVERED_0, SUM_DELIVERED_0},
	{SPMU_TALLY_CLOCKS_DELIVERED_1, SUM_DELIVERED_0 + 1},
	{SPMU_TALLY_CLOCKS_DELIVERED_2, SUM_DELIVERED_0 + 2},
	{SPMU_TALLY_CLOCKS_DELIVERED_3, SUM_DELIVERED_3},
	{SPMU_TALLY_CLOCKS_NOT_ISSUED, SUM_NOT_ISSUED},
	{SPMU_TALLY_CLOCKS_RETIRED, SUM_RETIRED_CLOCKS},
	{SPMU_TALLY_TIMES_NONE_WAIT, SUM_NONE_WAIT_TIMES},
	{SPMU_TALLY_LOAD_BUFFER_HITS, SUM_BUFFER_HITS},
	{SPMU_TALLY_LOAD_HITS_PREFETCH, SUM_PREFETCH_HITS},
	{SPMU_TALLY_LOAD_ALIASES, SUM_ALIASES},
	{SPMU_TALLY_LOAD_BLOCKED, SUM_BLOCKED},
	{SPMU_TALLY_CLEARS_ORDER, SUM_CLEARS_ORDER},
	{SPMU_TALLY_PREFETCH_L2_HITS, SUM_PREFETCH_L2_HITS},
	{SPMU_TALLY_PREFETCH_L2_MISSES, SUM_PREFETCH_L2_MISSES},
	{SPMU_TALLY_SPLIT_LOCKS, SUM_SPLIT_LOCKS},
	{SPMU_TALLY_BLENDS, SUM_BLENDS},
	{SPMU_TALLY_AVX_TO_SSE, SUM_AVX_TO_SSE},
	{SPMU_TALLY_SSE_TO_AVX, SUM_SSE_TO_AVX},
	{SPMU_TALLY_PAUSES, SUM_MARKS + MARK_PAUSE},
	{SPMU_TALLY_PREFETCHES_NTA, SUM_MARKS + MARK_PREFETCH_NTA},
	{SPMU_TALLY_PREFETCHES_T0, SUM_MARKS + MARK_PREFETCH_T0},
	{SPMU_TALLY_PREFETCHES_T1_T2, SUM_MARKS + MARK_PREFETCH_T1_T2},
	{SPMU_TALLY_PREFETCHES_W, SUM_MARKS + MARK_PREFETCH_W},
	{SPMU_TALLY_TRANSACTIONS, SUM_MARKS + MARK_TRANSACTION},
	{SPMU_TALLY_CLOCKS_DIVIDER, SUM_DIVIDER},
	{SPMU_TALLY_CLOCKS_LOCKED, SUM_LOCKED},
	{SPMU_TALLY_L1D_PENDING, SUM_L1D_PENDING},
	{SPMU_TALLY_OFFCORE_LOADS_PENDING, SUM_OFFCORE_LOADS},
	{SPMU_TALLY_OFFCORE_STORES_PENDING, SUM_OFFCORE_STORES},
	{SPMU_TALLY_MEMORY_LOADS_PENDING, SUM_MEMORY_LOADS},
	{SPMU_TALLY_LOAD_WALKS_PENDING, SUM_LOAD_WALKS},
	{SPMU_TALLY_STORE_WALKS_PENDING, SUM_STORE_WALKS},
	{SPMU_TALLY_CLOCKS_CODE_WALK, SUM_CODE_WALKS},
	{SPMU_TALLY_CLOCKS_CODE_OFFCORE, SUM_CODE_OFFCORE},
};

static const struct cause_tally {
	uint16_t tally;
	uint8_t first, last;
} cause_tallies[] = {
	{SPMU_TALLY_CLOCKS_RECOVERY, CAUSE_RECOVERY, CAUSE_RECOVERY},
	{SPMU_TALLY_CLOCKS_RESTEER, CAUSE_RESTEER, CAUSE_RESTEER},
	{SPMU_TALLY_CLOCKS_CODE_CACHE, CAUSE_CODE_CACHE, CAUSE_CODE_CACHE},
	{SPMU_TALLY_CLOCKS_STALLED, CAUSE_SERIAL, CAUSE_MEMORY},
	{SPMU_TALLY_CLOCKS_STALLED_WINDOW, CAUSE_CORE, CAUSE_MEMORY},
	{SPMU_TALLY_CLOCKS_STALLED_STORES, CAUSE_STORES, CAUSE_STORES},
	{SPMU_TALLY_CLOCKS_STALLED_SERIAL, CAUSE_SERIAL, CAUSE_SERIAL},
};

static const struct sum_tally span_tallies[] = {
	{SPMU_TALLY_CLOCKS_FILL_FULL, SPAN_FILL_FULL},
	{SPMU_TALLY_CLOCKS_OFFCORE_STORE, SPAN_OFFCORE_STORE},
	{SPMU_TALLY_CLOCKS_LOAD_WALK, SPAN_LOAD_WALK},
	{SPMU_TALLY_CLOCKS_STORE_WALK, SPAN_STORE_WALK},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Looks a tally up in the lists.  Returns false if it is in none. */
static bool listed_tally(const struct account *a, enum spmu_tally_kind tally, uint64_t *n)
{
	for (size_t i = 0; i < COUNT(sum_tallies); i++)
		if (sum_tallies[i].tally == tally) {
			*n = a->sum[sum_tallies[i].sum];
			*n /= sum_tallies[i].sum >= SUM_DIVIDER ? PART : 1;
			return true;
		}
	for (size_t i = 0; i < COUNT(cause_tallies); i++)
		if (cause_tallies[i].tally == tally) {
			*n = lost(a, cause_tallies[i].first, cause_tallies[i].last) / PART;
			return true;
		}
	for (size_t i = 0; i < COUNT(span_tallies); i++)
		if (span_tallies[i].tally == tally) {
			*n = a->span[span_tallies[i].sum].covers / PART;
			return true;
		}
	return false;
}

uint64_t account_tally(const struct account *a, const struct spmu_core_shape *core, uint64_t now,
		       enum spmu_tally_kind tally)
{
	uint64_t clocks = (now - a->begun) / PART, n;

	if (!a->on)
		return 0;
	if (tally == SPMU_TALLY_SLOTS ||
	    (tally >= SPMU_TALLY_SLOTS_BAD_SPECULATION && tally <= SPMU_TALLY_SLOTS_CORE))
		return slots_tally(a, core, now, tally);
	if (tally >= SPMU_TALLY_UOPS_PORT_0 && tally < SPMU_TALLY_UOPS_PORT_0 + TIMED_PORTS)
		return a->port[tally - SPMU_TALLY_UOPS_PORT_0];
	if (listed_tally(a, tally, &n))
		return n;
	switch (tally) {
	case SPMU_TALLY_CLOCKS:
		return clocks;
	case SPMU_TALLY_UOPS_ISSUED:
		return a->sum[SUM_SLOTS] + a->sum[SUM_WRONG];
	case SPMU_TALLY_CLOCKS_DELIVERED_ALL:
		return less(clocks, a->sum[SUM_NOT_DELIVERED]);
	case SPMU_TALLY_CLOCKS_NOT_RETIRED:
		return less(clocks, a->sum[SUM_RETIRED_CLOCKS]);
	case SPMU_TALLY_UOPS_PORTS_2_3:
		return a->port[2] + a->port[3];
	case SPMU_TALLY_UOPS_PORTS_4_9:
		return a->port[4] + a->port[9];
	case SPMU_TALLY_UOPS_PORTS_7_8:
		return a->port[7] + a->port[8];
	case SPMU_TALLY_TIMES_FILL_FULL:
		return a->span[SPAN_FILL_FULL].times;
	case SPMU_TALLY_DATA_WALKS_PENDING:
		return (a->sum[SUM_LOAD_WALKS] + a->sum[SUM_STORE_WALKS]) / PART;
	case SPMU_TALLY_WALKS_PENDING:
		return (a->sum[SUM_LOAD_WALKS] + a->sum[SUM_STORE_WALKS] + a->sum[SUM_CODE_WALKS]) /
		       PART;
	case SPMU_TALLY_PREFETCHES:
		return a->sum[SUM_MARKS + MARK_PREFETCH_NTA] +
		       a->sum[SUM_MARKS + MARK_PREFETCH_T0] +
		       a->sum[SUM_MARKS + MARK_PREFETCH_T1_T2] +
		       a->sum[SUM_MARKS + MARK_PREFETCH_W];
	case SPMU_TALLY_PREFETCH_L2_REFERENCES:
		return a->sum[SUM_PREFETCH_L2_HITS] + a->sum[SUM_PREFETCH_L2_MISSES];
	case SPMU_TALLY_L1D_PENDING_TIMES:
		return a->span[SPAN_L1D_MISS].times;
	default:
		return state_tally(a, tally);
	}
}

bool spmu_tally_is_timed(unsigned tally)
{
	return tally == SPMU_TALLY_SLOTS || tally == SPMU_TALLY_LOAD_BUFFER_HITS ||
	       tally == SPMU_TALLY_L1D_PENDING ||
	       (tally >= SPMU_TALLY_SLOTS_RETIRED && tally <= SPMU_TALLY_CLOCKS) ||
	       (tally >= SPMU_TALLY_UOPS_DSB && tally <= SPMU_TALLY_WALKS_PENDING);
}

static bool needs_ports(unsigned tally)
{
	return tally == SPMU_TALLY_CLOCKS_DIVIDER ||
	       (tally >= SPMU_TALLY_UOPS_PORT_0 && tally <= SPMU_TALLY_UOPS_PORT_9) ||
	       (tally >= SPMU_TALLY_UOPS_PORTS_2_3 && tally <= SPMU_TALLY_UOPS_PORTS_7_8);
}

/* Returns whether a core has the part of the front end that a tally needs. */
static bool front_supplies(const struct spmu_core_shape *core, unsigned tally)
{
	if (!spmu_tally_is_of_front(tally))
		return true;
	if (tally >= SPMU_TALLY_UOPS_LSD && tally <= SPMU_TALLY_CLOCKS_LSD_FULL)
		return core->front.loop != 0;
	if (tally == SPMU_TALLY_UOPS_DSB || tally == SPMU_TALLY_UOPS_MS_DSB ||
	    tally == SPMU_TALLY_UOPS_ANY_DSB || tally == SPMU_TALLY_CLOCKS_ANY_DSB ||
	    tally == SPMU_TALLY_CLOCKS_DSB || tally == SPMU_TALLY_CLOCKS_DSB_FULL ||
	    tally == SPMU_TALLY_DSB_SWITCHES || tally == SPMU_TALLY_DSB_MISSES)
		return core->front.sets != 0;
	if (tally == SPMU_TALLY_CLOCKS_LENGTH)
		return core->front.length != 0;
	return core->front.decoders != 0;
}

void spmu_timeline_supplies(const struct spmu_core_shape *core, struct spmu_supply *supply)
{
	supply->modelled |= SPMU_SIGSET_CLOCKS;
	for (unsigned t = 1; t < SPMU_TALLIES; t++)
		if (spmu_tally_is_timed(t) && (core->costs->unit || !needs_ports(t)) &&
		    front_supplies(core, t))
			spmu_tally_set_add(&supply->modelled_tallies, t);
}
