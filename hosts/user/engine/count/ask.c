/* SPDX-License-Identifier: MIT */
/*
 * ask.c: a task asks others to look at what it has changed in the memory of the run.
 *
 * It numbers the change, as the tool numbers its own (changes.c), and sends a signal to those that
 * run the program.  Meanwhile it counts as outside, because they may ask it at the same time.
 */
#include "engine/count/ask.h"

#include <asm/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/time.h>

#include "engine/count/follow.h"
#include "engine/count/opened_table.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/reach.h"
#include "engine/rt/sys.h"

#define ASK_AGAIN_NS 2000000
#define ASKS	     1000 /* then the task is stopped, or traced */

int ask_find(uint32_t tid)
{
	uint32_t used = __atomic_load_n(&engine_link->followers, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < used; i++)
		if (__atomic_load_n(&engine_link->follower[i].tid, __ATOMIC_SEQ_CST) == tid)
			return (int)i;
	return -1;
}

/* Returns false if the number is another process's by now, or nothing can be known of it. */
static bool is_of_run(const struct link_follower *f)
{
	uint64_t word = 0;

	return reach_read(f->pid, f->word, &word, sizeof(word)) == sizeof(word) && word == f->value;
}

/* Returns false if the task cannot be asked, or need not be. */
static bool ask(struct link_follower *f, uint32_t tid)
{
	siginfo_t info = {0};
	bool asked = false;

	info.si_signo = SIGTRAP;
	info.si_code = SI_QUEUE;
	info.si_ptr = (void *)LINK_ASK;
	__atomic_add_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&f->outside, __ATOMIC_SEQ_CST) &&
	    __atomic_load_n(&f->tid, __ATOMIC_SEQ_CST) == tid && is_of_run(f))
		asked = !syscall4(__NR_rt_tgsigqueueinfo, f->pid, tid, SIGTRAP, (long)&info);
	__atomic_sub_fetch(&f->askers, 1, __ATOMIC_SEQ_CST);
	return asked;
}

static bool has_seen(const struct link_follower *f, uint32_t change, uint32_t *seen)
{
	*seen = __atomic_load_n(&f->seen, __ATOMIC_SEQ_CST);
	return (int32_t)(*seen - change) >= 0;
}

static void wait_for(struct link_follower *f, uint32_t change)
{
	uint32_t tid = __atomic_load_n(&f->tid, __ATOMIC_SEQ_CST), seen;
	long pause[2] = {0, ASK_AGAIN_NS};

	if (!tid || tid == LINK_FOLLOWER_CLAIMED || f == current->follower)
		return;
	for (unsigned i = 0; i < ASKS && !has_seen(f, change, &seen) && ask(f, tid); i++)
		syscall4(__NR_futex, (long)&f->seen, FUTEX_WAIT, seen, (long)pause);
}

static uint32_t change(void)
{
	return __atomic_add_fetch(&engine_link->changes, 1, __ATOMIC_SEQ_CST);
}

/* What the tasks have in their lists now. */
static bool counts(unsigned place, uint64_t serial)
{
	bool does;

	opened_lock();
	does = opened_entry(&engine_link->opened[place], serial) >= 0;
	opened_unlock();
	return does;
}

static void go_outside(void)
{
	follow_outside();
	lock_outside();
}

static void go_inside(void)
{
	lock_inside();
	follow_inside();
}

void ask_counting(uint64_t serial)
{
	uint32_t number = change(),
		 used = __atomic_load_n(&engine_link->followers, __ATOMIC_ACQUIRE);

	go_outside();
	for (uint32_t i = 0; i < used; i++)
		if (counts(i, serial))
			wait_for(&engine_link->follower[i], number);
	go_inside();
}

void ask_one(unsigned place)
{
	uint32_t number = change();

	go_outside();
	wait_for(&engine_link->follower[place], number);
	go_inside();
}
