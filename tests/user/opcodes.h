/* SPDX-License-Identifier: MIT */
/*
 * opcodes.h: which bytes a form of opcodes.c has, and which forms are left out (opcodes.md).
 * Opcodes are named by their maps in the manual (Vol. 2D, appendix A; AMD's APM Vol. 3).
 */
#ifndef SOFTPMU_TESTS_OPCODES_H
#define SOFTPMU_TESTS_OPCODES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SCRATCH_AT     UINT64_C(0x51000000)
#define SCRATCH_BYTES  12288u
#define STACK_AT       (SCRATCH_AT + 10240)
#define ALIGNED_STATES 13u /* states in which pointers are aligned */

uint64_t draw(void); /* a random number */

struct form {
	uint8_t byte[24];
	unsigned bytes, state;
	bool touches_gs, excluded;
};

enum space { LEGACY, VEX2, VEX3, EVEX, XOP, NOW3D };

/* In turn: the opcode maps, the larger ones of them several times. */
static const struct {
	enum space space;
	unsigned map;
} spaces[] = {
	{LEGACY, 0}, {LEGACY, 0}, {LEGACY, 0}, {LEGACY, 1}, {LEGACY, 1}, {LEGACY, 1}, {LEGACY, 2},
	{LEGACY, 3}, {VEX2, 1},	  {VEX3, 1},   {VEX3, 2},   {VEX3, 3},	 {VEX3, 99},  {EVEX, 1},
	{EVEX, 2},   {EVEX, 3},	  {EVEX, 4},   {EVEX, 5},   {EVEX, 6},	 {EVEX, 99},  {XOP, 8},
	{XOP, 9},    {XOP, 10},	  {XOP, 99},   {NOW3D, 0},
};
#define SPACES (sizeof(spaces) / sizeof(spaces[0]))

static inline void put(struct form *f, unsigned byte)
{
	f->byte[f->bytes++] = (uint8_t)byte;
}

static inline bool is_legacy_prefix(unsigned byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
	       byte == 0x65 || byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
	       byte == 0xf3;
}

/* Opcodes of the first two maps without ModRM, a bit for each. */
static inline bool has_modrm(unsigned map, unsigned opcode)
{
	if (map > 1)
		return true;
	if (map == 1)
		return !((opcode >= 0x05 && opcode <= 0x0c && opcode != 0x0a) || opcode == 0x0e ||
			 (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
			 (opcode >> 4 == 8) || (opcode >= 0xc8 && opcode <= 0xcf) ||
			 ((opcode >> 4 == 10) && ((opcode & 7) <= 2) && opcode != 0xa3));
	if (opcode < 0x40)
		return (opcode & 7) < 4;
	return opcode == 0x62 || opcode == 0x63 || opcode == 0x69 || opcode == 0x6b ||
	       opcode >> 4 == 8 || (opcode & 0xfe) == 0xc0 || (opcode & 0xfe) == 0xc6 ||
	       (opcode & 0xfc) == 0xd0 || opcode >> 3 == 0xd8 >> 3 || (opcode & 0xfe) == 0xf6 ||
	       (opcode & 0xfe) == 0xfe;
}

/* Writes a ModRM byte with its SIB byte and a small displacement. */
static inline unsigned put_modrm(struct form *f, bool memory)
{
	unsigned modrm = draw() & 255, mod, rm = modrm & 7;
	uint32_t displacement = (uint32_t)(draw() % 512) - 256u;
	unsigned sib = draw() & 255;

	if (memory && modrm >= 0xc0)
		modrm &= 0x3f | (unsigned)(draw() & 0x80);
	mod = modrm >> 6;
	if (f->state < ALIGNED_STATES)
		displacement &= ~63u;
	put(f, modrm);
	if (mod == 3)
		return modrm;
	if (rm == 4)
		put(f, sib);
	if (mod == 0 && rm == 5) /* RIP-relative: in reach from one of the addresses of code */
		displacement = (uint32_t)(SCRATCH_AT + 4096 - 0x40000000 + displacement);
	if (mod == 1)
		put(f, displacement);
	else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5)))) {
		if (mod == 0 && rm == 4)
			displacement += (uint32_t)SCRATCH_AT + 4096;
		for (unsigned i = 0; i < 4; i++)
			put(f, displacement >> 8 * i);
	}
	return modrm;
}

/* Writes a short forward displacement for branches: into the NOPs. */
static inline void put_distance(struct form *f, unsigned map, unsigned opcode)
{
	unsigned distance = (unsigned)(draw() % 12);

	if (map == 0 && (opcode >> 4 == 7 || (opcode & 0xfc) == 0xe0 || opcode == 0xeb))
		put(f, distance);
	if ((map == 0 && (opcode & 0xfe) == 0xe8) || (map == 1 && opcode >> 4 == 8))
		for (unsigned i = 0; i < 4; i++)
			put(f, i ? 0 : distance);
	if (map == 0 && opcode == 0xcd)
		put(f, (unsigned)draw());
}

static inline void put_prefixes(struct form *f)
{
	static const uint8_t prefix[] = {0x66, 0xf2, 0xf3, 0x66, 0xf0,
					 0x64, 0x65, 0x67, 0x2e, 0x26};
	unsigned n = draw() % 2 ? (unsigned)(draw() % 4) : 0;

	while (n--)
		put(f, prefix[draw() % sizeof(prefix)]);
	if (draw() % 3 == 0)
		put(f, 0x40 | (draw() & 15));
}

static inline void put_vector_prefix(struct form *f, enum space space, unsigned map)
{
	unsigned a = draw() & 255, b = draw() & 255, c = draw() & 255;

	if (draw() % 2) /* vvvv mostly has to be unused, and the extensions are few */
		b |= 0x78;
	if (draw() % 8 == 0)
		put(f, draw() % 2 ? 0x67 : 0x64);
	switch (space) {
	case VEX2:
		put(f, 0xc5);
		put(f, b);
		return;
	case EVEX:
		map = map == 99 ? draw() & 7 : map;
		put(f, 0x62);
		put(f, (a & 0xf0) | map | (draw() % 32 ? 0 : 8));
		put(f, b | (draw() % 32 ? 4 : 0));
		put(f, draw() % 2 ? c | 8 : (c & 0x70) | 8);
		return;
	default:
		if (map == 99) /* 8FH with a lower one is POP */
			map = (unsigned)(space == XOP ? 8 + draw() % 24 : draw() % 32);
		put(f, space == XOP ? 0x8f : 0xc4);
		put(f, (a & 0xe0) | map);
		put(f, b);
	}
}

/* --- what is left out --- */

/* Of the map of one byte. */
static inline bool is_excluded_one_byte(unsigned opcode, unsigned modrm)
{
	unsigned reg = modrm >> 3 & 7;

	switch (opcode) {
	case 0xd9: /* FNSTENV */
	case 0xdd: /* FNSAVE */
		return reg == 6 && modrm < 0xc0;
	case 0xc6: /* XABORT, XBEGIN */
	case 0xc7:
		return modrm == 0xf8;
	default:
		return false;
	}
}

/* Of group 15 and group 9. */
static inline bool is_excluded_state(unsigned opcode, unsigned modrm)
{
	unsigned reg = modrm >> 3 & 7;
	bool memory = modrm < 0xc0;

	if (opcode == 0xae) /* FXSAVE, XSAVE, XRSTOR, XSAVEOPT; TPAUSE, UMONITOR, UMWAIT */
		return memory ? reg == 0 || reg == 4 || reg == 5 || reg == 6 : reg == 6;
	/* XRSTORS, XSAVEC, XSAVES; RDRAND, RDSEED, RDPID */
	return memory ? reg >= 3 && reg <= 5 : reg >= 6;
}

static inline bool is_excluded_two_byte(unsigned opcode, unsigned modrm)
{
	unsigned reg = modrm >> 3 & 7;

	switch (opcode) {
	case 0x00: /* SLDT, STR */
		return reg <= 1;
	case 0x01: /* SGDT, SIDT, SMSW; calls of a hypervisor, MONITORX, MWAITX, RDTSCP, RDPRU,
		    * XGETBV, WRPKRU */
		if (modrm < 0xc0)
			return reg == 0 || reg == 1 || reg == 4;
		return reg == 4 || modrm == 0xc1 || modrm == 0xd9 || modrm >= 0xf8 ||
		       modrm == 0xd0 || modrm == 0xef;
	case 0x03: /* LSL */
	case 0x05: /* SYSCALL */
	case 0x31: /* RDTSC */
	case 0x33: /* RDPMC */
	case 0x34: /* SYSENTER */
	case 0xa2: /* CPUID */
		return true;
	case 0xae:
	case 0xc7:
		return is_excluded_state(opcode, modrm);
	default:
		return false;
	}
}

static inline bool is_excluded(const struct form *f, unsigned map, unsigned opcode, unsigned modrm,
			       unsigned at)
{
	if (map == 0 && opcode == 0xcd && f->byte[at + 1] == 0x80)
		return true;
	if (map == 0)
		return is_excluded_one_byte(opcode, modrm);
	return map == 1 && is_excluded_two_byte(opcode, modrm);
}

static inline bool touches_gs(const struct form *f, unsigned map, unsigned opcode)
{
	bool is = (map == 0 && opcode == 0x8e) ||
		  (map == 1 && (opcode == 0xae || opcode == 0xa9 || opcode == 0xb5));

	for (unsigned i = 0; i < f->bytes && is_legacy_prefix(f->byte[i]); i++)
		is |= f->byte[i] == 0x65;
	return is;
}

/* --- */

/* Accesses that must not cross a line (LOCK, XCHG), and targets that must be addresses. */
static inline bool wants_alignment(const struct form *f, unsigned map, unsigned opcode)
{
	for (unsigned i = 0; i < f->bytes; i++)
		if (f->byte[i] == 0xf0)
			return true;
	return map == 0 && ((opcode & 0xfe) == 0x86 || opcode == 0xff || (opcode & 0xf6) == 0xc2 ||
			    opcode == 0xcf);
}

/* If the form has no displacement, this is an opcode, which must not be a short jump. */
static inline void put_immediate(struct form *f)
{
	unsigned byte = draw() & 255;

	put(f, byte >> 4 == 7 || byte >> 4 == 14 ? byte ^ 0x80 : byte);
}

static inline void make_legacy(struct form *f, unsigned map, unsigned opcode)
{
	unsigned modrm = 0, at;

	put_prefixes(f);
	if (wants_alignment(f, map, opcode))
		f->state = (unsigned)(draw() % ALIGNED_STATES);
	if (map)
		put(f, 0x0f);
	if (map > 1)
		put(f, map == 2 ? 0x38 : 0x3a);
	at = f->bytes;
	put(f, opcode);
	put_distance(f, map, opcode);
	if (has_modrm(map, opcode))
		modrm = put_modrm(f, draw() % 2);
	f->touches_gs = touches_gs(f, map, opcode);
	f->excluded = is_excluded(f, map, opcode, modrm, at);
}

static inline void make_form(struct form *f, uint64_t number)
{
	unsigned opcode = number & 255, i = (unsigned)(number >> 8) % SPACES;
	enum space space = spaces[i].space;

	memset(f, 0, sizeof(*f));
	f->state = (unsigned)(draw() % 61);
	if (space == LEGACY) {
		/* Prefixes are no opcodes of their own. */
		if (spaces[i].map == 0 &&
		    (is_legacy_prefix(opcode) || opcode >> 4 == 4 || opcode == 0x0f))
			opcode = (unsigned)(draw() % 8) * 8 + 1;
		make_legacy(f, spaces[i].map, opcode);
	} else if (space == NOW3D) {
		put_prefixes(f);
		put(f, 0x0f);
		put(f, 0x0f);
		f->touches_gs = touches_gs(f, 1, opcode);
		put_modrm(f, draw() % 2);
		put(f, opcode);
	} else {
		put_vector_prefix(f, space, spaces[i].map);
		put(f, opcode);
		/* VZEROALL and VZEROUPPER have no ModRM byte: a NOP follows. */
		if (opcode == 0x77)
			put(f, 0x90);
		else
			put_modrm(f, draw() % 2);
	}
	if (draw() % 2)
		put_immediate(f);
	if (f->bytes > 15)
		f->bytes = 15;
}

#endif
