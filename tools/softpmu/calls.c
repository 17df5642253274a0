/* SPDX-License-Identifier: MIT */
/*
 * calls.c: the tree of calls.
 *
 * A stack of the calls that have not returned follows from calls and returns.  A return that
 * matches none of the newest is left aside (a switch to another stack); one that matches an
 * older call ends all above it (longjmp, exceptions).  A jump to the beginning of another
 * function takes the place of the function that jumped.
 *
 * A line is held back until the next one, so that calls of the same function in a row,
 * which call nothing themselves, share a line.
 */
#define _GNU_SOURCE
#include "tools/softpmu/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/commands.h"

#define FRAMES_MAX (1u << 20)
#define SEARCH_MAX 64 /* calls that a return may pass over */
#define NO_ROOT	   UINT64_MAX
#define TIME_BYTES 24

struct calls {
	FILE *to;
	struct code *code;
	unsigned depth;
	calls_filter *filter;
	calls_begin *begin;
	void *opaque;
	char time[TIME_BYTES]; /* as lines begin with it */

	uint64_t *frames; /* where each returns to */
	size_t count, room;
	uint64_t forgotten; /* frames below them, when there were too many */
	uint64_t root;	    /* level of the oldest wanted function */

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
	/* Deep levels would be blanks only: their number stands for them. */
	fputs_unlocked(held->time, calls->to);
	if (indent < sizeof(blanks))
		fwrite_unlocked(blanks, 1, (size_t)indent, calls->to);
	else
		fprintf(calls->to, "%s[%" PRIu64 "] ", blanks, held->depth);
	if (function->name)
		fputs_unlocked(function->name, calls->to);
	else
		fprintf(calls->to, "[%s]", slash ? slash + 1 : function->object);
	if (times > 1)
		fprintf(calls->to, "  (%" PRIu64 " times)", times);
	putc_unlocked('\n', calls->to);
}

/* The last of several calls in a row that turns out to call something has a line of its own. */
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
	/* The linkage stub that leads to a function is not worth a line. */
	if (!edges_is_stub(calls->code, function))
		show(calls, level_of(calls), function);
	calls->frames[calls->count++] = back;
}

/* Calls above `count` have returned. */
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

/* A tree whose function jumps away goes on with the other one. */
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
