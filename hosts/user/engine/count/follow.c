/* SPDX-License-Identifier: MIT */
/*
 * follow.c: threads that the tool can ask to look at what it has changed (changes.c).
 *
 * The tool changes the shared memory, and has to know when no thread counts by what was there
 * before.  So each thread has an entry there, which says whether it is in a system call and what it
 * has seen.  The tool sends a signal to threads that are not.  All look before they run the next
 * instruction of the program; so who is in a system call, for however long, need not be disturbed.
 */
#include "engine/count/follow.h"

#include <asm/unistd.h>

#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define ASKERS_WAITS 20000 /* of 0.1 ms: then the tool was killed */

static bool is_wanted(void)
{
	return engine_link->want & LINK_WANT_CONTROL;
}

/* A process whose number means something else to the tool is not asked. */
static bool is_in_reach(void)
{
	return !descriptor_table_is_used(current->descriptors);
}

static void fill(struct link_follower *f)
{
	f->pid = current->pid;
	f->seen = f->own_change = current->followed;
	f->own = 0;
	f->word = (uint64_t)&current->self;
	f->value = (uint64_t)current->self;
	f->outside = 0;
	__atomic_store_n(&f->tid, current->tid, __ATOMIC_SEQ_CST);
	current->follower = f;
}

static bool claim(struct link_follower *f)
{
	uint32_t nobody = 0;

	return !__atomic_load_n(&f->tid, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(&f->tid, &nobody, LINK_FOLLOWER_CLAIMED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static bool has_entry(void)
{
	return current->follower && current->follower->tid == current->tid &&
	       current->follower->pid == current->pid;
}

void follow_begin(void)
{
	if (!is_wanted() || !is_in_reach() || has_entry())
		return;
	current->follower = NULL;
	for (unsigned i = 0; i < LINK_FOLLOWERS_MAX; i++)
		if (claim(&engine_link->follower[i])) {
			fill(&engine_link->follower[i]);
			return;
		}
}

void follow_end(void)
{
	long pause[2] = {0, 100000};

	if (!has_entry())
		return;
	__atomic_store_n(&current->follower->outside, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&current->follower->tid, LINK_FOLLOWER_CLAIMED, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < ASKERS_WAITS; i++) {
		if (!__atomic_load_n(&current->follower->askers, __ATOMIC_SEQ_CST))
			break;
		syscall2(__NR_nanosleep, (long)pause, 0);
	}
	__atomic_store_n(&current->follower->tid, 0, __ATOMIC_RELEASE);
	current->follower = NULL;
	syscall1(__NR_getpid, 0); /* what has been sent arrives on the way back */
}

void follow_lend(void)
{
	struct link_follower *f = current->follower;

	if (!f)
		return;
	f->pid = current->pid;
	__atomic_store_n(&f->tid, current->tid, __ATOMIC_SEQ_CST);
}

void follow_take_back(uint32_t child)
{
	if (current->follower && current->follower->tid == child)
		follow_lend();
	else
		follow_begin();
	follow_inside();
}

void follow_outside(void)
{
	if (current->follower)
		__atomic_store_n(&current->follower->outside, 1, __ATOMIC_SEQ_CST);
}

void follow_inside(void)
{
	if (current->follower)
		__atomic_store_n(&current->follower->outside, 0, __ATOMIC_SEQ_CST);
}
