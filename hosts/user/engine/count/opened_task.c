/* SPDX-License-Identifier: MIT */
/* opened_task.c: the opened events of the running task, one by one. */
#include "engine/count/opened_task.h"

#include <linux/time.h>

#include "engine/count/event_set.h"
#include "engine/count/opened_software.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

bool opened_wanted(void)
{
	return engine_link->want & LINK_WANT_OPEN;
}

bool opened_any(void)
{
	return current->opened && current->opened->count;
}

struct opened_event *opened_task_find(uint64_t serial)
{
	for (unsigned i = 0; i < current->opened->count; i++)
		if (current->opened->event[i].serial == serial)
			return &current->opened->event[i];
	return NULL;
}

static bool is_leader_on(const struct opened_event *e)
{
	const struct link_open *leader = &engine_link->open[opened_task_event(e)->leader];
	const struct opened_event *own = opened_task_find(leader->serial);

	return !own || own->flags & LINK_OPEN_ON;
}

bool opened_task_wants(const struct opened_event *e)
{
	return !e->gone && is_leader_on(e) && e->flags & LINK_OPEN_ON;
}

uint64_t opened_task_count(const struct opened_event *e, uint64_t now)
{
	uint32_t software = opened_task_event(e)->request.software;

	if (software)
		return opened_software(software - 1, now);
	return e->added ? event_set_read(&current->counting->set, e->number) : 0;
}

uint64_t opened_task_time(void)
{
	return sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t opened_task_stream(const struct opened_event *e)
{
	return e->flags & LINK_OPEN_CHILD ? e->serial | (uint64_t)current->tid << 32 : e->serial;
}
