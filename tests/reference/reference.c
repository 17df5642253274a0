/* SPDX-License-Identifier: MIT */
/*
 * reference.c: what one retired instruction does to the counters and the local APIC, in the
 * simplest form.
 *
 * Vol. 3B 18.2 (architectural monitoring), 17.4.7 (freeze), Vol. 3A 10.5.1 (local vector table).
 * views.c, pentium.c and netburst.c read a counter's registers. gain.c has what a counter gains,
 * records.c has PEBS, and branches.c has branches. There is no load latency and there are no
 * transactions.
 *
 * If the manual permits several readings, the simplest is used, and a comment names it
 * ("Reading:").
 */
#include "reference.h"

#include <string.h>

#define DEBUGCTL_LBR  UINT64_C(1)
#define DEBUGCTL_TR   (UINT64_C(1) << 6)
#define STATUS_LBRFRZ (UINT64_C(1) << 58)
#define STATUS_CTRFRZ (UINT64_C(1) << 59)
#define DEBUGCTL_LBRS (UINT64_C(1) << 11)
#define DEBUGCTL_CTRS (UINT64_C(1) << 12)
#define LVT_MASK      (UINT32_C(1) << 16)

const char *reference_defect_name(enum reference_defect defect)
{
	static const char *const names[] = {"SOUND",
#define REFERENCE_X(name, meaning) #name,
					    REFERENCE_DEFECTS(REFERENCE_X)
#undef REFERENCE_X
	};

	return defect < REFERENCE_DEFECT_END ? names[defect] : "?";
}

/*
 * Freezes (17.4.7). A PMI request freezes, and the LVT entry then decides about delivery. From
 * version 4 on a freeze sets the status, before it clears the enables.
 */
static void freeze(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	bool counters = (t->debugctl & DEBUGCTL_CTRS) && unit->defect != REFERENCE_FREEZE_IGNORED;
	bool branches = (t->debugctl & DEBUGCTL_LBRS) && unit->defect != REFERENCE_LBR_NOT_FROZEN;

	if (unit->family->version >= 4) {
		reference_raise(unit, t, counters ? STATUS_CTRFRZ : 0);
		reference_raise(unit, t, branches ? STATUS_LBRFRZ : 0);
		return;
	}
	if (counters && unit->defect != REFERENCE_LEGACY_KEEPS_ENABLES)
		t->global_control = 0;
	if (branches)
		t->debugctl &= ~DEBUGCTL_LBR;
	if (branches && unit->family->freeze_clears_tr)
		t->debugctl &= ~DEBUGCTL_TR;
}

/* Requests a PMI, which is held until PEBS and BTS of the instruction are done (18.4.4). */
void reference_request_pmi(struct reference *unit, unsigned lp)
{
	unit->thread[lp].pmi_requested = true;
}

/* Delivers at most one interrupt for an instruction, which sets the mask (Vol. 3A 10.5.1). */
unsigned reference_deliver_pmi(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	unsigned mode = t->lvt >> 8 & 7;
	struct spmu_pmi pmi = {.delivery = (enum spmu_delivery)mode, .vector = t->lvt & 0xff};

	if (!t->pmi_requested)
		return 0;
	t->pmi_requested = false;
	freeze(unit, lp);
	if (t->lvt & LVT_MASK)
		return 0;
	/* Reading: reserved delivery modes deliver nothing. */
	if (mode != SPMU_DELIVER_FIXED && mode != SPMU_DELIVER_SMI && mode != SPMU_DELIVER_NMI)
		return 0;
	if (mode != SPMU_DELIVER_FIXED)
		pmi.vector = 0;
	if (unit->defect != REFERENCE_LVT_NOT_MASKED && !unit->family->lvt_stays)
		t->lvt |= LVT_MASK;
	unit->host.pmi(unit->host.opaque, lp, pmi);
	return SPMU_EV_PMI;
}

/* Returns how many threads own counters. Threads that share counters use those of thread 0. */
static unsigned owners(const struct reference *unit)
{
	return unit->family->shared ? 1 : unit->threads;
}

/* Returns true if the counter's PEBS record is due: it was armed and its event takes place. */
static bool triggers(struct reference *unit, struct reference_counter *counter, bool was_armed,
		     bool occurred)
{
	if (unit->defect == REFERENCE_ARM_RECORDS_AT_ONCE)
		was_armed = counter->armed;
	if (unit->defect == REFERENCE_ARM_ONE_EVENT_LATE && was_armed && occurred &&
	    !counter->late) {
		counter->late = true;
		return false;
	}
	return was_armed && occurred;
}

/* Returns the counter's bit as records.c has it: fixed counters from bit 32 on. */
static uint64_t record_bit(const struct reference *unit, unsigned n)
{
	return UINT64_C(1) << (n < unit->generals ? n : 32 + n - unit->generals);
}

/* Counts on the counters of `owner` what `source` retired. */
static unsigned retire_on(struct reference *unit, unsigned owner, unsigned source,
			  const struct spmu_insn *insn, bool late)
{
	struct reference_view views[REFERENCE_COUNTERS];
	unsigned counters = unit->generals + unit->family->fixed, listening = 0;
	unsigned events = 0, interrupts = 0, at_threshold = 0;
	unsigned number[REFERENCE_COUNTERS];
	uint64_t triggered = 0;
	bool once = unit->defect == REFERENCE_TALLY_ONCE;

	/*
	 * All counters are judged before anything moves: a freeze takes effect with the next
	 * instruction.
	 */
	for (unsigned n = 0; n < counters; n++) {
		views[listening] = reference_view(unit, owner, n);
		if (reference_listens(unit, &views[listening], source, insn->cpl))
			number[listening++] = n;
	}
	for (unsigned i = 0; i < listening; i++) {
		struct reference_view *v = &views[i];
		unsigned n = number[i];
		bool occurred, was_armed = v->counter->armed;
		uint64_t gain = reference_gain(v, source, insn, once, &occurred);
		bool overflow = reference_count(unit, owner, n, v, gain, &interrupts);

		if (unit->defect == REFERENCE_RECORD_BY_COUNT)
			occurred = gain > 0;
		if (!v->records)
			continue;
		occurred |= reference_takes_any(unit, owner, n) && owner == source;
		if (overflow)
			v->counter->armed = true;
		if ((v->records >> source & 1) &&
		    (triggers(unit, v->counter, was_armed, occurred) || (overflow && v->at_once)))
			triggered |= record_bit(unit, n);
		if (triggered & record_bit(unit, n))
			at_threshold |= v->record_interrupts;
	}
	if (triggered && (!late || unit->defect == REFERENCE_TALLY_RECORDS))
		events |= reference_assist(unit, source, insn, triggered, at_threshold);
	for (unsigned lp = 0; lp < unit->threads; lp++)
		if (interrupts >> lp & 1)
			reference_request_pmi(unit, lp);
	return events;
}

/* Finds the taken branch among an instruction's signals. Returns false if there is none. */
static bool branch_of(const struct spmu_insn *insn, struct spmu_branch *branch)
{
	uint64_t taken = insn->signals & SPMU_SIGSET_TAKEN;

	if (!taken)
		return false;
	*branch = (struct spmu_branch){
		.from = insn->ip,
		.to = insn->next_ip,
		.cycles = insn->cycles,
		.signal = (uint8_t)__builtin_ctzll(taken),
		.cpl = insn->cpl,
		.next_cpl = taken & SPMU_SIGBIT(FAR) ? insn->next_cpl : insn->cpl,
		.flags = insn->signals & SPMU_SIGBIT(BRANCH_MISS) ? SPMU_BRANCH_MISPREDICTED : 0,
	};
	return true;
}

/*
 * Retires an instruction.
 *
 * Reading of 18.4.4 ("PEBS is processed before BTS are processed; the PMI request is held"): the
 * last branch record belongs to retirement and comes first. Then come the counters and PEBS, then
 * the branch trace, then the interrupt.
 */
unsigned reference_retire(struct reference *unit, unsigned lp, const struct spmu_insn *insn)
{
	struct spmu_branch branch;
	bool taken = branch_of(insn, &branch);
	unsigned events = 0;

	reference_pass_clocks(unit, lp, insn->cycles);
	if (unit->defect != REFERENCE_LBR_LOG_LATE)
		reference_log(unit, lp, insn);
	if (taken)
		reference_last_branch(unit, lp, &branch);
	if (unit->defect == REFERENCE_LBR_LOG_LATE)
		reference_log(unit, lp, insn);
	for (unsigned owner = 0; owner < owners(unit); owner++)
		events |= retire_on(unit, owner, lp, insn, false);
	if (taken)
		reference_store_branch(unit, lp, &branch);
	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= reference_deliver_pmi(unit, owner);
	return events;
}

unsigned reference_tally(struct reference *unit, unsigned lp, const struct spmu_tally *tally,
			 unsigned cpl)
{
	struct spmu_insn insn = {.tallies = tally, .tally_count = 1, .cpl = (uint8_t)cpl};
	unsigned events = 0;

	if (unit->defect == REFERENCE_TALLY_FORGOTTEN)
		return 0;
	reference_log(unit, lp, &insn);
	for (unsigned owner = 0; owner < owners(unit); owner++)
		events |= retire_on(unit, owner, lp, &insn, true);
	for (unsigned owner = 0; owner < unit->threads; owner++)
		events |= reference_deliver_pmi(unit, owner);
	return events;
}

/*
 * Runs one clock in which `signals` take place and nothing retires. gain[] gets what each counter
 * gained. Returns true if one passed to 0.
 */
static bool one_clock(struct reference *unit, unsigned lp, uint64_t signals, unsigned cpl,
		      uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS])
{
	struct reference_view views[REFERENCE_COUNTERS];
	unsigned counters = unit->generals + unit->family->fixed, interrupts = 0;
	bool wrapped = false;

	for (unsigned owner = 0; owner < owners(unit); owner++) {
		for (unsigned n = 0; n < counters; n++)
			views[n] = reference_view(unit, owner, n);
		for (unsigned n = 0; n < counters; n++) {
			struct spmu_insn clock = {.signals = signals, .cycles = 1};
			struct reference_view *v = &views[n];
			uint64_t before = v->counter->value;
			bool occurred;

			gain[owner][n] = 0;
			if (!reference_listens(unit, v, lp, cpl))
				continue;
			gain[owner][n] = reference_gain(v, lp, &clock, false, &occurred);
			if (!reference_count(unit, owner, n, v, gain[owner][n], &interrupts))
				continue;
			wrapped |= v->counter->value < before || !v->force;
			v->counter->armed |= v->records != 0;
		}
	}
	for (unsigned i = 0; i < unit->threads; i++)
		if (interrupts >> i & 1)
			reference_request_pmi(unit, i);
	return wrapped;
}

/* Adds the gain of one clock, `clocks` times. The counter does not pass to 0. */
static void add_clocks(struct reference *unit, unsigned owner, unsigned n, uint64_t gain,
		       uint64_t clocks)
{
	struct reference_view v = reference_view(unit, owner, n);

	v.counter->value += gain * clocks;
	if (!gain || !clocks)
		return;
	if (v.pin == PIN_AT_COUNT)
		unit->host.pin(unit->host.opaque, owner, n, gain * clocks);
	if (v.pin == PIN_AT_OVERFLOW && v.force)
		unit->host.pin(unit->host.opaque, owner, n, clocks);
}

/*
 * Skips equal clocks: those in which every counter gains what it gained in the last one and none
 * passes to 0. Returns how many it skipped.
 */
static uint64_t skip(struct reference *unit, uint64_t clocks,
		     uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS])
{
	unsigned counters = unit->generals + unit->family->fixed;

	for (unsigned owner = 0; owner < owners(unit); owner++)
		for (unsigned n = 0; n < counters; n++) {
			struct reference_view v = reference_view(unit, owner, n);
			uint64_t room = ((UINT64_C(1) << v.bits) - 1) - v.counter->value;

			if (gain[owner][n] && room / gain[owner][n] < clocks)
				clocks = room / gain[owner][n];
		}
	for (unsigned owner = 0; owner < owners(unit); owner++)
		for (unsigned n = 0; n < counters; n++)
			add_clocks(unit, owner, n, gain[owner][n], clocks);
	return clocks;
}

unsigned reference_clocks(struct reference *unit, unsigned lp, uint64_t signals, uint64_t clocks,
			  unsigned cpl)
{
	uint64_t gain[SPMU_THREADS_MAX][REFERENCE_COUNTERS];
	unsigned events = 0, quiet = 0, delivered;

	signals &= SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES);
	if (signals & SPMU_SIGBIT(CYCLES))
		reference_pass_clocks(unit, lp, clocks < 0xffff ? clocks : 0xffff);
	while (clocks) {
		quiet = one_clock(unit, lp, signals, cpl, gain) ? 0 : quiet + 1;
		clocks--;
		delivered = 0;
		for (unsigned i = 0; i < unit->threads; i++)
			delivered |= reference_deliver_pmi(unit, i);
		events |= delivered;
		/*
		 * After an overflow or interrupt a few clocks can differ from the next ones. A
		 * forced overflow starts a counter by a cascade one clock later. The edges of
		 * that counter take two more. Three counters can be in one such chain.
		 */
		quiet = delivered ? 0 : quiet;
		if (quiet >= 9)
			clocks -= skip(unit, clocks, gain);
	}
	return events;
}
