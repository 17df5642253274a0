/* SPDX-License-Identifier: MIT */
/*
 * lbr.c: the unit keeps last branch records (17.4.2, 17.4.8, 17.7 to 17.10). lbr_select.c says
 * which branches become entries.
 *
 * TOS names the newest entry. It moves before an entry is written. Architectural records have no
 * such register: entry 0 is the newest. So TOS is inside the unit, and says where register 0 is
 * kept. IA32_LBR_DEPTH says how many entries there are. A write to it clears them all, and the
 * registers of further entries raise #GP.
 *
 * With EN_CALLSTACK only near calls are pushed, and near returns remove the newest entry, which
 * then reads as 0 (17.9). A relative call to the next instruction ("zero length call") is no entry
 * in that mode. Hosts do not report the length of an instruction, so such a call is recognized by
 * the length of CALL rel32 without prefixes.
 *
 * An interrupt or exception first copies the newest entry to the last exception record, as the P6
 * family does (17.11.3, 17.14.2), and then becomes an entry itself.
 *
 * Clocks between entries are counted only if the host supplies core clocks; otherwise they read 0.
 * Entries of some models log events of the general counters (EN_LBR_LOG of their event selects).
 * Counters with a threshold log nothing.
 * Addresses have 32 bits outside IA-32e mode (17.4.8.1, 17.4.8.3).
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

/* Each counter's field of what a record logs. */
#define LOG_BITS     2
#define LOG_MAX	     UINT64_C(3)
#define LOG_COUNTERS 4

/* Adds core clocks to the time since the newest entry. */
void lbr_clocks(struct thread *thread, uint64_t clocks)
{
	uint64_t sum = thread->state.lbr_clocks + clocks;

	if (thread->lbr.clocks && thread->state.lbr_clocks != LBR_CLOCKS_UNKNOWN)
		thread->state.lbr_clocks = sum < LBR_CLOCKS_MAX ? (uint32_t)sum : LBR_CLOCKS_MAX;
}

bool lbr_clocks_valid(const struct spmu_core *core, uint32_t clocks)
{
	const struct spmu_lbr_layout *layout = core->model->lbr;

	if (!layout)
		return !clocks;
	return clocks <= LBR_CLOCKS_MAX || (clocks == LBR_CLOCKS_UNKNOWN && layout->sleep_clears);
}

bool lbr_log_valid(const struct spmu_core *core, uint64_t log)
{
	const struct spmu_lbr_layout *layout = core->model->lbr;
	uint64_t valid = 0;

	for (unsigned c = 0; layout && c < LOG_COUNTERS; c++)
		valid |= (layout->logged >> c & 1) ? LOG_MAX << LOG_BITS * c : 0;
	return !(log & ~valid);
}

/*
 * Adds an instruction to what the next record logs (CPUID.1CH:ECX[19:16]): the occurrences on each
 * counter that is set up for it, at most 3. The record of a branch logs the branch itself, too.
 */
void lbr_log(struct thread *thread, unsigned lp, const struct spmu_insn *insn)
{
	for (uint32_t set = lbr_logging(thread); set;) {
		unsigned c = take_lowest(&set);
		unsigned low = LOG_BITS * c;
		const struct counter *counter = &thread->counter[c];
		uint64_t n = occurrences(insn->signals, counter_signals_of(counter, insn->signals));
		uint64_t sum;

		if (!(counter->rings[lp] & ring_of(insn->cpl)))
			continue;
		if (counter->tallied)
			n += tallies_in(insn, counter->tallies);
		sum = (thread->state.lbr_log >> low & LOG_MAX) + n;
		thread->state.lbr_log &= ~(LOG_MAX << low);
		thread->state.lbr_log |= (sum < LOG_MAX ? sum : LOG_MAX) << low;
	}
}

static inline bool wanted(const struct lbr_recording *lbr, const struct spmu_branch *branch)
{
	return (branch->signal < SPMU_SIGNALS) & (lbr->signals >> (branch->signal & 63) & 1) &
	       ((lbr->rings & ring_of(branch->next_cpl)) != 0);
}

static void store(struct thread_state *state, unsigned n, const struct spmu_lbr_entry *entry)
{
	state->reg[SLOT_LBR_FROM + n] = entry->from;
	state->reg[SLOT_LBR_TO + n] = entry->to;
	state->reg[SLOT_LBR_INFO + n] = entry->info;
}

/* Moves TOS by some entries, which may be negative. */
static void move_top(const struct spmu_lbr_layout *layout, struct thread_state *state, uint64_t by)
{
	state->reg[SLOT_LBR_TOS] = (state->reg[SLOT_LBR_TOS] + by) & (lbr_depth(layout, state) - 1);
}

static void push(const struct spmu_lbr_layout *layout, struct thread *thread,
		 const struct spmu_branch *branch)
{
	struct thread_state *state = &thread->state;
	struct spmu_branch timed = *branch;
	struct spmu_lbr_entry entry;
	bool known = thread->lbr.clocks && state->lbr_clocks != LBR_CLOCKS_UNKNOWN;

	timed.flags &= (uint8_t) ~(thread->lbr.absent | SPMU_BRANCH_CYCLES);
	timed.flags |= known ? SPMU_BRANCH_CYCLES : 0;
	timed.cycles = known ? state->lbr_clocks : 0;
	if (!state->ia32e) {
		timed.from &= UINT32_MAX;
		timed.to &= UINT32_MAX;
	}
	state->lbr_clocks = 0;
	spmu_lbr_encode(layout, &timed, &entry);
	entry.info |= state->lbr_log << SPMU_LBR_LOG_LOW;
	state->lbr_log = 0;
	move_top(layout, state, 1);
	store(state, (unsigned)state->reg[SLOT_LBR_TOS], &entry);
}

/* Returns true for a call by which code learns its own address (17.9). No return matches it. */
static bool zero_length(const struct spmu_branch *branch)
{
	const unsigned call_rel32 = 5;

	return branch->signal == SPMU_SIG_CALL_REL && branch->to - branch->from == call_rel32;
}

static void pop(const struct spmu_lbr_layout *layout, struct thread_state *state)
{
	const struct spmu_lbr_entry empty = {0};

	store(state, (unsigned)state->reg[SLOT_LBR_TOS], &empty);
	move_top(layout, state, UINT64_MAX);
}

static void keep_for_exception(const struct spmu_lbr_layout *layout, struct thread_state *state)
{
	unsigned newest = lbr_entry(layout, state, 0);
	uint64_t from = state->reg[SLOT_LBR_FROM + newest];
	uint64_t to = state->reg[SLOT_LBR_TO + newest];

	if (!layout->ler_from)
		return;
	if (layout->ler_info)
		state->reg[SLOT_LER_INFO] = state->reg[SLOT_LBR_INFO + newest];
	state->reg[SLOT_LER_FROM] = layout->to ? from : from & UINT32_MAX;
	state->reg[SLOT_LER_TO] = layout->to ? to : from >> 32;
}

/*
 * Skips the entries at the front that later ones would push out. They move TOS all the same.
 * Returns where to begin.
 */
static size_t skip(const struct spmu_lbr_layout *layout, struct thread *thread,
		   const struct spmu_branch *branches, size_t count)
{
	size_t begin = count, entries = 0, skipped = 0;
	unsigned depth = lbr_depth(layout, &thread->state);
	unsigned flags = 0;

	if (thread->lbr.call_stack || count <= depth)
		return 0;
	/* Clears the entries after the newest one that remains. */
	while (begin && entries <= depth) {
		begin--;
		entries += wanted(&thread->lbr, &branches[begin]);
		flags |= branches[begin].flags;
	}
	if (entries <= depth)
		return 0;
	begin++;
	for (size_t i = 0; i < begin; i++) {
		skipped += wanted(&thread->lbr, &branches[i]);
		flags |= branches[i].flags;
	}
	if (flags & SPMU_BRANCH_EVENT) /* it copies the present newest entry */
		return 0;
	move_top(layout, &thread->state, skipped);
	thread->state.lbr_clocks = 0;
	thread->state.lbr_log = 0;
	return begin;
}

void lbr_record(const struct spmu_core *core, struct thread *thread,
		const struct spmu_branch *branches, size_t count)
{
	const struct spmu_lbr_layout *layout = core->model->lbr;
	struct thread_state *state = &thread->state;

	for (size_t i = skip(layout, thread, branches, count); i < count; i++) {
		lbr_clocks(thread, branches[i].cycles);
		if (branches[i].flags & SPMU_BRANCH_EVENT)
			keep_for_exception(layout, state);
		if (!wanted(&thread->lbr, &branches[i]))
			continue;
		if (thread->lbr.call_stack && branches[i].signal == SPMU_SIG_RET_NEAR)
			pop(layout, state);
		else if (!thread->lbr.call_stack || !zero_length(&branches[i]))
			push(layout, thread, &branches[i]);
	}
}

void lbr_clear(struct thread_state *state)
{
	for (unsigned slot = SLOT_LBR_TOS; slot < SLOT_LER_FROM; slot++)
		state->reg[slot] = 0;
	state->lbr_clocks = LBR_CLOCKS_UNKNOWN;
	state->lbr_log = 0;
}

/*
 * The control registers and LBR_Frz do not change.  The time of the next entry is 0 (17.10.3).
 */
void spmu_deep_sleep(struct spmu_core *core, unsigned lp)
{
	struct thread_state *state;

	if (lp >= core->threads || !core->model->lbr || !core->model->lbr->sleep_clears)
		return;
	state = &core->thread[lp].state;
	lbr_clear(state);
	for (unsigned slot = SLOT_LER_FROM; slot <= SLOT_LER_INFO; slot++)
		state->reg[slot] = 0;
}

/*
 * Returns whether a register of the stack may hold this: the address in it is canonical, except
 * where flags or clocks take the place of its sign (17.4.8.1).
 */
bool lbr_valid(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	unsigned flags = 0; /* how many of the highest bits are no sign */

	(void)core;
	if (value & msr->list->reserved)
		return false;
	if (msr->list == &field_list_LBR_FROM_TO_32 || msr->list == &field_list_LBR_TO_TIME)
		return true;
	if (msr->list == &field_list_LBR_FROM_FLAGS)
		flags = 1;
	if (msr->list == &field_list_LBR_FROM_TSX)
		flags = 3;
	return address_canonical((uint64_t)((int64_t)(value << flags) >> flags));
}

/* Returns whether software may write this into a register of the stack. */
bool lbr_takes(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	return msr->list->writable && lbr_valid(core, msr, value);
}

/*
 * The same for FROM.  Processors of the format with transactions that have none take bits 62:61
 * for sign bits (erratum), though they record them as 0.
 */
bool lbr_takes_from(const struct spmu_core *core, const struct msr *msr, uint64_t value)
{
	if (msr->list->writable && has_erratum(core, ERRATUM_LBR_SIGN))
		return address_canonical((uint64_t)((int64_t)(value << 1) >> 1));
	return lbr_takes(core, msr, value);
}
