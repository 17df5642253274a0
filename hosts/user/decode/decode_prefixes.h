/* SPDX-License-Identifier: MIT */
/*
 * decode_prefixes.h: reads the prefixes of an instruction up to its opcode, VEX, EVEX and XOP among
 * them.  Part of decode.c, which is built as one file.
 */
#ifndef SOFTPMU_DECODE_PREFIXES_H
#define SOFTPMU_DECODE_PREFIXES_H

#include "decode.h"
#include "decode_table.h"

/* An instruction while it is being decoded. */
struct parse {
	const uint8_t *code;
	unsigned at; /* bytes read so far */
	uint8_t page, modrm;
	uint8_t mandatory; /* F2H, F3H or 0: the last of them */
	bool has_66, has_67, has_lock, has_sib;
	bool lenient;		/* fields that an encoding does not use may have any value */
	uint8_t w, r, x, b, r2; /* register number extensions, 0 or 1 */
	uint8_t v;		/* 0..31 */
	uint8_t l, broadcast, mask, zero;
	uint8_t index; /* with its extension; also of a vector */
};

/* The class of a byte before the opcode is known. */
enum byte_class {
	BYTE_OPCODE = 0,
	BYTE_REX,
	BYTE_IGNORED,
	BYTE_OPERAND,
	BYTE_ADDRESS,
	BYTE_SEGMENT,
	BYTE_REPEAT,
	BYTE_LOCK,
	BYTE_LAST_PREFIX = BYTE_LOCK,
	BYTE_ESCAPE,
	BYTE_VECTOR, /* VEX, EVEX; XOP or POP */
};

#define REX4  BYTE_REX, BYTE_REX, BYTE_REX, BYTE_REX
#define REX16 REX4, REX4, REX4, REX4

static const uint8_t byte_class[256] = {
	[0x0f] = BYTE_ESCAPE,  [0x26] = BYTE_IGNORED, [0x2e] = BYTE_IGNORED, [0x36] = BYTE_IGNORED,
	[0x3e] = BYTE_IGNORED, [0x40] = REX16,	      [0x62] = BYTE_VECTOR,  [0x64] = BYTE_SEGMENT,
	[0x65] = BYTE_SEGMENT, [0x66] = BYTE_OPERAND, [0x67] = BYTE_ADDRESS, [0x8f] = BYTE_VECTOR,
	[0xc4] = BYTE_VECTOR,  [0xc5] = BYTE_VECTOR,  [0xf0] = BYTE_LOCK,    [0xf2] = BYTE_REPEAT,
	[0xf3] = BYTE_REPEAT,
};

static inline bool is_prefix(uint8_t byte)
{
	return (uint8_t)(byte_class[byte] - 1) < BYTE_LAST_PREFIX;
}

static inline void set_rex(struct parse *p, uint8_t rex)
{
	p->w = rex >> 3 & 1;
	p->r = rex >> 2 & 1;
	p->x = rex >> 1 & 1;
	p->b = rex & 1;
}

/* Reads legacy prefixes and REX.  Returns false if there are too many. */
static bool parse_prefixes(struct parse *p, struct insn *insn)
{
	unsigned at = 0;
	uint8_t rex = 0;

	for (; at < INSN_BYTES_MAX && is_prefix(p->code[at]); at++) {
		uint8_t byte = p->code[at];

		rex = 0; /* only valid directly before the opcode */
		switch (byte_class[byte]) {
		case BYTE_REX:
			rex = byte;
			break;
		case BYTE_OPERAND:
			p->has_66 = true;
			break;
		case BYTE_ADDRESS:
			p->has_67 = true;
			break;
		case BYTE_SEGMENT:
			insn->segment = byte;
			break;
		case BYTE_REPEAT:
			p->mandatory = byte;
			break;
		case BYTE_LOCK:
			p->has_lock = true;
			break;
		default:
			break;
		}
	}
	p->at = at;
	insn->prefix_bytes = (uint8_t)(rex ? at - 1 : at);
	set_rex(p, rex);
	return at < INSN_BYTES_MAX;
}

/* Reads VEX (C4, C5), EVEX (62) or XOP (8F).  Returns false if it is undefined. */
static bool parse_vector_prefix(struct parse *p, const struct insn *insn)
{
	const uint8_t *code = p->code + p->at;
	unsigned map;

	/* 66H, F2H, F3H, LOCK and REX are invalid before it. */
	if (p->has_66 || p->mandatory || p->has_lock || insn->prefix_bytes != p->at)
		return false;
	p->r = !(code[1] & 0x80);
	if (code[0] == 0xc5) {
		p->at += 2;
		p->v = ~code[1] >> 3 & 15;
		p->l = code[1] >> 2 & 1;
		p->page = (uint8_t)(PAGE_VEX + (code[1] & 3));
		return true;
	}
	p->x = !(code[1] & 0x40);
	p->b = !(code[1] & 0x20);
	p->w = code[2] >> 7;
	p->v = ~code[2] >> 3 & 15;
	p->at += 3;
	if (code[0] == 0x62) {
		p->at += 1;
		map = code[1] & 15;
		if (map < 1 || map > EVEX_MAPS || !(code[2] & 4))
			return false;
		p->r2 = !(code[1] & 0x10);
		p->zero = code[3] >> 7;
		p->l = code[3] >> 5 & 3;
		p->broadcast = code[3] >> 4 & 1;
		p->v |= code[3] & 8 ? 0 : 16;
		p->mask = code[3] & 7;
		p->page = (uint8_t)(PAGE_EVEX + (map - 1) * 4 + (code[2] & 3));
		return true;
	}
	p->l = code[2] >> 2 & 1;
	map = code[1] & 31;
	if (code[0] == 0xc4) {
		p->page = (uint8_t)(PAGE_VEX + (map - 1) * 4 + (code[2] & 3));
		return map >= 1 && map <= VEX_MAPS;
	}
	p->page = (uint8_t)(PAGE_XOP + (map - 8) * 4 + (code[2] & 3));
	return map >= 8 && map < 8 + XOP_MAPS;
}

/* Reads the opcode's map.  Afterwards `at` is on the opcode byte. */
static ALWAYS_INLINE bool parse_escape(struct parse *p, const struct insn *insn)
{
	const uint8_t *code = p->code + p->at;
	uint8_t class = byte_class[code[0]];
	unsigned map = 0;

	if (class == BYTE_ESCAPE) {
		map = code[1] == 0x38 ? 2 : code[1] == 0x3a ? 3 : 1;
		p->at += map == 1 ? 1 : 2;
	} else if (class == BYTE_VECTOR && (code[0] != 0x8f || (code[1] & 0x1f) >= 8)) {
		return parse_vector_prefix(p, insn);
	}
	p->page = (uint8_t)(PAGE_LEGACY + map * LEGACY_PREFIXES + (p->has_66 ? PREFIX_66 : 0) +
			    (p->mandatory == 0xf3 ? PREFIX_F3 : 0) +
			    (p->mandatory == 0xf2 ? PREFIX_F2 : 0));
	return true;
}

#endif
