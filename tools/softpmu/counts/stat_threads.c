/* SPDX-License-Identifier: MIT */
/*
 * stat_threads.c: the counts of each thread, as the engine reports them when a thread or process
 * ends or executes a program.
 *
 * A thread is named as perf names it: by its last name and its number.
 */
#define _GNU_SOURCE
#include "tools/softpmu/counts/stat_threads.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

struct thread {
	uint32_t pid, tid;
	char comm[16];
	bool counted; /* it has reported counts */
	uint64_t count[LINK_EVENTS_MAX];
};

struct stat_threads {
	struct thread *thread;
	size_t threads, room;
};

void stat_threads_start(struct stat_table *table)
{
	table->threads = tool_alloc(sizeof(*table->threads));
}

void stat_threads_free(struct stat_table *table)
{
	if (table->threads)
		free(table->threads->thread);
	free(table->threads);
	table->threads = NULL;
}

/* --- gathering ---------------------------------------------------------------------------- */

static struct thread *find(const struct stat_threads *all, uint32_t tid)
{
	for (size_t i = all->threads; i-- > 0;)
		if (all->thread[i].tid == tid)
			return &all->thread[i];
	return NULL;
}

/* Returns the thread, which is new if there is none with these numbers. */
static struct thread *find_or_add(struct stat_threads *all, uint32_t pid, uint32_t tid)
{
	struct thread *t = find(all, tid);

	if (t && t->pid == pid)
		return t;
	if (all->threads == all->room) {
		all->room = all->room ? 2 * all->room : 16;
		all->thread = tool_grow(all->thread, all->room * sizeof(*all->thread));
	}
	t = &all->thread[all->threads++];
	*t = (struct thread){.pid = pid, .tid = tid};
	return t;
}

/* A thread begins with the name of the one that starts it. */
static void take_task(struct stat_threads *all, const struct link_task *task)
{
	const struct thread *parent = find(all, task->ptid);
	char comm[16] = "";
	struct thread *t;

	if (task->ended)
		return;
	if (parent)
		memcpy(comm, parent->comm, sizeof(comm));
	t = find_or_add(all, task->pid, task->tid);
	if (!*t->comm)
		memcpy(t->comm, comm, sizeof(comm));
}

static void take_counts(struct stat_threads *all, const struct link_counts *counts)
{
	struct thread *t = find_or_add(all, counts->pid, counts->tid);

	t->counted = true;
	for (size_t e = 0; e < LINK_EVENTS_MAX; e++)
		t->count[e] += counts->count[e];
}

void stat_threads_take(void *opaque, const struct link_record *record, uint64_t time_ns,
		       const void *trace)
{
	struct stat_threads *all = ((struct stat_table *)opaque)->threads;
	const struct link_comm *comm = (const struct link_comm *)record;

	(void)time_ns;
	(void)trace;
	if (!record)
		return;
	if (record->type == LINK_REC_TASK)
		take_task(all, (const struct link_task *)record);
	if (record->type == LINK_REC_COUNTS)
		take_counts(all, (const struct link_counts *)record);
	if (record->type == LINK_REC_COMM)
		memcpy(find_or_add(all, comm->pid, comm->tid)->comm, comm->comm,
		       sizeof(comm->comm));
}

/* --- rows --------------------------------------------------------------------------------- */

/* Returns the place of the event among those that the engine counts: the absent ones are left
 * out. */
static size_t place_of(const struct stat_table *table, size_t index)
{
	size_t place = 0;

	for (size_t i = 0; i < index; i++)
		place += table->events.event[i].fidelity != SPMU_ABSENT;
	return place;
}

static int compare(const void *a, const void *b, void *opaque)
{
	const struct thread *first = *(const struct thread *const *)a;
	const struct thread *second = *(const struct thread *const *)b;
	size_t place = *(const size_t *)opaque;

	if (first->count[place] != second->count[place])
		return first->count[place] < second->count[place] ? 1 : -1;
	return (first->tid > second->tid) - (first->tid < second->tid);
}

/* Returns the threads with counts in the order of this event, to free(). */
static const struct thread **sort(const struct stat_table *table, size_t place, size_t *threads)
{
	const struct stat_threads *all = table->threads;
	const struct thread **sorted = tool_alloc((all->threads + 1) * sizeof(void *));

	*threads = 0;
	for (size_t i = 0; i < all->threads; i++)
		if (all->thread[i].counted)
			sorted[(*threads)++] = &all->thread[i];
	qsort_r(sorted, *threads, sizeof(void *), compare, &place);
	return sorted;
}

/* Shows the row of one thread by a table that has its counts. */
static void show(const struct stat_table *table, const struct thread *t, size_t index,
		 stat_threads_row *row, void *opaque)
{
	struct stat_table one = *table;
	char name[sizeof(t->comm) + 16];
	size_t place = 0;

	snprintf(name, sizeof(name), "%s-%u", t->comm, t->tid);
	one.thread = name;
	one.counts = tool_alloc(table->events.count * sizeof(*one.counts));
	for (size_t i = 0; i < table->events.count; i++) {
		one.counts[i].counted = table->counts[i].counted;
		if (table->events.event[i].fidelity != SPMU_ABSENT)
			one.counts[i].value = t->count[place++];
	}
	row(opaque, &one, index);
	free(one.counts);
}

void stat_threads_each(const struct stat_table *table, size_t index, stat_threads_row *row,
		       void *opaque)
{
	size_t threads;
	const struct thread **sorted = sort(table, place_of(table, index), &threads);

	for (size_t i = 0; i < threads; i++)
		show(table, sorted[i], index, row, opaque);
	free(sorted);
}
