/* SPDX-License-Identifier: MIT */
/*
 * branches.c: taken branches come in, one by one with retired instructions or many at a time,
 * and go to the last branch records and the branch trace store (17.4.2, 17.4.5); and
 * what the unit asks for of them (struct spmu_branch_tap).
 *
 * Both recorders see the branches in order.  A branch trace that reaches its threshold
 * interrupts between two branches: those after it meet the unit as the interrupt left it.
 */
#include "src/pmu/core.h"

/* Tell the host which branches are wanted. */
static void publish(const struct spmu_core *core, struct thread *thread)
{
	struct spmu_branch_tap *tap = &thread->published->tap;
	struct spmu_branch_tap now = {
		.signals = thread->lbr.signals | (thread->bts.rings ? SPMU_SIGSET_TAKEN : 0),
		.rings = thread->lbr.rings | thread->bts.rings,
	};

	if (now.signals && !thread->bts.rings && !thread->lbr.call_stack)
		now.newest = core->model->lbr->depth + thread->lbr.clocks;
	if (now.signals)
		now.room = UINT64_MAX;
	if (now.signals != tap->signals || now.rings != tap->rings || now.newest != tap->newest)
		thread->published->epoch++;
	*tap = now;
}

void branches_update(struct spmu_core *core)
{
	for (unsigned lp = 0; lp < core->threads; lp++) {
		struct thread *thread = &core->thread[lp];

		lbr_update(core, thread);
		bts_update(core, thread);
		thread->by_branch = thread->lbr.on || thread->bts.rings;
		thread->special = thread->by_clock || thread->by_branch || core->os_cpl;
		publish(core, thread);
	}
}

/* Record branches; returns how many before an interrupt is due, which *pmi tells. */
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

/* The taken branch that an instruction is; false: none. */
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
 * The branch of a retired instruction becomes a last branch record.  Returns whether it may
 * be one of the branch trace, too, for branches_traced().
 */
bool branches_retired(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	struct thread *thread = &core->thread[lp];
	struct spmu_branch branch;

	lbr_clocks(thread, insn->cycles);
	if (!branch_of(insn, &branch))
		return false;
	if (thread->lbr.on)
		lbr_record(core, thread, &branch, 1);
	return thread->bts.rings != 0;
}

/* Store its branch trace record.  Returns whether the threshold was reached. */
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
	spmu_settle(core);
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

/* Take the newest of the records that the host stored into the last branch records. */
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
	if (records > thread->published->tap.room)
		records = (size_t)thread->published->tap.room;
	if (thread->lbr.on)
		read_back(core, lp, thread->bts.next, records);
	bts_stored(core, lp, records, &pmi);
	if (pmi)
		events = interrupt(core, lp);
	return core_epochs(core) == epoch ? events : events | SPMU_EV_METERS;
}
