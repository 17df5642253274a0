/* SPDX-License-Identifier: MIT */
/*
 * call_frames.c: libdw reads the unwind table and gives, for each instruction, a DWARF expression
 * for the canonical frame address (CFA) and for each register of the caller.  This file computes
 * them (DWARF 5, sections 2.5 and 6.4).
 */
#include "tools/softpmu/symbols/call_frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/base/tool.h"

#define FRAMES_MOST 65536u /* that are kept: each has a few hundred bytes */
#define RBX	    3	   /* by DWARF's numbers */
#define STACK_DEPTH 16u	   /* of an expression */

struct frame {
	uint64_t address;
	Dwarf_Frame *rules; /* NULL: the table does not have it */
};

struct call_frames {
	Dwarf_CFI *table;
	struct frame *frames;
	size_t room;
	struct numbering numbers;
};

struct call_frames *call_frames_open(Elf *elf)
{
	Dwarf_CFI *table = elf ? dwarf_getcfi_elf(elf) : NULL;
	struct call_frames *frames;

	if (!table)
		return NULL;
	frames = tool_alloc(sizeof(*frames));
	frames->table = table;
	return frames;
}

static void forget_frames(struct call_frames *frames)
{
	for (uint32_t i = 0; i < frames->numbers.count; i++)
		free(frames->frames[i].rules);
	numbering_free(&frames->numbers);
	frames->numbers = (struct numbering){0};
}

void call_frames_close(struct call_frames *frames)
{
	if (!frames)
		return;
	forget_frames(frames);
	free(frames->frames);
	dwarf_cfi_end(frames->table);
	free(frames);
}

static bool same_address(const void *frames, uint32_t number, const void *address)
{
	return ((const struct frame *)frames)[number].address == *(const uint64_t *)address;
}

static Dwarf_Frame *find_frame(struct call_frames *frames, uint64_t address)
{
	uint32_t count = frames->numbers.count, number;

	if (count == FRAMES_MOST) {
		forget_frames(frames);
		count = 0;
	}
	number = numbering_find(&frames->numbers, numbering_mix(0, address), same_address,
				frames->frames, &address);
	if (number == count) {
		struct frame frame = {.address = address};

		if (dwarf_cfi_addrframe(frames->table, address, &frame.rules) != 0)
			frame.rules = NULL;
		frames->frames =
			tool_room(frames->frames, &frames->room, count, sizeof(*frames->frames));
		frames->frames[count] = frame;
	}
	return frames->frames[number].rules;
}

bool call_frames_know(struct call_frames *frames, uint64_t address)
{
	return find_frame(frames, address);
}

bool call_frames_read(const struct call_frames_stack *stack, uint64_t address, uint64_t *word)
{
	for (unsigned i = 0; i < 2; i++) {
		uint64_t at = address - stack->part[i].start;
		size_t bytes = stack->part[i].bytes;

		if (bytes < sizeof(*word) || at > bytes - sizeof(*word))
			continue;
		memcpy(word, stack->part[i].copy + at, sizeof(*word));
		return true;
	}
	return false;
}

/* --- expressions -------------------------------------------------------------------------- */

/* What an expression is computed from, and its stack. */
struct machine {
	const struct call_frames_registers *registers;
	const struct call_frames_stack *memory;
	uint64_t cfa, stack[STACK_DEPTH];
	unsigned depth;
};

static bool push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_DEPTH)
		return false;
	m->stack[m->depth++] = value;
	return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	return number < CALL_FRAMES_REGISTERS && m->registers->known >> number & 1 &&
	       push(m, m->registers->value[number] + offset);
}

/* Operations on the two values on top. */
static bool calculate(struct machine *m, unsigned op)
{
	uint64_t a, b;

	if (m->depth < 2)
		return false;
	b = m->stack[--m->depth];
	a = m->stack[--m->depth];
	switch (op) {
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ne:
		return push(m, a != b);
	case DW_OP_ge:
		return push(m, (int64_t)a >= (int64_t)b);
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b);
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b);
	default:
		return false;
	}
}

static bool operate(struct machine *m, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return push_register(m, op->atom - DW_OP_breg0, op->number);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return push(m, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_call_frame_cfa:
		return push(m, m->cfa);
	case DW_OP_addr:
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push(m, op->number);
	case DW_OP_plus_uconst:
		return m->depth && (m->stack[m->depth - 1] += op->number, true);
	case DW_OP_dup:
		return m->depth && push(m, m->stack[m->depth - 1]);
	case DW_OP_drop:
		return m->depth && m->depth--;
	case DW_OP_deref:
		return m->depth &&
		       call_frames_read(m->memory, m->stack[m->depth - 1], &m->stack[m->depth - 1]);
	case DW_OP_stack_value:
		return true;
	default:
		return calculate(m, op->atom);
	}
}

static bool compute(struct machine *m, const Dwarf_Op *ops, size_t count, uint64_t *value)
{
	m->depth = 0;
	for (size_t i = 0; i < count; i++)
		if (!operate(m, &ops[i]))
			return false;
	if (!m->depth)
		return false;
	*value = m->stack[m->depth - 1];
	return true;
}

/* --- callers ------------------------------------------------------------------------------ */

/* Returns whether the expression is only the name of a register. */
static bool is_register(const Dwarf_Op *op, unsigned *number)
{
	*number = op->atom == DW_OP_regx ? (unsigned)op->number : (unsigned)op->atom - DW_OP_reg0;
	return op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31);
}

/* Finds register `number` of the caller.  Returns false if it is not known. */
static bool find_register(struct machine *m, Dwarf_Frame *frame, int number, uint64_t *value)
{
	Dwarf_Op room[3], *ops;
	unsigned same = (unsigned)number;
	size_t count;

	if (dwarf_frame_register(frame, number, room, &ops, &count) != 0)
		return false;
	/* Without a rule, a register that functions keep is the caller's (System V ABI for AMD64,
	 * figure 3.4).  libdw 0.188 says that of RAX, where it means RBX. */
	if (!count && ops && number != RBX)
		return false;
	if (!count || (count == 1 && is_register(ops, &same))) {
		m->depth = 0;
		return push_register(m, same, 0) && (*value = m->stack[0], true);
	}
	if (!compute(m, ops, count, value))
		return false;
	return ops[count - 1].atom == DW_OP_stack_value ||
	       call_frames_read(m->memory, *value, value);
}

bool call_frames_step(struct call_frames *frames, uint64_t address,
		      const struct call_frames_stack *stack,
		      struct call_frames_registers *registers, bool *interrupted)
{
	Dwarf_Frame *frame = find_frame(frames, address);
	struct machine m = {.registers = registers, .memory = stack};
	struct call_frames_registers caller = {.known = 0};
	Dwarf_Op *ops;
	size_t count;

	if (!frame || dwarf_frame_cfa(frame, &ops, &count) != 0 || !compute(&m, ops, count, &m.cfa))
		return false;
	for (int i = 0; i < CALL_FRAMES_REGISTERS; i++)
		if (find_register(&m, frame, i, &caller.value[i]))
			caller.known |= 1u << i;
	dwarf_frame_info(frame, NULL, NULL, interrupted);
	*registers = caller;
	return caller.known >> CALL_FRAMES_RIP & 1 && caller.known >> CALL_FRAMES_RSP & 1;
}
