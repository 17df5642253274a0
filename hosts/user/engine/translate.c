/* SPDX-License-Identifier: MIT */
/*
 * translate.c: which program code is translated, and when it is there for all threads.
 *
 * A block is what stands at an address up to the first branch.  What certainly runs behind it is
 * translated with it.  A trace is a block that goes on through branches, along a way that was
 * recorded (hot.c).
 */
#include "copy.h"
#include "keep.h"
#include "keys.h"
#include "pages.h"
#include "sys.h"

/* Under the lock. */
static struct path d; /* of the block in hand */
static bool careful;

/* What has been translated and not been shown to other threads yet: block by block until what they
 * go on with is there, too. */
static struct {
	uint64_t key, code;
	bool returned_to;
	uint64_t thunk; /* then: in front of the code */
} made[RUN_BLOCKS_MAX + 1];
static unsigned mades;

static uint64_t key_of(uint64_t pc)
{
	return careful ? pc | CAREFUL_KEY : pc;
}

uint64_t translated_code(uint64_t key)
{
	for (unsigned i = 0; i < mades; i++)
		if (made[i].key == key)
			return made[i].code;
	return blocks_lookup(key);
}

/* Its pages; true: it has to be looked at again. */
static bool watch_range(uint64_t first, uint64_t last)
{
	bool again = memory_watch_page(first);

	if (last / PAGE != first / PAGE)
		again |= memory_watch_page(last);
	return again;
}

/* The same for a path that goes through branches. */
static bool watch_path(void)
{
	bool again = false;

	for (unsigned i = 0; i < d.n; i++)
		again |= watch_range(d.pc[i], d.pc[i] + d.insn[i].length - 1);
	return again;
}

static bool is_outside(uint64_t first, uint64_t last)
{
	return keep_outside(first) || keep_outside(last);
}

/* Does it leave the module that it begins in? */
static bool path_spans(bool trace)
{
	bool spans = is_outside(d.pc[0], d.pc[d.n] - 1);

	for (unsigned i = 0; trace && i < d.n; i++)
		spans |= is_outside(d.pc[i], d.pc[i] + d.insn[i].length - 1);
	return spans;
}

static void translate_path(bool trace, const struct copy_how *how)
{
	struct emit e = {cache_at};
	struct block *b;

	b = block_new(d.pc[0]);
	b->trace = trace;
	b->bytes = (uint16_t)(d.pc[d.n] - d.pc[0]);
	b->careful = careful;
	keep_begin(b->pc);
	b->spans = path_spans(trace);
	made[mades].key = key_of(b->pc);
	made[mades++].code = (uint64_t)cache_at;
	if (path_needs_engine(&d.insn[0])) {
		b->insns = 0;
		b->check_at = b->check_bytes = 0;
		emit_leave(&e, EXIT_STEP_ME, block_number(b));
	} else {
		copy_block(&e, b, how);
	}
	b->code_bytes = (uint16_t)(e.at - cache_at);
	cache_at = e.at;
	block_done(b);
}

/* The code of the first. */
static uint64_t publish(void)
{
	for (unsigned i = 0; i < mades; i++) {
		blocks_add(made[i].key, made[i].code);
		if (made[i].returned_to)
			target_set(made[i].key, made[i].thunk, true);
	}
	mades = 0;
	return made[0].code;
}

/*
 * Where the program certainly goes on behind the block in hand, or will come back to: translated
 * with it, what comes there saves an exit to the engine.  (To go on behind conditional branches
 * costs more for what never runs than it saves.)  0: nowhere.  Code that changes (a compiler's that
 * is just being written) is left until it runs.
 */
static uint64_t goes_on(void)
{
	const struct insn *last = &d.insn[d.n - 1];
	uint64_t pc = d.pc[d.n];

	if (careful || mades + 1 >= RUN_BLOCKS_MAX || path_needs_engine(&d.insn[0]))
		return 0;
	switch (last->kind) {
	case INSN_JMP_REL:
		pc = last->target;
		break;
	case INSN_CALL_REL:
	case INSN_CALL_IND:
	case INSN_SYSCALL:
	case INSN_PLAIN:
		break;
	default:
		return 0;
	}
	if (pc == d.pc[0] || keep_parts(d.pc[0], pc) || !memory_is_constant(pc) || blocks_full() ||
	    translated_code(key_of(pc)))
		return 0;
	return pc;
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL_REL || insn->kind == INSN_CALL_IND;
}

/* What is asked for in the end has come from memory by then. */
static void look_ahead(const struct insn *last)
{
	blocks_will_look(key_of(d.pc[d.n]), is_call(last));
	__builtin_prefetch((const void *)(d.pc[d.n] + 64));
	if (is_conditional(last) || last->kind == INSN_CALL_REL || last->kind == INSN_JMP_REL) {
		blocks_will_look(key_of(last->target), false);
		__builtin_prefetch((const void *)last->target);
		__builtin_prefetch((const void *)(last->target + 64));
	}
}

/* The block at pc; where to go on translating, 0: nowhere. */
static uint64_t translate_next(uint64_t pc)
{
	struct copy_how how = {.path = &d};
	const struct insn *last;
	uint64_t next;

	do {
		path_of_block(&d, pc, memory_block_end(pc),
			      careful ? CAREFUL_INSNS_MAX : PLAIN_INSNS_MAX, true);
	} while (watch_range(pc, d.pc[d.n] - 1));
	last = &d.insn[d.n - 1];
	look_ahead(last);
	next = goes_on();
	how.behind = is_call(last) || last->kind == INSN_SYSCALL ? 0 : next;
	if (made[mades].returned_to)
		made[mades].thunk = target_thunk(key_of(pc), true);
	translate_path(false, &how);
	made[mades].returned_to = is_call(last); /* the next one */
	return next;
}

/* A child that was killed while it translated in this memory has published nothing. */
static void begin(bool is_careful)
{
	careful = is_careful;
	mades = 0;
	made[0].returned_to = false;
}

uint64_t translate_block(uint64_t key)
{
	uint64_t pc = key & ~CAREFUL_KEY, end = memory_block_end(pc);
	READING_CODE;

	if (!end || memory_is_volatile(pc))
		return 0;
	if (blocks_full())
		blocks_flush();
	begin(key & CAREFUL_KEY);
	while (pc)
		pc = translate_next(pc);
	return publish();
}

bool translate_recorded(const uint64_t *pcs, unsigned n)
{
	uint64_t plain = blocks_lookup(pcs[0]), code;
	struct emit e;
	READING_CODE;

	if (meters > CHARGED_METERS_MAX || !path_of_record(&d, pcs, n) || watch_path())
		return false;
	begin(false);
	e.at = cache_at;
	emit_line(&e);
	cache_at = e.at;
	translate_path(true, &(struct copy_how){.path = &d, .aligned = true});
	code = publish();
	if (plain)
		block_replace(plain, code);
	return true;
}
