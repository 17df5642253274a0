/* SPDX-License-Identifier: MIT */
/*
 * run.c: the dispatcher.  It runs bulk blocks while every meter has headroom, and precise
 * steps while one has not.  It accounts for what ran when either returns.
 *
 * current->pc is the program address at which execution continues whenever engine code runs.
 * Everything before it has been charged or reported, nothing after it.
 */
#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/flow_log.h"
#include "engine/count/follow.h"
#include "engine/count/points.h"
#include "engine/count/windows.h"
#include "engine/linux/syscalls.h"
#include "engine/memory/regions.h"
#include "engine/rt/context.h"
#include "engine/rt/context_words.h"
#include "engine/rt/lock.h"
#include "engine/rt/run_state.h"
#include "engine/run/run.h"
#include "engine/signal/rseq.h"
#include "engine/signal/signals.h"
#include "engine/translate/lessons.h"
#include "engine/translate/path.h"
#include "engine/translate/pieces.h"
#include "engine/translate/sections.h"
#include "engine/translate/translate.h"
#include "engine/x86/emit.h"
#include "engine/x86/enter.h"
#include "engine/x86/keys.h"

#define SEEN		   16384
#define LOW_HEADROOM_TIMES 2 /* the cost of making it, in moves of headroom */

static uint64_t key_of(uint64_t pc)
{
	return current->run.low_headroom ? pc | LOW_HEADROOM_KEY : pc;
}

/*
 * Returns whether low-headroom code for pc exists or is worth making.  It is not for code that
 * is rarely reached at the end of a period: that runs as it is, with the headroom spread over
 * the shards.
 */
static bool low_headroom_pays(uint64_t pc)
{
	static struct { /* shared by all threads; a lost update does not matter */
		uint32_t pc;
		uint32_t times;
	} seen[SEEN];
	uint32_t i = (uint32_t)pc % SEEN;

	if (lookup_code(pc | LOW_HEADROOM_KEY))
		return true;
	if (seen[i].pc != (uint32_t)pc) {
		seen[i].pc = (uint32_t)pc;
		seen[i].times = 0;
	}
	return ++seen[i].times > LOW_HEADROOM_TIMES;
}

/* Code that is not translated in blocks. */
static bool runs_in_steps(uint64_t pc)
{
	return region_is_volatile(pc) || sections_hold(pc) || points_hold(pc);
}

/* Chooses bulk or low-headroom code for current->pc, and moves headroom to where that code
 * uses it.  Returns false if there is too little for either. */
static bool choose_code(void)
{
	struct dispatch *run = &current->run;

	if (run->trap_flag || runs_in_steps(current->pc))
		return false;
	if (run->low_headroom && !run->low_headroom_for_once && !low_headroom_pays(current->pc))
		run->low_headroom = false;
	run->low_headroom_for_once = false;
	shards_set_mode(run->low_headroom ? COUNTING_LOW_HEADROOM : COUNTING_BULK);
	if (!shards_bulk_possible() || !variant_take())
		return false;
	return !run->low_headroom || lookup_start_low();
}

/* Returns the code to run at current->pc.  0: it cannot be executed, or the cache was emptied
 * before the thread got the lock, and the list may have lost its variant.  After a step the code
 * is mostly known.  A lookup in the table would miss all caches. */
static uint64_t code_here(bool after_step)
{
	uint32_t *known =
		after_step && !current->run.low_headroom ? step_code_after(current->pc) : NULL;
	uint64_t key = key_of(current->pc), code = known && *known ? *known : lookup_code(key);
	uint64_t flushes = cache_flushes;

	if (!code) {
		lessons_note_code(key);
		lock_take();
		code = lookup_code(key);
		if (!code && cache_flushes == flushes)
			code = translate_block(key);
		lock_release();
		known = NULL; /* it may have been dropped */
	}
	if (known)
		*known = (uint32_t)code;
	return code;
}

/* Continues, unless something must be done at this boundary between two instructions. */
static void resume_linked(uint64_t code)
{
	if (!current->pending && !current->stop && !current->signals.unwatches &&
	    !current->run.trap_flag)
		current->run.resume_at = code;
}

static void link_exit(uint32_t number)
{
	const struct exit_stub *stub = exit_stub_at(number);
	uint64_t flushes = cache_flushes, reclaims = exit_stubs_reclaimed, key = stub->target;

	current->pc = pc_of_key(key);
	if (sections_hold(current->pc) || points_hold(current->pc))
		return;
	if (current->run.low_headroom && !low_headroom_pays(current->pc)) {
		current->run.low_headroom = false;
		return;
	}
	current->run.steps_due = plt_cache_soon(current->pc);
	if (current->run.steps_due) {
		lessons_note_wait(number, key);
		return;
	}
	lessons_note_jump(number, key);
	lock_take();
	/* Meanwhile the stub may be gone or linked. */
	if (cache_flushes == flushes && exit_stubs_reclaimed == reclaims && !stub->linked)
		resume_linked(translate_link(number, *stub));
	lock_release();
}

static void indirect_exit(bool of_return)
{
	uint64_t flushes = cache_flushes;

	if (current->run.low_headroom && !low_headroom_pays(current->pc)) {
		current->run.low_headroom = false;
		return;
	}
	lessons_note_target(key_of(current->pc), of_return);
	lock_take();
	if (cache_flushes == flushes)
		translate_target(key_of(current->pc), of_return);
	lock_release();
}

/* The same from the block's charge on, noted in the block itself.  Most code is there once, and
 * a lookup in the table would miss all caches. */
static bool low_pays(struct block *b, uint64_t pc)
{
	uint8_t misses = __atomic_load_n(&b->low_misses, __ATOMIC_RELAXED);
	uint64_t code;

	if (__atomic_load_n(&b->low_code, __ATOMIC_RELAXED))
		return true;
	code = misses % LOW_HEADROOM_TIMES ? 0 : lookup_code(pc | LOW_HEADROOM_KEY);
	if (code)
		b->low_code = (uint32_t)code;
	else if (misses < LOW_HEADROOM_TIMES)
		b->low_misses = misses + 1;
	return code || misses == LOW_HEADROOM_TIMES;
}

/* Leaves the block at the place where it charges its meters. */
static void leave_at_check(const struct block *b)
{
	side_table_leave_at_check(b);
	current->pc = b->pc + b->check_bytes;
}

/*
 * Handles a block for which a meter had no headroom.  Its charges up to that one are taken
 * back.  While much is left, it is shared out again.  Then execution continues with low-headroom
 * code, where that pays, or with what is left in the shards.  If there is not enough for the
 * block, it continues with precise steps, or with low-headroom code if those would be many.
 */
static void headroom_exit(struct block *b, unsigned index)
{
	struct dispatch *run = &current->run;
	struct block_charge charge = side_table_take_back(b, index);
	uint64_t pc = b->pc + b->check_bytes;
	bool pays = false;

	if (!b->low_headroom) {
		emit_move_check(charge.check);
		if (shards_window_over()) {
			leave_at_check(b);
			sample_turn();
			return;
		}
		run->steps_due = !shards_low() && shards_quantum_over() ? hot_sample(b) : 0;
		if (run->steps_due) {
			leave_at_check(b);
			return;
		}
		pays = shards_low() && low_pays(b, pc);
		if (!pays && shards_rebalance(charge.meter, shard_of(block_number(b)), charge.n)) {
			run->resume_at = side_table_check_code(b);
			return;
		}
		leave_at_check(b);
	}
	current->pc = pc;
	if (pays || (!b->low_headroom && !shards_is_unchecked(charge.meter) &&
		     b->insns - b->check_at > LOW_HEADROOM_INSNS_MAX && !shards_few(charge.meter) &&
		     !current->list->clocks))
		run->low_headroom = run->low_headroom_for_once = true;
	else
		run->steps_due = 1;
	if (!pays || !b->low_code)
		return;
	if (!lookup_start_low())
		return;
	shards_set_mode(COUNTING_LOW_HEADROOM);
	if (!shards_bulk_possible())
		return;
	run->low_headroom_for_once = false;
	run->resume_at = b->low_code;
}

static void run_bulk(bool after_step)
{
	struct dispatch *run = &current->run;
	uint64_t flushes = cache_flushes;
	uint64_t code = run->resume_at ? run->resume_at : code_here(after_step);
	struct block *b;
	uint32_t site;

	run->resume_at = 0;
	if (!code && runs_in_steps(current->pc)) { /* as has become known meanwhile */
		run->steps_due = 1;
		return;
	}
	if (!code) {
		if (cache_flushes == flushes)
			run_bad_jump();
		return;
	}
	current->resume = code;
	enter();
	site = current->site;
	b = block_at(site & 0xffffff);
	switch (current->reason) {
	case EXIT_LINK:
		link_exit(site);
		break;
	case EXIT_INDIRECT:
	case EXIT_RETURN:
		indirect_exit(current->reason == EXIT_RETURN);
		break;
	case EXIT_HEADROOM:
		headroom_exit(b, site >> 24);
		break;
	case EXIT_HEADROOM_EDGE:
		current->pc = exit_stub_at(site)->target;
		run->steps_due = 1;
		break;
	case EXIT_SYSCALL:
		current->pc = side_table_pc_of(b, b->insns);
		syscall_registers();
		if (!syscall_run())
			for (unsigned m = 0; m < current->list->meters; m++)
				current->shard[m][0] += side_table_syscall_occurrences(m);
		break;
	case EXIT_LOG_FULL: /* the store is repeated, at RAX */
		current->gpr[0] = current->log =
			current->list->flow ? flow_log_make_room() : branches_make_room();
		run->resume_at = run->log_store;
		break;
	case EXIT_STEP_ME:
		current->pc = b->pc;
		run->steps_due = 1;
		break;
	default: /* EXIT_STEP_JUMP: signals.c or faults.c left the block at current->pc */
		break;
	}
	if (current->sequence)
		rseq_after_bulk();
}

/* The thread is between two instructions of the program. */
static void at_boundary(void)
{
	signals_check();
	if (!changes_are_due())
		return;
	hot_end();
	changes_follow();
}

void run_program(void)
{
	struct dispatch *run = &current->run;
	bool after_step = false;

	for (;;) {
		if (!run->resume_at) /* otherwise it is in the middle of a block */
			at_boundary();
		if (run->resume_at || (!run->steps_due && choose_code())) {
			run_bulk(after_step);
			after_step = false;
			continue;
		}
		shards_set_mode(COUNTING_PRECISE);
		do {
			run_step();
			run->unwatched = false;
			if (run->steps_due)
				run->steps_due--;
			at_boundary();
		} while (run->steps_due || run->trap_flag || !shards_bulk_possible() ||
			 runs_in_steps(current->pc) || pieces_inside());
		after_step = true;
		pieces_leave();
		hot_end();
		flow_complete();
		shards_set_mode(COUNTING_BULK);
		run->low_headroom = run->low_headroom_for_once =
			shards_low() && low_headroom_pays(current->pc);
	}
}
