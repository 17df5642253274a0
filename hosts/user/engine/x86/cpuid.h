/* SPDX-License-Identifier: MIT */
/* cpuid.h: what the processor says of itself. */
#ifndef SOFTPMU_ENGINE_CPUID_H
#define SOFTPMU_ENGINE_CPUID_H

#include <stdbool.h>
#include <stdint.h>

struct cpuid {
	uint32_t a, b, c, d;
};

static inline struct cpuid cpuid_subleaf(uint32_t leaf, uint32_t subleaf)
{
	struct cpuid r = {.a = leaf, .c = subleaf};

	__asm__("cpuid" : "+a"(r.a), "=b"(r.b), "+c"(r.c), "=d"(r.d));
	return r;
}

static inline struct cpuid cpuid_of(uint32_t leaf)
{
	return cpuid_subleaf(leaf, 0);
}

/* "AuthenticAMD", "HygonGenuine" */
static inline bool cpuid_is_amd(void)
{
	struct cpuid r = cpuid_of(0);

	return (r.b == 0x68747541 && r.c == 0x444d4163) || (r.b == 0x6f677948 && r.c == 0x656e6975);
}

#endif
