/* SPDX-License-Identifier: MIT */
/* straight.c: goes through the places of a thread in the order of their addresses. */
#include "tools/softpmu/flow/straight.h"

#include <hosts/user/decode/decode.h>
#include <softpmu/signals.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/flow/segments.h"

#define MEMORY	(SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES))
#define STREAMS 16 /* as many bytes as an instruction can have, and one more */

void straight_free(struct straight *straight)
{
	free(straight->places);
	numbering_free(&straight->numbers);
	*straight = (struct straight){0};
}

static bool same_place(const void *places, uint32_t number, const void *thing)
{
	const struct exact_place *a = &((const struct straight_place *)places)[number].at,
				 *b = thing;

	return a->address == b->address && a->object == b->object;
}

struct straight_place *straight_at(struct straight *straight, struct exact *exact,
				   struct code *code, uint64_t address)
{
	struct exact_place at;
	uint32_t number;

	at.object = exact_object(exact, code_object_at(code, address, &at.address));
	number = numbering_find(&straight->numbers,
				numbering_mix(numbering_mix(0, at.object), at.address), same_place,
				straight->places, &at);
	if (number == straight->count) {
		straight->places = tool_room(straight->places, &straight->room, number,
					     sizeof(*straight->places));
		straight->places[straight->count++] = (struct straight_place){.at = at};
	}
	return &straight->places[number];
}

static int by_place(const void *one, const void *other)
{
	const struct exact_place *a = &((const struct straight_place *)one)->at,
				 *b = &((const struct straight_place *)other)->at;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* How often the program goes straight on to an address.  There may be several at a time, if one
 * instruction begins within another. */
struct stream {
	uint64_t address, times;
};

struct sweep {
	struct exact *exact;
	struct exact_thread *thread;
	struct code *code;
	const uint64_t *events;
	struct stream stream[STREAMS];
	unsigned streams;
	uint64_t lost;
};

static void go_on(struct sweep *sweep, uint64_t address, uint64_t times)
{
	for (unsigned i = 0; i < sweep->streams; i++) {
		if (sweep->stream[i].address == address) {
			sweep->stream[i].times += times;
			return;
		}
	}
	sweep->stream[sweep->streams++] = (struct stream){address, times};
}

/* Returns the number of the stream that comes next, or of no stream. */
static unsigned lowest(const struct sweep *sweep)
{
	unsigned low = 0;

	for (unsigned i = 1; i < sweep->streams; i++) {
		if (sweep->stream[i].address < sweep->stream[low].address)
			low = i;
	}
	return low;
}

static bool is_conditional(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;
}

static uint64_t occurrences(uint64_t event, uint64_t signals, uint64_t times)
{
	return times * segments_occurrences(event, signals);
}

static void add(const struct sweep *sweep, const struct straight_place *place,
		const struct insn *insn, uint64_t times)
{
	uint64_t signals = insn->signals | SPMU_SIGBIT(INSTRUCTIONS);
	struct exact_insn *to = exact_insn(sweep->thread, place->at);

	to->times += times;
	for (size_t e = 0; e < sweep->exact->event_count; e++) {
		uint64_t event = sweep->events[e];

		to->cost[e] += occurrences(event, signals, times) -
			       occurrences(event, signals & MEMORY, place->idle);
		if (is_conditional(insn))
			to->cost[e] +=
				occurrences(event, SPMU_SIGBIT(COND_TAKEN), place->after) +
				occurrences(event, SPMU_SIGBIT(COND_NTAKEN), times - place->after);
	}
}

static bool ends(const struct insn *insn)
{
	switch (insn->kind) {
	case INSN_JMP_REL:
	case INSN_JMP_IND:
	case INSN_CALL_REL:
	case INSN_CALL_IND:
	case INSN_RET:
		return true;
	default:
		return false;
	}
}

/* Handles one instruction, to which the program came straight on `times` times. */
static void step(struct sweep *sweep, const struct straight_place *place, uint64_t times)
{
	uint8_t bytes[INSN_BYTES_MAX + 1];
	const char *path = sweep->exact->objects[place->at.object].path;
	struct insn insn;
	size_t count;

	times += place->in - place->before;
	if (!times && !place->after)
		return;
	count = code_read_file(sweep->code, path, place->at.address, bytes, sizeof(bytes));
	if ((int64_t)times <= 0 || times < place->after || !count ||
	    !insn_decode(bytes, count, place->at.address, &insn)) {
		sweep->lost += 1;
		return;
	}
	add(sweep, place, &insn, times);
	if (times == place->after)
		return;
	if (ends(&insn))
		sweep->lost += times - place->after;
	else
		go_on(sweep, place->at.address + insn.length, times - place->after);
}

/* Handles what comes before the address. */
static void run_to(struct sweep *sweep, uint32_t object, uint64_t address)
{
	while (sweep->streams) {
		unsigned i = lowest(sweep);
		struct stream stream = sweep->stream[i];
		struct straight_place place = {.at = {object, stream.address}};

		if (stream.address >= address)
			return;
		sweep->stream[i] = sweep->stream[--sweep->streams];
		step(sweep, &place, stream.times);
	}
}

/* Returns how often the program came straight on to the address. */
static uint64_t take(struct sweep *sweep, uint64_t address)
{
	for (unsigned i = 0; i < sweep->streams; i++) {
		uint64_t times = sweep->stream[i].times;

		if (sweep->stream[i].address != address)
			continue;
		sweep->stream[i] = sweep->stream[--sweep->streams];
		return times;
	}
	return 0;
}

uint64_t straight_fold(struct straight *straight, struct exact *exact, size_t thread,
		       struct code *code, const uint64_t *events)
{
	struct sweep sweep = {
		.exact = exact, .thread = exact->threads[thread], .code = code, .events = events};

	if (straight->count)
		qsort(straight->places, straight->count, sizeof(*straight->places), by_place);
	for (size_t i = 0; i < straight->count; i++) {
		const struct straight_place *place = &straight->places[i];

		run_to(&sweep, place->at.object, place->at.address);
		step(&sweep, place, take(&sweep, place->at.address));
		if (i + 1 == straight->count || place[1].at.object != place->at.object)
			run_to(&sweep, place->at.object, UINT64_MAX);
	}
	straight_free(straight);
	return sweep.lost;
}
