/* SPDX-License-Identifier: MIT */
/*
 * follow.h: events that the tool switches on and off while the program runs (follow.c, changes.c).
 */
#ifndef SOFTPMU_ENGINE_FOLLOW_H
#define SOFTPMU_ENGINE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

/* The running thread has units: from now on the tool can ask it to look. */
void follow_begin(void);
/* It ends: it is asked no more. */
void follow_end(void);
/* Its process executes another program.  Returns the place of the thread's entry, which the next
 * image continues to use; -1: it has none. */
int follow_place(void);
void follow_execute(void);
void follow_continue(int place);
/* A vfork child runs in the context now, with its own number; the thread itself again,
 * after a child that had the number `child`. */
void follow_lend(void);
void follow_take_back(uint32_t child);
/* The same for a child that has an entry of its own, because events can be opened on it: the
 * parent's entry is put aside, and comes back.  A child that was killed leaves its entry. */
struct link_follower *follow_put_aside(void);
void follow_return(struct link_follower *own, bool killed);

/* A system call of the program, which may wait, is between these two. */
void follow_outside(void);
void follow_inside(void);

/* changes.c */
/* Returns true if the tool has changed which events count. */
bool changes_are_due(void);
/* Precise mode: switches the thread to these events. */
void changes_switch(uint64_t on);
/* At a boundary between two instructions: does what the tool wants. */
void changes_follow(void);

#endif
