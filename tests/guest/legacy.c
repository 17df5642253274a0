/* SPDX-License-Identifier: MIT */
/*
 * legacy.c: a guest without an operating system for the units before architectural performance
 * monitoring: Pentium (Vol. 3B 18.23), P6 and Pentium M (18.22), NetBurst (18.15). It programs them
 * by RDMSR, WRMSR and RDPMC alone and prints their results, and the delivery modes of the interrupt
 * (Vol. 3A 10.5.1). It follows the manual's setup procedures (18.15.5.1 to 18.15.5.3, 18.15.5.8,
 * 18.22.3, 18.23.1) as software of the time did, and shares nothing with the library. Counting must
 * not delay interrupts that the processor sends to itself (10.6.1).
 *
 * Everything runs in ring 0. The output does not depend on the number of instructions around the
 * loop, as two lengths of the loop are compared.
 */
#include <stdbool.h>
#include <stdint.h>

#include "flat.h"

#ifndef LOOPS
#define LOOPS 500000
#endif
#define PERIOD	    10000
#define OVERFLOWS   100
#define PMI_VECTOR  0xe0
#define SELF_VECTOR 0xe1
#define SELF_TIMES  100
#define RING0	    1
#define RING3	    2

#define APIC_ID	      0x020
#define APIC_EOI      0x0b0
#define APIC_SPURIOUS 0x0f0
#define APIC_ICR      0x300
#define APIC_ICR_TO   0x310
#define APIC_LVT_PERF 0x340
#define DELIVER_FIXED 0
#define DELIVER_SMI   2
#define DELIVER_NMI   4

/* A unit of some family: instructions on its first counter, branches on its second. */
struct unit {
	const char *name;
	void (*program)(unsigned rings, bool interrupts);
	void (*stop)(void);
	uint32_t counter[2], rdpmc[2];
	bool has_interrupts;
};

extern char entry_ud[], entry_gp[], entry_nmi[], entry_pmi[], entry_self[], smi_handler[],
	smi_handler_end[];
extern volatile uint32_t faulted, smis;
volatile uint32_t faulted, smis;
void run(void);
void on_pmi(void);
void on_nmi(void);
void on_self(void);

static volatile uint32_t *const apic = (volatile uint32_t *)0xfee00000;
static const struct unit *unit;
static volatile uint32_t interrupts, from_self;
static uint32_t lvt;

/* --- what is counted ------------------------------------------------------ */

static __attribute__((noinline)) void loop(uint32_t times)
{
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(times));
}

/* Returns RDPMC after a loop, less RDPMC before it: 2 * times + 2 instructions. */
static uint32_t around(uint32_t index, uint32_t times)
{
	uint32_t before, after = 0;

	__asm__ volatile("rdpmc; mov %%eax, %0; 1: dec %1; jnz 1b; rdpmc"
			 : "=&r"(before), "+r"(times), "+a"(after)
			 : "c"(index)
			 : "edx", "memory");
	return after - before;
}

/* --- the three ways to program a unit ------------------------------------- */

/*
 * Programs CESR: INSTRUCTIONS_EXECUTED and BRANCHES. The counter control of each selects the rings.
 */
static void program_pentium(unsigned rings, bool with_interrupts)
{
	(void)with_interrupts;
	write_msr(0x11, 0x16 | rings << 6 | 0x12 << 16 | rings << 22);
}

static void stop_pentium(void)
{
	write_msr(0x11, 0);
}

/* Programs a P6, PerfEvtSel1 first: the enable bit of PerfEvtSel0 is for both counters. */
static void program_p6(unsigned rings, bool with_interrupts)
{
	uint32_t common = (rings & RING0 ? 1u << 17 : 0) | (rings & RING3 ? 1u << 16 : 0);

	write_msr(0x187, 0xc4 | common);
	write_msr(0x186, 0xc0 | common | (with_interrupts ? 1u << 20 : 0) | 1u << 22);
}

static void stop_p6(void)
{
	write_msr(0x186, 0);
	write_msr(0x187, 0);
}

/*
 * Programs MSR_CRU_ESCR0 with instr_retired on IQ_COUNTER0, and MSR_CRU_ESCR2 with branch_retired
 * on IQ_COUNTER1.
 */
static void program_netburst(unsigned rings, bool with_interrupts)
{
	uint32_t common = (rings & RING0 ? 1u << 3 : 0) | (rings & RING3 ? 1u << 2 : 0);

	write_msr(0x3b8, 2u << 25 | 1u << 9 | common);
	write_msr(0x3cc, 6u << 25 | 15u << 9 | common);
	write_msr(0x36d, 1u << 12 | 5u << 13 | 3u << 16);
	write_msr(0x36c, 1u << 12 | 4u << 13 | 3u << 16 | (with_interrupts ? 1u << 26 : 0));
}

static void stop_netburst(void)
{
	write_msr(0x36c, 0);
	write_msr(0x36d, 0);
}

static const struct unit units[] = {
	{"Pentium", program_pentium, stop_pentium, {0x12, 0x13}, {0, 1}, false},
	{"P6", program_p6, stop_p6, {0xc1, 0xc2}, {0, 1}, true},
	{"NetBurst", program_netburst, stop_netburst, {0x30c, 0x30d}, {12, 13}, true},
};

/* --- the interrupt -------------------------------------------------------- */

static void arm(void)
{
	write_msr(unit->counter[0], (uint64_t)0 - PERIOD);
	apic[APIC_LVT_PERF / 4] = lvt;
	unit->program(RING0, true);
}

void on_self(void)
{
	from_self++;
	apic[APIC_EOI / 4] = 0;
}

void on_nmi(void)
{
	if (!lvt) {
		from_self++;
		return;
	}
	unit->stop();
	interrupts++;
	arm();
}

void on_pmi(void)
{
	unit->stop();
	interrupts++;
	apic[APIC_EOI / 4] = 0;
	arm();
}

static void start_machine(void)
{
	start_serial();
	out_byte(0x21, 0xff); /* the old interrupt controllers deliver nothing */
	out_byte(0xa1, 0xff);
	set_gate(2, entry_nmi);
	set_gate(6, entry_ud);
	set_gate(13, entry_gp);
	set_gate(PMI_VECTOR, entry_pmi);
	set_gate(SELF_VECTOR, entry_self);
	load_gates();
	write_msr(0x1b, read_msr(0x1b) | 1u << 11);
	apic[APIC_SPURIOUS / 4] = 0x100 | 0xff;
}

/*
 * Installs the handler at SMBASE + 8000H, where the firmware of this machine has SMRAM at A0000H.
 * The chip set (Q35: register 9DH of device 0) shows it outside of SMM while a bit is set.
 */
static void install_smi_handler(void)
{
	volatile char *to = (volatile char *)0xa8000;

	out_long(0xcf8, 0x8000009c);
	out_byte(0xcfd, 0x4a);
	for (const char *from = smi_handler; from < smi_handler_end; from++)
		*to++ = *from;
	out_byte(0xcfd, 0x0a);
}

/* --- what is shown -------------------------------------------------------- */

static void count(unsigned rings, uint32_t times, uint32_t counted[2])
{
	write_msr(unit->counter[0], 0);
	write_msr(unit->counter[1], 0);
	unit->program(rings, false);
	loop(times);
	unit->stop();
	counted[0] = (uint32_t)read_msr(unit->counter[0]);
	counted[1] = (uint32_t)read_msr(unit->counter[1]);
}

static void show_counts(void)
{
	uint32_t shorter[2], longer[2], other[2];

	count(RING0, 1000, shorter);
	count(RING0, 1000 + LOOPS, longer);
	show("RDMSR", longer[0] - shorter[0], longer[1] - shorter[1]);
	count(RING3, LOOPS, other);
	show("of the other rings", other[0], other[1]);
	faulted = 0;
	unit->program(RING0 | RING3, false);
	shorter[0] = around(unit->rdpmc[0], LOOPS);
	shorter[1] = around(unit->rdpmc[1], LOOPS);
	unit->stop();
	if (faulted)
		put_text("no RDPMC\n");
	else
		show("RDPMC", shorter[0], shorter[1]);
}

/*
 * Returns how many of SELF_TIMES interrupts have come within a few more instructions. In between,
 * the same instructions write to another register, without a consequence. So a translator of code
 * has linked the code after them.
 */
static uint32_t self_in_time(uint32_t mode)
{
	uint32_t round = 0;

	from_self = 0;
	for (; round < 2 * SELF_TIMES; round++) {
		volatile uint32_t *to = apic + (round & 1 ? APIC_ICR : APIC_EOI) / 4;

		*to = round & 1 ? mode << 8 | SELF_VECTOR : 0;
		loop(8);
		if (from_self != (round + 1) / 2)
			break;
	}
	return round / 2;
}

static void show_self(void)
{
	uint32_t fixed, nmi;

	apic[APIC_ICR_TO / 4] = apic[APIC_ID / 4];
	unit->program(RING0, false);
	__asm__ volatile("sti");
	fixed = self_in_time(DELIVER_FIXED);
	nmi = self_in_time(DELIVER_NMI);
	__asm__ volatile("cli");
	unit->stop();
	show("sent to itself", fixed, nmi);
}

/*
 * Shows interrupts, with one overflow for each PERIOD. The counted instructions of all handlers are
 * far fewer than half a PERIOD.
 */
static void show_interrupts(const char *what, uint32_t mode)
{
	interrupts = smis = 0;
	lvt = mode << 8 | PMI_VECTOR;
	arm();
	__asm__ volatile("sti");
	loop(OVERFLOWS * (PERIOD / 2) + PERIOD / 4);
	__asm__ volatile("cli");
	unit->stop();
	show(what, interrupts, smis);
}

void run(void)
{
	uint32_t eax = 1, family;

	__asm__ volatile("cpuid" : "+a"(eax)::"ebx", "ecx", "edx");
	family = eax >> 8 & 15;
	unit = &units[family == 5 ? 0 : family == 6 ? 1 : 2];
	start_machine();
	put_text(unit->name);
	put('\n');
	show_counts();
	show_self();
	if (unit->has_interrupts) {
		install_smi_handler();
		show_interrupts("interrupts", DELIVER_FIXED);
		show_interrupts("NMIs", DELIVER_NMI);
		show_interrupts("SMIs", DELIVER_SMI);
	}
	put_text("done\n");
	out_byte(0x64, 0xfe);
	for (;;)
		__asm__ volatile("cli; hlt");
}
