/* SPDX-License-Identifier: MIT */
/*
 * probe.c: a guest without an operating system. It prints the values of CPUID by which software
 * finds a unit (Vol. 2A), the addresses of its last branch records (Vol. 3B 17.5), the last branch
 * records of a loop, the call stack of nested calls (17.11) and the branch trace of the loop
 * (17.4.5). It enables an event that the host does not supply. Then it halts, so that the monitor
 * can be asked.
 */
#include "flat.h"

#define LOOPS 100000

#define PERFEVTSEL0 0x186
#define GLOBAL_CTRL 0x38f
#define DEBUGCTL    0x1d9
#define LBR_ON	    1
#define TRACE_ON    0xc0 /* TR and BTS; without BTINT, so that the buffer is circular */
#define DS_AREA	    0x600
#define LBR_SELECT  0x1c8
#define CALL_STACK  0x3c6 /* EN_CALLSTACK; of ring 0; no jumps, no far branches */
#define LBR_FROM    0x680
#define LBR_TO	    0x6c0
#define LBR_INFO    0xdc0    /* core clocks in 15:0 */
#define ABSENT	    0x42412e /* in ring 0: LONGEST_LAT_CACHE.MISS */
#define PRESENT	    0x4200c0 /* INST_RETIRED.ANY_P */

#define DEPTH	      8
#define TRACE_RECORDS 1024

extern char entry_gp[], entry_ud[], probe_loop[];
extern volatile uint32_t faulted, smis;
volatile uint32_t faulted, smis;
void run(void);
void on_pmi(void);
void on_nmi(void);
void on_self(void);

void on_pmi(void)
{
}

void on_nmi(void)
{
}

void on_self(void)
{
}

static void cpuid(uint32_t leaf, uint32_t regs[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(0));
}

static void put_words(const uint32_t *words, unsigned count)
{
	for (unsigned i = 0; i < 4 * count; i++) {
		char c = (char)(words[i / 4] >> 8 * (i % 4));

		if (c)
			put(c);
	}
}

static void show_names(void)
{
	uint32_t regs[4], name[12];

	cpuid(0, regs);
	put_text("vendor: ");
	put_words(&regs[1], 1);
	put_words(&regs[3], 1);
	put_words(&regs[2], 1);
	cpuid(1, regs);
	show("\nfamily and model", regs[0] >> 8 & 15, (regs[0] >> 4 & 15) | (regs[0] >> 12 & 0xf0));
	for (unsigned i = 0; i < 3; i++)
		cpuid(0x80000002 + i, &name[4 * i]);
	put_text("name: ");
	put_words(name, 12);
	put('\n');
}

static bool readable(uint32_t msr)
{
	faulted = 0;
	read_msr(msr);
	return !faulted;
}

/* Shows how many registers exist from an address on, and how many of as many after them. */
static void show_stack(const char *what, uint32_t first, uint32_t entries)
{
	uint32_t there = 0, after = 0;

	for (uint32_t n = 0; n < entries; n++) {
		there += readable(first + n);
		after += readable(first + entries + n);
	}
	show(what, there, after);
}

static __attribute__((noinline)) void loop(uint32_t times)
{
	__asm__ volatile("probe_loop: dec %0; jnz probe_loop" : "+r"(times));
}

/* Shows how many entries are of the loop's branch, and in how many a turn takes 2 clocks. */
static void show_records(void)
{
	uint32_t right = 0, timed = 0;

	for (uint32_t n = 0; n < 32; n++) {
		right += (uint32_t)read_msr(LBR_TO + n) == (uintptr_t)probe_loop &&
			 (uint32_t)read_msr(LBR_FROM + n) == (uintptr_t)probe_loop + 1;
		timed += readable(LBR_INFO + n) && (uint16_t)read_msr(LBR_INFO + n) == 2;
	}
	show("last branch records of the loop", right, timed);
}

/* Each level calls the next. The last one stops the last branch records if `stop` is set. */
static __attribute__((noinline)) void nest(bool stop)
{
	uint32_t depth = DEPTH;

	__asm__ volatile("call probe_nest\n\t"
			 "jmp 2f\n"
			 "probe_nest:\n\t"
			 "dec %0\n\t"
			 "jz 1f\n"
			 "probe_call:\n\t"
			 "call probe_nest\n\t"
			 "ret\n"
			 "1:\n\t"
			 "test %1, %1\n\t"
			 "jz 3f\n\t"
			 "wrmsr\n"
			 "3:\n\t"
			 "ret\n"
			 "2:"
			 : "+r"(depth)
			 : "r"((uint32_t)stop), "c"(DEBUGCTL), "a"(0), "d"(0)
			 : "memory");
}

/* Shows how many entries are of the nested calls, after many calls that have returned. */
static void show_calls(void)
{
	extern char probe_nest[], probe_call[];
	uint32_t right = 0;

	write_msr(LBR_SELECT, CALL_STACK);
	write_msr(DEBUGCTL, LBR_ON);
	for (uint32_t n = 0; n < LOOPS; n += DEPTH)
		nest(false);
	nest(true);
	for (uint32_t n = 0; n < 32; n++)
		right += (uint32_t)read_msr(LBR_TO + n) == (uintptr_t)probe_nest &&
			 (uint32_t)read_msr(LBR_FROM + n) == (uintptr_t)probe_call;
	show("call stack: nested calls, others", right, 32 - right);
	write_msr(LBR_SELECT, 0);
}

/* Shows how many records of a branch trace are of the loop's branch. The newest is its return. */
static void show_trace(void)
{
	static struct {
		uint64_t from, to, flags;
	} records[TRACE_RECORDS];
	static struct {
		uint64_t base, index, maximum, threshold, pebs[12];
	} area;
	uint32_t right = 0;

	area.base = area.index = (uintptr_t)records;
	area.maximum = (uintptr_t)(records + TRACE_RECORDS);
	area.threshold = area.maximum + sizeof(*records);
	write_msr(DS_AREA, (uintptr_t)&area);
	write_msr(DEBUGCTL, TRACE_ON);
	loop(LOOPS);
	write_msr(DEBUGCTL, 0);
	for (uint32_t n = 0; n < TRACE_RECORDS; n++)
		right += records[n].to == (uintptr_t)probe_loop &&
			 records[n].from == (uintptr_t)probe_loop + 1;
	show("branch trace: records of the loop, others", right, TRACE_RECORDS - right);
}

void run(void)
{
	start_serial();
	set_gate(6, entry_ud);
	set_gate(13, entry_gp);
	load_gates();
	show_names();
	show_stack("from 40H", 0x40, 8);
	show_stack("from 60H", 0x60, 8);
	if (readable(LBR_FROM)) {
		write_msr(DEBUGCTL, LBR_ON);
		loop(LOOPS);
		write_msr(DEBUGCTL, 0);
		show_records();
		show_calls();
		show_trace();
		write_msr(PERFEVTSEL0, ABSENT);
		write_msr(PERFEVTSEL0 + 1, PRESENT);
		write_msr(GLOBAL_CTRL, 3);
		write_msr(GLOBAL_CTRL, 0);
		write_msr(GLOBAL_CTRL, 3);
	}
	put_text("done\n");
	for (;;)
		__asm__ volatile("cli; hlt");
}
