/* SPDX-License-Identifier: MIT */
/*
 * segments.c: the table of straight pieces of code.
 *
 * The costs of a segment follow from the signals of its instructions, as the engine's decoder gives
 * them.  A conditional branch in the middle of a segment was not taken, one at its end was.  A
 * segment of one instruction that did not branch has LINK_FLOW_BREAK in `from`.
 */
#include "tools/softpmu/flow/segments.h"

#include <hosts/user/hash.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/symbol_file.h"

#define PLACES_FIRST 12 /* logarithm of the number of places */
#define MEMORY	     (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES))
#define ADDRESS	     (~LINK_FLOW_FLAGS)

static size_t places(const struct segments *segments)
{
	return (size_t)1 << (64 - segments->shift);
}

static void make_table(struct segments *segments, unsigned logarithm)
{
	segments->shift = 64 - logarithm;
	segments->table = tool_alloc(places(segments) * sizeof(*segments->table));
}

void segments_begin(struct segments *segments, struct code *code, const uint64_t *events,
		    size_t event_count)
{
	*segments = (struct segments){.code = code, .events = events, .event_count = event_count};
	make_table(segments, PLACES_FIRST);
}

void segments_end(struct segments *segments)
{
	free(segments->table);
	free(segments->insns);
}

/* Returns the place of the segment, or the free place for it. */
static struct segment *probe(const struct segments *segments, uint64_t at, uint64_t from)
{
	uint64_t mix = at ^ (from << 24 | from >> 40);
	size_t i = (size_t)(hash_of(mix) >> segments->shift), mask = places(segments) - 1;

	while (segments->table[i].is_used &&
	       (segments->table[i].at != at || segments->table[i].from != from))
		i = (i + 1) & mask;
	return &segments->table[i];
}

static void grow(struct segments *segments)
{
	struct segments old = *segments;

	make_table(segments, 64 - old.shift + 1);
	for (size_t i = 0; i < places(&old); i++) {
		if (old.table[i].is_used)
			*probe(segments, old.table[i].at, old.table[i].from) = old.table[i];
	}
	free(old.table);
}

unsigned segments_occurrences(uint64_t event, uint64_t signals)
{
	return (unsigned)__builtin_popcountll(event & signals);
}

static bool is_conditional(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ;
}

static void add_insn(struct segments *segments, struct segment *segment, uint64_t signals,
		     uint8_t length)
{
	segments->insns = tool_room(segments->insns, &segments->insn_room, segments->insn_count,
				    sizeof(*segments->insns));
	segments->insns[segments->insn_count++] = (struct segment_insn){signals, length};
	segment->insns++;
}

/* Decodes one instruction of the process. */
static bool decode(struct code *code, uint64_t address, struct insn *insn)
{
	uint8_t bytes[INSN_BYTES_MAX + 1];
	size_t count = code_read(code, address, bytes, sizeof(bytes));

	return count && insn_decode(bytes, count, address, insn);
}

/* Decodes the instructions from `at` to `last`, of which *insn becomes the last one.  Returns false
 * if that is not possible. */
static bool decode_all(struct segments *segments, struct segment *segment, uint64_t last,
		       struct insn *insn)
{
	uint64_t at = segment->at;

	for (;; at += insn->length) {
		uint64_t signals;

		if (at > last || segment->insns == UINT16_MAX || !decode(segments->code, at, insn))
			return false;
		signals = insn->signals | SPMU_SIGBIT(INSTRUCTIONS);
		if (at == last && segment->from & LINK_FLOW_IDLE)
			signals &= ~MEMORY;
		if (is_conditional(insn))
			signals |= at == last && !(segment->from & LINK_FLOW_BREAK)
					   ? SPMU_SIGBIT(COND_TAKEN)
					   : SPMU_SIGBIT(COND_NTAKEN);
		add_insn(segments, segment, signals, insn->length);
		if (at == last)
			return true;
		if (insn->kind == INSN_UNDEFINED)
			return false;
	}
}

/* If the code cannot be decoded, only the last instruction is known to have run. */
static void analyze(struct segments *segments, struct segment *segment)
{
	struct insn insn = {.kind = INSN_PLAIN};

	segment->first = segments->insn_count;
	if (!decode_all(segments, segment, segment->from & ADDRESS, &insn)) {
		segments->insn_count = segment->first;
		segment->insns = 0;
		if (!decode(segments->code, segment->from & ADDRESS, &insn))
			insn = (struct insn){.kind = INSN_PLAIN};
	}
	segment->length = insn.length;
}

struct segment *segments_find(struct segments *segments, uint64_t at, uint64_t from)
{
	struct segment *segment = probe(segments, at, from);

	if (segment->is_used)
		return segment;
	if (segments->used >= places(segments) / 2) {
		grow(segments);
		segment = probe(segments, at, from);
	}
	segments->used++;
	*segment = (struct segment){.at = at, .from = from, .is_used = true};
	analyze(segments, segment);
	return segment;
}

/* --- results ---------------------------------------------------------------------------------- */

static void fold_one(struct segments *segments, struct exact *exact, size_t thread,
		     const struct segment *segment)
{
	struct exact_place at;

	at.object = exact_object(exact, code_object_at(segments->code, segment->at, &at.address));
	for (size_t i = 0; i < segment->insns; i++) {
		const struct segment_insn *from = &segments->insns[segment->first + i];
		struct exact_insn *insn = exact_insn(exact->threads[thread], at);

		insn->times += segment->count;
		for (size_t e = 0; e < segments->event_count; e++)
			insn->cost[e] += segment->count *
					 segments_occurrences(segments->events[e], from->signals);
		at.address += from->length;
	}
	if (!segment->insns)
		segments->lost += segment->count;
}

void segments_fold(struct segments *segments, struct exact *exact, size_t thread)
{
	for (size_t i = 0; i < places(segments); i++) {
		if (segments->table[i].is_used)
			fold_one(segments, exact, thread, &segments->table[i]);
	}
	memset(segments->table, 0, places(segments) * sizeof(*segments->table));
	segments->used = 0;
	segments->insn_count = 0;
}
