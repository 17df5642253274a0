/* SPDX-License-Identifier: MIT */
/*
 * decode.c: x86-64 instructions taken apart (Intel SDM Vol. 2A chapter 2 and
 * appendix A; AMD APM Vol. 3 for XOP and 3DNow).
 *
 * Prefixes, ModRM, SIB and displacement are read by hand.  All that depends on
 * the opcode comes from the generated table (decode_table.h).
 *
 * Near branches are decoded as Intel does: a 66H prefix does not shorten their displacement.
 * Undefined encodings, those longer than 15 bytes among them, come back
 * as INSN_UNDEFINED of length 1.
 */
#include <string.h>

#include "hosts/user/decode/decode.h"
#include "hosts/user/decode/decode_table.h"
#include "decode_table.inc"

/* Read without looking at the end; longer than anything parsed before the length check. */
#define PADDED_BYTES 48

/* One instruction while it is taken apart. */
struct parse {
	const uint8_t *code;
	unsigned at; /* bytes looked at so far */
	uint8_t page, modrm;
	uint8_t mandatory; /* F2H, F3H or 0: the last of them */
	bool has_66, has_67, has_lock, has_sib;
	uint8_t w, r, x, b, r2; /* register number extensions, 0 or 1 */
	uint8_t v;		/* 0..31 */
	uint8_t l, broadcast, mask, zero;
	uint8_t index; /* with its extension; of a vector too */
};

enum prefix_class {
	NOT_PREFIX = 0,
	PREFIX_REX,
	PREFIX_IGNORED,
	PREFIX_OPERAND,
	PREFIX_ADDRESS,
	PREFIX_SEGMENT,
	PREFIX_REPEAT,
	PREFIX_LOCK,
};

#define REX16                                                                                      \
	PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX,        \
		PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX, PREFIX_REX,            \
		PREFIX_REX, PREFIX_REX, PREFIX_REX

static const uint8_t prefix_class[256] = {
	[0x26] = PREFIX_IGNORED, [0x2e] = PREFIX_IGNORED, [0x36] = PREFIX_IGNORED,
	[0x3e] = PREFIX_IGNORED, [0x40] = REX16,	  [0x64] = PREFIX_SEGMENT,
	[0x65] = PREFIX_SEGMENT, [0x66] = PREFIX_OPERAND, [0x67] = PREFIX_ADDRESS,
	[0xf0] = PREFIX_LOCK,	 [0xf2] = PREFIX_REPEAT,  [0xf3] = PREFIX_REPEAT,
};

/* -ffreestanding would make these calls. */
#define READ(type, at)                                                                             \
	(__extension__({                                                                           \
		type value_;                                                                       \
		__builtin_memcpy(&value_, at, sizeof value_);                                      \
		value_;                                                                            \
	}))

static inline int64_t read_signed(const uint8_t *at, unsigned bytes)
{
	switch (bytes) {
	case 1:
		return READ(int8_t, at);
	case 2:
		return READ(int16_t, at);
	case 4:
		return READ(int32_t, at);
	default:
		return READ(int64_t, at);
	}
}

/* Copied, because a copy is a few moves where clearing is a slow string instruction. */
static const struct insn blank = {.base = INSN_NO_REG, .index = INSN_NO_REG};

/* Legacy prefixes and REX; false when there are too many. */
static bool parse_prefixes(struct parse *p, struct insn *insn)
{
	unsigned at = 0;
	uint8_t rex = 0;

	for (; at < INSN_BYTES_MAX; at++) {
		uint8_t byte = p->code[at];
		uint8_t class = prefix_class[byte];

		if (class == NOT_PREFIX)
			break;
		if (class == PREFIX_REX) {
			rex = byte;
			continue;
		}
		rex = 0; /* counts only right before the opcode */
		switch (class) {
		case PREFIX_OPERAND:
			p->has_66 = true;
			break;
		case PREFIX_ADDRESS:
			p->has_67 = true;
			break;
		case PREFIX_SEGMENT:
			insn->segment = byte;
			break;
		case PREFIX_REPEAT:
			p->mandatory = byte;
			break;
		case PREFIX_LOCK:
			p->has_lock = true;
			break;
		default:
			break;
		}
	}
	p->at = at;
	insn->prefix_bytes = (uint8_t)(rex ? at - 1 : at);
	if (rex) {
		p->w = rex >> 3 & 1;
		p->r = rex >> 2 & 1;
		p->x = rex >> 1 & 1;
		p->b = rex & 1;
	}
	return at < INSN_BYTES_MAX;
}

/* VEX (C4, C5), EVEX (62) or XOP (8F).  False: undefined. */
static bool parse_vector_prefix(struct parse *p, const struct insn *insn)
{
	const uint8_t *code = p->code + p->at;
	unsigned map;

	/* None of 66H, F2H, F3H, LOCK, REX may stand before it. */
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

/* The opcode's map; leaves `at` on the opcode byte. */
static bool parse_escape(struct parse *p, const struct insn *insn)
{
	const uint8_t *code = p->code + p->at;
	unsigned map = 0;

	if (code[0] == 0x0f) {
		map = code[1] == 0x38 ? 2 : code[1] == 0x3a ? 3 : 1;
		p->at += map == 1 ? 1 : 2;
	} else if (code[0] == 0xc4 || code[0] == 0xc5 || code[0] == 0x62 ||
		   (code[0] == 0x8f && (code[1] & 0x1f) >= 8)) {
		return parse_vector_prefix(p, insn);
	}
	p->page = (uint8_t)(PAGE_LEGACY + map * LEGACY_PREFIXES + (p->has_66 ? PREFIX_66 : 0) +
		  (p->mandatory == 0xf3	  ? PREFIX_F3
		   : p->mandatory == 0xf2 ? PREFIX_F2
					  : 0));
	return true;
}

static const struct decode_prop *find_prop(const struct parse *p, const struct decode_row *row)
{
	unsigned leaf = 0;
	unsigned reg = p->modrm >> 3 & 7;

	if (row->shape & ROW_BY_W)
		leaf = p->w;
	if (row->shape & ROW_BY_L)
		leaf = leaf * 4 + p->l;
	if (row->shape & ROW_BY_B)
		leaf = leaf * 2 + p->broadcast;
	switch (row->shape & ROW_MODRM_MASK) {
	case ROW_MODRM_ANY:
		break;
	case ROW_MODRM_MOD:
		leaf = leaf * 2 + (p->modrm >= 0xc0);
		break;
	case ROW_MODRM_REG:
		leaf = leaf * 8 + reg;
		break;
	case ROW_MODRM_MOD_REG:
		leaf = leaf * 16 + (p->modrm >= 0xc0 ? 8 : 0) + reg;
		break;
	default:
		leaf = leaf * 72 + (p->modrm >= 0xc0 ? 8u + (p->modrm & 63u) : reg);
		break;
	}
	return &decode_props[decode_leaves[row->leaf + leaf]];
}

/* SIB and displacement of a ModRM memory operand. */
static void parse_memory(struct parse *p, const struct decode_prop *prop, struct insn *insn)
{
	unsigned mod = p->modrm >> 6;
	unsigned base = p->modrm & 7;
	unsigned disp_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
	unsigned shift = 0;

	if (base == 4) {
		uint8_t sib = p->code[p->at++];

		p->has_sib = true;
		base = sib & 7;
		p->index = (uint8_t)((sib >> 3 & 7) | p->x << 3);
		if (prop->attr & ATTR_VSIB)
			p->index |= p->v & 16;
		else if (p->index != 4 && !(prop->deny & DENY_NO_SIB))
			insn->index = p->index; /* the stride of a tile is no part of its address */
		insn->scale_shift = sib >> 6;
		if (base == 5 && mod == 0) {
			insn->base = INSN_NO_REG;
			disp_bytes = 4;
		} else {
			insn->base = (uint8_t)(base | p->b << 3);
		}
	} else if (base == 5 && mod == 0) {
		insn->base = 16;
		insn->rip_offset = (uint8_t)p->at;
		insn->rip_address32 = p->has_67;
		disp_bytes = 4;
	} else {
		insn->base = (uint8_t)(base | p->b << 3);
	}
	if (!disp_bytes)
		return;
	if (disp_bytes == 1)
		shift = prop->disp8_shift;
	insn->displacement = read_signed(p->code + p->at, disp_bytes) * (1 << shift);
	p->at += disp_bytes;
}

/* Do the fields hold something that makes this encoding undefined? */
static bool denied(const struct parse *p, const struct decode_prop *prop)
{
	uint32_t deny = prop->deny;
	unsigned reg = (p->modrm >> 3 & 7) | p->r << 3 | p->r2 << 4;
	unsigned rm = (p->modrm & 7) | p->b << 3 | p->x << 4;
	uint32_t is = 0;

	is |= p->has_lock ? DENY_LOCK : 0;
	is |= p->has_67 ? DENY_ADDRESS32 : 0;
	is |= p->r ? DENY_R : 0;
	is |= p->r2 ? DENY_R2 : 0;
	is |= p->v & 15 ? DENY_V : 0;
	is |= p->v & 8 ? DENY_V_HIGH : 0;
	is |= p->v & 16 ? DENY_V2 : 0;
	is |= p->mask ? DENY_MASK : DENY_NO_MASK;
	if (p->zero)
		is |= p->mask ? DENY_Z : DENY_Z_UNMASKED;
	is |= reg == p->v ? DENY_REG_IS_V : 0;
	if (p->modrm >= 0xc0) {
		is |= p->x ? DENY_X : 0;
		is |= p->b ? DENY_B : 0;
		is |= reg == rm ? DENY_REG_IS_RM : 0;
		is |= p->v == rm ? DENY_V_IS_RM : 0;
	} else {
		is |= (p->modrm & 0xc7) == 5 ? DENY_RIP : 0;
		is |= p->has_sib ? 0 : DENY_NO_SIB;
		is |= reg == p->index ? DENY_REG_IS_INDEX : 0;
		is |= p->v == p->index ? DENY_V_IS_INDEX : 0;
	}
	return (is & deny) != 0;
}

/* Which memory operand stands for the instruction, and where it is. */
static void describe_memory(const struct parse *p, const struct decode_prop *prop,
			    struct insn *insn)
{
	bool modrm = insn->modrm_offset && p->modrm < 0xc0;

	insn->memory_kind = prop->memory_kind;
	insn->address32 = p->has_67;
	if (insn->segment == 0x65 && prop->attr & ATTR_SEGMENTED)
		insn->uses_gs = 1;
	if (prop->attr & ATTR_VSIB)
		insn->memory_kind = INSN_MEM_NONE;
	if (!modrm && prop->memory_kind != INSN_MEM_NONE) {
		insn->base = prop->base;
		if (prop->memory_kind == INSN_MEM_STACK)
			insn->displacement = prop->stack;
	}
	/* POP computes the address of its operand after it has moved RSP. */
	if (prop->attr & ATTR_POP_MEMORY && insn->base == 4)
		insn->displacement += prop->stack;
}

/* Immediates, and what depends on their value. */
static void parse_immediate(struct parse *p, const struct decode_prop *prop, uint64_t address,
			    struct insn *insn)
{
	const uint8_t *at = p->code + p->at;

	p->at += prop->immediate_bytes;
	if (prop->attr & ATTR_MOFFS) {
		insn->displacement =
			p->has_67 ? (int64_t)(uint32_t)read_signed(at, 4) : read_signed(at, 8);
		p->at += p->has_67 ? 4 : 8;
	}
	if (prop->attr & ATTR_RELATIVE)
		insn->target = address + p->at + (uint64_t)read_signed(at, prop->immediate_bytes);
	if (prop->attr & ATTR_SHIFT_COUNT && !(*at & (p->w && insn->opcode != 0xc0 ? 63 : 31)))
		insn->flags_written = 0;
	if (prop->kind == INSN_RET || prop->kind == INSN_FAR) {
		if (prop->immediate_bytes == 1)
			insn->immediate = *at;
		else if (prop->immediate_bytes == 2)
			insn->immediate = (uint16_t)read_signed(at, 2);
	}
}

static bool undefined(const struct parse *p, size_t available, struct insn *insn)
{
	if (p->at > available)
		return false; /* the verdict rests on bytes that are not there */
	*insn = blank;
	insn->length = 1;
	insn->kind = INSN_UNDEFINED;
	insn->flags_read = FLAGS_ALL;
	return true;
}

/* The part behind the prefixes.  p->code can be read for PADDED_BYTES or has one prefix at most. */
static bool decode_rest(struct parse *p, size_t available, uint64_t address, struct insn *insn)
{
	const struct decode_row *row;
	const struct decode_prop *prop;

	if (!parse_escape(p, insn)) {
		p->at += 1;
		return undefined(p, available, insn);
	}
	insn->opcode_offset = (uint8_t)p->at;
	insn->opcode = p->code[p->at++];
	row = &decode_rows[decode_pages[p->page]][insn->opcode];
	if (row->shape & ROW_HAS_MODRM) {
		insn->modrm_offset = (uint8_t)p->at;
		p->modrm = p->code[p->at++];
	}
	prop = find_prop(p, row);
	if (prop->kind == INSN_UNDEFINED)
		return undefined(p, available, insn);
	if (prop->attr & ATTR_NO_MEMORY)
		p->modrm |= 0xc0;
	if (row->shape & ROW_HAS_MODRM && p->modrm < 0xc0)
		parse_memory(p, prop, insn);
	if (prop->deny & (p->has_lock ? ~0u : ~DENY_LOCK) && denied(p, prop))
		return undefined(p, available, insn);
	insn->kind = prop->kind;
	insn->flags_read = prop->flags_read;
	insn->flags_written = prop->flags_written;
	insn->signals = prop->signals;
	describe_memory(p, prop, insn);
	if (prop->immediate_bytes || prop->attr & ATTR_MOFFS) {
		if (prop->attr & ATTR_3DNOW &&
		    !(decode_3dnow[p->code[p->at] / 8] >> p->code[p->at] % 8 & 1)) {
			p->at += 1;
			return undefined(p, available, insn);
		}
		parse_immediate(p, prop, address, insn);
	}
	if (prop->attr & ATTR_STRING)
		insn->rep = p->mandatory;
	if (prop->attr & ATTR_NOP_UNLESS_B && p->b)
		insn->signals &= ~SPMU_SIGBIT(NOP);
	if (p->has_lock) {
		insn->lock = 1;
		if (insn->signals & SPMU_SIGBIT(LOADS))
			insn->signals |= SPMU_SIGBIT(LOCK_LOADS);
	}
	if (p->at > INSN_BYTES_MAX) {
		p->at = INSN_BYTES_MAX;
		return undefined(p, available, insn);
	}
	insn->length = (uint8_t)p->at;
	return p->at <= available;
}

bool insn_decode(const uint8_t *code, size_t available, uint64_t address, struct insn *insn)
{
	struct parse p = {.code = code};
	uint8_t padded[PADDED_BYTES];

	*insn = blank;
	/*
	 * With one prefix byte at most nothing is read behind byte 15.  Otherwise, and at
	 * the end of a page, work on a copy with zeros behind it.
	 */
	if (available < INSN_BYTES_MAX || (prefix_class[code[0]] && prefix_class[code[1]])) {
		memset(padded, 0, sizeof padded);
		memcpy(padded, code, available < INSN_BYTES_MAX ? available : INSN_BYTES_MAX);
		p.code = padded;
	}
	if (!parse_prefixes(&p, insn))
		return undefined(&p, available, insn);
	return decode_rest(&p, available, address, insn);
}

uint64_t insn_data_address(const struct insn *insn, uint64_t address, const uint64_t gpr[16],
			   uint64_t fs_base, uint64_t gs_base)
{
	uint64_t at = (uint64_t)insn->displacement;
	bool segmented = true;

	switch (insn->memory_kind) {
	case INSN_MEM_MODRM:
		if (insn->base == 16)
			at += address + insn->length;
		else if (insn->base != INSN_NO_REG)
			at += gpr[insn->base];
		if (insn->index != INSN_NO_REG)
			at += gpr[insn->index] << insn->scale_shift;
		break;
	case INSN_MEM_STACK:
	case INSN_MEM_STACK_TOP:
		return gpr[insn->base] + at; /* 67H has no effect */
	case INSN_MEM_RDI:
		segmented = false; /* always in ES */
		at = gpr[7];
		break;
	case INSN_MEM_RSI:
		at = gpr[6];
		break;
	case INSN_MEM_MOFFS:
		break;
	case INSN_MEM_XLAT:
		at = gpr[3] + (gpr[0] & 0xff);
		break;
	default:
		return 0;
	}
	if (insn->address32)
		at &= UINT32_MAX;
	if (segmented && insn->segment == 0x64)
		at += fs_base;
	if (segmented && insn->segment == 0x65)
		at += gs_base;
	return at;
}
