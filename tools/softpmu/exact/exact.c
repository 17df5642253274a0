/* SPDX-License-Identifier: MIT */
/* exact.c: an exact profile in memory. */
#include "tools/softpmu/exact/exact.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

struct exact *exact_new(void)
{
	return tool_alloc(sizeof(struct exact));
}

static void free_thread(struct exact_thread *thread)
{
	free(thread->comm);
	free(thread->insns);
	free(thread->calls);
	free(thread->functions);
	numbering_free(&thread->insn_numbers);
	numbering_free(&thread->call_numbers);
	numbering_free(&thread->function_numbers);
	free(thread);
}

static void free_object(struct exact_object *object)
{
	for (size_t i = 0; i < object->name_count; i++)
		free(object->names[i].name);
	free(object->names);
	free(object->path);
}

void exact_free(struct exact *exact)
{
	if (!exact)
		return;
	for (size_t i = 0; i < exact->event_count; i++)
		free(exact->events[i].name);
	for (size_t i = 0; i < exact->object_count; i++)
		free_object(&exact->objects[i]);
	for (size_t i = 0; i < exact->thread_count; i++)
		free_thread(exact->threads[i]);
	free(exact->objects);
	free(exact->threads);
	free(exact->command);
	free(exact->model);
	free(exact);
}

/* The last object is the most likely one. */
uint32_t exact_object(struct exact *exact, const char *path)
{
	for (size_t i = exact->object_count; i-- > 0;) {
		if (!strcmp(exact->objects[i].path, path))
			return (uint32_t)i;
	}
	exact->objects = tool_room(exact->objects, &exact->object_room, exact->object_count,
				   sizeof(*exact->objects));
	exact->objects[exact->object_count] = (struct exact_object){.path = tool_copy(path)};
	return (uint32_t)exact->object_count++;
}

void exact_add_name(struct exact_object *object, uint64_t start, uint64_t end, const char *name)
{
	object->names = tool_room(object->names, &object->name_room, object->name_count,
				  sizeof(*object->names));
	object->names[object->name_count++] = (struct exact_name){start, end, tool_copy(name)};
}

size_t exact_add_thread(struct exact *exact, uint32_t pid, uint32_t tid, const char *comm)
{
	struct exact_thread *thread;

	exact->threads =
		tool_room(exact->threads, &exact->thread_room, exact->thread_count, sizeof(void *));
	thread = tool_alloc(sizeof(*thread));
	*thread = (struct exact_thread){.pid = pid, .tid = tid, .comm = tool_copy(comm)};
	exact->threads[exact->thread_count] = thread;
	return exact->thread_count++;
}

static uint64_t hash_of_place(uint64_t hash, struct exact_place at)
{
	return numbering_mix(numbering_mix(hash, at.object), at.address);
}

static bool is_same(struct exact_place a, struct exact_place b)
{
	return a.address == b.address && a.object == b.object;
}

static bool same_insn(const void *insns, uint32_t number, const void *at)
{
	return is_same(((const struct exact_insn *)insns)[number].at,
		       *(const struct exact_place *)at);
}

struct exact_insn *exact_insn(struct exact_thread *thread, struct exact_place at)
{
	uint32_t number = numbering_find(&thread->insn_numbers, hash_of_place(0, at), same_insn,
					 thread->insns, &at);

	if (number == thread->insn_count) {
		thread->insns = tool_room(thread->insns, &thread->insn_room, number,
					  sizeof(*thread->insns));
		thread->insns[thread->insn_count++] = (struct exact_insn){.at = at};
	}
	return &thread->insns[number];
}

static bool same_call(const void *calls, uint32_t number, const void *thing)
{
	const struct exact_call *a = (const struct exact_call *)calls + number, *b = thing;

	return is_same(a->at, b->at) && is_same(a->callee, b->callee);
}

struct exact_call *exact_call(struct exact_thread *thread, struct exact_place at,
			      struct exact_place callee)
{
	struct exact_call call = {.at = at, .callee = callee};
	uint64_t hash = hash_of_place(hash_of_place(0, at), callee);
	uint32_t number =
		numbering_find(&thread->call_numbers, hash, same_call, thread->calls, &call);

	if (number == thread->call_count) {
		thread->calls = tool_room(thread->calls, &thread->call_room, number,
					  sizeof(*thread->calls));
		thread->calls[thread->call_count++] = call;
	}
	return &thread->calls[number];
}

static bool same_function(const void *functions, uint32_t number, const void *at)
{
	return is_same(((const struct exact_function *)functions)[number].at,
		       *(const struct exact_place *)at);
}

struct exact_function *exact_function(struct exact_thread *thread, struct exact_place at)
{
	uint32_t number = numbering_find(&thread->function_numbers, hash_of_place(0, at),
					 same_function, thread->functions, &at);

	if (number == thread->function_count) {
		thread->functions = tool_room(thread->functions, &thread->function_room, number,
					      sizeof(*thread->functions));
		thread->functions[thread->function_count++] = (struct exact_function){.at = at};
	}
	return &thread->functions[number];
}

uint64_t exact_sum(const struct exact *exact, size_t event)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < exact->thread_count; t++) {
		for (size_t i = 0; i < exact->threads[t]->insn_count; i++)
			sum += exact->threads[t]->insns[i].cost[event];
	}
	return sum;
}

static int by_place(struct exact_place a, struct exact_place b)
{
	if (a.object != b.object)
		return a.object < b.object ? -1 : 1;
	return a.address < b.address ? -1 : a.address > b.address;
}

static int by_insn(const void *a, const void *b)
{
	return by_place(((const struct exact_insn *)a)->at, ((const struct exact_insn *)b)->at);
}

static int by_call(const void *one, const void *other)
{
	const struct exact_call *a = one, *b = other;
	int order = by_place(a->at, b->at);

	return order ? order : by_place(a->callee, b->callee);
}

static int by_function(const void *a, const void *b)
{
	return by_place(((const struct exact_function *)a)->at,
			((const struct exact_function *)b)->at);
}

static bool is_cost(const uint64_t *cost)
{
	uint64_t sum = 0;

	for (size_t e = 0; e < EXACT_EVENTS_MAX; e++)
		sum |= cost[e];
	return sum;
}

/* A call that turned out to be of another function leaves an entry without calls. */
static void drop_unused(struct exact_thread *thread)
{
	size_t calls = 0, functions = 0;

	for (size_t i = 0; i < thread->call_count; i++) {
		if (thread->calls[i].times || is_cost(thread->calls[i].cost))
			thread->calls[calls++] = thread->calls[i];
	}
	for (size_t i = 0; i < thread->function_count; i++) {
		if (thread->functions[i].times || is_cost(thread->functions[i].cost))
			thread->functions[functions++] = thread->functions[i];
	}
	thread->call_count = calls;
	thread->function_count = functions;
}

static void sort(void *list, size_t count, size_t bytes, int (*order)(const void *, const void *))
{
	if (count)
		qsort(list, count, bytes, order);
}

void exact_sort(struct exact *exact)
{
	for (size_t t = 0; t < exact->thread_count; t++) {
		struct exact_thread *thread = exact->threads[t];

		drop_unused(thread);
		sort(thread->insns, thread->insn_count, sizeof(*thread->insns), by_insn);
		sort(thread->calls, thread->call_count, sizeof(*thread->calls), by_call);
		sort(thread->functions, thread->function_count, sizeof(*thread->functions),
		     by_function);
		/* The numbers have changed. */
		numbering_free(&thread->insn_numbers);
		numbering_free(&thread->call_numbers);
		numbering_free(&thread->function_numbers);
	}
}
