/* SPDX-License-Identifier: MIT */
/* segments.h: the bases of FS and GS. */
#ifndef SOFTPMU_ENGINE_SEGMENTS_H
#define SOFTPMU_ENGINE_SEGMENTS_H

#include <stdint.h>

static inline uint64_t read_gs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

static inline void write_gs_base(uint64_t base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
}

static inline uint64_t read_fs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

#endif
