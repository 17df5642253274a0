/* SPDX-License-Identifier: MIT */
/*
 * opened.c: counts events that programs have opened.
 *
 * Each is an event of the task's event set, which gets as many units as it needs.  So nothing is
 * multiplexed: an event that is enabled runs, unless all units are used up.  A task adds what it
 * has counted since the last time to the event in the memory of the run: when it reads it, when
 * another task asks, before a system call that may wait, and when it ends.
 *
 * An event's times are those in which its task runs: its own processor time.
 */
#include "engine/count/opened.h"

#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/event_set.h"
#include "engine/count/opened_page.h"
#include "engine/count/opened_records.h"
#include "engine/count/opened_samples.h"
#include "engine/count/opened_table.h"
#include "engine/count/opened_task.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* --- lists --- */

void opened_begin(struct context *c)
{
	if (!opened_wanted())
		return;
	if (!c->opened)
		c->opened = heap_allocate(sizeof(*c->opened));
	c->opened->count = 0;
}

static bool is_inherited(uint32_t flags, bool is_thread)
{
	return flags & LINK_OPEN_INHERIT && (is_thread || !(flags & LINK_OPEN_INHERIT_THREAD));
}

static void keep_inherited(struct opened *to, const struct opened *from, bool is_thread)
{
	unsigned n = 0;

	for (unsigned i = 0; i < from->count; i++) {
		const struct opened_event *e = &from->event[i];

		if (!is_inherited(e->flags, is_thread))
			continue;
		to->event[n++] = (struct opened_event){
			.serial = e->serial,
			.place = e->place,
			.flags = e->flags | LINK_OPEN_CHILD,
			.switches = e->switches,
		};
	}
	to->count = n;
}

void opened_inherit(struct context *c, bool is_thread)
{
	opened_begin(c);
	if (c->opened)
		keep_inherited(c->opened, current->opened, is_thread);
}

void opened_begin_process(void)
{
	if (current->opened)
		keep_inherited(current->opened, current->opened, false);
}

/* Adds events of the whole run that were opened a moment ago. */
static void enlist_all(struct link_opened *list)
{
	for (uint32_t i = 0; i < engine_link->open_used; i++) {
		const struct link_open *event = &engine_link->open[i];

		if (event->serial && event->target == LINK_OPEN_ALL &&
		    event->cpu == engine_link->open_cpu && opened_entry(list, event->serial) < 0)
			opened_add(list, i,
				   event->flags | LINK_OPEN_CHILD |
					   (event->switched ? LINK_OPEN_ON : 0));
	}
}

/* Between the start of the task and this, an event may have been switched or closed. */
void opened_enlist(struct link_opened *list)
{
	if (!opened_wanted() || !__atomic_load_n(&engine_link->open_events, __ATOMIC_ACQUIRE))
		return;
	opened_lock();
	for (unsigned i = 0; i < current->opened->count; i++) {
		const struct opened_event *e = &current->opened->event[i];
		const struct link_open *event = &engine_link->open[e->place];
		uint32_t flags = e->flags;

		if (event->serial != e->serial)
			continue;
		if (event->switches != e->switches)
			flags = (flags & ~LINK_OPEN_ON) | (event->switched ? LINK_OPEN_ON : 0);
		opened_add(list, e->place, flags);
	}
	enlist_all(list);
	opened_unlock();
}

/* --- counting --- */

void opened_begin_units(void)
{
	if (!opened_any())
		return;
	for (unsigned i = 0; i < current->opened->count; i++) {
		current->opened->event[i].added = false;
		current->opened->event[i].published = 0;
		current->opened->event[i].times = (struct perf_times){0};
	}
}

static uint32_t software_of(const struct opened_event *e)
{
	return opened_task_event(e)->request.software;
}

/* Adds what the task has counted of one event.  The lock is held, the mode precise.  What happens
 * while a software event is off is not counted. */
static void publish(struct opened_event *e, uint64_t now)
{
	struct link_open *event = &engine_link->open[e->place];
	uint64_t count = opened_task_count(e, now), new = count - e->published;

	if (software_of(e) && e->times.state == PERF_STATE_OFF)
		new = 0;

	perf_state_advance(&e->times, now);
	e->published = count;
	if (event->serial == e->serial) {
		if (event->resets != e->resets)
			e->contributed = 0;
		e->resets = event->resets;
		e->contributed += new;
		event->count += new;
		event->enabled_ns += e->times.enabled_ns;
		event->running_ns += e->times.running_ns;
	}
	e->times.enabled_ns = e->times.running_ns = 0;
}

static void publish_all(uint64_t now)
{
	opened_lock();
	for (unsigned i = 0; i < current->opened->count; i++)
		publish(&current->opened->event[i], now);
	opened_unlock();
}

/* Returns whether anything has been counted, or time has passed, since the last time. */
static bool is_live(void)
{
	for (unsigned i = 0; i < current->opened->count; i++)
		if (current->opened->event[i].times.state != PERF_STATE_OFF)
			return true;
	return false;
}

void opened_publish(void)
{
	enum counting_mode before;

	if (!opened_any() || !current->counts || !is_live())
		return;
	before = current->counting->mode;
	shards_set_mode(COUNTING_PRECISE);
	publish_all(opened_task_time());
	shards_set_mode(before);
}

void opened_end(void)
{
	if (!opened_any())
		return;
	opened_publish();
	opened_records_end();
	opened_lock();
	for (unsigned i = 0; i < current->opened->count; i++) {
		struct opened_event *e = &current->opened->event[i];
		struct link_open *event = &engine_link->open[e->place];

		if (event->serial != e->serial)
			continue;
		if (e->flags & LINK_OPEN_CHILD && event->resets == e->resets) {
			event->count -= e->contributed;
			event->ended += e->contributed;
		}
		e->contributed = 0;
	}
	opened_unlock();
}

/* Of the task's units and its model, in core clocks.  A unit that is made later begins with it. */
static void set_load_threshold(uint32_t clocks)
{
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->set.units; u++)
		if (spmu_write_msr(c->unit[u].core, 0, MSR_PEBS_LD_LAT, clocks) != SPMU_DONE)
			engine_unsupported("the model has no threshold for the latency of loads");
	activity_set_load_threshold(clocks);
}

/* Adds the event to the set.  If no unit has a counter left, it is enabled and does not run. */
static void add(struct opened_event *e)
{
	const struct link_open_request *asked = &engine_link->open[e->place].request;
	struct spmu_request request = {
		.size = sizeof(request),
		.select = asked->select,
		.code = asked->code,
		.counters = asked->counters,
		.fixed = (int8_t)asked->fixed,
		.period = asked->period,
		.precise = asked->precise,
		.offcore = asked->offcore,
	};
	unsigned number;
	enum spmu_status status;

	if (asked->software && !asked->period)
		return;
	if (asked->load_threshold)
		set_load_threshold(asked->load_threshold);
	e->periods = opened_task_event(e)->periods;
	status = request.period ? opened_samples_add(e, &request, &number)
				: event_set_add(&current->counting->set, &request, NULL, &number);
	if (status != SPMU_OK)
		return;
	e->number = (uint8_t)number;
	e->added = true;
	e->published = 0;
}

/* Takes over what the list has.  The lock is held. */
static void take_list(const struct link_opened *list)
{
	for (unsigned i = 0; i < current->opened->count; i++) {
		struct opened_event *e = &current->opened->event[i];

		e->gone = !list || opened_entry(list, e->serial) < 0;
	}
	for (uint32_t i = 0; list && i < list->count; i++) {
		struct opened_event *e = opened_task_find(list->event[i].serial);

		if (!e && current->opened->count == LINK_OPENED_MAX)
			continue;
		if (!e) {
			e = &current->opened->event[current->opened->count++];
			*e = (struct opened_event){.serial = list->event[i].serial,
						   .place = list->event[i].place};
			e->resets = engine_link->open[e->place].resets;
		}
		e->flags = list->event[i].flags;
		e->switches = list->event[i].switches;
	}
}

/* What execve(2) does to the events of a task. */
static void execute(struct link_opened *list)
{
	for (uint32_t e = list->count; e-- > 0;) {
		uint16_t flags = list->event[e].flags;

		if (flags & LINK_OPEN_EXEC_REMOVES)
			opened_remove(list, e);
		else if (flags & LINK_OPEN_EXEC_ENABLES)
			list->event[e].flags =
				(uint16_t)((flags & ~LINK_OPEN_EXEC_ENABLES) | LINK_OPEN_ON);
	}
}

void opened_adopt(struct link_opened *list)
{
	opened_lock();
	execute(list);
	take_list(list);
	opened_unlock();
}

/* Returns whether the units have to stop for what take_list() has found. */
static bool is_change(void)
{
	for (unsigned i = 0; i < current->opened->count; i++) {
		const struct opened_event *e = &current->opened->event[i];

		if (opened_task_wants(e) != (e->times.state != PERF_STATE_OFF) ||
		    (e->added && (e->gone || e->periods != opened_task_event(e)->periods)))
			return true;
	}
	return false;
}

/* An event gets a counter when it is switched on for the first time, and keeps it. */
static void set_state(struct opened_event *e, uint64_t now)
{
	bool wanted = opened_task_wants(e);

	/* Another period begins at once.  What was counted has been published. */
	if (e->added && !e->gone && e->periods != opened_task_event(e)->periods) {
		event_set_remove(&current->counting->set, e->number);
		e->added = false;
		e->published = 0;
	}
	if (wanted && !e->added)
		add(e);
	perf_state_set(&e->times, perf_state_of(wanted, wanted, e->added || software_of(e)), now);
	if (e->added)
		event_set_enable(&current->counting->set, e->number, wanted);
}

static void drop_gone(void)
{
	struct opened *own = current->opened;
	unsigned n = 0;

	for (unsigned i = 0; i < own->count; i++) {
		if (!own->event[i].gone)
			own->event[n++] = own->event[i];
		else if (own->event[i].added)
			event_set_remove(&current->counting->set, own->event[i].number);
	}
	own->count = n;
}

static bool has_pages(void)
{
	for (unsigned i = 0; i < current->opened->count; i++)
		if (current->opened->event[i].page)
			return true;
	return false;
}

/* The lock is held, the mode precise. */
static void write_pages(void)
{
	for (unsigned i = 0; i < current->opened->count; i++)
		if (current->opened->event[i].page)
			opened_page_write(&current->opened->event[i]);
}

/* The units are stopped meanwhile.  The order does not matter: a counter that becomes free is one
 * for the next change. */
static void change_states(void)
{
	struct event_set *set = &current->counting->set;
	enum counting_mode before = current->counting->mode;
	uint64_t now = opened_task_time();

	shards_set_mode(COUNTING_PRECISE);
	if (event_set_stop(set) != SPMU_OK)
		engine_unsupported("the unit does not stop");
	publish_all(now);
	opened_lock();
	for (unsigned i = 0; i < current->opened->count; i++)
		set_state(&current->opened->event[i], now);
	drop_gone();
	write_pages();
	opened_unlock();
	if (event_set_start(set) != SPMU_OK)
		engine_unsupported("the unit does not start again");
	shards_follow_units();
	shards_set_mode(before);
}

bool opened_map(uint64_t serial, struct perf_event_mmap_page *page)
{
	struct opened_event *e = opened_any() ? opened_task_find(serial) : NULL;

	if (e)
		e->page = page;
	return e;
}

void opened_write_pages(void)
{
	enum counting_mode before;

	if (!opened_any() || !has_pages())
		return;
	before = current->counting->mode;
	shards_set_mode(COUNTING_PRECISE);
	publish_all(opened_task_time());
	opened_lock();
	write_pages();
	opened_unlock();
	shards_set_mode(before);
}

void opened_follow(const struct link_opened *list)
{
	bool change;

	if (!current->opened || (!current->opened->count && (!list || !list->count)))
		return;
	opened_lock();
	take_list(list);
	change = is_change();
	if (!change)
		drop_gone();
	opened_unlock();
	if (change)
		change_states();
	else
		opened_publish();
}

/* --- a vfork child --- */

/* Switches all of them off, or as they were. */
static void switch_all(bool off)
{
	struct event_set *set = &current->counting->set;
	enum counting_mode before = current->counting->mode;

	if (!opened_any())
		return;
	shards_set_mode(COUNTING_PRECISE);
	if (event_set_stop(set) != SPMU_OK)
		engine_unsupported("the unit does not stop");
	for (unsigned i = 0; i < current->opened->count; i++) {
		struct opened_event *e = &current->opened->event[i];

		if (e->added)
			event_set_enable(set, e->number,
					 !off && e->times.state == PERF_STATE_ACTIVE);
	}
	if (event_set_start(set) != SPMU_OK)
		engine_unsupported("the unit does not start again");
	shards_follow_units();
	shards_set_mode(before);
}

struct opened *opened_lend(void)
{
	struct opened *own = current->opened, *childs;

	if (!own)
		return NULL;
	switch_all(true);
	childs = heap_allocate(sizeof(*childs));
	childs->room = own->room;
	keep_inherited(childs, own, false);
	current->opened = childs;
	return own;
}

void opened_take_back(struct opened *own, bool killed)
{
	struct opened *childs = current->opened;

	if (!own)
		return;
	if (!killed)
		opened_follow(NULL);
	own->room = childs->room;
	current->opened = own;
	heap_release(childs, sizeof(*childs));
	if (!killed)
		switch_all(false);
}
