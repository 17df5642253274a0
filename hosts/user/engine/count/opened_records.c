/* SPDX-License-Identifier: MIT */
/*
 * opened_records.c: what happens in a task, for the rings of its opened events: mappings, names,
 * begin and end, and what a task has counted of an event that it has inherited.
 *
 * As in the kernel, an event that is off gets none.
 */
#include "engine/count/opened_records.h"

#include <asm/unistd.h>

#include <hosts/user/perf_event/perf_read.h>

#include "engine/count/opened_ring.h"
#include "engine/count/opened_task.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* What one of the functions below tells. */
struct told {
	const struct perf_record_mapping *mapping;
	const char *name;
	bool exec;
	const struct perf_record_task *task;
	bool ended;
};

static bool is_mapping_wanted(const struct perf_event_attr *attr, bool executable)
{
	return perf_record_wants_mapping(attr, executable);
}

static bool wants(const struct perf_event_attr *attr, const struct told *t)
{
	if (t->mapping)
		return is_mapping_wanted(attr, t->mapping->protection & 4);
	return t->name ? attr->comm : perf_record_wants_task(attr);
}

static size_t write(void *to, const struct perf_event_attr *attr, const struct perf_sample_id *of,
		    const struct told *t)
{
	if (t->mapping)
		return perf_record_mmap(to, attr, of, t->mapping);
	if (t->name)
		return perf_record_comm(to, attr, of, t->name, t->exec);
	return perf_record_task(to, attr, of, t->task, t->ended);
}

static void tell(const struct told *t)
{
	uint64_t record[PERF_RECORD_MOST / sizeof(uint64_t)];

	for (unsigned i = 0; opened_any() && i < current->opened->count; i++) {
		const struct opened_event *e = &current->opened->event[i];
		const struct perf_event_attr *attr = &opened_task_event(e)->attr;
		struct perf_sample_id of;

		if (!opened_ring_has(e) || !opened_task_wants(e) || !wants(attr, t))
			continue;
		of = opened_ring_id(e);
		opened_ring_write(e, &of, record, write(record, attr, &of, t));
	}
}

static bool any_wants(bool executable)
{
	for (unsigned i = 0; opened_any() && i < current->opened->count; i++) {
		const struct opened_event *e = &current->opened->event[i];

		if (opened_ring_has(e) &&
		    is_mapping_wanted(&opened_task_event(e)->attr, executable))
			return true;
	}
	return false;
}

bool opened_records_want_data(void)
{
	return any_wants(false);
}

bool opened_records_want_mappings(void)
{
	return any_wants(true) || any_wants(false);
}

void opened_records_mmap(const struct perf_record_mapping *mapping)
{
	tell(&(struct told){.mapping = mapping});
}

void opened_records_comm(const char *name, bool exec)
{
	tell(&(struct told){.name = name, .exec = exec});
}

void opened_records_fork(uint32_t ppid, uint32_t ptid)
{
	const struct perf_record_task task = {current->pid, ppid, current->tid, ptid};

	tell(&(struct told){.task = &task});
}

/* What the task has counted of an event that it has inherited (inherit_stat). */
static void tell_count(const struct opened_event *e)
{
	const struct link_open *event = opened_task_event(e);
	struct perf_value value = {.count = e->contributed, .id = e->serial, .lost = event->lost};
	uint64_t format = event->attr.read_format & ~(uint64_t)PERF_FORMAT_GROUP, words[5];
	uint64_t record[PERF_RECORD_MOST / sizeof(uint64_t)];
	struct perf_sample_id of;

	if (!(e->flags & LINK_OPEN_CHILD) || !event->attr.inherit_stat || !opened_ring_has(e))
		return;
	of = opened_ring_id(e);
	perf_read_write(words, format, event->enabled_ns, event->running_ns, &value, 1);
	opened_ring_write(e, &of, record,
			  perf_record_read(record, &event->attr, &of, words,
					   perf_read_bytes(format, 0) / sizeof(uint64_t)));
}

/* A task that ends has its parent's number in place of the task that started it. */
void opened_records_end(void)
{
	uint32_t parent = (uint32_t)syscall1(__NR_getppid, 0);
	const struct perf_record_task task = {current->pid, parent, current->tid, parent};

	for (unsigned i = 0; i < current->opened->count; i++)
		tell_count(&current->opened->event[i]);
	tell(&(struct told){.task = &task, .ended = true});
}
