/* SPDX-License-Identifier: MIT */
/*
 * opened_table.h: the opened events of the run and the lists of the tasks that count them
 * (opened_table.c). Both are in the memory of the run (hosts/user/link_open.h).
 */
#ifndef SOFTPMU_ENGINE_OPENED_TABLE_H
#define SOFTPMU_ENGINE_OPENED_TABLE_H

#include <hosts/user/link.h>
#include <stdbool.h>

/* Tasks take turns at changing the events and the lists.  A turn contains no wait. */
void opened_lock(void);
void opened_unlock(void);

/* The same for another word that tasks take turns at: 0, or the number of the task. */
void opened_take_turn(uint32_t *word);
void opened_end_turn(uint32_t *word);

/* Returns a free place; -1: there is none.  The lock is held. */
int opened_free_place(void);
/* Sets the threshold of load latency, which the units of all tasks share.  Returns false if an open
 * event has another one.  0: the event needs none. */
bool opened_claim_threshold(uint32_t clocks);
/* Returns the place of the event whose descriptor has this inode; -1: it is no event's. */
int opened_find(uint64_t device, uint64_t inode);

/* Adds the event to a list, and removes it.  The lock is held.  False: the list is full. */
bool opened_add(struct link_opened *list, unsigned place, uint32_t flags);
void opened_remove(struct link_opened *list, unsigned entry);
/* Returns the event's entry in the list; -1: it has none.  The lock is held. */
int opened_entry(const struct link_opened *list, uint64_t serial);
/* Empties a list: its task ends.  The lock is held. */
void opened_clear(struct link_opened *list);

/* Switches the event on or off in all tasks.  The lock is held. */
void opened_switch(unsigned place, bool on);
/* Sends the event's records to the ring, 1 + its place; 0: to none.  The lock is held. */
void opened_set_ring(unsigned place, uint32_t ring);
/* Forgets the event.  Its siblings become leaders.  The lock is held. */
void opened_forget(unsigned place);

#endif
