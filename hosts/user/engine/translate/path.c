/* SPDX-License-Identifier: MIT */
/*
 * path.c: decides which program code becomes one block, and analyzes it: what it counts, and
 * where its flags are dead.
 */
#include "engine/translate/path.h"

#include <hosts/user/decode/decode_cache.h>

#include "engine/cache/cache.h"
#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/count/points.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/translate/sections.h"
#include "engine/x86/operands.h"

#define PEEK_INSNS	6
#define TURNS_INSNS_MAX 32 /* of a loop that is copied several times */
#define FLAGS_KNOWN	32
#define FIRST_INSNS                                                                                \
	512 /* of a process: decoding them without the memo costs less than the pages of the memo */
#define CALLS_MAX      16 /* calls that a path follows without having returned */
#define MEMORY_SIGNALS (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))

static bool is_straight(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN || insn->kind == INSN_CPUID || insn->kind == INSN_RDPMC ||
	       insn->kind == INSN_RDTSC || insn->kind == INSN_POPF;
}

/* Kinds as a set. */
#define SPECIAL_KINDS (1u << INSN_FAR | 1u << INSN_GSBASE | 1u << INSN_XBEGIN)
#define ENGINE_KINDS                                                                               \
	(SPECIAL_KINDS | 1u << INSN_CPUID | 1u << INSN_RDPMC | 1u << INSN_UNDEFINED |              \
	 1u << INSN_REQUEST)

bool path_is_special(const struct insn *insn)
{
	return SPECIAL_KINDS >> insn->kind & 1 || insn->uses_gs || insn->near_16;
}

bool path_needs_engine(const struct insn *insn)
{
	if (insn->kind == INSN_PLAIN && !insn->rep && !insn->uses_gs &&
	    insn->memory_kind != INSN_MEM_XLAT)
		return false;
	if (ENGINE_KINDS >> insn->kind & 1 || insn->uses_gs || insn->near_16)
		return true;
	if (current->list->activity & ACTIVITY_ACCESSES &&
	    (insn->memory_kind == INSN_MEM_XLAT || (insn->rep && insn->signals & MEMORY_SIGNALS)))
		return true; /* their addresses are not a sum of registers */
	if (insn->kind == INSN_RDTSC && engine_wants(LINK_WANT_TIME))
		return true;
	if (insn->rep && insn->signals & MEMORY_SIGNALS)
		for (unsigned m = 0; m < current->list->meters; m++)
			if (current->list->signals[m] & MEMORY_SIGNALS)
				return true; /* a count of 0 accesses no memory */
	return false;
}

/* How many instructions are still decoded without the memo. */
static unsigned without_memo;

void path_begin_process(void)
{
	without_memo = FIRST_INSNS;
}

/* The same, under the lock.  Returns the instruction's length, or 0. */
static unsigned decode(uint64_t pc, uint64_t end, struct insn *insn)
{
	static struct decode_cache heads;
	unsigned length;

	if (without_memo) {
		if (!--without_memo)
			heap_populate(&heads, sizeof(heads));
		return path_decode(pc, end, insn) ? insn->length : 0;
	}
	length = insn_decode_known(&heads, (const uint8_t *)pc, path_available(pc, end), pc, insn);
	if (length)
		path_note_request(insn, pc);
	return length;
}

void path_of_block(struct path *p, uint64_t pc, uint64_t end, unsigned limit, bool locked)
{
	bool goes_on = true;
	unsigned length;

	p->constants = 0;
	for (p->n = 0; goes_on && p->n < limit && pc < end; pc += length, p->n++) {
		struct insn *insn = &p->insn[p->n];
		bool needs_engine;

		if (p->n &&
		    (points_hold(pc) || (locked ? sections_will_hold(pc) : sections_hold(pc))))
			break;
		if (locked)
			length = decode(pc, end, insn);
		else
			length = path_decode(pc, end, insn) ? insn->length : 0;
		if (!length) {
			/* It extends beyond the mapping.  Alone in its block it faults as it
			 * should. */
			if (p->n)
				break;
			insn->kind = INSN_UNDEFINED;
			insn->length = (uint8_t)(end - pc);
			length = insn->length;
		}
		needs_engine = path_needs_engine(insn);
		if (p->n && needs_engine)
			break;
		p->pc[p->n] = pc;
		p->constants |= (uint64_t)operand_may_be_constant(insn) << p->n;
		goes_on = is_straight(insn) && !needs_engine;
	}
	p->pc[p->n] = pc;
	if (current->list->clocks)
		path_clocks(p);
}

static bool is_on(const struct path *p, uint64_t pc)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->pc[i] == pc)
			return true;
	return false;
}

/* Return addresses of calls that the path has followed. */
struct calls {
	uint64_t back[CALLS_MAX];
	unsigned n;
};

static bool enter_call(struct calls *calls, uint64_t back)
{
	if (calls->n == CALLS_MAX || back > INT32_MAX)
		return false;
	calls->back[calls->n++] = back;
	return true;
}

/* Returns whether the path can continue at `next` after the instruction at pc. */
static bool can_follow(struct calls *calls, const struct insn *insn, uint64_t pc, uint64_t next)
{
	uint64_t after = pc + insn->length;

	if (is_straight(insn))
		return next == after;
	switch (insn->kind) {
	case INSN_JCC:
		return next == after || next == insn->target;
	case INSN_JMP_REL:
		return next == insn->target;
	case INSN_CALL_REL:
		return next == insn->target && enter_call(calls, after);
	case INSN_JMP_IND:
		return next == plt_cache_target(insn, pc);
	case INSN_CALL_IND:
		return next == plt_cache_target(insn, pc) && enter_call(calls, after);
	case INSN_RET:
		return !insn->immediate && calls->n && next == calls->back[--calls->n];
	default:
		return false;
	}
}

/*
 * Adds further turns of a loop, so that several are charged at once.  The path has come to its
 * head again, and the record continues round it for n more instructions.  Charging each turn
 * would take longer than a short loop.  Not done where the path could be left before the end of
 * a turn: a branch that goes both ways would leave it often.
 */
static void add_turns(struct path *p, const uint64_t *pcs, unsigned n)
{
	unsigned turn = p->n;

	for (unsigned i = 0; i + 1 < turn; i++)
		if (path_is_conditional(&p->insn[i]))
			return;
	for (; n >= turn && p->n + turn <= TURNS_INSNS_MAX; n -= turn, pcs += turn) {
		if (memcmp(pcs, p->pc, turn * sizeof(*pcs)) != 0)
			return;
		memcpy(p->insn + p->n, p->insn, turn * sizeof(*p->insn));
		memcpy(p->pc + p->n, p->pc, turn * sizeof(*p->pc));
		p->n += turn;
	}
}

bool path_of_record(struct path *p, const uint64_t *pcs, unsigned n)
{
	struct calls calls = {.n = 0};
	unsigned branches = 0, turn, i;

	p->n = 0;
	for (i = 0; i < n && p->n < BLOCK_INSNS_MAX; i++) {
		uint64_t pc = pcs[i], end = region_code_end(pc);
		struct insn *insn = &p->insn[p->n];

		if (!end || pc > INT32_MAX || region_is_volatile(pc) || sections_hold(pc) ||
		    points_hold(pc) || is_on(p, pc) || !decode(pc, end, insn) ||
		    path_needs_engine(insn))
			break;
		p->pc[p->n++] = pc;
		if (!is_straight(insn))
			branches++;
		if (i + 1 == n || !can_follow(&calls, insn, pc, pcs[i + 1]))
			break;
	}
	path_clocks_cut(p);
	turn = p->n;
	if (turn && turn == i && i < n && pcs[i] == pcs[0] && !calls.n)
		add_turns(p, pcs + i, n - i);
	if (p->n)
		p->pc[p->n] = p->pc[p->n - 1] + p->insn[p->n - 1].length;
	if (current->list->clocks)
		path_clocks(p);
	return branches > 1 || p->n > turn;
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
	unsigned n;
	uint64_t set;

	if (meter_counts_clocks(m))
		return p->clocks[i];
	n = meter_occurrences(m, p->insn[i].signals);
	if (!path_is_conditional(&p->insn[i]))
		return n;
	if (i + 1 == p->n)
		return n + ((current->list->signals[m] & COND_SIGNALS) == COND_SIGNALS);
	set = path_taken(p, i) ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	return n + ((current->list->signals[m] & set) != 0);
}

bool path_goes_forward(const struct path *p)
{
	const struct insn *last = &p->insn[p->n - 1];
	uint64_t at = p->pc[p->n - 1], after = p->pc[p->n];
	bool forward = after / FORWARD_SPAN == p->pc[0] / FORWARD_SPAN;

	switch (last->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
	case INSN_JMP_REL:
	case INSN_CALL_REL:
		return forward && last->target > at &&
		       last->target / FORWARD_SPAN == at / FORWARD_SPAN;
	case INSN_PLAIN:
		return forward;
	default:
		return false;
	}
}

/* Returns the static clocks of the first n instructions, in parts. */
static unsigned clocks_of(const struct path *p, unsigned n)
{
	unsigned parts = 0;

	for (unsigned i = 0; i < n && i < p->n; i++)
		parts += p->clocks[i];
	return parts;
}

unsigned path_charge_limit(const struct path *p)
{
	unsigned limit = CHECK_INSNS_MAX;

	if (!shards_all_unchecked()) {
		while (current->list->clocks && clocks_of(p, limit) > CHECK_PARTS_MAX)
			limit--;
		return limit;
	}
	while (limit < p->n && p->pc[limit + 1] - p->pc[0] <= UINT8_MAX)
		limit++;
	return limit;
}

static bool are_flags_dead(uint64_t pc)
{
	uint64_t end = region_code_end(pc);
	unsigned live = FLAGS_ALL;

	for (unsigned i = 0; end && i < PEEK_INSNS && pc < end; i++) {
		struct insn insn;

		if (!decode(pc, end, &insn) || !persist_is_with_block(pc, insn.length) ||
		    insn.flags_read & live)
			return false;
		live &= ~(unsigned)insn.flags_written;
		if (!live)
			return true;
		if (insn.kind == INSN_JMP_REL || insn.kind == INSN_CALL_REL)
			pc = insn.target, end = region_code_end(pc);
		else if (!is_straight(&insn))
			return false;
		else
			pc += insn.length;
	}
	return false;
}

/* Results for the block being translated.  A trace asks twice for each of its side exits. */
static struct {
	uint64_t pc;
	uint32_t block;
	bool dead;
} flags_known[FLAGS_KNOWN];
static uint32_t flags_block = 1;

void path_forget_flags(void)
{
	flags_block++;
}

bool path_flags_dead_at(uint64_t pc)
{
	unsigned i = (unsigned)(pc ^ pc >> 5) % FLAGS_KNOWN;

	if (flags_known[i].pc != pc || flags_known[i].block != flags_block) {
		flags_known[i].dead = are_flags_dead(pc);
		flags_known[i].pc = pc;
		flags_known[i].block = flags_block;
	}
	return flags_known[i].dead;
}

static unsigned live_at(uint64_t pc, bool look)
{
	return look && path_flags_dead_at(pc) ? 0 : FLAGS_ALL;
}

static unsigned live_after(const struct path *p, bool look)
{
	const struct insn *last = &p->insn[p->n - 1];

	if (last->kind == INSN_JMP_REL || last->kind == INSN_CALL_REL)
		return live_at(last->target, look);
	if (path_is_conditional(last))
		return live_at(last->target, look) | live_at(p->pc[p->n - 1] + last->length, look);
	return is_straight(last) ? live_at(p->pc[p->n], look) : FLAGS_ALL;
}

static int dead_flags(const struct path *p, unsigned limit, bool look)
{
	unsigned live = live_after(p, look);
	int best = -1;

	for (unsigned i = p->n; i-- > 0;) {
		if (i + 1 < p->n && path_is_conditional(&p->insn[i]))
			live |= live_at(path_side(p, i), look);
		else if (path_is_indirect(&p->insn[i]))
			live = FLAGS_ALL;
		live = (live & ~(unsigned)p->insn[i].flags_written) | p->insn[i].flags_read;
		if (!live && i <= limit)
			best = (int)i;
	}
	return best;
}

/* Returns the limit, or the index of the first branch. */
static unsigned straight_part(const struct path *p, unsigned limit)
{
	unsigned n = 0;

	while (n < limit && n < p->n && is_straight(&p->insn[n]))
		n++;
	return n;
}

int path_dead_flags(const struct path *p, unsigned limit)
{
	unsigned live = FLAGS_ALL, i;
	int best;

	/* Mostly they are overwritten within a few instructions, or a simple block does not read
	 * them. */
	for (i = 0; i < p->n && !(p->insn[i].flags_read & live); i++) {
		live &= ~(unsigned)p->insn[i].flags_written;
		if (!live)
			return 0;
		if (i + 1 < p->n && !is_straight(&p->insn[i]))
			break;
	}
	if (i == p->n)
		return live_after(p, true) & live ? -1 : 0;
	limit = straight_part(p, limit);
	best = dead_flags(p, limit, false);

	/* An analysis of the code that follows costs more. */
	return best < 0 ? dead_flags(p, limit, true) : best;
}
