/* SPDX-License-Identifier: MIT */
/*
 * activity.c: tells a model of the machine (softpmu/uarch.h) what ran, and charges what the model
 * counts to the meters.
 *
 * Translated code logs each block that it enters, and the addresses of the block's accesses.
 * Descriptions of the blocks have everything else.  The log does not hold where a branch went:
 * the next block, or where the engine takes over, tells it.
 *
 * The page after the log faults when the log is full, so no code checks for its end.  Then, and
 * before anything reads a count, the model gets the log.
 *
 * Each thread has a model of its own.  The models of a process share the last level, so one thread
 * at a time reports its log.  Simplified: accesses of different threads are in the order in which
 * their logs are reported, so logs are short while there are several threads.
 */
#include "engine/count/activity.h"

#include <asm/unistd.h>
#include <linux/mman.h>
#include <softpmu/ds.h>
#include <softpmu/lbr.h>
#include <softpmu/uarch.h>

#include "engine/count/activity_parts.h"
#include "engine/count/costs.h"
#include "engine/count/count.h"
#include "engine/count/event_costs.h"
#include "engine/count/meter_list.h"
#include "engine/count/timing.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/contexts.h"
#include "engine/rt/engine.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"

#define LOG_BYTES  (128u << 10) /* it stays in the second-level cache */
#define FETCH_LINE 64u
#define SHARED_BYTES                                                                               \
	(8u << 10) /* of a log, while there are several threads: more than a block has */

#define CLOCKS SPMU_SIGSET_CLOCKS

uint8_t activity_branch_kind(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
		return SPMU_BRANCH_CONDITIONAL;
	case INSN_JMP_REL:
		return SPMU_BRANCH_DIRECT;
	case INSN_CALL_REL:
		return SPMU_BRANCH_CALL;
	case INSN_JMP_IND:
		return SPMU_BRANCH_INDIRECT;
	case INSN_CALL_IND:
		return SPMU_BRANCH_INDIRECT_CALL;
	case INSN_RET:
		return SPMU_BRANCH_RETURN;
	default:
		return ACTIVITY_NO_BRANCH;
	}
}

/* --- the model --- */

/* The models of the process share a last level. */
static struct spmu_uarch *first_model;
static uint32_t models;

/* Empties the log.  It is at the end of its memory, so that what faults is the same. */
static void begin_log(struct activity *a)
{
	bool several = __atomic_load_n(&models, __ATOMIC_RELAXED) > 1;

	a->begin = several ? a->guard - SHARED_BYTES : a->log;
	current->activity = a->begin;
}

/* Makes the thread's model. */
static void make_model(struct activity *a)
{
	struct spmu_uarch_config config = {
		.size = sizeof(struct spmu_uarch_config),
		.machine = &engine_link->machine,
		.threads = 1,
		.load_threshold = (uint32_t)engine_link->load_threshold,
	};
	size_t bytes;
	void *memory;

	activity_begin_report();
	config.peer = first_model;
	bytes = spmu_uarch_bytes(&config);
	memory = heap_allocate(bytes);
	if (spmu_uarch_create(memory, bytes, &config, &a->model) != SPMU_OK)
		engine_fail(125, "the model of the machine cannot be created");
	if (!first_model)
		first_model = a->model;
	models++;
	activity_end_report();
	if (timing_core())
		timing_begin(&a->timing, a->model);
	memset(a->signals, 0, sizeof(a->signals));
	memset(a->tallies, 0, sizeof(a->tallies));
}

void activity_set_load_threshold(uint32_t clocks)
{
	struct activity *a = current->activities;

	if (!a)
		return;
	spmu_uarch_set_load_threshold(a->model, clocks);
	a->tallies[SPMU_TALLY_LOAD_LATENCY] = activity_tallied(a, SPMU_TALLY_LOAD_LATENCY);
}

/* Notes the tallies that `meters` meters count.  Those that were not counted begin now. */
static void want_tallies(struct activity *a, unsigned meters)
{
	const struct counting *c = current->counting;
	struct spmu_tally_set set = {{0}};

	for (unsigned m = 0; m < meters; m++)
		if (c->meter[m].modelled)
			activity_tallies(c->meter[m].unit, &set);
	ACTIVITY_EACH_TALLY (t, &set)
		if (!spmu_tally_set_has(&a->wanted, t))
			a->tallies[t] = activity_tallied(a, t);
	a->wanted = set;
}

/* Makes what a thread needs to log. */
static struct activity *make(void)
{
	struct activity *a = heap_allocate(sizeof(*a));

	a->log = (uint64_t)heap_allocate(LOG_BYTES + PAGE);
	a->guard = a->log + LOG_BYTES;
	if (is_error(syscall3(__NR_mprotect, (long)a->guard, (long)PAGE, PROT_NONE)))
		engine_fail(126, "no memory for the log of activity");
	make_model(a);
	a->costs = costs_new();
	begin_log(a);
	current->activities = a;
	return a;
}

void activity_prepare(unsigned what, unsigned meters)
{
	struct activity *a = activity_mine() ? activity_mine() : make();

	if (a->timing.timeline && what & ACTIVITY_ACCOUNT)
		spmu_timeline_account(a->timing.timeline);
	if (a->timing.timeline && what & ACTIVITY_FRONT)
		spmu_timeline_follow_front(a->timing.timeline);
	want_tallies(a, meters);
}

/* Tells the model what it has not been told yet. */
void activity_flush(struct activity *a)
{
	if (a->batched)
		spmu_uarch_accesses(a->model, 0, a->batch, a->batched);
	if (a->outcomes)
		spmu_uarch_conditionals(a->model, 0, a->outcome, a->outcomes);
	a->batched = a->outcomes = 0;
}

/* Charges what the model has counted since the last time. */
void activity_charge(struct activity *a)
{
	struct counting *c = current->counting;
	uint64_t signals[SPMU_SIGNALS], tallies[SPMU_TALLIES]; /* those that meters count */

	activity_flush(a);
	for (uint64_t set = ACTIVITY_SIGNALS | CLOCKS; set; set &= set - 1) {
		unsigned s = (unsigned)__builtin_ctzll(set);

		signals[s] = activity_new(&a->signals[s], activity_counted(a, s));
	}
	ACTIVITY_EACH_TALLY (t, &a->wanted)
		tallies[t] = activity_new(&a->tallies[t], activity_tallied(a, t));
	for (unsigned m = 0; m < current->list->meters; m++) {
		struct spmu_meter *meter = c->meter[m].unit;
		int64_t n;

		if (!c->meter[m].modelled)
			continue;
		n = (int64_t)activity_occurrences(meter, signals, tallies);
		if (windows_wanted())
			windows_add(c, m, (uint64_t)n);
		else if (c->mode == COUNTING_PRECISE)
			meter->headroom -= n;
		else
			current->shard[m][0] -= n;
	}
}

void activity_begin_again(void)
{
	struct activity *a = activity_mine();

	if (!a)
		return;
	if (contexts_alone()) /* perhaps a child, without the thread that was reporting */
		activity_end_report();
	begin_log(a);
	a->branched = NULL;
	a->verdicts = 0;
	activity_begin_report();
	activity_flush(a);
	activity_end_report();
	costs_begin_again(a);
	for (unsigned s = 0; s < SPMU_SIGNALS; s++)
		a->signals[s] = activity_counted(a, s);
	for (unsigned t = 0; t < SPMU_TALLIES; t++)
		a->tallies[t] = activity_tallied(a, t);
}

void activity_skips(void)
{
	if (activity_mine() && engine_link->windows.skip)
		spmu_uarch_set_partial(activity_mine()->model, true);
}

/* --- what ran --- */

/* Returns the signal of a taken branch. */
static enum spmu_signal signal_of(uint8_t kind)
{
	switch (kind) {
	case SPMU_BRANCH_CONDITIONAL:
		return SPMU_SIG_COND_TAKEN;
	case SPMU_BRANCH_INDIRECT:
		return SPMU_SIG_JMP_IND;
	case SPMU_BRANCH_CALL:
		return SPMU_SIG_CALL_REL;
	case SPMU_BRANCH_INDIRECT_CALL:
		return SPMU_SIG_CALL_IND;
	case SPMU_BRANCH_RETURN:
		return SPMU_SIG_RET_NEAR;
	default:
		return SPMU_SIG_JMP_REL;
	}
}

static void note_verdict(struct activity *a, const struct spmu_executed_branch *branch, bool missed)
{
	if (branch->taken && current->list->branch_signals >> signal_of(branch->kind) & 1)
		a->verdict[a->verdicts++ % ACTIVITY_VERDICTS] =
			(struct verdict){branch->from, branch->to, missed};
}

void activity_report_branch(struct activity *a, const struct activity_code *b, uint64_t to)
{
	struct spmu_executed_branch branch = {
		.from = b->pc + b->branch_at,
		.next = b->pc + b->bytes,
		.to = to,
		.kind = b->branch,
		.taken = b->branch != SPMU_BRANCH_CONDITIONAL || to == b->target,
	};
	bool missed = spmu_uarch_branch(a->model, 0, &branch);

	note_verdict(a, &branch, missed);
	if (missed && activity_wants(ACTIVITY_CLOCKS))
		spmu_timeline_mispredict(a->timing.timeline);
	if (a->costs)
		costs_branch(a, b, &branch, missed);
}

/* Tells the model where a branch went.  If execution continues elsewhere, in a handler of a signal,
 * nobody knows. */
static inline void report_went(struct activity *a, const struct activity_code *b, uint64_t pc)
{
	if (b->branch == SPMU_BRANCH_DIRECT && a->costs && pc == b->target)
		costs_jump(a, b, pc);
	if (b->branch != SPMU_BRANCH_DIRECT &&
	    (b->branch != SPMU_BRANCH_CONDITIONAL || pc == b->target || pc == b->pc + b->bytes))
		activity_report_branch(a, b, pc);
}

/* The same for the last branch. */
void activity_reach_in(struct activity *a, uint64_t pc)
{
	const struct activity_code *b = a->branched;

	a->branched = NULL;
	if (b && activity_wants(ACTIVITY_BRANCHES))
		report_went(a, b, pc);
}

void activity_reach(uint64_t pc)
{
	if (current->list->activity)
		activity_reach_in(activity_mine(), pc);
}

bool activity_missed(uint64_t from, uint64_t to, unsigned *newest)
{
	const struct activity *a = activity_mine();
	unsigned most = a && a->verdicts < ACTIVITY_VERDICTS ? a->verdicts : ACTIVITY_VERDICTS;

	for (unsigned n = *newest; a && n < most; n++) {
		const struct verdict *v = &a->verdict[(a->verdicts - 1 - n) % ACTIVITY_VERDICTS];

		if (v->from != from || v->to != to)
			continue;
		*newest = n + 1;
		return v->missed;
	}
	return false;
}

_Static_assert(SPMU_ACCESS_LOAD == SPMU_UARCH_LOAD && SPMU_ACCESS_STORE == SPMU_UARCH_STORE,
	       "the same bits");

uint8_t activity_kind(const struct insn_access *access)
{
	return access->kind & SPMU_ACCESS_PREFETCH ? SPMU_UARCH_PREFETCH
						   : access->kind & SPMU_ACCESS_DATA;
}

/* Reports the accesses of the first `insns` instructions of a block one by one. */
static void report_accesses(struct activity *a, const struct activity_block *b,
			    const uint64_t *word, unsigned insns)
{
	for (unsigned i = 0; i < b->run.accesses && b->access[i].insn < insns; i++) {
		const struct spmu_uarch_block_access *at = &b->access[i];

		activity_report(a, activity_address(a, at, word), at->bytes, at->kind, at->insn);
	}
}

/* Reports the fetch of some instructions, line by line: a block can be in several. */
void activity_report_fetch(struct activity *a, uint64_t at, uint64_t bytes)
{
	for (uint64_t end = at + bytes, next; at < end; at = next) {
		next = (at | (FETCH_LINE - 1)) + 1;
		activity_report(a, at, (uint32_t)((next < end ? next : end) - at), SPMU_UARCH_FETCH,
				0);
	}
}

/* The same, and notes what each instruction costs of the events. */
static void report_insns(struct activity *a, const struct activity_block *b, const uint64_t *word,
			 unsigned insns)
{
	const struct spmu_uarch_block_access *at = b->access, *end = at + b->run.accesses;
	bool accesses = event_costs_need_accesses(), accessed = accesses;

	if (accesses)
		activity_report_fetch(a, b->code.pc, b->code.bytes);
	for (unsigned i = 0; i < insns; i++) {
		for (; at < end && at->insn == i; at++) {
			uint64_t address = activity_address(a, at, word);

			if (accesses)
				activity_report(a, address, at->bytes, at->kind, i);
			event_costs_access(a, address, at->bytes, at->kind);
			accessed = accesses;
		}
		if (activity_wants(ACTIVITY_CLOCKS))
			timing_run_in(&a->timing, b->timed, i, insns);
		activity_flush(a);
		event_costs_retire(a, b->costs[i], accessed, false);
		accessed = false;
	}
	if (!insns && activity_wants(ACTIVITY_CLOCKS)) /* the block was only fetched */
		timing_run(&a->timing, b->timed, 0);
}

/* Reports the first `insns` instructions of a block. */
static void report_block(struct activity *a, const struct activity_block *b, const uint64_t *word,
			 unsigned insns)
{
	activity_reach_in(a, b->code.pc);
	if (a->costs && event_costs_wanted()) {
		report_insns(a, b, word, insns);
	} else if (a->costs) {
		costs_block(a, b, word, insns);
	} else if (activity_wants(ACTIVITY_CLOCKS)) {
		activity_report_fetch(a, b->code.pc, b->code.bytes);
		report_accesses(a, b, word, insns);
		timing_run(&a->timing, b->timed, insns);
	} else if (activity_wants(ACTIVITY_ACCESSES)) {
		struct spmu_uarch_block run = b->run;

		while (run.accesses && run.access[run.accesses - 1].insn >= insns)
			run.accesses--;
		activity_flush(a);
		spmu_uarch_run(a->model, 0, &run, word, a->fs_base);
	}
	if (insns == b->insns && b->code.branch != ACTIVITY_NO_BRANCH)
		a->branched = &b->code;
}

/* Reports the blocks of the log one by one: time and costs need the level of each access. */
static void report_each(struct activity *a, const uint64_t *at, const uint64_t *end)
{
	for (; at < end; at += activity_words_of(*at)) {
		const struct activity_block *b = activity_block_of(*at);

		report_block(a, b, at, b->insns);
	}
}

/* The same, if nobody asks for the verdict. Conditional branches are reported later, as a list. */
static inline void note_went(struct activity *a, const struct activity_code *b, uint64_t pc)
{
	bool taken = pc == b->target;

	if (b->branch != SPMU_BRANCH_CONDITIONAL) {
		report_went(a, b, pc);
		return;
	}
	a->outcome[a->outcomes] =
		(struct spmu_uarch_outcome){.from = b->pc + b->branch_at, .taken = taken};
	a->outcomes += taken | (pc == b->pc + b->bytes);
	if (a->outcomes == ACTIVITY_BATCH)
		activity_flush(a);
}

/* Reports the blocks of the log. */
static void report_blocks(struct activity *a, const uint64_t *at, const uint64_t *end)
{
	const struct activity_code *branched = a->branched;
	bool accesses = activity_wants(ACTIVITY_ACCESSES),
	     branches = activity_wants(ACTIVITY_BRANCHES);
	bool verdicts = current->list->branch_signals;

	while (at < end) {
		const struct activity_block *b = activity_block_of(*at);
		const uint64_t *next = at + activity_words_of(*at);

		if (next < end)
			__builtin_prefetch(activity_block_of(*next));
		if (branches && branched && verdicts)
			report_went(a, branched, b->code.pc);
		else if (branches && branched)
			note_went(a, branched, b->code.pc);
		if (accesses)
			spmu_uarch_run(a->model, 0, &b->run, at, a->fs_base);
		branched = b->code.branch == ACTIVITY_NO_BRANCH ? NULL : &b->code;
		at = next;
	}
	a->branched = branched;
	activity_flush(a);
}

/* Reports the complete blocks of the log, and empties it. */
static void report_log(struct activity *a)
{
	const uint64_t *at = (const uint64_t *)a->begin;
	const uint64_t *end = (const uint64_t *)current->activity;

	activity_flush(a);
	a->fs_base = read_fs_base();
	if (a->costs || activity_wants(ACTIVITY_CLOCKS))
		report_each(a, at, end);
	else
		report_blocks(a, at, end);
	begin_log(a);
}

void activity_take(void)
{
	struct activity *a = activity_mine();

	if (!a || !current->list->activity)
		return;
	activity_begin_report();
	report_log(a);
	activity_end_report();
	activity_charge(a);
}

bool activity_full_at(uint64_t address, uint64_t *place)
{
	struct activity *a = activity_mine();
	uint64_t end = current->activity, bytes;

	if (!a || !current->list->activity || address < a->guard || address >= a->guard + PAGE)
		return false;
	if (*place != end)
		return false;
	bytes = address - end; /* that the running block has stored already */
	activity_begin_report();
	report_log(a);
	activity_end_report();
	activity_charge(a);
	memmove((void *)a->begin, (const void *)end, bytes);
	*place = a->begin;
	return true;
}

const struct activity_block *activity_running(void)
{
	return activity_block_of(*(const uint64_t *)current->activity);
}

void activity_leave(unsigned insns)
{
	struct activity *a = activity_mine();
	const uint64_t *at = (const uint64_t *)current->activity;
	const struct activity_block *b = activity_block_of(*at);

	activity_begin_report();
	report_log(a);
	report_block(a, b, at, insns);
	activity_flush(a);
	activity_end_report();
	activity_charge(a);
}
