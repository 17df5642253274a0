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
#include "engine/count/opened.h"
#include "engine/count/opened_table.h"
#include "engine/count/opened_wake.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define ASKERS_WAITS 20000 /* of 0.1 ms: then the tool was killed */

static bool is_wanted(void)
{
	return engine_link->want & (LINK_WANT_CONTROL | LINK_WANT_OPEN);
}

/* A process whose number means something else to the tool is not asked. */
static bool is_in_reach(void)
{
	return !descriptor_table_is_used(current->descriptors);
}

static struct link_opened *list_of(const struct link_follower *f)
{
	return &engine_link->opened[f - engine_link->follower];
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

/* Counts the entry among those that have been in use. */
static void note(uint32_t place)
{
	uint32_t used = __atomic_load_n(&engine_link->followers, __ATOMIC_RELAXED);

	while (used <= place &&
	       !__atomic_compare_exchange_n(&engine_link->followers, &used, place + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static bool has_entry(void)
{
	return current->follower && current->follower->tid == current->tid &&
	       current->follower->pid == current->pid;
}

void follow_begin(void)
{
	if (!is_wanted() || !is_in_reach())
		return;
	if (has_entry()) {
		follow_inside();
		return;
	}
	current->follower = NULL;
	for (unsigned i = 0; i < LINK_FOLLOWERS_MAX; i++)
		if (claim(&engine_link->follower[i])) {
			note(i);
			/* From here on, who opens an event for all tasks sees this one.  What was
			 * opened before is in the table. */
			fill(&engine_link->follower[i]);
			opened_enlist(&engine_link->opened[i]);
			return;
		}
}

void follow_end(void)
{
	long pause[2] = {0, 100000};
	uint32_t tid = current->tid;

	if (!has_entry())
		return;
	opened_end();
	__atomic_store_n(&current->follower->outside, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&current->follower->tid, LINK_FOLLOWER_CLAIMED, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < ASKERS_WAITS; i++) {
		if (!__atomic_load_n(&current->follower->askers, __ATOMIC_SEQ_CST))
			break;
		syscall2(__NR_nanosleep, (long)pause, 0);
	}
	if (opened_wanted()) {
		opened_lock();
		opened_clear(list_of(current->follower));
		opened_unlock();
	}
	__atomic_store_n(&current->follower->tid, 0, __ATOMIC_RELEASE);
	current->follower = NULL;
	if (opened_wanted())
		opened_wake_ended(tid);
	syscall1(__NR_getpid, 0); /* what has been sent arrives on the way back */
}

int follow_place(void)
{
	return opened_wanted() && has_entry() ? (int)(current->follower - engine_link->follower)
					      : -1;
}

void follow_execute(void)
{
	if (follow_place() < 0)
		follow_end();
	else
		follow_outside();
}

void follow_continue(int place)
{
	if (place < 0)
		return;
	fill(&engine_link->follower[place]);
}

struct link_follower *follow_put_aside(void)
{
	struct link_follower *own = current->follower;

	follow_outside();
	current->follower = NULL;
	return own;
}

void follow_return(struct link_follower *own, bool killed)
{
	struct link_follower *childs = current->follower;

	current->follower = own;
	if (killed && childs) {
		opened_lock();
		opened_clear(list_of(childs));
		opened_unlock();
		__atomic_store_n(&childs->tid, 0, __ATOMIC_RELEASE);
	}
	follow_inside();
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
	counting_publish_interval();
	opened_publish();
	if (current->follower)
		__atomic_store_n(&current->follower->outside, 1, __ATOMIC_SEQ_CST);
}

void follow_inside(void)
{
	if (current->follower)
		__atomic_store_n(&current->follower->outside, 0, __ATOMIC_SEQ_CST);
}
