/* SPDX-License-Identifier: MIT */
/*
 * path.c: which program code becomes one block, and what is known of it: what it counts,
 * where its flags are dead.
 */
#include "path.h"

#include <hosts/user/decode/heads.h>

#include "keep.h"
#include "sys.h"

#define PEEK_INSNS	6
#define TURNS_INSNS_MAX 32 /* of a loop that is copied several times */
#define FLAGS_KNOWN	32
#define FIRST_INSNS	512 /* of a process; the memo would save about what its pages cost */
#define CALLS_MAX	16  /* that a path follows and has not returned from */
#define MEMORY_SIGNALS	(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES) | SPMU_SIGBIT(LOCK_LOADS))

bool is_conditional(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;
}

bool is_indirect(const struct insn *insn)
{
	return insn->kind == INSN_JMP_IND || insn->kind == INSN_CALL_IND || insn->kind == INSN_RET;
}

static bool is_straight(const struct insn *insn)
{
	return insn->kind == INSN_PLAIN || insn->kind == INSN_CPUID || insn->kind == INSN_RDPMC ||
	       insn->kind == INSN_RDTSC || insn->kind == INSN_POPF;
}

/* Kinds as a set. */
#define SPECIAL_KINDS (1u << INSN_FAR | 1u << INSN_GSBASE | 1u << INSN_XBEGIN)
#define ENGINE_KINDS  (SPECIAL_KINDS | 1u << INSN_CPUID | 1u << INSN_RDPMC | 1u << INSN_UNDEFINED)

bool is_special(const struct insn *insn)
{
	return SPECIAL_KINDS >> insn->kind & 1 || insn->uses_gs;
}

bool path_needs_engine(const struct insn *insn)
{
	if (insn->kind == INSN_PLAIN && !insn->rep && !insn->uses_gs)
		return false;
	if (ENGINE_KINDS >> insn->kind & 1 || insn->uses_gs)
		return true;
	if (insn->kind == INSN_RDTSC && clocks_wanted())
		return true;
	if (insn->rep && insn->signals & MEMORY_SIGNALS)
		for (unsigned m = 0; m < meters; m++)
			if (meter_signals[m] & MEMORY_SIGNALS)
				return true; /* a count of 0 touches no memory */
	return false;
}

static size_t available(uint64_t pc, uint64_t end)
{
	return end - pc > INSN_BYTES_MAX + 1 ? INSN_BYTES_MAX + 1 : end - pc;
}

bool path_decode(uint64_t pc, uint64_t end, struct insn *insn)
{
	return insn_decode((const uint8_t *)pc, available(pc, end), pc, insn);
}

/* Instructions that are still to be decoded without the memo. */
static unsigned without_memo;

void path_begin_process(void)
{
	without_memo = FIRST_INSNS;
}

/* The same, under the lock; the instruction's length, 0 for false. */
static unsigned decode(uint64_t pc, uint64_t end, struct insn *insn)
{
	static struct heads heads;

	if (without_memo) {
		if (!--without_memo)
			engine_populate(&heads, sizeof(heads));
		return path_decode(pc, end, insn) ? insn->length : 0;
	}
	return insn_decode_known(&heads, (const uint8_t *)pc, available(pc, end), pc, insn);
}

void path_of_block(struct path *p, uint64_t pc, uint64_t end, unsigned limit, bool locked)
{
	bool goes_on = true;
	unsigned length;

	for (p->n = 0; goes_on && p->n < limit && pc < end; pc += length, p->n++) {
		struct insn *insn = &p->insn[p->n];
		bool needs_engine;

		if (locked)
			length = decode(pc, end, insn);
		else
			length = path_decode(pc, end, insn) ? insn->length : 0;
		if (!length) {
			/* Runs off the mapping: alone in its block it faults as it should. */
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
		goes_on = is_straight(insn) && !needs_engine;
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

/* Can the path go on at `next` behind the instruction at pc? */
static bool can_follow(struct calls *calls, const struct insn *insn, uint64_t pc, uint64_t next)
{
	uint64_t behind = pc + insn->length;

	if (is_straight(insn))
		return next == behind;
	switch (insn->kind) {
	case INSN_JCC:
		return next == behind || next == insn->target;
	case INSN_JMP_REL:
		return next == insn->target;
	case INSN_CALL_REL:
		return next == insn->target && enter_call(calls, behind);
	case INSN_JMP_IND:
		return next == stable_target(insn, pc);
	case INSN_CALL_IND:
		return next == stable_target(insn, pc) && enter_call(calls, behind);
	case INSN_RET:
		return !insn->immediate && calls->n && next == calls->back[--calls->n];
	default:
		return false;
	}
}

/*
 * The path has come to its head again, and the record goes round it n more instructions: so do
 * further turns of the path, that several are charged at once.  To charge each would take longer
 * than a short loop.  Not where the path could be left before the end of a turn: what goes now this
 * way and now that way would often be.
 */
static void add_turns(struct path *p, const uint64_t *pcs, unsigned n)
{
	unsigned turn = p->n;

	for (unsigned i = 0; i + 1 < turn; i++)
		if (is_conditional(&p->insn[i]))
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
		uint64_t pc = pcs[i], end = memory_code_end(pc);
		struct insn *insn = &p->insn[p->n];

		if (!end || pc > INT32_MAX || memory_is_volatile(pc) || is_on(p, pc) ||
		    !decode(pc, end, insn) || path_needs_engine(insn))
			break;
		p->pc[p->n++] = pc;
		if (!is_straight(insn))
			branches++;
		if (i + 1 == n || !can_follow(&calls, insn, pc, pcs[i + 1]))
			break;
	}
	turn = p->n;
	if (turn && turn == i && i < n && pcs[i] == pcs[0] && !calls.n)
		add_turns(p, pcs + i, n - i);
	if (p->n)
		p->pc[p->n] = p->pc[p->n - 1] + p->insn[p->n - 1].length;
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
	unsigned n = meter_occurrences(m, p->insn[i].signals);
	uint64_t set;

	if (!is_conditional(&p->insn[i]))
		return n;
	if (i + 1 == p->n)
		return n + ((meter_signals[m] & COND_SIGNALS) == COND_SIGNALS);
	set = path_taken(p, i) ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	return n + ((meter_signals[m] & set) != 0);
}

bool path_goes_upward(const struct path *p)
{
	const struct insn *last = &p->insn[p->n - 1];
	uint64_t at = p->pc[p->n - 1], behind = p->pc[p->n];
	bool upward = behind / UPWARD_SPAN == p->pc[0] / UPWARD_SPAN;

	switch (last->kind) {
	case INSN_JCC:
	case INSN_JCXZ:
	case INSN_JMP_REL:
	case INSN_CALL_REL:
		return upward && last->target > at &&
		       last->target / UPWARD_SPAN == at / UPWARD_SPAN;
	case INSN_PLAIN:
		return upward;
	default:
		return false;
	}
}

unsigned path_charge_limit(const struct path *p)
{
	unsigned limit = CHECK_INSNS_MAX;

	if (!counting_all_distant())
		return limit;
	while (limit < p->n && p->pc[limit + 1] - p->pc[0] <= UINT8_MAX)
		limit++;
	return limit;
}

static bool are_flags_dead(uint64_t pc)
{
	uint64_t end = memory_code_end(pc);
	unsigned live = FLAGS_ALL;

	for (unsigned i = 0; end && i < PEEK_INSNS && pc < end; i++) {
		struct insn insn;

		if (!decode(pc, end, &insn) || !keep_is_with_block(pc, insn.length) ||
		    insn.flags_read & live)
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

/* What has been found out for the block in hand; a trace asks twice for each of its sides. */
static struct {
	uint64_t pc;
	uint32_t block;
	bool dead;
} flags_known[FLAGS_KNOWN];
static uint32_t flags_block = 1;

void flags_forget(void)
{
	flags_block++;
}

bool flags_dead_at(uint64_t pc)
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
		else if (is_indirect(&p->insn[i]))
			live = FLAGS_ALL;
		live = (live & ~(unsigned)p->insn[i].flags_written) | p->insn[i].flags_read;
		if (!live && i <= limit)
			best = (int)i;
	}
	return best;
}

/* The limit or the first branch. */
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

	/* Mostly they are overwritten within a few instructions, or a plain block does not read
	 * them. */
	for (i = 0; i < p->n && !(p->insn[i].flags_read & live); i++) {
		live &= ~(unsigned)p->insn[i].flags_written;
		if (!live)
			return 0;
		if (i + 1 < p->n && !is_straight(&p->insn[i]))
			break;
	}
	if (i == p->n)
		return live_behind(p, true) & live ? -1 : 0;
	limit = straight_part(p, limit);
	best = dead_flags(p, limit, false);

	/* Looking at what comes behind costs more. */
	return best < 0 ? dead_flags(p, limit, true) : best;
}
