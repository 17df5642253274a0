/* SPDX-License-Identifier: MIT */
/* lending.h: whose events count while a vfork child runs in its parent's context (lending.c). */
#ifndef SOFTPMU_ENGINE_LENDING_H
#define SOFTPMU_ENGINE_LENDING_H

#include <stdbool.h>
#include <stdint.h>

struct opened;
struct link_follower;

/* What the parent has put aside. */
struct lending {
	struct opened *opened;
	struct link_follower *follower;
};

/* In the parent, before the child begins, and after it has gone.  `child` is its number. */
void lending_begin(struct lending *parents);
void lending_end(const struct lending *parents, uint32_t child, bool killed);

/* In the child, which has its own number: first, and when it is about to run. */
void lending_child(void);
void lending_child_follows(void);

#endif
