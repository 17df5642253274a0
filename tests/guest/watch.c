/* SPDX-License-Identifier: MIT */
/*
 * watch.c: a guest without an operating system whose instructions hit a data breakpoint. Such a
 * breakpoint is a trap after the instruction (Vol. 3B 17.3.1.2). So an instruction that hits one
 * and then faults raises only its fault. If it runs again, it hits the breakpoint again.
 *
 * Prints for each case how many faults and debug exceptions came, and whether the debug exception
 * came after the instruction. Prints DR6 (single-step, and data breakpoint 0) in the handlers of
 * the fault and of the debug exception.
 */
#include "flat.h"

#define BITS	    0x4001u  /* of DR6 */
#define WATCH_READS 0xf0001u /* DR7: DR0 for reads and writes of four bytes */
#define LARGE	    (4u << 20)
#define PRESENT	    1u
#define WRITABLE    2u
#define PAGE_4MB    0x80u
#define CR4_PSE	    0x10u
#define CR0_PG	    0x80000000u
#define FLAG_TF	    0x100u

#define DIVIDE_ERROR 0
#define DEBUG	     1
#define PAGE_FAULT   14

/* What a handler finds on the stack. */
struct frame {
	uint32_t registers[8]; /* from PUSHA */
	uint32_t eip, cs, eflags;
};

volatile uint32_t faulted, smis; /* legacy_start.S counts there */
extern char entry_divide[], entry_debug[], entry_page[], after_move[], after_divide[], after_step[];
void run(void);
void on_pmi(void);
void on_nmi(void);
void on_self(void);
void on_fault(struct frame *frame);
void on_debug(struct frame *frame);

__asm__("entry_page:	add $4, %esp\n" /* the error code */
	"entry_divide:	pusha\n"
	"	push %esp\n"
	"	call on_fault\n"
	"	pop %eax\n"
	"	popa\n"
	"	iret\n"
	"entry_debug:	pusha\n"
	"	push %esp\n"
	"	call on_debug\n"
	"	pop %eax\n"
	"	popa\n"
	"	iret\n");

static uint32_t directory[1024] __attribute__((aligned(4096)));
static volatile uint32_t watched, *const absent = (volatile uint32_t *)(8 * LARGE);
static uint32_t *const absent_entry = &directory[8];

/* Shared by the handlers and the rest. */
static volatile bool repeats;	/* the handler of the fault lets the instruction run again */
static volatile uint32_t after; /* the next instruction */
static volatile uint32_t faults, debugs, dr6_of_fault, dr6_of_debug;
static volatile bool in_place;

static uint32_t read_dr6(void)
{
	uint32_t value;

	__asm__ volatile("mov %%dr6, %0" : "=r"(value));
	return value & BITS;
}

static void write_dr6(uint32_t value)
{
	__asm__ volatile("mov %0, %%dr6" ::"r"(value));
}

static void write_dr7(uint32_t value)
{
	__asm__ volatile("mov %0, %%dr7" ::"r"(value));
}

void on_pmi(void)
{
}

void on_nmi(void)
{
}

void on_self(void)
{
}

void on_fault(struct frame *frame)
{
	faults++;
	dr6_of_fault = read_dr6();
	if (!repeats) {
		frame->eip = after;
		return;
	}
	*absent_entry = 8 * LARGE | PRESENT | WRITABLE | PAGE_4MB;
	__asm__ volatile("invlpg %0" ::"m"(*absent));
}

void on_debug(struct frame *frame)
{
	debugs++;
	dr6_of_debug = read_dr6();
	in_place = frame->eip == after;
	write_dr6(0);
	frame->eflags &= ~FLAG_TF;
}

static void put_hex(uint32_t value)
{
	for (int shift = 12; shift >= 0; shift -= 4)
		put("0123456789abcdef"[value >> shift & 15]);
}

static void begin(const char *next)
{
	after = (uintptr_t)next;
	faults = debugs = dr6_of_fault = dr6_of_debug = 0;
	in_place = false;
}

static void show_case(const char *name)
{
	show(name, faults, debugs);
	put_text("  ");
	put_hex(dr6_of_fault);
	put(' ');
	put_hex(dr6_of_debug);
	put_text(in_place ? " after\n" : "\n");
}

/* Reads the watched word and writes it to `to`. */
static __attribute__((noinline)) void move(uintptr_t to)
{
	const volatile uint32_t *from = &watched;

	begin(after_move);
	__asm__ volatile("movsl\n.globl after_move\nafter_move:\n\tnop"
			 : "+S"(from), "+D"(to)
			 :
			 : "memory");
}

/* Divides by the watched word. */
static __attribute__((noinline)) void divide(void)
{
	uint32_t low = 10, high = 0;

	begin(after_divide);
	__asm__ volatile("divl %2\n.globl after_divide\nafter_divide:\n\tnop"
			 : "+a"(low), "+d"(high)
			 : "m"(watched));
}

/* Runs an instruction with TF that hits no breakpoint. */
static __attribute__((noinline)) void step(void)
{
	begin(after_step);
	__asm__ volatile("pushf\n\torl $0x100, (%%esp)\n\tpopf\n\tnop\n"
			 ".globl after_step\nafter_step:\n\tnop" ::
				 : "memory", "cc");
}

static void start_paging(void)
{
	for (uint32_t i = 0; i < 1024; i++)
		directory[i] = i * LARGE | PRESENT | WRITABLE | PAGE_4MB;
	*absent_entry = 0;
	__asm__ volatile("mov %%cr4, %%eax\n\tor %0, %%eax\n\tmov %%eax, %%cr4\n\t"
			 "mov %1, %%cr3\n\t"
			 "mov %%cr0, %%eax\n\tor %2, %%eax\n\tmov %%eax, %%cr0" ::"i"(CR4_PSE),
			 "r"(directory), "i"(CR0_PG)
			 : "eax", "memory");
}

void run(void)
{
	uint32_t here;

	start_serial();
	set_gate(DIVIDE_ERROR, entry_divide);
	set_gate(DEBUG, entry_debug);
	set_gate(PAGE_FAULT, entry_page);
	load_gates();
	start_paging();
	__asm__ volatile("mov %0, %%dr0" ::"r"(&watched));
	write_dr6(0);
	write_dr7(WATCH_READS);
	watched = 1; /* hits the breakpoint, too */

	move((uintptr_t)&here);
	show_case("a read");
	move((uintptr_t)absent);
	show_case("a read and a page fault");
	step();
	show_case("a step after it");
	repeats = true;
	move((uintptr_t)absent);
	show_case("a read and a page fault, again without it");
	repeats = false;
	divide();
	show_case("a read for a division");
	write_dr7(0);
	watched = 0;
	write_dr7(WATCH_READS);
	divide();
	show_case("a read for a division by 0");
	step();
	show_case("a step after it");
	put_text("done\n");
	for (;;)
		__asm__ volatile("cli; hlt");
}
