/* SPDX-License-Identifier: MIT */
/*
 * activity_steps.c: tells a model of the machine (softpmu/uarch.h) what precise steps run, and adds
 * what the model counts for an instruction to its report.
 */
#include <softpmu/ds.h>
#include <softpmu/uarch.h>

#include "engine/count/activity.h"
#include "engine/count/activity_parts.h"
#include "engine/count/costs.h"
#include "engine/count/event_costs.h"
#include "engine/count/timing.h"
#include "engine/count/windows.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"

void activity_before_step(const struct insn *insn, uint64_t pc)
{
	struct activity *a = activity_mine();
	struct insn_access list[INSN_ACCESSES_MAX];

	a->step.code = (struct activity_code){
		.pc = pc,
		.target = insn->target,
		.bytes = insn->length,
		.branch = activity_branch_kind(insn),
		.last = costs_find(pc, insn),
	};
	a->step.reported = false;
	a->step.load = a->step.store = (struct place){0};
	a->step.rep = insn->rep;
	a->step.address32 = insn->address32;
	a->step.repeats = current->gpr[1];
	a->step.accesses = insn_accesses(insn, (const uint8_t *)pc, pc, list);
	for (unsigned i = 0; i < a->step.accesses; i++)
		a->step.access[i] = (struct step_access){
			.address = insn_access_address(&list[i], current->gpr, read_fs_base(),
						       current->program_gs),
			.bytes = list[i].bytes,
			.kind = activity_kind(&list[i]),
		};
}

/* Returns whether what the step costs is noted access by access. */
static bool notes_costs(const struct activity *a)
{
	return a->costs && !event_costs_wanted();
}

/* Reports an access of a step at an address. */
static void report_one(struct activity *a, uint64_t address, const struct step_access *at)
{
	if (notes_costs(a))
		costs_access(a, a->step.code.last, address, at->bytes, at->kind);
	else
		activity_report(a, address, at->bytes, at->kind, 0);
}

/* Reports the elements of a string instruction that have been done. */
static void report_elements(struct activity *a)
{
	uint64_t mask = a->step.address32 ? UINT32_MAX : UINT64_MAX;
	uint64_t n = (a->step.repeats - current->gpr[1]) & mask;
	bool down = current->rflags >> 10 & 1;

	for (uint64_t k = 0; k < n; k++)
		for (unsigned i = 0; i < a->step.accesses; i++) {
			const struct step_access *at = &a->step.access[i];
			uint64_t distance = k * at->bytes;

			report_one(a, down ? at->address - distance : at->address + distance, at);
		}
	if (activity_wants(ACTIVITY_CLOCKS) && a->step.accesses)
		timing_repeat(&a->timing, n * a->step.access[0].bytes);
}

static enum spmu_uarch_level access_model(struct activity *a, const struct step_access *access)
{
	if (activity_wants(ACTIVITY_CLOCKS))
		return timing_access(&a->timing, access->address, access->bytes, access->kind, 0);
	return spmu_uarch_access(a->model, 0, access->address, access->bytes, access->kind);
}

/* Tells the model of an access, and notes where the first load and the first store found their
 * data. */
static void report_access(struct activity *a, const struct step_access *access)
{
	bool loads = access->kind & SPMU_UARCH_LOAD;
	struct place *place = loads ? &a->step.load : &a->step.store;
	unsigned walks = loads ? SPMU_UARCH_DTLB_LOAD_WALKS : SPMU_UARCH_DTLB_STORE_WALKS;
	const uint64_t *counts = spmu_uarch_counts(a->model, 0);
	uint64_t before = counts[walks];
	enum spmu_uarch_level level = access_model(a, access);

	if (a->costs)
		event_costs_access(a, access->address, access->bytes, access->kind);
	if (place->known || access->kind & SPMU_UARCH_PREFETCH)
		return;
	*place = (struct place){true, counts[walks] != before, level};
	/* What an instruction loads and then stores is in the first level. */
	if (access->kind == (SPMU_UARCH_LOAD | SPMU_UARCH_STORE) && !a->step.store.known)
		a->step.store = (struct place){true, false, SPMU_LEVEL_L1};
}

static void report_step_accesses(struct activity *a)
{
	if (notes_costs(a)) {
		costs_fetch(a, a->step.code.last);
		if (a->step.rep)
			report_elements(a);
		for (unsigned i = 0; !a->step.rep && i < a->step.accesses; i++)
			report_one(a, a->step.access[i].address, &a->step.access[i]);
		return;
	}
	activity_report_fetch(a, a->step.code.pc, a->step.code.bytes);
	if (a->step.rep)
		report_elements(a);
	activity_flush(a);
	for (unsigned i = 0; !a->step.rep && i < a->step.accesses; i++)
		report_access(a, &a->step.access[i]);
	if (activity_wants(ACTIVITY_CLOCKS))
		timing_run_one(&a->timing, a->step.code.pc, a->step.code.bytes);
}

/* Tells the model what an instruction has fetched and accessed. */
static void report_step(struct activity *a)
{
	activity_begin_report();
	activity_reach_in(a, a->step.code.pc);
	activity_flush(a);
	activity_charge(a); /* what came before */
	a->step.reported = true;
	if (activity_wants(ACTIVITY_ACCESSES))
		report_step_accesses(a);
	activity_end_report();
}

/* Returns the field of a PEBS record that says where a load got its data (18.8.1.2, 18.9.4.2): bits
 * 3:0 the place, bit 4 that its page was in no TLB. */
static uint8_t load_source(const struct place *load)
{
	static const uint8_t of[] = {[SPMU_LEVEL_L1] = 0x1,
				     [SPMU_LEVEL_L2] = 0x3,
				     [SPMU_LEVEL_LLC] = 0x4,
				     [SPMU_LEVEL_OTHER] = 0x6,
				     [SPMU_LEVEL_MEMORY] = 0xc};

	return load->known ? (uint8_t)(of[load->level] | (load->walked ? 0x10 : 0)) : 0;
}

static uint8_t store_source(const struct place *store)
{
	if (!store->known)
		return 0;
	return (uint8_t)((store->level == SPMU_LEVEL_L1 ? SPMU_STORE_L1D_HIT : 0) |
			 (store->walked ? SPMU_STORE_STLB_MISS : 0));
}

void activity_leave_step(void)
{
	struct activity *a = activity_mine();

	if (a->step.reported)
		return;
	report_step(a);
	if (a->costs && event_costs_wanted())
		event_costs_count(a, a->step.code.last);
	activity_charge(a);
}

/* Sets the occurrences of the instruction: what the model has counted since the last charge. */
static void read_outcome(struct activity *a, struct activity_outcome *outcome)
{

	for (uint64_t set = ACTIVITY_SIGNALS; set; set &= set - 1) {
		unsigned s = (unsigned)__builtin_ctzll(set);

		outcome->times[s] =
			(uint32_t)activity_new(&a->signals[s], spmu_uarch_signal(a->model, 0, s));
		outcome->signals |= outcome->times[s] ? UINT64_C(1) << s : 0;
	}
	ACTIVITY_EACH_TALLY (t, &a->wanted) {
		uint64_t n = activity_new(&a->tallies[t], activity_tallied(a, t));

		if (n)
			a->tally[outcome->tallies++] =
				(struct spmu_tally){(uint16_t)t, (uint32_t)n};
	}
	outcome->tally = a->tally;
	outcome->data_source = load_source(&a->step.load);
	outcome->store_source = store_source(&a->step.store);
	if (a->step.load.known)
		outcome->latency = engine_link->machine.load_clocks[a->step.load.level];
}

/* Returns whether the step repeated zero times. */
static bool is_idle(const struct activity *a)
{
	return a->step.rep && !(a->step.repeats & (a->step.address32 ? UINT32_MAX : UINT64_MAX));
}

void activity_retire(uint64_t ip, uint64_t next, struct activity_outcome *outcome)
{
	struct activity *a = activity_mine();
	const struct activity_code *b = &a->step.code;

	if (a->step.reported || b->pc != ip)
		return;
	report_step(a);
	if (a->costs && event_costs_wanted())
		event_costs_retire(a, b->last, true, is_idle(a));
	if (b->branch != ACTIVITY_NO_BRANCH && activity_wants(ACTIVITY_BRANCHES))
		activity_report_branch(a, b, next);
	activity_flush(a);
	if (!windows_wanted())
		read_outcome(a, outcome);
	activity_charge(a); /* the clocks, which no instruction has */
}
