/* SPDX-License-Identifier: MIT */
/*
 * segments.h: the bases of FS and GS.
 *
 * Some kernels do not save what WRGSBASE has written, although the instruction can be executed: the
 * Linux of a virtual machine whose hypervisor alone has enabled it (AT_HWCAP2 has no
 * HWCAP2_FSGSBASE).  When such a thread gets a processor again, its GS is what arch_prctl(2) set
 * last.
 */
#ifndef SOFTPMU_ENGINE_SEGMENTS_H
#define SOFTPMU_ENGINE_SEGMENTS_H

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <stdint.h>

static inline uint64_t read_gs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

/* Sets GS for a few instructions. */
static inline void write_gs_base(uint64_t base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
}

/* Sets GS so that every kernel keeps it.  GS may be wrong before, so this call is not counted.
 * arch_prctl(2) would also load the selector 0; another selector is the program's, and stays. */
static inline void keep_gs_base(uint64_t base)
{
	uint32_t selector;
	long result;

	__asm__ volatile("mov %%gs, %0" : "=r"(selector));
	if (selector) {
		write_gs_base(base);
		return;
	}
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(__NR_arch_prctl), "D"(ARCH_SET_GS), "S"(base)
			 : "rcx", "r11", "memory");
	(void)result; /* an address of the engine is always possible */
}

static inline uint64_t read_fs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

#endif
