/* SPDX-License-Identifier: MIT */
/*
 * path.c: which program code becomes one block, and what is known of it: what it counts,
 * where its flags are dead.
 */
#include "path.h"

#include "sys.h"

#define PEEK_INSNS	   6
#define TRACE_BRANCHES_MAX 12
#define MEMORY_SIGNALS	   (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))

bool is_conditional(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;
}

static bool is_straight(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN || insn->kind == INSN_CPUID || insn->kind == INSN_RDPMC;
}

bool is_special(const struct insn *insn)
{
	return insn->kind == INSN_FAR || insn->kind == INSN_GSBASE || insn->kind == INSN_XBEGIN ||
	       insn->uses_gs;
}

bool path_needs_engine(const struct insn *insn)
{
	if (is_special(insn) || insn->kind == INSN_CPUID || insn->kind == INSN_RDPMC)
		return true;
	if (insn->rep && insn->signals & MEMORY_SIGNALS)
		for (unsigned m = 0; m < meters; m++)
			if (meter_signals[m] & MEMORY_SIGNALS)
				return true; /* a count of 0 touches no memory */
	return false;
}

bool path_decode(uint64_t pc, uint64_t end, struct insn *insn)
{
	uint64_t available = end - pc;

	if (available > INSN_BYTES_MAX + 1)
		available = INSN_BYTES_MAX + 1;
	return insn_decode((const uint8_t *)pc, available, pc, insn);
}

void path_of_block(struct path *p, uint64_t pc, uint64_t end, unsigned limit)
{
	p->n = 0;
	while (p->n < limit && pc < end) {
		struct insn *insn = &p->insn[p->n];

		if (!path_decode(pc, end, insn)) {
			/* Runs off the mapping: alone in its block it faults as it should. */
			if (p->n)
				break;
			insn->kind = INSN_UNDEFINED;
			insn->length = (uint8_t)(end - pc);
		}
		if (p->n && path_needs_engine(insn))
			break;
		p->pc[p->n++] = pc;
		pc += insn->length;
		if (!is_straight(insn) || path_needs_engine(insn))
			break;
	}
	p->pc[p->n] = pc;
}

static bool is_on(const struct path *p, uint64_t pc)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->pc[i] == pc)
			return true;
	return false;
}

/* Where a trace goes on after the instruction at pc; 0: it ends there. */
static uint64_t follow(const struct path *p, const struct insn *insn, uint64_t pc)
{
	uint64_t behind = pc + insn->length, next;

	if (is_straight(insn))
		return behind;
	switch (insn->kind) {
	case INSN_JMP_REL:
	case INSN_CALL_REL:
		next = blocks_lookup(insn->target) ? insn->target : 0;
		break;
	case INSN_JCC:
		if (insn->target <= pc)
			return 0; /* the end of a loop */
		if (blocks_lookup(behind))
			next = behind;
		else
			next = blocks_lookup(insn->target) ? insn->target : 0;
		break;
	default:
		return 0;
	}
	return is_on(p, next) || next == pc ? 0 : next;
}

bool path_of_trace(struct path *p, uint64_t pc)
{
	unsigned branches = 0;

	p->n = 0;
	while (p->n < BLOCK_INSNS_MAX) {
		uint64_t end = memory_code_end(pc), next;
		struct insn *insn = &p->insn[p->n];

		if (!end || pc > UINT32_MAX || !path_decode(pc, end, insn) ||
		    path_needs_engine(insn))
			break;
		p->pc[p->n] = pc;
		next = follow(p, insn, pc);
		p->pc[++p->n] = pc + insn->length;
		if (!is_straight(insn))
			branches++;
		if (!next || branches == TRACE_BRANCHES_MAX)
			break;
		if (p->n == BLOCK_INSNS_MAX && !is_straight(insn))
			break; /* the last instruction's way out is the ordinary one */
		pc = next;
		p->pc[p->n] = pc;
	}
	return branches > 1;
}

bool path_taken(const struct path *p, unsigned i)
{
	return p->pc[i + 1] != p->pc[i] + p->insn[i].length;
}

uint64_t path_side(const struct path *p, unsigned i)
{
	return path_taken(p, i) ? p->pc[i] + p->insn[i].length : p->insn[i].target;
}

unsigned path_occurrences(const struct path *p, unsigned i, unsigned m)
{
	uint64_t set = p->insn[i].signals & meter_signals[m];
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	if (!is_conditional(&p->insn[i]))
		return n;
	if (i + 1 == p->n)
		return n + ((meter_signals[m] & COND_SIGNALS) == COND_SIGNALS);
	set = path_taken(p, i) ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	return n + ((meter_signals[m] & set) != 0);
}

bool flags_dead_at(uint64_t pc)
{
	uint64_t end = memory_code_end(pc);
	unsigned live = FLAGS_ALL;

	for (unsigned i = 0; end && i < PEEK_INSNS && pc < end; i++) {
		struct insn insn;

		if (!path_decode(pc, end, &insn) || insn.flags_read & live)
			return false;
		live &= ~(unsigned)insn.flags_written;
		if (!live)
			return true;
		if (insn.kind == INSN_JMP_REL || insn.kind == INSN_CALL_REL)
			pc = insn.target, end = memory_code_end(pc);
		else if (!is_straight(&insn))
			return false;
		else
			pc += insn.length;
	}
	return false;
}

static unsigned live_at(uint64_t pc, bool look)
{
	return look && flags_dead_at(pc) ? 0 : FLAGS_ALL;
}

static unsigned live_behind(const struct path *p, bool look)
{
	const struct insn *last = &p->insn[p->n - 1];

	if (last->kind == INSN_JMP_REL || last->kind == INSN_CALL_REL)
		return live_at(last->target, look);
	if (is_conditional(last))
		return live_at(last->target, look) | live_at(p->pc[p->n - 1] + last->length, look);
	return is_straight(last) ? live_at(p->pc[p->n], look) : FLAGS_ALL;
}

static int dead_flags(const struct path *p, unsigned limit, bool look)
{
	unsigned live = live_behind(p, look);
	int best = -1;

	for (unsigned i = p->n; i-- > 0;) {
		if (i + 1 < p->n && is_conditional(&p->insn[i]))
			live |= live_at(path_side(p, i), look);
		live = (live & ~(unsigned)p->insn[i].flags_written) | p->insn[i].flags_read;
		if (!live && i <= limit)
			best = (int)i;
	}
	return best;
}

int path_dead_flags(const struct path *p, unsigned limit)
{
	int best = dead_flags(p, limit, false);

	/* Looking at what comes behind costs more. */
	return best < 0 ? dead_flags(p, limit, true) : best;
}
