/* SPDX-License-Identifier: MIT */
/*
 * dispositions.c: the dispositions of signals of the processes, which the contexts of their
 * threads share.  The lock is held.
 */
#include "engine/rt/dispositions.h"
#include "engine/rt/signal_state.h"
#include "engine/rt/sys.h"

static struct dispositions *unused;

struct dispositions *dispositions_copy(const struct dispositions *of)
{
	struct dispositions *copy = unused;

	if (copy)
		unused = copy->next;
	else
		copy = heap_allocate(sizeof(*copy));
	*copy = *of;
	copy->users = 1;
	copy->fault_waiters = 0;
	return copy;
}

struct dispositions *dispositions_share(struct dispositions *of)
{
	of->users++;
	return of;
}

void dispositions_leave(struct dispositions *of)
{
	if (--of->users)
		return;
	of->next = unused;
	unused = of;
}
