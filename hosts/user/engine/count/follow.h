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
/* It ends, or its process executes another program: it is asked no more. */
void follow_end(void);
/* A child that borrows the context runs in it now, with its own number; the thread itself again,
 * after a child that had the number `child`. */
void follow_lend(void);
void follow_take_back(uint32_t child);

/* A system call of the program, which may wait, is between these two. */
void follow_outside(void);
void follow_inside(void);

/* changes.c */
/* Returns true if the tool has changed which events count. */
bool changes_are_due(void);
/* At a boundary between two instructions: does what the tool wants. */
void changes_follow(void);

#endif
