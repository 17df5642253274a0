/* SPDX-License-Identifier: MIT */
/*
 * lending.c: a vfork child counts with its parent's units.
 *
 * What the tool counts is the sum of both.  An event that a program has opened on the parent is not
 * the child's, unless the child inherits it.  So the child has an entry and a list of its own.
 */
#include "engine/count/lending.h"

#include "engine/count/count.h"
#include "engine/count/follow.h"
#include "engine/count/opened.h"

void lending_begin(struct lending *parents)
{
	if (!opened_wanted())
		return;
	parents->opened = opened_lend();
	parents->follower = follow_put_aside();
}

void lending_end(const struct lending *parents, uint32_t child, bool killed)
{
	if (!opened_wanted()) {
		follow_take_back(child);
		return;
	}
	opened_take_back(parents->opened, killed);
	follow_return(parents->follower, killed);
}

void lending_child(void)
{
	if (!opened_wanted())
		follow_lend();
}

void lending_child_follows(void)
{
	if (opened_wanted())
		units_follow();
}
