/* SPDX-License-Identifier: MIT */
/*
 * event_costs.c: what each instruction costs of the events of the run.
 *
 * Some signals follow from the instruction.  The others, and all tallies, are what the thread's
 * model counts while it is told of the instruction.  So clocks are those by which it retires after
 * the one before it, and those in which a mispredicted branch holds up what comes after it.
 */
#include "engine/count/event_costs.h"

#include "engine/count/activity_parts.h"
#include "engine/count/costs_parts.h"
#include "engine/rt/engine.h"

_Static_assert(SPMU_SIGSET_ARCHITECTURAL <= UINT32_MAX, "instructions have signals of 32 bits");

/* What only the model counts. */
#define MODEL  (ACTIVITY_SIGNALS | SPMU_SIGSET_CLOCKS)
#define MEMORY (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES))

/* The signals of each event that follow from instructions.  All threads have the same. */
static uint64_t signals_of[LINK_COSTS];

/* The signals and tallies of the model that events count. */
static struct counter {
	bool tally;
	uint16_t number;
	uint16_t events; /* bit e: event e counts it */
	unsigned wanted; /* what it wants of the log of activity */
} counter[COSTS_COUNTERS];
static unsigned counters;
static unsigned wanted; /* of the log of activity */
_Static_assert(LINK_COSTS <= 16, "events have a bit each");

bool event_costs_wanted(void)
{
	return engine_link->want & LINK_WANT_EVENT_COSTS;
}

bool event_costs_need_accesses(void)
{
	return wanted & ACTIVITY_ACCESSES;
}

static void count_too(unsigned e, bool tally, unsigned number, unsigned wants)
{
	unsigned i = 0;

	while (i < counters && (counter[i].tally != tally || counter[i].number != number))
		i++;
	if (i == COSTS_COUNTERS)
		engine_fail(125, "the events count too much of the model");
	if (i == counters)
		counter[counters++] = (struct counter){.tally = tally, .number = (uint16_t)number};
	counter[i].events |= (uint16_t)(1u << e);
	counter[i].wanted |= wants;
}

void event_costs_add(unsigned e, const struct spmu_meter *meter)
{
	unsigned wants = activity_wanted(meter);

	wanted |= wants;
	signals_of[e] |= meter->signals & ~MODEL;
	for (uint64_t set = meter->signals & MODEL; set; set &= set - 1)
		count_too(e, false, (unsigned)__builtin_ctzll(set), wants);
	if (meter->tallies)
		ACTIVITY_EACH_TALLY (t, meter->tallies)
			count_too(e, true, t, wants);
}

static void add(struct costs *c, struct insn_cost *insn, unsigned e, uint64_t n)
{
	if (!c->counts)
		return;
	insn->cost[e] += n;
	c->cost[e] += n;
}

static unsigned occurrences(unsigned e, uint64_t signals)
{
	return (unsigned)__builtin_popcountll(signals_of[e] & signals);
}

void event_costs_describe(struct insn_cost *insn, uint64_t signals)
{
	insn->signals = (uint32_t)signals;
	for (unsigned e = 0; e < engine_link->events && event_costs_wanted(); e++)
		insn->each[e] = (uint8_t)occurrences(e, signals);
}

/* Returns what the model has counted since the last time. */
static uint64_t counted(struct activity *a, unsigned i)
{
	uint64_t now = counter[i].tally ? activity_tallied(a, counter[i].number)
					: activity_counted(a, counter[i].number);

	return activity_new(&a->costs->counted[i], now);
}

/* Adds what has been counted by counters that want any of this. */
static void count(struct activity *a, struct insn_cost *insn, unsigned what)
{
	for (unsigned i = 0; i < counters; i++) {
		uint64_t n = counter[i].wanted & what ? counted(a, i) : 0;

		for (unsigned events = n ? counter[i].events : 0; events; events &= events - 1)
			add(a->costs, insn, (unsigned)__builtin_ctz(events), n);
	}
}

void event_costs_count(struct activity *a, struct insn_cost *insn)
{
	count(a, insn, ~0u);
}

void event_costs_skip(struct activity *a)
{
	for (unsigned i = 0; i < counters; i++)
		(void)counted(a, i);
}

void event_costs_retire(struct activity *a, struct insn_cost *insn, bool accessed, bool idle)
{
	insn->times += a->costs->counts;
	for (unsigned e = 0; e < engine_link->events; e++)
		add(a->costs, insn, e,
		    idle ? occurrences(e, insn->signals & ~MEMORY) : insn->each[e]);
	count(a, insn, ACTIVITY_CLOCKS | (accessed ? ACTIVITY_ACCESSES : 0));
}

void event_costs_branch(struct activity *a, struct insn_cost *insn,
			const struct spmu_executed_branch *branch)
{
	uint64_t outcome = branch->taken ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);

	for (unsigned e = 0; e < engine_link->events; e++)
		if (branch->kind == SPMU_BRANCH_CONDITIONAL && signals_of[e] & outcome)
			add(a->costs, insn, e, 1);
	event_costs_count(a, insn);
}

void event_costs_access(struct activity *a, uint64_t address, uint32_t bytes, unsigned kind)
{
	if (!(kind & SPMU_UARCH_PREFETCH))
		a->costs->pointer = kind & SPMU_UARCH_LOAD ? address + bytes : address;
}
