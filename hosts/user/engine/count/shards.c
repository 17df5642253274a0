/* SPDX-License-Identifier: MIT */
/*
 * shards.c: the headroom of each meter, as translated code uses it.
 *
 * It has the list of meters, divides the headroom of each between its shards, and chooses the mode
 * in which code is charged.
 *
 * Bulk code subtracts its charge a few instructions late.  So while it runs, a reserve of each
 * headroom is kept back for these instructions.  A low-headroom block charges before it runs.  It
 * needs a reserve only for what depends on the outcome of its branch.
 */
#include <softpmu/uarch_time.h>

#include "engine/count/activity.h"
#include "engine/count/branch_clocks.h"
#include "engine/count/costs.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/headroom.h"
#include "engine/count/meter_list.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define LOW_HEADROOM	256 /* with less, low-headroom code runs, if there is some */
#define STEPS_HEADROOM	(2 * STEP_INSNS_MAX) /* with less, precise steps */
#define SHARDS_HEADROOM 128 /* with less, nothing is learnt about the use of shards */
#define WEIGHT_LEAST	8   /* of a shard; the others have up to 2^13 */
#define UNDIVIDED	(INT64_C(1) << 17)  /* headroom that is not divided into quanta */
#define LEARNT_MOST	(UINT64_C(1) << 18) /* occurrences: older ones weigh less */

/*
 * When only counts are wanted, the headroom lasts for hours.  Then forward-only blocks are not
 * checked, because a check costs at least as much as a charge.  Each turn of a loop, and each
 * return, contains a block that is checked.  Such a block uses up at least one occurrence of the
 * quantum, and at most FORWARD_SPAN instructions run before each check.  All of that is kept back.
 */
#define UNCHECKED_INSNS (INT64_C(2) * SHARDS_QUANTUM_MAX * FORWARD_SPAN)

/* Shards that blocks use.  Each is one more move of headroom before an overflow, so more than
 * two pay only while all overflows are far away. */
#define CHECKED_SHARDS 2

#define WINDOW_REST    512 /* a window ends earlier: more than a block uses up */
#define WINDOW_SIGNALS SPMU_SIGBIT(INSTRUCTIONS)

int64_t shards_quantum = SHARDS_QUANTUM_MIN;

/* Precise mode: returns the headroom of a unit's meter, that of static clocks in parts. */
static int64_t headroom_of_unit(const struct spmu_meter *meter)
{
	return meter_is_of_clocks(meter->signals)
		       ? meter->headroom * SPMU_CLOCK_PARTS - current->counting->clock_parts
		       : meter->headroom;
}

/* Gives a unit's meter its headroom back.  Meters of clocks have passed the same clocks. */
static void set_headroom_of_unit(unsigned m, int64_t headroom)
{
	struct counting *c = current->counting;

	if (meter_counts_clocks(m)) {
		c->clock_parts = (unsigned)-headroom & (SPMU_CLOCK_PARTS - 1);
		headroom = (headroom + c->clock_parts) / SPMU_CLOCK_PARTS;
	}
	c->meter[m].unit->headroom = headroom;
}

static bool counts_windows(unsigned m)
{
	return windows_wanted() && current->counting->meter[m].unit == &current->counting->window;
}

/* Returns how much of its headroom code gets of a meter at a time, if there is enough. */
static int64_t quantum_of(unsigned m, int64_t headroom)
{
	int64_t left;

	if (meter_counts_clocks(m))
		return shards_quantum * SPMU_CLOCK_PARTS;
	if (!counts_windows(m))
		return shards_quantum;
	left = windows_left(headroom + current->counting->meter[m].reserve);
	return left > 0 ? left : 0;
}

/*
 * Divides `headroom` between the shards by their recent use, in fractions of 2^16.  This needs
 * one short division.  A long one for each shard would cost more than the rest of the exit.
 */
static void share_out(unsigned m, int64_t all)
{
	struct counting *c = current->counting;
	int64_t *shard = current->shard[m], headroom = all, left, quantum = quantum_of(m, all);
	uint32_t sum = 1, weight[SHARDS] = {0}, inverse;
	uint64_t most = 0;
	unsigned shift;

	if (headroom > quantum && headroom > UNDIVIDED) /* code must return now and then */
		headroom = quantum;
	c->meter[m].held = all - headroom;
	if (m == 0)
		c->handed_out += meter_counts_clocks(m) ? headroom / SPMU_CLOCK_PARTS : headroom;
	left = headroom;
	for (unsigned i = 0; i < current->list->shards; i++)
		most |= c->meter[m].used[i];
	shift = most >> 12 ? 52 - (unsigned)__builtin_clzll(most) : 0;
	for (unsigned i = 0; i < current->list->shards; i++)
		sum += weight[i] = (uint32_t)(c->meter[m].used[i] >> shift) + WEIGHT_LEAST;
	inverse = (1u << 31) / sum;
	for (unsigned i = 0; i < SHARDS; i++) {
		shard[i] = headroom * (int64_t)(weight[i] * inverse >> 15) >>
			   16; /* headroom is below 2^47 */
		left -= shard[i];
	}
	shard[0] += left;
	memcpy(c->meter[m].granted, shard, sizeof(c->meter[m].granted));
}

/* Gives this shard headroom for n occurrences, and each other shard as much.  Used when the
 * meter or this shard has little. */
static void share_evenly(unsigned m, unsigned shard, unsigned n, int64_t all)
{
	struct counting *c = current->counting;
	int64_t quantum = quantum_of(m, all), headroom = all < quantum ? all : quantum,
		each = (headroom - n) / current->list->shards;

	c->meter[m].held = all - headroom;
	for (unsigned i = 0; i < SHARDS; i++)
		current->shard[m][i] = i < current->list->shards ? each : 0;
	current->shard[m][shard] = headroom - each * (current->list->shards - 1);
	memcpy(c->meter[m].granted, current->shard[m], sizeof(c->meter[m].granted));
}

static void grant_first(unsigned m, int64_t headroom)
{
	struct counting *c = current->counting;

	c->meter[m].held = 0;
	memset(current->shard[m], 0, sizeof(current->shard[m]));
	current->shard[m][0] = headroom;
}

/* Returns whether the signals count every branch that can leave a block other than forward, as
 * static clocks do.  A meter that a model counts needs no check, either. */
static bool is_frequent(uint64_t signals)
{
	return !signals || signals & SPMU_SIGBIT(INSTRUCTIONS) ||
	       !(~signals & SPMU_SIGSET_BRANCHES) || meter_is_of_clocks(signals);
}

bool shards_is_unchecked(unsigned m)
{
	return current->list->unchecked && is_frequent(current->list->signals[m]);
}

/* Returns how many occurrences can pass unchecked: in the instructions before the check of a
 * block, or of an unchecked path; in low-headroom code, the outcome of a branch. */
static int64_t reserve_of(uint64_t signals, enum counting_mode in, bool unchecked)
{
	int64_t insns = unchecked && is_frequent(signals) ? UNCHECKED_INSNS : CHECK_INSNS_MAX;
	unsigned each = 0;

	if (in == COUNTING_PRECISE)
		return 0;
	if (in == COUNTING_LOW_HEADROOM)
		return (signals & COND_SIGNALS) && (signals & COND_SIGNALS) != COND_SIGNALS;
	if (meter_is_of_clocks(signals))
		return insns / CHECK_INSNS_MAX * CHECK_PARTS_MAX;
	if (!(signals & ~SPMU_SIGSET_BRANCHES))
		return insns; /* one kind of branch for each instruction */
	for (; signals; signals &= signals - 1)
		each++;
	return each * insns;
}

/* Notes what each shard has used. */
static void learn(unsigned m)
{
	struct counting *c = current->counting;
	uint64_t all = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		int64_t used = c->meter[m].granted[i] - current->shard[m][i];

		c->meter[m].used[i] += used > 0 ? (uint64_t)used : 0;
		all += c->meter[m].used[i];
	}
	for (; all > LEARNT_MOST; all /= 2)
		for (unsigned i = 0; i < SHARDS; i++)
			c->meter[m].used[i] /= 2;
}

bool shards_rebalance(unsigned m, unsigned shard, unsigned n)
{
	int64_t headroom = headroom_of_bulk(m);

	if (headroom < (int64_t)n)
		return false;
	if (headroom >= SHARDS_HEADROOM) {
		learn(m);
		share_out(m, headroom);
	}
	if (current->shard[m][shard] < n)
		share_evenly(m, shard, n, headroom);
	flow_share();
	return true;
}

bool shards_all_unchecked(void)
{
	for (unsigned m = 0; m < current->list->meters; m++)
		if (!shards_is_unchecked(m))
			return false;
	return true;
}

/* Low-headroom blocks are shorter, and would have other static clocks. */
bool shards_low(void)
{
	if (current->list->clocks)
		return false;
	for (unsigned m = 0; m < current->list->meters; m++)
		if (!shards_is_unchecked(m) && headroom_of_bulk(m) < LOW_HEADROOM)
			return true;
	return false;
}

bool shards_window_over(void)
{
	unsigned m = current->list->meters - 1;

	return current->list->meters && counts_windows(m) &&
	       windows_left(headroom_of_bulk(m) + current->counting->meter[m].reserve) <
		       WINDOW_REST;
}

bool shards_few(unsigned m)
{
	return is_frequent(current->list->signals[m]) && headroom_of_bulk(m) <= STEPS_HEADROOM;
}

/* If periods are shorter than a quantum, several of them are one quantum. */
bool shards_quantum_over(void)
{
	struct counting *c = current->counting;
	bool over = c->handed_out >= shards_quantum;

	for (unsigned m = 0; m < current->list->meters; m++)
		over |= c->meter[m].held > 0;
	if (over)
		c->handed_out = 0;
	return over;
}

/* --- the list --- */

/*
 * Sets the window.  What a model of the machine counts is known only after the code has run.  So
 * bulk code may run only a number of instructions that cannot use up the headroom of a meter of the
 * model.  This holds even if each instruction has as many occurrences as possible.  The window is a
 * meter of instructions, and is set in precise mode.  While nothing is sampled, no overflow is
 * near, and there is no window.
 */
static void set_window(void)
{
	struct counting *c = current->counting;
	int64_t headroom = INT64_MAX;

	if (!c->samples)
		return;
	for (unsigned u = 0; u < c->set.units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			const struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (!(m->rings & SPMU_RING_USER) || !activity_wanted(m))
				continue;
			if (activity_window(m) < headroom)
				headroom = activity_window(m);
		}
	c->window.headroom = headroom;
}

/* In precise mode: returns whether the meters (or only those that may be unchecked) have what
 * bulk code keeps back.  The service routine may have changed the lists. */
static bool has_reserves(bool all, bool unchecked)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->set.units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			const struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (m->rings & SPMU_RING_USER && (all || is_frequent(m->signals)) &&
			    headroom_of_unit(m) < reserve_of(m->signals, COUNTING_BULK, unchecked))
				return false;
		}
	set_window();
	return !c->samples ||
	       c->window.headroom >= reserve_of(WINDOW_SIGNALS, COUNTING_BULK, unchecked);
}

/* Adds the window to the list, as its last meter. */
static void add_window(struct meter_list *list)
{
	struct counting *c = current->counting;
	unsigned n = list->meters;

	if (!windows_wanted() && (!c->samples || !(list->activity & ACTIVITY_METERS)))
		return;
	list->signals[n] = WINDOW_SIGNALS;
	list->meters++;
	c->meter[n].modelled = false;
	c->meter[n].reserve = 0;
	c->meter[n].unit = &c->window;
}

/* Notes where the units' meters are, and what they are in *list.  Returns true if that is the list
 * that the thread has. */
static bool read_units(struct meter_list *list)
{
	struct counting *c = current->counting;
	const struct meter_list *own = current->list;
	unsigned n = 0;
	bool same = true;

	for (unsigned u = 0; u < c->set.units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (!(m->rings & SPMU_RING_USER))
				continue;
			c->meter[n].modelled = activity_wanted(m) != 0;
			list->activity |= activity_wanted(m);
			list->signals[n] = c->meter[n].modelled ? 0 : m->signals;
			list->clocks |= meter_is_of_clocks(list->signals[n]);
			same = same && n < own->meters && own->signals[n] == list->signals[n];
			c->meter[n].reserve = 0;
			c->meter[n++].unit = m;
		}
	list->meters = n;
	add_window(list);
	list->addresses = c->addresses;
	list->flow = flow_is_wanted() && current->events_on;
	if (list->flow)
		list->branch_signals = SPMU_SIGSET_TAKEN & ~SPMU_SIGBIT(FAR);
	else
		branches_wanted(&list->branch_signals, &list->branch_kinds);
	list->clocks |= engine_link->branch_clocks && list->branch_kinds && !list->flow;
	list->activity |= activity_of_branches(list->branch_signals) | activity_of_records();
	list->activity |= costs_activity();
	if (windows_skipping(c))
		list->activity = 0;
	if (list->activity)
		activity_prepare(list->activity, list->meters);
	return same && list->meters == own->meters && list->activity == own->activity &&
	       list->branch_signals == own->branch_signals &&
	       list->branch_kinds == own->branch_kinds && list->flow == own->flow &&
	       list->addresses == own->addresses;
}

static bool are_all_frequent(const struct meter_list *list)
{
	bool all = list->unchecked;

	for (unsigned m = 0; m < list->meters; m++)
		all = all && is_frequent(list->signals[m]);
	return all;
}

static void take_list(struct meter_list *list, bool unchecked)
{
	list->unchecked = unchecked;
	list->shards = are_all_frequent(list) && !list->flow ? SHARDS : CHECKED_SHARDS;
	current->list = meter_list_find(list);
}

void shards_follow_units(void)
{
	union meter_list_room buffer;

	memset(&buffer.list, 0, sizeof(buffer.list));
	if (!read_units(&buffer.list))
		take_list(&buffer.list, has_reserves(false, true));
}

/* Checks all blocks from now on. */
static void end_unchecked(void)
{
	union meter_list_room buffer;

	memcpy(&buffer, current->list, meter_list_bytes(current->list->meters));
	take_list(&buffer.list, false);
}

void shards_set_mode(enum counting_mode to)
{
	struct counting *c = current->counting;
	enum counting_mode from = c->mode;

	if (to == from)
		return;
	activity_take();
	if (to == COUNTING_PRECISE)
		branches_take();
	if (from == COUNTING_PRECISE) {
		shards_follow_units();
		branches_resume();
		if (engine_link->branch_clocks)
			branch_clocks_begin(current->pc);
		flow_resume();
		set_window();
	}
	for (unsigned m = 0; m < current->list->meters; m++) {
		int64_t headroom = c->meter[m].reserve;

		headroom += from == COUNTING_PRECISE ? headroom_of_unit(c->meter[m].unit)
						     : headroom_of_bulk(m);
		if (from == COUNTING_BULK && headroom >= SHARDS_HEADROOM)
			learn(m);
		c->meter[m].reserve =
			reserve_of(current->list->signals[m], to, current->list->unchecked);
		headroom -= c->meter[m].reserve;
		if (to == COUNTING_PRECISE)
			set_headroom_of_unit(m, headroom);
		else if (to == COUNTING_LOW_HEADROOM)
			grant_first(m, headroom);
		else if (headroom >= SHARDS_HEADROOM)
			share_out(m, headroom);
		else
			share_evenly(m, 0, 0, headroom);
	}
	c->mode = to;
	if (to != COUNTING_PRECISE)
		flow_share();
}

bool shards_bulk_possible(void)
{
	struct counting *c = current->counting;

	if (c->mode == COUNTING_PRECISE) {
		if (current->list->unchecked && !has_reserves(false, true))
			end_unchecked();
		return has_reserves(true, current->list->unchecked);
	}
	for (unsigned m = 0; m < current->list->meters; m++)
		if (headroom_of_bulk(m) < 0)
			return false;
	return true;
}

uint32_t shards_step_headroom(void)
{
	struct counting *c = current->counting;
	/* An instruction in the middle of a step is reported without its accesses. */
	bool go_on = !current->list->addresses;
	uint32_t fields = 0;

	if (current->list->meters > STEP_METERS_MAX || current->list->branch_signals ||
	    current->list->clocks || current->list->activity || current->run.recording ||
	    current->run.trap_flag || current->run.steps_due > 1)
		return STEP_ALONE;
	for (unsigned m = 0; m < current->list->meters; m++) {
		int64_t headroom =
			c->meter[m].unit->headroom + (go_on ? c->meter[m].unit->silent : 0);

		headroom = headroom < 0 ? 0 : headroom;
		headroom = headroom > STEP_HEADROOM_MAX ? STEP_HEADROOM_MAX : headroom;
		fields |= (uint32_t)headroom << STEP_HEADROOM_BITS * m;
	}
	return fields;
}
