/* SPDX-License-Identifier: MIT */
/*
 * machine-clocks.c: loops whose clocks the model of time knows.  Built without libc; SUBJECT is
 * the loop, and TURNS how often it runs.
 */
#define CHAIN	"imul %%rcx, %%rax\n\timul %%rcx, %%rax"
#define PORT	"imul %%rcx, %%rax\n\timul %%rcx, %%rdx\n\timul %%rcx, %%rsi\n\timul %%rcx, %%r8"
#define WIDTH	"nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop"
#define FORWARD "mov %%rax, -64(%%rsp)\n\tmov -64(%%rsp), %%rax"
#define REPEAT	"lea -64(%%rsp), %%rdi\n\tmov $1, %%ecx\n\trep stosb"

#ifndef SUBJECT
#define SUBJECT CHAIN
#define TURNS	1
#endif

void _start(void)
{
	unsigned long turns = TURNS;

	__asm__ volatile("xor %%eax, %%eax\n\tmov $3, %%ecx\n1:\n\t" SUBJECT "\n\tdec %0\n\tjnz 1b"
			 : "+b"(turns)
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "cc", "memory");
	__asm__ volatile("syscall" : : "a"(60L), "D"(0L) : "rcx", "r11", "memory");
	__builtin_unreachable();
}
