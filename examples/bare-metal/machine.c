/* SPDX-License-Identifier: MIT */
/*
 * machine.c: a PC without a system: 16550 serial port, 8259 interrupt controllers (switched off),
 * local APIC (Vol. 3A 10.4), interrupt descriptor table (6.14), and the functions of C that
 * libsoftpmu asks for.
 */
#include <stdarg.h>

#include "machine.h"

#define SERIAL_PORT	0x3f8
#define SERIAL_STATUS	(SERIAL_PORT + 5)
#define SERIAL_EMPTY	0x20
#define KEYBOARD_PORT	0x64
#define KEYBOARD_RESET	0xfe
#define CODE64		0x08
#define EXCEPTIONS	32
#define VECTOR_NMI	2
#define VECTOR_GP	13
#define VECTOR_USER_END 128
#define VECTOR_SPURIOUS 255

#define IA32_APIC_BASE	 0x1b
#define APIC_BASE_ENABLE (UINT64_C(1) << 11)
#define APIC_EOI	 0x0b0
#define APIC_SPURIOUS	 0x0f0
#define APIC_LVT_PERF	 0x340

/* An interrupt gate; IST: which stack of the task state segment (6.14.1). */
struct gate {
	uint16_t offset0, selector;
	uint8_t ist, type;
	uint16_t offset16;
	uint32_t offset32, reserved;
};

extern const uint64_t entries[];
extern char read_msr_at[], write_msr_at[], msr_faults[], user_ends[];
void take_interrupt(struct frame *frame);

static struct gate idt[256] __attribute__((aligned(16)));
static volatile uint32_t *apic;
static void (*pmi)(const struct frame *frame);

/* --- what a compiler and libsoftpmu expect of C --- */

/* As instructions: a compiler would make a call of itself of the loop. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes)::"memory");
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;

	if (t <= f || t >= f + bytes)
		return memcpy(to, from, bytes);
	while (bytes--)
		t[bytes] = f[bytes];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	void *at = to;

	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;

	for (; bytes; bytes--, x++, y++) {
		if (*x != *y)
			return *x < *y ? -1 : 1;
	}
	return 0;
}

/* --- ports and printing --- */

static void out_byte(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static uint8_t in_byte(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static void start_serial(void)
{
	out_byte(SERIAL_PORT + 1, 0);	 /* no interrupts */
	out_byte(SERIAL_PORT + 3, 0x80); /* the divisor: 115200 baud */
	out_byte(SERIAL_PORT, 1);
	out_byte(SERIAL_PORT + 1, 0);
	out_byte(SERIAL_PORT + 3, 0x03); /* eight bits, no parity */
	out_byte(SERIAL_PORT + 2, 0x07); /* queues, emptied */
}

static void put(char c)
{
	while (!(in_byte(SERIAL_STATUS) & SERIAL_EMPTY))
		;
	out_byte(SERIAL_PORT, (uint8_t)c);
}

static void put_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			put('\r');
		put(*text);
	}
}

static void put_number(uint64_t value, unsigned base)
{
	char digits[24];
	unsigned n = sizeof(digits);

	digits[--n] = '\0';
	do {
		digits[--n] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	put_text(digits + n);
}

void print(const char *format, ...)
{
	char one[2] = "";
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		one[0] = *format;
		if (*format != '%')
			put_text(one);
		else if (*++format == 's')
			put_text(va_arg(arguments, const char *));
		else
			put_number(va_arg(arguments, uint64_t), *format == 'x' ? 16 : 10);
	}
	va_end(arguments);
}

_Noreturn void machine_reset(void)
{
	out_byte(KEYBOARD_PORT, KEYBOARD_RESET);
	for (;;)
		__asm__ volatile("cli; hlt");
}

/* --- registers --- */

uint64_t machine_tsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

void machine_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	uint32_t eax = leaf, ebx, ecx = subleaf, edx;

	__asm__ volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	regs[0] = eax;
	regs[1] = ebx;
	regs[2] = ecx;
	regs[3] = edx;
}

void machine_write_lvt(uint32_t value)
{
	apic[APIC_LVT_PERF / 4] = value;
}

/* --- interrupts --- */

/* Called by the entries of start.S. */
void take_interrupt(struct frame *frame)
{
	if (frame->vector == VECTOR_SPURIOUS)
		return;
	if (frame->vector == VECTOR_GP &&
	    (frame->rip == (uintptr_t)read_msr_at || frame->rip == (uintptr_t)write_msr_at)) {
		frame->rip = (uintptr_t)msr_faults;
		return;
	}
	if (frame->vector != PMI_VECTOR && frame->vector != VECTOR_NMI) {
		print("exception %u, error %x, at %x\n", frame->vector, frame->error, frame->rip);
		machine_reset();
	}
	pmi(frame);
	/* NMIs are not acknowledged (Vol. 3A 10.8.5). */
	if (frame->vector == PMI_VECTOR)
		apic[APIC_EOI / 4] = 0;
}

static void set_gate(unsigned vector, uint64_t entry, unsigned ist, unsigned privilege)
{
	idt[vector] = (struct gate){
		.offset0 = (uint16_t)entry,
		.selector = CODE64,
		.ist = (uint8_t)ist,
		.type = (uint8_t)(0x8e | privilege << 5),
		.offset16 = (uint16_t)(entry >> 16),
		.offset32 = (uint32_t)(entry >> 32),
	};
}

static void start_gates(void)
{
	struct {
		uint16_t limit;
		uint64_t base;
	} __attribute__((packed)) pointer = {sizeof(idt) - 1, (uintptr_t)idt};

	for (unsigned vector = 0; vector < EXCEPTIONS; vector++)
		set_gate(vector, entries[vector], vector == VECTOR_NMI ? 1 : 2, 0);
	set_gate(PMI_VECTOR, entries[EXCEPTIONS], 1, 0);
	set_gate(VECTOR_SPURIOUS, entries[EXCEPTIONS + 1], 2, 0);
	set_gate(VECTOR_USER_END, (uintptr_t)user_ends, 0, 3);
	__asm__ volatile("lidt %0" ::"m"(pointer));
}

static void start_apic(void)
{
	uint64_t base;

	/* The old interrupt controllers deliver nothing. */
	out_byte(0x21, 0xff);
	out_byte(0xa1, 0xff);
	if (!read_msr(IA32_APIC_BASE, &base) || !write_msr(IA32_APIC_BASE, base | APIC_BASE_ENABLE))
		print("no local APIC\n");
	apic = (volatile uint32_t *)(uintptr_t)(base & UINT64_C(0xffffff000));
	apic[APIC_SPURIOUS / 4] = 0x100 | VECTOR_SPURIOUS;
}

void machine_start(void (*on_pmi)(const struct frame *frame))
{
	pmi = on_pmi;
	start_serial();
	start_gates();
	start_apic();
}
