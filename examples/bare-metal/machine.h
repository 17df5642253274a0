/* SPDX-License-Identifier: MIT */
/*
 * machine.h: as much of a PC as the driver's port needs: registers, the local APIC, interrupt
 * gates, a serial port to print on.
 */
#ifndef BARE_METAL_MACHINE_H
#define BARE_METAL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMI_VECTOR 224 /* as in start.S */

/* What the interrupt entries and the processor push. */
struct frame {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t vector, error;
	uint64_t rip, cs, rflags, rsp, ss;
};

/* start.S; the first two return false when the access raises #GP */
bool read_msr(uint32_t msr, uint64_t *value);
bool write_msr(uint32_t msr, uint64_t value);
void run_user(void (*code)(void), uint64_t rdi);

/* Serial port, interrupt controllers, gates; `on_pmi` is called for the PMI and for NMIs. */
void machine_start(void (*on_pmi)(const struct frame *frame));

/* The local APIC's entry for performance-monitoring interrupts (Vol. 3A 10.5.1). */
void machine_write_lvt(uint32_t value);

uint64_t machine_tsc(void);
void machine_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);
_Noreturn void machine_reset(void);

/* Print: %s of a string, %u and %x of uint64_t, nothing else. */
void print(const char *format, ...);

/* What libsoftpmu and compilers call. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

#endif
