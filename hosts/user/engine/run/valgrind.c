/* SPDX-License-Identifier: MIT */
/*
 * valgrind.c: client requests of valgrind, of its tools callgrind and cachegrind (valgrind.h of its
 * headers).
 *
 * A request is an XCHG after four rotations, which count as any instructions.  RAX has the address
 * of six words: its number and its arguments.  The answer is in RDX, where the program has put the
 * answer of a processor.  Requests that are not known have that answer.
 *
 * Requests to zero or dump counts are done if the tool asks for costs (count/costs.c).  Otherwise
 * they are counted, so that the tool can say that they were not done.
 * Start and stop act on the running thread and on those that it starts, not on all.
 */
#include "engine/run/valgrind.h"

#include "engine/count/activity.h"
#include "engine/count/client.h"
#include "engine/count/costs.h"
#include "engine/count/follow.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define WORDS 6
#define RDX   2

/* Their numbers begin with the letters of the tool. */
#define OF_TOOL(a, b) ((uint64_t)(a) << 24 | (uint64_t)(b) << 16)
#define CALLGRIND     OF_TOOL('C', 'T')
#define CACHEGRIND    OF_TOOL('C', 'G')

enum {
	RUNNING_ON_VALGRIND = 0x1001,
	DUMP_STATS = CALLGRIND,
	ZERO_STATS = CALLGRIND + 1,
	TOGGLE_COLLECT = CALLGRIND + 2,
	DUMP_STATS_AT = CALLGRIND + 3,
	CALLGRIND_START = CALLGRIND + 4,
	CALLGRIND_STOP = CALLGRIND + 5,
	CACHEGRIND_START = CACHEGRIND,
	CACHEGRIND_STOP = CACHEGRIND + 1,
};

static void switch_events(bool before)
{
	bool now = client_counts();

	if (now != before || costs_wanted()) /* a model sees what runs, even if it does not count */
		changes_switch(now ? UINT64_MAX : 0);
}

void valgrind_request(void)
{
	uint64_t words[WORDS];
	bool before = client_counts();

	if (!access_readable(current->gpr[0], sizeof(words)))
		return;
	memcpy(words, (const void *)current->gpr[0], sizeof(words));
	switch (words[0]) {
	case RUNNING_ON_VALGRIND:
		current->gpr[RDX] = 1;
		return;
	case TOGGLE_COLLECT:
		current->collects = !current->collects;
		break;
	case CALLGRIND_START:
		if (current->stopped)
			costs_clear_caches(); /* as callgrind does */
		current->stopped = false;
		break;
	case CACHEGRIND_START:
		current->stopped = false;
		break;
	case CALLGRIND_STOP:
	case CACHEGRIND_STOP:
		current->stopped = true;
		break;
	case DUMP_STATS:
	case ZERO_STATS:
	case DUMP_STATS_AT:
		if (costs_wanted()) {
			activity_take();
			activity_reach(current->pc);
			costs_dump(words[0] == ZERO_STATS);
			break;
		}
		__atomic_add_fetch(&engine_link->refused, 1, __ATOMIC_RELAXED);
		return;
	default:
		return;
	}
	current->gpr[RDX] = 0;
	switch_events(before);
}
