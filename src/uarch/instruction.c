/* SPDX-License-Identifier: MIT */
/*
 * instruction.c: finds the form of an instruction, and the registers that its encoding names
 * (Intel SDM Vol. 2A, chapter 2).  The instruction is valid, and its length is known.
 */
#include "src/uarch/instruction.h"

#include <string.h>

#include "data/uarch/costs.inc"

#define INSN_BYTES_MAX 15u
#define ROOM	       32u /* an instruction, and what a wrong one might make us read */

/* An instruction while it is being read. */
struct reader {
	uint8_t code[ROOM];
	unsigned at;
	unsigned page;
	bool has_66, repeat_f3, repeat_f2;
	uint8_t w, r, x, b, r2, v, l, broadcast, mask;
};

/* Reads legacy prefixes and REX. */
static void read_prefixes(struct reader *p, struct instruction *to)
{
	for (; p->at < INSN_BYTES_MAX; p->at++) {
		uint8_t byte = p->code[p->at];

		if ((byte & 0xf0) == 0x40) {
			p->w = byte >> 3 & 1;
			p->r = byte >> 2 & 1;
			p->x = byte >> 1 & 1;
			p->b = byte & 1;
			to->has_rex = true;
			continue;
		}
		if (byte == 0x66)
			p->has_66 = true;
		else if (byte == 0xf3 || byte == 0xf2)
			p->repeat_f3 = byte == 0xf3, p->repeat_f2 = byte == 0xf2;
		else if (byte == 0xf0)
			to->lock = true;
		else if (byte != 0x67 && byte != 0x2e && byte != 0x36 && byte != 0x3e &&
			 byte != 0x26 && byte != 0x64 && byte != 0x65)
			return;
	}
}

/* Reads VEX (C4, C5) or EVEX (62). */
static void read_vector_prefix(struct reader *p)
{
	const uint8_t *code = p->code + p->at;
	bool evex = code[0] == 0x62;
	unsigned map = code[1] & (evex ? 7 : 31);

	p->r = !(code[1] & 0x80);
	if (code[0] == 0xc5) {
		p->at += 2;
		p->v = ~code[1] >> 3 & 15;
		p->l = code[1] >> 2 & 1;
		p->page = FORM_PAGE_VEX + (code[1] & 3);
		return;
	}
	p->x = !(code[1] & 0x40);
	p->b = !(code[1] & 0x20);
	p->w = code[2] >> 7;
	p->v = ~code[2] >> 3 & 15;
	p->page = (evex ? FORM_PAGE_EVEX : FORM_PAGE_VEX) + (map - 1) * 4 + (code[2] & 3);
	p->at += evex ? 4 : 3;
	p->l = code[2] >> 2 & 1;
	if (!evex)
		return;
	p->r2 = !(code[1] & 0x10);
	p->l = code[3] >> 5 & 3;
	p->broadcast = code[3] >> 4 & 1;
	p->v |= code[3] & 8 ? 0 : 16;
	p->mask = code[3] & 7;
}

/* Reads the opcode's map.  Afterwards `at` is on the opcode. */
static void read_map(struct reader *p)
{
	unsigned map = 0,
		 prefix = (p->has_66 ? 1u : 0) + (p->repeat_f3 ? 2u : 0) + (p->repeat_f2 ? 4u : 0);
	uint8_t byte = p->code[p->at];

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vector_prefix(p);
		return;
	}
	if (byte == 0x0f) {
		byte = p->code[p->at + 1];
		map = byte == 0x38 ? 2 : byte == 0x3a ? 3 : 1;
		p->at += map == 1 ? 1 : 2;
	}
	p->page = map * FORM_LEGACY_PREFIXES + prefix;
}

/* Reads the registers of ModRM and SIB. */
static void read_modrm(struct reader *p, struct instruction *to)
{
	uint8_t modrm = p->code[p->at++], sib;

	to->reg = (uint8_t)((modrm >> 3 & 7) | p->r << 3 | p->r2 << 4);
	to->rm = (uint8_t)((modrm & 7) | p->b << 3);
	to->memory = modrm < 0xc0;
	if (!to->memory) {
		to->rm |= p->page >= FORM_PAGE_EVEX ? p->x << 4 : 0;
		return;
	}
	to->base = to->rm;
	to->displaced = modrm >= 0x40;
	if ((modrm & 7) == 4) {
		sib = p->code[p->at++];
		to->base = (uint8_t)((sib & 7) | p->b << 3);
		to->index = (uint8_t)((sib >> 3 & 7) | p->x << 3);
		to->scaled = to->index != 4 && sib >= 0x40;
		if (to->index == 4)
			to->index = NO_FIELD;
		if ((sib & 7) == 5 && modrm < 0x40) {
			to->base = NO_FIELD;
			to->displaced = true;
		}
	} else if ((modrm & 0xc7) == 5) {
		to->base = NO_FIELD;
		to->rip_relative = true;
	}
}

static const struct form *find_form(const struct reader *p, const struct form_row *row,
				    const struct instruction *insn)
{
	unsigned variant = 0, class = 0;

	if (row->shape & FORM_BY_W)
		variant = p->w;
	if (row->shape & FORM_BY_L)
		variant = variant * 4 + p->l;
	if (row->shape & FORM_BY_B)
		variant = variant * 2 + p->broadcast;
	if (row->shape & FORM_BY_REG)
		class = insn->reg & 7u;
	if (row->shape & FORM_BY_MOD)
		class += insn->memory ? 0 : row->stride / 2u;
	return &form_list[form_leaves[row->first + variant * row->stride + class]];
}

/* Returns whether the index is a vector: gathers and scatters. */
static bool is_gather(const struct reader *p, uint8_t opcode)
{
	bool evex = p->page == FORM_PAGE_EVEX + 5;

	return (p->page == FORM_PAGE_VEX + 5 || evex) &&
	       ((opcode & 0xfc) == 0x90 || (evex && (opcode & 0xfc) == 0xa0));
}

bool instruction_read(const uint8_t *code, unsigned bytes, struct instruction *to)
{
	struct reader p = {.at = 0};
	const struct form_row *row;
	const struct form *form;

	*to = (struct instruction){.base = NO_FIELD, .index = NO_FIELD};
	memcpy(p.code, code, bytes < INSN_BYTES_MAX ? bytes : INSN_BYTES_MAX);
	read_prefixes(&p, to);
	read_map(&p);
	to->opcode = p.code[p.at++];
	to->opcode_register = (uint8_t)((to->opcode & 7) | p.b << 3);
	to->page = (uint8_t)p.page;
	to->vector_length = p.l;
	to->wide = p.w;
	to->v = p.v;
	to->mask = p.mask;
	to->is4 = bytes ? code[bytes - 1] >> 4 : 0;
	to->operands = &form_operands[0];
	if (p.page >= FORM_PAGES)
		return false;
	row = &form_rows[form_pages[p.page]][to->opcode];
	if (row->shape & FORM_MODRM)
		read_modrm(&p, to);
	form = find_form(&p, row, to);
	to->operands = &form_operands[form->operands];
	to->cost = form->cost;
	to->vector_index = is_gather(&p, to->opcode);
	return form->operands || form->cost;
}
