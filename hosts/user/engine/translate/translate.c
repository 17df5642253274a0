/* SPDX-License-Identifier: MIT */
/*
 * translate.c: decides which program code is translated, and when all threads see it.
 *
 * A block is the code at an address up to the first branch.  Code that certainly runs after it
 * is translated with it.  A trace is a block that continues through branches, along a recorded
 * path (hot.c).
 */
#include "engine/cache/cache.h"
#include "engine/count/meter_list.h"
#include "engine/count/points.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/sys.h"
#include "engine/translate/copy.h"
#include "engine/translate/describe.h"
#include "engine/translate/path.h"
#include "engine/translate/sections.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"
#include "engine/x86/emit.h"
#include "engine/x86/keys.h"
#include "engine/x86/operands.h"

/* Under the lock. */
static struct path d;		 /* of the block being translated */
static bool low_headroom, names; /* names: descriptors of restartable sequences */

/* What has been translated and not been shown to other threads yet. */
static struct fresh fresh;

static uint64_t key_of(uint64_t pc)
{
	return low_headroom ? pc | LOW_HEADROOM_KEY : pc;
}

/* Watches the pages of the range.  True: the code must be decoded again. */
static bool watch_range(uint64_t first, uint64_t last)
{
	bool again = watch_page(first);

	if (last / PAGE != first / PAGE)
		again |= watch_page(last);
	return again;
}

/* The same for a path through branches. */
static bool watch_path(void)
{
	bool again = false;

	for (unsigned i = 0; i < d.n; i++)
		again |= watch_range(d.pc[i], d.pc[i] + d.insn[i].length - 1);
	return again;
}

static bool is_outside(uint64_t first, uint64_t last)
{
	return persist_outside(first) || persist_outside(last);
}

/* Returns whether the path leaves the module in which it begins. */
static bool path_spans(bool trace)
{
	bool spans = is_outside(d.pc[0], d.pc[d.n] - 1);

	for (unsigned i = 0; trace && i < d.n; i++)
		spans |= is_outside(d.pc[i], d.pc[i] + d.insn[i].length - 1);
	return spans;
}

/* The descriptors that the block names become known. */
static void look_for_names(void)
{
	names = false;
	for (uint64_t left = d.constants; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		names |= sections_named(&d.insn[i], d.pc[i]);
	}
}

/* The same for a trace. */
static void look_for_names_on_path(void)
{
	names = false;
	for (unsigned i = 0; i < d.n; i++)
		names |= operand_may_be_constant(&d.insn[i]) && sections_named(&d.insn[i], d.pc[i]);
}

static void translate_path(bool trace, const struct copy_how *how)
{
	struct emit e = {cache_at};
	struct block *b;

	b = block_new(d.pc[0]);
	b->trace = trace;
	b->bytes = (uint16_t)(d.pc[d.n] - d.pc[0]);
	b->low_headroom = low_headroom;
	persist_begin(b->pc);
	b->spans = path_spans(trace) || names;
	fresh.block[fresh.n].key = key_of(b->pc);
	fresh.block[fresh.n++].code = (uint64_t)cache_at;
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

/* Publishes the blocks, and returns the code of the first. */
static uint64_t publish(void)
{
	for (unsigned i = 0; i < fresh.n; i++) {
		lookup_add(fresh.block[i].key, fresh.block[i].code);
		if (fresh.block[i].returned_to)
			lookup_set_target(fresh.block[i].key, fresh.block[i].thunk, true);
	}
	fresh.n = 0;
	return fresh.block[0].code;
}

/*
 * Returns where the program certainly continues after the current block, or will return to; 0:
 * nowhere.  Translating that code with the block saves an exit to the engine.  Code after a
 * conditional branch is left out: it may never run, and to translate it costs more than it saves.
 * Code that changes is also left until it runs, such as code that a just-in-time compiler is
 * writing.
 */
static uint64_t goes_on(void)
{
	const struct insn *last = &d.insn[d.n - 1];
	uint64_t pc = d.pc[d.n];

	if (low_headroom || fresh.n + 1 >= RUN_BLOCKS_MAX || path_needs_engine(&d.insn[0]))
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
	if (pc == d.pc[0] || persist_parts(d.pc[0], pc) || !watch_is_constant(pc) ||
	    sections_will_hold(pc) || points_hold(pc) || blocks_full() ||
	    fresh_code(&fresh, key_of(pc)))
		return 0;
	return pc;
}

static bool is_call(const struct insn *insn)
{
	return insn->kind == INSN_CALL_REL || insn->kind == INSN_CALL_IND;
}

/* Prefetches what the next step of the translation will read. */
static void look_ahead(const struct insn *last)
{
	lookup_prefetch(key_of(d.pc[d.n]), is_call(last));
	__builtin_prefetch((const void *)(d.pc[d.n] + 64));
	if (path_is_conditional(last) || last->kind == INSN_CALL_REL ||
	    last->kind == INSN_JMP_REL) {
		lookup_prefetch(key_of(last->target), false);
		__builtin_prefetch((const void *)last->target);
		__builtin_prefetch((const void *)(last->target + 64));
	}
}

/* Translates the block at pc.  Returns where to continue translating; 0: nowhere. */
static uint64_t translate_next(uint64_t pc)
{
	struct copy_how how = {.path = &d, .fresh = &fresh};
	const struct insn *last;
	unsigned known;
	uint64_t next;

	do {
		known = sections_count();
		path_of_block(&d, pc, region_block_end(pc),
			      low_headroom ? LOW_HEADROOM_INSNS_MAX : PLAIN_INSNS_MAX, true);
		describe_shorten(&d);
		look_for_names();
	} while (watch_range(pc, d.pc[d.n] - 1) || known != sections_count());
	last = &d.insn[d.n - 1];
	look_ahead(last);
	next = goes_on();
	how.after = is_call(last) || last->kind == INSN_SYSCALL ? 0 : next;
	if (fresh.block[fresh.n].returned_to)
		fresh.block[fresh.n].thunk = lookup_make_thunk(key_of(pc), true);
	translate_path(false, &how);
	fresh.block[fresh.n].returned_to = is_call(last); /* the next one */
	return next;
}

/* A child that was killed while it translated in this memory has published nothing. */
static void begin(bool is_low_headroom)
{
	low_headroom = is_low_headroom;
	fresh.n = 0;
	fresh.block[0].returned_to = false;
}

static uint64_t translate_run(uint64_t key)
{
	uint64_t pc = key & ~LOW_HEADROOM_KEY, end = region_block_end(pc);
	READING_CODE;

	if (!end || region_is_volatile(pc) || sections_hold(pc) || points_hold(pc))
		return 0;
	blocks_make_room();
	begin(key & LOW_HEADROOM_KEY);
	while (pc)
		pc = translate_next(pc);
	return publish();
}

uint64_t translate_block(uint64_t key)
{
	uint64_t code;

	do {
		code = translate_run(key);
	} while (sections_publish());
	return code;
}

bool translate_recorded(const uint64_t *pcs, unsigned n)
{
	uint64_t plain = lookup_code(pcs[0]), code;
	struct emit e;
	READING_CODE;

	if (current->list->meters > CHARGED_METERS_MAX || !path_of_record(&d, pcs, n) ||
	    watch_path())
		return false;
	look_for_names_on_path();
	begin(false);
	e.at = cache_at;
	emit_line(&e);
	cache_at = e.at;
	translate_path(true, &(struct copy_how){.path = &d, .fresh = &fresh, .aligned = true});
	code = publish();
	if (plain)
		block_replace(plain, code);
	sections_publish();
	return true;
}

void translate_target(uint64_t key, bool of_return)
{
	uint64_t code, thunk, flushes;

	blocks_make_room();
	code = lookup_code(key);
	if (code) {
		lookup_add_target(key, code, of_return);
		return;
	}
	flushes = cache_flushes;
	thunk = lookup_make_thunk(key, of_return);
	if (translate_block(key) && cache_flushes == flushes)
		lookup_set_target(key, thunk, of_return);
}

uint64_t translate_in_place(uint64_t rel32, uint64_t key)
{
	uint64_t flushes = cache_flushes, pc = key & ~LOW_HEADROOM_KEY, code;
	struct block *before = contexts_alone() ? block_before_jump(rel32) : NULL;

	if (!before || persist_parts(before->pc, pc) || !region_code_end(pc) ||
	    region_is_volatile(pc) || sections_hold(pc) || points_hold(pc))
		return 0;
	block_take_jump_off(before);
	code = translate_block(key);
	return cache_flushes == flushes ? code : 0;
}

uint64_t translate_link(uint32_t number, struct exit_stub stub)
{
	uint64_t flushes = cache_flushes, code;

	code = lookup_code(stub.target);
	if (!code && (code = translate_in_place(stub.patch, stub.target))) {
		exit_stub_free(number);
		return code;
	}
	if (!code)
		code = translate_block(stub.target);
	if (!code || cache_flushes != flushes)
		return 0; /* it cannot run, or the cache was emptied, and the stub with it */
	exit_stub_link(number, code);
	exit_stub_free(number);
	return code;
}
