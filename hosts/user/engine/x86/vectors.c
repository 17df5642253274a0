/* SPDX-License-Identifier: MIT */
/*
 * vectors.c: reads the program's vector and mask registers.
 *
 * The engine is compiled without vector instructions, so these registers have the program's values
 * whenever it runs.  Reading changes nothing: FXSAVE reads MMX registers without a change to the
 * state of the x87 unit.
 */
#include "engine/x86/vectors.h"

#include "engine/rt/sys.h"
#include "engine/x86/cpuid.h"

#define LEAF1_C_OSXSAVE	 (1u << 27)
#define LEAF7_B_AVX512F	 (1u << 16)
#define LEAF7_B_AVX512BW (1u << 30)
#define XCR0_AVX	 0x06u
#define XCR0_AVX512	 0xe6u

/* The area of FXSAVE (Vol. 1 10.5.1). */
#define FXSAVE_BYTES 512
#define FXSAVE_FSW   2
#define FXSAVE_ST    32
#define FXSAVE_XMM   160

enum registers {
	REGISTERS_UNKNOWN = 0,
	REGISTERS_XMM,
	REGISTERS_YMM,
	REGISTERS_ZMM,	 /* with masks of 16 bits */
	REGISTERS_ZMM_BW /* with masks of 64 bits */
};

/* Asks the processor and the kernel which registers there are. */
static enum registers ask(void)
{
	uint32_t leaf7 = cpuid_of(0).a >= 7 ? cpuid_of(7).b : 0, low, high;

	if (!(cpuid_of(1).c & LEAF1_C_OSXSAVE))
		return REGISTERS_XMM;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	if ((low & XCR0_AVX) != XCR0_AVX)
		return REGISTERS_XMM;
	if ((low & XCR0_AVX512) != XCR0_AVX512 || !(leaf7 & LEAF7_B_AVX512F))
		return REGISTERS_YMM;
	return leaf7 & LEAF7_B_AVX512BW ? REGISTERS_ZMM_BW : REGISTERS_ZMM;
}

static enum registers registers(void)
{
	static enum registers known;

	if (known == REGISTERS_UNKNOWN)
		known = ask();
	return known;
}

struct fxsave {
	uint8_t at[FXSAVE_BYTES];
} __attribute__((aligned(16)));

static void save(struct fxsave *area)
{
	__asm__ volatile("fxsave64 %0" : "=m"(*area));
}

struct vector {
	uint8_t at[VECTOR_BYTES_MAX];
};

/* The instruction for each register, because its number is part of it. */
#define READ(instruction, name, n)                                                                 \
	case n:                                                                                    \
		__asm__ volatile(instruction " %%" name #n ", %0" : "=m"(*to) : : "memory");       \
		break;
#define READ_8(instruction, name, a, b, c, d, e, f, g, h)                                          \
	READ(instruction, name, a)                                                                 \
	READ(instruction, name, b)                                                                 \
	READ(instruction, name, c)                                                                 \
	READ(instruction, name, d)                                                                 \
	READ(instruction, name, e)                                                                 \
	READ(instruction, name, f)                                                                 \
	READ(instruction, name, g)                                                                 \
	READ(instruction, name, h)

static void read_ymm(unsigned reg, struct vector *to)
{
	switch (reg) {
		READ_8("vmovdqu", "ymm", 0, 1, 2, 3, 4, 5, 6, 7)
		READ_8("vmovdqu", "ymm", 8, 9, 10, 11, 12, 13, 14, 15)
	default:
		break;
	}
}

static void read_zmm(unsigned reg, struct vector *to)
{
	switch (reg) {
		READ_8("vmovdqu64", "zmm", 0, 1, 2, 3, 4, 5, 6, 7)
		READ_8("vmovdqu64", "zmm", 8, 9, 10, 11, 12, 13, 14, 15)
		READ_8("vmovdqu64", "zmm", 16, 17, 18, 19, 20, 21, 22, 23)
		READ_8("vmovdqu64", "zmm", 24, 25, 26, 27, 28, 29, 30, 31)
	default:
		break;
	}
}

bool vectors_read(unsigned reg, uint8_t to[VECTOR_BYTES_MAX])
{
	struct fxsave area;

	memset(to, 0, VECTOR_BYTES_MAX);
	if (registers() >= REGISTERS_ZMM) {
		read_zmm(reg, (struct vector *)to);
		return true;
	}
	if (reg >= 16)
		return false;
	if (registers() >= REGISTERS_YMM) {
		read_ymm(reg, (struct vector *)to);
		return true;
	}
	save(&area);
	memcpy(to, area.at + FXSAVE_XMM + (size_t)reg * 16, 16);
	return true;
}

/* FXSAVE stores the registers from the top of the x87 stack on; MMX registers have fixed
 * numbers. */
void vectors_read_mmx(unsigned reg, uint8_t to[8])
{
	struct fxsave area;
	unsigned top;

	save(&area);
	top = area.at[FXSAVE_FSW + 1] >> 3 & 7;
	memcpy(to, area.at + FXSAVE_ST + (size_t)((reg - top) & 7) * 16, 8);
}

bool vectors_read_mask(unsigned reg, uint64_t *mask)
{
	uint64_t *to = mask;

	*mask = 0;
	if (registers() == REGISTERS_ZMM_BW) {
		switch (reg) {
			READ_8("kmovq", "k", 0, 1, 2, 3, 4, 5, 6, 7)
		default:
			break;
		}
	} else if (registers() == REGISTERS_ZMM) {
		switch (reg) {
			READ_8("kmovw", "k", 0, 1, 2, 3, 4, 5, 6, 7)
		default:
			break;
		}
	} else {
		return false;
	}
	return true;
}
