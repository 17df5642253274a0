/* SPDX-License-Identifier: MIT */
/*
 * decode.c: decodes x86-64 instructions (Intel SDM Vol.  2A chapter 2 and appendix A; AMD APM
 * Vol.  3 for XOP and 3DNow).
 *
 * Code reads prefixes, ModRM, SIB and displacement.  Everything that depends on the opcode comes
 * from the generated table (decode_table.h).  Undefined encodings, including those longer than 15
 * bytes, decode as INSN_UNDEFINED of length 1.
 */
#include <string.h>

#include "hosts/user/decode/decode.h"
#include "hosts/user/decode/decode_table.h"
#include "decode_table.inc"

/*
 * Fields are read without a check for the end.  With few prefixes the last byte read (of an EVEX
 * displacement) is within 15.  Otherwise, and at the end of a page, a copy followed by zeros is
 * decoded.
 */
#define PREFIXES_IN_PLACE 4
#define PADDED_BYTES	  48

/* Decoding is a large part of a translation.  So its parts are inlined where they are used,
 * although decode_again() uses some of them, too. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

bool insn_near_16;

#include "decode_prefixes.h"

/* With -ffreestanding these would become calls. */
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

/* Cleared in two halves.  The compiler would clear a struct of this size with a slow string
 * instruction. */
static inline void clear(struct insn *insn)
{
	__builtin_memset(insn, 0, sizeof *insn / 2);
	__builtin_memset((uint8_t *)insn + sizeof *insn / 2, 0, sizeof *insn - sizeof *insn / 2);
	insn->base = INSN_NO_REG;
	insn->index = INSN_NO_REG;
}

static const struct decode_prop *find_prop(const struct parse *p, const struct decode_row *row)
{
	unsigned variant = 0;

	if (row->shape & (ROW_BY_W | ROW_BY_L | ROW_BY_B)) {
		if (row->shape & ROW_BY_W)
			variant = p->w;
		if (row->shape & ROW_BY_L)
			variant = variant * 4 + p->l;
		if (row->shape & ROW_BY_B)
			variant = variant * 2 + p->broadcast;
	}
	return &decode_props[decode_leaves[row->leaf + variant * row->stride +
					   decode_modrm[row->shape & ROW_MODRM_MASK][p->modrm]]];
}

/* The same for a processor that ignores EVEX.b or W if this opcode does not use it. */
static const struct decode_prop *find_prop_leniently(struct parse *p, const struct decode_row *row)
{
	const struct decode_prop *prop = find_prop(p, row);

	if (prop->kind == INSN_UNDEFINED) {
		p->broadcast = 0;
		prop = find_prop(p, row);
	}
	if (prop->kind == INSN_UNDEFINED && p->page >= PAGE_VEX) {
		p->w ^= 1;
		prop = find_prop(p, row);
	}
	return prop;
}

/* Reads SIB and displacement of a ModRM memory operand. */
static void parse_memory(struct parse *p, const struct decode_prop *prop, struct insn *insn)
{
	unsigned mod = p->modrm >> 6;
	unsigned base = p->modrm & 7;
	unsigned disp_bytes = mod == 2 ? 4 : mod;
	int64_t disp8, disp32;

	insn->base = (uint8_t)(base | p->b << 3);
	if (base == 4) {
		uint8_t sib = p->code[p->at++];

		p->has_sib = true;
		base = sib & 7;
		p->index = (uint8_t)((sib >> 3 & 7) | p->x << 3);
		if (prop->attr & ATTR_VSIB)
			p->index |= p->v & 16;
		else if (p->index != 4 && !(prop->deny & DENY_NO_SIB))
			insn->index =
				p->index; /* the stride of a tile is not part of its address */
		insn->scale_shift = sib >> 6;
		insn->base = (uint8_t)(base | p->b << 3);
		if (base == 5 && mod == 0) {
			insn->base = INSN_NO_REG;
			disp_bytes = 4;
		}
	} else if (base == 5 && mod == 0) {
		insn->base = 16;
		insn->rip_offset = (uint8_t)p->at;
		insn->rip_address32 = p->has_67;
		disp_bytes = 4;
	}
	/* Both are read and the right one is used.  That is cheaper than an unpredictable
	 * branch. */
	disp8 = (int64_t)READ(int8_t, p->code + p->at) * (1 << prop->disp8_shift);
	disp32 = READ(int32_t, p->code + p->at);
	disp32 = disp_bytes ? disp32 : 0;
	insn->displacement = disp_bytes == 1 ? disp8 : disp32;
	p->at += disp_bytes;
}

/* Returns whether the fields have values that make this encoding undefined. */
static bool denied(const struct parse *p, const struct decode_prop *prop)
{
	uint32_t deny = prop->deny;
	unsigned reg = (p->modrm >> 3 & 7) | p->r << 3 | p->r2 << 4;
	bool evex = p->page >= PAGE_EVEX && p->page < PAGE_XOP;
	unsigned rm = (p->modrm & 7) | p->b << 3 | (evex ? p->x << 4 : 0);
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

/* Applies what depends on the immediate.  Returns false if the encoding is undefined. */
static bool apply_immediate(struct parse *p, const struct decode_prop *prop, uint64_t address,
			    struct insn *insn)
{
	const uint8_t *at = p->code + p->at - prop->immediate_bytes;

	if (prop->attr & ATTR_RELATIVE)
		insn->target = address + p->at + (uint64_t)read_signed(at, prop->immediate_bytes);
	if (prop->attr & ATTR_SHIFT_COUNT && !(*at & (p->w && insn->opcode != 0xc0 ? 63 : 31)))
		insn->flags_written = 0;
	if (prop->attr & ATTR_VALUE)
		insn->immediate = prop->immediate_bytes == 1 ? *at : (uint16_t)read_signed(at, 2);
	if (prop->attr & ATTR_MOFFS) {
		insn->displacement = p->has_67 ? (int64_t)READ(uint32_t, at) : READ(int64_t, at);
		p->at += p->has_67 ? 4 : 8;
	}
	return !(prop->attr & ATTR_3DNOW) || decode_3dnow[*at / 8] >> *at % 8 & 1;
}

/* Gives a near branch a 16-bit operand size. */
static void narrow(struct parse *p, const struct decode_prop *prop, uint64_t address,
		   struct insn *insn)
{
	bool wide = prop->immediate_bytes == 4; /* or 1 */
	int64_t distance;

	insn->near_16 = prop->kind >= INSN_CALL_REL;
	if (insn->memory_kind == INSN_MEM_STACK)
		insn->displacement = -2;
	if (!(prop->attr & ATTR_RELATIVE))
		return;
	distance = read_signed(p->code + p->at - prop->immediate_bytes, wide ? 2 : 1);
	p->at -= wide ? 2 : 0;
	insn->target = (uint16_t)(address + p->at + (uint64_t)distance);
}

/* Applies attributes that few instructions have. */
static void apply_rare(struct parse *p, const struct decode_prop *prop, uint64_t address,
		       struct insn *insn)
{
	if (prop->attr & ATTR_NEAR_66 && insn_near_16 && !p->w)
		narrow(p, prop, address, insn);
	if (prop->attr & ATTR_STRING)
		insn->rep = p->mandatory;
	if (prop->attr & ATTR_NOP_UNLESS_B && p->b)
		insn->signals &= ~SPMU_SIGBIT(NOP);
	/* POP computes the address of its operand after it has moved RSP. */
	if (prop->attr & ATTR_POP_MEMORY && insn->base == 4)
		insn->displacement += prop->pop_bytes;
	if (p->has_lock) {
		insn->lock = 1;
		if (insn->signals & SPMU_SIGBIT(LOADS))
			insn->signals |= SPMU_SIGBIT(LOCK_LOADS);
	}
}

static bool undefined(const struct parse *p, size_t available, struct insn *insn)
{
	if (p->at > available && available < INSN_BYTES_MAX)
		return false; /* the result depends on bytes that are missing */
	clear(insn);
	insn->length = 1;
	insn->kind = INSN_UNDEFINED;
	insn->flags_read = FLAGS_ALL;
	return true;
}

static const uint8_t *pad(uint8_t padded[PADDED_BYTES], const uint8_t *code, size_t bytes)
{
	memset(padded, 0, PADDED_BYTES);
	memcpy(padded, code, bytes);
	return padded;
}

/* Decodes the part after the prefixes. */
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
	prop = p->lenient ? find_prop_leniently(p, row) : find_prop(p, row);
	if (prop->kind == INSN_UNDEFINED)
		return undefined(p, available, insn);
	insn->kind = prop->kind;
	insn->flags_read = prop->flags_read;
	insn->flags_written = prop->flags_written;
	insn->signals = prop->signals;
	insn->memory_kind = prop->memory_kind;
	insn->base = prop->base;
	insn->displacement = prop->displacement;
	insn->address32 = p->has_67;
	insn->uses_gs = insn->segment == 0x65 && prop->attr & ATTR_SEGMENTED;
	if (prop->attr & ATTR_NO_MEMORY)
		p->modrm |= 0xc0;
	if (row->shape & ROW_HAS_MODRM && p->modrm < 0xc0)
		parse_memory(p, prop, insn);
	if (prop->deny & (p->has_lock ? ~0u : ~DENY_LOCK) && !p->lenient && denied(p, prop))
		return undefined(p, available, insn);
	p->at += prop->immediate_bytes;
	if (prop->attr & ATTR_BY_IMMEDIATE && !apply_immediate(p, prop, address, insn))
		return undefined(p, available, insn);
	if (prop->attr & ATTR_RARE || p->has_lock)
		apply_rare(p, prop, address, insn);
	if (p->at > INSN_BYTES_MAX) {
		p->at = INSN_BYTES_MAX;
		return undefined(p, available, insn);
	}
	insn->length = (uint8_t)p->at;
	return p->at <= available;
}

/* Reads the prefixes, if there are any.  Returns false if there are too many. */
static ALWAYS_INLINE bool parse_start(struct parse *p, struct insn *insn)
{
	if (byte_class[p->code[0]] != BYTE_REX || is_prefix(p->code[1]))
		return parse_prefixes(p, insn);
	p->at = 1;
	set_rex(p, p->code[0]);
	return true;
}

static bool decode(const uint8_t *code, size_t available, uint64_t address, bool lenient,
		   struct insn *insn)
{
	struct parse p = {.code = code, .lenient = lenient};
	uint8_t padded[PADDED_BYTES];

	clear(insn);
	if (available < INSN_BYTES_MAX)
		p.code = pad(padded, code, available);
	if (!parse_start(&p, insn))
		return undefined(&p, available, insn);
	if (p.at > PREFIXES_IN_PLACE && available >= INSN_BYTES_MAX)
		p.code = pad(padded, code, INSN_BYTES_MAX);
	return decode_rest(&p, available, address, insn);
}

bool insn_decode(const uint8_t *code, size_t available, uint64_t address, struct insn *insn)
{
	return decode(code, available, address, false, insn);
}

bool insn_decode_leniently(const uint8_t *code, size_t available, uint64_t address,
			   struct insn *insn)
{
	return decode(code, available, address, true, insn);
}

struct decode_fields decode_again(const uint8_t *code, const struct insn *insn)
{
	uint8_t padded[PADDED_BYTES];
	struct parse p = {.code = pad(padded, code, insn->length)};
	struct decode_fields fields = {0};
	struct insn again;
	const struct decode_row *row;

	clear(&again);
	if (insn->kind == INSN_UNDEFINED || !parse_start(&p, &again) || !parse_escape(&p, &again))
		return fields;
	row = &decode_rows[decode_pages[p.page]][p.code[p.at]];
	if (row->shape & ROW_HAS_MODRM)
		p.modrm = p.code[p.at + 1];
	fields = (struct decode_fields){
		.accesses = &decode_accesses[find_prop(&p, row)->accesses],
		.variant = ACCESS_VARIANT(p.w, p.l, p.broadcast),
		.evex = p.page >= PAGE_EVEX && p.page < PAGE_XOP,
		.vex = p.page >= PAGE_VEX,
		.has_66 = p.has_66,
		.registers_only = p.modrm >= 0xc0,
		.mask = p.mask,
		.v = p.v,
		.rm = (uint8_t)((p.modrm & 7) | p.b << 3),
		.index = (uint8_t)((p.code[p.at + 2] >> 3 & 7) | p.x << 3),
	};
	return fields;
}
