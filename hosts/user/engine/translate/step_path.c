/* SPDX-License-Identifier: MIT */
/* step_path.c: which instructions become one precise step. */
#include "engine/translate/step_path.h"

#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/count/points.h"
#include "engine/count/units.h"
#include "engine/memory/access.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/translate/sections.h"

bool step_path_goes_on(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN && !path_is_special(insn) && !insn->rep;
}

/* Returns whether it may be at the end of a step of several instructions. */
static bool may_follow(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
	case INSN_JMP_REL:
	case INSN_CALL_REL:
	case INSN_JMP_IND:
	case INSN_CALL_IND:
	case INSN_RET:
		return !path_is_special(insn);
	default:
		return step_path_goes_on(insn);
	}
}

/* Subtracts what the instruction produces.  Returns false if a meter does not have it. */
static bool take(uint32_t *headroom, uint64_t signals)
{
	bool all = true;

	for (unsigned m = 0; m < current->list->meters; m++) {
		uint32_t shift = STEP_HEADROOM_BITS * m, n = meter_occurrences(m, signals);

		if (n > (*headroom >> shift & STEP_HEADROOM_MAX))
			all = false;
		else
			*headroom -= n << shift;
	}
	return all;
}

static bool decode_next(struct path *p, uint64_t pc, bool changes)
{
	struct insn *insn = &p->insn[p->n];
	uint64_t end = region_code_end(pc);

	if (!end || (changes && !access_readable(pc, 1)))
		return false; /* a stack has not grown so far yet */
	if (!path_decode(pc, end, insn)) {
		insn->kind = INSN_UNDEFINED;
		insn->length = (uint8_t)(end - pc);
	}
	return true;
}

bool step_path(struct path *p, uint64_t pc, uint32_t headroom, bool changes)
{
	bool alone = changes || headroom & STEP_ALONE, room = true;

	for (p->n = 0; p->n < STEP_INSNS_MAX && room; p->n++) {
		struct insn *insn = &p->insn[p->n];

		if (!decode_next(p, pc, changes) || (p->n && !may_follow(insn)))
			break;
		sections_named(insn, pc);
		if (sections_will_hold(pc) || points_hold(pc)) {
			if (p->n)
				break;
			alone = true;
		}
		room = !alone && take(&headroom, insn->signals) && step_path_goes_on(insn);
		if (p->n && !room && units_want_address(insn->signals))
			break; /* registers hold it before the instruction */
		p->pc[p->n] = pc;
		pc += insn->length;
	}
	return p->n;
}
