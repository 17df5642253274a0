/* SPDX-License-Identifier: MIT */
/*
 * generate_probe.h: the bytes of an encoding, and the values that its fields may not have.  Part
 * of generate.c, which is built as one file.
 *
 * Forbidden values (vvvv in use, a mask, equal registers, LOCK) are not looked up.  Each is
 * tried, one change at a time, on a valid encoding.
 */
#ifndef SOFTPMU_GENERATE_PROBE_H
#define SOFTPMU_GENERATE_PROBE_H

#include <stdbool.h>
#include <string.h>
#include <Zydis/Zydis.h>

#include "decode_table.h"

static ZydisDecoder decoder;

/* An opcode in its encoding space. */
struct place {
	enum { SPACE_LEGACY, SPACE_VEX, SPACE_EVEX, SPACE_XOP } space;
	unsigned map, prefix; /* prefix: PREFIX_ bits, or pp */
	uint8_t opcode;
};

/* The fields around the opcode.  Register numbers are not inverted. */
struct trial {
	unsigned w, l, b; /* b: EVEX.b */
	unsigned mod, reg, rm;
	unsigned ext_r, ext_x, ext_b, ext_r2;
	unsigned v; /* 0..31 */
	unsigned mask, zero;
	bool sib;
	unsigned index;
	bool lock, address32;
};

static inline unsigned put_vector_prefix(const struct place *p, const struct trial *t, uint8_t *out)
{
	unsigned inverted = (!t->ext_r) << 7 | (!t->ext_x) << 6 | (!t->ext_b) << 5;

	if (p->space == SPACE_EVEX) {
		out[0] = 0x62;
		out[1] = (uint8_t)(inverted | (!t->ext_r2) << 4 | p->map);
		out[2] = (uint8_t)(t->w << 7 | (~t->v & 15) << 3 | 4 | p->prefix);
		out[3] = (uint8_t)(t->zero << 7 | t->l << 5 | t->b << 4 | (t->v < 16) << 3 |
				   t->mask);
		return 4;
	}
	out[0] = p->space == SPACE_VEX ? 0xc4 : 0x8f;
	out[1] = (uint8_t)(inverted | p->map);
	out[2] = (uint8_t)(t->w << 7 | (~t->v & 15) << 3 | t->l << 2 | p->prefix);
	return 3;
}

static inline unsigned put_legacy_prefix(const struct place *p, const struct trial *t, uint8_t *out)
{
	unsigned n = 0;
	unsigned rex = t->w << 3 | t->ext_r << 2 | t->ext_x << 1 | t->ext_b;

	if (p->prefix & PREFIX_66)
		out[n++] = 0x66;
	if (p->prefix & PREFIX_F3)
		out[n++] = 0xf3;
	if (p->prefix & PREFIX_F2)
		out[n++] = 0xf2;
	if (rex)
		out[n++] = (uint8_t)(0x40 | rex);
	if (p->map)
		out[n++] = 0x0f;
	if (p->map == 2)
		out[n++] = 0x38;
	if (p->map == 3)
		out[n++] = 0x3a;
	return n;
}

/* Writes the bytes of a trial, followed by operand bytes.  Returns the offset of ModRM. */
static inline unsigned assemble(const struct place *p, const struct trial *t, uint8_t out[32])
{
	unsigned n = 0;
	unsigned modrm;

	/* 9EH is a valid suffix of the 3DNow opcode, and valid as any other operand byte. */
	memset(out, p->space == SPACE_LEGACY && p->map == 1 && p->opcode == 0x0f ? 0x9e : 0, 32);
	if (t->lock)
		out[n++] = 0xf0;
	if (t->address32)
		out[n++] = 0x67;
	n += p->space == SPACE_LEGACY ? put_legacy_prefix(p, t, out + n)
				      : put_vector_prefix(p, t, out + n);
	out[n++] = p->opcode;
	modrm = n;
	out[n++] = (uint8_t)(t->mod << 6 | t->reg << 3 | (t->sib ? 4 : t->rm));
	if (t->sib)
		out[n++] = (uint8_t)(t->index << 3);
	if (t->mod == 1)
		out[n] = 1; /* shows the scale of the displacement */
	return modrm;
}

static inline bool valid(const struct place *p, const struct trial *t)
{
	ZydisDecodedInstruction insn;
	ZydisDecoderContext context;
	uint8_t bytes[32];

	assemble(p, t, bytes);
	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context, bytes, 15, &insn));
}

/* Returns a register number 0..7, not 4, that differs from the others. */
static inline unsigned other(unsigned a, unsigned b, unsigned c)
{
	for (unsigned i = 0;; i++)
		if (i != 4 && i != a && i != b && i != c)
			return i;
}

/* Makes the trial valid, if a use of vvvv, SIB and mask does so.  Returns false if it is
 * undefined. */
static inline bool make_valid(const struct place *p, struct trial *t)
{
	bool vector = p->space != SPACE_LEGACY;
	unsigned sibs = t->mod == 3 ? 1 : 2;
	unsigned masks = p->space == SPACE_EVEX ? 2 : 1;

	for (unsigned sib = 0; sib < sibs; sib++) {
		for (unsigned mask = 0; mask < masks; mask++) {
			for (unsigned use_v = 0; use_v < (vector ? 2u : 1u); use_v++) {
				t->mask = mask;
				t->sib = sib;
				t->v = use_v ? other(t->reg, t->rm, 0) : 0;
				t->index = sib ? other(t->reg, t->v, t->rm) : 0;
				if (valid(p, t))
					return true;
			}
		}
	}
	return false;
}

/* Tries one changed field, and evaluates to whether the encoding is then invalid. */
#define DENIES(p, good, field, value)                                                              \
	(__extension__({                                                                           \
		struct trial changed_ = *(good);                                                   \
		changed_.field = (value);                                                          \
		!valid(p, &changed_);                                                              \
	}))

static inline uint32_t deny_vector(const struct place *p, const struct trial *t)
{
	uint32_t deny = 0;

	if (t->v == 0 && DENIES(p, t, v, other(t->reg, t->rm, t->sib ? t->index : 0)))
		deny |= DENY_V;
	if (!(deny & DENY_V)) {
		if (DENIES(p, t, v, other(t->reg, t->rm, t->sib ? t->index : 0) + 8))
			deny |= DENY_V_HIGH;
		if (DENIES(p, t, v, t->reg))
			deny |= DENY_REG_IS_V;
		if (t->mod == 3 && t->rm != t->reg && DENIES(p, t, v, t->rm))
			deny |= DENY_V_IS_RM;
	}
	if (t->sib && DENIES(p, t, index, t->reg))
		deny |= DENY_REG_IS_INDEX;
	if (t->sib && !(deny & DENY_V) && DENIES(p, t, index, t->v))
		deny |= DENY_V_IS_INDEX;
	if (p->space != SPACE_EVEX)
		return deny;
	if (t->mod == 3 && DENIES(p, t, ext_x, 1))
		deny |= DENY_X;
	if (DENIES(p, t, ext_r2, 1))
		deny |= DENY_R2;
	if (DENIES(p, t, v, t->v | 16))
		deny |= DENY_V2;
	if (t->mod == 3 && DENIES(p, t, rm, t->reg))
		deny |= DENY_REG_IS_RM;
	if (t->mask)
		deny |= DENY_NO_MASK;
	else if (DENIES(p, t, mask, 1))
		deny |= DENY_MASK;
	if (!t->mask && DENIES(p, t, zero, 1))
		deny |= DENY_Z_UNMASKED;
	if (!(deny & DENY_MASK)) {
		struct trial masked = *t;

		masked.mask = 1;
		if (DENIES(p, &masked, zero, 1))
			deny |= DENY_Z;
	}
	return deny;
}

static inline uint32_t deny_bits(const struct place *p, const struct trial *t, bool has_modrm)
{
	uint32_t deny = 0;

	if (p->space != SPACE_LEGACY)
		deny |= deny_vector(p, t);
	else if (DENIES(p, t, lock, true))
		deny |= DENY_LOCK;
	if (DENIES(p, t, address32, true))
		deny |= DENY_ADDRESS32;
	if (!has_modrm)
		return deny;
	if (DENIES(p, t, ext_r, 1))
		deny |= DENY_R;
	if (t->mod == 3) {
		if (DENIES(p, t, ext_b, 1))
			deny |= DENY_B;
	} else if (t->sib) {
		deny |= DENY_NO_SIB;
	} else {
		struct trial rip = *t;

		rip.mod = 0;
		rip.rm = 5;
		if (!valid(p, &rip))
			deny |= DENY_RIP;
	}
	return deny;
}

#endif
