/* SPDX-License-Identifier: MIT */
/*
 * functions.c: functions whose calls are regions (--region), or in which alone the events count
 * (--toggle).
 *
 * A call begins before the first instruction of the function.  It ends at the return address that
 * is on the stack then, with a stack pointer above it.  So it contains what it calls, and functions
 * to which it jumps.  The return address becomes a point, too, and code that was translated there
 * is forgotten.  A function can be left in another way, by an exception or longjmp().  Then it ends
 * at the next point that the thread reaches with a stack pointer above its frame.
 */
#include "engine/run/functions.h"

#include "engine/cache/cache.h"
#include "engine/count/client.h"
#include "engine/count/follow.h"
#include "engine/count/points.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"

#define ALL_EVENTS UINT64_MAX

/* The call returns there. */
static void watch_return(uint64_t pc)
{
	lock_take();
	if (!points_hold(pc)) {
		lock_stop_others();
		points_add(pc, POINT_NO_REGION);
		blocks_forget_pages(pc, 1);
		lock_resume_others();
	}
	lock_release();
}

static void enter_function(uint32_t region)
{
	uint64_t slot = current->gpr[4];

	if (!access_readable(slot, sizeof(uint64_t)))
		return;
	if (client_enter(region, slot))
		watch_return(*(const uint64_t *)slot);
}

void functions_at_point(void)
{
	const struct point *p = points_find(current->pc);
	bool on = client_counts(), now;

	client_leave(current->gpr[4]);
	if (p->region != POINT_NO_REGION)
		enter_function(p->region);
	now = client_counts();
	if (now != on)
		changes_switch(now ? ALL_EVENTS : 0);
}
