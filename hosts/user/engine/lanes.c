/* SPDX-License-Identifier: MIT */
/*
 * lanes.c: headroom as code uses it: the list of meters, how the room of each is shared out to its
 * lanes, and the modes in which code is charged.
 *
 * Bulk code charges the meters a few instructions late, so while it runs a reserve of
 * each headroom is kept back.  Careful code charges them first: there a reserve is needed only for
 * what the outcome of a branch adds.
 */
#include "keep.h"
#include "sys.h"
#include "threads.h"
#include "units.h"

#define CAREFUL_ROOM 256		  /* with less, careful code runs if there is some */
#define STEPS_ROOM   (2 * STEP_INSNS_MAX) /* with less, steps */
#define LANES_ROOM   128		  /* with less, nothing is learnt of the use of lanes */
#define WEIGHT_LEAST 8			  /* of a lane; the others have up to 2^13 */
#define UNDIVIDED    (INT64_C(1) << 17)	  /* for a rest of it nothing comes back */
#define LEARNT_MOST  (UINT64_C(1) << 18)  /* occurrences: what came before these counts for less */

/*
 * Where only counts are wanted, room is for hours.  Then blocks that go upward are not checked, as
 * a check costs as much as a charge and more.  Each way round a loop, and each return, comes
 * through one that is.  So bulk code comes back after so many checks at the most as it has portions
 * of room, with UPWARD_SPAN instructions before each: all of that is kept back.
 */
#define DISTANT_INSNS (INT64_C(2) * HOT_PORTION_MAX * UPWARD_SPAN)

/* Lanes that blocks use.  Each is one more move of room before an overflow, so more than two pay
 * where all overflows are distant. */
#define NEAR_LANES 2
static unsigned lanes = NEAR_LANES;

uint64_t meter_signals[LANED_METERS];
unsigned meters;
static bool distant; /* all threads have room for that */

/* Take over the units' lists; true when they are not those that code was translated for. */
static bool refresh_meters(void)
{
	struct counting *c = current->counting;
	unsigned n = 0;
	bool same = true;

	for (unsigned u = 0; u < c->units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (!(m->rings & SPMU_RINGX))
				continue;
			same = same && n < meters && meter_signals[n] == m->signals;
			meter_signals[n] = m->signals;
			c->meter[n++].unit = m;
		}
	same = same && n == meters;
	meters = n;
	return !same;
}

/*
 * Share `room` among the lanes by what they used lately, in fractions of 2^16: one short division,
 * as a long one for each lane would cost more than the rest of the exit.
 */
static void share_out(unsigned m, int64_t all)
{
	struct counting *c = current->counting;
	int64_t *lane = current->lane[m], room = all, left;
	uint32_t sum = 1, weight[LANES] = {0}, inverse;
	uint64_t most = 0;
	unsigned shift;

	if (room > hot_portion && room > UNDIVIDED) /* code is to come back now and then */
		room = hot_portion;
	c->meter[m].held = all - room;
	c->handed_out += m == 0 ? room : 0;
	left = room;
	for (unsigned i = 0; i < lanes; i++)
		most |= c->meter[m].used[i];
	shift = most >> 12 ? 52 - (unsigned)__builtin_clzll(most) : 0;
	for (unsigned i = 0; i < lanes; i++)
		sum += weight[i] = (uint32_t)(c->meter[m].used[i] >> shift) + WEIGHT_LEAST;
	inverse = (1u << 31) / sum;
	for (unsigned i = 0; i < LANES; i++) {
		lane[i] =
			room * (int64_t)(weight[i] * inverse >> 15) >> 16; /* room is below 2^47 */
		left -= lane[i];
	}
	lane[0] += left;
	memcpy(c->meter[m].granted, lane, sizeof(c->meter[m].granted));
}

/* Little room, or little for this lane: n for it and as much as the others get. */
static void share_evenly(unsigned m, unsigned lane, unsigned n, int64_t all)
{
	struct counting *c = current->counting;
	int64_t room = all < hot_portion ? all : hot_portion, each = (room - n) / lanes;

	c->meter[m].held = all - room;
	for (unsigned i = 0; i < LANES; i++)
		current->lane[m][i] = i < lanes ? each : 0;
	current->lane[m][lane] = room - each * (lanes - 1);
	memcpy(c->meter[m].granted, current->lane[m], sizeof(c->meter[m].granted));
}

static void grant_first(unsigned m, int64_t room)
{
	struct counting *c = current->counting;

	c->meter[m].held = 0;
	memset(current->lane[m], 0, sizeof(current->lane[m]));
	current->lane[m][0] = room;
}

/* Does whatever leaves a block that goes anywhere but upward count? */
static bool is_frequent(uint64_t signals)
{
	return signals & SPMU_SIGBIT(INSTRUCTIONS) || !(~signals & SPMU_SIGSET_BRANCHES);
}

unsigned lane_of(uint32_t block_number)
{
	return block_number & (lanes - 1);
}

bool meter_is_distant(unsigned m)
{
	return distant && is_frequent(meter_signals[m]);
}

/* What may happen without being checked, at the most: the instructions before a block's check, or
 * a distant one's; in careful code the outcome of a branch. */
static int64_t reserve_of(uint64_t signals, enum counting_mode in)
{
	int64_t insns = distant && is_frequent(signals) ? DISTANT_INSNS : CHECK_INSNS_MAX;
	unsigned each = 0;

	if (in == COUNTING_PRECISE)
		return 0;
	if (in == COUNTING_CAREFUL)
		return (signals & COND_SIGNALS) && (signals & COND_SIGNALS) != COND_SIGNALS;
	if (!(signals & ~SPMU_SIGSET_BRANCHES))
		return insns; /* one kind of branch an instruction */
	for (; signals; signals &= signals - 1)
		each++;
	return each * insns;
}

static int64_t room_of(unsigned m)
{
	struct counting *c = current->counting;
	int64_t room = c->meter[m].held;

	for (unsigned i = 0; i < LANES; i++)
		room += current->lane[m][i];
	return room;
}

/* Notes what each lane has used. */
static void learn(unsigned m)
{
	struct counting *c = current->counting;
	uint64_t all = 0;

	for (unsigned i = 0; i < LANES; i++) {
		int64_t used = c->meter[m].granted[i] - current->lane[m][i];

		c->meter[m].used[i] += used > 0 ? (uint64_t)used : 0;
		all += c->meter[m].used[i];
	}
	for (; all > LEARNT_MOST; all /= 2)
		for (unsigned i = 0; i < LANES; i++)
			c->meter[m].used[i] /= 2;
}

bool counting_rebalance(unsigned m, unsigned lane, unsigned n)
{
	int64_t room = room_of(m);

	if (room < (int64_t)n)
		return false;
	if (room >= LANES_ROOM) {
		learn(m);
		share_out(m, room);
	}
	if (current->lane[m][lane] < n)
		share_evenly(m, lane, n, room);
	return true;
}

bool counting_is_distant(void)
{
	return distant;
}

bool counting_all_distant(void)
{
	for (unsigned m = 0; m < meters; m++)
		if (!meter_is_distant(m))
			return false;
	return true;
}

bool counting_low(void)
{
	for (unsigned m = 0; m < meters; m++)
		if (!meter_is_distant(m) && room_of(m) < CAREFUL_ROOM)
			return true;
	return false;
}

bool counting_few(unsigned m)
{
	return is_frequent(meter_signals[m]) && room_of(m) <= STEPS_ROOM;
}

/* Where a period is shorter than a portion many of them are one. */
bool counting_portion_over(void)
{
	struct counting *c = current->counting;
	bool over = c->handed_out >= hot_portion;

	for (unsigned m = 0; m < meters; m++)
		over |= c->meter[m].held > 0;
	if (over)
		c->handed_out = 0;
	return over;
}

/* Precise mode: do meters, or those alone that may be distant, have what bulk code keeps back?  The
 * service routine may have changed the lists. */
static bool has_reserves(bool all)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			const struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (m->rings & SPMU_RINGX && (all || is_frequent(m->signals)) &&
			    m->headroom < reserve_of(m->signals, COUNTING_BULK))
				return false;
		}
	return true;
}

void counting_mode(enum counting_mode to)
{
	struct counting *c = current->counting;

	if (to == c->mode)
		return;
	if (to == COUNTING_PRECISE)
		branches_take();
	else if (c->mode == COUNTING_PRECISE)
		branches_resume();
	if (c->mode == COUNTING_PRECISE && refresh_meters()) {
		if (!threads_alone())
			engine_unsupported("internal error: units of two threads differ");
		distant = true;
		distant = has_reserves(false);
		lanes = counting_all_distant() ? LANES : NEAR_LANES;
		blocks_flush();
		keep_load();
	}
	for (unsigned m = 0; m < meters; m++) {
		int64_t room = c->meter[m].reserve;

		room += c->mode == COUNTING_PRECISE ? c->meter[m].unit->headroom : room_of(m);
		if (c->mode == COUNTING_BULK && room >= LANES_ROOM)
			learn(m);
		c->meter[m].reserve = reserve_of(meter_signals[m], to);
		room -= c->meter[m].reserve;
		if (to == COUNTING_PRECISE)
			c->meter[m].unit->headroom = room;
		else if (to == COUNTING_CAREFUL)
			grant_first(m, room);
		else if (room >= LANES_ROOM)
			share_out(m, room);
		else
			share_evenly(m, 0, 0, room);
	}
	c->mode = to;
}

/* From now on all blocks are checked. */
static void end_distance(void)
{
	engine_lock();
	threads_stop();
	if (distant)
		blocks_flush();
	distant = false;
	lanes = NEAR_LANES;
	threads_go();
	engine_unlock();
}

bool counting_bulk_possible(void)
{
	struct counting *c = current->counting;

	if (c->mode == COUNTING_PRECISE) {
		if (distant && !has_reserves(false))
			end_distance();
		return has_reserves(true);
	}
	for (unsigned m = 0; m < meters; m++)
		if (room_of(m) < 0)
			return false;
	return true;
}

uint32_t counting_budget(void)
{
	struct counting *c = current->counting;
	uint32_t budget = 0;

	if (meters > STEP_METERS_MAX || branch_signals || current->run.recording ||
	    current->run.trap_flag || current->run.steps_due > 1)
		return STEP_ALONE;
	for (unsigned m = 0; m < meters; m++) {
		int64_t room = c->meter[m].unit->headroom + c->meter[m].unit->quiet;

		room = room < 0 ? 0 : room;
		room = room > STEP_BUDGET_MOST ? STEP_BUDGET_MOST : room;
		budget |= (uint32_t)room << STEP_BUDGET_BITS * m;
	}
	return budget;
}
