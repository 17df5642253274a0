/* SPDX-License-Identifier: MIT */
/*
 * opened_table.c: the table of events that programs have opened.
 *
 * A task that is killed while it has its turn has at most changed a few words.  Another task that
 * waits for long sees that it is dead, and takes its turn over.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "engine/count/opened_table.h"
#include "engine/count/opened_wake.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define LOOKS 1000 /* turns of others between two looks whether the owner lives */

static bool take(uint32_t *word, uint32_t from) /* NOLINT: it writes there */
{
	return __atomic_compare_exchange_n(word, &from, current->tid, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void opened_take_turn(uint32_t *word)
{
	for (unsigned looks = 1; !take(word, 0); looks++) {
		uint32_t owner = __atomic_load_n(word, __ATOMIC_RELAXED);

		if (owner && !(looks % LOOKS) && syscall2(__NR_kill, owner, 0) == -ESRCH &&
		    take(word, owner))
			return;
		syscall1(__NR_sched_yield, 0);
	}
}

void opened_end_turn(uint32_t *word) /* NOLINT: it writes there */
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

void opened_lock(void)
{
	opened_take_turn(&engine_link->open_lock);
}

void opened_unlock(void)
{
	opened_end_turn(&engine_link->open_lock);
}

int opened_free_place(void)
{
	for (unsigned i = 0; i < LINK_OPEN_MAX; i++)
		if (!engine_link->open[i].serial) {
			if (i >= engine_link->open_used)
				__atomic_store_n(&engine_link->open_used, i + 1, __ATOMIC_RELEASE);
			return (int)i;
		}
	return -1;
}

bool opened_claim_threshold(uint32_t clocks)
{
	if (!clocks)
		return true;
	for (uint32_t i = 0; i < engine_link->open_used; i++) {
		const struct link_open *event = &engine_link->open[i];

		if (event->serial && event->request.load_threshold &&
		    event->request.load_threshold != clocks)
			return false;
	}
	engine_link->load_threshold = clocks;
	return true;
}

int opened_find(uint64_t device, uint64_t inode)
{
	uint32_t used = __atomic_load_n(&engine_link->open_used, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < used; i++)
		if (engine_link->open[i].inode == inode && engine_link->open[i].device == device &&
		    engine_link->open[i].serial)
			return (int)i;
	return -1;
}

int opened_entry(const struct link_opened *list, uint64_t serial)
{
	for (uint32_t e = 0; e < list->count; e++)
		if (list->event[e].serial == serial)
			return (int)e;
	return -1;
}

bool opened_add(struct link_opened *list, unsigned place, uint32_t flags)
{
	struct link_open *event = &engine_link->open[place];

	if (list->count == LINK_OPENED_MAX)
		return false;
	list->event[list->count].serial = event->serial;
	list->event[list->count].place = (uint16_t)place;
	list->event[list->count].flags = (uint16_t)flags;
	list->event[list->count].switches = event->switches;
	list->count++;
	event->tasks++;
	return true;
}

void opened_remove(struct link_opened *list, unsigned entry)
{
	struct link_open *event = &engine_link->open[list->event[entry].place];

	if (event->serial == list->event[entry].serial)
		event->tasks--;
	list->count--;
	for (unsigned e = entry; e < list->count; e++)
		list->event[e] = list->event[e + 1];
}

void opened_clear(struct link_opened *list)
{
	while (list->count)
		opened_remove(list, list->count - 1);
}

void opened_switch(unsigned place, bool on)
{
	struct link_open *event = &engine_link->open[place];

	event->switches++;
	event->switched = on;
	for (uint32_t i = 0; i < engine_link->followers; i++) {
		struct link_opened *list = &engine_link->opened[i];
		int e = opened_entry(list, event->serial);

		if (e < 0)
			continue;
		list->event[e].switches = event->switches;
		list->event[e].flags = (uint16_t)((list->event[e].flags & ~LINK_OPEN_ON) |
						  (on ? LINK_OPEN_ON : 0));
	}
}

void opened_set_ring(unsigned place, uint32_t ring)
{
	struct link_open *event = &engine_link->open[place];

	if (event->ring)
		engine_link->open_ring[event->ring - 1].users--;
	if (ring)
		engine_link->open_ring[ring - 1].users++;
	event->ring = ring;
}

static void remove_name(const struct link_open *event)
{
	char name[LINK_PATH_MAX + 32];

	if (!event->named)
		return;
	opened_wake_name(event->named, name, sizeof(name));
	syscall3(__NR_unlinkat, AT_FDCWD, (long)name, 0);
}

void opened_forget(unsigned place)
{
	struct link_open *event = &engine_link->open[place];

	for (uint32_t i = 0; i < engine_link->followers; i++) {
		int e = opened_entry(&engine_link->opened[i], event->serial);

		if (e >= 0)
			opened_remove(&engine_link->opened[i], (unsigned)e);
	}
	for (unsigned i = 0; i < engine_link->open_used; i++)
		if (engine_link->open[i].leader == place)
			engine_link->open[i].leader = i;
	opened_set_ring(place, 0);
	remove_name(event);
	__atomic_store_n(&event->serial, 0, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&engine_link->open_events, 1, __ATOMIC_RELEASE);
}
