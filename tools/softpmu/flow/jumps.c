/* SPDX-License-Identifier: MIT */
/* jumps.c: the table of jumps, by their two addresses. */
#include "tools/softpmu/flow/jumps.h"

#include <hosts/user/decode/decode.h>
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/symbols/symbol_file.h"

#define PLACES_FIRST 12 /* logarithm of the number of places */

static size_t places(const struct jumps *jumps)
{
	return (size_t)1 << (64 - jumps->shift);
}

static void make_table(struct jumps *jumps, unsigned logarithm)
{
	jumps->shift = 64 - logarithm;
	jumps->table = tool_alloc(places(jumps) * sizeof(*jumps->table));
}

void jumps_begin(struct jumps *jumps, struct code *code)
{
	*jumps = (struct jumps){.code = code, .part = 1};
	make_table(jumps, PLACES_FIRST);
}

void jumps_end(struct jumps *jumps)
{
	free(jumps->table);
}

void jumps_complete(struct jumps *jumps)
{
	jumps->part++;
}

static struct jump *probe(const struct jumps *jumps, uint64_t from, uint64_t to)
{
	size_t i = jumps_place(jumps, from, to), mask = places(jumps) - 1;

	while (jumps->table[i].is_used &&
	       (jumps->table[i].from != from || jumps->table[i].to != to))
		i = (i + 1) & mask;
	return &jumps->table[i];
}

static void grow(struct jumps *jumps)
{
	struct jumps old = *jumps;

	make_table(jumps, 64 - old.shift + 1);
	for (size_t i = 0; i < places(&old); i++) {
		if (old.table[i].is_used)
			*probe(jumps, old.table[i].from, old.table[i].to) = old.table[i];
	}
	free(old.table);
}

/* Returns whether both addresses are in one function, which is known. */
static bool stays(struct code *code, uint64_t from, uint64_t to)
{
	uint64_t offset;
	const struct code_function *function =
		code_function(code, code_function_at(code, from, &offset));

	if (!function->symbol)
		return false;
	return to >= from - offset &&
	       to - (from - offset) < function->symbol->end - function->symbol->start;
}

static enum jump_end end_of(struct code *code, uint64_t from, uint64_t to)
{
	uint8_t bytes[INSN_BYTES_MAX + 1];
	size_t count = code_read(code, from, bytes, sizeof(bytes));
	struct insn insn;

	if (!count || !insn_decode(bytes, count, from, &insn))
		return JUMP_INSIDE;
	switch (insn.kind) {
	case INSN_CALL_REL:
	case INSN_CALL_IND:
		/* A call of the next instruction only reads the instruction pointer. */
		return to == from + insn.length ? JUMP_INSIDE : JUMP_CALL;
	case INSN_RET:
		return JUMP_RETURN;
	case INSN_JCC:
	case INSN_JCXZ:
	case INSN_JMP_REL:
		return stays(code, from, to) ? JUMP_INSIDE : JUMP_DIRECT;
	case INSN_JMP_IND:
		return stays(code, from, to) ? JUMP_INSIDE : JUMP_INDIRECT;
	default:
		return JUMP_INSIDE;
	}
}

struct jump *jumps_add(struct jumps *jumps, uint64_t from, uint64_t to)
{
	uint64_t at = from & ~LINK_FLOW_FLAGS;
	struct jump *jump = probe(jumps, from, to);

	if (jump->is_used)
		return jump;
	if (jumps->used >= places(jumps) / 2) {
		grow(jumps);
		jump = probe(jumps, from, to);
	}
	jumps->used++;
	*jump = (struct jump){
		.from = from,
		.to = to,
		.part = jumps->part,
		.is_used = true,
		.from_memory = at && code_is_memory(jumps->code, at),
		.to_memory = to && code_is_memory(jumps->code, to),
	};
	if (at == from)
		jump->end = (uint8_t)end_of(jumps->code, from, to);
	return jump;
}

static void move_one(struct jumps *jumps, struct straight *straight, struct exact *exact,
		     const struct jump *jump, uint64_t times)
{
	uint64_t at = jump->from & ~LINK_FLOW_FLAGS;
	struct straight_place *place;

	if (at && !jump->from_memory) {
		place = straight_at(straight, exact, jumps->code, at);
		if (jump->from & LINK_FLOW_BREAK)
			place->before += times;
		else
			place->after += times;
		if (jump->from & LINK_FLOW_IDLE)
			place->idle += times;
	}
	if (jump->to && !jump->to_memory)
		straight_at(straight, exact, jumps->code, jump->to)->in += times;
}

void jumps_move(struct jumps *jumps, struct straight *straight, struct exact *exact, bool all)
{
	for (size_t i = 0; i < places(jumps); i++) {
		const struct jump *jump = &jumps->table[i];
		uint64_t times = jump->complete;

		if (!jump->is_used)
			continue;
		if (all || jump->part != jumps->part)
			times += jump->since;
		if (times)
			move_one(jumps, straight, exact, jump, times);
	}
	free(jumps->table);
	make_table(jumps, PLACES_FIRST);
	jumps->used = 0;
}
