/* SPDX-License-Identifier: MIT */
/*
 * calls.c: prints the tree of calls.
 *
 * Calls and returns give a stack of the calls that have not returned.  A return that matches none
 * of the newest calls is ignored (a switch to another stack).  A return that matches an older call
 * also ends the calls above it (longjmp, exceptions).  After a jump to the beginning of another
 * function, that function takes the place of the one that jumped.
 *
 * A line is held back until the next one is known.  So calls of one function in a row that call
 * nothing themselves share a line.
 */
#define _GNU_SOURCE
#include "tools/softpmu/trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define FRAMES_MAX (1u << 20)
#define SEARCH_MAX 64 /* how many calls a return may end */
#define NO_ROOT	   UINT64_MAX
#define TIME_BYTES 24

struct calls {
	FILE *to;
	struct code *code;
	unsigned depth;
	calls_filter *filter;
	calls_begin *begin;
	void *opaque;
	char time[TIME_BYTES]; /* the beginning of each line */

	uint64_t *frames; /* the return address of each call */
	size_t count, room;
	uint64_t forgotten; /* frames below them that were dropped because there were too many */
	uint64_t root;	    /* level of the oldest wanted function; NO_ROOT: none */

	struct held {
		uint64_t level, times; /* times 0: nothing is held back */
		char time[TIME_BYTES];
		uint64_t depth; /* below the tree's root */
		uint32_t function;
		bool open; /* has not returned */
	} held;
};

struct calls *calls_new(FILE *to, struct code *code, unsigned depth, calls_filter *filter,
			calls_begin *begin, void *opaque)
{
	struct calls *calls = tool_alloc(sizeof(*calls));

	*calls = (struct calls){.to = to,
				.code = code,
				.depth = depth,
				.filter = filter,
				.begin = begin,
				.opaque = opaque,
				.root = filter ? NO_ROOT : 0};
	return calls;
}

static void print_line(const struct calls *calls, uint64_t times)
{
	const struct held *held = &calls->held;
	static const char blanks[] =
		"                                                                ";
	const struct code_function *function = code_function(calls->code, held->function);
	const char *slash = strrchr(function->object, '/');
	uint64_t indent = 2 * held->depth;

	calls->begin(calls->opaque);
	/* A deep level is shown as a number, because its line would be full of blanks. */
	fputs_unlocked(held->time, calls->to);
	if (indent < sizeof(blanks))
		fwrite_unlocked(blanks, 1, (size_t)indent, calls->to);
	else
		fprintf(calls->to, "%s[%" PRIu64 "] ", blanks, held->depth);
	if (function->shown)
		fputs_unlocked(function->shown, calls->to);
	else
		fprintf(calls->to, "[%s]", slash ? slash + 1 : function->object);
	if (times > 1)
		fprintf(calls->to, "  (%" PRIu64 " times)", times);
	putc_unlocked('\n', calls->to);
}

/* Prints the line held back.  The last of several calls gets its own line if it calls something. */
static void let_go(struct calls *calls, bool calls_on)
{
	struct held *held = &calls->held;

	if (held->times > 1 && held->open && calls_on) {
		print_line(calls, held->times - 1);
		held->times = 1;
	}
	if (held->times)
		print_line(calls, held->times);
	held->times = 0;
}

void calls_flush(struct calls *calls)
{
	let_go(calls, false);
}

struct calls *calls_fork(const struct calls *calls)
{
	struct calls *copy = tool_alloc(sizeof(*copy));

	*copy = *calls;
	copy->held.times = 0;
	copy->frames = tool_alloc(calls->room * sizeof(*copy->frames));
	memcpy(copy->frames, calls->frames, calls->count * sizeof(*copy->frames));
	return copy;
}

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	let_go(calls, false);
	free(calls->frames);
	free(calls);
}

void calls_time(struct calls *calls, uint64_t time_ns)
{
	snprintf(calls->time, sizeof(calls->time), "%12.3f  ", (double)time_ns / 1e6);
}

static uint64_t level_of(const struct calls *calls)
{
	return calls->forgotten + calls->count;
}

static void show(struct calls *calls, uint64_t level, uint32_t function)
{
	struct held *held = &calls->held;

	if (calls->root == NO_ROOT && calls->filter(calls->opaque, function))
		calls->root = level;
	if (calls->root == NO_ROOT || (calls->depth && level - calls->root >= calls->depth))
		return;
	if (held->times && !held->open && held->level == level && held->function == function) {
		held->times++;
		held->open = true;
		return;
	}
	let_go(calls, true);
	*held = (struct held){level, 1, "", level - calls->root, function, true};
	memcpy(held->time, calls->time, sizeof(held->time));
}

static void push(struct calls *calls, uint64_t back, uint32_t function)
{
	if (calls->count == calls->room) {
		size_t half = calls->count / 2;

		if (calls->room < FRAMES_MAX) {
			calls->room = calls->room ? 2 * calls->room : 256;
			calls->frames =
				tool_grow(calls->frames, calls->room * sizeof(*calls->frames));
		} else {
			memmove(calls->frames, calls->frames + half,
				(calls->count - half) * sizeof(*calls->frames));
			calls->count -= half;
			calls->forgotten += half;
		}
	}
	/* A linkage stub that leads to a function gets no line. */
	if (!edges_is_stub(calls->code, function))
		show(calls, level_of(calls), function);
	calls->frames[calls->count++] = back;
}

/* Ends the calls above `count`. */
static void pop_to(struct calls *calls, size_t count)
{
	calls->count = count;
	if (calls->held.times && calls->held.level >= level_of(calls))
		calls->held.open = false;
	if (calls->filter && calls->root != NO_ROOT && level_of(calls) <= calls->root)
		calls->root = NO_ROOT;
}

static void take_return(struct calls *calls, uint64_t to)
{
	size_t least = calls->count > SEARCH_MAX ? calls->count - SEARCH_MAX : 0;

	for (size_t i = calls->count; i-- > least;) {
		if (calls->frames[i] == to) {
			pop_to(calls, i);
			return;
		}
	}
}

/* Replaces the function that jumped by the one that it jumped to. */
static void take_tail(struct calls *calls, uint32_t function)
{
	uint64_t back = 0;

	if (calls->count) {
		back = calls->frames[--calls->count];
		if (calls->held.times && calls->held.level == level_of(calls))
			calls->held.open = false;
	}
	push(calls, back, function);
}

void calls_take(struct calls *calls, const struct edge *edge)
{
	switch (edge->kind) {
	case EDGE_CALL:
		push(calls, edge->from + edge->length, edge->target);
		break;
	case EDGE_RETURN:
		take_return(calls, edge->to);
		break;
	case EDGE_TAIL:
		take_tail(calls, edge->target);
		break;
	default:
		break;
	}
}
