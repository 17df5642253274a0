/* SPDX-License-Identifier: MIT */
/*
 * flat.h: what guests of 32 bits without a system share (legacy.c, probe.c): instructions, gates
 * and printing on the serial port.
 *
 */
#ifndef SPMU_TESTS_GUEST_FLAT_H
#define SPMU_TESTS_GUEST_FLAT_H

#include <stdbool.h>
#include <stdint.h>

#define SERIAL_PORT 0x3f8

/* --- instructions --------------------------------------------------------- */

static inline void out_byte(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static inline void out_long(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port));
}

static inline uint8_t in_byte(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

static inline uint64_t read_msr(uint32_t msr)
{
	uint64_t value = 0;

	__asm__ volatile("rdmsr" : "+A"(value) : "c"(msr) : "memory");
	return value;
}

static inline void write_msr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "A"(value) : "memory");
}

/* --- gates ---------------------------------------------------------------- */

struct gate {
	uint16_t offset0, selector, type, offset16;
};

static struct gate gates[256];

static inline void set_gate(unsigned vector, const char *entry)
{
	gates[vector] = (struct gate){
		.offset0 = (uint16_t)(uintptr_t)entry,
		.selector = 0x08,
		.type = 0x8e00,
		.offset16 = (uint16_t)((uintptr_t)entry >> 16),
	};
}

static inline void load_gates(void)
{
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) pointer = {sizeof(gates) - 1, (uintptr_t)gates};

	__asm__ volatile("lidt %0" ::"m"(pointer));
}

/* --- printing ------------------------------------------------------------- */

static inline void start_serial(void)
{
	out_byte(SERIAL_PORT + 1, 0);
	out_byte(SERIAL_PORT + 3, 0x03);
}

static inline void put(char c)
{
	while (!(in_byte(SERIAL_PORT + 5) & 0x20))
		;
	out_byte(SERIAL_PORT, (uint8_t)c);
}

static inline void put_text(const char *text)
{
	for (; *text; text++)
		put(*text);
}

static inline void put_number(uint32_t value)
{
	char digits[12];
	unsigned n = sizeof(digits);

	digits[--n] = '\0';
	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	put_text(digits + n);
}

static inline void show(const char *what, uint32_t first, uint32_t second)
{
	put_text(what);
	put_text(": ");
	put_number(first);
	put(' ');
	put_number(second);
	put('\n');
}

#endif
