/* SPDX-License-Identifier: MIT */
/*
 * branches.c: what a taken branch does in the reference: last branch records, the last exception
 * record, branch trace store. Also #DB and SMM.
 *
 * Vol. 3B 17.4 (IA32_DEBUGCTL, LBR stack, BTS), 17.6 to 17.10 (the families: MSR_LBR_SELECT,
 * call-stack mode, formats).
 */
#include "reference.h"

#include <string.h>

#define DEBUGCTL_LBR	     UINT64_C(1)
#define DEBUGCTL_BTF	     UINT64_C(2)
#define DEBUGCTL_TR	     (UINT64_C(1) << 6)
#define DEBUGCTL_BTS	     (UINT64_C(1) << 7)
#define DEBUGCTL_BTINT	     (UINT64_C(1) << 8)
#define DEBUGCTL_BTS_OFF_OS  (UINT64_C(1) << 9)
#define DEBUGCTL_BTS_OFF_USR (UINT64_C(1) << 10)
#define DEBUGCTL_FREEZE_SMM  (UINT64_C(1) << 14)
#define STATUS_LBRFRZ	     (UINT64_C(1) << 58)

/* Extends the sign from the bit below `bits`. */
static uint64_t extend(uint64_t value, unsigned bits)
{
	return (uint64_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

/* Returns BR_TYPE of an architectural entry. */
static uint64_t branch_type(unsigned signal)
{
	switch (signal) {
	case SPMU_SIG_COND_TAKEN:
		return 0;
	case SPMU_SIG_JMP_IND:
		return 1;
	case SPMU_SIG_JMP_REL:
		return 2;
	case SPMU_SIG_CALL_IND:
		return 3;
	case SPMU_SIG_CALL_REL:
		return 4;
	case SPMU_SIG_RET_NEAR:
		return 5;
	default:
		return 8;
	}
}

static bool supplies_clocks(const struct reference *unit)
{
	return (unit->host.supply.exact | unit->host.supply.modelled) & SPMU_SIGBIT(CYCLES);
}

/* Encodes the registers of an entry (17.4.8.1). */
static struct reference_branch encode(const struct reference *unit, unsigned lp,
				      const struct spmu_branch *branch, uint64_t clocks)
{
	const struct family_lbr *lbr = unit->family->lbr;
	bool miss = (branch->flags & SPMU_BRANCH_MISPREDICTED) &&
		    unit->defect != REFERENCE_LBR_MISS_LOST;
	struct reference_branch out = {branch->from, branch->to, 0};

	if (!unit->thread[lp].ia32e) { /* only the lower 32 bits are recorded */
		out.from &= 0xffffffff;
		out.to &= 0xffffffff;
	}
	if (clocks > 0xffff)
		clocks = 0xffff;
	switch (lbr->format) {
	case 0:
		out.from = (out.from & 0xffffffff) | out.to << 32;
		out.to = 0;
		break;
	case 3:
		out.from = (extend(out.from, 48) & ~(UINT64_C(1) << 63)) | (uint64_t)miss << 63;
		out.to = extend(out.to, 48);
		break;
	case 4:
		out.from = (extend(out.from, 48) & (~UINT64_C(0) >> 3)) | (uint64_t)miss << 63;
		out.to = extend(out.to, 48);
		break;
	case 0x3f:
		out.from = extend(out.from, 48);
		out.to = extend(out.to, 48);
		out.info = (uint64_t)miss << 63 | branch_type(branch->signal) << 56;
		if (supplies_clocks(unit) && !unit->thread[lp].lbr_untimed)
			out.info |= UINT64_C(1) << 60 | clocks;
		break;
	case 5:
	case 7: /* as 5, without transactions */
		out.from = extend(out.from, 48);
		out.to = extend(out.to, 48);
		out.info = (uint64_t)miss << 63 | clocks;
		break;
	case 6:
		out.from = (extend(out.from, 48) & ~(UINT64_C(1) << 63)) | (uint64_t)miss << 63;
		out.to = (out.to & (~UINT64_C(0) >> 16)) | clocks << 48;
		break;
	default:
		out.from = extend(out.from, 48);
		out.to = extend(out.to, 48);
		break;
	}
	return out;
}

/* Returns the bit of MSR_LBR_SELECT that leaves out a kind (tables 17-9 to 17-13). */
static uint64_t kind_bit(unsigned signal)
{
	switch (signal) {
	case SPMU_SIG_COND_TAKEN:
		return 1 << 2;
	case SPMU_SIG_CALL_REL:
		return 1 << 3;
	case SPMU_SIG_CALL_IND:
		return 1 << 4;
	case SPMU_SIG_RET_NEAR:
		return 1 << 5;
	case SPMU_SIG_JMP_IND:
		return 1 << 6;
	case SPMU_SIG_JMP_REL:
		return 1 << 7;
	default:
		return 1 << 8;
	}
}

/* Returns the filter as MSR_LBR_SELECT has it. IA32_LBR_CTL includes what that one leaves out. */
static uint64_t filter(const struct reference *unit, const struct reference_thread *t)
{
	static const uint8_t select_bit[] = {2, 7, 6, 3, 4, 5, 8}; /* of bits 16 to 22 */
	uint64_t select = t->lbr_ctl & 8 ? 0x200 : 0;

	if (!unit->family->lbr || !unit->family->lbr->ctl)
		return t->lbr_select;
	for (unsigned i = 0; i < sizeof(select_bit); i++)
		select |= (uint64_t) !(t->lbr_ctl >> (16 + i) & 1) << select_bit[i];
	return select | (t->lbr_ctl & 2 ? 0 : 1) | (t->lbr_ctl & 4 ? 0 : 2);
}

static bool recording(const struct reference *unit, const struct reference_thread *t)
{
	const struct family_lbr *lbr = unit->family->lbr;

	if (!lbr || (t->global_status & STATUS_LBRFRZ))
		return false;
	return lbr->ctl ? t->lbr_ctl & 1 : t->debugctl & DEBUGCTL_LBR;
}

/* Returns true if the filter keeps any branch. */
static bool records_something(uint64_t select)
{
	uint64_t kinds = select & 0x200 ? 0x38 : 0x1fc;

	return (select & 3) != 3 && (select & kinds) != kinds;
}

/* Adds core clocks to the time between entries, if the host supplies them. */
void reference_pass_clocks(struct reference *unit, unsigned lp, uint64_t clocks)
{
	struct reference_thread *t = &unit->thread[lp];

	if (records_something(filter(unit, t)) && supplies_clocks(unit) && recording(unit, t))
		t->lbr_clocks = t->lbr_clocks + clocks < 0xffff ? t->lbr_clocks + clocks : 0xffff;
}

/*
 * Returns true if the filter leaves the branch out. Reading of "branches occurring in ring": the
 * ring in which the branch ends.
 */
static bool left_out(const struct reference *unit, const struct reference_thread *t,
		     const struct spmu_branch *branch)
{
	uint64_t ring = branch->next_cpl ? 2 : 1, select = filter(unit, t);

	if (unit->defect == REFERENCE_LBR_FILTER_IGNORED)
		return false;
	/* Reading: call-stack mode records calls and returns only, whatever the other bits are. */
	if ((select & 0x200) && !(kind_bit(branch->signal) & 0x38))
		return true;
	return select & (ring | kind_bit(branch->signal));
}

/*
 * Records a taken branch. Reading of "the last branch before": the newest entry, so a filter
 * affects it, too.
 */
void reference_last_branch(struct reference *unit, unsigned lp, const struct spmu_branch *branch)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct family_lbr *lbr = unit->family->lbr;
	bool stack;

	if (!recording(unit, t))
		return;
	stack = (filter(unit, t) & 0x200) && lbr->call_stack;
	if (branch->flags & SPMU_BRANCH_EVENT) {
		t->ler = t->lbr[t->lbr_tos];
		if (lbr->format == 0) { /* here each has a register of its own */
			t->ler.to = t->ler.from >> 32;
			t->ler.from &= 0xffffffff;
		}
	}
	if (left_out(unit, t, branch))
		return;
	if (stack && branch->signal == SPMU_SIG_RET_NEAR &&
	    unit->defect != REFERENCE_LBR_RETURN_RECORDED) {
		/* "Flushed": the entry reads as 0 (software stops at it). */
		t->lbr[t->lbr_tos] = (struct reference_branch){0, 0, 0};
		if (lbr->ctl) {
			for (unsigned n = 1; n < t->lbr_depth; n++)
				t->lbr[n - 1] = t->lbr[n];
			t->lbr[t->lbr_depth - 1] = (struct reference_branch){0, 0, 0};
			return;
		}
		t->lbr_tos = (t->lbr_tos + lbr->depth - 1) % lbr->depth;
		return;
	}
	/* "Zero length calls"; reading: CALL rel32 without prefixes, which is five bytes long. */
	if (stack && branch->signal == SPMU_SIG_CALL_REL && branch->to == branch->from + 5 &&
	    unit->defect != REFERENCE_LBR_ZERO_CALL_RECORDED)
		return;
	/* An architectural stack has its newest entry at 0. */
	for (uint64_t n = lbr->ctl ? t->lbr_depth - 1 : 0; n; n--)
		t->lbr[n] = t->lbr[n - 1];
	t->lbr_tos = lbr->ctl ? 0 : (t->lbr_tos + 1) % lbr->depth;
	t->lbr[t->lbr_tos] = encode(unit, lp, branch, t->lbr_untimed ? 0 : t->lbr_clocks);
	for (unsigned n = 0; n < 4; n++)
		t->lbr[t->lbr_tos].info |= (uint64_t)(t->lbr_log[n] & 3) << (32 + 2 * n);
	memset(t->lbr_log, 0, sizeof(t->lbr_log));
	t->lbr_clocks = 0;
	t->lbr_untimed = false;
}

/*
 * Adds what an instruction is to the log of the next entry: up to 3 events of each general counter
 * with EN_LBR_LOG. Readings: the log has what happened since the newest entry, whichever filter is
 * set; the entry of a branch logs the branch, too; a counter with a threshold logs nothing.
 */
void reference_log(struct reference *unit, unsigned lp, const struct spmu_insn *insn)
{
	struct reference_thread *t = &unit->thread[lp];

	if (!unit->family->lbr || !unit->family->lbr->logs || !recording(unit, t))
		return;
	for (unsigned n = 0; n < 4; n++) {
		struct reference_view v = reference_view(unit, lp, n);
		bool occurred;

		if (!(t->select[n] >> 35 & 1) || v.at_least ||
		    !reference_listens(unit, &v, lp, insn->cpl))
			continue;
		t->lbr_log[n] += (unsigned)reference_gain(&v, lp, insn, false, &occurred);
		if (t->lbr_log[n] > 3 && unit->defect != REFERENCE_LBR_LOG_WRAPS)
			t->lbr_log[n] = 3;
	}
}

struct bts_area {
	uint64_t base, index, maximum, threshold;
};

static bool read_area(struct reference *unit, unsigned lp, struct bts_area *a)
{
	const struct family_area *area = reference_area(unit, lp);
	uint8_t image[32];

	if (!area || !unit->host.read(unit->host.opaque, lp, unit->thread[lp].ds_area, image,
				      4u * area->field))
		return false;
	a->base = reference_fetch(image, area->field);
	a->index = reference_fetch(image + area->field, area->field);
	a->maximum = reference_fetch(image + 2u * area->field, area->field);
	a->threshold = reference_fetch(image + 3u * area->field, area->field);
	return true;
}

static bool has_room(const struct reference *unit, const struct bts_area *a, unsigned bytes)
{
	if (a->index < a->base || a->index > a->maximum)
		return false;
	if (unit->defect == REFERENCE_BTS_BOUNDS_LOOSE)
		return a->maximum > a->index;
	return a->maximum - a->index >= bytes;
}

/* Returns the prediction flag of figure 17-6. On NetBurst no host tells it of exceptions. */
static bool predicted(const struct reference *unit, const struct spmu_branch *branch)
{
	return unit->family->bts_predicted && unit->defect != REFERENCE_PREDICTED_LOST &&
	       reference_supplied(unit, SPMU_SIGBIT(BRANCH_MISS)) &&
	       !(branch->flags & (SPMU_BRANCH_MISPREDICTED | SPMU_BRANCH_EVENT));
}

/*
 * Stores a record at the index (17.4.9). A circular buffer begins again when no other record fits.
 * The threshold interrupts in both kinds of buffer (note in 17.4.9.3). Reading: the index returns
 * to the base with the record that fills the buffer.
 */
void reference_store_branch(struct reference *unit, unsigned lp, const struct spmu_branch *branch)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct family_area *area = reference_area(unit, lp);
	bool circular = !(t->debugctl & DEBUGCTL_BTINT);
	uint8_t record[24], next[8];
	struct bts_area a;

	if (!area || (t->debugctl & (DEBUGCTL_TR | DEBUGCTL_BTS)) != (DEBUGCTL_TR | DEBUGCTL_BTS))
		return;
	if (t->smm && unit->defect != REFERENCE_SMM_RECORDS)
		return; /* 17.4.9 */
	if (t->debugctl & (branch->cpl ? DEBUGCTL_BTS_OFF_USR : DEBUGCTL_BTS_OFF_OS))
		return;
	if (!read_area(unit, lp, &a))
		return;
	if (!has_room(unit, &a, area->bts_bytes)) {
		/* Reading: an index outside the buffer is out of bounds in both kinds. */
		if (!circular || a.index < a.base || a.index > a.maximum ||
		    unit->defect == REFERENCE_BTS_NOT_CIRCULAR)
			return;
		a.index = a.base;
		if (!has_room(unit, &a, area->bts_bytes))
			return;
	}
	memset(record, 0, sizeof(record));
	reference_put(record, area->field, branch->from);
	reference_put(record + area->field, area->field, branch->to);
	if (predicted(unit, branch))
		reference_put(record + 2u * area->field, area->field, 1 << 4);
	if (!unit->host.write(unit->host.opaque, lp, a.index, record, area->bts_bytes))
		return;
	a.index += area->bts_bytes;
	bool reached = unit->defect == REFERENCE_BTS_THRESHOLD_LATE ? a.index > a.threshold
								    : a.index >= a.threshold;

	if (circular && !has_room(unit, &a, area->bts_bytes) &&
	    unit->defect != REFERENCE_BTS_NOT_CIRCULAR)
		a.index = a.base;
	reference_put(next, area->field, a.index);
	if (!unit->host.write(unit->host.opaque, lp, t->ds_area + area->field, next, area->field))
		return;
	if (reached)
		reference_request_pmi(unit, lp);
}

unsigned reference_branches(struct reference *unit, unsigned lp, const struct spmu_branch *branches,
			    size_t count)
{
	unsigned events = 0;

	for (size_t i = 0; i < count; i++) {
		reference_pass_clocks(unit, lp, branches[i].cycles);
		reference_last_branch(unit, lp, &branches[i]);
		reference_store_branch(unit, lp, &branches[i]);
		events |= reference_deliver_pmi(unit, lp);
	}
	return events;
}

bool reference_steps_on_branches(const struct reference *unit, unsigned lp)
{
	return unit->thread[lp].debugctl & DEBUGCTL_BTF;
}

/* Turns off what #DB turns off (17.4.2, 17.4.3). TR is left to software. */
void reference_debug_exception(struct reference *unit, unsigned lp)
{
	unit->thread[lp].debugctl &= ~(DEBUGCTL_LBR | DEBUGCTL_BTF);
}

/*
 * Turns off what a machine check turns off (17.4.9). On NetBurst bit 25 is thread 0's and bit 26
 * thread 1's.
 */
void reference_machine_check(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = reference_holder(unit, lp);

	if (!unit->family->area || unit->defect == REFERENCE_MACHINE_CHECK_RECORDS)
		return;
	unit->thread[lp].debugctl &= ~(DEBUGCTL_TR | DEBUGCTL_BTS);
	t->pebs_enable &= unit->family->shared ? ~(UINT64_C(1) << (25 + lp)) : 0;
	for (unsigned n = 0; n < unit->generals; n++)
		if (!unit->family->shared || n == 16 + lp)
			t->general[n].armed = t->general[n].late = false;
	for (unsigned n = 0; n < unit->family->fixed; n++)
		t->fixed[n].armed = t->fixed[n].late = false;
}

/* Enters deep sleep (17.10.3), on the families whose entries have clocks. */
void reference_deep_sleep(struct reference *unit, unsigned lp)
{
	struct reference_thread *t = &unit->thread[lp];
	const struct family_lbr *lbr = unit->family->lbr;

	if (!lbr || lbr->format < 5 || unit->defect == REFERENCE_LBR_SLEEP_KEEPS)
		return;
	memset(t->lbr, 0, sizeof(t->lbr));
	memset(&t->ler, 0, sizeof(t->ler));
	t->lbr_tos = 0;
	t->lbr_untimed = true;
	memset(t->lbr_log, 0, sizeof(t->lbr_log));
}

/* Enters or leaves system management mode (17.4.1, FREEZE_WHILE_SMM_EN). */
void reference_smm(struct reference *unit, unsigned lp, bool entered)
{
	struct reference_thread *t = &unit->thread[lp];

	if (t->smm == entered)
		return;
	t->smm = entered;
	if (entered) /* architectural: LBREn is cleared and restored in any case */
		t->smm_lbr_ctl = t->lbr_ctl & 1;
	t->lbr_ctl = (t->lbr_ctl & ~UINT64_C(1)) | (entered ? 0 : t->smm_lbr_ctl);
	if (entered && !t->smm_frozen && (t->debugctl & DEBUGCTL_FREEZE_SMM)) {
		t->smm_frozen = true;
		t->smm_debugctl = t->debugctl;
		t->smm_global_control = t->global_control;
		t->global_control = 0;
		t->debugctl &= ~(DEBUGCTL_LBR | DEBUGCTL_BTF | DEBUGCTL_TR | DEBUGCTL_BTS);
	} else if (!entered && t->smm_frozen) {
		t->smm_frozen = false;
		t->debugctl = t->smm_debugctl;
		t->global_control = t->smm_global_control;
	}
}

void reference_set_ia32e(struct reference *unit, unsigned lp, bool active)
{
	unit->thread[lp].ia32e = active;
}

void reference_set_halted(struct reference *unit, unsigned lp, bool halted)
{
	unit->thread[lp].halted = halted;
}
