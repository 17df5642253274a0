/* SPDX-License-Identifier: MIT */
/*
 * branches.c: takes taken branches and passes them to the last branch records and the branch trace
 * store (17.4.2, 17.4.5). They come one by one with retired instructions, or many at a time.
 *
 * Both recorders see the branches in order. A branch trace that reaches its threshold interrupts
 * between two branches. The branches after it find the unit as the interrupt left it.
 */
#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/pmi.h"
#include "src/pmu/records.h"

/* Records branches. Returns how many come before an interrupt; *pmi says whether one is due. */
static size_t record(struct spmu_core *core, unsigned lp, const struct spmu_branch *branches,
		     size_t count, bool *pmi)
{
	struct thread *thread = &core->thread[lp];

	*pmi = false;
	if (thread->bts.rings)
		count = bts_store(core, lp, branches, count, pmi);
	if (thread->lbr.on)
		lbr_record(core, thread, branches, count);
	return count;
}

/* Makes a taken branch of an instruction. Returns false if it is none. */
static bool branch_of(const struct spmu_insn *insn, struct spmu_branch *branch)
{
	uint64_t taken = insn->signals & SPMU_SIGSET_TAKEN;

	if (!taken || (taken & SPMU_SIGBIT(FAR) && !insn->next_ip))
		return false;
	*branch = (struct spmu_branch){
		.from = insn->ip,
		.to = insn->next_ip,
		.signal = (uint8_t)__builtin_ctzll(taken),
		.cpl = insn->cpl,
		.next_cpl = taken & SPMU_SIGBIT(FAR) ? insn->next_cpl : insn->cpl,
		.flags = insn->signals & SPMU_SIGBIT(BRANCH_MISS) ? SPMU_BRANCH_MISPREDICTED : 0,
	};
	return true;
}

/*
 * Makes a last branch record of a retired branch. Returns true if it may also belong to the branch
 * trace; the caller then calls branches_traced().
 */
bool branches_retired(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	struct thread *thread = &core->thread[lp];
	struct spmu_branch branch;

	lbr_clocks(thread, insn->cycles);
	if (lbr_logging(thread))
		lbr_log(thread, lp, insn);
	if (!branch_of(insn, &branch))
		return false;
	if (thread->lbr.on)
		lbr_record(core, thread, &branch, 1);
	return thread->bts.rings != 0;
}

/* Stores the branch's trace record. Returns true if that reached the threshold. */
bool branches_traced(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	struct spmu_branch branch;
	bool pmi = false;

	if (branch_of(insn, &branch))
		(void)bts_store(core, lp, &branch, 1, &pmi);
	return pmi;
}

static unsigned interrupt(struct spmu_core *core, unsigned lp)
{
	spmu_sync(core);
	if (pmi_request(core, &core->thread[lp]))
		counters_update(core);
	return pmi_deliver(core, lp);
}

unsigned spmu_branches(struct spmu_core *core, unsigned lp, const struct spmu_branch *branches,
		       size_t count)
{
	unsigned events = 0;
	uint32_t epoch;

	if (lp >= core->threads)
		return 0;
	epoch = core_epochs(core);
	while (count && core->thread[lp].by_branch) {
		bool pmi;
		size_t done = record(core, lp, branches, count, &pmi);

		branches += done;
		count -= done;
		if (pmi)
			events |= interrupt(core, lp);
	}
	return core_epochs(core) == epoch ? events : events | SPMU_EV_METERS;
}

/* Copies the newest of the records that the host has stored into the last branch records. */
static void read_back(struct spmu_core *core, unsigned lp, uint64_t next, size_t records)
{
	struct thread *thread = &core->thread[lp];
	const struct spmu_ds_layout *layout = thread_ds(core, thread);
	uint64_t depth = core->model->lbr->depth;
	uint64_t first = records > depth ? records - depth : 0;

	thread->state.reg[SLOT_LBR_TOS] = (thread->state.reg[SLOT_LBR_TOS] + first) & (depth - 1);
	for (uint64_t n = first; n < records; n++) {
		uint8_t bytes[24];
		struct spmu_bts_record stored;
		struct spmu_branch branch = {.signal = SPMU_SIG_JMP_REL};

		if (!core->host.read(core->host.opaque, lp, next + n * sizeof(bytes), bytes,
				     sizeof(bytes)) ||
		    spmu_bts_decode(layout, bytes, sizeof(bytes), &stored) != SPMU_OK)
			continue;
		branch.from = stored.from;
		branch.to = stored.to;
		lbr_record(core, thread, &branch, 1);
	}
}

unsigned spmu_branches_stored(struct spmu_core *core, unsigned lp, size_t records)
{
	struct thread *thread;
	unsigned events = 0;
	uint32_t epoch;
	bool pmi;

	if (lp >= core->threads || !core->thread[lp].bts.next || !records)
		return 0;
	thread = &core->thread[lp];
	epoch = core_epochs(core);
	if (records > thread->published->tap.headroom)
		records = (size_t)thread->published->tap.headroom;
	if (thread->lbr.on)
		read_back(core, lp, thread->bts.next, records);
	bts_stored(core, lp, records, &pmi);
	if (pmi)
		events = interrupt(core, lp);
	return core_epochs(core) == epoch ? events : events | SPMU_EV_METERS;
}
